"""KuaiRec: what users watched of short videos, and for some of them of nearly every video.

References
----------
C. Gao et al. KuaiRec: A Fully-Observed Dataset and Insights for Evaluating Recommender Systems.
CIKM 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from recbias.data.datasets.content import Content
from recbias.data.datasets.tables import text_batches
from recbias.data.ratings import Ratings, RatingScale, checked_values
from recbias.errors import DataError

_COLUMNS = ("user_id", "video_id", "watch_ratio", "timestamp")
_SCALE = RatingScale(0, 1_000_000, 0)


def read(files: Sequence[Path]) -> Content:
    """Read ``big_matrix.csv`` and ``small_matrix.csv``, which have a header.

    The value is the watch ratio, time watched by length. Where a user watched a video several
    times the last row counts. Times are floored to seconds; where one is missing all are dropped.

    Parameters
    ----------
    files : sequence of Path
        The two files, the big matrix first.

    Returns
    -------
    Content
        `ratings` is the big matrix, what users met in the app. `unbiased` is the small one, whose
        users were shown nearly every one of its videos, over the users and videos of both.

    Raises
    ------
    DataError
        If a line is not of this form.
    """
    frames = [_read(path) for path in files]
    every = pd.concat(frames, ignore_index=True)
    users = pd.Index(np.unique(every["user_id"]))
    items = pd.Index(np.unique(every["video_id"]))
    big, small = (_ratings(frame, users, items) for frame in frames)
    again = len(frames[0]) - len(big)
    note = (
        f"value: watch ratio; {again:,} rows of a pair that comes again are left out, its last row "
        f"counts; the unbiased part is the small matrix, {len(small):,} pairs"
    )
    return Content(big, unbiased=small, notes=(note,))


def _read(path: Path) -> pd.DataFrame:
    """Read one matrix into numbers; a missing time is NaN."""
    parts = []
    line = 2
    for batch in text_batches(path, ",", None, _COLUMNS, dict.fromkeys(_COLUMNS, pa.string())):
        frame = batch.to_pandas()
        parts.append(_numbers(frame, path, line))
        line += len(frame)
    if not parts:
        raise DataError(f"no ratings in {path}")
    return pd.concat(parts, ignore_index=True)


def _numbers(frame: pd.DataFrame, path: Path, line: int) -> pd.DataFrame:
    def where(row: int) -> str:
        return f"{path}:{line + row}"

    read = {
        column: checked_values(frame[column], _SCALE, where)
        for column in ("user_id", "video_id", "watch_ratio")
    }
    times = pd.to_numeric(frame["timestamp"], errors="coerce").to_numpy(dtype=np.float64)
    return pd.DataFrame(
        {
            "user_id": read["user_id"].astype(np.int32),
            "video_id": read["video_id"].astype(np.int32),
            "watch_ratio": read["watch_ratio"],
            "timestamp": np.floor(times),
        }
    )


def _ratings(frame: pd.DataFrame, users: pd.Index[int], items: pd.Index[int]) -> Ratings:
    """Make ratings over given vocabularies."""
    user, item = (
        users.get_indexer(pd.Index(frame["user_id"])),
        items.get_indexer(pd.Index(frame["video_id"])),
    )
    keys = user.astype(np.int64) * len(items) + item
    order = np.argsort(keys, kind="stable")
    rows = order[np.append(np.diff(keys[order]) > 0, True)]
    times = frame["timestamp"].to_numpy()[rows]
    return Ratings(
        name="kuairec",
        user=user[rows],
        item=item[rows],
        value=frame["watch_ratio"].to_numpy()[rows],
        timestamp=None if np.isnan(times).any() else times.astype(np.int64),
        user_ids=users.to_numpy(dtype=np.int64),
        item_ids=items.to_numpy(dtype=np.int64),
        scale=_SCALE,
    )
