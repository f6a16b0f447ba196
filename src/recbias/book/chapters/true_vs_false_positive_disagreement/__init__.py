"""Chapter 5, "True and false positives": MCCRS20 and its extension in TOIS 2021.

What the experiment is called and shares (`setup`); what criteria compute of whole line-ups
(`orders`), and of all values that the authors published (`columns`). What is checked on data
(`checks`): metrics of what systems list (`metric_checks`, `listed`), variables (`variables`), set-
up (`paper_setup`), optimal rankings (`optimum_checks`, `small_worlds`); those rankings over all
orders of ties (`optima`). All pairs of items by what the optima do with them (`pairs`), the paper's
examples (`examples`), how popularity and liking vary over items (`items`), worlds of more and less
skew (`flatness`). Observed orders beside true ones (`true_values`), how many judgments order
systems as the truth does (`judgments`), and worlds where users rate at random (`at_random`).
Systems in worlds where the truth is known (`worlds`), where data sets lie among these (`points`),
and which metric to trust (`trusted`). What the page shows of judgments: `figures_of_judgments` and
`judgment_tables`, of the rest: `figures`, `tables`.
"""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.true_vs_false_positive_disagreement.at_random import AT_RANDOM
from recbias.book.chapters.true_vs_false_positive_disagreement.columns import (
    systems_met,
    systems_unexplained,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.examples import EXAMPLES, printed
from recbias.book.chapters.true_vs_false_positive_disagreement.flatness import FLATNESS
from recbias.book.chapters.true_vs_false_positive_disagreement.items import strength
from recbias.book.chapters.true_vs_false_positive_disagreement.orders import (
    explained_by_line,
    median_effect,
    significant_pairs,
    smallest_tau,
    tau_p,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.pairs import kinds
from recbias.book.chapters.true_vs_false_positive_disagreement.points import BARS, POINTS
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.chapters.true_vs_false_positive_disagreement.trusted import (
    TRUST,
    TRUST_ANSWERS,
    evaluation,
    likelier,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.worlds import (
    ROLES,
    WORLDS,
    over_relations,
)
from recbias.claims.evidence import View
from recbias.claims.values import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS", "VIEWS", "measure"]

FUNCTIONS: Mapping[str, Function] = {
    "explained_by_line": explained_by_line,
    "median_effect": median_effect,
    "significant_pairs": significant_pairs,
    "smallest_tau": smallest_tau,
    "strength": strength,
    "systems_met": systems_met,
    "systems_unexplained": systems_unexplained,
    "tau_p": tau_p,
}
"""What expressions of criteria and findings compute beyond the functions of the language."""

VIEWS: Mapping[str, View] = {
    "examples.printed": printed,
    "judged_pairs.kinds": kinds,
    "pairs.kinds": kinds,
    "trust.evaluation": evaluation,
    "trust_answers.likelier": likelier,
    "worlds.over_relations": over_relations,
}
"""What they read that is derived from the chapter's tables."""

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

measure = import_makers(__name__, __path__)
"""What the chapter measures beside its grids, by name."""
