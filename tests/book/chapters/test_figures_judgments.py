"""Figures about how many judgments are enough can be read, with one line or several, or none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from recbias.book.chapters.true_vs_false_positive_disagreement import plots
from recbias.book.figures import style

COLUMNS = ["panel", "line", "at", "value", "low", "high", "least", "most"]


def courses(lines: int, *, bounded: bool) -> pd.DataFrame:
    at = np.array([1, 3, 10, 40, 100])
    rows = []
    for panel in ("P@10", "antiP@10"):
        for line in range(lines):
            value = 1 - 0.5 / np.sqrt(at) - 0.05 * line
            bounds = np.where(at < 40, value - 0.05, np.nan) if bounded else np.nan
            own = {"panel": panel, "line": f"data {line}", "at": at, "value": value}
            own |= {"low": value - 0.1, "high": value + 0.1, "least": bounds, "most": bounds}
            rows.append(pd.DataFrame(own))
    return pd.concat(rows)[COLUMNS]


@pytest.mark.parametrize(("lines", "bounded"), [(1, True), (2, True), (3, False)])
def test_a_legend_names_every_line_and_the_bounds(lines, bounded):
    found = courses(lines, bounded=bounded)
    figure = plots.plot_judgments(found, label="tau", title="A title", target=0.9)
    (legend,) = figure.legends
    names = [each.get_text() for each in legend.get_texts()]
    bounds = ["bounds without a model"] if bounded else []
    assert names == [*dict.fromkeys(found["line"]), *bounds]
    texts = [each for each in figure.findobj(Text) if each.get_text().strip()]
    assert min(each.get_fontsize() for each in texts) >= style.FONT_SIZE
    assert [axis.get_title() for axis in figure.axes] == ["P@10", "antiP@10"]


def test_nothing_to_draw_is_an_empty_panel():
    figure = plots.plot_judgments(pd.DataFrame(columns=COLUMNS), label="tau", title="None")
    assert len(figure.axes) == 1


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
