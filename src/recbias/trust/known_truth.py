"""Which of two observed metrics orders systems as the truth does, where the truth is known.

The same few systems, fast and of all families, are trained wherever a question is asked, so that
worlds can be compared with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from recbias._system.streams import stream
from recbias.data.ratings import exact
from recbias.data.simulation import REVISION, parse_world
from recbias.experiment.grid import component_revisions
from recbias.experiment.worlds import Seen, World, WorldGrid, run_worlds
from recbias.metrics import parse_metric
from recbias.protocol.splits import Split
from recbias.recommenders import Recommender, System
from recbias.stats.agreement import kendall_tau

__all__ = [
    "MARGIN",
    "Better",
    "Outcome",
    "better_metric",
    "compared_systems",
    "revisions",
    "world_outcomes",
]

Better = Literal["P", "antiP", "either"]

MARGIN = 0.1
"""The difference of two taus from which one metric counts as the better one."""

CUTOFF = 10
SPLIT = "ratio 0.2"


def compared_systems(min_rating: float) -> tuple[System, ...]:
    """Name the systems whose order is asked about: ten fast ones, of all families.

    Parameters
    ----------
    min_rating
        The smallest rating that says liking.

    Examples
    --------
    >>> [system.name for system in compared_systems(4)][:3]
    ['Random', 'Popularity', 'Liked']
    """
    likes, graded = f"binary-pos>={exact(min_rating)}", f"graded-zero>={exact(min_rating)}"
    near = {"n_neighbours": 100}
    return (
        System("Random", "Random", {}),
        System("Popularity", "Popularity", {}),
        System("Liked", "RelevantPopularity", {"min_rating": min_rating}),
        System("Average rating", "AverageRating", {"smoothing": 1, "encoding": "stars"}),
        System("User kNN (ranking)", "UserKNN", {**near, "encoding": likes}),
        System(
            "User kNN (rating prediction)",
            "UserKNN",
            {**near, "normalised": True, "min_neighbours": 3, "encoding": "stars"},
        ),
        System(
            "MF (ranking)",
            "WRMF",
            {
                "n_factors": 20,
                "regularisation": 0.01,
                "alpha": 4,
                "n_iterations": 20,
                "encoding": graded,
            },
        ),
        System("pLSA", "PLSA", {"n_topics": 10, "n_iterations": 100, "encoding": likes}),
        System(
            "MF (rating prediction)",
            "BiasedMF",
            {
                "n_factors": 50,
                "learning_rate": 0.005,
                "regularisation": 0.05,
                "n_epochs": 30,
                "encoding": "stars",
            },
        ),
        System("EASE", "EASE", {"regularisation": 500, "encoding": likes}),
    )


@dataclass(frozen=True)
class Outcome:
    """How two observed metrics and the truth order the systems of `compared_systems`.

    Attributes
    ----------
    name
        Name of the world, or of the data set.
    precision, anti_precision
        Observed P@10 and antiP@10 of each system.
    true
        Share of the listed items that are truly liked, by system.
    """

    name: str
    precision: tuple[float, ...]
    anti_precision: tuple[float, ...]
    true: tuple[float, ...]

    @property
    def tau_precision(self) -> float:
        """Kendall's tau of observed P and the truth."""
        return float(kendall_tau(self.precision, self.true))

    @property
    def tau_anti_precision(self) -> float:
        """Kendall's tau of observed antiP, of which less is better, and the truth."""
        return float(kendall_tau(-np.array(self.anti_precision), self.true))

    @property
    def better(self) -> Better:
        """The metric whose tau is larger by `MARGIN` at least, or either."""
        return better_metric(self.tau_precision - self.tau_anti_precision)

    @property
    def relation(self) -> float:
        """The relation that the name of the world says."""
        options = parse_world(self.name)
        return float(options.relation)  # type: ignore[union-attr]


def better_metric(difference: float) -> Better:
    """Name the metric that is better, by how much larger the tau of P is than that of antiP.

    Examples
    --------
    >>> better_metric(0.1), better_metric(-0.3), better_metric(0.09)
    ('P', 'antiP', 'either')
    """
    # 1e-9: taus are ratios of whole numbers, whose difference may miss the margin by rounding.
    if difference >= MARGIN - 1e-9:
        return "P"
    return "antiP" if difference <= -MARGIN + 1e-9 else "either"


def world_outcomes(
    worlds: Sequence[str], min_rating: float, *, workers: int = 1
) -> list[Outcome | None]:
    """Train the systems on what is observed in each world, and order them by that and by the truth.

    Of the observed ratings a fifth is tested on. True is the share of the ten listed items that
    their users like. What was found before is kept in the folder of cells.

    Parameters
    ----------
    worlds
        Names of worlds.
    min_rating
        The smallest rating that says liking.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    list of Outcome or None
        In the order of `worlds`; None for one that cannot be made, because its relation cannot be
        reached.

    Raises
    ------
    ConfigError
        If a name is not that of a world.
    """
    names = [str(parse_world(world)) for world in worlds]
    liked = f"AI-AN-AR rel>={exact(min_rating)}"
    systems = compared_systems(min_rating)
    (table,) = run_worlds(
        WorldGrid(
            [World(name, 1, {"world": name}) for name in dict.fromkeys(names)],
            [(system.name, partial(_trained, system)) for system in systems],
            {"observed": f"{liked} users=tested", "true": liked},
            {
                "P": ("observed", f"P@{CUTOFF}"),
                "antiP": ("observed", f"antiP@{CUTOFF}"),
                "true P": ("true", f"P@{CUTOFF}"),
            },
            split=SPLIT,
            tests={"true": "truth"},
        ),
        workers=workers,
        only_possible=True,
    )
    if table.empty:
        return [None] * len(names)
    found = {
        str(name): Outcome(
            str(name), *(tuple(of_world[column]) for column in ("P", "antiP", "true P"))
        )
        for name, of_world in table.groupby("world", sort=False)
    }
    return [found.get(name) for name in names]


def _trained(system: System, seen: Seen, fold: Split) -> Recommender:
    """Train a system, by the stream of a fold with a number, which worlds do not have elsewhere."""
    rng = stream(seen.seed, "train", system.stream_label(), 0, 0)
    return system.build().fit(fold.train, rng=rng)


def revisions(min_rating: float) -> dict[str, Any]:
    """Name all that decides the outcome in a world beside its name."""
    return {
        **component_revisions(sampled=False, reduced=False),
        "world": REVISION,
        "systems": [system.identity() for system in compared_systems(min_rating)],
        "metrics": [parse_metric(f"{name}@{CUTOFF}").identity() for name in ("P", "antiP")],
        "split": SPLIT,
    }
