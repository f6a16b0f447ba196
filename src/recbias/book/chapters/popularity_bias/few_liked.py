"""The extreme that BCC17 Sec. 5.1 ends with: fewer items than places are liked by nearly everybody.

Then Popularity comes near the highest precision possible. The contrast is a world with as many
liked pairs in which all items are liked alike. How near it comes hangs on what the others hold
together: few likes of each are many of all, once there are many items, and Popularity finds none of
them. Worlds of both sizes are measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.book.chapters.popularity_bias.skew import measured
from recbias.data.ratings import Ratings, RatingScale
from recbias.experiment.makers import Table, maker
from recbias.metrics import parse_metric
from recbias.protocol.splits import SplitRule
from recbias.recommenders import line_up

IDEAL = "Ideal"
"""Stands for a system: the ranking that knows the test ratings."""

FEW_LIKED: Mapping[str, Any] = {
    "n_worlds": 20,
    "n_users": 1000,
    "sizes": {"few": 200, "few of many": 1000},
    "n_liked": 8,
    "share": 0.95,
    "rest": 0.001,
    "cutoff": 10,
    "split": "ratio 0.2",
}
"""What the chapter asks of `few_liked`: 8 items that 95 % of the users like, .1 % each other."""


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking"),
    uses={"metric": lambda cutoff: parse_metric(f"P@{cutoff}")},
)
def few_liked(
    *,
    n_worlds: int,
    n_users: int,
    sizes: Mapping[str, int],
    n_liked: int,
    share: float,
    rest: float,
    cutoff: int,
    split: str,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure Popularity where few items are liked by nearly all, and where all are liked alike.

    Every liked pair is rated, and no other: what is disliked takes no part in precision under AR.

    Parameters
    ----------
    n_worlds
        Independent worlds of each kind.
    n_users, sizes
        Users of each world; items by kind.
    n_liked, share, rest
        So many items are liked by this share of the users, and each other one by the rest.
    cutoff
        n of P@n.
    split
        Text of the split rule; of several folds the first is used.

    Returns
    -------
    index : tuple of str
        ``kind`` (of `sizes`, or ``even``: as many liked pairs as in the first kind, spread over all
        its items), ``number`` and ``system``.
    frame : DataFrame
        P@n, under its name, of Popularity, of Random, and of :data:`IDEAL`, the best possible.
    """
    chances_of = {}
    for kind, n_items in sizes.items():
        chances_of[kind] = np.where(np.arange(n_items) < n_liked, share, rest)
    first = next(iter(chances_of.values()))
    chances_of["even"] = np.full(len(first), first.mean())
    metric, rows = f"P@{cutoff}", []
    systems = [system for system in line_up("bcc17") if system.name in ("Popularity", "Random")]
    for kind, chances in chances_of.items():
        for number in range(1, n_worlds + 1):
            ratings = _liked(chances, n_users, stream(number, "few liked", kind), name=kind)
            fold = SplitRule.parse(split).splits(ratings, rng=stream(number, "split", split))[0]
            for system in systems:
                model = system.build().fit(fold.train, rng=stream(number, "train", system.name))
                metrics = {"TI-AN-AR": (metric,)}
                values = measured(model, fold, metrics, min_rating=1, seed=number)
                rows.append((kind, number, system.name, values[metric]))
            of_user = np.minimum(fold.test.user_counts(), cutoff)
            rows.append((kind, number, IDEAL, float(of_user.mean()) / cutoff))
    index = ("kind", "number", "system")
    return index, pd.DataFrame(rows, columns=[*index, metric])


def _liked(
    chances: npt.NDArray[np.float64], n_users: int, rng: np.random.Generator, *, name: str
) -> Ratings:
    user, item = np.nonzero(rng.random((n_users, len(chances))) < chances)
    return Ratings(
        name=name,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=np.ones(len(user)),
        timestamp=None,
        user_ids=np.arange(1, n_users + 1),
        item_ids=np.arange(1, len(chances) + 1),
        scale=RatingScale(1, 1, 1),
    )
