"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`). What a uniform test takes from data
(`uniform_tests`), and what rankings that are the same for all users score in it
(`uniform_rankings`). What Popularity keeps where tests do not favour it (`kept`), how the
positive ratio goes with popularity (`positive_ratio`), how much a uniform test varies from draw to
draw (`uniform_draws`), and uniform tests in worlds whose positive
ratio is known (`constant_ratio`). What criteria compute over systems by infAP and stratified
recall (`figure_9`), and whether weights undo which liked items are rated, in worlds (`steck`).
Which protocol orders systems as judgments of random items do, on real data (`true_orders`). All
that is checked on data (`checks`); what figures show of it, and their titles (`figures`). What a
uniform test takes from data, and what follows from that (`uniform_tests`), and what rankings that
are the same for all users score in it (`uniform_rankings`). What systems keep of their lead over
Random (`remedies`), and Popularity in each percentile (`percentiles`). All that is checked on
data (`checks`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.design_alternatives import FUNCTIONS as OF_DESIGNS
from recbias.claims.design_alternatives import READINGS
from recbias.claims.non_personalised import FUNCTIONS as OF_PREDICTIONS
from recbias.claims.non_personalised import baseline_grid, baselines
from recbias.claims.overcoming_popularity_bias.best import (
    LIKES_ONLY,
    OF_BEST,
    best_protocols,
    best_table,
    map_title,
    over_relations,
)
from recbias.claims.overcoming_popularity_bias.best_gamma import (
    OF_GAMMA,
    best_gamma_title,
    best_gammas,
    best_gammas_table,
    gamma_courses,
)
from recbias.claims.overcoming_popularity_bias.checks import remedy_checks
from recbias.claims.overcoming_popularity_bias.constant_ratio import (
    CONSTANT_RATIO,
    OF_RATIOS,
    RISING_RATIO,
)
from recbias.claims.overcoming_popularity_bias.figure_9 import OF_FIGURE_9
from recbias.claims.overcoming_popularity_bias.figures import (
    causes_of_kept,
    causes_title,
    gammas_shown,
    gammas_title,
    judged_shown,
    judged_title,
    over_random,
    over_random_title,
    places_title,
    ratio_title,
    relations_title,
    remedies_shown,
    two_tests,
    two_tests_title,
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
    GAMMAS,
    levelled_sample,
    metrics,
    protocols,
    setting_grid,
    threshold_grid,
    uniform_metrics,
    uniform_protocols,
    uniform_rule,
)
from recbias.claims.overcoming_popularity_bias.steck import (
    OF_STECK,
    STECK,
    steck_errors,
    steck_title,
)
from recbias.claims.overcoming_popularity_bias.true_orders import (
    OF_TRUE_ORDERS,
    true_orders_asked,
    true_orders_parameters,
)
from recbias.claims.overcoming_popularity_bias.truth_figures import (
    true_order_tables,
    true_orders_shown,
    true_orders_table,
    true_orders_title,
)
from recbias.claims.overcoming_popularity_bias.uniform_draws import OF_DRAWS
from recbias.claims.overcoming_popularity_bias.uniform_rankings import OF_UNIFORM, uniform_predicted
from recbias.claims.overcoming_popularity_bias.uniform_tests import (
    tested_items,
    uniform_plans,
    uniform_table,
)
from recbias.claims.overcoming_popularity_bias.worlds import PROTOCOLS, STRATIFIED, TRUTHS, WORLDS
from recbias.claims.popularity_bias.concentration import data_sets_beside
from recbias.claims.popularity_bias.worlds import OF_WORLDS
from recbias.claims.true_vs_false_positive_disagreement.worlds import OF_WORLDS as OF_MAPS

_OF_PREDICTIONS = (
    "predicted", "predicted_ratio", "off_prediction", "over_prediction", "ratio_of_overs"
)  # fmt: skip

FUNCTIONS: Mapping[str, Function] = {
    **{name: OF_WORLDS[name] for name in ("of_worlds", "ratio_of_worlds", "rise_in_worlds")},
    **{name: OF_PREDICTIONS[name] for name in _OF_PREDICTIONS},
    "ratio_of_ratios": OF_DESIGNS["ratio_of_ratios"],
    "on_worlds": OF_MAPS["on_worlds"],
    "ratio_of_overs": OF_PREDICTIONS["ratio_of_overs"],
    **OF_BEST,
    **OF_DRAWS,
    **OF_FIGURE_9,
    **OF_GAMMA,
    **OF_KEPT,
    **OF_PERCENTILES,
    **OF_RATIOS,
    **OF_REMEDIES,
    **OF_STECK,
    **OF_TRUE_ORDERS,
    **OF_UNIFORM,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "constant_ratio": CONSTANT_RATIO,
    "rising_ratio": RISING_RATIO,
    "steck": STECK,
    "worlds": WORLDS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FIGURE_8",
    "FUNCTIONS",
    "GAMMAS",
    "KEPT",
    "LIKES_ONLY",
    "POSITIVE",
    "PROTOCOLS",
    "READINGS",
    "SIMULATIONS",
    "STECK",
    "STRATIFIED",
    "TRUTHS",
    "WORLDS",
    "baseline_grid",
    "baselines",
    "best_gamma_title",
    "best_gammas",
    "best_gammas_table",
    "best_protocols",
    "best_table",
    "causes_of_kept",
    "causes_title",
    "data_sets_beside",
    "gamma_courses",
    "gammas_shown",
    "gammas_title",
    "judged_shown",
    "judged_title",
    "kept_grids",
    "kept_systems",
    "large_percentiles",
    "levelled_sample",
    "map_title",
    "metrics",
    "over_random",
    "over_random_title",
    "over_relations",
    "percentiles",
    "places_title",
    "protocols",
    "ratio_segments",
    "ratio_title",
    "relations_title",
    "remedies_shown",
    "remedy_checks",
    "setting_grid",
    "steck_errors",
    "steck_title",
    "tested_items",
    "threshold_grid",
    "true_order_tables",
    "true_orders_asked",
    "true_orders_parameters",
    "true_orders_shown",
    "true_orders_table",
    "true_orders_title",
    "two_tests",
    "two_tests_title",
    "uniform_metrics",
    "uniform_plans",
    "uniform_predicted",
    "uniform_protocols",
    "uniform_rule",
    "uniform_table",
]
