"""What criteria on percentiles, head removal and uniform tests compute that has no combinator.

Most compare what a system has over Random, whose expectation is exact, under two tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from recbias.book.chapters import design_alternatives
from recbias.book.chapters.overcoming_popularity_bias.kept import share_of
from recbias.book.non_personalised import FUNCTIONS as OF_PREDICTIONS
from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.quantities import share_of_orders
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity

_ONE = Quantity(1.0, np.ones(1))


def _left(a: Quantity, random_a: Quantity, b: Quantity, random_b: Quantity) -> Quantity:
    """Divide what a value has over Random, relative to Random, by the same of another.

    Examples
    --------
    >>> three, two, one = (Quantity(v, v * np.ones(2)) for v in (3.0, 2.0, 1.0))
    >>> _left(two, one, three, one).value, _left(two, one, one, one).value
    (0.5, nan)
    """
    return share_of(a / random_a - _ONE, b / random_b - _ONE)


def _excess_left(evidence: Evidence, record: Record) -> Quantity:
    """Tell what share of its lead over Random, relative to Random, a system keeps."""
    a, random_a, b, random_b = (evidence.quantity(term) for term in record.of)
    return _left(a, random_a, b, random_b)


def _excess_left_apart(evidence: Evidence, record: Record) -> Quantity:
    """Subtract from the share of one remedy, in the first four terms, that of another."""
    quantities = [evidence.quantity(term) for term in record.of]
    return _left(*quantities[:4]) - _left(*quantities[4:])


def _excess_left_ratio(evidence: Evidence, record: Record) -> Quantity:
    """Divide the share that one system keeps, in the first four terms, by that of another."""
    quantities = [evidence.quantity(term) for term in record.of]
    return share_of(_left(*quantities[:4]), _left(*quantities[4:]))


def _share(evidence: Evidence, record: Record, *, first: bool) -> Quantity:
    """Compute in what share of combinations of settings one system is first, or last."""
    (term,) = record.of
    alone, *groups = (evidence.expand((name,), term) for name in record.systems)
    shares = []
    for group in groups:
        values = {name: evidence.quantity(term, system=name) for name in (*alone, *group)}
        shares.append(share_of_orders(values, (alone, group) if first else (group, alone)))
    ends = [prod(share.interval[end] for share in shares) for end in (0, 1)]
    return Quantity(prod(share.value for share in shares), None, limits=(ends[0], ends[1]))


def _share_first(evidence: Evidence, record: Record) -> Quantity:
    return _share(evidence, record, first=True)


def _share_last(evidence: Evidence, record: Record) -> Quantity:
    return _share(evidence, record, first=False)


def _agreement(evidence: Evidence, term: Term) -> tuple[float, float, float]:
    """Read how far an order agrees with the true one: tau, and the ends of its interval."""
    frame = evidence.made(term.table, term.edition or "").frame
    rows = frame[(frame["truth"] == term.metric) & (frame["protocol"] == term.label)]
    if len(rows) != 1:
        raise NotComputed(f"{term}")
    value, low, high = (float(rows[name].iloc[0]) for name in ("value", "low", "high"))
    evidence.note(term.table, f"{term.label} by true {term.metric}", value)
    return value, low, high


def _truer(evidence: Evidence, record: Record) -> Quantity:
    """Compare how far two orders agree with the true one.

    Of several truths the worst comparison.
    """
    differences = []
    for term, other in zip(record.of[::2], record.of[1::2], strict=True):
        (a, low_a, high_a), (b, low_b, high_b) = (_agreement(evidence, t) for t in (term, other))
        differences.append((a - b, low_a - high_b, high_a - low_b))
    value, low, high = (min(ends) for ends in zip(*differences, strict=True))
    return Quantity(value, None, limits=(low, high))


OF_REMEDIES: Mapping[str, Function] = {
    "excess_left": _excess_left,
    "excess_left_apart": _excess_left_apart,
    "excess_left_ratio": _excess_left_ratio,
    "share_first": _share_first,
    "share_last": _share_last,
    "truer": _truer,
    "gap_ratio": OF_PREDICTIONS["gap_ratio"],
    "ratio_of_ratios": design_alternatives.FUNCTIONS["ratio_of_ratios"],
}
"""By the name that a record gives them."""
