"""The uniform test: against loops that share no code with it, and worked values."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.data.datasets import load_dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, DataError, DataWarning
from recbias.protocol import splits
from recbias.protocol.splits import SplitRule, uniform_plan
from recbias.protocol.testset import dataset_splits

histograms = st.lists(st.integers(0, 30), min_size=1, max_size=25).filter(any)
shares = st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.42, 0.5])


def by_loops(
    counts: list[int], share: float, kept: float
) -> tuple[list[int], int, Decimal] | Decimal:
    """Return items, quota and largest share; where there is no set of items, the largest share."""
    order = sorted(range(len(counts)), key=lambda item: (-counts[item], item))
    found: tuple[list[int], int] | None = None
    largest = Decimal(0)
    for k in range(1, len(order) + 1):
        spared = (1 - Decimal(str(kept))) * counts[order[k - 1]]
        if spared < 1:
            break
        largest = max(largest, spared * k)
        if spared * k >= Decimal(str(share)) * sum(counts):
            found = sorted(order[:k]), math.floor(spared)
    return (*found, largest) if found else largest


def ratings_of(counts: list[int]) -> Ratings:
    """Each item has its count, from the first users."""
    rows = [(user, item) for item, count in enumerate(counts) for user in range(count)]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id"]).assign(rating=3)
    return Ratings.from_frame(frame)


@given(histograms, shares, st.sampled_from([0.1, 0.2, 0.3, 0.5]))
def test_the_plan_is_that_of_plain_loops(counts: list[int], share: float, kept: float) -> None:
    expected = by_loops(counts, share, kept)
    if isinstance(expected, Decimal):
        named = math.floor(expected / sum(counts) * 10**4) / 10**4
        with pytest.raises(DataError, match=f"ratings is {named}$"):
            uniform_plan(np.array(counts), share, kept)
        if named:  # what the message names can be asked for
            uniform_plan(np.array(counts), named, kept)
        return
    items, n_each, largest = expected
    plan = uniform_plan(np.array(counts), share, kept)
    assert (plan.items.tolist(), plan.n_each) == (items, n_each)
    assert plan.largest_share * sum(counts) == pytest.approx(float(largest), abs=1e-9)
    assert plan.least_count == min(counts[item] for item in items)
    assert plan.items.tolist() == np.flatnonzero(np.array(counts) >= plan.least_count).tolist()


def test_the_last_k_counts_and_its_quota_is_a_floor() -> None:
    counts = np.array([10, 8, 5, 4, 2, 1])
    plan = uniform_plan(counts, 0.42)
    assert (plan.items.tolist(), plan.n_each, plan.least_count) == ([0, 1, 2, 3], 3, 4)
    assert float(plan.largest_share) == pytest.approx(0.426667, abs=1e-6)
    # The first k that fails is 3; whoever stops there gets two items.
    products = 0.8 * counts * np.arange(1, 7) / counts.sum()
    assert (products >= 0.42).tolist() == [False, True, False, True, False, False]


def test_equally_popular_items_are_in_it_together() -> None:
    plan = uniform_plan(np.array([3, 9, 5, 5, 5, 1]), 0.5)
    assert plan.items.tolist() == [1, 2, 3, 4]


def test_floors_are_exact() -> None:
    assert math.floor((1 - 0.3) * 90) == 62  # what floats say
    assert uniform_plan(np.array([90] * 4), 0.7, 0.3).n_each == 63


def test_an_item_that_can_spare_no_rating_is_not_tested() -> None:
    plan = uniform_plan(np.array([5, 5] + [1] * 40), 0.1)
    assert (plan.items.tolist(), plan.n_each) == ([0, 1], 4)
    with pytest.raises(DataError, match=r"ratings is 0.16$"):
        uniform_plan(np.array([5, 5] + [1] * 40), 0.5)


def test_the_error_names_the_largest_share() -> None:
    with pytest.raises(DataError) as caught:
        uniform_plan(np.array([10, 8, 5, 4, 2, 1]), 0.43)
    assert "split 'uniform 0.43'" in str(caught.value)
    assert "keep 20% of its own\nthe largest feasible share of these 30 ratings is 0.4266" in str(
        caught.value
    )


@pytest.mark.parametrize(("share", "kept"), [(0.0, 0.2), (1.0, 0.2), (0.2, 0.0), (0.2, 1.0)])
def test_shares_are_between_0_and_1(share: float, kept: float) -> None:
    with pytest.raises(ConfigError, match=r"something like 'uniform 0\.2'"):
        uniform_plan(np.array([5, 5]), share, kept)


@given(histograms, shares, st.integers(0, 5))
def test_every_item_gives_its_quota_or_nothing(counts: list[int], share: float, seed: int) -> None:
    ratings = ratings_of(counts)
    expected = by_loops(ratings.item_counts().tolist(), share, 0.2)
    if isinstance(expected, Decimal):
        return
    items, n_each, _ = expected
    split = splits.uniform(ratings, share, rng=np.random.default_rng(seed))
    quotas = np.zeros(ratings.n_items, dtype=int)
    quotas[items] = n_each
    assert split.test.item_counts().tolist() == quotas.tolist()
    assert split.test_items.tolist() == items
    kept = split.train.item_counts() / np.maximum(ratings.item_counts(), 1)
    assert (kept[items] >= 0.2).all()


def test_every_rating_of_an_item_is_drawn_alike() -> None:
    ratings = ratings_of([12, 8, 7, 2])
    drawn = np.zeros(len(ratings))
    for seed in range(1500):
        test = splits.uniform(ratings, 0.5, rng=np.random.default_rng(seed)).test
        drawn += np.isin(ratings._pair_keys(), test._pair_keys())
    plan = uniform_plan(ratings.item_counts(), 0.5)
    in_plan = np.isin(ratings.item, plan.items)
    chance = np.where(in_plan, plan.n_each / ratings.item_counts()[ratings.item], 0)
    error = np.sqrt(1500 * chance * (1 - chance))
    # 5 standard errors: a false alarm in less than 2 of 100,000 runs.
    assert (np.abs(drawn - 1500 * chance) <= 5 * error).all()


def test_a_grid_is_split_by_it() -> None:
    dataset = load_dataset("synthetic")
    (split,) = dataset_splits(dataset, "uniform 0.2", seed=1)
    plan = uniform_plan(dataset.ratings.item_counts(), 0.2)
    assert split.test_items.tolist() == plan.items.tolist()
    assert len(split.test) == len(plan.items) * plan.n_each
    assert str(SplitRule.parse("uniform 0.2")) == split.rule


def test_draws_are_folds_of_their_own() -> None:
    """Each is a uniform test of all ratings; none knows of another, as parts of one whole do."""
    ratings = ratings_of([40] * 6 + [30] * 6 + [3])
    drawn = SplitRule.parse("uniform 0.2 draws=4").splits(ratings, rng=np.random.default_rng(1))
    plan = uniform_plan(ratings.item_counts(), 0.2)
    assert [(split.fold, split.rule) for split in drawn] == [
        (fold, "uniform 0.2 draws=4") for fold in range(4)
    ]
    tested = []
    for split in drawn:
        assert split.test.item_counts()[plan.items].tolist() == [plan.n_each] * len(plan.items)
        assert len(split.train) + len(split.test) == len(ratings)
        tested.append(set(zip(split.test.user.tolist(), split.test.item.tolist(), strict=True)))
    for a, b in combinations(tested, 2):
        assert 0 < len(a & b) < len(a)
    first = SplitRule.parse("uniform 0.2").splits(ratings, rng=np.random.default_rng(1))
    assert len(first) == 1
    assert np.array_equal(first[0].test.user, drawn[0].test.user)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("uniform 0.2 draws=1", "uniform 0.2"),
        ("uniform 0.2 draws=5", "uniform 0.2 draws=5"),
        ("uniform 0.1 draws=5 eps=0.3", "uniform 0.1 eps=0.3 draws=5"),
        ("uniform 0.1 eps=0.2 draws=5", "uniform 0.1 draws=5"),
    ],
)
def test_rules_with_draws_print_and_parse(text: str, printed: str) -> None:
    rule = SplitRule.parse(text)
    assert str(rule) == printed
    assert SplitRule.parse(printed) == rule
    assert ("draws that know nothing" in rule.meaning) == ("draws" in printed)


@pytest.mark.parametrize(
    "text",
    [
        "uniform 0.2 draws=0",
        "uniform 0.2 draws=2.5",
        "uniform 0.2 draws=",
        "uniform 0.2 draws=2 draws=3",
        "ratio 0.2 draws=5",
        "k-fold 5 draws=2",
        "uniform draws=5",
    ],
)
def test_draws_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected something like"):
        SplitRule.parse(text)


def test_a_warning_of_another_share_names_no_fold_of_draws() -> None:
    ratings = ratings_of([12] * 5)
    drawn = SplitRule.parse("uniform 0.2 draws=2").splits(ratings, rng=np.random.default_rng(1))
    with pytest.warns(DataWarning, match=r"asked to test 20 %, it tests 75 %: each tested item"):
        splits.warn_of_other_share(drawn)
