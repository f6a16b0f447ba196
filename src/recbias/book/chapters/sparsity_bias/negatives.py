"""How many sampled negatives are enough: the order of systems as a function of their number.

What 1RP@n is expected to be at any size t of target sets follows from where relevant items stand
among *all* others. So does the order of the systems, exactly, without drawing a sample. One drawn
evaluation has one sample per run, and need not show that order; with what chance it does not is
summed up for samples that each system draws for itself, and bounded for samples that all share.
Everything is about one training of each system in each fold, and about that training's order when
nothing is sampled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.errors import ConfigError
from recbias.experiment.cells import grid_cells, run_missing
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import N_REPLICATES, Reader
from recbias.ranking.tables import RankTable
from recbias.stats.resampling import bootstrap_weights, interval, weighted_sums
from recbias.theory import chances_of_orders, fill_hit_chances, shared_sample_bounds

N_SIZES = 40
"""Sizes of target sets at which orders are compared."""

_INDEX = ("a", "b", "size")
_ROUNDING = 1e-9
"""Hits by which two sums over runs may differ although they are equal."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of 1R, those of all folds together, as several systems rank them.

    Attributes
    ----------
    systems
        Their names.
    n_users
        Users of the dataset.
    user : ndarray of int64, shape (n_runs,)
        Whose run it is.
    pool : ndarray of int64, shape (n_runs,)
        Items that may be sampled for it; ascending.
    above : ndarray of int32, shape (n_systems, n_runs)
        How many of them each system ranks above the relevant item; -1 where that is not in the
        list, and no sample makes it hit.
    """

    systems: tuple[str, ...]
    n_users: int
    user: npt.NDArray[np.int64]
    pool: npt.NDArray[np.int64]
    above: npt.NDArray[np.int32]

    @classmethod
    def of(cls, tables: Mapping[str, Sequence[RankTable]]) -> Runs:
        """Take the runs from tables of AN-1R, by system, of the same folds in one order."""
        for table in (table for folds in tables.values() for table in folds):
            if table.per != "run":
                raise ConfigError("an order by size needs tables of runs (1R), got one per user")
        first = next(iter(tables.values()))
        pool = np.concatenate([table.n_targets for table in first]).astype(np.int64) - 1
        if not len(pool):
            raise ConfigError("no rating is relevant, so that there is no run to sample for")
        order = np.argsort(pool, kind="stable")
        return cls(
            systems=tuple(tables),
            n_users=first[0].n_users,
            user=np.concatenate([table.user for table in first]).astype(np.int64)[order],
            pool=pool[order],
            above=np.array(
                [
                    np.concatenate([table.rank for table in folds])[order].astype(np.int32) - 1
                    for folds in tables.values()
                ]
            ),
        )

    @property
    def largest(self) -> int:
        """Size of the largest target set: of a run that has the whole pool in it."""
        return int(self.pool[-1]) + 1

    def chances(self, size: int, cutoff: int) -> FloatArray:
        """Compute the chance of each run to hit, in target sets of a size."""
        chances = np.empty(self.above.shape)
        _fill(self.pool, self.above, size - 1, cutoff, chances)
        return chances


@nb.njit(cache=True, nogil=True)
def _fill(pool: Any, above: Any, draws: int, cutoff: int, chances: FloatArray) -> None:
    """Look the chances up, in a table that is made anew where the pool is another."""
    table = np.empty(0)
    for run in range(len(pool)):
        if len(table) != pool[run] + 1:
            table = np.empty(pool[run] + 1)
            fill_hit_chances(pool[run], min(draws, pool[run]), cutoff, table)
        for system in range(len(above)):
            place = above[system, run]
            chances[system, run] = table[place] if place >= 0 else 0.0


@nb.njit(cache=True, nogil=True)
def _most_lost(a: FloatArray, b: FloatArray) -> float:
    """Add up the largest chances that a run is hit by b alone."""
    total = 0.0
    for run in range(len(a)):
        total += min(b[run], 1.0 - a[run])
    return total


def log_sizes(largest: int, number: int = N_SIZES) -> tuple[int, ...]:
    """Space sizes of target sets evenly in log t, from 2 to the largest.

    Examples
    --------
    >>> log_sizes(100, 8)
    (2, 3, 6, 11, 19, 33, 57, 100)
    >>> log_sizes(5)
    (2, 3, 4, 5)
    """
    if largest - 1 <= number:
        return tuple(range(2, largest + 1))
    sizes = np.rint(np.geomspace(2, largest, number)).astype(int)
    least = np.maximum.accumulate(sizes - np.arange(number)) + np.arange(number)
    return tuple(int(size) for size in least)


class _At(NamedTuple):
    """What is found of some pairs at one size; expected hits are by user, of their systems only."""

    size: int
    pairs: list[tuple[int, int]]
    numbers: list[tuple[float, float, float, float]]
    systems: list[int]
    hits: list[FloatArray]


def _at(runs: Runs, size: int, cutoff: int, pairs: list[tuple[int, int]]) -> _At:
    """Compare pairs of systems at one size."""
    chances = runs.chances(size, cutoff)
    sums, spreads = chances.sum(axis=1), np.sqrt((chances * (1.0 - chances)).sum(axis=1))
    numbers = []
    orders = chances_of_orders(chances, pairs)
    for (a, b), chance in zip(pairs, orders.tolist(), strict=True):
        lead = _lead(sums, (a, b))
        most_lost, spread = _most_lost(chances[a], chances[b]), float(spreads[a] + spreads[b])
        bounds = shared_sample_bounds(lead, most_lost, spread)
        numbers.append((lead, chance, *bounds))
    systems = sorted({system for pair in pairs for system in pair})
    hits: list[FloatArray] = [
        np.bincount(runs.user, chances[one], minlength=runs.n_users).astype(np.float64)
        for one in systems
    ]
    return _At(size, pairs, numbers, systems, hits)


def _lead(sums: FloatArray, pair: tuple[int, int]) -> float:
    """Subtract expected hits; what is left of equal ones by rounding is nothing."""
    lead = float(sums[pair[0]] - sums[pair[1]])
    return 0.0 if abs(lead) < _ROUNDING else lead


def _turns(
    runs: Runs, cutoff: int, at_sizes: Sequence[_At], pairs: list[tuple[int, int]]
) -> dict[int, list[tuple[int, int]]]:
    """Find by bisection where pairs turn: both sizes of each turn, with the pairs that do."""

    @cache
    def sums(size: int) -> FloatArray:
        return runs.chances(size, cutoff).sum(axis=1)

    turned: dict[int, list[tuple[int, int]]] = {}
    beyond = [at for at in at_sizes if at.size > cutoff]
    for before, after in pairwise(beyond):
        for place, pair in enumerate(pairs):
            low, high = before.size, after.size
            if before.numbers[place][0] * after.numbers[place][0] >= 0:
                continue
            while high - low > 1:
                middle = (low + high) // 2
                if _lead(sums(middle), pair) * after.numbers[place][0] > 0:
                    high = middle
                else:
                    low = middle
            for size in {low, high} - {before.size, after.size}:
                turned.setdefault(size, []).append(pair)
    return turned


def expected_order(
    runs: Runs, cutoff: int, sizes: Sequence[int], weights: npt.NDArray[np.integer]
) -> pd.DataFrame:
    """Compare every pair of systems at several sizes, and beside each size at which they turn."""
    pairs = list(combinations(range(len(runs.systems)), 2))
    at_sizes = [_at(runs, size, cutoff, pairs) for size in sizes]
    turned = _turns(runs, cutoff, at_sizes, pairs)
    at_sizes += [_at(runs, size, cutoff, turning) for size, turning in sorted(turned.items())]
    n_runs = np.bincount(runs.user, minlength=runs.n_users).astype(np.float64)
    sums = weighted_sums(np.array([n_runs, *(row for at in at_sizes for row in at.hits)]), weights)
    with np.errstate(invalid="ignore"):  # a resample may have nobody with a run
        drawn = iter(sums[:, 1:].T / sums[:, 0])
    rows = []
    for at in at_sizes:
        hits = {system: next(drawn) for system in at.systems}
        for (a, b), numbers in zip(at.pairs, at.numbers, strict=True):
            rows.append((a, b, at.size, *numbers, *interval(hits[a] - hits[b])))
    names = [*_INDEX, "lead", "chance", "least", "most", "low", "high"]
    table = pd.DataFrame(rows, columns=names).sort_values(list(_INDEX), ignore_index=True)
    return _turned(table, runs, cutoff)


def _turned(table: pd.DataFrame, runs: Runs, cutoff: int) -> pd.DataFrame:
    """Name the winner at the last size first; turn leads into differences and chances of errors."""
    last = table.groupby(["a", "b"])["lead"].transform("last")
    swap = (last < 0).to_numpy()
    sign = np.where(swap, -1.0, 1.0)
    names = np.array(runs.systems, dtype=object)
    a, b = (names[table[side].to_numpy()] for side in ("a", "b"))
    low, high = (table[side].to_numpy() * sign / cutoff for side in ("low", "high"))
    least, most = table["least"].to_numpy(), table["most"].to_numpy()
    chance = table["chance"].to_numpy()
    return pd.DataFrame(
        {
            "a": np.where(swap, b, a),
            "b": np.where(swap, a, b),
            "size": table["size"],
            "value": table["lead"] * sign / (cutoff * len(runs.user)),
            "low": np.minimum(low, high),
            "high": np.maximum(low, high),
            "wrong": np.where(swap, chance, 1.0 - chance),
            "wrong_least": np.where(swap, least, 1.0 - most),
            "wrong_most": np.where(swap, most, 1.0 - least),
        }
    )


def drawn_grid(grid: Grid, label: str, *, cutoff: int) -> Grid:
    """Ask for one protocol of a grid, each system being trained once per fold."""
    return Grid(
        grid.dataset,
        tuple(dataclasses.replace(system, n_seeds=1) for system in grid.systems),
        {label: str(grid.parsed[label])},
        (f"P@{cutoff}",),
        split=grid.split,
        seed=grid.seed,
    )


@maker(CHAPTER, Table, parts=("aggregation",))
def negatives(
    dataset: Dataset, *, grid: Grid, cutoff: int, size: int, n_sizes: int = N_SIZES
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare all pairs of systems at all sizes.

    Parameters
    ----------
    dataset
        That of the grid.
    grid
        A grid with one protocol, TI-AN-1R, and one training of each system: see
        `drawn_grid`. What is missing of it is trained.
    cutoff
        n of 1RP@n.
    size
        One more size of target sets; the catalogue, where that is smaller.
    n_sizes
        How many sizes, as of `log_sizes`. The last is the catalogue: every pool is taken whole.
        Where that is no larger than the cutoff, all systems are equal.

    Returns
    -------
    index : tuple of str
        ``a``, ``b`` and ``size``. Of each pair, a is ahead where nothing is sampled.
    frame : DataFrame
        A row per pair and size, and two more beside each size at which a pair turns. ``value`` is
        the expected 1RP@n of a minus that of b, with its 95 % interval over users, ``low`` to
        ``high``; ``wrong`` the chance that one evaluation, in which every run of either system has
        a sample of its own, puts b ahead, ties counted half; ``wrong_least`` and ``wrong_most``
        are bounds of it where both systems are ranked in the same samples.

    Raises
    ------
    ConfigError
        If no rating is relevant, or the grid has other target sets.
    """
    runs = _read(grid, dataset)
    rng = stream(grid.seed, "bootstrap")
    weights = bootstrap_weights(runs.n_users, N_REPLICATES, rng=rng)
    sizes = {*log_sizes(runs.largest, n_sizes), min(size, runs.largest)}
    return _INDEX, expected_order(runs, cutoff, sorted(sizes), weights)


def _read(grid: Grid, dataset: Dataset) -> Runs:
    """Read the runs of a grid from its cells; train those that are not there."""
    (label,) = grid.parsed
    cells = grid_cells(grid, dataset, None)
    run_missing((cell for _, cell in cells), label=f"{dataset.name}: cells")
    tables: dict[str, list[RankTable]] = {system.name: [] for system in grid.systems}
    for name, cell in cells:
        tables[name].append(Reader(cell).table(grid, label))
    return Runs.of(tables)
