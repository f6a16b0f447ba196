"""The picture of results: systems with their intervals, a panel per protocol and metric."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.errors import needs_the_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Panel", "draw"]

_NAME, _TITLE = 32, 30
"""Letters of a line of a system's name, and of a panel's title."""

_LETTER, _LINE = 0.085, 0.19
"""Inches that a letter takes at most, and a line of text."""

_PANEL = 2.9
"""Inches of width of a panel without names."""


class Panel(NamedTuple):
    """Value, low and high of each system, shape (n_systems, 3), and which way is better."""

    label: str
    metric: str
    better: str | None
    numbers: npt.NDArray[np.float64]


def draw(systems: Sequence[str], panels: Sequence[Panel], about: str) -> Figure:
    """Draw a panel for each label and metric.

    Systems are in the order of the first panel, the best on top; one without a value is last.
    """
    with needs_the_extra("book", what="plot"):
        import matplotlib.pyplot as plt

    rising = panels[0].numbers[:, 0] * (1 if panels[0].better == "lower" else -1)
    order = np.argsort(rising, kind="stable")  # NaN last
    names = [_lines(systems[place], _NAME) for place in order]
    titles = [_lines(label, _TITLE) for label, *_ in panels]
    n_columns = min(3, len(panels))
    n_rows = math.ceil(len(panels) / n_columns)
    heights = np.array([0.08 + _LINE * (name.count("\n") + 1) for name in names])
    places = np.cumsum(heights) - heights / 2
    heading = 0.9 + _LINE * max(title.count("\n") + 1 for title in titles)
    width = max(len(line) for name in names for line in name.split("\n")) * _LETTER
    head = textwrap.wrap(about, int((width + n_columns * _PANEL) / _LETTER))
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        sharey=True,
        squeeze=False,
        layout="constrained",
        figsize=(
            width + n_columns * _PANEL,
            n_rows * (float(heights.sum()) + heading) + _LINE * (1 + len(head)),
        ),
    )
    for number, axis in enumerate(axes.flat):
        if number >= len(panels):
            axis.set_visible(False)
            continue
        panel = panels[number]
        value, low, high = panel.numbers[order].T
        axis.hlines(places, low, high, color="tab:blue", linewidth=2, alpha=0.6)
        axis.plot(value, places, "o", color="tab:blue", markersize=5)
        axis.set_title(titles[number], fontsize=10)
        axis.set_xlabel(panel.metric + (" (less is better)" if panel.better == "lower" else ""))
        axis.set_yticks(places, names)
        axis.set_ylim(heights.sum(), 0)
        axis.locator_params(axis="x", nbins=4)
        axis.grid(axis="x", alpha=0.4)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle("\n".join([*head, "95 % intervals over users"]), fontsize=10)
    plt.close(figure)  # pyplot would show it a second time at the end of a notebook's cell
    return figure


def _lines(text: str, width: int) -> str:
    """Break a text into lines; a dollar is one, and begins no formula."""
    return "\n".join(textwrap.wrap(text, width)).replace("$", "\\$")
