"""The ledger of claims and errata, as it was read from the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import yaml

from recbias.places import packaged

__all__ = ["TOPICS", "Claim", "Erratum", "claims", "errata"]

TOPICS = (
    "design alternatives",
    "sparsity bias",
    "popularity bias",
    "overcoming popularity bias",
    "true vs false positive disagreement",
    "concentration metrics",
    "offline option taxonomy",
)
"""What the claims are about, a chapter each, in the order of the book."""


@dataclass(frozen=True)
class Claim:
    """One claim of a paper.

    Attributes
    ----------
    id
        E.g. ``"BCC17-F2A"``.
    paper, where
        The paper's code, and the section, figure, table or equation.
    kind
        ``"definition"`` (an option or record that exists), ``"theorem"`` (an identity or bound,
        checked) or ``"empirical"`` (only a measurement can tell).
    topic
        One of :data:`TOPICS`.
    text
        The claim, in our words.
    criterion
        When it counts as reproduced.
    values
        Published values by name; empty if none was printed or could be read.
    trap
        Where a plausible implementation goes wrong.
    """

    id: str
    paper: str
    where: str
    kind: Literal["definition", "theorem", "empirical"]
    topic: str
    text: str
    criterion: str
    values: Mapping[str, str] = field(hash=False)
    trap: str

    @property
    def published(self) -> str:
        """The published values in one line; empty if there are none."""
        if any(" | " in value for value in self.values.values()):
            return f"a table of {len(self.values)} rows"
        return "; ".join(
            f"{name}: {value}" if name else value for name, value in self.values.items()
        )


@dataclass(frozen=True)
class Erratum:
    """A misprint, gap or doubtful statement of a paper, with how it was established."""

    id: str
    paper: str
    where: str
    what: str
    status: str
    evidence: str


@cache
def _document() -> dict[str, Any]:
    with packaged("published/claims.yaml").open(encoding="utf-8") as file:
        return yaml.safe_load(file)


@cache
def claims() -> tuple[Claim, ...]:
    """Read all claims of the ledger, in its order."""
    return tuple(
        Claim(
            id=entry["id"],
            paper=entry["paper"],
            where=str(entry["where"]),
            kind=entry["class"],
            topic=entry["chapter"],
            text=entry["claim"],
            criterion=entry.get("criterion", entry["check"]["expr"]),
            values=_values(entry["published"].get("values")),
            trap=entry.get("trap", ""),
        )
        for entry in _document()["claims"]
    )


@cache
def errata() -> tuple[Erratum, ...]:
    """Read all errata of the ledger, in its order."""
    return tuple(Erratum(**entry) for entry in _document()["errata"])


def _values(values: object) -> dict[str, str]:
    if isinstance(values, dict):
        return {str(name): str(value) for name, value in values.items()}
    return {"": str(values)} if values else {}
