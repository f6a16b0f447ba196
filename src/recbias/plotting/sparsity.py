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

from recbias.plotting.style import FONT_SIZE, SHORT, WIDTH, detached, row_height, wrapped

__all__ = [
    "plot_courses",
    "plot_list_shares",
    "plot_metric_slopes",
    "plot_predictions",
    "plot_told_apart",
]


def plot_list_shares(shares: pd.DataFrame, *, title: str) -> Figure:
    """Plot what is known of the items in the lists of each system, a panel per share of the test.

    Parameters
    ----------
    shares
        As :func:`recbias.claims.sparsity_bias.list_shares` gives them.
    title
        The message.

    Returns
    -------
    Figure
        Bars of the whole list: relevant, rated lower, not rated.
    """
    panels = list(shares.groupby("kept", sort=False))
    systems = wrapped(list(panels[0][1]["system"]))
    figure, axes = plt.subplots(
        1, len(panels), figsize=(WIDTH, 1.5 + row_height(systems) * len(systems)), sharey=True
    )
    blue, orange = sns.color_palette("colorblind")[:2]
    colours = {"relevant": blue, "rated lower": orange, "not rated": "0.85"}
    places = np.arange(len(systems))
    for axis, (kept, own) in zip(axes, panels, strict=True):
        left = np.zeros(len(systems))
        for name, colour in colours.items():
            axis.barh(places, 100 * own[name], left=left, color=colour, height=0.75, label=name)
            left += 100 * own[name].to_numpy()
        axis.set(title="all test ratings" if kept == 100 else f"{kept} % of them", xlim=(0, 100))
        axis.set_xticks([0, 50, 100])
        axis.set_xlabel("% of the list")
        axis.grid(visible=False, axis="y")
    axes[0].set_yticks(places, systems)
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_metric_slopes(slopes: pd.DataFrame, *, title: str) -> Figure:
    """Plot how steeply metrics go with the share of the test ratings kept, a row per metric.

    Parameters
    ----------
    slopes
        As :func:`recbias.claims.sparsity_bias.metric_slopes` gives them.
    title
        The message.

    Returns
    -------
    Figure
        A mark per system with its 95 % interval, between no change (0) and proportion (1).
    """
    names = list(dict.fromkeys(slopes["metric"]))
    figure, axis = plt.subplots(figsize=(WIDTH, 1.4 + 0.5 * len(names)))
    systems = list(dict.fromkeys(slopes["system"]))
    offsets = dict(zip(systems, np.linspace(-0.3, 0.3, len(systems)), strict=True))
    for row, name in enumerate(names):
        own = slopes[slopes["metric"] == name].dropna()
        heights = [row + offsets[system] for system in own["system"]]
        errors = np.array([own["slope"] - own["low"], own["high"] - own["slope"]])
        axis.errorbar(
            own["slope"], heights, xerr=np.maximum(errors, 0), fmt=".", markersize=6,
            elinewidth=1.0, color=sns.color_palette("colorblind", 10)[row % 10],
        )  # fmt: skip
    for place in (0, 1):
        axis.axvline(place, color="0.25", linewidth=1.2, zorder=1)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel("slope (0: stays as it is, 1: in proportion)")
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_predictions(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot measured over predicted precision, a row per ranking and a mark per prediction.

    Parameters
    ----------
    found
        As :func:`recbias.claims.sparsity_bias.predictions` gives them.
    title
        The message.

    Returns
    -------
    Figure
        Marks with 95 % intervals of the measured value; at 1 it is what was predicted.
    """
    systems = list(dict.fromkeys(found["system"]))
    figure, axis = plt.subplots(figsize=(WIDTH, 1.9 + 0.42 * len(systems)))
    colours = sns.color_palette("colorblind")
    for number, (form, own) in enumerate(found.groupby("form", sort=False)):
        places = np.arange(len(systems)) + 0.3 * (number - 0.5)
        errors = np.array([own["value"] - own["low"], own["high"] - own["value"]])
        axis.errorbar(
            own["value"], places, xerr=np.maximum(errors, 0), fmt="os"[number], markersize=7,
            elinewidth=1.4, color=colours[number], label=f"predicted by {form}",
        )  # fmt: skip
    axis.axvline(1, color="0.25", linewidth=1.2, zorder=1)
    axis.set_yticks(range(len(systems)), systems)
    axis.set_ylim(len(systems) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel("measured precision / predicted precision")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_told_apart(curves: pd.DataFrame, *, title: str) -> Figure:
    """Plot how many pairs of systems are told apart, against the share of judgements there is.

    Parameters
    ----------
    curves
        As :func:`recbias.claims.sparsity_bias.told_apart` gives them.
    title
        The message.

    Returns
    -------
    Figure
        A line per design in a band of what the data leave open.
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 3.9))
    colours = sns.color_palette("colorblind")
    for number, (design, own) in enumerate(curves.groupby("design", sort=False)):
        axis.fill_between(
            own["kept"], own["low"], own["high"], color=colours[number], alpha=0.2, linewidth=0
        )
        axis.plot(
            own["kept"], own["pairs"], color=colours[number], linewidth=2,
            linestyle=("-", "--", "-.", ":")[number % 4], label=design,
        )  # fmt: skip
    axis.set(xscale="log", xlabel="test ratings kept, %", ylabel="pairs told apart")
    axis.xaxis.set_major_formatter(SHORT)
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
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


_APART = 2
"""Places of an axis in logarithms are written if one is so many times the other."""


def _scale_logs(axis: Axes, places: Sequence[float]) -> None:
    """Put both axes in logarithms, with the ends and the middle of the places written."""
    axis.set(xscale="log", yscale="log")
    middle = min(places, key=lambda place: abs(np.log(place**2 / (places[0] * places[-1]))))
    apart = min(middle / places[0], places[-1] / middle) >= _APART
    written = [places[0], *([middle] if apart else []), places[-1]]
    axis.set_xticks(written, [f"{place:g}" for place in written])
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_formatter(SHORT)
