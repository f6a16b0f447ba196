"""Which metric should I trust on my data: true positives, false positives, either, or none?

An answer stands on three things: what observed ratings say about the relation of popularity and
liking (`relation`), what happens to both metrics in worlds where the truth is known (`outcomes`),
and how the two are put together (`answer`).
"""

from recbias.trust.answer import LEVEL, STRENGTH, Answer, Shape, answer_from, which_metric
from recbias.trust.outcomes import MARGIN, Outcome, compared_systems, outcome_of, outcomes
from recbias.trust.relation import SPREAD, Relation, fit_relation

__all__ = [
    "LEVEL",
    "MARGIN",
    "SPREAD",
    "STRENGTH",
    "Answer",
    "Outcome",
    "Relation",
    "Shape",
    "answer_from",
    "compared_systems",
    "fit_relation",
    "outcome_of",
    "outcomes",
    "which_metric",
]
