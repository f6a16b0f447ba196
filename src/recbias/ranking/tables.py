"""Ranks of test ratings under one target-set rule: what every metric of a list is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["RankTable"]


@dataclass(frozen=True, eq=False)
class RankTable:
    """Ranks of test ratings under one target-set rule.

    Attributes
    ----------
    per
        ``"user"``: one target set per user, a row for every test rating. ``"run"``: one target set
        per row, a row for every *relevant* test rating (1R).
    n_users
        Users of the dataset, those without test ratings included.
    user, item : ndarray of int32, shape (n_rows,)
        The rated pairs, sorted by user, then item.
    value : ndarray of float64, shape (n_rows,)
        Their ratings.
    rank : ndarray of int32, shape (n_rows,)
        Rank from 1 in the target set; 0 where the pair is not in the list, because its score is
        not computable or because a sampled target set does not hold it.
    condensed_rank : ndarray of int32, shape (n_rows,)
        Rank from 1 among those items of the list that the user rated in test; 0 as above.
    n_targets : ndarray of int32
        Size of each target set: shape (n_users,) per user, (n_rows,) per run.
    n_scored : ndarray of int32
        Targets with a computable score, same shape.
    group : ndarray of int16, shape (n_rows,), optional
        Item group of each run, where target sets are formed within groups (P1R).
    """

    per: Literal["user", "run"]
    n_users: int
    user: npt.NDArray[np.int32]
    item: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int32]
    condensed_rank: npt.NDArray[np.int32]
    n_targets: npt.NDArray[np.int32]
    n_scored: npt.NDArray[np.int32]
    group: npt.NDArray[np.int16] | None = None
