"""Verdicts as a reader sees them: cards in a chapter, rows of the scorecard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

import pandas as pd

from recbias.claims.assertions import standing
from recbias.claims.judging import VERDICTS, Verdict
from recbias.claims.ledger import TOPICS
from recbias.claims.showing import badge, table_html
from recbias.claims.topics import chapters

__all__ = [
    "assertion_counts",
    "scorecard_html",
    "totals",
    "verdict_cards",
]

KINDS = {
    "empirical": "What only a measurement can tell",
    "theorem": "Identities and bounds, checked",
    "definition": "Options and records that exist",
}
"""Classes of claims in the order of the page, with what they are to a reader."""

_ORDER = ("refuted", "open", "holds", "not testable", "beside")
"""Verdicts on parts in the order of a card."""

OPEN_PARTS = 8
"""A card lists up to so many parts at once; more wait behind a click."""


def verdict_cards(verdicts: Sequence[Verdict]) -> str:
    """Write one card per claim: what the paper says, what was found, the verdict.

    Parameters
    ----------
    verdicts
        Of one chapter. Empirical claims come first, then theorems, then definitions.

    Returns
    -------
    str
        HTML.
    """
    groups = []
    for kind, title in KINDS.items():
        own = [verdict for verdict in verdicts if verdict.claim.kind == kind]
        counts = Counter(verdict.verdict for verdict in own)
        found = ", ".join(f"{counts[name]} {name}" for name in VERDICTS if counts[name])
        if own:
            head = f'<p class="claim-group"><strong>{title}</strong>: {found}</p>'
            groups.append(head + "".join(map(_card, own)))
    return '<div class="verdicts">' + "".join(groups) + "</div>"


def totals(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Count verdicts on claims as they are printed, by class.

    Parameters
    ----------
    verdicts
        Of one dataset.

    Returns
    -------
    DataFrame
        A row per class and a column per verdict, with the total. Only empirical claims count as
        reproduced or not; claims of a paper that is not at hand have a row of their own.
    """
    names = [*KINDS, "paper not at hand"]
    counts: Counter[tuple[str, str]] = Counter(
        (each.claim.kind if each.claim.paper_at_hand else names[-1], each.verdict)
        for each in verdicts
    )
    table = pd.DataFrame(
        [[counts[name, verdict] for verdict in VERDICTS] for name in names],
        index=pd.Index(names, name="class"),
        columns=list(VERDICTS),
    )
    table["all"] = table.sum(axis=1)
    return table


def assertion_counts() -> pd.DataFrame:
    """Count by chapter what the papers assert: what is judged, open, or cannot be checked.

    Returns
    -------
    DataFrame
        A row per topic: ``judged`` have a part, here or under another claim; ``open`` have none
        yet; ``not checkable`` say why.
    """
    counts = {topic: standing(topic) for topic in TOPICS}
    table = pd.DataFrame.from_dict(counts, orient="index").rename_axis("chapter")
    table["all"] = table.sum(axis=1)
    return table


def scorecard_html(verdicts: Sequence[Verdict], *, pages: str) -> str:
    """Write a row per claim with class, published value, verdict and link.

    Parameters
    ----------
    verdicts
        Of one dataset.
    pages
        Relative address of the folder that holds the chapters' pages.

    Returns
    -------
    str
        HTML.
    """
    written = chapters()
    rows = "".join(_row(verdict, pages, written[verdict.claim.topic]) for verdict in verdicts)
    head = "".join(f"<th>{name}</th>" for name in ("claim", "class", "published", "verdict"))
    return (
        '<div class="scrolls"><table class="scorecard"><thead><tr>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _card(verdict: Verdict) -> str:
    claim = verdict.claim
    published = f"<p>Published: {escape(claim.published)}.</p>" if claim.published else ""
    return (
        f'<section class="claim" id="{escape(claim.id.lower())}">'
        f'<p class="claim-head"><strong>{escape(claim.id)}</strong> {escape(claim.where)} · '
        f"{escape(claim.kind)} {_badges(verdict)}</p>"
        f"<p>{escape(claim.text)}</p>{published}{_parts(verdict)}{_not_judged(verdict)}"
        f"{_earlier(verdict)}</section>"
    )


def _badges(verdict: Verdict) -> str:
    text = badge(verdict.verdict, verdict.reason)
    if verdict.corrected:
        text = f"as printed {text} corrected {badge(verdict.corrected)}"
    if verdict.claim.pilot_seen:
        text += ' <span class="pilot" title="values were known when the criterion was written">'
        text += "pilot seen</span>"
    return text


def _parts(verdict: Verdict) -> str:
    if not verdict.parts:
        return ""
    rows = []
    for part in sorted(verdict.parts, key=lambda part: _ORDER.index(part.verdict)):
        low, high = part.interval
        shown = "" if low == high or part.estimate is None else f"{low:.4g} to {high:.4g}"
        sentence = escape(part.sentence)
        if part.unsure:
            sentence += f" ({escape(part.unsure)})"
        if part.record.corrects or part.record.corrected:
            form = f"corrected, {part.record.corrects}" if part.record.corrects else "as printed"
            sentence = f"<em>{escape(form)}:</em> {sentence}"
        rows.append([badge(part.verdict, part.lacks), sentence, shown])
    table = table_html(("", "what we find", "95 % interval"), rows, style="parts")
    if len(rows) <= OPEN_PARTS:
        return table
    counts = Counter(part.verdict for part in verdict.parts)
    told = ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts[name])
    return f"<details><summary>{told}: show the parts</summary>{table}</details>"


def _not_judged(verdict: Verdict) -> str:
    """List the assertions of the entry that are no part, and why."""
    criterion = verdict.criterion
    if criterion is None:
        return ""
    rows = []
    for number, assertion in enumerate(verdict.claim.asserts, 1):
        if place := criterion.elsewhere.get(number):
            rows.append(f"<li>{escape(assertion.text)} <em>Judged under {escape(place)}.</em></li>")
        elif assertion.unchecked:
            why = f"<em>Not checked: {escape(assertion.unchecked)}.</em>"
            rows.append(f"<li>{escape(assertion.text)} {why}</li>")
    if not rows:
        return ""
    return (
        "<details><summary>Assertions of the paper that are no part of this verdict "
        f"({len(rows)})</summary><ul>{''.join(rows)}</ul></details>"
    )


def _earlier(verdict: Verdict) -> str:
    if verdict.criterion is None or not verdict.criterion.replaced:
        return ""
    rows = []
    for old in verdict.criterion.replaced:
        moved = ", ".join(
            f"{escape(name)}: {was} &rarr; {now}" for name, (was, now) in old.verdicts.items()
        )
        rows.append(
            f"<p>Until {old.until}: {escape(old.words)}. Replaced, because {escape(old.why)}. "
            f"Verdicts: {moved}.</p>"
        )
    return (
        '<details class="criterion"><summary>The criterion was another before</summary>'
        f"{''.join(rows)}</details>"
    )


def _row(verdict: Verdict, pages: str, chapter: str | None) -> str:
    claim = verdict.claim
    name = f"<strong>{escape(claim.id)}</strong>"
    if chapter:
        name = f'<a href="{pages}{chapter}.html#{claim.id.lower()}">{name}</a>'
    text = f"{name}<br/>{escape(claim.where)}: {escape(claim.text)}"
    published = escape(claim.published or "no value")
    return (
        f'<tr id="{claim.id.lower()}"><td>{text}</td><td>{claim.kind}</td>'
        f"<td>{published}</td><td>{_badges(verdict)}</td></tr>"
    )
