"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`) and of rows of tables (`table_rows`); what is checked on data (`checks`): metrics
(`metric_checks`), variables (`variables`), optimal rankings (`optimum_checks`, `small_worlds`);
those rankings over all orders of ties (`optima`); all pairs of items by what the optima do with
them (`pairs`), the paper's examples (`examples`), how popularity and liking vary over items
(`items`), worlds of more and less skew (`flatness`), and what the page shows of these
(`pair_tables`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.true_vs_false_positive_disagreement.checks import false_positive_checks
from recbias.claims.popularity_bias.worlds import OF_WORLDS as OF_KINDS
from recbias.claims.true_vs_false_positive_disagreement.examples import EXAMPLES, OF_EXAMPLES
from recbias.claims.true_vs_false_positive_disagreement.flatness import FLATNESS
from recbias.claims.true_vs_false_positive_disagreement.items import item_panel
from recbias.claims.true_vs_false_positive_disagreement.optima import (
    optima_rows,
    optima_sentence,
)
from recbias.claims.true_vs_false_positive_disagreement.orders import OF_ORDERS
from recbias.claims.true_vs_false_positive_disagreement.pair_tables import (
    example_items,
    examples_table,
    examples_title,
    optima_title,
    over_skew,
    pair_shares,
    pairs_table,
    related_table,
    relations_title,
    skew_of_worlds_title,
)
from recbias.claims.true_vs_false_positive_disagreement.pairs import OF_PAIRS
from recbias.claims.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    combined,
    compared,
    metrics,
    protocols,
)
from recbias.claims.true_vs_false_positive_disagreement.table_rows import OF_TABLES

FUNCTIONS: Mapping[str, Function] = {
    **OF_ORDERS,
    **OF_TABLES,
    **OF_PAIRS,
    **OF_EXAMPLES,
    **{name: OF_KINDS[name] for name in ("of_worlds", "rise_in_worlds")},
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "examples": EXAMPLES,
    **FLATNESS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "SIMULATIONS",
    "combined",
    "compared",
    "false_positive_checks",
    "example_items",
    "examples_table",
    "examples_title",
    "item_panel",
    "metrics",
    "optima_title",
    "over_skew",
    "pair_shares",
    "pairs_table",
    "protocols",
    "related_table",
    "relations_title",
    "skew_of_worlds_title",
]
