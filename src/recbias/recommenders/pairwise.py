"""Models that learn from pairs of items: a user's rated item should score above another item.

All share one idea. A sampler, which does not look at the model, draws triples of a user, an item
they rated and one they did not; a kernel takes one gradient step for each. What differs is
how the triples are distributed, and what is compared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import DataError
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    Trend,
    by_item,
    factor_scores,
    parameter,
    register,
)

Triples = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]

CHUNK = 2**17
"""Triples that are drawn at once, before a step is taken for each."""

OBJECTIVE_TRIPLES = 2**15
"""Triples over which an objective is averaged: each model has more terms than one can add up."""

_SPREAD = 0.1
"""Standard deviation of the factors at the start, as in LibRec 2.0."""

_SMALLER_STEPS = "choose a smaller learning_rate"


# `int(rng.random() * n)` is below n for every n < 2**53: the product is rounded down to the number
# before n. It is several times as fast as `rng.integers`.


@nb.njit(cache=True, nogil=True)
def _rated(pointers: Any, item: Any, user: int, wanted: int) -> bool:
    """Tell whether the user rated the item, by bisection."""
    low, end = pointers[user], pointers[user + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if item[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return bool(low < end and item[low] == wanted)


@nb.njit(cache=True, nogil=True)
def _draw_triples(
    rng: Any,
    pointers: Any,
    user: Any,
    item: Any,
    users: Any,
    rows: Any,
    pool: Any,
    by_user: bool,
    drawn_user: Any,
    positive: Any,
    negative: Any,
) -> None:
    """Fill three arrays; with `by_user` the users are uniform, else all triples are."""
    for place in range(len(drawn_user)):
        searching = True
        while searching:
            if by_user:
                u = users[int(rng.random() * len(users))]
                row = pointers[u] + int(rng.random() * (pointers[u + 1] - pointers[u]))
            else:
                row = rows[int(rng.random() * len(rows))]
                u = user[row]
            while searching:
                j = pool[int(rng.random() * len(pool))]
                searching = _rated(pointers, item, u, j)
                if not by_user:
                    break
        drawn_user[place] = u
        positive[place] = item[row]
        negative[place] = j


@nb.njit(cache=True, nogil=True)
def _draw_negatives(
    rng: Any, rows: Any, pointers: Any, user: Any, item: Any, pool: Any, negative: Any
) -> None:
    """Draw an item that its user did not rate for each of some rows."""
    for place in range(len(rows)):
        u = user[rows[place]]
        j = pool[int(rng.random() * len(pool))]
        while _rated(pointers, item, u, j):
            j = pool[int(rng.random() * len(pool))]
        negative[place] = j


@nb.njit(cache=True, nogil=True)
def _draw_groups(
    rng: Any,
    item_pointers: Any,
    raters: Any,
    user: Any,
    positive: Any,
    group: Any,
    group_size: Any,
) -> None:
    """Fill each row of `group` with the user and others who rated the positive item."""
    largest = group.shape[1]
    for place in range(len(user)):
        u, i = user[place], positive[place]
        first, end = item_pointers[i], item_pointers[i + 1]
        group[place, 0] = u
        n = 1
        if end - first <= largest:
            for at in range(first, end):
                if raters[at] != u:
                    group[place, n] = raters[at]
                    n += 1
        else:
            while n < largest:
                other = raters[first + int(rng.random() * (end - first))]
                known = False
                for m in range(n):
                    known = known or group[place, m] == other
                if not known:
                    group[place, n] = other
                    n += 1
        group_size[place] = n


class Sampler(Protocol):
    """Anything that draws triples."""

    def draw(self, n: int, *, rng: np.random.Generator) -> Triples:
        """Draw `n` triples: users, items that they rated, items that they did not."""
        ...


class TripleSampler:
    """Draws triples of a user, an item they rated and one they did not.

    The other item is drawn from a pool until one comes that the user did not rate: exactly its
    distribution among those, at an expected number of draws that is at most the length of the
    pool, since users who rated every item are left out.

    Parameters
    ----------
    train : Ratings
        Whatever is in it counts as rated.
    draw : {"triples", "users"}
        With ``"triples"`` the probability of (u, i, j) is proportional to the weight of j alone.
        With ``"users"`` u is uniform, i is uniform among the items that u rated, and j is
        proportional to its weight among those that u did not.
    negatives : {"uniform", "popular"}
        Weight of j: 1 for every item with a rating, or its number of ratings.

    Attributes
    ----------
    users : int array
        The users for whom triples exist, ascending.
    rows : int array
        Rows of `train` that can be the positive half of a triple.

    Raises
    ------
    DataError
        If no triple exists, because every user rated every item.

    Examples
    --------
    The second user rated both items; for the first there is only one triple.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [0, 1, 1], "item_id": [1, 0, 1], "rating": [5, 4, 3]})
    >>> sampler = TripleSampler(Ratings.from_frame(frame))
    >>> sampler.draw(2, rng=np.random.default_rng(1))
    (array([0, 0], dtype=int32), array([1, 1], dtype=int32), array([0, 0], dtype=int32))
    """

    def __init__(
        self,
        train: Ratings,
        *,
        draw: Literal["triples", "users"] = "triples",
        negatives: Literal["uniform", "popular"] = "uniform",
    ) -> None:
        counts = train.user_counts()
        items = np.flatnonzero(train.item_counts()).astype(np.int32)
        has_negatives = counts < len(items)
        self.users = np.flatnonzero((counts > 0) & has_negatives)
        if len(self.users) == 0:
            raise DataError(
                f"every user in '{train.name}' has rated every item: there is nothing to compare"
                "\nuse an encoding that drops the ratings that are not positive"
            )
        self.rows = np.flatnonzero(has_negatives[train.user])
        # Copies, because the kernels would be compiled once more for read-only arrays.
        self._table = train.indptr.copy(), train.user.copy(), train.item.copy()
        self._pool = self._table[2] if negatives == "popular" else items
        self._by_user = draw == "users"

    def draw(self, n: int, *, rng: np.random.Generator) -> Triples:
        """Draw triples, with replacement.

        Parameters
        ----------
        n : int
            How many.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        user, positive, negative : int32 array (n,)
            The triples.
        """
        drawn = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
        where = self.users, self.rows, self._pool
        _draw_triples(rng, *self._table, *where, self._by_user, *drawn)
        return drawn

    def negatives(
        self, rows: npt.NDArray[np.int64], *, rng: np.random.Generator
    ) -> npt.NDArray[np.int32]:
        """Draw an item for each of some rows that its user did not rate.

        Parameters
        ----------
        rows : int64 array (n,)
            Some of `rows`.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        int32 array (n,)
            Items, by their weights.
        """
        negative = np.empty(len(rows), np.int32)
        _draw_negatives(rng, rows, *self._table, self._pool, negative)
        return negative


class GroupSampler:
    """Draws groups of users who rated an item, around one of them.

    Parameters
    ----------
    train : Ratings
        Whatever is in it counts as rated.
    size : int
        Members of a group, the user included; all raters where an item has no more.
    """

    def __init__(self, train: Ratings, size: int) -> None:
        pointers, rows = by_item(train)
        self._raters = pointers, train.user[rows]
        self._size = min(size, int(train.item_counts().max()))

    def draw(
        self,
        user: npt.NDArray[np.int32],
        item: npt.NDArray[np.int32],
        *,
        rng: np.random.Generator,
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Draw a group for each pair.

        Parameters
        ----------
        user, item : int32 array (n,)
            Users, and an item that each rated.
        rng : numpy.random.Generator
            The source of randomness.

        Returns
        -------
        members : int32 array (n, size)
            The user, then others who rated the item, without repetition.
        n_members : int64 array (n,)
            How many of each row's entries are meant.
        """
        members = np.zeros((len(user), self._size), np.int32)
        n_members = np.empty(len(user), np.int64)
        _draw_groups(rng, *self._raters, user, item, members, n_members)
        return members, n_members


@nb.njit(cache=True, nogil=True)
def _climb(
    user: Any,
    positive: Any,
    negative: Any,
    learning_rate: float,
    bias_rate: float,
    regularisation: float,
    p: Any,
    q: Any,
    bias: Any,
) -> None:
    """Take a step up the log-likelihood of each triple."""
    size = p.shape[1]
    whole = size - size % 4
    for place in range(len(user)):
        u, i, j = user[place], positive[place], negative[place]
        # Four sums at a time, because each waits for the previous addition.
        a, b, c, d = bias[i] - bias[j], 0.0, 0.0, 0.0
        for f in range(0, whole, 4):
            a += p[u, f] * (q[i, f] - q[j, f])
            b += p[u, f + 1] * (q[i, f + 1] - q[j, f + 1])
            c += p[u, f + 2] * (q[i, f + 2] - q[j, f + 2])
            d += p[u, f + 3] * (q[i, f + 3] - q[j, f + 3])
        for f in range(whole, size):
            a += p[u, f] * (q[i, f] - q[j, f])
        pull = 1.0 / (1.0 + np.exp((a + b) + (c + d)))
        bias[i] += bias_rate * (pull - regularisation * bias[i])
        bias[j] -= bias_rate * (pull + regularisation * bias[j])
        for f in range(size):
            x, y, z = p[u, f], q[i, f], q[j, f]
            p[u, f] = x + learning_rate * (pull * (y - z) - regularisation * x)
            q[i, f] = y + learning_rate * (pull * x - regularisation * y)
            q[j, f] = z - learning_rate * (pull * x + regularisation * z)


@nb.njit(cache=True, nogil=True)
def _climb_with_groups(
    user: Any,
    positive: Any,
    negative: Any,
    members: Any,
    n_members: Any,
    group_weight: float,
    learning_rate: float,
    regularisation: float,
    p: Any,
    q: Any,
    bias: Any,
    new_p: Any,
    new_q: Any,
) -> None:
    """Add a step for each triple to `new_p` and `new_q`, which may be `p` and `q` themselves."""
    size = p.shape[1]
    mixed = np.empty(size)
    user_weight = 1.0 - group_weight
    for place in range(len(user)):
        u, i, j = user[place], positive[place], negative[place]
        n = n_members[place]
        share = group_weight / n
        for f in range(size):
            mixed[f] = (user_weight + share) * p[u, f]
        for m in range(1, n):
            w = members[place, m]
            for f in range(size):
                mixed[f] += share * p[w, f]
        a, b = bias[i], bias[j]
        for f in range(size):
            a += mixed[f] * q[i, f]
            b += p[u, f] * q[j, f]
        pull = 1.0 / (1.0 + np.exp(a - b))
        bias[i] += learning_rate * (pull - regularisation * bias[i])
        bias[j] -= learning_rate * (pull + regularisation * bias[j])
        for m in range(1, n):
            w = members[place, m]
            for f in range(size):
                new_p[w, f] += learning_rate * (pull * share * q[i, f] - regularisation * p[w, f])
        for f in range(size):
            x, y, z = p[u, f], q[i, f], q[j, f]
            new_p[u, f] += learning_rate * (
                pull * ((user_weight + share) * y - z) - regularisation * x
            )
            new_q[i, f] += learning_rate * (pull * mixed[f] - regularisation * y)
            new_q[j, f] -= learning_rate * (pull * x + regularisation * z)


@nb.njit(cache=True, nogil=True)
def _descend(
    rows: Any,
    negative: Any,
    user: Any,
    item: Any,
    value: Any,
    learning_rate: float,
    regularisation: float,
    p: Any,
    q: Any,
) -> None:
    """Take a step down the squared error of each difference."""
    size = p.shape[1]
    for place in range(len(rows)):
        row, j = rows[place], negative[place]
        u, i = user[row], item[row]
        error = -value[row]
        for f in range(size):
            error += p[u, f] * (q[i, f] - q[j, f])
        for f in range(size):
            x, y, z = p[u, f], q[i, f], q[j, f]
            p[u, f] = x - learning_rate * (error * (y - z) + regularisation * x)
            q[i, f] = y - learning_rate * (error * x + regularisation * y)
            q[j, f] = z + learning_rate * (error * x - regularisation * z)


def chunks(n: int) -> Iterator[int]:
    """Split a number of triples into numbers that are drawn at once.

    Parameters
    ----------
    n : int
        How many triples.
    """
    for start in range(0, n, CHUNK):
        yield min(CHUNK, n - start)


def _fixed() -> np.random.Generator:
    """Return the generator of an objective's triples, so that its values can be compared."""
    return np.random.default_rng(0)


def _squares(*vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sum of the squared lengths of some matrices' rows."""
    return sum((np.einsum("rf,rf->r", rows, rows) for rows in vectors), np.zeros(len(vectors[0])))


class _PairwiseModel(Algorithm):
    """What all have in common; not a dataclass, so that subclasses order the parameters."""

    coverage: ClassVar[Coverage] = "known pairs"
    objective_trend: ClassVar[Trend] = "noisy"
    n_factors: int
    learning_rate: float
    regularisation: float
    n_epochs: int
    encoding: str

    def _initial_biases(self, n_items: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return the item biases before the first step.

        Parameters
        ----------
        n_items : int
            Number of items.
        rng : numpy.random.Generator
            Not used here; a subclass may start from something random.
        """
        return np.zeros(n_items)

    def _start(self, train: Ratings, rng: np.random.Generator) -> None:
        self.user_factors = rng.normal(0, _SPREAD, (train.n_users, self.n_factors))
        self.item_factors = rng.normal(0, _SPREAD, (train.n_items, self.n_factors))
        self.item_bias = self._initial_biases(train.n_items, rng)
        self.user_factors[~self._known_user] = 0
        self.item_factors[~self._known_item] = 0
        self.item_bias[~self._known_item] = 0

    def _refuse_runaway(self, train: Ratings) -> None:
        learned = self.user_factors, self.item_factors, self.item_bias
        self.refuse_runaway(train, _SMALLER_STEPS, *learned)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        rows = np.column_stack([self.user_factors[users], np.ones(len(users))])
        return factor_scores(rows, np.column_stack([self.item_factors, self.item_bias]))


class _TripleModel(_PairwiseModel):
    """A model whose epoch consists of triples that a sampler draws."""

    samples_per_user: int

    @abstractmethod
    def sampler(self, train: Ratings) -> Sampler:
        """Return what draws the triples of a training.

        Parameters
        ----------
        train : Ratings
            Encoded ratings.
        """

    @abstractmethod
    def _step(self, triples: Triples, rng: np.random.Generator) -> None:
        """Learn from some triples."""

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        sampler = self.sampler(train)
        self._start(train, rng)
        n_samples = self.samples_per_user * int(self._known_user.sum()) or len(train)
        for _ in self._iterations(self.n_epochs, train):
            self._epoch(n_samples, sampler, rng)
            self._refuse_runaway(train)

    def _epoch(self, n_samples: int, sampler: Sampler, rng: np.random.Generator) -> None:
        """Draw triples and take a step for each.

        Parameters
        ----------
        n_samples : int
            How many.
        sampler : Sampler
            What draws them.
        rng : numpy.random.Generator
            The source of randomness.
        """
        for n in chunks(n_samples):
            self._step(sampler.draw(n, rng=rng), rng)


class _BayesianPairs(_TripleModel):
    """BPR and WBPR: the same steps on triples that are drawn otherwise."""

    def _bias_rate(self) -> float:
        return self.learning_rate

    def _step(self, triples: Triples, rng: np.random.Generator) -> None:
        rates = self.learning_rate, self._bias_rate(), self.regularisation
        _climb(*triples, *rates, self.user_factors, self.item_factors, self.item_bias)

    def _objective(self, train: Ratings) -> float:
        user, positive, negative = self.sampler(train).draw(OBJECTIVE_TRIPLES, rng=_fixed())
        p, bias = self.user_factors[user], self.item_bias
        q, other = self.item_factors[positive], self.item_factors[negative]
        margin = np.einsum("rf,rf->r", p, q - other) + bias[positive] - bias[negative]
        squares = _squares(p, q, other, bias[positive, None], bias[negative, None])
        return float(np.mean(-np.logaddexp(0, -margin) - self.regularisation / 2 * squares))


@register
@dataclass(eq=False)
class BPR(_BayesianPairs):
    r"""Bayesian personalised ranking: rated items above the others, triple by triple.

    Scores are :math:`\hat x_{ui} = p_u \cdot q_i`, plus :math:`b_i` with biases. Maximises, by
    stochastic ascent, :math:`\sum_{(u,i,j)} \ln \sigma(\hat x_{ui} - \hat x_{uj}) -
    \tfrac\lambda2 (\|p_u\|^2 + \|q_i\|^2 + \|q_j\|^2 + b_i^2 + b_j^2)` over the triples of a user,
    an item they rated and one they did not; :math:`\sigma(x) = 1 / (1 + e^{-x})`.
    Which pairs are rated counts, not their values.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of a step.
    regularisation : float
        :math:`\lambda`, the same for all parameters.
    n_epochs : int
        Number of epochs.
    draw : {"triples", "users"}
        ``"triples"``: all triples are equally likely, as in the publication. ``"users"``: all
        users are, then all items that they rated and all that they did not, as in MyMediaLite and
        LibRec.
    samples_per_user : int
        Triples in an epoch, per user with a rating; 0 for as many as there are ratings.
    biases : bool
        Whether items have a bias.
    encoding : str
        Which ratings are kept, see `Encoding`; a kept zero counts as rated.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1, and are zero
        where there are no ratings.
    item_bias : float64 array (n_items,)
        b; zeros without biases.

    Raises
    ------
    DataError
        If every user rated every item.
    ConfigError
        If training runs away.

    Notes
    -----
    **Defaults.** The publication gives no parameters. Factors, steps, regularisation, epochs and
    triples per epoch are those of LibRec 2.0 (``bpr-test``); no biases and equally likely triples
    are the publication's.

    **Complexity.** :math:`O(n K)` per epoch of n triples, besides a bisection in the user's
    ratings for each draw; memory :math:`O((U + I) K)`. Objective: the mean over 32768 triples that
    are always the same.

    **Non-computable.** Pairs whose user or item has no rating.

    References
    ----------
    Rendle, Freudenthaler, Gantner & Schmidt-Thieme, "BPR: Bayesian personalized ranking from
    implicit feedback", UAI 2009.
    """

    n_factors: int = parameter(10, minimum=1)
    learning_rate: float = parameter(0.01, above=0)
    regularisation: float = parameter(0.01, minimum=0)
    n_epochs: int = parameter(100, minimum=0)
    draw: Literal["triples", "users"] = parameter("triples", choices=("triples", "users"))
    samples_per_user: int = parameter(100, minimum=0)
    biases: bool = parameter(False)
    encoding: str = parameter("binary-all")

    def sampler(self, train: Ratings) -> Sampler:
        """Return what draws the triples, as `draw` says."""
        return TripleSampler(train, draw=self.draw, negatives="uniform")

    def _bias_rate(self) -> float:
        return self.learning_rate if self.biases else 0.0


@register
@dataclass(eq=False)
class WBPR(_BayesianPairs):
    r"""Weighted BPR: rated items above popular items that the user did not rate.

    The model and the objective are those of `BPR` with item biases, but a triple (u, i, j) has a
    weight: all users weigh the same, so do all items that a user rated, and an item that they did
    not rate weighs as many times as it was rated by others, :math:`n_j`. The weight is the
    probability that the triple is drawn.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of a step.
    regularisation : float
        :math:`\lambda`, the same for all parameters.
    n_epochs : int
        Number of epochs.
    samples_per_user : int
        Triples in an epoch, per user with a rating; 0 for as many as there are ratings.
    encoding : str
        Which ratings are kept, see `Encoding`; a kept zero counts as rated.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1, and are zero
        where there are no ratings.
    item_bias : float64 array (n_items,)
        b.

    Raises
    ------
    DataError
        If every user rated every item.
    ConfigError
        If training runs away.

    Notes
    -----
    **Defaults.** Those of LibRec's ``wbpr-test``, with the triples per epoch of LibRec 2.0. The
    weights :math:`n_j` are normalised over the items that the user did not rate, as in LibRec 1.3;
    otherwise those who rated the popular items would count less than others.

    **Complexity.** :math:`O(n K)` per epoch of n triples, besides a bisection in the user's
    ratings for each draw; memory :math:`O((U + I) K)`. Objective: the mean over 32768 triples that
    are always the same.

    **Non-computable.** Pairs whose user or item has no rating.

    References
    ----------
    Gantner, Drumond, Freudenthaler & Schmidt-Thieme, "Personalized ranking for non-uniformly
    sampled items", JMLR W&CP 18, 2012.
    """

    n_factors: int = parameter(128, minimum=1)
    learning_rate: float = parameter(0.01, above=0)
    regularisation: float = parameter(0.01, minimum=0)
    n_epochs: int = parameter(20, minimum=0)
    samples_per_user: int = parameter(100, minimum=0)
    encoding: str = parameter("binary-all")

    def sampler(self, train: Ratings) -> Sampler:
        """Return what draws the triples: uniform users, popular items against them."""
        return TripleSampler(train, draw="users", negatives="popular")


@register
@dataclass(eq=False)
class GBPR(_TripleModel):
    r"""Group preference BPR: what a group of its raters thinks of an item, above another item.

    Scores are :math:`\hat x_{ui} = p_u \cdot q_i + b_i`. A group :math:`G` holds the user u and
    others who rated i; its preference is :math:`\hat x_{Gui} = \frac{\rho}{|G|} \sum_{w \in G}
    \hat x_{wi} + (1 - \rho) \hat x_{ui}`. Maximises, by stochastic ascent, :math:`\sum
    \ln \sigma(\hat x_{Gui} - \hat x_{uj}) - \tfrac\lambda2 (\sum_{w \in G} \|p_w\|^2 + \|q_i\|^2 +
    \|q_j\|^2 + b_i^2 + b_j^2)`: u is drawn uniformly, then i among the items that u rated, j among
    those that u did not, and the other members of G among those who rated i. Which pairs are rated
    counts, not their values.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of a step.
    regularisation : float
        :math:`\lambda`, the same for all parameters.
    n_epochs : int
        Number of epochs.
    group_weight : float
        :math:`\rho`; with 0 there is no group, and the model is `BPR` with biases. Above 1, which
        the publication rules out, the user's own preference counts negatively.
    group_size : int
        :math:`|G|`; all raters form the group of an item that has no more.
    samples_per_user : int
        Triples in an epoch, per user with a rating; 0 for as many as there are ratings.
    encoding : str
        Which ratings are kept, see `Encoding`; a kept zero counts as rated.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1, and are zero
        where there are no ratings.
    item_bias : float64 array (n_items,)
        b.

    Raises
    ------
    DataError
        If every user rated every item.
    ConfigError
        If training runs away.

    Notes
    -----
    **Defaults.** Weight and size of groups are those of LibRec 1.3, within the publication's
    range; the others are those of LibRec's ``gbpr-test``, with the triples per epoch of LibRec 2.0.

    **Complexity.** :math:`O(n |G| K)` per epoch of n triples; memory :math:`O((U + I) K)` and one
    more copy of the ratings, by item. Objective: the mean over 32768 triples and groups that are
    always the same.

    **Non-computable.** Pairs whose user or item has no rating.

    References
    ----------
    Pan & Chen, "GBPR: Group preference based Bayesian personalized ranking for one-class
    collaborative filtering", IJCAI 2013.
    """

    n_factors: int = parameter(10, minimum=1)
    learning_rate: float = parameter(0.01, above=0)
    regularisation: float = parameter(0.01, minimum=0)
    n_epochs: int = parameter(100, minimum=0)
    group_weight: float = parameter(0.8, minimum=0)
    group_size: int = parameter(5, minimum=1)
    samples_per_user: int = parameter(100, minimum=0)
    encoding: str = parameter("binary-all")

    def sampler(self, train: Ratings) -> Sampler:
        """Return what draws the triples: uniform users, any items against them."""
        return TripleSampler(train, draw="users", negatives="uniform")

    def group_sampler(self, train: Ratings) -> GroupSampler:
        """Return what draws the groups; a group without weight is the user alone.

        Parameters
        ----------
        train : Ratings
            Encoded ratings.
        """
        return GroupSampler(train, self.group_size if self.group_weight > 0 else 1)

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._groups = self.group_sampler(train)
        try:
            super()._fit(train, rng)
        finally:
            del self._groups

    def _add_steps(
        self,
        triples: Triples,
        rng: np.random.Generator,
        new_user_factors: npt.NDArray[np.float64],
        new_item_factors: npt.NDArray[np.float64],
    ) -> None:
        """Draw groups, change the biases, and add a step for each triple to some factors.

        Parameters
        ----------
        triples : tuple of int32 arrays (n,)
            Users, items that they rated, items that they did not.
        rng : numpy.random.Generator
            The source of randomness.
        new_user_factors, new_item_factors : float64 arrays
            Where the steps are added, in place: the model's own factors, or copies of them.
        """
        members = self._groups.draw(*triples[:2], rng=rng)
        rates = self.group_weight, self.learning_rate, self.regularisation
        learned = self.user_factors, self.item_factors, self.item_bias
        _climb_with_groups(*triples, *members, *rates, *learned, new_user_factors, new_item_factors)

    def _step(self, triples: Triples, rng: np.random.Generator) -> None:
        self._add_steps(triples, rng, self.user_factors, self.item_factors)

    def _objective(self, train: Ratings) -> float:
        rng = _fixed()
        user, positive, negative = self.sampler(train).draw(OBJECTIVE_TRIPLES, rng=rng)
        members, n_members = self.group_sampler(train).draw(user, positive, rng=rng)
        p, q, other = self.user_factors, self.item_factors[positive], self.item_factors[negative]
        bias = self.item_bias
        total, squares = np.zeros_like(q), np.zeros(len(user))
        for column in range(members.shape[1]):
            rows = np.where((column < n_members)[:, None], p[members[:, column]], 0)
            total += rows
            squares += _squares(rows)
        weight = self.group_weight
        mixed = weight * total / n_members[:, None] + (1 - weight) * p[user]
        margin = np.einsum("rf,rf->r", mixed, q) - np.einsum("rf,rf->r", p[user], other)
        margin += bias[positive] - bias[negative]
        squares += _squares(q, other, bias[positive, None], bias[negative, None])
        return float(np.mean(-np.logaddexp(0, -margin) - self.regularisation / 2 * squares))


@register
@dataclass(eq=False)
class RankSGD(_PairwiseModel):
    r"""Ranking by differences: a rating is the distance of its item from one that is not rated.

    Scores are :math:`\hat x_{ui} = p_u \cdot q_i`. For each rating an item j that the user did not
    rate is drawn with a probability proportional to its number of ratings. Minimises, by
    stochastic descent, :math:`\sum_{(u,i)} \tfrac12 ((\hat x_{ui} - \hat x_{uj}) - r_{ui})^2 +
    \tfrac\lambda2 (\|p_u\|^2 + \|q_i\|^2 + \|q_j\|^2)`, one rating at a time, in a new random
    order and with new items j in each epoch. A rating of 0 holds its item down to those not rated.

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
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1, and are zero
        where there are no ratings.
    item_bias : float64 array (n_items,)
        Zeros; the model has no biases.

    Raises
    ------
    DataError
        If every user rated every item.
    ConfigError
        If training runs away.

    Notes
    -----
    **Defaults.** Those of LibRec's ``ranksgd-test``, where the regularisation that one configures
    is never applied; hence 0. LibRec 1.3 insists on ratings that all count 1, hence the encoding
    ``"binary-all"``.

    **Complexity.** :math:`O(nnz K)` per epoch, besides a bisection in the user's ratings for each
    draw; memory :math:`O((U + I) K)`. Objective: the mean over at most 32768 ratings, and items j,
    that are always the same.

    **Non-computable.** Pairs whose user or item has no rating.

    References
    ----------
    Jahrer & Töscher, "Collaborative filtering ensemble for ranking", JMLR W&CP 18, 2012.
    """

    n_factors: int = parameter(10, minimum=1)
    learning_rate: float = parameter(0.01, above=0)
    regularisation: float = parameter(0.0, minimum=0)
    n_epochs: int = parameter(30, minimum=0)
    encoding: str = parameter("binary-all")

    def _pass_order(
        self, train: Ratings, rows: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Return the order in which an epoch uses the ratings: a random one.

        Parameters
        ----------
        train : Ratings
            Encoded ratings.
        rows : int64 array (n,)
            The rows to be used.
        rng : numpy.random.Generator
            The source of randomness.
        """
        return rng.permutation(rows)

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        sampler = TripleSampler(train, negatives="popular")
        self._start(train, rng)
        table = train.user.copy(), train.item.copy(), train.value.copy()
        rates = self.learning_rate, self.regularisation
        for _ in self._iterations(self.n_epochs, train):
            order = self._pass_order(train, sampler.rows, rng)
            negative = sampler.negatives(order, rng=rng)
            _descend(order, negative, *table, *rates, self.user_factors, self.item_factors)
            self._refuse_runaway(train)

    def _objective(self, train: Ratings) -> float:
        rng = _fixed()
        sampler = TripleSampler(train, negatives="popular")
        rows = rng.permutation(sampler.rows)[:OBJECTIVE_TRIPLES]
        p, q = self.user_factors[train.user[rows]], self.item_factors[train.item[rows]]
        other = self.item_factors[sampler.negatives(rows, rng=rng)]
        error = np.einsum("rf,rf->r", p, q - other) - train.value[rows]
        return float(np.mean(error**2 + self.regularisation * _squares(p, q, other)) / 2)
