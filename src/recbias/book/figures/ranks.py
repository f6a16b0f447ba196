"""Ranks of systems along an axis, with those that move most standing out."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import NullFormatter

from recbias.book.figures.panels import COLOURS, STYLES, extra_height, finished, names_in
from recbias.book.figures.style import SHORT, WIDTH, row_height, wrapped

_LOUD = (0, 3, 2, 4)


def ranks(
    rows: pd.DataFrame,
    *,
    title: str,
    x: str,
    system: str = "system",
    across: str = "",
    n_marked: int = 3,
    marked: Sequence[str] = (),
    level: float | None = None,
    limits: tuple[float, float] | None = None,
    width: float = WIDTH,
) -> Picture:
    """Join the ``rank`` of each system from place to place.

    Where places are names, ranks stand in circles and systems are listed by the first; where they
    are numbers, the axis is in logarithms and systems are listed by the last, on the right. Those
    `marked` stand out, or else the `n_marked` that move most.
    """
    named = not pd.api.types.is_numeric_dtype(rows[x])
    wide = rows.pivot_table(index=system, columns=x, values="rank")
    wide = wide[list(dict.fromkeys(rows[x]))] if named else wide
    listed = wide.iloc[:, 0 if named else -1].sort_values(kind="stable")
    moves = (wide.max(axis=1) - wide.min(axis=1)).sort_values(ascending=False, kind="stable")
    loud = [name for name in moves.index[:n_marked] if moves[name] >= (2 if named else 1)]
    loud = [name for name in marked if name in wide.index] if marked else loud
    looks = {name: (COLOURS[_LOUD[n % 4]], STYLES[n % 4]) for n, name in enumerate(loud)}
    labels = wrapped(list(listed.index))
    n_lines = max(str(place).count("\n") for place in wide.columns) if named else 0
    tall = 1.1 + 0.2 * n_lines + max(0.3, row_height(labels)) * len(wide) + extra_height(title)
    figure, axis = plt.subplots(figsize=(width, tall))
    at = np.arange(wide.shape[1]) if named else np.asarray(wide.columns, dtype=np.float64)
    for name, places in wide.iterrows():
        colour, style = looks.get(name, ("0.7", "-"))
        axis.plot(
            at, places, color=colour, linestyle=style, linewidth=3 if name in looks else 1.5,
            zorder=3 if name in looks else 2, marker="o" if named else None, markersize=18,
            markerfacecolor="white", markeredgewidth=1.8,
        )  # fmt: skip
        for place, rank in zip(at, places, strict=True) if named else ():
            axis.annotate(f"{rank:.0f}", (place, rank), ha="center", va="center", zorder=5)
    axis.set_yticks(listed.to_numpy(), labels)
    axis.set_ylim(len(wide) + 0.6, 0.4)
    if named:
        _name_columns(axis, names_in(rows, x))
    else:
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(SHORT)
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set(xlim=limits, xlabel=across)
        axis.yaxis.tick_right()
        axis.grid(visible=False, axis="y")
    for tick, name in zip(axis.get_yticklabels(), listed.index, strict=True):
        tick.set_fontweight("bold" if name in looks else "normal")
    if level is not None:
        axis.axvline(level, color="black", linestyle="--", linewidth=1.2)
    return finished(figure, title, keys=[])


def _name_columns(axis: Axes, names: list[str]) -> None:
    axis.set_xlim(-0.25, len(names) - 0.75)
    axis.set_xticks(range(len(names)), names)
    axis.xaxis.tick_top()
    axis.grid(visible=False)
    axis.tick_params(length=0)
    sns.despine(ax=axis, left=True, bottom=True)
