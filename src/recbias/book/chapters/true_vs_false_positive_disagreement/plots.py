"""Figures about how many judgments order systems as the truth does."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import Bbox

from recbias.book.figures.style import FONT_SIZE, SHORT, WIDTH, detached

_STYLES = ("-", "--", "-.", ":")


def plot_judgments(
    found: pd.DataFrame, *, label: str, title: str, target: float | None = None
) -> Figure:
    """Plot tau over the number of judgments, a panel for each metric."""
    panels, lines = (list(dict.fromkeys(found[name])) for name in ("panel", "line"))
    panels = panels or [""]
    bounded = found["least"].notna().any()
    height = 3.4 + 0.25 * (len(lines) + bounded) + 0.22 * title.count("\n")
    figure, axes = plt.subplots(
        1, len(panels), figsize=(WIDTH, height), squeeze=False, sharey=True, layout="constrained"
    )
    colours = sns.color_palette("colorblind")
    for axis, panel in zip(axes[0], panels, strict=True):
        if target is not None:
            axis.axhline(target, color="0.25", linewidth=1.2)
        for place, line in enumerate(lines):
            rows = found[(found["panel"] == panel) & (found["line"] == line)].sort_values("at")
            colour, style = colours[place], _STYLES[place % len(_STYLES)]
            axis.fill_between(rows["at"], rows["low"], rows["high"], color=colour, alpha=0.2)
            axis.plot(rows["at"], rows["value"], style, color=colour, linewidth=2.2, label=line)
            for bound in ("least", "most"):
                axis.plot(rows["at"], rows[bound], ":", color=colour, linewidth=1.6)
        axis.set_xscale("log")
        ticks = [tick for tick in (1, 10, 100, 1000) if tick <= found["at"].max()]
        axis.set_xticks(ticks if len(ticks) > 1 else [1, 2, 4, 8])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(SHORT)
        axis.set_title(panel, fontsize=FONT_SIZE)
        axis.set_xlabel("random judgments per user")
    axes[0][0].set_ylabel(label)
    handles, labels = axes[0][0].get_legend_handles_labels()
    if bounded:
        (dotted,) = axes[0][0].plot([], [], ":", color="0.4", linewidth=1.6)
        handles, labels = [*handles, dotted], [*labels, "bounds without a model"]
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


FloatArray = npt.NDArray[np.float64]

_KINDS = {"trained": ("o", 0, 6.5), "for everybody": ("s", 1, 6.5), "optimal": ("*", 2, 13.0)}
"""Marker, number of the colour and size in points, by what a ranking is."""

_DISTANCES = (11.0, 16.0, 22.0, 30.0, 40.0, 52.0, 66.0, 82.0)
"""How far a label may be from its point, in points of type."""

_ANGLES = np.linspace(0, 2 * np.pi, 24, endpoint=False)


def plot_two_metrics(
    found: pd.DataFrame,
    *,
    axes: Mapping[str, tuple[str, str]],
    title: str,
    names: Collection[str] | None = None,
) -> Figure:
    """Plot systems by two metrics, a panel for each way to measure them, two panels in a row."""
    systems = list(dict.fromkeys(found["system"]))
    if names is None:
        labels = {system: f"{number}" for number, system in enumerate(systems, 1)}
    else:
        labels = {system: system for system in systems if system in names}
    n_columns = min(2, len(axes))
    n_rows = -(-len(axes) // n_columns)
    keys = _keys(found, labels if names is None else {}, with_published="x_published" in found)
    n_key_columns = _columns_of([key.get_label() for key in keys])
    key_height = 0.21 * -(-len(keys) // n_key_columns)
    height = 3.1 * n_rows + key_height + 0.2 * (2 + title.count("\n"))
    figure, grid = plt.subplots(
        n_rows, n_columns, figsize=(WIDTH, height), squeeze=False, layout="constrained"
    )
    for axis in grid.flat[len(axes) :]:
        axis.set_axis_off()
    for axis, (panel, (x_label, y_label)) in zip(grid.flat, axes.items(), strict=False):
        _draw_systems(axis, found[found["panel"] == panel])
        axis.set(xlabel=x_label, ylabel=y_label)
        axis.set_title(panel, fontsize=FONT_SIZE)
    figure.legend(
        handles=keys, loc="outside lower center", ncols=n_key_columns, frameon=False,
        handletextpad=0.3, columnspacing=1.2, labelspacing=0.25,
    )  # fmt: skip
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # labels are placed where the points are now
    for axis, panel in zip(grid.flat, axes, strict=False):
        _label_points(axis, found[found["panel"] == panel], labels)
    return detached(figure)


def _draw_systems(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw one panel: points with their intervals, and published values beside them."""
    colours = sns.color_palette("colorblind")
    errors = [
        np.maximum([rows[by] - rows[f"{by}_low"], rows[f"{by}_high"] - rows[by]], 0) for by in "xy"
    ]
    axis.errorbar(
        rows["x"], rows["y"], xerr=errors[0], yerr=errors[1], linestyle="none", color="0.65",
        elinewidth=1.2, zorder=1,
    )  # fmt: skip
    if "x_published" in rows:
        beside = rows[["x_published", "y_published", "x", "y"]].dropna().to_numpy()
        for ends in beside.reshape(-1, 2, 2):
            axis.plot(*ends.T, color="0.45", linewidth=1, zorder=2)
        axis.plot(rows["x_published"], rows["y_published"], **_PUBLISHED, zorder=3)
    for kind, points in rows.groupby("kind", sort=False):
        marker, colour, size = _KINDS[str(kind)]
        axis.plot(
            points["x"], points["y"], linestyle="none", marker=marker, color=colours[colour],
            markersize=size, markeredgecolor="white", markeredgewidth=0.6, zorder=4,
        )  # fmt: skip
    axis.margins(0.12)
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_locator(MaxNLocator(4, min_n_ticks=3))
        one.set_major_formatter(SHORT)
    axis.autoscale_view()
    axis.autoscale(False)  # lines to labels move nothing


_PUBLISHED: dict[str, Any] = {
    "linestyle": "none", "marker": "D", "color": "white", "markeredgecolor": "0.25",
    "markeredgewidth": 1.2, "markersize": 6,
}  # fmt: skip


def _keys(rows: pd.DataFrame, labels: Mapping[str, str], *, with_published: bool) -> list[Line2D]:
    """Make the key: numbers and names of the systems, or the kinds where systems are named."""
    colours = sns.color_palette("colorblind")
    kinds = rows.drop_duplicates("system").set_index("system")["kind"]
    kind_by_words = (
        {f"{number}  {system}": kinds[system] for system, number in labels.items()}
        if labels
        else {_KIND_WORDS[kind]: kind for kind in dict.fromkeys(kinds)}
    )
    keys = []
    for words, kind in kind_by_words.items():
        marker, colour, size = _KINDS[kind]
        keys.append(
            Line2D([], [], linestyle="none", marker=marker, color=colours[colour],
                   markersize=size, label=words)
        )  # fmt: skip
    if with_published:
        keys.append(Line2D([], [], **_PUBLISHED, label="published"))
    return keys


_KIND_WORDS = {
    "trained": "trained",
    "for everybody": "the same for everybody",
    "optimal": "optimal for everybody",
}


def _columns_of(words: Sequence[object]) -> int:
    """Choose how many columns of a key fit the width, by its longest text."""
    longest = max(len(str(text)) for text in words)
    return max(1, min(3, int(WIDTH * 72 / (30 + 6.5 * longest))))


def _label_points(axis: Axes, rows: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """Write labels beside points, so that none covers another, a point, or the frame."""
    figure = axis.figure
    to_points = 72 / figure.dpi
    frame = axis.get_window_extent()
    inside = Bbox.from_extents(*(np.array(frame.extents) * to_points + [2, 2, -2, -2]))
    drawn = rows[["x", "y"]].to_numpy()
    if "x_published" in rows:
        drawn = np.vstack([drawn, rows[["x_published", "y_published"]].dropna().to_numpy()])
    marks = axis.transData.transform(drawn) * to_points
    chosen = rows["system"].isin(list(labels)).to_numpy()
    points = marks[: len(rows)][chosen]
    texts = [labels[system] for system in rows["system"][chosen]]
    sizes = np.array([_size(axis, text) for text in texts]).reshape(-1, 2)
    places = placed_labels(points, sizes, marks, inside)
    for point, place, text in zip(points, places, texts, strict=True):
        near, middle = axis.transData.inverted().transform(np.array([point, place]) / to_points)
        if np.hypot(*(place - point)) > _DISTANCES[1]:
            axis.plot(*np.transpose([near, middle]), color="0.6", linewidth=0.8, zorder=2)
        axis.text(
            middle[0], middle[1], text, ha="center", va="center_baseline", zorder=6,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.3},
        ).set_in_layout(False)  # fmt: skip


def _size(axis: Axes, text: str) -> FloatArray:
    """Measure a text in points of type."""
    probe = axis.text(0, 0, text)
    box = probe.get_window_extent()
    probe.remove()
    return np.array([box.width, box.height]) * 72 / axis.figure.dpi


def placed_labels(
    points: FloatArray, sizes: FloatArray, marks: FloatArray, inside: Bbox
) -> FloatArray:
    """Choose where the middle of each label is: near its point, on no other label and no mark.

    Examples
    --------
    Two labels of points that coincide are apart:

    >>> points = np.array([[50.0, 50.0], [50.0, 50.0]])
    >>> found = placed_labels(points, np.full((2, 2), 12.0), points, Bbox([[0, 0], [99, 99]]))
    >>> bool((np.abs(found[0] - found[1]) >= 12).any())
    True
    """
    around = np.array(
        [
            (distance * np.cos(angle), distance * np.sin(angle))
            for distance, angle in product(_DISTANCES, _ANGLES)
        ]
    )
    far = np.hypot(*around.T)
    places = np.full_like(points, np.nan)
    for _ in range(4):
        before = places.copy()
        for number, (point, size) in enumerate(zip(points, sizes, strict=True)):
            # a wide label is farther to the side than one above
            stretch = (
                1 + np.array([max(size[0] - size[1], 0), 0]) / 2 / np.hypot(*around.T)[:, None]
            )
            candidates = point + around * stretch
            others = np.delete(np.arange(len(points)), number)
            cost = far / 10
            cost += 100 * _overlap(candidates, size, places[others], sizes[others])
            cost += 4 * _overlap(candidates, size, marks, np.full_like(marks, 7.0))
            low, high = candidates - size / 2, candidates + size / 2
            cost += 100 * ((low < inside.min) | (high > inside.max)).any(axis=1)
            places[number] = candidates[cost.argmin()]
        if np.array_equal(before, places):
            break
    return places


def _overlap(
    candidates: FloatArray, size: FloatArray, others: FloatArray, sizes: FloatArray
) -> FloatArray:
    """Count for each candidate the boxes that it would cover; those not yet placed count none."""
    apart = np.abs(candidates[:, None, :] - others[None, :, :]) - (size + sizes[None, :, :]) / 2
    return (apart < 1).all(axis=2).sum(axis=1).astype(float)


# -- items -----------------------------------------------------------------------------------------

_CURVES = {
    "p(train)": ("have it in training", "-"),
    "p(rel|train)": ("of these like it", "--"),
    "p(not rel|train)": ("of these do not", ":"),
}


def plot_item_curves(groups: pd.DataFrame, *, title: str) -> Figure:
    """Plot how popularity and liking fall off over items, and the two optimal orders (Fig. 3)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 4.1))
    colours = sns.color_palette("colorblind")
    for place, (name, (words, style)) in enumerate(_CURVES.items()):
        curve = groups[groups["panel"] == f"sorted {name}"]
        left.plot(
            curve["x"], curve["middle"] / curve["middle"].max(), style, color=colours[place],
            linewidth=2.4, label=words,
        )  # fmt: skip
    left.set(xlabel="items, largest first", ylabel="share of users / largest", ylim=(0, 1.03))
    figure.legend(loc="outside lower center", ncols=3, frameon=False, columnspacing=1)
    orders = groups[groups["panel"].str.startswith("place by")]
    right.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    right.fill_between(orders["x"], orders["low"], orders["high"], color=colours[0], alpha=0.3)
    right.plot(orders["x"], orders["middle"], color=colours[0], linewidth=2.4)
    right.set(xlabel="place, best by hits first", ylabel="place by misses", ylim=(0, 1))
    for axis in (left, right):
        axis.set_xlim(0, 1)
        axis.set_xticks([0, 0.5, 1])
        axis.xaxis.set_major_formatter(SHORT)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def plot_item_functions(
    groups: pd.DataFrame, correlations: Mapping[str, float], *, title: str
) -> Figure:
    """Plot what ranks items best by hits and by misses.

    Over popularity and over liking (Fig. 4).
    """
    n_rows = -(-len(correlations) // 2)
    figure, axes = plt.subplots(
        n_rows, 2, figsize=(WIDTH, 0.6 + 2.6 * n_rows), sharex="col", sharey="row", squeeze=False
    )
    colours = sns.color_palette("colorblind")
    for axis, (panel, correlation) in zip(axes.flat, correlations.items(), strict=True):
        function, _, x = panel.partition(" over ")
        curve = groups[groups["panel"] == panel]
        colour = colours[1 if "anti" in function else 0]
        axis.fill_between(curve["x"], curve["low"], curve["high"], color=colour, alpha=0.3)
        axis.plot(curve["x"], curve["middle"], "o-", color=colour, markersize=4)
        known = np.isfinite(correlation)
        axis.set_title(f"r = {correlation:.2f}" if known else "r undefined", fontsize=FONT_SIZE)
        axis.set(xlabel=_SHARES.get(x, x), ylabel=_FUNCTIONS.get(function, function))
        for one in (axis.xaxis, axis.yaxis):
            one.set_major_locator(MaxNLocator(4))
            one.set_major_formatter(SHORT)
        axis.label_outer()
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


_SHARES = {"p(train)": "have it in training", "p(rel|train)": "of these like it"}
_FUNCTIONS = {"f_P": "Eq. 2, by hits", "f_antiP": "Eq. 4, by misses"}


# -- worlds ----------------------------------------------------------------------------------------


def plot_over_skew(
    found: pd.DataFrame, *, labels: tuple[str, str], level: float, title: str
) -> Figure:
    """Plot what becomes of some quantities as popularity is spread less and less evenly."""
    lines = list(dict.fromkeys(found["line"]))
    figure, axis = plt.subplots(figsize=(WIDTH, 3.6 + 0.2 * len(lines)))
    colours = sns.color_palette("colorblind")
    axis.axhline(level, color="0.25", linewidth=1.2)
    for place, line in enumerate(lines):
        rows = found[found["line"] == line].sort_values("skew")
        errors = np.array([rows["value"] - rows["low"], rows["high"] - rows["value"]])
        axis.errorbar(
            rows["skew"], rows["value"], yerr=np.maximum(errors, 0), label=line,
            color=colours[place], marker=_MARKS[place % len(_MARKS)], markersize=7, linewidth=2,
            linestyle=("-", "--", "-.", ":")[place % 4],
        )  # fmt: skip
    axis.set_xticks(sorted(found["skew"].unique()))
    axis.xaxis.set_major_formatter(SHORT)
    axis.set(xlabel=labels[0], ylabel=labels[1])
    figure.legend(loc="outside lower center", ncols=1, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


_MARKS = "osD^vP"


def plot_tau_maps(
    found: pd.DataFrame, *, places: pd.DataFrame, labels: tuple[str, str], title: str
) -> Figure:
    """Plot Kendall's taus over two properties of worlds, a map for each, with data sets on them."""
    panels = list(dict.fromkeys(found["panel"]))
    n_rows = -(-len(panels) // 2)
    key = [f"{number}  {name}" for number, name in enumerate(places["name"], 1)]
    n_columns = _columns_of(key) if key else 1
    figure, axes = plt.subplots(
        n_rows, 2, figsize=(WIDTH, 1.5 + 2.6 * n_rows + 0.21 * -(-len(key) // n_columns)),
        sharex=True, sharey=True, squeeze=False,
    )  # fmt: skip
    for axis, panel in zip(axes.flat, panels, strict=False):
        rows = found[found["panel"] == panel]
        wide = rows.pivot_table(index="relation", columns="skew", values="value")
        mesh = axis.pcolormesh(
            wide.columns, wide.index, wide, cmap="RdBu", vmin=-1, vmax=1, shading="nearest"
        )
        if rows["value"].min() < 0 < rows["value"].max():
            axis.contour(wide.columns, wide.index, wide, levels=[0], colors="black", linewidths=2)
        _number_places(axis, places)
        axis.set(title=panel, xlabel=labels[0], ylabel=labels[1])
        axis.grid(visible=False)
        axis.label_outer()
    bar = figure.colorbar(mesh, ax=axes, location="bottom", shrink=0.8, aspect=40)
    bar.set_ticks([-1, -0.5, 0, 0.5, 1])
    bar.set_label("Kendall's $\\tau$")
    if key:
        handles = [Line2D([], [], linestyle="none", label=words) for words in key]
        figure.legend(
            handles=handles, loc="outside lower center", ncols=n_columns, frameon=False,
            handlelength=0, labelspacing=0.25,
        )  # fmt: skip
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)


def _number_places(axis: Axes, places: pd.DataFrame) -> None:
    """Mark data sets by their number: a point where the relation is known, else a bar."""
    for number, (skew, low, high) in enumerate(
        places[["skew", "low", "high"]].itertuples(index=False), 1
    ):
        box = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "black"}
        if low < high:
            axis.plot([skew, skew], [low, high], color="black", linewidth=2)
            box["boxstyle"] = "square,pad=0.15"
        axis.text(skew, (low + high) / 2, f"{number}", ha="center", va="center", bbox=box, zorder=5)
