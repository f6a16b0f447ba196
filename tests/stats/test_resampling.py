"""Resampling: weights, weighted sums and medians, and intervals that cover."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recbias.errors import ConfigError
from recbias.experiment.reduction import N_REPLICATES
from recbias.metrics.aggregation import replicates
from recbias.stats.resampling import (
    bootstrap_weights,
    crossed_sums,
    draw_weights,
    interval,
    linear_replicates,
    normal_interval,
    weighted_medians,
    weighted_sums,
)


def test_weights_are_multinomial_counts():
    n_users, n_replicates = 50, 4000
    weights = bootstrap_weights(n_users, n_replicates, rng=np.random.default_rng(1))
    assert weights.dtype == np.uint8
    assert (weights.sum(axis=1) == n_users).all()
    counts = np.bincount(weights.ravel(), minlength=12)[:6]
    expected = stats.binom.pmf(range(6), n_users, 1 / n_users) * weights.size
    assert np.abs((counts - expected) / np.sqrt(expected)).max() < 5
    covariance = np.cov(weights[:, :2].T)
    assert covariance[0, 0] == pytest.approx(1 - 1 / n_users, rel=0.15)


def test_weights_follow_the_generator():
    first, same, other = (
        bootstrap_weights(20, 5, rng=np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_more_replicates_begin_with_those_of_fewer():
    few, more = (bootstrap_weights(30, n, rng=np.random.default_rng(3)) for n in (500, 1000))
    np.testing.assert_array_equal(more[:500], few)


def jitter_of_ends(n_replicates, n_seeds=25):
    """S.d. of an interval's end over resampling seeds, in standard errors, pooled over 40 ends."""
    columns = np.random.default_rng(40).random((20, 100))
    ends = []
    for seed in range(n_seeds):
        weights = bootstrap_weights(100, n_replicates, rng=np.random.default_rng(seed))
        ends.append(interval(weighted_sums(columns, weights).T / 100))
    errors = columns.std(axis=1) / np.sqrt(100)
    return np.sqrt((np.var(ends, axis=0, ddof=1) / errors[:, None] ** 2).mean())


def test_ends_of_intervals_hardly_move_with_the_resampling_seed():
    """At most .1 s.e.; expected is sqrt(.025 * .975 / 1000) / phi(1.96) = .0845 s.e.

    Forty ends and 25 seeds give 960 degrees of freedom, of which .1 leaves a false alarm with
    probability chi2.sf(960 * (.1 / .0845) ** 2, 960) < 1e-14; five hundred replicates expect .1194
    and pass with probability chi2.cdf(960 * (.1 / .1194) ** 2, 960) < 1e-12.
    """
    assert jitter_of_ends(N_REPLICATES) <= 0.1
    assert jitter_of_ends(500) > 0.1


def test_replicates_are_the_value_of_the_repeated_users():
    rng = np.random.default_rng(4)
    numerator, denominator = rng.random((3, 30)), rng.integers(0, 3, 30).astype(float)
    weights = bootstrap_weights(30, 20, rng=rng)
    found = replicates(numerator, denominator, weights)
    for number, row in enumerate(weights):
        users = np.repeat(np.arange(30), row)
        expected = numerator[:, users].sum(axis=1) / denominator[users].sum()
        np.testing.assert_allclose(found[:, number], expected, rtol=1e-13)
    once = replicates(numerator, denominator, np.ones((1, 30), dtype=np.uint8))
    np.testing.assert_allclose(once[:, 0], numerator.sum(axis=1) / denominator.sum(), rtol=1e-13)


def test_bits_of_a_replicate_depend_on_itself_alone():
    rng = np.random.default_rng(5)
    numerator, denominator = rng.random((7, 101)), np.ones(101)
    weights = bootstrap_weights(101, 9, rng=rng)
    together = replicates(numerator, denominator, weights)
    for metric in range(7):
        alone = replicates(numerator[metric : metric + 1], denominator, weights[3:4])
        assert alone[0, 0] == together[metric, 3]


def test_a_sample_without_members_has_no_value():
    found = replicates(np.array([[1.0, 0.0]]), np.array([1.0, 0.0]), np.array([[0, 2], [1, 1]]))
    np.testing.assert_array_equal(found, [[np.nan, 1.0]])
    assert np.isnan(interval(found)).all()


def test_interval_cuts_equal_tails_of_every_row():
    values = np.vstack([np.arange(1001.0), 5 - np.arange(1001.0)])
    np.testing.assert_allclose(interval(values, level=0.8), [[100, 900], [-895, -95]])


@pytest.mark.parametrize("level", [-0.5, 0, 1, 1.5, 95])
def test_a_level_that_is_no_coverage_is_refused(level):
    with pytest.raises(ConfigError, match=f"level {level}"):
        interval([0.1, 0.2], level=level)
    with pytest.raises(ConfigError, match=f"level {level}"):
        normal_interval(0.5, [0.1, 0.2], level=level)


def test_infinite_replicates_leave_no_limit_where_they_decide_it():
    drawn = [np.linspace(0, 1, 101), [0.0] * 51 + [np.inf] * 50, [np.inf] * 101]
    limits = interval([list(one) for one in drawn])
    np.testing.assert_array_equal(np.isfinite(limits), [[True, True], [True, False], [False] * 2])


def test_normal_interval_is_centred_on_what_was_observed():
    rng = np.random.default_rng(6)
    values = rng.normal([[0.2], [5.0]], [[0.1], [2.0]], (2, 20_000))
    found = normal_interval([0.5, 0.0], values)
    expected = [[0.5 - 0.196, 0.5 + 0.196], [-3.92, 3.92]]
    # The standard deviation of 20,000 draws is off by 1 / sqrt(40,000) = .5 %, five times at most.
    np.testing.assert_allclose(found - np.mean(found, axis=1)[:, None],
                               np.array(expected) - np.mean(expected, axis=1)[:, None],
                               rtol=0.025)  # fmt: skip
    np.testing.assert_allclose(found.mean(axis=1), [0.5, 0.0], atol=1e-12)
    assert np.isnan(normal_interval(0.5, [0.1, np.nan])).all()


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 0.7, np.nan]), st.integers(1, 3), st.integers(0, 3)),
        max_size=8,
    ),
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
)
def test_weighted_medians_are_those_of_repeated_values(rows, user_weights):
    values, weights, user = np.array(rows, dtype=float).reshape(-1, 3).T
    found = weighted_medians(
        values[None], weights, user.astype(int), np.array([user_weights, [1, 1, 1, 1]])
    )[0]
    for value, row in zip(found, (user_weights, [1, 1, 1, 1]), strict=True):
        repeated = [v for v, w, u in rows for _ in range(w * row[u]) if not np.isnan(v)]
        expected = median(repeated) if repeated else np.nan
        assert value == pytest.approx(expected, abs=1e-15, nan_ok=True)


def test_a_unit_that_is_not_drawn_is_no_middle():
    user_weights = np.array([[1, 0, 1], [1, 1, 1]])
    found = weighted_medians(np.array([[0.0, 0.5, 2.0]]), np.ones(3), np.arange(3), user_weights)
    np.testing.assert_array_equal(found, [[1.0, 0.5]])


def test_a_user_who_is_not_drawn_says_nothing():
    found = weighted_sums(np.array([[1.5, np.nan]]), np.array([[2, 0], [1, 1]]))
    np.testing.assert_array_equal(found, [[3.0], [np.nan]])


def test_what_is_of_no_item_is_weighted_by_its_user_alone():
    users, items = np.array([[1, 2], [0, 3]], np.uint8), np.array([[5, 0]], np.uint8)
    found = crossed_sums(np.array([0, 1, 1]), np.array([0, -1, -1]), np.ones(3), users, items)
    np.testing.assert_array_equal(found, [5.0, 6.0])


def test_linear_replicates_add_what_draws_differ_by():
    """By the definition, where the influence of all does not sum to 0."""
    influence, weights = np.array([[1.0, 2.0, 6.0]]), np.array([[1, 1, 1], [0, 1, 2], [3, 0, 0]])
    expected = [4.0, 4.0 + (-1.0 + 6.0) / 3, 4.0 + (2.0 - 2.0 - 6.0) / 3]
    found = linear_replicates(np.array([4.0]), influence, weights)
    np.testing.assert_allclose(found, [expected], rtol=1e-12)


def test_linear_replicates_of_a_mean_are_the_means_of_the_resampled():
    rng = np.random.default_rng(8)
    values, weights = rng.random((2, 40)), bootstrap_weights(40, 25, rng=rng)
    mean = values.mean(axis=1)
    found = linear_replicates(mean, values - mean[:, None], weights)
    np.testing.assert_allclose(found, values @ weights.T / 40, rtol=1e-12)


def test_weighted_sums_are_those_of_repeated_users():
    rng = np.random.default_rng(7)
    columns, weights = rng.random((4, 20)), rng.integers(0, 4, (9, 20))
    np.testing.assert_allclose(weighted_sums(columns, weights), weights @ columns.T, rtol=1e-13)


def coverage_of(simulate, truth, n_studies=1000):
    """Share of simulated studies whose 95 % interval holds the truth, and 5 standard errors."""
    n_users = 150
    rng = np.random.default_rng(30)
    weights = bootstrap_weights(n_users, 1000, rng=rng)
    studies = [simulate(rng, n_users) for _ in range(n_studies)]
    limits = np.array([interval(replicates(n[None], d, weights)) for n, d in studies])[:, 0]
    covered = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    return covered.mean(), 5 * np.sqrt(0.95 * 0.05 / n_studies)


def test_interval_of_a_mean_over_part_of_the_users_covers():
    """A user has a relevant item with probability .6, and then a value in tenths of mean .3."""

    def simulate(rng, n_users):
        member = (rng.random(n_users) < 0.6).astype(float)
        return member * rng.binomial(10, rng.beta(3, 7, n_users)) / 10, member

    coverage, tolerance = coverage_of(simulate, truth=0.3)
    assert abs(coverage - 0.95) < tolerance


def test_interval_of_a_micro_average_covers_although_runs_of_a_user_depend():
    """Users have 1 to 20 runs and a taste of their own: mean hit probability .3 for every run."""

    def simulate(rng, n_users):
        runs = rng.integers(1, 21, n_users)
        return rng.binomial(runs, rng.beta(1.5, 3.5, n_users)).astype(float), runs.astype(float)

    coverage, tolerance = coverage_of(simulate, truth=0.3)
    assert abs(coverage - 0.95) < tolerance

    def as_if_independent(rng, n_users):
        hits, runs = simulate(rng, n_users)
        shuffled = rng.permutation(
            np.repeat([1.0, 0.0], [int(hits.sum()), int((runs - hits).sum())])
        )
        first = np.concatenate([[0], np.cumsum(runs)[:-1]]).astype(int)
        return np.add.reduceat(shuffled, first), runs

    naive_coverage, _ = coverage_of(as_if_independent, truth=0.3, n_studies=300)
    assert naive_coverage < 0.8


def share_covered(weights, n_draws, n_studies=4000):
    """Say how often the interval of the mean of normal draws holds what they were drawn around."""
    values = np.random.default_rng(5).normal(size=(n_studies, n_draws))
    means = values.mean(axis=1)
    low, high = interval(means[:, None] + values @ weights.T).T
    return ((low <= 0) & (high >= 0)).mean()


@pytest.mark.parametrize("n_draws", [2, 3, 5, 10])
def test_intervals_over_few_draws_cover(n_draws):
    """Ends have the chance of 4000 studies, and of 4000 weights, about as much again."""
    weights = draw_weights(n_draws, 4000, rng=np.random.default_rng(n_draws))
    tolerance = 3 * np.sqrt(2 * 0.95 * 0.05 / 4000)
    assert abs(share_covered(weights, n_draws) - 0.95) < tolerance
    # The twins: half as wide, and draws that are resampled as users are.
    assert share_covered(weights / 2, n_draws) < 0.95 - tolerance
    counts = bootstrap_weights(n_draws, 4000, rng=np.random.default_rng(n_draws))
    assert share_covered(counts / n_draws - 1 / n_draws, n_draws) < 0.95 - tolerance


def test_draws_that_agree_move_nothing_and_one_says_nothing():
    weights = draw_weights(5, 1000, rng=np.random.default_rng(1))
    np.testing.assert_allclose(weights.sum(axis=1), 0, atol=1e-12)
    with pytest.raises(ConfigError, match="needs two at least"):
        draw_weights(1, 1000, rng=np.random.default_rng(1))
