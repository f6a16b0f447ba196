"""What depends on one split: the cells of Tables 3 and 4, and the course over ratios, ten times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.setup import (
    CHAPTER,
    KNN,
    READINGS,
    cell_metrics,
    cells_of,
    split_of,
)
from recbias.book.chapters.offline_option_taxonomy.users import (
    Compared,
    compare_users,
    each_seed,
    measure_users,
)
from recbias.claims.evidence import NotComputed
from recbias.data.datasets import Dataset
from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.results import Quantity

LEVEL = 0.05
"""Level of the paper's tests."""

SPLITS = 10
"""Splits from which on a claim that depends on one is judged."""

SURELY = 0.9
"""Share of the splits in which a claim holds that holds; it is refuted if it holds in a tenth."""


# -- the cells of Tables 3 and 4 -------------------------------------------------------------------


def _cells(grid: Grid, seeds: Sequence[int]) -> Iterator[Grid]:
    metrics = {label: cells_of(grid.by_label[label], label) for label in cell_metrics()}
    cells_grid = replace(
        grid,
        protocols={label: str(grid.parsed[label]) for label in metrics},
        metrics=metrics,
        compare=(),
        replicates=(),
    )
    return each_seed(cells_grid, seeds)


@maker(CHAPTER, Table, grids=_cells)
def cells(
    dataset: Dataset, *, seeds: Sequence[int], grid: Grid, workers: int = 1
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare the nearest neighbours with both readings of MF in the cells of Tables 3 and 4.

    Parameters
    ----------
    dataset
        Loaded data set.
    seeds
        Of the splits; each system is trained once on each.
    grid
        The grid of the start.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``seed``, ``label``, ``metric`` and ``system``, the reading of MF.
    frame : DataFrame
        ``knn`` and ``mf``, the values; ``value``, their difference, ``low``, ``high`` and ``p`` as
        :func:`recbias.book.chapters.offline_option_taxonomy.users.compare_users` gives them.
    """
    index = ("seed", "label", "metric", "system")
    rows = []
    for split_grid in _cells(grid, seeds):
        users = dict(measure_users(split_grid, dataset, workers=workers))
        for (label, metric), knn in users[KNN].items():
            for name in READINGS:
                mf = users[name][label, metric]
                gap = compare_users(knn, mf, geometric=label == "geometric")
                names = (split_grid.seed, label, metric, name)
                rows.append((*names, knn.value, mf.value, *gap))
    return index, pd.DataFrame(rows, columns=[*index, "knn", "mf", *Compared._fields])


# -- the course over ratios ------------------------------------------------------------------------


def _ratios(grid: Grid, seeds: Sequence[int], ratios: Sequence[int]) -> Iterator[Grid]:
    metrics = ("P@10", "nDCG@10")
    labels = ("full", "condensed")
    lists_grid = replace(
        grid,
        protocols={label: str(grid.parsed[label]) for label in labels},
        metrics=dict.fromkeys(labels, metrics),
        compare=(),
        replicates=(),
    )
    return each_seed(lists_grid, seeds, [split_of(ratio) for ratio in ratios])


@maker(CHAPTER, Table, grids=_ratios)
def seeds(
    dataset: Dataset,
    *,
    seeds: Sequence[int],
    ratios: Sequence[int],
    grid: Grid,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Follow the systems over the share of the ratings that is trained on, in several splits.

    Parameters
    ----------
    dataset, seeds, grid, workers
        As of `cells`.
    ratios
        Shares, in percent.

    Returns
    -------
    index : tuple of str
        ``seed``, ``ratio``, ``label``, ``metric`` and ``system``.
    frame : DataFrame
        ``value``.
    """
    index = ("seed", "ratio", "label", "metric", "system")
    rows = []
    split_grids = _ratios(grid, seeds, ratios)
    for split_grid, ratio in zip(split_grids, [r for _ in seeds for r in ratios], strict=True):
        for name, users in measure_users(split_grid, dataset, workers=workers):
            for (label, metric), measured in users.items():
                rows.append((split_grid.seed, ratio, label, metric, name, measured.value))
    return index, pd.DataFrame(rows, columns=[*index, "value"])


# -- what criteria read ----------------------------------------------------------------------------


def first_split(cells: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Take the cells of the first split; ``winner`` is 1 for kNN, -1 for MF, 0 for neither."""
    frame = cells.frame[cells.frame["seed"] == cells.frame["seed"].min()]
    winner = np.where(frame["p"] < LEVEL, np.sign(frame["value"]), 0.0)
    return ("label", "metric", "system"), frame.assign(winner=winner)


def peaks(seeds: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell at which ratio each course over ratios is highest."""
    index = ("seed", "label", "metric", "system")
    courses = seeds.frame.pivot(index=list(index), columns="ratio", values="value")
    if courses.shape[1] < 5:
        raise NotComputed("enough ratios in seeds")
    tops = courses.columns.to_numpy()[courses.to_numpy().argmax(axis=1)]
    return index, courses.reset_index()[list(index)].assign(peak=tops)


def of_splits(counted: Quantity) -> Quantity:
    """Write in how many splits something holds, as an interval that the rule of noise reads.

    Examples
    --------
    >>> [of_splits(Quantity(n, None, limits=(n, n), cases=10)).interval for n in (9, 1, 5)]
    [(9, 10), (0, 1), (0, 10)]
    >>> of_splits(Quantity(1, None, limits=(1, 1), cases=1)).interval
    (0, 10)
    """
    n, total = int(counted.value), counted.cases
    if total is None:
        raise ConfigError("of_splits(...) is of a count over splits")
    if total < SPLITS:
        return Quantity(float(n), None, limits=(0, SPLITS), cases=total)
    if n >= SURELY * total:
        return Quantity(float(n), None, limits=(n, total), cases=total)
    if n <= (1 - SURELY) * total + 1e-9:
        return Quantity(float(n), None, limits=(0, n), cases=total)
    return Quantity(float(n), None, limits=(0, total), cases=total)
