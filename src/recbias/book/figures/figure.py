"""A figure of a page as one object: its rows, and everything else follows from them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Picture

from recbias.book.html import file_links

Draw = Callable[..., Picture]
"""Draws rows under a title: `draw(rows, title=...)`."""

_FORMULA = re.compile(r"\$\\?([^$]+)\$")


@dataclass(frozen=True)
class Figure:
    """What a figure shows, says and looks like.

    Attributes
    ----------
    name
        Under which a page places it: ``{glue:figure} fig_NAME``.
    rows
        All numbers that are drawn, and that are handed out as a table.
    message
        What the figure says, in one or two lines: a function of the rows, or the sentence of a
        record (:func:`recbias.book.findings.said`) where one says the same.
    shows
        What is drawn, for who cannot see it, as a sentence.
    draw
        One of the pictures of this package with its labels (`functools.partial`).
    file
        Of the files that are handed out, without suffix; of no files if empty.
    """

    name: str
    rows: pd.DataFrame
    message: str | Callable[[pd.DataFrame], str]
    shows: str
    draw: Draw
    file: str = ""

    @property
    def title(self) -> str:
        """Say what the rows say."""
        return self.message if isinstance(self.message, str) else self.message(self.rows)

    @property
    def alt(self) -> str:
        """Describe the figure to who cannot see it: what is drawn, and what it says."""
        title = " ".join(_FORMULA.sub(r"\1", self.title).split())
        return f"{self.shows} {title}." if title else self.shows

    @property
    def table(self) -> str:
        """Write the rows as CSV, one line each."""
        return self.rows.replace(r"\n", " ", regex=True).to_csv(index=False)

    def picture(self) -> Picture:
        """Draw it."""
        return self.draw(self.rows, title=self.title)

    @property
    def svg(self) -> str:
        """Write the picture as SVG, which says what the picture shows."""
        file = io.BytesIO()
        words = {"Date": None, "Creator": None, "Description": self.alt}
        # `savefig` would draw twice where a layout is asked for: once to lay out, once to write.
        FigureCanvasSVG(self.picture()).print_svg(file, metadata=words)
        return file.getvalue().decode()

    def show(self) -> None:
        """Glue the picture for its place on the page, and hand out its files."""
        from IPython.display import HTML, display
        from myst_nb import glue

        svg = self.svg
        glue(f"fig_{self.name}", _Drawn(svg, self.alt), display=False)
        if self.file:
            files = {
                f"{self.file}.csv": ("text/csv", self.table.encode()),
                f"{self.file}.svg": ("image/svg+xml", svg.encode()),
            }
            display(HTML(file_links(files)))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return _Drawn(self.svg, self.alt)._repr_mimebundle_()


@dataclass(frozen=True)
class _Drawn:
    """A picture that a notebook can show, drawn once."""

    svg: str
    alt: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": self.alt}
