"""Figures about what a name and its parameters decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from recbias.book.figures.style import WIDTH, detached
from recbias.claims.regions import defined
from recbias.experiment.run import Results


def plot_settings(
    results: Results,
    families: Mapping[str, Sequence[str]],
    *,
    label: str,
    metric: str,
    references: Sequence[str],
) -> Figure:
    """Plot every parameter setting as a point, a row per family.

    With reference systems as lines.
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 1.1 + 0.6 * len(families)))
    colours = sns.color_palette("colorblind")
    titles = []
    for row, (family, names) in enumerate(families.items()):
        names = results.among(names)
        titles.append(f"{family} ({len(names)})")
        values = [results[name, label, metric].value for name in names]
        # Spread over the row in the order of the grid, so that no two points hide each other.
        offsets = np.linspace(-0.28, 0.28, len(names))
        axis.plot(values, row + offsets, ".", color=colours[row % 10], markersize=7, alpha=0.8)
    references = results.among(references)
    for name, style in zip(references, ("-", "--", ":"), strict=False):
        value = results[name, label, metric].value
        axis.axvline(value, color="0.25", linestyle=style, linewidth=1.4, label=name)
    axis.set_yticks(range(len(families)), titles)
    axis.set_ylim(len(families) - 0.45, -0.6)
    axis.grid(visible=False, axis="y")
    axis.set_xlabel(metric)
    axis.set_xlim(left=0)
    figure.legend(loc="outside upper center", ncols=len(references), frameon=False)
    return detached(figure)


def plot_ranges(spans: pd.DataFrame, *, metric: str, title: str) -> Figure:
    """Plot how far each system's value and its rank move with its parameters, a row per system."""
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
    return detached(figure)


def plot_readings(results: Results, *, label: str, metric: str, title: str) -> Figure:
    """Plot what the readings of one name score, the best on top, each with its value."""
    table = results.table(label, metric).sort_values("value", ascending=False, kind="stable")
    figure, axis = plt.subplots(figsize=(WIDTH, 1.1 + 0.52 * len(table)))
    places = np.arange(len(table))
    errors = np.array([table["value"] - table["low"], table["high"] - table["value"]])
    axis.barh(
        places + 0.22, table["value"], height=0.4, color=sns.color_palette("colorblind")[0],
        xerr=np.maximum(errors, 0), error_kw={"elinewidth": 1.2, "capsize": 2},
    )  # fmt: skip
    most = float(table["high"].max()) or 1.0  # where nothing is found by any
    pad = 0.01 * most
    for place, (name, row) in zip(places, table.iterrows(), strict=True):
        axis.text(pad / 2, place - 0.22, str(name), va="center")
        axis.text(row["high"] + pad, place + 0.22, defined(row["value"], ".4f"), va="center")
    axis.set(xlim=(0, 1.17 * most), ylim=(len(table) - 0.4, -0.5))
    axis.set_xlabel(metric)
    axis.set_yticks([])
    axis.grid(visible=False)
    figure.suptitle(title, fontsize="medium")
    return detached(figure)
