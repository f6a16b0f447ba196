"""Wrong answers to the exercises of chapter 7 are refused, and the usual ones told apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from recbias.book.chapters.offline_option_taxonomy.exercises import (
    check_averages,
    check_geometric,
    check_options,
    check_weights,
)
from recbias.experiment.options import Options

WANTED = (
    "data: users>=20; split: ratio 0.2; seed: 7; "
    "lists: AI-AN-AR rel>=4 users=trained weights=ratings; metric: nDCG@5; gain: exp; "
    "pairs: wilcoxon"
)


def geometric(values: Sequence[float], epsilon: float) -> float:
    product = 1.0
    for value in values:
        product *= value + epsilon
    return float(product ** (1 / len(values))) - epsilon


def test_full_and_reduced_averages() -> None:
    found = check_averages(full=0.18, needed=800)
    assert found
    assert ".18 against .24" in repr(found)


@pytest.mark.parametrize(
    ("full", "needed", "told"),
    [
        (0.5, 800, "as the paper prints it"),
        (0.3, 800, "of those who are served"),
        (0.2, 800, "400 zeros among them"),
        (0.18, 0.8, "that is the share"),
        (0.18, 600, "At which coverage"),
        (..., 800, "full: give a number"),
        (0.18, ..., "needed: give a number"),
        (float("nan"), 800, "full: give a number"),
    ],
)
def test_slips_about_averages(full: Any, needed: Any, told: str) -> None:
    found = check_averages(full=full, needed=needed)
    assert not found
    assert told in repr(found)


def test_a_geometric_mean_by_its_product_is_right() -> None:
    found = check_geometric(geometric)
    assert found
    assert "0.0032" in repr(found)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda v, e: sum(v) / len(v), "the arithmetic mean"),
        (lambda v, e: geometric(v, e) + e, "Take epsilon off"),
        (lambda v, e: math.log(geometric(v, e) + e), "it wants exp"),
        (lambda v, e: 0.5, "expected 0.06669. Add epsilon"),
        (lambda v, e: math.exp(sum(map(math.log, v)) / len(v)), "stops with"),
        (lambda v, e: ..., "in place of the dots"),
        (lambda v, e: float("nan"), "return a number"),
    ],
)
def test_slips_about_geometric_means(answer: Any, told: str) -> None:
    found = check_geometric(answer)
    assert not found
    assert told in repr(found)


def test_weights_that_turn_the_winner() -> None:
    for a, b, ratings in (
        ((0.5, 0.1), (0.4, 0.3), (90, 10)),
        ([0.0, 0.6], [0.3, 0.5], [10, 200]),
    ):
        found = check_weights(a=a, b=b, ratings=ratings)
        assert found
        assert "two winners" in repr(found)


@pytest.mark.parametrize(
    ("a", "b", "ratings", "told"),
    [
        ((0.5, 0.3), (0.4, 0.3), (90, 10), "By the plain mean b has to be ahead"),
        ((0.5, 0.1), (0.4, 0.3), (10, 10), "let it win for the user with more ratings"),
        ((0.4, 0.1), (0.5, 0.3), (90, 10), "With weights a has to be ahead"),
        ((1.5, 0.1), (0.4, 0.3), (90, 10), "between 0 and 1"),
        ((0.5, 0.1), (0.4, -0.3), (90, 10), "between 0 and 1"),
        ((0.5, 0.1), (0.4, 0.3), (90, 0), "whole numbers"),
        ((0.5, 0.1), (0.4, 0.3), (90, 1.5), "whole numbers"),
        ((0.5, 0.1, 0.2), (0.4, 0.3), (90, 10), "a: two numbers"),
        ((0.5, 0.1), (0.4, "x"), (90, 10), "b: two numbers"),
        ((0.5, 0.1), (..., 0.3), (90, 10), "b: give two numbers"),
        ((0.5, 0.1), (0.4, 0.3), ..., "ratings: give two numbers"),
        ("12", (0.4, 0.3), (90, 10), "a: give two numbers"),
    ],
)
def test_users_for_whom_they_do_not(a: Any, b: Any, ratings: Any, told: str) -> None:
    found = check_weights(a=a, b=b, ratings=ratings)
    assert not found
    assert told in repr(found)


def test_options_are_read_in_any_order_and_in_other_words() -> None:
    assert check_options(WANTED)
    assert check_options("; ".join(reversed(WANTED.split("; "))))
    assert check_options(WANTED.replace("nDCG@5; gain: exp", "nDCG(exp)@5"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("data: users>=20; ", "", "A1: who has fewer"),
        ("users>=20", "items>=20", "A1: who has fewer"),
        ("ratio 0.2", "ratio 0.8", "A2: a random fifth"),
        ("seed: 7; ", "", "A2: the split was drawn"),
        ("rel>=4 ", "rel>=4 condensed ", "C1: all items"),
        ("AI-AN-AR", "TI-AN-AR", "C1: all items, all that"),
        ("rel>=4", "rel>=3", "C2: relevant are"),
        (" users=trained", "", "B1: who has"),
        ("rel>=4 ", "rel>=4 unscored=random ", "B2: what has no score"),
        (" weights=ratings", "", "C3: users weigh"),
        ("weights=ratings", "weights=relevant", "C3: users weigh"),
        ("weights=ratings", "weights=ratings statistic=median", "C3: the statistic"),
        ("weights=ratings", "weights=ratings coverage=reduced", "C4: users without"),
        ("nDCG@5", "nDCG@10", "C2: the metric"),
        ("; gain: exp", "", "C2: the gain"),
        ("pairs: wilcoxon", "pairs: sign", "D: the test"),
        ("seed: 7; ", "seed: 7; test: observed removed=30%; ", "C2: all observed"),
        ("; gain: exp; pairs: wilcoxon", "", "C2: the gain is exponential, exp. One more"),
        ("split", "splits", "cannot be read: unknown part"),
        ("metric: nDCG@5; ", "", "metric is missing"),
    ],
)
def test_each_decision_that_differs_is_named(old: str, new: str, told: str) -> None:
    assert old in WANTED
    found = check_options(WANTED.replace(old, new))
    assert not found
    assert told in repr(found)


def test_what_is_no_text_is_told() -> None:
    for answer in (..., None, "split: ...; lists: ...", Options.parse(WANTED)):
        found = check_options(answer)  # type: ignore[arg-type]
        assert not found
        assert "in place of the dots" in repr(found)


def test_no_decision_is_forgotten() -> None:
    """Whatever part of the options is another, the check notices."""
    wanted = Options.parse(WANTED)
    others = Options.parse(
        "data: items>=3; split: leave-out 3; seed: 1; test: observed removed=20%; "
        "lists: TI-AN-AR rel>=3 condensed users=relevant weights=relevant statistic=median "
        "coverage=reduced unscored=random; metric: P@10; gain: err; pairs: sign"
    )
    for name in ("protocol", "metric", "gain", "select", "split", "seed", "test", "pairs"):
        assert getattr(wanted, name) != getattr(others, name)
        changed = replace(wanted, **{name: getattr(others, name)})
        assert not check_options(str(changed)), name
