"""What systems return on a fold, counted item by item, and what the package measures of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.metrics import Metric, measure, parse_metric
from recbias.ranking.tables import RankTable

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BINARY = ("P", "R", "RR", "AP", "nDCG")
"""Metrics that ask of an item only whether it is liked."""

_OF_FULL = ("P", "antiP", "fallout", "antiRR", "nDCL", "antiP|judged")
_OF_CONDENSED = ("P", "antiP", "P|judged", "antiP|judged")


class Listed(NamedTuple):
    """What a system returns on a fold: ranks of the test ratings, and the first n of each list."""

    system: str
    table: RankTable
    lists: npt.NDArray[np.int32]
    liked: RankTable  # the same, if only liked test items are known


@dataclass(frozen=True)
class Counted:
    """What the first n items of each list are, and what there is of each kind.

    Attributes
    ----------
    listed, liked, disliked : ndarray of int64, shape (n_users,)
        Items of the list, at most n; those among them that the user rated at or above the
        threshold in test, and below it.
    all_liked, all_disliked : ndarray of int64, shape (n_users,)
        Test items of the user.
    loss : ndarray of float64, shape (n_users, n)
        Distance below the threshold at each place; 0 for what is liked or unjudged.
    """

    listed: IntArray
    liked: IntArray
    disliked: IntArray
    all_liked: IntArray
    all_disliked: IntArray
    loss: FloatArray

    @property
    def tested(self) -> npt.NDArray[np.bool_]:
        """Users with a test rating."""
        return (self.all_liked + self.all_disliked) > 0

    @property
    def all_judged(self) -> npt.NDArray[np.bool_]:
        """Users whose list is full and judged at every place."""
        return self.liked + self.disliked == self.loss.shape[1]

    @property
    def unjudged(self) -> IntArray:
        """Items of the list without a test rating."""
        return self.listed - self.liked - self.disliked


def count_lists(lists: npt.NDArray[np.int32], test: Ratings, min_rating: float) -> Counted:
    """Look each listed item up among the user's test ratings."""
    n_users, n_items = len(lists), np.int64(test.n_items)
    judged = test.user * n_items + test.item
    order = np.argsort(judged)
    pairs = np.arange(n_users)[:, None] * n_items + lists
    place = np.minimum(np.searchsorted(judged[order], pairs), len(judged) - 1)
    known = (lists >= 0) & (judged[order][place] == pairs)
    rating = np.where(known, test.value[order][place], np.nan)
    below = known & (rating < min_rating)
    return Counted(
        (lists >= 0).sum(axis=1),
        (known & ~below).sum(axis=1),
        below.sum(axis=1),
        np.bincount(test.user[test.value >= min_rating], minlength=n_users),
        np.bincount(test.user[test.value < min_rating], minlength=n_users),
        np.where(below, min_rating - rating, 0.0),
    )


class Measured(NamedTuple):
    """What the package measures of a system's lists, by metric without its cutoff.

    Full lists, condensed ones, full ones with ratings turned round, and full ones from which each
    user's first disliked item was taken.
    """

    full: Mapping[str, FloatArray]
    condensed: Mapping[str, FloatArray]
    turned: Mapping[str, FloatArray]
    without_one: Mapping[str, FloatArray]


def measure_lists(table: RankTable, *, min_rating: float, cutoff: int) -> Measured:
    """Measure all that is compared of one system."""
    # Below the threshold becomes relevant, whatever the ratings were.
    turned = dataclasses.replace(table, value=(table.value < min_rating).astype(float))
    return Measured(
        _measured(table, _OF_FULL, cutoff, min_rating),
        _measured(table, _OF_CONDENSED, cutoff, min_rating, condensed=True),
        _measured(turned, ("P", "R"), cutoff, 1.0),
        _measured(
            _without_first_dislike(table, min_rating), ("antiP", "fallout"), cutoff, min_rating
        ),
    )


def _measured(
    table: RankTable,
    names: Iterable[str],
    cutoff: int,
    min_rating: float,
    *,
    condensed: bool = False,
) -> dict[str, FloatArray]:
    metric_names = tuple(names)
    metrics = [_metric(name, cutoff) for name in metric_names]
    values = measure(table, metrics, min_rating=min_rating, condensed=condensed)
    return dict(zip(metric_names, values, strict=True))


def _metric(name: str, cutoff: int) -> Metric:
    name, bar, condition = name.partition("|")
    return parse_metric(f"{name}@{cutoff}{bar}{condition}")


def measured_metrics(cutoff: int) -> list[dict[str, Any]]:
    """Identify all metrics that the checks measure, for the key of their results."""
    names = dict.fromkeys((*_OF_FULL, *_OF_CONDENSED, *BINARY, "nDCG(steps)"))
    return [_metric(name, cutoff).identity() for name in names]


def _without_first_dislike(table: RankTable, min_rating: float) -> RankTable:
    """Take the disliked item that stands highest out of every list."""
    bad = np.flatnonzero((table.rank > 0) & (table.value < min_rating))
    order = bad[np.lexsort((table.rank[bad], table.user[bad]))]
    taken = order[np.unique(table.user[order], return_index=True)[1]]
    passed = np.full(table.n_users, np.iinfo(np.int32).max)
    passed[table.user[taken]] = table.condensed_rank[taken]
    rank, condensed = table.rank.copy(), table.condensed_rank.copy()
    condensed -= condensed > passed[table.user]
    rank[taken] = condensed[taken] = 0
    return dataclasses.replace(table, rank=rank, condensed_rank=condensed)


def rank_table(
    lists: Sequence[Sequence[float | None]], elsewhere: Sequence[float] = ()
) -> RankTable:
    """Write down lists of ratings, one for each user.

    Examples
    --------
    >>> table = rank_table([[None, 5, 1]], elsewhere=[2])
    >>> table.rank.tolist(), table.condensed_rank.tolist(), table.value.tolist()
    ([2, 3, 0], [1, 2, 0], [5.0, 1.0, 2.0])
    """
    rows: list[tuple[float, ...]] = []
    for user, ratings in enumerate(lists):
        judged = [(place, rating) for place, rating in enumerate(ratings) if rating is not None]
        rows += [
            (user, place, rating, place + 1, number)
            for number, (place, rating) in enumerate(judged, start=1)
        ]
        rows += [
            (user, len(ratings) + number, rating, 0, 0) for number, rating in enumerate(elsewhere)
        ]
    columns = np.array(rows, dtype=float).reshape(-1, 5).T
    lengths = np.array([len(ratings) for ratings in lists], dtype=np.int32)
    user, item, rank, condensed = (columns[number].astype(np.int32) for number in (0, 1, 3, 4))
    return RankTable(
        per="user",
        n_users=len(lists),
        user=user,
        item=item,
        value=columns[2],
        rank=rank,
        condensed_rank=condensed,
        n_targets=lengths,
        n_scored=lengths,
    )
