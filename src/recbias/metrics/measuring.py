"""All metrics of a kind and their cutoffs in one pass over ranks, lists or counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from recbias._system.memory import row_blocks
from recbias.errors import ConfigError, ContractError
from recbias.metrics.base import Kind, Metric
from recbias.metrics.lists import ListView, RankView, item_counts
from recbias.ranking import RankTable

__all__ = ["influence", "measure", "measure_items", "measure_resampled", "measure_system"]

FloatArray = npt.NDArray[np.float64]

CHUNK_BYTES = 2**26
"""Item counts held at once while metrics of the system are resampled."""

_MEASURED_BY = {
    "ranks": "measure, from ranks",
    "items": "measure_items, from lists",
    "system": "measure_system, from counts of lists",
}


def measure(
    table: RankTable,
    metrics: Sequence[Metric],
    *,
    min_rating: float,
    condensed: bool = False,
    rating_max: float | None = None,
    relevant_counts: npt.NDArray[np.int64] | None = None,
) -> FloatArray:
    """Measure every user, or every 1R run, by all metrics in one pass over the ranks.

    A test item of rank 0 is not in the list; it still counts among the relevant items of recall and
    AP and in the ideal list of nDCG, which hold *all* test items of the user. P@n and antiP@n
    divide by n always, in condensed lists and in lists shorter than n too. P@n|judged and
    antiP@n|judged divide by the judged items among the first n: in condensed lists the form of
    MCCRS20, whose code divides by tp + fp. Only these two add up to 1 in condensed lists of any
    length.

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
    relevant_counts : ndarray of int64, shape (n_items,), optional
        Relevant ratings of each item in training and test, for SR:
        `recbias.theory.relevant_counts`.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users) or, for runs, (n_metrics, n_rows)
        NaN where undefined: R, AP, RR, bpref, infAP and SR of a user without relevant test item,
        nDCG of one without any gain in test (with binary gains the same users), likewise their
        anti-metrics and nDCL of a user without non-relevant test item; what is given ``|judged`` of
        one with no judged item among the first n. P, antiP, judged and fallout are 0 there.

    Raises
    ------
    ConfigError
        If a metric is of another kind, or is not defined for such a table (antiP and others of
        runs, which hold only their relevant item; bounds of runs that are none); if a run's rating
        is below `min_rating`; if `rating_max` is missing where the gain map needs it, or
        `relevant_counts` where SR does.
    ContractError
        If a metric's function returns another shape or dtype.

    See Also
    --------
    measure_items, measure_system : metrics of lists of items.
    recbias.metrics.aggregation.aggregate : from these values to one per system.

    References
    ----------
    BCC17 Sec. 3.1-3.2 (P, runs, Eq. 1) and 7 (bpref, infAP, SR); CCM20 Sec. 3.6 (nDCG and gains);
    MCCRS20 Sec. 3 (antiP, fallout, the condensed form); TOIS21 (antiRR, nDCL).

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

    Only three items are judged, so that P@4 and antiP@4 of the condensed list end at 3/4:

    >>> texts = ("P@4", "antiP@4", "P@4|judged", "antiP@4|judged")
    >>> metrics = [parse_metric(text) for text in texts]
    >>> measure(table, metrics, min_rating=4, condensed=True)[:, 0].round(3)
    array([0.5  , 0.25 , 0.667, 0.333])
    """
    view = RankView(table, min_rating, condensed, rating_max, relevant_counts)
    for metric in metrics:
        _require_table(metric, table)
    if table.per == "run" and not view.positive.all():
        raise ConfigError(
            f"min_rating {min_rating}: a run of the table has rating {table.value.min()}, it was "
            "ranked for a lower threshold; rank again with this one"
        )
    return _by_function("ranks", metrics, view.n_units, lambda function, some: function(view, some))


def measure_items(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure the list of every user by metrics of kind ``items``.

    Whether lists are what a protocol ranks is the caller's to know: condensed lists, runs and
    sampled target sets are not what a user is shown.

    Parameters
    ----------
    view : ListView
    metrics : sequence of Metric
        In the order of the result's rows.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        NaN where undefined: the list is empty.

    Raises
    ------
    ConfigError
        If a metric is of another kind, or looks deeper than the lists were kept.
    ContractError
        If a metric's function returns another shape or dtype.

    Examples
    --------
    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[2, 0], [0, 1]], np.int32), 3, np.array([5, 1, 10]))
    >>> measure_items(view, [parse_metric("ARP@2")])
    array([[7.5, 3. ]])
    """
    return _by_function(
        "items", metrics, len(view.items), lambda function, some: function(view, some)
    )


def measure_system(counts: FloatArray, view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    """Measure the lists of all users together by metrics of kind ``system``.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_rows, n_items)
        From :func:`recbias.metrics.item_counts` with the cutoff of the metrics; sums over folds.
    view : ListView
        The lists that were counted.
    metrics : sequence of Metric
        Of one cutoff, in the order of the result's rows.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_rows)
        NaN where undefined.

    Raises
    ------
    ConfigError
        If a metric is of another kind, or the cutoffs differ.
    ContractError
        If `counts` are not of this catalogue, or a metric's function returns another shape or
        dtype.

    See Also
    --------
    measure_resampled : all cutoffs and many weightings of the users.
    influence : from which intervals are made.

    Examples
    --------
    >>> from recbias.metrics import item_counts, parse_metric
    >>> view = ListView(np.array([[2, 0], [2, 1]], np.int32), 4, np.array([5, 1, 10, 0]))
    >>> metrics = [parse_metric("Gini@2"), parse_metric("Coverage@2")]
    >>> measure_system(item_counts(view, 2), view, metrics)
    array([[0.375],
           [0.75 ]])
    """
    if len({metric.cutoff for metric in metrics}) > 1:
        raise ConfigError(
            f"{', '.join(map(str, metrics))}: item counts belong to one cutoff; measure each apart"
        )
    if counts.ndim != 2 or counts.shape[1] != view.n_items:
        raise ContractError(
            f"item counts have shape {counts.shape}, expected (n_rows, {view.n_items})"
        )
    return _by_function(
        "system", metrics, len(counts), lambda function, some: function(counts, view, some)
    )


def measure_resampled(
    view: ListView, metrics: Sequence[Metric], weights: npt.NDArray[np.integer]
) -> FloatArray:
    """Measure the system for many weightings of the users, at all cutoffs of the metrics.

    Parameters
    ----------
    view : ListView
    metrics : sequence of Metric
        Of kind ``system``, in the order of the result's rows.
    weights : ndarray of int, shape (n_rows, n_users)
        How often each user counts; from :func:`recbias.stats.resampling.bootstrap_weights`, or
        zeros and ones to leave users out.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_rows)
        Of resampled users these are shifted, and no ground for an interval: see :func:`influence`.

    Raises
    ------
    ConfigError, ContractError
        As :func:`measure_system` and :func:`recbias.metrics.item_counts` do.

    Examples
    --------
    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[2, 0], [2, 1]], np.int32), 4, np.array([5, 1, 10, 0]))
    >>> measure_resampled(view, [parse_metric("Coverage@2")], np.array([[1, 1], [2, 0]]))
    array([[0.75, 0.5 ]])
    """
    values = np.empty((len(metrics), len(weights)))
    by_cutoff: dict[int | None, list[int]] = {}
    for row, metric in enumerate(metrics):
        _require_kind(metric, "system")
        by_cutoff.setdefault(metric.cutoff, []).append(row)
    for cutoff, rows in by_cutoff.items():
        some = [metrics[row] for row in rows]
        for part in row_blocks(len(weights), 8 * view.n_items, CHUNK_BYTES):
            counts = item_counts(view, cutoff, weights[part])
            values[rows, part] = measure_system(counts, view, some)
    return values


def influence(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure how much each user moves metrics of the system: the jackknife.

    :math:`I_u = (n-1)(\theta-\theta_{(u)})`, less its mean, with :math:`\theta_{(u)}` the value
    without user u. A mean over users of :math:`\theta + I_u` is :math:`\theta`: so written, a
    metric that is no mean is resampled like one, by
    :func:`recbias.stats.resampling.linear_replicates`. Its replicates lie around the observed
    value, as those of values resampled do not, and differences between systems stay paired. The
    jackknife never expects too small a variance (Efron & Stein).

    Parameters
    ----------
    view : ListView
    metrics : sequence of Metric
        Of kind ``system``, in the order of the result's rows.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        Rows add up to 0. NaN where the metric is undefined without one of the users. Those of
        several folds may be averaged, like the values.

    Raises
    ------
    ConfigError, ContractError
        As :func:`measure_system` and :func:`recbias.metrics.item_counts` do.

    References
    ----------
    B. Efron & C. Stein, "The jackknife estimate of variance", Ann. Statist. 9 (1981); B. Efron &
    R. Tibshirani, "An introduction to the bootstrap" (1993), Sec. 20.6 (linear replicates).

    Examples
    --------
    Without the first user 2 of the 4 items are covered instead of 3; nobody needs the others.

    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[2, 0], [2, 1], [2, 1]], np.int32), 4, np.array([5, 1, 10, 0]))
    >>> print(influence(view, [parse_metric("Coverage@2")]).round(3))
    [[ 0.333 -0.167 -0.167]]
    """
    n_users = len(view.items)
    everybody = np.ones((1, n_users), dtype=np.uint8)
    values = measure_resampled(view, metrics, everybody)
    if n_users == 0:
        return np.empty((len(metrics), 0))
    without = np.empty((len(metrics), n_users))
    for row, metric in enumerate(metrics):
        one = metric.declaration.without_each
        without[row] = (one(view, [metric]) if one else _one_by_one(view, metric))[0]
    moved = (n_users - 1) * (values - without)
    return moved - moved.mean(axis=1, keepdims=True)


def _one_by_one(view: ListView, metric: Metric) -> FloatArray:
    n_users = len(view.items)
    parts = []
    for users in row_blocks(n_users, 8 * n_users, CHUNK_BYTES):
        left_out = np.arange(users.start, users.stop)
        weights = np.ones((len(left_out), n_users), dtype=np.uint8)
        weights[np.arange(len(left_out)), left_out] = 0
        parts.append(measure_resampled(view, [metric], weights))
    return np.hstack(parts)


def _require_kind(metric: Metric, kind: Kind) -> None:
    if metric.kind != kind:
        raise ConfigError(
            f"metric {metric} is of kind {metric.kind}, not {kind}: it is measured by "
            f"{_MEASURED_BY[metric.kind]}"
        )


def _require_table(metric: Metric, table: RankTable) -> None:
    _require_kind(metric, "ranks")
    if table.per in metric.declaration.per:
        return
    if table.per == "run":
        raise ConfigError(
            f"metric {metric}: a 1R table holds no rank but that of the relevant item of each run; "
            f"measure {metric.name} on AR target sets"
        )
    raise ConfigError(f"{metric} needs a table of runs (1R), this one has a set per user (AR)")


def _by_function(
    kind: Kind,
    metrics: Sequence[Metric],
    n_units: int,
    call: Callable[[Callable[..., FloatArray], list[Metric]], FloatArray],
) -> FloatArray:
    """Call each function once, with all metrics that share it, and put the rows in order."""
    families: dict[Callable[..., FloatArray], list[int]] = {}
    for row, metric in enumerate(metrics):
        _require_kind(metric, kind)
        families.setdefault(metric.declaration.measure, []).append(row)
    values = np.empty((len(metrics), n_units))
    for function, rows in families.items():
        some = [metrics[row] for row in rows]
        measured = call(function, some)
        expected = (len(rows), n_units)
        if getattr(measured, "dtype", None) != np.float64 or measured.shape != expected:
            raise ContractError(
                f"metric {some[0]}: {function.__name__} returned "
                f"{getattr(measured, 'dtype', type(measured).__name__)} "
                f"{getattr(measured, 'shape', '')}, expected float64 {expected}"
            )
        if len(families) == 1:
            return measured
        values[rows] = measured
    return values
