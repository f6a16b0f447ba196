"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`), what its figures show (`panels`), what its criteria compute
(`criteria`). What the paper says of all systems, or of none, is checked on data (`checks`).
"""

from recbias.claims.design_alternatives import REMOVED, largest_sample, target_sizes
from recbias.claims.sparsity_bias.checks import sparsity_checks
from recbias.claims.sparsity_bias.criteria import FUNCTIONS
from recbias.claims.sparsity_bias.panels import (
    FIGURE_4,
    MARKED,
    figure_4,
    figure_4_title,
    joined,
    kept_labels,
    list_shares,
    list_shares_title,
    metric_slopes,
    metric_slopes_title,
)
from recbias.claims.sparsity_bias.setup import (
    CHAPTER,
    combined,
    metrics,
    protocols,
    removed_label,
)

__all__ = [
    "CHAPTER",
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
    "list_shares",
    "list_shares_title",
    "metric_slopes",
    "metric_slopes_title",
    "metrics",
    "protocols",
    "removed_label",
    "sparsity_checks",
    "target_sizes",
]
