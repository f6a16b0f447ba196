"""Chapter 3, "Popularity bias": BCC17 Section 5.

What the experiment is called and shares (`setup`); how ratings and positives concentrate on the
items of a data set (`concentration`) and of TREC, as far as printed numbers force (`trec`); what is
checked on data (`checks`). Simulated worlds: popularity by a power law (`law`), what systems score
over its skew (`skew`), the extreme of few liked items (`few_liked`), and what criteria compute over
such worlds (`worlds`).
"""

from collections.abc import Mapping

from recbias.claims import design_alternatives
from recbias.claims.combinators import Function
from recbias.claims.non_personalised import FUNCTIONS as OF_PREDICTIONS
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
from recbias.claims.popularity_bias.worlds import OF_WORLDS

FUNCTIONS: Mapping[str, Function] = {
    **OF_WORLDS,
    **OF_PREDICTIONS,
    "ratio_of_ratios": design_alternatives.FUNCTIONS["ratio_of_ratios"],
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "ALPHAS",
    "CHAPTER",
    "FEW_LIKED",
    "FUNCTIONS",
    "LAWS",
    "SKEW",
    "TWINS",
    "combined",
    "concentration_table",
    "concentration_title",
    "cumulative_curves",
    "data_sets_beside",
    "popularity_checks",
    "protocols",
    "world_name",
]
