"""Factor models that predict ratings: a squared error over the rated pairs only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.ratings import Ratings
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    encoded_values,
    factor_scores,
    parameter,
    register,
)

_LARGEST = 1e15
"""A larger factor means that training has run away; products of smaller ones fit into float32."""


def _runaway(learned: npt.NDArray[np.float64]) -> bool:
    return not bool((np.abs(learned) < _LARGEST).all())


@nb.njit(cache=True, nogil=True)
def _descend(
    order: Any,
    user: Any,
    item: Any,
    error_free: Any,
    user_bias: Any,
    item_bias: Any,
    user_factors: Any,
    item_factors: Any,
    learning_rate: float,
    regularisation: float,
) -> None:
    """Take one gradient step per rating, in the given order; `error_free` is r - mean."""
    size = user_factors.shape[1]
    for row in order:
        u, i = user[row], item[row]
        error = error_free[row] - user_bias[u] - item_bias[i]
        for f in range(size):
            error -= user_factors[u, f] * item_factors[i, f]
        user_bias[u] += learning_rate * (error - regularisation * user_bias[u])
        item_bias[i] += learning_rate * (error - regularisation * item_bias[i])
        for f in range(size):
            p, q = user_factors[u, f], item_factors[i, f]
            user_factors[u, f] += learning_rate * (error * q - regularisation * p)
            item_factors[i, f] += learning_rate * (error * p - regularisation * q)


@register
@dataclass(eq=False)
class BiasedMF(Algorithm):
    r"""Matrix factorisation for rating prediction: biases and factors by stochastic descent.

    Predicts :math:`\hat r_{ui} = \mu + b_u + b_i + p_u \cdot q_i` and minimises, over the rated
    pairs only, :math:`\tfrac12 \sum (r_{ui} - \hat r_{ui})^2 + \tfrac\lambda2 (b_u^2 + b_i^2 +
    \|p_u\|^2 + \|q_i\|^2)`, one rating at a time, in a new random order in each epoch. Scores are
    predicted ratings.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of a step.
    regularisation : float
        :math:`\lambda`.
    n_epochs : int
        How often each rating is used.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    mean : float
        :math:`\mu`, the mean rating.
    user_bias, item_bias : float64 array (n_users,), (n_items,)
        b; zeros where there are no ratings.
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1.

    References
    ----------
    Koren, Bell & Volinsky, "Matrix factorization techniques for recommender systems", IEEE
    Computer 42(8), 2009.
    """

    n_factors: int = parameter(50, minimum=1)
    learning_rate: float = parameter(0.005, above=0)
    regularisation: float = parameter(0.05, minimum=0)
    n_epochs: int = parameter(30, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        value = encoded_values("BiasedMF", self.encoding, train)
        self.mean = float(value.mean())
        self.user_bias = np.zeros(train.n_users)
        self.item_bias = np.zeros(train.n_items)
        self.user_factors = rng.normal(0, 0.1, (train.n_users, self.n_factors))
        self.item_factors = rng.normal(0, 0.1, (train.n_items, self.n_factors))
        learned = (self.user_bias, self.item_bias, self.user_factors, self.item_factors)
        steps = (self.learning_rate, self.regularisation)
        for epoch in range(self.n_epochs):
            order = rng.permutation(len(train))
            _descend(order, train.user, train.item, value - self.mean, *learned, *steps)
            if any(map(_runaway, learned)):
                raise ConfigError(
                    f"BiasedMF: learning_rate {self.learning_rate:g} diverged in epoch {epoch + 1} "
                    f"on '{train.name}': choose a smaller one"
                )

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        offset = self.mean + self.user_bias[users]
        rows = np.column_stack([self.user_factors[users], offset, np.ones(len(users))])
        ones = np.ones(len(self.item_bias))
        return factor_scores(rows, np.column_stack([self.item_factors, ones, self.item_bias]))
