"""How P1R, head removal and nDCG with ratings as gains are checked: BCC17 Sec. 6.1, 6.3.

Of Popularity on the folds of a grid. What is judged is taken as an argument, and compared with
what follows from counts and sorting, here, by the definitions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias.percentiles import percentile_ranges
from recbias.book.chapters.overcoming_popularity_bias.setup import uniform_protocols
from recbias.claims.checks import Check
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.reduction import read_cells
from recbias.experiment.run import run
from recbias.metrics import measure, parse_metric
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, reduced_split
from recbias.ranking.tables import RankTable

MOST_USERS = 300
"""So many users' runs are ranked again by sorting; of more, a sample."""

_LABELS = ("AR", "1R", "P1R", "head")

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankedFold:
    """A fold, with what Popularity makes of it.

    Attributes
    ----------
    split
        The fold.
    labels : ndarray of int, shape (n_items,)
        Percentile of each item, 0 being the most popular.
    n_groups
        How many percentiles there are.
    tables
        Ranks by label of the chapter: ``AR``, ``1R``, ``P1R`` and ``head``; none where only the
        fold is looked at.
    """

    split: Split
    labels: npt.NDArray[np.integer[Any]]
    n_groups: int
    tables: Mapping[str, RankTable]


def checked_grids(grid: Grid, uniform: str) -> tuple[Grid, Grid]:
    """Ask for Popularity on the folds of a grid, and under U1R on a uniform split."""
    popularity = grid.with_systems(["Popularity"])
    folds = replace(
        popularity,
        protocols={label: str(grid.parsed[label]) for label in _LABELS},
        metrics={label: grid.by_label[label][:1] for label in _LABELS},
        tests={label: str(grid.test(label)) for label in _LABELS},
        replicates=(),
    )
    drawn = replace(
        popularity,
        protocols={"U1R": uniform_protocols(grid.parsed["1R"].min_rating)["U1R"]},
        metrics={"U1R": grid.by_label["1R"][:1]},
        split=uniform,
        tests={},
        replicates=(),
    )
    return folds, drawn


def percentile_identities(
    dataset: Dataset, grid: Grid, uniform: Split, *, min_rating: float, cutoff: int, size: int
) -> list[Check]:
    """Check by definition what the package makes of percentiles, the head, and gains."""
    folds_grid, uniform_grid = checked_grids(grid, str(uniform.rule))
    results = run(folds_grid, workers=1)
    tables = {
        reader.cell.fold: {label: reader.table(folds_grid, label) for label in _LABELS}
        for _, reader in read_cells(folds_grid, dataset)
    }
    folds = [replace(fold, tables=tables[fold.split.fold]) for fold in _folds(dataset, grid)]
    value = results["Popularity", "P1R", str(results.metric("P1R", "P"))].value
    ((_, reader),) = read_cells(uniform_grid, dataset)
    runs = reader.table(uniform_grid, "U1R")
    first = folds[0]
    metric = parse_metric(f"nDCG(linear)@{cutoff}")
    below = max(min_rating - 1, 0.0)  # a rating below 0 is no gain
    gains = measure(first.tables["AR"], [metric], min_rating=below)[0]
    return [
        *check_groups(folds),
        *check_runs(folds, min_rating=min_rating, seed=grid.seed),
        *check_macro(folds, value, cutoff=cutoff, size=size),
        *check_head(first, _without_head(first.split, grid.seed)),
        *check_used(folds, uniform, runs, len(dataset.ratings), min_rating=min_rating),
        *check_gains(first.tables["AR"], gains, min_rating=below, cutoff=cutoff),
    ]


def percentile_checks(
    dataset: Dataset, grid: Grid, *, min_rating: float, cutoff: int
) -> tuple[list[Check], dict[str, float]]:
    """Measure on data how wide percentiles are, and what a test without the head leaves out."""
    folds = _folds(dataset, grid)
    splits, n_groups = [fold.split for fold in folds], folds[0].n_groups
    heads = [_without_head(split, grid.seed) for split in splits]
    checks = [
        *check_ranges(percentile_ranges(splits, min_rating, n_groups)["range"]),
        *check_unpopular(folds, cutoff=cutoff),
        *check_left_out(splits, heads, min_rating=min_rating),
    ]
    largest = max(float(np.bincount(fold.labels).max()) for fold in folds)
    return checks, {"percentile items": largest}


def n_percentiles(grid: Grid) -> int:
    """Tell how many percentiles P1R has."""
    return grid.parsed["P1R"].rule.n_groups or 1


def _folds(dataset: Dataset, grid: Grid) -> list[RankedFold]:
    n_groups = n_percentiles(grid)
    return [
        RankedFold(split, popularity_groups(split.train, n_groups).labels, n_groups, {})
        for split in dataset_splits(dataset, grid.split, seed=grid.seed)
    ]


def _without_head(split: Split, seed: int) -> Split:
    return reduced_split(split, TestSet(head=10), popularity_groups(split.train, 10), seed=seed)


def check_groups(folds: Sequence[RankedFold]) -> list[Check]:
    """Check that percentiles are of equal number.

    And that popularity falls from each to the next.
    """
    wrong = 0
    for fold in folds:
        counts = fold.split.train.item_counts()
        sizes = [int((fold.labels == group).sum()) for group in range(fold.n_groups)]
        wrong += sum(abs(n * fold.n_groups - len(counts)) >= fold.n_groups for n in sizes)
        most = -1
        for group in reversed(range(fold.n_groups)):
            group_counts = counts[fold.labels == group]
            wrong += int((group_counts < most).sum())
            most = max(most, int(group_counts.max(initial=-1)))
    what = "items in another percentile than their training ratings say, and uneven percentiles"
    return [Check("BCC17-D-P1R", "groups", what, sum(len(f.labels) for f in folds), float(wrong))]


def check_runs(folds: Sequence[RankedFold], *, min_rating: float, seed: int) -> list[Check]:
    """Check by sorting which items the runs of P1R rank, and where their relevant item stands."""
    fold = folds[0]
    split, table = fold.split, fold.tables["P1R"]
    counts, wrong, n_runs = split.train.item_counts(), 0, 0
    users = np.unique(split.test.user[relevant(split.test.value, min_rating)])
    if len(users) > MOST_USERS:
        rng = stream(seed, "checks", "percentiles")
        users = np.sort(rng.choice(users, MOST_USERS, replace=False))
    tested = set(split.test.item.tolist())
    for user in users.tolist():
        test_rows = slice(split.test.indptr[user], split.test.indptr[user + 1])
        values = zip(
            split.test.item[test_rows].tolist(), split.test.value[test_rows].tolist(), strict=True
        )
        liked = {item for item, value in values if value >= min_rating}
        trained = split.train.item[split.train.indptr[user] : split.train.indptr[user + 1]]
        pool = np.array(sorted(tested - set(trained.tolist()) - liked), dtype=np.int64)
        rows = np.flatnonzero(table.user == user)
        wrong += len(liked ^ set(table.item[rows].tolist()))
        for row in rows:
            item = table.item[row]
            others = counts[pool[fold.labels[pool] == fold.labels[item]]]
            above, level = (others > counts[item]).sum(), (others == counts[item]).sum()
            right = above < table.rank[row] <= above + level + 1
            if not counts[item]:
                right = table.rank[row] == 0  # what nobody rated in training has no place
            wrong += not (right and table.n_targets[row] == len(others) + 1)
        n_runs += len(rows)
    # As printed, with |I| / m rounded up: percentiles of a number of items that 10 does not divide.
    most = -(-len(counts) // fold.n_groups)
    beyond = max(
        int(ranked_fold.tables["P1R"].n_targets.max(initial=0)) - most for ranked_fold in folds
    )
    what = "runs with other items than those of the percentile, or another rank"
    return [
        Check("BCC17-D-P1R", "inside", what, n_runs, float(wrong)),
        Check(
            "BCC17-C-P1RLIM",
            "beyond",
            "items of a target set beyond |I| / m, rounded up",
            sum(len(ranked_fold.tables["P1R"].user) for ranked_fold in folds),
            float(max(beyond, 0)),
        ),
    ]


def check_macro(
    folds: Sequence[RankedFold], value: float, *, cutoff: int, size: int
) -> list[Check]:
    """Check that P1R is the plain mean over percentiles of what their runs give."""
    hits: dict[int, list[float]] = defaultdict(list)
    for fold in folds:
        table = fold.tables["P1R"]
        pool = table.n_targets.astype(np.int64) - 1
        drawn = np.minimum(size - 1, pool)
        chance = scipy.stats.hypergeom.cdf(cutoff - 1, pool, table.rank - 1, drawn)
        chance = np.where(pool > 0, chance, 1.0)  # alone it comes first
        for item, hit_chance, rank in zip(
            table.item.tolist(), chance.tolist(), table.rank, strict=True
        ):
            hits[int(fold.labels[item])].append(hit_chance / cutoff if rank > 0 else 0.0)
    means = [sum(scores) / len(scores) for scores in hits.values()]
    off = abs(value - sum(means) / len(means)) if means else math.nan
    # Sums of as many terms, in another order.
    worst = 0.0 if off <= 1e-12 else off
    what = "P1R off the plain mean over percentiles"
    return [Check("BCC17-D-P1R", "macro", what, sum(map(len, hits.values())), worst)]


def check_ranges(ranges: FloatArray) -> list[Check]:
    """Say how far relevant test ratings go within percentiles (Delta_k of BCC17 Sec. 6.1)."""
    what = "range of relevant test ratings within a percentile, over that of all"
    return [
        Check("BCC17-D-P1R", "widest", what, len(ranges), float(ranges.max())),
        Check("BCC17-D-P1R", "median-width", what, len(ranges), float(np.median(ranges))),
    ]


def check_unpopular(folds: Sequence[RankedFold], *, cutoff: int) -> list[Check]:
    """Say what share of the items that Popularity puts first is of the less popular half."""
    by_group = np.zeros(folds[0].n_groups)
    for fold in folds:
        train, tested = fold.split.train, np.unique(fold.split.test.item)
        inside = np.zeros(train.n_items, dtype=bool)
        inside[tested] = True
        rows = inside[train.item]
        shape = (train.n_users, fold.n_groups)
        taken = np.zeros(shape, dtype=np.int64)
        np.add.at(taken, (train.user[rows], fold.labels[train.item[rows]]), 1)
        pool = np.bincount(fold.labels[tested], minlength=fold.n_groups) - taken
        by_group += np.minimum(pool, cutoff).sum(axis=0)
    # Of an odd number of percentiles the middle one is half in either half.
    n_groups = len(by_group)
    unpopular = np.clip(np.arange(n_groups) + 1 - n_groups / 2, 0, 1)
    share = float((by_group * unpopular).sum() / by_group.sum())
    what = "share of Popularity's places within percentiles that the less popular half takes"
    return [Check("BCC17-D-P1R", "unpopular", what, int(by_group.sum()), share)]


def check_head(fold: RankedFold, reduced: Split) -> list[Check]:
    """Check that the most popular tenth leaves the test and the candidates, and not training."""
    split, table = fold.split, fold.tables["head"]
    counts = split.train.item_counts()
    in_order = sorted(range(len(counts)), key=lambda item: (-counts[item], item))
    head = np.zeros(len(counts), dtype=bool)
    head[in_order[: -(-len(counts) // 10)]] = True
    out = int(head[table.item].sum())
    candidates = np.zeros(len(counts), dtype=bool)
    candidates[np.unique(split.test.item)] = True
    candidates &= ~head
    trained = np.bincount(
        split.train.user, candidates[split.train.item].astype(float), minlength=table.n_users
    )
    runs = np.bincount(table.user, minlength=table.n_users)
    most = candidates.sum() - trained[table.user] - runs[table.user] + 1
    out += int((table.n_targets > most).sum())
    gone = np.abs(reduced.train.item_counts() - counts)[head].sum()
    n_head = int(head.sum())
    return [
        Check("BCC17-F8-HEAD", "head-out", "test ratings and targets of the head", n_head, out),
        Check("BCC17-F8-HEAD", "head-trained", "training ratings gone", n_head, float(gone)),
    ]


def check_used(
    folds: Sequence[RankedFold],
    uniform: Split,
    uniform_runs: RankTable,
    n_ratings: int,
    *,
    min_rating: float,
) -> list[Check]:
    """Check that P1R and a uniform test leave nothing of the data aside."""
    n_relevant = _n_relevant([fold.split for fold in folds], min_rating)
    within = n_relevant - sum(len(fold.tables["P1R"].user) for fold in folds)
    apart = n_ratings - len(uniform.train) - len(uniform.test)
    apart += _n_relevant([uniform], min_rating) - len(uniform_runs.user)
    claim = "BCC17-F8-HEAD"
    return [
        Check(claim, "unused-within", "relevant test ratings without a run", n_relevant, within),
        Check(claim, "unused-uniform", "ratings that are not used", n_ratings, float(apart)),
    ]


def check_left_out(
    splits: Sequence[Split], heads: Sequence[Split], *, min_rating: float
) -> list[Check]:
    """Tell what share of the relevant test ratings goes with the head."""
    n_relevant, n_left = (_n_relevant(each, min_rating) for each in (splits, heads))
    share = 1 - n_left / n_relevant if n_relevant else math.nan
    what = "relevant test ratings out with the head"
    return [Check("BCC17-F8-HEAD", "unused", what, n_relevant, share)]


def _n_relevant(splits: Sequence[Split], min_rating: float) -> int:
    return sum(int(relevant(split.test.value, min_rating).sum()) for split in splits)


def check_gains(
    table: RankTable, values: FloatArray, *, min_rating: float, cutoff: int
) -> list[Check]:
    """Check nDCG whose gains are the ratings from the threshold on, user by user."""
    dcg: dict[int, float] = defaultdict(float)
    rated: dict[int, list[float]] = defaultdict(list)
    for user, value, rank in zip(
        table.user.tolist(), table.value.tolist(), table.rank.tolist(), strict=True
    ):
        if value >= min_rating:
            rated[user].append(value)
            if 1 <= rank <= cutoff:
                dcg[user] += value / math.log2(rank + 1)
    worst = 0.0
    for user in range(table.n_users):
        best = sorted(rated[user], reverse=True)[:cutoff]
        ideal = sum(value / math.log2(place + 2) for place, value in enumerate(best))
        off = abs(values[user] - dcg[user] / ideal) if ideal else float(not np.isnan(values[user]))
        worst = max(worst, off if off > 1e-12 else 0.0)
    what = "nDCG with ratings as gains off its definition"
    return [Check("BCC17-F8-NDCG", "gains", what, table.n_users, worst)]
