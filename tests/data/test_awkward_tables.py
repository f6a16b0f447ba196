"""Tables as other programs write them: read as they mean it, or refused with advice that works."""

import bz2
import json
import lzma
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from recbias import Grid, System, run
from recbias.cli.commands import main
from recbias.data.datasets import load_dataset
from recbias.data.datasets.tables import TableOptions, read_table
from recbias.errors import ConfigError, DataError, DataWarning
from recbias.protocol.splits import warn_of_other_share
from recbias.protocol.testset import dataset_splits

HEAD = "user_id,item_id,rating\n"
LINES = HEAD + "1,é,3\n1,b,4\n2,é,5\n"
ROWS = [("1", "b", 4.0), ("1", "é", 3.0), ("2", "é", 5.0)]


def rows(path: Path, **options: object) -> list[tuple[str, str, float]]:
    ratings = load_dataset(path, **options).ratings  # type: ignore[arg-type]
    users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
    return list(zip(map(str, users), map(str, items), ratings.value.tolist(), strict=True))


def info(path: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["data", "info", str(path), *words])


def advised(path: Path, option: str, *words: str) -> Result:
    """Refuse the table; then take the advice of the message literally, and read it."""
    refused = info(path, *words)
    assert refused.exit_code == 2
    assert len(refused.stderr.splitlines()) <= 3
    assert option in refused.stderr, refused.stderr
    done = info(path, *words, *option.split(" "))
    assert done.exit_code == 0, done.stderr
    return done


# -- several ratings of one pair ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::recbias.errors.DataWarning")
@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("100", "200"),
        ("1600000000100", "1600000000900"),
        ("2026-01-01T00:00:00.1", "2026-01-01T00:00:00.9"),
        ("2026-01-01", "2026-01-02"),
    ],
)
def test_the_last_rating_is_the_latest_whatever_the_order_of_rows(
    tmp_path: Path, early: str, late: str
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(f"user,item,rating,time\n1,1,2,{late}\n1,1,5,{early}\n2,1,3,{early}\n")
    loaded = load_dataset(table, duplicates="last")
    assert loaded.ratings.value.tolist() == [2, 3]
    assert loaded.understood[-1] == (
        "the latest row of a pair counts, of equal times the last (1 rows left out)"
    )
    first = load_dataset(table, duplicates="first")
    assert first.ratings.value.tolist() == [5, 3]
    assert first.understood[-1] == (
        "the earliest row of a pair counts, of equal times the first (1 rows left out)"
    )
    table.write_text(f"user,item,rating,time\n1,1,2,{late}\n1,1,5,{late}\n2,1,3,{late}1\n")
    assert load_dataset(table, duplicates="last", timestamp="none").ratings.value.tolist() == [5, 3]
    assert load_dataset(table, duplicates="first", timestamp="none").ratings.value.tolist() == [
        2,
        3,
    ]


# -- headers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["\t", ","])
def test_recbole_headers_and_units_are_read(tmp_path: Path, mark: str) -> None:
    table = tmp_path / "t.inter"
    names = ["user_id:token", "item_id:token", "rating:float", "timestamp:float"]
    table.write_text(
        f"{mark.join(names)}\n{mark.join(['1', 'a', '4', '881250949'])}\n"
        + (f"{mark.join(['2', 'a', '5', '881250950'])}\n")
    )
    assert rows(table) == [("1", "a", 4.0), ("2", "a", 5.0)]
    assert rows(table, rating="rating") == rows(table, rating="rating:float") == rows(table)
    assert load_dataset(table).ratings.timestamp.tolist() == [881250949, 881250950]
    table.write_text("Rating (1-5);Item [id];User\n4;a;1\n5;a;2\n")
    assert rows(table) == [("1", "a", 4.0), ("2", "a", 5.0)]


def test_comments_are_named(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("% bip weighted\n1 2 3\n1 3 4\n")
    with pytest.raises(DataError, match=r"t.csv:1: a comment, .*\nremove the lines of comments"):
        load_dataset(table)


def test_ratings_that_are_not_read_are_named_by_every_command(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    body = "".join(f"{u};{i};{u * i % 11}\n" for u in range(20) for i in range(9))
    table.write_text(f"User-ID;ISBN;Book-Rating\n{body}")
    split = ["data", "split", str(table), "--out", str(tmp_path / "folds")]
    for command in (["data", "info", str(table)], split):
        done = CliRunner().invoke(main, command)
        assert "no column is read as the rating" in done.stderr
        assert done.stderr.count("--rating Book-Rating") == 1
    assert "--rating none" in done.stderr
    for answer, feedback in (("Book-Rating", "explicit"), ("none", "implicit")):
        done = info(table, "--rating", answer)
        assert done.stderr == ""
        assert f"feedback   {feedback}" in done.output


# -- missing values -----------------------------------------------------------------------------


@pytest.mark.parametrize("gap", ["", " ", "NaN", "NULL", "NA", "n/a", "None", "\\N"])
@pytest.mark.parametrize("column", range(4))
def test_rows_with_gaps_are_left_out_and_counted(tmp_path: Path, gap: str, column: int) -> None:
    table = tmp_path / "t.csv"
    cells = ["9", "c", "1", "7"]
    cells[column] = gap
    table.write_text(f"user,item,rating,time\n1,a,4,5\n{','.join(cells)}\n2,a,5,6\n")
    loaded = load_dataset(table, missing="drop")
    assert rows(table, missing="drop") == [("1", "a", 4.0), ("2", "a", 5.0)]
    assert loaded.ratings.timestamp.tolist() == [5, 6]
    role = ["user", "item", "rating", "timestamp"][column]
    said = f"1 rows with a missing value left out: {role} 1"
    assert said in loaded.understood
    assert "each pair once" in loaded.understood
    if column >= 2 or not gap.strip():
        assert said in advised(table, "--missing drop").output
    if column == 3:
        assert "times      none" in advised(table, "--timestamp none").output


def test_gaps_of_frames_and_parquet_are_left_out_and_big_numbers_stay(tmp_path: Path) -> None:
    big = 2**60
    frame = pd.DataFrame(
        {
            "user": pd.array([big, big + 1, None, 3], dtype="Int64"),
            "item": ["a", "a", "a", None],
            "rating": pd.array([4, 5, 1, 1], dtype="Int64"),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_feather(tmp_path / "t.feather")
    for given in (frame, tmp_path / "t.parquet", tmp_path / "t.feather"):
        ratings = load_dataset(given, missing="drop").ratings
        assert list(map(int, ratings.user_ids)) == [big, big + 1]
        assert ratings.value.tolist() == [4, 5]
        with pytest.raises(DataError, match="--missing drop"):
            load_dataset(given)


def test_odd_values_are_refused_all_the_same_and_lines_counted(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(f"{HEAD}1,a,4\n1,b,\n1,c,good\n")
    with pytest.raises(DataError, match=r"t.csv:4: column 'rating' has the value 'good'"):
        load_dataset(table, missing="drop")
    table.write_text(f"{HEAD}1,a,4\n1,b,\n1,a,5\n")
    with pytest.raises(DataError, match=r"t.csv:4: user 1 rates item a again, first in .*t.csv:2"):
        load_dataset(table, missing="drop")
    table.write_text(f"{HEAD}1,a,\n1,b,\n")
    with pytest.raises(DataError, match="every row has a missing value"):
        load_dataset(table, missing="drop")
    odd = tmp_path / "odd.csv"
    odd.write_text("user,item,rating,time\n1,a,4,5\n1,b,5,yesterday\n")
    assert "times      none" in advised(odd, "--timestamp none").output
    with pytest.raises(DataError, match="yesterday"):
        load_dataset(odd, missing="drop")


# -- thousands ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "advice", "values"),
    [
        (["1,234,567", "950"], "--thousands ,", [1234567, 950]),
        (["12,500", "1,234.5"], "--thousands ,", [12500, 1234.5]),
        (["12,500", "950.5"], "--thousands ,", [12500, 950.5]),
        (["1,234", "4,5"], "--decimal ,", [1.234, 4.5]),
        (["0,125", "950"], "--decimal ,", [0.125, 950]),
        (["1.234.567", "1.234"], "--thousands .", [1234567, 1234]),
        (["1.234,5", "2"], "--thousands .", [1234.5, 2]),
        (["1 234", "2"], "--thousands blank", [1234, 2]),
        (["1\u202f234", "2"], "--thousands blank", [1234, 2]),
        (["1'234", "2"], "--thousands quote", [1234, 2]),
    ],
)
def test_what_separates_thousands_is_told_from_a_decimal_sign(
    tmp_path: Path, cells: list[str], advice: str, values: list[float]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text(f"user;item;plays\n1;1;{cells[0]}\n1;2;{cells[1]}\n", encoding="utf-8")
    refused = info(table, "--rating", "plays")
    assert set(re.findall(r"--\w+ \S+", refused.stderr)) == {advice}
    advised(table, advice, "--rating", "plays")
    option, sign = advice.removeprefix("--").split()
    sign = {"blank": " ", "quote": "'"}.get(sign, sign)
    loaded = load_dataset(table, rating="plays", **{option: sign})  # type: ignore[arg-type]
    assert loaded.ratings.value.tolist() == values


def test_a_comma_that_may_be_both_is_not_guessed(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("user;item;plays\n1;1;12,500\n1;2;950\n")
    for advice in ("--decimal ,", "--thousands ,"):
        advised(table, advice, "--rating", "plays")
    table.write_text("user;item;plays\n1;1;12.500\n1;2;950\n")
    assert "--thousands ." in info(table, "--rating", "plays").stderr
    assert load_dataset(table, rating="plays", thousands=".").ratings.value.max() == 12500
    table.write_text("user;item;plays\n1;1;12.5\n1;2;950\n")
    with pytest.raises(DataError, match=r"'12\.5'"):
        load_dataset(table, rating="plays", thousands=".")
    with pytest.raises(ConfigError, match="is the decimal sign and between thousands"):
        load_dataset(table, thousands=",", decimal=",")


# -- formats ------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-32"])
def test_other_encodings_are_read_as_advised(tmp_path: Path, encoding: str) -> None:
    table = tmp_path / "t.csv"
    text = LINES.replace("b,4", "“b”,4") if encoding == "cp1252" else LINES
    table.write_bytes(text.encode(encoding))
    done = advised(table, f"--encoding {encoding}")
    assert f"text in {encoding} separated by ','" in done.output
    assert ("2", "é", 5.0) in rows(table, encoding=encoding)
    with pytest.raises(ConfigError, match="there is none of this name"):
        load_dataset(table, encoding="latin-99")


def test_a_text_over_the_border_of_blocks_is_decoded(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    lines = [f"{user},{'é' * 50},3" for user in range(30_000)]
    table.write_bytes((HEAD + "\n".join(lines)).encode("utf-16"))
    assert load_dataset(table, encoding="utf-16").ratings.item_ids.tolist() == ["é" * 50]


def test_packed_texts_are_read(tmp_path: Path) -> None:
    text = LINES.encode()
    (tmp_path / "t.csv.bz2").write_bytes(bz2.compress(text))
    (tmp_path / "t.csv.xz").write_bytes(lzma.compress(text))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("folder/t.csv", text)
        archive.writestr("__MACOSX/._t.csv", b"junk")
    for name in ("t.csv.bz2", "t.csv.xz", "t.zip"):
        assert rows(tmp_path / name) == ROWS
        cut = tmp_path / f"cut-{name}"
        cut.write_bytes((tmp_path / name).read_bytes()[:-9])
        with pytest.raises(DataError):
            load_dataset(cut)
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("one.csv", text)
        archive.writestr("two.csv", text)
    with pytest.raises(DataError, match=r"2 files in this archive(.|\n)*one.csv, two.csv"):
        load_dataset(tmp_path / "two.zip")


@pytest.mark.parametrize("array", [False, True])
def test_json_records_are_read(tmp_path: Path, array: bool) -> None:
    found = [
        {"user_id": 1, "item_id": "é", "rating": 3, "note": {"a": 1}},
        {"item_id": "b", "user_id": 1, "rating": 4.0},
        {"user_id": 2, "item_id": "é", "rating": 5},
    ]
    table = tmp_path / "t.json"
    lines = "\n".join(json.dumps(each) for each in found)
    table.write_text(json.dumps(found, indent=1) if array else f"{lines}\n")
    assert rows(table) == ROWS
    found[1]["rating"] = None
    found.append({"user_id": 2**60 + 1, "item_id": "b", "rating": 2})
    lines = "\n".join(json.dumps(each) for each in found)
    table.write_text(json.dumps(found) if array else lines)
    advised(table, "--missing drop")
    assert rows(table, missing="drop")[-1] == (str(2**60 + 1), "b", 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"user": [1, 2], "item": [3, 4]}', r"t\.json:1: 'user' is '\[1, 2\]'"),
        ('{"user": 1,\n "item": 2}', r"t\.json:1: JSON, but not a record"),
        ("[[1, 2], [3, 4]]", r"t\.json:1: JSON, but not a record"),
        ("[]", r"no ratings in .*t\.json: no JSON record"),
        ("{}\n", r"no ratings in .*t\.json: no JSON record"),
        ("[" * 10**5, r"t\.json: JSON, but not a record"),
        ('{"user": 1, "item": ' + '{"a":' * 10**5, r"t\.json:1: JSON, but not a record"),
        ('{"user": 1,' + " " * 2**24, r"t\.json:1: .* \(a line of more than 16,777,216 bytes"),
        ('{"user": 1, "item": 2, "rating": 1' + "0" * 400 + "}", "expected a finite number"),
        (
            '[{"user": 1, "item": 2, "rating": 3}, {"user": 1, "item": 3, "rating": true}]',
            r"t\.json:2: 'rating' is true(.|\n)*write all of them as numbers",
        ),
    ],
)
def test_json_that_has_no_records_is_refused(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "t.json"
    table.write_text(text)
    with pytest.raises(DataError, match=message):
        load_dataset(table)


def test_feather_is_read_and_a_spreadsheet_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user": [1, 2], "item": ["a", "a"], "rating": [4, 5]})
    frame.to_feather(tmp_path / "t.feather")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file:
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    for name in ("t.feather", "t.arrow"):
        assert rows(tmp_path / name) == [("1", "a", 4.0), ("2", "a", 5.0)]
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match=r"spreadsheet(.|\n)*pd.read_excel\('t.xlsx', dtype=str\)"):
        load_dataset(tmp_path / "t.xlsx")


# -- splits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "times", "said"),
    [
        ("temporal 0.2", lambda u, i: min(i, 4), "asked to test 20 %, it tests 60 %: ratings of"),
        ("temporal-user 0.2", lambda u, i: 0 if u else i, ""),
        ("temporal-user 0.2", lambda u, i: min(i, 4), "it tests 60 %: ratings of one time are"),
        ("temporal 0.2", lambda u, i: 100 * u + i, ""),
    ],
)
def test_a_split_that_tests_another_share_says_so(
    tmp_path: Path, rule: str, times: object, said: str
) -> None:
    lines = [f"{u},{i},{1 + i % 5},{times(u, i)}\n" for u in range(10) for i in range(10)]  # type: ignore[operator]
    (tmp_path / "t.csv").write_text("user,item,rating,time\n" + "".join(lines))
    done = CliRunner().invoke(
        main,
        ["data", "split", str(tmp_path / "t.csv"), "--split", rule, "--out", str(tmp_path / "o")],
    )
    assert done.exit_code == 0, done.stderr
    n_test = sum(len(pd.read_csv(path)) for path in (tmp_path / "o").glob("*/test.csv"))
    assert (n_test == 20) == ("warning" not in done.stderr)
    assert said in done.stderr


def test_users_with_few_ratings_are_why_more_is_tested_and_leave_out_names_a_rule(
    tmp_path: Path,
) -> None:
    lines = [f"{u},{i},{1 + i % 2},{i}\n" for u in range(10) for i in range(1 + (u > 0))]
    (tmp_path / "t.csv").write_text("user,item,rating,time\n" + "".join(lines))
    command = ["data", "split", str(tmp_path / "t.csv"), "--split"]
    few = CliRunner().invoke(main, [*command, "temporal-user 0.2", "--out", str(tmp_path / "a")])
    assert "tests 52.6 %: of each user a whole number" in few.stderr
    refused = CliRunner().invoke(main, [*command, "leave-out 1", "--out", str(tmp_path / "b")])
    assert refused.exit_code == 2
    (rule,) = re.findall(r"--split '(.*)'", refused.stderr)
    done = CliRunner().invoke(main, [*command, rule, "--out", str(tmp_path / "b")])
    assert done.exit_code == 0
    assert np.isclose(float(rule.split()[1]), 0.2)


@pytest.mark.parametrize(
    ("rule", "n_users", "warned"),
    [
        ("temporal 0.2", 10, True),  # 60 % have the time of the cut, or a later one
        ("k-fold 5", 2, False),  # 20 ratings: folds differ by chance
        ("ratio 0.2", 2, False),
        ("temporal-user 0.2", 10, True),
    ],
)
def test_a_grid_says_that_another_share_is_tested(rule: str, n_users: int, warned: bool) -> None:
    cells = [(u, i, 1 + i % 5, min(i, 4)) for u in range(n_users) for i in range(10)]
    frame = pd.DataFrame(cells, columns=["user", "item", "rating", "time"])
    grid = Grid(frame, System("Random", "Random"), "AI-AN-AR rel>=4", "P@10", split=rule)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        run(grid)
    told = [str(each.message) for each in said if "asked to test" in str(each.message)]
    assert bool(told) == warned
    assert not warned or "asked to test 20 %, it tests 60 %: ratings of one time" in told[0]


def test_shares_are_those_of_what_a_grid_selects() -> None:
    cells = [(u, i, 1 + i % 5) for u in range(10) for i in range(10)] + [(99, 0, 5)]
    frame = pd.DataFrame(cells, columns=["user", "item", "rating"])
    asked = {"protocols": "AI-AN-AR rel>=4", "metrics": "P@3", "split": "leave-out 1"}
    run(Grid(frame, System("Random", "Random"), **asked, select="users>=2"))
    with pytest.raises(DataError, match="user 99"):  # who is not selected
        run(Grid(frame, System("Random", "Random"), **asked))


@pytest.mark.parametrize(
    ("times", "tested", "remarks"),
    [(list(range(8)), 2, 0), ([0] * 6 + [1] * 2, 2, 0), ([0] * 2 + [1] * 6, 6, 1)],
)
def test_a_cut_in_time_is_remarked_on_where_ties_move_it_and_not_where_it_is_rounded(
    times: list[int], tested: int, remarks: int
) -> None:
    frame = pd.DataFrame({"user": [0, 1] * 4, "item": range(8), "rating": 4, "time": times})
    splits = dataset_splits(load_dataset(frame), "temporal 0.2", seed=1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        warn_of_other_share(splits)
    assert [len(split.test) for split in splits] == [tested]
    assert len(said) == remarks


@pytest.mark.parametrize("column", ["country", "discount", "start", "review", "date_played"])
def test_a_column_is_not_taken_for_ratings_by_letters_within_a_word(
    column: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], column: ["x", "y", "z"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert load_dataset(tmp_path / "t.csv").ratings.feedback == "implicit"  # a warning is an error


MENDED_BY = {
    "two ratings": (
        b"user,item,rating (1-5),rating [cm]\n1,2,3,4\n1,3,3,4\n",
        "'rating (1-5)' and 'rating [cm]' could both be the rating",
        r"--rating '(?P<rating>[^']*)'",
    ),
    "UTF-16, little": (
        "user,item\n1,2\n".encode("utf-16-le"),
        "zero byte",
        "--encoding (?P<encoding>.*)",
    ),
    "UTF-16, big": (
        "user,item\n1,2\n".encode("utf-16-be"),
        "zero byte",
        "--encoding (?P<encoding>.*)",
    ),
    "no header": (b"al,tom\nbo,tim\n", "no user column found", "--(?P<header>no)-header"),
}


@pytest.mark.parametrize("case", MENDED_BY)
def test_advice_on_a_table_that_is_not_understood_is_followed(case: str, tmp_path: Path) -> None:
    text, complaint, advice = MENDED_BY[case]
    (table := tmp_path / "t.csv").write_bytes(text)
    with pytest.raises(DataError, match=re.escape(complaint)) as refused:
        load_dataset(table)
    found = re.search(advice, str(refused.value))
    assert found
    options: dict[str, Any] = found.groupdict()
    if "header" in options:
        options["header"] = False
    assert len(read_table(table, TableOptions(**options))[0]) == 2 - case.startswith("UTF")


def test_a_line_for_spreadsheets_is_refused(tmp_path: Path) -> None:
    (table := tmp_path / "t.csv").write_text("sep=;\nuser;item\n1;2\n")
    with pytest.raises(DataError, match=r"t.csv:1: 'sep=;' .*\nremove this line"):
        load_dataset(table)
    table.write_text(table.read_text().partition("\n")[2])
    assert len(load_dataset(table).ratings) == 1


def test_records_may_stand_between_blanks_and_an_error_names_its_line(tmp_path: Path) -> None:
    lines = [f'{{"user": 1, "item": {item}, "rating": {item}}}' for item in (1, 2)]
    (table := tmp_path / "t.jsonl").write_text("\n\n".join(lines))
    assert len(load_dataset(table).ratings) == 2
    table.write_text(f" [{','.join(lines)}]")
    assert len(load_dataset(table).ratings) == 2
    for broken in ('{"user": 1, "it', "[1, 2]"):
        table.write_text(f"{lines[0]}\n\n{broken}\n{lines[1]}\n")
        with pytest.raises(DataError, match=r"t.jsonl:3: JSON, but not a record"):
            load_dataset(table)


@pytest.mark.parametrize(("n_comments", "warned"), [(0, False), (1, True), (9, False)])
def test_a_few_users_named_like_comments_are_warned_of(
    n_comments: int, warned: bool, tmp_path: Path
) -> None:
    users = [f"u{user}" for user in range(20)] + [f"#u{user}" for user in range(n_comments)]
    (table := tmp_path / "t.csv").write_text("user,item\n" + "".join(f"{u},1\n" for u in users))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        load_dataset(table)
    assert any("have an id like '#u0'" in str(each.message) for each in said) == warned


def test_what_an_archive_holds_is_told_with_the_way_to_it(tmp_path: Path) -> None:
    pd.DataFrame({"user": [1], "item": [2]}).to_parquet(tmp_path / "t.parquet")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(tmp_path / "t.parquet", "inner")
    with pytest.raises(DataError, match=r"unpack it, and rename it to end in \.parquet"):
        load_dataset(tmp_path / "t.zip")


@pytest.mark.parametrize("separator", ["\t", ",", ";", "|"])
def test_doubled_quotes_within_quotes_are_read_whatever_separates(
    separator: str, tmp_path: Path
) -> None:
    lines = ["user_id,item_id,rating", '1,"""weird al"" yankovic",5', '2,"""heroes""",4']
    table = tmp_path / "t.csv"
    table.write_text("\n".join(lines).replace(",", separator))
    expected = [("1", '"weird al" yankovic', 5.0), ("2", '"heroes"', 4.0)]
    assert sorted(rows(table, quotes=True)) == expected
    table.write_text(
        "\n".join(lines).replace('"""weird al""', '"weird al"').replace(",", separator)
    )
    with pytest.raises(DataError, match="double the quotes"):
        rows(table, quotes=True)
