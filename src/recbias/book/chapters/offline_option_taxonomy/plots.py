"""Figures about the options of an evaluation: who wins under which, and what an option changes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from itertools import count
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator

from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, detached, wrapped

_COLOURS = sns.color_palette("colorblind", 10)
_BLUE, _ORANGE = _COLOURS[:2]
_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
_MARKS = "osD^vP*X"


def plot_configurations(
    found: pd.DataFrame, *, winners: tuple[str, str], across: str, title: str
) -> Figure:
    """Plot a difference under each configuration of an evaluation, a panel per rival."""
    panels = list(dict.fromkeys(found["panel"]))
    rows = list(dict.fromkeys(found["row"]))
    height = 1.5 + 0.27 * len(rows) + 0.2 * title.count("\n")
    figure, axes = plt.subplots(
        1, len(panels), figsize=(WIDTH, height), sharey=True, sharex=True, squeeze=False
    )
    groups = found.drop_duplicates("row").set_index("row")["group"]
    parted = [n - 0.5 for n in range(1, len(rows)) if groups[rows[n]] != groups[rows[n - 1]]]
    for axis, panel in zip(axes[0], panels, strict=True):
        panel_rows = found[found["panel"] == panel]
        axis.axvline(0, color="0.25", linewidth=1.2, zorder=1)
        for place in parted:
            axis.axhline(place, color="0.75", linewidth=0.8, zorder=0)
        for verdict, look in _LOOKS.items():
            _draw_marks(axis, panel_rows[_verdicts(panel_rows) == verdict], rows, look)
        axis.set(title=panel, xlabel=across)
        axis.grid(visible=False, axis="y")
        axis.locator_params(axis="x", nbins=4)
        axis.xaxis.set_major_formatter(SHORT)
    axes[0, 0].set_yticks(range(len(rows)), rows)
    axes[0, 0].set_ylim(len(rows) - 0.5, -0.5)
    names = {1: winners[0], -1: winners[1], 0: "open"}
    handles = [
        Line2D([], [], linestyle="none", label=names[verdict], **look)
        for verdict, look in _LOOKS.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


_LOOKS: Mapping[int, Mapping[str, Any]] = {
    1: {"color": _BLUE, "marker": "o", "markersize": 7},
    -1: {"color": _ORANGE, "marker": "s", "markersize": 7},
    0: {"color": "0.45", "marker": "D", "markersize": 6, "markerfacecolor": "white"},
}
"""How a mark looks by who wins."""


def _verdicts(differences: pd.DataFrame) -> pd.Series:
    """Give 1 where an interval is above 0, -1 where it is below, else 0."""
    return (differences["low"] > 0).astype(int) - (differences["high"] < 0).astype(int)


def _draw_marks(
    axis: Axes, differences: pd.DataFrame, rows: list[str], look: Mapping[str, Any]
) -> None:
    places = [rows.index(row) for row in differences["row"]]
    errors = np.array(
        [differences["value"] - differences["low"], differences["high"] - differences["value"]]
    )
    axis.errorbar(
        differences["value"], places, xerr=np.nan_to_num(np.maximum(errors, 0)), linestyle="none",
        elinewidth=1.6, zorder=3, **look,
    )  # fmt: skip


def plot_option_lines(
    found: pd.DataFrame,
    *,
    across: str,
    up: str,
    title: str,
    log: bool = False,
    levels: Mapping[str, float] | None = None,
    ticks: tuple[float, ...] | None = None,
    looks: Mapping[str, int] | None = None,
) -> Figure:
    """Plot what an option with an order, such as a ratio or a depth, makes of values."""
    panels, lines = (list(dict.fromkeys(found[name])) for name in ("panel", "line"))
    known = {line: looks[line] for line in lines if looks and line in looks}
    free = (number for number in count() if number not in known.values())
    numbers = {line: known[line] if line in known else next(free) for line in lines}
    n_rows = -(-len(lines) // 2)
    height = 3.4 + 0.24 * n_rows + 0.2 * title.count("\n")
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH, height), squeeze=False)
    runs = found["run"] if "run" in found else pd.Series(0, index=found.index)
    first = runs.iloc[0] if len(runs) else 0
    for axis, panel in zip(axes[0], panels, strict=True):
        if levels and panel in levels:
            axis.axhline(levels[panel], color="0.25", linewidth=1.2, zorder=1)
        panel_rows = found[found["panel"] == panel]
        for line, rows in panel_rows.groupby("line", sort=False):
            number = numbers[line]
            look = {"color": _COLOURS[number % 10], "linestyle": _STYLES[number % 5]}
            for run, single in rows.groupby(runs[rows.index], sort=False):
                single = single.sort_values("at")
                if run != first:
                    axis.plot(single["at"], single["value"], linewidth=0.6, alpha=0.7, **look)
                    continue
                axis.fill_between(
                    single["at"], single["low"], single["high"], alpha=0.2, linewidth=0,
                    color=look["color"],
                )  # fmt: skip
                axis.plot(
                    single["at"], single["value"], linewidth=2, markersize=5,
                    marker=_MARKS[number % len(_MARKS)], label=str(line), zorder=3, **look,
                )  # fmt: skip
        axis.set(title=panel, xlabel="\n".join(textwrap.wrap(across, 60 // len(panels) - 8)))
        _scale_across(axis, log=log, ticks=ticks)
        axis.locator_params(axis="y", nbins=5)
        axis.yaxis.set_major_formatter(SHORT)
    axes[0, 0].set_ylabel(up)
    handles = {
        label: handle
        for axis in axes[0]
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    drawn_lines = [line for line in lines if line in handles]
    figure.legend(
        [handles[line] for line in drawn_lines], drawn_lines, loc="outside lower center", ncols=2,
        frameon=False,
    )  # fmt: skip
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _scale_across(axis: Axes, *, log: bool, ticks: tuple[float, ...] | None) -> None:
    if log:
        axis.set_xscale("log")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_minor_formatter(NullFormatter())
    elif ticks is None:
        axis.locator_params(axis="x", nbins=4)
    if ticks is not None:
        axis.set_xticks(ticks)
    axis.xaxis.set_major_formatter(SHORT)


def plot_significance(
    found: pd.DataFrame, *, winners: tuple[str, str], across: str, title: str
) -> Figure:
    """Plot which comparisons are significant, and for whom, over repetitions."""
    panels, rows, repetitions = (
        list(dict.fromkeys(found[name])) for name in ("panel", "row", "at")
    )
    height = 1.6 + 0.27 * len(rows) + 0.2 * title.count("\n")
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH, height), sharey=True, squeeze=False)
    looks: dict[int, dict[str, Any]] = {
        1: {"marker": "^", "color": _BLUE, "s": 52},
        -1: {"marker": "v", "color": _ORANGE, "s": 52},
        0: {"marker": "o", "facecolors": "white", "edgecolors": "0.45", "s": 36},
    }
    names = {1: winners[0], -1: winners[1], 0: "not significant"}
    for axis, panel in zip(axes[0], panels, strict=True):
        panel_rows = found[found["panel"] == panel]
        for sign, look in looks.items():
            marked = panel_rows[panel_rows["sign"] == sign]
            axis.scatter(
                [repetitions.index(repetition) for repetition in marked["at"]],
                [rows.index(row) for row in marked["row"]], label=names[sign], zorder=3, **look,
            )  # fmt: skip
        axis.set(title=panel, xlabel=across)
        axis.set_xlim(-0.7, len(repetitions) - 0.3)
        few = range(0, len(repetitions), 1 if len(repetitions) < 6 else 3)
        axis.set_xticks(few, [f"{repetitions[n]}" for n in few])
        axis.grid(visible=False, axis="x")
    axes[0, 0].set_yticks(range(len(rows)), rows)
    axes[0, 0].set_ylim(len(rows) - 0.5, -0.5)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_reversals(
    found: pd.DataFrame, *, across: str, title: str, noise: float | None = None
) -> Figure:
    """Plot how many comparisons each alternative to a default reverses."""
    names = wrapped(list(found["row"]))
    a_row = 0.09 + 0.2 * (1 + max((name.count("\n") for name in names), default=0))
    height = 1.5 + a_row * len(found) + 0.2 * title.count("\n")
    figure, axis = plt.subplots(figsize=(WIDTH, height))
    places = np.arange(len(found))
    for column, colour, label in (
        ("raw", "0.8", "sign differs"),
        ("value", _ORANGE, "both significant"),
    ):
        axis.barh(places, found[column].fillna(0), color=colour, height=0.7, label=label)
    groups = list(found["group"])
    for n in range(1, len(groups)):
        if groups[n] != groups[n - 1]:
            axis.axhline(n - 0.5, color="0.6", linewidth=0.8)
    if noise is not None:
        axis.axvline(noise, color="0.25", linestyle="--", linewidth=1.4, label="another split")
    for place in places[found["raw"].isna()]:
        axis.text(
            0.5, place, "no effect here", va="center", fontsize=FONT_SIZE, color="0.35",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
    largest = np.nanmax([found["raw"].max(), noise or 0, 10])
    axis.set_xlim(0, 1.05 * largest)
    axis.set_yticks(places, names)
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(across)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)
