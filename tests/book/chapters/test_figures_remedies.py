"""Figures of chapter 4: all of them can be read, and show what they were given."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from readable import faults, texts
from recbias.book.chapters.overcoming_popularity_bias import plots
from recbias.book.figures import style

SYSTEMS = (
    "pLSA", "Popularity", "MF (ranking)", "kNN (ranking)", "MF (rating prediction)",
    "kNN (rating prediction)", "Positive count", "Average rating", "EASE", "Random",
)  # fmt: skip
PROTOCOLS = (
    "one relevant item (1R)", "1R without the head", "uniform test, one relevant item (U1R)",
    "percentiles (P1R)", "all relevant items (AR)", "uniform test, all relevant items (UAR)",
    "bpref", "infAP", "stratified recall, γ = 1", "stratified recall, γ = ∞",
)  # fmt: skip
TITLE = "One line with the message of the figure,\nand a second line with its numbers"


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
    yield
    plt.close("all")


def with_ends(rows: list[tuple], columns: list[str], width: float = 0.1) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=[*columns, "value"])
    return frame.assign(low=frame["value"] - width, high=frame["value"] + width)


def protocols(
    n_panels: int, n_lines: int, n_protocols: int = len(PROTOCOLS), *, counts: bool = False
) -> Figure:
    rows = [
        (panel, protocol, line, 0.9 - 0.15 * place)
        for panel in ("CM100k", "Coat", "synthetic")[:n_panels]
        for line in ("true P@10", "true AUC")[:n_lines]
        for place, protocol in enumerate(PROTOCOLS[:n_protocols])
        if (panel, place) != ("Coat", 3)  # a protocol that these data do not allow
    ]
    found = with_ends(rows, ["panel", "protocol", "line"])
    if counts:
        found["count"] = 100 + np.arange(len(found)) % 21
    return plots.plot_protocols(found, label="Kendall's tau with the truth", title=TITLE)


def advantages(most: float) -> Figure:
    rows = [
        ("", name, "one relevant item at a time" if place < 4 else "all relevant items", value)
        for place, (name, value) in enumerate(
            zip(PROTOCOLS, np.geomspace(most, 0.8, len(PROTOCOLS)), strict=True)
        )
    ]
    found = with_ends(rows, ["panel", "protocol", "line"])
    return plots.plot_protocols(
        found, label="P@10 over that of Random", title=TITLE, at=1, as_ratio=True
    )


def remedies(
    n_systems: int, n_rows: int, n_panels: int, *, ranges: bool = False, common_scale: bool = True
) -> Figure:
    names = {"with 99 sampled ones": "P@10|t=100", "all relevant items": "P@10"}
    panels = ("1R", "1R without\nhead", "uniform\n(U1R)", "percentiles\n(P1R)")[:n_panels]
    rows = [
        (row, panel, system, 0.3 / (1 + place))
        for row in list(names)[:n_rows]
        for panel in panels
        for place, system in enumerate(SYSTEMS[:n_systems])
    ]
    found = with_ends(rows, ["row", "panel", "system"], 0.005)
    if ranges:
        found = found.assign(least=found["value"] * 0.8, most=found["value"] * 1.2)
    labels = dict(list(names.items())[:n_rows])
    return plots.plot_remedies(
        found, systems=SYSTEMS[:n_systems], labels=labels, title=TITLE, common_scale=common_scale
    )


def ratios(n: int) -> Figure:
    segments = np.arange(1, n + 1)
    found = pd.DataFrame({"segment": segments, "ratio": 0.3 * np.exp(-segments / n)})
    found = found.assign(low=found["ratio"] - 0.02, high=found["ratio"] + 0.02)
    return plots.plot_positive_ratios(found, title=TITLE)


def two_tests(n_items: int) -> Figure:
    ranks = np.arange(1, n_items + 1)
    random = 600 * (1 + ranks / n_items * 30) ** -1.4
    uniform = np.where(ranks <= n_items * 0.46, 117, 0)
    found = pd.DataFrame({"rank": ranks, "random": random, "uniform": uniform})
    return plots.plot_two_tests(found, n_groups=10, title=TITLE)


CAUSES = pd.DataFrame(
    {
        "random ranking": [0.01, 0.01, 0.01, 0.01],
        "popular items are liked more": [np.nan, np.nan, 0.0072, np.nan],
        "training items leave the pool": [np.nan, np.nan, 0.0059, np.nan],
        "not told apart": [0.0538, 0.033, np.nan, 0.0043],
    },
    index=["1R", "1R without the head", "uniform test, one relevant item (U1R)", "P1R"],
)


def causes(n: int) -> Figure:
    return plots.plot_causes(CAUSES.iloc[:n], label="P@10|t=100 of Popularity", title=TITLE)


GAMMAS = (0.0, 0.5, 1.0, 2.0, 10.0, float("inf"))


def gammas(n_marked: int, *, known: bool) -> Figure:
    rows = [
        (line, gamma, 1.0 / (1 + place) + 0.02 * number)
        for place, line in enumerate(SYSTEMS)
        for number, gamma in enumerate(GAMMAS)
    ]
    found = with_ends(rows, ["line", "gamma"], 0.05)
    if not known:
        found = found.drop(columns=["low", "high"])
    marked = SYSTEMS[:n_marked]
    return plots.plot_gammas(found, marked=marked, label="recall", title=TITLE)


FIGURES = {
    "agreement, two data sets": lambda: protocols(2, 2),
    "agreement, three data sets": lambda: protocols(3, 2),
    "agreement, one data set": lambda: protocols(1, 1, 4),
    "agreement, with counts": lambda: protocols(2, 2, counts=True),
    "advantages": lambda: advantages(40),
    "small advantages": lambda: advantages(1.7),
    "remedies, all": lambda: remedies(10, 2, 4),
    "remedies, few": lambda: remedies(3, 1, 3),
    "remedies, with a range": lambda: remedies(6, 1, 2, ranges=True, common_scale=False),
    "ratios": lambda: ratios(100),
    "few ratios": lambda: ratios(5),
    "two tests": lambda: two_tests(3706),
    "two tests, few items": lambda: two_tests(60),
    "causes": lambda: causes(4),
    "one cause": lambda: causes(1),
    "gammas": lambda: gammas(6, known=True),
    "few gammas": lambda: gammas(2, known=False),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_about_remedies_can_be_read(name: str) -> None:
    assert faults(FIGURES[name]()) == []


def test_counts_stand_behind_their_rows() -> None:
    found = with_ends(
        [("CM100k", "AR", "P", 50), ("CM100k", "AR", "AUC", 60), ("CM100k", "1R", "P", 70)],
        ["panel", "protocol", "line"],
    ).assign(count=[33, 37, 28])
    (axis,) = plots.plot_protocols(found, label="pairs", title=TITLE).axes
    written = {text.get_text(): text.get_position()[1] for text in axis.texts}
    assert written == {"33, 37": 0, "28": 1}
    (without,) = plots.plot_protocols(found.drop(columns="count"), label="", title="").axes
    assert not without.texts


def test_a_figure_that_cannot_be_read_is_noticed() -> None:
    figure = causes(4)
    figure.axes[0].annotate("on another", (0.0638, 0), (5, 0), textcoords="offset points")
    assert any(said.startswith("overlap") for said in faults(figure))


def test_without_data_an_agreement_is_an_empty_panel() -> None:
    columns = ["panel", "protocol", "line", "value", "low", "high"]
    figure = plots.plot_protocols(pd.DataFrame(columns=columns), label="tau", title=TITLE)
    assert faults(figure) == []


def test_panels_of_one_row_may_have_a_scale_each() -> None:
    rows = [("one", panel, "pLSA", value) for panel, value in {"a": 0.1, "b": 0.9}.items()]
    found = with_ends(rows, ["row", "panel", "system"], 0)
    ends = {}
    for common in (True, False):
        figure = plots.plot_remedies(
            found, systems=["pLSA"], labels={"one": "P"}, title=TITLE, common_scale=common
        )
        ends[common] = [axis.get_xlim()[1] for axis in figure.axes]
    assert ends[True][0] == ends[True][1] >= 0.9
    assert ends[False][0] < 0.2 < ends[False][1]


def test_a_protocol_without_a_value_keeps_its_row() -> None:
    figure = protocols(2, 1)
    seen = [list(axis.lines[1].get_xdata()) for axis in figure.axes]
    assert np.isnan(seen[1][3])
    assert np.isfinite(np.delete(seen[1], 3)).all()
    assert seen[0] == pytest.approx([0.9 - 0.15 * place for place in range(len(PROTOCOLS))])


def test_bars_are_as_long_as_their_values_and_rows_have_a_scale_each() -> None:
    figure = remedies(3, 2, 2)
    for axis in figure.axes:
        lengths = [patch.get_width() for patch in axis.patches if isinstance(patch, Rectangle)]
        assert lengths == pytest.approx([0.3, 0.15, 0.1])
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()


def test_parts_stand_on_each_other_and_their_sum_beside_them() -> None:
    figure = causes(4)
    ends: dict[float, float] = {}
    for patch in figure.axes[0].patches:
        assert patch.get_x() == pytest.approx(ends.get(patch.get_y(), 0.0))
        ends[patch.get_y()] = patch.get_x() + patch.get_width()
    assert sorted(ends.values()) == pytest.approx([0.0143, 0.0231, 0.043, 0.0638])
    shown = {text.get_text() for text in texts(figure)}
    assert {"0.0638", "0.0430", "0.0231", "0.0143"} <= shown


def test_gammas_stand_at_equal_distances_and_infinity_has_its_sign() -> None:
    figure = gammas(2, known=False)
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()][-2:] == ["10", "∞"]
    assert list(figure.axes[0].lines[0].get_xdata()) == list(range(len(GAMMAS)))
