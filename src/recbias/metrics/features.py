"""What the items of a list are, by their features: how diverse it is, and whether it is calibrated.

Features are sets: an item has a genre or not. Items without any are left out of both metrics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba as nb
import numpy as np
import numpy.typing as npt
import scipy.sparse

from recbias.data.features import ItemFeatures
from recbias.errors import ConfigError
from recbias.metrics.arguments import open_share
from recbias.metrics.base import Argument, Declaration, Metric, register
from recbias.metrics.lists import ListView

__all__ = ["DISTANCES", "measure_diversity", "measure_miscalibration"]

FloatArray = npt.NDArray[np.float64]

DISTANCES = ("cosine", "jaccard")
"""Distances of two items: one less the cosine, or the overlap, of their features."""


def measure_diversity(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Average the distance of the pairs of items in each user's list: intra-list diversity.

    :math:`ILD@n = \frac{2}{m(m-1)} \sum_{i<j} d(i,j)` over the m of the first n items that have a
    feature. With :math:`F_i` the features of an item, :math:`d = 1 - |F_i \cap F_j| /
    \sqrt{|F_i||F_j|}` (``cosine``) or :math:`1 - |F_i \cap F_j| / |F_i \cup F_j|` (``jaccard``).

    Parameters
    ----------
    view : ListView
        With `features`.
    metrics : sequence of Metric
        ILD with any distances and cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        In [0, 1]; NaN for a list with fewer than two items that have a feature.

    Raises
    ------
    ConfigError
        If `features` are missing.

    References
    ----------
    B. Smyth & P. McClave, "Similarity vs. diversity", ICCBR (2001); C.-N. Ziegler et al.,
    "Improving recommendation lists through topic diversification", WWW (2005), whose intra-list
    similarity it is one less; S. Vargas & P. Castells, RecSys (2011).

    Examples
    --------
    A comedy about war, a war film, and a comedy: pairs share one of two genres, or none.

    >>> from recbias.metrics import parse_metric
    >>> features = ItemFeatures(("comedy", "war"), np.array([0, 2, 3, 4]), np.array([0, 1, 1, 0]))
    >>> view = ListView(np.array([[0, 1, 2]], np.int32), 3, np.array([5, 1, 10]), features=features)
    >>> measure_diversity(view, [parse_metric("ILD@3"), parse_metric("ILD(jaccard)@3")]).round(3)
    array([[0.529],
           [0.667]])
    """
    features = _features(view, metrics)
    values = np.empty((len(metrics), len(view.items)))
    for row, metric in enumerate(metrics):
        _fill_diversity(
            np.ascontiguousarray(view.top(metric.cutoff)),
            features.indptr,
            features.index,
            metric.distance == "jaccard",
            values[row],
        )
    return values


@nb.njit(cache=True, nogil=True)
def _fill_diversity(
    items: npt.NDArray[np.int32],
    indptr: npt.NDArray[np.int64],
    index: npt.NDArray[np.int32],
    is_jaccard: bool,
    values: FloatArray,
) -> None:
    """Fill the mean distance of each list's pairs; shared features by merging two sorted lists."""
    for user in range(items.shape[0]):
        total, n_pairs = 0.0, 0
        for second in range(items.shape[1]):
            if items[user, second] < 0:
                break
            begin, end = indptr[items[user, second]], indptr[items[user, second] + 1]
            for first in range(second):
                at, until = indptr[items[user, first]], indptr[items[user, first] + 1]
                if begin == end or at == until:
                    continue
                sizes = end - begin, until - at
                other, shared = begin, 0
                while at < until and other < end:
                    if index[at] == index[other]:
                        shared += 1
                        at += 1
                        other += 1
                    elif index[at] < index[other]:
                        at += 1
                    else:
                        other += 1
                if is_jaccard:
                    total += 1.0 - shared / (sizes[0] + sizes[1] - shared)
                else:
                    total += 1.0 - shared / np.sqrt(sizes[0] * sizes[1])
                n_pairs += 1
        values[user] = total / n_pairs if n_pairs > 0 else np.nan


def measure_miscalibration(view: ListView, metrics: Sequence[Metric]) -> FloatArray:
    r"""Measure how far the features of each user's list are from those of what they liked.

    :math:`C_{KL} = \sum_g p(g|u) \ln \frac{p(g|u)}{(1-\alpha) q(g|u) + \alpha p(g|u)}` with
    :math:`p(g|u)` the mean of :math:`p(g|i)` over the user's relevant training items, and
    :math:`q(g|u)` that over the first n items of the list. The features of an item weigh alike,
    :math:`p(g|i) = 1/|F_i|`, and so do the items: of the weights that the source allows for there
    are none.

    Parameters
    ----------
    view : ListView
        With `features` and `profiles`.
    metrics : sequence of Metric
        Miscalibration with any cutoffs and alpha.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        From 0, the best, to :math:`\ln(1/\alpha)`. NaN where no relevant training item of the user,
        or no item of the list, has a feature.

    Raises
    ------
    ConfigError
        If `features` or `profiles` are missing.

    References
    ----------
    H. Steck, "Calibrated recommendations", RecSys (2018), Sec. 3.

    Examples
    --------
    The user liked comedies and war films alike. The list has both, or comedies only.

    >>> from recbias.metrics import parse_metric
    >>> features = ItemFeatures(("comedy", "war"), np.array([0, 1, 2, 3]), np.array([0, 1, 0]))
    >>> view = ListView(np.array([[0, 1], [0, 2]], np.int32), 3, np.array([5, 1, 10]),
    ...                 features=features, profiles=scipy.sparse.csr_matrix(np.full((2, 2), 0.5)))
    >>> measure_miscalibration(view, [parse_metric("Miscalibration@2")]).round(3)
    array([[0.   , 1.959]])
    """
    features, profiles = _features(view, metrics), view.profiles
    if profiles is None:
        raise ConfigError(
            f"metric {metrics[0]}: give the lists the profiles, of what users liked in training"
        )
    liked = profiles.tocoo()
    known = features.counts > 0
    values = np.full((len(metrics), len(view.items)), np.nan)
    for row, metric in enumerate(metrics):
        items = view.top(metric.cutoff)
        counted = (items >= 0) & known[items]
        user, place = np.nonzero(counted)
        lists = scipy.sparse.csr_matrix(
            (np.ones(len(user)), (user, items[user, place])), shape=(len(items), view.n_items)
        )
        length = counted.sum(axis=1)
        shown = lists @ features.shares
        of_list = np.asarray(shown[liked.row, liked.col]).ravel() / np.maximum(length, 1)[liked.row]
        smoothed = (1 - metric.alpha) * of_list + metric.alpha * liked.data
        terms = liked.data * np.log(liked.data / smoothed)
        total = np.bincount(liked.row, terms, minlength=len(items))
        defined = (length > 0) & (np.diff(profiles.indptr) > 0)
        values[row, defined] = np.maximum(total[defined], 0.0)  # rounding may fall below
    return values


def _features(view: ListView, metrics: Sequence[Metric]) -> ItemFeatures:
    if view.features is None:
        raise ConfigError(
            f"metric {metrics[0]}: give the lists the features of the items, from "
            "recbias.data.features.load_features"
        )
    return view.features


def _distance(text: str) -> str:
    """Read one of :data:`DISTANCES`."""
    if text not in DISTANCES:
        raise ValueError(text)
    return text


_LEFT_OUT = "items without a feature are left out"

register(
    Declaration(
        "ILD",
        "items",
        "intra-list diversity: mean distance, by their features, of two of the first n items",
        r"\frac{2}{m(m-1)}\sum_{i<j}d(i,j)",
        "Smyth & McClave 2001; Ziegler et al. 2005",
        f"undefined for a list with fewer than two items that have a feature; {_LEFT_OUT}",
        measure_diversity,
        arguments=(
            Argument("distance", _distance, "cosine or jaccard", DISTANCES, default="cosine"),
        ),
        better=None,
        features=True,
        called=("intra list diversity", "intra list distance"),
    )
)
register(
    Declaration(
        "Miscalibration",
        "items",
        "how far the features of the first n items are from those of what the user liked in "
        "training: a smoothed Kullback-Leibler divergence",
        r"\sum_gp(g|u)\ln\frac{p(g|u)}{(1-\alpha)q(g|u)+\alpha p(g|u)}",
        "Steck 2018",
        "undefined if no liked training item, or no item of the list, has a feature; " + _LEFT_OUT,
        measure_miscalibration,
        arguments=(
            Argument(
                "alpha",
                open_share,
                "how much of the user is mixed in, above 0 and below 1",
                ("0.01", "0.1"),
                default="0.01",
                keyword=True,
            ),
        ),
        better="lower",
        features=True,
        called=("calibration", "calibration divergence"),
    )
)
