"""Figures of hits and misses: all of them can be read, and show what they were given."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from readable import faults, texts
from recbias import line_up
from recbias.book.chapters.true_vs_false_positive_disagreement import plots
from recbias.book.chapters.true_vs_false_positive_disagreement.plots import placed_labels
from recbias.book.figures import style

SYSTEMS = [system.name for system in line_up("mccrs20")]
BASELINES = ("Popularity", "Average rating", "Random")
TITLE = "One line with the message of the figure,\nand a second line with its numbers"
PANELS = ("rated items only\n$\\tau$ = -1.00", "all items\n$\\tau$ = 0.55 (0.43 to 0.68)")


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
    yield
    plt.close("all")


def systems(
    n_systems: int, panels: tuple[str, ...] = PANELS, *, close: float = 1.0
) -> pd.DataFrame:
    """Place systems by two metrics; the smaller `close`, the more they crowd."""
    rng = np.random.default_rng(1)
    rows = []
    for panel in panels:
        for name in SYSTEMS[:n_systems]:
            x, y = 0.03 + 0.03 * close * rng.random(), 0.2 + 0.2 * close * rng.random()
            kind = "for everybody" if name in BASELINES else "trained"
            rows.append((panel, name, kind, x, 0.97 * x, 1.03 * x, y, 0.97 * y, 1.03 * y))
    of = [f"{axis}{end}" for axis in "xy" for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["panel", "system", "kind", *of])


def scatter(found: pd.DataFrame, **options: object) -> Figure:
    axes = dict.fromkeys(found["panel"].unique(), ("misses: antiP@10", "hits: P@10"))
    return plots.plot_two_metrics(found, axes=axes, title=TITLE, **options)


def with_published(found: pd.DataFrame) -> pd.DataFrame:
    return found.assign(x_published=1.05 * found["x"], y_published=0.96 * found["y"])


def groups() -> pd.DataFrame:
    """Make items in groups, as the tables of the chapter have them."""
    x = np.linspace(0, 1, 101)
    curves = {
        "p(train)": 0.4 * (1 - x) ** 6,
        "p(rel|train)": 1 - 0.8 * x,
        "p(not rel|train)": 1 - x,
    }
    found = [
        pd.DataFrame({"panel": f"sorted {name}", "x": x, "low": y, "middle": y, "high": y})
        for name, y in curves.items()
    ]
    x = np.linspace(0.01, 0.99, 40)
    for panel, slope in {
        "place by f_antiP over place by f_P": -1,
        **dict(zip(CORRELATED, (1, 1, -1, -1), strict=True)),
    }.items():
        y = slope * x + (slope < 0)
        found.append(
            pd.DataFrame({"panel": panel, "x": x, "low": 0.9 * y, "middle": y, "high": 1.1 * y})
        )
    return pd.concat(found)


CORRELATED = {
    "f_P over p(train)": 0.98,
    "f_P over p(rel|train)": 0.41,
    "f_antiP over p(train)": -0.83,
    "f_antiP over p(rel|train)": 0.12,
}
SKEWS = (0.0, 0.2, 0.4, 0.6, 0.8)
LINES = ("popular items are liked more", "no relation", "popular items are liked less")


def over_skew() -> pd.DataFrame:
    rows = [(line, skew, skew + place / 10) for place, line in enumerate(LINES) for skew in SKEWS]
    found = pd.DataFrame(rows, columns=["line", "skew", "value"])
    return found.assign(low=found["value"] - 0.04, high=found["value"] + 0.04)


def maps(n_panels: int) -> pd.DataFrame:
    rows = [
        (f"map {panel}", skew, relation, relation * (panel - 1))
        for panel in range(n_panels)
        for skew in SKEWS
        for relation in (-0.9, -0.3, 0.0, 0.3, 0.9)
        if skew or not relation
    ]
    return pd.DataFrame(rows, columns=["panel", "skew", "relation", "value"])


PLACES = pd.DataFrame(
    [("CM100k", 0.52, 0.24, 0.24), ("MovieLens latest-small", 0.7, -0.2, 0.8)],
    columns=["name", "skew", "low", "high"],
)
WORLDS = ("skew of popularity", "relation to liking")


FIGURES = {
    "16 systems": lambda: scatter(systems(16)),
    "16 that crowd": lambda: scatter(systems(16, close=0.1)),
    "16 in four panels": lambda: scatter(
        with_published(systems(16, tuple(f"{panel} {n}" for n in "ab" for panel in PANELS)))
    ),
    "3 systems": lambda: scatter(systems(3)),
    "one panel": lambda: scatter(systems(16, PANELS[:1])),
    "item curves": lambda: plots.plot_item_curves(groups(), title=TITLE),
    "item functions": lambda: plots.plot_item_functions(groups(), CORRELATED, title=TITLE),
    "over skew": lambda: plots.plot_over_skew(over_skew(), labels=WORLDS, level=0.5, title=TITLE),
    "four maps": lambda: plots.plot_tau_maps(maps(4), places=PLACES, labels=WORLDS, title=TITLE),
    "maps, no data": lambda: plots.plot_tau_maps(
        maps(2), places=PLACES[:0], labels=WORLDS, title=TITLE
    ),
    "some named": lambda: scatter(systems(16), names=[*BASELINES, "WRMF", "SLIM"]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_hits_and_misses_can_be_read(name: str) -> None:
    assert faults(FIGURES[name]()) == []


def test_systems_are_numbered_in_the_order_in_which_they_come_and_the_key_says_so() -> None:
    found = systems(5).iloc[::-1]
    said = [text.get_text() for text in texts(scatter(found))]
    order = list(dict.fromkeys(found["system"]))
    assert [f"{n}  {name}" for n, name in enumerate(order, 1)] == [w for w in said if "  " in w]
    assert [said.count(str(number)) for number in range(1, 6)] == [2] * 5


def test_only_systems_that_are_asked_for_are_named() -> None:
    said = [text.get_text() for text in texts(scatter(systems(16), names=["WRMF"]))]
    assert said.count("WRMF") == 2
    assert "SLIM" not in said
    assert "the same for everybody" in said


def test_published_values_stand_beside_ours_joined_with_them() -> None:
    found = with_published(systems(4, PANELS[:1]))
    found.loc[0, "x_published"] = np.nan
    axis = scatter(found).axes[0]
    (diamonds,) = (line for line in axis.lines if line.get_marker() == "D")
    assert np.allclose(diamonds.get_xydata()[1:], found[["x_published", "y_published"]][1:])
    joined = [line.get_xydata() for line in axis.lines if line.get_color() == "0.45"]
    assert np.allclose(
        joined, found[["x_published", "y_published", "x", "y"]][1:].to_numpy().reshape(3, 2, 2)
    )
    assert not any(line.get_marker() == "D" for line in scatter(systems(4)).axes[0].lines)


def test_labels_of_points_that_coincide_are_apart_and_inside() -> None:
    points, sizes = np.full((9, 2), 40.0), np.tile([20.0, 12.0], (9, 1))
    inside = Bbox([[0, 0], [160, 160]])
    places = placed_labels(points, sizes, points, inside)
    assert covered(places, sizes) == 0
    assert (places - sizes / 2 >= 0).all()
    assert (places + sizes / 2 <= 160).all()
    assert covered(points, sizes) == 36  # what the count is there to notice


def covered(places: np.ndarray, sizes: np.ndarray) -> int:
    apart = np.abs(places[:, None] - places[None]) - (sizes[:, None] + sizes[None]) / 2
    return int(np.triu((apart < 0).all(axis=2), 1).sum())


def test_curves_are_compared_by_their_shapes() -> None:
    left, right = plots.plot_item_curves(groups(), title=TITLE).axes
    assert [line.get_ydata().max() for line in left.lines] == [1, 1, 1]
    assert right.lines[1].get_ydata()[0] > right.lines[1].get_ydata()[-1]


def test_panels_of_items_say_their_correlation() -> None:
    figure = plots.plot_item_functions(groups(), CORRELATED, title=TITLE)
    assert [axis.get_title() for axis in figure.axes] == [
        "r = 0.98",
        "r = 0.41",
        "r = -0.83",
        "r = 0.12",
    ]


def test_a_level_is_drawn_behind_the_lines() -> None:
    (axis,) = plots.plot_over_skew(over_skew(), labels=WORLDS, level=0.5, title=TITLE).axes
    assert set(axis.lines[0].get_ydata()) == {0.5}


def test_data_sets_on_maps_are_points_where_the_relation_is_known_and_bars_elsewhere() -> None:
    figure = plots.plot_tau_maps(maps(4), places=PLACES, labels=WORLDS, title=TITLE)
    for axis in figure.axes[:4]:
        assert [text.get_text() for text in axis.texts] == ["1", "2"]
        assert [list(line.get_ydata()) for line in axis.lines] == [[-0.2, 0.8]]
    said = [text.get_text() for text in texts(figure)]
    assert "1  CM100k" in said
    assert "2  MovieLens latest-small" in said
