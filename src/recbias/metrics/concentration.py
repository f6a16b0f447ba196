"""How recommendations spread over the catalogue: of the lists of all users together.

None of these is a mean over users. Counting how many lists hold each item is linear in the users,
so that a weight for each user gives the counts of a resampling; what is made of the counts is not
linear, and the values of resamplings are shifted: a sample that repeats users shows fewer distinct
items, and counts that differ more. In sparse lists even their spread is too small. Intervals
therefore stand on what each user changes, :func:`recbias.metrics.influence`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import ListView, item_counts

__all__ = [
    "coverage_without_each",
    "gini",
    "gini_without_each",
    "measure_coverage",
    "measure_gini",
]

FloatArray = npt.NDArray[np.float64]


def gini(counts: FloatArray) -> FloatArray:
    r"""Gini coefficient of each row of counts.

    :math:`\sum_k (2k - n - 1) x_k / (n \sum_k x_k)`, the n counts of a row in ascending order.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_rows, n_items)
        Not negative. Items that nobody is recommended belong to it.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        From 0, all equal, to 1 - 1/n, all on one item; NaN where all counts are 0.

    References
    ----------
    C. Gini, "Variabilità e mutabilità" (1912); for recommendations ATM15.

    Examples
    --------
    >>> print(gini(np.array([[4.0, 3, 2, 1, 0], [1, 1, 1, 1, 1]])))
    [0.4 0. ]
    """
    n_items = counts.shape[1]
    ascending = np.sort(counts, axis=1)
    # Differences of whole numbers, exact below 2**53: the order of additions moves no bit.
    spread = (ascending * (2.0 * np.arange(1, n_items + 1) - n_items - 1)).sum(axis=1)
    total = ascending.sum(axis=1)
    return np.divide(spread, n_items * total, out=np.full(len(counts), np.nan), where=total > 0)


def measure_gini(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure Gini of each row of counts by :func:`gini`, over the whole catalogue."""
    return np.tile(gini(counts), (len(metrics), 1))


def measure_coverage(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure the share of the catalogue that at least one list holds, for each row of counts."""
    return np.tile((counts > 0).sum(axis=1) / counts.shape[1], (len(metrics), 1))


def gini_without_each(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure Gini of the lists of all users but one, for each of them.

    Without a list, the counts of its items fall by one: their distance grows by one to every item
    counted as often or more, and shrinks by one to every other; among themselves it stays.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        To the bit what :func:`gini` gives.
    """
    values = np.empty((len(metrics), len(view.items)))
    n_items = view.n_items
    for row, metric in enumerate(metrics):
        counts = item_counts(view, metric.cutoff)[0]
        ascending = np.sort(counts)
        spread = (ascending * (2.0 * np.arange(1, n_items + 1) - n_items - 1)).sum()
        below = np.searchsorted(ascending, np.arange(ascending.max(initial=0) + 1))
        top = np.ascontiguousarray(view.top(metric.cutoff))
        _without_each(top, counts.astype(np.int64), below, spread, counts.sum(), values[row])
    return values


@nb.njit(cache=True, nogil=True)
def _without_each(
    items: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int64],
    below: npt.NDArray[np.int64],
    spread: float,
    total: float,
    values: FloatArray,
) -> None:
    """Fill `values`; `below` says how many items have a smaller count than its index."""
    n_items = len(counts)
    for user in range(items.shape[0]):
        change, length = 0, 0
        for place in range(items.shape[1]):
            if items[user, place] < 0:
                break
            count = counts[items[user, place]]
            change += n_items - 1 - 2 * below[count]
            for earlier in range(place):
                if counts[items[user, earlier]] == count:
                    change -= 2
            length += 1
        rest = n_items * (total - length)
        values[user] = (spread + change) / rest if rest > 0 else np.nan


def coverage_without_each(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure coverage by the lists of all users but one, for each of them.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        To the bit what :func:`measure_coverage` gives.
    """
    values = np.empty((len(metrics), len(view.items)))
    for row, metric in enumerate(metrics):
        counts, top = item_counts(view, metric.cutoff)[0], view.top(metric.cutoff)
        alone = ((top >= 0) & (counts[top] == 1)).sum(axis=1)
        values[row] = ((counts > 0).sum() - alone) / view.n_items
    return values


register(
    Declaration(
        "Gini",
        "system",
        "inequality of the number of lists that hold each item of the catalogue among the first n",
        r"\sum_k(2k-|\mathcal I|-1)x_k\,/\,(|\mathcal I|\sum_k x_k)",
        "Gini 1912; ATM15",
        "undefined if all lists are empty; items in no list count as 0",
        measure_gini,
        better=None,
        interval="normal",
        without_each=gini_without_each,
    )
)
register(
    Declaration(
        "Coverage",
        "system",
        "share of the catalogue that is among the first n of at least one list",
        r"|\bigcup_u L_u|/|\mathcal I|",
        "Adomavicius & Kwon 2012 (aggregate diversity); ATM15",
        "0 if all lists are empty",
        measure_coverage,
        better=None,
        interval="none",
        without_each=coverage_without_each,
    )
)
