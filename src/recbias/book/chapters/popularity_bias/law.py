r"""Simulated popularity: a shifted power law whose constraint is solved, and what it fits.

BCC17 Sec. 5.2 draws data sets of the size of MovieLens 1M in which the k-th item has
:math:`c_1 + \beta (c_2 + k)^{-\alpha}` ratings, for exponents from 0, all items alike, to 2. Here
:math:`c_2` is 317 and :math:`c_1` is 0: least squares on the counts of MovieLens 1M at
:math:`\alpha = 1.4` give 317 and -38, and no item has a negative count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.data.datasets.describe import gini
from recbias.data.simulation import STARS, power_law
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Seen, World, each_world
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.recommenders import System
from recbias.theory import hypergeometric_cdf, listed_sum, relevant_counts, run_bounds, run_depths

ALPHAS = (0.0, 0.4, 0.8, 1.2, 1.6, 2.0)
"""Exponents, as the axis of BCC17 Fig. 5 (centre) has them."""

_OFFSET = 317.0
_SIZE = {"users": 6040, "items": 3706, "ratings": 1_000_209}

LAWS: Mapping[str, Any] = {
    "alphas": ALPHAS,
    "n_worlds": 20,
    "split": "ratio 0.2",
    "min_rating": 5,
    "cutoff": 10,
    "size": 100,
}
"""What the chapter asks of `laws`, whatever the data of its page."""

FloatArray = npt.NDArray[np.float64]


def world_name(alpha: float, number: int) -> str:
    """Name a world of the size of MovieLens 1M, with its stars, by exponent and number.

    Examples
    --------
    >>> world_name(1.2, 3)
    'world(alpha=1.2,offset=317,users=6040,items=3706,seed=3,ratings=1000209,stars=ml-1m)'
    """
    size = f"users={_SIZE['users']},items={_SIZE['items']}"
    rest = f"ratings={_SIZE['ratings']},stars=ml-1m"
    seed = "" if number == 1 else f"seed={number},"
    return f"world(alpha={alpha:g},offset={_OFFSET:g},{size},{seed}{rest})"


@maker(
    CHAPTER,
    Table,
    parts=("splits", "ranking", "world"),
)
def laws(
    *,
    alphas: Sequence[float],
    n_worlds: int,
    split: str,
    min_rating: float,
    cutoff: int,
    size: int,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    r"""Look at the counts of worlds whose popularity follows a power law, before any ranking.

    Parameters
    ----------
    alphas
        Exponents.
    n_worlds
        How many independent worlds of each: those of seeds 1, 2, ...
    split
        Text of the split rule; of several folds the first is used.
    min_rating
        Smallest rating that is relevant.
    cutoff, size
        n and T of the precision that is predicted.
    workers
        Processes; the results do not depend on them.

    Returns
    -------
    index : tuple of str
        ``alpha`` and ``number``.
    frame : DataFrame
        ``off_law``, the largest difference of a count from the law with the :math:`\beta` of least
        squares; ``off_total``, ratings too many or too few; ``absent``, users and items without
        ratings; ``off_stars``, the largest difference of a share of stars from MovieLens 1M;
        ``gini`` of the counts; ``tail``, the share of the ratings that the less popular half of
        the items has; ``steep``, the largest count over the median; ``relation``, Pearson's
        correlation over items of training ratings and relevant test ratings; ``counted``, see
        :func:`counted`; ``closed_lower`` and ``closed_upper``, the closed forms of
        :func:`recbias.theory.run_bounds` for Popularity; ``closed_whole``, the lower one with the
        first n of all candidates in place of the first n of a target set.
    """
    worlds = [
        World(world_name(alpha, number), number, {"alpha": alpha, "number": number})
        for alpha in alphas
        for number in range(1, n_worlds + 1)
    ]
    look = partial(_look, split=split, min_rating=min_rating, cutoff=cutoff, size=size)
    return ("alpha", "number"), pd.DataFrame(each_world(look, worlds, workers=workers))


def _look(seen: Seen, *, split: str, min_rating: float, cutoff: int, size: int) -> dict[str, float]:
    ratings, fold = seen.ratings, seen.fold(split)
    counts = np.sort(ratings.item_counts())[::-1].astype(np.float64)
    shape = (_OFFSET + np.arange(1.0, len(counts) + 1)) ** -seen.labels["alpha"]
    law = shape * (counts @ shape) / (shape @ shape)
    stars = np.bincount(ratings.value.astype(np.int64), minlength=6)[1:] / len(ratings)
    chosen = relevant(fold.test.value, min_rating)
    hits = np.bincount(fold.test.item[chosen], minlength=fold.test.n_items)
    training = fold.train.item_counts()
    rated = np.count_nonzero(ratings.user_counts()) + np.count_nonzero(counts)
    return {
        **seen.labels,
        "off_law": float(np.abs(counts - law).max()),
        "off_total": abs(len(ratings) - _SIZE["ratings"]),
        "absent": int(_SIZE["users"] + _SIZE["items"] - rated),
        "off_stars": float(np.abs(stars - STARS["ml-1m"]).max()),
        "gini": gini(ratings.item_counts()),
        "tail": float(counts[len(counts) // 2 :].sum() / counts.sum()),
        "steep": float(counts[0] / np.median(counts)),
        "relation": float(np.corrcoef(training, hits)[0, 1]),
        "counted": counted(fold, min_rating=min_rating, cutoff=cutoff, size=size),
        **_closed(seen, fold, min_rating=min_rating, cutoff=cutoff, size=size),
    }


def _closed(
    seen: Seen, fold: Split, *, min_rating: float, cutoff: int, size: int
) -> dict[str, float]:
    """Compute the closed forms of the bounds for Popularity, on one sample for each user.

    That the items :math:`i_k` are those of a target set is said nowhere in the paper; read as the
    first of the whole ranking they make the bound larger still.
    """
    ranked = seen.ranked(System("Popularity", "Popularity", {}), fold)
    depths = run_depths(fold, cutoff, min_rating=min_rating)
    lists, sizes = ranked.target_lists(depths, min_rating=min_rating, n_sampled=size - 1)
    worth = relevant_counts(fold, min_rating=min_rating)
    first, every = (listed_sum(lists, worth, depth) for depth in (cutoff, depths))
    bounds = run_bounds(fold, first, every, sizes, cutoff, min_rating=min_rating)
    depth = np.full(fold.test.n_users, cutoff)
    lists, _ = ranked.target_lists(depth, min_rating=min_rating)
    whole = listed_sum(lists, worth, cutoff)
    return {
        "closed_lower": bounds.lower,
        "closed_upper": bounds.upper,
        "closed_whole": bounds.lower * whole / first,
    }


def counted(fold: Split, *, min_rating: float, cutoff: int, size: int) -> float:
    r"""Predict 1RP of Popularity from nothing but how often items are in training and in test.

    If who rates what has nothing to do with anything else, a user has item j among the candidates
    of a run with probability :math:`1 - (c_j + d_j)/m`, where :math:`c_j` are its training and
    :math:`d_j` its relevant test ratings, and m the number of users. The expected numbers of
    candidates above the relevant item, and in all, give the probability of a hit; items count as
    often as they are relevant in the test.

    Examples
    --------
    >>> from recbias.data.datasets import load_dataset
    >>> seen = Seen(load_dataset("world(alpha=2,users=80,items=60)"), 1)
    >>> round(counted(seen.fold("ratio 0.2"), min_rating=4, cutoff=10, size=20), 3)
    0.088
    """
    train, test = fold.train, fold.test
    chosen = relevant(test.value, min_rating)
    hits = np.bincount(test.item[chosen], minlength=test.n_items)
    tested = np.zeros(test.n_items, dtype=bool)
    tested[fold.test_items] = True
    open_to = np.where(tested, 1 - (train.item_counts() + hits) / test.n_users, 0.0)
    order = np.argsort(-train.item_counts(), kind="stable")
    above = np.empty_like(open_to)
    above[order] = np.cumsum(open_to[order]) - open_to[order]
    # Items of one count share their places, which ties fill at random.
    _, of_count = np.unique(train.item_counts(), return_inverse=True)
    above = (np.bincount(of_count, above) / np.bincount(of_count))[of_count]
    pool = np.rint(open_to.sum() - open_to).astype(np.int64)
    draws = np.minimum(size - 1, pool)
    hit = hypergeometric_cdf(cutoff - 1, pool, np.rint(above).astype(np.int64), draws)
    return float(hits @ hit / hits.sum() / cutoff)


# -- what the law fits -----------------------------------------------------------------------------

_FITS: Mapping[str, tuple[float | None, float | None]] = {
    "least squares, c1 from 0": (None, 0.0),
    "least squares": (None, None),
    "least squares, alpha 1.4": (1.4, None),
}
"""By name the exponent, where it is given, and the smallest c1, where there is one."""

_STARTS = (0.3, 1.0, 1.4, 2.0)


@maker(CHAPTER, Table)
def fitted(dataset: Dataset) -> tuple[tuple[str, ...], pd.DataFrame]:
    r"""Fit a shifted power law to the counts of a data set, in several ways.

    :math:`\beta` follows from the number of ratings; exponents up to 5 are tried. The paper does
    not print how it fitted; the sum of the squares over counts is flat in a valley, in which
    :math:`c_1` below 0 goes with a small exponent.

    Parameters
    ----------
    dataset
        Ratings.

    Returns
    -------
    index : tuple of str
        ``fit``: with :math:`c_1` from 0, without limit, and at exponent 1.4.
    frame : DataFrame
        ``alpha``, ``c1``, ``c2`` (to three digits after the point) and ``explained``, the share of
        the variance of the counts that the law explains; NaN where all counts are the same.
    """
    counts = np.sort(dataset.ratings.item_counts())[::-1].astype(np.float64)
    rows = [(name, *_fit(counts, alpha, least)) for name, (alpha, least) in _FITS.items()]
    return ("fit",), pd.DataFrame(rows, columns=["fit", "alpha", "c1", "c2", "explained"])


def _fit(
    counts: FloatArray, alpha: float | None, least: float | None
) -> tuple[float, float, float, float]:
    total, mean = counts.sum(), counts.mean()
    bounds = [(0.01, 5.0) if alpha is None else (alpha, alpha), (least, mean), (-2.0, 10.0)]

    def residuals(parameters: FloatArray) -> FloatArray:
        exponent, c1, log_offset = parameters
        law = power_law(
            len(counts), total, alpha=exponent, offset=float(np.exp(log_offset)), least=c1
        )
        return (law - counts) / mean

    def loss(parameters: FloatArray) -> float:
        return float(np.square(residuals(parameters)).sum())

    starts = [(start if alpha is None else alpha, 0.0, 5.5) for start in _STARTS]
    options = {"maxiter": 20_000, "maxfev": 20_000, "xatol": 1e-9, "fatol": 1e-12}
    fits = [
        scipy.optimize.minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options)
        for start in starts
    ]
    best = min(fits, key=lambda fit: float(fit.fun))
    variance = np.square(counts / mean - 1).sum()
    exponent, c1, log_offset = (float(parameter) for parameter in best.x)
    explained = 1 - float(best.fun) / float(variance) if variance else np.nan
    numbers = (exponent, c1, float(np.exp(log_offset)), explained)
    return tuple(round(number, 3) + 0.0 for number in numbers)  # type: ignore[return-value]
