"""Points with labels: they can be read, and show what they were given."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from readable import faults, texts
from recbias import line_up
from recbias.book.figures import scatter, use_book_style
from recbias.book.figures.scatter import placed_labels

SYSTEMS = [system.name for system in line_up("mccrs20")]
BASELINES = ("Popularity", "Average rating", "Random")
NAMED = (*BASELINES, "WRMF")
TITLE = "One line with the message of the figure,\nand a second line with its numbers"
PANELS = ("rated items only", "all items")


@pytest.fixture(autouse=True)
def _style():
    use_book_style()
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


def drawn(found: pd.DataFrame, **options: Any) -> Figure:
    labels = {"x_label": "misses: antiP@10", "y_label": "hits: P@10"}
    taus = {"tau": 0.55, "tau_low": 0.43, "tau_high": 0.68}
    return scatter(found.assign(**labels, **taus), title=TITLE, **{"named": NAMED} | options)


def with_published(found: pd.DataFrame) -> pd.DataFrame:
    return found.assign(x_published=1.05 * found["x"], y_published=0.96 * found["y"])


FIGURES = {
    "16 systems": lambda: drawn(systems(16)),
    "16 that crowd": lambda: drawn(systems(16, close=0.1)),
    "16 in four panels": lambda: drawn(
        with_published(systems(16, tuple(f"{panel} {n}" for n in "ab" for panel in PANELS)))
    ),
    "3 systems": lambda: drawn(systems(3)),
    "one panel": lambda: drawn(systems(16, PANELS[:1])),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_hits_and_misses_can_be_read(name: str) -> None:
    assert faults(FIGURES[name]()) == []


def test_only_systems_that_are_asked_for_are_named() -> None:
    said = [text.get_text() for text in texts(drawn(systems(16), named=["WRMF"]))]
    assert said.count("WRMF") == 2
    assert "SLIM" not in said
    assert "the same for everybody" in said


def test_published_values_stand_beside_ours_joined_with_them() -> None:
    found = with_published(systems(4, PANELS[:1]))
    found.loc[0, "x_published"] = np.nan
    axis = drawn(found).axes[0]
    (diamonds,) = (line for line in axis.lines if line.get_marker() == "D")
    assert np.allclose(diamonds.get_xydata()[1:], found[["x_published", "y_published"]][1:])
    joined = [line.get_xydata() for line in axis.lines if line.get_color() == "0.45"]
    assert np.allclose(
        joined, found[["x_published", "y_published", "x", "y"]][1:].to_numpy().reshape(3, 2, 2)
    )
    assert not any(line.get_marker() == "D" for line in drawn(systems(4)).axes[0].lines)


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
