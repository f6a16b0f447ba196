"""Loaders of the publishers' formats, on small files in these formats and on the real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recbias.data.datasets import (
    Dataset,
    cm100k,
    coat,
    filmtrust,
    kuairec,
    lastfm,
    load_dataset,
    netflix,
    yahoo,
)
from recbias.data.datasets.registry import dataset_info, find_files, state
from recbias.data.ratings import Ratings
from recbias.errors import DataError, MissingData
from recbias.protocol.testset import TestSet, dataset_splits


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def rows(ratings: Ratings) -> list[tuple[str, str, float]]:
    users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
    return [
        (str(user), str(item), value)
        for user, item, value in zip(users, items, ratings.value.tolist(), strict=True)
    ]


# ---------------------------------------------------------------------------- FilmTrust


def test_filmtrust_keeps_the_last_row_of_a_pair_and_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "ratings.txt", "1 1 2\n308 235 4\n1 2 0.5\n308 235 1.5\n")
    content = filmtrust.read([path])
    assert rows(content.ratings) == [("1", "1", 2), ("1", "2", 0.5), ("308", "235", 1.5)]
    assert content.notes == ("1 pairs are rated twice: the last row is kept",)


def test_filmtrust_names_a_bad_line(tmp_path: Path) -> None:
    path = write(tmp_path / "ratings.txt", "1 1 2\n1 2 4.5\n")
    with pytest.raises(DataError, match=r"ratings.txt:2: rating 4.5 is not on the declared scale"):
        filmtrust.read([path])


# ---------------------------------------------------------------------------- CM100k

CM = "7\t30\t4\t1\n7\t31\t1\t0\n9\t31\t2\t1\n8\t30\t3\t0\n"


def test_cm100k_takes_what_users_knew_and_keeps_all_as_the_unbiased_part(tmp_path: Path) -> None:
    content = cm100k.read([write(tmp_path / "ratings.txt", CM)])
    # By profile: user 8 (30, 3, unknown), then 7 (30, 4, known), then 9.
    assert rows(content.ratings) == [("2", "30", 4), ("3", "31", 2)]
    assert content.unbiased is not None
    assert len(content.unbiased) == 4
    assert content.unbiased.user_ids.tolist() == content.ratings.user_ids.tolist() == [1, 2, 3]
    assert content.unbiased.n_items == content.ratings.n_items == 2


def test_cm100k_is_the_same_whatever_its_user_ids_and_order(tmp_path: Path) -> None:
    other = "".join(
        f"{ {'7': 'x', '8': 'z', '9': 'y'}[line[0]] }{line[1:]}\n"
        for line in reversed(CM.splitlines())
    )
    one = cm100k.read([write(tmp_path / "ratings.txt", CM)])
    two = cm100k.read([write(tmp_path / "data.txt", other)])
    assert one.ratings.content_hash == two.ratings.content_hash


def test_cm100k_refuses_another_flag(tmp_path: Path) -> None:
    path = write(tmp_path / "ratings.txt", "7\t30\t4\t1\n7\t31\t1\t2\n")
    with pytest.raises(DataError, match=r"ratings.txt:2: column 'known' has the value '2'"):
        cm100k.read([path])


# ---------------------------------------------------------------------------- Coat


def test_coat_keeps_all_that_was_drawn_and_all_that_was_picked(tmp_path: Path) -> None:
    train = write(tmp_path / "train.ascii", "5 0 0\n0 2 0\n")
    test = write(tmp_path / "test.ascii", "5 0 1\n0 4 3\n")
    content = coat.read([train, test])
    assert rows(content.ratings) == [("1", "1", 5), ("2", "2", 2)]
    assert content.unbiased is not None
    # Each part has what its own file says.
    assert rows(content.unbiased) == [("1", "1", 5), ("1", "3", 1), ("2", "2", 4), ("2", "3", 3)]
    assert "4 ratings, 2 of them of cells that are in both files" in content.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5 0 0\n0 7 0\n", r"train.ascii:2: column 2 has the value '7', expected 0 to 5"),
        ("5 0 0\n0 2\n", r"train.ascii:2: 2 fields, expected 3"),
        ("5 0\n0 2\n", "expected matrices of one shape"),
    ],
)
def test_coat_refuses_what_is_no_such_matrix(text: str, message: str, tmp_path: Path) -> None:
    train = write(tmp_path / "train.ascii", text)
    test = write(tmp_path / "test.ascii", "5 0 1\n0 0 3\n")
    with pytest.raises(DataError, match=message):
        coat.read([train, test])


# ---------------------------------------------------------------------------- Last.fm 1K

PLAYS = """\
user_000001\t2009-05-04T23:08:57Z\tmb-1\tDeep "Dish\tt1\tFuck Me Im Famous
user_000001\t2009-05-04T13:54:10Z\t\tNo Id\t\tOne
user_000001\t2009-05-03T00:00:00Z\tmb-1\tDeep "Dish\tt2\t"Two
user_000002\t1970-01-01T00:00:05Z\tmb-1\tDeep "Dish\t\tThree
"""


def test_lastfm_counts_plays_by_artist(tmp_path: Path) -> None:
    content = lastfm.read([write(tmp_path / "plays.tsv", PLAYS)])
    assert rows(content.ratings) == [
        ("user_000001", "No Id", 1),
        ("user_000001", "mb-1", 2),
        ("user_000002", "mb-1", 1),
    ]
    assert content.ratings.timestamp is not None
    first = np.datetime64("2009-05-03T00:00:00").astype("datetime64[s]").astype(int)
    assert content.ratings.timestamp.tolist()[1:] == [first, 5]
    assert content.notes[0].startswith("4 plays counted by artist")


def test_lastfm_is_the_same_however_the_log_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    lines = [
        f"user_{rng.integers(9)}\t2009-05-04T23:08:{rng.integers(60):02}Z\tm{rng.integers(9)}\tn\t\tt\n"
        for _ in range(3000)
    ]
    path = write(tmp_path / "plays.tsv", "".join(lines))
    whole = lastfm.read([path]).ratings
    monkeypatch.setattr(lastfm, "_PENDING", 50)
    monkeypatch.setattr("recbias.data.datasets.tables._BLOCK", 1000)
    parts = lastfm.read([path]).ratings
    assert parts.content_hash == whole.content_hash
    assert (parts.timestamp == whole.timestamp).all()
    assert whole.value.sum() == 3000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("u\t2009-05-04T23:08:57Z\t\t\t\tx\n", "plays.tsv:5: neither id nor name"),
        ("u\tnoon\tmb\tx\t\tx\n", "plays.tsv:5: column 'time' has the value 'noon'"),
        ("u\t2009-05-04T23:08:57Z\tmb\tx\n", "plays.tsv:5: 4 fields, expected 6"),
    ],
)
def test_lastfm_names_a_bad_line(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        lastfm.read([write(tmp_path / "plays.tsv", PLAYS + line)])


# ---------------------------------------------------------------------------- Netflix

FILMS = "8:\n30,5,2005-09-06\n7,1,2005-01-01\n"


def test_netflix_has_two_forms_with_one_content(tmp_path: Path) -> None:
    parts = [
        write(tmp_path / "mv_0000008.txt", FILMS),
        write(tmp_path / "mv_0000009.txt", "9:\r\n7,3,1970-01-02\r\n"),
    ]
    combined = write(tmp_path / "combined_data_1.txt", FILMS + "9:\n7,3,1970-01-02\n")
    ratings = netflix.read(parts).ratings
    assert rows(ratings) == [("7", "8", 1), ("7", "9", 3), ("30", "8", 5)]
    assert ratings.timestamp is not None
    assert ratings.timestamp.tolist()[1] == 86_400
    assert netflix.read([combined]).ratings.content_hash == ratings.content_hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7,1,2005-01-01\n", "mv.txt:1: '7,1,2005-01-01'"),
        ("8:\n7,6,2005-01-01\n", "mv.txt:2: '7,6,2005-01-01'"),
        ("8:\n7,1,2005-13-01\n", "mv.txt:2: there is no day 2005-13-01"),
        ("8:\n7;1\n", "expected 'FILM:', then lines 'CUSTOMER,STARS,YYYY-MM-DD'"),
        ("8:\n", "no ratings"),
    ],
)
def test_netflix_names_a_bad_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        netflix.read([write(tmp_path / "mv.txt", text)])


# ---------------------------------------------------------------------------- Yahoo! R3


def test_yahoo_keeps_all_that_was_drawn_and_all_that_was_chosen(tmp_path: Path) -> None:
    train = write(tmp_path / "train.txt", "1\t14\t5\n2\t15\t1\n10\t2\t4\n")
    test = write(tmp_path / "test.txt", "1\t14\t3\n1\t16\t2\n2\t15\t1\n")
    content = yahoo.read([train, test])
    assert rows(content.ratings) == [("1", "14", 5), ("2", "15", 1), ("10", "2", 4)]
    assert content.unbiased is not None
    # Each part has what its own file says.
    assert rows(content.unbiased) == [("1", "14", 3), ("1", "16", 2), ("2", "15", 1)]
    assert content.ratings.n_items == content.unbiased.n_items == 4
    assert content.ratings.n_users == content.unbiased.n_users == 3
    assert "3 ratings, 2 of them of pairs that are in both files" in content.notes[0]


def test_a_split_by_the_survey_trains_on_no_pair_of_its_test(tmp_path: Path) -> None:
    """In the documented format, tab-separated, as for Coat: what is tested leaves training."""
    lines = {(user, song): (user + song) % 5 + 1 for user in range(1, 9) for song in range(1, 7)}
    chosen = {pair: value for pair, value in lines.items() if sum(pair) % 3}
    drawn = {pair: 6 - value for pair, value in lines.items() if pair[1] % 2}
    files = [
        write(
            tmp_path / f"ydata-ymusic-rating-study-v1_0-{name}.txt",
            "".join(f"{user}\t{song}\t{value}\n" for (user, song), value in part.items()),
        )
        for name, part in (("train", chosen), ("test", drawn))
    ]
    content = yahoo.read(files)
    assert content.unbiased is not None
    info = dataset_info("yahoo-r3")
    dataset = Dataset(content.ratings, info, str(tmp_path), unbiased=content.unbiased)
    folds = dataset_splits(dataset, "k-fold 4", seed=1, judgments=TestSet("unbiased"))
    tested = set()
    for fold in folds:
        pairs = {row[:2]: row[2] for row in rows(fold.test)}
        assert not set(pairs) & {row[:2] for row in rows(fold.train)}
        assert all(drawn[int(user), int(song)] == value for (user, song), value in pairs.items())
        tested |= set(pairs)
    assert len(tested) == len(drawn)


def test_yahoo_names_file_and_line(tmp_path: Path) -> None:
    train = write(tmp_path / "train.txt", "1\t14\t5\n")
    test = write(tmp_path / "test.txt", "1\t16\t2\n1\t16\t3\n")
    with pytest.raises(DataError, match=r"test.txt:2: user 1 rates item 16 again"):
        yahoo.read([train, test])


# ---------------------------------------------------------------------------- KuaiRec

KUAI = "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio\n"


def test_kuairec_reads_watch_ratios_and_the_observed_matrix(tmp_path: Path) -> None:
    big = KUAI + "".join(
        f"{user},{video},1,2,t,20200705,{when},{ratio}\n"
        for user, video, when, ratio in (
            (0, 5, 1593878903.438, 1.25),
            (0, 7, 1593878904.9, 0.0),
            (0, 5, 1593878999.0, 3.5),
        )
    )
    small = KUAI + "14,7,1,2,,,,0.5\n"
    files = [write(tmp_path / "big_matrix.csv", big), write(tmp_path / "small_matrix.csv", small)]
    content = kuairec.read(files)
    assert rows(content.ratings) == [("0", "5", 3.5), ("0", "7", 0.0)]
    assert content.ratings.timestamp is not None
    assert content.ratings.timestamp.tolist() == [1593878999, 1593878904]
    assert content.unbiased is not None
    assert rows(content.unbiased) == [("14", "7", 0.5)]
    assert content.unbiased.timestamp is None
    assert content.unbiased.user_ids.tolist() == content.ratings.user_ids.tolist() == [0, 14]
    assert content.notes[0].startswith("value: watch ratio; 1 rows of a pair")


def test_kuairec_names_columns_and_lines(tmp_path: Path) -> None:
    good = write(tmp_path / "big.csv", KUAI + "0,5,1,2,t,d,1.5,1\n")
    with pytest.raises(DataError, match="no column 'watch_ratio', 'timestamp'"):
        kuairec.read([good, write(tmp_path / "small.csv", "user_id,video_id\n1,2\n")])
    with pytest.raises(DataError, match=r"small.csv:3: column 'watch_ratio' has the value 'x'"):
        kuairec.read([good, write(tmp_path / "small.csv", KUAI + "0,5,1,2,,,,1\n0,6,1,2,,,,x\n")])


# ---------------------------------------------------------------------------- where files are


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Search no folder but the one that is given."""
    monkeypatch.delenv("RECBIAS_DATA", raising=False)
    monkeypatch.setattr("recbias._system.places.clone_root", lambda: None)
    return tmp_path


def test_a_data_set_is_present_partial_or_absent(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path(__file__).parents[2] / "data/registry.yaml"
    monkeypatch.setattr("recbias._system.places.packaged", lambda name: real)
    assert state(dataset_info("coat"), empty) == "fetchable"
    write(empty / "coat/train.ascii", "1 0\n")
    assert state(dataset_info("coat"), empty) == "partial"
    write(empty / "coat/test.ascii", "0 1\n")
    assert state(dataset_info("coat"), empty) == "present"
    assert state(dataset_info("netflix"), empty) == "by hand"
    write(empty / "netflix/training_set/mv_0000008.txt", FILMS)
    assert state(dataset_info("netflix"), empty) == "present"
    assert state(dataset_info("synthetic"), empty) == "made here"


@pytest.mark.parametrize("name", ["netflix", "yahoo-r3", "kuairec"])
def test_who_has_to_place_files_is_told_how(
    name: str, empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path(__file__).parents[2] / "data/registry.yaml"
    monkeypatch.setattr("recbias._system.places.packaged", lambda name: real)
    info = dataset_info(name)
    with pytest.raises(MissingData) as caught:
        find_files(info, empty)
    message = str(caught.value)
    assert len(message.splitlines()) == 3
    for part in (str(empty), str(info.by_hand), "RECBIAS_DATA", "--data-dir"):
        assert part in message


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "unbiased", "said"),
    [
        ("filmtrust", None, "3 pairs are rated twice: the last row is kept"),
        ("cm100k", 103_584, "the 11,594 ratings of tracks known before"),
        ("coat", 4_640, "366 of them of cells that are in both files"),
    ],
)
def test_real_files_are_as_described(name: str, unbiased: int | None, said: str) -> None:
    dataset = load_dataset(name)
    assert said in dataset.source
    assert (dataset.unbiased is None) == (unbiased is None)
    if dataset.unbiased is not None:
        assert len(dataset.unbiased) == unbiased
