"""Chapter 3, "Popularity bias": BCC17 Section 5.

What the experiment is called and shares (`setup`); how ratings and positives concentrate on the
items of a data set (`concentration`) and of TREC, as far as printed numbers force (`trec`); what is
checked on data (`checks`). Simulated worlds: popularity by a power law (`law`), what systems score
over its skew (`skew`), the extreme of few liked items (`few_liked`), and what criteria compute over
such worlds (`worlds`); the counts of a data set without its preferences (`pure_skew`), and how far
designs overrate Popularity where the truth is known (`relation_map`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims import design_alternatives
from recbias.claims.combinators import Function
from recbias.claims.design_alternatives import largest_sample
from recbias.claims.non_personalised import FUNCTIONS as OF_PREDICTIONS
from recbias.claims.non_personalised import (
    baseline_grid,
    baselines,
    measured_beside_predicted,
    predictions_table,
)
from recbias.claims.popularity_bias.chain import chain_title
from recbias.claims.popularity_bias.checks import popularity_checks
from recbias.claims.popularity_bias.concentration import (
    concentration_table,
    concentration_title,
    cumulative_curves,
    data_sets_beside,
)
from recbias.claims.popularity_bias.few_liked import FEW_LIKED
from recbias.claims.popularity_bias.law import ALPHAS, LAWS, world_name
from recbias.claims.popularity_bias.pure_skew import OF_SKEW, skew_shares
from recbias.claims.popularity_bias.relation_map import (
    OF_MAP,
    POINTS,
    RELATION_MAP,
    mapped,
)
from recbias.claims.popularity_bias.setup import (
    CHAPTER,
    FIGURE_5,
    combined,
    designs,
    protocols,
)
from recbias.claims.popularity_bias.skew import SKEW, TWINS
from recbias.claims.popularity_bias.tables import (
    OF_FLOOR,
    bounds_over_exponents,
    bounds_title,
    data_on_map,
    exponents_title,
    fits_table,
    floor_table,
    law_curves,
    laws_title,
    map_title,
    over_exponents,
    overrated_map,
    published_at_zero,
    rankings_title,
    shares_beside,
    shares_title,
    skew_bars,
    skew_quoted,
    skew_title,
)
from recbias.claims.popularity_bias.worlds import OF_WORLDS
from recbias.claims.predictions import predicted

FUNCTIONS: Mapping[str, Function] = {
    **OF_WORLDS,
    **{name: OF_PREDICTIONS[name] for name in ("over_prediction", "predicted", "predicted_ratio")},
    "ratio_of_ratios": design_alternatives.FUNCTIONS["ratio_of_ratios"],
    **OF_SKEW,
    **OF_FLOOR,
    **OF_MAP,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "laws": LAWS,
    "skew": SKEW,
    "twins": TWINS,
    "few_liked": FEW_LIKED,
    "relation_map": RELATION_MAP,
    "points": POINTS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "ALPHAS",
    "CHAPTER",
    "FEW_LIKED",
    "FIGURE_5",
    "FUNCTIONS",
    "LAWS",
    "POINTS",
    "RELATION_MAP",
    "SIMULATIONS",
    "SKEW",
    "TWINS",
    "baseline_grid",
    "baselines",
    "bounds_over_exponents",
    "bounds_title",
    "chain_title",
    "combined",
    "concentration_table",
    "concentration_title",
    "cumulative_curves",
    "data_on_map",
    "data_sets_beside",
    "designs",
    "exponents_title",
    "fits_table",
    "floor_table",
    "largest_sample",
    "law_curves",
    "laws_title",
    "map_title",
    "mapped",
    "measured_beside_predicted",
    "over_exponents",
    "overrated_map",
    "popularity_checks",
    "predicted",
    "predictions_table",
    "protocols",
    "published_at_zero",
    "rankings_title",
    "shares_beside",
    "shares_title",
    "skew_bars",
    "skew_quoted",
    "skew_shares",
    "skew_title",
    "world_name",
]
