"""Regions at their ends, and values in words: by hand."""

import math

import pytest

from recbias.claims.regions import Region, rounded, written

BOTH = Region(least=1.0, most=2.0)
"""With a rounding of a quarter its ends are .75 and 2.25, exactly."""


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.75, 2.25, "holds"),
        (0.7, 2.25, "open"),
        (0.75, 2.3, "open"),
        (0.5, 0.75, "open"),
        (0.5, 0.7, "refuted"),
        (2.25, 3.0, "open"),
        (2.3, 3.0, "refuted"),
        (0.75, 0.75, "holds"),
        (2.25, 2.25, "holds"),
        (math.nan, 1.5, "open"),
        (1.5, math.nan, "open"),
    ],
)
def test_ends_that_belong_to_a_region_are_allowed_up_to_rounding(
    low: float, high: float, expected: str
) -> None:
    assert BOTH.verdict(low, high, rounding=0.25) == expected


def test_rounding_is_little_if_nothing_is_said_of_it() -> None:
    assert BOTH.verdict(1.0 - 5e-13, 2.0 + 5e-13) == "holds"
    assert BOTH.verdict(1.0 - 5e-12, 1.5) == "open"
    assert BOTH.verdict(1.5, 2.0 + 5e-12) == "open"


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.01, 0.99, "holds"),
        (0.0, 0.5, "open"),
        (0.5, 1.0, "open"),
        (-0.5, 0.0, "open"),
        (1.0, 1.5, "open"),
        (-0.5, -0.01, "refuted"),
        (1.01, 1.5, "refuted"),
        (0.0, 0.0, "refuted"),
        (1.0, 1.0, "refuted"),
        (0.5, 0.5, "holds"),
    ],
)
def test_ends_that_do_not_belong_are_refuted_where_they_are_exact(
    low: float, high: float, expected: str
) -> None:
    assert Region(above=0.0, below=1.0).verdict(low, high) == expected


@pytest.mark.parametrize(
    ("region", "unit", "expected"),
    [
        (Region(most=0.0), "count", "none"),
        (Region(most=1.0), "count", "at most 1"),
        (Region(most=-1.0), "count", "at most -1"),
        (Region(most=0.0), "number", "at most 0"),
        (Region(most=0.1), "violation", "none"),
        (Region(below=0.25), "percent", "less than 25 %"),
        (Region(above=0.1, below=0.3), "number", "0.1 to 0.3"),
        (Region(), "number", "any value"),
    ],
)
def test_a_region_in_words(region: Region, unit: str, expected: str) -> None:
    assert region.words(unit) == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (1.0, "percent", "100 %"),
        (1.0001, "percent", "100 %"),
        (0.9999, "percent", "99.99 %"),
        (9.996, "factor", "10.00 times"),
        (10.0, "factor", "10 times"),
        (10.55, "factor", "10.6 times"),
        (9.55, "factor", "9.55 times"),
        (1e-12, "violation", "none"),
        (2e-12, "violation", "2e-12"),
        (0.25, "violation", "0.25"),
        (1234567.0, "count", "1,234,567"),
        (9999.4, "number", "9999"),
        (9999.5, "number", "10,000"),
        (9998.7, "number", "9999"),
        (-12345.0, "number", "-12,345"),
        (1e15, "number", "1e+15"),
        (1e15 - 1, "number", "999,999,999,999,999"),
        (math.inf, "percent", "infinite"),
    ],
)
def test_a_value_in_its_unit(value: float, unit: str, expected: str) -> None:
    assert written(value, unit) == expected


@pytest.mark.parametrize(
    ("value", "unit", "low", "high", "expected"),
    [
        (0.074, "number", None, 0.11, "0.074"),
        (0.123456, "number", None, None, "0.1235"),
        (0.123456, "number", 0.12, None, "0.1235"),
        (0.123456, "number", 0.2, 0.2, "0.1235"),
        (0.123456, "number", 0.0, math.inf, "0.1235"),
        (0.0, "number", -0.2, 0.2, "0"),
        (math.inf, "number", 0.0, 1.0, "infinite"),
        (0.123456, "number", 0.0, 0.25, "0.12"),
        (-0.123456, "number", -0.25, 0.0, "-0.12"),
        (0.123456, "number", 0.123, 0.124, "0.1235"),
        (1.23456, "number", 1.0, 1.2, "1.23"),
        (0.55, "number", 0.5, 0.7, "0.55"),
        (1234.5, "number", 100.0, 3000.0, "1234"),
        (9999.2, "number", 9999.0, 9999.4, "9999"),
        (9999.5, "number", 9999.0, 9999.4, "10,000"),
        (9998.75, "number", 9998.0, 9999.4, "9999"),
        (-12345.5, "number", -12346.0, -12345.0, "-12,346"),
        (0.7812, "number", 0.7, 0.86, "0.781"),
        (0.8123, "percent", 0.7, 0.9, "81 %"),
        (0.8123, "percent", 0.81, 0.8146, "81.2 %"),
        (0.0156, "percent", 0.002, 0.03, "1.6 %"),
        (3.0, "percent", 2.0, 4.0, "300 %"),
        (1.987, "factor", 0.9, 3.1, "2.0 times"),
        (1.987, "factor", 1.98, 1.99, "1.99 times"),
        (12.34, "factor", 2.0, 42.0, "12 times"),
        (0.0123, "p", 0.001, 0.2, "0.01"),
    ],
)
def test_a_value_is_as_exact_as_its_interval(
    value: float, unit: str, low: float | None, high: float | None, expected: str
) -> None:
    assert rounded(value, unit, low, high) == expected
