r"""What theory says a measurement must give: expectations, the notation of Table 2, the lemma.

The quantities that a table of ranks determines are written like metrics, so that an experiment can
measure them beside the metrics they bound or predict:

============= ====================================================================================
name          meaning
============= ====================================================================================
``rho``       share of relevant items in the target set: the expected P@n of a random ranking at
              any cutoff up to the size of the set (BCC17 Eqs. 4 and 5)
``lower@n``   lower bound of 1RP@n in the lemma of BCC17 Sec. 3.4; tables of ``1R-shared`` only
``upper@n``   upper bound, likewise
``P@n|t=T``   expected 1RP@n over all samples of T-1 non-relevant items; tables of ``AN-1R`` only;
              ``lower@n|t=T`` and ``upper@n|t=T`` are the expected bounds of the lemma
============= ====================================================================================
"""

from __future__ import annotations

import re
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
    "EXPECTATIONS",
    "SplitStatistics",
    "expectation",
    "is_expectation",
    "ranks_in_shared_set",
    "split_statistics",
]

FloatArray = npt.NDArray[np.float64]

EXPECTATIONS = ("rho", "lower@10", "upper@10", "P@10|t=100")
"""Examples of the names that :func:`expectation` reads; ``lower`` and ``upper`` take t= as well."""

_PATTERN = re.compile(
    r"rho|(?P<bound>lower|upper)@(?P<cutoff>[1-9]\d*)"
    r"|(?P<expected>P|lower|upper)@(?P<hit>[1-9]\d*)\|t=(?P<size>[1-9]\d*)"
)


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
    expectation : ``rho`` per user, from a table of ranks.

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


def is_expectation(name: str) -> bool:
    """Tell whether a name is one of :func:`expectation`'s, not a metric's."""
    return _PATTERN.fullmatch(name) is not None


def expectation(name: str, table: RankTable, *, min_rating: float) -> FloatArray:
    """Compute a quantity of the table above for every target set.

    Parameters
    ----------
    name
        ``"rho"``, ``"lower@10"``, ``"upper@10"``, ``"P@10|t=100"``, ``"lower@10|t=100"`` or
        ``"upper@10|t=100"``, with any cutoff and size.
    table
        Ranks under one rule.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of float64
        One value per user, or per run: shape (n_users,) or (n_rows,).

    Raises
    ------
    ConfigError
        If the name has another form, or the table is not of the kind that it needs.

    References
    ----------
    BCC17 Eqs. 2, 4 and 5, Sec. 3.4; the proof there is corrected (erratum E01).

    Examples
    --------
    One user, relevant items r, others x, by score r1 x1 r2 x2: with N_u = {x1, x2}, both runs
    hit at n = 2 for r1 and only r2 needs the longer list.

    >>> user, item, ranks, threes = np.array([[0, 0], [0, 2], [1, 2], [3, 3]], dtype=np.int32)
    >>> stars = np.array([5.0, 5.0])
    >>> table = RankTable("run", 1, user, item, stars, ranks, ranks, threes, threes)
    >>> [float(expectation(name, table, min_rating=5).mean()) for name in ("lower@2", "upper@2")]
    [0.25, 0.5]
    """
    match = _PATTERN.fullmatch(name)
    if match is None:
        raise ConfigError(f"unknown expectation {name!r}: such as {', '.join(EXPECTATIONS)}")
    if name == "rho":
        return _relevant_share(table, min_rating)
    if table.per != "run":
        raise ConfigError(f"{name} needs a table of runs (1R), this one has a set per user (AR)")
    if match["bound"]:
        return _lemma_bound(table, match["bound"], int(match["cutoff"]))
    return _expected_hit(table, match["expected"], int(match["hit"]), int(match["size"]))


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


def _relevant_share(table: RankTable, min_rating: float) -> FloatArray:
    if table.per == "run":
        return 1.0 / table.n_targets
    hits = np.bincount(table.user[relevant(table.value, min_rating)], minlength=table.n_users)
    return np.divide(hits, table.n_targets, out=np.zeros(table.n_users), where=table.n_targets > 0)


def _depth(table: RankTable, bound: str, cutoff: int) -> npt.NDArray[np.int64]:
    """Depth at which a bound counts hits: n, or for the upper one m_u = n + |PR_test(u)| - 1."""
    n_relevant = np.bincount(table.user, minlength=table.n_users)[table.user]
    return cutoff + (n_relevant - 1) * (bound == "upper")


def _lemma_bound(table: RankTable, bound: str, cutoff: int) -> FloatArray:
    ranks = ranks_in_shared_set(table)
    return ((ranks > 0) & (ranks <= _depth(table, bound, cutoff))) / cutoff


def _expected_hit(table: RankTable, what: str, cutoff: int, size: int) -> FloatArray:
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
