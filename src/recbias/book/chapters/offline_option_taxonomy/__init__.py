"""Chapter 7, "The taxonomy of offline options": CCM20."""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.offline_option_taxonomy.decisions import without_noise
from recbias.book.chapters.offline_option_taxonomy.fills import falling_steps
from recbias.book.chapters.offline_option_taxonomy.refused import refused_tests
from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER
from recbias.book.chapters.offline_option_taxonomy.splits import first_split, of_splits, peaks
from recbias.book.chapters.offline_option_taxonomy.truths import (
    WORLDS,
    agreement,
    right_and_wrong,
    rivals,
)
from recbias.claims.evidence import View
from recbias.claims.values import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS", "VIEWS", "measure"]

FUNCTIONS: Mapping[str, Function] = {"of_splits": of_splits}
"""What criteria compute beyond the language of expressions."""

VIEWS: Mapping[str, View] = {
    "cells.first": first_split,
    "decisions.alternatives": without_noise,
    "fill_steps.falling": falling_steps,
    "refused.tests": refused_tests,
    "seeds.peaks": peaks,
    "truths.shares": right_and_wrong,
    "worlds.agreement": agreement,
    "worlds.rivals": rivals,
}
"""What criteria and findings read of tables that was derived from them."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"worlds": WORLDS}
"""What simulations the chapter asks for, by the name under which each is kept."""

measure = import_makers(__name__, __path__)
"""What the chapter measures beside its grids, by name."""
