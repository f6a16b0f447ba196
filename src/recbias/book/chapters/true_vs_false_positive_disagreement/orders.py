"""What criteria of chapter 5 compute of whole line-ups: their orders, lines and effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.quantities import order_tau, order_taus
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity
from recbias.stats.agreement import resolved_signs

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


def _by_term(evidence: Evidence, record: Record) -> list[list[Quantity]]:
    """Read what a record is of, a list over its systems for each term."""
    names = evidence.systems(record)
    return [[evidence.quantity(term, system=name) for name in names] for term in record.of]


def tau_p(evidence: Evidence, record: Record) -> Quantity:
    """Compute the p of the tau between two quantities, and of every tau that their noise allows."""
    tau = order_tau(*_by_term(evidence, record))
    low, high = tau.interval
    n_systems = len(evidence.systems(record))
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    most = max(abs(low), abs(high))
    ends = (kendall_p(most, n_systems), kendall_p(least, n_systems))
    return Quantity(kendall_p(tau.value, n_systems), None, limits=ends)


def tau_difference(evidence: Evidence, record: Record) -> Quantity:
    """Subtract the tau of the last two quantities from that of the first two."""
    first, second, third, fourth = _by_term(evidence, record)
    a, b = order_tau(first, second), order_tau(third, fourth)
    (low, high), (least, most) = a.interval, b.interval
    return Quantity(a.value - b.value, None, limits=(low - most, high - least))


def smallest_tau(evidence: Evidence, record: Record) -> Quantity:
    """Find the smallest tau between two quantities if any two of the systems are left out."""
    x, y = _by_term(evidence, record)
    taus = order_taus(x, y, [*combinations(range(len(x)), len(x) - 2)])
    intervals = [tau.interval for tau in taus]
    limits = (min(low for low, _ in intervals), min(high for _, high in intervals))
    return Quantity(min(tau.value for tau in taus), None, limits=limits)


def off_line(evidence: Evidence, record: Record) -> float:
    """Find how far the sum of two quantities is from 1, or from a third, at the worst system."""
    values = np.array([[quantity.value for quantity in row] for row in _by_term(evidence, record)])
    whole = values[2] if len(values) > 2 else 1.0
    return float(np.abs(values[0] + values[1] - whole).max())


def off_slope(evidence: Evidence, record: Record) -> float:
    """Find by how much the sum of two quantities differs between systems.

    Which a slope of -1 bars.
    """
    values = np.array([[quantity.value for quantity in row] for row in _by_term(evidence, record)])
    return float(np.ptp(values[0] + values[1]))


def explained_by_line(evidence: Evidence, record: Record) -> Quantity:
    """Compute the share of a quantity's variance over systems that a line in another explains."""
    x, y = _by_term(evidence, record)
    value = _squared_correlation(
        *(np.array([[one.value] for one in quantities]) for quantities in (x, y))
    )
    drawn = [_replicates(quantities) for quantities in (x, y)]
    return Quantity(float(value[0]), _squared_correlation(*drawn))


def _squared_correlation(x: FloatArray, y: FloatArray) -> FloatArray:
    """Square the correlation over the first axis; NaN where one of them does not vary."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    spread = (x**2).sum(axis=0) * (y**2).sum(axis=0)
    shared = (x * y).sum(axis=0) ** 2
    return np.divide(shared, spread, out=np.full_like(shared, np.nan), where=spread > 0)


def _replicates(quantities: Sequence[Quantity]) -> FloatArray:
    """Stack the replicates of some quantities."""
    drawn = [quantity.replicates for quantity in quantities]
    if any(replicates is None for replicates in drawn):
        raise NotComputed("replicates")
    return np.array(drawn)


def mean_of_systems(evidence: Evidence, record: Record) -> Quantity:
    """Average over the systems of the first quantity, and over those that further ones name."""
    first, *others = record.of
    quantities = [evidence.quantity(first, system=name) for name in evidence.systems(record)]
    quantities += [evidence.quantity(term) for term in others]
    value = float(np.mean([quantity.value for quantity in quantities]))
    return Quantity(value, _replicates(quantities).mean(axis=0))


def systems_above(evidence: Evidence, record: Record) -> Quantity:
    """Count the systems that have more of a quantity than the one that the second term names."""
    return _beyond(evidence, record, 1)


def systems_below(evidence: Evidence, record: Record) -> Quantity:
    """Count the systems that have less of it; the interval is that of `systems_above`."""
    return _beyond(evidence, record, -1)


def _beyond(evidence: Evidence, record: Record, side: int) -> Quantity:
    first, mark = record.of
    bar = evidence.quantity(mark)
    names = [name for name in evidence.systems(record) if name != mark.system]
    differences = [evidence.quantity(first, system=name) - bar for name in names]
    values = side * np.array([difference.value for difference in differences])
    signs = resolved_signs(values, side * _replicates(differences))
    limits = (float(np.count_nonzero(signs > 0)), float(np.count_nonzero(signs >= 0)))
    return Quantity(float(np.count_nonzero(values > 0)), None, limits=limits)


# -- effects of all pairs --------------------------------------------------------------------------


def effect_ratio(evidence: Evidence, record: Record) -> Quantity:
    """Divide the median effect size over all pairs of systems by that of another quantity."""
    first, second = (_median_effect(evidence, record, term) for term in record.of)
    return first / second


def _median_effect(evidence: Evidence, record: Record, term: Term) -> Quantity:
    names = evidence.systems(record)
    quantities = {name: evidence.quantity(term, system=name) for name in names}
    drawn = dict(zip(names, _replicates(list(quantities.values())), strict=True))
    effects, on_drawn = [], []
    pairs = _pairs(evidence, term, names)
    half_width = (pairs["high"] - pairs["low"]).to_numpy(np.float64) / 2
    n = pairs["n"].to_numpy(np.float64)
    deviations = half_width * np.sqrt(n) / scipy.stats.t.ppf(0.975, n - 1)
    for a, b, deviation in zip(pairs["a"], pairs["b"], deviations, strict=True):
        spread = deviation or 1.0  # without any, differences are 0
        effects.append((quantities[a].value - quantities[b].value) / spread)
        on_drawn.append((drawn[a] - drawn[b]) / spread)
    return Quantity(
        float(np.median(np.abs(effects))), np.median(np.abs(np.array(on_drawn)), axis=0)
    )


def significant_ratio(evidence: Evidence, record: Record) -> float:
    """Divide the number of pairs that differ significantly by that for another quantity."""
    first, second = (_significant_pairs(evidence, record, term) for term in record.of)
    return first / second if second else np.nan


def _significant_pairs(evidence: Evidence, record: Record, term: Term) -> float:
    """Count the pairs of systems that differ at :data:`LEVEL`."""
    pairs = _pairs(evidence, term, evidence.systems(record))
    n_pairs = float((pairs["wilcoxon_p_holm"] < LEVEL).sum())
    evidence.note(term.table, f"pairs that differ in {evidence.metric(term)}", n_pairs)
    return n_pairs


def _pairs(evidence: Evidence, term: Term, names: Sequence[str]) -> pd.DataFrame:
    tests = evidence.table(term.table, term.edition or "").tests
    chosen = (tests["label"] == term.label) & (tests["metric"] == evidence.metric(term))
    rows = tests[chosen & tests["a"].isin(names) & tests["b"].isin(names)]
    if len(rows) != len(names) * (len(names) - 1) // 2:
        raise NotComputed(f"tests of all pairs in {term.metric} under {term.label}")
    return rows


OF_ORDERS: Mapping[str, Function] = {
    "effect_ratio": effect_ratio,
    "explained_by_line": explained_by_line,
    "mean_of_systems": mean_of_systems,
    "off_line": off_line,
    "off_slope": off_slope,
    "significant_ratio": significant_ratio,
    "smallest_tau": smallest_tau,
    "systems_above": systems_above,
    "systems_below": systems_below,
    "tau_difference": tau_difference,
    "tau_p": tau_p,
}
"""By the name that a record gives them."""
