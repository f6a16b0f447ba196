"""What chapter 6 is called, which systems the poster compares, and what is measured of them.

The poster states neither split, threshold, encoding, N nor lambda. One configuration is chosen
before any result is known: lists of ten items, ratings of 4 or more are liked (of FilmTrust, whose
scale ends at 4, of 3 or more), five folds, and a lambda of 0.8: the tail is the 80 % of the items
that the poster's head of 20 % leaves.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "CHAPTER",
    "CUTOFFS",
    "DATASETS",
    "LAMBDA",
    "SEVEN",
    "combined",
    "metrics",
    "protocols",
]

CHAPTER = "06_concentration"
"""Name of the notebook, and of the folder of its results."""

SEVEN: tuple[str, ...] = ("AR", "Item kNN", "User kNN", "RankSGD", "LRMF", "BPR", "WBPR")
"""The systems of the poster, as the line-up ``atm15`` names them."""

DATASETS: tuple[str, ...] = ("ml-100k", "ml-1m", "ml-latest-small", "filmtrust")
"""The data sets of the poster."""

LAMBDA = 0.8
"""The lambda of LTI, as printed and as a percentile."""

CUTOFFS: tuple[int, ...] = (5, 10, 20, 50)
"""Lengths of lists at which metrics are compared with each other."""

_DISPERSION = ("Gini", "Hoover", "Entropy", "Diversity", "Coverage")


def protocols(min_rating: float) -> dict[str, str]:
    """Name the protocol of the chapter: full lists, without training items.

    Parameters
    ----------
    min_rating
        Smallest rating that is relevant; relevant training ratings are an item's prior popularity.

    Examples
    --------
    >>> protocols(4)
    {'full': 'AI-AN-AR rel>=4 users=tested'}
    """
    return {"full": f"AI-AN-AR rel>={min_rating:g} users=tested"}


def metrics(cutoff: int, *, lam: float = LAMBDA) -> tuple[str, ...]:
    """Name all that is measured of lists of a length.

    Parameters
    ----------
    cutoff
        Length of the lists.
    lam
        The lambda of LTI.

    Returns
    -------
    tuple of str
        Accuracy, dispersion, popularity, and what compares lists with prior popularity.

    Examples
    --------
    >>> metrics(10)[-2:]
    ('LTI(0.8)@10', 'LTI(0.8)@10|percentile')
    """
    return (
        f"P@{cutoff}",
        f"nDCG@{cutoff}",
        *(f"{name}@{cutoff}" for name in _DISPERSION),
        f"ARP@{cutoff}",
        f"PL@{cutoff}",
        f"M@{cutoff}",
        f"CI@{cutoff}",
        f"CI@{cutoff}|JS",
        f"LTI({lam:g})@{cutoff}",
        f"LTI({lam:g})@{cutoff}|percentile",
    )


def combined(measured: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, str], ...]:
    """List what criteria, figures and tables combine, so that its replicates are kept: all.

    Examples
    --------
    >>> combined({"full": ("P@10", "CI@10")})
    (('full', 'P@10'), ('full', 'CI@10'))
    """
    return tuple((label, metric) for label, found in measured.items() for metric in found)
