"""What all pictures have in common: panels of one figure, looks, a legend below, a title above."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from recbias.book.figures.style import FONT_SIZE, WIDTH

COLOURS = sns.color_palette("colorblind", 10)
STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKS = "osD^vP*X"

A_LINE, A_KEY = 0.2, 0.24
"""Inches that a line of a title takes, and one of a legend."""

Words = str | Mapping[str, str]
"""A label of all panels, or of each."""

Shared = bool | Literal["row", "col"]
"""Whether panels share a scale."""

Chosen = bool | Collection[str]
"""All panels or none, or those that are named."""


def names_in(rows: pd.DataFrame, column: str) -> list[str]:
    """List what a column names, as it comes; one empty name where there is no such column."""
    return [str(name) for name in dict.fromkeys(rows.get(column, ()))] or [""]


def rows_of(rows: pd.DataFrame, column: str, name: str) -> pd.DataFrame:
    """Choose the rows that a column names so; all where there is no such column."""
    return rows[rows[column].astype(str) == name] if column in rows else rows


def of_panel(words: Words, panel: str) -> str:
    """Give the label of a panel."""
    return words if isinstance(words, str) else words.get(panel, "")


def along(words: Words, panel: str, n_abreast: int) -> str:
    """Give the label of an axis: broken where all panels have it, as it is where one has."""
    if isinstance(words, str):
        return "\n".join(textwrap.wrap(words, 60 // n_abreast - 8))
    return words.get(panel, "")


def is_chosen(chosen: Chosen, panel: str) -> bool:
    """Tell whether something holds for a panel."""
    return chosen if isinstance(chosen, bool) else panel in chosen


def errors(rows: pd.DataFrame, value: str) -> npt.NDArray[np.float64] | None:
    """Give what intervals reach below and above their values, never less than nothing."""
    if not {"low", "high"} <= set(rows.columns) or rows["low"].isna().all():
        return None
    reach = [rows[value] - rows["low"], rows["high"] - rows[value]]
    return np.nan_to_num(np.clip(np.asarray(reach, dtype=np.float64), 0, None))


def numbered(names: Iterable[str], looks: Mapping[str, int] | None = None) -> dict[str, int]:
    """Give names the numbers of their looks: some as asked for, all others what is left."""
    known = {name: looks[name] for name in names if looks and name in looks}
    free = (number for number in itertools.count() if number not in known.values())
    return {name: known[name] if name in known else next(free) for name in names}


def grid_of(
    panels: Sequence[str],
    *,
    height: float,
    n_columns: int = 0,
    share_x: Shared = False,
    share_y: Shared = False,
    width: float = WIDTH,
) -> tuple[Picture, dict[str, Axes]]:
    """Make a figure with an axis for each panel, which stands in its title."""
    n_columns = n_columns or len(panels)
    n_rows = -(-len(panels) // n_columns)
    figure, grid = plt.subplots(
        n_rows, n_columns, figsize=(width, height), sharex=share_x, sharey=share_y, squeeze=False
    )  # fmt: skip
    axes = dict(zip(panels, grid.flat, strict=False))
    for name, axis in axes.items():
        axis.set_title(name)
    for axis in grid.flat[len(panels) :]:
        axis.set_axis_off()
    return figure, axes


def finished(
    figure: Picture,
    title: str,
    *,
    keys: Sequence[Artist] | None = None,
    order: Sequence[str] = (),
    n_columns: int = 2,
    **legend: Any,
) -> Picture:
    """Give a figure its legend and title, and take it from pyplot's hands.

    Pyplot would show it a second time at the end of a cell. The legend has `keys`, or what axes
    name, those of `order` first.
    """
    if keys is None:
        drawn = {
            label: handle
            for axis in figure.axes
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
    else:
        drawn = {str(key.get_label()): key for key in keys}
    drawn = {name: drawn[name] for name in [*filter(drawn.__contains__, order), *drawn]}
    if drawn:
        figure.legend(
            list(drawn.values()), list(drawn), loc="outside lower center", ncols=n_columns,
            frameon=False, **legend,
        )  # fmt: skip
    if title:
        figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    plt.close(figure)
    return figure


def part_rows(axis: Axes, rows: pd.DataFrame, row: str, names: Sequence[str]) -> None:
    """Draw a rule where another group of rows begins."""
    if "group" not in rows:
        return
    groups = list(rows.drop_duplicates(row)["group"])
    for n in range(1, len(names)):
        if groups[n] != groups[n - 1]:
            axis.axhline(n - 0.5, color="0.7", linewidth=0.8, zorder=0)


def abreast(keys: Sequence[str], most: int = 2, *, width: float = WIDTH) -> int:
    """Choose how many columns of a legend fit the width, by its longest text."""
    longest = max(map(len, keys), default=0)
    return max(1, min(most, int(width * 72 / (36 + 6.5 * longest))))


def extra_height(title: str, keys: Sequence[str] = (), n_columns: int = 1) -> float:
    """Give the inches that a title and a legend take."""
    return A_LINE * title.count("\n") + A_KEY * -(-len(keys) // n_columns)
