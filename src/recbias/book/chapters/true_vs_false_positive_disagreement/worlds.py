"""Whether P and antiP agree on systems, and which of them is right, where the truth is known.

Worlds differ in how popularity relates to liking, from opposed to agreeing; in how unevenly ratings
are spread over the items; and in how far users choose what they will like. In each of them the
systems of a line-up are ordered by precision and anti-precision, observed and true, and what is
kept are the values of Kendall's tau between these orders. An anti-metric is better the lower it is:
of the order of the systems, P and antiP *agree* where tau is below 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.claims.evidence import NotComputed
from recbias.claims.quantities import over_worlds
from recbias.data.ratings import exact
from recbias.data.simulation import PreferenceOptions
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import World, WorldGrid, run_worlds
from recbias.protocol.testset import TestSet
from recbias.recommenders import System, line_up
from recbias.stats.agreement import kendall_tau

SYSTEMS: tuple[str, ...] = (
    "Random",
    "Popularity",
    "Average rating",
    "User kNN",
    "Item kNN",
    "SLIM",
    "pLSA",
    "PNMF",
    "BPoissMF",
    "WRMF",
    "SVD++",
    "RankSGD",
    "ListRankMF",
)
"""Systems of the line-up ``mccrs20`` in worlds: all but eALS, WBPR and GBPR, whose training takes
four times as long as that of the other thirteen together."""

LIKED = "liked"
"""Share of the items in the lists that their users like, by the truth about all pairs."""

DISLIKED = "disliked"
"""Share that they do not; the rest are places of lists that are shorter."""

QUANTITIES: Mapping[str, tuple[str, str]] = {
    "observed": ("P@10", "antiP@10"),
    "observed_at_50": ("P@50", "antiP@50"),
    "observed_recall": ("R@10", "fallout@10"),
    "observed_nDCG": ("nDCG@10", "antinDCG@10"),
    "true": ("true P@10", "true antiP@10"),
    "P": ("P@10", LIKED),
    "antiP": ("antiP@10", DISLIKED),
}
"""What tau is between, by the name of its column: an observed metric and its anti-metric; P and
antiP by a sample of the truth; the observed P, or antiP, and what the truth about all pairs says.

A sample, because of lists that are judged entirely antiP is 1 - P, and tau -1 whatever there is to
be found. The last two need none: there the noise of a sample would only hide how right a metric is.
"""

WORLDS: Mapping[str, Any] = {
    "relations": (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9),
    "skews": (0.0, 0.2, 0.35, 0.5, 0.65, 0.8),
    "choices": (0.0, 2.0),
    "at_skew": 0.5,
    "n_worlds": 4,
    "size": (600, 800),
    "min_rating": 4,
    "split": "ratio 0.2",
    "judged": 0.1,
    "systems": SYSTEMS,
}
"""What the chapter asks of `worlds`, whatever the data of its page."""

ROLES: Mapping[str, Any] = {
    "relations": (-0.6, 0.6),
    "skew": 0.5,
    "n_worlds": 4,
    **{name: WORLDS[name] for name in ("size", "min_rating", "split", "judged", "systems")},
}
"""What the chapter asks of `roles`: worlds as skewed as CM100k, in which popularity agrees with
liking as it does there, and opposes it as much."""

INDEX = ("relation", "skew", "choice", "number")

_OBSERVED = ("P@10", "antiP@10", "P@50", "antiP@50", "R@10", "fallout@10", "nDCG@10", "antinDCG@10")
_TRUE = ("P@10", "antiP@10")
_COLUMNS: Mapping[str, tuple[str, str]] = {
    **{text: ("observed", text) for text in _OBSERVED},
    **{f"true {text}": ("sample", text) for text in ("P@10", "antiP@10")},
    LIKED: ("truth", "P@10"),
    DISLIKED: ("truth", "antiP@10"),
}


def systems_of_map(systems: Sequence[str], min_rating: float) -> list[System]:
    """Take systems of the line-up ``mccrs20`` by name; ConfigError if one is not there."""
    known = {system.name: system for system in line_up("mccrs20", min_rating=min_rating)}
    if absent := [name for name in systems if name not in known]:
        raise ConfigError(f"no system {absent[0]!r} in mccrs20; there are {', '.join(known)}")
    return [known[name] for name in systems]


def truth_sample(n_items: int, judged: float) -> TestSet:
    """Name a sample of the truth: for each user this share of the items, one at least."""
    return TestSet("truth", sample=max(1, round(judged * n_items)))


def grid_of(
    worlds: Sequence[World],
    systems: Sequence[System],
    *,
    min_rating: float,
    split: str,
    judged: TestSet,
) -> WorldGrid:
    """Measure systems by observed ratings, by a sample of the truth, and by the whole truth."""
    rule = f"AI-AN-AR rel>={exact(min_rating)}"
    return WorldGrid(
        worlds,
        systems,
        {"observed": f"{rule} users=tested", "sample": f"{rule} users=tested", "truth": rule},
        _COLUMNS,
        split=split,
        tests={"sample": str(judged), "truth": "truth"},
        n_seeds=None,
    )


def _measured(
    kinds: Iterable[tuple[float, float, float]],
    *,
    n_worlds: int,
    size: Sequence[int],
    min_rating: float,
    split: str,
    judged: float,
    systems: Sequence[str],
    workers: int,
) -> pd.DataFrame:
    """Measure all systems in worlds of kinds: relation, skew and choice."""
    worlds = []
    for relation, skew, choice in kinds:
        for number in range(1, n_worlds + 1):
            options = PreferenceOptions(
                relation=relation, skew=skew, choice=choice, seed=number,
                users=size[0], items=size[1], liked=int(min_rating),
            )  # fmt: skip
            labels = dict(zip(INDEX, (relation, skew, choice, number), strict=True))
            worlds.append(World(str(options), number, labels))
    grid = grid_of(
        worlds, systems_of_map(systems, min_rating), min_rating=min_rating, split=split,
        judged=truth_sample(size[1], judged),
    )  # fmt: skip
    return run_worlds(grid, workers=workers)[0]


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "thinning", "world", "aggregation"),
    metrics=_OBSERVED,
    systems=systems_of_map,
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
    judged: float,
    systems: Sequence[str],
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Order systems by observed and true metrics over kinds of worlds, and compare the orders.

    Parameters
    ----------
    relations, skews
        Of :class:`recbias.data.simulation.PreferenceOptions`, every one with every other; with a
        skew of 0 no item is more popular than another, so that the relation is 0.
    choices, at_skew
        Further strengths of users' choice beside the default, 1, for all relations at one skew.
    n_worlds
        How many independent worlds of each kind: those of seeds 1, 2, ...
    size
        Numbers of users and items.
    min_rating, split, judged
        As of `grid_of`; what is judged is a share of the items.
    systems
        Names of systems of the line-up ``mccrs20``, each trained once per world.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``relation``, ``skew``, ``choice`` and ``number``.
    frame : DataFrame
        A column of Kendall's tau over the systems for each of :data:`QUANTITIES`.
    """
    kinds = [
        (relation, skew, 1.0) for skew in skews for relation in relations if skew or not relation
    ]
    kinds += [(relation, at_skew, choice) for choice in choices for relation in relations]
    frame = _measured(
        kinds, n_worlds=n_worlds, size=size, min_rating=min_rating, split=split, judged=judged,
        systems=systems, workers=workers,
    )  # fmt: skip
    rows = [
        {
            **dict(zip(INDEX, kind, strict=True)),
            **{
                name: float(kendall_tau(values[one], values[other]))
                for name, (one, other) in QUANTITIES.items()
            },
        }
        for kind, values in frame.groupby(list(INDEX), sort=False)
    ]
    return INDEX, pd.DataFrame(rows)


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "thinning", "world", "aggregation"),
    metrics=_OBSERVED,
    systems=systems_of_map,
)
def roles(
    *,
    relations: Sequence[float],
    skew: float,
    n_worlds: int,
    size: Sequence[int],
    min_rating: float,
    split: str,
    judged: float,
    systems: Sequence[str],
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Show the systems themselves in a few of the `worlds`, whose parameters these are.

    Returns
    -------
    index : tuple of str
        ``relation`` and ``system``.
    frame : DataFrame
        Means over worlds of what `grid_of` measures.
    """
    frame = _measured(
        [(relation, skew, 1.0) for relation in relations], n_worlds=n_worlds, size=size,
        min_rating=min_rating, split=split, judged=judged, systems=systems, workers=workers,
    )  # fmt: skip
    rows = frame.groupby(["relation", "system"], sort=False)[list(_COLUMNS)]
    return ("relation", "system"), rows.mean().reset_index()


# -- what follows ----------------------------------------------------------------------------------


def agreement_map(table: Table, quantity: str, *, choice: float = 1.0) -> pd.DataFrame:
    """Lay out one tau over the kinds of worlds."""
    rows = table.frame[table.frame["choice"] == choice]
    if quantity not in rows or rows.empty:
        raise NotComputed(f"{quantity} of worlds with choice {choice:g}")
    by_kind = rows.groupby(["relation", "skew"])[quantity]
    means = {kind: over_worlds(values) for kind, values in by_kind}
    ends = [(*kind, mean.value, *mean.interval) for kind, mean in means.items()]
    return pd.DataFrame(ends, columns=["relation", "skew", "value", "low", "high"])


def over_relations(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Average over the relations of popularity with liking, with choice as it is by default."""
    rows = table.frame[table.frame["choice"] == 1]
    means = rows.groupby(["skew", "number"])[list(QUANTITIES)].mean()
    return ("skew", "number"), means.reset_index()
