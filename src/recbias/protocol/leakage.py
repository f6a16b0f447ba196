"""Leakage: how much of the future a split lets a model learn from.

Whoever recommends knows the past only. A test rating that is older than ratings of the training is
predicted with what nobody could know at its time: what the user did next, or what others made
popular later. Random splits do that with nearly every test rating, a cut for each user with what
others did, one cut in time not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.protocol.splits import Split

__all__ = ["Leakage", "leakage"]

_NEVER = np.iinfo(np.int64).min
"""Older than every time: the last training rating of who has none."""


@dataclass(frozen=True)
class Leakage:
    """How much of the future the models of a split see.

    Parameters
    ----------
    n_test : int
        Test ratings, of all folds together.
    same_user, others : float
        Share of them that are older than some training rating of the same user, of another user.
    newer : float
        Share of the training ratings that are newer than a test rating, on average over these.
    """

    n_test: int
    same_user: float
    others: float
    newer: float

    def __str__(self) -> str:
        if not self.same_user and not self.others:
            return "no test rating is older than a training rating: no model sees the future"
        return (
            f"of the test ratings {_percent(self.others)} are older than some training rating of "
            f"another user, {_percent(self.same_user)} than one of the same user; on average "
            f"{_percent(self.newer)} of what is trained on is newer than what is tested"
        )


def leakage(splits: Sequence[Split]) -> Leakage:
    """Compute how much of the future the models of a split see.

    Exact, from sorted times: the work grows as n log n with the number of ratings.

    Parameters
    ----------
    splits : sequence of Split
        The folds of one rule, or splits of your own, at least one.

    Returns
    -------
    Leakage
        Over the test ratings of all folds. Of equal times neither is older.

    Raises
    ------
    ConfigError
        If there are no timestamps, or no split.

    References
    ----------
    Y. Ji, A. Sun, J. Zhang, C. Li, "A critical study on data leakage in recommender system offline
    evaluation", ACM TOIS 41(3), 2023, who count such pairs; Z. Meng, R. McCreadie, C. Macdonald,
    I. Ounis, "Exploring data splitting strategies for the evaluation of recommendation models",
    RecSys 2020.

    Examples
    --------
    >>> import pandas as pd
    >>> from recbias.protocol.splits import temporal, temporal_per_user
    >>> rated = [(1, 1, 10), (1, 2, 20), (2, 1, 30), (2, 3, 40)]
    >>> frame = pd.DataFrame(rated, columns=["user_id", "item_id", "time"])
    >>> ratings = Ratings.from_frame(frame, rating=None, timestamp="time")
    >>> print(leakage([temporal(ratings, 0.5)]))
    no test rating is older than a training rating: no model sees the future
    >>> leakage([temporal_per_user(ratings, 0.5)])  # 20 is tested, and 30 is trained on
    Leakage(n_test=2, same_user=0.0, others=0.5, newer=0.25)
    """
    if not splits:
        raise ConfigError("leakage: got no split, expected one or more, as of SplitRule.splits")
    n_test = n_same_user = n_others = 0
    newer = 0.0
    for split in splits:
        trained, tested = _times(split.train), _times(split.test)
        last = np.full(split.train.n_users, _NEVER)
        np.maximum.at(last, split.train.user, trained)
        # The newest of all users but one is the newest of all, or that of the second one.
        newest, second = np.sort(np.append(last, [_NEVER, _NEVER]))[:-3:-1]
        alone = np.flatnonzero(last == newest)
        of_others = np.full(split.train.n_users, newest)
        if len(alone) == 1:
            of_others[alone] = second
        n_test += len(tested)
        n_same_user += int((tested < last[split.test.user]).sum())
        n_others += int((tested < of_others[split.test.user]).sum())
        n_older = np.searchsorted(np.sort(trained), tested, side="right")
        newer += int((len(trained) - n_older).sum()) / len(trained)
    return Leakage(n_test, n_same_user / n_test, n_others / n_test, newer / n_test)


def _times(ratings: Ratings) -> npt.NDArray[np.int64]:
    if ratings.timestamp is None:
        raise ConfigError(
            f"leakage: {ratings.name} has no timestamps, without which it cannot be told"
        )
    return ratings.timestamp


def _percent(share: float) -> str:
    """Write a share so that nothing but none is 0 %, and nothing but all is 100 %."""
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{min(max(100 * share, 0.1), 99.9):.1f} %"
