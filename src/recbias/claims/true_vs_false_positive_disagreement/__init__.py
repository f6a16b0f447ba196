"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`), of rows of tables (`table_rows`), and of all values that the authors published
(`columns`). What is checked on data (`checks`): metrics (`metric_checks`), variables (`variables`),
set-up (`paper_setup`), optimal rankings (`optimum_checks`, `small_worlds`); those rankings over all
orders of ties (`optima`). All pairs of items by what the optima do with them (`pairs`), the paper's
examples (`examples`), how popularity and liking vary over items (`items`), worlds of more and less
skew (`flatness`), and what the page shows of these (`pair_tables`). Observed orders beside true
ones (`true_values`), how many judgments order systems as the truth does (`judgments`), and worlds
where users rate at random (`at_random`). Systems in worlds where the truth is known (`worlds`),
where data sets lie among these (`points`), and which metric to trust (`trusted`). What the page
shows of judgments: `judgment_figures`, of the rest: `figures`, `tables`.
"""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.popularity_bias.worlds import OF_WORLDS as OF_KINDS
from recbias.claims.true_vs_false_positive_disagreement import (
    figures,
    judgment_figures,
    tables,
)
from recbias.claims.true_vs_false_positive_disagreement.at_random import AT_RANDOM, OF_RANDOM
from recbias.claims.true_vs_false_positive_disagreement.checks import false_positive_checks
from recbias.claims.true_vs_false_positive_disagreement.columns import (
    OF_COLUMNS,
    changes_grid,
    columns_html,
    published_columns,
)
from recbias.claims.true_vs_false_positive_disagreement.examples import EXAMPLES, OF_EXAMPLES
from recbias.claims.true_vs_false_positive_disagreement.flatness import FLATNESS
from recbias.claims.true_vs_false_positive_disagreement.items import item_panel
from recbias.claims.true_vs_false_positive_disagreement.judgments import (
    OF_JUDGMENTS,
    judgments_parameters,
)
from recbias.claims.true_vs_false_positive_disagreement.optima import (
    optima_rows,
    optima_sentence,
    tie_orders_table,
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
from recbias.claims.true_vs_false_positive_disagreement.points import BARS, POINTS
from recbias.claims.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    combined,
    compared,
    has_times,
    metrics,
    over_time,
    protocols,
    truth_of,
)
from recbias.claims.true_vs_false_positive_disagreement.table_rows import OF_TABLES
from recbias.claims.true_vs_false_positive_disagreement.true_values import (
    OF_TRUTH,
    at_random,
    left_out_sentence,
    left_out_table,
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
    systems_in_world,
)

FUNCTIONS: Mapping[str, Function] = {
    **OF_COLUMNS,
    **OF_ORDERS,
    **OF_TRUST,
    **OF_WORLDS,
    **OF_TABLES,
    **OF_PAIRS,
    **OF_EXAMPLES,
    **OF_JUDGMENTS,
    **{name: OF_KINDS[name] for name in ("of_worlds", "rise_in_worlds")},
    **OF_ORDERS,
    **OF_PAIRS,
    **OF_RANDOM,
    **OF_TABLES,
    **OF_TRUST,
    **OF_TRUTH,
    **OF_WORLDS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "examples": EXAMPLES,
    **FLATNESS,
    "worlds": WORLDS,
    "roles": ROLES,
    "points": POINTS,
    "bars": BARS,
    "at_random": AT_RANDOM,
    "trust": TRUST,
    "trust_answers": TRUST_ANSWERS,
    **FLATNESS,
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
    "at_random",
    "calibration",
    "changes_grid",
    "columns_html",
    "combined",
    "compared",
    "example_items",
    "examples_table",
    "examples_title",
    "false_positive_checks",
    "figures",
    "has_times",
    "item_panel",
    "judgment_figures",
    "judgments_parameters",
    "left_out_sentence",
    "left_out_table",
    "metrics",
    "optima_rows",
    "optima_sentence",
    "optima_title",
    "over_skew",
    "over_time",
    "pair_shares",
    "pairs_table",
    "protocols",
    "published_columns",
    "related_table",
    "relations_title",
    "skew_of_worlds_title",
    "systems_in_world",
    "tables",
    "tie_orders_table",
    "trust_table",
    "truth_of",
]
