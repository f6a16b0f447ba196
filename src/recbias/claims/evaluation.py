"""From a record and results to parts: expressions are evaluated on evidence."""

from __future__ import annotations

import inspect
import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from recbias.claims.evidence import Evidence, NotComputed, NotTestable, axis_terms
from recbias.claims.expressions import (
    EXTREMES,
    LETTERS,
    Call,
    Expression,
    Number,
    Operation,
    Term,
    Text,
    terms_of,
    walk,
)
from recbias.claims.functions import (
    ARGUMENTS,
    COURSES,
    FUNCTIONS,
    IN_SCOPE,
    OF_ORDERS,
    ORDERS,
    SPECIAL,
)
from recbias.claims.ledger import NEEDS
from recbias.claims.parts import Part
from recbias.claims.quantities import as_quantity, extreme
from recbias.claims.records import Record
from recbias.claims.values import (
    OPERATORS,
    Course,
    Estimate,
    Family,
    Function,
    Named,
    Sample,
    choose,
    ends,
    lifted,
)
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity


@dataclass(frozen=True)
class Scope:
    """What an expression is evaluated in.

    Attributes
    ----------
    evidence
        The results.
    record
        Its systems are those that a term without one goes over.
    claim
        Whose checks are read.
    functions
        Those of the chapter, by name.
    system
        The only one that is looked at, for the numbers behind a value; all if empty.
    """

    evidence: Evidence
    record: Record
    claim: str
    functions: Mapping[str, Function]
    system: str = ""

    def evaluate(self, node: Expression) -> Any:
        """Evaluate a node."""
        if isinstance(node, Number | Text):
            return node.value
        if isinstance(node, Term):
            return self.term(node)
        if isinstance(node, Operation):
            if node.operator == "where":
                chosen = choose(self.evaluate(node.left), self.evaluate(node.right))
                if not chosen.members:
                    raise NotComputed(f"a case for {node}")
                return chosen
            left, right = self.evaluate(node.left), self.evaluate(node.right)
            return lifted(OPERATORS[node.operator], left, right)
        return self._call(node)

    def _call(self, node: Call) -> Any:
        function = check_call(node, self.functions)
        if node.name in SPECIAL or function in IN_SCOPE:
            return function(self, *node.arguments)
        return function(*map(self.evaluate, node.arguments))

    def systems(self, term: Term) -> list[str]:
        """Name the systems that a term goes over."""
        if term.system is None and self.system:
            return [self.system]
        names = self.record.systems if term.system is None else (term.system,)
        if not names:
            raise ConfigError(f"{term} goes over systems: name one, or `systems` in the record")
        found = self.evidence.expand(names, term)
        return [name for name in found if name not in self.record.but]

    def term(self, term: Term) -> Any:
        """Return what a term names."""
        stored = self.evidence.stored(term.stored, term.edition or "")
        if isinstance(stored, Table):
            return self._row(stored, term)
        if term.system is not None and "*" not in term.system:
            return self._of_system(term, term.system)
        by_system = {
            name: self._of_system(replace(term, system=name), name) for name in self.systems(term)
        }
        return by_system[self.system] if self.system else Family(by_system, of_systems=True)

    def _of_system(self, term: Term, system: str) -> Quantity | Course:
        if not term.axis:
            return self.evidence.quantity(term, system=system)
        grid = self.evidence.table(term.table, term.edition or "").grid
        steps = axis_terms(grid, term.axis, term)
        if len(steps) < 2:  # a table that has room for one size of target sets has no course
            raise NotTestable(NEEDS["pool"])
        return Course(
            {at: self.evidence.quantity(step, system=system) for at, step in steps.items()}
        )

    def _row(self, table: Table, term: Term) -> Any:
        """Read rows of a table that a function made; of each system where it has some."""
        if "system" in table.index and term.system is None and self.record.systems:
            named = [self.system] if self.system else self.systems(term)
            by_system = {name: _of_rows(self.evidence.rows(term, name)) for name in named}
            return by_system[self.system] if self.system else Family(by_system, of_systems=True)
        return _of_rows(self.evidence.rows(term))


@cache
def _parameters(function: Function) -> tuple[inspect.Parameter, ...]:
    """List what a function takes; asked at every call, which takes longer than most functions."""
    return tuple(inspect.signature(function).parameters.values())


def check_call(node: Call, functions: Mapping[str, Function]) -> Function:
    """Find the function that a node calls, with as many and such arguments as it takes."""
    known = next((of for of in (SPECIAL, FUNCTIONS, functions) if node.name in of), None)
    if known is None:
        names = sorted({**functions, **FUNCTIONS, **SPECIAL})
        raise unknown_name("function of expressions", node.name, names)
    function = known[node.name]
    parameters = [*_parameters(ARGUMENTS.get(node.name, function))]
    if node.name in SPECIAL or function in IN_SCOPE:
        parameters = parameters[1:]  # the scope
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL:
        parameters += [parameters[-1]] * (len(node.arguments) - len(parameters))
    least = sum(
        parameter.default is parameter.empty and parameter.kind is not parameter.VAR_POSITIONAL
        for parameter in parameters
    )
    if not least <= len(node.arguments) <= len(parameters):
        raise ConfigError(f"{node}: {node.name}(...) has {least} arguments")
    for parameter, argument in zip(parameters, node.arguments, strict=False):
        wanted = str(parameter.annotation).partition(" ")[0]
        if wanted in ("Term", "Text") and type(argument).__name__ != wanted:
            what = {"Term": "a quantity of a table", "Text": "a name"}[wanted]
            raise ConfigError(f"{node}: {argument} is not {what}, of which {node.name}(...) is")
    return function


def check_calls(record: Record, functions: Mapping[str, Function]) -> None:
    """Refuse a record that calls what there is not, or with other arguments; before any result."""
    for node in walk(record.expression):
        if isinstance(node, Call):
            check_call(node, functions)


def _of_rows(rows: Mapping[Hashable, Any] | Any) -> Any:
    return Family(rows) if isinstance(rows, Mapping) else rows


# -- from a record to its parts ----------------------------------------------------------------


def evaluate(
    record: Record, evidence: Evidence, claim: str, functions: Mapping[str, Function]
) -> list[Part]:
    """Find what a record asks for."""
    evidence = evidence.exact() if record.exact else evidence.afresh()
    scope = Scope(evidence, record, claim, functions)
    estimates = list(_estimates(scope))
    halves = [estimates, estimates]
    if evidence.has_drawn:
        halves = [
            list(_estimates(replace(scope, evidence=evidence.half(number)))) for number in (0, 1)
        ]
    ordering = record.decides and compares_systems(record.expression, functions)
    few = evidence.few_seeds() if ordering else []
    return [
        Part(
            record,
            estimate,
            which,
            halves=(halves[0][place][1], halves[1][place][1]),
            numbers=_numbers(scope, which),
            unsure=f"trained with one seed only: {', '.join(few)}" if few else "",
            read=evidence.read,
        )
        for place, (which, estimate) in enumerate(estimates)
    ]


def _estimates(scope: Scope) -> Iterator[tuple[str, Estimate]]:
    """Evaluate a record's expression: one estimate, with a system that it chose; or of each."""
    found = _chosen(scope, scope.record.expression)
    if isinstance(found, Named):
        yield found.name, found.estimate
    elif isinstance(found, Family) and found.of_systems:
        for name, estimate in found.members.items():
            yield str(name), _single(scope, estimate)
    else:
        yield "", _single(scope, found)


def _single(scope: Scope, found: Any) -> Estimate:
    if isinstance(found, Quantity | float | int):
        return found
    what = {Family: "several rows", Course: "a course along an axis", Sample: "several draws"}
    words = next((words for kind, words in what.items() if isinstance(found, kind)), "no number")
    raise ConfigError(f"{scope.record.expression}: gives {words}; say what is made of it")


def _chosen(scope: Scope, node: Expression) -> Any:
    """Evaluate a node, and keep the name of the system that it chooses."""
    if isinstance(node, Call) and node.name in EXTREMES and len(node.arguments) == 1:
        found = scope.evaluate(node.arguments[0])
        if isinstance(found, Family) and found.of_systems and found.members:
            members = {key: as_quantity(value) for key, value in found.members.items()}
            name, estimate = extreme(members, largest=node.name == "largest")
            return Named(str(name), estimate)
        return FUNCTIONS[node.name](found)
    return scope.evaluate(node)


def _numbers(scope: Scope, which: str) -> dict[str, float]:
    """Find the numbers behind a value that its sentence shows, for the system it is about."""
    record, scope = scope.record, replace(scope, system=which)
    shown = record.shown
    numbers: dict[str, float] = {}
    if shown & {"first", "last"}:
        course = next(
            scope.evaluate(node.arguments[0])
            for node in walk(record.expression)
            if isinstance(node, Call) and node.name in COURSES
        )
        known = [course[at].value for at in sorted(course) if not math.isnan(course[at].value)]
        numbers |= {"first": known[0], "last": known[-1]} if known else {}
    if shown & {"least", "most"} and (several := _ranged(record.expression)):
        ranged = scope.evaluate(several)
        if isinstance(ranged, Family):
            found = [float(ends(member)[0]) for member in ranged.members.values()]
            numbers |= {"least": min(found), "most": max(found)}
            shown = shown - {"least", "most"}
    letters = dict(zip(LETTERS, terms_of(record.expression), strict=False))
    if record.systems and not which:
        letters = {letter: term for letter, term in letters.items() if term.system is not None}
    if not shown & {"least", "most"}:
        letters = {letter: term for letter, term in letters.items() if letter in shown}
    values = {letter: ends(scope.evaluate(term))[0] for letter, term in letters.items()}
    if shown & {"least", "most"} and values:
        numbers |= {"least": min(values.values()), "most": max(values.values())}
    return numbers | values


def _ranged(node: Expression) -> Expression | None:
    """Return what a range is of that goes over systems or rows by one argument."""
    if isinstance(node, Call) and node.name == "range" and len(node.arguments) == 1:
        return node.arguments[0]
    return None


def compares_systems(node: Expression, functions: Mapping[str, Function]) -> bool:
    """Tell whether an expression compares systems with each other, and not each with itself.

    Examples
    --------
    >>> from recbias.claims.expressions import parse
    >>> compares_systems(parse("P[AR] of ALS - P[AR] of Random"), {})
    True
    >>> compares_systems(parse("P[AR] of ALS - P[1R] of ALS"), {})
    False
    """
    for part in walk(node):
        joins = isinstance(part, Operation) and part.operator in ("-", "/")
        if isinstance(part, Call):
            if part.name in ORDERS or functions.get(part.name) in OF_ORDERS:
                return True
            joins = part.name == "deviation"
        if joins and len({term.system for term in terms_of(part)}) > 1:
            return True
    return False
