"""Yahoo! R3: ratings of songs in use, and of songs drawn at random for a survey.

References
----------
B. Marlin and R. Zemel. Collaborative Prediction and Ranking with Non-Random Missing Data. RecSys
2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from recbias.datasets.content import Content
from recbias.datasets.tables import read_text
from recbias.ratings import Ratings, RatingScale

_COLUMNS = ("user_id", "item_id", "rating")


def read(files: Sequence[Path]) -> Content:
    """Read the two files of R3: user, song, rating from 1 to 5; tab separated.

    Pairs that are in both files are left out of the random part.

    Parameters
    ----------
    files : sequence of Path
        ``...-train.txt`` and ``...-test.txt``.

    Returns
    -------
    Content
        `ratings` is the self-selected part (train), `unbiased` the survey (test).

    Raises
    ------
    DataError
        If a line is not of this form, or a pair is twice in one file.
    """
    parts = [_read(path) for path in files]
    trained = pd.MultiIndex.from_frame(parts[0][["user_id", "item_id"]])
    again = pd.MultiIndex.from_frame(parts[1][["user_id", "item_id"]]).isin(trained)
    every = pd.concat([parts[0], parts[1][~again]], ignore_index=True)
    origin = np.repeat([0, 1], [len(parts[0]), len(every) - len(parts[0])])
    ratings = Ratings.from_frame(every, scale=RatingScale(1, 5, 1), name="yahoo-r3")
    survey = Ratings.from_frame(
        every.assign(origin=origin), rating="origin", scale=RatingScale(0, 1, 1)
    )
    unbiased = ratings.take(survey.value == 1)
    note = (
        f"the self-selected part; the random part has {len(unbiased):,} ratings, without the "
        f"{int(again.sum())} pairs that are in both files"
    )
    return Content(ratings.take(survey.value == 0), unbiased=unbiased, notes=(note,))


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
