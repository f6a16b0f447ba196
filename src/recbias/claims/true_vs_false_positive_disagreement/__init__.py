"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`), and beside all values that the authors published (`columns`); what is checked on data
(`checks`): metrics (`metric_checks`), variables (`variables`) and set-up (`paper_setup`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.true_vs_false_positive_disagreement.checks import false_positive_checks
from recbias.claims.true_vs_false_positive_disagreement.columns import (
    OF_COLUMNS,
    changes_grid,
    columns_html,
    published_columns,
)
from recbias.claims.true_vs_false_positive_disagreement.orders import OF_ORDERS
from recbias.claims.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    combined,
    compared,
    metrics,
    protocols,
)

FUNCTIONS: Mapping[str, Function] = {
    **OF_COLUMNS,
    **OF_ORDERS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "SIMULATIONS",
    "changes_grid",
    "columns_html",
    "combined",
    "compared",
    "false_positive_checks",
    "metrics",
    "protocols",
    "published_columns",
]
