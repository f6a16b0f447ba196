"""A letter to the authors of a paper: each claim, its verdict, and their number beside ours.

It says nothing that the document of all claims does not hold, and is Markdown, so that it can be
sent as the text of a mail.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from recbias.claims.home import NO_DATA, named_data
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

_NOT_COMPUTED = ("not testable here", "not yet", NOT_AT_HAND)

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

_OTHER_VERSIONS = {("ATM15", "ml-latest-small"): "a later version than that of the paper"}
"""By paper, data sets of which we have another version than it used."""

_NO_MISPRINT = "no misprint"
"""What the status of an erratum says if the paper may be read or done otherwise, and errs not."""

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
    computed = sum(_answers(claim)["reproduced"] not in _NOT_COMPUTED for claim in claims)
    yield f"# {titles()[paper]}: claims computed again"
    yield ""
    yield (
        f"To the authors. We asked of {len(claims)} claims of the paper, as we read them, whether "
        f"they hold, with recbias {document['recbias']}; {computed} could be computed again. This "
        "page says what we found, and what we ask. Who sends it adds date, name and address, and "
        "the commit that it was written from."
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
        yield "3. Is what we call an erratum one?"
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
    yield from _legend(paper, claims)
    for verdict, title in _SECTIONS.items():
        chosen = [claim for claim in claims if _answers(claim)["reproduced"] == verdict]
        if chosen:
            yield f"## {title}"
            yield ""
            for claim in chosen:
                yield from _claim(claim)


def _legend(paper: str, claims: list[Entry]) -> Iterator[str]:
    """Say which data were used, and what the words of the tables mean."""
    names = dict.fromkeys(name for claim in claims if not _alike(claim) for name in _shown(claim))
    titles_of = "; ".join(
        f"{name} is {dataset_info(name).title}"
        + (f", {other}" if (other := _OTHER_VERSIONS.get((paper, name))) else "")
        for name in names
    )
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
        if _answers(claim)["reproduced"] == verdict != "yes"
    ]
    if not chosen:
        return
    yield "## At a glance: every verdict but yes"
    yield ""
    yield "| claim | where | says | verdict | with the erratum |"
    yield "|---|---|---|---|---|"
    for verdict, claim in chosen:
        told = f"{verdict} ({spread})" if (spread := _spread(claim, _own(claim))) else verdict
        told += f"; {lacking}" if (lacking := _lacking(claim)) else ""
        corrected = _answers(claim)["corrected"]
        yield _cells(claim["id"], claim["where"], claim["claim"], told, corrected)
    yield ""


def _cells(*cells: str) -> str:
    """Write a row of a table."""
    told = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(told)} |"


def _counts(claims: list[Entry]) -> Iterator[str]:
    """Count claims by verdict, what only data can tell apart from what hangs on none."""
    counted = Counter((group(claim), _answers(claim)["reproduced"]) for claim in claims)
    groups = list(dict.fromkeys(name for name, _ in counted))
    verdicts = [name for name in _SECTIONS if any(counted[each, name] for each in groups)]
    yield f"| claims | {' | '.join(verdicts)} |"
    yield f"|---|{'---|' * len(verdicts)}"
    for name in groups:
        yield f"| {name} | {' | '.join(str(counted[name, verdict]) for verdict in verdicts)} |"
    yield ""


def _shown(claim: Entry) -> list[str]:
    """Name the data sets whose numbers are shown: the result's own, else where it was judged.

    Of what hangs on no data they are one of the paper's, and one with the verdict that these give
    together if that is another.
    """
    answers, found, own = claim["answers"], claim["verdicts"], _own(claim)
    if answers["home"]:
        return own
    names = sorted(
        (name for name in found if found[name]["lead"]),
        key=lambda name: (name not in own, name != _PREFERRED),
    ) or [_PREFERRED if _PREFERRED in found else next(iter(found))]
    told = _answers(claim)["reproduced"]
    same = (name for name in names if found[name]["verdict"] == told)
    return list(dict.fromkeys([names[0], next(same, names[0]) if answers["no data"] else names[0]]))


def _own(claim: Entry) -> list[str]:
    """Name the data sets at hand that a published result is of: of its values, else of its text."""
    entry = next((each for each in ledger() if each.id == claim["id"]), None)
    named = (entry.values_of or named_data(entry)) if entry else ()
    own = [name for name in claim["verdicts"] if name in named]
    if claim["answers"]["home"]:
        own = [name for name in claim["answers"]["home"] if name in own] or claim["answers"]["home"]
    return sorted(own, key=lambda name: name != _PREFERRED)


def _asked(claim: Entry) -> list[str]:
    """Name the data sets that the claim's answers are of."""
    return list(claim["verdicts"] if claim["answers"]["no data"] else claim["answers"]["home"])


def _answers(claim: Entry) -> Entry:
    """Give the verdict on the result's own data where others have a say in the claim's answers.

    What hangs on no data is judged on all of them, to notice defects, and a claim with values of
    one data set on every one of its paper. Where the own ones differ it is the verdict on all.
    """
    answers, own = claim["answers"], _own(claim)
    if not _spread(claim, _asked(claim)) or not own or _spread(claim, own):
        return answers
    first = claim["verdicts"][own[0]]
    told = {name: first[name] for name in ("strict", "corrected", "reason")}
    return {**answers, **told, "reproduced": first["verdict"], "where": ", ".join(own)}


def _lacking(claim: Entry) -> str:
    """Say how many of the parts that decide could not be tested, of a verdict that others gave."""
    answers = _answers(claim)
    if answers["reproduced"] in _NOT_COMPUTED or answers["reason"]:
        return ""
    parts = claim["verdicts"][_shown(claim)[0]]["parts"]
    main = [part for part in parts if part["decides"] and part["core"]]
    lacking = [part for part in main if part["verdict"] == "not testable"]
    reasons = dict.fromkeys(_REASONS.get(part["reason"], part["reason"]) for part in lacking)
    told = f"{len(lacking)} of its {len(main)} main parts not tested: {', '.join(reasons)}"
    return told if lacking else ""


def _alike(claim: Entry) -> bool:
    """Tell whether what is found is the same on all data sets, so that none need be named."""
    told = {
        str([(part["record"], part["verdict"], part["found"], part["value"]) for part in parts])
        for verdict in claim["verdicts"].values()
        if (parts := [part for part in verdict["parts"] if part["decides"]])
    }
    return bool(claim["answers"]["no data"]) and len(told) <= 1


def _claim(claim: Entry) -> Iterator[str]:
    names, answers = _shown(claim), _answers(claim)
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
    if lacking := _lacking(claim):
        told.append(f"{lacking[0].upper()}{lacking[1:]}.")
    for name in _own(claim):
        other = _OTHER_VERSIONS.get((claim["paper"], name))
        if other and (answers["home"] or claim["id"].endswith("-SETUP")):
            told.append(f"Ours of {name} is {other}.")
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


def _spread(claim: Entry, names: list[str]) -> str:
    """List the verdicts on data sets if they differ; else nothing."""
    found = {name: claim["verdicts"][name]["verdict"] for name in names}
    told = (f"{name}: {verdict}" for name, verdict in found.items())
    return ", ".join(told) if len(set(found.values())) > 1 else ""


def _place(claim: Entry) -> str:
    """Say where a verdict was found, as the end of a sentence."""
    answers, own, asked = _answers(claim), _own(claim), _asked(claim)
    if spread := _spread(claim, own):
        told = f" ({spread})"
    elif answers["where"] in (answers["reproduced"], NO_DATA):
        told = ""
    else:
        told = f", on {answers['where']}"
    if set(asked) > set(own) and (spread := _spread(claim, asked)):
        others = "all our data" if answers["no data"] else "all that we have of the paper's data"
        told += f"; on {others} together {claim['answers']['reproduced']} ({spread})"
    return told


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
        "Each with its place, what we read there, its status, and what spoke for it when it was "
        "noted. Where a row of the details has another last digit, the row is newer. What is "
        f"called *{_NO_MISPRINT}* is no erratum: we could not do or read it as it stands."
    )
    yield ""
    for each in sorted(errata, key=lambda each: _NO_MISPRINT in each["status"]):
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
