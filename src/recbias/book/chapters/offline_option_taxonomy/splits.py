"""What depends on one split: the cells of Tables 3 and 4, and the course over ratios, ten times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.records import Record, Term
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.results import Quantity

LEVEL = 0.05
"""Level of the paper's tests."""

PEAK = (30, 60)
"""Percent of training ratings near a half, between which a course has its peak."""

SPLITS = 10
"""Splits from which on a claim that depends on one is judged."""

SURELY = 0.9
"""Share of the splits in which a claim holds that holds; it is refuted if it holds in a tenth."""


# -- the cells of Tables 3 and 4 -------------------------------------------------------------------


def _cells(parameters: Mapping[str, Any]) -> Iterator[Grid]:
    grid = Grid.from_dict(parameters["grid"])
    metrics = {label: cells_of(grid.by_label[label], label) for label in cell_metrics()}
    cells_grid = replace(
        grid,
        protocols={label: str(grid.parsed[label]) for label in metrics},
        metrics=metrics,
        compare=(),
        replicates=(),
    )
    return each_seed(cells_grid, parameters["seeds"])


@maker(f"{CHAPTER}/cells", Table, grids=_cells, covers=("grid", "workers"))
def table_cells(
    dataset: Dataset, *, seeds: Sequence[int], grid: Mapping[str, Any], workers: int = 1
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare the nearest neighbours with both readings of MF in the cells of Tables 3 and 4.

    Parameters
    ----------
    dataset
        Loaded data set.
    seeds
        Of the splits; each system is trained once on each.
    grid
        The grid of the start, as a dict.
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
    for split_grid in _cells({"grid": grid, "seeds": seeds}):
        users = dict(measure_users(split_grid, dataset, workers=workers))
        for (label, metric), knn in users[KNN].items():
            for name in READINGS:
                mf = users[name][label, metric]
                gap = compare_users(knn, mf, geometric=label == "geometric")
                names = (split_grid.seed, label, metric, name)
                rows.append((*names, knn.value, mf.value, *gap))
    return index, pd.DataFrame(rows, columns=[*index, "knn", "mf", *Compared._fields])


# -- the course over ratios ------------------------------------------------------------------------


def _ratios(parameters: Mapping[str, Any]) -> Iterator[Grid]:
    grid = Grid.from_dict(parameters["grid"])
    metrics = ("P@10", "nDCG@10")
    labels = ("full", "condensed")
    lists_grid = replace(
        grid,
        protocols={label: str(grid.parsed[label]) for label in labels},
        metrics=dict.fromkeys(labels, metrics),
        compare=(),
        replicates=(),
    )
    return each_seed(
        lists_grid, parameters["seeds"], [split_of(ratio) for ratio in parameters["ratios"]]
    )


@maker(f"{CHAPTER}/seeds", Table, grids=_ratios, covers=("grid", "workers"))
def ratio_values(
    dataset: Dataset,
    *,
    seeds: Sequence[int],
    ratios: Sequence[int],
    grid: Mapping[str, Any],
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Follow the systems over the share of the ratings that is trained on, in several splits.

    Parameters
    ----------
    dataset, seeds, grid, workers
        As of `table_cells`.
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
    split_grids = _ratios({"grid": grid, "seeds": seeds, "ratios": ratios})
    for split_grid, ratio in zip(split_grids, [r for _ in seeds for r in ratios], strict=True):
        for name, users in measure_users(split_grid, dataset, workers=workers):
            for (label, metric), measured in users.items():
                rows.append((split_grid.seed, ratio, label, metric, name, measured.value))
    return index, pd.DataFrame(rows, columns=[*index, "value"])


# -- what criteria read ----------------------------------------------------------------------------


def _rows(evidence: Evidence, term: Term) -> pd.DataFrame:
    """Return the rows of a term, one for each seed, or several."""
    frame = evidence.made(term.table, term.edition or "").frame
    rows = frame[
        (frame["label"] == term.label)
        & (frame["metric"] == term.metric)
        & (frame["system"] == term.system)
    ]
    if rows.empty:
        raise NotComputed(f"{term.metric} of {term.system} under {term.label} in {term.table}")
    return rows


def _first(evidence: Evidence, term: Term) -> pd.Series[float]:
    rows = _rows(evidence, term)
    return rows.sort_values("seed").iloc[0]


def _cell_p(evidence: Evidence, record: Record) -> float:
    """Read the p of a cell on the first split."""
    (term,) = record.of
    p = float(_first(evidence, term)["p"])
    evidence.note(term.table, f"p of {term.metric} under {term.label}, {term.system}", p)
    if np.isnan(p):
        raise NotComputed(f"p of {term.metric} under {term.label} in {term.table}")
    return p


def _cell_gap(evidence: Evidence, record: Record) -> Quantity:
    """Read kNN - MF of a cell on the first split, with the interval of its test."""
    (term,) = record.of
    row = _first(evidence, term)
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    evidence.note(term.table, f"kNN - {term.system} of {term.metric} under {term.label}", value)
    return Quantity(value, None, limits=(low, high))


def of_splits(n: int, total: int) -> Quantity:
    """Write in how many splits something holds, as an interval that the rule of noise reads.

    Examples
    --------
    >>> of_splits(9, 10).interval, of_splits(1, 10).interval, of_splits(5, 10).interval
    ((9, 10), (0, 1), (0, 10))
    >>> of_splits(1, 1).interval
    (0, 10)
    """
    if total < SPLITS:
        return Quantity(float(n), None, limits=(0, SPLITS), cases=total)
    if n >= SURELY * total:
        return Quantity(float(n), None, limits=(n, total), cases=total)
    if n <= (1 - SURELY) * total + 1e-9:
        return Quantity(float(n), None, limits=(0, n), cases=total)
    return Quantity(float(n), None, limits=(0, total), cases=total)


def _significant(evidence: Evidence, record: Record) -> Quantity:
    """Count the splits in which a cell is significant."""
    (term,) = record.of
    p = _rows(evidence, term)["p"].to_numpy(float)
    n = int((p < LEVEL).sum())
    evidence.note(term.table, f"splits with p < .05 of {term.metric} under {term.label}", n)
    return of_splits(n, len(p))


def _not_significant(evidence: Evidence, record: Record) -> Quantity:
    """Count the splits in which a cell is not significant."""
    (term,) = record.of
    p = _rows(evidence, term)["p"].to_numpy(float)
    n = int((p >= LEVEL).sum())
    evidence.note(term.table, f"splits with p >= .05 of {term.metric} under {term.label}", n)
    return of_splits(n, len(p))


def _wins(evidence: Evidence, record: Record, sign: int) -> Quantity:
    n = 0
    for term in record.of:
        row = _first(evidence, term)
        n += bool(row["p"] < LEVEL and sign * row["value"] > 0)
    evidence.note(record.of[0].table, "cells won", float(n))
    return Quantity(float(n), None, limits=(n, n), cases=len(record.of))


def _for_knn(evidence: Evidence, record: Record) -> Quantity:
    """Count the cells in which kNN is significantly better, on the first split."""
    return _wins(evidence, record, 1)


def _for_mf(evidence: Evidence, record: Record) -> Quantity:
    """Count the cells in which MF is significantly better, on the first split."""
    return _wins(evidence, record, -1)


def _decided(evidence: Evidence, record: Record) -> Quantity:
    """Count the cells that are significant either way, on the first split."""
    n = sum(bool(_first(evidence, term)["p"] < LEVEL) for term in record.of)
    evidence.note(record.of[0].table, "cells decided", float(n))
    return Quantity(float(n), None, limits=(n, n), cases=len(record.of))


def _less_significant(evidence: Evidence, record: Record) -> float:
    """Tell by how many powers of ten the p of the first cell is above that of the second."""
    a, b = (max(float(_first(evidence, term)["p"]), 1e-300) for term in record.of)
    powers = float(np.log10(a) - np.log10(b))
    evidence.note(record.of[0].table, "powers of ten between two p", powers)
    return powers


def _peaks(evidence: Evidence, record: Record) -> Quantity:
    """Count the splits in which a course over ratios is highest near a half."""
    (term,) = record.of
    courses = _rows(evidence, term).pivot(index="seed", columns="ratio", values="value")
    if courses.shape[1] < 5:
        raise NotComputed(f"enough ratios in {term.table}")
    tops = courses.columns.to_numpy()[courses.to_numpy().argmax(axis=1)]
    n = int(((tops >= PEAK[0]) & (tops <= PEAK[1])).sum())
    evidence.note(term.table, f"splits where {term.metric} of {term.system} peaks near .5", n)
    return of_splits(n, len(tops))


OF_SPLITS: Mapping[str, Function] = {
    "cell_gap": _cell_gap,
    "cell_p": _cell_p,
    "cells_decided": _decided,
    "cells_for_knn": _for_knn,
    "cells_for_mf": _for_mf,
    "cells_not_significant": _not_significant,
    "cells_significant": _significant,
    "less_significant": _less_significant,
    "peaks": _peaks,
}
"""By the name that a record gives them."""
