"""Tables as a reader sees them: badges, quantities, and what the page of the systems compares."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import pandas as pd

from recbias.claims.reference import Reference
from recbias.claims.systems import LINE_UP, TITLES
from recbias.claims.validation import (
    FLOOR,
    MEASURES,
    Comparison,
    compare,
    explained,
    is_near,
    outside,
    tolerance,
    verdict,
)
from recbias.experiment import Results
from recbias.makers import Table
from recbias.recommenders.descriptions import class_html, line_up_html
from recbias.recommenders.line_ups import Change
from recbias.results import Quantity

__all__ = [
    "badge",
    "changes_html",
    "comparison_html",
    "comparison_sentence",
    "file_links",
    "floor_sentence",
    "line_up_details",
    "measured_html",
    "published_html",
    "quantity_text",
    "spans_html",
    "table_html",
    "typeset",
]

_SPACE, _MINUS = "\N{NO-BREAK SPACE}", "\N{MINUS SIGN}"

_FORMULA = re.compile(r"\$([^$]+)\$|\b(\d(?:\.\d+)?)e([+-])0*(\d+)\b|(\d) %|(?<![\w-])-(?=\d)")

_COLUMNS = tuple(f"{metric} (95 % interval)" for metric in MEASURES)


def table_html(
    head: Iterable[str], rows: Iterable[Iterable[str]], *, style: str = "numbers"
) -> str:
    """Write a table that scrolls in its own box where the page is narrow.

    Parameters
    ----------
    head
        Titles of the columns, as HTML.
    rows
        Cells, as HTML.
    style
        Class of the table; empty for one of texts.

    Returns
    -------
    str
        HTML.
    """
    titles = "".join(f"<th>{title}</th>" for title in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>" for cells in rows
    )
    named = f' class="{escape(style)}"' if style else ""
    return (
        f'<div class="scrolls"><table{named}><thead><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def typeset(text: str) -> str:
    r"""Write a sentence as HTML: formulas between dollars as those of the page, powers of ten.

    Examples
    --------
    >>> print(typeset("$T_u$ & p = 2e-32"))
    <span class="math notranslate nohighlight">\(T_u\)</span> &amp; p = 2·10<sup>−32</sup>
    """
    return _FORMULA.sub(_typeset, escape(text, quote=False))


def _typeset(found: re.Match[str]) -> str:
    formula, digits, sign, power, percent = found.groups()
    if formula:
        return f'<span class="math notranslate nohighlight">\\({formula}\\)</span>'
    if percent:
        return f"{percent}{_SPACE}%"
    if not power:
        return _MINUS
    return f"{digits}·10<sup>{_MINUS if sign == '-' else ''}{power}</sup>"


def file_links(files: Mapping[str, tuple[str, bytes]]) -> str:
    """Write links that hand out files which the page itself holds.

    Parameters
    ----------
    files
        Kind and content by name.

    Returns
    -------
    str
        HTML.
    """
    links = [
        f'<a download="{escape(name)}" href="data:{kind};base64,'
        f'{base64.b64encode(content).decode()}">{escape(name)}</a>'
        for name, (kind, content) in files.items()
    ]
    return f'<p class="downloads">Download: {" · ".join(links)}</p>'


def quantity_text(quantity: Quantity) -> str:
    r"""Write a value with its 95 % interval, kept on one line.

    Examples
    --------
    >>> import numpy as np
    >>> quantity_text(Quantity(0.25, np.array([0.2, 0.3])))
    '0.2500\xa0(0.2025\xa0to\xa00.2975)'
    """
    return f"{quantity.value:.4f}{_SPACE}({_range_text(*quantity.interval)})"


def _range_text(low: float, high: float) -> str:
    return f"{low:.4f}{_SPACE}to{_SPACE}{high:.4f}"


def line_up_details(name: str, *, min_rating: float) -> str:
    """Write a line-up behind a click; the one that is measured is open.

    Parameters
    ----------
    name, min_rating
        As for :func:`recbias.recommenders.line_up`.

    Returns
    -------
    str
        HTML.
    """
    return (
        f"<details{' open' if name == LINE_UP else ''}><summary>"
        f"<strong>{escape(TITLES[name])}</strong> (<code>line_up({escape(repr(name))})</code>)"
        f"</summary>{line_up_html(name, min_rating=min_rating)}</details>"
    )


def published_html(
    measured: Results,
    chances: Table,
    published: Reference | None,
    changes: Sequence[Change],
    changed: Results,
) -> str:
    """Write what a line-up scores beside the published values, or alone where there are none.

    Parameters
    ----------
    measured, chances
        As for :func:`recbias.claims.validation.compare`.
    published
        Published values for this dataset, split and protocol.
    changes, changed
        As for :func:`recbias.claims.validation.explained`.

    Returns
    -------
    str
        HTML.
    """
    if published is None:
        return (
            "<p><strong>No values were published for this dataset and split</strong>, so that the "
            f"table has ours only.</p>{measured_html(measured)}"
        )
    comparisons = compare(measured, chances, published)
    explanations = explained(comparisons, changes, changed, published)
    return (
        f"<p>Published: {escape(published.what)}; <code>{escape(published.source)}</code> at "
        f"commit <code>{published.commit[:7]}</code>, <code>{escape(published.files)}</code>.</p>"
        f"{comparison_sentence(comparisons, explanations)}{floor_sentence(comparisons)}"
        f"{comparison_html(comparisons)}"
    )


def comparison_html(comparisons: Sequence[Comparison]) -> str:
    """Write published and measured values side by side, a row per system and measure.

    Parameters
    ----------
    comparisons
        As :func:`recbias.claims.validation.compare` gives them.

    Returns
    -------
    str
        HTML. Systems that are chance come last.
    """
    rows = []
    last = ""
    for each in sorted(comparisons, key=lambda each: each.is_chance):
        low, high = each.measured.interval
        rows.append(
            [
                "" if each.system == last else f"<strong>{escape(each.system)}</strong>",
                each.metric,
                f"{each.published:.5f}",
                f"{each.measured.value:.5f}{_SPACE}({_range_text(low, high)})",
                f"{each.difference:+.5f}",
                _allowed(each),
                badge("yes" if each.inside else "no"),
            ]
        )
        last = each.system
    head = ("system", "measure", "published", "ours (95 % interval)", "difference", "allowed")
    return table_html([*head, "inside"], rows)


def _allowed(comparison: Comparison) -> str:
    """Write how far ours may be off, or between which ends the published value and ours may lie."""
    if comparison.is_chance:
        ends = [
            f"{escape(part.name)}: {part.least:.5f}{_SPACE}to{_SPACE}{part.most:.5f}"
            for part in comparison.parts
        ]
        return f"{comparison.rule}<br/>{'<br/>'.join(ends)}"
    width = f"±{_SPACE}{tolerance(comparison.published):.5f}"
    return f"{width} ({_percent(comparison)})" if _is_floor(comparison) else width


def _is_floor(comparison: Comparison) -> bool:
    return not comparison.is_chance and tolerance(comparison.published) == FLOOR


def _percent(comparison: Comparison) -> str:
    return f"±{_SPACE}{comparison.relative_width:.0%}".replace("%", f"{_SPACE}%")


def comparison_sentence(comparisons: Sequence[Comparison], explanations: Mapping[str, str]) -> str:
    """Say how many systems are inside, which are not and why, and how those fare that are chance.

    Parameters
    ----------
    comparisons
        Of all systems.
    explanations
        As :func:`recbias.claims.validation.explained` gives them.

    Returns
    -------
    str
        HTML.
    """
    modelled = [each for each in comparisons if not each.is_chance]
    missed, systems = outside(modelled), list(dict.fromkeys(each.system for each in modelled))
    text = (
        f"{badge(verdict(comparisons, explanations))} {len(systems)} systems are compared; "
        f"{len(systems) - len(missed)} of them are inside in both measures."
    )
    for system in missed:
        reason = explanations.get(system)
        if reason is None:
            text += f" Outside: {escape(system)}. Nothing explains it."
        else:
            text += f" Outside: {escape(system)}. What brings it inside: {escape(reason)}."
    chance = list(dict.fromkeys(each.system for each in comparisons if each.is_chance))
    lost = [system for system in outside(comparisons) if system in chance]
    if chance:
        text += f" {len(chance)} are chance and stand apart: {escape(', '.join(chance))}."
        text += (
            f" Not where chance puts {'it' if len(lost) == 1 else 'them'}: "
            f"{escape(', '.join(lost))}."
            if lost
            else " Published values and ours lie where chance puts them."
        )
    return f"<p>{text}</p>"


def floor_sentence(comparisons: Sequence[Comparison]) -> str:
    """Say how wide the tolerance becomes where its floor decides.

    Parameters
    ----------
    comparisons
        Of all systems.

    Returns
    -------
    str
        HTML; empty where 4 % is more than the floor for all values.
    """
    floors = [each for each in comparisons if _is_floor(each)]
    if not floors:
        return ""
    widest = max(floors, key=lambda each: each.relative_width)
    n_values = sum(not each.is_chance for each in comparisons)
    return (
        f"<p>For {len(floors)} of {n_values} values 4{_SPACE}% is less than {FLOOR:g}, which is "
        f"allowed all the same: at most for {escape(widest.metric)} of {escape(widest.system)}, "
        f"which may be off by {_percent(widest)}.</p>"
    )


def measured_html(results: Results) -> str:
    """Write what a line-up scores, a row per system.

    Parameters
    ----------
    results
        Measured under one protocol.

    Returns
    -------
    str
        HTML.
    """
    rows = [[escape(name), *_values(results, name)] for name in results.systems]
    return table_html(["system", *_COLUMNS], rows)


def changes_html(
    changes: Sequence[Change],
    measured: Results,
    changed: Results,
    published: Reference | None,
    *,
    judged: bool = False,
) -> str:
    """Write some systems of a line-up, and below each what it scores with something changed.

    Parameters
    ----------
    changes
        The changes.
    measured, changed
        The line-up, and the changed systems.
    published
        Published values, if there are any for this data.
    judged
        Whether to say which rows are inside the tolerance around the published values.

    Returns
    -------
    str
        HTML.
    """
    own = {system.name: system for system in measured.grid.systems}
    rows: list[list[str]] = []

    def values(results: Results, system: str, base: str) -> list[str]:
        cells = _values(results, system)
        if judged and published:
            near = all(
                is_near(_quantity(results, system, metric).value, published.values[base][metric])
                for metric in MEASURES
            )
            cells.append(badge("yes" if near else "no"))
        return cells

    for base in dict.fromkeys(change.base for change in changes):
        if published:
            cells = [f"{published.values[base][metric]:.4f}" for metric in MEASURES]
            rows.append([f"<strong>{escape(base)}</strong>", "published", *cells])
            rows[-1] += [""] if judged else []
        name = "" if published else f"<strong>{escape(base)}</strong>"
        rows.append(
            [name, f"in the line-up<br/>{class_html(own[base])}", *values(measured, base, base)]
        )
        rows += [
            [
                "",
                f"{escape(change.what)}<br/>{class_html(change.system)}",
                *values(changed, change.system.name, base),
            ]
            for change in changes
            if change.base == base
        ]
    verdicts = ["inside"] if judged and published else []
    return table_html(["system", "variant", *_COLUMNS, *verdicts], rows)


def spans_html(spans: pd.DataFrame, metric: str) -> str:
    """Write how far each system moves.

    Parameters
    ----------
    spans
        As :func:`recbias.claims.sensitivity.spans` gives them.
    metric
        What was measured.

    Returns
    -------
    str
        HTML.
    """
    head = ("system", metric, "least to most", "rank", "best to worst", "moved", "most by")
    rows = [
        [
            escape(str(system)),
            f"{span['own']:.4f}",
            f"{span['least']:.4f} to {span['most']:.4f}",
            str(span["rank"]),
            f"{span['best']} to {span['worst']}",
            escape(span["moved"]),
            f"<code>{escape(span['strongest'])}</code>" if span["strongest"] else "",
        ]
        for system, span in spans.iterrows()
    ]
    return table_html(head, rows)


def _values(results: Results, system: str) -> list[str]:
    return [quantity_text(_quantity(results, system, metric)) for metric in MEASURES]


def _quantity(results: Results, system: str, metric: str) -> Quantity:
    (label,) = results.grid.by_label
    return results[system, label, metric]


def badge(verdict: str, reason: str = "") -> str:
    """Write a verdict as a coloured label."""
    told = f" ({escape(reason)})" if reason else ""
    return f'<span class="verdict {verdict.replace(" ", "-")}">{escape(verdict)}{told}</span>'
