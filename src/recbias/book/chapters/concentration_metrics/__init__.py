"""Chapter 6, "Concentration reinforcement": ATM15.

What the experiment is called and shares (`setup`); counts on which formulas are tried, and their
plain forms (`counts`); what is tried on them (`count_checks`), and on data (`checks`); pairs and
ranks by two metrics at once (`orders`); which metrics are one (`alike`); what chance gives and how
even lists are (`references`); where a feedback loop ends (`loop`); and how all this is shown
(`figures`, `tables`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.concentration_metrics.alike import OF_ALIKE
from recbias.book.chapters.concentration_metrics.loop import LOOP, OF_LOOP
from recbias.book.chapters.concentration_metrics.orders import OF_ORDERS
from recbias.book.chapters.concentration_metrics.references import OF_REFERENCES
from recbias.book.chapters.concentration_metrics.setup import CHAPTER
from recbias.claims.combinators import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS"]

FUNCTIONS: Mapping[str, Function] = {
    **OF_ALIKE,
    **OF_LOOP,
    **OF_ORDERS,
    **OF_REFERENCES,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"loop": LOOP}
"""What simulations the chapter asks for, by the name under which each is kept."""

import_makers(__name__, __path__)
