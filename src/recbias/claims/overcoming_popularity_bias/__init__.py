"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.overcoming_popularity_bias.setup import CHAPTER

FUNCTIONS: Mapping[str, Function] = {}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS"]
