"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`). What a uniform test takes from data
(`uniform_tests`), and what rankings that are the same for all users score in it
(`uniform_rankings`). What Popularity keeps where tests do not favour it (`kept`), how the
positive ratio goes with popularity (`positive_ratio`), how much a uniform test varies from draw to
draw (`uniform_draws`), and uniform tests in worlds whose positive
ratio is known (`constant_ratio`). What criteria compute over systems by infAP and stratified
recall (`figure_9`), and whether weights undo which liked items are rated, in worlds (`steck`).
Which protocol orders systems as judgments of random items do, on real data (`true_orders`). All
that is checked on data (`checks`); what figures show of it, and their titles (`figures`). What
systems keep of their lead over Random (`remedies`), and Popularity in each percentile
(`percentiles`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.design_alternatives import FUNCTIONS as OF_DESIGNS
from recbias.book.chapters.overcoming_popularity_bias.best import OF_BEST
from recbias.book.chapters.overcoming_popularity_bias.best_gamma import OF_GAMMA
from recbias.book.chapters.overcoming_popularity_bias.constant_ratio import (
    CONSTANT_RATIO,
    OF_RATIOS,
    RISING_RATIO,
)
from recbias.book.chapters.overcoming_popularity_bias.figure_9 import OF_FIGURE_9
from recbias.book.chapters.overcoming_popularity_bias.kept import OF_KEPT
from recbias.book.chapters.overcoming_popularity_bias.percentiles import OF_PERCENTILES
from recbias.book.chapters.overcoming_popularity_bias.remedies import OF_REMEDIES
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.chapters.overcoming_popularity_bias.steck import OF_STECK, STECK
from recbias.book.chapters.overcoming_popularity_bias.true_orders import OF_TRUE_ORDERS
from recbias.book.chapters.overcoming_popularity_bias.uniform_draws import OF_DRAWS
from recbias.book.chapters.overcoming_popularity_bias.uniform_rankings import OF_UNIFORM
from recbias.book.chapters.overcoming_popularity_bias.worlds import WORLDS
from recbias.book.chapters.popularity_bias.worlds import OF_WORLDS
from recbias.book.non_personalised import FUNCTIONS as OF_PREDICTIONS
from recbias.claims.combinators import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS"]

_OF_PREDICTIONS = (
    "predicted", "predicted_ratio", "off_prediction", "over_prediction", "ratio_of_overs"
)  # fmt: skip

FUNCTIONS: Mapping[str, Function] = {
    **{name: OF_WORLDS[name] for name in ("of_worlds", "ratio_of_worlds", "rise_in_worlds")},
    **{name: OF_PREDICTIONS[name] for name in _OF_PREDICTIONS},
    "ratio_of_ratios": OF_DESIGNS["ratio_of_ratios"],
    "ratio_of_overs": OF_PREDICTIONS["ratio_of_overs"],
    **OF_BEST,
    **OF_DRAWS,
    **OF_FIGURE_9,
    **OF_GAMMA,
    **OF_KEPT,
    **OF_PERCENTILES,
    **OF_RATIOS,
    **OF_REMEDIES,
    **OF_STECK,
    **OF_TRUE_ORDERS,
    **OF_UNIFORM,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "constant_ratio": CONSTANT_RATIO,
    "rising_ratio": RISING_RATIO,
    "steck": STECK,
    "worlds": WORLDS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

import_makers(__name__, __path__)
