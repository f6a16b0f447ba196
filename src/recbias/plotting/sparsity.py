"""Figures about sparse judgements: values and orders as judgements go or target sets grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from recbias.plotting.style import FONT_SIZE, SHORT, WIDTH, detached

__all__ = ["plot_courses", "plot_thinned"]


def plot_thinned(shares: pd.DataFrame, *, title: str) -> Figure:
    """Plot what is left of values, and of pairs of systems told apart, as test ratings go.

    Parameters
    ----------
    shares
        As :func:`recbias.claims.sparsity_bias.thinned_shares` gives them.
    title
        The message.

    Returns
    -------
    Figure
        Left a line per system and design, right one per design.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.9), sharey=True)
    colours = sns.color_palette("colorblind")
    for number, (design, own) in enumerate(shares.groupby("design", sort=False)):
        look = {"color": colours[number], "marker": "os^D"[number]}
        for what, rows in own.groupby("what", sort=False):
            pairs = what == "pairs"
            axes[int(pairs)].plot(
                rows["kept"], 100 * rows["share"], linewidth=2.0 if pairs else 1.0,
                markersize=6 if pairs else 3, label=design if pairs else None, **look,
            )  # fmt: skip
    for axis, words in zip(axes, ("value, % of the whole", "pairs told apart, %"), strict=True):
        axis.set(title=words, xlim=(104, 0), xlabel="test ratings kept, %")
    axes[0].set_ylim(0, 1.04 * axes[0].get_ylim()[1])
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return detached(figure)


def plot_courses(
    panels: Mapping[str, pd.DataFrame],
    *,
    across: Sequence[str],
    up: str,
    marked: Sequence[str],
    title: str,
    logs: Sequence[str] = (),
) -> Figure:
    """Plot a quantity of each system along an axis, beside what theory predicts: a panel each.

    Parameters
    ----------
    panels
        By title: a frame with a row per ``system`` and ``place`` on the axis: ``value``, its 95 %
        interval ``low`` to ``high``, and ``predicted``.
    across
        What is on the axis of each panel.
    up
        What is measured.
    marked
        Systems with a colour of their own; all others are grey.
    title
        The message.
    logs
        Panels with both axes in logarithms.

    Returns
    -------
    Figure
        Marks with whiskers; lines are predictions.
    """
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH, 4.7), squeeze=False)
    for axis, (name, frame), below in zip(axes[0], panels.items(), across, strict=True):
        for system, rows in frame.groupby("system", sort=False):
            _draw_course(axis, rows, **_look(str(system), marked))
        axis.set(title=name, xlabel=below)
        if name in logs:
            _scale_logs(axis, sorted(set(frame["place"])))
            continue
        axis.set_ylim(bottom=0)
        axis.set_xlim(0, 1.06 * frame["place"].max())
        axis.locator_params(axis="both", nbins=4)
        axis.yaxis.set_major_formatter(SHORT)
    axes[0, 0].set_ylabel(up)
    systems = next(iter(panels.values()))["system"].unique()
    handles = [_handle(name, marked) for name in marked if name in systems]
    if set(systems) - set(marked):
        handles.append(_handle(_OTHERS, marked))
    handles.append(Line2D([], [], color="0.25", linewidth=1.2, label="predicted"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


_OTHERS = "all others"
_COLOURS = (0, 1, 2, 3, 4, 5, 7, 9)
_MARKS = "osD^vP*X"


def _look(system: str, marked: Sequence[str]) -> dict[str, Any]:
    """Give a system its colour and mark; those that are not marked share one."""
    if system not in marked:
        return {"color": "0.6", "marker": ".", "zorder": 2}
    number = list(marked).index(system) % len(_COLOURS)
    colour = sns.color_palette("colorblind", 10)[_COLOURS[number]]
    return {"color": colour, "marker": _MARKS[number], "zorder": 3}


def _handle(name: str, marked: Sequence[str]) -> Line2D:
    return Line2D([], [], linestyle="none", label=name, **_look(name, marked))


def _draw_course(axis: Axes, rows: pd.DataFrame, **look: Any) -> None:
    """Draw the values of one system with their intervals, and the line of its predictions."""
    rows = rows.sort_values("place")
    errors = np.array([rows["value"] - rows["low"], rows["high"] - rows["value"]])
    axis.errorbar(
        rows["place"], rows["value"], yerr=np.maximum(errors, 0), linestyle="none",
        markersize=5, elinewidth=1.2, **look,
    )  # fmt: skip
    axis.plot(rows["place"], rows["predicted"], color=look["color"], linewidth=1.2, zorder=1)


def _scale_logs(axis: Axes, places: Sequence[float]) -> None:
    """Put both axes in logarithms, with the ends and the middle of the places written."""
    axis.set(xscale="log", yscale="log")
    written = [places[0], places[len(places) // 2], places[-1]]
    axis.set_xticks(written, [f"{place:g}" for place in written])
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_formatter(SHORT)
