r"""What theory says a measurement must give: expectations, the notation of Table 2, the lemma.

Closed forms, as functions of a split or of a table of ranks. :mod:`recbias.metrics.expected`
declares those of a table as metrics (``rho``, ``lower@n``, ``P@n|t=T``, ``P@n|N=N``), so that an
experiment can measure them beside what they bound or predict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.ranking import RankTable
from recbias.ranking.kernels import order_rows
from recbias.relevance import relevant
from recbias.splits import Split
from recbias.targets import n_all_targets

__all__ = [
    "SplitStatistics",
    "expected_hit",
    "expected_precision",
    "hypergeometric_cdf",
    "lemma_bound",
    "ranks_in_shared_set",
    "relevant_share",
    "split_statistics",
]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SplitStatistics:
    r"""The notation of BCC17 Table 2 for one split, relevance threshold and candidate set.

    Attributes
    ----------
    n_users
        :math:`|\mathcal U|`, users without test ratings included.
    n_candidates
        :math:`|\mathcal C|`.
    n_relevant
        :math:`|PR|`: relevant ratings, training and test together.
    n_relevant_test
        :math:`|PR_{test}|`.
    sigma
        Share of the ratings that is in test.
    rho
        Mean over users of :math:`|T_u\cap PR_{test}(u)|/|T_u|`.
    t
        Harmonic mean of :math:`|T_u|`.
    delta
        :math:`|PR|/(t|\mathcal U|)`.
    """

    n_users: int
    n_candidates: int
    n_relevant: int
    n_relevant_test: int
    sigma: float
    rho: float
    t: float
    delta: float


def split_statistics(
    split: Split, candidates: Literal["AI", "TI"], *, min_rating: float
) -> SplitStatistics:
    r"""Compute the quantities of BCC17 Table 2 for AN-AR target sets.

    Parameters
    ----------
    split
        One split of a dataset.
    candidates
        ``"AI"`` or ``"TI"``.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    SplitStatistics

    See Also
    --------
    relevant_share : the same share per user, from a table of ranks.

    Notes
    -----
    :math:`\rho` is only near :math:`\sigma\delta` (Eq. 4), because users with many ratings have
    smaller target sets and more relevant items in them.

    References
    ----------
    BCC17 Table 2, Eq. 4.
    """
    train, test = split.train, split.test
    sizes = n_all_targets(split, candidates)
    hits = np.bincount(test.user[relevant(test.value, min_rating)], minlength=test.n_users)
    n_relevant_test = int(hits.sum())
    n_relevant = n_relevant_test + int(relevant(train.value, min_rating).sum())
    t = 1.0 / float(np.mean(1.0 / sizes))
    return SplitStatistics(
        n_users=test.n_users,
        n_candidates=test.n_items if candidates == "AI" else len(split.test_items),
        n_relevant=n_relevant,
        n_relevant_test=n_relevant_test,
        sigma=len(test) / (len(test) + len(train)),
        rho=float(np.mean(hits / sizes)),
        t=t,
        delta=n_relevant / (t * test.n_users),
    )


def ranks_in_shared_set(table: RankTable) -> npt.NDArray[np.int64]:
    r"""Turn ranks of 1R runs that share one :math:`N_u` into ranks in :math:`N_u\cup PR_{test}(u)`.

    The item with the j-th best rank of its user's runs has j-1 relevant items above it as well:
    :math:`\tau(i,T_u)=\tau(i,T_u^r)+j-1`. Two runs of equal rank have nothing but each other
    between them, so that either order gives the same set of ranks.

    Parameters
    ----------
    table
        A table of ``1R-shared``.

    Returns
    -------
    ndarray of int64, shape (n_rows,)
        0 where the item is not in the list.

    References
    ----------
    BCC17 Sec. 3.4, corrected proof (E01).
    """
    return np.where(table.rank > 0, table.rank + _better(table.user, table.rank, table.n_users), 0)


def _better(
    user: npt.NDArray[np.int32], rank: npt.NDArray[np.int32], n_users: int
) -> npt.NDArray[np.int64]:
    """Count, for each row that is in a list, the rows of the same user with a better rank."""
    indptr = np.searchsorted(user, np.arange(n_users + 1)).astype(np.int64)
    order = np.empty(len(user), dtype=np.int64)
    order_rows(indptr, rank > 0, rank, order)
    better = np.empty(len(order), dtype=np.int64)
    better[order] = np.arange(len(order)) - indptr[user[order]]
    return better


def relevant_share(
    table: RankTable, *, min_rating: float, n_sampled: int | None = None
) -> FloatArray:
    r"""Share of relevant items in each target set: the expected P@n of a random ranking.

    It is so at every cutoff up to the size of the set.

    Parameters
    ----------
    table
        Ranks under one rule.
    min_rating
        Smallest rating that is relevant.
    n_sampled
        Non-relevant items in a set, if they are a sample of those that the table ranks; a set that
        has fewer is taken whole. All of them by default.

    Returns
    -------
    ndarray of float64, shape (n_users,) or, for runs, (n_rows,)
        0 for an empty target set. Of the full target set, for condensed lists too.

    References
    ----------
    BCC17 Eqs. 4 and 5.

    Examples
    --------
    >>> zero, sizes = np.zeros(1, dtype=np.int32), np.array([4, 8], dtype=np.int32)
    >>> table = RankTable("user", 2, zero, zero, np.array([5.0]), zero, zero, sizes, sizes)
    >>> relevant_share(table, min_rating=5)
    array([0.25, 0.  ])
    """
    sizes: npt.NDArray[Any] = table.n_targets
    if table.per == "run":
        return 1.0 / (sizes if n_sampled is None else np.minimum(sizes, n_sampled + 1))
    hits = np.bincount(table.user[relevant(table.value, min_rating)], minlength=table.n_users)
    if n_sampled is not None:
        sizes = np.minimum(sizes, n_sampled + hits)
    return np.divide(hits, sizes, out=np.zeros(table.n_users), where=sizes > 0)


def _require_runs(table: RankTable, what: str) -> None:
    if table.per != "run":
        raise ConfigError(f"{what} needs a table of runs (1R), this one has a set per user (AR)")


def _depth(table: RankTable, bound: str, cutoff: int) -> npt.NDArray[np.int64]:
    """Depth at which a bound counts hits: n, or for the upper one m_u = n + |PR_test(u)| - 1."""
    n_relevant = np.bincount(table.user, minlength=table.n_users)[table.user]
    return cutoff + (n_relevant - 1) * (bound == "upper")


def lemma_bound(table: RankTable, bound: Literal["lower", "upper"], cutoff: int) -> FloatArray:
    r"""Bound of 1RP@n in the lemma of BCC17 Sec. 3.4, as each run adds to it.

    Parameters
    ----------
    table
        Of runs that share one :math:`N_u`: ``1R-shared`` or ``AN-1R``.
    bound
        ``"lower"`` or ``"upper"``.
    cutoff
        n of 1RP@n.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        :math:`1/n` for a run that the bound counts, else 0; the mean over runs is the bound.

    Raises
    ------
    ConfigError
        If the table has a target set per user.

    References
    ----------
    BCC17 Eq. 2, Sec. 3.4; the proof there is corrected (erratum E01).

    Examples
    --------
    One user, relevant items r, others x, by score r1 x1 r2 x2: with N_u = {x1, x2}, both runs
    hit at n = 2 for r1 and only r2 needs the longer list.

    >>> user, item, ranks, threes = np.array([[0, 0], [0, 2], [1, 2], [3, 3]], dtype=np.int32)
    >>> stars = np.array([5.0, 5.0])
    >>> table = RankTable("run", 1, user, item, stars, ranks, ranks, threes, threes)
    >>> [float(lemma_bound(table, bound, 2).mean()) for bound in ("lower", "upper")]
    [0.25, 0.5]
    """
    _require_runs(table, f"{bound}@{cutoff}")
    ranks = ranks_in_shared_set(table)
    return ((ranks > 0) & (ranks <= _depth(table, bound, cutoff))) / cutoff


def expected_hit(
    table: RankTable, what: Literal["P", "lower", "upper"], cutoff: int, size: int
) -> FloatArray:
    r"""Compute 1RP@n, or a bound of the lemma, expected over all samples of T - 1 items.

    Parameters
    ----------
    table
        Of ``AN-1R``: every run ranks its relevant item among the whole pool.
    what
        ``"P"``, or ``"lower"`` or ``"upper"`` for the expected bounds.
    cutoff
        n of 1RP@n.
    size
        T, the relevant item included; a smaller pool is taken whole.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        What each run is expected to add; 0 where the item is not in the list.

    Raises
    ------
    ConfigError
        If the table has a target set per user.

    References
    ----------
    BCC17 Eqs. 1 and 2, over the sampling of Sec. 3.1.

    Examples
    --------
    One of three others stands above; of two drawn at cutoff 1, both must be of the other two.

    >>> zero, two, four = (np.array([n], dtype=np.int32) for n in (0, 2, 4))
    >>> table = RankTable("run", 1, zero, zero, np.array([5.0]), two, two, four, four)
    >>> print(expected_hit(table, "P", 1, 3).round(6))
    [0.333333]
    """
    _require_runs(table, f"{what}@{cutoff}|t={size}")
    pool = table.n_targets.astype(np.int64) - 1
    above = np.maximum(table.rank.astype(np.int64) - 1, 0)
    most = np.full(len(pool), cutoff - 1)
    if what != "P":
        # In the joint list a relevant item has the better relevant ones above it as well.
        relevant_above = ranks_in_shared_set(table) - table.rank
        most = _depth(table, what, cutoff) - 1 - relevant_above
    hit = hypergeometric_cdf(most, pool, above, np.minimum(size - 1, pool))
    return np.where(table.rank > 0, hit, 0.0) / cutoff


def expected_precision(
    table: RankTable, cutoff: int, n_sampled: int, *, min_rating: float
) -> FloatArray:
    r"""Compute P@n, expected over all samples of the non-relevant items that a user's set holds.

    Parameters
    ----------
    table
        Of ``AN-AR``: all candidates of a user in one set.
    cutoff
        n of P@n.
    n_sampled
        Non-relevant items in a sample; a pool that holds fewer is taken whole.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of float64, shape (n_users,)
        0 for a user without relevant test item. One that is not in the list is no hit.

    Raises
    ------
    ConfigError
        If the table has a target set per run.

    See Also
    --------
    expected_hit : the same for runs.

    Notes
    -----
    All relevant items are in every sample's list. One with b relevant and a non-relevant items
    above it is among the first n if at most n - 1 - b of the a are drawn, and expectations add up.

    References
    ----------
    BCC17 Sec. 3.1 (``NN``), over the sampling.

    Examples
    --------
    By score: r x r x, one x drawn. Both r are among the first two if the lower x is drawn.

    >>> user, item, ranks = np.array([[0, 0], [0, 2], [1, 3]], dtype=np.int32)
    >>> stars, four = np.array([5.0, 5.0]), np.array([4], dtype=np.int32)
    >>> table = RankTable("user", 1, user, item, stars, ranks, ranks, four, four)
    >>> print(expected_precision(table, 2, 1, min_rating=5))
    [0.75]
    """
    if table.per != "user":
        raise ConfigError(
            f"P@{cutoff}|N={n_sampled} needs a table with a set per user (AR), this one has runs "
            f"(1R); write P@{cutoff}|t={n_sampled + 1}"
        )
    chosen = relevant(table.value, min_rating)
    user, rank = table.user[chosen], table.rank[chosen]
    # At least 0: a table made by hand may have relevant items that are no targets.
    pool = np.maximum(table.n_targets - np.bincount(user, minlength=table.n_users), 0)
    better = _better(user, rank, table.n_users)
    above = np.clip(rank - 1 - better, 0, pool[user])
    draws = np.minimum(n_sampled, pool)
    hit = hypergeometric_cdf(cutoff - 1 - better, pool[user], above, draws[user])
    hits = np.bincount(user, np.where(rank > 0, hit, 0.0), minlength=table.n_users)
    return hits / cutoff


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
    arrays = [np.asarray(values) for values in (most, pool, above, draws)]
    for name, values in zip(("most", "pool", "above", "draws"), arrays, strict=True):
        if values.dtype.kind not in "iu":
            raise ConfigError(f"hypergeometric_cdf: {name} has dtype {values.dtype}, expected int")
    arrays = list(np.broadcast_arrays(*arrays))
    for name, values in (("above", arrays[2]), ("draws", arrays[3])):
        wrong = (values < 0) | (values > arrays[1])
        if wrong.any():
            raise ConfigError(
                f"hypergeometric_cdf: {name}={values[wrong][0]} of a pool of "
                f"{arrays[1][wrong][0]}, expected a number between 0 and the pool\n"
                "count items of the pool only"
            )
    probability = np.empty(arrays[0].shape)
    m, n, a, d = (np.ascontiguousarray(values, np.int64).ravel() for values in arrays)
    _hypergeometric(m, n, a, d, _SMALL_STIRLING, probability.reshape(-1))
    return probability


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
        start -= _choose(d, n, share, rest, small)
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
