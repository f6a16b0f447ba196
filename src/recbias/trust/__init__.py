"""Which metric a reader should trust on their data: P, antiP, either, or that none can tell.

An answer stands on three things: what observed ratings say about the relation of popularity and
liking (`relation`), what happens to both metrics in worlds whose truth is known (`known_truth`),
and how the two are put together (`answer`). Begin with `answer.which_metric`.
"""

from recbias.trust.answer import (
    FEWEST_WORLDS,
    LEVEL,
    STRENGTH,
    Answer,
    Shape,
    answer_from,
    choice_of,
    which_metric,
)
from recbias.trust.known_truth import (
    MARGIN,
    Outcome,
    better_metric,
    compared_systems,
    revisions,
    world_outcomes,
)
from recbias.trust.relation import SPREAD, Relation, fit_relation

__all__ = [
    "FEWEST_WORLDS",
    "LEVEL",
    "MARGIN",
    "SPREAD",
    "STRENGTH",
    "Answer",
    "Outcome",
    "Relation",
    "Shape",
    "answer_from",
    "better_metric",
    "choice_of",
    "compared_systems",
    "fit_relation",
    "revisions",
    "which_metric",
    "world_outcomes",
]
