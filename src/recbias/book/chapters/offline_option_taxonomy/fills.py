"""Items without a score: what the number of neighbours is worth under each way to fill them in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER, FILLS, SIZES, fill_name
from recbias.book.chapters.offline_option_taxonomy.splits import SPLITS
from recbias.book.chapters.offline_option_taxonomy.users import each_seed, measure_users
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.stats.comparison import holm, paired_t

LEVEL = 0.05


@maker(CHAPTER, Table, grids=each_seed)
def fill_seeds(
    dataset: Dataset, *, seeds: Sequence[int], grid: Grid, workers: int = 1
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure each number of neighbours under each way to fill in, in several splits.

    Parameters
    ----------
    dataset
        Loaded data set.
    seeds
        Of the splits.
    grid
        The grid of items without a score.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``seed``, ``fill``, ``metric`` and ``system``.
    frame : DataFrame
        ``value``.
    """
    index = ("seed", "fill", "metric", "system")
    rows = [
        (split_grid.seed, fill, metric, name, measured.value)
        for split_grid in each_seed(grid, seeds)
        for name, users in measure_users(split_grid, dataset, workers=workers)
        for (fill, metric), measured in users.items()
    ]
    return index, pd.DataFrame(rows, columns=[*index, "value"])


@maker(CHAPTER, Table, grids=each_seed)
def fill_steps(
    dataset: Dataset, *, seeds: Sequence[int], grid: Grid, workers: int = 1
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Test what more neighbours are worth: the mean over splits, users as clusters.

    Parameters
    ----------
    dataset, seeds, grid, workers
        As of `fill_seeds`.

    Returns
    -------
    index : tuple of str
        ``fill``, ``metric`` and ``step``, such as ``"1 to 3"``.
    frame : DataFrame
        ``value``, the mean over users of what each gains by the step, averaged over the splits;
        its 95 % interval ``low`` to ``high``, ``p`` of the paired t test, ``p_holm`` over the steps
        of a fill and metric, and ``n`` users.
    """
    index = ("fill", "metric", "step")
    sums: dict[tuple[str, str, str], np.ndarray[Any, Any]] = {}
    for split_grid in each_seed(grid, seeds):
        for name, users in measure_users(split_grid, dataset, workers=workers):
            for (fill, metric), measured in users.items():
                both = np.array([np.nan_to_num(measured.values), ~np.isnan(measured.values)])
                sums[fill, metric, name] = sums.get((fill, metric, name), 0) + both
    rows = []
    for fill in FILLS:
        for metric in sorted({metric for _, metric, _ in sums}):
            tested = []
            for few, more in pairwise(SIZES):
                a, b = (sums[fill, metric, fill_name(size)] for size in (more, few))
                counted = (a[1] > 0) & (b[1] > 0)
                x, y = (total[0][counted] / total[1][counted] for total in (a, b))
                tested.append((f"{few} to {more}", paired_t(x, y)))
            adjusted = holm([float(test.p_value) for _, test in tested])
            rows += [
                (fill, metric, step, float(test.difference), float(test.low), float(test.high),
                 float(test.p_value), float(p_holm), test.n)
                for (step, test), p_holm in zip(tested, adjusted, strict=True)
            ]  # fmt: skip
    columns = [*index, "value", "low", "high", "p", "p_holm", "n"]
    return index, pd.DataFrame(rows, columns=columns)


def falling_steps(fill_steps: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Count the steps by which more neighbours are surely worse, and may be."""
    index = ("fill", "metric")
    rows = []
    for names, steps in fill_steps.frame.groupby(list(index), sort=False):
        value, p = steps["value"].to_numpy(float), steps["p_holm"].to_numpy(float)
        surely = int(((p < LEVEL) & (value < 0)).sum())
        possibly = int((~((p < LEVEL) & (value > 0))).sum())
        enough = len(fill_steps.given["seeds"]) >= SPLITS  # in another split others may fall
        limits = (surely, possibly) if enough else (0, len(steps))
        rows.append((*names, surely, *limits))
    return index, pd.DataFrame(rows, columns=[*index, "falls", "falls_low", "falls_high"])
