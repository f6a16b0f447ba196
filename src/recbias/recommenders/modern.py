"""What people run today: models of the library `implicit`, behind this package's contract.

Each is trained in one thread (its BPR gives other results with two at the same seed, and BLAS
rounds differently), without a progress bar of its own and without the library's advice about BLAS
on stderr. The library is imported when the first of them is fitted, because that takes a second.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    factor_scores,
    parameter,
    rated_products,
    register,
)
from recbias.recommenders.neighbourhood import weighted_sums


@contextmanager
def _one_quiet_thread() -> Iterator[None]:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield


class _ImplicitFactors(Algorithm):
    """A factor model of `implicit`; not a dataclass, so that subclasses order the parameters."""

    coverage: ClassVar[Coverage] = "known pairs"
    minimum_value: ClassVar[float] = 0.0
    n_iterations: int
    encoding: str

    @abstractmethod
    def _model(self, seed: int) -> Any:
        """Return the library's model, not yet fitted."""

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        table = train.matrix().astype(np.float32)
        iterations = self._iterations(self.n_iterations, train)
        with _one_quiet_thread():
            from implicit.recommender_base import ModelFitError

            model = self._model(int(rng.integers(2**31)))

            def after_iteration(*_: Any) -> None:
                self._learned = (model.user_factors, model.item_factors)
                next(iterations, None)

            next(iterations)
            try:
                model.fit(table, show_progress=False, callback=after_iteration)
            except ModelFitError as error:
                raise ConfigError(
                    f"{type(self).__name__}: training on '{train.name}' gave factors that are no "
                    f"numbers\nchoose other parameters than {self}"
                ) from error
        self.user_factors: npt.NDArray[np.float32] = model.user_factors
        self.item_factors: npt.NDArray[np.float32] = model.item_factors

    def _factors(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the vectors of users and items as they are now, also during training."""
        users, items = self._learned
        return users.astype(np.float64), items.astype(np.float64)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)


@register
@dataclass(eq=False)
class ImplicitALS(_ImplicitFactors):
    r"""`implicit`'s alternating least squares: Hu et al. with a 0/1 target.

    Minimises :math:`\sum_{u,i} c_{ui} (t_{ui} - p_u \cdot q_i)^2 + \lambda (\sum_u \|p_u\|^2 +
    \sum_i \|q_i\|^2)` with target 1 for rated and 0 for other pairs. Unlike `WeightedMF`, a rated
    pair has the confidence :math:`c_{ui} = \alpha r_{ui}`, *without* the 1 + of the publication:
    with alpha 1 on binary data it weighs no more than a pair without a rating. A rating that
    counts 0 takes its pair out of the sum.

    Parameters
    ----------
    n_factors : int
        The library's ``factors``.
    regularisation : float
        The library's ``regularization``.
    alpha : float
        Factor on the values.
    n_iterations : int
        The library's ``iterations``.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    user_factors, item_factors : float32 array (n_users, n_factors), (n_items, n_factors)
        The vectors :math:`p_u` and :math:`q_i`; zeros for users and items without ratings.

    Raises
    ------
    ConfigError
        When fitted, if a factor is no number.

    Notes
    -----
    **Defaults.** Those of implicit 0.7.3, except 0/1 data, which its documentation assumes.

    **Complexity.** With n ratings and K factors, :math:`O(n K + (U + I) K^2)` per iteration: each
    vector takes three steps of conjugate gradients. Memory: the ratings and :math:`(U + I) K`
    float32.

    **Non-computable.** Pairs whose user or item has no training rating.

    References
    ----------
    Takács, Pilászy & Tikk, "Applications of the conjugate gradient method for implicit feedback
    collaborative filtering", RecSys 2011.
    """

    depends_on_processor: ClassVar[str] = "single precision in the library's BLAS"

    n_factors: int = parameter(100, minimum=1)
    regularisation: float = parameter(0.01, above=0)
    alpha: float = parameter(1.0, above=0)
    n_iterations: int = parameter(15, minimum=1)
    encoding: str = parameter("binary-all")

    def _model(self, seed: int) -> Any:
        from implicit.cpu.als import AlternatingLeastSquares

        return AlternatingLeastSquares(
            factors=self.n_factors,
            regularization=self.regularisation,
            alpha=self.alpha,
            iterations=self.n_iterations,
            num_threads=1,
            random_state=seed,
        )

    def _objective(self, train: Ratings) -> float:
        p, q = self._factors()
        x = rated_products(train, p, q)
        everywhere = ((p.T @ p) * (q.T @ q)).sum()
        rated = (self.alpha * train.value * (1 - x) ** 2 - x**2).sum()
        return float(everywhere + rated + self.regularisation * ((p**2).sum() + (q**2).sum()))


@register
@dataclass(eq=False)
class ImplicitBPR(_ImplicitFactors):
    r"""`implicit`'s Bayesian personalised ranking: rated items above others, pair by pair.

    Maximises :math:`\sum_{(u,i,j)} \ln \sigma(\hat x_{ui} - \hat x_{uj}) - \frac{\lambda}{2}
    (\|p_u\|^2 + \|q_i\|^2 + \|q_j\|^2 + b_i^2 + b_j^2)`, :math:`\hat x_{ui} = p_u \cdot q_i +
    b_i`, by steps along the gradient at a random rating (u, i) and an item j that the user has not
    rated. The library draws j as the item of a random rating, thus by popularity. The reported
    objective takes one such j per rating, the same in every iteration.

    Parameters
    ----------
    n_factors : int
        The library's ``factors``.
    learning_rate : float
        Length of a step.
    regularisation : float
        The library's ``regularization``.
    n_iterations : int
        The library's ``iterations``: passes over as many pairs as there are ratings.
    encoding : str
        Read, but the library uses which pairs are rated and not their values.

    Attributes
    ----------
    user_factors, item_factors : float32 array (n_users, n_factors + 1), (n_items, n_factors + 1)
        The vectors, with 1 for users and the bias for items in the last column.

    Raises
    ------
    ConfigError
        When fitted, if a factor is no number.

    Notes
    -----
    **Defaults.** Those of implicit 0.7.3.

    **Complexity.** With n ratings and K factors, :math:`O(n K)` per iteration. Memory: the ratings
    and :math:`(U + I) K` float32.

    **Non-computable.** Pairs whose user or item has no training rating.

    References
    ----------
    Rendle, Freudenthaler, Gantner & Schmidt-Thieme, "BPR: Bayesian personalized ranking from
    implicit feedback", UAI 2009.
    """

    n_factors: int = parameter(100, minimum=1)
    learning_rate: float = parameter(0.01, above=0)
    regularisation: float = parameter(0.01, minimum=0)
    n_iterations: int = parameter(100, minimum=1)
    encoding: str = parameter("binary-all")

    def _model(self, seed: int) -> Any:
        from implicit.cpu.bpr import BayesianPersonalizedRanking

        return BayesianPersonalizedRanking(
            factors=self.n_factors,
            learning_rate=self.learning_rate,
            regularization=self.regularisation,
            iterations=self.n_iterations,
            num_threads=1,
            random_state=seed,
        )

    def _objective(self, train: Ratings) -> float:
        p, q = self._factors()
        other = train.item[np.random.default_rng(0).integers(len(train), size=len(train))]
        keys = train.user.astype(np.int64) * train.n_items
        unrated = ~np.isin(keys + other, keys + train.item)
        u, i, j = train.user[unrated], train.item[unrated], other[unrated]
        squares_of_user = (p[:, :-1] ** 2).sum(axis=1)
        squares_of_item = (q**2).sum(axis=1)
        gains = -np.logaddexp(0, -np.einsum("rf,rf->r", p[u], q[i] - q[j]))
        squares = squares_of_user[u] + squares_of_item[i] + squares_of_item[j]
        return float((gains - self.regularisation / 2 * squares).sum())


@register
@dataclass(eq=False)
class ImplicitLMF(_ImplicitFactors):
    r"""`implicit`'s logistic matrix factorisation: the odds that a user chooses an item.

    Maximises :math:`\sum_{u,i} (r_{ui} \hat x_{ui} - (1 + r_{ui}) \ln(1 + e^{\hat x_{ui}})) -
    \frac{\lambda}{2} (\sum_u \|p_u\|^2 + \sum_i \|q_i\|^2 + \sum_u b_u^2 + \sum_i b_i^2)` with
    :math:`\hat x_{ui} = p_u \cdot q_i + b_u + b_i` and :math:`r_{ui} = 0` for pairs without a
    rating, by steps of AdaGrad for all users and all items in turn. The library does not sum over
    all pairs without a rating: it draws some by the popularity of their item or the activity of
    their user. The reported objective sums over all.

    Parameters
    ----------
    n_factors : int
        The library's ``factors``.
    learning_rate : float
        Length of the first step.
    regularisation : float
        The library's ``regularization``.
    n_iterations : int
        The library's ``iterations``.
    n_negatives : int
        The library's ``neg_prop``: unrated pairs that are drawn per rating, at most as many as
        there are items (for a user) or users (for an item).
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    user_factors, item_factors : float32 array (n_users, n_factors + 2), (n_items, n_factors + 2)
        The vectors; in the last two columns 1 and the bias for users, the bias and 1 for items.

    Raises
    ------
    ConfigError
        When fitted, if a factor is no number.

    Notes
    -----
    **Defaults.** Those of implicit 0.7.3, except 0/1 data.

    **Complexity.** With n ratings and K factors, :math:`O(n m K)` per iteration, m the number of
    negatives. Memory: the ratings and :math:`2 (U + I) K` float32.

    **Non-computable.** Pairs whose user or item has no training rating.

    References
    ----------
    Johnson, "Logistic matrix factorization for implicit feedback data", NIPS 2014 workshop on
    distributed machine learning and matrix computations.
    """

    n_factors: int = parameter(30, minimum=1)
    learning_rate: float = parameter(1.0, above=0)
    regularisation: float = parameter(0.6, minimum=0)
    n_iterations: int = parameter(30, minimum=1)
    n_negatives: int = parameter(30, minimum=1)
    encoding: str = parameter("binary-all")

    def _model(self, seed: int) -> Any:
        from implicit.cpu.lmf import LogisticMatrixFactorization

        return LogisticMatrixFactorization(
            factors=self.n_factors,
            learning_rate=self.learning_rate,
            regularization=self.regularisation,
            iterations=self.n_iterations,
            neg_prop=self.n_negatives,
            num_threads=1,
            random_state=seed,
        )

    def _objective(self, train: Ratings) -> float:
        p, q = self._factors()
        x = rated_products(train, p, q)
        total = (train.value * (x - np.logaddexp(0, x))).sum()
        known = np.flatnonzero(self._known_user)
        step = max(1, 2**22 // train.n_items)
        for start in range(0, len(known), step):
            block = p[known[start : start + step]] @ q[self._known_item].T
            total -= np.logaddexp(0, block).sum()
        # The columns of ones are no parameters.
        squares = (p**2).sum() - (p[:, -2] ** 2).sum() + (q**2).sum() - (q[:, -1] ** 2).sum()
        return float(total - self.regularisation / 2 * squares)


class _ImplicitItemItem(Algorithm):
    """Summed similarities of `implicit`; not a dataclass, so that subclasses order parameters."""

    coverage: ClassVar[Coverage] = "evidence"
    deterministic: ClassVar[bool] = True
    minimum_value: ClassVar[float] = 0.0
    breaks_ties_by_number: ClassVar[bool] = True
    n_neighbours: int

    @abstractmethod
    def _weighted(self, table: scipy.sparse.coo_matrix) -> scipy.sparse.coo_matrix:
        """Return what a value (n_items, n_users) weighs; similarities are products of rows."""

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        table = train.matrix().astype(np.float32)
        # A rating that counts 0 makes nobody similar, but an item of such ratings has no length.
        table.eliminate_zeros()
        with _one_quiet_thread():
            from implicit.nearest_neighbours import ItemItemRecommender

            model = ItemItemRecommender(K=self.n_neighbours, num_threads=1)
            model.fit(self._weighted(table.T.tocoo()).T, show_progress=False)
        similar = model.similarity
        # The library fills the rows of items with fewer neighbours up with zeros at (0, 0).
        similar.eliminate_zeros()
        self._similar = (similar.indptr, similar.indices, similar.data)
        self._ratings = (table.indptr, table.indices, table.data.astype(np.float64))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        scores = np.empty((len(users), len(self._known_item)), dtype=np.float32)
        n_rated = len(self._ratings[1])
        weighted_sums(users, n_rated, *self._ratings, *self._similar, False, 1, 0.0, scores)
        return scores


@register
@dataclass(eq=False)
class ImplicitItemCosine(_ImplicitItemItem):
    r"""`implicit`'s item-item cosine: the summed similarity of an item to those the user rated.

    :math:`s_{ui} = \sum_{j \in R(u)} r_{uj} \, sim(j, i) [i \in N_k(j)]` with the cosine of the
    items' columns of ratings: each rated item speaks for the k items that are most similar to it.

    Parameters
    ----------
    n_neighbours : int
        The library's ``K``: how many items each rated item speaks for, itself included.
    encoding : str
        What a rating counts, see `Encoding`; ratings that count 0 are left out.

    Notes
    -----
    **Defaults.** Those of implicit 0.7.3, on 0/1 data.

    **Complexity.** With :math:`n_u` ratings of user u, :math:`O(\sum_u n_u^2)`, once. Memory: the
    ratings and :math:`I k` similarities.

    **Non-computable.** Pairs of an item for which no item that the user rated speaks. Where the
    k-th and the next item are equally similar, the library's choice depends on their numbers.

    References
    ----------
    Deshpande & Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 22(1), 2004.
    """

    n_neighbours: int = parameter(20, minimum=1)
    encoding: str = parameter("binary-all")

    def _weighted(self, table: scipy.sparse.coo_matrix) -> scipy.sparse.coo_matrix:
        from implicit.nearest_neighbours import normalize

        return normalize(table)


@register
@dataclass(eq=False)
class ImplicitItemTFIDF(_ImplicitItemItem):
    r"""`implicit`'s TF-IDF item-item model: in similarities, active users count less.

    As `ImplicitItemCosine`, with the cosine of the columns
    :math:`w_{ui} = \sqrt{r_{ui}} \left(\ln I - \ln(1 + n_u)\right)`, :math:`n_u` ratings of user
    u among I items. The sum is weighted with the ratings themselves.

    Parameters
    ----------
    n_neighbours : int
        The library's ``K``: how many items each rated item speaks for, itself included.
    encoding : str
        What a rating counts, see `Encoding`; ratings that count 0 are left out.

    Notes
    -----
    **Defaults.** Those of implicit 0.7.3, on 0/1 data.

    **Complexity.** With :math:`n_u` ratings of user u, :math:`O(\sum_u n_u^2)`, once. Memory: the
    ratings and :math:`I k` similarities.

    **Non-computable.** Pairs of an item for which no item that the user rated speaks. Where the
    k-th and the next item are equally similar, the library's choice depends on their numbers.

    References
    ----------
    Salton & Buckley, "Term-weighting approaches in automatic text retrieval", Information
    Processing & Management 24(5), 1988. Deshpande & Karypis, "Item-based top-N recommendation
    algorithms", ACM TOIS 22(1), 2004.
    """

    n_neighbours: int = parameter(20, minimum=1)
    encoding: str = parameter("binary-all")

    def _weighted(self, table: scipy.sparse.coo_matrix) -> scipy.sparse.coo_matrix:
        from implicit.nearest_neighbours import normalize, tfidf_weight

        weighted = tfidf_weight(table)
        # Users with all items but one weigh 0: without them, an item may have no length.
        weighted.eliminate_zeros()
        return normalize(weighted)


@register
@dataclass(eq=False)
class ImplicitItemBM25(_ImplicitItemItem):
    r"""`implicit`'s BM25 item-item model: active users count less, and so do popular items.

    As `ImplicitItemCosine`, with the products of the columns :math:`w_{ui} =
    \dfrac{r_{ui} (k_1 + 1)}{k_1 (1 - b + b \, l_i / \bar l) + r_{ui}} \left(\ln I - \ln(1 +
    n_u)\right)`, :math:`n_u` ratings of user u among I items and :math:`l_i` the sum of the ratings
    of item i. The sum is weighted with the ratings themselves.

    Parameters
    ----------
    n_neighbours : int
        The library's ``K``: how many items each rated item speaks for, itself included.
    k1 : float
        The library's ``K1``: how slowly larger ratings stop to weigh more.
    b : float
        The library's ``B``, from 0 to 1: how much an item's popularity takes from its weights.
    encoding : str
        What a rating counts, see `Encoding`; ratings that count 0 are left out.

    Raises
    ------
    ConfigError
        If `b` is above 1.

    Notes
    -----
    **Defaults.** Those of implicit 0.7.3, on 0/1 data.

    **Complexity.** With :math:`n_u` ratings of user u, :math:`O(\sum_u n_u^2)`, once. Memory: the
    ratings and :math:`I k` similarities.

    **Non-computable.** Pairs of an item for which no item that the user rated speaks. Where the
    k-th and the next item are equally similar, the library's choice depends on their numbers.

    References
    ----------
    Robertson & Zaragoza, "The probabilistic relevance framework: BM25 and beyond", Foundations and
    Trends in Information Retrieval 3(4), 2009.
    """

    n_neighbours: int = parameter(20, minimum=1)
    k1: float = parameter(1.2, minimum=0)
    b: float = parameter(0.75, minimum=0)
    encoding: str = parameter("binary-all")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.b > 1:
            raise ConfigError(f"ImplicitItemBM25: b is {self.b!r}, expected a number from 0 to 1")

    def _weighted(self, table: scipy.sparse.coo_matrix) -> scipy.sparse.coo_matrix:
        from implicit.nearest_neighbours import bm25_weight

        return bm25_weight(table, self.k1, self.b)
