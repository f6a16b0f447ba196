from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias import selection
from recbias.errors import ConfigError, DataError
from recbias.ratings import Ratings, RatingScale

pair_sets = st.sets(st.tuples(st.integers(10, 15), st.integers(20, 25)), min_size=1)


def make(pairs: Any) -> Ratings:
    frame = pd.DataFrame(sorted(pairs), columns=["user_id", "item_id"])
    frame["rating"] = frame["user_id"] % 3 + frame["item_id"] % 3 + 1
    return Ratings.from_frame(frame, scale=RatingScale(1, 5, 1))


def labels(ratings: Ratings) -> set[tuple[int, int]]:
    users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
    return set(zip(users.tolist(), items.tolist(), strict=True))


def counts(pairs: set[tuple[int, int]], place: int) -> dict[int, int]:
    values = [pair[place] for pair in pairs]
    return {value: values.count(value) for value in values}


def naive_core(pairs: set[tuple[int, int]], least: int) -> set[tuple[int, int]]:
    """Remove one poor user or item at a time, until there is none."""
    pairs = set(pairs)
    while True:
        poor = [(p, v) for p in (0, 1) for v, n in counts(pairs, p).items() if n < least]
        if not poor:
            return pairs
        place, value = poor[0]
        pairs = {pair for pair in pairs if pair[place] != value}


@given(pair_sets, st.integers(0, 4), st.integers(0, 4))
def test_counts_are_taken_once(pairs: set[tuple[int, int]], per_user: int, per_item: int) -> None:
    of_user, of_item = counts(pairs, 0), counts(pairs, 1)
    expected = {(u, i) for u, i in pairs if of_user[u] >= per_user and of_item[i] >= per_item}
    if not expected:
        with pytest.raises(DataError, match="leaves nothing"):
            selection.min_counts(make(pairs), per_user=per_user, per_item=per_item)
        return
    found = selection.min_counts(make(pairs), per_user=per_user, per_item=per_item)
    assert labels(found) == expected
    assert found.content_hash == make(expected).content_hash


@given(pair_sets, st.integers(1, 4))
def test_the_core_is_that_of_one_removal_at_a_time(pairs: set[tuple[int, int]], least: int) -> None:
    expected = naive_core(pairs, least)
    if not expected:
        with pytest.raises(DataError, match=f"'{least}-core' leaves nothing of {len(pairs)} "):
            selection.k_core(make(pairs), least)
        return
    found = selection.k_core(make(pairs), least)
    assert labels(found) == expected
    assert min(found.user_counts().min(), found.item_counts().min()) >= least


def test_samples_keep_whole_users_and_whole_items() -> None:
    pairs = {(u, i) for u in range(10, 20) for i in range(20, 30) if (u * i) % 3}
    ratings = make(pairs)
    users = selection.sample_users(ratings, 4, rng=np.random.default_rng(1))
    items = selection.sample_items(ratings, 4, rng=np.random.default_rng(1))
    assert users.n_users == items.n_items == 4
    assert labels(users) == {(u, i) for u, i in pairs if u in users.user_ids}
    assert labels(items) == {(u, i) for u, i in pairs if i in items.item_ids}


def test_samples_obey_the_seed() -> None:
    ratings = make({(u, i) for u in range(10, 40) for i in range(20, 24)})
    found = [
        labels(selection.sample_users(ratings, 9, rng=np.random.default_rng(seed)))
        for seed in (1, 1, 2)
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("wanted", [0, 3])
def test_a_sample_cannot_be_larger_than_the_whole(wanted: int) -> None:
    ratings = make({(10, 20), (11, 21)})
    with pytest.raises(ConfigError, match=f"{wanted} users: expected 1 to 2"):
        selection.sample_users(ratings, wanted, rng=np.random.default_rng(1))
    with pytest.raises(ConfigError, match=f"{wanted} items: expected 1 to 2"):
        selection.sample_items(ratings, wanted, rng=np.random.default_rng(1))


def test_a_sample_of_users_without_ratings_is_refused() -> None:
    # Only the second of two users has ratings: find a seed that draws the first.
    first_drawn = next(s for s in range(99) if np.random.default_rng(s).choice(2, 1, False)[0] == 0)
    ratings = make({(10, 20), (11, 21)}).take(np.array([1]))
    with pytest.raises(DataError, match="'sample of 1 users' leaves nothing of 1 ratings, 2 users"):
        selection.sample_users(ratings, 1, rng=np.random.default_rng(first_drawn))


def test_times_travel_with_their_rows() -> None:
    frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": [1, 2, 1], "time": [7, 8, 9]})
    ratings = Ratings.from_frame(frame, rating=None, timestamp="time")
    found = selection.min_counts(ratings, per_user=2)
    assert found.timestamp is not None
    assert found.timestamp.tolist() == [7, 8]
