"""Values of single users: what the cells of a grid say of each, read when somebody asks."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.datasets import Dataset
from recbias.errors import StoreWarning, TrainingError
from recbias.experiment.cells import grid_cells, run_missing
from recbias.experiment.grid import Grid
from recbias.experiment.reduction import (
    FoldPart,
    by_kind,
    fold_tasks,
    n_averaged_groups,
    reduce_fold,
)
from recbias.metrics import Metric
from recbias.protocol.protocol import Protocol

__all__ = [
    "UserValues",
    "part_of",
    "reduced_systems",
    "user_values",
    "users_frame",
    "values_of_parts",
]

FloatArray = npt.NDArray[np.float64]


class UserValues(NamedTuple):
    """A metric of one system, user by user.

    Attributes
    ----------
    values : ndarray of float64, shape (n_users,)
        Each user's mean over folds or runs, a logarithm where the average is geometric; NaN for who
        is not counted.
    weights : ndarray of float64, shape (n_users,)
        What each weighs in the average; 0 for who is not counted.
    """

    values: FloatArray
    weights: FloatArray


def part_of(grid: Grid, systems: Iterable[str], wanted: Mapping[str, Sequence[str]]) -> Grid:
    """Ask a part of a grid: some systems, and some metrics by label; comparable ones are compared.

    Its cells are those of the grid.
    """
    chosen = set(systems)
    return dataclasses.replace(
        grid,
        systems=tuple(system for system in grid.systems if system.name in chosen),
        protocols={label: str(grid.parsed[label]) for label in wanted},
        metrics=dict(wanted),
        tests={label: text for label, text in grid.tests.items() if label in wanted},
        compare=tuple(
            (label, str(metric))
            for label in wanted
            for metric in grid.parsed_metrics[label]
            if str(metric) in wanted[label] and grid.is_comparable(label, metric)
        ),
        replicates=(),
        crossed=(),
    )


def reduced_systems(
    grid: Grid, dataset: Dataset, *, data_dir: Path | None = None, workers: int = 1
) -> Iterator[tuple[str, list[dict[str, FoldPart]]]]:
    """Yield the parts of all folds, by label, system by system; missing cells are computed first.

    By so many local processes; the results do not depend on it.

    Raises
    ------
    TrainingError
        If a cell is not there any more and its system cannot be trained.

    Warns
    -----
    StoreWarning
        If an artefact was damaged; it is computed again.
    """
    cells = grid_cells(grid, dataset, data_dir)
    label = f"{dataset.name}: cells"
    if failed := run_missing((cell for _, cell in cells), workers=workers, label=label):
        raise TrainingError(failed[0])
    tasks = fold_tasks(grid, cells, grid.item_features(dataset))
    for system in grid.systems:
        folds = []
        for task in (task for task in tasks if task.grid.systems == (system,)):
            parts, damaged = reduce_fold(task)
            folds.append(parts)
            for path in damaged:
                warnings.warn(f"{path}: was damaged, computed again", StoreWarning, stacklevel=4)
        yield system.name, folds


def user_values(
    grid: Grid, label: str, folds: Sequence[Mapping[str, FoldPart]]
) -> dict[str, UserValues]:
    """Take the values of users out of the parts of all folds of a system, under one label."""
    parts = [fold[label] for fold in folds]
    return values_of_parts(grid.parsed[label], grid.parsed_metrics[label], parts)


def values_of_parts(
    protocol: Protocol, metrics: Sequence[Metric], parts: Sequence[FoldPart]
) -> dict[str, UserValues]:
    """Take the values of users out of the parts of all folds of a system.

    Returns
    -------
    dict of str to UserValues
        By metric, without those of the system as a whole. Where groups of runs are averaged, a
        user's value is the mean of their runs in any group.
    """
    of_ranks, of_items, _ = by_kind(metrics)
    n_users = len(parts[0].member)
    values: dict[str, UserValues] = {}
    if parts[0].medians:
        for of_kind, units in zip(
            (of_ranks, of_items), zip(*(part.medians for part in parts), strict=True), strict=False
        ):
            user = np.concatenate([unit[2] for unit in units])
            for place, metric in enumerate(of_kind):
                value = np.concatenate([unit[0][place] for unit in units])
                known = ~np.isnan(value)
                total = np.bincount(user[known], value[known], minlength=n_users).astype(np.float64)
                size = np.bincount(user[known], minlength=n_users).astype(np.float64)
                values[str(metric)] = _means(total, size)
        return values
    sums = [np.sum(kind, axis=0) for kind in zip(*(part.columns for part in parts), strict=True)]
    if of_ranks:
        shape = n_averaged_groups(protocol), len(of_ranks) + 1, n_users
        *totals, size = sums[0].reshape(shape).sum(axis=0)
        values |= {str(m): _means(total, size) for m, total in zip(of_ranks, totals, strict=True)}
    if of_items:
        totals, sizes = np.split(sums[1], 2)
        for metric, total, size in zip(of_items, totals, sizes, strict=True):
            values[str(metric)] = _means(total, size)
    return values


def _means(total: FloatArray, size: FloatArray) -> UserValues:
    values = np.divide(total, size, out=np.full(len(total), np.nan), where=size > 0)
    return UserValues(values, size)


def users_frame(
    grid: Grid,
    systems: Iterable[str],
    wanted: Mapping[str, Sequence[str]],
    dataset: Dataset,
    *,
    data_dir: Path | None = None,
) -> pd.DataFrame:
    """Return a row per system, label, metric and user, as `Results.per_user` describes it."""
    part = part_of(grid, systems, wanted)
    names: list[tuple[str, str, str]] = []
    rows: list[FloatArray] = []
    for system, folds in reduced_systems(part, dataset, data_dir=data_dir):
        for label, metrics in part.by_label.items():
            epsilon = part.parsed[label].averaging.epsilon
            users = user_values(part, label, folds)
            for metric in metrics:
                values = users[metric].values
                names.append((system, label, metric))
                rows.append(values if epsilon is None else np.exp(values) - epsilon)
    ids = dataset.ratings.user_ids
    columns: dict[str, Any] = {}
    for name, column in zip(("system", "label", "metric"), zip(*names, strict=True), strict=True):
        known = list(dict.fromkeys(column))
        codes = np.repeat(np.array([known.index(text) for text in column], np.int32), len(ids))
        columns[name] = pd.Categorical.from_codes(codes, categories=pd.Index(known))
    columns |= {"user_id": np.tile(ids, len(rows)), "value": np.concatenate(rows)}
    return pd.DataFrame(columns)
