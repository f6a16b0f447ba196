"""How chapter 2 checks on data what BCC17 Section 4.2 says of all systems, or of none.

Of total precision (`total_precision`), of rho (`relevance_ratio`), and of thinner tests
(`thin_tests`). Here they get what they judge: tables of the experiment, and models trained apart.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.book.chapters.design_alternatives.ranking_by_sorting import train_as_experiment
from recbias.book.chapters.sparsity_bias.relevance_ratio import (
    check_beside,
    check_halves,
    check_reached,
    check_rho_moves,
    check_true_values,
    halved_rho,
    moved_rho,
    reached_rho,
)
from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.book.chapters.sparsity_bias.thin_tests import (
    best_items,
    check_models,
    check_moved_by_training,
    check_silent_users,
    check_training,
    check_without_runs,
)
from recbias.book.chapters.sparsity_bias.total_precision import (
    Returned,
    check_shortfall,
    check_total_precision,
)
from recbias.claims.checks import Check, Checks
from recbias.data.datasets import Dataset, load_dataset, top_rating
from recbias.experiment.cells import grid_cells, run_cell
from recbias.experiment.grid import Grid
from recbias.experiment.makers import maker
from recbias.experiment.reduction import Reader
from recbias.experiment.run import run
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.protocol import POLICIES, Protocol
from recbias.protocol.splits import Split
from recbias.protocol.targets import popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows, reduced_split
from recbias.ranking.tables import RankTable
from recbias.recommenders import System

TRAINED_SYSTEMS = ("Random", "Popularity", "kNN (ranking)", "Item cosine (implicit)")
"""Systems that are trained apart: by chance, for all, and two that leave many pairs unscored."""

MOST_USERS = 200
"""So many users' scores are compared; of more, a sample."""

_THINNINGS = (*range(0, 100, 10), 99)
_THIN = 90
"""Percent of the test ratings that are gone, ever more, and where hardly any are left."""


def policies_grid(grid: Grid, min_rating: float) -> Grid:
    """Ask for the ranks of all systems by each policy for what they cannot score."""
    rules = {"AR": "TI-AN-AR", "1R": "TI-AN-1R"}
    return Grid(
        grid.dataset,
        tuple(dataclasses.replace(system, n_seeds=1) for system in grid.systems),
        {
            f"{name} {policy}": str(Protocol.parse(f"{rule} rel>={min_rating} unscored={policy}"))
            for name, rule in rules.items()
            for policy in POLICIES
        },
        ("rho",),
        split=grid.split,
        seed=grid.seed,
    )


def _thin_grid(grid: Grid, min_rating: float, cutoff: int) -> Grid:
    """Ask for Popularity where hardly a test rating is left."""
    protocols = {"AR": f"TI-AN-AR rel>={min_rating}", "1R": f"TI-AN-1R rel>={min_rating}"}
    return Grid(
        grid.dataset,
        (System("Popularity", "Popularity"),),
        protocols,
        {"AR": (f"P@{cutoff}",), "1R": ("RR",)},
        split=grid.split,
        seed=grid.seed,
        tests=dict.fromkeys(protocols, str(TestSet(removed=_THIN))),
    )


def _checked(grids: Sequence[Grid], min_rating: float, cutoff: int) -> list[Grid]:
    """List the grids whose cells are checked."""
    first = grids[0]
    return [*grids, policies_grid(first, min_rating), _thin_grid(first, min_rating, cutoff)]


@maker(CHAPTER, Checks, uses=_checked)
def checks(
    dataset: Dataset,
    *,
    seed: int,
    split: str,
    min_rating: float,
    size: int,
    cutoff: int,
    grids: Sequence[Grid],
) -> tuple[list[Check], dict[str, float]]:
    """Check what the chapter says of all systems.

    Parameters
    ----------
    dataset
        Loaded dataset.
    seed, split
        Those of the chapter's grids.
    min_rating
        Smallest rating that is relevant.
    size
        Size of a 1R target set.
    cutoff
        Length of the lists.
    grids
        Grids that were run here; the first is that of the chapter's systems.

    Returns
    -------
    checks : list of Check
        On the first fold, where nothing else is said.
    statistics : dict
        ``"unscored targets of SYSTEM"`` and ``"unscored likes of SYSTEM"``: shares of target items,
        and of relevant test ratings, for which a system has no score.
    """
    splits = dataset_splits(dataset, split, seed=seed)
    first = splits[0]
    users = _chosen_users(first.train.n_users, seed)
    systems = _trained(grids[0])
    models = {system.name: train_as_experiment(system, first, seed=seed) for system in systems}
    full = {name: model.score(users) for name, model in models.items()}
    returned = list(_returned(policies_grid(grids[0], min_rating), dataset))
    thinned = [_thinned(first, removed, seed) for removed in (30, 60, _THIN)]
    half = dataclasses.replace(first, train=first.train.take(_coins(len(first.train), seed)))
    again, halved = (
        {
            system.name: train_as_experiment(system, part, seed=seed).score(users)
            for system in chosen
        }
        for part, chosen in (
            (thinned[-1], systems),
            (half, [system for system in systems if system.algorithm != "Random"]),
        )
    )
    learning = {name: full[name] for name in halved}
    scored = {name: _has_score(model, first) for name, model in models.items()}
    checks = [
        *check_total_precision(returned, first, min_rating=min_rating, size=size),
        *check_shortfall(returned, scored, first, min_rating=min_rating),
        *check_beside(grids),
        *check_rho_moves(moved_rho(first, min_rating=min_rating, seed=seed)),
        *check_reached(reached_rho(first, min_rating=min_rating, seed=seed)),
        *check_true_values(true_values(cutoff)),
        *check_training(first.train, [thin_split.train for thin_split in thinned]),
        *check_moved_by_training(learning, halved, users, first.train, cutoff=cutoff),
        *check_models(full, again, users, first.train, cutoff=cutoff),
        *check_halves(halved_rho(splits, min_rating=min_rating, seed=seed)),
        *_without_tests(
            _thin_grid(grids[0], min_rating, cutoff), dataset, splits, min_rating, cutoff
        ),
    ]
    return checks, _unscored(returned, min_rating)


def _chosen_users(n_users: int, seed: int) -> npt.NDArray[np.int64]:
    chosen = stream(seed, "checks", "users").permutation(n_users)[:MOST_USERS]
    return np.sort(chosen).astype(np.int64)


def _coins(number: int, seed: int) -> npt.NDArray[np.bool_]:
    coins: npt.NDArray[np.bool_] = stream(seed, "checks", "training").random(number) < 0.5
    return coins


def _trained(grid: Grid) -> list[System]:
    return [system for system in grid.systems if system.name in TRAINED_SYSTEMS]


def _thinned(split: Split, removed: int, seed: int) -> Split:
    groups = popularity_groups(split.train, 1)
    return reduced_split(split, TestSet(removed=removed), groups, seed=seed)


def _returned(grid: Grid, dataset: Dataset) -> Iterator[Returned]:
    """Rank the first fold by every policy; what has to be trained for it stays in the cells."""
    for system, cell in takewhile(
        lambda named_cell: named_cell[1].fold == 0, grid_cells(grid, dataset, None)
    ):
        run_cell(cell)
        reader = Reader(cell)
        for policy in POLICIES:
            tables = (reader.table(grid, f"{rule} {policy}") for rule in ("AR", "1R"))
            yield Returned(system, policy, *tables)


def _has_score(model: Any, split: Split) -> npt.NDArray[np.bool_]:
    """Tell for each test rating whether a model has a score for it, user by user."""
    scored = np.zeros(len(split.test), dtype=bool)
    for first in range(0, split.test.n_users, MOST_USERS):
        users = np.arange(first, min(first + MOST_USERS, split.test.n_users))
        rows = slice(split.test.indptr[users[0]], split.test.indptr[users[-1] + 1])
        scores = model.score(users)
        scored[rows] = ~np.isnan(scores[split.test.user[rows] - first, split.test.item[rows]])
    return scored


def _unscored(returned: Sequence[Returned], min_rating: float) -> dict[str, float]:
    shares = {}
    for ranks in (ranks for ranks in returned if ranks.policy == "none"):
        table = ranks.ar
        liked = table.rank[table.value >= min_rating]
        shares[f"unscored targets of {ranks.system}"] = float(
            1 - table.n_scored.sum() / table.n_targets.sum()
        )
        shares[f"unscored likes of {ranks.system}"] = float(np.mean(liked == 0))
    return shares


def true_values(
    cutoff: int, *, dataset: str = "synthetic", seed: int = 1
) -> dict[str, tuple[float, float]]:
    """Measure the lists of three systems by what was observed of a world, and by its truth."""
    loaded, least = load_dataset(dataset), top_rating(dataset)
    observed, truth = (
        dataset_splits(loaded, "ratio 0.2", seed=seed, judgments=TestSet(part))[0]
        for part in ("observed", "truth")
    )
    users = np.arange(observed.train.n_users)
    systems = (
        System("Random", "Random"),
        System("Popularity", "Popularity"),
        System("kNN", "UserKNN", {"n_neighbours": 100, "normalised": False}),
    )
    precisions = {}
    for system in systems:
        scores = train_as_experiment(system, observed, seed=seed).score(users)
        lists = best_items(scores, users, observed.train, cutoff)
        by_observed, by_truth = (_hits(lists, split, least) for split in (observed, truth))
        precisions[system.name] = by_observed / lists.size, by_truth / lists.size
    return precisions


def _hits(lists: npt.NDArray[np.int64], split: Split, least: float) -> int:
    liked = np.zeros((len(lists), split.test.n_items + 1), dtype=bool)
    rows = split.test.value >= least
    liked[split.test.user[rows], split.test.item[rows]] = True
    # The last column stands for -1, the end of a list.
    return int(np.take_along_axis(liked, lists, axis=1).sum())


def _without_tests(
    grid: Grid, dataset: Dataset, splits: Sequence[Split], min_rating: float, cutoff: int
) -> list[Check]:
    """Hand over what is measured where hardly a test rating is left."""
    values = run(grid, workers=1).values.set_index("label")["n_users"]
    first = splits[0]
    # By fold: a value of 1R is of the users with a run in any.
    left = [_relevant_users(split, _THIN, grid.seed, min_rating) for split in splits]
    shares = [
        1 - _relevant_users(first, removed, grid.seed, min_rating).mean()
        for removed in _THINNINGS
        if len(first.test) * (100 - removed) >= 100  # one rating has to be left
    ]
    (_, cell), *_ = grid_cells(grid, dataset, None)
    reader = Reader(cell)
    ar, runs = (reader.table(grid, label) for label in ("AR", "1R"))
    nothing = dataclasses.replace(
        runs,
        **{
            field.name: getattr(runs, field.name)[:0]
            for field in dataclasses.fields(RankTable)
            if isinstance(getattr(runs, field.name), np.ndarray)
        },
    )
    metrics = [parse_metric(text) for text in (f"P@{cutoff}", f"nDCG@{cutoff}", "RR", "AP")]
    empty = measure(nothing, metrics, min_rating=min_rating)
    undefined = aggregate(nothing, empty, min_rating=min_rating, population="runs")
    n_users = int(values["1R"]), int(np.any(left, axis=0).sum())
    return [
        *check_without_runs(shares, dict(zip(map(str, metrics), undefined, strict=True)), n_users),
        *check_silent_users(
            ar, runs, left[0], int(values["AR"]), min_rating=min_rating, cutoff=cutoff
        ),
    ]


def _relevant_users(
    split: Split, removed: int, seed: int, min_rating: float
) -> npt.NDArray[np.bool_]:
    test = split.test
    rows = kept_rows(TestSet(removed=removed), len(test), seed=seed, fold=split.fold)
    has_relevant = np.zeros(test.n_users, dtype=bool)
    has_relevant[test.user[rows & (test.value >= min_rating)]] = True
    return has_relevant
