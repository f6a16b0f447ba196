"""Metrics that count what the user is known not to like: anti-precision."""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import RankView

__all__ = ["anti_precision", "measure_false_positive"]


@nb.njit(cache=True, nogil=True)
def anti_precision(ranks: npt.NDArray[np.int32], cutoff: int) -> float:
    r"""Share of the first `cutoff` places that hold a judged non-relevant item.

    :math:`antiP@n = |top_n \cap NR_{test}(u)| / n`, with NR the test items rated below the
    threshold; an unrated item counts in neither: P + antiP + unrated share = 1 for full lists.

    Parameters
    ----------
    ranks : ndarray of int, shape (judged non-relevant items in the list,)
        Ascending from 1.
    cutoff : int

    Returns
    -------
    float
        In [0, 1]; 0 for a user without non-relevant test item. Lower is better.

    See Also
    --------
    recbias.metrics.positive.precision : the same share of relevant items.

    References
    ----------
    MCCRS20 Sec. 3.

    Examples
    --------
    Top 4 = liked, disliked, unrated, unrated.

    >>> anti_precision(np.array([2]), 4)
    0.25
    """
    misses = 0
    for rank in ranks:
        if rank > cutoff:
            break
        misses += 1
    return misses / cutoff


def measure_false_positive(view: RankView, metrics: Sequence[Metric]) -> npt.NDArray[np.float64]:
    """Measure all users by some of the metrics of this module.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user: runs know of no judged non-relevant item.
    metrics : sequence of Metric
        Anti-precision at any cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
    """
    lists = view.lists
    values = np.empty((len(metrics), len(lists.n_listed)))
    misses = (lists.rank > 0) & ~lists.positive
    first_miss = np.concatenate([[0], np.cumsum(misses)])[lists.first]
    cutoffs = np.array([metric.cutoff for metric in metrics])
    _measure_users(first_miss, lists.rank[misses], cutoffs, values)
    return values


@nb.njit(cache=True, nogil=True)
def _measure_users(
    first_miss: npt.NDArray[np.int64],
    rank: npt.NDArray[np.int32],
    cutoffs: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
) -> None:
    """Fill `values`, one column per user; user u has the misses from ``first_miss[u]`` on."""
    for user in range(values.shape[1]):
        ranks = rank[first_miss[user] : first_miss[user + 1]]
        for number in range(len(cutoffs)):
            values[number, user] = anti_precision(ranks, cutoffs[number])


register(
    Declaration(
        "antiP",
        "ranks",
        "share of the first n places that hold a judged non-relevant item",
        r"|top_n\cap NR_{test}(u)|/n",
        "MCCRS20 Sec. 3",
        "0 for a user without non-relevant test item; a shorter list is divided by n too",
        measure_false_positive,
        per=("user",),
        better="lower",
    )
)
