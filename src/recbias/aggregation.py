"""From values per user or per run to one value per system, with a named population.

Who is averaged over decides the number as much as the metric does (BCC17 counts every user, the
authors of MCCRS20 every user with a test rating), so that a mean here always names its population:

============ ============================================================= ==================
population   members                                                       undefined values
============ ============================================================= ==================
``all``      every user of the dataset                                     count as 0
``tested``   users with a test rating                                      count as 0
``relevant`` users with a relevant test rating                             (none there)
``runs``     every 1R run: a micro average in which a user weighs as much  (none there)
             as he has relevant test ratings (BCC17 Eq. 1)
============ ============================================================= ==================

A value is a ratio of two sums over users. Kept apart, both can be re-weighted, and resampling users
gives its interval, for runs too: those of one user are drawn together, because they depend on each
other.
"""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError, unknown_name
from recbias.ranking import RankTable
from recbias.relevance import relevant

__all__ = ["POPULATIONS", "aggregate", "bootstrap_weights", "interval", "replicates", "user_sums"]

FloatArray = npt.NDArray[np.float64]

POPULATIONS = ("all", "tested", "relevant", "runs")


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
        ``"all"``, ``"tested"``, ``"relevant"`` or ``"runs"``. Of 1R tables the first and the third
        average over users the mean of their runs.

    Returns
    -------
    numerator : ndarray of float64, shape (n_metrics, n_users)
    denominator : ndarray of float64, shape (n_users,)
        1 or 0 for a user inside or outside the population; for ``"runs"`` his number of runs.
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
    if table.per == "run":
        return _sums_of_runs(table, values, population)
    if population == "runs":
        raise ConfigError(
            "population 'runs': the table has one target set per user (AR), not one per run; "
            "use all, tested or relevant"
        )
    member = np.ones(table.n_users, dtype=bool)
    if population == "tested":
        member = np.bincount(table.user, minlength=table.n_users) > 0
    elif population == "relevant":
        positives = table.user[relevant(table.value, min_rating)]
        member = np.bincount(positives, minlength=table.n_users) > 0
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
    return sums / np.maximum(runs, 1.0), member


def aggregate(
    table: RankTable, values: FloatArray, *, min_rating: float, population: str
) -> FloatArray:
    """Average measured values over a named population.

    Parameters
    ----------
    table, values, min_rating, population
        As in :func:`user_sums`.

    Returns
    -------
    ndarray of float64, shape (n_metrics,)
        NaN where the population is empty.

    Raises
    ------
    ConfigError
        As :func:`user_sums` does.

    Examples
    --------
    User 0 has his relevant item at rank 2, user 1 has none: he counts, or does not.

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
    numerator, denominator = user_sums(table, values, min_rating=min_rating, population=population)
    size = denominator.sum()
    return numerator.sum(axis=1) / size if size else np.full(len(numerator), np.nan)


def bootstrap_weights(
    n_users: int, n_replicates: int, *, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Draw how often each user occurs in samples of users with replacement.

    Use the same weights for all systems, protocols and folds: their replicates are then paired, and
    the interval of a difference or of a rank agreement comes from the same draws.

    Parameters
    ----------
    n_users
        Users of the dataset, and size of each sample.
    n_replicates
        Number of samples.
    rng
        Source of randomness.

    Returns
    -------
    ndarray of uint8, shape (n_replicates, n_users)
        Rows are multinomial and sum to `n_users`. Eight bits suffice: a user is drawn more than 255
        times with probability below 1e-500.

    References
    ----------
    B. Efron, "Bootstrap methods: another look at the jackknife", Ann. Statist. 7 (1979).

    Examples
    --------
    >>> weights = bootstrap_weights(5, 3, rng=np.random.default_rng(1))
    >>> weights.shape, weights.sum(axis=1).tolist()
    ((3, 5), [5, 5, 5])
    """
    weights = np.empty((n_replicates, n_users), dtype=np.uint8)
    for replicate in range(n_replicates):
        drawn = rng.integers(n_users, size=n_users)
        weights[replicate] = np.bincount(drawn, minlength=n_users)
    return weights


@nb.njit(cache=True, nogil=True)
def _weighted_sums(columns: FloatArray, weights: npt.NDArray[np.integer], sums: FloatArray) -> None:
    """Add up the users in order, every column in an accumulator of its own.

    So the bits depend neither on the other columns nor on threads, as those of a BLAS product do.
    """
    for replicate in range(weights.shape[0]):
        for user in range(weights.shape[1]):
            weight = np.float64(weights[replicate, user])
            if weight == 0.0:
                continue
            for column in range(columns.shape[1]):
                sums[replicate, column] += weight * columns[user, column]


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
        From :func:`bootstrap_weights`.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_replicates)
        ``(w * numerator).sum() / (w * denominator).sum()``; NaN where a sample holds nobody of the
        population.

    See Also
    --------
    interval : confidence limits from the replicates.

    Examples
    --------
    >>> numerator, denominator = np.array([[1.0, 0.0, 0.5]]), np.array([1.0, 1.0, 1.0])
    >>> replicates(numerator, denominator, np.array([[1, 1, 1], [2, 0, 1]]))
    array([[0.5       , 0.83333333]])
    """
    columns = np.ascontiguousarray(np.vstack([numerator, denominator]).T)
    sums = np.zeros((len(weights), columns.shape[1]))
    _weighted_sums(columns, np.ascontiguousarray(weights), sums)
    size = sums[:, -1:]
    values = np.divide(sums[:, :-1], size, out=np.full_like(sums[:, :-1], np.nan), where=size > 0)
    return np.ascontiguousarray(values.T)


def interval(values: npt.ArrayLike, *, level: float = 0.95) -> FloatArray:
    """Percentile confidence interval of a bootstrapped quantity.

    Parameters
    ----------
    values : array_like of float, shape (..., n_replicates)
        Replicates of a value, of a difference, of anything computed from replicates.
    level
        Coverage, in (0, 1).

    Returns
    -------
    ndarray of float64, shape (..., 2)
        Lower and upper limit; NaN where a replicate is NaN.

    Raises
    ------
    ConfigError
        If `level` is not in (0, 1).

    References
    ----------
    B. Efron & R. Tibshirani, "An introduction to the bootstrap" (1993), Sec. 13.3.

    Examples
    --------
    >>> interval(np.arange(101) / 100, level=0.9)
    array([0.05, 0.95])
    """
    if not 0 < level < 1:
        raise ConfigError(f"level {level}: expected a coverage between 0 and 1")
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.moveaxis(np.quantile(np.asarray(values, dtype=np.float64), tails, axis=-1), 0, -1)
