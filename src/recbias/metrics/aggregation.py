"""From values per user or per run to one value per system, with a named population.

Who is averaged over decides the number as much as the metric does (BCC17 counts every user, the
authors of MCCRS20 every user with a test rating), so that a mean here always names its population:

============ ============================================================= ==================
population   members                                                       undefined values
============ ============================================================= ==================
``all``      every user of the dataset                                     count as 0
``tested``   users with a test rating                                      count as 0
``trained``  users with a training rating                                  count as 0
``relevant`` users with a relevant test rating                             (none there)
``runs``     every 1R run: a micro average in which a user weighs as much  (none there)
             as they have relevant test ratings (BCC17 Eq. 1)
``groups``   every group of 1R runs by their item: the mean of the groups' (none there)
             micro averages; groups without a run are left out (P1R)
============ ============================================================= ==================

All but groups can be of users with so many training ratings only, as ``relevant,trained>=5``.

Users may weigh by their test ratings, and the statistic may be another than the mean: an
:class:`Averaging` names all three.

A value is a ratio of two sums over users. Kept apart, both can be re-weighted, and resampling users
gives its interval, for runs too: those of one user are drawn together, because they depend on each
other. So :func:`contributions` says what each user adds, in columns that add up over folds, and
:func:`finish` what the (weighted) sums amount to. A median is no function of sums:
:func:`units` and :func:`recbias.stats.resampling.weighted_medians` are its path.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError, ContractError, unknown_name
from recbias.protocol.averaging import POPULATIONS, Averaging
from recbias.protocol.relevance import relevant
from recbias.ranking import RankTable
from recbias.stats.resampling import weighted_medians, weighted_sums

__all__ = [
    "POPULATIONS",
    "Averaging",
    "aggregate",
    "contributions",
    "finish",
    "has_trained",
    "replicates",
    "units",
    "user_sums",
    "weighted_units",
]

FloatArray = npt.NDArray[np.float64]

REVISION = 2
"""Raised when code changes what averages, resampling or paired tests give for the same tables."""


def user_sums(
    table: RankTable, values: FloatArray, *, min_rating: float, population: str
) -> tuple[FloatArray, FloatArray]:
    """Split an average into what each user adds to its numerator and to its denominator.

    Parameters
    ----------
    table : RankTable
        The table that was measured.
    values : ndarray of float64, shape (n_metrics, n_users) or, for runs, (n_metrics, n_rows)
        Result of :func:`recbias.metrics.measure`; NaN = undefined.
    min_rating
        Threshold of relevance, that of the measurement.
    population
        ``"all"``, ``"tested"``, ``"relevant"``, ``"trained"`` or ``"runs"``. Of 1R tables all but
        the last average over users the mean of their runs; they do not know ``"tested"``.

    Returns
    -------
    numerator : ndarray of float64, shape (n_metrics, n_users)
    denominator : ndarray of float64, shape (n_users,)
        1 or 0 for a user inside or outside the population; for ``"runs"`` their number of runs.
        ``denominator.sum()`` is the size of the population, and ``numpy.count_nonzero`` of it the
        number of users that carry it.

    Raises
    ------
    ConfigError
        If the population is unknown, is ``"runs"`` for a table with one target set per user, or is
        ``"tested"`` for a table of runs (which holds relevant test ratings only).

    See Also
    --------
    aggregate : the ratio of the two sums.
    replicates : the ratio under many weightings of the users.

    References
    ----------
    BCC17 Sec. 3.1-3.2, Eq. 1.
    """
    if population not in POPULATIONS:
        raise unknown_name("population", population, POPULATIONS)
    if population == "groups":
        raise ConfigError("population 'groups': not one ratio; use contributions, with groups")
    if table.per == "run":
        return _sums_of_runs(table, values, population)
    if population == "runs":
        raise _no_runs(population)
    member = np.ones(table.n_users, dtype=bool)
    if population == "tested":
        member = np.bincount(table.user, minlength=table.n_users) > 0
    elif population == "relevant":
        positives = table.user[relevant(table.value, min_rating)]
        member = np.bincount(positives, minlength=table.n_users) > 0
    elif population == "trained":
        member = _trained(table)
    numerator = np.where(member & ~np.isnan(values), values, 0.0)
    return numerator, member.astype(np.float64)


def _sums_of_runs(
    table: RankTable, values: FloatArray, population: str
) -> tuple[FloatArray, FloatArray]:
    if population == "tested":
        raise ConfigError(
            "population 'tested': a table of runs (1R) does not know users whose test ratings are "
            "all non-relevant; use runs, relevant or all"
        )
    runs = np.bincount(table.user, minlength=table.n_users).astype(np.float64)
    first = np.flatnonzero(np.diff(table.user, prepend=-1))  # rows are sorted by user
    sums = np.zeros((len(values), table.n_users))
    sums[:, table.user[first]] = np.add.reduceat(values, first, axis=1)
    if population == "runs":
        return sums, runs
    member = np.ones_like(runs) if population == "all" else (runs > 0).astype(np.float64)
    if population == "trained":
        member = _trained(table).astype(np.float64)
    return sums / np.maximum(runs, 1.0), member


def _trained(table: RankTable) -> npt.NDArray[np.bool_]:
    return _n_trained(table) > 0


def _n_trained(table: RankTable) -> npt.NDArray[np.int64]:
    if table.trained is None:
        raise ConfigError(
            "population 'trained': the table does not know who has training ratings; give its "
            "attribute trained"
        )
    return table.trained


def has_trained(table: RankTable, averaging: Averaging) -> npt.NDArray[np.bool_]:
    """Tell which users have as many training ratings as an averaging asks for."""
    if not averaging.trained:
        return np.ones(table.n_users, dtype=bool)
    return averaging.has_trained(_n_trained(table))


def _served(table: RankTable, *, condensed: bool) -> npt.NDArray[np.bool_]:
    """Tell who has a list: with one item at least, or with one that they rated in test."""
    if table.per == "run":
        raise ConfigError("coverage=reduced: it leaves out users without a list, not runs")
    if not condensed:
        return table.n_scored > 0
    listed = table.user[table.condensed_rank > 0]
    return np.bincount(listed, minlength=table.n_users) > 0


def _no_runs(population: str) -> ConfigError:
    return ConfigError(
        f"population {population!r}: the table has one target set per user (AR), not one per run; "
        "use all, tested or relevant"
    )


def _user_weights(table: RankTable, weights: str, min_rating: float) -> FloatArray:
    if weights == "ratings" and table.per == "run":
        raise ConfigError(
            "weights=ratings: a table of runs (1R) holds relevant test ratings only; "
            "use weights=relevant"
        )
    user = table.user
    if weights == "relevant" and table.per == "user":
        user = user[relevant(table.value, min_rating)]
    return np.bincount(user, minlength=table.n_users).astype(np.float64)


def contributions(
    table: RankTable,
    values: FloatArray,
    averaging: Averaging,
    *,
    min_rating: float,
    group: npt.NDArray[np.integer] | None = None,
    n_groups: int = 1,
    skip_undefined: bool = False,
    condensed: bool = False,
) -> FloatArray:
    """Write measured values as what each user adds to sums that decide the average.

    Columns of several folds, of the same users, are combined by adding them.

    Parameters
    ----------
    table : RankTable
        The table that was measured; for metrics of kind ``items``, that of the lists' users.
    values : ndarray of float64, shape (n_metrics, n_users) or, for runs, (n_metrics, n_rows)
        NaN = undefined.
    averaging : Averaging
        Of mean or geometric mean.
    min_rating
        Threshold of relevance, that of the measurement.
    group : ndarray of int, shape (n_rows,), optional
        Group of each run, from 0, for the population ``"groups"``; -1 = in none.
    n_groups
        Number of groups, the same for all folds.
    skip_undefined
        Leave undefined values out instead of counting them as 0: each metric then has a
        denominator of its own. For metrics of kind ``items``, where NaN means that there is no
        list.
    condensed
        Whether the lists were condensed; a reduced average leaves out users without one.

    Returns
    -------
    ndarray of float64, shape (n_columns, n_users)
        For each group (one, but for ``"groups"``) a numerator of every metric, then one denominator
        (or, with `skip_undefined`, one for every metric).

    Raises
    ------
    ConfigError
        If the table does not know the population or the weights, a median is asked for, or groups
        are missing; if undefined values of runs are to be skipped, which have none.
    ContractError
        If `group` has another length or a group outside of -1 to ``n_groups - 1``.

    See Also
    --------
    finish : from sums of these columns to values.
    recbias.stats.resampling.weighted_sums : the sums for many weightings of the users.
    units : the path of the median.

    References
    ----------
    BCC17 Eq. 1, Sec. 5 (P1R); CCM20 Sec. 3.8.

    Examples
    --------
    Users with values .2, .4 and .6 and 1, 1 and 8 ratings: .54, where the plain mean is .4.

    >>> user = np.repeat(np.arange(3), [1, 1, 8]).astype(np.int32)
    >>> some, three = np.arange(10, dtype=np.int32), np.full(3, 10, np.int32)
    >>> table = RankTable("user", 3, user, some, np.full(10, 5.0), some, some, three, three)
    >>> averaging = Averaging(weights="ratings")
    >>> columns = contributions(table, np.array([[0.2, 0.4, 0.6]]), averaging, min_rating=4)
    >>> print(finish(columns.sum(axis=1), averaging, n_metrics=1).round(6))
    [0.54]
    """
    averaging = averaging.resolved(table.per)
    if averaging.statistic == "median":
        raise ConfigError(
            "statistic=median: a median is no function of sums; use units and weighted_medians"
        )
    if averaging.population == "groups":
        return _columns_of_groups(table, values, group, n_groups)
    defined = _defined(table, values, averaging.population) if skip_undefined else None
    epsilon = averaging.epsilon
    if epsilon is not None and averaging.population == "runs":
        values = np.log(values + epsilon)
    numerator, denominator = user_sums(
        table, values, min_rating=min_rating, population=averaging.population
    )
    if epsilon is not None and averaging.population != "runs":
        numerator = np.where(denominator > 0, np.log(numerator + epsilon), 0.0)
    if averaging.trained:
        enough = has_trained(table, averaging)
        numerator, denominator = numerator * enough, denominator * enough
    if averaging.coverage:
        served = _served(table, condensed=condensed)
        numerator, denominator = numerator * served, denominator * served
    if defined is not None:
        denominator = denominator * defined
        numerator = np.where(defined, numerator, 0.0)
    if averaging.weights:
        weight = _user_weights(table, averaging.weights, min_rating)
        numerator, denominator = weight * numerator, weight * denominator
    return np.vstack([numerator, denominator])


def _defined(table: RankTable, values: FloatArray, population: str) -> npt.NDArray[np.bool_]:
    if table.per == "run":
        raise ConfigError(f"population {population!r}: runs (1R) have no undefined values to skip")
    return ~np.isnan(values)


def _columns_of_groups(
    table: RankTable,
    values: FloatArray,
    group: npt.NDArray[np.integer] | None,
    n_groups: int,
) -> FloatArray:
    if table.per != "run":
        raise _no_runs("groups")
    if group is None:
        raise ConfigError("population 'groups': give the group of each run")
    if group.shape != table.user.shape or not ((group >= -1) & (group < n_groups)).all():
        raise ContractError(
            f"groups of runs: shape {group.shape}, expected {table.user.shape}, each from -1 to "
            f"{n_groups - 1}"
        )
    inside = group >= 0
    cell = group[inside] * np.int64(table.n_users) + table.user[inside]
    rows = [*values[:, inside], np.ones(int(inside.sum()))]
    columns = np.array(
        [np.bincount(cell, weights=row, minlength=n_groups * table.n_users) for row in rows]
    )
    by_group = columns.reshape(len(rows), n_groups, table.n_users).transpose(1, 0, 2)
    return np.ascontiguousarray(by_group).reshape(-1, table.n_users)


def finish(sums: FloatArray, averaging: Averaging, n_metrics: int, n_groups: int = 1) -> FloatArray:
    """Turn sums of contributions into values.

    Parameters
    ----------
    sums : ndarray of float64, shape (..., n_columns)
        Sums of the columns of :func:`contributions` over users, weighted or not.
    averaging : Averaging
        That of the contributions.
    n_metrics, n_groups
        Those of the contributions.

    Returns
    -------
    ndarray of float64, shape (..., n_metrics)
        NaN where nobody is averaged over.

    Examples
    --------
    Two groups: 8 of 10 runs and 1 of 2 hit at 10. The mean of .08 and .05 is .065 (P1R), where the
    micro average is .075.

    >>> sums = np.array([0.8, 10, 0.1, 2])
    >>> print(finish(sums, Averaging("groups"), n_metrics=1, n_groups=2).round(6))
    [0.065]
    """
    by_group = sums.reshape(*sums.shape[:-1], n_groups, sums.shape[-1] // n_groups)
    total, size = by_group[..., :n_metrics], by_group[..., n_metrics:]
    some = np.broadcast_to(size > 0, total.shape)
    values = np.divide(total, size, out=np.full(total.shape, np.nan), where=some)
    if averaging.epsilon is not None:
        values = np.exp(values) - averaging.epsilon
    if n_groups == 1:
        return values[..., 0, :]
    n_with_values = some.sum(axis=-2)
    # One group after the other: a sum over an axis has other last bits where there is one metric.
    summed = np.zeros(n_with_values.shape)
    for of_group in np.moveaxis(np.where(some, values, 0.0), -2, 0):
        summed += of_group
    return np.divide(
        summed, n_with_values, out=np.full(summed.shape, np.nan), where=n_with_values > 0
    )


def units(
    table: RankTable,
    values: FloatArray,
    averaging: Averaging,
    *,
    min_rating: float,
    skip_undefined: bool = False,
    condensed: bool = False,
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int64]]:
    """List the values that a median is taken of: those of users, or of runs.

    Folds are combined by joining their lists: a user is a unit in each.

    Parameters
    ----------
    table, values, averaging, min_rating, skip_undefined, condensed
        As in :func:`contributions`; the statistic does not matter.

    Returns
    -------
    values : ndarray of float64, shape (n_metrics, n_units)
        With `skip_undefined`, NaN where undefined.
    weights : ndarray of float64, shape (n_units,)
        Whole numbers above 0.
    user : ndarray of int64, shape (n_units,)
        Whose unit it is.

    Raises
    ------
    ConfigError
        If the table does not know the population or the weights, or it is ``"groups"``.

    See Also
    --------
    recbias.stats.resampling.weighted_medians : takes these.
    """
    averaging = averaging.resolved(table.per)
    if averaging.population == "runs":
        if table.per != "run":
            raise _no_runs("runs")
        if skip_undefined:
            _defined(table, values, "runs")
        rows = has_trained(table, averaging)[table.user]
        user = table.user[rows].astype(np.int64)
        return values[:, rows], np.ones(len(user)), user
    numerator, member = user_sums(
        table, values, min_rating=min_rating, population=averaging.population
    )
    if skip_undefined:
        numerator = np.where(_defined(table, values, averaging.population), numerator, np.nan)
    if averaging.trained:
        member = member * has_trained(table, averaging)
    if averaging.coverage:
        member = member * _served(table, condensed=condensed)
    if averaging.weights:
        member = member * _user_weights(table, averaging.weights, min_rating)
    user = np.flatnonzero(member)
    return numerator[:, user], member[user], user


def weighted_units(values: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    r"""Spread a weighted mean over its users, so that it can be tested as a plain mean.

    User u becomes :math:`m + n w_u(v_u - m)/\sum w`, with m the weighted mean. The plain mean of
    these is m, and the standard error of that mean is the one of m by linearisation: its square is
    :math:`\frac{n}{n-1}\sum w_u^2(v_u-m)^2/(\sum w)^2`.

    Parameters
    ----------
    values : array_like of float, shape (..., n)
        Of users, without NaN; differences of two systems, for a paired test.
    weights : array_like of float, shape (..., n)
        Above 0.

    Returns
    -------
    ndarray of float64, shape (..., n)
        The values themselves, to the last bit, where all weigh alike.

    References
    ----------
    W. Cochran, "Sampling techniques" (1977), Sec. 2.11 (the variance of a ratio).

    Examples
    --------
    >>> weighted_units([0.5, 0.1], [3.0, 1.0]).tolist()
    [0.55, 0.25]
    """
    value, weight = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    total = weight.sum(axis=-1, keepdims=True)
    mean = (weight * value).sum(axis=-1, keepdims=True) / total
    alike = np.ptp(weight, axis=-1, keepdims=True) == 0
    return np.where(alike, value, mean + weight * value.shape[-1] * (value - mean) / total)


def aggregate(
    table: RankTable,
    values: FloatArray,
    *,
    min_rating: float,
    population: str = "",
    weights: str = "",
    statistic: str = "mean",
    coverage: str = "",
    condensed: bool = False,
    group: npt.NDArray[np.integer] | None = None,
    n_groups: int = 1,
    trained: str = "",
) -> FloatArray:
    """Average measured values over a named population.

    Parameters
    ----------
    table, values, min_rating, condensed, group, n_groups
        As in :func:`contributions`.
    population, weights, statistic, coverage, trained
        As in :class:`Averaging`.

    Returns
    -------
    ndarray of float64, shape (n_metrics,)
        NaN where the population is empty.

    Raises
    ------
    ConfigError
        As :class:`Averaging` and :func:`contributions` do.

    Examples
    --------
    User 0 has a relevant item at rank 2, user 1 has none: they count, or do not.

    >>> from recbias.metrics import measure, parse_metric
    >>> table = RankTable(
    ...     per="user", n_users=2, user=np.array([0, 1], np.int32), item=np.array([7, 7], np.int32),
    ...     value=np.array([5.0, 3.0]), rank=np.array([2, 1], np.int32),
    ...     condensed_rank=np.array([1, 1], np.int32), n_targets=np.array([9, 9], np.int32),
    ...     n_scored=np.array([9, 9], np.int32))
    >>> values = measure(table, [parse_metric("P@2"), parse_metric("RR")], min_rating=4)
    >>> aggregate(table, values, min_rating=4, population="all")
    array([0.25, 0.25])
    >>> aggregate(table, values, min_rating=4, population="relevant")
    array([0.5, 0.5])
    """
    averaging = Averaging(population, weights, statistic, coverage, trained)
    if averaging.statistic == "median":
        everybody = np.ones((1, table.n_users), dtype=np.uint8)
        of_units = units(table, values, averaging, min_rating=min_rating, condensed=condensed)
        return weighted_medians(*of_units, everybody)[:, 0]
    columns = contributions(
        table, values, averaging, min_rating=min_rating, group=group, n_groups=n_groups,
        condensed=condensed,
    )  # fmt: skip
    return finish(columns.sum(axis=1), averaging, len(values), n_groups)


def replicates(
    numerator: FloatArray, denominator: FloatArray, weights: npt.NDArray[np.integer]
) -> FloatArray:
    """Recompute an average for each resampling of users.

    Folds combine by adding up the numerators, and the denominators, of the same users.

    Parameters
    ----------
    numerator : ndarray of float64, shape (n_metrics, n_users)
    denominator : ndarray of float64, shape (n_users,)
        Both from :func:`user_sums`.
    weights : ndarray of int, shape (n_replicates, n_users)
        From :func:`recbias.stats.resampling.bootstrap_weights`.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_replicates)
        ``(w * numerator).sum() / (w * denominator).sum()``; NaN where a sample holds nobody of the
        population.

    See Also
    --------
    recbias.stats.resampling.interval : confidence limits from the replicates.

    Examples
    --------
    >>> numerator, denominator = np.array([[1.0, 0.0, 0.5]]), np.array([1.0, 1.0, 1.0])
    >>> replicates(numerator, denominator, np.array([[1, 1, 1], [2, 0, 1]]))
    array([[0.5       , 0.83333333]])
    """
    sums = weighted_sums(np.vstack([numerator, denominator]), weights)
    return np.ascontiguousarray(finish(sums, Averaging(), len(numerator)).T)
