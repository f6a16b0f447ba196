"""What normalised metrics do where nearly every pair is judged, in worlds that know the truth.

Of the true ratings of all pairs outside training ever more are judged, drawn at random, up to all
of them. The lists of the systems stay; what MAP, nDCG and recall make of them is compared with how
many of the judgments are positive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.claims.quantities import over_worlds
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Ranked, World, WorldGrid, run_worlds
from recbias.protocol.testset import TestSet
from recbias.recommenders import System, line_up

SATURATION: Mapping[str, Any] = {
    "world": "world(relation=0.8,skew=0.634,users=200,items=3706,density=0.0447,liked=5,seed={})",
    "n_worlds": 5,
    "systems": ["Random", "Popularity", "kNN (ranking)", "pLSA"],
    "split": "ratio 0.2",
    "cutoff": 10,
    "judged": [5, 10, 25, 50, 75, 100],
}
"""What the chapter asks of `saturation`, whatever the data of its page: worlds with the items of
MovieLens 1M, its share of observed pairs and its skew, and a thirtieth of its users. Of fewer items
MAP of a random ranking is the larger, by ln(N)/N, and says less of its limit."""

_MIN_RATING = 5.0
_INDEX = ("judged", "system", "metric")


def _metrics(cutoff: int) -> dict[str, str]:
    return {"AP": "AP", "R": f"R@{cutoff}", "nDCG": "nDCG", "P": f"P@{cutoff}"}


def _systems(systems: Sequence[str]) -> list[System]:
    known = {system.name: system for system in line_up("bcc17")}
    if absent := [name for name in systems if name not in known]:
        raise ConfigError(f"no system {absent[0]!r} in bcc17; there are {', '.join(known)}")
    return [known[name] for name in systems]


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "thinning", "world", "aggregation"),
    metrics=lambda cutoff: _metrics(cutoff).values(),
    systems=_systems,
)
def saturation(
    *,
    world: str,
    n_worlds: int,
    systems: Sequence[str],
    split: str,
    cutoff: int,
    judged: Sequence[int],
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure full lists by ever more judgments.

    Parameters
    ----------
    world
        Name of a world with preferences, with ``{}`` for its seed.
    n_worlds
        How many independent worlds: those of seeds 1, 2, ...
    systems
        Names of systems of the line-up ``bcc17``, each trained once per world.
    split
        Text of the split rule of the observed ratings; of several folds the first is used.
    cutoff
        Length of the lists that recall and precision look at.
    judged
        Percent of the pairs outside training that are judged; from 1 to 100.

    Returns
    -------
    index : tuple of str
        ``judged``, ``system`` and ``metric``: AP, R, nDCG or P, over users with a positive
        judgment.
    frame : DataFrame
        ``value``, a mean over worlds with its 95 % interval, ``low`` to ``high``, and ``positive``,
        the share of positive ones among all true ratings outside training.

    Raises
    ------
    ConfigError
        If a world is none with known truth, or has no such system.
    """
    columns = {
        f"{percent} {name}": (str(percent), metric)
        for percent in judged
        for name, metric in _metrics(cutoff).items()
    }
    grid = WorldGrid(
        [World(world.format(number), number) for number in range(1, n_worlds + 1)],
        _systems(systems),
        {str(percent): f"AI-AN-AR rel>={_MIN_RATING:g} users=relevant" for percent in judged},
        columns,
        split=split,
        tests={str(percent): str(TestSet("truth", removed=100 - percent)) for percent in judged},
        own=_positive,
    )
    (measured,) = run_worlds(grid)
    rows = []
    for system, of_system in measured.groupby("system", sort=False):
        share = float(np.mean(of_system["positive"].to_numpy()))
        for column in columns:
            percent, name = column.split()
            mean = over_worlds(of_system[column].to_numpy())
            rows.append((int(percent), system, name, mean.value, *mean.interval, share))
    return _INDEX, pd.DataFrame(rows, columns=[*_INDEX, "value", "low", "high", "positive"])


def _positive(ranked: Ranked) -> dict[str, float]:
    """Tell the share of positive ones among all true ratings outside training."""
    liked, train = ranked.seen.liked(_MIN_RATING), ranked.fold.train
    is_open = np.ones(liked.shape, dtype=bool)
    is_open[train.user, train.item] = False
    return {"positive": float(liked[is_open].mean())}
