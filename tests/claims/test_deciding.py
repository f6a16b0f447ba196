"""What would decide what is open: the predicted number of users is tried on simulated samples."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from recbias.claims import NOT_TESTABLE, claims
from recbias.claims.deciding import (
    AT_THRESHOLD,
    DRAWS,
    JUDGMENTS,
    USERS,
    WORLDS,
    factor_needed,
    wanted,
    what_decides,
)
from recbias.claims.judging import by_parts
from recbias.claims.parts import BARRED, Part, Reading
from recbias.claims.records import Record
from recbias.claims.regions import Region
from recbias.experiment.results import Quantity
from recbias.stats.resampling import interval

BY_ID = {claim.id: claim for claim in claims()}
CLAIM = BY_ID["BCC17-F2A"]
DIFFERENCE = {"finds": "{value}", "value": "P[AR] of ALS - P[AR] of Random", "asserts": [1]}


def record(**change: object) -> Record:
    return Record.from_dict({**DIFFERENCE, "above": 0, **change})


def spread(value: float, half: float) -> Quantity:
    """A quantity with an interval of this half width, made of replicates."""
    found = Quantity(value, value + np.linspace(-half / 0.95, half / 0.95, 2001))
    assert np.allclose(found.interval, (value - half, value + half))
    return found


def told(part: Part, claim: object = CLAIM) -> list[str]:
    return [str(each) for each in wanted(part, claim)]  # type: ignore[arg-type]


# -- the factor ----------------------------------------------------------------------------------


def naive_factor(value: float, low: float, high: float, region: Region) -> float:
    """Add users, a thousandth at a time, until the shrunken interval lies on one side."""
    factor = 1.0
    while factor < 500:
        width = math.sqrt(factor)
        ends = value - (value - low) / width, value + (high - value) / width
        if region.verdict(*ends) != "open":
            return factor
        factor *= 1.001
    return math.inf


REGIONS = [Region(above=0), Region(least=0), Region(below=0.3), Region(least=-0.4, most=0.6)]


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("value", [-0.9, -0.5, -0.2, -0.1, 0.05, 0.2, 0.45, 0.7])
def test_the_factor_is_the_first_at_which_the_interval_lies_on_one_side(
    region: Region, value: float
) -> None:
    low, high = value - 0.7, value + 1.1
    found = factor_needed(value, low, high, region)
    assert max(found, 1.0) == pytest.approx(naive_factor(value, low, high, region), rel=0.002)


def test_at_the_threshold_no_number_of_users_decides() -> None:
    for region in (Region(above=0), Region(least=0), Region(most=0), Region(least=0, most=1)):
        assert factor_needed(0.0, -1.0, 1.0, region) == math.inf
    assert factor_needed(-0.0001, -1.0, 1.0, Region(above=0)) > AT_THRESHOLD


def decided(n_users: int, mean: float, n_samples: int = 300) -> int:
    """Count samples of so many users whose bootstrap interval of the mean lies on one side of 0."""
    rng = np.random.default_rng(20261126 + n_users)
    region, count = Region(above=0), 0
    for _ in range(n_samples):
        users = rng.normal(mean, 1.0, n_users)
        drawn = users[rng.integers(n_users, size=(200, n_users))].mean(axis=1)
        count += region.verdict(*map(float, interval(drawn))) != "open"
    return count


def test_with_so_many_users_half_of_all_samples_decide() -> None:
    """What is promised; with half as many fewer do, and with four times as many nearly all."""
    n_users, n_samples = 60, 300
    mean = 0.15
    half = 1.96 / math.sqrt(n_users)
    factor = factor_needed(mean, mean - half, mean + half, Region(above=0))
    assert 2 < factor < 4
    error = math.sqrt(n_samples) / 2  # standard deviation of a count where half decide
    at_factor = decided(round(factor * n_users), mean)
    assert abs(at_factor - n_samples / 2) <= 3 * error
    assert decided(round(factor * n_users / 2), mean) < n_samples / 2 - 3 * error
    assert decided(round(4 * factor * n_users), mean) > 0.9 * n_samples


# -- in words ------------------------------------------------------------------------------------


def test_what_is_decided_waits_for_nothing() -> None:
    for value in (2.0, -2.0):
        assert wanted(Part(record(), spread(value, 1.0)), CLAIM) == []
    assert wanted(Part(record(decides=False), spread(0.1, 1.0)), CLAIM) == []


def test_an_open_part_says_how_many_users() -> None:
    assert told(Part(record(), spread(0.5, 1.0))) == ["about 4 times as many users"]
    assert told(Part(record(), spread(-0.25, 1.0))) == ["about 16 times as many users"]


def test_an_identity_says_how_many_users_would_show_it() -> None:
    value = "misses(P[AR] of ALS, P[AR] of Random, 0.05)"
    identity = Record.from_dict({**DIFFERENCE, "value": value, "most": 3})
    assert told(Part(identity, Quantity(0.5, None, limits=(0.5, 6.0)))) == [
        "about 4 times as many users"
    ]
    (seed,) = wanted(Part(identity, 2.9, halves=(3.1, 2.9)), CLAIM)
    assert seed.why == "it hangs on the seed of the resampling"


def test_both_halves_have_to_agree() -> None:
    """A part that is open for its halves alone needs what the wider of them needs."""
    part = Part(record(), spread(1.0, 0.9), halves=(spread(1.0, 0.8), spread(1.0, 1.2)))
    assert part.verdict == "open"
    assert told(part) == ["about 1.5 times as many users"]


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (Part(record(), spread(0.0, 1.0)), "the estimate lies at the threshold"),
        (Part(record(), spread(0.001, 1.0)), "the estimate lies at the threshold"),
        (Part(record(), Quantity(math.nan, None)), "its value is undefined on these data"),
        (Part(record(), None, unsure=""), "its value is undefined on these data"),
        (Part(record(), Quantity(0.5, None)), "its value has no interval"),
        (
            Part(record(value="tau(P[AR], P[1R])"), Quantity(0.5, None, limits=(-0.1, 1.0))),
            "more users would decide more of the cases, one way or the other",
        ),
        (
            Part(record(), Quantity(0.5, None, limits=(-0.1, 1.0), cases=10)),
            "more users would decide more of the cases, one way or the other",
        ),
    ],
)
def test_what_cannot_be_told_says_why(part: Part, why: str) -> None:
    assert part.verdict == "open"
    assert told(part) == [f"cannot be told: {why}"]


def test_a_size_is_not_cut_at_zero() -> None:
    """The interval of a size ends at 0, which says nothing of how wide it is below."""
    size = Part(record(least=0.2, above=-math.inf), Quantity(0.3, None, limits=(0.0, 0.9)))
    assert told(size) == ["about 36 times as many users"]
    assert factor_needed(0.3, 0.0, 0.9, Region(least=0.2)) == pytest.approx(9)


def test_seeds_come_first_and_users_where_the_interval_is_open_too() -> None:
    unsure = "trained with one seed only: ALS, BPR"
    sure = Part(record(), spread(2.0, 1.0), unsure=unsure)
    assert told(sure) == ["5 training seeds in each fold, of ALS, BPR"]
    both = Part(record(), spread(0.5, 1.0), unsure=unsure)
    assert told(both)[1:] == ["about 4 times as many users"]


def test_it_says_of_what_more_is_needed() -> None:
    open_ = Part(record(), spread(0.5, 1.0))
    drawn = Part(record(), Quantity(0.5, None, limits=(-0.5, 1.5), df=9))
    made = dataclasses.replace(open_, read=(Reading("simulations", "worlds", "P", 0.5),))
    assert wanted(open_, CLAIM)[0].what == USERS
    assert wanted(drawn, CLAIM)[0].what == DRAWS
    assert wanted(made, CLAIM)[0].what == WORLDS
    assert wanted(open_, dataclasses.replace(CLAIM, simulation=True))[0].what == WORLDS
    assert wanted(open_, dataclasses.replace(CLAIM, needs=("unbiased",)))[0].what == JUDGMENTS
    assert wanted(Part(record(needs=["unbiased"]), spread(0.5, 1)), CLAIM)[0].what == JUDGMENTS


def test_too_small_a_pool_waits_for_judgments() -> None:
    small = Part(record(), None, lacks="pool too small")
    assert told(small) == ["more judgments, as too few rated items stand to be ranked"]


def test_a_claim_says_what_its_most_demanding_part_needs() -> None:
    parts = [
        Part(record(), spread(0.5, 1.0)),
        Part(record(asserts=[3]), spread(0.25, 1.0)),
        Part(record(asserts=[4]), spread(0.0, 1.0)),
        Part(record(asserts=[4]), spread(3.0, 1.0)),
    ]
    assert what_decides(parts, CLAIM) == (
        "What would decide it: about 16 times as many users. "
        "Of a part it cannot be told: the estimate lies at the threshold."
    )
    assert what_decides(parts[2:], CLAIM) == (
        "What would decide it cannot be told: the estimate lies at the threshold."
    )
    assert what_decides(parts[3:], CLAIM) == ""


def test_only_what_is_undecided_and_core_counts() -> None:
    open_, detail = Part(record(), spread(0.5, 1.0)), Part(record(asserts=[5]), spread(0.1, 1.0))
    found = by_parts(CLAIM, [open_, detail])
    assert found.would_decide == "What would decide it: about 4 times as many users."
    assert found.to_dict("ml-1m")["would decide"] == found.would_decide
    assert found.to_dict("ml-1m")["parts"][1]["would decide"] == ["about 100 times as many users"]
    assert by_parts(CLAIM, [Part(record(), spread(2.0, 1.0)), detail]).would_decide == ""


def test_every_reason_for_not_testable_has_words() -> None:
    """A part that lacks something says what it waits for; what is lost cannot come back."""
    for reason in set(NOT_TESTABLE) - set(BARRED):  # which bar whole claims
        (found,) = wanted(Part(record(), None, lacks=reason), CLAIM)
        expected = "value lost" if not found.what else reason
        assert reason == expected, reason
