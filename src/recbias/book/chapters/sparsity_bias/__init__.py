"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`), what its figures show (`panels`), what its criteria compute
(`criteria`). What the paper says of all systems, or of none, is checked on data (`checks`). How
many sampled negatives are enough: the order of systems at every size of target sets (`negatives`),
and what follows from it (`turns`). How many judgments are enough (`densities`).
"""

from collections.abc import Mapping

from recbias.book.chapters import import_makers
from recbias.book.chapters.sparsity_bias.criteria import FUNCTIONS as OF_CRITERIA
from recbias.book.chapters.sparsity_bias.panels import OF_DENSITIES
from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.book.chapters.sparsity_bias.turns import OF_NEGATIVES
from recbias.claims.combinators import Function

__all__ = ["CHAPTER", "FUNCTIONS"]

FUNCTIONS: Mapping[str, Function] = {
    **OF_CRITERIA,
    **OF_NEGATIVES,
    **OF_DENSITIES,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

import_makers(__name__, __path__)
