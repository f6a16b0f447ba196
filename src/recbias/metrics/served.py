"""How much of a list of the wanted length a user is given at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.metrics.base import Declaration, Metric, register
from recbias.metrics.lists import RankView

__all__ = ["measure_served"]


def measure_served(view: RankView, metrics: Sequence[Metric]) -> npt.NDArray[np.float64]:
    r"""Measure the share of the first n places that hold an item, :math:`\min(n,|R_u|)/n`.

    Parameters
    ----------
    view : RankView
        Of a table with one target set per user. In condensed lists only judged items count.
    metrics : sequence of Metric
        Served with any cutoff.

    Returns
    -------
    ndarray of float64, shape (n_metrics, n_users)
        The mean over users is Coverage@n of CCM20; at 1 it is the share of users with a list.

    References
    ----------
    CCM20 Sec. 3.9, whose formula is lost; this is the one that its stated identity suggests.

    Examples
    --------
    Lists of 10, 4, 0 and 12 items: .6 of the first 10 places, and three of four users.

    >>> from recbias.metrics import measure, parse_metric
    >>> from recbias.ranking import RankTable
    >>> none, sizes = np.zeros(0, np.int32), np.array([10, 4, 0, 12], np.int32)
    >>> table = RankTable("user", 4, none, none, np.zeros(0), none, none, sizes, sizes)
    >>> texts = "Served@10", "Served@1"
    >>> measure(table, [parse_metric(text) for text in texts], min_rating=4).mean(axis=1)
    array([0.6 , 0.75])
    """
    length = view.lists.n_listed if view.condensed else view.table.n_scored
    depth = np.array([metric.cutoff for metric in metrics], dtype=np.float64)[:, None]
    return np.minimum(length, depth) / depth


register(
    Declaration(
        "Served",
        "ranks",
        "share of the first n places that hold an item at all; of condensed lists, a judged one",
        r"\min(n,|R_u|)/n",
        "CCM20 Sec. 3.9",
        "0 for a user without a list; at 1 the mean is the share of users that have one",
        measure_served,
        per=("user",),
    )
)
