"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`), and what its figures show (`panels`). What the paper says of all
systems, or of none, is checked on data (`checks`).
"""

from collections.abc import Mapping

from recbias.claims.combinators import Function
from recbias.claims.design_alternatives import largest_sample, target_sizes
from recbias.claims.sparsity_bias.checks import sparsity_checks
from recbias.claims.sparsity_bias.panels import (
    DESIGNS,
    FIGURE_4,
    MARKED,
    figure_4,
    figure_4_title,
    joined,
    kept_labels,
    thinned_shares,
    thinned_title,
)
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
    "DESIGNS",
    "FIGURE_4",
    "FUNCTIONS",
    "MARKED",
    "REMOVED",
    "combined",
    "figure_4",
    "figure_4_title",
    "joined",
    "kept_labels",
    "largest_sample",
    "metrics",
    "protocols",
    "removed_label",
    "sparsity_checks",
    "target_sizes",
    "thinned_shares",
    "thinned_title",
]
