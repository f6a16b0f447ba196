"""What each user contributes to the values of a grid: what tests over users stand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.users import reduced_systems, user_values
from recbias.metrics.aggregation import finish, weighted_units
from recbias.stats.comparison import paired_t

FloatArray = npt.NDArray[np.float64]


class Users(NamedTuple):
    """A metric of a system, user by user.

    Attributes
    ----------
    values : ndarray of float64, shape (n_users,)
        NaN for who is not counted; logarithms where the mean is geometric.
    weights : ndarray of float64, shape (n_users,)
        0 for who is not counted.
    value
        What they come to.
    """

    values: FloatArray
    weights: FloatArray
    value: float


def each_seed(
    grid: Grid, seeds: Sequence[int], splits: Sequence[str] = (), *, n_training: int | None = 1
) -> Iterator[Grid]:
    """Ask the same of other splits."""
    systems = grid.systems
    if n_training is not None:
        systems = tuple(replace(system, n_seeds=n_training) for system in systems)
    for seed in seeds:
        for split in splits or (grid.split,):
            yield replace(
                grid, systems=systems, seed=seed, split=split, compare=(), replicates=(),
            )  # fmt: skip


def measure_users(
    grid: Grid, dataset: Dataset, *, workers: int = 1
) -> Iterator[tuple[str, Mapping[tuple[str, str], Users]]]:
    """Measure every user under every system of a grid."""
    for name, (parts,) in reduced_systems(grid, dataset, workers=workers):
        users = {}
        for label, metrics in grid.by_label.items():
            (columns,) = parts[label].columns
            averaging = grid.parsed[label].averaging
            values = finish(columns.sum(axis=1), averaging, n_metrics=len(metrics))
            of_users = user_values(grid, label, [parts])
            for metric, value in zip(metrics, values.tolist(), strict=True):
                users[label, metric] = Users(*of_users[metric], value)
        yield name, users


class Compared(NamedTuple):
    """The difference of two means over users, with its 95 % interval and the p of its test."""

    value: float
    low: float
    high: float
    p: float


def compare_users(a: Users, b: Users, *, geometric: bool = False) -> Compared:
    r"""Test whether two systems have the same mean, over users."""
    counted = ~np.isnan(a.values) & ~np.isnan(b.values)
    x, y, weights = a.values[counted], b.values[counted], a.weights[counted]
    n = len(x)
    if n < 2:
        return Compared(a.value - b.value, np.nan, np.nan, np.nan)
    if geometric:
        p = float(paired_t(x, y).p_value)
        moved = np.exp(x.mean()) * (x - x.mean()) - np.exp(y.mean()) * (y - y.mean())
        half = float(stdtrit(n - 1, 0.975) * moved.std(ddof=1) / np.sqrt(n))
        value = a.value - b.value
        return Compared(value, value - half, value + half, p)
    units = weighted_units(x - y, weights)
    test = paired_t(units, np.zeros(n))
    return Compared(*map(float, (test.difference, test.low, test.high, test.p_value)))
