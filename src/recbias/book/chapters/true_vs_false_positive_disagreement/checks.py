"""What chapter 5 checks: definitions and equations in a world; what hangs on data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

import numpy as np

from recbias._system.streams import stream
from recbias.book.chapters.true_vs_false_positive_disagreement.listed import (
    Listed,
    measured_metrics,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.metric_checks import (
    check_lists,
    check_skips,
    check_spreadsheet,
    check_systems,
    sessions,
    spreadsheet,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.optimum_checks import (
    optimum_checks,
    optimum_identities,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.paper_setup import (
    paper_checks,
    set_up_checks,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER, truth_of
from recbias.book.chapters.true_vs_false_positive_disagreement.true_values import check_which
from recbias.book.chapters.true_vs_false_positive_disagreement.variables import (
    check_given,
    check_judgments,
    check_liking,
    check_partition,
    check_rated,
    check_shares,
    pairs_of,
    scores_beside_other_tests,
)
from recbias.claims.checks import Check, Checks
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.ratings import exact
from recbias.experiment.cells import grid_cells, run_cell
from recbias.experiment.grid import Grid
from recbias.experiment.makers import hashes_of, maker
from recbias.experiment.reduction import Reader
from recbias.protocol import testset
from recbias.protocol.splits import Split
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.recommenders import System, line_up

_TRAINED = (System("Popularity", "Popularity"), System("Average rating", "AverageRating"))
"""Systems that are trained apart."""

_LISTING = ("Random", "Popularity", "Average rating", "User kNN", "Item kNN", "pLSA")
"""Systems of the paper, the fast ones, whose lists are looked at in a world."""

_N_SESSIONS = 500


def _full_lists(
    dataset: str, systems: Iterable[System], split: str, seed: int, min_rating: float, cutoff: int
) -> Grid:
    """Ask for the lists of systems, with one training seed."""
    return Grid(
        dataset,
        tuple(dataclasses.replace(system, n_seeds=1) for system in systems),
        {"full": f"AI-AN-AR rel>={exact(min_rating)} users=tested"},
        (f"P@{cutoff}", f"ARP@{cutoff}"),
        split=split,
        seed=seed,
    )


def _listed(grid: Grid, dataset: Dataset, min_rating: float, cutoff: int) -> Iterator[Listed]:
    """Read what systems return on the first fold."""
    for system, cell in takewhile(lambda pair: pair[1].fold == 0, grid_cells(grid, dataset, None)):
        run_cell(cell)
        positions = Reader(cell).positions(grid, "full")
        rule = grid.parsed["full"].rule
        liked = positions.take(positions.value >= min_rating)
        lists = positions.lists("AI", cutoff)
        yield Listed(system, positions.table(rule), lists, liked.table(rule))


# -- what holds on any data ------------------------------------------------------------------------


def _in_world(world: str, min_rating: float, cutoff: int, seed: int) -> Grid:
    """Ask for the lists that are looked at."""
    every = line_up("mccrs20", min_rating=min_rating)
    systems = [system for system in every if system.name in _LISTING]
    return _full_lists(world, systems, "k-fold 5", seed, min_rating, cutoff)


def _used_in_world(world: str, min_rating: float, cutoff: int, seed: int) -> list[Any]:
    """List what is checked: the cells that ranked the lists, systems, metrics and other parts."""
    key = _in_world(world, min_rating, cutoff, seed).key_of(hashes_of(world))
    optimal = line_up("optimal", min_rating=min_rating)
    return [key, *_TRAINED, *optimal, *measured_metrics(cutoff), testset.REVISION]


@maker(CHAPTER, Checks, uses=_used_in_world)
def identities(
    *, world: str = "synthetic", min_rating: float = 4, cutoff: int = 10, seed: int = 1
) -> tuple[list[Check], dict[str, float]]:
    """Check definitions and equations in a world, in small ones, and on worked examples.

    Parameters
    ----------
    world
        Name of a registered world.
    min_rating
        Smallest rating that is relevant.
    cutoff
        Length of the lists.
    seed
        Of splits, small worlds and sessions.

    Returns
    -------
    checks : list of Check
        On the first fold, where nothing else is said.
    statistics : dict
        None.
    """
    grid, dataset = _in_world(world, min_rating, cutoff, seed), load_dataset(world)
    folds = dataset_splits(dataset, grid.split, seed=seed)
    judgments = TestSet.parse(truth_of(world))
    judged, *_ = dataset_splits(dataset, grid.split, seed=seed, judgments=judgments)
    listed = list(_listed(grid, dataset, min_rating, cutoff))
    checks = [
        *check_systems(listed, folds[0].test, min_rating=min_rating, cutoff=cutoff),
        *check_judgments(listed[0].table, folds[0].test),
        *check_skips(sessions(_N_SESSIONS, stream(seed, "checks", "sessions"))),
        *check_spreadsheet(spreadsheet()),
        *_of_variables(dataset, folds, min_rating, seed),
        *set_up_checks(),
        *optimum_identities(folds[0], judged, min_rating=min_rating, seed=seed),
        *check_which(),
    ]
    return checks, {}


def _of_variables(
    dataset: Dataset, folds: list[Split], min_rating: float, seed: int
) -> list[Check]:
    ratings, first = dataset.ratings, folds[0]
    sides = [(pairs_of(fold.train), pairs_of(fold.test)) for fold in folds]
    scores = [scores_beside_other_tests(system, first, seed=seed) for system in _TRAINED]
    assert dataset.truth is not None  # a world knows its truth
    share = dataset.truth.share_liking(min_rating)
    return [
        *check_liking(dataset.truth, ratings, share, min_rating=min_rating),
        *check_rated(pairs_of(ratings), ratings.value),
        *check_partition(pairs_of(ratings), sides),
        *check_shares(scores[0][0][0].astype(np.float64), first.train, min_rating=min_rating),
        *check_given(scores),
    ]


# -- what hangs on data ----------------------------------------------------------------------------


def _on_data(grid: Grid, min_rating: float, cutoff: int) -> Grid:
    """Ask for the lists of all systems of a grid."""
    return _full_lists(grid.dataset, grid.systems, grid.split, grid.seed, min_rating, cutoff)


def _checked(grid: Grid, min_rating: float, cutoff: int) -> list[Any]:
    """List what is checked: the cells that ranked the lists, and the metrics."""
    return [_on_data(grid, min_rating, cutoff), *measured_metrics(cutoff)]


@maker(CHAPTER, Checks, revision=2, uses=_checked)
def checks(
    dataset: Dataset, *, min_rating: float, cutoff: int, grid: Grid
) -> tuple[list[Check], dict[str, float]]:
    """Make the checks that hang on data.

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
        On the first fold, where nothing else is said.
    statistics : dict
        None so far.
    """
    folds, unbiased = dataset_splits(dataset, grid.split, seed=grid.seed), []
    if dataset.unbiased is not None or dataset.truth is not None:
        judgments = TestSet.parse(truth_of(grid.dataset))
        unbiased = dataset_splits(dataset, grid.split, seed=grid.seed, judgments=judgments)
    listed = list(_listed(_on_data(grid, min_rating, cutoff), dataset, min_rating, cutoff))
    checks = [
        *check_lists(listed, folds[0].test, min_rating=min_rating, cutoff=cutoff),
        *paper_checks(dataset, split=grid.split, seed=grid.seed),
        *optimum_checks(folds, unbiased, min_rating=min_rating, seed=grid.seed),
    ]
    return checks, {}
