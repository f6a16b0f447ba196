"""What chapter 3 is called, and what its figures show."""

from __future__ import annotations

CHAPTER = "03_popularity_bias"
"""Name of the notebook, and of the folder of its results."""


FIGURE_5 = ("Popularity", "pLSA", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 5 (centre), MF and kNN read as rating predictors (E25)."""


def designs(size: int) -> dict[str, str]:
    """Name the two designs of the chapter's figures, by label.

    Examples
    --------
    >>> designs(100)["1R"]
    '1 relevant + 99 sampled'
    """
    return {"AR": "all tested items", "1R": f"1 relevant + {size - 1:,} sampled"}
