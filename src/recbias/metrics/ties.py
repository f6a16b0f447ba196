"""Expectations over ties: the mean of a metric over all orders of items with equal scores.

What is not given ``|ties`` is of one such order, drawn at random. The closed forms are those of
McSherry & Najork: a group of m equals behind a items has the places a + 1 to a + m, and each of its
items stands on each of them with the chance 1/m. Sums over items need no more; what asks for the
first relevant item needs how many of the group are relevant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.metrics.arguments import named_alone
from recbias.metrics.base import Declaration, Metric, parse_metric, register
from recbias.metrics.lists import RankView
from recbias.protocol.relevance import GainMap

__all__ = ["measure_first_over_ties", "measure_sums_over_ties"]

FloatArray = npt.NDArray[np.float64]


def measure_sums_over_ties(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure the expectation of sums over items: P, R and nDCG over all orders of equals.

    The chance of an item to be among the first n is :math:`\min(1, \max(0, (n-a)/m))`, and its
    discount is the mean of that of its places, 0 beyond n.

    Parameters
    ----------
    view : RankView
        Of a table with :attr:`recbias.ranking.RankTable.ties`.
    metrics : sequence of Metric
        P, R or nDCG, given ``|ties``.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_units)
        NaN where the metric without ``|ties`` is undefined.

    Raises
    ------
    ConfigError
        If the table does not know ties, or the top of the scale is missing where a gain map needs
        it.

    References
    ----------
    F. McSherry & M. Najork, "Computing information retrieval performance measures efficiently in
    the presence of tied scores", ECIR (2008), Sec. 3.

    Examples
    --------
    Behind one better item three share the places 2 to 4, and one of them is relevant.

    >>> from recbias.metrics import measure, parse_metric
    >>> from recbias.ranking import RankTable, Ties
    >>> one = np.ones(1, np.int32)
    >>> table = RankTable("user", 1, 0 * one, 0 * one, np.array([5.0]), 4 * one, one, 4 * one,
    ...                   4 * one, ties=Ties(2 * one, 3 * one, one, one))
    >>> texts = ("P@3|ties", "R@3|ties", "nDCG@3|ties", "HR@3|ties", "RR|ties", "P@3")
    >>> measure(table, [parse_metric(text) for text in texts], min_rating=4)[:, 0].round(3)
    array([0.222, 0.667, 0.377, 0.667, 0.361, 0.   ])
    """
    first, size = view.tied_places
    unit = _units(view)
    listed = first > 0
    longest = int((first + size).max(initial=1))
    deepest = max([longest, len(unit), *(metric.cutoff or 0 for metric in metrics)]) + 1
    discount = 1.0 / np.log2(np.arange(1, deepest + 1) + 1)
    through = np.concatenate([[0.0], np.cumsum(discount)])
    n_relevant = np.bincount(unit[view.positive], minlength=view.n_units)
    values = np.full((len(metrics), view.n_units), np.nan)
    for row, metric in enumerate(metrics):
        cutoff = deepest if metric.cutoff is None else metric.cutoff
        before, behind = (np.minimum(place, cutoff) for place in (first - 1, first - 1 + size))
        share = np.where(listed, 1.0 / np.maximum(size, 1), 0.0)
        if metric.name == "nDCG":
            gains = _gains(view, metric.gain)
            worth = gains * share * (through[behind] - through[np.maximum(before, 0)])
            ideal = _ideal(unit, gains, discount, cutoff, view.n_units)
        else:
            worth = view.positive * share * (behind - before)
            divisor = np.full(view.n_units, cutoff) if metric.name == "P" else n_relevant
            ideal = divisor.astype(np.float64)
        total = np.bincount(unit, worth, view.n_units).astype(np.float64)
        np.divide(total, ideal, out=values[row], where=ideal > 0)
    return values


def measure_first_over_ties(view: RankView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure the expectation of what the first relevant item decides, HR and RR, over ties.

    In the first group that holds relevant items, r of m, the first of them is the j-th with the
    chance :math:`\binom{m-j}{r-1}/\binom mr`.

    Parameters
    ----------
    view : RankView
        Of a table with :attr:`recbias.ranking.RankTable.ties`.
    metrics : sequence of Metric
        HR or RR, given ``|ties``.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_units)
        NaN for a user without relevant test item.

    Raises
    ------
    ConfigError
        If the table does not know ties.

    References
    ----------
    F. McSherry & M. Najork, ECIR (2008), Sec. 3.
    """
    first, size = view.tied_places
    unit = _units(view)
    shown = view.positive & (first > 0)
    place = np.full(view.n_units, np.iinfo(np.int32).max, dtype=np.int32)
    np.minimum.at(place, unit[shown], first[shown])
    is_first = shown & (first == place[unit])
    n_relevant = np.bincount(unit[is_first], minlength=view.n_units)
    n_tied = np.zeros(view.n_units, dtype=np.int64)
    n_tied[unit[is_first]] = size[is_first]
    values = np.empty((len(metrics), view.n_units))
    for row, metric in enumerate(metrics):
        cutoff = np.iinfo(np.int32).max if metric.cutoff is None else metric.cutoff
        _fill_first(place, n_tied, n_relevant, cutoff, metric.name == "RR", values[row])
    values[:, np.bincount(unit[view.positive], minlength=view.n_units) == 0] = np.nan
    return values


@nb.njit(cache=True, nogil=True)
def _fill_first(
    place: npt.NDArray[np.int32],
    n_tied: npt.NDArray[np.int64],
    n_relevant: npt.NDArray[np.int64],
    cutoff: int,
    is_reciprocal: bool,
    values: FloatArray,
) -> None:
    """Sum over the places of the first relevant item; the chance of each follows from the last."""
    for unit in range(len(place)):
        total, passed = 0.0, 1.0
        size, relevant = n_tied[unit], n_relevant[unit]
        for step in range(size - relevant + 1 if relevant > 0 else 0):
            rank = place[unit] + step
            if rank > cutoff:
                break
            here = passed * relevant / (size - step)
            total += here / rank if is_reciprocal else here
            passed -= here
        values[unit] = total


def _units(view: RankView) -> npt.NDArray[np.int64]:
    """Give the number of the unit that each row of the table belongs to."""
    rows = view.table.user if view.table.per == "user" else np.arange(len(view.table.user))
    return rows.astype(np.int64)


def _gains(view: RankView, gain_map: GainMap) -> FloatArray:
    """Gains of the table's rows, in their order; 1 in runs, whatever the grade."""
    if view.table.per == "run":
        return np.ones(len(view.table.user))
    return gain_map.gains(view.table.value, min_rating=view.min_rating, rating_max=view.rating_max)


def _ideal(
    unit: npt.NDArray[np.int64], gains: FloatArray, discount: FloatArray, cutoff: int, n_units: int
) -> FloatArray:
    """Sum the discounted gains of each unit's best list, which holds all of its rows."""
    order = np.lexsort((-gains, unit))
    owner = unit[order]
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    worth = np.where(place < cutoff, gains[order] * discount[place], 0.0)
    return np.bincount(owner, worth, n_units).astype(np.float64)


_TIES = (named_alone("ties", "expected over all orders of equal scores"),)
_UNDEFINED = "as in one order; rankings of whole target sets only"

for _name, _function in (
    ("P", measure_sums_over_ties),
    ("R", measure_sums_over_ties),
    ("nDCG", measure_sums_over_ties),
    ("HR", measure_first_over_ties),
    ("RR", measure_first_over_ties),
):
    _plain = parse_metric(f"{_name}@1").declaration
    register(
        Declaration(
            _name,
            "ranks",
            f"{_name}, expected over all orders of items with equal scores",
            rf"E_{{ties}}[{_name}]",
            "McSherry & Najork 2008",
            _UNDEFINED,
            _function,
            cutoff=_plain.cutoff,
            arguments=_plain.arguments,
            given=_TIES,
        )
    )
