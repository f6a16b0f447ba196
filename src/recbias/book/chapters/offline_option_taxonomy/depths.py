"""Where the items of condensed lists stand in the full ones (Figure 5)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER, PLACES
from recbias.book.chapters.offline_option_taxonomy.users import each_seed
from recbias.claims.quantities import over_worlds
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import read_cells
from recbias.ranking.tables import RankTable


def _asked(grid: Grid) -> Iterator[Grid]:
    return each_seed(grid, [grid.seed])


@maker(CHAPTER, Table, grids=_asked)
def depths(dataset: Dataset, *, grid: Grid) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Tell at which rank of the full list the k-th item of the condensed one stands, on average.

    Parameters
    ----------
    dataset
        Loaded data set.
    grid
        The grid of the start; of each system the first training.

    Returns
    -------
    index : tuple of str
        ``system`` and ``place`` k in the condensed list, from 1.
    frame : DataFrame
        ``value``, the mean rank over the ``n`` users whose condensed list has a k-th item, and its
        95 % interval (Student's t), ``low`` to ``high``.
    """
    index = ("system", "place")
    (start,) = _asked(grid)
    rows = []
    for name, reader in read_cells(start, dataset):
        table = reader.table(start, "full")
        for place in range(1, PLACES + 1):
            ranks = mean_depth(table, place)
            if len(ranks) > 1:
                mean = over_worlds(ranks)
                rows.append((name, place, mean.value, *mean.interval, len(ranks)))
    return index, pd.DataFrame(rows, columns=[*index, "value", "low", "high", "n"])


def mean_depth(table: RankTable, place: int) -> npt.NDArray[np.float64]:
    """Give the ranks in the full lists of the items at one place of the condensed ones."""
    return table.rank[table.condensed_rank == place].astype(np.float64)
