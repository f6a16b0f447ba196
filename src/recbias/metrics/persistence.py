r"""Metrics of a reader who goes on to the next place with probability :math:`\phi`.

Rank-biased precision (RBP) sums what that reader gains, rank-biased overlap (RBO) what two orders
have in common down to where the reader stops. Neither is divided by an ideal, so that a user with
much to find can reach more than one with little.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.metrics.arguments import open_share
from recbias.metrics.base import Argument, Declaration, Metric, register
from recbias.metrics.lists import RankView
from recbias.protocol.relevance import GainMap

__all__ = ["measure_overlap", "measure_persistent", "measure_residual"]

FloatArray = npt.NDArray[np.float64]


def measure_persistent(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure rank-biased precision, :math:`(1-\phi)\sum_k g(i_k)\phi^{k-1}`.

    Parameters
    ----------
    view : RankView
    metrics : sequence of Metric
        RBP with any phi, gain map and cutoff.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_units)
        0 where nothing with a gain is in the list.

    Raises
    ------
    ConfigError
        If the top of the scale is missing where a gain map needs it.

    References
    ----------
    A. Moffat & J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM
    TOIS 27 (2008), Eq. 3; CCM20 Sec. 3.6.

    Examples
    --------
    Relevant items at ranks 2 and 4 of four: (1 - .5) (.5 + .125).

    >>> from recbias.metrics import measure, parse_metric
    >>> from recbias.ranking import RankTable
    >>> table = RankTable(
    ...     per="user", n_users=1, user=np.zeros(3, np.int32), item=np.arange(3, dtype=np.int32),
    ...     value=np.array([5.0, 2.0, 4.0]), rank=np.array([2, 3, 4], np.int32),
    ...     condensed_rank=np.array([1, 2, 3], np.int32), n_targets=np.array([4], np.int32),
    ...     n_scored=np.array([4], np.int32))
    >>> texts = "RBP(0.5)", "RBPresidual(0.5)"
    >>> measure(table, [parse_metric(text) for text in texts], min_rating=4)[:, 0].tolist()
    [0.3125, 0.5625]
    """
    return view.per_unit(
        np.array([_gained(view, one, view.gains(one.gain), one.phi) for one in metrics])
    )


def measure_residual(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure by how much RBP could rise if all that is not known were worth a gain of 1.

    :math:`\phi^{len}+(1-\phi)\sum_{k:\,i_k\ unjudged}\phi^{k-1}`: the unjudged places of the list,
    and all places behind its end. What that leaves is what judged places weigh, whatever they gain:
    so it is 1 minus their weights, and does not depend on the length of the list.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user: in a run all but one item are taken to be judged.
    metrics : sequence of Metric
        RBPresidual with any phi and cutoff; places behind the cutoff are not known.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        1 where no judged item is in the list.

    References
    ----------
    Moffat & Zobel 2008, Sec. 4.4; CCM20 Sec. 3.6.

    Examples
    --------
    See :func:`measure_persistent`.
    """
    weight = np.ones(len(view.lists.rank))
    return np.array([1.0 - _gained(view, one, weight, one.phi) for one in metrics])


def _gained(view: RankView, metric: Metric, gains: FloatArray, phi: float) -> FloatArray:
    """Sum gains over each list, weighed by the chance that the reader looks there."""
    lists = view.lists
    listed = lists.rank > 0
    if metric.cutoff is not None:
        listed &= lists.rank <= metric.cutoff
    owner = np.repeat(np.arange(len(lists.n_listed)), np.diff(lists.first))[listed]
    weight = (1.0 - phi) * phi ** (lists.rank[listed] - 1.0)
    gained = np.bincount(owner, weight * gains[listed], minlength=len(lists.n_listed))
    return gained.astype(np.float64)  # without a row bincount returns integers


def measure_overlap(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure how much of a user's own order the order of the list shares, seen from the top.

    The condensed list, the user's test items in the order of the list, is compared with these items
    by rating, equal ones in the order of the list. With :math:`X_d` items common to the first d
    places of both orders of k items,

    .. math:: RBO = (1-\phi)\sum_{d=1}^{k}\phi^{d-1}\frac{X_d}{d} + \phi^{k}\frac{X_k}{k},

    where ``truncated`` is the sum alone, and a cutoff n takes the place of k if it is smaller.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user; full and condensed lists have the same value.
    metrics : sequence of Metric
        RBO with any phi, form and cutoff.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        In [0, 1]; NaN for a user of whose test items none is in the list.

    References
    ----------
    W. Webber, A. Moffat & J. Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28
    (2010), Eqs. 11 and 30; CCM20 Sec. 3.7.

    Examples
    --------
    The list has b, c, a, d, the user ratings for a, b, d, c: overlaps of 0, 1, 2 and 4.

    >>> from recbias.metrics import measure, parse_metric
    >>> from recbias.ranking import RankTable
    >>> table = RankTable(
    ...     per="user", n_users=1, user=np.zeros(4, np.int32), item=np.arange(4, dtype=np.int32),
    ...     value=np.array([5.0, 4.0, 2.0, 3.0]), rank=np.array([3, 1, 2, 4], np.int32),
    ...     condensed_rank=np.array([3, 1, 2, 4], np.int32), n_targets=np.array([4], np.int32),
    ...     n_scored=np.array([4], np.int32))
    >>> texts = "RBO(0.5)", "RBO(0.5,truncated)"
    >>> measure(table, [parse_metric(text) for text in texts], min_rating=4)[:, 0].round(6)
    array([0.333333, 0.270833])
    """
    lists = view.lists
    values = np.empty((len(metrics), len(lists.n_listed)))
    _overlaps(
        lists.first,
        lists.n_listed,
        view.ratings,
        np.array([metric.phi for metric in metrics]),
        np.array([metric.form == "truncated" for metric in metrics]),
        np.array([metric.cutoff or len(lists.rank) for metric in metrics], dtype=np.int64),
        values,
    )
    return values


@nb.njit(cache=True, nogil=True)
def _overlaps(
    first: npt.NDArray[np.int64],
    n_listed: npt.NDArray[np.int64],
    ratings: FloatArray,
    phis: FloatArray,
    truncated: npt.NDArray[np.bool_],
    cutoffs: npt.NDArray[np.int64],
    values: FloatArray,
) -> None:
    """Fill `values`, one column per user."""
    for user in range(len(n_listed)):
        length = n_listed[user]
        by_rating = np.argsort(-ratings[first[user] : first[user] + length], kind="mergesort")
        # An item is common to both orders from the deeper of its two places on.
        joins = np.zeros(length, dtype=np.int64)
        for place in range(length):
            joins[max(place, by_rating[place])] += 1
        for number in range(len(phis)):
            phi, depth = phis[number], min(length, cutoffs[number])
            if depth == 0:
                values[number, user] = np.nan
                continue
            common, total, weight = 0, 0.0, 1.0
            for place in range(depth):
                common += joins[place]
                total += weight * common / (place + 1)
                weight *= phi
            total *= 1.0 - phi
            values[number, user] = total if truncated[number] else total + weight * common / depth


def _parse_form(text: str) -> str:
    if text not in ("ext", "truncated"):
        raise ValueError(text)
    return text


_PHI = Argument(
    "phi",
    open_share,
    "the chance that a reader goes on to the next place, above 0 and below 1",
    ("0.8", "0.5", "0.9"),
)

register(
    Declaration(
        "RBP",
        "ranks",
        "gain of a reader who goes on to the next place with probability phi",
        r"(1-\phi)\sum_k g(i_k)\phi^{k-1}",
        "Moffat & Zobel 2008; CCM20 Sec. 3.6",
        "0 if nothing with a gain is in the list; not divided by an ideal",
        measure_persistent,
        cutoff="optional",
        arguments=(
            _PHI,
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
        "RBPresidual",
        "ranks",
        "by how much RBP could rise if everything unjudged, and all behind the end of the list, "
        "gained 1",
        r"\phi^{len}+(1-\phi)\sum_{k:\,i_k\notin R_{test}(u)}\phi^{k-1}",
        "Moffat & Zobel 2008; CCM20 Sec. 3.6",
        "1 if no judged item is in the list",
        measure_residual,
        cutoff="optional",
        arguments=(_PHI,),
        per=("user",),
        better=None,
    )
)
register(
    Declaration(
        "RBO",
        "ranks",
        "overlap, weighed to the top, of the test items by rank and by rating",
        r"(1-\phi)\sum_{d\le k}\phi^{d-1}X_d/d+\phi^kX_k/k",
        "Webber et al. 2010; CCM20 Sec. 3.7",
        "undefined if no test item is in the list, those outside are left out; equal ratings "
        "follow the list, so that it is 1 where all are equal; (phi,truncated) lacks the last term",
        measure_overlap,
        cutoff="optional",
        arguments=(
            _PHI,
            Argument("form", _parse_form, "ext or truncated", ("truncated", "ext"), default="ext"),
        ),
        per=("user",),
    )
)
