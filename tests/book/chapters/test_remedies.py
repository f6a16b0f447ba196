"""What criteria of chapter 4 compute: shares of leads and of settings, true orders, small pools."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

import planted
from expressions_at import value_of
from recbias.book.chapters.overcoming_popularity_bias import FUNCTIONS
from recbias.book.chapters.overcoming_popularity_bias.kept import kept_grids
from recbias.book.chapters.overcoming_popularity_bias.setup import (
    levelled_sample,
    threshold_metrics,
)
from recbias.book.choosing import lowest_rating
from recbias.claims import NOT_TESTABLE, claims, judge
from recbias.claims.evidence import LEAST_POOL, LEAST_RUNS, Evidence, NotComputed, NotTestable
from recbias.claims.records import Term
from recbias.experiment.results import Quantity

TOPIC = "overcoming popularity bias"
LEFT = "part(P[P1R] of {0} / rho[P1R] of {0} - 1, P[1R] of {0} / rho[1R] of {0} - 1)"


def found(text: str) -> Any:
    return value_of(text, planted.base_world(TOPIC).results(), functions=FUNCTIONS)


def test_shares_of_leads_by_hand() -> None:
    """pLSA is planted at four times Random under P1R, at seven times under 1R: 3 of 6 are left."""
    kept, popular = LEFT.format("pLSA"), LEFT.format("Popularity")  # 0.2 of 5.4
    assert found(kept).value == pytest.approx(3 / 6)
    assert found(f"part({popular}, {kept})").value == pytest.approx(0.2 / 5.4 / 0.5)
    assert found(f"{kept} - {popular}").value == pytest.approx(0.5 - 0.2 / 5.4)


def test_shares_of_settings_are_those_of_all_combinations() -> None:
    world = planted.base_world(TOPIC).changed(
        "P[U1R] of MF rating factors=10 reg=0.02 in uniform_grid = 0.9; "
        "P[U1R] of kNN norm k=10 overlap=1 min=1 reg=0 in uniform_grid = 0.001",
        "BCC17-F8-PLSA",
    )
    values = world.results()["uniform_grid"].of_systems("U1R", "P@10|t=100")
    groups = [
        ["MF rating factors=10 reg=0.02", "MF rating factors=10 reg=0.05"],
        ["kNN norm k=10 overlap=1 min=1 reg=0", "kNN norm k=10 overlap=1 min=1 reg=1"],
    ]
    term = "P[U1R] of {} in uniform_grid"
    patterns = [term.format(pattern) for pattern in ('"MF rating *"', '"kNN norm *"')]
    for alone, sign in (("pLSA", 1), ("Popularity", -1)):
        counted = np.mean([
            all(sign * values[alone].value > sign * values[other].value for other in pair)
            for pair in ((mf, knn) for mf in groups[0] for knn in groups[1])
        ])  # fmt: skip
        orders = [(term.format(alone), pattern)[::sign] for pattern in patterns]
        text = " * ".join(f"share_of_orders({first}, {second})" for first, second in orders)
        share = value_of(text, world.results())
        assert isinstance(share, Quantity)
        assert share.value == counted == 0.5
        assert share.interval == (0.5, 0.5)


def test_the_worse_of_two_truths_counts() -> None:
    ahead = "value[{0}, P1R] in true_orders - value[{0}, head] in true_orders"
    # .8 and .5 by one, .7 and .4 by the other, each +- .05
    compared = found(f"worst({ahead.format('P')}, {ahead.format('AUC')})")
    assert compared.value == pytest.approx(0.3)
    assert compared.interval == pytest.approx((0.2, 0.4))
    with pytest.raises(NotComputed, match="AR"):
        found("worst(value[P, AR] in true_orders - value[P, head] in true_orders)")


# -- pools -------------------------------------------------------------------------------------


def pool(label: str, rho: str, sets: int = 1000) -> None:
    world = planted.base_world(TOPIC).changed(f"rho[{label}] of all of ten = {rho}", "BCC17-F8-1R")
    results = world.results()["systems"]
    frame = pd.DataFrame({"label": list(results.grid.parsed), "sets": sets})
    few = dataclasses.replace(results, target_sets=frame)
    Evidence({"systems": few}).require_pool([Term.parse("P[P1R]"), Term.parse("P[AR]")])


def test_a_pool_is_read_from_what_random_is_expected_to_have() -> None:
    assert (LEAST_POOL, LEAST_RUNS) == (50, 30)
    pool("P1R", "0.0196")  # 51 targets, one of them relevant
    pool("P1R", "0.01", sets=30)
    for broken in (("P1R", "0.0197"), ("1R", "0.0197"), ("P1R", "0.01", 29), ("1R", "0.0100", 0)):
        with pytest.raises(NotTestable, match="pool too small"):
            pool(*broken)


def test_nothing_ranked_is_less_than_any_pool() -> None:
    with pytest.raises(NotTestable):
        pool("P1R", "0", 0)


def test_a_claim_is_closed_for_a_small_pool() -> None:
    (claim,) = (each for each in claims() if each.id == "BCC17-F8-AI")
    small = planted.base_world(TOPIC).changed(
        "rho[U1R] of all of ten in uniform = 0.02", "BCC17-F8-AI"
    )
    verdict = judge(claim, small.results())
    assert (verdict.verdict, verdict.reason) == ("not testable here", "pool too small")
    assert "pool too small" in NOT_TESTABLE


@pytest.mark.parametrize(
    ("n_tested", "sample"), [(1, 1), (50, 50), (99, 99), (101, 100), (783, 780), (1703, 1700)]
)
def test_a_levelled_sample_has_two_digits(n_tested: int, sample: int) -> None:
    assert levelled_sample(n_tested) == sample


def test_every_rating_is_called_positive_on_a_scale_that_goes_below_0(tmp_path):
    frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": [1, 2, 1], "rating": [-10, 3.5, 2]})
    frame.to_csv(tmp_path / "signed.csv", index=False)
    frame.assign(rating=[1, 3, 2]).to_csv(tmp_path / "stars.csv", index=False)
    lowest = lowest_rating(str(tmp_path / "signed.csv"))
    asked = kept_grids(3.5, cutoff=10, size=100, lowest=lowest)
    assert asked["kept"]["protocols"]["positive AR"] == "TI-AN-AR rel>=-10"
    assert lowest_rating(str(tmp_path / "stars.csv")) == lowest_rating("ml-1m") == 0


def test_ratings_below_0_are_no_gains():
    assert "nDCG(linear)@10" in threshold_metrics(0, 10, 100)["AR"]
    assert "nDCG(linear)@10" not in threshold_metrics(-1, 10, 100)["AR"]
