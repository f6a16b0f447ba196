"""Chapter 3, "Popularity bias": BCC17 Section 5.

What the experiment is called and shares (`setup`); how ratings and positives concentrate on the
items of a data set (`concentration`) and of TREC, as far as printed numbers force (`trec`); what is
checked on data (`checks`). Simulated worlds: popularity by a power law (`law`), what systems score
over its skew (`skew`), the extreme of few liked items (`few_liked`), and what criteria compute over
such worlds (`worlds`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims import design_alternatives
from recbias.claims.combinators import Function
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
from recbias.claims.popularity_bias.setup import CHAPTER, combined, protocols
from recbias.claims.popularity_bias.skew import SKEW, TWINS
from recbias.claims.popularity_bias.tables import (
    bounds_over_exponents,
    bounds_title,
    exponents_title,
    law_curves,
    laws_title,
    over_exponents,
    published_at_zero,
    rankings_title,
)
from recbias.claims.popularity_bias.worlds import OF_WORLDS
from recbias.claims.predictions import predicted

FUNCTIONS: Mapping[str, Function] = {
    **OF_WORLDS,
    **OF_PREDICTIONS,
    "ratio_of_ratios": design_alternatives.FUNCTIONS["ratio_of_ratios"],
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

FIGURE_5 = ("Popularity", "pLSA", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 5 (centre), MF and kNN read as rating predictors (E25)."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "laws": LAWS,
    "skew": SKEW,
    "twins": TWINS,
    "few_liked": FEW_LIKED,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "ALPHAS",
    "CHAPTER",
    "FEW_LIKED",
    "FIGURE_5",
    "FUNCTIONS",
    "LAWS",
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
    "data_sets_beside",
    "exponents_title",
    "law_curves",
    "laws_title",
    "measured_beside_predicted",
    "over_exponents",
    "popularity_checks",
    "predicted",
    "predictions_table",
    "protocols",
    "published_at_zero",
    "rankings_title",
    "world_name",
]
