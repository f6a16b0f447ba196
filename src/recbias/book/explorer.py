"""Explorers: readers choose what is measured, and bars and orders follow, without a server.

An explorer is a set of *axes* with options and a *state* for every combination: what is shown
there, or why there is nothing to show. `explorer_html` writes all states into the page as JSON, the
controls, and the same numbers as plain tables, which is what stands there without scripts;
``book/_static/explorer.js`` does the rest. A chapter gives results, axes and states.
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


@dataclass(frozen=True)
class Axis:
    """Something that readers choose.

    Parameters
    ----------
    title
        What is chosen, e.g. ``"candidates"``.
    options
        What it may be: a code without a bar, to a few words.
    """

    title: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class State:
    """What is shown for one combination of options.

    Parameters
    ----------
    label, metric
        What is drawn, of all systems.
    title
        Its name in a few characters, the head of a column.
    words
        The combination in words: a sentence without its full stop.
    code
        The protocol, as it prints.
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


def explorer_html(
    results: Results,
    axes: Sequence[Axis],
    states: Mapping[tuple[str, ...], State | str],
    *,
    start: tuple[str, ...],
    name: str,
) -> str:
    """Write an explorer: controls, data and plain tables."""
    combinations = list(product(*(axis.options for axis in axes)))
    if wrong := set(combinations) ^ set(states):
        listed = ", ".join(sorted(" ".join(codes) for codes in wrong))
        raise ConfigError(
            f"explorer {name}: each combination needs a state, and no other: {listed}"
        )
    first = states.get(start)
    if not isinstance(first, State):
        raise ConfigError(f"explorer {name}: nothing is shown at the start, {' '.join(start)}")
    compared = _values(results, first)
    records = {codes: _record(results, states[codes], compared) for codes in combinations}
    document = {
        "dataset": results.dataset_name,
        "key": results.key,
        "systems": results.systems,
        "start": "|".join(start),
        "states": {"|".join(codes): record for codes, record in records.items()},
    }
    # In a script element only "<" could end it.
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="explorer" id="{escape(name)}">'
        f'<form class="explorer-controls" hidden>{_controls(axes, start, name)}</form>'
        f'<div class="explorer-stage" hidden></div>{_tables(axes, states, records, results, start)}'
        f'<script type="application/json">{text}</script></div>'
    )


def _values(results: Results, state: State) -> list[float]:
    return [results[system, state.label, state.metric].value for system in results.systems]


def _record(results: Results, state: State | str, compared: Sequence[float]) -> dict[str, Any]:
    """Write one state as JSON-able values, numbers as they were measured."""
    if isinstance(state, str):
        return {"why": state}
    quantities = [results[name, state.label, state.metric] for name in results.systems]
    expected = None
    if state.expected:
        expected = results[results.systems[0], state.label, state.expected].value
    tau = float(kendall_tau(_values(results, state), compared))
    return {
        "title": state.title,
        "label": state.label,
        "words": state.words,
        "code": state.code,
        "metric": state.metric,
        "values": [_number(quantity.value) for quantity in quantities],
        "low": [_number(quantity.interval[0]) for quantity in quantities],
        "high": [_number(quantity.interval[1]) for quantity in quantities],
        "tau": _number(tau),
        "expected": _number(expected),
        "ceiling": state.ceiling,
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _controls(axes: Sequence[Axis], start: Sequence[str], name: str) -> str:
    """Write a group of radio buttons per axis, and the switch of scales."""
    groups = []
    for number, (axis, chosen) in enumerate(zip(axes, start, strict=True)):
        buttons = "".join(
            f'<label><input type="radio" name="{escape(name)}-{number}" value="{escape(code)}" '
            f'autocomplete="off"{" checked" if code == chosen else ""}/> '
            f"<span>{escape(words)}</span></label>"
            for code, words in axis.options.items()
        )
        short = all(len(words) <= _SHORT for words in axis.options.values())
        kind = ' class="explorer-short"' if short else ""
        groups.append(f"<fieldset{kind}><legend>{escape(axis.title)}</legend>{buttons}</fieldset>")
    scale = (
        '<label><input type="checkbox" name="one-scale" autocomplete="off" checked/> '
        f"<span>keep the scale while the {escape(axes[-1].title)} stays</span></label>"
    )
    return (
        "".join(groups)
        + f'<fieldset class="explorer-scale"><legend>bars</legend>{scale}</fieldset>'
    )


def _tables(
    axes: Sequence[Axis],
    states: Mapping[tuple[str, ...], State | str],
    records: Mapping[tuple[str, ...], Mapping[str, Any]],
    results: Results,
    start: tuple[str, ...],
) -> str:
    """Write all numbers: a table for each option of the last axis, that of the start first."""
    foot = f"Kendall's tau with {_name(records[start])}"
    opened, folded = "", ""
    for code in axes[-1].options:
        combinations = [
            codes for codes in records if codes[-1] == code and "why" not in records[codes]
        ]
        combinations.sort(key=lambda codes: codes[:-1] != start[:-1])
        if not combinations:
            continue
        table = _table([records[codes] for codes in combinations], results.systems, foot)
        if code == start[-1]:
            opened = table
        else:
            metric = _name(records[combinations[0]]).rpartition(", ")[2]
            folded += f"<details><summary>{escape(metric)}</summary>{table}</details>"
    reasons = dict.fromkeys(state for state in states.values() if isinstance(state, str))
    notes = "".join(f"<p>{escape(reason)}</p>" for reason in reasons)
    metric = escape(_name(records[start]).rpartition(", ")[2])
    return (
        f'<details class="explorer-numbers" open><summary>All numbers, {metric} first</summary>'
        f"{opened}{folded}{notes}</details>"
    )


def _name(record: Mapping[str, Any]) -> str:
    """Name a state by its title and metric, conditions aside."""
    return f"{record['title']}, {record['metric'].partition('|')[0]}"


def _table(records: Sequence[Mapping[str, Any]], systems: Sequence[str], tau: str) -> str:
    """Write one table: a row per system, a column per state, and what goes with each below."""

    def row(head: str, cells: Sequence[str]) -> str:
        return (
            f'<tr><th scope="row">{head}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        )

    # A head may break behind a hyphen.
    heads = (escape(record["title"]).replace("-", "-<wbr/>") for record in records)
    titles = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(
        row(escape(system), [_text(record["values"][place]) for record in records])
        for place, system in enumerate(systems)
    )
    foot = "".join(
        row(title, [_text(record[key], form) for record in records])
        for title, key, form in (
            ("a random ranking, expected", "expected", ".4f"),
            ("no system can exceed", "ceiling", ".4g"),
            (escape(tau), "tau", ".2f"),
        )
    )
    return (
        '<div class="scrolls"><table class="numbers"><thead><tr><td></td>'
        f"{titles}</tr></thead><tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>"
    )


def _text(value: float | None, form: str = ".4f") -> str:
    return "" if value is None else f"{value:{form}}"
