"""What criteria and findings of chapter 3 compute over simulated worlds.

A table of worlds has in its first index column the *kind* of a world (an exponent, or a word), and
in its second its ``number``; worlds are independent draws, so that a mean over those of one kind
has an interval by Student's t. A term names a column of the table, the kinds that are meant, and a
system where there are several: ``P@10[0] of Popularity in skew``. ``*`` stands for all kinds, and
``>=0.8`` for exponents from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.quantities import extreme, folded, over_worlds
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity

_Kind = float | str
_Courses = dict[_Kind, "pd.Series[float]"]
_FROM = ">="


def _course(evidence: Evidence, term: Term) -> _Courses:
    """Find the values of a term by kind of world: a series by the number of the world."""
    table = evidence.made(term.table, term.edition or "")
    kind = table.index[0]
    rows: Any = table.frame
    if term.system:
        rows = rows[rows["system"] == term.system] if "system" in rows else rows[:0]
    rows = rows[[_is_meant(value, term.label) for value in rows[kind]]]
    if rows.empty or term.metric not in rows:
        raise NotComputed(f"{term}")
    number = "number" if "number" in rows else kind
    return {
        value: worlds.set_index(number)[term.metric].astype(float).sort_index()
        for value, worlds in rows.groupby(kind, sort=False)
    }


def _is_meant(kind: _Kind, label: str) -> bool:
    if label.startswith(_FROM):
        return float(kind) >= float(label.removeprefix(_FROM))
    return label in ("*", f"{kind:g}" if isinstance(kind, int | float) else kind)


def shared_worlds(evidence: Evidence, record: Record) -> dict[_Kind, list[pd.Series[float]]]:
    """Find the values of all terms by kind, for the worlds that all have."""
    courses = [_course(evidence, term) for term in record.of]
    whole = len({term.label for term in record.of}) == 1
    shared = {}
    for place, kind in enumerate(courses[0]):
        # Terms of one label go together kind by kind; others name one kind each.
        by_term = [course[kind] if whole else list(course.values())[place] for course in courses]
        joined = pd.concat(by_term, axis=1, join="inner")
        shared[kind] = [joined.iloc[:, column] for column in range(len(by_term))]
    for term, course in zip(record.of, courses, strict=True):
        value = float(np.mean([series.mean() for series in course.values()]))
        evidence.note(term.table, str(term), value, term.edition or "")
    return shared


def combined_worlds(combine: Callable[..., pd.Series[float]]) -> Function:
    """Make a function of criteria that combines its terms world by world, and averages."""

    def function(evidence: Evidence, record: Record) -> Quantity:
        shared = shared_worlds(evidence, record)
        means = {str(kind): over_worlds(combine(*series)) for kind, series in shared.items()}
        return extreme(means, largest=record.take == "largest")[1]

    return function


def _apart(evidence: Evidence, record: Record) -> Quantity:
    """Tell how far the first term is from the second, relative to it; of several kinds the most."""
    shared = shared_worlds(evidence, record)
    distances = {str(kind): folded(over_worlds(a / b - 1)) for kind, (a, b) in shared.items()}
    return extreme(distances, largest=True)[1]


def _rise(evidence: Evidence, record: Record) -> Quantity:
    """Average the growth from one kind to the next, world by world; the smallest of all terms."""
    steps = {}
    for place, term in enumerate(record.of):
        for (low, a), (high, b) in pairwise(sorted(_course(evidence, term).items())):
            steps[f"{place} {low} {high}"] = over_worlds((b - a).dropna())
        evidence.note(term.table, f"steps of {term}", float(len(steps)), term.edition or "")
    return extreme(steps, largest=False)[1]


def _growth(evidence: Evidence, record: Record) -> Quantity:
    """Average the ratio of the last kind to the first, world by world."""
    (term,) = record.of
    course = _course(evidence, term)
    for kind in (min(course), max(course)):
        what = f"{term.metric} at {kind:g}"
        evidence.note(term.table, what, float(course[kind].mean()), term.edition or "")
    return over_worlds((course[max(course)] / course[min(course)]).dropna())


def _alike(evidence: Evidence, record: Record) -> Quantity:
    """Correlate the course of the first term over the kinds with that of each other one."""
    wide = [pd.DataFrame(_course(evidence, term)).dropna() for term in record.of]
    correlations = {
        str(term): over_worlds(wide[0].corrwith(other, axis=1))
        for term, other in zip(record.of[1:], wide[1:], strict=True)
    }
    for name, quantity in correlations.items():
        evidence.note(record.of[0].table, f"correlation with {name}", quantity.value)
    return extreme(correlations, largest=False)[1]


def _in_every_world(evidence: Evidence, record: Record) -> float:
    """Take the largest or smallest of all worlds: of a term, or of the first minus the second."""
    by_kind = [
        terms[0] if len(terms) == 1 else terms[0] - terms[1]
        for terms in shared_worlds(evidence, record).values()
    ]
    values = np.concatenate([series.to_numpy() for series in by_kind])
    return float(values.max() if record.take == "largest" else values.min())


OF_WORLDS: Mapping[str, Function] = {
    "of_worlds": combined_worlds(lambda a: a),
    "difference_of_worlds": combined_worlds(lambda a, b: a - b),
    "ratio_of_worlds": combined_worlds(lambda a, b: a / b),
    "apart_in_worlds": _apart,
    "rise_in_worlds": _rise,
    "growth_in_worlds": _growth,
    "course_in_worlds": _alike,
    "every_world": _in_every_world,
}
"""By the name that a record gives them."""
