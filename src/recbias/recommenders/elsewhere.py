"""Scores and lists that another program computed, as a system like all others."""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.datasets.tables import columns_by_role
from recbias.errors import ConfigError, ContractError, DataError, DataWarning, MissingData
from recbias.places import cells_dir
from recbias.ratings import Ratings
from recbias.recommenders.base import System, adopt

__all__ = ["RECORD", "FromScores", "split_record", "warn_of_short_lists"]

RECORD = "split.json"
"""The file beside the folds that says what they are: ``recbias data split`` writes it."""

_RUNS = (".trec", ".run")
_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", *_RUNS)
_TREC = ["user", "Q0", "item", "rank", "score", "tag"]


class FromScores:
    """A system whose scores or lists were computed elsewhere, on the folds of ``data split``.

    There is a file for each fold. One of *scores* has the columns ``user_id``, ``item_id`` and
    ``score``; pairs that are not in it have no score. One of *lists* has ``rank`` instead, or is a
    run in the format of TREC (``user Q0 item rank score tag``, by falling score), and holds no
    training item; what is not in a list has no score, so that a list tells no metric that looks
    further down than it goes. Results are known by the content of the files, wherever these are.

    Parameters
    ----------
    path : str, Path, DataFrame or list of DataFrame
        A path with ``{fold}`` in the place of the fold's number, which starts at 1; a folder with
        ``fold-1.csv`` and so on, or with ``scores.csv`` or ``run.trec`` in folders ``fold-1`` and
        so on; a file, for a split of one fold. CSV, TSV, Parquet, ``.trec`` or ``.run``. Or the
        tables, which are then kept among the cells.
    digest : str
        Of the files, as a stored grid knows them; computed if not given.

    Raises
    ------
    MissingData
        If there are no such files.
    ConfigError
        If the path is of another type.

    Examples
    --------
    >>> FromScores("splits/fold-{fold}/als.csv")
    Traceback (most recent call last):
    ...
    recbias.errors.MissingData: no file splits/fold-1/als.csv...
    """

    deterministic: ClassVar[bool] = True
    revision: ClassVar[int] = 1
    not_in_identity: ClassVar[tuple[str, ...]] = ("path",)

    def __init__(self, path: Any = "", digest: str = "") -> None:
        if isinstance(path, pd.DataFrame):
            path = [path]
        if not isinstance(path, str | Path):
            path = _kept(path)
        self.path = str(path)
        self.digest = digest or (_digest(_files(self.path)) if self.path else "")
        self.fold = 0

    @property
    def system_name(self) -> str:
        """What the system is called in tables, if it is called nothing else."""
        plain = Path(self.path.replace("{fold}", ""))
        return plain.stem if plain.suffix in _SUFFIXES else plain.name

    def at_fold(self, fold: int, n_folds: int) -> None:
        """Learn which fold is fitted next, of how many.

        Raises
        ------
        DataError
            If there are files for more or fewer folds.
        """
        found = len(_files(self.path))
        if found != n_folds:
            raise DataError(
                f"{self.path}: scores of {found} folds, but the split has {n_folds}\n"
                "write the folds with recbias data split, and one file of scores for each"
            )
        self.fold = fold

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Read the scores of the fold.

        Parameters
        ----------
        train : Ratings
            Training ratings of the fold that `at_fold` named; the first if it was not called.
        rng
            Not used.

        Raises
        ------
        DataError
            If the files changed or do not fit: they belong to another split, name a user or item
            that the data do not have, a pair twice, a score that is no finite number, or in a list
            an item that the user has in training. The message names file, line and fold.
        """
        files = _files(self.path)
        if _digest(files) != self.digest:
            raise DataError(f"{self.path}: the files changed since they were named; run it again")
        file = files[self.fold]
        _compare_split(self.path, self.fold, train)
        table = _read(file)
        where = _Where(file, self.fold, 1 if file.suffix in _RUNS else 2, table)
        users = _places(table["user"], train.user_ids, "user", where)
        items = _places(table["item"], train.item_ids, "item", where)
        values = pd.to_numeric(table["value"], errors="coerce").to_numpy(dtype=np.float64)
        if len(wrong := np.flatnonzero(~np.isfinite(values))):
            found = table["value"].iloc[wrong[0]]
            where.refuse(wrong[0], f"{found!r} is no finite number")
        pairs = users * train.n_items + items
        if len(again := np.flatnonzero(pd.Series(pairs).duplicated())):
            where.refuse(again[0], "the pair is there twice")
        if "rank" in table:
            own = train.user.astype(np.int64) * train.n_items + train.item
            if len(trained := np.flatnonzero(np.isin(pairs, own))):
                where.refuse(trained[0], "a list with an item of the user's training ratings")
            ranks = table["rank"].to_numpy(dtype=np.float64)
            order = np.lexsort((ranks, -values, users))
            starts = np.searchsorted(users[order], np.arange(train.n_users))
            values = np.empty(len(order))
            values[order] = starts[users[order]] - np.arange(len(order))
        order = np.argsort(users, kind="stable")
        self._items, self._values = items[order], values[order].astype(np.float32)
        self._starts = np.searchsorted(users[order], np.arange(train.n_users + 1))
        self._n_items = train.n_items
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Give the scores of the file; see `recbias.recommenders.Recommender.score`."""
        scores = np.full((len(users), self._n_items), np.nan, dtype=np.float32)
        for row, user in enumerate(users):
            own = slice(self._starts[user], self._starts[user + 1])
            scores[row, self._items[own]] = self._values[own]
        return scores


def warn_of_short_lists(system: System, cutoffs: Mapping[str, int | None]) -> None:
    """Warn where a metric looks further down than the lists of a system go.

    Parameters
    ----------
    system
        Any; one of whose scores come from elsewhere as lists is looked at.
    cutoffs
        Of each metric, by its name; None if it looks at whole lists.

    Warns
    -----
    DataWarning
    """
    if system.algorithm != FromScores.__name__:
        return
    tables = [_read(file) for file in _files(str(system.parameters["path"]))]
    if not all("rank" in table for table in tables):
        return
    longest = max(int(table["user"].value_counts().max()) for table in tables if len(table))
    deeper = [name for name, cutoff in cutoffs.items() if (cutoff or math.inf) > longest]
    if deeper:
        warnings.warn(
            f"{system.name}: its lists hold {longest} items at most, and {deeper[0]} looks further "
            "down: what longer lists would hold counts as if it had no score",
            DataWarning,
            stacklevel=5,
        )


# Found by its name, but in no list of algorithms: it trains nothing.
adopt(FromScores, FromScores.__name__, None, listed=False)


class _Where:
    """Names the place of a row in messages."""

    def __init__(self, file: Path, fold: int, first_line: int, table: pd.DataFrame) -> None:
        self.file, self.fold, self.first_line, self.table = file, fold, first_line, table

    def refuse(self, row: int, problem: str) -> NoReturn:
        user, item = self.table["user"].iloc[row], self.table["item"].iloc[row]
        raise DataError(
            f"{self.file}:{self.first_line + row}: fold {self.fold + 1}, user {user}, item {item}: "
            f"{problem}\nscores have to fit the folds that recbias data split writes"
        )


def _files(path: str) -> list[Path]:
    """List the files of all folds, in their order."""
    root = Path(path)
    if "{fold}" in path:
        patterns = [path]
    elif root.is_dir():
        names = [f"fold-{{fold}}{suffix}" for suffix in _SUFFIXES]
        names += [f"fold-{{fold}}/{n}{s}" for n in ("scores", "run") for s in _SUFFIXES]
        patterns = [str(root / name) for name in names]
    elif root.is_file():
        return [root]
    else:
        raise MissingData(
            f"no file or folder {path}\nname a folder with a file of scores for each fold, such as "
            "fold-1.csv, or a path such as splits/fold-{fold}/scores.csv"
        )
    for pattern in patterns:
        found: list[Path] = []
        while (file := Path(pattern.replace("{fold}", str(len(found) + 1)))).is_file():
            found.append(file)
        if found:
            return found
    first = Path(patterns[0].replace("{fold}", "1"))
    raise MissingData(
        f"no file {first}\neach fold needs a file with the columns user_id, item_id and score, "
        "or a run: CSV, TSV, Parquet, .trec or .run"
    )


def _digest(files: Iterable[Path]) -> str:
    each = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return hashlib.sha256("".join(each).encode()).hexdigest()


def _kept(tables: Any) -> str:
    """Write the tables of all folds where every process finds them."""
    tables = (
        list(tables) if isinstance(tables, Iterable) and not isinstance(tables, Mapping) else []
    )
    if not tables or not all(isinstance(table, pd.DataFrame) for table in tables):
        raise ConfigError(
            "FromScores: expected a path, a DataFrame, or a list with a DataFrame for each fold"
        )
    contents = [table.to_csv(index=False).encode() for table in tables]
    digest = hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in contents))
    folder = cells_dir() / "scores" / f"DataFrame-{digest.hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(contents, start=1):
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".fold-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(folder / f"fold-{number}.csv")
    return str(folder)


def _read(file: Path) -> pd.DataFrame:
    """Read columns ``user`` and ``item`` as text, ``value``, and ``rank`` of lists."""
    try:
        if file.suffix in _RUNS:
            table = pd.read_csv(
                file, sep=r"\s+", header=None, dtype=str, quoting=3, keep_default_na=False
            )
            if table.shape[1] != len(_TREC):
                raise DataError(f"{file}: {table.shape[1]} fields, expected {' '.join(_TREC)}")
            empty = table.isna() | (table == "")
            if len(short := np.flatnonzero(empty.any(axis="columns"))):
                raise DataError(f"{file}:{short[0] + 1}: too few fields for {' '.join(_TREC)}")
            table = table.set_axis(_TREC, axis="columns").assign(value=table[4])
            ranks = pd.to_numeric(table["rank"], errors="coerce").fillna(0)
            return table[["user", "item", "value"]].assign(rank=ranks)
        if file.suffix in (".parquet", ".pq"):
            table = pd.read_parquet(file)
        else:
            mark = "\t" if file.suffix == ".tsv" else ","
            table = pd.read_csv(file, sep=mark, dtype=str, keep_default_na=False)
    except (ValueError, OSError) as error:
        raise DataError(f"{file}: cannot be read ({str(error).splitlines()[0]})") from None
    table = table.set_axis([str(name) for name in table.columns], axis="columns")
    columns = columns_by_role(file, list(table.columns), {}, "")
    ranked = next((name for name in table.columns if name.strip().lower() == "rank"), None)
    value = columns.get("rating", ranked)
    if value is None:
        raise DataError(f"{file}: no column score or rank; found: {', '.join(table.columns)}")
    found = pd.DataFrame(
        {"user": _text(table[columns["user"]]), "item": _text(table[columns["item"]])}
    )
    found["value"] = table[value].to_numpy()
    if "rating" not in columns:
        found["rank"] = pd.to_numeric(found["value"], errors="coerce")
        found["value"] = -found["rank"]
    return found


def _text(labels: pd.Series[Any]) -> npt.NDArray[np.object_]:
    """Write labels as text; whole numbers that a table kept as 3.0 as 3."""
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    return labels.astype(str).to_numpy(dtype=object)


def _places(
    labels: pd.Series[Any], known: npt.NDArray[Any], role: str, where: _Where
) -> npt.NDArray[np.int64]:
    places = pd.Index(known.astype(str)).get_indexer(pd.Index(labels))
    if len(strange := np.flatnonzero(places < 0)):
        where.refuse(strange[0], f"the data have no such {role}")
    return places.astype(np.int64)


def split_record(path: str) -> dict[str, Any]:
    """Read what is written beside the folds that scores belong to.

    Parameters
    ----------
    path : str
        As of `FromScores`.

    Returns
    -------
    dict
        ``rule`` and ``seed`` of the split, ``train`` with the content hash of each fold's training
        ratings, and more; empty if the scores do not stand among folds of ``recbias data split``.

    Raises
    ------
    MissingData
        If there are no such files.
    ContractError
        If the record is not what the command writes.
    """
    file = _files(path)[0]
    for record in (file.parent / RECORD, file.parent.parent / RECORD):
        if record.is_file():
            try:
                return dict(json.loads(record.read_text(encoding="utf-8")))
            except (ValueError, TypeError):
                raise ContractError(f"{record}: not as recbias data split wrote it") from None
    return {}


def _compare_split(path: str, fold: int, train: Ratings) -> None:
    """Refuse scores that stand among the folds of another split."""
    record = split_record(path)
    hashes = record.get("train", [])
    if hashes and (fold >= len(hashes) or hashes[fold] != train.content_hash):
        raise DataError(
            f"{path}: fold {fold + 1} is of another split or other data than is measured\n"
            f"its {RECORD} says: {record.get('rule')}, seed {record.get('seed')}; measure that "
            "split, or write the folds anew"
        )
