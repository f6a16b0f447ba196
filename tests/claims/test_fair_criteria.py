"""What an audit found of criteria: each can fail on data, and mirror assertions ask the same."""

from __future__ import annotations

import dataclasses
import re

import pytest

from planted import rows, verdict_of
from recbias.claims import Claim, Part, claims
from recbias.claims.assertions import core_standing, untested_core
from recbias.claims.home import hangs_on_no_data, home
from recbias.claims.judging import by_parts, scorecards
from recbias.claims.records import Record, criteria_of
from recbias.experiment.results import recorded_datasets

BY_ID = {claim.id: claim for claim in claims()}


def records(claim: str, number: int, *, decides: bool = True) -> list[Record]:
    """Records of the printed form that are about an assertion."""
    criterion = criteria_of(BY_ID[claim].topic)[claim]
    return [
        record
        for record in criterion.records
        if number in record.asserts and record.decides == decides and not record.corrects
    ]


# -- mirror assertions -----------------------------------------------------------------------------


def mirrored(record: Record) -> tuple[object, ...]:
    """What a record asks, with P and antiP exchanged, and which of the two is larger."""
    exchanged = {"antiP": "P", "P": "antiP", "precision": "anti-precision"}
    text = re.sub(
        r"\bantiP\b|\bP\b|anti-precision|precision",
        lambda found: exchanged.get(found[0], "precision"),
        record.value,
    )
    inner = text.removeprefix("above(").removesuffix(")")
    sides = sorted(inner.split(", "))
    return sides, record.systems, record.but, record.region, record.supports


def asked(record: Record) -> tuple[object, ...]:
    inner = record.value.removeprefix("above(").removesuffix(")")
    return sorted(inner.split(", ")), record.systems, record.but, record.region, record.supports


def test_mirror_assertions_are_decided_by_the_same_systems() -> None:
    """The optimum of P among 16 systems by antiP, as that of antiP among them by P."""
    one, other = (records("MCCRS20-C-FLIP", number) for number in (1, 2))
    assert len(one) == len(other) == 1
    assert mirrored(one[0]) == asked(other[0])
    assert one[0].systems == ("all",)
    assert " in optimal," not in one[0].value  # the 16, not the few rankings for everybody
    panels = records("MCCRS20-C-FLIP", 3)
    assert sorted(map(str, map(mirrored, panels))) == sorted(map(str, map(asked, panels)))


def test_what_was_asked_before_was_no_mirror() -> None:
    (old,) = criteria_of(BY_ID["MCCRS20-C-FLIP"].topic)["MCCRS20-C-FLIP"].replaced
    was = [Record.from_dict(raw) for raw in old.was]
    decided = {n: [r for r in was if n in r.asserts and r.decides] for n in (1, 2)}
    assert [len(decided[n]) for n in (1, 2)] == [1, 2]
    assert mirrored(decided[1][0]) != asked(decided[2][1])


@pytest.mark.parametrize("dataset", ["ml-1m", "cm100k"])
def test_verdicts_before_and_after_are_quoted(dataset: str) -> None:
    (old,) = criteria_of(BY_ID["MCCRS20-C-FLIP"].topic)["MCCRS20-C-FLIP"].replaced
    assert old.verdicts[dataset] == ("yes", "partly")


# -- what could not fail ---------------------------------------------------------------------------

FACTS_OF_DATA = {
    # Empirical claims whose core is decided by checks alone: these count what the data are like.
    "BCC17-F5R",
    "BCC17-C-DATA",
    "BCC17-V-ZETA",
    "MCCRS20-T2",
}


def core_records(claim: Claim) -> list[Record]:
    """Records that decide the printed form of a claim and may speak for it."""
    return [
        record
        for record in criteria_of(claim.topic)[claim.id].records
        if record.decides
        and record.supports
        and not record.corrects
        and not set(record.asserts).isdisjoint(claim.core)
    ]


def test_what_checks_alone_decide_is_empirical_only_where_they_count_data() -> None:
    """Identities, definitions and properties of an index or a generator are no empirical "yes"."""
    by_checks = {
        claim.id
        for claim in claims()
        if claim.kind == "empirical"
        and (core := core_records(claim))
        and all(record.check for record in core)
    }
    assert by_checks == FACTS_OF_DATA


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("ATM15-CI-POS", "theorem"),  # an index that grows on any way from proportion
        ("ATM15-C-JOINT", "theorem"),
        ("BCC17-F5L", "definition"),  # worlds that are made more and more skewed
        ("CCM20-D-A1", "definition"),
        ("CCM20-C-REPORT", "definition"),
    ],
)
def test_what_holds_by_construction_says_so(claim: str, kind: str) -> None:
    assert BY_ID[claim].kind == kind
    assert hangs_on_no_data(BY_ID[claim])


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("ATM15-F1", "value lost"),
        ("CCM20-C-REPORT", "about practice"),
        ("CCM20-D-A1", "about practice"),
        ("CCM20-SUM", "about practice"),
    ],
)
def test_what_nothing_here_can_decide_is_no_yes(claim: str, reason: str) -> None:
    """Neither a grid that has a metric nor options that read back speak for a paper."""
    of_claim = BY_ID[claim]
    parts = [Part(each, 0.0) for each in criteria_of(of_claim.topic)[claim].records]
    found = by_parts(of_claim, parts)
    assert (found.verdict, found.reason) == ("not testable here", reason)


def test_a_lower_average_of_the_same_lists_is_no_inflation() -> None:
    """Broken input: kNN refuses users at random, so that the reduced average is its own.

    It is above the full average of the same lists, as it always is, and the criterion until then
    held.
    """
    claim = "CCM20-C-FORGIVE"
    criterion = criteria_of(BY_ID[claim].topic)[claim]
    changes = "nDCG[reduced] of User kNN k=10 overlap=40 in overlaps = 0.347"
    (row,) = (r for r in rows() if r.claim == claim and r.part and r.changes == changes)
    found = verdict_of(row, criterion).parts
    assert [p.verdict for p in found if p.record.asserts == (1,)] == ["refuted", "beside", "beside"]
    old = Record.from_dict(criterion.replaced[0].was[0])
    whole = dataclasses.replace(row, part="", claim_verdict="yes")
    was = verdict_of(whole, dataclasses.replace(criterion, records=(old,)))
    assert [part.verdict for part in was.parts] == ["holds"]


# -- core assertions -------------------------------------------------------------------------------


def test_the_range_at_fixed_t_is_judged_by_a_part_of_its_own() -> None:
    assert core_standing(BY_ID["BCC17-C-1RCOMP"]) == {2: "part"}
    same = records("BCC17-F4C", 3)[0]
    (own,) = records("BCC17-C-1RCOMP", 2)
    assert (own.value, own.region) == (same.value, same.region)


def test_no_claim_is_judged_by_the_verdict_on_another_alone() -> None:
    """An assertion may point elsewhere beside others; a core that does so is no verdict."""
    for claim in claims():
        found = [why.partition(":")[0] for why in core_standing(claim).values()]
        assert not found or set(found) != {"elsewhere"}, claim.id


@pytest.mark.slow
def test_no_recorded_yes_has_an_untested_core() -> None:
    for dataset, verdicts in scorecards(recorded_datasets()).items():
        for verdict in verdicts:
            if verdict.verdict == "yes":
                lacking = [part.lacks for part in verdict.core if part.lacks]
                where = f"{verdict.claim.id} on {dataset}"
                assert not lacking, where
                assert not untested_core(verdict.claim), where
                assert verdict.core, where


# -- readings of two who did not know the verdict --------------------------------------------------


@pytest.mark.parametrize("claim", ["BCC17-EQ-1RPOP", "MCCRS20-C2", "MCCRS20-C3"])
def test_a_reading_on_which_two_agree_replaced_the_harsh_one(claim: str) -> None:
    *_, old = criteria_of(BY_ID[claim].topic)[claim].replaced
    assert old.until == "2026-11-26"
    assert "two readers" in old.why
    assert len(old.verdicts) >= 5


def test_equally_means_likewise_and_no_degree() -> None:
    (decides,) = records("BCC17-EQ-1RPOP", 5)
    assert decides.unit == "number"
    assert decides.region.above == 0
    assert {r.unit for r in records("BCC17-EQ-1RPOP", 5, decides=False)} == {"factor"}


def test_a_remark_with_all_else_equal_is_an_identity() -> None:
    (decides,) = records("MCCRS20-C2", 2)
    assert (decides.check, decides.supports) == ("popular-higher-at-equal-relevance", False)


def test_usual_data_sets_are_real_and_no_step_of_skew_has_to_count() -> None:
    claim = BY_ID["MCCRS20-C3"]
    assert not claim.simulation
    assert home(claim, ["coat", "cm100k", "ml-1m"]) == ("cm100k", "ml-1m")
    assert [record.reads for record in records(claim.id, 1)] == [(("", "pairs"),)]
    assert not any("rises" in record.value for record in records(claim.id, 2))
    beside = records(claim.id, 2, decides=False)
    assert any("rises" in record.value for record in beside)
