"""Tables of ratings as people have them: CSV, TSV and their kin, and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from recbias.errors import DataError, MissingData
from recbias.ratings import Duplicates, Ratings, RatingScale

_KNOWN = {
    "user": ("user", "userid", "uid"),
    "item": ("item", "itemid", "iid", "movie", "movieid"),
    "rating": ("rating", "ratings", "stars", "value"),
    "timestamp": ("timestamp", "time"),
}
_SEPARATORS = ("::", "\t", ",", ";", "|", " ")


def read_table(
    path: Path,
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    timestamp: str | None = None,
    scale: RatingScale | None = None,
    duplicates: Duplicates = "error",
) -> tuple[Ratings, str]:
    r"""Read any table of ratings, finding out by itself what it is not told.

    Files that end in ``.parquet`` or ``.pq`` are Parquet, all others text. The separator of a text
    is the first of ``::``, tab, comma, semicolon, bar and blank that its first line has. The first
    line is a header if it has a known or a given column name, or no field that is a number.
    Without a header, the columns are user, item, rating and timestamp, as many as there are.

    Parameters
    ----------
    path : Path
        The file.
    user, item, rating, timestamp : str, optional
        Names of the columns. Those not given are found by their usual names, in any case and with
        or without ``_``: ``userId``, ``movie_id``, ``rating``, ``timestamp`` and the like. A table
        without a rating or a timestamp column is accepted.
    scale : RatingScale, optional
        The declared scale; inferred from the values when not given.
    duplicates : {"error", "last", "mean"}
        What several ratings of one pair mean.

    Returns
    -------
    ratings : Ratings
        Named after the file.
    understanding : str
        What was found: separator, columns, scale. One line, to be shown to the owner.

    Raises
    ------
    MissingData
        If there is no such file.
    DataError
        If the file is empty, a row has too many or too few fields, the columns cannot be told, or
        a value is not acceptable (see `Ratings.from_frame`).

    See Also
    --------
    recbias.datasets.load_dataset
    """
    if not path.is_file():
        raise MissingData(
            f"no file {path}\ngive the path of a table of ratings, or a dataset's name"
        )
    given = {
        role: column
        for role, column in zip(_KNOWN, (user, item, rating, timestamp), strict=True)
        if column is not None
    }
    if path.suffix in (".parquet", ".pq"):
        frame, columns, form = _read_parquet(path, given)
        first_line = 1
    else:
        frame, columns, form, first_line = _sniff_text(path, given)
    ratings = Ratings.from_frame(
        frame,
        user=columns["user"],
        item=columns["item"],
        rating=columns.get("rating"),
        timestamp=columns.get("timestamp"),
        scale=scale,
        name=path.stem,
        duplicates=duplicates,
        source=str(path),
        first_line=first_line,
    )
    named = ", ".join(f"{role} '{column}'" for role, column in columns.items())
    kind = "declared" if scale is not None else "inferred"
    values = (
        f"ratings {ratings.scale} ({kind})"
        if ratings.feedback == "explicit"
        else "implicit feedback"
    )
    return ratings, f"{form}; {named}; {values}"


def read_text(
    path: Path, separator: str, names: Sequence[str] | None, wanted: Sequence[str]
) -> pd.DataFrame:
    """Read columns of a separated text, every field as text.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    separator : str
        One character, or ``"::"``.
    names : sequence of str, optional
        Names of all columns; None when the first line is a header.
    wanted : sequence of str
        The columns to return.

    Returns
    -------
    pandas.DataFrame
        One row per line, columns `wanted` as categories of text: ids keep their zeros and blanks.

    Raises
    ------
    DataError
        If the file is empty or not UTF-8, or a line has another number of fields than the first.
    """
    content = path.read_bytes().rstrip(b"\r\n")
    if not content:
        raise DataError(f"no ratings in {path}: the file is empty")
    content += b"\n"
    if separator == "::":
        content, separator = content.replace(b"::", b"\t"), "\t"
    bad_rows: list[pyarrow.csv.InvalidRow] = []

    def stop(row: pyarrow.csv.InvalidRow) -> str:
        bad_rows.append(row)
        return "error"

    text = pa.dictionary(pa.int32(), pa.string())
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            # One thread, because only then does a bad row know its number.
            pyarrow.csv.ReadOptions(use_threads=False, column_names=names),
            pyarrow.csv.ParseOptions(
                delimiter=separator, ignore_empty_lines=False, invalid_row_handler=stop
            ),
            pyarrow.csv.ConvertOptions(
                include_columns=list(wanted), column_types=dict.fromkeys(wanted, text)
            ),
        )
    except pa.ArrowInvalid as error:
        if bad_rows:
            row = bad_rows[0]
            raise DataError(
                f"{path}:{row.number}: {row.actual_columns} fields, expected "
                f"{row.expected_columns} as in the first line\nthe line is {row.text!r}"
            ) from None
        raise DataError(f"{path}: {error}\nexpected a table in UTF-8 text") from None
    return table.to_pandas()


def _sniff_text(
    path: Path, given: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, str], str, int]:
    """Return the frame, its columns by role, a description, and the line of the first row."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        first = lines.readline().rstrip("\r\n")
    if not first:
        raise DataError(f"no ratings in {path}: the first line is empty")
    separator = next((mark for mark in _SEPARATORS if mark in first), None)
    if separator is None:
        raise DataError(
            f"{path}:1: no separator in {first!r}\n"
            "expected fields between commas, tabs, semicolons, bars, blanks or '::'"
        )
    shown = {"\t": "tab", " ": "blank"}.get(separator, separator)
    if len(separator) == 1:
        fields = next(csv.reader([first], delimiter=separator))
    else:
        fields = first.split(separator)
    known = {name for names in _KNOWN.values() for name in names}
    named = any(_plain(field) in known or field in given.values() for field in fields)
    if named or not any(_is_number(field) for field in fields):
        columns = _columns_by_role(path, fields, given, f"\nfirst line: {first!r}")
        frame = read_text(path, separator, None, list(columns.values()))
        return frame, columns, f"text separated by '{shown}', with a header", 2
    if given or not 2 <= len(fields) <= len(_KNOWN):
        raise DataError(
            f"{path}:1: no header in {first!r}\n"
            "expected column names, or the columns user, item[, rating[, timestamp]] without names"
        )
    columns = {role: role for role in list(_KNOWN)[: len(fields)]}
    frame = read_text(path, separator, list(columns), list(columns))
    return frame, columns, f"text separated by '{shown}', without a header", 1


def _read_parquet(path: Path, given: Mapping[str, str]) -> tuple[pd.DataFrame, dict[str, str], str]:
    try:
        names = pyarrow.parquet.read_schema(path).names
        columns = _columns_by_role(path, names, given, "")
        table = pyarrow.parquet.read_table(path, columns=list(columns.values()))
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: not a Parquet file ({error})") from None
    return table.to_pandas(), columns, "Parquet"


def _columns_by_role(
    path: Path, found: Sequence[str], given: Mapping[str, str], hint: str
) -> dict[str, str]:
    """Map user, item and, where there are such columns, rating and timestamp to column names."""
    columns = {}
    for role, usual in _KNOWN.items():
        if role in given and given[role] not in found:
            raise DataError(
                f"{path}: no column '{given[role]}' for the {role}\n"
                f"columns found: {', '.join(found)}{hint}"
            )
        detected = next((name for name in found if _plain(name) in usual), None)
        column = given.get(role, detected)
        if column is not None:
            columns[role] = column
        elif role in ("user", "item"):
            raise DataError(
                f"{path}: no {role} column found; columns found: {', '.join(found)}\n"
                f"needed: a user and an item column; name them with user= and item={hint}"
            )
    return columns


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "")


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
