"""What normalised metrics do where nearly every pair is judged, in worlds that know the truth.

Of the true ratings of all pairs outside training ever more are judged, drawn at random, up to all
of them. The lists of the systems stay; what MAP, nDCG and recall make of them is compared with how
many of the judgments are positive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from recbias._system.streams import stream
from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.claims.quantities import over_worlds
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.metrics import aggregation, measure, parse_metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows
from recbias.ranking import rank_once
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
    by_key: dict[tuple[int, str, str], list[float]] = {}
    shares = []
    for number in tqdm(range(1, n_worlds + 1), desc="worlds"):
        dataset = load_dataset(world.format(number))
        judgments = TestSet("truth")
        fold = dataset_splits(dataset, split, seed=number, judgments=judgments)[0]
        shares.append(float(relevant(fold.test.value, _MIN_RATING).mean()))
        for system in _systems(systems):
            for key, value in _measured(fold, system, _metrics(cutoff), judged, seed=number):
                by_key.setdefault(key, []).append(value)
    rows = []
    for key, values in by_key.items():
        mean = over_worlds(values)
        rows.append((*key, mean.value, *mean.interval, float(np.mean(shares))))
    return _INDEX, pd.DataFrame(rows, columns=[*_INDEX, "value", "low", "high", "positive"])


def _measured(
    fold: Split, system: System, metrics: Mapping[str, str], judged: Sequence[int], *, seed: int
) -> Iterator[tuple[tuple[int, str, str], float]]:
    """Train a system, and measure its one ranking by each share of the judgments."""
    rng = stream(seed, "train", system.stream_label(), 0)
    model = system.build().fit(fold.train, rng=rng)
    positions, _ = rank_once(model, fold, sampled=[], depth=1, seed=seed)
    protocol = Protocol.parse(f"AI-AN-AR rel>={_MIN_RATING:g} users=relevant")
    parsed = [parse_metric(text) for text in metrics.values()]
    for percent in judged:
        test = TestSet("truth", removed=100 - percent)
        left = positions.take(kept_rows(test, len(fold.test), seed=seed, fold=fold.fold))
        table = left.table(protocol.rule)
        values = measure(table, parsed, min_rating=_MIN_RATING)
        means = aggregation.aggregate(
            table, values, min_rating=_MIN_RATING, population=protocol.averaging.population
        )
        for name, mean in zip(metrics, means.tolist(), strict=True):
            yield (percent, system.name, name), mean
