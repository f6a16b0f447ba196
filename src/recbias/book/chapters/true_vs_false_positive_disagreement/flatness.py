"""How skewed popularity has to be for the two optimal rankings to oppose each other (MCCRS20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.book.chapters.true_vs_false_positive_disagreement.pairs import (
    item_judgments,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.data.datasets.describe import gini
from recbias.data.ratings import exact
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Seen, World, each_world
from recbias.theory import pair_table

_ASKED: Mapping[str, Any] = {"n_worlds": 20, "min_rating": 4}

FLATNESS: Mapping[str, Mapping[str, Any]] = {
    "independent": {"relation": 0.0, "skews": (0.0, 0.2, 0.4, 0.6, 0.8), **_ASKED},
    "agreeing": {"relation": 0.8, "skews": (0.2, 0.6), **_ASKED},
    "opposing": {"relation": -0.8, "skews": (0.2, 0.6), **_ASKED},
}
"""What the chapter asks of `flatness`, under names of their own: worlds of the size of MovieLens
100K in which popular items
are liked as much as others, more, and less."""


def flatness(
    *,
    relation: float,
    skews: Sequence[float],
    n_worlds: int,
    min_rating: float,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Count pairs of items in worlds of more and more skewed popularity; nothing is trained."""
    worlds = [
        World(
            f"world(relation={relation:g},skew={skew:g},liked={exact(min_rating)},seed={number})",
            number,
            {"skew": float(skew), "number": number},
        )
        for skew in skews
        for number in range(1, n_worlds + 1)
    ]
    rows = each_world(partial(_in_world, min_rating=min_rating), worlds, workers=workers)
    return ("skew", "number"), pd.DataFrame(rows)


for _name in FLATNESS:
    maker(CHAPTER, Table, name=_name, parts=("world",))(flatness)


def _in_world(seen: Seen, *, min_rating: float) -> dict[str, float]:
    ratings = seen.ratings
    liked, disliked = item_judgments(ratings, min_rating)
    rated = liked + disliked
    table = pair_table(rated, ratings.n_users - rated, liked, disliked)
    shares = table["pairs"] / table["pairs"].sum()
    known = rated > 0
    return {
        **seen.labels,
        "disagree": float(shares[table["optima"] == "disagree"].sum()),
        "both": float(shares[table["steeper_than"] == "both"].sum()),
        "gini": gini(rated),
        "relation": float(
            scipy.stats.spearmanr(rated[known], (liked / rated.clip(1))[known]).statistic
        ),
    }
