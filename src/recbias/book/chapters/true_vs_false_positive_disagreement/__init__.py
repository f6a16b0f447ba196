"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`), of rows of tables (`table_rows`), and of all values that the authors published
(`columns`). What is checked on data (`checks`): metrics of what systems list (`metric_checks`,
`listed`), variables (`variables`), set-up (`paper_setup`), optimal rankings (`optimum_checks`,
`small_worlds`); those rankings over all orders of ties (`optima`). All pairs of items by what the
optima do with them (`pairs`), the paper's examples (`examples`), how popularity and liking vary
over items (`items`), worlds of more and less skew (`flatness`), and what the page shows of these
(`pair_tables`). Observed orders beside true ones (`true_values`), how many judgments order systems
as the truth does (`judgments`), and worlds where users rate at random (`at_random`). Systems in
worlds where the truth is known (`worlds`), where data sets lie among these (`points`), and which
metric to trust (`trusted`). What the page shows of judgments: `judgment_figures`, of the rest:
`figures`, `tables`.
"""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.popularity_bias.worlds import OF_WORLDS as OF_KINDS
from recbias.book.chapters.true_vs_false_positive_disagreement.at_random import AT_RANDOM, OF_RANDOM
from recbias.book.chapters.true_vs_false_positive_disagreement.columns import OF_COLUMNS
from recbias.book.chapters.true_vs_false_positive_disagreement.examples import EXAMPLES, OF_EXAMPLES
from recbias.book.chapters.true_vs_false_positive_disagreement.flatness import FLATNESS
from recbias.book.chapters.true_vs_false_positive_disagreement.judgments import OF_JUDGMENTS
from recbias.book.chapters.true_vs_false_positive_disagreement.orders import OF_ORDERS
from recbias.book.chapters.true_vs_false_positive_disagreement.pairs import OF_PAIRS
from recbias.book.chapters.true_vs_false_positive_disagreement.points import BARS, POINTS
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.chapters.true_vs_false_positive_disagreement.table_rows import OF_TABLES
from recbias.book.chapters.true_vs_false_positive_disagreement.true_values import OF_TRUTH
from recbias.book.chapters.true_vs_false_positive_disagreement.trusted import (
    OF_TRUST,
    TRUST,
    TRUST_ANSWERS,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.worlds import (
    OF_WORLDS,
    ROLES,
    WORLDS,
)
from recbias.claims.combinators import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS"]

FUNCTIONS: Mapping[str, Function] = {
    **OF_COLUMNS,
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
}
"""What simulations the chapter asks for, by the name under which each is kept."""

import_makers(__name__, __path__)
