"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`). What a uniform test takes from data, and what
follows from that (`uniform_tests`), and what rankings that are the same for all users score in it
(`uniform_rankings`). What systems keep of their lead over Random (`remedies`), and Popularity in
each percentile (`percentiles`). What Popularity keeps where tests do not favour it (`kept`), how
the positive ratio goes with popularity (`positive_ratio`), and uniform tests in worlds whose
positive ratio is known (`constant_ratio`). All that is checked on data (`checks`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.non_personalised import FUNCTIONS as OF_PREDICTIONS
from recbias.claims.non_personalised import baseline_grid, baselines
from recbias.claims.overcoming_popularity_bias.checks import remedy_checks
from recbias.claims.overcoming_popularity_bias.constant_ratio import (
    CONSTANT_RATIO,
    OF_RATIOS,
    RISING_RATIO,
)
from recbias.claims.overcoming_popularity_bias.kept import (
    KEPT,
    OF_KEPT,
    POSITIVE,
    kept_grids,
    kept_systems,
)
from recbias.claims.overcoming_popularity_bias.percentiles import (
    OF_PERCENTILES,
    large_percentiles,
    percentiles,
)
from recbias.claims.overcoming_popularity_bias.positive_ratio import ratio_segments
from recbias.claims.overcoming_popularity_bias.remedies import OF_REMEDIES
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
from recbias.claims.overcoming_popularity_bias.uniform_rankings import (
    OF_UNIFORM,
    uniform_predicted,
)
from recbias.claims.overcoming_popularity_bias.uniform_tests import uniform_plans, uniform_table
from recbias.claims.popularity_bias.worlds import OF_WORLDS

FUNCTIONS: Mapping[str, Function] = {
    **OF_WORLDS,
    **{
        name: OF_PREDICTIONS[name]
        for name in (
            "off_prediction",
            "over_prediction",
            "predicted",
            "predicted_ratio",
            "ratio_of_overs",
        )
    },
    **OF_UNIFORM,
    **OF_REMEDIES,
    **OF_PERCENTILES,
    **OF_KEPT,
    **OF_RATIOS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "constant_ratio": CONSTANT_RATIO,
    "rising_ratio": RISING_RATIO,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FIGURE_8",
    "FUNCTIONS",
    "KEPT",
    "POSITIVE",
    "SIMULATIONS",
    "baseline_grid",
    "baselines",
    "kept_grids",
    "kept_systems",
    "large_percentiles",
    "levelled_sample",
    "metrics",
    "percentiles",
    "protocols",
    "ratio_segments",
    "remedy_checks",
    "setting_grid",
    "threshold_grid",
    "uniform_metrics",
    "uniform_plans",
    "uniform_predicted",
    "uniform_protocols",
    "uniform_table",
]
