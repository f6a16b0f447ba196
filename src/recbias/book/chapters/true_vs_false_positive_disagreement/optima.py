"""The best rankings for everybody on data, and what the order of equal scores decides of them.

Eqs. 2 and 4 of MCCRS20 rank by training ratings. Eqs. 1 and 3 ask for what users think of items
that they have not rated, which judgments of a test estimate: per judgment (the authors'
*restricted* rows), or per user without a training rating. Items without a training rating are in no
list. Where scores tie, the paper says nothing of the order: a list of ten is one of many.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.systems.line_up import LINE_UP
from recbias.claims.reference import references
from recbias.data.datasets import Dataset
from recbias.experiment.makers import Table, maker
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.testset import TestSet, dataset_splits
from recbias.recommenders import (
    Algorithm,
    OptimalAntiPrecision,
    OptimalPrecision,
    OracleRanking,
    Popularity,
    System,
)
from recbias.recommenders.line_ups import file_order
from recbias.theory import hits_over_ties

FloatArray = npt.NDArray[np.float64]

OBSERVED, TRUE = "observed", "true"
"""By which judgments a ranking is measured, and an oracle made."""


class Ranking(NamedTuple):
    """A ranking for everybody.

    Attributes
    ----------
    name
        On pages.
    row
        The authors' name of it, among their published results.
    metric
        Of an oracle, what it is best for; empty for what ranks by training ratings.
    restricted
        Whether an oracle divides by the judgments of an item.
    """

    name: str
    row: str
    metric: str = ""
    restricted: bool = False

    def model(self, split: Split, min_rating: float) -> Algorithm:
        """Fit it; an oracle knows the test ratings."""
        if self.metric == "P":
            model: Algorithm = OracleRanking(split.test, "P", self.restricted, min_rating)
        elif self.metric:
            model = OracleRanking(split.test, "antiP", self.restricted, min_rating)
        elif self.name == "Popularity":
            model = Popularity()
        elif self.name == "Optimal precision":
            model = OptimalPrecision(min_rating)
        else:
            model = OptimalAntiPrecision(min_rating)
        return model.fit(split.train)


RANKINGS = (
    Ranking("Popularity", "mostpopular"),
    Ranking("Optimal precision", "optimalobservedprecision"),
    Ranking("Optimal anti-precision", "optimalobservedantiprecision"),
    Ranking("Oracle of precision", "optimaltrueprecision", "P"),
    Ranking("Oracle of anti-precision", "optimaltrueantiprecision", "antiP"),
    Ranking("Oracle of precision, per judgment", "optimaltrueprecisionrestricted", "P", True),
    Ranking(
        "Oracle of anti-precision, per judgment",
        "optimaltrueantiprecisionrestricted",
        "antiP",
        True,
    ),
)
"""Popularity, Eqs. 2 and 4, and two estimates each of Eqs. 1 and 3."""


_RANKINGS = ("Popularity", "OptimalPrecision", "OptimalAntiPrecision")


@maker(
    CHAPTER,
    Table,
    parts=("splits", "testset"),
    uses={"systems": [System(name, name) for name in _RANKINGS]},
)
def optima(
    dataset: Dataset, *, min_rating: float, cutoff: int, split: str, seed: int, truth: str = ""
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure the best rankings for everybody over all orders of ties.

    Parameters
    ----------
    dataset
        A data set.
    min_rating, cutoff
        Smallest rating that is relevant; length of the lists.
    split, seed
        Of the folds.
    truth
        Side of the test that true values come from, as of
        :func:`~recbias.book.chapters.true_vs_false_positive_disagreement.setup.protocols`.

    Returns
    -------
    index : tuple of str
        ``side``, :data:`OBSERVED` or :data:`TRUE`; ``ranking``, a name of :data:`RANKINGS`; and
        ``metric``, ``P`` or ``antiP``.
    frame : DataFrame
        Of that metric over all folds the ``least``, the ``value`` that is expected, and the
        ``most`` that an order of equal scores gives, each user having one; ``file``, what the order
        gives in which the training ratings, sorted by user and item, first name the items; and
        ``tied``, how many items have the highest score, a mean over folds.
    """
    sides = {OBSERVED: "observed"} | ({TRUE: truth} if truth else {})
    frames = []
    for text in sides.values():
        folds = dataset_splits(dataset, split, seed=seed, judgments=TestSet.parse(text))
        places = cutoff * sum(np.count_nonzero(fold.test.user_counts()) for fold in folds)
        hits = np.sum([_of_fold(fold, min_rating, cutoff) for fold in folds], axis=0)
        hits[:, :, :-1] /= places
        hits[:, :, -1] /= len(folds)
        frames.append(pd.DataFrame(hits.reshape(-1, len(_COLUMNS)), columns=_COLUMNS))
    names = product(sides, (ranking.name for ranking in RANKINGS), ("P", "antiP"))
    index = ("side", "ranking", "metric")
    return index, pd.DataFrame(names, columns=index).join(pd.concat(frames, ignore_index=True))


_COLUMNS = ("least", "value", "most", "file", "tied")


def _of_fold(fold: Split, min_rating: float, cutoff: int) -> FloatArray:
    """Sum hits over users, by ranking, metric and column; and count the items that tie on top."""
    order = file_order(fold.train)
    liked = relevant(fold.test.value, min_rating)
    wanted = np.array([liked, ~liked])
    hits = np.empty((len(RANKINGS), 2, len(_COLUMNS)))
    for place, ranking in enumerate(RANKINGS):
        scores = ranking.model(fold, min_rating).score(np.array([0]))[0]
        tied = hits_over_ties(scores, fold, wanted, cutoff)
        in_file = hits_over_ties(_untied(scores, order), fold, wanted, cutoff)
        columns = (tied.least, tied.expected, tied.most, in_file.most)
        hits[place, :, :-1] = np.stack([column.sum(axis=1) for column in columns], axis=1)
        hits[place, :, -1] = np.count_nonzero(scores == np.nanmax(scores))
    return hits


def _untied(scores: npt.NDArray[np.float32], order: npt.NDArray[np.int64]) -> FloatArray:
    """Give equal scores different ones, the higher the earlier an item stands in an order."""
    best = order[np.argsort(-scores[order], kind="stable")]
    places = np.full(len(scores), np.nan)
    places[best] = -np.arange(len(best), dtype=np.float64)
    return places


# -- the page --------------------------------------------------------------------------------------


def optima_rows(table: Table, *, dataset: str, cutoff: int) -> pd.DataFrame:
    """Lay the rankings out for the page, beside what the authors published."""
    known = references()[LINE_UP]
    authors = {ranking.name: known.rows[ranking.row] for ranking in RANKINGS}
    compared = dataset in known.datasets and cutoff == 10
    names = zip(*(table.frame[name].astype(str) for name in table.index), strict=True)
    published = [
        authors[ranking][f"{metric}@{cutoff}"] if compared and side == OBSERVED else np.nan
        for side, ranking, metric in names
    ]
    return table.frame.assign(published=published)


def two_digits(value: float) -> str:
    """Write a small number in two significant digits, without a power of ten.

    Examples
    --------
    >>> two_digits(4.56e-05), two_digits(0.146), two_digits(0.0)
    ('0.000046', '0.15', '0')
    """
    return np.format_float_positional(float(f"{value:.2g}"), trim="-")


def optima_sentence(table: Table) -> str:
    """Say what the order of ties decides of the optimum of anti-precision, in a sentence."""
    rows = table.select(ranking="Optimal anti-precision", side=OBSERVED).set_index("metric")
    said = [
        f"{metric} between {two_digits(row['least'])} and {two_digits(row['most'])}, "
        f"{two_digits(row['value'])} on average"
        for metric, row in rows.to_dict("index").items()
    ]
    n_tied = float(rows["tied"].iloc[0])
    subject = "One item has" if n_tied < 1.5 else f"{n_tied:.0f} items share"
    return (
        f"{subject} the highest score of the optimum of anti-precision. Which items are listed "
        f"where scores tie gives {'; '.join(said)}."
    )
