"""How the share of positive ratings goes with popularity: BCC17 Fig. 7.

The share of the ratings of an item that are positive is all that a uniform test leaves of the
popularity of items, says BCC17 Sec. 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.non_personalised import INDEX
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.experiment.makers import Table, maker
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import KEPT_SHARE, SplitRule, uniform_plan
from recbias.stats.resampling import bootstrap_weights, linear_replicates

N_REPLICATES = 1000

FloatArray = npt.NDArray[np.float64]


@maker(CHAPTER, Table)
def positive_ratio(
    dataset: Dataset,
    *,
    min_rating: float,
    seed: int,
    uniform: str = "uniform 0.2",
    n_segments: int = 100,
) -> tuple[tuple[str, ...], pd.DataFrame, FloatArray]:
    """Describe how the positive ratio goes with popularity.

    Parameters
    ----------
    dataset
        Ratings, all of them: nothing is split.
    min_rating
        Smallest rating that is positive.
    seed
        Names the samples of users.
    uniform
        Text of the uniform split, whose items are counted.
    n_segments
        Items by falling number of ratings are cut into so many segments of equal number; into one
        for each item where there are fewer.

    Returns
    -------
    index : tuple of str
        ``quantity``, ``label`` and ``system``: of the ``segments`` from ``1``, the most popular,
        the ``ratio``, a mean over their items, and the mean number of ``ratings``; the ``mean
        ratio`` over ``top tenth`` and ``bottom tenth`` of the ``items``; the ``rank correlation``
        of popularity and ``ratio`` over ``segments`` and over ``items``, positive if popular items
        have the higher ratio; as ``widths`` the number of ``items`` in the ``uniform test`` and in
        a ``percentile`` of ten.
    frame : DataFrame
        The ``value`` of each. Items without ratings have no ratio and are left out.
    replicates : ndarray of float64, shape (n_rows, 1000)
        On resampled users, to first order; counts, and the correlation over ``items``, do not vary.

    Raises
    ------
    DataError
        If the uniform split asks more of the data than they have.
    """
    ratings = dataset.ratings
    counts = ratings.item_counts()
    n_items = int(np.count_nonzero(counts))
    order = np.argsort(-counts, kind="stable")[:n_items]
    n_segments, tenth = min(n_segments, n_items), max(1, n_items // 10)
    segments = np.array_split(order, n_segments)
    ratio, moved = _ratios(ratings, min_rating)
    groups = [*segments, order[:tenth], order[-tenth:]]
    values = np.array([ratio[group].mean() for group in groups])
    parts = (segments, groups[-2:-1], groups[-1:])  # none of which has an item twice
    influence = np.concatenate([_influence(ratings, moved, part) for part in parts])
    weights = bootstrap_weights(ratings.n_users, N_REPLICATES, rng=stream(seed, "bootstrap"))
    drawn = linear_replicates(values, influence, weights)
    popularity = -np.arange(float(n_segments))
    of_segments = _rank_correlation(popularity, values[:n_segments])
    resampled = _rank_correlation(popularity, drawn[:n_segments])
    numbers = [str(number + 1) for number in range(n_segments)]
    rows = {
        **{("ratio", number, "segments"): drawn[place] for place, number in enumerate(numbers)},
        ("mean ratio", "top tenth", "items"): drawn[-2],
        ("mean ratio", "bottom tenth", "items"): drawn[-1],
        # Noise on top of that in the data blurs an order: its draws are put around what was found.
        ("rank correlation", "ratio", "segments"): resampled - resampled.mean() + of_segments,
    }
    measured = [*values, float(of_segments)]
    rule = SplitRule.parse(uniform)
    exact = {
        ("items", "uniform test", "widths"): float(
            len(uniform_plan(counts, float(rule.size or 0), rule.kept or KEPT_SHARE).items)
        ),
        ("items", "percentile", "widths"): n_items / 10,
        **{
            ("ratings", number, "segments"): float(counts[segment].mean())
            for number, segment in zip(numbers, segments, strict=True)
        },
        ("rank correlation", "ratio", "items"): float(
            _rank_correlation(counts[order].astype(np.float64), ratio[order])
        ),
    }
    frame = pd.DataFrame([*rows, *exact], columns=list(INDEX))
    frame["value"] = [*measured, *exact.values()]
    constant = [np.full(N_REPLICATES, value) for value in exact.values()]
    return INDEX, frame, np.array([*rows.values(), *constant])


def _ratios(ratings: Ratings, min_rating: float) -> tuple[FloatArray, FloatArray]:
    """Return the positive ratio of each item, NaN without ratings.

    And what each rating moves it.
    """
    counts = ratings.item_counts()
    positive = relevant(ratings.value, min_rating)
    with np.errstate(invalid="ignore"):
        ratio: FloatArray = np.bincount(ratings.item, positive, minlength=ratings.n_items) / counts
    moved: FloatArray = (positive - ratio[ratings.item]) / counts[ratings.item]
    return ratio, moved


def _influence(
    ratings: Ratings, moved: FloatArray, groups: Sequence[npt.NDArray[np.int64]]
) -> FloatArray:
    """Add up by group of items and user what ratings move the mean of the group's ratios."""
    label = np.full(ratings.n_items, -1)
    for number, group in enumerate(groups):
        label[group] = number
    of_rating = label[ratings.item]
    inside = of_rating >= 0
    cell = of_rating[inside] * ratings.n_users + ratings.user[inside]
    n_cells = len(groups) * ratings.n_users
    sums = np.bincount(cell, moved[inside], minlength=n_cells).reshape(len(groups), -1)
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    return np.asarray(sums * (ratings.n_users / sizes[:, None]), dtype=np.float64)


def _rank_correlation(a: FloatArray, b: FloatArray) -> FloatArray:
    """Correlate a ranking with another, or with each column, by Spearman; NaN without an order."""
    first, second = (scipy.stats.rankdata(values, axis=0) for values in (a, b))
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    squares = (first @ first) * np.square(second).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(first @ second / np.sqrt(squares), dtype=np.float64)


def ratio_segments(table: Table) -> pd.DataFrame:
    """Lay out Fig. 7: by segment from the most popular, its ratio, interval and ratings."""
    rows = []
    for number in table.select(quantity="ratio", system="segments")["label"]:
        quantity = table[{"quantity": "ratio", "label": number, "system": "segments"}]
        low, high = quantity.interval
        n = table[{"quantity": "ratings", "label": number, "system": "segments"}].value
        rows.append((int(number), quantity.value, low, high, n))
    return pd.DataFrame(rows, columns=["segment", "ratio", "low", "high", "ratings"])
