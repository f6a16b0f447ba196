"""What criteria of chapter 6 compute of the systems: pairs and ranks by two metrics at once.

A difference of two systems by a metric with intervals is resolved by its replicates. Diversity and
coverage have none, since resampling users cannot imitate them; there the folds say what is
resolved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit  # quantiles of Student's t; `scipy.stats` takes long to load

from recbias.claims.evaluation import Scope
from recbias.claims.evidence import NotComputed
from recbias.claims.expressions import Term
from recbias.claims.functions import in_scope, of_orders
from recbias.claims.values import Family
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


def _signs(scope: Scope, term: Term) -> tuple[list[str], FloatArray, IntArray]:
    """Return systems, their values, and the signs of all pairs, of a term."""
    names = scope.systems(term)
    quantities = [scope.evidence.quantity(term, system=name) for name in names]
    if empty := [
        n for n, quantity in zip(names, quantities, strict=True) if np.isnan(quantity.value)
    ]:
        raise NotComputed(f"{term.metric} of {', '.join(empty)}")
    table = scope.evidence.table(term.table, term.edition or "")
    signs = _resolved(table, term.label, scope.evidence.metric(term), names, quantities)
    return names, np.array([quantity.value for quantity in quantities]), signs


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
    found: Results, metrics: Mapping[str, str], *, systems: Sequence[str]
) -> pd.DataFrame:
    """Rank systems by several metrics, the least first."""
    rows = []
    for name, text in metrics.items():
        values = np.array([found[system, "full", text].value for system in systems])
        for system, value in zip(systems, values, strict=True):
            rows.append((name, system, 1 + np.count_nonzero(values < value)))
    return pd.DataFrame(rows, columns=["metric", "system", "rank"])


# -- functions of expressions ------------------------------------------------------------------


@of_orders
@in_scope
def signs_of_pairs(scope: Scope, term: Term) -> Family:
    """Give 1 for each pair of systems of which the first has more, -1 where the second has.

    The interval is from -1 to 1 where the pair is not resolved.
    """
    names, values, resolved = _signs(scope, term)
    first, second = np.triu_indices(len(values), k=1)
    signs = np.sign(values[first] - values[second]).tolist()
    return Family(
        {
            pair: Quantity(sign, None, limits=(float(sure or -1), float(sure or 1)))
            for pair, sign, sure in zip(combinations(names, 2), signs, resolved, strict=True)
        }
    )


@of_orders
@in_scope
def places(scope: Scope, term: Term) -> Family:
    """Count for each system those that have no more, itself included: 1 where it has least."""
    names, values, resolved = _signs(scope, term)
    best, worst = (
        len(names) + 1 - rank for rank in rank_limits(resolved.astype(np.int8), len(names))
    )
    return Family(
        {
            name: Quantity(float((values <= value).sum()), None, limits=(float(low), float(high)))
            for name, value, low, high in zip(names, values, worst, best, strict=True)
        },
        of_systems=True,
    )


@in_scope
def by_folds(scope: Scope, term: Term) -> Quantity:
    """Give a quantity the interval that follows from its folds."""
    evidence, system = scope.evidence, [str(term.system)]
    table, value = evidence.table(term.table, term.edition or ""), evidence.quantity(term).value
    sd, n_folds = _between_folds(table, term.label, evidence.metric(term), system)
    if n_folds < 2:
        raise NotComputed("several folds")
    half = float(stdtrit(n_folds - 1, 0.975) * sd[0] / np.sqrt(n_folds))
    return Quantity(value, None, limits=(value - half, value + half), df=n_folds - 1)
