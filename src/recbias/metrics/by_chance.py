"""What metrics of the system would be by chance: values without which a measured one means nothing.

See :mod:`recbias.theory.chance_lists` for the three kinds of chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.metrics.base import Metric
from recbias.metrics.concentration import Terms, dispersion_terms
from recbias.metrics.lists import ListView, item_counts, list_view
from recbias.metrics.measuring import measure_system
from recbias.metrics.prior import prior_terms
from recbias.theory.chance_lists import CountChances, draw_lists

__all__ = ["REFERENCES", "by_chance", "expected_value"]

REFERENCES = ("random", "in proportion", "sampling alone")
"""Lists of a random recommender; drawn in proportion to the prior; places filled one by one."""


def expected_value(metric: Metric, view: ListView, chances: CountChances) -> float:
    """Compute what a metric is on average, from the chances of the counts of each item.

    Parameters
    ----------
    metric
        CI, LTI, Hoover, Entropy, Diversity or Coverage: a sum over items, so that only each item's
        own count matters.
    view : ListView
        Gives the prior; its lists are not looked at.
    chances
        From :func:`recbias.theory.chance_lists.slot_counts` or
        :func:`recbias.theory.chance_lists.random_list_counts`.

    Returns
    -------
    float
        Exact but for rounding; NaN where the metric is undefined.

    Raises
    ------
    ConfigError
        If the metric is no sum over items.

    See Also
    --------
    by_chance : by simulation, for all metrics of the system.

    Examples
    --------
    Four places, filled from two equally popular items: one of them stays empty in 2 of 16 cases.

    >>> from recbias.metrics import parse_metric
    >>> from recbias.theory.chance_lists import slot_counts
    >>> view = ListView(np.array([[0]]), 2, np.array([1, 1]))
    >>> expected_value(parse_metric("Diversity@1"), view, slot_counts([1, 1], 4))
    1.875
    """
    terms = _terms_of(metric, view)
    if terms is None:
        raise ConfigError(
            f"metric {metric}: it is no sum over items; simulate it by recbias.metrics.by_chance"
        )
    if chances.total == 0:
        return np.nan
    counts = chances.least + np.arange(chances.chances.shape[1])[:, None]
    total = np.full((len(counts), 1), float(chances.total))
    return float((terms(counts.astype(np.float64), total) * chances.chances.T).sum())


def _terms_of(metric: Metric, view: ListView) -> Terms | None:
    return dispersion_terms(metric) or prior_terms(metric, view)


def by_chance(
    train: Ratings,
    metrics: Sequence[Metric],
    *,
    min_rating: float,
    lengths: npt.NDArray[np.integer] | None = None,
    n_draws: int = 20,
    seed: int,
) -> pd.DataFrame:
    """Simulate what metrics of the system would be by chance.

    Parameters
    ----------
    train : Ratings
        What users have; gives the prior.
    metrics : sequence of Metric
        Of kind ``system``, with a cutoff.
    min_rating
        Smallest rating that is relevant, for the prior.
    lengths : ndarray of int, shape (n_users,), optional
        Lists are not longer than this, as those that are compared with chance: a system may not be
        able to fill every list. Without it they are full.
    n_draws
        How often lists are drawn.
    seed
        Names the draws, each by its number: more of them leave the first as they are.

    Returns
    -------
    DataFrame
        Rows of ``reference`` (:data:`REFERENCES`), ``metric`` (as text), ``value``, its mean over
        the draws, and ``spread``, its standard deviation between draws.

    Examples
    --------
    Both users lack one item, which every list of theirs holds.

    >>> from recbias.metrics import parse_metric
    >>> rows = {"user_id": [1, 1, 2, 2], "item_id": [7, 8, 7, 9], "rating": [5.0, 4.0, 5.0, 4.0]}
    >>> train = Ratings.from_frame(pd.DataFrame(rows))
    >>> found = by_chance(train, [parse_metric("Diversity@2")], min_rating=4, n_draws=2, seed=1)
    >>> print(found.head(2).to_string(index=False))
        reference      metric  value  spread
           random Diversity@2    2.0     0.0
    in proportion Diversity@2    2.0     0.0
    """
    empty = np.full((train.n_users, 1), -1, dtype=np.int32)
    prior = list_view(empty, train, min_rating=min_rating).prior
    assert prior is not None
    shares = prior / max(prior.sum(), 1)
    depth = max(metric.cutoff or 1 for metric in metrics)
    cutoffs = list(dict.fromkeys(metric.cutoff for metric in metrics))
    values = np.full((len(REFERENCES), len(metrics), n_draws), np.nan)
    for draw in range(n_draws):
        for kind, weights in enumerate((np.ones(train.n_items), prior)):
            rng = stream(seed, "by chance", REFERENCES[kind], draw)
            lists = draw_lists(train, weights, depth, rng=rng)
            if lengths is not None:
                lists[np.arange(depth) >= lengths[:, None]] = -1
            view = list_view(lists, train, min_rating=min_rating)
            for cutoff in cutoffs:
                rows = [row for row, metric in enumerate(metrics) if metric.cutoff == cutoff]
                some = [metrics[row] for row in rows]
                counts = item_counts(view, cutoff)
                values[kind, rows, draw] = measure_system(counts, view, some)[:, 0]
                if kind == 0 and prior.any():
                    # as many places as full lists have, as the random recommender fills them all
                    rng_slots = stream(seed, "by chance", REFERENCES[2], draw, str(cutoff))
                    slots = rng_slots.multinomial(int(counts.sum()), shares)[None].astype(float)
                    values[2, rows, draw] = measure_system(slots, view, some)[:, 0]
    spread = values.std(axis=2, ddof=1) if n_draws > 1 else np.full(values.shape[:2], np.nan)
    return pd.DataFrame(
        {
            "reference": np.repeat(REFERENCES, len(metrics)),
            "metric": [str(metric) for metric in metrics] * len(REFERENCES),
            "value": values.mean(axis=2).ravel(),
            "spread": spread.ravel(),
        }
    )
