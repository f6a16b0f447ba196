from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recbias._system import places
from recbias.claims import NOT_TESTABLE
from recbias.data import datasets
from recbias.data.datasets import dataset_info, find_files, load_dataset, movielens, registry
from recbias.data.datasets.frames import frame_of
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import ConfigError, DataError, MissingData
from recbias.protocol import splits
from recbias.protocol.splits import SplitRule
from recbias.recommenders.as_published.file_order import file_order

STARS = RatingScale(1, 5, 1)


@pytest.fixture(autouse=True)
def no_data_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the clone's downloads too, except from the tests that are about real data."""
    if request.node.get_closest_marker("data") is None:
        monkeypatch.setattr(places, "data_dirs", lambda extra=None: [extra] if extra else [])


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---------------------------------------------------------------------------- MovieLens 1M, twice


def fake_1m(folder: Path) -> tuple[list[tuple[int, int, int, int]], list[int]]:
    """Write a small ``ratings.dat`` and the folds that MCCRS20 would have made of it."""
    rng = np.random.default_rng(6)
    pairs = [(user, item) for user in range(1, 30) for item in range(2, 25) if rng.random() < 0.5]
    rows = [(*pair, int(rng.integers(1, 6)), int(rng.integers(9e8, 1e9))) for pair in pairs]
    folds = rng.integers(5, size=len(rows)).tolist()
    write(folder / "ml-1m/ratings.dat", "".join("::".join(map(str, row)) + "\n" for row in rows))
    code = {1: 0, 2: 0, 3: 0, 4: 1, 5: 2}
    for fold in range(5):
        lines = [
            f"{user}\t{item}\t{code[stars]}\n"
            for (user, item, stars, _), label in zip(rows, folds, strict=True)
            if label == fold
        ]
        rng.shuffle(lines)
        write(folder / f"ml-1m/mena2020_folds/fold{fold + 1}/test012.txt", "".join(lines))
    return rows, folds


def fold_files(folder: Path) -> list[Path]:
    return [folder / f"ml-1m/mena2020_folds/fold{fold}/test012.txt" for fold in range(1, 6)]


def test_raw_file_and_folds_are_the_same_dataset(tmp_path: Path) -> None:
    rows, folds = fake_1m(tmp_path)
    raw = movielens.merge_1m(movielens.read_1m_stars(tmp_path / "ml-1m/ratings.dat"))
    folded, labels, _ = movielens.read_1m_folds(fold_files(tmp_path))
    assert raw.content_hash == folded.content_hash
    assert (raw.name, raw.scale, raw.merged_below, raw.timestamp) == ("ml-1m", STARS, 4, None)
    assert (folded.name, folded.scale, folded.merged_below) == ("ml-1m", STARS, 4)
    # Rows were written in the order of (user, item), which is the canonical one.
    expected = [2.48 if stars < 4 else stars for _, _, stars, _ in rows]
    assert raw.value.tolist() == folded.value.tolist() == expected
    assert labels.tolist() == folds
    assert labels.dtype == np.int8


def test_ready_folds_test_what_their_file_holds(tmp_path: Path) -> None:
    fake_1m(tmp_path)
    ratings, labels, _ = movielens.read_1m_folds(fold_files(tmp_path))
    for split, path in zip(
        splits.from_fold_labels(ratings, labels), fold_files(tmp_path), strict=True
    ):
        held = {tuple(map(int, line.split("\t")[:2])) for line in path.read_text().splitlines()}
        users, items = ratings.user_ids[split.test.user], ratings.item_ids[split.test.item]
        assert set(zip(users.tolist(), items.tolist(), strict=True)) == held


def test_folds_know_the_order_of_their_lines(tmp_path: Path) -> None:
    fake_1m(tmp_path)
    ratings, labels, order = movielens.read_1m_folds(fold_files(tmp_path))
    lines = [path.read_text().splitlines() for path in fold_files(tmp_path)]
    for fold, split in enumerate(
        SplitRule.parse("ready order=file").splits(
            ratings, rng=np.random.default_rng(1), ready=labels, row_order=order
        )
    ):
        train = frame_of(split.train)[["user_id", "item_id"]].to_numpy().tolist()
        others = [line for place, each in enumerate(lines) if place != fold for line in each]
        assert train == [list(map(int, line.split("\t")[:2])) for line in others]
        named = list(dict.fromkeys(item for _, item in train))
        assert split.train.item_ids[file_order(split.train)].tolist() == named


def test_another_star_would_be_another_dataset(tmp_path: Path) -> None:
    fake_1m(tmp_path)
    folded, *_ = movielens.read_1m_folds(fold_files(tmp_path))
    path = tmp_path / "ml-1m/ratings.dat"
    path.write_text(re.sub(r"::4(::\d{9,})", r"::5\1", path.read_text(), count=1))
    assert movielens.merge_1m(movielens.read_1m_stars(path)).content_hash != folded.content_hash


def test_a_code_that_the_folds_do_not_have_is_refused(tmp_path: Path) -> None:
    paths = [write(tmp_path / "fold1/test012.txt", "1\t1\t0\n1\t2\t3\n")]
    with pytest.raises(DataError, match=r"test012.txt:2: column 'rating' has the value '3'"):
        movielens.read_1m_folds(paths)


def test_folds_that_share_a_pair_are_refused(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{fold}.txt", "1\t1\t0\n1\t2\t1\n") for fold in range(2)]
    with pytest.raises(DataError, match="user 1 rates item 1 again"):
        movielens.read_1m_folds(paths)


# ---------------------------------------------------------------------------- the real data


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["ml-1m", "ml-1m-folds", "ml-100k", "ml-latest-small", "filmtrust", "cm100k", "coat"]
)
def test_real_data_are_what_the_registry_says(name: str) -> None:
    dataset = load_dataset(name)
    ratings, info = dataset.ratings, dataset.info
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (
        info.n_users,
        info.n_items,
        info.n_ratings,
    )
    assert ratings.scale == info.scale
    assert (ratings.timestamp is None) == ("no timestamps" in info.cannot_test)
    assert (ratings.merged_below is None) == ("merged stars" not in info.cannot_test)
    assert ratings.merged_below == info.merged_below
    kept = info.merged_below or info.scale.minimum
    n_occur = len(np.unique(ratings.value[ratings.value >= kept]))
    assert n_occur == round((info.scale.maximum - kept) / info.scale.step) + 1
    assert ratings.feedback == "explicit"


@pytest.mark.data
def test_movielens_1m_has_the_published_folds() -> None:
    dataset = load_dataset("ml-1m")
    assert dataset.title == "MovieLens 1M (stars 1-3 merged)"
    assert dataset.ready_folds is not None
    assert np.bincount(dataset.ready_folds).tolist() == [199684, 200700, 200065, 200248, 199512]
    # Of the publisher's 56,174 ones, 107,557 twos and 261,197 threes.
    assert (dataset.ratings.value == 2.48).sum() == 56_174 + 107_557 + 261_197
    assert (dataset.ratings.value < 4).sum() == 56_174 + 107_557 + 261_197


@pytest.mark.data
def test_a_uniform_test_of_movielens_1m_has_the_published_size() -> None:
    counts = load_dataset("ml-1m").ratings.item_counts()
    plan = splits.uniform_plan(counts, 0.2)
    # 118 is printed, more than .8 * 147.
    assert (len(plan.items), plan.n_each, plan.least_count) == (1703, 117, 147)
    assert round(float(plan.largest_share), 3) == 0.261
    smaller = splits.uniform_plan(counts, 0.1)
    assert (len(smaller.items), smaller.n_each) == (2514, 40)


@pytest.mark.data
def test_movielens_100k_against_its_readme() -> None:
    ratings = load_dataset("ml-100k").ratings
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (943, 1682, 100_000)
    assert ratings.user_counts().min() == 20
    # The first line of u.data.
    row = (ratings.user_ids[ratings.user] == 196) & (ratings.item_ids[ratings.item] == 242)
    assert ratings.value[row].tolist() == [3]
    assert ratings.timestamp is not None
    assert ratings.timestamp[row].tolist() == [881250949]


# ---------------------------------------------------------------------------- the registry


def test_the_registry_is_complete() -> None:
    entries = registry()
    assert list(entries) == [
        *("ml-1m", "ml-1m-stars", "ml-1m-folds", "ml-100k", "ml-latest-small", "filmtrust"),
        *("cm100k", "coat", "lastfm-1k", "netflix", "yahoo-r3", "kuairec", "synthetic"),
    ]
    never_here = {"lastfm-1k", "netflix", "yahoo-r3", "kuairec"}
    for name, info in entries.items():
        assert info.title
        assert info.licence
        assert info.use
        assert info.citation
        assert (name in never_here) == (not (info.content_hash or info.merged_content_hash))
        assert set(info.cannot_test) <= {*NOT_TESTABLE, "real people"}
        checksums = [info.checksum, *(part["checksum"] for part in info.parts.values())]
        for checksum in filter(None, checksums):
            kind, _, digits = checksum.partition(":")
            assert len(digits) == {"sha256": 64, "md5": 32}[kind]
        assert info.by_hand or not info.files or any(checksums)


def test_the_folds_are_the_data_set_that_the_book_uses() -> None:
    assert dataset_info("ml-1m-folds").content_hash == dataset_info("ml-1m").content_hash
    assert dataset_info("ml-1m-folds").files == dataset_info("ml-1m").files[:1]


def test_merged_and_raw_stars_have_one_hash() -> None:
    assert dataset_info("ml-1m-stars").merged_content_hash == dataset_info("ml-1m").content_hash


def test_synthetic_is_the_same_everywhere() -> None:
    dataset = load_dataset("synthetic")
    assert dataset.ratings.content_hash == dataset.info.content_hash
    assert len(dataset.ratings) == dataset.info.n_ratings
    assert dataset.ready_folds is None
    assert dataset.source == "made here with seed 1"
    assert (dataset.name, dataset.title) == ("synthetic", "Synthetic world")


def test_an_unknown_name_has_a_nearest_one() -> None:
    with pytest.raises(ConfigError, match="unknown dataset 'ml1m': did you mean 'ml-1m'"):
        load_dataset("ml1m")


def test_absent_files_come_with_the_way_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(MissingData) as caught:
        load_dataset("ml-100k", data_dir=tmp_path)
    message = str(caught.value)
    for part in (str(tmp_path), "recbias data fetch ml-100k", "RECBIAS_DATA", "--data-dir"):
        assert part in message
    assert len(message.splitlines()) == 3


def test_files_are_taken_from_one_folder_and_folds_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = dataset_info("ml-1m")
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setattr(places, "data_dirs", lambda extra=None: [first, second])
    fake_1m(second)
    assert list(find_files(info)) == fold_files(second)
    write(first / "ml-1m/mena2020_folds/fold1/test012.txt", "1\t1\t0\n")
    assert list(find_files(info)) == fold_files(second)
    write(first / "ml-1m/ratings.dat", "1::1::5::0\n")
    assert list(find_files(info)) == [first / "ml-1m/ratings.dat"]


def test_other_content_under_a_known_name_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "ml-100k/u.data", "1\t1\t5\t0\n1\t2\t4\t0\n")
    with pytest.raises(DataError) as caught:
        load_dataset("ml-100k", data_dir=tmp_path)
    message = str(caught.value)
    for part in ("expected f2554376", str(tmp_path), "ml-100k.zip"):
        assert part in message


def test_a_data_set_is_read_once_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "_compare", lambda *_: None)  # no file of a few lines is ml-100k
    path = tmp_path / "ml-100k/u.data"
    write(path, "1\t1\t5\t0\n1\t2\t4\t0\n")
    first = load_dataset("ml-100k", data_dir=tmp_path).ratings
    assert load_dataset("ml-100k", data_dir=tmp_path).ratings is first
    for at, stars in enumerate("321"):  # the files are of one size
        write(path, f"1\t1\t{stars}\t0\n1\t2\t4\t0\n")
        os.utime(path, ns=(0, at))
        changed = load_dataset("ml-100k", data_dir=tmp_path).ratings
        assert changed.value.tolist() == [int(stars), 4]


@pytest.mark.parametrize("name", ["ml-1m", "ml-1m-stars"])
def test_every_way_to_movielens_1m_is_checked(name: str, tmp_path: Path) -> None:
    write(tmp_path / "ml-1m/ratings.dat", "1::1::5::0\n1::2::4::0\n")
    with pytest.raises(DataError, match="expected c2c50e3d"):
        load_dataset(name, data_dir=tmp_path)


def test_options_for_tables_do_not_go_with_a_name() -> None:
    with pytest.raises(ConfigError, match="scale is for own tables"):
        load_dataset("synthetic", scale=STARS)


# ---------------------------------------------------------------------------- any table

ROWS = [("1", "10", 4.0, 5), ("1", "9", 1.0, 6), ("2", "10", 5.0, 7)]


def expected() -> Ratings:
    frame = pd.DataFrame(ROWS, columns=["user_id", "item_id", "rating", "timestamp"])
    return Ratings.from_frame(frame)


def text(separator: str, header: str = "", end: str = "\n", width: int = 4) -> str:
    lines = [separator.join(map(str, row[:width])) for row in ROWS]
    return end.join(([header.replace(",", separator)] if header else []) + lines) + end


@pytest.mark.parametrize(
    "content",
    [
        text(",", "userId,movieId,rating,timestamp"),
        text("\t", "user_id,item_id,rating,timestamp", end="\r\n"),
        text(";", "UID,Item_ID,Stars,time"),
        text("|"),
        text("::"),
        text("\t"),
        text(" "),
        "\ufeff" + text(",", "user,item,value,timestamp"),
        text(",", '"user","item","rating","timestamp"') + "\n\n",
    ],
)
def test_separators_headers_and_names_are_found(content: str, tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path / "mine.csv", content))
    ratings = dataset.ratings
    assert ratings.content_hash == expected().content_hash
    assert ratings.timestamp is not None
    assert ratings.timestamp.tolist() == [6, 5, 7]
    assert (dataset.title, ratings.name) == ("mine.csv", "mine")


def test_what_was_understood_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", text(",", "userId,movieId,rating,timestamp"))
    assert load_dataset(path).source == (
        f"{path}: text separated by ',', with a header; user 'userId', item 'movieId', "
        "rating 'rating', timestamp 'timestamp'; ratings 1 to 5 in steps of 1 (inferred); "
        "each pair once"
    )
    path = write(tmp_path / "pairs.tsv", text("\t", width=2))
    assert load_dataset(path, scale=None).source == (
        f"{path}: text separated by 'tab', without a header; user 'user', item 'item'; "
        "implicit feedback: there is no rating column; each pair once"
    )


def test_a_declared_scale_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", text(","))
    dataset = load_dataset(path, scale=RatingScale(0.5, 5, 0.5))
    assert dataset.info.scale == dataset.ratings.scale == RatingScale(0.5, 5, 0.5)
    assert "ratings 0.5 to 5 in steps of 0.5 (declared)" in dataset.understood


def test_columns_may_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", text(",", "who,what,liked,at"))
    dataset = load_dataset(path, user="who", item="what", rating="liked")
    assert dataset.ratings.content_hash == expected().content_hash
    assert dataset.ratings.timestamp is None
    assert list(dataset.info.cannot_test) == ["no unbiased part", "no timestamps"]


def test_a_named_column_wins_over_a_usual_name(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "user,item,rating,stars\n1,1,1,4\n1,2,2,5\n")
    assert load_dataset(path, rating="stars").ratings.value.tolist() == [4, 5]


def test_other_columns_do_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", 'title,user,item,rating\n"a, b",1,1,4\nc,1,2,5\n')
    assert load_dataset(path).ratings.value.tolist() == [4, 5]


def test_pairs_alone_are_implicit_feedback(tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path / "mine.csv", "user,item\n1,1\n1,2\n"))
    assert dataset.ratings.feedback == "implicit"
    assert set(dataset.info.cannot_test) == {"no unbiased part", "no timestamps", "no negatives"}


@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_parquet_is_the_same_as_text(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine{suffix}"
    frame = pd.DataFrame(ROWS, columns=["userId", "itemId", "rating", "timestamp"])
    frame.astype({"userId": "category", "rating": "float32"}).to_parquet(path)
    dataset = load_dataset(str(path))
    assert dataset.ratings.content_hash == expected().content_hash
    assert dataset.source.startswith(f"{path}: Parquet; user 'userId'")


def test_duplicates_rule_is_passed_on(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "user,item,rating\n1,1,1\n1,2,2\n1,1,4\n")
    with pytest.raises(DataError, match=r"mine.csv:4: user 1 rates item 1 again, .*mine.csv:2"):
        load_dataset(path)
    assert load_dataset(path, duplicates="last").ratings.value.tolist() == [4, 2]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"", ["no ratings in", "mine.csv"]),
        (b"\n", ["no ratings in"]),
        (b"user,item,rating\n", ["no ratings in"]),
        (b"user,item,rating\n1,1,5\n1,2\n", ["mine.csv:3", "2 fields, expected 3", "'1,2'"]),
        (b"user,item,rating\n1,1,5\n\n1,2,5\n", ["mine.csv:3", "user id is missing"]),
        (b"1,1,5\n1,2,5,7\n", ["mine.csv:2", "4 fields, expected 3"]),
        (b"user,item,rating\n1,1,5\n1,2,x\n", ["mine.csv:3", "'rating'", "'x'"]),
        (b"1\t1\t5\n1\t2\tx\n", ["mine.csv:2", "'rating'", "'x'"]),
        (b"user,item,rating\n1,1,\n1,2,3\n", ["mine.csv:2", "'rating'", "''"]),
        (b"user,item,rating\n1,1,5\n01,2,4\n", ["mine.csv:3", "'1'", "'01'"]),
        (b"who,item,rating\n1,1,5\n", ["no user column", "who, item, rating", "--user NAME"]),
        (b"a;b;c\n1;1;5\n", ["no user column", "a, b, c", "'a;b;c'"]),
        (b"nothing\n1\n", ["mine.csv:1", "no separator", "'nothing'"]),
        (b"1,2,3,4,5\n", ["mine.csv:1", "no header", "'1,2,3,4,5'"]),
        (b"user,item,rating\n1,\xff,5\n", ["mine.csv", "UTF-8"]),
    ],
)
def test_bad_tables_are_named(content: bytes, parts: list[str], tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", content)
    with pytest.raises(DataError) as caught:
        load_dataset(path)
    message = str(caught.value)
    assert [part for part in parts if part not in message] == []
    assert len(message.splitlines()) <= 3


def test_a_named_column_that_is_not_there(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", text(",", "user,item,rating,timestamp"))
    with pytest.raises(
        DataError, match=r"no column 'book' for the item\ncolumns found: user, item"
    ):
        load_dataset(path, item="book")
    with pytest.raises(DataError, match="no header"):
        load_dataset(write(path, text(",")), item="book")


def test_a_missing_file_and_a_false_parquet(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"no file .*none\.csv"):
        load_dataset(tmp_path / "none.csv")
    with pytest.raises(MissingData, match="no file"):
        load_dataset("some/where")
    with pytest.raises(DataError, match="not a Parquet file"):
        load_dataset(write(tmp_path / "mine.parquet", b"user,item\n1,1\n"))
