"""The scorecard: totals, a bar for each paper, and a row for each claim, all from one document."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from recbias.book.html import claim_link, estimate_text, table_html, typeset
from recbias.book.signs import SIGNS, WORDS, legend_html, outcome, sign_html, word_html
from recbias.claims import kept
from recbias.claims.reading import (
    HANGS_ON_NO_DATA,
    NO_ASSERTION,
    STANDINGS,
    WRITTEN,
    Document,
    Totals,
    answer_totals,
    assertion_totals,
    chapter_answers,
    chapter_apart,
    criteria_totals,
    group,
    number,
    paper_totals,
    strict_totals,
    totals,
    written_totals,
)
from recbias.claims.topics import chapters
from recbias.claims.writing import called
from recbias.experiment.results import recorded_datasets

SITE_FILES = ("claims.json", "claims.schema.json", "scorecard.csv", "recount.py")
"""What a site has beside its scorecard: all claims, their schema, a table, a script that counts."""

PAPERS: Mapping[str, str] = {
    "BCC17": "Bellogín, Castells, Cantador 2017",
    "MCCRS20": "Mena-Maldonado et al. 2020",
    "CCM20": "Cañamares, Castells, Moffat 2020",
    "ATM15": "Adamopoulos, Tuzhilin, Mountanos 2015",
    "TOIS21": "Mena-Maldonado et al. 2021",
}
"""What readers call the papers."""

HEADLINES: Mapping[str, str] = {
    "BCC17-F2C": "With one relevant item at a time (1R) pLSA wins on MovieLens, and popularity is "
    "second.",
    "MCCRS20-F1-BL": "On MovieLens, systems with more hits in their lists have more misses, too: "
    "which of two systems is better hangs on which of the two one counts.",
    "CCM20-C-SIGFLIP": "Either of two good systems, kNN and MF, can win significantly, by how the "
    "experiment is set up.",
    "ATM15-C-AGG": "How far systems lean on popular items (a long-tail index, LTI) orders them "
    "otherwise than the number of different items that they list.",
}
"""A claim of each paper in plain words; chosen by its abstract, not by what became of it."""

KINDS: Mapping[str, str] = {
    "empirical": "claims that only a measurement on data can decide",
    "theorem": "identities and bounds, checked on data",
    "definition": "options and records, checked on data",
    HANGS_ON_NO_DATA: "claims that hang on no data: theorems, definitions, simulated worlds",
    NO_ASSERTION: "entries that restate no assertion of a paper",
}
"""Groups of claims that are counted apart, in the words of the page."""

_APART = (HANGS_ON_NO_DATA, NO_ASSERTION)
_IMPORTANCE = ("no", "partly", "undecided", "yes", "untestable")
"""Outcomes, the one that a reader should see first in front."""

_PARTS: Mapping[str, str] = {
    "partly": "a part fails",
    "no": "a part fails",
    "undecided": "a part is open",
    "not testable here": "a part is untestable",
}
"""What a strict verdict says of a claim that is reproduced by its core."""

Claim = Mapping[str, Any]
"""A claim as the document has it."""


def document_text(dataset: str) -> str:
    """Write the document of an edition: all recorded data sets, and its own where it is none."""
    recorded = recorded_datasets()
    return kept.document(*(() if dataset in recorded else sorted((dataset, *recorded))))


def load_document(dataset: str, write: Callable[[str], str] = document_text) -> Document:
    """Read the document of an edition as its pages show it: its own data set comes first."""
    document: dict[str, Any] = json.loads(write(dataset))
    own = called(dataset)[0]
    document["datasets"].sort(key=lambda each: each["name"] != own)
    return document


# -- totals ------------------------------------------------------------------------------------


def totals_html(document: Document) -> str:
    """Write what became of the claims: a sentence, a bar for each paper, what the signs mean."""
    counts = _outcomes(answer_totals(document)["empirical"])
    told = []
    for name, word in WORDS.items():
        text = f'<strong data-n="{name}">{counts[name]}</strong> {word}'
        link = f'<a id="verdict-{name}" href="#verdict-{name}">{text}</a>'
        told.append(link if counts[name] else text)
    n_claims = f'<strong data-n="all">{counts.total()}</strong>'
    return (
        f'<p class="totals" role="status">Of <span class="counted">{n_claims} '
        f"<span data-counted>{KINDS['empirical']}</span></span>: {', '.join(told)}.</p>"
        f"{bars_html(document)}{legend_html()}"
    )


def bars_html(document: Document, page: str = "") -> str:
    """Write a bar for each paper, which leads to the rows of its claims."""
    rows = []
    for paper, cells in paper_totals(document).items():
        counts = _outcomes(cells)
        told = ", ".join(f"{counts[name]} {WORDS[name]}" for name in WORDS if counts[name])
        segments = "".join(
            f'<span class="sign {name}" data-n="{name}" style="flex-grow: {counts[name]}" '
            f'title="{counts[name]} {WORDS[name]}"{"" if counts[name] else " hidden"}>'
            f"{SIGNS[name]} {counts[name]}</span>"
            for name in SIGNS
        )
        anchor = "" if page else f' id="paper-{paper}"'
        rows.append(
            f'<li data-paper="{paper}"><a{anchor} href="{page}#paper-{paper}">'
            f'{escape(PAPERS[paper])}</a><span class="of" data-n="all">{cells["all"]}</span>'
            f'<span class="bar" role="img" aria-label="{told}">{segments}</span></li>'
        )
    return f'<ul class="bars">{"".join(rows)}</ul>'


def _outcomes(cells: Mapping[str, int]) -> Counter[str]:
    """Join the verdicts of a row of totals to outcomes."""
    counts: Counter[str] = Counter()
    for verdict, n in cells.items():
        if verdict != "all":
            counts[outcome(verdict)] += n
    return counts


def criteria_html(document: Document) -> str:
    """Say how many criteria were written before any value was seen, and what would decide more."""
    table = criteria_totals(document)
    before, after = (sum(cells[name] for cells in table.values()) for name in WRITTEN)
    unseen, seen = (written_totals(document)[name] for name in WRITTEN)
    n_yes, n_all_parts = (
        count(document)["empirical"]["yes"] for count in (answer_totals, strict_totals)
    )
    others = {name: n for name, n in _outcomes(unseen).items() if n and name != "yes"}
    became = ", ".join(f"{others[name]} {WORDS[name]}" for name in WORDS if name in others)
    became = f" ({became})" if became else ""
    text = _errata_html(document) + (
        f'<p class="criteria"><strong>{before}</strong> of the {before + after} criteria were '
        "written before any value of ours had been seen. The other "
        f"{after} were written, or written anew, after pilot values; their claims say <em>pilot "
        f"seen</em>. Of the {unseen['all'] + seen['all']} {KINDS['empirical']}, "
        f"<strong>{unseen['all']}</strong> were written before any value was seen: "
        f"<strong>{unseen['yes']}</strong> of these are reproduced{became}; of the "
        f"{seen['all']} others, <strong>{seen['yes']}</strong>.</p>"
        f'<p class="criteria">Claims are judged by their core. Of the {n_yes} reproduced, '
        f"<strong>{n_all_parts}</strong> are so in all their parts; the others have a part that "
        "fails or is open, which stands beside their sign.</p>"
    )
    rows = [
        (f"{_named(claim)}{_pilot(claim)}", typeset(claim["claim"]), escape(_wanted(claim)))
        for claim in document["claims"]
        if group(claim) == "empirical" and claim["answers"]["reproduced"] == "undecided"
    ]
    if not rows:
        return text
    listed = table_html(("claim", "what it says", "what would decide it"), rows, style="labelled")
    return (
        f"{text}<details><summary>What would decide the {len(rows)} undecided</summary>{listed}"
        "</details>"
    )


def _errata_html(document: Document) -> str:
    """Count the claims whose verdict is another one once their errata are corrected."""
    printed: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for claim in document["claims"]:
        if group(claim) == "empirical":
            printed[_changes(claim)][outcome(claim["answers"]["reproduced"])] += 1
    changed = printed[True]
    if not changed:
        return ""
    told = ", ".join(
        f"{changed[name]} of the {changed[name] + printed[False][name]} {WORDS[name]}"
        for name in WORDS
        if changed[name]
    )
    return (
        '<p class="criteria">Claims are judged as printed. As an erratum corrects them, '
        f"<strong>{changed.total()}</strong> have another verdict, which stands beside the printed "
        f"one: {told}.</p>"
    )


def _wanted(claim: Claim) -> str:
    """Say what would decide a claim on the data sets where it is at home."""
    told: dict[str, list[str]] = {}
    for name in claim["answers"]["home"]:
        verdict = claim["verdicts"][name]
        if text := verdict["would decide"] or verdict["reason"]:
            text = text.removeprefix("What would decide it: ").removeprefix("What would decide it ")
            told.setdefault(text.removesuffix("."), []).append(name)
    if not told:
        return "a result that is not yet recorded"
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in told.items())


def _pilot(claim: Claim) -> str:
    return ' <em class="pilot">pilot seen</em>' if claim["pilot seen"] else ""


# -- rows --------------------------------------------------------------------------------------


def headlines_html(document: Document) -> str:
    """Write the rows of what the papers are known for."""
    by_id = {claim["id"]: claim for claim in document["claims"]}
    rows = "".join(
        f'<tr><th scope="row">{claim_link(name, escape(words))}'
        f' <span class="of">{escape(PAPERS[by_id[name]["paper"]])}{_chapter(by_id[name])}</span>'
        "</th>"
        f'<td class="says">{_held(by_id[name], document)}{_found(by_id[name], document)}</td>'
        f"<td>{_reproduced(by_id[name])}</td></tr>"
        for name, words in HEADLINES.items()
        if name in by_id
    )
    head = _head("what the paper says", "what we find", "reproduced")
    return f'<table class="claims headlines">{head}<tbody>{rows}</tbody></table>'


def _chapter(claim: Claim) -> str:
    """Lead to the first screen of the chapter that has a claim."""
    if not (page := claim["page"]):
        return ""
    return f', <a href="{page}.html">see chapter {int(page[:2])}</a>'


def rows_html(document: Document) -> str:
    """Write all claims of written chapters, folded by chapter; what counts apart comes last."""
    folds = []
    answers, papers = chapter_answers(document), _papers(document)
    shown = [claim for claim in document["claims"] if claim["page"]]
    for topic, page in chapters().items():
        rows = [each for each in shown if each["chapter"] == topic and group(each) not in _APART]
        if not rows:
            continue
        title = _chapter_title(topic, page)
        link = f'<p><a href="{page}.html">Read the chapter</a></p>'
        kinds = [("", "", _outcomes(answers[topic]))]
        folds.append(_fold(f"chapter-{page}", title, papers[topic], rows, link, document, kinds))
    for name in _APART:
        rows = [each for each in shown if group(each) == name]
        if rows:
            title = KINDS[name][0].upper() + KINDS[name][1:]
            kinds = [
                (kind, f"{kind}:", Counter(outcome(each["answers"]["reproduced"]) for each in own))
                for kind in dict.fromkeys(claim["class"] for claim in rows)
                for own in [[claim for claim in rows if claim["class"] == kind]]
            ]
            folds.append(_fold("", title, "", rows, "", document, kinds))
    return "".join(folds)


def _chapter_title(topic: str, page: str | None) -> str:
    """Name a chapter by its number, as the book's contents do, and by its topic."""
    name = f"{topic[0].upper()}{topic[1:]}"
    return f"{int(page[:2])}. {name}" if page else name


def _fold(
    anchor: str,
    title: str,
    papers: str,
    claims: Sequence[Claim],
    link: str,
    document: Document,
    kinds: Sequence[tuple[str, str, Counter[str]]],
) -> str:
    ordered = sorted(claims, key=lambda claim: (_place(claim), _importance(claim)))
    rows = "".join(_row(claim, document) for claim in ordered)
    told = "".join(
        f'<span class="counts" data-class="{kind}">{escape(words)} {_counts(counts)}</span> '
        for kind, words, counts in kinds
    )
    names = "".join(f"<span>{escape(each['title'])}</span>" for each in document["datasets"])
    strip = f'<span class="strip names" aria-hidden="true">{names}</span>'
    head = _head(
        "claim", "what we find", "published", "measured", "reproduced", f"{strip}by data set"
    )
    of = f" ({papers})" if papers else ""
    name = f' id="{anchor}"' if anchor else ""
    return (
        f'<details class="chapter"{name}><summary><strong>{escape(title)}</strong>{of} '
        f"{told}</summary>{link}"
        f'<table class="claims">{head}<tbody>{rows}</tbody></table></details>'
    )


def _counts(counts: Mapping[str, int]) -> str:
    """Write each sign with its number; what there is none of is hidden."""
    return " ".join(
        f'<span data-n="{name}"{"" if counts[name] else " hidden"}>{sign_html(name)} '
        f'<span class="n">{counts[name]}</span></span>'
        for name in SIGNS
    )


def _head(*titles: str) -> str:
    cells = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return f"<thead><tr>{cells}</tr></thead>"


def _place(claim: Claim) -> int:
    return list(KINDS).index(group(claim))


def _importance(claim: Claim) -> int:
    return _IMPORTANCE.index(outcome(claim["answers"]["reproduced"]))


def _papers(document: Document) -> dict[str, str]:
    """Name the papers of each chapter."""
    found: dict[str, dict[str, None]] = {}
    for claim in document["claims"]:
        found.setdefault(claim["chapter"], {})[PAPERS[claim["paper"]]] = None
    return {topic: "; ".join(papers) for topic, papers in found.items()}


def _row(claim: Claim, document: Document) -> str:
    part = _measured(claim, document)
    published = part["published"] if part else ""
    kind = "" if group(claim) == "empirical" else f' <span class="of">{claim["class"]}</span>'
    return (
        f'<tr class="claim-row" id="{claim["id"].lower()}" data-paper="{claim["paper"]}" '
        f'data-chapter="{escape(claim["chapter"])}" data-class="{group(claim)}" '
        f'data-verdict="{outcome(claim["answers"]["reproduced"])}" '
        f'data-authors="{escape(PAPERS[claim["paper"]])}" data-kind="{claim["class"]}">'
        f'<th scope="row">{_named(claim)}{kind}{_pilot(claim)} '
        f'<span class="says">{typeset(claim["claim"])}</span></th>'
        f'<td class="says">{_found(claim, document)}</td>'
        f'<td class="number" data-head="published">{typeset(published)}</td>'
        f'<td class="number" data-head="measured">{typeset(value_text(claim, part))}</td>'
        f'<td data-head="reproduced">{_reproduced(claim)}</td>'
        f'<td data-head="by data set">{_elsewhere(claim, document)}</td></tr>'
    )


def _named(claim: Claim) -> str:
    return claim_link(claim["id"], claim["id"])


def shown_on(claim: Claim, document: Document) -> str:
    """Choose the data set whose finding a row shows.

    That of an edition of one's own data, else where the claim is at home, else where it could be
    decided.
    """
    datasets = [each["name"] for each in document["datasets"]]
    names = [each["name"] for each in document["datasets"] if not each["recorded"]]
    at_home = [name for name in datasets if name in claim["answers"]["home"]]
    names += sorted(at_home, key=lambda name: name != "ml-1m")  # what most of the papers measured
    names += datasets
    led = (name for name in names if claim["verdicts"][name]["lead"])
    return str(next(led, names[0]))


def _lead(verdict: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return verdict["parts"][verdict["lead"] - 1] if verdict["lead"] else None


def _found(claim: Claim, document: Document) -> str:
    """Say what was found, and on which data."""
    name = shown_on(claim, document)
    verdict = claim["verdicts"][name]
    if not (part := _lead(verdict)):
        reason = claim["answers"]["reason"] or verdict["reason"] or "nothing was measured"
        return f'<span class="of">{escape(reason)}</span>'
    titles = {each["name"]: each["title"] for each in document["datasets"]}
    where = (
        "" if claim["answers"]["no data"] else f' <span class="of">{escape(titles[name])}</span>'
    )
    told = dict.fromkeys(each["found"] for each in (part, _measured(claim, document)) if each)
    return " ".join(f"{typeset(text)}." for text in told) + where


def _held(claim: Claim, document: Document) -> str:
    """Say of a claim that holds in part what does, which a row tells by what does not."""
    verdict = claim["verdicts"][shown_on(claim, document)]
    if claim["answers"]["reproduced"] != "partly":
        return ""
    held = next((part for part in verdict["parts"] if part["verdict"] == "holds"), None)
    return f"{typeset(held['found'])}. " if held and held is not _lead(verdict) else ""


def _measured(claim: Claim, document: Document) -> Mapping[str, Any] | None:
    """Choose the part whose value a row shows: the first told, unless only others are published."""
    verdict = claim["verdicts"][shown_on(claim, document)]
    lead = _lead(verdict)
    against = [part for part in verdict["parts"] if part["measured"] and part["published"]]
    return lead if lead in against or not against else against[0]


def value_text(claim: Claim, part: Mapping[str, Any] | None) -> str:
    """Write the value of a part with its interval; nothing where none was measured, or none is."""
    if part is None or not part["measured"]:
        return ""
    value, (low, high) = number(part["value"]), map(number, part["interval"])
    if part["unit"] == "violation" or math.isnan(value):
        return ""
    records = claim["records"]
    difference = part["record"] is not None and records[part["record"] - 1]["difference"]
    return estimate_text(value, (low, high), part["unit"], difference=difference)


def _reproduced(claim: Claim) -> str:
    """Write the verdict by the core, what a detail is not, and what an erratum makes of it."""
    answers = claim["answers"]
    besides = _PARTS.get(answers["strict"], "") if answers["reproduced"] == "yes" else ""
    told = f' <span class="of">{besides}</span>' if besides else ""
    if _changes(claim):
        told += f' <span class="of">corrected:</span> {word_html(answers["corrected"])}'
    return f"{word_html(answers['reproduced'])}{told}"


def _changes(claim: Claim) -> bool:
    """Tell whether an erratum of the paper changes the verdict."""
    return claim["answers"]["corrected"] not in ("", claim["answers"]["reproduced"])


def _elsewhere(claim: Claim, document: Document) -> str:
    """Write the sign of every data set, and on how many others the claim holds."""
    words = escape(claim["answers"]["elsewhere"])
    if claim["answers"]["no data"]:
        return words
    found = {each["title"]: claim["verdicts"][each["name"]] for each in document["datasets"]}
    told = ", ".join(f"{title} {verdict['verdict']}" for title, verdict in found.items())
    signs = "".join(sign_html(verdict["verdict"]) for verdict in found.values())
    return (
        f'<span class="strip" role="img" aria-label="{escape(told)}" title="{escape(told)}">'
        f"{signs}</span> {words}"
    )


# -- tables ------------------------------------------------------------------------------------


def all_totals_html(document: Document) -> str:
    """Write all totals behind a click: where claims are at home, and on this edition's data."""
    edition = document["datasets"][0]
    tables = {
        "Verdicts where claims are at home": answer_totals(document),
        "Those reproduced, by all their parts alike, details included": strict_totals(document),
        "When their criteria were written": criteria_totals(document),
        "Empirical claims by when their criteria were written": written_totals(document),
        f"Verdicts on {edition['title']}": totals(document, edition["name"]),
        f"Verdicts on {edition['title']} by all parts alike": totals(
            document, edition["name"], strict=True
        ),
    }
    text = "".join(
        f"<p>{escape(title)}:</p>{_totals_table(table)}" for title, table in tables.items()
    )
    return (
        "<details><summary>By class, by data, by when criteria were written, by chapter</summary>"
        f"{text}<p>What the papers assert behind their claims. An assertion that is judged is part "
        "of a verdict, on this claim or another; one that cannot be checked says why on the "
        f"claim's page:</p>{chapters_html(document)}</details>"
    )


def _totals_table(table: Totals) -> str:
    head = ("class", *next(iter(table.values())))
    rows = ((escape(row), *map(str, cells.values())) for row, cells in table.items())
    return table_html(head, rows)


def chapters_html(document: Document) -> str:
    """Write a line per chapter: its claims, and what became of the assertions behind them."""
    rows, papers = [], _papers(document)
    counts, apart = assertion_totals(document), chapter_apart(document)
    for topic, chapter in chapters().items():
        n_claims = sum(claim["chapter"] == topic for claim in document["claims"]) - apart[topic]
        title = escape(_chapter_title(topic, chapter))
        more = f"; apart: {apart[topic]} with {NO_ASSERTION}" if apart[topic] else ""
        rows.append(
            [
                f'<a href="{chapter}.html">{title}</a>' if chapter else f"{title}, not yet written",
                escape(papers.get(topic, "")),
                f"{n_claims}{more}",
                *(str(counts.get(topic, {}).get(name, 0)) for name in ("all", *STANDINGS)),
            ]
        )
    return table_html(("chapter", "papers", "claims", "assertions", *STANDINGS), rows)


def files_html() -> str:
    """Write links that hand out the scorecard: what the site has beside it."""
    files = [f'<span data-file="{name}">{name}</span>' for name in SITE_FILES]
    return (
        f"<p>All of it in one document that programs read: {files[0]}, under {files[1]}; a line "
        f"for each part of a verdict: {files[2]}. Every total on this page is counted from the "
        f"document, and {files[3]}, a script of a few lines, counts them again: <code>python "
        "recount.py claims.json ml-1m</code>. <code>recbias claims --json</code> prints the "
        "document.</p>"
    )
