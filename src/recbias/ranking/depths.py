"""Where the items of a condensed list stand in the full one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.ranking.tables import RankTable

__all__ = ["depth_map"]


def depth_map(
    table: RankTable, depth: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Tell at which rank of the full list the k-th item of the condensed one stands, on average.

    Parameters
    ----------
    table
        With one target set per user.
    depth
        Places of the condensed list, from 1.

    Returns
    -------
    ranks : ndarray of float64, shape (depth,)
        Mean over the users whose condensed list has a k-th item; NaN where none has.
    n_users : ndarray of int64, shape (depth,)
        How many these are.

    Raises
    ------
    ConfigError
        For a table of runs, which hold one judged item each, or a depth below 1.

    References
    ----------
    CCM20 Sec. 4.2.

    Examples
    --------
    The full list is x, b, y, c, a; of b, c and a there are ratings.

    >>> zero, order = np.zeros(3, np.int32), np.arange(1, 4, dtype=np.int32)
    >>> five = np.full(1, 5, np.int32)
    >>> full = np.array([2, 4, 5], np.int32)
    >>> depth_map(RankTable("user", 1, zero, order, np.full(3, 4.0), full, order, five, five), 4)
    (array([ 2.,  4.,  5., nan]), array([1, 1, 1, 0]))
    """
    if table.per != "user":
        raise ConfigError("depth map: a run (1R) holds one judged item; give a table per user (AR)")
    if depth < 1:
        raise ConfigError(f"depth map: depth is {depth}, expected at least 1")
    listed = (table.condensed_rank > 0) & (table.condensed_rank <= depth)
    place = table.condensed_rank[listed] - 1
    n_users = np.bincount(place, minlength=depth)
    total = np.bincount(place, weights=table.rank[listed], minlength=depth)
    ranks = np.divide(total, n_users, out=np.full(depth, np.nan), where=n_users > 0)
    return ranks, n_users
