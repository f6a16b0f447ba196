"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.true_vs_false_positive_disagreement.orders import OF_ORDERS
from recbias.claims.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    combined,
    compared,
    metrics,
    protocols,
)
from recbias.claims.true_vs_false_positive_disagreement.trusted import (
    OF_TRUST,
    TRUST,
    TRUST_ANSWERS,
    calibration,
    trust_table,
)

FUNCTIONS: Mapping[str, Function] = {
    **OF_ORDERS,
    **OF_TRUST,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "trust": TRUST,
    "trust_answers": TRUST_ANSWERS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "SIMULATIONS",
    "TRUST",
    "TRUST_ANSWERS",
    "calibration",
    "combined",
    "compared",
    "metrics",
    "protocols",
    "trust_table",
]
