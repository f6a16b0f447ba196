r"""What a ranking that treats all users alike must score in a uniform test: BCC17 Section 6.2.

A uniform test takes :math:`\eta` ratings of every item of a set T, so that an item is liked in the
test as often as its *share* of likes says, :math:`\mathbb E|PR_{test}(i)|=\eta|PR(i)|/|R(i)|`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.errors import unknown_name
from recbias.protocol.splits import Split
from recbias.protocol.targets import candidate_items
from recbias.theory.non_personalised import relevant_counts, run_bounds
from recbias.theory.notation import split_statistics

__all__ = ["UNIFORM_FORMS", "UniformBounds", "positive_ratios", "uniform_bounds", "uniform_rates"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer]

UNIFORM_FORMS = ("printed", "odds")
"""Forms of `uniform_rates`: as printed, and with each item's own chance to be a target."""


def positive_ratios(split: Split, *, min_rating: float) -> FloatArray:
    r"""Compute the share of each item's ratings that is relevant, :math:`|PR(i)|/|R(i)|`.

    Parameters
    ----------
    split
        One split of a dataset; training and test count together.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        0 for items without a rating.
    """
    rated = split.train.item_counts() + split.test.item_counts()
    return relevant_counts(split, min_rating=min_rating) / np.maximum(rated, 1)


def uniform_rates(split: Split, form: str, *, min_rating: float) -> FloatArray:
    r"""Predict how often each item is relevant where it is a target of UAR, among the items T.

    Parameters
    ----------
    split
        By the rule ``uniform``.
    form
        ``"printed"``: :math:`\frac{\sigma|R|}{t|\mathcal U|}\frac{|PR(i)|}{|R(i)|}`. ``"odds"``:
        :math:`\eta\frac{|PR(i)|}{|R(i)|}/(|\mathcal U|-|R(i)|+\eta)`, the expected likes of the
        test over the users who lack the item in training.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    ndarray of float64, shape (n_items,)
        0 outside T. :math:`\sigma|R|` is the number of test ratings.

    Raises
    ------
    ConfigError
        For another form.

    See Also
    --------
    listed_sum : What a ranking makes of them.
    item_rates : The same on a random split.

    References
    ----------
    BCC17 Sec. 6.2, first display behind the definition of the split; erratum E05.

    Examples
    --------
    Both items give one rating to the test; a is liked by both who rated it, b by one of three.

    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.protocol.splits import from_fold_labels
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 2, 3, 4, 5], "item_id": list("aabbb"), "rating": [5, 5, 5, 1, 1],
    ... }))
    >>> split = from_fold_labels(ratings, np.array([0, 1, 0, 1, 1]))[0]
    >>> for form in UNIFORM_FORMS:
    ...     uniform_rates(split, form, min_rating=5).round(3)
    array([0.32 , 0.107])
    array([0.25 , 0.111])
    """
    if form not in UNIFORM_FORMS:
        raise unknown_name("form", form, UNIFORM_FORMS)
    ratios = positive_ratios(split, min_rating=min_rating)
    quotas = split.test.item_counts()
    if form == "printed":
        t = split_statistics(split, "TI", min_rating=min_rating).t
        return np.where(quotas > 0, len(split.test) / (t * split.test.n_users) * ratios, 0.0)
    lacking = np.maximum(split.test.n_users - split.train.item_counts(), 1)
    return np.asarray(quotas * ratios / lacking, dtype=np.float64)


class UniformBounds(NamedTuple):
    r"""Closed forms of the bounds of 1RP@n in U1R for a non-personalised ranking, BCC17 Sec. 6.2.

    Attributes
    ----------
    printed_lower, printed_upper
        :math:`\frac{|R|}{nt|PR|}avg_u\sum_k\frac{|PR(i_k)|}{|R(i_k)|}`, down to n and to
        :math:`m_u=n+|PR_{test}(u)|-1`.
    lower, upper
        The same with :math:`\sigma|R|/\mathbb E|PR_{test}|` in place of :math:`|R|/|PR|`.
    """

    printed_lower: float
    printed_upper: float
    lower: float
    upper: float


def uniform_bounds(
    split: Split, first: float, every: float, sizes: IntArray, cutoff: int, *, min_rating: float
) -> UniformBounds:
    r"""Compute the closed forms between which U1R of a non-personalised ranking is said to lie.

    Parameters
    ----------
    split
        By the rule ``uniform``.
    first, every
        `listed_sum`, or `random_sum`, of `positive_ratios` in :math:`N_u\cup PR_{test}(u)`, down to
        n and to :math:`m_u`.
    sizes : ndarray of int, shape (n_users,)
        Of these sets.
    cutoff
        n of 1RP@n.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    UniformBounds
        NaN if nothing is relevant.

    See Also
    --------
    run_bounds : The same on a random split.
    recbias.theory.lemma_bound : The bounds themselves, measured.

    References
    ----------
    BCC17 Sec. 6.2, bounds for U1R; errata E05, E06.

    Examples
    --------
    Half of the ratings are positives, and of the test they are expected to be two thirds.

    >>> import pandas as pd
    >>> from recbias.data.ratings import Ratings
    >>> from recbias.protocol.splits import from_fold_labels
    >>> ratings = Ratings.from_frame(pd.DataFrame({
    ...     "user_id": [1, 1, 2, 3, 4, 5], "item_id": list("acabbb"), "rating": [5, 1, 5, 5, 1, 1],
    ... }))
    >>> split = from_fold_labels(ratings, np.array([0, 1, 1, 0, 1, 1]))[0]
    >>> bounds = uniform_bounds(split, 1.5, 1.5, np.full(5, 2), 1, min_rating=5)
    >>> round(bounds.printed_lower, 6), round(bounds.lower, 6)
    (1.5, 1.125)
    """
    # `run_bounds` multiplies sums of |PR(i)| by |C| / |PR|; here |R| |PR(i)| / |R(i)| is summed.
    n_ratings = len(split.train) + len(split.test)
    scale = n_ratings / len(candidate_items(split, "TI"))
    printed = run_bounds(split, scale * first, scale * every, sizes, cutoff, min_rating=min_rating)
    expected = float(split.test.item_counts() @ positive_ratios(split, min_rating=min_rating))
    n_relevant = int(relevant_counts(split, min_rating=min_rating).sum())
    mended = len(split.test) / n_ratings * n_relevant / expected if expected else np.nan
    return UniformBounds(
        printed.lower, printed.upper, mended * printed.lower, mended * printed.upper
    )
