"""Where a feedback loop ends, and which metric of its first lists foretells that.

The seven systems of the poster recommend in worlds, what is recommended becomes known, and the next
lists are learned from it. A metric of the first lists *foretells* where the loop ends if, over the
systems, it orders them as they are ordered by what is measured in the last round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.book.chapters.concentration_metrics.setup import CHAPTER, LAMBDA, SEVEN
from recbias.claims.quantities import over_worlds
from recbias.data.simulation import PreferenceOptions
from recbias.experiment.feedback import Choice, Loop, measure_loops
from recbias.experiment.makers import Table, maker
from recbias.recommenders import System, line_up

CHOICES: tuple[Choice, ...] = ("even", "attentive")
"""How recommendations become ratings."""

LOOP: Mapping[str, Any] = {
    "n_worlds": 20,
    "size": (500, 800),
    "density": 0.03,
    "n_rounds": 8,
    "cutoff": 10,
    "share": 0.3,
    "min_rating": 4,
}
"""What the chapter asks of `loop`, whatever the data of its page."""

STARTS: tuple[str, ...] = (
    "CI",
    "CI_JS",
    "LTI",
    "LTI_percentile",
    "M",
    "Gini",
    "Hoover",
    "Entropy",
    "Diversity",
    "ARP",
    "P",
)
"""Metrics of the first lists that may foretell where a loop ends."""

INDEX = ("choice", "system", "number", "round")

_METRICS = (
    "CI@10",
    "CI@10|JS",
    f"LTI({LAMBDA:g})@10",
    "M@10",
    "Gini@10",
    "Hoover@10",
    "Entropy@10",
)


def _systems(min_rating: float) -> dict[str, System]:
    known = {system.name: system for system in line_up("atm15", min_rating=min_rating)}
    return {name: known[name] for name in SEVEN}


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world", "feedback"),
    metrics=_METRICS,
    systems=lambda min_rating: _systems(min_rating).values(),
)
def loop(
    *,
    n_worlds: int,
    size: Sequence[int],
    density: float,
    n_rounds: int,
    cutoff: int,
    share: float,
    min_rating: float,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Follow the seven systems through a feedback loop in worlds like MovieLens.

    Parameters
    ----------
    n_worlds
        How many worlds: those of seeds 1, 2, ...
    size, density
        Numbers of users and items of each, and the share of all pairs that are known at first.
    n_rounds, cutoff, share
        As of :class:`recbias.experiment.feedback.Loop`.
    min_rating
        Smallest rating that says liking.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``choice``, ``system``, ``number`` of the world and ``round``.
    frame : DataFrame
        A column for each metric of :func:`recbias.experiment.feedback.measure_rounds`.
    """
    alike = PreferenceOptions(users=size[0], items=size[1], density=density, liked=int(min_rating))
    loops = [
        Loop(str(replace(alike, seed=seed)), system, choice, n_rounds, cutoff, share, seed=seed)
        for seed in range(1, n_worlds + 1)
        for choice in CHOICES
        for system in _systems(min_rating).values()
    ]
    courses = measure_loops(loops, min_rating=min_rating, lam=LAMBDA, workers=workers)
    rows = [
        rounds.reset_index().assign(choice=loop.choice, system=loop.system.name, number=loop.seed)
        for loop, rounds in zip(loops, courses, strict=True)
    ]
    return INDEX, pd.concat(rows, ignore_index=True)


# -- what follows ----------------------------------------------------------------------------------


def _frame(table: Table) -> pd.DataFrame:
    return table.frame.set_index(list(INDEX))


def ratings_by_round(table: Table, choice: str) -> pd.DataFrame:
    """Give the Gini coefficient of the ratings before each round, by system."""
    values = _frame(table).xs(choice, level="choice")["Gini_ratings"]
    rows = []
    for names, drawn in values.groupby(level=["system", "round"], sort=False):
        mean = over_worlds(drawn.to_numpy())
        rows.append((*cast("tuple[str, int]", names), mean.value, *mean.interval))
    return pd.DataFrame(rows, columns=["system", "round", "value", "low", "high"])


def _ends(table: Table, choice: str, quantity: str, *, last: bool) -> pd.DataFrame:
    """Give a quantity of the first lists, or the last: a row a system, a column a world."""
    values = _frame(table).xs(choice, level="choice")[quantity]
    rounds = values.index.get_level_values("round")
    return values.xs(rounds.max() if last else rounds.min(), level="round").unstack("number")


def before_and_after(table: Table, choice: str) -> pd.DataFrame:
    """Say of each system where lists and ratings began, and where they ended: means over worlds."""
    asked = {"lists": "Gini", "ratings": "Gini_ratings", "liked": "P"}
    return pd.DataFrame(
        {
            (name, "after" if last else "before"): _ends(table, choice, quantity, last=last).mean(
                axis=1
            )
            for name, quantity in asked.items()
            for last in (False, True)
        }
    ).sort_values(("ratings", "after"), ascending=False)


def foretold(table: Table, choice: str) -> pd.DataFrame:
    """Tell how well each metric of the first lists foretells how uneven the ratings will be.

    By Spearman's correlation over the systems, in each world.
    """
    end = _ends(table, choice, "Gini_ratings", last=True)
    rows = []
    for start in STARTS:
        first = _ends(table, choice, start, last=False).loc[end.index]
        each = [
            float(scipy.stats.spearmanr(first[number], end[number]).statistic) for number in end
        ]
        mean = over_worlds(each)
        rows.append((start, mean.value, *mean.interval))
    return pd.DataFrame(rows, columns=["metric", "value", "low", "high"])
