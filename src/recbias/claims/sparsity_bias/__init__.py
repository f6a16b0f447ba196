"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`).
"""

from collections.abc import Mapping

from recbias.claims.combinators import Function
from recbias.claims.design_alternatives import largest_sample, target_sizes
from recbias.claims.sparsity_bias.setup import (
    CHAPTER,
    REMOVED,
    combined,
    metrics,
    protocols,
    removed_label,
)

FUNCTIONS: Mapping[str, Function] = {}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "REMOVED",
    "combined",
    "largest_sample",
    "metrics",
    "protocols",
    "removed_label",
    "target_sizes",
]
