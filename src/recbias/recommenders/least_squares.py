"""Factor models for ranking that minimise a squared error over all pairs."""

from __future__ import annotations

from abc import abstractmethod
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
    Trend,
    by_item,
    factor_scores,
    parameter,
    rated_products,
    register,
)

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


class _AllPairsALS(Algorithm):
    """Solve for one side and then for the other; no dataclass: subclasses order the parameters."""

    coverage: ClassVar[Coverage] = "known pairs"
    minimum_value: ClassVar[float] = 0.0
    objective_trend: ClassVar[Trend] = "falls"
    n_factors: int
    regularisation: float
    n_iterations: int

    @abstractmethod
    def _weights(self, train: Ratings) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return confidence and target of each rated pair, in new arrays."""

    @abstractmethod
    def _start(self, train: Ratings, rng: np.random.Generator) -> bool:
        """Draw the vectors of one side into its array; True if those of the items."""

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self.user_factors = np.zeros((train.n_users, self.n_factors))
        self.item_factors = np.zeros((train.n_items, self.n_factors))
        confidence, target = self._weights(train)
        item_pointers, rows = by_item(train)
        # Copies, because the kernel would be compiled once more for read-only arrays.
        by_user = (train.indptr.copy(), train.item.copy(), confidence, target)
        by_its_item = (item_pointers, train.user[rows], confidence[rows], target[rows])
        halves = [
            (by_its_item, self.user_factors, self.item_factors),
            (by_user, self.item_factors, self.user_factors),
        ]
        if self._start(train, rng):
            halves.reverse()
        self.user_factors[~self._known_user] = 0
        self.item_factors[~self._known_item] = 0
        name = type(self).__name__
        remedy = (
            f"regularisation {self.regularisation:g} is too small for {self.n_factors} factors: "
            "choose a larger one, or fewer factors"
        )
        for _ in self._iterations(self.n_iterations, train):
            for sides, fixed, solved in halves:
                if not _half_step(*sides, fixed, self.regularisation, solved):
                    raise ConfigError(
                        f"{name}: the equations on '{train.name}' are singular\n{remedy}"
                    )
                self.refuse_runaway(train, remedy, solved)

    def _objective(self, train: Ratings) -> float:
        p, q = self.user_factors, self.item_factors
        confidence, target = self._weights(train)
        product = rated_products(train, p, q)
        every_pair = np.sum((p.T @ p) * (q.T @ q))
        rated = np.sum(confidence * (target - product) ** 2 - product**2)
        return float(every_pair + rated + self.regularisation * (np.sum(p**2) + np.sum(q**2)))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)


@register
@dataclass(eq=False)
class WeightedMF(_AllPairsALS):
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
        p; zeros for users without ratings. They start from a uniform distribution between 0 and
        :math:`\sqrt{1 / K}`, where K is `n_factors`.
    item_factors : float64 array (n_items, n_factors)
        q; zeros for items without ratings.

    Raises
    ------
    ConfigError
        If `regularisation` is so small that the equations cannot be solved.

    See Also
    --------
    WRMF : Another confidence, and users first.
    ElementwiseALS : Improves one number at a time instead of solving for a vector.

    Notes
    -----
    **Defaults.** All are those of the example that comes with RankSys. The publication has the
    binary target and recommends an `alpha` of 40, for another kind of data.

    **Complexity.** :math:`O(n K^2 + (U + I) K^3)` per iteration, for n ratings, U users, I items
    and K factors. Memory: the vectors, and a few numbers per rating.

    **Non-computable.** Pairs of a user or an item without training ratings.

    References
    ----------
    Hu, Koren & Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008.

    Examples
    --------
    The best product z for a single rating minimises c (t - z)^2 + 2 lambda z, so it
    is t - lambda / c; here c = 1 + 1 and t = 1.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1], "item_id": ["a"], "rating": [1.0]})
    >>> model = WeightedMF(n_factors=1, regularisation=0.5, n_iterations=100)
    >>> model.fit(Ratings.from_frame(frame), rng=np.random.default_rng(1)).score(np.array([0]))
    array([[0.75]], dtype=float32)
    """

    n_factors: int = parameter(50, minimum=1)
    regularisation: float = parameter(0.1, above=0)
    alpha: float = parameter(1.0, minimum=0)
    n_iterations: int = parameter(20, minimum=1)
    target: Literal["rating", "binary"] = parameter("rating", choices=("rating", "binary"))
    encoding: str = parameter("stars")

    def _weights(self, train: Ratings) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        target = np.ones(len(train)) if self.target == "binary" else train.value.copy()
        return 1 + self.alpha * train.value, target

    def _start(self, train: Ratings, rng: np.random.Generator) -> bool:
        self.user_factors[:] = rng.uniform(0, np.sqrt(1 / self.n_factors), self.user_factors.shape)
        return False


@register
@dataclass(eq=False)
class WRMF(_AllPairsALS):
    r"""Weighted regularised matrix factorisation as LibRec has it: a logarithmic confidence.

    Minimises the objective of `WeightedMF` with the confidence :math:`c_{ui} = 1 + \ln(1 +
    10^\alpha r_{ui})` and the target 1 of every rated pair. A rating that counts 0 thus has the
    confidence of a pair without rating, but is to be reached like any other: what was seen and
    disliked attracts the model too. All users and all items are solved for in turn.

    Parameters
    ----------
    n_factors : int
        Length K of the vectors.
    regularisation : float
        :math:`\lambda`, above 0.
    alpha : float
        Power of ten by which a rating is multiplied: at 4, a rating of 1 has the confidence 10.2,
        and one of 2 just 0.7 more.
    n_iterations : int
        Number of rounds, users and then items in each.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    user_factors : float64 array (n_users, n_factors)
        p; zeros for users without ratings.
    item_factors : float64 array (n_items, n_factors)
        q; zeros for items without ratings. They start from a normal distribution with standard
        deviation 0.1.

    Raises
    ------
    ConfigError
        If `regularisation` is so small that the equations cannot be solved.

    See Also
    --------
    WeightedMF : The confidence of the publication.

    Notes
    -----
    **Defaults.** All are those of LibRec 3.0, with which the figures of MCCRS20 were made; LibRec
    2.0 has 10 factors. The start is that of LibRec 2.0.0; version 3.0 has a standard deviation of
    0.001. Version 3.0 also adds the regularisation to every cell of the matrix instead of the
    diagonal, which is not done here. The publication names the idea, not this confidence.

    **Complexity.** :math:`O(n K^2 + (U + I) K^3)` per iteration, for n ratings, U users and I
    items. Memory: the vectors, and a few numbers per rating.

    **Non-computable.** Pairs of a user or an item without training ratings.

    References
    ----------
    Hu, Koren & Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008. Pan
    et al., "One-class collaborative filtering", ICDM 2008. Guo, Zhang, Sun & Yorke-Smith, "LibRec:
    a Java library for recommender systems", UMAP 2015 Extended Proceedings.
    """

    n_factors: int = parameter(20, minimum=1)
    regularisation: float = parameter(0.01, above=0)
    alpha: float = parameter(4.0)
    n_iterations: int = parameter(20, minimum=1)
    encoding: str = parameter("stars")

    def _weights(self, train: Ratings) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        # In logarithms, so that no power of ten is too large.
        log_rating = np.full(len(train), -np.inf)
        np.log(train.value, out=log_rating, where=train.value > 0)
        confidence = 1 + np.logaddexp(0, self.alpha * np.log(10) + log_rating)
        return confidence, np.ones(len(train))

    def _start(self, train: Ratings, rng: np.random.Generator) -> bool:
        self.item_factors[:] = rng.normal(0, 0.1, self.item_factors.shape)
        return True
