"""Chapter 4, "Overcoming popularity bias": BCC17 Sections 6 and 7.

What the experiment is called and shares (`setup`). What a uniform test takes from data
(`uniform_tests`), and what rankings that are the same for all users score in it
(`uniform_rankings`). What Popularity keeps where tests do not favour it (`kept`), how the
positive ratio goes with popularity (`positive_ratio`), how much a uniform test varies from draw to
draw (`uniform_draws`), and uniform tests in worlds whose positive
ratio is known (`constant_ratio`). What criteria compute over systems by stratified recall
(`figure_9`), and whether weights undo which liked items are rated, in worlds (`steck`).
Which protocol is nearest to the truth in each kind of worlds (`worlds`, `best`), as a
reader chooses (`nearest`), and which orders systems as judgments of random items do, on real data
(`true_orders`). All that is checked, in a world or on data (`checks`); what figures show of it, and
their titles (`figures`). What Popularity scores in each percentile (`percentiles`).
"""

from collections.abc import Mapping
from typing import Any

from recbias.book.chapters import import_makers
from recbias.book.chapters.overcoming_popularity_bias.best import best_of_kinds
from recbias.book.chapters.overcoming_popularity_bias.constant_ratio import (
    CONSTANT_RATIO,
    RISING_RATIO,
)
from recbias.book.chapters.overcoming_popularity_bias.figure_9 import (
    balanced,
    balanced_apart,
    overtaken,
)
from recbias.book.chapters.overcoming_popularity_bias.percentiles import (
    large_percentiles,
    ranks_alike,
)
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.chapters.overcoming_popularity_bias.steck import STECK
from recbias.book.chapters.overcoming_popularity_bias.true_orders import (
    best_of,
    pairs_right,
    worst_of,
)
from recbias.book.chapters.overcoming_popularity_bias.uniform_draws import large_draws
from recbias.book.chapters.overcoming_popularity_bias.worlds import WORLDS
from recbias.claims.evidence import View
from recbias.claims.values import Function

__all__ = ["CHAPTER", "FUNCTIONS", "SIMULATIONS", "VIEWS", "measure"]

FUNCTIONS: Mapping[str, Function] = {
    "balanced": balanced,
    "balanced_apart": balanced_apart,
    "best": best_of,
    "overtaken": overtaken,
    "ranks_alike": ranks_alike,
    "worst": worst_of,
}
"""What criteria and findings compute that expressions cannot say, by name."""

VIEWS: Mapping[str, View] = {
    "percentiles.large": large_percentiles,
    **{f"true_orders{more}.pairs": pairs_right for more in ("", "_top", "_more")},
    "uniform_draws.large": large_draws,
    "worlds.best": best_of_kinds,
}
"""What is derived from tables."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {
    "constant_ratio": CONSTANT_RATIO,
    "rising_ratio": RISING_RATIO,
    "steck": STECK,
    "worlds": WORLDS,
}
"""What simulations the chapter asks for, by the name under which each is kept."""

measure = import_makers(__name__, __path__)
"""What the chapter measures beside its grids, by name."""
