"""How many of the items that a sample holds stand above a given one: its distribution."""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError

__all__ = ["hypergeometric_cdf", "hypergeometric_mean"]

FloatArray = npt.NDArray[np.float64]


def hypergeometric_cdf(
    most: npt.ArrayLike, pool: npt.ArrayLike, above: npt.ArrayLike, draws: npt.ArrayLike
) -> FloatArray:
    r"""Give the probability that few of the items drawn from a pool are among those above.

    :math:`P(H \le m)` for :math:`P(H = x) = \binom{a}{x}\binom{N-a}{d-x}/\binom{N}{d}`: of a pool
    of N items, a score above the item in question, and d are drawn without replacement.

    Parameters
    ----------
    most : array_like of int
        m; the result is 0 where it is below the least possible number, 1 from the largest on.
    pool : array_like of int
        N, at least 0.
    above : array_like of int
        a, between 0 and N.
    draws : array_like of int
        d, between 0 and N.

    Returns
    -------
    ndarray of float64
        Of the shape that the four have together.

    Raises
    ------
    ConfigError
        If `above` or `draws` is negative or larger than `pool`.

    Notes
    -----
    The first term of the shorter tail is computed by a saddle-point expansion (Loader, "Fast and
    accurate computation of binomial probabilities", 2000), in which no large logarithms cancel; the
    other terms follow by their ratios, until they no longer count. With u = 2**-53 and x the first
    term's number, the relative error stays below u (100 + 8 |x - mean| + 8 s + 4 |ln P(H = x)|),
    where s is the standard deviation: the mean is rounded in the expansion, as are the ratios.

    Examples
    --------
    Two of four items are above; of two drawn, none is with probability 1/6, and one with 4/6.

    >>> hypergeometric_cdf([-1, 0, 1, 2], 4, 2, 2).round(6)
    array([0.      , 0.166667, 0.833333, 1.      ])
    """
    names = ("most", "pool", "above", "draws")
    arrays = _counts(
        "hypergeometric_cdf", dict(zip(names, (most, pool, above, draws), strict=True))
    )
    probability = np.empty(arrays[0].shape)
    m, n, a, d = (values.ravel() for values in arrays)
    _hypergeometric(m, n, a, d, _SMALL_STIRLING, probability.reshape(-1))
    return probability


def hypergeometric_mean(
    worth: FloatArray, pool: npt.ArrayLike, above: npt.ArrayLike, draws: npt.ArrayLike
) -> FloatArray:
    r"""Give the mean worth of the number of drawn items that are among those above.

    :math:`\sum_x P(H = x)\,w_x` with the distribution of :func:`hypergeometric_cdf`. An item with
    x of the drawn ones above it has rank x + 1, so that any metric of one relevant item is a worth.

    Parameters
    ----------
    worth : ndarray of float64, shape (n_worths,)
        What 0, 1, ... are worth, none negative; larger numbers are worth nothing.
    pool, above, draws : array_like of int
        As in :func:`hypergeometric_cdf`.

    Returns
    -------
    ndarray of float64
        Of the shape that `pool`, `above` and `draws` have together.

    Raises
    ------
    ConfigError
        If `above` or `draws` is negative or larger than `pool`, or a worth is negative or no
        number.

    Notes
    -----
    The sum starts where the probability is largest and goes both ways until no worth could count.
    No term is negative, so that each keeps the relative error that `hypergeometric_cdf` states.

    Examples
    --------
    Two of four items are above, two are drawn: none, one or both with probability 1/6, 4/6, 1/6.

    >>> hypergeometric_mean(np.array([1.0, 1 / 2, 1 / 3]), 4, [2], 2).round(6)
    array([0.555556])
    """
    names = ("pool", "above", "draws")
    arrays = _counts("hypergeometric_mean", dict(zip(names, (pool, above, draws), strict=True)))
    worth = np.ascontiguousarray(worth, np.float64)
    if not (worth >= 0).all():
        raise ConfigError(f"hypergeometric_mean: a worth is {worth.min()}, expected none below 0")
    mean = np.empty(arrays[0].shape)
    n, a, d = (values.ravel() for values in arrays)
    _mean(worth, n, a, d, _SMALL_STIRLING, mean.reshape(-1))
    return mean


def _counts(function: str, arguments: dict[str, npt.ArrayLike]) -> list[npt.NDArray[np.int64]]:
    """Copy integers to one shape, refusing draws from a pool that does not hold as many."""
    arrays = [np.asarray(values) for values in arguments.values()]
    for name, values in zip(arguments, arrays, strict=True):
        if values.dtype.kind not in "iu":
            raise ConfigError(f"{function}: {name} has dtype {values.dtype}, expected int")
    arrays = list(np.broadcast_arrays(*arrays))
    pool = arrays[-3]
    for name, values in zip(("above", "draws"), arrays[-2:], strict=True):
        wrong = (values < 0) | (values > pool)
        if wrong.any():
            raise ConfigError(
                f"{function}: {name}={values[wrong][0]} of a pool of "
                f"{pool[wrong][0]}, expected a number between 0 and the pool\n"
                "count items of the pool only"
            )
    return [np.array(values, np.int64, order="C") for values in arrays]


_SMALL_STIRLING = np.array(
    [0.0]
    + [
        math.log(math.factorial(n)) - 0.5 * math.log(2 * math.pi * n) - n * math.log(n) + n
        for n in range(1, 16)
    ]
)
"""What Stirling's formula lacks of the logarithm of n!, for n below 16; 0 is not used."""


@nb.njit(cache=True, nogil=True)
def _stirling_error(n: int, small: Any) -> float:
    """Return ``ln(n!) - ln(sqrt(2 pi n) (n / e)**n)``; the series is right to 1e-16 from 16 on."""
    if n < 16:
        return float(small[n])
    square = float(n) * n
    series = 1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square
    return float((1 / 12 - (1 / 360 - series / square) / square) / n)


@nb.njit(cache=True, nogil=True)
def _deviance(x: float, mean: float) -> float:
    """Return ``x ln(x / mean) + mean - x`` without cancelling where both are near each other."""
    if abs(x - mean) < 0.1 * (x + mean):
        share = (x - mean) / (x + mean)
        total, term = (x - mean) * share, 2.0 * x * share
        for j in range(3, 1000, 2):
            term *= share * share
            following = total + term / j
            if following == total:
                break
            total = following
        return total
    return x * np.log(x / mean) + mean - x if x > 0.0 else mean


@nb.njit(cache=True, nogil=True)
def _choose(x: int, n: int, share: float, rest: float, small: Any) -> float:
    """Return the logarithm of ``binom(n, x) share**x rest**(n - x)``, with share + rest = 1."""
    if n == 0:
        return 0.0
    if x == 0 or x == n:
        # Where the share is small, ln(1 - share) is what log1p is for.
        kept, lost = (rest, share) if x == 0 else (share, rest)
        return n * (np.log1p(-lost) if lost < 0.5 else np.log(kept))
    value = _stirling_error(n, small) - _stirling_error(x, small) - _stirling_error(n - x, small)
    value -= _deviance(float(x), n * share) + _deviance(float(n - x), n * rest)
    return value - 0.5 * np.log(2.0 * np.pi * x * (float(n - x) / n))


@nb.njit(cache=True, nogil=True)
def _hypergeometric(
    most: Any, pool: Any, above: Any, draws: Any, small: Any, probability: Any
) -> None:
    """Fill in `probability`; see `hypergeometric_cdf`."""
    every, drawn, ways = -1, -1, 0.0
    for row in range(len(most)):
        m, n, a, d = most[row], pool[row], above[row], draws[row]
        least, largest = max(0, d - (n - a)), min(a, d)
        if m < least or m >= largest:
            probability[row] = 0.0 if m < least else 1.0
            continue
        # From here on 0 < a, d < n. The tail that does not hold the mode is summed.
        lower = m < (d + 1.0) * (a + 1.0) / (n + 2.0)
        x = m if lower else m + 1
        share, rest = d / n, (n - d) / n
        start = _choose(x, a, share, rest, small) + _choose(d - x, n - a, share, rest, small)
        if n != every or d != drawn:  # the runs of a user have one pool
            every, drawn, ways = n, d, _choose(d, n, share, rest, small)
        start -= ways
        total = term = 1.0
        while term > 1e-18 * total and (x > least if lower else x < largest):
            if lower:
                term *= (x * float(n - a - d + x)) / (float(a - x + 1) * (d - x + 1))
                x -= 1
            else:
                term *= (float(a - x) * (d - x)) / (float(x + 1) * (n - a - d + x + 1))
                x += 1
            total += term
        tail = np.exp(start) * total
        probability[row] = tail if lower else 1.0 - tail


@nb.njit(cache=True, nogil=True)
def _mean(worth: Any, pool: Any, above: Any, draws: Any, small: Any, mean: Any) -> None:
    """Fill in `mean`; see `hypergeometric_mean`."""
    most = worth.max() if len(worth) else 0.0
    every, drawn, ways = -1, -1, 0.0
    for row in range(len(mean)):
        n, a, d = pool[row], above[row], draws[row]
        least, largest = max(0, d - (n - a)), min(a, d, len(worth) - 1)
        if least > largest:
            mean[row] = 0.0
            continue
        if least == min(a, d):
            mean[row] = worth[least]
            continue
        # From here on 0 < a, d < n. The start is the mode, or the worth that is next to it.
        start = int(min(max((d + 1.0) * (a + 1.0) / (n + 2.0), least), largest))
        share, rest = d / n, (n - d) / n
        log = _choose(start, a, share, rest, small) + _choose(d - start, n - a, share, rest, small)
        if n != every or d != drawn:
            every, drawn, ways = n, d, _choose(d, n, share, rest, small)
        log -= ways
        total, term, x = worth[start], 1.0, start
        while x > least and term * most > 1e-18 * total:
            term *= (x * float(n - a - d + x)) / (float(a - x + 1) * (d - x + 1))
            x -= 1
            total += term * worth[x]
        term, x = 1.0, start
        while x < largest and term * most > 1e-18 * total:
            term *= (float(a - x) * (d - x)) / (float(x + 1) * (n - a - d + x + 1))
            x += 1
            total += term * worth[x]
        mean[row] = np.exp(log) * total
