"""What all figures share: size, fonts, colours, and room for names."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_rgb
from matplotlib.rcsetup import cycler
from matplotlib.ticker import FuncFormatter

WIDTH = 6.4
"""Inches: the width of a figure; on a phone of 390 pixels 12 points are 9 of them."""

NARROW = 5.0
"""Inches: the width of a figure of one panel, whose 12 points are 11 pixels on a phone."""

FONT_SIZE = 12
"""Points: no text of a figure is smaller."""

COLOURS = [
    to_rgb(colour)
    for colour in (
        "#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc",
        "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9",
    )
]  # fmt: skip
"""Ten colours that are told apart with any colour vision: seaborn's palette `colorblind`."""

_PLAIN: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": ".8",
    "axes.grid": True,
    "axes.labelcolor": ".15",
    "axes.linewidth": 1.25,
    "axes.prop_cycle": cycler(color=COLOURS),
    "grid.color": ".8",
    "grid.linewidth": 1.0,
    "legend.title_fontsize": 12,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "text.color": ".15",
    "xtick.bottom": False,
    "xtick.color": ".15",
    "xtick.major.size": 6,
    "xtick.major.width": 1.25,
    "xtick.minor.size": 4,
    "xtick.minor.width": 1,
    "ytick.color": ".15",
    "ytick.left": False,
    "ytick.major.size": 6,
    "ytick.major.width": 1.25,
    "ytick.minor.size": 4,
    "ytick.minor.width": 1,
}
"""What seaborn's theme `whitegrid` sets; seaborn takes as long to load as all else that draws."""

SHORT = FuncFormatter(lambda value, _: f"{value:.4g}".replace("-", "\N{MINUS SIGN}"))
"""Numbers of a narrow axis, without zeros at their end."""


def use_book_style() -> None:
    """Set fonts, colours and reproducible SVG output for the figures of a chapter."""
    mpl.rcParams.update(
        {
            **_PLAIN,
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
