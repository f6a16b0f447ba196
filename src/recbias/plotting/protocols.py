"""Figures about protocols in worlds: which one orders systems as the truth does, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from recbias.plotting.style import FONT_SIZE, WIDTH, detached

__all__ = ["plot_best_protocols", "plot_over_relations"]

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
    """Write into a map of worlds which protocol is the best there, a panel for each truth.

    Parameters
    ----------
    found
        By title of the panel, a row for each region: ``best``, and ``others``, what may be as good.
    names
        All protocols: each has one colour in all panels.
    axes, labels
        Columns of `found` that are laid out from left to right and from bottom to top, and what
        they are called.
    title
        The message.

    Returns
    -------
    Figure
        Where no other may be as good, the colour is full and the name bold; else the colour is pale
        and the name is followed by the number of the others.
    """
    across, up = axes
    n_rows = max(rows[up].nunique() for rows in found.values())
    height = 0.8 + 0.2 * title.count("\n") + len(found) * (0.75 + 0.42 * n_rows)
    figure, panels = plt.subplots(
        len(found), 1, figsize=(WIDTH, height), sharex=True, squeeze=False
    )
    colours = dict(zip(names, sns.color_palette("colorblind", len(names)), strict=True))
    for panel, (name, rows) in zip(panels[:, 0], found.items(), strict=True):
        columns, lines = (sorted(rows[each].unique()) for each in axes)
        for row in rows.to_dict("records"):
            place = columns.index(row[across]), lines.index(row[up])
            _fill(panel, place, row["best"], len(row["others"]), colours[row["best"]])
        panel.set_xticks(range(len(columns)), [f"{each:g}" for each in columns])
        panel.set_yticks(range(len(lines)), [f"{each:g}" for each in lines])
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
    """Plot how well each protocol orders systems over the relation of popularity and liking.

    Parameters
    ----------
    found
        By title of the panel, rows of ``name``, ``relation``, ``value``, and the ends of its 95 %
        interval, ``low`` and ``high``.
    marked
        Names that stand out in colour; the others are grey and have no name.
    label
        Of the vertical axis.
    title
        The message.

    Returns
    -------
    Figure
    """
    legend = 0.27 * -(-len(marked) // 3)
    height = 3.5 + legend + 0.2 * title.count("\n")
    figure, panels = plt.subplots(
        1, len(found), figsize=(WIDTH, height), sharey=True, squeeze=False
    )
    colours = sns.color_palette("colorblind", max(len(marked), 1))
    for axis, (panel, rows) in zip(panels[0], found.items(), strict=True):
        axis.axhline(0, color="0.25", linewidth=1.2)
        for name, own in rows.groupby("name", sort=False):
            if name not in marked:
                axis.plot(own["relation"], own["value"], color="0.75", linewidth=1.5, zorder=1)
        for number, name in enumerate(marked):
            own = rows[rows["name"] == name]
            ends = np.maximum([own["value"] - own["low"], own["high"] - own["value"]], 0)
            axis.errorbar(
                own["relation"], own["value"], yerr=ends, label=name, color=colours[number],
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
