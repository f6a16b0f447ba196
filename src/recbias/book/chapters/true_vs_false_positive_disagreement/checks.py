"""What chapter 5 checks on data: definitions, identities and settings, all in one result."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import numpy as np

from recbias._system.streams import stream
from recbias.book.chapters.true_vs_false_positive_disagreement.listed import (
    Listed,
    measured_metrics,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.metric_checks import (
    check_skips,
    check_spreadsheet,
    check_systems,
    sessions,
    spreadsheet,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.optimum_checks import optimum_checks
from recbias.book.chapters.true_vs_false_positive_disagreement.paper_setup import paper_checks
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
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
from recbias.experiment.makers import maker
from recbias.experiment.reduction import Reader
from recbias.protocol.splits import Split
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.recommenders import System

_TRAINED = (System("Popularity", "Popularity"), System("Average rating", "AverageRating"))
"""Systems that are trained apart."""

_N_SESSIONS = 500


def _full_lists(grid: Grid, min_rating: float, cutoff: int) -> Grid:
    """Ask for the lists of all systems, with one training seed."""
    return Grid(
        grid.dataset,
        tuple(dataclasses.replace(system, n_seeds=1) for system in grid.systems),
        {"full": f"AI-AN-AR rel>={exact(min_rating)} users=tested"},
        (f"P@{cutoff}", f"ARP@{cutoff}"),
        split=grid.split,
        seed=grid.seed,
    )


def _checked(grid: Grid, min_rating: float, cutoff: int) -> list[Any]:
    """List what is checked: the cells that ranked the lists, and the metrics."""
    return [_full_lists(grid, min_rating, cutoff), *measured_metrics(cutoff)]


@maker(CHAPTER, Checks, uses=_checked)
def checks(
    dataset: Dataset, *, min_rating: float, cutoff: int, grid: Grid
) -> tuple[list[Check], dict[str, float]]:
    """Make all checks of the chapter.

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
    splits = dataset_splits(dataset, grid.split, seed=grid.seed)
    checks = [
        *_of_metrics(dataset, splits[0], grid, min_rating, cutoff),
        *_of_variables(dataset, splits, grid, min_rating),
        *paper_checks(dataset, split=grid.split, seed=grid.seed),
        *_of_optima(dataset, splits, grid, min_rating),
        *check_which(),
    ]
    return checks, {}


def _of_metrics(
    dataset: Dataset, split: Split, grid: Grid, min_rating: float, cutoff: int
) -> list[Check]:
    listed = list(_listed(_full_lists(grid, min_rating, cutoff), dataset, min_rating, cutoff))
    return [
        *check_systems(listed, split.test, min_rating=min_rating, cutoff=cutoff),
        *check_judgments(listed[0].table, split.test),
        *check_skips(sessions(_N_SESSIONS, stream(grid.seed, "checks", "sessions"))),
        *check_spreadsheet(spreadsheet()),
    ]


def _listed(grid: Grid, dataset: Dataset, min_rating: float, cutoff: int) -> Iterator[Listed]:
    """Read what systems return on the first fold."""
    for system, cell in takewhile(lambda pair: pair[1].fold == 0, grid_cells(grid, dataset, None)):
        run_cell(cell)
        positions = Reader(cell).positions(grid, "full")
        rule = grid.parsed["full"].rule
        liked = positions.take(positions.value >= min_rating)
        lists = positions.lists("AI", cutoff)
        yield Listed(system, positions.table(rule), lists, liked.table(rule))


def _of_optima(dataset: Dataset, splits: list[Split], grid: Grid, min_rating: float) -> list[Check]:
    unbiased: list[Split] = []
    if dataset.unbiased is not None:
        judgments = TestSet("unbiased")
        unbiased = dataset_splits(dataset, grid.split, seed=grid.seed, judgments=judgments)
    return optimum_checks(splits, unbiased, min_rating=min_rating, seed=grid.seed)


def _of_variables(
    dataset: Dataset, splits: list[Split], grid: Grid, min_rating: float
) -> list[Check]:
    ratings, first = dataset.ratings, splits[0]
    folds = [(pairs_of(fold.train), pairs_of(fold.test)) for fold in splits]
    scores = [scores_beside_other_tests(system, first, seed=grid.seed) for system in _TRAINED]
    world = load_dataset("synthetic")
    assert world.truth is not None  # a world knows its truth
    share = world.truth.share_liking(min_rating)
    return [
        *check_liking(world.truth, world.ratings, share, min_rating=min_rating),
        *check_rated(pairs_of(ratings), ratings.value),
        *check_partition(pairs_of(ratings), folds),
        *check_shares(scores[0][0][0].astype(np.float64), first.train, min_rating=min_rating),
        *check_given(scores),
    ]
