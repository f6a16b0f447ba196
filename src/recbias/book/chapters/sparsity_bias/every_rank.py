"""What 1R gives a random ranking, exactly: over all ranks that the relevant item may have, 1/t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims.checks import Check
from recbias.data.ratings import Ratings
from recbias.experiment.cells import rank_split
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.splits import from_fold_labels
from recbias.protocol.targets import TargetRule, Targets
from recbias.ranking.tables import RankTable


class _EveryRank:
    """Scores the first item of user u below u others, and these in their order."""

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> _EveryRank:
        self._n_items = train.n_items
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        scores = np.tile(-np.arange(self._n_items, dtype=np.float32), (len(users), 1))
        scores[:, 0] = -(np.asarray(users) + 0.5)
        return scores


def every_rank(n_items: int) -> RankTable:
    """Rank one liked item among all, once at every rank: a user each, and one who rated the rest.

    Examples
    --------
    >>> every_rank(4).rank.tolist()
    [1, 2, 3, 4]
    """
    liked = [(user, 0, 5, 0) for user in range(n_items)]
    rated = [(n_items, item, 4, 1) for item in range(n_items)]
    rows = pd.DataFrame([*liked, *rated], columns=["user_id", "item_id", "rating", "fold"])
    ratings = Ratings.from_frame(rows[["user_id", "item_id", "rating"]])
    split = from_fold_labels(ratings, rows["fold"].to_numpy())[0]
    model = _EveryRank().fit(split.train)
    _, (table,) = rank_split(model, split, [Targets(TargetRule.parse("AI-AN-1R"), 5.0)], seed=1)
    return table


def check_every_rank(
    table: RankTable, sizes: Sequence[int], cutoffs: Sequence[int], *, metric: str = "P@{n}|t={t}"
) -> list[Check]:
    """Compare the mean over all ranks of precision among t sampled items with 1/t (Eq. 5)."""
    asked = [(n, t) for t in sizes for n in cutoffs]
    metrics = [parse_metric(metric.format(n=n, t=t)) for n, t in asked]
    values = measure(table, metrics, min_rating=5)
    means = aggregate(table, values, min_rating=5, population="runs")
    off = max(abs(float(mean) * t - 1) for mean, (_, t) in zip(means, asked, strict=True))
    what = "|t P@n - 1|, P@n averaged over all ranks that the relevant item may have"
    return [Check("BCC17-EQ5", "every-rank", what, len(asked) * len(table.rank), off)]
