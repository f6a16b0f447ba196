"""Bars with their intervals, or made of parts, a row for each name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from recbias.book.figures.panels import (
    COLOURS,
    MARKS,
    abreast,
    errors,
    extra_height,
    finished,
    names_in,
    part_rows,
    rows_of,
)
from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, row_height, wrapped
from recbias.claims.regions import defined


class _Panel(NamedTuple):
    """A panel with its rows in the order of the names."""

    axis: Axes
    rows: pd.DataFrame


def bars(
    rows: pd.DataFrame,
    *,
    title: str,
    row: str = "row",
    value: str = "value",
    across: str = "",
    coloured: bool = False,
    numbers: str = "",
    marks: Mapping[str, str] | None = None,
    share_x: bool = True,
    width: float = WIDTH,
) -> Picture:
    """Draw a bar for each value, a row for each name, in panels.

    Rows have colours of their own, or all the same. Values are written with `numbers`, a format.
    `marks` are columns that stand on the bars as white marks, by what they are called. Drawn where
    the rows have them: ``low`` and ``high`` as whiskers, ``ceiling`` as a dashed line.
    """
    names, marks = names_in(rows, row), marks or {}
    keys = ["measured", *marks.values()] if marks else []
    figure, panels = _laid_out(
        rows, row, names, title, keys=keys, across=across, share_x=share_x, width=width
    )
    room = 1.22 if len(panels) == 1 and width >= WIDTH else 1.5  # for what is written
    for panel in panels:
        colours = [COLOURS[n % len(COLOURS) if coloured else 0] for n in range(len(names))]
        _draw_bars(panel, value, colours, label="measured" if marks else "")
        for n, (column, label) in enumerate(marks.items(), 1):
            panel.axis.plot(
                panel.rows[column], range(len(names)), linestyle="none", marker=MARKS[n],
                markersize=9, color="white", markeredgecolor=COLOURS[n], markeredgewidth=2,
                label=label,
            )  # fmt: skip
        if numbers:
            _write_numbers(panel, value, numbers, room=room)
    if not numbers:
        for panel in panels:  # now that all of them are filled, if they share a scale
            panel.axis.set_xlim(left=0)
    return finished(figure, title, n_columns=abreast(keys, 3, width=width), order=keys)


def parts(
    rows: pd.DataFrame,
    *,
    title: str,
    colours: Mapping[str, Any],
    row: str = "row",
    across: str = "",
    down: str = "",
    stacked: bool = True,
    numbers: str = "",
    inside: str = "",
    levels: Mapping[str, float] | None = None,
    missing: str = "",
    most: float | None = None,
    a_row: float | None = None,
    width: float = WIDTH,
) -> Picture:
    """Draw a bar of several columns for each row: `stacked`, or each before the one before.

    `colours` are those of the columns. Sums are written with `numbers`, a format; the value of the
    column `inside` at the far end, which its part never reaches; `missing` stands where nothing is
    known. Rules are drawn where ``group`` changes, dashed `levels` across all rows. The scale goes
    to `most`. A row is `a_row` inches high, by itself as high as its longest name.
    """
    names = names_in(rows, row)
    keys = [*colours, *(levels or {})]
    figure, panels = _laid_out(
        rows, row, names, title, keys=keys, across=across, a_row=a_row, width=width
    )
    places = np.arange(len(names))
    for axis, own in panels:
        base = np.zeros(len(names))
        for column, colour in colours.items():
            sizes = own[column].fillna(0).to_numpy(dtype=np.float64)
            axis.barh(places, sizes, left=base, color=colour, height=0.7, label=column)
            base = base + sizes if stacked else base
        part_rows(axis, rows, row, names)
        for label, at in (levels or {}).items():
            axis.axvline(at, color="0.25", linestyle="--", linewidth=1.4, label=label)
        for place in places[own[list(colours)].isna().all(axis=1)] if missing else ():
            axis.text(
                0.5, place, missing, va="center", color="0.35",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        for place, total in enumerate(base) if numbers else ():
            _write(axis, defined(total, numbers), total, place)
        for place, known in enumerate(own[inside]) if inside else ():
            axis.annotate(
                defined(known, ".1f"), (float(base.max()), place), (-4, 0), ha="right", va="center",
                textcoords="offset points", color="black",
            )  # fmt: skip
        axis.set_xlim(0, most or 1.2 * float(max(base.max(), 1e-9)))
    panels[0].axis.set_ylabel(down)
    return finished(figure, title, n_columns=abreast(keys, 3, width=width), order=keys)


def _laid_out(
    rows: pd.DataFrame,
    row: str,
    names: list[str],
    title: str,
    *,
    keys: Sequence[str],
    across: str,
    share_x: bool = True,
    a_row: float | None = None,
    width: float = WIDTH,
) -> tuple[Picture, list[_Panel]]:
    """Make the figure: panels beside each other."""
    labels, heads = wrapped(names), names_in(rows, "panel")
    tall = 0.75 + 0.2 * max(head.count("\n") + bool(head) for head in heads)
    tall += (a_row or row_height(labels)) * len(names) + 0.2
    tall += extra_height(title, keys, abreast(keys, 3, width=width))
    figure = plt.figure(figsize=(width, tall))
    (grid,) = figure.subplots(1, len(heads), sharey=True, sharex=share_x, squeeze=False)
    panels = []
    for axis, head in zip(grid, heads, strict=True):
        own = rows_of(rows, "panel", head).set_index(row).reindex(names)
        panels.append(_Panel(axis, own))
        axis.set_title(head)
        axis.locator_params(axis="x", nbins={1: 5, 2: 3}.get(len(grid), 2))
        axis.xaxis.set_major_formatter(SHORT)
        axis.grid(visible=False, axis="y")
    grid[0].set_yticks(range(len(names)), labels)
    grid[0].set_ylim(len(names) - 0.5, -0.5)
    if len(grid) == 1 or keys:  # a label of all panels would stand in the legend
        for axis in grid:
            axis.set_xlabel(across)
    else:
        figure.supxlabel(across, fontsize=FONT_SIZE)
    return figure, panels


def _draw_bars(panel: _Panel, value: str, colours: Sequence[Any], *, label: str) -> None:
    """Draw the bars of one panel with all that their rows have."""
    axis, rows, places = panel.axis, panel.rows, np.arange(len(panel.rows))
    axis.barh(places, rows[value], color=colours, height=0.7, label=label)
    axis.errorbar(
        rows[value], places, xerr=errors(rows, value), linestyle="none", color="black",
        elinewidth=1.4,
    )  # fmt: skip
    if "ceiling" in rows:
        axis.vlines(
            rows["ceiling"],
            places - 0.5,
            places + 0.5,
            color="black",
            linestyle="--",
            linewidth=1.2,
        )


def _write_numbers(panel: _Panel, value: str, numbers: str, *, room: float) -> None:
    """Write each value behind its bar, and what it can be at most."""
    rows, reach = panel.rows, 0.0
    ends = rows[[name for name in (value, "high", "ceiling") if name in rows]].max(axis=1)
    limits = rows["ceiling"] if "ceiling" in rows else pd.Series(np.nan, index=rows.index)
    for place, (number, end, limit) in enumerate(zip(rows[value], ends, limits, strict=True)):
        most = f" at most {limit:g}" if limit == limit else ""
        _write(panel.axis, defined(number, numbers), end, place, gap=9)  # no minus: a whisker
        if most:
            panel.axis.annotate(
                most, (end, place), (54, 0), va="center", textcoords="offset points"
            )
        reach = max(reach, end * (2 * room if most else room))  # what is written stands inside
    panel.axis.set_xlim(0, reach or 1)


def _write(axis: Axes, text: str, end: float, place: int, gap: int = 5) -> None:
    axis.annotate(
        text, (np.nan_to_num(end), place), (gap, 0), textcoords="offset points", va="center",
        fontweight="bold",
    )  # fmt: skip
