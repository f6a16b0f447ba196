"""What thinner tests leave as it was, and what they take from 1R and from AR (BCC17 Sec. 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from recbias.book.chapters.design_alternatives.definitions import largest
from recbias.claims.checks import Check
from recbias.data.ratings import Ratings
from recbias.metrics import measure, parse_metric
from recbias.ranking.tables import RankTable

_TRAINED, _UNDEFINED = "BCC17-C-NOTTRAIN", "BCC17-C-1RUNDEF"

Scores = Mapping[str, npt.NDArray[np.float32]]
"""By system, the scores of some users; shape (n_users, n_items)."""


def check_training(full: Ratings, thinned: Sequence[Ratings]) -> list[Check]:
    """Count training ratings that are not the same for a thinner test."""
    changed = sum(_n_changed(full, ratings) for ratings in thinned)
    what = "training ratings that differ"
    return [Check(_TRAINED, "training", what, len(thinned) * len(full), changed)]


def _n_changed(before: Ratings, after: Ratings) -> int:
    """Count pairs that only one of two tables has, and those with another value."""
    pairs, others = (
        ratings.user * np.int64(ratings.n_items) + ratings.item for ratings in (before, after)
    )
    _, rows_before, rows_after = np.intersect1d(
        pairs, others, assume_unique=True, return_indices=True
    )
    only_one = len(pairs) + len(others) - 2 * len(rows_before)
    return only_one + int(np.sum(before.value[rows_before] != after.value[rows_after]))


def best_items(
    scores: npt.NDArray[np.float32],
    users: npt.NDArray[np.int64],
    train: Ratings,
    cutoff: int,
) -> npt.NDArray[np.int64]:
    """List the best items that a user has not rated in training, by sorting."""
    worth = np.where(np.isnan(scores), -np.inf, scores.astype(np.float64))
    for row, user in enumerate(users.tolist()):
        worth[row, train.item[train.indptr[user] : train.indptr[user + 1]]] = -np.inf
    best = np.argsort(-worth, axis=1, kind="stable")[:, :cutoff]
    return np.where(np.isneginf(np.take_along_axis(worth, best, axis=1)), -1, best)


def check_models(
    full: Scores, thinned: Scores, users: npt.NDArray[np.int64], train: Ratings, *, cutoff: int
) -> list[Check]:
    """Count scores, bit by bit, and places of lists that are not the same for a thinner test."""
    n_scores = n_places = other_scores = other_places = 0
    for system, scores in full.items():
        other = thinned[system]
        other_scores += int(np.sum(scores.view(np.int32) != other.view(np.int32)))
        moved = best_items(scores, users, train, cutoff) != best_items(other, users, train, cutoff)
        other_places += int(moved.sum())
        n_scores, n_places = n_scores + scores.size, n_places + moved.size
    return [
        Check(_TRAINED, "scores", "scores that differ", n_scores, other_scores),
        Check(_TRAINED, "lists", "places with another item", n_places, other_places),
    ]


def check_moved_by_training(
    full: Scores, halved: Scores, users: npt.NDArray[np.int64], train: Ratings, *, cutoff: int
) -> list[Check]:
    """Tell how many places of the lists change with half of the training ratings."""
    moved = [
        best_items(scores, users, train, cutoff) != best_items(halved[system], users, train, cutoff)
        for system, scores in full.items()
    ]
    what = "share of places with another item"
    n_places = sum(places.size for places in moved)
    return [Check(_TRAINED, "moved-by-training", what, n_places, float(np.mean(moved)))]


def check_rises(without: Sequence[float]) -> list[Check]:
    """Tell how the share of users without a relevant test rating rises as tests get thinner."""
    rises = min(np.diff(without).tolist())
    return [Check(_UNDEFINED, "rises", "smallest rise of the share", len(without) - 1, rises)]


def check_without_runs(values: Mapping[str, float], told: tuple[int, int]) -> list[Check]:
    """Check what becomes of 1R when test ratings run out."""
    n_defined = sum(not np.isnan(value) for value in values.values())
    return [
        Check(_UNDEFINED, "defined", "metrics with a value", len(values), n_defined),
        Check(_UNDEFINED, "told", "|users told - counted|", told[1], abs(told[0] - told[1])),
    ]


def check_silent_users(
    ar: RankTable,
    runs: RankTable,
    relevant: npt.NDArray[np.bool_],
    n_counted: int,
    *,
    min_rating: float,
    cutoff: int,
) -> list[Check]:
    """Check that users without a relevant test rating have no run, and count with 0 under AR."""
    (precision,) = measure(ar, [parse_metric(f"P@{cutoff}")], min_rating=min_rating)
    silent = np.nan_to_num(precision[~relevant], nan=np.inf)
    n_runs, n_silent = int(np.sum(~relevant[runs.user])), len(silent)
    missing = abs(len(relevant) - n_counted)
    return [
        Check(_UNDEFINED, "runs-of-nobody", "runs of users without", len(runs.user), n_runs),
        Check(_UNDEFINED, "zero", f"|P@{cutoff}| of users without", n_silent, largest(silent)),
        Check(_UNDEFINED, "counted", "|users counted - all|", len(relevant), missing),
    ]
