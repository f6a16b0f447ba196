"""The order of what is known: how often a liked item stands before a disliked one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import RankView

__all__ = ["measure_order"]

FloatArray = npt.NDArray[np.float64]


def measure_order(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure the share of pairs of a liked and a disliked test item that a list puts right.

    A pair of which one item only is in the list is put right if that is the liked one; a pair of
    which neither is counts as half. The value does not depend on unjudged items, so that full and
    condensed lists have the same. Where items are judged at random, it estimates the area under the
    ROC curve of all items outside training, whatever share of them is judged.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user.
    metrics : sequence of Metric
        AUC.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        In [0, 1]; 1/2, what a random order has, for a user without relevant or without
        non-relevant test item. So Random has 1/2 on average over any population.

    References
    ----------
    S. Rendle et al., "BPR: Bayesian personalized ranking from implicit feedback", UAI 2009,
    Sec. 4.1.1.

    Examples
    --------
    Liked, disliked, liked; a disliked item is not in the list. Three of four pairs are right.

    >>> from recbias.metrics import measure, parse_metric
    >>> from recbias.ranking import RankTable
    >>> table = RankTable(
    ...     per="user", n_users=1, user=np.zeros(4, np.int32), item=np.arange(4, dtype=np.int32),
    ...     value=np.array([5.0, 1.0, 4.0, 2.0]), rank=np.array([1, 3, 7, 0], np.int32),
    ...     condensed_rank=np.array([1, 2, 3, 0], np.int32), n_targets=np.array([9], np.int32),
    ...     n_scored=np.array([9], np.int32))
    >>> measure(table, [parse_metric("AUC")], min_rating=4)
    array([[0.75]])
    """
    lists, n_users = view.lists, view.n_units
    owner = np.repeat(np.arange(n_users), np.diff(lists.first))
    liked, listed = lists.positive, lists.rank > 0
    n_liked, n_disliked, n_below = (
        np.bincount(owner[rows], minlength=n_users) for rows in (liked, ~liked, ~liked & ~listed)
    )
    above = np.concatenate([[0], np.cumsum(~liked & listed)])
    above = above[:-1] - above[lists.first[owner]]
    right = np.where(listed, n_disliked[owner] - above, 0.5 * n_below[owner])
    total = np.bincount(owner[liked], weights=right[liked], minlength=n_users)
    pairs = n_liked * n_disliked
    value = np.divide(total, pairs, out=np.full(n_users, 0.5), where=pairs > 0)
    return np.tile(value, (len(metrics), 1))


register(
    Declaration(
        "AUC",
        "ranks",
        "share of the pairs of a relevant and a judged non-relevant item in which the relevant one "
        "stands first",
        r"\frac{|\{(i,j)\in PR_{test}(u)\times NR_{test}(u):\tau(i)<\tau(j)\}|}"
        r"{|PR_{test}(u)|\,|NR_{test}(u)|}",
        "Rendle et al. 2009",
        "1/2 for a user without relevant or without non-relevant test item; items outside the list "
        "stand below all others, two of them count half",
        measure_order,
        cutoff="none",
        per=("user",),
    )
)
