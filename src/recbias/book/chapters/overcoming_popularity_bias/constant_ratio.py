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

from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.chapters.popularity_bias.law import world_name
from recbias.book.non_personalised import baselines
from recbias.data.ratings import exact
from recbias.data.simulation import parse_world
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Ranked, World, WorldGrid, run_worlds
from recbias.protocol.relevance import relevant
from recbias.recommenders import System

_ASKED: Mapping[str, Any] = {
    "cutoff": 10,
    "size": 100,
    "split": "ratio 0.2",
    "uniform": "uniform 0.2",
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

_LABELS = tuple(label for label in _RULES if label not in UNIFORM_LABELS)


def metrics_of(label: str, cutoff: int, size: int) -> tuple[str, str]:
    """Name what is measured under a label: expected precision, and that of Random.

    Examples
    --------
    >>> metrics_of("UAR", 10, 100), metrics_of("U1R", 10, 100)
    (('P@10', 'rho'), ('P@10|t=100', 'rho|t=100'))
    """
    condition = "" if "AR" in label else f"|t={size}"
    return f"P@{cutoff}{condition}", f"rho{condition}"


def texts_of(labels: Iterable[str], cutoff: int, size: int) -> list[str]:
    """List the metrics of several labels, each once."""
    return sorted({text for label in labels for text in metrics_of(label, cutoff, size)})


def _texts(cutoff: int, size: int) -> list[str]:
    return texts_of(_RULES, cutoff, size)


def _systems(systems: Sequence[str], min_rating: float) -> list[System]:
    known = {system.name: system for system in baselines(min_rating)}
    return [known[name] for name in systems]


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=_texts,
    systems=_systems,
)
def constant_ratio(
    *, alphas: Sequence[float], workers: int = 1, **asked: Any
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure rankings where nobody prefers anything.

    Parameters
    ----------
    alphas
        Exponents of the power law of popularity, in worlds of the size of MovieLens 1M.
    workers
        Processes; the results do not depend on them.
    **asked
        ``n_worlds``: how many independent worlds of each, those of seeds 1, 2, ...; ``systems`` of
        :func:`recbias.book.non_personalised.baselines`; ``min_rating``, the smallest rating that
        is relevant; ``cutoff`` and ``size``, n of P@n and T of 1R; ``split`` and ``uniform``, texts
        of the splits, of whose folds the first is used.

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
    return _measure(
        "alpha", {alpha: world_name(alpha, 1) for alpha in alphas}, workers=workers, **asked
    )


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "aggregation"),
    metrics=_texts,
    systems=_systems,
)
def rising_ratio(
    *, relations: Sequence[float], workers: int = 1, **asked: Any
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure rankings where popular items are liked less, or more, than others.

    What users rate does not depend on what they like, so that the positive ratio of an item is the
    share of the users who like it.

    Parameters
    ----------
    relations
        Rank correlations of popularity and liking, in worlds of the size of MovieLens 100K.
    workers, **asked
        As of `constant_ratio`.

    Returns
    -------
    index : tuple of str
        ``relation``, ``number`` and ``system``.
    frame : DataFrame
        As of `constant_ratio`.
    """
    worlds = {relation: f"world(relation={relation:g},choice=0)" for relation in relations}
    return _measure("relation", worlds, workers=workers, **asked)


def _measure(
    index: str,
    kinds: Mapping[float, str],
    *,
    n_worlds: int,
    systems: Sequence[str],
    min_rating: float,
    split: str,
    uniform: str,
    workers: int = 1,
    **sizes: int,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    worlds = [
        World(
            str(dataclasses.replace(parse_world(name), seed=number)),
            number,
            {index: kind, "number": number},
        )
        for kind, name in kinds.items()
        for number in range(1, n_worlds + 1)
    ]
    asked = [system for system in baselines(min_rating) if system.name in systems]
    grids = [
        labels_grid(worlds, asked, labels, min_rating=min_rating, split=rule, **sizes)
        for labels, rule in ((_LABELS, split), (UNIFORM_LABELS, uniform))
    ]
    grids[1] = dataclasses.replace(grids[1], own=partial(_rise, min_rating=min_rating))
    names = (index, "number", "system")
    whole, drawn = (rows.set_index([*names]) for rows in run_worlds(*grids, workers=workers))
    rows = whole.join(drawn)
    rise = rows.pop("rise")
    for more in ("", "-control"):
        rows[f"gain{more}"] = rows[f"U1R{more}"] / rows[f"rho U1R{more}"]
    return names, rows.assign(rise=rise).reset_index()


def labels_grid(
    worlds: Sequence[World],
    systems: Sequence[System],
    labels: Sequence[str],
    *,
    cutoff: int,
    size: int,
    min_rating: float,
    split: str,
) -> WorldGrid:
    """Ask for expected precision under labels of a split, and for that of Random."""
    return WorldGrid(
        worlds,
        systems,
        {label: f"{_RULES[label][1]} rel>={exact(min_rating)}" for label in labels},
        {
            f"{more}{label}": (label, text)
            for label in labels
            for more, text in zip(("", "rho "), metrics_of(label, cutoff, size), strict=True)
        },
        split=split,
    )


def _rise(ranked: Ranked, *, min_rating: float) -> dict[str, float]:
    """Divide the positive ratio of the most popular tested items by that of all."""
    fold, tested = ranked.fold, ranked.fold.test_items
    popular = tested[np.argsort(-fold.train.item_counts()[tested], kind="stable")]
    top = np.isin(fold.test.item, popular[: max(1, len(tested) // 10)])
    positive = relevant(fold.test.value, min_rating)
    return {"rise": float(positive[top].mean() / positive.mean())}
