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
    KNN,
    OVERLAPS,
    READINGS,
    SIZES,
    fill_grid,
    fill_name,
    overlap_grid,
    split_of,
    start_grid,
)
from recbias.book.chapters.offline_option_taxonomy.users import each_seed
from recbias.claims.checks import IDENTITIES, Check, Checks
from recbias.data.datasets import Dataset, load_dataset
from recbias.data.selection import Selection
from recbias.experiment.decisions import CHOICES, DECISIONS, Choice
from recbias.experiment.grid import Grid
from recbias.experiment.makers import hashes_of, maker
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


# -- what holds on any data ------------------------------------------------------------------------

WORLD: Mapping[str, Any] = {"world": "synthetic", "min_rating": 4, "ratio": 10, "seed": 1}
"""Where identities are checked."""


def _of_world(given: Mapping[str, Any]) -> tuple[Grid, Grid, Grid]:
    """Ask for what the chapter asks for on data: the start, fills and overlaps."""
    return (
        start_grid(given["world"], given["min_rating"], seed=given["seed"]),
        fill_grid(given["world"], given["min_rating"], seed=given["seed"]),
        overlap_grid(given["world"], given["min_rating"], seed=given["seed"]),
    )


def _in_world(given: Mapping[str, Any]) -> tuple[Grid, Grid, Grid, Grid]:
    """Ask for the ranks that are looked at: of the start, few ratings, fills and overlaps."""
    grid, fills, overlaps = _of_world(given)
    return _start(grid), _few_ratings(grid, given["ratio"]), _sparsest(fills), _strictest(overlaps)


def _used_in_world(parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> list[Any]:
    """Name the cells that are read, the metrics that are tried, and the revision of splits."""
    identities = [parse_metric(text).identity() for text in _METRICS]
    keys = [grid.key_of(hashes_of(parameters["world"])) for grid in _in_world(parameters)]
    return [*keys, identities, splits.REVISION]


@maker(f"{CHAPTER}/{IDENTITIES}", Checks, uses=_used_in_world)
def option_identities(
    *, world: str, min_rating: float, ratio: int, seed: int
) -> tuple[list[Check], dict[str, float]]:
    """Check the chapter's definitions and identities on random lists and in a world.

    Parameters
    ----------
    world
        Name of a registered world.
    min_rating
        Smallest rating that is relevant.
    ratio
        The smallest share of the ratings that is trained on, in percent.
    seed
        Of splits and random lists.

    Returns
    -------
    checks : list of Check
    statistics : dict
        None.
    """
    given = {"world": world, "min_rating": min_rating, "ratio": ratio, "seed": seed}
    start, few, sparsest, strictest = _in_world(given)
    dataset = load_dataset(world)
    (split,) = dataset_splits(dataset, start.split, seed=seed)
    (fewest,) = dataset_splits(dataset, few.split, seed=seed)
    knn = next(system for system in start.systems if system.name == KNN)
    knn_start = replace(start, systems=(knn,))
    (of_start,) = tables_of(knn_start, dataset).values()
    (of_few,) = tables_of(few, dataset).values()
    (of_overlap,) = tables_of(strictest, dataset).values()
    filled = tables_of(sparsest, dataset)
    selected = Selection.parse(sparsest.select).of(dataset, seed=seed)
    (half,) = dataset_splits(selected, sparsest.split, seed=seed)
    checks = [
        *check_said(),
        *check_printed(_of_world(given)),
        *list_checks(seed),
        *check_splits(dataset.ratings, seed),
        *check_untrained(of_few, fewest.train),
        *check_overlap_served(of_overlap, split.train, OVERLAPS[-1]),
        *check_neighbours(of_start, ratings_read(knn.build(), split.train)),
        *check_fills({label: filled[fill_name(SIZES[0]), label] for label in FILLS}, half.train),
        *check_setup(min_rating, world),
    ]
    return checks, {}


# -- what hangs on data ----------------------------------------------------------------------------


def _used(parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> list[Any]:
    """Name the cells that are read, and the revision of splits."""
    return [_start(Grid.from_dict(parameters["grid"])).key_of(hashes), splits.REVISION]


@maker(f"{CHAPTER}/checks", Checks, revision=2, uses=_used, covers=("grid",))
def option_checks(
    dataset: Dataset, *, min_rating: float, ratios: Sequence[int], grid: Mapping[str, Any]
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
    grid
        The grid of the start, as a dict.

    Returns
    -------
    checks : list of Check
    statistics : dict
        As of :func:`recbias.book.chapters.offline_option_taxonomy.data_checks.facts` and others
        there.
    """
    start = _start(Grid.from_dict(grid))
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
    return check_stars(dataset.ratings), statistics
