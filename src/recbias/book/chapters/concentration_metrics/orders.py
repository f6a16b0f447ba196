"""What criteria of chapter 6 compute of the systems: pairs and ranks by two metrics at once.

A difference of two systems by a metric with intervals is resolved by its replicates. Diversity and
coverage have none, since resampling users cannot imitate them; there the folds say what is
resolved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit  # quantiles of Student's t; `scipy.stats` takes long to load

from recbias.claims.combinators import Function, of_orders
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.protocol.splits import SplitRule
from recbias.stats.agreement import resolved_signs

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


SHOWN_LESS: tuple[str, ...] = ("Gini", "Hoover", "ARP", "PL")
"""Metrics of which the least is the green end of the poster's figure, as it says of Gini: more of
them is more uneven, or more popular. Of all others the most is."""


def pair_signs(
    quantities: Sequence[Quantity], fold_sd: npt.ArrayLike, n_folds: int
) -> npt.NDArray[np.int8]:
    """Tell which of all pairs of systems a metric resolves, all together at 95 %.

    Examples
    --------
    >>> pair_signs([Quantity(3.0, None), Quantity(1.0, None)], [0.1, 0.1], 5)
    array([1], dtype=int8)
    """
    values = np.array([quantity.value for quantity in quantities])
    first, second = np.triu_indices(len(values), k=1)
    differences = values[first] - values[second]
    drawn = [quantity.replicates for quantity in quantities]
    if all(
        quantity.method != "none" and d is not None
        for quantity, d in zip(quantities, drawn, strict=True)
    ):
        stacked = np.array(drawn)
        return resolved_signs(differences, stacked[first] - stacked[second])
    sd = np.asarray(fold_sd, dtype=np.float64)
    if n_folds < 2 or not np.isfinite(sd).all():
        raise NotComputed("several folds")
    # Bonferroni over all pairs: folds are few, so that Student's t is needed.
    bound = stdtrit(n_folds - 1, 1 - 0.025 / max(1, len(first)))
    errors = np.sqrt((sd[first] ** 2 + sd[second] ** 2) / n_folds)
    resolved = np.abs(differences) > bound * errors
    return np.where(resolved, np.sign(differences), 0).astype(np.int8)


def rank_limits(signs: npt.NDArray[np.int8], n_systems: int) -> tuple[IntArray, IntArray]:
    """Give the best and the worst rank, from 1, that each system may have; the most is rank 1.

    Examples
    --------
    >>> rank_limits(np.array([1, 0, 0], np.int8), 3)
    (array([1, 2, 1]), array([2, 3, 3]))
    """
    above = np.zeros((n_systems, n_systems), dtype=np.int8)
    above[np.triu_indices(n_systems, k=1)] = signs
    above -= above.T
    ahead, behind = (above < 0).sum(axis=1), (above > 0).sum(axis=1)
    return 1 + ahead, n_systems - behind


def listing(found: Results, systems: Sequence[str]) -> list[str]:
    """Keep the systems that list anything: of others no metric of the lists has a value."""
    values = found.values
    empty = set(values.loc[(values["label"] == "full") & values["value"].isna(), "system"])
    return [name for name in found.among(systems) if name not in empty]


def systems_signs(
    table: Results, label: str, metric: str, names: Sequence[str]
) -> tuple[FloatArray, IntArray]:
    """Return the values of systems by a metric, and the signs of all pairs as `pair_signs` does."""
    quantities = [table[name, label, metric] for name in names]
    return np.array([quantity.value for quantity in quantities]), _resolved(
        table, label, metric, names, quantities
    )


def _resolved(
    table: Results, label: str, metric: str, names: Sequence[str], quantities: Sequence[Quantity]
) -> IntArray:
    return pair_signs(quantities, *_between_folds(table, label, metric, names)).astype(np.int64)


def _between_folds(
    table: Results, label: str, metric: str, names: Sequence[str]
) -> tuple[FloatArray, int]:
    """Give the standard deviation of a metric between folds, of some systems, and their number."""
    rows = (table.values["label"] == label) & (table.values["metric"] == metric)
    sd = table.values[rows].set_index("system")["fold_sd"].loc[list(names)]
    rule = SplitRule.parse(table.grid.split)
    return sd.to_numpy(float), int(rule.size or 1) if rule.kind == "k-fold" else 1


def _signs(evidence: Evidence, record: Record, term: Term) -> tuple[FloatArray, IntArray]:
    """Return values, and the signs of all pairs, of a term over the systems of a record."""
    names = evidence.systems(record)
    quantities = [evidence.quantity(term, system=name) for name in names]
    if empty := [
        n for n, quantity in zip(names, quantities, strict=True) if np.isnan(quantity.value)
    ]:
        raise NotComputed(f"{term.metric} of {', '.join(empty)}")
    table = evidence.table(term.table, term.edition or "")
    signs = _resolved(table, term.label, evidence.metric(term), names, quantities)
    return np.array([quantity.value for quantity in quantities]), signs


def tau_of_signs(
    a: IntArray, resolved_a: IntArray, b: IntArray, resolved_b: IntArray
) -> tuple[float, tuple[float, float]]:
    """Compute Kendall's tau of two orders, and what it may be where pairs are not resolved.

    Examples
    --------
    >>> one, other = np.array([1, 1, 1]), np.array([1, 1, -1])
    >>> tau_of_signs(one, one, other, np.array([1, 0, -1]))
    (0.3333333333333333, (-0.33333333333333337, 0.33333333333333337))
    """
    signs, n = resolved_a * resolved_b, len(a)
    same, other = np.count_nonzero(signs > 0), np.count_nonzero(signs < 0)
    return float((a * b).mean()), (2 * int(same) / n - 1, 1 - 2 * int(other) / n)


def rank_rows(
    found: Results, metrics: Mapping[str, str], *, panel: str, systems: Sequence[str]
) -> pd.DataFrame:
    """Rank systems by several metrics, as the poster's figure does."""
    rows = []
    for name, text in metrics.items():
        try:
            values, signs = systems_signs(found, "full", text, systems)
            best, worst = rank_limits(signs.astype(np.int8), len(systems))
        except NotComputed:
            values = np.array([found[system, "full", text].value for system in systems])
            best = worst = np.full(len(systems), np.nan)
        turned = text.partition("@")[0].partition("(")[0] in SHOWN_LESS
        if turned:
            values = -values
            best, worst = len(systems) + 1 - worst, len(systems) + 1 - best
        for place, system in enumerate(systems):
            rank = 1 + np.count_nonzero(values > values[place])
            rows.append((panel, name, system, rank, float(best[place]), float(worst[place])))
    return pd.DataFrame(rows, columns=["panel", "metric", "system", "rank", "low", "high"])


def _pairs(evidence: Evidence, record: Record, wanted: int) -> Quantity:
    (x, by_x), (y, by_y) = (_signs(evidence, record, term) for term in record.of)
    first, second = np.triu_indices(len(x), k=1)
    values = np.sign(x[first] - x[second]) * np.sign(y[first] - y[second])
    signs = by_x * by_y * wanted
    limits = (float(np.count_nonzero(signs > 0)), float(np.count_nonzero(signs >= 0)))
    return Quantity(float(np.count_nonzero(values * wanted > 0)), None, limits=limits)


@of_orders
def opposed_in_both(evidence: Evidence, record: Record) -> Quantity:
    """Count the pairs of systems of which one has more by one metric, the other by another."""
    return _pairs(evidence, record, -1)


@of_orders
def alike_in_both(evidence: Evidence, record: Record) -> Quantity:
    """Count the pairs of which one system has more by both metrics; interval as of the opposed."""
    return _pairs(evidence, record, 1)


@of_orders
def least_by_both(evidence: Evidence, record: Record) -> Quantity:
    """Count the systems that are among the two that have least by either of two metrics."""
    parts = []
    for term in record.of:
        values, signs = _signs(evidence, record, term)
        best, worst = rank_limits(signs.astype(np.int8), len(values))
        last = len(values) - 1
        rank = np.array([1 + np.count_nonzero(values > one) for one in values])
        parts.append((best >= last, worst >= last, rank >= last))
    surely, possibly, seen = (
        float(np.logical_and.reduce(masks).sum()) for masks in zip(*parts, strict=True)
    )
    return Quantity(seen, None, limits=(surely, possibly))


@of_orders
def tau_of_orders(evidence: Evidence, record: Record) -> Quantity:
    """Compute Kendall's tau of two metrics; its interval holds what is not resolved."""
    (x, by_x), (y, by_y) = (_signs(evidence, record, term) for term in record.of)
    first, second = np.triu_indices(len(x), k=1)
    orders = [np.sign(values[first] - values[second]).astype(np.int64) for values in (x, y)]
    tau, limits = tau_of_signs(orders[0], by_x, orders[1], by_y)
    return Quantity(tau, None, limits=limits)


def over_proportional(evidence: Evidence, record: Record) -> Quantity:
    """Divide a CI by that of as many places drawn in proportion to the prior."""
    (term,) = record.of
    quantity, divisor = evidence.quantity(term), evidence.statistic("proportional CI")
    table, metric = evidence.table(term.table, term.edition or ""), evidence.metric(term)
    if not divisor > 0:
        raise NotComputed("a CI of proportional lists above 0")
    sd, n_folds = _between_folds(table, term.label, metric, [str(term.system)])
    if n_folds < 2:
        raise NotComputed("several folds")
    half = float(stdtrit(n_folds - 1, 0.975) * sd[0] / np.sqrt(n_folds))
    limits = ((quantity.value - half) / divisor, (quantity.value + half) / divisor)
    return Quantity(quantity.value / divisor, None, limits=limits, df=n_folds - 1)


OF_ORDERS: Mapping[str, Function] = {
    "alike_in_both": alike_in_both,
    "least_by_both": least_by_both,
    "opposed_in_both": opposed_in_both,
    "over_proportional": over_proportional,
    "tau_of_orders": tau_of_orders,
}
"""By the name that a record gives them."""
