"""WBPR with negatives from the least popular items: what LibRec 2.0 and later do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np

from recbias.data.ratings import Ratings
from recbias.recommenders.base import parameter, register
from recbias.recommenders.pairwise import WBPR, Sampler, Triples, TripleSampler

_BLOCK = 64
"""Items whose weights are also held as a sum."""

_REFRESH = 1024
"""Draws after which rounding errors of the sums are removed, at the latest."""

_LOST = 1e-4
"""Share of a former total below which its rounding errors count, so that they are removed."""

_FEW = 1e-3
"""Share of the total below which a difference from it has too few right digits."""

_TRIES = 16
"""Draws by blocks, which can hit a rated item, before the user's other items are walked through."""

_FLOOR = 1e-250
"""Least weight: smaller ones are as improbable, but slow to compute with."""


@nb.njit(cache=True, nogil=True)
def _sum_blocks(weight: Any, block: Any) -> float:
    """Sum the weights of each block, and of all."""
    total = 0.0
    for b in range(len(block)):
        block[b] = 0.0
    for place in range(len(weight)):
        block[place // _BLOCK] += weight[place]
    for b in range(len(block)):
        total += block[b]
    return total


@nb.njit(cache=True, nogil=True)
def _walk(weight: Any, rated: Any, first: int, end: int, target: float) -> tuple[float, int]:
    """Sum the weights of places that are not rated, until the sum is beyond the target."""
    total, at, last = 0.0, first, -1
    for place in range(len(weight)):
        if at < end and rated[at] == place:
            at += 1
            continue
        total += weight[place]
        last = place
        if total > target:
            break
    return total, last


@nb.njit(cache=True, nogil=True)
def _find(weight: Any, block: Any, target: float) -> int:
    """Return the place at which the sum of the weights passes the target, -1 if none does."""
    for b in range(len(block)):
        if target < block[b]:
            for place in range(b * _BLOCK, min((b + 1) * _BLOCK, len(weight))):
                target -= weight[place]
                if target < 0.0:
                    return place
            return -1
        target -= block[b]
    return -1


@nb.njit(cache=True, nogil=True)
def _draw(
    rng: Any,
    pointers: Any,
    rated: Any,
    users: Any,
    weight: Any,
    scale: float,
    drawn_user: Any,
    positive: Any,
    negative: Any,
) -> float:
    """Fill three arrays, the last two with places, while the weights change.

    An item's true weight is ``scale * weight``, so that dividing those of all items that a user
    did not rate means to change one number, and the weights of the few that they did.
    """
    block = np.zeros((len(weight) + _BLOCK - 1) // _BLOCK)
    total, largest, age = 0.0, 0.0, _REFRESH
    for draw in range(len(drawn_user)):
        largest = max(largest, total)
        age += 1
        if age > _REFRESH or total < _LOST * largest:
            total = _sum_blocks(weight, block)
            for place in range(len(weight)):
                weight[place] = max(weight[place] / total, _FLOOR)
            scale *= total
            total = _sum_blocks(weight, block)
            largest, age = total, 0
        u = users[int(rng.random() * len(users))]
        first, end = pointers[u], pointers[u + 1]
        drawn_user[draw] = u
        positive[draw] = rated[first + int(rng.random() * (end - first))]
        mass = 0.0
        for at in range(first, end):
            mass += weight[rated[at]]
        others = total - mass
        if others < _FEW * total:
            others, _ = _walk(weight, rated, first, end, np.inf)
        growth = scale * others
        scale = 1.0 / others
        for at in range(first, end):
            place = rated[at]
            before = weight[place]
            after = max(before * growth, _FLOOR)
            weight[place] = after
            block[place // _BLOCK] += after - before
        total = others + growth * mass
        chosen = -1
        for _ in range(_TRIES):
            chosen = _find(weight, block, rng.random() * total)
            if chosen >= 0:
                low, high = first, end
                while low < high:
                    middle = (low + high) // 2
                    if rated[middle] < chosen:
                        low = middle + 1
                    else:
                        high = middle
                if low == end or rated[low] != chosen:
                    break
                chosen = -1
        if chosen < 0:
            _, chosen = _walk(weight, rated, first, end, rng.random() * others)
        negative[draw] = chosen
    return scale


class UnpopularNegativesSampler:
    """Draws triples as LibRec 2.0 and later do for WBPR, from weights that every draw changes.

    See Also
    --------
    WBPRUnpopularNegatives : Says what happens to the weights.

    Parameters
    ----------
    train : Ratings
        Whatever is in it counts as rated.

    Attributes
    ----------
    weight : float64 array (n_known,)
        Weights of the items with ratings, least popular first, but for a factor.
    items : int32 array (n_known,)
        These items.

    Raises
    ------
    DataError
        If no triple exists, because every user rated every item.
    """

    def __init__(self, train: Ratings) -> None:
        self._users = TripleSampler(train).users
        counts = train.item_counts()
        order = np.argsort(counts, kind="stable")
        self.items = order[counts[order] > 0].astype(np.int32)
        self.weight = counts[self.items].astype(np.float64)
        self._scale = 1.0
        place = np.empty(train.n_items, np.int32)
        place[self.items] = np.arange(len(self.items))
        rated = place[train.item]
        self._rated = train.indptr.copy(), rated[np.lexsort((rated, train.user))]

    def draw(self, n: int, *, rng: np.random.Generator) -> Triples:
        """Draw triples, and change the weights with each.

        Parameters
        ----------
        n : int
            How many.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        user, positive, negative : int32 array (n,)
            The triples.
        """
        user, positive, negative = (np.empty(n, np.int32) for _ in range(3))
        weights = self._users, self.weight
        self._scale = _draw(rng, *self._rated, *weights, self._scale, user, positive, negative)
        return user, self.items[positive], self.items[negative]


@register
@dataclass(eq=False)
class WBPRUnpopularNegatives(WBPR):
    r"""WBPR with LibRec's sampler, which ends up with the least popular items as negatives.

    The model and its steps are those of `WBPR`. For each triple LibRec takes the list of the items
    that the user did not rate, divides their weights by the sum of these, and draws the other item
    accordingly. Up to version 1.3 the list holds copies; from 2.0 on it holds the entries
    themselves, which all users share. Each division therefore stays. With :math:`w_i = n_i` at the
    start, a draw for user u does

    :math:`S = \sum_{j \notin R(u)} w_j`, :math:`\quad w_j \leftarrow w_j / S` for
    :math:`j \notin R(u)`, :math:`\quad w_i` stays for :math:`i \in R(u)`.

    The sum is smallest for users who rated much that has weight. Dividing by it raises the items
    that they did not rate, so that an item falls behind with each of its raters. On MovieLens 1M
    most draws end up, almost uniformly, with the items that have one or two ratings. What a user
    did not rate and is not among these is then never pushed down.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of a step.
    regularisation : float
        :math:`\lambda`, the same for all parameters.
    n_epochs : int
        Number of epochs.
    samples_per_user : int
        Triples in an epoch, per user with a rating; 0 for as many as there are ratings.
    encoding : str
        Which ratings are kept, see `Encoding`; a kept zero counts as rated.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1, and are zero
        where there are no ratings.
    item_bias : float64 array (n_items,)
        b.

    Raises
    ------
    DataError
        If every user rated every item.
    ConfigError
        If training runs away.

    Notes
    -----
    **Defaults.** Those of LibRec's ``wbpr-test``, with the triples per epoch of LibRec 2.0. LibRec
    keeps the lists of the last 200 users and does not divide again when one of these comes back;
    that is left out.

    **Complexity.** :math:`O(n (K + \bar n_u))` per epoch of n triples, :math:`\bar n_u` the mean
    number of a user's ratings: only their weights change, and one common factor. Memory
    :math:`O((U + I) K)` and one more copy of the ratings. Objective: the mean over 32768 triples
    that are drawn as LibRec's first ones are.

    **Non-computable.** Pairs whose user or item has no rating.

    References
    ----------
    Gantner, Drumond, Freudenthaler & Schmidt-Thieme, "Personalized ranking for non-uniformly
    sampled items", JMLR W&CP 18, 2012. Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for
    recommender systems", UMAP 2015.
    """

    n_factors: int = parameter(128, minimum=1)

    def sampler(self, train: Ratings) -> Sampler:
        """Return what draws the triples, with weights that start from the popularity."""
        return UnpopularNegativesSampler(train)
