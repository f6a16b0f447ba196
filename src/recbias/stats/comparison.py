"""Comparison of systems on the same users or runs: paired tests, intervals, correction.

A difference of two systems is judged on *pairs*: the same user (or run) under both. Every test here
is two-sided. No value is dropped silently: an undefined (NaN) value is refused, because leaving the
user out is a choice of population, and that choice has a name (:mod:`recbias.metrics.aggregation`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special

from recbias.errors import ConfigError
from recbias.stats.resampling import weighted_sums

__all__ = [
    "PairedT",
    "bootstrap_test",
    "compare_all",
    "effect_size",
    "holm",
    "paired_t",
    "resampled_tests",
    "sign_test",
    "subsampled_tests",
    "subsampled_wins",
    "user_means",
    "wilcoxon",
]

FloatArray = npt.NDArray[np.float64]

_DECIMALS = 12
"""Differences are rounded to this for signed ranks: .3 - .2 and .1 - 0 must tie."""
_EXACT = 50
"""So many differences have an exact distribution of signed ranks, whose counts an int64 holds."""


@dataclass(frozen=True, eq=False)
class PairedT:
    """Mean paired difference `a` - `b` with its confidence interval and two-sided t test.

    Every attribute but `n` has the leading shape of the values: one entry per tested pair.
    """

    n: int
    difference: FloatArray
    low: FloatArray
    high: FloatArray
    statistic: FloatArray
    p_value: FloatArray


def paired_t(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> PairedT:
    r"""Test whether two systems have the same mean, on paired values.

    :math:`t = \bar d / (s_d / \sqrt n)` with n - 1 degrees of freedom, :math:`s_d` the standard
    deviation of the differences with denominator n - 1.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n)
        Values of the two systems on the same n users or runs; leading axes are tested apart.
    level
        Coverage of the confidence interval of the mean difference, in (0, 1).

    Returns
    -------
    PairedT
        Where all differences are equal the interval is that one value; p is 1 if it is 0, else 0
        (the limit of the test as the spread vanishes).

    Raises
    ------
    ConfigError
        If shapes differ, n < 2, a value is NaN, or `level` is not in (0, 1).

    See Also
    --------
    wilcoxon : the signed-rank test on the same pairs.

    References
    ----------
    CCM20 Sec. 3.9; R. A. Fisher, "Statistical methods for research workers" (1925).

    Examples
    --------
    >>> test = paired_t([0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4])
    >>> print(test.difference.round(6), test.statistic.round(6))
    0.05 0.480384
    """
    differences = _paired_differences(a, b)
    if not 0 < level < 1:
        raise ConfigError(f"level {level}: expected a coverage between 0 and 1")
    n = differences.shape[-1]
    mean = differences.mean(axis=-1)
    error = differences.std(axis=-1, ddof=1) / np.sqrt(n)
    # Equal differences leave a spread of rounding errors in the mean, which is none.
    error = np.where(np.ptp(differences, axis=-1) == 0, 0.0, error)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(mean == 0, 0.0, mean / error)
    half = special.stdtrit(n - 1, (1 + level) / 2) * error
    return PairedT(
        n=n,
        difference=mean,
        low=mean - half,
        high=mean + half,
        statistic=statistic,
        p_value=2 * special.stdtr(n - 1, -np.abs(statistic)),
    )


def wilcoxon(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Test whether paired differences are symmetric around zero, by their signed ranks.

    Zero differences are dropped (Wilcoxon's own rule) and equal absolute differences share their
    mean rank. The distribution is exact for up to 50 non-zero differences, tied or not, and normal,
    corrected for ties but not for continuity, otherwise. Differences are rounded to 12 decimals
    before ranking: as floats .3 - .2 and .1 - 0 differ, and would break a tie by rounding error.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n)
        Values of the two systems on the same n users or runs; leading axes are tested apart.

    Returns
    -------
    ndarray of float64, shape (...)
        Two-sided p; 1 where all differences are zero.

    Raises
    ------
    ConfigError
        If shapes differ, n < 2 or a value is NaN.

    See Also
    --------
    paired_t : the test of the mean difference.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945);
    CCM20 Sec. 3.9; BCC17 Sec. 3.3.

    Examples
    --------
    Five differences, all positive: 2 of the 32 sign patterns are as extreme.

    >>> print(wilcoxon([0.1, 0.3, 0.6, 0.9, 0.7], [0.1, 0.2, 0.4, 0.6, 0.3]))
    0.125
    >>> print(wilcoxon([0.1, 0.3, 0.6, 0.9, 0.7], [0.0, 0.1, 0.3, 0.5, 0.2]))
    0.0625

    So it is if they are equal and all ranks tied:

    >>> print(wilcoxon([2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0, 5.0]))
    0.0625
    """
    differences = np.round(_paired_differences(a, b), _DECIMALS)
    rows = differences.reshape(-1, differences.shape[-1])
    p_values = np.array([_signed_rank_p(row[row != 0]) for row in rows])
    return p_values.reshape(differences.shape[:-1])


def _signed_rank_p(nonzero: FloatArray) -> float:
    if nonzero.size == 0:
        return 1.0
    n = nonzero.size
    _, place, ties = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(ties) - (ties - 1) / 2
    # Ranks are multiples of 1/2, so that their sum is exact.
    positive = float(mean_rank[place[nonzero > 0]].sum())
    if n <= _EXACT:
        return _exact_rank_p(2 * mean_rank[place], positive)
    correction = float((ties.astype(np.float64) ** 3 - ties).sum()) / 2
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - correction) / 24
    z = (positive - n * (n + 1.0) / 4) / np.sqrt(variance)
    return float(2 * special.ndtr(-abs(z)))


def _exact_rank_p(doubled: FloatArray, positive: float) -> float:
    """Give the exact two-sided p of a sum of ranks, from twice the ranks: whole numbers."""
    ways = np.zeros(int(doubled.sum()) + 1, dtype=np.int64)  # signs by the sum that they give
    ways[0] = 1
    for rank in doubled.astype(int):
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    least = min(int(2 * positive), len(ways) - 1 - int(2 * positive))
    return min(1.0, 2 * float(ways[: least + 1].sum()) / 2 ** len(doubled))


def sign_test(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Test whether one system wins against the other on as many users as it loses.

    Equal values are dropped; among the others wins are binomial with one half. Differences are
    rounded to 12 decimals first, as for :func:`wilcoxon`.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n)
        Values of the two systems on the same n users or runs; leading axes are tested apart.

    Returns
    -------
    ndarray of float64, shape (...)
        Exact two-sided p; 1 where all values are equal.

    Raises
    ------
    ConfigError
        If shapes differ, n < 2 or a value is NaN.

    References
    ----------
    W. Dixon & A. Mood, "The statistical sign test", J. Amer. Statist. Assoc. 41 (1946); CCM20
    Sec. 3.9.

    Examples
    --------
    Five wins of five: 2 of 32 sign patterns are as extreme.

    >>> print(sign_test([0.1, 0.3, 0.6, 0.9, 0.7], [0.0, 0.1, 0.3, 0.5, 0.2]))
    0.0625
    """
    differences = np.round(_paired_differences(a, b), _DECIMALS)
    wins, losses = (differences > 0).sum(axis=-1), (differences < 0).sum(axis=-1)
    tail = special.bdtr(np.minimum(wins, losses), wins + losses, 0.5)
    return np.asarray(np.minimum(2 * tail, 1.0))


def bootstrap_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    weights: npt.NDArray[np.integer] | Iterable[npt.NDArray[np.integer]],
) -> FloatArray:
    r"""Test whether two systems have the same mean, by resampled users instead of a normal curve.

    Differences are shifted to a mean of 0, which is the null hypothesis, and users are drawn from
    them: p is the share of draws, the sample counted as one of them, whose statistic
    :math:`\bar d/(s_d/\sqrt n)` is as far from 0 as that of the sample.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n)
        Values of the two systems on the same n users or runs; leading axes are tested apart.
    weights : ndarray of int, shape (n_replicates, n), or iterable of such
        How often each user is drawn, as from :func:`recbias.stats.resampling.bootstrap_weights`; in
        blocks of draws where all at once are too many. The same weights for all pairs of systems
        make their tests comparable.

    Returns
    -------
    ndarray of float64, shape (...)
        Two-sided p, at least ``1 / (n_replicates + 1)``; 1 where all differences are zero.

    Raises
    ------
    ConfigError
        If shapes differ, n < 2, a value is NaN, or `weights` are of other users.

    References
    ----------
    B. Efron & R. Tibshirani, "An introduction to the bootstrap" (1993), Sec. 16.4; T. Sakai,
    "Evaluating evaluation metrics based on the bootstrap", SIGIR 2006; CCM20 Sec. 3.9.

    Examples
    --------
    >>> from recbias.stats.resampling import bootstrap_weights
    >>> weights = bootstrap_weights(4, 999, rng=np.random.default_rng(1))
    >>> print(bootstrap_test([0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4], weights))
    0.643
    """
    differences = _paired_differences(a, b)
    n = differences.shape[-1]
    rows = differences.reshape(-1, n)
    # Equal differences that are not 0 have no spread: p is its limit, 1 in n_replicates + 1.
    shifted = rows - rows.mean(axis=1, keepdims=True)
    shifted[np.ptp(rows, axis=1) == 0] = 0.0
    observed = _studentised(rows.mean(axis=1), np.square(shifted).mean(axis=1), n)
    squares, far, n_draws = np.square(shifted), np.zeros(len(rows), dtype=np.int64), 0
    for block in [weights] if isinstance(weights, np.ndarray) else weights:
        if block.ndim != 2 or block.shape[1] != n:
            raise ConfigError(
                f"weights of shape {block.shape}: expected a row for each draw of {n} users"
            )
        first = weighted_sums(shifted, block).T / n
        second = weighted_sums(squares, block).T / n
        drawn = _studentised(first, second - np.square(first), n)
        # The draw that repeats the sample must count as equally far, whatever rounding does to it.
        far += (np.abs(drawn) >= np.abs(observed)[:, None] * (1 - 1e-12)).sum(axis=1)
        n_draws += len(block)
    p_values = (1 + np.where(observed == 0, n_draws, far)) / (1 + n_draws)
    return p_values.reshape(differences.shape[:-1])


def _studentised(mean: FloatArray, variance: FloatArray, n: int) -> FloatArray:
    """Divide means by their standard errors: 0 where both are 0, infinite where only the error is.

    A draw of one user many times has rounding errors for a variance.
    """
    spread = np.where(variance > 1e-12 * np.square(mean), variance, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean == 0, 0.0, mean / np.sqrt(spread / (n - 1)))


def resampled_tests(value: float, drawn: FloatArray, n_users: int) -> tuple[float, float, float]:
    """Test whether something is 0 that has no standard error but that of resampled users.

    Parameters
    ----------
    value
        On all users.
    drawn : ndarray of float64, shape (n_replicates,)
        On resampled users.
    n_users
        How many they are.

    Returns
    -------
    statistic, p, share : float
        The value in standard deviations of what was drawn; two-sided p of that as Student's t; and
        p as twice the share that lies on the other side of 0, the value counted as drawn.

    References
    ----------
    B. Efron & R. Tibshirani, "An introduction to the bootstrap" (1993), Sec. 13.3, 15.4.

    Examples
    --------
    >>> print(*(round(number, 3) for number in resampled_tests(0.2, np.array([0.1, 0.3, 0.2]), 50)))
    2.0 0.051 0.5
    """
    error = float(np.std(drawn, ddof=1))
    statistic = 0.0 if value == 0 else value / error if error else math.copysign(math.inf, value)
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = 2 * float(special.stdtr(n_users - 1, -abs(statistic)))
    return statistic, p, min(1.0, 2 * (1 + beyond) / (1 + len(drawn)))


def subsampled_wins(
    a: npt.ArrayLike, b: npt.ArrayLike, *, size: int, n_samples: int, rng: np.random.Generator
) -> FloatArray:
    """Count in which share of small samples of users one system beats the other.

    A frequency, not a test: it tells how often an experiment with that many users would have said
    the opposite, and goes to 0 or 1 as `size` grows, however small the difference.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n)
        Values of the two systems on the same n users or runs.
    size
        Users of each sample, drawn without replacement, 1 to n.
    n_samples
        Number of samples, the same for all leading axes.
    rng
        Source of randomness.

    Returns
    -------
    ndarray of float64, shape (...)
        Share of samples in which the mean of `a` is above that of `b`; equal means count half.

    Raises
    ------
    ConfigError
        If shapes differ, n < 2, a value is NaN, or `size` is not in 1 to n.

    References
    ----------
    CCM20 Sec. 3.9.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> print(subsampled_wins([0.5, 0.2, 0.9], [0.4, 0.1, 0.6], size=2, n_samples=9, rng=rng))
    1.0
    """
    differences = _paired_differences(a, b)
    n = differences.shape[-1]
    if not 1 <= size <= n:
        raise ConfigError(f"samples of {size} users: expected 1 to {n}")
    wins = np.zeros(differences.shape[:-1])
    for _ in range(n_samples):
        mean = differences[..., np.sort(rng.permutation(n)[:size])].mean(axis=-1)
        wins += (np.sign(np.round(mean, _DECIMALS)) + 1) / 2
    return wins / n_samples


def subsampled_tests(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    size: int,
    n_samples: int,
    rng: np.random.Generator,
    level: float = 0.05,
) -> float:
    """Count in which share of small samples of users a paired t test says that systems differ.

    Parameters
    ----------
    a, b : array_like of float, shape (n,)
        Values of the two systems on the same n users or runs.
    size
        Users of each sample, drawn without replacement, 2 to n.
    n_samples
        Number of samples.
    rng
        Source of randomness.
    level
        Level of the tests.

    Returns
    -------
    float
        Share of samples with p below `level`; a frequency at that number of users, not a test.

    Raises
    ------
    ConfigError
        If shapes differ, n < 2, a value is NaN, or `size` is not in 2 to n.

    References
    ----------
    CCM20 Sec. 3.10.

    Examples
    --------
    >>> a, b = np.linspace(0.2, 0.8, 50), np.linspace(0.1, 0.9, 50)[::-1]
    >>> rng = np.random.default_rng(1)
    >>> subsampled_tests(a + 0.5, b, size=20, n_samples=30, rng=rng)
    1.0
    """
    differences = _paired_differences(a, b)
    n = differences.shape[-1]
    if not 2 <= size <= n:
        raise ConfigError(f"samples of {size} users: expected 2 to {n}")
    drawn = np.array([differences[rng.permutation(n)[:size]] for _ in range(n_samples)])
    return float((paired_t(drawn, np.zeros_like(drawn)).p_value < level).mean())


def effect_size(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    r"""Divide the mean paired difference by its standard deviation: Cohen's :math:`d_z`.

    It does not grow with the number of users, as :math:`t = d_z\sqrt n` does.

    Parameters
    ----------
    a, b : array_like of float, shape (..., n)
        Values of the two systems on the same n users or runs.

    Returns
    -------
    ndarray of float64, shape (...)
        0 where all differences are 0, infinite where they are equal and not 0.

    Raises
    ------
    ConfigError
        If shapes differ, n < 2 or a value is NaN.

    References
    ----------
    J. Cohen, "Statistical power analysis for the behavioral sciences", 2nd ed. (1988), Sec. 2.3.5.

    Examples
    --------
    >>> print(effect_size([0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4]).round(6))
    0.240192
    """
    test = paired_t(a, b)
    return test.statistic / np.sqrt(test.n)


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Correct the p values of a family of tests, so that one false alarm in the family is rare.

    The i-th smallest of m is multiplied by m - i + 1, and made no smaller than its predecessor:
    rejecting where the result is at most alpha keeps the chance of *any* false rejection at most
    alpha, however the tests depend on each other.

    Parameters
    ----------
    p_values : array_like of float, shape (m,)
        The whole family.

    Returns
    -------
    ndarray of float64, shape (m,)
        Adjusted p values in the given order, at most 1.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).

    Examples
    --------
    >>> print(holm([0.01, 0.04, 0.03]))
    [0.03 0.06 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.minimum(adjusted, 1.0)


def user_means(values: npt.ArrayLike, user: npt.NDArray[np.integer]) -> FloatArray:
    """Average the runs of each user, so that the pairs of a test are users and independent.

    Runs of one user share profile and scores. A test that counts each as a pair of its own
    takes a few users with many runs for much evidence, and rejects too often.

    Parameters
    ----------
    values : array_like of float, shape (n_runs,)
        Value of every run.
    user : ndarray of int, shape (n_runs,)
        Dense user of every run.

    Returns
    -------
    ndarray of float64, shape (users with a run,)
        In the order of user numbers.

    Examples
    --------
    >>> print(user_means([0.1, 0.0, 0.1], np.array([0, 0, 4])))
    [0.05 0.1 ]
    """
    runs = np.bincount(user)
    with_runs = runs > 0
    sums = np.bincount(user, weights=np.asarray(values, dtype=np.float64))
    return sums[with_runs] / runs[with_runs]


def compare_all(
    values: Mapping[str, npt.ArrayLike],
    *,
    user: npt.NDArray[np.integer] | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Compare every pair of systems by t and by signed ranks, corrected for the number of pairs.

    Parameters
    ----------
    values : mapping of system name to array of float, shape (n,)
        One metric on the same users, or on the same runs, of every system.
    user : ndarray of int, shape (n,), optional
        Dense user of each run: the runs of a user are averaged first and users are the pairs.
        Without it every entry is a pair of its own.
    level
        Coverage of the confidence intervals (of each difference alone, not of the family).

    Returns
    -------
    DataFrame
        A row per pair in the order of `values`: ``a``, ``b``, ``n`` pairs, ``difference`` of the
        means (a - b) with ``low`` and ``high``, and two-sided ``t_p`` and ``wilcoxon_p`` with
        their Holm corrections ``t_p_holm`` and ``wilcoxon_p_holm`` over the family of all pairs.

    Raises
    ------
    ConfigError
        If there are fewer than two systems, arrays differ in length, or a value is NaN.

    References
    ----------
    BCC17 Sec. 3.3 (Wilcoxon, all pairs of systems).

    Examples
    --------
    >>> table = compare_all({"A": [0.3, 0.2, 0.4], "B": [0.1, 0.1, 0.0], "C": [0.1, 0.2, 0.0]})
    >>> table[["a", "b", "n", "difference"]].round(3)
       a  b  n  difference
    0  A  B  3       0.233
    1  A  C  3       0.200
    2  B  C  3      -0.033
    """
    if len(values) < 2:
        raise ConfigError(f"compare_all: {len(values)} system given, a comparison takes two")
    units = {}
    for name, of_system in values.items():
        units[name] = np.asarray(of_system, dtype=np.float64)
        _require_defined(units[name], name)
        if user is not None:
            units[name] = user_means(units[name], user)
    rows = []
    for a, b in combinations(values, 2):
        pair = units[a], units[b]
        test = paired_t(*pair, level=level)
        rows.append(
            {
                "a": a,
                "b": b,
                "n": test.n,
                "difference": float(test.difference),
                "low": float(test.low),
                "high": float(test.high),
                "t_p": float(test.p_value),
                "wilcoxon_p": float(wilcoxon(*pair)),
            }
        )
    table = pd.DataFrame(rows)
    for column in ("t_p", "wilcoxon_p"):
        table[f"{column}_holm"] = holm(table[column].to_numpy())
    return table


def _paired_differences(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    first, second = (np.asarray(values, dtype=np.float64) for values in (a, b))
    if first.shape != second.shape:
        raise ConfigError(
            f"paired values: {first.shape} against {second.shape}; give the same users in one order"
        )
    if first.ndim == 0 or first.shape[-1] < 2:
        raise ConfigError("paired values: a test needs at least two pairs")
    for name, values in (("a", first), ("b", second)):
        _require_defined(values, name)
    return first - second


def _require_defined(values: FloatArray, name: str) -> None:
    if undefined := int(np.isnan(values).sum()):
        raise ConfigError(
            f"paired values of {name}: {undefined} of {values.size} are undefined (NaN); "
            "choose the users of a population first, e.g. those with a relevant test item"
        )
