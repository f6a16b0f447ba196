"""Matrices with words in their cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LogNorm, Normalize, to_rgba
from matplotlib.figure import Figure as Picture
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter

from recbias.book.figures.panels import extra_height, finished, grid_of, names_in, rows_of
from recbias.book.figures.style import SHORT, WIDTH, row_height, wrapped


def matrix(
    rows: pd.DataFrame,
    *,
    title: str,
    row: str,
    column: str,
    names: tuple[Sequence[str], Sequence[str]] | None = None,
    colours: str | Mapping[str, Any] = "RdBu",
    scale: tuple[float, float] = (0, 1),
    log: bool = False,
    alpha: float = 1.0,
    key: str = "",
    key_ticks: Sequence[float] | None = None,
    labels: tuple[str, str] = ("", ""),
    a_row: float = 0.34,
    upright: bool = False,
    width: float = WIDTH,
) -> Picture:
    """Colour a cell for each pair of names by its ``value``, and write its ``text``; panels below.

    `colours` name a colour map over `scale`, with its `key`, or the colour of each value that is a
    name. Drawn where the rows have them: ``framed`` cells with a black edge, cells that are not
    ``sure`` paler and their text in normal weight. `names` are those of rows and columns, `upright`
    those of columns that are long.
    """
    downs, acrosses = names or (names_in(rows, row), names_in(rows, column))
    panels, ticks = names_in(rows, "panel"), wrapped(downs)
    n_lines = 1 + max((str(text).count("\n") for text in rows["text"]), default=0)
    cell = max(row_height(ticks), a_row, 0.08 + 0.19 * n_lines)
    head = 0.1 * max(map(len, acrosses)) if upright else 0.2
    tall = len(panels) * (cell * len(downs) + 0.35) + 0.5 + head + 0.75 * bool(key)
    figure, axes = grid_of(
        panels, height=tall + extra_height(title), n_columns=1, share_x=True, width=width
    )
    norm = LogNorm(*scale) if log else Normalize(*scale)
    shades = mpl.colormaps[colours] if isinstance(colours, str) else colours
    for name, axis in axes.items():
        for each in rows_of(rows, "panel", name).to_dict("records"):
            place = acrosses.index(str(each[column])), downs.index(str(each[row]))
            _fill(axis, place, each, shades, norm, alpha)
        axis.set_xticks(range(len(acrosses)), acrosses, rotation=90 if upright else 0)
        axis.set_yticks(range(len(downs)), ticks)
        axis.set(xlim=(-0.5, len(acrosses) - 0.5), ylim=(len(downs) - 0.5, -0.5), ylabel=labels[1])
        axis.grid(visible=False)
        axis.set_xlabel(labels[0] if name == panels[-1] else "")
    if key and isinstance(shades, Colormap):
        _colour_key(
            figure, [*axes.values()], mpl.cm.ScalarMappable(norm, shades), key, key_ticks
        )  # fmt: skip
    return finished(figure, title)


def _fill(
    axis: Axes,
    place: tuple[int, int],
    cell: Mapping[Any, Any],
    shades: Colormap | Mapping[str, Any],
    norm: Normalize,
    alpha: float,
) -> None:
    """Colour one cell, and write what is in it."""
    value, sure = cell["value"], cell.get("sure", True)
    if isinstance(shades, Colormap):
        if np.isnan(value):
            colour, alpha = "white", 1.0
        else:
            colour = shades(norm(value))
    else:
        colour, alpha = shades[value], 0.75 if sure else 0.25
    corner = place[0] - 0.5, place[1] - 0.5
    edge = "none" if isinstance(shades, Colormap) else "white"
    axis.add_patch(Rectangle(corner, 1, 1, facecolor=colour, alpha=alpha, edgecolor=edge))
    red, green, blue, _ = to_rgba(colour)
    dark = alpha * (1 - 0.299 * red - 0.587 * green - 0.114 * blue) > 0.55
    axis.text(
        *place, cell["text"], ha="center", va="center", linespacing=0.95,
        color="white" if dark else "black",
        fontweight="bold" if "sure" in cell and sure else "normal",
    )  # fmt: skip
    if cell.get("framed", False):
        frame: dict[str, Any] = {"fill": False, "edgecolor": "black", "linewidth": 2, "zorder": 3}
        axis.add_patch(Rectangle((corner[0] + 0.04, corner[1] + 0.04), 0.92, 0.92, **frame))


def _colour_key(
    figure: Picture,
    axes: Sequence[Axes],
    shades: Any,
    words: str,
    ticks: Sequence[float] | None,
) -> None:
    """Draw the scale of colours below."""
    bar = figure.colorbar(shades, ax=axes, location="bottom", shrink=0.85, aspect=40)
    if ticks is not None:
        bar.set_ticks(ticks)
    bar.ax.xaxis.set_major_formatter(SHORT)
    bar.ax.xaxis.set_minor_formatter(NullFormatter())
    bar.set_label(words)
