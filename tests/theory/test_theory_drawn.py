"""Chances of drawn evaluations, against sums over all outcomes in exact fractions, and draws."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from recbias.errors import ConfigError
from recbias.theory import chances_of_orders, hit_chances, hypergeometric_cdf, shared_sample_bounds


def exact_hit(above, pool, draws, cutoff):
    """Count the draws with fewer than `cutoff` of those above, among all draws."""
    ways = [comb(above, x) * comb(pool - above, draws - x) for x in range(min(cutoff, draws + 1))]
    return Fraction(sum(ways), comb(pool, draws))


def exact_order(a, b):
    """Multiply out the distributions of both numbers of hits; ties count half."""
    first, second = distribution(a), distribution(b)
    return sum(
        p * q * (Fraction(1) if x > y else Fraction(x == y, 2))
        for x, p in enumerate(first)
        for y, q in enumerate(second)
    )


def distribution(chances):
    found = [Fraction(1)]
    for chance in map(Fraction, chances):
        longer = [Fraction(0)] * (len(found) + 1)
        for hits, p in enumerate(found):
            longer[hits] += p * (1 - chance)
            longer[hits + 1] += p * chance
        found = longer
    return found


def test_hits_of_small_pools_are_those_of_all_draws():
    for pool in range(1, 9):
        for draws, cutoff in itertools.product(range(pool + 1), range(1, pool + 2)):
            wanted = [float(exact_hit(above, pool, draws, cutoff)) for above in range(pool + 1)]
            assert hit_chances(pool, draws, cutoff) == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize(
    ("pool", "draws", "cutoff"),
    [(3400, 99, 10), (3400, 11, 10), (3400, 3399, 10), (3400, 3400, 10), (9000, 4500, 3000),
     (3400, 10, 10), (50_000, 49_000, 1), (50_000, 300, 100)],
)  # fmt: skip
def test_hits_of_large_pools_agree_with_the_distribution_summed_term_by_term(pool, draws, cutoff):
    """That shares no code, and is itself compared with exact fractions."""
    wanted = hypergeometric_cdf(cutoff - 1, pool, np.arange(pool + 1), draws)
    found = hit_chances(pool, draws, cutoff)
    # A sum of at most `pool` terms, each by at most as many ratios of four roundings.
    assert np.abs(found - wanted).max() < 4 * pool * 2.0**-53
    assert (np.diff(found) <= 0).all()
    shifted = hypergeometric_cdf(cutoff, pool, np.arange(pool + 1), draws)
    assert draws == pool or np.abs(found - shifted).max() > 1e-6


@pytest.mark.parametrize(("pool", "draws", "cutoff"), [(5, 6, 1), (5, -1, 1), (5, 2, 0)])
def test_hits_that_cannot_be(pool, draws, cutoff):
    with pytest.raises(ConfigError, match="hit_chances"):
        hit_chances(pool, draws, cutoff)


def test_orders_of_few_runs_are_summed_exactly():
    rng = np.random.default_rng(5)
    for n_runs in (1, 2, 3, 7, 20):
        for power in (1, 8):  # chances of all sizes; chances near 0 and, by the other, near 1
            a, b = rng.random((2, n_runs)) ** power
            for first, second in ((a, b), (a, 1 - b), (1 - a, 1 - b), (a, a)):
                (found,) = chances_of_orders(np.array([first, second]), [(0, 1)])
                assert found == pytest.approx(float(exact_order(first, second)), abs=1e-12)


def test_an_order_that_was_summed_wrongly_is_seen():
    """The oracle tells ties that count for nobody, and a sum that ends too early."""
    a, b = np.array([0.5, 0.2, 0.9]), np.array([0.4, 0.4, 0.6])
    wanted = float(exact_order(a, b))
    without_ties = float(sum(
        p * q
        for x, p in enumerate(distribution(a))
        for y, q in enumerate(distribution(b))
        if x > y
    ))  # fmt: skip
    assert abs(wanted - without_ties) > 0.1
    assert abs(wanted - float(exact_order(a[:2], b[:2]))) > 0.01


def test_sure_runs_leave_nothing_to_chance():
    chances = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    found = chances_of_orders(chances, [(0, 1), (1, 0), (1, 2)])
    assert found.tolist() == [1.0, 0.0, 0.5]


def test_orders_of_many_runs_agree_with_a_convolution():
    """Ten thousand runs: the distributions by convolving halves, and their tails."""
    rng = np.random.default_rng(7)
    a = rng.random(10_000) ** 3
    for shift in (0.0, 0.002, 0.01, 0.03):
        b = np.clip(rng.permutation(a) + shift, 0, 1)
        first, second = (convolved([np.array([1 - q, q]) for q in each]) for each in (a, b))
        below = np.concatenate([[0.0], np.cumsum(second)])
        wanted = float((first * (below[:-1] + 0.5 * second)).sum())
        (found,) = chances_of_orders(np.array([a, b]), [(0, 1)])
        assert found == pytest.approx(wanted, abs=2e-9)


def convolved(parts):
    while len(parts) > 1:
        pairs = [
            np.convolve(*parts[place : place + 2]) if place + 1 < len(parts) else parts[place]
            for place in range(0, len(parts), 2)
        ]
        parts = pairs
    return parts[0]


def test_bounds_hold_for_every_way_in_which_hits_may_depend_on_each_other():
    """Both extremes of the joint chance in every run, and random ones; ties count half."""
    rng = np.random.default_rng(3)
    tight = 0
    for n_runs in (1, 5, 40):
        for _ in range(30):
            a, b = np.sort(rng.random((2, n_runs)), axis=0)[::-1]
            lead, most_lost = float((a - b).sum()), float(np.minimum(b, 1 - a).sum())
            spread = float(sum(np.sqrt((q * (1 - q)).sum()) for q in (a, b)))
            low, high = shared_sample_bounds(lead, most_lost, spread)
            assert high == 1.0
            for joint in (np.minimum(a, b), np.maximum(a + b - 1, 0), None):
                both = joint
                if both is None:
                    both = rng.uniform(np.maximum(a + b - 1, 0), np.minimum(a, b))
                chance = order_of_pairs(a - both, b - both)
                assert low - 1e-9 <= chance <= 1.0
                tight += low > 0 and chance - low < 0.2
            flipped = shared_sample_bounds(-lead, most_lost + lead, spread)
            assert flipped == pytest.approx((0.0, 1 - low))
    assert tight > 10
    assert shared_sample_bounds(0.0, 3.0, 1.0) == (0.0, 1.0)


def test_bounds_of_runs_that_are_nearly_sure():
    """Where the loss is large but certain, the variance is what bounds; without any, nothing."""
    a, b = np.repeat([1.0, 0.0, 0.5], [60, 40, 4]), np.repeat([0.0, 1.0, 0.5], [60, 40, 4])
    lead, most_lost = float((a - b).sum()), float(np.minimum(b, 1 - a).sum())
    low, _ = shared_sample_bounds(lead, most_lost, 2.0)
    worst = order_of_pairs(a - np.maximum(a + b - 1, 0), b - np.maximum(a + b - 1, 0))
    assert 0.99 < low <= worst
    assert shared_sample_bounds(lead, most_lost, 100.0)[0] < 0.9
    assert shared_sample_bounds(lead, most_lost, 0.0) == (1.0, 1.0)
    assert shared_sample_bounds(-lead, most_lost, 0.0) == (0.0, 0.0)
    assert shared_sample_bounds(0.0, most_lost, 0.0) == (0.5, 0.5)


def test_bounds_from_less_than_the_largest_loss_and_variance_are_broken():
    """The twin: with a part of what may be lost, or may vary, some dependence breaks them."""
    a, b = np.full(40, 0.55), np.full(40, 0.45)
    lead, most_lost = float((a - b).sum()), float(np.minimum(b, 1 - a).sum())
    spread = 2 * np.sqrt(40 * 0.55 * 0.45)
    chance = order_of_pairs(a, b)  # no run is hit by both
    assert shared_sample_bounds(lead, most_lost, spread)[0] <= chance
    assert shared_sample_bounds(lead, most_lost / 40, spread)[0] > chance
    assert shared_sample_bounds(lead, most_lost, spread / 4)[0] > chance


def order_of_pairs(won, lost):
    """Convolve the differences of single runs: +1 won, -1 lost."""
    found = np.array([1.0])
    for up, down in zip(won, lost, strict=True):
        found = np.convolve(found, [down, 1 - up - down, up])
    middle = len(found) // 2
    return float(found[middle + 1 :].sum() + found[middle] / 2)


def test_drawing_gives_the_chances():
    """20,000 evaluations of 30 runs are drawn; three tests, false alarms together below 1e-6."""
    rng = np.random.default_rng(11)
    pool, draws, cutoff, n_drawn = 40, 12, 3, 20_000
    above = rng.integers(0, 20, size=(2, 30))
    chances = hit_chances(pool, draws, cutoff)[above]
    hits = rng.hypergeometric(above, pool - above, draws, size=(n_drawn, 2, 30)) < cutoff
    ahead = np.sign(hits.sum(axis=2) @ [1, -1])
    for wanted, seen in (
        (chances[0].mean(), hits[:, 0].sum()),
        (chances[1].mean(), hits[:, 1].sum()),
    ):
        assert stats.binomtest(int(seen), 30 * n_drawn, wanted).pvalue > 1e-7
    (order,) = chances_of_orders(chances, [(0, 1)])
    (first, second) = (int((ahead > 0).sum()), int((ahead == 0).sum()))
    # A mean of n values between 0 and 1: Hoeffding.
    assert abs((first + second / 2) / n_drawn - order) < np.sqrt(np.log(2e7) / (2 * n_drawn))


def test_an_order_that_is_nearly_sure_is_summed_up():
    """Opposites of chances between 1e-3 and 1e-8: told to 1e-12, not taken for 0 or 1."""
    for b in (0.5, 0.35, 0.2, 0.12):
        a, b = np.full(25, 0.8), np.full(25, b)
        first, second = (convolved([np.array([1 - q, q]) for q in each]) for each in (a, b))
        below = np.concatenate([[0.0], np.cumsum(second)])
        wrong = 1 - float((first * (below[:-1] + 0.5 * second)).sum())
        found = chances_of_orders(np.array([a, b]), [(0, 1), (1, 0)])
        assert 1e-9 < wrong < 0.05
        assert found[0] == pytest.approx(1 - wrong, abs=1e-12)
        assert found[1] == pytest.approx(wrong, abs=1e-12)


def test_bounds_are_the_better_of_both_inequalities():
    """By hand: Chernoff's for 50 and 20 runs, Bernstein's for a spread of 4 and of 40."""
    chernoff = (np.sqrt(50) - np.sqrt(20)) ** 2
    for spread in (4.0, 40.0):
        bernstein = 30**2 / (2 * (spread**2 + 2 * 30 / 3))
        low, high = shared_sample_bounds(30.0, 20.0, spread)
        assert (low, high) == (pytest.approx(1 - np.exp(-max(chernoff, bernstein))), 1.0)
        low, high = shared_sample_bounds(-30.0, 50.0, spread)
        assert (low, high) == (0.0, pytest.approx(np.exp(-max(chernoff, bernstein))))
    assert 30**2 / (2 * (4.0**2 + 2 * 30 / 3)) > chernoff > 30**2 / (2 * (40.0**2 + 2 * 30 / 3))
