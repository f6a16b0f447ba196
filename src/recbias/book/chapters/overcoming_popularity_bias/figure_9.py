"""What criteria compute over systems by infAP and stratified recall (BCC17 Fig. 9, Sec. 7).

Stratified recall is measured at several gamma. Popularity is *balanced* at one of them if a system
that is not the same for all is above it, so that the metric does not penalise it too little, and
if it is above Random, so that the metric does not penalise it too much.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np

from recbias.claims.combinators import Function, of_orders
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.quantities import extreme, order_tau
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity
from recbias.stats.agreement import resolved_signs

STRATIFIED = "SR"
"""Name of stratified recall in the text of a metric."""


def over_gamma(evidence: Evidence, term: Term) -> dict[float, Term]:
    """Name what was measured at each gamma under a label, by gamma, ascending."""
    grid = evidence.table(term.table, term.edition or "").grid
    terms = {
        float(dict(metric.arguments)["gamma"]): dataclasses.replace(term, metric=str(metric))
        for metric in grid.parsed_metrics.get(term.label, ())
        if metric.name == term.metric == STRATIFIED
    }
    if not terms:
        raise NotComputed(str(term))
    return dict(sorted(terms.items()))


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
def _overtaken(evidence: Evidence, record: Record) -> Quantity:
    """Count the systems that are above the first at some gamma, and below it at a larger one."""
    (term,) = record.of
    courses, names = over_gamma(evidence, term), evidence.systems(record)
    ahead = {
        (name, gamma): evidence.quantity(dataclasses.replace(gamma_term, system=name))
        / evidence.quantity(gamma_term)
        for name in names
        for gamma, gamma_term in courses.items()
    }
    one = Quantity(1.0, np.ones(len(next(iter(ahead.values())).drawn)))
    differences: dict[Hashable, Quantity] = {at: ratio - one for at, ratio in ahead.items()}
    steps = [(name, *pair) for name in names for pair in combinations(courses, 2)]
    differences |= {step: ahead[step[0], step[2]] - ahead[step[0], step[1]] for step in steps}
    signs = _signs(differences)
    surely, possibly = [], []
    for name in names:
        signs_of_system = [
            (signs[name, less], signs[name, more], signs[name, less, more])
            for less, more in combinations(courses, 2)
        ]
        surely.append(any(before > 0 > after for before, after, _ in signs_of_system))
        possibly.append(
            any(before >= 0 >= after and rise <= 0 for before, after, rise in signs_of_system)
        )
    return _count(surely, possibly)


@of_orders
def _balanced(evidence: Evidence, record: Record) -> Quantity:
    """Count the gammas at which the first is balanced between systems and the second (Random)."""
    (by_gamma,) = _balances(evidence, record)
    return _count(*zip(*by_gamma.values(), strict=True))


@of_orders
def _balanced_apart(evidence: Evidence, record: Record) -> Quantity:
    """Count the gammas that balance in one of several results and do not in another."""
    balances = _balances(evidence, record)
    surely, possibly = [], []
    if not any(sure for by_gamma in balances for sure, _ in by_gamma.values()):
        every = set.intersection(*map(set, balances))
        return Quantity(0.0, None, limits=(0.0, float(len(every))))
    for gamma in set.intersection(*map(set, balances)):
        pairs = [(one[gamma], other[gamma]) for one, other in permutations(balances, 2)]
        surely.append(any(one[0] and not other[1] for one, other in pairs))
        possibly.append(any(one[1] and not other[0] for one, other in pairs))
    return _count(surely, possibly)


def _balances(evidence: Evidence, record: Record) -> list[dict[float, tuple[bool, bool]]]:
    """Tell by gamma whether it surely balances, and whether it possibly does."""
    names = evidence.systems(record)
    differences: dict[Hashable, Quantity] = {}
    pairs = list(zip(record.of[::2], record.of[1::2], strict=True))
    for popularity, random in pairs:
        floor = over_gamma(evidence, random)
        for gamma, gamma_term in over_gamma(evidence, popularity).items():
            value = evidence.quantity(gamma_term)
            for name in names:
                other = evidence.quantity(dataclasses.replace(gamma_term, system=name))
                differences[popularity, gamma, name] = other - value
            differences[popularity, gamma, ""] = value - evidence.quantity(floor[gamma])
    signs = _signs(differences)
    return [
        {
            gamma: (
                signs[popularity, gamma, ""] > 0
                and any(signs[popularity, gamma, name] > 0 for name in names),
                signs[popularity, gamma, ""] >= 0
                and any(signs[popularity, gamma, name] >= 0 for name in names),
            )
            for gamma in over_gamma(evidence, popularity)
        }
        for popularity, _ in pairs
    ]


@of_orders
def _steadier(evidence: Evidence, record: Record) -> Quantity:
    """Compare how alike several results order systems.

    By the metric of the first term, by others.
    """
    names = evidence.systems(record)
    orders: tuple[list[list[Quantity]], list[list[Quantity]]] = ([], [])
    for term in record.of:
        is_other = term.metric != record.of[0].metric
        orders[is_other].append([evidence.quantity(term, system=name) for name in names])
    one, other = map(_least_tau, orders)
    (low, high), (other_low, other_high) = one.interval, other.interval
    return Quantity(one.value - other.value, None, limits=(low - other_high, high - other_low))


def _least_tau(orders: Sequence[Sequence[Quantity]]) -> Quantity:
    """Find the smallest tau between two of several orders."""
    pairs = enumerate(combinations(orders, 2))
    taus = {f"{number}": order_tau(*pair) for number, pair in pairs}
    return extreme(taus, largest=False)[1]


OF_FIGURE_9: Mapping[str, Function] = {
    "overtaken": _overtaken,
    "balanced": _balanced,
    "balanced_apart": _balanced_apart,
    "steadier": _steadier,
}
"""What criteria compute, by the name that a record gives it."""
