"""Rank once: where every test rating stands in its target sets, and the top of every list."""

from recbias.ranking.depths import depth_map
from recbias.ranking.drawn import target_lists
from recbias.ranking.passes import (
    REVISION,
    SAMPLING_REVISION,
    block_size,
    rank,
    rank_once,
    score_blocks,
    top_items,
)
from recbias.ranking.positions import LISTED, Positions
from recbias.ranking.tables import RankTable
from recbias.ranking.unscored import (
    POLICIES,
    UNSCORED_REVISION,
    deduce_scored,
    look_at_scored,
    policy_order,
    rank_unscored,
)

__all__ = [
    "LISTED",
    "POLICIES",
    "REVISION",
    "SAMPLING_REVISION",
    "UNSCORED_REVISION",
    "Positions",
    "RankTable",
    "block_size",
    "deduce_scored",
    "depth_map",
    "look_at_scored",
    "policy_order",
    "rank",
    "rank_once",
    "rank_unscored",
    "score_blocks",
    "target_lists",
    "top_items",
]
