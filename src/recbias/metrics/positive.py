"""Metrics that reward relevant items: P, R, HR, RR, AP and nDCG of one user, from ranks.

A list enters only through the ranks of the user's test items in it. `ranks` are those of the
*relevant* ones that are in the list, ascending from 1; `n_relevant` counts them all, in the list or
not. "No cutoff" is a cutoff beyond every rank. The definitions are compiled, because
:func:`measure_positive` calls them once per user, metric and cutoff.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.metrics.arguments import named_alone
from recbias.metrics.base import Argument, Declaration, Metric, register
from recbias.metrics.lists import JudgedLists, RankView
from recbias.protocol.relevance import GainMap

__all__ = [
    "MEASURED",
    "POSITIVE",
    "average_precision",
    "dcg",
    "ideal_dcg",
    "measure_judged",
    "measure_positive",
    "precision",
    "recall",
    "reciprocal_rank",
]

POSITIVE = ("P", "R", "nDCG", "AP", "RR")
"""Each of these has an anti-metric."""
MEASURED = (*POSITIVE, "HR", "AP|capped")
"""What `measure_judged` measures."""

Ranks = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

_P, _R, _NDCG, _AP, _RR, _HR, _CAPPED_AP = range(len(MEASURED))
_NO_CUTOFF = np.iinfo(np.int64).max


@nb.njit(cache=True, nogil=True)
def precision(ranks: Ranks, cutoff: int) -> float:
    r"""Share of the first `cutoff` places that hold a relevant item.

    :math:`P@n = |top_n \cap PR_{test}(u)| / n`. The denominator is n for lists shorter than n too,
    full and condensed: a missing place holds nothing relevant (formulas of BCC17 Sec. 3.2).

    Parameters
    ----------
    ranks : ndarray of int, shape (relevant items in the list,)
        Ascending.
    cutoff : int

    Returns
    -------
    float
        In [0, 1]; 0 for a user without relevant test item.

    Examples
    --------
    >>> round(precision(np.array([2, 4, 6]), 3), 4)
    0.3333
    """
    hits = 0
    for rank in ranks:
        if rank > cutoff:
            break
        hits += 1
    return hits / cutoff


@nb.njit(cache=True, nogil=True)
def recall(ranks: Ranks, n_relevant: int, cutoff: int) -> float:
    r"""Share of the relevant test items that are among the first `cutoff`.

    :math:`R@n = |top_n \cap PR_{test}(u)| / |PR_{test}(u)|`.

    Parameters
    ----------
    ranks : ndarray of int, shape (relevant items in the list,)
        Ascending.
    n_relevant : int
        Relevant test items, at least 1.
    cutoff : int

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> recall(np.array([2, 4, 6]), 4, 5)
    0.5
    """
    hits = 0
    for rank in ranks:
        if rank > cutoff:
            break
        hits += 1
    return hits / n_relevant


@nb.njit(cache=True, nogil=True)
def reciprocal_rank(ranks: Ranks, cutoff: int) -> float:
    """One over the rank of the first relevant item; 0 if none is among the first `cutoff`.

    Parameters
    ----------
    ranks : ndarray of int, shape (relevant items in the list,)
        Ascending.
    cutoff : int

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> reciprocal_rank(np.array([2, 4, 6]), 5), reciprocal_rank(np.array([2, 4, 6]), 1)
    (0.5, 0.0)
    """
    if len(ranks) == 0 or ranks[0] > cutoff:
        return 0.0
    return 1.0 / ranks[0]


@nb.njit(cache=True, nogil=True)
def average_precision(ranks: Ranks, n_relevant: int, cutoff: int) -> float:
    r"""Precision at the rank of each relevant item, averaged over all relevant test items.

    :math:`AP@n = \frac1{|PR_{test}(u)|} \sum_{i \in top_n \cap PR_{test}(u)} P@\tau(i)`; relevant
    items beyond the cutoff, or not in the list, add 0 and count in the denominator (trec_eval).
    Divided by the smaller of n and their number it is ``AP@n|capped``.

    Parameters
    ----------
    ranks : ndarray of int, shape (relevant items in the list,)
        Ascending.
    n_relevant : int
        What the sum is divided by, at least 1: the number of relevant test items.
    cutoff : int

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    Three relevant items at ranks 2, 4 and 6: (1/2 + 2/4 + 3/6) / 3.

    >>> average_precision(np.array([2, 4, 6]), 3, 10)
    0.5
    """
    total = 0.0
    for number in range(len(ranks)):
        if ranks[number] > cutoff:
            break
        total += (number + 1) / ranks[number]
    return total / n_relevant


@nb.njit(cache=True, nogil=True)
def dcg(ranks: Ranks, gains: FloatArray, log_discount: FloatArray, cutoff: int) -> float:
    r"""Discounted cumulative gain :math:`\sum_{k \le n} g(i_k) / \log_2(k + 1)`.

    Parameters
    ----------
    ranks : ndarray of int, shape (test items in the list,)
        Ascending, of relevant and other test items alike: a gain map may reward both.
    gains : ndarray of float64, same shape
        Gain of each of these items; all others gain 0.
    log_discount : ndarray of float64
        ``log2(rank + 1)`` at index `rank`.
    cutoff : int

    Returns
    -------
    float

    References
    ----------
    Järvelin & Kekäläinen, ACM TOIS 20 (2002), with the discount of Burges et al. (2005); CCM20
    Sec. 3.2.

    Examples
    --------
    >>> discount = np.log2(np.arange(10) + 1)
    >>> round(dcg(np.array([2, 4]), np.array([1.0, 1.0]), discount, 3), 6)
    0.63093
    """
    total = 0.0
    for place in range(len(ranks)):
        if ranks[place] > cutoff:
            break
        total += gains[place] / log_discount[ranks[place]]
    return total


@nb.njit(cache=True, nogil=True)
def ideal_dcg(ascending_gains: FloatArray, log_discount: FloatArray, cutoff: int) -> float:
    """DCG of the best possible list: all test items of the user, largest gain first.

    Parameters
    ----------
    ascending_gains : ndarray of float64, shape (test items with a gain,)
        Smallest first; items of gain 0 may be left out.
    log_discount : ndarray of float64
        ``log2(rank + 1)`` at index `rank`.
    cutoff : int
        The ideal list has ``min(cutoff, test items)`` places.

    Returns
    -------
    float
        0 where no test item has a gain: nDCG is undefined.

    Examples
    --------
    >>> discount = np.log2(np.arange(10) + 1)
    >>> round(ideal_dcg(np.array([0.0, 0.0, 1.0, 1.0]), discount, 3), 6)
    1.63093
    """
    n_items = len(ascending_gains)
    total = 0.0
    for rank in range(1, min(cutoff, n_items) + 1):
        total += ascending_gains[n_items - rank] / log_discount[rank]
    return total


def measure_positive(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure all users or runs by some of the metrics of this module, in one pass.

    Parameters
    ----------
    view : RankView
    metrics : sequence of Metric
        Of :data:`MEASURED`.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_units)
        NaN = undefined.

    Raises
    ------
    ConfigError
        If the top of the scale is missing where a gain map needs it.
    """
    gain_of = [_up_to_factor(m.gain) if m.name == "nDCG" else None for m in metrics]
    gain_maps = list(dict.fromkeys(gain for gain in gain_of if gain is not None))
    values = measure_judged(
        view.lists,
        ["|".join((metric.name, *dict(metric.given))) for metric in metrics],
        [metric.cutoff for metric in metrics],
        [view.gains(one) for one in gain_maps],
        [-1 if gain is None else gain_maps.index(gain) for gain in gain_of],
    )
    return view.per_unit(values)


def _up_to_factor(gain: GainMap) -> GainMap:
    """Give one of the maps that differ by a factor: it cancels, and so do its rounding errors."""
    return GainMap("exp") if gain.name == "err" else gain


def measure_judged(
    lists: JudgedLists,
    names: Sequence[str],
    cutoffs: Sequence[int | None],
    gains: Sequence[FloatArray] = (),
    gain_of: Sequence[int] | None = None,
    *,
    discount: Callable[[FloatArray], FloatArray] = lambda rank: np.log2(rank + 1),
) -> FloatArray:
    """Measure lists by the metrics of this module, whatever makes an item relevant in them.

    Parameters
    ----------
    lists : JudgedLists
    names : sequence of str
        In :data:`MEASURED`.
    cutoffs : sequence of int or None
        One for each name; None = no cutoff.
    gains : sequence of ndarray of float64
        What each item of `lists` gains, none negative.
    gain_of : sequence of int, optional
        Which of `gains` each nDCG looks at; the first by default. Of other metrics it is ignored.
    discount : callable
        What nDCG divides the gain at each of the ranks 1, 2, ... by; positive.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_lists)
        NaN = undefined.

    Examples
    --------
    >>> lists = JudgedLists(np.array([0, 2]), np.array([2]), np.array([1, 3], np.int32),
    ...                     np.array([False, True]))
    >>> measure_judged(lists, ["P", "RR"], [2, None])[:, 0].round(3)
    array([0.   , 0.333])
    """
    longest = int(np.diff(lists.first).max(initial=0))
    values = np.empty((len(names), len(lists.n_listed)))
    _measure_users(
        lists.first,
        lists.n_listed,
        lists.rank,
        lists.positive,
        np.array(gains, dtype=np.float64).reshape(len(gains), len(lists.rank)),
        longest,
        np.append(1.0, discount(np.arange(1.0, max(longest, lists.rank.max(initial=0)) + 1))),
        np.array([MEASURED.index(name) for name in names], dtype=np.int64),
        np.array([_NO_CUTOFF if one is None else one for one in cutoffs], dtype=np.int64),
        np.array([0] * len(names) if gain_of is None else gain_of, dtype=np.int64),
        values,
    )
    return values


@nb.njit(cache=True, nogil=True)
def _measure_users(
    first: npt.NDArray[np.int64],
    n_listed: npt.NDArray[np.int64],
    rank: Ranks,
    positive: npt.NDArray[np.bool_],
    gains: FloatArray,
    longest: int,
    log_discount: FloatArray,
    kinds: npt.NDArray[np.int64],
    cutoffs: npt.NDArray[np.int64],
    gain_maps: npt.NDArray[np.int64],
    values: FloatArray,
) -> None:
    """Fill `values`, one column per user.

    Sums run in order of rank, so that a list in ideal order has an nDCG of exactly 1.
    """
    all_hits = np.empty(longest, dtype=np.int32)
    all_gains = np.empty((len(gains), longest))
    n_gains = np.zeros(len(gains), dtype=np.int64)
    for user in range(len(n_listed)):
        begin, end = first[user], first[user + 1]
        listed = slice(begin, begin + n_listed[user])
        n_relevant, n_hits = 0, 0
        for place in range(begin, end):
            if positive[place]:
                n_relevant += 1
                if rank[place] > 0:
                    all_hits[n_hits] = rank[place]
                    n_hits += 1
        hits = all_hits[:n_hits]
        for gain_map in range(len(gains)):
            count, last, ascending = 0, 0.0, True
            for place in range(begin, end):
                gain = gains[gain_map, place]
                if gain > 0:
                    all_gains[gain_map, count] = gain
                    ascending &= gain >= last
                    last = gain
                    count += 1
            if not ascending:  # never with binary gains, whose sort would cost as much as the rest
                all_gains[gain_map, :count].sort()
            n_gains[gain_map] = count

        for number in range(len(kinds)):
            kind, cutoff = kinds[number], cutoffs[number]
            value = np.nan
            if kind == _P:
                value = precision(hits, cutoff)
            elif kind == _NDCG:
                gain_map = gain_maps[number]
                ideal = ideal_dcg(all_gains[gain_map, : n_gains[gain_map]], log_discount, cutoff)
                if ideal > 0:
                    gained = dcg(rank[listed], gains[gain_map, listed], log_discount, cutoff)
                    value = gained / ideal
            elif n_relevant > 0:
                if kind == _R:
                    value = recall(hits, n_relevant, cutoff)
                elif kind == _AP:
                    value = average_precision(hits, n_relevant, cutoff)
                elif kind == _CAPPED_AP:
                    value = average_precision(hits, min(n_relevant, cutoff), cutoff)
                elif kind == _RR:
                    value = reciprocal_rank(hits, cutoff)
                elif kind == _HR:
                    value = 1.0 if n_hits > 0 and hits[0] <= cutoff else 0.0
            values[number, user] = value


_IN_BCC17 = "BCC17 Sec. 3.1-3.2"
_WITHOUT_RELEVANT = "undefined for a user without relevant test item; 0 if none is returned"

register(
    Declaration(
        "P",
        "ranks",
        "share of the first n places that hold a relevant item",
        r"h_u(n)/n",
        _IN_BCC17,
        "0 for a user without relevant test item; a shorter list is divided by n too",
        measure_positive,
        called=("precision",),
    )
)
register(
    Declaration(
        "R",
        "ranks",
        "share of the relevant test items that are among the first n",
        r"h_u(n)/|PR_{test}(u)|",
        "trec_eval",
        _WITHOUT_RELEVANT,
        measure_positive,
        called=("recall",),
    )
)
register(
    Declaration(
        "nDCG",
        "ranks",
        "gain of the list, discounted by rank, over that of the best possible list",
        r"DCG@n/IDCG@n,\ DCG@n=\sum_{k\le n}g(i_k)/\log_2(k+1)",
        "Järvelin & Kekäläinen 2002; CCM20 Sec. 3.2 and 3.6",
        "undefined if no test item of the user has a gain",
        measure_positive,
        cutoff="optional",
        arguments=(
            Argument(
                "gain",
                GainMap.parse,
                "a gain map",
                ("exp", "binary", "linear", "ranksys", "steps", "err"),
                default="binary",
            ),
        ),
    )
)
register(
    Declaration(
        "AP",
        "ranks",
        "precision at the rank of each relevant test item, averaged over them",
        r"\frac1{|PR_{test}(u)|}\sum_{i\in top_n\cap PR_{test}(u)}P@\tau(i)",
        "trec_eval",
        _WITHOUT_RELEVANT,
        measure_positive,
        cutoff="optional",
        called=("average precision", "map", "mean average precision"),
    )
)
register(
    Declaration(
        "AP",
        "ranks",
        "AP over the relevant items that n places have room for: 1 for a list of nothing else",
        r"\frac1{\min(n,|PR_{test}(u)|)}\sum_{i\in top_n\cap PR_{test}(u)}P@\tau(i)",
        "ml_metrics (Kaggle), RecBole, implicit",
        f"{_WITHOUT_RELEVANT}; a shorter list changes no divisor",
        measure_positive,
        given=(named_alone("capped", "divided by at most n"),),
    )
)
register(
    Declaration(
        "RR",
        "ranks",
        "one over the rank of the first relevant item",
        r"1/\min_i\tau(i)",
        "trec_eval",
        _WITHOUT_RELEVANT,
        measure_positive,
        cutoff="optional",
        called=("reciprocal rank", "mrr", "mean reciprocal rank"),
    )
)
register(
    Declaration(
        "HR",
        "ranks",
        "hit rate: whether one of the first n items is relevant, 1 or 0",
        r"[h_u(n)>0]",
        "trec_eval (success); He et al. 2017",
        f"{_WITHOUT_RELEVANT}; in a 1R run it is R",
        measure_positive,
        called=("hit rate", "hit ratio", "hit", "success"),
    )
)
