"""Sentences that follow verdicts: what a page says where a part holds, and where it is refuted.

A sentence that data decide is written as a block in a Markdown cell; the part that it states stands
first, then one form for each verdict::

    :::{finding} BCC17-C-RANGE/1
    holds: For Popularity the largest value is {value} the smallest,
      more than most changes of a model bring.
    refuted: For Popularity the largest value is only {value} the smallest.
    open: -
    :::

Where the form is a dash, or there is no verdict on the data, the sentence is left out. A block
without any form says what the record says itself, which its card and the title of its figure
(`said`) say too::

    :::{finding} BCC17-C-RANGE/1
    :::

A cell of the page hands over what was found (`state`); when the page is written,
`resolve_findings` puts the sentences into its text. They may change without a new run.

Beside the parts of claims there are findings of this book, which no paper asserts: records like
those of criteria, in ``data/findings``, one file per topic. They decide no verdict on a claim.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from typing import Any

from recbias._system.places import packaged
from recbias.book.html import badge, plain, table_html, typeset
from recbias.claims.judging import Verdict, find_parts, judge, judge_chapter, load_chapter
from recbias.claims.ledger import TOPICS, claims, parse_yaml
from recbias.claims.parts import ChapterResults, Part
from recbias.claims.records import Record, criteria_of
from recbias.claims.regions import rounded
from recbias.claims.topics import find_page
from recbias.errors import ConfigError, unknown_name
from recbias.experiment.results import Quantity

Where = Callable[[int], str]
"""Names the place of a line of a text, counted from 0."""

_PART_VERDICTS = ("holds", "refuted", "open")
_CLAIM_VERDICTS = ("yes", "no", "partly", "undecided")
_DECIDED_BY = {"yes": "holds", "no": "refuted", "partly": "refuted", "undecided": "open"}
_BLOCK = re.compile(
    r"(?P<indent>\s*)(?P<item>(?:[-*+]|\d+[.)]) +)?(?P<fence>:{3,}|`{3,})\{finding\} *(?P<name>.*)"
)
_FORM = re.compile(r"(?P<verdict>\w+):(?: +(?P<text>\S.*))?")
_FENCE = re.compile(r"\s*(?P<fence>:{3,}|`{3,}|~{3,})(?:\{(?P<name>[^}]+)\})?")
_VERBATIM = ("code", "code-block", "math", "raw")
_BLANK = re.compile(r"\{(?P<name>\w+)(?::(?P<form>[^{}`]+))?\}(?!`)")
_INTERVAL = re.compile(r"\{low(?::[^{}]+)?\} to \{high(?::[^{}]+)?\}(?!`)")
_IN_BRACKETS = re.compile(_INTERVAL.pattern + r"(?:[^(){};$]|\{cases\})*(?=[;)])")
_MATH = re.compile(r"(\$[^$]*\$)")
_LEFT_OVER = re.compile(r"\{\s*finding\s*\}", re.IGNORECASE)
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_NOTHING = "-"
_CASES = "cases"
_BLANKS = ("value", "which", "low", "high", _CASES)
_NOT_OF_OURS = ("asserts", "corrects", "corrected", "decides", "supports")


@dataclass(frozen=True)
class Finding:
    """What became of a part, and what its sentences may quote.

    Attributes
    ----------
    verdict
        Of the part, or of the claim; empty where the data do not tell.
    value, low, high
        Estimate and 95 % interval; None where there is none.
    which
        The system that was chosen; mostly empty.
    unit
        How values are written.
    cases
        How many cases the value is a share of; None where it is of none that are counted.
    sentence
        What the record of the part says, values filled in; empty for a whole claim.
    """

    verdict: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    which: str = ""
    unit: str = "number"
    cases: int | None = None
    sentence: str = ""

    @property
    def whole(self) -> str:
        """The record's sentence as one of running text, with the interval.

        Examples
        --------
        >>> Finding("holds", 0.5, 0.4, 0.6, sentence="tau is 0.5").whole
        'Tau is 0.5 (0.40 to 0.60).'
        """
        if not self.sentence:
            return ""
        ends = ""
        if None not in (self.low, self.high) and self.fill("{low}") != self.fill("{high}"):
            ends = self.fill(" ({low} to {high})")
        return f"{_capital(self.sentence)}{ends}."

    def fill(self, form: str) -> str:
        """Put values into a form.

        Examples
        --------
        >>> fact = Finding("holds", 0.935, 0.9, 0.97, "Random", "percent")
        >>> fact.fill("{which} covers {value} ({low} to {high}), that is {value:.2f} of $T_{low}$")
        'Random covers 93.5 % (90 % to 97 %), that is 0.94 of $T_{low}$'
        >>> Finding("holds", 0.935).fill("It is {value:.2f} ({low} to {high} of them)")
        'It is 0.94 (no interval)'
        """
        if None in (self.low, self.high):
            form = _IN_BRACKETS.sub("no interval", form)
            form = _INTERVAL.sub("an unknown number", form)
        pieces = _MATH.split(form)
        return "".join(p if p.startswith("$") else _BLANK.sub(self._text, p) for p in pieces)

    def _text(self, blank: re.Match[str]) -> str:
        name, form = blank["name"], blank["form"]
        if name == "which":
            return plain(self.which)
        value: float | None = getattr(self, name)
        if value is None or (form == _CASES and self.cases is None):
            return "undefined"
        if name == _CASES:
            return str(self.cases)
        if form == _CASES:
            text = f"{value * (self.cases or 0):.0f}"
        elif form and math.isfinite(value):
            text = format(value, form).replace("%", " %")
        else:
            text = rounded(value, self.unit, self.low, self.high)
        return re.sub(r"^-", "\N{MINUS SIGN}", text)


@dataclass(frozen=True)
class Findings:
    """What became of everything that a topic's pages may state.

    Attributes
    ----------
    topic
        One of :data:`recbias.claims.TOPICS`, or that of a page that judges no claim.
    found
        By the names that blocks give: ``CLAIM``, ``CLAIM/n``, ``CLAIM/n/k``, ``own/NAME``.
    """

    topic: str
    found: Mapping[str, Finding]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        """Show nothing in a notebook, and keep everything in what it stores of the output."""
        findings = {name: asdict(finding) for name, finding in self.found.items()}
        return {"text/plain": ""}, {"recbias": {"topic": self.topic, "findings": findings}}


def state(
    topic: str, results: ChapterResults, verdicts: Sequence[Verdict] | None = None
) -> Findings:
    """Hand over what was found, so that the sentences of a page follow it."""
    page = find_page(topic)
    if page is None:
        return Findings(topic, {})
    findings: dict[str, Finding] = {}
    if verdicts is None:
        verdicts = judge_chapter(topic, results) if topic in TOPICS else ()
    for verdict in verdicts:
        findings |= _of_claim(verdict)
    load = cache(load_chapter)  # by all sentences: it takes longer than they do
    for name, record in own_findings(topic).items() if results else ():
        parts, missing = find_parts([record], results, page, load)
        findings[f"own/{name}"] = Finding("") if missing else _of_parts(parts)
    return Findings(topic, findings)


def stored_findings(dataset: str) -> list[Findings]:
    """Judge all topics on the stored results of a data set, for pages that have no results."""
    stated = []
    for topic in dict.fromkeys((*TOPICS, *_own_topics())):
        page = find_page(topic)
        if page is not None:
            stated.append(state(topic, load_chapter(page.chapter, dataset)))
    return stated


def find(
    names: Iterable[str], dataset: str, load: Callable[[str, str], ChapterResults] = load_chapter
) -> list[Findings]:
    """Judge what some blocks name, and nothing else, on the stored results of a data set.

    Parameters
    ----------
    names
        As in blocks: ``CLAIM``, ``CLAIM/n``, ``CLAIM/n/k``, ``own/NAME``.
    dataset
        Name of the data set, or path of a table.
    load
        Gives the results of a chapter on a data set. Who asks of many hands over one that
        remembers.

    Returns
    -------
    list of Findings
        One for each topic; what a chapter without results would have to say has no verdict.
    """
    found: dict[str, dict[str, Finding]] = {}
    by_id = {claim.id: claim for claim in claims()}
    judged: dict[str, dict[str, Finding]] = {}
    for name in names:
        topic = _topic_of(name)
        page = find_page(topic)
        results = load(page.chapter, dataset) if page else {}
        finding = Finding("")
        if page and results:
            first, _, rest = name.partition("/")
            if first == "own":
                parts, missing = find_parts([own_findings(topic)[rest]], results, page, load)
                finding = Finding("") if missing else _of_parts(parts)
            else:
                if first not in judged:
                    judged[first] = _of_claim(judge(by_id[first], results, load))
                finding = judged[first][name]
        found.setdefault(topic, {})[name] = finding
    return [Findings(topic, of_topic) for topic, of_topic in found.items()]


def find_findings(outputs: Iterable[Mapping[str, Any]]) -> Iterator[Findings]:
    """Read what the cells of an executed notebook handed over from their outputs."""
    for output in outputs:
        metadata = output.get("metadata", {}).get("recbias", {})
        if "findings" in metadata:
            findings = {name: Finding(**fields) for name, fields in metadata["findings"].items()}
            yield Findings(metadata["topic"], findings)


def _of_claim(verdict: Verdict) -> dict[str, Finding]:
    """Say what became of a claim and of each of its assertions, in their printed form."""
    claim, parts = verdict.claim.id, [p for p in verdict.parts if not p.record.corrects]
    decided = _DECIDED_BY.get(verdict.verdict)
    findings = {claim: Finding("")}
    if decided:
        findings[claim] = _finding(
            verdict.verdict, [part for part in verdict.core if part.verdict == decided]
        )
    for number in _judged_numbers(claim):
        of_number = [part for part in parts if number in part.record.asserts]
        records = _asked(claim, number)
        by_record = [[part for part in of_number if part.record == record] for record in records]
        findings[f"{claim}/{number}"] = _of_parts(of_number) if all(by_record) else Finding("")
        for place, of_one in enumerate(by_record, start=1):
            findings[f"{claim}/{number}/{place}"] = _of_parts(of_one)
    return findings


def _of_parts(parts: Iterable[Part]) -> Finding:
    """Join the parts of one assertion: refuted if one is, else open if one is, else it holds."""
    parts = list(parts)
    lacking = any(part.lacks and not part.record.only for part in parts)
    for verdict in ("refuted",) if lacking else ("refuted", "open", "holds"):
        deciding = [part for part in parts if part.verdict == verdict]
        if deciding:
            return _finding(verdict, deciding)
    return Finding("")


def _finding(verdict: str, deciding: Sequence[Part]) -> Finding:
    """Quote the first of the parts that decided."""
    if not deciding:
        return Finding(verdict)
    part = deciding[0]
    numbers = (part.value, *part.interval)
    value, low, high = (None if math.isnan(number) else number for number in numbers)
    cases = part.estimate.cases if isinstance(part.estimate, Quantity) else None
    which, unit = part.which, part.record.unit
    return Finding(verdict, value, low, high, which, unit, cases, part.finding)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def said(
    name: str,
    results: ChapterResults,
    *,
    width: int = 0,
    load: Callable[[str, str], ChapterResults] | None = None,
    **forms: str,
) -> str:
    """Return what the record of a finding says of results: for the title of its figure.

    Parameters
    ----------
    name
        As in a block: ``own/NAME``, ``CLAIM/n`` or ``CLAIM/n/k``.
    results
        A chapter's results by name.
    width
        Of its lines in characters; one line by default.
    load
        As of `find`.
    **forms
        As in a block, by verdict: in place of the record's own words, which suit one verdict.

    Returns
    -------
    str
        The sentence of its first part; empty where the results do not tell.
    """
    topic = _topic_of(name)
    page = find_page(topic)
    first, _, rest = name.partition("/")
    number, _, place = rest.partition("/")
    if first != "own" and not number:
        raise ConfigError(f"{name}: a claim has many sentences; name an assertion: {name}/1")
    if page is None or not results:
        return ""
    if first == "own":
        record = own_findings(topic)[rest]
    else:
        record = _asked(first, int(number))[int(place or 1) - 1]
    parts, _ = find_parts([record], results, page, load or cache(load_chapter), first)
    sentence = _capital(parts[0].finding) if parts else ""
    if forms:
        found = _of_parts(parts)
        sentence = found.fill(forms[found.verdict]) if found.verdict else ""
    return "\n".join(textwrap.wrap(sentence, width)) if width else sentence


def findings_table(stated: Findings) -> str:
    """Lay out behind a click what this book finds on a topic beside the papers, by its records."""
    told = {name: found for name, found in stated.found.items() if name.startswith("own/")}
    records = own_findings(stated.topic)
    rows = [
        (badge(found.verdict), typeset(found.whole), typeset(records[name[4:]].claimed))
        for name, found in told.items()
        if found.verdict
    ]
    if not rows:
        return ""
    head = ("verdict", "what this book finds, with 95 % intervals", "held against")
    table = table_html(head, rows, style="parts")
    return (
        f"<details><summary>All {len(rows)} findings of this chapter beside the paper's claims"
        f"</summary>{table}</details>"
    )


# -- names ---------------------------------------------------------------------------------------
@cache
def own_findings(topic: str) -> Mapping[str, Record]:
    """Read the findings of this book on a topic, which no paper asserts.

    Empty if there are none.
    """
    return _read_own(_written(topic), f"{topic.replace(' ', '_')}.yaml")


@cache
def _written(topic: str) -> Mapping[str, Any]:
    """Give a file of findings as it is written, by name: reading all as records takes long."""
    file = packaged(f"findings/{topic.replace(' ', '_')}.yaml")
    return (parse_yaml(file.read_text(encoding="utf-8")) or {}) if file.is_file() else {}


def _read_own(written: Mapping[str, Any], source: str) -> dict[str, Record]:
    """Read findings: a record by name; `source` names their file in errors."""
    records = {}
    for name, raw in written.items():
        try:
            if fields := sorted(set(_NOT_OF_OURS) & set(raw)):
                raise ConfigError(f"{', '.join(fields)} belong to claims; leave them out")
            records[str(name)] = record = Record.from_dict(raw)
            if record.check:
                raise ConfigError("a check belongs to a claim; state that: CLAIM/n")
        except (ConfigError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"{source}: {name}: {error}") from error
    return records


@cache
def _own_topics() -> Mapping[str, str]:
    """List by topic the files of findings."""
    files = sorted(packaged("findings").glob("*.yaml"))
    return {file.stem.replace("_", " "): file.name for file in files}


def _records(claim: str) -> list[Record]:
    """List the records that decide the printed form of a claim."""
    (topic,) = (candidate.topic for candidate in claims() if candidate.id == claim)
    criterion = criteria_of(topic).get(claim)
    return [r for r in criterion.records if r.decides and not r.corrects] if criterion else []


def _asked(claim: str, number: int) -> list[Record]:
    """List the records that decide an assertion, whose places name its parts."""
    return [record for record in _records(claim) if number in record.asserts]


def _judged_numbers(claim: str) -> list[int]:
    return sorted({number for record in _records(claim) for number in record.asserts})


def _topic_of(name: str) -> str:
    """Find the topic of a finding by its name; ConfigError if nothing decides it."""
    first, _, rest = name.partition("/")
    if first == "own":
        known = {str(finding): topic for topic in _own_topics() for finding in _written(topic)}
        if rest not in known:
            raise unknown_name("finding of this book", rest, known or ["none yet"])
        topics = [topic for topic in _own_topics() if rest in map(str, _written(topic))]
        if len(topics) > 1:
            raise ConfigError(f"own/{rest} is a finding of {' and of '.join(topics)}; rename one")
        own_findings(topics[0])  # a slip in its file is told
        return topics[0]
    by_id = {claim.id: claim for claim in claims()}
    if first not in by_id:
        raise unknown_name("claim", first, by_id)
    claim = by_id[first]
    judged = [str(number) for number in _judged_numbers(first)]
    if not judged:
        raise ConfigError(f"no record judges {first} so far, so that it has no verdict to follow")
    number, _, place = rest.partition("/")
    if number and number not in judged:
        criterion = criteria_of(claim.topic)[first]
        other = criterion.elsewhere.get(int(number)) if number.isdecimal() else None
        where = f"{other} judges it" if other else f"judged are {', '.join(judged)}"
        raise ConfigError(f"no part of {first} judges its assertion {number}: {where}")
    parts = list(map(str, range(1, len(_asked(first, int(number))) + 1))) if number else []
    if rest != number and (place not in parts or len(parts) < 2):
        parts_text = f"has the parts {', '.join(parts)}" if len(parts) > 1 else "is one part"
        raise ConfigError(f"{first}/{number} {parts_text}; {place!r} is none")
    return claim.topic


def read_from(name: str) -> set[str]:
    """Name the data sets whose results a finding reads.

    Empty text is that of a page; simulations are `recbias.experiment.results.SIMULATIONS`.

    Examples
    --------
    >>> read_from("own/WORLDS-BPREF-AUC"), read_from("own/POPULARITY-RANGE")
    ({'simulations'}, {''})
    """
    topic = _topic_of(name)
    first, _, rest = name.partition("/")
    number, _, place = rest.partition("/")
    if first == "own":
        records = [own_findings(topic)[rest]]
    else:
        records = _asked(first, int(number)) if number else _records(first)
        records = records[int(place) - 1 : int(place)] if place else records
    return {dataset for record in records for dataset, _ in record.reads}


# -- blocks --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Block:
    """A block as it was written; `line` is that of its first line in the text."""

    name: str
    line: int
    indent: str
    item: str
    forms: Mapping[str, str]


class _BlockError(ConfigError):
    """What is wrong with a block, and in which line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def check_findings(text: str, where: Where) -> list[str]:
    """Check the blocks of a text before anything is computed."""
    try:
        blocks = [piece for piece in _pieces(text) if isinstance(piece, _Block)]
        for block in blocks:
            _check(block)
    except _BlockError as fault:
        raise ConfigError(f"{where(fault.line)}: {fault}") from fault
    return [block.name for block in blocks]


def resolve_findings(text: str, stated: Iterable[Findings], where: Where) -> str:
    r"""Put into a text the sentences that the data bear out.

    Examples
    --------
    >>> findings = Findings("design alternatives", {"BCC17-F2A": Finding("no")})
    >>> forms = "yes: it is.\nno: it is *not*.\npartly: -\nundecided: -"
    >>> text = f"So\n:::{{finding}} BCC17-F2A\n{forms}\n:::\nthen."
    >>> print(resolve_findings(text, [findings], str))
    So
    <span class="finding" data-part="BCC17-F2A" data-verdict="no">it is *not*.</span>
    then.
    """
    check_findings(text, where)
    known = {findings.topic: findings.found for findings in stated}
    lines: list[str] = []
    item = ""  # of a list, whose first sentence was left out
    for piece in _pieces(text):
        if isinstance(piece, _Block):
            topic = _topic_of(piece.name)
            if topic not in known:
                raise ConfigError(
                    f"{where(piece.line)}: the finding {piece.name} has no verdict to follow\n"
                    f"end a cell of the page with state({topic!r}, results)"
                )
            sentence = _sentence(piece, known[topic].get(piece.name, Finding("")))
            if not sentence:
                item = f"{piece.indent}{piece.item}" if piece.item else item
                continue
            line = f"{piece.indent}{piece.item}{sentence}"
        else:
            line = piece
        if item and line.strip():
            line = item + line[len(item) :] if line.startswith(" " * len(item)) else line
            item = ""
        lines.append(line)
    return "\n".join(lines)


def _sentence(block: _Block, finding: Finding) -> str:
    form = block.forms.get(finding.verdict, _NOTHING)
    text = "" if form == _NOTHING else finding.fill(form)
    text = text if block.forms else finding.whole
    if not text:
        return ""
    names = f'data-part="{escape(block.name)}" data-verdict="{finding.verdict}"'
    return f'<span class="finding" {names}>{text}</span>'


def _check(block: _Block) -> None:
    def fault(message: str) -> _BlockError:
        return _BlockError(block.line, f"finding {block.name}: {message}")

    try:
        _topic_of(block.name)
        verdicts = _PART_VERDICTS if "/" in block.name else _CLAIM_VERDICTS
        if not block.forms and "/" in block.name:
            return  # it says what its record says
        for verdict, form in block.forms.items():
            if verdict not in verdicts:
                raise unknown_name("verdict", verdict, verdicts)
            if not form:
                raise ConfigError(f"{verdict} has no sentence")
            if "<span" in form or "</span" in form:
                raise ConfigError(f"{verdict}: a sentence holds no <span>")
            for outside in _MATH.split(form)[::2]:
                for blank in _BLANK.finditer(outside):
                    if blank["name"] not in _BLANKS:
                        raise unknown_name("placeholder", blank["name"], _BLANKS)
                    if blank["form"] and blank["form"] != _CASES:
                        format(0.5, blank["form"])
    except (ConfigError, ValueError) as error:
        raise fault(str(error)) from error
    if missing := [verdict for verdict in verdicts if verdict not in block.forms]:
        raise fault(
            f"it has no form for {', '.join(missing)}; write one for each verdict, or a dash where "
            f"nothing is to be said: '{missing[0]}: {_NOTHING}'"
        )
    holds, refuted = (block.forms[verdict] for verdict in verdicts[:2])
    if holds == refuted != _NOTHING:
        raise fault(f"it says the same for {verdicts[0]} and for {verdicts[1]}")


def _pieces(text: str) -> Iterator[str | _Block]:
    """Give the lines of a text, and in place of their lines its blocks; code is left alone."""
    lines = text.splitlines()
    open_fences: list[tuple[str, bool]] = []  # of the directives around, and whether one is code
    number = 0
    while number < len(lines):
        line = lines[number]
        verbatim = bool(open_fences) and open_fences[-1][1]
        opening = None if verbatim else _BLOCK.fullmatch(line.rstrip())
        if opening:
            block, number = _read_block(lines, number, opening)
            yield block
            continue
        if not verbatim and _LEFT_OVER.search(_CODE.sub("", line)):
            raise _BlockError(
                number,
                f"{line.strip()!r} opens no block, and would stand on the page; write "
                "':::{finding} NAME' at the start of a line or list item, in no quotation or table",
            )
        fence = _FENCE.match(line)
        if fence and open_fences and line.strip() == open_fences[-1][0]:
            open_fences.pop()
        elif fence and not verbatim and (fence["name"] or not line.strip().startswith(":")):
            is_code = fence["name"] is None or fence["name"] in _VERBATIM
            open_fences.append((fence["fence"], is_code))
        yield line
        number += 1


def _read_block(lines: Sequence[str], start: int, opening: re.Match[str]) -> tuple[_Block, int]:
    """Read the block that opens in a line; give it with the number of the line behind it."""
    name, indent = opening["name"].strip(), opening["indent"]
    margin = len(indent) + len(opening["item"] or "")
    forms: dict[str, str] = {}
    verdict = ""
    for number in range(start + 1, len(lines)):
        line = lines[number].rstrip()
        if line.strip() == opening["fence"]:
            return _Block(name, start, indent, opening["item"] or "", forms), number + 1
        if line.strip() and line[:margin].strip():
            break
        line, form = line[margin:], _FORM.fullmatch(line[margin:])
        if form:
            verdict = form["verdict"]
            if verdict in forms:
                raise _BlockError(number, f"finding {name}: {verdict} is there twice")
            forms[verdict] = form["text"] or ""
        elif verdict and line.startswith(" "):
            forms[verdict] = f"{forms[verdict]} {line.strip()}".strip()
        elif line.strip():
            raise _BlockError(
                number,
                f"finding {name}: {line!r} is no form; write 'verdict: sentence', indent the lines "
                f"that continue it, and close the block with {opening['fence']}",
            )
        else:
            raise _BlockError(number, f"finding {name}: a blank line; a sentence is one paragraph")
    raise _BlockError(start, f"finding {name}: the block is not closed with {opening['fence']}")
