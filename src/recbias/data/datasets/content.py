"""What a loader finds in a publisher's files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.data.simulation import Truth


@dataclass(frozen=True, eq=False)
class Content:
    """Ratings, and what else the files hold.

    Parameters
    ----------
    ratings : Ratings
        What users rated of their own choice.
    ready_folds : int8 array (n,), optional
        For each row the fold, from 0, whose test set it is in, if the files are folds.
    unbiased : Ratings, optional
        Ratings of items that were drawn at random, over the same users and items as `ratings`.
    notes : tuple of str
        What was decided in reading, to be said to the reader.
    truth : Truth, optional
        The true ratings of all pairs, of a world.
    row_order : int64 array (n,), optional
        For each row of `ratings` its place among the lines of the files, if these are folds.
    """

    ratings: Ratings
    ready_folds: npt.NDArray[np.int8] | None = None
    unbiased: Ratings | None = None
    notes: tuple[str, ...] = ()
    truth: Truth | None = None
    row_order: npt.NDArray[np.int64] | None = None
