"""Neighbourhood models: what similar users rated."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.ratings import Ratings
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    by_item,
    encoded_values,
    parameter,
    register,
)

_BLOCK_BYTES = 2**24


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
def weighted_sums(
    users: Any,
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
    """Fill in, for each user, the weighted sum or mean of the sparse rows of his neighbours.

    The two triples are sparse matrices in compressed rows: of each user's neighbours and their
    weights, and of each neighbour's items and values. Sums are taken in the order of the first, so
    neither the block nor threads change a bit.
    """
    n_items = scores.shape[1]
    # Per item the weighted values, the weights and how many: side by side, as they are used.
    sums = np.empty((n_items, 3))
    for row in range(len(users)):
        for i in range(n_items):
            sums[i, 0] = sums[i, 1] = sums[i, 2] = 0.0
        for at in range(pointers[users[row]], pointers[users[row] + 1]):
            for place in range(row_pointers[neighbour[at]], row_pointers[neighbour[at] + 1]):
                i = column[place]
                sums[i, 0] += weight[at] * value[place]
                sums[i, 1] += weight[at]
                sums[i, 2] += 1.0
        for i in range(n_items):
            if sums[i, 2] < min_neighbours:
                scores[row, i] = np.nan
            elif normalised:
                scores[row, i] = sums[i, 0] / (sums[i, 1] + regularisation)
            else:
                scores[row, i] = sums[i, 0]


# The settings of a grid that differ in scoring only share their neighbours, which take most of the
# time: the last ones are kept. Ratings cannot change, so that they are as good a key as any value.
@functools.lru_cache(maxsize=1)
def _nearest(
    train: Ratings, encoding: str, n_neighbours: int, min_overlap: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return each user's neighbours, the nearest first: row pointers, users, similarities."""
    value = encoded_values("UserKNN", encoding, train, minimum=0)
    norms = np.sqrt(np.bincount(train.user, value**2, train.n_users))[train.user]
    unit = np.divide(value, norms, out=np.zeros_like(value), where=norms > 0)
    item_pointers, rows = by_item(train)
    raters = (item_pointers, train.user[rows], unit[rows])

    n_users, size = train.n_users, min(n_neighbours, train.n_users)
    step = max(1, _BLOCK_BYTES // (8 * n_users))
    counts, neighbours, similarities = [], [], []
    for start in range(0, n_users, step):
        keys = np.empty((min(step, n_users - start), n_users), dtype=np.uint64)
        _neighbour_keys(start, train.indptr, train.item, unit, *raters, min_overlap, keys)
        nearest = np.argpartition(keys, n_users - size, axis=1)[:, n_users - size :]
        key = np.take_along_axis(keys, nearest, axis=1)
        order = np.argsort(key, axis=1)[:, ::-1]
        key = np.take_along_axis(key, order, axis=1)
        found = key > 0
        counts.append(found.sum(axis=1))
        neighbours.append(np.take_along_axis(nearest, order, axis=1)[found].astype(np.int32))
        bits = (key[found] >> np.uint64(32)).astype(np.uint32)
        similarities.append(bits.view(np.float32).astype(np.float64))
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
    fixed scramble of both numbers): it needs no seed, and favours nobody for his place in the file,
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.regularisation and not self.normalised:
            raise ConfigError(
                f"UserKNN: regularisation is {self.regularisation:g}, expected 0 for summed scores"
                "\nset normalised=True, or leave it out"
            )

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        value = encoded_values("UserKNN", self.encoding, train, minimum=0)
        self._near = _nearest(train, self.encoding, self.n_neighbours, self.min_overlap)
        self._ratings = (train.indptr, train.item, value)
        self._n_items = train.n_items

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
        places = slice(pointers[user], pointers[user + 1])
        return neighbour[places], similarity[places]

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        scores = np.empty((len(users), self._n_items), dtype=np.float32)
        rule = (self.normalised, self.min_neighbours, self.regularisation)
        weighted_sums(users, *self._near, *self._ratings, *rule, scores)
        return scores
