"""Chapter 3, "Popularity bias": BCC17 Section 5.

What the experiment is called and shares (`setup`); how ratings and positives concentrate on the
items of a data set (`concentration`) and of TREC, as far as printed numbers force (`trec`); what is
checked on data (`checks`). Simulated worlds: popularity by a power law (`law`), what systems score
over its skew (`skew`), the extreme of few liked items (`few_liked`), and what criteria compute over
such worlds (`worlds`); the counts of a data set without its preferences (`pure_skew`), and how far
designs overrate Popularity where the truth is known (`relation_map`).
"""

from collections.abc import Mapping

from recbias.claims.combinators import Function
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
from recbias.claims.popularity_bias.setup import CHAPTER, combined, protocols
from recbias.claims.popularity_bias.skew import SKEW, TWINS
from recbias.claims.popularity_bias.worlds import OF_WORLDS

FUNCTIONS: Mapping[str, Function] = {**OF_WORLDS, **OF_SKEW, **OF_MAP}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "ALPHAS",
    "CHAPTER",
    "FEW_LIKED",
    "FUNCTIONS",
    "LAWS",
    "POINTS",
    "RELATION_MAP",
    "SKEW",
    "TWINS",
    "combined",
    "concentration_table",
    "concentration_title",
    "cumulative_curves",
    "data_sets_beside",
    "mapped",
    "popularity_checks",
    "protocols",
    "skew_shares",
    "world_name",
]
