"""Chapter 8, "The multiverse": all combinations of the options of one comparison. No paper's.

What is compared under which options (`setup`), what that gives (`crossed`), for all pairs of
sixteen systems (`pairs`); what the page says of it (`told`), and how it is shown (`figures`,
`tables`, `explorers`).
"""

from collections.abc import Mapping

from recbias.book.chapters import import_makers
from recbias.book.chapters.multiverse.setup import CHAPTER
from recbias.book.chapters.multiverse.told import of_pairs, of_universes
from recbias.claims.evidence import View
from recbias.claims.values import Function

__all__ = ["CHAPTER", "FUNCTIONS", "VIEWS", "measure"]

FUNCTIONS: Mapping[str, Function] = {}
"""What findings compute that expressions cannot say, by name."""

VIEWS: Mapping[str, View] = {"crossed.said": of_universes, "pairs.said": of_pairs}
"""What findings read that is derived from the chapter's tables."""

measure = import_makers(__name__, __path__)
"""What the chapter measures, by name."""
