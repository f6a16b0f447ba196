"""What criteria and findings read from the tables of chapter 5: rows by their names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence
from recbias.claims.quantities import extreme
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity


def _row(evidence: Evidence, term: Term) -> Quantity:
    """Read a row by the names of its index, in order: ``value[Gini, p(train)] in items``."""
    index = evidence.made(term.table, term.edition or "").index
    names = dict(zip(index, term.label.split(", "), strict=True))
    return evidence.of_table(term.table, names, term.edition or "")


def _of_table(evidence: Evidence, record: Record) -> Quantity:
    """Return a row; of several the extreme that is asked for."""
    rows = {str(term): _row(evidence, term) for term in record.of}
    if len(rows) == 1:
        return next(iter(rows.values()))
    return extreme(rows, largest=record.take == "largest")[1]


def _ratio(evidence: Evidence, record: Record) -> Quantity:
    """Divide one row by another."""
    first, second = (_row(evidence, term) for term in record.of)
    return first / second


def _dominance(evidence: Evidence, record: Record) -> Quantity:
    """Take two rows at a time, each without its sign: by how much the first is the larger."""
    rows = [_unsigned(_row(evidence, term)) for term in record.of]
    leads = {str(at): rows[at] - rows[at + 1] for at in range(0, len(rows), 2)}
    return extreme(leads, largest=False)[1]


def _unsigned(signed: Quantity) -> Quantity:
    return Quantity(abs(signed.value), np.abs(signed.drawn))


OF_TABLES: Mapping[str, Function] = {
    "of_table": _of_table,
    "ratio_of_table": _ratio,
    "dominance_in_table": _dominance,
}
"""By the name that a record gives them."""
