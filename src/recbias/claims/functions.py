"""The functions of the language of criteria: what is made of several numbers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims import quantities
from recbias.claims.evidence import NotComputed, NotTestable
from recbias.claims.expressions import Expression, Operation, Term, Text
from recbias.claims.ledger import NEEDS
from recbias.claims.quantities import (
    distinct_pairs,
    extreme,
    flipped_pairs,
    largest_p,
    lead,
    opposed_pairs,
    order_tau,
    over_worlds,
    reversed_pairs,
    rise,
    share_of_orders,
    slope,
    spread,
    straightness,
    surely_above,
)
from recbias.claims.values import (
    Course,
    Estimate,
    Family,
    Function,
    Holds,
    Named,
    Sample,
    ends,
    held,
    lifted,
    members_of,
)
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.results import Quantity
from recbias.metrics import parse_metric

if TYPE_CHECKING:
    from recbias.claims.evaluation import Scope

FUNCTIONS: dict[str, Function] = {}
SPECIAL: dict[str, Function] = {}
ORDERS: set[str] = set()
MOST_PAIRED = 200
"""Systems or rows between which all differences are taken."""
ARGUMENTS: dict[str, Function] = {}
"""By name of a function of values, what its arguments are read from."""
IN_SCOPE: set[Function] = set()
OF_ORDERS: set[Function] = set()
COURSES: set[str] = set()

WORDS: dict[str, str] = {}
"""What each function of the language means, with ``{}`` for its arguments."""


def function(
    name: str, words: str, *, lifts: bool = False, orders: bool = False
) -> Callable[[Function], Function]:
    """Give a function of values a name in the language.

    Parameters
    ----------
    name
        In expressions.
    words
        What it means, with ``{}`` for its arguments.
    lifts
        Whether it works on each member, place or draw by itself.
    orders
        Whether it compares systems with each other.
    """

    def register(body: Function) -> Function:
        ARGUMENTS[name] = body
        FUNCTIONS[name] = (lambda *values: lifted(body, *values)) if lifts else body
        _describe(name, words, orders)
        return body

    return register


def special(name: str, words: str, *, orders: bool = False) -> Callable[[Function], Function]:
    """Give a name to a function that reads the nodes of its arguments itself, in a scope."""

    def register(body: Function) -> Function:
        SPECIAL[name] = body
        _describe(name, words, orders)
        return body

    return register


def in_scope(body: Function) -> Function:
    """Mark a function of a chapter that reads the nodes of its arguments itself, in a scope."""
    IN_SCOPE.add(body)
    return body


def of_orders(body: Function) -> Function:
    """Mark a function of a chapter that compares systems with each other."""
    OF_ORDERS.add(body)
    return body


def _describe(name: str, words: str, orders: bool) -> None:
    WORDS[name] = words
    if orders:
        ORDERS.add(name)


# -- of one number, or a few that go together --------------------------------------------------


@function("size", "{} without its sign", lifts=True)
def _size(value: Estimate) -> Estimate:
    return quantities.folded(value) if isinstance(value, Quantity) else abs(value)


function("deviation", "how far {} is from {}, relative to the latter", lifts=True)(
    lambda a, b: quantities.deviation(*map(quantities.as_quantity, (a, b)))
)
function("part", "the part that {} is of {}, where that is surely above 0", lifts=True)(
    quantities.part
)
function("log10", "the power of ten that {} is", lifts=True)(quantities.log10)


@function("estimate", "{} as it is estimated, without its interval", lifts=True)
def _estimate(value: Estimate) -> float:
    return value.value if isinstance(value, Quantity) else float(value)


function("error", "the standard error of {}", lifts=True)(quantities.standard_error)
function("in_standard_errors", "{} in standard errors, without its sign", lifts=True)(
    quantities.in_standard_errors
)


@function(
    "misses",
    "by how many standard errors {} misses {}; open where three are more than {} of the latter",
    lifts=True,
)
def _misses(a: Estimate, b: Estimate, noticed: float) -> Quantity:
    return quantities.misses(quantities.as_quantity(a), quantities.as_quantity(b), noticed)


@special("cutoff", "the length of the lists of {}")
def _cutoff(scope: Scope, term: Term) -> float:
    metric = scope.evidence.metric(term)
    cutoff = parse_metric(metric).cutoff
    if cutoff is None:
        raise ConfigError(f"{metric} is of whole lists: they have no cutoff")
    return float(cutoff)


@function("within", "{}, which lies between {} and {}", lifts=True)
def _within(value: Estimate, least: float, most: float) -> Quantity:
    """Bound an interval by what is possible: that of an extreme is wider than those it is of."""
    limits = np.clip(ends(value)[1:], least, most)
    return Quantity(ends(value)[0], None, limits=(float(limits[0]), float(limits[1])))


@function("surely", "{} beyond chance", lifts=True)
def _surely(value: Any) -> Holds:
    condition = held(value)
    return Holds(condition.surely, condition.surely, condition.possibly)


# -- of systems, rows or draws -----------------------------------------------------------------


def _pooled(values: Sequence[Any]) -> dict[Any, Any]:
    """Put the members of all arguments together, by name."""
    pooled: dict[Any, Any] = {}
    for place, value in enumerate(values):
        members = members_of(value) if isinstance(value, Family | Course) else {"": value}
        pooled |= {(place, name): member for name, member in members.items()}
    if not pooled:
        raise NotComputed("a case of which something could be said")
    return pooled


def _extreme(values: Sequence[Any], largest: bool) -> Estimate:
    members = _pooled(values)
    choose = max if largest else min
    if any(isinstance(member, Sample) for member in members.values()):
        return float(choose(float(choose(member)) for member in members.values()))
    if not any(isinstance(member, Quantity) for member in members.values()):
        return float(choose(members.values()))
    known = {name: quantities.as_quantity(member) for name, member in members.items()}
    return extreme(known, largest=largest)[1]


@function("largest", "the largest of {}")
def _largest(*values: Any) -> Estimate:
    return _extreme(values, largest=True)


@function("smallest", "the smallest of {}")
def _smallest(*values: Any) -> Estimate:
    return _extreme(values, largest=False)


@function("median", "the median of {}")
def _median(*values: Any) -> Quantity:
    return quantities.median(map(quantities.as_quantity, _pooled(values).values()))


@function("mean", "the mean of {}")
def _mean(*values: Any) -> Any:
    """Average draws, for each row where there are several; or else systems and rows."""
    if len(values) == 1:
        (value,) = values
        if isinstance(value, Sample):
            return _over_draws(value)
        if isinstance(value, Family) and isinstance(next(iter(value.members.values())), Sample):
            return lifted(_mean, value)
    return quantities.mean(map(quantities.as_quantity, _pooled(values).values()))


def _over_draws(draws: Sample) -> Quantity:
    """Average draws; of a single one nobody knows how far it is from the others."""
    if len(draws) < 2:
        return Quantity(float(draws.iloc[0]) if len(draws) else np.nan, None)
    return over_worlds(draws.to_numpy())


@function("range", "the largest of {} over the smallest")
def _range(*values: Any) -> Any:
    if len(values) > 1:
        return lifted(lambda *several: spread(several), *values)
    return spread(_pooled(values).values())


def _held(values: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Tell in which cases, or draws, conditions hold: as is seen, surely and possibly."""
    members = list(_pooled(values).values())
    if not all(isinstance(member, Holds) for member in members):
        raise ConfigError("what is counted is a condition, such as P[AR] > P[AR] of Random")
    ways = ("seen", "surely", "possibly")
    return np.hstack([np.array([np.atleast_1d(getattr(m, way)) for way in ways]) for m in members])


@function("count", "the number of cases in which {}")
def _count(*values: Any) -> Quantity:
    held = _held(values)
    seen, surely, possibly = held.sum(axis=1).astype(float).tolist()
    return Quantity(seen, None, limits=(surely, possibly), cases=held.shape[1])


@function("share", "the share of the cases in which {}")
def _share(*values: Any) -> Quantity:
    held = _held(values)
    seen, surely, possibly = held.mean(axis=1).tolist()
    return Quantity(seen, None, limits=(surely, possibly), cases=held.shape[1])


@function("rises", "the steps of {}, upwards")
def _rises(value: Any) -> Family:
    return _steps(value, 1)


@function("falls", "the steps of {}, downwards")
def _falls(value: Any) -> Family:
    return _steps(value, -1)


def _steps(value: Any, sign: int) -> Family:
    """Subtract each member from the next in the order of their names, or the other way round."""
    members = members_of(value)
    steps = {}
    for before, after in pairwise(sorted(members)):
        pair = (after, before) if sign > 0 else (before, after)
        steps[before, after] = lifted(quantities.difference, *(members[name] for name in pair))
    return Family(steps)


@function("differences", "the differences between any two of {}")
def _differences(value: Any) -> Family:
    members = members_of(value)
    if len(members) > MOST_PAIRED:
        raise ConfigError(f"differences(...) of {len(members)}: at most {MOST_PAIRED} are paired")
    return Family(
        {
            (one, other): lifted(quantities.difference, members[other], members[one])
            for one, other in combinations(members, 2)
        }
    )


@function("together", "{}, with intervals that are right for all of them together")
def _together(value: Any) -> Any:
    """Widen the intervals of rows or systems of which some are picked for what their own say."""
    if not isinstance(value, Family):
        raise ConfigError("together(...) is of several systems or rows, whose intervals it widens")
    n_members = len(value.members)
    return lifted(lambda one: quantities.one_of(quantities.as_quantity(one), n_members), value)


@function("first", "the first of {}")
def _first(value: Any) -> Any:
    members = members_of(value)
    return members[min(members)]


@function("last", "the last of {}")
def _last(value: Any) -> Any:
    members = members_of(value)
    return members[max(members)]


def _correlated(a: Any, b: Any, *, ranks: bool) -> Sample:
    """Correlate two families of draws over their members, draw by draw where all are known."""
    one, other = (pd.DataFrame(members_of(values)).dropna() for values in (a, b))
    if ranks:
        one, other = one.rank(axis=1), other.rank(axis=1)
    return one.corrwith(other, axis=1)


@function("correlation", "the correlation of {} and {}, draw by draw")
def _correlation(a: Any, b: Any) -> Sample:
    return _correlated(a, b, ranks=False)


@function("rank_correlation", "Spearman's correlation of {} and {}, draw by draw")
def _rank_correlation(a: Any, b: Any) -> Sample:
    return _correlated(a, b, ranks=True)


@function("by_draw", "the mean of {} in each draw")
def _by_draw(rows: Any) -> Sample:
    """Average rows draw by draw."""
    return pd.concat(list(members_of(rows).values()), axis=1).mean(axis=1)


@special("known", "{}, where it is known")
def _known(scope: Scope, node: Expression, need: Text | None = None) -> Any:
    """Drop draws without a value; a number that has none, or no interval, was not computed.

    Or data lack what it takes, which a second argument names: one of `NEEDS`.
    """
    if need is not None and need.value not in NEEDS:
        raise unknown_name("need", need.value, NEEDS)

    def known(value: Any) -> Any:
        if isinstance(value, Sample):
            return value.dropna()
        if not np.isnan(ends(value)).any():
            return value
        raise NotTestable(NEEDS[need.value]) if need else NotComputed(str(node))

    return lifted(known, scope.evaluate(node))


@special("independent", "{}, the intervals taken as independent")
def _independent(scope: Scope, node: Expression) -> Any:
    """Join numbers that were measured one without the other, as their errors add up."""
    if not isinstance(node, Operation):
        return scope.evaluate(node)
    one, other = (_independent(scope, side) for side in (node.left, node.right))
    return lifted(partial(quantities.independent, node.operator), one, other)


@function("above", "the number of cases in which {} is above {}, told apart all together")
def _above(one: Any, other: Any) -> Quantity:
    """Count as `count` does; one chance for all comparisons that any of them is wrong."""
    return surely_above(list(_pooled([lifted(quantities.difference, one, other)]).values()))


# -- of courses along an axis ------------------------------------------------------------------


def _of_courses(name: str, words: str, body: Any) -> None:
    COURSES.add(name)

    def of_each(value: Any) -> Any:
        if isinstance(value, Course):
            return body(value)
        if isinstance(value, Family):
            by_name = {name: of_each(member) for name, member in value.members.items()}
            return Family(by_name, value.of_systems)
        raise ConfigError(f"{name}(...) is of what is followed along an axis: add `along AXIS`")

    function(name, words)(of_each)


def _least_step(course: Course, sign: int) -> Quantity:
    return extreme(_steps(course, sign).members, largest=False)[1]


_of_courses("least_fall", "the smallest fall of {} from step to step", lambda c: _least_step(c, -1))
_of_courses("least_rise", "the smallest rise of {} from step to step", lambda c: _least_step(c, 1))
_of_courses("change", "the factor by which {} changes", lambda c: c[max(c)] / c[min(c)])
_of_courses("slope", "the slope of {}, both in logarithms", slope)
_of_courses("line", "the share of the changes of {} that a straight line explains", straightness)
_of_courses("rise", "the rise of a straight line through {}, relative to its end", rise)
_of_courses("at_start", "{} at its start", lambda c: c[min(c)])
_of_courses("at_end", "{} at its end", lambda c: c[max(c)])


# -- of orders of systems ----------------------------------------------------------------------


def orders_of(families: Sequence[Any]) -> list[list[Quantity]]:
    """Lay out what several families have of the same systems."""
    if not all(isinstance(family, Family) for family in families):
        raise ConfigError("an order is one of systems: leave out `of SYSTEM`")
    names = [name for name in families[0].members if all(name in f.members for f in families)]
    return [[family.members[name] for name in names] for family in families]


@function("tau", "Kendall's tau between the orders by {} and by {}", orders=True)
def _tau(a: Family, b: Family) -> Quantity:
    return order_tau(*orders_of([a, b]))


@function("opposed", "the pairs of systems that {} and {} order in opposite ways", orders=True)
def _opposed(a: Family, b: Family) -> Quantity:
    return opposed_pairs(*orders_of([a, b]))


@function("reversed", "the pairs of systems that {} resolves and {} turns", orders=True)
def _reversed(a: Family, b: Family) -> Quantity:
    return reversed_pairs(*orders_of([a, b]))


@special("distinct", "the pairs of systems between which {} differs", orders=True)
def _distinct(scope: Scope, *nodes: Expression) -> Quantity:
    """Count pairs that differ in a quantity; or in the ratio of two, which may be of one kind."""
    by_term = orders_of([scope.evaluate(node) for node in nodes])
    if len(by_term) == 1:
        return distinct_pairs(by_term[0])
    pairs = list(zip(*by_term, strict=True))
    thresholds = {
        scope.evidence.table(term.table, term.edition or "").grid.parsed[term.label].min_rating
        for term in nodes
        if isinstance(term, Term)
    }
    if len(thresholds) > 1 and all(quantities.is_same(a, b) for a, b in pairs):
        raise NotTestable(NEEDS["stars"])  # no rating lies between the thresholds: they are one
    return distinct_pairs([a / b for a, b in pairs])


@special("share_of_orders", "the share of settings in which systems are ordered by {}", orders=True)
def _share_of_orders(scope: Scope, *terms: Term) -> Quantity:
    """Take the order of the record's systems; or that of several terms, each of systems."""
    links = [
        dataclasses.replace(term, system=name)
        for term in terms
        for name in ([term.system] if term.system else scope.record.systems)
    ]
    chain = [scope.evidence.expand((str(link.system),), link) for link in links]
    values = {
        name: scope.evidence.quantity(dataclasses.replace(link, system=name))
        for link, names in zip(links, chain, strict=True)
        for name in names
    }
    return share_of_orders(values, chain)


@special("lead", "the lead in {} of the worst of some systems over all others", orders=True)
def _lead(scope: Scope, term: Term) -> Named:
    names = scope.evidence.expand(("all",), term)
    values = {
        name: scope.evidence.quantity(term, system=name)
        for name in names
        if name not in scope.record.but
    }
    return Named(*lead(values, scope.systems(term)))


@special("p", "the largest p of paired Wilcoxon tests in {}, per {}", orders=True)
def _p(scope: Scope, term: Term, unit: Text) -> float:
    evidence = scope.evidence
    metric = evidence.metric(term)
    tests = evidence.table(term.table, term.edition or "").tests
    largest = largest_p(tests, term.label, metric, unit.value, systems=scope.systems(term))
    evidence.note(term.table, f"largest p of {metric} under {term.label}", largest)
    return largest


@special(
    "flips", "the pairs of systems with another winner in {} per run than per user", orders=True
)
def _flips(scope: Scope, term: Term) -> Quantity:
    evidence = scope.evidence
    metric = evidence.metric(term)
    tests = evidence.table(term.table, term.edition or "").tests
    flips, possible = flipped_pairs(tests, term.label, metric, systems=scope.systems(term))
    surely = float(len(flips))
    evidence.note(term.table, f"pairs flipped in {metric} under {term.label}", surely)
    return Quantity(surely, None, limits=(surely, float(possible)))


# -- of the chapter's checks -------------------------------------------------------------------


@special("check", "the worst case of {}")
def _check(scope: Scope, name: Text) -> float:
    return scope.evidence.check(scope.claim, name.value).worst


@special("statistic", "{}, which follows from the data")
def _statistic(scope: Scope, name: Text) -> float:
    return scope.evidence.statistic(name.value)
