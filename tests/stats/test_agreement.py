"""Kendall tau-b against scipy and by hand; resolved signs against loops, and that they hold."""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise, permutations, product
from statistics import quantiles, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recbias.errors import ConfigError
from recbias.stats.agreement import (
    kendall_tau,
    opposed_pairs,
    resolved_signs,
    share_interval,
    tau_interval,
    tau_intervals,
    tau_p_value,
)
from recbias.stats.resampling import bootstrap_weights, interval

small_integers = st.integers(0, 4)


@given(st.lists(st.tuples(small_integers, small_integers), min_size=2, max_size=9))
def test_tau_is_that_of_scipy_with_ties(pairs):
    a, b = np.array(pairs, dtype=float).T
    np.testing.assert_allclose(
        kendall_tau(a, b), stats.kendalltau(a, b).statistic, rtol=0, atol=1e-12
    )


def test_tau_pinned_value():
    """formulas.md section 5: C = 4, D = 1, one tie."""
    assert kendall_tau([4, 3, 2, 1], [5, 5, 3, 4]) == pytest.approx(0.547723, abs=1e-6)


def test_replicates_are_the_rows_taken_one_by_one():
    rng = np.random.default_rng(3)
    published = np.array([0.3, 0.1, 0.4, 0.2])
    replicates = rng.integers(0, 3, size=(50, 4)).astype(float)
    one_by_one = [kendall_tau(published, row) for row in replicates]
    np.testing.assert_array_equal(kendall_tau(published, replicates), one_by_one)


def test_one_system_or_a_missing_value_gives_no_answer():
    assert np.isnan(kendall_tau([1.0], [2.0]))
    assert np.isnan(kendall_tau([], []))
    taus = kendall_tau([[1, 2, 3], [1, np.nan, 3]], [1, 2, 3])
    np.testing.assert_array_equal(np.isnan(taus), [0, 1])


def test_an_order_without_information_has_no_tau():
    assert np.isnan(kendall_tau([1, 1, 1], [1, 2, 3]))


@given(st.permutations(range(6)))
def test_without_ties_tau_counts_pairs(order):
    """By a loop over pairs: (agreeing - opposed) / all."""
    agreeing = sum(order[i] < order[j] for j in range(6) for i in range(j))
    assert kendall_tau(range(6), order) == pytest.approx((2 * agreeing - 15) / 15, abs=1e-12)


def test_relevance_independent_of_the_system_has_tau_around_zero():
    """RELIABILITY 2.4; under independence var tau = 2 (2 n + 5) / (9 n (n - 1))."""
    rng = np.random.default_rng(11)
    n_systems, n_worlds = 8, 4000
    tau = kendall_tau(rng.random((n_worlds, n_systems)), rng.random((n_worlds, n_systems)))
    variance = 2 * (2 * n_systems + 5) / (9 * n_systems * (n_systems - 1))
    assert abs(tau.mean()) < 5 * np.sqrt(variance / n_worlds)
    assert tau.var() == pytest.approx(variance, rel=0.1)


# ---- what is resolved: the same in plain loops


def naive_signs(differences, replicates):
    """Signs at 95 %: by the definition, a number at a time."""
    errors = [stdev(row) if len(set(row)) > 1 else 0.0 for row in replicates]
    largest = [
        max(
            [
                abs(row[j] - d) / s
                for d, s, row in zip(differences, errors, replicates, strict=True)
                if s
            ],
            default=0.0,
        )
        for j in range(len(replicates[0]))
    ]
    critical = quantiles(largest, n=20, method="inclusive")[-1]
    return [
        (1 if d > 0 else -1) if abs(d) > critical * s else 0
        for d, s in zip(differences, errors, strict=True)
    ]


def close_systems(seed, n_systems=6, n_replicates=40):
    """Systems in steps of about two standard errors, two that never vary and two that are one."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, n_systems).astype(float)
    drawn = values[:, None] + rng.normal(size=(n_systems, n_replicates))
    drawn[0], drawn[1] = values[0], values[1]
    values[3], drawn[3] = values[2], drawn[2]
    return values, drawn


@pytest.mark.parametrize("seed", range(12))
def test_signs_are_those_of_the_definition(seed, monkeypatch):
    values, drawn = close_systems(seed)
    pairs = list(combinations(range(6), 2))
    differences = [values[i] - values[j] for i, j in pairs]
    replicates = [(drawn[i] - drawn[j]).tolist() for i, j in pairs]
    expected = naive_signs(differences, replicates)
    assert resolved_signs(differences, replicates).tolist() == expected
    monkeypatch.setattr("recbias.stats.agreement._BLOCK", 4)
    assert resolved_signs(differences, replicates).tolist() == expected


@pytest.mark.parametrize("seed", range(12))
def test_tau_opposed_pairs_and_share_are_those_of_loops(seed):
    (a, a_drawn), (b, b_drawn) = close_systems(seed), close_systems(100 + seed)
    pairs = list(combinations(range(6), 2))
    differences, replicates = [], []
    for values, drawn in ((a, a_drawn), (b, b_drawn)):
        differences += [values[i] - values[j] for i, j in pairs]
        replicates += [(drawn[i] - drawn[j]).tolist() for i, j in pairs]
    signs = naive_signs(differences, replicates)
    agree = opposed = 0
    listed = set()
    for (i, j), under_a, under_b in zip(pairs, signs[:15], signs[15:], strict=True):
        if under_a * under_b > 0:
            agree += 1
        if under_a * under_b < 0:
            opposed += 1
            listed.add((i, j) if under_a > 0 else (j, i))
    unclear = 15 - agree - opposed
    expected = (agree - opposed - unclear) / 15, (agree - opposed + unclear) / 15
    assert tau_interval(a, b, a_drawn, b_drawn) == pytest.approx(expected, abs=1e-15)
    assert set(map(tuple, opposed_pairs(a, b, a_drawn, b_drawn).tolist())) == listed

    orders = [order for order in product(range(6), repeat=3) if len(set(order)) == 3][::7]
    used = sorted({tuple(sorted(step)) for order in orders for step in pairwise(order)})
    signs = naive_signs(
        [a[i] - a[j] for i, j in used], [(a_drawn[i] - a_drawn[j]).tolist() for i, j in used]
    )
    sign = dict(zip(used, signs, strict=True))
    sign |= {(j, i): -value for (i, j), value in sign.items()}
    holds = sum(all(sign[step] > 0 for step in pairwise(order)) for order in orders)
    fails = sum(any(sign[step] < 0 for step in pairwise(order)) for order in orders)
    found = share_interval(a, a_drawn, orders)
    assert found == pytest.approx((holds / len(orders), 1 - fails / len(orders)), abs=1e-15)


@pytest.mark.parametrize("n_chosen", [1, 2, 4, 6])
def test_taus_of_choices_are_those_without_the_others(n_chosen):
    """Bit for bit; with a value that is undefined, which says nothing of choices without it."""
    choices, differs = list(combinations(range(6), n_chosen)), 0
    for seed in range(12):
        (a, a_drawn), (b, b_drawn) = close_systems(seed), close_systems(100 + seed)
        a[5] = np.nan if seed % 2 else a[5]
        found = tau_intervals(a, b, a_drawn, b_drawn, choices)
        alone = [
            tau_interval(a[each], b[each], a_drawn[each], b_drawn[each])
            for each in map(list, choices)
        ]
        np.testing.assert_array_equal(found, alone)
        differs += len({*map(tuple, np.nan_to_num(found).tolist())}) > 1
    assert (differs > 6) == (1 < n_chosen < 6), "or the choice is not looked at"
    assert tau_intervals(a, b, a_drawn, b_drawn, np.empty((0, 2), int)).shape == (0, 2)


def test_what_does_not_vary_is_exact_and_what_is_undefined_counts_for_nothing():
    rng = np.random.default_rng(1)
    drawn = rng.normal(size=(5, 200))
    drawn[0], drawn[1], drawn[2] = 1e-9, -1e-9, 0.0
    differences = np.array([1e-9, -1e-9, 0.0, 10.0, 0.0])
    assert resolved_signs(differences, drawn + 10 * (np.arange(5) == 3)[:, None]).tolist() == [
        1, -1, 0, 1, 0,
    ]  # fmt: skip
    drawn[2:] = rng.normal(size=(3, 200))
    differences = np.array([9.0, 9.0, 3.5, -3.5, 3.5])
    drawn += differences[:, None]
    drawn[0, 7], drawn[1, 9] = np.nan, np.inf
    assert resolved_signs(differences, drawn).tolist() == [0, 0, 1, -1, 1]
    with_nan = [np.nan, 1.0, 2.0]
    steady = np.array(with_nan)[:, None] + np.zeros((3, 9))
    assert tau_interval(with_nan, with_nan, steady, steady) == (-1 / 3, 1.0)


def test_an_interval_of_tau_holds_the_tau_b_of_any_ties_among_open_pairs():
    """Four systems in each of their weak orders: a tie is an open pair, and tau-b stays inside."""
    weak = [np.array(order, dtype=float) for order in product(range(4), repeat=4)]
    weak = [order for order in weak if set(order) == set(range(len(set(order))))]
    steady = {tuple(order): np.repeat(order[:, None], 2, axis=1) for order in weak}
    for a, b in product(weak[::3], weak):
        low, high = tau_interval(a, b, steady[tuple(a)], steady[tuple(b)])
        tau = kendall_tau(a, b)
        assert np.isnan(tau) or low - 1e-12 <= tau <= high + 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: resolved_signs([1.0], [[1.0, 2.0]], level=95), "level 95"),
        (lambda: resolved_signs([1.0, 2.0], [[1.0, 2.0]]), r"\(2,\) with .* \(1, 2\)"),
        (lambda: resolved_signs([1.0], [[1.0]]), "at least two replicates"),
        (
            lambda: tau_interval([1, 2], [1, 2], np.ones((2, 3)), np.ones((2, 4))),
            "same systems, on the same draws",
        ),
        (
            lambda: tau_intervals([1, 2], [1, 2], *np.ones((2, 2, 3)), [[1, 0]]),
            r"\(1, 2\): expected rows of numbers below 2, in ascending",
        ),
        (
            lambda: tau_intervals([1, 2], [1, 2], *np.ones((2, 2, 3)), [[0, 2]]),
            "numbers below 2",
        ),
        (lambda: opposed_pairs([1, 2], [1], np.ones((2, 3)), np.ones((1, 3))), "same systems"),
        (lambda: share_interval([1, 2], np.ones((2, 3)), []), "at least one"),
        (lambda: share_interval([1, 2], np.ones((2, 3)), [(0,)]), "two systems or more"),
        (lambda: share_interval([1, 2], np.ones((2, 3)), [(0, 2)]), "0 to 2: expected 0 to 1"),
        (lambda: share_interval([1, 2], np.ones((2, 3)), [(1, 1, 0)]), "to itself"),
        (lambda: share_interval([1, 2], np.ones((2, 3)), [(1, 0), (1,)]), "different lengths"),
    ],
)
def test_families_that_do_not_fit_are_refused(call, message):
    with pytest.raises(ConfigError, match=message):
        call()


# ---- and that it holds


def studies(expected, n_studies, *, n_users=200, seed=50):
    """Draw users of systems whose values are hits of ten: what was observed, and 500 replicates.

    Users differ more than systems do, so that the values of systems depend on each other.
    """
    rng = np.random.default_rng(seed)
    expected = np.asarray(expected)
    weights = bootstrap_weights(n_users, 500, rng=rng) / n_users
    for _ in range(n_studies):
        level = rng.beta(2, 2, n_users) * 2
        hits = rng.binomial(10, np.outer(expected, level)) / 10
        yield hits.mean(axis=1), hits @ weights.T


def test_no_sign_of_a_family_of_true_ties_is_resolved_in_95_of_100_studies():
    """A correct level is found with 1 - 6e-7: five standard errors of 1,000 studies, .034."""
    first, second = np.triu_indices(10, k=1)
    alarms, alone = [], []
    for values, drawn in studies(np.full(10, 0.2), 1000):
        differences, replicates = values[first] - values[second], drawn[first] - drawn[second]
        alarms.append(resolved_signs(differences, replicates).any())
        limits = interval(replicates)
        alone.append(((limits[:, 0] > 0) | (limits[:, 1] < 0)).any())
    assert abs(np.mean(alarms) - 0.05) < 0.034
    assert np.mean(alone) > 0.4  # each at its own level


def test_the_interval_of_tau_covers_where_its_percentiles_do_not():
    """Ten systems, neighbours half a standard error apart, in one order under both: tau is 1."""
    expected = 0.2 + 0.005 * np.arange(10)
    covered, by_percentiles = [], []
    under_b = studies(expected, 300, seed=51)
    for (a, a_drawn), (b, b_drawn) in zip(studies(expected, 300), under_b, strict=True):
        covered.append(tau_interval(a, b, a_drawn, b_drawn)[1] == 1.0)
        by_percentiles.append(interval(kendall_tau(a_drawn.T, b_drawn.T))[1] >= 1.0)
    assert np.mean(covered) > 0.95 - 5 * np.sqrt(0.95 * 0.05 / 300)
    assert np.mean(by_percentiles) < 0.2


def test_the_interval_of_a_share_covers_where_its_percentiles_do_not():
    """Ten systems half a standard error apart: an order of four holds, and its reverse does not."""
    rising = np.array(list(combinations(range(10), 4)))
    orders = np.concatenate([rising[:, ::-1], rising])
    covered, by_percentiles = [], []
    for values, drawn in studies(0.2 + 0.005 * np.arange(10), 300):
        low, high = share_interval(values, drawn, orders)
        covered.append(low <= 0.5 <= high)
        low, high = interval((np.diff(drawn[orders], axis=1) < 0).all(axis=1).mean(axis=0))
        by_percentiles.append(low <= 0.5 <= high)
    assert np.mean(covered) > 0.95 - 5 * np.sqrt(0.95 * 0.05 / 300)
    assert np.mean(by_percentiles) < 0.2


# -- p of tau ----------------------------------------------------------------------------------


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_the_exact_p_of_tau_is_that_of_scipy(n, seed):
    a, b = np.random.default_rng(seed).permuted(np.tile(np.arange(n), (2, 1)), axis=1)
    expected = stats.kendalltau(a, b, method="exact").pvalue
    assert tau_p_value(a, b) == pytest.approx(expected, abs=1e-12)


@given(st.integers(9, 40), st.integers(2, 6), st.integers(0, 10**6))
def test_with_ties_the_p_of_tau_is_that_of_scipy(n, n_values, seed):
    a, b = np.random.default_rng(seed).integers(n_values, size=(2, n))
    expected = stats.kendalltau(a, b, method="asymptotic").pvalue
    if len(set(a)) < n or len(set(b)) < n:
        assert tau_p_value(a, b) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_the_p_of_tau_counts_orders_and_is_normal_for_many_systems():
    orders = list(permutations(range(5)))
    taus = [abs(float(kendall_tau(range(5), order))) for order in orders]
    for order, tau in zip(orders, taus, strict=True):
        as_extreme = sum(other >= tau - 1e-12 for other in taus)
        assert tau_p_value(range(5), order) == pytest.approx(as_extreme / 120)
    a, b = np.random.default_rng(2).random((2, 80))
    expected = stats.kendalltau(a, b, method="asymptotic").pvalue
    assert tau_p_value(a, b) == pytest.approx(expected, rel=1e-9)


def test_orders_of_other_systems_have_no_p():
    with pytest.raises(ConfigError, match="give both the same systems"):
        tau_p_value([1.0, 2.0], [1.0, 2.0, 3.0])
    assert np.isnan(tau_p_value([1.0, np.nan], [1.0, 2.0]))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 1, 1, 1, 1, 1, 1, 2], [1, 1, 1, 1, 1, 1, 1, 2], 1 / 8),
        ([1, 1, 2], [1, 1, 2], 1 / 3),
        ([1, 1, 1, 1, 2], [1, 1, 1, 1, 2], 1 / 5),
        ([1, 2, 3, 4], [1, 1, 2, 3], 1 / 6),
    ],
)
def test_p_of_tau_with_ties_counts_all_orders(
    a: list[float], b: list[float], expected: float
) -> None:
    assert tau_p_value(a, b) == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5))
def test_p_of_tau_with_ties_is_that_of_a_loop_over_orders(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)

    def excess(x: Sequence[int], y: Sequence[int]) -> int:
        sides = [
            ((p > q) - (p < q)) * ((r > s) - (r < s))
            for (p, r), (q, s) in combinations([*zip(x, y, strict=True)], 2)
        ]
        return abs(sum(sides))

    p = tau_p_value(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert math.isnan(p)
        return
    orders = [*permutations(b)]
    expected = sum(excess(a, order) >= excess(a, b) for order in orders) / len(orders)
    assert p == pytest.approx(expected, rel=1e-12)
