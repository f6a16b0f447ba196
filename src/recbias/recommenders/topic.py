"""Topic models: users as mixtures of distributions over items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.ratings import Ratings
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    encoded_values,
    factor_scores,
    parameter,
    register,
)


@nb.njit(cache=True, nogil=True)
def _add_gains(
    user: Any, item: Any, value: Any, topics: Any, items: Any, topic_gain: Any, item_gain: Any
) -> None:
    """Add, for each rating r with p = P(i|u), r / p times the other side's estimates.

    The old estimate times its gain is the sum over ratings of r P(z|u,i), the M-step's numerator:
    the posterior need not be stored.
    """
    n_topics = topics.shape[1]
    for row in range(len(user)):
        u, i, r = user[row], item[row], value[row]
        p = 0.0
        for z in range(n_topics):
            p += topics[u, z] * items[i, z]
        if r == 0.0 or p == 0.0:
            continue
        weight = r / p
        for z in range(n_topics):
            topic_gain[u, z] += weight * items[i, z]
            item_gain[i, z] += weight * topics[u, z]


def _shares(weights: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
    """Divide by the sums along an axis; where a sum is 0, so are the shares."""
    sums = weights.sum(axis=axis, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)


@register
@dataclass(eq=False)
class PLSA(Algorithm):
    r"""Probabilistic latent semantic analysis, fitted by expectation maximisation.

    Maximises :math:`\sum_{u,i} r_{ui} \log \sum_z P(z|u) P(i|z)` over the rated pairs and scores
    with :math:`P(i|u)`. No tempering, no smoothing. The likelihood never falls; where it ends
    depends on the random start.

    Parameters
    ----------
    n_topics : int
        Number of topics z.
    n_iterations : int
        Number of EM steps.
    encoding : str
        What a rating weighs, see `Encoding`.

    Attributes
    ----------
    topics : float64 array (n_users, n_topics)
        P(z|u); zeros for users without ratings.
    items : float64 array (n_items, n_topics)
        P(i|z); columns add up to 1, zeros for items without ratings.

    References
    ----------
    Hofmann, "Latent semantic models for collaborative filtering", ACM TOIS 22(1), 2004.
    """

    n_topics: int = parameter(50, minimum=1)
    n_iterations: int = parameter(100, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        value = encoded_values("PLSA", self.encoding, train, minimum=0)
        topics = rng.random((train.n_users, self.n_topics)) * self._known_user[:, None]
        items = rng.random((train.n_items, self.n_topics)) * self._known_item[:, None]
        topics, items = _shares(topics, 1), _shares(items, 0)
        for _ in range(self.n_iterations):
            gains = np.zeros_like(topics), np.zeros_like(items)
            _add_gains(train.user, train.item, value, topics, items, *gains)
            topics, items = _shares(topics * gains[0], 1), _shares(items * gains[1], 0)
        self.topics, self.items = topics, items

    def log_likelihood(self, train: Ratings) -> float:
        """Return the objective on ratings.

        Parameters
        ----------
        train : Ratings
            Ratings with the vocabularies of those that the model was fitted on.
        """
        value = encoded_values("PLSA", self.encoding, train, minimum=0)
        p = np.einsum("rz,rz->r", self.topics[train.user], self.items[train.item])
        return float(value @ np.log(p))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.topics[users], self.items)
