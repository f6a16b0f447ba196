"""Figures that several pages share, and what all figures have in common.

Figures of one chapter are in its folder, in ``plots``.
"""

from recbias.book.figures.settings import plot_ranges, plot_readings, plot_settings
from recbias.book.figures.style import FONT_SIZE, WIDTH, downloads, use_book_style
from recbias.book.figures.trust import plot_answers, plot_calibration

__all__ = [
    "FONT_SIZE",
    "WIDTH",
    "downloads",
    "plot_answers",
    "plot_calibration",
    "plot_ranges",
    "plot_readings",
    "plot_settings",
    "use_book_style",
]
