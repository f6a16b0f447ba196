"""Experiments: a grid is run, its tables are reduced to values, and the values are what is stored.

Three steps: *reduce* the tables of one system on one fold (each artefact is read once, in worker
processes where that pays), *combine* the folds, *test* all pairs of systems.
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.aggregation import contributions, finish, units, user_sums
from recbias.cells import (
    Artefact,
    Cell,
    artefact_of,
    artefacts_to_train,
    cell_dataset,
    cell_split,
    grid_cells,
    load_positions,
    load_table,
    peak_mb,
    reduce_positions,
    run_cell,
)
from recbias.comparison import compare_all
from recbias.datasets import Dataset, dataset_info, is_path, load_dataset
from recbias.engine import open_executor, run_all
from recbias.errors import ConfigError, MissingData, StoreError, StoreWarning
from recbias.grid import Grid
from recbias.metrics import (
    ListView,
    Metric,
    influence,
    measure,
    measure_items,
    measure_resampled,
)
from recbias.places import clone_root
from recbias.protocol import Protocol
from recbias.ranking import Positions, RankTable
from recbias.relevance import relevant
from recbias.resampling import (
    bootstrap_weights,
    interval,
    linear_replicates,
    normal_interval,
    weighted_medians,
    weighted_sums,
)
from recbias.results import (
    Agreement,
    Quantity,
    StoredResult,
    dataset_record,
    load_result,
    recorded_result,
    register_kind,
    results_dir,
    stored_results,
)
from recbias.store import (
    frame_from_json,
    frame_to_json,
    pack_replicates,
    platform_record,
    unpack_replicates,
)
from recbias.streams import stream

__all__ = ["Results", "grid_tables", "run", "top_rating", "verify"]

N_REPLICATES = 500
"""Resamplings of users behind every interval."""

WORKERS_FROM = 4_000_000
"""Test ratings, over all cells, from which reducing tables pays the start of worker processes."""

_NUMBERS = ("value", "low", "high", "se", "fold_sd", "n_users")

FloatArray = npt.NDArray[np.float64]
_Loaded = TypeVar("_Loaded")


@register_kind
@dataclass(frozen=True, eq=False, kw_only=True)
class Results(StoredResult):
    """What a grid gave: values with intervals, replicates and tests; no rating.

    Attributes
    ----------
    grid
        What was measured.
    values : DataFrame
        A row per (system, label, metric): ``value``, 95 % interval ``low`` to ``high`` and standard
        error ``se`` from resampled users, ``fold_sd`` between folds (NaN for a single one), and
        ``n_users``, the users that carry the value.
    replicates : mapping of int to ndarray of float64, shape (n_replicates,)
        The values on resampled users, by row, for those that the grid keeps; in steps of 1/32767 of
        the largest deviation.
    tests : DataFrame
        A row per comparison and pair of systems: t and Wilcoxon tests, per user and, for 1R, per
        run. Users are those of the protocol's population.
    target_sets : DataFrame
        A row per label, over all folds: number of ``sets`` and the size of the ``smallest``; how
        many hold ``no_relevant`` item, have a ``short_sample`` (the pool was smaller than asked) or
        fewer targets than the largest cutoff (``below_cutoff``: P@n still divides by n).
    """

    kind: ClassVar[str] = "grid"

    grid: Grid
    values: pd.DataFrame
    replicates: Mapping[int, FloatArray] = field(repr=False)
    tests: pd.DataFrame
    target_sets: pd.DataFrame

    def __getitem__(self, names: tuple[str, str, str]) -> Quantity:
        """Return one quantity by system, protocol label and metric."""
        row = self._rows.get(names)
        if row is None:
            raise ConfigError(f"not measured: {names[2]} of {names[0]} under {names[1]}")
        value, low, high = (float(self.values[column].iloc[row]) for column in _NUMBERS[:3])
        method = self._methods[names[1], names[2]]
        return Quantity(value, self.replicates.get(row), method, (low, high))

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], int]:
        columns = self.values[["system", "label", "metric"]].itertuples(index=False, name=None)
        return {names: row for row, names in enumerate(columns)}

    @cached_property
    def _methods(self) -> dict[tuple[str, str], str]:
        return {
            (label, str(metric)): metric.declaration.interval
            for label, metrics in self.grid.parsed_metrics.items()
            for metric in metrics
        }

    @property
    def systems(self) -> list[str]:
        """Names of the systems, in the order of the grid."""
        return [system.name for system in self.grid.systems]

    def metric(self, label: str, name: str) -> Metric:
        """Return the metric of a name that was measured under a label, whatever its cutoff.

        Raises
        ------
        ConfigError
            If there is none, or more than one.
        """
        found = [metric for metric in self.grid.parsed_metrics[label] if metric.name == name]
        if len(found) != 1:
            raise ConfigError(f"{len(found)} metrics {name} were measured under {label!r}")
        return found[0]

    def of_systems(
        self, label: str, metric: Metric | str, systems: Sequence[str] | None = None
    ) -> dict[str, Quantity]:
        """Return one metric of several systems; of all of them by default."""
        return {name: self[name, label, str(metric)] for name in systems or self.systems}

    def table(self, label: str, metric: Metric | str) -> pd.DataFrame:
        """Select one metric under one protocol: a row per system with value and interval."""
        rows = (self.values["label"] == label) & (self.values["metric"] == str(metric))
        return self.values[rows].set_index("system")[["value", "low", "high", "se"]]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The grid."""
        return self.grid.to_dict()

    def body(self) -> dict[str, Any]:
        """Return values (in the order of systems, labels, metrics), tests and target sets."""
        return {
            "values": frame_to_json(self.values[list(_NUMBERS)]),
            "tests": frame_to_json(self.tests),
            "target_sets": frame_to_json(self.target_sets),
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the kept replicates in 16 bits."""
        rows = np.array(sorted(self.replicates), dtype=np.int64)
        if not len(rows):
            return {}
        drawn = np.array([self.replicates[row] for row in rows])
        packed, scale = pack_replicates(self.values["value"].to_numpy()[rows], drawn)
        return {"rows": rows, "replicates": packed, "scale": scale}

    @classmethod
    def key_of(cls, parameters: Mapping[str, Any], hashes: Mapping[str, str]) -> str:
        """Digest grid, data and revisions."""
        return Grid.from_dict(parameters).key_of(hashes)

    @classmethod
    def restore(
        cls,
        parameters: Mapping[str, Any],
        body: Mapping[str, Any],
        arrays: Mapping[str, npt.NDArray[Any]],
        **context: Any,
    ) -> Self:
        """Build the results from their document."""
        grid = Grid.from_dict(parameters)
        values = pd.concat([_names(grid), frame_from_json(body["values"])], axis=1)
        kept: dict[int, FloatArray] = {}
        if arrays:
            rows = arrays["rows"]
            centre = values["value"].to_numpy()[rows]
            drawn = unpack_replicates(centre, arrays["replicates"], arrays["scale"])
            kept = dict(zip(rows.tolist(), drawn, strict=True))
        return cls(
            grid=grid,
            values=values,
            replicates=kept,
            tests=frame_from_json(body["tests"]),
            target_sets=frame_from_json(body["target_sets"]),
            **context,
        )

    def recompute(
        self, *, systems: int | None = None, workers: int = 1, data_dir: Path | None = None
    ) -> StoredResult | None:
        """Run the grid again, or with the first, the last and evenly spaced systems only."""
        names = self.systems
        if systems is not None and systems < len(names):
            places = np.unique(np.linspace(0, len(names) - 1, systems).round().astype(int))
            names = [names[place] for place in places]
        part = self.grid.with_systems(names)
        dataset = load_dataset(self.dataset_name, data_dir=data_dir)
        return _measure_grid(part, dataset, workers=workers, data_dir=data_dir)

    def compare(self, fresh: StoredResult) -> Agreement:
        """Compare values, within ``max(1e-9, 0.01 s.e.)``: what another processor may change."""
        if not isinstance(fresh, Results):
            return Agreement(0, np.nan, np.nan, ("another kind of result",))
        columns = ["system", "label", "metric"]
        pairs = fresh.values.merge(self.values, on=columns, suffixes=("", "_stored"))
        difference = (pairs["value"] - pairs["value_stored"]).abs()
        bound = np.maximum(1e-9, 0.01 * pairs["se_stored"].fillna(0))
        same = (difference <= bound) | (pairs["value"].isna() & pairs["value_stored"].isna())
        differing = list(dict.fromkeys(pairs.loc[~same, "system"]))
        if len(pairs) < len(fresh.values):
            differing.append(f"{len(fresh.values) - len(pairs)} values are not stored")
        return Agreement(
            len(pairs), float(difference.max()), float((difference / bound).max()), tuple(differing)
        )


def _names(grid: Grid) -> pd.DataFrame:
    """Name the rows of a grid's values: systems, labels and metrics in the grid's order."""
    rows = [
        (system.name, label, str(grid.parsed[label]), metric)
        for system in grid.systems
        for label, metrics in grid.by_label.items()
        for metric in metrics
    ]
    return pd.DataFrame(rows, columns=["system", "label", "protocol", "metric"])


def run(
    grid: Grid,
    *,
    workers: int = 1,
    data_dir: Path | None = None,
    record: str | None = None,
) -> Results:
    """Measure a grid, computing only the cells that are not there yet.

    Where the dataset is not at hand and ``record`` names recorded results of the same key, those
    are returned instead. What the kept artefacts of a cell cannot answer, such as a sample of
    another size, is trained for again; the progress bar says so, and what for.

    Parameters
    ----------
    grid
        What to measure.
    workers
        Local processes. The results do not depend on it, bit for bit.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.
    record
        Name under which a chapter keeps these results, e.g.
        ``"01_design_alternatives/systems"``; live results are written below ``_build/results``.

    Returns
    -------
    Results

    Raises
    ------
    MissingData
        If the dataset is neither at hand nor recorded.
    StoreError
        If recorded results exist but were computed with other data, parameters or code; if the
        data changes while the grid runs.

    Warns
    -----
    StoreWarning
        If an artefact was damaged; it is computed again.
    """
    try:
        dataset = load_dataset(grid.dataset, data_dir=data_dir)
    except MissingData as missing:
        if record is None:
            raise
        return _recorded(grid, record, missing)
    results = _measure_grid(grid, dataset, workers=workers, data_dir=data_dir)
    if record is not None and clone_root() is not None:
        results.save(results_dir(dataset.name, recorded=False) / record)
    return results


def _recorded(grid: Grid, record: str, missing: MissingData) -> Results:
    found = recorded_result(record, grid.dataset, missing)
    hashes = {
        **found.dataset["hashes"],
        "observed": str(dataset_info(grid.dataset).content_hash),
    }
    hashes = {part: each for part, each in hashes.items() if part in found.dataset["hashes"]}
    if not isinstance(found, Results) or found.key != grid.key_of(hashes):
        raise StoreError(
            f"{results_dir(grid.dataset, recorded=True) / record}: recorded with other parameters "
            f"than asked for\n{missing}"
        ) from missing
    return found


def top_rating(dataset: str, *, data_dir: Path | None = None) -> float:
    """Give the strictest relevance of the papers: the top of a dataset's scale.

    A dataset of counts has no top; its entry in the registry says from where on.

    Parameters
    ----------
    dataset
        Name of a dataset, which need not be at hand, or path of a table.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.

    Returns
    -------
    float
        5 for stars; 1 for implicit feedback; 3 for the plays of Last.fm.
    """
    if is_path(dataset):
        return load_dataset(dataset, data_dir=data_dir).ratings.scale.maximum
    info = dataset_info(dataset)
    return info.relevant_from or info.scale.maximum


def grid_tables(
    grid: Grid, label: str, *, data_dir: Path | None = None
) -> Iterator[tuple[str, int, int, RankTable]]:
    """Yield the rank tables behind one protocol of a grid that was run.

    Yields
    ------
    system : str
    fold : int
    repeat : int
        Number of the training seed.
    table : RankTable
    """
    dataset = load_dataset(grid.dataset, data_dir=data_dir)
    artefact = artefact_of(grid, label)
    for system, cell in grid_cells(grid, dataset, data_dir):
        if artefact in cell.artefacts:
            reader = _Reader(cell)
            yield system, cell.fold, cell.repeat, reader.table(grid, label)


def verify(
    dataset: str, *, systems: int | None = None, workers: int = 1, data_dir: Path | None = None
) -> pd.DataFrame:
    """Recompute a dataset's recorded results and compare.

    Parameters
    ----------
    dataset
        A dataset that is at hand.
    systems
        Recompute only so many systems of each recorded grid (the first, the last, and between them
        at even distances); None = all, and results of other kinds too.
    workers, data_dir
        As in :func:`run`.

    Returns
    -------
    DataFrame
        A row per recorded result: how many ``values`` were compared, the largest ``difference``,
        the same in units of the bound that its kind allows, whether it ``agrees``, and what is
        ``differing``.

    Raises
    ------
    MissingData
        If the dataset is not at hand, or nothing is recorded for it.
    """
    paths = stored_results(results_dir(dataset, recorded=True))
    if not paths:
        raise MissingData(f"{dataset}: no recorded results to verify")
    rows = []
    for name, path in paths.items():
        stored = load_result(path)
        fresh = stored.recompute(systems=systems, workers=workers, data_dir=data_dir)
        if fresh is None:
            continue
        found = stored.compare(fresh)
        rows.append(
            {
                "recorded": name,
                "values": found.n_values,
                "difference": found.difference,
                "of bound": found.of_bound,
                "agrees": not found.differing,
                "differing": ", ".join(found.differing),
            }
        )
    return pd.DataFrame(rows)


# -- reduce: the tables of one system on one fold ------------------------------------------------


class _Task(NamedTuple):
    """One system on one fold: what a worker reduces."""

    grid: Grid
    cells: tuple[Cell, ...]


class _Part(NamedTuple):
    """What the tables of one label, system and fold come down to.

    Means are kept as columns per user, ``finish`` turns their sums into values; medians as the
    units that they are taken of; systems as a whole as values, and how much each user moves them.
    Metrics are those from ranks, from listed items, and of the system, in this order.
    """

    columns: tuple[FloatArray, ...]
    medians: tuple[tuple[FloatArray, FloatArray, npt.NDArray[np.int64]], ...]
    system: FloatArray
    influence: FloatArray
    member: npt.NDArray[np.bool_]
    runs: tuple[FloatArray, npt.NDArray[np.int32]] | None
    sets: dict[str, int]


class _Reader:
    """Reads each artefact of a cell once, and computes a damaged one again."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.damaged: list[str] = []
        self._positions: dict[Artefact, Positions] = {}
        self._reduced: dict[tuple[Artefact, str], Positions] = {}

    def positions(self, grid: Grid, label: str) -> Positions:
        """Return the counts that a label is about."""
        artefact, test = artefact_of(grid, label), grid.test(label)
        if artefact not in self._positions:
            self._positions[artefact] = self._read(
                artefact, lambda: load_positions(self.cell, artefact)
            )
        name = artefact, str(test)
        if name not in self._reduced:
            self._reduced[name] = reduce_positions(self._positions[artefact], self.cell, test)
        return self._reduced[name]

    def table(self, grid: Grid, label: str) -> RankTable:
        """Return the table of ranks under a label."""
        protocol, artefact = grid.parsed[label], artefact_of(grid, label)
        if artefact.rule:
            return self._read(artefact, lambda: load_table(self.cell, artefact, protocol))
        positions = self.positions(grid, label)
        return positions.table(protocol.rule, min_rating=protocol.min_rating)

    def _read(self, artefact: Artefact, load: Callable[[], _Loaded]) -> _Loaded:
        try:
            return load()
        except StoreError:
            path = self.cell.path(artefact)
            path.unlink(missing_ok=True)
            run_cell(self.cell)
            self.damaged.append(str(path))
            return load()


def _reduce(task: _Task) -> tuple[dict[str, _Part], list[str]]:
    """Measure one system on one fold under every label; say which artefacts were damaged."""
    grid = task.grid
    parts: dict[str, _Part] = {}
    readers = [_Reader(cell) for cell in task.cells]
    for label in grid.parsed:
        artefact = artefact_of(grid, label)
        own = [reader for reader in readers if artefact in reader.cell.artefacts]
        parts[label] = _reduce_label(grid, label, artefact, own)
    return parts, [path for reader in readers for path in reader.damaged]


def _reduce_label(grid: Grid, label: str, artefact: Artefact, readers: list[_Reader]) -> _Part:
    """Measure a label on all training seeds of a fold, and average over them."""
    protocol, averaging = grid.parsed[label], grid.parsed[label].averaging
    of_ranks, of_items, of_system = _by_kind(grid.parsed_metrics[label])
    dataset = cell_dataset(readers[0].cell)
    split = cell_split(readers[0].cell, artefact)
    found: list[tuple[FloatArray, ...]] = []
    table = readers[0].table(grid, label)
    member = _members(table, protocol) if of_system else np.zeros(table.n_users, dtype=bool)
    for reader in readers:
        if reader is not readers[0]:
            table = reader.table(grid, label)
        values = (
            measure(
                table,
                of_ranks,
                min_rating=protocol.min_rating,
                condensed=protocol.condensed,
                rating_max=dataset.ratings.scale.maximum,
            )
            if of_ranks
            else np.empty((0, _n_units(table)))
        )
        item_values = moved = np.empty((0, table.n_users))
        system_values = np.empty(0)
        if of_items or of_system:
            positions, train_counts = reader.positions(grid, label), split.train.item_counts()
            depth = max(metric.cutoff or positions.depth for metric in (*of_items, *of_system))
            lists = positions.lists(protocol.rule.candidates, depth)
            item_values = measure_items(ListView(lists, len(train_counts), train_counts), of_items)
            view = ListView(lists[member], len(train_counts), train_counts)
            everybody = np.ones((1, len(view.items)), dtype=np.uint8)
            system_values = measure_resampled(view, of_system, everybody)[:, 0]
            moved = np.zeros((len(of_system), table.n_users))
            # Resampling draws all users: those of the population count for more.
            moved[:, member] = influence(view, of_system) * (table.n_users / max(member.sum(), 1))
        found.append((values, item_values, system_values, moved))
    values, item_values, system_values, moved = (
        np.mean(kind, axis=0) for kind in zip(*found, strict=True)
    )
    options: dict[str, Any] = {"min_rating": protocol.min_rating}
    measured = [(values, False), *([(item_values, True)] if of_items else [])]
    if averaging.statistic == "median":
        medians = tuple(
            units(table, each, averaging, **options, skip_undefined=skip) for each, skip in measured
        )
        columns: tuple[FloatArray, ...] = ()
    else:
        medians = ()
        columns = tuple(
            contributions(
                table, each, averaging, **options, group=table.group,
                n_groups=protocol.rule.n_groups or 1, skip_undefined=skip,
            )
            for each, skip in measured
        )  # fmt: skip
    compared = [str(metric) for asked, metric in grid.compare if asked == label]
    runs = None
    if compared and averaging.resolved(table.per).population == "runs":
        rows = [place for place, metric in enumerate(of_ranks) if str(metric) in compared]
        runs = np.nan_to_num(values[rows]), table.user
    sets = _describe_sets(table, protocol, of_ranks)
    return _Part(columns, medians, system_values, moved, member, runs, sets)


def _by_kind(metrics: Sequence[Metric]) -> tuple[list[Metric], list[Metric], list[Metric]]:
    of_ranks, of_items, of_system = (
        [metric for metric in metrics if metric.kind == kind]
        for kind in ("ranks", "items", "system")
    )
    return of_ranks, of_items, of_system


def _n_units(table: RankTable) -> int:
    return len(table.user) if table.per == "run" else table.n_users


@lru_cache(maxsize=2)
def _resampled(n_users: int, seed: int) -> npt.NDArray[np.uint8]:
    return bootstrap_weights(n_users, N_REPLICATES, rng=stream(seed, "bootstrap"))


def _members(table: RankTable, protocol: Protocol) -> npt.NDArray[np.bool_]:
    """Tell which users are of the protocol's population."""
    nothing = np.zeros((1, table.n_users))
    _, member = user_sums(
        table, nothing, min_rating=protocol.min_rating, population=protocol.averaging.population
    )
    return member > 0


def _describe_sets(
    table: RankTable, protocol: Protocol, metrics: Sequence[Metric]
) -> dict[str, int]:
    """Count the target sets of one table that are not what a reader would expect."""
    n_relevant = np.bincount(
        table.user[relevant(table.value, protocol.min_rating)], minlength=table.n_users
    )
    rated = np.bincount(table.user, minlength=table.n_users)
    sizes = rated if protocol.condensed else table.n_targets.astype(np.int64)
    asked = protocol.rule.n_sampled or 0
    own = np.ones(len(sizes), dtype=np.int64) if table.per == "run" else n_relevant
    # An expectation over samples speaks of other sets than the table's.
    cutoffs = [metric.cutoff or 0 for metric in metrics if not metric.given]
    return {
        "sets": len(sizes),
        "no_relevant": 0 if table.per == "run" else int((n_relevant == 0).sum()),
        "short_sample": int((table.n_targets < asked + own).sum()) if asked else 0,
        "below_cutoff": int((sizes < max(cutoffs, default=0)).sum()),
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


# -- combine: the folds of a label ---------------------------------------------------------------


def _measure_grid(grid: Grid, dataset: Dataset, *, workers: int, data_dir: Path | None) -> Results:
    started = time.perf_counter()
    _check_data(grid, dataset)
    cells = grid_cells(grid, dataset, data_dir)
    missing = [cell for _, cell in cells if cell.missing()]
    again = artefacts_to_train(missing)
    tasks = _tasks(grid, cells)
    n_rows = len(cells) * len(cell_split(cells[0][1], cells[0][1].artefacts[0]).test)
    needed = bool(missing) or n_rows >= WORKERS_FROM
    title = f"{dataset.name}: cells" + (f", trained again for {'; '.join(again)}" if again else "")
    with open_executor(min(workers, max(len(missing), len(tasks))) if needed else 1) as executor:
        run_all(run_cell, missing, executor, label=title)
        reduced = _reduce_all(tasks, executor, dataset.name)
    damaged = [path for _, paths in reduced for path in paths]
    for path in damaged:
        warnings.warn(f"{path}: was damaged, computed again", StoreWarning, stacklevel=3)
    weights = _resampled(dataset.ratings.n_users, grid.seed)
    by_system: dict[str, list[dict[str, _Part]]] = {}
    for task, (parts, _) in zip(tasks, reduced, strict=True):
        by_system.setdefault(task.grid.systems[0].name, []).append(parts)
    values, drawn = [], []
    for system in grid.systems:
        for label in grid.parsed:
            folds = [parts[label] for parts in by_system[system.name]]
            numbers, replicates = _combine(grid, label, folds, weights)
            values.append(numbers)
            drawn += replicates
    rows = pd.concat([_names(grid), pd.concat(values, ignore_index=True)], axis=1)
    first = by_system[grid.systems[0].name]  # the target sets of all systems are the same
    hashes = grid.hashes(dataset)
    return Results(
        grid=grid,
        key=grid.key_of(hashes),
        dataset=dataset_record(dataset, hashes),
        values=rows,
        replicates=_kept(grid, rows, drawn),
        tests=_tests(grid, by_system),
        target_sets=pd.DataFrame(
            [{"label": label, **_sum_sets([p[label].sets for p in first])} for label in grid.parsed]
        ),
        provenance=platform_record(),
        times={
            "seconds": round(time.perf_counter() - started, 1),
            "peak_mb": peak_mb(),
            "cells": len(cells),
            "computed": len(missing),
        },
    )


def _check_data(grid: Grid, dataset: Dataset) -> None:
    for protocol in grid.parsed.values():
        if not relevant(dataset.ratings.value, protocol.min_rating).any():
            scale = dataset.ratings.scale
            raise ConfigError(
                f"{protocol}: no rating of {dataset.name} is that high; its scale is "
                f"{scale.minimum:g} to {scale.maximum:g}"
            )
    for metric in (metric for metrics in grid.parsed_metrics.values() for metric in metrics):
        if metric.cutoff is not None and metric.cutoff > dataset.ratings.n_items:
            raise ConfigError(
                f"{metric}: the cutoff is above the catalogue of {dataset.name}, "
                f"{dataset.ratings.n_items:,} items"
            )


def _tasks(grid: Grid, cells: Sequence[tuple[str, Cell]]) -> list[_Task]:
    """Group the cells by fold and system; those of one fold together, whose split is shared."""
    single = {system.name: dataclasses.replace(grid, systems=(system,)) for system in grid.systems}
    grouped: dict[tuple[int, str], list[Cell]] = {}
    for name, cell in cells:
        grouped.setdefault((cell.fold, name), []).append(cell)
    return [_Task(single[name], tuple(own)) for (_, name), own in sorted(
        grouped.items(), key=lambda item: item[0][0]
    )]  # fmt: skip


def _reduce_all(
    tasks: list[_Task], executor: Executor | None, name: str
) -> list[tuple[dict[str, _Part], list[str]]]:
    return run_all(_reduce, tasks, executor, label=f"{name}: measures")


def _combine(
    grid: Grid, label: str, folds: Sequence[_Part], weights: npt.NDArray[np.uint8]
) -> tuple[pd.DataFrame, list[FloatArray]]:
    """Turn what the folds contribute into values with intervals, in the order of the metrics."""
    metrics = grid.parsed_metrics[label]
    order = [metric for kind in _by_kind(metrics) for metric in kind]
    averaging, n_groups = grid.parsed[label].averaging, grid.parsed[label].rule.n_groups or 1
    sizes = [len(kind) for kind in _by_kind(metrics)[:2]]
    values, by_fold, drawn, carriers = [], [], [], []
    for place, n_metrics in enumerate(sizes):
        if not n_metrics:
            continue
        if averaging.statistic == "median":
            per_fold = [fold.medians[place] for fold in folds]
            everybody = np.ones((1, weights.shape[1]), dtype=np.uint8)
            unit_values, unit_weights, owner = (
                np.concatenate(each, axis=-1) for each in zip(*per_fold, strict=True)
            )
            found = weighted_medians(unit_values, unit_weights, owner, everybody)[:, 0]
            single = np.array(
                [weighted_medians(*each, user_weights=everybody)[:, 0] for each in per_fold]
            )
            resampled = weighted_medians(unit_values, unit_weights, owner, weights)
            n_users = np.full(n_metrics, len(np.unique(owner)))
        else:
            columns = np.sum([fold.columns[place] for fold in folds], axis=0)
            found = finish(columns.sum(axis=1), averaging, n_metrics, n_groups)
            single = np.array(
                [
                    finish(fold.columns[place].sum(axis=1), averaging, n_metrics, n_groups)
                    for fold in folds
                ]
            )
            sums = weighted_sums(columns, weights)
            resampled = np.ascontiguousarray(finish(sums, averaging, n_metrics, n_groups).T)
            n_users = _carriers(columns, n_metrics, n_groups)
        values.append(found)
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
    rows = []
    for metric in metrics:
        place = order.index(metric)
        low, high, error = _uncertainty(metric, value[place], replicates[place])
        spread = np.std(fold_values[:, place], ddof=1) if len(folds) > 1 else np.nan
        rows.append((float(value[place]), low, high, error, float(spread), int(n_users[place])))
    return pd.DataFrame(rows, columns=list(_NUMBERS)), [replicates[order.index(m)] for m in metrics]


def _carriers(columns: FloatArray, n_metrics: int, n_groups: int) -> npt.NDArray[np.int64]:
    """Count the users that carry each value."""
    by_group = columns.reshape(n_groups, -1, columns.shape[1])
    sizes = (by_group[:, n_metrics:] > 0).any(axis=0)
    return np.broadcast_to(sizes.sum(axis=1), n_metrics)


def _uncertainty(
    metric: Metric, value: float, replicates: FloatArray
) -> tuple[float, float, float]:
    """Interval and standard error, by the method that the metric declares."""
    method = metric.declaration.interval
    if method == "none":
        return np.nan, np.nan, np.nan
    low, high = interval(replicates)
    if method == "normal":
        low, high = normal_interval(value, replicates)
    return float(low), float(high), float(np.std(replicates, ddof=1))


def _kept(grid: Grid, rows: pd.DataFrame, drawn: Sequence[FloatArray]) -> dict[int, FloatArray]:
    """Keep the replicates that the grid asks for, as they will be read back."""
    wanted = None if grid.replicates is None else set(grid.replicates)
    places = [
        row
        for row, names in enumerate(zip(rows["label"], rows["metric"], strict=True))
        if wanted is None or names in wanted
    ]
    if not places:
        return {}
    centre = rows["value"].to_numpy()[places]
    packed, scale = pack_replicates(centre, np.array([drawn[row] for row in places]))
    return dict(zip(places, unpack_replicates(centre, packed, scale), strict=True))


def _sum_sets(folds: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total = {name: sum(fold[name] for fold in folds) for name in folds[0]}
    return {**total, "smallest": min(fold["smallest"] for fold in folds)}


# -- test: all pairs of systems ------------------------------------------------------------------


def _tests(grid: Grid, by_system: Mapping[str, Sequence[Mapping[str, _Part]]]) -> pd.DataFrame:
    """Test all pairs of systems on the users of the population, and on runs where those count.

    A user's value is the mean over the folds, or the runs, in which they are of the population.
    """
    frames = []
    for label, text in grid.compare:
        of_ranks = [str(metric) for metric in _by_kind(grid.parsed_metrics[label])[0]]
        runs: dict[str, FloatArray] = {}
        users: dict[str, FloatArray] = {}
        owner: npt.NDArray[np.int32] | None = None
        compared = [metric for metric in of_ranks if (label, metric) in grid.compare]
        for system, folds in by_system.items():
            parts = [fold[label] for fold in folds]
            if parts[0].runs is not None:
                given = [part.runs for part in parts if part.runs is not None]
                place = compared.index(text)
                runs[system] = np.concatenate([values[place] for values, _ in given])
                owner = np.concatenate([user for _, user in given])
            else:
                columns = np.sum([part.columns[0] for part in parts], axis=0)
                total, size = columns[of_ranks.index(text)], columns[-1]
                users[system] = total[size > 0] / size[size > 0]
        if users:
            frames.append(compare_all(users).assign(label=label, metric=text, unit="user"))
        if runs:
            frames += [
                compare_all(runs, user=owner).assign(label=label, metric=text, unit="user"),
                compare_all(runs).assign(label=label, metric=text, unit="run"),
            ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
