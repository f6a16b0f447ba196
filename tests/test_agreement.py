"""Kendall tau-b against scipy and hand-worked values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recbias.agreement import kendall_tau

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
