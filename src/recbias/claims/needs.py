"""Which claims a data set can test, told before anything is computed.

The ledger says what a claim needs; a record of its criterion may need more.
"""

from __future__ import annotations

from collections.abc import Iterable

from recbias.claims.ledger import NEEDS, Claim
from recbias.claims.records import Record


def missing_need(claim: Claim | Record, dataset: str, lacks: Iterable[str]) -> str | None:
    """Tell why a data set cannot test a claim, or a record of its criterion.

    Examples
    --------
    >>> from recbias.claims import claims
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> missing_need(by_id["BCC17-F2B"], "ml-1m", [])
    'dataset not here'
    >>> missing_need(by_id["TOIS21-TIME"], "filmtrust", ["no timestamps"])
    'no timestamps'
    >>> missing_need(by_id["BCC17-F9-BPLFM"], "lastfm-1k", ["no negatives"]) is None
    True
    """
    if claim.only and dataset not in claim.only:
        return "dataset not here"
    lacking = set(lacks)
    missing = (need for need in NEEDS if need in claim.needs and _is_missing(need, lacking))
    return next((NEEDS[need] for need in missing), None)


def _is_missing(need: str, lacks: set[str]) -> bool:
    if need == "all positive":  # met by what other claims miss
        return NEEDS["negatives"] not in lacks
    return NEEDS[need] in lacks
