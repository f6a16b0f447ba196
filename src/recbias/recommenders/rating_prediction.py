"""Factor models that predict ratings: a squared error over the rated pairs only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    factor_scores,
    parameter,
    rated_products,
    register,
)
from recbias.recommenders.elementwise import dot


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
        profile, vector = user_factors[u], item_factors[i]
        error = error_free[row] - user_bias[u] - item_bias[i] - dot(profile, vector)
        user_bias[u] += learning_rate * (error - regularisation * user_bias[u])
        item_bias[i] += learning_rate * (error - regularisation * item_bias[i])
        for f in range(size):
            p, q = profile[f], vector[f]
            profile[f] += learning_rate * (error * q - regularisation * p)
            vector[f] += learning_rate * (error * p - regularisation * q)


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

    Raises
    ------
    ConfigError
        If training runs away, because `learning_rate` is too large.

    Notes
    -----
    **Defaults.** The publication gives none. Steps, penalty and epochs are at values that are
    common for ratings from 1 to 5, and there are as many factors as `PLSA` has topics. The start
    is that of LibRec 2.0.

    **Complexity.** O(n n_factors) per epoch for n ratings; memory for the factors and the order.

    **Non-computable.** Pairs of a user or an item without ratings. The model could predict them
    from the biases that it knows, but its vectors say nothing about them.

    References
    ----------
    Koren, Bell & Volinsky, "Matrix factorization techniques for recommender systems", IEEE
    Computer 42(8), 2009.

    Examples
    --------
    What others gave an item is all that is known about user 1 and item 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 2, 2], "item_id": [1, 1, 2], "rating": [5.0, 5, 1]})
    >>> model = BiasedMF(n_factors=2).fit(Ratings.from_frame(frame), rng=np.random.default_rng(1))
    >>> scores = model.score(np.array([0]))[0]
    >>> bool(scores[0] > scores[1])
    True
    """

    n_factors: int = parameter(50, minimum=1)
    learning_rate: float = parameter(0.005, above=0)
    regularisation: float = parameter(0.05, minimum=0)
    n_epochs: int = parameter(30, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self.mean = float(train.value.mean())
        self.user_bias = np.zeros(train.n_users)
        self.item_bias = np.zeros(train.n_items)
        self.user_factors = rng.normal(0, 0.1, (train.n_users, self.n_factors))
        self.item_factors = rng.normal(0, 0.1, (train.n_items, self.n_factors))
        learned = (self.user_bias, self.item_bias, self.user_factors, self.item_factors)
        steps = (self.learning_rate, self.regularisation)
        remedy = f"choose a learning_rate below {self.learning_rate:g}"
        for _ in self._iterations(self.n_epochs, train):
            order = rng.permutation(len(train))
            _descend(order, train.user, train.item, train.value - self.mean, *learned, *steps)
            self.refuse_runaway(train, remedy, *learned)

    def _objective(self, train: Ratings) -> float:
        u, i = train.user, train.item
        p, q = self.user_factors, self.item_factors
        predicted = self.mean + self.user_bias[u] + self.item_bias[i]
        predicted += rated_products(train, p, q)
        of_users = self.user_bias**2 + np.sum(p**2, axis=1)
        of_items = self.item_bias**2 + np.sum(q**2, axis=1)
        penalty = train.user_counts() @ of_users + train.item_counts() @ of_items
        error = train.value - predicted
        return float(0.5 * (error @ error + self.regularisation * penalty))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        offset = self.mean + self.user_bias[users]
        rows = np.column_stack([self.user_factors[users], offset, np.ones(len(users))])
        ones = np.ones(len(self.item_bias))
        return factor_scores(rows, np.column_stack([self.item_factors, ones, self.item_bias]))


@nb.njit(cache=True, nogil=True)
def _shuffle_within(pointers: Any, draws: Any, order: Any) -> None:
    """Shuffle each user's part of `order` with one uniform number per rating (Fisher and Yates)."""
    for u in range(len(pointers) - 1):
        first = pointers[u]
        for last in range(pointers[u + 1] - 1, first, -1):
            other = first + int(draws[last] * (last - first + 1))
            row = order[last]
            order[last] = order[other]
            order[other] = row


@nb.njit(cache=True, nogil=True)
def _add_implicit(pointers: Any, item: Any, implicit: Any, profiles: Any) -> None:
    """Add to each user's vector the sum of y over their items, by the root of their number."""
    for u in range(len(pointers) - 1):
        first, end = pointers[u], pointers[u + 1]
        for row in range(first, end):
            for f in range(profiles.shape[1]):
                profiles[u, f] += implicit[item[row], f] / np.sqrt(end - first)


@nb.njit(cache=True, nogil=True)
def _descend_by_user(
    users: Any,
    pointers: Any,
    order: Any,
    item: Any,
    error_free: Any,
    user_bias: Any,
    item_bias: Any,
    user_factors: Any,
    item_factors: Any,
    implicit: Any,
    learning_rate: float,
    regularisation: float,
) -> None:
    """Take one gradient step per rating, user by user; `error_free` is r - mean.

    A step turns every y of the user's items into keep y + shift, with the same two numbers for
    all of them, and p likewise. So only w = p + z, which is all that a prediction needs, is
    kept up to date; p and y catch up when the user is done. z and p are shifted alike, hence the
    factor 2 and, at the end, the half.
    """
    size = user_factors.shape[1]
    keep = 1.0 - learning_rate * regularisation
    profile, before = np.empty(size), np.empty(size)
    for u in users:
        first, end = pointers[u], pointers[u + 1]
        if first == end:
            continue
        root = np.sqrt(end - first)
        for f in range(size):
            profile[f] = 0.0
        for row in range(first, end):
            i = item[row]
            for f in range(size):
                profile[f] += implicit[i, f]
        for f in range(size):
            profile[f] = user_factors[u, f] + profile[f] / root
            before[f] = profile[f]
        bias, decay = user_bias[u], 1.0
        for at in range(first, end):
            row = order[at]
            i = item[row]
            vector = item_factors[i]
            error = error_free[row] - bias - item_bias[i] - dot(profile, vector)
            bias += learning_rate * (error - regularisation * bias)
            item_bias[i] += learning_rate * (error - regularisation * item_bias[i])
            decay *= keep
            step = learning_rate * error
            for f in range(size):
                q, w = vector[f], profile[f]
                vector[f] = keep * q + step * w
                profile[f] = keep * w + 2.0 * step * q
        user_bias[u] = bias
        for f in range(size):
            shift = 0.5 * (profile[f] - decay * before[f])
            user_factors[u, f] = decay * user_factors[u, f] + shift
            before[f] = shift / root
        for row in range(first, end):
            i = item[row]
            for f in range(size):
                implicit[i, f] = decay * implicit[i, f] + before[f]


@register
@dataclass(eq=False)
class SVDpp(Algorithm):
    r"""SVD++: biased matrix factorisation in which a user is also what they rated.

    Predicts :math:`\hat r_{ui} = \mu + b_u + b_i + q_i \cdot \left(p_u + |R(u)|^{-1/2} \sum_{j \in
    R(u)} y_j\right)`, with R(u) the items that u rated, no matter how. Minimises, over the rated
    pairs only, :math:`\tfrac12 \sum (r_{ui} - \hat r_{ui})^2 + \tfrac\lambda2 (b_u^2 + b_i^2 +
    \|p_u\|^2 + \|q_i\|^2 + \sum_{j \in R(u)} \|y_j\|^2)`, one rating at a time. Scores are
    predicted ratings.

    Each rating moves the vectors y of all items of its user. All ratings of a user follow each
    other, so that these moves add up to a single one and an epoch takes as long as that of
    `BiasedMF`; the result is that of the publication's algorithm for this order of ratings. The
    order of users, and that of each user's ratings, is a new random one in each epoch.

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
        What a rating counts, see `Encoding`; 0 is a rating like others.

    Attributes
    ----------
    mean : float
        :math:`\mu`, the mean rating.
    user_bias, item_bias : float64 array (n_users,), (n_items,)
        b; zeros where there are no ratings.
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; zeros where there are no ratings.
    implicit_factors : float64 array (n_items, n_factors)
        y; like p and q they start from a normal distribution with standard deviation 0.1.
    profiles : float64 array (n_users, n_factors)
        The brackets of the prediction: p and the sum of y.

    Raises
    ------
    ConfigError
        If training runs away, because `learning_rate` is too large.

    Notes
    -----
    **Defaults.** Those that Mena-Maldonado et al. (SIGIR 2020) ran, which are LibRec 3.0's: a
    constant step, whose configured maximum never binds, and one :math:`\lambda` for everything.
    LibRec 2.0 starts its vectors as here and its biases at random as well; LibRec 3.0 has a
    standard deviation of 0.001. The publication has steps of 0.007 that shrink by a tenth per
    epoch, a :math:`\lambda` of 0.005 for biases and of 0.015 for vectors.

    **Complexity.** O(n n_factors) per epoch for n ratings, where following the publication word by
    word takes O(n_factors) times the sum of squared profile lengths; memory for the factors and for
    three numbers per rating.

    **Non-computable.** Pairs of a user or an item without ratings. The model could predict them
    from the biases that it knows, but its vectors say nothing about them.

    References
    ----------
    Koren, "Factorization meets the neighborhood: a multifaceted collaborative filtering model",
    KDD 2008.

    Examples
    --------
    What others gave an item is all that is known about user 1 and item 2.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 2, 2], "item_id": [1, 1, 2], "rating": [5.0, 5, 1]})
    >>> model = SVDpp(n_factors=2).fit(Ratings.from_frame(frame), rng=np.random.default_rng(1))
    >>> scores = model.score(np.array([0]))[0]
    >>> bool(scores[0] > scores[1])
    True
    """

    n_factors: int = parameter(20, minimum=1)
    learning_rate: float = parameter(0.002, above=0)
    regularisation: float = parameter(0.01, minimum=0)
    n_epochs: int = parameter(100, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        # Copies, because the kernels would be compiled once more for read-only arrays.
        pointers, item = train.indptr.copy(), train.item.copy()
        self.mean = float(train.value.mean())
        self.user_bias = np.zeros(train.n_users)
        self.item_bias = np.zeros(train.n_items)
        self.user_factors = rng.normal(0, 0.1, (train.n_users, self.n_factors))
        self.item_factors = rng.normal(0, 0.1, (train.n_items, self.n_factors))
        self.implicit_factors = rng.normal(0, 0.1, (train.n_items, self.n_factors))
        self.user_factors[~self._known_user] = 0
        self.item_factors[~self._known_item] = self.implicit_factors[~self._known_item] = 0
        learned = (
            self.user_bias,
            self.item_bias,
            self.user_factors,
            self.item_factors,
            self.implicit_factors,
        )
        errors, order = train.value - self.mean, np.arange(len(train))
        steps = (self.learning_rate, self.regularisation)
        remedy = f"choose a learning_rate below {self.learning_rate:g}"
        for _ in self._iterations(self.n_epochs, train):
            users = rng.permutation(train.n_users)
            _shuffle_within(pointers, rng.random(len(train)), order)
            _descend_by_user(users, pointers, order, item, errors, *learned, *steps)
            self.refuse_runaway(train, remedy, *learned)
        self.profiles = self._profiles(train)

    def _profiles(self, train: Ratings) -> npt.NDArray[np.float64]:
        profiles = self.user_factors.copy()
        _add_implicit(train.indptr.copy(), train.item.copy(), self.implicit_factors, profiles)
        return profiles

    def _objective(self, train: Ratings) -> float:
        u, i = train.user, train.item
        p, q = self.user_factors, self.item_factors
        predicted = self.mean + self.user_bias[u] + self.item_bias[i]
        predicted += rated_products(train, self._profiles(train), q)
        # Each rating of u counts the vectors y of all their items once.
        implicit = np.sum(self.implicit_factors**2, axis=1)
        of_users = self.user_bias**2 + np.sum(p**2, axis=1)
        of_users += np.bincount(u, implicit[i], train.n_users)
        of_items = self.item_bias**2 + np.sum(q**2, axis=1)
        penalty = train.user_counts() @ of_users + train.item_counts() @ of_items
        error = train.value - predicted
        return float(0.5 * (error @ error + self.regularisation * penalty))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        offset = self.mean + self.user_bias[users]
        rows = np.column_stack([self.profiles[users], offset, np.ones(len(users))])
        ones = np.ones(len(self.item_bias))
        return factor_scores(rows, np.column_stack([self.item_factors, ones, self.item_bias]))
