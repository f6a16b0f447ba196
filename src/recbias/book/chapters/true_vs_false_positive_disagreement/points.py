"""Where data sets lie on the map of `worlds` for which more is known than what users chose to rate.

An unbiased sample of ratings, or the truth, tells how popularity relates to liking, and whether the
systems of the map are ordered by observed metrics as by true ones. Of other data sets the ratings
alone tell the skew, and of the relation what a bound on selection leaves: a *bar* on the map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.popularity_bias import relation_map
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER, protocols
from recbias.book.chapters.true_vs_false_positive_disagreement.worlds import (
    WORLDS,
    systems_of_map,
    truth_sample,
)
from recbias.book.systems.line_up import published_split
from recbias.claims.quantities import order_tau
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.datasets.describe import gini
from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, contents_of, maker
from recbias.experiment.run import run
from recbias.experiment.training_seeds import training_seeds
from recbias.recommenders import System, with_seeds
from recbias.trust import SPREAD, fit_relation

POINTS: Mapping[str, Any] = {
    "liked": {"cm100k": 3, "coat": 4, "synthetic": 4},
    "judged": WORLDS["judged"],
    "systems": WORLDS["systems"],
    "seed": 1,
    "n_resamples": 500,
}
"""What the chapter asks of `points`: data sets, with the smallest rating that says liking."""

BARS: Mapping[str, Any] = {
    "liked": {"ml-1m": 4, "ml-100k": 4, "ml-latest-small": 4, "filmtrust": 3},
}
"""What the chapter asks of `bars`: the other data sets, with the smallest rating that says liking.
"""

_METRICS = ("P@10", "antiP@10")
_TAUS: Mapping[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "observed": (("full", "P@10"), ("full", "antiP@10")),
    "true": (("true", "P@10"), ("true", "antiP@10")),
    "P": (("full", "P@10"), ("true", "P@10")),
    "antiP": (("full", "antiP@10"), ("true", "antiP@10")),
}
"""What tau is between, by label and metric; the names are those of the map."""


def _systems(systems: Sequence[str], liked: Mapping[str, float]) -> dict[str, list[System]]:
    return {name: systems_of_map(systems, min_rating) for name, min_rating in liked.items()}


@maker(
    CHAPTER,
    Table,
    revision=2,
    parts=("splits", "ranking", "thinning", "aggregation"),
    metrics=_METRICS,
    uses={"systems": _systems, "contents": lambda liked: contents_of(liked)},
)
def points(
    *,
    liked: Mapping[str, float],
    judged: float,
    systems: Sequence[str],
    seed: int,
    n_resamples: int,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Place data sets on the map.

    About several data sets, the result belongs to none of them, and is kept with simulations.

    Parameters
    ----------
    liked
        Smallest rating that says liking, by name of a data set.
    judged
        Share of the items that are drawn for each user where the whole truth is known.
    systems
        Names of systems of the line-up ``mccrs20``, trained as often as an order asks for in each
        fold of the published split.
    seed
        Names splits, training, ties and resamples.
    n_resamples
        Bootstrap samples of the users behind the interval of the relation.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``dataset`` and ``quantity``: ``skew`` and ``relation`` as of
        `recbias.book.chapters.popularity_bias.relation_map.points`; Kendall's tau over the systems
        as ``observed`` and ``true`` (P and antiP), ``P`` and ``antiP`` (observed and true).
    frame : DataFrame
        ``value``, with its 95 % interval over users, ``low`` to ``high``.

    Raises
    ------
    MissingData
        If a data set is neither at hand nor made here.
    ConfigError
        If one has neither truth nor an unbiased part.
    """
    _, placed = relation_map.points.function(
        liked=liked, split="ratio 0.2", seed=seed, n_resamples=n_resamples
    )
    rows = [placed[placed["quantity"].isin(["skew", "relation"])]]
    for name, min_rating in liked.items():
        dataset = load_dataset(name)
        texts, tests = protocols(min_rating, truth=_truth(dataset, judged))
        del texts["condensed"]
        trained = with_seeds(systems_of_map(systems, min_rating), training_seeds(name))
        grid = Grid(
            name, trained, texts, _METRICS, split=published_split(name), tests=tests, seed=seed
        )
        results = run(grid, workers=workers)
        for quantity, sides in _TAUS.items():
            one, other = ([results[system.name, *side] for system in trained] for side in sides)
            tau = order_tau(one, other)
            row = {"dataset": name, "quantity": quantity, "value": tau.value}
            rows.append(pd.DataFrame([row | dict(zip(("low", "high"), tau.interval, strict=True))]))
    return ("dataset", "quantity"), pd.concat(rows, ignore_index=True)


def _truth(dataset: Dataset, judged: float) -> str:
    if dataset.unbiased is not None:
        return "unbiased"
    if dataset.truth is None:
        raise ConfigError(f"{dataset.name} has neither truth nor an unbiased part")
    return str(truth_sample(dataset.ratings.n_items, judged))


@maker(
    CHAPTER,
    Table,
    revision=2,
    uses={"contents": lambda liked: contents_of(liked), "spread": SPREAD},
)
def bars(*, liked: Mapping[str, float]) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell where data sets may lie on the map of which nothing is known but what users rated.

    Parameters
    ----------
    liked
        Smallest rating that says liking, by name of a data set.

    Returns
    -------
    index : tuple of str
        ``dataset`` and ``quantity``, as of `points`: ``skew`` and ``relation``.
    frame : DataFrame
        Rows can stand among those of `points`. The relation has no ``value``: from ``low`` to
        ``high`` all is compatible with the ratings under the bound of
        :func:`recbias.trust.fit_relation`. The skew is a number.

    Raises
    ------
    MissingData
        If a data set is not at hand.
    """
    rows = []
    for name, min_rating in liked.items():
        ratings = load_dataset(name).ratings
        skew, relation = gini(ratings.item_counts()), fit_relation(ratings, min_rating)
        rows += [
            (name, "skew", skew, skew, skew),
            (name, "relation", np.nan, *relation.interval),
        ]
    columns = ["dataset", "quantity", "value", "low", "high"]
    return ("dataset", "quantity"), pd.DataFrame(rows, columns=columns)
