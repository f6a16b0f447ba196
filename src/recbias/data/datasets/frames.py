"""A DataFrame where a table is asked for: read like one, and kept as one for other processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from recbias.data.datasets.tables import TableOptions, columns_by_role, described_ratings
from recbias.data.ratings import Ratings
from recbias.errors import DataError

__all__ = ["frame_of", "read_frame"]

NAME = "DataFrame"
"""How a table without a file is called where it is shown."""


def read_frame(
    frame: pd.DataFrame, options: TableOptions | None = None
) -> tuple[Ratings, tuple[str, ...]]:
    """Read a DataFrame of ratings, finding its columns as those of a file are found.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating; its index is not looked at, and it stays as it is.
    options : TableOptions, optional
        What the owner says; `separator` and `header` mean nothing here.

    Returns
    -------
    ratings : Ratings
        Named ``DataFrame``.
    understanding : tuple of str
        What was found and assumed: columns, values, duplicates.

    Raises
    ------
    DataError
        If the columns cannot be told, or a value is not acceptable (see `Ratings.from_frame`).

    Examples
    --------
    >>> frame = pd.DataFrame({"userId": [1, 1, 2], "movie": ["a", "b", "a"], "stars": [5, 3, 4]})
    >>> ratings, understanding = read_frame(frame)
    >>> len(ratings), understanding[1]
    (3, "user 'userId', item 'movie', rating 'stars'")
    """
    options = options or TableOptions()
    names = [str(name) for name in frame.columns]
    try:
        columns = columns_by_role(Path(NAME), names, options.columns, "")
    except DataError as error:
        raise DataError(
            f"{str(error).splitlines()[0]}\nrename them: frame.rename(columns={{...}}) to user_id, "
            "item_id, rating and, if known, timestamp"
        ) from None
    table = frame.set_axis(names, axis="columns").reset_index(drop=True)
    return described_ratings(table, columns, options, form=NAME, names=names, name=NAME)


def frame_of(ratings: Ratings) -> pd.DataFrame:
    """Lay ratings out as a table that is read back as the same ratings.

    Parameters
    ----------
    ratings : Ratings
        Any.

    Returns
    -------
    pandas.DataFrame
        Columns ``user_id``, ``item_id``, ``rating`` unless all pairs are alike, and ``timestamp``
        where times are known; a row per rating, in the order of their file if they know it, else
        by user and then by item.

    Examples
    --------
    >>> frame = pd.DataFrame({"user": ["b", "a"], "item": [7, 7], "rating": [5, 3]})
    >>> frame_of(read_frame(frame)[0])
      user_id  item_id  rating
    0       a        7     3.0
    1       b        7     5.0
    """
    columns = {
        "user_id": ratings.user_ids[ratings.user],
        "item_id": ratings.item_ids[ratings.item],
    }
    if ratings.feedback == "explicit":
        columns["rating"] = ratings.value
    if ratings.timestamp is not None:
        columns["timestamp"] = ratings.timestamp
    table = pd.DataFrame(columns)
    if ratings.place is not None:
        table = table.iloc[np.argsort(ratings.place)].reset_index(drop=True)
    return table
