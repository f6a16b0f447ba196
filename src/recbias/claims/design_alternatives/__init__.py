"""Chapter 1, "Design alternatives": BCC17 Sections 2-3 and 6.3.

What the experiment is (`setup`), which designs it compares (`panels`), all designs at once
(`designs`), its tables (`tables`), what its criteria compute (`criteria`), and how definitions and
theorems are checked on data. `theorems` makes all checks; its own code has the equations and the
lemma. The lemma's proof is in `proof`, notation and target sets in `definitions`, Fig. 1 in `toy`,
the paper's task and setup in `frame`. `ranking_by_sorting` is the second way to rank that the
checks rest on. `truth` asks which design orders systems as the truth does, in simulated worlds.
"""

from recbias.claims.design_alternatives import criteria
from recbias.claims.design_alternatives.designs import every_design
from recbias.claims.design_alternatives.panels import (
    Design,
    flips_quoted,
    four_designs,
    moved_pairs,
    precision_quoted,
    published_values,
    ranks_title,
    taus_quoted,
    values_title,
)
from recbias.claims.design_alternatives.setup import (
    CHAPTER,
    FIGURE_2,
    LEMMA_SYSTEMS,
    READINGS,
    REMOVED,
    combined,
    grid_share,
    largest_sample,
    lemma_panels,
    lemma_protocols,
    nearest_setting,
    protocols,
    reading_settings,
    setting_families,
    star_sensitivity,
    target_sizes,
)
from recbias.claims.design_alternatives.tables import (
    chance_table,
    metrics_table,
    own_ratings_table,
    settings_table,
    stars_table,
)
from recbias.claims.design_alternatives.theorems import theorem_checks
from recbias.claims.design_alternatives.truth import (
    DESIGNS,
    OF_WORLDS,
    SIMULATION,
    places_table,
    truth_by_kind,
    truth_title,
)

FUNCTIONS = {**criteria.FUNCTIONS, **OF_WORLDS}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "CHAPTER",
    "DESIGNS",
    "FIGURE_2",
    "FUNCTIONS",
    "LEMMA_SYSTEMS",
    "READINGS",
    "REMOVED",
    "SIMULATION",
    "Design",
    "chance_table",
    "combined",
    "every_design",
    "flips_quoted",
    "four_designs",
    "grid_share",
    "largest_sample",
    "lemma_panels",
    "lemma_protocols",
    "metrics_table",
    "moved_pairs",
    "nearest_setting",
    "own_ratings_table",
    "places_table",
    "precision_quoted",
    "protocols",
    "published_values",
    "ranks_title",
    "reading_settings",
    "setting_families",
    "settings_table",
    "star_sensitivity",
    "stars_table",
    "target_sizes",
    "taus_quoted",
    "theorem_checks",
    "truth_by_kind",
    "truth_title",
    "values_title",
]
