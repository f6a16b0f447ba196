"""Where the splits of a cell come from: read once in a process, and known to be those asked for."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.datasets import Dataset, load_dataset
from recbias.data.selection import Selection
from recbias.errors import MissingData, StoreError
from recbias.experiment.cluster import LackError
from recbias.experiment.grid import Grid, judgments_hash, split_marks
from recbias.experiment.store import canonical_json
from recbias.protocol.splits import Split
from recbias.protocol.targets import ItemGroups, popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, reduced_split
from recbias.ranking.positions import target_counts, train_counts
from recbias.theory import relevant_counts

__all__ = [
    "Source",
    "grid_source",
    "reduced_splits",
    "source_dataset",
    "source_groups",
    "source_relevant_counts",
    "source_sizes",
    "source_splits",
]


class Source(NamedTuple):
    """What a worker process needs to rebuild the splits of a cell, and to know that it did."""

    dataset: str
    data_dir: str | None
    split: str
    seed: int
    judgments: str
    data_hash: str
    marks: str = ""
    select: str = ""


def grid_source(grid: Grid, dataset: Dataset, data_dir: Path | None, judgments: str) -> Source:
    """Describe the splits of a grid for one kind of judgments; `dataset` is all of the data."""
    source = Source(
        dataset=grid.dataset,
        data_dir=str(data_dir) if data_dir else None,
        split=grid.split,
        seed=grid.seed,
        judgments=judgments,
        data_hash=judgments_hash(dataset, TestSet.parse(judgments)),
        marks=_marks(dataset, grid.split),
        select=grid.select,
    )
    _remember(source, dataset)
    return source


def _marks(dataset: Dataset, split: str) -> str:
    """Write a split's marks as text, empty if there are none."""
    return canonical_json(marks) if (marks := split_marks(dataset, split)) else ""


_DATASETS: dict[Source, Dataset] = {}
"""The datasets that this process has read last, by what is known of their content."""


def _remember(source: Source, dataset: Dataset) -> Dataset:
    """Keep what is selected of a dataset."""
    if source.select:
        dataset = Selection.parse(source.select).of(dataset, seed=source.seed)
    _DATASETS[source] = dataset
    while len(_DATASETS) > 2:
        del _DATASETS[next(iter(_DATASETS))]
    return dataset


class LacksDataError(LackError, MissingData):
    """Data of cells that are not where they were looked for; their caller may lend them."""

    def __init__(self, source: Source, message: str) -> None:
        super().__init__(source, message)
        self.source = source

    def __str__(self) -> str:
        return str(self.args[1])

    def __repr__(self) -> str:
        return f"the data of {self.source.dataset} ({self.source.data_hash[:12]})"

    def fetch(self) -> Dataset:
        """Get what the splits are made of."""
        return source_dataset(self.source)

    def keep(self, lent: Dataset) -> None:
        """Keep what the splits are made of."""
        _DATASETS[self.source] = lent


def source_dataset(source: Source) -> Dataset:
    """Load what is selected of a dataset; refuse another content than cells are named by."""
    if source in _DATASETS:
        return _DATASETS[source]
    data_dir = Path(source.data_dir) if source.data_dir else None
    try:
        dataset = load_dataset(source.dataset, data_dir=data_dir)
    except MissingData as missing:
        raise LacksDataError(source, str(missing)) from missing
    content = judgments_hash(dataset, TestSet.parse(source.judgments))
    if (content, _marks(dataset, source.split)) != (source.data_hash, source.marks):
        raise StoreError(
            f"{dataset.source}: content {content[:12]}, expected {source.data_hash[:12]} with its "
            "times and folds: it changed while an experiment ran; nothing was written, run it again"
        )
    return _remember(source, dataset)


@lru_cache(maxsize=4)
def source_splits(source: Source) -> list[Split]:
    """Split the data, once in a process."""
    dataset = source_dataset(source)
    judgments = TestSet.parse(source.judgments)
    return dataset_splits(dataset, source.split, seed=source.seed, judgments=judgments)


@lru_cache(maxsize=32)
def source_groups(source: Source, fold: int, n_groups: int) -> ItemGroups:
    """Group items by their popularity in the training ratings of a fold."""
    return popularity_groups(source_splits(source)[fold].train, n_groups)


@lru_cache(maxsize=32)
def reduced_splits(source: Source, fold: int, text: str) -> Split:
    """Take out of a fold what a test side removes."""
    test = TestSet.parse(text)
    groups = source_groups(source, fold, _enough_groups(test))
    return reduced_split(source_splits(source)[fold], test, groups, seed=source.seed)


@lru_cache(maxsize=32)
def source_sizes(source: Source, fold: int, n_groups: int) -> tuple[Any, Any]:
    """Count the targets, and the training items, of each user by group of items."""
    split = source_splits(source)[fold]
    return target_counts(split, source_groups(source, fold, n_groups)), train_counts(split)


@lru_cache(maxsize=32)
def source_relevant_counts(source: Source, fold: int, min_rating: float) -> npt.NDArray[np.int64]:
    """Count relevant ratings of each item in a fold: |PR(i)|."""
    return relevant_counts(source_splits(source)[fold], min_rating=min_rating)


def _enough_groups(test: TestSet) -> int:
    """Give a number of groups that the head consists of, and the items that count."""
    return math.lcm(100 if test.head else 1, test.item_groups[2])
