"""How many items change their class of popularity by being recommended: M of ATM15.

As in :mod:`recbias.metrics.prior`, recommendations are compared with the prior, relevant training
ratings; here both only by the order into which they put the items.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.metrics.arguments import open_share
from recbias.metrics.base import Argument, Declaration, Metric, register
from recbias.metrics.lists import ListView, item_counts
from recbias.metrics.prior import UNDEFINED, prior_of

__all__ = ["HEAD_SHARE", "reinforcement"]

FloatArray = npt.NDArray[np.float64]

HEAD_SHARE = 0.2
"""Of the items, those that are popular (ATM15 Sec. 2, after Pareto)."""


def reinforcement(
    prior: npt.ArrayLike, counts: FloatArray, cuts: Sequence[float] = (HEAD_SHARE,)
) -> FloatArray:
    r"""M of each row of counts: the share of the items that change their class of popularity.

    :math:`1-\sum_c \pi_c\rho_{cc}` with :math:`\pi_c` the share of the items that are in class c by
    the prior, and :math:`\rho_{cc}` the share of these that are in it by the counts too. As the
    sizes of the classes stay, of two classes as many items leave the head as enter it: M is twice
    the share that moves from the tail to the head.

    Parameters
    ----------
    prior : array_like of float, shape (n_items,)
        Relevant training ratings of each item.
    counts : ndarray of float64, shape (n_rows, n_items)
        In how many lists each item is.
    cuts
        Where classes end, as shares of the items, most popular first, ascending; rounded up to
        whole items. One cut makes head and tail.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        From 0 to, for two classes, twice the share of the smaller one. Ties at a border are broken
        by the prior, then by the item's number. NaN where the prior, or a row, is all 0.

    References
    ----------
    ATM15 Sec. 2, after P. Adamopoulos & A. Tuzhilin, "On over-specialization and concentration bias
    of recommendations", RecSys (2014). That :math:`\pi` counts items, not ratings, is our reading.

    Examples
    --------
    Of five items one is head: the first by the prior, the second by the counts.

    >>> print(reinforcement([9, 5, 4, 2, 1], np.array([[3.0, 10, 1, 1, 0], [5, 4, 0, 0, 0]])))
    [0.4 0. ]
    """
    prior = np.asarray(prior, dtype=np.float64)
    by_prior = _by_prior(prior)
    ends = [_head_size(cut, len(prior)) for cut in cuts]
    values = np.full(len(counts), np.nan)
    if prior.sum() == 0:
        return values
    before = np.empty(len(prior), dtype=np.intp)
    before[by_prior] = np.searchsorted(ends, np.arange(len(prior)), side="right")
    after = np.empty_like(before)
    for row, row_counts in enumerate(counts):
        if row_counts.any():
            order = by_prior[np.argsort(-row_counts[by_prior], kind="stable")]
            after[order] = np.searchsorted(ends, np.arange(len(prior)), side="right")
            values[row] = (before != after).mean()
    return values


def _by_prior(prior: FloatArray) -> npt.NDArray[np.intp]:
    """Order items by the prior, most popular first, then by number."""
    return np.argsort(-prior, kind="stable")


def _head_size(share: float, n_items: int) -> int:
    # 0.07 * 100 is a little more than 7.
    return int(np.ceil(round(share * n_items, 9)))


def measure_reinforcement(
    counts: FloatArray, view: ListView, metrics: Sequence[Metric]
) -> FloatArray:
    """Measure each row of counts by :func:`reinforcement`, with head and tail."""
    prior = prior_of(view, metrics[0])
    return np.array([reinforcement(prior, counts, (metric.head,)) for metric in metrics])


def _reinforcement_without_each(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure M without each user: to the bit what :func:`reinforcement` gives.

    A list that is taken away makes its items less popular, so that only they can leave the head,
    for others or for each other.
    """
    prior = prior_of(view, metrics[0])
    n_items = view.n_items
    values = np.full((len(metrics), len(view.items)), np.nan)
    if prior.sum() == 0:
        return values
    by_prior = _by_prior(prior)
    # A whole number that orders as count, prior and number of the item do.
    tie = np.empty(n_items, dtype=np.int64)
    tie[by_prior] = np.arange(n_items)[::-1]
    for row, metric in enumerate(metrics):
        size = _head_size(metric.head, n_items)
        counts = item_counts(view, metric.cutoff)[0]
        keys = counts.astype(np.int64) * n_items + tie
        head_before = np.zeros(n_items, dtype=np.bool_)
        head_before[by_prior[:size]] = True
        top = np.ascontiguousarray(view.top(metric.cutoff))
        order = np.argsort(-keys)
        stay = np.empty(len(top), dtype=np.int64)
        _staying(top, keys, order, size, head_before, stay)
        rest = counts.sum() - (top >= 0).sum(axis=1)
        values[row] = np.where(rest > 0, 2 * (size - stay) / n_items, np.nan)
    return values


@nb.njit(cache=True, nogil=True)
def _staying(
    items: npt.NDArray[np.int32],
    keys: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    size: int,
    head_before: npt.NDArray[np.bool_],
    stay: npt.NDArray[np.int64],
) -> None:
    """Count for each user who of the head before is in the head without them."""
    n_items = len(keys)
    in_head = np.zeros(n_items, dtype=np.bool_)
    in_head[order[:size]] = True
    all_stay = 0
    for place in range(size):
        all_stay += head_before[order[place]]
    listed = np.full(n_items, -1)
    candidates = np.empty(2 * items.shape[1], dtype=np.int64)
    candidate_keys = np.empty(2 * items.shape[1], dtype=np.int64)
    for user in range(items.shape[0]):
        n_candidates, n_free, n_staying = 0, 0, all_stay
        for place in range(items.shape[1]):
            item = items[user, place]
            if item < 0:
                break
            listed[item] = user
            candidates[n_candidates] = item
            candidate_keys[n_candidates] = keys[item] - n_items
            n_candidates += 1
            if in_head[item]:
                n_free += 1
                n_staying -= head_before[item]
        place, added = size, 0
        while added < n_free and place < n_items:
            item = order[place]
            place += 1
            if listed[item] != user:
                candidates[n_candidates] = item
                candidate_keys[n_candidates] = keys[item]
                n_candidates += 1
                added += 1
        for _ in range(n_free):
            best = 0
            for other in range(1, n_candidates):
                if candidate_keys[other] > candidate_keys[best]:
                    best = other
            n_staying += head_before[candidates[best]]
            n_candidates -= 1
            candidates[best] = candidates[n_candidates]
            candidate_keys[best] = candidate_keys[n_candidates]
        stay[user] = n_staying


register(
    Declaration(
        "M",
        "system",
        "share of the items that change between head and tail by being recommended",
        r"1-\sum_c\pi_c\rho_{cc}",
        "ATM15 Sec. 2, after Adamopoulos & Tuzhilin 2014",
        f"{UNDEFINED}; ties at the border go by prior, then by number of the item",
        measure_reinforcement,
        arguments=(
            Argument(
                "head",
                open_share,
                "share of the items that is head, above 0 and below 1",
                ("0.1",),
                default=str(HEAD_SHARE),
                keyword=True,
            ),
        ),
        better=None,
        interval="none",
        without_each=_reinforcement_without_each,
    )
)
