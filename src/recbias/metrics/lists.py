"""The judged part of every list: test items of each user in the order of the list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ContractError
from recbias.ranking import RankTable
from recbias.relevance import GainMap

__all__ = ["JudgedLists", "list_order"]

# Compiled functions call none of another file: numba's cache of the caller would not notice that
# the other file has changed. Each family of metrics therefore has a kernel of its own over these
# lists.


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """Test items of each user: first those in his list, by rank, then those that are not in it.

    Attributes
    ----------
    first : ndarray of int64, shape (n_users + 1,)
        User u has the places ``first[u]`` to ``first[u + 1]``.
    n_listed : ndarray of int64, shape (n_users,)
        How many of them are in the list.
    rank : ndarray of int32, shape (n_rows,)
        Rank from 1; 0 = not in the list.
    positive : ndarray of bool, shape (n_rows,)
        Whether the item is relevant.
    gains : mapping of GainMap to ndarray of float64, shape (n_rows,)
        Gains under each map that is asked for.
    """

    first: npt.NDArray[np.int64]
    n_listed: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int32]
    positive: npt.NDArray[np.bool_]
    gains: Mapping[GainMap, npt.NDArray[np.float64]]


def list_order(
    table: RankTable,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order the rows of a table by user and, for each user, as in :class:`JudgedLists`.

    The condensed rank *is* that order, which saves a sort.

    Parameters
    ----------
    table : RankTable
        With one target set per user.

    Returns
    -------
    order : ndarray of int64, shape (n_rows,)
        Row of the table at each place.
    first : ndarray of int64, shape (n_users + 1,)
        First place of each user.
    n_listed : ndarray of int64, shape (n_users,)
        Number of his test items in the list.

    Raises
    ------
    ContractError
        If a user's condensed ranks are not 1, 2, ... in the order of his ranks.
    """
    first = np.searchsorted(table.user, np.arange(table.n_users + 1)).astype(np.int64)
    order = np.empty(len(table.user), dtype=np.int64)
    n_listed = np.empty(table.n_users, dtype=np.int64)
    bad = _fill_order(first, table.rank, table.condensed_rank, order, n_listed)
    if bad >= 0:
        raise ContractError(
            f"rank table, user {bad}: the condensed ranks of the listed test items are not "
            "1, 2, ... in the order of their ranks"
        )
    return order, first, n_listed


@nb.njit(cache=True, nogil=True)
def _fill_order(
    first: npt.NDArray[np.int64],
    rank: npt.NDArray[np.int32],
    condensed_rank: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    n_listed: npt.NDArray[np.int64],
) -> int:
    """Fill `order` and `n_listed`; return the first user with inconsistent ranks, or -1."""
    order[:] = -1
    for user in range(len(n_listed)):
        begin, end = first[user], first[user + 1]
        unlisted = end
        for row in range(begin, end):
            if condensed_rank[row] > 0:
                place = begin + condensed_rank[row] - 1
            else:
                unlisted -= 1
                place = unlisted
            if place >= end or order[place] >= 0 or (rank[row] > 0) != (condensed_rank[row] > 0):
                return user
            order[place] = row
        n_listed[user] = unlisted - begin
        for place in range(begin + 1, unlisted):
            if rank[order[place]] <= rank[order[place - 1]]:
                return user
    return -1
