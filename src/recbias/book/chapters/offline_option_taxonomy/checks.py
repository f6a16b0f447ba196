"""What chapter 7 checks: metrics and averages on random lists; splits and systems on data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    KNN,
    OVERLAPS,
    READINGS,
    SIZES,
    fill_name,
    split_of,
)
from recbias.book.chapters.offline_option_taxonomy.users import each_seed
from recbias.claims.checks import Check, Checks
from recbias.data.datasets import Dataset
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


def _few_ratings(grid: Grid, ratio: int) -> Grid:
    """Ask for nearest neighbours with a small share of the ratings."""
    systems = tuple(system for system in grid.systems if system.name == KNN)
    knn_grid = replace(_bare(grid, {"full": str(grid.parsed["full"])}), systems=systems)
    return next(each_seed(knn_grid, [grid.seed], [split_of(ratio)]))


def _sparsest(fills: Grid) -> Grid:
    """Ask for the system with most items without a score, under every way to fill them in."""
    systems = tuple(system for system in fills.systems if system.name == fill_name(SIZES[0]))
    protocols = {label: str(fills.parsed[label]) for label in FILLS}
    return next(each_seed(replace(_bare(fills, protocols), systems=systems), [fills.seed]))


def _strictest(overlaps: Grid) -> Grid:
    """Ask for the nearest neighbours who have to share most items."""
    name = f"{KNN} k=10 overlap={OVERLAPS[-1]}"
    systems = tuple(system for system in overlaps.systems if system.name == name)
    bare = _bare(overlaps, {"full": str(overlaps.parsed["full"])})
    return next(each_seed(replace(bare, systems=systems), [overlaps.seed]))


def _bare(grid: Grid, protocols: Mapping[str, str]) -> Grid:
    return replace(grid, protocols=protocols, metrics=("P@10",), compare=(), replicates=())


def _asked(grid: Grid, fills: Grid, overlaps: Grid, ratios: Sequence[int]) -> Iterator[Grid]:
    yield _start(grid)
    yield _few_ratings(grid, ratios[0])
    yield _sparsest(fills)
    yield _strictest(overlaps)


def _used(grid: Grid, fills: Grid, overlaps: Grid, ratios: Sequence[int]) -> list[Any]:
    """List the cells that are read, the metrics that are tried, and the revision of splits."""
    metrics = [parse_metric(text) for text in _METRICS]
    return [*_asked(grid, fills, overlaps, ratios), metrics, splits.REVISION]


@maker(CHAPTER, Checks, uses=_used)
def checks(
    dataset: Dataset,
    *,
    min_rating: float,
    ratios: Sequence[int],
    grid: Grid,
    fills: Grid,
    overlaps: Grid,
) -> tuple[list[Check], dict[str, float]]:
    """Make all checks of the chapter.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        Smallest rating that is relevant.
    ratios
        Shares of the ratings that are trained on, in percent: the smallest, and a half.
    grid, fills, overlaps
        The grids of the start, of items without a score, and of users without neighbours, as
        dicts.

    Returns
    -------
    checks : list of Check
    statistics : dict
        As of :func:`recbias.book.chapters.offline_option_taxonomy.data_checks.facts` and others
        there.
    """
    start, few, sparsest, strictest = _asked(grid, fills, overlaps, ratios)
    tables = tables_of(start, dataset)
    (split,) = dataset_splits(dataset, start.split, seed=start.seed)
    (fewest,) = dataset_splits(dataset, few.split, seed=few.seed)
    knn = next(system for system in start.systems if system.name == KNN)
    of_few = tables_of(few, dataset)[KNN, "full"]
    (of_overlap,) = tables_of(strictest, dataset).values()
    filled = tables_of(sparsest, dataset)
    selected = Selection.parse(sparsest.select).of(dataset, seed=sparsest.seed)
    (half,) = dataset_splits(selected, sparsest.split, seed=sparsest.seed)
    owners = dataset.ratings.user_counts() > 0
    trained = {}
    for ratio in ratios:
        (of_ratio,) = dataset_splits(dataset, split_of(ratio), seed=start.seed)
        trained[str(ratio)] = of_ratio.train.user_counts()[owners]
    checks = [
        *check_said(),
        *check_printed([grid, fills, overlaps]),
        *list_checks(start.seed),
        *check_stars(dataset.ratings),
        *check_splits(dataset.ratings, start.seed),
        *check_untrained(of_few, fewest.train),
        *check_overlap_served(of_overlap, split.train, OVERLAPS[-1]),
        *check_neighbours(tables[KNN, "full"], ratings_read(knn.build(), split.train)),
        *check_fills({label: filled[fill_name(SIZES[0]), label] for label in FILLS}, half.train),
        *check_setup(min_rating, grid, fills),
    ]
    statistics = {
        **facts(dataset, min_rating),
        **unscored_facts(tables, trained),
        "training share": len(split.train) / len(dataset.ratings),
        "undefined users": undefined_users(tables[READINGS[0], "full"], min_rating),
    }
    return checks, statistics
