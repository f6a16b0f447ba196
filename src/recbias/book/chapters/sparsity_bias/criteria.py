"""What criteria of chapter 2 compute that has no combinator."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from recbias.book import non_personalised
from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence
from recbias.claims.records import Record, Term
from recbias.experiment.results import Quantity

FloatArray = npt.NDArray[np.float64]

EXTREME = 0.01
"""Share of the judgments that counts as an extreme of sparsity."""


def _lost_pairs(evidence: Evidence, record: Record) -> Quantity:
    """Count the pairs that all judgments tell apart and the extreme share of them does not."""
    (term,) = record.of
    pairs = evidence.made(term.table, term.edition or "").select(design=term.label)
    value, low, high = (pairs[name].to_numpy(dtype=np.float64) for name in ("value", "low", "high"))

    def lost(at_most: FloatArray, at_least: FloatArray) -> float:
        return float(np.count_nonzero((at_most < 1) & (at_least > EXTREME)))

    n_lost = lost(value, value)
    evidence.note(term.table, f"pairs lost under {term.label}", n_lost)
    return Quantity(n_lost, None, limits=(lost(high, low), lost(low, high)))


def _saturated(evidence: Evidence, term: Term) -> tuple[Quantity, float]:
    """Read a metric of full lists in worlds of known truth, and the share of positive pairs."""
    table = evidence.made(term.table, term.edition or "")
    rows = table.select(judged=int(term.label), system=term.system, metric=term.metric)
    (row,) = rows.to_dict("records")
    evidence.note(term.table, str(term), row["value"])
    return Quantity(row["value"], None, limits=(row["low"], row["high"])), row["positive"]


def _scaled(quantity: Quantity, by: float) -> Quantity:
    low, high = quantity.interval
    return Quantity(quantity.value * by, None, limits=(low * by, high * by))


def _over_odds(evidence: Evidence, record: Record) -> Quantity:
    """Divide by the ratio of positive to negative ratings, two counts as the paper prints it."""
    quantity, positive = _saturated(evidence, record.of[0])
    return _scaled(quantity, (1 - positive) / positive)


def _over_share(evidence: Evidence, record: Record) -> Quantity:
    """Divide by the share of positive ratings."""
    quantity, positive = _saturated(evidence, record.of[0])
    return _scaled(quantity, 1 / positive)


def _late_rise(evidence: Evidence, record: Record) -> Quantity:
    """Tell how much of a rise comes late: of three values, from the second to the third."""
    first, second, third = (_saturated(evidence, term)[0] for term in record.of)
    whole = third.value - first.value
    ends = [(third.interval[0] - second.interval[1]), (third.interval[1] - second.interval[0])]
    return Quantity(
        (third.value - second.value) / whole, None, limits=(ends[0] / whole, ends[1] / whole)
    )


FUNCTIONS: Mapping[str, Function] = {
    **non_personalised.FUNCTIONS,
    "lost_pairs": _lost_pairs,
    "over_odds": _over_odds,
    "over_share": _over_share,
    "late_rise": _late_rise,
}
"""By the name that a record gives them."""
