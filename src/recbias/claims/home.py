"""Where a claim is at home: the data sets that its published result is about.

Two questions are asked of a claim, and not mixed: is it reproduced, on the paper's data; and does
it generalise, to other data? The rule reads the ledger alone, and no result of ours. What follows
from it stands in ``data/published/home.yaml``, which was committed before any total by it was
computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from recbias.claims.ledger import Claim, claims
from recbias.claims.reading import NOT_AT_HAND
from recbias.claims.records import Record, criteria_of
from recbias.experiment.results import SIMULATIONS

NO_DATA = "no data"
"""What is said of a claim that hangs on none."""

_CALLED = {
    "ml-1m": r"ML-1M|MovieLens|\bML\b(?!-)",
    "ml-100k": r"ML-100k",
    "ml-latest-small": r"ML-latest-small",
    "filmtrust": r"FilmTrust",
    "cm100k": r"CM100k",
    "yahoo-r3": r"Yahoo",
    "lastfm-1k": r"Last\.fm",
    "netflix": r"Netflix",
}
"""What the ledger calls the data sets of the papers; MovieLens alone is the one with 1M ratings."""

_DATA_OF = {
    "BCC17": "BCC17-SETUP",
    "MCCRS20": "MCCRS20-T2",
    "CCM20": "CCM20-T1",
    "ATM15": "ATM15-SETUP",
}
"""By paper, the entry that says which data it uses; of TOIS21 we could read no such place."""


def named_data(claim: Claim) -> tuple[str, ...]:
    """Name the data sets of a claim's published result, whether or not they are at hand.

    They are, by the first of these that names any: ``only``; the entry's ``settings``; the claim
    itself, where it stands and its published values; what its paper says of its data in general.

    Examples
    --------
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> [named_data(by_id[name]) for name in ("BCC17-F2A", "BCC17-F2B", "BCC17-C-OTHER")]
    [('ml-1m',), ('lastfm-1k',), ('ml-1m', 'lastfm-1k')]
    """
    if named := _own_data(claim):
        return named
    stated = next((entry for entry in claims() if entry.id == _DATA_OF.get(claim.paper)), None)
    if stated is None:
        return ()
    return _own_data(stated) or _called(assertion.text for assertion in stated.asserts)


def _own_data(claim: Claim) -> tuple[str, ...]:
    if claim.only:
        return claim.only
    words = (claim.text, claim.where, *claim.values, *claim.values.values())
    return _called([claim.settings]) or _called(words)


def _called(texts: Iterable[str]) -> tuple[str, ...]:
    """Name the data sets that texts call by name."""
    words = "\n".join(texts)
    return tuple(name for name, pattern in _CALLED.items() if re.search(pattern, words))


def printed_beside(claim: Claim, name: str, dataset: str) -> str:
    """Give a published value of a claim where it is of this data set, or of none; else nothing.

    What a value is of, its name says, else ``published: of`` of the entry, else the claim, else
    what `named_data` finds.

    Examples
    --------
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> [printed_beside(by_id["BCC17-F2A"], "Pop", data) for data in ("ml-1m", "cm100k")]
    ['0.08', '']
    """
    if not name or claim.simulation:
        return claim.values.get(name, "") if name else ""
    own = claim.values_of or _called([claim.text, claim.where])
    named = _called([name]) or own or named_data(claim)
    of_it = not named or any(dataset == each or dataset.startswith(f"{each}-") for each in named)
    return claim.values.get(name, "") if of_it else ""


def hangs_on_no_data(claim: Claim) -> bool:
    """Tell whether a claim is the same on any data: it counts once, apart from both questions.

    So are claims about simulated worlds; those whose criterion reads simulations alone; and
    theorems and definitions of which checks, or nothing, are all that decides: what follows by
    reasoning, or exists as an option, does so on any data, and each edition checks it to notice
    defects.

    Examples
    --------
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> [hangs_on_no_data(by_id[name]) for name in ("MCCRS20-C4", "BCC17-EQ1", "BCC17-F2A")]
    [True, True, False]
    """
    if claim.simulation:
        return True
    criterion = criteria_of(claim.topic).get(claim.id)
    records = [record for record in criterion.records if record.decides] if criterion else []
    by_reason = claim.kind != "empirical"
    return (bool(records) or by_reason) and all(
        _reads_simulations_only(record) or (by_reason and bool(record.check)) for record in records
    )


def _reads_simulations_only(record: Record) -> bool:
    return {edition for edition, _ in record.reads} == {SIMULATIONS}


def home(claim: Claim, at_hand: Iterable[str]) -> tuple[str, ...]:
    """Name the data sets on which a claim is judged as reproduced, of those that are at hand.

    What hangs on no data is at home on all of them, so that a defect on any is seen.

    Examples
    --------
    >>> by_id = {claim.id: claim for claim in claims()}
    >>> home(by_id["BCC17-C-OTHER"], ["coat", "ml-100k", "ml-1m"])
    ('ml-1m',)
    """
    if hangs_on_no_data(claim):
        return tuple(at_hand)
    named = named_data(claim)
    return tuple(name for name in at_hand if name in named)


def homes(at_hand: Iterable[str]) -> dict[str, list[str] | str]:
    """Say of each claim where it is at home, as ``data/published/home.yaml`` does."""
    names = tuple(at_hand)
    return {
        claim.id: NO_DATA if hangs_on_no_data(claim) else list(home(claim, names)) or NOT_AT_HAND
        for claim in claims()
    }
