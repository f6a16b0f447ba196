"""Metrics of ranks: values worked out by hand, laws, and what is refused."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rank_tables import run_table, user_table
from recbias.errors import ConfigError, ContractError
from recbias.metrics import measure, parse_metric
from recbias.testing import judged_scores, naive_list

GAIN_NAMES = ("binary", "linear", "exp", "ranksys", "steps")


def values(table, *names, min_rating=4, condensed=False, rating_max=5):
    """One row per user or run, one column per metric."""
    metrics = [parse_metric(name) for name in names]
    result = measure(
        table, metrics, min_rating=min_rating, condensed=condensed, rating_max=rating_max
    )
    return result.T.tolist()


# ---- values worked out by hand (formulas.md) ----


def test_rank_metrics_of_the_worked_list():
    """Section 4.1: N R U R N R (N = judged negative, U = unjudged), three positives."""
    table = user_table((range(6), {0: 1, 1: 5, 3: 5, 4: 1, 5: 5}))
    names = ("RR", "AP", "P@3", "R@3", "RR@1", "AP@4", "antiP@3", "P@100")
    expected = [1 / 2, 1 / 2, 1 / 3, 1 / 3, 0, (1 / 2 + 2 / 4) / 3, 1 / 3, 3 / 100]
    assert values(table, *names) == [pytest.approx(expected, abs=1e-15)]


def test_both_divisors_of_average_precision_of_the_worked_list():
    """Relevant items at ranks 2, 4 and 6, one more is not listed: at most n, or all four."""
    table = user_table((range(6), {1: 5, 3: 5, 5: 5, 9: 4}))
    for cutoff, total in ((1, 0), (2, 1 / 2), (3, 1 / 2), (4, 1), (6, 3 / 2), (9, 3 / 2)):
        expected = [total / 4, total / min(cutoff, 4), float(cutoff >= 2)]
        names = f"AP@{cutoff}", f"AP@{cutoff}|capped", f"HR@{cutoff}"
        assert values(table, *names) == [pytest.approx(expected, abs=1e-15)]


def test_a_run_has_one_average_precision_and_is_hit_or_not():
    runs = run_table(1, (0, 1, 5), (0, 4, 5), (0, 0, 5))
    names = "AP@3", "AP@3|capped", "HR@3", "R@3"
    assert values(runs, *names) == [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_ndcg_of_the_worked_list():
    """Section 4.2: list x,b,c,a; test ratings a:5 b:4 c:2 d:3; x unrated, d not returned."""
    x, a, b, c, d = range(5)
    table = user_table(([x, b, c, a], {a: 5, b: 4, c: 2, d: 3}))
    names = ("nDCG@3", "nDCG(exp)@3")
    assert values(table, *names) == [pytest.approx([0.386853, 0.235054], abs=1e-6)]
    assert values(table, *names, condensed=True) == [pytest.approx([0.919721, 0.723397], abs=1e-6)]


def test_ndcg_of_the_authors_spreadsheet():
    """Section 7.3: list ? 5 1 ? 2 4 3 ? 4 1; in test 5, 4, 3, 2, 1 occur 4, 4, 5, 3, 4 times."""
    table = user_table((range(10), SPREADSHEET))
    assert values(table, "nDCG@10", "antinDCG@10", "nDCG(steps)@10", "nDCL@10") == [
        pytest.approx([0.325832, 0.332174, 0.294563, 0.323390], abs=1e-6)
    ]
    liking = {item: max(0, rating - 3) for item, rating in SPREADSHEET.items()}
    graded = values(user_table((range(10), liking)), "nDCG(linear)@10", min_rating=1)
    assert graded == [pytest.approx([0.294563], abs=1e-6)]


SPREADSHEET = {1: 5, 2: 1, 4: 2, 5: 4, 6: 3, 8: 4, 9: 1} | dict(
    enumerate([5, 5, 5, 4, 4, 3, 3, 3, 3, 2, 2, 1, 1], start=100)
)


def test_reciprocal_ranks_of_the_toy_lists():
    """Section 7.3: first positives at 2, 5, 1, 4, first negatives at 3, 1, 5, 2."""
    ranks = [(2, 3), (5, 1), (1, 5), (4, 2)]
    table = user_table(*[(range(6), {good - 1: 5, bad - 1: 1}) for good, bad in ranks])
    found = np.mean(values(table, "RR", "antiRR"), axis=0)
    assert found == pytest.approx([0.4875, 0.5083333333333333], abs=1e-15)


def test_true_and_false_positives_share_the_list():
    """Section 7.1: top 4 = +,-,?,?; two positives and four negatives in test."""
    table = user_table((range(4), {0: 5, 1: 1, 10: 5, 11: 1, 12: 1, 13: 1}))
    names = ("P@4", "antiP@4", "R@4", "fallout@4", "judged@4", "P@4|judged", "antiP@4|judged")
    assert values(table, *names) == [[0.25, 0.25, 0.5, 0.25, 0.5, 0.5, 0.5]]


def test_both_ways_to_condense():
    """Section 7.2: of a condensed list of two, one is liked; by n it is .2, by tp + fp .5."""
    table = user_table(([7, 1, 8, 2], {1: 5, 2: 1, 9: 5}))
    names = ("P@5", "antiP@5", "P@5|judged", "antiP@5|judged", "judged@5")
    assert values(table, *names, condensed=True) == [[0.2, 0.2, 0.5, 0.5, 0.4]]
    # Of a full list it is the same items, wherever they stand among the first five.
    assert values(table, *names) == [[0.2, 0.2, 0.5, 0.5, 0.4]]


def test_runs_of_the_toy():
    """Section 2: r1,x1,r2,x2 by score, n = 2: both runs hit; and x1,r1,x2,r2,x3: one does."""
    hit, hit_too = values(run_table(1, (0, 1, 5), (0, 2, 5)), "P@2")
    assert (hit[0] + hit_too[0]) / 2 == 0.5
    hit, missed = values(run_table(1, (0, 2, 5), (0, 3, 5)), "P@2")
    assert (hit[0] + missed[0]) / 2 == 0.25


def test_a_run_is_worth_its_rank_whatever_the_grade():
    table = run_table(3, (0, 1, 4), (0, 3, 5), (2, 0, 4.5), (2, 10, 4), (2, 11, 4))
    names = ("P@10", "R@10", "RR@10", "AP@10", "AP", "nDCG@10", "nDCG(exp)@10", "nDCG(linear)")
    assert values(table, *names) == [
        pytest.approx([0.1, 1, 1, 1, 1, 1, 1, 1]),
        pytest.approx([0.1, 1, 1 / 3, 1 / 3, 1 / 3, 0.5, 0.5, 0.5]),
        [0.0] * 8,
        pytest.approx([0.1, 1, 1 / 10, 1 / 10, 1 / 10, *[1 / math.log2(11)] * 3]),
        pytest.approx([0, 0, 0, 0, 1 / 11, 0, 0, 1 / math.log2(12)]),
    ]


def test_a_short_list_still_divides_by_the_cutoff():
    """One hit in a list of two is .2 at 5, also condensed, as in trec_eval."""
    table = user_table(([3, 7], {3: 5, 9: 5}))
    assert values(table, "P@5", "antiP@5") == [[0.2, 0]]
    assert values(table, "P@5", condensed=True) == [[0.2]]


def test_what_is_undefined_is_nan():
    """No relevant item: R, AP, RR, nDCG undefined, P and antiP not; then no test item at all."""
    table = user_table(([1, 2], {2: 3}), ([1], {}), ([], {4: 5}))
    names = ("P@2", "antiP@2", "R@2", "AP", "RR", "nDCG@2")
    nan = pytest.approx([math.nan] * 4, nan_ok=True)
    first, second, third = values(table, *names)
    assert (first[:2], first[2:]) == ([0, 0.5], nan)
    assert (second[:2], second[2:]) == ([0, 0], nan)
    assert third == [0, 0, 0, 0, 0, 0]


def test_what_is_undefined_without_disliked_or_judged_items():
    """Only fallout has a value for a user who disliked nothing: the rule of the authors' code."""
    table = user_table(([1, 2], {2: 4}), ([1], {}), ([], {4: 1}), ([3, 4, 5], {5: 1}))
    names = ("fallout@2", "judged@2", "antiP@2", "antiR@2", "antiRR@2", "antiAP@2", "antinDCG@2")
    nan = math.nan
    expected = [[0, 0.5, 0, *[nan] * 4], [0, 0, 0, *[nan] * 4], [0] * 7, [0] * 7]
    np.testing.assert_array_equal(values(table, *names), expected)
    found = values(table, "nDCL@2", "P@2|judged", "antiP@2|judged")
    np.testing.assert_array_equal(
        found, [[nan, 1, 0], [nan, nan, nan], [0, nan, nan], [0, nan, nan]]
    )


def test_nothing_is_nearer_to_disliked_than_the_threshold():
    """Losses count from the threshold: half a star below is half of what a star below is."""
    table = user_table(([1, 2], {1: 3.5, 2: 3, 3: 4}))
    discount = 1 / math.log2(3)
    assert values(table, "nDCL@2", "nDCL@1") == [
        pytest.approx([(0.5 + discount) / (1 + 0.5 * discount), 0.5])
    ]


def test_graded_ndcg_is_defined_where_any_test_item_has_a_gain():
    table = user_table(([1, 2], {2: 3}), ([1], {1: 1}))
    graded, without_gain = values(table, "nDCG(exp)")
    assert graded == pytest.approx([1 / math.log2(3)])
    assert math.isnan(without_gain[0])


def test_the_ideal_list_holds_all_test_items_but_no_more_than_the_cutoff():
    table = user_table(([1, 2, 3], {1: 5, 8: 5, 9: 5}))
    discounts = [1, 1 / math.log2(3), 1 / 2]
    expected = [1 / sum(discounts[:2]), 1 / sum(discounts), 1 / sum(discounts)]
    assert values(table, "nDCG@2", "nDCG@3", "nDCG") == [pytest.approx(expected)]


# ---- laws ----

cases = st.lists(judged_scores(), min_size=1, max_size=4).map(
    lambda users: user_table(
        *[(naive_list(scores, ties), judged) for scores, ties, judged in users]
    )
)
thresholds = st.sampled_from([1, 3, 3.5, 4, 5])


@given(cases, thresholds, st.booleans())
def test_relevant_non_relevant_and_unrated_fill_the_list(table, min_rating, condensed):
    rank = table.condensed_rank if condensed else table.rank
    for cutoff in (1, 3, 10):
        good, bad = np.transpose(
            values(
                table, f"P@{cutoff}", f"antiP@{cutoff}", min_rating=min_rating, condensed=condensed
            )
        )
        rated = np.bincount(table.user[(rank > 0) & (rank <= cutoff)], minlength=table.n_users)
        np.testing.assert_allclose(good + bad + (cutoff - rated) / cutoff, 1, rtol=0, atol=1e-15)
        names = (f"judged@{cutoff}", f"P@{cutoff}|judged", f"antiP@{cutoff}|judged")
        known, of_good, of_bad = np.transpose(
            values(table, *names, min_rating=min_rating, condensed=condensed)
        )
        np.testing.assert_array_equal(known, rated / cutoff)
        np.testing.assert_array_equal(np.isnan(of_good), rated == 0)
        some = rated > 0
        np.testing.assert_allclose((of_good + of_bad)[some], 1, rtol=0, atol=1e-15)
        np.testing.assert_allclose((of_good * known)[some], good[some], rtol=0, atol=1e-15)


@given(cases, thresholds, st.booleans())
def test_an_anti_metric_is_the_metric_on_flipped_ratings(table, min_rating, condensed):
    """Half stars below the threshold go above one between two ratings, and the others below it."""
    flipped = dataclasses.replace(table, value=10 - table.value)
    for name in ("P@3", "R@2", "nDCG", "nDCG@4", "AP", "AP@2", "RR", "RR@5", "P@3|judged"):
        np.testing.assert_array_equal(
            values(table, f"anti{name}", min_rating=min_rating, condensed=condensed),
            values(flipped, name, min_rating=10.25 - min_rating, condensed=condensed),
        )


@given(cases, thresholds)
def test_fallout_is_antirecall_with_a_value_for_all(table, min_rating):
    found = np.array(values(table, "fallout@3", "antiR@3", min_rating=min_rating)).reshape(-1, 2)
    np.testing.assert_array_equal(found[:, 0], np.nan_to_num(found[:, 1]))
    disliked = np.bincount(table.user[table.value < min_rating], minlength=table.n_users)
    np.testing.assert_array_equal(np.isnan(found[:, 1]), disliked == 0)


@given(cases, st.sampled_from([0.5, 2.0]))
def test_the_unit_of_losses_cancels(table, factor):
    scaled = dataclasses.replace(table, value=table.value * factor)
    for name in ("nDCL", "nDCL@2"):
        np.testing.assert_allclose(
            values(table, name), values(scaled, name, min_rating=4 * factor), rtol=1e-14
        )


@given(cases)
def test_losses_of_one_size_are_those_of_flipped_relevance(table):
    """Binary: nDCL is antinDCG, whatever the size."""
    binary = dataclasses.replace(table, value=np.where(table.value >= 4, 5.0, 1.5))
    np.testing.assert_allclose(
        values(binary, "nDCL@3", "nDCL"), values(binary, "antinDCG@3", "antinDCG"), rtol=1e-14
    )


@given(cases, thresholds)
def test_the_first_hit_decides_and_room_caps_the_divisor(table, min_rating):
    for n in (1, 2, 5, 50):
        names = f"HR@{n}", f"RR@{n}", f"AP@{n}", f"AP@{n}|capped"
        for hit, reciprocal, plain, capped in values(table, *names, min_rating=min_rating):
            assert math.isnan(hit) == math.isnan(reciprocal) == math.isnan(capped)
            assert math.isnan(hit) or hit == (reciprocal > 0)
            assert math.isnan(hit) or plain <= capped <= hit
    # The twin: all are relevant, in the best order; one of the two cannot reach 1.
    ideal = user_table((range(5), dict.fromkeys(range(5), 5)))
    assert values(ideal, "AP@2|capped", "AP@2") == [[1.0, 0.4]]


@given(cases, thresholds)
def test_recall_and_full_metrics_grow_with_the_cutoff(table, min_rating):
    for name in ("R", "AP", "RR"):
        names = [f"{name}@{cutoff}" for cutoff in (1, 2, 5, 8, 50)]
        by_cutoff = np.array(values(table, *names, min_rating=min_rating))
        assert not (np.diff(by_cutoff, axis=1) < 0).any()


@given(cases, thresholds)
def test_every_value_is_a_share(table, min_rating):
    names = (
        *("P@3", "R@3", "RR", "AP", "nDCG@3", "nDCG(exp)@3", "nDCG(ranksys)", "nDCG(steps)@2"),
        *("antiP@3", "antiR@3", "antiRR", "antiAP", "antinDCG@3", "fallout@2", "nDCL@3", "nDCL"),
        *("judged@3", "P@3|judged", "antiP@3|judged"),
    )
    found = np.array(values(table, *names, min_rating=min_rating))
    found = found[~np.isnan(found)]
    assert ((found >= 0) & (found <= 1 + 1e-15)).all()


@pytest.mark.parametrize("gain", GAIN_NAMES)
def test_a_perfect_list_has_one(gain):
    rng = np.random.default_rng(4)
    users = []
    for _ in range(50):
        judged = dict(enumerate(rng.integers(1, 11, 15) / 2))
        best_first = sorted(judged, key=lambda item: -judged[item])
        users.append(([*best_first, 90, 91], judged))
    table = user_table(*users)
    names = ("P@1", "RR", "AP", f"nDCG({gain})@1", f"nDCG({gain})@10", f"nDCG({gain})")
    assert values(table, *names) == [[1.0] * len(names)] * len(users)
    worst = user_table(*[(list(reversed(items)), judged) for items, judged in users])
    assert np.max(values(worst, "nDCG@10", "AP")) < 1


def test_the_best_false_positive_value_is_the_least_possible():
    """Perfect scores: dislikes enter only where the liked items end."""
    judged = {0: 5, 1: 5, 2: 1, 3: 1, 4: 1}
    assert values(user_table((range(5), judged)), "antiP@2", "antiP@4") == [[0, 0.5]]


@given(cases)
def test_only_the_side_of_the_threshold_matters_to_binary_metrics(table):
    every = ("P", "R", "nDCG", "AP", "RR", "antiP", "antiR", "antinDCG", "antiAP", "antiRR")
    names = [*(f"{name}@3" for name in (*every, "fallout", "judged")), "AP", "RR", "nDCG"]
    names += ["P@3|judged", "antiP@3|judged"]
    recoded = dataclasses.replace(table, value=np.where(table.value >= 4, 10.0, -3.0))
    np.testing.assert_array_equal(values(table, *names), values(recoded, *names))


@given(cases, st.sampled_from([0.5, 4.0]))
def test_linear_gains_may_be_scaled(table, factor):
    scaled = dataclasses.replace(table, value=table.value * factor)
    np.testing.assert_allclose(
        values(table, "nDCG(linear)@4"),
        values(scaled, "nDCG(linear)@4", min_rating=4 * factor),
        rtol=1e-14,
    )


@given(cases)
def test_a_metric_does_not_depend_on_its_neighbours(table):
    """Neither the other metrics, nor their order, nor the other users change a bit."""
    names = ["nDCG(exp)@2", "P@3", "AP", "antiP@1", "nDCG@7", "RR@2", "R@5", "nDCG(exp)@7"]
    names += ["nDCL@2", "antinDCG@3", "judged@2", "P@2|judged", "fallout@4", "antiP@9|judged"]
    together = values(table, *names)
    backwards = values(table, *reversed(names))
    np.testing.assert_array_equal(together, [row[::-1] for row in backwards])
    alone = np.hstack([values(table, name) for name in names])
    np.testing.assert_array_equal(together, alone)


def random_lists(rng, n_users, n_targets, n_relevant):
    """Ranks of the relevant items in uniformly random lists, for many users at once."""
    rank = 1 + rng.random((n_users, n_targets)).argsort(axis=1)[:, :n_relevant].astype(np.int32)
    condensed = 1 + rank.argsort(axis=1).argsort(axis=1).astype(np.int32)
    table = user_table(*[(range(1), dict.fromkeys(range(n_relevant), 5))] * n_users)
    return dataclasses.replace(table, rank=rank.ravel(), condensed_rank=condensed.ravel())


def test_random_lists_meet_their_expectations():
    """RELIABILITY 2.4 within 5 standard errors, the hypergeometric one for P."""
    n_users, t, r, n = 3000, 40, 6, 10
    table = random_lists(np.random.default_rng(1), n_users, t, r)
    found = np.array(values(table, f"P@{n}", f"R@{n}", f"nDCG@{n}")).T
    rho = r / t
    variance = rho * (1 - rho) * (t - n) / ((t - 1) * n)
    discount = 1 / np.log2(np.arange(n) + 2)
    expected = [rho, n / t, rho * discount.sum() / discount[:r].sum()]
    errors = [np.sqrt(variance), np.sqrt(variance) * n / r, found[2].std()]
    z_scores = (found.mean(axis=1) - expected) / np.array(errors) * np.sqrt(n_users)
    assert np.abs(z_scores).max() < 5
    assert found[0].var() == pytest.approx(variance, rel=0.15)


def test_random_runs_hit_in_n_of_the_ranks():
    """One relevant plus N sampled: E[P@n] = 1 / (N + 1)."""
    rng = np.random.default_rng(2)
    n_runs, n_sampled, cutoff = 20_000, 99, 10
    runs = [(0, int(rank), 5.0) for rank in rng.integers(1, n_sampled + 2, n_runs)]
    found = np.array(values(run_table(1, *runs), f"P@{cutoff}"))
    share = cutoff / (n_sampled + 1)
    error = np.sqrt(share * (1 - share) / n_runs) / cutoff
    assert abs(found.mean() - share / cutoff) < 5 * error


# ---- what is refused ----


def test_runs_know_nothing_of_judged_non_relevant_items():
    for name in ("antiP@1", "antiRR", "fallout@1", "nDCL@1", "judged@1", "P@1|judged"):
        with pytest.raises(ConfigError, match="1R table holds no rank but that of the relevant"):
            values(run_table(1, (0, 1, 5)), "P@1", name)


def test_runs_of_a_lower_threshold_are_refused():
    with pytest.raises(ConfigError, match=r"min_rating 5: a run of the table has rating 4.0"):
        values(run_table(1, (0, 1, 5), (0, 2, 4)), "P@1", min_rating=5)


def test_the_exponential_map_needs_the_top_of_the_scale():
    with pytest.raises(ConfigError, match="exp"):
        values(user_table(([1], {1: 5})), "nDCG(exp)@1", rating_max=None)


@pytest.mark.parametrize("condensed", [[1, 3, 0], [2, 1, 0], [1, 1, 0], [1, 2, 3], [0, 1, 0]])
def test_condensed_ranks_that_do_not_fit_the_ranks_are_refused(condensed):
    table = user_table((range(9), {1: 5, 4: 5, 20: 5}), (range(20), {15: 5}))
    broken = dataclasses.replace(table, condensed_rank=np.array([*condensed, 1], dtype=np.int32))
    assert table.condensed_rank.tolist() == [1, 2, 0, 1]
    with pytest.raises(ContractError, match="user 0: the condensed ranks"):
        values(broken, "P@1")


def test_nothing_to_measure_is_an_empty_result():
    metrics = [parse_metric("P@1"), parse_metric("nDCG(exp)@3"), parse_metric("antiP@2")]
    assert measure(user_table(), metrics, min_rating=4, rating_max=5).shape == (3, 0)
    assert measure(run_table(2), metrics[:2], min_rating=4, rating_max=5).shape == (2, 0)
    assert measure(user_table(([1], {1: 5})), [], min_rating=4).shape == (0, 1)
