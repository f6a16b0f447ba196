"""Paired tests against scipy, exhaustive enumeration and simulation under the null hypothesis."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recbias.errors import ConfigError
from recbias.stats import comparison
from recbias.stats.comparison import (
    bootstrap_test,
    compare_all,
    effect_size,
    holm,
    paired_t,
    resampled_tests,
    sign_test,
    subsampled_tests,
    subsampled_wins,
    user_means,
    wilcoxon,
)
from recbias.stats.resampling import bootstrap_weights

X, B = [0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4]


def test_t_pinned_value():
    """formulas.md section 6: TRisk at alpha 0 with n - 1 is the paired t."""
    assert paired_t(X, B).statistic == pytest.approx(0.480384, abs=1e-6)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_t_is_that_of_scipy(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.3, 1, (7, n)), rng.normal(size=(7, n))
    ours, theirs = paired_t(a, b, level=0.9), stats.ttest_rel(a, b, axis=1)
    low, high = theirs.confidence_interval(0.9)
    for mine, other in [
        (ours.statistic, theirs.statistic),
        (ours.p_value, theirs.pvalue),
        (ours.low, low),
        (ours.high, high),
    ]:
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)
    assert ours.n == n


def test_t_is_two_sided_and_its_interval_agrees_with_it():
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.2, 1, (300, 30)), rng.normal(size=(300, 30))
    forward, backward = paired_t(a, b), paired_t(b, a)
    np.testing.assert_array_equal(forward.p_value, backward.p_value)
    np.testing.assert_array_equal(forward.low, -backward.high)
    excludes_zero = (forward.low > 0) | (forward.high < 0)
    np.testing.assert_array_equal(excludes_zero, forward.p_value < 0.05)
    assert 0 < excludes_zero.sum() < 300


def test_t_of_equal_differences():
    same = paired_t(X, X)
    assert (same.p_value, same.low, same.high) == (1.0, 0.0, 0.0)
    shifted = paired_t([1.0, 2.0, 3.0], [0.5, 1.5, 2.5])
    assert (shifted.p_value, shifted.low, shifted.high) == (0.0, 0.5, 0.5)


def naive_wilcoxon(differences):
    """Two-sided p by all sign patterns of the mid-ranks of the non-zero differences."""
    nonzero = [d for d in differences if d]
    ranks = [
        sum(abs(other) < abs(d) for other in nonzero)
        + (1 + sum(abs(other) == abs(d) for other in nonzero)) / 2
        for d in nonzero
    ]
    middle = sum(ranks) / 2
    observed = abs(sum(r for r, d in zip(ranks, nonzero, strict=True) if d > 0) - middle)
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product([False, True], repeat=len(nonzero))
    ]
    return sum(abs(s - middle) >= observed for s in sums) / len(sums)


@given(st.lists(st.integers(1, 40), min_size=2, max_size=9, unique=True), st.data())
def test_wilcoxon_without_ties_is_the_enumeration(sizes, data):
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    differences = [size * sign for size, sign in zip(sizes, signs, strict=True)]
    with_zeros = [*differences, 0, 0]
    expected = naive_wilcoxon(differences)
    assert wilcoxon(with_zeros, np.zeros(len(with_zeros))) == pytest.approx(expected, abs=1e-12)


def test_wilcoxon_of_thirty_untied_is_exact_still():
    # In how many ways some of the ranks 1 to 30 sum to each number, rank by rank.
    n, falls = 30, (3, 8, 15, 16, 20, 22, 23, 27)
    ways = np.zeros(n * (n + 1) // 2 + 1, dtype=object)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    less = sum(falls)
    expected = 2 * sum(ways[: less + 1]) / 2**n
    ranks = np.arange(1.0, n + 1)
    differences = np.where(np.isin(ranks, falls), -ranks, ranks)
    found = wilcoxon(differences, np.zeros(n))
    assert found == pytest.approx(expected, rel=1e-12)
    assert 0.04 < expected < 0.05


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=9))
def test_wilcoxon_of_few_with_ties_is_the_enumeration(differences):
    expected = naive_wilcoxon(differences) if any(differences) else 1.0
    found = wilcoxon(np.array(differences, dtype=float), np.zeros(len(differences)))
    assert found == pytest.approx(expected, abs=1e-12)


def test_wilcoxon_of_five_equal_gains_is_two_signs_of_32():
    assert wilcoxon(np.ones(5), np.zeros(5)) == 2 / 32


def test_wilcoxon_of_many_with_ties_is_the_normal_one_with_tie_correction():
    """51 differences of ranks 1 to 49 and two tied at 50.5, one of them negative."""
    differences = np.append(np.arange(1.0, 51.0), -50.0)
    total = 51 * 52 / 2
    z = (total - 50.5 - total / 2) / np.sqrt(51 * 52 * 103 / 24 - 6 / 48)
    expected = 2 * stats.norm.sf(z)
    assert wilcoxon(differences, np.zeros(51)) == pytest.approx(expected, rel=1e-12)


def test_wilcoxon_of_fifty_with_ties_counts_the_signs_as_whole_numbers():
    """Ranks 1 to 48 and two tied at 49.5, in Python's whole numbers, which never overflow."""
    sizes = [*range(1, 50), 49]
    falls = set(range(0, 50, 3))
    doubled = [2 * rank for rank in range(1, 49)] + [99, 99]
    ways = {0: 1}
    for rank in doubled:
        for total, count in list(ways.items())[::-1]:
            ways[total + rank] = ways.get(total + rank, 0) + count
    less = sum(rank for place, rank in enumerate(doubled) if place in falls)
    assert sum(ways.values()) == 2**50
    expected = 2 * sum(count for total, count in ways.items() if total <= less) / 2**50
    differences = [-size if place in falls else size for place, size in enumerate(sizes)]
    assert 0 < expected < 1
    assert wilcoxon(np.array(differences, float), np.zeros(50)) == pytest.approx(expected)


def test_wilcoxon_ties_are_not_broken_by_rounding_errors():
    """P@10 moves in tenths: .3 - .2 and .1 - 0 differ as floats."""
    a, b = np.array([0.3, 0.1, 0.0, 0.9, 0.4]), np.array([0.2, 0.0, 0.1, 0.5, 0.7])
    assert len(set(np.abs(a - b))) > len(set(np.round(np.abs(a - b), 6)))
    assert wilcoxon(a, b) == wilcoxon(np.round(10 * a), np.round(10 * b))


def test_wilcoxon_of_identical_systems():
    assert wilcoxon(X, X) == 1.0


def test_wilcoxon_takes_many_pairs_at_once():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 5, (2, 3, 30)), rng.integers(0, 5, (2, 3, 30))
    p = wilcoxon(a, b)
    assert p.shape == (2, 3)
    assert p[1, 2] == wilcoxon(a[1, 2], b[1, 2])


def test_holm_worked_example_and_order():
    """Family of four: .005 * 4, .011 * 3, .02 * 2, .04 * 1 -> .02, .033, .04, .04."""
    np.testing.assert_allclose(holm([0.02, 0.005, 0.04, 0.011]), [0.04, 0.02, 0.04, 0.033])
    np.testing.assert_allclose(holm([0.5, 0.6]), [1.0, 1.0])
    np.testing.assert_array_equal(holm([0.7, 0.9]), [1.0, 1.0])
    np.testing.assert_allclose(holm([0.02, 0.021]), [0.04, 0.04])


# ---- calibration: the null hypothesis holds, alpha = .05 ----

N_SIMULATIONS = 2000
ALPHA_BAND = 5 * np.sqrt(0.05 * 0.95 / N_SIMULATIONS)


def null_pairs(rng, n_users):
    """Two systems that differ by chance only, on users that differ much, in tenths as P@10 is."""
    level = rng.beta(1, 4, (N_SIMULATIONS, n_users))
    return rng.binomial(10, level) / 10, rng.binomial(10, level) / 10


def test_t_and_wilcoxon_reject_a_true_null_hypothesis_as_often_as_they_say():
    rng = np.random.default_rng(20)
    a, b = null_pairs(rng, 60)
    for p_values in (paired_t(a, b).p_value, wilcoxon(a, b)):
        assert abs((p_values <= 0.05).mean() - 0.05) < ALPHA_BAND


def test_t_interval_covers_the_true_difference():
    rng = np.random.default_rng(21)
    a, b = null_pairs(rng, 60)
    test = paired_t(a + 0.1, b)
    covered = (test.low <= 0.1) & (test.high >= 0.1)
    assert abs(covered.mean() - 0.95) < ALPHA_BAND


def test_holm_keeps_the_chance_of_any_false_alarm():
    rng = np.random.default_rng(22)
    families = rng.random((N_SIMULATIONS, 15))
    false_alarm = [(holm(family) <= 0.05).any() for family in families]
    assert np.mean(false_alarm) <= 0.05 + ALPHA_BAND
    assert (families <= 0.05).any(axis=1).mean() > 0.4  # what happens without correction


def test_runs_of_a_user_are_no_independent_pairs():
    """The clustered test keeps its level; counting runs does not, by far."""
    rng = np.random.default_rng(23)
    n_users, n_runs, n_simulations = 25, 20, 1000
    user = np.repeat(np.arange(n_users), n_runs)
    taste = rng.normal(size=(n_simulations, 2, n_users))
    runs = taste[:, :, user] + rng.normal(size=(n_simulations, 2, n_users * n_runs))
    by_run = np.array([paired_t(a, b).p_value for a, b in runs])
    by_user = np.array(
        [paired_t(user_means(a, user), user_means(b, user)).p_value for a, b in runs]
    )
    assert abs((by_user <= 0.05).mean() - 0.05) < 5 * np.sqrt(0.05 * 0.95 / n_simulations)
    assert (by_run <= 0.05).mean() > 0.5


# ---- tables ----


def test_compare_all_has_each_pair_once_with_corrected_p():
    rng = np.random.default_rng(8)
    values = {name: rng.integers(0, 5, 30) / 5 for name in ("ALS", "Popularity", "Random", "kNN")}
    table = compare_all(values)
    assert list(zip(table["a"], table["b"], strict=True))[:4] == [
        ("ALS", "Popularity"), ("ALS", "Random"), ("ALS", "kNN"), ("Popularity", "Random"),
    ]  # fmt: skip
    assert len(table) == 6
    row = table.iloc[3]
    theirs = stats.ttest_rel(values["Popularity"], values["Random"])
    assert row["t_p"] == pytest.approx(theirs.pvalue, rel=1e-10)
    assert row["difference"] == pytest.approx(
        values["Popularity"].mean() - values["Random"].mean(), abs=1e-12
    )
    assert row["wilcoxon_p"] == wilcoxon(values["Popularity"], values["Random"])
    np.testing.assert_array_equal(table["t_p_holm"], holm(table["t_p"]))
    np.testing.assert_array_equal(table["wilcoxon_p_holm"], holm(table["wilcoxon_p"]))


def test_compare_all_by_user_averages_runs_first():
    user = np.array([0, 0, 0, 2, 2, 5])
    a, b = np.array([1.0, 0, 0, 1, 1, 0]), np.array([0.0, 0, 0, 1, 0, 0])
    row = compare_all({"A": a, "B": b}, user=user).iloc[0]
    assert row["n"] == 3
    assert row["difference"] == pytest.approx((1 / 3 + 1 / 2 + 0) / 3)
    assert row["t_p"] == pytest.approx(stats.ttest_rel([1 / 3, 1, 0], [0, 0.5, 0]).pvalue)


def test_user_means_weigh_runs_of_a_user_equally():
    np.testing.assert_allclose(
        user_means([1.0, 0.0, 0.5, 0.25], np.array([3, 3, 1, 3])), [0.5, 1.25 / 3]
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t([1, 2, np.nan], [1, 2, 3]), r"a: 1 of 3 are undefined.*population"),
        (lambda: wilcoxon([1, 2, 3], [np.nan, np.nan, 3]), r"b: 2 of 3 are undefined"),
        (lambda: paired_t([1, 2, 3], [1, 2]), r"\(3,\) against \(2,\)"),
        (lambda: paired_t([1], [2]), "at least two pairs"),
        (lambda: paired_t([1, 2], [2, 3], level=1.0), "level 1.0"),
        (lambda: compare_all({"ALS": [1, 2]}), "1 system given"),
        (lambda: compare_all({"ALS": [1, np.nan], "kNN": [1, 2]}), "ALS: 1 of 2"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, message):
    with pytest.raises(ConfigError, match=message):
        call()


# ---- the sign test


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=40))
def test_the_sign_test_is_that_of_scipy(differences):
    wins, losses = (sum(np.sign(d) == sign for d in differences) for sign in (1, -1))
    theirs = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    zeros = np.zeros(len(differences))
    assert sign_test(differences, zeros) == pytest.approx(theirs, abs=1e-12)
    assert sign_test(zeros, differences) == sign_test(differences, zeros)


def test_signs_are_not_those_of_rounding_errors():
    assert sign_test([0.3 - 0.2, 0.5, 0.5], [0.1, 0.5, 0.5]) == 1


# ---- the bootstrap test


def naive_bootstrap(differences, weights):
    """Draw by draw, each user as often as drawn."""
    n = len(differences)
    shifted = [d - sum(differences) / n for d in differences]

    def t(sample):
        mean = sum(sample) / n
        variance = sum((x - mean) ** 2 for x in sample) / (n - 1)
        return abs(mean) / (variance / n) ** 0.5 if variance > 1e-15 else float("inf") * abs(mean)

    observed, far = t(differences), 1
    for row in weights:
        drawn = t([x for x, times in zip(shifted, row, strict=True) for _ in range(times)])
        far += drawn >= observed * (1 - 1e-9)
    return far / (1 + len(weights))


@pytest.mark.parametrize("n", [3, 8, 25])
def test_the_bootstrap_test_draw_by_draw(n):
    rng = np.random.default_rng(n)
    weights = bootstrap_weights(n, 200, rng=rng)
    a, b = rng.normal(0.4, 1, (6, n)), rng.normal(size=(6, n))
    found = bootstrap_test(a, b, weights)
    expected = [naive_bootstrap(list(one), weights) for one in a - b]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert bootstrap_test(a[2], b[2], weights) == found[2]


def test_the_bootstrap_test_counts_draws_as_far_out_as_the_sample():
    """Of all 27 draws of (0, 0, 1) less its mean, nine have no spread, six the t of the sample."""
    draws = [np.bincount(each, minlength=3) for each in product(range(3), repeat=3)]
    for scale in (1.0, 0.1, 1 / 3):
        found = bootstrap_test([0.0, 0.0, scale], np.zeros(3), np.array(draws))
        assert found == pytest.approx((1 + 9 + 6) / 28)


def test_the_bootstrap_test_is_that_of_whole_numbers():
    """Of decimals, rounding must not put draws before the sample that are as far out."""
    draws = np.array([np.bincount(each, minlength=4) for each in product(range(4), repeat=4)])
    found = bootstrap_test([0.3, 0.3, 0.3, -0.1], np.zeros(4), draws)
    assert found == bootstrap_test([3.0, 3.0, 3.0, -1.0], np.zeros(4), draws)
    assert found == pytest.approx((1 + 94) / 257)


def test_the_bootstrap_test_of_equal_differences():
    weights = bootstrap_weights(3, 99, rng=np.random.default_rng(1))
    assert bootstrap_test(X[:3], X[:3], weights) == 1
    assert bootstrap_test([1.1, 2.1, 3.1], [1.0, 2.0, 3.0], weights) == 0.01
    tenths = np.full(3, 0.1)  # whose mean is not quite a tenth
    assert tenths.mean() != 0.1
    assert bootstrap_test(tenths, np.zeros(3), weights) == 0.01


def test_what_only_resampled_users_give_an_error_is_tested_by_them():
    """Standard deviation sqrt(2.5); of 5 draws one is below 0 and one is 0."""
    drawn = np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
    statistic, p, share = resampled_tests(1.0, drawn, 4)
    assert statistic == pytest.approx(1 / 2.5**0.5)
    assert p == pytest.approx(2 * stats.t.sf(1 / 2.5**0.5, 3))
    assert share == 1.0
    assert resampled_tests(-1.0, -drawn, 4) == (-statistic, p, share)
    assert resampled_tests(1.0, np.append(drawn, np.ones(20)), 4)[2] == pytest.approx(2 * 3 / 26)
    assert resampled_tests(1.0, np.append(-drawn, -np.ones(20)), 4)[2] == pytest.approx(2 * 3 / 26)
    assert resampled_tests(0.0, np.zeros(5), 4) == (0.0, 1.0, 1.0)
    assert resampled_tests(-0.5, np.full(5, -0.5), 4) == (-np.inf, 0.0, 2 / 6)


def sizes(tests, n_simulations=1_000, n=60):
    """Share of false alarms at .05 in samples whose differences have random signs."""
    rng = np.random.default_rng(20)
    skewed = rng.exponential(size=n) * (rng.random(n) < 0.5)
    signs = rng.choice([-1.0, 1.0], size=(n_simulations, n))
    weights = bootstrap_weights(n, 399, rng=rng)
    return {name: (test(signs * skewed, weights) <= 0.05).mean() for name, test in tests.items()}


TESTS = {
    "t": lambda d, _: paired_t(d, np.zeros_like(d)).p_value,
    "wilcoxon": lambda d, _: wilcoxon(d, np.zeros_like(d)),
    "sign": lambda d, _: sign_test(d, np.zeros_like(d)),
    "bootstrap": lambda d, weights: bootstrap_test(d, np.zeros_like(d), weights),
}


def test_no_test_raises_too_many_false_alarms():
    """.078 is exceeded by a test of size .05 with a chance of 1e-4 in 1,000 simulations."""
    assert stats.binom.sf(78, 1_000, 0.05) < 1e-4
    assert max(sizes(TESTS).values()) <= 0.078
    one_sided = {"t": lambda d, w: TESTS["t"](d, w) / 2}
    assert sizes(one_sided)["t"] > 0.078


# ---- samples of users, effect size


def test_samples_of_all_users_decide_as_the_mean_does():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(5, 12)), rng.normal(size=(5, 12))
    found = subsampled_wins(a, b, size=12, n_samples=3, rng=rng)
    np.testing.assert_array_equal(found, a.mean(axis=1) > b.mean(axis=1))
    assert subsampled_wins(X, X, size=2, n_samples=5, rng=rng) == 0.5


def test_means_that_only_rounding_tells_apart_are_equal():
    """As floats .3 - .2 and .1 - .2 do not add up to 0."""
    rng = np.random.default_rng(3)
    assert np.mean(np.subtract([0.3, 0.1], [0.2, 0.2])) != 0
    assert subsampled_wins([0.3, 0.1], [0.2, 0.2], size=2, n_samples=3, rng=rng) == 0.5


def test_samples_of_users_win_as_often_as_all_subsets_do():
    """4 standard errors of 4,000 samples; every user is drawn once at most."""
    subsets = [np.mean(s) for s in combinations(np.subtract(X, B), 2)]
    exact = np.mean([(np.sign(round(mean, 12)) + 1) / 2 for mean in subsets])
    rng = np.random.default_rng(4)
    found = subsampled_wins(X, B, size=2, n_samples=4_000, rng=rng)
    assert abs(found - exact) < 4 * 0.5 / 4_000**0.5
    assert 0 < exact < 1


def test_effect_sizes():
    assert effect_size(X, B) == pytest.approx(0.480384 / 2, abs=1e-6)
    assert effect_size(X, X) == 0
    assert effect_size([1.1, 2.1], [1.0, 2.0]) == np.inf


def test_what_does_not_fit_is_refused():
    weights = bootstrap_weights(5, 9, rng=np.random.default_rng(1))
    with pytest.raises(ConfigError, match="draw of 4 users"):
        bootstrap_test(X, B, weights)
    rng = np.random.default_rng(1)
    for size in (0, 5):
        with pytest.raises(ConfigError, match=f"samples of {size} users: expected 1 to 4"):
            subsampled_wins(X, B, size=size, n_samples=1, rng=rng)
    for size in (1, 5):
        with pytest.raises(ConfigError, match=f"samples of {size} users: expected 2 to 4"):
            subsampled_tests(X, B, size=size, n_samples=1, rng=rng)
    assert subsampled_tests(X, X, size=2, n_samples=5, rng=rng) == 0
    assert subsampled_tests([1, 1, 1, 1.1], np.zeros(4), size=4, n_samples=5, rng=rng) == 1
    for test in (sign_test, effect_size, lambda a, b: bootstrap_test(a, b, weights)):
        with pytest.raises(ConfigError, match="undefined"):
            test([0.5, np.nan, 1, 1, 1], [1, 1, 1, 1, 1])


def test_a_bootstrap_without_its_null_hypothesis_is_noticed(monkeypatch):
    """The twin of the draw-by-draw test: the spread of a draw is not divided out."""
    monkeypatch.setattr(comparison, "_studentised", lambda mean, variance, n: mean)
    with pytest.raises(AssertionError):
        test_the_bootstrap_test_draw_by_draw(8)
