"""Rank once: where every test rating stands in its target sets, and the top of every list.

`passes` goes over the scores, and holds REVISION and SAMPLING_REVISION; `positions` makes every
table of whole target sets, full and condensed, from its counts; `kernels` has the loops, and
condenses samples; `tables` is the table, and condenses lists made elsewhere. `unscored` orders what
has no score, `drawn` gives the items of drawn target sets, `depths` says where condensed items
stand in full lists. Begin with `passes.rank_once`, then `Positions.table`.
"""

from recbias.ranking.depths import depth_map
from recbias.ranking.drawn import target_lists
from recbias.ranking.passes import (
    REVISION,
    SAMPLING_REVISION,
    block_size,
    check_samples,
    rank,
    rank_once,
    score_blocks,
    tie_counts,
    top_items,
)
from recbias.ranking.positions import LISTED, Positions
from recbias.ranking.tables import RankTable, Ties
from recbias.ranking.unscored import (
    UNSCORED_REVISION,
    deduce_scored,
    look_at_scored,
    policy_order,
    rank_unscored,
)

__all__ = [
    "LISTED",
    "REVISION",
    "SAMPLING_REVISION",
    "UNSCORED_REVISION",
    "Positions",
    "RankTable",
    "Ties",
    "block_size",
    "check_samples",
    "deduce_scored",
    "depth_map",
    "look_at_scored",
    "policy_order",
    "rank",
    "rank_once",
    "rank_unscored",
    "score_blocks",
    "target_lists",
    "tie_counts",
    "top_items",
]
