r"""What theory says a measurement must give: expectations, the notation of Table 2, the lemma.

Closed forms, as functions of a split or of a table of ranks. :mod:`recbias.metrics.expected`
declares those of a table as metrics (``rho``, ``lower@n``, ``P@n|t=T``), so that an experiment can
measure them beside what they bound or predict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from recbias.errors import ConfigError
from recbias.ranking import RankTable
from recbias.relevance import relevant
from recbias.splits import Split
from recbias.targets import n_all_targets

__all__ = [
    "SplitStatistics",
    "expected_hit",
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
    listed = table.rank > 0
    order = np.lexsort((table.rank, ~listed, table.user))
    user = table.user[order]
    first = np.searchsorted(user, user, side="left")
    ranks = np.zeros(len(user), dtype=np.int64)
    ranks[order] = table.rank[order] + np.arange(len(user)) - first
    return np.where(listed, ranks, 0)


def relevant_share(table: RankTable, *, min_rating: float) -> FloatArray:
    r"""Share of relevant items in each target set: the expected P@n of a random ranking.

    It is so at every cutoff up to the size of the set.

    Parameters
    ----------
    table
        Ranks under one rule.
    min_rating
        Smallest rating that is relevant.

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
    if table.per == "run":
        return 1.0 / table.n_targets
    hits = np.bincount(table.user[relevant(table.value, min_rating)], minlength=table.n_users)
    return np.divide(hits, table.n_targets, out=np.zeros(table.n_users), where=table.n_targets > 0)


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
    draws = np.minimum(size - 1, pool)
    # An empty pool draws nothing, as does one item of which none is drawn; SciPy knows the second.
    hit = stats.hypergeom.cdf(most, np.maximum(pool, 1), above, draws)
    return np.where(table.rank > 0, hit, 0.0) / cutoff
