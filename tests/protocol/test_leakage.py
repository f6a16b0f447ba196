"""How much of the future models see, against a loop over all pairs of ratings."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, DataError
from recbias.protocol.leakage import Leakage, leakage
from recbias.protocol.splits import Split, SplitRule

rated = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(0, 6), st.booleans()),
    min_size=2,
    max_size=25,
    unique_by=lambda row: row[:2],
)
rules = st.sampled_from(
    ["ratio 0.5", "k-fold 2", "temporal 0.3", "temporal-user 0.4", "leave-last 1", "rolling 2 0.2"]
)


def ratings_of(rows: list[tuple[int, int, int]]) -> Ratings:
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "timestamp"])
    return Ratings.from_frame(frame, rating=None, timestamp="timestamp")


def naive(splits: list[Split]) -> tuple[float, float, float, float]:
    n_test = same_user = others = 0
    newer = 0.0
    for split in splits:
        train = list(zip(split.train.user.tolist(), split.train.timestamp.tolist(), strict=True))
        for user, when in zip(split.test.user.tolist(), split.test.timestamp.tolist(), strict=True):
            later = [trained_user for trained_user, moment in train if moment > when]
            n_test += 1
            same_user += user in later
            others += any(other != user for other in later)
            newer += len(later) / len(train)
    return n_test, same_user / n_test, others / n_test, newer / n_test


def numbers(leak: Leakage) -> tuple[float, float, float, float]:
    return leak.n_test, leak.same_user, leak.others, leak.newer


@given(rated)
def test_any_split_of_your_own(rows: list[tuple[int, int, int, bool]]) -> None:
    ratings = ratings_of([row[:3] for row in rows])
    keys = {row[:2]: row[3] for row in rows}
    labels = zip(ratings.user_ids[ratings.user], ratings.item_ids[ratings.item], strict=True)
    in_test = np.array([keys[int(user), int(item)] for user, item in labels])
    assume(in_test.any() and not in_test.all())
    test = ratings.take(in_test)
    split = Split(ratings.take(~in_test), test, np.unique(test.item), 0, "own")
    assert numbers(leakage([split])) == pytest.approx(naive([split]), abs=1e-12)


@given(rated, rules)
def test_every_kind_of_split(rows: list[tuple[int, int, int, bool]], rule: str) -> None:
    try:
        splits = SplitRule.parse(rule).splits(
            ratings_of([row[:3] for row in rows]), rng=np.random.default_rng(1)
        )
    except DataError:
        return
    leak = leakage(splits)
    assert numbers(leak) == pytest.approx(naive(splits), abs=1e-12)
    if rule.startswith(("temporal 0", "rolling")):
        assert (leak.same_user, leak.others, leak.newer) == (0, 0, 0)
    if rule.startswith(("temporal-user", "leave-last")):
        assert leak.same_user == 0


def test_of_equal_times_neither_is_newer() -> None:
    ratings = ratings_of([(1, 1, 5), (1, 2, 5), (2, 1, 3), (2, 2, 9)])
    in_test = np.array([True, False, False, True])
    test = ratings.take(in_test)
    split = Split(ratings.take(~in_test), test, np.unique(test.item), 0, "own")
    assert numbers(leakage([split])) == naive([split]) == (2, 0, 0, 0)


def test_a_newest_rating_that_is_taken_for_one_of_another_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings = ratings_of([(1, 1, 1), (1, 2, 9), (2, 1, 3), (2, 2, 2)])
    in_test = ratings.timestamp == 3
    test = ratings.take(in_test)
    split = Split(ratings.take(~in_test), test, np.unique(test.item), 0, "own")
    of_user_1 = Split(split.train.take(split.train.user == 0), ratings.take(ratings.timestamp == 1),
                      test.item, 0, "own")  # fmt: skip
    assert numbers(leakage([split])) == pytest.approx(naive([split]))
    assert numbers(leakage([of_user_1])) == pytest.approx(naive([of_user_1]))
    monkeypatch.setattr(np, "flatnonzero", lambda values: np.empty(0, int))  # no user stands alone
    assert numbers(leakage([of_user_1])) != pytest.approx(naive([of_user_1]))


def test_what_is_said() -> None:
    assert str(Leakage(9, 0.0, 0.0, 0.0)).startswith("no test rating is older")
    assert str(Leakage(10**6, 1.0, 1 - 1e-6, 1e-6)) == (
        "of the test ratings 99.9 % are older than some training rating of another user, 100 % "
        "than one of the same user; on average 0.1 % of what is trained on is newer than what is "
        "tested"
    )


def test_without_times_it_cannot_be_told() -> None:
    frame = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [1, 2, 1, 2]})
    ratings = Ratings.from_frame(frame, rating=None)
    splits = SplitRule.parse("leave-out 1").splits(ratings, rng=np.random.default_rng(1))
    with pytest.raises(ConfigError, match="has no timestamps"):
        leakage(splits)
    with pytest.raises(ConfigError, match="got no split"):
        leakage([])


def test_a_million_ratings_take_a_moment() -> None:
    rng = np.random.default_rng(1)
    n = 10**6
    frame = pd.DataFrame({"user_id": np.arange(n) // 50, "item_id": np.arange(n) % 50})
    frame["timestamp"] = rng.integers(10**6, size=n)
    ratings = Ratings.from_frame(frame, rating=None, timestamp="timestamp")
    splits = SplitRule.parse("temporal-user 0.2").splits(ratings, rng=rng)
    began = time.process_time()
    leakage(splits)
    assert time.process_time() - began < 5
