"""RBP, its residual, RBO and tau: worked values, naive code, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rank_tables import run_table, user_table
from recbias.errors import ConfigError
from recbias.metrics import measure, parse_metric, persistence

A, B, C, D, X = range(5)
STARS = {A: 5, B: 4, C: 2, D: 3}


def values(table, *texts, **options):
    options = {"min_rating": 4, "rating_max": 5} | options
    return measure(table, [parse_metric(text) for text in texts], **options)


def value(items, judged, text, **options):
    return values(user_table((items, judged)), text, **options)[0, 0]


# ---- worked values: formulas.md, sections 4.3 and 5


@pytest.mark.parametrize(
    ("items", "metric", "expected"),
    [
        ([X, B, C, A], "RBP(0.5)", 0.3125),
        ([X, B, C, A], "RBPresidual(0.5)", 0.5625),
        ([X, B, C, A], "RBP(0.8)", 0.2624),
        ([X, B, C, A], "RBPresidual(0.8)", 0.6096),
        ([X, B, C, A], "RBP(0.5,exp)", 0.1875),
        ([X, B, C, A], "RBP(0.8,exp)", 0.1856),
        ([B, C, A], "RBP(0.5)", 0.625),
        ([B, C, A], "RBPresidual(0.5)", 0.125),
        ([B, C, A], "RBP(0.8)", 0.328),
        ([B, C, A], "RBPresidual(0.8)", 0.512),
        ([B, C, A, D], "RBO(0.5,truncated)", 0.2708333333),
        ([B, C, A, D], "RBO(0.5)", 1 / 3),
        ([B, C, A, D], "RBO(0.9,truncated)", 0.1719),
        ([B, C, A, D], "RBO(0.9)", 0.828),
    ],
)
def test_worked_values(items, metric, expected):
    assert value(items, STARS, metric) == pytest.approx(expected, abs=1e-9)


def test_worked_value_of_tau():
    assert value([A, B, C, D], {A: 5, B: 5, C: 3, D: 4}, "tau") == pytest.approx(3 / 30**0.5)


def test_a_condensed_list_is_a_list_without_what_is_unjudged():
    table = user_table(([X, B, C, A], STARS))
    condensed = values(table, "RBP(0.8)", "RBPresidual(0.8)", condensed=True)[:, 0]
    np.testing.assert_allclose(condensed, [0.328, 0.512], rtol=1e-12)


def test_cutoffs_leave_out_what_stands_behind():
    assert value([X, B, C, A], STARS, "RBP(0.5)@3") == 0.25
    assert value([X, B, C, A], STARS, "RBPresidual(0.5)@2") == 0.75
    # a and b share nothing at depth 1, one item at depth 2
    assert value([B, C, A, D], STARS, "RBO(0.5)@2") == 0.5 * 0.5 * 0.5 + 0.25 * 0.5


def test_edge_cases():
    nothing = user_table(([X], STARS), ([], STARS), ([B], {}))
    texts = "RBP(0.5)", "RBPresidual(0.5)", "RBO(0.5)", "tau"
    for table in (nothing, user_table(([A, B], {A: 1}))):
        found = values(table, *texts)
        assert (found[0] == 0).all()
    assert (values(nothing, *texts)[1] == 1).all()
    assert np.isnan(values(nothing, *texts)[2:]).all()
    alike = user_table(([A, B], {A: 3, B: 3}))
    assert values(alike, "RBO(0.5)")[0, 0] == 1
    assert np.isnan(values(alike, "tau")[0, 0])


def test_runs_gain_by_their_rank():
    runs = run_table(2, (0, 1, 5), (0, 0, 4), (1, 3, 4.5))
    np.testing.assert_allclose(values(runs, "RBP(0.8)")[0], [0.2, 0, 0.2 * 0.64], rtol=1e-12)
    for text in ("RBPresidual(0.8)", "RBO(0.8)", "tau"):
        with pytest.raises(ConfigError, match=text.partition("(")[0]):
            values(runs, text)


@pytest.mark.parametrize("text", ["RBP(0)", "RBP(1)", "RBO(nan)", "RBO(0.5,long)", "RBP"])
def test_what_is_no_persistence_is_refused(text):
    with pytest.raises(ConfigError, match=r"phi|form"):
        parse_metric(text)


# ---- naive code

LISTS = st.lists(st.permutations(range(12)).map(lambda p: p[:9]), min_size=1, max_size=3)
JUDGED = st.dictionaries(st.integers(0, 11), st.integers(1, 5), max_size=9)


def naive(items, judged, phi):
    """RBP, residual, truncated and extrapolated RBO, as the formulas are printed."""
    gained = sum(
        (1 - phi) * phi**place for place, item in enumerate(items) if judged.get(item, 0) >= 4
    )
    unjudged = sum((1 - phi) * phi**place for place, item in enumerate(items) if item not in judged)
    shown = [item for item in items if item in judged]
    by_rating = sorted(shown, key=lambda item: -judged[item])
    overlaps = [
        len(set(shown[:depth]) & set(by_rating[:depth])) / depth
        for depth in range(1, len(shown) + 1)
    ]
    truncated = (1 - phi) * sum(phi**place * share for place, share in enumerate(overlaps))
    tail = phi ** len(shown) * overlaps[-1] if shown else np.nan
    return gained, phi ** len(items) + unjudged, truncated if shown else np.nan, truncated + tail


@given(LISTS, JUDGED, st.sampled_from(["0.3", "0.8", "0.95"]))
def test_as_printed(lists, judged, phi):
    table = user_table(*((items, judged) for items in lists))
    found = values(
        table, f"RBP({phi})", f"RBPresidual({phi})", f"RBO({phi},truncated)", f"RBO({phi})"
    )
    expected = np.array([naive(items, judged, float(phi)) for items in lists]).T
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_equal_ratings_follow_the_list_however_long_it_is():
    """Sorting keeps the order of equals up to 15 items even where it promises nothing."""
    rng = np.random.default_rng(1)
    items = rng.permutation(100).tolist()
    judged = dict(enumerate(rng.integers(1, 6, size=100).tolist()))
    found = values(user_table((items, judged)), "RBO(0.9,truncated)", "RBO(0.9)")[:, 0]
    np.testing.assert_allclose(found, naive(items, judged, 0.9)[2:], rtol=1e-12)


@given(LISTS, JUDGED)
def test_tau_is_that_of_scipy(lists, judged):
    found = values(user_table(*((items, judged) for items in lists)), "tau")[0]
    for items, tau in zip(lists, found, strict=True):
        ratings = [judged[item] for item in items if item in judged]
        if len(set(ratings)) < 2:
            assert np.isnan(tau)
        else:
            theirs = stats.kendalltau(range(len(ratings), 0, -1), ratings).statistic
            assert tau == pytest.approx(theirs, abs=1e-12)


# ---- laws


@given(LISTS, JUDGED)
def test_order_metrics_do_not_see_what_is_unjudged(lists, judged):
    table = user_table(*((items, judged) for items in lists))
    texts = "tau", "RBO(0.7)", "RBO(0.7)@3"
    np.testing.assert_array_equal(values(table, *texts), values(table, *texts, condensed=True))


@given(LISTS, JUDGED, st.sampled_from(["0.4", "0.9"]))
def test_gain_and_residual_stay_within_one(lists, judged, phi):
    table = user_table(*((items, judged) for items in lists))
    gained, residual = values(table, f"RBP({phi})", f"RBPresidual({phi})")
    assert (gained >= 0).all()
    assert (residual >= 0).all()
    assert (gained + residual <= 1 + 1e-12).all()


def test_a_changed_discount_is_noticed(monkeypatch):
    """The twin of the worked values: a reader who starts at the second place."""
    gained = persistence._gained
    late = lambda view, metric, gains, phi: phi * gained(view, metric, gains, phi)  # noqa: E731
    monkeypatch.setattr(persistence, "_gained", late)
    with pytest.raises(AssertionError):
        test_worked_values([B, C, A], "RBP(0.5)", 0.625)
