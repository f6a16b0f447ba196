"""How much of a system's precision is skew alone: worlds in which nobody prefers anything.

BCC17 Sec. 5.2, Fig. 5 centre: who rates what follows from how popular items are, and stars are
drawn whatever the pair. A system can find what is rated, and nothing else. `skew` measures systems
over the exponents of a power law; `twins` has worlds with preferences and the same counts without
them, which shows what kNN and MF find where there is something to be found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from recbias.book.chapters.popularity_bias.law import ALPHAS, world_name
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings, exact
from recbias.data.simulation import CountOptions, count_world
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import World, WorldGrid, run_worlds
from recbias.recommenders import System, line_up

METRICS: Mapping[str, tuple[str, ...]] = {
    "TI-AN-1R": ("P@10|t=100", "lower@10|t=100", "upper@10|t=100", "nDCG@10|t=100", "RR|t=100"),
    "TI-AN-AR": ("P@10", "R@10", "nDCG@10", "AP@10", "RR@10", "nDCG", "AP", "RR"),
}
"""What is measured, by design. Under 1R all are expectations over samples, so that none is drawn.
"""

SKEW: Mapping[str, Any] = {
    "alphas": ALPHAS,
    "systems": ("Popularity", "Random"),
    "n_worlds": 20,
    "trained": ("pLSA", "kNN (rating prediction)", "MF (rating prediction)"),
    "n_trained": 5,
    "metrics": METRICS,
    "min_rating": 5,
    "split": "ratio 0.2",
}
"""What the chapter asks of `skew`, whatever the data of its page."""

TWINS: Mapping[str, Any] = {
    "world": "world(relation=0)",
    "n_worlds": 5,
    "systems": ("Popularity", "Random", "kNN (rating prediction)", "MF (rating prediction)"),
    "metrics": METRICS,
    "min_rating": 4,
    "split": "ratio 0.2",
}
"""What the chapter asks of `twins`: worlds of the size of MovieLens 100K in which popular items are
liked by as many users as others are."""

WITH, WITHOUT = "preferences", "no preferences"


def _systems(systems: Sequence[str], trained: Sequence[str] = ()) -> list[System]:
    known = {system.name: system for system in line_up("bcc17")}
    return [known[name] for name in (*systems, *trained)]


def _texts(metrics: Mapping[str, Sequence[str]]) -> list[str]:
    return [text for texts in metrics.values() for text in texts]


def _grid(
    worlds: Sequence[World],
    systems: Sequence[str],
    metrics: Mapping[str, Sequence[str]],
    min_rating: float,
    split: str,
) -> WorldGrid:
    """Ask for metrics by rule, a column each."""
    return WorldGrid(
        worlds,
        _systems(systems),
        {rule: f"{rule} rel>={exact(min_rating)}" for rule in metrics},
        {text: (rule, text) for rule, texts in metrics.items() for text in texts},
        split=split,
    )


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=_texts,
    systems=_systems,
)
def skew(
    *,
    alphas: Sequence[float],
    systems: Sequence[str],
    n_worlds: int,
    trained: Sequence[str],
    n_trained: int,
    metrics: Mapping[str, Sequence[str]],
    min_rating: float,
    split: str,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure systems in worlds without preferences.

    Parameters
    ----------
    alphas
        Exponents of the power law; worlds are of the size of MovieLens 1M.
    systems, n_worlds
        Systems of the line-up ``bcc17`` that are not trained, and how many independent worlds of
        each exponent they see: those of seeds 1, 2, ...
    trained, n_trained
        The same for systems that take long; they are trained with one seed in each world.
    metrics
        By the rule of the target sets, AN-AR or AN-1R.
    min_rating
        Smallest rating that is relevant.
    split
        Text of the split rule; of several folds the first is used.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``alpha``, ``number`` and ``system``.
    frame : DataFrame
        A column for each metric, by its text.
    """
    worlds = [
        World(world_name(float(alpha), number), number, {"alpha": alpha, "number": number})
        for alpha in alphas
        for number in range(1, n_worlds + 1)
    ]
    few = [world for world in worlds if world.seed <= n_trained]
    every, more = (
        _grid(of_grid, names, metrics, min_rating, split)
        for of_grid, names in ((worlds, systems), (few, trained))
    )
    rows = pd.concat(run_worlds(every, more, workers=workers))
    rows = rows.sort_values(["alpha", "number"], kind="stable", ignore_index=True)
    return ("alpha", "number", "system"), rows


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=_texts,
    systems=_systems,
)
def twins(
    *,
    world: str,
    n_worlds: int,
    systems: Sequence[str],
    metrics: Mapping[str, Sequence[str]],
    min_rating: float,
    split: str,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure systems in worlds with preferences, and in others with the same counts and none.

    Parameters
    ----------
    world
        Name of a world with preferences, without a seed.
    n_worlds, systems, metrics, min_rating, split, workers
        As of `skew`.

    Returns
    -------
    index : tuple of str
        ``kind``, which is :data:`WITH` or :data:`WITHOUT`, ``number`` and ``system``.
    frame : DataFrame
        A column for each metric, by its text.
    """
    worlds = [
        made
        for number in range(1, n_worlds + 1)
        for name in [f"{world[:-1]},seed={number})"]
        for made in (
            World(name, number, {"kind": WITH, "number": number}),
            World(partial(_twin, name, number), number, {"kind": WITHOUT, "number": number}),
        )
    ]
    grid = _grid(worlds, systems, metrics, min_rating, split)
    (rows,) = run_worlds(grid, workers=workers)
    return ("kind", "number", "system"), rows


def _twin(name: str, seed: int) -> Ratings:
    """Make a world with the counts of another and no preferences."""
    return count_world(CountOptions(counts=name, seed=seed), load_dataset(name).ratings).ratings
