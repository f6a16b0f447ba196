"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`). What a uniform test takes from data, and what
follows from that (`uniform_tests`), and what rankings that are the same for all users score in it
(`uniform_rankings`). What bpref, infAP and stratified recall are (`incomplete`), by ranks of the
systems (`ranked`), and what criteria compute over systems by them (`figure_9`); all that is checked
on data (`checks`). In worlds, whether weights undo which liked items are rated (`steck`), and which
gamma orders systems best (`best_gamma`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims import design_alternatives
from recbias.claims.combinators import Function
from recbias.claims.non_personalised import FUNCTIONS as OF_PREDICTIONS
from recbias.claims.non_personalised import baseline_grid, baselines
from recbias.claims.overcoming_popularity_bias.best_gamma import (
    OF_GAMMA,
    best_gamma_title,
    best_gammas,
    best_gammas_table,
    gamma_courses,
)
from recbias.claims.overcoming_popularity_bias.checks import remedy_checks
from recbias.claims.overcoming_popularity_bias.figure_9 import OF_FIGURE_9
from recbias.claims.overcoming_popularity_bias.setup import (
    CHAPTER,
    FIGURE_8,
    GAMMAS,
    levelled_sample,
    metrics,
    protocols,
    setting_grid,
    threshold_grid,
    uniform_metrics,
    uniform_protocols,
)
from recbias.claims.overcoming_popularity_bias.steck import (
    OF_STECK,
    STECK,
    steck_errors,
    steck_title,
)
from recbias.claims.overcoming_popularity_bias.uniform_rankings import (
    OF_UNIFORM,
    uniform_predicted,
)
from recbias.claims.overcoming_popularity_bias.uniform_tests import uniform_plans, uniform_table

FUNCTIONS: Mapping[str, Function] = {
    **{name: OF_PREDICTIONS[name] for name in ("off_prediction", "over_prediction")},
    "ratio_of_overs": OF_PREDICTIONS["ratio_of_overs"],
    "ratio_of_ratios": design_alternatives.FUNCTIONS["ratio_of_ratios"],
    **OF_UNIFORM,
    **OF_FIGURE_9,
    **OF_GAMMA,
    **OF_STECK,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"steck": STECK}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FIGURE_8",
    "FUNCTIONS",
    "GAMMAS",
    "SIMULATIONS",
    "STECK",
    "baseline_grid",
    "baselines",
    "best_gamma_title",
    "best_gammas",
    "best_gammas_table",
    "gamma_courses",
    "levelled_sample",
    "metrics",
    "protocols",
    "remedy_checks",
    "setting_grid",
    "steck_errors",
    "steck_title",
    "threshold_grid",
    "uniform_metrics",
    "uniform_plans",
    "uniform_predicted",
    "uniform_protocols",
    "uniform_table",
]
