from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse.linalg
import scipy.stats
from threadpoolctl import threadpool_limits

from recbias.data.simulation import (
    Popularity,
    PreferenceOptions,
    PreferenceWorld,
    make_world,
    noise,
    power_law,
    preference_world,
    preferences,
)
from recbias.data.simulation.matching import match_at_random
from recbias.errors import ConfigError
from recbias.protocol import splits

SMALL: dict[str, Any] = {"n_users": 150, "n_items": 220, "n_ratings": 3000}


@pytest.fixture(scope="module")
def worlds() -> dict[str, PreferenceWorld]:
    return {popularity: make_world(popularity=popularity) for popularity in get_args(Popularity)}


@pytest.fixture(scope="module")
def world(worlds: dict[str, PreferenceWorld]) -> PreferenceWorld:
    return worlds["agrees"]


def everyone(world: PreferenceWorld) -> np.ndarray:
    return np.arange(world.ratings.n_users)


# ---------------------------------------------------------------------------- power law


def test_a_flat_power_law_is_the_mean() -> None:
    counts = power_law(3706, 1_000_209, alpha=0, offset=5)
    assert counts == pytest.approx([1_000_209 / 3706] * 3706)
    assert round(counts[0]) == 270


def test_a_power_law_keeps_total_least_and_slope() -> None:
    counts = power_law(500, 20_000, alpha=1.4, offset=30, least=3)
    assert counts.sum() == pytest.approx(20_000)
    slope = np.diff(np.log(counts - 3)) / np.diff(np.log(30 + np.arange(1, 501)))
    assert slope == pytest.approx(np.full(499, -1.4))


# ---------------------------------------------------------------------------- truth


def test_an_observed_rating_is_the_true_one(worlds: dict[str, PreferenceWorld]) -> None:
    for world in worlds.values():
        stars = world.true_rating(everyone(world))
        ratings = world.ratings
        assert stars.dtype == np.float32
        assert (stars[ratings.user, ratings.item] == ratings.value).all()
        assert np.unique(stars).tolist() == [1, 2, 3, 4, 5]


def test_blocks_of_users_in_any_order_tell_the_same(world: PreferenceWorld) -> None:
    users = np.array([900, 3, 3, 41])
    assert (world.true_rating(users) == world.true_rating(everyone(world))[users]).all()
    assert (world.propensity(users) == world.propensity(everyone(world))[users]).all()


# ---------------------------------------------------------------------------- observation


def test_expected_counts_are_power_laws(worlds: dict[str, PreferenceWorld]) -> None:
    for world in worlds.values():
        chances = world.propensity(everyone(world)).astype(np.float64)
        assert 0 < chances.min() <= chances.max() <= np.float32(0.95)
        of_item = np.sort(chances.sum(axis=0))[::-1]
        of_user = np.sort(chances.sum(axis=1))[::-1]
        items = power_law(1682, 100_000, alpha=5, offset=0.55 * 1682)
        users = power_law(943, 100_000, alpha=4, offset=0.64 * 943, least=0.19 * 100_000 / 943)
        assert of_item == pytest.approx(items, abs=0.1)
        assert of_user == pytest.approx(users, abs=0.1)


def test_pairs_are_observed_as_often_as_their_propensity_says(
    worlds: dict[str, PreferenceWorld],
) -> None:
    for world in worlds.values():
        chances = world.propensity(everyone(world)).astype(np.float64)
        observed = world.ratings.matrix().toarray() > 0
        edges = np.quantile(chances, np.linspace(0, 1, 21))
        group = np.searchsorted(edges[1:-1], chances)
        excess = np.bincount(group.ravel(), weights=(observed - chances).ravel())
        variance = np.bincount(group.ravel(), weights=(chances * (1 - chances)).ravel())
        assert (np.abs(excess) < 5 * np.sqrt(variance)).all()


def test_pairs_are_observed_independently(world: PreferenceWorld) -> None:
    # Dependence between the pairs of an item or of a user would widen the spread of their counts.
    chances = world.propensity(everyone(world)).astype(np.float64)
    observed = world.ratings.matrix().toarray() > 0
    for axis in (0, 1):
        variance = (chances * (1 - chances)).sum(axis)
        scaled = ((observed - chances).sum(axis)) ** 2 / variance
        kurtosis = 2 + 1 / variance
        assert abs((scaled - 1).sum()) < 5 * np.sqrt(kurtosis.sum())


def test_ratings_are_missing_not_at_random(worlds: dict[str, PreferenceWorld]) -> None:
    for world in worlds.values():
        stars, chances = world.true_rating(everyone(world)), world.propensity(everyone(world))
        # Among items of one popularity decile, a pair that would get more stars is likelier.
        deciles = np.array_split(np.argsort(world.ratings.item_counts(), kind="stable"), 10)
        for items in deciles:
            by_star = [chances[:, items][stars[:, items] == star].mean() for star in range(1, 6)]
            assert (np.diff(by_star) > 0).all()


# ---------------------------------------------------------------------------- near MovieLens 100K


def test_size_and_shares_of_stars(worlds: dict[str, PreferenceWorld]) -> None:
    for world in worlds.values():
        ratings = world.ratings
        assert (ratings.n_users, ratings.n_items) == (943, 1682)
        assert abs(len(ratings) - 100_000) < 5 * np.sqrt(100_000)
        shares = np.bincount(ratings.value.astype(int), minlength=6)[1:] / len(ratings)
        goal = np.array([0.061, 0.114, 0.271, 0.342, 0.212])
        assert (np.abs(shares - goal) < 5 * np.sqrt(goal * (1 - goal) / len(ratings))).all()


def test_tails_of_users_and_items(world: PreferenceWorld) -> None:
    # MovieLens 100K: users 20, 65 and 737 (least, median, most); items 583 (most); the first
    # hundredth, tenth and half of the items have 7.6, 42.7 and 92.7 % of the ratings.
    users, items = world.ratings.user_counts(), np.sort(world.ratings.item_counts())[::-1]
    assert 15 <= users.min() <= 25
    assert 50 < np.median(users) < 80
    assert 400 < users.max() < 800
    assert 400 < items[0] < 650
    shares = [items[:size].sum() / items.sum() for size in (17, 168, 841)]
    assert shares == pytest.approx([0.076, 0.427, 0.927], abs=0.08)


def precision(scores: np.ndarray, split: splits.Split, min_rating: float) -> float:
    """P@10 over all users; training items are not ranked."""
    masked = np.array(scores, dtype=np.float64)
    masked[split.train.user, split.train.item] = -np.inf
    top = np.argsort(-masked, axis=1, kind="stable")[:, :10]
    liked = split.test.matrix().toarray() >= min_rating
    return float(np.take_along_axis(liked, top, axis=1).mean())


def test_factorisation_beats_popularity_and_popularity_beats_chance(world: PreferenceWorld) -> None:
    # MovieLens 100K, the same three systems: 0.112, 0.061 and 0.004.
    split = splits.ratio(world.ratings, 0.2, rng=np.random.default_rng(1))
    seen = (split.train.matrix() > 0).astype(np.float64)
    left, weights, right = scipy.sparse.linalg.svds(seen, 10, v0=np.ones(seen.shape[0]))
    svd = precision(left * weights @ right, split, 5)
    popular = precision(np.tile(split.train.item_counts(), (943, 1)), split, 5)
    chance = precision(np.random.default_rng(2).random(seen.shape), split, 5)
    assert 0.04 < popular < 0.10
    assert svd > 1.5 * popular
    assert chance < 0.01


# ---------------------------------------------------------------------------- the knob


def test_popularity_agrees_is_independent_or_opposes(worlds: dict[str, PreferenceWorld]) -> None:
    found = {}
    for popularity, world in worlds.items():
        expected = world.propensity(everyone(world)).sum(axis=0)
        liked = (world.true_rating(everyone(world)) >= 4).mean(axis=0)
        found[popularity] = scipy.stats.spearmanr(expected, liked).statistic
    assert found["agrees"] > 0.7
    assert abs(found["independent"]) < 5 / np.sqrt(1682)
    assert found["opposes"] < -0.7


def test_worlds_have_names_of_their_own(worlds: dict[str, PreferenceWorld]) -> None:
    names = [world.ratings.name for world in worlds.values()]
    assert names == ["synthetic", "synthetic-independent", "synthetic-opposes"]
    assert "popularity=opposes,seed=1" in repr(worlds["opposes"])
    assert len({world.identity for world in worlds.values()}) == 3


# ---------------------------------------------------------------------------- the seed


def test_a_seed_is_a_world() -> None:
    first, again, other = (make_world(seed=seed, **SMALL) for seed in (4, 4, 5))
    assert first.ratings.content_hash == again.ratings.content_hash
    assert first.ratings.content_hash != other.ratings.content_hash
    users = everyone(first)
    assert (first.true_rating(users) == again.true_rating(users)).all()
    assert (first.true_rating(users) != other.true_rating(users)).any()


def test_neither_threads_nor_blocks_nor_order_of_sums_change_a_world(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = PreferenceOptions(relation=-0.4, users=150, items=220)
    found = []
    for threads, pairs, kept in ((1, 2**15, 2**22), (2, 2**15, 0), (1, 1000, 0), (2, 10**7, 2**22)):
        monkeypatch.setattr(noise, "BLOCK_PAIRS", pairs)
        monkeypatch.setattr(preferences, "_KEPT_PAIRS", kept)
        with threadpool_limits(threads):
            for world in (make_world(seed=2, **SMALL), preference_world(options)):
                stars = world.true_rating(everyone(world))
                found.append((world.ratings.content_hash, stars.tobytes()))
    assert len(set(found)) == 2


def test_the_global_generator_is_left_alone() -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    make_world(seed=1, n_users=20, n_items=30, n_ratings=50)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index]  # noqa: NPY002


# ---------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"popularity": "oppose"}, "did you mean 'opposes'"),
        ({"n_users": 0}, "0 users"),
        ({"n_ratings": 0}, "0 ratings"),
        ({"n_users": 100, "n_items": 100, "n_ratings": 1001}, "at most 10% of the pairs"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_impossible_worlds_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_world(**options)


@pytest.mark.parametrize("n_lacking", [0, 1, 3])
def test_pairs_are_found_where_nearly_all_are_there(n_lacking):
    of_user, of_item = np.full(12, 15), np.full(15, 12)
    of_user[:n_lacking] -= 1
    of_item[-n_lacking or 15 :] -= 1
    user, item = match_at_random(of_user, of_item, np.uint64(3))
    assert len({*zip(user.tolist(), item.tolist(), strict=True)}) == 12 * 15 - n_lacking
    assert (np.bincount(user) == of_user).all()
    assert (np.bincount(item) == of_item).all()


def test_more_pairs_than_there_are_users_are_still_not_found():
    with pytest.raises(ConfigError, match="no pairs were found"):
        match_at_random(np.array([2, 2]), np.array([3, 1]), np.uint64(3))
