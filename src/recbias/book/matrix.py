"""The scorecard: every claim on every data set with results, as a matrix of verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from recbias.book.cards import (
    GROUPS,
    badges,
    by_importance,
    claim_html,
    finding_html,
    lead,
    measured_text,
    standing_html,
)
from recbias.book.html import badge, file_links, markdown_table, table_html, typeset
from recbias.claims import kept
from recbias.claims.judging import Verdict, scorecards
from recbias.claims.parts import Part
from recbias.claims.reading import (
    NO_ASSERTION,
    NOT_AT_HAND,
    STANDINGS,
    Document,
    Totals,
    assertion_totals,
    chapter_answers,
    chapter_apart,
    chapter_totals,
    csv_text,
)
from recbias.claims.topics import chapters
from recbias.claims.writing import called
from recbias.data.datasets import is_path, own_table
from recbias.experiment.results import SIMULATIONS, recorded_datasets, results_dir

SIGNS: Mapping[str, str] = {
    "yes": "\N{CHECK MARK}",
    "no": "\N{BALLOT X}",
    "undecided": "?",
    "partly": "\N{PLUS-MINUS SIGN}",
    "not testable here": "\N{EN DASH}",
    "not yet": "\N{MIDDLE DOT}",
}
"""What stands in a cell beside its colour."""

SITE_FILES = ("claims.json", "claims.schema.json", "recount.py")
"""What a site has beside its scorecard: the document of all claims, its schema, a script."""

Matrix = Mapping[str, Sequence[Verdict]]
"""By data set, that of the edition first: verdicts on all claims, in the order of the ledger."""


def _name(dataset: str) -> str:
    """Name a data set as its edition is named: by itself, or by file and content of a table."""
    if is_path(dataset):
        return own_table(dataset).name
    return re.sub(r"[^\w.+=-]+", "_", dataset)


def _title(dataset: str) -> str:
    """Call a data set as readers see it: by its name, or that of the file of a table."""
    return own_table(dataset).title if is_path(dataset) else _name(dataset)


def columns(dataset: str) -> tuple[str, ...]:
    """Name the data sets of an edition's scorecard: its own, and others with recorded results."""
    written = [chapter for chapter in chapters().values() if chapter]
    others = [
        name
        for name in recorded_datasets()
        if name not in (dataset, SIMULATIONS)
        and any((results_dir(name, recorded=True) / chapter).is_dir() for chapter in written)
    ]
    return (dataset, *others)


def judged_datasets(dataset: str) -> Matrix:
    """Judge all claims on an edition's data set and on all that have recorded results."""
    return scorecards(columns(dataset))


def document_text(dataset: str, judged: Matrix | None = None) -> str:
    """Write the document of an edition: all recorded data sets, and its own where it is none."""
    recorded = recorded_datasets()
    others = () if dataset in recorded else sorted((dataset, *recorded))
    return kept.document(*others, judged=judged)


def document_of(matrix: Matrix) -> Document:
    """Read the document of an edition, which has been judged."""
    found: Document = json.loads(document_text(next(iter(matrix)), matrix))
    return found


def totals_table(table: Totals) -> str:
    """Write totals by class."""
    head = ("class", *next(iter(table.values())))
    rows = ((row, *map(str, cells.values())) for row, cells in table.items())
    return markdown_table(head, rows)


def matrix_html(matrix: Matrix, document: Document) -> str:
    """Write the matrix of all claims whose chapter is written, with what was found below each."""
    edition, *_ = names = list(matrix)
    counts, apart = chapter_totals(document, called(edition)[0]), chapter_apart(document)
    head = _head(names, ("published", f"on {_title(edition)} (95 % interval)"))
    folds = []
    for topic, chapter in chapters().items():
        verdicts = [verdict for verdict in matrix[edition] if verdict.claim.topic == topic]
        if not chapter or not verdicts:
            continue
        papers = ", ".join(dict.fromkeys(verdict.claim.paper for verdict in verdicts))
        rows = "".join(
            _claim_rows(_row_of(matrix, verdict.claim.id), chapter)
            for kind in GROUPS
            for verdict in by_importance(
                verdict for verdict in verdicts if verdict.claim.counts_as == kind
            )
        )
        folds.append(
            f"<summary><strong>{escape(f'{topic[0].upper()}{topic[1:]}')}</strong> ({papers})"
            f"{_counts(counts[topic], apart[topic], edition)}</summary>"
            f'<p><a href="{chapter}.html">The chapter</a></p>'
            f'<table class="matrix">{head}{rows}</table>'
        )
    start = '<details class="chapter" open>' if len(folds) == 1 else '<details class="chapter">'
    return "".join(f"{start}{fold}</details>" for fold in folds)


def _counts(counts: Mapping[str, int], n_apart: int, dataset: str) -> str:
    """Write how many claims of a chapter have each verdict, in the order of the legend.

    Entries that restate no assertion of a paper are named apart.
    """
    signs = "".join(
        f' <span class="sign {name.replace(" ", "-")}">{sign}</span> {counts[name]} {name}'
        for name, sign in SIGNS.items()
        if counts[name]
    )
    return f' <span class="counts">on {escape(_title(dataset))}:{signs}{_apart(n_apart)}</span>'


def _apart(n_apart: int) -> str:
    """Say how many entries restate no assertion of a paper; nothing if none does."""
    return f"; apart: {n_apart} with {NO_ASSERTION}" if n_apart else ""


def small_matrix_html(matrix: Matrix) -> str:
    """Write the matrix of the empirical claims alone, in their own words: what the index shows."""
    edition, *_ = names = list(matrix)
    body = []
    for topic, chapter in chapters().items():
        empirical = (
            v for v in matrix[edition] if (v.claim.topic, v.claim.counts_as) == (topic, "empirical")
        )
        for verdict in by_importance(empirical) if chapter else ():
            anchor = verdict.claim.id.lower()
            row = _row_of(matrix, verdict.claim.id)
            cells = "".join(
                _cell(name, dataset_verdict, f"{chapter}.html", "scorecard.html")
                for name, dataset_verdict in row.items()
            )
            words = f'<a href="scorecard.html#{anchor}">{typeset(verdict.claim.text)}</a>'
            body.append(f'<tr><th scope="row">{words}</th>{cells}</tr>')
    return f'<table class="matrix small">{_head(names, ())}<tbody>{"".join(body)}</tbody></table>'


def answers_html(document: Document) -> str:
    """Write where each claim is reproduced, and on how many other data sets it holds."""
    folds = []
    counts, apart = chapter_answers(document), chapter_apart(document)
    for topic, chapter in chapters().items():
        of_topic = [each for each in document["claims"] if each["chapter"] == topic]
        if not chapter or not of_topic:
            continue
        rows = [
            [
                f'<a href="#{each["id"].lower()}">{escape(each["id"])}</a>',
                f"{badge(each['answers']['reproduced'])} {escape(each['answers']['where'])}"
                if each["answers"]["reproduced"] != NOT_AT_HAND
                else NOT_AT_HAND,
                escape(each["answers"]["elsewhere"]),
            ]
            for kind in GROUPS
            for each in of_topic
            if each["counts as"] == kind
        ]
        told = ", ".join(
            f"{counts[topic][name]} {name}" for name in (*SIGNS, NOT_AT_HAND) if counts[topic][name]
        )
        told += _apart(apart[topic])
        table = table_html(("claim", "reproduced", "generalises"), rows, style="labelled")
        folds.append(
            '<details class="chapter"><summary>'
            f"<strong>{escape(f'{topic[0].upper()}{topic[1:]}')}</strong> "
            f'<span class="counts">empirical: {told}</span></summary>{table}</details>'
        )
    return "".join(folds)


def _row_of(matrix: Matrix, claim: str) -> dict[str, Verdict]:
    return {
        name: next(verdict for verdict in verdicts if verdict.claim.id == claim)
        for name, verdicts in matrix.items()
    }


def _head(names: Sequence[str], more: Iterable[str]) -> str:
    titles = "".join(f'<th scope="col" class="number">{escape(title)}</th>' for title in more)
    columns = "".join(
        f'<th scope="col" class="data-set"><span>{escape(_title(name))}</span></th>'
        for name in names
    )
    return f'<thead><tr><th scope="col">claim</th>{titles}{columns}</tr></thead>'


def _claim_rows(row: Mapping[str, Verdict], chapter: str) -> str:
    """Write the verdicts on a claim, and in a row below what was found on each data set."""
    verdict = next(iter(row.values()))
    claim, part = verdict.claim, lead(verdict)
    anchor = claim.id.lower()
    cells = "".join(
        _cell(name, dataset_verdict, f"{chapter}.html") for name, dataset_verdict in row.items()
    )
    lines = "".join(
        f'<li id="{anchor}-{_name(name)}"><strong>{escape(_title(name))}</strong> '
        f"{badges(dataset_verdict)} {finding_html(dataset_verdict)}</li>"
        for name, dataset_verdict in row.items()
    )
    codes = " ".join(
        f"{_name(name)}:{_code(dataset_verdict)}" for name, dataset_verdict in row.items()
    )
    return (
        f'<tbody class="claim-row" id="{anchor}" data-paper="{escape(claim.paper)}" '
        f'data-chapter="{escape(claim.topic)}" data-class="{claim.counts_as}" '
        f'data-verdicts="{codes}"><tr><th scope="row">{escape(claim.id)} '
        f'<span class="kind">{claim.counts_as}</span></th>'
        f'<td class="number">{_published(verdict)}</td>'
        f'<td class="number">{_measured(verdict)}</td>{cells}</tr>'
        f'<tr><td colspan="{len(row) + 3}"><details><summary>'
        f"{typeset(part.finding) if part else finding_html(verdict)}</summary>"
        f"<p>{escape(claim.where)}: {claim_html(claim)}</p>{standing_html(verdict)}<ul>{lines}</ul>"
        "</details></td></tr></tbody>"
    )


def _code(verdict: Verdict) -> str:
    return verdict.verdict.replace(" ", "-")


def _cell(name: str, verdict: Verdict, card: str, page: str = "") -> str:
    """Write a verdict that leads to its card; by `page` where this site has no such edition."""
    anchor = verdict.claim.id.lower()
    label = escape(f"{verdict.claim.id} on {_title(name)}: {verdict.verdict}")
    return (
        f'<td class="{_code(verdict)}"><a href="{page}#{anchor}-{_name(name)}" '
        f'data-edition="{_name(name)}" data-card="{card}#{anchor}" '
        f'aria-label="{label}" title="{label}">{SIGNS[verdict.verdict]}</a></td>'
    )


def _against(verdict: Verdict) -> Part | None:
    """Find the part that stands against a published value."""
    measured = (part for part in verdict.parts if part.estimate is not None)
    return next((part for part in measured if part.record.published), None)


def _published(verdict: Verdict) -> str:
    part = _against(verdict)
    return typeset(verdict.claim.values[part.record.published]) if part else ""


def _measured(verdict: Verdict) -> str:
    """Write the value beside the published one, else that of the part that leads."""
    part = _against(verdict) or lead(verdict)
    if part is None or part.finding == part.record.if_none:
        return ""
    return typeset(measured_text(part))


def legend_html() -> str:
    """Write what the signs of the matrix mean, in a line."""
    signs = (
        f'<span class="sign {name.replace(" ", "-")}">{sign}</span> {name}'
        for name, sign in SIGNS.items()
    )
    return f'<p class="legend">{" · ".join(signs)}</p>'


def chapters_html(document: Document) -> str:
    """Write a line per chapter: its claims, and what became of the assertions behind them."""
    rows, counts, apart = [], assertion_totals(document), chapter_apart(document)
    for topic, chapter in chapters().items():
        topic_claims = [claim for claim in document["claims"] if claim["chapter"] == topic]
        papers = ", ".join(dict.fromkeys(claim["paper"] for claim in topic_claims))
        title = escape(f"{topic[0].upper()}{topic[1:]}")
        rows.append(
            [
                f'<a href="{chapter}.html">{title}</a>' if chapter else f"{title}, not yet written",
                escape(papers),
                f"{len(topic_claims) - apart[topic]}{_apart(apart[topic])}",
                *(str(counts[topic][name]) for name in ("all", *STANDINGS)),
            ]
        )
    return table_html(("chapter", "papers", "claims", "assertions", *STANDINGS), rows)


def scorecard_links(document: Document) -> str:
    """Write links that hand out the scorecard: CSV in the page, and what the site has beside it."""
    table = file_links({"scorecard.csv": ("text/csv", csv_text(document).encode())})
    document_file, schema, script = (
        f'<span data-file="{name}">{name}</span>' for name in SITE_FILES
    )
    return (
        f"{table}<p>All of it in one document that programs read: {document_file}, under {schema}. "
        f"The totals on this page are counted from it, and {script} counts them again. "
        "<code>recbias claims --json</code> prints it.</p>"
    )
