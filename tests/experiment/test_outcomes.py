"""What options give: tests of differences against scipy, plain loops and resampling by hand.

Values and weights of users are read from the cells as chapter 7 reads them, so that a test of other
users, of other weights, or of another statistic than the one that is reported is noticed.
"""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recbias import Grid
from recbias._system.streams import stream
from recbias.book.chapters.offline_option_taxonomy.users import measure_users
from recbias.data.datasets import load_dataset
from recbias.experiment.options import PAIRED_TESTS, Options
from recbias.experiment.outcomes import N_DRAWS, evaluate
from recbias.metrics.aggregation import weighted_units
from recbias.recommenders import System
from recbias.stats.comparison import bootstrap_test, holm
from recbias.stats.resampling import bootstrap_weights, weighted_medians
from unequal_users import ratings_of_unequal_users

SYSTEMS = (
    System("Popularity", "Popularity"),
    System("AverageRating", "AverageRating"),
    System("kNN", "UserKNN", {"n_neighbours": 10, "min_overlap": 6}),
    System("Item cosine", "ImplicitItemCosine"),
)
NAMES = [system.name for system in SYSTEMS]
METRIC = "nDCG@5"


@pytest.fixture(scope="module", autouse=True)
def cells(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("cells")))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return ratings_of_unequal_users(30)


def found_by(table, words, pairs="t", split="ratio 0.5"):
    lists = f"AI-AN-AR rel>=4 {words}"
    text = f"split: {split}; lists: {lists}; metric: {METRIC}; pairs: {pairs}"
    return evaluate(Options.parse(text), table, SYSTEMS)


def users_of(table, words):
    """Values and weights of the users under each system, as the grid's own cells give them."""
    grid = Grid(table, SYSTEMS, {"x": f"AI-AN-AR rel>=4 {words}"}, (METRIC,), split="ratio 0.5")
    return {name: users["x", METRIC] for name, users in measure_users(grid, load_dataset(table))}


def signed_ranks(a, b):
    """Let scipy test signed ranks; of few count the signs by the sum of their ranks."""
    nonzero = np.round(a - b, 12)[np.round(a - b, 12) != 0]
    if len(nonzero) > 50:
        return stats.wilcoxon(nonzero, method="asymptotic", correction=False).pvalue
    doubled = [int(rank) for rank in 2 * stats.rankdata(np.abs(nonzero))]
    ways = Counter({0: 1})
    for rank in doubled:
        ways = ways + Counter({total + rank: count for total, count in ways.items()})
    found = sum(rank for rank, each in zip(doubled, nonzero, strict=True) if each > 0)
    least = min(found, sum(doubled) - found)
    return min(1, 2 * sum(n for total, n in ways.items() if total <= least) / 2 ** len(doubled))


@pytest.mark.parametrize("words", ["users=tested", "coverage=reduced", "statistic=geometric"])
@pytest.mark.parametrize("pairs", PAIRED_TESTS)
def test_pairs_are_tested_over_the_users_that_both_serve(table, words, pairs):
    outcome, users = found_by(table, words, pairs), users_of(table, words)
    served = [int((~np.isnan(each.values)).sum()) for each in users.values()]
    assert (min(served) < max(served)) == (words == "coverage=reduced")
    tests = {
        "t": lambda a, b: stats.ttest_rel(a, b).pvalue,
        "wilcoxon": signed_ranks,
        "sign": lambda a, b: stats.binomtest(
            int((np.round(a - b, 12) > 0).sum()), int((np.round(a - b, 12) != 0).sum())).pvalue,
        "bootstrap": lambda a, b: bootstrap_test(
            a, b, bootstrap_weights(len(a), N_DRAWS, rng=stream(1, "pairs", len(a)))),
    }  # fmt: skip
    for row in outcome.pairs.itertuples():
        a, b = users[row.a].values, users[row.b].values
        both = ~np.isnan(a) & ~np.isnan(b)
        d = a[both] - b[both]
        assert row.n == both.sum()
        assert row.p == pytest.approx(float(tests[pairs](a[both], b[both])), rel=1e-9)
        assert row.effect == pytest.approx(d.mean() / d.std(ddof=1), rel=1e-9)


def test_the_family_of_all_pairs_is_corrected_and_differences_have_the_sign_of_the_values(table):
    outcome = found_by(table, "users=tested")
    pairs = outcome.pairs
    assert list(zip(pairs["a"], pairs["b"], strict=True)) == list(combinations(NAMES, 2))
    np.testing.assert_array_equal(pairs["p_holm"], holm(pairs["p"]))
    assert (pairs["p_holm"] > pairs["p"]).any()
    for row in pairs.itertuples():
        assert row.difference == outcome.values[row.a] - outcome.values[row.b] != 0


@pytest.mark.parametrize("words", ["weights=ratings", "weights=relevant", "weights=ratings "
                                   "statistic=geometric"])  # fmt: skip
def test_a_weighted_mean_is_tested_with_its_weights(table, words):
    outcome, users = found_by(table, words), users_of(table, words)
    plain = found_by(table, words.partition(" ")[2])
    differs = 0
    for row, other in zip(outcome.pairs.itertuples(), plain.pairs.itertuples(), strict=True):
        a, b = users[row.a], users[row.b]
        both = ~np.isnan(a.values) & ~np.isnan(b.values)
        d, w = (a.values - b.values)[both], a.weights[both]
        n, mean = len(d), sum(w * d) / sum(w)
        squares = sum((own * (each - mean)) ** 2 for own, each in zip(w, d, strict=True))
        error = math.sqrt(squares * n / (n - 1)) / sum(w)
        assert row.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, n - 1), rel=1e-9)
        assert row.effect == pytest.approx(mean / error / math.sqrt(n), rel=1e-9)
        differs += not math.isclose(row.p, other.p, rel_tol=0.01)
    assert differs > len(outcome.pairs) / 2  # the twin: weights that do not enter


def test_tests_that_count_users_alike_know_no_weights(table):
    for pairs in ("wilcoxon", "sign"):
        weighted, plain = (found_by(table, words, pairs) for words in ("weights=ratings", ""))
        tested = found_by(table, "users=tested", pairs)
        assert not np.allclose(weighted.pairs["difference"], plain.pairs["difference"])
        # Who has no test rating weighs nothing, and is nobody's pair.
        np.testing.assert_array_equal(weighted.pairs["p"], tested.pairs["p"])


def test_a_weighted_bootstrap_test_resamples_what_users_add(table):
    outcome = found_by(table, "weights=ratings", "bootstrap")
    users = users_of(table, "weights=ratings")
    for row in outcome.pairs.head(3).itertuples():
        a, b = users[row.a], users[row.b]
        both = ~np.isnan(a.values)
        units = weighted_units((a.values - b.values)[both], a.weights[both])
        drawn = bootstrap_weights(len(units), N_DRAWS, rng=stream(1, "pairs", len(units)))
        n, t = len(units), stats.ttest_1samp(units, 0).statistic
        far = 0
        for counts in drawn:
            own = np.repeat(units - units.mean(), counts)
            far += abs(own.mean() / (own.std() / math.sqrt(n - 1))) >= abs(t) * (1 - 1e-12)
        assert row.p == pytest.approx((1 + far) / (1 + N_DRAWS), rel=1e-12)


@pytest.mark.parametrize("words", ["statistic=median", "weights=ratings statistic=median"])
def test_medians_are_tested_by_what_resampling_makes_of_them(table, words):
    outcome = found_by(table, f"users=relevant {words}")
    resampled = found_by(table, f"users=relevant {words}", "bootstrap")
    users = users_of(table, f"users=relevant {words.replace('statistic=median', '')}")
    counted = ~np.isnan(users["kNN"].values)
    n_users = load_dataset(table).ratings.n_users
    drawn = bootstrap_weights(n_users, 1000, rng=stream(1, "bootstrap"))
    medians = {
        name: weighted_medians(each.values[counted][None], each.weights[counted],
                               np.flatnonzero(counted), drawn)[0]
        for name, each in users.items()
    }  # fmt: skip
    for row, other in zip(outcome.pairs.itertuples(), resampled.pairs.itertuples(), strict=True):
        gap = np.round(medians[row.a] - medians[row.b], 9)  # means of two middles tie
        t = row.difference / gap.std(ddof=1)
        # Replicates are kept to 2**-15 of themselves.
        assert row.p == pytest.approx(2 * stats.t.sf(abs(t), row.n - 1), rel=1e-4)
        beyond = min((gap <= 0).sum(), (gap >= 0).sum())
        assert other.p == pytest.approx(min(1, 2 * (1 + beyond) / 1001), rel=1e-12)
    assert (np.sign(outcome.pairs["difference"]) != np.sign(found_by(table, "").pairs["difference"])
            ).any()  # fmt: skip


def test_users_count_as_often_as_folds_have_them(table):
    """The mean over folds is one of users' folds: so is what is tested."""
    outcome = found_by(table, "users=relevant", split="k-fold 5")
    d = outcome.pairs["difference"].to_numpy()
    t = outcome.pairs["effect"].to_numpy() * np.sqrt(outcome.pairs["n"].to_numpy())
    np.testing.assert_allclose(outcome.pairs["p"], 2 * stats.t.sf(abs(t), outcome.pairs["n"] - 1))
    np.testing.assert_array_equal(np.sign(t), np.sign(d))


def test_equal_weights_leave_values_as_they_are_and_others_their_mean():
    rng = np.random.default_rng(5)
    values, weights = rng.random((3, 40)), rng.integers(1, 9, (3, 40)).astype(float)
    np.testing.assert_array_equal(weighted_units(values, np.full((3, 40), 2.0)), values)
    means = [np.average(each, weights=own) for each, own in zip(values, weights, strict=True)]
    np.testing.assert_allclose(weighted_units(values, weights).mean(axis=1), means, rtol=1e-12)


def test_bootstrap_draws_in_blocks_are_those_at_once():
    rng = np.random.default_rng(6)
    a, b = rng.random((2, 3, 30))
    drawn = bootstrap_weights(30, 500, rng=rng)
    whole = bootstrap_test(a, b, drawn)
    np.testing.assert_array_equal(bootstrap_test(a, b, iter([drawn[:7], drawn[7:]])), whole)
    assert not np.array_equal(bootstrap_test(a, b, iter([drawn[:7]])), whole)


def test_a_bootstrap_can_tell_two_of_fourteen_systems_apart():
    assert 91 / (1 + N_DRAWS) < 0.05
