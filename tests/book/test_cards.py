"""Cards show what `judge` gives, in words, the weightiest first."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from collections.abc import Mapping, Sequence
from html import unescape

import numpy as np
import pytest
from click.testing import CliRunner

from recbias.book.cards import (
    by_importance,
    claim_html,
    finding_html,
    measured_text,
    standing_html,
    verdict_cards,
    verdict_table,
)
from recbias.book.chapters.design_alternatives import setup
from recbias.book.html import typeset
from recbias.claims import claims, judge, load_chapter
from recbias.claims.home import printed_beside
from recbias.claims.judging import Verdict, by_parts, scorecards
from recbias.claims.parts import Part
from recbias.claims.reading import csv_text
from recbias.claims.records import Record, criteria_of
from recbias.claims.topics import chapters
from recbias.claims.writing import build
from recbias.cli.commands import main
from recbias.errors import ConfigError
from recbias.experiment.results import Quantity, recorded_datasets

TOPIC = "design alternatives"
BY_ID = {claim.id: claim for claim in claims()}
ASCII_MATHS = re.compile(r"\w_[a-z{]|\|[A-Z]|<=|>=|\^")


@pytest.fixture(scope="module")
def judged():
    return scorecards(["ml-1m", *(name for name in recorded_datasets() if name != "ml-1m")])


def part(verdict: str, *asserts: int, **record: object) -> Part:
    """A part of a verdict, of a record that asks for at least 1."""
    value = {"holds": 2.0, "refuted": 0.0, "open": float("nan")}[verdict]
    raw = {"finds": f"{verdict} {asserts}: {{value}}", "value": "check(n)", "least": 1}
    return Part(Record.from_dict({**raw, "asserts": asserts, **record}), value)


def verdict(name: str, *parts: Part, claim: str = "BCC17-F2A") -> Verdict:
    return Verdict(BY_ID[claim], name, parts)


def plain(text: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", text))


# -- what leads, and what comes first ------------------------------------------------------------


def test_the_weightiest_part_leads():
    holds, other, refuted = part("holds", 1), part("open", 4), part("refuted", 3)
    assert verdict("partly", holds, other, refuted).lead is refuted
    assert verdict("undecided", holds, other).lead is other
    assert verdict("yes", holds, part("holds", 4)).lead is holds


def test_a_detail_leads_only_where_nothing_of_the_core_was_measured():
    holds, detail = part("holds", 1), part("refuted", 5)
    assert verdict("yes", detail, holds).lead is holds
    assert verdict("not yet", detail).lead is detail


def test_details_and_the_strict_verdict_stand_beside_the_verdict():
    parts = [part("holds", 1), part("refuted", 5), part("holds", 2), part("holds", 6)]
    found = by_parts(BY_ID["BCC17-F2A"], parts)
    text = plain(standing_html(found))
    assert text == "Details: 2 hold, 1 refuted; by all parts alike: partly."
    card = verdict_cards([found])
    assert standing_html(found) in card
    assert card.count("<em>detail:</em>") == 3
    assert plain(standing_html(by_parts(BY_ID["BCC17-F2A"], parts[:1]))) == (
        "By all parts alike: yes."
    )


def test_a_part_that_one_reader_took_for_the_core_says_so():
    claim = BY_ID["BCC17-T2"]  # core 2 and 5; one of two readers marked 1 and 3 too
    card = verdict_cards([by_parts(claim, [part("holds", 2), part("holds", 3), part("holds", 4)])])
    assert card.count("<em>detail, of the core for one of two readers:</em>") == 1
    assert card.count("<em>detail:</em>") == 1


def test_the_corrected_form_has_details_and_a_strict_verdict_of_its_own():
    printed, mended = part("refuted", 1, corrected="E01"), part("holds", 1, corrects="E01")
    found = by_parts(BY_ID["BCC17-F2A"], [printed, mended, part("refuted", 5)])
    assert plain(standing_html(found)) == (
        "Details: 1 refuted; by all parts alike: no. "
        "Corrected: details: 1 refuted; by all parts alike: partly."
    )


def test_what_is_undecided_says_why_and_what_would_decide_it():
    untested = Part(part("holds", 3).record, None, lacks="no timestamps")
    text = plain(standing_html(by_parts(BY_ID["BCC17-F2A"], [part("holds", 1), untested])))
    assert text.startswith("A core part cannot be tested here: no timestamps. ")
    assert "What would decide it: data with timestamps." in text


def test_what_holds_anyhow_or_decides_nothing_does_not_lead():
    anyhow, holds = part("holds", 1, supports=False), part("holds", 4)
    beside = part("refuted", 3, decides=False)
    mended = part("refuted", 4, corrects="E01")
    assert verdict("yes", anyhow, beside, mended, holds).lead is holds
    assert verdict("yes", anyhow).lead is anyhow
    assert verdict("not yet").lead is None
    assert verdict("not testable here", Part(anyhow.record, None, lacks="no stars")).lead is None


def test_what_the_data_contradict_comes_first():
    one = verdict("partly", part("refuted", 1), part("holds", 2))
    two = verdict("partly", part("refuted", 1, 2), part("holds", 3))
    long = verdict("yes", part("holds", 1), part("holds", 2))
    short = verdict("yes", part("holds", 1))
    no, open_, not_yet = verdict("no"), verdict("undecided"), verdict("not yet")
    given = [not_yet, short, one, open_, long, two, no]
    assert by_importance(given) == [no, two, one, open_, long, short, not_yet]
    assert by_importance(given[::-1]) == by_importance(given), "no two are alike"


def test_equals_stay_as_in_the_ledger():
    first, second = verdict("yes", part("holds", 1)), verdict("yes", part("holds", 2))
    assert by_importance([first, second])[0] is first
    assert by_importance([second, first])[0] is second


# -- cards ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_card_begins_with_its_finding(judged):
    cards = verdict_cards(judged["ml-1m"])
    for each in judged["ml-1m"]:
        if each.claim.topic != TOPIC:
            continue
        card = cards[cards.index(f'id="{each.claim.id.lower()}"') :].split("</section>")[0]
        first = card.split("</p>")[0]
        assert finding_html(each) in first
        assert claim_html(each.claim) in card
        assert "claim-finding" in first
        assert ("Claimed:" in first) == bool(each.parts and each.lead.record.claimed != "none")
        for found in each.parts:
            if found.estimate is not None and len(each.parts) > 1:
                assert typeset(found.finding) in card


@pytest.mark.slow
def test_theorems_and_definitions_are_folded_below_the_measured(judged):
    cards = verdict_cards(judged["ml-1m"])
    group = cards.index('<details class="claim-group">')
    by_kind = {
        kind: [each.claim.id for each in judged["ml-1m"] if each.claim.counts_as == kind]
        for kind in ("empirical", "theorem", "definition")
    }
    place = {name: cards.index(f'id="{name.lower()}"') for ids in by_kind.values() for name in ids}
    assert max(place[name] for name in by_kind["empirical"]) < group
    assert min(place[name] for kind in ("theorem", "definition") for name in by_kind[kind]) > group
    summary = cards[group:].split("</summary>")[0]
    wrong = [v.claim.id for v in judged["ml-1m"] if (v.claim.kind, v.verdict) == ("theorem", "no")]
    told = re.search(r"(\d+) no \(([^)]*)\)", summary)
    assert told, "a fold says what is inside"
    assert (int(told[1]), set(told[2].split(", "))) == (len(wrong), set(wrong))


def test_what_is_not_tested_here_shows_its_verdict_at_home() -> None:
    here = verdict("not testable here", claim="MCCRS20-F5A-CM")
    yes = verdict("yes", part("holds", 1), claim="MCCRS20-F5A-CM")
    assert "not testable here" in plain(verdict_table([here]))
    for others in ({"cm100k": [here]}, {"ml-1m": [yes]}):  # as untested there, and not at home
        assert "not on this page" not in plain(verdict_table([here], others))
    told, _, _ = plain(verdict_table([here], {"cm100k": [yes]})).partition("MCCRS20")
    assert told.endswith("not on this page's data; on CM100k: yes")
    assert "not on this page" not in plain(verdict_table([yes], {"cm100k": [yes]}))


@pytest.mark.slow
def test_a_table_lists_what_is_measured_and_folds_the_cards(judged):
    verdicts = judged["ml-1m"]
    table, _, cards = verdict_table(verdicts).partition("<details>")
    listed = re.findall(r'<a href="#([^"]+)">([^<]+)</a>', table)
    measured = by_importance(v for v in verdicts if v.claim.counts_as == "empirical")
    assert [name for _, name in listed] == [verdict.claim.id for verdict in measured]
    assert all(f'id="{target}"' in cards for target, _ in listed)
    assert verdict_cards(verdicts) in cards
    assert "<table" not in verdict_table([]).partition("<details>")[0]


@pytest.mark.slow
@pytest.mark.parametrize("dataset", recorded_datasets())
def test_findings_are_words_and_typeset_formulas(dataset, judged):
    for each in judged[dataset]:
        if each.claim.topic != TOPIC:
            continue
        assert not ASCII_MATHS.search(re.sub(r"\$[^$]*\$", "", each.claim.text)), each.claim.text
        for found in each.parts:
            sentence = re.sub(r"\$[^$]*\$", "", f"{found.finding} {found.record.claimed}")
            assert not ASCII_MATHS.search(sentence), sentence
            assert "..." not in found.finding, "a number that the sentence names was not found"
            assert not re.search(r"\{\w+\}", sentence), sentence
            assert "e-1" not in plain(typeset(found.finding))


def test_the_check_on_maths_sees_what_the_cards_had():
    for old in ("0.9 - smallest |C_TI|/|I| of a fold", "R_test", "tau(i, T_u^r)", "<= 0"):
        assert ASCII_MATHS.search(old), old


def test_a_finding_has_the_numbers_behind_its_value():
    measured = load_chapter(setup.CHAPTER, "ml-1m")
    systems = measured["systems"]
    found = judge(BY_ID["BCC17-F2A"], measured)
    (close,) = (each for each in found.parts if each.record.asserts == (5,))
    plsa, popularity = (systems[name, "AR", "P@10"].value for name in ("pLSA", "Popularity"))
    assert close.finding == (
        f"pLSA scores {plsa:.3g} where Popularity scores {popularity:.3g}: "
        f"{100 * (plsa / popularity - 1):.3g} % apart"
    )
    assert close.record.claimed == "Popularity close behind pLSA, at most 25 %"
    low, high = close.interval
    assert (
        measured_text(close) == f"{100 * close.value:.3g} % ({100 * low:.3g} to {100 * high:.3g})"
    )


NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:e[-+]?\d+)?")
SCALES = {"percent": (100, " %"), "factor": (1, " times")}


def misread(part: Part, text: str) -> str:
    """Tell what is wrong with a part's text by reading its numbers back; empty if nothing is."""
    if part.estimate is None:
        return text and "a text for nothing"
    if math.isnan(part.value):
        return "" if text.removeprefix("difference ") == "undefined" else f"{text!r} for no number"
    scale, end = SCALES.get(part.record.unit, (1, ""))
    known = not any(map(math.isnan, part.interval))
    ranges = known and part.interval[0] != part.interval[1]
    numbers = [part.value, *(part.interval if ranges else ())]
    bare = NUMBER.sub("#", text).replace("none", "#")
    start = "difference " if part.record.is_difference else ""
    wanted = f"{start}#{end}" + (" (# to #)" if ranges else "" if known else " (no interval)")
    if bare != wanted:
        return f"{bare!r} for {wanted!r}"
    # Three digits, one of a p, whole counts, two decimals of a factor; of what is open to more, two
    # digits of how far that is.
    share = {"p": 0.5, "violation": 0.051}.get(part.record.unit, 0.00501)
    least = {"count": 0.5, "factor": 0.00501, "violation": 1e-12}.get(part.record.unit, 0)
    if ranges and part.record.unit not in ("count", "p", "violation"):
        least = max(least, 0.0501 * (part.interval[1] - part.interval[0]))
    read = re.findall(rf"{NUMBER.pattern}|none", text)
    for told, number in zip(read, numbers, strict=True):
        # What lies within its bound violates nothing, however far below.
        none = min(number, 0.0) if part.record.unit == "violation" else 0.0
        found = none if told == "none" else float(told.replace(",", "")) / scale
        if abs(found - number) > max(least, share * abs(number)):
            return f"{told} for {number}"
    return ""


@pytest.mark.slow
def test_the_text_of_every_part_reads_back_as_its_value_and_interval(judged):
    parts = [part for found in judged.values() for each in found for part in each.parts]
    assert {part.record.unit for part in parts} >= {"percent", "factor", "count", "p", "violation"}
    for part in parts:
        assert not misread(part, measured_text(part)), (part.record.finds, measured_text(part))


@pytest.mark.parametrize("unit", ["number", "percent", "factor", "count", "p", "violation"])
def test_a_value_that_is_undefined_is_called_so_in_every_unit(unit):
    found = Part(part("holds", 1, unit=unit).record, Quantity(np.nan, np.array([np.nan, 1.0])))
    assert measured_text(found) == "undefined"
    assert misread(found, "nan")


@pytest.mark.parametrize("unit", ["number", "percent", "factor", "count"])
def test_a_text_of_another_value_or_without_its_unit_is_misread(unit):
    found = Part(part("holds", 1, unit=unit).record, Quantity(20.0, np.array([10.0, 30.0])))
    text = measured_text(found)
    low, high = NUMBER.findall(text)[1:]
    assert not misread(found, text)
    for broken in (
        measured_text(
            dataclasses.replace(found, estimate=Quantity(22.0, found.estimate.replicates))
        ),
        text.replace(low, high),
        text.partition(" (")[0],
        f"{text} %",
        "",
    ):
        assert misread(found, broken), broken


def test_what_is_undefined_has_neither_unit_nor_interval():
    ends = Quantity(math.nan, np.array([math.nan, math.nan]))
    found = Part(part("holds", 1, unit="percent").record, ends)
    assert measured_text(found) == "undefined"
    for broken in ("undefined (undefined to undefined)", "undefined %", "0 %", ""):
        assert misread(found, broken), broken


def test_a_value_that_some_resamplings_leave_undefined_has_no_interval():
    ends = Quantity(2.0, np.array([1.0, math.nan]))
    found = Part(part("holds", 1, unit="factor").record, ends)
    assert measured_text(found) == "2.00 times (no interval)"
    assert not misread(found, measured_text(found))
    assert misread(found, "2.00 times")
    assert misread(found, "2.00 times (1.00 to 3.00)")


def test_what_lies_within_its_bound_is_none_and_not_zero():
    within = Part(part("holds", 1, unit="violation").record, -0.6)
    assert not misread(within, measured_text(within))
    assert misread(within, "0.6")
    assert misread(Part(part("holds", 1, unit="violation").record, 0.6), "none")


def test_a_record_shows_only_numbers_that_it_has():
    raw = {"value": "P[AR] of Random", "least": 0.1}
    with pytest.raises(ConfigError, match="unknown number 'b'"):
        Record.from_dict({"finds": "{a} and {b}", **raw})
    with pytest.raises(ConfigError, match="only a count or a violation can be none"):
        Record.from_dict({"finds": "{value}", "if_none": "nothing", **raw})
    assert Record.from_dict({"finds": r"{a} of $PR_{test}$", **raw}).finding(
        0.25, "", {"a": 1}
    ) == (r"1 of $PR_{test}$")


def test_published_values_that_parts_name_exist():
    for claim, criterion in criteria_of(TOPIC).items():
        for record in criterion.records:
            assert not record.published or record.published in BY_ID[claim].values, record.finds


# -- the table that is handed out -----------------------------------------------------------------


@pytest.mark.slow
def test_the_table_holds_what_was_judged(judged):
    rows = list(csv.DictReader(io.StringIO(csv_text(build(judged)))))
    written = {claim.id for claim in claims() if chapters()[claim.topic]}
    told = {(row["dataset"], row["claim"]): row["verdict"] for row in rows}
    assert told == {
        (name, each.claim.id): each.verdict
        for name, verdicts in judged.items()
        for each in verdicts
        if each.claim.id in written
    }
    f2a = [row for row in rows if (row["dataset"], row["claim"]) == ("ml-1m", "BCC17-F2A")]
    (value,) = (row for row in f2a if row["published"])
    assert (value["asserts"], value["published"], value["part"]) == ("6", "0.08", "holds")
    assert float(value["low"]) < float(value["value"]) < float(value["high"])


def differing_lines(text: str, judged: Mapping[str, Sequence[Verdict]]) -> list[str]:
    """List the lines of a CSV that are not the parts of verdicts, in their order."""
    rows = list(csv.reader(io.StringIO(text)))
    columns = {name: place for place, name in enumerate(rows[0])}
    lines = []
    for name, verdicts in judged.items():
        for each in verdicts:
            if not chapters()[each.claim.topic]:
                continue
            for found in each.parts or [None]:
                line = {"dataset": name, "claim": each.claim.id, "verdict": each.verdict}
                line |= {"paper": each.claim.paper, "corrected": each.corrected}
                if found is None:
                    line |= {"part": "", "value": "", "reason": each.reason}
                else:
                    low, high = found.interval
                    line |= {"value": found.value, "low": low, "high": high, "which": found.which}
                    line |= {"part": found.verdict, "unit": found.record.unit}
                    line |= {"asserts": " ".join(map(str, found.record.asserts))}
                    printed = printed_beside(each.claim, found.record.published, name)
                    line |= {"published": printed}
                    line |= {"finding": found.finding, "reason": found.lacks or found.unsure}
                lines.append({key: str(value) for key, value in line.items()})
    told = [{key: row[columns[key]] for key in line} for row, line in zip(rows[1:], lines)]  # noqa: B905
    different = [str(line) for one, line in zip(told, lines, strict=False) if one != line]
    return different + ["lines"] * abs(len(rows) - 1 - len(lines))


@pytest.mark.slow
def test_every_line_of_the_csv_is_a_part(judged):
    assert differing_lines(csv_text(build(judged)), judged) == []


@pytest.mark.slow
def test_a_line_that_is_not_the_part_is_seen(judged):
    """The twins: a value, a verdict on a part, and a part are exchanged or lost."""
    place = next(n for n, each in enumerate(judged["ml-1m"]) if each.claim.id == "BCC17-F2A")
    first, *rest = judged["ml-1m"][place].parts
    for parts in (
        (dataclasses.replace(first, estimate=first.value + 1e-9), *rest),
        (dataclasses.replace(first, unsure="for a reason"), *rest),
        (*rest, first),
        tuple(rest),
    ):
        broken = list(judged["ml-1m"])
        broken[place] = dataclasses.replace(broken[place], parts=parts)
        assert differing_lines(csv_text(build({**judged, "ml-1m": broken})), judged)


@pytest.mark.slow
def test_the_command_line_prints_the_same_csv(judged):
    told = CliRunner().invoke(main, ["claims", "--dataset", "ml-100k", "--csv"])
    assert told.exit_code == 0
    assert told.output == csv_text(build({"ml-100k": judged["ml-100k"]}))
