"""Chapter 1, "Design alternatives": BCC17 Sections 2-3 and 6.3.

What the experiment is (`setup`), all designs at once (`designs`), what its criteria compute
(`criteria`), and how definitions and theorems are checked on data. `theorems` makes all checks; its
own code has the equations and the lemma. The lemma's proof is in `proof`, notation and target sets
in `definitions`, Fig. 1 in `toy`, the paper's task and setup in `frame`. `ranking_by_sorting` is
the second way to rank that the checks rest on.
"""

from recbias.claims.design_alternatives.criteria import FUNCTIONS
from recbias.claims.design_alternatives.designs import every_design
from recbias.claims.design_alternatives.setup import (
    CHAPTER,
    FIGURE_2,
    LEMMA_SYSTEMS,
    READINGS,
    REMOVED,
    combined,
    grid_share,
    largest_sample,
    lemma_gap,
    lemma_protocols,
    nearest_setting,
    protocols,
    reading_settings,
    star_sensitivity,
    target_sizes,
    tau_between,
)
from recbias.claims.design_alternatives.theorems import theorem_checks

__all__ = [
    "CHAPTER",
    "FIGURE_2",
    "FUNCTIONS",
    "LEMMA_SYSTEMS",
    "READINGS",
    "REMOVED",
    "combined",
    "every_design",
    "grid_share",
    "largest_sample",
    "lemma_gap",
    "lemma_protocols",
    "nearest_setting",
    "protocols",
    "reading_settings",
    "star_sensitivity",
    "target_sizes",
    "tau_between",
    "theorem_checks",
]
