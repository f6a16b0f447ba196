"""FilmTrust: ratings of films from a site that no longer exists.

References
----------
G. Guo, J. Zhang and N. Yorke-Smith. A Novel Bayesian Similarity Measure for Recommender Systems.
IJCAI 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from recbias.data.datasets.content import Content
from recbias.data.datasets.tables import read_text
from recbias.data.ratings import Ratings, RatingScale

_COLUMNS = ("user_id", "item_id", "rating")


def read(files: Sequence[Path]) -> Content:
    """Read ``ratings.txt``: user, item, half stars up to 4; blank separated.

    User 308 rated three items twice, two of them differently. The last row of each pair is kept.

    Parameters
    ----------
    files : sequence of Path
        The one file.

    Returns
    -------
    Content
        The ratings, and a note on rows left out.

    Raises
    ------
    DataError
        If a line is not of this form.
    """
    (path,) = files
    frame = read_text(path, " ", _COLUMNS, _COLUMNS)
    ratings = Ratings.from_frame(
        frame,
        scale=RatingScale(0.5, 4, 0.5),
        name="filmtrust",
        duplicates="last",
        source=str(path),
    )
    again = len(frame) - len(ratings)
    return Content(ratings, notes=(f"{again} pairs are rated twice: the last row is kept",))
