"""From crossed options to numbers: what has to be trained, what is read together, and by whom."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.datasets import Dataset
from recbias.errors import ConfigError, DataError, StoreWarning
from recbias.experiment.cells import Cell, artefacts_of, grid_cells, run_cell
from recbias.experiment.engine import Workers, open_executor, run_all, run_each, shares_cells
from recbias.experiment.folds import reduced_splits, source_splits
from recbias.experiment.grid import Grid
from recbias.experiment.options import Options
from recbias.experiment.reduction import Task, fold_tasks
from recbias.experiment.untrainable import known_reason, remember
from recbias.multiverse.crossing import Branch, Crossing, view_of
from recbias.multiverse.measuring import COLUMNS, Average, Part, measure_part
from recbias.protocol.protocol import Protocol
from recbias.protocol.targets import Targets
from recbias.ranking import check_samples

__all__ = ["measure_all"]


def measure_all(
    asked: Grid,
    dataset: Dataset,
    crossing: Crossing,
    wanted: npt.NDArray[np.int64],
    n_flips: int,
    workers: Workers,
    data_dir: Path | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float32], dict[int, str]]:
    """Measure combinations of branch and design; tell which could not be, and why."""
    numbers = np.full((len(wanted), len(COLUMNS) + len(crossing.pairs)), np.nan)
    t = np.full((len(wanted), 1 + n_flips), np.nan, dtype=np.float32)
    refused: dict[int, str] = {}
    designs = _asked_of(asked, crossing.designs)
    of_row = [designs[number] for number in (wanted % len(designs)).tolist()]
    branches: list[tuple[Grid, list[tuple[str, Any]], list[int]]] = []
    for number, branch in enumerate(crossing.branches):
        by_groups: dict[str, list[int]] = {}
        for row in np.flatnonzero(wanted // len(designs) == number).tolist():
            by_groups.setdefault(of_row[row].groups, []).append(row)
        for groups, of_rows in by_groups.items():
            try:
                grid = _grid(asked, branch, groups, [of_row[row] for row in of_rows])
                grid.warn_of_split(dataset)
                cells = grid_cells(grid, dataset, data_dir)
                if small := _too_small(grid, cells):
                    refused |= {row: small[label] for row in of_rows
                                if (label := of_row[row].label) in small}  # fmt: skip
                    of_rows = [row for row in of_rows if row not in refused]
                    if not of_rows:
                        continue
                    grid = _grid(asked, branch, groups, [of_row[row] for row in of_rows])
                    cells = grid_cells(grid, dataset, data_dir)
                branches.append((grid, cells, of_rows))
            except (ConfigError, DataError) as error:
                of_data = f"{branch.select}: " if str(branch.select) else ""
                refused |= dict.fromkeys(of_rows, of_data + str(error).partition("\n")[0])
    missing = [
        cell for _, cells, _ in branches for _, cell in cells
        if cell.missing() and known_reason(cell) is None
    ]  # fmt: skip
    reusable = not any(asked.outside)
    with open_executor(workers, kept=reusable) as executor:
        reasons = run_all(run_cell, missing, executor, label=f"{dataset.name}: cells")
        reason_of = dict(zip(missing, reasons, strict=True))
        parts: list[tuple[Part, list[int]]] = []
        for grid, cells, rows in branches:
            known = [remember(cell, reason_of.get(cell)) for _, cell in cells]
            if reason := next(filter(None, known), None):
                refused |= dict.fromkeys(rows, reason)
                continue
            of_label = {row: of_row[row] for row in rows}
            parts += _parts(fold_tasks(grid, cells), of_label, crossing, n_flips)
        readers = executor if shares_cells(executor) else None
        found = run_each(
            measure_part, [part for part, _ in parts], readers, label=f"{dataset.name}: universes"
        )
        for (_, rows), measured in zip(parts, found, strict=True):
            numbers[rows], t[rows] = measured.numbers, measured.t
            refused |= {rows[place]: reason for place, reason in measured.refused.items()}
            for path in measured.damaged:
                warnings.warn(f"{path}: was damaged, computed again", StoreWarning, stacklevel=3)
    nobody = np.flatnonzero(np.isnan(numbers[:, 0])).tolist()
    return numbers, t, {**dict.fromkeys(nobody, "there is no value on these data"), **refused}


class _Asked(NamedTuple):
    """What a design asks of a grid."""

    label: str
    view: str
    test: str
    metric: str
    protocol: Protocol
    groups: str


def _asked_of(asked: Grid, designs: Sequence[Options]) -> list[_Asked]:
    """Say once for each design what all branches ask."""
    groups: dict[tuple[Any, ...], str] = {}
    asks = []
    for design in designs:
        key = design.protocol.rule, design.test
        if key not in groups:
            groups[key] = design.grid(asked.dataset, asked.systems).groups
        view, test = str(view_of(design.protocol)), str(design.test)
        metric = str(design.measured)
        asks.append(_Asked(f"{view}; {test}", view, test, metric, design.protocol, groups[key]))
    return asks


def _grid(asked: Grid, branch: Branch, groups: str, designs: Sequence[_Asked]) -> Grid:
    """Ask for all that the universes of a branch are made of."""
    metrics: dict[str, dict[str, None]] = {}
    for design in designs:
        metrics.setdefault(design.label, {})[design.metric] = None
    return Grid(
        asked.dataset,
        asked.systems,
        {design.label: design.view for design in designs},
        {label: tuple(texts) for label, texts in metrics.items()},
        split=branch.split,
        seed=branch.seed,
        tests={design.label: design.test for design in designs},
        groups=groups,
        replicates=(),
        select=branch.select,
    )


def _too_small(grid: Grid, cells: Sequence[tuple[str, Cell]]) -> dict[str, str]:
    """Tell of which labels some fold has too few items to sample from; the others can be ranked."""
    reasons: dict[str, str] = {}
    for label, protocol in grid.parsed.items():
        (artefact, *_) = artefacts_of(grid, label)
        for name, cell in cells:
            if not artefact.rule or name != grid.systems[0].name or artefact not in cell.artefacts:
                continue
            source = cell.source_of(artefact)
            whole = artefact.test == source.judgments
            split = (
                source_splits(source)[cell.fold]
                if whole
                else reduced_splits(source, cell.fold, artefact.test)
            )
            try:
                check_samples(split, [Targets(protocol.rule, artefact.min_rating)])
            except ConfigError as error:
                reasons[label] = str(error).partition("\n")[0]
    return reasons


def _parts(
    tasks: Sequence[Task], designs: Mapping[int, _Asked], crossing: Crossing, n_flips: int
) -> list[tuple[Part, list[int]]]:
    """Divide what a branch measures by the artefacts that it is read from."""
    grid, half = tasks[0].grid, len(tasks) // 2  # one system's folds, then those of the other
    sides = tuple(tasks[:half]), tuple(tasks[half:])
    artefacts = {label: artefacts_of(grid, label)[-1] for label in grid.parsed}
    places = {
        (label, text): place
        for label, texts in grid.by_label.items()
        for place, text in enumerate(texts)
    }
    by_artefact: dict[Any, dict[str, dict[Protocol, list[tuple[int, int]]]]] = {}
    for row, design in designs.items():
        labels = by_artefact.setdefault(artefacts[design.label], {})
        of_protocol = labels.setdefault(design.label, {}).setdefault(design.protocol, [])
        of_protocol.append((places[design.label, design.metric], row))
    parts = []
    for labels in by_artefact.values():
        rows: list[int] = []
        averages: dict[str, list[Average]] = {}
        for label, protocols in labels.items():
            for protocol, of_protocol in protocols.items():
                metrics, own = zip(*of_protocol, strict=True)
                numbers = tuple(range(len(rows), len(rows) + len(own)))
                averages.setdefault(label, []).append(Average(protocol, metrics, numbers))
                rows += own
        pairs, seed = tuple(crossing.pairs), crossing.seeds[0]
        parts.append((Part(sides, averages, pairs, len(rows), n_flips, seed), rows))
    return parts
