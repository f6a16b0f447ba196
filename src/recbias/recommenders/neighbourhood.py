"""Neighbourhood models: what similar users rated."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias._system.memory import row_blocks
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.recommenders.base import Algorithm, Coverage, by_item, parameter, register

_NEIGHBOUR_BYTES = 12
_SHARED_BYTES = 2**24
_LARGEST_EVIDENCE_BYTES = 2**26
_LANES, _LANE_BYTES = 128, 2**24


@nb.njit(cache=True, nogil=True)
def _mix(word: Any) -> Any:
    """Scramble 32 bits, one to one (the finaliser of MurmurHash3).

    Numba widens products of 32-bit numbers, hence the casts.
    """
    word = np.uint32(word ^ (word >> np.uint32(16)))
    word = np.uint32(word * np.uint32(0x85EBCA6B))
    word = np.uint32(word ^ (word >> np.uint32(13)))
    word = np.uint32(word * np.uint32(0xC2B2AE35))
    return np.uint32(word ^ (word >> np.uint32(16)))


@nb.njit(cache=True, nogil=True)
def _neighbour_keys(
    first: int,
    indptr: Any,
    item: Any,
    value: Any,
    item_pointers: Any,
    rater: Any,
    rater_value: Any,
    min_overlap: int,
    keys: Any,
) -> None:
    """Fill in, for the users from `first` on, one 64-bit key per other user; 0 = no neighbour.

    The high half holds the bits of the similarity as a (positive) float32, whose order is that of
    the numbers, the low half a scrambled number of the other user: no two keys of a user are equal.
    """
    n_users = len(indptr) - 1
    sums = np.empty((n_users, 2))
    similarity = np.empty(n_users, dtype=np.float32)
    bits = similarity.view(np.uint32)
    for row in range(len(keys)):
        user = first + row
        for other in range(n_users):
            sums[other, 0] = sums[other, 1] = 0.0
        for at in range(indptr[user], indptr[user + 1]):
            for by in range(item_pointers[item[at]], item_pointers[item[at] + 1]):
                other = rater[by]
                sums[other, 0] += value[at] * rater_value[by]
                sums[other, 1] += 1.0
        for other in range(n_users):
            similarity[other] = sums[other, 0]
        scramble = _mix(np.uint32(user))
        for other in range(n_users):
            keys[row, other] = 0
            if other != user and sums[other, 1] >= min_overlap and similarity[other] > 0.0:
                tie = _mix(np.uint32(scramble ^ np.uint32(other)))
                keys[row, other] = (np.uint64(bits[other]) << np.uint64(32)) | np.uint64(tie)


@nb.njit(cache=True, nogil=True)
def _add_neighbours(
    first: int, end: int, neighbour: Any, weight: Any, pointers: Any, column: Any, value: Any,
    sums: Any,
) -> None:  # fmt: skip
    """Sum, per item, the weighted values of some neighbours, their weights, and how many it are.

    The three are side by side, as they are used. A signed index might be negative, which would be
    tested for in the innermost loop.
    """
    for place in range(len(sums)):
        sums[place] = 0.0
    for at in range(first, end):
        near, gain = neighbour[at], weight[at]
        for place in range(np.uint64(pointers[near]), np.uint64(pointers[near + 1])):
            total = np.uint64(3) * np.uint64(column[place])
            sums[total] += gain * value[place]
            sums[total + np.uint64(1)] += gain
            sums[total + np.uint64(2)] += 1.0


@nb.njit(cache=True, nogil=True)
def _weigh(
    sums: Any, normalised: bool, min_neighbours: int, regularisation: float, scores: Any
) -> None:
    """Turn the sums of `_add_neighbours` into scores."""
    for i in range(len(scores)):
        if sums[3 * i + 2] < min_neighbours:
            scores[i] = np.nan
        elif normalised:
            scores[i] = sums[3 * i] / (sums[3 * i + 1] + regularisation)
        else:
            scores[i] = sums[3 * i]


@nb.njit(cache=True, nogil=True)
def weighted_sums(
    users: Any,
    most: int,
    pointers: Any,
    neighbour: Any,
    weight: Any,
    row_pointers: Any,
    column: Any,
    value: Any,
    normalised: bool,
    min_neighbours: int,
    regularisation: float,
    scores: Any,
) -> None:
    """Fill in, for each user, the weighted sum or mean of the sparse rows of their neighbours.

    The two triples are sparse matrices in compressed rows: of each user's neighbours and their
    weights, of which the first `most` count, and of each neighbour's items and values. Sums are
    taken in the order of the first, so neither the block nor threads change a bit.
    """
    sums = np.empty(3 * scores.shape[1])
    for row in range(len(users)):
        first, end = pointers[users[row]], pointers[users[row] + 1]
        end = min(end, first + most)
        _add_neighbours(first, end, neighbour, weight, row_pointers, column, value, sums)
        _weigh(sums, normalised, min_neighbours, regularisation, scores[row])


@nb.njit(cache=True, nogil=True)
def _weigh_all(
    users: Any,
    evidence: Any,
    normalised: bool,
    min_neighbours: int,
    regularisation: float,
    scores: Any,
) -> None:
    """Fill in the scores of `users` from the sums of all users."""
    for row in range(len(users)):
        _weigh(evidence[users[row]], normalised, min_neighbours, regularisation, scores[row])


@nb.njit(cache=True, nogil=True)
def _add_all(
    most: int,
    pointers: Any,
    neighbour: Any,
    weight: Any,
    row_pointers: Any,
    column: Any,
    value: Any,
    evidence: Any,
) -> None:
    """Fill in the sums of `_add_neighbours` for each user."""
    for user in range(len(evidence)):
        first, end = pointers[user], min(pointers[user + 1], pointers[user] + most)
        sums = evidence[user]
        _add_neighbours(first, end, neighbour, weight, row_pointers, column, value, sums)


_Near = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]


def _nearest(train: Ratings, n_neighbours: int, min_overlap: int) -> _Near:
    """Return at least so many neighbours of each user, the nearest first.

    Returns
    -------
    row pointers, users, similarities
    """
    # A longer list begins with the shorter ones: whoever asks for fewer neighbours shares it.
    length = max(n_neighbours, _SHARED_BYTES // (_NEIGHBOUR_BYTES * train.n_users))
    return _sorted_neighbours(train, min(length, train.n_users), min_overlap)


# The settings of a grid share their neighbours, which take much time; three values of the overlap,
# say, alternate. Ratings cannot change, so that they are as good a key as any value.
@functools.lru_cache(maxsize=3)
def _sorted_neighbours(train: Ratings, size: int, min_overlap: int) -> _Near:
    value = train.value
    norms = np.sqrt(np.bincount(train.user, value**2, train.n_users))[train.user]
    unit = np.divide(value, norms, out=np.zeros_like(value), where=norms > 0)
    item_pointers, rows = by_item(train)
    raters = (item_pointers, train.user[rows], unit[rows])

    n_users = train.n_users
    counts, neighbours, similarities = [], [], []
    for users in row_blocks(n_users, 8 * n_users):
        keys = np.empty((users.stop - users.start, n_users), dtype=np.uint64)
        _neighbour_keys(users.start, train.indptr, train.item, unit, *raters, min_overlap, keys)
        is_near, nearest, key = _largest(keys, size)
        counts.append(is_near.sum(axis=1))
        neighbours.append(nearest[is_near])
        bits = (key[is_near] >> np.uint64(32)).astype(np.uint32)
        similarities.append(bits.view(np.float32).astype(np.float64))
    return _joined(counts, neighbours, similarities)


# Nor do settings that differ only in how sums become scores need sums of their own.
@functools.lru_cache(maxsize=1)
def _evidence(
    train: Ratings, n_neighbours: int, min_overlap: int
) -> npt.NDArray[np.float64] | None:
    """Return each user's sums over their neighbours; None where they would take much memory."""
    if 24 * train.n_users * train.n_items > _LARGEST_EVIDENCE_BYTES:
        return None
    near = _nearest(train, n_neighbours, min_overlap)
    evidence = np.empty((train.n_users, 3 * train.n_items))
    _add_all(n_neighbours, *near, train.indptr, train.item, train.value, evidence)
    return evidence


def _largest(
    keys: npt.NDArray[np.uint64], size: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int32], npt.NDArray[np.uint64]]:
    """Return the `size` largest keys of each row in falling order: if positive, where, which."""
    n_columns = keys.shape[1]
    nearest = np.argpartition(keys, n_columns - size, axis=1)[:, n_columns - size :]
    key = np.take_along_axis(keys, nearest, axis=1)
    order = np.argsort(key, axis=1)[:, ::-1]
    key = np.take_along_axis(key, order, axis=1)
    return key > 0, np.take_along_axis(nearest, order, axis=1).astype(np.int32), key


def _joined(
    counts: list[npt.NDArray[np.int64]],
    neighbours: list[npt.NDArray[np.int32]],
    similarities: list[npt.NDArray[np.float64]],
) -> _Near:
    near = (
        np.concatenate(([0], np.cumsum(np.concatenate(counts)))),
        np.concatenate(neighbours),
        np.concatenate(similarities),
    )
    for array in near:
        array.flags.writeable = False
    return near


@register
@dataclass(eq=False)
class UserKNN(Algorithm):
    r"""Score an item with what the most similar users gave it: summed, or as their mean.

    The similarity is the cosine of whole profiles, a missing rating counting 0:
    :math:`s(u,v) = r_u \cdot r_v / (\|r_u\| \|r_v\|)`. With N(u) the `n_neighbours` users of the
    largest positive similarity to u, and V those of them who rated i, the score is
    :math:`\sum_{v \in V} s(u,v) r_{vi}` when summed, and that over
    :math:`\sum_{v \in V} s(u,v) + \beta` when normalised. Summed scores grow with the number of
    neighbours who rated the item, so they rank; normalised scores predict a rating, however few
    neighbours it comes from.

    Similarities are rounded to float32, so that sums that differ only in their order are equal.
    Among users that are equally similar to u, an order is chosen at random once and for all (a
    fixed scramble of both numbers): it needs no seed, and favours nobody for a place in the file,
    as the order of user numbers would.

    Parameters
    ----------
    n_neighbours : int
        Size of N(u), smaller where fewer users qualify.
    normalised : bool
        Whether the score is a weighted mean instead of a sum.
    min_overlap : int
        How many items both users must have rated for their similarity to count.
    min_neighbours : int
        How many users V must hold; with fewer the score is missing.
    regularisation : float
        :math:`\beta`: pulls means of few or distant neighbours towards 0. Only when normalised.
    encoding : str
        What a rating counts, see `Encoding`.

    Raises
    ------
    ConfigError
        If `regularisation` is given for sums, besides values out of bounds.

    See Also
    --------
    CoRatedUserKNN : LibRec's model of the same name.

    Notes
    -----
    **Defaults.** 100 neighbours and sums of all of them, as Cañamares et al. 2020 ran RankSys on
    MovieLens (1000 neighbours on Netflix).

    **Complexity.** Training takes :math:`\sum_i n_i^2` additions, scoring the ratings of the
    neighbours. Memory: `n_neighbours` numbers per user, or 16 MiB of them where that
    is more, for up to three values of `min_overlap`, besides a block of 16 MiB, and 24 bytes per
    pair of user and item where that is at most 64 MiB.

    **Non-computable.** Pairs of an item that fewer than `min_neighbours` of the user's neighbours
    rated, so all pairs of a user without neighbours.

    References
    ----------
    Cañamares, Castells & Moffat, "Offline evaluation options for recommender systems", Information
    Retrieval Journal 23, 2020, whose code (RankSys) defines the sum. Desrosiers & Karypis, "A
    comprehensive survey of neighborhood-based recommendation methods", in Recommender Systems
    Handbook, 2011, for the mean.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"user_id": [1, 1, 2, 2, 3], "item_id": list("abacb"), "rating": [3, 4, 3, 4, 5]}
    ... )
    >>> knn = UserKNN(n_neighbours=1, normalised=False).fit(Ratings.from_frame(frame))

    User 1 resembles user 3 (4 * 5 / (5 * 5) = 0.8) more than user 2 (3 * 3 / (5 * 5)):

    >>> knn.score(np.array([0]))
    array([[nan,  4., nan]], dtype=float32)
    """

    n_neighbours: int = parameter(100, minimum=1)
    normalised: bool = parameter(False)
    min_overlap: int = parameter(1, minimum=1)
    min_neighbours: int = parameter(1, minimum=1)
    regularisation: float = parameter(0.0, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "evidence"
    deterministic: ClassVar[bool] = True
    minimum_value: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.regularisation and not self.normalised:
            raise ConfigError(
                f"UserKNN: regularisation is {self.regularisation:g}, expected 0 for summed scores"
                "\nset normalised=True, or leave it out"
            )

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._near = _nearest(train, self.n_neighbours, self.min_overlap)
        self._train = train

    def neighbours(self, user: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Return a user's neighbours and their similarities, the nearest first.

        Parameters
        ----------
        user : int
            Dense number of a user.

        Returns
        -------
        users : int32 array (at most n_neighbours,)
            The neighbours.
        similarities : float64 array, alike
            Their similarities, descending, positive.
        """
        pointers, neighbour, similarity = self._near
        first = pointers[user]
        places = slice(first, min(first + self.n_neighbours, pointers[user + 1]))
        return neighbour[places], similarity[places]

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        train = self._train
        scores = np.empty((len(users), train.n_items), dtype=np.float32)
        rule = (self.normalised, self.min_neighbours, self.regularisation)
        evidence = _evidence(train, self.n_neighbours, self.min_overlap)
        if evidence is not None:
            _weigh_all(users, evidence, *rule, scores)
        else:
            near = (self.n_neighbours, *self._near)
            weighted_sums(users, *near, train.indptr, train.item, train.value, *rule, scores)
        return scores


class _Table(NamedTuple):
    """A sparse table in both reading directions; a stored zero is an entry like others."""

    pointers: npt.NDArray[np.int64]
    column: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]
    column_pointers: npt.NDArray[np.int64]
    row: npt.NDArray[np.int32]
    row_value: npt.NDArray[np.float64]

    @classmethod
    def read(
        cls,
        pointers: npt.NDArray[np.integer[Any]],
        column: npt.NDArray[np.integer[Any]],
        value: npt.NDArray[Any],
        n_columns: int,
    ) -> _Table:
        order = np.argsort(column, kind="stable")
        row = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))[order]
        column_pointers = np.concatenate(([0], np.cumsum(np.bincount(column, minlength=n_columns))))
        table = cls(
            np.array(pointers, dtype=np.int64),
            np.array(column, dtype=np.int32),
            np.array(value, dtype=np.float64),
            column_pointers,
            row.astype(np.int32),
            np.asarray(value, dtype=np.float64)[order],
        )
        # All alike, so that each kernel is compiled once.
        for array in table:
            array.flags.writeable = False
        return table

    def transposed(self) -> _Table:
        return _Table(*self[3:], *self[:3])

    @property
    def n_rows(self) -> int:
        return len(self.pointers) - 1


@nb.njit(cache=True, nogil=True)
def _co_rated(
    rows: Any,
    pointers: Any,
    column: Any,
    value: Any,
    column_pointers: Any,
    row: Any,
    row_value: Any,
    centred: bool,
    shrinkage: float,
    block: Any,
) -> None:
    """Fill in the similarities of `rows` with all rows of a table; 0 = none."""
    n_rows = block.shape[1]
    # Per other row its sums over the common columns: side by side, as they are used.
    sums = np.empty((n_rows, 6 if centred else 4))
    for place in range(len(rows)):
        one = rows[place]
        for other in range(n_rows):
            for term in range(sums.shape[1]):
                sums[other, term] = 0.0
        for at in range(pointers[one], pointers[one + 1]):
            x = value[at]
            for by in range(column_pointers[column[at]], column_pointers[column[at] + 1]):
                other = row[by]
                y = row_value[by]
                sums[other, 0] += x * y
                sums[other, 1] += x * x
                sums[other, 2] += y * y
                sums[other, 3] += 1.0
                if centred:
                    sums[other, 4] += x
                    sums[other, 5] += y
        for other in range(n_rows):
            n = sums[other, 3]
            product, left, right = sums[other, 0], sums[other, 1], sums[other, 2]
            left_least = right_least = 0.0
            if centred:
                # More than what may be left of 0 by 3 n + 3 roundings, each off by at most 2^-53.
                left_least = 4e-16 * (n + 1.0) * n * left
                right_least = 4e-16 * (n + 1.0) * n * right
                product = n * product - sums[other, 4] * sums[other, 5]
                left = n * left - sums[other, 4] ** 2
                right = n * right - sums[other, 5] ** 2
            block[place, other] = 0.0
            if other != one and left > left_least and right > right_least:
                similarity = min(1.0, max(-1.0, product / np.sqrt(left * right)))
                block[place, other] = similarity * (n / (n + shrinkage))


def _similarities(
    table: _Table, rows: npt.NDArray[np.int64], similarity: str, shrinkage: float
) -> npt.NDArray[np.float32]:
    block = np.empty((len(rows), table.n_rows), dtype=np.float32)
    _co_rated(rows, *table, similarity == "pearson", shrinkage, block)
    return block


def co_rated_similarities(
    pointers: npt.NDArray[np.integer[Any]],
    column: npt.NDArray[np.integer[Any]],
    value: npt.NDArray[Any],
    n_columns: int,
    similarity: str = "cosine",
    shrinkage: float = 0.0,
) -> Iterator[npt.NDArray[np.float32]]:
    r"""Compare all rows of a sparse table with each other, over the columns that both have.

    With C the :math:`n` common columns of two rows x and y, the cosine is
    :math:`\sum_C x_c y_c / \sqrt{\sum_C x_c^2 \sum_C y_c^2}`; Pearson's correlation is that of
    the values after subtracting each row's mean over C. Either is multiplied by
    :math:`n / (n + \beta)`. A stored zero is a common column like others.

    Parameters
    ----------
    pointers : int array (n_rows + 1,)
        Row x has the places ``pointers[x]:pointers[x + 1]`` of `column` and `value`.
    column : int array (n,)
        Columns, distinct within a row.
    value : float array (n,)
        Their values.
    n_columns : int
        How many columns there are.
    similarity : {"cosine", "pearson"}
        Which of the two.
    shrinkage : float
        :math:`\beta`, at least 0.

    Yields
    ------
    float32 array (m, n_rows)
        Rows of a symmetric matrix, one block behind the other. Zero on the diagonal, and where rows
        have no common column, or one of them has no norm (Pearson: no variance) over them.

    Notes
    -----
    Takes as many steps as the columns have ordered pairs of entries, and 16 MiB at a time. Values
    are rounded to float32, so that sums that differ only in the order of columns are equal.

    Examples
    --------
    Rows (1, 2, -) and (2, 1, 5) have two columns in common: 4 / 5 as a cosine, opposite trends.

    >>> rows = np.array([0, 2, 5]), np.array([0, 1, 0, 1, 2]), np.array([1, 2, 2, 1, 5])
    >>> next(co_rated_similarities(*rows, n_columns=3))
    array([[0. , 0.8],
           [0.8, 0. ]], dtype=float32)
    >>> next(co_rated_similarities(*rows, n_columns=3, similarity="pearson", shrinkage=2))
    array([[ 0. , -0.5],
           [-0.5,  0. ]], dtype=float32)
    """
    table = _Table.read(pointers, column, value, n_columns)
    for rows in row_blocks(table.n_rows, 4 * table.n_rows):
        yield _similarities(table, np.arange(rows.start, rows.stop), similarity, shrinkage)


@nb.njit(cache=True, nogil=True)
def _sums_of_nearest(
    lists: Any,
    pointers: Any,
    member: Any,
    rank: Any,
    similarity: Any,
    n_neighbours: int,
    n_bits: int,
    scores: Any,
) -> None:
    """Fill in, for each list and lane, the sum of the similarities of the first of its members.

    `rank` and `similarity` hold a row per possible member and a column per lane, padded; ranks in a
    lane are distinct and below ``2**n_bits - 1``, those of members without similarity are larger.
    Which members are the first `n_neighbours` of a list is decided by the largest bound that no
    more of them stay below. It is built bit by bit for all lanes at once, so that the processor
    compares dozens of ranks in one step: much faster than to sort any list.
    """
    n_lanes = rank.shape[1]
    bound = np.empty(n_lanes, rank.dtype)
    trial = np.empty(n_lanes, rank.dtype)
    count = np.empty(n_lanes, rank.dtype)
    sums = np.empty(n_lanes)
    for place in range(len(lists)):
        start, stop = pointers[lists[place]], pointers[lists[place] + 1]
        for lane in range(n_lanes):
            bound[lane] = 0 if stop - start > n_neighbours else (1 << n_bits) - 1
        for bit in range(n_bits - 1, -1 if stop - start > n_neighbours else n_bits - 1, -1):
            for lane in range(n_lanes):
                trial[lane] = bound[lane] + (1 << bit)
                count[lane] = 0
            at = start
            # Four members at a time: the counters are read and written less often.
            while at + 4 <= stop:
                a, b, c, d = member[at], member[at + 1], member[at + 2], member[at + 3]
                for lane in range(n_lanes):
                    count[lane] += (
                        np.uint16(rank[a, lane] < trial[lane])
                        + np.uint16(rank[b, lane] < trial[lane])
                        + np.uint16(rank[c, lane] < trial[lane])
                        + np.uint16(rank[d, lane] < trial[lane])
                    )
                at += 4
            while at < stop:
                a = member[at]
                for lane in range(n_lanes):
                    count[lane] += np.uint16(rank[a, lane] < trial[lane])
                at += 1
            for lane in range(n_lanes):
                if count[lane] <= n_neighbours:
                    bound[lane] = trial[lane]
        for lane in range(n_lanes):
            sums[lane] = 0.0
            count[lane] = 0
        for at in range(start, stop):
            a = member[at]
            for lane in range(n_lanes):
                sums[lane] += similarity[a, lane] if rank[a, lane] < bound[lane] else 0.0
                count[lane] += np.uint16(rank[a, lane] < bound[lane])
        for lane in range(scores.shape[1]):
            scores[place, lane] = sums[lane] if count[lane] > 0 else np.nan


def _n_lanes(n_members: int) -> int:
    """Return how many rows are ranked at once."""
    return max(16, min(_LANES, _LANE_BYTES // n_members))


class _Lanes(NamedTuple):
    """Similarities with all possible members of a list, each one's in a lane of its own."""

    rank: npt.NDArray[np.unsignedinteger[Any]]
    similarity: npt.NDArray[np.float32]
    n_lanes: int

    @classmethod
    def of(cls, block: npt.NDArray[np.float32]) -> _Lanes:
        """Rank each row of a block, and turn it; 0 = no similarity."""
        n_lanes, n_members = block.shape
        padded = -(-n_lanes // 16) * 16  # what the processor takes at a time
        kind = np.uint16 if n_members < 2**15 else np.uint32
        # Equal similarities come in any order: no sum depends on it.
        order = np.argsort(-block, axis=1)
        places = np.empty(block.shape, dtype=kind)
        np.put_along_axis(places, order, np.arange(n_members, dtype=kind)[None], axis=1)
        places[block == 0] = np.iinfo(kind).max
        rank = np.full((n_members, padded), np.iinfo(kind).max, dtype=kind)
        similarity = np.zeros((n_members, padded), dtype=np.float32)
        rank[:, :n_lanes], similarity[:, :n_lanes] = places.T, block.T
        return cls(rank, similarity, n_lanes)

    def sums_of_nearest(
        self,
        lists: npt.NDArray[np.int64],
        pointers: npt.NDArray[np.int64],
        member: npt.NDArray[np.int32],
        n_neighbours: int,
    ) -> npt.NDArray[np.float32]:
        """Return a row per list of `pointers` and `member` that is asked for, a column per lane."""
        n_members = len(self.rank)
        scores = np.empty((len(lists), self.n_lanes), dtype=np.float32)
        k, n_bits = min(n_neighbours, n_members), n_members.bit_length()
        _sums_of_nearest(lists, pointers, member, self.rank, self.similarity, k, n_bits, scores)
        return scores


@nb.njit(cache=True, nogil=True)
def _keys_in_order(first: int, block: Any, keys: Any) -> None:
    """Fill in one 64-bit key per similarity of the rows from `first` on; 0 = no similarity.

    The high half has the order of the similarities, the low half is a scrambled number of the other
    row, as in `_neighbour_keys`.
    """
    top = np.uint32(1 << 31)
    for place in range(len(block)):
        bits = block[place].view(np.uint32)
        scramble = _mix(np.uint32(first + place))
        for other in range(block.shape[1]):
            keys[place, other] = 0
            if block[place, other] != 0.0:
                high = bits[other] ^ top if block[place, other] > 0.0 else ~bits[other]
                tie = _mix(np.uint32(scramble ^ np.uint32(other)))
                keys[place, other] = (np.uint64(np.uint32(high)) << np.uint64(32)) | np.uint64(tie)


def _nearest_of_all(table: _Table, n_neighbours: int, similarity: str, shrinkage: float) -> _Near:
    """Return the most similar rows of each row, the nearest first."""
    n_rows, size = table.n_rows, min(n_neighbours, table.n_rows)
    counts, neighbours, similarities = [], [], []
    for rows in row_blocks(n_rows, 8 * n_rows):
        numbers = np.arange(rows.start, rows.stop)
        block = _similarities(table, numbers, similarity, shrinkage)
        keys = np.empty(block.shape, dtype=np.uint64)
        _keys_in_order(rows.start, block, keys)
        is_near, nearest, _ = _largest(keys, size)
        counts.append(is_near.sum(axis=1))
        neighbours.append(nearest[is_near])
        similarities.append(np.take_along_axis(block, nearest, axis=1)[is_near].astype(np.float64))
    return _joined(counts, neighbours, similarities)


def _sums(
    users: npt.NDArray[np.int64],
    rows: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]],
    table: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]],
    n_items: int,
) -> npt.NDArray[np.float32]:
    """Multiply rows of a sparse table with another one; NaN where there is nothing to add."""
    scores = np.empty((len(users), n_items), dtype=np.float32)
    weighted_sums(users, len(rows[1]), *rows, *table, False, 1, 0.0, scores)
    return scores


def _ones(n: int) -> npt.NDArray[np.float64]:
    ones = np.ones(n)
    ones.flags.writeable = False
    return ones


@register
@dataclass(eq=False)
class CoRatedUserKNN(Algorithm):
    r"""Score an item with how similar those are to the user who rated it, as LibRec ranks.

    The similarity of two users looks at the items only that both rated: with C those
    :math:`n_{uv}` items, it is the cosine
    :math:`s(u,v) = \frac{\sum_C r_{ui} r_{vi}}{\sqrt{\sum_C r_{ui}^2 \sum_C r_{vi}^2}}
    \cdot \frac{n_{uv}}{n_{uv} + \beta}`, or Pearson's correlation over C, shrunk in the same way.
    The score is a sum of similarities, :math:`\sum_{v \in N(u, i)} s(u,v)`: what the neighbours
    thought of the item does not count, only that they rated it. So a rating of value 0, which an
    encoding may keep, counts in full as a sign of interest, and so does a dislike.

    N(u, i) are either the k users most similar to u *among the raters of i* (LibRec 1.3 and 2.0),
    so that a popular item always finds k of them, however distant; or those raters of i who are
    among the k users most similar to u *of all* (LibRec 3.0). A user of no similarity is nobody's
    neighbour: without common items, with a similarity of 0, or where the values of one of the two
    over C are all 0 (Pearson: all equal, as a single one is). Negative correlations qualify where
    fewer than k others do: they lower the sum.

    On values that are all equal each cosine is 1, so that only shrinkage tells users apart.
    Similarities are rounded to float32. Among all users that are equally similar to u, an order is
    chosen as in `UserKNN`; among raters it changes no sum.

    Parameters
    ----------
    n_neighbours : int
        :math:`k`.
    similarity : {"cosine", "pearson"}
        Which similarity.
    shrinkage : float
        :math:`\beta`: common items at which a similarity counts half; 0 = as it is.
    choose_among : {"raters", "all users"}
        Whom the k neighbours are chosen from.
    encoding : str
        What a rating counts, see `Encoding`.

    See Also
    --------
    UserKNN : RankSys' model of the same name.

    Notes
    -----
    **Defaults.** 20 neighbours, cosine and a shrinkage of 10, as Mena-Maldonado et al. 2020 ran
    LibRec 2.0 (with encoding ``"graded-zero>=4"``). The toolkit's own configurations have 50
    neighbours and Pearson, or 200 and cosine.

    **Complexity.** Among raters, training does nothing; scoring a user compares them with all, in
    :math:`\sum_{i \in R(u)} n_i` steps, sorts the users, and takes
    :math:`O(nnz \log |U|)` steps that a processor does by the dozen. Memory: the similarities of at
    most 128 users with all, never those of all. Among all users, the comparisons are made in
    training, and scoring goes through the ratings of k users.

    **Non-computable.** Pairs of an item that no neighbour rated. LibRec scores them 0: with the
    cosine this is a place behind all others too, but with Pearson it is one before those of
    negative sums.

    References
    ----------
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015, for
    the toolkit. Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement
    between true and false-positive metrics in recommender systems evaluation", SIGIR 2020.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"user_id": [1, 1, 2, 2, 3, 3, 3], "item_id": list("abacabc"), "rating": 4}
    ... )

    User 1 has one item in common with user 2 (1/2) and two with user 3 (2/3); both have item c:

    >>> knn = CoRatedUserKNN(shrinkage=1).fit(Ratings.from_frame(frame))
    >>> knn.score(np.array([0])).round(3)
    array([[1.167, 0.667, 1.167]], dtype=float32)
    """

    n_neighbours: int = parameter(20, minimum=1)
    similarity: str = parameter("cosine", choices=("cosine", "pearson"))
    shrinkage: float = parameter(10.0, minimum=0)
    choose_among: str = parameter("raters", choices=("raters", "all users"))
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "evidence"
    deterministic: ClassVar[bool] = True

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._near: _Near | None = None
        self._ones = _ones(len(train))
        self._users = _Table.read(train.indptr, train.item, train.value, train.n_items)
        if self.choose_among == "all users":
            rule = (self.n_neighbours, self.similarity, self.shrinkage)
            self._near = _nearest_of_all(self._users, *rule)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        table = self._users
        n_items = len(table.column_pointers) - 1
        if self._near is not None:
            return _sums(users, self._near, (*table[:2], self._ones), n_items)
        scores = np.empty((len(users), n_items), dtype=np.float32)
        items, raters = np.arange(n_items), (table.column_pointers, table.row)
        step = _n_lanes(table.n_rows)
        for start in range(0, len(users), step):
            some = users[start : start + step]
            lanes = _Lanes.of(_similarities(table, some, self.similarity, self.shrinkage))
            sums = lanes.sums_of_nearest(items, *raters, self.n_neighbours)
            scores[start : start + step] = sums.T
        return scores


@register
@dataclass(eq=False)
class CoRatedItemKNN(Algorithm):
    r"""Score an item with how similar it is to those that the user rated, as LibRec ranks.

    The similarity of two items looks at the users only who rated both: with C those :math:`n_{ij}`
    users, it is the cosine :math:`s(i,j) = \frac{\sum_C r_{ui} r_{uj}}{\sqrt{\sum_C r_{ui}^2
    \sum_C r_{uj}^2}} \cdot \frac{n_{ij}}{n_{ij} + \beta}`, or Pearson's correlation over C, shrunk
    in the same way. The score is a sum of similarities, :math:`\sum_{j \in N(u, i)} s(i,j)`: the
    user's ratings themselves do not count.

    N(u, i) are either the k items most similar to i *in the profile* R(u) (LibRec 1.3 and 2.0); or
    those of the profile that are among the k items most similar to i *of all* (LibRec 3.0). What
    counts as no similarity, what becomes of negative ones and of equal ones is said in
    `CoRatedUserKNN`.

    Parameters
    ----------
    n_neighbours : int
        :math:`k`.
    similarity : {"cosine", "pearson"}
        Which similarity.
    shrinkage : float
        :math:`\beta`: common users at which a similarity counts half; 0 = as it is.
    choose_among : {"profile", "all items"}
        What the k neighbours are chosen from.
    encoding : str
        What a rating counts, see `Encoding`.

    Raises
    ------
    ConfigError
        If neighbours within profiles need a table of items x items of more than 1 GiB (about
        13,000 items), or what ``RECBIAS_LARGEST_TABLE`` allows.

    See Also
    --------
    ImplicitItemCosine : Cosines of whole columns, the k nearest of each item of the profile.

    Notes
    -----
    **Defaults.** 50 neighbours, cosine and a shrinkage of 10, as Mena-Maldonado et al. 2020 ran
    LibRec 2.0 (with encoding ``"graded-zero>=4"``). The toolkit's own configurations have 50
    neighbours and Pearson, or 200 and cosine.

    **Complexity.** Training takes :math:`\sum_u n_u^2` steps and a sort of the items for each item.
    Scoring a user takes :math:`O(n_u |I| \log |I|)` steps that a processor does by the dozen.
    Memory: 6 bytes for each pair of items. With the neighbours among all items, both scoring and
    memory grow with k items per item instead.

    **Non-computable.** Pairs of an item that has no neighbour in the profile. LibRec scores them 0.

    References
    ----------
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015, for
    the toolkit. Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement
    between true and false-positive metrics in recommender systems evaluation", SIGIR 2020.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"user_id": [1, 2, 2, 3, 3, 3], "item_id": list("aababc"), "rating": 4}
    ... )

    Two users have both a and b (2/3), one has both a and c (1/2):

    >>> knn = CoRatedItemKNN(shrinkage=1).fit(Ratings.from_frame(frame))
    >>> knn.score(np.array([0])).round(3)
    array([[  nan, 0.667, 0.5  ]], dtype=float32)
    """

    n_neighbours: int = parameter(50, minimum=1)
    similarity: str = parameter("cosine", choices=("cosine", "pearson"))
    shrinkage: float = parameter(10.0, minimum=0)
    choose_among: str = parameter("profile", choices=("profile", "all items"))
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "evidence"
    deterministic: ClassVar[bool] = True

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        users = _Table.read(train.indptr, train.item, train.value, train.n_items)
        items = users.transposed()
        rule = (self.similarity, self.shrinkage)
        self._profiles = users[:2]
        self._ones = _ones(len(train))
        if self.choose_among == "all items":
            near = _nearest_of_all(items, self.n_neighbours, *rule)
            # Turned round: for each item those that have it as a neighbour.
            self._followers = _Table.read(*near, train.n_items)[3:]
            return
        remedy = "set choose_among='all items', which keeps the nearest of each item only, or "
        self.refuse_pairs(train, 6, remedy)
        numbers, step = np.arange(train.n_items), _n_lanes(train.n_items)
        self._lanes = [
            _Lanes.of(_similarities(items, numbers[start : start + step], *rule))
            for start in range(0, train.n_items, step)
        ]

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        if self.choose_among == "all items":
            n_items = len(self._followers[0]) - 1
            return _sums(users, (*self._profiles, self._ones), self._followers, n_items)
        blocks = [
            lanes.sums_of_nearest(users, *self._profiles, self.n_neighbours)
            for lanes in self._lanes
        ]
        return np.concatenate(blocks, axis=1)
