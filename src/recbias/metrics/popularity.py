"""How popular the items are that a user is shown: average recommendation popularity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import ListView

__all__ = ["measure_recommendation_popularity"]


def measure_recommendation_popularity(
    view: ListView, metrics: Sequence[Metric]
) -> npt.NDArray[np.float64]:
    r"""Average the number of training ratings over the items of each user's list.

    :math:`ARP@n = \frac1{|L_u|} \sum_{i \in L_u} |R_{train}(i)|` with :math:`L_u` the first n
    places of the user's list.

    Parameters
    ----------
    view : ListView
    metrics : sequence of Metric
        ARP at any cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        NaN for an empty list. A list shorter than n is averaged over what it holds.

    References
    ----------
    H. Yin et al., "Challenging the long tail recommendation", PVLDB 5 (2012);
    H. Abdollahpouri et al., "Managing popularity bias in recommender systems with personalized
    re-ranking", FLAIRS (2019).

    Examples
    --------
    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[2, 0], [-1, -1]], np.int32), 3, np.array([5, 1, 10]))
    >>> measure_recommendation_popularity(view, [parse_metric("ARP@1"), parse_metric("ARP@2")])
    array([[10. ,  nan],
           [ 7.5,  nan]])
    """
    values = np.full((len(metrics), len(view.items)), np.nan)
    for row, metric in enumerate(metrics):
        items = view.top(metric.cutoff)
        listed = items >= 0
        counts = np.where(listed, view.train_counts[items], 0).sum(axis=1)
        length = listed.sum(axis=1)
        np.divide(counts, length, out=values[row], where=length > 0)
    return values


register(
    Declaration(
        "ARP",
        "items",
        "average recommendation popularity: mean number of training ratings of the first n items",
        r"\frac1{|L_u|}\sum_{i\in L_u}|R_{train}(i)|",
        "Yin et al. 2012; Abdollahpouri et al. 2019",
        "undefined for an empty list; a shorter list is divided by its length",
        measure_recommendation_popularity,
        better=None,
    )
)
