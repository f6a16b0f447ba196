"""Chapter 3, "Popularity bias": BCC17 Section 5.

What the experiment is called and shares (`setup`); how ratings and positives concentrate on the
items of a data set (`concentration`) and of TREC, as far as printed numbers force (`trec`); what is
checked on data (`checks`).
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
from recbias.claims.popularity_bias.setup import CHAPTER, combined, protocols

FUNCTIONS: Mapping[str, Function] = {}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "combined",
    "concentration_table",
    "concentration_title",
    "cumulative_curves",
    "data_sets_beside",
    "popularity_checks",
    "protocols",
]
