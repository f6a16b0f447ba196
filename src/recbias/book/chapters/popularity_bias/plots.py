"""Figures about popularity: how ratings pile up on items, and what that alone is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MultipleLocator

from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, detached, wrapped
from recbias.claims.regions import defined

_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))
_MARKS = "osD^vP*X"


def plot_skew(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot what one system scores on real ratings and in worlds without taste, by design."""
    designs, bars = list(dict.fromkeys(found["design"])), list(dict.fromkeys(found["what"]))
    names = wrapped(bars)
    height = 1.0 + 0.55 * len(bars) + 0.2 * title.count("\n")
    figure, axes = plt.subplots(
        1, len(designs), figsize=(WIDTH, height), sharey=True, squeeze=False
    )
    colours = sns.color_palette("colorblind")
    for axis, design in zip(axes[0], designs, strict=True):
        rows = found[found["design"] == design].set_index("what").loc[bars]
        axis.barh(range(len(bars)), rows["value"], color=colours[: len(bars)], height=0.66)
        axis.hlines(range(len(bars)), rows["low"], rows["high"], color="black", linewidth=1.4)
        for place, (value, high) in enumerate(zip(rows["value"], rows["high"], strict=True)):
            axis.annotate(
                defined(value, ".3f"), (max(value, high), place), (5, 0), va="center",
                textcoords="offset points", fontweight="bold",
            )  # fmt: skip
        axis.set_xlim(0, 1.5 * rows[["value", "high"]].max().max())
        axis.set_title(design)
        axis.locator_params(axis="x", nbins=3)
        axis.xaxis.set_major_formatter(SHORT)
        axis.grid(visible=False, axis="y")
    axes[0, 0].set_yticks(range(len(bars)), names)
    axes[0, 0].invert_yaxis()
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_cumulative(curves: pd.DataFrame, *, title: str, band: str = "") -> Figure:
    """Plot how counts cumulate over items, most popular first, a line for each column."""
    figure, axis = plt.subplots(figsize=(WIDTH, 5.2))
    lines = list(curves.columns[:-2] if band else curves.columns)
    colours = sns.color_palette("colorblind", 10)
    axis.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=1)
    for place, name in enumerate(lines):
        axis.plot(
            curves.index, curves[name], label=name, color=colours[place % 10],
            linestyle=_STYLES[place % len(_STYLES)], linewidth=1.8 if place else 3.2,
        )  # fmt: skip
    if band:
        low, high = (curves[name] for name in curves.columns[-2:])
        axis.fill_between(curves.index, low, high, color="0.25", linewidth=1.5, label=band)
    axis.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of the items, most popular first")
    axis.set_ylabel("their share of all counts")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_chain(groups: pd.DataFrame, *, title: str) -> Figure:
    """Plot relevant test ratings against training ratings, both means over groups of items."""
    nonzero = groups[(groups["training"] > 0) & (groups["positives"] > 0)]
    ratio = groups["positives"].sum() / groups["training"].sum()
    ends = np.array([nonzero["training"].min(), nonzero["training"].max()])
    figure, axis = plt.subplots(figsize=(WIDTH, 4.2))
    blue, orange = sns.color_palette("colorblind")[:2]
    axis.plot(ends, ratio * ends, color=orange, linewidth=2, linestyle="--", label="proportional")
    axis.plot(
        nonzero["training"], nonzero["positives"], "o", color=blue, markersize=8,
        label="groups of items with equally many",
    )  # fmt: skip
    axis.set(xscale="log", yscale="log", xlabel="training ratings of an item")
    axis.set_ylabel("relevant test ratings")
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_formatter(SHORT)
    axis.legend(frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_rankings(found: pd.DataFrame, *, metric: str, title: str) -> Figure:
    """Plot what rankings that are the same for everybody score, beside what theory predicts."""
    predicted = [name for name in found.columns if name not in ("value", "low", "high")]
    figure, axis = plt.subplots(figsize=(WIDTH, 1.5 + 0.45 * len(found)))
    places = np.arange(len(found))
    colours = sns.color_palette("colorblind")
    axis.barh(places, found["value"], color=colours[0], height=0.6, label="measured")
    axis.hlines(places, found["low"], found["high"], color="black", linewidth=1.6)
    for number, name in enumerate(predicted):
        axis.plot(
            found[name], places, linestyle="none", marker=_MARKS[number + 1], markersize=9,
            color="white", markeredgecolor=colours[number + 1], markeredgewidth=2,
            label=f"predicted, {name}",
        )  # fmt: skip
    axis.set_yticks(places, wrapped(list(found.index)))
    axis.invert_yaxis()
    axis.set_xlim(left=0)
    axis.set_xlabel(metric)
    axis.grid(visible=False, axis="y")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_exponents(
    found: pd.DataFrame,
    *,
    metric: str,
    title: str,
    published: Mapping[tuple[str, float], float] | None = None,
) -> Figure:
    """Plot precision in worlds without taste, against the exponent of popularity."""
    figure, axis = plt.subplots(figsize=(WIDTH, 4.8))
    systems = list(dict.fromkeys(found["system"]))
    # Side by side, since some systems agree to the last digit.
    alphas = np.sort(found["alpha"].unique())
    step = 0.03 * float(np.diff(alphas).min()) if len(alphas) > 1 else 0.0
    colours = sns.color_palette("colorblind")
    for place, system in enumerate(systems):
        rows = found[found["system"] == system].sort_values("alpha")
        errors = np.array([rows["value"] - rows["low"], rows["high"] - rows["value"]])
        axis.errorbar(
            rows["alpha"] + step * (place - (len(systems) - 1) / 2), rows["value"],
            yerr=np.maximum(errors, 0), label=system, color=colours[place],
            marker=_MARKS[place % len(_MARKS)], linestyle=_STYLES[place % len(_STYLES)],
            markersize=6,
        )  # fmt: skip
    for (system, alpha), value in (published or {}).items():
        axis.plot(
            alpha, value, "D", color="white", markeredgecolor=colours[systems.index(system)],
            markeredgewidth=2, markersize=11, zorder=5,
        )  # fmt: skip
    axis.set_xticks(alphas)
    axis.set(xlabel="exponent of popularity", ylabel=metric, ylim=(0, None))
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_sure_bounds(
    found: pd.DataFrame, *, x: str, x_label: str, metric: str, title: str
) -> Figure:
    """Plot a value between bounds that are sure, and a bound that is not."""
    figure, axis = plt.subplots(figsize=(WIDTH, 4.4))
    blue, orange = sns.color_palette("colorblind")[:2]
    places = found[x]
    axis.fill_between(
        places, found["lower"], found["upper"], color=blue, alpha=0.25, linewidth=0,
        label="between the bounds of the lemma",
    )  # fmt: skip
    axis.plot(places, found["value"], color=blue, marker="o", label="measured")
    readings = {"whole": ("^", "the whole ranking"), "closed": ("s", "the target sets")}
    for name, (marker, items) in readings.items():
        axis.plot(
            places, found[name], color=orange, marker=marker, linestyle="--",
            label=f"lower bound in closed form, {items}",
        )  # fmt: skip
    axis.set_xticks(list(places))
    axis.set(xlabel=x_label, ylabel=metric, ylim=(0, None))
    axis.legend(frameon=False, loc="upper left")
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_skew_shares(found: pd.DataFrame, *, title: str) -> Figure:
    """Plot what share of a score is skew alone, by data set and design."""
    names, designs = list(dict.fromkeys(found["data"])), list(dict.fromkeys(found["design"]))
    figure, axis = plt.subplots(figsize=(WIDTH, 1.5 + 0.55 * len(names)))
    colours = sns.color_palette("colorblind")
    shift = 0.24
    for number, design in enumerate(designs):
        rows = found[found["design"] == design].set_index("data").reindex(names)
        places = np.arange(len(names)) + shift * (number - (len(designs) - 1) / 2)
        errors = np.array([rows["value"] - rows["low"], rows["high"] - rows["value"]])
        axis.errorbar(
            rows["value"], places, xerr=np.maximum(errors, 0), label=design, linestyle="none",
            color=colours[number], marker=_MARKS[number % len(_MARKS)], markersize=8,
            elinewidth=2,
        )  # fmt: skip
    axis.axvline(1, color="0.25", linewidth=1.2)
    axis.set_yticks(range(len(names)), wrapped(names))
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_xlim(left=0)
    axis.set_xlabel("score without taste / score on the ratings")
    axis.grid(visible=False, axis="y")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_relations(
    found: pd.DataFrame,
    *,
    points: pd.DataFrame,
    labels: Sequence[str],
    title: str,
) -> Figure:
    """Plot a value over two properties of worlds as a map, with data sets as points on it."""
    wide = found.pivot_table(index="relation", columns="skew", values="value")
    figure, axis = plt.subplots(figsize=(WIDTH, 5.4))
    most = float(np.abs(wide.to_numpy()).max())
    mesh = axis.pcolormesh(
        wide.columns, wide.index, wide, cmap="RdBu_r", vmin=-most, vmax=most, shading="nearest"
    )
    if wide.to_numpy().min() < 0 < wide.to_numpy().max():
        axis.contour(wide.columns, wide.index, wide, levels=[0], colors="black", linewidths=2)
    _name_points(axis, points)
    axis.set(xlabel=labels[0], ylabel=labels[1])
    axis.grid(visible=False)
    factors = FuncFormatter(lambda value, _: f"{2**value:g}")
    bar = figure.colorbar(mesh, ax=axis, location="bottom", shrink=0.9, format=factors)
    bar.locator = MultipleLocator(max(1, round(most / 3)))
    bar.update_ticks()
    bar.set_label(labels[2])
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _name_points(axis: Axes, points: pd.DataFrame) -> None:
    """Mark points with their names, on the side where there is room."""
    middle = float(np.mean(axis.get_xlim()))
    for name, skew, relation in points[["name", "skew", "relation"]].itertuples(index=False):
        left = skew > middle
        axis.plot(skew, relation, "o", color="white", markeredgecolor="black", markersize=9)
        axis.annotate(
            name, (skew, relation), (-9 if left else 9, 0), textcoords="offset points",
            ha="right" if left else "left", va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
        )  # fmt: skip
