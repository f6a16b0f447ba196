r"""When the best ranking by precision is the worst by anti-precision: steepness of two functions.

MCCRS20 Sec. 4 and 5. The rankings that are best for everybody, as far as training ratings tell, put
items in descending order of

.. math:: f_P(i)=\frac{p(train|i)}{1-p(train|i)}\,p(rel|train,i),\qquad
   f_{\overline P}(i)=-\frac{p(train|i)}{1-p(train|i)}\,p(\neg rel|train,i)

(Eqs. 2 and 4). Of two items each is a product of the odds of being rated with a share, so that the
*steeper* factor decides. All comparisons here are of whole numbers, hence exact: a tie is a tie.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.errors import ConfigError, unknown_name

__all__ = [
    "DIRECTIONS",
    "OPTIMA",
    "STEEPER_THAN",
    "lemma_disagrees",
    "pair_table",
    "steepness",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer[Any]]

DIRECTIONS: Mapping[str, str] = {
    "same": "the item with larger odds has the larger share of liked ratings, too",
    "opposed": "the item with larger odds has the smaller share",
    "equal": "equal shares between 0 and 1, but other odds",
    "equal at an end": "equal shares, all liked or none, but other odds",
    "as popular": "equal odds",
    "no estimate": "an item without a rating, for which there is no share",
}
"""How the shares of liked ratings order two items, against the odds of being rated."""

STEEPER_THAN: Mapping[str, str] = {
    "both": "the odds are steeper than the shares of liked and of disliked ratings",
    "liked": "steeper than the share of liked ratings alone",
    "disliked": "steeper than the share of disliked ratings alone",
    "neither": "steeper than neither",
}
"""What the odds of two items are steeper than (Eq. 5)."""

OPTIMA: Mapping[str, str] = {
    "disagree": "each puts another item first",
    "agree": "both put the same item first",
    "tied": "one of them at least does not tell the items apart",
}
"""What the two optimal rankings do with a pair of items."""


def steepness(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    r"""Compute how steep a function is on two items: :math:`|f(a)-f(b)|/\max(f(a),f(b))`.

    Parameters
    ----------
    first, second : array_like of float
        Its values on either item, not negative; they are broadcast. Infinite odds are allowed.

    Returns
    -------
    ndarray of float64
        From 0 to 1; 0 where both are 0, or both infinite, and 1 where one alone is.

    Raises
    ------
    ConfigError
        If a value is negative or not a number: of :math:`f_{\overline P}` take the share of
        disliked ratings, which is not negative.

    References
    ----------
    MCCRS20 Eq. 5, which says nothing of 0/0.

    Examples
    --------
    Odds of 1 and 1/4 (MCCRS20 Fig. 2, examples 1 and 2).

    >>> print(steepness([1.0, 0.6, 0.0], [0.25, 0.5, 0.0]).round(3))
    [0.75  0.167 0.   ]
    """
    a, b = np.broadcast_arrays(np.asarray(first, np.float64), np.asarray(second, np.float64))
    if not ((a >= 0) & (b >= 0)).all():
        raise ConfigError("steepness is of functions that are not negative")
    larger, smaller = np.maximum(a, b), np.minimum(a, b)
    with np.errstate(invalid="ignore"):
        ratio = np.divide(smaller, larger, out=np.ones(larger.shape), where=smaller < larger)
    return np.asarray(1.0 - ratio)


def lemma_disagrees(direction: str, steeper_than: str, *, corrected: bool = True) -> bool:
    """Tell by the lemma whether the two optimal rankings disagree on a pair of items.

    Clause a: the odds are steeper than the share of liked ratings, and opposed to it. Clause b:
    they are steeper than the share of disliked ratings, and opposed to that one.

    Parameters
    ----------
    direction
        One of :data:`DIRECTIONS`.
    steeper_than
        One of :data:`STEEPER_THAN`.
    corrected
        Whether equal shares count as opposed, as they have to (erratum E20), unless they are 0 or
        1. As printed, they are not opposed.

    Returns
    -------
    bool

    Raises
    ------
    ConfigError
        For other words, and for ``"no estimate"``, of which the lemma says nothing.

    References
    ----------
    MCCRS20, Lemma.

    Examples
    --------
    Popularity sides with liking, which is steeper yet; it is steeper than disliking.

    >>> lemma_disagrees("same", "disliked"), lemma_disagrees("same", "liked")
    (True, False)
    """
    if direction not in DIRECTIONS:
        raise unknown_name("direction", direction, DIRECTIONS)
    if steeper_than not in STEEPER_THAN:
        raise unknown_name("comparison of steepness", steeper_than, STEEPER_THAN)
    if direction == "no estimate":
        raise ConfigError("the lemma says nothing of an item without a rating")
    if direction == "opposed":
        return steeper_than in ("both", "liked")
    if direction == "same":
        return steeper_than in ("both", "disliked")
    return corrected and direction == "equal"


def pair_table(
    rated: IntArray, open_users: IntArray, liked: IntArray, disliked: IntArray
) -> pd.DataFrame:
    r"""Count all pairs of items by direction, by what the odds are steeper than, and by the optima.

    Parameters
    ----------
    rated, open_users : ndarray of int, shape (n_items,)
        The odds of an item are the one over the other: users who rated it, and users who may still
        be shown it.
    liked, disliked : ndarray of int, shape (n_items,)
        The share of liked ratings is :math:`liked/(liked+disliked)`; mostly, but not necessarily,
        of the same ratings.

    Returns
    -------
    DataFrame
        A row for each ``direction``, ``steeper_than`` and ``optima`` that occur, in the order of
        :data:`DIRECTIONS`, :data:`STEEPER_THAN` and :data:`OPTIMA`, with the number of ``pairs``
        (int64), and how far their shares of liked ratings are apart on average (``gap``).

    Raises
    ------
    ConfigError
        If the lengths differ, or a count is negative.

    See Also
    --------
    lemma_disagrees : What the lemma says of a row.
    recbias.recommenders.OptimalPrecision : The ranking by the first of the two functions.

    Notes
    -----
    Items without a rating have both functions 0, as in the ranking. Items that all users have rated
    are left out: they can be recommended to nobody. Items with equal counts are taken together;
    quotients decide where they differ by more than rounding, else Euclid's algorithm does, so that
    counts up to 2**31 are compared exactly. Memory is that of the counts, as no pair is kept.

    Examples
    --------
    Ten users; a has five ratings, three of them liked, b has two, one liked (MCCRS20 Fig. 2, 1).

    >>> rated, liked = np.array([5, 2]), np.array([3, 1])
    >>> pair_table(rated, 10 - rated, liked, rated - liked)
      direction steeper_than    optima  pairs  gap
    0      same         both  disagree      1  0.1
    """
    counts = [np.asarray(count, dtype=np.int64) for count in (rated, open_users, liked, disliked)]
    if len({count.shape for count in counts}) > 1 or any((count < 0).any() for count in counts):
        raise ConfigError("pair_table: expected counts of the same items, not negative")
    kinds, times = np.unique(np.stack(counts, axis=1)[counts[1] > 0], axis=0, return_counts=True)
    pair_counts = np.zeros((len(DIRECTIONS), len(STEEPER_THAN), len(OPTIMA)), dtype=np.int64)
    gaps = np.zeros(pair_counts.shape)
    _count_pairs(np.ascontiguousarray(kinds.T), times.astype(np.int64), pair_counts, gaps)
    places = np.argwhere(pair_counts > 0)
    names = [list(labels) for labels in (DIRECTIONS, STEEPER_THAN, OPTIMA)]
    rows = [[labels[at] for labels, at in zip(names, place, strict=True)] for place in places]
    frame = pd.DataFrame(rows, columns=["direction", "steeper_than", "optima"], dtype=object)
    n_pairs = pair_counts[tuple(places.T)]
    return frame.assign(pairs=n_pairs, gap=gaps[tuple(places.T)] / n_pairs)


@nb.njit(cache=True, nogil=True)
def _exact_sign(a: int, b: int, c: int, d: int) -> int:
    """Compare a/b with c/d by their continued fractions, without a product; b and d above 0."""
    sign = 1
    while True:
        first, second = a // b, c // d
        if first != second:
            return sign if first > second else -sign
        a -= first * b
        c -= second * d
        if a == 0 or c == 0:
            return sign * (int(a > 0) - int(c > 0))
        a, b, c, d = b, a, d, c
        sign = -sign


@nb.njit(cache=True, nogil=True)
def _sign(a: int, b: int, c: int, d: int) -> int:
    """Compare a/b with c/d: by floats where rounding cannot decide, else exactly."""
    x, y = np.float64(a) * np.float64(d), np.float64(c) * np.float64(b)
    # Four factors and two products, each off by at most 2**-53 of itself.
    if abs(x - y) > 8 * 2.0**-53 * (x + y):
        return 1 if x > y else -1
    return _exact_sign(a, b, c, d)


@nb.njit(cache=True, nogil=True)
def _ascending(a: int, b: int) -> tuple[int, int]:
    """Order two numbers; two zeros have the ratio of equal numbers."""
    if a == 0 and b == 0:
        return 1, 1
    return (a, b) if a <= b else (b, a)


@nb.njit(cache=True, nogil=True)
def _count_pairs(
    kinds: npt.NDArray[np.int64],
    times: npt.NDArray[np.int64],
    pair_counts: npt.NDArray[np.int64],
    gaps: FloatArray,
) -> None:
    """Fill in the pairs by direction, steepness and optima, and the sums of their gaps."""
    rated, free, liked, disliked = kinds
    judged = np.maximum(liked + disliked, 1)
    share = liked / judged
    for i in range(len(times)):
        for j in range(i, len(times)):
            n_pairs = times[i] * (times[i] - 1) // 2 if i == j else times[i] * times[j]
            odds_i, odds_j = rated[i] * free[j], rated[j] * free[i]
            liked_i, liked_j = liked[i] * judged[j], liked[j] * judged[i]
            disliked_i, disliked_j = disliked[i] * judged[j], disliked[j] * judged[i]
            if liked[i] + disliked[i] == 0 or liked[j] + disliked[j] == 0:
                direction = 5
            elif odds_i == odds_j:
                direction = 4
            elif liked_i == liked_j:
                direction = 3 if liked[i] == 0 or disliked[i] == 0 else 2
            else:
                direction = 0 if (odds_i > odds_j) == (liked_i > liked_j) else 1
            low, high = _ascending(odds_i, odds_j)
            few, many = _ascending(liked_i, liked_j)
            less, more = _ascending(disliked_i, disliked_j)
            # A function is the steeper, the smaller the ratio of its values.
            than_liked = _sign(low, high, few, many) < 0
            than_disliked = _sign(low, high, less, more) < 0
            steeper = (0 if than_liked else 2) if than_disliked else (1 if than_liked else 3)
            all_i, all_j = free[i] * judged[i], free[j] * judged[j]
            by_p = _sign(rated[i] * liked[i], all_i, rated[j] * liked[j], all_j)
            by_anti = -_sign(rated[i] * disliked[i], all_i, rated[j] * disliked[j], all_j)
            optima = 2 if by_p * by_anti == 0 else (0 if by_p != by_anti else 1)
            pair_counts[direction, steeper, optima] += n_pairs
            gaps[direction, steeper, optima] += n_pairs * abs(share[i] - share[j])
