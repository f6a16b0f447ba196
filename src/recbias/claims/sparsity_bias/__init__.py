"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`), what its figures show (`panels`), what its criteria compute
(`criteria`). What the paper says of all systems, or of none, is checked on data (`checks`). How
many sampled negatives are enough: the order of systems at every size of target sets (`negatives`),
and what follows from it (`turns`). How many judgments are enough (`densities`).
"""

from collections.abc import Mapping

from recbias.claims.combinators import Function
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
from recbias.claims.sparsity_bias.checks import sparsity_checks
from recbias.claims.sparsity_bias.criteria import FUNCTIONS as OF_CRITERIA
from recbias.claims.sparsity_bias.densities import densities_parameters
from recbias.claims.sparsity_bias.negatives import drawn_parameters
from recbias.claims.sparsity_bias.panels import (
    FIGURE_4,
    MARKED,
    OF_DENSITIES,
    densities_table,
    figure_4,
    figure_4_title,
    joined,
    kept_labels,
    list_shares,
    list_shares_title,
    metric_slopes,
    metric_slopes_title,
    predictions,
    predictions_title,
    saturation_panels,
    saturation_title,
    told_apart,
    told_apart_title,
)
from recbias.claims.sparsity_bias.saturation import SATURATION
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

FUNCTIONS: Mapping[str, Function] = {
    **OF_CRITERIA,
    **OF_NEGATIVES,
    **OF_DENSITIES,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "BASELINES",
    "CHAPTER",
    "FIGURE_4",
    "FLOOR",
    "FUNCTIONS",
    "MARKED",
    "REMOVED",
    "SATURATION",
    "baseline_grid",
    "baselines",
    "combined",
    "densities_parameters",
    "densities_table",
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
    "predictions",
    "predictions_table",
    "predictions_title",
    "protocols",
    "removed_label",
    "saturation_panels",
    "saturation_title",
    "sparsity_checks",
    "target_sizes",
    "told_apart",
    "told_apart_title",
    "turns_title",
]
