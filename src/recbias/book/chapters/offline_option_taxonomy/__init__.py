"""Chapter 7, "The taxonomy of offline options": CCM20."""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.offline_option_taxonomy.decisions import OF_DECISIONS
from recbias.book.chapters.offline_option_taxonomy.depths import OF_DEPTHS
from recbias.book.chapters.offline_option_taxonomy.fills import OF_FILLS
from recbias.book.chapters.offline_option_taxonomy.refused import OF_USERS
from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER
from recbias.book.chapters.offline_option_taxonomy.splits import OF_SPLITS
from recbias.book.chapters.offline_option_taxonomy.terms import OF_TERMS
from recbias.book.chapters.offline_option_taxonomy.truths import OF_TRUTHS, WORLDS
from recbias.claims.combinators import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS"]

FUNCTIONS: Mapping[str, Function] = {
    **OF_DECISIONS,
    **OF_DEPTHS,
    **OF_FILLS,
    **OF_SPLITS,
    **OF_TERMS,
    **OF_TRUTHS,
    **OF_USERS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"worlds": WORLDS}
"""What simulations the chapter asks for, by the name under which each is kept."""

import_makers(__name__, __path__)
