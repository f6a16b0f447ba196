"""What is known of items beside who rated them: genres, categories, tags."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import scipy.sparse

from recbias.data.datasets.frames import NAME
from recbias.data.datasets.mistaken import listed
from recbias.data.datasets.tables import (
    USUAL_NAMES,
    plain_name,
    read_parquet_columns,
    read_text_columns,
)
from recbias.data.ratings import Ratings, label_meaning, label_text, missing_cells
from recbias.errors import ConfigError, ContractError, DataError, DataWarning, MissingData

__all__ = ["ItemFeatures", "load_features"]

_USUAL = (
    *("feature", "features", "genre", "genres", "category", "categories", "tag", "tags"),
    *("topic", "topics", "class", "classes"),
)
"""Usual names of the column, without case, blanks, ``-`` and ``_``."""
_NOTHING = {"", "(no genres listed)"}
"""Cells that name no feature; the second is what MovieLens writes."""
_EXPECTED = "a column of items, such as item_id, and one of features, such as genres"


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """Which features each item of some ratings has.

    Parameters
    ----------
    names : tuple of str
        Every feature that an item has, sorted.
    indptr : ndarray of int64, shape (n_items + 1,)
        Item i has the features ``index[indptr[i]:indptr[i + 1]]``.
    index : ndarray of int32
        Numbers of features, ascending for each item.

    Raises
    ------
    ContractError
        If the arrays do not fit each other, or a number is no feature or stands twice.

    See Also
    --------
    load_features : from a table.

    Examples
    --------
    >>> features = ItemFeatures(("comedy", "war"), np.array([0, 2, 2, 3]), np.array([0, 1, 1]))
    >>> features.n_items, features.counts.tolist()
    (3, [2, 0, 1])
    """

    names: tuple[str, ...]
    indptr: npt.NDArray[np.int64]
    index: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        indptr, index = self.indptr, self.index
        sizes = np.diff(indptr)
        if indptr.ndim != 1 or not len(indptr) or indptr[0] != 0 or indptr[-1] != len(index):
            raise ContractError(
                f"item features: indptr of shape {indptr.shape} does not span {len(index)} numbers"
            )
        owner = np.repeat(np.arange(len(sizes)), np.maximum(sizes, 0))
        if (sizes < 0).any() or not (np.diff(owner * (len(self.names) + 1) + index) > 0).all():
            raise ContractError("item features: numbers of an item are not ascending, each once")
        if len(index) and not 0 <= index.min() <= index.max() < len(self.names):
            raise ContractError(f"item features: a number is not from 0 to {len(self.names) - 1}")

    @property
    def n_items(self) -> int:
        """Size of the catalogue, items without a feature included."""
        return len(self.indptr) - 1

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of features of each item, shape (n_items,)."""
        return np.diff(self.indptr)

    @property
    def shares(self) -> scipy.sparse.csr_matrix:
        r"""Distribution :math:`p(g|i)`, shape (n_items, n_features): each feature weighs alike."""
        share = np.repeat(1.0 / np.maximum(self.counts, 1), self.counts)
        shape = self.n_items, len(self.names)
        return scipy.sparse.csr_matrix((share, self.index, self.indptr), shape=shape)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of names and arrays: what results that read them are keyed by."""
        digest = hashlib.sha256(json.dumps(self.names).encode())
        digest.update(self.indptr.astype("<i8").tobytes())
        digest.update(self.index.astype("<i4").tobytes())
        return digest.hexdigest()


def load_features(table: str | Path | pd.DataFrame, ratings: Ratings) -> ItemFeatures:
    """Read the features of items from a table, for the items of some ratings.

    Parameters
    ----------
    table : str, Path or pandas.DataFrame
        A CSV, a TSV (it ends in ``.tsv``) or a Parquet file with names of columns, or a DataFrame.
        The items stand in a column with a usual name (``item_id``, ``movieId``, ``asin``, ...),
        the features in one called ``feature``, ``genre``, ``category``, ``tag``, ``topic`` or
        ``class``, also in the plural, or in the only other one. A cell may hold several features,
        between bars as in ``Comedy|War``, in a DataFrame also as a list; an item may have several
        rows. Items that nobody rated are passed over.
    ratings : Ratings
        Their items are described, in their order.

    Returns
    -------
    ItemFeatures
        Items that the table does not name, or without a feature there, have none.

    Raises
    ------
    MissingData
        If there is no such file.
    ConfigError
        If `table` is neither path nor DataFrame.
    DataError
        If the file cannot be read, the columns cannot be told, or no item of the ratings has a
        feature.

    Warns
    -----
    DataWarning
        If some items of the ratings have none.

    Examples
    --------
    >>> rows = {"user_id": [1, 1, 2], "item_id": [7, 8, 7], "rating": [5.0, 2.0, 4.0]}
    >>> ratings = Ratings.from_frame(pd.DataFrame(rows))
    >>> movies = pd.DataFrame({"movieId": ["8", "7", "9"], "genres": ["War", "Comedy|War", "Noir"]})
    >>> features = load_features(movies, ratings)
    >>> features.names, features.counts.tolist()
    (('Comedy', 'War'), [2, 1])
    """
    if isinstance(table, pd.DataFrame):
        source, frame = NAME, table.set_axis([str(name) for name in table.columns], axis="columns")
    elif isinstance(table, str | Path):
        source, frame = str(table), _read(Path(table).expanduser())
    else:
        raise ConfigError(
            f"features: got {type(table).__name__} {table!r}, expected the path of a table of "
            "items, or a pandas DataFrame"
        )
    item, feature = _columns(source, list(frame.columns))
    known = frame[~missing_cells(frame[item])]
    places = _places(known[item], ratings)
    place, texts = places[places >= 0], known[feature][places >= 0]
    pairs = {
        (at, name) for at, cell in zip(place.tolist(), texts, strict=True) for name in _names(cell)
    }
    names = tuple(sorted({name for _, name in pairs}))
    if not names:
        some = ", ".join(repr(str(label)) for label in known[item].iloc[:3])
        raise DataError(
            f"{source}: no item of the ratings has a feature in the column '{feature}'\n"
            f"ids there are {some or 'none'}, in the ratings "
            f"{', '.join(repr(str(label)) for label in ratings.item_ids[:3])}"
        )
    number = {name: at for at, name in enumerate(names)}
    cells = np.array(sorted((at, number[name]) for at, name in pairs), dtype=np.int64)
    sizes = np.bincount(cells[:, 0], minlength=ratings.n_items)
    if without := int((sizes == 0).sum()):
        warnings.warn(
            f"{source}: {without:,} of {ratings.n_items:,} items have no feature; metrics of "
            "features leave them out",
            DataWarning,
            stacklevel=2,
        )
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return ItemFeatures(names, indptr, cells[:, 1].astype(np.int32))


def _read(path: Path) -> pd.DataFrame:
    """Read a file with names of columns; those of a text as text."""
    if not path.is_file():
        raise MissingData(f"no file {path}\ngive the path of a table of items: {_EXPECTED}")
    if path.suffix.lower() not in (".parquet", ".pq"):
        is_tsv = ".tsv" in [suffix.lower() for suffix in path.suffixes]
        return read_text_columns(path, "\t" if is_tsv else ",")
    try:
        return read_parquet_columns(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{path}: cannot be read ({str(error).splitlines()[0]})\nwrite CSV, TSV or Parquet"
        ) from None


def _columns(source: str, names: Sequence[str]) -> tuple[str, str]:
    """Tell which column has the items, and which their features."""
    plain = [plain_name(name) for name in names]
    items = [at for usual in USUAL_NAMES["item"] for at, name in enumerate(plain) if name == usual]
    features = [at for at, name in enumerate(plain) if name in _USUAL]
    if items and not features and len(names) == 2:
        features = [1 - items[0]]
    if not items or len(features) != 1 or len(set(names)) < len(names):
        raise DataError(
            f"{source}: expected {_EXPECTED}, each once\ncolumns found: {listed(names)}; rename "
            "one, or leave out what is not to be read"
        )
    return names[items[0]], names[features[0]]


def _places(items: pd.Series[Any], ratings: Ratings) -> npt.NDArray[np.int64]:
    """Give each label the number of its item in the ratings; -1 where they have none."""
    place = {label_meaning(str(label)): at for at, label in enumerate(ratings.item_ids)}
    codes, distinct = pd.factorize(items)
    places = [place.get(label_meaning(label_text(label)), -1) for label in distinct]
    return np.array(places, dtype=np.int64)[codes]


def _names(cell: object) -> list[str]:
    """List the features in a cell."""
    if isinstance(cell, Collection) and not isinstance(cell, str):
        parts = [label_text(part) for part in cell]
    else:
        missing = cell is None or cell is pd.NA or cell != cell  # NaN
        parts = [] if missing else [part.strip() for part in label_text(cell).split("|")]
    return [part for part in parts if part not in _NOTHING]
