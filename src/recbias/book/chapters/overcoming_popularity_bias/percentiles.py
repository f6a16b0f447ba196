"""Popularity percentile by percentile: what P1R is a mean of (BCC17 Sec. 6.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.claims.evidence import LEAST_POOL, LEAST_RUNS, NotTestable
from recbias.claims.ledger import NEEDS
from recbias.claims.values import Family
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import N_REPLICATES
from recbias.experiment.results import Quantity
from recbias.experiment.run import grid_tables, run
from recbias.metrics import Metric, measure
from recbias.metrics.aggregation import contributions
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import popularity_groups
from recbias.protocol.testset import dataset_splits
from recbias.ranking.tables import RankTable
from recbias.stats.resampling import bootstrap_weights, weighted_sums

INDEX = ("quantity", "percentile")
"""What names a row of the table."""

SEGMENTS = 10
"""An end of a percentile is so small a part of its items, as a segment of Fig. 7 is."""

FEWEST = 3
"""A correlation of fewer percentiles says nothing."""

FloatArray = npt.NDArray[np.float64]


def _of_popularity(grid: Grid) -> Grid:
    """Ask the chapter's grid for Popularity under P1R alone."""
    protocols, metrics = dict(grid.protocols), grid.by_label  # type: ignore[arg-type]
    return Grid(
        grid.dataset,
        grid.with_systems(["Popularity"]).systems,
        {"P1R": protocols["P1R"]},
        {"P1R": metrics["P1R"]},
        split=grid.split,
        seed=grid.seed,
        groups=grid.groups,
    )


@maker(CHAPTER, Table, uses=_of_popularity)
def percentiles(
    dataset: Dataset, *, grid: Grid
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray]:
    """Describe every percentile of P1R.

    Parameters
    ----------
    dataset
        That of the grid.
    grid
        The chapter's grid of systems: its folds and its protocol P1R.

    Returns
    -------
    index : tuple of str
        ``quantity`` and ``percentile``, from 1, the most popular items.
    frame : DataFrame
        The ``value`` of each. ``items`` of the percentile and the ``runs`` in it, over all folds;
        the mean ``pool`` that a run draws on; precision ``P`` of Popularity, and ``rho``, what
        Random is expected to have; ``lead``, the first over the second, less 1; mean relevant test
        ratings of its ``first`` and its ``last`` tenth of items by training ratings, and their
        ``range``: the difference, as a share of that over all percentiles.
    replicates : ndarray
        On the resampled users of the grids. What follows from counts stays what it is.
    """
    popularity_grid = _of_popularity(grid)
    results = run(popularity_grid)
    precision, rho = (results.metric("P1R", name) for name in ("P", "rho"))
    n_groups = popularity_grid.parsed["P1R"].rule.n_groups or 1
    tables = [table for *_, table in grid_tables(popularity_grid, "P1R")]
    folds = dataset_splits(dataset, popularity_grid.split, seed=popularity_grid.seed)
    sums = _sums(tables, (precision, rho), popularity_grid, n_groups)
    runs, pool = sums[0, :, 2], _pools(tables, n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums[:, :, :2] / sums[:, :, 2:]
        lead = means[:, :, 0] / means[:, :, 1] - 1
    ends = percentile_ranges(folds, popularity_grid.parsed["P1R"].min_rating, n_groups)
    quantities = {
        "items": _fixed(ends["items"]),
        "runs": _fixed(runs),
        "pool": _fixed(pool),
        "P": means[:, :, 0],
        "rho": means[:, :, 1],
        "lead": lead,
        **{name: _fixed(ends[name]) for name in ("first", "last", "range")},
    }
    rows = [
        (name, place + 1, value)
        for name, numbers in quantities.items()
        for place, value in enumerate(numbers[0])
    ]
    frame = pd.DataFrame(rows, columns=[*INDEX, "value"])
    return INDEX, frame, np.concatenate([numbers[1:].T for numbers in quantities.values()])


def _fixed(values: FloatArray) -> FloatArray:
    """Give values that resampling leaves alone."""
    return np.tile(values, (1 + N_REPLICATES, 1))


def _sums(
    tables: list[RankTable], metrics: tuple[Metric, ...], grid: Grid, n_groups: int
) -> FloatArray:
    """Sum metrics and runs by percentile: of everybody, then of resampled users, row by row."""
    protocol = grid.parsed["P1R"]
    options: dict[str, Any] = {"min_rating": protocol.min_rating, "n_groups": n_groups}
    columns = np.sum(
        [
            contributions(
                table,
                measure(table, metrics, min_rating=protocol.min_rating),
                protocol.averaging,
                group=table.group,
                **options,
            )
            for table in tables
        ],
        axis=0,
    )
    n_users = tables[0].n_users
    weights = bootstrap_weights(n_users, N_REPLICATES, rng=stream(grid.seed, "bootstrap"))
    drawn = np.vstack([columns.sum(axis=1), weighted_sums(columns, weights)])
    return drawn.reshape(len(drawn), n_groups, len(metrics) + 1)


def _pools(tables: list[RankTable], n_groups: int) -> FloatArray:
    """Average the items besides the relevant one that a run can draw from."""
    group = np.concatenate([table.group for table in tables])  # type: ignore[arg-type]
    others = np.concatenate([table.n_targets for table in tables]) - 1.0
    n_runs = np.bincount(group, minlength=n_groups)
    pools = np.full(n_groups, np.nan)
    return np.divide(np.bincount(group, others, n_groups), n_runs, out=pools, where=n_runs > 0)


def percentile_ranges(
    folds: list[Split], min_rating: float, n_groups: int
) -> dict[str, FloatArray]:
    """Compare both ends of each percentile: relevant test ratings per item, means over folds.

    References
    ----------
    BCC17 Sec. 6.1 (Delta_k).
    """
    ends = np.zeros((len(folds), 2, n_groups))
    for number, fold in enumerate(folds):
        liked = fold.test.item[relevant(fold.test.value, min_rating)]
        counts = np.bincount(liked, minlength=fold.test.n_items)
        order = np.argsort(-fold.train.item_counts(), kind="stable")
        labels = popularity_groups(fold.train, n_groups).labels[order]
        for place in range(n_groups):
            group_counts = counts[order[labels == place]]
            n = max(1, round(len(group_counts) / SEGMENTS))
            ends[number, :, place] = group_counts[:n].mean(), group_counts[-n:].mean()
    first, last = ends.mean(axis=0)
    return {
        "items": np.bincount(labels, minlength=n_groups).astype(np.float64),
        "first": first,
        "last": last,
        "range": (first - last) / (whole if (whole := first[0] - last[-1]) else np.nan),
    }


# -- what criteria compute ---------------------------------------------------------------------


def large_percentiles(
    table: Table,
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray | None]:
    """Keep the percentiles with a pool, and relevant ratings, of the least size that is judged."""
    wide = table.frame.pivot(index="percentile", columns="quantity", values="value")
    large = wide.index[(wide["pool"] >= LEAST_POOL) & (wide["runs"] >= LEAST_RUNS)]
    if large.empty:
        raise NotTestable(NEEDS["pool"])
    kept = table.frame["percentile"].isin(large).to_numpy()
    drawn = table.replicates
    return INDEX, table.frame[kept], None if drawn is None else drawn[kept]


def ranks_alike(a: Family, b: Family) -> Quantity:
    """Correlate the ranks of two quantities over percentiles."""
    if len(a.members) < FEWEST:
        raise NotTestable(NEEDS["pool"])
    sides = [list(family.members.values()) for family in (a, b)]
    value = scipy.stats.spearmanr(*([quantity.value for quantity in side] for side in sides))[0]
    n_draws = max(len(quantity.drawn) for side in sides for quantity in side)
    ranks = [
        scipy.stats.rankdata(
            [np.broadcast_to(quantity.drawn, n_draws) for quantity in side], axis=0
        )
        for side in sides
    ]
    centred = [rank - rank.mean(axis=0) for rank in ranks]
    with np.errstate(invalid="ignore"):
        drawn = (centred[0] * centred[1]).sum(axis=0) / np.sqrt(
            (centred[0] ** 2).sum(axis=0) * (centred[1] ** 2).sum(axis=0)
        )
    return Quantity(float(value), drawn)
