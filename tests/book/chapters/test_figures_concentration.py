"""Figures of chapter 6: all of them can be read, and show what they were given."""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from recbias.book.chapters.concentration_metrics import plots
from recbias.book.figures import style
from test_figures import faults, texts

SYSTEMS = (
    "Popularity (AR)", "ItemKNN", "UserKNN", "RankSGD", "LRMF (as published)", "BPR", "WBPR",
    "LRMF (toolkit)", "Random",
)  # fmt: skip
METRICS = (
    "P@10", "nDCG@10", "Gini@10", "Hoover@10", "Entropy@10", "Diversity@10", "CI@10", "CI@10|JS",
    "LTI(0.2)@10", "LTI(0.2)@10|percentile", "M@10", "PL@10",
)  # fmt: skip
TITLE = "One line with the message of the figure,\nand a second line with its numbers"


@pytest.fixture(autouse=True)
def _style():
    style.use_book_style()
    yield
    plt.close("all")


def ranks(n_panels: int, n_systems: int, n_metrics: int) -> pd.DataFrame:
    rng = np.random.default_rng(n_panels)
    rows = []
    for panel in ("ML-100K", "ML-1M", "ml-latest-small", "FilmTrust")[:n_panels]:
        for metric in METRICS[:n_metrics]:
            for system, rank in zip(SYSTEMS, rng.permutation(n_systems) + 1, strict=False):
                known = metric not in ("Diversity@10", "M@10")
                low, high = (max(1, rank - 1), min(n_systems, rank + 1)) if known else (np.nan,) * 2
                rows.append((panel, metric, system, rank, low, high))
    return pd.DataFrame(rows, columns=["panel", "metric", "system", "rank", "low", "high"])


@pytest.mark.parametrize("shape", [(4, 7, 12), (1, 3, 4), (2, 9, 8), (1, 1, 1)])
def test_maps_of_ranks_can_be_read(shape):
    found = ranks(*shape)
    figure = plots.plot_rank_map(found, title=TITLE)
    assert faults(figure) == []
    seen = [text.get_text() for text in texts(figure)]
    first = found.iloc[0]
    words = f"{first['rank']}" + (
        f"\n{first['low']:.0f}–{first['high']:.0f}" if first["low"] < first["high"] else ""
    )
    assert words in seen
    assert len(figure.axes) == shape[0]


def test_a_rank_without_an_interval_stands_alone_and_a_missing_one_is_empty():
    found = ranks(1, 3, 1).assign(low=np.nan, high=np.nan)
    found = pd.concat([found, found.assign(metric="LTI(0.2)@10").iloc[:1]])
    figure = plots.plot_rank_map(found, title=TITLE)
    assert faults(figure) == []
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(shown) == sorted([*map(str, found["rank"])])
    assert np.isnan(figure.axes[0].images[0].get_array().filled(np.nan)).sum() == 2


@pytest.mark.parametrize("n_systems", [1, 7, 9])
def test_lorenz_curves_can_be_read(n_systems):
    share = np.linspace(0, 1, 101)
    curves = pd.DataFrame(
        {name: share ** (2 + place) for place, name in enumerate(SYSTEMS[:n_systems])}, index=share
    )
    figure = plots.plot_lorenz(curves.assign(prior=share**3), title=TITLE)
    assert faults(figure) == []
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert list(lines) == ["all items alike", *SYSTEMS[:n_systems], "prior"]
    np.testing.assert_array_equal(lines[SYSTEMS[0]].get_ydata(), share**2)
    strokes = {(line.get_color(), line.get_linestyle()) for line in lines.values()}
    assert len(strokes) == len(lines)
    alone = plots.plot_lorenz(curves, title=TITLE)
    assert "prior" not in [text.get_text() for text in texts(alone)]


@pytest.mark.parametrize("n_metrics", [2, 5, 12])
def test_matrices_of_taus_can_be_read_and_frame_what_is_one(n_metrics):
    taus = np.linspace(-1, 1, n_metrics * (n_metrics - 1) // 2)
    rows = [
        (b, a, tau, tau - 0.15, tau)
        for (a, b), tau in zip(combinations(METRICS[:n_metrics], 2), taus, strict=True)
    ]
    found = pd.DataFrame(rows, columns=["a", "b", "tau", "low", "high"])
    figure = plots.plot_tau_matrix(found, title=TITLE)
    assert faults(figure) == []
    framed = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    assert len(framed) == 0
    last = found.index[-1]
    found.loc[last, ["tau", "low"]] = 0.95, 0.91
    figure = plots.plot_tau_matrix(found, title=TITLE)
    assert len([p for p in figure.axes[0].patches if isinstance(p, Rectangle)]) == 1
    found.loc[last, "low"] = 0.9
    figure = plots.plot_tau_matrix(found, title=TITLE)
    assert len([p for p in figure.axes[0].patches if isinstance(p, Rectangle)]) == 0


def test_taus_are_written_short():
    rows = [("a", "b", 1.0), ("a", "c", -0.96), ("b", "c", -0.04), ("a", "d", -0.35)]
    found = pd.DataFrame(rows, columns=["a", "b", "tau"]).assign(low=np.nan, high=np.nan)
    figure = plots.plot_tau_matrix(found, title=TITLE)
    assert {text.get_text() for text in figure.axes[0].texts} == {"1", "-1", "0", "-.3"}


@pytest.mark.parametrize(("n_panels", "n_systems"), [(4, 7), (1, 3), (3, 9), (2, 1)])
def test_courses_of_a_loop_can_be_read(n_panels, n_systems):
    rows = [
        (panel, system, turn, 0.1 * place + scale * turn)
        for scale, panel in enumerate(("Gini@10", "CI@10", "LTI@10", "true P@10")[:n_panels], 1)
        for place, system in enumerate(SYSTEMS[:n_systems])
        for turn in range(9)
    ]
    found = pd.DataFrame(rows, columns=["panel", "system", "round", "value"])
    found = found.assign(low=found["value"] - 0.1, high=found["value"] + 0.1)
    figure = plots.plot_trajectories(found, title=TITLE)
    assert faults(figure) == []
    line = figure.axes[0].lines[0]
    assert line.get_label() == SYSTEMS[0]
    np.testing.assert_allclose(line.get_ydata(), np.arange(9.0))
    assert len(figure.axes[0].collections) == n_systems
    unknown = found.assign(low=np.nan, high=np.nan)
    assert faults(plots.plot_trajectories(unknown, title=TITLE)) == []
