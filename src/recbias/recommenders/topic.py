"""Topic models: users as mixtures of distributions over items or over ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import DataError
from recbias.recommenders.base import Algorithm, Coverage, Trend, factor_scores, parameter, register

Array = npt.NDArray[np.float64]


@nb.njit(cache=True, nogil=True)
def _add_gains(
    pointers: Any, item: Any, value: Any, users: Any, items: Any, user_gain: Any, item_gain: Any
) -> None:
    """Add, for each rating r with product p, r / p times the other side's factors."""
    n_factors = users.shape[1]
    near = np.empty((8, n_factors))
    weight = np.empty(8)
    for u in range(len(pointers) - 1):
        mine, gain = users[u], user_gain[u]
        # Eight ratings at a time: their dot products, of which none becomes vector instructions,
        # do not wait for each other. Every sum still has its terms one by one in their order.
        for start in range(pointers[u], pointers[u + 1], 8):
            end = min(start + 8, pointers[u + 1])
            for m in range(8):
                source = items[item[min(start + m, end - 1)]]
                for z in range(n_factors):
                    near[m, z] = source[z]
            a = b = c = d = e = f = g = h = 0.0
            for z in range(n_factors):
                factor = mine[z]
                a += factor * near[0, z]
                b += factor * near[1, z]
                c += factor * near[2, z]
                d += factor * near[3, z]
                e += factor * near[4, z]
                f += factor * near[5, z]
                g += factor * near[6, z]
                h += factor * near[7, z]
            weight[0], weight[1], weight[2], weight[3] = a, b, c, d
            weight[4], weight[5], weight[6], weight[7] = e, f, g, h
            for m in range(8):
                at = start + m
                weight[m] = value[at] / weight[m] if at < end and weight[m] > 0.0 else 0.0
            a, b, c, d = weight[0], weight[1], weight[2], weight[3]
            e, f, g, h = weight[4], weight[5], weight[6], weight[7]
            for z in range(n_factors):
                half = gain[z] + a * near[0, z] + b * near[1, z] + c * near[2, z] + d * near[3, z]
                gain[z] = half + e * near[4, z] + f * near[5, z] + g * near[6, z] + h * near[7, z]
            for m in range(end - start):
                target, factor = item_gain[item[start + m]], weight[m]
                for z in range(n_factors):
                    target[z] += factor * mine[z]


@nb.njit(cache=True, nogil=True)
def _log_products(pointers: Any, item: Any, value: Any, users: Any, items: Any) -> float:
    """Add up rating times log product, user by user."""
    total = 0.0
    for u in range(len(pointers) - 1):
        of_user = 0.0
        for row in range(pointers[u], pointers[u + 1]):
            if value[row] > 0.0:
                p = 0.0
                for z in range(users.shape[1]):
                    p += users[u, z] * items[item[row], z]
                of_user += value[row] * np.log(p)
        total += of_user
    return total


def ratio_products(train: Ratings, users: Array, items: Array) -> tuple[Array, Array]:
    r"""Return the two sums of which multiplicative and EM steps over rated pairs are made.

    With :math:`y_{ui} = r_{ui} / (p_u \cdot q_i)` on the rated pairs and 0 elsewhere, these are
    :math:`Y Q` and :math:`Y^\top P`. A factor times its sum is what posteriors of the factors
    would add up to, which therefore need not be stored. The cost is O(n n_factors).

    Parameters
    ----------
    train : Ratings
        Ratings, none negative.
    users : float64 array (n_users, n_factors)
        P, not negative.
    items : float64 array (n_items, n_factors)
        Q, not negative.

    Returns
    -------
    of_users : float64 array (n_users, n_factors)
    of_items : float64 array (n_items, n_factors)
        New arrays; a pair whose product is 0 adds nothing.
    """
    of_users, of_items = np.zeros_like(users), np.zeros_like(items)
    _add_gains(train.indptr, train.item, train.value, users, items, of_users, of_items)
    return of_users, of_items


def sum_of_logs(train: Ratings, users: Array, items: Array) -> float:
    r"""Return :math:`\sum_{u,i} r_{ui} \ln (p_u \cdot q_i)`, to which ratings of 0 add nothing.

    Parameters
    ----------
    train : Ratings
        Ratings, none negative.
    users, items : float64 array (n_users, n_factors), (n_items, n_factors)
        P and Q.
    """
    return float(_log_products(train.indptr, train.item, train.value, users, items))


def without_zeros(train: Ratings, model: str) -> Ratings:
    """Leave out ratings that count 0, for models in which such a rating is as good as none.

    Parameters
    ----------
    train : Ratings
        Ratings, none negative.
    model : str
        Name of the algorithm, for the message.

    Raises
    ------
    DataError
        If all ratings count 0.
    """
    counts = train.value > 0
    if not counts.any():
        raise DataError(
            f"{model}: every training rating in '{train.name}' counts 0, so that there is nothing "
            "to learn\nchoose an encoding in which some count more"
        )
    return train if counts.all() else train.take(counts)


def _shares(weights: Array, axis: int) -> Array:
    """Divide by the sums along an axis; where a sum is 0, so are the shares."""
    sums = weights.sum(axis=axis, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums != 0)


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
        What a rating weighs, see `Encoding`; one that weighs 0 is as good as none.

    Attributes
    ----------
    topics : float64 array (n_users, n_topics)
        P(z|u); zeros for users without ratings.
    items : float64 array (n_items, n_topics)
        P(i|z); columns add up to 1, zeros for items without ratings.

    Raises
    ------
    DataError
        If no rating weighs more than 0.

    Notes
    -----
    **Defaults.** 50 topics and 100 iterations are those of RankSys' example; LibRec's file has 10
    topics. Neither tempers; the publication does.

    **Complexity.** O(n n_topics) per iteration for n ratings; memory for four arrays of factors
    beside the ratings.

    **Non-computable.** Pairs of a user or an item without a rating that weighs more than 0.

    References
    ----------
    Hofmann, "Latent semantic models for collaborative filtering", ACM TOIS 22(1), 2004.

    Examples
    --------
    One topic is popularity in stars, here 5 + 3 and 4 of 12.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 2, 2], "item_id": [1, 1, 2], "rating": [5.0, 3, 4]})
    >>> PLSA(n_topics=1).fit(Ratings.from_frame(frame)).score(np.array([0])).round(3)
    array([[0.667, 0.333]], dtype=float32)
    """

    n_topics: int = parameter(50, minimum=1)
    n_iterations: int = parameter(100, minimum=0)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "evidence"
    minimum_value: ClassVar[float] = 0.0
    objective_trend: ClassVar[Trend] = "rises"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        train = without_zeros(train, "PLSA")
        self._known_user, self._known_item = train.user_counts() > 0, train.item_counts() > 0
        topics = rng.random((train.n_users, self.n_topics)) * self._known_user[:, None]
        items = rng.random((train.n_items, self.n_topics)) * self._known_item[:, None]
        self.topics, self.items = _shares(topics, 1), _shares(items, 0)
        for _ in self._iterations(self.n_iterations, train):
            gains = ratio_products(train, self.topics, self.items)
            self.topics = _shares(self.topics * gains[0], 1)
            self.items = _shares(self.items * gains[1], 0)
        self.refuse_runaway(train, "scale the ratings down", self.topics, self.items)

    def _objective(self, train: Ratings) -> float:
        return sum_of_logs(train, self.topics, self.items)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.topics[users], self.items)


@nb.njit(cache=True, nogil=True)
def _add_posteriors(
    pointers: Any,
    item: Any,
    value: Any,
    log_topics: Any,
    centre: Any,
    offsets: Any,
    precisions: Any,
    logs: Any,
    topic_mass: Any,
    mass: Any,
    first: Any,
    second: Any,
) -> float:
    """Add up posteriors and the moments that they weigh; return the log-likelihood.

    `offsets` are the means of components and `first` and `second` the moments of ratings, all
    relative to the `centre` of the item; `logs` are the logarithms of a density's largest value.
    """
    n_topics = log_topics.shape[1]
    posterior = np.empty(n_topics)
    likelihood = 0.0
    for u in range(len(pointers) - 1):
        of_user = 0.0
        for row in range(pointers[u], pointers[u + 1]):
            i = item[row]
            v = value[row] - centre[i]
            largest = -np.inf
            for z in range(n_topics):
                gap = v - offsets[i, z]
                posterior[z] = log_topics[u, z] + logs[i, z] - 0.5 * gap * gap * precisions[i, z]
                largest = max(largest, posterior[z])
            if largest == -np.inf:
                of_user = -np.inf
                continue
            # The largest term becomes 1, so that not all can underflow.
            total = 0.0
            for z in range(n_topics):
                posterior[z] = np.exp(posterior[z] - largest)
                total += posterior[z]
            of_user += largest + np.log(total)
            for z in range(n_topics):
                share = posterior[z] / total
                topic_mass[u, z] += share
                mass[i, z] += share
                first[i, z] += share * v
                second[i, z] += share * v * v
        likelihood += of_user
    return likelihood


@register
@dataclass(eq=False)
class GaussianPLSA(Algorithm):
    r"""Gaussian probabilistic latent semantic analysis: a predictor of ratings.

    Ratings are standardised by shrunken means and deviations of their users, :math:`v_{ui} =
    (r_{ui} - \mu_u) / \sigma_u` with :math:`\mu_u = (\sum_i r_{ui} + q \bar r) / (n_u + q)` and
    :math:`\sigma_u^2 = (\sum_i (r_{ui} - \mu_u)^2 + q \bar\sigma^2) / (n_u + q)`. They come from
    :math:`p(v|u,i) = \sum_z P(z|u) N(v; \mu_{iz}, \sigma_{iz}^2)`. Expectation maximisation raises
    the penalised likelihood :math:`\sum_{u,i} \ln p(v_{ui}|u,i) - \frac{s}{2} \sum_{i,z} \left(\ln
    \sigma_{iz}^2 + \frac{(\mu_{iz} - m_i)^2 + 1}{\sigma_{iz}^2}\right)`, in which :math:`m_i` is
    the item's mean of v: each component has also seen s ratings with this mean and variance 1.
    Without them a component that holds a single rating would reach an infinite likelihood. Scores
    are the predictions :math:`\mu_u + \sigma_u \sum_z P(z|u) \mu_{iz}`.

    Parameters
    ----------
    n_topics : int
        Number of topics z.
    n_iterations : int
        Number of EM steps.
    smoothing : float
        q, the number of average ratings that each user's mean and variance also count.
    prior_ratings : float
        s, the weight of the prior on each component.
    encoding : str
        What a rating counts, see `Encoding`; 0 is a rating like others.

    Attributes
    ----------
    topics : float64 array (n_users, n_topics)
        P(z|u); zeros for users without ratings.
    means, variances : float64 array (n_items, n_topics)
        :math:`\mu_{iz}` and :math:`\sigma_{iz}^2`; 0 and 1 for items without ratings.
    user_means, user_deviations : float64 array (n_users,)
        :math:`\mu_u` and :math:`\sigma_u`; the deviation is 1 where it would be 0, as when all
        ratings are equal, and then predicts just that rating.

    Notes
    -----
    **Defaults.** Topics and iterations are those of LibRec's file for this model, q = 5 that of
    LibRec 1.3. The prior is this package's in the place of the publication's tempering, which
    LibRec leaves out as well; its weight has no source.

    **Complexity.** O(n n_topics) per iteration for n ratings, with one exponential per rating and
    topic; memory for nine arrays of the size of the parameters.

    **Non-computable.** Pairs of a user or an item without ratings.

    References
    ----------
    Hofmann, "Collaborative filtering via Gaussian probabilistic latent semantic analysis",
    SIGIR 2003.

    Examples
    --------
    Users who tell no items apart: without smoothing each gets their own rating as prediction.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 2, 2], "item_id": [1, 1, 2], "rating": [5.0, 3, 3]})
    >>> model = GaussianPLSA(n_topics=2, smoothing=0).fit(Ratings.from_frame(frame))
    >>> model.score(np.array([0, 1]))
    array([[5., 5.],
           [3., 3.]], dtype=float32)
    """

    n_topics: int = parameter(10, minimum=1)
    n_iterations: int = parameter(100, minimum=0)
    smoothing: float = parameter(5.0, minimum=0)
    prior_ratings: float = parameter(2.0, minimum=1e-6)
    encoding: str = parameter("stars")
    coverage: ClassVar[Coverage] = "known pairs"
    objective_trend: ClassVar[Trend] = "rises"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._standardise(train)
        value = self._standardised(train)
        counts = np.maximum(train.item_counts(), 1)
        self._centre = np.bincount(train.item, value, train.n_items) / counts
        topics = rng.random((train.n_users, self.n_topics)) * self._known_user[:, None]
        self.topics = _shares(topics, 1)
        # All components start alike: that users differ is enough to part them.
        self.means = np.repeat(self._centre[:, None], self.n_topics, axis=1)
        self.variances = np.ones_like(self.means)
        for _ in self._iterations(self.n_iterations, train):
            _, topic_mass, mass, first, second = self._expect(train, value)
            self.topics = _shares(topic_mass, 1)
            mass += self.prior_ratings
            offsets = first / mass
            self.means = self._centre[:, None] + offsets
            # At least 0, but for rounding; the prior is what keeps the variance away from it.
            scatter = np.maximum(second - mass * offsets**2, 0)
            self.variances = (scatter + self.prior_ratings) / mass
        self.refuse_runaway(train, "scale the ratings down", self.topics, self.means)

    def _standardise(self, train: Ratings) -> None:
        """Set the means and deviations of users."""
        counts, q = train.user_counts(), self.smoothing
        mean = train.value.mean()
        weight = np.where(counts + q > 0, counts + q, 1)
        sums = np.bincount(train.user, train.value - mean, train.n_users)
        self.user_means = mean + sums / weight
        gaps = train.value - self.user_means[train.user]
        squares = np.bincount(train.user, gaps**2, train.n_users)
        deviations = np.sqrt((squares + q * train.value.var()) / weight)
        self.user_deviations = np.where(deviations > 0, deviations, 1.0)

    def _standardised(self, train: Ratings) -> Array:
        gaps = train.value - self.user_means[train.user]
        return np.asarray(gaps / self.user_deviations[train.user])

    def _expect(self, train: Ratings, value: Array) -> tuple[float, Array, Array, Array, Array]:
        """Return the log-likelihood, and what the M-step needs."""
        with np.errstate(divide="ignore"):
            log_topics = np.log(self.topics)
        logs = -0.5 * np.log(2 * math.pi * self.variances)
        topic_mass = np.zeros_like(self.topics)
        mass, first, second = (np.zeros_like(self.means) for _ in range(3))
        likelihood = _add_posteriors(
            train.indptr,
            train.item,
            value,
            log_topics,
            self._centre,
            self.means - self._centre[:, None],
            1 / self.variances,
            logs,
            topic_mass,
            mass,
            first,
            second,
        )
        return float(likelihood), topic_mass, mass, first, second

    def _objective(self, train: Ratings) -> float:
        likelihood = self._expect(train, self._standardised(train))[0]
        variances = self.variances[self._known_item]
        offsets = (self.means - self._centre[:, None])[self._known_item]
        penalty = np.sum(np.log(variances) + (offsets**2 + 1) / variances)
        return float(likelihood - 0.5 * self.prior_ratings * penalty)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        weights = self.topics[users] * self.user_deviations[users, None]
        # The user's mean as one more factor, so that scores are rounded once.
        rows = np.column_stack([weights, self.user_means[users]])
        return factor_scores(rows, np.column_stack([self.means, np.ones(len(self.means))]))
