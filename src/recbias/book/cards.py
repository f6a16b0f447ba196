"""Verdicts as a reader of a chapter sees them: one card per claim."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from html import escape

from recbias.book.html import badge, claim_link, estimate_text, table_html, typeset
from recbias.claims.home import home
from recbias.claims.judging import Verdict
from recbias.claims.ledger import Claim
from recbias.claims.parts import WEIGHTS, Part, is_core, of_form, weight
from recbias.claims.reading import NO_ASSERTION, VERDICTS
from recbias.data.datasets import dataset_info

KINDS = {
    "empirical": "What only a measurement can tell",
    "theorem": "Identities and bounds, checked on these data",
    "definition": "Options and records, checked on these data",
}
"""Classes of claims in the order of the page, with what they are to a reader."""

GROUPS = {
    **KINDS,
    NO_ASSERTION: "What no paper at hand asserts: derived, or of a paper that we could not read",
}
"""Groups of claims that are counted apart, in the order of the page."""

_PLURAL = {"holds": "hold"}

_AXIS = re.compile(r"axis\b|[xy]$")

_IMPORTANCE = ("no", "partly", "undecided", "yes", "not testable here", "not yet")
"""Verdicts on claims, the one that a reader should see first in front."""


_OPEN_PARTS = 3
"""A card lists up to so many parts at once; more wait behind a click."""


def by_importance(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Order verdicts as a page shows them: first what the data contradict."""
    return sorted(verdicts, key=_importance)


def _importance(verdict: Verdict) -> tuple[int, int, int]:
    judged = [part for part in verdict.parts if part.record.decides]
    refuted = {n for part in judged if part.verdict == "refuted" for n in part.record.asserts}
    assertions = {n for part in judged for n in part.record.asserts}
    return _IMPORTANCE.index(verdict.verdict), -len(refuted), -len(assertions)


def verdict_cards(verdicts: Sequence[Verdict]) -> str:
    """Write one card per claim: what was found, what the paper says, and each part."""
    groups = []
    for kind, title in GROUPS.items():
        of_kind = by_importance(v for v in verdicts if v.claim.counts_as == kind)
        if not of_kind:
            continue
        cards = "".join(map(_card, of_kind))
        heading = f"<strong>{title}</strong>: {_counted(of_kind)}"
        groups.append(
            f'<p class="claim-group">{heading}</p>{cards}'
            if kind == "empirical"
            else f'<details class="claim-group"><summary>{heading}</summary>{cards}</details>'
        )
    return '<div class="verdicts">' + "".join(groups) + "</div>"


def verdict_table(
    verdicts: Sequence[Verdict], others: Mapping[str, Sequence[Verdict]] | None = None
) -> str:
    """List what only a measurement can tell in a table, and keep all cards behind a click.

    What cannot be tested on these data shows what became of it where it is at home, of `others`.
    """
    shown = by_importance(v for v in verdicts if v.claim.counts_as == "empirical")
    rows = [
        (
            _where_at_home(verdict, others or {}) or badges(verdict),
            f'<a href="#{escape(verdict.claim.id.lower())}">{escape(verdict.claim.id)}</a> '
            f"{typeset(verdict.claim.text)}",
        )
        for verdict in shown
    ]
    table = table_html(("verdict", "what the paper says"), rows, style="parts") if rows else ""
    return (
        f"{table}<details><summary>A card for each of {len(verdicts)} claims: what was found, part "
        f"by part</summary>{verdict_cards(verdicts)}</details>"
    )


def _where_at_home(verdict: Verdict, others: Mapping[str, Sequence[Verdict]]) -> str:
    """Write the verdicts on other data where a claim is at home; nothing where it was tested."""
    if verdict.verdict != _UNTESTED:
        return ""
    claim, told = verdict.claim, []
    for name in home(claim, others):
        found = next(each for each in others[name] if each.claim.id == claim.id)
        if found.verdict != _UNTESTED:
            title = dataset_info(name).title.partition(" (")[0]
            link = claim_link(claim.id, f"on {escape(title)}")
            told.append(f"{link}: {badge(found.verdict)}")
    return f"not on this page's data; {', '.join(told)}" if told else ""


_UNTESTED = "not testable here"


def _counted(verdicts: Sequence[Verdict]) -> str:
    """Count verdicts, and name the claims that do not hold."""
    counts = []
    for name in VERDICTS:
        ids = [verdict.claim.id for verdict in verdicts if verdict.verdict == name]
        if ids:
            listed = f" ({', '.join(ids)})" if name in ("no", "partly", "undecided") else ""
            counts.append(f"{len(ids)} {name}{escape(listed)}")
    return ", ".join(counts)


def finding_html(verdict: Verdict) -> str:
    """Write the line that says what became of a claim, in words and numbers."""
    part = verdict.lead
    if part is None:
        return f"Not decided here: {escape(verdict.reason or 'nothing was measured')}."
    claimed = _claimed(verdict, part)
    claimed_html = f' <span class="claimed">Claimed: {claimed}.</span>' if claimed else ""
    return f"{typeset(part.finding)}.{claimed_html}"


def _claimed(verdict: Verdict, part: Part) -> str:
    """Write what is claimed where a part stands, with the published value if it has one."""
    if part.record.claimed == "none":
        return ""
    values = verdict.claim.values
    published = values[part.record.published] if part.record.published else ""
    return typeset(part.record.claimed) + (f"; published: {escape(published)}" if published else "")


def measured_text(part: Part) -> str:
    """Write the value of a part with its 95 % interval, in its unit; "undefined" has none.

    Examples
    --------
    >>> from recbias.claims.records import Record
    >>> record = Record.from_dict({"finds": "TI covers {value}", "value": "check(covered)",
    ...                            "unit": "percent", "least": 0.9})
    >>> measured_text(Part(record, 0.935))
    '93.5 %'
    """
    if part.estimate is None:
        return ""
    record = part.record
    return estimate_text(part.value, part.interval, record.unit, difference=record.is_difference)


def badges(verdict: Verdict) -> str:
    """Write the verdict on a claim, and that on its corrected form where an erratum has one."""
    # What forbids a "yes" is a sentence of its own; see `standing_html`.
    text = badge(verdict.verdict, "" if verdict.verdict == "undecided" else verdict.reason)
    if verdict.corrected:
        text = f"as printed {text} corrected {badge(verdict.corrected)}"
    return text


def _card(verdict: Verdict) -> str:
    claim = verdict.claim
    pilot = (
        ' <span class="pilot" title="values were known when the criterion was written">'
        "pilot seen</span>"
        if claim.pilot_seen
        else ""
    )
    return (
        f'<section class="claim" id="{escape(claim.id.lower())}">'
        f'<p class="claim-finding">{badges(verdict)} {finding_html(verdict)}</p>'
        f'<p class="claim-text"><strong>{escape(claim.id)}</strong> {escape(claim.where)}: '
        f"{claim_html(claim)}{pilot}</p>{standing_html(verdict)}"
        f"{_parts(verdict)}{claim_link(claim.id, 'All about this claim')}</section>"
    )


def claim_html(claim: Claim) -> str:
    """Write what a claim says, with the published values but without the axes of figures."""
    values = {name: value for name, value in claim.values.items() if not _AXIS.match(name)}
    published = dataclasses.replace(claim, values=values).published
    return typeset(claim.text) + (f" Published: {typeset(published)}." if published else "")


def _parts(verdict: Verdict) -> str:
    """List all parts; what a card with one part has to say stands in its first line."""
    parts = sorted(verdict.parts, key=partial(weight, verdict.claim))
    measured = [part.interval for part in parts if part.estimate is not None]
    intervals = any(low != high for low, high in measured)
    if not parts or (len(parts) == 1 and not intervals):
        return ""
    rows = []
    for part in parts:
        sentence = typeset(part.finding or part.record.asked)
        if part.unsure:
            sentence += f" ({escape(part.unsure)})"
        if part.record.corrects or part.record.corrected:
            form = f"corrected, {part.record.corrects}" if part.record.corrects else "as printed"
            sentence = f"<em>{escape(form)}:</em> {sentence}"
        if mark := _standing(part, verdict.claim):
            sentence = f"<em>{mark}:</em> {sentence}"
        claimed = _claimed(verdict, part) if part.record.decides else "nothing"
        row = [badge(part.verdict, part.lacks), sentence, claimed]
        if intervals:
            row.append(typeset(measured_text(part)))
        rows.append(row)
    head = ["verdict", "what we find", "claimed", "value (95 % interval)"][: len(rows[0])]
    if not any(row[2] for row in rows):
        rows, head = [row[:2] for row in rows], head[:2]
    table = table_html(head, rows, style="parts")
    counts = Counter(part.verdict for part in parts)
    if len(rows) - counts["beside"] <= _OPEN_PARTS:
        return table
    summary = ", ".join(
        f"{counts[name]} {_PLURAL.get(name, name)}" for name in WEIGHTS if counts[name]
    )
    return f"<details><summary>{summary}: show the parts</summary>{table}</details>"


def _standing(part: Part, claim: Claim) -> str:
    """Say that a part is a detail, and whether one of the two coders took it for the core."""
    if not part.record.decides or is_core(part.record, claim):
        return ""
    disputed = not set(part.record.asserts).isdisjoint(claim.disputed)
    return "detail, of the core for one of two readers" if disputed else "detail"


def standing_html(verdict: Verdict) -> str:
    """Write what stands beside a verdict: details, the strict verdict, what would decide it."""
    if not of_form(verdict.parts):
        return ""
    told = []
    if verdict.verdict == "undecided" and verdict.reason:
        told.append(f"{verdict.reason[0].upper()}{verdict.reason[1:]}.")
    told.append(verdict.would_decide)
    told.append(_beside("", details_text(verdict.details), verdict.strict))
    if verdict.corrected:
        counts = details_text(verdict.details_corrected)
        told.append(_beside("Corrected: ", counts, verdict.strict_corrected))
    return f'<p class="claim-core">{escape(" ".join(filter(None, told)))}</p>'


def _beside(form: str, details: str, strict: str) -> str:
    told = "; ".join(filter(None, [details, f"by all parts alike: {strict}" if strict else ""]))
    text = f"{form}{told}"
    return f"{text[0].upper()}{text[1:]}." if told else ""


def details_text(details: Mapping[str, int]) -> str:
    """Count details in words.

    Examples
    --------
    >>> details_text({"holds": 9, "refuted": 1})
    'details: 9 hold, 1 refuted'
    """
    told = ", ".join(
        f"{n} {_PLURAL.get(name, name) if n > 1 else name}" for name, n in details.items()
    )
    return f"details: {told}" if told else ""
