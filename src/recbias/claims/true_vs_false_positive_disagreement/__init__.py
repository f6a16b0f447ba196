"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`) and of what is true (`true_values`), and what they are beside all values that the authors
published (`columns`); what is checked on data (`checks`): metrics (`metric_checks`) and variables
(`variables`); how many judgments order systems as the truth does (`judgments`); worlds where users
rate at random (`at_random`); systems in worlds where the truth is known (`worlds`), and where data
sets lie among these (`points`). What the page shows of all that: `figures`, `tables`.
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.true_vs_false_positive_disagreement.at_random import AT_RANDOM, OF_RANDOM
from recbias.claims.true_vs_false_positive_disagreement.checks import false_positive_checks
from recbias.claims.true_vs_false_positive_disagreement.columns import (
    OF_COLUMNS,
    changes_grid,
    columns_html,
    published_columns,
)
from recbias.claims.true_vs_false_positive_disagreement.judgments import (
    OF_JUDGMENTS,
    judgments_parameters,
)
from recbias.claims.true_vs_false_positive_disagreement.orders import OF_ORDERS
from recbias.claims.true_vs_false_positive_disagreement.points import POINTS
from recbias.claims.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    combined,
    compared,
    metrics,
    protocols,
    truth_of,
)
from recbias.claims.true_vs_false_positive_disagreement.true_values import (
    OF_TRUTH,
    at_random,
    left_out_sentence,
    left_out_table,
)
from recbias.claims.true_vs_false_positive_disagreement.worlds import (
    OF_WORLDS,
    ROLES,
    SYSTEMS,
    WORLDS,
    agreement_map,
    systems_in_world,
)

FUNCTIONS: Mapping[str, Function] = {
    **OF_COLUMNS,
    **OF_JUDGMENTS,
    **OF_ORDERS,
    **OF_RANDOM,
    **OF_TRUTH,
    **OF_WORLDS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "worlds": WORLDS,
    "roles": ROLES,
    "points": POINTS,
    "at_random": AT_RANDOM,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "SIMULATIONS",
    "SYSTEMS",
    "agreement_map",
    "at_random",
    "changes_grid",
    "columns_html",
    "combined",
    "compared",
    "false_positive_checks",
    "judgments_parameters",
    "left_out_sentence",
    "left_out_table",
    "metrics",
    "protocols",
    "published_columns",
    "systems_in_world",
    "truth_of",
]
