"""Ranks of test ratings under one target-set rule: what every metric of a list is computed from."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recbias.errors import ContractError
from recbias.protocol.splits import Split
from recbias.protocol.targets import candidate_items, n_all_targets
from recbias.ranking.kernels import find_listed

__all__ = ["RankTable", "Ties"]


@dataclass(frozen=True, eq=False)
class Ties:
    """Which places each row of a table may have if equal scores are put in any order.

    Attributes
    ----------
    first, size : ndarray of int32, shape (n_rows,)
        Best rank in the target set, and how many places the items with that score share; 0 where
        the pair is not in the list.
    condensed_first, condensed_size : ndarray of int32, shape (n_rows,)
        The same among those items of the list that the user rated in test.
    """

    first: npt.NDArray[np.int32]
    size: npt.NDArray[np.int32]
    condensed_first: npt.NDArray[np.int32]
    condensed_size: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls,
        user: npt.NDArray[np.int32],
        above: npt.NDArray[np.int32],
        tied: npt.NDArray[np.int32],
        listed: npt.NDArray[np.bool_],
        positive: npt.NDArray[np.bool_] | None,
    ) -> Ties:
        """Turn counts into the places that each row may have, full and condensed.

        Parameters
        ----------
        user, above, tied : ndarray of int32, shape (n_rows,)
            Rows sorted by user, with the targets that score more and as much.
        listed : ndarray of bool, shape (n_rows,)
            Whether the pair has a score.
        positive : ndarray of bool, shape (n_rows,), or None
            Of runs, whose set holds no relevant item but its own: the relevant rows, of which alone
            the places are returned.

        Returns
        -------
        Ties
        """
        judged_above, judged_tied = _among(user, above, listed)
        if positive is None:
            columns = above + 1, tied, judged_above + 1, judged_tied
            return cls(*(np.where(listed, column, 0).astype(np.int32) for column in columns))
        others_above, others_tied = _among(user, above, listed & positive)
        columns = (
            above + 1 - others_above,
            tied + 1 - others_tied,
            judged_above + 1 - others_above,
            judged_tied + 1 - others_tied,
        )
        return cls(*(np.where(listed, column, 0)[positive].astype(np.int32) for column in columns))


def _among(
    user: npt.NDArray[np.int32], above: npt.NDArray[np.int32], members: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count the members of each row's user that score more, and as much: what is above tells."""
    first = user.astype(np.int64) * (int(above.max(initial=0)) + 1)
    place = first + above
    pool = np.sort(place[members])
    start, low = np.searchsorted(pool, first), np.searchsorted(pool, place)
    return low - start, np.searchsorted(pool, place, side="right") - low


@dataclass(frozen=True, eq=False)
class RankTable:
    """Ranks of test ratings under one target-set rule.

    Attributes
    ----------
    per
        ``"user"``: one target set per user, a row for every test rating. ``"run"``: one target set
        per row, a row for every *relevant* test rating (1R).
    n_users
        Users of the dataset, those without test ratings included.
    user, item : ndarray of int32, shape (n_rows,)
        The rated pairs, sorted by user, then item.
    value : ndarray of float64, shape (n_rows,)
        Their ratings.
    rank : ndarray of int32, shape (n_rows,)
        Rank from 1 in the target set; 0 where the pair is not in the list, because its score is
        not computable or because a sampled target set does not hold it.
    condensed_rank : ndarray of int32, shape (n_rows,)
        Rank from 1 among those items of the list that the user rated in test; 0 as above.
    n_targets : ndarray of int32
        Size of each target set: shape (n_users,) per user, (n_rows,) per run.
    n_scored : ndarray of int32
        Targets with a computable score, same shape.
    group : ndarray of int16, shape (n_rows,), optional
        Item group of each run, where target sets are formed within groups (P1R).
    trained : ndarray of int64, shape (n_users,), optional
        Training ratings of each user, where that is asked for.
    ties : Ties, optional
        Places that equal scores share, where that is asked for.
    """

    per: Literal["user", "run"]
    n_users: int
    user: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int32]
    condensed_rank: npt.NDArray[np.int32]
    n_targets: npt.NDArray[np.int32]
    n_scored: npt.NDArray[np.int32]
    group: npt.NDArray[np.int16] | None = None
    trained: npt.NDArray[np.int64] | None = None
    ties: Ties | None = None

    def with_rest(self, rows: npt.NDArray[np.bool_], *, best_first: bool) -> RankTable:
        """Put test items that have no place right behind the end of their lists.

        What a metric makes of this is what it may be if the list went on.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_rows,)
            What is put there, of the rows of rank 0.
        best_first
            Whether well rated items come first, else last.

        Returns
        -------
        RankTable
        """
        rest = np.flatnonzero(rows)
        worth = self.value[rest]
        rest = rest[np.lexsort((-worth if best_first else worth, self.user[rest]))]
        user = self.user[rest]
        place = np.arange(1, len(rest) + 1) - np.searchsorted(user, user)
        judged = np.bincount(self.user[self.rank > 0], minlength=self.n_users)
        sets, added = user, np.bincount(user, minlength=self.n_users)
        if self.per == "run":  # alone in its set, below whatever else is judged of the user there
            sets, place, added = rest.astype(np.int32), np.ones_like(place), rows.astype(np.int64)
            judged = np.zeros(self.n_users, dtype=np.int64)
            np.maximum.at(judged, self.user, self.condensed_rank - 1)
        rank, condensed = self.rank.copy(), self.condensed_rank.copy()
        rank[rest] = self.n_scored[sets] + place
        condensed[rest] = judged[user] + place
        ties = self.ties
        if ties is not None:  # each alone in its place
            ties = Ties(
                np.where(rows, rank, ties.first),
                np.where(rows, 1, ties.size).astype(np.int32),
                np.where(rows, condensed, ties.condensed_first),
                np.where(rows, 1, ties.condensed_size).astype(np.int32),
            )
        return dataclasses.replace(
            self, rank=rank, condensed_rank=condensed, n_scored=self.n_scored + added, ties=ties
        )

    @classmethod
    def from_lists(
        cls,
        lists: npt.NDArray[np.integer[Any]],
        split: Split,
        *,
        candidates: Literal["AI", "TI"] = "AI",
    ) -> RankTable:
        """Rank the test ratings by lists that were made elsewhere, one for each user.

        What is not in a list counts as having no score, so that a list of n items tells metrics
        with a cutoff up to n, and no other; of TI, up to the number of its items in the list.

        Parameters
        ----------
        lists : ndarray of int, shape (n_users, length)
            Dense items, best first; -1 behind the end of a list.
        split
            Its test ratings are ranked.
        candidates
            ``"AI"``, or ``"TI"`` to strike other items from the lists.

        Returns
        -------
        RankTable
            As of the rule ``AI-AN-AR`` or ``TI-AN-AR``.

        Raises
        ------
        ContractError
            If there is not a list for each user, or one holds an item twice, a training item, or
            one that does not exist; names user and item.

        See Also
        --------
        recbias.recommenders.FromScores : Reads lists of all folds from files.

        Examples
        --------
        >>> import pandas as pd
        >>> from recbias.data.ratings import Ratings
        >>> from recbias.protocol.splits import from_fold_labels
        >>> frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": [1, 2, 1], "rating": [5, 4, 3]})
        >>> split = from_fold_labels(Ratings.from_frame(frame), np.array([1, 0, 1]))[0]
        >>> table = RankTable.from_lists(np.array([[1], [1]]), split)
        >>> table.user.tolist(), table.item.tolist(), table.rank.tolist()
        ([0], [1], [1])
        """
        train, test = split.train, split.test
        lists = np.asarray(lists)
        if lists.ndim != 2 or len(lists) != train.n_users or lists.dtype.kind not in "iu":
            raise ContractError(
                f"lists: {lists.dtype} {lists.shape}, expected integers ({train.n_users}, length)"
            )
        candidate = np.zeros(train.n_items, dtype=bool)
        candidate[candidate_items(split, candidates)] = True
        rank, condensed_rank = np.zeros((2, len(test)), dtype=np.int32)
        n_scored = np.zeros(test.n_users, dtype=np.int32)
        user, item, kind = find_listed(
            lists.astype(np.int64), train.indptr, train.item, test.indptr, test.item, candidate,
            rank, condensed_rank, n_scored,
        )  # fmt: skip
        if kind >= 0:
            problem = ("is no item of the data", "is there twice", "is a training item")[kind]
            known = train.item_ids[item] if kind else item
            raise ContractError(f"the list of user {train.user_ids[user]}: item {known} {problem}")
        return cls(
            per="user",
            n_users=test.n_users,
            user=test.user,
            item=test.item,
            value=test.value,
            rank=rank,
            condensed_rank=condensed_rank,
            n_targets=n_all_targets(split, candidates).astype(np.int32),
            n_scored=n_scored,
        )
