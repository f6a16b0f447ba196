"""Worlds as data sets: names, what they promise, and their truth."""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from recbias._system import places
from recbias.book.notebooks import edition_name
from recbias.data.datasets import Dataset, dataset_info, is_path, load_dataset, registry
from recbias.data.datasets.describe import gini
from recbias.data.ratings import Ratings
from recbias.data.simulation import (
    REVISION,
    STAR_SHARES,
    CountOptions,
    PowerLawOptions,
    PreferenceOptions,
    PreferenceWorld,
    World,
    count_world,
    make_world,
    parse_world,
    power_law,
    power_law_world,
    preference_world,
    preferences,
    whole_power_law,
)
from recbias.data.simulation.matching import match_at_random
from recbias.errors import ConfigError, MissingData

FALSE_ALARM = 1e-6
"""Each check of chance fails so often, if seeds were drawn anew, though nothing is wrong."""

SOURCE = make_world(seed=3, n_users=200, n_items=300, n_ratings=5000).ratings
WORLDS: dict[str, World] = {
    "preferences": preference_world(PreferenceOptions(relation=0.3, users=200, items=300)),
    "power law": power_law_world(PowerLawOptions(alpha=1.4, users=200, items=300)),
    "counts": count_world(CountOptions(counts="synthetic", seed=4), SOURCE),
}
each_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


def everyone(world: World) -> np.ndarray:
    return np.arange(world.ratings.n_users)


# ---------------------------------------------------------------------------- relation and skew


def check_promise(world: PreferenceWorld, relation: float, skew: float, liked: int = 4) -> None:
    users = everyone(world)
    expected = world.propensity(users).sum(axis=0, dtype=np.float64)
    liking = (world.true_rating(users) >= liked).mean(axis=0)
    assert scipy.stats.spearmanr(expected, liking).statistic == pytest.approx(relation, abs=0.05)
    assert gini(expected) == pytest.approx(skew, abs=1e-3)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("skew", [0.1, 0.5, 0.7, 0.8])
@pytest.mark.parametrize("relation", [-1, -0.5, 0, 0.5, 1])
def test_relation_and_skew_are_reached(relation: float, skew: float, seed: int) -> None:
    options = PreferenceOptions(relation=relation, skew=skew, users=300, items=400, seed=seed)
    check_promise(preference_world(options), relation, skew)


@pytest.mark.parametrize(
    "options",
    [
        PreferenceOptions(),
        PreferenceOptions(relation=-1, skew=0.8),
        PreferenceOptions(relation=1, skew=0.3, liked=5),
        PreferenceOptions(relation=1, skew=0.1, liked=2, users=300, items=400),
        PreferenceOptions(relation=0.5, density=0.1, users=300, items=400),
        PreferenceOptions(relation=-0.5, density=0.01, users=300, items=400),
        PreferenceOptions(relation=1, users=2000, items=100),
        PreferenceOptions(relation=-0.7, users=100, items=2000, skew=0.8),
        PreferenceOptions(relation=0.5, choice=0, users=300, items=400),
        PreferenceOptions(relation=-0.5, choice=2, users=300, items=400),
    ],
    ids=str,
)
def test_other_sizes_and_meanings_of_liking_are_reached(options: PreferenceOptions) -> None:
    check_promise(preference_world(options), options.relation, options.skew, options.liked)


def test_a_relation_with_the_wrong_sign_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = preferences._popularity_order
    monkeypatch.setattr(
        preferences,
        "_popularity_order",
        lambda liking, luck, relation: right(-liking, luck, relation),
    )
    with pytest.raises(ConfigError, match=r"relation is 0.5, but -0\.\d+ is what"):
        preference_world(PreferenceOptions(relation=0.5, users=300, items=400))
    monkeypatch.setattr(preferences, "_RELATION_REACHED", 2)
    world = preference_world(PreferenceOptions(relation=0.5, users=300, items=400))
    with pytest.raises(AssertionError):
        check_promise(world, 0.5, 0.65)


def test_a_flat_world_has_skew_and_relation_zero() -> None:
    world = preference_world(PreferenceOptions(relation=0, skew=0, users=300, items=400))
    assert gini(world.propensity(everyone(world)).sum(axis=0)) < 1e-3


def depends_on_the_pair(choice: float) -> float:
    """How far the chance of a pair is from a product of one of the user and one of the item."""
    options = PreferenceOptions(choice=choice, users=300, items=400, density=0.01)
    logs = np.log(preference_world(options).propensity(np.arange(300)).astype(np.float64))
    of_user, of_item = logs.mean(axis=1, keepdims=True), logs.mean(axis=0)
    return float(np.abs(logs - of_user - of_item + logs.mean()).max())


def test_blind_users_rate_by_activity_and_popularity_alone() -> None:
    assert depends_on_the_pair(0) < 1e-5
    assert 1 < depends_on_the_pair(0.5) < depends_on_the_pair(1) < depends_on_the_pair(2)


def test_a_skew_out_of_reach_is_refused_with_the_largest_that_is_not() -> None:
    with pytest.raises(ConfigError, match=r"skew is 0.9, expected 0 to 0\.\d+") as caught:
        preference_world(PreferenceOptions(skew=0.9))
    largest = float(re.findall(r"expected 0 to (0\.\d+)", str(caught.value))[0])
    assert largest > 0.8
    check_promise(preference_world(PreferenceOptions(skew=largest)), 0.8, largest)


def test_a_relation_out_of_reach_is_refused_with_what_is_reached() -> None:
    # Of six expected ratings nearly all go to one item: how many users like an item is a matter of
    # few, and of where the thresholds fall.
    name = "world(relation=1,skew=0.96,users=20,items=30,density=0.01)"
    with pytest.raises(ConfigError, match=r"relation is 1, but 0\.\d+ is what was reached"):
        load_dataset(name)
    assert len(load_dataset(name.replace("users=20,items=30", "users=100,items=100")).ratings) > 0


# ---------------------------------------------------------------------------- names

SIZES = {"users": st.integers(10, 10**7), "items": st.integers(10, 10**7)}
SEED = st.integers(0, 10**15)
NAMED = st.one_of(
    st.builds(
        PreferenceOptions,
        relation=st.floats(-1, 1),
        skew=st.floats(0, 1),
        density=st.floats(0, 0.1, exclude_min=True),
        liked=st.integers(2, 5),
        choice=st.floats(0, 2),
        seed=SEED,
        **SIZES,
    ),
    st.builds(
        PowerLawOptions,
        alpha=st.floats(0, 10),
        offset=st.none() | st.floats(0, 1e9),
        least=st.floats(0, 1e-5),
        density=st.floats(1e-3, 1),
        seed=SEED,
        **SIZES,
    ),
    st.builds(CountOptions, counts=st.sampled_from(sorted(registry())), seed=SEED),
)


@given(NAMED, st.randoms(use_true_random=False))
def test_names_print_and_parse(options: Any, random: Any) -> None:
    name = str(options)
    assert parse_world(name) == options
    assert not is_path(name)
    parts = name.removeprefix("world(").removesuffix(")").split(",")
    random.shuffle(parts)
    assert str(parse_world(f"world( {' , '.join(parts)} )")) == name


def test_defaults_are_left_out_and_spellings_do_not_matter() -> None:
    assert parse_world("world()") == PreferenceOptions()
    assert str(parse_world("world(skew=0.650,users=943,relation=+.5)")) == "world(relation=0.5)"
    assert str(parse_world("world(relation=-0)")) == "world(relation=0)"
    assert str(PreferenceOptions(relation=1)) == "world(relation=1)"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("world(relatoin=1)", "unknown option of a world 'relatoin': did you mean 'relation'"),
        ("world(relation=x)", "relation is 'x', expected a number from -1 to 1"),
        ("world(relation=nan)", "relation is 'nan', expected a number"),
        ("world(skew=1e999)", "skew is inf, expected a number from 0 to 1"),
        ("world(relation=-1.5)", "relation is -1.5, expected a number from -1 to 1"),
        ("world(users=20.5)", "users is '20.5', expected a whole number from 10"),
        ("world(density=0)", "density is 0.0, expected a number above 0 to 0.1"),
        ("world(choice=2.1)", "choice is 2.1, expected a number from 0 to 2"),
        ("world(liked=6)", "liked is 6, expected a whole number from 2 to 5"),
        ("world(seed=-1)", "seed is '-1', expected a whole number from 0"),
        ("world(skew=0.5,skew=0.5)", "the option skew is there twice"),
        ("world(skew)", "'skew' is no option, expected OPTION=VALUE"),
        ("world(=3)", "'=3' is no option"),
        ("world(skew=0.5", r"is no world: expected world\(OPTION=VALUE"),
        ("world(alpha=1,skew=0.5)", "unknown option of a world with alpha 'skew'"),
        ("world(counts=ml-1m,users=50)", "unknown option of a world with counts 'users'"),
        ("world(alpha=1,least=60)", "least is 60, expected at most the mean of the items"),
        ("world(alpha=1,least=2,ratings=2000)", "least is 2, expected at most the mean of the ite"),
        ("world(alpha=1,ratings=1681)", "ratings is 1681, expected one for each item at least"),
        ("world(alpha=1,ratings=9.5e4)", "ratings is '9.5e4', expected a whole number from 1"),
        ("world(alpha=1,stars=coat)", "unknown data set with known shares of stars 'coat'"),
        ("world(skew=0)", "set relation=0, or another skew"),
        ("world(counts=ml1m)", "unknown dataset 'ml1m': did you mean 'ml-1m'"),
        ("world(counts=world(alpha=1))", "unknown dataset 'world"),
    ],
)
def test_wrong_names_are_refused(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_dataset(name)


def test_paths_and_names_are_told_apart() -> None:
    assert is_path(Path("world()"))
    assert all(map(is_path, ("a.csv", "a/b", "a\\b", "world(1).csv", "x/world()", "world(1)/a")))
    assert not any(map(is_path, (*registry(), "world()", "world(skew=0.5)", "world(skew=0.5")))


def test_a_world_has_one_edition_whatever_its_spelling() -> None:
    name = edition_name("world(seed=3,relation=-0.5)")
    assert name == edition_name("world(relation=-0.50,skew=0.65,seed=3)")
    assert re.fullmatch(r"[\w.+=-]+", name)
    assert name != edition_name("world(relation=0.5,seed=3)")


# ---------------------------------------------------------------------------- as data sets


def digest(dataset: Dataset) -> str:
    """Hash what a world holds: the observed ratings, and the truth of all pairs."""
    assert dataset.truth is not None
    found = hashlib.sha256(dataset.ratings.content_hash.encode())
    found.update(dataset.truth.true_rating(np.arange(dataset.ratings.n_users)).tobytes())
    return found.hexdigest()[:16]


def digest_of(name: str) -> str:
    return digest(load_dataset(name))


GOLDEN = {
    "world(relation=-0.5,skew=0.7,users=150,items=220,seed=3)": "6b9c7407ae866925",
    "world(relation=1,skew=0.3,users=150,items=220,density=0.1,liked=5)": "decf7de8a679e434",
    "world(relation=0.5,users=150,items=220,choice=0)": "19d60f5a7909974c",
    "world(alpha=1.4,users=150,items=220)": "35a7615f70698e70",
    "world(counts=synthetic)": "21ea0b7f884a79c1",
    "synthetic": "69b9fc8fe8d86cd3",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_worlds_hold_what_their_revision_did(name: str) -> None:
    assert REVISION == 1
    assert digest_of(name) == GOLDEN[name], (
        "if that is meant, raise recbias.data.simulation.REVISION, renew these digests and what "
        "was recorded on worlds, and say so in CHANGES.md"
    )


def test_a_change_of_the_simulation_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(iter(GOLDEN))
    monkeypatch.setattr(preferences, "_TASTE_SD", 0.66)
    assert digest_of(name) != GOLDEN[name]


@pytest.mark.slow
def test_a_worker_makes_the_same_world_from_its_name() -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert list(pool.map(digest_of, GOLDEN)) == list(GOLDEN.values())


def test_a_world_is_a_data_set_with_a_record_of_its_own() -> None:
    dataset = load_dataset("world(seed=3, users=60, items=80, relation=0)")
    assert dataset.name == "world(relation=0,users=60,items=80,seed=3)"
    assert dataset.title == "World: relation=0,users=60,items=80,seed=3"
    assert dataset.source == f"made here as {dataset.name}"
    assert dataset.info.content_hash == dataset.ratings.content_hash
    assert dataset.info.n_ratings == len(dataset.ratings)
    assert list(dataset.info.cannot_test) == ["no timestamps", "real people"]
    unmade = dataset_info("world(users=60,items=80,seed=3,relation=0)")
    assert (unmade.name, unmade.title, unmade.n_users) == (dataset.name, dataset.title, 60)
    assert unmade.content_hash is None
    assert unmade.files == ()
    with pytest.raises(ConfigError, match="scale is for own tables"):
        load_dataset("world()", scale=dataset.ratings.scale)


def test_a_world_with_counts_says_whose_terms_hold() -> None:
    info = dataset_info("world(counts=ml-1m)")
    source = dataset_info("ml-1m")
    assert source.licence in info.licence
    assert (info.use, info.n_ratings, info.scale) == (source.use, 1_000_209, source.scale)
    assert info.merged_below == source.merged_below == 4
    assert set(info.cannot_test) == {"no timestamps", "real people", "merged stars"}


def test_counts_of_data_that_are_not_here_come_with_the_way_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "data_dirs", lambda extra=None: [extra] if extra else [])
    with pytest.raises(MissingData, match=r"(?s)ml-100k is not here.*recbias data fetch ml-100k"):
        load_dataset("world(counts=ml-100k)", data_dir=tmp_path)


def test_parts_have_hashes() -> None:
    world, other = load_dataset("world(alpha=0)"), load_dataset("world(alpha=0,seed=2)")
    assert world.part_hash("observed") == world.ratings.content_hash
    assert world.part_hash("truth") != other.part_hash("truth")
    assert re.fullmatch("[0-9a-f]{64}", world.part_hash("truth"))
    with pytest.raises(ConfigError, match="has no unbiased part\nuse a data set that has one"):
        world.part_hash("unbiased")
    with pytest.raises(ConfigError, match="unknown part of a data set 'true'"):
        world.part_hash("true")
    # Whatever changes in one of its two parts changes the unbiased hash.
    first, second = SOURCE.take(np.arange(50)), SOURCE.take(np.arange(40, 90))
    info = dataset_info("coat")
    pairs = [(first, second), (first, first), (second, first)]
    hashes = {Dataset(a, info, "", unbiased=b).part_hash("unbiased") for a, b in pairs}
    assert len(hashes) == 3
    with pytest.raises(ConfigError, match="coat has no known truth\nuse a world"):
        Dataset(first, info, "").part_hash("truth")


def test_the_revision_belongs_to_the_hash_of_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = load_dataset("world(alpha=0)")
    before = dataset.part_hash("truth")
    monkeypatch.setattr("recbias.data.datasets.REVISION", REVISION + 1)
    assert dataset.part_hash("truth") != before


# ---------------------------------------------------------------------------- truth


@each_world
def test_truth_is_what_was_observed(world: World) -> None:
    ratings, stars = world.ratings, world.true_rating(everyone(world))
    assert stars.dtype == np.float32
    assert stars.shape == (ratings.n_users, ratings.n_items)
    assert (stars[ratings.user, ratings.item] == ratings.value.astype(np.float32)).all()
    some = np.array([7, 199, 7, 0])
    assert (world.true_rating(some) == stars[some]).all()


@each_world
@pytest.mark.parametrize("min_rating", [1, 3.5, 4, 5])
def test_shares_of_likers_are_counted(world: World, min_rating: float) -> None:
    liking = (world.true_rating(everyone(world)) >= min_rating).sum(axis=0)
    assert world.share_liking(min_rating) == pytest.approx(liking / 200, abs=0)


def test_values_between_those_of_float32_are_kept() -> None:
    # As the merged stars of ml-1m, 2.48.
    merged = SOURCE.merge_below(4, 2.48)
    world = count_world(CountOptions(counts="ml-1m"), merged)
    assert set(world.ratings.value) == {2.48, 4.0, 5.0}
    assert world.ratings.merged_below == 4
    sample = world.sample(300, rng=np.random.default_rng(1))
    assert set(sample.value) == {2.48, 4.0, 5.0}
    assert (world.share_liking(2.48) == 1).all()


def check_uniform(sample: Ratings, n_per_user: int) -> None:
    """Check that all items are drawn alike.

    The number of draws of item i is a sum over independent users; draws of one user are without
    replacement. Its variance is N p (1 - p), its correlation with that of another item is
    -1 / (m - 1), so that the statistic below is chi-square distributed with m - 1 degrees of
    freedom.
    """
    n_users, n_items = sample.n_users, sample.n_items
    share = n_per_user / n_items
    excess = sample.item_counts() - n_users * share
    variance = n_users * share * (1 - share) * n_items / (n_items - 1)
    statistic = (excess**2).sum() / variance
    assert FALSE_ALARM < scipy.stats.chi2.sf(statistic, n_items - 1) < 1 - FALSE_ALARM


@each_world
def test_samples_of_the_truth_are_uniform_and_true(world: World) -> None:
    sample = world.sample(16, rng=np.random.default_rng(5))
    assert (sample.user_counts() == 16).all()
    stars = world.true_rating(everyone(world))
    assert (stars[sample.user, sample.item] == sample.value.astype(np.float32)).all()
    assert sample.user_ids.tolist() == world.ratings.user_ids.tolist()
    check_uniform(sample, 16)
    observed = world.ratings.matrix() != 0
    share = world.ratings.density
    hits = observed[sample.user, sample.item].sum()
    assert scipy.stats.binomtest(int(hits), len(sample), share).pvalue > FALSE_ALARM


def test_a_sample_that_prefers_popular_items_is_noticed() -> None:
    observed = WORLDS["preferences"].ratings
    with pytest.raises(AssertionError):
        check_uniform(observed, len(observed) / observed.n_users)


def test_a_sample_of_all_is_the_truth_and_other_sizes_are_refused() -> None:
    world = WORLDS["power law"]
    sample = world.sample(300, rng=np.random.default_rng(1))
    assert (sample.matrix().toarray() == world.true_rating(everyone(world))).all()
    for n_per_user in (0, 301):
        with pytest.raises(ConfigError, match=f"{n_per_user} items per user: expected 1 to 300"):
            world.sample(n_per_user, rng=np.random.default_rng(1))


# ---------------------------------------------------------------------------- without preferences


def check_free_of_preferences(world: World, shares: np.ndarray) -> None:
    """Check that true stars have their shares among observed and other pairs, popular or not."""
    levels = np.unique(world.ratings.value).astype(np.float32)
    codes = np.searchsorted(levels, world.true_rating(everyone(world)))
    observed = world.ratings.matrix().toarray() > 0
    third = np.argsort(np.argsort(world.ratings.item_counts(), kind="stable")) // 100
    group = third + 3 * observed
    table = np.zeros((6, len(levels)))
    np.add.at(table, (group, codes), 1)
    expected = table.sum(axis=1, keepdims=True) * shares
    assert expected.min() > 5  # where the chi-square distribution holds
    statistic = ((table - expected) ** 2 / expected).sum()
    assert scipy.stats.chi2.sf(statistic, 6 * (len(levels) - 1)) > FALSE_ALARM


def test_stars_have_nothing_to_do_with_popularity_or_choice() -> None:
    check_free_of_preferences(WORLDS["power law"], np.array(STAR_SHARES))
    _, n_each = np.unique(SOURCE.value, return_counts=True)
    check_free_of_preferences(WORLDS["counts"], n_each / len(SOURCE))


def test_a_world_with_preferences_is_not_free_of_them() -> None:
    with pytest.raises(AssertionError):
        check_free_of_preferences(WORLDS["preferences"], np.array(STAR_SHARES))


def test_counts_are_those_of_the_data() -> None:
    ratings = WORLDS["counts"].ratings
    assert (ratings.user_counts() == SOURCE.user_counts()).all()
    assert (ratings.item_counts() == SOURCE.item_counts()).all()
    # Who rates what was drawn anew: few more pairs coincide than counts alone make coincide.
    same = np.isin(
        ratings.user * 300 + ratings.item, SOURCE.user * 300 + SOURCE.item, assume_unique=True
    )
    other = count_world(CountOptions(counts="synthetic", seed=5), SOURCE).ratings
    chance = np.isin(other.user * 300 + other.item, ratings.user * 300 + ratings.item)
    assert same.mean() < chance.mean() + 5 * np.sqrt(2 * 0.25 / len(SOURCE))


@pytest.mark.parametrize(("alpha", "least", "offset"), [(0, 0, 0), (1.4, 0, None), (2, 3, 5)])
def test_counts_are_a_power_law(alpha: float, least: float, offset: float | None) -> None:
    options = PowerLawOptions(alpha=alpha, least=least, offset=offset, users=200, items=300)
    ratings = power_law_world(options).ratings
    law = power_law(
        300,
        0.063 * 200 * 300,
        alpha=alpha,
        offset=317 / 3706 * 300 if offset is None else offset,
        least=least,
    )
    expected = np.clip(np.floor(law + 0.5), 1, 200)
    assert sorted(ratings.item_counts(), reverse=True) == expected.tolist()
    # Items are in random order, and users alike: a user's count is a sum over independent items.
    assert alpha == 0 or abs(
        scipy.stats.spearmanr(ratings.item_counts(), range(300))[0]
    ) < 5 / np.sqrt(300)
    chances = expected / 200
    excess = ratings.user_counts() - chances.sum()
    statistic = (excess**2).sum() / (chances * (1 - chances)).sum() * 199 / 200
    assert FALSE_ALARM < scipy.stats.chi2.sf(statistic, 199) < 1 - FALSE_ALARM


def check_keeps_the_total(counts: np.ndarray, law: np.ndarray, total: int, most: int) -> None:
    """Check whole numbers against a law: the sum, the limits, and no more than rounding between."""
    assert counts.dtype == np.int64
    assert counts.sum() == total
    assert counts.min() >= 1
    assert counts.max() <= most
    assert (np.diff(counts) <= 0).all()
    assert np.abs(counts - law).max() < 1 + 1e-3


def solved(n_ranks: int, total: int, most: int, alpha: float, offset: float, least: float) -> Any:
    """Find the clipped law with this sum by a root finder of another library."""
    shape = np.array([(offset + k) ** -alpha for k in range(1, n_ranks + 1)])

    def law(log_scale: float) -> np.ndarray:
        return np.minimum(most, np.maximum(1, least + np.exp(log_scale) * shape))

    found = scipy.optimize.brentq(lambda x: law(x).sum() - total, -50, 200, xtol=1e-14)
    return law(found)


@pytest.mark.parametrize(
    ("alpha", "offset", "least", "total", "most"),
    [
        (0, 317, 0, 1_000_209, 6040),
        (1.4, 317, 0, 1_000_209, 6040),
        (2, 317, 0, 1_000_209, 6040),
        (2, 1, 0, 60_000, 200),  # the head is cut at the number of users
        (3, 1, 0, 4_000, 900),  # the tail at one rating
        (1, 5, 4, 30_000, 200),
    ],
)
def test_whole_counts_of_a_power_law_keep_the_total(
    alpha: float, offset: float, least: float, total: int, most: int
) -> None:
    n_ranks = 3706
    counts = whole_power_law(n_ranks, total, most=most, alpha=alpha, offset=offset, least=least)
    law = solved(n_ranks, total, most, alpha, offset, least)
    check_keeps_the_total(counts, law, total, most)
    # Rounding each on its own, or cutting what was shared out without limits, loses the total.
    one_by_one = np.floor(power_law(n_ranks, total, alpha=alpha, offset=offset, least=least) + 0.5)
    with pytest.raises(AssertionError):
        check_keeps_the_total(np.clip(one_by_one, 1, most).astype(np.int64), law, total, most)


@pytest.mark.parametrize("total", [299, 300 * 50 + 1])
def test_a_total_that_no_counts_have_is_refused(total: int) -> None:
    with pytest.raises(ConfigError, match=rf"{total} ratings of 300 items: expected 1 to 50"):
        whole_power_law(300, total, most=50, alpha=1, offset=3)


def test_a_world_has_the_ratings_and_the_stars_asked_for() -> None:
    name = "world(alpha=1.4,users=900,items=700,ratings=90001,stars=ml-1m)"
    world = load_dataset(name)
    assert world.name == name
    assert len(world.ratings) == 90_001
    expected = np.array([56_174, 107_557, 261_197, 348_971, 226_310]) / 1_000_209
    stars = np.bincount(world.ratings.value.astype(int), minlength=6)[1:]
    assert scipy.stats.chisquare(stars, expected * 90_001).pvalue > FALSE_ALARM
    other = load_dataset("world(alpha=1.4,users=900,items=700,ratings=90001)")
    assert (other.ratings.item == world.ratings.item).all()
    stars = np.bincount(other.ratings.value.astype(int), minlength=6)[1:]
    assert scipy.stats.chisquare(stars, expected * 90_001).pvalue < FALSE_ALARM


def matrices(of_user: list[int], of_item: list[int]) -> Iterator[tuple[int, ...]]:
    """List all sets of pairs with the given numbers, as ascending numbers of pairs."""
    n_items = len(of_item)
    rows = [itertools.combinations(range(n_items), count) for count in of_user]
    for chosen in itertools.product(*rows):
        counts = np.bincount([item for row in chosen for item in row], minlength=n_items)
        if counts.tolist() == of_item:
            yield tuple(u * n_items + i for u, row in enumerate(chosen) for i in row)


def test_all_matchings_are_drawn_alike() -> None:
    of_user, of_item = [2, 2, 1, 1], [3, 1, 1, 1]
    every = dict.fromkeys(matrices(of_user, of_item), 0)
    keys = np.random.default_rng(2).integers(2**63, size=4000).astype(np.uint64)
    for key in keys:
        user, item = match_at_random(np.array(of_user), np.array(of_item), key)
        every[tuple((user * 4 + item).tolist())] += 1
    assert len(every) > 5
    assert scipy.stats.chisquare(list(every.values())).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("of_user", "of_item", "message"),
    [
        ([1, 1], [3], "users have 2 ratings in all, items 3"),
        ([2, 1], [3, 0], "no pairs were found"),
    ],
)
def test_impossible_counts_are_refused(
    of_user: list[int], of_item: list[int], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        match_at_random(np.array(of_user), np.array(of_item), np.uint64(1))


def test_a_full_matrix_is_found() -> None:
    user, item = match_at_random(np.full(30, 20), np.full(20, 30), np.uint64(1))
    assert (user * 20 + item == np.arange(600)).all()
