"""What the page about hits and misses shows: the right quantities, titled with their numbers."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from planted import base_world
from readable import faults
from recbias import Results
from recbias.book.chapters.true_vs_false_positive_disagreement import figures, plots
from recbias.book.chapters.true_vs_false_positive_disagreement.items import items
from recbias.book.figures import style
from recbias.claims.quantities import order_tau
from recbias.claims.reference import references
from recbias.data.datasets import load_dataset
from recbias.experiment.results import Quantity

TOPIC = "true vs false positive disagreement"


@pytest.fixture(scope="module")
def planted() -> Results:
    found = base_world(TOPIC).results()["systems"]
    assert isinstance(found, Results)
    return dataclasses.replace(found, dataset={**found.dataset, "title": "MovieLens 1M (merged)"})


def without_truth(results: Results) -> Results:
    labels = ("full", "condensed")
    grid = dataclasses.replace(
        results.grid,
        protocols={label: results.grid.protocols[label] for label in labels},
        metrics={label: results.grid.metrics[label] for label in labels},
        tests={},
        replicates=tuple(pair for pair in results.grid.replicates if pair[0] in labels),
    )
    return dataclasses.replace(results, grid=grid)


def test_panels_show_the_metrics_that_their_axes_name(planted: Results) -> None:
    panels = figures.known_panels(planted, "first")
    found = figures.scatter(planted, panels)
    shown = found["found"].set_index(["panel", "system"])
    for panel, (title, axes) in zip(panels, found["axes"].items(), strict=True):
        assert axes == (panel.x_label, panel.y_label)
        assert panel.title in title
        for system in planted.systems:
            row = shown.loc[(title, system)]
            assert (row["x"], row["y"]) == (
                planted[system, *panel.x].value,
                planted[system, *panel.y].value,
            )
            assert (row["y_low"], row["y_high"]) == planted[system, *panel.y].interval


def test_an_undefined_tau_is_told_as_no_relation_of_hits_and_misses(
    planted: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Quantity(np.nan, None, limits=(-1.0, 1.0))
    monkeypatch.setattr(figures, "tau_of", lambda *_: nothing)
    panels = figures.known_panels(planted, "first")
    assert "same for all in the test" in figures.lead_title(planted, panels)
    assert "undefined of rated items" in figures.first_title(planted, panels)
    assert all("nan" not in title for title in figures.scatter(planted, panels)["axes"])


@pytest.mark.parametrize("rated", [lambda user, item: True, lambda user, item: (user + item) % 8])
def test_where_all_is_liked_correlations_are_undefined_without_a_warning(
    rated: Callable[[int, int], int],
) -> None:
    rows = [(user, item) for user in range(8) for item in range(6) if rated(user, item)]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id"])
    with warnings.catch_warnings(action="error"):
        _, found, _ = items.function(load_dataset(frame), min_rating=1, split="ratio 0.5", seed=1)
    related = found.set_index(["measure", "of"])["value"]
    assert np.isnan(related["p", "f_P and p(rel|train)"])
    assert np.isnan(related["Pearson", "f_P and p(rel|train)"])


def test_systems_come_in_the_order_of_hits_in_the_last_panel(planted: Results) -> None:
    panels = figures.known_panels(planted, "truth")
    found = figures.scatter(planted, panels)["found"]
    values = [planted[name, *panels[-1].y].value for name in dict.fromkeys(found["system"])]
    assert values == sorted(values, reverse=True)
    found = figures.scatter(planted, figures.known_panels(planted, "each"))["found"]
    values = [planted[name, "true", "P@10"].value for name in dict.fromkeys(found["system"])]
    assert values == sorted(values, reverse=True)


def test_titles_say_tau_of_what_is_shown(planted: Results) -> None:
    (observed, true) = figures.known_panels(planted, "truth")
    by = {
        panel: order_tau(
            *([planted[name, *at] for name in planted.systems] for at in (panel.x, panel.y))
        ).value
        for panel in (observed, true)
    }
    assert by[observed] > 0.1 > -0.1 > by[true]
    title = figures.lead_title(planted, (observed, true))
    assert title == "More hits, more misses in the test,\nmore hits, fewer misses by the truth"
    turned = figures.lead_title(planted, (true, observed))
    assert turned == "More hits, fewer misses in the test,\nmore hits, more misses by the truth"
    assert f"$\\tau$ = {by[true]:.2f}" in next(iter(figures.scatter(planted, [true])["axes"]))


def test_published_values_are_those_of_the_same_metric(planted: Results) -> None:
    grid = dataclasses.replace(planted.grid, split="ready")
    found = figures.scatter(
        dataclasses.replace(planted, grid=grid), figures.known_panels(planted, "first")
    )["found"]
    printed = references()["mccrs20"].values
    first, last = found.iloc[0], found.iloc[-1]
    assert first["y_published"] == printed[first["system"]]["condensed P@10"]
    assert first["x_published"] == printed[first["system"]]["condensed antiP@10"]
    assert last["y_published"] == printed[last["system"]]["recall@10"]
    assert last["x_published"] == printed[last["system"]]["fallout@10"]
    elsewhere = dataclasses.replace(planted, grid=dataclasses.replace(grid, split="k-fold 5"))
    panels = figures.known_panels(elsewhere, "first")
    assert "y_published" not in figures.scatter(elsewhere, panels)["found"]


def test_without_true_values_what_is_observed_is_shown(planted: Results) -> None:
    own = without_truth(planted)
    for which in ("truth", "each"):
        (panel,) = figures.known_panels(own, which)
        assert panel.x == ("full", "antiP@10")
    assert figures.each_title(own, [panel]) == "More hits, more misses in the test"
    assert len(figures.known_panels(planted, "each")) == 2


def test_a_page_without_true_values_shows_those_of_cm100k(
    planted: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = without_truth(planted)
    monkeypatch.setattr(figures, "load_chapter", lambda chapter, name: {})
    assert figures.with_truth(own) is own is figures.first_shown(own)
    recorded = {"cm100k": {"systems": planted}}
    monkeypatch.setattr(figures, "load_chapter", lambda chapter, name: recorded[name])
    assert figures.with_truth(own) is planted is figures.first_shown(own)
    other = dataclasses.replace(planted, dataset={**planted.dataset, "name": "coat"})
    assert figures.with_truth(other) is other
    assert figures.first_shown(other) is planted


def test_what_the_page_plots_can_be_read(planted: Results) -> None:
    style.use_book_style()
    panels = figures.known_panels(planted, "first")
    found = figures.scatter(planted, panels)
    assert np.isfinite(found["found"][["x", "y"]]).all(axis=None)
    title = figures.first_title(planted, panels)
    assert faults(plots.plot_two_metrics(**found, title=title)) == []
