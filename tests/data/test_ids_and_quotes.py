"""One identity whatever wrote it, and quotes that belong to a field or enclose it."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from odd_tables import odd_table
from recbias import load_dataset
from recbias.cli.commands import main
from recbias.data.ratings import Ratings
from recbias.errors import DataError, DataWarning
from recbias.protocol.testset import dataset_splits


def _text(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Write ids as a program might: each function sees whole numbers only."""
    written: dict[str, Any] = {
        "as they are": lambda ids: ids,
        "floats": lambda ids: ids.astype(float),
        "float32": lambda ids: ids.astype(np.float32),
        "texts of floats": lambda ids: ids.astype(float).astype(str),
        "with blanks": lambda ids: " " + ids.astype(str) + " ",
        "two decimals": lambda ids: ids.map("{:.2f}".format),
        "nullable": lambda ids: ids.astype("Int64"),
        "objects": lambda ids: ids.astype(float).astype(object),
        "categories": lambda ids: ids.astype(float).astype(str).astype("category"),
        "unsigned": lambda ids: ids.astype(np.uint64),
    }
    return frame.assign(**{name: written[kind](frame[name]) for name in ("user_id", "item_id")})


KINDS = (
    *("floats", "float32", "texts of floats", "with blanks", "two decimals", "nullable"),
    *("objects", "categories", "unsigned"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_number_is_one_id_whatever_wrote_it(kind: str, tmp_path: Path) -> None:
    frame = odd_table("stars")
    frame["user_id"] += 1_500 if kind == "float32" else 1_540_000_000_000_000
    expected = load_dataset(frame).ratings
    assert expected.user_ids.dtype == np.int64
    written = _text(frame, kind)
    written.to_csv(tmp_path / "t.csv", index=False)
    written.to_parquet(tmp_path / "t.parquet", index=False)
    found = [load_dataset(each) for each in (written, tmp_path / "t.csv", tmp_path / "t.parquet")]
    for dataset in found:
        assert dataset.ratings.content_hash == expected.content_hash
        assert dataset.ratings.user_ids.dtype == np.int64
    folds = [dataset_splits(each, "k-fold 5", seed=1) for each in (load_dataset(frame), *found)]
    first, *others = [[split.train.content_hash for split in each] for each in folds]
    assert others == [first] * 3


def test_ids_of_nineteen_digits_are_numbers_in_every_form(tmp_path: Path) -> None:
    # Beside a column that is no number, a text once kept them as names, in another order.
    rows = {"user_id": [10**18 + 1, 9 * 10**18, 7], "item_id": [1, 2, 3], "rating": [1, 2, 3]}
    frame = pd.DataFrame(rows).assign(note="x")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    for path in ("t.csv", "t.parquet"):
        found = load_dataset(tmp_path / path).ratings.user_ids
        assert found.tolist() == [7, 10**18 + 1, 9 * 10**18]
    frame["user_id"] = frame["user_id"].astype(np.uint64) + np.uint64(2**63)
    frame.to_csv(tmp_path / "t.csv", index=False)
    texts = sorted(map(str, frame["user_id"].tolist()))
    assert load_dataset(tmp_path / "t.csv").ratings.user_ids.tolist() == texts
    assert load_dataset(frame).ratings.user_ids.tolist() == texts


def _ids(labels: Any) -> tuple[list[Any], list[str]]:
    frame = pd.DataFrame({"user_id": labels, "item_id": range(len(labels))})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        ratings = Ratings.from_frame(frame, rating=None)
    return ratings.user_ids.tolist(), [str(each.message) for each in said]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["0108", "109"], ["0108", "109"]),
        (["1.5", "2.0"], ["1.5", "2"]),
        ([1.5, 2.0], ["1.5", "2"]),
        (["2.0", "a1"], ["2", "a1"]),
        ([2.0, "a1"], ["2", "a1"]),
        (["1e5", "2e3", "12E4"], ["12E4", "1e5", "2e3"]),
        (["a  b", "ab"], ["a  b", "ab"]),
        (["é", "e"], ["e", "é"]),
    ],
)
def test_other_ids_stay_as_they_are_without_a_word(labels: list[Any], expected: list[Any]) -> None:
    assert _ids(labels) == (expected, [])


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["1.54E+18", "1.55E+18", "3"], "row 0: the user id 1.54E+18 and 1 more lost digits"),
        (["7", "2e+16"], "row 1: the user id 2e+16 lost digits"),
        ([7.0, 2.0**53 + 2], "row 1: the user id 9007199254740994.0 lost digits"),
        (np.float32([7, 2**24 + 2]), "row 1: the user id 1.6777218e+07 lost digits"),
        (["caf\u00e9", "b", "cafe\u0301"], r"row 2: user ids 'caf\xe9' and 'cafe\u0301' look"),
        (["a", "a\u200b"], r"row 1: user ids 'a' and 'a\u200b' look alike"),
        (["\ufeffa", "a"], r"row 0: user ids 'a' and '\ufeffa' look alike"),
        (["a b", "a\u00a0b"], r"row 1: user ids 'a b' and 'a\xa0b' look alike"),
        (["a  b", "a b"], "row 0: user ids 'a b' and 'a  b' look alike"),
    ],
)
def test_ids_that_lost_digits_or_look_alike_are_warned_of(labels: list[Any], said: str) -> None:
    ids, warned = _ids(labels)
    assert len(ids) == len(set(labels))
    assert len(warned) == 1
    assert said in warned[0]


ROWS = (("1", '"heroes"', "5"), ("2", "heroes", "4"), ("1", '"weird al" yankovic', "3"))


@pytest.mark.parametrize("name", ["t.tsv", "t.txt", "t.tsv.gz", "t.csv"])
def test_between_tabs_quotes_belong_to_the_field(name: str, tmp_path: Path) -> None:
    lines = "\n".join(map("\t".join, (("user", "item", "rating"), *ROWS)))
    frame = pd.DataFrame({"line": lines.split("\n")})
    kept = {"sep": "\a", "quoting": 3, "header": False, "index": False}
    frame.to_csv(tmp_path / name, **kept)
    items = load_dataset(tmp_path / name).ratings.item_ids.tolist()
    assert items == sorted(item for _, item, _ in ROWS)
    with pytest.raises(DataError, match=r":4: quotes stand within .*\n.* --no-quotes"):
        load_dataset(tmp_path / name, quotes=True)
    frame[:-1].to_csv(tmp_path / name, **kept)
    enclosed = load_dataset(tmp_path / name, quotes=True)
    assert enclosed.ratings.item_ids.tolist() == ["heroes"]
    assert "quotes enclose fields" in enclosed.understood[0]


def test_between_commas_quotes_enclose_unless_they_are_said_not_to(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(map(",".join, (("user", "item", "rating"), *ROWS[:2]))))
    assert load_dataset(path).ratings.item_ids.tolist() == ["heroes"]
    plain = load_dataset(path, quotes=False)
    assert plain.ratings.item_ids.tolist() == ['"heroes"', "heroes"]
    assert "quotes as they are" in plain.understood[0]


@pytest.mark.parametrize(
    ("text", "said", "option"),
    [
        ('"user"\t"item"\t"rating"\n"1"\t"a"\t5\n', "t.tsv:1: the names of columns", "--quotes"),
        ('user\titem\trating\n1\ta\t"5"\n', 't.tsv:2: the rating is "5"', "--quotes"),
        ('1\ta\t4\n1\tb\t"5"\n', 't.tsv:2: the rating is "5"', "--quotes"),
        ('user\titem\trating\n1\t"a\tb"\t5\n', "t.tsv:2: 4 fields, expected 3", "--quotes"),
        ('user,item\n1,"a\n2,b\n', "t.csv:2: ", "--no-quotes"),
    ],
)
def test_where_quotes_are_of_the_other_custom_the_advice_helps(
    text: str, said: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = said.partition(":")[0]
    Path(name).write_text(text)
    with pytest.raises(DataError, match=r"^t\.[ct]sv:\d") as caught:
        load_dataset(name)
    assert said in str(caught.value)
    assert option in str(caught.value)
    done = CliRunner().invoke(main, ["data", "info", name, option])
    assert done.exit_code == 0, done.output


def test_ids_that_are_all_in_quotes_are_kept_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('"u1"\t"i1"\t5\n"u2"\ti2\t4\n')
    with pytest.warns(DataWarning, match=r"the user ids are in quotes.*say --quotes"):
        assert load_dataset(path).ratings.user_ids.tolist() == ['"u1"', '"u2"']
    assert load_dataset(path, quotes=True).ratings.user_ids.tolist() == ["u1", "u2"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_dataset(path, quotes=False).ratings.item_ids.tolist() == ['"i1"', "i2"]


def test_truth_values_beside_numbers_are_ids_of_their_own() -> None:
    frame = pd.DataFrame({"user": [1, True, 2], "item": 1})
    assert load_dataset(frame).ratings.n_users == 3


def test_a_zero_byte_in_an_id_is_refused() -> None:
    with pytest.raises(DataError, match="a zero byte in the user id"):
        load_dataset(pd.DataFrame({"user": ["a\0", "a"], "item": 1}))


def test_minus_zero_is_zero() -> None:
    with pytest.raises(DataError, match="would become one user"):
        load_dataset(pd.DataFrame({"user": ["-0", "0"], "item": 1}))


def test_quotes_behind_a_blank_are_refused(tmp_path: Path) -> None:
    (table := tmp_path / "q.csv").write_text('user,item,rating\n1,"a",5\n2, "a",4\n')
    with pytest.raises(DataError, match=r"q\.csv:3: quotes stand within"):
        load_dataset(table)
    table.write_text('user,item,rating\n1,"a, ""b""",5\n2,"a" ,4\n')
    assert load_dataset(table).ratings.n_items == 2
