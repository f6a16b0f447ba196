"""Figures of the book, one function per kind; published and measured values side by side."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from recbias.experiment import Results

__all__ = [
    "downloads",
    "plot_bounds",
    "plot_ranges",
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


def plot_values(
    results: Results,
    panels: Mapping[str, tuple[str, str]],
    *,
    systems: Sequence[str],
    published: Mapping[tuple[str, str], tuple[float, float]] | None = None,
) -> Figure:
    """Plot one bar per system with its 95 % interval, a panel per protocol and metric.

    Parameters
    ----------
    results
        Measured values.
    panels
        Title of each panel, to (protocol label, metric).
    systems
        From top to bottom.
    published
        Published value and its uncertainty by (panel title, system); drawn as a diamond.

    Returns
    -------
    Figure
    """
    height = 0.9 + 0.34 * len(systems)
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH, height), sharey=True, squeeze=False)
    places = np.arange(len(systems))
    colours = sns.color_palette("colorblind")
    for number, (axis, (title, (label, metric))) in enumerate(
        zip(axes[0], panels.items(), strict=True)
    ):
        table = results.table(label, metric).loc[list(systems)]
        errors = np.array([table["value"] - table["low"], table["high"] - table["value"]])
        axis.barh(
            places, table["value"], xerr=np.maximum(errors, 0), color=colours[number],
            height=0.7, error_kw={"elinewidth": 1.2, "capsize": 2},
        )  # fmt: skip
        for (panel, system), (value, uncertainty) in (published or {}).items():
            if panel == title and system in systems:
                axis.errorbar(
                    value, systems.index(system), xerr=uncertainty, fmt="D", color="black",
                    markerfacecolor="white", markersize=6, capsize=2, zorder=5, label="published",
                )  # fmt: skip
                axis.legend(loc="lower right")
        axis.set_title(title)
        axis.set_xlabel(metric)
        axis.set_xlim(left=0)
        axis.locator_params(axis="x", nbins=3)
        axis.grid(visible=False, axis="y")
    axes[0, 0].set_yticks(places, systems)
    axes[0, 0].invert_yaxis()
    return _detached(figure)


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
        titles.append(f"{family}\n({len(names)} settings)")
        values = [results[name, label, metric].value for name in names]
        # Spread over the row in the order of the grid, so that no two points hide each other.
        offsets = np.linspace(-0.28, 0.28, len(names))
        axis.plot(values, row + offsets, ".", color=colours[row], markersize=6, alpha=0.8)
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


def plot_ranges(spans: pd.DataFrame, *, metric: str) -> Figure:
    """Plot how far each system's value and its rank move with its parameters, a row per system.

    Parameters
    ----------
    spans
        As :func:`recbias.claims.sensitivity.spans` gives them.
    metric
        Label of the values.

    Returns
    -------
    Figure
        Bars from the least to the most, dots at the systems' own settings.
    """
    height = 0.9 + 0.32 * len(spans)
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
    axes[0].set_yticks(places, spans.index)
    axes[0].invert_yaxis()
    axes[1].set_xlabel("rank in the line-up")
    axes[1].set_xlim(0.3, len(spans) + 0.7)
    axes[1].set_xticks([1, *range(4, len(spans) + 1, 4)])
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
    figure.supxlabel("rank correlation of popularity and liking", fontsize=FONT_SIZE)
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
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2), width_ratios=(1, 1.35))
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
    left.text(0, 3.35, "blue: relevant in test\nwhite, 3: test, below threshold\ngrey: training",
              va="top", fontsize=10)  # fmt: skip
    left.set(xlim=(-0.8, 6), ylim=(5.2, -1), title="ratings")
    height = 0.0
    for design, sets in designs.items():
        right.text(-0.4, height + 0.4, design, ha="right", va="center", fontsize=10)
        for run, members, positives in sets:
            for column, item in enumerate(members):
                colour = blue if item in positives else orange
                right.add_patch(plt.Rectangle((column, height), 0.9, 0.8, facecolor=colour))
                right.text(column + 0.45, height + 0.4, item, ha="center", va="center", color="w")
            right.text(len(members) + 0.2, height + 0.4, run, va="center", fontsize=10)
            height += 1
        height += 0.25
    right.set(xlim=(-3.4, 5.2), ylim=(height + 0.1, -1), title="target sets of user u")
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
    files = {
        f"{name}.csv": ("text/csv", table.to_csv().encode()),
        f"{name}.svg": ("image/svg+xml", picture.getvalue()),
    }
    links = [
        f'<a download="{html.escape(file)}" href="data:{kind};base64,'
        f'{base64.b64encode(content).decode()}">{html.escape(file)}</a>'
        for file, (kind, content) in files.items()
    ]
    return f'<p class="downloads">Download: {" · ".join(links)}</p>'
