"""Figures about which metric to trust: they can be read, and show what they were given."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from readable import faults, texts
from recbias.book.figures import style, trust

TITLE = "One line with the message of the figure,\nand a second line with its numbers"


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
    yield
    plt.close("all")


def statements() -> pd.DataFrame:
    shares = np.array([0.02, 0.3, 0.5, 0.7, 0.88, 0.99])
    came = shares**1.1
    return pd.DataFrame(
        {"n": 50, "share": shares, "came": came, "low": came * 0.9, "high": 0.1 + came * 0.9}
    )


def worlds(n_kinds: int) -> pd.DataFrame:
    relation = -1 + 0.02 * (np.arange(100) + 0.5)  # ten in every bar
    answers = ("antiP", "cannot tell", "P", "either")[:n_kinds]
    answer = np.array(answers)[np.arange(100) * n_kinds // 100]
    right = np.where(np.arange(100) % 10 == 0, "P", answer)
    right = np.where(right == "cannot tell", "either", right)
    return pd.DataFrame({"relation": relation, "answer": answer, "right": right})


def test_calibration_can_be_read_and_shows_what_it_was_given() -> None:
    found = statements()
    figure = trust.plot_calibration(found, level=0.95, title=TITLE)
    assert faults(figure) == []
    (axis,) = figure.axes
    drawn = axis.lines[1].get_xydata()
    assert np.allclose(drawn, found[["share", "came"]])
    assert "named" in [text.get_text() for text in texts(figure)]


@pytest.mark.parametrize("n_kinds", [1, 2, 4])
def test_answers_can_be_read_and_show_what_they_were_given(n_kinds: int) -> None:
    rows = worlds(n_kinds)
    figure = trust.plot_answers(rows, title=TITLE)
    assert faults(figure) == []
    (axis,) = figure.axes
    heights = {
        bars.get_label(): sum(bar.get_height() for bar in bars) for bars in axis.containers
    }  # fmt: skip
    # Ten worlds stand in every bar, so that heights are tenths of worlds.
    named = rows[rows["answer"] != "cannot tell"]
    wrong = (named["answer"] != named["right"]).sum() / 10
    assert heights.get("a wrong answer", 0) == pytest.approx(wrong)
    assert sum(heights.values()) == pytest.approx(10)
    assert ("cannot tell" in heights) == (n_kinds > 1)
