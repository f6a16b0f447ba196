"""Which protocol orders systems as the truth does, in worlds where the truth is known.

Worlds differ in how popularity relates to liking, from opposed to agreeing; in how unevenly ratings
are spread over the items; and in how far users choose what they will like. In each of them every
protocol of the chapter orders the same systems by observed ratings. Those with a split of their own
(UAR, U1R) train systems of their own, so that each order is compared with the truth about the very
models that made it. The truth is about all pairs outside training, in two readings: how much of the
first ten is liked, and how often a liked item stands above another (AUC).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product, starmap
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.setup import (
    CHAPTER,
    GAMMAS,
    protocols,
    uniform_protocols,
)
from recbias.data.ratings import exact
from recbias.data.simulation import PreferenceOptions
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Ranked, World, WorldGrid, run_worlds
from recbias.stats.agreement import kendall_tau
from recbias.trust import compared_systems

TRUTHS = ("P@10", "AUC")
"""What the truth about all pairs outside training is read as."""

_TRUE = "true"
_CUTOFF = 10
_N_GROUPS = 10

PROTOCOLS: Mapping[str, tuple[str, str]] = {
    "AR": ("AR", f"P@{_CUTOFF}"),
    "1R": ("1R", f"P@{_CUTOFF}|t=100"),
    "head": ("head", f"P@{_CUTOFF}|t=100"),
    "P1R": ("P1R", f"P@{_CUTOFF}|t=100"),
    "UAR": ("UAR", f"P@{_CUTOFF}"),
    "U1R": ("U1R", f"P@{_CUTOFF}|t=100"),
    "bpref": ("AR", "bpref"),
    "infAP": ("AR", "infAP(pool=100)"),
    "SR": ("AR", f"SR(gamma=1)@{_CUTOFF}"),
}
"""What is compared: the label of a protocol of the chapter, and a metric, by a short name."""

STRATIFIED: Mapping[str, tuple[str, str]] = {
    f"gamma {gamma:g}": ("AR", f"SR(gamma={gamma:g})@{_CUTOFF}") for gamma in GAMMAS
}
"""Stratified recall over the exponent of its weights, from plain recall to 1 over popularity."""

_ALL: Mapping[str, tuple[str, str]] = {**PROTOCOLS, **STRATIFIED}

WORLDS: Mapping[str, Any] = {
    "relations": (-1.0, -0.6, -0.3, 0.0, 0.3, 0.6, 1.0),
    "skews": (0.2, 0.35, 0.5, 0.65),
    "choices": (0.0, 2.0),
    "at_skew": 0.5,
    "n_worlds": 6,
    "size": (500, 1200),
    "min_rating": 4,
    "split": "ratio 0.2",
    "uniform": "uniform 0.2",
}
"""What the chapter asks of `worlds`, whatever the data of its page."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

INDEX = ("relation", "skew", "choice", "number")


def _compared(min_rating: float) -> dict[str, list[str]]:
    """Write the protocol and the metric behind each name."""
    texts = {**protocols(min_rating)[0], **uniform_protocols(min_rating)}
    return {name: [texts[label], metric] for name, (label, metric) in _ALL.items()}


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "thinning", "world", "aggregation"),
    metrics=[metric for _, metric in _ALL.values()],
    systems=compared_systems,
    uses={"compared": _compared},
)
def worlds(
    *,
    relations: Sequence[float],
    skews: Sequence[float],
    choices: Sequence[float],
    at_skew: float,
    n_worlds: int,
    size: Sequence[int],
    min_rating: float,
    split: str,
    uniform: str,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Order systems by every protocol over kinds of worlds, and compare the orders with the truth.

    Parameters
    ----------
    relations, skews
        Of :class:`recbias.data.simulation.PreferenceOptions`, every one with every other.
    choices, at_skew
        Further strengths of users' choice beside the default, 1, for all relations at one skew.
    n_worlds
        How many independent worlds of each kind: those of seeds 1, 2, ...
    size
        Numbers of users and items.
    min_rating
        Smallest rating that says liking.
    split, uniform
        Texts of the split rules, of all protocols and of those with uniform tests; of several folds
        the first is used. Systems are those of :func:`recbias.trust.compared_systems`, trained once
        on each split.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``relation``, ``skew``, ``choice`` and ``number`` of the world.
    frame : DataFrame
        A column for each of `PROTOCOLS` and `STRATIFIED` and each of `TRUTHS`, as ``P1R, AUC``:
        Kendall's tau over the systems between observed values and true ones.
    """
    kinds = [(relation, skew, 1.0) for skew in skews for relation in relations]
    kinds += [(relation, at_skew, choice) for choice in choices for relation in relations]
    every = []
    for (relation, skew, choice), number in product(kinds, range(1, n_worlds + 1)):
        options = PreferenceOptions(
            relation=relation, skew=skew, choice=choice, seed=number,
            users=size[0], items=size[1], liked=int(min_rating),
        )  # fmt: skip
        labels = dict(zip(INDEX, (relation, skew, choice, number), strict=True))
        every.append(World(str(options), number, labels))
    grids = [
        _grid(every, min_rating, split, *protocols(min_rating, n_groups=_N_GROUPS)),
        _grid(every, min_rating, uniform, uniform_protocols(min_rating), {}),
    ]
    taus = {}
    for grid, rows in zip(grids, run_worlds(*grids, workers=workers), strict=True):
        by_world = [values for _, values in rows.groupby([*INDEX], sort=False)]
        for name, truth in product(grid.columns.keys() & _ALL.keys(), TRUTHS):
            taus[column(name, truth)] = [
                float(kendall_tau(values[name], values[truth])) for values in by_world
            ]
    frame = pd.DataFrame([world.labels for world in every])
    return INDEX, frame.assign(
        **{name: taus[name] for name in starmap(column, product(_ALL, TRUTHS))}
    )


def _grid(
    every: Sequence[World],
    min_rating: float,
    split: str,
    rules: Mapping[str, str],
    tests: Mapping[str, str],
) -> WorldGrid:
    """Ask for what is compared on one split, and for the truth about what was trained there."""
    compared = {name: place for name, place in _ALL.items() if place[0] in rules}
    labels = dict.fromkeys(label for label, _ in compared.values())
    return WorldGrid(
        every,
        compared_systems(min_rating),
        {label: rules[label] for label in labels} | {_TRUE: f"AI-AN-AR rel>={exact(min_rating)}"},
        {**compared, TRUTHS[0]: (_TRUE, TRUTHS[0])},
        split=split,
        tests={label: test for label, test in tests.items() if label in labels} | {_TRUE: "truth"},
        groups=f"popularity {_N_GROUPS}",
        own=partial(_auc, min_rating=min_rating),
    )


def column(name: str, truth: str) -> str:
    """Name the column of :func:`worlds` for a protocol and one of `TRUTHS`: ``P1R, AUC``."""
    return f"{name}, {truth}"


def _auc(ranked: Ranked, *, min_rating: float) -> dict[str, float]:
    return {TRUTHS[1]: true_auc(ranked, ranked.seen.liked(min_rating))}


def true_auc(ranked: Ranked, liked: BoolArray) -> float:
    """Compute how often an item that a user likes stands above one that they do not.

    Examples
    --------
    >>> from recbias.data.datasets import load_dataset
    >>> from recbias.experiment.worlds import Seen
    >>> from recbias.recommenders import System
    >>> seen = Seen(load_dataset("world(users=40,items=60,density=0.1,seed=3)"), 1)
    >>> popularity = System("Popularity", "Popularity", {})
    >>> ranked = seen.ranked(popularity, seen.fold("ratio 0.2"))
    >>> round(true_auc(ranked, seen.liked(4)), 2)
    0.67
    """
    fold = ranked.fold
    scores = np.concatenate([block for _, block in ranked.score_blocks()])
    scores[np.isnan(scores)] = -np.inf
    outside = np.ones_like(liked)
    outside[fold.train.user, fold.train.item] = False
    scores[~outside] = np.inf  # above all others, whose ranks then are those among themselves
    order = np.argsort(scores, axis=1)
    ranks = _tied_ranks(np.take_along_axis(scores, order, axis=1))
    wanted = np.take_along_axis(outside & liked, order, axis=1)
    n_liked, n_others = ((outside & pairs).sum(axis=1) for pairs in (liked, ~liked))
    won = (ranks * wanted).sum(axis=1) - n_liked * (n_liked + 1) / 2
    some = (n_liked > 0) & (n_others > 0)
    return float((won[some] / (n_liked * n_others)[some]).mean())


def _tied_ranks(ascending: npt.NDArray[np.float32]) -> FloatArray:
    """Rank sorted rows from 1; equal values share the mean of their ranks."""
    n_rows, n_items = ascending.shape
    place = np.broadcast_to(np.arange(1, n_items + 1), ascending.shape)
    steps = ascending[:, 1:] != ascending[:, :-1]
    ends = np.ones((n_rows, 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([ends, steps]), place, 0), axis=1)
    last = np.where(np.hstack([steps, ends]), place, n_items)[:, ::-1]
    return (first + np.minimum.accumulate(last, axis=1)[:, ::-1]) / 2
