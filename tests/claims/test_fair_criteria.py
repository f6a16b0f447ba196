"""What an audit found of criteria: each can fail on data, and asks of mirror assertions the same."""

from __future__ import annotations

import re

import pytest

from recbias.claims import claims
from recbias.claims.records import Record, criteria_of

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
