"""How much of Popularity's score on a data set is pure skew: its counts, with stars drawn by lot.

Every user and every item keeps its number of ratings; who rates what is drawn, and so are the
stars, from those of the data. In such a world nobody prefers anything, and popular items are liked
no more than others. What Popularity still scores there follows from the counts alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings, exact
from recbias.data.simulation import CountOptions, count_world
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Seen, World, WorldGrid, run_worlds
from recbias.metrics import aggregation, measure, parse_metric
from recbias.metrics.aggregation import contributions, finish
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import SplitRule
from recbias.recommenders import System
from recbias.stats.resampling import bootstrap_weights, weighted_sums

if TYPE_CHECKING:
    from recbias.ranking import Positions

DATA, RANDOM, WORLD, SHARE = "data", "random", "without preferences", "share"
"""What a design gives: Popularity and Random on the data, Popularity in worlds that have only its
counts, and the share of the first that the last is."""

N_REPLICATES = 1000

_AT_RANDOM = ("ratio", "k-fold")

FloatArray = npt.NDArray[np.float64]


def designs(
    min_rating: float, *, cutoff: int, size: int, n_sampled: int
) -> dict[str, tuple[str, str]]:
    """Name the designs by label: a protocol that samples nothing, and the metric that expects.

    Examples
    --------
    >>> designs(5, cutoff=10, size=100, n_sampled=1000)["1R"]
    ('TI-AN-1R rel>=5', 'P@10|t=100')
    """
    relevance = f"rel>={exact(min_rating)}"
    return {
        "AR": (f"TI-AN-AR {relevance}", f"P@{cutoff}"),
        "NN": (f"TI-AN-AR {relevance}", f"P@{cutoff}|N={n_sampled}"),
        "1R": (f"TI-AN-1R {relevance}", f"P@{cutoff}|t={size}"),
        "R_test": (f"TI-AN-AR {relevance} condensed", f"P@{cutoff}"),
    }


def _system(name: str) -> System:
    return System(name, name, {})


def _metrics(min_rating: float, cutoff: int, size: int, n_sampled: int) -> list[str]:
    asked = designs(min_rating, cutoff=cutoff, size=size, n_sampled=n_sampled)
    return [text for _, text in asked.values()]


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=_metrics,
    uses={"systems": [_system("Popularity"), _system("Random")]},
)
def pure_skew(
    dataset: Dataset,
    *,
    min_rating: float,
    split: str,
    cutoff: int,
    size: int,
    n_sampled: int,
    seed: int,
    n_worlds: int = 5,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray]:
    """Compare Popularity on a data set and in worlds that have its counts and no preferences.

    Parameters
    ----------
    dataset
        Ratings.
    min_rating
        Smallest rating that is relevant.
    split, seed
        Of the folds; in a world the first of them is used.
    cutoff, size, n_sampled
        As of :func:`designs`.
    n_worlds
        Independent worlds, two at least.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``design`` and ``quantity``: :data:`DATA`, :data:`RANDOM`, :data:`WORLD`, :data:`SHARE`.
    frame : DataFrame
        Their ``value``.
    replicates : ndarray of float64, shape (n_rows, 1000)
        On resampled users; of the mean over worlds by Student's t, about other worlds.

    Raises
    ------
    ConfigError
        For fewer than two worlds.
    """
    if n_worlds < 2:
        raise ConfigError(f"n_worlds={n_worlds}: an interval over worlds needs two at least")
    asked = designs(min_rating, cutoff=cutoff, size=size, n_sampled=n_sampled)
    seen = Seen(dataset, seed)
    weights = bootstrap_weights(
        dataset.ratings.n_users, N_REPLICATES, rng=stream(seed, "bootstrap")
    )
    of_data = {
        what: _resampled(seen, _system(name), split, asked, weights)
        for what, name in ((DATA, "Popularity"), (RANDOM, "Random"))
    }
    grid = WorldGrid(
        [
            World(partial(_twin, dataset.ratings, number), number)
            for number in range(1, n_worlds + 1)
        ],
        [_system("Popularity")],
        {design: protocol for design, (protocol, _) in asked.items()},
        {design: (design, metric) for design, (_, metric) in asked.items()},
        # A world has neither times nor ready folds.
        split=split if SplitRule.parse(split).kind in _AT_RANDOM else "k-fold 5",
    )
    scores = run_worlds(grid, workers=workers)[0][list(asked)].to_numpy()
    noise = scipy.stats.t.ppf(stream(seed, "worlds").random(N_REPLICATES), n_worlds - 1)
    rows, drawn = [], []
    for place, design in enumerate(asked):
        mean, error = scores[:, place].mean(), scores[:, place].std(ddof=1) / np.sqrt(n_worlds)
        several = {
            what: (resampled[0][place], resampled[1][place]) for what, resampled in of_data.items()
        }
        several[WORLD] = (mean, mean + error * noise)
        several[SHARE] = tuple(
            np.divide(world, data, out=np.full_like(data, np.nan), where=data != 0)
            for world, data in zip(several[WORLD], several[DATA], strict=True)
        )
        for what, (value, replicates) in several.items():
            rows.append((design, what, float(value)))
            drawn.append(replicates)
    index = ("design", "quantity")
    return index, pd.DataFrame(rows, columns=[*index, "value"]), np.array(drawn)


def _twin(source: Ratings, number: int) -> Ratings:
    """Make a world that has the counts of ratings and no preferences."""
    return count_world(CountOptions(counts=source.name, seed=number), source).ratings


def _resampled(
    seen: Seen,
    system: System,
    split: str,
    asked: Mapping[str, tuple[str, str]],
    weights: npt.NDArray[np.uint8],
) -> tuple[FloatArray, FloatArray]:
    """Measure a system on all folds: value and replicates by design."""
    by_fold = [_columns(seen.ranked(system, fold).positions, asked) for fold in seen.folds(split)]
    values, replicates = [], []
    for of_design in zip(*by_fold, strict=True):
        columns = np.sum([contribution for contribution, _ in of_design], axis=0)
        averaging = of_design[0][1]
        values.append(finish(columns.sum(axis=1), averaging, 1)[0])
        replicates.append(finish(weighted_sums(columns, weights), averaging, 1)[:, 0])
    return np.array(values), np.array(replicates)


def _columns(
    positions: Positions, asked: Mapping[str, tuple[str, str]]
) -> list[tuple[FloatArray, aggregation.Averaging]]:
    """Write for each design what every user adds to its average."""
    by_design = []
    for text, metric in asked.values():
        protocol = Protocol.parse(text)
        min_rating, averaging = protocol.min_rating, protocol.averaging
        table = positions.table(protocol.rule, min_rating=protocol.targets.min_rating)
        values = measure(
            table, [parse_metric(metric)], min_rating=min_rating, condensed=protocol.condensed
        )
        columns = contributions(table, values, averaging, min_rating=min_rating)
        by_design.append((columns, averaging.resolved(table.per)))
    return by_design


def skew_shares(table: Table) -> pd.DataFrame:
    """Lay out by design how much of Popularity's score is pure skew."""
    rows = []
    for design in dict.fromkeys(table.frame["design"]):
        of_design = {
            quantity: table[{"design": design, "quantity": quantity}]
            for quantity in (DATA, RANDOM, WORLD, SHARE)
        }
        values = {name: estimate.value for name, estimate in of_design.items()}
        low, high = of_design[SHARE].interval
        rows.append({"design": design, **values, "low": low, "high": high})
    return pd.DataFrame(rows)
