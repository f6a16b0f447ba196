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
from recbias.book.chapters.concentration_metrics.alike import metric_taus
from recbias.book.chapters.concentration_metrics.loop import LOOP
from recbias.book.chapters.concentration_metrics.orders import by_folds, places, signs_of_pairs
from recbias.book.chapters.concentration_metrics.setup import CHAPTER
from recbias.claims.values import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS", "measure"]

FUNCTIONS: Mapping[str, Function] = {
    "by_folds": by_folds,
    "metric_taus": metric_taus,
    "order": signs_of_pairs,
    "place": places,
}
"""What criteria and findings compute that expressions cannot say, by name."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"loop": LOOP}
"""What simulations the chapter asks for, by the name under which each is kept."""

measure = import_makers(__name__, __path__)
"""What the chapter measures beside its grids, by name."""
