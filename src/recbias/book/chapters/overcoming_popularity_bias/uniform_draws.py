"""What rankings score in draws of a uniform test, every rating being relevant: BCC17 Sec. 6.2.

Every item of such a test has exactly its quota of relevant ratings, so that users who are drawn
again tell nothing of how much its results vary: they break what the test keeps. Other draws of the
test do tell.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.constant_ratio import (
    UNIFORM_LABELS,
    labels_grid,
    texts_of,
)
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.non_personalised import baselines
from recbias.claims.evidence import LEAST_POOL, NotTestable
from recbias.claims.ledger import NEEDS
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import World, run_worlds

_INDEX = ("relevant", "number", "system")

_EVERY = 0.0
"""A rating from which every rating is relevant."""


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "aggregation"),
    metrics=lambda cutoff, size: texts_of(UNIFORM_LABELS, cutoff, size),
    uses={"systems": baselines},
)
def uniform_draws(
    dataset: Dataset,
    *,
    min_rating: float,
    seed: int,
    cutoff: int,
    size: int,
    uniform: str = "uniform 0.2",
    n_draws: int = 10,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure rankings in several draws of a uniform test.

    Parameters
    ----------
    dataset
        Ratings, which all count as relevant.
    min_rating
        Smallest rating that is positive to the rankings that count positive ones.
    seed
        Of the first draw; each next one has the next seed.
    cutoff, size
        n of P@n; size of a 1R target set. A pool that holds fewer items is used whole.
    uniform
        Text of the uniform split.
    n_draws
        How many draws.

    Returns
    -------
    index : tuple of str
        ``relevant`` (which ratings are: ``all``), ``number`` of the draw from 1, and ``system``, of
        :func:`recbias.book.non_personalised.baselines` those that rank.
    frame : DataFrame
        Under ``UAR`` and ``U1R``, and under the controls ``UAR-control`` and ``U1R-control``, which
        leave training items in the pool, the expected precision, and as ``rho`` before the same
        labels that of Random.

    Raises
    ------
    DataError
        If the uniform split asks more of the data than they have.
    """
    systems = [system for system in baselines(min_rating) if system.name != "Random"]
    draws = [
        World(
            partial(_ratings, dataset.ratings), seed + draw, {"relevant": "all", "number": 1 + draw}
        )
        for draw in range(n_draws)
    ]
    grid = labels_grid(
        draws, systems, UNIFORM_LABELS, cutoff=cutoff, size=size, min_rating=_EVERY, split=uniform
    )
    return _INDEX, run_worlds(grid)[0]


def _ratings(given: Ratings) -> Ratings:
    """Give what each draw is of."""
    return given


def large_draws(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Refuse target sets of 1R that have fewer rivals than `LEAST_POOL`."""
    if float(table.frame["rho U1R"].max()) * (LEAST_POOL + 1) > 1:
        raise NotTestable(NEEDS["pool"])
    return table.index, table.frame
