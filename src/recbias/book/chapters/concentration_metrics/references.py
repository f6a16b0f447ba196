"""What chance alone gives, and how evenly systems spread their recommendations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.concentration_metrics.setup import CHAPTER, SEVEN, plain_name
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import read_cells
from recbias.metrics import concentration, parse_metric
from recbias.metrics.by_chance import REFERENCES, by_chance
from recbias.metrics.lists import item_counts, list_view
from recbias.protocol.testset import dataset_splits

N_DRAWS = 5
"""How often lists are drawn in each fold: their values differ little from draw to draw."""

N_POINTS = 101
"""Points of a curve, at equal steps of the share of the items."""

Lists = npt.NDArray[np.int32]


def _first_seeds(grid: Grid, names: Sequence[str]) -> Grid:
    """Ask for the lists of some systems, each trained once in a fold."""
    systems = tuple(replace(system, n_seeds=1) for system in grid.systems if system.name in names)
    return replace(grid, systems=systems, compare=(), replicates=None, crossed=())


def _lists(grid: Grid, dataset: Dataset, cutoff: int) -> Iterator[tuple[str, int, Lists]]:
    """Read what each system lists in each fold."""
    for name, reader in read_cells(grid, dataset):
        yield name, reader.cell.fold, reader.positions(grid, "full").lists("AI", cutoff)


def _one_system(grid: Grid) -> Grid:
    """Choose whose lists are as long as the candidates allow.

    Random's, which has a score for all.
    """
    names = [system.name for system in grid.systems]
    return _first_seeds(grid, ["Random" if "Random" in names else names[0]])


@maker(CHAPTER, Table, uses=[_one_system])
def references(
    dataset: Dataset, *, min_rating: float, metrics: Sequence[str], grid: Grid
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure what chance lists, in as many places as a random recommender fills.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        Smallest rating that is relevant.
    metrics
        Of the system, all of one cutoff.
    grid
        The grid of the chapter's systems, which was run here.

    Returns
    -------
    index : tuple of str
        ``reference`` (of :data:`recbias.metrics.by_chance.REFERENCES`), ``metric`` without its
        length and arguments, and ``fold``.
    frame : DataFrame
        ``value`` and ``spread``, as :func:`recbias.metrics.by_chance.by_chance` gives them.
    """
    parsed = [parse_metric(text) for text in metrics]
    cutoff = max(metric.cutoff or 1 for metric in parsed)
    names = {text: plain_name(text) for text in metrics}
    splits = dataset_splits(dataset, grid.split, seed=grid.seed)
    frames = [
        by_chance(
            splits[fold].train,
            parsed,
            min_rating=min_rating,
            lengths=(lists >= 0).sum(axis=1),
            n_draws=N_DRAWS,
            seed=grid.seed,
        ).assign(fold=fold)
        for _, fold, lists in _lists(_one_system(grid), dataset, cutoff)
    ]
    frame = pd.concat(frames, ignore_index=True)
    return ("reference", "metric", "fold"), frame.assign(metric=frame["metric"].map(names))


@maker(CHAPTER, Table, uses=[lambda grid: _first_seeds(grid, SEVEN)])
def lorenz(
    dataset: Dataset, *, min_rating: float, cutoff: int, grid: Grid
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Draw the Lorenz curves of the poster's systems, and that of what was popular before.

    Parameters
    ----------
    dataset
        Loaded data set.
    min_rating
        Smallest rating that is relevant.
    cutoff
        Length of the lists.
    grid
        The grid of the chapter's systems, which was run here; of each system the first
        training on the first fold.

    Returns
    -------
    index : tuple of str
        ``share`` of the items, those in fewest lists first.
    frame : DataFrame
        A column for each system that lists anything, and ``prior``: the share of all
        recommendations, or of relevant training ratings, that these items have together.
    """
    train = dataset_splits(dataset, grid.split, seed=grid.seed)[0].train
    share = np.linspace(0, 1, N_POINTS)
    curves: dict[str, npt.NDArray[np.float64]] = {"share": share.round(6)}
    for name, fold, lists in _lists(_first_seeds(grid, SEVEN), dataset, cutoff):
        if fold == 0:
            view = list_view(lists, train, min_rating=min_rating)
            if (lists >= 0).any():
                curves[name] = _at(share, item_counts(view, cutoff))
            if view.prior is not None:
                curves["prior"] = _at(share, view.prior[None, :].astype(np.float64))
    return ("share",), pd.DataFrame(curves)


def _at(share: npt.NDArray[np.float64], counts: npt.NDArray[np.float64]) -> Any:
    """Read a Lorenz curve at some shares of the items; it is straight between items."""
    curve = concentration.lorenz(counts)[0]
    return np.interp(share, np.linspace(0, 1, len(curve)), curve)


# -- what is shown ---------------------------------------------------------------------------------


def chance_values(table: Table) -> pd.DataFrame:
    """Average what chance gives over the folds."""
    wide = table.frame.groupby(["reference", "metric"])["value"].mean().unstack("metric")
    return wide.reindex([reference for reference in REFERENCES if reference in wide.index])


def gini_of_curve(curves: Table, line: str) -> float:
    """Give the Gini coefficient of a Lorenz curve: twice the area above it."""
    if line not in curves.frame:
        return float("nan")
    return 1 - 2 * float(np.trapezoid(curves.frame[line], curves.frame["share"]))
