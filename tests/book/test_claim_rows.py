"""The scorecard shows what the document says: totals, bars, rows; what counts apart is apart."""

from __future__ import annotations

import csv
import io
import re
import runpy
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import told
from recbias.book import scorecard
from recbias.book.cards import KINDS, verdict_cards
from recbias.book.html import typeset
from recbias.book.pages import claims_of
from recbias.book.signs import SIGNS, WORDS, outcome
from recbias.claims import claims
from recbias.claims.answers import Answers
from recbias.claims.judging import Verdict
from recbias.claims.ledger import NO_ASSERTION
from recbias.claims.reading import HANGS_ON_NO_DATA, answer_totals, csv_text, group, totals
from recbias.claims.topics import chapters
from recbias.claims.writing import build

recount = runpy.run_path(str(Path(__file__).parents[2] / "book/recount.py"))["recount"]


def plain(page: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page))


def bars(page: str) -> dict[str, Counter[str]]:
    """Read the numbers in the bars."""
    found = {}
    for paper, bar in re.findall(r'<li data-paper="(\w+)">(.*?)</li>', page):
        signs = re.findall(r'data-n="(\w+)" style="flex-grow: (\d+)"[^>]*>(.) (\d+)<', bar)
        assert all(grows == n and SIGNS[name] == sign for name, grows, sign, n in signs)
        found[paper] = Counter({name: int(n) for name, _, _, n in signs})
    return found


def counted(document: dict[str, Any]) -> dict[str, Counter[str]]:
    """Count by paper what a stranger counts, joined to the outcomes of bars."""
    found: dict[str, Counter[str]] = {}
    papers = {claim["paper"] for claim in document["claims"]}
    for (table, row, column), n in recount(document, "ml-1m").items():
        if table == "reproduced" and row in papers:
            found.setdefault(row, Counter())[outcome(column)] += n
    return found


def test_bars_have_the_numbers_that_strangers_count() -> None:
    document = told.document()
    shown = bars(scorecard.bars_html(document))
    assert {paper: +counts for paper, counts in shown.items()} == counted(document)
    sentence = plain(scorecard.totals_html(document).partition("</p>")[0])
    joined = sum(counted(document).values(), Counter[str]())
    assert f"Of {joined.total()} claims that only a measurement" in sentence
    for name, word in WORDS.items():
        assert f" {joined[name]} {word}" in sentence


def test_a_bar_that_is_not_counted_is_seen() -> None:
    document = told.document()
    shown = bars(scorecard.bars_html(document))
    told.claim(document, "BCC17-F2A")["answers"]["reproduced"] = "no"
    assert {paper: +counts for paper, counts in shown.items()} != counted(document)


def test_signs_differ_without_their_colour() -> None:
    assert len(set(SIGNS.values())) == len(SIGNS) == len(WORDS)
    assert {outcome(word) for word in ("yes", "holds")} == {"yes"}
    assert {outcome(word) for word in ("not yet", "not at hand", "beside")} == {"untestable"}


def test_the_page_says_when_criteria_were_written_and_what_would_decide_more() -> None:
    document = told.document()
    text = plain(scorecard.criteria_html(document))
    seen = sum(claim["pilot seen"] for claim in document["claims"])
    n_claims = len(document["claims"])
    assert text.startswith(f"{n_claims - seen} of the {n_claims} criteria were written before any")
    undecided = [
        claim
        for claim in document["claims"]
        if group(claim) == "empirical" and claim["answers"]["reproduced"] == "undecided"
    ]
    assert undecided
    assert f"What would decide the {len(undecided)} undecided" in text
    told.claim(document, "BCC17-F2A")["pilot seen"] ^= True
    assert plain(scorecard.criteria_html(document)) != text


def rows(page: str) -> list[tuple[str, str, str]]:
    return re.findall(
        r'id="([^"]+)" data-paper="\w+" data-chapter="[^"]+" data-class="([^"]+)" '
        r'data-verdict="(\w+)"',
        page,
    )


def test_each_claim_has_a_row_and_what_hangs_on_no_data_a_group_of_its_own() -> None:
    document = told.document()
    page = scorecard.rows_html(document)
    found = rows(page)
    assert sorted(name for name, *_ in found) == sorted(c["id"].lower() for c in document["claims"])
    of_data, *_, last = re.split(r"<details", page)[1:]
    assert {kind for _, kind, _ in rows(last)} == {HANGS_ON_NO_DATA}
    assert HANGS_ON_NO_DATA not in {kind for _, kind, _ in rows(of_data)}
    measured = [verdict for _, kind, verdict in rows(of_data) if kind == "empirical"]
    order = ["no", "partly", "undecided", "yes", "untestable"]
    assert measured == sorted(measured, key=order.index)
    for name, kind, verdict in found:
        claim = told.claim(document, name.upper())
        assert (kind, verdict) == (group(claim), outcome(claim["answers"]["reproduced"]))


def cells(page: str, claim: str) -> list[str]:
    (row,) = re.findall(rf'<tr class="claim-row" id="{claim.lower()}".*?</tr>', page)
    return [plain(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]


def test_a_row_has_claim_finding_both_values_and_both_answers() -> None:
    document = told.document()
    claim = told.claim(document, "BCC17-F2A")
    said, found, published, measured, reproduced, elsewhere = cells(
        scorecard.rows_html(document), "BCC17-F2A"
    )
    assert plain(typeset(claim["claim"])) in said
    assert said.startswith("BCC17-F2A")
    verdict = claim["verdicts"]["ml-1m"]
    assert plain(typeset(verdict["parts"][verdict["lead"] - 1]["found"])) in found
    assert found.endswith("ml-1m")
    (against,) = (part for part in verdict["parts"] if part["published"])
    assert published == against["published"] == "0.08"
    assert measured == plain(typeset(scorecard.value_text(claim, against)))
    assert (claim["answers"]["reproduced"], claim["answers"]["strict"]) == ("yes", "partly")
    assert reproduced == "✓ yes a part fails"
    assert elsewhere.endswith(claim["answers"]["elsewhere"])


@pytest.mark.parametrize(
    ("reproduced", "strict", "corrected", "shown"),
    [
        ("yes", "yes", "", "✓ yes"),
        ("yes", "undecided", "yes", "✓ yes a part is open"),
        ("partly", "partly", "partly", "± partly"),
        ("no", "no", "yes", "✗ no corrected: ✓ yes"),
    ],
)
def test_a_row_says_beside_its_sign_what_a_detail_or_an_erratum_did(
    reproduced: str, strict: str, corrected: str, shown: str
) -> None:
    document = told.document()
    answers = {"reproduced": reproduced, "strict": strict, "corrected": corrected}
    told.claim(document, "BCC17-F2A")["answers"] |= answers
    assert cells(scorecard.rows_html(document), "BCC17-F2A")[4] == shown


def test_what_errata_change_is_counted() -> None:
    document = told.document()
    judged = [each for each in document["claims"] if group(each) == "empirical"]
    for claim in document["claims"]:
        claim["answers"] |= {"reproduced": "yes", "corrected": ""}
    assert "erratum" not in plain(scorecard.criteria_html(document))
    for claim, corrected in zip(judged, ("yes", "no", ""), strict=False):
        claim["answers"] |= {"reproduced": "no", "corrected": corrected}
    text = plain(scorecard.criteria_html(document))
    assert "1 have another verdict, which stands beside the printed one: 1 of the 3 " in text


def test_totals_are_split_by_when_criteria_were_written_and_by_all_parts() -> None:
    document = told.document()
    counts = recount(document, "ml-1m")
    unseen, seen = ("before any value", "after pilot values")
    n_written = {row: sum(n for key, n in counts.items() if key[:2] == ("written", row))
                 for row in (unseen, seen)}  # fmt: skip
    text = plain(scorecard.criteria_html(document))
    assert f"{n_written[unseen]} were written before any value was seen: " in text
    became = re.search(r": (\d+) of these are reproduced( \([^)]*\))?; of the ", text)
    assert became
    assert int(became[1]) == counts["written", unseen, "yes"]
    assert sum(map(int, re.findall(r"\d+", became[0]))) == n_written[unseen]
    assert f"{n_written[seen]} others, {counts['written', seen, 'yes']}." in text
    n_yes, n_all = (counts[table, "empirical", "yes"] for table in ("reproduced", "by all parts"))
    assert f"Of the {n_yes} reproduced, {n_all} are so in all their parts" in text
    told.claim(document, "BCC17-F2A")["pilot seen"] ^= True
    told.claim(document, "BCC17-F2A")["answers"]["strict"] = "yes"
    assert plain(scorecard.criteria_html(document)) != text
    moved = recount(document, "ml-1m")
    assert moved["by all parts", "empirical", "yes"] == n_all + 1
    assert moved["written", unseen, "yes"] != counts["written", unseen, "yes"]


def test_an_edition_of_ones_own_data_shows_what_was_found_there() -> None:
    document = told.document()
    for claim in document["claims"]:
        claim["verdicts"]["mine"] = claim["verdicts"]["filmtrust"]
    document["datasets"].insert(0, {"name": "mine", "title": "<b>mine.csv", "recorded": False})
    page = scorecard.rows_html(document)
    assert "<b>mine" not in page
    assert cells(page, "BCC17-F2A")[1].endswith("<b>mine.csv")


def test_headlines_are_claims_of_the_ledger_one_of_each_paper_at_least() -> None:
    by_id = {claim.id: claim for claim in claims()}
    assert {by_id[name].paper for name in scorecard.HEADLINES} == {
        claim.paper for claim in claims() if claim.paper_at_hand
    }
    assert {claim.paper for claim in claims()} == set(scorecard.PAPERS)
    page = scorecard.headlines_html(told.document())
    assert page.count('data-claim="BCC17-F2C"') == 1
    assert "popularity is second" in page, "what the paper says is in plain words"
    assert 'html">see chapter' in page


def test_a_headline_that_holds_in_part_says_what_does_and_what_does_not() -> None:
    document = told.document()
    (claim,) = (each for each in document["claims"] if each["id"] == "BCC17-F2C")
    verdict = claim["verdicts"][scorecard.shown_on(claim, document)]
    part = dict.fromkeys(verdict["parts"][0]) | {"measured": False, "published": ""}
    verdict["parts"] = [
        part | {"verdict": word, "found": f"It {word}"} for word in ("holds", "refuted")
    ]
    verdict["lead"] = 2
    claim["answers"]["reproduced"] = "partly"
    assert "It holds. It refuted." in scorecard.headlines_html(document)
    claim["answers"]["reproduced"] = "no"
    assert "It holds" not in scorecard.headlines_html(document)


# -- what counts apart ---------------------------------------------------------------------------

APART = [claim.id for claim in claims() if not claim.asserts]
"""Of a paper that nobody could read, or derived: no claims of the papers."""


def verdicts_of(topic: str, word: str) -> list[Verdict]:
    """The same verdict on each claim of a chapter."""
    return [Verdict(claim, word) for claim in claims() if claim.topic == topic]


def test_entries_without_an_assertion_are_known() -> None:
    assert "ATM15-C-POP" in APART
    assert {name for name in APART if name != "ATM15-C-POP"} == {
        claim.id for claim in claims() if claim.paper == "TOIS21"
    }
    assert {claim.counts_as for claim in claims() if claim.id in APART} == {NO_ASSERTION}
    assert all(c.counts_as == c.kind for c in claims() if c.id not in APART)


@pytest.mark.parametrize("topic", ["concentration metrics", "true vs false positive disagreement"])
def test_entries_without_an_assertion_are_in_no_total_of_claims(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a page counts: groups of cards, rows and bars, lists of claims."""
    found = verdicts_of(topic, "yes")
    n_apart = sum(each.claim.id in APART for each in found)
    n_claims = len(found) - n_apart
    assert n_apart
    counts = Counter(each.claim.kind for each in found if each.claim.id not in APART)
    groups = re.findall(r"</strong>: (\d+) yes", verdict_cards(found))
    assert list(map(int, groups)) == [*(counts[kind] for kind in KINDS if counts[kind]), n_apart]

    document = build({"ml-1m": found})
    for claim, each in zip(document["claims"], found, strict=True):
        claim["answers"] = Answers(each.claim, ("ml-1m",), "yes").to_dict()
    text = scorecard.rows_html(document)
    kinds = [kind for _, kind, _ in rows(text)]
    by_class = Counter(each.claim.kind for each in found if each.claim.id in APART)
    shown_by_class = re.findall(
        r'data-class="(\w+)">\w+: <span data-n="yes">.*?class="n">(\d+)<', text
    )
    assert dict(shown_by_class) == {kind: str(n) for kind, n in by_class.items()}
    assert Counter(kinds) == {**counts, NO_ASSERTION: n_apart}
    shown = bars(scorecard.bars_html(document))
    assert sum(shown.values(), Counter[str]()).total() == counts["empirical"]
    for table in (totals(document, "ml-1m"), answer_totals(document)):
        assert table["empirical"]["yes"] == counts["empirical"]
        assert table[NO_ASSERTION]["yes"] == n_apart
    listed = claims_of(topic)
    assert f"The {n_claims} claims of this chapter, and {n_apart} with {NO_ASSERTION}<" in listed
    line = f"<td>{n_claims}; apart: {n_apart} with {NO_ASSERTION}</td>"
    monkeypatch.setattr(scorecard, "chapters", lambda: {topic: chapters()[topic]})
    assert line in scorecard.chapters_html(document)


def test_what_is_handed_out_says_how_it_counts() -> None:
    found = verdicts_of("concentration metrics", "yes")
    document = build({"ml-1m": found})
    rows = list(csv.DictReader(io.StringIO(csv_text(document))))
    assert {row["claim"] for row in rows if row["counts as"] == NO_ASSERTION} == {"ATM15-C-POP"}
    told = {claim["id"]: claim for claim in document["claims"]}
    assert told.pop("ATM15-C-POP")["counts as"] == NO_ASSERTION
    assert all(claim["counts as"] == claim["class"] for claim in told.values())


def test_a_chapter_that_is_not_written_takes_a_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    written = chapters()
    document = build({"ml-1m": [Verdict(claim, "not yet") for claim in claims()]})
    assert all(written.values())
    assert "not yet written" not in scorecard.chapters_html(document)
    monkeypatch.setattr(scorecard, "chapters", lambda: written | {told.TOPIC: ""})
    page = scorecard.chapters_html(document)
    assert page.count("not yet written") == 1
    assert page.count("<tr>") == len(written) + 1
