"""What all figures share: size, fonts, colours, and room for names."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import matplotlib as mpl
import seaborn as sns
from matplotlib.ticker import FuncFormatter

WIDTH = 6.4
"""Inches: the width of a figure; on a phone of 390 pixels 12 points are 9 of them."""

NARROW = 5.0
"""Inches: the width of a figure of one panel, whose 12 points are 11 pixels on a phone."""

FONT_SIZE = 12
"""Points: no text of a figure is smaller."""


SHORT = FuncFormatter(lambda value, _: f"{value:.4g}".replace("-", "\N{MINUS SIGN}"))
"""Numbers of a narrow axis, without zeros at their end."""


def use_book_style() -> None:
    """Set fonts, colours and reproducible SVG output for the figures of a chapter."""
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


def wrapped(names: Sequence[str]) -> list[str]:
    """Break names that would leave no room for the rest of a figure."""
    return ["\n".join(textwrap.wrap(name, 24)) for name in names]


def row_height(names: Sequence[str]) -> float:
    """Give the inches that a row of a figure needs for the longest of its names."""
    return 0.09 + 0.2 * (1 + max(name.count("\n") for name in names))
