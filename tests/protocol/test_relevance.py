from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from recbias.errors import ConfigError
from recbias.protocol.relevance import GainMap, relevant

STARS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
HALF_STARS = np.array([0.5, 1.0, 3.5, 4.5, 5.0])


def naive(name: str, rating: float, min_rating: float, rating_max: float) -> float:
    if name == "exp":
        return max(0.0, (2 ** (rating - 1) - 1) / (2 ** (rating_max - 1) - 1))
    if name == "err":
        return max(0.0, (2 ** (rating - 1) - 1) / 2 ** (rating_max - 1))
    if rating < min_rating:
        return 0.0
    return {"binary": 1.0, "linear": rating, "ranksys": 2 ** (rating - min_rating + 1) - 1}[name]


def test_the_threshold_itself_is_relevant() -> None:
    assert relevant(STARS, 4).tolist() == [False, False, False, True, True]
    assert relevant(HALF_STARS, 3.5).tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("name", ["binary", "linear", "exp", "err", "ranksys"])
@pytest.mark.parametrize("min_rating", [3.5, 4, 5])
def test_gains_against_the_formula(name: str, min_rating: float) -> None:
    for values in (STARS, HALF_STARS):
        found = GainMap(name).gains(values, min_rating=min_rating, rating_max=5)
        expected = [naive(name, float(value), min_rating, 5) for value in values]
        assert found.tolist() == pytest.approx(expected, abs=1e-15)


def test_pinned_values_of_the_exponential_map() -> None:
    chances = GainMap("err").gains(STARS, min_rating=4, rating_max=5)
    assert chances.tolist() == [0, 1 / 16, 3 / 16, 7 / 16, 15 / 16]
    found = GainMap("exp").gains(STARS, min_rating=4, rating_max=5)
    pinned = [Fraction(0), Fraction(1, 15), Fraction(1, 5), Fraction(7, 15), Fraction(1)]
    assert found.tolist() == pytest.approx([float(gain) for gain in pinned], abs=1e-15)
    assert GainMap("exp").gains(np.array([0.5]), min_rating=4, rating_max=5).tolist() == [0]


@pytest.mark.parametrize("rating_max", [None, 1.0, float("nan")])
def test_the_exponential_map_needs_a_scale(rating_max: float | None) -> None:
    with pytest.raises(ConfigError, match="'exp'"):
        GainMap("exp").gains(STARS, min_rating=4, rating_max=rating_max)


def test_maps_are_values_that_parse_back() -> None:
    for name in ("binary", "linear", "exp", "err", "ranksys"):
        assert GainMap.parse(str(GainMap(name))) == GainMap(name)
        assert hash(GainMap(name)) == hash(GainMap.parse(name))
    with pytest.raises(ConfigError, match="did you mean 'linear'"):
        GainMap("linaer")
