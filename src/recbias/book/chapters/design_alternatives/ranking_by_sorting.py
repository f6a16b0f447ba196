"""A second way to rank, for checks: every target set is built as a set, and sorted by itself.

The experiment counts the targets above a test rating, in compiled loops over 64-bit keys. Nothing
of that is used here. What both share is what the ranks are a function of: the scores, and random
numbers of which the way from the seed to the number is part of the experiment's description
(`recbias.ranking`). That way is written a second time below, in NumPy and Python integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from recbias._system.streams import stream
from recbias.protocol.splits import Split
from recbias.ranking import score_blocks
from recbias.ranking.tables import RankTable
from recbias.recommenders import Recommender, System

LABELS = ("AI", "AR", "NN", "1R", "shared")
"""Labels of the chapter's protocols that are ranked here too."""

_WORD = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15

IntArray = npt.NDArray[np.int64]


def train_as_experiment(system: System, split: Split, *, seed: int) -> Recommender:
    """Train a system as an experiment with this seed trains it first on the split."""
    with threadpool_limits(1):
        rng = stream(seed, "train", system.stream_label(), split.fold, 0)
        return system.build().fit(split.train, rng=rng)


@dataclass(frozen=True, eq=False)
class SortedRanks:
    """Where one system puts the test ratings of some users, on one split.

    Attributes
    ----------
    users : ndarray of int64, ascending
        The users that were ranked.
    user, item : ndarray of int32, shape (n_rows,)
        Their test ratings, in the order of the split.
    value : ndarray of float64, shape (n_rows,)
        The ratings.
    positive : ndarray of bool, shape (n_rows,)
        Whether the rating is relevant.
    ranks : mapping of str to ndarray of int64, shape (n_rows,)
        Rank from 1 in the target set of each of `LABELS`; 0 for a rating that has none there.
    joint : ndarray of int64, shape (n_rows,)
        Rank of a relevant item in the union of the user's shared sample and all their relevant
        test items; 0 for others.
    above, pool : ndarray of int64, shape (n_rows,)
        Of the items that may be sampled for a run (TI), those above its relevant item, and all.
    lists : ndarray of int64, shape (len(users), cutoff)
        The best items of each user's TI-AN target set; -1 behind the end.
    """

    users: IntArray
    user: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]
    positive: npt.NDArray[np.bool_]
    ranks: Mapping[str, IntArray]
    joint: IntArray
    above: IntArray
    pool: IntArray
    lists: IntArray


class RankedTwice(NamedTuple):
    """A system's ranks as sorted here and as the experiment stored them, of the same ratings.

    ``stored`` holds a table for each of `LABELS`; those of runs have the relevant rows only.
    """

    system: str
    found: SortedRanks
    stored: Mapping[str, RankTable]


def rank_by_sorting(
    models: Mapping[str, Recommender],
    split: Split,
    *,
    users: IntArray,
    min_rating: float,
    size: int,
    n_sampled: int,
    cutoff: int,
    seed: int,
) -> dict[str, SortedRanks]:
    """Rank test ratings by sorting the scores of each target set.

    References
    ----------
    BCC17 Sec. 3.1 and Table 3.
    """
    test = split.test
    rows = np.flatnonzero(np.isin(test.user, users))
    starts = np.searchsorted(rows, test.indptr)
    context = _Context.of(split, min_rating, size - 1, n_sampled, seed)
    filled = {name: _Columns.empty(len(rows), len(users), cutoff) for name in models}
    places = {int(user): place for place, user in enumerate(users)}
    streams = [score_blocks(model, split.train) for model in models.values()]
    with threadpool_limits(1):
        for blocks in zip(*streams, strict=True):
            first, n_block = blocks[0][0], len(blocks[0][1])
            for user in range(first, first + n_block):
                if user not in places:
                    continue
                sets = context.sets(user)
                user_rows = slice(starts[user], starts[user + 1])
                for columns, (_, scores) in zip(filled.values(), blocks, strict=True):
                    columns.fill(user_rows, places[user], sets, scores[user - first])
    return {
        name: SortedRanks(
            users=users,
            user=test.user[rows],
            item=test.item[rows],
            value=test.value[rows],
            positive=test.value[rows] >= min_rating,
            **columns._asdict(),
        )
        for name, columns in filled.items()
    }


class _Sets(NamedTuple):
    """What is ranked for one user, as items; ``ties`` are of all items."""

    ties: IntArray
    judged: IntArray
    positives: IntArray
    catalogue: IntArray
    tested: IntArray
    pool: IntArray
    sampled: IntArray
    shared: IntArray
    runs: list[IntArray]


class _Context(NamedTuple):
    """What the sets of all users are made from."""

    split: Split
    candidates: IntArray
    min_rating: float
    size: int
    n_sampled: int
    tie_seed: int
    sample_seed: int

    @classmethod
    def of(cls, split: Split, min_rating: float, size: int, n_sampled: int, seed: int) -> _Context:
        ranking = int(stream(seed, "rank", split.fold).integers(2**63))
        seeds = (
            int(stream(ranking, name).integers(2**64, dtype=np.uint64))
            for name in ("ties", "samples")
        )
        tested = np.unique(split.test.item).astype(np.int64)
        return cls(split, tested, min_rating, size, n_sampled, *seeds)

    def sets(self, user: int) -> _Sets:
        test, train = self.split.test, self.split.train
        rows = slice(test.indptr[user], test.indptr[user + 1])
        judged = test.item[rows].astype(np.int64)
        positives = judged[test.value[rows] >= self.min_rating]
        free = np.ones(test.n_items, dtype=bool)
        free[train.item[train.indptr[user] : train.indptr[user + 1]]] = False
        catalogue = np.flatnonzero(free)
        tested = self.candidates[free[self.candidates]]
        free[positives] = False
        allowed = free[self.candidates]
        secret = _user_secret(self.sample_seed, user)
        states = [_mix(secret + (int(item) + 1) * 0xD1342543DE82EF95) for item in positives]
        drawn = [
            self.candidates[drawn_places(state, wanted, allowed)]
            for state, wanted in (
                (secret, self.n_sampled),
                (secret, self.size),
                *((state, self.size) for state in states),
            )
        ]
        return _Sets(
            ties=tie_keys(self.tie_seed, user, test.n_items),
            judged=judged,
            positives=positives,
            catalogue=catalogue,
            tested=tested,
            pool=self.candidates[allowed],
            sampled=drawn[0],
            shared=drawn[1],
            runs=drawn[2:],
        )


class _Columns(NamedTuple):
    """The arrays of `SortedRanks` that are filled user by user."""

    ranks: dict[str, IntArray]
    joint: IntArray
    above: IntArray
    pool: IntArray
    lists: IntArray

    @classmethod
    def empty(cls, n_rows: int, n_users: int, cutoff: int) -> _Columns:
        joint, above, pool, *ranks = np.zeros((3 + len(LABELS), n_rows), dtype=np.int64)
        lists = np.full((n_users, cutoff), -1, dtype=np.int64)
        return cls(dict(zip(LABELS, ranks, strict=True)), joint, above, pool, lists)

    def fill(
        self, user_rows: slice, place: int, sets: _Sets, scores: npt.NDArray[np.float32]
    ) -> None:
        """Rank the test ratings of one user, whose rows are `user_rows`."""

        def sort(*items: npt.ArrayLike) -> IntArray:
            return sorted_items(np.concatenate(items), scores, sets.ties)

        def places(sorted_set: IntArray) -> IntArray:
            """Rank of each judged item in a sorted set, 0 outside."""
            ranks = np.zeros(len(scores), dtype=np.int64)
            ranks[sorted_set] = np.arange(1, len(sorted_set) + 1)
            return ranks[sets.judged]

        def place_of(item: np.int64, sorted_set: IntArray) -> int:
            (positions,) = np.nonzero(sorted_set == item)
            return 1 + int(positions[0]) if len(positions) else 0

        tested = sort(sets.tested)
        top = tested[: self.lists.shape[1]]
        self.lists[place, : len(top)] = top
        self.ranks["AI"][user_rows] = places(sort(sets.catalogue))
        self.ranks["AR"][user_rows] = places(tested)
        self.ranks["NN"][user_rows] = places(sort(sets.sampled, sets.positives))
        in_pool, liked = np.zeros((2, len(scores)), dtype=bool)
        in_pool[sets.pool] = liked[sets.positives] = True
        relevant = liked[sets.judged]
        self.joint[user_rows] = np.where(relevant, places(sort(sets.shared, sets.positives)), 0)
        rows = user_rows.start + np.flatnonzero(relevant)
        n_above = np.cumsum(in_pool[tested])
        for row, item, sample in zip(rows, sets.positives, sets.runs, strict=True):
            self.ranks["1R"][row] = place_of(item, sort(sample, [item]))
            self.ranks["shared"][row] = place_of(item, sort(sets.shared, [item]))
            in_all = place_of(item, tested)
            self.above[row] = n_above[in_all - 1] if in_all else 0
            self.pool[row] = len(sets.pool)


def sorted_items(items: IntArray, scores: npt.NDArray[np.float32], ties: IntArray) -> IntArray:
    """Sort a set of items by score, then by tie key, largest first; without a score they are out.

    Examples
    --------
    >>> scores = np.array([1.0, np.nan, 2.0, 1.0], dtype=np.float32)
    >>> sorted_items(np.array([0, 1, 2, 3]), scores, np.array([5, 6, 7, 8])).tolist()
    [2, 3, 0]
    """
    listed = items[~np.isnan(scores[items])]
    return listed[np.lexsort((ties[listed], scores[listed]))[::-1]]


def tie_keys(seed: int, user: int, n_items: int) -> IntArray:
    """Give a user's tie keys, by item: 32 bits, the larger first, none twice."""
    secret = _user_secret(seed, user)
    half = 2**32 - 1
    keys = (np.arange(n_items, dtype=np.uint64) + np.uint64(secret & half)) & half
    keys = ((keys ^ (keys >> 16)) * 0x85EBCA6B) & half
    keys ^= secret >> 32
    keys = ((keys ^ (keys >> 13)) * 0xC2B2AE35) & half
    return (keys ^ (keys >> 16)).astype(np.int64)


def drawn_places(state: int, wanted: int, allowed: npt.NDArray[np.bool_]) -> IntArray:
    """Draw places that are allowed, without replacement: all of them if too few are."""
    n_candidates, pool = len(allowed), np.flatnonzero(allowed)
    wanted = min(wanted, len(pool))
    if 2 * wanted > len(pool) or 4 * len(pool) < n_candidates:
        offsets = _below(state, len(pool) - np.arange(wanted))
        places, drawn = pool.tolist(), []
        for number, offset in enumerate(offsets.tolist()):
            drawn.append(places[number + offset])
            places[number + offset] = places[number]
        return np.array(drawn, dtype=np.int64)
    n_draws = 2 * wanted * n_candidates // len(pool) + 16
    while True:
        draws = _below(state, np.full(n_draws, n_candidates))
        draws = draws[allowed[draws]]
        _, firsts = np.unique(draws, return_index=True)
        if len(firsts) >= wanted:
            return draws[np.sort(firsts)[:wanted]]
        n_draws *= 2


def _below(state: int, bounds: IntArray) -> IntArray:
    """Draw a number below each bound from a stream of 64-bit words (Lemire 2019)."""
    n_spare = 16
    steps = np.arange(1, len(bounds) + n_spare + 1, dtype=np.uint64)
    words = _mixed(np.uint64(state) + steps * np.uint64(_STEP)) >> np.uint64(32)
    limits = bounds.astype(np.uint64)
    least = (2**32 - limits) % limits
    while True:
        products = words[: len(bounds)] * limits
        refused = np.flatnonzero((products & (2**32 - 1)) < least)
        if not len(refused):
            return (products >> np.uint64(32)).astype(np.int64)
        words = np.delete(words, refused[0])


def _mixed(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble 64-bit words: the finaliser of splitmix64."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def _mix(word: int) -> int:
    return int(_mixed(np.array([word & _WORD], dtype=np.uint64))[0])


def _user_secret(seed: int, user: int) -> int:
    return _mix(seed ^ _mix(user + _STEP))
