"""Factor models that learn the order of each user's whole list of rated items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.recommenders.base import Algorithm, Coverage, Trend, factor_scores, parameter, register

Factors = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
Lists = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]

_HALVINGS = 60
"""How often a step is halved before it is as good as none."""


@nb.njit(cache=True, nogil=True)
def _cross_entropy(
    pointers: Any, item: Any, target: Any, counts: Any, users: Any, items: Any, output: Any
) -> float:
    """Return the loss without penalty; write the sigmoid of each rated pair into `output`."""
    loss = 0.0
    for u in range(len(pointers) - 1):
        total = entropy = weight = 0.0
        for row in range(pointers[u], pointers[u + 1]):
            product = 0.0
            for f in range(users.shape[1]):
                product += users[u, f] * items[item[row], f]
            output[row] = 1.0 / (1.0 + np.exp(-product))
            total += np.exp(output[row])
            if counts[row]:
                weight += target[row]
                entropy -= target[row] * output[row]
        if weight > 0.0:
            loss += weight * np.log(total) + entropy
    return loss


@nb.njit(cache=True, nogil=True)
def _add_gradient(
    pointers: Any,
    item: Any,
    target: Any,
    counts: Any,
    users: Any,
    items: Any,
    output: Any,
    user_gradient: Any,
    item_gradient: Any,
) -> None:
    """Add the gradient of the loss without penalty, given what `_cross_entropy` wrote."""
    for u in range(len(pointers) - 1):
        total = 0.0
        for row in range(pointers[u], pointers[u + 1]):
            total += np.exp(output[row])
        for row in range(pointers[u], pointers[u + 1]):
            if not counts[row]:
                continue
            i, g = item[row], output[row]
            slope = (np.exp(g) / total - target[row]) * g * (1.0 - g)
            for f in range(users.shape[1]):
                user_gradient[u, f] += slope * items[i, f]
                item_gradient[i, f] += slope * users[u, f]


@register
@dataclass(eq=False)
class ListRankMF(Algorithm):
    r"""List-wise matrix factorisation: each user's ratings as one distribution over their items.

    Minimises the cross entropy of two distributions over what a user rated, the probabilities of
    an item to come first, :math:`-\sum_u \sum_{i \in R(u)} y_{ui} \ln \pi_{ui} + \tfrac\lambda2
    (\|P\|^2 + \|Q\|^2)`, with :math:`y_{ui} = e^{r_{ui} / r_{max}} / \sum_{j \in R(u)} e^{r_{uj} /
    r_{max}}`, :math:`\pi_{ui} = e^{g_{ui}} / \sum_{j \in R(u)} e^{g_{uj}}` and :math:`g_{ui} =
    1 / (1 + e^{-p_u \cdot q_i})`; :math:`r_{max}` is the largest rating. Descends along the
    gradient of the whole objective, with a step that is doubled before each iteration and then
    halved until the objective falls. Training ends before `n_iterations` where no step lowers it.
    Scores are :math:`p_u \cdot q_i`.

    Both distributions are close to even on long lists, whatever the ratings, and items that a user
    did not rate are not in their list at all: rankings come out close to popularity.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of the step before it is doubled for the first iteration.
    regularisation : float
        :math:`\lambda`.
    n_iterations : int
        Largest number of steps.
    encoding : str
        What a rating counts, see `Encoding`; 0 is a rating like others.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; zeros where there are no ratings. They start from a normal distribution with
        standard deviation 0.1.

    Raises
    ------
    DataError
        If a rating is negative.

    Notes
    -----
    **Defaults.** Those that Mena-Maldonado et al. (SIGIR 2020) ran, which are LibRec 3.0's;
    LibRec 2.0 has 300 iterations and :math:`\lambda = 0.01`. The line search is LibRec 2.0's, the
    start this package's. The loss counts every user once, not every rating, so that a penalty of
    0.06 is strong: on few users it outweighs the ratings, and factors shrink towards 0.

    **Complexity.** O(n n_factors) per iteration for n ratings, with two exponentials per rating
    for the gradient and two for each step that is tried, of which there are two on average; memory
    for six arrays of factors and four numbers per rating.

    **Non-computable.** Pairs of a user or an item without ratings.

    References
    ----------
    Shi, Larson & Hanjalic, "List-wise learning to rank with matrix factorization for collaborative
    filtering", RecSys 2010.

    Examples
    --------
    Everybody rates the first item higher than the second.

    >>> import pandas as pd
    >>> stars = {"user_id": [1, 1, 2, 2], "item_id": [1, 2, 1, 2], "rating": [5.0, 1, 4, 2]}
    >>> model = ListRankMF(regularisation=0.001).fit(Ratings.from_frame(pd.DataFrame(stars)))
    >>> scores = model.score(np.array([0, 1]))
    >>> scores[:, 0] > scores[:, 1]
    array([ True,  True])
    """

    n_factors: int = parameter(5, minimum=1)
    learning_rate: float = parameter(1.0, above=0)
    regularisation: float = parameter(0.06, minimum=0)
    n_iterations: int = parameter(30, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"
    minimum_value: ClassVar[float] = 0.0
    objective_trend: ClassVar[Trend] = "falls"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        lists = self._lists(train)
        p, q = self._start(rng, train.n_users), self._start(rng, train.n_items)
        p[~self._known_user] = q[~self._known_item] = 0
        output, tried = np.empty(len(train)), np.empty(len(train))
        loss = self._loss(lists, (p, q), output)
        self.user_factors, self.item_factors = p, q
        step = self.learning_rate
        for _ in self._iterations(self.n_iterations, train):
            p_gradient, q_gradient = self.regularisation * p, self.regularisation * q
            _add_gradient(*lists, p, q, output, p_gradient, q_gradient)
            step *= 2
            for _ in range(_HALVINGS):
                moved = p - step * p_gradient, q - step * q_gradient
                lower = self._loss(lists, moved, tried)
                if lower < loss:
                    break
                step /= 2
            else:
                break
            loss, output, tried = lower, tried, output
            p, q = self.user_factors, self.item_factors = moved

    def _lists(self, train: Ratings) -> Lists:
        """Return where users' lists are, their items, the targets, and which ratings count."""
        weight = np.exp(train.value / (train.value.max() or 1.0))
        target = weight / np.bincount(train.user, weight, train.n_users)[train.user]
        # Copies, because the kernels would be compiled once more for read-only arrays.
        return train.indptr.copy(), train.item.copy(), target, self._counts(train)

    def _counts(self, train: Ratings) -> npt.NDArray[np.bool_]:
        """Return which ratings have a part in loss and gradient, besides one in the totals."""
        return np.ones(len(train), dtype=bool)

    def _start(self, rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
        """Return vectors for n users or items."""
        return rng.normal(0, 0.1, (n, self.n_factors))

    def _loss(self, lists: Lists, factors: Factors, output: npt.NDArray[np.float64]) -> float:
        penalty = self.regularisation * sum(float(np.sum(side**2)) for side in factors)
        return float(_cross_entropy(*lists, *factors, output)) + 0.5 * penalty

    def _objective(self, train: Ratings) -> float:
        factors = self.user_factors, self.item_factors
        return self._loss(self._lists(train), factors, np.empty(len(train)))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)
