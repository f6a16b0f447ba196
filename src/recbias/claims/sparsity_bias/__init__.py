"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`), and what its figures show (`panels`), what its criteria
compute (`criteria`).
"""

from recbias.claims.design_alternatives import REMOVED, largest_sample, target_sizes
from recbias.claims.non_personalised import (
    BASELINES,
    FLOOR,
    baseline_grid,
    baselines,
    measured_beside_predicted,
    predictions_table,
)
from recbias.claims.predictions import predicted
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
    "BASELINES",
    "CHAPTER",
    "FIGURE_4",
    "FLOOR",
    "FUNCTIONS",
    "MARKED",
    "REMOVED",
    "baseline_grid",
    "baselines",
    "combined",
    "figure_4",
    "figure_4_title",
    "joined",
    "kept_labels",
    "largest_sample",
    "list_shares",
    "list_shares_title",
    "measured_beside_predicted",
    "metric_slopes",
    "metric_slopes_title",
    "metrics",
    "predicted",
    "predictions_table",
    "protocols",
    "removed_label",
    "target_sizes",
]
