"""The order of what is known: how often a liked item stands before a disliked one."""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import RankView

__all__ = ["measure_correlation", "measure_order"]

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


def measure_correlation(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure Kendall's tau-b between the list and the ratings of the test items in it.

    :math:`(C-D)/\sqrt{n_0(n_0-n_2)}` with C concordant and D discordant of :math:`n_0` pairs, of
    which :math:`n_2` have equal ratings. Ranks have no ties.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user; full and condensed lists have the same value.
    metrics : sequence of Metric
        tau.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        In [-1, 1]; NaN for a user with fewer than two test items in the list, or all of them rated
        alike.

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945); CCM20
    Sec. 3.7.

    Examples
    --------
    By rank 5, 5, 3 and 4 stars: four pairs are right, one is wrong, one is tied.

    >>> from recbias.metrics import measure, parse_metric
    >>> from recbias.ranking import RankTable
    >>> places = np.arange(1, 5, dtype=np.int32)
    >>> table = RankTable(
    ...     per="user", n_users=1, user=np.zeros(4, np.int32), item=places - 1,
    ...     value=np.array([5.0, 5.0, 3.0, 4.0]), rank=places, condensed_rank=places,
    ...     n_targets=np.array([4], np.int32), n_scored=np.array([4], np.int32))
    >>> measure(table, [parse_metric("tau")], min_rating=4).round(6)
    array([[0.547723]])
    """
    lists = view.lists
    value = _correlations(lists.first, lists.n_listed, view.ratings)
    return np.tile(value, (len(metrics), 1))


@nb.njit(cache=True, nogil=True)
def _correlations(
    first: npt.NDArray[np.int64], n_listed: npt.NDArray[np.int64], ratings: FloatArray
) -> FloatArray:
    values = np.full(len(n_listed), np.nan)
    for user in range(len(n_listed)):
        begin, end = first[user], first[user] + n_listed[user]
        right, wrong = 0, 0
        for one in range(begin, end):
            for below in range(one + 1, end):
                right += ratings[one] > ratings[below]
                wrong += ratings[one] < ratings[below]
        if right + wrong > 0:
            pairs = n_listed[user] * (n_listed[user] - 1) // 2
            values[user] = (right - wrong) / np.sqrt(float(pairs) * (right + wrong))
    return values


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
register(
    Declaration(
        "tau",
        "ranks",
        "Kendall's tau-b between the order of the list and the ratings of the test items in it",
        r"(C-D)/\sqrt{n_0(n_0-n_2)}",
        "Kendall 1945; CCM20 Sec. 3.7",
        "undefined for a user with fewer than two test items in the list, or with all of them "
        "rated alike; items outside the list are left out",
        measure_correlation,
        cutoff="none",
        per=("user",),
    )
)
