from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise
from math import ceil, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import ConfigError, DataError, DataWarning
from recbias.protocol import splits
from recbias.protocol.splits import SplitRule

RANDOM_RULES = ["ratio 0.3", "k-fold 4", "leave-out 1", "uniform 0.3"]
TIMED_RULES = ["temporal 0.25", "temporal-at 50", "temporal-user 0.5", "leave-last 2"]
ALL_RULES = [*RANDOM_RULES, *TIMED_RULES, "ready"]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def make(times: list[list[int]] | None = None) -> Ratings:
    """One row of times per user; by default 30 users with 10 ratings each of 40 items."""
    if times is None:
        times = rng(5).integers(100, size=(30, 10)).tolist()
    frame = pd.DataFrame(
        [
            (user, (user * 7 + at * 3) % 40, 1 + at % 5, time)
            for user, row in enumerate(times)
            for at, time in enumerate(row)
        ],
        columns=["user_id", "item_id", "rating", "timestamp"],
    )
    return Ratings.from_frame(frame, timestamp="timestamp", scale=RatingScale(1, 5, 1))


def pairs(ratings: Ratings) -> set[tuple[Any, ...]]:
    return set(
        zip(ratings.user.tolist(), ratings.item.tolist(), ratings.value.tolist(), strict=True)
    )


def times_of(ratings: Ratings) -> list[int]:
    assert ratings.timestamp is not None
    return ratings.timestamp.tolist()


# ---------------------------------------------------------------------------- every rule


@pytest.mark.parametrize("text", ALL_RULES)
def test_train_and_test_are_a_partition_over_the_same_vocabularies(text: str) -> None:
    ratings = make()
    labels = np.arange(len(ratings)) % 3
    for fold, split in enumerate(SplitRule.parse(text).splits(ratings, rng=rng(), ready=labels)):
        assert pairs(split.train) | pairs(split.test) == pairs(ratings)
        assert len(split.train) + len(split.test) == len(ratings)
        assert split.train.user_ids is not None
        for part in (split.train, split.test):
            assert (part.n_users, part.n_items) == (ratings.n_users, ratings.n_items)
        assert split.test_items.tolist() == sorted(set(split.test.item.tolist()))
        assert (split.fold, split.rule) == (fold, text)


@pytest.mark.parametrize("text", RANDOM_RULES)
def test_random_rules_obey_the_seed_and_nothing_else(text: str) -> None:
    ratings = make()
    rule = SplitRule.parse(text)

    def items_in_test(seed: int) -> list[set[tuple[Any, ...]]]:
        return [pairs(split.test) for split in rule.splits(ratings, rng=rng(seed))]

    assert items_in_test(3) == items_in_test(3)
    assert items_in_test(3) != items_in_test(4)


def test_shuffled_lines_give_the_same_split() -> None:
    frame = pd.DataFrame({"user_id": np.repeat(range(20), 9), "item_id": np.tile(range(9), 20)})
    frame["rating"] = frame.index % 5 + 1
    there, back = (Ratings.from_frame(f) for f in (frame, frame.sample(frac=1, random_state=0)))
    for text in RANDOM_RULES:
        rule = SplitRule.parse(text)
        first, second = rule.splits(there, rng=rng()), rule.splits(back, rng=rng())
        assert [pairs(a.test) for a in first] == [pairs(b.test) for b in second]


# ---------------------------------------------------------------------------- random rules


def test_the_coin_has_the_stated_probability() -> None:
    frame = pd.DataFrame(
        {"user_id": np.repeat(range(200), 100), "item_id": np.tile(range(100), 200)}
    )
    ratings = Ratings.from_frame(frame, rating=None)
    share = len(splits.ratio(ratings, 0.2, rng=rng()).test) / len(ratings)
    assert abs(share - 0.2) < 5 * sqrt(0.2 * 0.8 / len(ratings))
    sizes = [len(split.test) for split in splits.k_fold(ratings, 4, rng=rng())]
    assert sum(sizes) == len(ratings)
    assert all(abs(n / len(ratings) - 0.25) < 5 * sqrt(0.1875 / len(ratings)) for n in sizes)


def test_folds_do_not_overlap() -> None:
    ratings = make()
    tests = [pairs(split.test) for split in splits.k_fold(ratings, 5, rng=rng())]
    assert sum(map(len, tests)) == len(set().union(*tests)) == len(ratings)


def test_leave_out_takes_exactly_so_many_of_every_user() -> None:
    ratings = make([[0] * size for size in (3, 7, 12)])
    split = splits.leave_out(ratings, 2, rng=rng())
    assert split.test.user_counts().tolist() == [2, 2, 2]


def test_leave_out_takes_every_rating_alike() -> None:
    ratings = make([[0] * 4 for _ in range(2000)])
    place = np.arange(len(ratings)) % 4
    split = splits.leave_out(ratings, 1, rng=rng())
    in_test = np.isin(ratings._pair_keys(), split.test._pair_keys())
    counts = np.bincount(place[in_test], minlength=4)
    assert (np.abs(counts - 500) < 5 * sqrt(2000 * 0.1875)).all()


def test_leave_out_names_a_user_with_too_few_ratings() -> None:
    with pytest.raises(DataError, match=r"1 user has no more than 2 .* user 1\n.*'ratio 0.2'"):
        splits.leave_out(make([[0] * 4, [0] * 2]), 2, rng=rng())


def test_leave_out_passes_over_users_without_ratings() -> None:
    ratings = make([[0] * 4, [0] * 4])
    one_user = ratings.take(ratings.user == 1)
    assert splits.leave_out(one_user, 1, rng=rng()).test.user_counts().tolist() == [0, 1]


# ---------------------------------------------------------------------------- temporal rules

histories = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=12), min_size=1, max_size=5)


@given(histories, st.sampled_from([0.1, 0.2, 0.25, 0.5, 0.7, 0.9]))
def test_one_cut_for_all(times: list[list[int]], share: float) -> None:
    ratings = make(times)
    ordered = sorted(times_of(ratings))
    cut = ordered[len(ordered) - ceil(round(share * len(ordered), 9))]
    if cut == ordered[0]:
        with pytest.raises(DataError, match="no training rating"):
            splits.temporal(ratings, share)
        return
    split = splits.temporal(ratings, share)
    assert sorted(times_of(split.train)) == [time for time in ordered if time < cut]
    assert sorted(times_of(split.test)) == [time for time in ordered if time >= cut]


@given(histories, st.sampled_from([0.1, 0.2, 0.25, 0.5, 0.7, 0.9]))
def test_a_cut_for_each_user(times: list[list[int]], share: float) -> None:
    ratings = make(times)
    cuts = [sorted(row)[len(row) - ceil(round(share * len(row), 9))] for row in times]
    train = [sorted(t for t in row if t < cut) for row, cut in zip(times, cuts, strict=True)]
    if not any(train):
        with pytest.raises(DataError, match="no training rating"):
            splits.temporal_per_user(ratings, share)
        return
    split = splits.temporal_per_user(ratings, share)
    for user, expected in enumerate(train):
        found = split.train.take(split.train.user == user)
        assert sorted(times_of(found)) == expected


def test_shares_are_exact_decimals() -> None:
    ratings = make(
        [list(range(40)) for _ in range(1)] + [list(range(40, 80)), list(range(80, 100))]
    )
    assert 0.07 * 100 > 7
    assert len(splits.temporal(ratings, 0.07).test) == 7


def test_equal_times_at_the_cut_all_go_to_the_test() -> None:
    split = splits.temporal(make([[1, 2, 2], [2, 2, 3]]), 0.2)
    assert (times_of(split.train), sorted(times_of(split.test))) == ([1], [2, 2, 2, 2, 3])


@given(histories, st.integers(-1, 13))
def test_a_given_moment(times: list[list[int]], moment: int) -> None:
    ratings = make(times)
    ordered = sorted(times_of(ratings))
    if moment <= ordered[0] or moment > ordered[-1]:
        with pytest.raises(DataError, match=rf"'temporal-at {moment}' of .*: no rating is .*\n"):
            splits.temporal_at(ratings, moment)
        return
    split = splits.temporal_at(ratings, moment)
    assert sorted(times_of(split.train)) == [time for time in ordered if time < moment]
    assert sorted(times_of(split.test)) == [time for time in ordered if time >= moment]


def test_a_moment_is_a_date_in_utc() -> None:
    noon = 1041379200 + 12 * 3600
    ratings = make([[noon - 86400, noon - 1, noon, noon + 86400]])
    by_number = splits.temporal_at(ratings, noon)
    for text in ("2003-01-01T12:00:00", "2003-01-01T12:00:00Z"):
        split = splits.temporal_at(ratings, text)
        assert times_of(split.test) == times_of(by_number.test) == [noon, noon + 86400]
        assert split.rule == by_number.rule == "temporal-at 2003-01-01T12:00:00Z"
    assert times_of(splits.temporal_at(ratings, "2003-01-01").train) == [noon - 86400]


def test_a_moment_outside_says_when_there_are_ratings() -> None:
    ratings = make([[1041379200, 1041379201 + 86400]])
    message = (
        r"no rating is as new as that\nits 2 ratings are from 2003-01-01 to 2003-01-02T00:00:01Z"
    )
    with pytest.raises(DataError, match=message):
        splits.temporal_at(ratings, "2004-01-01")
    with pytest.raises(DataError, match="no rating is older than that"):
        splits.temporal_at(ratings, "2003-01-01")


@given(histories, st.integers(1, 4))
def test_the_last_of_each_user(times: list[list[int]], n_out: int) -> None:
    ratings = make(times)
    if small := [user for user, row in enumerate(times) if len(row) <= n_out]:
        with pytest.raises(DataError, match=rf"{len(small)} users? .* user {small[0]}\n.*users>="):
            splits.leave_last(ratings, n_out)
        return
    train, test = [], []
    for row in times:
        oldest_tested = sorted(row, reverse=True)[n_out - 1]
        train.append(sorted(time for time in row if time < oldest_tested))
        test.append(sorted(time for time in row if time >= oldest_tested))
    if not any(train):
        with pytest.raises(DataError, match="no training rating"):
            splits.leave_last(ratings, n_out)
        return
    split = splits.leave_last(ratings, n_out)
    for part, expected in ((split.train, train), (split.test, test)):
        for user, row in enumerate(expected):
            assert sorted(times_of(part.take(part.user == user))) == row


def test_leave_last_passes_over_users_without_ratings() -> None:
    ratings = make([[1, 2, 3], [1, 2, 3]])
    one_user = ratings.take(ratings.user == 1)
    assert splits.leave_last(one_user, 1).test.user_counts().tolist() == [0, 1]


def windows(ordered: list[int], n_windows: int, share: Fraction) -> list[tuple[list[int], ...]]:
    """Cut times by counting from the newest one back, a window at a time."""
    folds = []
    end = max(ordered) + 1
    for number in range(1, n_windows + 1):
        wanted = share * number * len(ordered)
        start = end
        for time in sorted(set(ordered), reverse=True):
            start = time
            if sum(other >= time for other in ordered) >= wanted:
                break
        folds.append(([t for t in ordered if t < start], [t for t in ordered if start <= t < end]))
        end = start
    return folds[::-1]


@given(histories, st.sampled_from([(1, 0.2), (2, 0.2), (3, 0.1), (3, 0.25), (4, 0.07)]))
def test_consecutive_windows(times: list[list[int]], rule: tuple[int, float]) -> None:
    ratings, (n_windows, share) = make(times), rule
    expected = windows(sorted(times_of(ratings)), n_windows, Fraction(str(share)))
    if not all(train and test for train, test in expected):
        with pytest.raises(DataError, match="has no"):
            splits.rolling(ratings, n_windows, share)
        return
    folds = splits.rolling(ratings, n_windows, share)
    assert [fold.fold for fold in folds] == list(range(n_windows))
    for fold, (train, test) in zip(folds, expected, strict=True):
        assert (sorted(times_of(fold.train)), sorted(times_of(fold.test))) == (train, test)
        assert max(train) < min(test)
        assert not pairs(fold.train) & pairs(fold.test)
        assert fold.test_items.tolist() == sorted(set(fold.test.item.tolist()))
    for earlier, later in pairwise(folds):  # what was tested is trained on next
        assert pairs(later.train) == pairs(earlier.train) | pairs(earlier.test)
    last = splits.temporal(ratings, share)
    assert (pairs(folds[-1].train), pairs(folds[-1].test)) == (pairs(last.train), pairs(last.test))


def test_the_sizes_of_windows_are_exact() -> None:
    ratings = make([list(range(row, row + 10)) for row in range(0, 100, 10)])
    assert [len(fold.test) for fold in splits.rolling(ratings, 3, 0.07)] == [7, 7, 7]
    assert [len(fold.train) for fold in splits.rolling(ratings, 3, 0.07)] == [79, 86, 93]


def test_sizes_in_floats_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "Fraction", float)
    with pytest.raises(AssertionError):
        test_the_sizes_of_windows_are_exact()


@pytest.mark.parametrize("text", ["leave-last 1", "rolling 2 0.2"])
def test_a_cut_that_falls_into_one_time_is_warned_of(text: str) -> None:
    even = make([[1, 2, 3, 4, 5]] * 4)
    lumpy = make([[1, 2, 9, 9, 9]] * 4) if "last" in text else make([[1, 2, 2, 2, 9]] * 4)
    with pytest.warns(DataWarning, match=f"'{text}' .*ratings of one time are not parted"):
        splits.warn_of_other_share(SplitRule.parse(text).splits(lumpy, rng=rng()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        splits.warn_of_other_share(SplitRule.parse(text).splits(even, rng=rng()))


@pytest.mark.parametrize("text", [*TIMED_RULES, "rolling 3 0.1"])
def test_times_are_needed(text: str) -> None:
    frame = pd.DataFrame({"user_id": [1, 1], "item_id": [1, 2], "rating": [1, 2]})
    with pytest.raises(ConfigError, match="no timestamps"):
        SplitRule.parse(text).splits(Ratings.from_frame(frame), rng=rng())


# ---------------------------------------------------------------------------- ready folds


def test_ready_folds_are_used_as_they_are() -> None:
    ratings = make([[0] * 4])
    labels = np.array([1, 0, 1, 2], dtype=np.int8)
    found = [split.test.item.tolist() for split in splits.from_fold_labels(ratings, labels)]
    assert found == [[ratings.item[1]], [ratings.item[0], ratings.item[2]], [ratings.item[3]]]


@pytest.mark.parametrize("labels", [[0, 1, 0], [0, 1, -1, 0]])
def test_labels_that_do_not_fit_are_refused(labels: list[int]) -> None:
    with pytest.raises(ConfigError, match="expected one label per rating"):
        splits.from_fold_labels(make([[0] * 4]), np.array(labels))


@pytest.mark.parametrize("labels", [[0, 2, 2, 0], [0, 0, 0, 0]])
def test_folds_that_hold_nothing_or_everything_are_refused(labels: list[int]) -> None:
    with pytest.raises(DataError, match="has no"):
        splits.from_fold_labels(make([[0] * 4]), np.array(labels))


def test_ready_needs_folds() -> None:
    with pytest.raises(ConfigError, match="without folds"):
        SplitRule("ready").splits(make(), rng=rng())


@pytest.mark.parametrize("fold", [0, 1])
def test_only_the_order_of_rows_is_another_where_it_is_asked_for(fold: int) -> None:
    ratings = make([[0] * 4])
    labels, places = np.array([1, 0, 1, 0]), np.array([2, 7, 1, 5])
    plain = SplitRule.parse("ready").splits(ratings, rng=rng(), ready=labels, row_order=places)
    rule = SplitRule.parse("ready order=file")
    known = rule.splits(ratings, rng=rng(), ready=labels, row_order=places)[fold]
    for part in ("train", "test"):
        before, after = getattr(plain[fold], part), getattr(known, part)
        assert before.content_hash == after.content_hash
        assert before.place is None
        asked = (labels == fold) == (part == "test")
        assert after.place.tolist() == places[asked].tolist()
    assert (plain[fold].rule, known.rule) == ("ready", "ready order=file")


@pytest.mark.parametrize(
    ("places", "message"),
    [(None, "without an order of rows\nuse 'ready'"), ([0, 1, 1, 2], "each once"), ([0], "each")],
)
def test_what_is_no_order_of_rows_is_refused(places: list[int] | None, message: str) -> None:
    order = None if places is None else np.array(places)
    rule, labels = SplitRule("ready", order="file"), np.array([1, 0, 1, 0])
    with pytest.raises(ConfigError, match=message):
        rule.splits(make([[0] * 4]), rng=rng(), ready=labels, row_order=order)


# ---------------------------------------------------------------------------- rules as text


@pytest.mark.parametrize(
    "text",
    [
        *(*ALL_RULES, "ratio 1e-05", "k-fold 10", "uniform 0.2 eps=0.1", "ready order=file"),
        *("temporal-at 2003-01-01", "temporal-at 1999-12-31T23:59:59Z", "temporal-at -5"),
        *("rolling 3 0.1", "rolling 1 0.5", "leave-last 3"),
    ],
)
def test_a_rule_prints_as_it_was_written(text: str) -> None:
    rule = SplitRule.parse(text)
    assert str(rule) == text
    assert SplitRule.parse(str(rule)) == rule
    assert hash(rule) == hash(SplitRule.parse(text))


@given(st.integers(-(10**12), 3 * 10**11))
def test_a_moment_prints_and_parses_back(moment: int) -> None:
    rule = SplitRule("temporal-at", moment)
    assert SplitRule.parse(str(rule)) == rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("temporal-at", "expected something like 'temporal-at 2003-01-01'"),
        ("temporal-at 2003-02-30", "'2003-02-30' is no moment\nexpected a date in UTC"),
        ("temporal-at 2003-1-1", "is no moment"),
        ("temporal-at 01/02/2003", "is no moment"),
        ("temporal-at 2003-01-01T09:30", "is no moment"),
        ("temporal-at 2003-01-01T09:30:00+01:00", "is no moment"),
        ("temporal-at 0.2", "is no moment"),
        ("temporal-at yesterday", "is no moment"),
        (f"temporal-at {2**63}", "expected something like"),
        ("leave-last 0", "expected something like 'leave-last 1'"),
        ("leave-last 0.2", "expected something like 'leave-last 1'"),
        ("rolling 3", "expected something like 'rolling 3 0.1'"),
        ("rolling 0.1 3", "expected something like 'rolling 3 0.1'"),
        ("rolling 3 1", "expected something like 'rolling 3 0.1'"),
        ("rolling 3 x", "'3 x' is no number"),
        ("rolling 3 0.1 0.2", "is no number"),
        ("rolling 10 0.1", "10 windows of 0.1 of the ratings leave nothing to train on"),
        ("k-fold 5 0.1", "is no number"),
        ("rollin 3 0.1", "did you mean 'rolling'"),
    ],
)
def test_what_is_no_rule_in_time_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        SplitRule.parse(text)
    assert len(str(refused.value).splitlines()) <= 3


def test_a_window_is_of_rolling_only() -> None:
    with pytest.raises(ConfigError, match="expected something like 'k-fold 5'"):
        SplitRule("k-fold", 5, window=0.1)


def test_a_default_is_left_out_of_a_rule() -> None:
    assert str(SplitRule.parse("uniform 0.2 eps=0.2")) == "uniform 0.2"
    assert SplitRule("uniform", 0.2, kept=0.2) == SplitRule("uniform", 0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kfold 5", "did you mean 'k-fold'"),
        ("ratio", "something like 'ratio 0.2'"),
        ("ratio 0", "something like"),
        ("ratio 0.0", "something like"),
        ("ratio 1.0", "something like"),
        ("ratio nan", "something like"),
        ("ratio x", "'x' is no number"),
        ("k-fold 1", "something like 'k-fold 5'"),
        ("k-fold 2.5", "something like"),
        ("leave-out 0", "something like 'leave-out 1'"),
        ("temporal 2", "something like 'temporal 0.2'"),
        ("ready 5", "something like 'ready'"),
        ("uniform", "something like 'uniform 0.2'"),
        ("uniform 2", "something like 'uniform 0.2'"),
        ("uniform 0.2 eps=1.0", "something like 'uniform 0.2'"),
        ("uniform 0.2 eps=", "'0.2 eps=' is no number"),
        ("ratio 0.2 eps=0.1", "something like 'ratio 0.2'"),
        ("k-fold 5 order=file", "expected 'ready order=file'"),
        ("ratio 0.2 order=file", "expected 'ready order=file'"),
        ("ready order=files", "expected 'ready order=file'"),
        ("ready order=", "expected 'ready order=file'"),
        ("", "unknown split rule"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SplitRule.parse(text)


def test_an_empty_part_is_refused() -> None:
    ratings = make([[1, 2]])
    with pytest.raises(DataError, match=r"fold \d has no test rating"):
        splits.k_fold(ratings, 50, rng=rng())
    with pytest.raises(DataError, match="no test rating"):
        splits.ratio(ratings, 1e-12, rng=rng())


@pytest.mark.parametrize("rule", ["k-fold", "rolling", "uniform"])
def test_more_splits_than_memory_holds_are_refused_before_they_are_made(rule: str) -> None:
    many = {
        "k-fold": "k-fold 999999999",
        "rolling": "rolling 999999999 0.000000000001",
        "uniform": "uniform 0.2 draws=999999999",
    }[rule]
    with pytest.raises(ConfigError, match=r"999,999,999 splits of them have more than 1,000,000"):
        SplitRule.parse(many).splits(make(), rng=rng())


def test_all_judgments_need_others_to_train_on() -> None:
    with pytest.raises(ConfigError, match="split rule 'whole' leaves nothing"):
        SplitRule.parse("whole").splits(make(), rng=rng())
