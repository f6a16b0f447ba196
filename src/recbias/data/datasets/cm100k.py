"""CM100k: users rated tracks drawn at random, and said which of them they had known before.

References
----------
R. Cañamares and P. Castells. Should I Follow the Crowd? SIGIR 2018, Sec. 6.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from recbias.data.datasets.content import Content
from recbias.data.datasets.tables import read_text
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import DataError

_COLUMNS = ("user_id", "item_id", "rating", "known")


def read(files: Sequence[Path]) -> Content:
    """Read ``ratings.txt`` or ``data.txt``: user, track, rating from 1 to 4, known; tab separated.

    The two files have the same rows, but other user ids. Users are therefore numbered from 1 in the
    order of what they rated (tracks, ratings and flags, compared as lists), which gives both files
    the same content. Tracks and users without a known rating remain in the vocabularies.

    Parameters
    ----------
    files : sequence of Path
        The one file.

    Returns
    -------
    Content
        `ratings` are the ratings of tracks that their user knew (flag 1): missing not at random.
        `unbiased` are all, known or not: each user was shown tracks drawn uniformly.

    Raises
    ------
    DataError
        If a line is not of this form.
    """
    (path,) = files
    frame = read_text(path, "\t", _COLUMNS, _COLUMNS)
    unknown = ~frame["known"].isin(["0", "1"])
    if unknown.any():
        row = int(np.argmax(unknown))
        raise DataError(
            f"{path}:{row + 1}: column 'known' has the value {frame['known'].iloc[row]!r}, "
            "expected 0 or 1"
        )
    frame["user_id"] = _numbered_by_profile(frame)
    unbiased = Ratings.from_frame(
        frame,
        scale=RatingScale(1, 4, 1),
        name="cm100k",
        source=str(path),
    )
    flags = Ratings.from_frame(
        frame,
        rating="known",
        scale=RatingScale(0, 1, 1),
    )
    ratings = unbiased.take(flags.value == 1)
    note = (
        f"the {len(ratings):,} ratings of tracks known before; all {len(unbiased):,}, of tracks "
        "drawn at random, are the unbiased part; users are numbered by what they rated, as the "
        "publisher's files differ in user ids"
    )
    return Content(ratings, unbiased=unbiased, notes=(note,))


def _numbered_by_profile(frame: pd.DataFrame) -> pd.Series[int]:
    texts = frame.astype(str)
    rows = texts["item_id"] + " " + texts["rating"] + " " + texts["known"]
    profiles = rows.groupby(texts["user_id"]).agg(lambda profile: sorted(profile))
    number = {user: place for place, user in enumerate(profiles.sort_values().index, start=1)}
    return texts["user_id"].map(number)
