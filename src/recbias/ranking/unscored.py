"""What a model cannot score, put below all that it can.

The items without a score are ranked as a system of their own, whose scores are the policy's; that
ranking then stands below the model's. Orders, ties and counts are those of any other pass.

========================= ==========================================================================
policy                    order of the items that have no score
========================= ==========================================================================
none                      they are absent from the list
random                    a seeded random order for each user: that of ties
popularity                by the number of training ratings, liked or not
average-rating            by the mean training rating; an item that nobody rated is below them
========================= ==========================================================================

Equals come in the order of ties. What a policy puts below a model follows from the model's counts
alone where those show which items have no score; only else its scores are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import unknown_name
from recbias.protocol.protocol import POLICIES
from recbias.protocol.splits import Split
from recbias.protocol.targets import ItemGroups
from recbias.ranking.passes import rank_once, score_blocks
from recbias.ranking.positions import LISTED, Positions, target_counts
from recbias.recommenders import Recommender
from recbias.recommenders.base import Algorithm, ratings_read

__all__ = [
    "UNSCORED_REVISION",
    "deduce_scored",
    "look_at_scored",
    "policy_order",
    "rank_unscored",
]

UNSCORED_REVISION = 1
"""Raised when code changes the order in which items without a score are put below the others."""

Scored = Callable[[npt.NDArray[np.integer[Any]]], npt.NDArray[np.bool_]]
"""Tells for some users which items have a score; shape (n_users, n_items)."""


class _Below:
    """A recommender of what another one has no score for."""

    def __init__(self, scored: Scored, order: npt.NDArray[np.float32]) -> None:
        self._scored, self._order = scored, order

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> _Below:
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        return np.where(self._scored(users), np.float32(np.nan), self._order)


def policy_order(policy: str, train: Ratings) -> npt.NDArray[np.float32]:
    """Return what items are ordered by that have no score, larger before smaller.

    Parameters
    ----------
    policy
        One of `recbias.protocol.protocol.POLICIES` other than ``"none"``.
    train
        Training ratings.

    Returns
    -------
    ndarray of float32, shape (n_items,)
        Whole numbers from 0; items with equal ones are in the order of ties.

    Raises
    ------
    ConfigError
        For another policy.

    Examples
    --------
    The first item has two training ratings, the second one a better one, the third none.

    >>> import pandas as pd
    >>> stars = pd.DataFrame({"user_id": [1, 2, 1, 3], "item_id": list("aabc"),
    ...                       "rating": [4.0, 3.0, 5.0, 1.0]})
    >>> train = Ratings.from_frame(stars).take(np.array([True, True, True, False]))
    >>> for policy in POLICIES[1:]:
    ...     print(policy, policy_order(policy, train))
    random [0. 0. 0.]
    popularity [2. 1. 0.]
    average-rating [1. 2. 0.]
    """
    counts = train.item_counts()
    if policy == "random":
        return np.zeros(len(counts), dtype=np.float32)
    if policy == "popularity":
        values = counts.astype(np.float64)
    elif policy == "average-rating":
        sums = np.bincount(train.item, weights=train.value, minlength=len(counts))
        values = np.full(len(counts), -np.inf)
        np.divide(sums, counts, out=values, where=counts > 0)
    else:
        raise unknown_name("policy for what has no score", policy, POLICIES[1:])
    # Places instead of values: float32 holds whole numbers of that size, and no mean exactly.
    return np.unique(values, return_inverse=True)[1].astype(np.float32)


def rank_unscored(
    scored: Scored,
    split: Split,
    policy: str,
    *,
    groups: ItemGroups | None = None,
    depth: int = LISTED,
    seed: int,
) -> Positions:
    """Rank what has no score by a policy.

    Parameters
    ----------
    scored
        Tells which items have one: `deduce_scored` or `look_at_scored`.
    split
        That of the model.
    policy
        One of `recbias.protocol.protocol.POLICIES` other than ``"none"``.
    groups, depth, seed
        As in :func:`recbias.ranking.rank_once`, the same as for the model.

    Returns
    -------
    Positions
        Of the items without a score among themselves, see `Positions.with_below`.

    Raises
    ------
    ConfigError
        For another policy.

    Examples
    --------
    The model has no score for the last two of three items, of which the last is more popular.

    >>> from recbias.protocol.splits import from_fold_labels
    >>> from recbias.protocol.targets import TargetRule
    >>> import pandas as pd
    >>> ratings = Ratings.from_frame(pd.DataFrame({"user_id": [1, 1, 2, 3, 3],
    ...     "item_id": [2, 3, 3, 1, 3], "rating": 5.0}))
    >>> split = from_fold_labels(ratings, np.array([0, 0, 1, 1, 1]))[0]
    >>> scored = lambda users: np.tile([True, False, False], (len(users), 1))
    >>> below = rank_unscored(scored, split, "popularity", seed=1)
    >>> below.table(TargetRule.parse("TI-AN-AR")).rank.tolist()
    [2, 1]
    """
    below = _Below(scored, policy_order(policy, split.train))
    return rank_once(below, split, groups=groups, depth=depth, seed=seed)[0]


def look_at_scored(recommender: Recommender, train: Ratings) -> Scored:
    """Find out which pairs have a score by looking at all of them.

    Parameters
    ----------
    recommender
        Fitted on `train`.
    train
        Training ratings.

    Returns
    -------
    callable
        It holds one bit per pair.

    Raises
    ------
    ContractError, ScoreError
        As :func:`recbias.ranking.score_blocks` does.
    """
    blocks = score_blocks(recommender, train)
    bits = np.concatenate([np.packbits(~np.isnan(scores), axis=1) for _, scores in blocks])
    return lambda users: np.unpackbits(bits[users], axis=1, count=train.n_items).astype(bool)


def deduce_scored(positions: Positions, split: Split, recommender: Recommender) -> Scored | None:
    """Find out which pairs have a score from how many have one.

    An algorithm of this package that does not score everything scores no item, and mostly no user,
    without training data. So a user who has as many scores as there are items with training data
    has those; one with none, or with as many as there are items, leaves no doubt either.

    Parameters
    ----------
    positions
        What a pass over the scores counted.
    split
        The split of that pass.
    recommender
        The model, fitted or not.

    Returns
    -------
    callable or None
        None if the counts of some user leave open which items have a score, or if the model is no
        algorithm of the package, which promises nothing.
    """
    if not isinstance(recommender, Algorithm):
        return None
    known = ratings_read(recommender, split.train).item_counts() > 0
    n_known = target_counts(split, positions.groups, known)
    train_known = split.train.take(known[split.train.item])
    inside = np.isin(train_known.item, split.test_items)
    n_train_known = np.bincount(
        2 * train_known.user.astype(np.int64) + ~inside, minlength=2 * positions.n_users
    ).reshape(-1, 2)
    n_scored = np.hstack([positions.n_scored, positions.n_train_scored])
    has_all = (n_scored == np.hstack([positions.n_targets, positions.n_train])).all(axis=1)
    has_known = (n_scored == np.hstack([n_known, n_train_known])).all(axis=1)
    has_none = ~n_scored.any(axis=1)
    if not (has_all | has_known | has_none).all():
        return None
    has_known &= ~has_none
    return lambda users: has_all[users, None] | (has_known[users, None] & known)
