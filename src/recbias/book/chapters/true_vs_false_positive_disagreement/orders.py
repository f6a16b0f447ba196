"""What criteria of chapter 5 compute of whole line-ups: their orders, lines and effects."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.claims.evaluation import Scope
from recbias.claims.evidence import NotComputed
from recbias.claims.expressions import Term
from recbias.claims.functions import in_scope, orders_of
from recbias.claims.quantities import folded, order_tau, order_taus
from recbias.claims.values import Family
from recbias.experiment.results import Quantity

FloatArray = npt.NDArray[np.float64]

LEVEL = 0.05
"""The level of significance that MCCRS20 states in its second footnote."""


def kendall_p(tau: float, n: int) -> float:
    """Give the two-sided p of Kendall's tau between two orders of `n` systems.

    References
    ----------
    M. G. Kendall, "A new measure of rank correlation", Biometrika 30 (1938).

    Examples
    --------
    Of the 24 orders of four systems, two are as far from balance as the same order is.

    >>> kendall_p(1.0, 4) == 2 / 24
    True
    >>> print(round(kendall_p(0.617, 16), 5))
    0.00051
    """
    if np.isnan(tau):
        return np.nan
    pairs = n * (n - 1) // 2
    orders = np.ones(1)  # by their number of inversions, as shares: Mahonian numbers over n!
    for place in range(2, n + 1):
        orders = np.convolve(orders, np.full(place, 1 / place))
    inversions = min(round((1 - abs(tau)) * pairs / 2 + 0.499), pairs // 2)
    return float(min(1.0, 2 * orders[: inversions + 1].sum()))


def tau_p(one: Family, other: Family) -> Quantity:
    """Compute the p of the tau between two orders, and of every tau that their noise allows."""
    orders = orders_of([one, other])
    tau, n_systems = order_tau(*orders), len(orders[0])
    least, most = folded(tau).interval
    ends = (kendall_p(most, n_systems), kendall_p(least, n_systems))
    return Quantity(kendall_p(tau.value, n_systems), None, limits=ends)


def smallest_tau(one: Family, other: Family) -> Quantity:
    """Find the smallest tau between two orders if any two of the systems are left out."""
    x, y = orders_of([one, other])
    taus = order_taus(x, y, [*combinations(range(len(x)), len(x) - 2)])
    intervals = [tau.interval for tau in taus]
    limits = (min(low for low, _ in intervals), min(high for _, high in intervals))
    return Quantity(min(tau.value for tau in taus), None, limits=limits)


def explained_by_line(one: Family, other: Family) -> Quantity:
    """Compute the share of a quantity's variance over systems that a line in another explains."""
    x, y = orders_of([one, other])
    value = _squared_correlation(*(np.array([[each.value] for each in side]) for side in (x, y)))
    drawn = [np.array([each.drawn for each in side]) for side in (x, y)]
    return Quantity(float(value[0]), _squared_correlation(*drawn))


def _squared_correlation(x: FloatArray, y: FloatArray) -> FloatArray:
    """Square the correlation over the first axis; NaN where one of them does not vary."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    spread = (x**2).sum(axis=0) * (y**2).sum(axis=0)
    shared = (x * y).sum(axis=0) ** 2
    return np.divide(shared, spread, out=np.full_like(shared, np.nan), where=spread > 0)


# -- effects of all pairs --------------------------------------------------------------------------


@in_scope
def median_effect(scope: Scope, term: Term) -> Quantity:
    """Take the median effect size over all pairs of systems."""
    names = scope.systems(term)
    quantities = {name: scope.evidence.quantity(term, system=name) for name in names}
    effects, on_drawn = [], []
    pairs = _pairs(scope, term)
    half_width = (pairs["high"] - pairs["low"]).to_numpy(np.float64) / 2
    n = pairs["n"].to_numpy(np.float64)
    deviations = half_width * np.sqrt(n) / scipy.stats.t.ppf(0.975, n - 1)
    for a, b, deviation in zip(pairs["a"], pairs["b"], deviations, strict=True):
        difference = quantities[a] - quantities[b]
        spread = deviation or 1.0  # without any, differences are 0
        effects.append(difference.value / spread)
        on_drawn.append(difference.drawn / spread)
    return Quantity(
        float(np.median(np.abs(effects))), np.median(np.abs(np.array(on_drawn)), axis=0)
    )


@in_scope
def significant_pairs(scope: Scope, term: Term) -> float:
    """Count the pairs of systems that differ at :data:`LEVEL`."""
    n_pairs = float((_pairs(scope, term)["wilcoxon_p_holm"] < LEVEL).sum())
    scope.evidence.note(term.table, f"pairs that differ in {scope.evidence.metric(term)}", n_pairs)
    return n_pairs


def _pairs(scope: Scope, term: Term) -> pd.DataFrame:
    names = scope.systems(term)
    tests = scope.evidence.table(term.table, term.edition or "").tests
    chosen = (tests["label"] == term.label) & (tests["metric"] == scope.evidence.metric(term))
    rows = tests[chosen & tests["a"].isin(names) & tests["b"].isin(names)]
    if len(rows) != len(names) * (len(names) - 1) // 2:
        raise NotComputed(f"tests of all pairs in {term.metric} under {term.label}")
    return rows
