"""Figures: nothing below 12 points, no label on another, for few systems and for many."""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from recbias import Grid, Results, line_up
from recbias.book.chapters.design_alternatives import plots
from recbias.book.chapters.design_alternatives.panels import four_designs
from recbias.book.figures import style
from recbias.recommenders import bcc17_grid

LABELS = {
    "AR": "TI-AN-AR rel>=4",
    "AI": "AI-AN-AR rel>=4",
    "NN": "TI-NN-AR N=1000 rel>=4",
    "1R": "TI-NN-1R t=100 rel>=4",
    "R_test": "TI-AN-AR rel>=4 condensed",
}
COMPARED = four_designs(100, 1000)
PANELS = {design.title: (design.label, "P@10") for design in COMPARED}
NAMES = {design.name: (design.label, "P@10") for design in COMPARED}


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
    yield
    plt.close("all")


def made(n_systems: int, *, long: bool = False, scale: float = 0.3) -> Results:
    """Make results of so many systems, in another order under each label."""
    many = (*line_up("bcc17"), *bcc17_grid("mf-ranking"))
    systems = bcc17_grid("knn-rating")[:n_systems] if long else many[:n_systems]
    rng = np.random.default_rng(1)
    rows = []
    for system in systems:
        for label in LABELS:
            value = (min(scale, 0.09) if label == "1R" else scale) * rng.random()
            ends = {"low": value - 0.01, "high": value + 0.01, "se": 0.005}
            rows.append({"system": system.name, "label": label, "metric": "P@10", "value": value})
            rows[-1] |= ends
    grid = Grid("synthetic", systems, LABELS, dict.fromkeys(LABELS, ("P@10",)))
    return Results(
        key="0",
        dataset={"name": "x"},
        grid=grid,
        values=pd.DataFrame(rows),
        replicates={},
        tests=pd.DataFrame(),
        target_sets=pd.DataFrame(),
    )


def texts(figure: Figure) -> list[Text]:
    """Draw a figure and list the texts that are seen."""
    FigureCanvasAgg(figure).draw()
    hidden = set()  # ticks beyond the limits of their axis, and all of an axis that is off
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not axes.axison or not low <= tick.get_loc() <= high:
                    hidden |= {id(tick.label1), id(tick.label2)}
    return [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]


def faults(figure: Figure) -> list[str]:
    """List texts that are too small, outside the picture, or on top of each other."""
    found = texts(figure)
    boxes = {id(text): text.get_window_extent() for text in found}
    width, height = figure.canvas.get_width_height()
    said = [f"small: {text.get_text()}" for text in found if text.get_fontsize() < 12]
    for text in found:
        box = boxes[id(text)]
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1:
            said.append(f"outside: {text.get_text()}")
    for one, other in combinations(found, 2):
        a, b = boxes[id(one)], boxes[id(other)]
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > 1 and down > 2:
            said.append(f"overlap: {one.get_text()!r} and {other.get_text()!r}")
    return said


def values_figure(results: Results) -> Figure:
    return plots.plot_values(
        results, PANELS, beside={COMPARED[0].title: ("AI", "P@10")},
        ceilings={COMPARED[2].title: 0.1}, title="One metric, 4 designs",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("n_systems", "long", "scale"),
    [(3, False, 0.04), (10, False, 0.3), (3, True, 0.9), (16, True, 0.3), (4, False, 0.15)],
)
def test_figures_of_all_systems_can_be_read(n_systems, long, scale):
    results = made(n_systems, long=long, scale=scale)
    assert faults(values_figure(results)) == []
    assert faults(plots.plot_ranks(results, PANELS, title="Ranks\nfrom design to design")) == []
    name = results.systems[0]
    figure = plots.plot_designs(results, NAMES, system=name, ceilings={COMPARED[2].name: 0.1})
    assert faults(figure) == []


def test_a_figure_of_definitions_can_be_read():
    assert faults(plots.plot_target_sets()) == []


def test_what_cannot_be_read_is_noticed():
    figure = values_figure(made(3))
    figure.axes[0].set_title("a title of a panel that is a good deal too wide for its place")
    assert any(fault.startswith("overlap") for fault in faults(figure))
    figure.axes[0].set_title("small", fontsize=11)
    assert "small: small" in faults(figure)
    figure.text(1.2, 0.5, "away")
    assert "outside: away" in faults(figure)


def test_all_panels_have_one_scale_that_shows_every_value():
    results = made(10)
    figure = values_figure(results)
    limits = {axis.get_xlim() for axis in figure.axes}
    assert len(limits) == 1
    (low, high), largest = limits.pop(), results.values["high"].max()
    assert low == 0
    assert high >= largest
    alone = plots.plot_values(results, {"AR": PANELS[COMPARED[0].title]})
    assert alone.axes[0].get_xlim() != (low, high)  # the scale follows what is shown


def test_systems_come_in_the_order_of_the_first_panel_unless_it_is_given():
    results = made(10)
    values = results.table("AR", "P@10")["value"].sort_values(ascending=False)

    def shown(figure: Figure) -> list[str]:
        return [label.get_text() for label in figure.axes[0].get_yticklabels()]

    assert shown(values_figure(results)) == list(values.index)
    given = plots.plot_values(results, PANELS, systems=results.systems)
    assert shown(given) == results.systems != list(values.index)


@pytest.mark.parametrize("scale", [0.3, 0.02])
def test_the_ceiling_is_drawn_in_its_panel_and_seen(scale):
    figure = values_figure(made(4, scale=scale))
    lines = [
        [line.get_xdata()[0] for line in axis.lines if line.get_linestyle() == "--"]
        for axis in figure.axes
    ]
    assert lines == [[], [], [0.1], []]
    assert figure.axes[2].get_xlim()[1] >= 0.1


def test_ranks_follow_values_and_those_that_move_stand_out():
    results = made(6)
    values = results.values.pivot_table(index="system", columns="label", values="value")
    expected = values.rank(ascending=False)[["AR", "NN", "1R", "R_test"]].sort_values("AR")
    figure = plots.plot_ranks(results, PANELS, n_marked=2)
    (axis,) = figure.axes
    assert [list(line.get_ydata()) for line in axis.lines] == expected.to_numpy().tolist()
    moves = expected.max(axis=1) - expected.min(axis=1)
    bold = {each.get_text() for each in axis.get_yticklabels() if each.get_fontweight() == "bold"}
    assert len(bold) == 2
    assert moves[list(bold)].min() >= moves.drop(list(bold)).max()


def test_systems_that_stay_do_not_stand_out():
    results = made(6)
    panels = {"one": ("AR", "P@10"), "the same": ("AR", "P@10")}
    (axis,) = plots.plot_ranks(results, panels).axes
    assert {each.get_fontweight() for each in axis.get_yticklabels()} == {"normal"}


def test_the_bars_of_one_system_have_their_numbers():
    results = made(3)
    name = results.systems[1]
    figure = plots.plot_designs(results, NAMES, system=name, ceilings={COMPARED[2].name: 0.1})
    said = [text.get_text() for text in texts(figure)]
    for label, metric in NAMES.values():
        assert f"{results[name, label, metric].value:.3f}" in said
    assert "at most 0.1" in said
    assert not any("at most" in text.get_text() for text in texts(
        plots.plot_designs(results, NAMES, system=name)
    ))  # fmt: skip
