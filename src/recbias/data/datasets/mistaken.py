"""What people take for a table of ratings and is none, recognised and named."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from recbias.data.ratings import Ratings
from recbias.errors import DataError, DataWarning

__all__ = [
    "listed",
    "refuse_matrix",
    "warn_of_comments",
    "warn_of_one_time",
    "warn_of_unread_ratings",
]

_SHOWN = 20
_LEAST_SURE = 10
"""So many columns of nothing but numbers, besides the first, are a matrix."""
_LEAST = 4
"""So few may be one, if some cells are empty: a list of ratings has no gaps."""


def listed(names: Sequence[str]) -> str:
    """List columns, not more than a person reads.

    Examples
    --------
    >>> listed(["user", "item"]), listed([str(n) for n in range(3000)])[-22:]
    ('user, item', '19, ... (3,000 in all)')
    """
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_SHOWN])}, ... ({len(names):,} in all)"


def refuse_matrix(path: Path, rows: Sequence[Sequence[str]], loaded: str) -> None:
    """Refuse a matrix with a row for each user and a column for each item.

    Parameters
    ----------
    path : Path
        The file.
    rows : sequence of sequence of str
        Some of its rows, without a header: the cells behind the user's name.
    loaded : str
        How pandas gets the whole matrix, users as its index.

    Raises
    ------
    DataError
        If the rows have 10 columns or more, or 4 and gaps, and nothing but numbers and gaps. Its
        second line has the pandas code that makes a list of ratings of the matrix; where no cell is
        empty and most are 0, these are taken for what was not rated.

    Examples
    --------
    >>> refuse_matrix(Path("list.csv"), [["7", "4", "880000000"]], "...")
    >>> refuse_matrix(Path("wide.csv"), [["5", "", "", "3"]], "pd.read_csv('w.csv', index_col=0)")
    Traceback (most recent call last):
    ...
    recbias.errors.DataError: wide.csv: this looks like a matrix with a row for each user and ...
    """
    width = min(map(len, rows), default=0)
    cells = [cell.strip() for row in rows for cell in row]
    gaps = [not cell or cell.lower() in ("nan", "na", "null") for cell in cells]
    if width < (_LEAST if any(gaps) else _LEAST_SURE):
        return
    numbers = [_number(cell) for cell, gap in zip(cells, gaps, strict=True) if not gap]
    if not numbers or None in numbers:
        return
    zeros = not any(gaps) and numbers.count(0.0) > len(numbers) / 2
    raise DataError(
        f"{path}: this looks like a matrix with a row for each user and a column for each item, "
        "expected a row for each rating\nin pandas: "
        f"{loaded}{'.replace(0, None)' if zeros else ''}.rename_axis('user_id').reset_index()"
        ".melt('user_id', var_name='item_id', value_name='rating').dropna()"
        ".to_csv('ratings_long.csv', index=False)"
    )


def warn_of_comments(ratings: Ratings, source: str) -> None:
    """Warn if a few users, fewer than one of ten, have an id that starts as a comment does.

    Warns
    -----
    DataWarning
        Naming one of them, and how many there are.
    """
    if ratings.user_ids.dtype == np.int64:
        return
    commented = [str(user) for user in ratings.user_ids if str(user).startswith(("#", "%"))]
    if 0 < len(commented) < ratings.n_users / 10:
        warnings.warn(
            f"{source}: {len(commented):,} of {ratings.n_users:,} users have an id like "
            f"{commented[0]!r}, read as it is; if these rows are comments, remove them",
            DataWarning,
            stacklevel=4,
        )


def warn_of_one_time(ratings: Ratings, column: str | None, source: str) -> None:
    """Warn if all rows have the same time, as a date that an export wrote into each.

    Warns
    -----
    DataWarning
        Naming the column and the time.
    """
    times = ratings.timestamp
    if times is not None and len(times) > 1 and times.min() == times.max():
        warnings.warn(
            f"{source}: all times in column '{column}' are the same, {times[0]}: nothing can be "
            "split by them",
            DataWarning,
            stacklevel=4,
        )


_MAY_RATE = re.compile(
    r"(?:(?:rating|score|star|grade|vote|play|listen|click|view|watch|purchase|count|quantity|weight"
    r"|like|preference|feedback|frequency|value)s?)+"
)
_NO_RATE = re.compile(r"(date|time|_at\b|name|title|url|text|^id$|[^a-z]id$|Id$)")


def warn_of_unread_ratings(names: Sequence[str], columns: Mapping[str, str], source: str) -> None:
    """Warn if no column is read as the rating, and one by its name may be it.

    Warns
    -----
    DataWarning
        Naming such columns, and how one is read.
    """
    unread = [name for name in names if name not in columns.values()]
    likely = [name for name in unread if _may_rate(name) and not _NO_RATE.search(name)]
    if likely:
        quoted = f"'{likely[0]}'" if re.search(r"\W", likely[0].replace("-", "")) else likely[0]
        warnings.warn(
            f"{source}: no column is read as the rating, every row counts as liked; "
            f"not read: {listed(likely)}; to read one: --rating {quoted}, to stay: --rating none",
            DataWarning,
            stacklevel=4,
        )


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def _may_rate(column: str) -> bool:
    """Tell whether a word of a name is one that counts or grades: not the 'count' of 'country'."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column)
    return any(_MAY_RATE.fullmatch(word.lower()) for word in words)
