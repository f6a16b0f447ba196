"""The best rankings for everybody, beside the rankings for everybody that MCCRS20 ran."""

from __future__ import annotations

from recbias.recommenders.line_ups.entries import Entry, make_system
from recbias.recommenders.line_ups.mccrs20 import mccrs20
from recbias.recommenders.non_personalised import OptimalAntiPrecision, OptimalPrecision


def optimal(min_rating: float) -> tuple[Entry, ...]:
    """Return the observed optima of Mena-Maldonado et al. 2020 and what they are to bound.

    The first three are entries of `mccrs20`, so that its trained cells serve. The optima leave
    equal scores to the evaluation's seeded key, since the paper says of no tie how it was broken.

    Parameters
    ----------
    min_rating : float
        The smallest rating of a liked item.
    """
    return (
        *mccrs20(min_rating)[:3],
        (
            make_system("Optimal precision", OptimalPrecision, min_rating=min_rating),
            "Eq. 2, the best for observed precision that training ratings can tell. The threshold "
            "is that of the metrics.",
        ),
        (
            make_system("Optimal anti-precision", OptimalAntiPrecision, min_rating=min_rating),
            "Eq. 4, the best for observed anti-precision that training ratings can tell. Items "
            "that nobody disliked in training tie at the top.",
        ),
    )
