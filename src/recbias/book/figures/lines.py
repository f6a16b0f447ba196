"""Lines with their bands or whiskers, over anything that has an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import NullFormatter, NullLocator

from recbias.book.figures.panels import (
    COLOURS,
    MARKS,
    STYLES,
    Chosen,
    Shared,
    Words,
    abreast,
    along,
    errors,
    extra_height,
    finished,
    grid_of,
    is_chosen,
    names_in,
    numbered,
    of_panel,
    rows_of,
)
from recbias.book.figures.style import SHORT, WIDTH

_RULE: Mapping[str, Any] = {"color": "0.25", "linewidth": 1.2, "zorder": 1}
_DIAMOND: Mapping[str, Any] = {
    "marker": "D", "color": "white", "markeredgewidth": 2, "markersize": 10, "zorder": 5,
    "linestyle": "none",
}  # fmt: skip
_APART = 2
"""Ticks of an axis in logarithms are written if one is so many times the one before."""


def lines(
    rows: pd.DataFrame,
    *,
    title: str,
    x: str = "at",
    y: str = "value",
    line: str = "line",
    panel: str = "panel",
    across: Words = "",
    up: Words = "",
    whiskers: bool = False,
    points: bool = True,
    joined: bool = True,
    marked: Sequence[str] | None = None,
    predicted: str = "predicted",
    reference: str = "",
    bounds: str = "",
    looks: Mapping[str, int] | None = None,
    level: float | Mapping[str, float] | None = None,
    cuts: Mapping[str, Sequence[float]] | None = None,
    log: Chosen = False,
    log_up: Chosen = False,
    ticks: Sequence[float] | None = None,
    even: bool = False,
    apart: float = 0.0,
    diagonal: Chosen = False,
    from_zero: Chosen = False,
    limits: Mapping[str, Any] | None = None,
    share_x: Shared = False,
    share_y: Shared = False,
    n_columns: int = 0,
    keys_abreast: int = 2,
    named: bool = False,
    height: float = 3.4,
    width: float = WIDTH,
) -> Picture:
    """Draw a line for each name in a column, a panel for each in another.

    Drawn where the rows have them: ``low`` and ``high`` as a band or as `whiskers`, ``least`` and
    ``most`` as dotted lines, called `bounds`, ``predicted`` as a thin line, called so,
    ``published`` as white diamonds; of each ``run`` but the
    first a thin line. A line without values is its band. Lines that are not `marked` are grey, the
    `reference` is black and dashed. Along the axis places are `even`, as their ranks, or as `x`
    says; `apart` moves lines that would hide each other.
    Lines are `named` at their ends, or else in a legend.
    """
    panels, names = names_in(rows, panel), names_in(rows, line)
    n_columns = n_columns or max(len(panels), 1)
    chosen = names if marked is None else [name for name in marked if name in names]
    tall = height * -(-len(panels) // n_columns)
    keys = [*chosen, *(["others"] if len(chosen) < len(names) else ())] if any(names) else []
    keys = [] if named else keys
    keys += [predicted] if "predicted" in rows else []
    keys += [bounds] if bounds and rows["least"].notna().any() else []
    n_abreast = abreast(keys, keys_abreast, width=width)
    tall += extra_height(title, keys, n_abreast)
    figure, axes = grid_of(
        panels, height=tall, n_columns=n_columns, share_x=share_x, share_y=share_y, width=width
    )
    numbers = numbered([name for name in chosen if not reference or name != reference], looks)
    places = {place: n for n, place in enumerate(sorted(rows[x].unique()))} if even else None
    for name, axis in axes.items():
        panel_rows = rows_of(rows, panel, name)
        height_of = level.get(name) if isinstance(level, Mapping) else level
        if height_of is not None:
            axis.axhline(height_of, **_RULE)
        for cut in (cuts or {}).get(name, ()):
            axis.axvline(cut, color="0.65", linewidth=1, zorder=1)
        if is_chosen(diagonal, name):
            axis.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=1)
        for place, each in enumerate(names):
            own = rows_of(panel_rows, line, each).sort_values(x, kind="stable")
            shift = apart * (place - (len(names) - 1) / 2)
            own = own.assign(_at=(own[x].map(places) if places else own[x]) + shift)
            look = _look(numbers.get(each), points=points, joined=joined)
            if each and each == reference:
                look |= {"color": "black", "linestyle": "--", "marker": None}
            for number, (_, run) in enumerate(own.groupby("run") if "run" in own else [("", own)]):
                if number:
                    thin = {**look, "marker": None, "linewidth": 0.6}
                    axis.plot(run["_at"], run[y], alpha=0.7, **thin)
                else:
                    label = each if each in chosen else "others"
                    _draw(axis, run, y, label, predicted, whiskers=whiskers, **look)
        _scale(axis, log=is_chosen(log, name), log_up=is_chosen(log_up, name), ticks=ticks)
        if places:
            axis.set_xticks(range(len(places)), [_written(place) for place in places])
        spec = axis.get_subplotspec()
        if not share_x or spec is None or spec.is_last_row():
            axis.set_xlabel(along(across, name, n_columns))
        if not share_y or spec is None or spec.is_first_col():
            axis.set_ylabel(of_panel(up, name))
    for name, axis in axes.items():  # now that all are filled, if they share a scale
        if is_chosen(from_zero, name):
            axis.set(xlim=(0, None), ylim=(0, None))
        axis.set(**(limits or {}))
        if named:
            _name_ends(axis, rows_of(rows, panel, name), x, y, line, room=0.22 / (height - 1.1))
        if bounds in keys:
            axis.plot([], [], ":", color="0.4", linewidth=1.6, label=bounds)
    return finished(figure, title, n_columns=n_abreast, order=keys, keys=None if keys else [])


def _name_ends(axis: Axes, rows: pd.DataFrame, x: str, y: str, line: str, *, room: float) -> None:
    """Write the name of each line behind its end, `room` of the axis apart at least."""
    ends = rows.sort_values(x, kind="stable").groupby(line, sort=False).last()
    bottom, top = axis.get_ylim()
    at = np.inf
    for name, end in ends.sort_values(y, ascending=False, kind="stable").iterrows():
        at = min(at - room * (top - bottom), end[y])
        axis.annotate(
            str(name), (end[x], at), (6, 0), textcoords="offset points", va="center",
            annotation_clip=False,
        )  # fmt: skip


def _look(number: int | None, *, points: bool, joined: bool) -> dict[str, Any]:
    """Tell lines apart by colour, stroke and mark; those that have no number are grey."""
    if number is None:
        look = {"color": "0.72", "linewidth": 1.5, "zorder": 2}
        return look if joined else {**look, "marker": ".", "linestyle": "none"}
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[number % len(STYLES)] if joined else "none",
        "marker": MARKS[number % len(MARKS)] if points else None,
        "linewidth": 2,
        "markersize": 6,
        "zorder": 3,
    }


def _draw(
    axis: Axes,
    rows: pd.DataFrame,
    y: str,
    label: str,
    predicted: str,
    *,
    whiskers: bool,
    **look: Any,
) -> None:
    """Draw one line with all that its rows have."""
    colour, at = look["color"], rows["_at"]
    reach = errors(rows, y)
    if reach is not None and rows[y].isna().all():
        axis.fill_between(at, rows["low"], rows["high"], color="0.25", linewidth=1.5, label=label)
        return
    if reach is not None and not whiskers:
        axis.fill_between(at, rows["low"], rows["high"], color=colour, alpha=0.2, linewidth=0)
    axis.errorbar(
        at, rows[y], yerr=reach if whiskers else None, elinewidth=1.2, label=label, **look
    )
    for bound in {"least", "most"} & set(rows.columns):
        axis.plot(at, rows[bound], ":", color=colour, linewidth=1.6)
    if "predicted" in rows:
        axis.plot(at, rows["predicted"], color=colour, linewidth=1.2, zorder=1)
        axis.plot([], [], color="0.25", linewidth=1.2, label=predicted)
    if "published" in rows:
        axis.plot(at, rows["published"], markeredgecolor=colour, **_DIAMOND)


def _scale(axis: Axes, *, log: bool, log_up: bool, ticks: Sequence[float] | None) -> None:
    """Put axes in logarithms, and choose few ticks."""
    if log_up:
        axis.set_yscale("log")
        axis.yaxis.set_minor_formatter(NullFormatter())
    else:
        axis.locator_params(axis="y", nbins=5)
    axis.yaxis.set_major_formatter(SHORT)
    if log:
        axis.set_xscale("log")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_minor_formatter(NullFormatter())
    elif ticks is None:
        axis.locator_params(axis="x", nbins=5)
    if ticks is not None:
        axis.set_xticks(ticks)
    axis.xaxis.set_major_formatter(SHORT)


def _written(place: Any) -> str:
    if isinstance(place, str):
        return place
    return "\N{INFINITY}" if np.isinf(place) else f"{place:g}"
