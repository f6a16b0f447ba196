"""Metrics that count what the user is known not to like, and what is known of a list at all.

An *anti-metric* is a metric on flipped relevance: relevant is what is judged and was not, and what
is not judged stays irrelevant. ``antiP`` is P so measured, and likewise for each metric of
:mod:`recbias.metrics.positive`; a metric of one's own is flipped by
:attr:`recbias.metrics.lists.RankView.flipped`. ``fallout`` is antiR with the rule of MCCRS20 for
users who disliked nothing, ``nDCL`` is antinDCG with graded losses.

``judged`` is the share of the list that is judged. What is given ``|judged`` is divided by the
judged items of the list instead of its length: that is how the authors of MCCRS20 condense.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.metrics.arguments import named_alone
from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import RankView
from recbias.metrics.positive import POSITIVE, measure_judged
from recbias.protocol.relevance import GainMap

__all__ = ["measure_anti", "measure_known", "measure_loss"]

FloatArray = npt.NDArray[np.float64]


def measure_anti(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure all users by metrics of flipped relevance, :math:`antiX = X` on it.

    An item is relevant to the anti-metric if it is judged and rated below the threshold. An
    unjudged item is relevant to neither.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user: runs know of no judged non-relevant item.
    metrics : sequence of Metric
        ``fallout``, or ``anti`` and a name in :data:`recbias.metrics.positive.POSITIVE`.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        NaN = undefined: a user without non-relevant test item, but for antiP, which is 0, and
        fallout, which is 0 by the rule of the authors' code: such users stay in every mean and
        lower it.

    References
    ----------
    MCCRS20 Sec. 3; TOIS21 (antiRR).

    Examples
    --------
    Liked, disliked, unrated, unrated; another disliked item is not in the list.

    >>> from recbias.metrics import measure, parse_metric
    >>> from recbias.ranking import RankTable
    >>> table = RankTable(
    ...     per="user", n_users=1, user=np.zeros(3, np.int32), item=np.array([0, 1, 9], np.int32),
    ...     value=np.array([5.0, 1.0, 2.0]), rank=np.array([1, 2, 0], np.int32),
    ...     condensed_rank=np.array([1, 2, 0], np.int32), n_targets=np.array([9], np.int32),
    ...     n_scored=np.array([9], np.int32))
    >>> texts = ("antiP@4", "antiR@4", "fallout@1", "antiRR", "judged@4", "antiP@4|judged")
    >>> measure(table, [parse_metric(text) for text in texts], min_rating=4)[:, 0]
    array([0.25, 0.5 , 0.  , 0.5 , 0.5 , 0.5 ])
    """
    flipped = view.flipped
    values = measure_judged(
        flipped.lists,
        ["R" if one.name == "fallout" else one.name.removeprefix("anti") for one in metrics],
        [one.cutoff for one in metrics],
        [flipped.gains(GainMap("binary"))] if any(m.name == "antinDCG" for m in metrics) else [],
    )
    is_fallout = np.array([one.name == "fallout" for one in metrics])
    values[is_fallout] = np.nan_to_num(values[is_fallout], nan=0.0)
    return values


def measure_loss(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure normalised discounted cumulative loss.

    :math:`nDCL@n = DCL@n / IDCL@n` with :math:`DCL@n = \sum_{k \le n} l(i_k) / \log_2(k + 1)`. The
    loss :math:`l` of an item is how far below the threshold it is rated; that of a liked or an
    unjudged item is 0. The ideal list is the worst: the largest losses among all test items first.
    The unit of the loss cancels: steps of half a star give what whole stars give.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user.
    metrics : sequence of Metric
        nDCL with any cutoffs or none.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        In [0, 1], lower is better; NaN for a user without non-relevant test item.

    References
    ----------
    TOIS21; the authors' code and spreadsheet. Their code applies the loss of a scale with four
    levels to every dataset.
    """
    loss = np.maximum(view.min_rating - view.ratings, 0.0)
    cutoffs = [one.cutoff for one in metrics]
    return measure_judged(view.lists, ["nDCG"] * len(metrics), cutoffs, [loss])


def measure_known(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure how much of a list is judged, and what is relevant among that.

    :math:`judged@n = |top_n \cap R_{test}(u)| / n`, which is P + antiP. ``P@n|judged`` is
    :math:`|top_n \cap PR_{test}(u)| / |top_n \cap R_{test}(u)|`, ``antiP@n|judged`` likewise with
    NR; the two add up to 1. In condensed lists, where all is judged, their denominator is the
    length of the list up to n: the condensed form of the authors of MCCRS20, who divide by tp + fp.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user.
    metrics : sequence of Metric
        Any cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        What is given ``|judged`` is NaN for a user with no judged item among the first n.
    """
    lists, n_users = view.lists, view.n_units
    owner = np.repeat(np.arange(n_users), np.diff(lists.first))
    values = np.full((len(metrics), n_users), np.nan)
    cutoffs = np.array([metric.cutoff for metric in metrics])
    for row, metric in enumerate(metrics):
        top = (lists.rank > 0) & (lists.rank <= cutoffs[row])
        judged = np.bincount(owner[top], minlength=n_users)
        if metric.name == "judged":
            values[row] = judged / cutoffs[row]
            continue
        of_kind = lists.positive if metric.name == "P" else ~lists.positive
        n_of_kind = np.bincount(owner[top & of_kind], minlength=n_users)
        np.divide(n_of_kind, judged, out=values[row], where=judged > 0)
    return values


_IN_MCCRS20 = "MCCRS20 Sec. 3"
_WITHOUT_NON_RELEVANT = "undefined for a user without non-relevant test item; 0 if none is returned"
_GIVEN_JUDGED = (named_alone("judged", "the name alone: only judged items count"),)
_ANTI = {
    "P": (
        "share of the first n places that hold a judged non-relevant item",
        r"|top_n\cap NR_{test}(u)|/n",
        "0 for a user without non-relevant test item; a shorter list is divided by n too",
    ),
    "R": (
        "share of the non-relevant test items that are among the first n",
        r"|top_n\cap NR_{test}(u)|/|NR_{test}(u)|",
        _WITHOUT_NON_RELEVANT,
    ),
    "nDCG": (
        "nDCG on flipped relevance: every judged non-relevant item gains 1",
        r"DCG@n/IDCG@n,\ g(i)=[i\in NR_{test}(u)]",
        _WITHOUT_NON_RELEVANT,
    ),
    "AP": (
        "AP on flipped relevance: antiP at the rank of each non-relevant test item, averaged",
        r"\frac1{|NR_{test}(u)|}\sum_{i\in top_n\cap NR_{test}(u)}antiP@\tau(i)",
        _WITHOUT_NON_RELEVANT,
    ),
    "RR": (
        "one over the rank of the first judged non-relevant item",
        r"1/\min_{i\in NR_{test}(u)}\tau(i)",
        _WITHOUT_NON_RELEVANT,
    ),
}

for _name in POSITIVE:
    _meaning, _formula, _edge_cases = _ANTI[_name]
    register(
        Declaration(
            f"anti{_name}",
            "ranks",
            _meaning,
            _formula,
            "TOIS21" if _name in ("nDCG", "AP", "RR") else _IN_MCCRS20,
            _edge_cases,
            measure_anti,
            cutoff="required" if _name in ("P", "R") else "optional",
            per=("user",),
            better="lower",
        )
    )
register(
    Declaration(
        "fallout",
        "ranks",
        "antiR, with a value for every user",
        r"|top_n\cap NR_{test}(u)|/|NR_{test}(u)|",
        _IN_MCCRS20,
        "0 for a user without non-relevant test item",
        measure_anti,
        per=("user",),
        better="lower",
    )
)
register(
    Declaration(
        "nDCL",
        "ranks",
        "loss of the list, discounted by rank, over that of the worst possible list",
        r"DCL@n/IDCL@n,\ DCL@n=\sum_{k\le n}\max(0,\theta-r(i_k))/\log_2(k+1)",
        "TOIS21",
        "undefined for a user without non-relevant test item; an unjudged item loses nothing",
        measure_loss,
        cutoff="optional",
        per=("user",),
        better="lower",
    )
)
register(
    Declaration(
        "judged",
        "ranks",
        "share of the first n places that hold a test item, relevant or not",
        r"|top_n\cap R_{test}(u)|/n",
        _IN_MCCRS20,
        "0 for a user without test item; a shorter list is divided by n too",
        measure_known,
        per=("user",),
        better=None,
    )
)
for _name, _set, _better in (("P", "PR", "higher"), ("antiP", "NR", "lower")):
    register(
        Declaration(
            _name,
            "ranks",
            f"{'relevant' if _name == 'P' else 'non-relevant'} share of the judged items among the "
            "first n; of condensed lists the form of MCCRS20",
            rf"|top_n\cap {_set}_{{test}}(u)|/|top_n\cap R_{{test}}(u)|",
            f"{_IN_MCCRS20} and the authors' code",
            "undefined for a user with no judged item among the first n",
            measure_known,
            given=_GIVEN_JUDGED,
            per=("user",),
            better=_better,  # type: ignore[arg-type]
        )
    )
