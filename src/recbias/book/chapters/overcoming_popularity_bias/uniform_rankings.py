"""What rankings that are the same for all users score in a uniform test, beside what is printed.

BCC17 Sec. 6.2: a table of expectations for :mod:`recbias.book.non_personalised`, whose rankings
they are about; and what criteria compute of systems with all items as candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.non_personalised import INDEX, baselines
from recbias.data.datasets import Dataset
from recbias.experiment.makers import Table, maker
from recbias.experiment.worlds import Seen
from recbias.protocol.splits import Split
from recbias.protocol.targets import candidate_items, n_all_targets
from recbias.theory import (
    UNIFORM_FORMS,
    listed_sum,
    positive_ratios,
    random_sum,
    run_depths,
    uniform_bounds,
    uniform_rates,
)


@maker(CHAPTER, Table, parts=("splits", "ranking", "sampling"), uses={"systems": baselines})
def uniform_predicted(
    dataset: Dataset, *, min_rating: float, split: str, cutoff: int, size: int, seed: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Predict what the rankings score in a uniform test.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.
    split
        Text of a rule ``uniform``.
    cutoff
        Length of the lists.
    size
        Size of a 1R target set.
    seed
        Of the split; names the samples of the bounds.

    Returns
    -------
    index : tuple of str
        ``quantity``, ``label`` and ``system``.
    frame : DataFrame
        The ``value`` of each. Of a ranking: P@n by each of :data:`recbias.theory.UNIFORM_FORMS`
        under ``AR``, and the bounds of :func:`recbias.theory.uniform_bounds` under ``all-1R``. Of
        the ``data``: ``one over size`` and ``1/t`` of the candidates of ``UAR`` and ``AI-UAR``.
        Means over the draws of the split, as what is measured.
    """
    seen = Seen(dataset, seed)
    by_draw = [
        _predicted(seen, fold, min_rating=min_rating, cutoff=cutoff, size=size)
        for fold in seen.folds(split)
    ]
    frame = pd.DataFrame([row[:-1] for row in by_draw[0]], columns=[*INDEX])
    frame["value"] = np.mean([[row[-1] for row in rows] for rows in by_draw], axis=0)
    return INDEX, frame


def _predicted(
    seen: Seen, fold: Split, *, min_rating: float, cutoff: int, size: int
) -> list[tuple[str, str, str, float]]:
    """Predict what the rankings score in one draw of the test."""
    depth = run_depths(fold, cutoff, min_rating=min_rating)
    ratios = positive_ratios(fold, min_rating=min_rating)
    rates = {form: uniform_rates(fold, form, min_rating=min_rating) for form in UNIFORM_FORMS}
    rows: list[tuple[str, str, str, float]] = []
    for system in baselines(min_rating):
        if system.name == "Random":
            sums = {
                form: random_sum(fold, rate, cutoff, min_rating=min_rating)[0]
                for form, rate in rates.items()
            }
            (first, sizes), (every, _) = (
                random_sum(fold, ratios, length, min_rating=min_rating, n_sampled=size - 1)
                for length in (cutoff, depth)
            )
        else:
            ranked = seen.ranked(system, fold)
            lists, _ = ranked.target_lists(
                np.full(fold.test.n_users, cutoff), min_rating=min_rating
            )
            sums = {form: listed_sum(lists, rate, cutoff) for form, rate in rates.items()}
            lists, sizes = ranked.target_lists(depth, min_rating=min_rating, n_sampled=size - 1)
            first, every = (listed_sum(lists, ratios, length) for length in (cutoff, depth))
        rows += [(form, "AR", system.name, value / cutoff) for form, value in sums.items()]
        bounds = uniform_bounds(fold, first, every, sizes, cutoff, min_rating=min_rating)
        rows += [
            (name.replace("_", " "), "all-1R", system.name, value)
            for name, value in bounds._asdict().items()
        ]
    for label, candidates in (("UAR", "TI"), ("AI-UAR", "AI")):
        chosen: Any = candidates
        sizes = n_all_targets(fold, chosen)
        size_of_all = len(candidate_items(fold, chosen))
        rows.append(("one over size", label, "data", 1 / size_of_all))
        rows.append(("1/t", label, "data", float(np.mean(1 / sizes))))
    return rows
