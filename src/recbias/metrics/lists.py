"""What metrics look at: the judged part of every list by rank, or the items of every list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numba as nb
import numpy as np
import numpy.typing as npt
import scipy.sparse

from recbias.data.features import ItemFeatures
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, ContractError
from recbias.protocol.relevance import GainMap, relevant
from recbias.ranking import RankTable

__all__ = ["JudgedLists", "ListView", "RankView", "item_counts", "list_order", "list_view"]

FloatArray = npt.NDArray[np.float64]

# Compiled functions call none of another file: numba's cache of the caller would not notice that
# the other file has changed. Each family of metrics therefore has a kernel of its own over these
# lists.


@dataclass(frozen=True, eq=False)
class JudgedLists:
    """Test items of each user: first those in their list, by rank, then those not in it.

    Attributes
    ----------
    first : ndarray of int64, shape (n_users + 1,)
        User u has the places ``first[u]`` to ``first[u + 1]``.
    n_listed : ndarray of int64, shape (n_users,)
        How many of them are in the list.
    rank : ndarray of int32, shape (n_rows,)
        Rank from 1; 0 = not in the list.
    positive : ndarray of bool, shape (n_rows,)
        Whether the item is relevant.
    """

    first: npt.NDArray[np.int64]
    n_listed: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int32]
    positive: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RankView:
    """A table of ranks under one reading of it: what a metric of kind ``ranks`` is given.

    Attributes
    ----------
    table : RankTable
    min_rating : float
        Ratings from here on are relevant.
    condensed : bool
        Whether ranks are those among test items.
    rating_max : float or None
        Top of the rating scale.
    relevant_counts : ndarray of int64, shape (n_items,), or None
        Relevant ratings of each item in training and test together, |PR(i)|: not its popularity.

    Examples
    --------
    >>> table = RankTable(
    ...     per="run", n_users=1, user=np.zeros(3, np.int32), item=np.arange(3, dtype=np.int32),
    ...     value=np.full(3, 5.0), rank=np.array([2, 0, 2], np.int32),
    ...     condensed_rank=np.array([1, 0, 1], np.int32), n_targets=np.full(3, 9, np.int32),
    ...     n_scored=np.full(3, 9, np.int32))
    >>> view = RankView(table, min_rating=4)
    >>> view.lists.rank.tolist(), view.per_unit(np.array([[0.0, 1.0, 0.5]])).tolist()
    ([0, 1, 2], [[0.5, 0.0, 0.5]])
    """

    table: RankTable
    min_rating: float
    condensed: bool = False
    rating_max: float | None = None
    relevant_counts: npt.NDArray[np.int64] | None = None
    _gains: dict[GainMap, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_units(self) -> int:
        """Users, or runs of a 1R table: a metric has a value for each."""
        return self.table.n_users if self.table.per == "user" else len(self.table.user)

    @property
    def rank(self) -> npt.NDArray[np.int32]:
        """Ranks of the table's rows, full or condensed; 0 = not in the list."""
        return self.table.condensed_rank if self.condensed else self.table.rank

    @property
    def tied_places(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """First place that each row may have if equal scores are put in any order, and how many.

        Full or condensed; 0 where it is not in the list.

        Raises
        ------
        ConfigError
            If the table does not know them.
        """
        ties = self.table.ties
        if ties is None:
            raise ConfigError(
                "metrics given |ties: the table does not know which scores are equal; rank with "
                "ties=True, whole target sets and no percentiles"
            )
        if self.condensed:
            return ties.condensed_first, ties.condensed_size
        return ties.first, ties.size

    @cached_property
    def positive(self) -> npt.NDArray[np.bool_]:
        """Which rows of the table are relevant."""
        return relevant(self.table.value, self.min_rating)

    @cached_property
    def _order(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        return list_order(self.table)

    @cached_property
    def lists(self) -> JudgedLists:
        """The judged part of each list: one list per user or, for runs, one per *rank* from 0.

        A run holds one relevant item and nothing else that is judged, so that runs of equal rank
        have equal values: measure these lists, and let :meth:`per_unit` hand the values out.

        Raises
        ------
        ContractError
            As :func:`list_order` does.
        """
        if self.table.per == "user":
            order, first, n_listed = self._order
            return JudgedLists(first, n_listed, self.rank[order], self.positive[order])
        every_rank = np.arange(self.rank.max(initial=0) + 1, dtype=np.int32)
        return JudgedLists(
            first=np.arange(len(every_rank) + 1),
            n_listed=np.minimum(every_rank, 1).astype(np.int64),
            rank=every_rank,
            positive=np.ones(len(every_rank), dtype=bool),
        )

    def gains(self, gain_map: GainMap) -> FloatArray:
        """Gains of the items of :attr:`lists`, in their order; 1 in runs, whatever the grade.

        Raises
        ------
        ConfigError
            If `rating_max` is missing where the map needs it.
        """
        if gain_map not in self._gains:
            self._gains[gain_map] = (
                gain_map.gains(self.ratings, min_rating=self.min_rating, rating_max=self.rating_max)
                if self.table.per == "user"
                else np.ones(len(self.lists.rank))
            )
        return self._gains[gain_map]

    @cached_property
    def ratings(self) -> FloatArray:
        """Ratings of the items of :attr:`lists`, in their order; of tables per user only."""
        return self.table.value[self._order[0]]

    @cached_property
    def flipped(self) -> RankView:
        """The same lists with relevance flipped: relevant is what is judged and was not.

        A metric measured on it is its anti-metric: ``measure_hits(view.flipped, metrics)`` counts
        what a user is known not to like. Unjudged items stay what they are. Ratings have changed
        their sign; gains other than binary ones mean nothing there.

        Examples
        --------
        >>> table = RankTable(
        ...     per="user", n_users=1, user=np.zeros(2, np.int32), item=np.array([0, 3], np.int32),
        ...     value=np.array([4.0, 3.5]), rank=np.array([1, 5], np.int32),
        ...     condensed_rank=np.array([1, 2], np.int32), n_targets=np.array([9], np.int32),
        ...     n_scored=np.array([9], np.int32))
        >>> view = RankView(table, min_rating=4)
        >>> view.positive.tolist(), view.flipped.positive.tolist()
        ([True, False], [False, True])
        """
        # r < x and -r >= the number that follows -x are the same for floats.
        other = RankView(
            replace(self.table, value=-self.table.value),
            float(np.nextafter(-self.min_rating, np.inf)),
            self.condensed,
        )
        if self.table.per == "user":
            vars(other)["_order"] = self._order
        return other

    def per_unit(self, values: FloatArray) -> FloatArray:
        """Turn values of :attr:`lists`, shape (n_metrics, n_lists), into values of the units."""
        return values if self.table.per == "user" else np.take(values, self.rank, axis=1)


@dataclass(frozen=True, eq=False)
class ListView:
    """The lists that all users are shown: what metrics of kinds ``items`` and ``system`` are given.

    Attributes
    ----------
    items : ndarray of int32, shape (n_users, depth)
        Dense items, best first; -1 behind the end of a shorter list.
    n_items : int
        Size of the catalogue.
    train_counts : ndarray of int64, shape (n_items,)
        Training ratings of each item. They stay what they are when users are resampled: the system
        that made the lists is not trained again.
    prior : ndarray of int64, shape (n_items,), or None
        Relevant training ratings of each item, s(i): the popularity that CI, LTI and M compare
        with. It stays too.
    own_popularity : ndarray of float64, shape (n_users,), or None
        Mean number of training ratings of the items that each user rated in training, NaN without
        any: what popularity lift is relative to.
    features : ItemFeatures or None
        Of the items of the catalogue, for ILD and miscalibration.
    profiles : scipy.sparse.csr_matrix, shape (n_users, n_features), or None
        Distribution of the features of what each user liked in training, nothing but positive
        entries; an empty row where none of that has a feature. For miscalibration.

    Raises
    ------
    ContractError
        If a shape does not fit, a prior is negative, an item is not of the catalogue, or a place
        behind the end of a list is taken.

    See Also
    --------
    list_view : from the training ratings.
    recbias.ranking.top_items : makes such lists.

    Examples
    --------
    >>> ListView(np.array([[0, -1, 1]]), 2, np.array([3, 4]))
    Traceback (most recent call last):
    recbias.errors.ContractError: lists: user 0 has an item behind the end of their list (-1)
    """

    items: npt.NDArray[np.int32]
    n_items: int
    train_counts: npt.NDArray[np.int64]
    prior: npt.NDArray[np.int64] | None = None
    own_popularity: FloatArray | None = None
    features: ItemFeatures | None = None
    profiles: scipy.sparse.csr_matrix | None = None

    def __post_init__(self) -> None:
        if self.items.ndim != 2:
            raise ContractError(f"lists: shape {self.items.shape}, expected (n_users, depth)")
        if self.train_counts.shape != (self.n_items,):
            raise ContractError(
                f"lists: training counts have shape {self.train_counts.shape}, expected "
                f"({self.n_items},), one for each item of the catalogue"
            )
        if self.prior is not None and (
            self.prior.shape != (self.n_items,) or not (self.prior >= 0).all()
        ):
            raise ContractError(
                f"lists: priors have shape {self.prior.shape}, expected ({self.n_items},), one for "
                "each item of the catalogue and none negative"
            )
        if self.own_popularity is not None and self.own_popularity.shape != self.items.shape[:1]:
            raise ContractError(
                f"lists: own popularity has shape {self.own_popularity.shape}, expected "
                f"({len(self.items)},), one for each user"
            )
        if self.features is not None and self.features.n_items != self.n_items:
            raise ContractError(
                f"lists: features of {self.features.n_items} items, expected those of "
                f"{self.n_items}, the catalogue"
            )
        if self.profiles is not None and self.features is not None:
            expected = len(self.items), len(self.features.names)
            if self.profiles.shape != expected or not (self.profiles.data > 0).all():
                raise ContractError(
                    f"lists: profiles have shape {self.profiles.shape}, expected {expected}, users "
                    "and features, with positive entries only"
                )
        beyond = (self.items < -1) | (self.items >= self.n_items)
        if beyond.any():
            raise ContractError(
                f"lists: item {self.items[beyond][0]}, expected 0 to {self.n_items - 1}, or -1 "
                "behind the end of a list"
            )
        gaps = (self.items[:, :-1] < 0) & (self.items[:, 1:] >= 0)
        if gaps.any():
            raise ContractError(
                f"lists: user {np.argwhere(gaps)[0, 0]} has an item behind the end of their "
                "list (-1)"
            )

    def top(self, cutoff: int | None) -> npt.NDArray[np.int32]:
        """First `cutoff` places of every list; None = all that were kept.

        Raises
        ------
        ConfigError
            If the lists were cut before that.
        """
        depth = self.items.shape[1]
        if cutoff is not None and cutoff > depth and depth < self.n_items:
            raise ConfigError(
                f"cutoff {cutoff}: the lists were cut after {depth} places; choose a smaller one"
            )
        return self.items[:, :cutoff]


def list_view(
    items: npt.NDArray[np.int32],
    train: Ratings,
    *,
    min_rating: float,
    features: ItemFeatures | None = None,
) -> ListView:
    """Put lists beside all that metrics want to know of the training ratings.

    Parameters
    ----------
    items : ndarray of int32, shape (n_users, depth)
        Dense items, best first; -1 behind the end of a shorter list.
    train : Ratings
        Of the same users and items.
    min_rating
        Smallest rating that is relevant, for prior and profiles.
    features : ItemFeatures, optional
        Of the same items.

    Returns
    -------
    ListView

    Raises
    ------
    ContractError
        As :class:`ListView` does.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"user_id": [1, 1, 2], "item_id": [7, 8, 7], "rating": [5.0, 2.0, 4.0]}
    >>> train = Ratings.from_frame(pd.DataFrame(rows))
    >>> view = list_view(np.array([[1], [-1]], np.int32), train, min_rating=4)
    >>> view.train_counts.tolist(), view.prior.tolist(), view.own_popularity.tolist()
    ([2, 1], [2, 0], [1.5, 2.0])
    """
    counts = train.item_counts()
    rated = train.user_counts()
    sums = np.bincount(train.user, counts[train.item], minlength=train.n_users)
    own_popularity = np.divide(sums, rated, out=np.full(train.n_users, np.nan), where=rated > 0)
    liked = train.item[relevant(train.value, min_rating)]
    prior = np.bincount(liked, minlength=train.n_items)
    profiles = None if features is None else _profiles(train, min_rating, features)
    return ListView(items, train.n_items, counts, prior, own_popularity, features, profiles)


def _profiles(train: Ratings, min_rating: float, features: ItemFeatures) -> scipy.sparse.csr_matrix:
    """Average the distributions of the features of what each user liked."""
    counted = relevant(train.value, min_rating) & (features.counts[train.item] > 0)
    user, item = train.user[counted], train.item[counted]
    size = np.bincount(user, minlength=train.n_users)
    weights = (1.0 / size[user], (user, item))
    liked = scipy.sparse.csr_matrix(weights, shape=(train.n_users, train.n_items))
    return liked @ features.shares


def item_counts(
    view: ListView, cutoff: int | None, weights: npt.NDArray[np.integer] | None = None
) -> FloatArray:
    """Count in how many lists each item is, for each weighting of the users.

    Parameters
    ----------
    view : ListView
    cutoff : int or None
        Places that count; None = all that were kept.
    weights : ndarray of int, shape (n_rows, n_users), optional
        How often each user counts, a row for each weighting, as from
        :func:`recbias.stats.resampling.bootstrap_weights`; every user once, in one row, without it.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_items)
        Whole numbers, exactly. Counts of several folds may be added.

    Raises
    ------
    ConfigError
        If lists were cut before `cutoff`.
    ContractError
        If `weights` are no integers, or are not of these users.

    Examples
    --------
    >>> view = ListView(np.array([[2, 0], [2, -1]], np.int32), 3, np.array([5, 5, 9]))
    >>> item_counts(view, 2).tolist()
    [[1.0, 0.0, 2.0]]
    >>> item_counts(view, 1, np.array([[1, 1], [0, 2]])).tolist()
    [[0.0, 0.0, 2.0], [0.0, 0.0, 2.0]]
    """
    n_users = len(view.items)
    if weights is None:
        weights = np.ones((1, n_users), dtype=np.uint8)
    if weights.ndim != 2 or weights.shape[1] != n_users or weights.dtype.kind not in "iu":
        raise ContractError(
            f"weights of users: {weights.dtype} {weights.shape}, expected integers of shape "
            f"(n_rows, {n_users})"
        )
    counts = np.zeros((len(weights), view.n_items))
    _add_lists(np.ascontiguousarray(view.top(cutoff)), np.ascontiguousarray(weights), counts)
    return counts


@nb.njit(cache=True, nogil=True)
def _add_lists(
    items: npt.NDArray[np.int32], weights: npt.NDArray[np.integer], counts: FloatArray
) -> None:
    """Add each user's weight to the items of their list, a row of `counts` at a time."""
    for row in range(weights.shape[0]):
        for user in range(items.shape[0]):
            weight = np.float64(weights[row, user])
            if weight == 0.0:
                continue
            for place in range(items.shape[1]):
                item = items[user, place]
                if item < 0:
                    break
                counts[row, item] += weight


def list_order(
    table: RankTable,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order the rows of a table by user and, for each user, as in :class:`JudgedLists`.

    The condensed rank *is* that order, which saves a sort.

    Parameters
    ----------
    table : RankTable
        With one target set per user.

    Returns
    -------
    order : ndarray of int64, shape (n_rows,)
        Row of the table at each place.
    first : ndarray of int64, shape (n_users + 1,)
        First place of each user.
    n_listed : ndarray of int64, shape (n_users,)
        Number of their test items in the list.

    Raises
    ------
    ContractError
        If a user's condensed ranks are not 1, 2, ... in the order of their ranks.
    """
    first = np.searchsorted(table.user, np.arange(table.n_users + 1)).astype(np.int64)
    order = np.empty(len(table.user), dtype=np.int64)
    n_listed = np.empty(table.n_users, dtype=np.int64)
    bad = _fill_order(first, table.rank, table.condensed_rank, order, n_listed)
    if bad >= 0:
        raise ContractError(
            f"rank table, user {bad}: the condensed ranks of the listed test items are not "
            "1, 2, ... in the order of their ranks"
        )
    return order, first, n_listed


@nb.njit(cache=True, nogil=True)
def _fill_order(
    first: npt.NDArray[np.int64],
    rank: npt.NDArray[np.int32],
    condensed_rank: npt.NDArray[np.int32],
    order: npt.NDArray[np.int64],
    n_listed: npt.NDArray[np.int64],
) -> int:
    """Fill `order` and `n_listed`; return the first user with inconsistent ranks, or -1."""
    order[:] = -1
    for user in range(len(n_listed)):
        begin, end = first[user], first[user + 1]
        unlisted = end
        for row in range(begin, end):
            if condensed_rank[row] > 0:
                place = begin + condensed_rank[row] - 1
            else:
                unlisted -= 1
                place = unlisted
            if place >= end or order[place] >= 0 or (rank[row] > 0) != (condensed_rank[row] > 0):
                return user
            order[place] = row
        n_listed[user] = unlisted - begin
        for place in range(begin + 1, unlisted):
            if rank[order[place]] <= rank[order[place - 1]]:
                return user
    return -1
