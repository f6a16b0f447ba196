"""Least squares over all pairs, one number of one vector at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
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

# Plain loops and no BLAS, whose results depend on the number of threads. Whatever has its own loop
# over one array index becomes vector instructions; so the loops are apart, in short functions.


@nb.njit(cache=True, nogil=True)
def _add(total: Any, line: Any, factor: float) -> None:
    for f in range(len(total)):
        total[f] += factor * line[f]


@nb.njit(cache=True, nogil=True)
def _add_four(total: Any, lines: Any, factors: Any) -> None:
    """Add four lines, one after the other, but read and write the total once."""
    a, b, c, d = lines
    p, q, r, s = factors
    for f in range(len(total)):
        total[f] = (((total[f] + p * a[f]) + q * b[f]) + r * c[f]) + s * d[f]


@nb.njit(cache=True, nogil=True)
def _add_squares(total: Any, line: Any, factor: float) -> None:
    for f in range(len(total)):
        total[f] += factor * line[f] * line[f]


@nb.njit(cache=True, nogil=True)
def _subtract(rest: Any, excess: Any, column: Any, factor: float) -> None:
    for m in range(len(column)):
        rest[m] -= factor * excess[m] * column[m]


@nb.njit(cache=True, nogil=True)
def dot(left: Any, right: Any) -> float:
    """Multiply and add in eight sums, which need not wait for each other."""
    a = b = c = d = e = f = g = h = 0.0
    for eight in range(len(right) // 8):
        m = 8 * eight
        a += left[m] * right[m]
        b += left[m + 1] * right[m + 1]
        c += left[m + 2] * right[m + 2]
        d += left[m + 3] * right[m + 3]
        e += left[m + 4] * right[m + 4]
        f += left[m + 5] * right[m + 5]
        g += left[m + 6] * right[m + 6]
        h += left[m + 7] * right[m + 7]
    for m in range(len(right) // 8 * 8, len(right)):
        a += left[m] * right[m]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@nb.njit(cache=True, nogil=True)
def _weighted_gram(factors: Any, weight: Any) -> Any:
    """Return ``factors.T @ diag(weight) @ factors``."""
    size = factors.shape[1]
    gram = np.zeros((size, size))
    fours = len(factors) // 4 * 4
    for row in range(0, fours, 4):
        a, b, c, d = factors[row], factors[row + 1], factors[row + 2], factors[row + 3]
        p, q, r, s = weight[row], weight[row + 1], weight[row + 2], weight[row + 3]
        for f in range(size):
            lines = (a[f:], b[f:], c[f:], d[f:])
            _add_four(gram[f, f:], lines, (p * a[f], q * b[f], r * c[f], s * d[f]))
    for row in range(fours, len(factors)):
        for f in range(size):
            _add(gram[f, f:], factors[row, f:], weight[row] * factors[row, f])
    for f in range(size):
        for g in range(f):
            gram[f, g] = gram[g, f]
    return gram


@nb.njit(cache=True, nogil=True)
def _half_step(
    pointers: Any,
    other: Any,
    weight: Any,
    excess: Any,
    share: Any,
    fixed: Any,
    gram: Any,
    regularisation: float,
    improved: Any,
) -> None:
    """Give each number of each row in turn its best value while all others stay.

    `excess` is what the weight of a rated pair adds to that of the pair without rating, and may be
    negative; `gram` times the `share` of a row stands for all pairs of the row, as if none were
    rated. `bend`, by which steps are divided, is a sum of weights times squares, hence positive.
    """
    size = fixed.shape[1]
    longest = 0
    for row in range(len(pointers) - 1):
        longest = max(longest, pointers[row + 1] - pointers[row])
    near = np.empty(size * longest)
    rest, over = np.empty(longest), np.empty(longest)
    bend, spread = np.empty(size), np.empty(size)
    for row in range(len(pointers) - 1):
        first, n_rated = pointers[row], pointers[row + 1] - pointers[row]
        if n_rated == 0:
            continue
        for f in range(size):
            bend[f] = share[row] * gram[f, f] + regularisation
            spread[f] = 0.0
        # The vectors of the rated, a line per factor.
        for m in range(n_rated):
            rated = first + m
            vector = fixed[other[rated]]
            for f in range(size):
                near[f * n_rated + m] = vector[f]
            _add_squares(bend, vector, excess[rated])
            over[m] = excess[rated]
            rest[m] = weight[rated] - excess[rated] * dot(improved[row], vector)
        # From here on, rest is weight - excess * prediction, and spread is share * row @ gram.
        mine, part = improved[row], share[row]
        for f in range(0, size // 4 * 4, 4):
            lines = (gram[f], gram[f + 1], gram[f + 2], gram[f + 3])
            factors = (part * mine[f], part * mine[f + 1], part * mine[f + 2], part * mine[f + 3])
            _add_four(spread, lines, factors)
        for f in range(size // 4 * 4, size):
            _add(spread, gram[f], part * mine[f])
        for f in range(size):
            column = near[f * n_rated : (f + 1) * n_rated]
            slope = dot(rest, column) - spread[f] - regularisation * improved[row, f]
            step = slope / bend[f]
            improved[row, f] += step
            _subtract(rest, over, column, step)
            # Those of the numbers before it are not asked for again.
            _add(spread[f + 1 :], gram[f, f + 1 :], part * step)


@register
@dataclass(eq=False)
class ElementwiseALS(Algorithm):
    r"""Matrix factorisation by element-wise least squares, with a weight for what is missing.

    Minimises :math:`\sum_{(u,i) \in R} w_{ui} (1 - p_u \cdot q_i)^2 + \sum_{(u,i) \notin R} c_i
    (p_u \cdot q_i)^2 + \lambda (\sum_u \|p_u\|^2 + \sum_i \|q_i\|^2)`, where R are the rated
    pairs. One number after the other gets its best value while all others stay, which takes a
    power of `n_factors` less than solving for whole vectors. A popular item that a user has not
    rated was probably seen and not wanted: :math:`c_i = c_0 n_i^a / \sum_j n_j^a` for an item with
    :math:`n_i` ratings.

    ================  ========================  ==================  ======================
    `weighting`       :math:`w_{ui}`            :math:`c_i`         in LibRec
    ================  ========================  ==================  ======================
    ``popularity``    1                         as above            0, as the publication
    ``uniform``       :math:`1 + r_{ui}`        1                   1, the default there
    ``both``          :math:`1 + r_{ui}`        as above            2
    ================  ========================  ==================  ======================

    A rating that counts 0 is a rated pair like any other, with the target 1 and the weight 1.

    Parameters
    ----------
    n_factors : int
        Length K of the vectors.
    regularisation : float
        :math:`\lambda`, above 0.
    overall_weight : float
        :math:`c_0`, the sum of :math:`c_i` over all items; without effect if `weighting` is
        ``"uniform"``.
    popularity_exponent : float
        a; with 0, all items with ratings have the same :math:`c_i`. Without effect if `weighting`
        is ``"uniform"``.
    weighting : {"popularity", "uniform", "both"}
        Which weights, see above.
    n_iterations : int
        Number of rounds, users and then items in each.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; zeros for users and items without ratings. They start from a normal distribution
        with standard deviation 0.1.

    See Also
    --------
    WeightedMF : With a binary target, the same objective as ``"uniform"``, solved by vectors.

    Notes
    -----
    **Defaults.** The weighting is the publication's; it tunes `overall_weight` per data set. All
    numbers are those of LibRec 2.0. The figures of MCCRS20 were made with ``"uniform"``, which
    switches off what is new in the publication, and with 200 factors.

    **Complexity.** :math:`O(n K + (U + I) K^2)` per iteration, for n ratings, U users and I items.
    Memory: the vectors, a few numbers per rating, and K numbers per rating of one user or item.

    **Non-computable.** Pairs of a user or an item without training ratings.

    References
    ----------
    He, Zhang, Kan & Chua, "Fast matrix factorization for online recommendation with implicit
    feedback", SIGIR 2016.

    Examples
    --------
    The best product z for a single rating minimises w (1 - z)^2 + 2 lambda z, so it is
    1 - lambda / w; here w = 1.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1], "item_id": ["a"], "rating": [1.0]})
    >>> model = ElementwiseALS(n_factors=1, regularisation=0.5, n_iterations=100)
    >>> model.fit(Ratings.from_frame(frame), rng=np.random.default_rng(1)).score(np.array([0]))
    array([[0.5]], dtype=float32)
    """

    n_factors: int = parameter(32, minimum=1)
    regularisation: float = parameter(0.01, above=0)
    overall_weight: float = parameter(128.0, minimum=0)
    popularity_exponent: float = parameter(0.4, minimum=0)
    weighting: Literal["popularity", "uniform", "both"] = parameter(
        "popularity", choices=("popularity", "uniform", "both")
    )
    n_iterations: int = parameter(20, minimum=1)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"
    minimum_value: ClassVar[float] = 0.0
    objective_trend: ClassVar[Trend] = "falls"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        weight, missing = self._weights(train)
        excess = weight - missing[train.item]
        item_pointers, rows = by_item(train)
        # Copies, because the kernel would be compiled once more for read-only arrays.
        by_user = (train.indptr.copy(), train.item.copy(), weight, excess, np.ones(train.n_users))
        by_its_item = (item_pointers, train.user[rows], weight[rows], excess[rows], missing)
        self.user_factors = rng.normal(0, 0.1, (train.n_users, self.n_factors))
        self.item_factors = rng.normal(0, 0.1, (train.n_items, self.n_factors))
        self.user_factors[~self._known_user] = 0
        self.item_factors[~self._known_item] = 0
        p, q = self.user_factors, self.item_factors
        for _ in self._iterations(self.n_iterations, train):
            gram = _weighted_gram(q, missing)
            _half_step(*by_user, q, gram, self.regularisation, p)
            gram = _weighted_gram(p, np.ones(train.n_users))
            _half_step(*by_its_item, p, gram, self.regularisation, q)
            self.refuse_runaway(train, "choose a larger regularisation", p, q)

    def _weights(self, train: Ratings) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return w of each rated pair and c of each item, in new arrays."""
        weight = np.ones(len(train)) if self.weighting == "popularity" else 1 + train.value
        if self.weighting == "uniform":
            return weight, np.ones(train.n_items)
        counts = train.item_counts()
        # By the largest, so that no power is too large.
        popularity = (counts / counts.max()) ** self.popularity_exponent
        popularity[counts == 0] = 0
        return weight, self.overall_weight * popularity / popularity.sum()

    def _objective(self, train: Ratings) -> float:
        p, q = self.user_factors, self.item_factors
        weight, missing = self._weights(train)
        product = rated_products(train, p, q)
        every_pair = np.sum((p.T @ p) * (q.T @ (missing[:, None] * q)))
        rated = np.sum(weight * (1 - product) ** 2 - missing[train.item] * product**2)
        return float(every_pair + rated + self.regularisation * (np.sum(p**2) + np.sum(q**2)))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)
