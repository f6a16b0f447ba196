"""Tables as a reader sees them: badges, quantities, and what the page of the systems compares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import pandas as pd

from recbias.claims.reference import Reference
from recbias.claims.systems import LINE_UP, TITLES
from recbias.claims.validation import (
    MAY_BE_OUTSIDE,
    MEASURES,
    Comparison,
    compare,
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
    "line_up_details",
    "measured_html",
    "published_html",
    "quantity_text",
    "spans_html",
    "table_html",
]

_SPACE = "\N{NO-BREAK SPACE}"

_RULES = {
    "sampling range": "<br/>sampling range; expectation {:.4f}",
    "fixed rankings": "<br/>fixed rankings; published {:.4f}",
}
"""Which range is allowed, and what has to be in it, where that is not our value."""

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


def published_html(measured: Results, chances: Table, published: Reference | None) -> str:
    """Write what a line-up scores beside the published values, or alone where there are none.

    Parameters
    ----------
    measured, chances
        As for :func:`recbias.claims.validation.compare`.
    published
        Published values for this dataset, split and protocol.

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
    return (
        f"<p>Published: {escape(published.what)}; <code>{escape(published.source)}</code> at "
        f"commit <code>{published.commit[:7]}</code>, <code>{escape(published.files)}</code>.</p>"
        f"{comparison_sentence(comparisons)}{comparison_html(comparisons)}"
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
        HTML.
    """
    rows = []
    last = ""
    for each in comparisons:
        low, high = each.measured.interval
        allowed = f"±{_SPACE}{tolerance(each.published):.5f}"
        if each.rule in _RULES:
            allowed = _range_text(each.part.least, each.part.most)
            allowed += _RULES[each.rule].format(each.part.value)
        rows.append(
            [
                "" if each.system == last else f"<strong>{escape(each.system)}</strong>",
                each.metric,
                f"{each.published:.5f}",
                f"{each.measured.value:.5f}{_SPACE}({_range_text(low, high)})",
                f"{each.difference:+.5f}",
                allowed,
                badge("yes" if each.inside else "no"),
            ]
        )
        last = each.system
    head = ("system", "measure", "published", "ours (95 % interval)", "difference", "allowed")
    return table_html([*head, "inside"], rows)


def comparison_sentence(comparisons: Sequence[Comparison]) -> str:
    """Say in a sentence how many systems are inside, and which are not.

    Parameters
    ----------
    comparisons
        Of all systems.

    Returns
    -------
    str
        HTML.
    """
    missed, found = outside(comparisons), verdict(comparisons)
    n_systems = len({each.system for each in comparisons})
    text = f"{badge(found)} {n_systems - len(missed)} of {n_systems} systems are inside in "
    text += "both measures."
    if missed:
        text += f" Outside: {escape(', '.join(missed))}."
    unexpected = [name for name in missed if name not in MAY_BE_OUTSIDE]
    if unexpected:
        text += f" Nothing explains {escape(', '.join(unexpected))}."
    return f"<p>{text}</p>"


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
