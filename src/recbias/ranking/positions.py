"""What one pass over a system's scores keeps, and every table that follows from it.

For each test rating: how many targets stand above it, by item group and by part of the catalogue,
and how many of the user's own training items. For each user: the top of the list. Ranks under every
rule that takes *all* non-relevant items (AN) follow from these counts without another look at a
score: full and condensed, AR and 1R, within popularity percentiles (P1R), with test ratings taken
out, without the head of the catalogue, with training items left in. Samples (NN) do not follow.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from recbias._system.memory import row_blocks
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, ContractError
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import ItemGroups, TargetRule
from recbias.ranking.kernels import count_rows_above, order_rows
from recbias.ranking.tables import RankTable, Ties

__all__ = ["LISTED", "Positions", "target_counts", "train_counts"]

LISTED = 100
"""How many items of each list are kept."""

IntArray = npt.NDArray[np.integer[Any]]


def target_counts(
    split: Split, groups: ItemGroups, among: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.int32]:
    """Count each user's AN-AR targets by segment: the groups inside TI, then those outside.

    Parameters
    ----------
    split
        Split of a dataset.
    groups
        A label for every item.
    among : ndarray of bool, shape (n_items,), optional
        The items that are counted; all if not given.

    Returns
    -------
    ndarray of int32, shape (n_users, 2 * n_groups)
        Candidates that are not among the user's training items.
    """
    segment, n_segments = groups.segments(split.test_items), 2 * groups.n_groups
    counted = np.ones(len(segment), dtype=bool) if among is None else among
    every = np.bincount(segment[counted], minlength=n_segments)
    # What is not counted is of a kind behind all others.
    taken = _counts_by_kind(split.train, np.where(counted, segment, n_segments), n_segments + 1)
    return (every - taken[:, :n_segments]).astype(np.int32)


def train_counts(split: Split) -> npt.NDArray[np.int32]:
    """Count each user's training items inside and outside TI, shape (n_users, 2)."""
    outside = np.ones(split.train.n_items, dtype=np.int64)
    outside[split.test_items] = 0
    return _counts_by_kind(split.train, outside, 2)


def _counts_by_kind(ratings: Ratings, kind: IntArray, n_kinds: int) -> npt.NDArray[np.int32]:
    """Count each user's ratings by the kind of their items, in blocks of users."""
    counts = np.zeros((ratings.n_users, n_kinds), dtype=np.int32)
    per_user = 24 * -(-len(ratings) // max(1, ratings.n_users)) + 8 * n_kinds
    for users in row_blocks(ratings.n_users, per_user):
        rows = slice(ratings.indptr[users.start], ratings.indptr[users.stop])
        place = (ratings.user[rows] - np.int64(users.start)) * n_kinds + kind[ratings.item[rows]]
        size = (users.stop - users.start) * n_kinds
        counts[users] = np.bincount(place, minlength=size).reshape(-1, n_kinds)
    return counts


@dataclass(frozen=True, eq=False)
class Positions:
    """Where every test rating stands among all items, for one system on one split.

    Attributes
    ----------
    n_users
        Users of the dataset, those without test ratings included.
    user, item : ndarray of int32, shape (n_rows,)
        The rated pairs, sorted by user, then item.
    value : ndarray of float64, shape (n_rows,)
        Their ratings.
    groups
        A label for every item; counts are kept by it.
    test_items : ndarray of int32, ascending
        The candidates TI.
    listed : ndarray of bool, shape (n_rows,)
        Whether the pair has a computable score.
    above : ndarray of int, shape (n_rows, 2 * n_groups)
        Targets above each listed pair: by group inside TI, then by group outside. Targets are items
        outside the user's training items, in test or not.
    train_above : ndarray of int, shape (n_rows, 2), or None
        The user's own training items above it, inside and outside TI; not known within groups.
    n_targets, n_scored : ndarray of int32, shape (n_users, 2 * n_groups)
        Targets of each user by segment, and those with a computable score.
    n_train, n_train_scored : ndarray of int32, shape (n_users, 2)
        Training items of each user inside and outside TI, and those with a computable score.
    list_items : ndarray of int32
        Lists of all users, one behind the other, best first: the top `depth` of all candidates,
        then further items of TI until there are `depth` of those.
    list_starts : ndarray of int64, shape (n_users + 1,)
        User u has the places ``list_starts[u]`` to ``list_starts[u + 1]``.
    depth
        Length to which lists are complete.
    ties : ndarray of int32, shape (n_rows, 4), or None
        Targets that score more and as much, inside TI and in all, where that is asked for:
        :func:`recbias.ranking.tie_counts`. Not known within groups, nor of what stands below.
    """

    n_users: int
    user: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]
    groups: ItemGroups
    test_items: npt.NDArray[np.int32]
    listed: npt.NDArray[np.bool_]
    above: IntArray
    train_above: IntArray | None
    n_targets: IntArray
    n_scored: IntArray
    n_train: IntArray
    n_train_scored: IntArray
    list_items: npt.NDArray[np.int32]
    list_starts: npt.NDArray[np.int64]
    depth: int = LISTED
    ties: npt.NDArray[np.int32] | None = None

    def take(self, rows: npt.NDArray[np.bool_]) -> Positions:
        """Keep some of the test ratings; the others count as never given.

        Targets, candidates and lists stay: no score depends on a test rating, so a rating that is
        taken out turns its item into one more unrated target.

        Parameters
        ----------
        rows : ndarray of bool, shape (n_rows,)
            What stays.

        Returns
        -------
        Positions

        References
        ----------
        BCC17 Fig. 3 and 4 (thinned test sets).
        """
        fields = ("user", "item", "value", "listed", "above")
        part = dataclasses.replace(
            self,
            **{name: getattr(self, name)[rows] for name in fields},
            train_above=None if self.train_above is None else self.train_above[rows],
            ties=None if self.ties is None else self.ties[rows],
        )
        # Neither what stands above the others nor their order is another: no need to sum and sort.
        place = np.cumsum(rows) - 1
        vars(part)["_above_all"] = self._above_all[rows]
        vars(part)["_order"] = place[self._order[rows[self._order]]]
        return part

    def with_below(self, below: Positions) -> Positions:
        """Put another ranking of the same test ratings below this one.

        Parameters
        ----------
        below
            Ranks what has no score here and nothing else, on the same split:
            :func:`recbias.ranking.rank_unscored`.

        Returns
        -------
        Positions
            Of both; lists are as long as kept here.

        Raises
        ------
        ContractError
            If a pair has a place in both.
        """
        if (self.listed & below.listed).any() or (
            self.n_scored + below.n_scored > self.n_targets
        ).any():
            raise ContractError("two rankings are joined, but a pair has a place in both")
        added = below.listed[:, None]
        train_above = None
        if self.train_above is not None and below.train_above is not None:
            lower = self.n_train_scored[self.user] + below.train_above
            train_above = np.where(added, lower, self.train_above)
        # As narrow as before: of both there are no more than the targets.
        above = self.above.copy()
        rows = below.listed
        above[rows] = self.n_scored[self.user[rows]] + below.above[rows]
        items, starts = self._joined_lists(below)
        return dataclasses.replace(
            self,
            listed=self.listed | below.listed,
            above=above,
            train_above=train_above,
            n_scored=self.n_scored + below.n_scored,
            n_train_scored=self.n_train_scored + below.n_train_scored,
            list_items=items,
            list_starts=starts,
            ties=None,
        )

    def _joined_lists(
        self, below: Positions
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Lengthen each list by what stands below, to the form that `list_items` has."""
        owners = [
            np.repeat(np.arange(self.n_users), np.diff(positions.list_starts))
            for positions in (self, below)
        ]
        order = np.argsort(np.concatenate(owners), kind="stable")
        owner = np.concatenate(owners)[order]
        items = np.concatenate([self.list_items, below.list_items])[order]
        inside = np.zeros(len(self.groups.labels), dtype=bool)
        inside[self.test_items] = True
        starts = np.searchsorted(owner, np.arange(self.n_users + 1))
        place = np.arange(len(items)) - starts[owner]
        passed = np.concatenate([[0], np.cumsum(inside[items])])
        place_inside = passed[:-1] - passed[starts[owner]]
        within_depth = (place < self.depth) | (inside[items] & (place_inside < self.depth))
        lengths = np.bincount(owner[within_depth], minlength=self.n_users)
        return items[within_depth], np.concatenate([[0], np.cumsum(lengths)])

    def of_groups(self, first: int, end: int) -> Positions:
        """Restrict candidates and test ratings to a range of item groups.

        Parameters
        ----------
        first, end
            Groups from ``first`` to before ``end``; group 0 holds the most popular items.

        Returns
        -------
        Positions
            Its lists are complete to the length that is left of the shortest one.

        Raises
        ------
        ConfigError
            If the range is empty or not among the groups.

        References
        ----------
        BCC17 Sec. 6.1: percentiles, and the head removal of Cremonesi et al. (2010).
        """
        n_groups = self.groups.n_groups
        if not 0 <= first < end <= n_groups:
            raise ConfigError(f"item groups {first} to {end}: expected a range in 0 to {n_groups}")
        kept_group = (np.arange(n_groups) >= first) & (np.arange(n_groups) < end)
        segments = np.tile(kept_group, 2)
        is_kept = kept_group[self.groups.labels]
        part = self.take(is_kept[self.item])
        kept_items = is_kept[self.list_items]
        owner = np.repeat(np.arange(self.n_users), np.diff(self.list_starts))
        lengths = np.bincount(owner[kept_items], minlength=self.n_users)
        removed = np.diff(self.list_starts) - lengths
        # A list that ended before `depth` held everything that has a score.
        depth = self.depth - int(removed[np.diff(self.list_starts) >= self.depth].max(initial=0))
        return dataclasses.replace(
            part,
            test_items=self.test_items[is_kept[self.test_items]],
            above=np.where(segments, part.above, 0),
            train_above=None,
            n_targets=np.where(segments, self.n_targets, 0),
            n_scored=np.where(segments, self.n_scored, 0),
            list_items=self.list_items[kept_items],
            list_starts=np.concatenate([[0], np.cumsum(lengths)]),
            depth=max(depth, 0),
            ties=None,
        )

    @cached_property
    def indptr(self) -> npt.NDArray[np.int64]:
        """Rows of user u are ``indptr[u]`` to ``indptr[u + 1]``."""
        return np.searchsorted(self.user, np.arange(self.n_users + 1)).astype(np.int64)

    @cached_property
    def _above_all(self) -> npt.NDArray[np.int32]:
        """Targets above each row: inside TI, and in all."""
        by_side = self.above.reshape(len(self.user), 2, self.groups.n_groups).sum(
            axis=2, dtype=np.int32
        )
        return np.cumsum(by_side, axis=1, dtype=np.int32)

    @cached_property
    def _order(self) -> npt.NDArray[np.int64]:
        order = np.empty(len(self.user), dtype=np.int64)
        # Test items are inside TI, so that two of one user never have equal counts there.
        order_rows(self.indptr, self.listed, np.ascontiguousarray(self._above_all[:, 0]), order)
        return order

    def table(self, rule: TargetRule, *, min_rating: float | None = None) -> RankTable:
        """Rank the test ratings under a rule that takes all non-relevant items.

        Parameters
        ----------
        rule
            An AN rule.
        min_rating
            Smallest rating that is relevant; needed by runs.

        Returns
        -------
        RankTable

        Raises
        ------
        ConfigError
            If the rule samples, which counts cannot answer; if runs come without threshold; if the
            groups of P1R are not those that were counted, nor unions of them.
        """
        if rule.others == "NN":
            raise ConfigError(f"{rule}: a sample cannot be derived from counts; rank with its rule")
        if rule.per_run and min_rating is None:
            raise ConfigError(f"{rule}: its target sets depend on relevance; give min_rating")
        group = np.zeros(len(self.user), dtype=np.int16)
        n_groups = 1
        if rule.n_groups is not None:
            group, n_groups = self.groups.merged(rule.n_groups).labels[self.item], rule.n_groups
        above, n_targets, n_scored = self._counts(rule, group)
        positive = np.zeros(len(self.user), dtype=bool)
        if min_rating is not None and rule.per_run:
            positive = relevant(self.value, min_rating)
        judged, positives = np.zeros((2, len(self.user)), dtype=np.int32)
        count_rows_above(
            self.indptr, self._order, self.listed, positive, group, n_groups, judged, positives
        )
        rows: slice | npt.NDArray[np.intp] = slice(None)
        if rule.per_run:  # few rows are relevant: nothing is computed of the others
            rows = np.flatnonzero(positive)
            n_targets, n_scored = n_targets[rows], n_scored[rows]
            place = self.user[rows] * np.int64(n_groups) + group[rows]
            size, listed = self.n_users * n_groups, self.listed[rows]
            n_targets = n_targets - (np.bincount(place, minlength=size)[place] - 1)
            n_scored = n_scored - np.bincount(place[listed], minlength=size)[place] + listed
        rank, condensed = (
            np.where(self.listed[rows], counts[rows] + 1 - positives[rows], 0).astype(np.int32)
            for counts in (above, judged)
        )
        ties = None
        if self.ties is not None and rule.n_groups is None and not rule.with_train:
            tied = self.ties[:, 2:] if rule.candidates == "AI" else self.ties[:, :2]
            runs = positive if rule.per_run else None
            ties = Ties.of(self.user, tied[:, 0], tied[:, 1], self.listed, runs)
        return RankTable(
            per="run" if rule.per_run else "user",
            n_users=self.n_users,
            user=self.user[rows],
            item=self.item[rows],
            value=self.value[rows],
            rank=rank,
            condensed_rank=condensed,
            n_targets=n_targets.astype(np.int32),
            n_scored=n_scored.astype(np.int32),
            group=group[rows].astype(np.int16) if rule.n_groups is not None else None,
            ties=ties,
        )

    def _counts(self, rule: TargetRule, group: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Sum what stands above each row, and sizes: per user, for runs or groups per row."""
        sides = 2 if rule.candidates == "AI" else 1
        if rule.n_groups is not None:
            n_groups, merged = self.groups.n_groups, rule.n_groups
            # In 64 bits: labels have 16, which products of group numbers pass.
            wide = group.astype(np.int64)
            first, end = wide * n_groups // merged, (wide + 1) * n_groups // merged
            columns = np.arange(n_groups)
            mine = (columns >= first[:, None]) & (columns < end[:, None])
            mine = np.concatenate([mine] * sides, axis=1)
            width = mine.shape[1]
            return (
                (self.above[:, :width] * mine).sum(axis=1),
                (self.n_targets[self.user, :width] * mine).sum(axis=1),
                (self.n_scored[self.user, :width] * mine).sum(axis=1),
            )
        width = sides * self.groups.n_groups
        above = self._above_all[:, sides - 1]
        n_targets = self.n_targets[:, :width].sum(axis=1)
        n_scored = self.n_scored[:, :width].sum(axis=1)
        if rule.with_train:
            if self.train_above is None:
                raise ConfigError(f"{rule}: training items were not counted within item groups")
            above = above + self.train_above[:, :sides].sum(axis=1)
            n_targets = n_targets + self.n_train[:, :sides].sum(axis=1)
            n_scored = n_scored + self.n_train_scored[:, :sides].sum(axis=1)
        if rule.per_run:
            n_targets, n_scored = n_targets[self.user], n_scored[self.user]
        return above, n_targets, n_scored

    def lists(self, candidates: Literal["AI", "TI"], cutoff: int) -> npt.NDArray[np.int32]:
        """Return the top of every user's list.

        Parameters
        ----------
        candidates
            ``"AI"`` or ``"TI"``; training items are never in.
        cutoff
            Length of the lists.

        Returns
        -------
        ndarray of int32, shape (n_users, cutoff)
            Dense items, best first; -1 behind the end of a list with fewer computable items.

        Raises
        ------
        ConfigError
            If more is asked than was kept.
        """
        if cutoff > self.depth:
            raise ConfigError(
                f"lists of {cutoff} items: {self.depth} were kept; rank again with a larger depth"
            )
        items, starts = self.list_items, self.list_starts
        owner = np.repeat(np.arange(self.n_users), np.diff(starts))
        if candidates == "TI":
            inside = np.zeros(len(self.groups.labels), dtype=bool)
            inside[self.test_items] = True
            is_inside = inside[items]
            items, owner = items[is_inside], owner[is_inside]
            starts = np.searchsorted(owner, np.arange(self.n_users + 1))
        place = np.arange(len(items)) - starts[owner]
        top = place < cutoff
        lists = np.full((self.n_users, cutoff), -1, dtype=np.int32)
        lists[owner[top], place[top]] = items[top]
        return lists
