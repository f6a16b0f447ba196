"""Wrong answers to the exercises of chapter 4 are refused, and the usual ones told apart."""

from __future__ import annotations

import math
from typing import Any

import pytest

from recbias.book.chapters.overcoming_popularity_bias.exercises import (
    check_bpref,
    check_p1r,
    check_uniform,
    check_weight,
)


def of_groups(hits: Any, runs: Any, n: int) -> float:
    scores = [hit / number / n for hit, number in zip(hits, runs, strict=True) if number]
    return sum(scores) / len(scores)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda hits, runs, n: sum(hits) / sum(runs) / n, "counts as much as any other"),
        (lambda hits, runs, n: of_groups(hits, runs, 1), "gives 0.65"),
        # a percentile without runs scores nothing, and is no zero
        (
            lambda hits, runs, n: of_groups(hits, runs, n) * sum(map(bool, runs)) / len(runs),
            "One has none",
        ),
        (
            lambda hits, runs, n: (
                sum(h / r for h, r in zip(hits, runs, strict=True)) / len(runs) / n
            ),
            "stops with ZeroDivisionError",
        ),
        (lambda hits, runs, n: ..., "in place of the dots"),
    ],
)
def test_a_wrong_mean_over_percentiles(answer: Any, told: str) -> None:
    found = check_p1r(answer)
    assert not found
    assert told in repr(found)


def test_a_mean_of_the_means_of_percentiles_is_right() -> None:
    assert check_p1r(of_groups)


def last(counts: Any, sigma: float, eps: float) -> int:
    shares = [(1 - eps) * count * (k + 1) / sum(counts) for k, count in enumerate(counts)]
    return max(k + 1 for k, share in enumerate(shares) if share >= sigma - 1e-12)


def first_that_fails(counts: Any, sigma: float, eps: float) -> int:
    for k, count in enumerate(counts):
        if (1 - eps) * count * (k + 1) / sum(counts) < sigma - 1e-12 and k > 1:
            return k
    return len(counts)


def floored(counts: Any, sigma: float, eps: float) -> int:
    return math.floor((1 - eps) * counts[last(counts, sigma, eps) - 1] + 1e-12)


@pytest.mark.parametrize(
    ("n_items", "quota", "told"),
    [
        (first_that_fails, floored, "could have 12.8"),
        (lambda counts, sigma, eps: len(counts), floored, "n_items((10, 8"),
        (
            last,
            lambda counts, sigma, eps: math.ceil(
                (1 - eps) * counts[last(counts, sigma, eps) - 1] - 1e-12
            ),
            "may give 3.2 of its 4",
        ),
        (last, lambda counts, sigma, eps: round(sigma * sum(counts) / len(counts)), "may give"),
        (last, lambda counts, sigma, eps: ..., "in place of the dots"),
        (lambda counts: 1, floored, "stops with TypeError"),
    ],
)
def test_a_wrong_uniform_test(n_items: Any, quota: Any, told: str) -> None:
    found = check_uniform(n_items, quota)
    assert not found
    assert told in repr(found)


def test_the_last_item_and_the_floor_are_right() -> None:
    assert check_uniform(last, floored)


def trec_bpref(listed: str, n_liked: int, n_disliked: int, *, cap: bool = True) -> float:
    total = above = 0.0
    bound = min(n_liked, n_disliked)
    for judged in listed:
        above += judged == "-"
        if judged == "+":
            total += 1 - (min(above, n_liked) if cap else above) / bound if above else 1
    return total / n_liked


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            lambda listed, liked, disliked: trec_bpref(listed, liked, disliked, cap=False),
            "gives -2",
        ),
        (lambda listed, liked, disliked: listed.count("+") / liked, "gives 0.6667"),
        (
            lambda listed, liked, disliked: (
                trec_bpref(listed, liked, disliked) * liked / max(listed.count("+"), 1)
            ),
            "not listed, is worth 0",
        ),
        (lambda listed, liked, disliked: ..., "in place of the dots"),
    ],
)
def test_a_wrong_bpref(answer: Any, told: str) -> None:
    found = check_bpref(answer)
    assert not found
    assert told in repr(found)


def test_the_bpref_of_trec_eval_is_right() -> None:
    assert check_bpref(trec_bpref)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda p, sigma: 1, "and weighs 1"),
        (lambda p, sigma: 1 / p, "and weighs 5"),  # gamma without end
        (lambda p, sigma: 1 / p**0.5, "and weighs 2.236"),  # gamma 1
        (lambda p, sigma: (1 - p) / p, "and weighs 9"),  # training counted as all ratings
        (lambda p, sigma: 0, "cannot be divided"),
        (lambda p, sigma: ..., "in place of the dots"),
    ],
)
def test_a_wrong_weight(answer: Any, told: str) -> None:
    found = check_weight(answer)
    assert not found
    assert told in repr(found)


@pytest.mark.parametrize("factor", [1, 7.0])
def test_a_weight_up_to_a_factor_is_right(factor: float) -> None:
    assert check_weight(lambda p, sigma: factor * (1 - (1 - sigma) * p) / p)
