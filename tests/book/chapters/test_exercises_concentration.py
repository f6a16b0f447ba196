"""Wrong answers to the exercises of chapter 6 are refused, and the usual ones told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from recbias.book.chapters.concentration_metrics.exercises import (
    check_blind,
    check_head,
    check_index,
    check_opposed,
)
from recbias.metrics.concentration import gini
from recbias.metrics.prior import concentration_index


def index(
    prior: Sequence[int],
    shown: Sequence[int],
    first: float = 0.5,
    second: float = 0.5,
    add: int = 1,
) -> float:
    n, before, after = len(prior), sum(prior), sum(shown)
    value = 0.0
    for s, r in zip(prior, shown, strict=True):
        old, new = (s + add) / (before + n * add), (r + add) / (after + n * add)
        value += first * s / before * math.log(old / new)
        value += second * r / after * math.log(new / old)
    return value


def test_ci_as_the_poster_prints_it_is_right() -> None:
    found = check_index(index)
    assert found
    assert "below 0" in repr(found)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda s, r: 2 * index(s, r), "Both sums are halved"),
        (lambda s, r: index(s, r, second=0), "the first sum alone"),
        (lambda s, r: index(s, r, first=0), "the second sum alone"),
        (lambda s, r: index(s, r) if 0 in (*s, *r) else index(s, r, add=0), "Add one to each"),
        (lambda s, r: 0.0, "gives 0, expected 0.08858. Write the four items"),
        (lambda s, r: float("nan"), "return a number"),
        (lambda s, r: ..., "in place of the dots"),
        (lambda s, r: index(s, r, add=0), "stops with"),
    ],
)
def test_slips_about_ci(answer: Any, told: str) -> None:
    found = check_index(answer)
    assert not found
    assert told in repr(found)


def row(counts: Sequence[int]) -> npt.NDArray[np.float64]:
    return np.array([counts], dtype=np.float64)


def test_the_same_gini_and_a_larger_ci() -> None:
    for shown in ((1, 2, 3, 4), (2, 1, 3, 4), (1, 3, 2, 4)):
        assert gini(row(shown))[0] == gini(row((4, 3, 2, 1)))[0]
        assert bool(check_blind(shown)) == (concentration_index((6, 3, 1, 0), row(shown))[0] > 0.3)
    assert check_blind([1, 2, 3, 4])


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        ((4, 3, 2, 1), "CI is 0.089"),
        ((3, 4, 2, 1), "Change what is far apart"),
        ((0, 0, 0, 10), "Gini is another one"),
        ((5, 3, 2, 1), "add up to 10"),
        ((4, 3, 3), "four whole numbers"),
        ((4, 3, 2, 1.0), "four whole numbers"),
        ((-1, 5, 2, 4), "none below 0"),
        ((True, 3, 2, 4), "four whole numbers"),
        ("4321", "in place of the dots"),
        ((..., 3, 2, 1), "in place of the dots"),
        (..., "in place of the dots"),
    ],
)
def test_counts_that_do_not_show_it(shown: Any, told: str) -> None:
    found = check_blind(shown)
    assert not found
    assert told in repr(found)


def test_who_is_head() -> None:
    assert check_head(printed=0, percentile=200)
    for printed, percentile, told in (
        (200, 200, "printed: lambda is compared"),
        (0, 800, "percentile: head is who"),
        (..., 200, "printed: give a number"),
        (0, float("nan"), "percentile: give a number"),
    ):
        found = check_head(printed=printed, percentile=percentile)
        assert not found
        assert told in repr(found)


def test_more_even_and_yet_nearer() -> None:
    found = check_opposed((4, 3, 2, 1), (0, 1, 3, 6))
    assert found
    assert "Gini is 0.250 for a and 0.500 for b" in repr(found)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ((6, 3, 1, 0), (4, 3, 2, 1), "a has to be more even"),
        ((4, 3, 2, 1), (1, 2, 3, 4), "a has to be more even"),
        ((3, 3, 2, 2), (6, 3, 1, 0), "b has to deviate more"),
        (..., (6, 3, 1, 0), "a: give four numbers"),
        ((4, 3, 2, 1), (6, 3, 1, 1), "b: four whole numbers"),
    ],
)
def test_pairs_that_do_not_show_it(a: Any, b: Any, told: str) -> None:
    found = check_opposed(a, b)
    assert not found
    assert told in repr(found)
