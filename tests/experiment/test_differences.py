"""Differences of tables and arrays: what is told as one, and by how much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from recbias.experiment.reproduction import (
    agreement,
    compare_arrays,
    compare_frames,
    deviations,
    farthest,
    hundredth_bound,
    relative_bound,
)

FRESH = pd.DataFrame(
    {
        "system": ["Random", "Popularity", "Popularity"],
        "metric": ["P@10", "P@10", "R@10"],
        "value": [0.5, 0.25, np.nan],
        "n": [3, 4, 5],
        "flag": [True, False, True],
    }
)
BOUND = relative_bound(0.1, 1e-9)


def differing(stored: pd.DataFrame, fresh: pd.DataFrame = FRESH, **options: Any) -> tuple[str, ...]:
    return agreement(compare_frames(stored, fresh, BOUND, **options)).differing


def edited(row: int, column: str, value: object) -> pd.DataFrame:
    frame = FRESH.copy()
    frame.loc[row, column] = value
    return frame


def test_rows_are_paired_by_name_in_any_order() -> None:
    assert differing(FRESH[::-1].reset_index(drop=True)) == ()
    found = compare_frames(FRESH, FRESH, BOUND)
    assert len(found) == 3 * 3
    assert (found["difference"] == 0).all()
    assert (found["of_bound"] == 0).all()


@pytest.mark.parametrize(
    ("row", "column", "value", "says"),
    [
        (0, "value", 0.549, ()),
        (0, "value", 0.551, ("Random P@10: value",)),
        (0, "value", np.nan, ("Random P@10: value",)),
        (2, "value", 0.0, ("Popularity R@10: value",)),
        (0, "value", np.inf, ("Random P@10: value",)),
        (1, "n", 5, ("Popularity P@10: n",)),
        (1, "flag", True, ("Popularity P@10: flag",)),
        (1, "metric", "AP", ("Popularity P@10: value, n, flag", "Popularity AP: value, n, flag")),
    ],
)
def test_numbers_may_differ_by_their_bound_and_nothing_else_may(
    row: int, column: str, value: object, says: tuple[str, ...]
) -> None:
    assert differing(edited(row, column, value)) == says


def test_the_bound_is_that_of_the_fresh_number() -> None:
    small, large = (FRESH.assign(value=FRESH["value"] * times) for times in (0.01, 1.0))
    assert differing(large, small)  # a tenth of what is stored would be more than the difference
    (line,) = compare_frames(small[:1], large[:1], BOUND).query("column == 'value'").itertuples()
    assert line.difference == pytest.approx(0.495)
    assert line.of_bound == pytest.approx(0.495 / 0.05)


def test_rows_of_one_name_are_paired_in_turn() -> None:
    twice = pd.concat([FRESH, FRESH.assign(value=FRESH["value"] + 1)], ignore_index=True)
    assert differing(twice, twice) == ()
    assert differing(FRESH, twice)[0] == "Random P@10: value, n, flag"
    assert differing(twice, FRESH)[0] == "Random P@10: value, n, flag"
    assert differing(FRESH, FRESH, index=["metric"], name="frame") == ()
    assert differing(edited(1, "system", "AP"), FRESH, index=["metric"], name="frame") == (
        "frame P@10: system",
    )


def test_other_columns_or_kinds_of_columns_differ() -> None:
    assert differing(FRESH.drop(columns="n")) == ("columns: n",)
    assert differing(FRESH.assign(more=1)) == ("columns: more",)
    assert differing(FRESH.assign(system=[1, 2, 3])) == ("columns: system",)
    assert differing(FRESH[:0], FRESH[:0].drop(columns="n")) == ()
    assert len(differing(FRESH[:0])) == 3


def test_arrays_are_one_line_each() -> None:
    fresh = np.array([[1.0, np.nan], [3.0, 4.0]])

    def found(stored: Any, bound: Any = 0.1) -> tuple[float, float]:
        (line,) = compare_arrays(("a",), "replicates", stored, fresh, bound).itertuples()
        return line.difference, line.of_bound

    assert found(fresh) == (0, 0)
    moved = fresh + np.array([[0.2, 0.0], [0.0, -0.05]])
    assert found(moved) == pytest.approx((0.2, 2))
    assert found(moved, np.array([[1, 1], [1, 0.01]])) == pytest.approx((0.2, 5))
    for other in (None, fresh[:1], np.nan_to_num(fresh), fresh * np.nan):
        assert found(other) == (np.inf, np.inf)
    assert compare_arrays((), "none", None, None, 0.0)["difference"].tolist() == [0]


def test_p_values_are_compared_by_what_they_stand_for() -> None:
    np.testing.assert_allclose(deviations([1.0, 0.31731, 0.0455, 0.0027]), [0, 1, 2, 3], atol=1e-4)
    assert deviations([0.0]) == deviations([1e-310])
    assert np.isnan(deviations([np.nan])).all()


# -- two trainings of one system --------------------------------------------------------------


def apart(stored: Any, bound: float = 1.0, *, together: bool = True) -> float:
    fresh = np.zeros(np.shape(stored))
    return compare_arrays((), "x", np.asarray(stored), fresh, bound, together=together)[
        "of_bound"
    ].item()


@pytest.mark.parametrize("n_draws", [1, 10, 1000, 100_000])
def test_a_shift_of_all_draws_counts_as_what_it_is(n_draws: int) -> None:
    assert apart(np.full(n_draws, 0.5), 0.25) == pytest.approx(2.0)
    assert apart(np.tile([1.0, -1.0], n_draws)) == pytest.approx(1.0)


def test_one_draw_alone_is_held_against_what_no_training_moves_it_by() -> None:
    once = np.zeros(10_000)
    for moved, agrees in ((6.1, True), (6.3, False)):
        once[7] = moved
        assert (apart(once) <= 1) == agrees
        assert apart(once) > 5 * apart(once[once == 0])
    few = np.zeros(4)  # of few draws one cannot be apart while their root mean square is small
    few[0] = 2.1
    assert apart(few) == pytest.approx(1.05)


def test_draws_without_number_do_not_bring_two_trainings_together() -> None:
    stored = np.array([1.5, 1.5, np.nan, np.nan])
    fresh = np.array([0.0, 0.0, np.nan, np.nan])

    def of_bound(other: Any) -> float:
        found = compare_arrays((), "x", other, fresh, 1.0, together=True)
        return float(found["of_bound"].item())

    assert of_bound(stored) == pytest.approx(1.5)
    assert of_bound(fresh) == 0
    assert of_bound(fresh * np.nan) == np.inf
    assert of_bound(np.array([0.0, np.nan, np.nan, np.nan])) == np.inf
    nothing = np.full(3, np.nan)
    assert compare_arrays((), "x", nothing, nothing, 1.0, together=True)["of_bound"].item() == 0.0


def _trainings(
    seed: int, n_users: int = 500, n_draws: int = 1000
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Per-user values of two trainings that differ for few users, and means of bootstrap draws."""
    rng = np.random.default_rng(seed)
    one = rng.binomial(10, rng.beta(1, 9, n_users)) / 10
    other = one.copy()
    changed = rng.choice(n_users, 12, replace=False)
    other[changed] = np.clip(other[changed] + rng.choice([-0.1, 0.1], 12), 0, 1)
    weights = rng.multinomial(n_users, np.full(n_users, 1 / n_users), n_draws) / n_users
    return one, other, weights @ one, weights @ other


def test_trainings_within_the_bound_stay_within_it_whatever_is_drawn_from_them() -> None:
    """The root mean square is that of all draws, and no end of an interval moves further.

    An end lies between two of 1,000 draws, so its own error comes on top of what it moves by: 4
    standard errors of a quantile of the differences. The old rule, the largest of all differences,
    calls the same trainings different: that is the twin.
    """
    old = []
    for seed in range(40):
        one, other, drawn, again = _trainings(seed)
        moves = other - one
        d, s = moves.mean(), moves.std() / np.sqrt(len(moves))
        bound = float(np.hypot(d, s))  # this is how far apart the trainings are
        noise = 4 / np.sqrt(2 * len(drawn))
        assert apart(again - drawn, bound) <= 1 + noise
        ends = (np.quantile(each, [0.025, 0.975]) for each in (drawn, again))
        low_and_high = np.abs(np.subtract(*ends))
        quantile_noise = 4 * np.sqrt(0.025 * 0.975 / len(drawn)) / 0.0584  # density at 1.96
        assert (low_and_high <= (farthest(1.96) + quantile_noise) * bound).all()
        old.append(apart(again - drawn, bound, together=False))
    assert min(old) > 1.5


@pytest.mark.parametrize("column", ["value", "se", "low", "high", "statistic_p"])
def test_ends_of_an_interval_move_further_for_systems_that_are_trained_anew(column: str) -> None:
    rows = pd.DataFrame({"system": ["ALS", "Popularity"], "se": 0.5}).assign(**{column: 0.5})
    als, popularity = hundredth_bound(column, rows, wide={"ALS"}) / (
        0.01 if column.endswith("_p") else 0.005
    )
    assert popularity == pytest.approx(1.0)
    assert als == pytest.approx(30 * np.hypot(1, 1.96) if column in ("low", "high") else 30)
