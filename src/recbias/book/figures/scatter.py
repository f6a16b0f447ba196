"""Points with labels that cover nothing: systems by two metrics."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from recbias.book.figures.panels import (
    COLOURS,
    abreast,
    extra_height,
    finished,
    grid_of,
    names_in,
    rows_of,
)
from recbias.book.figures.style import NARROW, SHORT
from recbias.claims.regions import defined

FloatArray = npt.NDArray[np.float64]

_KINDS = {"trained": ("o", 0, 6.5), "for everybody": ("s", 1, 6.5), "optimal": ("*", 2, 13.0)}
"""Marker, number of the colour and size in points, by what a ranking is."""

_DISTANCES = (11.0, 16.0, 22.0, 30.0, 40.0, 52.0, 66.0, 82.0)
"""How far a label may be from its point, in points of type."""

_ANGLES = np.linspace(0, 2 * np.pi, 24, endpoint=False)


def scatter(rows: pd.DataFrame, *, title: str, named: Collection[str]) -> Picture:
    """Set systems by two metrics, ``x`` and ``y``, a panel for each way to measure them.

    Of ``kind`` is the mark of a ``system``; some are `named`. Panels have their ``tau`` in the
    head, with ``tau_low`` and ``tau_high``, and ``x_label`` and ``y_label``; intervals end at
    ``x_low`` and the like, and ``x_published`` stand beside, where the rows have them.
    """
    panels = names_in(rows, "panel")
    keys = _keys(rows)
    n_abreast = abreast([str(key.get_label()) for key in keys], 3, width=NARROW)
    tall = 3.3 * -(-len(panels) // 2) + 0.21 * -(-len(keys) // n_abreast)
    tall += 0.4 + extra_height(title)
    figure, axes = grid_of(panels, height=tall, n_columns=min(2, len(panels)), width=NARROW)
    for panel, axis in axes.items():
        own = rows_of(rows, "panel", panel)
        _draw_systems(axis, own)
        axis.set(xlabel=own["x_label"].iloc[0], ylabel=own["y_label"].iloc[0])
        axis.set_title(f"{panel}\n{_tau(own.iloc[0])}")
    finished(
        figure, title, keys=keys, n_columns=n_abreast, handletextpad=0.3, columnspacing=1.2,
        labelspacing=0.25,
    )  # fmt: skip
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # labels are placed where the points are now
    for panel, axis in axes.items():
        _label_points(axis, rows_of(rows, "panel", panel), named)
    return figure


def _tau(row: pd.Series[Any]) -> str:
    """Write how far the orders by the two metrics agree."""
    low, high = row["tau_low"], row["tau_high"]
    ends = f"\n({low:.2f} to {high:.2f})" if np.isfinite([low, high]).all() and low < high else ""
    return f"$\\tau$ = {defined(row['tau'], '.2f')}{ends}".replace("-", "\N{MINUS SIGN}")


def _draw_systems(axis: Axes, rows: pd.DataFrame) -> None:
    """Draw one panel: points with their intervals, and published values beside them."""
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
            points["x"], points["y"], linestyle="none", marker=marker, color=COLOURS[colour],
            markersize=size, markeredgecolor="white", markeredgewidth=0.6, zorder=4,
        )  # fmt: skip
    axis.margins(0.12)
    for one, most in ((axis.xaxis, 2), (axis.yaxis, 4)):
        one.set_major_locator(MaxNLocator(most, min_n_ticks=2))
        one.set_major_formatter(SHORT)
    axis.autoscale_view()
    axis.autoscale(False)  # lines to labels move nothing


_PUBLISHED: dict[str, Any] = {
    "linestyle": "none", "marker": "D", "color": "white", "markeredgecolor": "0.25",
    "markeredgewidth": 1.2, "markersize": 6,
}  # fmt: skip


def _keys(rows: pd.DataFrame) -> list[Line2D]:
    """Make the key: the kinds of systems, and what is published."""
    keys = []
    for kind in dict.fromkeys(rows["kind"]):
        marker, colour, size = _KINDS[kind]
        keys.append(
            Line2D([], [], linestyle="none", marker=marker, color=COLOURS[colour],
                   markersize=size, label=_KIND_WORDS[kind])
        )  # fmt: skip
    if "x_published" in rows:
        keys.append(Line2D([], [], **_PUBLISHED, label="published"))
    return keys


_KIND_WORDS = {
    "trained": "trained",
    "for everybody": "the same for everybody",
    "optimal": "optimal for everybody",
}


def _label_points(axis: Axes, rows: pd.DataFrame, named: Collection[str]) -> None:
    """Write names beside points, so that none covers another, a point, or the frame."""
    figure = axis.figure
    to_points = 72 / figure.dpi
    frame = axis.get_window_extent()
    inside = Bbox.from_extents(*(np.array(frame.extents) * to_points + [2, 2, -2, -2]))
    drawn = rows[["x", "y"]].to_numpy()
    if "x_published" in rows:
        drawn = np.vstack([drawn, rows[["x_published", "y_published"]].dropna().to_numpy()])
    marks = axis.transData.transform(drawn) * to_points
    chosen = rows["system"].isin(list(named)).to_numpy()
    points = marks[: len(rows)][chosen]
    texts = rows["system"][chosen].tolist()
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
