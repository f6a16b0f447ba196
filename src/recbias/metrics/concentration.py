"""How recommendations spread over the catalogue: of the lists of all users together.

None of these is a mean over users. Counting how many lists hold each item is linear in the users,
so that a weight for each user gives the counts of a resampling; what is made of the counts is not
linear, and the values of resamplings are shifted: a sample that repeats users shows fewer distinct
items, and counts that differ more. In sparse lists even their spread is too small. Intervals
therefore stand on what each user changes, :func:`recbias.metrics.influence`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numba as nb
import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import ListView, item_counts

__all__ = [
    "Terms",
    "coverage_without_each",
    "dispersion_terms",
    "entropy",
    "gini",
    "gini_without_each",
    "hoover",
    "lorenz",
    "measure_coverage",
    "measure_diversity",
    "measure_entropy",
    "measure_gini",
    "measure_hoover",
    "sum_terms",
    "terms_without_each",
]

FloatArray = npt.NDArray[np.float64]

Terms = Callable[[FloatArray, FloatArray], FloatArray]
"""What each item adds to a metric: from counts, shape (n_rows, n_items), and the number of all
recommendations, shape (n_rows, 1), which is not always the sum of the counts; of the counts' shape.
"""


def sum_terms(terms: Terms, counts: FloatArray) -> FloatArray:
    """Add up what the items of each row add to a metric.

    Parameters
    ----------
    terms
        What each item adds.
    counts : ndarray of float64, shape (n_rows, n_items)
        Not negative.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        NaN where all counts are 0.

    Examples
    --------
    The sum of squared shares:

    >>> sum_terms(lambda counts, total: (counts / total) ** 2, np.array([[3.0, 1], [0, 0]]))
    array([0.625,   nan])
    """
    total = counts.sum(axis=1, keepdims=True)
    nonempty = total[:, 0] > 0
    values = np.full(len(counts), np.nan)
    if nonempty.any():
        values[nonempty] = terms(counts[nonempty], total[nonempty]).sum(axis=1)
    return values


def terms_without_each(
    view: ListView, metrics: Sequence[Metric], terms_of: Callable[[Metric], Terms]
) -> FloatArray:
    """Measure a sum over items by the lists of all users but one, for each of them.

    Without a list the counts of its items fall by one, and the number of all recommendations by its
    length, which lists of one length share.

    Parameters
    ----------
    view : ListView
    metrics : sequence of Metric
    terms_of
        Gives what each item adds to a metric.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        What :func:`sum_terms` gives, but for the order of additions.

    Examples
    --------
    Distinct items in two lists; each list holds one alone.

    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[2, 0], [2, 1]], np.int32), 4, np.array([5, 1, 10, 0]))
    >>> metrics = [parse_metric("Diversity@2")]
    >>> terms_without_each(view, metrics, lambda _: lambda counts, total: 1.0 * (counts > 0))
    array([[2., 2.]])
    """
    values = np.full((len(metrics), len(view.items)), np.nan)
    for row, metric in enumerate(metrics):
        counts, top, terms = (
            item_counts(view, metric.cutoff),
            view.top(metric.cutoff),
            terms_of(metric),
        )
        lengths = (top >= 0).sum(axis=1)
        for length in np.unique(lengths):
            rest = counts.sum(keepdims=True) - length
            if rest[0, 0] == 0:
                continue
            users = lengths == length
            with_all = terms(counts, rest)[0]
            fewer = terms(np.maximum(counts - 1, 0), rest)[0]
            change = fewer - with_all
            values[row, users] = with_all.sum() + change[top[users, :length]].sum(axis=1)
    return values


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


def _hoover_terms(counts: FloatArray, total: FloatArray) -> FloatArray:
    return np.abs(counts / total - 1 / counts.shape[1]) / 2


def hoover(counts: FloatArray) -> FloatArray:
    r"""Hoover index of each row of counts: the share that would have to move to make all equal.

    :math:`\frac12\sum_k |x_k/\sum x - 1/n|`: how far the Lorenz curve is from equality at most.

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
    E. M. Hoover, "The measurement of industrial localization", Rev. Econ. Stat. 18 (1936); named
    in ATM15 Sec. 2.

    Examples
    --------
    >>> print(hoover(np.array([[4.0, 3, 2, 1, 0], [1, 1, 1, 1, 1]])).round(12))
    [0.3 0. ]
    """
    return sum_terms(_hoover_terms, counts)


def _entropy_terms(counts: FloatArray, total: FloatArray) -> FloatArray:
    return np.asarray(-xlogy(counts / total, counts / total), dtype=np.float64)


def entropy(counts: FloatArray) -> FloatArray:
    r"""Shannon entropy of each row of counts, in nats.

    :math:`-\sum_k q_k \ln q_k` with :math:`q_k = x_k/\sum x`. Items with count 0 add nothing.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_rows, n_items)
        Not negative.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        From 0, all on one item, to ln n, all equal; NaN where all counts are 0.

    References
    ----------
    C. E. Shannon, "A mathematical theory of communication", Bell Syst. Tech. J. 27 (1948).

    Examples
    --------
    >>> print(entropy(np.array([[4.0, 3, 2, 1, 0], [1, 1, 1, 1, 1]])).round(6))
    [1.279854 1.609438]
    """
    return sum_terms(_entropy_terms, counts)


def lorenz(counts: FloatArray) -> FloatArray:
    """Lorenz curve of each row of counts: what share of all the items with fewest have together.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_rows, n_items)
        Not negative. Items that nobody is recommended belong to it.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_items + 1)
        Place k holds the share of the k items with the smallest counts, from 0 to 1; NaN where all
        counts are 0.

    References
    ----------
    M. O. Lorenz, "Methods of measuring the concentration of wealth", Publ. Am. Stat. Assoc. 9
    (1905); named in ATM15 Sec. 2.

    Examples
    --------
    >>> print(lorenz(np.array([[4.0, 3, 2, 1, 0]])))
    [[0.  0.  0.1 0.3 0.6 1. ]]
    """
    reached = np.zeros((len(counts), counts.shape[1] + 1))
    np.cumsum(np.sort(counts, axis=1), axis=1, out=reached[:, 1:])
    total = reached[:, -1:]
    return np.divide(reached, total, out=np.full(reached.shape, np.nan), where=total > 0)


def _shown_terms(counts: FloatArray, total: FloatArray) -> FloatArray:
    return (counts > 0).astype(np.float64)


def dispersion_terms(metric: Metric) -> Terms | None:
    """Give what each item adds to a metric that looks at counts alone; None if it is no such sum.

    Examples
    --------
    >>> from recbias.metrics import parse_metric
    >>> dispersion_terms(parse_metric("Gini@10")) is None
    True
    """
    return {
        "Hoover": _hoover_terms,
        "Entropy": _entropy_terms,
        "Diversity": _shown_terms,
        "Coverage": lambda counts, total: _shown_terms(counts, total) / counts.shape[1],
    }.get(metric.name)


def measure_gini(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure Gini of each row of counts by :func:`gini`, over the whole catalogue."""
    return np.tile(gini(counts), (len(metrics), 1))


def measure_coverage(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure the share of the catalogue that at least one list holds, for each row of counts."""
    return np.tile((counts > 0).sum(axis=1) / counts.shape[1], (len(metrics), 1))


def measure_diversity(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Count the items that at least one list holds, for each row of counts."""
    return np.tile((counts > 0).sum(axis=1, dtype=np.float64), (len(metrics), 1))


def measure_hoover(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure each row of counts by :func:`hoover`, over the whole catalogue."""
    return np.tile(hoover(counts), (len(metrics), 1))


def measure_entropy(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure each row of counts by :func:`entropy`."""
    return np.tile(entropy(counts), (len(metrics), 1))


def _hoover_without_each(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    return terms_without_each(view, metrics, lambda _: _hoover_terms)


def _entropy_without_each(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    return terms_without_each(view, metrics, lambda _: _entropy_terms)


def _diversity_without_each(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    return coverage_without_each(view, metrics) * view.n_items


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
register(
    Declaration(
        "Diversity",
        "system",
        "aggregate diversity: number of items among the first n of at least one list",
        r"|\bigcup_u L_u|",
        "Adomavicius & Kwon 2012; ATM15 Sec. 2",
        "0 if all lists are empty",
        measure_diversity,
        better=None,
        interval="none",
        without_each=_diversity_without_each,
    )
)
register(
    Declaration(
        "Hoover",
        "system",
        "share of all recommendations that would have to move to other items to make all equal",
        r"\frac12\sum_k|x_k/\sum_j x_j-1/|\mathcal I||",
        "Hoover 1936; ATM15 Sec. 2",
        "undefined if all lists are empty; items in no list count as 0",
        measure_hoover,
        better=None,
        interval="normal",
        without_each=_hoover_without_each,
    )
)
register(
    Declaration(
        "Entropy",
        "system",
        "entropy of the shares that items have of all recommendations, in nats",
        r"-\sum_k q_k\ln q_k,\ q_k=x_k/\sum_j x_j",
        "Shannon 1948",
        "undefined if all lists are empty; an item in no list adds 0",
        measure_entropy,
        better=None,
        interval="normal",
        without_each=_entropy_without_each,
    )
)
