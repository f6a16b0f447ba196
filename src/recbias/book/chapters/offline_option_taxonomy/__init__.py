"""Chapter 7, "The taxonomy of offline options": CCM20."""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters.offline_option_taxonomy import (
    checks,
    decision_figures,
    decisions,
    depths,
    figures,
    fills,
    refused,
    setup,
    splits,
    tables,
    terms,
    truths,
)
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

_WITH_MAKERS = (
    checks,
    decision_figures,
    decisions,
    depths,
    figures,
    fills,
    refused,
    setup,
    splits,
    tables,
    terms,
    truths,
)
"""Imported, so that the makers in them are registered."""

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
