"""Resampling of users, or users and items: weights, sums, medians and confidence intervals."""

from __future__ import annotations

from statistics import NormalDist

import numba as nb
import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit  # quantiles of Student's t; `scipy.stats` takes long to load

from recbias.errors import ConfigError

__all__ = [
    "bootstrap_weights",
    "crossed_sums",
    "draw_weights",
    "interval",
    "linear_replicates",
    "normal_interval",
    "rounded_replicates",
    "weighted_medians",
    "weighted_sums",
]

FloatArray = npt.NDArray[np.float64]


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


def draw_weights(n_draws: int, n_replicates: int, *, rng: np.random.Generator) -> FloatArray:
    r"""Draw by how much more or less each of several independent draws counts in a resample.

    Of values :math:`v_1,\dots,v_k` of draws, :math:`\sum_f a_f v_f` is then normal, with a standard
    deviation of :math:`c\,s/\sqrt k`, where s is that of the values. Here c is the quantile of
    Student's t with k - 1 degrees of freedom over that of the normal law, so that 95 % intervals
    are those of a mean of so few normal values. Draws that are resampled as users are would give
    intervals that are too narrow. The tails of t itself have no variance where there are few
    draws, and would widen whatever is compared together with what was drawn.

    Use the same weights for all systems and metrics: what a draw does to two systems is paired.

    Parameters
    ----------
    n_draws
        At least 2.
    n_replicates
        Number of resamples.
    rng
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (n_replicates, n_draws)
        Rows sum to 0.

    References
    ----------
    "Student", "The probable error of a mean", Biometrika 6 (1908).

    Examples
    --------
    The interval of the mean of 1, 2 and 6 ends 4.303 s / sqrt(3) = 6.57 away from it.

    >>> weights = draw_weights(3, 100_000, rng=np.random.default_rng(1))
    >>> shifts = weights @ [1.0, 2.0, 6.0]
    >>> [round(float(end)) for end in np.quantile(shifts, [0.025, 0.975])]
    [-7, 7]
    """
    if n_draws < 2:
        raise ConfigError(f"{n_draws} draw: what draws differ by needs two at least")
    widened = stdtrit(n_draws - 1, 0.975) / NormalDist().inv_cdf(0.975)
    deviations = rng.standard_normal((n_replicates, n_draws))
    deviations -= deviations.mean(axis=1, keepdims=True)
    return np.asarray(deviations * (widened / np.sqrt(n_draws * (n_draws - 1))), dtype=np.float64)


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


def weighted_sums(columns: FloatArray, weights: npt.NDArray[np.integer]) -> FloatArray:
    """Add up columns over users for each weighting of the users, to the same bits anywhere.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_columns, n_users)
        From :func:`recbias.metrics.aggregation.contributions`, of one fold or added up.
    weights : ndarray of int, shape (n_rows, n_users)
        From :func:`bootstrap_weights`.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_columns)
        For :func:`recbias.metrics.aggregation.finish`.

    Examples
    --------
    >>> weighted_sums(np.array([[1.0, 0.0, 0.5]]), np.array([[1, 1, 1], [2, 0, 1]])).tolist()
    [[1.5], [2.5]]
    """
    sums = np.zeros((len(weights), len(columns)))
    _weighted_sums(np.ascontiguousarray(columns.T), np.ascontiguousarray(weights), sums)
    return sums


def crossed_sums(
    user: npt.NDArray[np.integer],
    item: npt.NDArray[np.integer],
    values: FloatArray,
    user_weights: npt.NDArray[np.uint8],
    item_weights: npt.NDArray[np.uint8],
) -> FloatArray:
    r"""Add up what rated pairs contribute, for each resampling of users and of items.

    :math:`\sum_k w_{u_k} v_{i_k} x_k`: users and items are drawn apart, and a pair counts as often
    as both say (the pigeonhole bootstrap). Users who met the same items depend on each other, which
    resampling users alone does not see.

    Parameters
    ----------
    user, item : ndarray of int, shape (n_pairs,)
        Of each pair; item -1 = counts whatever the items, such as a user of a population.
    values : ndarray of float64, shape (n_pairs,)
        What each adds.
    user_weights : ndarray of uint8, shape (n_users, n_replicates)
        From :func:`bootstrap_weights`, transposed.
    item_weights : ndarray of uint8, shape (n_items, n_replicates)
        The same of items.

    Returns
    -------
    ndarray of float64, shape (n_replicates,)

    References
    ----------
    A. B. Owen, "The pigeonhole bootstrap", Ann. Appl. Statist. 1 (2007); A. B. Owen & D. Eckles,
    "Bootstrapping data arrays of arbitrary order", Ann. Appl. Statist. 6 (2012). Variances of both
    effects are right to first order; that of single pairs counts threefold.

    Examples
    --------
    Two users who hit item 0, and one who hits item 1; both draw user 0 and item 0 twice.

    >>> users = np.array([[1, 2], [1, 1], [1, 0]], dtype=np.uint8)
    >>> items = np.array([[1, 2], [1, 0]], dtype=np.uint8)
    >>> user, item = np.array([0, 1, 2]), np.array([0, 0, 1])
    >>> crossed_sums(user, item, np.full(3, 0.5), users, items).tolist()
    [1.5, 3.0]
    """
    sums = np.zeros(user_weights.shape[1])
    always = np.ones((1, item_weights.shape[1]), dtype=np.uint8)
    _crossed_sums(
        user.astype(np.int64),
        np.where(item < 0, len(item_weights), item).astype(np.int64),
        values,
        np.ascontiguousarray(user_weights),
        np.concatenate([item_weights, always]),
        sums,
    )
    return sums


@nb.njit(cache=True, nogil=True)
def _crossed_sums(
    user: npt.NDArray[np.int64],
    item: npt.NDArray[np.int64],
    values: FloatArray,
    user_weights: npt.NDArray[np.uint8],
    item_weights: npt.NDArray[np.uint8],
    sums: FloatArray,
) -> None:
    """Add up the pairs in order, every replicate in an accumulator of its own."""
    for pair in range(len(user)):
        of_user, of_item = user_weights[user[pair]], item_weights[item[pair]]
        value = values[pair]
        for replicate in range(len(sums)):
            sums[replicate] += value * (
                np.float64(of_user[replicate]) * np.float64(of_item[replicate])
            )


def linear_replicates(
    values: FloatArray, influence: FloatArray, weights: npt.NDArray[np.integer]
) -> FloatArray:
    r"""Recompute a quantity for each resampling of users from what each user moves.

    :math:`\theta + \frac1n\sum_u (w_u - 1) I_u`: to first order what the resampled users would
    give, without the shift that repeated users cause.

    Parameters
    ----------
    values : ndarray of float64, shape (n_metrics,)
        What was observed.
    influence : ndarray of float64, shape (n_metrics, n_users)
        From :func:`recbias.metrics.influence`; of folds, the mean.
    weights : ndarray of int, shape (n_rows, n_users)
        From :func:`bootstrap_weights`.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_rows)

    See Also
    --------
    normal_interval : from these.

    References
    ----------
    B. Efron & R. Tibshirani, "An introduction to the bootstrap" (1993), Sec. 20.6.

    Examples
    --------
    A mean of 1, 2 and 6 moves by what a user lies above it, and its linear replicates are exact.

    >>> values, influence = np.array([3.0]), np.array([[-2.0, -1.0, 3.0]])
    >>> linear_replicates(values, influence, np.array([[1, 1, 1], [0, 1, 2]])).round(6)
    array([[3.      , 4.666667]])
    """
    n_users = influence.shape[1]
    sums = weighted_sums(influence, weights) - influence.sum(axis=1)
    return values[:, None] + sums.T / n_users


def weighted_medians(
    values: FloatArray,
    weights: FloatArray,
    user: npt.NDArray[np.integer],
    user_weights: npt.NDArray[np.integer],
) -> FloatArray:
    """Take the median of units for each weighting of the users.

    A unit counts as often as its weight times that of its user says: the median is that of the
    values so repeated, the mean of the middle two where their number is even.

    Parameters
    ----------
    values : ndarray of float64, shape (n_metrics, n_units)
        NaN = left out.
    weights : ndarray of float64, shape (n_units,)
    user : ndarray of int, shape (n_units,)
        All three from :func:`recbias.metrics.aggregation.units`, of one fold or joined.
    user_weights : ndarray of int, shape (n_rows, n_users)
        From :func:`bootstrap_weights`; a row of ones gives the observed value.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_rows)
        NaN where nothing is left.

    Examples
    --------
    >>> values, weights, user = np.array([[0.1, 0.5, 0.3]]), np.array([1.0, 1, 2]), np.arange(3)
    >>> weighted_medians(values, weights, user, np.array([[1, 1, 1], [0, 2, 1]]))
    array([[0.3, 0.4]])
    """
    medians = np.empty((len(values), len(user_weights)))
    order = np.argsort(values, axis=1, kind="stable")  # NaN last
    for metric, places in enumerate(order):
        ascending = values[metric, places]
        n_defined = int(len(ascending) - np.isnan(ascending).sum())
        places = places[:n_defined]
        _medians(
            ascending[:n_defined],
            weights[places],
            user[places].astype(np.int64),
            np.ascontiguousarray(user_weights),
            medians[metric],
        )
    return medians


@nb.njit(cache=True, nogil=True)
def _medians(
    ascending: FloatArray,
    weights: FloatArray,
    user: npt.NDArray[np.int64],
    user_weights: npt.NDArray[np.integer],
    medians: FloatArray,
) -> None:
    """Walk up to half of the weight; whole numbers, so that "exactly half" is exact."""
    for row in range(user_weights.shape[0]):
        total = 0.0
        for unit in range(len(ascending)):
            total += weights[unit] * user_weights[row, user[unit]]
        medians[row] = np.nan
        below = 0.0
        lower = np.nan
        for unit in range(len(ascending)):
            weight = weights[unit] * user_weights[row, user[unit]]
            if weight == 0.0:
                continue
            if 2.0 * below == total:  # the last unit ended at half: this one is the upper middle
                medians[row] = lower + (ascending[unit] - lower) / 2.0
                break
            below += weight
            lower = ascending[unit]
            if 2.0 * below > total:
                medians[row] = lower
                break


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
        Lower and upper limit; NaN where a replicate is NaN, or a limit lies between infinite ones.

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
    with np.errstate(invalid="ignore"):  # between two infinite replicates there is no limit
        limits = np.quantile(np.asarray(values, dtype=np.float64), tails, axis=-1)
    return np.moveaxis(limits, 0, -1)


def normal_interval(
    value: npt.ArrayLike, values: npt.ArrayLike, *, level: float = 0.95
) -> FloatArray:
    """Confidence interval around the observed value: observed +- z s.d. of the replicates.

    For metrics of the system, with :func:`linear_replicates`; where simulation showed that it
    covers, the declaration says ``interval="normal"``.

    Parameters
    ----------
    value : array_like of float, shape (...)
        What was observed.
    values : array_like of float, shape (..., n_replicates)
        Its replicates, two at least.
    level
        Coverage, in (0, 1); .95 means z = 1.96.

    Returns
    -------
    ndarray of float64, shape (..., 2)
        Lower and upper limit; NaN where a replicate is NaN.

    Raises
    ------
    ConfigError
        If `level` is not in (0, 1).

    See Also
    --------
    interval : percentiles, for averages.

    References
    ----------
    B. Efron & R. Tibshirani, "An introduction to the bootstrap" (1993), Sec. 12.2-12.3.

    Examples
    --------
    >>> print(normal_interval(0.3, [0.4, 0.5, 0.6]).round(3))
    [0.104 0.496]
    """
    if not 0 < level < 1:
        raise ConfigError(f"level {level}: expected a coverage between 0 and 1")
    half = NormalDist().inv_cdf((1 + level) / 2) * np.std(
        np.asarray(values, dtype=np.float64), axis=-1, ddof=1
    )
    return np.stack([np.asarray(value) - half, np.asarray(value) + half], axis=-1)


_DIGITS = 16


def rounded_replicates(replicates: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Keep 16 binary digits of replicates: enough for any interval; half the bytes compress away.

    Each number is rounded by itself, to nearest: equal replicates stay equal, in whatever row and
    file they are, and none passes another. (Steps of a row's own, finer as they may be, break the
    ties between rows, and with them criteria that ask for a difference of at least 0.)

    Parameters
    ----------
    replicates : array_like of float64
        Values on resampled users. NaN and infinities stay.

    Returns
    -------
    ndarray of float32, same shape
        Off by at most one part in 65,536 of each number. Rounding again changes nothing.

    Examples
    --------
    >>> rounded_replicates([0.5, 0.1, float("nan")])
    array([0.5       , 0.10000038,        nan], dtype=float32)
    """
    drawn = np.asarray(replicates, dtype=np.float64)
    fraction, exponent = np.frexp(drawn)
    return np.ldexp(np.rint(np.ldexp(fraction, _DIGITS)), exponent - _DIGITS).astype(np.float32)
