"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`). What criteria compute over systems by infAP and
stratified recall (`figure_9`); in worlds, whether weights undo which liked items are rated
(`steck`), and which gamma orders systems best (`best_gamma`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.design_alternatives import FUNCTIONS as OF_DESIGNS
from recbias.claims.overcoming_popularity_bias.best_gamma import (
    OF_GAMMA,
    best_gamma_title,
    best_gammas,
    best_gammas_table,
    gamma_courses,
)
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

FUNCTIONS: Mapping[str, Function] = {
    "ratio_of_ratios": OF_DESIGNS["ratio_of_ratios"],
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
    "best_gamma_title",
    "best_gammas",
    "best_gammas_table",
    "gamma_courses",
    "levelled_sample",
    "metrics",
    "protocols",
    "setting_grid",
    "steck_errors",
    "steck_title",
    "threshold_grid",
    "uniform_metrics",
    "uniform_protocols",
]
