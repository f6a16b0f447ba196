"""What chapter 3 is called, and which protocols it shares."""

from __future__ import annotations

from recbias.data.ratings import exact

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


def protocols(min_rating: float) -> dict[str, str]:
    """Name the protocols of the chapter.

    Examples
    --------
    >>> protocols(5)["AR"]
    'TI-AN-AR rel>=5'
    """
    return {label: f"TI-AN-{rule} rel>={exact(min_rating)}" for label, rule in _RULES.items()}


_RULES = {"AR": "AR", "all-1R": "1R"}


def combined(cutoff: int, size: int) -> tuple[tuple[str, str], ...]:
    """List by label and metric what criteria and tables combine.

    So that its replicates are kept.
    """
    return ("AR", f"P@{cutoff}"), ("all-1R", f"P@{cutoff}|t={size}")
