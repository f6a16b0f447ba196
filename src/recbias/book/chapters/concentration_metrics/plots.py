"""Figures about concentration: ranks by many metrics, Lorenz curves, which metrics are one."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, detached, row_height, wrapped

_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))


def plot_rank_map(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot the ranks of systems by several metrics as colours, a map for each data set."""
    panels, metrics, systems = (
        list(dict.fromkeys(found[name])) for name in ("panel", "metric", "system")
    )
    names = wrapped(systems)
    ranged = (found["low"] < found["high"]).any()
    a_row = max(row_height(names), 0.46 if ranged else 0.3)
    longest = max(map(len, metrics))
    a_head = 0.5 + 0.1 * longest
    height = len(panels) * (a_row * len(systems) + 0.45) + a_head + 0.2 * title.count("\n")
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(WIDTH, height), sharex=True, squeeze=False
    )  # fmt: skip
    colours = mpl.colormaps["RdYlGn_r"]
    for axis, panel in zip(axes[:, 0], panels, strict=True):
        panel_rows = found[found["panel"] == panel]
        wide, low, high = (
            panel_rows.pivot_table(index="system", columns="metric", values=name, dropna=False)
            .reindex(index=systems, columns=metrics)
            .to_numpy(dtype=np.float64)
            for name in ("rank", "low", "high")
        )
        axis.imshow(wide, cmap=colours, vmin=1, vmax=max(len(systems), 2), aspect="auto", alpha=0.8)
        for row, column in np.argwhere(~np.isnan(wide)):
            words = f"{wide[row, column]:.3g}"
            if low[row, column] < high[row, column]:
                words += f"\n{low[row, column]:.3g}–{high[row, column]:.3g}"
            axis.text(
                column, row, words, ha="center", va="center", fontsize=FONT_SIZE, linespacing=0.95
            )
        axis.set_yticks(range(len(systems)), names)
        axis.set_xticks(range(len(metrics)), metrics, rotation=90)
        axis.set_title(panel)
        axis.grid(visible=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_lorenz(curves: pd.DataFrame, *, title: str) -> Figure:
    """Plot what share of all recommendations the items with the fewest of them have."""
    systems = [name for name in curves.columns if name != "prior"]
    n_rows = -(-(len(systems) + 2) // 2)
    height = 3.8 + 0.24 * n_rows + 0.2 * title.count("\n")
    figure, axis = plt.subplots(figsize=(WIDTH, height))
    axis.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="all items alike")
    _draw_lines(axis, curves[systems])
    if "prior" in curves:
        axis.plot(curves.index, curves["prior"], "--", color="black", linewidth=2.2, label="prior")
    axis.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="share of the items, fewest recommendations first",
        ylabel="share of recommendations",
    )
    axis.xaxis.set_major_formatter(SHORT)
    axis.yaxis.set_major_formatter(SHORT)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _draw_lines(axis: Axes, lines: pd.DataFrame) -> None:
    """Draw a line per column, told apart by colour and by stroke."""
    colours = sns.color_palette("colorblind", len(lines.columns))
    for number, (name, line) in enumerate(lines.items()):
        axis.plot(
            line.index, line, color=colours[number], linewidth=1.8, label=str(name),
            linestyle=_STYLES[number % len(_STYLES)],
        )  # fmt: skip


def plot_tau_matrix(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot how far each pair of metrics orders systems alike."""
    metrics = list(dict.fromkeys([*found["a"], *found["b"]]))
    place = {name: number for number, name in enumerate(metrics)}
    n_metrics = len(metrics)
    matrix = np.full((n_metrics, n_metrics), np.nan)
    framed = []
    pairs = zip(found["a"], found["b"], found["tau"], found["low"], strict=True)
    for one, other, tau, low in pairs:
        down, across = sorted((place[one], place[other]), reverse=True)
        matrix[down, across] = tau
        if low > 0.9:
            framed.append((down, across))
    height = 1.2 + 0.1 * max(map(len, metrics)) + 0.34 * n_metrics + 0.2 * title.count("\n")
    figure, axis = plt.subplots(figsize=(WIDTH, height))
    image = axis.imshow(
        matrix[1:, :-1], cmap="RdBu", vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
    )
    for down, across in np.argwhere(~np.isnan(matrix)):
        tau = matrix[down, across]
        axis.text(
            across, down - 1, _short(tau), ha="center", va="center", fontsize=FONT_SIZE,
            color="white" if abs(tau) > 0.7 else "black",
        )  # fmt: skip
    for down, across in framed:
        axis.add_patch(
            Rectangle(
                (across - 0.46, down - 1.46), 0.92, 0.92, fill=False, edgecolor="black", linewidth=2
            )
        )
    axis.set_yticks(range(n_metrics - 1), metrics[1:])
    axis.set_xticks(range(n_metrics - 1), metrics[:-1], rotation=90)
    axis.grid(visible=False)
    bar = figure.colorbar(image, ax=axis, location="top", shrink=0.8, aspect=40)
    bar.set_ticks([-1, 0, 1])
    bar.set_label("Kendall's $\\tau$; framed: above .9 for certain")
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _short(tau: float) -> str:
    """Write a number from -1 to 1 in at most three characters; a question mark for no number."""
    if np.isnan(tau):
        return "?"
    words = f"{tau:.1f}"
    return "0" if float(words) == 0 else words.removesuffix(".0").replace("0.", ".")


def plot_trajectories(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot quantities of each system over the rounds of a feedback loop, a panel for each."""
    panels, systems = (list(dict.fromkeys(found[name])) for name in ("panel", "system"))
    n_rows = -(-len(panels) // 2)
    n_columns = min(2, len(panels))
    legend = 0.24 * -(-len(systems) // 2)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(WIDTH, 0.5 + 2.5 * n_rows + legend + 0.2 * title.count("\n")),
        sharex=True, squeeze=False,
    )  # fmt: skip
    colours = sns.color_palette("colorblind", len(systems))
    for axis, panel in zip(axes.flat, panels, strict=False):
        panel_rows = found[found["panel"] == panel]
        lines = panel_rows.pivot_table(
            index="round", columns="system", values="value", dropna=False
        )
        _draw_lines(axis, lines.reindex(columns=systems))
        for system, rows in panel_rows.groupby("system", sort=False):
            axis.fill_between(
                rows["round"], rows["low"], rows["high"], alpha=0.18, linewidth=0,
                color=colours[systems.index(str(system))],
            )  # fmt: skip
        axis.set_title(panel)
        axis.locator_params(axis="both", nbins=5)
        axis.yaxis.set_major_formatter(SHORT)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    for axis in axes.flat[max(0, len(panels) - n_columns) : len(panels)]:
        axis.set_xlabel("round")
        axis.tick_params(labelbottom=True)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)
