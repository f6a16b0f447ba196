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
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.design_alternatives.truth import true_precision
from recbias.book.chapters.overcoming_popularity_bias.setup import (
    CHAPTER,
    GAMMAS,
    protocols,
    uniform_protocols,
)
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.simulation import PreferenceOptions
from recbias.experiment.engine import open_executor, run_all
from recbias.experiment.makers import Table, maker
from recbias.metrics import aggregation, measure, parse_metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.splits import Split
from recbias.protocol.targets import popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.ranking import Positions, rank_once, score_blocks
from recbias.recommenders import Recommender
from recbias.stats.agreement import kendall_tau
from recbias.theory import relevant_counts
from recbias.trust import compared_systems

TRUTHS = ("P@10", "AUC")
"""What the truth about all pairs outside training is read as."""

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


class _Kind(NamedTuple):
    relation: float
    skew: float
    choice: float
    number: int


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
    tasks = [_Kind(*kind, number + 1) for kind in kinds for number in range(n_worlds)]
    work = partial(
        _taus, size=(size[0], size[1]), min_rating=min_rating, split=split, uniform=uniform
    )
    with open_executor(workers) as executor:
        taus = run_all(work, tasks, executor, label="worlds")
    return _Kind._fields, pd.DataFrame(taus)


def _taus(
    kind: _Kind, *, size: tuple[int, int], min_rating: float, split: str, uniform: str
) -> dict[str, float]:
    options = PreferenceOptions(
        relation=kind.relation, skew=kind.skew, choice=kind.choice, seed=kind.number,
        users=size[0], items=size[1], liked=int(min_rating),
    )  # fmt: skip
    dataset = load_dataset(str(options))
    rules, tests = protocols(min_rating, n_groups=_N_GROUPS)
    sides: list[tuple[str, Mapping[str, str], Mapping[str, str]]] = [
        (split, rules, tests),
        (uniform, uniform_protocols(min_rating), {}),
    ]
    taus = {}
    for rule, labels, reduced in sides:
        observed, true = _values(dataset, min_rating, rule, labels, reduced, kind.number)
        for name, truth in product(map(str, observed), TRUTHS):
            taus[column(name, truth)] = float(kendall_tau(observed[name], true[truth]))
    columns = [column(name, truth) for name in _ALL for truth in TRUTHS]
    return {**kind._asdict(), **{column: taus[column] for column in columns}}


def column(name: str, truth: str) -> str:
    """Name the column of :func:`worlds` for a protocol and one of `TRUTHS`: ``P1R, AUC``."""
    return f"{name}, {truth}"


def _values(
    dataset: Dataset,
    min_rating: float,
    split: str,
    rules: Mapping[str, str],
    tests: Mapping[str, str],
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train all systems on one split; measure what is compared there (columns), and the truth."""
    assert dataset.truth is not None
    liked = dataset.truth.true_rating(np.arange(dataset.ratings.n_users)) >= min_rating
    fold = dataset_splits(dataset, split, seed=seed)[0]
    groups = popularity_groups(fold.train, _N_GROUPS)
    observed, true = [], []
    for system in compared_systems(min_rating):
        rng = stream(seed, "train", system.stream_label(), 0)
        model = system.build().fit(fold.train, rng=rng)
        positions, _ = rank_once(model, fold, groups=groups, depth=_CUTOFF, seed=seed)
        seen: dict[str, float] = {}
        for label in dict.fromkeys(label for label, _ in _ALL.values() if label in rules):
            head = TestSet.parse(tests[label]).n_head_groups(_N_GROUPS) if label in tests else 0
            part = positions.of_groups(head, _N_GROUPS) if head else positions
            seen |= _averages(part, label, Protocol.parse(rules[label]), fold)
        observed.append(seen)
        listed = true_precision(positions.lists("AI", _CUTOFF), liked)
        true.append(dict(zip(TRUTHS, (listed, true_auc(model, fold, liked)), strict=True)))
    return pd.DataFrame(observed), pd.DataFrame(true)


def _averages(
    positions: Positions, label: str, protocol: Protocol, fold: Split
) -> dict[str, float]:
    """Average all that is compared of one protocol."""
    least, averaging = protocol.min_rating, protocol.averaging
    metrics = {name: parse_metric(text) for name, (under, text) in _ALL.items() if under == label}
    table = positions.table(protocol.rule, min_rating=least)
    values = measure(
        table, list(metrics.values()), min_rating=least,
        relevant_counts=relevant_counts(fold, min_rating=least),
    )  # fmt: skip
    n_groups = protocol.rule.n_groups or 1
    columns = aggregation.contributions(
        table, values, averaging, min_rating=least, group=table.group, n_groups=n_groups
    )
    means = aggregation.finish(columns.sum(axis=1), averaging, len(metrics), n_groups)
    return dict(zip(metrics, map(float, means), strict=True))


def true_auc(model: Recommender, fold: Split, liked: BoolArray) -> float:
    """Compute how often an item that a user likes stands above one that they do not.

    Examples
    --------
    >>> from recbias.recommenders import Popularity
    >>> from recbias.data.simulation import make_world
    >>> from recbias.protocol.splits import SplitRule
    >>> world = make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
    >>> (fold,) = SplitRule.parse("ratio 0.2").splits(world.ratings, rng=np.random.default_rng(1))
    >>> liked = world.true_rating(np.arange(40)) >= 4
    >>> round(true_auc(Popularity().fit(fold.train), fold, liked), 2)
    0.66
    """
    scores = np.concatenate([block for _, block in score_blocks(model, fold.train)])
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
