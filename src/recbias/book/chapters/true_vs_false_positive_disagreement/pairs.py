"""All pairs of items by what their popularity and liking are, and by what the optima do.

MCCRS20 Table 1 and the lemma on data, and what the notebooks behind TOIS 2021 Fig. 9 count.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.experiment.makers import Table, maker
from recbias.protocol.relevance import relevant
from recbias.protocol.testset import dataset_splits
from recbias.theory import DIRECTIONS, OPTIMA, STEEPER_THAN, lemma_disagrees, pair_table

Counts = npt.NDArray[np.int64]

ALL, FOLDS, JUDGED = "all", "folds", "judged"
"""Readings: all ratings, the mean of the training folds, and all judgments of a sample."""

INDEX = ("reading", "direction", "steeper_than", "optima")
_FOLD = "fold "


def item_judgments(ratings: Ratings, min_rating: float) -> tuple[Counts, Counts]:
    """Count the ratings of each item that say liking, and those that say disliking."""
    liked = relevant(ratings.value, min_rating)
    counts = (
        np.bincount(ratings.item[mask], minlength=ratings.n_items) for mask in (liked, ~liked)
    )
    first, second = (count.astype(np.int64) for count in counts)
    return first, second


@maker(CHAPTER, Table, parts=("splits",))
def pairs(
    dataset: Dataset, *, min_rating: float, split: str, seed: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Count the pairs of items of a data set.

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
        ``reading`` (``"fold 1"`` and so on for the training ratings of each fold, ``"all"`` for all
        ratings), and ``direction``, ``steeper_than`` and ``optima`` of
        :func:`recbias.theory.pair_table`.
    frame : DataFrame
        ``pairs``, their number; ``value``, their share of all pairs of the reading; ``gap``, how
        far their shares of liked ratings are apart on average. Combinations that do not occur are
        left out. Items without a training rating count, as in MCCRS20.
    """
    folds = dataset_splits(dataset, split, seed=seed)
    readings = {f"{_FOLD}{fold.fold + 1}": fold.train for fold in folds} | {ALL: dataset.ratings}
    tables = []
    for reading, ratings in readings.items():
        liked, disliked = item_judgments(ratings, min_rating)
        rated = liked + disliked
        tables.append(_shares(reading, pair_table(rated, ratings.n_users - rated, liked, disliked)))
    return INDEX, pd.concat(tables, ignore_index=True)


def _shares(reading: str, counted: pd.DataFrame) -> pd.DataFrame:
    shares = counted.assign(value=counted["pairs"] / max(counted["pairs"].sum(), 1))
    shares.insert(0, "reading", reading)
    return shares


@maker(CHAPTER, Table)
def judged_pairs(dataset: Dataset, *, min_rating: float) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Count the pairs of items as the notebooks behind TOIS 2021 Fig. 9 do, by all judgments.

    Popularity is the odds that a judgment of an item is an observed one, liking the share of all
    its judgments, observed and unbiased, that say so; items without an observed rating are left
    out.

    Parameters
    ----------
    dataset
        One with an unbiased part.
    min_rating
        Smallest rating that is relevant.

    Returns
    -------
    index : tuple of str
        As of :func:`pairs`; the reading is ``"judged"``.
    frame : DataFrame
        As of :func:`pairs`.

    Raises
    ------
    ConfigError
        If the data set has no unbiased part.
    """
    if dataset.unbiased is None:
        raise ConfigError(f"{dataset.name} has no unbiased part")
    again = judged_before(dataset.ratings, dataset.unbiased)
    both = (dataset.unbiased, dataset.ratings.take(~again))
    liked, disliked = np.sum([item_judgments(ratings, min_rating) for ratings in both], axis=0)
    known = dataset.ratings.item_counts()
    counts = (known, liked + disliked - known, liked, disliked)
    return INDEX, _shares(JUDGED, pair_table(*(count[known > 0] for count in counts)))


def judged_before(observed: Ratings, judged: Ratings) -> npt.NDArray[np.bool_]:
    """Tell for each observed rating whether its pair is among the judged ones, too."""
    return np.isin(_keys(observed), _keys(judged))


def _keys(ratings: Ratings) -> Counts:
    return ratings.user.astype(np.int64) * ratings.n_items + ratings.item


# -- what criteria read ------------------------------------------------------------------------

_WORDS: Mapping[str, Mapping[str, str]] = {
    "direction": DIRECTIONS,
    "steeper_than": STEEPER_THAN,
    "optima": OPTIMA,
}


_SUMS = ("pairs", "value", "gap", "printed", "corrected")


def kinds(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Add pairs up by kind.

    Returns
    -------
    index : tuple of str
        ``reading``, those of the table and, for its folds together, ``"folds"``; and ``kind``: a
        word of any of the columns, in their order, such as ``"same and both"``, or ``"all"``.
    frame : DataFrame
        ``pairs``; their share as ``value``, of folds the mean; ``gap``, the mean; and on how many
        the lemma says something else than the optima do, as ``printed`` and as ``corrected``.
    """
    rows = table.frame.assign(
        gap=(table.frame["gap"] * table.frame["pairs"]).fillna(0.0),
        printed=table.frame["pairs"] * _contradicted(table.frame, corrected=False),
        corrected=table.frame["pairs"] * _contradicted(table.frame, corrected=True),
    )
    readings = {str(reading): own for reading, own in rows.groupby("reading", sort=False)}
    folds = rows[rows["reading"].str.startswith(_FOLD)]
    counted = []
    for reading, own in (readings | ({} if folds.empty else {FOLDS: folds})).items():
        columns = {name: own[name].to_numpy() for name in _SUMS}
        n_readings = own["reading"].nunique()
        fits = {ALL: np.ones(len(own), dtype=bool)}
        for name, known in _WORDS.items():
            fits |= {word: (own[name] == word).to_numpy() for word in known}
        for words in product(*((ALL, *known) for known in _WORDS.values())):
            chosen = np.logical_and.reduce([fits[word] for word in words])
            sums = {name: float(column[chosen].sum()) for name, column in columns.items()}
            sums["value"] /= n_readings
            sums["gap"] = sums["gap"] / sums["pairs"] if sums["pairs"] else np.nan
            kind = " and ".join(word for word in words if word != ALL) or ALL
            counted.append((reading, kind, *sums.values()))
    return ("reading", "kind"), pd.DataFrame(counted, columns=["reading", "kind", *_SUMS])


def violations(rows: pd.DataFrame, *, corrected: bool = True) -> int:
    """Count the pairs of a table of which the lemma says something else than the optima do.

    Examples
    --------
    >>> rated, liked = np.array([4, 2]), np.array([2, 1])
    >>> table = pair_table(rated, 10 - rated, liked, rated - liked)
    >>> violations(table), violations(table, corrected=False)
    (0, 1)
    """
    return int(rows["pairs"][_contradicted(rows, corrected=corrected)].sum())


def _contradicted(rows: pd.DataFrame, *, corrected: bool) -> npt.NDArray[np.bool_]:
    """Tell for each row whether the lemma says something else; of no estimate it says nothing."""
    said = zip(rows["direction"], rows["steeper_than"], rows["optima"], strict=True)
    return np.array(
        [
            direction != "no estimate"
            and lemma_disagrees(direction, steeper, corrected=corrected) != (optima == "disagree")
            for direction, steeper, optima in said
        ],
        dtype=bool,
    )
