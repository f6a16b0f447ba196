"""How many pairs of systems each decision reverses, from one default to each alternative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER, HALF, split_of
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import has_times
from recbias.book.choosing import measurable
from recbias.data.datasets import Dataset, dataset_info, is_path, load_dataset
from recbias.data.ratings import exact
from recbias.errors import DataError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.options import Options
from recbias.experiment.outcomes import Outcome, evaluate
from recbias.recommenders import System, line_up

NOISE = "noise"
"""What stands where no decision is taken, and only the seed of the split is another."""

LEVEL = 0.05

_ONE_SPLIT = ("ml-1m",)
"""Data sets on which no other splits are tried: training all systems on them takes hours."""

_CHANCE = ("Random", "ListRankMF")
"""Systems of the line-up whose lists are chance, or nearly so."""


class Alternative(NamedTuple):
    """One decision, taken otherwise.

    Attributes
    ----------
    decision
        ``A1`` to ``D``, or :data:`NOISE`.
    name
        What is chosen.
    options
        All of it.
    base
        What it is compared with: the default, or, where a decision is about condensed lists only,
        the default with condensed lists.
    """

    decision: str
    name: str
    options: Options
    base: Options


def fourteen(min_rating: float) -> tuple[System, ...]:
    """List the systems that are compared: those of MCCRS20, without the two that are chance.

    Examples
    --------
    >>> len(fourteen(4)), fourteen(4)[0].name
    (14, 'Popularity')
    """
    systems = line_up("mccrs20", min_rating=min_rating)
    return tuple(system for system in systems if system.name not in _CHANCE)


_SPLITS = ("ratio 0.2", "ratio 0.8", "leave-out 1", "uniform 0.2", "temporal-user 0.2",
           "temporal 0.2")  # fmt: skip
_SELECTIONS = ("users>=50", "items>=10", "head=5%")


def alternatives(
    min_rating: float,
    seed: int,
    *,
    other_ratings: Sequence[float] = (),
    timed: bool = True,
    splits: bool = True,
    test: str = "",
) -> tuple[Alternative, ...]:
    """List every decision that is taken otherwise, one at a time.

    Examples
    --------
    >>> others = alternatives(4, 1)
    >>> len(others), others[0].name, print(others[0].base)
    split: ratio 0.5; seed: 1; lists: AI-AN-AR rel>=4 users=trained; metric: nDCG@10; pairs: t
    (35, 'another split', None)
    """
    start = f"AI-AN-AR rel>={exact(min_rating)}"
    default = {
        "split": "ratio 0.5",
        "seed": str(seed),
        "lists": f"{start} users=trained",
        "metric": "nDCG@10",
        "pairs": "t",
    }
    condensed = {**default, "lists": f"{start} condensed users=trained"}
    choices: list[tuple[str, str, dict[str, str], dict[str, str]]] = [
        (NOISE, "another split", default, {"seed": str(seed + 1)})
    ]

    def add(decision: str, part: str, options: Mapping[str, str], base: dict[str, str]) -> None:
        choices.extend((decision, name, base, {part: text}) for name, text in options.items())

    if test:
        default["test"] = condensed["test"] = test
    elif splits:
        add("A1", "data", {text: text for text in _SELECTIONS}, default)
    if splits:
        rules = [text for text in _SPLITS if timed or not text.startswith("temporal")]
        add("A2", "split", {text: text for text in rules}, default)
    add("B1", "lists", {"all users": start, "users with likes": f"{start} users=relevant"}, default)
    fills = ("random", "popularity", "average-rating")
    lists = {f"filled, {fill}": f"{start} unscored={fill} users=trained" for fill in fills}
    add("B2", "lists", lists, default)
    add("C1", "lists", {"condensed": condensed["lists"]}, default)
    metrics = ("P@10", "R@10", "RR", "AP", "RBP(0.8)", "nDCG(exp)@10", "nDCG@5", "nDCG@50")
    add("C2", "metric", {text: text for text in metrics}, default)
    stars = {
        f"liked from {exact(other)}": f"AI-AN-AR rel>={exact(other)} users=trained"
        for other in other_ratings
    }
    add("C2", "lists", stars, default)
    orders = {text: text for text in ("AUC", "tau", "RBO(0.9)")}
    add("C2C", "metric", orders, condensed)
    averages = {
        "by ratings": "weights=ratings",
        "by positives": "weights=relevant",
        "median": "statistic=median",
        "geometric mean": "statistic=geometric",
    }
    add("C3", "lists", {name: f"{start} users=trained {text}" for name, text in averages.items()},
        default)  # fmt: skip
    add("C4", "lists", {"reduced": f"{start} users=trained coverage=reduced"}, default)
    add("D", "pairs", {text: text for text in ("wilcoxon", "sign", "bootstrap")}, default)
    return tuple(
        Alternative(decision, name, _options({**base, **changed}), _options(base))
        for decision, name, base, changed in choices
    )


def _options(parts: Mapping[str, str]) -> Options:
    return Options.parse("; ".join(f"{name}: {text}" for name, text in parts.items()))


def decisions_asked(dataset: str, min_rating: float, *, seed: int) -> dict[str, Any]:
    """Say what `decisions` is asked for on a data set.

    Examples
    --------
    >>> parameters = decisions_asked("ml-100k", 4, seed=1)
    >>> parameters["other_ratings"], parameters["timed"], len(parameters["grid"].systems)
    ([3, 5], True, 14)
    """
    loaded = load_dataset(dataset) if is_path(dataset) else None
    scale = loaded.ratings.scale if loaded else dataset_info(dataset).scale
    highest = float(loaded.ratings.value.max()) if loaded else scale.maximum
    others = (min_rating - 1, min_rating + 1)
    lists = f"AI-AN-AR rel>={exact(min_rating)} users=trained"
    grid = Grid(
        dataset, fourteen(min_rating), {"full": lists}, ("nDCG@10",), split=split_of(HALF),
        seed=seed, replicates=(),
    )  # fmt: skip
    return {
        "min_rating": min_rating,
        "other_ratings": [other for other in others if scale.minimum < other <= highest],
        "timed": has_times(dataset),
        "splits": loaded is None
        and dataset not in _ONE_SPLIT
        and bool(dataset_info(dataset).files),
        "grid": grid,
    }


# -- reversals -------------------------------------------------------------------------------------


def compare_outcomes(base: Outcome, other: Outcome) -> dict[str, float]:
    """Count the pairs of systems that two outcomes order in opposite ways."""
    names = ["a", "b"]
    joined = base.pairs.merge(other.pairs, on=names, suffixes=("", "_other"))
    d, e = (joined[name].to_numpy(float) for name in ("difference", "difference_other"))
    first, second = (
        np.where(joined[p].to_numpy(float) < LEVEL, np.sign(differences), 0)
        for p, differences in (("p_holm", d), ("p_holm_other", e))
    )
    turned = d * e < 0
    return {
        "pairs": float(len(joined)),
        "resolved": float((first != 0).sum()),
        "resolved_other": float((second != 0).sum()),
        "reversed": float((first * second < 0).sum()),
        "possible": float((first * second <= 0).sum()),
        "turned": float(turned.sum()),
        "significance": float(((first != 0) != (second != 0)).sum()),
        "survives": float(np.abs(d[turned]).max(initial=0.0)),
        "effect": float(np.nanmax(np.abs(joined["effect"].to_numpy(float)[turned]), initial=0.0)),
        "moved": float(np.abs(d - e).max(initial=0.0)),
    }


def _grids(
    grid: Grid, min_rating: float, other_ratings: Sequence[float], timed: bool, splits: bool
) -> list[Grid]:
    tried = _tried(grid, min_rating, other_ratings=other_ratings, timed=timed, splits=splits)
    return [alternative.options.grid(grid.dataset, grid.systems) for alternative in tried]


def _tried(
    grid: Grid, min_rating: float, *, other_ratings: Sequence[float], timed: bool, splits: bool
) -> list[Alternative]:
    """List the alternatives that a reader's table can have."""
    candidates = alternatives(
        min_rating, grid.seed, other_ratings=other_ratings, timed=timed, splits=splits
    )
    metrics = [str(alternative.options.measured) for alternative in candidates]
    had = set(measurable(grid.dataset, metrics, min_rating=min_rating))
    return [
        alternative
        for alternative, metric in zip(candidates, metrics, strict=True)
        if metric in had
    ]


@maker(CHAPTER, Table, revision=2, grids=_grids)
def decisions(
    dataset: Dataset,
    *,
    min_rating: float,
    other_ratings: Sequence[float],
    timed: bool,
    splits: bool,
    grid: Grid,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Count what each decision reverses, alone.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        Smallest rating that is relevant.
    other_ratings, timed, splits
        As of `alternatives`.
    grid
        Its dataset, systems and seed are taken.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``decision`` and ``option``.
    frame : DataFrame
        ``options``, the text, and the columns of :func:`compare_outcomes`. Selections and splits
        that leave nothing to compare have no row.
    """
    known: dict[str, Outcome] = {}

    def outcome(options: Options) -> Outcome:
        if str(options) not in known:
            known[str(options)] = evaluate(options, grid.dataset, grid.systems, workers=workers)
        return known[str(options)]

    tried = _tried(grid, min_rating, other_ratings=other_ratings, timed=timed, splits=splits)
    rows = []
    for alternative in tried:
        try:
            changed = outcome(alternative.options)
        except DataError:  # too few ratings for that
            continue
        counts = compare_outcomes(outcome(alternative.base), changed)
        names = {
            "decision": alternative.decision,
            "option": alternative.name,
            "options": str(alternative.options),
        }
        rows.append({**names, **counts})
    return ("decision", "option"), pd.DataFrame(rows)


def without_noise(decisions: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Leave out what only the split changes; ``reversals`` are up to all that are possible."""
    frame = decisions.frame[decisions.frame["decision"] != NOISE]
    reversals, possible = frame["reversed"], frame["possible"]
    return decisions.index, frame.assign(
        reversals=reversals, reversals_low=reversals, reversals_high=possible
    )


# -- names ---------------------------------------------------------------------------------------


def alternative_name(decision: str, option: str) -> str:
    """Name an alternative in few characters, as figures and tables do.

    Examples
    --------
    >>> alternative_name("A2", "ratio 0.2"), alternative_name("the default", "the default")
    ('A2 train on 80 %', 'the default')
    """
    if decision in (NOISE, option):
        return option
    return f"{decision} {_NAMES.get(option, option)}"


_NAMES: Mapping[str, str] = {
    "ratio 0.2": "train on 80 %",
    "ratio 0.8": "train on 20 %",
    "leave-out 1": "one test rating each",
    "uniform 0.2": "uniform over items",
    "temporal-user 0.2": "newest of each user",
    "temporal 0.2": "newest of all",
    "users>=50": "users from 50",
    "items>=10": "items from 10",
    "head=5%": "without the head",
    "filled, average-rating": "filled, mean rating",
}
"""How an alternative is called where its text is no words."""
