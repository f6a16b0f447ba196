"""Chapter 2, "Sparsity bias": BCC17 Section 4."""

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
from recbias.claims.sparsity_bias.setup import CHAPTER, REMOVED, metrics, protocols, target_sizes

FUNCTIONS: dict = {}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "CHAPTER",
    "DESIGNS",
    "FIGURE_4",
    "FUNCTIONS",
    "MARKED",
    "REMOVED",
    "figure_4",
    "figure_4_title",
    "joined",
    "kept_labels",
    "metrics",
    "protocols",
    "target_sizes",
    "thinned_shares",
    "thinned_title",
]
