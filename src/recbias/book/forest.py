"""Small forest plots: a table in which each row draws its interval on one scale for all."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from recbias.book.html import estimate_text, short, typeset
from recbias.book.signs import outcome, sign_html

_NUMBER = re.compile(r"(?:about |~)?([-−]?\d*\.?\d+(?:e-?\d+)?)(?: ?(%))?")
_WIDE = 100
"""From so many times the least value on, a scale is logarithmic."""
_MARGIN = 0.06


@dataclass(frozen=True)
class Estimate:
    """A row: what was found on a data set.

    Attributes
    ----------
    name
        The data set, with the system if there is one for each.
    verdict
        On the part: ``holds``, ``refuted``, ``open``, ``not testable`` or ``beside``.
    value, interval
        What was measured; NaN where nothing was.
    reason
        Why nothing was, or why it stays open.
    """

    name: str
    verdict: str
    value: float
    interval: tuple[float, float]
    reason: str = ""


def published_number(text: str, unit: str) -> float:
    """Read a published value, in a unit; NaN where it is none, or more than one.

    Examples
    --------
    >>> published_number("0.617", "number"), published_number("83.16 %", "percent")
    (0.617, 0.8316)
    >>> published_number("<< 0.001", "p")
    nan
    """
    found = _NUMBER.fullmatch(text.strip())
    if not found:
        return math.nan
    value = float(found[1].replace("\N{MINUS SIGN}", "-"))
    return value / 100 if found[2] and unit == "percent" else value


def forest_html(
    rows: Sequence[Estimate],
    unit: str,
    region: tuple[float, float],
    *,
    published: str = "",
) -> str:
    """Draw estimates on one scale, with where they have to lie and what was published.

    Parameters
    ----------
    rows
        At least one.
    unit
        What all are counted in.
    region
        Its ends; infinite where there is none.
    published
        The published value as it is printed; empty if there is none.

    Returns
    -------
    str
        A table whose cells say all that it draws.
    """
    printed = published_number(published, unit)
    scale = _Scale.of(rows, region, printed, unit) if unit != "violation" else None
    body = []
    if published:
        mark = scale.published(printed) if scale else ""
        value = typeset(published)
        body.append(_row('<span class="diamond">◆</span>', "published", mark, value, "published"))
    for row in _joined(rows):
        text = estimate_text(row.value, row.interval, unit)
        if math.isnan(row.value):
            text = row.reason or "not measured"
        elif row.reason:
            text += f" ({row.reason})"
        drawn = scale.estimate(row, printed) if scale else ""
        sign = sign_html(row.verdict, hidden=False)
        body.append(_row(sign, escape(row.name), drawn, typeset(text), outcome(row.verdict)))
    if scale:
        body.append(_row("", "", scale.axis(unit), "", "axis"))
    return f'<table class="forest"><tbody>{"".join(body)}</tbody></table>'


def _joined(rows: Sequence[Estimate]) -> list[Estimate]:
    """Join rows that say the same of several data sets."""
    names: dict[str, tuple[Estimate, list[str]]] = {}
    for row in rows:
        same = str((row.verdict, row.value, row.interval, row.reason))  # NaN is not itself
        names.setdefault(same, (row, []))[1].append(row.name)
    return [replace(row, name=", ".join(joined)) for row, joined in names.values()]


def _row(sign: str, name: str, drawn: str, text: str, kind: str) -> str:
    hidden = ' aria-hidden="true"' if kind == "axis" else ""
    head = f'<th scope="row">{sign} {name}</th>' if name else "<td></td>"
    return (
        f'<tr class="{kind}"{hidden}>{head}<td class="drawn">{drawn}</td>'
        f'<td class="number">{text}</td></tr>'
    )


@dataclass(frozen=True)
class _Scale:
    """Where values stand between the left and right end of a cell, in percent of its width."""

    low: float
    high: float
    region: tuple[float, float]
    logarithmic: bool = False
    whole: bool = False

    @classmethod
    def of(
        cls, rows: Iterable[Estimate], region: tuple[float, float], printed: float, unit: str
    ) -> _Scale | None:
        """Span all that is to be drawn; None if that is no more than a point."""
        measured = [each for row in rows for each in (row.value, *row.interval)]
        values = [each for each in (*measured, *region, printed) if math.isfinite(each)]
        if not any(map(math.isfinite, measured)) or min(values) == max(values):
            return None
        low, high = min(values), max(values)
        logarithmic = low > 0 and high / low > _WIDE
        if logarithmic:
            low, high = math.log10(low), math.log10(high)
        margin = _MARGIN * (high - low)
        return cls(low - margin, high + margin, region, logarithmic, unit == "count")

    def place(self, value: float) -> float:
        """Give the place of a value; what is beyond the scale stands at its end."""
        if self.logarithmic:
            value = math.log10(value) if value > 0 else -math.inf
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def estimate(self, row: Estimate, printed: float) -> str:
        """Draw a value and its interval, over the region and the published value."""
        marks = self._ground(printed)
        if not math.isnan(row.value):
            ends = [end if not math.isnan(end) else row.value for end in row.interval]
            left, right = map(self.place, ends)
            at = self.place(row.value)
            if left != right:
                marks += _line("interval", left, right)
            marks += f'<circle class="{outcome(row.verdict)}" cx="{at:.2f}%" cy="50%" r="4.5"/>'
        return _svg(marks)

    def published(self, printed: float) -> str:
        """Mark the published value."""
        return _svg(self._ground(printed))

    def axis(self, unit: str) -> str:
        """Write a few values of the scale, and the ends of the region."""
        marks = ""
        for value in self._ticks():
            at = self.place(value)
            anchor = "start" if at < 12 else "end" if at > 88 else "middle"
            marks += f'<line class="tick" x1="{at:.2f}%" x2="{at:.2f}%" y1="0" y2="4"/>'
            text = escape(short(value, unit).replace("-", "\N{MINUS SIGN}"))
            marks += f'<text x="{at:.2f}%" y="16" text-anchor="{anchor}">{text}</text>'
        return _svg(marks)

    def _ground(self, printed: float) -> str:
        left, right = (self.place(end) for end in self.region)
        marks = ""
        if any(map(math.isfinite, self.region)):
            marks = (
                f'<rect class="region" x="{left:.2f}%" y="0" '
                f'width="{max(right - left, 0.4):.2f}%" height="100%"/>'
            )
        if not math.isnan(printed):
            at = self.place(printed)
            marks += f'<line class="printed" x1="{at:.2f}%" x2="{at:.2f}%" y1="0" y2="100%"/>'
        return marks

    def _ticks(self) -> list[float]:
        if self.logarithmic:
            ends = range(math.ceil(self.low), math.floor(self.high) + 1)
            every = max(1, math.ceil(len(ends) / 4))
            return [10.0**power for power in ends[::every]]
        step = (self.high - self.low) / 3
        if self.whole:
            step = max(step, 1.0)
        power = 10.0 ** math.floor(math.log10(step))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= step)
        first = math.ceil(self.low / step)
        found = [n * step for n in range(first, math.floor(self.high / step) + 1)]
        return [0.0 if abs(each) < step / 1e6 else each for each in found]


def _line(kind: str, left: float, right: float) -> str:
    return f'<line class="{kind}" x1="{left:.2f}%" x2="{right:.2f}%" y1="50%" y2="50%"/>'


def _svg(marks: str) -> str:
    return f'<svg width="100%" height="20" aria-hidden="true" focusable="false">{marks}</svg>'
