"""Factor models for ranking that minimise a squared error over all pairs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numba as nb
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
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

# The kernels call neither BLAS nor LAPACK, whose results depend on the number of threads. What
# takes the time is one operation, sums of outer products, which is written in vectors of 8 numbers:
# without `fastmath` (which may reorder sums) the compiler finds none where sums stay in registers.
# Each number of a matrix is still one sum, term by term in the order of the rows, with every
# product rounded (no fused multiply-add): neither the size of a tile nor the processor moves a bit.
_ROWS = 4
_LANES = 8
_CHUNK = 32


def _outer_products(*, subtract: bool) -> Any:
    """Make a function for kernels that adds outer products to a tile, or subtracts them."""

    @intrinsic
    def update(
        context: Any, matrix: Any, row: Any, column: Any, left: Any, right: Any, n: Any
    ) -> Any:
        """Let ``matrix[row + i, column + j]`` gain ``left[k, row + i] * right[k, column + j]``.

        For i below `_ROWS`, j below `_LANES` and k below `n`, which is at least 1; all three are
        float64 arrays in C order with equally many columns. No bound is checked.
        """

        def code(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, place, width = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
            vector = ir.VectorType(number, _LANES)
            arrays = [
                target.make_array(signature.args[at])(target, builder, arguments[at])
                for at in (0, 3, 4)
            ]
            first, start, count = arguments[1], arguments[2], arguments[5]
            size = builder.extract_value(arrays[0].shape, 1)
            above, beside = (builder.gep(array.data, [at]) for array, at in
                             zip(arrays[1:], (first, start), strict=True))  # fmt: skip

            def numbers(base: Any, offset: Any) -> Any:
                return builder.bitcast(builder.gep(base, [offset]), vector.as_pointer())

            places = [
                numbers(
                    arrays[0].data,
                    builder.add(
                        builder.mul(builder.add(first, ir.Constant(place, i)), size), start
                    ),
                )
                for i in range(_ROWS)
            ]
            sums = [builder.load(at, align=8) for at in places]
            before = builder.block
            body, after = (builder.append_basic_block(name) for name in ("term", "done"))
            builder.branch(body)
            builder.position_at_end(body)
            k = builder.phi(place)
            k.add_incoming(ir.Constant(place, 0), before)
            totals = [builder.phi(vector) for _ in range(_ROWS)]
            offset = builder.mul(k, size)
            factors = builder.load(numbers(beside, offset), align=8)
            everywhere = ir.Constant(ir.VectorType(width, _LANES), [0] * _LANES)
            for i, total in enumerate(totals):
                total.add_incoming(sums[i], before)
                at = builder.gep(above, [builder.add(offset, ir.Constant(place, i))])
                one = builder.insert_element(
                    ir.Constant(vector, ir.Undefined), builder.load(at), ir.Constant(width, 0)
                )
                product = builder.fmul(builder.shuffle_vector(one, one, everywhere), factors)
                sums[i] = (builder.fsub if subtract else builder.fadd)(total, product)
                total.add_incoming(sums[i], body)
            following = builder.add(k, ir.Constant(place, 1))
            k.add_incoming(following, body)
            builder.cbranch(builder.icmp_signed("<", following, count), body, after)
            builder.position_at_end(after)
            for at, value in zip(places, sums, strict=True):
                builder.store(value, at, align=8)
            return target.get_dummy_value()

        integer = types.intp
        return types.void(matrix, integer, integer, left, right, integer), code

    return update


_add = _outer_products(subtract=False)
_subtract = _outer_products(subtract=True)


@nb.njit(cache=True, nogil=True)
def _add_rows(matrix: Any, left: Any, right: Any, n: int, size: int) -> None:
    """Add ``left.T @ right`` of the first `n` rows to a matrix, from its diagonal on."""
    for row in range(0, size, _ROWS):
        for column in range(row - row % _LANES, matrix.shape[1], _LANES):
            _add(matrix, row, column, left, right, n)


@nb.njit(cache=True, nogil=True)
def _solve(matrix: Any, vector: Any) -> bool:
    """Solve by Cholesky from the upper triangle, in place; False if not positive definite.

    The right-hand side is the column of `matrix` after the last of the K of the equations. There
    are as many rows and columns more as fill tiles; what they hold does not matter.
    """
    size = len(vector)
    width = matrix.shape[1]
    root = np.empty(_ROWS)
    for row in range(0, size, _ROWS):
        if row > 0:
            for column in range(row - row % _LANES, width, _LANES):
                _subtract(matrix, row, column, matrix, matrix, row)
        # The rows of the tile: those behind the last equation become 0, and count for nothing.
        for k in range(_ROWS):
            at = row + k
            root[k] = 0.0
            if at < size:
                pivot = matrix[at, at]
                for i in range(k):
                    pivot -= matrix[row + i, at] * matrix[row + i, at]
                if not pivot > 0.0:
                    return False
                root[k] = 1.0 / np.sqrt(pivot)
            for column in range(at + 1, row + _ROWS):
                value = matrix[at, column]
                for i in range(k):
                    value -= matrix[row + i, at] * matrix[row + i, column]
                matrix[at, column] = value * root[k]
            matrix[at, at] = root[k]
        a, b, c, d = root[0], root[1], root[2], root[3]
        ab, ac, ad = matrix[row, row + 1], matrix[row, row + 2], matrix[row, row + 3]
        bc, bd, cd = matrix[row + 1, row + 2], matrix[row + 1, row + 3], matrix[row + 2, row + 3]
        for column in range(row + _ROWS, width):
            first = matrix[row, column] * a
            second = (matrix[row + 1, column] - ab * first) * b
            third = (matrix[row + 2, column] - ac * first - bc * second) * c
            fourth = (matrix[row + 3, column] - ad * first - bd * second - cd * third) * d
            matrix[row, column], matrix[row + 1, column] = first, second
            matrix[row + 2, column], matrix[row + 3, column] = third, fourth
    # The diagonal holds reciprocals of the roots.
    for k in range(size - 1, -1, -1):
        vector[k] = matrix[k, size]
    for row in range((size - 1) // _ROWS * _ROWS, -1, -_ROWS):
        # Four rows at a time, whose sums do not wait for each other.
        a = b = c = d = 0.0
        for j in range(row + _ROWS, size):
            a += matrix[row, j] * vector[j]
            b += matrix[row + 1, j] * vector[j]
            c += matrix[row + 2, j] * vector[j]
            d += matrix[row + 3, j] * vector[j]
        root[0], root[1], root[2], root[3] = a, b, c, d
        for k in range(min(_ROWS, size - row) - 1, -1, -1):
            total = root[k]
            for j in range(row + k + 1, min(row + _ROWS, size)):
                total += matrix[row + k, j] * vector[j]
            vector[row + k] = (vector[row + k] - total) * matrix[row + k, row + k]
    return True


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
    # One column more than factors, for the right-hand sides, and what fills tiles, with zeros.
    width = (size // _LANES + 1) * _LANES
    everything = np.zeros((width, width))
    matrix = np.empty((width, width))
    near = np.zeros((_CHUNK, width))
    weighted = np.zeros((_CHUNK, width))
    for start in range(0, len(fixed), _CHUNK):
        n = min(_CHUNK, len(fixed) - start)
        for m in range(n):
            for f in range(size):
                near[m, f] = fixed[start + m, f]
        _add_rows(everything, near, near, n, size)
    for f in range(size):
        everything[f, f] += regularisation
    for row in range(len(pointers) - 1):
        first, end = pointers[row], pointers[row + 1]
        if first == end:
            for f in range(size):
                solved[row, f] = 0.0
            continue
        for f in range(width):
            for g in range(width):
                matrix[f, g] = everything[f, g]
        for start in range(first, end, _CHUNK):
            n = min(_CHUNK, end - start)
            for m in range(n):
                at = start + m
                source, extra = other[at], confidence[at] - 1.0
                for f in range(size):
                    near[m, f] = fixed[source, f]
                    weighted[m, f] = extra * fixed[source, f]
                weighted[m, size] = confidence[at] * target[at]
            _add_rows(matrix, near, weighted, n, size)
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
