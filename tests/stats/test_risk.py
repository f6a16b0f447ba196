"""Risk measures and standardised values: pinned values, plain loops, laws."""

import math
from statistics import NormalDist, mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from recbias.errors import ConfigError
from recbias.stats import risk
from recbias.stats.risk import geo_risk, standardised, t_risk, u_risk, z_risk

X, B = [0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4]
TABLE = np.array([[0.5, 0.2, 0.9, 0.4], [0.4, 0.4, 0.6, 0.4], [0.3, 0.3, 0.6, 0.1]])
"""Systems by users; formulas.md section 6 has it the other way round."""


# ---- pinned values: formulas.md, section 6


@pytest.mark.parametrize(
    ("alpha", "u", "t"), [(0, 0.05, 0.480384), (1, 0.0, 0.0), (5, -0.2, -0.589768)]
)
def test_pinned_losses_against_a_baseline(alpha, u, t):
    assert u_risk(X, B, alpha=alpha) == pytest.approx(u, abs=1e-12)
    assert t_risk(X, B, alpha=alpha) == pytest.approx(t, abs=1e-6)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(0, [0.497446, 0.478679, 0.401299]), (1, [0.484386, 0.469203, 0.389808])],
)
def test_pinned_risk_among_systems(alpha, expected):
    np.testing.assert_allclose(geo_risk(TABLE, alpha=alpha), expected, atol=1e-6)


def test_pinned_standardised_value():
    assert standardised([[0.1], [0.2], [0.3], [0.4]])[3, 0] == pytest.approx(0.877361, abs=1e-6)
    assert (standardised([[0.3, 0.1], [0.3, 0.2]])[:, 0] == 0.5).all()


# ---- plain loops

VALUES = st.floats(0, 1).map(lambda x: round(x, 4))
TABLES = st.tuples(st.integers(2, 5), st.integers(2, 7)).flatmap(
    lambda shape: hnp.arrays(float, shape, elements=VALUES)
)
ALPHAS = st.sampled_from([0.0, 0.5, 1.0, 5.0])


@given(TABLES, ALPHAS)
def test_losses_as_printed(table, alpha):
    weighted = []
    for x, b in zip(*table[:2], strict=True):
        weighted.append(x - b if x >= b else (1 + alpha) * (x - b))
    assert u_risk(table[0], table[1], alpha=alpha) == pytest.approx(mean(weighted), abs=1e-12)
    found = t_risk(table[0], table[1], alpha=alpha)
    if len(set(weighted)) > 1 and stdev(weighted) > 1e-9:
        error = stdev(weighted) / math.sqrt(len(weighted))
        assert found == pytest.approx(mean(weighted) / error, rel=1e-8, abs=1e-8)


def naive_risks(table, alpha):
    users = [u for u in range(table.shape[1]) if sum(row[u] for row in table) > 0]
    total = sum(row[u] for row in table for u in users)
    sums, combined = [], []
    for row in table:
        own, z_sum = sum(row[u] for u in users), 0.0
        for u in users:
            expected = own * sum(other[u] for other in table) / total
            z = (row[u] - expected) / math.sqrt(expected) if expected > 0 else math.nan
            z_sum += z if z >= 0 or math.isnan(z) else (1 + alpha) * z
        sums.append(z_sum if users else math.nan)
        served = own > 0
        chance = NormalDist().cdf(z_sum / len(users)) if served else 0.0
        combined.append(math.sqrt(own / len(users) * chance) if served else 0.0)
    return sums, combined


@given(TABLES, ALPHAS)
def test_risk_among_systems_as_printed(table, alpha):
    sums, combined = naive_risks(table, alpha)
    np.testing.assert_allclose(z_risk(table, alpha=alpha), sums, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(geo_risk(table, alpha=alpha), combined, rtol=1e-7, atol=1e-9)


@given(TABLES, TABLES)
def test_standardised_as_printed(table, other):
    users = min(table.shape[1], other.shape[1])
    given_, reference = table[:, :users], other[:, :users]
    for user in range(users):
        column = reference[:, user].tolist()
        spread = stdev(column)
        for system, x in enumerate(given_[:, user]):
            found = standardised(given_, reference)[system, user]
            if len(set(column)) == 1:
                assert found == 0.5
            else:
                z = (x - mean(column)) / spread
                assert found == pytest.approx(NormalDist().cdf(z), abs=1e-9)


# ---- laws


@given(TABLES)
def test_without_aversion_it_is_the_paired_t(table):
    spread = np.ptp(table[0] - table[1])
    if spread > 1e-6:
        theirs = stats.ttest_rel(table[0], table[1]).statistic
        assert t_risk(table[0], table[1], alpha=0) == pytest.approx(theirs, rel=1e-7)


@given(TABLES, ALPHAS)
def test_aversion_never_raises_a_value(table, alpha):
    harsher = alpha + 1
    assert u_risk(table[0], table[1], alpha=harsher) <= u_risk(table[0], table[1], alpha=alpha)
    assert (geo_risk(table, alpha=harsher) <= geo_risk(table, alpha=alpha)).all()


@given(TABLES, ALPHAS)
def test_users_whom_nobody_serves_do_not_count(table, alpha):
    more = np.hstack([table, np.zeros((len(table), 2))])
    np.testing.assert_array_equal(geo_risk(more, alpha=alpha), geo_risk(table, alpha=alpha))


@given(TABLES, ALPHAS)
def test_rows_are_measured_one_by_one(table, alpha):
    baseline = np.broadcast_to(table[0], table.shape)
    for measure in (u_risk, t_risk):
        alone = [measure(row, table[0], alpha=alpha) for row in table]
        np.testing.assert_array_equal(measure(table, baseline, alpha=alpha), alone)
    np.testing.assert_array_equal(standardised(table[1], table), standardised(table)[1])


def test_equal_differences_have_no_error():
    assert np.std([0.1, 0.1, 0.1]) > 0, "by rounding of the mean"
    assert np.isnan(t_risk([0.1, 0.1, 0.1], [0.0, 0.0, 0.0]))
    assert t_risk([1.0, 2.0], [1.0, 2.0]) == 0
    assert np.isnan(t_risk([1.1, 2.1, 3.1], [1.0, 2.0, 3.0]))


# ---- errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: u_risk([1.0], [1.0, 2.0]), "same users"),
        (lambda: u_risk([], []), "same users"),
        (lambda: u_risk(1.0, 1.0), "same users"),
        (lambda: u_risk([np.nan], [1.0]), "undefined"),
        (lambda: u_risk([1.0], [1.0], alpha=-1), "alpha -1"),
        (lambda: t_risk([1.0], [1.0]), "at least two"),
        (lambda: geo_risk([1.0, 2.0]), "systems, users"),
        (lambda: geo_risk([[-0.1, 1.0]]), "negative"),
        (lambda: z_risk([[np.nan, 1.0]]), "undefined"),
        (lambda: z_risk([[0.5, 1.0]], alpha=np.inf), "alpha inf"),
        (lambda: standardised([[0.5, 1.0]]), "at least 2 systems"),
        (lambda: standardised([[0.5, 1.0]], [[1.0], [2.0]]), "2 users against"),
        (lambda: standardised([[0.5, np.nan], [0.5, 1.0]]), "undefined"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ConfigError, match=message):
        call()


def test_losses_that_weigh_as_gains_are_noticed(monkeypatch):
    """The twin of the pinned values: an aversion that is forgotten."""
    weighted = risk._weighted_differences
    monkeypatch.setattr(risk, "_weighted_differences", lambda x, b, alpha: weighted(x, b, 0))
    with pytest.raises(AssertionError):
        test_pinned_losses_against_a_baseline(5, -0.2, -0.589768)
