"""Factor models for ranking that minimise a squared error over all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.ratings import Ratings
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    by_item,
    encoded_values,
    factor_scores,
    parameter,
    register,
)

_LARGEST = 1e15
"""A larger factor means that training has run away; products of smaller ones fit into float32."""


def _runaway(learned: npt.NDArray[np.float64]) -> bool:
    return not bool((np.abs(learned) < _LARGEST).all())


# The kernels use plain loops instead of BLAS and LAPACK, whose results depend on the number of
# threads; row operations in the place of dot products, because without `fastmath` (which may
# reorder sums) only those become vector instructions; and no assignment to slices, each of which
# takes more than a second to compile.


@nb.njit(cache=True, nogil=True)
def _solve(matrix: Any, vector: Any) -> bool:
    """Solve in place by Cholesky from the upper triangle; False if not positive definite."""
    size = len(vector)
    for k in range(size):
        if not matrix[k, k] > 0.0:
            return False
        root = np.sqrt(matrix[k, k])
        for j in range(k, size):
            matrix[k, j] /= root
        for i in range(k + 1, size):
            factor = matrix[k, i]
            for j in range(i, size):
                matrix[i, j] -= factor * matrix[k, j]
    for k in range(size):
        vector[k] /= matrix[k, k]
        for j in range(k + 1, size):
            vector[j] -= vector[k] * matrix[k, j]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            vector[k] -= matrix[k, j] * vector[j]
        vector[k] /= matrix[k, k]
    return True


@nb.njit(cache=True, nogil=True)
def _gram(factors: Any) -> Any:
    """Return the upper triangle of ``factors.T @ factors``."""
    size = factors.shape[1]
    gram = np.zeros((size, size))
    for row in range(factors.shape[0]):
        for f in range(size):
            for g in range(f, size):
                gram[f, g] += factors[row, f] * factors[row, g]
    return gram


@nb.njit(cache=True, nogil=True)
def _half_step(
    pointers: Any,
    other: Any,
    confidence: Any,
    target: Any,
    fixed: Any,
    regularisation: float,
    solved: Any,
) -> bool:
    """Give each row of `solved` its best value while `fixed` stays; False if that failed."""
    size = fixed.shape[1]
    everything = _gram(fixed)
    for f in range(size):
        everything[f, f] += regularisation
    matrix = np.empty((size, size))
    # Eight ratings at a time, so that the matrix is read and written an eighth as often.
    near = np.zeros((8, size))
    extra = np.zeros(8)
    for row in range(len(pointers) - 1):
        for f in range(size):
            solved[row, f] = 0.0
        first, end = pointers[row], pointers[row + 1]
        if first == end:
            continue
        for f in range(size):
            for g in range(f, size):
                matrix[f, g] = everything[f, g]
        for start in range(first, end, 8):
            for m in range(8):
                at = start + m
                if at >= end:
                    extra[m] = 0.0
                    continue
                extra[m] = confidence[at] - 1.0
                pull = confidence[at] * target[at]
                for f in range(size):
                    near[m, f] = fixed[other[at], f]
                    solved[row, f] += pull * near[m, f]
            for f in range(size):
                a, b = extra[0] * near[0, f], extra[1] * near[1, f]
                c, d = extra[2] * near[2, f], extra[3] * near[3, f]
                e, h = extra[4] * near[4, f], extra[5] * near[5, f]
                k, n = extra[6] * near[6, f], extra[7] * near[7, f]
                for g in range(f, size):
                    matrix[f, g] += (
                        (a * near[0, g] + b * near[1, g]) + (c * near[2, g] + d * near[3, g])
                    ) + ((e * near[4, g] + h * near[5, g]) + (k * near[6, g] + n * near[7, g]))
        if not _solve(matrix, solved[row]):
            return False
    return True


@register
@dataclass(eq=False)
class WeightedMF(Algorithm):
    r"""Matrix factorisation for ranking: weighted least squares over all user-item pairs.

    Minimises :math:`\sum_{u,i} c_{ui} (t_{ui} - p_u \cdot q_i)^2 + \lambda (\sum_u \|p_u\|^2 +
    \sum_i \|q_i\|^2)` by solving for all items and all users in turn. A rated pair has the
    confidence :math:`c_{ui} = 1 + \alpha r_{ui}`; any other pair has target 0 and confidence 1.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    regularisation : float
        :math:`\lambda`, above 0.
    alpha : float
        What a rating adds to the confidence in its pair.
    n_iterations : int
        Number of rounds, items and then users in each.
    target : {"rating", "binary"}
        t of a rated pair: the rating itself, as in RankSys, or 1, as in the publication.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    user_factors : float64 array (n_users, n_factors)
        p; zeros for users without ratings.
    item_factors : float64 array (n_items, n_factors)
        q; zeros for items without ratings.

    References
    ----------
    Hu, Koren & Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008.
    """

    n_factors: int = parameter(50, minimum=1)
    regularisation: float = parameter(0.1, above=0)
    alpha: float = parameter(1.0, minimum=0)
    n_iterations: int = parameter(20, minimum=1)
    target: Literal["rating", "binary"] = parameter("rating", choices=("rating", "binary"))
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        confidence, target = self._weights(train)
        item_pointers, rows = by_item(train)
        # Copies, because the kernel would be compiled once more for read-only arrays.
        by_user = (train.indptr.copy(), train.item.copy(), confidence, target)
        by_its_item = (item_pointers, train.user[rows], confidence[rows], target[rows])
        scale = np.sqrt(1 / self.n_factors)
        self.user_factors = rng.uniform(0, scale, (train.n_users, self.n_factors))
        self.user_factors[~self._known_user] = 0
        self.item_factors = np.zeros((train.n_items, self.n_factors))
        for _ in range(self.n_iterations):
            for sides, fixed, solved in (
                (by_its_item, self.user_factors, self.item_factors),
                (by_user, self.item_factors, self.user_factors),
            ):
                if not _half_step(*sides, fixed, self.regularisation, solved) or _runaway(solved):
                    raise ConfigError(
                        f"WeightedMF: regularisation {self.regularisation:g} is too small for "
                        f"{self.n_factors} factors on '{train.name}': the equations are singular"
                    )

    def _weights(self, train: Ratings) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        value = encoded_values("WeightedMF", self.encoding, train, minimum=0)
        target = np.ones_like(value) if self.target == "binary" else value
        return 1 + self.alpha * value, target

    def loss(self, train: Ratings) -> float:
        """Return the objective on ratings.

        Parameters
        ----------
        train : Ratings
            Ratings with the vocabularies of those that the model was fitted on.
        """
        p, q = self.user_factors, self.item_factors
        confidence, target = self._weights(train)
        product = np.einsum("rf,rf->r", p[train.user], q[train.item])
        every_pair = np.sum((p.T @ p) * (q.T @ q))
        rated = np.sum(confidence * (target - product) ** 2 - product**2)
        return float(every_pair + rated + self.regularisation * (np.sum(p**2) + np.sum(q**2)))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)
