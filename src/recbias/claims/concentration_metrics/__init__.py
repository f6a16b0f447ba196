"""Chapter 6, "Concentration reinforcement": ATM15.

What the experiment is called and shares (`setup`); counts on which formulas are tried, and their
plain forms (`counts`); what is tried on them (`count_checks`), and on data (`checks`); pairs and
ranks by two metrics at once (`orders`); which metrics are one (`alike`); and where a feedback loop
ends (`loop`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.concentration_metrics import figures
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
from recbias.claims.concentration_metrics.setup import (
    CHAPTER,
    CUTOFFS,
    DATASETS,
    LAMBDA,
    SEVEN,
    combined,
    line_up_of,
    metrics,
    other_lengths,
    protocols,
    split_of,
)
from recbias.claims.true_vs_false_positive_disagreement.orders import OF_ORDERS as OF_LINE_UPS

FUNCTIONS: Mapping[str, Function] = {
    **OF_ALIKE,
    **OF_LOOP,
    **OF_ORDERS,
    **{name: OF_LINE_UPS[name] for name in ("systems_above", "systems_below")},
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"loop": LOOP}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "CHOICES",
    "CUTOFFS",
    "DATASETS",
    "ENDS",
    "EXPLAINED",
    "FUNCTIONS",
    "LAMBDA",
    "LOOP",
    "SEVEN",
    "SIMULATIONS",
    "STARTS",
    "combined",
    "concentration_checks",
    "explained_by",
    "figures",
    "foretold",
    "line_up_of",
    "metrics",
    "other_lengths",
    "pair_signs",
    "protocols",
    "rank_limits",
    "rank_rows",
    "rounds_shown",
    "split_of",
    "tau_matrix",
]
