"""What a figure is, and the pictures that all chapters share.

A :class:`Figure` is defined once, in ``figures`` of its chapter: its rows, the message in its
title, words for who cannot see it, and one of the pictures here with its labels. Pictures read
columns of the rows by their names: ``panel`` parts the figure, ``line`` or ``row`` names what is
compared, ``value`` with ``low`` and ``high`` says what there is of it.
"""

from recbias.book.figures.bars import bars, parts
from recbias.book.figures.dots import differences, dots
from recbias.book.figures.figure import Figure
from recbias.book.figures.lines import lines
from recbias.book.figures.maps import matrix
from recbias.book.figures.ranks import ranks
from recbias.book.figures.scatter import scatter
from recbias.book.figures.style import FONT_SIZE, NARROW, WIDTH, use_book_style

__all__ = [
    "FONT_SIZE",
    "NARROW",
    "WIDTH",
    "Figure",
    "bars",
    "differences",
    "dots",
    "lines",
    "matrix",
    "parts",
    "ranks",
    "scatter",
    "use_book_style",
]
