"""What chapter 3 checks on data, and once of what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from recbias.book.chapters.popularity_bias.concentration import (
    check_collection,
    check_concentration,
    check_trec,
    trec_marginals,
)
from recbias.book.chapters.popularity_bias.setup import CHAPTER
from recbias.claims.checks import Check, Checks
from recbias.data.datasets import Dataset
from recbias.experiment.makers import maker


@maker(CHAPTER, Checks, uses=lambda: asdict(trec_marginals()))
def identities() -> tuple[list[Check], Mapping[str, float]]:
    """Check what printed numbers force, which is the same beside any data."""
    return check_trec(trec_marginals()), {}


@maker(CHAPTER, Checks, revision=2)
def checks(
    dataset: Dataset, *, min_rating: float, seed: int
) -> tuple[list[Check], Mapping[str, float]]:
    """Make the checks that hang on data.

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
