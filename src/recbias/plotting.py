"""Figures of the book, one function per kind; published and measured values side by side."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from recbias.claims.showing import file_links
from recbias.experiment import Results
from recbias.results import Quantity

__all__ = [
    "downloads",
    "plot_bounds",
    "plot_designs",
    "plot_gaps",
    "plot_ranges",
    "plot_ranks",
    "plot_readings",
    "plot_settings",
    "plot_target_sets",
    "plot_truth",
    "plot_values",
    "use_book_style",
]

WIDTH = 6.4
"""Inches: the width of every figure; on a phone of 390 pixels 12 points are 9 of them."""

FONT_SIZE = 12
"""Points: no text of a figure is smaller."""


def use_book_style() -> None:
    """Set fonts, colours and reproducible SVG output for the figures of a chapter.

    Text stays text, which a reader can select and search. It is laid out in the font that
    Matplotlib brings along; who does not have it sees Verdana, which is as wide, or whatever is
    narrower.
    """
    sns.set_theme(context="notebook", style="whitegrid", palette="colorblind")
    mpl.rcParams.update(
        {
            "figure.dpi": 100,
            "figure.figsize": (WIDTH, 3.6),
            "figure.constrained_layout.use": True,
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
            "font.size": FONT_SIZE,
            "axes.labelsize": FONT_SIZE,
            "axes.titlesize": FONT_SIZE,
            "xtick.labelsize": FONT_SIZE,
            "ytick.labelsize": FONT_SIZE,
            "legend.fontsize": FONT_SIZE,
            "svg.hashsalt": "recbias",
            "svg.fonttype": "none",
        }
    )
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # outside a notebook there is nothing to set
        return
    # not cropped to what is drawn: the scale of all figures is the same
    set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None}, bbox_inches=None)


_SHORT = FuncFormatter(lambda value, _: f"{value:.4g}")
"""Numbers of a narrow axis, without zeros at their end."""


def plot_designs(
    results: Results,
    designs: Mapping[str, tuple[str, str]],
    *,
    system: str,
    ceilings: Mapping[str, float] | None = None,
) -> Figure:
    """Plot the values of one system under several designs, with their numbers.

    Parameters
    ----------
    results
        Measured values.
    designs
        What each bar is called, to (protocol label, metric).
    system
        The system.
    ceilings
        Largest possible value by the name of a bar.

    Returns
    -------
    Figure
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 0.75 + 0.42 * len(designs)))
    colours = sns.color_palette("colorblind")
    limits, reach = dict(ceilings or {}), 0.0
    for row, (name, asked) in enumerate(designs.items()):
        each = results[system, *asked]
        low, high = each.interval
        axis.barh(row, each.value, color=colours[row % len(colours)], height=0.66)
        axis.hlines(row, low, high, color="black", linewidth=1.4)
        limit = limits.get(name, 0.0)
        end = max(each.value, high, limit)
        axis.annotate(f"{each.value:.3f}", (end, row), (6, 0), textcoords="offset points",
                      va="center", fontweight="bold")  # fmt: skip
        if limit:
            axis.vlines(limit, row - 0.45, row + 0.45, color="black", linestyle="--")
            axis.annotate(f"at most {limit:g}", (limit, row), (52, 0), va="center",
                          textcoords="offset points")  # fmt: skip
        reach = max(reach, end / (0.42 if limit else 0.82))  # what is written stands inside
    axis.set_xlim(0, reach)
    axis.set_yticks(range(len(designs)), list(designs))
    axis.invert_yaxis()
    axis.locator_params(axis="x", nbins=4)
    axis.xaxis.set_major_formatter(_SHORT)
    axis.grid(visible=False, axis="y")
    metrics = " and ".join(dict.fromkeys(metric for _, metric in designs.values()))
    title = textwrap.fill(f"{metrics} of {system}, by what is ranked", 50)
    figure.suptitle(title, fontweight="bold", fontsize=FONT_SIZE)
    return _detached(figure)


def plot_values(
    results: Results,
    panels: Mapping[str, tuple[str, str]],
    *,
    systems: Sequence[str] | None = None,
    published: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    beside: Mapping[str, tuple[str, str]] | None = None,
    ceilings: Mapping[str, float] | None = None,
    title: str = "",
) -> Figure:
    """Plot a bar per system with its 95 % interval, a panel per protocol and metric, on one scale.

    Parameters
    ----------
    results
        Measured values.
    panels
        Title of each panel, to (protocol label, metric).
    systems
        From top to bottom; by default in the order of the first panel, the best first.
    published
        Published value and its uncertainty by (panel title, system); drawn as a diamond.
    beside
        A second (protocol label, metric) by panel title; drawn as circles.
    ceilings
        Largest possible value by panel title; what lies beyond it is hatched.
    title
        The message of the figure.

    Returns
    -------
    Figure
    """
    if systems is None:
        first = results.table(*next(iter(panels.values())))["value"]
        systems = list(first.sort_values(ascending=False, kind="stable").index)
    names = _wrapped(systems)
    lines = max(name.count("\n") for name in panels) + title.count("\n")
    height = 1.0 + 0.2 * lines + _row_height(names) * len(systems)
    figure, axes = plt.subplots(
        1, len(panels), figsize=(WIDTH, height), sharey=True, sharex=True, squeeze=False
    )
    places = np.arange(len(systems))
    colours = sns.color_palette("colorblind")
    for number, (axis, (name, asked)) in enumerate(zip(axes[0], panels.items(), strict=True)):
        table = results.table(*asked).loc[list(systems)]
        errors = np.array([table["value"] - table["low"], table["high"] - table["value"]])
        axis.barh(
            places, table["value"], xerr=np.maximum(errors, 0), color=colours[number],
            height=0.7, error_kw={"elinewidth": 1.2, "capsize": 2},
        )  # fmt: skip
        if name in (beside or {}):
            other = results.table(*beside[name]).loc[list(systems)]  # type: ignore[index]
            axis.plot(other["value"], places, "o", color="black", markerfacecolor="none", zorder=4)
        for (panel, system), (value, uncertainty) in (published or {}).items():
            if panel == name and system in systems:
                axis.errorbar(
                    value, systems.index(system), xerr=uncertainty, fmt="D", color="black",
                    markerfacecolor="white", markersize=6, capsize=2, zorder=5,
                )  # fmt: skip
        axis.set_title(name)
        axis.locator_params(axis="x", nbins=2)
        axis.xaxis.set_major_formatter(_SHORT)
        axis.grid(visible=False, axis="y")
    axes[0, 0].set_xlim(left=0)  # of all panels, now that all of them are filled
    for name, axis in zip(panels, axes[0], strict=True):
        if name in (ceilings or {}):
            limit = ceilings[name]  # type: ignore[index]
            axis.axvline(limit, color="black", linestyle="--", linewidth=1.2)
            end = max(axis.get_xlim()[1], limit)
            axis.axvspan(limit, end, facecolor="none", hatch="//", edgecolor="0.8", linewidth=0)
            axis.set_xlim(right=end)
    axes[0, 0].set_yticks(places, names)
    axes[0, 0].invert_yaxis()
    figure.supxlabel(" and ".join(dict.fromkeys(metric for _, metric in panels.values())),
                     fontsize=FONT_SIZE)  # fmt: skip
    if title:
        figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return _detached(figure)


def plot_ranks(
    results: Results,
    columns: Mapping[str, tuple[str, str]],
    *,
    title: str = "",
    n_marked: int = 3,
) -> Figure:
    """Plot the rank of each system, a column per protocol and metric, joined by lines.

    Parameters
    ----------
    results
        Measured values.
    columns
        Title of each column, to (protocol label, metric).
    title
        The message of the figure.
    n_marked
        So many systems stand out: those whose ranks differ most, if by two or more.

    Returns
    -------
    Figure
        Systems come in the order of the first column.
    """
    values = pd.DataFrame({name: results.table(*asked)["value"] for name, asked in columns.items()})
    ranks = values.rank(ascending=False, method="first").astype(int)
    ranks = ranks.sort_values(ranks.columns[0])
    moves = (ranks.max(axis=1) - ranks.min(axis=1)).sort_values(ascending=False, kind="stable")
    marked = [name for name in moves.index[:n_marked] if moves[name] >= 2]
    names = _wrapped(list(ranks.index))
    lines = max(name.count("\n") for name in columns) + title.count("\n")
    height = 0.8 + 0.2 * lines + max(0.3, _row_height(names)) * len(ranks)
    figure, axis = plt.subplots(figsize=(WIDTH, height))
    colours = iter(sns.color_palette("colorblind", 10)[i] for i in (0, 3, 2, 4))
    styles = iter(("-", "--", "-.", ":"))
    places = np.arange(len(columns))
    for name, row in ranks.iterrows():
        own: dict[str, Any] = {"color": "0.72", "linewidth": 1.6, "zorder": 2}
        if name in marked:
            own = {"color": next(colours), "linewidth": 3.0, "linestyle": next(styles), "zorder": 3}
        axis.plot(
            places, row, marker="o", markersize=18, markerfacecolor="white", markeredgewidth=1.8,
            **own,
        )  # fmt: skip
        for place, rank in zip(places, row, strict=True):
            axis.annotate(f"{rank}", (place, rank), ha="center", va="center", zorder=5)
    axis.set_yticks(range(1, len(ranks) + 1), names)
    for name, label in zip(ranks.index, axis.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if name in marked else "normal")
    axis.set_ylim(len(ranks) + 0.6, 0.4)
    axis.set_xlim(-0.25, len(columns) - 0.75)
    axis.set_xticks(places, list(columns))
    axis.xaxis.tick_top()
    axis.grid(visible=False)
    axis.tick_params(length=0)
    sns.despine(ax=axis, left=True, bottom=True)
    if title:
        figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return _detached(figure)


def _wrapped(names: Sequence[str]) -> list[str]:
    """Break names that would leave no room for the rest of a figure."""
    return ["\n".join(textwrap.wrap(name, 24)) for name in names]


def _row_height(names: Sequence[str]) -> float:
    """Give the inches that a row of a figure needs for the longest of its names."""
    return 0.09 + 0.2 * (1 + max(name.count("\n") for name in names))


def plot_bounds(
    results: Results,
    panels: Mapping[str, tuple[Sequence[str], Sequence[float]]],
    *,
    systems: Sequence[str],
) -> Figure:
    """Plot 1RP between the bounds of the lemma, a column per experiment and a row per system.

    Parameters
    ----------
    results
        Values of ``P`` and of its ``lower`` and ``upper`` bound.
    panels
        Axis label of each experiment, to its protocol labels and their places on that axis.
    systems
        One row each.

    Returns
    -------
    Figure
    """
    figure, axes = plt.subplots(
        len(systems), len(panels), figsize=(WIDTH, 0.6 + 1.75 * len(systems)),
        sharex="col", sharey="row", squeeze=False,
    )  # fmt: skip
    colours = sns.color_palette("colorblind", len(systems))
    for row, system in enumerate(systems):
        for column, (axis_label, (labels, places)) in enumerate(panels.items()):
            axis = axes[row, column]
            low, value, high = (
                [results[system, label, str(results.metric(label, name))].value for label in labels]
                for name in ("lower", "P", "upper")
            )
            axis.fill_between(places, low, high, color=colours[row], alpha=0.25, linewidth=0)
            axis.plot(places, value, color=colours[row], marker="o", markersize=4)
            axis.set_xticks(list(places))
            axis.set_ylim(bottom=0)
            axis.locator_params(axis="y", nbins=4)
            if row == len(systems) - 1:
                axis.set_xlabel(axis_label)
        axes[row, 0].set_ylabel(f"1R{results.metric(labels[0], 'P')}")
        axes[row, 0].set_title(system, loc="left")
    return _detached(figure)


def plot_gaps(
    results: Results,
    panels: Mapping[str, tuple[Sequence[str], Sequence[float]]],
    *,
    systems: Sequence[str],
) -> Figure:
    """Plot the width of the lemma's interval, above by itself and below relative to 1RP.

    Parameters
    ----------
    results, panels
        As for :func:`plot_bounds`; replicates have to be kept.
    systems
        One line each, with 95 % intervals.

    Returns
    -------
    Figure
    """
    figure, axes = plt.subplots(
        2, len(panels), figsize=(WIDTH, 5.0), sharex="col", sharey="row", squeeze=False
    )
    colours, marks = sns.color_palette("colorblind"), "osD^vP*X"
    for column, (axis_label, (labels, places)) in enumerate(panels.items()):
        shift = 0.012 * (max(places) - min(places))
        for number, system in enumerate(systems):
            for axis, relative in zip(axes[:, column], (False, True), strict=True):
                found = [_gap(results, system, label, relative=relative) for label in labels]
                ends = np.array([each.interval for each in found]).T
                value = np.array([each.value for each in found])
                axis.errorbar(
                    np.asarray(places) + shift * (number - (len(systems) - 1) / 2), value,
                    yerr=np.maximum([value - ends[0], ends[1] - value], 0), label=system,
                    color=colours[number], marker=marks[number % len(marks)], markersize=6,
                )  # fmt: skip
                axis.set_xticks(list(places))
        axes[1, column].set_xlabel(axis_label)
    for axis in axes[:, 0]:
        axis.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("upper - lower bound")
    axes[1, 0].set_ylabel(f"the same / 1R{results.metric(labels[0], 'P')}")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, frameon=False)
    return _detached(figure)


def _gap(results: Results, system: str, label: str, *, relative: bool) -> Quantity:
    lower, value, upper = (
        results[system, label, str(results.metric(label, name))] for name in ("lower", "P", "upper")
    )
    return (upper - lower) / value if relative else upper - lower


def plot_settings(
    results: Results,
    families: Mapping[str, Sequence[str]],
    *,
    label: str,
    metric: str,
    references: Sequence[str],
) -> Figure:
    """Plot every parameter setting as a point, a row per family, with reference systems as lines.

    Parameters
    ----------
    results
        A parameter grid.
    families
        What a row is called, to the names of its settings.
    label, metric
        What is plotted.
    references
        Systems drawn as vertical lines.

    Returns
    -------
    Figure
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 1.1 + 0.6 * len(families)))
    colours = sns.color_palette("colorblind")
    titles = []
    for row, (family, names) in enumerate(families.items()):
        titles.append(f"{family} ({len(names)})")
        values = [results[name, label, metric].value for name in names]
        # Spread over the row in the order of the grid, so that no two points hide each other.
        offsets = np.linspace(-0.28, 0.28, len(names))
        axis.plot(values, row + offsets, ".", color=colours[row % 10], markersize=7, alpha=0.8)
    for name, style in zip(references, ("-", "--", ":"), strict=False):
        value = results[name, label, metric].value
        axis.axvline(value, color="0.25", linestyle=style, linewidth=1.4, label=name)
    axis.set_yticks(range(len(families)), titles)
    axis.set_ylim(len(families) - 0.45, -0.6)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(metric)
    axis.set_xlim(left=0)
    figure.legend(loc="outside upper center", ncols=len(references), frameon=False)
    return _detached(figure)


def plot_ranges(spans: pd.DataFrame, *, metric: str, title: str) -> Figure:
    """Plot how far each system's value and its rank move with its parameters, a row per system.

    Parameters
    ----------
    spans
        As :func:`recbias.claims.sensitivity.spans` gives them.
    metric
        Label of the values.
    title
        What the figure shows.

    Returns
    -------
    Figure
        Bars from the least to the most, dots at the systems' own settings.
    """
    height = 1.2 + 0.34 * len(spans)
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, height), sharey=True, width_ratios=(1.3, 1))
    places = np.arange(len(spans))
    blue, orange = sns.color_palette("colorblind")[:2]
    columns = (("least", "own", "most"), ("best", "rank", "worst"))
    for axis, (low, own, high), colour in zip(axes, columns, (blue, orange), strict=True):
        axis.hlines(places, spans[low], spans[high], color=colour, linewidth=7, alpha=0.45)
        axis.plot(spans[own], places, "o", color="black", markersize=5)
        axis.grid(visible=False, axis="y")
    axes[0].set_xlim(left=0)
    axes[0].set_xlabel(metric)
    axes[0].locator_params(axis="x", nbins=4)
    axes[0].set_yticks(places, spans.index)
    axes[0].invert_yaxis()
    axes[1].set_xlabel("rank in the line-up")
    axes[1].set_xlim(0.3, len(spans) + 0.7)
    axes[1].set_xticks([1, *range(4, len(spans) + 1, 4)])
    figure.suptitle(title, fontsize="medium")
    return _detached(figure)


def plot_readings(results: Results, *, label: str, metric: str, title: str) -> Figure:
    """Plot what the readings of one name score, the best on top, each with its value.

    Parameters
    ----------
    results
        Measured values.
    label, metric
        What is plotted.
    title
        What the figure shows.

    Returns
    -------
    Figure
        Bars with 95 % intervals; names stand above their bars, so that long ones fit a phone.
    """
    table = results.table(label, metric).sort_values("value", ascending=False, kind="stable")
    figure, axis = plt.subplots(figsize=(WIDTH, 1.1 + 0.52 * len(table)))
    places = np.arange(len(table))
    errors = np.array([table["value"] - table["low"], table["high"] - table["value"]])
    axis.barh(
        places + 0.22, table["value"], height=0.4, color=sns.color_palette("colorblind")[0],
        xerr=np.maximum(errors, 0), error_kw={"elinewidth": 1.2, "capsize": 2},
    )  # fmt: skip
    pad = 0.01 * float(table["high"].max())
    for place, (name, row) in zip(places, table.iterrows(), strict=True):
        axis.text(pad / 2, place - 0.22, str(name), va="center")
        axis.text(row["high"] + pad, place + 0.22, f"{row['value']:.4f}", va="center")
    axis.set(xlim=(0, 1.17 * float(table["high"].max())), ylim=(len(table) - 0.4, -0.5))
    axis.set_xlabel(metric)
    axis.set_yticks([])
    axis.grid(visible=False)
    figure.suptitle(title, fontsize="medium")
    return _detached(figure)


def plot_truth(found: pd.DataFrame, designs: Mapping[str, str], *, title: str) -> Figure:
    """Plot how well each design orders systems, against how popularity relates to liking.

    Parameters
    ----------
    found
        As :func:`recbias.claims.design_alternatives.truth_by_kind` gives it.
    designs
        What each is called in the legend, by its name in `found`.
    title
        The message.

    Returns
    -------
    Figure
        A panel for each way in which users choose; whiskers are the 95 % intervals.
    """
    choices = found["choice"].unique()
    figure, axes = plt.subplots(1, len(choices), figsize=(WIDTH, 4.9), sharey=True, squeeze=False)
    colours = sns.color_palette("colorblind", len(designs))
    relations = sorted(found["relation"].unique())
    # Side by side, since some designs agree to the last digit.
    offsets = 0.045 * (np.arange(len(designs)) - (len(designs) - 1) / 2)
    for axis, choice in zip(axes[0], choices, strict=True):
        own = found[found["choice"] == choice].sort_values("relation")
        for name, colour, marker, offset in zip(designs, colours, "osD^v", offsets, strict=False):
            rows = own[own["design"] == name]
            errors = np.array([rows["tau"] - rows["low"], rows["high"] - rows["tau"]])
            axis.errorbar(
                rows["relation"] + offset, rows["tau"], yerr=errors, color=colour, marker=marker,
                markersize=5, linewidth=1.2, elinewidth=1.2, label=designs[name],
            )  # fmt: skip
        axis.axhline(0, color="0.25", linewidth=1)
        axis.set_xticks(
            relations, [f"{place:g}".replace("-", "\N{MINUS SIGN}") for place in relations]
        )
        axis.set_title(choice)
        axis.grid(visible=False, axis="x")
    axes[0, 0].set_ylabel("Kendall's tau with the true order")
    axes[0, 0].set_ylim(-1, 1)
    axes[0, len(choices) // 2].set_xlabel("rank correlation of popularity and liking")
    figure.suptitle(title, fontsize=FONT_SIZE, weight="bold")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return _detached(figure)


def plot_target_sets() -> Figure:
    """Draw the target sets of one user in a small test matrix: the options of BCC17 Fig. 1.

    Returns
    -------
    Figure
        Left the matrix, right the target set of each design. The published matrix is lost; this
        one fits its caption.
    """
    items, user = "abcdef", "u"
    matrix = {
        user: {"d": "test", "e": "test", "f": "train"},
        "v": {"a": "train", "b": "test", "c": "low"},
        "w": {"a": "train", "d": "train", "f": "test"},
    }
    designs = {
        "AI-AN-AR": [("", "abcde", "de")],
        "TI-AN-AR": [("", "bcde", "de")],
        "TI-NN-AR": [("", "cde", "de")],
        "TI-NN-1R": [("run 1", "cd", "d"), ("run 2", "be", "e")],
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.3), width_ratios=(1, 1.4))
    blue, orange, grey = (
        sns.color_palette("colorblind")[0],
        sns.color_palette("colorblind")[1],
        "0.8",
    )
    marks = {"test": (blue, "5"), "low": ("white", "3"), "train": (grey, "")}
    for row, (name, cells) in enumerate(matrix.items()):
        for column, item in enumerate(items):
            colour, text = marks[cells[item]] if item in cells else ("white", "")
            edge = "0.3" if item in cells else "0.85"
            left.add_patch(plt.Rectangle((column, row), 0.9, 0.8, facecolor=colour, edgecolor=edge))
            ink = "white" if colour == blue else "black"
            left.text(column + 0.45, row + 0.4, text, ha="center", va="center", color=ink)
        left.text(-0.3, row + 0.4, name, ha="right", va="center")
    for column, item in enumerate(items):
        left.text(column + 0.45, -0.3, item, ha="center", va="bottom")
    left.text(-0.6, 3.2, "blue: relevant in test\n3: rated low in test\ngrey: training", va="top")
    left.set(xlim=(-0.8, 6), ylim=(5.2, -1), title="ratings")
    height = 0.0
    for design, sets in designs.items():
        right.text(-0.4, height + 0.4, design, ha="right", va="center")
        for run, members, positives in sets:
            for column, item in enumerate(members):
                colour = blue if item in positives else orange
                right.add_patch(plt.Rectangle((column, height), 0.9, 0.8, facecolor=colour))
                ink = "white" if colour == blue else "black"
                right.text(column + 0.45, height + 0.4, item, ha="center", va="center", color=ink)
            right.text(len(members) + 0.2, height + 0.4, run, va="center")
            height += 1
        height += 0.25
    right.set(xlim=(-4.0, 5.0), ylim=(height + 0.1, -1), title="target sets of user u")
    for axis in (left, right):
        axis.set_axis_off()
    return _detached(figure)


def _detached(figure: Figure) -> Figure:
    """Take a figure from pyplot's hands, which would show it a second time at the end of a cell."""
    plt.close(figure)
    return figure


def downloads(figure: Figure, table: pd.DataFrame, name: str) -> str:
    """Write links that hand out a figure as SVG and its table as CSV, without any other file.

    Parameters
    ----------
    figure
        The picture.
    table
        The numbers in it.
    name
        File name without suffix.

    Returns
    -------
    str
        HTML.
    """
    picture = io.BytesIO()
    figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    return file_links(
        {
            f"{name}.csv": ("text/csv", table.to_csv().encode()),
            f"{name}.svg": ("image/svg+xml", picture.getvalue()),
        }
    )
