"""Dots with their intervals, a row for each name: what lies where, on a common scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import LogLocator, NullLocator

from recbias.book.figures.panels import (
    COLOURS,
    MARKS,
    Words,
    abreast,
    along,
    errors,
    extra_height,
    finished,
    grid_of,
    names_in,
    part_rows,
    rows_of,
)
from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, row_height, wrapped

_RULES = ("-", "--", ":")
_SPREAD = 0.56
"""Of a row, what its dots take."""


def dots(
    rows: pd.DataFrame,
    *,
    title: str,
    row: str = "row",
    value: str = "value",
    line: str = "line",
    panel: str = "panel",
    across: Words = "",
    levels: Mapping[str, float] | Sequence[float] = (),
    keyed: Sequence[str] | None = None,
    marks: str = MARKS,
    hollow: str = "",
    apart: bool = True,
    log: bool = False,
    from_zero: bool = False,
    share_x: bool = True,
    a_row: float = 0.0,
    width: float = WIDTH,
) -> Picture:
    """Draw a dot for each value, a row for each name in a column, a panel for each in another.

    Names of lines have a colour and mark each (`keyed` gives their order), that one which is
    `hollow` a grey edge; without lines rows have. Dots of one row stand below each other if one
    panel has several, and `apart`. Drawn where the rows have them: ``low`` and ``high``,
    ``count`` as numbers behind a row, rules where ``group`` changes. `levels` are vertical lines;
    those with names are in the legend.
    """
    panels, names, lines = (names_in(rows, column) for column in (panel, row, line))
    keyed = [name for name in keyed or lines if name]
    labels = wrapped(names)
    beside = apart and rows.duplicated([column for column in (panel, row) if column in rows]).any()
    crowd = len(lines) if beside else 1
    a_row = max(a_row or row_height(labels) - 0.04, 0.1 + 0.15 * min(crowd, 4))
    tall = 1.2 + 0.2 * any(panels) + a_row * len(names)
    keys = [*keyed, *(levels if isinstance(levels, Mapping) else ())]
    n_abreast = abreast(keys, 3, width=width)
    figure, axes = grid_of(
        panels, height=tall + extra_height(title, keys, n_abreast), share_x=share_x, share_y=True,
        width=width,
    )  # fmt: skip
    for name, axis in axes.items():
        panel_rows = rows_of(rows, panel, name)
        _draw_levels(axis, levels)
        part_rows(axis, rows, row, names)
        for number, each in enumerate(keyed or names):
            own = rows_of(panel_rows, line if keyed else row, each)
            places = np.array([names.index(str(at)) for at in own[row]], dtype=np.float64)
            if beside and keyed:
                places += _SPREAD * (number - (len(keyed) - 1) / 2) / len(keyed)
            elif beside:  # in the order of the rows, so that no two dots hide each other
                places += np.linspace(-_SPREAD / 2, _SPREAD / 2, len(own))
            look: dict[str, Any] = {
                "marker": marks[number % len(marks)],
                "markersize": 7,
                "label": each,
            }
            look = look if keyed else {"marker": "o", "markersize": 4}
            look |= {"color": COLOURS[number % len(COLOURS)]}
            if keyed and each == hollow:
                look |= {"color": "0.45", "markerfacecolor": "white", "markersize": 6}
            axis.errorbar(
                own[value], places, xerr=errors(own, value), linestyle="none", elinewidth=1.6,
                zorder=3, **look,
            )  # fmt: skip
        if "count" in rows:
            for at, counts in panel_rows.groupby(row, sort=False)["count"]:
                axis.text(
                    1.03, names.index(str(at)), ", ".join(map(str, counts)), va="center",
                    transform=axis.get_yaxis_transform(), fontsize=FONT_SIZE, color="0.25",
                )  # fmt: skip
        axis.set_xlabel(along(across, name, len(panels)))
        _scale(axis, log=log, nbins=5 if width >= WIDTH or len(panels) == 1 else 3)
    for axis in axes.values():  # now that all are filled, if they share a scale
        if from_zero:
            axis.set_xlim(left=0)
    first = next(iter(axes.values()))
    first.set_yticks(range(len(names)), labels)
    first.set_ylim(len(names) - 0.5, -0.5)
    return finished(figure, title, n_columns=n_abreast, order=keys)


def differences(
    rows: pd.DataFrame,
    *,
    title: str,
    winners: tuple[str, str],
    across: Words,
    width: float = WIDTH,
) -> Picture:
    """Draw differences as dots, each marked by who wins, as far as its interval tells."""
    signs = (rows["low"] > 0).astype(int) - (rows["high"] < 0).astype(int)
    words = {1: winners[0], -1: winners[1], 0: "open"}
    return dots(
        rows.assign(line=signs.map(words)), title=title, keyed=list(words.values()), hollow="open",
        levels=(0,), across=across, width=width,
    )  # fmt: skip


def _draw_levels(axis: Axes, levels: Mapping[str, float] | Sequence[float]) -> None:
    """Draw what values are held against."""
    rule: dict[str, Any] = {"color": "0.25", "linewidth": 1.2, "zorder": 1}
    if isinstance(levels, Mapping):
        for number, (name, at) in enumerate(levels.items()):
            axis.axvline(at, label=name, linestyle=_RULES[number % len(_RULES)], **rule)
    else:
        for at in levels:
            axis.axvline(at, **rule)


def _scale(axis: Axes, *, log: bool, nbins: int) -> None:
    if log:
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_minor_locator(NullLocator())
    else:
        axis.locator_params(axis="x", nbins=nbins)
    axis.xaxis.set_major_formatter(SHORT)
    axis.grid(visible=False, axis="y")
