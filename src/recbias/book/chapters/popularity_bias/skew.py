"""How much of a system's precision is skew alone: worlds in which nobody prefers anything.

BCC17 Sec. 5.2, Fig. 5 centre: who rates what follows from how popular items are, and stars are
drawn whatever the pair. A system can find what is rated, and nothing else. `skew` measures systems
over the exponents of a power law; `twins` has worlds with preferences and the same counts without
them, which shows what kNN and MF find where there is something to be found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.popularity_bias.law import ALPHAS, world_name
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings, exact
from recbias.data.simulation import CountOptions, count_world
from recbias.experiment.engine import open_executor, run_all
from recbias.experiment.makers import Table, maker
from recbias.metrics import aggregation, measure, parse_metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import Split, SplitRule
from recbias.ranking import Positions, rank_once
from recbias.recommenders import Recommender, System, line_up

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


class _Task(NamedTuple):
    kind: float | str
    number: int
    systems: tuple[str, ...]


def _system(name: str) -> System:
    (match,) = (system for system in line_up("bcc17") if system.name == name)
    return match


def _measured_systems(systems: Sequence[str], trained: Sequence[str] = ()) -> list[System]:
    return [_system(name) for name in (*systems, *trained)]


def _texts(metrics: Mapping[str, Sequence[str]]) -> list[str]:
    return [text for texts in metrics.values() for text in texts]


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=_texts,
    systems=_measured_systems,
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
    tasks = [
        _Task(alpha, number + 1, (*systems, *(trained if number < n_trained else ())))
        for number in range(n_worlds)
        for alpha in alphas
    ]
    work = partial(_in_skewed_world, metrics=dict(metrics), min_rating=min_rating, split=split)
    with open_executor(workers) as executor:
        rows_by_task = run_all(work, tasks, executor, label="worlds")
    rows = pd.DataFrame([row for rows in rows_by_task for row in rows])
    rows = rows.sort_values(["alpha", "number"], kind="stable", ignore_index=True)
    return ("alpha", "number", "system"), rows


def _in_skewed_world(
    task: _Task, *, metrics: Mapping[str, Sequence[str]], min_rating: float, split: str
) -> list[dict[str, Any]]:
    ratings = load_dataset(world_name(float(task.kind), task.number)).ratings
    rows = _of_systems(ratings, task, metrics, min_rating, split)
    return [{"alpha": task.kind, "number": task.number, **row} for row in rows]


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=_texts,
    systems=_measured_systems,
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
    tasks = [_Task(world, number + 1, tuple(systems)) for number in range(n_worlds)]
    work = partial(_in_twins, metrics=dict(metrics), min_rating=min_rating, split=split)
    with open_executor(workers) as executor:
        rows_by_task = run_all(work, tasks, executor, label="twins")
    return ("kind", "number", "system"), pd.DataFrame(
        [row for rows in rows_by_task for row in rows]
    )


def _in_twins(
    task: _Task, *, metrics: Mapping[str, Sequence[str]], min_rating: float, split: str
) -> list[dict[str, Any]]:
    name = f"{str(task.kind)[:-1]},seed={task.number})"
    source = load_dataset(name).ratings
    twin = count_world(CountOptions(counts=name, seed=task.number), source).ratings
    return [
        {"kind": kind, "number": task.number, **row}
        for kind, ratings in ((WITH, source), (WITHOUT, twin))
        for row in _of_systems(ratings, task, metrics, min_rating, split)
    ]


def _of_systems(
    ratings: Ratings,
    task: _Task,
    metrics: Mapping[str, Sequence[str]],
    min_rating: float,
    split: str,
) -> list[dict[str, Any]]:
    fold = SplitRule.parse(split).splits(ratings, rng=stream(task.number, "split", split))[0]
    rows = []
    for name in task.systems:
        system = _system(name)
        rng = stream(task.number, "train", system.stream_label(), 0)
        model = system.build().fit(fold.train, rng=rng)
        values = measured(model, fold, metrics, min_rating=min_rating, seed=task.number)
        rows.append({"system": name, **values})
    return rows


def measured(
    model: Recommender,
    fold: Split,
    metrics: Mapping[str, Sequence[str]],
    *,
    min_rating: float,
    seed: int,
) -> dict[str, float]:
    """Rank the test ratings once, and measure what follows for several designs."""
    positions, _ = rank_once(model, fold, depth=1, seed=seed)
    return of_positions(positions, metrics, min_rating=min_rating)


def of_positions(
    positions: Positions, metrics: Mapping[str, Sequence[str]], *, min_rating: float
) -> dict[str, float]:
    """Measure what follows from the ranks for several designs."""
    averages: dict[str, float] = {}
    for rule, texts in metrics.items():
        protocol = Protocol.parse(f"{rule} rel>={exact(min_rating)}")
        table = positions.table(protocol.rule, min_rating=protocol.targets.min_rating)
        parsed = [parse_metric(text) for text in texts]
        values = measure(table, parsed, min_rating=min_rating, condensed=protocol.condensed)
        means = aggregation.aggregate(
            table, values, min_rating=min_rating, population=protocol.averaging.population
        )
        averages |= dict(zip(texts, map(float, means), strict=True))
    return averages
