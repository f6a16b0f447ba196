"""Figures of chapter 3: all of them can be read, and show what they were given."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from recbias.book.chapters.popularity_bias import plots
from recbias.book.figures import style
from test_figures import faults, texts

SYSTEMS = ("Popularity", "pLSA", "MF (rating prediction)", "kNN (rating prediction)", "Random")
DATA = (
    "MovieLens 1M", "MovieLens 100K", "MovieLens latest-small", "FilmTrust", "CM100k",
    "synthetic world", "Coat",
)  # fmt: skip
ALPHAS = (0.0, 0.4, 0.8, 1.2, 1.6, 2.0)
TITLE = "One line with the message of the figure,\nand a second line with its numbers"


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
    yield
    plt.close("all")


def with_ends(rows: list[tuple], columns: list[str], width: float = 0.1) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=[*columns, "value"])
    return frame.assign(low=frame["value"] * (1 - width), high=frame["value"] * (1 + width))


def skew_figure(scale: float) -> Figure:
    bars = ("real ratings", "same counts, no taste", "random ranking")
    rows = [
        (design, what, scale * (3 - place) / 3)
        for design in ("among all tested items", "1 relevant + 99 sampled")
        for place, what in enumerate(bars)
    ]
    return plots.plot_skew(with_ends(rows, ["design", "what"]), title=TITLE)


def curves(n_lines: int) -> pd.DataFrame:
    shares = np.linspace(0, 1, 101)
    found = {name: shares ** (1 / (2 + place)) for place, name in enumerate(DATA[:n_lines])}
    return pd.DataFrame({**found, "low": shares**0.8, "high": shares**0.75}, index=shares)


def exponents(n_systems: int) -> pd.DataFrame:
    rows = [
        (system, alpha, 0.01 * (1 + alpha * (n_systems - place)))
        for place, system in enumerate(SYSTEMS[:n_systems])
        for alpha in ALPHAS
    ]
    return with_ends(rows, ["system", "alpha"])


def rankings(n_rows: int) -> pd.DataFrame:
    names = ["odds of relevance", "number of positives", "Popularity", "average rating", "Random"]
    frame = with_ends(
        [(name, 0.09 / (1 + k)) for k, name in enumerate(names[:n_rows])], ["ranking"]
    )
    frame = frame.set_index("ranking")
    return frame.assign(**{"Eq. 3": frame["value"] / 2, "with odds": frame["value"] * 0.95})


def relations() -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = [
        (skew, relation, skew + relation - 0.4)
        for skew in (0.0, 0.2, 0.4, 0.6, 0.8)
        for relation in (-1.0, -0.5, 0.0, 0.5, 1.0)
    ]
    points = [("CM100k", 0.5, 0.1), ("Coat", 0.3, 0.45), ("synthetic", 0.68, 0.8)]
    return (
        pd.DataFrame(rows, columns=["skew", "relation", "value"]),
        pd.DataFrame(points, columns=["name", "skew", "relation"]),
    )


def map_figure() -> Figure:
    found, points = relations()
    labels = ("skew: Gini of the items' ratings", "relation of popularity and liking", "bias")
    return plots.plot_relations(found, points=points, labels=labels, title=TITLE)


def bounds_figure() -> Figure:
    value = np.linspace(0.008, 0.06, len(ALPHAS))
    found = pd.DataFrame({"alpha": ALPHAS, "value": value, "lower": value * 0.8})
    found = found.assign(upper=value * 1.1, closed=value * 1.4, whole=value * 1.8)
    return plots.plot_sure_bounds(
        found, x="alpha", x_label="exponent", metric="1RP@10", title=TITLE
    )


def chain_figure() -> Figure:
    groups = pd.DataFrame({"training": np.geomspace(800, 0.5, 20)})
    groups = groups.assign(positives=0.05 * groups["training"] ** 1.1)
    return plots.plot_chain(groups, title=TITLE)


def shares_figure(n_rows: int) -> Figure:
    rows = [
        (name, design, 0.2 + 0.1 * k)
        for k, name in enumerate(DATA[:n_rows])
        for design in ("all tested items", "1 relevant + 99 sampled")
    ]
    return plots.plot_skew_shares(with_ends(rows, ["data", "design"]), title=TITLE)


FIGURES = {
    "skew": lambda: skew_figure(0.08),
    "skew, small": lambda: skew_figure(0.0004),
    "curves": lambda: plots.plot_cumulative(curves(6), title=TITLE, band="TREC (as printed)"),
    "curves, no band": lambda: plots.plot_cumulative(curves(4), title=TITLE),
    "chain": chain_figure,
    "rankings": lambda: plots.plot_rankings(rankings(5), metric="P@10", title=TITLE),
    "rankings, two": lambda: plots.plot_rankings(rankings(2), metric="P@10", title=TITLE),
    "exponents": lambda: plots.plot_exponents(exponents(5), metric="1RP@10", title=TITLE),
    "bounds": bounds_figure,
    "shares": lambda: shares_figure(7),
    "shares, one": lambda: shares_figure(1),
    "map": map_figure,
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_chapter_3_can_be_read(name: str) -> None:
    assert faults(FIGURES[name]()) == []


def test_bars_have_their_numbers_and_room_for_them() -> None:
    figure = skew_figure(0.3)
    said = [text.get_text() for text in texts(figure)]
    assert [said.count(number) for number in ("0.300", "0.200", "0.100")] == [2, 2, 2]


def test_published_values_stand_beside_those_of_their_system() -> None:
    published = {("Popularity", 0.0): 0.0077, ("Random", 0.0): 0.01}
    shown = plots.plot_exponents(exponents(5), metric="1RP@10", title=TITLE, published=published)
    without = plots.plot_exponents(exponents(5), metric="1RP@10", title=TITLE)
    marks = [
        (line.get_xdata()[0], line.get_ydata()[0])
        for line in shown.axes[0].lines
        if line.get_marker() == "D" and line.get_linestyle() == "None"
    ]
    assert marks[-2:] == [(0.0, 0.0077), (0.0, 0.01)]
    assert len(shown.axes[0].lines) == len(without.axes[0].lines) + 2


def test_the_line_of_proportion_passes_through_the_totals() -> None:
    groups = pd.DataFrame({"training": [100.0, 10.0, 0.0], "positives": [30.0, 1.0, 0.0]})
    (line,) = [
        line for line in plots.plot_chain(groups, title=TITLE).axes[0].lines
        if line.get_linestyle() == "--"
    ]  # fmt: skip
    assert line.get_ydata() / line.get_xdata() == pytest.approx([31 / 110] * 2)


def test_the_map_turns_its_colours_at_zero() -> None:
    (mesh,) = map_figure().axes[0].findobj(QuadMesh)
    low, high = mesh.get_clim()
    assert low == -high
