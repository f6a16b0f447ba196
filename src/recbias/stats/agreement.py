"""Agreement between two orderings of the same systems (or items), and what of it is certain.

Kendall's tau, the share of settings in which an order holds and "some pair is opposed" are no
smooth functions of the values: where systems are close, resampling breaks ties that the truth has,
or makes them, and shifts all three (percentiles of tau over resampled users lie too near to 0).

What is said of single pairs, and of a share, stands on differences of two systems, which do not
shift. Those that decide are judged all at once: their *resolved signs* are right together with a
chance of 95 %, and whatever the others may be, the share stays within what they allow.

Tau itself is tested. To doubt that it is as low as c, values are moved as little as possible until
it is, close systems being tied; what resampling does to values that lie *there* tells how much
evidence for more agreement chance would make. The interval holds each tau that is not rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations

import numba as nb
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

_CLOSE = 2.0
"""Standard errors up to which neighbours may as well be equal, chosen by simulation of 1 to 2."""

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
        np.abs(deviations, out=deviations)
        np.maximum(largest, deviations.max(axis=0), out=largest)
    with np.errstate(invalid="ignore"):
        resolved = np.abs(differences) > np.quantile(largest, level) * errors
    return np.where(resolved, np.sign(differences), 0.0).astype(np.int8)


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
    drawn /= np.where(varies, errors, 1.0)[:, None]
    return errors


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
    r"""Interval of Kendall's tau between two orderings of the same systems, by inverted tests.

    A pair of systems is opposed if the two orderings put it the other way round. With z the
    difference of a pair over its standard error, its evidence is the smaller of the two sizes of z.
    That at most d pairs are opposed, where the sample has more, is tested by what speaks against
    it: the squared evidence of all opposed pairs but the d clearest, summed. Its distribution is
    simulated at values near those observed that have d opposed pairs: close systems are tied, in
    either ordering, those first that undo most opposed pairs for the least squared distance. Pairs
    that agree and are closer than 2 standard errors are tied too, for they may agree by chance. To
    such values the deviations of replicates are added. The least d that is not rejected at
    1 - `level`, found by bisection, bounds tau from above, the least number of agreeing pairs from
    below in the same way. With at least C pairs that agree and D that are opposed, of N, tau lies
    in :math:`[2 C / N - 1, 1 - 2 D / N]`, and so does tau-b if some are tied.

    Each end has the whole of 1 - `level`: what makes one end err, near ties that agree as much as
    they can, or as little, keeps the true tau far from the other.

    Parameters
    ----------
    a, b : array_like of float, shape (n_systems,)
        Values that give each order.
    a_replicates, b_replicates : array_like of float, shape (n_systems, n_replicates)
        The same on resampled users; a column comes from one draw under both.
    level
        Coverage, in (0, 1), and that of either end alone.

    Returns
    -------
    low, high : float
        Both tests of a threshold c are read off: tau is surely above c if `low` is. NaN for fewer
        than two systems. A system with a value that is NaN or infinite, in the sample or in a
        replicate, leaves its pairs open.

    Raises
    ------
    ConfigError
        If shapes do not fit, there are fewer than two replicates, or `level` is not in (0, 1).

    See Also
    --------
    kendall_tau : the estimate.
    opposed_pairs : the pairs that surely make it less than 1.

    Notes
    -----
    Where systems are closer than noise, any tau may be true and the interval is wide, whatever the
    tau of the sample: no interval that covers can be short there. Where all pairs are clear it is a
    point. The test guards against the least favourable truth near the sample: in simulations the
    error on a side was about 5 % where close systems were as good as tied, and next to none
    elsewhere (``benchmarks/README.md``).

    References
    ----------
    P. Hall & S. R. Wilson, "Two guidelines for bootstrap hypothesis testing", Biometrics 47 (1991),
    to resample under the hypothesis; M. J. Silvapulle & P. K. Sen, "Constrained statistical
    inference" (2005), Ch. 3, on tests of orders by the distance to them; G. W. Imbens & C. F.
    Manski, "Confidence intervals for partially identified parameters", Econometrica 72 (2004), on
    one-sided errors where the truth is known up to a range.

    Examples
    --------
    Three systems with standard errors of .1: the first two are too close to tell under `b`.

    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(2, 3, 1000))
    >>> a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.1, 0.0])
    >>> low, high = tau_interval(a, b, a[:, None] + noise[0], b[:, None] + noise[1])
    >>> print(round(low, 3), round(high, 3), kendall_tau(a, b).round(3))
    -1.0 -0.333 -0.333
    """
    everyone = [np.arange(np.size(a))]
    ((low, high),) = tau_intervals(a, b, a_replicates, b_replicates, everyone, level=level)
    return float(low), float(high)


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
        A low and a high end per choice.

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
    stacked, drawn = _two_orders(a, b, a_replicates, b_replicates, level)
    n = len(stacked) // 2
    values, drawn = stacked.reshape(2, n), drawn.reshape(2, n, -1)
    chosen = np.asarray(choices, dtype=np.intp)
    if chosen.ndim != 2 or (np.diff(chosen, prepend=-1, append=n) < 1).any():
        raise ConfigError(
            f"choices of shape {chosen.shape}: expected rows of numbers below {n}, in ascending "
            "order"
        )
    first, second = np.triu_indices(n, k=1)
    errors, deviations = np.empty((2, len(first))), np.empty((2, drawn.shape[2], len(first)))
    for side in range(2):
        with np.errstate(invalid="ignore"):
            rows = drawn[side, first] - drawn[side, second]
            differences = values[side, first] - values[side, second]
        errors[side] = _standardise(rows, differences)
        deviations[side] = rows.T
    known = np.isfinite(np.column_stack([values.T, *drawn])).all(axis=1)
    n_pairs = chosen.shape[1] * (chosen.shape[1] - 1) // 2
    intervals = np.full((len(chosen), 2), np.nan)
    for interval, choice in zip(intervals, chosen, strict=True):
        has = np.zeros(n, dtype=np.bool_)
        has[choice] = known[choice]
        pairs = has[first] & has[second]
        own = values[:, has], errors[:, pairs], np.compress(pairs, deviations, axis=2)
        opposed = agreeing = 0
        if pairs.any():
            opposed, agreeing = (_least_opposed(*own, turn, 1 - level) for turn in (1.0, -1.0))
        if n_pairs:
            interval[:] = 2 * agreeing - n_pairs, n_pairs - 2 * opposed
    return intervals / max(n_pairs, 1)


def _least_opposed(
    values: FloatArray, errors: FloatArray, deviations: FloatArray, turn: float, tail: float
) -> int:
    """Find the least number of opposed pairs that is not rejected; with turn -1, of agreeing ones.

    Deviations are of pairs, in units of their errors, shape (2, n_replicates, n_pairs).
    """
    values = values * np.array([[1.0], [turn]])
    squared = np.zeros((2, values.shape[1], values.shape[1]))
    first, second = np.triu_indices(values.shape[1], k=1)
    z = _over_errors(values[:, first] - values[:, second], errors)
    squared[:, first, second] = squared[:, second, first] = np.square(z)
    orders = np.argsort(values, axis=1, kind="stable")
    blocks, left = _ties(values, orders, squared)
    # With the sample itself among the draws the level holds exactly.
    most = int(tail * (deviations.shape[1] + 1) + 1e-9)
    none = np.zeros((2, 1, len(first)))
    # No tie undoes what is certain.
    rejected, accepted = int(left[-1]) - 1, int(left[0])
    while accepted - rejected > 1:
        d = (rejected + accepted) // 2
        state = int(np.argmax(left <= d))
        moved = _tied(values, orders, _closed(values, orders, squared, blocks[state], _CLOSE))
        against = _evidence(z, none, turn, d, -1.0, 1)[1]
        null = _over_errors(moved[:, first] - moved[:, second], errors)
        if _evidence(null, deviations, turn, d, against, most)[0] < most:
            rejected = d
        else:
            accepted = d
    return accepted


def _over_errors(differences: FloatArray, errors: FloatArray) -> FloatArray:
    """Divide differences of pairs by their errors; one without error is 0 or infinite."""
    exact = np.where(differences == 0, 0.0, np.copysign(np.inf, differences))
    return np.divide(differences, errors, out=exact, where=errors > 0)


def _tied(
    values: FloatArray, orders: npt.NDArray[np.intp], blocks: npt.NDArray[np.intp]
) -> FloatArray:
    """Give each block of systems its mean."""
    moved = np.empty_like(values)
    for side, (order, block) in enumerate(zip(orders, blocks, strict=True)):
        sums = np.bincount(block, weights=values[side, order])
        moved[side, order] = sums[block] / np.bincount(block)[block]
    return moved


@nb.njit(cache=True, nogil=True)
def _evidence(
    z: FloatArray, deviations: FloatArray, turn: float, d: int, against: float, enough: int
) -> tuple[int, float]:
    """Count the draws that speak as much against at most `d` opposed pairs, up to `enough`.

    Where z is of turned values, deviations of the second order are turned here.

    Also returns the squared evidence of the last draw that was looked at.
    """
    n_pairs, n_more, found = z.shape[1], 0, 0.0
    clear = np.empty(n_pairs)
    # Under the hypothesis at most d are opposed at z: the others' sum is no less than what counts.
    others = np.array([0.0 if z[0, pair] * z[1, pair] < 0.0 else 1.0 for pair in range(n_pairs)])
    for draw in range(deviations.shape[1]):
        found = 0.0
        for pair in range(n_pairs):
            x = z[0, pair] + deviations[0, draw, pair]
            y = z[1, pair] + turn * deviations[1, draw, pair]
            clear[pair] = min(x * x, y * y) if x * y < 0.0 else 0.0
            found += others[pair] * clear[pair]
        if found < (1.0 - 1e-12) * against:
            continue
        n_opposed = 0
        for pair in range(n_pairs):
            clear[n_opposed] = clear[pair]
            n_opposed += clear[pair] > 0.0
        found = 0.0
        if n_opposed > d:
            for each in np.partition(clear[:n_opposed], n_opposed - d - 1)[: n_opposed - d]:
                found += each
        if found >= against:
            n_more += 1
            if n_more == enough:
                break
    return n_more, found


@nb.njit(cache=True, nogil=True)
def _ties(
    values: FloatArray, orders: npt.NDArray[np.intp], squared: FloatArray
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Tie systems that are next to each other until no pair is opposed, the cheapest first.

    A block of m systems costs 2 / m times the sum of its squared z, as many standard errors of one
    system as its values have to move, squared and summed. Of all blocks that could be made or
    widened, that with the least further cost per pair undone is.

    Returns
    -------
    blocks : (n_states, 2, n_systems)
        By place in the order: the place of the first of its block.
    left : (n_states,)
        Opposed pairs that are left.
    """
    n = values.shape[1]
    opposed = np.zeros((n, n), dtype=np.bool_)
    n_left = 0
    for i in range(n):
        for j in range(i):
            if (values[0, i] - values[0, j]) * (values[1, i] - values[1, j]) < 0:
                opposed[i, j] = opposed[j, i] = True
                n_left += 1
    blocks = np.empty((2 * n, 2, n), dtype=np.intp)
    for k in range(2):  # by loops: compiling an assignment of arrays takes three seconds
        for p in range(n):
            blocks[0, k, p] = p
    left = np.empty(2 * n, dtype=np.intp)
    left[0] = n_left
    costs = np.zeros((2, n))
    state = 0
    while n_left > 0:
        now = blocks[state]
        least, side, start, stop, cost = np.inf, 0, 0, 0, 0.0
        for k in range(2):
            for p in range(n):
                if now[k, p] != p:
                    continue
                total, undone, spent = 0.0, 0, 0.0
                for q in range(p, n):
                    for r in range(p, q):
                        total += squared[k, orders[k, r], orders[k, q]]
                        undone += opposed[orders[k, r], orders[k, q]]
                    spent += costs[k, q]
                    if undone == 0 or (q + 1 < n and now[k, q + 1] != q + 1):
                        continue
                    whole = 2 * total / (q - p + 1)
                    if (whole - spent) / undone < least:
                        least, cost = (whole - spent) / undone, whole
                        side, start, stop = k, p, q + 1
        if least == np.inf:
            break
        state += 1
        for k in range(2):
            for p in range(n):
                blocks[state, k, p] = now[k, p]
        for r in range(start, stop):
            blocks[state, side, r] = start
            costs[side, r] = cost if r == start else 0.0
            for q in range(start, r):
                i, j = orders[side, r], orders[side, q]
                if opposed[i, j]:
                    opposed[i, j] = opposed[j, i] = False
                    n_left -= 1
        left[state] = n_left
    return blocks[: state + 1], left[: state + 1]


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


@nb.njit(cache=True, nogil=True)
def _closed(
    values: FloatArray,
    orders: npt.NDArray[np.intp],
    squared: FloatArray,
    blocks: npt.NDArray[np.intp],
    close: float,
) -> npt.NDArray[np.intp]:
    """Tie what is close as well, the closest first, without undoing another opposed pair.

    A pair that agrees in the sample may do so by chance: where it is tied, resampling opposes it
    as often as it would if the truth were so. One tie is enough, under either ordering.
    """
    n = values.shape[1]
    tied = np.zeros((n, n), dtype=np.bool_)
    costs = np.zeros((2, n))
    blocks = blocks.copy()
    for k in range(2):
        for q in range(n):
            for p in range(blocks[k, q], q):
                i, j = orders[k, p], orders[k, q]
                tied[i, j] = tied[j, i] = True
                costs[k, blocks[k, q]] += squared[k, i, j]
        for p in range(n):
            size = (blocks[k] == p).sum()
            if size:
                costs[k, p] *= 2 / size
    while True:
        least, side, start, stop, cost = close**2, 0, -1, 0, 0.0
        for k in range(2):
            for middle in range(1, n):
                if blocks[k, middle] != middle:
                    continue
                p, q = blocks[k, middle - 1], middle
                while q < n and blocks[k, q] == middle:
                    q += 1
                total, fresh, kept = 0.0, False, False
                for u in range(p, middle):
                    for v in range(middle, q):
                        i, j = orders[k, u], orders[k, v]
                        total += squared[k, i, j]
                        if not tied[i, j]:
                            fresh = True
                            kept |= (values[0, i] - values[0, j]) * (
                                values[1, i] - values[1, j]
                            ) < 0
                if kept or not fresh:
                    continue
                own = costs[k, p] * (middle - p) + costs[k, middle] * (q - middle)
                whole = (2 * total + own) / (q - p)
                further = whole - costs[k, p] - costs[k, middle]
                if further < least:
                    least, side, start, stop, cost = further, k, p, q, whole
        if start < 0:
            return blocks
        costs[side, start] = cost
        for v in range(start, stop):
            blocks[side, v] = start
            for u in range(start, v):
                i, j = orders[side, u], orders[side, v]
                tied[i, j] = tied[j, i] = True
