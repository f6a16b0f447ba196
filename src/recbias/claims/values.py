"""What expressions are evaluated to, and how operators work on it.

A term gives a quantity; a *family* of quantities where it leaves systems or rows open; a *course*
where it is followed along an axis; a *sample* where rows are independent draws, such as worlds or
folds. Operators and functions of one number work on each member, place or draw, paired by name.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from recbias.claims.quantities import difference, product, quotient, total
from recbias.errors import ConfigError
from recbias.experiment.results import Quantity

Estimate = Quantity | float
Function = Callable[..., Any]


@dataclass(frozen=True)
class Holds:
    """Whether a condition holds: as it is seen, surely, and possibly; or in which draws."""

    seen: Any
    surely: Any
    possibly: Any


@dataclass(frozen=True)
class Named:
    """An estimate with the name of the system, or pair of systems, that it is about."""

    name: str
    estimate: Estimate


@dataclass(frozen=True)
class Family:
    """Values by name.

    Attributes
    ----------
    members
        By system or row.
    of_systems
        Whether the names are systems.
    """

    members: Mapping[Any, Any]
    of_systems: bool = False


class Course(dict[float, Quantity]):
    """Quantities by their place along an axis, in its order."""


Sample = pd.Series
"""Values by the number of an independent draw."""


def lifted(operate: Function, *values: Any) -> Any:
    """Work on each member of families, each place of courses and each draw of samples.

    Examples
    --------
    >>> pairs = Family({"A": 1.0, "B": 2.0}), Family({"B": 4.0, "A": 3.0})
    >>> lifted(lambda a, b, c: a + b + c, *pairs, 10).members
    {'A': 14.0, 'B': 16.0}
    """
    for kind in (Family, Course):
        several = [members_of(value) for value in values if isinstance(value, kind)]
        if not several:
            continue
        shared = [name for name in several[0] if all(name in members for members in several)]
        if not shared:
            raise ConfigError("an expression joins families that have no member in common")
        by_name = {
            name: lifted(
                operate,
                *(
                    members_of(value)[name] if isinstance(value, kind) else value
                    for value in values
                ),
            )
            for name in shared
        }
        if kind is Course:
            return Course(by_name)
        families = [value for value in values if isinstance(value, Family)]
        return Family(by_name, all(family.of_systems for family in families))
    if any(isinstance(value, Sample) for value in values):
        samples = [value for value in values if isinstance(value, Sample)]
        joined = pd.concat(samples, axis=1, join="inner")
        columns = iter(joined.iloc[:, place] for place in range(len(samples)))
        return operate(*(next(columns) if isinstance(v, Sample) else v for v in values))
    return operate(*values)


def members_of(value: Any) -> Mapping[Any, Any]:
    """Return what a family or course has, by name or place."""
    return value.members if isinstance(value, Family) else value


def held(value: Any) -> Holds:
    """Refuse what is no condition."""
    if not isinstance(value, Holds):
        raise ConfigError("a condition compares, such as P[AR] > P[AR] of Random")
    return value


def _joined(join: Function) -> Function:
    def both(a: Any, b: Any) -> Holds:
        one, other = held(a), held(b)
        return Holds(
            join(one.seen, other.seen),
            join(one.surely, other.surely),
            join(one.possibly, other.possibly),
        )

    return both


def choose(values: Any, conditions: Any) -> Family:
    """Keep the members for which a condition is seen to hold."""
    if not (isinstance(values, Family) and isinstance(conditions, Family)):
        raise ConfigError("`where` chooses among systems or rows: both of its sides go over some")
    kept = {
        name: value
        for name, value in values.members.items()
        if name in conditions.members and bool(np.all(held(conditions.members[name]).seen))
    }
    return Family(kept, values.of_systems)


def ends(value: Estimate | Sample) -> tuple[Any, Any, Any]:
    """Return value and interval; of no width for an exact number, and for draws."""
    if isinstance(value, Quantity):
        return (value.value, *value.interval)
    if isinstance(value, Sample):
        return value, value, value
    return float(value), float(value), float(value)


def _compared(larger: bool, equal: bool) -> Function:
    def compare(left: Estimate | Sample, right: Estimate | Sample) -> Holds:
        if isinstance(left, Quantity) and isinstance(right, Quantity):
            left, right = difference(left, right), 0.0
        one, other = ends(left), ends(right)
        exact = not any(isinstance(end, Sample) for end in (*one, *other))
        if exact and any(math.isnan(end) for end in (*one, *other)):
            return Holds(False, False, True)  # what is undefined is never sure, and possible
        if not larger:
            one, other = other, one
        # The side that has to be larger: as it is, at its least, and at its most.
        cases = ((one[0], other[0]), (one[1], other[2]), (one[2], other[1]))
        return Holds(*(a >= b if equal else a > b for a, b in cases))

    return compare


OPERATORS: Mapping[str, Function] = {
    "+": total,
    "-": difference,
    "*": product,
    "/": quotient,
    ">": _compared(larger=True, equal=False),
    ">=": _compared(larger=True, equal=True),
    "<": _compared(larger=False, equal=False),
    "<=": _compared(larger=False, equal=True),
    "and": _joined(operator.and_),
    "or": _joined(operator.or_),
}
