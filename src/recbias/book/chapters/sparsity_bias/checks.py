"""What chapter 2 checks of BCC17 Section 4.2: identities once, in a world; what hangs on data.

Of total precision (`total_precision`), of rho (`relevance_ratio`), of thinner tests (`thin_tests`)
and of all ranks (`every_rank`). Here they get what they judge: tables of the experiment, and models
trained apart.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.book.chapters.design_alternatives.ranking_by_sorting import train_as_experiment
from recbias.book.chapters.sparsity_bias.every_rank import check_every_rank, every_rank
from recbias.book.chapters.sparsity_bias.relevance_ratio import (
    check_beside,
    check_halves,
    check_reached,
    check_rho_moves,
    check_true_values,
    designed_rho,
    halved_rho,
    moved_rho,
    reached_rho,
)
from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.book.chapters.sparsity_bias.thin_tests import (
    best_items,
    check_models,
    check_moved_by_training,
    check_rises,
    check_silent_users,
    check_training,
    check_without_runs,
)
from recbias.book.chapters.sparsity_bias.total_precision import (
    Returned,
    check_shortfall,
    check_total_precision,
)
from recbias.claims.checks import SEED, WORLD, Check, Checks
from recbias.data.datasets import Dataset, load_dataset, top_rating
from recbias.experiment.grid import Grid
from recbias.experiment.makers import maker
from recbias.experiment.reduction import read_cells
from recbias.experiment.run import run
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.protocol import POLICIES
from recbias.protocol.splits import Split
from recbias.protocol.targets import popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, kept_rows, reduced_split
from recbias.ranking.tables import RankTable
from recbias.recommenders import System, line_up

TRAINED_SYSTEMS = ("Random", "Popularity", "kNN (ranking)", "Item cosine (implicit)")
"""Systems that are trained apart: by chance, for all, and two that leave many pairs unscored."""

_THINNINGS = (*range(0, 100, 10), 99)
_THIN = 90
"""Percent of the test ratings that are gone, ever more, and where hardly any are left."""

_MIN_RATING, _SIZE, _CUTOFF = 5, 100, 10

_N_ITEMS, _SIZES, _CUTOFFS = 300, (100, 200), (5, 10, 50)
"""Where precision over every rank is 1/t: items, sizes of sampled target sets, lengths of lists."""

_TRUE_SYSTEMS = (
    System("Random", "Random"),
    System("Popularity", "Popularity"),
    System("kNN", "UserKNN", {"n_neighbours": 100, "normalised": False}),
)
"""Systems whose lists are judged by what was observed of a world, and by its truth."""


# -- what holds on any data ------------------------------------------------------------------------


def _in_world() -> list[Grid]:
    """Ask for ranks by each policy for what has no score, and where hardly a test is left."""
    rules = {"AR": f"TI-AN-AR rel>={_MIN_RATING}", "1R": f"TI-AN-1R rel>={_MIN_RATING}"}
    policies = {
        f"{name} {policy}": f"{rule} unscored={policy}"
        for name, rule in rules.items()
        for policy in POLICIES
    }
    systems = tuple(
        dataclasses.replace(system, n_seeds=1)
        for system in line_up("bcc17")
        if system.name in TRAINED_SYSTEMS
    )
    metrics = {"AR": (f"P@{_CUTOFF}",), "1R": ("RR",)}
    tests = dict.fromkeys(rules, str(TestSet(removed=_THIN)))
    return [
        Grid(WORLD, systems, policies, ("rho",), seed=SEED),
        Grid(WORLD, systems[1:2], rules, metrics, seed=SEED, tests=tests),
    ]


@maker(
    CHAPTER,
    Checks,
    revision=2,
    parts=("splits", "thinning", "ranking"),
    metrics=[f"P@{n}|t={t}" for t in _SIZES for n in _CUTOFFS],
    systems=_TRUE_SYSTEMS,
    uses={"grids": _in_world},
)
def identities() -> tuple[list[Check], dict[str, float]]:
    """Check what holds on any data, in a world, on its first fold, and on a small table."""
    by_policy, thin = _in_world()
    dataset = load_dataset(WORLD)
    splits = dataset_splits(dataset, by_policy.split, seed=SEED)
    first, train = splits[0], splits[0].train
    users = np.arange(train.n_users)
    returned = list(_returned(by_policy, dataset))
    thinned = [_thinned(first, removed, SEED) for removed in (30, 60, _THIN)]
    coins = stream(SEED, "checks", "training").random(len(train)) < 0.5
    full, again, halved = (
        {
            system.name: train_as_experiment(system, part, seed=SEED).score(users)
            for system in by_policy.systems
        }
        for part in (first, thinned[-1], dataclasses.replace(first, train=train.take(coins)))
    )
    learning = {name: scores for name, scores in full.items() if name != "Random"}
    scored = {
        name: ~np.isnan(scores[first.test.user, first.test.item]) for name, scores in full.items()
    }
    checks = [
        *check_every_rank(every_rank(_N_ITEMS), _SIZES, _CUTOFFS),
        *check_total_precision(returned, first, min_rating=_MIN_RATING, size=_SIZE),
        *check_shortfall(returned, scored, first, min_rating=_MIN_RATING),
        *check_rho_moves(moved_rho(first, min_rating=_MIN_RATING, seed=SEED)),
        *check_reached(reached_rho(first, min_rating=_MIN_RATING, seed=SEED)),
        *check_true_values(true_values(_CUTOFF)),
        *check_training(train, [thin_split.train for thin_split in thinned]),
        *check_moved_by_training(learning, halved, users, train, cutoff=_CUTOFF),
        *check_models(full, again, users, train, cutoff=_CUTOFF),
        *_without_tests(thin, dataset, splits),
    ]
    return checks, {}


# -- what hangs on data ----------------------------------------------------------------------------


@maker(CHAPTER, Checks, revision=2, parts=("splits", "thinning"))
def checks(
    dataset: Dataset, *, seed: int, split: str, min_rating: float, grids: Sequence[Grid]
) -> tuple[list[Check], dict[str, float]]:
    """Check what hangs on data, or on what a page asks for.

    Parameters
    ----------
    dataset
        Loaded dataset.
    seed, split
        Those of the chapter's grids.
    min_rating
        Smallest rating that is relevant.
    grids
        Grids that were run here; the first is that of the chapter's systems.

    Returns
    -------
    checks : list of Check
        On the first fold, where nothing else is said.
    statistics : dict
        None.
    """
    splits = dataset_splits(dataset, split, seed=seed)
    first = splits[0]
    without = [
        1 - _relevant_users(first, removed, seed, min_rating).mean()
        for removed in _THINNINGS
        if len(first.test) * (100 - removed) >= 100  # one rating has to be left
    ]
    checks = [
        *check_beside(grids),
        *check_rho_moves(designed_rho(first, min_rating=min_rating)),
        *check_halves(halved_rho(splits, min_rating=min_rating, seed=seed)),
        *check_rises(without),
    ]
    return checks, {}


def _thinned(split: Split, removed: int, seed: int) -> Split:
    groups = popularity_groups(split.train, 1)
    return reduced_split(split, TestSet(removed=removed), groups, seed=seed)


def _returned(grid: Grid, dataset: Dataset) -> Iterator[Returned]:
    """Rank the first fold by every policy; what has to be trained for it stays in the cells."""
    for system, reader in read_cells(grid, dataset, fold=0):
        for policy in POLICIES:
            tables = (reader.table(grid, f"{rule} {policy}") for rule in ("AR", "1R"))
            yield Returned(system, policy, *tables)


def true_values(cutoff: int) -> dict[str, tuple[float, float]]:
    """Measure the lists of three systems by what was observed of a world, and by its truth."""
    dataset, least = load_dataset(WORLD), top_rating(WORLD)
    observed, truth = (
        dataset_splits(dataset, "ratio 0.2", seed=SEED, judgments=TestSet(part))[0]
        for part in ("observed", "truth")
    )
    users = np.arange(observed.train.n_users)
    precisions = {}
    for system in _TRUE_SYSTEMS:
        scores = train_as_experiment(system, observed, seed=SEED).score(users)
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


def _without_tests(grid: Grid, dataset: Dataset, splits: Sequence[Split]) -> list[Check]:
    """Hand over what is measured where hardly a test rating is left."""
    values = run(grid, workers=1).values.set_index("label")["n_users"]
    # By fold: a value of 1R is of the users with a run in any.
    left = [_relevant_users(split, _THIN, grid.seed, _MIN_RATING) for split in splits]
    ((_, reader),) = read_cells(grid, dataset, fold=0)
    ar, runs = (reader.table(grid, label) for label in ("AR", "1R"))
    nothing = dataclasses.replace(
        runs,
        **{
            field.name: getattr(runs, field.name)[:0]
            for field in dataclasses.fields(RankTable)
            if isinstance(getattr(runs, field.name), np.ndarray)
        },
    )
    metrics = [parse_metric(text) for text in (f"P@{_CUTOFF}", f"nDCG@{_CUTOFF}", "RR", "AP")]
    empty = measure(nothing, metrics, min_rating=_MIN_RATING)
    undefined = aggregate(nothing, empty, min_rating=_MIN_RATING, population="runs")
    n_users = int(values["1R"]), int(np.any(left, axis=0).sum())
    return [
        *check_without_runs(dict(zip(map(str, metrics), undefined, strict=True)), n_users),
        *check_silent_users(
            ar, runs, left[0], int(values["AR"]), min_rating=_MIN_RATING, cutoff=_CUTOFF
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
