"""What thinner tests leave as it was, and what they take from 1R and from AR (BCC17 Sec. 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from recbias.claims.checks import Check
from recbias.claims.design_alternatives.definitions import largest
from recbias.metrics import measure, parse_metric
from recbias.ranking import RankTable
from recbias.ratings import Ratings

__all__ = [
    "best_items",
    "check_models",
    "check_moved_by_training",
    "check_silent_users",
    "check_training",
    "check_without_runs",
]

_TRAINED, _UNDEFINED = "BCC17-C-NOTTRAIN", "BCC17-C-1RUNDEF"

Scores = Mapping[str, npt.NDArray[np.float32]]
"""By system, the scores of some users; shape (n_users, n_items)."""


def check_training(full: Ratings, thinned: Sequence[Ratings]) -> list[Check]:
    """Count training ratings that are not the same for a thinner test.

    Parameters
    ----------
    full
        Training ratings of the split.
    thinned
        Those of the same split with ever fewer test ratings.
    """
    changed = sum(_n_changed(full, each) for each in thinned)
    what = "training ratings that differ"
    return [Check(_TRAINED, "training", what, len(thinned) * len(full), changed)]


def _n_changed(before: Ratings, after: Ratings) -> int:
    """Count pairs that only one of two tables has, and those with another value."""
    pairs, others = (each.user * np.int64(each.n_items) + each.item for each in (before, after))
    _, here, there = np.intersect1d(pairs, others, assume_unique=True, return_indices=True)
    only_one = len(pairs) + len(others) - 2 * len(here)
    return only_one + int(np.sum(before.value[here] != after.value[there]))


def best_items(
    scores: npt.NDArray[np.float32],
    users: npt.NDArray[np.int64],
    train: Ratings,
    cutoff: int,
) -> npt.NDArray[np.int64]:
    """List the best items that a user has not rated in training, by sorting.

    Parameters
    ----------
    scores : ndarray of float32, shape (n_users, n_items)
        NaN = none.
    users : ndarray of int64, shape (n_users,)
        Whose scores they are.
    train
        Training ratings.
    cutoff
        Length of the lists.

    Returns
    -------
    ndarray of int64, shape (n_users, cutoff)
        Equals by their number; -1 where no item with a score is left.
    """
    worth = np.where(np.isnan(scores), -np.inf, scores.astype(np.float64))
    for row, user in enumerate(users.tolist()):
        worth[row, train.item[train.indptr[user] : train.indptr[user + 1]]] = -np.inf
    best = np.argsort(-worth, axis=1, kind="stable")[:, :cutoff]
    return np.where(np.isneginf(np.take_along_axis(worth, best, axis=1)), -1, best)


def check_models(
    full: Scores, thinned: Scores, users: npt.NDArray[np.int64], train: Ratings, *, cutoff: int
) -> list[Check]:
    """Count scores, bit by bit, and places of lists that are not the same for a thinner test.

    Parameters
    ----------
    full, thinned
        Scores of systems that were trained for either test.
    users : ndarray of int64
        Whose they are.
    train
        Training ratings.
    cutoff
        Length of the lists.
    """
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
    """Tell how many places of the lists change with half of the training ratings.

    Parameters
    ----------
    full, halved
        Scores of systems that learn, trained on all of the training ratings and on half of them.
    users, train, cutoff
        As in `check_models`: items of the whole training are in neither list.
    """
    moved = [
        best_items(scores, users, train, cutoff) != best_items(halved[system], users, train, cutoff)
        for system, scores in full.items()
    ]
    what = "share of places with another item"
    n_places = sum(each.size for each in moved)
    return [Check(_TRAINED, "moved-by-training", what, n_places, float(np.mean(moved)))]


def check_without_runs(
    without: Sequence[float], values: Mapping[str, float], told: tuple[int, int]
) -> list[Check]:
    """Check what becomes of 1R when test ratings run out.

    Parameters
    ----------
    without
        Share of users without a relevant test rating, by ever thinner tests.
    values
        Metrics of a table without any run.
    told
        Users that stand with a value of 1R, and users with a relevant test rating, counted.
    """
    rises = min(np.diff(without).tolist())
    n_defined = sum(not np.isnan(value) for value in values.values())
    return [
        Check(_UNDEFINED, "rises", "smallest rise of the share", len(without) - 1, rises),
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
    """Check that users without a relevant test rating have no run, and count with 0 under AR.

    Parameters
    ----------
    ar, runs
        Ranks of what a thinner test leaves, under AR and 1R.
    relevant : ndarray of bool, shape (n_users,)
        Whether a user has a relevant test rating left.
    n_counted
        Users that stand with a value of AR.
    min_rating
        Smallest rating that is relevant.
    cutoff
        Length of the lists.
    """
    (precision,) = measure(ar, [parse_metric(f"P@{cutoff}")], min_rating=min_rating)
    silent = np.nan_to_num(precision[~relevant], nan=np.inf)
    n_runs, n_silent = int(np.sum(~relevant[runs.user])), len(silent)
    missing = abs(len(relevant) - n_counted)
    return [
        Check(_UNDEFINED, "runs-of-nobody", "runs of users without", len(runs.user), n_runs),
        Check(_UNDEFINED, "zero", f"|P@{cutoff}| of users without", n_silent, largest(silent)),
        Check(_UNDEFINED, "counted", "|users counted - all|", len(relevant), missing),
    ]
