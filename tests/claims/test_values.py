"""Families, courses and draws: what goes with what, and what of a comparison is sure."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from recbias.claims.values import (
    OPERATORS,
    Course,
    Family,
    Holds,
    _compared,
    _joined,
    choose,
    ends,
    lifted,
)
from recbias.errors import ConfigError
from recbias.experiment.results import Quantity

WIDE = Quantity(0.3, np.linspace(0.1, 0.5, 1001))
"""Its interval goes from .11 to .49."""


def made_anew(sign: str) -> Callable[..., Holds]:
    """Make a comparison or a join again, as its table did when it was imported."""
    joins = {"and": operator.and_, "or": operator.or_}
    if sign in joins:
        return _joined(joins[sign])
    return _compared(larger=sign[0] == ">", equal=sign.endswith("="))


def compared(sign: str, left: object, right: object) -> tuple[bool, bool, bool]:
    """Tell what is seen, sure and possible."""
    found = OPERATORS[sign](left, right)
    assert made_anew(sign)(left, right) == found
    return found.seen, found.surely, found.possibly


@pytest.mark.parametrize(
    ("sign", "right", "expected"),
    [
        (">", 0.05, (True, True, True)),
        (">", 0.2, (True, False, True)),
        (">", 0.3, (False, False, True)),
        (">=", 0.3, (True, False, True)),
        (">", 0.45, (False, False, True)),
        (">", 0.6, (False, False, False)),
        ("<", 0.05, (False, False, False)),
        ("<", 0.2, (False, False, True)),
        ("<", 0.3, (False, False, True)),
        ("<=", 0.3, (True, False, True)),
        ("<", 0.45, (True, False, True)),
        ("<", 0.6, (True, True, True)),
        (">", math.nan, (False, False, True)),
    ],
)
def test_a_comparison_is_sure_where_its_interval_is_on_one_side(
    sign: str, right: float, expected: tuple[bool, bool, bool]
) -> None:
    assert compared(sign, WIDE, right) == expected


@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
def test_exact_numbers_are_compared_as_they_are(sign: str) -> None:
    for left in (1.0, 2.0, 3.0):
        holds = {">": left > 2, ">=": left >= 2, "<": left < 2, "<=": left <= 2}[sign]
        assert compared(sign, left, 2.0) == (holds, holds, holds)
    drawn = pd.Series([1.0, 2.0, 3.0])
    for found in (OPERATORS[sign](drawn, 2.0), made_anew(sign)(drawn, 2.0)):
        for each in (found.seen, found.surely, found.possibly):
            assert each.tolist() == [compared(sign, left, 2.0)[0] for left in drawn]


def test_what_was_drawn_together_is_compared_by_its_difference() -> None:
    below = Quantity(0.2, WIDE.replicates - 0.1)
    assert compared(">", WIDE, below) == (True, True, True)
    assert compared("<", WIDE, below) == (False, False, False)
    apart = Quantity(0.2, below.replicates[::-1])
    assert compared(">", WIDE, apart) == (True, False, True)


def test_both_sides_of_and_and_or_count_for_themselves() -> None:
    sure, open_ = OPERATORS[">"](WIDE, 0.05), OPERATORS[">"](WIDE, 0.2)
    for sign, expected in (("and", (True, False, True)), ("or", (True, True, True))):
        assert compared(sign, sure, open_) == expected
        assert compared(sign, open_, sure) == expected
    for wrong in ((sure, 1.0), (1.0, sure)):
        with pytest.raises(ConfigError, match="a condition compares"):
            OPERATORS["and"](*wrong)


def test_members_that_both_have_are_paired_by_name() -> None:
    first = Family({"A": 1.0, "B": 2.0, "C": 3.0}, of_systems=True)
    second = Family({"C": 30.0, "A": 10.0}, of_systems=True)
    both = lifted(OPERATORS["+"], first, second)
    assert both == Family({"A": 11.0, "C": 33.0}, of_systems=True)
    rows = Family({"A": 10.0, "B": 0.5})
    assert lifted(OPERATORS["+"], first, rows) == Family({"A": 11.0, "B": 2.5}, of_systems=False)
    assert lifted(OPERATORS["+"], first, 1.0).of_systems
    with pytest.raises(ConfigError, match="no member in common"):
        lifted(OPERATORS["+"], first, Family({"D": 1.0}))


def test_a_family_of_courses_is_worked_on_place_by_place() -> None:
    courses = Family({"A": Course({1: 0.1, 2: 0.2}), "B": Course({2: 0.4})}, of_systems=True)
    found = lifted(OPERATORS["*"], courses, Course({2: 10.0, 3: 1.0}))
    assert found.members == {"A": {2: 2.0}, "B": {2: 4.0}}
    assert {type(each) for each in found.members.values()} == {Course}


def test_draws_are_paired_by_their_number() -> None:
    one, other = pd.Series([1.0, 2.0, 3.0]), pd.Series([10.0, 20.0], index=[2, 1])
    found = lifted(lambda a, factor, b: a - factor * b, one, 2.0, other)
    assert found.sort_index().to_dict() == {1: 2.0 - 40.0, 2: 3.0 - 20.0}


def test_where_keeps_what_is_seen_in_every_draw() -> None:
    values = Family({"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0}, of_systems=True)
    drawn = {"A": pd.Series([1.0, 2.0]), "B": pd.Series([-1.0, 2.0]), "C": 1.0}
    found = choose(values, lifted(OPERATORS[">"], Family(drawn), 0.0))
    assert found == Family({"A": 1.0, "C": 3.0}, of_systems=True)
    for wrong in ((values, 1.0), (1.0, values)):
        with pytest.raises(ConfigError, match="both of its sides"):
            choose(*wrong)


def test_ends_are_value_and_interval() -> None:
    assert ends(WIDE) == pytest.approx((0.3, 0.11, 0.49))
    assert ends(2) == (2.0, 2.0, 2.0)
    drawn = pd.Series([1.0])
    assert all(each is drawn for each in ends(drawn))
