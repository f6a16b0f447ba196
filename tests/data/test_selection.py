"""Which ratings count at all, against plain loops; and what that does to keys and results."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.data.selection import Selection
from recbias.errors import ConfigError, DataError
from recbias.experiment.grid import Grid
from recbias.experiment.run import run
from recbias.recommenders import System

selections = st.builds(
    Selection,
    st.integers(0, 99),
    st.integers(1, 100),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 3),
)
pairs = st.sets(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1)


def ratings_of(rated):
    user, item = zip(*sorted(rated), strict=True)
    stars = [1.0 + (u + i) % 5 for u, i in zip(user, item, strict=True)]
    return Ratings.from_frame(pd.DataFrame({"user_id": user, "item_id": item, "rating": stars}))


@given(selections)
def test_a_selection_prints_and_parses_back(selection):
    assert Selection.parse(str(selection)) == selection
    words = str(selection).split()
    assert Selection.parse(" ".join(reversed(words))) == selection


def core(rated, users, items):
    """Take the least from the pairs, one user or item after the other."""
    rated = set(rated)
    while True:
        of_user, of_item = Counter(u for u, _ in rated), Counter(i for _, i in rated)
        left = {(u, i) for u, i in rated if of_user[u] >= users and of_item[i] >= items}
        if left == rated:
            return rated
        rated = left


@given(pairs, st.integers(0, 4), st.integers(0, 4))
def test_filters_leave_the_largest_part_in_which_all_have_enough(rated, users, items):
    ratings, expected = ratings_of(rated), core(rated, users, items)
    selection = Selection(users=users, items=items)
    if not expected:
        with pytest.raises(DataError, match="is left"):
            selection.rows(ratings, seed=1)
        return
    kept = ratings.take(selection.rows(ratings, seed=1))
    labels = zip(
        ratings.user_ids[kept.user].tolist(), ratings.item_ids[kept.item].tolist(), strict=True
    )
    assert set(labels) == expected
    assert (kept.n_users, kept.n_items) == (ratings.n_users, ratings.n_items)


def test_a_core_has_one_text():
    core_of_5 = Selection.parse("core=5")
    assert core_of_5 == Selection(users=5, items=5) == Selection.parse("users>=5 items>=5")
    assert str(Selection.parse("keep=50% core=5")) == "keep=50% users>=5 items>=5"
    assert str(Selection.parse("core=1")) == ""
    grids = [Grid("synthetic", (System("Popularity", "Popularity"),), "AI-AN-AR rel>=4", "P@5",
                  select=text) for text in ("core=5", "users>=5 items>=5")]  # fmt: skip
    whole = load_dataset("synthetic")
    assert grids[0].key(whole) == grids[1].key(whole)


@given(pairs, st.integers(2, 4), st.integers(2, 4), st.integers(1, 3))
def test_rounds_look_at_users_and_then_at_items_so_often(rated, users, items, rounds):
    ratings, expected = ratings_of(rated), set(rated)
    for _ in range(rounds):
        of_user = Counter(u for u, _ in expected)
        expected = {(u, i) for u, i in expected if of_user[u] >= users}
        of_item = Counter(i for _, i in expected)
        expected = {(u, i) for u, i in expected if of_item[i] >= items}
    selection = Selection(users=users, items=items, rounds=rounds)
    assert Selection.parse(str(selection)) == selection
    if not expected:
        with pytest.raises(DataError, match="is left"):
            selection.rows(ratings, seed=1)
        return
    kept = ratings.take(selection.rows(ratings, seed=1))
    labels = zip(
        ratings.user_ids[kept.user].tolist(), ratings.item_ids[kept.item].tolist(), strict=True
    )
    assert set(labels) == expected
    assert core(rated, users, items) <= expected


def test_one_round_is_another_selection_than_a_core():
    rated = {(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 3), (3, 4)}
    sizes = [
        int(Selection.parse(text).rows(ratings_of(rated), seed=1).sum())
        for text in ("core=2", "core=2 rounds=1", "core=2 rounds=2")
    ]
    assert sizes == [4, 6, 4]


@pytest.mark.parametrize("text", ["users>=5 rounds=2", "items>=5 rounds=1", "rounds=3"])
def test_rounds_of_one_number_change_nothing(text):
    assert "rounds" not in str(Selection.parse(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("core>=5", "cannot read selection 'core>=5': expected .*core=RATINGS"),
        ("core=5%", "cannot read selection"),
        (f"core={'9' * 5000}", "cannot read selection"),
        ("core=5 users>=3", "cannot read selection"),
        ("items>=3 core=5", "cannot read selection"),
        ("rounds>=1", "cannot read selection"),
        ("cores=5", "did you mean 'core'"),
    ],
)
def test_what_is_no_core_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Selection.parse(text)


@given(pairs, st.integers(0, 99))
def test_the_head_loses_all_of_its_ratings_and_nobody_else_any(rated, head):
    ratings = ratings_of(rated)
    counts = Counter(i for _, i in rated)
    falling = sorted(counts, key=lambda item: (-counts[item], item))
    gone = set(falling[: len(counts) * head // 100])
    rows = Selection(head=head).rows(ratings, seed=1)
    assert rows.tolist() == [label not in gone for label in ratings.item_ids[ratings.item]]


@given(pairs, st.integers(1, 100), st.integers(0, 3))
def test_a_share_is_drawn_of_that_size_from_the_seed(rated, keep, seed):
    ratings = ratings_of(rated)
    if len(ratings) * keep < 100:
        with pytest.raises(DataError, match="is left"):
            Selection(keep=keep).rows(ratings, seed=seed)
        return
    rows = Selection(keep=keep).rows(ratings, seed=seed)
    assert rows.sum() == len(ratings) * keep // 100
    assert (rows == Selection(keep=keep).rows(ratings, seed=seed)).all()


def test_a_share_is_uniform_over_the_ratings():
    ratings = ratings_of({(u, i) for u in range(1, 6) for i in range(1, 5)})
    drawn = np.array([Selection(keep=50).rows(ratings, seed=seed) for seed in range(2000)])
    # Each rating is in 10 of 20: five standard errors of a share of 2000.
    assert (abs(drawn.mean(axis=0) - 0.5) < 5 * 0.5 / np.sqrt(2000)).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user>=5", "did you mean 'users'"),
        ("keep=50", "expected .*keep=PERCENT%"),
        ("users=5", "expected .*users>=RATINGS"),
        ("keep=50% keep=20%", "cannot read selection"),
        ("keep=0%", "keep is 0, expected 1 to 100 percent"),
        ("head=100%", "head is 100, expected 0 to 99 percent"),
        ("half", "unknown step of a selection 'half'; known: head, keep, users, items"),
    ],
)
def test_what_is_no_selection_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Selection.parse(text)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    rng = np.random.default_rng(3)
    rated = np.argwhere(rng.random((30, 20)) < 0.4)
    return pd.DataFrame(
        {"user_id": rated[:, 0], "item_id": rated[:, 1], "rating": rng.integers(1, 6, len(rated))}
    )


def test_a_grid_is_about_what_is_selected_and_is_named_by_it(table):
    system = System("Popularity", "Popularity")
    grids = [
        Grid(table, system, "TI-AN-AR rel>=4", "P@5", split="ratio 0.5", select=select)
        for select in ("", "keep=50%", "keep=60%")
    ]
    dataset = load_dataset(grids[0].dataset)
    assert len({grid.key(dataset) for grid in grids}) == 3
    assert "select" not in grids[0].to_dict()
    assert Grid.from_dict(grids[1].to_dict()) == grids[1]
    values = [run(grid).values["value"][0] for grid in grids]
    assert len(set(values)) == 3
    # Twice the same: read from cells, and made again.
    assert run(grids[1]).values["value"][0] == values[1]
    # All users stay users: the mean is over them, also where they lost all of their ratings.
    alone = Grid(table, system, "TI-AN-AR rel>=4", "P@5", split="ratio 0.5", select="users>=11")
    assert run(alone).values["n_users"][0] == dataset.ratings.n_users


def test_filters_are_applied_until_nobody_falls_below_them_any_more():
    # User 5 has one rating and goes, and then item 5 has one; so in the second pass user 4 goes,
    # and item 4, in the third user 3, and item 3.
    square = {(1, 1), (1, 2), (2, 1), (2, 2)}
    rated = square | {(1, 3), (3, 3), (3, 4), (4, 4), (4, 5), (5, 5)}
    ratings = ratings_of(rated)
    kept = Selection(users=2, items=2).rows(ratings, seed=1)
    users, items = ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]
    left = {(int(u), int(i)) for u, i in zip(users[kept], items[kept], strict=True)}
    assert left == square


def test_other_judgments_than_observed_ones_are_not_selected(table):
    system = System("Popularity", "Popularity")
    with pytest.raises(ConfigError, match="what is selected are observed ratings"):
        Grid("world(relation=independent)", system, {"a": "TI-AN-AR rel>=4"}, "P@5",
             tests={"a": "truth"}, select="keep=50%")  # fmt: skip


def test_what_is_drawn_stays_what_it_was():
    """A change of these numbers needs a raised selection.REVISION."""
    ratings = ratings_of({(u, i) for u in range(1, 5) for i in range(1, 4)})
    assert np.flatnonzero(Selection(keep=50).rows(ratings, seed=1)).tolist() == [4, 7, 8, 9, 10, 11]
