"""The Netflix Prize: stars for films from 1998 to 2005. Its publisher has withdrawn it.

References
----------
J. Bennett and S. Lanning. The Netflix Prize. KDD Cup and Workshop 2007.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.data.datasets.content import Content
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import DataError

_FILM = re.compile(rb"([0-9]{1,9}):")
_RATING = re.compile(rb"([0-9]{1,9}),([1-5]),([0-9]{4}-[0-9]{2}-[0-9]{2})")


def read(files: Sequence[Path]) -> Content:
    """Read files with a line ``film:`` followed by lines ``customer,stars,date``.

    Parameters
    ----------
    files : sequence of Path
        The ``mv_*.txt`` of the publisher, one per film, or ``combined_data_1.txt`` to ``4``.

    Returns
    -------
    Content
        The ratings; times are the days.

    Raises
    ------
    DataError
        If a line is neither of these, or stands before the first film.
    """
    parts = [_read(path) for path in files]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    frame = pd.DataFrame(dict(zip(("user_id", "item_id", "rating", "time"), columns, strict=True)))
    ratings = Ratings.from_frame(
        frame, timestamp="time", scale=RatingScale(1, 5, 1), name="netflix"
    )
    return Content(ratings)


def _read(path: Path) -> tuple[npt.NDArray[Any], ...]:
    """Return customers, films, stars and times, compact: there are a hundred million of each."""
    customers, stars, days = array("i"), array("b"), array("i")
    films, sizes = array("i"), array("i")
    known_days: dict[bytes, int] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.rstrip(b"\r\n")
            if (match := _RATING.fullmatch(text)) and sizes:
                customer, star, day = match.groups()
                if day not in known_days:
                    known_days[day] = _day(day, path, number)
                customers.append(int(customer))
                stars.append(int(star))
                days.append(known_days[day])
                sizes[-1] += 1
            elif match := _FILM.fullmatch(text):
                films.append(int(match[1]))
                sizes.append(0)
            else:
                raise DataError(
                    f"{path}:{number}: {text[:80].decode(errors='replace')!r}\n"
                    "expected 'FILM:', then lines 'CUSTOMER,STARS,YYYY-MM-DD'"
                )
    times = np.array(days, dtype=np.int64) * 86_400
    return np.array(customers), np.repeat(films, sizes), np.array(stars), times


def _day(text: bytes, path: Path, number: int) -> int:
    try:
        return int(np.datetime64(text.decode(), "D").astype(np.int64))
    except ValueError:
        raise DataError(f"{path}:{number}: there is no day {text.decode()}") from None
