"""Verdicts by the core parts: a truth table in plain loops, and what details may not do."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.claims import NOT_TESTABLE, Claim, claims
from recbias.claims.assertions import core_standing, untested_core
from recbias.claims.judging import Verdict, by_parts
from recbias.claims.ledger import UNCHECKED
from recbias.claims.parts import Part, combine
from recbias.claims.reading import VERDICTS
from recbias.claims.records import Record, criteria_of

BY_ID = {claim.id: claim for claim in claims()}
CLAIM = BY_ID["BCC17-F2A"]  # core 1, 3 and 4 of its eight assertions
FOUND = ("holds", "refuted", "open", "not testable")
VALUES = {"holds": 2.0, "refuted": 0.0, "open": float("nan")}


def part(found: str, number: int = 1, **change: object) -> Part:
    """A part about an assertion, of a record that asks for at least 1."""
    raw = {"finds": "{value}", "value": 'check("n")', "least": 1, "asserts": [number]}
    record = Record.from_dict({**raw, **change})
    if found == "not testable":
        return Part(record, None, lacks="no timestamps")
    return Part(record, VALUES[found])


def expected(core: Sequence[str]) -> str:
    """What DESIGN says, read row by row: a list of what became of the core parts."""
    hold = refuted = open_ = untested = 0
    for each in core:
        hold += each == "holds"
        refuted += each == "refuted"
        open_ += each == "open"
        untested += each == "not testable"
    if hold + refuted + open_ == 0:
        return "not testable here"
    if refuted > 0 and hold == 0:
        return "no"
    if refuted > 0 and hold > 0:
        return "partly"
    if open_ > 0:
        return "undecided"
    if untested > 0:  # an untested core part forbids "yes"
        return "undecided"
    return "yes"


CASES = [case for n in (1, 2, 3) for case in itertools.product(FOUND, repeat=n)]


@pytest.mark.parametrize("case", CASES, ids=["-".join(case) for case in CASES])
def test_the_core_decides_as_the_table_says(case: tuple[str, ...]) -> None:
    found = by_parts(CLAIM, [part(each) for each in case])
    assert found.verdict == expected(case)
    assert found.verdict in VERDICTS
    if found.verdict == "not testable here":
        assert found.reason in NOT_TESTABLE
    if found.verdict == "undecided" and "not testable" in case:
        assert "no timestamps" in found.reason


def test_a_rule_that_lets_untested_parts_pass_fails_the_table() -> None:
    """The rule until November 2026 passes over what is not tested, and the table notices."""
    old = {case: combine([part(each) for each in case]) or "not testable here" for case in CASES}
    wrong = [case for case in CASES if old[case] != expected(case)]
    assert wrong
    assert all("not testable" in case and expected(case) == "undecided" for case in wrong)


PARTS = st.lists(st.builds(part, st.sampled_from(FOUND), st.sampled_from((1, 3, 4))), min_size=1)
DETAILS = st.lists(st.builds(part, st.sampled_from(FOUND), st.sampled_from((2, 5, 6, 7, 8))))


@given(PARTS, DETAILS)
def test_no_detail_changes_a_verdict(core: list[Part], details: list[Part]) -> None:
    alone, found = by_parts(CLAIM, core), by_parts(CLAIM, core + details)
    assert (found.verdict, found.reason) == (alone.verdict, alone.reason)
    assert sum(found.details.values()) == len(details)
    for name in FOUND:
        n_found = sum(each.verdict == name for each in details)
        assert found.details.get(name, 0) == n_found


@given(PARTS, DETAILS, st.sampled_from((1, 3, 4)))
def test_an_untested_core_part_never_gives_yes(
    core: list[Part], details: list[Part], number: int
) -> None:
    parts = [*core, part("not testable", number), *details]
    assert by_parts(CLAIM, parts).verdict != "yes"


@given(PARTS, DETAILS)
def test_the_strict_verdict_is_that_of_all_parts(core: list[Part], details: list[Part]) -> None:
    found = by_parts(CLAIM, core + details)
    assert found.strict == (combine(core + details) or "not testable here")
    everything = dataclasses.replace(CLAIM, core=tuple(range(1, 9)))
    both = by_parts(everything, core + details)
    if not any(each.lacks for each in core + details):
        assert both.verdict == found.strict


@given(PARTS)
def test_without_assertions_every_part_is_core(core: list[Part]) -> None:
    bare = dataclasses.replace(CLAIM, asserts=(), core=())
    assert by_parts(bare, core).verdict == expected([each.verdict for each in core])
    assert by_parts(bare, core).details == {}


def test_what_decides_nothing_or_is_of_the_other_form_is_no_part() -> None:
    for change in ({"decides": False}, {"corrects": "E01"}):
        for found in FOUND:
            assert by_parts(CLAIM, [part("holds"), part(found, **change)]).verdict == "yes"
    assert by_parts(CLAIM, [part("holds"), part("refuted", corrected="E01")]).verdict == "partly"


def test_the_corrected_form_is_judged_by_its_own_core() -> None:
    printed, mended = part("refuted", corrected="E01"), part("holds", corrects="E01")
    detail = part("refuted", 5)
    found = by_parts(CLAIM, [printed, mended, detail])
    assert (found.verdict, found.corrected) == ("no", "yes")
    assert (found.strict, found.strict_corrected) == ("no", "partly")
    assert found.details == found.details_corrected == {"refuted": 1}
    assert by_parts(CLAIM, [printed]).corrected == ""


def test_a_core_that_nothing_tests_forbids_yes_to_either_form() -> None:
    claim = BY_ID["BCC17-F9-SR"]
    assert untested_core(claim) == ["dataset not here"]
    number = claim.core[0]
    printed, mended = part("open", number, corrected="E01"), part("holds", number, corrects="E01")
    found = by_parts(claim, [printed, mended])
    assert (found.verdict, found.corrected) == ("undecided", "undecided")
    parts = [part("open", corrected="E01"), part("holds", corrects="E01")]
    assert by_parts(CLAIM, parts).corrected == "yes"


def test_what_holds_on_any_data_does_not_speak_for_a_claim() -> None:
    anyhow = part("holds", supports=False)
    assert by_parts(CLAIM, [anyhow, part("refuted", 3)]).verdict == "no"
    assert by_parts(CLAIM, [anyhow, part("holds", 3)]).verdict == "yes"
    assert by_parts(CLAIM, [anyhow, part("open", 3)]).verdict == "undecided"
    assert by_parts(CLAIM, [anyhow, part("not testable", 3)]).verdict == "not testable here"
    assert by_parts(CLAIM, [part("refuted", supports=False)]).verdict == "no"


def test_some_core_part_of_each_claim_may_speak_for_it() -> None:
    """Else its verdict could be "not testable here" for no reason."""
    for claim in claims():
        criterion = criteria_of(claim.topic)[claim.id]
        core = [
            record
            for record in criterion.records
            if record.decides and not record.corrects and set(record.asserts) & set(claim.core)
        ]
        assert not core or any(record.supports for record in core), claim.id


def test_a_core_assertion_that_could_be_measured_and_is_not_forbids_yes() -> None:
    claim = BY_ID["BCC17-F9-SR"]  # its assertion 7 is about data that nobody here has
    assert 7 in claim.core
    assert by_parts(claim, [part("holds", 2), part("holds", 4)]).verdict == "undecided"
    assert by_parts(claim, [part("refuted", 2), part("holds", 4)]).verdict == "partly"
    tested = [part("holds", 2), part("holds", 4)]
    free = dataclasses.replace(
        claim,
        asserts=tuple(dataclasses.replace(each, unchecked="") for each in claim.asserts),
        core=(2, 4),
    )
    assert by_parts(free, tested).verdict == "yes"


def test_a_claim_without_a_core_part_is_not_decided_by_its_details() -> None:
    pointing = dataclasses.replace(BY_ID["BCC17-F3L"], core=(4,))
    found = by_parts(pointing, [part("holds", 1), part("refuted", 2)])
    assert found.verdict == "not yet"
    assert "4 (elsewhere: BCC17-F3R)" in found.reason
    for name in ("CCM20-C-REPORT", "CCM20-D-A1", "CCM20-SUM"):  # what authors should do
        asked = by_parts(BY_ID[name], [part("holds", 2)] * (name != "CCM20-C-REPORT"))
        assert (asked.verdict, asked.reason) == ("not testable here", "about practice")
        assert asked.reason in NOT_TESTABLE
    lost = by_parts(BY_ID["CCM20-T1"], [part("holds", 5)])
    assert (lost.verdict, lost.reason) == ("not testable here", "value lost")


def test_a_verdict_as_json_says_which_parts_are_core() -> None:
    written = by_parts(CLAIM, [part("holds"), part("refuted", 5)]).to_dict("ml-1m")
    assert [each["core"] for each in written["parts"]] == [True, False]
    assert (written["verdict"], written["strict"]) == ("yes", "partly")
    assert written["details"] == {"refuted": 1}


def test_a_verdict_as_json_numbers_its_parts_and_names_the_one_to_read_first() -> None:
    parts = [part("holds"), part("refuted", 3), part("not testable", 4)]
    written = by_parts(CLAIM, parts).to_dict("ml-1m")
    assert [each["number"] for each in written["parts"]] == [1, 2, 3]
    assert [each["reason"] for each in written["parts"]] == ["", "", "no timestamps"]
    assert [each["measured"] for each in written["parts"]] == [True, True, False]
    assert written["lead"] == 2
    unsure = dataclasses.replace(parts[0], unsure="trained with one seed only: MF")
    written = by_parts(CLAIM, [parts[2], unsure]).to_dict("ml-1m")
    assert [each["reason"] for each in written["parts"]] == ["no timestamps", unsure.unsure]
    assert written["lead"] == 2
    assert by_parts(CLAIM, [parts[2]]).to_dict("ml-1m")["lead"] is None


# -- every core assertion of the ledger ----------------------------------------------------------

WITHOUT_A_PART = {
    # Core assertions that no record of their own entry decides. Each is to get one, or to stay for
    # the reason that is given; the list may only become shorter.
    "BCC17-F3L": {4: "elsewhere: BCC17-F3R"},
    "BCC17-EQ-EP": {8: "elsewhere: BCC17-EQ3"},
    "BCC17-C-1RUNDEF": {4: "elsewhere: BCC17-C-ORDER"},
    "BCC17-C-DATA": {4: "unchecked: other data", 11: "unchecked: a cause without a test"},
    "BCC17-F9-BPLFM": {1: "unchecked: other data"},
    "BCC17-F9-IA": {3: "unchecked: other data"},
    "BCC17-F9-SR": {7: "unchecked: other data"},
    "BCC17-C-GAMMA": {4: "unchecked: about practice"},
    "CCM20-T1": {1: "unchecked: value lost"},
    "CCM20-D-A1": {5: "unchecked: about practice"},
    "CCM20-C-REPORT": {1: "unchecked: about practice"},
    "CCM20-D-C2": {3: "elsewhere: CCM20-EQ-G"},
    "CCM20-EQ-COV": {1: "unchecked: value lost"},
    "CCM20-EQ-GM": {6: "elsewhere: CCM20-T4"},
    "CCM20-C-DEPTHZERO": {3: "elsewhere: CCM20-F7-NONE"},
    "CCM20-SUM": {7: "unchecked: about practice", 12: "unchecked: about practice"},
    "ATM15-F1": {1: "unchecked: value lost"},
    "ATM15-C-JOINT": {2: "elsewhere: ATM15-CI-POS"},
}


def test_every_core_assertion_has_a_part_or_says_why_not() -> None:
    found = {claim.id: core_standing(claim) for claim in claims()}
    counts = Counter(
        standing.partition(":")[0] for each in found.values() for standing in each.values()
    )
    without = {
        name: gaps
        for name, each in found.items()
        if (gaps := {number: why for number, why in each.items() if why != "part"})
    }
    assert without == WITHOUT_A_PART
    assert sum(counts.values()) == sum(len(claim.core) for claim in claims())
    assert counts["none"] == 0, "a core assertion that nothing decides, and no reason"
    for each in without.values():
        for why in each.values():
            kind, _, what = why.partition(": ")
            assert what in (UNCHECKED if kind == "unchecked" else BY_ID), why


def test_an_assertion_that_points_elsewhere_points_to_a_claim_that_is_judged() -> None:
    for each in WITHOUT_A_PART.values():
        for why in each.values():
            kind, _, other = why.partition(": ")
            if kind == "elsewhere":
                records = criteria_of(BY_ID[other].topic)[other].records
                assert any(record.decides and not record.corrects for record in records), other


def test_a_core_assertion_without_part_or_reason_is_noticed() -> None:
    bare = dataclasses.replace(
        BY_ID["CCM20-EQ-COV"],
        asserts=tuple(
            dataclasses.replace(each, unchecked="") for each in BY_ID["CCM20-EQ-COV"].asserts
        ),
    )
    assert core_standing(bare)[1] == "none"
    assert untested_core(BY_ID["CCM20-EQ-COV"]) == ["value lost"]


def test_a_claim_and_its_twin_without_core_differ() -> None:
    """The core of the real ledger is what `by_parts` reads: all core, and details count."""
    everything = dataclasses.replace(CLAIM, core=tuple(range(1, 9)))
    parts = [part("holds"), part("refuted", 5)]
    verdicts: list[Verdict] = [by_parts(each, parts) for each in (CLAIM, everything)]
    assert [each.verdict for each in verdicts] == ["yes", "partly"]


def claim_of(core: tuple[int, ...]) -> Claim:
    return dataclasses.replace(CLAIM, core=core)


@given(st.sets(st.integers(1, 8), min_size=1), st.sets(st.integers(1, 8), min_size=1))
def test_a_part_that_names_a_core_assertion_beside_others_is_core(
    core: set[int], asserted: set[int]
) -> None:
    found = by_parts(
        claim_of(tuple(core)),
        [part("holds", next(iter(core))), part("refuted", asserts=sorted(asserted))],
    )
    assert found.verdict == ("partly" if core & asserted else "yes")
