"""All pairs of items by what their popularity and liking are, and by what the optima do.

MCCRS20 Table 1 and the lemma on data, and what the notebooks behind TOIS 2021 Fig. 9 count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.claims.combinators import Function
from recbias.claims.evidence import Evidence, NotComputed
from recbias.claims.records import Record, Term
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.makers import Table, maker
from recbias.protocol import splits
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


def _revisions(given: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, int]:
    return {"splits": splits.REVISION}


@maker(f"{CHAPTER}/pairs", Table, uses=_revisions)
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


@maker(f"{CHAPTER}/judged_pairs", Table)
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
    both = (dataset.unbiased, dataset.ratings.take(~judged_before(dataset)))
    liked, disliked = np.sum([item_judgments(ratings, min_rating) for ratings in both], axis=0)
    known = dataset.ratings.item_counts()
    counts = (known, liked + disliked - known, liked, disliked)
    return INDEX, _shares(JUDGED, pair_table(*(count[known > 0] for count in counts)))


def judged_before(dataset: Dataset) -> npt.NDArray[np.bool_]:
    """Tell for each observed rating whether its pair is in the unbiased part, too."""
    if dataset.unbiased is None:
        return np.zeros(len(dataset.ratings), dtype=bool)
    return np.isin(_keys(dataset.ratings), _keys(dataset.unbiased))


def _keys(ratings: Ratings) -> Counts:
    return ratings.user.astype(np.int64) * ratings.n_items + ratings.item


# -- what criteria compute ---------------------------------------------------------------------


def chosen_pairs(frame: pd.DataFrame, what: str) -> npt.NDArray[np.bool_]:
    """Choose rows of a table of pairs by words.

    Examples
    --------
    >>> rows = pd.DataFrame(
    ...     {"direction": ["same", "opposed"], "steeper_than": "both", "optima": "disagree"}
    ... )
    >>> chosen_pairs(rows, "both, not same"), chosen_pairs(rows, "agree | disagree, same")
    (array([False,  True]), array([ True, False]))
    """
    mask = np.zeros(len(frame), dtype=bool)
    for alternative in what.split(" | "):
        fits = np.ones(len(frame), dtype=bool)
        for word in alternative.split(", "):
            fits &= _has_word(frame, word)
        mask |= fits
    return mask


def _has_word(frame: pd.DataFrame, word: str) -> npt.NDArray[np.bool_]:
    if word == ALL:
        return np.ones(len(frame), dtype=bool)
    plain = word.removeprefix("not ")
    for column, words in _WORDS.items():
        if plain in words:
            fits = (frame[column] == plain).to_numpy()
            return fits if plain == word else ~fits
    raise unknown_name(
        "kind of pairs", word, [known for words in _WORDS.values() for known in words]
    )


_WORDS: Mapping[str, Mapping[str, str]] = {
    "direction": DIRECTIONS,
    "steeper_than": STEEPER_THAN,
    "optima": OPTIMA,
}


def reading_rows(frame: pd.DataFrame, reading: str) -> pd.DataFrame:
    """Take the rows of a reading; ``"folds"`` are those of all training folds."""
    if reading == FOLDS:
        return frame[frame["reading"].str.startswith(_FOLD)]
    return frame[frame["reading"] == reading]


def _rows(evidence: Evidence, term: Term) -> pd.DataFrame:
    table = evidence.made(term.table, term.edition or "")
    rows = reading_rows(table.frame, term.label)
    if rows.empty:
        raise NotComputed(f"{term.label} in {term.table}")
    return rows


def _share(evidence: Evidence, term: Term) -> float:
    """Add up the shares of the pairs that a term names; of folds, the mean."""
    rows = _rows(evidence, term)
    chosen = rows[chosen_pairs(rows, term.metric)]
    value = float(chosen["value"].sum() / rows["reading"].nunique())
    evidence.note(term.table, str(term), value, term.edition or "")
    return value


def _share_of_pairs(evidence: Evidence, record: Record) -> float:
    """Return the share of a term; of several the extreme that is asked for."""
    shares = [_share(evidence, term) for term in record.of]
    return max(shares) if record.take == "largest" else min(shares)


def _ratio_of_pairs(evidence: Evidence, record: Record) -> float:
    """Divide the share of one term by that of another; nothing of nothing is no number."""
    part, whole = (_share(evidence, term) for term in record.of)
    return part / whole if whole else float("nan")


def _number_of_pairs(evidence: Evidence, record: Record) -> float:
    """Count the pairs that a term names."""
    (term,) = record.of
    rows = _rows(evidence, term)
    n_pairs = float(rows["pairs"][chosen_pairs(rows, term.metric)].sum())
    evidence.note(term.table, str(term), n_pairs, term.edition or "")
    return n_pairs


def _gap_of_pairs(evidence: Evidence, record: Record) -> float:
    """Divide the mean distance of the shares of liked ratings on some pairs by that on others."""
    gaps = []
    for term in record.of:
        rows = _rows(evidence, term)
        chosen = rows[chosen_pairs(rows, term.metric)]
        total = float(chosen["pairs"].sum())
        gap = float((chosen["gap"] * chosen["pairs"]).sum() / total) if total else float("nan")
        evidence.note(term.table, f"gap, {term}", gap, term.edition or "")
        gaps.append(gap)
    first, second = gaps
    return first / second if second else float("nan")


def _lemma_violations(evidence: Evidence, record: Record) -> float:
    """Count the pairs with a rating each of which the lemma says something else than the optima."""
    total = 0.0
    for term in record.of:
        if term.metric not in ("printed", "corrected"):
            raise unknown_name("form of the lemma", term.metric, ("printed", "corrected"))
        rows = _rows(evidence, term)
        n_violations = float(violations(rows, corrected=term.metric == "corrected"))
        evidence.note(term.table, str(term), n_violations, term.edition or "")
        total += n_violations
    return total


def violations(rows: pd.DataFrame, *, corrected: bool = True) -> int:
    """Count the pairs of a table of which the lemma says something else than the optima do.

    Examples
    --------
    >>> rated, liked = np.array([4, 2]), np.array([2, 1])
    >>> table = pair_table(rated, 10 - rated, liked, rated - liked)
    >>> violations(table), violations(table, corrected=False)
    (0, 1)
    """
    estimated = rows[rows["direction"] != "no estimate"]
    said = np.array(
        [
            lemma_disagrees(direction, steeper, corrected=corrected)
            for direction, steeper in zip(
                estimated["direction"], estimated["steeper_than"], strict=True
            )
        ],
        dtype=bool,
    )
    return int(estimated["pairs"][said != (estimated["optima"] == "disagree").to_numpy()].sum())


OF_PAIRS: Mapping[str, Function] = {
    "share_of_pairs": _share_of_pairs,
    "ratio_of_pairs": _ratio_of_pairs,
    "number_of_pairs": _number_of_pairs,
    "gap_of_pairs": _gap_of_pairs,
    "lemma_violations": _lemma_violations,
}
"""By the name that a record gives them."""
