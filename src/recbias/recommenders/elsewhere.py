"""Scores and lists that another program computed, as a system like all others."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from recbias._system.memory import give_back
from recbias._system.places import cells_dir
from recbias.data.datasets.tables import (
    USUAL_NAMES,
    columns_by_role,
    file_meant,
    plain_name,
    read_parquet_columns,
    read_text_columns,
)
from recbias.data.ratings import (
    Ratings,
    Where,
    label_meaning,
    label_text,
    warn_of_cut_numbers,
)
from recbias.errors import (
    ConfigError,
    ContractError,
    DataError,
    DataWarning,
    MissingData,
    did_you_mean,
)
from recbias.protocol.splits import Split
from recbias.recommenders.base import System, adopt

__all__ = [
    "RECORD",
    "Elsewhere",
    "FromScores",
    "ScoreTable",
    "is_trec",
    "read_cells",
    "read_scores",
    "split_record",
    "warn_of_missing",
]

RECORD = "split.json"
"""The file beside the folds that says what they are: ``recbias data split`` writes it."""

_RUNS = (".trec", ".run")
_TABLES = (".csv", ".tsv", ".parquet", ".pq")
_SUFFIXES = (*_TABLES, *_RUNS)
_ENDS = (*_SUFFIXES, ".csv.gz", ".tsv.gz", ".trec.gz", ".run.gz")
_TREC = ["user", "Q0", "item", "rank", "score", "tag"]
_SCORES = ("yhat", "ypred", "rhat", "rhatui", "ruihat")
_SCORE_WORDS = frozenset(
    {"score", "scores", "pred", "preds", "prediction", "predictions", "predicted", "est"}
    | {"estimate", "estimates", "estimated"}
)
"""A column whose name ends so, or is that of a rating, is a score unless a word says otherwise."""
_TRUE_WORDS = frozenset(
    {"true", "truth", "actual", "real", "observed", "gold", "gt", "label", "target", "test"}
    | {"review", "user"}
)
_COUNT_WORDS = frozenset({"n", "num", "number", "count", "total"})
_RANK_WORDS = frozenset({"rank", "ranks", "ranking", "position", "place"})
_OF_RANKS = frozenset({"list", "model", "my", "system"})
"""What else the name of a rank may say: another one, such as ``popularity_rank``, is doubtful."""
_SYSTEMS = ("algo", "algorithm", "method", "model", "recommender", "run", "system", "tag")
"""A column named so says which system a row is of."""
_ROWS = ("index", "row", "fold")
_RATINGS = ("rating", "ratings", "stars", "star", "grade", "value", "overall", "rui")
"""Read as scores only where there are neither scores nor ranks; beside these they are the truth."""
_OTHER_WORDS = frozenset(
    {"id", "ids", "idx", "index", "time", "times", "date", "timestamp", "datetime", "unixtime"}
    | {"when", "at"}
)
"""A column whose name ends so orders no list."""
_TELLING = 20
"""Ratings that tell a fold: that so many are in another one's test by chance happens to nobody."""


class FromScores:
    """A system whose scores or lists were computed elsewhere, on the folds of ``data split``.

    There is a file for each fold. One of *scores* has the columns ``user_id``, ``item_id`` and
    ``score``; pairs that are not in it have no score. One of *lists* has ``rank`` instead, or is a
    run in the format of TREC (``user Q0 item rank score tag``, by falling score, equal ones by
    rank), and holds no training item; what is not in a list has no score, so that a list tells no
    metric that looks further down than it goes. The order that a file states for a user is the one
    that is measured, to the last digit; what it leaves equal is a tie, whatever the order of lines.
    Results are known by the content of the files, wherever these are.

    Parameters
    ----------
    path : str, Path, DataFrame or list of DataFrame
        A path with ``{fold}`` in the place of the fold's number, which starts at 1; a folder with
        ``fold-1.csv`` and so on, or with ``scores.csv`` or ``run.trec`` in folders ``fold-1`` and
        so on; a file, for a split of one fold. CSV, TSV, Parquet, ``.trec`` or ``.run``. Or the
        tables, which are then kept among the cells.
    digest : str
        Of the files, as a stored grid knows them; computed if not given.
    column : str
        The one that is the score; or the rank, if its name ends with ``rank``, ``position`` or
        ``place``. If not given it is found by its name; a column named like ratings counts only
        where none is named like scores or ranks.
    rank : str
        A column that is a rank, whatever its name.

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
    revision: ClassVar[int] = 3
    not_in_identity: ClassVar[tuple[str, ...]] = ("path",)

    def __init__(self, path: Any = "", digest: str = "", column: str = "", rank: str = "") -> None:
        if isinstance(path, pd.DataFrame):
            path = [path]
        if not isinstance(path, str | Path):
            path = _kept(path)
        self.path = str(path)
        self.digest = digest or (_digest(_files(self.path)) if self.path else "")
        self.column, self.rank = column, rank
        self.fold = 0

    @property
    def system_name(self) -> str:
        """What the system is called in tables, if it is called nothing else."""
        plain = Path(self.path.replace("{fold}", ""))
        return plain.stem if plain.suffix in _SUFFIXES else plain.name

    @property
    def is_list(self) -> bool:
        """Whether the files hold lists, which end somewhere, rather than scores."""
        return read_scores(_files(self.path)[0], self.column, self.rank, fold=0).is_list

    def at_fold(self, fold: int, n_folds: int) -> None:
        """Learn which fold is fitted next, of how many.

        Raises
        ------
        DataError
            If there are files for more or fewer folds.
        """
        n_files = len(_files(self.path))
        if n_files != n_folds:
            raise DataError(
                f"{self.path}: scores of {n_files} fold{'s' * (n_files != 1)}, but the split has "
                f"{n_folds}\n"
                "write the folds with recbias data split, and one file of scores for each"
            )
        self.fold = fold

    def described(self) -> str:
        """Tell which columns are read, as ``user 'user_id', item 'item_id', score 'score'``.

        And of how many users there are rows.

        Raises
        ------
        DataError
            If they cannot be told, or the folds have other ones.
        """
        tables = [
            read_scores(file, self.column, self.rank, fold=n)
            for n, file in enumerate(_files(self.path))
        ]
        first = tables[0].said
        if other := next((n for n, table in enumerate(tables) if table.said != first), 0):
            raise DataError(
                f"{self.path}: fold 1 has {first}, fold {other + 1} has {tables[other].said}\n"
                "write the columns of all folds alike"
            )
        n_users = len(set().union(*(table.rows["user"] for table in tables)))
        return f"{first}; {n_users:,} user{'s' * (n_users != 1)}"

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
            an item that the user has in training; if two columns that could be the score order
            items differently, or there is no row. The message names file, line and fold.
        """
        files = _files(self.path)
        if _digest(files) != self.digest:
            raise DataError(f"{self.path}: the files changed since they were named; run it again")
        _compare_split(self.path, self.fold, train)
        table = read_scores(files[self.fold], self.column, self.rank, fold=self.fold)
        self._fitted = table.fitted(train)
        return self

    def check(self, splits: Sequence[Split]) -> None:
        """Read the file of each fold once, before anything is trained, and refuse what cannot be.

        A file of all items for all users tells nothing of its fold; others do, see Raises.

        Parameters
        ----------
        splits : sequence of Split
            All folds.

        Raises
        ------
        DataError
            As `at_fold` and `fit`. And for a file of another fold: it has training ratings of its
            own, 20 or more, and none of the other's; or for each user just the items of the
            other's training, of which its own lacks some, and not all of its own.
        """
        self.at_fold(0, len(splits))
        for fold, (file, split) in enumerate(zip(_files(self.path), splits, strict=True)):
            _compare_split(self.path, fold, split.train)
            table = read_scores(file, self.column, self.rank, fold=fold)
            _refuse_other_fold(table, table.fitted(split.train), splits, fold)
            del table
            give_back()

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Give the scores of the file; see `recbias.recommenders.Recommender.score`."""
        return self._fitted.score(users)


def warn_of_missing(
    system: System,
    label: str,
    folds: Sequence[Mapping[str, npt.NDArray[np.int32]]],
    split_of: Callable[[int], Split],
    *,
    condensed: bool,
) -> None:
    """Warn where a design looks further down than the scores or lists of a system go.

    Parameters
    ----------
    system
        Any; nothing is missing of one that was trained here.
    label
        Of the design.
    folds
        Of each fold and metric: users and items that are looked at, of which those in the file are
        passed over; item -1 for a place of a list that stays empty. Users who are not in the file
        have no list, which is usual, and not warned of; nor are items that are in the file for
        nobody, and places that they would fill, if they have no training ratings, or each user has
        all others and these are half of the items or more: then they are unknown to its model.
    split_of
        Gives a fold.
    condensed
        Whether the design ranks test items alone: else scores of test items alone are warned of.

    Warns
    -----
    DataWarning
    """
    if system.algorithm != FromScores.__name__:
        return
    counts_by_metric: dict[str, npt.NDArray[np.int64]] = {}
    n_tested = 0  # folds with scores of test items alone
    for fold, missing in enumerate(folds):
        is_complete = not any(pairs.size for pairs in missing.values())
        if condensed and is_complete:
            continue
        train, test = split_of(fold).train, split_of(fold).test
        path, digest, column, rank = (
            str(system.parameters.get(name, "")) for name in ("path", "digest", "column", "rank")
        )
        file = _files(path)[fold]
        if not condensed and _tests_alone(file, digest, column, rank, fold, train, test):
            n_tested += 1
        if is_complete:
            continue
        table = read_scores(file, column, rank, fold=fold)
        file_users, placed = table.places(train)
        pairs_there = file_users * train.n_items + placed
        in_file = np.zeros(train.n_items, dtype=bool)
        in_file[placed] = True
        # What is not in the file may have been cut off.
        is_cut = table.is_list or 2 * in_file.sum() < train.n_items
        is_cut = is_cut or bool(_short(in_file, train, pairs_there)[file_users].any())
        known = in_file | (train.item_counts() > 0) if is_cut else in_file
        is_short = _short(known, train, pairs_there)
        for metric, (users, items) in missing.items():
            is_there = np.isin(users.astype(np.int64) * train.n_items + items, pairs_there)
            counts_here = np.where(items < 0, is_short[users], known[items] & ~is_there)
            counted = users[np.isin(users, file_users) & counts_here]
            counts = np.bincount(counted, minlength=train.n_users)
            counts_by_metric[metric] = counts_by_metric.get(metric, np.zeros_like(counts)) + counts
    gaps = [
        f"{metric} {counts.sum():,} (of {np.count_nonzero(counts):,} users)"
        for metric, counts in counts_by_metric.items()
        if counts.any()
    ]
    if n_tested == len(folds):
        warnings.warn(
            f"{system.name}: under {label}, all items have no score but those of the test\n"
            "give a score for each item that is ranked, or measure condensed lists",
            DataWarning,
            stacklevel=4,
        )
    if gaps:
        warnings.warn(
            f"{system.name}: under {label}, metrics look below its last item, where test items or "
            f"places are missing: {', '.join(gaps)}\nthese count as if they had no score; give all "
            "items of a user, or ask for a smaller cutoff of full lists",
            DataWarning,
            stacklevel=4,
        )


@lru_cache(maxsize=256)
def _tests_alone(
    file: Path, digest: str, column: str, rank: str, fold: int, train: Ratings, test: Ratings
) -> bool:
    """Tell whether a file has scores of test items alone.

    A grid asks for each label, and an audit in each of its runs: files are read once for that.
    """
    table = read_scores(file, column, rank, fold=fold)
    if table.is_list:
        return False
    users, items = table.places(train)
    tested = test.user.astype(np.int64) * train.n_items + test.item
    return bool(np.isin(users * train.n_items + items, tested).all())


def _short(
    known: npt.NDArray[np.bool_], train: Ratings, pairs_there: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Tell which users lack items that are known, those of their training apart."""
    listed = np.bincount(pairs_there // train.n_items, minlength=train.n_users)
    trained = known[train.item] & ~np.isin(
        train.user.astype(np.int64) * train.n_items + train.item, pairs_there
    )
    return listed + np.bincount(train.user[trained], minlength=train.n_users) < known.sum()


# Found by its name, but in no list of algorithms: it trains nothing.
adopt(FromScores, FromScores.__name__, None, listed=False)


class _Where:
    """Names the place of a row in messages: line of a file, or row of a table without one."""

    def __init__(
        self, file: Path, fold: int | None, first_line: int | None, table: pd.DataFrame
    ) -> None:
        self.file, self.fold, self.first_line, self.table = file, fold, first_line, table

    def line(self, row: int) -> str:
        if self.first_line is None:
            return f"{self.file}, row {row}"
        return f"{self.file}:{self.first_line + row}"

    def refuse(self, row: int, problem: str, remedy: str = "") -> NoReturn:
        user, item = self.table["user"].iloc[row], self.table["item"].iloc[row]
        fold = "" if self.fold is None else f"fold {self.fold + 1}, "
        usual = "scores have to fit " + (
            "the ratings that they are measured on"
            if self.fold is None
            else "the folds that recbias data split writes"
        )
        raise DataError(
            f"{self.line(row)}: {fold}user {user}, item {item}: {problem}\n{remedy or usual}"
        )


def _files(path: str) -> list[Path]:
    """List the files of all folds, in their order."""
    root = Path(path)
    if "{fold}" in path:
        patterns = [path]
    elif root.is_dir():
        names = [f"fold-{{fold}}{end}" for end in _ENDS]
        names += [f"fold-{{fold}}/{n}{end}" for n in ("scores", "run") for end in _ENDS]
        patterns = [str(root / name) for name in names]
    elif root.is_file():
        return [root]
    else:
        raise MissingData(
            f"no file or folder {path}{file_meant(root)}\n"
            "name a folder with a file of scores for each fold, such as fold-1.csv, or a path such "
            "as splits/fold-{fold}/scores.csv"
        )
    first = _of_fold(patterns[0], 1)
    files: list[Path] = []
    used = ""
    while matching := [
        p for p in patterns if Path(p.replace("{fold}", str(len(files) + 1))).is_file()
    ]:
        if used not in ("", *matching) or len(matching) > 1:
            both = [used or matching[0], next(p for p in matching if p != (used or matching[0]))]
            raise DataError(
                f"{path}: {' and '.join(both)} could both be meant, in fold {len(files) + 1}\n"
                f"name one: --scores {quote(both[0])}, or --scores {quote(both[1])}"
            )
        used = matching[0]
        files.append(_of_fold(used, len(files) + 1))
    if files and _of_fold(used, 0).is_file():
        raise DataError(
            f"{path}: there is a fold 0\nnumber folds from 1, as recbias data split does"
        )
    if files:
        return files
    nor = f", nor fold-1/scores.csv or fold-1/run.trec in {path}" if root.is_dir() else ""
    raise MissingData(
        f"no file {first}{nor}\neach fold needs a file with the columns user_id, item_id and score "
        "or rank, or a run (CSV, TSV, Parquet, .trec or .run); others are named by a path, as "
        "splits/fold-{fold}/lists.csv"
    )


def _of_fold(pattern: str, number: int) -> Path:
    return Path(pattern.replace("{fold}", str(number)))


def _digest(files: Iterable[Path]) -> str:
    digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return hashlib.sha256("".join(digests).encode()).hexdigest()


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
    digest = hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents))
    folder = cells_dir() / "scores" / f"DataFrame-{digest.hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(contents, start=1):
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".fold-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(folder / f"fold-{number}.csv")
    return str(folder)


class ScoreTable(NamedTuple):
    """Scores, or lists, as another program left them; read by :func:`read_scores`.

    Attributes
    ----------
    rows : DataFrame
        ``user`` and ``item`` as text.
    keys : tuple of ndarray of int64
        What orders the items of a user, the larger the earlier; the second counts where the first
        is equal.
    is_list
        Whether what is not in it is known to stand below.
    said
        Which columns these are.
    where
        Names the place of a row.
    """

    rows: pd.DataFrame
    keys: tuple[npt.NDArray[np.int64], ...]
    is_list: bool
    said: str
    where: _Where

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """What orders the items of a user as one number, the larger the earlier; exactly."""
        return _stated_order(self)

    def places(self, train: Ratings) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return user and item of each row as numbers of the data; DataError if they have none."""
        labels = ((role, getattr(train, f"{role}_ids")) for role in ("user", "item"))
        users, items = (_places(self.rows[role], ids, role, self.where) for role, ids in labels)
        return users, items

    def known_places(self, ratings: Ratings) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return user and item of each row as `places` does; -1 where the data have none."""
        return (
            _matched(self.rows["user"], ratings.user_ids, "user", self.where),
            _matched(self.rows["item"], ratings.item_ids, "item", self.where),
        )

    def refuse_twice(
        self, users: npt.NDArray[np.int64], items: npt.NDArray[np.int64], n_items: int
    ) -> None:
        """Raise DataError if a pair is there twice; users below 0 do not count."""
        twice = pd.Series(users * n_items + items).duplicated() & (users >= 0)
        if len(again := np.flatnonzero(twice)):
            self.where.refuse(again[0], "the pair is there twice")

    def fitted(self, train: Ratings) -> Elsewhere:
        """Return what scores these pairs and no other.

        Raises
        ------
        DataError
            For a user or item that the data do not have, a pair that is there twice, and in a list
            an item that the user has in training; of scores, if all are of such items.
        """
        users, items = self.places(train)
        self.refuse_twice(users, items, train.n_items)
        train_pairs = train.user.astype(np.int64) * train.n_items + train.item
        in_train = np.isin(users * train.n_items + items, train_pairs)
        if self.is_list and in_train.any():
            self.where.refuse(
                int(np.argmax(in_train)), "a list with an item of the user's training ratings",
                "is the file of another fold? lists name what is not in train.csv of their own",
            )  # fmt: skip
        if in_train.all():
            self.where.refuse(
                0, "the user has the item in training, as in every other row of the file",
                "score what is not in train.csv of the fold: training items are in no list",
            )  # fmt: skip
        values = -_places_within(users, self.order).astype(np.float32)
        rows = np.argsort(users, kind="stable")
        starts = np.searchsorted(users[rows], np.arange(train.n_users + 1))
        return Elsewhere(items[rows], values[rows], starts, train.n_items)


class Elsewhere(NamedTuple):
    """Scores of some pairs, sorted by user: user u has the rows ``starts[u]`` on."""

    items: npt.NDArray[np.int64]
    values: npt.NDArray[np.float32]
    starts: npt.NDArray[np.int64]
    n_items: int

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Score all items for some users; NaN where there is none."""
        scores = np.full((len(users), self.n_items), np.nan, dtype=np.float32)
        for row, user in enumerate(users):
            span = slice(self.starts[user], self.starts[user + 1])
            scores[row, self.items[span]] = self.values[span]
        return scores


def read_scores(
    file: Path,
    column: str = "",
    rank: str = "",
    *,
    fold: int | None = None,
    cells: pd.DataFrame | None = None,
    is_run: bool | None = None,
) -> ScoreTable:
    """Read a file of scores, a list or a run, whatever data it is about.

    Parameters
    ----------
    file
        Its path; of a table that is no file, what it is called.
    column, rank
        As of `FromScores`.
    fold
        What the rows are of, for messages.
    cells : DataFrame, optional
        The table, if it is there already.
    is_run
        Whether it is in the format of TREC; told by the suffix if not given.

    Raises
    ------
    DataError
        If columns cannot be told or order items differently, a score is no finite number, or there
        is no row.
    """
    is_run = _form(file) in _RUNS if is_run is None else is_run
    table = read_cells(file, _TREC if is_run else ()) if cells is None else cells
    if table.empty:
        raise DataError(
            f"{file}: no row\neach fold needs a file with the columns user_id, item_id and score"
            if fold is not None
            else f"{file}: no row\na run needs the columns user_id, item_id and score"
        )
    names = list(map(str, table.columns))
    table = table.set_axis(names, axis="columns")
    all_names = ", ".join(names)
    advice = "rename the columns to user_id, item_id and score, or to user_id, item_id and rank"
    if not any(re.search("[^\\W\\d]", name) for name in names):
        advice = "write a first line with the names of the columns: user_id, item_id and score"
    try:
        unread = {"rating": "none", "timestamp": "none"}
        roles = columns_by_role(file, names, unread, "")
    except DataError as error:
        if advice.startswith("rename"):
            advice += "; or, if line 1 names none, add such a line above it"
        raise DataError(f"{str(error).splitlines()[0]}\n{advice}") from None
    first_line = 1 if is_run else 2
    where = _Where(file, fold, first_line if cells is None else None, pd.DataFrame())
    for role, taken in roles.items():
        if others := [n for n in names if n != taken and plain_name(n) in USUAL_NAMES[role]]:
            raise DataError(
                f"{file}: columns '{taken}' and '{others[0]}' could both be the {role}\n"
                "leave out, or rename, the one that is not; ids have to be those of the data"
            )
    rows = pd.DataFrame(
        {role: _labels(table[roles[role]], role, where.line) for role in ("user", "item")}
    )
    where.table = rows
    for role in ("user", "item"):
        nobody = table[roles[role]].isna().to_numpy() | (rows[role] == "").to_numpy()
        if nobody.any():
            raise DataError(
                f"{where.line(int(np.argmax(nobody)))}: no {role} in column '{roles[role]}'\n"
                f"write the {role} that the row is about, or leave the row out"
            )
    _refuse_several_runs(file, table, rows["user"])
    scores, ranked, doubtful = _candidates(names, [*roles.values()])
    doubtful = [] if is_run else doubtful
    if column or rank:
        if other := {column, rank} - {"", *(["score", "rank"] if is_run else names)}:
            raise DataError(
                f"{file}: no column '{min(other)}'{did_you_mean(min(other), names, ';')} "
                f"found: {all_names}\nname one that is there"
            )
        if column and _is_rank(column):
            column, rank = "", column
        scores, ranked, doubtful = [column] if column else [], [rank] if rank else [], []
    chosen = scores + ranked
    if not chosen:
        raise DataError(f"{file}: no column score or rank; found: {all_names}\n{advice}")
    if twice := next((name for name in (*chosen, *doubtful) if names.count(name) > 1), None):
        raise DataError(f"{file}: column '{twice}' is there twice; found: {all_names}\n{advice}")
    keys = {}
    for name in (*chosen, *doubtful):
        codes = _ordered(table[name] if name in chosen else _plain_numbers(table[name]))
        if name in chosen and (codes < 0).any():
            row = int(np.argmax(codes < 0))
            text = str(table[name].iloc[row])
            where.refuse(
                row,
                f"{text!r} is no finite number, in column '{name}'",
                "write numbers with a decimal point, and leave out pairs without a score; or name "
                "the column that is the score: --score NAME",
            )
        # What has no two numbers, or says one thing throughout, is no score.
        if name in chosen or len(np.unique(codes[codes >= 0])) > 1:
            keys[name] = codes * (-1 if name in ranked else 1)
    if placed := next((n for n in doubtful if n in keys and _RANK_WORDS & set(_words(n))), ""):
        raise DataError(
            f"{file}: columns '{chosen[0]}' and '{placed}' could both be meant\n"
            f"name the one that is the score, or the rank: --score {quote(chosen[0])} or --rank "
            f"{quote(placed)}"
        )
    if len(keys) > 1 and not is_run:
        _compare_columns(file, rows["user"], keys, ranked)
        if len(ranked) > 1:  # of which a score may let each order what it leaves equal
            _compare_columns(file, rows["user"], {name: keys[name] for name in ranked}, ranked)
    read = [name for name in chosen if name not in ranked][:1] + ranked[:1]
    said = ", then ".join(f"{'rank' if name in ranked else 'score'} '{name}'" for name in read)
    said = f"{'a run: ' * is_run}user '{roles['user']}', item '{roles['item']}', {said}"
    is_list = is_run or read[0] in ranked
    return ScoreTable(rows, tuple(keys[name] for name in read), is_list, said, where)


def _refuse_several_runs(file: Path, table: pd.DataFrame, users: pd.Series[Any]) -> None:
    """Refuse the lists of several systems of one user, which would become one list."""
    for place, name in enumerate(table.columns):
        if plain_name(name) in _SYSTEMS:
            system = table.iloc[:, place]
            n_systems = system.groupby(users.to_numpy()).nunique()
            if (n_systems > 1).any():
                both = " and ".join(map(repr, system.drop_duplicates()[:2]))
                raise DataError(
                    f"{file}: column '{name}' has {both}, of one user: two systems in one file\n"
                    "write a file for each system"
                )


def _candidates(names: list[str], known: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Name the columns that say an order, scores and ranks; and those that might.

    Ratings are scores where neither is there, else the truth, which stands beside them. Numbers of
    rows, other ids and times are none of these.
    """
    plain = {name: plain_name(name) for name in names if name not in known}
    words = {name: _words(name) for name in plain}
    ranks = [name for name in plain if _is_rank(name)]
    scores = [
        name
        for name, plain_form in plain.items()
        if plain_form in _SCORES
        or (
            _is_scored(words[name])
            and (_SCORE_WORDS | set(_RATINGS)).intersection(words[name][-1:])
            and not (_RANK_WORDS | _TRUE_WORDS | _COUNT_WORDS).intersection(words[name])
        )
    ]
    ratings = [name for name, plain_form in plain.items() if plain_form in _RATINGS]
    only_ratings = not scores + ranks
    others = [
        name
        for name, plain_form in plain.items()
        if name not in (*scores, *ranks, *ratings)
        and plain_form not in _ROWS
        and (plain_form or name != names[0])  # a table's own numbers of rows have no name
        and not plain_form.startswith(("unnamed:", "indexlevel"))
        and (
            not _OTHER_WORDS.intersection(words[name][-1:])
            # The time that a user will spend may be what was predicted.
            or (only_ratings and words[name][-1] in ("time", "times") and _is_scored(words[name]))
        )
    ]
    if only_ratings:
        scores = ratings
    return scores, ranks, others if scores + ranks else []


def _words(name: str) -> list[str]:
    """Split the name of a column into words and numbers."""
    return re.findall(r"[a-z]+|[0-9]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower())


def _is_scored(words: list[str]) -> bool:
    """Tell whether a name has the word for a score in it."""
    return not _SCORE_WORDS.isdisjoint(words)


def _is_rank(name: str) -> bool:
    """Tell whether a column is a rank by its name alone."""
    words = _words(name)
    known = _RANK_WORDS | _SCORE_WORDS | _OF_RANKS
    return bool(_RANK_WORDS.intersection(words[-1:])) and known.issuperset(words)


def _form(file: Path) -> str:
    """Tell the form of a file by its suffix, that before ``.gz`` if it is packed."""
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    return suffixes[-1] if suffixes else ""


def is_trec(file: Path) -> bool:
    """Tell whether a file is in a format of TREC, as what is called like no table is."""
    return _form(file) not in _TABLES


def read_cells(file: Path, fields: Sequence[str] = ()) -> pd.DataFrame:
    """Read the columns of a file as they are, those of a text as text.

    Parameters
    ----------
    file
        Its path.
    fields
        What the columns are, of a format of TREC; they have no header, and stand between blanks.

    Raises
    ------
    DataError
        If it cannot be read, or has another number of fields.
    """
    try:
        if fields:
            table = pd.read_csv(
                file,
                sep=r"\s+",
                header=None,
                dtype=str,
                quoting=csv.QUOTE_NONE,
                keep_default_na=False,
            )
            if table.shape[1] != len(fields):
                raise DataError(f"{file}: {table.shape[1]} fields, expected {' '.join(fields)}")
            empty = table.isna() | (table == "")
            if len(short := np.flatnonzero(empty.any(axis="columns"))):
                raise DataError(f"{file}:{short[0] + 1}: too few fields for {' '.join(fields)}")
            return table.set_axis(list(fields), axis="columns")
        if _form(file) in (".parquet", ".pq"):
            return read_parquet_columns(file)
        try:
            table = read_text_columns(file, "\t" if _form(file) == ".tsv" else ",")
        except DataError as error:
            problem, *remedy = str(error).splitlines()
            if "--" not in "".join(remedy):
                raise
            # What tables are told is an option that scores do not have.
            raise DataError(
                f"{problem}\nwrite CSV in UTF-8, a field in each line for each name in line 1"
            ) from None
        if all(_is_enclosed(str(name)) for name in table.columns):
            # Between tabs quotes belong to the field, but nobody names columns so.
            table = table.rename(columns=_without_quotes)
            for place in range(table.shape[1]):
                cells = table.iloc[:, place]
                is_number = pd.to_numeric(cells, errors="coerce").notna()
                if (cells.map(_is_enclosed) | is_number).all():
                    table.isetitem(place, cells.map(_without_quotes).to_numpy())
        return table
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except (pa.ArrowException, ValueError, OSError) as error:
        raise DataError(
            f"{file}: cannot be read ({str(error).splitlines()[0]})\n"
            "write CSV or TSV in UTF-8, Parquet, or a run of TREC"
        ) from None


def _compare_columns(
    file: Path,
    users: pd.Series[Any],
    keys: Mapping[str, npt.NDArray[np.int64]],
    ranked: list[str],
) -> None:
    """Refuse columns that could all be the score unless they order items alike.

    A rank may tell apart what a score leaves equal.
    """
    user = pd.factorize(users)[0]
    first, *others = keys
    for other in others:
        finer = other in ranked and first not in ranked
        order = np.lexsort((-keys[other], -keys[first], user))
        new = np.diff(user[order]) != 0
        steps = [np.diff(-keys[name][order]) for name in (first, other)]
        unlike = (steps[1] < 0) | ((steps[0] == 0) != (steps[1] == 0))
        if finer:
            unlike = steps[1] < 0
        if (unlike & ~new).any():
            either = f"--score {quote(first)} or --score {quote(other)}"
            raise DataError(
                f"{file}: columns '{first}' and '{other}' could both be the score, and order items "
                f"differently\nname the one that is: {either}, in Python FromScores(..., "
                f"column={first!r})"
            )


def _labels(column: pd.Series[Any], role: str, where: Where) -> npt.NDArray[np.object_]:
    codes, distinct = pd.factorize(column)
    texts = [*map(label_text, distinct)]
    warn_of_cut_numbers(list(np.asarray(distinct)), texts, codes, role, where)
    return np.array([*texts, ""], dtype=object)[codes]


def _ordered(values: pd.Series[Any]) -> npt.NDArray[np.int64]:
    """Give each value its number by size, from 0, equal ones one; exactly, whatever wrote them.

    What is no finite number has -1.
    """
    if values.dtype == object and values.map(lambda value: isinstance(value, Collection)).any():
        values = values.map(str)  # lists have no order, and texts are no numbers
    codes, distinct = pd.factorize(values)
    if values.dtype.kind in "iufb":
        floats = distinct.to_numpy()
        places = np.unique(floats, return_inverse=True)[1].astype(np.int64)
    else:
        texts = list(map(str, np.asarray(distinct, dtype=object)))
        floats = np.array([*map(_number, texts)])
        # Two texts may be one float64 and two numbers: these are compared digit by digit.
        close = np.flatnonzero(pd.Series(floats).duplicated(keep=False) & np.isfinite(floats))
        digits = {at: Decimal(texts[at]) for at in close.tolist()}
        exact, number, before = np.zeros(len(texts), dtype=np.int64), 0, None
        for at in sorted(digits, key=digits.__getitem__):
            number += digits[at] != before
            exact[at], before = number, digits[at]
        level = np.unique(floats, return_inverse=True)[1] * (number + 1) + exact
        places = np.unique(level, return_inverse=True)[1].astype(np.int64)
    return np.append(np.where(np.isfinite(floats), places, -1), -1)[codes]


def _plain_numbers(values: pd.Series[Any]) -> pd.Series[Any]:
    """Write numbers of a column that might be the score plainly, whatever their sign and unit."""
    if values.dtype.kind in "iufb":
        return values
    return values.astype(str).str.strip().str.rstrip("%").str.replace(",", ".", regex=False)


def _number(text: str) -> float:
    """Read a number; NaN if it is none, or one whose digits cannot be compared."""
    try:
        number = float(text)
        return np.nan if "_" in text or (number == 0 and Decimal(text).is_nan()) else number
    except (ValueError, ArithmeticError):
        return np.nan


def _stated_order(table: ScoreTable) -> npt.NDArray[np.int64]:
    """Join what orders items to one number, the larger the earlier."""
    joined = np.zeros(len(table.rows), dtype=np.int64)
    for key in table.keys:
        smaller = key - key.min()
        _, joined = np.unique(joined * (smaller.max() + 1) + smaller, return_inverse=True)
    return joined


def _places_within(
    users: npt.NDArray[np.int64], order: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Give each item its place with its user, from 0, the largest first, equal ones one.

    Fewer than 2^24, so that a float32 holds each.
    """
    rows = np.lexsort((-order, users))
    new = np.diff(users[rows], prepend=-1) != 0
    step = new | (np.diff(order[rows], prepend=-1) != 0)
    count = np.cumsum(step)
    starts = np.flatnonzero(new)
    places = np.empty(len(rows), dtype=np.int64)
    places[rows] = count - np.repeat(count[starts], np.diff([*starts, len(rows)]))
    return places


def _places(
    labels: pd.Series[Any], known: npt.NDArray[Any], role: str, where: _Where
) -> npt.NDArray[np.int64]:
    """Find labels among those of the data, also where zeros or quotes came or went on the way.

    No two labels of the data are one number, so that there is one that can be meant.
    """
    places = _matched(labels, known, role, where)
    if len(unknown := np.flatnonzero(places < 0)):
        where.refuse(unknown[0], f"the data have no such {role}")
    return places


def _matched(
    labels: pd.Series[Any], known: npt.NDArray[Any], role: str, where: _Where
) -> npt.NDArray[np.int64]:
    """Find labels among known ones; -1 if there is none that can be meant."""
    texts = known.astype(str)
    rows, distinct = pd.factorize(labels)  # a label is there once for each of many items
    places = pd.Index(texts).get_indexer(pd.Index(distinct))[rows]
    enclosed = np.array([_is_enclosed(text) for text in distinct], dtype=bool)[rows]
    literal = np.flatnonzero(enclosed & (places >= 0))
    inner = pd.Index(labels.iloc[literal].map(_without_quotes))
    # Of an id with quotes and the same without, which is meant is told by the other ids.
    doubtful = inner[pd.Index(texts).get_indexer(inner) >= 0]
    if len(doubtful):
        is_open = enclosed & (places < 0)
        if enclosed.all() and is_open.any():
            places[:] = -1
        elif enclosed.all() or is_open.any() or not doubtful.isin(labels).any():
            where.refuse(
                literal[0],
                f"whether quotes enclose this {role} or belong to it cannot be told",
                "write them without quotes that enclose, or as CSV",
            )
    if (places < 0).any():
        meanings = pd.Index([label_meaning(text) for text in texts])
        codes, strange = pd.factorize(labels[places < 0])
        bare = [_without_quotes(text) for text in strange]
        bare_places = pd.Index(texts).get_indexer(pd.Index(bare))
        meant = meanings.get_indexer(pd.Index([label_meaning(text) for text in bare]))
        places[places < 0] = np.where(bare_places < 0, meant, bare_places)[codes]
        # Of two labels that both mean one, such as 01 and 1, either may have been meant otherwise.
        label_codes = pd.factorize(labels)[0]
        first = pd.Series(label_codes).groupby(places).transform("first").to_numpy()
        if len(other := np.flatnonzero((label_codes != first) & (places >= 0))):
            same = labels.iloc[int(np.argmax(label_codes == first[other[0]]))]
            where.refuse(
                other[0],
                f"{same} and {labels.iloc[other[0]]} both mean {role} {texts[places[other[0]]]}",
                f"write each {role} in one way",
            )
    return places.astype(np.int64)


def _is_enclosed(text: str) -> bool:
    """Tell whether quotes enclose a text."""
    return len(text) > 1 and text[0] == text[-1] == '"'


def _without_quotes(text: str) -> str:
    """Take off quotes that enclose a text."""
    return text[1:-1].replace('""', '"') if _is_enclosed(text) else text


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


def _refuse_other_fold(
    table: ScoreTable, fitted: Elsewhere, splits: Sequence[Split], fold: int
) -> None:
    """Refuse the scores of a fold that tell that they were computed on another one."""
    train, test = splits[fold].train, splits[fold].test
    users = np.repeat(np.arange(train.n_users), np.diff(fitted.starts))
    pairs = np.sort(users * train.n_items + fitted.items)

    def scored(ratings: Ratings) -> npt.NDArray[np.int64]:
        rows = ratings.user.astype(np.int64) * train.n_items + ratings.item
        return rows[pairs[np.searchsorted(pairs[:-1], rows)] == rows]

    has = np.bincount(fitted.items, minlength=train.n_items) > 0
    trained, learned, tested = scored(train), train.item_counts() > 0, test.item_counts() > 0
    unlearned = pairs[~learned[pairs % train.n_items]]
    # Of items of the test alone, in two folds, the other one's training has just the same.
    is_whole = len(pairs) == has.sum() * len(np.unique(users)) and (has != tested).any()
    is_strange = is_whole and len(unlearned) and (learned & ~has).any()
    for other, split in enumerate(splits):
        if other == fold:
            continue
        if len(trained) >= _TELLING and not len(scored(split.train)):
            pair = trained[0]
            found = f"{len(trained):,} such ratings and none of the training of fold {other + 1}"
            problem = f"the user has the item in training, and the file has {found}"
            remedy = "leave out training ratings"
        elif is_strange and (has == (split.train.item_counts() > 0)).all():
            pair = unlearned[0]
            problem = (
                "training has no rating of the item, and the file has for each user just the items "
                f"that the training of fold {other + 1} has"
            )
            remedy = "score all items that its training has"
        else:
            continue
        rows_user, rows_item = table.places(train)
        table.where.refuse(
            int(np.argmax(rows_user * train.n_items + rows_item == pair)), problem,
            f"is it the file of fold {other + 1}? put each file into its own fold; if it is the "
            f"right one, {remedy}",
        )  # fmt: skip
