"""The ledger of claims, of what the papers assert there, and of errata, as read from the papers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import yaml

from recbias._system.places import packaged
from recbias.claims.reading import NO_ASSERTION
from recbias.data.datasets import registry
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.store import digest

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

NEEDS: Mapping[str, str] = {
    "timestamps": "no timestamps",
    "stars": "merged stars",
    "negatives": "no negatives",
    "unbiased": "no unbiased part",
    "all positive": "dataset not here",
    "pool": "pool too small",
}
"""What a claim may need of data, and why data that lack it cannot test the claim.

Whether there is a pool, the results tell, and not the registry: `recbias.claims.judging`."""

UNCHECKED = (
    "about practice",
    "a cause without a test",
    "value lost",
    "other data",
    "presentation",
)
"""The only reasons why an assertion is no part of a verdict; ``asserts.yaml`` explains them."""

CLASSES = ("definition", "theorem", "empirical")

ASSERTION_KINDS = ("measurable", "definition", "identity", "cause")

_CORE = ("core", "disputed", "scope")

SCOPES = ("data", "general", "both")
"""What a claim is about: one named data set, more than that, or more and shown on named data."""


@dataclass(frozen=True)
class Assertion:
    """One sentence that a paper prints, in our words and with its errors.

    Attributes
    ----------
    number
        From 1 within its entry; with the entry's id it names the assertion, ``BCC17-F2A #5``.
    text
        What is asserted.
    kind
        ``"measurable"``, ``"definition"``, ``"identity"`` or ``"cause"``.
    unchecked
        Why nothing here can decide it, one of :data:`UNCHECKED`; empty where something can.
    """

    number: int
    text: str
    kind: Literal["measurable", "definition", "identity", "cause"]
    unchecked: str = ""


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
        A criterion in words, as it was proposed or in force before criteria were records; those in
        force are read by `recbias.claims.records.criteria_of`.
    values
        Published values by name; empty if none was printed or could be read.
    trap
        Where a plausible implementation goes wrong.
    asserts
        What the paper says there, of which the claim is a summary; empty where the paper is not at
        hand or says nothing.
    core, disputed
        Numbers of the assertions without which its message would be false, as two coders marked
        them who knew no result; and of those that one of them marked alone. Without assertions
        both are empty, and every part is of the core.
    scope
        One of :data:`SCOPES`, by the same coders.
    settings
        Conditions of the published result; empty where the entry has none of its own.
    note
        What a reader should know of the text: qualifiers, what is not stated or cannot be read.
    needs
        What the data must have: names of :data:`NEEDS`.
    only
        The data sets that the claim is about, by their names in the registry; empty where any
        may test it.
    simulation
        Whether the criterion is about simulated worlds, so that it belongs to no data set.
    pilot_seen
        Whether results of ours had been seen before the criterion was written.
    paper_at_hand
        Whether we could read the paper.
    own
        Whether the entry states what we say of the paper, an erratum, and no claim of its authors.
    values_of
        The data sets that `values` are of, where neither their names nor the text say so.
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
    asserts: tuple[Assertion, ...] = ()
    core: tuple[int, ...] = ()
    disputed: tuple[int, ...] = ()
    scope: Literal["data", "general", "both"] = "general"
    settings: str = ""
    note: str = ""
    needs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    simulation: bool = False
    pilot_seen: bool = False
    paper_at_hand: bool = True
    own: bool = False
    values_of: tuple[str, ...] = ()

    @property
    def counts_as(self) -> str:
        """Where totals count it: under its class, or apart as :data:`NO_ASSERTION`."""
        return self.kind if self.asserts else NO_ASSERTION

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


def parse_yaml(text: str) -> Any:
    """Read YAML by the safe parser in C, ten times faster, or the other where it was not built."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text).get_single_data()


@cache
def _document(name: str) -> dict[str, Any]:
    return parse_yaml(packaged(f"published/{name}").read_text(encoding="utf-8"))


@cache
def claims() -> tuple[Claim, ...]:
    """Read all claims of the ledger, in its order."""
    core = _document("core.yaml")
    check_core(core, packaged("published/criteria/core.lock").read_text(encoding="utf-8").strip())
    return read_claims(_document("claims.yaml")["claims"], _document("asserts.yaml"), core)


def core_digest(core: Mapping[str, Mapping[str, Any]]) -> str:
    """Digest which assertions are core, and the scopes: the order of the entries is the same.

    Examples
    --------
    >>> one = {"A": {"core": [1, 2], "scope": "data"}, "B": {"core": [1], "scope": "data"}}
    >>> core_digest(one) == core_digest(dict(reversed(one.items())))
    True
    >>> core_digest(one) == core_digest({**one, "A": {"core": [1], "scope": "data"}})
    False
    """
    return digest(core)


def check_core(core: Mapping[str, Mapping[str, Any]], locked: str) -> None:
    """Compare the core assertions with those that were locked before any verdict by them."""
    if core_digest(core) != locked:
        raise ConfigError(
            "core.yaml: which assertions are core was changed after it was locked\n"
            "put it back: it was coded from the papers by readers who knew no result"
        )


def read_claims(
    entries: Iterable[Mapping[str, Any]],
    asserted: Mapping[str, Mapping[str, Any]],
    core: Mapping[str, Mapping[str, Any]],
) -> tuple[Claim, ...]:
    """Make claims of the ledger's entries, and hold them to its closed lists."""
    by_id: dict[str, Claim] = {}
    known_data = tuple(registry())
    for entry in entries:
        where = entry["id"]
        if where in by_id:
            raise ConfigError(f"claims.yaml: {where} is there twice\ngive one of them another id")
        if where not in asserted:
            raise ConfigError(
                f"asserts.yaml: {where} of claims.yaml is missing\n"
                "add it, with 'asserts: {}' if its paper says nothing there"
            )
        if where not in core:
            raise ConfigError(
                f"core.yaml: {where} of claims.yaml is missing\n"
                "add it, with 'core: []' if it has no assertions"
            )
        asserts = _assertions(asserted[where]["asserts"], where)
        by_id[where] = Claim(
            id=where,
            paper=entry["paper"],
            where=str(entry["where"]),
            kind=_of("class", entry["class"], CLASSES, where),
            topic=_of("chapter topic", entry["chapter"], TOPICS, where),
            text=entry["claim"],
            criterion=entry.get("criterion", entry["check"]["expr"]),
            values=_values(entry["published"].get("values")),
            trap=entry.get("trap", ""),
            asserts=asserts,
            **_core(core[where], len(asserts), where),
            settings=entry.get("settings", ""),
            note=asserted[where].get("note", ""),
            needs=tuple(_of("need", need, NEEDS, where) for need in entry.get("needs", ())),
            only=tuple(_of("dataset", name, known_data, where) for name in entry.get("only", ())),
            simulation=_flag("simulation", entry, default=False),
            pilot_seen=_flag("pilot_seen", entry, default=False),
            paper_at_hand=_flag("paper_at_hand", entry, default=True),
            own=entry["kind"] == "erratum",
            values_of=tuple(
                _of("dataset", name, known_data, where) for name in entry["published"].get("of", ())
            ),
        )
    for file, named in {"asserts.yaml": asserted, "core.yaml": core}.items():
        if unclaimed := sorted(set(named) - set(by_id)):
            raise ConfigError(
                f"{file}: no entry of claims.yaml is named {', '.join(unclaimed)}\n"
                "name the entry as there, or add it there"
            )
    return tuple(by_id.values())


def _assertions(rows: Mapping[int, Mapping[str, str]], where: str) -> tuple[Assertion, ...]:
    if list(rows) != list(range(1, len(rows) + 1)):
        raise ConfigError(
            f"asserts.yaml: {where}: assertions are numbered {', '.join(map(str, rows))}\n"
            f"number them 1 to {len(rows)}, in this order"
        )
    made = []
    for number, row in rows.items():
        address = f"{where} #{number}"
        unchecked = row.get("unchecked", "")
        if unchecked:
            _of("reason", unchecked, UNCHECKED, address)
        kind = _of("kind of assertion", row["kind"], ASSERTION_KINDS, address)
        made.append(Assertion(number, row["text"], kind, unchecked))
    return tuple(made)


def _core(entry: Mapping[str, Any], n_assertions: int, where: str) -> dict[str, Any]:
    if strangers := sorted(set(entry) - set(_CORE)):
        raise ConfigError(f"core.yaml: {where}: {unknown_name('field', strangers[0], _CORE)}")
    core, disputed = entry["core"], entry.get("disputed", [])
    for number in (*core, *disputed):
        if number not in range(1, n_assertions + 1):
            raise ConfigError(
                f"core.yaml: {where}: it has no assertion {number}\nname some of its {n_assertions}"
            )
    if both := sorted(set(core) & set(disputed)):
        raise ConfigError(f"core.yaml: {where}: {both[0]} is core and disputed\nwrite it once")
    if n_assertions and not core:
        raise ConfigError(
            f"core.yaml: {where}: none of its {n_assertions} assertions is core\n"
            "name those without which its message would be false"
        )
    scope = _of("scope", entry["scope"], SCOPES, where)
    return {"core": tuple(core), "disputed": tuple(disputed), "scope": scope}


def _of(what: str, name: str, known: Iterable[str], where: str) -> Any:
    """Return a name of a closed list; any other is an error that says where it stands."""
    names = tuple(known)
    if name not in names:
        raise ConfigError(f"{where}: {unknown_name(what, str(name), names)}")
    return name


def _flag(name: str, entry: Mapping[str, Any], *, default: bool) -> bool:
    value = entry.get(name, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{entry['id']}: {name} is {value!r}\nwrite true or false")
    return value


def titles() -> Mapping[str, str]:
    """Give the papers of the ledger with authors, year and venue.

    Examples
    --------
    >>> titles()["MCCRS20"]
    'Mena-Maldonado et al. 2020 (SIGIR)'
    """
    papers: Mapping[str, str] = _document("claims.yaml")["meta"]["papers"]
    return papers


@cache
def errata() -> tuple[Erratum, ...]:
    """Read all errata of the ledger, in its order."""
    return tuple(Erratum(**entry) for entry in _document("claims.yaml")["errata"])


def _values(values: object) -> dict[str, str]:
    if isinstance(values, dict):
        return {str(name): str(value) for name, value in values.items()}
    return {"": str(values)} if values else {}
