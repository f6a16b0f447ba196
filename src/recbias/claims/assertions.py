"""What became of each assertion of a claim's entry: judged, judged elsewhere, or why not."""

from __future__ import annotations

from recbias.claims.ledger import Claim, claims
from recbias.claims.records import criteria_of

STANDINGS = ("judged", "open", "not checkable")
"""What an assertion may be."""


def assertion_standing(claim: Claim, number: int) -> str:
    """Tell what became of an assertion.

    Examples
    --------
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> assertion_standing(by_id["BCC17-F2A"], 5), assertion_standing(by_id["BCC17-F2A"], 8)
    ('judged', 'not checkable')
    """
    criterion = criteria_of(claim.topic).get(claim.id)
    if criterion is not None:
        if any(number in record.asserts for record in criterion.records):
            return "judged"
        if other := criterion.elsewhere.get(number):
            topic = next(entry.topic for entry in claims() if entry.id == other)
            return "judged" if other in criteria_of(topic) else "open"
    return "not checkable" if claim.asserts[number - 1].unchecked else "open"


def standing(topic: str) -> dict[str, int]:
    """Count the assertions of a topic by what became of them."""
    counts = dict.fromkeys(STANDINGS, 0)
    for claim in claims():
        if claim.topic == topic:
            for number in range(1, len(claim.asserts) + 1):
                counts[assertion_standing(claim, number)] += 1
    return counts
