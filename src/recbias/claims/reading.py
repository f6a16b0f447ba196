"""What a document of claims says: lists, tables, totals; how verdicts arise is not known here.

A document is what ``recbias claims --json`` prints and the site ships, under the schema
``data/published/claims.schema.json``. All that the command prints is read from it.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

SCHEMA = 1
"""Version of the schema: raised when a field goes, or means something else."""

VERDICTS = ("yes", "no", "undecided", "partly", "not testable here", "not yet")

NOT_AT_HAND = "not at hand"
"""What is said of a claim whose data nobody here has."""

CLASSES = ("empirical", "theorem", "definition")
"""Classes of claims in the order of totals."""

NO_ASSERTION, HANGS_ON_NO_DATA = "no assertion of a paper", "hangs on no data"
"""Rows of totals for entries that count apart."""

GROUPS = (*CLASSES, HANGS_ON_NO_DATA, NO_ASSERTION)
"""Rows of totals in their order."""

WRITTEN = ("before any value", "after pilot values")
"""When a criterion was written; of the ledger's flag "pilot seen" the place."""

STANDINGS = ("judged", "open", "not checkable")
"""What an assertion may be."""

Document = Mapping[str, Any]
Totals = Mapping[str, Mapping[str, int]]
"""By row and column how many."""


def jsonable(value: float) -> float | str | None:
    """Write a number as JSON has it: what is none as None, the infinite as a text.

    Examples
    --------
    >>> jsonable(0.5), jsonable(math.nan), jsonable(-math.inf)
    (0.5, None, '-inf')
    """
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


def number(value: float | str | None) -> float:
    """Read what `jsonable` wrote."""
    if value is None:
        return math.nan
    return float(value) if isinstance(value, str) else value


def address(claim: str) -> str:
    """Give the page of a claim within a site: the same in every build, so that it can be cited.

    Examples
    --------
    >>> address("BCC17-F4R")
    'claims/BCC17-F4R.html'
    """
    return f"claims/{claim}.html"


# -- totals ------------------------------------------------------------------------------------


def _counted(
    pairs: Iterable[tuple[str, str]], rows: Sequence[str], columns: Sequence[str]
) -> Totals:
    counts = Counter(pairs)
    table = {row: {column: counts[row, column] for column in columns} for row in rows}
    return {row: {**cells, "all": sum(cells.values())} for row, cells in table.items()}


def totals(document: Document, dataset: str, *, strict: bool = False) -> Totals:
    """Count verdicts on a data set as claims are printed, by class; strict: by all parts alike.

    Entries that restate no assertion of a paper count apart.
    """
    field = "strict" if strict else "verdict"
    pairs = (
        (claim["counts as"], claim["verdicts"][dataset][field]) for claim in document["claims"]
    )
    return _counted(pairs, (*CLASSES, NO_ASSERTION), VERDICTS)


def group(claim: Mapping[str, Any]) -> str:
    """Say where totals of answers count a claim: what hangs on no data counts apart."""
    on_none = claim["answers"]["no data"] and claim["counts as"] != NO_ASSERTION
    return HANGS_ON_NO_DATA if on_none else str(claim["counts as"])


def answer_totals(document: Document) -> Totals:
    """Count claims by the verdict where they are at home; what hangs on no data counts apart."""
    pairs = ((group(claim), claim["answers"]["reproduced"]) for claim in document["claims"])
    return _counted(pairs, GROUPS, (*VERDICTS, NOT_AT_HAND))


def strict_totals(document: Document) -> Totals:
    """Count what `answer_totals` counts as "yes" by the verdict of all parts, details included."""
    pairs = (
        (group(claim), claim["answers"]["strict"])
        for claim in document["claims"]
        if claim["answers"]["reproduced"] == "yes"
    )
    return _counted(pairs, GROUPS, VERDICTS)


def written_totals(document: Document) -> Totals:
    """Count what `answer_totals` counts as empirical by when its criterion was written."""
    pairs = (
        (WRITTEN[claim["pilot seen"]], claim["answers"]["reproduced"])
        for claim in document["claims"]
        if group(claim) == "empirical" and claim["criterion"] is not None
    )
    return _counted(pairs, WRITTEN, (*VERDICTS, NOT_AT_HAND))


def paper_totals(document: Document) -> Totals:
    """Count by paper what `answer_totals` counts as empirical: what one can reproduce."""
    pairs = [
        (claim["paper"], claim["answers"]["reproduced"])
        for claim in document["claims"]
        if group(claim) == "empirical"
    ]
    return _counted(
        pairs, list(dict.fromkeys(paper for paper, _ in pairs)), (*VERDICTS, NOT_AT_HAND)
    )


def criteria_totals(document: Document) -> Totals:
    """Count by group criteria that were written before any value of ours was seen, and after."""
    pairs = (
        (group(claim), WRITTEN[claim["pilot seen"]])
        for claim in document["claims"]
        if claim["criterion"] is not None
    )
    return _counted(pairs, GROUPS, WRITTEN)


def chapter_apart(document: Document) -> Mapping[str, int]:
    """Count by chapter the entries that restate no assertion of a paper."""
    counted_as = ((claim["chapter"], claim["counts as"]) for claim in document["claims"])
    return Counter(chapter for chapter, name in counted_as if name == NO_ASSERTION)


def _chapters(document: Document) -> list[str]:
    return list(dict.fromkeys(claim["chapter"] for claim in document["claims"]))


def chapter_answers(document: Document) -> Totals:
    """Count by chapter what `answer_totals` counts as empirical."""
    pairs = (
        (claim["chapter"], claim["answers"]["reproduced"])
        for claim in document["claims"]
        if group(claim) == "empirical"
    )
    return _counted(pairs, _chapters(document), (*VERDICTS, NOT_AT_HAND))


def assertion_totals(document: Document) -> Totals:
    """Count by chapter what the papers assert: what is judged, open, or cannot be checked."""
    pairs = (
        (claim["chapter"], assertion["standing"])
        for claim in document["claims"]
        for assertion in claim["assertions"]
    )
    return _counted(pairs, _chapters(document), STANDINGS)


# -- what the command prints -------------------------------------------------------------------


def claim_lines(document: Document, dataset: str) -> Iterator[str]:
    """List what became of each claim on a data set, with its parts."""
    for claim in document["claims"]:
        found = claim["verdicts"][dataset]
        reason = f" ({found['reason']})" if found["reason"] else ""
        word, strict = found["verdict"], found["strict"]
        told = f"{word}{reason}{f', by all parts {strict}' if strict != word else ''}"
        yield f"{claim['id']:18} {claim['counts as']:11} {told}  [{claim['chapter']}]"
        for part in found["parts"]:
            low, high = map(number, part["interval"])
            span = "" if low == high or not part["measured"] else f" [{low:.4g}, {high:.4g}]"
            yield f"    {part['verdict']:12} {part['finding']}{span}"


def answer_lines(document: Document) -> Iterator[str]:
    """List both answers about each claim, and below them how many are reproduced."""
    for claim in document["claims"]:
        word, where = (claim["answers"][name] for name in ("reproduced", "where"))
        told = word if where == word else f"{word} ({where})"
        apart = f"; {NO_ASSERTION}" if claim["counts as"] == NO_ASSERTION else ""
        yield f"{claim['id']:18} {told}; {claim['answers']['elsewhere']}{apart}"
    yield ""
    table = answer_totals(document)
    columns = list(next(iter(table.values())))
    width = max(map(len, table))
    yield "  ".join([f"{'reproduced':{width}}", *columns])
    for row, cells in table.items():
        yield "  ".join([f"{row:{width}}", *(f"{cells[name]:{len(name)}}" for name in columns)])


_COLUMNS = (
    "dataset", "claim", "paper", "chapter", "class", "counts as", "where", "verdict", "corrected",
    "strict", "part", "core", "asserts", "which", "value", "low", "high", "unit", "claimed",
    "published", "finding", "reason",
)  # fmt: skip
_OF_CLAIM = ("paper", "chapter", "class", "counts as", "where")


def csv_text(document: Document) -> str:
    """Write verdicts and parts as CSV, a line for each part, claims of written chapters only."""
    text = io.StringIO()
    table = csv.DictWriter(text, _COLUMNS, lineterminator="\n", restval="")
    table.writeheader()
    for dataset in document["datasets"]:
        for claim in document["claims"]:
            if claim["page"] is None:
                continue
            found = claim["verdicts"][dataset["name"]]
            row = {column: claim[column] for column in _OF_CLAIM}
            row |= {"dataset": dataset["title"], "claim": claim["id"]}
            row |= {name: found[name] for name in ("verdict", "corrected", "strict", "reason")}
            for part in found["parts"]:
                low, high = map(number, part["interval"])
                fields = {key: part[key] for key in ("which", "unit", "claimed", "published")}
                fields |= {
                    "part": part["verdict"],
                    "core": "yes" if part["core"] else "no",
                    "finding": part["found"],
                    "asserts": " ".join(map(str, part["asserts"])),
                    "value": number(part["value"]),
                    "low": low,
                    "high": high,
                }
                table.writerow(row | fields | {"reason": part["reason"]})
            if not found["parts"]:
                table.writerow(row)
    return text.getvalue()
