"""The page of a claim has everything on it: both answers, every value, history, errata, command."""

from __future__ import annotations

import re
from html import unescape

import pytest

import told
from recbias.book.claim_page import claim_html, words
from recbias.book.html import typeset
from recbias.book.scorecard import value_text
from recbias.claims.reading import number


def plain(page: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page))


def missing(page: str, claim: dict, datasets: list[dict]) -> list[str]:
    """Name values that a page lacks: one for each measured part on each data set."""
    text = plain(page)
    lacking = []
    for dataset in datasets:
        for part in claim["verdicts"][dataset["name"]]["parts"]:
            shown = plain(typeset(value_text({**claim, "records": []}, {**part, "record": None})))
            if part["measured"] and shown and shown not in text:
                lacking.append(f"{dataset['name']} {part['number']}: {shown}")
    return lacking


@pytest.fixture(scope="module")
def page() -> str:
    document = told.document()
    return claim_html(told.claim(document, "BCC17-F2A"), document)


def test_every_value_on_every_data_set_is_on_the_page() -> None:
    document = told.document()
    for claim in document["claims"]:
        made = claim_html(claim, document)
        datasets = document["datasets"][: 1 if claim["answers"]["no data"] else None]
        assert missing(made, claim, datasets) == [], claim["id"]


def test_a_value_that_is_not_on_the_page_is_seen() -> None:
    document = told.document()
    claim = told.claim(document, "BCC17-F2A")
    made = claim_html(claim, document)
    part = next(p for p in claim["verdicts"]["ml-1m"]["parts"] if p["measured"])
    part["value"] = number(part["value"]) + 1.0
    assert missing(made, claim, document["datasets"]) != []


def test_a_page_says_where_it_belongs_and_both_answers(page: str) -> None:
    for link in ("../notebooks/index.html", "../notebooks/scorecard.html#bcc17-f2a"):
        assert f'href="{link}"' in page
    assert f'href="../notebooks/{told.CHAPTER}.html#bcc17-f2a"' in page
    text = plain(page)
    assert "Bellogín, Castells, Cantador 2017, Fig. 2 (AR, MovieLens panel)" in text
    assert "yes, on ml-1m" in text
    assert "about its own data" in text
    assert "recbias claims --dataset ml-1m --explain BCC17-F2A" in text


def test_the_core_is_shown_and_details_wait_behind_a_click(page: str) -> None:
    shown, _, rest = page.partition('<details class="rest">')
    assert "Core, assertion" in shown
    assert "Detail, assertion" not in re.sub(r"Core.*?</section>", "", shown, flags=re.DOTALL)
    assert "Detail, assertion" in rest.partition("<h2>")[0]


def test_the_published_value_stands_in_the_plot(page: str) -> None:
    assert re.search(r'class="published"><th[^>]*>.*?published</th>.*?>0\.08</td>', page)


def test_an_earlier_criterion_is_quoted_with_both_verdicts() -> None:
    document = told.document()
    claim = next(each for each in document["claims"] if each["earlier"])
    text, old = plain(claim_html(claim, document)), claim["earlier"][0]
    assert f"Another until {old['until']}" in text
    assert plain(typeset(old["criterion"])) in text
    assert plain(typeset(old["why"])) in text
    claim["earlier"] = []
    assert "Another until" not in claim_html(claim, document)


@pytest.mark.parametrize(("seen", "said"), [(True, "after pilot values"), (False, "before any")])
def test_a_page_says_when_its_criterion_was_written(seen: bool, said: str) -> None:
    document = told.document()
    claim = told.claim(document, "BCC17-F2A")
    claim["pilot seen"] = seen
    assert said in plain(claim_html(claim, document))


def test_errata_that_bear_on_a_claim_are_told() -> None:
    document = told.document()
    claim = next(each for each in document["claims"] if each["errata"])
    (name, *_) = claim["errata"]
    what = next(each["what"] for each in document["errata"] if each["id"] == name)
    assert plain(typeset(what)) in plain(claim_html(claim, document))
    assert f"{name} corrects it" in plain(claim_html(claim, document))


def test_what_is_asserted_and_not_judged_says_why() -> None:
    document = told.document()
    claim = next(
        each
        for each in document["claims"]
        if any(assertion["unchecked"] for assertion in each["assertions"])
    )
    why = next(each["unchecked"] for each in claim["assertions"] if each["unchecked"])
    assert f"not checked: {why}" in plain(claim_html(claim, document))


def test_an_assertion_that_another_claim_judges_leads_there() -> None:
    document = told.document()
    found = [
        (claim, assertion["judged under"])
        for claim in document["claims"]
        for assertion in claim["assertions"]
        if assertion["judged under"]
    ]
    for claim, other in found:
        assert f'href="{other}.html"' in claim_html(claim, document)


def test_what_hangs_on_no_data_is_drawn_once() -> None:
    document = told.document()
    claim = next(each for each in document["claims"] if each["answers"]["no data"])
    text = claim_html(claim, document)
    assert "no data needed" in text
    assert "filmtrust" not in text.partition("<h2>History")[0]


def test_of_many_rows_those_that_weigh_most_are_shown_at_once() -> None:
    document = told.document()
    claim = told.claim(document, "BCC17-F2A")
    for verdict in filter(lambda each: each["parts"], claim["verdicts"].values()):
        part = verdict["parts"][0]
        verdict["parts"] += [
            {**part, "which": f"system {n}", "value": n, "verdict": "refuted" if n == 3 else "open"}
            for n in range(5)
        ]
    text = claim_html(claim, document)
    before, _, after = text.partition("more systems</summary>")
    assert "system 3" in before
    assert "system 4" not in before
    assert "system 4" in after


def test_texts_are_escaped() -> None:
    document = told.document()
    claim = told.claim(document, "BCC17-F2A")
    claim["claim"] = claim["where"] = "<script>"
    document["datasets"][0]["title"] = "<i>mine.csv"
    made = claim_html(claim, document)
    assert "<script" not in made
    assert "<i>mine" not in made


def test_a_claim_is_found_by_what_it_asserts() -> None:
    claim = told.claim(told.document(), "BCC17-F2A")
    found = words(claim)
    assert all(assertion["text"].replace("$", "") in found for assertion in claim["assertions"])
