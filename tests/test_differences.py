"""Differences of tables and arrays: what is told as one, and by how much."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from recbias.differences import (
    agreement,
    compare_arrays,
    compare_frames,
    deviations,
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
