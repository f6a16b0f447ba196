"""Figures of chapter 7: all of them can be read, and show what they were given."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from readable import faults, texts
from recbias.book.chapters.offline_option_taxonomy import plots
from recbias.book.chapters.offline_option_taxonomy.figures import LOOKS
from recbias.book.figures import style

TITLE = "One line with the message of the figure,\nand a second line with its numbers"
PANELS = ("MF as printed", "MF as in RankSys")
ROWS = (
    ("start", "the start: nDCG@10"), ("A2", "A2 train on 20 %"), ("A2", "A2 train on 80 %"),
    ("B1", "B1 everybody counts"), ("C2", "C2 liked from one lower"), ("C2", "C2 graded gain"),
    ("C3", "C3 weighted: ratings"), ("C4", "C4 refusing kNN: reduced"),
)  # fmt: skip
WINNERS = ("kNN ahead", "MF ahead")


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
    yield
    plt.close("all")


def configurations(n_panels: int, n_rows: int, scale: float = 0.1) -> pd.DataFrame:
    rng = np.random.default_rng(n_rows)
    rows = []
    for panel in PANELS[:n_panels]:
        for number in range(n_rows):
            group, row = ROWS[number % len(ROWS)]
            value = scale * rng.normal()
            row = row if number < len(ROWS) else f"{group} option {number}"
            rows.append((panel, group, row, value, value - scale / 2, value + scale / 2))
    return pd.DataFrame(rows, columns=["panel", "group", "row", "value", "low", "high"])


@pytest.mark.parametrize("shape", [(2, 8, 0.1), (2, 27, 0.002), (1, 3, 0.5), (2, 1, 0.1)])
def test_configurations_can_be_read(shape):
    figure = plots.plot_configurations(
        configurations(*shape), winners=WINNERS, across="kNN − MF", title=TITLE
    )
    assert faults(figure) == []


def test_who_wins_is_told_by_the_interval():
    found = pd.DataFrame(
        [
            ("MF as printed", "C1", "sure", 0.2, 0.1, 0.3),
            ("MF as printed", "C1", "lost", -0.2, -0.3, -0.1),
            ("MF as printed", "C2", "touches", 0.2, 0.0, 0.3),
            ("MF as printed", "C2", "open", -0.1, -0.3, 0.1),
        ],
        columns=["panel", "group", "row", "value", "low", "high"],
    )
    figure = plots.plot_configurations(found, winners=WINNERS, across="x", title=TITLE)
    (axis,) = figure.axes
    marked = {
        container.lines[0].get_marker(): list(container.lines[0].get_xdata())
        for container in axis.containers
    }
    assert marked == {"o": [0.2], "s": [-0.2], "D": [0.2, -0.1]}
    assert {"kNN ahead", "MF ahead", "open"} <= {text.get_text() for text in texts(figure)}
    parted = [line.get_ydata()[0] for line in axis.lines if line.get_color() == "0.75"]
    assert parted == [1.5]


def test_a_row_that_a_panel_does_not_have_stays_empty():
    found = configurations(2, 4)
    found = found.drop(index=found.index[-1])
    figure = plots.plot_configurations(found, winners=WINNERS, across="x", title=TITLE)
    assert faults(figure) == []
    seen = [sum(len(each.lines[0].get_xdata()) for each in axis.containers) for axis in figure.axes]
    assert seen == [4, 3]


def courses(n_panels: int, n_lines: int, n_runs: int) -> pd.DataFrame:
    names = ("kNN", "MF (as printed)", "MF (as in RankSys)", "last, by mean rating", "left out")
    rows = [
        (("full lists", "condensed lists")[panel], names[line], at, value, value - 0.02,
         value + 0.02, run)
        for panel in range(n_panels)
        for run in range(1, n_runs + 1)
        for line in range(n_lines)
        for at in (10, 30, 50, 70, 90)
        for value in [0.1 * line + 0.001 * at + 0.003 * run]
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["panel", "line", "at", "value", "low", "high", "run"])


@pytest.mark.parametrize("shape", [(2, 3, 10), (2, 5, 1), (1, 3, 1), (1, 1, 2)])
@pytest.mark.parametrize("log", [False, True])
def test_lines_over_an_option_can_be_read(shape, log):
    found = courses(*shape)
    figure = plots.plot_option_lines(
        found, across="least number of common items", up="unrated of the first ten, %",
        log=log, ticks=(10, 30, 90) if log else None, levels={"full lists": 0.2}, title=TITLE,
    )  # fmt: skip
    assert faults(figure) == []
    bare = found.drop(columns="run")[found["run"] == 1].assign(low=np.nan, high=np.nan)
    assert faults(plots.plot_option_lines(bare, across="x", up="y", title=TITLE)) == []


def test_lines_show_their_values_and_other_runs_are_thin():
    found = courses(2, 3, 3)
    figure = plots.plot_option_lines(found, across="x", up="y", title=TITLE)
    for axis, panel in zip(figure.axes, ("full lists", "condensed lists"), strict=True):
        assert axis.get_title() == panel
        thick = {line.get_label(): line for line in axis.lines if line.get_linewidth() == 2}
        assert list(thick) == ["kNN", "MF (as printed)", "MF (as in RankSys)"]
        np.testing.assert_allclose(thick["kNN"].get_ydata(), [0.013, 0.033, 0.053, 0.073, 0.093])
        thin = [line for line in axis.lines if line.get_linewidth() < 1]
        assert len(thin) == 6
        assert {line.get_color() for line in thin} == {each.get_color() for each in thick.values()}
        looks = {
            (line.get_color(), line.get_linestyle(), line.get_marker()) for line in thick.values()
        }
        assert len(looks) == 3


def looks_of(figure):
    return {
        line.get_label(): (line.get_color(), line.get_linestyle(), line.get_marker())
        for line in figure.axes[0].lines
        if line.get_linewidth() == 2
    }


def test_a_line_looks_the_same_in_figures_that_share_looks():
    found, words = courses(1, 5, 1), {"across": "x", "up": "y", "title": TITLE}
    every = plots.plot_option_lines(found, **words, looks=LOOKS)
    turned = found.iloc[::-1]
    other = plots.plot_option_lines(turned, **words, looks=LOOKS)
    for line in ("kNN", "MF (as printed)", "MF (as in RankSys)"):
        assert looks_of(every)[line] == looks_of(other)[line]
    colours, strokes, marks = (set(part) for part in zip(*looks_of(other).values(), strict=True))
    assert len(colours) == len(marks) == 5
    assert len(strokes) == 4  # a stroke of one's own making is called "--" as well
    # Those without a look take the first that are free, in their order.
    assert looks_of(other)["left out"] == looks_of(every)["last, by mean rating"]
    assert looks_of(other)["last, by mean rating"] == looks_of(every)["left out"]
    plain = plots.plot_option_lines(turned, **words)  # the twin
    assert looks_of(plain)["kNN"] != looks_of(every)["kNN"]


def test_lines_of_one_system_look_the_same_and_of_others_do_not():
    by_look = {}
    for line, number in LOOKS.items():
        by_look.setdefault(number, set()).add(line)
    assert by_look == {
        0: {"kNN", "kNN, full average"},
        1: {"MF (as printed)", "kNN − MF (as printed)"},
        2: {"MF (as in RankSys)", "kNN − MF (as in RankSys)"},
        3: {"kNN, reduced average"},
    }


def test_a_line_that_only_the_second_panel_has_is_named():
    found = courses(2, 3, 1)
    found = found[(found["panel"] != "full lists") | (found["line"] != "MF (as printed)")]
    figure = plots.plot_option_lines(found, across="x", up="y", title=TITLE)
    assert "MF (as printed)" in {text.get_text() for text in texts(figure)}
    assert faults(figure) == []


def significance(n_panels: int, n_rows: int, n_seeds: int) -> pd.DataFrame:
    rng = np.random.default_rng(n_rows)
    rows = [
        (panel, f"condensed: RBP({row / 100:g},exp)", seed, rng.integers(-1, 2))
        for panel in PANELS[:n_panels]
        for row in range(n_rows)
        for seed in range(1, n_seeds + 1)
    ]
    return pd.DataFrame(rows, columns=["panel", "row", "at", "sign"])


@pytest.mark.parametrize("shape", [(2, 24, 10), (2, 24, 1), (1, 3, 10), (2, 1, 4)])
def test_maps_of_significance_can_be_read(shape):
    figure = plots.plot_significance(
        significance(*shape), winners=WINNERS, across="seed of the split", title=TITLE
    )
    assert faults(figure) == []


def test_each_comparison_has_the_mark_of_its_sign():
    found = pd.DataFrame(
        [("MF", "a", 1, 1), ("MF", "a", 2, -1), ("MF", "b", 1, 0), ("MF", "b", 2, 1)],
        columns=["panel", "row", "at", "sign"],
    )
    figure = plots.plot_significance(found, winners=WINNERS, across="x", title=TITLE)
    places = {each.get_label(): each.get_offsets().tolist() for each in figure.axes[0].collections}
    assert places == {
        "kNN ahead": [[0, 0], [1, 1]], "MF ahead": [[1, 0]], "not significant": [[0, 1]]
    }  # fmt: skip


def reversals(n_rows: int) -> pd.DataFrame:
    rows = [(*ROWS[n % len(ROWS)], 2.0 * n, 5.0 * n) for n in range(n_rows)]
    return pd.DataFrame(rows, columns=["group", "row", "value", "raw"])


@pytest.mark.parametrize("n_rows", [1, 8, 25])
@pytest.mark.parametrize("noise", [None, 4.0])
def test_bars_of_reversals_can_be_read(n_rows, noise):
    found = reversals(n_rows)
    figure = plots.plot_reversals(found, across="% of 91 pairs", title=TITLE, noise=noise)
    assert faults(figure) == []
    (axis,) = figure.axes
    raw, both = axis.containers
    assert [bar.get_width() for bar in raw] == found["raw"].tolist()
    assert [bar.get_width() for bar in both] == found["value"].tolist()
    dashed = [line.get_xdata()[0] for line in axis.lines if line.get_linestyle() == "--"]
    assert dashed == ([] if noise is None else [noise])


def test_an_option_with_nothing_to_act_on_is_told():
    found = reversals(4)
    found.loc[2, ["value", "raw"]] = np.nan
    figure = plots.plot_reversals(found, across="% of 91 pairs", title=TITLE)
    assert faults(figure) == []
    assert [text.get_text() for text in figure.axes[0].texts] == ["no effect here"]
