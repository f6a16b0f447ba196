"""Yahoo! R3: ratings of songs in use, and of songs drawn at random for a survey.

References
----------
B. Marlin and R. Zemel. Collaborative Prediction and Ranking with Non-Random Missing Data. RecSys
2009.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.datasets.content import Content
from recbias.data.datasets.tables import read_text
from recbias.data.ratings import Ratings, RatingScale

_COLUMNS = ("user_id", "item_id", "rating")


def read(files: Sequence[Path]) -> Content:
    """Read the two files of R3: user, song, rating from 1 to 5; tab separated.

    The random part has all pairs of the survey, those that are in both files too, with the rating
    of the survey: without them it would no longer be random, as users play what they like. A split
    by it takes them out of training instead.

    Parameters
    ----------
    files : sequence of Path
        ``...-train.txt`` and ``...-test.txt``.

    Returns
    -------
    Content
        `ratings` is the self-selected part (train), `unbiased` the survey (test), all of it.

    Raises
    ------
    DataError
        If a line is not of this form, or a pair is twice in one file.
    """
    parts = [_read(path) for path in files]
    every = pd.concat(parts, ignore_index=True).drop_duplicates(["user_id", "item_id"])
    ratings = Ratings.from_frame(every, scale=RatingScale(1, 5, 1), name="yahoo-r3")
    chosen, drawn = (_of_part(ratings, part) for part in parts)
    n_both = int(np.sum(~np.isnan(chosen) & ~np.isnan(drawn)))
    unbiased = dataclasses.replace(ratings, value=np.where(np.isnan(drawn), 1, drawn))
    unbiased = unbiased.take(~np.isnan(drawn))
    note = (
        f"the self-selected part; the random part has {len(unbiased):,} ratings, {n_both:,} of "
        "them of pairs that are in both files: they leave training, never the test"
    )
    return Content(ratings.take(~np.isnan(chosen)), unbiased=unbiased, notes=(note,))


def _of_part(ratings: Ratings, part: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Find the rating of a part for each pair; NaN where it has none."""
    pairs = pd.MultiIndex.from_arrays(
        [ratings.user_ids[ratings.user], ratings.item_ids[ratings.item]]
    )
    values = part.set_index(["user_id", "item_id"])["rating"].reindex(pairs)
    return values.to_numpy(dtype=np.float64)


def _read(path: Path) -> pd.DataFrame:
    frame = read_text(path, "\t", _COLUMNS, _COLUMNS)
    # For its messages: they name this file and its lines, of which the joined table knows nothing.
    checked = Ratings.from_frame(frame, scale=RatingScale(1, 5, 1), source=str(path))
    return pd.DataFrame(
        {
            "user_id": checked.user_ids[checked.user],
            "item_id": checked.item_ids[checked.item],
            "rating": checked.value,
        }
    )
