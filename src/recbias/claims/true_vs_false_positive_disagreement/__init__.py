"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`); what is checked on data (`checks`): metrics (`metric_checks`) and variables
(`variables`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.true_vs_false_positive_disagreement.checks import false_positive_checks
from recbias.claims.true_vs_false_positive_disagreement.orders import OF_ORDERS
from recbias.claims.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    combined,
    compared,
    metrics,
    protocols,
)

FUNCTIONS: Mapping[str, Function] = {
    **OF_ORDERS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "SIMULATIONS",
    "combined",
    "compared",
    "false_positive_checks",
    "metrics",
    "protocols",
]
