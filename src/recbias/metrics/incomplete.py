r"""Metrics made for incomplete judgments: bpref, infAP and popularity-stratified recall.

A user has judged few items, so that most of a list is unjudged. Three ideas of what to do about it:
bpref leaves unjudged items out and asks how many judged non-relevant ones stand above a relevant
one; infAP takes the judged items above to be a sample of what a *pool* holds there, and estimates
precision from it; stratified recall undoes that popular items are judged more often, by weights.
BCC17 (Sec. 7) misprints the first two (E07, E08); measured are the definitions that it cites.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.metrics.base import Argument, Declaration, Metric, positive_integer, register
from recbias.metrics.expected import OF_SAMPLES, SAMPLE_SIZE
from recbias.metrics.lists import RankView
from recbias.protocol.relevance import relevant
from recbias.ranking import RankTable
from recbias.theory import expected_hit, hypergeometric_mean

__all__ = [
    "INFAP_EPSILON",
    "binary_preference",
    "inferred_average_precision",
    "measure_binary_preference",
    "measure_inferred",
    "measure_sampled_inferred",
    "measure_sampled_stratified",
    "measure_stratified",
    "observation_weights",
    "stratified_sums",
    "stratified_weights",
]

INFAP_EPSILON = 1e-5
"""What infAP adds to the judged relevant items above a rank, and to the non-relevant ones, so that
their ratio exists where there are none (Yilmaz & Aslam 2006; ``INFAP_EPSILON`` of trec_eval)."""

Ranks = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_EVERYTHING = np.iinfo(np.int64).max


@nb.njit(cache=True, nogil=True)
def binary_preference(
    positive: npt.NDArray[np.bool_], n_relevant: int, n_non_relevant: int
) -> float:
    r"""Share of judged non-relevant items that stand below a relevant one, averaged over these.

    With R relevant and N judged non-relevant test items, :math:`n_i` of the latter above item i,

    .. math:: bpref=\frac1R\sum_{i\in PR_{test}(u)\cap list}
        \Bigl(1-\frac{\min(n_i,R)}{\min(N,R)}\Bigr),

    a term being 1 where :math:`n_i=0`. Unjudged items count nowhere. A relevant item that is not in
    the list adds 0; a non-relevant one that is not counts in N, and stands above nothing.

    Parameters
    ----------
    positive : ndarray of bool, shape (test items in the list,)
        Whether each is relevant, in the order of their ranks.
    n_relevant, n_non_relevant : int
        R, at least 1, and N: all test items of the user, in the list or not.

    Returns
    -------
    float
        In [0, 1]. Without non-relevant test item it is the share of relevant ones in the list.

    References
    ----------
    C. Buckley & E. Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004, in the
    form of trec_eval, which caps :math:`n_i` at R. BCC17 Sec. 7 prints it without that cap (E07),
    so that one relevant item below three non-relevant ones would have -2 instead of 0.

    Examples
    --------
    By rank: non-relevant, relevant, relevant, non-relevant, relevant. (1/2 + 1/2 + 0) / 3.

    >>> round(binary_preference(np.array([False, True, True, False, True]), 3, 2), 6)
    0.333333
    """
    bound = min(n_relevant, n_non_relevant)
    above = 0
    total = 0.0
    for one in positive:
        if not one:
            above += 1
        elif above == 0:
            total += 1.0
        else:
            total += 1.0 - min(above, n_relevant) / bound
    return total / n_relevant


@nb.njit(cache=True, nogil=True)
def inferred_average_precision(
    ranks: Ranks, positive: npt.NDArray[np.bool_], pooled_above: IntArray, n_relevant: int
) -> float:
    r"""Average precision, expected if judged items above a rank are a sample of the pool there.

    For a relevant item at rank k, with *rel* and *non* judged items and *pooled* items of the pool,
    judged or not, above it,

    .. math:: E[P@k]=\frac1k+\frac{k-1}k\cdot\frac{pooled}{k-1}\cdot
        \frac{rel+\epsilon}{rel+non+2\epsilon},

    and 1 at rank 1; infAP is their sum over relevant items in the list, divided by the number of
    all. Items outside the pool count as non-relevant. Where every item above is judged, the value
    differs from AP by no more than epsilon.

    Parameters
    ----------
    ranks : ndarray of int, shape (test items in the list,)
        Ascending from 1.
    positive : ndarray of bool, same shape
        Which of them are relevant.
    pooled_above : ndarray of int64, same shape
        Items of the pool above each, judged ones included: at most ``ranks - 1``.
    n_relevant : int
        Relevant test items, at least 1.

    Returns
    -------
    float
        In [0, 1].

    References
    ----------
    E. Yilmaz & J. Aslam, "Estimating average precision with incomplete and imperfect judgments",
    CIKM 2006, and trec_eval. BCC17 Sec. 7 counts the item itself among those above it, divides by 0
    at rank 1, has no epsilon and leaves the pool open (E08).

    Examples
    --------
    Non-relevant, relevant, unjudged, relevant; the unjudged item is in the pool, and is not.

    >>> ranks, positive = np.array([1, 2, 4], np.int32), np.array([False, True, True])
    >>> [round(inferred_average_precision(ranks, positive, np.array(pooled), 2), 5)
    ...  for pooled in ([0, 1, 3], [0, 1, 2])]
    [0.5625, 0.5]
    """
    total, n_positive, n_negative = 0.0, 0, 0
    for place in range(len(ranks)):
        if not positive[place]:
            n_negative += 1
            continue
        share = (n_positive + INFAP_EPSILON) / (n_positive + n_negative + 2 * INFAP_EPSILON)
        total += (1.0 + pooled_above[place] * share) / ranks[place]
        n_positive += 1
    return total / n_relevant


def stratified_weights(counts: npt.ArrayLike, gamma: float) -> FloatArray:
    r"""Weigh items by :math:`|PR(i)|^{-\gamma/(\gamma+1)}`: the less popular, the more.

    Parameters
    ----------
    counts : array_like of int
        Relevant ratings of each item, training and test together.
    gamma : float
        From 0, which weighs all items alike, to infinity, which gives :math:`1/|PR(i)|`.

    Returns
    -------
    ndarray of float64, same shape
        Infinite for an item that nobody likes, unless gamma is 0.

    Raises
    ------
    ConfigError
        If gamma is negative or no number.

    References
    ----------
    BCC17 Sec. 7; H. Steck, "Item popularity and recommendation accuracy", RecSys 2011.

    Examples
    --------
    >>> stratified_weights([100, 25, 4], 1).round(3).tolist()
    [0.1, 0.2, 0.5]
    >>> stratified_weights([100, 25, 4], np.inf).round(3).tolist()
    [0.01, 0.04, 0.25]
    """
    if not gamma >= 0:
        raise ConfigError(f"gamma {gamma}: it goes from 0 to inf")
    exponent = 1.0 if math.isinf(gamma) else gamma / (gamma + 1)
    with np.errstate(divide="ignore"):
        return np.asarray(counts, dtype=np.float64) ** -exponent


def observation_weights(chances: npt.ArrayLike, test_share: float) -> FloatArray:
    r"""Weigh items so that recall of test items estimates recall of all that is not in training.

    A relevant pair of item i is observed with the probability :math:`p_i`, and then in test with
    :math:`\sigma`. So it is in test with :math:`\sigma p_i` and outside training with
    :math:`1-(1-\sigma)p_i`. Weights :math:`(1-(1-\sigma)p_i)/p_i` turn the one into the other, but
    for :math:`\sigma`, which cancels in a ratio of sums over users and items: see
    `stratified_sums`.

    Parameters
    ----------
    chances : array_like of float
        :math:`p_i`, above 0 and at most 1.
    test_share : float
        :math:`\sigma`, above 0 and at most 1: the share of observed ratings that is in test.

    Returns
    -------
    ndarray of float64, same shape

    Raises
    ------
    ConfigError
        If a probability is not in its range.

    References
    ----------
    Steck, RecSys 2011, where all that is observed is in test, so that it is :math:`1/p_i`.

    Examples
    --------
    >>> observation_weights([1.0, 0.5], 0.2).round(3).tolist()
    [0.2, 1.2]
    """
    chances = np.asarray(chances, dtype=np.float64)
    if not 0 < test_share <= 1 or not ((chances > 0) & (chances <= 1)).all():
        raise ConfigError(f"test share {test_share} and chances: all are above 0 and at most 1")
    return (1.0 - (1.0 - test_share) * chances) / chances


def stratified_sums(
    table: RankTable, weights: FloatArray, cutoff: int, *, min_rating: float
) -> FloatArray:
    r"""Add up the weights of each user's relevant items: those among the first n, and all.

    The ratio of a user's sums is their stratified recall. The ratio of the sums of *all* users is
    Steck's: users weigh as much as their relevant items, and it estimates true recall without bias
    where the weights are right (`observation_weights`); a mean of ratios does not.

    Parameters
    ----------
    table : RankTable
        With one target set per user.
    weights : ndarray of float64, shape (n_items,)
        What each item weighs.
    cutoff : int
        n.
    min_rating : float
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of float64, shape (2, n_users)
        First row: weights of hits; second: of all relevant test items, 0 for a user without.

    Raises
    ------
    ConfigError
        If the table has a target set per run.

    Examples
    --------
    The first user likes an item of weight 1 at rank 1 and one of weight 3 at rank 9; the second
    one of weight 2 at rank 4.

    >>> user, item, rank = np.array([[0, 0, 1], [0, 1, 2], [1, 9, 4]], np.int32)
    >>> place, nine = np.array([1, 2, 1], np.int32), np.array([9, 9], np.int32)
    >>> table = RankTable("user", 2, user, item, np.full(3, 5.0), rank, place, nine, nine)
    >>> hits, total = stratified_sums(table, np.array([1.0, 3.0, 2.0]), 5, min_rating=4)
    >>> (hits / total).tolist(), float(hits.sum() / total.sum())
    ([0.25, 1.0], 0.5)
    """
    if table.per != "user":
        raise ConfigError(
            "stratified sums need a table with a set per user (AR), this one has runs"
        )
    liked = relevant(table.value, min_rating)
    hit = (table.rank > 0) & (table.rank <= cutoff)
    of_row = weights[table.item]
    return np.array(
        [
            np.bincount(table.user[some], of_row[some], minlength=table.n_users)
            for some in (liked & hit, liked)
        ]
    )


def measure_binary_preference(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure all users or runs by `binary_preference`.

    Parameters
    ----------
    view : RankView
        A run knows of no judged non-relevant item, as in BCC17: 1 if its item is in the list.
    metrics : sequence of Metric
        bpref.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_units)
        NaN for a user without relevant test item, where trec_eval has 0.
    """
    lists = view.lists
    values = np.empty((1, len(lists.n_listed)))
    _measure_preferences(lists.first, lists.n_listed, lists.positive, values[0])
    return np.tile(view.per_unit(values), (len(metrics), 1))


@nb.njit(cache=True, nogil=True)
def _measure_preferences(
    first: IntArray, n_listed: IntArray, positive: npt.NDArray[np.bool_], values: FloatArray
) -> None:
    for user in range(len(n_listed)):
        begin, end = first[user], first[user + 1]
        n_relevant = int(positive[begin:end].sum())
        values[user] = np.nan
        if n_relevant > 0:
            values[user] = binary_preference(
                positive[begin : begin + n_listed[user]], n_relevant, end - begin - n_relevant
            )


def measure_inferred(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure all users or runs by `inferred_average_precision`.

    Every judged item is in the pool, and beside them the first `pool` places of the list, or
    everything. A union of first places over several systems lies between the two, and so does the
    value, which grows with the pool.

    Parameters
    ----------
    view : RankView
        In a run half of what is pooled above the relevant item counts as relevant.
    metrics : sequence of Metric
        infAP with any pools.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_units)
        NaN for a user without relevant test item, where trec_eval has 0.
    """
    lists = view.lists
    depths = np.array([_depth(metric.pool) for metric in metrics], dtype=np.int64)
    values = np.empty((len(metrics), len(lists.n_listed)))
    _measure_pools(lists.first, lists.n_listed, lists.rank, lists.positive, depths, values)
    return view.per_unit(values)


@nb.njit(cache=True, nogil=True)
def _measure_pools(
    first: IntArray,
    n_listed: IntArray,
    rank: Ranks,
    positive: npt.NDArray[np.bool_],
    depths: IntArray,
    values: FloatArray,
) -> None:
    for user in range(len(n_listed)):
        begin, end = first[user], first[user + 1]
        listed = slice(begin, begin + n_listed[user])
        n_relevant = int(positive[begin:end].sum())
        pooled = np.empty(n_listed[user], dtype=np.int64)
        for number in range(len(depths)):
            if n_relevant == 0:
                values[number, user] = np.nan
                continue
            below = 0  # judged items beyond the places that are pooled as such
            for place in range(n_listed[user]):
                above = rank[begin + place] - 1
                pooled[place] = min(above, depths[number]) + below
                if rank[begin + place] > depths[number]:
                    below += 1
            values[number, user] = inferred_average_precision(
                rank[listed], positive[listed], pooled, n_relevant
            )


def measure_sampled_inferred(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure infAP of runs, expected over all samples of T - 1 non-relevant items.

    Parameters
    ----------
    view : RankView
        Of ``AN-1R``: every run ranks its relevant item among the whole pool of candidates.
    metrics : sequence of Metric
        infAP given ``t``, with any pools; of a run these are the first places among the T.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_rows)
    """
    table = view.table
    candidates, rows = table.n_targets.astype(np.int64) - 1, []
    above = np.maximum(table.rank.astype(np.int64) - 1, 0)
    for metric in metrics:
        ranks = np.arange(1, min(metric.t, candidates.max(initial=0) + 1) + 1)
        worth = (1.0 + np.minimum(ranks - 1, _depth(metric.pool)) / 2) / ranks
        mean = hypergeometric_mean(worth, candidates, above, np.minimum(metric.t - 1, candidates))
        rows.append(np.where(table.rank > 0, mean, 0.0))
    return np.array(rows)


def measure_stratified(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure popularity-stratified recall, a mean over users or over runs.

    :math:`SR@n=\sum_{i\in top_n\cap PR_{test}(u)}w_i/\sum_{i\in PR_{test}(u)}w_i` with the weights
    of `stratified_weights`. Under 1R, where a list holds one relevant item, a run weighs
    as its item does among the user's: its value is :math:`[\tau\le n]\,w_i` over the mean weight
    of the user's runs. The mean of a user's runs then is the ratio above with hits of runs, and the
    mean over all runs weighs users by their relevant items, as 1RP@n does (BCC17 Eq. 1).

    Parameters
    ----------
    view : RankView
        With `relevant_counts`: |PR(i)| of each item, training and test together.
    metrics : sequence of Metric
        SR with any gammas and cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_units)
        NaN for a user without relevant test item. Gamma 0 gives R@n. Of a run it may exceed 1.

    Raises
    ------
    ConfigError
        If there are no counts, or a relevant item of the table has none.
    """
    cutoffs = np.array([metric.cutoff for metric in metrics])
    hits = (view.rank > 0) & (view.rank <= cutoffs[:, None])
    return _stratified(view, metrics, hits.astype(np.float64))


def measure_sampled_stratified(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure stratified recall of runs, expected over all samples of T - 1 non-relevant items.

    Parameters
    ----------
    view : RankView
        Of ``AN-1R``, with `relevant_counts`.
    metrics : sequence of Metric
        SR given ``t``, with any gammas and cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_rows)
        As of `measure_stratified`, as are errors, with `recbias.theory.expected_hit` for the hit.
    """
    keys = [(int(metric.cutoff or 0), metric.t) for metric in metrics]
    # Gammas weigh the same hits, which take longer than the weights.
    hits = {(n, t): n * expected_hit(view.table, "P", n, t) for n, t in dict.fromkeys(keys)}
    return _stratified(view, metrics, np.array([hits[key] for key in keys]))


def _stratified(view: RankView, metrics: Sequence[Metric], hits: FloatArray) -> FloatArray:
    """Weigh what each row of a table hits, and divide by the weights of its user."""
    table, liked = view.table, view.positive
    user, counts = table.user[liked], _counts_of_rows(view)[liked]
    rows = []
    for metric, hit in zip(metrics, hits, strict=True):
        weights = stratified_weights(counts, metric.gamma)
        total = np.bincount(user, weights, minlength=table.n_users)
        gained = weights * hit[liked]
        if table.per == "run":
            mean = total / np.maximum(np.bincount(user, minlength=table.n_users), 1)
            rows.append(gained / mean[user])
            continue
        sums, nothing = np.bincount(user, gained, table.n_users), np.full(table.n_users, np.nan)
        rows.append(np.divide(sums, total, out=nothing, where=total > 0))
    return np.array(rows)


def _counts_of_rows(view: RankView) -> IntArray:
    """Look up |PR(i)| of every row; each relevant one has counted itself."""
    if view.relevant_counts is None:
        raise ConfigError("SR: give relevant_counts, as recbias.theory.relevant_counts has them")
    counts = view.relevant_counts[view.table.item]
    if (counts[view.positive] < 1).any():
        raise ConfigError("relevant_counts: a relevant item has none; count training and test")
    return counts


def _depth(pool: int | str) -> int:
    return _EVERYTHING if isinstance(pool, str) else pool


def _parse_pool(text: str) -> int | str:
    return text if text == "all" else 0 if text == "0" else positive_integer(text)


def _parse_gamma(text: str) -> float:
    if not float(text) >= 0:
        raise ValueError(text)
    return float(text)


_IN_BCC17 = "BCC17 Sec. 7"
_WITHOUT_RELEVANT = "undefined for a user without relevant test item; 0 if none is returned"
_POOL = (
    Argument(
        "pool",
        _parse_pool,
        "the places of the list that are pooled beside the judged items, an integer or all",
        ("100", "2", "0", "all"),
        keyword=True,
    ),
)
_GAMMA = (
    Argument(
        "gamma",
        _parse_gamma,
        "how far popularity is undone, a number from 0 to inf",
        ("1", "0", "0.5", "inf"),
        keyword=True,
    ),
)

register(
    Declaration(
        "bpref",
        "ranks",
        "share of judged non-relevant test items below a relevant one, averaged over the relevant",
        r"\frac1R\sum_i(1-\min(n_i,R)/\min(N,R))",
        f"Buckley & Voorhees 2004; {_IN_BCC17}",
        f"{_WITHOUT_RELEVANT}; without non-relevant test item the share that is returned, in a 1R "
        "run 1 or 0",
        measure_binary_preference,
        cutoff="none",
    )
)
register(
    Declaration(
        "infAP",
        "ranks",
        "AP expected if judged items are a sample of a pool: of the first places and all judged "
        "items, or of everything",
        r"\frac1R\sum_i\frac1{k_i}\left(1+d_i\frac{rel_i+\epsilon}{rel_i+non_i+2\epsilon}\right)",
        f"Yilmaz & Aslam 2006; {_IN_BCC17}",
        f"{_WITHOUT_RELEVANT}; without judged item above a relevant one half of the pool counts as "
        "relevant",
        measure_inferred,
        cutoff="none",
        arguments=_POOL,
    )
)
register(
    Declaration(
        "infAP",
        "ranks",
        "infAP of 1R runs, expected over all samples of T-1 non-relevant items; tables of AN-1R "
        "only",
        r"E[(1+d/2)/\tau(i_r,T_u^r)]",
        f"{_IN_BCC17}, Sec. 3.1",
        OF_SAMPLES,
        measure_sampled_inferred,
        cutoff="none",
        arguments=_POOL,
        given=SAMPLE_SIZE,
        per=("run",),
    )
)
register(
    Declaration(
        "SR",
        "ranks",
        "recall of the first n places with items weighed by their unpopularity",
        r"\sum_{i\in top_n\cap PR_{test}(u)}w_i/\sum_{i\in PR_{test}(u)}w_i,\ "
        r"w_i=|PR(i)|^{-\gamma/(\gamma+1)}",
        f"Steck 2011; {_IN_BCC17}",
        f"{_WITHOUT_RELEVANT}; a 1R run weighs as its item does among the user's",
        measure_stratified,
        arguments=_GAMMA,
    )
)
register(
    Declaration(
        "SR",
        "ranks",
        "SR of 1R runs, expected over all samples of T-1 non-relevant items; tables of AN-1R only",
        r"E[\tau(i_r,T_u^r)\le n]\,w_{i_r}/avg_{r'}w_{i_{r'}}",
        f"{_IN_BCC17}, Sec. 3.1",
        OF_SAMPLES,
        measure_sampled_stratified,
        arguments=_GAMMA,
        given=SAMPLE_SIZE,
        per=("run",),
    )
)
