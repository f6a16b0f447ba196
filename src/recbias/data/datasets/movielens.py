"""The MovieLens data sets, from the publisher's files and from published folds.

References
----------
F. M. Harper and J. A. Konstan. The MovieLens Datasets: History and Context. ACM TiiS 5(4), 2015.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.datasets.content import Content
from recbias.data.datasets.tables import read_ratings_text, read_text
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import DataError

_STARS = RatingScale(1, 5, 1)
_HALF_STARS = RatingScale(0.5, 5, 0.5)
_COLUMNS = ("user_id", "item_id", "rating", "timestamp")
_FOLD_CODES = {"0": 3, "1": 4, "2": 5}
MERGED_BELOW = 4
MERGED_VALUE = 2.48
"""Mean of the 56,174 ones, 107,557 twos and 261,197 threes in the publisher's ``ratings.dat``."""


def read_100k(path: Path) -> Ratings:
    """Read ``u.data`` of MovieLens 100K: user, item, stars, time; tab separated."""
    return _read(path, "ml-100k", "\t", _STARS)


def read_1m_stars(path: Path) -> Ratings:
    """Read ``ratings.dat`` of MovieLens 1M: user, item, stars, time; ``::`` separated."""
    return _read(path, "ml-1m-stars", "::", _STARS)


def read_latest_small(path: Path) -> Ratings:
    """Read ``ratings.csv`` of MovieLens latest-small: a header, half stars."""
    frame = read_text(path, ",", None, ["userId", "movieId", "rating", "timestamp"])
    return Ratings.from_frame(
        frame.set_axis(_COLUMNS, axis=1),
        timestamp="timestamp",
        scale=_HALF_STARS,
        name="ml-latest-small",
        source=str(path),
        first_line=2,
    )


def merge_1m(stars: Ratings) -> Ratings:
    """Make ``ml-1m`` from the publisher's stars.

    Parameters
    ----------
    stars : Ratings
        What `read_1m_stars` returns.

    Returns
    -------
    Ratings
        Stars 1 to 3 merged into 2.48, without the timestamps: the same as `read_1m_folds`.
    """
    merged = stars.merge_below(MERGED_BELOW, MERGED_VALUE)
    return dataclasses.replace(merged, name="ml-1m", timestamp=None)


def read_1m(files: Sequence[Path]) -> Content:
    """Read ``ml-1m`` from the folds of MCCRS20, or from the one file of the publisher."""
    if len(files) == 1:
        return Content(merge_1m(read_1m_stars(files[0])))
    ratings, folds, order = read_1m_folds(files)
    return Content(ratings, folds, row_order=order)


def read_1m_folds(
    paths: Sequence[Path],
) -> tuple[Ratings, npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Read MovieLens 1M from the test folds that MCCRS20 published.

    Lines are user, item, code; tab separated. Code 0 is one of the stars 1 to 3, 1 is four stars,
    2 is five.

    Parameters
    ----------
    paths : sequence of Path
        The test files of folds 1, 2, ...; each pair is in one of them.

    Returns
    -------
    ratings : Ratings
        Stars 1 to 3 merged into 2.48, 4 and 5 as they are, no timestamps.
    folds : int8 array (n,)
        For each row the fold, from 0, whose test file holds it.
    order : int64 array (n,)
        For each row its place among the lines of all files, one file after the other.

    Raises
    ------
    DataError
        If a line is not of this form, or a pair occurs twice.

    References
    ----------
    MCCRS20, the authors' repository, ``librec-2.0.0/data/movielens1M``.
    """
    columns = _COLUMNS[:3]
    parts = [read_text(path, "\t", columns, columns) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        unknown = ~part["rating"].isin(list(_FOLD_CODES))
        if unknown.any():
            row = int(np.argmax(unknown))
            raise DataError(
                f"{path}:{row + 1}: column 'rating' has the value {part['rating'].iloc[row]!r}, "
                "expected 0, 1 or 2"
            )
    users, items, codes = (
        pd.api.types.union_categoricals([part[column] for part in parts]) for column in columns
    )
    frame = pd.DataFrame({"user_id": users, "item_id": items, "rating": codes.map(_FOLD_CODES)})
    ratings = Ratings.from_frame(frame, scale=_STARS, name="ml-1m-stars")
    # The ids are numbers, so this is the order of the rows in `ratings`.
    rows = np.lexsort(
        [pd.to_numeric(np.asarray(ids.categories))[ids.codes] for ids in (items, users)]
    )
    folds = np.repeat(np.arange(len(parts), dtype=np.int8), [len(part) for part in parts])
    return merge_1m(ratings), folds[rows], rows


def _read(path: Path, name: str, separator: str, scale: RatingScale) -> Ratings:
    return Ratings.from_frame(
        read_ratings_text(path, separator, _COLUMNS, scale),
        timestamp="timestamp",
        scale=scale,
        name=name,
        source=str(path),
    )
