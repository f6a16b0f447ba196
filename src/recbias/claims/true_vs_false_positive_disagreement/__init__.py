"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`), and beside all values that the authors published (`columns`); what is checked on data
(`checks`): metrics (`metric_checks`), variables (`variables`) and set-up (`paper_setup`).
(`orders`); systems in worlds where the truth is known (`worlds`), and where data sets lie among
these (`points`).
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
from recbias.claims.true_vs_false_positive_disagreement.points import BARS, POINTS
from recbias.claims.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    combined,
    compared,
    metrics,
    protocols,
)
from recbias.claims.true_vs_false_positive_disagreement.trusted import (
    OF_TRUST,
    TRUST,
    TRUST_ANSWERS,
    calibration,
    trust_table,
)
from recbias.claims.true_vs_false_positive_disagreement.worlds import (
    OF_WORLDS,
    ROLES,
    SYSTEMS,
    WORLDS,
    agreement_map,
)

FUNCTIONS: Mapping[str, Function] = {
    **OF_COLUMNS,
    **OF_ORDERS,
    **OF_TRUST,
    **OF_WORLDS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "worlds": WORLDS,
    "roles": ROLES,
    "points": POINTS,
    "bars": BARS,
    "trust": TRUST,
    "trust_answers": TRUST_ANSWERS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "SIMULATIONS",
    "SYSTEMS",
    "TRUST",
    "TRUST_ANSWERS",
    "agreement_map",
    "calibration",
    "changes_grid",
    "columns_html",
    "combined",
    "compared",
    "false_positive_checks",
    "metrics",
    "protocols",
    "published_columns",
    "trust_table",
]
