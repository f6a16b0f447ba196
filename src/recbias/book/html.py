"""Tables, numbers and links as pages write them, in HTML or Markdown."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape, unescape

from recbias.claims.regions import defined, rounded, written
from recbias.experiment.results import Quantity

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve"),
)
_SPACE, _MINUS = "\N{NO-BREAK SPACE}", "\N{MINUS SIGN}"
_FORMULA = re.compile(r"\$([^$]+)\$|\b(\d(?:\.\d+)?)e([+-])0*(\d+)\b|(\d) %|(?<![\w-])-(?=\d)")


def table_html(
    head: Iterable[str], rows: Iterable[Iterable[str]], *, style: str = "numbers"
) -> str:
    """Write a table that scrolls in its own box where the page is narrow."""
    head = list(head)
    names = [title.partition(" (")[0] if style == "labelled" else "" for title in head]
    names = [f' data-head="{name}"' if name else "" for name in names]
    titles = "".join(f"<th>{title}</th>" for title in head)
    body = "".join(
        "<tr>"
        + "".join(f"<td{name}>{cell}</td>" for name, cell in zip(names, cells, strict=False))
        + "</tr>"
        for cells in rows
    )
    attribute = f' class="{escape(style)}"' if style else ""
    return (
        f'<div class="scrolls"><table{attribute}><thead><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def number_word(number: int) -> str:
    """Write a small number as a word, others as digits.

    Examples
    --------
    >>> number_word(9), number_word(13)
    ('nine', '13')
    """
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else str(number)


def typeset(text: str) -> str:
    r"""Write a sentence as HTML: formulas between dollars as those of the page, powers of ten.

    Examples
    --------
    >>> print(typeset("$T_u$ & p = 2e-32"))
    <span class="math notranslate nohighlight">\(T_u\)</span> &amp; p = 2·10<sup>−32</sup>
    """
    return _FORMULA.sub(_typeset, escape(text, quote=False))


def _typeset(match: re.Match[str]) -> str:
    formula, digits, sign, power, percent = match.groups()
    if formula:
        return f'<span class="math notranslate nohighlight">\\({formula}\\)</span>'
    if percent:
        return f"{percent}{_SPACE}%"
    if not power:
        return _MINUS
    return f"{digits}·10<sup>{_MINUS if sign == '-' else ''}{power}</sup>"


def file_links(files: Mapping[str, tuple[str, bytes]]) -> str:
    """Write links that hand out files which the page itself holds."""
    links = [
        f'<a download="{escape(name)}" href="data:{kind};base64,'
        f'{base64.b64encode(content).decode()}">{escape(name)}</a>'
        for name, (kind, content) in files.items()
    ]
    return f'<p class="downloads">Download: {" · ".join(links)}</p>'


def svg_description(svg: str) -> str:
    """Read from an SVG what it says that it shows; nothing if it says nothing.

    Examples
    --------
    >>> svg_description("<svg><dc:description>A &lt; B.</dc:description></svg>")
    'A < B.'
    """
    found = re.search(r"<dc:description>(.*?)</dc:description>", svg, re.DOTALL)
    return unescape(found[1]).strip() if found else ""


def quantity_text(quantity: Quantity) -> str:
    r"""Write a value with its 95 % interval, kept on one line.

    Examples
    --------
    >>> import numpy as np
    >>> quantity_text(Quantity(0.25, np.array([0.2, 0.3])))
    '0.2500\xa0(0.2025\xa0to\xa00.2975)'
    """
    return f"{defined(quantity.value, '.4f')}{_SPACE}({_range_text(*quantity.interval)})"


def _range_text(low: float, high: float) -> str:
    if math.isnan(low) or math.isnan(high):
        return f"no{_SPACE}interval"
    return f"{low:.4f}{_SPACE}to{_SPACE}{high:.4f}"


def badge(verdict: str, reason: str = "") -> str:
    """Write a verdict as a coloured label."""
    suffix = f" ({escape(reason)})" if reason else ""
    return f'<span class="verdict {verdict.replace(" ", "-")}">{escape(verdict)}{suffix}</span>'


def claim_link(claim: str, text: str) -> str:
    """Name a claim, in HTML: a link to its page where there is one, in a site, and nowhere else."""
    return f'<a class="to-claim" data-claim="{escape(claim)}">{text}</a>'


def estimate_text(
    value: float, interval: tuple[float, float], unit: str, *, difference: bool = False
) -> str:
    """Write an estimate with its 95 % interval, in its unit; an exact one has none.

    Examples
    --------
    >>> estimate_text(0.5673, (0.52, 0.6), "number"), estimate_text(0.2, (0.2, 0.2), "percent")
    ('0.567 (0.520 to 0.600)', '20 %')
    """
    low, high = interval
    text = short(value, unit) if low == high else rounded(value, unit, low, high)
    if difference:
        text = f"difference {text}"
    if low == high or math.isnan(value):
        return text
    if math.isnan(low) or math.isnan(high):
        return f"{text} (no interval)"
    ends = [
        rounded(end, unit, low, high).removesuffix(" %").removesuffix(" times")
        for end in (low, high)
    ]
    return f"{text} ({ends[0]} to {ends[1]})"


def short(value: float, unit: str) -> str:
    """Write a value in its unit, with three digits where it has none."""
    plain = unit == "number" and math.isfinite(value)
    return f"{value:.3g}" if plain else written(value, unit)


_MARKUP = re.compile(r"[\\`*_\[\]|]")


def plain(text: str) -> str:
    r"""Escape what Markdown or HTML would read in a text that is none, such as a name.

    Examples
    --------
    >>> print(plain("P@10|t=100 of <kNN [a_b]>"))
    P@10\|t=100 of &lt;kNN \[a\_b\]&gt;
    """
    return _MARKUP.sub(r"\\\g<0>", escape(text, quote=False))


def markdown_table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table.

    Examples
    --------
    >>> print(markdown_table(("system", "P@10"), [("Random", "0.01")]))
    | system | P@10 |
    |---|---|
    | Random | 0.01 |
    """
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join(lines + [f"| {' | '.join(cells)} |" for cells in rows])


def folded(summary: str, table: str) -> str:
    """Put a table in Markdown behind a click.

    Examples
    --------
    >>> folded("All", "| a |").splitlines()
    ['<details><summary>All</summary>', '', '| a |', '', '</details>', '']
    """
    return f"<details><summary>{escape(summary)}</summary>\n\n{table}\n\n</details>\n\n"


def interval_text(quantity: Quantity, form: str = ".4f") -> str:
    """Write a 95 % interval, or that there is none.

    Examples
    --------
    >>> interval_text(Quantity(0.25, None, limits=(0.2, 0.3)), ".2f")
    '0.20 to 0.30'
    """
    low, high = quantity.interval
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    return f"{defined(low, form)} to {defined(high, form)}"
