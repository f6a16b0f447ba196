"""Agreement between two orderings of the same systems (or items), and what of it is certain.

Kendall's tau, the share of settings in which an order holds and "some pair is opposed" are no
smooth functions of the values: where systems are close, resampling breaks ties that the truth has,
or makes them, and shifts all three (percentiles of tau over resampled users lie too near to 0).
What does not shift is a difference of two systems. So the differences that decide are judged, all
at once: their *resolved signs* are right together with a chance of 95 %, and whatever the others
may be, tau and share stay within what they allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt
from scipy import special

from recbias.errors import ConfigError

__all__ = [
    "kendall_tau",
    "opposed_pairs",
    "resolved_signs",
    "share_interval",
    "tau_interval",
    "tau_intervals",
    "tau_p_value",
]

FloatArray = npt.NDArray[np.float64]

_EXACT = 50
"""Systems up to which tau has its exact distribution; then the normal one is as good."""

_TRIED = 8
"""Systems with ties up to which all orders are tried, 40,320."""

_BLOCK = 512
"""Contrasts whose replicates are held at once: 4 MB for 1,000 replicates."""


def _pair_signs(values: npt.ArrayLike) -> FloatArray:
    """Sign of the difference of each pair along the last axis; NaN where a value is NaN."""
    array = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(array.shape[-1], k=1)
    return np.sign(array[..., second] - array[..., first])


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    r"""Kendall's rank correlation tau-b, for one pair of orderings or for many at once.

    :math:`(C - D) / \sqrt{(n_0 - n_1)(n_0 - n_2)}` with C concordant and D discordant pairs,
    :math:`n_0` pairs in all, :math:`n_1` and :math:`n_2` pairs tied in `a` and in `b`. All pairs
    are compared, so that bootstrap replicates of a few systems cost one array operation.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n_systems)
        Values to be ordered; leading axes (e.g. replicates) broadcast against each other.

    Returns
    -------
    ndarray of float64, shape (...)
        In [-1, 1]; NaN where there are fewer than two systems, where one side is all tied, and
        where a value is NaN.

    References
    ----------
    M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).

    Examples
    --------
    Of six pairs four are concordant, one is discordant and one is tied in `b`: 3 / sqrt(6 * 5).

    >>> print(kendall_tau([4, 3, 2, 1], [5, 5, 3, 4]).round(6))
    0.547723
    """
    signs_a, signs_b = _pair_signs(a), _pair_signs(b)
    difference = (signs_a * signs_b).sum(axis=-1)
    untied = np.square(signs_a).sum(axis=-1) * np.square(signs_b).sum(axis=-1)
    return np.divide(
        difference, np.sqrt(untied), out=np.full_like(difference, np.nan), where=untied > 0
    )


def tau_p_value(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    r"""Test whether two orderings of the same systems have nothing to do with each other.

    Under that hypothesis all orders of `b` are equally likely. Without ties the number of
    discordant pairs then has an exact distribution, which is used for up to 50 systems; with ties
    all orders of up to 8 systems are tried. Else concordant less discordant pairs are taken as
    normal, with the variance that ties leave.

    Parameters
    ----------
    a, b : array_like of float, shape (n_systems,)
        Values to be ordered.

    Returns
    -------
    float
        Two-sided p; NaN where :func:`kendall_tau` is.

    Raises
    ------
    ConfigError
        If shapes differ, or are not of one axis.

    Notes
    -----
    It is about systems as a sample, not about users: with few systems even equal orders may be
    chance, and with three no tau has a p below 1/3.

    References
    ----------
    M. G. Kendall, "Rank correlation methods", 4th ed. (1970), Ch. 4 and 5.

    Examples
    --------
    The same order of four: 2 of 24 orders are as extreme.

    >>> print(round(tau_p_value([1, 2, 3, 4], [1, 2, 3, 4]), 6))
    0.083333
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ConfigError(
            f"orderings of shape {x.shape} and {y.shape}: give both the same systems, (n,)"
        )
    if np.isnan(kendall_tau(x, y)):
        return np.nan
    signs = _pair_signs(x) * _pair_signs(y)
    n, excess = len(x), int(signs.sum())
    ties = [np.unique(values, return_counts=True)[1].astype(np.float64) for values in (x, y)]
    if n <= _EXACT and all(len(counts) == n for counts in ties):
        chances = np.ones(1)  # of each number of discordant pairs, one system after the other
        for size in range(2, n + 1):
            chances = np.convolve(chances, np.full(size, 1 / size))
        fewer = (len(signs) - abs(excess)) // 2
        return min(1.0, 2 * float(chances[: fewer + 1].sum()))
    if n <= _TRIED:
        places = [np.unique(values, return_inverse=True)[1] for values in (x, y)]
        orders = places[1][np.array([*permutations(range(n))])]
        first, second = np.triu_indices(n, 1)
        excesses = np.sign(orders[:, first] - orders[:, second]) @ np.sign(
            places[0][first] - places[0][second]
        )
        return float(np.mean(np.abs(excesses) >= abs(excess)))
    pairs, triples, spread = (
        [float(np.sum(t * (t - 1) * factor(t))) for t in ties]
        for factor in (lambda t: 1.0, lambda t: t - 2, lambda t: 2 * t + 5)
    )
    variance = (n * (n - 1.0) * (2 * n + 5) - sum(spread)) / 18
    variance += pairs[0] * pairs[1] / (2 * n * (n - 1.0))
    variance += triples[0] * triples[1] / (9 * n * (n - 1.0) * (n - 2))
    return float(2 * special.ndtr(-abs(excess) / np.sqrt(variance)))


def resolved_signs(
    differences: npt.ArrayLike, replicates: npt.ArrayLike, *, level: float = 0.95
) -> npt.NDArray[np.int8]:
    r"""Tell which of many differences are above or below 0, all together at one level.

    The simultaneous band of contrast i is :math:`d_i \pm c\,s_i`, with :math:`s_i` the standard
    deviation of its replicates and c the quantile, at `level`, of
    :math:`\max_i |d^*_i - d_i| / s_i` over replicates. The chance that any sign is wrong is at most
    1 - `level`, however the contrasts depend on each other, and however one is picked afterwards.

    Parameters
    ----------
    differences : array_like of float, shape (n_contrasts,)
        What was observed: the whole family.
    replicates : array_like of float, shape (n_contrasts, n_replicates)
        The same on resampled users, paired: a column comes from one draw.
    level
        Chance that all signs are right, in (0, 1).

    Returns
    -------
    ndarray of int8, shape (n_contrasts,)
        1 or -1 where the band excludes 0, else 0. A contrast that does not vary has the sign of its
        difference. One that is NaN, or infinite, in the sample or in a replicate is 0 and counts
        for nothing.

    Raises
    ------
    ConfigError
        If shapes do not fit, there are fewer than two replicates, or `level` is not in (0, 1).

    See Also
    --------
    recbias.stats.resampling.interval : of one quantity.
    recbias.stats.comparison.holm : the correction of p values.

    References
    ----------
    J. P. Romano & M. Wolf, "Exact and approximate stepdown methods for multiple hypothesis
    testing", J. Amer. Statist. Assoc. 100 (2005), whose first step this is; T. Hothorn, F. Bretz &
    P. Westfall, "Simultaneous inference in general parametric models", Biometrical Journal 50
    (2008), for the intervals.

    Examples
    --------
    Standard errors are 1; the largest of two such deviations is below 1.3 in 95 % of replicates.

    >>> drawn = np.array([[-1.0, 1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0]]) * 3**0.5 / 2
    >>> resolved_signs([0.8, -1.5], drawn + [[0.8], [-1.5]])
    array([ 0, -1], dtype=int8)
    """
    observed = np.asarray(differences, dtype=np.float64)
    drawn = _checked("contrasts", observed, replicates, level)
    return _signs(observed, lambda rows: drawn[rows].copy(), drawn.shape[1], level)


def _checked(what: str, values: FloatArray, replicates: npt.ArrayLike, level: float) -> FloatArray:
    """Refuse replicates that are not those of the values."""
    drawn = np.asarray(replicates, dtype=np.float64)
    if not 0 < level < 1:
        raise ConfigError(f"level {level}: expected a coverage between 0 and 1")
    if values.ndim != 1 or drawn.ndim != 2 or len(drawn) != len(values) or drawn.shape[1] < 2:
        raise ConfigError(
            f"{what} of shape {values.shape} with replicates of shape {drawn.shape}: expected (n,) "
            "and (n, replicates), at least two replicates each"
        )
    return drawn


def _signs(
    differences: FloatArray,
    replicates_of: Callable[[slice], FloatArray],
    n_replicates: int,
    level: float,
) -> npt.NDArray[np.int8]:
    """Resolve signs of contrasts whose replicates are made a block at a time, and used up."""
    errors = np.empty(len(differences))
    largest = np.zeros(n_replicates)
    for start in range(0, len(differences), _BLOCK):
        rows = slice(start, start + _BLOCK)
        deviations = replicates_of(rows)
        errors[rows] = _standardise(deviations, differences[rows])
        np.maximum(largest, deviations.max(axis=0), out=largest)
    return _resolved(differences, errors, largest, level)


def _standardise(drawn: FloatArray, differences: FloatArray) -> FloatArray:
    """Give standard errors, and put deviations in units of them in place of their replicates.

    A contrast without spread or value bounds nothing: its deviations are 0.
    """
    with np.errstate(invalid="ignore"):
        errors = drawn.std(axis=1, ddof=1)
        # Equal replicates leave a spread of rounding errors in their mean, which is none.
        errors[np.ptp(drawn, axis=1) == 0] = 0.0
    errors[~np.isfinite(differences)] = np.nan
    varies = errors > 0
    drawn[~varies] = 0.0
    drawn -= np.where(varies, differences, 0.0)[:, None]
    np.abs(drawn, out=drawn)
    drawn /= np.where(varies, errors, 1.0)[:, None]
    return errors


def _resolved(
    differences: FloatArray, errors: FloatArray, largest: FloatArray, level: float
) -> npt.NDArray[np.int8]:
    """Resolve the signs of a family whose largest deviations are given by replicate."""
    with np.errstate(invalid="ignore"):
        resolved = np.abs(differences) > np.quantile(largest, level) * errors
    return np.where(resolved, np.sign(differences), 0.0).astype(np.int8)


def _resolved_pairs(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_replicates: npt.ArrayLike,
    b_replicates: npt.ArrayLike,
    level: float,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Resolve all pairs of systems under two orderings, as one family; signs are first - second."""
    values, drawn = _two_orders(a, b, a_replicates, b_replicates, level)
    pairs = np.column_stack(np.triu_indices(len(values) // 2, k=1))
    both = np.concatenate([pairs, pairs + len(values) // 2])
    signs = _signs_of_steps(values, drawn, both, level)
    return pairs, signs[: len(pairs)], signs[len(pairs) :]


def _two_orders(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_replicates: npt.ArrayLike,
    b_replicates: npt.ArrayLike,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Put two orderings of the same systems below each other, those of `a` first."""
    values = [np.asarray(ordering, dtype=np.float64) for ordering in (a, b)]
    drawn = [
        _checked("systems", ordering, replicates, level)
        for ordering, replicates in zip(values, (a_replicates, b_replicates), strict=True)
    ]
    if drawn[0].shape != drawn[1].shape:
        raise ConfigError(
            f"two orderings with replicates of shape {drawn[0].shape} and {drawn[1].shape}: give "
            "the same systems, on the same draws"
        )
    return np.concatenate(values), np.concatenate(drawn)


def _signs_of_steps(
    values: FloatArray, replicates: FloatArray, steps: npt.NDArray[np.intp], level: float
) -> npt.NDArray[np.int8]:
    """Resolve differences first - second of systems, a row of `steps` each, as one family."""
    first, second = steps.T
    return _signs(
        values[first] - values[second],
        lambda rows: replicates[first[rows]] - replicates[second[rows]],
        replicates.shape[1],
        level,
    )


def tau_interval(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_replicates: npt.ArrayLike,
    b_replicates: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> tuple[float, float]:
    r"""Interval of Kendall's tau between two orderings of the same systems.

    All pair differences under both orderings are one family of :func:`resolved_signs`. With S the
    sum of the products of the two signs of each pair that is resolved under both, and m other
    pairs, tau lies in :math:`(S \pm m) / \binom n2`: every tau that those pairs allow. This holds
    for tau-b too, where some of the m are tied.

    Parameters
    ----------
    a, b : array_like of float, shape (n_systems,)
        Values that give each order.
    a_replicates, b_replicates : array_like of float, shape (n_systems, n_replicates)
        The same on resampled users; a column comes from one draw under both.
    level
        Least coverage, in (0, 1).

    Returns
    -------
    low, high : float
        NaN for fewer than two systems. A system with a NaN leaves its pairs open.

    Raises
    ------
    ConfigError
        If shapes do not fit, or as of :func:`resolved_signs`.

    See Also
    --------
    kendall_tau : the estimate.
    opposed_pairs : the pairs that make it less than 1.

    References
    ----------
    As of :func:`resolved_signs`.

    Examples
    --------
    Three systems with standard errors of .1: the first two are too close to tell under `b`.

    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(2, 3, 1000))
    >>> a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.1, 0.0])
    >>> low, high = tau_interval(a, b, a[:, None] + noise[0], b[:, None] + noise[1])
    >>> print(round(low, 3), round(high, 3), kendall_tau(a, b).round(3))
    -1.0 -0.333 -0.333
    """
    _, under_a, under_b = _resolved_pairs(a, b, a_replicates, b_replicates, level)
    return _allowed(under_a, under_b)


def _allowed(under_a: npt.NDArray[np.int8], under_b: npt.NDArray[np.int8]) -> tuple[float, float]:
    """Give the least and the largest tau that resolved pairs allow; NaN without pairs."""
    if not len(under_a):
        return np.nan, np.nan
    products = under_a.astype(np.int64) * under_b
    total, n_open = int(products.sum()), int((products == 0).sum())
    return (total - n_open) / len(under_a), (total + n_open) / len(under_a)


def tau_intervals(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_replicates: npt.ArrayLike,
    b_replicates: npt.ArrayLike,
    choices: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> FloatArray:
    """Intervals of Kendall's tau among several choices of the same systems.

    Each is :func:`tau_interval` of the chosen systems alone, bit for bit; deviations of a pair are
    computed once for all choices that have it.

    Parameters
    ----------
    a, b, a_replicates, b_replicates, level
        As of :func:`tau_interval`.
    choices : array_like of int, shape (n_choices, n_chosen)
        Numbers of systems, those of a choice in ascending order.

    Returns
    -------
    ndarray of float64, shape (n_choices, 2)
        A low and a high end per choice; each choice is a family of its own.

    Raises
    ------
    ConfigError
        As of :func:`tau_interval`; if a choice is not in ascending order or names no system.

    Examples
    --------
    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(2, 3, 1000))
    >>> a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.1, 0.0])
    >>> orders = a, b, a[:, None] + noise[0], b[:, None] + noise[1]
    >>> tau_intervals(*orders, [[0, 1], [1, 2]]).tolist()
    [[-1.0, 1.0], [-1.0, -1.0]]
    """
    values, deviations = _two_orders(a, b, a_replicates, b_replicates, level)
    n = len(values) // 2
    chosen = np.asarray(choices, dtype=np.intp)
    if chosen.ndim != 2 or (np.diff(chosen, prepend=-1, append=n) < 1).any():
        raise ConfigError(
            f"choices of shape {chosen.shape}: expected rows of numbers below {n}, in ascending "
            "order"
        )
    first, second = np.triu_indices(n, k=1)
    first, second = np.concatenate([first, first + n]), np.concatenate([second, second + n])
    differences = values[first] - values[second]
    deviations = deviations[first] - deviations[second]
    errors = _standardise(deviations, differences)
    intervals = []
    for choice in chosen:
        has = np.zeros(n, dtype=bool)
        has[choice] = True
        rows = has[first % n] & has[second % n]
        largest = deviations[rows].max(axis=0, initial=0.0)
        signs = _resolved(differences[rows], errors[rows], largest, level)
        intervals.append(_allowed(*np.split(signs, 2)))
    return np.array(intervals, dtype=np.float64).reshape(-1, 2)


def opposed_pairs(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    a_replicates: npt.ArrayLike,
    b_replicates: npt.ArrayLike,
    *,
    level: float = 0.95,
) -> npt.NDArray[np.intp]:
    """List the pairs of systems that two orderings put the other way round, beyond chance.

    Parameters
    ----------
    a, b, a_replicates, b_replicates, level
        As of :func:`tau_interval`.

    Returns
    -------
    ndarray of int, shape (n_found, 2)
        A row per pair: the system that scores more under `a`, then the one that does under `b`.
        That any of them is listed wrongly has a chance of at most 1 - `level`.

    Raises
    ------
    ConfigError
        As of :func:`tau_interval`.

    Examples
    --------
    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(2, 3, 1000))
    >>> a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.1, 0.0])
    >>> opposed_pairs(a, b, a[:, None] + noise[0], b[:, None] + noise[1]).tolist()
    [[2, 0], [2, 1]]
    """
    pairs, under_a, under_b = _resolved_pairs(a, b, a_replicates, b_replicates, level)
    opposed = under_a * under_b < 0
    return np.where(under_a[opposed, None] > 0, pairs[opposed], pairs[opposed, ::-1])


def share_interval(
    values: npt.ArrayLike,
    replicates: npt.ArrayLike,
    orders: Sequence[Sequence[int]] | npt.NDArray[np.integer],
    *,
    level: float = 0.95,
) -> tuple[float, float]:
    """Interval of the share of combinations of systems in which an order holds.

    An order holds if each of its steps is above 0: the first system scores more than the second,
    that more than the third. All distinct steps are one family of :func:`resolved_signs`. A
    combination surely holds if all its steps are resolved as positive, and surely fails if one is
    resolved as negative.

    Parameters
    ----------
    values : array_like of float, shape (n_systems,)
    replicates : array_like of float, shape (n_systems, n_replicates)
        The same on resampled users; a column comes from one draw.
    orders : array_like of int, shape (n_combinations, length)
        Numbers of systems, the one that has to score most first.
    level
        Least coverage, in (0, 1). It is about users: what another choice of combinations would
        give, no interval says.

    Returns
    -------
    low, high : float
        Share of those that surely hold; 1 - share of those that surely fail.

    Raises
    ------
    ConfigError
        If shapes do not fit, an order has fewer than two systems, names one that is not there or
        steps from a system to itself, or there is no order; as of :func:`resolved_signs`.

    References
    ----------
    As of :func:`resolved_signs`.

    Examples
    --------
    Standard errors are .1: 2 > 1 > 0 holds, 2 > 0 > 1 fails, and whether 1 > 3 > 0 does is open.

    >>> values = np.array([0.0, 1.0, 2.0, 1.1])
    >>> drawn = values[:, None] + 0.1 * np.random.default_rng(1).normal(size=(4, 1000))
    >>> low, high = share_interval(values, drawn, [(2, 1, 0), (2, 0, 1), (1, 3, 0)])
    >>> print(round(low, 3), round(high, 3))
    0.333 0.667
    """
    observed = np.asarray(values, dtype=np.float64)
    drawn = _checked("systems", observed, replicates, level)
    try:
        wanted = np.asarray(orders, dtype=np.intp)
    except ValueError as ragged:
        raise ConfigError("orders of different lengths: give each length apart") from ragged
    if wanted.ndim != 2 or wanted.shape[1] < 2 or not len(wanted):
        raise ConfigError(
            f"orders of shape {wanted.shape}: expected (combinations, length), at least one of two "
            "systems or more"
        )
    if wanted.min() < 0 or wanted.max() >= len(observed):
        raise ConfigError(
            f"orders name systems {wanted.min()} to {wanted.max()}: expected 0 to "
            f"{len(observed) - 1}"
        )
    steps = np.stack([wanted[:, :-1], wanted[:, 1:]], axis=-1).reshape(-1, 2)
    if (steps[:, 0] == steps[:, 1]).any():
        raise ConfigError("an order steps from a system to itself: no system scores more than it")
    # Both directions of a step are one contrast.
    distinct, which = np.unique(np.sort(steps, axis=1), axis=0, return_inverse=True)
    signs = _signs_of_steps(observed, drawn, distinct, level)[which.reshape(-1)]
    signs = np.where(steps[:, 0] < steps[:, 1], signs, -signs).reshape(len(wanted), -1)
    return float((signs > 0).all(axis=1).mean()), float(1 - (signs < 0).any(axis=1).mean())
