"""Broken tables: each gets its message, none a traceback, and none is read as something else."""

from __future__ import annotations

import csv
import gzip
import math
import tempfile
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recbias.data.datasets import load_dataset
from recbias.data.ratings import RatingScale
from recbias.errors import ConfigError, DataError, DataWarning, MissingData, RecbiasError

# ------------------------------------------------------------------------- messages, word by word

HEAD = b"user,item,rating\n"
ALIASES = "header:\n- &a0 [a, a, a, a, a, a, a, a, a, a]\n" + "".join(
    f"- &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
)
"""A value of ten to the ninth power words, in half a kilobyte."""
ZIPPED = gzip.compress(b"user,item\n1,2\n")

MESSAGES: dict[str, tuple[str, bytes, dict[str, Any], str]] = {
    "empty file": ("t.csv", b"", {}, "no ratings in FILE: the file is empty"),
    "empty file, packed": (
        "t.csv.gz",
        gzip.compress(b""),
        {},
        "no ratings in FILE: the file is empty",
    ),
    "header only": ("t.csv", HEAD, {}, "no ratings in FILE: it has only a header"),
    "first line empty": (
        "t.csv",
        b"\n1,2,3\n",
        {},
        "FILE:1: the first line is empty\nexpected names of columns, or a rating",
    ),
    "missing column": (
        "t.csv",
        b"who,item,rating\n1,1,5\n",
        {},
        "FILE: no user column found; columns found: who, item, rating\n"
        "name them: --user NAME --item NAME; or once for every command: recbias data info FILE "
        "--user NAME --item NAME --keep; if line 1 names none: --no-header\n"
        "first line: 'who,item,rating'",
    ),
    "wrong separator": (
        "t.csv",
        b"user,item,rating\n1,1,5\n",
        {"separator": ";"},
        "FILE:1: no separator ';' in 'user,item,rating'\n"
        "expected fields between commas, tabs, semicolons, bars, blanks or '::'; another one can "
        "be named (--separator)",
    ),
    "short row": (
        "t.csv",
        HEAD + b"1,1,5\n1,2\n",
        {},
        "FILE:3: 2 fields, expected 3 as in the first line\nthe line is '1,2'",
    ),
    "long row": (
        "t.dat",
        b"1::1::5::0\n1::2::4::0::9\n",
        {},
        "FILE:2: 5 fields, expected 4 as in the first line\nthe line is '1::2::4::0::9'",
    ),
    "blank line": (
        "t.csv",
        HEAD + b"1,1,5\n\n1,2,4\n",
        {},
        "FILE:3: the user id is missing\nleave such rows out: --missing drop",
    ),
    "rating text": (
        "t.csv",
        HEAD + b"1,1,5\n1,2,good\n",
        {},
        "FILE:3: column 'rating' has the value 'good', expected a finite number",
    ),
    "rating NaN": (
        "t.csv",
        HEAD + b"1,1,nan\n1,2,3\n",
        {},
        "FILE:2: column 'rating' has the value 'nan', expected a finite number\n"
        "leave such rows out: --missing drop",
    ),
    "rating infinite": (
        "t.csv",
        b"1,1,2\n1,2,-inf\n",
        {},
        "FILE:2: column 'rating' has the value '-inf', expected a finite number",
    ),
    "decimal comma": (
        "t.csv",
        b"user;item;rating\n1;1;3,5\n",
        {},
        "FILE:2: column 'rating' has the value '3,5', expected a finite number\n"
        "if the comma is the decimal sign, say so: --decimal ,",
    ),
    "decimal point where commas were promised": (
        "t.csv",
        b"user;item;rating\n1;1;3,5\n1;2;1.234\n",
        {"decimal": ","},
        "FILE:3: column 'rating' has the value '1.234', expected a finite number with a decimal "
        "comma and no point\nif this is a large number, say what separates it: --thousands .",
    ),
    "off the declared scale": (
        "t.csv",
        HEAD + b"1,1,5\n1,2,7\n",
        {"scale": RatingScale(1, 5, 1)},
        "FILE:3: rating 7 is not on the declared scale 1 to 5 in steps of 1\n"
        "declare the scale that the table uses: --rating-scale MINIMUM MAXIMUM STEP",
    ),
    "duplicate pair": (
        "t.csv",
        HEAD + b"1,1,5\n1,2,4\n1,1,3\n",
        {},
        "FILE:4: user 1 rates item 1 again, first in FILE:2\n"
        "say which counts: --duplicates first, --duplicates last or --duplicates mean",
    ),
    "leading zero": (
        "t.csv",
        HEAD + b"1,1,5\n01,2,4\n",
        {},
        "FILE:3: user ids '1' and '01' would become one user\nwrite each id in one way throughout",
    ),
    "trailing blank": (
        "t.csv",
        HEAD + b"1,a,5\n1,a ,4\n",
        {},
        "FILE:3: item ids 'a' and 'a ' would become one item\nwrite each id in one way throughout",
    ),
    "whole number as decimal": (
        "t.csv",
        HEAD + b"1,7,5\n2,7.0,4\n",
        {},
        "FILE:3: item ids '7' and '7.0' would become one item\nwrite each id in one way throughout",
    ),
    "not UTF-8": (
        "t.csv",
        HEAD + b"1,caf\xe9,5\n",
        {},
        "FILE:2: byte 0xe9 at offset 22 is not UTF-8\n"
        "save the table as UTF-8, or name its encoding: --encoding latin-1",
    ),
    "not UTF-8, behind many lines": (
        "t.csv",
        HEAD + b"".join(b"%d,7,5\r\n" % user for user in range(200_000)) + b"\n\xe9,7,5\n",
        {},
        "FILE:200003: byte 0xe9 at offset 2288908 is not UTF-8\n"
        "save the table as UTF-8, or name its encoding: --encoding latin-1",
    ),
    "UTF-16": (
        "t.csv",
        "user,item\n1,2\n".encode("utf-16"),
        {},
        "FILE: this is UTF-16 text, not the text of a table\nname its encoding: --encoding utf-16",
    ),
    "gzip named csv": (
        "t.csv",
        ZIPPED,
        {},
        "FILE: this is gzip, not the text of a table\nrename it to end in .gz",
    ),
    "csv named gzip": (
        "t.csv.gz",
        HEAD + b"1,1,5\n",
        {},
        "FILE: the name says gzip, but it starts with b'user,item,ra'\n"
        "rename it without .gz if it is text",
    ),
    "gzip cut off": (
        "t.csv.gz",
        ZIPPED[:-9],
        {},
        "FILE: damaged or cut off (Compressed file ended before the end-of-stream marker was "
        "reached)\nget the file anew",
    ),
    "parquet named csv": (
        "t.csv",
        b"PAR1\x15\x04rest",
        {},
        "FILE: this is Parquet, not the text of a table\nrename it to end in .parquet",
    ),
    "spreadsheet": (
        "t.csv",
        b"PK\x03\x04rest",
        {},
        "FILE: this is a zip archive or a spreadsheet, not the text of a table\n"
        "rename it to end in .zip, .xlsx or .ods",
    ),
    "web page": (
        "t.csv",
        b"<!DOCTYPE html>\n<html>",
        {},
        "FILE: this is a web page or XML, not the text of a table\nexport the table as CSV",
    ),
    "zero byte": (
        "t.csv",
        HEAD + b"1,1\0,5\n",
        {},
        "FILE: a zero byte at offset 20\nexpected UTF-8 text with lines that end in LF or CR LF",
    ),
    "unit separator between colons": (
        "t.dat",
        b"user::item::rating\n1\x1f2::3\n",
        {},
        "FILE: a control character 0x1f at offset 20\n"
        "expected UTF-8 text with lines that end in LF or CR LF",
    ),
    "nothing but line ends": (
        "t.csv",
        HEAD + b"1,1,5" + b"\n" * 2**22 + b"1,2,5",
        {},
        "FILE:2: more than 2,097,152 bytes of empty lines follow\nremove them",
    ),
    "bomb": (
        "t.csv.gz",
        gzip.compress(HEAD + b"1,1,5\n" * 10**6),
        {},
        "FILE: damaged or cut off (it unpacks to more than 200 times its size; if that is right, "
        "unpack it)\nget the file anew",
    ),
    "half of a sign": (
        "t.json",
        rb'{"user": "\ud800", "item": 1}',
        {},
        "FILE:1: 'user' is '\\ud800', with half of a sign\nremove it",
    ),
    "a long id among many": (
        "t.csv",
        HEAD + b"".join(b"u%d,1,5\n" % user for user in range(3000)) + b"z" * 90_000 + b",1,5\n",
        {},
        f"FILE:3002: a user id of 90,000 characters, '{'z' * 40}'...\n"
        "expected at most 1,000, as there are 3,001 user ids; shorten it",
    ),
    "codec of no text": (
        "t.csv",
        HEAD + b"1,1,5\n",
        {"encoding": "punycode"},
        "FILE: not punycode (Invalid extended code point ',')\n"
        "name the encoding that the file has: --encoding NAME",
    ),
    "open quote": (
        "t.csv",
        b'user,item,title,rating\n1,1,"a,5\n1,2,b",4\n',
        {},
        "FILE:2: a quote is opened and not closed in its line\n"
        "double the quotes that belong to a field, and remove line ends from fields; if no quote "
        "encloses a field: --no-quotes",
    ),
    "time that is none": (
        "t.csv",
        b"user,item,rating,time\n1,1,5,881250949\n1,2,4,yesterday\n",
        {},
        "FILE:3: column 'time' has the value 'yesterday'\n"
        "expected a time: whole seconds or milliseconds since 1970, or a date like 2026-11-20 or "
        "2026-11-20T09:30:00, of one kind throughout\nread no times at all: --timestamp none",
    ),
    "times of two units": (
        "t.csv",
        b"user,item,rating,time\n1,1,5,881250949\n1,2,4,881250949000\n",
        {},
        "FILE:2: column 'time' has the time 881250949, others are from 881250949 to 881250949000\n"
        "expected seconds since 1970 throughout, or milliseconds throughout",
    ),
    "column twice": (
        "t.csv",
        b"user,item,user\n1,2,3\n",
        {},
        "FILE: column 'user' is there, or was named, twice\ncolumns found: user, item, user\n"
        "first line: 'user,item,user'",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_the_message_is_this(case: str, tmp_path: Path) -> None:
    name, content, options, expected = MESSAGES[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        load_dataset(path, **options)
    assert str(caught.value).replace(str(path), "FILE") == expected
    assert len(expected.splitlines()) <= 3


def test_the_message_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingData) as caught:
        load_dataset(tmp_path / "none.csv")
    assert str(caught.value) == (
        f"no file {tmp_path / 'none.csv'}\ngive the path of a table of ratings, or a dataset's name"
    )


@pytest.mark.parametrize(
    ("times", "seconds", "said"),
    [
        (["881250949000", "891250949123"], [881250949, 891250949], "milliseconds: 1997-12-04 to"),
        (["881250949000000", "891250949123000"], [881250949, 891250949], "read as microseconds"),
        (["881250949999999999", "881250950000000001"], [881250949, 881250950], "nanoseconds: 1997"),
        (["7", "7"], [7, 7], "are the same, 7: nothing can be split by them"),
        (["1997-12-04", "1997-12-04"], [881193600, 881193600], "are the same, 881193600"),
        (["-86400", "5"], [-86400, 5], "seconds, some before 1970: 1969-12-31 to 1970-01-01"),
        (["20200131", "20191231"], [20200131, 20191231], "look like dates written as YYYYMMDD"),
    ],
)
def test_doubtful_times_are_warned_of_once(
    times: list[str], seconds: list[int], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,item,time\n" + "".join(f"1,{i},{t}\n" for i, t in enumerate(times)))
    with pytest.warns(DataWarning, match=said) as caught:
        ratings = load_dataset(path).ratings
    assert len(caught) == 1
    assert ratings.timestamp is not None
    assert ratings.timestamp.tolist() == seconds


def test_iso_dates_are_times(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "user,item,date\n1,1,1970-01-02\n1,2,1970-01-01T01:00:00+01:00\n1,3,1970-01-01 00:00:07.9\n"
    )
    ratings = load_dataset(path).ratings
    assert ratings.timestamp is not None
    assert ratings.timestamp.tolist() == [86400, 0, 7]


# ------------------------------------------------------------------------- what the owner may say


def test_kept_options_are_read_and_given_ones_come_first(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,what,liking\na,x,1\na,y,2\na,x,4\n")
    kept = tmp_path / "t.csv.recbias.yaml"
    kept.write_text("user: who\nitem: what\nrating: liking\nduplicates: last\nscale: [1, 5, 0.5]\n")
    dataset = load_dataset(path)
    assert dataset.ratings.value.tolist() == [4, 2]
    assert dataset.ratings.scale == RatingScale(1, 5, 0.5)
    assert "the last row of a pair counts (1 rows left out)" in dataset.understood
    assert load_dataset(path, duplicates="mean").ratings.value.tolist() == [2.5, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("users: who\n", "unknown option 'users': did you mean 'user'"),
        ("user: 7\n", "user is 7"),
        ("scale: [1, 5]\n", r"scale is \[1, 5\]"),
        ("header: maybe\n", "header is 'maybe'"),
        ("just text", "expected lines 'option: value'"),
        ("a: [", "not YAML"),
        ("duplicates: newest\n", "duplicates 'newest'"),
        ("!!python/object/apply:os.system [touch pwned]", "expected lines 'option: value'"),
        ("user: !!python/name:os.system", "not YAML"),
        ("user: user\nuser: item\n", "each option once"),
        (ALIASES, "expected lines 'option: value'"),
        ("user: &user [*user]", "expected lines 'option: value'"),
        (f"user: {'[' * 999}", "not YAML"),
        ("user: 2026-99-99", "not YAML"),
        (f"scale: [1, {'9' * 400}, 1]", "a number of scale is too large"),
    ],
)
def test_kept_options_that_mean_nothing_are_refused(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("user,item\na,x\n")
    (tmp_path / "t.csv.recbias.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_dataset(path)


@pytest.mark.parametrize("mark", ["", ",,", "\n", '"'])
def test_a_separator_is_one_character(mark: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected one character"):
        load_dataset(tmp_path / "t.csv", separator=mark)


def test_a_header_may_be_denied(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("anna,matrix\nbob,heat\n")
    with pytest.raises(DataError, match="no user column found"):
        load_dataset(path)
    assert load_dataset(path, header=False).ratings.user_ids.tolist() == ["anna", "bob"]


def test_parquet_of_nested_values_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"user": [[1], [2]], "item": [1, 2]}).to_parquet(path)
    with pytest.raises(DataError, match="column 'user' for the user has values of type list"):
        load_dataset(path)
    hours = pd.to_timedelta([1, 2], unit="h")
    pd.DataFrame({"user": [1, 2], "item": [1, 2], "time": hours}).to_parquet(path)
    with pytest.raises(DataError, match="column 'time' for the timestamp has values of type dur"):
        load_dataset(path)
    pd.DataFrame({"user": range(99), "item": range(99)}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="not a Parquet file, or a damaged one"):
        load_dataset(path)


def test_feather_and_parquet_that_lie_are_refused(tmp_path: Path) -> None:
    """Texts that say to end where there is nothing end a process that believes them."""
    items = pa.array([1, 2])
    far, bad = (
        pa.StringArray.from_buffers(2, pa.py_buffer(np.int32(ends).tobytes()), pa.py_buffer(text))
        for ends, text in (([0, 2**30, 2], b"ab"), ([0, 1, 2], b"\xff\xfe"))
    )
    path = tmp_path / "t.arrow"
    for users in (far, bad):
        table = pa.table({"user": users, "item": items})
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(DataError, match="not a Feather file, or a damaged one"):
            load_dataset(path)
    path = tmp_path / "t.parquet"
    for table in (
        pa.table({"user": bad, "item": items}),
        pa.table({"who": items, "what": items}).replace_schema_metadata({"pandas": "{"}),
    ):
        pyarrow.parquet.write_table(table, path)
        with pytest.raises(DataError, match="not a Parquet file, or a damaged one"):
            load_dataset(path)


# --------------------------------------------------------------- generated tables, whole and broken


@dataclass(frozen=True)
class Table:
    """A table as its rows of fields, and how it is written."""

    header: list[str] | None
    rows: list[list[str]]
    separator: str
    end: str
    packed: bool
    marked: bool
    last_end: bool

    def write(self, folder: Path, content: bytes | None = None) -> Path:
        path = folder / ("t.csv.gz" if self.packed else "t.csv")
        content = self.content() if content is None else content
        path.write_bytes(gzip.compress(content, 1) if self.packed else content)
        return path

    def content(self) -> bytes:
        lines = [self.separator.join(row) for row in ([self.header] if self.header else [])]
        lines += [self.separator.join(row) for row in self.rows]
        text = self.end.join(lines) + (self.end if self.last_end else "")
        return ("\ufeff" if self.marked else "").encode() + text.encode()


NUMBERS = st.integers(0, 30).map(str)
NAMES = st.text("abcxyzÄé漢-_", min_size=1, max_size=4)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a table that is as it should be."""
    width = draw(st.integers(2, 4))
    headed = draw(st.booleans())
    ids = draw(st.sampled_from([NUMBERS, NAMES])) if headed else NUMBERS
    pairs = draw(st.lists(st.tuples(ids, ids), min_size=3, max_size=8, unique=True))
    stars = draw(st.sampled_from([["1", "2", "3", "5"], ["0.5", "1.0", "4", "3.50"]]))
    rows = []
    for place, pair in enumerate(pairs):
        rating = stars[place % 2] if place < 2 else draw(st.sampled_from(stars))
        rows.append([*pair, rating, str(881_250_949 + place)][:width])
    return Table(
        header=["user", "item", "rating", "timestamp"][:width] if headed else None,
        rows=rows,
        separator=draw(st.sampled_from([",", "\t", ";", "|", "::", " "])),
        end=draw(st.sampled_from(["\n", "\r\n"])),
        packed=draw(st.integers(0, 9)) == 0,
        marked=draw(st.integers(0, 9)) == 0,
        last_end=draw(st.booleans()),
    )


def cell(table: Table, row: int, column: int, text: str) -> Table:
    rows = [list(fields) for fields in table.rows]
    rows[row][column] = text
    return replace(table, rows=rows)


def broken(table: Table, fault: str, row: int, draw: Any) -> bytes | None:
    """Write the table with one fault; None if this table cannot have it."""
    rows, width = table.rows, len(table.rows[0])
    before = next(other for other in range(len(rows)) if other != row)
    mark = table.separator.encode()
    match fault:
        case "short":
            changed = [fields[:-1] if place == row else fields for place, fields in enumerate(rows)]
            return replace(table, rows=changed).content()
        case "long":
            changed = [[*f, "9"] if place == row else f for place, f in enumerate(rows)]
            return replace(table, rows=changed).content()
        case "rating" if width > 2:
            bad = draw(st.sampled_from(["x", "", "nan", "inf", "-inf", "1e999", "--", "4 stars"]))
            return cell(table, row, 2, bad).content()
        case "time" if width > 3:
            bad = draw(st.sampled_from(["x", "", "5.5", "nan", "881250949000", "2020-13-45"]))
            return cell(table, row, 3, bad).content()
        case "again":
            return cell(cell(table, row, 0, rows[before][0]), row, 1, rows[before][1]).content()
        case "zero" if rows[before][0].isascii() and rows[before][0].isdecimal():
            return cell(table, row, 0, f"0{rows[before][0]}").content()
        case "blank id":
            return cell(table, row, 1, f"{rows[before][1]} ").content()
        case "no id":
            return cell(table, row, draw(st.integers(0, 1)), "").content()
        case "latin":
            return cell(table, row, 1, "QQ").content().replace(b"QQ", b"caf\xe9")
        case "zero byte":
            return cell(table, row, 1, "a\0b").content()
        case "return":
            return cell(table, row, 1, "a\rb").content()
        case "quote" if table.separator not in ("::", "\t"):
            return cell(table, row, 1, '"a').content()
        case "empty line":
            lines = table.content().split(b"\n")
            at = min(row + bool(table.header), len(lines) - 2) if row else 1
            return b"\n".join([*lines[:at], b"", *lines[at:]])
        case "no rows" if table.header:
            return replace(table, rows=[]).content()
        case "nothing":
            return draw(st.sampled_from([b"", b"\n", b"\r\n\n", b"\xef\xbb\xbf"]))
        case "utf-16":
            return table.content().decode("utf-8-sig").encode("utf-16")
        case "no user column" if table.header:
            return replace(table, header=["some", *table.header[1:]]).content()
        case "one column":
            return b"\n".join(line.split(mark)[0] for line in table.content().split(b"\n"))
    return None


FAULTS = (
    *("short", "long", "rating", "time", "again", "zero", "blank id", "no id", "latin"),
    *("zero byte", "return", "quote", "empty line", "no rows", "nothing", "utf-16"),
    *("no user column", "one column"),
)


def reads(path: Path) -> list[tuple[str, str, float]] | None:
    """Read a table by the package: its rows, or None where it was refused with a message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            ratings = load_dataset(path).ratings
        except RecbiasError as error:
            message = str(error)
            assert str(path) in message
            assert 1 <= len(message.splitlines()) <= 3
            assert len(message) < 1000
            return None
    users = [str(label) for label in ratings.user_ids[ratings.user].tolist()]
    items = [str(label) for label in ratings.item_ids[ratings.item].tolist()]
    return sorted(zip(users, items, ratings.value.tolist(), strict=True))


def plainly(content: bytes, table: Table) -> list[tuple[str, str, float]]:
    """Read the same bytes in the slowest way; raises where there is no one meaning.

    A reading is correct if it has the pairs and values of all lines, and each pair once.
    """
    lines = content.decode("utf-8-sig").replace("\r\n", "\n").rstrip("\r\n").split("\n")
    found = []
    for line in lines[1 if table.header else 0 :]:
        if table.separator in ("::", "\t"):
            fields = line.split(table.separator)
        else:
            (fields,) = csv.reader([line], delimiter=table.separator, strict=True)
        if len(fields) != len(table.rows[0]) or "\r" in line or "\0" in line:
            raise ValueError(line)
        user, item = (field.strip() for field in fields[:2])
        value = float(fields[2]) if len(fields) > 2 else 1.0
        if not user or not item or not math.isfinite(value):
            raise ValueError(line)
        found.append((user, item, value))
    if len({row[:2] for row in found}) < len(found) or not found:
        raise ValueError("a pair twice, or nothing")
    if len({value for *_, value in found}) == 1:
        found = [(user, item, 1.0) for user, item, _ in found]
    return sorted(found)


# The kinds add up to 10,000 tables by `make prove`; in the suite, each fault has a dozen.
SCALE = 1 if settings.default is None or settings.default.max_examples <= 100 else 35


@settings(max_examples=80 * SCALE)
@given(tables())
def test_a_whole_table_is_read_as_it_is_written(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert reads(table.write(Path(folder))) == plainly(table.content(), table)


@settings(max_examples=220 * SCALE)
@given(st.data(), tables(), st.sampled_from(FAULTS))
def test_a_broken_table_is_refused(data: st.DataObject, table: Table, fault: str) -> None:
    row = data.draw(st.integers(0, len(table.rows) - 1))
    content = broken(table, fault, row, data.draw)
    with tempfile.TemporaryDirectory() as folder:
        if content is not None:
            assert reads(table.write(Path(folder), content)) is None, content


@pytest.mark.slow
@settings(max_examples=max(500, 100 * SCALE))
@given(st.data(), tables())
def test_changed_bytes_are_refused_or_read_as_they_are(data: st.DataObject, table: Table) -> None:
    content = bytearray(table.content())
    first = content.find(b"\n") + 1 if table.header else 3 * table.marked
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(first, len(content) - 1))
        content[at] = data.draw(st.sampled_from(list(b'019ax,;|: \t"\n\r\0\xe9\xff-+.')))
    with tempfile.TemporaryDirectory() as folder:
        found = reads(table.write(Path(folder), bytes(content)))
    if found is not None:
        assert found == plainly(bytes(content), table), bytes(content)
