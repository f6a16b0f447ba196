"""Figures about remedies for popularity bias: what they leave of it, and what they do to orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullLocator

from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, detached, row_height, wrapped
from recbias.claims.regions import defined

FloatArray = npt.NDArray[np.float64]

_MARKS = "osD^vP*X"
_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))


def plot_protocols(
    found: pd.DataFrame, *, label: str, title: str, at: float = 0.0, as_ratio: bool = False
) -> Figure:
    """Plot a value of each protocol with its interval, a panel for each data set."""
    panels, protocols, lines = (
        list(dict.fromkeys(found[name])) for name in ("panel", "protocol", "line")
    )
    panels, protocols = panels or [""], protocols or [""]
    names = wrapped(protocols)
    a_row = max(0.26, row_height(names) - 0.04, 0.1 + 0.15 * len(lines))
    legend = 0.25 * -(-len(lines) // 2) if len(lines) > 1 else 0.0
    height = 1.0 + a_row * len(names) + legend + 0.2 * title.count("\n")
    figure, axes = plt.subplots(
        1, len(panels), figsize=(WIDTH, height), sharey=True, sharex=True, squeeze=False
    )
    colours = sns.color_palette("colorblind")
    beside = found.duplicated(["panel", "protocol"]).any()
    for axis, panel in zip(axes[0], panels, strict=True):
        axis.axvline(at, color="0.25", linewidth=1.2)
        for number, line in enumerate(lines):
            rows = found[(found["panel"] == panel) & (found["line"] == line)].set_index("protocol")
            rows = rows.reindex(protocols)
            shift = 0.22 * (number - (len(lines) - 1) / 2) if beside else 0.0
            places = np.arange(len(protocols)) + shift
            axis.errorbar(
                rows["value"], places, xerr=_errors(rows), label=line, linestyle="none",
                color=colours[number], marker=_MARKS[number], markersize=7, elinewidth=1.8,
            )  # fmt: skip
        axis.set_title(panel)
        if "count" in found:
            _write_counts(axis, found[found["panel"] == panel], protocols)
        if as_ratio:
            axis.set_xscale("log")
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.xaxis.set_minor_locator(NullLocator())
        else:
            axis.locator_params(axis="x", nbins=5)
        axis.xaxis.set_major_formatter(SHORT)
        axis.grid(visible=False, axis="y")
    axes[0, 0].set_yticks(range(len(protocols)), names)
    axes[0, 0].set_ylim(len(protocols) - 0.5, -0.5)
    if len(lines) > 1:
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(
            handles, labels, title=label, title_fontsize=FONT_SIZE, loc="outside lower center",
            ncols=2, frameon=False,
        )  # fmt: skip
    else:
        figure.supxlabel(label, fontsize=FONT_SIZE)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _write_counts(axis: Axes, rows: pd.DataFrame, protocols: list[str]) -> None:
    """Write behind each row the counts of its lines, right of the axis."""
    for protocol, counts in rows.groupby("protocol", sort=False)["count"]:
        axis.text(
            1.03, protocols.index(str(protocol)), ", ".join(map(str, counts)), va="center",
            transform=axis.get_yaxis_transform(), fontsize=FONT_SIZE, color="0.25",
        )  # fmt: skip


def _errors(rows: pd.DataFrame) -> FloatArray:
    """Give what intervals reach below and above their values, never less than nothing."""
    return np.clip([rows["value"] - rows["low"], rows["high"] - rows["value"]], 0, None)


def plot_remedies(
    found: pd.DataFrame,
    *,
    systems: Sequence[str],
    labels: Mapping[str, str],
    title: str,
    common_scale: bool = True,
) -> Figure:
    """Plot a bar per system with its interval, a panel per protocol, in rows of one metric."""
    names = wrapped(systems)
    rows = list(labels)
    panels = {row: list(dict.fromkeys(found.loc[found["row"] == row, "panel"])) for row in rows}
    titled = max(name.count("\n") for row_panels in panels.values() for name in row_panels)
    a_row = 0.95 + 0.2 * titled + row_height(names) * len(names)
    height = a_row * len(rows) + 0.3 + 0.2 * title.count("\n")
    figure = plt.figure(figsize=(WIDTH, height))
    parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    colours = sns.color_palette("colorblind")
    for number, (part, row) in enumerate(zip(parts, rows, strict=True)):
        axes = part.subplots(1, len(panels[row]), sharey=True, sharex=common_scale, squeeze=False)[
            0
        ]
        for axis, panel in zip(axes, panels[row], strict=True):
            panel_rows = found[(found["row"] == row) & (found["panel"] == panel)]
            _draw_bars(axis, panel_rows.set_index("system").reindex(systems), colours[number])
            axis.set_title(panel)
            axis.locator_params(axis="x", nbins=2)
            axis.xaxis.set_major_formatter(SHORT)
        for axis in axes:  # now that all of them are filled, if they share a scale
            axis.set_xlim(left=0)
        axes[0].set_yticks(range(len(names)), names)
        axes[0].set_ylim(len(names) - 0.5, -0.5)
        part.supxlabel(labels[row], fontsize=FONT_SIZE)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _draw_bars(axis: Axes, rows: pd.DataFrame, colour: tuple[float, float, float]) -> None:
    """Draw the bars of one panel, Popularity's and Random's in a paler tone."""
    places = np.arange(len(rows))
    pale = sns.light_palette(colour, n_colors=5)[2]
    colours = [pale if name in ("Popularity", "Random") else colour for name in rows.index]
    axis.barh(places, rows["value"], color=colours, height=0.7)
    axis.errorbar(
        rows["value"], places, xerr=_errors(rows), linestyle="none", color="black", elinewidth=1.2,
        capsize=2,
    )  # fmt: skip
    if "least" in rows:
        axis.hlines(places, rows["least"], rows["most"], color="0.3", linewidth=3, zorder=4)
        for end in ("least", "most"):
            axis.plot(
                rows[end], places, "|", color="0.3", markersize=11, markeredgewidth=2, zorder=4
            )
    axis.grid(visible=False, axis="y")


def plot_two_tests(found: pd.DataFrame, *, n_groups: int, title: str) -> Figure:
    """Plot how many test ratings each item gets by a random and by a uniform split."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.4), sharey=True)
    blue, orange = sns.color_palette("colorblind")[:2]
    for axis in (left, right):
        axis.plot(found["rank"], found["random"], "--", color=blue, linewidth=2, label="random")
        axis.set_xlabel("items, most popular first")
        axis.locator_params(axis="x", nbins=4)
    for end in np.linspace(0, len(found), n_groups + 1):
        left.axvline(end, color="0.65", linewidth=1)
    left.grid(visible=False, axis="x")
    right.plot(found["rank"], found["uniform"], color=orange, linewidth=2.6, label="uniform")
    left.set_title(f"{n_groups} percentiles")
    right.set_title("uniform test")
    left.set_ylabel("test ratings of an item")
    left.set_ylim(bottom=0)
    right.legend(frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_positive_ratios(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot what share of the ratings of items says liking, by popularity: the paper's Figure 7."""
    figure, axis = plt.subplots(figsize=(WIDTH, 3.6))
    colour = sns.color_palette("colorblind")[0]
    axis.fill_between(found["segment"], found["low"], found["high"], color=colour, alpha=0.2)
    axis.plot(found["segment"], found["ratio"], "o-", color=colour, markersize=4, linewidth=1.2)
    axis.set(xlabel="segments of items, most popular first", ylim=(0, None))
    axis.set_ylabel("share of relevant ratings")
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_causes(found: pd.DataFrame, *, label: str, title: str) -> Figure:
    """Plot of what parts a value is made, a bar of stacked parts for each test."""
    names = wrapped([str(name) for name in found.index])
    legend = 0.25 * -(-len(found.columns) // 2)
    height = 1.0 + 0.42 * len(names) + legend + 0.2 * title.count("\n")
    figure, axis = plt.subplots(figsize=(WIDTH, height))
    colours = ["0.75", *sns.color_palette("colorblind")]
    base = np.zeros(len(found))
    for part, colour in zip(found.columns, colours, strict=False):
        sizes = found[part].fillna(0).to_numpy()
        axis.barh(range(len(found)), sizes, left=base, color=colour, height=0.66, label=part)
        base = base + sizes
    for place, total in enumerate(base):
        axis.annotate(
            defined(total, '.4f'), (total, place), (5, 0), textcoords="offset points", va="center",
            fontweight="bold",
        )  # fmt: skip
    axis.set_yticks(range(len(found)), names)
    axis.invert_yaxis()
    axis.set_xlim(0, 1.2 * float(base.max()))
    axis.set_xlabel(label)
    axis.xaxis.set_major_formatter(SHORT)
    axis.grid(visible=False, axis="y")
    figure.legend(
        loc="outside lower center", ncols=2, frameon=False, columnspacing=1.2, handlelength=1.3
    )
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_gammas(found: pd.DataFrame, *, marked: Sequence[str], label: str, title: str) -> Figure:
    """Plot a value of systems, or of worlds, over the strength of a correction."""
    gammas = sorted(found["gamma"].unique())
    figure, axis = plt.subplots(figsize=(WIDTH, 4.2))
    colours = iter(sns.color_palette("colorblind", 10))
    styles, marks = iter(_STYLES * 2), iter(_MARKS)
    for line in dict.fromkeys(found["line"]):
        rows = found[found["line"] == line].sort_values("gamma")
        places = [gammas.index(gamma) for gamma in rows["gamma"]]
        if line not in marked:
            axis.plot(places, rows["value"], color="0.75", linewidth=1.6, zorder=1)
            continue
        look = {"color": next(colours), "linestyle": next(styles), "marker": next(marks)}
        axis.errorbar(
            places, rows["value"], yerr=_errors(rows) if "low" in rows else None, label=line,
            linewidth=2.2, markersize=7, **look,
        )  # fmt: skip
    names = ["\N{INFINITY}" if np.isinf(gamma) else f"{gamma:g}" for gamma in gammas]
    axis.set_xticks(range(len(gammas)), names)
    axis.set_xlabel("$\\gamma$: how much less a popular item counts")
    axis.set_ylabel(label)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


_MARKS = "osD^vP*Xd"
_SURE, _UNSURE = 0.75, 0.25


def plot_best_protocols(
    found: Mapping[str, pd.DataFrame],
    *,
    names: Sequence[str],
    axes: tuple[str, str],
    labels: tuple[str, str],
    title: str,
) -> Figure:
    """Write into a map of worlds which protocol is the best there, a panel for each truth."""
    across, up = axes
    n_rows = max(rows[up].nunique() for rows in found.values())
    height = 0.8 + 0.2 * title.count("\n") + len(found) * (0.75 + 0.42 * n_rows)
    figure, panels = plt.subplots(
        len(found), 1, figsize=(WIDTH, height), sharex=True, squeeze=False
    )
    colours = dict(zip(names, sns.color_palette("colorblind", len(names)), strict=True))
    for panel, (name, rows) in zip(panels[:, 0], found.items(), strict=True):
        columns, lines = (sorted(rows[axis].unique()) for axis in axes)
        for row in rows.to_dict("records"):
            place = columns.index(row[across]), lines.index(row[up])
            _fill(panel, place, row["best"], len(row["others"]), colours[row["best"]])
        panel.set_xticks(range(len(columns)), [f"{column:g}" for column in columns])
        panel.set_yticks(range(len(lines)), [f"{line:g}" for line in lines])
        panel.set(xlim=(-0.5, len(columns) - 0.5), ylim=(-0.5, len(lines) - 0.5), title=name)
        panel.set_ylabel(labels[1])
        panel.grid(visible=False)
    panels[-1, 0].set_xlabel(labels[0])
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _fill(
    panel: Axes,
    place: tuple[int, int],
    name: str,
    n_others: int,
    colour: tuple[float, float, float],
) -> None:
    """Colour a region, and write its best protocol into it."""
    alpha = _UNSURE if n_others else _SURE
    corner = place[0] - 0.5, place[1] - 0.5
    panel.add_patch(Rectangle(corner, 1, 1, facecolor=colour, alpha=alpha, edgecolor="white"))
    text = f"{name} +{n_others}" if n_others else name
    weight = "normal" if n_others else "bold"
    panel.text(*place, text, ha="center", va="center", fontsize=FONT_SIZE, fontweight=weight)


def plot_over_relations(
    found: Mapping[str, pd.DataFrame], *, marked: Sequence[str], label: str, title: str
) -> Figure:
    """Plot how well each protocol orders systems over the relation of popularity and liking."""
    legend = 0.27 * -(-len(marked) // 3)
    height = 3.5 + legend + 0.2 * title.count("\n")
    figure, panels = plt.subplots(
        1, len(found), figsize=(WIDTH, height), sharey=True, squeeze=False
    )
    colours = sns.color_palette("colorblind", max(len(marked), 1))
    for axis, (panel, rows) in zip(panels[0], found.items(), strict=True):
        axis.axhline(0, color="0.25", linewidth=1.2)
        for name, line in rows.groupby("name", sort=False):
            if name not in marked:
                axis.plot(line["relation"], line["value"], color="0.75", linewidth=1.5, zorder=1)
        for number, name in enumerate(marked):
            line = rows[rows["name"] == name]
            ends = np.maximum([line["value"] - line["low"], line["high"] - line["value"]], 0)
            axis.errorbar(
                line["relation"], line["value"], yerr=ends, label=name, color=colours[number],
                marker=_MARKS[number % len(_MARKS)], markersize=6, linewidth=2,
            )  # fmt: skip
        axis.set_title(panel)
        axis.set_xticks([-1, 0, 1])
        axis.set_xlabel("relation of popularity\nand liking")
    panels[0, 0].set_ylabel(label)
    handles, texts = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)
