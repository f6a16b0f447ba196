"""Verdicts as a reader sees them: cards in a chapter, rows of the scorecard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

import pandas as pd

from recbias.claims.judging import VERDICTS, Verdict
from recbias.claims.ledger import CHAPTERS

__all__ = ["scorecard_html", "totals", "verdict_cards"]

KINDS = {
    "empirical": "What only a measurement can tell",
    "theorem": "Identities and bounds, checked",
    "definition": "Options and records that exist",
}
"""Classes of claims in the order of the page, with what they are to a reader."""

OPEN_PARTS = 6
"""A card lists up to so many parts at once; more wait behind a click."""


def verdict_cards(verdicts: Sequence[Verdict]) -> str:
    """Write one card per claim: what the paper says, the criterion, each part, the verdict.

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


def totals(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Count verdicts by class of claim; only empirical claims count as reproduced or not.

    Parameters
    ----------
    verdicts
        Of one dataset.

    Returns
    -------
    DataFrame
        A row per class and a column per verdict, with the total.
    """
    counts: Counter[tuple[str, str]] = Counter(
        (verdict.claim.kind, verdict.verdict) for verdict in verdicts
    )
    table = pd.DataFrame(
        [[counts[kind, verdict] for verdict in VERDICTS] for kind in KINDS],
        index=pd.Index(list(KINDS), name="class"),
        columns=list(VERDICTS),
    )
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
    rows = "".join(_row(verdict, pages) for verdict in verdicts)
    head = "".join(f"<th>{name}</th>" for name in ("claim", "class", "published", "verdict"))
    return (
        '<div class="scrolls"><table class="scorecard"><thead><tr>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _badge(verdict: Verdict) -> str:
    name = verdict.verdict.replace(" ", "-")
    reason = f" ({escape(verdict.reason)})" if verdict.reason else ""
    return f'<span class="verdict {name}">{escape(verdict.verdict)}{reason}</span>'


def _card(verdict: Verdict) -> str:
    claim = verdict.claim
    published = f"<p>Published: {escape(claim.published)}.</p>" if claim.published else ""
    return (
        f'<section class="claim" id="{escape(claim.id.lower())}">'
        f'<p class="claim-head"><strong>{escape(claim.id)}</strong> {escape(claim.where)} · '
        f"{escape(claim.kind)} {_badge(verdict)}</p>"
        f"<p>{escape(claim.text)}</p>{published}"
        f'<p class="criterion">Holds if: {escape(claim.criterion)}.</p>{_parts(verdict)}'
        f"{_earlier(verdict)}</section>"
    )


def _parts(verdict: Verdict) -> str:
    if not verdict.parts:
        return ""
    rows = []
    for part in verdict.parts:
        low, high = part.interval
        shown = "" if low == high else f"{low:.4g} to {high:.4g}"
        cells = (part.name, f"{part.value:.4g}", shown, part.region, part.verdict)
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(
        f"<th>{name}</th>" for name in ("we measure", "value", "95 % interval", "claimed", "holds")
    )
    table = (
        f'<div class="scrolls"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    if len(rows) <= OPEN_PARTS:
        return table
    agreeing = sum(part.verdict == "yes" for part in verdict.parts)
    return (
        f"<details><summary>{agreeing} of {len(rows)} parts hold: show them</summary>"
        f"{table}</details>"
    )


def _earlier(verdict: Verdict) -> str:
    return "".join(
        f'<p class="criterion">Until {old.until} the criterion was another: {escape(old.words)}. '
        f"By it the verdict is <strong>{escape(name)}</strong>. Replaced, because "
        f"{escape(old.reason)}.</p>"
        for name, old in verdict.earlier
    )


def _row(verdict: Verdict, pages: str) -> str:
    claim = verdict.claim
    chapter = CHAPTERS[claim.topic]
    name = f"<strong>{escape(claim.id)}</strong>"
    if chapter:
        name = f'<a href="{pages}{chapter}.html#{claim.id.lower()}">{name}</a>'
    text = f"{name}<br/>{escape(claim.where)}: {escape(claim.text)}"
    published = escape(claim.published or "no value")
    return (
        f'<tr id="{claim.id.lower()}"><td>{text}</td><td>{claim.kind}</td>'
        f"<td>{published}</td><td>{_badge(verdict)}{_earlier(verdict)}</td></tr>"
    )
