"""Small tables of every kind that people have: what a rating may be, and how a table may be shaped.

Every page has to be complete on each of them: `tests/prove_tables.py` runs the cross by the real
command, `tests/book/test_odd_tables.py` a small form of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd

Likes = npt.NDArray[np.float64]
"""How much each user likes each item that they rated, between 0 and 1."""

SCALES: dict[str, Callable[[Likes], Likes] | None] = {
    "stars": lambda likes: np.ceil(5 * likes).clip(1),
    "halves": lambda likes: np.ceil(10 * likes).clip(1) / 2,
    "zero-one": lambda likes: (likes > 0.5).astype(float),
    "thumbs": lambda likes: np.where(likes > 0.5, 1.0, -1.0),
    "three-way": lambda likes: np.digitize(likes, [0.35, 0.6]) - 1.0,
    "unit-interval": lambda likes: likes,
    "counts": lambda likes: np.ceil(7000 * likes**8).clip(1),
    "minus-ten-to-ten": lambda likes: np.round(20 * likes - 10, 2),
    "alike": lambda likes: np.full(len(likes), 4.0),
    "no-ratings": None,
}
"""A rating by how much an item is liked; None where there is no column of ratings."""

SHAPES: dict[str, Callable[[np.random.Generator], npt.NDArray[np.bool_]]] = {
    "popular": lambda rng: rng.random((40, 60)) < 0.3 * np.linspace(1.8, 0.2, 60),
    "dense": lambda rng: rng.random((30, 40)) < 0.8,
    "tiny": lambda rng: rng.random((30, 40)) < 0.25,
    "sparse": lambda rng: rng.random((120, 300)) < 0.04 * np.linspace(1.9, 0.1, 300),
    "nine-at-most": lambda rng: _at_most(rng.random((60, 50)) < 0.3, 9, rng),
}
"""Which pairs of a user and an item have a rating."""


def odd_table(
    scale: str, shape: str = "popular", *, seed: int = 1, decimal_ids: bool = False
) -> pd.DataFrame:
    """Make a table with columns ``user_id``, ``item_id`` and, unless it has none, ``rating``.

    Its ids are whole numbers, or the same written as ``1.0`` if `decimal_ids` says so.
    """
    rng = np.random.default_rng(seed)
    rated = SHAPES[shape](rng)
    users, items = np.nonzero(rated)
    likes = 0.6 * rng.random(rated.shape[1])[items] + 0.4 * rng.random(len(users))
    frame = pd.DataFrame({"user_id": users + 1, "item_id": items + 1})
    if decimal_ids:
        frame = frame.astype(float)
    if (rating := SCALES[scale]) is not None:
        frame["rating"] = rating(likes)
    return frame


def _at_most(
    rated: npt.NDArray[np.bool_], most: int, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Keep that many ratings of each user."""
    order = np.where(rated, rng.random(rated.shape), 2.0).argsort(axis=1).argsort(axis=1)
    return rated & (order < most)
