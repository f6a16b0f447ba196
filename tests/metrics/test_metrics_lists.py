"""Metrics of lists of items against plain loops: ARP, Gini, Coverage, and counts of lists."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recbias.errors import ConfigError, ContractError
from recbias.metrics import (
    ListView,
    base,
    influence,
    item_counts,
    measure_items,
    measure_resampled,
    measure_system,
    parse_metric,
)
from recbias.metrics.concentration import coverage_without_each, gini, gini_without_each
from recbias.stats.resampling import bootstrap_weights, interval, linear_replicates, normal_interval


def view_of(lists, train_counts, depth):
    items = np.full((len(lists), depth), -1, dtype=np.int32)
    for user, one in enumerate(lists):
        items[user, : len(one)] = one[:depth]
    return ListView(items, len(train_counts), np.array(train_counts, dtype=np.int64))


@st.composite
def shown(draw):
    n_items = draw(st.integers(1, 7))
    counts = draw(st.lists(st.integers(0, 50), min_size=n_items, max_size=n_items))
    order = st.permutations(range(n_items))
    lists = draw(st.lists(st.tuples(order, st.integers(0, n_items)), min_size=1, max_size=6))
    lists = [list(items[:length]) for items, length in lists]
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 3), min_size=len(lists), max_size=len(lists)),
            min_size=1,
            max_size=4,
        )
    )
    return lists, counts, weights, draw(st.integers(1, n_items + 2))


def plain_gini(counts):
    """Mean absolute difference of all ordered pairs, over twice the mean."""
    total = sum(counts)
    if not total:
        return math.nan
    pairs = sum(abs(a - b) for a in counts for b in counts)
    return float(Fraction(pairs) / (2 * len(counts) * total))


@given(shown())
def test_plain_loops_agree(case):
    lists, train, weights, cutoff = case
    view = view_of(lists, train, len(train))
    found = measure_items(view, [parse_metric(f"ARP@{cutoff}")])[0]
    for user, one in enumerate(lists):
        top = [train[item] for item in one[:cutoff]]
        expected = float(Fraction(sum(top), len(top))) if top else math.nan
        assert found[user] == pytest.approx(expected, rel=1e-15, nan_ok=True)

    metrics = [parse_metric(f"{name}@{cutoff}") for name in ("Gini", "Coverage")]
    counts = item_counts(view, cutoff, np.array(weights, dtype=np.uint8))
    values = measure_system(counts, view, metrics)
    for row, weighting in enumerate(weights):
        by_hand = [
            sum(w for w, one in zip(weighting, lists, strict=True) if item in one[:cutoff])
            for item in range(len(train))
        ]
        assert counts[row].tolist() == by_hand
        assert values[0, row] == pytest.approx(plain_gini(by_hand), rel=1e-14, nan_ok=True)
        seen = sum(count > 0 for count in by_hand)
        assert values[1, row] == pytest.approx(seen / len(train), abs=1e-16)


def plain_novelty(items, train, n_users, log2=math.log2):
    """Add up how rare the items are, one by one."""
    if not items:
        return math.nan
    return sum(log2(n_users / (train[item] or 1)) for item in items) / len(items)


@given(shown())
def test_novelty_is_the_mean_information_of_a_plain_loop(case):
    lists, train, _, cutoff = case
    view = view_of(lists, train, len(train))
    values = measure_items(view, [parse_metric(f"Novelty@{cutoff}"), parse_metric("Novelty@1")])
    for depth, of_depth in zip((cutoff, 1), values, strict=True):
        plain = [plain_novelty(one[:depth], train, len(lists)) for one in lists]
        np.testing.assert_allclose(of_depth, plain, rtol=0, atol=1e-12)


def test_novelty_is_in_bits_and_all_ratings_in_place_of_users_add_the_same_to_all():
    train = [8, 2, 0, 5]
    lists = [[0, 1, 2], [2], [], [3, 1], [0], [1], [2, 3], []]
    values = measure_items(view_of(lists, train, 4), [parse_metric("Novelty@3")])[0]
    plain = [plain_novelty(one, train, len(lists)) for one in lists]
    np.testing.assert_allclose(values, plain, atol=1e-12)
    assert values[:3] == pytest.approx([5 / 3, 3, math.nan], nan_ok=True)
    free_discovery = np.array([plain_novelty(one, train, sum(train)) for one in lists])
    apart = (free_discovery - values)[~np.isnan(values)]
    np.testing.assert_allclose(apart, math.log2(15 / 8), atol=1e-12)
    # The twin: natural logarithms are another unit.
    wrong = [plain_novelty(one, train, len(lists), math.log) for one in lists]
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(values, wrong, atol=1e-12)


@given(shown())
def test_a_weight_is_as_many_copies_of_the_user(case):
    lists, train, weights, cutoff = case
    metrics = [parse_metric(f"{name}@{cutoff}") for name in ("Gini", "Coverage")]
    metrics.insert(1, parse_metric("Gini@1"))
    found = measure_resampled(view_of(lists, train, len(train)), metrics, np.array(weights))
    for row, weighting in enumerate(weights):
        copies = [one for one, w in zip(lists, weighting, strict=True) for _ in range(w)]
        repeated = view_of(copies, train, len(train))
        once = measure_resampled(repeated, metrics, np.ones((1, len(copies)), dtype=int))
        np.testing.assert_array_equal(found[:, row], once[:, 0])


@given(shown())
def test_values_without_each_user_are_those_of_the_other_lists(case):
    """To the bit: all counts are whole numbers."""
    lists, train, _, cutoff = case
    view = view_of(lists, train, len(train))
    metrics = [parse_metric(f"Gini@{cutoff}"), parse_metric("Gini@1")]
    coverages = [parse_metric(f"Coverage@{cutoff}")]
    found = np.vstack([gini_without_each(view, metrics), coverage_without_each(view, coverages)])
    once = np.ones((1, len(lists) - 1), dtype=int)
    for user in range(len(lists)):
        rest = view_of(lists[:user] + lists[user + 1 :], train, len(train))
        expected = measure_resampled(rest, metrics + coverages, once)[:, 0]
        np.testing.assert_array_equal(found[:, user], expected)


def test_influence_is_what_each_user_moves():
    rng = np.random.default_rng(4)
    items = np.array([rng.permutation(60)[:10] for _ in range(80)], dtype=np.int32)
    items[3, 4:] = items[7] = -1
    view = ListView(items, 60, np.arange(60))
    metrics = [parse_metric(text) for text in ("Gini@10", "Coverage@3", "Gini@4")]
    found = influence(view, metrics)
    everybody = measure_resampled(view, metrics, np.ones((1, 80), int))[:, 0]
    moved = np.empty_like(found)
    for user in range(80):
        weights = np.ones((1, 80), int)
        weights[0, user] = 0
        moved[:, user] = 79 * (everybody - measure_resampled(view, metrics, weights)[:, 0])
    np.testing.assert_allclose(found, moved - moved.mean(axis=1)[:, None], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-11)


def test_influence_of_a_metric_without_a_fast_way(monkeypatch):
    """Leaving users out one by one gives the same bits, in parts or at once."""
    rng = np.random.default_rng(5)
    items = np.array([rng.permutation(30)[:5] for _ in range(23)], dtype=np.int32)
    view, metrics = ListView(items, 30, np.arange(30)), [parse_metric("Gini@5")]
    fast = influence(view, metrics)
    key = ("Gini", ())
    slow = dataclasses.replace(base._DECLARATIONS[key], without_each=None)
    monkeypatch.setitem(base._DECLARATIONS, key, slow)
    np.testing.assert_array_equal(influence(view, metrics), fast)
    monkeypatch.setattr("recbias.metrics.measuring.CHUNK_BYTES", 4 * 8 * 23)
    np.testing.assert_array_equal(influence(view, metrics), fast)


def test_interval_of_gini_covers_where_percentiles_do_not():
    """The estimand is the expected value at this number of users, of a system that stays.

    Linear replicates never expect too small a variance, so that a share of .95 less 5 of its
    standard errors fails by chance less than once in a million seeds.
    """
    n_users, n_items, n_studies = 60, 120, 300
    rng = np.random.default_rng(6)
    scores = rng.gumbel(size=(5000, n_items)) - np.log(np.arange(1, n_items + 1))
    population = np.argsort(-scores, axis=1)[:, :5].astype(np.int32)
    metrics, once = [parse_metric("Gini@5")], np.ones((1, n_users), dtype=int)

    def sample():
        lists = population[rng.integers(len(population), size=n_users)]
        return ListView(lists, n_items, np.ones(n_items, int))

    truth = np.mean([measure_resampled(sample(), metrics, once) for _ in range(20 * n_studies)])
    weights = bootstrap_weights(n_users, 300, rng=rng)
    linear, percentile = [], []
    for _ in range(n_studies):
        view = sample()
        value = measure_resampled(view, metrics, once)[:, 0]
        replicates = linear_replicates(value, influence(view, metrics), weights)
        resampled = measure_resampled(view, metrics, weights)
        for held, (low, high) in (
            (linear, normal_interval(value, replicates)[0]),
            (percentile, interval(resampled)[0]),
        ):
            held.append(low <= truth <= high)
    assert np.mean(linear) > 0.95 - 5 * np.sqrt(0.95 * 0.05 / n_studies)
    assert np.mean(percentile) < 0.5


def test_worked_values():
    """formulas.md section 10: r = (4, 3, 2, 1, 0)."""
    counts = np.array([[4.0, 3, 2, 1, 0], [0, 0, 0, 0, 7], [2, 2, 2, 2, 2], [0, 0, 0, 0, 0]])
    np.testing.assert_allclose(gini(counts), [0.4, 0.8, 0, np.nan], rtol=1e-15)
    view = view_of([[0], [0], [0], [0], [1], [1], [1], [2], [2], [3], []], [9, 5, 4, 2, 0], 1)
    metrics = [parse_metric("Gini@1"), parse_metric("Coverage@1")]
    counts = item_counts(view, 1)
    assert counts.tolist() == [[4, 3, 2, 1, 0]]
    np.testing.assert_allclose(measure_system(counts, view, metrics), [[0.4], [0.8]], rtol=1e-15)
    popularity = measure_items(view, [parse_metric("ARP@1")])[0]
    np.testing.assert_array_equal(popularity, [9] * 4 + [5] * 3 + [4] * 2 + [2, np.nan])


def test_leaving_out_the_item_in_no_list_would_be_noticed():
    """The wrong reading of the worked value gives .25."""
    assert gini(np.array([[4.0, 3, 2, 1]])).tolist() == [0.25]


def test_gini_of_many_weightings_is_that_of_each_alone(monkeypatch):
    rng = np.random.default_rng(2)
    items = np.array([rng.permutation(40)[:10] for _ in range(200)], dtype=np.int32)
    view = ListView(items, 40, np.arange(40))
    weights = rng.integers(0, 4, (23, 200))
    metrics = [parse_metric("Gini@10"), parse_metric("Gini@3"), parse_metric("Coverage@3")]
    together = measure_resampled(view, metrics, weights)
    monkeypatch.setattr("recbias.metrics.measuring.CHUNK_BYTES", 5 * 8 * 40)
    np.testing.assert_array_equal(together, measure_resampled(view, metrics, weights))
    alone = np.hstack([measure_resampled(view, metrics, row[None]) for row in weights])
    np.testing.assert_array_equal(together, alone)


def test_counts_of_folds_add_up():
    rng = np.random.default_rng(3)
    folds = [
        ListView(
            np.array([rng.permutation(9)[:4] for _ in range(5)], np.int32), 9, np.zeros(9, int)
        )
        for _ in range(2)
    ]
    both = ListView(np.vstack([fold.items for fold in folds]), 9, np.zeros(9, int))
    weights = rng.integers(0, 3, (6, 5))
    added = sum(item_counts(fold, 3, weights) for fold in folds)
    np.testing.assert_array_equal(added, item_counts(both, 3, np.hstack([weights, weights])))


@pytest.mark.parametrize(
    ("items", "n_items", "counts", "message"),
    [
        ([0, 1], 2, [1, 1], r"shape \(2,\), expected \(n_users, depth\)"),
        ([[0, 2]], 2, [1, 1], "item 2, expected 0 to 1, or -1"),
        ([[0, -2]], 2, [1, 1], "item -2, expected 0 to 1"),
        ([[0, 1], [-1, 1]], 2, [1, 1], "user 1 has an item behind the end"),
        ([[1, -1], [-1, 0]], 2, [1, 1], "user 1 has an item behind the end"),
        ([[0, 1]], 2, [1, 1, 1], r"training counts have shape \(3,\), expected \(2,\)"),
    ],
)
def test_lists_that_cannot_be_are_refused(items, n_items, counts, message):
    with pytest.raises(ContractError, match=message):
        ListView(np.array(items, np.int32), n_items, np.array(counts))


def test_lists_cut_before_the_cutoff_are_refused():
    view = view_of([[0, 1]], [1, 1, 1], 2)
    for call in (
        lambda: measure_items(view, [parse_metric("ARP@3")]),
        lambda: item_counts(view, 3),
        lambda: measure_resampled(view, [parse_metric("Gini@3")], np.ones((1, 1), int)),
    ):
        with pytest.raises(ConfigError, match="cutoff 3: the lists were cut after 2 places"):
            call()
    whole = view_of([[0, 1, 2]], [1, 1, 1], 3)
    assert measure_items(whole, [parse_metric("ARP@9")]).tolist() == [[1]]


def test_counts_and_weights_that_do_not_fit_are_refused():
    view = view_of([[0], [1]], [1, 1], 1)
    for weights in (np.ones((1, 3), int), np.ones(2, int), np.ones((1, 2))):
        with pytest.raises(ContractError, match=r"expected integers of shape \(n_rows, 2\)"):
            item_counts(view, 1, weights)
    with pytest.raises(ContractError, match=r"shape \(1, 3\), expected \(n_rows, 2\)"):
        measure_system(np.ones((1, 3)), view, [parse_metric("Gini@1")])
    metrics = [parse_metric("Gini@1"), parse_metric("Coverage@2")]
    with pytest.raises(ConfigError, match="Gini@1, Coverage@2: item counts belong to one cutoff"):
        measure_system(item_counts(view, 1), view, metrics)


def test_no_user_is_no_trouble():
    view = ListView(np.empty((0, 3), np.int32), 4, np.zeros(4, int))
    assert measure_items(view, [parse_metric("ARP@3")]).shape == (1, 0)
    metrics = [parse_metric("Gini@3"), parse_metric("Coverage@3")]
    found = measure_system(item_counts(view, 3), view, metrics)
    np.testing.assert_array_equal(found, [[np.nan], [0]])
    assert measure_resampled(view, metrics, np.ones((0, 0), int)).shape == (2, 0)
    assert influence(view, metrics).shape == (2, 0)
    alone = ListView(np.zeros((1, 1), np.int32), 4, np.zeros(4, int))
    metrics = [parse_metric("Gini@1"), parse_metric("Coverage@1")]
    np.testing.assert_array_equal(influence(alone, metrics), [[np.nan], [0]])
