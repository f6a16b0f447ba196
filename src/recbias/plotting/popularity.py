"""Figures about popularity: how ratings pile up on items, and what that alone is worth."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from recbias.plotting.style import FONT_SIZE, WIDTH, detached

__all__ = ["plot_cumulative"]

_STYLES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))


def plot_cumulative(curves: pd.DataFrame, *, title: str) -> Figure:
    """Plot how counts cumulate over items, most popular first, a line for each column.

    Parameters
    ----------
    curves
        Shares of all counts, by share of the items (the index). The first column stands out; of the
        columns ``flattest`` and ``steepest``, if they are there, the band between is drawn.
    title
        The message.

    Returns
    -------
    Figure
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 5.0))
    band = [name for name in ("flattest", "steepest") if name in curves]
    lines = [name for name in curves.columns if name not in band]
    colours = sns.color_palette("colorblind", 10)
    for place, name in enumerate(lines):
        axis.plot(
            curves.index, curves[name], label=name, color=colours[place % 10],
            linestyle=_STYLES[place % len(_STYLES)], linewidth=1.8 if place else 3.2,
        )  # fmt: skip
    if band:
        axis.fill_between(
            curves.index, curves[band[0]], curves[band[1]], color="0.25", linewidth=1.5,
            label="TREC (what is printed)",
        )  # fmt: skip
    axis.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=1)
    axis.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of the items, most popular first")
    axis.set_ylabel("their share of all counts")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.suptitle(title, fontsize=FONT_SIZE, fontweight="bold")
    return detached(figure)
