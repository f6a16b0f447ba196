"""A letter to the authors of a paper: each claim, its verdict, and their number beside ours.

It says nothing that the document of all claims does not hold, and is Markdown, so that it can be
sent as the text of a mail.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from recbias.claims.home import named_data
from recbias.claims.ledger import claims as ledger
from recbias.claims.ledger import titles
from recbias.claims.reading import NO_ASSERTION, NOT_AT_HAND, Document, group, number
from recbias.data.datasets import dataset_info
from recbias.errors import ConfigError, unknown_name

Entry = Mapping[str, Any]

_SECTIONS = {
    "no": "Claims that do not hold by their criterion",
    "partly": "Claims that hold in part",
    "undecided": "Claims that our data leave open",
    "not testable here": "Claims that need what our data do not have",
    "not yet": "Claims that are not judged yet",
    NOT_AT_HAND: "Claims about data that we do not have",
    "yes": "Claims that hold by their criterion",
}
"""Verdicts in the order of the letter, with what they are called there."""

_REASONS = {
    "about practice": "it is about practice, which no data test",
    "dataset not here": "we do not have the data",
    "merged stars": "low star values are one in the data that we have",
    "no timestamps": "the data that we have tell no times",
    "value lost": "what is published stands in a figure or table that we cannot read",
}
"""What a letter says for reasons of the ledger."""

_PLAIN = {
    "What would decide it cannot be told: more users would decide more of the cases, one way or "
    "the other": "More users would decide it, how many more cannot be told, as it counts cases",
    "more users would decide more of the cases, one way or the other": "it counts cases, of which "
    "more users would decide more",
    "the printed value is lost": _REASONS["value lost"],
}
"""Sentences about what would decide a claim, as a letter has them."""

_ELSEWHERE = {"about its own data": "not asked, as it is about its own data"}
"""What a letter says of other data, where the document has fewer words."""

_ASKED = re.compile(r"\$[xXy]\$(?: %)?")
"""A place in a sentence for a value that was not measured."""

_EXACT = 1e-12
"""What an equation may be off by, as it is computed in rounded numbers."""

_PREFERRED = "ml-1m"
"""Of several data sets that a claim is at home on, the one whose numbers come first."""
_LARGE = 1000


def papers(document: Document) -> tuple[str, ...]:
    """Name the papers that a letter can be about: those of which an assertion was read.

    Examples
    --------
    >>> papers({"claims": [{"paper": "A", "counts as": "empirical"},
    ...                    {"paper": "B", "counts as": "no assertion of a paper"}]})
    ('A',)
    """
    read = (each["paper"] for each in document["claims"] if each["counts as"] != NO_ASSERTION)
    return tuple(dict.fromkeys(read))


def letter(document: Document, paper: str) -> str:
    """Write to the authors of a paper what was found of each of its claims.

    Parameters
    ----------
    document
        Of all data sets with recorded results: what ``recbias claims --json`` prints.
    paper
        One of `papers`.

    Returns
    -------
    str
        Markdown. Every number is of the document: published ones as the ledger has them, ours with
        95 % intervals, the region that the criterion accepts, and errata with their place.

    Raises
    ------
    ConfigError
        If there is no such paper, or the document has no answers, as that of one data set.
    """
    known = papers(document)
    if paper not in known:
        raise unknown_name("paper", paper, known)
    claims = [
        each
        for each in document["claims"]
        if each["paper"] == paper and each["counts as"] != NO_ASSERTION
    ]
    if not all("answers" in claim for claim in claims):
        raise ConfigError(
            "a letter needs the verdicts on all recorded data sets: leave out --dataset"
        )
    return "\n".join(_lines(document, paper, claims)) + "\n"


def _lines(document: Document, paper: str, claims: list[Entry]) -> Iterator[str]:
    ours = {each.id for each in ledger() if each.own}
    noted = [claim for claim in claims if claim["id"] in ours]
    claims = [claim for claim in claims if claim["id"] not in ours]
    errata = [each for each in document["errata"] if each["paper"] == paper]
    pilot = sum(claim["pilot seen"] for claim in claims)
    yield f"# {titles()[paper]}: claims computed again"
    yield ""
    yield (
        f"To the authors. We computed {len(claims)} claims of the paper again, as we read them, "
        f"with recbias {document['recbias']}. This page says what we found, and what we ask. Who "
        "sends it adds date, name and address, and the commit that it was written from."
    )
    yield ""
    yield from _counts(claims)
    yield from _glance(claims)
    yield from _errata(errata, noted)
    yield "## What we ask"
    yield ""
    yield "1. Is a claim restated other than the paper means it? Then our verdict is not about it."
    yield "2. Were data, splits or parameters others than ours where a claim does not hold?"
    if errata:
        yield "3. Is what we call an erratum one? What is *suspected* is not shown."
    yield ""
    yield "## How to read the details"
    yield ""
    yield (
        "Each claim below has the criterion by which it is judged, the published number where one "
        "is recorded, ours, and a command that shows how ours came about. "
        f"For {pilot} of the claims values of ours were known when the criterion was written, "
        'which is said there. A verdict is about the data that it names. "Refuted" means outside '
        "what the criterion accepts on these data; other ratings, splits, systems or parameters "
        "may be why. A published number stands in a row only where it is the same quantity of the "
        "same data. Formulas are in LaTeX."
    )
    yield ""
    yield from _legend(claims)
    for verdict, title in _SECTIONS.items():
        chosen = [claim for claim in claims if claim["answers"]["reproduced"] == verdict]
        if chosen:
            yield f"## {title}"
            yield ""
            for claim in chosen:
                yield from _claim(claim)


def _legend(claims: list[Entry]) -> Iterator[str]:
    """Say which data were used, and what the words of the tables mean."""
    names = dict.fromkeys(name for claim in claims if not _alike(claim) for name in _shown(claim))
    titles_of = "; ".join(f"{name} is {dataset_info(name).title}" for name in names)
    yield (
        f"Data: {titles_of}. The verdict of a claim follows from the parts that state what it "
        "mainly says; the details stand below these, and have no say. Where it differs by data "
        "set, each is named: a claim that something can happen is true if it happens on one. "
        '"Corrected by E12" marks the form that the erratum E12 proposes. "No exception" and '
        '"exact" are criteria that one counterexample, or a deviation beyond rounding, refutes. '
        '"Not at hand" is a claim about data that we do not have. `recbias verify --dataset NAME` '
        "computes our numbers anew, where the data are."
    )
    yield ""


def _glance(claims: list[Entry]) -> Iterator[str]:
    """List the claims that do not plainly hold, in the order of the letter."""
    chosen = [
        (verdict, claim)
        for verdict in _SECTIONS
        for claim in claims
        if claim["answers"]["reproduced"] == verdict != "yes"
    ]
    if not chosen:
        return
    yield "## At a glance: every verdict but yes"
    yield ""
    yield "| claim | where | says | verdict | with the erratum |"
    yield "|---|---|---|---|---|"
    for verdict, claim in chosen:
        told = f"{verdict} ({spread})" if (spread := _spread(claim)) else verdict
        yield _cells(
            claim["id"], claim["where"], claim["claim"], told, claim["answers"]["corrected"]
        )
    yield ""


def _cells(*cells: str) -> str:
    """Write a row of a table."""
    told = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(told)} |"


def _counts(claims: list[Entry]) -> Iterator[str]:
    """Count claims by verdict, what only data can tell apart from what hangs on none."""
    counted = Counter((group(claim), claim["answers"]["reproduced"]) for claim in claims)
    groups = list(dict.fromkeys(name for name, _ in counted))
    verdicts = [name for name in _SECTIONS if any(counted[each, name] for each in groups)]
    yield f"| claims | {' | '.join(verdicts)} |"
    yield f"|---|{'---|' * len(verdicts)}"
    for name in groups:
        yield f"| {name} | {' | '.join(str(counted[name, verdict]) for verdict in verdicts)} |"
    yield ""


def _shown(claim: Entry) -> list[str]:
    """Name the data sets whose numbers are shown: where it is at home, else where it was judged.

    Of what hangs on no data they are one of the paper's, and one with the verdict that all give
    together if that is another.
    """
    answers, found = claim["answers"], claim["verdicts"]
    if answers["home"]:
        return sorted(answers["home"], key=lambda name: name != _PREFERRED)
    named = _named(claim)
    names = sorted(
        (name for name in found if found[name]["lead"]),
        key=lambda name: (name not in named, name != _PREFERRED),
    ) or [_PREFERRED if _PREFERRED in found else next(iter(found))]
    same = (name for name in names if found[name]["verdict"] == answers["reproduced"])
    return list(dict.fromkeys([names[0], next(same, names[0]) if answers["no data"] else names[0]]))


def _named(claim: Entry) -> tuple[str, ...]:
    """Name the data sets that the paper's result is about; none of an entry that is not known."""
    entry = next((each for each in ledger() if each.id == claim["id"]), None)
    return named_data(entry) if entry else ()


def _alike(claim: Entry) -> bool:
    """Tell whether what is found is the same on all data sets, so that none need be named."""
    told = {
        str([(part["record"], part["verdict"], part["found"], part["value"]) for part in parts])
        for verdict in claim["verdicts"].values()
        if (parts := [part for part in verdict["parts"] if part["decides"]])
    }
    return bool(claim["answers"]["no data"]) and len(told) <= 1


def _claim(claim: Entry) -> Iterator[str]:
    names, answers = _shown(claim), claim["answers"]
    where = _place(claim)
    yield f"### {claim['id']}, {claim['where']}"
    yield ""
    yield f"> {claim['claim']}"
    yield ""
    other = _ELSEWHERE.get(answers["elsewhere"], answers["elsewhere"])
    elsewhere = "" if answers["no data"] else f" Elsewhere: {other}."
    told = [f"**Verdict:** {answers['reproduced']}{where}.{elsewhere}"]
    if answers["strict"] and answers["strict"] != answers["reproduced"]:
        told.append(f"By all parts alike, details included: {answers['strict']}.")
    if answers["corrected"]:
        told.append(f"In the form that an erratum proposes: {answers['corrected']}.")
    if answers["reason"]:
        before, _, reason = answers["reason"].rpartition(": ")
        told.append(f"Because: {before and before + ': '}{_REASONS.get(reason, reason)}.")
    told += [_decided_by(claim["verdicts"][name]["would decide"]) for name in names]
    if claim["published"]:
        told.append(f"Published: {claim['published']}.")
    if claim["pilot seen"]:
        told.append("Values of ours were known when the criterion was written.")
    for old in claim["earlier"]:
        told.append(f"Another criterion was in force until {old['until']}: {old['why']}.")
    yield "\n".join(f"- {each}" for each in dict.fromkeys(told) if each)
    yield ""
    for name in names:
        if shown := [part for part in claim["verdicts"][name]["parts"] if part["decides"]]:
            title = "the same on all our data" if _alike(claim) else name
            head = f"what we find ({title})", "criterion", "published", "ours [95 % interval]"
            yield f"| {' | '.join(head)} | part |"
            yield "|---|---|---|---|---|"
            yield from (_row(part, claim) for part in shown if part["core"])
            details = [_row(part, claim) for part in shown if not part["core"]]
            yield from (
                [_cells("*details, which have no say*", *[""] * 4), *details] if details else []
            )
            yield ""
    if claim["errata"]:
        yield f"Errata that bear on it: {', '.join(claim['errata'])}."
        yield ""
    yield f"    recbias claims --dataset {names[0]} --explain {claim['id']}"
    yield ""


def _spread(claim: Entry) -> str:
    """List the verdicts by data set, those of the paper first, if they differ; else nothing."""
    answers, shown = claim["answers"], _shown(claim)
    names = answers["home"] or ([*claim["verdicts"]] if answers["no data"] else [])
    found = {name: claim["verdicts"][name]["verdict"] for name in dict.fromkeys([*shown, *names])}
    if not names or len(set(found.values())) == 1:
        return ""
    return ", ".join(f"{name}: {verdict}" for name, verdict in found.items())


def _place(claim: Entry) -> str:
    """Say where a verdict was found, as the end of a sentence."""
    answers, spread = claim["answers"], _spread(claim)
    if answers["no data"]:
        first = _shown(claim)[0]
        own = f"; on the paper's own, {first}, {claim['verdicts'][first]['verdict']}"
        together = f", on all our data together ({spread})"
        return f"{together}{own if first in _named(claim) else ''}" if spread else ""
    if spread:
        return f" ({spread})"
    return "" if answers["where"] == answers["reproduced"] else f", on {answers['where']}"


def _decided_by(told: str) -> str:
    """Write what would decide a claim without words of the ledger."""
    for words, plain in _PLAIN.items():
        told = told.replace(words, plain)
    return told


def _said(value: float) -> str:
    """Write a number of ours: four digits, all of a large one."""
    return f"{value:.0f}" if abs(value) >= _LARGE else f"{value:.4g}"


def _row(part: Entry, claim: Entry) -> str:
    record = next(each for each in claim["records"] if each["number"] == part["record"])
    low, high = map(number, part["interval"])
    claimed, ours = part["claimed"], "not measured"
    if claimed == "none":
        claimed = "exact" if part["unit"] == "violation" else "no exception"
    if part["measured"]:
        value = number(part["value"])
        ours = "exact" if claimed == "exact" and value <= _EXACT else _said(value)
        ends = _said(low), _said(high)
        ours += f" [{', '.join(ends)}]" if ends[0] != ends[1] else ""
    reason = f" ({_REASONS.get(part['reason'], part['reason'])})" if part["reason"] else ""
    form = f", corrected by {record['corrects']}" if record["corrects"] else ""
    found = part["found"] or _ASKED.sub("...", record["asks"].rpartition("; claimed: ")[0])
    verdict = f"{part['verdict']}{reason}{form}"
    return _cells(found, claimed, part["published"], ours, verdict)


def _errata(errata: list[Entry], noted: list[Entry]) -> Iterator[str]:
    """List what may be wrong in print; `noted` are the entries that test what we say of it."""
    if not errata:
        return
    yield "## What may be errata"
    yield ""
    yield (
        "Each with its place, what we read there, and what spoke for it when it was noted. Where a "
        "row of the details has another last digit, the row is newer. What is *suspected* is not "
        "shown."
    )
    yield ""
    for each in errata:
        yield (
            f"- **{each['id']}**, {each['where']} (*{each['status']}*): {each['what']}. "
            f"Evidence: {each['evidence']}."
        )
    for claim in noted:
        yield (
            f"- Our test of what is said of {claim['where']}: "
            f"`recbias claims --dataset {_shown(claim)[0]} --explain {claim['id']}`."
        )
    yield ""
