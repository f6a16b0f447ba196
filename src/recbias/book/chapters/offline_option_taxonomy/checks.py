"""What chapter 7 checks: metrics on random lists, splits and systems in a world; facts on data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recbias._system.streams import stream
from recbias.book.chapters.offline_option_taxonomy.average_checks import (
    check_geometric,
    check_reduced,
    check_risk,
    check_standardised,
    check_subsamples,
    check_tests,
    check_unserved,
    check_weights,
)
from recbias.book.chapters.offline_option_taxonomy.data_checks import (
    check_fills,
    check_neighbours,
    check_overlap_served,
    check_setup,
    check_splits,
    check_stars,
    check_untrained,
    facts,
    tables_of,
    undefined_users,
    unscored_facts,
)
from recbias.book.chapters.offline_option_taxonomy.list_checks import (
    check_condensed,
    check_coverage,
    check_gains,
    check_order_metrics,
    check_overlap,
    check_persistence,
    check_short_lists,
    check_top_heavy,
)
from recbias.book.chapters.offline_option_taxonomy.plain import random_sessions
from recbias.book.chapters.offline_option_taxonomy.setup import (
    CHAPTER,
    FILLS,
    HALF,
    KNN,
    OVERLAPS,
    READINGS,
    SIZES,
    fill_name,
    split_of,
    systems_of,
)
from recbias.book.chapters.offline_option_taxonomy.users import each_seed
from recbias.claims.checks import SEED, WORLD, Check, Checks
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.ratings import exact
from recbias.data.selection import Selection
from recbias.experiment.decisions import CHOICES, DECISIONS, Choice
from recbias.experiment.grid import Grid
from recbias.experiment.makers import maker
from recbias.experiment.options import Options, not_repeated
from recbias.metrics import parse_metric
from recbias.protocol import splits
from recbias.protocol.testset import dataset_splits
from recbias.recommenders.base import ratings_read

N_SESSIONS = 400

_MIN_RATING, _RATIO = 4, 10
"""Smallest relevant rating in a world, and the smallest share of it that is trained on."""

_METRICS = ("P@5", "nDCG@5", "nDCG(exp)@5", "nDCG(err)@5", "RBP(0.8)", "RBPresidual(0.8)",
            "RBO(0.8)", "tau", "Served@10")  # fmt: skip


def list_checks(seed: int) -> list[Check]:
    """Try what is said of metrics, averages and tests on random lists."""
    rng = stream(seed, "checks", "lists")
    sessions = list(random_sessions(N_SESSIONS, rng))
    return [
        *check_gains(sessions),
        *check_coverage(sessions),
        *check_short_lists(sessions),
        *check_condensed(sessions),
        *check_top_heavy(sessions),
        *check_order_metrics(),
        *check_overlap(sessions),
        *check_persistence(),
        *check_reduced(sessions),
        *check_unserved(sessions),
        *check_weights(sessions),
        *check_geometric(sessions),
        *check_risk(),
        *check_standardised(),
        *check_tests(np.random.default_rng(seed)),
        *check_subsamples(seed=seed),
    ]


def check_said(choices: Sequence[Choice] = CHOICES) -> list[Check]:
    """See that every option of every decision can be said (CCM20 Sec. 3)."""
    checks = []
    for decision in DECISIONS:
        texts = [str(choice.options) for choice in choices if choice.decision == decision]
        lost = sum(str(Options.parse(text)) != text for text in texts)
        failed = lost + len(texts) - len(set(texts)) + (not texts)
        checks.append(
            Check(f"CCM20-D-{decision}", "options", "options that cannot be said, or read back as "
                  "others", len(texts), failed)
        )  # fmt: skip
    return checks


def check_printed(
    grids: Sequence[Grid],
    printed: Callable[[Grid], Mapping[tuple[str, str], str]] | None = None,
) -> list[Check]:
    """See that values are printed with options that read back (CCM20 Sec. 3.11)."""
    n = sum(len(metrics) for grid in grids for metrics in grid.by_label.values())
    failed = sum(not_repeated(grid, printed(grid) if printed else None) for grid in grids)
    return [
        Check("CCM20-C-REPORT", "repeats", "values whose printed options do not read back as the "
              "run that made them", n, failed),
    ]  # fmt: skip


def _start(grid: Grid) -> Grid:
    """Ask for the ranks of the start."""
    return next(each_seed(_bare(grid, {"full": str(grid.parsed["full"])}), [grid.seed]))


def _bare(grid: Grid, protocols: Mapping[str, str]) -> Grid:
    return replace(grid, protocols=protocols, metrics=("P@10",), compare=(), replicates=())


# -- what holds on any data ------------------------------------------------------------------------


def _in_world() -> list[Grid]:
    """Ask for the ranks that are looked at.

    Of the start, of few ratings, of neighbours who have to share most items, and of the system with
    most items without a score, under every way to fill them in.
    """

    def asked(system: str, share: int, protocols: Mapping[str, str], select: str = "") -> Grid:
        return Grid(
            WORLD,
            systems_of((system,), _MIN_RATING, WORLD, 1),
            protocols,
            ("P@10",),
            split=split_of(share),
            seed=SEED,
            select=select,
        )

    ranked = f"AI-AN-AR rel>={exact(_MIN_RATING)}"
    full = {"full": f"{ranked} users=trained"}
    filled = {label: f"{ranked} condensed{policy}" for label, policy in FILLS.items()}
    return [
        asked(KNN, HALF, full),
        asked(KNN, _RATIO, full),
        asked(f"{KNN} k=10 overlap={OVERLAPS[-1]}", HALF, full),
        asked(fill_name(SIZES[0]), HALF, filled, "keep=50%"),
    ]


def _used_in_world() -> list[Any]:
    """List the cells that are read, the metrics that are tried, and the revision of splits."""
    return [*_in_world(), [parse_metric(text) for text in _METRICS], splits.REVISION]


@maker(CHAPTER, Checks, uses=_used_in_world)
def identities() -> tuple[list[Check], dict[str, float]]:
    """Check the chapter's definitions and identities on random lists and in a world."""
    start, few, strictest, sparsest = _in_world()
    dataset = load_dataset(WORLD)
    (split,) = dataset_splits(dataset, start.split, seed=SEED)
    (fewest,) = dataset_splits(dataset, few.split, seed=SEED)
    (knn,) = start.systems
    (of_start,) = tables_of(start, dataset).values()
    (of_few,) = tables_of(few, dataset).values()
    (of_overlap,) = tables_of(strictest, dataset).values()
    filled = tables_of(sparsest, dataset)
    selected = Selection.parse(sparsest.select).of(dataset, seed=SEED)
    (half,) = dataset_splits(selected, sparsest.split, seed=SEED)
    checks = [
        *check_said(),
        *list_checks(SEED),
        *check_splits(dataset.ratings, SEED),
        *check_untrained(of_few, fewest.train),
        *check_overlap_served(of_overlap, split.train, OVERLAPS[-1]),
        *check_neighbours(of_start, ratings_read(knn.build(), split.train)),
        *check_fills({label: filled[fill_name(SIZES[0]), label] for label in FILLS}, half.train),
    ]
    return checks, {}


# -- what hangs on data ----------------------------------------------------------------------------


def _used(grid: Grid, fills: Grid, overlaps: Grid) -> list[Any]:
    """List the cells that are read, what is asked of the others, and the revision of splits."""
    return [_start(grid), grid, fills, overlaps, splits.REVISION]


@maker(CHAPTER, Checks, revision=2, uses=_used)
def checks(
    dataset: Dataset,
    *,
    min_rating: float,
    ratios: Sequence[int],
    grid: Grid,
    fills: Grid,
    overlaps: Grid,
) -> tuple[list[Check], dict[str, float]]:
    """Make the checks that hang on data, and count what the chapter says of them.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        Smallest rating that is relevant.
    ratios
        Shares of the ratings that are trained on, in percent: the smallest, and a half.
    grid, fills, overlaps
        The grids of the start, of items without a score, and of users without neighbours.

    Returns
    -------
    checks : list of Check
    statistics : dict
        As of :func:`recbias.book.chapters.offline_option_taxonomy.data_checks.facts` and others
        there.
    """
    start = _start(grid)
    tables = tables_of(start, dataset)
    (split,) = dataset_splits(dataset, start.split, seed=start.seed)
    owners = dataset.ratings.user_counts() > 0
    trained = {}
    for ratio in ratios:
        (of_ratio,) = dataset_splits(dataset, split_of(ratio), seed=start.seed)
        trained[str(ratio)] = of_ratio.train.user_counts()[owners]
    statistics = {
        **facts(dataset, min_rating),
        **unscored_facts(tables, trained),
        "training share": len(split.train) / len(dataset.ratings),
        "undefined users": undefined_users(tables[READINGS[0], "full"], min_rating),
    }
    checks = [
        *check_stars(dataset.ratings),
        *check_printed([grid, fills, overlaps]),
        *check_setup(min_rating, grid, fills),
    ]
    return checks, statistics
