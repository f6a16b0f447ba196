"""What became of each assertion of a claim's entry: judged, judged elsewhere, or why not."""

from __future__ import annotations

from recbias.claims.ledger import Claim, claims
from recbias.claims.parts import BARRED
from recbias.claims.records import criteria_of

MEASURABLE = {"value lost": "value lost", "other data": "dataset not here"}
"""Reasons of what could be measured, so that it is a part that is not tested, and why it is not."""


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


def core_standing(claim: Claim) -> dict[int, str]:
    """Say of each core assertion what decides it.

    Returns
    -------
    dict of int to str
        ``part`` where a record of the claim's printed form does; ``elsewhere: CLAIM``; a reason of
        the closed list, ``unchecked: REASON``; or ``none``.
    """
    criterion = criteria_of(claim.topic).get(claim.id)
    records = criterion.records if criterion else ()
    judged = {
        number
        for record in records
        if record.decides and not record.corrects
        for number in record.asserts
    }
    found = {}
    for number in claim.core:
        other = criterion.elsewhere.get(number) if criterion else None
        reason = claim.asserts[number - 1].unchecked
        found[number] = (
            "part"
            if number in judged
            else f"elsewhere: {other}"
            if other
            else f"unchecked: {reason}"
            if reason
            else "none"
        )
    return found


def untested_core(claim: Claim) -> list[str]:
    """Say why core assertions are tested by no part on any data, as `NOT_TESTABLE` words it.

    What can be measured, and is not, forbids "yes". What is about practice, a cause or how a figure
    is drawn is no part of a verdict, and what another claim judges is judged there.

    Examples
    --------
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> untested_core(by_id["BCC17-F9-SR"]), untested_core(by_id["BCC17-C-GAMMA"])
    (['dataset not here'], [])
    """
    found = core_standing(claim).values()
    return [why for reason, why in MEASURABLE.items() if f"unchecked: {reason}" in found]


def barred_core(claim: Claim) -> str:
    """Say why nothing could decide any core assertion; empty where something might.

    Examples
    --------
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> barred_core(by_id["CCM20-C-REPORT"]), barred_core(by_id["BCC17-F2A"])
    ('about practice', '')
    """
    found = [reason.removeprefix("unchecked: ") for reason in core_standing(claim).values()]
    return found[0] if found and set(found) <= set(BARRED) else ""
