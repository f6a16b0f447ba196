"""Rank once: the position of every test rating in its target set, for all target sets together.

For a system, a split and a target-set rule, the ranks of the test ratings are a sufficient
statistic for every metric that looks at judged items only. They come from *counting* the targets
that score higher; one pass over a block of scores serves all rules, full and condensed.

**Order.** Each user-item pair has one 64-bit key: the score in the high half and a seeded random
tie key in the low half. Keys of one user never coincide, so the order is total; it is the same in
every target set, as the lemma of BCC17 Sec. 3.4 needs, and for every system, so that two systems
that tie on a pair of items break the tie alike.

**Not computable.** A NaN score leaves the pair out of the list: a test item without a score has
rank 0, and a target without one is above nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, ContractError, ScoreError
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import ItemGroups, Targets, candidate_items, n_all_targets
from recbias.ranking.kernels import (
    PER_RUN,
    PER_USER,
    SHARED,
    count_block,
    fill_keys,
    list_block,
    sample_block,
    tie_block,
)
from recbias.ranking.positions import LISTED, Positions, target_counts, train_counts
from recbias.ranking.tables import RankTable
from recbias.recommenders import Recommender
from recbias.recommenders.base import ratings_read

__all__ = [
    "block_size",
    "check_samples",
    "rank",
    "rank_once",
    "score_blocks",
    "tie_counts",
    "top_items",
]

REVISION = 1
"""Raised when code changes an order, a count or a list, for the same scores and seed."""

SAMPLING_REVISION = 1
"""Raised when code changes which items a sample holds, for the same split and seed."""

BLOCK_BYTES, SMALLEST_BLOCK, LARGEST_BLOCK_BYTES = 2**20, 64, 2**28
"""Aimed size of a block of scores, so that a block and its keys stay in the processor's cache; the
fewest users, so that a product still is one; and the most memory that a block may take."""

Array = npt.NDArray[Any]


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
        returned = getattr(scores, "dtype", type(scores).__name__), getattr(scores, "shape", "")
        if returned != (np.float32, expected):
            raise ContractError(
                f"{type(recommender).__name__}.score returned {returned[0]} {returned[1]}, "
                f"expected float32 {expected}"
            )
        if promised is not None:
            _refuse_missing(recommender, read, first, scores, promised)
        yield first, np.ascontiguousarray(scores)


def rank_once(
    recommender: Recommender,
    split: Split,
    *,
    groups: ItemGroups | None = None,
    sampled: Sequence[Targets] = (),
    depth: int = LISTED,
    seed: int,
) -> tuple[Positions, list[RankTable]]:
    """Look at every score once, and keep what all later questions are answered from.

    Parameters
    ----------
    recommender
        Fitted on ``split.train``.
    split
        Its test ratings are ranked.
    groups
        By which targets above a test rating are counted; one group if not given.
    sampled
        NN rules with the threshold that each needs.
    depth
        Length to which lists are kept.
    seed
        Names the tie keys and the samples. No score moves either: every system meets the same.

    Returns
    -------
    positions : Positions
        Gives the table of every AN rule, and lists.
    tables : list of RankTable
        One per entry of ``sampled``, in the same order.

    Raises
    ------
    ScoreError
        If a score is infinite, or missing although the recommender's coverage promises it.
    ContractError
        If scores have the wrong shape or dtype.
    ConfigError
        If a rule comes without threshold, or a sample is larger than the pool of every user.

    References
    ----------
    BCC17 Sec. 3.1-3.2, 6.1.
    """
    train, test = split.train, split.test
    n_users, n_items = test.n_users, test.n_items
    check_samples(split, sampled)
    if groups is None:
        groups = ItemGroups(np.zeros(n_items, dtype=np.int16), 1)
    layout = _Layout.of(split, groups)
    n_segments = len(layout.bounds) - 1
    tie_seed, sample_seed = _seeds(seed)
    listed = np.zeros(len(test), dtype=bool)
    above = np.zeros((len(test), n_segments), dtype=_count_type(np.diff(layout.bounds).max()))
    train_above = np.zeros((len(test), 2), dtype=_count_type(n_items))
    n_scored = np.zeros((n_users, n_segments), dtype=np.int32)
    n_train_scored = np.zeros((n_users, 2), dtype=np.int32)
    samples = [_Sampled.empty(target, split, layout) for target in sampled]
    # Of many ratings each column counts, and samples alone ask for places.
    placed = [part.item if samples else part.item[:0] for part in (train, test)]
    train_place, test_place = (layout.place_of[items] for items in placed)
    keys = np.empty((block_size(n_items), n_items), dtype=np.int64)
    width = min(2 * depth, n_items)
    lists = np.empty(n_users * width, dtype=np.int32)  # what is not filled takes no memory
    starts = np.zeros(n_users + 1, dtype=np.int64)
    for first, scores in score_blocks(recommender, train):
        block = keys[: len(scores)]
        bits = scores.view(np.int32)
        n_train_here = train.indptr[first + len(scores)] - train.indptr[first]
        train_keys = np.empty(n_train_here, dtype=np.int64)
        row = fill_keys(
            bits, first, layout.item_at, tie_seed, train.indptr, layout.train_spot, block,
            train_keys,
        )  # fmt: skip
        _refuse_infinite(recommender, test, first, scores, row)
        count_block(
            block, first, layout.bounds, layout.n_inside, test.indptr, layout.test_spot,
            train.indptr, layout.train_spot, train_keys, listed, above, train_above, n_scored,
            n_train_scored,
        )  # fmt: skip
        block_lists = np.empty((len(block), width), dtype=np.int32)
        block_lengths = np.empty(len(block), dtype=np.int64)
        list_block(block, layout.item_at, layout.n_inside, depth, block_lists, block_lengths)
        ends = starts[first : first + len(block) + 1]
        ends[1:] = ends[0] + np.cumsum(block_lengths)
        lists[ends[0] : ends[-1]] = block_lists[np.arange(width) < block_lengths[:, None]]
        for draws in samples:
            sample_block(
                block, first, sample_seed, train.indptr, train_place, test.indptr,
                test_place, test.item, layout.spot_of, *draws,
            )  # fmt: skip
    positions = Positions(
        n_users=n_users,
        user=test.user,
        item=test.item,
        value=test.value,
        groups=groups,
        test_items=split.test_items,
        listed=listed,
        above=above,
        train_above=train_above,
        n_targets=target_counts(split, groups),
        n_scored=n_scored,
        n_train=train_counts(split),
        n_train_scored=n_train_scored,
        list_items=lists[: starts[-1]],
        list_starts=starts,
        depth=depth,
    )
    tables = [_drawn(target, test, draws) for target, draws in zip(sampled, samples, strict=True)]
    return positions, tables


def rank(
    recommender: Recommender,
    split: Split,
    targets: Sequence[Targets],
    *,
    seed: int,
    ties: bool = False,
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
    ties
        Whether tables say which places equal scores share, for metrics such as ``P@10|ties``; of
        AN rules without percentiles and training items. It takes a second pass over the scores.

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
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.recommenders import System
    >>> from recbias.protocol.splits import from_fold_labels
    >>> from recbias.protocol.targets import TargetRule, Targets
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
    check_samples(split, targets)
    sampled = [target for target in targets if target.rule.others == "NN"]
    positions, drawn = rank_once(recommender, split, sampled=sampled, depth=1, seed=seed)
    if ties:
        positions = dataclasses.replace(positions, ties=tie_counts(recommender, split))
    samples = iter(drawn)
    return [
        next(samples)
        if target.rule.others == "NN"
        else positions.table(target.rule, min_rating=target.min_rating)
        for target in targets
    ]


def tie_counts(recommender: Recommender, split: Split) -> npt.NDArray[np.int32]:
    """Count the targets with a larger, and with an equal score, for each test rating.

    Parameters
    ----------
    recommender
        Fitted on ``split.train``; its scores have to be those of the other passes.
    split
        Its test ratings are looked at.

    Returns
    -------
    ndarray of int32, shape (n_test_ratings, 4)
        Larger and equal ones inside TI, the item itself among the latter, then the same of all
        items (AI). The user's training items do not count. 0 for a pair without a score.

    Raises
    ------
    ScoreError, ContractError
        As :func:`recbias.ranking.score_blocks` does.

    See Also
    --------
    recbias.ranking.rank : with ``ties=True`` it gives them to its tables.

    Examples
    --------
    Item b is tested, and ties with c; a scores more and is only in the catalogue.

    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.protocol.splits import from_fold_labels
    >>> rows = {"user_id": [1, 1, 2, 2, 3], "item_id": list("dbacc"), "rating": 5}
    >>> ratings = Ratings.from_frame(pd.DataFrame(rows))
    >>> split = from_fold_labels(ratings, np.array([0, 1, 1, 0, 1]))[0]
    >>> class Fixed:
    ...     coverage = "all"
    ...     def score(self, users):
    ...         return np.tile(np.array([2, 1, 1, 9], np.float32), (len(users), 1))
    >>> tie_counts(Fixed(), split)[0].tolist()
    [0, 2, 1, 2]
    """
    train, test = split.train, split.test
    inside = np.zeros(test.n_items, dtype=bool)
    inside[split.test_items] = True
    counts = np.zeros((len(test), 4), dtype=np.int32)
    for first, scores in score_blocks(recommender, train):
        tie_block(scores, first, inside, train.indptr, train.item, test.indptr, test.item, counts)
    return counts


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
    n_candidates = len(candidate_items(split, candidates))
    if not 1 <= cutoff <= n_candidates:
        raise ConfigError(f"cutoff {cutoff}: expected 1 to {n_candidates}, the candidate items")
    # Lists know no test rating but those that make TI.
    unjudged = split.test.take(np.zeros(len(split.test), dtype=bool))
    alone = dataclasses.replace(split, test=unjudged)
    positions, _ = rank_once(recommender, alone, depth=cutoff, seed=seed)
    return positions.lists(candidates, cutoff)


def _count_type(most: int) -> type[np.int16 | np.int32]:
    """Give the narrower type that holds counts up to a number: there is one for each rating."""
    return np.int16 if most < 2**15 else np.int32


class _Layout(NamedTuple):
    """The two orders of the items that the kernels use, see `recbias.ranking.kernels`."""

    n_inside: int
    bounds: npt.NDArray[np.int64]
    item_of_place: npt.NDArray[np.int32]
    item_at: npt.NDArray[np.int32]
    spot_of: npt.NDArray[np.int32]
    place_of: npt.NDArray[np.int32]
    test_spot: npt.NDArray[np.int32]
    train_spot: npt.NDArray[np.int32]

    @classmethod
    def of(cls, split: Split, groups: ItemGroups) -> _Layout:
        n_items = split.test.n_items
        inside = candidate_items(split, "TI")
        outside = np.setdiff1d(np.arange(n_items, dtype=np.int32), inside, assume_unique=True)
        by_place = np.concatenate([inside, outside])
        segment = groups.segments(inside)
        item_at = np.argsort(segment, kind="stable").astype(np.int32)
        place, spot = np.empty((2, n_items), dtype=np.int32)
        place[by_place] = spot[item_at] = np.arange(n_items, dtype=np.int32)
        sizes = np.bincount(segment, minlength=2 * groups.n_groups)
        return cls(
            n_inside=len(inside),
            bounds=np.concatenate([[0], np.cumsum(sizes)]),
            item_of_place=by_place,
            item_at=item_at,
            spot_of=spot[by_place],
            place_of=place,
            test_spot=spot[split.test.item],
            train_spot=spot[split.train.item],
        )


class _Sampled(NamedTuple):
    """What the sampling kernel needs and fills for one NN rule; per set: by user (AR) or row."""

    kind: int
    size: int
    n_candidates: int
    cumulative: npt.NDArray[np.int64]
    positive: npt.NDArray[np.bool_]
    rank: npt.NDArray[np.int32]
    condensed: npt.NDArray[np.int32]
    n_targets: npt.NDArray[np.int32]
    n_scored: npt.NDArray[np.int32]

    @classmethod
    def empty(cls, target: Targets, split: Split, layout: _Layout) -> _Sampled:
        rule, test = target.rule, split.test
        if rule.n_sampled is None or target.min_rating is None:
            raise ConfigError(f"{rule}: takes no sample")
        n_sets = len(test) if rule.per_run else test.n_users
        weights = np.empty(0, dtype=np.int64)
        if rule.drawn == "popularity":
            weights = split.train.item_counts()[layout.item_of_place]
        return cls(
            kind={"AR": PER_USER, "1R": PER_RUN, "1R-shared": SHARED}[rule.relevant],
            size=rule.n_sampled,
            n_candidates=layout.n_inside if rule.candidates == "TI" else test.n_items,
            cumulative=np.cumsum(weights, dtype=np.int64),
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


def check_samples(split: Split, targets: Sequence[Targets]) -> None:
    """Refuse samples that are larger than what there is to draw from.

    Parameters
    ----------
    split
        Training and test ratings.
    targets
        Rules of target sets, with the thresholds that say what is relevant.

    Raises
    ------
    ConfigError
        If no user has so many items, or a threshold is missing.
    """
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
