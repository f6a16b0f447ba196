r"""What a ranking that treats all users alike must score: BCC17 Sections 4.1 and 5.1.

The printed forms take every item to be in a target set equally often,
:math:`p(i\in T_u)=|T_u|/|\mathcal C|`. It is not: popular items are in many training profiles, and
such users cannot get them any more (erratum E05). `item_rates` has the form that keeps this, too.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, unknown_name
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.targets import candidate_items
from recbias.theory.notation import inverse_sizes, split_statistics

__all__ = [
    "FORMS",
    "RunBounds",
    "item_rates",
    "listed_sum",
    "random_sum",
    "relevant_counts",
    "run_bounds",
    "run_depths",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]

FORMS = ("Eq. 3", "odds")
"""Forms of `item_rates`: as printed, and with each item's own chance to be a target."""


def relevant_counts(split: Split, *, min_rating: float) -> npt.NDArray[np.int64]:
    """Count the relevant ratings of each item, training and test together: |PR(i)|.

    Parameters
    ----------
    split
        One split of a dataset.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of int64, shape (n_items,)
    """
    counts = np.zeros(split.test.n_items, dtype=np.int64)
    for part in (split.train, split.test):
        counts += np.bincount(part.item[relevant(part.value, min_rating)], minlength=len(counts))
    return counts


def item_rates(
    split: Split,
    candidates: Literal["AI", "TI"],
    form: str,
    *,
    min_rating: float,
) -> FloatArray:
    r"""Predict how often each item is relevant where it is a target, under AN-AR.

    Parameters
    ----------
    split
        One split of a dataset, of which :math:`\sigma`, t and counts are taken.
    candidates
        ``"AI"`` or ``"TI"``.
    form
        ``"Eq. 3"``: :math:`\sigma|\mathcal C||PR(i)|/(t|\mathcal U|)`, as printed. ``"odds"``:
        :math:`\sigma|PR(i)|/(|\mathcal U|-(1-\sigma)|R(i)|)`, the share among the users who lack
        the item in training.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        No probability where a form fails: Eq. 3 can exceed 1. Both are 0 for items that nobody
        likes.

    Raises
    ------
    ConfigError
        For another form.

    See Also
    --------
    listed_sum : What a ranking makes of them.
    recbias.recommenders.OptimalPrecision : Ranks by the odds form, from training ratings.

    References
    ----------
    BCC17 Eq. 3 and erratum E05; Mena-Maldonado et al., SIGIR 2020, Eq. 2, for the odds.

    Examples
    --------
    Two of four ratings are in test; item a is liked by two of three users, b by one.

    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.protocol.splits import from_fold_labels
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 2, 1, 3], "item_id": list("aabb"), "rating": [5, 5, 5, 1],
    ... }))
    >>> split = from_fold_labels(ratings, np.array([0, 1, 1, 0]))[0]
    >>> for form in FORMS:
    ...     item_rates(split, "TI", form, min_rating=5).round(3)
    array([0.556, 0.278])
    array([0.5 , 0.25])
    """
    if form not in FORMS:
        raise unknown_name("form", form, FORMS)
    statistics = split_statistics(split, candidates, min_rating=min_rating)
    expected = statistics.sigma * relevant_counts(split, min_rating=min_rating)
    if form == "Eq. 3":
        open_users = np.array(statistics.t * statistics.n_users / statistics.n_candidates)
    else:
        rated = split.train.item_counts() + split.test.item_counts()
        # At least one user: an item that all have in training is a target of nobody's.
        open_users = np.maximum(statistics.n_users - (1 - statistics.sigma) * rated, 1)
    return np.asarray(expected / open_users, dtype=np.float64)


def listed_sum(
    lists: npt.NDArray[np.integer],
    worth: npt.NDArray[Any],
    cutoff: int | IntArray,
) -> float:
    r"""Sum what listed items are worth, averaged over users: :math:`avg_u\sum_{k\le n}w(i_k)`.

    Parameters
    ----------
    lists : ndarray of int, shape (n_users, depth)
        Items, best first; -1 behind the end of a list, which adds nothing.
    worth : ndarray, shape (n_items,)
        By item.
    cutoff : int or ndarray of int, shape (n_users,)
        n, or one for each user; at most `depth`.

    Returns
    -------
    float
        Divided by n, with rates of `item_rates`, it is the expected P@n.

    Raises
    ------
    ConfigError
        If a cutoff is beyond the lists.

    References
    ----------
    BCC17 Eq. 3.

    Examples
    --------
    >>> listed_sum(np.array([[0, 2], [2, -1]]), np.array([0.5, 0.25, 0.125]), 2)
    0.375
    """
    n_users, depth = lists.shape
    deepest = int(np.max(cutoff, initial=0))
    if deepest > depth:
        raise ConfigError(f"a cutoff of {deepest} is beyond lists of {depth} items")
    counted = (np.arange(depth) < np.reshape(cutoff, (-1, 1))) & (lists >= 0)
    return float(np.where(counted, worth[lists], 0.0).sum() / n_users)


def random_sum(
    split: Split,
    worth: npt.NDArray[Any],
    cutoff: int | IntArray,
    *,
    min_rating: float,
    n_sampled: int | None = None,
    candidates: Literal["AI", "TI"] = "TI",
) -> tuple[float, npt.NDArray[np.int64]]:
    r"""Expect `listed_sum` of a random ranking, over all samples.

    Parameters
    ----------
    split
        One split of a dataset.
    worth : ndarray, shape (n_items,)
        By item.
    cutoff : int or ndarray of int, shape (n_users,)
        n, or one for each user; a smaller set is listed whole.
    min_rating
        Smallest rating that is relevant.
    n_sampled
        As of :func:`recbias.ranking.target_lists`.
    candidates
        ``"AI"`` or ``"TI"``.

    Returns
    -------
    value : float
        Each place holds what a target is worth on average: those in :math:`PR_{test}(u)`, all of
        which are targets, and the share that is drawn of the others.
    sizes : ndarray of int64, shape (n_users,)
        :math:`|T_u|`.

    References
    ----------
    BCC17 Eqs. 3 and 4, Sec. 5.1.

    Examples
    --------
    User 1 has item a in training, of three; b and c are what they may be shown.

    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.protocol.splits import from_fold_labels
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 1, 2, 2], "item_id": list("abac"), "rating": [5, 5, 5, 4],
    ... }))
    >>> split = from_fold_labels(ratings, np.array([1, 0, 0, 0]))[0]
    >>> value, sizes = random_sum(split, np.array([8, 4, 2]), 1, min_rating=4)
    >>> round(value, 6), sizes.tolist()
    (3.833333, [2, 3])
    """
    train, test = split.train, split.test
    inside = np.zeros(test.n_items)
    inside[candidate_items(split, candidates)] = 1.0
    liked = relevant(test.value, min_rating)

    def of_users(part: Ratings, rows: npt.NDArray[np.bool_], values: FloatArray) -> FloatArray:
        sums = np.bincount(part.user[rows], values[part.item[rows]], minlength=part.n_users)
        return np.asarray(sums, dtype=np.float64)

    every = np.ones(len(train), dtype=bool)
    relevant_sizes, relevant_worth = (of_users(test, liked, w) for w in (inside, inside * worth))
    pool = inside.sum() - of_users(train, every, inside) - relevant_sizes
    pool_worth = (inside * worth).sum() - of_users(train, every, inside * worth) - relevant_worth
    drawn = pool if n_sampled is None else np.minimum(pool, n_sampled)
    share = np.divide(drawn, pool, out=np.zeros_like(pool), where=pool > 0)
    sizes = relevant_sizes + drawn
    places = np.minimum(cutoff, sizes)
    listed_share = np.divide(places, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    value = float(np.mean(listed_share * (relevant_worth + share * pool_worth)))
    return value, np.rint(sizes).astype(np.int64)


class RunBounds(NamedTuple):
    r"""Closed forms of the bounds of 1RP@n for a non-personalised ranking, BCC17 Sec. 5.1.

    Attributes
    ----------
    lower
        :math:`\frac{|\mathcal C|}{nt|PR|}avg_u\sum_{k\le n}|PR(i_k)|`.
    upper
        The same sum down to :math:`m_u=n+|PR_{test}(u)|-1`.
    printed
        The lower one as printed, with :math:`|\mathcal I|` in place of :math:`|\mathcal C|`
        (erratum E04).
    """

    lower: float
    upper: float
    printed: float


def run_bounds(
    split: Split,
    first: float,
    every: float,
    sizes: IntArray,
    cutoff: int,
    *,
    min_rating: float,
) -> RunBounds:
    r"""Compute the closed forms between which 1RP@n of a non-personalised ranking is said to lie.

    They follow from the lemma by Eq. 3, so that t is the harmonic mean of
    :math:`|N_u\cup PR_{test}(u)|`, and not the size of a 1R target set.

    Parameters
    ----------
    split
        One split of a dataset, with candidates TI.
    first, every
        `listed_sum` of `relevant_counts` in the lists of :math:`N_u\cup PR_{test}(u)`, as
        :func:`recbias.ranking.target_lists` gives them, down to n and to :math:`m_u`; or
        `random_sum`.
    sizes : ndarray of int, shape (n_users,)
        Of these sets.
    cutoff
        n of 1RP@n.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    RunBounds
        NaN if nothing is relevant.

    See Also
    --------
    recbias.theory.lemma_bound : The bounds themselves, measured.
    run_depths : The depths :math:`m_u`.

    Notes
    -----
    They are no bounds of what they are about where popular items come first (E05).

    References
    ----------
    BCC17 Sec. 5.1, second display; errata E04, E05.

    Examples
    --------
    Two of three items are tested; all three users have both as targets, and list them.

    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.protocol.splits import from_fold_labels
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 2, 3], "item_id": list("abc"), "rating": [5, 5, 4],
    ... }))
    >>> split = from_fold_labels(ratings, np.array([0, 0, 1]))[0]
    >>> run_bounds(split, 2.0, 2.0, np.array([2, 2, 2]), 2, min_rating=4).printed
    0.5
    """
    n_relevant = int(relevant_counts(split, min_rating=min_rating).sum())
    if not n_relevant:
        return RunBounds(np.nan, np.nan, np.nan)
    factor = float(np.mean(inverse_sizes(sizes))) / (cutoff * n_relevant)
    n_candidates = len(candidate_items(split, "TI"))
    return RunBounds(
        factor * first * n_candidates,
        factor * every * n_candidates,
        factor * first * split.test.n_items,
    )


def run_depths(split: Split, cutoff: int, *, min_rating: float) -> npt.NDArray[np.int64]:
    r"""Tell how deep the upper bound looks: :math:`m_u=n+|PR_{test}(u)|-1`, at least n.

    Parameters
    ----------
    split
        One split of a dataset.
    cutoff
        n.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of int64, shape (n_users,)
    """
    test = split.test
    liked = np.bincount(test.user[relevant(test.value, min_rating)], minlength=test.n_users)
    return cutoff + np.maximum(liked.astype(np.int64) - 1, 0)
