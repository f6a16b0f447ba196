"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`); which protocol orders systems as judgments of
random items do, on real data (`true_orders`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.overcoming_popularity_bias.setup import (
    CHAPTER,
    FIGURE_8,
    levelled_sample,
    metrics,
    protocols,
    setting_grid,
    threshold_grid,
    uniform_metrics,
    uniform_protocols,
)
from recbias.claims.overcoming_popularity_bias.true_orders import true_orders_parameters

FUNCTIONS: Mapping[str, Function] = {}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FIGURE_8",
    "FUNCTIONS",
    "SIMULATIONS",
    "levelled_sample",
    "metrics",
    "protocols",
    "setting_grid",
    "threshold_grid",
    "true_orders_parameters",
    "uniform_metrics",
    "uniform_protocols",
]
