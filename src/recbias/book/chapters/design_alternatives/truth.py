"""Which design orders systems as the truth does, in worlds that know the truth about all pairs.

In a world every user has a true rating of every item. The *true precision* of a system is the share
of the items in its users' lists that they would rate as relevant, whether anybody observed it or
not: P@n among all items outside the user's training ratings, with nothing unjudged. Each design of
the chapter sees the observed test ratings only. How far its order of the systems is from the true
one is what `truth` measures, in worlds where popular items are liked by more users than others, by
as many, or by fewer, and where users choose what they will like, or blindly.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.design_alternatives.panels import four_designs
from recbias.book.chapters.design_alternatives.setup import CHAPTER, protocols
from recbias.book.html import markdown_table
from recbias.claims.evidence import View
from recbias.claims.quantities import over_worlds
from recbias.data.simulation import PreferenceOptions, parse_world
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import AnySystem, World, WorldGrid, run_worlds
from recbias.metrics import parse_metric
from recbias.recommenders import System, line_up
from recbias.stats.agreement import kendall_tau

TRUE = "truth"
"""Stands for a design in the table of `truth`: precision by the true ratings of all pairs."""

_LIKE_ML_1M = "skew=0.634,users=1510,items=926,density=0.0447,liked=5"
_RELATIONS = {"agrees": 0.8, "is independent": 0.0, "opposes": -0.8}
_CHOICES = {", blind choice": 0.0, "": 1.0, ", strong choice": 2.0}
_CHOICE_WORDS = {0.0: "blind choice", 1.0: "choice by liking", 2.0: "strong choice"}

WORLDS: Mapping[str, str] = {
    f"{relation}{choice}": f"world(relation={number:g},{_LIKE_ML_1M},choice={factor:g})"
    for choice, factor in _CHOICES.items()
    for relation, number in _RELATIONS.items()
}
"""Kinds of worlds, by how popularity relates to liking, and how users choose what they rate.

A quarter of the users and of the items of MovieLens 1M, with its share of observed pairs (.0447),
its Gini coefficient of the items' numbers of ratings (.634), and five stars as liking.
"""

SIMULATION: Mapping[str, Any] = {
    "worlds": WORLDS,
    "n_worlds": 12,
    "systems": "bcc17",
    "split": "ratio 0.2",
    "cutoff": 10,
    "size": 100,
    "n_sampled": 250,
}
"""What the chapter asks of `truth`, whatever the data of its page: lists and runs as it has them by
default, and samples of as large a share of the items as 1,000 are of MovieLens 1M."""

DESIGNS = {"AI": "all items"} | {
    design.label: design.name
    for design in four_designs(SIMULATION["size"], SIMULATION["n_sampled"])
}
"""What is ranked, by the label of the protocol; all but the last rank unrated items too."""

_INDEX = ("world", "number", "design", "system")
_KIND = ("popularity", "choice")

FloatArray = npt.NDArray[np.float64]


def _systems(names: str) -> list[System]:
    """Take the systems of a line-up that give the same lists on every processor."""
    return [system for system in line_up(names) if not system.depends_on_processor]


def _trained(systems: str) -> list[dict[str, Any]]:
    """Identify systems, as often as they are trained."""
    return [
        {"name": system.name, "n_seeds": system.n_seeds, **system.identity()}
        for system in _systems(systems)
    ]


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "sampling", "world", "aggregation"),
    uses={"metric": lambda cutoff: parse_metric(f"P@{cutoff}"), "systems": _trained},
)
def truth(
    *,
    worlds: Mapping[str, str],
    n_worlds: int,
    systems: str,
    split: str,
    cutoff: int,
    size: int,
    n_sampled: int,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure systems by every design and by the truth.

    Parameters
    ----------
    worlds
        Names of worlds with preferences, by what to call their kind. What is liked is relevant.
    n_worlds
        How many independent worlds of each kind: those of seeds 1, 2, ...
    systems
        Name of a line-up. Systems whose lists depend on the processor are left out.
    split
        Text of the split rule; of several folds the first is used.
    cutoff
        Length of the lists.
    size, n_sampled
        As of :func:`recbias.book.chapters.design_alternatives.protocols`.

    Returns
    -------
    index : tuple of str
        ``world``, ``number``, ``design`` and ``system``.
    frame : DataFrame
        The ``value`` of each: precision under the labels of the chapter's protocols, and true
        precision under :data:`TRUE`.

    Raises
    ------
    ConfigError
        If a world is none with preferences.
    """
    grids = []
    for kind, name in worlds.items():
        options = _options(name)
        of_kind = [
            World(
                str(dataclasses.replace(options, seed=seed)), seed, {"world": kind, "number": seed}
            )
            for seed in range(1, n_worlds + 1)
        ]
        asked = protocols(options.liked, size=size, n_sampled=n_sampled)
        grids.append(design_grid(of_kind, _systems(systems), asked, split=split, cutoff=cutoff))
    wide = pd.concat(run_worlds(*grids), ignore_index=True)
    rows = wide.melt(["world", "number", "system"], None, "design", ignore_index=False)
    return _INDEX, rows.sort_index(kind="stable", ignore_index=True)[[*_INDEX, "value"]]


def design_grid(
    worlds: Sequence[World],
    systems: Sequence[AnySystem],
    asked: Mapping[str, str],
    *,
    split: str,
    cutoff: int,
) -> WorldGrid:
    """Ask for precision by every design, a column each, and for true precision."""
    labels = {label: asked[label] for label in DESIGNS} | {TRUE: asked["AI"]}
    columns = {label: (label, f"P@{cutoff}") for label in labels}
    return WorldGrid(
        worlds, systems, labels, columns, split=split, tests={TRUE: "truth"}, n_seeds=None
    )


def _options(world: str) -> PreferenceOptions:
    options = parse_world(world)
    if not isinstance(options, PreferenceOptions):
        raise ConfigError(f"{world} has no preferences; name a world with a relation")
    return options


# -- what follows ------------------------------------------------------------------------------


@lru_cache(maxsize=8)  # halves of the worlds are asked for beside all of them
def agreement_with_truth(table: Table) -> pd.DataFrame:
    """Compare the order of the systems under each design with the true one, world by world."""
    rows = []
    for kind, number, values in _by_world(table):
        true = values.pop(TRUE)
        for design, observed in values.items():
            product = _steps(observed) * _steps(true)
            tau = float(kendall_tau(observed, true))
            rows.append((kind, number, design, tau, float((product < 0).mean())))
    return pd.DataFrame(rows, columns=[*_INDEX[:3], "tau", "wrong"])


def truth_by_kind(table: Table) -> pd.DataFrame:
    """Average over the worlds of each kind how well each design orders the systems."""
    rows = []
    agreement = agreement_with_truth(table).set_index(["world", "design"])
    for kind, design in dict.fromkeys(agreement.index):
        worlds = agreement.loc[[(kind, design)]]
        options = _options(table.given["worlds"][kind])
        tau = over_worlds(worlds["tau"].to_numpy())
        choice = _CHOICE_WORDS[options.choice]
        numbers = (tau.value, *tau.interval, float(worlds["wrong"].mean()))
        rows.append((kind, design, options.relation, choice, *numbers))
    columns = ["world", "design", "relation", "choice", "tau", "low", "high", "wrong"]
    return pd.DataFrame(rows, columns=columns)


def own_ratings_told(table: Table) -> str:
    """Say how own test ratings do in the kind of worlds that is worst for each design."""
    least = truth_by_kind(table).groupby("design")["tau"].min()
    own, best = least["R_test"], least.drop("R_test").max()
    if own > 0 >= best:
        found = (
            "yet in our simulated worlds they were the only design that never reversed the true "
            f"order on average (\N{GREEK SMALL LETTER TAU} of {own:.2f} or more)"
        )
    elif own > best:
        found = (
            "yet in the simulated worlds that were worst for a design they were nearest to the "
            f"true order (\N{GREEK SMALL LETTER TAU} of {own:.2f} or more)"
        )
    else:
        return "Own test ratings do not measure recommendation, in our simulated worlds either."
    return (
        f"Own test ratings do not measure recommendation, {found}: report them beside the "
        "others, not instead."
    )


def _steps(values: FloatArray) -> FloatArray:
    first, second = np.triu_indices(len(values), k=1)
    return np.sign(values[first] - values[second])


def _by_world(table: Table) -> Iterator[tuple[str, int, dict[str, FloatArray]]]:
    """Give for each world the values of all systems by design, in one order of the systems."""
    wide = _wide(table, "system")
    for kind, number in dict.fromkeys((kind, number) for kind, number, _ in wide.index):
        rows = wide.loc[kind, number]
        yield kind, number, {str(design): row.to_numpy() for design, row in rows.iterrows()}


def _wide(table: Table, columns: str) -> pd.DataFrame:
    """Spread the values over columns; rows and columns keep the order of the table."""
    index = [name for name in _INDEX if name != columns]
    return table.frame.pivot_table(index=index, columns=columns, values="value", sort=False)


def places_gained(table: Table, designs: Sequence[str]) -> pd.DataFrame:
    """Tell how many places each design puts each system above its true one."""
    means = _gained(table)[list(designs)].groupby(["world", "system"], sort=False).mean()
    return means.reset_index().pivot_table(
        index="system", columns="world", values=list(designs), sort=False
    )


@lru_cache(maxsize=8)
def _gained(table: Table) -> pd.DataFrame:
    """Subtract each system's rank under each design, in each world, from its true rank."""
    ranks = _wide(table, "design").groupby(["world", "number"], sort=False).rank(ascending=False)
    return ranks.rsub(ranks[TRUE], axis=0)


def places_table(table: Table, worlds: Sequence[str], designs: Sequence[str]) -> str:
    """Write `places_gained` of some kinds of worlds as a table in Markdown."""
    gained = places_gained(table, designs)
    columns = [(design, world) for design in designs for world in worlds]
    head = ("system", *(f"{DESIGNS[design]}, popularity {world}" for design, world in columns))
    rows = [
        (str(name), *(f"{row[column]:+.1f}".replace("-", "\N{MINUS SIGN}") for column in columns))
        for name, row in gained.iterrows()
    ]
    return markdown_table(head, rows)


# -- what findings read ------------------------------------------------------------------------


def agreement_view(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Lay `agreement_with_truth` out by kind of world, design and world."""
    return (*_KIND, "design", "number"), _by_kind(table, agreement_with_truth(table))


def places_view(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Lay out how many places each design puts each system below its true one, world by world."""
    lost = -_gained(table).drop(columns=TRUE)
    lost = lost.reset_index().melt(["world", "number", "system"], None, "design", "lost")
    return (*_KIND, "design", "system", "number"), _by_kind(table, lost)


def _by_kind(table: Table, frame: pd.DataFrame) -> pd.DataFrame:
    """Tell how popularity relates to liking, and how users choose, where a frame has the world."""
    worlds = table.given["worlds"]
    choices = {kind: _CHOICE_WORDS[_options(worlds[kind]).choice] for kind in worlds}
    return frame.assign(
        popularity=[kind.partition(",")[0] for kind in frame["world"]],
        choice=frame["world"].map(choices),
    )


VIEWS: Mapping[str, View] = {"truth.agreement": agreement_view, "truth.places": places_view}
"""What findings read of the table, by name."""
