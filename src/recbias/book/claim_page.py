"""The page of one claim: what is claimed, how it is judged, what was found on all data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from recbias.book.forest import Estimate, forest_html
from recbias.book.html import badge, table_html, typeset
from recbias.book.scorecard import PAPERS, Claim, shown_on
from recbias.book.signs import word_html
from recbias.claims.parts import WEIGHTS
from recbias.claims.reading import NO_ASSERTION, Document, number

_ROWS = 14
"""A plot shows up to so many rows at once; of more those that weigh most on each data set."""
_WORDS = 10
"""So many words of a claim stand in the title of its page at most."""
_OPEN_RECORDS = 6
"""So many core criteria are drawn at once; more wait behind a click."""

Record = Mapping[str, Any]


def claim_html(claim: Claim, document: Document) -> str:
    """Write the page of a claim, without its heading.

    Parameters
    ----------
    claim
        As the document has it.
    document
        All claims; the data set that comes first is the edition's.

    Returns
    -------
    str
        The article below the title: links lead from the folder of claims.
    """
    return "".join(
        (
            _place(claim),
            _answer(claim, document),
            _evidence(claim, document),
            _not_judged(claim),
            _errata(claim, document),
            _history(claim),
            _command(claim, document),
        )
    )


def words(claim: Claim) -> str:
    """Give the text by which a search finds a claim."""
    asserted = " ".join(assertion["text"] for assertion in claim["assertions"])
    return f"{claim['where']} {claim['claim']} {asserted}".replace("$", "")


def few_words(text: str) -> str:
    """Cut a claim to what fits into the title of a page: at a word, no formula in two.

    Examples
    --------
    >>> few_words("Under 1R pLSA leads, Popularity comes second on MovieLens, and all are low.")
    'Under 1R pLSA leads, Popularity comes second on MovieLens…'
    >>> few_words("$P = 1 / n$ is the ceiling.")
    '$P = 1 / n$ is the ceiling'
    """
    found = re.findall(r"(?:\$[^$]*\$|[^\s$])+", text.removesuffix("."))
    if len(found) <= _WORDS:
        return " ".join(found)
    return f"{' '.join(found[: _WORDS - 1]).rstrip(',;:')}…"


def _place(claim: Claim) -> str:
    page = claim["page"]
    topic = f"{claim['chapter'][0].upper()}{claim['chapter'][1:]}"
    chapter = escape(f"{int(page[:2])}. {topic}" if page else topic)
    card = f'<a href="../notebooks/{page}.html#{claim["id"].lower()}">{chapter}</a>'
    kind = f"{claim['class']}, {NO_ASSERTION}" if not claim["assertions"] else claim["class"]
    pilot = " · <em>pilot seen</em>" if claim["pilot seen"] else ""
    return (
        '<nav class="path" aria-label="Where this page belongs">'
        f'<a href="../notebooks/index.html">Book</a> › '
        f'<a href="../notebooks/scorecard.html#{claim["id"].lower()}">Scorecard</a> › '
        f"{card if page else chapter}</nav>"
        f'<p class="claim-says">{typeset(claim["claim"])}</p>'
        f'<p class="where">{escape(PAPERS[claim["paper"]])}, {escape(claim["where"])} · '
        f"{escape(kind)}{pilot}</p>{_context(claim)}"
    )


def _context(claim: Claim) -> str:
    """Say under which conditions the paper found it, and what is to be known of its text."""
    told = {"Setting": claim["settings"], "Published": claim["published"], "Note": claim["note"]}
    rows = "".join(
        f"<p><strong>{name}:</strong> {typeset(text)}</p>" for name, text in told.items() if text
    )
    if not rows:
        return ""
    return f'<details class="context"><summary>In the paper</summary>{rows}</details>'


def _answer(claim: Claim, document: Document) -> str:
    """Write both answers, with the finding that leads."""
    answers = claim["answers"]
    name = shown_on(claim, document)
    verdict = claim["verdicts"][name]
    found = ""
    if verdict["lead"]:
        part = verdict["parts"][verdict["lead"] - 1]
        title = escape(_title(name, document))
        where = "" if answers["no data"] else f' <span class="of">{title}</span>'
        found = f'<p class="found">{typeset(part["found"])}.{where}</p>'
    strict = answers["strict"]
    rows = [
        ("Reproduced", f"{word_html(answers['reproduced'])}{_where(answers)}"),
        ("Generalises", escape(answers["elsewhere"])),
    ]
    if strict and strict != answers["reproduced"]:
        rows.append(("By all parts alike", escape(strict)))
    if verdict["corrected"]:
        rows.append(("As an erratum corrects it", word_html(verdict["corrected"])))
    if answers["reason"]:
        rows.append(("Because", escape(answers["reason"])))
    if wanted := verdict["would decide"]:
        told = wanted.removeprefix("What would decide it: ").removeprefix("What would decide it ")
        rows.append(("What would decide it", escape(told)))
    told = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows)
    return f'<dl class="answers">{told}</dl>{found}'


def _where(answers: Mapping[str, Any]) -> str:
    """Say on which data, where that is not what the verdict says."""
    if answers["no data"]:
        return ", on no data"
    return f", on {escape(answers['where'])}" if answers["home"] else ""


def _title(name: str, document: Document) -> str:
    return next(str(each["title"]) for each in document["datasets"] if each["name"] == name)


# -- evidence ----------------------------------------------------------------------------------


def _evidence(claim: Claim, document: Document) -> str:
    """Draw what was found by each criterion: the core first, the rest behind a click."""
    core = [record for record in claim["records"] if record["core"] and not record["corrects"]]
    lead = claim["verdicts"][shown_on(claim, document)]
    first = lead["parts"][lead["lead"] - 1]["record"] if lead["lead"] else 0
    core.sort(key=lambda record: record["number"] != first)
    shown = core[:_OPEN_RECORDS]
    rest = core[_OPEN_RECORDS:]
    rest += [record for record in claim["records"] if record not in core]
    if not claim["records"]:
        return "<p>Nothing judges it so far.</p>"
    text = "<h2>What it hangs on, and what we find</h2>"
    text += _blocks(shown, claim, document)
    if rest:
        more = _counted(len(core) - len(shown), "more of the core")
        beside = _counted(sum(not each["decides"] for each in rest), "beside them")
        n_details = sum(each["decides"] and not each["core"] for each in rest)
        details = _counted(n_details, "detail" if n_details == 1 else "details")
        n_corrected = sum(bool(each["corrects"]) and each["core"] for each in rest)
        corrected = _counted(n_corrected, "of the corrected form")
        told = ", ".join(filter(None, (more, corrected, details, beside)))
        text += (
            f'<details class="rest"><summary>{told}</summary>{_blocks(rest, claim, document)}'
            "</details>"
        )
    return text


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n else ""


def _blocks(records: Iterable[Record], claim: Claim, document: Document) -> str:
    """Write criteria, those of the same assertions below them."""
    by_assertions: dict[tuple[int, ...], list[Record]] = {}
    for record in records:
        by_assertions.setdefault(tuple(record["asserts"]), []).append(record)
    blocks = []
    for numbers, group in by_assertions.items():
        asserted = "".join(
            f'<p class="asserted"><span class="of">{_core(n, claim)}, assertion {n}</span> '
            f"{typeset(claim['assertions'][n - 1]['text'])}</p>"
            for n in numbers
        )
        drawn = "".join(_criterion(record, claim, document) for record in group)
        blocks.append(f'<section class="assertion">{asserted}{drawn}</section>')
    return "".join(blocks)


def _core(assertion: int, claim: Claim) -> str:
    if assertion in claim["core"]:
        return "Core"
    return "Core for one of two readers" if assertion in claim["disputed"] else "Detail"


def _criterion(record: Record, claim: Claim, document: Document) -> str:
    """Write a criterion in words, and what it gave on each data set."""
    names = [each["name"] for each in document["datasets"]]
    if claim["answers"]["no data"]:
        names = names[:1]
    rows: list[tuple[int, str, Estimate]] = []
    published = ""
    for name in names:
        for part in claim["verdicts"][name]["parts"]:
            if part["record"] == record["number"]:
                published = published or part["published"]
                title = "no data needed" if claim["answers"]["no data"] else _title(name, document)
                rows.append((WEIGHTS.index(part["verdict"]), name, _estimate(part, title)))
    form = ""
    if record["corrects"] or record["corrected"]:
        form = f"<em>Corrected, {record['corrects']}:</em> " if record["corrects"] else ""
        form = form or f"<em>As printed; {record['corrected']} corrects it:</em> "
    if not record["decides"]:
        form += "<em>Decides nothing:</em> "
    text = f'<p class="criterion">{form}{typeset(record["asks"])}.</p>'
    measured = (
        '<details class="context"><summary>Measured, in the words of the records</summary>'
        f"<p>{typeset(record['measures'])}.</p></details>"
    )
    if not rows:
        return text + measured
    first, more = _chosen(rows)
    low, high = map(number, record["region"])
    text += forest_html(first, record["unit"], (low, high), published=published)
    if more:
        drawn = forest_html(more, record["unit"], (low, high), published=published)
        text += f"<details><summary>{len(more)} more systems</summary>{drawn}</details>"
    return text + measured


def _estimate(part: Mapping[str, Any], title: str) -> Estimate:
    low, high = map(number, part["interval"])
    name = f"{title}, {part['which']}" if part["which"] else title
    return Estimate(name, part["verdict"], number(part["value"]), (low, high), part["reason"])


def _chosen(rows: Sequence[tuple[int, str, Estimate]]) -> tuple[list[Estimate], list[Estimate]]:
    """Choose rows to be seen at once; of many the one that weighs most on each data set."""
    if len(rows) <= _ROWS:
        return [row for *_, row in rows], []
    best: dict[str, int] = {}
    for place, (weight, name, _) in enumerate(rows):
        if name not in best or weight < rows[best[name]][0]:
            best[name] = place
    kept = set(best.values())
    return (
        [row for place, (*_, row) in enumerate(rows) if place in kept],
        [row for place, (*_, row) in enumerate(rows) if place not in kept],
    )


# -- the rest ----------------------------------------------------------------------------------


def _not_judged(claim: Claim) -> str:
    """List the assertions of the entry that no criterion of it is about, and why."""
    rows = []
    for n, assertion in enumerate(claim["assertions"], 1):
        if any(n in record["asserts"] for record in claim["records"]):
            continue
        place = assertion["judged under"]
        link = f'judged under <a href="{place}.html">{place}</a>' if place else ""
        why = link or f"not checked: {escape(assertion['unchecked'] or 'nothing judges it so far')}"
        rows.append(f"<li>{typeset(assertion['text'])} <em>{_core(n, claim)}; {why}.</em></li>")
    if not rows:
        return ""
    return f"<h2>Asserted there, and no part of this verdict</h2><ul>{''.join(rows)}</ul>"


def _errata(claim: Claim, document: Document) -> str:
    by_id = {each["id"]: each for each in document["errata"]}
    rows = "".join(
        f"<li><strong>{name}</strong> {escape(by_id[name]['where'])}: "
        f"{typeset(by_id[name]['what'])} <em>{escape(by_id[name]['status'])}</em>: "
        f"{typeset(by_id[name]['evidence'])}</li>"
        for name in claim["errata"]
    )
    return f"<h2>Errata of the paper that bear on it</h2><ul>{rows}</ul>" if rows else ""


def _history(claim: Claim) -> str:
    """Quote the criteria that it had before, with the verdicts by both."""
    written = (
        "The criterion was written after pilot values of ours had been seen."
        if claim["pilot seen"]
        else "The criterion was written before any value of ours had been seen."
    )
    entries = []
    for old in claim["earlier"]:
        moved = table_html(
            ("data set", "before", "after"),
            [
                (escape(name), badge(was), badge(now))
                for name, (was, now) in old["verdicts"].items()
            ],
            style="",
        )
        entries.append(
            f"<details><summary>Another until {escape(old['until'])}: {typeset(old['why'])}"
            f"</summary><p><q>{typeset(old['criterion'])}</q></p><p>Verdicts by all parts alike:"
            f"</p>{moved}</details>"
        )
    return f"<h2>History of the criterion</h2><p>{written}</p>{''.join(entries)}"


def _command(claim: Claim, document: Document) -> str:
    """Write how to judge it anew and how to cite it."""
    name = shown_on(claim, document)
    table = _title(name, document)
    digest = claim["criterion"]
    cited = f", criterion <code>{digest[:16]}</code>" if digest else ""
    return (
        "<h2>Recompute it, cite it</h2>"
        f"<pre><code>recbias claims --dataset {escape(table)} --explain {claim['id']}</code></pre>"
        "<p>judges it anew and prints all that leads to the verdict, down to the numbers that were "
        f"read. <code>recbias verify --dataset {escape(table)}</code> computes these from the "
        "ratings.</p>"
        f"<p>Cite it as <code>{claim['id']}</code>, recbias {escape(document['recbias'])}{cited}; "
        "numbers of parts and keys of results are in "
        '<a href="../notebooks/claims.json">claims.json</a>.</p>'
    )
