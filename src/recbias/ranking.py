"""Rank once: the position of every test rating in its target set, for all target sets together.

For a system, a split and a target-set rule, the ranks of the test ratings are a sufficient
statistic for every metric that looks at judged items only. They come from *counting* the targets
that score higher, so that no list is ever sorted; one pass over a block of scores serves all rules,
full and condensed.

**Order.** Each user-item pair has one 64-bit key: the score in the high half and a seeded random
tie key in the low half. Keys of one user never coincide, so the order is total; it is the same in
every target set, as the lemma of BCC17 Sec. 3.4 needs, and for every system, so that two systems
that tie on a pair of items break the tie alike.

**Not computable.** A NaN score leaves the pair out of the list: a test item without a score has
rank 0, and a target without one is above nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError, ContractError, ScoreError
from recbias.ratings import Ratings
from recbias.recommenders import Recommender
from recbias.recommenders.base import ratings_read
from recbias.relevance import relevant
from recbias.splits import Split
from recbias.streams import stream
from recbias.targets import Targets, candidate_items, n_all_targets

__all__ = ["RankTable", "block_size", "rank", "score_blocks", "top_items"]

BLOCK_BYTES, SMALLEST_BLOCK, LARGEST_BLOCK_BYTES = 2**20, 64, 2**28
"""Aimed size of a block of scores, so that a block and its keys stay in the processor's cache; the
fewest users, so that a product still is one; and the most memory that a block may take."""

Array = npt.NDArray[Any]

_ABSENT = np.int64(np.iinfo(np.int64).min)
_PER_USER, _PER_RUN, _SHARED = range(3)


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


def block_size(n_items: int) -> int:
    """Users in one block of scores: a function of the catalogue's size alone.

    The bits of a float32 product depend on its shape, so no other quantity may move it.

    Parameters
    ----------
    n_items
        Size of the catalogue.

    Returns
    -------
    int
        As many as fit in 1 MiB, at least 64, but never more than fit in 256 MiB, and at least one.

    Examples
    --------
    >>> block_size(3706), block_size(100_000), block_size(10_000_000)
    (70, 64, 6)
    """
    row = 4 * max(1, n_items)
    return max(1, min(max(BLOCK_BYTES // row, SMALLEST_BLOCK), LARGEST_BLOCK_BYTES // row))


def score_blocks(
    recommender: Recommender, train: Ratings
) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
    """Stream the scores of all users in blocks of fixed size.

    Parameters
    ----------
    recommender
        A fitted recommender.
    train
        What it was fitted on.

    Yields
    ------
    first_user : int
    scores : ndarray of float32, shape (users of the block, n_items)

    Raises
    ------
    ContractError
        If the recommender returns another shape or dtype.
    ScoreError
        If a pair has no score although the recommender's ``coverage`` promises one; names system,
        user and item.
    """
    n_users, n_items = train.n_users, train.n_items
    read = ratings_read(recommender, train)
    promised = _promised_items(recommender, read)
    step = block_size(n_items)
    for first in range(0, n_users, step):
        users = np.arange(first, min(first + step, n_users))
        scores = recommender.score(users)
        expected = (len(users), n_items)
        found = getattr(scores, "dtype", type(scores).__name__), getattr(scores, "shape", "")
        if found != (np.float32, expected):
            raise ContractError(
                f"{type(recommender).__name__}.score returned {found[0]} {found[1]}, "
                f"expected float32 {expected}"
            )
        if promised is not None:
            _refuse_missing(recommender, read, first, scores, promised)
        yield first, np.ascontiguousarray(scores)


def rank(
    recommender: Recommender, split: Split, targets: Sequence[Targets], *, seed: int
) -> list[RankTable]:
    """Rank the test ratings of a split under several target-set rules in one pass over the scores.

    Parameters
    ----------
    recommender
        Fitted on ``split.train``.
    split
        Its test ratings are ranked.
    targets
        Rules with the threshold that each needs.
    seed
        Names the tie keys and the samples. No score moves either: every system meets the same.

    Returns
    -------
    list of RankTable
        One per entry of ``targets``, in the same order.

    Raises
    ------
    ScoreError
        If a score is infinite; names system, user and item.
    ContractError
        If scores have the wrong shape or dtype.
    ConfigError
        If a rule that depends on relevance comes without threshold, or a sample is larger than the
        pool of every user.

    References
    ----------
    BCC17 Sec. 3.1-3.2.

    Examples
    --------
    >>> import pandas as pd
    >>> from recbias.ratings import Ratings
    >>> from recbias.recommenders import System
    >>> from recbias.splits import from_fold_labels
    >>> from recbias.targets import TargetRule, Targets
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 1, 2, 2, 3, 3],
    ...     "item_id": [1, 2, 1, 3, 1, 2],
    ...     "rating": [5, 4, 3, 5, 5, 4],
    ... }))
    >>> split = from_fold_labels(ratings, np.array([1, 0, 1, 0, 1, 1]))[0]
    >>> popular = System("Popularity", "Popularity", {}).build().fit(split.train)
    >>> table, = rank(popular, split, [Targets(TargetRule.parse("TI-AN-AR"))], seed=1)
    >>> table.item.tolist(), table.rank.tolist()
    ([1, 2], [1, 0])
    """
    train, test = split.train, split.test
    n_users, n_items = test.n_users, test.n_items
    _check(split, targets)
    inside = candidate_items(split, "TI")
    order, place = _inside_first(inside, n_items)
    test_place, train_place = place[test.item], place[train.item]
    tie_seed, sample_seed = _seeds(seed)
    above = _Above(
        inside=np.zeros(len(test), dtype=np.int32),
        outside=np.zeros(len(test), dtype=np.int32),
        judged=np.zeros(len(test), dtype=np.int32),
        scored_inside=np.zeros(n_users, dtype=np.int32),
        scored_outside=np.zeros(n_users, dtype=np.int32),
    )
    sampled = [_Sampled.empty(target, test, len(inside)) for target in targets]
    any_outside = any(target.rule.candidates == "AI" for target in targets)
    keys = np.empty((block_size(n_items), n_items), dtype=np.int64)
    for first, scores in score_blocks(recommender, train):
        block = keys[: len(scores)]
        bits = scores.view(np.int32)
        row = _fill_keys(bits, first, order, tie_seed, train.indptr, train_place, block)
        _refuse_infinite(recommender, test, first, scores, row)
        _count_block(block, first, len(inside), any_outside, test.indptr, test_place, *above)
        for draws in sampled:
            if draws is not None:
                _sample_block(
                    block, first, sample_seed, train.indptr, train_place, test.indptr, test_place,
                    test.item, *draws,
                )  # fmt: skip
    return [
        _counted(target, split, above) if draws is None else _drawn(target, test, draws)
        for target, draws in zip(targets, sampled, strict=True)
    ]


def top_items(
    recommender: Recommender,
    split: Split,
    *,
    cutoff: int,
    candidates: Literal["AI", "TI"],
    seed: int,
) -> npt.NDArray[np.int32]:
    """List every user's top items among the candidates that are not in training.

    Parameters
    ----------
    recommender
        Fitted on ``split.train``.
    split
        Gives candidates and training items.
    cutoff
        Length of the lists.
    candidates
        ``"AI"`` or ``"TI"``.
    seed
        Names the tie keys, those of :func:`rank`.

    Returns
    -------
    ndarray of int32, shape (n_users, cutoff)
        Dense items, best first; -1 behind the end of a list with fewer computable items.

    Raises
    ------
    ConfigError
        If ``cutoff`` is below 1 or above the number of candidates.
    ScoreError, ContractError
        As :func:`rank` does.
    """
    train = split.train
    allowed = np.zeros(train.n_items, dtype=bool)
    allowed[candidate_items(split, candidates)] = True
    if not 1 <= cutoff <= allowed.sum():
        raise ConfigError(f"cutoff {cutoff}: expected 1 to {allowed.sum()}, the candidate items")
    lists = np.full((train.n_users, cutoff), -1, dtype=np.int32)
    tie_seed, _ = _seeds(seed)
    for first, scores in score_blocks(recommender, train):
        bits = scores.view(np.int32)
        row = _top_block(bits, first, allowed, train.indptr, train.item, tie_seed, lists)
        _refuse_infinite(recommender, train, first, scores, row)
    return lists


class _Above(NamedTuple):
    """Targets above each test rating, and scored targets of each user, by part of the catalogue."""

    inside: npt.NDArray[np.int32]
    outside: npt.NDArray[np.int32]
    judged: npt.NDArray[np.int32]
    scored_inside: npt.NDArray[np.int32]
    scored_outside: npt.NDArray[np.int32]


class _Sampled(NamedTuple):
    """What the sampling kernel needs and fills for one NN rule; per set: by user (AR) or row."""

    kind: int
    size: int
    n_candidates: int
    positive: npt.NDArray[np.bool_]
    rank: npt.NDArray[np.int32]
    condensed: npt.NDArray[np.int32]
    n_targets: npt.NDArray[np.int32]
    n_scored: npt.NDArray[np.int32]

    @classmethod
    def empty(cls, target: Targets, test: Ratings, n_inside: int) -> _Sampled | None:
        rule = target.rule
        if rule.n_sampled is None or target.min_rating is None:
            return None
        n_sets = len(test) if rule.per_run else test.n_users
        return cls(
            kind={"AR": _PER_USER, "1R": _PER_RUN, "1R-shared": _SHARED}[rule.relevant],
            size=rule.n_sampled,
            n_candidates=n_inside if rule.candidates == "TI" else test.n_items,
            positive=relevant(test.value, target.min_rating),
            rank=np.zeros(len(test), dtype=np.int32),
            condensed=np.zeros(len(test), dtype=np.int32),
            n_targets=np.zeros(n_sets, dtype=np.int32),
            n_scored=np.zeros(n_sets, dtype=np.int32),
        )


def _seeds(seed: int) -> tuple[np.uint64, np.uint64]:
    ties, samples = (
        stream(seed, name).integers(2**64, dtype=np.uint64) for name in ("ties", "samples")
    )
    return ties, samples


def _promised_items(recommender: Recommender, train: Ratings) -> Array | None:
    """Give the items that the recommender promises a score for; None if it promises nothing."""
    coverage = getattr(recommender, "coverage", "evidence")
    if coverage == "evidence":
        return None
    return (train.item_counts() > 0) | (coverage == "all")


def _refuse_missing(
    recommender: Recommender, train: Ratings, first_user: int, scores: Array, promised: Array
) -> None:
    """Raise ScoreError if a promised score is NaN."""
    missing = np.isnan(scores) & promised
    if getattr(recommender, "coverage", "") == "known pairs":
        users = slice(first_user, first_user + len(scores))
        missing &= (np.diff(train.indptr)[users] > 0)[:, None]
    if missing.any():
        row, item = np.argwhere(missing)[0]
        raise ScoreError(
            f"{type(recommender).__name__}: no score for user {train.user_ids[first_user + row]}, "
            f"item {train.item_ids[item]}, which its coverage promises "
            f"({getattr(recommender, 'coverage', '')}); return one, or declare less"
        )


def _refuse_infinite(
    recommender: Recommender,
    ratings: Ratings,
    first_user: int,
    scores: npt.NDArray[np.float32],
    row: int,
) -> None:
    """Raise ScoreError if a kernel found an infinite score in a row of the block, not -1."""
    if row < 0:
        return
    user = ratings.user_ids[first_user + row]
    item = ratings.item_ids[np.isinf(scores[row]).argmax()]
    raise ScoreError(
        f"{type(recommender).__name__}: infinite score for user {user}, item {item}; "
        "scores are finite, or NaN where not computable"
    )


def _check(split: Split, targets: Sequence[Targets]) -> None:
    for rule, min_rating in targets:
        if rule.needs_relevance and min_rating is None:
            raise ConfigError(f"{rule}: its target sets depend on relevance; give min_rating")
        if rule.n_sampled is None or min_rating is None:
            continue
        positives = split.test.user[relevant(split.test.value, min_rating)]
        pools = n_all_targets(split, rule.candidates) - np.bincount(
            positives, minlength=split.test.n_users
        )
        largest = int(pools.max(initial=0))
        if rule.n_sampled > largest:
            raise ConfigError(
                f"{rule}: samples {rule.n_sampled} items, but no user has more than {largest} "
                "to sample from; ask for fewer, or for AN"
            )


def _inside_first(
    inside: npt.NDArray[np.int32], n_items: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Renumber the items so that TI comes first: each candidate set is then a prefix.

    Returns the item at each place, and the place of each item.
    """
    outside = np.setdiff1d(np.arange(n_items, dtype=np.int32), inside, assume_unique=True)
    order = np.concatenate([inside, outside])
    place = np.empty(n_items, dtype=np.int32)
    place[order] = np.arange(n_items, dtype=np.int32)
    return order, place


def _counted(target: Targets, split: Split, above: _Above) -> RankTable:
    """Build the table of an AN rule from the counts."""
    rule, min_rating = target
    test = split.test
    higher, n_scored = above.inside, above.scored_inside
    if rule.candidates == "AI":
        higher, n_scored = higher + above.outside, n_scored + above.scored_outside
    listed = higher >= 0
    n_targets = n_all_targets(split, rule.candidates).astype(np.int32)
    rank = np.where(listed, higher + 1, 0)
    condensed = np.where(listed, above.judged + 1, 0)
    rows = np.ones(len(test), dtype=bool)
    if min_rating is not None and rule.per_run:
        rows = relevant(test.value, min_rating)
        others = np.zeros(len(test), dtype=np.int32)
        _count_positives_above(test.indptr, condensed, rows, others)
        rank, condensed = rank - others, condensed - others
        other_positives = np.bincount(test.user[rows], minlength=test.n_users) - 1
        scored_positives = np.bincount(test.user[rows & listed], minlength=test.n_users)
        n_targets = (n_targets - other_positives)[test.user[rows]]
        n_scored = (n_scored - scored_positives)[test.user[rows]] + listed[rows]
    return RankTable(
        per="run" if rule.per_run else "user",
        n_users=test.n_users,
        user=test.user[rows],
        item=test.item[rows],
        value=test.value[rows],
        rank=np.where(listed, rank, 0)[rows].astype(np.int32),
        condensed_rank=np.where(listed, condensed, 0)[rows].astype(np.int32),
        n_targets=n_targets.astype(np.int32),
        n_scored=n_scored.astype(np.int32),
    )


def _drawn(target: Targets, test: Ratings, draws: _Sampled) -> RankTable:
    """Build the table of an NN rule from what the sampling kernel filled."""
    per_run = target.rule.per_run
    rows = draws.positive if per_run else np.ones(len(test), dtype=bool)
    sets = rows if per_run else slice(None)
    return RankTable(
        per="run" if per_run else "user",
        n_users=test.n_users,
        user=test.user[rows],
        item=test.item[rows],
        value=test.value[rows],
        rank=draws.rank[rows],
        condensed_rank=draws.condensed[rows],
        n_targets=draws.n_targets[sets],
        n_scored=draws.n_scored[sets],
    )


@nb.njit(cache=True, inline="always")
def _mix(state: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finaliser of splitmix64): a bijection without visible pattern."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@nb.njit(cache=True, inline="always")
def _user_secret(seed: np.uint64, user: int) -> np.uint64:
    return _mix(seed ^ _mix(np.uint64(user) + np.uint64(0x9E3779B97F4A7C15)))


@nb.njit(cache=True, nogil=True)
def _key_row(bits: Array, user: int, tie_seed: np.uint64, keys: Array) -> bool:
    """Fill one int64 key per item, NaN as absent; return whether a score is infinite.

    For a fixed user the tie half is a bijection of the item number, so no two keys are equal.
    """
    secret = _user_secret(tie_seed, user)
    first, second = np.uint32(secret), np.uint32(secret >> np.uint64(32))
    infinite = 0
    for item in range(len(bits)):
        score = bits[item]
        magnitude = np.int32(score & np.int32(0x7FFFFFFF))
        infinite += magnitude == np.int32(0x7F800000)
        # Negative floats order backwards as integers; 0.0 and -0.0 are the same score.
        high = np.int32(score ^ np.int32((score >> np.int32(31)) & np.int32(0x7FFFFFFF)))
        high = np.int32(0) if magnitude == np.int32(0) else high
        tie = np.uint32(np.uint32(item) + first)
        tie = np.uint32(np.uint32(tie ^ np.uint32(tie >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        tie = np.uint32(tie ^ second)
        tie = np.uint32(np.uint32(tie ^ np.uint32(tie >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        tie = np.uint32(tie ^ np.uint32(tie >> np.uint32(16)))
        key = (np.int64(high) << np.int64(32)) | np.int64(tie)
        keys[item] = _ABSENT if magnitude > np.int32(0x7F800000) else key
    return infinite > 0


@nb.njit(cache=True, nogil=True)
def _fill_keys(
    bits: Array,
    first_user: int,
    order: Array,
    tie_seed: np.uint64,
    train_indptr: Array,
    train_place: Array,
    keys: Array,
) -> int:
    """Fill the keys of a block by place, training items absent.

    Returns -1, or the first row with an infinite score.
    """
    n_rows, n_items = bits.shape
    by_item = np.empty(n_items, dtype=np.int64)
    for row in range(n_rows):
        user = first_user + row
        if _key_row(bits[row], user, tie_seed, by_item):
            return row
        for place in range(n_items):
            keys[row, place] = by_item[order[place]]
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            keys[row, train_place[entry]] = _ABSENT
    return -1


@nb.njit(cache=True, nogil=True)
def _count_above(keys: Array, key: Any) -> int:
    # This plain form compiles to SIMD compares; iterating over the array itself is 7 times slower.
    above = 0
    for place in range(keys.shape[0]):
        if keys[place] > key:
            above += 1
    return above


@nb.njit(cache=True, nogil=True)
def _count_block(
    keys: Array,
    first_user: int,
    n_inside: int,
    any_outside: bool,
    test_indptr: Array,
    test_place: Array,
    inside: Array,
    outside: Array,
    judged: Array,
    scored_inside: Array,
    scored_outside: Array,
) -> None:
    """Count, for each test rating, the targets above it; -1 where it has no score itself."""
    test_keys = np.empty(keys.shape[1], dtype=np.int64)
    for row in range(len(keys)):
        user = first_user + row
        begin, end = test_indptr[user], test_indptr[user + 1]
        # In two steps: a slice of a row is contiguous to the compiler, a cut of a block is not.
        user_keys = keys[row]
        inner, outer = user_keys[:n_inside], user_keys[n_inside:]
        for entry in range(begin, end):
            test_keys[entry - begin] = user_keys[test_place[entry]]
        scored_inside[user] = _count_above(inner, _ABSENT)
        if any_outside:
            scored_outside[user] = _count_above(outer, _ABSENT)
        for entry in range(begin, end):
            key = test_keys[entry - begin]
            if key == _ABSENT:
                inside[entry] = -1
                judged[entry] = -1
                continue
            inside[entry] = _count_above(inner, key)
            judged[entry] = _count_above(test_keys[: end - begin], key)
            if any_outside:
                outside[entry] = _count_above(outer, key)


@nb.njit(cache=True, nogil=True)
def _count_positives_above(
    test_indptr: Array, condensed: Array, positive: Array, above: Array
) -> None:
    for user in range(len(test_indptr) - 1):
        begin, end = test_indptr[user], test_indptr[user + 1]
        for entry in range(begin, end):
            if positive[entry] and condensed[entry] > 0:
                for other in range(begin, end):
                    if positive[other] and 0 < condensed[other] < condensed[entry]:
                        above[entry] += 1


@nb.njit(cache=True, nogil=True)
def _draw(state: np.uint64, bound: int) -> tuple[Any, Any]:
    """Advance the stream and draw below `bound` without bias (Lemire 2019)."""
    limit = np.uint64(bound)
    threshold = (np.uint64(0x100000000) - limit) % limit
    while True:
        state += np.uint64(0x9E3779B97F4A7C15)
        product = (_mix(state) >> np.uint64(32)) * limit
        if (product & np.uint64(0xFFFFFFFF)) >= threshold:
            return state, np.int64(product >> np.uint64(32))


@nb.njit(cache=True, nogil=True)
def _sample(
    state: np.uint64,
    size: int,
    n_candidates: int,
    n_pool: int,
    mark: Array,
    stamp: int,
    pool: Array,
    drawn: Array,
) -> None:
    """Draw `size` of the `n_pool` places whose mark is not -1, without replacement.

    Rejection while the pool is large beside the sample and the candidates, else a partial shuffle
    of the pool. Both give every subset the same probability.
    """
    if 2 * size > n_pool or 4 * n_pool < n_candidates:
        filled = 0
        for place in range(n_candidates):
            if mark[place] >= 0:
                pool[filled] = place
                filled += 1
        for number in range(size):
            state, offset = _draw(state, n_pool - number)
            drawn[number] = pool[number + offset]
            pool[number + offset] = pool[number]
        return
    number = 0
    while number < size:
        state, place = _draw(state, n_candidates)
        if mark[place] >= 0 and mark[place] != stamp:
            mark[place] = stamp
            drawn[number] = place
            number += 1


@nb.njit(cache=True, nogil=True)
def _sample_block(
    keys: Array,
    first_user: int,
    sample_seed: np.uint64,
    train_indptr: Array,
    train_place: Array,
    test_indptr: Array,
    test_place: Array,
    test_items: Array,
    kind: int,
    wanted: int,
    n_candidates: int,
    positive: Array,
    rank: Array,
    condensed: Array,
    n_targets: Array,
    n_scored: Array,
) -> None:
    """Sample the non-relevant targets of a block of users and rank their test ratings among them.

    A run's stream depends on seed, user and relevant item only; a user's on seed and user.
    """
    n_items = keys.shape[1]
    mark = np.zeros(n_items, dtype=np.int64)
    judged = np.zeros(n_items, dtype=np.bool_)
    pool = np.empty(n_items, dtype=np.int64)
    drawn = np.empty(n_items, dtype=np.int64)
    stamp = 0
    for row in range(len(keys)):
        user = first_user + row
        begin, end = test_indptr[user], test_indptr[user + 1]
        n_pool = n_candidates
        n_positive = 0
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            mark[train_place[entry]] = -1
            n_pool -= train_place[entry] < n_candidates
        for entry in range(begin, end):
            judged[test_place[entry]] = True
            if positive[entry]:
                n_positive += 1
                mark[test_place[entry]] = -1
                n_pool -= test_place[entry] < n_candidates
        size = min(wanted, n_pool)
        secret = _user_secret(sample_seed, user)
        if kind != _PER_RUN and (n_positive > 0 or kind == _PER_USER):
            stamp += 1
            _sample(secret, size, n_candidates, n_pool, mark, stamp, pool, drawn)
        if kind == _PER_USER:
            _rank_among_sample(
                keys[row], user, begin, end, drawn[:size], judged, test_place, positive,
                rank, condensed, n_targets, n_scored,
            )  # fmt: skip
        else:
            for entry in range(begin, end):
                if not positive[entry]:
                    continue
                if kind == _PER_RUN:
                    stamp += 1
                    run = np.uint64(test_items[entry]) + np.uint64(1)
                    state = _mix(secret + run * np.uint64(0xD1342543DE82EF95))
                    _sample(state, size, n_candidates, n_pool, mark, stamp, pool, drawn)
                key = keys[row, test_place[entry]]
                above = above_judged = scored = 0
                for place in drawn[:size]:
                    other = keys[row, place]
                    scored += other != _ABSENT
                    if other > key:
                        above += 1
                        above_judged += judged[place]
                n_targets[entry] = size + 1
                n_scored[entry] = scored + (key != _ABSENT)
                if key != _ABSENT:
                    rank[entry] = 1 + above
                    condensed[entry] = 1 + above_judged
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            mark[train_place[entry]] = 0
        for entry in range(begin, end):
            mark[test_place[entry]] = 0
            judged[test_place[entry]] = False


@nb.njit(cache=True, nogil=True)
def _rank_among_sample(
    keys: Array,
    user: int,
    begin: int,
    end: int,
    drawn: Array,
    judged: Array,
    test_place: Array,
    positive: Array,
    rank: Array,
    condensed: Array,
    n_targets: Array,
    n_scored: Array,
) -> None:
    """Rank all listed test ratings of one user among his sample and his relevant items (AR-NN)."""
    sampled = np.zeros(len(keys), dtype=np.bool_)
    for place in drawn:
        sampled[place] = True
    members = np.empty(len(drawn) + end - begin, dtype=np.int64)
    members[: len(drawn)] = drawn
    n_members = len(drawn)
    for entry in range(begin, end):
        if positive[entry]:
            members[n_members] = test_place[entry]
            n_members += 1
    n_targets[user] = n_members
    for place in members[:n_members]:
        n_scored[user] += keys[place] != _ABSENT
    for entry in range(begin, end):
        key = keys[test_place[entry]]
        if key == _ABSENT or not (positive[entry] or sampled[test_place[entry]]):
            continue
        rank[entry] = condensed[entry] = 1
        for place in members[:n_members]:
            if keys[place] > key:
                rank[entry] += 1
                condensed[entry] += judged[place]


@nb.njit(cache=True, nogil=True)
def _top_block(
    bits: Array,
    first_user: int,
    allowed: Array,
    train_indptr: Array,
    train_items: Array,
    tie_seed: np.uint64,
    lists: Array,
) -> int:
    """Fill the lists of a block of users by a heap of the best keys so far, the worst on top.

    Returns -1, or the first row with an infinite score.
    """
    n_rows, n_items = bits.shape
    keys = np.empty(n_items, dtype=np.int64)
    for row in range(n_rows):
        user = first_user + row
        if _key_row(bits[row], user, tie_seed, keys):
            return row
        for entry in range(train_indptr[user], train_indptr[user + 1]):
            keys[train_items[entry]] = _ABSENT
        length = lists.shape[1]
        heap = [(_ABSENT, -1)] * length
        for item in range(n_items):
            if allowed[item] and keys[item] > heap[0][0]:
                heapq.heapreplace(heap, (keys[item], item))
        heap.sort()
        for number in range(length):
            lists[user, number] = heap[length - 1 - number][1]
    return -1
