"""Expectations from a table of ranks: what a ranking gives over all samples of its targets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.protocol.relevance import relevant
from recbias.ranking import RankTable
from recbias.ranking.kernels import order_rows
from recbias.theory.hypergeometric import hypergeometric_cdf, hypergeometric_mean

__all__ = [
    "expected_gain",
    "expected_hit",
    "expected_precision",
    "lemma_bound",
    "ranks_in_shared_set",
    "relevant_share",
]

FloatArray = npt.NDArray[np.float64]


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


def expected_gain(
    table: RankTable, what: Literal["RR", "nDCG"], cutoff: int | None, size: int
) -> FloatArray:
    r"""Compute RR or nDCG of 1R runs, expected over all samples of T - 1 items.

    Parameters
    ----------
    table
        Of ``AN-1R``: every run ranks its relevant item among the whole pool.
    what
        ``"RR"`` (a run's AP as well) or ``"nDCG"``, for which any gain map gives the same: a run
        has one relevant item, and the best list starts with it.
    cutoff
        n; None = no cutoff.
    size
        T, the relevant item included; a smaller pool is taken whole.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        The mean over all samples; 0 where the item is not in the list.

    Raises
    ------
    ConfigError
        If the table has a target set per user.

    See Also
    --------
    expected_hit : the same for 1RP@n.

    Notes
    -----
    The rank is X + 1, where X of the T - 1 drawn items are among the a that stand above, out of a
    pool of m. Without a cutoff, as :math:`\binom ax/(x+1)=\binom{a+1}{x+1}/(a+1)`,

    .. math:: E\Bigl[\frac1{X+1}\Bigr]=\frac{m+1}{T(a+1)}\,P(X'>0)

    with X' of T drawn from m + 1 among a + 1: near one over the expected rank. The tests compare
    both forms; this one is computed, as it is no sum.

    References
    ----------
    BCC17 Sec. 3.1, over its sampling; Li, Jin, Gao & Liu, KDD 2020, for the distribution of X.

    Examples
    --------
    One of three others stands above; two are drawn, and it is one of them with probability 2/3.

    >>> zero, two, four = (np.array([n], dtype=np.int32) for n in (0, 2, 4))
    >>> table = RankTable("run", 1, zero, zero, np.array([5.0]), two, two, four, four)
    >>> [float(expected_gain(table, "RR", cutoff, 3)[0].round(6)) for cutoff in (None, 1)]
    [0.666667, 0.333333]
    """
    _require_runs(table, f"{what}|t={size}")
    pool = table.n_targets.astype(np.int64) - 1
    above = np.maximum(table.rank.astype(np.int64) - 1, 0)
    if what == "RR" and cutoff is None:
        drawn = np.minimum(size, pool + 1)
        hit = 1.0 - hypergeometric_cdf(0, pool + 1, above + 1, drawn)
        return np.where(table.rank > 0, (pool + 1) / (drawn * (above + 1)) * hit, 0.0)
    depth = int(min(size, pool.max(initial=0) + 1, size if cutoff is None else cutoff))
    ranks = np.arange(1, depth + 1)
    worth = 1.0 / ranks if what == "RR" else 1.0 / np.log2(ranks + 1)
    gain = hypergeometric_mean(worth, pool, above, np.minimum(size - 1, pool))
    return np.where(table.rank > 0, gain, 0.0)


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
