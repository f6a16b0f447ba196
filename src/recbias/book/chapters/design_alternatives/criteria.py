"""What criteria and findings of chapter 1 compute that has no combinator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence
from recbias.claims.quantities import spread
from recbias.claims.records import Record
from recbias.errors import ConfigError
from recbias.experiment.results import Quantity
from recbias.metrics import parse_metric


def _of_ceiling(evidence: Evidence, record: Record) -> float:
    """Tell what share of 1/n, the most that one relevant item allows, the best system reaches."""
    (term,) = record.of
    cutoff = parse_metric(evidence.metric(term)).cutoff
    if cutoff is None:
        raise ConfigError("1RP without a cutoff has no ceiling")
    systems = evidence.systems(record)
    return cutoff * max(evidence.quantity(term, system=name).value for name in systems)


def _errors_of_sharing(evidence: Evidence, record: Record) -> float:
    """Compare standard errors: the largest ratio of those of two quantities over systems."""
    ratios = []
    for name in evidence.systems(record):
        one, other = (
            float(np.std(evidence.quantity(term, system=name).drawn, ddof=1)) for term in record.of
        )
        ratios.append(one / other if other else np.nan)
    return float(np.max(ratios))


def _range_beyond_rho(evidence: Evidence, record: Record) -> Quantity:
    """Compare the range of P over rho with that of P: below 1 if rho explains part of it."""
    plain = [evidence.quantity(term) for term in record.of]
    rho = [evidence.quantity(dataclasses.replace(term, metric="rho")) for term in record.of]
    return spread(a / b for a, b in zip(plain, rho, strict=True)) / spread(plain)


def _ratio_of_ratios(evidence: Evidence, record: Record) -> Quantity:
    """Divide the ratio of the first two quantities by that of the other two."""
    a, b, c, d = (evidence.quantity(term) for term in record.of)
    return (a / b) / (c / d)


def _rho_by_product(evidence: Evidence, record: Record) -> float:
    """Divide rho, the mean of ratios, by the product that Eq. 4 puts in its place."""
    sigma, delta = (evidence.statistic(f"{name}[TI]") for name in ("sigma", "delta"))
    (term,) = record.of
    return evidence.quantity(term).value / (sigma * delta)


FUNCTIONS: Mapping[str, Function] = {
    "of_ceiling": _of_ceiling,
    "errors_of_sharing": _errors_of_sharing,
    "range_beyond_rho": _range_beyond_rho,
    "ratio_of_ratios": _ratio_of_ratios,
    "rho_by_product": _rho_by_product,
}
"""By the name that a record gives them."""
