"""The lock on criteria: a changed criterion fails the build until the old one is quoted.

``data/published/criteria/lock.json`` holds, for each claim with a criterion, the digest of every
criterion that it has had, the oldest first. The last belongs to the one in force; each earlier one
to an entry under ``replaced`` that quotes it word for word, with date, reason and both verdicts.
In November 2026 criteria were written anew as expressions that give the same values, intervals and
verdicts on all recorded data sets: such an entry has the digest of either form, the old one as
``translates``.

Locked are what is measured, the region, and what record and claim need of data. Not under the lock
are the wording of sentences, units, and ``elsewhere``: the history of the repository shows changes
of those. What functions of the chapters compute is held by golden values
(``tests/golden_functions.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from recbias._system.places import packaged
from recbias.claims.expressions import parse
from recbias.claims.ledger import TOPICS, claims
from recbias.claims.records import ClaimCriterion, criteria_of
from recbias.errors import ConfigError
from recbias.experiment.store import digest, write_atomically

Quoted = str | Sequence[Mapping[str, Any]] | Mapping[str, Any]
"""A criterion as a file quotes it."""
Locked = Sequence[str | Mapping[str, str]]
"""Digests of the criteria that a claim has had."""

_WORDING = ("finds", "if_none", "says", "published", "unit")


def lock_file() -> Path:
    """Name the file of the lock."""
    return packaged("published/criteria/lock.json")


def criterion_digest(was: Quoted, data: Mapping[str, Sequence[str]] | None = None) -> str:
    """Digest a criterion: all that decides a verdict, and not how its sentence is worded.

    Parameters
    ----------
    was
        Its records; with ``parts``, ``needs`` and ``only`` if the claim needed other data than it
        does now; or words, where it was no record yet.
    data
        What the claim needs of data, by ``needs`` and ``only``.

    Examples
    --------
    >>> record = {"finds": "{value} in all", "value": "statistic(n)", "least": 1}
    >>> one = criterion_digest([record])
    >>> one == criterion_digest([{**record, "finds": "there are {value}"}])
    True
    >>> one == criterion_digest([{**record, "value": "(statistic( n ))"}])
    True
    >>> one == criterion_digest([{**record, "least": 2}])
    False
    """
    if isinstance(was, str):
        return digest({"words": was})
    records: Any = was
    if isinstance(was, Mapping):
        records, data = was["parts"], {name: was.get(name, ()) for name in ("needs", "only")}
    kept = [{k: v for k, v in record.items() if k not in _WORDING} for record in records]
    if not all("value" in record for record in kept):  # as records were before expressions
        return digest(kept)
    for record in kept:
        record["value"] = str(parse(record["value"]))
    asked = {name: sorted(names) for name, names in (data or {}).items() if names}
    return digest({"parts": kept, **asked})


def check_locks(criteria: Mapping[str, ClaimCriterion], locks: Mapping[str, Locked]) -> None:
    """Compare criteria with their lock."""
    for claim, criterion in criteria.items():
        known = [_in_force(entry) for entry in locks.get(claim, ())]
        data = _asked_of_data().get(claim)
        quoted = [criterion_digest(old.was, data) for old in criterion.replaced]
        if not known:
            raise ConfigError(
                f"{claim}: its criterion is not locked\n"
                "commit it before its first result: recbias claims --lock"
            )
        if criterion_digest(criterion.raw, data) != known[-1]:
            raise ConfigError(
                f"{claim}: its criterion was changed after it was locked\n"
                "put it back, or quote the old one under `replaced` in data/published/criteria, "
                "with date, reason and both verdicts, and run recbias claims --lock"
            )
        if quoted != known[:-1]:
            raise ConfigError(
                f"{claim}: `replaced` quotes others than the earlier criteria that are locked "
                f"({len(known) - 1})\nquote each word for word, the oldest first"
            )
        for old in criterion.replaced:
            if not old.why.strip() or not old.verdicts:
                raise ConfigError(
                    f"{claim}: what was replaced {old.until} lacks reason or verdicts"
                )


def _in_force(entry: str | Mapping[str, str]) -> str:
    """Return the digest that an entry stands for, also of one that was translated."""
    return entry if isinstance(entry, str) else entry["digest"]


@cache
def _asked_of_data() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return {claim.id: {"needs": claim.needs, "only": claim.only} for claim in claims()}


@cache
def _locks() -> Mapping[str, Locked]:
    return json.loads(lock_file().read_text(encoding="utf-8"))


@cache
def locked_criteria(topic: str) -> Mapping[str, ClaimCriterion]:
    """Read the criteria of a topic and compare them with the lock; errors as of `check_locks`."""
    criteria = criteria_of(topic)
    check_locks(criteria, _locks() if criteria else {})
    return criteria


def digest_in_force(claim: str) -> str | None:
    """Return the digest by which a claim's criterion is locked; None if it has none."""
    known = _locks().get(claim)
    return _in_force(known[-1]) if known else None


def renewed_locks(
    criteria: Mapping[str, ClaimCriterion], locks: Mapping[str, Locked]
) -> dict[str, list[str | Mapping[str, str]]]:
    """Lock what is new, and what was changed and quotes the old one."""
    renewed = {claim: list(known) for claim, known in locks.items()}
    for claim, criterion in criteria.items():
        known = renewed.setdefault(claim, [])
        now = criterion_digest(criterion.raw, _asked_of_data().get(claim))
        if not known or _in_force(known[-1]) != now:
            known.append(now)
    check_locks(criteria, renewed)
    return dict(sorted(renewed.items()))


def unlocked() -> list[str]:
    """Name the claims whose criterion is new, or another than the locked one."""
    known = json.loads(lock_file().read_text(encoding="utf-8")) if lock_file().is_file() else {}
    found = []
    for topic in TOPICS:
        for claim, criterion in criteria_of(topic).items():
            now = criterion_digest(criterion.raw, _asked_of_data().get(claim))
            if now not in map(_in_force, known.get(claim, ())[-1:]):
                found.append(claim)
    return found


def write_locks() -> Path:
    """Renew the lock of all topics; errors as of `renewed_locks`."""
    criteria = {
        claim: criterion for topic in TOPICS for claim, criterion in criteria_of(topic).items()
    }
    path = lock_file()
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    text = json.dumps(renewed_locks(criteria, known), indent=1) + "\n"
    write_atomically(path, text.encode())
    return path
