"""What criteria of chapter 7 compute of measured quantities, a list of terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from recbias.claims.combinators import Function, of_orders
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.quantities import extreme
from recbias.claims.records import Record
from recbias.experiment.results import Quantity


def _quantities(evidence: Evidence, record: Record) -> list[Quantity]:
    return [evidence.quantity(term) for term in record.of]


def _extreme(quantities: Sequence[Quantity], *, largest: bool) -> Quantity:
    return extreme(
        {str(place): quantity for place, quantity in enumerate(quantities)}, largest=largest
    )[1]


def _differences(evidence: Evidence, record: Record) -> list[Quantity]:
    """Subtract the second of each two terms from the first."""
    quantities = _quantities(evidence, record)
    if len(quantities) % 2:
        raise NotComputed("pairs of quantities")
    return [a - b for a, b in zip(quantities[::2], quantities[1::2], strict=True)]


@of_orders
def _least_difference(evidence: Evidence, record: Record) -> Quantity:
    """Read the smallest of a1 - b1, a2 - b2, ..."""
    return _extreme(_differences(evidence, record), largest=False)


@of_orders
def _largest_difference(evidence: Evidence, record: Record) -> Quantity:
    """Read the largest of a1 - b1, a2 - b2, ..."""
    return _extreme(_differences(evidence, record), largest=True)


def _rises(evidence: Evidence, record: Record) -> Quantity:
    """Read the smallest rise from term to term."""
    steps = [b - a for a, b in pairwise(_quantities(evidence, record))]
    return _extreme(steps, largest=False)


def _falls(evidence: Evidence, record: Record) -> Quantity:
    """Read the smallest fall from term to term."""
    steps = [a - b for a, b in pairwise(_quantities(evidence, record))]
    return _extreme(steps, largest=False)


def _largest(evidence: Evidence, record: Record) -> Quantity:
    return _extreme(_quantities(evidence, record), largest=True)


def _smallest(evidence: Evidence, record: Record) -> Quantity:
    return _extreme(_quantities(evidence, record), largest=False)


@of_orders
def _shift(evidence: Evidence, record: Record) -> Quantity:
    """Read (a - b) - (c - d) of four terms: by how much a decision moves a difference."""
    first, second = _differences(evidence, record)
    return first - second


OF_TERMS: Mapping[str, Function] = {
    "falls_through": _falls,
    "largest_difference": _largest_difference,
    "largest_of": _largest,
    "least_difference": _least_difference,
    "rises_through": _rises,
    "shift": _shift,
    "smallest_of": _smallest,
}
"""By the name that a record gives them."""
