"""Factor models without negative numbers: Poisson factorisation and projective factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, psi

from recbias.data.ratings import Ratings
from recbias.recommenders.base import Algorithm, Coverage, Trend, factor_scores, parameter, register
from recbias.recommenders.topic import ratio_products, sum_of_logs, without_zeros

Array = npt.NDArray[np.float64]


def starting_gammas(
    n_rows: int, n_factors: int, shape: float, rate: float, *, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw gamma distributions near the prior, as Poisson factorisation starts from.

    Parameters
    ----------
    n_rows, n_factors : int
        How many.
    shape, rate : float
        Of the prior.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    shapes, rates : float64 array (n_rows, n_factors)
        The prior's and a little more: up to 0.01 and 0.1, uniformly.
    """
    shapes = shape + 0.01 * rng.random((n_rows, n_factors))
    return shapes, rate + 0.1 * rng.random((n_rows, n_factors))


def _gamma_terms(shapes: Array, rates: Array, prior_shape: float, prior_rate: Array) -> float:
    """Return what gamma variables add to the evidence bound: prior and entropy.

    `prior_rate` holds, in two columns, the expectations of the prior's rate and of its logarithm.
    """
    means, logs = shapes / rates, psi(shapes) - np.log(rates)
    prior = (
        prior_shape * prior_rate[:, 1:]
        - gammaln(prior_shape)
        + (prior_shape - 1) * logs
        - prior_rate[:, :1] * means
    )
    entropy = shapes - np.log(rates) + gammaln(shapes) + (1 - shapes) * psi(shapes)
    return float(np.sum(prior + entropy))


@register
@dataclass(eq=False)
class PoissonFactorisation(Algorithm):
    r"""Hierarchical Poisson factorisation, fitted by variational inference.

    :math:`r_{ui} \sim \mathrm{Poisson}(\theta_u \cdot \beta_i)` over all pairs, unrated ones
    counting 0, with :math:`\theta_{uk} \sim \Gamma(a, \xi_u)`, :math:`\xi_u \sim \Gamma(a',
    a'/b')`, :math:`\beta_{ik} \sim \Gamma(c, \eta_i)` and :math:`\eta_i \sim \Gamma(c', c'/d')`
    (shape, rate): users differ in activity and items in popularity. Coordinate ascent raises the
    evidence bound of a posterior in which all variables are independent gammas and each rating is
    a sum of one Poisson count per factor. Scores are :math:`E\theta_u \cdot E\beta_i`.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    n_iterations : int
        Number of rounds.
    user_shape : float
        a; small values make vectors sparse.
    user_rate_shape, user_rate_mean : float
        a' and b'.
    item_shape : float
        c; small values make vectors sparse.
    item_rate_shape, item_rate_mean : float
        c' and d'.
    encoding : str
        What a rating counts, see `Encoding`; one that counts 0 is as good as none.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        The posterior means; zeros without ratings.
    user_shapes, user_rates, item_shapes, item_rates : float64 arrays of the same forms
        The gamma posteriors of the vectors.
    activity_rates, popularity_rates : float64 array (n_users,), (n_items,)
        Rates of the gamma posteriors of :math:`\xi_u` and :math:`\eta_i`; their shapes are all
        :math:`a' + K a` and :math:`c' + K c`.

    Raises
    ------
    DataError
        If no rating counts more than 0.

    Notes
    -----
    **Defaults.** Shapes and means are the publication's; 10 factors and 100 iterations are those
    of LibRec's file for this model.

    **Complexity.** O(n n_factors) per iteration for n ratings, and one digamma per user or item
    and factor; memory for eight arrays of factors beside the ratings.

    **Non-computable.** Pairs of a user or an item without a rating that counts more than 0.

    References
    ----------
    Gopalan, Hofman & Blei, "Scalable recommendation with hierarchical Poisson factorization",
    UAI 2015.
    """

    n_factors: int = parameter(10, minimum=1)
    n_iterations: int = parameter(100, minimum=0)
    # Far smaller shapes would let exp(E ln) underflow; these are at least 1e-44 before the rate.
    user_shape: float = parameter(0.3, minimum=0.01)
    user_rate_shape: float = parameter(0.3, above=0)
    user_rate_mean: float = parameter(1.0, above=0)
    item_shape: float = parameter(0.3, minimum=0.01)
    item_rate_shape: float = parameter(0.3, above=0)
    item_rate_mean: float = parameter(1.0, above=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "evidence"
    minimum_value: ClassVar[float] = 0.0
    objective_trend: ClassVar[Trend] = "rises"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        train = without_zeros(train, "PoissonFactorisation")
        self._known_user, self._known_item = train.user_counts() > 0, train.item_counts() > 0
        self.user_shapes, self.user_rates = starting_gammas(
            train.n_users, self.n_factors, self.user_shape, self.user_rate_mean, rng=rng
        )
        self.item_shapes, self.item_rates = starting_gammas(
            train.n_items, self.n_factors, self.item_shape, self.item_rate_mean, rng=rng
        )
        activity_shape = self.user_rate_shape + self.n_factors * self.user_shape
        popularity_shape = self.item_rate_shape + self.n_factors * self.item_shape
        self._update_users()
        self._update_items()
        for _ in self._iterations(self.n_iterations, train):
            users, items = self._exponentials()
            gains = ratio_products(train, users, items)
            xi = (activity_shape / self.activity_rates)[:, None]
            self.user_shapes = self.user_shape + users * gains[0]
            self.user_rates = xi + self.item_factors.sum(axis=0)
            self._update_users()
            eta = (popularity_shape / self.popularity_rates)[:, None]
            self.item_shapes = self.item_shape + items * gains[1]
            self.item_rates = eta + self.user_factors.sum(axis=0)
            self._update_items()
        self.refuse_runaway(
            train,
            "give user_rate_mean and item_rate_mean values nearer to 1",
            self.user_factors,
            self.item_factors,
        )

    def _update_users(self) -> None:
        """Follow the users' gammas with their means, and these with the rates of activity."""
        self.user_factors = self.user_shapes / self.user_rates * self._known_user[:, None]
        prior = self.user_rate_shape / self.user_rate_mean
        self.activity_rates = prior + self.user_factors.sum(axis=1)

    def _update_items(self) -> None:
        """Do the same for items."""
        self.item_factors = self.item_shapes / self.item_rates * self._known_item[:, None]
        prior = self.item_rate_shape / self.item_rate_mean
        self.popularity_rates = prior + self.item_factors.sum(axis=1)

    def _exponentials(self) -> tuple[Array, Array]:
        """Return exp(E ln theta) and exp(E ln beta)."""
        return (
            np.exp(psi(self.user_shapes)) / self.user_rates,
            np.exp(psi(self.item_shapes)) / self.item_rates,
        )

    def _objective(self, train: Ratings) -> float:
        # With the best responsibilities of factors, their terms add up to a logarithm.
        likelihood = sum_of_logs(train, *self._exponentials()) - np.sum(gammaln(train.value + 1))
        exposure = self.user_factors.sum(axis=0) @ self.item_factors.sum(axis=0)
        bound = float(likelihood - exposure)
        sides = (
            (
                self._known_user,
                (self.user_shapes, self.user_rates, self.activity_rates),
                (self.user_shape, self.user_rate_shape, self.user_rate_mean),
            ),
            (
                self._known_item,
                (self.item_shapes, self.item_rates, self.popularity_rates),
                (self.item_shape, self.item_rate_shape, self.item_rate_mean),
            ),
        )
        for known, posterior, (shape, rate_shape, rate_mean) in sides:
            shapes, rates, hyper_rates = (array[known] for array in posterior)
            hyper_shapes = np.full((len(rates), 1), rate_shape + self.n_factors * shape)
            hyper_rates = hyper_rates[:, None]
            hyper_prior = np.array([[rate_shape / rate_mean, np.log(rate_shape / rate_mean)]])
            expected = np.column_stack(
                [hyper_shapes / hyper_rates, psi(hyper_shapes) - np.log(hyper_rates)]
            )
            bound += _gamma_terms(shapes, rates, shape, expected)
            bound += _gamma_terms(hyper_shapes, hyper_rates, rate_shape, hyper_prior)
        return bound

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)


@register
@dataclass(eq=False)
class PNMF(Algorithm):
    r"""Projective non-negative matrix factorisation under the Kullback-Leibler divergence.

    Minimises :math:`\sum_{u,i} \left(x_{ui} \ln \frac{x_{ui}}{\hat x_{ui}} - x_{ui} +
    \hat x_{ui}\right)` with :math:`\hat X = X W W^\top`, :math:`W \geq 0`, over all pairs, unrated
    ones counting 0. The steps are multiplicative, by the square root of the ratio of the
    gradient's two parts, with which the divergence never rises; without the root it oscillates.
    Scores are :math:`x_u W W^\top`. Where it ends depends on the random start.

    Parameters
    ----------
    n_factors : int
        Columns of W.
    n_iterations : int
        Number of steps.
    encoding : str
        What a rating counts, see `Encoding`; one that counts 0 is as good as none.

    Attributes
    ----------
    item_factors : float64 array (n_items, n_factors)
        W; zeros for items without ratings.
    user_factors : float64 array (n_users, n_factors)
        :math:`X W`; zeros for users without ratings.

    Raises
    ------
    DataError
        If no rating counts more than 0.

    Notes
    -----
    **Defaults.** 10 factors are those of LibRec's file for this model. 200 iterations come near
    convergence on MovieLens 1M; the 26 that LibRec runs (one more than its file says) end close to
    popularity. LibRec reads no values: encoding ``"binary-all"`` does the same.

    **Complexity.** O(n n_factors) per iteration for n ratings, in four products with sparse
    matrices; memory for six arrays of factors beside the ratings.

    **Non-computable.** Pairs of a user or an item without a rating that counts more than 0.

    References
    ----------
    Yuan & Oja, "Projective nonnegative matrix factorization for image compression and feature
    extraction", SCIA 2005.
    Yang & Oja, "Unified development of multiplicative algorithms for linear and quadratic
    nonnegative matrix factorization", IEEE Transactions on Neural Networks 22(12), 2011.

    Examples
    --------
    Where all users rate the second item half as high, one factor (2, 1) / sqrt(5) suffices.

    >>> import pandas as pd
    >>> rows = {"user_id": [1, 1, 2, 2], "item_id": [1, 2, 1, 2], "rating": [4.0, 2, 2, 1]}
    >>> model = PNMF(n_factors=1).fit(Ratings.from_frame(pd.DataFrame(rows)))
    >>> model.score(np.array([0, 1])).round(4)
    array([[4., 2.],
           [2., 1.]], dtype=float32)
    """

    n_factors: int = parameter(10, minimum=1)
    n_iterations: int = parameter(200, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "evidence"
    minimum_value: ClassVar[float] = 0.0
    objective_trend: ClassVar[Trend] = "falls"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        train = without_zeros(train, "PNMF")
        self._known_user, self._known_item = train.user_counts() > 0, train.item_counts() > 0
        values = train.matrix()
        by_item = values.T
        totals = np.bincount(train.item, train.value, train.n_items)[:, None]
        start = 1 + rng.random((train.n_items, self.n_factors))
        # The first step corrects any scale.
        self.item_factors = start * self._known_item[:, None] / (2 * train.n_items)
        self.user_factors = values @ self.item_factors
        for _ in self._iterations(self.n_iterations, train):
            users, items = self.user_factors, self.item_factors
            of_users, of_items = ratio_products(train, users, items)
            rising = of_items + by_item @ of_users
            falling = users.sum(axis=0) + totals * items.sum(axis=0)
            # A factor that is 0 for all items stays so.
            ratio = np.divide(rising, falling, out=np.zeros_like(rising), where=falling > 0)
            self.item_factors = items * np.sqrt(ratio)
            self.user_factors = values @ self.item_factors
        self.refuse_runaway(train, "scale the ratings down", self.user_factors, self.item_factors)

    def _objective(self, train: Ratings) -> float:
        users, items = train.matrix() @ self.item_factors, self.item_factors
        rated = train.value[train.value > 0]
        logs = rated @ np.log(rated) - sum_of_logs(train, users, items)
        return float(logs - rated.sum() + users.sum(axis=0) @ items.sum(axis=0))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)
