"""Explorers: readers choose what is measured, and bars and orders follow, without a server.

An explorer is a set of *axes* with options and, for every combination, what is `Shown` there, or
why there is nothing to show. `explorer_html` writes all of it into the page as JSON, the controls,
and the same numbers as plain tables, which is what stands there without scripts;
``book/_static/explorer.js`` does the rest, and keeps the choice in the address. A chapter gives
axes and what is shown; `from_results` reads that of a grid from its `State` for each combination.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any

from recbias.errors import ConfigError
from recbias.experiment.run import Results
from recbias.stats.agreement import kendall_tau

_SHORT = 4
"""Options of so many characters stand side by side."""

_LINES = {
    "expected": "a random ranking, expected",
    "ceiling": "no system can exceed 1/n",
}
"""What the two lines across the bars are, where an explorer does not say."""


@dataclass(frozen=True)
class Axis:
    """Something that readers choose.

    Parameters
    ----------
    title
        What is chosen, e.g. ``"candidates"``.
    options
        What it may be: a code without a bar or a comma, to a few words.
    slider
        Whether it is a number that is moved: one control, options in their order. Only the last
        axis of an explorer may be one; the scale then stays over all of it.
    """

    title: str
    options: Mapping[str, str]
    slider: bool = False


@dataclass(frozen=True)
class State:
    """What is read from the results of a grid for one combination of options.

    Parameters
    ----------
    label, metric
        What is drawn, of all systems.
    title, words, code
        As of `Shown`.
    expected
        A metric of the same label that all systems share: what a random ranking is expected to
        score.
    ceiling
        What no system can exceed.
    """

    label: str
    metric: str
    title: str
    words: str
    code: str
    expected: str | None = None
    ceiling: float | None = None


@dataclass(frozen=True)
class Shown:
    """What is shown for one combination of options: a bar for each row, and words.

    Parameters
    ----------
    values
        By row, the same rows in each combination: a value with the ends of its interval, or NaN.
    metric
        What the values are, as it stands below their axis.
    title
        The name of the combination in a few characters, the head of a column.
    words
        The combination in words: a sentence without its full stop.
    code
        The protocol, as it prints, if there is one.
    note
        Sentences that say what this combination means.
    expected, ceiling
        Where two lines across all bars are: see `lines` of `explorer_html`.
    """

    values: Mapping[str, tuple[float, float, float]]
    metric: str
    title: str
    words: str
    code: str = ""
    note: str = ""
    expected: float | None = None
    ceiling: float | None = None


Choice = tuple[str, ...]
"""A combination: an option of each axis."""


def from_results(
    results: Results, states: Mapping[Choice, State | str]
) -> dict[Choice, Shown | str]:
    """Read what each combination shows from the results of a grid, a row for each system."""

    def read(state: State) -> Shown:
        found = {name: results[name, state.label, state.metric] for name in results.systems}
        expected = None
        if state.expected:
            expected = results[results.systems[0], state.label, state.expected].value
        return Shown(
            values={name: (each.value, *each.interval) for name, each in found.items()},
            metric=state.metric,
            title=state.title,
            words=state.words,
            code=state.code,
            expected=expected,
            ceiling=state.ceiling,
        )

    return {
        choice: state if isinstance(state, str) else read(state) for choice, state in states.items()
    }


def explorer_html(
    shown: Mapping[Choice, Shown | str],
    axes: Sequence[Axis],
    *,
    start: Choice,
    name: str,
    source: Any,
    compared: Choice | None = None,
    against: str = "",
    digits: int = 4,
    lines: Mapping[str, str] | None = None,
    ordered: bool = True,
) -> str:
    """Write an explorer: controls, data and plain tables.

    Parameters
    ----------
    shown
        By combination of options: what is shown, or a sentence why there is nothing to show.
    axes
        What readers choose.
    start
        What is shown first.
    name
        Its identifier, and what begins its address: ``#NAME=option,option``.
    source
        The stored result that is drawn; the page names its data set and key.
    compared
        With which combination orders are compared; that of the start, if none is given.
    against
        What follows "Kendall's tau with the order": "under" that combination and its metric, or
        else these words.
    digits
        Decimals of a value.
    lines
        What ``expected`` and ``ceiling`` are, where they are something else than usual.
    ordered
        Whether rows are ranked by their values; else they stay in their own order, and nothing is
        said of tau.
    """
    combinations = list(product(*(axis.options for axis in axes)))
    if wrong := set(combinations) ^ set(shown):
        listed = ", ".join(sorted(" ".join(codes) for codes in wrong))
        raise ConfigError(
            f"explorer {name}: each combination needs a state, and no other: {listed}"
        )
    if any(axis.slider for axis in axes[:-1]):
        raise ConfigError(f"explorer {name}: only the last axis may be a slider")
    compared = compared or start
    first, other = shown[start], shown.get(compared)
    if isinstance(first, str) or not isinstance(other, Shown):
        raise ConfigError(
            f"explorer {name}: nothing is shown at the start, {' '.join(start)}, "
            f"or where orders are compared, {' '.join(compared)}"
        )
    rows = list(other.values)
    for codes, state in shown.items():
        if isinstance(state, Shown) and list(state.values) != rows:
            raise ConfigError(f"explorer {name}: {' '.join(codes)} has other rows")
    records = {codes: _record(shown[codes], other) for codes in combinations}
    against = against or f"under {_name(records[compared])}"
    document = {
        "dataset": source.dataset_name,
        "key": source.key,
        "systems": rows,
        "compared": "|".join(compared),
        "against": against,
        "digits": digits,
        "ordered": ordered,
        "lines": (lines := {**_LINES, **(lines or {})}),
        "states": {"|".join(codes): record for codes, record in records.items()},
    }
    # In a script element only "<" could end it.
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    reasons = dict.fromkeys(state for state in shown.values() if isinstance(state, str))
    tables = _Tables(axes, records, rows, start, against if ordered else "", digits, lines)
    return (
        f'<div class="explorer" id="{escape(name)}">'
        f'<form class="explorer-controls" hidden>{_controls(axes, start, name)}</form>'
        f'<div class="explorer-stage" hidden></div>{tables.html(list(reasons))}'
        f'<script type="application/json">{text}</script></div>'
    )


def _record(state: Shown | str, compared: Shown) -> dict[str, Any]:
    """Write one state as JSON-able values, numbers as they were measured."""
    if isinstance(state, str):
        return {"why": state}
    own, others = ([value for value, *_ in each.values.values()] for each in (state, compared))
    columns = zip(*state.values.values(), strict=True)
    values, low, high = ([_number(number) for number in column] for column in columns)
    return {
        "title": state.title,
        "words": state.words,
        "code": state.code,
        "note": state.note,
        "metric": state.metric,
        "values": values,
        "low": low,
        "high": high,
        "tau": _number(float(kendall_tau(own, others))),
        "expected": _number(state.expected),
        "ceiling": state.ceiling,
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _controls(axes: Sequence[Axis], start: Choice, name: str) -> str:
    """Write a group of radio buttons or a slider per axis, and the switch of scales."""
    groups = [
        (_slider if axis.slider else _buttons)(axis, chosen, f"{escape(name)}-{number}")
        for number, (axis, chosen) in enumerate(zip(axes, start, strict=True))
    ]
    kept = "" if axes[-1].slider else f" while the {escape(axes[-1].title)} stays"
    scale = (
        '<label><input type="checkbox" name="one-scale" autocomplete="off" checked/> '
        f"<span>keep the scale{kept}</span></label>"
    )
    return (
        "".join(groups)
        + f'<fieldset class="explorer-scale"><legend>bars</legend>{scale}</fieldset>'
    )


def _buttons(axis: Axis, chosen: str, name: str) -> str:
    buttons = "".join(
        f'<label><input type="radio" name="{name}" value="{escape(code)}" '
        f'autocomplete="off"{" checked" if code == chosen else ""}/> '
        f"<span>{escape(words)}</span></label>"
        for code, words in axis.options.items()
    )
    short = all(len(words) <= _SHORT for words in axis.options.values())
    kind = ' class="explorer-short"' if short else ""
    return f"<fieldset{kind}><legend>{escape(axis.title)}</legend>{buttons}</fieldset>"


def _slider(axis: Axis, chosen: str, name: str) -> str:
    """Write a slider over the places of the options; what it stands at is written beside it."""
    options = escape(json.dumps(list(axis.options.items())))
    place = list(axis.options).index(chosen)
    return (
        f'<fieldset class="explorer-slider"><legend id="{name}">{escape(axis.title)}</legend>'
        f'<input type="range" min="0" max="{len(axis.options) - 1}" step="1" value="{place}" '
        f'autocomplete="off" aria-labelledby="{name}" data-options="{options}" '
        f'aria-valuetext="{escape(axis.options[chosen])}"/>'
        f"<output>{escape(axis.options[chosen])}</output></fieldset>"
    )


@dataclass(frozen=True)
class _Tables:
    """All numbers as plain tables."""

    axes: Sequence[Axis]
    records: Mapping[Choice, Mapping[str, Any]]
    rows: Sequence[str]
    start: Choice
    against: str  # empty where rows are not ranked
    digits: int
    lines: Mapping[str, str]

    def html(self, reasons: Sequence[str]) -> str:
        """Write a table for each option of the last axis, that of the start first.

        The options of a slider stand side by side: there is a table for each choice of the others.
        """
        slider = self.axes[-1].slider
        part = slice(None, -1) if slider else slice(-1, None)
        groups: dict[Choice, list[Choice]] = {}
        for codes, record in self.records.items():
            groups.setdefault(codes[part], [])
            if "why" not in record:
                groups[codes[part]].append(codes)
        opened, folded = "", ""
        for group, choices in groups.items():
            if not choices:
                continue
            if not slider:
                choices.sort(key=lambda codes: codes[:-1] != self.start[:-1])
            table = self._table([self.records[codes] for codes in choices])
            if group == self.start[part]:
                opened = table
            else:
                title = self._title(choices[0])
                folded += f"<details><summary>{escape(title)}</summary>{table}</details>"
        notes = "".join(f"<p>{escape(reason)}</p>" for reason in reasons)
        return (
            '<details class="explorer-numbers" open><summary>Table of all numbers, '
            f"{escape(self._title(self.start))} first</summary>{opened}{folded}{notes}</details>"
        )

    def _has(self, key: str) -> bool:
        return any(each.get(key) is not None for each in self.records.values())

    def _title(self, choice: Choice) -> str:
        """Name a table: its metric, or what is chosen beside a slider."""
        chosen = [
            axis.options[code]
            for axis, code in zip(self.axes, choice, strict=True)
            if self.axes[-1].slider and not axis.slider
        ]
        return ", ".join(chosen) or _name(self.records[choice]).rpartition(", ")[2]

    def _table(self, records: Sequence[Mapping[str, Any]]) -> str:
        """Write one table: a row per system, a column per state, and what goes with each below."""

        def row(head: str, cells: Sequence[str]) -> str:
            filled = "".join(f"<td>{cell}</td>" for cell in cells)
            return f'<tr><th scope="row">{escape(head)}</th>{filled}</tr>'

        # A head may break behind a hyphen.
        heads = (escape(record["title"]).replace("-", "-<wbr/>") for record in records)
        titles = "".join(f'<th scope="col">{head}</th>' for head in heads)
        form = f".{self.digits}f"
        body = "".join(
            row(system, [_text(record["values"][place], form) for record in records])
            for place, system in enumerate(self.rows)
        )
        foot = "".join(
            row(title, [_text(record[key], form) for record in records])
            for title, key, form in (
                (self.lines["expected"], "expected", form),
                (self.lines["ceiling"], "ceiling", ".4g"),
                (f"Kendall's tau with the order {self.against}", "tau", ".2f"),
            )
            if (self.against if key == "tau" else self._has(key))
        )
        return (
            '<div class="scrolls"><table class="numbers"><thead><tr><td></td>'
            f"{titles}</tr></thead><tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>"
        )


def _name(record: Mapping[str, Any]) -> str:
    """Name a state by its title and metric, conditions aside."""
    return f"{record['title']}, {record['metric'].partition('|')[0]}"


def _text(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"
