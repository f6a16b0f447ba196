"""Wrong answers to the exercises of chapter 2 are refused, and the usual ones told apart."""

from __future__ import annotations

import re
from typing import Any

import pytest
from scipy.stats import binom

from recbias.book.chapters.sparsity_bias.exercises import (
    check_drawn,
    check_shared,
    check_thinned,
    check_turn,
)

LEFT: dict[str, Any] = {"precision": 0.072, "rho": 0.0018, "ratio": 40, "runs": 0.062}


def test_what_is_left_of_ten_test_ratings() -> None:
    assert check_thinned(**LEFT)
    kept = 0.4
    assert check_thinned(precision=0.18 * kept, rho=0.0045 * kept, ratio=0.18 / 0.0045, runs=0.062)
    for name in LEFT:
        assert not check_thinned(**LEFT | {name: 1.01 * LEFT[name]})
        assert not check_thinned(**LEFT | {name: ...})
        assert not check_thinned(**LEFT | {name: float("nan")})


@pytest.mark.parametrize(
    ("name", "answer", "told"),
    [
        ("precision", 0.18 * 0.6, "precision: that is what goes"),
        ("precision", 0.18, "a hit is a test rating"),
        ("precision", 0.18 / 0.4, "fewer hits"),
        ("precision", 0.5, "what becomes of hits"),
        ("rho", 0.0045, "target sets stay"),
        ("rho", 0.0045 * 0.6, "rho: that is what goes"),
        ("rho", 0.0045 / 0.4, "fewer relevant items"),
        ("ratio", 16, "both parts of the ratio fall"),
        ("ratio", 100, "both parts of the ratio fall"),
        ("runs", 0.062 * 0.4, "and so do runs"),
        ("runs", 0.062 / 0.4, "and so do runs"),
        ("runs", 0.062 * 0.6, "and so do runs"),
        ("runs", ..., "in place of the dots"),
    ],
)
def test_slips_about_what_is_left(name: str, answer: Any, told: str) -> None:
    found = check_thinned(**LEFT | {name: answer})
    assert not found
    assert told in repr(found)


def test_systems_that_turn() -> None:
    found = check_turn((3, 3), (0, 15))
    assert found
    # 17 of 20 others are below each item of A; B is above all others once, and above 5 of 20.
    assert "hit in 0.850 of the runs, B in 0.625" in repr(found)
    assert check_turn((1, 1), (0, 4))


@pytest.mark.parametrize(
    ("above", "told"),
    [
        (((0, 5), (1, 15)), "A hits in 1 and B in 0 of the two runs, so that A leads"),
        (((3, 3), (1, 15)), "A hits in 0 and B in 0 of the two runs, so that nobody leads"),
        (((1, 1), (0, 0)), "A is expected to hit in 0.950 of the runs, B in 1.000"),
        (((1, 1), (0, 2)), "A is expected to hit in 0.950 of the runs, B in 0.950"),
        ((..., (0, 1)), "above_a: give two numbers in place of the dots"),
        (((..., 1), (0, 1)), "above_a: give two numbers in place of the dots"),
        (((1, 1), "01"), "above_b: give two numbers"),
        (((1, 1), (0, 21)), "above_b: two runs, with 0 to 20"),
        (((1, 1, 1), (0, 1)), "above_a: two runs"),
        (((1, -1), (0, 1)), "above_a: two runs"),
        (((1, 1.5), (0, 1)), "above_a: two runs"),
        (((True, 1), (0, 1)), "above_a: two runs"),
    ],
)
def test_systems_that_do_not_turn(above: Any, told: str) -> None:
    found = check_turn(*above)
    assert not found
    assert told in repr(found)


def exactly(a: float, b: float, n_runs: int) -> float:
    """Sum with SciPy's binomial distribution."""
    return float(
        sum(
            binom.pmf(hits, n_runs, b)
            * (binom.cdf(hits - 1, n_runs, a) + binom.pmf(hits, n_runs, a) / 2)
            for hits in range(n_runs + 1)
        )
    )


def test_the_chance_of_a_wrong_order() -> None:
    assert check_drawn(exactly)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda a, b, n: b * (1 - a), r"wrong\(0\.5, 0\.4, 1\) gives 0\.2\. B alone is ahead"),
        (lambda a, b, n: 1 - a * (1 - b), "counts ties in full"),
        (lambda a, b, n: 1 - exactly(a, b, n), "go through all pairs"),
        (lambda a, b, n: exactly(a, b, 1), r"wrong\(0\.75, 0\.2, 2\)"),
        (lambda a, b, n: min(exactly(a, b, n), 0.499), r"wrong\(0\.5, 0\.5, 3\)"),
        (lambda a, b, n: exactly(a, b, n) if n < 5 else 0.4, r"wrong\(0\.2, 0\.1, 5\)"),
        (lambda a, b, n: min(exactly(a, b, n), 1 - exactly(a, b, n)), r"wrong\(0\.3, 0\.6, 2\)"),
        (lambda a, b, n: ..., "return a number in place of the dots"),
        (lambda a, b: 0.5, "stops with TypeError"),
    ],
)
def test_a_wrong_chance_of_a_wrong_order(answer: Any, told: str) -> None:
    found = check_drawn(answer)
    assert not found
    assert re.search(told, repr(found).replace("<lambda>", "wrong"))


def test_what_shared_samples_allow() -> None:
    assert check_shared(most=0.3, least=0)
    assert check_shared(most=min(0.5, 1 - 0.7), least=max(0.0, 0.5 - 0.7))


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ({"most": 0.15, "least": 0.0}, "most: 0.15 is the chance if samples are drawn apart"),
        ({"most": 0.3, "least": 0.15}, "least: 0.15 is the chance if samples are drawn apart"),
        ({"most": 0.5, "least": 0.0}, "some samples have both"),
        ({"most": 0.7, "least": 0.0}, "the chance of A to hit"),
        ({"most": 0.35, "least": 0.0}, "only A hits, if samples"),
        ({"most": 0.3, "least": 0.2}, "least chance that only A hits"),
        ({"most": 0.3, "least": -0.2}, "no chance is below 0"),
        ({"most": 0.3, "least": 0.3}, "that is the largest"),
        ({"most": 0.1, "least": 0.1}, "most: draw the two hits .*; least: draw the two hits"),
        ({"most": ..., "least": 0.0}, "most: give a number in place of the dots"),
        ({"most": True, "least": 0.0}, "most: give a number"),
    ],
)
def test_slips_about_shared_samples(answers: Any, told: str) -> None:
    found = check_shared(**answers)
    assert not found
    assert re.search(told, repr(found))
