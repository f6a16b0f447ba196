"""Aggregation: named populations worked out by hand, and intervals that cover."""

import numpy as np
import pytest
from scipy import stats

from rank_tables import run_table, user_table
from recbias.aggregation import (
    aggregate,
    bootstrap_weights,
    interval,
    replicates,
    user_sums,
)
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric


def average(table, *names, population, min_rating=4):
    metrics = [parse_metric(name) for name in names]
    values = measure(table, metrics, min_rating=min_rating)
    return aggregate(table, values, min_rating=min_rating, population=population).tolist()


USERS = user_table(
    ([1, 2], {1: 5, 9: 5}),  # P@2 .5, R@2 .5
    ([3, 4], {3: 4}),  # P@2 .5, R@2 1
    ([5, 6], {6: 2}),  # nothing relevant: antiP@2 .5
    ([7], {}),  # nothing in test
)


@pytest.mark.parametrize(
    ("population", "expected"),
    [
        ("all", [1 / 4, 1.5 / 4, 0.5 / 4]),
        ("tested", [1 / 3, 1.5 / 3, 0.5 / 3]),
        ("relevant", [1 / 2, 1.5 / 2, 0]),
    ],
)
def test_the_population_decides_the_mean(population, expected):
    """Undefined recall counts as 0 or its user is left out; NaN never drops a user silently."""
    found = average(USERS, "P@2", "R@2", "antiP@2", population=population)
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(("population", "size"), [("all", 4), ("tested", 3), ("relevant", 2)])
def test_the_denominator_is_the_size_of_the_population(population, size):
    values = measure(USERS, [parse_metric("RR")], min_rating=4)
    _, denominator = user_sums(USERS, values, min_rating=4, population=population)
    assert denominator.sum() == size


def test_the_threshold_decides_who_has_a_relevant_item():
    assert average(USERS, "P@2", population="relevant", min_rating=5) == [0.5]
    assert average(USERS, "P@2", population="relevant", min_rating=2) == [0.5]
    assert average(USERS, "P@2", population="all", min_rating=2) == [1.5 / 4]


def test_full_value_is_coverage_times_reduced_value():
    """formulas.md section 6, E19: 3 of 4 users with .4, .2, .6: reduced .4, full .3."""
    table = user_table(*[([1], {1: 5})] * 3, ([1], {}))
    values = np.array([[0.4, 0.2, 0.6, np.nan]])
    assert aggregate(table, values, min_rating=4, population="tested") == pytest.approx(0.4)
    assert aggregate(table, values, min_rating=4, population="all") == pytest.approx(0.3)


# ---- runs ----

RUNS = run_table(4, (0, 1, 5), (0, 7, 5), (0, 2, 4), (2, 3, 5))


def test_runs_are_a_micro_average():
    """BCC17 Eq. 1: two of user 0's three runs and none of user 2's one hit at 2."""
    assert average(RUNS, "P@2", population="runs") == [2 / 4 / 2]
    assert average(RUNS, "P@2", population="relevant") == pytest.approx([(2 / 3 + 0) / 2 / 2])
    assert average(RUNS, "P@2", population="all") == pytest.approx([(2 / 3 + 0) / 4 / 2])


def test_micro_average_over_popularity_groups():
    """formulas.md section 1.5: 8 of 10 runs and 1 of 2 hit at 10: micro .075."""
    ranks = [1] * 8 + [11] * 2 + [10, 11]
    table = run_table(12, *[(user, rank, 5) for user, rank in enumerate(ranks)])
    assert average(table, "P@10", population="runs") == [pytest.approx(0.075, abs=1e-15)]


def test_runs_keep_the_number_of_runs_of_each_user():
    values = measure(RUNS, [parse_metric("R@2"), parse_metric("RR")], min_rating=4)
    numerator, denominator = user_sums(RUNS, values, min_rating=4, population="runs")
    assert denominator.tolist() == [3, 0, 1, 0]
    expected = [[2, 0, 0, 0], [1 + 1 / 7 + 1 / 2, 0, 1 / 3, 0]]
    np.testing.assert_allclose(numerator, expected, rtol=1e-15)


@pytest.mark.parametrize("population", ["all", "relevant", "runs"])
def test_no_runs_at_all(population):
    metrics = [parse_metric("P@2")]
    table = run_table(3)
    values = measure(table, metrics, min_rating=4)
    found = aggregate(table, values, min_rating=4, population=population)
    np.testing.assert_array_equal(found, [0.0 if population == "all" else np.nan])


@pytest.mark.parametrize(
    ("table", "population", "message"),
    [
        (USERS, "runs", "one target set per user"),
        (RUNS, "tested", "table of runs"),
        (USERS, "relevent", r"unknown population 'relevent': did you mean 'relevant'"),
    ],
)
def test_populations_that_a_table_does_not_know_are_refused(table, population, message):
    values = measure(table, [parse_metric("P@2")], min_rating=4)
    with pytest.raises(ConfigError, match=message):
        aggregate(table, values, min_rating=4, population=population)


# ---- bootstrap ----


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
    with pytest.raises(ConfigError, match="level 95"):
        interval(values, level=95)


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
