"""The distribution of a sampled rank, against exact fractions and SciPy."""

import itertools
from fractions import Fraction
from math import comb, log, sqrt

import numpy as np
import pytest
from scipy import stats

from recbias.errors import ConfigError
from recbias.theory import hypergeometric_cdf, hypergeometric_mean

ROUNDING = 2.0**-53


def exact(most, pool, above, draws):
    """Count the draws with at most so many, among all of them."""
    fitting = sum(
        comb(above, x) * comb(pool - above, draws - x) for x in range(min(most, draws) + 1)
    )
    return Fraction(fitting, comb(pool, draws))


def bound(most, pool, above, draws, value):
    """The relative error that the docstring allows, which follows from the terms it names."""
    mean = draws * above / max(pool, 1)
    spread = sqrt(mean * (1 - above / max(pool, 1)))
    depth = -log(value) if value > 0 else 0.0
    return ROUNDING * (100 + 8 * abs(most - mean) + 8 * spread + 4 * depth)


def errors(cases, function=hypergeometric_cdf):
    """Relative errors in multiples of what is allowed; infinite where 0 or 1 is missed."""
    found = function(*np.array(cases).T)
    multiples = []
    for case, value in zip(cases, found, strict=True):
        most, pool, above, draws = case
        wanted = exact(*case)
        if most < max(0, draws - (pool - above)) or most >= min(above, draws):
            multiples.append(0.0 if Fraction(value) == wanted else np.inf)
            continue
        relative = float(abs(Fraction(float(value)) - wanted) / wanted)
        multiples.append(relative / bound(*case, float(wanted)))
    return np.array(multiples)


def small_cases():
    for pool in range(9):
        for above, draws in itertools.product(range(pool + 1), repeat=2):
            yield from ((most, pool, above, draws) for most in range(-1, pool + 2))


def test_small_pools_are_exact():
    """All of them: no pool, nothing above, nothing drawn, everything drawn, beyond both ends."""
    cases = list(small_cases())
    assert len(cases) > 2000
    assert errors(cases).max() < 1


def test_wrong_kernels_are_noticed():
    cases = list(small_cases())
    for most, above in ((1, 0), (0, 1)):
        found = errors(cases, lambda m, n, a, d, most=most, above=above: hypergeometric_cdf(
            m + most, n, np.minimum(a + above, n), d))  # fmt: skip
        assert not found.max() < 1


@pytest.mark.parametrize(("largest", "draws"), [(5000, 99), (1000, None), (100_000, 40)])
def test_large_pools_are_exact_to_what_the_docstring_says(largest, draws):
    rng = np.random.default_rng(largest)
    cases = []
    for _ in range(150):
        pool = int(rng.integers(1, largest))
        above = int(rng.integers(pool + 1))
        drawn = min(draws, pool) if draws else int(rng.integers(pool + 1))
        anywhere = int(rng.integers(drawn + 1))
        near = round(drawn * above / pool + rng.normal())
        cases.append((anywhere if rng.random() < 0.5 else max(near, 0), pool, above, drawn))
    cases = [case for case in cases if exact(*case) > Fraction(1, 10**300)]
    assert errors(cases).max() < 1


def test_what_experiments_ask_is_what_scipy_gives():
    """Ranks of a 1R protocol; SciPy's own error is that of logarithms of about pool ln(pool)."""
    rng = np.random.default_rng(1)
    pool = rng.integers(100, 20_000, 3000)
    above = (pool * rng.random(3000) ** 3).astype(int)
    for draws, most in itertools.product((9, 99, 400), (0, 9, 60)):
        found = hypergeometric_cdf(most, pool, above, draws := np.minimum(draws, pool))
        expected = stats.hypergeom.cdf(most, pool, above, draws)
        np.testing.assert_allclose(found, expected, rtol=20_000 * 10 * 2 * ROUNDING, atol=1e-300)


def test_a_whole_pool_of_a_hundred_thousand():
    """The two tails of one draw meet, and the mirrored draw has the same probabilities."""
    most = np.arange(24_500, 25_500, 7)
    pool, above, draws = 100_000, 50_000, 50_000
    below = hypergeometric_cdf(most, pool, above, draws)
    mirrored = hypergeometric_cdf(draws - most - 1, pool, pool - above, draws)
    # Both errors at 500 from the mean and as many as 15 deviations of 112, where ln P is -125.
    allowed = 2 * ROUNDING * (100 + 8 * 500 + 8 * 112 + 4 * 125)
    np.testing.assert_allclose(below + mirrored, 1, rtol=0, atol=allowed)
    assert (np.diff(below) >= 0).all()


def test_shapes_are_broadcast():
    found = hypergeometric_cdf(np.array([[0], [1]]), 4, np.array([0, 1, 2]), 2)
    assert found.shape == (2, 3)
    assert float(hypergeometric_cdf(0, 4, 2, 2)) == pytest.approx(1 / 6)
    assert hypergeometric_cdf(0, [4], 2, 2) == pytest.approx([1 / 6])
    assert hypergeometric_cdf(np.array([], dtype=int), 4, 2, 2).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 4, 5, 2), "above=5 of a pool of 4"),
        ((1, 4, 2, -1), "draws=-1 of a pool of 4"),
        ((1.5, 4, 2, 2), "most has dtype float64"),
    ],
)
def test_impossible_draws_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        hypergeometric_cdf(*arguments)


def test_means_of_small_pools_are_those_of_all_draws():
    """All small pools, with worths of no, one and all numbers, rising and falling."""
    cases = {(pool, above, draws) for _, pool, above, draws in small_cases()}
    for worth in ([], [0.0], [3.0], [0.0, 0.0, 2.0], [1.0, 0.5, 0.25], list(range(12))):
        for pool, above, draws in cases:
            wanted = (
                sum(
                    Fraction(comb(above, x) * comb(pool - above, draws - x), comb(pool, draws))
                    * int(w * 4)
                    for x, w in enumerate(worth)
                    if x <= draws
                )
                / 4
            )
            found = hypergeometric_mean(np.array(worth), pool, above, draws)
            assert abs(float(found) - wanted) <= 1e-13 * float(wanted)


def test_the_mean_of_the_number_itself_and_of_one_are_known():
    rng = np.random.default_rng(5)
    pool = rng.integers(1, 5000, 300)
    above, draws = (np.array([rng.integers(n + 1) for n in pool]) for _ in range(2))
    most = int(draws.max()) + 1
    # Each term's error is below that of a number 5000 from the mean at most, with -ln P below 45.
    allowed = ROUNDING * (100 + 8 * 5000 + 8 * 40 + 4 * 45)
    whole = hypergeometric_mean(np.ones(most), pool, above, draws)
    np.testing.assert_allclose(whole, 1, rtol=allowed)
    number = hypergeometric_mean(np.arange(float(most)), pool, above, draws)
    np.testing.assert_allclose(number, draws * above / pool, rtol=allowed)


def test_a_mean_of_what_is_below_zero_or_no_number_is_refused():
    for worth in ([1.0, -0.5], [np.nan]):
        with pytest.raises(ConfigError, match="expected none below 0"):
            hypergeometric_mean(np.array(worth), 4, 2, 2)
    with pytest.raises(ConfigError, match="hypergeometric_mean: draws=5 of a pool of 4"):
        hypergeometric_mean(np.ones(3), 4, 2, 5)
