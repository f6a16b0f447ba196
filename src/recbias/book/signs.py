"""What became of a claim at a glance: five words, each with a sign that needs no colour."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

SIGNS: Mapping[str, str] = {
    "yes": "\N{CHECK MARK}",
    "partly": "\N{PLUS-MINUS SIGN}",
    "no": "\N{BALLOT X}",
    "undecided": "?",
    "untestable": "\N{EN DASH}",
}
"""Outcomes in the order of bars, with what stands for them beside their colour."""

WORDS: Mapping[str, str] = {
    "yes": "reproduced",
    "partly": "partly reproduced",
    "no": "not reproduced",
    "undecided": "undecided",
    "untestable": "untestable here",
}
"""What an outcome says of a claim on the data of its paper."""

_OF_PARTS: Mapping[str, str] = {"holds": "yes", "refuted": "no", "open": "undecided"}


def outcome(verdict: str) -> str:
    """Tell the outcome that a verdict on a claim, or on a part, counts as.

    Examples
    --------
    >>> outcome("partly"), outcome("refuted"), outcome("not at hand")
    ('partly', 'no', 'untestable')
    """
    name = _OF_PARTS.get(verdict, verdict)
    return name if name in SIGNS else "untestable"


def sign_html(verdict: str, *, hidden: bool = True) -> str:
    """Write the sign of a verdict; hidden from who is read to, where a word stands beside it."""
    name = outcome(verdict)
    said = ' aria-hidden="true"' if hidden else f' role="img" aria-label="{escape(verdict)}"'
    return f'<span class="sign {name}"{said}>{SIGNS[name]}</span>'


def word_html(verdict: str) -> str:
    """Write a verdict as its sign and its word."""
    return f'<span class="outcome">{sign_html(verdict)} {escape(verdict)}</span>'


def legend_html() -> str:
    """Write what the signs mean, in a line."""
    told = " · ".join(f"{sign_html(name)} {word}" for name, word in WORDS.items())
    return f'<p class="legend">{told}</p>'
