"""The pictures that all figures share: read for few names and for many, and show their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Picture

from readable import faults, texts
from recbias.book.figures import (
    bars,
    dots,
    lines,
    matrix,
    parts,
    ranks,
    use_book_style,
)
from recbias.recommenders import bcc17_grid, line_ups

TITLE = "One line with the message of the figure,\nand a second line with its numbers"
NAMES = [system.name for system in (*line_ups.line_up("bcc17"), *bcc17_grid("knn-rating"))]


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    use_book_style()
    yield
    plt.close("all")


def planted(n_names: int, column: str, *, panels: int = 2, places: int = 1) -> pd.DataFrame:
    """Make values between 0 and 1 of so many names in each panel, at so many places."""
    rng = np.random.default_rng(1)
    rows = [
        (f"panel {panel}", name, 10.0**place, rng.random())
        for panel in range(panels)
        for name in NAMES[:n_names]
        for place in range(places)
    ]
    frame = pd.DataFrame(rows, columns=["panel", column, "at", "value"])
    return frame.assign(low=0.9 * frame["value"], high=1.1 * frame["value"])


def stacked(n_names: int) -> pd.DataFrame:
    frame = planted(n_names, "row").assign(known=0.2, unknown=0.5)
    return frame.drop(columns=["value", "low", "high"])


def words(n_names: int) -> pd.DataFrame:
    rows = [
        (f"metric {column}@10", name, (row + column) % 7 / 7, f"{row}\n1-9")
        for row, name in enumerate(NAMES[:n_names])
        for column in range(6)
    ]
    return pd.DataFrame(rows, columns=["metric", "system", "value", "text"])


PICTURES: dict[str, Callable[[int], Picture]] = {
    "bars": lambda n: bars(planted(n, "row"), title=TITLE, across="P@10", coloured=True),
    "bars with numbers": lambda n: bars(planted(n, "row", panels=1), title=TITLE, numbers=".3f"),
    "parts": lambda n: parts(
        stacked(n), title=TITLE, colours={"known": "C0", "unknown": "0.8"}, across="% of the list"
    ),
    "dots": lambda n: dots(planted(n, "row"), title=TITLE, line="panel", across="slope"),
    "dots of one row": lambda n: dots(planted(n, "line"), title=TITLE, row="panel", across="slope"),
    "lines": lambda n: lines(planted(n, "line", places=4), title=TITLE, across="kept", up="P@10"),
    "lines in logarithms": lambda n: lines(
        planted(n, "line", places=4), title=TITLE, across="kept", up="P@10", log=True, log_up=True,
        whiskers=True, marked=NAMES[:4],
    ),
    "matrix": lambda n: matrix(words(n), title=TITLE, row="system", column="metric", upright=True),
    "ranks by design": lambda n: ranks(ranked(n, ["one", "two\nlines"]), title=TITLE, x="at"),
    "ranks by size": lambda n: ranks(ranked(n, [10.0, 100.0, 999.0]), title=TITLE, x="at"),
}  # fmt: skip


def ranked(n_names: int, places: list[str] | list[float]) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    rows = [
        (name, place, rank)
        for place in places
        for name, rank in zip(NAMES[:n_names], 1 + rng.permutation(n_names), strict=True)
    ]
    return pd.DataFrame(rows, columns=["system", "at", "rank"])


@pytest.mark.parametrize("n_names", [1, pytest.param(4, marks=pytest.mark.slow), 16])
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_can_be_read(name: str, n_names: int) -> None:
    assert faults(PICTURES[name](n_names)) == []


def test_what_cannot_be_read_is_noticed() -> None:
    picture = bars(planted(3, "row", panels=4), title=TITLE)
    picture.axes[0].set_title("a title of a panel that is a good deal too wide for its place")
    assert any(fault.startswith("overlap") for fault in faults(picture))
    picture.axes[0].set_title("small", fontsize=11)
    assert "small: small" in faults(picture)
    picture.text(1.2, 0.5, "away")
    assert "outside: away" in faults(picture)


def test_bars_have_one_scale_that_shows_every_value() -> None:
    rows = planted(10, "row")
    picture = bars(rows, title="")
    assert [axis.get_xlim()[0] for axis in picture.axes] == [0, 0]
    assert len({axis.get_xlim() for axis in picture.axes}) == 1
    assert picture.axes[0].get_xlim()[1] >= rows["high"].max()
    alone = bars(rows, title="", share_x=False)
    assert len({axis.get_xlim() for axis in alone.axes}) == 2


def test_bars_have_their_numbers() -> None:
    rows = pd.DataFrame({"row": ["a", "b"], "value": [0.3, 0.1], "ceiling": [np.nan, 0.2]})
    said = [text.get_text() for text in texts(bars(rows, title="", numbers=".3f"))]
    assert {"0.300", "0.100", " at most 0.2"} <= set(said)
    assert not any("at most" in text for text in said if "0.2" not in text)


def test_parts_add_up_or_stand_before_each_other() -> None:
    rows = pd.DataFrame({"row": ["a"], "known": [0.2], "unknown": [0.5]})
    colours = {"known": "C0", "unknown": "0.8"}
    drawn = [parts(rows, title="", colours=colours, stacked=how).axes[0] for how in (True, False)]
    ends = [[bar.get_x() + bar.get_width() for bar in axis.patches] for axis in drawn]
    assert ends[0] == pytest.approx([0.2, 0.7])
    assert ends[1] == pytest.approx([0.2, 0.5])


def test_lines_are_drawn_where_they_were_measured_and_predicted() -> None:
    rows = planted(3, "line", panels=1, places=4).assign(predicted=0.5, published=np.nan)
    rows.loc[0, "published"] = 0.25
    picture = lines(rows, title="", joined=False)
    drawn = [line.get_ydata() for line in picture.axes[0].lines]
    values = [own["value"].tolist() for _, own in rows.groupby("line", sort=False)]
    assert [list(each) for each in drawn if list(each) in values] == values
    assert sum(list(each) == [0.5] * 4 for each in drawn) == 3
    diamonds = [
        line
        for line in picture.axes[0].lines
        if line.get_marker() == "D" and line.get_markersize() == 10
    ]
    assert diamonds[0].get_ydata()[0] == 0.25


def test_lines_that_are_not_marked_are_grey_and_even_places_are_ranks() -> None:
    rows = planted(3, "line", panels=1, places=3)
    picture = lines(rows, title="", marked=NAMES[:1], even=True)
    colours = [line.get_color() for line in picture.axes[0].lines]
    assert colours.count("0.72") == 2
    assert list(picture.axes[0].lines[0].get_xdata()) == [0, 1, 2]
    assert [each.get_text() for each in picture.axes[0].get_xticklabels()] == ["1", "10", "100"]


def test_ranks_that_move_most_stand_out() -> None:
    rows = ranked(6, ["one", "two", "three"])
    (axis,) = ranks(rows, title="", x="at", n_marked=2).axes
    wide = rows.pivot_table(index="system", columns="at", values="rank")
    moves = wide.max(axis=1) - wide.min(axis=1)
    bold = [each.get_text() for each in axis.get_yticklabels() if each.get_fontweight() == "bold"]
    assert len(bold) == 2
    assert moves[bold].min() >= moves.drop(bold).max()
    still = rows[rows["at"] == "one"]
    (axis,) = ranks(pd.concat([still, still.assign(at="the same")]), title="", x="at").axes
    assert {each.get_fontweight() for each in axis.get_yticklabels()} == {"normal"}


def test_cells_have_their_words_in_their_places() -> None:
    rows = words(3)
    picture = matrix(rows, title="", row="system", column="metric")
    at = {tuple(text.get_position()): text.get_text() for text in picture.axes[0].texts}
    for row in rows.to_dict("records"):
        place = int(row["metric"][7]), NAMES.index(row["system"])
        assert at[place] == row["text"]
