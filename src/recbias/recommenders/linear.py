"""Linear item-item models: a profile times a matrix of weights between items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt
import scipy.sparse
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from recbias._system.memory import row_blocks
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.recommenders.base import Algorithm, Coverage, Trend, parameter, register
from recbias.recommenders.neighbourhood import weighted_sums

_AT_ONCE = 80
"""How many weights a column may take in per round; more for one that has many already."""

_NEVER, _OUTSIDE, _INSIDE = 0, 1, 2
"""What a weight may be: of no candidate, 0 until it is taken in, or being solved for."""


@nb.njit(cache=True, nogil=True)
def _add_products(pointers: Any, column: Any, value: Any, gram: Any) -> None:
    """Add the products of each row's values; a stored zero keeps the place of a rating."""
    for row in range(len(pointers) - 1):
        for at in range(pointers[row], pointers[row + 1]):
            i, factor = column[at], value[at]
            for to in range(at, pointers[row + 1]):
                gram[i, column[to]] += factor * value[to]
    for i in range(len(gram)):
        for j in range(i + 1, len(gram)):
            gram[j, i] = gram[i, j]


def item_products(
    train: Ratings, value: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """Return the inner products of all pairs of item columns: a dense matrix.

    Parameters
    ----------
    train : Ratings
        Ratings.
    value : float64 array (n,), optional
        What the ratings count instead of ``train.value``; ones count the users in common.

    Returns
    -------
    float64 array (n_items, n_items)
        Symmetric. The sums run over the users in ascending order, in one thread.
    """
    gram = np.zeros((train.n_items, train.n_items))
    factors = train.value if value is None else value
    _add_products(train.indptr.copy(), train.item.copy(), factors.copy(), gram)
    return gram


@nb.njit(cache=True, nogil=True)
def _dense_sums(
    users: Any, pointers: Any, column: Any, value: Any, weights: Any, scores: Any
) -> None:
    """Fill in each user's profile times `weights`; NaN where all weights of the profile are 0."""
    n_items = scores.shape[1]
    # A strip of items at a time: so much of the matrix stays in the cache from user to user.
    width = 256
    sums = np.empty(width)
    has_weight = np.empty(width, dtype=np.bool_)
    for start in range(0, n_items, width):
        size = min(width, n_items - start)
        for row in range(len(users)):
            for i in range(size):
                sums[i], has_weight[i] = 0.0, False
            for at in range(pointers[users[row]], pointers[users[row] + 1]):
                rating, near = value[at], weights[column[at], start : start + size]
                for i in range(size):
                    sums[i] += rating * near[i]
                    has_weight[i] |= near[i] != 0.0
            for i in range(size):
                scores[row, start + i] = sums[i] if has_weight[i] else np.nan


class _DenseWeights(Algorithm):
    """A model with a full matrix of weights; not a dataclass, subclasses order the parameters."""

    coverage: ClassVar[Coverage] = "evidence"
    deterministic: ClassVar[bool] = True
    weights: npt.NDArray[np.float64]

    def _remember(self, train: Ratings) -> None:
        self._profiles = (train.indptr.copy(), train.item.copy(), train.value.copy())

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        scores = np.empty((len(users), len(self.weights)), dtype=np.float32)
        _dense_sums(users, *self._profiles, self.weights, scores)
        return scores


@register
@dataclass(eq=False)
class AssociationRules(_DenseWeights):
    r"""Score an item with how often it goes with the items of the profile.

    Each user is a transaction: :math:`n_{ij}` users rated both i and j, :math:`n_i` rated i. The
    rule "who rated j rates i" has the confidence :math:`C_{ji} = n_{ij} / n_j`, the share of the
    raters of j who rated i, and the lift :math:`C_{ji} = N n_{ij} / (n_i n_j)` with N users, by
    which j makes i more likely. All rules count, the weak ones too. The score is
    :math:`\sum_{j \in R(u)} r_{uj} C_{ji}` over the profile R(u); no rule leads from an item to
    itself.

    Confidence favours popular items by construction, since :math:`n_{ij} \le n_i`. Lift favours
    items that hardly anyone rated: one user in common is much for them.

    Parameters
    ----------
    measure : {"confidence", "lift"}
        What C is.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    weights : float64 array (n_items, n_items)
        C, with the condition j as row; zeros on the diagonal.

    Notes
    -----
    **Defaults.** Confidence on stars is what LibRec computes; its demo configuration for release
    1.3 makes every rating 1 first, which is ``encoding="binary-all"``.

    **Complexity.** Counting takes :math:`\sum_u n_u^2` steps for profiles of :math:`n_u` items,
    scoring a user :math:`n_u` times the number of items. The rules are a dense matrix of 8 bytes
    for each pair of items.

    **Non-computable.** Pairs where no item of the profile was rated together with the item by
    anyone. A rating that counts 0 is evidence, but adds nothing to the score.

    References
    ----------
    Agrawal, Imieliński & Swami, "Mining association rules between sets of items in large
    databases", SIGMOD 1993. Kim & Kim, "A recommendation algorithm using multi-level association
    rules", WI 2003, which LibRec's class names as its source.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"user_id": [1, 1, 2, 2, 3], "item_id": list("abaca"), "rating": [4, 3, 5, 5, 2]}
    ... )
    >>> rules = AssociationRules().fit(Ratings.from_frame(frame))

    Of three raters of a, one rated b and one c; all raters of b and of c rated a:

    >>> rules.weights.round(2)
    array([[0.  , 0.33, 0.33],
           [1.  , 0.  , 0.  ],
           [1.  , 0.  , 0.  ]])
    >>> rules.score(np.array([2]))
    array([[      nan, 0.6666667, 0.6666667]], dtype=float32)
    """

    measure: Literal["confidence", "lift"] = parameter("confidence", choices=("confidence", "lift"))
    encoding: str = parameter("stars")

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self.refuse_pairs(train, 8)
        together = item_products(train, np.ones(len(train)))
        counts = np.maximum(train.item_counts(), 1)
        together /= counts[:, None]
        if self.measure == "lift":
            together *= self._known_user.sum() / counts
        np.fill_diagonal(together, 0)
        self.weights = together
        self._remember(train)


@nb.njit(cache=True, nogil=True)
def _regressions(inverse: Any, diagonal: Any) -> None:
    """Turn an inverse, known on and above its diagonal, into the weights of all regressions."""
    for i in range(len(inverse)):
        for j in range(i + 1, len(inverse)):
            shared = inverse[i, j] + 0.0  # never -0.0
            inverse[i, j] = shared / -diagonal[j]
            inverse[j, i] = shared / -diagonal[i]
        inverse[i, i] = 0.0


@register
@dataclass(eq=False)
class EASE(_DenseWeights):
    r"""Linear regression of each item on all others, in closed form.

    Minimises :math:`\|X - XB\|_F^2 + \lambda \|B\|_F^2` with zeros on the diagonal of B. With
    :math:`P = (X^\top X + \lambda I)^{-1}` the solution is :math:`B_{ij} = -P_{ij} / P_{jj}`.
    Scores are the rows of XB. Weights may be negative, and nearly all are non-zero: neither is the
    case for `SLIM`.

    Parameters
    ----------
    regularisation : float
        :math:`\lambda`, above 0.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    weights : float64 array (n_items, n_items)
        B; zeros on the diagonal.

    Raises
    ------
    ConfigError
        If `regularisation` is too small for the matrix to be inverted.

    Notes
    -----
    **Defaults.** The publication's choice for MovieLens 20M, on its 4 and 5 stars as 1.

    **Complexity.** Inverting takes time that grows with the third power of the number of items,
    scoring a user their number of ratings times the number of items. Learning holds one dense
    matrix of 8 bytes for each pair of items, which stays.

    **Non-computable.** Pairs where every weight from the profile to the item is exactly 0: items
    that no chain of raters connects with the profile.

    References
    ----------
    Steck, "Embarrassingly shallow autoencoders for sparse data", WWW 2019.

    Examples
    --------
    Two users like both items, so that the matrix of products is [[2, 2], [2, 2]]:

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": list("abab"), "rating": 5})
    >>> ease = EASE(regularisation=2, encoding="binary-all").fit(Ratings.from_frame(frame))
    >>> ease.score(np.array([0]))
    array([[0.5, 0.5]], dtype=float32)
    """

    regularisation: float = parameter(500.0, above=0)
    encoding: str = parameter("binary-pos>=4")

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        from scipy.linalg import lapack  # not above: workers that fit other models need it not

        self.refuse_pairs(train, 8)
        gram = item_products(train)
        np.fill_diagonal(gram, gram.diagonal() + self.regularisation)
        # With more threads BLAS sums in another order. The transpose of a symmetric matrix is the
        # same one in the order in which LAPACK works in place.
        with threadpool_limits(1):
            inverse, failed = lapack.dpotrf(gram.T, lower=1, overwrite_a=1)
            if not failed:
                inverse, failed = lapack.dpotri(inverse, lower=1, overwrite_c=1)
        if failed:
            raise ConfigError(
                f"EASE: regularisation {self.regularisation:g} is too small on '{train.name}': "
                "the matrix of item products is singular\nchoose a larger one"
            )
        self.weights = inverse.T  # in the memory of the products: another matrix may not fit
        _regressions(self.weights, self.weights.diagonal().copy())
        self.refuse_runaway(train, "choose a larger regularisation", self.weights)
        self._remember(train)


@nb.njit(cache=True, nogil=True)
def _residual_products(
    gram: Any, target: int, chosen: Any, weight: Any, size: int, out: Any
) -> None:
    """Fill in each item's product with what the chosen items leave of the target's column."""
    n_items = len(gram)
    for i in range(n_items):
        out[i] = gram[target, i]
    # Four rows at a time, so that `out` is read and written a quarter as often.
    a = 0
    while a + 4 <= size:
        near, next_ = gram[chosen[a]], gram[chosen[a + 1]]
        third, last = gram[chosen[a + 2]], gram[chosen[a + 3]]
        p, q, r, s = weight[a], weight[a + 1], weight[a + 2], weight[a + 3]
        for i in range(n_items):
            out[i] -= (p * near[i] + q * next_[i]) + (r * third[i] + s * last[i])
        a += 4
    while a < size:
        near, p = gram[chosen[a]], weight[a]
        for i in range(n_items):
            out[i] -= p * near[i]
        a += 1


@nb.njit(cache=True, nogil=True)
def _best(product: float, l1: float, curvature: float, signed: bool) -> float:
    """Return the best value of one weight while the others stay."""
    if product > l1:
        return (product - l1) / curvature
    if signed and product < -l1:
        return (product + l1) / curvature
    return 0.0


@nb.njit(cache=True, nogil=True)
def _admit(
    product: Any,
    gram: Any,
    l1: Any,
    l2: Any,
    signed: bool,
    tolerance: float,
    place: Any,
    weight: Any,
    gain: Any,
) -> Any:
    """Let in the weights whose step from 0 lowers the objective most; return the largest step."""
    largest, n_waiting, n_inside = 0.0, 0, 0
    for i in range(len(gram)):
        gain[i] = 0.0
        if place[i] == _NEVER:
            continue
        curvature = gram[i, i] + l2[i]
        step = _best(product[i] + gram[i, i] * weight[i], l1[i], curvature, signed) - weight[i]
        largest = max(largest, abs(step))
        if place[i] == _INSIDE:
            n_inside += 1
        elif abs(step) > tolerance:
            gain[i] = step * step * curvature
            n_waiting += 1
    # Those above the mean gain, then those above their mean, until they are few enough.
    threshold, n_above, n_before = 0.0, n_waiting, n_waiting + 1
    while max(_AT_ONCE, n_inside // 2) < n_above < n_before:
        total = 0.0
        for i in range(len(gram)):
            if gain[i] > 0.0 and gain[i] >= threshold:
                total += gain[i]
        threshold = total / n_above
        n_before, n_above = n_above, 0
        for i in range(len(gram)):
            if gain[i] > 0.0 and gain[i] >= threshold:
                n_above += 1
    for i in range(len(gram)):
        if gain[i] > 0.0 and gain[i] >= threshold:
            place[i] = _INSIDE
    return largest


@nb.njit(cache=True, nogil=True)
def _descend(
    gram: Any, product: Any, weight: Any, size: int, l1: Any, l2: Any, signed: bool, enough: float
) -> None:
    """Go round the weights of a small problem until no step exceeds `enough`.

    Between rounds over all weights there are rounds over those that are not 0.
    """
    everything = True
    for _ in range(10000):
        largest = 0.0
        for a in range(size):
            if weight[a] == 0.0 and not everything:
                continue
            best = _best(product[a] + gram[a, a] * weight[a], l1[a], gram[a, a] + l2[a], signed)
            step = best - weight[a]
            if step != 0.0:
                weight[a] = best
                largest = max(largest, abs(step))
                for b in range(size):
                    product[b] -= step * gram[a, b]
        if largest <= enough and everything:
            return
        everything = largest <= enough


@nb.njit(cache=True, nogil=True)
def _improve(
    first: int,
    gram: Any,
    l1: Any,
    l2: Any,
    signed: bool,
    tolerance: float,
    places: Any,
    weights: Any,
    finished: Any,
) -> None:
    """Do one round over the columns from `first` on that are not finished."""
    n_items = len(gram)
    product, gain = np.empty(n_items), np.empty(n_items)
    chosen = np.empty(n_items, dtype=np.int64)
    weight, near, near_l1, near_l2 = (
        np.empty(n_items), np.empty(n_items), np.empty(n_items), np.empty(n_items)
    )  # fmt: skip
    small = np.empty((0, 0))
    for row in range(len(places)):
        target = first + row
        if finished[target]:
            continue
        place, column = places[row], weights[row]
        size = 0
        for i in range(n_items):
            if column[i] != 0.0:
                chosen[size], weight[size] = i, column[i]
                size += 1
        _residual_products(gram, target, chosen, weight, size, product)
        if _admit(product, gram, l1, l2, signed, tolerance, place, column, gain) <= tolerance:
            finished[target] = True
            continue
        size = 0
        for i in range(n_items):
            if place[i] == _INSIDE:
                chosen[size], weight[size], near[size] = i, column[i], product[i]
                near_l1[size], near_l2[size] = l1[i], l2[i]
                size += 1
        if size > len(small):
            small = np.empty((2 * size, 2 * size))
        for a in range(size):
            for b in range(size):
                small[a, b] = gram[chosen[a], chosen[b]]
        # A little more precisely, so that what is solved seldom needs another round.
        _descend(small, near, weight, size, near_l1, near_l2, signed, 0.3 * tolerance)
        for a in range(size):
            column[chosen[a]] = weight[a]


@nb.njit(cache=True, nogil=True)
def _pack(
    pointers: Any, predictor: Any, weight: Any, row_pointers: Any, target: Any, value: Any
) -> None:
    """Write the weights that are not 0 by rows of the result: by predictor."""
    ends = row_pointers[:-1].copy()
    for column in range(len(pointers) - 1):
        for at in range(pointers[column], pointers[column + 1]):
            if weight[at] != 0.0:
                i = predictor[at]
                target[ends[i]], value[ends[i]] = column, weight[at]
                ends[i] += 1


class _Inside(NamedTuple):
    """What the columns have taken in, one behind the other: few of all pairs of items."""

    pointers: npt.NDArray[np.int64]
    predictor: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]

    def by_predictor(self) -> scipy.sparse.csr_array:
        """Return W without its zeros, predictors as rows."""
        n_items = len(self.pointers) - 1
        counts = np.bincount(self.predictor[self.weight != 0], minlength=n_items)
        pointers = np.concatenate(([0], np.cumsum(counts)))
        target, value = np.empty(pointers[-1], dtype=np.int64), np.empty(pointers[-1])
        _pack(*self, pointers, target, value)
        return scipy.sparse.csr_array((value, target, pointers), shape=(n_items, n_items))


def sparse_regressions(
    gram: npt.NDArray[np.float64],
    l1: npt.NDArray[np.float64],
    l2: npt.NDArray[np.float64],
    *,
    candidates: npt.NDArray[np.bool_] | None = None,
    signed: bool = False,
    tolerance: float,
) -> Iterator[scipy.sparse.csr_array]:
    r"""Regress each item on others under absolute and squared penalties; yield improving weights.

    Column j of W minimises :math:`\tfrac12 \|x_j - Xw\|^2 + \sum_i (\lambda_i |w_i| +
    \tfrac{\beta_i}2 w_i^2)` with :math:`w_j = 0`, by coordinate descent on the products
    :math:`X^\top X`, so that users are never looked at again. In each round a column takes in the
    weights whose step away from 0 would lower its objective most, and solves for all that it has
    taken in so far.

    Parameters
    ----------
    gram : float64 array (n, n)
        Products of the columns of X.
    l1, l2 : float64 array (n,)
        :math:`\lambda` and :math:`\beta` of each predictor.
    candidates : bool array (n, n), optional
        Which predictors (columns) each target (row) may have; all others by default.
    signed : bool
        Whether weights may be negative.
    tolerance : float
        A column is finished when no single step would change a weight by more.

    Yields
    ------
    scipy.sparse.csr_array (n, n)
        W after each round, predictors as rows. The last one is that of the finished columns.
    """
    n_items = len(gram)
    finished = np.zeros(n_items, dtype=bool)
    inside = _Inside(np.zeros(n_items + 1, dtype=np.int64), np.empty(0, np.int64), np.empty(0))
    while True:
        taken = [(np.zeros(1, dtype=np.int64), np.empty(0, np.int64), np.empty(0))]
        for rows in row_blocks(n_items, 9 * n_items):
            targets = np.arange(rows.start, rows.stop)
            places = np.full((len(targets), n_items), _OUTSIDE, dtype=np.int8)
            if candidates is not None:
                places[~candidates[rows]] = _NEVER
            places[targets - rows.start, targets] = _NEVER
            # An item without products predicts nothing.
            places[:, gram.diagonal() == 0] = _NEVER
            weights = np.zeros(places.shape)
            ends = inside.pointers[rows.start : rows.stop + 1]
            owner = np.repeat(targets - rows.start, np.diff(ends))
            held = (owner, inside.predictor[ends[0] : ends[-1]])
            places[held], weights[held] = _INSIDE, inside.weight[ends[0] : ends[-1]]
            rule = (l1, l2, signed, tolerance)
            _improve(rows.start, gram, *rule, places, weights, finished)
            owner, predictor = np.nonzero(places == _INSIDE)
            counts = np.bincount(owner, minlength=len(targets))
            taken.append((counts, predictor, weights[owner, predictor]))
        if finished.all():
            return
        sizes, predictors, values = map(np.concatenate, zip(*taken, strict=True))
        inside = _Inside(np.cumsum(sizes), predictors, values)
        yield inside.by_predictor()


def regression_error(train: Ratings, weights: scipy.sparse.csr_array) -> float:
    r"""Return :math:`\|X - XW\|_F^2` over all pairs of users and items.

    Parameters
    ----------
    train : Ratings
        X.
    weights : scipy.sparse.csr_array (n_items, n_items)
        W, predictors as rows.
    """
    profiles = train.matrix()
    error = 0.0
    for users in row_blocks(train.n_users, 8 * train.n_items):
        block = profiles[users]
        error += float(np.sum(((block @ weights).toarray() - block.toarray()) ** 2))
    return error


def most_similar(
    blocks: Iterable[npt.NDArray[np.float32]], n_items: int, n_neighbours: int
) -> npt.NDArray[np.bool_]:
    """Tell for each item which others are most similar to it, with all that tie for the last place.

    Parameters
    ----------
    blocks : iterable of float32 array (m, n_items)
        Similarities of the items, in rows one behind the other; only positive ones count.
    n_items : int
        How many there are.
    n_neighbours : int
        How many per item, if they are as many.

    Returns
    -------
    bool array (n_items, n_items)
        Items as rows; False on the diagonal.
    """
    near = np.empty((n_items, n_items), dtype=bool)
    first = 0
    for block in blocks:
        rows = np.arange(len(block))
        others = block.copy()
        others[rows, first + rows] = 0
        here = near[first : first + len(block)]
        np.greater(others, 0, out=here)
        if n_neighbours < n_items:
            last = n_items - n_neighbours
            here &= others >= np.partition(others, last, axis=1)[:, last, None]
        first += len(block)
    return near


def _cosines(gram: npt.NDArray[np.float64]) -> Iterator[npt.NDArray[np.float32]]:
    """Yield the cosines of blocks of items with all, from their products."""
    norms = np.sqrt(gram.diagonal())
    for rows in row_blocks(len(gram), 28 * len(gram)):
        products = norms[rows, None] * norms
        cosine = np.divide(gram[rows], products, out=np.zeros_like(products), where=products > 0)
        # Rounded, so that sums in another order are equal similarities.
        yield cosine.astype(np.float32)


@register
@dataclass(eq=False)
class SLIM(Algorithm):
    r"""Sparse linear method: each item from a few others, with non-negative weights.

    Minimises :math:`\tfrac12 \|X - XW\|_F^2 + \tfrac\beta2 \|W\|_F^2 + \lambda \|W\|_1` with
    :math:`W \ge 0` and zeros on its diagonal. Scores are the rows of XW. The columns of W are
    independent problems with one solution each; see `sparse_regressions` for how they are solved.

    Parameters
    ----------
    l1 : float
        :math:`\lambda`: the larger, the fewer weights.
    l2 : float
        :math:`\beta`: the larger, the smaller the weights.
    n_neighbours : int
        Only so many items of the largest cosine to an item may have a weight for it, and those
        that tie with the last; 0 for all items. The publication's fsSLIM.
    n_iterations : int
        The largest number of rounds; training ends when all columns are finished.
    tolerance : float
        A column is finished when no single step would change a weight by more.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    weights : scipy.sparse.csr_array (n_items, n_items)
        W, with the predicting item as row.
    finished : bool
        Whether all columns were finished within `n_iterations`.

    Notes
    -----
    **Defaults.** Every rating is 1, as in most experiments of the publication, which chooses the
    penalties for each data set. These are common for MovieLens 1M, where the precision of the list
    depends little on them.

    **Complexity.** A round takes, for each column, its number of weights times the number of items,
    and the square of the former; about eight rounds are enough. Learning holds 8 bytes for each
    pair of items, 9 with `n_neighbours`; W afterwards is sparse.

    **Non-computable.** Pairs where no item of the profile has a weight for the item. A rating that
    counts 0 is evidence, but adds nothing to the score.

    References
    ----------
    Ning & Karypis, "SLIM: Sparse linear methods for top-N recommender systems", ICDM 2011.
    Friedman, Hastie & Tibshirani, "Regularization paths for generalized linear models via
    coordinate descent", Journal of Statistical Software 33(1), 2010, for the solution.

    Examples
    --------
    Two users like both items: each weight is (2 - l1) / (2 + l2), and so is each score.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": list("abab"), "rating": 5})
    >>> SLIM(l1=1, l2=2).fit(Ratings.from_frame(frame)).score(np.array([0]))
    array([[0.25, 0.25]], dtype=float32)
    """

    l1: float = parameter(1.0, minimum=0)
    l2: float = parameter(100.0, minimum=0)
    n_neighbours: int = parameter(0, minimum=0)
    n_iterations: int = parameter(100, minimum=1)
    tolerance: float = parameter(1e-5, above=0)
    encoding: str = parameter("binary-all")
    coverage: ClassVar[Coverage] = "evidence"
    deterministic: ClassVar[bool] = True
    objective_trend: ClassVar[Trend] = "falls"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self.refuse_pairs(train, 9 if self.n_neighbours else 8)
        gram = item_products(train)
        candidates = None
        if self.n_neighbours:
            candidates = most_similar(_cosines(gram), train.n_items, self.n_neighbours)
        penalties = (np.full(train.n_items, self.l1), np.full(train.n_items, self.l2))
        rounds = sparse_regressions(
            gram, *penalties, candidates=candidates, tolerance=self.tolerance
        )
        self.weights = scipy.sparse.csr_array((train.n_items, train.n_items))
        for _ in self._iterations(self.n_iterations, train):
            weights = next(rounds, None)
            self.finished = weights is None
            if weights is None:
                break
            self.weights = weights
            self.refuse_runaway(train, "choose a larger l2", weights.data)
        self._profiles = (train.indptr, train.item, train.value)

    def _objective(self, train: Ratings) -> float:
        weight = self.weights.data
        penalty = self.l1 * np.sum(weight) + self.l2 / 2 * np.sum(weight**2)
        return float(regression_error(train, self.weights) / 2 + penalty)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return sparse_scores(users, self._profiles, self.weights, evidence=True)


def sparse_scores(
    users: npt.NDArray[np.int64],
    profiles: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.float64]],
    weights: scipy.sparse.csr_array,
    *,
    evidence: bool,
) -> npt.NDArray[np.float32]:
    """Return profiles times sparse weights, summed in float64 and rounded once.

    Parameters
    ----------
    users : int64 array (m,)
        Rows of the profiles.
    profiles : tuple of row pointers, items and values
        A sparse matrix in compressed rows.
    weights : scipy.sparse.csr_array (n_items, n_items)
        Predictors as rows.
    evidence : bool
        Whether a score is missing where no item of the profile has a weight, instead of 0.

    Returns
    -------
    float32 array (m, n_items)
        A new array.
    """
    scores = np.empty((len(users), weights.shape[1]), dtype=np.float32)
    rows = (weights.indptr.astype(np.int64), weights.indices.astype(np.int32), weights.data)
    weighted_sums(users, len(profiles[1]), *profiles, *rows, False, int(evidence), 0.0, scores)
    return scores
