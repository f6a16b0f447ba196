"""Closed forms for rankings that treat all users alike: by hand, by enumeration, in worlds.

Each comparison with a simulated world allows five standard errors of its mean over independent
worlds: a false alarm in two of a million runs, if seeds were not fixed. What the forms leave out on
purpose is below half a standard error there; the twin of each test shows that it can fail.
"""

import itertools

import numpy as np
import pytest
from scipy import stats

from explicit_lists import FixedScores, make_split
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric
from recbias.protocol.targets import TargetRule, Targets
from recbias.ranking import rank, target_lists, top_items
from recbias.testing import naive_list
from recbias.theory import (
    item_rates,
    listed_sum,
    random_sum,
    relevant_counts,
    run_bounds,
    run_depths,
)

NONE = np.nan


def world(rng, rated, liked, n_users, sigma=0.3):
    """A split of ratings that come about by one chance for each item, and are liked by another."""
    shape = (n_users, len(rated))
    stars = np.where(rng.random(shape) < liked, 5.0, 1.0)
    stars[rng.random(shape) >= rated] = NONE
    tested = rng.random(shape) < sigma
    return make_split(np.where(tested, NONE, stars), np.where(tested, stars, NONE))


def small_split():
    """Four users, five items; item 4 is in training only."""
    train = [
        [5, NONE, 3, NONE, 5],
        [NONE, 5, NONE, NONE, 5],
        [5, NONE, NONE, 1, NONE],
        [NONE] * 5,
    ]
    test = [
        [NONE, 5, NONE, 5, NONE],
        [2, NONE, NONE, NONE, NONE],
        [NONE, NONE, 5, NONE, NONE],
        [NONE] * 5,
    ]
    return make_split(train, test)


def test_rates_of_a_small_split_are_those_of_the_formulas():
    split = small_split()
    liked, rated = np.array([2, 2, 1, 1, 2]), np.array([3, 2, 2, 2, 2])
    np.testing.assert_array_equal(relevant_counts(split, min_rating=5), liked)
    sigma, t = 4 / 11, 4 / (1 / 2 + 1 / 3 + 1 / 2 + 1 / 4)
    np.testing.assert_allclose(
        item_rates(split, "TI", "Eq. 3", min_rating=5), sigma * 4 * liked / (t * 4)
    )
    np.testing.assert_allclose(
        item_rates(split, "TI", "odds", min_rating=5), sigma * liked / (4 - (1 - sigma) * rated)
    )
    assert run_depths(split, 3, min_rating=5).tolist() == [4, 3, 3, 3]


def test_an_item_that_all_have_in_training_has_a_rate():
    split = make_split([[5, NONE, NONE], [5, 5, NONE]], [[NONE, 5, NONE], [NONE] * 3])
    assert np.isfinite(item_rates(split, "AI", "odds", min_rating=5)).all()
    with pytest.raises(ConfigError, match="unknown form"):
        item_rates(split, "AI", "Eq. 4", min_rating=5)


def naive_sums(split, worth, cutoffs, size):
    """The mean over all samples and orders of what the first of each user's targets are worth."""
    sums, sizes = [], []
    tested = set(split.test.item.tolist())
    for user, cutoff in enumerate(cutoffs):
        own = [
            {
                int(item): float(value)
                for u, item, value in zip(part.user, part.item, part.value, strict=True)
                if u == user
            }
            for part in (split.train, split.test)
        ]
        liked = [item for item, value in own[1].items() if value >= 5]
        others = [item for item in tested if item not in own[0] and item not in liked]
        found = [
            np.mean([sum(worth[list(order[:cutoff])]) for order in itertools.permutations(members)])
            for sample in itertools.combinations(others, min(size, len(others)))
            for members in [(*sample, *liked)]
        ]
        sums.append(np.mean(found))
        sizes.append(min(size, len(others)) + len(liked))
    return np.mean(sums), sizes


@pytest.mark.parametrize("n_sampled", [None, 1, 2])
def test_a_random_ranking_is_the_mean_over_all_samples_and_orders(n_sampled):
    split, worth = small_split(), np.array([8.0, 4, 2, 1, 64])
    for cutoffs in (np.full(4, 1), np.full(4, 2), np.array([3, 1, 2, 4])):
        wanted, sizes = naive_sums(split, worth, cutoffs, 9 if n_sampled is None else n_sampled)
        value, found = random_sum(split, worth, cutoffs, min_rating=5, n_sampled=n_sampled)
        assert value == pytest.approx(wanted, abs=1e-12)
        assert found.tolist() == sizes
        other, _ = random_sum(split, worth, cutoffs + 1, min_rating=5, n_sampled=3)
        assert other != pytest.approx(wanted, abs=1e-3) or n_sampled is None


def test_lists_beyond_their_depth_and_places_without_item_are_seen():
    lists = np.array([[0, 1], [1, -1]])
    worth = np.array([1.0, 10.0])
    assert listed_sum(lists, worth, np.array([1, 2])) == (1 + 10) / 2
    with pytest.raises(ConfigError, match="a cutoff of 3 is beyond lists of 2 items"):
        listed_sum(lists, worth, 3)


# ---- lists of target sets


def test_whole_target_sets_are_listed_as_they_are_ranked():
    rng = np.random.default_rng(4)
    split = world(rng, np.full(30, 0.4), np.full(30, 0.5), 40)
    scores = rng.permuted(np.tile(np.arange(30.0), (40, 1)), axis=1)
    scores[rng.random((40, 30)) < 0.1] = NONE
    system = FixedScores(scores)
    lists, sizes = target_lists(system, split, np.full(40, 7), min_rating=5, seed=1)
    np.testing.assert_array_equal(
        lists, top_items(system, split, cutoff=7, candidates="TI", seed=3)
    )
    table = rank(system, split, [Targets(TargetRule.parse("TI-AN-AR"))], seed=1)[0]
    np.testing.assert_array_equal(sizes, table.n_targets)
    deeper, _ = target_lists(system, split, np.arange(40) % 8, min_rating=5, seed=1)
    for user in range(40):
        assert deeper[user].tolist() == [*lists[user, : user % 8], *[-1] * (7 - user % 8)]


def test_samples_hold_the_relevant_items_and_others_equally_often():
    rng = np.random.default_rng(6)
    split = world(rng, np.full(20, 0.5), np.full(20, 0.4), 5)
    scores = rng.permuted(np.tile(np.arange(20.0), (5, 1)), axis=1)
    counts = np.zeros((5, 20))
    n_draws, wanted = 400, 2
    for seed in range(n_draws):
        lists, sizes = target_lists(
            FixedScores(scores), split, np.full(5, 20), min_rating=5, n_sampled=wanted, seed=seed
        )
        for user, listed in enumerate(lists):
            own = listed[listed >= 0]
            assert len(own) == sizes[user]
            ties = list(range(20))
            assert own.tolist() == naive_list(dict(zip(own, scores[user, own], strict=True)), ties)
            counts[user, own] += 1
    smallest = 1.0
    for user in range(5):
        rows = split.test.user == user
        liked = set(split.test.item[rows & (split.test.value >= 5)].tolist())
        trained = set(split.train.item[split.train.user == user].tolist())
        pool = sorted(set(split.test_items.tolist()) - liked - trained)
        assert (counts[user, sorted(liked)] == n_draws).all()
        assert (counts[user, sorted(trained)] == 0).all()
        # Of a sample without replacement, sum (count - mean)^2 / variance * (N - 1) / N is chi2.
        share = wanted / len(pool)
        z2 = np.sum((counts[user, pool] - n_draws * share) ** 2) / (n_draws * share * (1 - share))
        smallest = min(smallest, stats.chi2.sf(z2 * (len(pool) - 1) / len(pool), len(pool) - 1))
    assert smallest > 1e-6 / 5


def test_ties_are_broken_either_way():
    split = make_split(np.full((200, 2), NONE), [[5, 1]] * 200)
    lists, _ = target_lists(
        FixedScores(np.zeros((200, 2))), split, np.full(200, 1), min_rating=5, seed=1
    )
    first = int((lists[:, 0] == 0).sum())
    assert stats.binomtest(first, 200).pvalue > 1e-6


def test_depths_of_another_number_of_users_are_refused():
    with pytest.raises(ConfigError, match=r"depth has shape \(3,\), expected \(4,\)"):
        target_lists(
            FixedScores(np.zeros((4, 5))), small_split(), np.full(3, 2), min_rating=5, seed=1
        )


# ---- expectations in worlds

FLAT = np.full(150, 0.2)
STEEP = 0.75 * (np.arange(1, 151) / 4 + 0.75) ** -1.0
LIKED = np.linspace(0.9, 0.1, 150)


def errors(rated, liked, form, *, n_worlds=60, cutoff=5, exact=None):
    """Observed minus predicted P@n of the best-liked items first, in as many worlds."""
    found = []
    for seed in range(n_worlds):
        split = world(np.random.default_rng(seed), rated, liked, 200)
        order = FixedScores(np.tile(rated * liked, (200, 1)))
        table = rank(order, split, [Targets(TargetRule.parse("TI-AN-AR"))], seed=1)[0]
        observed = measure(table, [parse_metric(f"P@{cutoff}")], min_rating=5).mean()
        lists, _ = target_lists(order, split, np.full(200, cutoff), min_rating=5, seed=1)
        rates = item_rates(split, "TI", form, min_rating=5)
        found.append(observed - listed_sum(lists, rates, cutoff) / cutoff)
    return np.array(found)


def z(values):
    return values.mean() / (values.std(ddof=1) / np.sqrt(len(values)))


def test_where_items_are_rated_alike_both_forms_expect_what_is_observed():
    for form in ("Eq. 3", "odds"):
        assert abs(z(errors(FLAT, LIKED, form))) < 5


def test_where_they_are_not_only_the_odds_do():
    assert abs(z(errors(STEEP, np.full(150, 0.5), "odds"))) < 5
    assert z(errors(STEEP, np.full(150, 0.5), "Eq. 3")) > 20


def bounds(rated, scores, seed, *, cutoff=4, n_sampled=19):
    """Closed forms, and what the lemma's bounds and 1RP are, over runs that share a sample."""
    split = world(np.random.default_rng(seed), rated, np.full(150, 0.5), 120)
    system = FixedScores(scores)
    depth = run_depths(split, cutoff, min_rating=5)
    lists, sizes = target_lists(system, split, depth, min_rating=5, n_sampled=n_sampled, seed=seed)
    counts = relevant_counts(split, min_rating=5)
    first, every = (listed_sum(lists, counts, each) for each in (cutoff, depth))
    closed = run_bounds(split, first, every, sizes, cutoff, min_rating=5)
    table = rank(system, split, [Targets(TargetRule.parse("TI-AN-1R"), 5)], seed=seed)[0]
    names = [f"{name}@{cutoff}|t={n_sampled + 1}" for name in ("lower", "upper", "P")]
    measured = measure(table, [parse_metric(name) for name in names], min_rating=5).mean(axis=1)
    return np.array([closed.lower, closed.upper, *measured, closed.printed])


def test_the_closed_lower_bound_is_that_of_the_lemma_where_all_items_are_alike():
    scores = np.random.default_rng(1000).random((120, 150))
    found = np.array([bounds(FLAT, scores, seed, n_sampled=149) for seed in range(60)])
    assert abs(z(found[:, 0] - found[:, 2])) < 5
    assert abs(z(1.3 * found[:, 0] - found[:, 2])) > 5
    # Who has many positives has a deeper list and more hits in it: the closed form averages apart.
    assert found[:, 1].mean() < found[:, 3].mean()
    assert (found[:, 2] <= found[:, 4]).all()
    assert (found[:, 4] <= found[:, 3]).all()


def test_closed_forms_are_no_bounds_where_popular_items_come_first():
    popular = np.tile(STEEP, (120, 1))
    found = np.array([bounds(STEEP, popular, seed, n_sampled=149) for seed in range(20)])
    assert (found[:, 4] > found[:, 1]).all()
    assert (found[:, 2] <= found[:, 4]).all()
    assert (found[:, 4] <= found[:, 3]).all()


def test_the_printed_bound_has_the_whole_catalogue():
    split = small_split()
    found = run_bounds(split, 3.0, 5.0, np.array([2, 3, 2, 4]), 2, min_rating=5)
    t = 4 / (1 / 2 + 1 / 3 + 1 / 2 + 1 / 4)
    np.testing.assert_allclose(
        found, [4 * 3 / (2 * t * 8), 4 * 5 / (2 * t * 8), 5 * 3 / (2 * t * 8)]
    )
    assert np.isnan(run_bounds(split, 3.0, 5.0, np.full(4, 2), 2, min_rating=6)).all()
