"""All metrics and cutoffs in one pass over a table of ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.metrics.base import Metric
from recbias.metrics.false_positive import FALSE_POSITIVE, measure_false_positive
from recbias.metrics.lists import JudgedLists, list_order
from recbias.metrics.positive import POSITIVE, measure_positive
from recbias.ranking import RankTable
from recbias.relevance import relevant

__all__ = ["measure"]

FloatArray = npt.NDArray[np.float64]


def measure(
    table: RankTable,
    metrics: Sequence[Metric],
    *,
    min_rating: float,
    condensed: bool = False,
    rating_max: float | None = None,
) -> FloatArray:
    """Measure every user, or every 1R run, by all metrics in one pass over the ranks.

    A test item of rank 0 is not in the list; it still counts among the relevant items of recall and
    AP and in the ideal list of nDCG, which hold *all* test items of the user. P@n and antiP@n
    divide by n always, in condensed lists and in lists shorter than n too. (The code of MCCRS20
    divides condensed precision by the number of items that there are.)

    A run holds one relevant item and nothing else that is judged, whatever its grade: the value of
    a run at rank r is that of a user whose only test item is relevant and has rank r, so AP = RR.

    Parameters
    ----------
    table : RankTable
        Ranks of test ratings, rows sorted by user.
    metrics : sequence of Metric
        What to measure, in the order of the result's rows.
    min_rating
        Ratings from here on are relevant. For runs: that with which the table was ranked.
    condensed
        Use the ranks among test items instead of those in the full list.
    rating_max
        Top of the rating scale, for the gain map ``exp``.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users) or, for runs, (n_metrics, n_rows)
        NaN where undefined: R, AP and RR of a user without relevant test item, nDCG of one without
        any gain in test (with binary gains the same users). P and antiP are 0 there.

    Raises
    ------
    ConfigError
        If antiP is asked of runs, which hold only their relevant item; if a run's rating is below
        `min_rating`; if `rating_max` is missing where the gain map needs it.

    See Also
    --------
    recbias.aggregation.aggregate : from these values to one per system.

    References
    ----------
    BCC17 Sec. 3.1-3.2 (P, runs, Eq. 1); CCM20 Sec. 3.6 (nDCG and gains); MCCRS20 Sec. 3 (antiP).

    Examples
    --------
    One user, list `a b c d`; b and d are rated 5, c is rated 2, a is not rated; cut after two.

    >>> from recbias.metrics import parse_metric
    >>> table = RankTable(
    ...     per="user", n_users=1, user=np.zeros(3, np.int32), item=np.array([1, 2, 3], np.int32),
    ...     value=np.array([5.0, 2.0, 5.0]), rank=np.array([2, 3, 4], np.int32),
    ...     condensed_rank=np.array([1, 2, 3], np.int32), n_targets=np.array([4], np.int32),
    ...     n_scored=np.array([4], np.int32))
    >>> metrics = [parse_metric(text) for text in ("P@2", "R@2", "RR", "AP", "antiP@2")]
    >>> measure(table, metrics, min_rating=4)[:, 0]
    array([0.5, 0.5, 0.5, 0.5, 0. ])
    >>> measure(table, metrics, min_rating=4, condensed=True)[:, 0].round(3)
    array([0.5  , 0.5  , 1.   , 0.833, 0.5  ])
    """
    rank = table.condensed_rank if condensed else table.rank
    positive = relevant(table.value, min_rating)
    gain_maps = dict.fromkeys(metric.gain for metric in metrics if metric.name == "nDCG")
    if table.per == "user":
        order, first, n_listed = list_order(table)
        value = table.value[order]
        gains = {
            gain_map: gain_map.gains(value, min_rating=min_rating, rating_max=rating_max)
            for gain_map in gain_maps
        }
        return _measure_lists(
            JudgedLists(first, n_listed, rank[order], positive[order], gains), metrics
        )

    if not positive.all():
        raise ConfigError(
            f"min_rating {min_rating}: a run of the table has rating {table.value.min()}, it was "
            "ranked for a lower threshold; rank again with this one"
        )
    if any(metric.name in FALSE_POSITIVE for metric in metrics):
        raise ConfigError(
            "metric antiP: a 1R table holds no rank but that of the relevant item of each run; "
            "measure antiP on AR target sets"
        )
    every_rank = np.arange(rank.max(initial=0) + 1, dtype=np.int32)
    one = np.ones(len(every_rank))
    by_rank = _measure_lists(
        JudgedLists(
            first=np.arange(len(every_rank) + 1),
            n_listed=np.minimum(every_rank, 1).astype(np.int64),
            rank=every_rank,
            positive=one > 0,
            gains=dict.fromkeys(gain_maps, one),
        ),
        metrics,
    )
    return np.take(by_rank, rank, axis=1)


def _measure_lists(lists: JudgedLists, metrics: Sequence[Metric]) -> FloatArray:
    values = np.empty((len(metrics), len(lists.n_listed)))
    for names, measure_family in (
        (POSITIVE, measure_positive),
        (FALSE_POSITIVE, measure_false_positive),
    ):
        rows = [number for number, metric in enumerate(metrics) if metric.name in names]
        if rows:
            values[rows] = measure_family(lists, [metrics[number] for number in rows])
    return values
