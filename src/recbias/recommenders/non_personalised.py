"""Systems that treat every user alike: the floor and the baseline of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.ratings import Ratings
from recbias.recommenders.base import Algorithm, Coverage, register

_STEP = np.uint64(0x9E3779B97F4A7C15)


@nb.njit(cache=True, nogil=True)
def _mix(word: Any) -> Any:
    """Scramble 64 bits so that each input bit flips each output bit half of the time."""
    word ^= word >> np.uint64(30)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(27)
    word *= np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@nb.njit(cache=True, nogil=True)
def _uniform(key: Any, users: Any, out: Any) -> None:
    for row in range(len(users)):
        word = _mix(key ^ _mix(np.uint64(users[row]) + _STEP))
        for item in range(out.shape[1]):
            word += _STEP
            # The highest 24 bits: as many as float32 tells apart over the whole of [0, 1).
            out[row, item] = np.float32(_mix(word) >> np.uint64(40)) * np.float32(2.0**-24)


@register
@dataclass(eq=False)
class Random(Algorithm):
    """Score each user-item pair with an independent number, uniform on [0, 1).

    The number is a function of a key drawn when fitted, the user and the item (the user's stream
    of SplitMix64 seeded with key and user), so neither blocks nor the order of users change it.
    Some pairs of a user tie, since float32 has 2**24 such values; the evaluation breaks ties by
    its own seeded key.

    See Also
    --------
    recbias.theory : What a random ranking must score.

    References
    ----------
    Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """

    coverage: ClassVar[Coverage] = "all"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._n_items = train.n_items
        self._key = rng.integers(2**64, dtype=np.uint64)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        scores = np.empty((len(users), self._n_items), dtype=np.float32)
        _uniform(self._key, users, scores)
        return scores


@register
@dataclass(eq=False)
class Popularity(Algorithm):
    """Score each item with its number of training ratings, whatever their value.

    Items without training ratings have no score. Users without any are served like others.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": list("aba"), "rating": [4, 1, 5]})
    >>> Popularity().fit(Ratings.from_frame(frame)).score(np.array([0]))
    array([[2., 1.]], dtype=float32)
    """

    coverage: ClassVar[Coverage] = "known items"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._counts = train.item_counts().astype(np.float32)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return np.tile(self._counts, (len(users), 1))
