"""Chapter 6, "Concentration reinforcement": ATM15.

What the experiment is called and shares (`setup`); counts on which formulas are tried, and their
plain forms (`counts`); what is tried on them (`count_checks`), and on data (`checks`); pairs and
ranks by two metrics at once (`orders`); which metrics are one (`alike`); what chance gives and how
even lists are (`references`); where a feedback loop ends (`loop`); and how all this is shown
(`figures`, `tables`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.concentration_metrics import figures, tables
from recbias.claims.concentration_metrics.alike import (
    EXPLAINED,
    OF_ALIKE,
    explained_by,
    tau_matrix,
)
from recbias.claims.concentration_metrics.checks import concentration_checks
from recbias.claims.concentration_metrics.loop import (
    CHOICES,
    ENDS,
    LOOP,
    OF_LOOP,
    STARTS,
    foretold,
    rounds_shown,
)
from recbias.claims.concentration_metrics.orders import (
    OF_ORDERS,
    pair_signs,
    rank_limits,
    rank_rows,
)
from recbias.claims.concentration_metrics.references import (
    OF_REFERENCES,
    chance_values,
    lorenz_curves,
    references_of,
)
from recbias.claims.concentration_metrics.setup import (
    CHAPTER,
    DATASETS,
    LAMBDA,
    LAMBDAS,
    SEVEN,
    combined,
    ends_of_lambdas,
    lengths_note,
    lengths_of,
    line_up_of,
    metrics,
    of_chance,
    of_lambdas,
    other_lengths,
    plain_name,
    protocols,
    split_of,
)
from recbias.claims.true_vs_false_positive_disagreement.orders import OF_ORDERS as OF_LINE_UPS

FUNCTIONS: Mapping[str, Function] = {
    **OF_ALIKE,
    **OF_LOOP,
    **OF_ORDERS,
    **OF_REFERENCES,
    **{name: OF_LINE_UPS[name] for name in ("systems_above", "systems_below")},
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"loop": LOOP}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "CHOICES",
    "DATASETS",
    "ENDS",
    "EXPLAINED",
    "FUNCTIONS",
    "LAMBDA",
    "LAMBDAS",
    "LOOP",
    "SEVEN",
    "SIMULATIONS",
    "STARTS",
    "chance_values",
    "combined",
    "concentration_checks",
    "ends_of_lambdas",
    "explained_by",
    "figures",
    "foretold",
    "lengths_note",
    "lengths_of",
    "line_up_of",
    "lorenz_curves",
    "metrics",
    "of_chance",
    "of_lambdas",
    "other_lengths",
    "pair_signs",
    "plain_name",
    "protocols",
    "rank_limits",
    "rank_rows",
    "references_of",
    "rounds_shown",
    "split_of",
    "tables",
    "tau_matrix",
]
