"""Uniform tests in worlds whose positive ratio is known: BCC17 Sec. 6.2.

Where stars are drawn whatever the item, the positive ratio is the same for all of them, and a
ranking that is the same for everybody has nothing to gain in a uniform test, says the paper. Where
it rises or falls with popularity, the gain has to follow.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.chapters.popularity_bias.law import world_name
from recbias.book.chapters.popularity_bias.skew import of_positions
from recbias.book.non_personalised import baselines
from recbias.data.datasets import load_dataset
from recbias.data.simulation import REVISION, parse_world
from recbias.experiment.engine import open_executor, run_all
from recbias.experiment.grid import component_revisions
from recbias.experiment.makers import Table, maker
from recbias.metrics import aggregation, parse_metric
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split, SplitRule
from recbias.ranking import rank_once
from recbias.recommenders import System

_ASKED: Mapping[str, Any] = {
    "cutoff": 10,
    "size": 100,
    "split": "ratio 0.2",
    "uniform": "uniform 0.2",
    "workers": 2,
}

CONSTANT_RATIO: Mapping[str, Any] = {
    "alphas": (1.4,),
    "n_worlds": 20,
    "systems": ("Popularity", "Positive count", "Average rating", "Odds of a hit"),
    "min_rating": 5,
    **_ASKED,
}
"""What the chapter asks of `constant_ratio`: the exponent is the one that fits MovieLens 1M."""

RISING_RATIO: Mapping[str, Any] = {
    "relations": (-1.0, -0.5, 0.0, 0.5, 1.0),
    "n_worlds": 10,
    "systems": ("Popularity",),
    "min_rating": 4,
    **_ASKED,
}
"""What the chapter asks of `rising_ratio`."""

_RULES: Mapping[str, tuple[bool, str]] = {
    "AR": (False, "TI-AN-AR"),
    "1R": (False, "TI-AN-1R"),
    "UAR": (True, "TI-AN-AR"),
    "UAR-control": (True, "TI-AN-AR +train"),
    "U1R": (True, "TI-AN-1R"),
    "U1R-control": (True, "TI-AN-1R +train"),
}
"""By label, whether the split is uniform, and the rule."""

UNIFORM_LABELS = tuple(label for label, (is_uniform, _) in _RULES.items() if is_uniform)
"""What is measured on a uniform split."""


def metrics_of(label: str, cutoff: int, size: int) -> tuple[str, str]:
    """Name what is measured under a label: expected precision, and that of Random.

    Examples
    --------
    >>> metrics_of("UAR", 10, 100), metrics_of("U1R", 10, 100)
    (('P@10', 'rho'), ('P@10|t=100', 'rho|t=100'))
    """
    condition = "" if "AR" in label else f"|t={size}"
    return f"P@{cutoff}{condition}", f"rho{condition}"


def _revisions(parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """Name the revisions of worlds, splits, systems, ranks, metrics and averages."""
    texts = {
        text
        for label in _RULES
        for text in metrics_of(label, parameters["cutoff"], parameters["size"])
    }
    known = {system.name: system for system in baselines(parameters["min_rating"])}
    return {
        **component_revisions(sampled=False, reduced=False),
        "world": REVISION,
        "aggregation": aggregation.REVISION,
        "metrics": [parse_metric(text).identity() for text in sorted(texts)],
        "systems": [{"name": name, **known[name].identity()} for name in parameters["systems"]],
    }


@maker(f"{CHAPTER}/constant_ratio", Table, uses=_revisions, covers=("workers",))
def constant_ratio(
    *, alphas: Sequence[float], **asked: Any
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure rankings where nobody prefers anything.

    Parameters
    ----------
    alphas
        Exponents of the power law of popularity, in worlds of the size of MovieLens 1M.
    **asked
        ``n_worlds``: how many independent worlds of each, those of seeds 1, 2, ...; ``systems`` of
        :func:`recbias.book.non_personalised.baselines`; ``min_rating``, the smallest rating that
        is relevant; ``cutoff`` and ``size``, n of P@n and T of 1R; ``split`` and ``uniform``, texts
        of the splits, of whose folds the first is used; ``workers``, on which no result depends.

    Returns
    -------
    index : tuple of str
        ``alpha``, ``number`` and ``system``.
    frame : DataFrame
        For ``AR``, ``1R``, ``UAR``, ``U1R`` and the controls ``UAR-control`` and ``U1R-control``,
        which leave training items in the pool, the expected precision, and as ``rho`` before the
        same labels that of Random; ``gain`` and ``gain-control``, those of U1R over Random's;
        ``rise``, the share of positives among the test ratings of the tenth of the tested items
        that is most popular in training, over that of all of them.
    """
    return _measure("alpha", {alpha: world_name(alpha, 1) for alpha in alphas}, **asked)


@maker(f"{CHAPTER}/rising_ratio", Table, uses=_revisions, covers=("workers",))
def rising_ratio(
    *, relations: Sequence[float], **asked: Any
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure rankings where popular items are liked less, or more, than others.

    What users rate does not depend on what they like, so that the positive ratio of an item is the
    share of the users who like it.

    Parameters
    ----------
    relations
        Rank correlations of popularity and liking, in worlds of the size of MovieLens 100K.
    **asked
        As of `constant_ratio`.

    Returns
    -------
    index : tuple of str
        ``relation``, ``number`` and ``system``.
    frame : DataFrame
        As of `constant_ratio`.
    """
    worlds = {relation: f"world(relation={relation:g},choice=0)" for relation in relations}
    return _measure("relation", worlds, **asked)


def _measure(
    index: str,
    worlds: Mapping[float, str],
    *,
    n_worlds: int,
    systems: Sequence[str],
    min_rating: float,
    cutoff: int,
    size: int,
    split: str,
    uniform: str,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    names = [
        (kind, str(dataclasses.replace(parse_world(name), seed=number + 1)))
        for kind, name in worlds.items()
        for number in range(n_worlds)
    ]
    work = partial(
        _in_world,
        systems=tuple(systems),
        min_rating=min_rating,
        sizes=(cutoff, size),
        splits=(split, uniform),
    )
    with open_executor(workers) as executor:
        by_world = run_all(work, [name for _, name in names], executor, label="worlds")
    rows = [
        {index: kind, **row}
        for (kind, _), rows in zip(names, by_world, strict=True)
        for row in rows
    ]
    return (index, "number", "system"), pd.DataFrame(rows)


def _in_world(
    name: str,
    *,
    systems: Sequence[str],
    min_rating: float,
    sizes: tuple[int, int],
    splits: tuple[str, str],
) -> list[dict[str, Any]]:
    number = parse_world(name).seed
    ratings = load_dataset(name).ratings
    folds = [
        SplitRule.parse(text).splits(ratings, rng=stream(number, "split", text))[0]
        for text in splits
    ]
    rise = _rise(folds[1], min_rating)
    rows = []
    for system in (baseline for baseline in baselines(min_rating) if baseline.name in systems):
        row: dict[str, Any] = {"number": number, "system": system.name}
        for is_uniform, fold in enumerate(folds):
            labels = [
                label for label, (of_uniform, _) in _RULES.items() if of_uniform == bool(is_uniform)
            ]
            row |= measured_on(fold, system, labels, sizes, min_rating=min_rating, seed=number)
        row["gain"] = row["U1R"] / row["rho U1R"]
        row["gain-control"] = row["U1R-control"] / row["rho U1R-control"]
        rows.append({**row, "rise": rise})
    return rows


def measured_on(
    fold: Split,
    system: System,
    labels: Iterable[str],
    sizes: tuple[int, int],
    *,
    min_rating: float,
    seed: int,
) -> dict[str, float]:
    """Train a ranking and measure it under several labels."""
    model = system.build().fit(fold.train, rng=stream(seed, "train", system.stream_label(), 0))
    positions, _ = rank_once(model, fold, depth=1, seed=seed)
    row = {}
    for label in labels:
        metrics = metrics_of(label, *sizes)
        values = of_positions(positions, {_RULES[label][1]: metrics}, min_rating=min_rating)
        row[label], row[f"rho {label}"] = (values[text] for text in metrics)
    return row


def _rise(fold: Split, min_rating: float) -> float:
    """Divide the positive ratio of the most popular tested items by that of all."""
    tested = fold.test_items
    popular = tested[np.argsort(-fold.train.item_counts()[tested], kind="stable")]
    top = np.isin(fold.test.item, popular[: max(1, len(tested) // 10)])
    positive = relevant(fold.test.value, min_rating)
    return float(positive[top].mean() / positive.mean())
