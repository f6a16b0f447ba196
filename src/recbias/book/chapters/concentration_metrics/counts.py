"""Counts on which the identities of chapter 6 are tried, and plain forms of what is measured.

The plain forms are loops over items, written from the poster; they share no code with the metrics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

HEAD = 0.2
"""Share of the items that are the head."""

FloatArray = npt.NDArray[np.float64]


class Counts(NamedTuple):
    """Prior popularity and recommendations of each item, and how many places the lists have."""

    prior: FloatArray
    shown: FloatArray
    places: int

    @property
    def full(self) -> bool:
        """Whether no list ends early."""
        return bool(self.shown.sum() == self.places)


N_WEIGHED = 200
"""Of how many items weights are found one by one, each from a sum over all of them."""


def some_items(counts: Counts) -> Counts:
    """Keep at most :data:`N_WEIGHED` items, from the most popular down in equal steps."""
    order = np.argsort(-counts.prior, kind="stable")
    chosen = order[:: max(1, -(-len(order) // N_WEIGHED))]
    return Counts(counts.prior[chosen], counts.shown[chosen], counts.places)


def random_counts(n: int, rng: np.random.Generator) -> Iterator[Counts]:
    """Draw counts of 2 to 40 items, skewed, many of them 0; every list is full."""
    for _ in range(n):
        n_items = int(rng.integers(2, 41))
        prior = np.floor(rng.pareto(1.2, n_items) * 3)
        shown = np.floor(rng.pareto(1.2, n_items) * 3)
        prior[rng.integers(n_items)] += 1
        shown[rng.integers(n_items)] += 1
        yield Counts(prior, shown, int(shown.sum()))


def plain_ci(counts: Counts, *, places: float | None = None) -> float:
    """Compute CI as the poster prints it; places stand for N|U|, at first all recommendations."""
    prior, shown = counts.prior.tolist(), counts.shown.tolist()
    total, recommended, n = sum(prior), places or sum(shown), len(prior)
    value = 0.0
    for s, r in zip(prior, shown, strict=True):
        before, after = (s + 1) / (total + n), (r + 1) / (recommended + n)
        value += 0.5 * s / total * math.log(before / after)
        value += 0.5 * r / recommended * math.log(after / before)
    return value


def plain_divergence(counts: Counts) -> float:
    """Compute the Jensen-Shannon divergence of the footnote."""
    total, recommended = counts.prior.sum(), counts.shown.sum()
    value = 0.0
    for s, r in zip(counts.prior.tolist(), counts.shown.tolist(), strict=True):
        p, q = s / total, r / recommended
        value += 0.5 * p * math.log(p / (p / 2 + q / 2)) if p else 0.0
        value += 0.5 * q * math.log(q / (q / 2 + p / 2)) if q else 0.0
    return value


def plain_lti(counts: Counts, lam: float, *, places: float | None = None) -> float:
    """Compute LTI as the poster prints it, tail and popular items apart."""
    prior, shown = counts.prior.tolist(), counts.shown.tolist()
    total, recommended, n = sum(prior), places or sum(shown), len(prior)
    value = 0.0
    for s, r in zip(prior, shown, strict=True):
        before, after = (s + 1) / (total + n), (r + 1) / (recommended + n)
        value += lam * (1 - s / total) * math.log(after / before)
        value += (1 - lam) * (s / total) * math.log(before / after)
    return value / n


def plain_gini(shown: FloatArray) -> float:
    """Compute Gini as the mean distance of all pairs of items over twice their mean."""
    distances = np.abs(shown[:, None] - shown[None, :]).sum()
    return float(distances / (2 * len(shown) * shown.sum()))


def classes_by(values: FloatArray, prior: FloatArray, cuts: Sequence[float]) -> list[int]:
    """Sort items into classes from the head on; ties by prior popularity, then by number."""
    n = len(values)
    order = sorted(range(n), key=lambda item: (-values[item], -prior[item], item))
    borders = [math.ceil(round(cut * n, 9)) for cut in cuts]
    classes = [0] * n
    for place, item in enumerate(order):
        classes[item] = sum(1 for border in borders if place >= border)
    return classes


def plain_reinforcement(counts: Counts, cuts: Sequence[float] = (HEAD,)) -> float:
    """Compute M class by class: its share of the items, and what part of it stays."""
    before = classes_by(counts.prior, counts.prior, cuts)
    after = classes_by(counts.shown, counts.prior, cuts)
    n, value = len(before), 1.0
    for one in set(before):
        members = [item for item in range(n) if before[item] == one]
        stay = sum(1 for item in members if after[item] == one) / len(members)
        value -= len(members) / n * stay
    return value


def exchange_ends(counts: Counts) -> Counts:
    """Give each item the recommendations of the item at the other end of popularity."""
    order = np.argsort(counts.prior, kind="stable")
    shown = counts.shown.copy()
    shown[order] = counts.shown[order[::-1]]
    return counts._replace(shown=shown)


def shares(values: FloatArray) -> FloatArray:
    """Divide by the sum."""
    return values / values.sum()


def tilted(prior: FloatArray, power: float) -> FloatArray:
    """Tilt popularity towards the head (power above 1) or the tail (below), the same sum of all."""
    return shares((prior + 1) ** power) * prior.sum()
