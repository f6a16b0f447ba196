"""Figures about designs: target sets, values and orders, also in worlds with known truth."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, detached, row_height, wrapped
from recbias.claims.regions import defined
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results


def plot_target_sets() -> Figure:
    """Draw the target sets of one user in a small test matrix: the options of BCC17 Fig. 1."""
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
    return detached(figure)


def plot_designs(
    results: Results,
    designs: Mapping[str, tuple[str, str]],
    *,
    system: str,
    ceilings: Mapping[str, float] | None = None,
) -> Figure:
    """Plot the values of one system under several designs, with their numbers."""
    figure, axis = plt.subplots(figsize=(WIDTH, 0.75 + 0.42 * len(designs)))
    colours = sns.color_palette("colorblind")
    limits, reach = dict(ceilings or {}), 0.0
    for row, (name, key) in enumerate(designs.items()):
        score = results[system, *key]
        low, high = score.interval
        axis.barh(row, score.value, color=colours[row % len(colours)], height=0.66)
        axis.hlines(row, low, high, color="black", linewidth=1.4)
        limit = limits.get(name, 0.0)
        end = max(score.value, high, limit)
        axis.annotate(defined(score.value, '.3f'), (end, row), (6, 0), textcoords="offset points",
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
    axis.xaxis.set_major_formatter(SHORT)
    axis.grid(visible=False, axis="y")
    metrics = " and ".join(dict.fromkeys(metric for _, metric in designs.values()))
    title = textwrap.fill(f"{metrics} of {system}, by what is ranked", 50)
    figure.suptitle(title, fontweight="bold", fontsize=FONT_SIZE)
    return detached(figure)


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
    """Plot a bar per system with its 95 % interval, a panel per protocol and metric.

    On one scale.
    """
    if systems is None:
        first = results.table(*next(iter(panels.values())))["value"]
        systems = list(first.sort_values(ascending=False, kind="stable").index)
    names = wrapped(systems)
    lines = max(name.count("\n") for name in panels) + title.count("\n")
    height = 1.0 + 0.2 * lines + row_height(names) * len(systems)
    figure, axes = plt.subplots(
        1, len(panels), figsize=(WIDTH, height), sharey=True, sharex=True, squeeze=False
    )
    places = np.arange(len(systems))
    colours = sns.color_palette("colorblind")
    for number, (axis, (name, key)) in enumerate(zip(axes[0], panels.items(), strict=True)):
        table = results.table(*key).loc[list(systems)]
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
        axis.xaxis.set_major_formatter(SHORT)
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
    return detached(figure)


def plot_ranks(
    results: Results,
    columns: Mapping[str, tuple[str, str]],
    *,
    title: str = "",
    n_marked: int = 3,
) -> Figure:
    """Plot the rank of each system, a column per protocol and metric, joined by lines."""
    values = pd.DataFrame(
        {name: results.table(*column)["value"] for name, column in columns.items()}
    )
    ranks = values.rank(ascending=False, method="first").astype(int)
    ranks = ranks.sort_values(ranks.columns[0])
    moves = (ranks.max(axis=1) - ranks.min(axis=1)).sort_values(ascending=False, kind="stable")
    marked = [name for name in moves.index[:n_marked] if moves[name] >= 2]
    names = wrapped(list(ranks.index))
    lines = max(name.count("\n") for name in columns) + title.count("\n")
    height = 0.8 + 0.2 * lines + max(0.3, row_height(names)) * len(ranks)
    figure, axis = plt.subplots(figsize=(WIDTH, height))
    colours = iter(sns.color_palette("colorblind", 10)[i] for i in (0, 3, 2, 4))
    styles = iter(("-", "--", "-.", ":"))
    places = np.arange(len(columns))
    for name, row in ranks.iterrows():
        look: dict[str, Any] = {"color": "0.72", "linewidth": 1.6, "zorder": 2}
        if name in marked:
            look = {
                "color": next(colours),
                "linewidth": 3.0,
                "linestyle": next(styles),
                "zorder": 3,
            }
        axis.plot(
            places, row, marker="o", markersize=18, markerfacecolor="white", markeredgewidth=1.8,
            **look,
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
    return detached(figure)


def plot_truth(found: pd.DataFrame, designs: Mapping[str, str], *, title: str) -> Figure:
    """Plot how well each design orders systems, against how popularity relates to liking."""
    choices = found["choice"].unique()
    figure, axes = plt.subplots(1, len(choices), figsize=(WIDTH, 4.9), sharey=True, squeeze=False)
    colours = sns.color_palette("colorblind", len(designs))
    relations = sorted(found["relation"].unique())
    # Side by side, since some designs agree to the last digit.
    offsets = 0.045 * (np.arange(len(designs)) - (len(designs) - 1) / 2)
    for axis, choice in zip(axes[0], choices, strict=True):
        of_choice = found[found["choice"] == choice].sort_values("relation")
        for name, colour, marker, offset in zip(designs, colours, "osD^v", offsets, strict=False):
            rows = of_choice[of_choice["design"] == name]
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
    return detached(figure)


def plot_bounds(
    results: Results,
    panels: Mapping[str, tuple[Sequence[str], Sequence[float]]],
    *,
    systems: Sequence[str],
) -> Figure:
    """Plot 1RP between the bounds of the lemma, a column per experiment and a row per system."""
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
    return detached(figure)


def plot_gaps(
    results: Results,
    panels: Mapping[str, tuple[Sequence[str], Sequence[float]]],
    *,
    systems: Sequence[str],
) -> Figure:
    """Plot the width of the lemma's interval, above by itself and below relative to 1RP."""
    figure, axes = plt.subplots(
        2, len(panels), figsize=(WIDTH, 5.0), sharex="col", sharey="row", squeeze=False
    )
    colours, marks = sns.color_palette("colorblind"), "osD^vP*X"
    for column, (axis_label, (labels, places)) in enumerate(panels.items()):
        shift = 0.012 * (max(places) - min(places))
        for number, system in enumerate(systems):
            for axis, relative in zip(axes[:, column], (False, True), strict=True):
                gaps = [_gap(results, system, label, relative=relative) for label in labels]
                ends = np.array([gap.interval for gap in gaps]).T
                value = np.array([gap.value for gap in gaps])
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
    return detached(figure)


def _gap(results: Results, system: str, label: str, *, relative: bool) -> Quantity:
    lower, value, upper = (
        results[system, label, str(results.metric(label, name))] for name in ("lower", "P", "upper")
    )
    return (upper - lower) / value if relative else upper - lower
