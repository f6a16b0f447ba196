"""What chapter 3 checks on data, whatever results its other criteria read."""

from __future__ import annotations

from collections.abc import Mapping

from recbias.book.chapters.popularity_bias.concentration import (
    check_collection,
    check_concentration,
)
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.claims.checks import Check, Checks
from recbias.data.datasets import Dataset
from recbias.experiment.makers import maker


@maker(CHAPTER, Checks)
def checks(
    dataset: Dataset, *, min_rating: float, seed: int
) -> tuple[list[Check], Mapping[str, float]]:
    """Make all checks of the chapter.

    Parameters
    ----------
    dataset
        A data set.
    min_rating
        Smallest rating that is relevant.
    seed
        Names samples of users where there are many.

    Returns
    -------
    checks : list of Check
        In the order of the claims.
    statistics : dict
        None so far.
    """
    ratings = dataset.ratings
    checks = [
        *check_concentration(ratings, min_rating=min_rating),
        *check_collection(ratings, min_rating=min_rating, seed=seed),
    ]
    return checks, {}
