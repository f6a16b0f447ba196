"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`), what its figures show (`panels`), and what its criteria compute
(`criteria`). How many sampled negatives are enough: the order of systems at every size of target
sets (`negatives`), and what follows from it (`turns`). How many judgments are enough (`densities`).
What the paper says of all systems, or of none, is checked on data (`checks`).
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
from recbias.claims.sparsity_bias import criteria
from recbias.claims.sparsity_bias.checks import sparsity_checks
from recbias.claims.sparsity_bias.densities import densities_parameters
from recbias.claims.sparsity_bias.negatives import drawn_parameters
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
from recbias.claims.sparsity_bias.turns import (
    OF_NEGATIVES,
    enough,
    negatives_quoted,
    negatives_table,
    negatives_title,
    turns_title,
)

FUNCTIONS = {**criteria.FUNCTIONS, **OF_NEGATIVES}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

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
    "densities_parameters",
    "drawn_parameters",
    "enough",
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
    "negatives_quoted",
    "negatives_table",
    "negatives_title",
    "predicted",
    "predictions_table",
    "protocols",
    "removed_label",
    "sparsity_checks",
    "target_sizes",
    "turns_title",
]
