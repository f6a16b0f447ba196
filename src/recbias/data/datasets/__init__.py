"""Data sets by name or path, with what is known of them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.memory import give_back
from recbias.data.datasets import (
    cm100k,
    coat,
    filmtrust,
    kuairec,
    lastfm,
    movielens,
    netflix,
    yahoo,
)
from recbias.data.datasets.content import Content
from recbias.data.datasets.frames import read_frame
from recbias.data.datasets.liked import STRICT, enough_or_cut
from recbias.data.datasets.own import OwnTable, is_handed_on, is_path, own_table
from recbias.data.datasets.registry import (
    OUTSIDE,
    DatasetInfo,
    dataset_info,
    find_files,
    registry,
    state,
)
from recbias.data.datasets.tables import TableOptions, kept_options, options_file, read_table
from recbias.data.ratings import Decimal, Duplicates, Missing, Ratings, RatingScale, Thousands
from recbias.data.simulation import (
    REVISION,
    CountOptions,
    PowerLawOptions,
    Truth,
    World,
    count_world,
    is_world,
    make_world,
    parse_world,
    power_law_world,
    preference_world,
)
from recbias.errors import ConfigError, DataError, unknown_name

__all__ = [
    "Content",
    "Dataset",
    "DatasetInfo",
    "OwnTable",
    "TableOptions",
    "Truth",
    "dataset_info",
    "find_files",
    "is_handed_on",
    "is_path",
    "kept_options",
    "load_dataset",
    "options_file",
    "outside_module",
    "own_table",
    "register_dataset",
    "registry",
    "state",
    "top_rating",
]

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
    unbiased : Ratings, optional
        Ratings of items drawn at random, over the same users and items, if the data have such.
    understood : tuple of str
        What was found and assumed in reading, in short statements.
    truth : Truth, optional
        The true ratings of all pairs over the same users and items, if it is a world.
    row_order : int64 array (n,), optional
        For each row its place among the lines of the files, if the data came with folds.
    """

    ratings: Ratings
    info: DatasetInfo
    source: str
    ready_folds: npt.NDArray[np.int8] | None = None
    unbiased: Ratings | None = None
    understood: tuple[str, ...] = ()
    truth: Truth | None = None
    row_order: npt.NDArray[np.int64] | None = None

    @property
    def name(self) -> str:
        """What a person types."""
        return self.info.name

    @property
    def title(self) -> str:
        """How the data set is named wherever its results are shown."""
        return self.info.title

    def part_hash(self, part: str) -> str:
        """Tell by which hash results that read a part of the data set are to be keyed.

        Parameters
        ----------
        part : {"observed", "unbiased", "truth"}
            The part.

        Returns
        -------
        str
            64 hexadecimal digits. Of ``"observed"`` the content hash of the ratings. Of
            ``"unbiased"`` that of both parts together, since a split by it trains on the observed
            one. Of ``"truth"`` that of what decides it, the simulation's revision among it: the
            true ratings themselves are not computed.

        Raises
        ------
        ConfigError
            If there is no such part, or the data set has none.

        Examples
        --------
        >>> dataset = load_dataset("world(users=40,items=60)")
        >>> dataset.part_hash("observed") == dataset.ratings.content_hash
        True
        >>> dataset.part_hash("unbiased")
        Traceback (most recent call last):
        ...
        recbias.errors.ConfigError: world(users=40,items=60) has no unbiased part
        use a data set that has one, e.g. coat or cm100k, or the truth of a world
        """
        if part == "observed":
            return self.ratings.content_hash
        if part == "unbiased":
            if self.unbiased is None:
                raise ConfigError(
                    f"{self.name} has no unbiased part\n"
                    "use a data set that has one, e.g. coat or cm100k, or the truth of a world"
                )
            return _digest(self.ratings.content_hash, self.unbiased.content_hash)
        if part == "truth":
            if self.truth is None:
                raise ConfigError(
                    f"{self.name} has no known truth\n"
                    "use a world that is made here, e.g. synthetic or world(relation=0.5)"
                )
            return _digest(self.truth.identity, REVISION)
        raise unknown_name("part of a data set", part, ("observed", "unbiased", "truth"))


def _digest(*parts: str | int) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def load_dataset(
    name_or_path: str | Path | pd.DataFrame,
    *,
    data_dir: Path | None = None,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    timestamp: str | None = None,
    separator: str | None = None,
    header: bool | None = None,
    scale: RatingScale | None = None,
    duplicates: Duplicates | None = None,
    decimal: Decimal | None = None,
    quotes: bool | None = None,
    thousands: Thousands | None = None,
    missing: Missing | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Load a data set by its name, or any table of ratings by its path.

    Parameters
    ----------
    name_or_path : str, Path or pandas.DataFrame
        A name of the registry, e.g. ``"ml-1m"`` (stars 1-3 merged), ``"filmtrust"`` or
        ``"synthetic"``; a world, e.g. ``"world(relation=-0.5,skew=0.7)"`` (see
        `recbias.data.simulation.parse_world`); or the path of a CSV, TSV or Parquet file (`is_path`
        says which texts are paths); or such a table as a DataFrame.
    data_dir : Path, optional
        Folder that has the publisher's files, searched before ``RECBIAS_DATA``.
    user, item, rating, timestamp, separator, header, scale, duplicates, decimal, quotes, \
    thousands, missing, encoding
        For a table only: see `TableOptions`. They come before those that are kept in the file
        ``TABLE.recbias.yaml`` beside it.

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
        If the name is unknown, a world has no such options or cannot be made, or options for tables
        come with a name.
    """
    options = TableOptions(
        user=user,
        item=item,
        rating=rating,
        timestamp=timestamp,
        separator=separator,
        header=header,
        scale=scale,
        duplicates=duplicates,
        decimal=decimal,
        quotes=quotes,
        thousands=thousands,
        missing=missing,
        encoding=encoding,
    )
    used = {
        field.name: value
        for field in dataclasses.fields(options)
        if (value := getattr(options, field.name)) is not None
    }
    if isinstance(name_or_path, pd.DataFrame):
        ratings, understood = read_frame(name_or_path, options)
        return Dataset(ratings, _info_of(ratings), "; ".join(understood), understood=understood)
    if not isinstance(name_or_path, str | Path):
        raise ConfigError(
            f"data set is {type(name_or_path).__name__} {name_or_path!r}: expected the name of a "
            "data set, the path of a table, or a pandas DataFrame"
        )
    if is_path(name_or_path):
        table = own_table(name_or_path, options)
        ratings, understood = read_table(table.path, table.options)
        give_back()
        info = dataclasses.replace(_info_of(ratings), name=table.name, title=table.title)
        source = f"{table.path}: {'; '.join(understood)}"
        return Dataset(ratings, info, source, understood=understood)
    info = dataset_info(str(name_or_path))
    if used:
        raise ConfigError(f"{info.name} is read as published: {', '.join(used)} is for own tables")
    if is_world(info.name):
        return _make_named(info, data_dir)
    return _load_named(info, find_files(info, data_dir))


def _make_named(info: DatasetInfo, data_dir: Path | None) -> Dataset:
    """Make the world that a name says."""
    options = parse_world(info.name)
    world: World
    match options:
        case CountOptions():
            # If the data set is not here, its own error says how to get it.
            source = load_dataset(options.counts, data_dir=data_dir)
            world = count_world(options, source.ratings)
        case PowerLawOptions():
            world = power_law_world(options)
        case _:
            world = _preference_world(options)
    info = dataclasses.replace(
        info, n_ratings=len(world.ratings), content_hash=world.ratings.content_hash
    )
    return Dataset(world.ratings, info, f"made here as {world.identity}", truth=world)


# A page runs several grids on one world, which nobody can write to, and each asks for it by name.
_preference_world = lru_cache(maxsize=2)(preference_world)


@lru_cache(maxsize=1)
def _synthetic(_: Sequence[Path]) -> Content:
    world = make_world(seed=SYNTHETIC_SEED)
    return Content(world.ratings, truth=world)


_READERS: dict[str, Callable[[Sequence[Path]], Content]] = {
    "synthetic": _synthetic,
    "ml-1m": movielens.read_1m,
    "ml-1m-stars": lambda files: Content(movielens.read_1m_stars(files[0])),
    "ml-1m-folds": movielens.read_1m,
    "ml-100k": lambda files: Content(movielens.read_100k(files[0])),
    "ml-latest-small": lambda files: Content(movielens.read_latest_small(files[0])),
    "filmtrust": filmtrust.read,
    "cm100k": cm100k.read,
    "coat": coat.read,
    "lastfm-1k": lastfm.read,
    "netflix": netflix.read,
    "yahoo-r3": yahoo.read,
    "kuairec": kuairec.read,
}


def register_dataset(info: DatasetInfo, read: Callable[[Sequence[Path]], Content]) -> None:
    """Make a data set of your own known by a name, wherever one is taken.

    Parameters
    ----------
    info : DatasetInfo
        Its entry: title, licence, size, scale, the files that it needs below a data folder (none if
        `read` makes it), and what it cannot test. With a `content_hash` what is read is compared.
    read : callable
        A function of a module, called with the paths of those files.

    Raises
    ------
    ConfigError
        If another module's data set has the name, or the name would be taken for a path or a world.

    Examples
    --------
    >>> register_dataset(dataset_info("coat"), lambda files: Content(...))
    Traceback (most recent call last):
    ...
    recbias.errors.ConfigError: data set 'coat' exists already, in recbias.data.datasets.coat: ...
    """
    known = _READERS.get(info.name)
    if known is not None and known.__module__ != read.__module__:
        raise ConfigError(
            f"data set '{info.name}' exists already, in {known.__module__}: rename yours"
        )
    if is_path(info.name) or is_world(info.name):
        raise ConfigError(f"data set '{info.name}': a name has no slash, suffix or brackets")
    OUTSIDE[info.name] = info
    _READERS[info.name] = read


def outside_module(name: str) -> str | None:
    """Name the module of a data set that was registered from outside; None for all others."""
    if name not in OUTSIDE:
        return None
    return str(_READERS[name].__module__)


def _load_named(info: DatasetInfo, files: tuple[Path, ...]) -> Dataset:
    reader = _READERS[info.name]
    if files and info.name not in OUTSIDE:
        stamps = tuple((each.stat().st_mtime_ns, each.stat().st_size) for each in files)
        content = _read_once(reader, files, stamps)
    else:
        content = reader(files)
    places = ", ".join(map(str, files if len(files) < 10 else (files[0], "...", files[-1])))
    source = places or f"made here with seed {SYNTHETIC_SEED}"
    _compare(info, content.ratings, source)
    source = "; ".join((source, *content.notes))
    ratings, folds = content.ratings, content.ready_folds
    unbiased, notes, truth = content.unbiased, content.notes, content.truth
    return Dataset(ratings, info, source, folds, unbiased, notes, truth, content.row_order)


# A page runs a dozen grids on one data set, and each asks for it by name. The stamps tell a file
# that was changed from the one that was read.
@lru_cache(maxsize=1)
def _read_once(
    reader: Callable[[Sequence[Path]], Content],
    files: Sequence[Path],
    _stamps: Sequence[tuple[int, int]],
) -> Content:
    content = reader(files)
    for array in (content.ready_folds, content.row_order):
        if array is not None:
            array.flags.writeable = False
    return content


def _compare(info: DatasetInfo, ratings: Ratings, source: str) -> None:
    expected, actual = info.content_hash, ratings.content_hash
    if info.merged_content_hash:
        expected, actual = info.merged_content_hash, movielens.merge_1m(ratings).content_hash
    # Of what only its readers may have no hash is known.
    if expected is not None and actual != expected:
        remedy = f"get the files anew from {info.address}" if info.address else "please report this"
        raise DataError(
            f"{info.name}: content hash {actual}, expected {expected}\nread from {source}\n{remedy}"
        )


def _info_of(ratings: Ratings) -> DatasetInfo:
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
        use="as its owner says",
        n_users=ratings.n_users,
        n_items=ratings.n_items,
        n_ratings=len(ratings),
        scale=ratings.scale,
        cannot_test=cannot,
        content_hash=ratings.content_hash,
    )


def top_rating(dataset: str | Dataset, *, data_dir: Path | None = None) -> float:
    """Give the strictest relevance of the papers: the top of a dataset's scale.

    A dataset of counts has no top; its entry in the registry says from where on. Of a table the top
    may be next to nothing; then the data say from where on, see `recbias.data.datasets.liked`.

    Parameters
    ----------
    dataset
        Name of a data set, which need not be at hand, or path of a table; or what was loaded, with
        the options that reading it took.
    data_dir
        Folder that holds datasets, besides ``RECBIAS_DATA``.

    Returns
    -------
    float
        5 for stars; 1 for implicit feedback; 3 for the plays of Last.fm.
    """
    if not isinstance(dataset, Dataset) and is_path(dataset):
        dataset = load_dataset(dataset, data_dir=data_dir)
    info = dataset.info if isinstance(dataset, Dataset) else dataset_info(dataset)
    if isinstance(dataset, Dataset) and info.name not in registry() and not is_world(info.name):
        ratings = dataset.ratings
        return enough_or_cut(ratings.value, ratings.scale.maximum, STRICT)
    return info.relevant_from or info.scale.maximum
