"""Experiments: a grid is run, its tables are reduced to values, and the values are what is stored.

Three steps: *reduce* the tables of one system on one fold (each artefact is read once, in worker
processes where that pays), *combine* the folds, *test* all pairs of systems.
"""

from __future__ import annotations

import dataclasses
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.places import clone_root
from recbias.data.datasets import Dataset, dataset_info, load_dataset
from recbias.data.ratings import Ratings, exact
from recbias.errors import (
    ConfigError,
    DataWarning,
    MissingData,
    StoreError,
    StoreWarning,
    did_you_mean,
)
from recbias.experiment.cells import (
    Cell,
    artefact_of,
    artefacts_to_train,
    cell_split,
    grid_cells,
    run_cell,
)
from recbias.experiment.engine import (
    Workers,
    are_waiting,
    at_most,
    check_workers,
    open_executor,
    peak_mb,
    run_all,
    run_each,
    shares_cells,
)
from recbias.experiment.folds import Source, grid_source, source_splits
from recbias.experiment.grid import Grid
from recbias.experiment.pairs import Pairs, compare_systems, paired_values
from recbias.experiment.planning import Plan, Waiting, current_plan, planning, to_compute
from recbias.experiment.reduction import (
    CROSSED,
    NUMBERS,
    Reader,
    combine_crossed,
    combine_folds,
    fold_tasks,
    reduce_fold,
    resampled_both,
    resampled_draws,
    resampled_users,
    sum_sets,
)
from recbias.experiment.report import Report
from recbias.experiment.reproduction import (
    WIDER,
    agreement,
    comparable_rows,
    compare_arrays,
    compare_corrections,
    compare_frames,
    hundredth_bound,
)
from recbias.experiment.results import (
    Agreement,
    Quantity,
    StoredResult,
    dataset_record,
    kept_as,
    kept_result,
    recorded_result,
    register_kind,
    results_dir,
    values_text,
)
from recbias.experiment.store import frame_from_json, frame_to_json, platform_record
from recbias.experiment.untrainable import remember, systems_left_out
from recbias.metrics import Metric
from recbias.protocol.protocol import Protocol
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.ranking import RankTable
from recbias.recommenders.elsewhere import warn_of_missing
from recbias.stats.resampling import rounded_replicates

__all__ = ["Results", "check_data", "grid_tables", "is_named", "plan", "run"]

WORKERS_FROM = 4_000_000
"""Test ratings, over all cells, from which reducing tables pays the start of worker processes."""

FloatArray = npt.NDArray[np.float64]


@register_kind
@dataclass(frozen=True, eq=False, kw_only=True)
class Results(Report, StoredResult):
    """What a grid gave: values with intervals, replicates and tests; no rating.

    Attributes
    ----------
    grid
        What was measured.
    values : DataFrame
        A row per (system, label, metric): ``value``, 95 % interval ``low`` to ``high`` and standard
        error ``se`` from resampled users, ``fold_sd`` between folds (NaN for a single one), and
        ``n_users``, the users that carry the value. Where the folds are draws of a uniform split,
        the interval and its error hold what draws differ by as well.
    replicates : mapping of int to ndarray of float64, shape (n_replicates,)
        The values on resampled users, by row, for those that the grid keeps; to 16 binary digits.
    tests : DataFrame
        A row per comparison and pair of systems: t and Wilcoxon tests, per user and, for 1R, per
        run. Users are those of the protocol's population. What draws of a uniform split differ by
        is in none of them.
    target_sets : DataFrame
        A row per label, over all folds: number of ``sets`` and the size of the ``smallest``; how
        many hold ``no_relevant`` item, have a ``short_sample`` (the pool was smaller than asked) or
        fewer targets than the largest cutoff (``below_cutoff``: P@n still divides by n).
    crossed : DataFrame
        A row per system and pair of label and metric that the grid asks for: 95 % interval ``low``
        to ``high`` and standard error ``se`` from resampled users *and items*, ranks fixed.
    left_out : mapping of str to str
        Systems that were asked for and cannot be trained on the data, with the reason; `grid` and
        all tables are without them.
    data_dir : Path, optional
        Where the data was looked for, besides ``RECBIAS_DATA``; it is not stored.
    """

    kind: ClassVar[str] = "grid"

    grid: Grid
    values: pd.DataFrame
    replicates: Mapping[int, FloatArray] = field(repr=False)
    tests: pd.DataFrame
    target_sets: pd.DataFrame
    crossed: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CROSSED))
    left_out: Mapping[str, str] = field(default_factory=dict)
    data_dir: Path | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        """Lay all values out in 80 columns: system, design, metric, value and interval."""
        selected = f", {self.grid.select}" if self.grid.select else ""
        title = f"{self.dataset['title']}{selected}"
        about = f"{title}; {self.grid.split}, seed {self.grid.seed}; {self.origin}"
        return values_text(about, self.values)

    def __getitem__(self, names: tuple[str, str, str]) -> Quantity:
        """Return one quantity by system, protocol label and metric."""
        if not isinstance(names, tuple) or len(names) != 3:
            raise ConfigError(f"results[{names!r}]: expected results[system, label, metric]")
        row = self._rows.get(names)
        if row is None and names[0] in self.left_out:
            raise ConfigError(f"not measured: {names[0]} is left out: {self.left_out[names[0]]}")
        if row is None:
            known = (
                self.systems,
                list(self.grid.protocols),
                list(dict.fromkeys(self.values.metric)),
            )
            hints = (
                did_you_mean(str(name), of_kind)
                for name, of_kind in zip(names, known, strict=True)
                if name not in of_kind
            )
            raise ConfigError(
                f"not measured: {names[2]} of {names[0]} under {names[1]}{''.join(hints)}"
            )
        value, low, high = self._numbers[row].tolist()
        method = self._methods[names[1], names[2]]
        return Quantity(value, self.replicates.get(row), method, (low, high))

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], int]:
        columns = (self.values[column].tolist() for column in ("system", "label", "metric"))
        return {names: row for row, names in enumerate(zip(*columns, strict=True))}

    @cached_property
    def _numbers(self) -> FloatArray:
        return self.values[list(NUMBERS[:3])].to_numpy(dtype=np.float64)

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

    def among(self, names: Iterable[str]) -> list[str]:
        """Keep the names of systems that were measured, in the order given."""
        return [name for name in names if name in self._measured]

    @cached_property
    def _measured(self) -> set[str]:
        return set(self.systems)

    def metric(self, label: str, name: str) -> Metric:
        """Return the metric of a name that was measured under a label, whatever its cutoff.

        Raises
        ------
        ConfigError
            If there is none, or more than one, where a name with arguments, ``SR(gamma=1)``, tells
            which.
        """
        metrics = self.named(label, name)
        if len(metrics) != 1:
            raise ConfigError(f"{len(metrics)} metrics {name} were measured under {label!r}")
        return metrics[0]

    def named(self, label: str, name: str) -> Sequence[Metric]:
        """List the metrics measured under a label that a name stands for, as `is_named` says."""
        if (label, name) not in self._named:
            measured = self.grid.parsed_metrics[label]
            self._named[label, name] = tuple(
                metric for metric in measured if is_named(metric, name)
            )
        return self._named[label, name]

    @cached_property
    def _named(self) -> dict[tuple[str, str], tuple[Metric, ...]]:
        return {}

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
        """Return values (in the order of systems, labels, metrics) and the other tables."""
        return {
            "values": frame_to_json(self.values[list(NUMBERS)]),
            "tests": frame_to_json(self.tests),
            "target_sets": frame_to_json(self.target_sets),
            "crossed": frame_to_json(self.crossed),
            **({"left_out": dict(self.left_out)} if self.left_out else {}),
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the kept replicates and their rows."""
        rows = np.array(sorted(self.replicates), dtype=np.int64)
        if not len(rows):
            return {}
        drawn = np.array([self.replicates[row] for row in rows])
        # Flat: rows of bytes, as arrays with two axes are stored, become a fifth larger.
        return {"rows": rows, "replicates": rounded_replicates(drawn).ravel()}

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
        replicates: dict[int, FloatArray] = {}
        if arrays:
            drawn = arrays["replicates"].reshape(len(arrays["rows"]), -1).astype(np.float64)
            replicates = dict(zip(arrays["rows"].tolist(), drawn, strict=True))
        return cls(
            grid=grid,
            values=values,
            replicates=replicates,
            tests=frame_from_json(body["tests"]),
            target_sets=frame_from_json(body["target_sets"]),
            crossed=frame_from_json(body["crossed"]),
            left_out=body.get("left_out", {}),
            **context,
        )

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables of the body, by name, with the names of all rows."""
        return {name: getattr(self, name) for name in self.body() if name != "left_out"}

    def recompute(
        self,
        *,
        systems: int | Sequence[str] | None = None,
        workers: int = 1,
        data_dir: Path | None = None,
    ) -> StoredResult:
        """Run the grid again, or with some of its systems only: `Grid.sample` tells which."""
        if systems is None:
            part = self.grid
        elif isinstance(systems, int):
            part = self.grid.sample(systems)
        else:
            part = self.grid.with_systems(systems)
        dataset = load_dataset(self.dataset_name, data_dir=data_dir)
        return _measure_grid(part, dataset, workers=workers, data_dir=data_dir)

    def verify(self, fresh: StoredResult) -> Agreement:
        """Compare all tables and replicates, within a hundredth of each fresh standard error.

        That of a p value is the one of its statistic. Systems that are known to depend on the
        processor are compared apart, as trainings that may differ by 30 times as much: replicates
        in their root mean square, and ends of intervals as far as this moves them. Corrections for
        the number of pairs have to follow from the p values beside them.
        """
        if not isinstance(fresh, Results):
            return Agreement(0, np.nan, np.nan, ("another kind of result",))
        chosen = set(fresh.systems)
        reasons = {system.name: system.depends_on_processor for system in fresh.grid.systems}
        wide = {name: reason for name, reason in reasons.items() if reason}
        bound = partial(hundredth_bound, wide=set(wide))
        stored, expected = self.frames, fresh.frames
        compared = [
            compare_frames(
                comparable_rows(stored.get(name, pd.DataFrame()), chosen),
                comparable_rows(expected.get(name, pd.DataFrame()), chosen),
                bound,
                name="" if name == "values" else name,
            )
            for name in dict.fromkeys([*expected, *stored])
        ]
        compared += [*self._compare_replicates(fresh, set(wide)), compare_corrections(self.tests)]
        lines = pd.concat([frame for frame in compared if len(frame)], ignore_index=True)
        apart = []
        for name, reason in wide.items():
            of_system = lines["row"].map(lambda row, name=name: name in row).to_numpy(dtype=bool)
            about = f"{name} (depends on the processor: {reason}; {WIDER} times the bound)"
            apart.append(agreement(lines[of_system], about=about))
            lines = lines[~of_system]
        return agreement(lines, apart=tuple(apart))

    def _compare_replicates(self, fresh: Results, wide: set[str]) -> Iterator[pd.DataFrame]:
        """Compare what is kept for the systems of the fresh results, name by name."""
        stored, expected = (
            {names: results.replicates.get(row) for names, row in results._rows.items()}
            for results in (self, fresh)
        )
        limits = hundredth_bound("replicates", fresh.values, wide=wide)
        for (names, drawn), limit in zip(expected.items(), limits, strict=True):
            # Twice what rounding to 16 digits may make of numbers that differ in their last bits.
            least = 2.0**-15 * np.abs(drawn) if drawn is not None else 0.0
            both, bounds = (stored.get(names), drawn), np.fmax(limit, least)
            yield compare_arrays(names, "replicates", *both, bounds, together=names[0] in wide)


def is_named(metric: Metric, name: str) -> bool:
    """Tell whether a name stands for a metric, whatever its cutoff and condition.

    Parameters
    ----------
    metric
        A metric.
    name
        Its name, alone or with its arguments.

    Examples
    --------
    >>> one = Metric("nDCG", 10, "exp")
    >>> [is_named(one, name) for name in ("nDCG", "nDCG(exp)", "nDCG(linear)", "nDCG@10")]
    [True, True, False, False]
    """
    return name in (metric.name, re.split("[@|]", str(metric))[0])


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
    workers: Workers = 1,
    data_dir: Path | None = None,
    name: str = "",
) -> Results:
    """Measure a grid, computing only the cells that are not there yet.

    Where ``name`` stands for live results whose code, parameters and data are the same, those are
    returned; where the dataset is not at hand, recorded ones. What kept artefacts of a cell cannot
    answer, such as a sample of another size, is trained for again; the progress bar says what for.

    Parameters
    ----------
    grid
        What to measure.
    workers
        Local processes; or a Dask cluster by the address or file of its scheduler or a client, or
        any executor: see :func:`recbias.experiment.cluster.open_cluster`. The results do not
        depend on it, bit for bit.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.
    name
        Name under which a page of the book keeps these results, e.g. ``"systems"``, and by which
        its criteria find them; see :func:`recbias.experiment.results.kept_as`. Live results are
        written below ``_build/results``. Outside of a page a short name keeps nothing.

    Returns
    -------
    Results

    Raises
    ------
    MissingData
        If the dataset is neither at hand nor recorded.
    TrainingError
        If none of the systems can be trained on the data; one that cannot is left out, see
        `Results.left_out`.
    StoreError
        If recorded results exist but were computed with other data, parameters or code; if the
        data changes while the grid runs.

    Warns
    -----
    StoreWarning
        If an artefact was damaged; it is computed again.
    """
    if not isinstance(grid, Grid):
        raise ConfigError(f"run: expected a Grid, got {type(grid).__name__} {grid!r}")
    check_workers(workers)
    record, planned = kept_as(name), current_plan()
    try:
        dataset = load_dataset(grid.dataset, data_dir=data_dir)
    except MissingData as missing:
        if record is None:
            raise
        found = dataclasses.replace(_recorded(grid, record, missing), data_dir=data_dir)
        return found if planned is None else planned.noted(record, "recorded", found)
    grid.warn_of_split(dataset)
    if record is not None:
        stored = kept_result(record, dataset.name, grid.key_of(grid.hashes(dataset)))
        if isinstance(stored, Results):
            # The same table may be elsewhere now.
            stored = dataclasses.replace(stored, grid=grid, data_dir=data_dir)
            return stored if planned is None else planned.noted(record, "kept", stored)
    if planned is not None:
        for label, protocol in grid.parsed.items():
            check_data(protocol, grid.parsed_metrics[label], dataset.ratings, dataset.title)
        cells = [cell for _, cell in grid_cells(grid, dataset, data_dir)]
        planned.note_cells(record or dataset.title, cells)
        about = dataset_record(dataset, grid.hashes(dataset))
        return cast(
            Results, Waiting(grid=grid, dataset=about, systems=[each.name for each in grid.systems])
        )
    results = _measure_grid(grid, dataset, workers=workers, data_dir=data_dir)
    if record is not None and clone_root() is not None:
        results.save(results_dir(dataset.name, recorded=False) / record)
    return results


def _recorded(grid: Grid, record: str, missing: MissingData) -> Results:
    saved = recorded_result(record, grid.dataset, missing)
    hashes = dict(saved.dataset["hashes"])
    if "observed" in hashes:
        hashes["observed"] = str(dataset_info(grid.dataset).content_hash)
    if not isinstance(saved, Results) or saved.key != grid.without(saved.left_out).key_of(hashes):
        raise StoreError(
            f"{results_dir(grid.dataset, recorded=True) / record}: recorded with other parameters "
            f"than asked for\n{missing}"
        ) from missing
    return saved


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
            reader = Reader(cell)
            yield system, cell.fold, cell.repeat, reader.table(grid, label)


def plan(grid: Grid, *, data_dir: Path | None = None) -> Plan:
    """Tell what `run` would do with a grid, computing and writing nothing.

    Parameters
    ----------
    grid, data_dir
        As of `run`.

    Returns
    -------
    Plan
        Printed, it says which cells `run` would compute and which it would read, and what that is
        estimated to take, from what earlier cells took. A system that cannot be trained on the
        data is found out only by training it.

    Raises
    ------
    ConfigError, MissingData
        As `run` does, for what it refuses before it begins.

    Examples
    --------
    >>> from recbias import Grid, System
    >>> grid = Grid("synthetic", [System("Random", "Random")], "TI-AN-AR rel>=4", "P@10")
    >>> len(plan(grid).steps)
    1
    """
    with planning() as planned:
        run(grid, data_dir=data_dir)
    return planned


def _measure_grid(
    grid: Grid, dataset: Dataset, *, workers: Workers, data_dir: Path | None
) -> Results:
    started, used = time.perf_counter(), time.process_time()
    for label, protocol in grid.parsed.items():
        check_data(protocol, grid.parsed_metrics[label], dataset.ratings, dataset.title)
    features, hashes = grid.item_features(dataset), grid.hashes(dataset)
    cells = grid_cells(grid, dataset, data_dir)
    missing = [(name, cell) for name, cell in cells if cell.missing()]
    untried = to_compute(_long_first(grid, missing))
    again = artefacts_to_train(untried)
    tasks = fold_tasks(grid, cells, features)
    n_rows = len(cells) * len(cell_split(cells[0][1], cells[0][1].artefacts[0]).test)
    n_workers = at_most(workers, max(len(untried), len(tasks)))
    waiting = isinstance(n_workers, int) and are_waiting(n_workers)
    needed = bool(untried) or n_rows >= WORKERS_FROM or waiting
    title = f"{dataset.name}: cells" + (f", trained again for {'; '.join(again)}" if again else "")
    sizes = dataset.ratings.n_users, dataset.ratings.n_items
    weights = both = None
    values: list[pd.DataFrame] = []
    drawn: list[FloatArray] = []
    crossed: list[tuple[str | float, ...]] = []
    pairs: dict[str, list[Pairs]] = {}
    sets: dict[str, dict[str, int]] = {}
    # Classes from elsewhere may be edited before the next grid, under the same name.
    reusable = not any(grid.outside)
    with open_executor(n_workers if needed else 1, kept=reusable) as executor:
        tried = run_all(run_cell, untried, executor, label=title, after=len(tasks))
        reason_by_cell = dict(zip(untried, tried, strict=True))
        reasons = [remember(cell, reason_by_cell.get(cell)) for _, cell in missing]
        left_out = systems_left_out(grid, dataset, [name for name, _ in missing], reasons)
        grid = grid.without(left_out)
        tasks = [task for task in tasks if task.grid.systems[0].name not in left_out]
        readers = executor if shares_cells(executor) else None
        title = f"{dataset.name}: measures"
        reduced = run_each(reduce_fold, tasks, readers, label=title, before=len(untried))
        for system in grid.systems:
            n_tasks = sum(task.grid.systems == (system,) for task in tasks)
            folds, damaged = zip(*islice(reduced, n_tasks), strict=True)
            if weights is None:  # of many users they take much, and the first folds as well
                weights = resampled_users(sizes[0], grid.seed)
                both = resampled_both(*sizes, grid.seed) if grid.crossed else None
            for path in (path for paths in damaged for path in paths):
                warnings.warn(f"{path}: was damaged, computed again", StoreWarning, stacklevel=3)
            for label in grid.parsed:
                parts = [fold[label] for fold in folds]
                design, metrics = grid.parsed[label], grid.parsed_metrics[label]
                draws = resampled_draws(grid.split, len(parts), grid.seed)
                numbers, replicates = combine_folds(design, metrics, parts, weights, draws)
                values.append(numbers)
                drawn += replicates
                if both is not None:
                    of_label = combine_crossed(grid, label, parts, *both)
                    crossed += [(system.name, *row) for row in of_label]
                sets[label] = sum_sets([part.sets for part in parts])  # the same for all systems
                beyond = [part.beyond for part in parts]
                source = grid_source(grid, dataset, data_dir, str(grid.test(label).judgments))
                condensed = grid.parsed[label].condensed
                warn_of_missing(system, label, beyond, partial(_split, source), condensed=condensed)
            pairs[system.name] = paired_values(grid, folds)
    rows = pd.concat([_names(grid), pd.concat(values, ignore_index=True)], axis=1)
    return Results(
        grid=grid,
        key=grid.key_of(hashes),
        dataset=dataset_record(dataset, hashes),
        values=rows,
        replicates=_kept(grid, rows, drawn),
        tests=compare_systems(grid, pairs),
        target_sets=pd.DataFrame([{"label": label, **counts} for label, counts in sets.items()]),
        crossed=pd.DataFrame(crossed, columns=CROSSED),
        left_out=left_out,
        data_dir=data_dir,
        provenance=platform_record(),
        times={
            "seconds": round(time.perf_counter() - started, 1),
            "processor_seconds": round(time.process_time() - used, 1),
            "peak_mb": peak_mb(),
            "cells": len(cells),
            "computed": len(untried),
        },
    )


def _long_first(grid: Grid, named_cells: Sequence[tuple[str, Cell]]) -> list[Cell]:
    """Order the cells of each fold: whoever has done the last one waits for those still at work.

    What is drawn in training is improved in many rounds; most of what is not takes one.
    """
    short = {system.name: not system.random_training for system in grid.systems}
    by_fold = groupby(named_cells, key=lambda named_cell: named_cell[1].fold)
    return [
        cell
        for _, of_fold in by_fold
        for _, cell in sorted(of_fold, key=lambda named_cell: short[named_cell[0]])
    ]


def _split(source: Source, fold: int) -> Split:
    return source_splits(source)[fold]


def check_data(protocol: Protocol, metrics: Iterable[Metric], ratings: Ratings, title: str) -> None:
    """Refuse a threshold that no rating reaches, and a cutoff above the catalogue.

    And warn of samples by popularity.
    """
    if protocol.rule.drawn == "popularity":
        warnings.warn(
            f"{protocol}: values among sampled items are not those among all, and may order "
            "systems otherwise, however often one draws; popular items in the sample punish "
            "systems that list such. AN ranks all items",
            DataWarning,
            stacklevel=4,
        )
    if not relevant(ratings.value, protocol.min_rating).any():
        scale = ratings.scale
        raise ConfigError(
            f"{protocol}: no rating of {title} is that high; its scale is "
            f"{exact(scale.minimum)} to {exact(scale.maximum)}"
        )
    for metric in metrics:
        if metric.cutoff is not None and metric.cutoff > ratings.n_items:
            raise ConfigError(
                f"{metric}: the cutoff is above the catalogue of {title}, {ratings.n_items:,} items"
            )


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
    rounded = rounded_replicates([drawn[row] for row in places]).astype(np.float64)
    return dict(zip(places, rounded, strict=True))
