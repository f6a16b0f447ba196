"""Figures about how many judgments order systems as the truth does."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from recbias.plotting.style import FONT_SIZE, SHORT, WIDTH, detached

__all__ = ["plot_judgments"]

_STYLES = ("-", "--", "-.", ":")


def plot_judgments(
    found: pd.DataFrame, *, label: str, title: str, target: float | None = None
) -> Figure:
    """Plot tau over the number of judgments, a panel for each metric.

    Parameters
    ----------
    found
        Rows of ``panel``, ``line``, ``at``, ``value`` and the ends ``low`` and ``high`` of its 95 %
        interval; ``least`` and ``most``, bounds that need no model, NaN where there are none.
    label
        Of the vertical axis.
    title
        The message.
    target
        Where a horizontal line is drawn.

    Returns
    -------
    Figure
        Bounds are dotted, in the colour of what they bound. Without rows an empty panel.
    """
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
