"""From training ratings to relevant test ratings, item by item: the chain of BCC17 Sec. 5.1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.experiment.makers import Table, maker
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits

N_GROUPS = 20
"""Items are taken together in so many groups, so that no item's counts are given away."""


@maker(CHAPTER, Table)
def chain(
    dataset: Dataset, *, split: str, seed: int, min_rating: float
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Average what items have in training and in test.

    Parameters
    ----------
    dataset
        A data set.
    split, seed
        Text of the split rule, and its seed.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    index : tuple of str
        ``group``, from 1, the items with most training ratings.
    frame : DataFrame
        As :func:`chain_of_groups` gives it.
    """
    folds = dataset_splits(dataset, split, seed=seed)
    return ("group",), chain_of_groups(folds, min_rating=min_rating)


def chain_of_groups(folds: Sequence[Split], *, min_rating: float) -> pd.DataFrame:
    """Average the counts of items in groups of equal size, by their training ratings.

    Examples
    --------
    >>> from recbias.data.datasets import load_dataset
    >>> folds = dataset_splits(load_dataset("synthetic"), "k-fold 5", seed=1)
    >>> found = chain_of_groups(folds, min_rating=5)
    >>> len(found), round(float(found["share"].sum()), 6)
    (20, 1.0)
    """
    rows = []
    for fold in folds:
        training = fold.train.item_counts()
        chosen = relevant(fold.test.value, min_rating)
        liked = np.bincount(fold.test.item[chosen], minlength=fold.test.n_items)
        order = np.argsort(-training, kind="stable")
        for group, items in enumerate(np.array_split(order, min(N_GROUPS, len(order))), 1):
            share = liked[items].sum() / max(liked.sum(), 1)
            rows.append((group, training[items].mean(), liked[items].mean(), share))
    frame = pd.DataFrame(rows, columns=["group", "training", "positives", "share"])
    return frame.groupby("group", as_index=False).mean()
