"""Figures of the book, one function per kind; published and measured values side by side."""

from recbias.plotting.concentration import (
    plot_lorenz,
    plot_rank_map,
    plot_tau_matrix,
    plot_trajectories,
)
from recbias.plotting.designs import (
    plot_designs,
    plot_ranks,
    plot_target_sets,
    plot_truth,
    plot_values,
)
from recbias.plotting.false_positives import (
    plot_item_curves,
    plot_item_functions,
    plot_over_skew,
    plot_tau_maps,
    plot_two_metrics,
)
from recbias.plotting.judgments import plot_judgments
from recbias.plotting.lemma import plot_bounds, plot_gaps
from recbias.plotting.negatives import plot_enough, plot_orders
from recbias.plotting.options import (
    plot_configurations,
    plot_option_lines,
    plot_reversals,
    plot_significance,
)
from recbias.plotting.popularity import (
    plot_chain,
    plot_cumulative,
    plot_exponents,
    plot_rankings,
    plot_relations,
    plot_skew,
    plot_skew_shares,
    plot_sure_bounds,
)
from recbias.plotting.protocols import plot_best_protocols, plot_over_relations
from recbias.plotting.remedies import (
    plot_causes,
    plot_gammas,
    plot_positive_ratios,
    plot_protocols,
    plot_remedies,
    plot_two_tests,
)
from recbias.plotting.settings import plot_ranges, plot_readings, plot_settings
from recbias.plotting.sparsity import (
    plot_courses,
    plot_list_shares,
    plot_metric_slopes,
    plot_predictions,
    plot_told_apart,
)
from recbias.plotting.style import FONT_SIZE, WIDTH, downloads, use_book_style
from recbias.plotting.trust import plot_answers, plot_calibration

__all__ = [
    "FONT_SIZE",
    "WIDTH",
    "downloads",
    "plot_answers",
    "plot_best_protocols",
    "plot_bounds",
    "plot_calibration",
    "plot_causes",
    "plot_chain",
    "plot_configurations",
    "plot_courses",
    "plot_cumulative",
    "plot_designs",
    "plot_enough",
    "plot_exponents",
    "plot_gammas",
    "plot_gaps",
    "plot_item_curves",
    "plot_item_functions",
    "plot_judgments",
    "plot_list_shares",
    "plot_lorenz",
    "plot_metric_slopes",
    "plot_option_lines",
    "plot_orders",
    "plot_over_relations",
    "plot_over_skew",
    "plot_positive_ratios",
    "plot_predictions",
    "plot_protocols",
    "plot_ranges",
    "plot_rank_map",
    "plot_rankings",
    "plot_ranks",
    "plot_readings",
    "plot_relations",
    "plot_remedies",
    "plot_reversals",
    "plot_settings",
    "plot_significance",
    "plot_skew",
    "plot_skew_shares",
    "plot_sure_bounds",
    "plot_target_sets",
    "plot_tau_maps",
    "plot_tau_matrix",
    "plot_told_apart",
    "plot_trajectories",
    "plot_truth",
    "plot_two_metrics",
    "plot_two_tests",
    "plot_values",
    "use_book_style",
]
