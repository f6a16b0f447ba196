"""The order that a file of scores states is the one that is measured, and no other column's."""

from __future__ import annotations

import itertools
import math
import re
import shlex
import warnings
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from recbias.cli.commands import main
from recbias.data.datasets import load_dataset
from recbias.errors import DataError, DataWarning, RecbiasError
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import FromScores


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ratings of six users for nine items, item 7 among them written ``07``."""
    rows = [
        (f"u{user}", f"0{item}", 1 + (user * item) % 5) for user in range(6) for item in range(9)
    ]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "rating"])
    path = tmp_path_factory.mktemp("order") / "data.csv"
    frame.to_csv(path, index=False)
    return path


def free(data: Path) -> list[str]:
    """List what the first user has not in training: a list may hold no other items."""
    (split,) = dataset_splits(load_dataset(data), "ratio 0.5", seed=1)
    own = set(split.train.item_ids[split.train.item[split.train.user == 0]].astype(str))
    return [f"0{number}" for number in range(9) if f"0{number}" not in own]


def order_of(file: Any, data: Path, **options: Any) -> list[list[str]]:
    """Read groups of equal items of the first user, best first, as the package scores them."""
    (split,) = dataset_splits(load_dataset(data), "ratio 0.5", seed=1)
    model = FromScores(file, **options).fit(split.train)
    scores = model.score(np.array([0]))[0]
    assert scores.dtype == np.float32
    labels = split.train.item_ids.astype(str)
    pairs = sorted((-float(s), i) for s, i in zip(scores, labels, strict=True) if not math.isnan(s))
    return [
        [i for _, i in group] for _, group in itertools.groupby(pairs, key=lambda pair: pair[0])
    ]


SCORES = {
    "close": [0.5 + 1e-9, 0.5, 0.5 - 1e-9, 0.5 + 2e-9],
    "next to each other": [1.0, math.nextafter(1, 2), math.nextafter(1, 0), 0.5],
    "small": [3e-60, 2e-60, 4e-60, 1e-60],
    "denormal": [5e-324, 0.0, 1e-323, -5e-324],
    "large": [1e39, 2e39, 1e308, -1e39],
    "whole beyond floats": [2**53 + 1, 2**53, 2**53 + 2, 2**53 - 1],
    "whole of 64 bits": [2**62 + 3, 2**62 + 2, -(2**62) - 1, -(2**62)],
    "ties": [0.25, 0.25, -0.0, 0.0],
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "trec", "frame", "exponents"])
def test_every_order_survives_whatever_wrote_it(
    name: str, form: str, data: Path, tmp_path: Path
) -> None:
    values, items = SCORES[name], free(data)[:4]
    exact = sorted({Decimal(each) for each in values}, reverse=True)
    expected = [[i for i, v in zip(items, values, strict=True) if Decimal(v) == e] for e in exact]
    frame = pd.DataFrame({"user_id": "u0", "item_id": items, "score": values})
    if form == "exponents":
        frame["score"] = [f"{Decimal(value):e}" for value in values]
    file = tmp_path / f"scores.{'csv' if form == 'exponents' else form}"
    if form == "trec":
        lines = [f"u0 Q0 {i} 1 {v!r} x\n" for i, v in zip(items, values, strict=True)]
        file.write_text("".join(lines))
    elif form == "parquet":
        frame.to_parquet(file)
    elif form != "frame":
        frame.to_csv(file, index=False, sep="\t" if form == "tsv" else ",")
    assert order_of(frame if form == "frame" else file, data) == expected


def write(
    folder: Path,
    columns: dict[str, list[Any]],
    name: str = "scores.csv",
    items: Sequence[str] = ("01", "02", "03"),
) -> Path:
    frame = pd.DataFrame({"user_id": "u0", "item_id": items, **columns})
    if name.endswith(".parquet"):
        frame.to_parquet(folder / name)
    else:
        frame.to_csv(folder / name, index=False, sep="\t" if name.endswith("tsv") else ",")
    return folder / name


@pytest.mark.parametrize("form", ["scores.csv", "scores.tsv", "scores.parquet"])
@pytest.mark.parametrize(
    ("columns", "read"),
    [
        ({"rating": [1, 2, 3], "prediction": [3.0, 2.0, 1.0]}, "score 'prediction'"),
        ({"stars": [1, 2, 3], "Score": [3.0, 2.0, 1.0]}, "score 'Score'"),
        ({"r_ui": [1, 2, 3], "est": [3.0, 2.0, 1.0]}, "score 'est'"),
        ({"rating": [1, 2, 3], "rank": [1, 2, 3]}, "rank 'rank'"),
        ({"score": [9, 5, 1], "prediction": [3.0, 2.0, 1.0]}, "score 'score'"),
        ({"rating": [1, 2, 3], "Predicted Rating": [3.0, 2.0, 1.0]}, "score 'Predicted Rating'"),
        ({"stars": [1, 2, 3], "model_score": [3.0, 2.0, 1.0]}, "score 'model_score'"),
        ({"rating": [3, 2, 1]}, "score 'rating'"),
        ({"rating": [3, 2, 1], "title": ["x", "y", "9"], "fold": [1, 2, 3]}, "score 'rating'"),
        ({"rating": [3, 2, 1], "stars": [30, 20, 10]}, "score 'rating'"),
        ({"score": [2, 2, 1], "rank": [1, 2, 3]}, "score 'score', then rank 'rank'"),
        ({"rating": [3, 2, 1], "scored_at": [1, 2, 3]}, "score 'rating'"),
        ({"rating": [3, 2, 1], "pred_id": [1, 2, 3]}, "score 'rating'"),
        ({"rating": [3, 2, 1], "watch_time": [1, 2, 3]}, "score 'rating'"),
        ({"rating": [3, 2, 1], "item_idx": [1, 2, 3]}, "score 'rating'"),
        ({"rating": [3, 2, 1], "place_id": [1, 2, 3]}, "score 'rating'"),
        ({"score": [3, 2, 1], "date": [1, 2, 3], "Date": [3, 2, 1]}, "score 'score'"),
        ({"rating": [1, 2, 3], "predicted_rank": [1, 2, 3]}, "rank 'predicted_rank'"),
        ({"stars": [1, 2, 3], "modelPosition": [1, 2, 3]}, "rank 'modelPosition'"),
        ({"score": [3, 2, 1], "als": [0.9, 0.5, 0.1]}, "score 'score'"),
    ],
)
def test_the_score_is_read_and_said_and_never_the_truth_beside_it(
    columns: dict[str, list[Any]], read: str, form: str, data: Path, tmp_path: Path
) -> None:
    file = write(tmp_path, columns, form)
    assert FromScores(file).described() == f"user 'user_id', item 'item_id', {read}; 1 user"
    if not read.startswith("rank"):  # else a list with items in training
        assert order_of(file, data) == [["01"], ["02"], ["03"]]


@pytest.mark.parametrize(
    "columns",
    [
        {"score": [1, 2, 3], "prediction": [3, 2, 1]},
        {"score": [1, 2, 2], "prediction": [1, 2, 3]},
        {"score": [1, 2, 3], "rank": [1, 2, 3]},
        {"rating": [1, 2, 3], "stars": [1, 3, 2]},
        {"rating": [1, 2, 3], "als": [1, 3, 2]},
        {"score": [1, 2, 3], "als": [1, 3, 2]},
        {"rating": [1, 2, 3], "score_std": [1, 3, 2]},
        {"rating": [1, 2, 3], "true_score": [1, 3, 2]},
        {"rating": [1, 2, 3], "n_predictions": [1, 3, 2]},
        {"rating": [1, 2, 3], "popularity_rank": [1, 3, 2]},
        {"rating": [1, 2, 3], "score_at_10": [1, 3, 2]},
        {"rating": [1, 2, 3], "als": [None, 3, 2]},
        {"rating": [1, 2, 3], "als": ["0,1", "0,9", "0,5"]},
        {"rating": [1, 2, 3], "als": ["10%", "90%", "50%"]},
        {"rating": [1, 2, 3], "als": ["-", "3", "2"]},
        {"rating": [1, 2, 3], "gt_score": [1, 3, 2]},
        {"rating": [1, 2, 3], "itemPosition": [1, 2, 3]},
        {"rating": [1, 2, 3], "ranking_score": [1, 2, 3]},
        {"rating": [1, 2, 3], "predicted_time": [1, 3, 2]},
    ],
)
def test_two_columns_of_unlike_order_are_refused_until_one_is_named(
    columns: dict[str, list[Any]], data: Path, tmp_path: Path
) -> None:
    file = write(tmp_path, columns)
    with pytest.raises(DataError) as caught:
        order_of(file, data)
    for name in columns:
        assert f"'{name}'" in str(caught.value)
    first = next(iter(columns))
    assert f"--score {first}" in str(caught.value)
    arguments = ["--scores", str(file), "--split", "ratio 0.5", "--protocol", "AI-AN-AR rel>=4"]
    arguments += ["--metric", "P@1"]
    refused = CliRunner().invoke(main, ["measure", str(data), *arguments])
    assert refused.exit_code == 2
    named = CliRunner().invoke(main, ["measure", str(data), *arguments, "--score", first])
    assert named.exit_code == 0, named.output
    assert f"score '{first}'" in named.output


@pytest.mark.parametrize("column", ["true_score", "als", "underscored", "ranking_score"])
def test_a_column_alone_is_no_score_by_a_part_of_its_name(
    column: str, data: Path, tmp_path: Path
) -> None:
    file = write(tmp_path, {column: [3, 2, 1], "other": [1, 2, 3]})
    with pytest.raises(DataError, match="no column score or rank"):
        order_of(file, data)
    assert order_of(file, data, column=column) == [["01"], ["02"], ["03"]]


@pytest.mark.parametrize("option", ["--score", "--rank"])
def test_a_rank_may_have_any_name(option: str, data: Path, tmp_path: Path) -> None:
    items = free(data)
    file = write(tmp_path, {"order": [1, 2]}, items=items[:2])
    asked = ["--scores", str(file), "--split", "ratio 0.5", "--metric", "P@1", option, "order"]
    done = CliRunner().invoke(main, ["measure", str(data), *asked])
    assert done.exit_code == 0, done.output
    assert f"{option[2:]} 'order'" in done.output
    name = {"--score": "column", "--rank": "rank"}[option]
    by_place = [[item] for item in items[:2]]
    expected = by_place if option == "--rank" else by_place[::-1]
    assert order_of(file, data, **{name: "order"}) == expected


def test_of_two_files_that_could_be_meant_neither_is_taken(data: Path, tmp_path: Path) -> None:
    (tmp_path / "fold-1").mkdir()
    write(tmp_path / "fold-1", {"score": [3, 2, 1]})
    alone = order_of(tmp_path, data)
    write(tmp_path, {"score": [1, 2, 3]}, "fold-1.csv")
    with pytest.raises(DataError, match="could both be meant") as refused:
        order_of(tmp_path, data)
    (named,) = re.findall(r"--scores (\S+), or", str(refused.value))
    assert order_of(shlex.split(named)[0], data) != alone
    (tmp_path / "fold-1.csv").unlink()
    (tmp_path / "fold-2").mkdir()
    for name in ("scores.csv", "scores.parquet"):
        write(tmp_path / "fold-2", {"score": [1, 2, 3]}, name)
    with pytest.raises(DataError, match="could both be meant, in fold 2"):
        FromScores(tmp_path)


@pytest.mark.parametrize("other", ["movie_id", "item"])
def test_of_two_columns_of_items_neither_is_taken(other: str, data: Path, tmp_path: Path) -> None:
    file = write(tmp_path, {"score": [3, 2, 1], other: [1, 2, 3]})
    with pytest.raises(DataError, match=f"'item_id' and '{other}' could both be the item"):
        order_of(file, data)


def test_a_column_that_is_there_twice_is_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("user_id,item_id,score,als,als\nu0,01,1,2,3\n")
    with pytest.raises(DataError, match="'als' is there twice"):
        order_of(tmp_path / "s.csv", data)


def test_folds_start_at_one(tmp_path: Path) -> None:
    for number in (0, 1):
        write(tmp_path, {"score": [3, 2, 1]}, f"y-{number}.csv")
    with pytest.raises(DataError, match="there is a fold 0"):
        FromScores(f"{tmp_path}/y-{{fold}}.csv")


def test_two_ranks_may_not_contradict_each_other_below_a_score(data: Path, tmp_path: Path) -> None:
    file = write(tmp_path, {"score": [1, 1, 1], "rank": [1, 2, 3], "position": [3, 2, 1]})
    with pytest.raises(DataError, match="'rank' and 'position' could both"):
        order_of(file, data)


@pytest.mark.parametrize(
    "text",
    [
        'user_id,item_id,title,score\nu0,01,"Heroes,3\nu0,02,x,5\nu0,03,Live",2\n',
        'user_id,item_id,score\nu0,"0"1,3\n',
        "\nuser_id,item_id,score\nu0,01,3\n",
    ],
)
def test_quotes_and_lines_of_scores_are_those_of_tables(
    text: str, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(DataError, match=r"s\.csv"):
        order_of(tmp_path / "s.csv", data)


def test_a_quote_that_opens_an_id_and_closes_none_belongs_to_it(data: Path, tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text('user_id\titem_id\tscore\nu0\t"017\t1\n')
    with pytest.raises(DataError, match="no such item"):
        order_of(tmp_path / "s.tsv", data)


def test_a_column_of_lists_is_no_score(data: Path, tmp_path: Path) -> None:
    file = write(tmp_path, {"score": [[1], [2], [3]]}, "scores.parquet")
    with pytest.raises(DataError, match="is no finite number"):
        order_of(file, data)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("s.csv", "user_id;item_id;score\nu0;01;1\n", "by commas, or by tabs in a file"),
        ("s.txt", "user_id\titem_id\tscore\nu0\t01\t1\n", "by commas, or by tabs in a file"),
        ("s.csv", 'user_id,item_id,score\nu0,01,"0,9"\n', "with a decimal point"),
        ("s.parquet", "user_id,item_id,score\nu0,01,1\n", "write CSV or TSV in UTF-8, Parquet"),
    ],
)
def test_what_separates_fields_or_numbers_is_told(
    name: str, text: str, complaint: str, data: Path, tmp_path: Path
) -> None:
    (file := tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=re.escape(complaint)):
        order_of(file, data)


@pytest.mark.parametrize("name", ["S.TSV", "s.tsv.gz", "S.Parquet"])
def test_suffixes_may_be_in_capitals_or_packed(name: str, data: Path, tmp_path: Path) -> None:
    frame = pd.DataFrame({"user_id": "u0", "item_id": ["01", "02"], "score": [1, 2]})
    if "arquet" in name:
        frame.to_parquet(tmp_path / name)
    else:
        frame.to_csv(tmp_path / name, sep="\t", index=False)
    assert order_of(tmp_path / name, data) == [["02"], ["01"]]


@pytest.mark.parametrize("number", [2**53, 2**53 - 2])
def test_ids_that_lost_digits_are_warned_of(number: int, tmp_path: Path) -> None:
    frame = pd.DataFrame({"user_id": [number + 1, number], "item_id": [1, 2], "score": [1.0, 2.0]})
    frame[:1].astype({"user_id": float}).to_parquet(tmp_path / "s.parquet")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DataWarning)
        FromScores(tmp_path / "s.parquet").described()
    assert bool(said) == (number == 2**53)


def test_ids_of_half_the_digits_are_warned_of(tmp_path: Path) -> None:
    frame = pd.DataFrame({"user_id": ["u"], "item_id": [2.0**24 + 2], "score": [1.0]})
    frame.astype({"item_id": "float32"}).to_parquet(tmp_path / "s.parquet")
    with pytest.warns(DataWarning, match="lost digits"):
        FromScores(tmp_path / "s.parquet").described()


@pytest.mark.parametrize("number", [2**53, 10**18])
def test_decimal_ids_keep_their_digits(number: int, tmp_path: Path) -> None:
    ids = pa.array([Decimal(number), Decimal(number + 1)] * 2, pa.decimal128(19, 0))
    ratings = pa.array([Decimal(4)] * 3 + [Decimal(5)], pa.decimal128(3, 0))
    table = pa.table({"user_id": ids, "item_id": list("abcd"), "rating": ratings})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    found = load_dataset(tmp_path / "t.parquet").ratings
    assert found.user_ids.tolist() == [number, number + 1]
    assert found.value.tolist() == [4, 4, 4, 5]


def test_days_as_ids_fit_those_of_the_data(tmp_path: Path) -> None:
    days = pd.date_range("2020-01-01", periods=12)
    frame = pd.DataFrame({"user_id": days.repeat(4), "item_id": list(range(4)) * 12, "rating": 4})
    frame["rating"] = frame["rating"] + frame["item_id"] % 2
    frame.to_parquet(tmp_path / "t.parquet")
    frame.rename(columns={"rating": "score"}).to_parquet(tmp_path / "s.parquet")
    (split,) = dataset_splits(load_dataset(tmp_path / "t.parquet"), "ratio 0.5", seed=1)
    train = split.train
    assert FromScores(tmp_path / "s.parquet").fit(train).score(np.arange(12)).shape == (12, 4)


@pytest.mark.parametrize("form", ["csv", "trec"])
def test_equal_ranks_are_ties_whatever_the_order_of_lines(
    form: str, data: Path, tmp_path: Path
) -> None:
    items = free(data)
    found = []
    for lines in (items, items[::-1]):
        file = tmp_path / f"{len(found)}.{form}"
        rows = [f"u0,{item},1" for item in lines]
        text = "user_id,item_id,rank\n" + "\n".join(rows)
        if form == "trec":
            text = "\n".join(f"u0 Q0 {item} 1 0.5 x" for item in lines)
        file.write_text(text)
        found.append(order_of(file, data))
    assert found == [[sorted(items)]] * 2


BROKEN = {
    "no user": ("item_id,score\n01,1\n", "rename the columns to user_id, item_id and score"),
    "no score": ("user_id,item_id\nu0,01\n", "rename the columns to user_id, item_id and score"),
    "header alone": ("user_id,item_id,score\n", "no row"),
    "nothing": ("", "no row"),
    "beyond floats": ("user_id,item_id,score\nu0,01,1e400\n", "'1e400' is no finite number"),
    "a rank that is none": ("user_id,item_id,rank\nu0,01,x\n", "'x' is no finite number"),
    "more fields than names": (
        "user_id,item_id,score\nx,u0,01,1\n",
        "4 fields, expected 3",
    ),
    "a column twice": ("user_id,item_id,score,score\nu0,01,1,2\n", "'score' is there twice"),
    "an exponent of no number": (
        "user_id,item_id,score\nu0,01,1e-99999999999999999999\nu0,02,0\n",
        "is no finite number, in column 'score'",
    ),
    "no such item": ("user_id,item_id,score\nu0,99,1\n", "the data have no such item"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_file_of_scores_is_refused(name: str, data: Path, tmp_path: Path) -> None:
    text, said = BROKEN[name]
    file = tmp_path / "scores.csv"
    file.write_text(text)
    with pytest.raises(RecbiasError) as caught:
        order_of(file, data)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3
    if "rename" in said:
        file.write_text(text.replace("item_id", "item_id,score").replace("01", "01,1"))
        if name == "no user":
            file.write_text("user_id,item_id,score\nu0,01,1\n")
        assert order_of(file, data) == [["01"]]


def test_ids_fit_where_zeros_or_quotes_came_or_went_on_the_way(data: Path, tmp_path: Path) -> None:
    for number, label in enumerate(["1", "01", "1.0", '"01"']):
        file = tmp_path / f"{number}.tsv"
        file.write_text(f"user_id\titem_id\tscore\nu0\t{label}\t1\n")
        assert order_of(file, data) == [["01"]]


def test_a_run_goes_by_score_then_rank_and_by_either_alone(data: Path, tmp_path: Path) -> None:
    one, other, last = free(data)[:3]
    file = tmp_path / "run.trec"
    file.write_text(f"u0 Q0 {one} 3 2 x\nu0 Q0 {other} 2 1 x\nu0 Q0 {last} 1 1.0 x\n")
    assert order_of(file, data) == [[one], [last], [other]]
    assert order_of(file, data, column="score") == [[one], sorted([other, last])]
    assert order_of(file, data, column="rank") == [[last], [other], [one]]
    with pytest.raises(DataError, match="no column 'tag'"):
        order_of(file, data, column="tag")
    file.write_text(f"u0 Q0 {one} - 2 x\n")
    with pytest.raises(DataError, match=r"run.trec:1: .*'-' is no finite number, in column 'rank'"):
        order_of(file, data)


@pytest.fixture(scope="module")
def quoted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ratings between tabs, of which items have quotes: ``blow`` is there with and without."""
    items = ["blow", '"blow"', "plain", '"only"']
    lines = [f"u{user}\t{item}\t{1 + user % 5}\n" for user in range(6) for item in items]
    lines += ["u\tfirst\t3\n", "u\tsecond\t4\n"]  # the first user, to whom all four are new
    path = tmp_path_factory.mktemp("quoted") / "data.tsv"
    path.write_text("user_id\titem_id\trating\n" + "".join(lines))
    return path


ENCLOSED = [("blow", 2), ("plain", 1)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.tsv", '{u}\t"{i}"\t{s}\n'),
        ("s.tsv", '"{u}"\t"{i}"\t{s}\n'),
        ("s.run", '"{u}" "Q0" "{i}" 1 {s} "t"\n'),
        ("s.run", '{u} Q0 "{i}" 1 {s} t\n'),
        ("s.run", "{u} Q0 {i} 1 {s} t\n"),
        ("s.csv", '{u},"{i}",{s}\n'),
    ],
)
def test_quotes_enclose_all_ids_of_a_file_or_none(
    name: str, text: str, quoted: Path, tmp_path: Path
) -> None:
    head = {"csv": "user_id,item_id,score\n", "tsv": "user_id\titem_id\tscore\n"}.get(name[2:], "")
    lines = [text.format(u="u", i=item, s=score) for item, score in ENCLOSED]
    (tmp_path / name).write_text(head + "".join(lines))
    assert order_of(tmp_path / name, quoted) == [["blow"], ["plain"]]


def test_ids_with_quotes_and_the_same_without_are_those_of_the_data(
    quoted: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.tsv").write_text('user_id\titem_id\tscore\nu\t"blow"\t2\nu\tblow\t1\n')
    assert order_of(tmp_path / "s.tsv", quoted) == [['"blow"'], ["blow"]]
    (tmp_path / "s.tsv").write_text('"user_id"\t"item_id"\t"score"\nu\t"blow"\t2\nu\tblow\t1\n')
    assert order_of(tmp_path / "s.tsv", quoted) == [['"blow"'], ["blow"]]


@pytest.mark.parametrize(
    "lines",
    ['u\t"blow"\t2\nu\t"plain"\t1\nu\tblow\t3\n', 'u\t"blow"\t2\n', 'u\t"blow"\t2\nu\tplain\t1\n'],
)
def test_quotes_of_which_nobody_can_tell_whose_they_are_are_refused(
    lines: str, quoted: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.tsv").write_text(f"user_id\titem_id\tscore\n{lines}")
    with pytest.raises(DataError, match="cannot be told"):
        order_of(tmp_path / "s.tsv", quoted)


def test_a_header_in_quotes_says_that_quotes_enclose(quoted: Path, tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text('"user_id"\t"item_id"\t"score"\n"u"\t"blow"\t2\n')
    assert order_of(tmp_path / "s.tsv", quoted) == [["blow"]]


def test_numbers_instead_of_names_are_no_header(data: Path, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("1,138,5.0\n1,139,4.0\n")
    with pytest.raises(DataError, match="write a first line with the names of the columns"):
        order_of(tmp_path / "s.csv", data)


def test_a_packed_file_of_a_fold_is_found(data: Path, tmp_path: Path) -> None:
    (tmp_path / "fold-1").mkdir()
    frame = pd.DataFrame({"user_id": "u0", "item_id": ["01", "02"], "score": [1, 2]})
    frame.to_csv(tmp_path / "fold-1/scores.csv.gz", index=False)
    assert order_of(tmp_path, data) == [["02"], ["01"]]


@pytest.mark.parametrize("name", ["s.csv", "s.run", "s.parquet"])
def test_two_systems_in_one_file_are_refused(name: str, data: Path, tmp_path: Path) -> None:
    items = free(data)[:3]

    def written(systems: list[str]) -> Path:
        rows = [("u0", i, 3 - n, s) for n, (i, s) in enumerate(zip(items, systems, strict=True))]
        frame = pd.DataFrame(rows, columns=["user_id", "item_id", "score", "algorithm"])
        if name.endswith("run"):
            lines = [f"{u} Q0 {i} {4 - s} {s} {tag}\n" for u, i, s, tag in rows]
            (tmp_path / name).write_text("".join(lines))
        elif name.endswith("parquet"):
            frame.to_parquet(tmp_path / name)
        else:
            frame.to_csv(tmp_path / name, index=False)
        return tmp_path / name

    assert order_of(written(["ALS"] * 3), data) == [[item] for item in items]
    with pytest.raises(DataError, match="'ALS' and 'Pop', of one user: two systems in one file"):
        order_of(written(["ALS", "Pop", "ALS"]), data)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"u0\t01\t3\nu0\t02\t2\n", "if line 1 names none, add such a line above it"),
        ("user_id\titem_id\tscore\nu0\t01\t3\n".encode("utf-16"), "write CSV in UTF-8"),
        (b'"user_id"\t"item_id"\t"score"\n"1"\t"u0"\t"01"\t3\n', "write CSV in UTF-8"),
    ],
)
def test_scores_are_not_advised_options_that_they_do_not_have(
    content: bytes, message: str, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.tsv").write_bytes(content)
    with pytest.raises(DataError, match=message) as refused:
        order_of(tmp_path / "s.tsv", data)
    assert "--" not in str(refused.value)
