r"""Lists that chance makes: what concentration metrics must be compared with to mean something.

Three kinds of chance, from the least to the most that a recommender knows:

* a **random** recommender: each user's list is a random set of items not in their training;
* lists **in proportion** to popularity: items are drawn one after another, without replacement,
  each with a chance in proportion to its prior;
* **sampling alone**: all places of all lists are filled one by one in proportion to the prior. It
  is no recommender, since a user may have an item twice; but it is what "recommended in proportion
  to popularity" means for counts, and a divergence from the prior is still not 0, as counts are
  few.

For the first and the last the chances of each item's count have a closed form; the expectation of a
metric that is a sum over items follows (:func:`recbias.metrics.by_chance.expected_value`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recbias._system.memory import row_blocks
from recbias.data.ratings import Ratings
from recbias.errors import ContractError

__all__ = ["CountChances", "draw_lists", "random_list_counts", "slot_counts"]

FloatArray = npt.NDArray[np.float64]

_SPREADS, _MORE = 12.0, 40
# Counts further from their mean than so many standard deviations and so many more are left out:
# their chance is below 1e-15 (Bernstein's bound).


class CountChances(NamedTuple):
    """Chances of the number of lists that hold each item.

    Attributes
    ----------
    least : ndarray of int64, shape (n_items,)
        Smallest count of each item.
    chances : ndarray of float64, shape (n_items, width)
        Chance of the smallest count, of the one after it, and so on; rows add up to 1.
    total : int
        Number of all recommendations, which chance does not change.
    """

    least: npt.NDArray[np.int64]
    chances: FloatArray
    total: int


def slot_counts(prior: npt.ArrayLike, total: int) -> CountChances:
    """Say how often each item is drawn if all places are filled in proportion to the prior.

    Parameters
    ----------
    prior : array_like of float, shape (n_items,)
        Not all 0.
    total
        Number of places, those of all lists together.

    Returns
    -------
    CountChances
        Each count is binomial.

    Raises
    ------
    ContractError
        If the prior is all 0.

    Examples
    --------
    >>> slot_counts([1, 1, 0], 2).chances.round(6).tolist()
    [[0.25, 0.5, 0.25], [0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]
    """
    shares = np.asarray(prior, dtype=np.float64)
    if not shares.sum() > 0:
        raise ContractError("prior: all 0, so that nothing can be drawn in proportion to it")
    shares = shares / shares.sum()
    mean, spread = total * shares, np.sqrt(total * shares * (1 - shares))
    reach = np.ceil(_SPREADS * spread + _MORE)
    least = np.maximum(0, np.floor(mean - reach)).astype(np.int64)
    width = int(min((2 * reach + 2).max(), total + 1))
    counts = least[:, None] + np.arange(width)
    from scipy.stats import binom  # not above: it takes long, and most processes need it not

    return CountChances(least, binom.pmf(counts, total, shares[:, None]), total)


def random_list_counts(train: Ratings, lengths: npt.NDArray[np.integer]) -> CountChances:
    r"""Say in how many lists each item is if every list is random.

    The list of user u holds each item that is not in their training with the chance
    :math:`q_u = N_u/(|I|-|R_{train}(u)|)`, independently of other users. The chances of the sum are
    the inverse Fourier transform of :math:`\prod_u (1-q_u+q_u e^{i\omega})` over the users who lack
    the item.

    Parameters
    ----------
    train : Ratings
        What users have; never in their lists.
    lengths : ndarray of int, shape (n_users,)
        Places of each user's list; at most as many as the user has candidates.

    Returns
    -------
    CountChances
        From count 0 on, errors below 1e-12.

    Raises
    ------
    ContractError
        If a list is longer than a user has candidates, or the number of lengths is not that of the
        users.

    Examples
    --------
    The first user has one of two items and is shown the other; the second has both.

    >>> import pandas as pd
    >>> rows = {"user_id": [1, 2, 2], "item_id": [7, 7, 8], "rating": [5.0, 4.0, 3.0]}
    >>> world = Ratings.from_frame(pd.DataFrame(rows))
    >>> random_list_counts(world, np.array([1, 0])).chances[:, :2].round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    n_users, n_items = train.n_users, train.n_items
    free = n_items - train.user_counts()
    if lengths.shape != (n_users,) or (lengths > free).any() or (lengths < 0).any():
        raise ContractError(
            f"lengths of lists: expected ({n_users},), each from 0 to the number of items that the "
            "user lacks"
        )
    chance = lengths / np.maximum(free, 1)
    has = train.matrix().astype(np.float64)
    has.data[:] = 1
    by_item = has.T.tocsr()
    mean = chance.sum() - by_item @ chance
    variance = (chance * (1 - chance)).sum() - by_item @ (chance * (1 - chance))
    reach = mean + _SPREADS * np.sqrt(np.maximum(variance, 0)) + _MORE
    width = int(min(np.ceil(reach.max()), n_users)) + 1
    # An odd number of frequencies leaves out pi, where two equal chances have a factor of 0.
    width += 1 - width % 2
    turned = np.exp(2j * np.pi * np.arange(width) / width)
    logs = np.log(1 - chance[:, None] + chance[:, None] * turned)
    characteristic = np.exp(logs.sum(axis=0) - by_item @ logs)
    chances = np.clip(np.fft.fft(characteristic, axis=1).real / width, 0, None)
    return CountChances(np.zeros(n_items, np.int64), chances, int(lengths.sum()))


def draw_lists(
    train: Ratings, weights: npt.ArrayLike, cutoff: int, *, rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    """Draw a list for every user: one item after another, in proportion to weights.

    Parameters
    ----------
    train : Ratings
        What users have; never in their lists.
    weights : array_like of float, shape (n_items,)
        Not negative; all equal for a random recommender, the prior for lists in proportion to it.
        Items of weight 0 are never drawn.
    cutoff
        Places of a list.
    rng
        Source of randomness.

    Returns
    -------
    ndarray of int32, shape (n_users, cutoff)
        Dense items in the order in which they were drawn; -1 behind the end of the list of a user
        with fewer candidates.

    Raises
    ------
    ContractError
        If weights are not those of the items, or one is negative.

    References
    ----------
    Drawing by the largest sums of a logarithm and Gumbel noise: T. Yellott, "The relationship
    between Luce's choice axiom, Thurstone's theory of comparative judgment, and the double
    exponential distribution", J. Math. Psychol. 15 (1977).

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"user_id": [1, 2, 2], "item_id": [7, 8, 9], "rating": [5.0, 4.0, 3.0]}
    >>> train = Ratings.from_frame(pd.DataFrame(rows))
    >>> draw_lists(train, [1, 1, 0], 2, rng=np.random.default_rng(1))
    array([[ 1, -1],
           [ 0, -1]], dtype=int32)
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (train.n_items,) or not (weights >= 0).all():
        raise ContractError(
            f"weights of items: shape {weights.shape}, expected ({train.n_items},), none negative"
        )
    logs = np.full(len(weights), -np.inf)
    np.log(weights, out=logs, where=weights > 0)
    depth = min(cutoff, train.n_items)
    lists = np.full((train.n_users, cutoff), -1, dtype=np.int32)
    # Keys, their negatives and the order, in 8 bytes each; a smaller block draws the same numbers.
    for users in row_blocks(train.n_users, 24 * train.n_items):
        keys = rng.gumbel(size=(users.stop - users.start, train.n_items))
        keys += logs
        rows = slice(train.indptr[users.start], train.indptr[users.stop])
        keys[train.user[rows] - users.start, train.item[rows]] = -np.inf
        top = np.argpartition(-keys, depth - 1, axis=1)[:, :depth]
        order = np.argsort(-np.take_along_axis(keys, top, axis=1), axis=1, kind="stable")
        top = np.take_along_axis(top, order, axis=1)
        drawn = np.isfinite(np.take_along_axis(keys, top, axis=1))
        lists[users, :depth] = np.where(drawn, top, -1)
    return lists
