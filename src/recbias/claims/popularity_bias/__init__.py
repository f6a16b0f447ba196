"""Chapter 3, "Popularity bias": BCC17 Section 5.

What the experiment is called and shares (`setup`).
"""

from collections.abc import Mapping

from recbias.claims.combinators import Function
from recbias.claims.popularity_bias.setup import CHAPTER

FUNCTIONS: Mapping[str, Function] = {}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = ["CHAPTER", "FUNCTIONS"]
