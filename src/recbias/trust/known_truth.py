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

from recbias._system.places import cells_dir
from recbias._system.streams import stream
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.ratings import exact
from recbias.data.simulation import REVISION, parse_world
from recbias.errors import ConfigError
from recbias.experiment.engine import open_executor, run_all
from recbias.experiment.grid import component_revisions
from recbias.experiment.store import digest, platform_record, read_document, write_document
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.protocol import Protocol
from recbias.protocol.testset import dataset_splits
from recbias.ranking import rank_once
from recbias.recommenders import System
from recbias.stats.agreement import kendall_tau

__all__ = [
    "MARGIN",
    "Better",
    "Outcome",
    "better_metric",
    "compared_systems",
    "outcome_of",
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


def outcome_of(dataset: Dataset, min_rating: float, *, seed: int = 1) -> Outcome:
    """Train the systems on observed ratings, and order them by what is observed and by the truth.

    Of the observed ratings a fifth is tested on. True is the share of the ten listed items that
    their users like.

    Parameters
    ----------
    dataset
        A world.
    min_rating
        The smallest rating that says liking.
    seed
        Names split, training and ties.

    Raises
    ------
    ConfigError
        If the truth of the data set is not known.
    """
    if dataset.truth is None:
        raise ConfigError(f"the truth of {dataset.name} is not known")
    liked = dataset.truth.true_rating(np.arange(dataset.ratings.n_users)) >= min_rating
    fold = dataset_splits(dataset, SPLIT, seed=seed)[0]
    protocol = Protocol.parse(f"AI-AN-AR rel>={exact(min_rating)} users=tested")
    metrics = [parse_metric(f"P@{CUTOFF}"), parse_metric(f"antiP@{CUTOFF}")]
    rows = []
    for system in compared_systems(min_rating):
        rng = stream(seed, "train", system.stream_label(), 0, 0)
        model = system.build().fit(fold.train, rng=rng)
        positions, _ = rank_once(model, fold, depth=CUTOFF, seed=seed)
        table = positions.table(protocol.rule)
        values = measure(table, metrics, min_rating=min_rating)
        seen = aggregate(
            table, values, min_rating=min_rating, population=protocol.averaging.population
        )
        lists = positions.lists("AI", CUTOFF)
        hits = np.take_along_axis(liked, np.maximum(lists, 0), axis=1) & (lists >= 0)
        rows.append((float(seen[0]), float(seen[1]), float(hits.mean())))
    return Outcome(dataset.name, *(tuple(column) for column in zip(*rows, strict=True)))


def world_outcomes(
    worlds: Sequence[str], min_rating: float, *, workers: int = 1
) -> list[Outcome | None]:
    """Find the outcome in each world; what was found before is kept in the folder of cells.

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
    """
    work = partial(_kept_outcome, min_rating=min_rating)
    with open_executor(workers) as executor:
        return run_all(work, list(worlds), executor, label="worlds")


def revisions(min_rating: float) -> dict[str, Any]:
    """Name all that decides the outcome in a world beside its name."""
    return {
        **component_revisions(sampled=False, reduced=False),
        "world": REVISION,
        "systems": [system.identity() for system in compared_systems(min_rating)],
        "metrics": [parse_metric(f"{name}@{CUTOFF}").identity() for name in ("P", "antiP")],
        "split": SPLIT,
    }


def _kept_outcome(world: str, *, min_rating: float) -> Outcome | None:
    world = str(parse_world(world))
    parameters = {"world": world, "min_rating": min_rating, "uses": revisions(min_rating)}
    key = digest(parameters)
    path = cells_dir() / "outcomes" / key[:2] / f"{key}.json"
    if path.is_file():
        stored = read_document(path)["body"]["outcome"]
        return stored and Outcome(world, *(tuple(column) for column in stored))
    try:
        made = outcome_of(load_dataset(world), min_rating)
    except ConfigError:
        made = None
    write_document(
        path,
        kind="outcome",
        key=key,
        dataset={"name": world},
        parameters=parameters,
        provenance=platform_record(),
        times={},
        body={"outcome": made and [made.precision, made.anti_precision, made.true]},
    )
    return made
