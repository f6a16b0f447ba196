r"""How popularity and liking vary over items, and what the two optimal rankings make of them.

MCCRS20 Figs. 3 and 4, whose values are lost, and how often the observed optima order two items as
unbiased judgments do (TOIS 2021). Intervals are over users: what a quantity would be without each
of :data:`GROUPS` random groups of users says how much users move it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.true_vs_false_positive_disagreement.pairs import (
    item_judgments,
    judged_before,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import (
    CHAPTER,
    drawn_judgments,
)
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import N_REPLICATES
from recbias.experiment.results import Quantity
from recbias.metrics.concentration import gini
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits
from recbias.stats.resampling import bootstrap_weights, linear_replicates

GROUPS = 100
"""So many random groups of users, as equal as can be, are left out in turn."""

STEPS = 100
"""A sorted curve has so many steps."""

MOST_GROUPS, SMALLEST_GROUP = 40, 10
"""Items are shown in so many groups at most, of so many items at least, so that no item's counts
are given away."""

FloatArray = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Statistics = Mapping[tuple[str, str], float]

_LIKED, _P, _F_P, _F_ANTI = "p(rel|train)", "p(train)", "f_P", "f_antiP"


class _Items(NamedTuple):
    """What items have, those with a training rating that somebody may still be shown."""

    rated: Counts
    popularity: FloatArray
    liked: FloatArray
    disliked: FloatArray
    f_p: FloatArray
    f_anti: FloatArray
    test_liked: Counts
    test_disliked: Counts

    @classmethod
    def of(cls, counts: Sequence[Counts], n_users: int) -> _Items:
        """Take counts by item: liked and disliked in training, then the same in the test."""
        liked, disliked, *test = counts
        rated = liked + disliked
        mask = (rated > 0) & (rated < n_users)
        liked, disliked, rated = liked[mask], disliked[mask], rated[mask]
        free = n_users - rated
        return cls(
            rated, rated / n_users, liked / rated, disliked / rated,
            liked / free, -disliked / free,
            *(tested[mask] for tested in test),
        )  # fmt: skip

    @property
    def columns(self) -> dict[str, FloatArray]:
        """What is correlated with each other, by name."""
        return {
            _P: self.popularity,
            _LIKED: self.liked,
            _F_P: self.f_p,
            _F_ANTI: self.f_anti,
        }


def _group_counts(ratings: Ratings, group: Counts, min_rating: float) -> list[Counts]:
    """Count liked and disliked ratings by group of users and item: two arrays (GROUPS, n_items)."""
    liked = relevant(ratings.value, min_rating)
    place = group[ratings.user] * ratings.n_items + ratings.item
    size = GROUPS * ratings.n_items
    return [
        np.bincount(place[mask], minlength=size).reshape(GROUPS, -1).astype(np.int64)
        for mask in (liked, ~liked)
    ]


class _Users(NamedTuple):
    """Users in random groups, and what resampling the groups gives."""

    group: Counts
    sizes: Counts
    weights: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, n_users: int, seed: int) -> _Users:
        order = stream(seed, "groups of users").permutation(n_users)
        group = np.empty(n_users, dtype=np.int64)
        group[order] = np.arange(n_users) * GROUPS // n_users
        drawn = stream(seed, "groups of users", "bootstrap")
        weights = bootstrap_weights(GROUPS, N_REPLICATES, rng=drawn)
        return cls(group, np.bincount(group, minlength=GROUPS), weights)

    def estimate(
        self, counted: Sequence[Counts], what: Callable[[Sequence[Counts], int], Statistics]
    ) -> tuple[Statistics, FloatArray]:
        """Compute statistics of counts, and what each group of users moves them by."""
        totals, n_users = [by_group.sum(axis=0) for by_group in counted], int(self.sizes.sum())
        values = what(totals, n_users)
        without = np.array(
            [
                list(
                    what(
                        [
                            total - by_group[place]
                            for total, by_group in zip(totals, counted, strict=True)
                        ],
                        n_users - int(self.sizes[place]),
                    ).values()
                )
                for place in range(GROUPS)
            ]
        )
        return values, (GROUPS - 1) * (np.array(list(values.values())) - without).T

    def replicates(self, values: Statistics, influence: FloatArray) -> FloatArray:
        """Return what resampled groups give, to first order, around the values."""
        centred = influence - influence.mean(axis=1, keepdims=True)
        return linear_replicates(np.array(list(values.values())), centred, self.weights)


@maker(CHAPTER, Table, revision=2, parts=("splits",))
def items(
    dataset: Dataset, *, min_rating: float, split: str, seed: int
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray]:
    """Relate popularity, liking and both optima over items.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.
    split, seed
        Text of the split rule, and its seed, which names the groups of users, too.

    Returns
    -------
    index : tuple of str
        ``measure`` and ``of``, such as ``Pearson`` and ``f_P and p(train)``. Measures are
        ``Pearson``, ``Spearman``, ``Gini``; ``line``, the share of the variance of a sorted curve
        that a straight line explains; and ``p``, of a Pearson correlation, the largest of the
        folds.
    frame : DataFrame
        The ``value``, over items with a training rating: the mean over the folds, where nothing
        else is said.
    replicates : ndarray
        On resampled users; those of ``p`` are the value itself. What users move is
        computed on the first fold; the mean over folds, that share most ratings, moves no more.
    """
    users = _Users.of(dataset.ratings.n_users, seed)
    folds = dataset_splits(dataset, split, seed=seed)
    first, influence = users.estimate(_of_fold(folds[0], users.group, min_rating), related)
    counts = [_item_counts(fold, min_rating) for fold in folds]
    n_users = dataset.ratings.n_users
    estimates = [first, *(related(of_fold, n_users) for of_fold in counts[1:])]
    values = {
        name: float(np.mean([statistics[name] for statistics in estimates])) for name in first
    }
    drawn = users.replicates(values, influence)
    tested = [_p_values(of_fold, n_users) for of_fold in counts]
    numbers = {name: max(of_fold[name] for of_fold in tested) for name in tested[0]}
    frame = pd.DataFrame(
        [(*name, float(value)) for name, value in (values | numbers).items()],
        columns=["measure", "of", "value"],
    )
    constant = np.repeat(
        np.array(list(numbers.values()), dtype=np.float64)[:, None], N_REPLICATES, 1
    )
    return ("measure", "of"), frame, np.vstack([drawn, constant])


def _of_fold(fold: Split, group: Counts, min_rating: float) -> list[Counts]:
    return [
        counts
        for part in (fold.train, fold.test)
        for counts in _group_counts(part, group, min_rating)
    ]


def _item_counts(fold: Split, min_rating: float) -> list[Counts]:
    return [
        counts for part in (fold.train, fold.test) for counts in item_judgments(part, min_rating)
    ]


def related(counts: Sequence[Counts], n_users: int) -> dict[tuple[str, str], float]:
    """Compute what :func:`items` resamples."""
    by_item = _Items.of(counts, n_users)
    columns = by_item.columns
    ranks = {name: scipy.stats.rankdata(columns[name]) for name in (_P, _F_P, _F_ANTI)}
    ascending = {name: np.sort(columns[name]) for name in (_P, _LIKED)}
    lines = {name: _line(values) for name, values in ascending.items()}
    ginis = gini(np.stack(list(ascending.values())))
    return {
        ("Spearman", f"{_F_P} and {_F_ANTI}"): _pearson(ranks[_F_P], ranks[_F_ANTI]),
        ("Spearman", f"{_F_ANTI} and {_P}"): _pearson(ranks[_F_ANTI], ranks[_P]),
        **{("Pearson", f"{a} and {b}"): _pearson(columns[a], columns[b]) for a, b in _FIGURE_4},
        ("Pearson", "R(train) and PR(test)"): _pearson(by_item.rated, by_item.test_liked),
        ("Pearson", "R(train) and NR(test)"): _pearson(by_item.rated, by_item.test_disliked),
        ("Gini", _P): float(ginis[0]),
        ("Gini", _LIKED): float(ginis[1]),
        ("line", _P): lines[_P],
        ("line", _LIKED): lines[_LIKED],
        ("line", "p(not rel|train)"): _line(1 - ascending[_LIKED][::-1]),
    }


_FIGURE_4 = ((_F_P, _P), (_F_P, _LIKED), (_F_ANTI, _P), (_F_ANTI, _LIKED))


def _pearson(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Correlate; not a number where nothing varies."""
    if len(a) < 2:
        return float("nan")
    x, y = a - a.mean(), b - b.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / size) if size > 0 else float("nan")


def _p_of_pearson(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    """Test a correlation; not a number where there is none."""
    return float("nan") if np.isnan(_pearson(a, b)) else float(scipy.stats.pearsonr(a, b).pvalue)


def _line(ascending: FloatArray) -> float:
    """Tell what share of the variance of a sorted curve a straight line explains."""
    return _pearson(ascending, np.arange(len(ascending))) ** 2


def _p_values(counts: Sequence[Counts], n_users: int) -> dict[tuple[str, str], float]:
    columns = _Items.of(counts, n_users).columns
    return {("p", f"{a} and {b}"): _p_of_pearson(columns[a], columns[b]) for a, b in _FIGURE_4}


# -- figures -----------------------------------------------------------------------------------


@maker(CHAPTER, Table, parts=("splits",))
def item_groups(
    dataset: Dataset, *, min_rating: float, split: str, seed: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Lay out MCCRS20 Figs. 3 and 4 on the first training fold, without any item's own numbers.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.
    split, seed
        Text of the split rule, and its seed.

    Returns
    -------
    index : tuple of str
        ``panel`` and ``group``, from 0. Panels are curves, ``"sorted p(train)"``, ``"sorted
        p(rel|train)"``, ``"sorted p(not rel|train)"``, whose groups are 101 places; ``"place by
        f_antiP over place by f_P"``; and the four of Fig. 4, ``"f_P over p(train)"``, ``"f_P over
        p(rel|train)"``, ``"f_antiP over p(train)"``, ``"f_antiP over p(rel|train)"``, whose groups
        hold items that follow each other in x.
    frame : DataFrame
        ``x``, of a curve the share of the items (0 to 1, largest value first), of a group its mean;
        ``low``, ``middle`` and ``high``: of a curve thrice its value, of a group the 10th, 50th and
        90th percentile of what is over x; ``items``, their number, 1 at a place of a curve. Places
        run from 0, first in the ranking, to 1.
    """
    fold = dataset_splits(dataset, split, seed=seed)[0]
    by_item = _Items.of(_item_counts(fold, min_rating), fold.train.n_users)
    columns = by_item.columns
    places = {name: _places(columns[name]) for name in (_F_P, _F_ANTI)}
    panels = [
        *(_curve(name, columns[name]) for name in (_P, _LIKED)),
        _curve("p(not rel|train)", 1 - by_item.liked),
        _grouped(f"place by {_F_ANTI} over place by {_F_P}", places[_F_P], places[_F_ANTI]),
        *(_grouped(f"{f} over {x}", columns[x], columns[f]) for f, x in _FIGURE_4),
    ]
    return ("panel", "group"), pd.concat(panels, ignore_index=True)


def _places(scores: FloatArray) -> FloatArray:
    return np.asarray((scipy.stats.rankdata(-scores) - 1) / max(len(scores) - 1, 1))


def _curve(name: str, values: FloatArray) -> pd.DataFrame:
    x = np.linspace(0, 1, STEPS + 1)
    descending = np.sort(values)[::-1]
    y = np.interp(x, np.linspace(0, 1, len(values)), descending)
    frame = pd.DataFrame({"panel": f"sorted {name}", "group": np.arange(len(x)), "x": x})
    return frame.assign(low=y, middle=y, high=y, items=1)


def _grouped(panel: str, x: FloatArray, y: FloatArray) -> pd.DataFrame:
    n_groups = int(np.clip(len(x) // SMALLEST_GROUP, 1, MOST_GROUPS))
    rows = []
    for group, members in enumerate(np.array_split(np.argsort(x, kind="stable"), n_groups)):
        low, middle, high = np.quantile(y[members], (0.1, 0.5, 0.9))
        rows.append((panel, group, x[members].mean(), low, middle, high, len(members)))
    return pd.DataFrame(rows, columns=["panel", "group", "x", "low", "middle", "high", "items"])


# -- observed and true -------------------------------------------------------------------------


@maker(CHAPTER, Table)
def true_order(
    dataset: Dataset, *, min_rating: float, seed: int
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray]:
    """Compare both observed optima with the order of items by unbiased judgments.

    All observed ratings are training ratings. Items without one are left out, and so are those
    without an unbiased judgment.

    Parameters
    ----------
    dataset
        One with an unbiased part, or a world, whose users are asked of a tenth of the items.
    min_rating
        Smallest rating that is relevant.
    seed
        Names the groups of users; of a world also the items that are asked of.

    Returns
    -------
    index : tuple of str
        ``optimum`` (``"P"`` or ``"antiP"``) and ``judgments``: ``"all"`` of the unbiased part, or
        the ``"unseen"`` ones, of pairs that are not in training (Eq. 1).
    frame : DataFrame
        The ``value``, the share of the pairs of items that both order in the same way, of those
        that both tell apart; 0.5 says nothing.
    replicates : ndarray
        On resampled users.

    Raises
    ------
    ConfigError
        If the data set has no unbiased part.
    """
    if (drawn := drawn_judgments(dataset, seed=seed)) is None:
        raise ConfigError(f"{dataset.name} has no unbiased part")
    users = _Users.of(dataset.ratings.n_users, seed)
    seen = dataset.ratings.take(judged_before(dataset.ratings, drawn))
    judged, twice, train = (
        _group_counts(ratings, users.group, min_rating)
        for ratings in (drawn, seen, dataset.ratings)
    )
    unseen = [every - repeated for every, repeated in zip(judged, twice, strict=True)]
    values, influence = users.estimate([*train, *judged, *unseen], _agreements)
    frame = pd.DataFrame(
        [(*name, value) for name, value in values.items()],
        columns=["optimum", "judgments", "value"],
    )
    return ("optimum", "judgments"), frame, users.replicates(values, influence)


def _agreements(counts: Sequence[Counts], n_users: int) -> dict[tuple[str, str], float]:
    liked, disliked, *true = counts
    free = n_users - liked - disliked
    agreements = {}
    for judgments, (pleased, other) in (("all", true[:2]), ("unseen", true[2:])):
        mask = (liked + disliked > 0) & (free > 0) & (pleased + other > 0)
        truth = pleased[mask] / (pleased + other)[mask]
        for optimum, judged in (("P", liked), ("antiP", -disliked)):
            scores = judged[mask] / free[mask]
            agreements[optimum, judgments] = agreeing_pairs(scores, truth)
    return agreements


def agreeing_pairs(a: FloatArray, b: FloatArray) -> float:
    """Tell of how many pairs two orders say the same, of those that both tell apart.

    Examples
    --------
    Of three pairs the first order does not tell one apart; of the others it agrees on one.

    >>> agreeing_pairs(np.array([1.0, 2.0, 2.0]), np.array([0.2, 0.3, 0.1]))
    0.5
    """
    resolved = _n_pairs(len(a)) - _tied(a) - _tied(b) + _tied(np.stack([a, b], axis=1))
    if not resolved:
        return float("nan")
    # Kendall's tau-b is the balance over the geometric mean of the pairs that either tells apart.
    apart = np.sqrt(float(_n_pairs(len(a)) - _tied(a)) * float(_n_pairs(len(a)) - _tied(b)))
    balance = np.rint(scipy.stats.kendalltau(a, b).statistic * apart)
    return float((resolved + balance) / (2 * resolved))


def _n_pairs(n: int) -> int:
    return n * (n - 1) // 2


def _tied(values: FloatArray) -> int:
    counts = np.unique(values, axis=0, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


# -- what criteria read ------------------------------------------------------------------------


def strength(correlation: Quantity) -> Quantity:
    """Take a correlation without its sign, draw by draw, so that two of them can be compared."""
    return Quantity(abs(correlation.value), np.abs(correlation.drawn))
