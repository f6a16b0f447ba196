"""Tables of ratings as people have them: CSV, TSV and their kin, and Parquet."""

from __future__ import annotations

import bz2
import codecs
import csv
import dataclasses
import gzip
import io
import json
import lzma
import re
import shlex
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from encodings.aliases import aliases
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import yaml

from recbias._system.memory import give_back
from recbias.data.datasets.archives import Bounded
from recbias.data.datasets.mistaken import (
    listed,
    refuse_matrix,
    warn_of_comments,
    warn_of_one_time,
    warn_of_unread_ratings,
)
from recbias.data.ratings import (
    DROP,
    THOUSANDS,
    Decimal,
    Duplicates,
    Missing,
    Ratings,
    RatingScale,
    Thousands,
    checked_values,
    missing_cells,
    time_numbers,
)
from recbias.errors import (
    ConfigError,
    DataError,
    DataWarning,
    MissingData,
    did_you_mean,
    nearest,
    unknown_name,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

USUAL_NAMES = {
    "user": (
        *("userid", "user", "uid", "username", "customerid", "customer", "readerid", "reader"),
        *("listenerid", "listener", "viewerid", "viewer", "memberid", "member", "reviewerid"),
        *("reviewer", "visitorid", "visitor", "accountid", "account", "personid", "person"),
    ),
    "item": (
        *("itemid", "item", "iid", "movieid", "movie", "filmid", "film", "bookid", "book", "isbn"),
        *("productid", "product", "asin", "trackid", "track", "songid", "song", "artistid"),
        *("artist", "videoid", "video", "articleid", "article", "gameid", "game", "businessid"),
        *("business",),
    ),
    "rating": ("rating", "ratings", "stars", "star", "score", "grade", "value", "overall"),
    "timestamp": ("timestamp", "time", "unixtime", "unixreviewtime", "datetime", "date", "when"),
}
"""Usual names by role, without case, blanks, ``-`` and ``_``; the first that is there counts."""
_USUAL = frozenset(name for names in USUAL_NAMES.values() for name in names)
_SEPARATORS = ("::", "\t", ",", ";", "|", " ")
_SHOWN = {"\t": "tab", " ": "blank"}
_UNIT_SEPARATOR = "\x1f"
_BLOCK = 1 << 21
_SAMPLE = 1 << 16
_HALF_SIGN = re.compile("[\ud800-\udfff]")
"""What JSON may have, and no file in UTF-8 can hold."""
_LONGEST = 1 << 24
"""Bytes of a line of JSON: a longer one is no record of a rating."""
_FORMATS = (
    (rb"\x1f\x8b", "gzip", "rename it to end in .gz"),
    (rb"PAR1[\x00-\x1f]", "Parquet", "rename it to end in .parquet"),
    (rb"ARROW1", "Feather or Arrow", "rename it to end in .feather"),
    (rb"PK\x03\x04", "a zip archive or a spreadsheet", "rename it to end in .zip, .xlsx or .ods"),
    (rb"\xd0\xcf\x11\xe0", "an old spreadsheet", "rename it to end in .xls"),
    (rb"BZh[1-9]1AY&SY", "bzip2", "rename it to end in .bz2"),
    (rb"\xfd7zXZ", "xz", "rename it to end in .xz"),
    (rb"\x28\xb5\x2f\xfd", "Zstandard", "unpack it"),
    (rb"7z\xbc\xaf", "7-Zip", "unpack it"),
    (rb"(\xff\xfe\0\0|\0\0\xfe\xff)", "UTF-32 text", "name its encoding: --encoding utf-32"),
    (rb"(\xff\xfe|\xfe\xff)", "UTF-16 text", "name its encoding: --encoding utf-16"),
    (rb"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (rb"%PDF", "PDF", "export the table as CSV"),
    (rb"\s*<(!doctype|html|\?xml)", "a web page or XML", "export the table as CSV"),
)


@dataclass(frozen=True)
class TableOptions:
    """What an owner says about a table that cannot be, or should not be, found out.

    Parameters
    ----------
    user, item, rating, timestamp : str, optional
        Names of the columns.
    separator : str, optional
        One character, or ``"::"``.
    header : bool, optional
        Whether the first line has the names of the columns.
    scale : RatingScale, optional
        The declared scale.
    duplicates : {"error", "first", "last", "mean"}, optional
        What several ratings of one pair mean; an error if not given.
    decimal : {".", ","}, optional
        The decimal sign of the ratings; a point if not given.
    quotes : bool, optional
        Whether ``"`` encloses fields of a text. If not given it does, but not between tabs, where
        it is a sign like any other.
    thousands : {",", ".", " ", "'"}, optional
        What separates the thousands of the ratings; with a point the decimal sign is a comma.
    missing : {"error", "drop"}, optional
        What a row means that lacks an id, rating or time: an error if not given, or that it is left
        out and counted.
    encoding : str, optional
        Encoding of a text, as Python names it; UTF-8 if not given.

    `rating` and `timestamp` may be ``"none"``: then no column is read as that.
    """

    user: str | None = None
    item: str | None = None
    rating: str | None = None
    timestamp: str | None = None
    separator: str | None = None
    header: bool | None = None
    scale: RatingScale | None = None
    duplicates: Duplicates | None = None
    decimal: Decimal | None = None
    quotes: bool | None = None
    thousands: Thousands | None = None
    missing: Missing | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        mark = self.separator
        if mark is not None and mark != "::" and (len(mark) != 1 or mark in '"\r\n'):
            raise ConfigError(f"separator {mark!r}: expected one character, or '::'")
        if self.duplicates not in (None, *get_args(Duplicates)):
            hint = did_you_mean(str(self.duplicates), get_args(Duplicates), ":")
            raise ConfigError(
                f"duplicates '{self.duplicates}'{hint} expected 'error', 'first', 'last' or 'mean'"
            )
        if self.decimal not in (None, ".", ","):
            raise ConfigError(f"decimal sign {self.decimal!r}: expected '.' or ','")
        if self.thousands not in (None, *THOUSANDS):
            raise ConfigError(
                f"thousands {self.thousands!r}: expected one of {', '.join(map(repr, THOUSANDS))}"
            )
        if self.thousands is not None and self.thousands == (self.decimal or ""):
            raise ConfigError(f"{self.thousands!r} is the decimal sign and between thousands")
        if self.missing not in (None, *get_args(Missing)):
            hint = did_you_mean(str(self.missing), get_args(Missing), ":")
            raise ConfigError(f"missing '{self.missing}'{hint} expected 'error' or 'drop'")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except (LookupError, ValueError):
                known = [name.replace("_", "-") for name in aliases.values()]
                hint = did_you_mean(self.encoding, known)
                raise ConfigError(
                    f"encoding '{self.encoding}': there is none of this name{hint}\n"
                    "expected e.g. utf-8, latin-1, cp1252 or utf-16"
                ) from None

    @property
    def columns(self) -> dict[str, str]:
        """The columns that were named, by role."""
        by_role = {role: getattr(self, role) for role in USUAL_NAMES}
        return {role: column for role, column in by_role.items() if column is not None}

    @property
    def decimal_sign(self) -> Decimal:
        """The decimal sign that holds: a comma where points separate thousands."""
        return self.decimal or ("," if self.thousands == "." else ".")

    def given(self) -> dict[str, Any]:
        """List the options that were given, by name, as JSON and YAML can hold them."""
        values = dataclasses.asdict(self)
        if self.scale is not None:
            values["scale"] = list(dataclasses.astuple(self.scale))
        return {name: value for name, value in values.items() if value is not None}


def no_table(path: Path) -> MissingData:
    """Build the error for a table that is not there; it suggests the one of the nearest name."""
    return MissingData(
        f"no file {path}{file_meant(path)}\n"
        "give the path of a table of ratings, or a dataset's name"
    )


def file_meant(path: Path) -> str:
    """Suggest what is in the folder of a path and has the nearest name, whatever its ending.

    Parameters
    ----------
    path : Path
        One where nothing is.

    Returns
    -------
    str
        Empty if nothing is alike.

    Examples
    --------
    >>> file_meant(Path("no/such.csv"))
    ''
    """
    try:
        stems = {other.name.partition(".")[0]: other.name for other in path.parent.iterdir()}
    except OSError:
        return ""
    near = nearest(path.name.partition(".")[0], filter(None, stems))
    return "" if near is None else f": did you mean '{path.with_name(stems[near])}'?"


def options_file(path: Path) -> Path:
    """Name the file beside a table that keeps its owner's options: ``ratings.csv.recbias.yaml``."""
    return path.with_name(f"{path.name}.recbias.yaml")


def kept_options(path: Path) -> TableOptions:
    """Read the options that are kept beside a table.

    Parameters
    ----------
    path : Path
        The table.

    Returns
    -------
    TableOptions
        Nothing given, if there is no such file.

    Raises
    ------
    ConfigError
        If the file cannot be read, has an option that does not exist, or one of a wrong type.
    """
    file = options_file(path)
    if not file.is_file():
        return TableOptions()
    try:
        text = file.read_text(encoding="utf-8")
        if not _is_flat(yaml.compose(text, yaml.SafeLoader)):
            raise ConfigError(
                f"{file}: expected lines 'option: value', each option once\nmend or delete it"
            )
        options = yaml.safe_load(text) or {}
    # A date or number that is none is a ValueError, and what nests without end a RecursionError.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: not YAML ({_one_line(error)})\nmend or delete it") from None
    known = [field.name for field in dataclasses.fields(TableOptions)]
    for name, value in options.items():
        if name not in known:
            raise ConfigError(f"{file}: {unknown_name('option', str(name), known)}")
        if name == "scale":
            fits = isinstance(value, list) and len(value) == 3
            fits = fits and all(type(number) in (int, float) for number in value)
        else:
            fits = isinstance(value, bool if name in ("header", "quotes") else str)
        if not fits:
            raise ConfigError(f"{file}: {name} is {value!r}\nmend or delete it")
    if "scale" in options:
        try:
            options["scale"] = RatingScale(*map(float, options["scale"]))
        except OverflowError:
            raise ConfigError(
                f"{file}: a number of scale is too large\nmend or delete it"
            ) from None
    return TableOptions(**options)


def _is_flat(node: yaml.Node | None) -> bool:
    """Tell whether YAML is nothing, or lines of names, each once, with words or lists of words.

    What an alias may stand for many times over is never one of these.
    """
    if not isinstance(node, yaml.MappingNode):
        return node is None
    names = [name.value for name, _ in node.value if isinstance(name, yaml.ScalarNode)]
    parts = [
        part
        for _, value in node.value
        for part in (value.value if isinstance(value, yaml.SequenceNode) else [value])
    ]
    return len(set(names)) == len(node.value) and all(
        isinstance(part, yaml.ScalarNode) for part in parts
    )


def read_table(path: Path, options: TableOptions | None = None) -> tuple[Ratings, tuple[str, ...]]:
    r"""Read any table of ratings, finding out by itself what it is not told.

    Files that end in ``.parquet`` or ``.pq`` are Parquet, in ``.feather``, ``.arrow`` or ``.ipc``
    Feather; all others are text, in UTF-8 unless its encoding is said, packed by gzip, bzip2 or xz
    if they end in ``.gz``, ``.bz2`` or ``.xz``, or the only file of an archive that ends in
    ``.zip``. Text that is JSON has a record for each rating: one in each line, or an array of them.
    The separator of a text is the one of ``::``, tab, comma,
    semicolon, bar, blank and rarer ones that gives most fields, equally many in nearly all of the
    first lines. The first line is a header if it has a known or a given column name, or no field
    that is a number. Without a header, the columns are user, item, rating and timestamp, as many as
    there are. Lines may end in ``\n`` or ``\r\n``; a line end inside quotes is refused. Quotes that
    enclose fields are taken off, except between tabs, where they belong to the field.

    Parameters
    ----------
    path : Path
        The file.
    options : TableOptions, optional
        What the owner says. Columns that are not named are found by their usual names, in any
        case and with or without ``_``: ``userId``, ``movie_id``, ``Rating``, ``timestamp`` and the
        like. A table without a rating or a timestamp column is accepted.

    Returns
    -------
    ratings : Ratings
        Named after the file.
    understanding : tuple of str
        What was found and assumed: format, columns, values, duplicates, times.

    Raises
    ------
    MissingData
        If there is no such file.
    DataError
        If the file is empty, in another format or not UTF-8, a row has too many or too few fields,
        the columns cannot be told, or a value is not acceptable (see `Ratings.from_frame`).

    See Also
    --------
    recbias.data.datasets.load_dataset
    """
    if path.is_dir():
        raise DataError(f"{path}: this is a folder, not a table\ngive the path of a file in it")
    if path.is_symlink() and not path.is_file():
        raise DataError(
            f"{path}: a link that leads to no file, or back to itself\ngive the path of the table"
        )
    if not path.is_file():
        raise no_table(path)
    options = options or TableOptions()
    suffixes = [suffix.lower() for suffix in path.suffixes]
    _refuse_spreadsheet(path)
    first_line = 1
    if suffixes[-1:] in ([".parquet"], [".pq"]):
        form, names, columns, frame = _read_parquet(path, options.columns)
    elif suffixes[-1:] in ([".feather"], [".arrow"], [".ipc"]):
        form, names, columns, frame = _read_feather(path, options.columns)
    elif _is_json(path, options.encoding or "utf-8"):
        form, names, columns, frame = _read_json(path, options)
    else:
        layout = _sniff(path, options)
        form, names, columns = layout.described(), layout.names, layout.columns
        if not layout.quotes and options.quotes is None:
            lines = _first_lines(path, layout.encoding)[layout.has_header :]
            _check_enclosed(path, layout, [line.split(layout.separator) for line in lines])
        frame = _read_text_table(path, layout, options.scale)
        first_line = 1 + layout.has_header
    give_back()
    return described_ratings(
        frame,
        columns,
        options,
        form=form,
        names=names,
        name=table_stem(path),
        source=str(path),
        first_line=first_line,
    )


def described_ratings(
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    options: TableOptions,
    *,
    form: str,
    names: Sequence[str],
    name: str,
    source: str | None = None,
    first_line: int = 1,
) -> tuple[Ratings, tuple[str, ...]]:
    """Make ratings of a table whose columns are known, and say how it was understood.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its rows.
    columns : mapping of str to str
        Column of each role.
    options : TableOptions
        Scale and duplicates are read from it.
    form, names : str, sequence of str
        Format and columns of the table, to be told.
    name, source, first_line
        As for `Ratings.from_frame`.

    Returns
    -------
    ratings, understanding
        As of `read_table`.

    Raises
    ------
    DataError
        If a value is not acceptable (see `Ratings.from_frame`).
    """
    duplicates = options.duplicates or "error"
    ratings = Ratings.from_frame(
        frame,
        user=columns["user"],
        item=columns["item"],
        rating=columns.get("rating"),
        timestamp=columns.get("timestamp"),
        scale=options.scale,
        name=name,
        duplicates=duplicates,
        decimal=options.decimal_sign,
        thousands=options.thousands,
        missing=options.missing or "error",
        source=source,
        first_line=first_line,
    )
    warn_of_comments(ratings, source or name)
    warn_of_one_time(ratings, columns.get("timestamp"), source or name)
    if "rating" not in columns and options.rating is None:
        warn_of_unread_ratings(names, columns, source or name)
    said = [form, ", ".join(f"{role} '{column}'" for role, column in columns.items())]
    if others := [name for name in names if name not in columns.values()]:
        hint = "" if "rating" in columns else "; --rating NAME takes one of them as the rating"
        short_names = [name if len(name) <= 40 else f"{name[:37]}..." for name in others]
        rest = f" and {len(others) - 20} more" if len(others) > 20 else ""
        said.append(f"columns not read: {', '.join(short_names[:20])}{rest}{hint}")
    said.append(_values_said(ratings, columns, frame, options))
    left_out = len(frame) - len(ratings)
    if options.missing == "drop":
        gaps = {role: missing_cells(frame[column]) for role, column in columns.items()}
        n_gaps = int(np.logical_or.reduce(list(gaps.values())).sum())
        left_out -= n_gaps
        by_role = ", ".join(f"{role} {gap.sum():,}" for role, gap in gaps.items() if gap.any())
        said.append(f"{n_gaps:,} rows with a missing value left out{by_role and f': {by_role}'}")
    first, last = "first row of a pair counts", "last row of a pair counts"
    if ratings.timestamp is not None:
        first = "earliest row of a pair counts, of equal times the first"
        last = "latest row of a pair counts, of equal times the last"
    said.append(
        {
            "error": "each pair once",
            "first": f"the {first} ({left_out:,} rows left out)",
            "last": f"the {last} ({left_out:,} rows left out)",
            "mean": f"rows of one pair are averaged ({left_out:,} rows fewer)",
        }[duplicates]
    )
    return ratings, tuple(said)


def _values_said(
    ratings: Ratings, columns: Mapping[str, str], frame: pd.DataFrame, options: TableOptions
) -> str:
    if ratings.feedback == "explicit":
        said = f"ratings {ratings.scale} ({'declared' if options.scale else 'inferred'})"
        zeros = float((ratings.value == 0).mean())
        if zeros and ratings.value.min() == 0 and ratings.value.max() > 1:
            said += (
                f"; 0, which {100 * zeros:.3g} % have, is read as the lowest rating, not as none"
            )
        return said
    if "rating" not in columns:
        return "implicit feedback: there is no rating column"
    column = frame[columns["rating"]]
    first = column.iloc[[int(np.argmin(missing_cells(column)))]]
    (value,) = checked_values(first, None, str, options.decimal_sign, options.thousands)
    return f"implicit feedback: all ratings are {value:g}"


def table_stem(path: Path) -> str:
    """Name a file without what says its format."""
    return Path(path.stem if _packing(path) else path.name).stem or path.name


def _packing(path: Path) -> str | None:
    """Tell from its name how a text is packed."""
    return _PACKINGS.get(path.suffix.lower())


_PACKINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}


# ------------------------------------------------------------------------------------ text as it is


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
    text = pa.dictionary(pa.int32(), pa.string())
    batches = list(text_batches(path, separator, names, wanted, dict.fromkeys(wanted, text)))
    if not batches:
        raise DataError(f"no ratings in {path}")
    return pd.DataFrame(
        {column: _categories([batch.column(column) for batch in batches]) for column in wanted}
    )


def read_text_columns(path: Path, separator: str) -> pd.DataFrame:
    """Read all columns of a text with a header, every field as text, packed or not.

    Parameters
    ----------
    path : Path
        The file, in UTF-8.
    separator : str
        A comma, between which quotes enclose fields, or a tab, between which they do not.

    Returns
    -------
    pandas.DataFrame
        A column for each name of the first line, whatever stands there twice; none if the file is
        empty, no row if it has only the header.

    Raises
    ------
    DataError
        As `read_text`.
    """
    quotes = _encloses(separator)
    with _CheckedText(path) as source:
        if not source.read(1):
            return pd.DataFrame()
    names = _fields(_first_lines(path)[0], separator, quotes)
    if len(names) == 1 and (mark := re.search("[;\t|,]", names[0])):
        raise DataError(
            f"{path}: one field in the first line, {names[0][:100]!r}, with {mark[0]!r} in it\n"
            "separate fields by commas, or by tabs in a file that ends in .tsv"
        )
    places = [str(place) for place in range(len(names))]
    text = dict.fromkeys(places, pa.string())
    read = text_batches(path, separator, places, places, text, quotes=quotes, skip_lines=1)
    frames = [batch.to_pandas() for batch in read]
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=places)
    return table.set_axis(names, axis="columns")


def read_parquet_columns(path: Path) -> pd.DataFrame:
    """Read all columns of a Parquet file, once it is sure that it is what it says.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    pandas.DataFrame
        A column for each of the file, without an index.

    Raises
    ------
    pyarrow.ArrowException, ValueError, OSError
        If it is damaged, or no Parquet.
    """
    table = pyarrow.parquet.read_table(path)
    table.validate(full=True)  # as of `_cells`
    return table.to_pandas(ignore_metadata=True)


def text_batches(
    path: Path,
    separator: str,
    names: Sequence[str] | None,
    wanted: Sequence[str],
    types: Mapping[str, pa.DataType],
    *,
    quotes: bool = True,
    skip_lines: int = 0,
    encoding: str = "utf-8",
) -> Iterator[pa.RecordBatch]:
    """Read columns of a separated text piece by piece, in memory that does not grow with it.

    Parameters
    ----------
    path : Path
        The file, in UTF-8, packed by gzip if its name ends in ``.gz``.
    separator : str
        One character, or ``"::"``.
    names : sequence of str, optional
        Names of all columns; None when the first line is a header.
    wanted : sequence of str
        The columns to return.
    types : mapping of str to pyarrow.DataType
        Text types of these columns.
    quotes : bool
        Whether ``"`` may enclose a field; never with the separator ``"::"``.
    skip_lines : int
        Lines before the first row, where `names` are given.
    encoding : str
        Of the file.

    Yields
    ------
    pyarrow.RecordBatch
        Columns `wanted` of some lines, in the order of the file.

    Raises
    ------
    DataError
        As `read_text`, and if a quoted field goes on in the next line.
    """
    if names is None:
        skip_lines = 1
        names = _fields(_first_lines(path, encoding)[0], separator, quotes)
        if missing := [column for column in wanted if column not in names]:
            raise DataError(
                f"{path}: no column {', '.join(map(repr, missing))}\n"
                f"columns found: {listed(names)}; needed: {', '.join(wanted)}"
            )
    places = [str(names.index(column)) for column in wanted]
    kinds = {place: types[column] for place, column in zip(places, wanted, strict=True)}
    bad_rows: list[pyarrow.csv.InvalidRow] = []

    def stop(row: pyarrow.csv.InvalidRow) -> str:
        bad_rows.append(row)
        return "error"

    n_rows = 0
    with _CheckedText(path, separator, encoding, quotes=quotes) as source:
        try:
            reader = pyarrow.csv.open_csv(
                pa.PythonFile(source, mode="r"),
                # One thread, because only then does a bad row know its number.
                pyarrow.csv.ReadOptions(
                    use_threads=False,
                    block_size=_BLOCK,
                    column_names=[str(place) for place in range(len(names))],
                    skip_rows=skip_lines,
                ),
                pyarrow.csv.ParseOptions(
                    delimiter=_UNIT_SEPARATOR if separator == "::" else separator,
                    quote_char='"' if quotes and separator != "::" else False,
                    ignore_empty_lines=False,
                    invalid_row_handler=stop,
                ),
                pyarrow.csv.ConvertOptions(include_columns=places, column_types=kinds),
            )
            for batch in reader:
                n_rows += len(batch)
                if len(batch):
                    yield batch.rename_columns(list(wanted))
        except pa.ArrowInvalid as error:
            if bad_rows:
                row = bad_rows[0]
                hint = (
                    "; if quotes enclose fields: --quotes" if '"' in row.text and not quotes else ""
                )
                raise DataError(
                    f"{path}:{row.number}: {row.actual_columns} fields, expected "
                    f"{row.expected_columns} as in the first line\n"
                    f"the line is {row.text.replace(_UNIT_SEPARATOR, '::')[:200]!r}{hint}"
                ) from None
            if source.n_lines <= skip_lines:
                raise DataError(f"no ratings in {path}") from None
            raise DataError(
                f"{path}: cannot be read as lines of fields ({_one_line(error)})\n"
                "expected lines of less than a megabyte, and none that ends inside quotes"
            ) from None
        last = source.last_line.decode()
        if n_rows + skip_lines != source.n_lines or (quotes and _is_open(last, separator)):
            raise DataError(
                f"{path}:{_open_quote(path, encoding)}: a quote is opened and not closed in its "
                "line\ndouble the quotes that belong to a field, and remove line ends from fields; "
                "if no quote encloses a field: --no-quotes"
            )


class _CheckedText(io.RawIOBase):
    """The bytes of a text file, unpacked and checked as they pass.

    A byte order mark and blank lines at the end are left out, ``::`` becomes one byte if it is the
    separator, and every line ends. `n_lines` counts the lines that have passed, `last_line` is the
    last of them.
    """

    def __init__(
        self, path: Path, separator: str = "", encoding: str = "utf-8", *, quotes: bool = False
    ) -> None:
        self.n_lines = 0
        self._half = _half_quoted(separator) if quotes and len(separator) == 1 else None
        self._mark, self._line = separator.encode(), b""
        self.last_line = b""
        self._path = path
        self._file = _open(path, encoding)
        self._decoder = None if _is_utf8(encoding) else codecs.getincrementaldecoder(encoding)()
        self._encoding = encoding
        self._passed = 0
        self._blocks = self._clean(separator == "::")
        self._ready = b""

    def readable(self) -> bool:
        """Say yes, as pyarrow wants to know."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, fewer only at the end: pyarrow takes what it gets for a block."""
        while (size < 0 or len(self._ready) < size) and (more := next(self._blocks, b"")):
            self._ready += more
        chunk = self._ready[:size] if size >= 0 else self._ready
        self._ready = self._ready[len(chunk) :]
        return chunk

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill `buffer` as far as `read` does; return the number of bytes."""
        view = memoryview(buffer)
        chunk = self.read(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        """Close the file."""
        if hasattr(self, "_file"):  # Python closes what could not be opened, too
            self._file.close()
        super().close()

    def _clean(self, double: bool) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        offset = 0
        held = b""
        block = b"-"
        while block:
            block = self._next_block()
            self._decode(decoder, block, offset, self.n_lines + held.count(b"\n"))
            # What may belong to what follows is held back: line ends, and half of a '::'.
            held_back = b"\r\n:" if double and block else b"\r\n"
            whole = held + block
            start = offset - len(held)
            offset += len(block)
            text = whole.rstrip(held_back)
            held = whole[len(text) :]
            if len(held) > _BLOCK:
                line = self.n_lines + text.count(b"\n") + 1
                raise DataError(
                    f"{self._path}:{line}: more than {_BLOCK:,} bytes of empty lines follow\n"
                    "remove them"
                )
            self._refuse_controls(text, start)
            if start == 0:
                text = text.removeprefix(codecs.BOM_UTF8)
            if double:
                text = text.replace(b"::", _UNIT_SEPARATOR.encode())
            cut = text.rfind(b"\n")
            self.last_line = text[cut + 1 :] if cut >= 0 else self.last_line + text
            if not block and offset > len(held):
                text += b"\n"
            if self._half is not None:
                self._refuse_half_quotes(text)
            self.n_lines += text.count(b"\n")
            if text:
                yield text

    def _next_block(self) -> bytes:
        """Read some bytes in UTF-8, none only at the end."""
        while raw := _unpacked(lambda: self._file.read(_BLOCK), self._path):
            if self._decoder is None:
                return raw
            if text := self._decoded(raw):
                return text
        return b"" if self._decoder is None else self._decoded(b"")

    def _decoded(self, raw: bytes) -> bytes:
        assert self._decoder is not None
        pending = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self._path}:{self.n_lines + 1} or later: byte {error.object[error.start]:#04x} "
                f"at offset {self._passed - pending + error.start} is not {self._encoding}\n"
                "name the encoding that the file has: --encoding NAME"
            ) from None
        except UnicodeError as error:  # of codecs that are no encodings of texts, as punycode
            raise DataError(
                f"{self._path}: not {self._encoding} ({_one_line(error)})\n"
                "name the encoding that the file has: --encoding NAME"
            ) from None
        self._passed += len(raw)
        return text.encode("utf-8", errors="replace")

    def _decode(
        self, decoder: codecs.IncrementalDecoder, block: bytes, offset: int, n_lines: int
    ) -> None:
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            line = n_lines + error.object[: error.start].count(b"\n") + 1
            raise DataError(
                f"{self._path}:{line}: byte {error.object[error.start]:#04x} at offset "
                f"{offset - pending + error.start} is not UTF-8\n"
                f"save the table as UTF-8, or name its encoding: --encoding {_likely(error)}"
            ) from None

    def _refuse_half_quotes(self, text: bytes) -> None:
        """Refuse lines in which a quote that opened a field closes before its end."""
        lines, end, self._line = (self._line + text).rpartition(b"\n")
        lines = b"\n" + lines.replace(b"\r\n", b"\n") + end
        # Fast: where each quote begins or ends a field, none closes within one.
        ends = [b"\n", self._mark]
        n_outer = sum(lines.count(mark + b'"') + lines.count(b'"' + mark) for mark in ends)
        if self._half and n_outer != lines.count(b'"') and (match := self._half.search(lines)):
            number = self.n_lines + lines[: match.start()].count(b"\n")
            raise DataError(
                f"{self._path}:{number}: quotes stand within a field, not at its ends, in "
                f"{match[0][:200].decode(errors='replace')!r}\ndouble the quotes that belong to a "
                "field; if no quote encloses a field: --no-quotes"
            )

    def _refuse_controls(self, text: bytes, start: int) -> None:
        zero = text.find(b"\0")
        lone = _LONE_RETURN.search(text) if text.count(b"\r") > text.count(b"\r\n") else None
        # It is what stands for '::' from here on.
        unit = text.find(_UNIT_SEPARATOR.encode()) if self._mark == b"::" else -1
        for name, at in (
            ("zero byte", zero),
            ("carriage return", lone.start() if lone else -1),
            ("control character 0x1f", unit),
        ):
            if at >= 0:
                wide = f"; if it is UTF-16: --encoding utf-16-{'bl'[(start + at) % 2]}e"
                raise DataError(
                    f"{self._path}: a {name} at offset {start + at}\n"
                    "expected UTF-8 text with lines that end in LF or CR LF"
                    f"{wide if text.count(0) > len(text) / 3 else ''}"
                )


def _half_quoted(separator: str) -> re.Pattern[bytes]:
    """Match a line with signs between the quotes that enclose a field and its ends."""
    mark = re.escape(separator).encode()
    plain = rb'[^"\n%b][^\n%b]*' % (mark, mark)
    enclosed = rb'"(?:[^"\n]|"")*"'
    after_blank = rb"[ \t]+%b[ \t]*(?=%b|$)" % (enclosed, mark) if separator in ",;|" else rb"(?!)"
    blanks = rb"[%b]*" % b" \t".replace(separator.encode(), b"")
    return re.compile(
        rb'^(?:(?:%b|%b|)%b)*(?:%b(?=%b[^"\r\n\t %b])|%b)'
        % (enclosed, plain, mark, enclosed, blanks, mark, after_blank),
        re.MULTILINE,
    )


_LONE_RETURN = re.compile(rb"\r(?!\n)")


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")


def _likely(error: UnicodeDecodeError) -> str:
    """Guess the encoding of a text: of the usual two, one has signs where the other has nothing."""
    signs = re.search(rb"[\x80-\x9f]", error.object)
    try:
        error.object.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252" if signs else "latin-1"


def _open(path: Path, encoding: str = "utf-8") -> BinaryIO:
    """Open a file for its text, refusing what is something else than its name says."""
    packing = _packing(path)
    with path.open("rb") as file:
        start = file.read(_TAR_MARK + 5)
    if not start:
        return path.open("rb")
    if packing and not start.startswith(_MARKS[packing]):
        raise DataError(
            f"{path}: the name says {packing}, but it starts with {start[:12]!r}\n"
            f"rename it without {path.suffix} if it is text"
        )
    inside = "unpack it, and " if packing else ""
    if packing:
        with _unpacking(path, packing) as unpacked:
            start = _unpacked(lambda: unpacked.read(_TAR_MARK + 5), path)
    for pattern, form, remedy in _FORMATS:
        if form.endswith(" text") and not _is_utf8(encoding):
            continue
        if re.match(pattern, start, re.IGNORECASE):
            remedy = remedy if remedy.startswith(("unpack", "name")) else f"{inside}{remedy}"
            raise DataError(f"{path}: this is {form}, not the text of a table\n{remedy}")
    if start[_TAR_MARK:].startswith(b"ustar"):
        raise DataError(f"{path}: this is a tar archive, not the text of a table\nunpack it")
    return _unpacking(path, packing) if packing else path.open("rb")


def _unpacking(path: Path, packing: str) -> BinaryIO:
    size = path.stat().st_size
    if packing != "zip":
        opened: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[packing]
        return cast(BinaryIO, Bounded(opened(path), size))
    try:
        archive = zipfile.ZipFile(path)
        names = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not re.search(r"(^|/)(__MACOSX/|\.)", name)
        ]
        if len(names) != 1:
            raise DataError(
                f"{path}: {len(names)} files in this archive, expected the one table\n"
                f"unpack it, and give the path of the table: {listed(names)}"
            )
        return cast(BinaryIO, Bounded(archive.open(names[0]), size))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path}: cannot be unpacked ({_one_line(error)})\nunpack it") from None


_MARKS = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ", "zip": b"PK"}
_TAR_MARK = 257


def _unpacked(read: Callable[[], bytes], path: Path) -> bytes:
    try:
        return read()
    except (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(
            f"{path}: damaged or cut off ({_one_line(error)})\nget the file anew"
        ) from None


def _first_lines(path: Path, encoding: str = "utf-8") -> list[str]:
    """Return the first lines, not the one that the sample cuts."""
    with _CheckedText(path, encoding=encoding) as source:
        sample = source.read(_SAMPLE)
        # The header of a matrix may be longer; three lines tell what it is.
        while sample.count(b"\n") < 3 and len(sample) < _BLOCK and (more := source.read(_SAMPLE)):
            sample += more
    if not sample:
        raise DataError(f"no ratings in {path}: the file is empty")
    lines = sample.decode("utf-8", errors="replace").split("\n")
    return [line.removesuffix("\r") for line in lines[: max(1, len(lines) - 1)]]


def _is_open(line: str, separator: str) -> bool:
    """Tell whether a quote goes on after a line."""
    if separator == "::" or '"' not in line:
        return False
    return len(list(csv.reader([f"{line}\n", "next"], delimiter=separator))) == 1


def _open_quote(path: Path, encoding: str) -> int:
    """Find the line of the first quote that its line does not close."""
    with _CheckedText(path, encoding=encoding) as source:
        for number, line in enumerate(io.BufferedReader(source), start=1):
            if line.count(b'"') % 2:
                return number
    return 1


def _categories(chunks: Sequence[pa.DictionaryArray]) -> pd.Categorical:
    """Join dictionary columns; each distinct text is kept once."""
    joined = pa.chunked_array(chunks).unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in joined.chunks])
    categories = joined.chunk(0).dictionary.to_pandas()
    return pd.Categorical.from_codes(codes, categories, validate=False)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:150]


# ------------------------------------------------------------------------------ a table of ratings


@dataclass(frozen=True)
class _Layout:
    """How the lines of a text are to be read."""

    separator: str
    has_header: bool
    names: list[str]
    columns: dict[str, str]
    packed: str | None
    decimal: Decimal = "."
    quotes: bool = True
    thousands: Thousands | None = None
    missing: Missing = "error"
    encoding: str = "utf-8"

    def described(self) -> str:
        separator = _SHOWN.get(self.separator, self.separator)
        packed = f"text packed by {self.packed}" if self.packed else "text"
        packed += "" if _is_utf8(self.encoding) else f" in {self.encoding}"
        comma = ", with decimal commas" if self.decimal == "," else ""
        header = f"with{'' if self.has_header else 'out'} a header"
        custom = self.quotes == _encloses(self.separator)
        quotes = "" if custom else f", quotes {'enclose fields' if self.quotes else 'as they are'}"
        return f"{packed} separated by '{separator}', {header}{comma}{quotes}"


def _sniff(path: Path, options: TableOptions) -> _Layout:
    encoding = options.encoding or "utf-8"
    lines = _first_lines(path, encoding)
    first = lines[0]
    if re.fullmatch("sep=.", first, re.IGNORECASE):
        raise DataError(
            f"{path}:1: {first!r} tells a spreadsheet what separates the fields\nremove this line"
        )
    if first.startswith(("#", "%")) and not any(
        plain_name(field) in _USUAL for field in re.split(r"\W+", first)
    ):
        raise DataError(f"{path}:1: a comment, {first[:100]!r}\nremove the lines of comments")
    if not first:
        raise DataError(
            f"{path}:1: the first line is empty\nexpected names of columns, or a rating"
        )
    decimal = options.decimal_sign
    separator = options.separator or _separator(lines, decimal, options.quotes)
    if separator is None or separator not in first:
        raise DataError(
            f"{path}:1: no separator {f'{separator!r} ' if separator else ''}in {first[:200]!r}\n"
            "expected fields between commas, tabs, semicolons, bars, blanks or '::'; another one "
            "can be named (--separator)"
        )
    quotes = _encloses(separator) if options.quotes is None else options.quotes
    fields = [field.strip() for field in _fields(first, separator, quotes)]
    if not quotes and not _has_roles(fields, options.columns):
        enclosed = [field.strip('"') for field in fields]
        if enclosed != fields and _has_roles(enclosed, options.columns):
            raise DataError(
                f"{path}:1: the names of columns are in quotes, which belong to the field between "
                "tabs\nsay that they enclose fields: --quotes"
            )
    said: dict[str, Any] = {
        "packed": _packing(path),
        "encoding": encoding,
        "decimal": decimal,
        "thousands": options.thousands,
        "missing": options.missing or "error",
        "quotes": quotes,
    }
    has_header = options.header
    if has_header is None:
        has_header = not _USUAL.union(options.columns.values()).isdisjoint(
            name for field in fields for name in (field, plain_name(field))
        )
        has_header = has_header or not any(
            _is_number(field.replace(decimal, ".")) for field in fields
        )
    if has_header:
        if not _has_roles(fields, options.columns):
            rows = [_fields(line, separator, quotes)[1:] for line in lines[1:]]
            refuse_matrix(path, rows, _loaded(path, separator, decimal, "index_col=0"))
        columns = columns_by_role(path, fields, options.columns, f"\nfirst line: {first[:200]!r}")
        return _Layout(separator, True, fields, columns, **said)
    if not options.columns and len(fields) > len(USUAL_NAMES):
        rows = [_fields(line, separator, quotes) for line in lines]
        refuse_matrix(path, rows, _loaded(path, separator, decimal, "header=None"))
    ignored = [role for role, column in options.columns.items() if _is_ignored(role, column)]
    if len(ignored) < len(options.columns) or not 2 <= len(fields) <= len(USUAL_NAMES):
        raise DataError(
            f"{path}:1: no header in {first[:200]!r}\n"
            "expected column names, or the columns user, item[, rating[, timestamp]] without names"
        )
    roles = list(USUAL_NAMES)[: len(fields)]
    columns = {role: role for role in roles if role not in ignored}
    return _Layout(separator, False, roles, columns, **said)


def _encloses(separator: str) -> bool:
    """Tell whether quotes enclose fields by custom: not between tabs, nor between '::'."""
    return separator not in ("\t", "::")


def _check_enclosed(path: Path, layout: _Layout, rows: Sequence[Sequence[str]]) -> None:
    """Tell of fields in quotes where these belong to the field by custom.

    In quotes, a number is refused; ids are warned of if all are, since a single title may be.
    """
    for role, column in layout.columns.items():
        place = layout.names.index(column)
        fields = [row[place].strip() for row in rows if len(row) > place]
        enclosed = [len(field) > 2 and field[0] == field[-1] == '"' for field in fields]
        if role in ("rating", "timestamp") and any(enclosed):
            number = enclosed.index(True)
            raise DataError(
                f"{path}:{1 + layout.has_header + number}: the {role} is {fields[number]}, and "
                "between tabs quotes belong to the field\nsay that they enclose fields: --quotes"
            )
        if all(enclosed) and fields:
            warnings.warn(
                f"{path}: the {role} ids are in quotes, which are read as part of them; if they "
                "enclose fields, say --quotes",
                DataWarning,
                stacklevel=4,
            )


def _has_roles(fields: Sequence[str], named_columns: Mapping[str, str]) -> bool:
    """Tell whether a header names users and items."""
    plain = set(map(plain_name, fields))
    return all(
        role in named_columns or not plain.isdisjoint(USUAL_NAMES[role])
        for role in ("user", "item")
    )


def _loaded(path: Path, separator: str, decimal: str, how: str) -> str:
    """Write how pandas reads a text, in the code that a message gives."""
    marks = "" if separator == "," else f", sep={separator!r}"
    marks += ", engine='python'" if len(separator) > 1 else ""
    marks += ", decimal=','" if decimal == "," else ""
    return f"pd.read_csv({path.name!r}{marks}, {how})"


def _separator(lines: Sequence[str], decimal: str, quotes: bool | None) -> str | None:
    """Find the mark that most lines have as often as the first, and the first most often.

    A comma that is the decimal sign comes last: it separates only where ratings are in quotes.
    """

    def n_fields(mark: str) -> int:
        """Count the fields of the first line; 0 if many lines have another number."""
        enclosing = _encloses(mark) if quotes is None else quotes
        counts = [len(_fields(line, mark, enclosing)) for line in lines]
        alike = sum(count == counts[0] for count in counts)
        return counts[0] if counts[0] > 1 and alike >= 0.6 * len(lines) else 0

    last = [","] if decimal == "," else []
    for group in (_SEPARATORS[:-1], _SEPARATORS[-1:], _rare_marks(lines[0]), last):
        marks = [mark for mark in group if group is last or mark not in last]
        best = max(marks, key=n_fields, default=None)
        if best is not None and n_fields(best):
            return best
    # None fits; the first that there is leads to an error that names the line.
    return next((mark for mark in _SEPARATORS if mark in lines[0]), None)


def _rare_marks(line: str) -> list[str]:
    rare = [
        mark for mark in line if mark.isascii() and not mark.isalnum() and mark not in "\"'._-+ "
    ]
    return [mark for mark, _ in Counter(rare).most_common()]


def _fields(line: str, separator: str, quotes: bool = True) -> list[str]:
    if len(separator) > 1 or not quotes:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # a field of more than 128 KB: what separates is something else
        return [line]


def read_ratings_text(
    path: Path, separator: str, names: Sequence[str], scale: RatingScale
) -> pd.DataFrame:
    """Read a text of a known form: users, items, ratings and, if a fourth is named, times.

    Parameters
    ----------
    path : Path
        The file, without a header.
    separator : str
        One character, or ``"::"``.
    names : sequence of str
        Names of its columns, in this order.
    scale : RatingScale
        The declared scale.

    Returns
    -------
    pandas.DataFrame
        The columns; ids as categories of text, or int64 where all columns are whole numbers.

    Raises
    ------
    DataError
        As `read_text`, and for ratings and times as `Ratings.from_frame`.
    """
    columns = dict(zip(USUAL_NAMES, names, strict=False))
    return _read_text_table(path, _Layout(separator, False, list(names), columns, None), scale)


def _read_text_table(path: Path, layout: _Layout, scale: RatingScale | None) -> pd.DataFrame:
    """Read the columns of a layout: ids as categories of text or int64, numbers as numbers."""
    if (frame := _read_whole_numbers(path, layout)) is not None:
        return frame
    text = pa.dictionary(pa.int32(), pa.string())
    places = {role: str(layout.names.index(column)) for role, column in layout.columns.items()}
    parts: dict[str, list[Any]] = {role: [] for role in places}
    kinds = set()
    line = 1 + layout.has_header

    def where(row: int) -> str:
        return f"{path}:{line + row}"

    names = [str(place) for place in range(len(layout.names))]
    types = dict.fromkeys(names, text)
    batches = text_batches(
        path,
        layout.separator,
        names,
        list(places.values()),
        types,
        quotes=layout.quotes,
        skip_lines=int(layout.has_header),
        encoding=layout.encoding,
    )
    for batch in batches:
        for role, place in places.items():
            column = batch.column(place)
            if role in ("user", "item"):
                empty = column.dictionary.index("").as_py()
                if empty >= 0 and layout.missing != "drop":
                    row = int(np.argmax(column.indices.to_numpy() == empty))
                    raise DataError(f"{where(row)}: the {role} id is missing\n{DROP}")
                parts[role].append(column)
                continue
            values = pd.Series(column.to_pandas(), name=layout.columns[role])
            rows = np.arange(len(values))
            if layout.missing == "drop":
                rows = np.flatnonzero(~missing_cells(values))
                values = values.iloc[rows]

            def at(row: int, rows: npt.NDArray[np.intp] = rows) -> str:
                return where(int(rows[row]))

            if role == "rating":
                read = checked_values(values, scale, at, layout.decimal, layout.thousands)
                parts[role].append(_with_gaps(read, rows, len(batch), np.nan))
            elif len(rows):
                numbers, kind = time_numbers(values, at)
                parts[role].append(_with_gaps(numbers, rows, len(batch), _NO_TIME))
                kinds.add(kind)
                if len(kinds) > 1:
                    raise DataError(
                        f"{at(0)}: column '{values.name}' has the value {values.iloc[0]!r}\n"
                        "expected times of one kind throughout, numbers or dates\n"
                        "or read no times at all: --timestamp none"
                    )
            else:
                parts[role].append(np.full(len(batch), _NO_TIME))
        line += len(batch)
    if not parts["user"]:
        raise DataError(f"no ratings in {path}: it has only a header")
    frame = pd.DataFrame({layout.columns[role]: _joined(parts.pop(role)) for role in places})
    if times := layout.columns.get("timestamp"):
        numbers = frame[times].to_numpy()
        if "date" in kinds:  # no time is what numpy takes for none
            frame[times] = numbers.astype("datetime64[us]")
        elif (gaps := numbers == _NO_TIME).any():
            frame[times] = pd.arrays.IntegerArray(numbers, gaps)
    return frame


_NO_TIME = np.iinfo(np.int64).min


def _with_gaps(
    read: npt.NDArray[Any], rows: npt.NDArray[np.intp], size: int, gap: float
) -> npt.NDArray[Any]:
    """Lay what was read of some rows out over all."""
    if len(rows) == size:
        return read
    every = np.full(size, gap, dtype=read.dtype)
    every[rows] = read
    return every


def _joined(parts: list[Any]) -> pd.Categorical | npt.NDArray[Any]:
    if isinstance(parts[0], pa.DictionaryArray):
        return _categories(parts)
    return np.concatenate(parts)


def _read_whole_numbers(path: Path, layout: _Layout) -> pd.DataFrame | None:
    """Read a text that is nothing but whole numbers, several times faster than any other.

    The proof that it is: written plainly, the numbers that were read take exactly as many bytes as
    the file. One leading zero, quote or further column, and None is returned.
    """
    if layout.packed or len(layout.names) != len(layout.columns):
        return None
    with path.open("rb") as file:
        header = len(file.readline()) if layout.has_header else 0
        if not _ONLY_NUMBERS.fullmatch(file.readline(1000)):
            return None
        file.seek(-1, io.SEEK_END)
        ends = file.read() == b"\n"
    width = len(layout.separator)
    try:
        with np.errstate(invalid="ignore"):
            frame = pd.read_csv(
                path,
                sep=layout.separator[0],
                header=None,
                skiprows=int(layout.has_header),
                # Between the colons of a '::' there is a column of nothing.
                usecols=range(0, width * len(layout.names), width),
                dtype=np.int64,
                na_filter=False,
                quoting=csv.QUOTE_NONE,
                engine="c",
            )
    except (ValueError, TypeError, OverflowError):
        return None
    # pandas forgets the asked-for type where the first line is short.
    if any(dtype != np.int64 for dtype in frame.dtypes):
        return None
    size = len(frame) * ((len(layout.names) - 1) * width + 1) - (not ends)
    size += sum(_n_characters(frame[column].to_numpy()) for column in frame)
    if header + size != path.stat().st_size:
        return None
    return frame.set_axis(layout.names, axis=1)


_ONLY_NUMBERS = re.compile(rb"-?[0-9]+([^0-9a-zA-Z.\"'\r\n]{1,2}-?[0-9]+)+\n?")


def _n_characters(numbers: npt.NDArray[np.int64]) -> int:
    """Count the characters of whole numbers, written plainly."""
    sizes = np.abs(numbers)
    count = len(numbers) + int((numbers < 0).sum())
    power, longest = 10, int(sizes.max())
    while power <= longest:
        count += int((sizes >= power).sum())
        power *= 10
    return count


_NO_CELLS = (
    *(pa.types.is_nested, pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_duration, pa.types.is_time),
)


def _read_parquet(
    path: Path, named_columns: Mapping[str, str]
) -> tuple[str, list[str], dict[str, str], pd.DataFrame]:
    with _damage_explained(path, "Parquet"):
        schema = pyarrow.parquet.read_schema(path)
        names = schema.names
        if not _has_roles(names, named_columns):
            _refuse_parquet_matrix(path, schema)
        columns = columns_by_role(path, names, named_columns, "")
        table = pyarrow.parquet.read_table(path, columns=list(columns.values()))
        return "Parquet", names, columns, _cells(path, table, columns)


def _read_feather(
    path: Path, named_columns: Mapping[str, str]
) -> tuple[str, list[str], dict[str, str], pd.DataFrame]:
    with _damage_explained(path, "Feather"), pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_file(file)
        names = reader.schema.names
        columns = columns_by_role(path, names, named_columns, "")
        table = reader.read_all().select(list(columns.values()))
        return "Feather", names, columns, _cells(path, table, columns)


@contextmanager
def _damage_explained(path: Path, form: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: no JSON, or no UTF-8
        raise DataError(
            f"{path}: not a {form} file, or a damaged one ({_one_line(error)})\n"
            "write it anew, or rename it to end in .csv if it is text"
        ) from None


def _cells(path: Path, table: pa.Table, columns: Mapping[str, str]) -> pd.DataFrame:
    """Take the cells out of a table of Arrow, refusing what is no cell of ratings."""
    table.validate(full=True)  # a text that says to end elsewhere than it does ends the process
    for place, (role, column) in enumerate(columns.items()):
        kind = table.schema.field(place).type
        if any(test(kind) for test in _NO_CELLS):
            raise DataError(
                f"{path}: column '{column}' for the {role} has values of type {kind}\n"
                "expected numbers, text or dates"
            )
        if pa.types.is_decimal(kind):
            exact = pa.float64() if role in ("rating", "timestamp") else pa.string()
            table = table.set_column(place, column, table.column(place).cast(exact))
    # Whole numbers stay such beside a missing one, instead of becoming floats.
    return table.to_pandas(ignore_metadata=True, integer_object_nulls=True)


def _is_json(path: Path, encoding: str) -> bool:
    with _CheckedText(path, encoding=encoding) as source:
        return re.match(rb'\s*(\{\s*["}]|\[\s*[\[{\]])', source.read(_SAMPLE)) is not None


def _read_json(
    path: Path, options: TableOptions
) -> tuple[str, list[str], dict[str, str], pd.DataFrame]:
    names = list(dict.fromkeys(name for record in _records(path, options) for name in record))
    if not names:
        raise DataError(f"no ratings in {path}: no JSON record says anything")
    columns = columns_by_role(path, names, options.columns, "")
    cells: dict[str, list[Any]] = {column: [] for column in columns.values()}
    first_bool: dict[str, bool] = {}
    for number, record in enumerate(_records(path, options), start=1):
        for column, values in cells.items():
            value = record.get(column)
            if isinstance(value, list | dict):
                raise DataError(
                    f"{path}:{number}: '{column}' is {str(value)[:100]!r}\n"
                    "expected a number or a text in each"
                )
            if isinstance(value, str) and _HALF_SIGN.search(value):
                raise DataError(
                    f"{path}:{number}: '{column}' is {value[:100]!r}, with half of a sign\n"
                    "remove it"
                )
            is_bool = isinstance(value, bool)
            if value is not None and first_bool.setdefault(column, is_bool) != is_bool:
                raise DataError(
                    f"{path}:{number}: '{column}' is {json.dumps(value)}: true and "
                    "false stand beside other values\nwrite all of them as numbers"
                )
            values.append(value)
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    return "JSON records", names, columns, frame.infer_objects()


def _records(path: Path, options: TableOptions) -> Iterator[dict[str, Any]]:
    """Read the records of a JSON text, one in each line or all in an array."""
    with _CheckedText(path, encoding=options.encoding or "utf-8") as source:
        lines = io.BufferedReader(source, _BLOCK)
        where = str(path)
        try:
            whole = lines.peek(1).lstrip()[:1] == b"["
            parts = json.load(lines) if whole else iter(lambda: lines.readline(_LONGEST), b"")
            for number, part in enumerate(parts, start=1):
                where = f"{path}:{number}"
                if not whole and len(part) == _LONGEST:
                    raise ValueError(f"a line of more than {_LONGEST:,} bytes")
                if not whole and not part.strip():
                    continue
                record = part if whole else json.loads(part)
                if not isinstance(record, dict):
                    raise ValueError(f"{str(record)[:50]!r} is no record")
                yield record
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{where}: JSON, but not a record for each rating ({_one_line(error)})\n"
                'expected lines like {"user_id": 1, "item_id": 2, "rating": 3}, or an array of such'
            ) from None


def _refuse_spreadsheet(path: Path) -> None:
    needs = {".xlsx": "openpyxl", ".xlsm": "openpyxl", ".xls": "xlrd", ".ods": "odfpy"}
    if needed := needs.get(path.suffix.lower()):
        raise DataError(
            f"{path}: this is a spreadsheet; export the sheet as CSV\nin pandas, with {needed}: "
            f"pd.read_excel({path.name!r}, dtype=str).to_csv('{path.stem}.csv', index=False)"
        )


def _refuse_parquet_matrix(path: Path, schema: pa.Schema) -> None:
    """Refuse a matrix of users and items; pandas brings the index that it wrote back by itself."""
    index_columns = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in index_columns if isinstance(name, str)]
    users = index[0] if index else schema.names[0]
    start = next(pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=50), None)
    rows = [
        ["" if cell is None else str(cell) for name, cell in row.items() if name != users]
        for row in (start.to_pylist() if start else [])
    ]
    loaded = f"pd.read_parquet({path.name!r})"
    refuse_matrix(path, rows, loaded if index else f"{loaded}.set_index({users!r})")


def columns_by_role(
    path: Path, found: Sequence[str], given: Mapping[str, str], hint: str
) -> dict[str, str]:
    """Map user, item and, where there are such columns, rating and timestamp to column names."""
    columns: dict[str, str] = {}
    plain: dict[str, list[str]] = {}
    typed = {_TYPE.sub("", name): name for name in found if _TYPE.search(name)}
    given = {role: name if name in found else typed.get(name, name) for role, name in given.items()}
    for name in found:
        if name not in given.values():
            plain.setdefault(plain_name(name), []).append(name)
    for role, usual in USUAL_NAMES.items():
        if role in given and _is_ignored(role, given[role]):
            continue
        if role in given and given[role] not in found:
            raise DataError(
                f"{path}: no column '{given[role]}' for the {role}"
                f"{did_you_mean(given[role], found)}\n"
                f"columns found: {listed(found)}{hint}"
            )
        detected = next((plain[name] for name in usual if name in plain), [None])
        if role not in given and len(set(detected)) > 1:
            raise DataError(
                f"{path}: columns {' and '.join(map(repr, detected))} could both be the {role}\n"
                f"name the one to read: --{role} {shlex.quote(str(detected[0]))}{hint}"
            )
        column = given.get(role, detected[0])
        if column is not None:
            columns[role] = column
        elif role in ("user", "item"):
            raise DataError(
                f"{path}: no {role} column found; columns found: {listed(found)}\n"
                "name them: --user NAME --item NAME; or once for every command: "
                f"recbias data info {path} --user NAME --item NAME --keep"
                f"{'; if line 1 names none: --no-header' if hint else ''}{hint}"
            )
    for column, times in Counter(columns.values()).items():
        if times > 1 or list(found).count(column) > 1:
            raise DataError(
                f"{path}: column '{column}' is there, or was named, twice\n"
                f"columns found: {listed(found)}{hint}"
            )
    return columns


_TYPE = re.compile(r"\s*(:(token|float)(_seq)?|\([^()]*\)|\[[^][]*\])\s*$")
"""What a header may say behind a name: RecBole's type, or a unit in brackets."""


def plain_name(name: str) -> str:
    """Write the name of a column without case, blanks, ``-``, ``_`` and the type behind it."""
    plain = _TYPE.sub("", name).strip().lstrip("#%").lower()
    return plain.replace("_", "").replace(" ", "").replace("-", "")


def _is_ignored(role: str, column: str) -> bool:
    """Tell whether the owner said that no column has this role."""
    return role in ("rating", "timestamp") and column == "none"


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
