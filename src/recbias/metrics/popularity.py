"""How popular the items are that a user is shown: ARP, its lift over what users rated, novelty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError
from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import ListView

__all__ = ["measure_novelty", "measure_popularity_lift", "measure_recommendation_popularity"]


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


def measure_popularity_lift(view: ListView, metrics: Sequence[Metric]) -> npt.NDArray[np.float64]:
    r"""Measure by what share lists are more popular than what users rated in training.

    :math:`PL@n = ARP@n/\bar p - 1`, with :math:`\bar p` the mean over all users of the mean number
    of training ratings of the items that the user rated in training. The mean over users is the
    group's lift of the source; :math:`\bar p` stays when users are resampled.

    Parameters
    ----------
    view : ListView
        With `own_popularity`.
    metrics : sequence of Metric
        PL at any cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        From -1; 0 where the list is as popular as what users rate. NaN for an empty list, and where
        nobody rated anything in training.

    Raises
    ------
    ConfigError
        If `own_popularity` is missing.

    References
    ----------
    H. Abdollahpouri, M. Mansoury, R. Burke & B. Mobasher, "The connection between popularity bias,
    calibration, and fairness in recommendation", RecSys (2020).

    Examples
    --------
    Two users rated items of 5 ratings on average; the first is shown a list of 7.5.

    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[2, 0], [1, -1]], np.int32), 3, np.array([5, 1, 10]),
    ...                 own_popularity=np.array([6.0, 4.0]))
    >>> measure_popularity_lift(view, [parse_metric("PL@2")])
    array([[ 0.5, -0.8]])
    """
    own_popularity = view.own_popularity
    if own_popularity is None:
        raise ConfigError(
            f"metric {metrics[0]}: give the lists the own popularity, of what users rated in "
            "training"
        )
    known = own_popularity[~np.isnan(own_popularity)]
    usual = known.mean() if len(known) else np.nan
    return measure_recommendation_popularity(view, metrics) / usual - 1


def measure_novelty(view: ListView, metrics: Sequence[Metric]) -> npt.NDArray[np.float64]:
    r"""Average the self-information of the items of each user's list, in bits.

    :math:`Novelty@n = \frac1{|L_u|} \sum_{i \in L_u} \log_2 \frac{|U|}{\max(1, |R_{train}(i)|)}`:
    how surprising it is that a user drawn at random has rated the item in training. With the number
    of all training ratings in place of :math:`|U|` it is the expected free discovery of Vargas &
    Castells, which is larger by the same number for every list.

    Parameters
    ----------
    view : ListView
        With a row for every user, since their number is :math:`|U|`.
    metrics : sequence of Metric
        Novelty at any cutoffs.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        From 0 to :math:`\log_2 |U|`. NaN for an empty list. A list shorter than n is averaged over
        what it holds. An item without training ratings counts as one with a single one: its
        information would be infinite.

    References
    ----------
    T. Zhou et al., "Solving the apparent diversity-accuracy dilemma of recommender systems", PNAS
    107 (2010); S. Vargas & P. Castells, "Rank and relevance in novelty and diversity metrics
    for recommender systems", RecSys (2011).

    Examples
    --------
    Eight users; items with 8, 2 and no ratings have 0, 2 and 3 bits.

    >>> from recbias.metrics import parse_metric
    >>> view = ListView(np.array([[0, 1, 2], *[[-1] * 3] * 7], np.int32), 3, np.array([8, 2, 0]))
    >>> metrics = [parse_metric(text) for text in ("Novelty@1", "Novelty@2", "Novelty@3")]
    >>> measure_novelty(view, metrics)[:, 0].round(3)
    array([0.   , 1.   , 1.667])
    """
    surprise = np.log2(max(len(view.items), 1)) - np.log2(np.maximum(view.train_counts, 1))
    values = np.full((len(metrics), len(view.items)), np.nan)
    for row, metric in enumerate(metrics):
        items = view.top(metric.cutoff)
        listed = items >= 0
        total = np.where(listed, surprise[items], 0.0).sum(axis=1)
        length = listed.sum(axis=1)
        np.divide(total, length, out=values[row], where=length > 0)
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
register(
    Declaration(
        "PL",
        "items",
        "popularity lift: ARP over the same mean of what users rated in training, less 1",
        r"ARP@n/avg_v avg_{j\in R_{train}(v)}|R_{train}(j)|-1",
        "Abdollahpouri et al. 2020",
        "undefined for an empty list; a shorter list is divided by its length",
        measure_popularity_lift,
        better=None,
    )
)
register(
    Declaration(
        "Novelty",
        "items",
        "mean self-information of the first n items: log2 of all users over those who rated it in "
        "training",
        r"\frac1{|L_u|}\sum_{i\in L_u}\log_2\frac{|U|}{\max(1,|R_{train}(i)|)}",
        "Zhou et al. 2010",
        "undefined for an empty list; a shorter list is divided by its length; an item without "
        "training ratings counts as one with a single one",
        measure_novelty,
        better=None,
        called=("self information", "mean inverse user frequency", "msi"),
    )
)
