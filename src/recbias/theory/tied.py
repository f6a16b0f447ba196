r"""What the order of equal scores decides: the least, the most and the expectation over all orders.

A ranking that is the same for everybody and scores many items alike says which items are listed
only down to a group of equals, for which some places are left. Which of them fill those is the
choice of whoever breaks the ties; what that can do to a metric of lists follows from counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.protocol.splits import Split

__all__ = ["TiedHits", "hits_over_ties"]

IntArray = npt.NDArray[np.int64]


class TiedHits(NamedTuple):
    """How many wanted items a user's list holds, over all orders of items with equal scores.

    Attributes
    ----------
    least, most : ndarray of int64, shape (n_kinds, n_users)
        Each is attained by an order, of the user's own; where one order serves all users, the sums
        over users lie between the sums of these.
    expected : ndarray of float64, shape (n_kinds, n_users)
        Over random orders, whether users have one of their own or share one.
    """

    least: IntArray
    most: IntArray
    expected: npt.NDArray[np.float64]


def hits_over_ties(
    scores: npt.NDArray[np.floating],
    split: Split,
    wanted: npt.NDArray[np.bool_],
    cutoff: int,
) -> TiedHits:
    r"""Count the wanted test items in lists of a ranking for everybody, over all tie orders.

    All items that a user does not have in training are ranked (AI-AN-AR). With a the items that
    score more than the one in the last place, g those that score as much and r the wanted ones
    among these, :math:`k=n-a` places are left to g items: at least :math:`k-(g-r)` and at most
    :math:`\min(k,r)` of the places are hits, and :math:`kr/g` on average (hypergeometric).

    Parameters
    ----------
    scores : ndarray of float, shape (n_items,)
        The larger the better; NaN = the item is in no list. Equal as they stand, so that of a
        recommender those are to be given that the evaluation compares, in float32.
    split
        Whose training items are left out, and whose test ratings may be wanted.
    wanted : ndarray of bool, shape (n_kinds, n_test_ratings)
        Which of them count: for P@n the relevant ones, for antiP@n the others.
    cutoff
        n, length of the lists.

    Returns
    -------
    TiedHits
        Divided by n, and averaged over users, they are the range and the expectation of P@n.

    Raises
    ------
    ConfigError
        If there is not one score for each item and one mark of each kind for each test rating, or
        `cutoff` is below 1.

    See Also
    --------
    recbias.recommenders.OptimalAntiPrecision : Ties all items that nobody disliked.

    Examples
    --------
    Items a and b tie for the place behind d, and b is wanted; user 1 has a in training.

    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.protocol.splits import from_fold_labels
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 1, 2, 2, 3], "item_id": list("ababd"), "rating": 5,
    ... }))
    >>> split = from_fold_labels(ratings, np.array([1, 0, 0, 0, 0]))[0]
    >>> wanted = (split.test.item == 1)[np.newaxis]
    >>> hits = hits_over_ties(np.array([0.0, 0.0, 1.0]), split, wanted, 2)
    >>> hits.least.tolist(), hits.most.tolist(), hits.expected.tolist()
    ([[1, 0, 0]], [[1, 1, 0]], [[1.0, 0.5, 0.0]])
    """
    train, test = split.train, split.test
    if scores.shape != (test.n_items,) or wanted.shape[1:] != (len(test),):
        raise ConfigError(
            f"scores and wanted have shapes {scores.shape} and {wanted.shape}, expected "
            f"({test.n_items},) and (n_kinds, {len(test)})"
        )
    if cutoff < 1:
        raise ConfigError(f"cutoff {cutoff}: a list has one place at least")
    ranked = ~np.isnan(scores)
    _, place, sizes = np.unique(-scores[ranked], return_inverse=True, return_counts=True)
    group = np.full(test.n_items, -1, dtype=np.int64)
    group[ranked] = place
    last, places, tied = _last_places(
        group[train.item], train.indptr, np.cumsum(sizes).astype(np.int64), cutoff
    )
    of_test, ends = group[test.item], last[test.user]
    sure, among = (
        np.array([np.bincount(test.user[kind & rows], minlength=test.n_users) for kind in wanted])
        for rows in ((of_test >= 0) & (of_test < ends), of_test == ends)
    )
    return TiedHits(
        sure + np.maximum(places - (tied - among), 0),
        sure + np.minimum(places, among),
        sure + np.divide(places * among, tied, out=np.zeros(among.shape), where=tied > 0),
    )


@nb.njit(cache=True, nogil=True)
def _last_places(
    group: IntArray, indptr: IntArray, through: IntArray, cutoff: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Find for each user the group that the end of the list falls into.

    `group` is of training ratings, by user; `through` counts the items down to each group. Returns
    the group, how many places are left for it, and how many items of it the user may be shown.
    """
    n_users = len(indptr) - 1
    last = np.empty(n_users, np.int64)
    places = np.zeros(n_users, np.int64)
    tied = np.zeros(n_users, np.int64)
    for user in range(n_users):
        rated = group[indptr[user] : indptr[user + 1]]
        # The list ends here or before, since no more than all of these are left out.
        deepest = np.searchsorted(through, cutoff + len(rated))
        left_out = np.sort(rated[(rated >= 0) & (rated <= deepest)])
        passed = 0
        above = 0
        at = 0
        while at < len(through):
            while passed < len(left_out) and left_out[passed] <= at:
                passed += 1
            down_to = through[at] - passed
            if down_to >= cutoff:
                places[user] = cutoff - above
                tied[user] = down_to - above
                break
            above = down_to
            at += 1
        # Behind the last group: all that may be shown is listed.
        last[user] = at
    return last, places, tied
