r"""What theory says a measurement must give: expectations, the notation of Table 2, lemmas.

Closed forms, as functions of a split, of lists or of a table of ranks.
:mod:`recbias.metrics.expected` declares those of a table as metrics (``rho``, ``lower@n``,
``P@n|t=T``, ``RR|t=T``, ``P@n|N=N``), so that an experiment can measure them beside what they bound
or predict.

`uniform` and `sampling` hold the basic expectations of random rankings, `non_personalised` those of
rankings that are the same for all users, `drawn` and `tied` those of samples and ties,
`hypergeometric` and `chance_lists` the distributions behind them; `steepness` the lemma of BCC17,
`notation` its Table 2. Begin with `notation`.
"""

from recbias.theory.chance_lists import CountChances, draw_lists, random_list_counts, slot_counts
from recbias.theory.drawn import (
    chances_of_orders,
    fill_hit_chances,
    hit_chances,
    shared_sample_bounds,
)
from recbias.theory.hypergeometric import hypergeometric_cdf, hypergeometric_mean
from recbias.theory.non_personalised import (
    FORMS,
    RunBounds,
    item_rates,
    listed_sum,
    random_sum,
    relevant_counts,
    run_bounds,
    run_depths,
)
from recbias.theory.notation import SplitStatistics, split_statistics
from recbias.theory.sampling import (
    expected_gain,
    expected_hit,
    expected_precision,
    lemma_bound,
    ranks_in_shared_set,
    relevant_share,
)
from recbias.theory.steepness import (
    DIRECTIONS,
    OPTIMA,
    STEEPER_THAN,
    lemma_disagrees,
    pair_table,
    steepness,
)
from recbias.theory.tied import TiedHits, hits_over_ties
from recbias.theory.uniform import (
    UNIFORM_FORMS,
    UniformBounds,
    positive_ratios,
    uniform_bounds,
    uniform_rates,
)

__all__ = [
    "DIRECTIONS",
    "FORMS",
    "OPTIMA",
    "STEEPER_THAN",
    "UNIFORM_FORMS",
    "CountChances",
    "RunBounds",
    "SplitStatistics",
    "TiedHits",
    "UniformBounds",
    "chances_of_orders",
    "draw_lists",
    "expected_gain",
    "expected_hit",
    "expected_precision",
    "fill_hit_chances",
    "hit_chances",
    "hits_over_ties",
    "hypergeometric_cdf",
    "hypergeometric_mean",
    "item_rates",
    "lemma_bound",
    "lemma_disagrees",
    "listed_sum",
    "pair_table",
    "positive_ratios",
    "random_list_counts",
    "random_sum",
    "ranks_in_shared_set",
    "relevant_counts",
    "relevant_share",
    "run_bounds",
    "run_depths",
    "shared_sample_bounds",
    "slot_counts",
    "split_statistics",
    "steepness",
    "uniform_bounds",
    "uniform_rates",
]
