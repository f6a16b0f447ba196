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

from recbias.book.chapters import design_alternatives, import_makers
from recbias.book.chapters.popularity_bias.few_liked import FEW_LIKED
from recbias.book.chapters.popularity_bias.law import LAWS
from recbias.book.chapters.popularity_bias.pure_skew import OF_SKEW
from recbias.book.chapters.popularity_bias.relation_map import OF_MAP, POINTS, RELATION_MAP
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.book.chapters.popularity_bias.skew import SKEW, TWINS
from recbias.book.chapters.popularity_bias.tables import OF_FLOOR
from recbias.book.chapters.popularity_bias.worlds import OF_WORLDS
from recbias.book.non_personalised import FUNCTIONS as OF_PREDICTIONS
from recbias.claims.combinators import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS"]

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

import_makers(__name__, __path__)
