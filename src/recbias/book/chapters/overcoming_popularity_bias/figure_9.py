"""What criteria compute over systems by stratified recall (BCC17 Fig. 9, Sec. 7).

Stratified recall is measured at several gamma. Popularity is *balanced* at one of them if a system
that is not the same for all is above it, so that the metric does not penalise it too little, and
if it is above Random, so that the metric does not penalise it too much.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np

from recbias.claims.functions import of_orders
from recbias.claims.values import Course, Family
from recbias.experiment.results import Quantity
from recbias.stats.agreement import resolved_signs

STRATIFIED = "SR"
"""Name of stratified recall in the text of a metric."""


def _signs(differences: Mapping[Hashable, Quantity]) -> dict[Hashable, int]:
    """Resolve which differences are above or below 0, all together as one family."""
    signs = resolved_signs(
        np.array([quantity.value for quantity in differences.values()]),
        np.array([quantity.drawn for quantity in differences.values()]),
    )
    return dict(zip(differences, map(int, signs), strict=True))


def _count(surely: Sequence[bool], possibly: Sequence[bool]) -> Quantity:
    number = float(sum(surely))
    return Quantity(number, None, limits=(number, float(sum(possibly))))


@of_orders
def overtaken(ratios: Family) -> Quantity:
    """Count the systems whose ratio to another falls from above 1 at a gamma to below 1."""
    differences: dict[Hashable, Quantity] = {}
    for name, course in ratios.members.items():
        for gamma, ratio in course.items():
            differences[name, gamma] = ratio - Quantity(1.0, np.ones(len(ratio.drawn)))
        for less, more in combinations(course, 2):
            differences[name, less, more] = course[more] - course[less]
    signs = _signs(differences)
    surely, possibly = [], []
    for name, course in ratios.members.items():
        signs_of_system = [
            (signs[name, less], signs[name, more], signs[name, less, more])
            for less, more in combinations(course, 2)
        ]
        surely.append(any(before > 0 > after for before, after, _ in signs_of_system))
        possibly.append(
            any(before >= 0 >= after and rise <= 0 for before, after, rise in signs_of_system)
        )
    return _count(surely, possibly)


@of_orders
def balanced(ahead: Family, above: Course) -> Quantity:
    """Count the gammas that balance Popularity.

    Parameters
    ----------
    ahead
        What systems have over Popularity, by gamma.
    above
        What Popularity has over Random.
    """
    (by_gamma,) = _balances(ahead, above)
    return _count(*zip(*by_gamma.values(), strict=True))


@of_orders
def balanced_apart(*differences: Family | Course) -> Quantity:
    """Count the gammas that balance in one of several results, by two courses each, not in all."""
    balances = _balances(*differences)
    shared = set.intersection(*map(set, balances))
    surely, possibly = [], []
    if not any(sure for by_gamma in balances for sure, _ in by_gamma.values()):
        return Quantity(0.0, None, limits=(0.0, float(len(shared))))
    for gamma in shared:
        pairs = [(one[gamma], other[gamma]) for one, other in permutations(balances, 2)]
        surely.append(any(one[0] and not other[1] for one, other in pairs))
        possibly.append(any(one[1] and not other[0] for one, other in pairs))
    return _count(surely, possibly)


def _balances(*differences: Family | Course) -> list[dict[float, tuple[bool, bool]]]:
    """Tell by gamma whether it surely balances, and whether it possibly does."""
    results = [
        [*ahead.members.values(), above]  # type: ignore[union-attr]
        for ahead, above in zip(differences[::2], differences[1::2], strict=True)
    ]
    signs = _signs({
        (place, number, gamma): quantity
        for place, courses in enumerate(results)
        for number, course in enumerate(courses)
        for gamma, quantity in course.items()
    })  # fmt: skip
    balances = []
    for place, courses in enumerate(results):
        by_gamma = {}
        for gamma in courses[-1]:
            *ahead, above = (signs[place, number, gamma] for number in range(len(courses)))
            by_gamma[gamma] = (above > 0 and max(ahead) > 0, above >= 0 and max(ahead) >= 0)
        balances.append(by_gamma)
    return balances
