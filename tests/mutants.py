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
from recbias.claims.evidence import axis_terms
from recbias.claims.ledger import TOPICS
from recbias.claims.lock import check_locks, criterion_digest, renewed_locks
from recbias.claims.records import ClaimCriterion, Record, Region, Term, criteria_of
from recbias.claims.topics import find_judged
from recbias.errors import ConfigError
from recbias.experiment.run import is_named
from recbias.recommenders import line_up

Raw = Mapping[str, Any]

ENDS = ("least", "most", "above", "below")
OTHER_KIND = {"least": "above", "above": "least", "most": "below", "below": "most"}
ALIKE = (
    ("difference", "ratio", "deviation", "range"),
    ("tau", "opposed", "distinct", "reversed"),
    ("steps", "change", "slope", "line", "rise", "steeper"),
)
"""Measures that can stand for each other."""


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
    yield from _other_terms(raw, record, topic_of(criterion.claim))
    yield from _other_systems(raw, record, topic_of(criterion.claim))
    yield from _other_options(raw, record)
    yield from _other_names(raw, record, criterion)


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


def _other_terms(raw: Raw, record: Record, topic: str) -> Iterator[tuple[str, Raw]]:
    terms = [str(term) for term in record.of]
    for place, term in enumerate(record.of):
        for other in _neighbours(term, topic):
            changed = [*terms[:place], str(other), *terms[place + 1 :]]
            yield f"{term} -> {other}", {**raw, "of": changed}
        if len(terms) > 1:
            yield f"{term} dropped", {**raw, "of": terms[:place] + terms[place + 1 :]}
    if len(terms) > 1:
        yield "terms exchanged", {**raw, "of": [*terms[1:], terms[0]]}
    if record.per:
        yield "per dropped", {**raw, "per": None}
        for other in _neighbours(record.per, topic):
            yield f"per {record.per} -> {other}", {**raw, "per": str(other)}


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


def _other_systems(raw: Raw, record: Record, topic: str) -> Iterator[tuple[str, Raw]]:
    table = record.of[0].table if record.of else "systems"
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
        if record.measure == "share":
            if place:
                order = [*listed[: place - 1], name, listed[place - 1], *listed[place + 1 :]]
                yield f"{name} one place up", {**raw, "systems": order}
            continue
        for other in names:
            if other not in listed:
                changed = [*listed[:place], other, *listed[place + 1 :]]
                yield f"{name} -> {other}", {**raw, "systems": changed}


def _other_options(raw: Raw, record: Record) -> Iterator[tuple[str, Raw]]:
    for group in ALIKE:
        if record.measure in group:
            for measure in group:
                yield f"{record.measure} -> {measure}", {**raw, "measure": measure}
    if record.systems and record.measure in (*ALIKE[0], *ALIKE[2], "value"):
        for take in ("each", "largest", "smallest", "median"):
            yield f"take {record.take} -> {take}", {**raw, "take": take}
    if record.along:
        for along in (["removed"], ["kept"], ["size"], ["removed", "size"], ["size", "removed"]):
            if tuple(along) != record.along:
                yield f"along {along}", {**raw, "along": along}
    if record.measure == "steps":
        yield "rises", {**raw, "rises": not record.rises}
    if record.unit_of_test:
        other = {"user": "run", "run": "user"}[record.unit_of_test]
        yield f"per {other}", {**raw, "unit_of_test": other}
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


def _other_names(raw: Raw, record: Record, criterion: ClaimCriterion) -> Iterator[tuple[str, Raw]]:
    if record.measure == "function":
        judged = find_judged(topic_of(criterion.claim))
        others = list(judged.functions) if judged else []
    else:
        others = [each.name for each in criterion.records if each.measure == record.measure]
    for other in others if record.name else ():
        yield f"{record.name} -> {other}", {**raw, "name": other}


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
    if old.measure == "tau" or old.name == "steadier":
        # Ends of its interval are (S +- m) / pairs, S + m being even or odd as the pairs are; of
        # the difference of two they are twice as far apart at most.
        n_systems = _n_systems(old, claim)
        pairs = n_systems * (n_systems - 1) // 2
        least = -pairs if old.measure == "tau" else -2 * pairs
        values = [number / pairs for number in range(least, -least + 1, 2)]
    elif old.name == "tau_p":
        n_systems = _n_systems(old, claim)
        pairs = n_systems * (n_systems - 1) // 2
        taus = [number / pairs for number in range(pairs % 2, pairs + 1, 2)]
        values = [kendall_p(tau, n_systems) for tau in taus]
    elif old.unit == "count" and not old.exact:
        values = [float(number) for number in range(100)]
    elif old.name in _IN_ERRORS:
        same = _ends(old.region) == _ends(new.region)
        return "a distance in standard errors is at an end itself with no chance" if same else ""
    else:
        return ""
    same = all(_sides(old.region, value) == _sides(new.region, value) for value in values)
    return "no value that it can take lies between the two ends" if same else ""


def _n_systems(record: Record, claim: str) -> int:
    """Count the systems that a record goes over; ``all`` are those of its first quantity's grid."""
    known = [system.name for system in grid_of(topic_of(claim), record.of[0].table).systems]
    patterns = ["*" if name == "all" else name for name in record.systems]
    found = {name for each in patterns for name in fnmatch.filter(known, each)}
    return len(found - set(record.but))


_IN_ERRORS = ("errors_apart_in_worlds", "errors_apart_in_draws")
"""Functions that divide a distance by its standard error."""


def _ends(region: Region) -> tuple[float, float]:
    return max(region.least, region.above), min(region.most, region.below)


def _sides(region: Region, value: float) -> str:
    return region.verdict(value, value)


def _unmended(old: Record, new: Record, claim: str) -> str:
    if not _only_differs(old, new, "corrected") or new.corrected:
        return ""
    mended = any(record.corrects for record in criteria()[claim].records)
    return "" if mended else "the claim has no corrected form, from which a record could be missing"


_SYMMETRIC = (
    "range_beyond_rho",
    "of_table",
    "off_printed",
    "on_worlds",
    "share_of_pairs",
    "lemma_violations",
    "tau_p",
    "over_percentiles",
    *_IN_ERRORS,
)
"""Functions that take the extreme of their terms, or the sum, or the same of either order."""


def _either_order(old: Record, new: Record, claim: str) -> str:
    if not _only_differs(old, new, "of") or sorted(map(str, old.of)) != sorted(map(str, new.of)):
        return ""
    if old.measure in ("tau", "opposed", "range") or old.name in _SYMMETRIC:
        return "symmetric in its terms"
    if old.name == "steadier" and old.of[0].metric == new.of[0].metric:
        return "symmetric in the terms of either metric"
    if old.measure == "distinct":
        return "two ratios differ where their inverses do"
    if old.measure == "change" and not old.per:
        return "the sign of a gap cancels in its share of another"
    if old.name == "gap_ratio" and old.of[0] == old.of[2] and new.of == (*old.of[1:], old.of[0]):
        return "the signs of two gaps from one end cancel"
    return ""


def _same_metric(old: Record, new: Record, claim: str) -> str:
    if not _only_differs(old, new, "of") or len(old.of) != len(new.of):
        return ""
    written_out = tuple(
        dataclasses.replace(one, metric=other.metric)
        if _metric_of(one, claim) == _metric_of(other, claim)
        else one
        for one, other in zip(old.of, new.of, strict=True)
    )
    return "the one metric under the label that it names" if written_out == new.of else ""


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
    # "predicted" are counts of items and lists, which resampling leaves alone.
    known = ("of_ceiling", "predicted")
    if old.measure in ("check", "statistic", "significance") or old.name in known:
        return "a number without an interval is exact"
    if old.measure == "function" and not any(
        measured(topic_of(claim), term.table) for term in old.of
    ):
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


def _same_course(old: Record, new: Record, claim: str) -> str:
    if old.measure == "line" and _only_differs(old, new, "along"):
        if {*old.along, *new.along} == {"kept", "removed"}:
            return "a line is as straight seen from its other end"
        return ""
    if not old.along or not (_only_differs(old, new, "of") or _only_differs(old, new, "per")):
        return ""
    (axis,) = old.along if len(old.along) == 1 else ("",)
    pairs = [*zip(old.of, new.of, strict=False), (old.per, new.per)]
    if not axis or len(old.of) != len(new.of):
        return ""
    courses = (
        [axis_terms(grid_of(topic_of(claim), term.table), axis, term) for term in pair]
        for pair in pairs
        if all(pair)
    )
    same = all(
        [str(step) for step in a.values()] == [str(step) for step in b.values()] for a, b in courses
    )
    return "a course is the same, whichever of its places names it" if same else ""


def _mark(old: Record, new: Record, claim: str) -> str:
    """Tell a system that is left out where it is what others are compared with."""
    if old.name == "least_gain" and _only_differs(old, new, "but"):
        same = {*old.but} - {*new.but} == {"Popularity"}
        return "Popularity over itself is 1, where the region ends" if same else ""
    if old.name not in ("systems_above", "systems_below") or not _only_differs(old, new, "but"):
        return ""
    return "no system is above or below itself" if new.but == (old.of[1].system,) else ""


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
    _unmended,
    _either_order,
    _same_metric,
    _no_interval,
    _claim_says_so,
    _same_course,
)


# -- judging them --------------------------------------------------------------------------------


def killer(mutant: Mutant) -> str:
    """Name the first row whose verdict a mutant changes; empty if it survives them all."""
    criterion = criterion_of(mutant)
    assert criterion is not None, mutant
    _renew_lock(mutant, criterion)
    for row in _rows_for(mutant):
        try:
            found = fault(row, verdict_of(row, criterion))
        except (ConfigError, KeyError, ValueError, IndexError, TypeError) as error:
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
    "F2C, Random off 1/t: 3 -> 30 s.e., now 5 % -> 50 %": [
        ("BCC17-F2C", "Random scores {a}", {"most": 0.5})
    ],
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
