"""Last.fm 1K: every play of a thousand listeners, counted by artist.

References
----------
O. Celma and P. Herrera. A New Approach to Evaluating Novel Recommendations. RecSys 2008.
O. Celma. Music Recommendation and Discovery in the Long Tail. Springer, 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from recbias.data.datasets.content import Content
from recbias.data.datasets.tables import text_batches
from recbias.data.ratings import Ratings, RatingScale, time_numbers
from recbias.errors import DataError

_COLUMNS = ("user_id", "time", "artist_id", "artist", "track_id", "track")
_PENDING = 2_000_000
"""Pairs that are held before they are added up: bounds the memory."""


def read(files: Sequence[Path]) -> Content:
    """Read the log of plays and count them by user and artist; tab separated, no quotes.

    An artist is a MusicBrainz id, or a name where there is none, as the publisher counts artists.
    The time of a pair is that of its first play.

    Parameters
    ----------
    files : sequence of Path
        ``userid-timestamp-artid-artname-traid-traname.tsv``. It is streamed: memory grows with the
        pairs, not with the plays.

    Returns
    -------
    Content
        `ratings` has the number of plays as its value.

    Raises
    ------
    DataError
        If a line is not of this form, or has neither id nor name of an artist.
    """
    (path,) = files
    wanted = _COLUMNS[:4]
    kinds = dict.fromkeys(wanted, pa.string())
    counted, pending, n_plays = [], 0, 0
    for batch in text_batches(path, "\t", _COLUMNS, wanted, kinds, quotes=False):
        frame = batch.to_pandas()
        counted.append(_count(frame, path, n_plays + 1))
        n_plays += len(frame)
        pending += len(counted[-1])
        if pending > _PENDING:
            counted, pending = [_add_up(counted)], 0
    if not counted:
        raise DataError(f"no ratings in {path}")
    ratings = Ratings.from_frame(
        _add_up(counted).reset_index(),
        item="artist",
        rating="plays",
        timestamp="time",
        scale=RatingScale(1, 1_000_000, 1),
        name="lastfm-1k",
    )
    note = f"{n_plays:,} plays counted by artist; the time of a pair is its first play"
    return Content(ratings, notes=(note,))


def _count(frame: pd.DataFrame, path: Path, line: int) -> pd.DataFrame:
    def where(row: int) -> str:
        return f"{path}:{line + row}"

    artist = frame["artist_id"].where(frame["artist_id"] != "", frame["artist"]).str.strip()
    nameless = (artist == "").to_numpy()
    if nameless.any():
        raise DataError(f"{where(int(np.argmax(nameless)))}: neither id nor name of an artist")
    times, kind = time_numbers(frame["time"], where)
    times = times // 10**6 if kind == "date" else times
    plays = pd.DataFrame({"user_id": frame["user_id"], "artist": artist, "time": times, "plays": 1})
    return _add_up([plays.set_index(["user_id", "artist"])])


def _add_up(parts: list[pd.DataFrame]) -> pd.DataFrame:
    pairs = pd.concat(parts).groupby(level=["user_id", "artist"], sort=False)
    return pairs.agg({"time": "min", "plays": "sum"})
