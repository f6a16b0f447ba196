"""Reduction: from the tables of cells to values, in two steps.

*Reduce* the tables of one system on one fold: each artefact is read once, a damaged one is computed
again, and what comes out is small (columns per user, whose sums give means; units, of which medians
are taken; values of the system as a whole). *Combine* the folds. Pairs of systems are compared in
:mod:`recbias.experiment.pairs`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.data.datasets import Dataset
from recbias.data.features import ItemFeatures
from recbias.data.ratings import Ratings
from recbias.errors import DamagedError, StoreError
from recbias.experiment.cells import (
    Artefact,
    Cell,
    artefact_of,
    artefacts_of,
    cell_dataset,
    cell_relevant_counts,
    cell_split,
    grid_cells,
    load_positions,
    load_table,
    load_ties,
    reduce_positions,
    run_cell,
    ties_of,
)
from recbias.experiment.grid import Grid, Outside
from recbias.experiment.store import canonical_json
from recbias.metrics import Metric, influence, list_view, measure, measure_items, measure_resampled
from recbias.metrics.aggregation import contributions, finish, has_trained, units, user_sums
from recbias.protocol.protocol import Protocol
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import SplitRule
from recbias.protocol.targets import TargetRule
from recbias.ranking import Positions, RankTable, Ties
from recbias.recommenders.elsewhere import FromScores
from recbias.stats.resampling import (
    bootstrap_weights,
    crossed_sums,
    draw_weights,
    interval,
    linear_replicates,
    normal_interval,
    weighted_medians,
    weighted_sums,
)

__all__ = [
    "CROSSED",
    "NUMBERS",
    "N_REPLICATES",
    "FoldPart",
    "Reader",
    "Task",
    "by_kind",
    "combine_crossed",
    "combine_folds",
    "contributed",
    "crossed_drawn",
    "fold_tasks",
    "measure_lists",
    "members",
    "metric_identities",
    "n_averaged_groups",
    "read_cells",
    "reduce_fold",
    "resampled_both",
    "resampled_draws",
    "resampled_users",
    "sum_sets",
]

N_REPLICATES = 1000
"""Resamplings of users behind every interval: the end of one then has a s.d. over seeds of
sqrt(.025 * .975 / 1000) / phi(1.96) = .084 standard errors; 500 leave .12."""

NUMBERS = ("value", "low", "high", "se", "fold_sd", "n_users")
"""What is told of every value, as :class:`recbias.experiment.run.Results` describes it."""

CROSSED = ("system", "label", "metric", "low", "high", "se")
"""What is told where items are resampled too."""

FloatArray = npt.NDArray[np.float64]
_Loaded = TypeVar("_Loaded")


class Task(NamedTuple):
    """One system on one fold: what a worker reduces, once it has what it needs from outside."""

    outside: Outside
    metrics: str
    grid: Grid
    cells: tuple[Cell, ...]
    features: ItemFeatures | None = None


class RatedPairs(NamedTuple):
    """Sums over rated pairs, for resampling items too: what each test rating adds to the values.

    ``values`` has a row per metric; ``sizes`` are the users, and under 1R items (else -1), that the
    values are divided by the number of.
    """

    user: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    values: FloatArray
    sizes: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]


class FoldPart(NamedTuple):
    """What the tables of one label, system and fold come down to.

    Means are kept as columns per user, ``finish`` turns their sums into values; medians as the
    units that they are taken of; systems as a whole as values, and how much each user moves them.
    Metrics are those from ranks, from listed items, and of the system, in this order. ``beyond``
    is about scores from elsewhere: of each metric, users and test items that it looks at and that
    have no place, item -1 for an empty place of the list.
    """

    columns: tuple[FloatArray, ...]
    medians: tuple[tuple[FloatArray, FloatArray, npt.NDArray[np.int64]], ...]
    system: FloatArray
    influence: FloatArray
    member: npt.NDArray[np.bool_]
    runs: tuple[FloatArray, npt.NDArray[np.int32]] | None
    sets: dict[str, int]
    pairs: RatedPairs | None
    beyond: dict[str, npt.NDArray[np.int32]]


@lru_cache(maxsize=2)
def resampled_users(n_users: int, seed: int) -> npt.NDArray[np.uint8]:
    """Draw users, the same for all systems, labels and metrics: a row per resampling."""
    return bootstrap_weights(n_users, N_REPLICATES, rng=stream(seed, "bootstrap"))


def resampled_draws(split: str, n_folds: int, seed: int) -> FloatArray | None:
    """Draw how much the draws of a split count: a row per resampling; None if folds are none."""
    if n_folds < 2 or not SplitRule.parse(split).folds_are_draws:
        return None
    return draw_weights(n_folds, N_REPLICATES, rng=stream(seed, "bootstrap", "draws"))


def metric_identities(grid: Grid) -> str:
    """Tell in which state of their code the metrics of a grid are."""
    metrics = {metric for metrics in grid.parsed_metrics.values() for metric in metrics}
    return canonical_json([metric.identity() for metric in sorted(metrics, key=str)])


def fold_tasks(
    grid: Grid, cells: Sequence[tuple[str, Cell]], features: ItemFeatures | None = None
) -> list[Task]:
    """Group the cells by system, in the order of the grid, and fold."""
    single = {system.name: dataclasses.replace(grid, systems=(system,)) for system in grid.systems}
    grouped: dict[tuple[str, int], list[Cell]] = {
        (name, fold): [] for name in single for fold in sorted({cell.fold for _, cell in cells})
    }
    for name, cell in cells:
        grouped[name, cell.fold].append(cell)
    outside, metrics = grid.outside, metric_identities(grid)
    return [
        Task(outside, metrics, single[name], tuple(fold_cells), features)
        for (name, _), fold_cells in grouped.items()
    ]


def needs_all(grid: Grid, label: str) -> bool:
    """Tell whether a label asks for lists or for training items, beside counts of targets."""
    metrics = grid.parsed_metrics[label]
    return grid.parsed[label].rule.with_train or any(metric.kind != "ranks" for metric in metrics)


class Reader:
    """Reads each artefact of a cell once, and computes a damaged one again."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.damaged: list[str] = []
        self._positions: dict[Artefact, Positions] = {}
        self._ties: dict[Artefact, npt.NDArray[np.int32]] = {}
        self._reduced: dict[tuple[Artefact, str, bool], Positions] = {}
        self._tables: dict[tuple[Artefact, str, str, float | None, bool], RankTable] = {}

    def positions(self, grid: Grid, label: str) -> Positions:
        """Return the counts that a label is about."""
        artefacts, test = artefacts_of(grid, label), grid.test(label)
        whole = any(needs_all(grid, other) for other in grid.parsed)
        for artefact in artefacts:
            if artefact not in self._positions:
                positions = self._read(
                    artefact, partial(load_positions, self.cell, artefact, whole=whole)
                )
                if artefact.unscored:
                    positions = self._positions[artefacts[0]].with_below(positions)
                self._positions[artefact] = positions
        ties = ties_of(grid, label)
        name = artefacts[-1], str(test), ties is not None
        if name not in self._reduced:
            positions = self._positions[name[0]]
            if ties is not None:
                if ties not in self._ties:
                    self._ties[ties] = self._read(ties, partial(load_ties, self.cell, ties))
                positions = dataclasses.replace(positions, ties=self._ties[ties])
            split, seed = cell_split(self.cell, name[0]), self.cell.source[0].seed
            self._reduced[name] = reduce_positions(positions, split, test, seed=seed)
        return self._reduced[name]

    def table(self, grid: Grid, label: str) -> RankTable:
        """Return the table of ranks under a label."""
        table = self._table(grid, label)
        if not grid.parsed[label].averaging.asks_for_training:
            return table
        train = cell_split(self.cell, artefact_of(grid, label)).train
        return dataclasses.replace(table, trained=train.user_counts())

    def _table(self, grid: Grid, label: str) -> RankTable:
        protocol, artefact = grid.parsed[label], artefacts_of(grid, label)[-1]
        if artefact.rule:
            return self._read(artefact, lambda: load_table(self.cell, artefact, protocol))
        # Full and condensed lists, and for AR all thresholds, have one table.
        least = protocol.targets.min_rating
        is_tied = ties_of(grid, label) is not None
        name = artefact, str(grid.test(label)), str(protocol.rule), least, is_tied
        if name not in self._tables:
            positions = self.positions(grid, label)
            self._tables[name] = positions.table(protocol.rule, min_rating=least)
        return self._tables[name]

    def _read(self, artefact: Artefact, load: Callable[[], _Loaded]) -> _Loaded:
        try:
            return load()
        except DamagedError:
            path = self.cell.path(artefact)
            path.unlink(missing_ok=True)
            run_cell(self.cell)
            self.damaged.append(str(path))
            return load()


def read_cells(
    grid: Grid, dataset: Dataset, *, fold: int | None = None
) -> Iterator[tuple[str, Reader]]:
    """Rank what is missing of a grid, of one fold or of all, and read system by system."""
    for system, cell in grid_cells(grid, dataset, None):
        if fold in (None, cell.fold):
            run_cell(cell)
            yield system, Reader(cell)


def reduce_fold(task: Task) -> tuple[dict[str, FoldPart], list[str]]:
    """Measure one system on one fold under every label; say which artefacts were damaged."""
    task.outside.load()
    grid = task.grid
    if metric_identities(grid) != task.metrics:
        raise StoreError("the code of a metric changed while an experiment ran; run it again")
    parts: dict[str, FoldPart] = {}
    readers = [Reader(cell) for cell in task.cells]
    for label in grid.parsed:
        artefact = artefact_of(grid, label)
        with_artefact = [reader for reader in readers if artefact in reader.cell.artefacts]
        parts[label] = _reduce_label(grid, label, artefact, with_artefact, task.features)
    return parts, [path for reader in readers for path in reader.damaged]


def _reduce_label(
    grid: Grid,
    label: str,
    artefact: Artefact,
    readers: list[Reader],
    features: ItemFeatures | None,
) -> FoldPart:
    """Measure a label on all training seeds of a fold, and average over them."""
    protocol, averaging = grid.parsed[label], grid.parsed[label].averaging
    of_ranks, of_items, of_system = by_kind(grid.parsed_metrics[label])
    dataset = cell_dataset(readers[0].cell)
    split = cell_split(readers[0].cell, artefact)
    crossed = grid.crossed_metrics(label)
    per_seed: list[tuple[FloatArray, ...]] = []
    beyond: dict[str, npt.NDArray[np.int32]] = {}
    is_elsewhere = grid.systems[0].algorithm == FromScores.__name__
    table = readers[0].table(grid, label)
    member = members(table, protocol) if of_system else np.zeros(table.n_users, dtype=bool)
    for reader in readers:
        if reader is not readers[0]:
            table = reader.table(grid, label)
        measured_by = partial(
            measure,
            metrics=of_ranks,
            min_rating=protocol.min_rating,
            condensed=protocol.condensed,
            rating_max=dataset.ratings.scale.maximum,
            relevant_counts=cell_relevant_counts(reader.cell, artefact, protocol.min_rating),
        )
        values = measured_by(table) if of_ranks else np.empty((0, _n_units(table)))
        if is_elsewhere and of_ranks:
            beyond |= _unplaced_items(table, of_ranks, values, measured_by)
            for metric in of_ranks:
                if metric.name == "Served" and not protocol.condensed:
                    beyond[str(metric)] = _empty_places(
                        metric.cutoff, table.n_scored, table.n_targets
                    )
            if protocol.rule.with_train:  # lists cannot hold these, and scores need not
                training_pairs = np.array([split.train.user, split.train.item])
                beyond |= {
                    name: np.hstack([pairs, training_pairs]) for name, pairs in beyond.items()
                }
        per_rating = np.empty((0, len(table.user)))
        if crossed and table.per == "run":
            per_rating = values[[of_ranks.index(metric) for metric in crossed]]
        elif crossed:
            alone = _each_rating(table, condensed=protocol.condensed)
            per_rating = measure(alone, crossed, min_rating=protocol.min_rating)
        lists = None
        if of_items or of_system:
            positions = reader.positions(grid, label)
            depth = max(metric.cutoff or positions.depth for metric in (*of_items, *of_system))
            lists = positions.lists(protocol.rule.candidates, depth)
            if is_elsewhere:
                sizes = positions.table(TargetRule(protocol.rule.candidates, "AN", "AR")).n_targets
                for metric in (*of_items, *of_system):
                    n_listed = (lists[:, : metric.cutoff] >= 0).sum(axis=1)
                    beyond[str(metric)] = _empty_places(
                        metric.cutoff or positions.depth, n_listed, sizes
                    )
        item_values, system_values, moved = measure_lists(
            lists,
            split.train,
            of_items,
            of_system,
            member,
            min_rating=protocol.min_rating,
            features=features,
        )
        per_seed.append((values, item_values, system_values, moved, per_rating))
    values, item_values, system_values, moved, per_rating = (
        np.mean(kind, axis=0) for kind in zip(*per_seed, strict=True)
    )
    columns, medians = contributed(table, values, item_values if of_items else None, protocol)
    compared = [str(metric) for compared_label, metric in grid.compare if compared_label == label]
    runs = None
    if compared and averaging.resolved(table.per).population == "runs":
        rows = [place for place, metric in enumerate(of_ranks) if str(metric) in compared]
        of_members = has_trained(table, averaging)[table.user]
        runs = np.nan_to_num(values[rows])[:, of_members], table.user[of_members]
    sets = _describe_sets(table, protocol, of_ranks)
    pairs = _rated_pairs(table, per_rating, protocol) if crossed else None
    return FoldPart(columns, medians, system_values, moved, member, runs, sets, pairs, beyond)


def measure_lists(
    lists: npt.NDArray[np.int32] | None,
    train: Ratings,
    of_items: Sequence[Metric],
    of_system: Sequence[Metric],
    member: npt.NDArray[np.bool_],
    *,
    min_rating: float,
    features: ItemFeatures | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Measure lists: values of users, of the system, and how much each user moves the latter.

    Those of the system are about the lists of members. Without metrics no lists are needed.
    """
    if lists is None:
        nothing = np.empty((0, train.n_users))
        return nothing, np.empty(0), nothing
    view = list_view(lists, train, min_rating=min_rating, features=features)
    item_values = measure_items(view, of_items)
    view = dataclasses.replace(view, items=lists[member], own_popularity=None, profiles=None)
    everybody = np.ones((1, len(view.items)), dtype=np.uint8)
    system_values = measure_resampled(view, of_system, everybody)[:, 0]
    moved = np.zeros((len(of_system), len(member)))
    # Resampling draws all users: those of the population count for more.
    moved[:, member] = influence(view, of_system) * (len(member) / max(member.sum(), 1))
    return item_values, system_values, moved


def contributed(
    table: RankTable, values: FloatArray, item_values: FloatArray | None, protocol: Protocol
) -> tuple[tuple[FloatArray, ...], tuple[tuple[FloatArray, FloatArray, Any], ...]]:
    """Write values as what averages are made of: columns per user, or units of a median.

    For metrics from ranks, then for those from listed items, if there are any.
    """
    averaging = protocol.averaging
    options: dict[str, Any] = {
        "min_rating": protocol.min_rating, "condensed": protocol.condensed
    }  # fmt: skip
    measured = [(values, False), *([(item_values, True)] if item_values is not None else [])]
    if averaging.statistic == "median":
        return (), tuple(
            units(table, kind_values, averaging, **options, skip_undefined=skip)
            for kind_values, skip in measured
        )
    return tuple(
        contributions(
            table, kind_values, averaging, **options, group=table.group,
            n_groups=protocol.rule.n_groups or 1, skip_undefined=skip,
        )
        for kind_values, skip in measured
    ), ()  # fmt: skip


def _unplaced_items(
    table: RankTable,
    metrics: Sequence[Metric],
    values: FloatArray,
    measured_by: Callable[[RankTable], FloatArray],
) -> dict[str, npt.NDArray[np.int32]]:
    """Name users and test items that have no place, where one below the end changes a value.

    Placed right behind the end, the best or the worst first, they do so if anything below does.
    Those of a sample that were not drawn are named too.
    """
    rows = table.rank == 0
    moved = np.zeros(values.shape, dtype=bool)
    for best_first in (True, False):
        other = measured_by(table.with_rest(rows, best_first=best_first))
        moved |= (other != values) & ~(np.isnan(other) & np.isnan(values))
    of_rows = moved if table.per == "run" else moved[:, table.user]
    return {
        str(metric): np.array([table.user[rows & of_metric], table.item[rows & of_metric]])
        for metric, of_metric in zip(metrics, of_rows, strict=True)
    }


def _empty_places(
    cutoff: int | None, n_listed: npt.NDArray[np.integer[Any]], sizes: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.int32]:
    """Name users, and item -1, for each place that is asked for and holds none of the targets."""
    wanted = sizes if cutoff is None else np.minimum(cutoff, sizes)
    users = np.repeat(np.arange(len(sizes)), np.maximum(wanted - n_listed, 0))
    return np.array([users, np.full_like(users, -1)], np.int32)


def _each_rating(table: RankTable, *, condensed: bool) -> RankTable:
    """Make each test rating a user of its own, so that a sum over ratings is what it alone adds."""
    rank = table.condensed_rank if condensed else table.rank
    ties = table.ties
    if ties is not None:
        first = ties.condensed_first if condensed else ties.first
        size = ties.condensed_size if condensed else ties.size
        alone = (first > 0).astype(np.int32)
        ties = Ties(first, size, alone, alone)
    return dataclasses.replace(
        table,
        n_users=len(table.user),
        user=np.arange(len(table.user), dtype=np.int32),
        rank=rank,
        condensed_rank=(rank > 0).astype(np.int32),
        n_targets=table.n_targets[table.user],
        n_scored=table.n_scored[table.user],
        ties=ties,
    )


def _rated_pairs(table: RankTable, values: FloatArray, protocol: Protocol) -> RatedPairs:
    """Keep the ratings of the population that add something, and what its size is counted by."""
    if table.per == "run":
        enough = has_trained(table, protocol.averaging)[table.user]
        sizes = table.user[enough], table.item[enough]
        adds = (values != 0).any(axis=0) & enough
    else:
        member = members(table, protocol)
        users = np.flatnonzero(member).astype(np.int32)
        sizes = users, np.full(len(users), -1, dtype=np.int32)
        adds = (values != 0).any(axis=0) & member[table.user]
    return RatedPairs(table.user[adds], table.item[adds], values[:, adds], sizes)


def by_kind(metrics: Sequence[Metric]) -> tuple[list[Metric], list[Metric], list[Metric]]:
    """Sort metrics: from ranks, from listed items, of the system."""
    of_ranks, of_items, of_system = (
        [metric for metric in metrics if metric.kind == kind]
        for kind in ("ranks", "items", "system")
    )
    return of_ranks, of_items, of_system


def _n_units(table: RankTable) -> int:
    return len(table.user) if table.per == "run" else table.n_users


def members(table: RankTable, protocol: Protocol) -> npt.NDArray[np.bool_]:
    """Tell which users are of the protocol's population."""
    nothing = np.zeros((1, table.n_users))
    averaging = protocol.averaging
    _, member = user_sums(
        table, nothing, min_rating=protocol.min_rating, population=averaging.population
    )
    return (member > 0) & has_trained(table, averaging)


def _describe_sets(
    table: RankTable, protocol: Protocol, metrics: Sequence[Metric]
) -> dict[str, int]:
    """Count the target sets of one table that are not what a reader would expect."""
    n_relevant = np.bincount(
        table.user[relevant(table.value, protocol.min_rating)], minlength=table.n_users
    )
    rated = np.bincount(table.user, minlength=table.n_users)
    sizes = rated if protocol.condensed else table.n_targets.astype(np.int64)
    n_sampled = protocol.rule.n_sampled or 0
    relevant_per_set = np.ones(len(sizes), dtype=np.int64) if table.per == "run" else n_relevant
    # An expectation over samples speaks of other sets than the table's.
    cutoffs = [metric.cutoff or 0 for metric in metrics if not metric.given]
    return {
        "sets": len(sizes),
        "no_relevant": 0 if table.per == "run" else int((n_relevant == 0).sum()),
        "short_sample": int((table.n_targets < n_sampled + relevant_per_set).sum())
        if n_sampled
        else 0,
        "below_cutoff": int((sizes < max(cutoffs, default=0)).sum()),
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


def n_averaged_groups(protocol: Protocol) -> int:
    """Count the groups whose means are averaged; percentiles whose runs weigh alike are none."""
    return (protocol.rule.n_groups or 1) if protocol.averaging.population == "groups" else 1


def combine_folds(
    protocol: Protocol,
    metrics: Sequence[Metric],
    folds: Sequence[FoldPart],
    weights: npt.NDArray[np.uint8],
    draws: FloatArray | None = None,
) -> tuple[pd.DataFrame, list[FloatArray]]:
    """Turn what the folds contribute into values with intervals, in the order of the metrics.

    Users are resampled by `weights`, and folds that are draws of a split by `draws`.
    """
    order = [metric for kind in by_kind(metrics) for metric in kind]
    averaging, n_groups = protocol.averaging, n_averaged_groups(protocol)
    sizes = [len(kind) for kind in by_kind(metrics)[:2]]
    values, by_fold, drawn, carriers = [], [], [], []
    for place, n_metrics in enumerate(sizes):
        if not n_metrics:
            continue
        if averaging.statistic == "median":
            per_fold = [fold.medians[place] for fold in folds]
            everybody = np.ones((1, weights.shape[1]), dtype=np.uint8)
            unit_values, unit_weights, owner = (
                np.concatenate(parts, axis=-1) for parts in zip(*per_fold, strict=True)
            )
            estimates = weighted_medians(unit_values, unit_weights, owner, everybody)[:, 0]
            single = np.array(
                [weighted_medians(*of_fold, user_weights=everybody)[:, 0] for of_fold in per_fold]
            )
            resampled = weighted_medians(unit_values, unit_weights, owner, weights)
            n_users = np.full(n_metrics, len(np.unique(owner)))
        else:
            columns = np.sum([fold.columns[place] for fold in folds], axis=0)
            estimates = finish(columns.sum(axis=1), averaging, n_metrics, n_groups)
            single = np.array(
                [
                    finish(fold.columns[place].sum(axis=1), averaging, n_metrics, n_groups)
                    for fold in folds
                ]
            )
            sums = weighted_sums(columns, weights)
            resampled = np.ascontiguousarray(finish(sums, averaging, n_metrics, n_groups).T)
            n_users = _carriers(columns, n_metrics, n_groups)
        values.append(estimates)
        by_fold.append(single)
        drawn.append(resampled)
        carriers.append(n_users)
    if len(order) > sum(sizes):
        whole = np.array([fold.system for fold in folds])
        moved = np.mean([fold.influence for fold in folds], axis=0)
        values.append(whole.mean(axis=0))
        by_fold.append(whole)
        drawn.append(linear_replicates(values[-1], moved, weights))
        n_members = np.any([fold.member for fold in folds], axis=0).sum()
        carriers.append(np.full(len(values[-1]), n_members))
    value, fold_values = np.concatenate(values), np.concatenate(by_fold, axis=1)
    replicates, n_users = np.concatenate(drawn), np.concatenate(carriers)
    if draws is not None:
        # One draw after the other: a product of matrices has other last bits elsewhere.
        for of_fold, counted in zip(fold_values, draws.T, strict=True):
            replicates += of_fold[:, None] * counted
    rows = []
    for metric in metrics:
        place = order.index(metric)
        low, high, error = _uncertainty(
            float(value[place]), replicates[place], metric.declaration.interval
        )
        spread = np.std(fold_values[:, place], ddof=1) if len(folds) > 1 else np.nan
        rows.append((float(value[place]), low, high, error, float(spread), int(n_users[place])))
    return pd.DataFrame(rows, columns=list(NUMBERS)), [replicates[order.index(m)] for m in metrics]


@lru_cache(maxsize=1)
def resampled_both(
    n_users: int, n_items: int, seed: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Weights of users, the same as without items, and of items; a column per resampling."""
    items = bootstrap_weights(n_items, N_REPLICATES, rng=stream(seed, "bootstrap", "items"))
    both = resampled_users(n_users, seed), items
    return np.ascontiguousarray(both[0].T), np.ascontiguousarray(both[1].T)


def crossed_drawn(
    grid: Grid,
    label: str,
    folds: Sequence[FoldPart],
    user_weights: npt.NDArray[np.uint8],
    item_weights: npt.NDArray[np.uint8],
) -> dict[str, FloatArray]:
    """Resample users and items: by metric that is asked, its values on what was drawn.

    Ranks stay, and so do the users of a population: under AR a value is divided by their number,
    under 1R by that of the runs whose users and items were drawn.
    """
    pairs = [fold.pairs for fold in folds if fold.pairs is not None]
    if not pairs:
        return {}
    weights = user_weights, item_weights
    users, items = (
        np.concatenate(column) for column in zip(*(p.sizes for p in pairs), strict=True)
    )
    size = crossed_sums(users, items, np.ones(len(users)), *weights)
    user = np.concatenate([of_fold.user for of_fold in pairs])
    item = np.concatenate([of_fold.item for of_fold in pairs])
    drawn = {}
    for place, metric in enumerate(grid.crossed_metrics(label)):
        values = np.concatenate([of_fold.values[place] for of_fold in pairs])
        total = crossed_sums(user, item, values, *weights)
        drawn[str(metric)] = np.divide(total, size, out=np.full(len(size), np.nan), where=size > 0)
    return drawn


def combine_crossed(
    grid: Grid,
    label: str,
    folds: Sequence[FoldPart],
    user_weights: npt.NDArray[np.uint8],
    item_weights: npt.NDArray[np.uint8],
) -> list[tuple[str, str, float, float, float]]:
    """Resample users and items: label, metric, interval and standard error of each that is asked.

    See `crossed_drawn`.
    """
    return [
        (label, metric, *_uncertainty(np.nan, drawn, "percentile"))
        for metric, drawn in crossed_drawn(grid, label, folds, user_weights, item_weights).items()
    ]


def _carriers(columns: FloatArray, n_metrics: int, n_groups: int) -> npt.NDArray[np.int64]:
    """Count the users that carry each value."""
    by_group = columns.reshape(n_groups, -1, columns.shape[1])
    sizes = (by_group[:, n_metrics:] > 0).any(axis=0)
    return np.broadcast_to(sizes.sum(axis=1), n_metrics)


def _uncertainty(value: float, replicates: FloatArray, method: str) -> tuple[float, float, float]:
    """Interval and standard error, by the method that a metric declares."""
    if method == "none":
        return np.nan, np.nan, np.nan
    low, high = interval(replicates)
    if method == "normal":
        low, high = normal_interval(value, replicates)
    return float(low), float(high), float(np.std(replicates, ddof=1))


def sum_sets(folds: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Add up the counts of the folds, but for the size of the smallest set."""
    total = {name: sum(fold[name] for fold in folds) for name in folds[0]}
    return {**total, "smallest": min(fold["smallest"] for fold in folds)}
