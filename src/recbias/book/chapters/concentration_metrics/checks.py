"""What chapter 6 checks: formulas, their limits and settings in a world; what hangs on data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.book.chapters.concentration_metrics.count_checks import (
    check_dispersion,
    check_divergence,
    check_index,
    check_lambda,
    check_limits_of_m,
    check_long_tail,
    check_prior,
    check_proportional,
    check_raised,
    check_reinforcement,
    check_together,
    ci,
)
from recbias.book.chapters.concentration_metrics.counts import Counts, plain_ci, random_counts
from recbias.book.chapters.concentration_metrics.setup import (
    CHAPTER,
    DATASETS,
    SEVEN,
    line_up_of,
    metrics,
    split_of,
)
from recbias.claims.checks import SEED, WORLD, Check, Checks
from recbias.data.datasets import Dataset, load_dataset, registry
from recbias.data.ratings import Ratings, exact
from recbias.experiment.grid import Grid
from recbias.experiment.makers import maker
from recbias.experiment.reduction import read_cells
from recbias.metrics import parse_metric
from recbias.metrics.lists import item_counts, list_view
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import line_up

_N_INSTANCES = 100

_MIN_RATING, _CUTOFF = 4, 10
"""Of what is listed in a world."""

Lists = npt.NDArray[np.int32]


def _listed_grid(grid: Grid) -> Grid:
    """Ask for the lists of the poster's systems, with one training seed."""
    return dataclasses.replace(
        grid,
        systems=tuple(
            dataclasses.replace(system, n_seeds=1)
            for system in grid.systems
            if system.name in SEVEN
        ),
        compare=(),
        replicates=None,
        crossed=(),
    )


# -- what holds on any data ------------------------------------------------------------------------


def _in_world() -> Grid:
    """Ask for the lists, and the metrics, that the chapter asks for on data."""
    grid = Grid(
        WORLD,
        line_up_of(WORLD, _MIN_RATING, 1),
        {"full": f"AI-AN-AR rel>={exact(_MIN_RATING)} users=tested"},
        {"full": metrics(_CUTOFF)},
        split=split_of(WORLD),
        seed=SEED,
    )
    return _listed_grid(grid)


@maker(CHAPTER, Checks, uses=_in_world)
def identities() -> tuple[list[Check], dict[str, float]]:
    """Check formulas and their limits on random counts, and on what systems list in a world."""
    train, lists, of_world = _counted(_in_world(), load_dataset(WORLD), _MIN_RATING, _CUTOFF)
    rng = stream(SEED, "checks", "counts")
    small = list(random_counts(_N_INSTANCES, rng))
    instances, before = [*small, *of_world], of_world[0].prior
    checks = [
        *check_reinforcement(instances),
        *check_limits_of_m(instances),
        *check_index(instances),
        *check_counts(lists, train, min_rating=_MIN_RATING, cutoff=_CUTOFF),
        *check_divergence(instances),
        *check_proportional(instances, before),
        *check_long_tail(instances, of_world),
        *check_lambda([*(counts for counts in small[:20] if len(counts.prior) > 2), of_world[0]]),
        *check_dispersion(instances, _scores(rng)),
        *check_prior(of_world),
        *check_together(before),
    ]
    return checks, {}


# -- what hangs on data ----------------------------------------------------------------------------


@maker(CHAPTER, Checks, revision=2, uses=[_listed_grid])
def checks(
    dataset: Dataset, *, min_rating: float, cutoff: int, grid: Grid
) -> tuple[list[Check], dict[str, float]]:
    """Make the checks that hang on data, and count what the chapter says of them.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        Smallest rating that is relevant.
    cutoff
        Length of the lists.
    grid
        The grid of the chapter's systems, which was run here.

    Returns
    -------
    checks : list of Check
        On what the systems list on the first fold.
    statistics : dict
        ``proportional CI``: the CI of as many places that are drawn in proportion to the prior,
        which is above 0 since draws vary; mean of 100 draws. ``largest share``: of all prior
        popularity, that of the most popular item.
    """
    _, _, of_data = _counted(grid, dataset, min_rating, cutoff)
    before = of_data[0].prior
    rng = stream(grid.seed, "checks", "exchanges")
    places = int(np.median([counts.shown.sum() for counts in of_data]))
    drawn = stream(grid.seed, "checks", "proportional")
    statistics = {
        "proportional CI": _proportional(before, places, drawn),
        "largest share": float(before.max() / before.sum()),
    }
    return [*check_raised(of_data, rng), *check_paper(grid)], statistics


def _counted(
    grid: Grid, dataset: Dataset, min_rating: float, cutoff: int
) -> tuple[Ratings, list[Lists], list[Counts]]:
    """Read the first fold's training ratings, what systems list there, and how often each item."""
    train = dataset_splits(dataset, grid.split, seed=grid.seed)[0].train
    listed = _listed_grid(grid)
    every = [
        reader.positions(listed, "full").lists("AI", cutoff)
        for _, reader in read_cells(listed, dataset, fold=0)
    ]
    lists = [of_system for of_system in every if (of_system >= 0).any()]
    return train, lists, [_counts(of_system, train, min_rating) for of_system in lists]


def _counts(lists: Lists, train: Ratings, min_rating: float) -> Counts:
    """Count positive training ratings and recommendations item by item."""
    before: dict[int, int] = {}
    shown: dict[int, int] = {}
    for item, value in zip(train.item.tolist(), train.value.tolist(), strict=True):
        if value >= min_rating:
            before[item] = before.get(item, 0) + 1
    for item in lists[lists >= 0].tolist():
        shown[item] = shown.get(item, 0) + 1
    both = [np.array([by_item.get(i, 0) for i in range(train.n_items)], float)
            for by_item in (before, shown)]  # fmt: skip
    return Counts(both[0], both[1], lists.size)


def _scores(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw scores of 20 users for 30 items, half of them missing, of two items all."""
    scores = rng.random((20, 30))
    scores[rng.random(scores.shape) < 0.5] = np.nan
    scores[:, [3, 17]] = np.nan
    return scores


def _proportional(before: npt.NDArray[np.float64], places: int, rng: np.random.Generator) -> float:
    drawn = rng.multinomial(places, before / before.sum(), size=100)
    return float(np.mean([ci(Counts(before, counts.astype(float), places)) for counts in drawn]))


def check_counts(
    lists: Sequence[Lists], train: Ratings, *, min_rating: float, cutoff: int
) -> list[Check]:
    """Compare the prior and the counts that CI of a grid stands on with those counted singly."""
    metric = parse_metric(f"CI@{cutoff}")
    wrong_prior, wrong_counts, off = 0.0, 0.0, 0.0
    for system_lists in lists:
        view, counted = list_view(system_lists, train, min_rating=min_rating), _counts(
            system_lists[:, :cutoff], train, min_rating
        )  # fmt: skip
        shown = item_counts(view, cutoff)
        prior = np.zeros(train.n_items) if view.prior is None else view.prior
        wrong_prior += float((prior != counted.prior).sum())
        wrong_counts += float((shown[0] != counted.shown).sum())
        measured = float(metric.declaration.measure(shown, view, [metric])[0, 0])
        off = max(off, abs(measured - plain_ci(counted)))
    claim, n = "ATM15-CI", len(lists) * train.n_items
    return [
        Check(claim, "prior", "items whose prior is not their relevant training ratings", n,
              wrong_prior),
        Check(claim, "counts", "items whose count is not the number of lists with it", n,
              wrong_counts),
        Check(claim, "measured", "CI of the systems minus the printed sum", len(lists), off),
    ]  # fmt: skip


def check_paper(grid: Grid) -> list[Check]:
    """See that the poster's data sets and systems are there, and each system has a rank."""
    known = {system.name for system in line_up("atm15", min_rating=4)}
    names = [system.name for system in grid.systems]
    missing = sum(1 for name in SEVEN if name not in known or name not in names)
    absent = sum(1 for name in DATASETS if name not in registry())
    ranked = {metric.name for metric in grid.parsed_metrics["full"]}
    wanted = ("P", "nDCG", "Gini", "Diversity", "CI", "LTI")
    unranked = sum(1 for name in wanted if name not in ranked) * len(SEVEN)
    return [
        Check("ATM15-SETUP", "data-sets", "data sets that are not there", len(DATASETS), absent),
        Check("ATM15-SETUP", "systems", "systems that are not there", len(SEVEN), missing),
        Check("ATM15-F1", "ranks", "systems without rank by one of the kinds of metrics",
              len(SEVEN) * len(wanted), unranked),
    ]  # fmt: skip
