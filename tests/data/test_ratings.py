from __future__ import annotations

import dataclasses
from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import ConfigError, DataError

STARS = RatingScale(1, 5, 1)

rows = st.lists(
    st.tuples(st.integers(0, 12), st.integers(-3, 12), st.integers(1, 5), st.integers(0, 99)),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:2],
)


def table(found: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(found, columns=["user_id", "item_id", "rating", "timestamp"])


def read(frame: pd.DataFrame, **options: Any) -> Ratings:
    return Ratings.from_frame(frame, **({"timestamp": "timestamp", "scale": STARS} | options))


def one_column(column: str, values: list[Any]) -> pd.DataFrame:
    """A good table but for one column."""
    size = len(values)
    good = {"user_id": range(size), "item_id": range(size), "rating": [1, 2] * size}
    return pd.DataFrame(
        {name: list(values)[:size] for name, values in good.items()} | {column: values}
    )


# ---------------------------------------------------------------------------- canonical form


@given(rows, st.randoms(use_true_random=False))
def test_the_table_comes_back_sorted_whatever_its_order(found: list[Any], random: Any) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    ratings = read(table(shuffled))
    back = list(
        zip(
            ratings.user_ids[ratings.user].tolist(),
            ratings.item_ids[ratings.item].tolist(),
            ratings.value.tolist(),
            ratings.timestamp.tolist() if ratings.timestamp is not None else [],
            strict=True,
        )
    )
    assert back == sorted(found)
    assert ratings.content_hash == read(table(found)).content_hash


@given(rows)
def test_pointers_counts_and_matrix_say_the_same(found: list[Any]) -> None:
    ratings = read(table(found))
    users, items = sorted({row[0] for row in found}), sorted({row[1] for row in found})
    dense = np.zeros((len(users), len(items)))
    for user, item, value, _ in found:
        dense[users.index(user), items.index(item)] = value
    assert (ratings.matrix().toarray() == dense).all()
    assert ratings.user_counts().tolist() == (dense > 0).sum(1).tolist()
    assert ratings.item_counts().tolist() == (dense > 0).sum(0).tolist()
    assert np.diff(ratings.indptr).tolist() == ratings.user_counts().tolist()
    assert ratings.density == len(found) / dense.size
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (*dense.shape, len(found))


def test_labels_sort_as_numbers_only_when_all_are_numbers() -> None:
    numbers = read(table([(10, "10", 1, 0), (9, "9", 2, 0)]))
    assert numbers.user_ids.tolist() == numbers.item_ids.tolist() == [9, 10]
    mixed = read(table([(10, "10", 1, 0), (9, "b", 2, 0), (9, "9", 2, 0)]))
    assert mixed.item_ids.tolist() == ["10", "9", "b"]
    padded = read(table([(10, "010", 1, 0), (9, "009", 2, 0)]))
    assert padded.item_ids.tolist() == ["009", "010"]


@pytest.mark.parametrize(
    "changed",
    [
        lambda f: f.astype({"user_id": "int8", "item_id": "uint64", "rating": "float32"}),
        lambda f: f.astype({"user_id": str, "item_id": "category", "rating": str}),
        lambda f: f.astype({"user_id": "float64", "item_id": object, "timestamp": "Int64"}),
        lambda f: f.astype({"user_id": "float32", "item_id": "Int64", "rating": "Float32"}),
        lambda f: f.assign(item_id=[f" {label} " for label in f["item_id"]]),
        lambda f: f.iloc[::-1],
        lambda f: f.assign(timestamp=0),
    ],
)
def test_the_hash_ignores_types_order_and_times(changed: Any) -> None:
    frame = table([(1, 30, 5, 3), (1, 4, 2, 1), (20, 4, 5, 2)])
    assert read(changed(frame)).content_hash == read(frame).content_hash


@pytest.mark.parametrize(
    "other",
    [
        [(1, 30, 5, 3), (1, 4, 2, 1), (20, 4, 4, 2)],
        [(1, 30, 5, 3), (1, 4, 2, 1), (20, 30, 5, 2)],
        [(1, 30, 5, 3), (1, 4, 2, 1), (21, 4, 5, 2)],
        [(1, 31, 5, 3), (1, 4, 2, 1), (20, 4, 5, 2)],
    ],
)
def test_the_hash_tells_other_content(other: list[Any]) -> None:
    frame = table([(1, 30, 5, 3), (1, 4, 2, 1), (20, 4, 5, 2)])
    assert read(table(other)).content_hash != read(frame).content_hash


def test_the_hash_covers_scale_and_merge_but_not_the_name() -> None:
    frame = table([(1, 1, 5, 0), (1, 2, 2, 0)])
    plain = read(frame)
    assert read(frame, name="other").content_hash == plain.content_hash
    assert read(frame, scale=RatingScale(1, 5, 0.5)).content_hash != plain.content_hash
    assert plain.merge_below(2, 1).content_hash != plain.content_hash


def test_the_hash_is_the_documented_one() -> None:
    import hashlib

    ratings = read(table([(7, "x", 4, 0)]))
    header = (
        '{"item_ids": ["x"], "merged_below": null, "scale": [1.0, 5.0, 1.0], "user_ids": ["7"]}'
    )
    four = b"\0\0\0\0\0\0\x10\x40"
    assert ratings.content_hash == hashlib.sha256(header.encode() + bytes(8) + four).hexdigest()


# ---------------------------------------------------------------------------- immutable


def test_nothing_can_be_changed() -> None:
    ratings = read(table([(1, 1, 5, 0), (1, 2, 2, 0)]))
    for name in ("user", "item", "value", "timestamp", "user_ids", "item_ids", "indptr"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(ratings, name)[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        ratings.name = "x"  # type: ignore[misc]


def test_the_matrix_is_a_copy() -> None:
    ratings = read(table([(1, 1, 5, 0), (1, 2, 2, 0)]))
    ratings.matrix().data[:] = 0
    assert ratings.value.tolist() == [5, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": np.ones(1)}, "different lengths"),
        ({"timestamp": np.ones(3, dtype=np.int64)}, "different lengths"),
        ({"item": np.array([0, 2], dtype=np.int32)}, "outside its vocabulary"),
        ({"user": np.array([-1, 0], dtype=np.int32)}, "outside its vocabulary"),
        ({"item": np.array([1, 0], dtype=np.int32)}, "ascending"),
        ({"item": np.array([1, 1], dtype=np.int32)}, "ascending"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 2**24])
def test_the_constructor_refuses_what_is_not_canonical(
    change: Any, message: str, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = read(table([(1, 1, 5, 0), (1, 2, 2, 0)]))
    monkeypatch.setattr("recbias._system.memory.BLOCK_BYTES", block_bytes)
    with pytest.raises(DataError, match=message):
        dataclasses.replace(ratings, **change)


# ---------------------------------------------------------------------------- take and merge


def test_take_keeps_vocabularies_and_order() -> None:
    ratings = read(table([(1, 1, 5, 7), (1, 2, 2, 8), (2, 1, 3, 9)]))
    part = ratings.take(np.array([2, 0]))
    assert part.value.tolist() == [5, 3]
    assert part.timestamp is not None
    assert part.timestamp.tolist() == [7, 9]
    assert (part.n_users, part.n_items) == (2, 2)
    assert ratings.take(np.array([False, True, False])).item_counts().tolist() == [0, 1]
    with pytest.raises(DataError, match="ascending"):
        ratings.take(np.array([1, 1]))


def test_merging_keeps_scale_and_the_highest_threshold() -> None:
    merged = read(table([(1, item, item, 0) for item in range(1, 6)])).merge_below(4, 2.48)
    assert merged.value.tolist() == [2.48, 2.48, 2.48, 4, 5]
    assert (merged.merged_below, merged.scale) == (4, STARS)
    assert merged.merge_below(3, 1).merged_below == 4
    with pytest.raises(ConfigError, match="less than the threshold"):
        merged.merge_below(4, 4)


# ---------------------------------------------------------------------------- scale and feedback


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([1, 2, 5], RatingScale(1, 5, 1)),
        ([0.5, 4, 3.5], RatingScale(0.5, 4, 0.5)),
        ([1, 3, 5], RatingScale(1, 5, 2)),
        ([0, 1, 3.5], RatingScale(0, 3.5, 0)),
        ([0.1, 0.2, 0.4], RatingScale(0.1, 0.4, 0.1)),
        ([0.2, 0.3, 0.9], RatingScale(0.2, 0.9, 0.1)),  # not 0.3 - 0.2, which is less
    ],
)
def test_a_scale_not_declared_is_inferred(values: list[float], scale: RatingScale) -> None:
    assert read(one_column("rating", values), scale=None, timestamp=None).scale == scale


@pytest.mark.parametrize(
    "ends", [(2, 1, 1), (1, 5, -1), (float("nan"), 5, 1), (1, float("inf"), 0)]
)
def test_an_impossible_scale_is_refused(ends: tuple[float, float, float]) -> None:
    with pytest.raises(ConfigError, match="rating scale"):
        RatingScale(*ends)


def test_equal_ratings_or_none_are_implicit_feedback() -> None:
    frame = pd.DataFrame({"user_id": [1, 2], "item_id": [1, 1], "rating": [7, 7]})
    for ratings in (Ratings.from_frame(frame), Ratings.from_frame(frame, rating=None)):
        assert ratings.feedback == "implicit"
        assert ratings.value.tolist() == [1, 1]
        assert ratings.scale == RatingScale(1, 1, 0)
    declared = Ratings.from_frame(frame, scale=RatingScale(1, 7, 1))
    assert (declared.feedback, declared.value.tolist()) == ("explicit", [7, 7])


# ---------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("frame", "parts"),
    [
        (one_column("rating", [1, "x", 3]), ["r.csv:11", "'rating'", "'x'"]),
        (one_column("rating", [1, 3, float("nan")]), ["r.csv:12", "'rating'", "'nan'"]),
        (one_column("rating", [float("inf"), 1]), ["r.csv:10", "'inf'"]),
        (one_column("rating", ["1", "", "2"]), ["r.csv:11", "''"]),
        (one_column("rating", [1, 2, 6]), ["r.csv:12", "rating 6", "1 to 5", "--rating-scale"]),
        (one_column("rating", [1, 0, 6]), ["r.csv:11", "rating 0", "1 to 5"]),
        (one_column("rating", [1, 2.5]), ["r.csv:11", "rating 2.5", "steps of 1"]),
        (one_column("user_id", ["1", "01"]), ["r.csv:11", "'1'", "'01'", "one user"]),
        (one_column("item_id", ["a", "b", "a "]), ["r.csv:12", "'a'", "'a '", "one item"]),
        (one_column("item_id", [3, "b", "3"]), ["r.csv:12", "3 and '3'", "one item"]),
        (one_column("user_id", ["1", None]), ["r.csv:11", "user id is missing"]),
        (one_column("item_id", ["1", " "]), ["r.csv:11", "item id is missing"]),
        (one_column("user_id", [1.0, float("nan")]), ["r.csv:11", "user id is missing"]),
        (one_column("timestamp", [5, 5.5]), ["r.csv:11", "'timestamp'", "'5.5'"]),
        (one_column("timestamp", [5, "x"]), ["r.csv:11", "'timestamp'", "'x'"]),
        (table([]), ["no ratings in r.csv"]),
    ],
)
def test_bad_rows_are_named_by_file_and_line(frame: pd.DataFrame, parts: list[str]) -> None:
    times = "timestamp" if "timestamp" in frame else None
    with pytest.raises(DataError) as caught:
        read(frame, timestamp=times, source="r.csv", first_line=10)
    message = str(caught.value)
    assert len(message.splitlines()) <= 3
    assert [part for part in parts if part not in message] == []


def test_a_missing_column_names_found_and_needed() -> None:
    with pytest.raises(DataError) as caught:
        Ratings.from_frame(pd.DataFrame({"user": [1], "item_id": [1]}), source="r.csv")
    message = str(caught.value)
    assert "'user_id', 'rating'" in message
    assert "found: user, item_id; needed: user_id, item_id, rating" in message


def test_without_a_file_the_row_is_named() -> None:
    with pytest.raises(DataError, match="mine, row 1: "):
        read(one_column("rating", [1, "x"]), timestamp=None, name="mine")


# ---------------------------------------------------------------------------- duplicates


@pytest.mark.parametrize("block_bytes", [1, 2**24])
def test_a_pair_rated_twice_is_an_error_with_both_lines(
    block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recbias._system.memory.BLOCK_BYTES", block_bytes)
    frame = table([(8, 9, 1, 0), (5, 6, 1, 0), (1, 2, 3, 0), (8, 9, 2, 0), (5, 6, 1, 0)])
    with pytest.raises(DataError) as caught:
        read(frame, source="r.csv", first_line=1)
    assert "r.csv:4: user 8 rates item 9 again, first in r.csv:1" in str(caught.value)
    assert "--duplicates" in str(caught.value)


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(1, 5), st.integers(0, 9)),
        min_size=1,
    )
)
def test_first_last_and_mean_against_a_dictionary(found: list[Any]) -> None:
    groups: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for user, item, value, time in sorted(found, key=lambda row: row[3]):  # stable: equal times
        groups[user, item].append((value, time))
    first = read(table(found), duplicates="first")
    last = read(table(found), duplicates="last")
    mean = read(table(found), duplicates="mean")
    assert first.timestamp is not None
    assert last.timestamp is not None
    assert mean.timestamp is not None
    keys = sorted(groups)
    assert list(zip(first.value, first.timestamp, strict=True)) == [groups[key][0] for key in keys]
    assert last.value.tolist() == [groups[key][-1][0] for key in keys]
    assert last.timestamp.tolist() == [groups[key][-1][1] for key in keys]
    means = [sum(v for v, _ in groups[key]) / len(groups[key]) for key in keys]
    assert mean.value.tolist() == pytest.approx(means, abs=1e-12)
    assert mean.timestamp.tolist() == [max(t for _, t in groups[key]) for key in keys]


def test_the_mean_does_not_depend_on_the_order_of_lines() -> None:
    frame = pd.DataFrame({"user_id": 1, "item_id": 1, "rating": [0.1, 0.2, 0.3, 1e16, 7]})
    hashes = {
        Ratings.from_frame(
            frame.iloc[np.roll(np.arange(5), shift)],
            duplicates="mean",
            scale=RatingScale(0, 1e16, 0),
        ).content_hash
        for shift in range(5)
    }
    assert len(hashes) == 1


def test_an_unknown_rule_for_duplicates_is_refused() -> None:
    with pytest.raises(ConfigError, match="'newest'"):
        read(table([(1, 1, 1, 0)]), duplicates="newest")
