"""The extreme that BCC17 Sec. 5.1 ends with: fewer items than places are liked by nearly everybody.

Then Popularity comes near the highest precision possible. The contrast is a world with as many
liked pairs in which all items are liked alike. How near it comes hangs on what the others hold
together: few likes of each are many of all, once there are many items, and Popularity finds none of
them. Worlds of both sizes are measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.data.ratings import Ratings, RatingScale
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Seen, World, WorldGrid, run_worlds
from recbias.metrics import parse_metric
from recbias.protocol.splits import Split
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
    grid = WorldGrid(
        [
            World(
                partial(_liked, chances=chances, n_users=n_users, kind=kind, number=number),
                number,
                {"kind": kind, "number": number},
            )
            for kind, chances in chances_of.items()
            for number in range(1, n_worlds + 1)
        ],
        [
            *(system for system in line_up("bcc17") if system.name in ("Popularity", "Random")),
            (IDEAL, _ideal),
        ],
        {"AR": "TI-AN-AR rel>=1"},
        {f"P@{cutoff}": ("AR", f"P@{cutoff}")},
        split=split,
    )
    (rows,) = run_worlds(grid)
    return ("kind", "number", "system"), rows


@dataclass(frozen=True)
class _Ideal:
    """Puts the test ratings above all else."""

    test: Ratings

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        scores = np.zeros((self.test.n_users, self.test.n_items), dtype=np.float32)
        scores[self.test.user, self.test.item] = 1
        return scores[users]


def _ideal(seen: Seen, fold: Split) -> _Ideal:
    return _Ideal(fold.test)


def _liked(*, chances: npt.NDArray[np.float64], n_users: int, kind: str, number: int) -> Ratings:
    rng = stream(number, "few liked", kind)
    user, item = np.nonzero(rng.random((n_users, len(chances))) < chances)
    return Ratings(
        name=kind,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=np.ones(len(user)),
        timestamp=None,
        user_ids=np.arange(1, n_users + 1),
        item_ids=np.arange(1, len(chances) + 1),
        scale=RatingScale(1, 1, 1),
    )
