r"""What theory says a measurement must give: expectations, the notation of Table 2, the lemma.

Closed forms, as functions of a split or of a table of ranks. :mod:`recbias.metrics.expected`
declares those of a table as metrics (``rho``, ``lower@n``, ``P@n|t=T``, ``RR|t=T``, ``P@n|N=N``),
so that an experiment can measure them beside what they bound or predict.
"""

from recbias.theory.hypergeometric import hypergeometric_cdf, hypergeometric_mean
from recbias.theory.notation import SplitStatistics, split_statistics
from recbias.theory.sampling import (
    expected_gain,
    expected_hit,
    expected_precision,
    lemma_bound,
    ranks_in_shared_set,
    relevant_share,
)

__all__ = [
    "SplitStatistics",
    "expected_gain",
    "expected_hit",
    "expected_precision",
    "hypergeometric_cdf",
    "hypergeometric_mean",
    "lemma_bound",
    "ranks_in_shared_set",
    "relevant_share",
    "split_statistics",
]
