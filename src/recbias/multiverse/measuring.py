"""Universes of one branch, measured together: each table of ranks is read and measured once.

What differs between universes that share a table are arrays: values by metric, weights of users by
average. Resampled users and swapped systems are one matrix each, which meets all universes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.errors import ConfigError, StoreError
from recbias.experiment.cells import (
    artefact_of,
    cell_dataset,
    cell_relevant_counts,
    cell_split,
    one_thread,
)
from recbias.experiment.outcomes import OF_USERS, median_test, paired_tests
from recbias.experiment.reduction import (
    FoldPart,
    Reader,
    Task,
    combine_folds,
    contributed,
    metric_identities,
    n_averaged_groups,
    resampled_draws,
    resampled_users,
)
from recbias.experiment.results import Quantity
from recbias.experiment.users import UserValues, values_of_parts
from recbias.metrics import Metric, measure
from recbias.metrics.aggregation import finish
from recbias.protocol.protocol import Protocol
from recbias.ranking import RankTable
from recbias.stats.resampling import interval, rounded_replicates

__all__ = ["COLUMNS", "Average", "Measured", "Part", "measure_part", "signs_of"]

COLUMNS = ("difference", "se", "low", "high", "n_users", "effect")
"""What is told of a universe, whatever the paired test."""

FloatArray = npt.NDArray[np.float64]
Flipped = npt.NDArray[np.float32]
_Ranked = tuple[RankTable, FloatArray]


class Average(NamedTuple):
    """One average of the users of a label, of some of its metrics, and which rows that gives."""

    protocol: Protocol
    metrics: tuple[int, ...]
    rows: tuple[int, ...]


class Part(NamedTuple):
    """What a worker measures: labels whose ranks are one artefact, both systems, all folds."""

    tasks: tuple[tuple[Task, ...], tuple[Task, ...]]
    averages: dict[str, list[Average]]
    pairs: tuple[str, ...]
    n_rows: int
    n_flips: int
    flip_seed: int


class Measured(NamedTuple):
    """What came out: a row per universe.

    ``numbers`` are those of `COLUMNS` and p by each paired test; ``t`` is that of users' values as
    observed, then with the systems swapped at random users: NaN of medians. ``refused`` says why
    rows are NaN, ``damaged`` which artefacts were computed again.
    """

    numbers: FloatArray
    t: Flipped
    refused: dict[int, str]
    damaged: list[str]


@lru_cache(maxsize=1)
def signs_of(n_users: int, n_flips: int, seed: int) -> Flipped:
    """Draw for which users the systems are swapped (-1); nobody in the first row."""
    drawn = stream(seed, "multiverse", "flips").integers(0, 2, (n_flips, n_users), dtype=np.int8)
    signs = np.ones((1 + n_flips, n_users), dtype=np.float32)
    signs[1:][drawn == 0] = -1
    return signs


@lru_cache(maxsize=2)
def _weights(n_users: int, seed: int) -> FloatArray:
    return resampled_users(n_users, seed).astype(np.float64)


def measure_part(part: Part) -> Measured:
    """Measure the universes of a part."""
    found = Measured(
        np.full((part.n_rows, len(COLUMNS) + len(part.pairs)), np.nan),
        np.full((part.n_rows, 1 + part.n_flips), np.nan, dtype=np.float32),
        {},
        [],
    )
    for task in (*part.tasks[0], *part.tasks[1]):
        task.outside.load()
        if metric_identities(task.grid) != task.metrics:
            raise StoreError("the code of a metric changed while an experiment ran; run it again")
    ranked: dict[str, list[list[_Ranked]]] = {label: [[], []] for label in part.averages}
    reasons: dict[str, str] = {}
    with one_thread():
        # Fold by fold: what a table is made from takes several times what it takes itself.
        for of, side in enumerate(part.tasks):
            for task in side:
                readers = [Reader(cell) for cell in task.cells]
                for label in [label for label in ranked if label not in reasons]:
                    try:
                        ranked[label][of].append(_ranked(task, readers, label))
                    except ConfigError as error:
                        reasons[label] = str(error).partition("\n")[0]
                found.damaged.extend(path for reader in readers for path in reader.damaged)
        for label, averages in part.averages.items():
            sides = ranked.pop(label)
            if label in reasons:
                rows = [row for average in averages for row in average.rows]
                found.refused.update(dict.fromkeys(rows, reasons[label]))
            else:
                _measure_label(part, label, sides, found)
    return found


def _ranked(task: Task, readers: Sequence[Reader], label: str) -> _Ranked:
    """Measure one system on one fold by all metrics of a label, averaged over training seeds."""
    grid, protocol = task.grid, task.grid.parsed[label]
    artefact = artefact_of(grid, label)
    readers = [reader for reader in readers if artefact in reader.cell.artefacts]
    cell = readers[0].cell
    tables = [reader.table(grid, label) for reader in readers]
    values = [
        measure(
            table,
            grid.parsed_metrics[label],
            min_rating=protocol.min_rating,
            condensed=protocol.condensed,
            rating_max=cell_dataset(cell).ratings.scale.maximum,
            relevant_counts=cell_relevant_counts(cell, artefact, protocol.min_rating),
        )
        for table in tables
    ]
    trained = cell_split(cell, artefact).train.user_counts()
    return dataclasses.replace(tables[-1], trained=trained), np.mean(values, axis=0)


class _Pair(NamedTuple):
    """Both systems under one average: what users add to sums, in all and, of draws, by fold."""

    average: Average
    folds: list[list[FloatArray]]
    columns: list[FloatArray]

    @property
    def is_linear(self) -> bool:
        """Whether the difference of values is one ratio of sums over users."""
        protocol, n = self.average.protocol, len(self.average.metrics)
        is_ratio = protocol.averaging.epsilon is None and n_averaged_groups(protocol) == 1
        return is_ratio and np.array_equal(self.columns[0][n:], self.columns[1][n:])

    def values(self, sums: FloatArray) -> FloatArray:
        """Turn sums of columns into values, shape (..., n_metrics)."""
        protocol = self.average.protocol
        n_groups = n_averaged_groups(protocol)
        return finish(sums, protocol.averaging, len(self.average.metrics), n_groups)

    def difference(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Subtract values of columns that are summed over all users."""
        return self.values(a.sum(axis=1)) - self.values(b.sum(axis=1))


def _measure_label(
    part: Part,
    label: str,
    sides: Sequence[Sequence[_Ranked]],
    found: Measured,
) -> None:
    """Fill in the rows of one label."""
    grid = part.tasks[0][0].grid
    metrics, n_users = grid.parsed_metrics[label], sides[0][0][0].n_users
    draws = resampled_draws(grid.split, len(sides[0]), grid.seed)
    pairs: list[_Pair] = []
    tested: list[tuple[Average, FloatArray, int]] = []
    for average in part.averages[label]:
        protocol, rows = average.protocol, list(average.rows)
        chosen = [metrics[place] for place in average.metrics]
        try:
            folds = [
                [_fold_part(table, values[list(average.metrics)], protocol) for table, values in of]
                for of in sides
            ]
        except ConfigError as error:
            found.refused.update(dict.fromkeys(rows, str(error).partition("\n")[0]))
            continue
        a, b = (list(values_of_parts(protocol, chosen, of).values()) for of in folds)
        if protocol.averaging.statistic == "median":
            weights = resampled_users(n_users, grid.seed)
            medians = [combine_folds(protocol, chosen, of, weights, draws) for of in folds]
            for place, row in enumerate(rows):
                _test_medians(part, found, row, [a[place], b[place]], [
                    Quantity(float(numbers["value"][place]), rounded_replicates(drawn[place])
                             .astype(np.float64), chosen[place].declaration.interval)
                    for numbers, drawn in medians
                ])  # fmt: skip
            continue
        columns = [[fold.columns[0] for fold in of] for of in folds]
        apart = [] if draws is None else columns
        pairs.append(_Pair(average, apart, [np.sum(of, axis=0) for of in columns]))
        tested += _test_means(part, found, average, a, b, grid.seed)
    if pairs:
        _resample(pairs, _weights(n_users, grid.seed), draws, metrics, found.numbers)
    if tested:
        signs = signs_of(n_users, part.n_flips, part.flip_seed)
        at = np.concatenate([average.rows for average, _, _ in tested])
        n = np.concatenate([np.full(len(units), size) for _, units, size in tested])
        found.t[at] = studentised(np.concatenate([units for _, units, _ in tested]), n, signs)


def _fold_part(table: RankTable, values: FloatArray, protocol: Protocol) -> FoldPart:
    columns, medians = contributed(table, values, None, protocol)
    nobody, nothing = np.zeros(table.n_users, dtype=bool), np.empty((0, table.n_users))
    return FoldPart(columns, medians, np.empty(0), nothing, nobody, None, {}, None, {})


def _test_means(
    part: Part, found: Measured, average: Average, a: list[UserValues], b: list[UserValues],
    seed: int,
) -> list[tuple[Average, FloatArray, int]]:  # fmt: skip
    """Test the users that both serve; return what each adds, with metrics of the same users."""
    known = np.array([~np.isnan(x.values) & ~np.isnan(y.values) for x, y in zip(a, b, strict=True)])
    alike = [range(len(a))] if (known == known[0]).all() else [[place] for place in range(len(a))]
    tested = []
    for places in alike:
        both = known[places[0]]
        n = int(both.sum())
        rows = [average.rows[place] for place in places]
        found.numbers[rows, _N_USERS] = n
        if n < 2:
            continue
        values, others = (
            np.array([side[place].values[both] for place in places]) for side in (a, b)
        )
        weights = (a[places[0]].weights[both] + b[places[0]].weights[both]) / 2
        t, p_values = paired_tests(
            values, others, np.broadcast_to(weights, values.shape), part.pairs, seed=seed
        )
        found.numbers[rows, _N_USERS + 1] = t / np.sqrt(n)
        found.numbers[rows, len(COLUMNS) :] = np.transpose(p_values)
        units = np.zeros((len(places), len(both)))
        units[:, both] = weights * (values - others)
        tested.append((average._replace(rows=tuple(rows)), units, n))
    return tested


def _test_medians(
    part: Part, found: Measured, row: int, users: list[UserValues], medians: list[Quantity]
) -> None:
    """Test a difference of medians by what resampled users make of it."""
    both = ~np.isnan(users[0].values) & ~np.isnan(users[1].values)
    n = int(both.sum())
    gap = medians[0] - medians[1]
    found.numbers[row, :_N_USERS] = gap.value, np.std(gap.drawn, ddof=1), *gap.interval
    found.numbers[row, _N_USERS] = n
    for place, test in enumerate(part.pairs):
        if n < 2:
            continue
        statistic, p = median_test(medians[0], medians[1], n, test)
        found.numbers[row, _N_USERS + 1] = statistic / np.sqrt(n)
        if test in OF_USERS:
            p = float(OF_USERS[test](*(of.values[both] for of in users)))
        found.numbers[row, len(COLUMNS) + place] = p


_N_USERS = COLUMNS.index("n_users")
_LEAST_SPREAD = np.float32(1e-5)  # of the squares, of which single precision knows 7 digits


def _resample(
    pairs: Sequence[_Pair],
    weights: FloatArray,
    draws: FloatArray | None,
    metrics: Sequence[Metric],
    numbers: FloatArray,
) -> None:
    """Fill in differences with their standard errors and intervals, from the same resamples."""
    blocks = []
    for pair in pairs:
        a, b = pair.columns
        n = len(pair.average.metrics)
        blocks.append(np.concatenate([a[:n] - b[:n], a[n:]] if pair.is_linear else [a, b]))
    sums = weights @ np.concatenate(blocks).T
    last = 0
    for pair, block in zip(pairs, blocks, strict=True):
        first, last = last, last + len(block)
        if pair.is_linear:
            drawn = pair.values(sums[:, first:last])
        else:
            half = (first + last) // 2
            drawn = pair.values(sums[:, first:half]) - pair.values(sums[:, half:last])
        drawn = np.ascontiguousarray(drawn.T)
        if draws is not None:
            for a, b, counted in zip(*pair.folds, draws.T, strict=True):
                drawn += pair.difference(a, b)[:, None] * counted
        rows = list(pair.average.rows)
        numbers[rows, 0] = pair.difference(*pair.columns)
        numbers[rows, 1], numbers[rows, 2:4] = drawn.std(axis=1, ddof=1), interval(drawn)
        declared = [metrics[place].declaration.interval for place in pair.average.metrics]
        none = [row for row, how in zip(rows, declared, strict=True) if how != "percentile"]
        numbers[none, 1:4] = np.nan


def studentised(units: FloatArray, n: npt.NDArray[np.integer], signs: Flipped) -> Flipped:
    """Give t of users' differences under each row of signs, shape (n_universes, n_rows).

    Parameters
    ----------
    units : ndarray of float64, shape (n_universes, n_users)
        What each user adds; 0 for who is not counted.
    n : ndarray of int, shape (n_universes,)
        How many are counted.
    signs : ndarray of float32, shape (n_rows, n_users)
    """
    sums = units.astype(np.float32) @ signs.T
    squares = np.square(units).sum(axis=1, keepdims=True).astype(np.float32)
    size = n[:, None].astype(np.float32)
    # Squares do not know signs: the spread around the mean follows from the sum. Where all users
    # differ by the same, what is left of it is rounding; the t of such a universe ends there.
    around = np.maximum(squares - sums**2 / size, _LEAST_SPREAD * squares)
    spread = np.sqrt(size / (size - 1) * around)
    with np.errstate(invalid="ignore"):
        return np.where(sums == 0, np.float32(0), sums / spread)
