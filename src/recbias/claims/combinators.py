"""From a record and results to parts: the combinators that criteria are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from recbias.claims.evidence import Evidence, NotTestable, axis_terms
from recbias.claims.ledger import NEEDS
from recbias.claims.parts import Part
from recbias.claims.quantities import (
    deviation,
    distinct_pairs,
    extreme,
    flipped_pairs,
    largest_p,
    lead,
    median,
    opposed_pairs,
    order_tau,
    reversed_pairs,
    rise,
    share_of_orders,
    slope,
    spread,
    straightness,
)
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity

Estimate = Quantity | float
Function = Callable[[Evidence, Record], Estimate]
_Found = tuple[str, Estimate]

_ORDERING: set[Function] = set()


def of_orders(function: Function) -> Function:
    """Mark a function of a chapter that compares systems with each other."""
    _ORDERING.add(function)
    return function


def evaluate(
    record: Record, evidence: Evidence, claim: str, functions: Mapping[str, Function]
) -> list[Part]:
    """Find what a record asks for."""
    if record.value:
        from recbias.claims import evaluation

        return evaluation.evaluate(record, evidence, claim, functions)
    evidence = evidence.exact() if record.exact else evidence.afresh()
    estimates = list(_estimates(record, evidence, claim, functions))
    halves = [
        [estimate for _, estimate in _estimates(record, evidence.half(number), claim, functions)]
        if evidence.has_drawn
        else [estimate for _, estimate in estimates]
        for number in (0, 1)
    ]
    ordering = _reads_an_order(record) or functions.get(record.name) in _ORDERING
    few = evidence.few_seeds() if record.decides and ordering else []
    return [
        Part(
            record,
            estimate,
            which,
            halves=(halves[0][place], halves[1][place]),
            numbers=_numbers(record, evidence, which),
            unsure=f"trained with one seed only: {', '.join(few)}" if few else "",
            read=evidence.read,
        )
        for place, (which, estimate) in enumerate(estimates)
    ]


def _numbers(record: Record, evidence: Evidence, which: str) -> dict[str, float]:
    """Find the numbers behind a value: its terms for the system it is about, or both ends."""
    if not record.numbers or (record.systems and not which):
        return {}
    if record.along:
        course = _course(record, evidence, which, record.along[0])
        known = [course[at].value for at in sorted(course) if not math.isnan(course[at].value)]
        return {"first": known[0], "last": known[-1]} if known else {}
    values = [evidence.quantity(term, system=which).value for term in record.of]
    ends = {"least": min(values), "most": max(values)}
    return {**dict(zip(record.numbers, values, strict=False)), **ends}


def _reads_an_order(record: Record) -> bool:
    """Tell whether a record compares systems with each other, and not each with itself."""
    if record.measure in _OF_ORDERS or record.measure == "lead":
        return True
    return record.measure in _PAIRED and len({term.system for term in record.of}) > 1


def _estimates(
    record: Record, evidence: Evidence, claim: str, functions: Mapping[str, Function]
) -> Iterator[_Found]:
    if record.measure == "check":
        yield "", evidence.check(claim, record.name).worst
    elif record.measure == "statistic":
        yield "", evidence.statistic(record.name)
    elif record.measure == "function":
        yield "", functions[record.name](evidence, record)
    elif record.measure in _OF_ORDERS:
        yield "", _OF_ORDERS[record.measure](record, evidence)
    elif record.measure == "lead":
        yield _lead(record, evidence)
    else:
        yield from _taken(record, evidence)


def _taken(record: Record, evidence: Evidence) -> Iterator[_Found]:
    """Measure each system by itself, and take them together as the record says."""
    if not record.systems:
        yield "", _of_system(record, evidence, "")
        return
    by_system = {name: _of_system(record, evidence, name) for name in evidence.systems(record)}
    if record.take == "each":
        yield from by_system.items()
    elif record.take == "median":
        yield "", median(by_system.values())
    else:
        which, estimate = extreme(by_system, largest=record.take == "largest")
        yield which, estimate


def _of_system(record: Record, evidence: Evidence, system: str) -> Quantity:
    if record.along:
        return _along(record, evidence, system)
    quantities = [evidence.quantity(term, system=system) for term in record.of]
    if record.measure == "range":
        return spread(quantities)
    if len(quantities) == 1:
        return quantities[0]
    return _PAIRED[record.measure](*quantities)


_PAIRED: Mapping[str, Callable[[Quantity, Quantity], Quantity]] = {
    "difference": lambda a, b: a - b,
    "ratio": lambda a, b: a / b,
    "deviation": deviation,
}


def _along(record: Record, evidence: Evidence, system: str) -> Quantity:
    """Follow a quantity, or the gap between two, along the axes of a record."""
    if record.measure == "steeper":
        (axis,) = record.along
        a, b = (rise(_course_of((term,), record, evidence, system, axis)) for term in record.of)
        return a - b
    followed = [_course(record, evidence, system, axis) for axis in record.along]
    if record.measure == "steps":
        (course,) = followed
        steps = {
            f"{place}": (b - a if record.rises else a - b)
            for place, (a, b) in enumerate(pairwise(course.values()))
        }
        return extreme(steps, largest=False)[1]
    if record.measure in _OF_COURSES:
        return _OF_COURSES[record.measure](followed[0])
    changes = [course[max(course)] / course[min(course)] for course in followed]
    return changes[0] if len(changes) == 1 else changes[0] - changes[1]


_OF_COURSES: Mapping[str, Callable[[Mapping[int, Quantity]], Quantity]] = {
    "slope": slope,
    "line": straightness,
    "rise": rise,
}


def _course(record: Record, evidence: Evidence, system: str, axis: str) -> dict[int, Quantity]:
    return _course_of(record.of, record, evidence, system, axis)


def _course_of(
    terms: Sequence[Term], record: Record, evidence: Evidence, system: str, axis: str
) -> dict[int, Quantity]:
    """Follow a quantity, or the gap between two, along an axis, divided as the record says."""

    def follow(term: Term) -> dict[int, Quantity]:
        grid = evidence.table(term.table, term.edition or "").grid
        steps = axis_terms(grid, axis, term)
        if len(steps) < 2:  # a table that has room for one size of target sets has no course
            raise NotTestable(NEEDS["pool"])
        return {at: evidence.quantity(step, system=system) for at, step in steps.items()}

    first, *others = (follow(term) for term in terms)
    course = first
    for other in others:
        course = {at: course[at] - other[at] for at in course}
    if record.per:
        divisor = follow(record.per)
        course = {at: quantity / divisor[at] for at, quantity in course.items()}
    return course


def _tau(record: Record, evidence: Evidence) -> Quantity:
    return order_tau(*_by_term(record, evidence))


def _opposed(record: Record, evidence: Evidence) -> Quantity:
    return opposed_pairs(*_by_term(record, evidence))


def _reversed(record: Record, evidence: Evidence) -> Quantity:
    if not record.along:
        return reversed_pairs(*_by_term(record, evidence))
    (axis,), (term,) = record.along, record.of
    courses = [
        _course_of((term,), record, evidence, name, axis) for name in evidence.systems(record)
    ]
    ends = zip(*((course[min(course)], course[max(course)]) for course in courses), strict=True)
    return reversed_pairs(*map(list, ends))


def _distinct(record: Record, evidence: Evidence) -> Quantity:
    by_term = _by_term(record, evidence)
    if len(by_term) == 1:
        return distinct_pairs(by_term[0])
    pairs = list(zip(*by_term, strict=True))
    tables = [evidence.table(term.table, term.edition or "").grid.parsed for term in record.of]
    thresholds = [
        protocols[term.label].min_rating for protocols, term in zip(tables, record.of, strict=True)
    ]
    if len(set(thresholds)) > 1 and all(_is_same(a, b) for a, b in pairs):
        raise NotTestable(NEEDS["stars"])  # no rating lies between the thresholds: they are one
    return distinct_pairs([a / b for a, b in pairs])


def _is_same(a: Quantity, b: Quantity) -> bool:
    """Tell whether two quantities agree on all users and on all resamples."""
    if a.replicates is None or b.replicates is None:
        return False
    return a.value == b.value and np.array_equal(a.replicates, b.replicates)


def _by_term(record: Record, evidence: Evidence) -> list[list[Quantity]]:
    systems = evidence.systems(record)
    return [[evidence.quantity(term, system=name) for name in systems] for term in record.of]


def _share(record: Record, evidence: Evidence) -> Quantity:
    (term,) = record.of
    chain = [evidence.expand((name,), term) for name in record.systems]
    values = {name: evidence.quantity(term, system=name) for names in chain for name in names}
    return share_of_orders(values, chain)


def _significance(record: Record, evidence: Evidence) -> float:
    (term,) = record.of
    tests = evidence.table(term.table, term.edition or "").tests
    metric = evidence.metric(term)
    p_value = largest_p(
        tests, term.label, metric, record.unit_of_test, systems=evidence.systems(record)
    )
    evidence.note(term.table, f"largest p of {metric} under {term.label}", p_value)
    return p_value


def _flips(record: Record, evidence: Evidence) -> Quantity:
    (term,) = record.of
    tests = evidence.table(term.table, term.edition or "").tests
    metric = evidence.metric(term)
    flips, possible = flipped_pairs(tests, term.label, metric, systems=evidence.systems(record))
    surely = float(len(flips))
    evidence.note(term.table, f"pairs flipped in {metric} under {term.label}", surely)
    return Quantity(surely, None, limits=(surely, float(possible)))


def _lead(record: Record, evidence: Evidence) -> _Found:
    (term,) = record.of
    names = [name for name in evidence.expand(("all",), term) if name not in record.but]
    values = {name: evidence.quantity(term, system=name) for name in names}
    return lead(values, evidence.systems(record))


_OF_ORDERS: Mapping[str, Callable[[Record, Evidence], Estimate]] = {
    "tau": _tau,
    "opposed": _opposed,
    "reversed": _reversed,
    "distinct": _distinct,
    "share": _share,
    "significance": _significance,
    "flips": _flips,
}
