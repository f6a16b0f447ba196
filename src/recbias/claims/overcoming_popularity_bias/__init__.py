"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`). Worlds in which the truth is known, and which
protocol orders systems as it does (`worlds`); the best protocol of each kind of worlds (`best`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.overcoming_popularity_bias.best import (
    OF_BEST,
    best_protocols,
    map_title,
    over_relations,
)
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
from recbias.claims.overcoming_popularity_bias.worlds import (
    PROTOCOLS,
    STRATIFIED,
    TRUTHS,
    WORLDS,
)
from recbias.claims.true_vs_false_positive_disagreement.worlds import OF_WORLDS

FUNCTIONS: Mapping[str, Function] = {**OF_BEST, **OF_WORLDS}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"worlds": WORLDS}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FIGURE_8",
    "FUNCTIONS",
    "GAMMAS",
    "PROTOCOLS",
    "SIMULATIONS",
    "STRATIFIED",
    "TRUTHS",
    "WORLDS",
    "best_protocols",
    "levelled_sample",
    "map_title",
    "metrics",
    "over_relations",
    "protocols",
    "setting_grid",
    "threshold_grid",
    "uniform_metrics",
    "uniform_protocols",
]
