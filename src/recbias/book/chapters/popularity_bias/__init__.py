"""Chapter 3, "Popularity bias": BCC17 Section 5.

What the experiment is called and shares (`setup`); how ratings and positives concentrate on the
items of a data set (`concentration`) and of TREC, as far as printed numbers force (`trec`); what is
checked on data (`checks`). Simulated worlds: popularity by a power law (`law`), what systems score
over its skew (`skew`), and the extreme of few liked items (`few_liked`); the counts of a data set
without its preferences (`pure_skew`), and how far designs overrate Popularity where the truth is
known (`relation_map`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.popularity_bias.few_liked import FEW_LIKED
from recbias.book.chapters.popularity_bias.law import LAWS
from recbias.book.chapters.popularity_bias.relation_map import POINTS, RELATION_MAP, map_view
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.book.chapters.popularity_bias.skew import SKEW, TWINS
from recbias.claims.evidence import View

__all__ = ["CHAPTER", "SIMULATIONS", "VIEWS", "measure"]

VIEWS: Mapping[str, View] = {"relation_map.mapped": map_view}
"""What findings read of tables, by name."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "laws": LAWS,
    "skew": SKEW,
    "twins": TWINS,
    "few_liked": FEW_LIKED,
    "relation_map": RELATION_MAP,
    "points": POINTS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

measure = import_makers(__name__, __path__)
"""What the chapter measures beside its grids, by name."""
