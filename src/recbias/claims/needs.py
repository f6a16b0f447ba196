"""Which claims a data set can test, told before anything is computed.

Each claim below needs something that a data set may lack. A criterion may find out more; it raises
`NotTestable` then, with a reason of the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recbias.claims.ledger import Claim

__all__ = ["NEEDS", "missing_need"]

_DISLIKED = (
    *("BCC17-C-RTEST", "BCC17-F7", "BCC17-F9-BP", "BCC17-C-SATUR", "BCC17-F8-RES"),
    *("MCCRS20-F1-TL", "MCCRS20-F1-TR", "MCCRS20-F1-BL", "MCCRS20-F1-BR", "MCCRS20-C-MAR"),
    *("MCCRS20-C2", "MCCRS20-T1", "MCCRS20-C3", "MCCRS20-F3", "MCCRS20-F4", "MCCRS20-F5A-ML"),
    *("MCCRS20-F5A-YA", "MCCRS20-F5A-CM", "MCCRS20-F5B-YA", "MCCRS20-F5B-CM", "MCCRS20-C4"),
    *("MCCRS20-C5", "MCCRS20-C-WHICH", "MCCRS20-C-BOUND", "MCCRS20-C-FLIP", "MCCRS20-C-WRMF"),
    *("MCCRS20-F6-P", "MCCRS20-F6-antiP", "MCCRS20-F6-RF", "MCCRS20-C-CONDLOSS"),
    *("TOIS21-F9", "TOIS21-C-OPT", "TOIS21-SYN", "TOIS21-F17", "TOIS21-TIME"),
    *("CCM20-T3", "CCM20-T3-NS", "CCM20-C-TAURBO", "CCM20-F7-AVG", "CCM20-F4"),
)

NEEDS: Mapping[str, tuple[str, ...]] = {
    "no timestamps": ("TOIS21-TIME",),
    "merged stars": ("BCC17-C-THR", "CCM20-T3", "CCM20-T3-NS", "CCM20-C-TAURBO", "CCM20-F7-AVG"),
    "no negatives": _DISLIKED,
    "no unbiased part": (
        *("MCCRS20-F5B-YA", "MCCRS20-F5B-CM", "MCCRS20-C5", "MCCRS20-C-WHICH", "MCCRS20-F6-P"),
        *("MCCRS20-F6-antiP", "MCCRS20-F6-RF", "TOIS21-F9", "TOIS21-C-OPT"),
    ),
}
"""Claims that cannot be tested, by what a data set lacks."""

_OF_DATASETS: Mapping[str, str] = {
    "BCC17-F2B": "lastfm-1k",
    "BCC17-F8-LFM": "lastfm-1k",
    "MCCRS20-F5A-YA": "yahoo-r3",
    "MCCRS20-F5B-YA": "yahoo-r3",
    "MCCRS20-C-WRMF": "yahoo-r3",
    "MCCRS20-F5A-CM": "cm100k",
    "MCCRS20-F5B-CM": "cm100k",
    "CCM20-F6C": "netflix",
    "CCM20-F6R": "netflix",
}
"""Claims about one data set, which no other can test."""


def missing_need(claim: Claim, dataset: str, lacks: Iterable[str]) -> str | None:
    """Tell why a data set cannot test a claim.

    Parameters
    ----------
    claim
        A claim of the ledger.
    dataset
        Name of the data set.
    lacks
        What it lacks: reasons of `recbias.claims.NOT_TESTABLE`, as in `DatasetInfo.cannot_test`.

    Returns
    -------
    str or None
        A reason of that list; None if nothing is known against it.
    """
    if _OF_DATASETS.get(claim.id, dataset) != dataset:
        return "dataset not here"
    return next((reason for reason in lacks if claim.id in NEEDS.get(reason, ())), None)
