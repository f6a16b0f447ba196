"""Chapter 2, "Sparsity bias": BCC17 Section 4.

What the experiment is (`setup`), what its figures show (`figures`) and its tables (`tables`). What
the paper says of all systems, or of none, is checked (`checks`): in a world, on all ranks that an
item may have (`every_rank`), and on data. How many sampled negatives are enough: the order of
systems at every size of target sets (`negatives`), and what follows from it (`turns`). How many
judgments are enough (`densities`).
"""

from collections.abc import Mapping

from recbias.book.chapters import import_makers
from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.book.chapters.sparsity_bias.tables import density_pairs
from recbias.book.chapters.sparsity_bias.turns import negative_pairs
from recbias.claims.evidence import View

__all__ = ["CHAPTER", "VIEWS", "measure"]

VIEWS: Mapping[str, View] = {
    "densities.pairs": density_pairs,
    "negatives.pairs": negative_pairs,
}
"""What findings read of tables, by name."""

measure = import_makers(__name__, __path__)
"""What the chapter measures beside its grids, by name."""
