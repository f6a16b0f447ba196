"""Mutants of criteria: what somebody could change in a record, and which of it changes nothing."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from planted import Row, fault, grid_of, measured, rows, topic_of, verdict_of
from planted_grids import CUTOFF
from recbias.book.chapters.design_alternatives.setup import FIGURE_2
from recbias.book.chapters.true_vs_false_positive_disagreement.orders import kendall_p
from recbias.claims import claims
from recbias.claims.evidence import NotComputed, axis_terms
from recbias.claims.expressions import AXES, Call, Expression, Number, Operation, Term, Text, walk
from recbias.claims.ledger import TOPICS
from recbias.claims.lock import check_locks, criterion_digest, renewed_locks
from recbias.claims.records import ClaimCriterion, Record, Region, criteria_of
from recbias.claims.topics import find_judged
from recbias.errors import ConfigError
from recbias.experiment.run import is_named
from recbias.recommenders import line_up

Raw = Mapping[str, Any]

ENDS = ("least", "most", "above", "below")
OTHER_KIND = {"least": "above", "above": "least", "most": "below", "below": "most"}
ALIKE = (
    ("tau", "opposed", "distinct", "reversed"),
    ("least_fall", "least_rise", "change", "slope", "line", "rise"),
    ("largest", "smallest", "median"),
    ("rises", "falls"),
    ("first", "last"),
    ("at_start", "at_end"),
    ("count", "share"),
)
"""Functions that can stand for each other."""
DROPPED = ("largest", "smallest", "median", "size", "surely", "known")
"""Functions of which the argument alone can be asked for."""
OTHER_OPERATORS: Mapping[str, str] = {
    "-": "/+", "/": "-*", "+": "-", "*": "/", ">": "<", "<": ">", ">=": "<", "<=": ">",
}  # fmt: skip
"""Operators that each is exchanged with."""


@dataclass(frozen=True)
class Mutant:
    """A criterion with one change.

    Attributes
    ----------
    claim
        Id.
    place
        Which record was changed.
    what
        The change, to be read.
    records
        All records of the claim, as a file would hold them.
    """

    claim: str
    place: int
    what: str
    records: tuple[Raw, ...]

    def __str__(self) -> str:
        return f"{self.claim} {self.place}: {self.what}"


@cache
def criteria() -> Mapping[str, ClaimCriterion]:
    """All criteria, of every topic."""
    return {claim: criterion for topic in TOPICS for claim, criterion in criteria_of(topic).items()}


def mutants_of(criterion: ClaimCriterion) -> Iterator[Mutant]:
    """Make every mutant of a criterion that the reader of records takes."""
    for place, raw in enumerate(criterion.raw):
        rest = criterion.raw[:place] + criterion.raw[place + 1 :]
        yield Mutant(criterion.claim, place, "removed", rest)
        seen = {criterion.records[place]}
        for what, changed in _changes(raw, criterion):
            changed = {name: value for name, value in changed.items() if value is not None}
            mutant = Mutant(criterion.claim, place, what, _with(criterion.raw, place, changed))
            found = criterion_of(mutant)
            if found is not None and found.records[place] not in seen:
                seen.add(found.records[place])
                yield mutant


def _with(records: Sequence[Raw], place: int, changed: Raw) -> tuple[Raw, ...]:
    return (*records[:place], changed, *records[place + 1 :])


def criterion_of(mutant: Mutant) -> ClaimCriterion | None:
    """Read a mutant; None where the reader refuses it, as it does a record without a region."""
    try:
        records = tuple(map(Record.from_dict, mutant.records))
    except ConfigError:
        return None
    return dataclasses.replace(
        criteria()[mutant.claim], records=records, raw=mutant.records, replaced=()
    )


def _changes(raw: Raw, criterion: ClaimCriterion) -> Iterator[tuple[str, Raw]]:
    record = Record.from_dict(raw)
    yield from _moved_ends(raw)
    for what, node in _variants(record.expression, criterion):
        yield what, {**raw, "value": str(node)}
    yield from _other_systems(raw, record, topic_of(criterion.claim))
    yield from _other_options(raw, record)


def _moved_ends(raw: Raw) -> Iterator[tuple[str, Raw]]:
    for end in ENDS:
        if end not in raw:
            continue
        value = float(raw[end])
        for moved in (1.3 * value, 0.7 * value, value + 0.05, value - 0.05, 0.0):
            yield f"{end} {value:g} -> {moved:g}", {**raw, end: moved}
        other = OTHER_KIND[end]
        yield f"{end} {value:g} -> {other}", {**raw, end: None, other: value}
        if sum(each in raw for each in ENDS) > 1:
            yield f"{end} {value:g} dropped", {**raw, end: None}


def _variants(node: Expression, criterion: ClaimCriterion) -> Iterator[tuple[str, Expression]]:
    """Change one place of a tree, in every way."""
    if isinstance(node, Term):
        for other in _neighbours(node, topic_of(criterion.claim)):
            yield f"{node} -> {other}", other
    elif isinstance(node, Number):
        for value in (1.3 * node.value, 0.7 * node.value, node.value + 0.05, node.value - 0.05):
            yield f"{node} -> {value:g}", Number(value)
    elif isinstance(node, Text) and node.value in ("user", "run"):
        yield "per the other", Text({"user": "run", "run": "user"}[node.value])
    elif isinstance(node, Operation):
        left, right, sign = node.left, node.right, node.operator
        yield f"{node}: exchanged", Operation(sign, right, left)
        yield f"{node}: {right} dropped", left
        if sign != "where":
            yield f"{node}: {left} dropped", right
        for other in OTHER_OPERATORS.get(sign, ""):
            yield f"{node}: {sign} -> {other}", Operation(other, left, right)
        for what, changed in _variants(left, criterion):
            yield what, Operation(sign, changed, right)
        for what, changed in _variants(right, criterion):
            yield what, Operation(sign, left, changed)
    elif isinstance(node, Call):
        yield from _other_calls(node, criterion)


def _other_calls(node: Call, criterion: ClaimCriterion) -> Iterator[tuple[str, Expression]]:
    name, arguments = node.name, node.arguments
    for other in _other_functions(node, criterion):
        yield f"{name} -> {other}", Call(other, arguments)
    if name in ("check", "statistic"):
        (own,) = arguments
        for text in _names_of(name, criterion) - {own}:
            yield f"{own} -> {text}", Call(name, (text,))
        return
    if name in DROPPED and len(arguments) == 1:
        yield f"{name} dropped", arguments[0]
    if len(arguments) > 1:
        yield "terms exchanged", Call(name, (*arguments[1:], arguments[0]))
        for place, argument in enumerate(arguments):
            rest = arguments[:place] + arguments[place + 1 :]
            yield f"{argument} dropped", Call(name, rest)
    for place, argument in enumerate(arguments):
        for what, changed in _variants(argument, criterion):
            yield what, Call(name, (*arguments[:place], changed, *arguments[place + 1 :]))


def _other_functions(node: Call, criterion: ClaimCriterion) -> list[str]:
    judged = find_judged(topic_of(criterion.claim))
    own = tuple(judged.functions) if judged else ()
    groups = [group for group in (*ALIKE, own) if node.name in group]
    return [other for group in groups for other in group if other != node.name]


def _names_of(name: str, criterion: ClaimCriterion) -> set[Expression]:
    """Name the checks, or the statistics, that a claim's records read."""
    return {
        node.arguments[0]
        for record in criterion.records
        for node in walk(record.expression)
        if isinstance(node, Call) and node.name == name
    }


def _neighbours(term: Term, topic: str) -> Iterator[Term]:
    """Other metrics under the label, the metric under other labels, other systems, data sets."""
    found = measured(topic, term.table)
    own = fnmatch.filter(found, term.label)
    for metric in found[own[0]] if own else ():
        yield dataclasses.replace(term, metric=metric)
    for label, metrics in found.items():
        if "*" not in term.label and term.metric in metrics:
            yield dataclasses.replace(term, label=label)
    if term.system:
        for system in FIGURE_2:
            yield dataclasses.replace(term, system=system)
    if term.edition:
        yield dataclasses.replace(term, edition=None)
    if term.axis:
        for axis in AXES:
            yield dataclasses.replace(term, axis=axis)


def _other_systems(raw: Raw, record: Record, topic: str) -> Iterator[tuple[str, Raw]]:
    table = record.terms[0].table if record.terms else "systems"
    planted = grid_of(topic, table).systems if measured(topic, table) else line_up("bcc17")
    names = [system.name for system in planted]
    if record.systems == ("all",):
        for name in names:
            yield f"without {name}", {**raw, "but": [name]}
        yield "Figure 2's instead of all", {**raw, "systems": list(FIGURE_2)}
        return
    listed = list(record.systems)
    for place, name in enumerate(listed):
        rest = listed[:place] + listed[place + 1 :]
        if rest:
            yield f"without {name}", {**raw, "systems": rest}
        if _head(record) == "share_of_orders":
            if place:
                order = [*listed[: place - 1], name, listed[place - 1], *listed[place + 1 :]]
                yield f"{name} one place up", {**raw, "systems": order}
            continue
        for other in names:
            if other not in listed:
                changed = [*listed[:place], other, *listed[place + 1 :]]
                yield f"{name} -> {other}", {**raw, "systems": changed}


def _other_options(raw: Raw, record: Record) -> Iterator[tuple[str, Raw]]:
    yield "exact" if not record.exact else "not exact", {**raw, "exact": not record.exact}
    yield "decides" if not record.decides else "beside", {**raw, "decides": not record.decides}
    for name in ("needs", "only"):
        given = list(getattr(record, name))
        for each in given:
            yield f"{name}: {each} dropped", {**raw, name: [n for n in given if n != each]}
    if not record.only:
        yield "only ml-100k", {**raw, "only": ["ml-100k"]}
    if record.corrects or record.corrected:
        yield "of both forms", {**raw, "corrects": None, "corrected": None}
        changed = {**raw, "corrects": record.corrected, "corrected": record.corrects}
        yield "of the other form", changed


def _head(record: Record) -> str:
    """Name the function that a record's expression is a call of."""
    return record.expression.name if isinstance(record.expression, Call) else ""


# -- mutants that change no verdict, and why -----------------------------------------------------


def equivalent(mutant: Mutant) -> str:
    """Say why no data can tell a mutant from the criterion; empty if some may."""
    criterion = criteria()[mutant.claim]
    if mutant.what == "removed":
        return ""
    old = criterion.records[mutant.place]
    new = Record.from_dict(mutant.records[mutant.place])
    return next(filter(None, (rule(old, new, criterion.claim) for rule in RULES)), "")


def _only_differs(old: Record, new: Record, *names: str) -> bool:
    kept = {name: getattr(new, name) for name in names}
    return old != new and dataclasses.replace(old, **kept) == new


def _nothing_between(old: Record, new: Record, claim: str) -> str:
    if not _only_differs(old, new, "region"):
        return ""
    if not old.decides:
        return "what decides nothing is shown whatever its region"
    if _head(old) == "tau":
        # Ends of its interval are (S +- m) / pairs, S + m being even or odd as the pairs are.
        n_systems = _n_systems(old, claim)
        pairs = n_systems * (n_systems - 1) // 2
        values = [number / pairs for number in range(-pairs, pairs + 1, 2)]
    elif _head(old) == "tau_p":
        n_systems = _n_systems(old, claim)
        pairs = n_systems * (n_systems - 1) // 2
        taus = [number / pairs for number in range(pairs % 2, pairs + 1, 2)]
        values = [kendall_p(tau, n_systems) for tau in taus]
    elif old.unit == "count" and not old.exact:
        values = [float(number) for number in range(100)]
    elif not _IN_ERRORS.isdisjoint(_inner(old)):
        same = _ends(old.region) == _ends(new.region)
        return "a distance in standard errors is at an end itself with no chance" if same else ""
    else:
        return ""
    same = all(_sides(old.region, value) == _sides(new.region, value) for value in values)
    return "no value that it can take lies between the two ends" if same else ""


def _n_systems(record: Record, claim: str) -> int:
    """Count the systems that a record goes over; ``all`` are those of its first quantity's grid."""
    known = [system.name for system in grid_of(topic_of(claim), record.terms[0].table).systems]
    patterns = ["*" if name == "all" else name for name in record.systems]
    found = {name for each in patterns for name in fnmatch.filter(known, each)}
    return len(found - set(record.but))


_IN_ERRORS = {"in_standard_errors", "misses"}
"""Functions that divide a distance by its standard error."""


def _ends(region: Region) -> tuple[float, float]:
    return max(region.least, region.above), min(region.most, region.below)


def _sides(region: Region, value: float) -> str:
    return region.verdict(value, value)


_CASES: Mapping[str, Sequence[float]] = {"winner": (-1, 0, 1), "peak": range(10, 100, 10)}
"""By column, the only values that it has."""


def _no_case_between(old: Record, new: Record, claim: str) -> str:
    """Tell that a number was changed to another that no case, or no p, lies between."""
    if not _only_differs(old, new, "value"):
        return ""
    pairs = [*zip(walk(old.expression), walk(new.expression), strict=False)]
    changed = [(a, b) for a, b in pairs if isinstance(a, Number) and a != b]
    if len(changed) != 1 or not isinstance(changed[0][1], Number):
        return ""
    (before, after) = changed[0]
    tiny = all(0 < number.value < 1e-200 for number in changed[0] if isinstance(number, Number))
    same = tiny or any(
        all(_is_above(case, a) == _is_above(case, b) for case in _CASES[a.left.metric])
        for a, b in pairs
        if isinstance(a, Operation) and isinstance(b, Operation) and a.right is before
        if isinstance(a.left, Term) and a.left.metric in _CASES and b.right is after
    )
    return "no case lies between the two numbers" if same else ""


def _is_above(case: float, comparison: Operation) -> bool:
    assert isinstance(comparison.right, Number)
    compare = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}
    return compare[comparison.operator](float(case), comparison.right.value)


def _unmended(old: Record, new: Record, claim: str) -> str:
    if not _only_differs(old, new, "corrected") or new.corrected:
        return ""
    mended = any(record.corrects for record in criteria()[claim].records)
    return "" if mended else "the claim has no corrected form, from which a record could be missing"


_SYMMETRIC = (
    "tau",
    "opposed",
    "range",
    "distinct",
    "largest",
    "smallest",
    "mean",
    "median",
    "count",
    "share",
    "tau_p",
)
"""Functions that take the extreme of their arguments, or the sum, or the same of either order."""


def _same_tree(old: Record, new: Record, claim: str) -> str:
    if not _only_differs(old, new, "value"):
        return ""
    trees = [_canonical(record.expression, claim) for record in (old, new)]
    if trees[0] == trees[1]:
        return "the same, whatever the order of its parts and the names of its metrics"
    return ""


def _canonical(node: Expression, claim: str) -> Expression:
    """Write what comes to the same in one way."""
    if isinstance(node, Term):
        return _canonical_term(dataclasses.replace(node, metric=_metric_of(node, claim)), claim)
    if isinstance(node, Operation):
        sides = (_canonical(node.left, claim), _canonical(node.right, claim))
        if node.operator in ("+", "*", "and", "or"):
            sides = (min(sides, key=str), max(sides, key=str))
        turned = {"<": ">", "<=": ">="}.get(node.operator)
        return Operation(turned, *sides[::-1]) if turned else Operation(node.operator, *sides)
    if isinstance(node, Call):
        arguments = tuple(_canonical(argument, claim) for argument in node.arguments)
        if node.name in _SYMMETRIC:
            arguments = tuple(sorted(arguments, key=str))
        # Ratios turned upside down range as far.
        if node.name == "range" and len(arguments) == 1 and isinstance(arguments[0], Operation):
            (ratio,) = arguments
            if ratio.operator == "/":
                sides = sorted((ratio.left, ratio.right), key=str)
                arguments = (Operation("/", *sides),)
        # The sign of a gap cancels in its size, and in its share of another.
        (gap, *others) = arguments or (node,)
        if (
            node.name in ("size", "change", "in_standard_errors")
            and isinstance(gap, Operation)
            and gap.operator == "-"
        ):
            arguments = (Operation("-", *sorted((gap.left, gap.right), key=str)), *others)
        return Call(node.name, arguments)
    return node


def _canonical_term(term: Term, claim: str) -> Term:
    """Name a course by its first place: it is the same, whichever of its places names it."""
    if not term.axis or not measured(topic_of(claim), term.table):
        return term
    try:
        steps = axis_terms(grid_of(topic_of(claim), term.table), term.axis, term)
    except NotComputed:
        return term
    first = next(iter(steps.values()), term)
    return dataclasses.replace(first, axis=term.axis, edition=" ".join(map(str, steps.values())))


def _metric_of(term: Term, claim: str) -> str:
    """Write out the metric that a term names, where there is one such under its label."""
    metric = term.metric.replace("@n", f"@{CUTOFF}")
    if not measured(topic_of(claim), term.table):
        return metric
    known = grid_of(topic_of(claim), term.table).parsed_metrics.get(term.label, ())
    named = [str(each) for each in known if metric == str(each) or is_named(each, metric)]
    return named[0] if len(named) == 1 else metric


def _no_interval(old: Record, new: Record, claim: str) -> str:
    if not _only_differs(old, new, "exact"):
        return ""
    if _head(old) in ("check", "statistic", "p"):
        return "a number without an interval is exact"
    if not any(measured(topic_of(claim), term.table) for term in old.terms):
        return "what a function made has the interval that stands there"
    if not old.decides:
        return "what decides nothing shows its value, whatever its interval"
    return ""


def _claim_says_so(old: Record, new: Record, claim: str) -> str:
    (own,) = (each for each in claims() if each.id == claim)
    for name in ("needs", "only"):
        dropped = set(getattr(old, name)) - set(getattr(new, name))
        if _only_differs(old, new, name) and dropped and dropped <= set(getattr(own, name)):
            return f"the claim itself {name} it"
    return ""


def _same_line(old: Record, new: Record, claim: str) -> str:
    if not ("line" in (_head(old), *_inner(old)) and _only_differs(old, new, "value")):
        return ""
    seen = {str(record.expression).replace("along kept", "along removed") for record in (old, new)}
    return "a line is as straight seen from its other end" if len(seen) == 1 else ""


def _inner(record: Record) -> list[str]:
    return [node.name for node in walk(record.expression) if isinstance(node, Call)]


def _mark(old: Record, new: Record, claim: str) -> str:
    """Tell a system that is left out where it is what others are compared with."""
    dropped = {*old.but} - {*new.but}
    if not _only_differs(old, new, "but") or not dropped:
        return ""
    if not dropped <= {term.system for term in old.terms}:
        return ""
    ends = {old.region.least, old.region.most, old.region.above, old.region.below}
    itself = {0.0, 1.0} & ends  # its difference from itself, and its ratio to itself
    return "what is compared with itself lies where the region ends" if itself else ""


def _all_named(old: Record, new: Record, claim: str) -> str:
    """Tell that systems are named one by one where they are all that a grid has."""
    if old.systems != ("all",) or not _only_differs(old, new, "systems"):
        return ""
    same = _n_systems(old, claim) == _n_systems(new, claim)
    return "all systems, named one by one" if same else ""


RULES = (
    _mark,
    _all_named,
    _nothing_between,
    _no_case_between,
    _unmended,
    _same_tree,
    _no_interval,
    _claim_says_so,
    _same_line,
)


# -- judging them --------------------------------------------------------------------------------


_REFUSALS = (
    ConfigError, NotComputed, AttributeError, IndexError, KeyError, TypeError, ValueError
)  # fmt: skip
"""How an expression may fail that makes no sense."""


def killer(mutant: Mutant) -> str:
    """Name the first row whose verdict a mutant changes; empty if it survives them all."""
    criterion = criterion_of(mutant)
    assert criterion is not None, mutant
    _renew_lock(mutant, criterion)
    for row in _rows_for(mutant):
        try:
            found = fault(row, verdict_of(row, criterion))
        except _REFUSALS as error:
            found = f"{row}: {type(error).__name__}: {error}"
        if found:
            return found
    return ""


def _rows_for(mutant: Mutant) -> list[Row]:
    """The rows of the claim, those about the changed record first."""
    record = criteria()[mutant.claim].records[mutant.place]
    own = [row for row in rows() if row.claim == mutant.claim]
    about = [row for row in own if row.is_about(record, row.turn)]
    about.sort(key=lambda row: bool(row.claim_verdict))
    if mutant.what != "removed":
        criterion = criteria()[mutant.claim]
        claim_only = [row for row in own if row not in about and row.claim_verdict]
        return about + claim_only if criterion.records else about
    return about[:1] + own


def _renew_lock(mutant: Mutant, criterion: ClaimCriterion) -> None:
    """The old lock sees every mutant; what is tested is what remains when it was renewed."""
    locked = {mutant.claim: [criterion_digest(criteria()[mutant.claim].raw)]}
    try:
        check_locks({mutant.claim: criterion}, locked)
    except ConfigError:
        check_locks({mutant.claim: criterion}, renewed_locks({mutant.claim: criterion}, {}))
    else:
        raise AssertionError(f"the lock does not see {mutant}")


# -- the audit ------------------------------------------------------------------------------------

OTHER = (
    "Under AR, ordering the five systems by AP",
    "Under AR, ordering them by nDCG",
    "Under AR, ordering them by reciprocal rank",
    "Under AR, ordering them by recall",
    "Under 1R, ordering them by reciprocal rank",
    "Under 1R, ordering them by nDCG",
)
SIG = (
    "Under AR the largest Wilcoxon",
    "Under 1R with $|T|=100$",
    "Under 1R the largest $p$",
)

AUDIT: Mapping[str, Sequence[tuple[str, str, Raw]]] = {
    "C-RTEST, smallest rise: 1.3 -> 1.0": [
        ("BCC17-C-RTEST", "Among the user's own", {"least": 1.0})
    ],
    "C-RTEST, rise of Random: 20 -> 2": [],
    "C-OTHER: .6 -> 0, now .8 -> 0": [("BCC17-C-OTHER", part, {"least": 0}) for part in OTHER],
    "C-TIAI: .002 -> .02, now 10 % -> 100 %": [
        ("BCC17-C-TIAI", "From AI to TI precision", {"most": 1.0})
    ],
    "C-SIG: .001 -> .04": [("BCC17-C-SIG", part, {"below": 0.04}) for part in SIG],
    "F2C: without pLSA > Popularity": [
        ("BCC17-F2C", "Under 1R pLSA scores {a}, the best", {"without": "Popularity"})
    ],
    "F2C: without Popularity > MF": [
        ("BCC17-F2C", "Under 1R Popularity scores {a}", {"without": "MF (rating prediction)"})
    ],
    "F2C: without Popularity > kNN": [
        ("BCC17-F2C", "Under 1R Popularity scores {a}", {"without": "kNN (rating prediction)"})
    ],
    "F2C: without MF > Random, now Popularity > Random": [
        ("BCC17-F2C", "Under 1R Popularity scores {a}", {"without": "Random"})
    ],
    "F2C: without kNN > Random, now the last step of the shares beside": [
        ("BCC17-F2C", "Under 1R the order of all five", {"without": "Random"}),
        ("BCC17-F2C", "Under 1R, with MF and kNN as rankers", {"without": "Random"}),
    ],
    "F2C, largest value: .1 -> .2": [
        ("BCC17-F2C", "Under 1R the best system reaches", {"most": 2})
    ],
    "F2C, Random off 1/t: 3 -> 30 s.e.": [("BCC17-F2C", "Random scores {a}", {"most": 30})],
    "C-RANGE: 1.5 -> 1.0": [("BCC17-C-RANGE", "Popularity scores {least}", {"least": 1.0})],
    "F3L, last gap over first: .5 -> .9": [
        ("BCC17-F3L", "For {which}, with 90 % of the test ratings", {"most": 0.9})
    ],
    "F2A, Popularity: .075 -> 0": [("BCC17-F2A", "Popularity scores {value}", {"least": 0})],
}
"""The mutants of the audit of 2026-11 and what became of them. It names six kinds, and "links of an
order removed"; the others are the thresholds that its criteria had besides. The part on Random
under R_test was dropped, as the paper prints nothing on it: its mutant has no successor."""


def audited(name: str) -> list[Mutant]:
    """Make the mutants that stand for one of the audit."""
    found = []
    for claim, part, change in AUDIT[name]:
        criterion = criteria()[claim]
        (place,) = (
            number for number, r in enumerate(criterion.records) if r.finds.startswith(part)
        )
        raw = dict(criterion.raw[place])
        if "without" in change:
            raw["systems"] = [each for each in raw["systems"] if each != change["without"]]
        else:
            raw |= change
        assert raw != criterion.raw[place], name
        found.append(Mutant(claim, place, name, _with(criterion.raw, place, raw)))
    return found
