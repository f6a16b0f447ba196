"""Steepness and the table of pairs: against fractions of all pairs, and worked examples."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recbias.errors import ConfigError
from recbias.theory import lemma_disagrees, pair_table, steepness

KEYS = ["direction", "steeper_than", "optima"]

ITEMS = st.integers(1, 9).flatmap(
    lambda n_users: st.lists(
        st.tuples(st.integers(0, n_users - 1), st.integers(0, n_users - 1), st.just(n_users)).map(
            lambda each: (each[0], min(each[:2]), each[2])
        ),
        min_size=1,
        max_size=8,
    )
)


def steep(a, b):
    """Eq. 5 in fractions."""
    return abs(a - b) / max(a, b) if max(a, b) else Fraction(0)


def described(one, other):
    """Describe a pair of items (odds, liked, disliked) by plain comparisons of fractions."""
    (odds_a, liked_a, disliked_a), (odds_b, liked_b, disliked_b) = one, other
    if not (liked_a + disliked_a and liked_b + disliked_b):
        direction = "no estimate"
    elif odds_a == odds_b:
        direction = "as popular"
    elif liked_a == liked_b:
        direction = "equal" if 0 < liked_a < 1 else "equal at an end"
    else:
        direction = "same" if (odds_a - odds_b) * (liked_a - liked_b) > 0 else "opposed"
    than = [
        steep(odds_a, odds_b) > steep(*shares)
        for shares in ((liked_a, liked_b), (disliked_a, disliked_b))
    ]
    steeper = {(1, 1): "both", (1, 0): "liked", (0, 1): "disliked", (0, 0): "neither"}[tuple(than)]
    side = (odds_a * liked_a - odds_b * liked_b) * (odds_b * disliked_b - odds_a * disliked_a)
    optima = "disagree" if side < 0 else ("agree" if side > 0 else "tied")
    return direction, steeper, optima


def all_pairs(rated, free, liked, disliked):
    """Describe every pair of items that can be recommended, one by one."""
    items = []
    for n, o, p, q in zip(rated, free, liked, disliked, strict=True):
        if o:
            n, o, p, q = (int(each) for each in (n, o, p, q))
            shares = (Fraction(p, p + q), Fraction(q, p + q)) if p + q else (Fraction(0),) * 2
            items.append((Fraction(n, o), *shares))
    return pd.Series([described(*pair) for pair in itertools.combinations(items, 2)], dtype=object)


def same_table(found, wanted):
    counted = wanted.value_counts()
    return {tuple(row[:3]): row[3] for row in found.itertuples(index=False)} == dict(counted)


@pytest.mark.slow
@settings(max_examples=300)
@given(ITEMS)
def test_the_table_is_that_of_all_pairs_in_fractions(items):
    rated, liked, users = np.array(items).T
    counts = rated, users - rated, liked, rated - liked
    assert same_table(pair_table(*counts), all_pairs(*counts))


@settings(max_examples=200)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=7))
def test_so_it_is_where_liking_is_known_from_other_ratings_than_popularity(items):
    counts = np.array(items).T
    assert same_table(pair_table(*counts), all_pairs(*counts))


def test_a_table_with_one_pair_in_another_place_is_told_apart():
    """The comparison itself notices a pair that is counted elsewhere, or twice."""
    counts = np.array([[5, 2, 4], [5, 8, 6], [3, 1, 3], [2, 1, 1]])
    found, wanted = pair_table(*counts), all_pairs(*counts)
    assert same_table(found, wanted)
    assert not same_table(found.assign(optima="agree"), wanted)
    assert not same_table(found.assign(pairs=found["pairs"] + 1), wanted)


def test_items_with_equal_counts_are_pairs_of_their_own():
    counts = np.array([[3, 3, 3, 1, 1], [4, 4, 4, 6, 6], [2, 2, 2, 0, 0], [1, 1, 1, 1, 1]])
    found = pair_table(*counts)
    assert same_table(found, all_pairs(*counts))
    assert found["pairs"].sum() == 10


def test_the_gap_is_the_mean_distance_of_the_shares():
    counts = np.array([[4, 2, 2], [6, 8, 8], [4, 1, 1], [0, 1, 1]])
    found = pair_table(*counts).set_index("direction")["gap"]
    assert found.to_dict() == {"same": 0.5, "as popular": 0.0}


@pytest.mark.parametrize("turned", [False, True])
def test_what_floats_do_not_tell_apart_is_compared_exactly(turned):
    """Of successive Fibonacci numbers the ratios differ by less than a float can."""
    a, b, c = 433_494_437, 701_408_733, 1_134_903_170
    assert float(a) * float(c) == float(b) * float(b)
    odds, liked = ([b, c], [a, b]) if turned else ([a, b], [b, c])
    free, disliked = [1, 1], [c - each for each in liked]
    counts = np.array([odds, free, liked, disliked])
    assert same_table(pair_table(*counts), all_pairs(*counts))


def test_large_counts_that_are_nearly_equal():
    rng = np.random.default_rng(5)
    for _ in range(20):
        base = rng.integers(2**29, 2**30, 4)
        counts = (base[:, None] + rng.integers(-1, 2, (4, 9))).astype(np.int64)
        assert same_table(pair_table(*counts), all_pairs(*counts))


def violations(frame, *, corrected=True):
    """Count the pairs of a table of which the lemma says something else."""
    told = frame[frame["direction"] != "no estimate"]
    said = [
        lemma_disagrees(row.direction, row.steeper_than, corrected=corrected)
        for row in told.itertuples()
    ]
    return int(told["pairs"][np.array(said) != (told["optima"] == "disagree")].sum())


@pytest.mark.slow
@settings(max_examples=300)
@given(ITEMS)
def test_the_lemma_holds_for_all_pairs_with_a_rating(items):
    rated, liked, users = np.array(items).T
    assert violations(pair_table(rated, users - rated, liked, rated - liked)) == 0


def test_as_printed_the_lemma_misses_equal_shares():
    rated, liked = np.array([4, 2]), np.array([2, 1])
    found = pair_table(rated, 10 - rated, liked, rated - liked)
    assert found.to_dict("records") == [
        {
            "direction": "equal",
            "steeper_than": "both",
            "optima": "disagree",
            "pairs": 1,
            "gap": 0.0,
        }
    ]
    assert violations(found) == 0
    assert violations(found, corrected=False) == 1


@pytest.mark.parametrize("broken", ["agree", "tied"])
def test_the_count_of_violations_notices_a_table_that_breaks_the_lemma(broken):
    rated, liked = np.array([5, 2]), np.array([3, 1])
    found = pair_table(rated, 10 - rated, liked, rated - liked)
    assert violations(found.assign(optima=broken)) == 1


def test_nothing_is_said_of_items_that_all_have_rated_and_the_unrated_have_no_shares():
    counts = np.array([[10, 5, 0], [0, 5, 10], [9, 3, 0], [1, 2, 0]])
    (row,) = pair_table(*counts).itertuples(index=False)
    assert tuple(row) == ("no estimate", "neither", "disagree", 1, 0.6)
    with pytest.raises(ConfigError, match="without a rating"):
        lemma_disagrees("no estimate", "both")


def test_one_item_makes_no_pair():
    found = pair_table(*np.array([[1], [2], [1], [0]]))
    assert len(found) == 0
    assert list(found.columns) == [*KEYS, "pairs", "gap"]


def test_steepness_of_toy_values_and_of_both_ends():
    assert steepness([0.75, 0.25], [0.333333, 0.666667]) == pytest.approx([0.555556, 0.625], 1e-5)
    assert steepness([0, np.inf, np.inf, 2], [0, np.inf, 3, 0]).tolist() == [0, 0, 1, 1]
    assert steepness(3, [1.5, 3]).tolist() == [0.5, 0]


@pytest.mark.parametrize("value", [-0.4, np.nan])
def test_steepness_is_of_what_is_not_negative(value):
    with pytest.raises(ConfigError, match="not negative"):
        steepness(value, 0.1)


def test_wrong_words_and_counts_are_refused():
    with pytest.raises(ConfigError, match="direction"):
        lemma_disagrees("up", "both")
    with pytest.raises(ConfigError, match="steepness"):
        lemma_disagrees("same", "all")
    with pytest.raises(ConfigError, match="same items"):
        pair_table(np.array([1, 2]), np.array([1]), np.array([1]), np.array([0]))
    with pytest.raises(ConfigError, match="negative"):
        pair_table(*np.array([[1, 2], [1, -2], [1, 0], [0, 0]]))
