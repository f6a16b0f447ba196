"""How chapter 5 checks the binary variables of MCCRS20 Sec. 4.1 and the shares made of them.

They are counted here from the ratings; every check takes what it judges as an argument.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recbias.book.chapters.design_alternatives.definitions import largest
from recbias.book.chapters.design_alternatives.ranking_by_sorting import train_as_experiment
from recbias.claims.checks import Check
from recbias.data.ratings import Ratings
from recbias.data.simulation.truth import Truth
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.ranking.tables import RankTable
from recbias.recommenders import System

MOST_USERS = 50
"""So many users' scores are compared."""

_CLAIM = "MCCRS20-D-VARS"

FloatArray = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.int64]


def pairs_of(ratings: Ratings) -> Pairs:
    """Give each rated pair a number of its own."""
    return ratings.user.astype(np.int64) * ratings.n_items + ratings.item


def check_liking(
    world: Truth, ratings: Ratings, share: FloatArray, *, min_rating: float
) -> list[Check]:
    """Compare relevance and p(rel|i) in a world with what its users like."""
    likes = world.true_rating(np.arange(ratings.n_users)) >= min_rating
    counted = relevant(ratings.value, min_rating)
    wrong = counted != likes[ratings.user, ratings.item]
    off = largest(share - likes.sum(axis=0) / ratings.n_users)
    return [
        _check("rel", "pairs whose relevance is not the user's liking", len(wrong), wrong.sum()),
        _check("liking", "|p(rel|i) - users who like the item/all users|", len(share), off),
    ]


def check_rated(pairs: Pairs, values: FloatArray) -> list[Check]:
    """Count pairs of user and item that have more than one rating, or none that is a number."""
    ordered = np.sort(pairs)
    wrong = int(np.sum(ordered[1:] == ordered[:-1])) + int(np.sum(~np.isfinite(values)))
    what = "pairs with several ratings, or one that is no number"
    return [_check("rated", what, len(pairs), wrong)]


def check_partition(rated: Pairs, folds: Sequence[tuple[Pairs, Pairs]]) -> list[Check]:
    """Count rated pairs that are not in exactly one of training and test, fold by fold."""
    wrong, known = 0, np.sort(rated)
    for train, test in folds:
        both = np.sort(np.concatenate([train, test]), kind="stable")  # of sorted parts, quickly
        if not np.array_equal(both, known):
            wrong += len(np.intersect1d(train, test))
            wrong += len(np.setxor1d(rated, np.union1d(train, test)))
    what = "rated pairs in both or neither of training and test"
    return [_check("partition", what, len(rated) * len(folds), wrong)]


def check_shares(popularity: FloatArray, ratings: Ratings, *, min_rating: float) -> list[Check]:
    """Compare Popularity's score, and the average rating, with shares of all users."""
    n_users, n_items = ratings.n_users, ratings.n_items
    rated = Counter(ratings.item.tolist())
    liked = Counter(ratings.item[ratings.value >= min_rating].tolist())
    counted = np.array([rated[item] / n_users for item in range(n_items)])
    both = np.array([liked[item] / n_users for item in range(n_items)])
    binary = relevant(ratings.value, min_rating).astype(float)
    totals = np.bincount(ratings.item, binary, minlength=n_items)
    average = totals / np.maximum(ratings.item_counts(), 1)
    off = largest(np.nan_to_num(popularity) / n_users - counted)
    what = "|p(rel|rated,i) p(rated|i) - users who rated and liked the item/all users|"
    return [
        _check("popularity", "|Popularity's score/all users - p(train|i)|", n_items, off),
        _check("average", what, n_items, largest(average * counted - both)),
    ]


def scores_beside_other_tests(
    system: System, split: Split, *, seed: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Train a system on a split, and on the same with other test ratings; return both scores."""
    users = np.arange(min(MOST_USERS, split.train.n_users))
    top = split.test.value.max() + split.test.value.min()
    turned = dataclasses.replace(split.test, value=top - split.test.value)
    other = dataclasses.replace(split, test=turned)
    first, second = (
        train_as_experiment(system, fold, seed=seed).score(users) for fold in (split, other)
    )
    return first, second


def check_given(
    scores: Sequence[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]],
) -> list[Check]:
    """Count scores that another test changes; missing ones are equal."""
    wrong = sum(int(np.sum((one != two) & ~(np.isnan(one) & np.isnan(two)))) for one, two in scores)
    n_scores = sum(one.size for one, _ in scores)
    return [_check("given", "scores that test ratings change", n_scores, wrong)]


def check_judgments(table: RankTable, test: Ratings) -> list[Check]:
    """Count judged pairs, with their rating, that are not those of the test."""
    judged, tested = (
        set(zip(side.user.tolist(), side.item.tolist(), side.value.tolist(), strict=True))
        for side in (table, test)
    )
    wrong = len(judged ^ tested)
    return [_check("judgments", "judged pairs that are not test pairs", len(test), wrong)]


def _check(name: str, what: str, n_checked: int, worst: float) -> Check:
    return Check(_CLAIM, name, what, int(n_checked), float(worst))
