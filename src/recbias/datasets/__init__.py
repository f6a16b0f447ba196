"""Data sets by name or path, with what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recbias.datasets import movielens
from recbias.datasets.registry import DatasetInfo, dataset_info, find_files, registry
from recbias.datasets.tables import read_table
from recbias.errors import ConfigError, DataError
from recbias.ratings import Duplicates, Ratings, RatingScale
from recbias.simulation import make_world

__all__ = ["Dataset", "DatasetInfo", "dataset_info", "find_files", "load_dataset", "registry"]

SYNTHETIC_SEED = 1
"""Seed of the world that is the data set ``synthetic``."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Ratings with where they come from.

    Parameters
    ----------
    ratings : Ratings
        The content.
    info : DatasetInfo
        Licence, citation, and what cannot be tested with it.
    source : str
        What was read, and for a reader's own table how it was understood.
    ready_folds : int8 array (n,), optional
        For each row the fold whose test set it is in, if the data came with folds.
    """

    ratings: Ratings
    info: DatasetInfo
    source: str
    ready_folds: npt.NDArray[np.int8] | None = None

    @property
    def name(self) -> str:
        """What a person types."""
        return self.info.name

    @property
    def title(self) -> str:
        """How the data set is named wherever its results are shown."""
        return self.info.title


def load_dataset(
    name_or_path: str | Path,
    *,
    data_dir: Path | None = None,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    timestamp: str | None = None,
    scale: RatingScale | None = None,
    duplicates: Duplicates | None = None,
) -> Dataset:
    """Load a data set by its name, or any table of ratings by its path.

    Parameters
    ----------
    name_or_path : str or Path
        ``"ml-1m"`` (stars 1-3 merged), ``"ml-1m-stars"``, ``"ml-100k"``, ``"ml-latest-small"``,
        ``"synthetic"``, or the path of a CSV, TSV or Parquet file. Text with a slash or
        a suffix is a path.
    data_dir : Path, optional
        Folder that has the publisher's files, searched before ``RECBIAS_DATA``.
    user, item, rating, timestamp, scale, duplicates
        For a table only: see `recbias.datasets.tables.read_table`.

    Returns
    -------
    Dataset
        The same content on every machine: for a named data set the hash was compared.

    Raises
    ------
    MissingData
        If the files are not on this machine.
    DataError
        If a file is damaged, or has other content than the registry says.
    ConfigError
        If the name is unknown, or options for tables come with a name.
    """
    options = {
        "user": user,
        "item": item,
        "rating": rating,
        "timestamp": timestamp,
        "scale": scale,
        "duplicates": duplicates,
    }
    used = {option: value for option, value in options.items() if value is not None}
    path = Path(name_or_path)
    if isinstance(name_or_path, Path) or path.suffix or "/" in name_or_path or "\\" in name_or_path:
        ratings, understanding = read_table(path, **used)  # type: ignore[arg-type]
        return Dataset(ratings, _own_table(ratings), f"{path}: {understanding}")
    info = dataset_info(name_or_path)
    if used:
        raise ConfigError(f"{info.name} is read as published: {', '.join(used)} is for own tables")
    return _load_named(info, find_files(info, data_dir))


def _load_named(info: DatasetInfo, files: tuple[Path, ...]) -> Dataset:
    folds = None
    match info.name:
        case "synthetic":
            ratings = make_world(seed=SYNTHETIC_SEED).ratings
        case "ml-1m" if len(files) > 1:
            ratings, folds = movielens.read_1m_folds(files)
        case "ml-1m":
            ratings = movielens.merge_1m(movielens.read_1m_stars(files[0]))
        case "ml-1m-stars":
            ratings = movielens.read_1m_stars(files[0])
        case "ml-100k":
            ratings = movielens.read_100k(files[0])
        case _:
            ratings = movielens.read_latest_small(files[0])
    source = ", ".join(map(str, files)) or f"made here with seed {SYNTHETIC_SEED}"
    if info.merged_content_hash:
        _compare(info, info.merged_content_hash, movielens.merge_1m(ratings), source)
    else:
        _compare(info, info.content_hash, ratings, source)
    return Dataset(ratings, info, source, folds)


def _compare(info: DatasetInfo, expected: str | None, ratings: Ratings, source: str) -> None:
    if ratings.content_hash != expected:
        remedy = f"get the files anew from {info.address}" if info.address else "please report this"
        raise DataError(
            f"{info.name}: content hash {ratings.content_hash}, expected {expected}\n"
            f"read from {source}\n{remedy}"
        )


def _own_table(ratings: Ratings) -> DatasetInfo:
    cannot = {"no unbiased part": "Which ratings are missing depends on what they would be."}
    if ratings.timestamp is None:
        cannot["no timestamps"] = "The table has no column with times: no temporal split."
    if ratings.feedback == "implicit":
        cannot["no negatives"] = "All observed pairs are alike: no false-positive metrics."
    return DatasetInfo(
        name=ratings.name,
        title=ratings.name,
        licence="as its owner says",
        citation="",
        n_users=ratings.n_users,
        n_items=ratings.n_items,
        n_ratings=len(ratings),
        scale=ratings.scale,
        cannot_test=cannot,
        content_hash=ratings.content_hash,
    )
