"""Chapter 7, "The taxonomy of offline options": CCM20."""

from collections.abc import Mapping

from recbias.claims.combinators import Function
from recbias.claims.offline_option_taxonomy import figures, tables
from recbias.claims.offline_option_taxonomy.depths import OF_DEPTHS, list_depths
from recbias.claims.offline_option_taxonomy.fills import OF_FILLS, fill_steps, fill_values
from recbias.claims.offline_option_taxonomy.refused import (
    OF_USERS,
    profile_groups,
    refused_users,
)
from recbias.claims.offline_option_taxonomy.setup import (
    CHAPTER,
    fill_grid,
    overlap_grid,
    ratio_grid,
    ratio_name,
    ratios_of,
    seeds_of,
    start_grid,
)
from recbias.claims.offline_option_taxonomy.splits import OF_SPLITS, ratio_values, table_cells
from recbias.claims.offline_option_taxonomy.terms import OF_TERMS

FUNCTIONS: Mapping[str, Function] = {
    **OF_DEPTHS,
    **OF_FILLS,
    **OF_SPLITS,
    **OF_TERMS,
    **OF_USERS,
}
"""What criteria and findings compute that has no combinator, by the name that a record gives it."""

__all__ = [
    "CHAPTER",
    "FUNCTIONS",
    "figures",
    "fill_grid",
    "fill_steps",
    "fill_values",
    "list_depths",
    "overlap_grid",
    "profile_groups",
    "ratio_grid",
    "ratio_name",
    "ratio_values",
    "ratios_of",
    "refused_users",
    "seeds_of",
    "start_grid",
    "table_cells",
    "tables",
]
