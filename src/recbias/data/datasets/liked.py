"""From which rating on an item counts as liked, where the top of the scale says too little."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import RatingScale

__all__ = [
    "LEAST", "MILD", "STRICT", "cut_at_share", "enough_or_cut", "step_below_top", "told_apart",
]  # fmt: skip

LEAST = 0.02
"""Share of the ratings below which a threshold leaves too little to measure by."""

STRICT = 0.2
"""Share that a threshold from the data leaves where papers take the top of the scale: five of five
stars are 23 % of MovieLens 1M."""

MILD = 0.5
"""The same where they take one step below it: four and five stars are 58 % of it."""


def cut_at_share(values: npt.NDArray[np.float64], share: float) -> float:
    """Find the largest threshold that at least a share of the ratings reach.

    Parameters
    ----------
    values : float64 array (n,), n >= 1
        Ratings, finite.
    share : float
        Above 0, at most 1.

    Returns
    -------
    float
        A number with as few digits as let the same ratings in.

    Examples
    --------
    >>> cut_at_share(np.array([0.1234, 0.4321, 0.6789, 0.8765]), 0.5)
    0.6
    >>> cut_at_share(np.array([-3.0, -2.0, 7.0, 7.0]), 0.2)
    7.0
    """
    ordered = np.sort(values)
    least = float(ordered[len(ordered) - max(1, int(np.ceil(share * len(ordered))))])
    below = ordered[ordered < least]
    # Anything above the next smaller rating lets in the same ones; the shortest is easiest to say.
    floor = float(below[-1]) if len(below) else -np.inf
    for digits in range(1, 17):
        rounded = float(Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(repr(least)))
        if floor < rounded <= least:
            return rounded
    return least


def enough_or_cut(values: npt.NDArray[np.float64], threshold: float, share: float) -> float:
    """Keep a threshold that enough ratings reach, else take one from the data.

    Parameters
    ----------
    values : float64 array (n,), n >= 1
        Ratings.
    threshold : float
        What is usual: the top of the scale, or a step below it.
    share : float
        What a threshold from the data is to leave, see `cut_at_share`.

    Returns
    -------
    float
        `threshold`, unless less than :data:`LEAST` of the ratings reach it.

    Examples
    --------
    >>> stars = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    >>> enough_or_cut(stars, 5, 0.2), enough_or_cut(np.append(stars, 55.0), 55, 0.2)
    (5, 5.0)
    """
    return threshold if (values >= threshold).mean() >= LEAST else cut_at_share(values, share)


def step_below_top(scale: RatingScale, values: npt.NDArray[np.float64] | None = None) -> float:
    """Give the relevance of MCCRS20: 4 of 5 stars, and on other scales as far from the top.

    That is 1, or one step of a scale whose steps are wider.

    Parameters
    ----------
    scale : RatingScale
        Of the ratings; one that has no room for a step has its top.
    values : float64 array (n,), n >= 1, optional
        Ratings: of too few that high the threshold is from them, see `enough_or_cut`.

    Returns
    -------
    float

    Examples
    --------
    >>> step_below_top(RatingScale(1, 5, 1)), step_below_top(RatingScale(0, 1, 1))
    (4.0, 1.0)
    >>> step_below_top(RatingScale(0, 100, 25))
    75.0
    """
    below = scale.maximum - max(1, scale.step)
    usual = float(scale.maximum if below <= scale.minimum else below)
    return usual if values is None else enough_or_cut(values, usual, MILD)


def told_apart(thresholds: Sequence[float], values: npt.NDArray[np.float64]) -> list[float]:
    """Leave out thresholds that let the same ratings in as one before them.

    Parameters
    ----------
    thresholds : sequence of float
        Smallest ratings that are liked.
    values : float64 array (n,)
        Ratings, or the values that occur.

    Returns
    -------
    list of float

    Examples
    --------
    >>> told_apart([4, 5, 3], np.array([2.48, 4.0, 5.0]))
    [4, 5]
    """
    by_number: dict[int, float] = {}
    for threshold in thresholds:
        by_number.setdefault(int((values >= threshold).sum()), threshold)
    return list(by_number.values())
