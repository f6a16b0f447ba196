"""Chapter 7, "The taxonomy of offline options": CCM20."""

from collections.abc import Mapping
from typing import Any

from recbias.claims.combinators import Function
from recbias.claims.offline_option_taxonomy import decision_figures, figures, tables
from recbias.claims.offline_option_taxonomy.checks import option_checks
from recbias.claims.offline_option_taxonomy.decisions import (
    OF_DECISIONS,
    alternatives,
    decisions_asked,
    fourteen,
    reversals,
)
from recbias.claims.offline_option_taxonomy.depths import OF_DEPTHS, list_depths
from recbias.claims.offline_option_taxonomy.fills import OF_FILLS, fill_steps, fill_values
from recbias.claims.offline_option_taxonomy.refused import (
    OF_USERS,
    profile_groups,
    refused_users,
)
from recbias.claims.offline_option_taxonomy.setup import (
    CHAPTER,
    RATIOS,
    fill_grid,
    overlap_grid,
    ratio_grid,
    ratio_name,
    seeds_of,
    start_grid,
    table_notes,
)
from recbias.claims.offline_option_taxonomy.splits import OF_SPLITS, ratio_values, table_cells
from recbias.claims.offline_option_taxonomy.terms import OF_TERMS
from recbias.claims.offline_option_taxonomy.truths import (
    OF_TRUTHS,
    WORLDS,
    held_of,
    truths_asked,
    truths_right,
    worlds_right,
)

FUNCTIONS: Mapping[str, Function] = {
    **OF_DECISIONS,
    **OF_DEPTHS,
    **OF_FILLS,
    **OF_SPLITS,
    **OF_TERMS,
    **OF_TRUTHS,
    **OF_USERS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

SIMULATIONS: Mapping[str, Mapping[str, Any]] = {"worlds": WORLDS}
"""What simulations the chapter asks for, by the name under which each is kept."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "RATIOS",
    "SIMULATIONS",
    "WORLDS",
    "alternatives",
    "decision_figures",
    "decisions_asked",
    "figures",
    "fill_grid",
    "fill_steps",
    "fill_values",
    "fourteen",
    "held_of",
    "list_depths",
    "option_checks",
    "overlap_grid",
    "profile_groups",
    "ratio_grid",
    "ratio_name",
    "ratio_values",
    "refused_users",
    "reversals",
    "seeds_of",
    "start_grid",
    "table_cells",
    "table_notes",
    "tables",
    "truths_asked",
    "truths_right",
    "worlds_right",
]
