"""Criteria as records: what is measured, how it is combined, and the region that a claim allows.

A criterion is data, in ``data/published/criteria``: one file per topic, and in it a list of records
for each claim, one for each assertion that is judged. From a record follow the sentence that a
reader sees, the region, what it reads, and what the data must have.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from recbias._system.places import packaged
from recbias.claims.expressions import (
    EXTREMES,
    LETTERS,
    Call,
    Expression,
    Operation,
    Term,
    parse,
    terms_of,
    walk,
)
from recbias.claims.ledger import NEEDS, parse_yaml
from recbias.claims.regions import Region, defined, rounded
from recbias.errors import ConfigError, unknown_name

UNITS = ("number", "percent", "factor", "count", "p", "violation")
"""How a value is written."""


@dataclass(frozen=True)
class Record:
    """One assertion of a claim as a criterion.

    Attributes
    ----------
    finds
        The sentence that a reader sees, formulas between dollars. Filled in are ``{value}``; where
        one of several systems is chosen, ``{which}``; and the numbers behind the value: ``{a}``,
        ``{b}`` and so on for the terms of the expression in their order, ``{least}`` and ``{most}``
        of them, ``{first}`` and ``{last}`` for what is followed along an axis, ``{cases}`` for the
        number of cases that are counted among.
    value
        What is measured: an expression (`recbias.claims.expressions`).
    if_none
        The sentence where a count or a violation is none, which has nothing to fill in.
    says
        What the paper says there, in words that end a sentence: "close behind".
    published
        Name of the claim's published value that the value stands against.
    systems
        Names, ``*`` patterns, or ``all``: what terms go over that name no system. For
        ``share_of_orders`` the order that is claimed, from the best; for ``lead`` those that are to
        be ahead.
    but
        Systems that are left out; for ``lead`` on both sides.
    exact
        Whether an identity of the values themselves is asked for, so that no interval counts.
    unit
        One of :data:`UNITS`.
    region
        Where the value has to lie.
    needs
        What the data must have, names of :data:`recbias.claims.ledger.NEEDS`.
    only
        Data sets that can decide it; any if empty.
    asserts
        Numbers of the claim's assertions that it judges, from 1.
    corrects
        Erratum that it mends: it belongs to the corrected form of the claim only.
    corrected
        Erratum that replaces it in the corrected form: it belongs to the printed form only.
    decides
        Whether it takes part in the verdict, or stands beside it.
    supports
        Whether its holding speaks for the claim. What holds on any data, or on the same other data
        in every edition, does not: it counts only where it is refuted.
    """

    finds: str
    value: str
    if_none: str = ""
    says: str = ""
    published: str = ""
    systems: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    exact: bool = False
    unit: str = "number"
    region: Region = field(default_factory=Region)
    needs: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    asserts: tuple[int, ...] = ()
    corrects: str = ""
    corrected: str = ""
    decides: bool = True
    supports: bool = True

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Record:
        """Read a record as the ledger writes it.

        Examples
        --------
        >>> record = Record.from_dict(
        ...     {
        ...         "finds": "TI covers {value} of the catalogue",
        ...         "value": "statistic(covered)",
        ...         "unit": "percent",
        ...         "least": 0.9,
        ...     }
        ... )
        >>> record.sentence(0.935)
        'TI covers 93.5 % of the catalogue; claimed: at least 90 %'
        """
        values = dict(raw)
        ends = {name: float(values.pop(name)) for name in _ENDS if name in values}
        for name in values:
            if name not in _FIELDS:
                raise unknown_name("field of a record", str(name), sorted({*_FIELDS, *_ENDS}))
        for name in ("systems", "but", "needs", "only", "asserts"):
            if name in values:
                value = values[name]
                values[name] = (
                    tuple(value)
                    if isinstance(value, Sequence | set) and not isinstance(value, str)
                    else (value,)
                )
        for name in ("exact", "decides", "supports"):
            if not isinstance(values.get(name, True), bool):
                raise ConfigError(f"{name}: {values[name]!r} is neither true nor false")
        record = cls(region=Region(**ends), **values)
        record._check(bool(ends))
        return record

    def _check(self, bounded: bool) -> None:
        for kind, name, valid in (
            ("unit", self.unit, UNITS),
            *(("need", name, NEEDS) for name in self.needs),
        ):
            if name not in valid:
                raise unknown_name(kind, name, valid)
        region = self.region
        if not max(region.least, region.above) <= min(region.most, region.below):
            raise ConfigError(f"{self.finds!r}: no number lies in its region")
        if not bounded and self.decides:
            raise ConfigError(f"{self.finds!r}: a record that decides needs a region: {_ENDS}")
        letters = LETTERS[: len(self.terms)]
        filled = self.shown
        if not filled & {"value", *letters, *_NUMBERS}:
            raise ConfigError(f"{self.finds!r}: a sentence shows its {{value}}")
        known = ("value", "which", *letters, *_NUMBERS, "cases")
        for name in sorted(filled - set(known)):
            raise ConfigError(f"{self.finds!r}: {unknown_name('number', name, known)}")
        if self.if_none and self.unit not in ("count", "violation"):
            raise ConfigError(f"{self.finds!r}: only a count or a violation can be none")
        if self.corrects and self.corrected:
            raise ConfigError(f"{self.finds!r}: a record is of the printed form or the corrected")

    @property
    def expression(self) -> Expression:
        """What is measured, as a tree."""
        return parse(self.value)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The quantities that it reads, in their order."""
        return terms_of(self.expression)

    @property
    def check(self) -> str:
        """Name of the check whose worst case it is; empty if it is none."""
        node = self.expression
        if isinstance(node, Call) and node.name == "check":
            return str(node.arguments[0]).strip('"')
        return ""

    @property
    def is_difference(self) -> bool:
        """Whether it subtracts one quantity from another, or is the extreme of such."""
        node = self.expression
        if isinstance(node, Call) and node.name in EXTREMES and len(node.arguments) == 1:
            (node,) = node.arguments
        return isinstance(node, Operation) and node.operator == "-"

    @property
    def shown(self) -> set[str]:
        """Names of what is filled into its sentence."""
        return _filled(self.finds)

    @property
    def claimed(self) -> str:
        """What the paper says, in its words as far as there are some, and the region."""
        ends = {self.region.least, self.region.most, self.region.above, self.region.below}
        if self.says and 0.0 in ends and not self.check:
            return self.says  # an end at 0 tells which is larger, as the words do
        return f"{self.says}, {self._words}" if self.says else self._words

    def finding(
        self,
        value: float,
        which: str = "",
        numbers: Mapping[str, float] | None = None,
        interval: tuple[float | None, float | None] = (None, None),
    ) -> str:
        """Write what was found.

        Examples
        --------
        >>> record = Record.from_dict(
        ...     {
        ...         "finds": "{value} runs lack an item",
        ...         "if_none": "no run lacks an item",
        ...         "value": "check(runs)",
        ...         "unit": "count",
        ...         "most": 0,
        ...     }
        ... )
        >>> record.finding(3), record.finding(0)
        ('3 runs lack an item', 'no run lacks an item')
        >>> gap = dataclasses.replace(record, finds="A is at least {value} above B", unit="number")
        >>> gap.finding(-0.5)
        'A is up to 0.5 below B'
        """
        text = rounded(value, self.unit, *interval)
        if self.if_none and text in ("0", "none"):
            return self.if_none
        finds = self.finds
        if text.startswith("-") and (turned := _turned(finds)) != finds:
            finds, text = turned, text[1:]
        texts = {name: defined(number, ".3g") for name, number in (numbers or {}).items()}
        return _fill(finds, {**texts, "value": text, "which": which})

    def sentence(
        self,
        value: float,
        which: str = "",
        numbers: Mapping[str, float] | None = None,
        interval: tuple[float | None, float | None] = (None, None),
    ) -> str:
        """Write what was found, and what was claimed."""
        finding = self.finding(value, which, numbers, interval)
        return f"{finding}; claimed: {self.says or self._words}" if self.decides else finding

    @property
    def _words(self) -> str:
        return self.region.words(self.unit)

    @property
    def asked(self) -> str:
        """What is asked, with a letter for each value: $X$ is a system, $x$ what is measured.

        Examples
        --------
        >>> record = Record.from_dict(
        ...     {
        ...         "finds": "P of ALS is {a}, that of Random {b}, {value} more",
        ...         "value": "P[AR] of ALS - P[AR] of Random",
        ...         "above": 0,
        ...     }
        ... )
        >>> record.asked
        'P of ALS is $y$, that of Random $z$, $x$ more; claimed: more than 0'
        """
        others = sorted(_filled(self.finds) - {"value", "which"}, key=self.finds.index)
        letters = {"which": "X", "value": "x", **dict(zip(others, "yzuvwst", strict=False))}
        finding = _fill(self.finds, {name: f"${letter}$" for name, letter in letters.items()})
        return f"{finding}; claimed: {self._words}" if self.decides else finding

    @property
    def reads(self) -> tuple[tuple[str, str], ...]:
        """Edition (empty for the one that is judged) and name of each table that it reads."""
        tables = [(term.edition or "", term.stored) for term in self.terms]
        calls = (node.name for node in walk(self.expression) if isinstance(node, Call))
        if not {"check", "statistic"}.isdisjoint(calls):
            tables.append(("", "checks"))
        return tuple(dict.fromkeys(tables))


_GAP = re.compile(r"\$[^$]*\$|\{(\w+)\}")  # formulas have braces of their own


_OF_NEGATIVE: Mapping[str, str] = {
    "at least {value} above": "up to {value} below",
    "{value} above": "{value} below",
    "rises by {value} more": "rises by {value} less",
    "rises by at least {value}": "falls by up to {value}",
    "falls by at least {value}": "rises by up to {value}",
    "rises by {value}": "falls by {value}",
    "falls by {value}": "rises by {value}",
    "by {value} towards": "by {value} away from",
    "loses at least {value} more": "loses up to {value} less",
}
"""What is said of a value below 0 instead of its sign behind a word of direction."""


def _turned(finds: str) -> str:
    """Turn the first word of direction before a value, if there is one."""
    for word, other in _OF_NEGATIVE.items():
        if word in finds:
            return finds.replace(word, other)
    return finds


def _filled(sentence: str) -> set[str]:
    """Name what is to be filled into a sentence."""
    return {gap[1] for gap in _GAP.finditer(sentence) if gap[1]}


def _fill(sentence: str, texts: Mapping[str, str]) -> str:
    """Fill a sentence, with dots for what is not known."""
    return _GAP.sub(lambda gap: texts.get(gap[1], "...") if gap[1] else gap[0], sentence)


_ENDS = ("least", "most", "above", "below")
_NUMBERS = ("least", "most", "first", "last")
_FIELDS = {declared_field.name for declared_field in dataclasses.fields(Record)} - {"region"}


@dataclass(frozen=True)
class Replaced:
    """A criterion that was replaced after its first result, word for word.

    Attributes
    ----------
    until
        Date of the change.
    why
        The reason.
    was
        The old records, or the old words where a criterion was no record yet.
    verdicts
        By data set the verdict by the old criterion, and by the one that followed it.
    """

    until: str
    why: str
    was: Any
    verdicts: Mapping[str, tuple[str, str]] = field(hash=False)

    @property
    def words(self) -> str:
        """What it asked, in a sentence or more."""
        if isinstance(self.was, str):
            return self.was
        records = self.was["parts"] if isinstance(self.was, Mapping) else self.was
        return ". ".join(_asked(entry) for entry in records)


def _asked(quoted: Mapping[str, Any]) -> str:
    """Say what a record asked, also one from before expressions: its words suffice for that."""
    ends = {name: float(quoted[name]) for name in _ENDS if name in quoted}
    worded = {name: quoted[name] for name in ("finds", "unit", "decides") if name in quoted}
    return Record(value="0", region=Region(**ends), **worded).asked


@dataclass(frozen=True)
class ClaimCriterion:
    """How a claim is judged.

    Attributes
    ----------
    claim
        Id in the ledger.
    records
        In the order of the card.
    elsewhere
        Assertions of the entry that another claim judges, with its id.
    replaced
        Earlier criteria, the oldest first.
    raw
        The records as the file has them, for the lock; those with ``for`` written out.
    """

    claim: str
    records: tuple[Record, ...]
    elsewhere: Mapping[int, str] = field(default_factory=dict, hash=False)
    replaced: tuple[Replaced, ...] = ()
    raw: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    @property
    def reads(self) -> tuple[tuple[str, str], ...]:
        """What all its records read."""
        return tuple(dict.fromkeys(table for record in self.records for table in record.reads))


_PLACEHOLDER = re.compile(r"<([A-Za-z]\w*)>")


def written_out(raw: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Write a record once for each entry of its field ``for``.

    What an entry calls by the name of a field is set in the record; other names stand as
    ``<name>`` in its texts.

    Examples
    --------
    >>> record = {"value": 'P[AR] of "<mf>"', "least": 0, "for": [
    ...     {"mf": "MF", "corrected": "E12"}, {"mf": "MF (ranking)", "corrects": "E12"}]}
    >>> for each in written_out(record):
    ...     print(each)
    {'value': 'P[AR] of "MF"', 'least': 0, 'corrected': 'E12'}
    {'value': 'P[AR] of "MF (ranking)"', 'least': 0, 'corrects': 'E12'}
    """
    if "for" not in raw:
        yield raw
        return
    common = {name: value for name, value in raw.items() if name != "for"}
    entries = raw["for"]
    if not (isinstance(entries, list) and entries and all(isinstance(e, dict) for e in entries)):
        raise ConfigError("`for` lists entries, one for each time that the record is written")
    for entry in entries:
        own = {name: value for name, value in entry.items() if name in {*_FIELDS, *_ENDS}}
        names = {str(name): str(value) for name, value in entry.items() if name not in own}
        if twice := sorted(own.keys() & common.keys()):
            raise ConfigError(f"{', '.join(twice)}: in a record and under its `for`")
        used: set[str] = set()
        written = _with_names(common | own, names, used)
        for name in sorted(names.keys() - used):
            raise ConfigError(f"`for` gives {name!r}: no field of a record, nor <{name}> in a text")
        yield written


def _with_names(value: Any, names: Mapping[str, str], used: set[str]) -> Any:
    """Put names in their places in all texts of a record, and tell which were used."""
    if isinstance(value, str):
        for name in _PLACEHOLDER.findall(value):
            if name not in names:
                raise ConfigError(f"<{name}> in {value!r}: an entry of `for` does not give it")
            used.add(name)
        return _PLACEHOLDER.sub(lambda place: names[place[1]], value)
    if isinstance(value, Mapping):
        return {field_name: _with_names(each, names, used) for field_name, each in value.items()}
    if isinstance(value, list):
        return [_with_names(each, names, used) for each in value]
    return value


def _quoted(was: Any) -> Any:
    """Write out the records of an earlier criterion; words stay as they are."""
    if isinstance(was, str):
        return was
    if isinstance(was, Mapping):
        return {**was, "parts": _quoted(was["parts"])}
    return [each for old in was for each in written_out(old)]


def read_criteria(text: str, source: str) -> dict[str, ClaimCriterion]:
    """Read a file of criteria.

    Where a record has a field ``for``, it is written once for each entry of this list, such as for
    the printed and the corrected form: what an entry calls by the name of a field (``corrects``,
    ``asserts``, ``least``) is set in the record, and each other name replaces ``<name>`` in all of
    its texts.

    Raises
    ------
    ConfigError
        If it is no file of criteria, with the claim.
    """
    criteria = {}
    for claim, entry in (parse_yaml(text) or {}).items():
        try:
            if strangers := set(entry) - {"parts", "elsewhere", "replaced"}:
                raise ConfigError(f"unknown entries {sorted(strangers)}")
            raw = tuple(each for part in entry["parts"] for each in written_out(part))
            criteria[claim] = ClaimCriterion(
                claim,
                tuple(map(Record.from_dict, raw)),
                {int(number): str(other) for number, other in entry.get("elsewhere", {}).items()},
                tuple(
                    Replaced(
                        str(old["until"]),
                        old["why"],
                        _quoted(old["was"]),
                        {name: (str(a), str(b)) for name, (a, b) in old["verdicts"].items()},
                    )
                    for old in entry.get("replaced", ())
                ),
                raw,
            )
        except (ConfigError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"{source}: {claim}: {error}") from error
    return criteria


@cache
def criteria_of(topic: str) -> Mapping[str, ClaimCriterion]:
    """Read the criteria of a topic; empty if none is written yet."""
    file = packaged(f"published/criteria/{topic.replace(' ', '_')}.yaml")
    if not file.is_file():
        return {}
    return read_criteria(file.read_text(encoding="utf-8"), file.name)
