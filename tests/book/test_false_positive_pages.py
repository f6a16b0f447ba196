"""What the page about hits and misses shows: the right quantities, titled with their numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from planted import base_world
from recbias import Results
from recbias.book.chapters.true_vs_false_positive_disagreement import figures, true_values
from recbias.book.chapters.true_vs_false_positive_disagreement.items import items
from recbias.claims.quantities import order_tau
from recbias.claims.reference import references
from recbias.data.datasets import load_dataset
from recbias.experiment.makers import Table

TOPIC = "true vs false positive disagreement"


@pytest.fixture(scope="module")
def planted() -> Results:
    found = base_world(TOPIC).results()["systems"]
    assert isinstance(found, Results)
    return replace(found, dataset={**found.dataset, "title": "MovieLens 1M (merged)"})


def without_truth(results: Results) -> Results:
    labels = ("full", "condensed")
    grid = replace(
        results.grid,
        protocols={label: results.grid.protocols[label] for label in labels},
        metrics={label: results.grid.metrics[label] for label in labels},
        tests={},
        replicates=tuple(pair for pair in results.grid.replicates if pair[0] in labels),
    )
    return replace(results, grid=grid)


def test_panels_show_the_metrics_that_their_axes_name(planted: Results) -> None:
    rows = figures.two_counts(planted).rows.set_index(["panel", "system"])
    labels = {"rated items only": "condensed", "all items": "full"}
    metrics = {"hits": "P", "misses": "antiP", "recall": "R", "fallout@10": "fallout"}
    for (panel, system), row in rows.iterrows():
        label, rated = labels[panel.strip()], panel == "rated items only"
        for axis in ("x", "y"):
            name = metrics[row[f"{axis}_label"].partition(":")[0]]
            found = planted[system, label, f"{name}@10" + ("|judged" if rated else "")]
            ends = row[[f"{axis}_low", f"{axis}_high"]]
            assert (row[axis], *ends) == (found.value, *found.interval)


def test_an_undefined_tau_is_told_as_no_relation_of_hits_and_misses(planted: Results) -> None:
    lead, counts = figures.lead(planted), figures.two_counts(planted)
    lead, counts = (replace(each, rows=each.rows.assign(tau=np.nan)) for each in (lead, counts))
    assert "same for all in the test" in lead.title
    assert "undefined of rated items" in counts.title
    heads = [axis.get_title() for axis in counts.picture().axes]
    assert all("undefined" in head and "nan" not in head for head in heads)


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
    for figure in (figures.two_counts(planted), figures.each_count(planted)):
        rows = figure.rows
        hits = rows[rows["y_label"].str.startswith("hits") | (rows["panel"] == "P@10")]
        last = hits[hits["panel"] == hits["panel"].iloc[-1]]
        if figure.name == "each":
            assert last["y"].is_monotonic_decreasing
    rows = figures.lead(planted).rows
    assert rows[rows["panel"] == rows["panel"].iloc[-1]]["y"].is_monotonic_decreasing


def test_titles_say_tau_of_what_is_shown(planted: Results) -> None:
    shown = replace(planted, dataset={**planted.dataset, "name": "cm100k"})
    figure = figures.lead(shown)
    taus = figure.rows.groupby("panel", sort=False)["tau"].first()
    for (panel, own), label in zip(
        figure.rows.groupby("panel", sort=False), ("full", "true"), strict=True
    ):
        metrics = (f"antiP@{10}", f"P@{10}")
        orders = [[shown[name, label, metric] for name in shown.systems] for metric in metrics]
        assert taus[panel] == order_tau(*orders).value == own["tau"].iloc[-1]
    assert taus.iloc[0] > 0.1 > -0.1 > taus.iloc[1]
    told = "More hits, more misses in the test,\nmore hits, fewer misses by the truth"
    assert figure.title == told
    turned = replace(figure, rows=figure.rows.assign(tau=-figure.rows["tau"]))
    told = "More hits, fewer misses in the test,\nmore hits, more misses by the truth"
    assert turned.title == told
    heads = [axis.get_title() for axis in figure.picture().axes]
    assert f"$\\tau$ = {taus.iloc[1]:.2f}" in heads[1]


def test_published_values_are_those_of_the_same_metric(planted: Results) -> None:
    grid = replace(planted.grid, split="ready")
    found = figures.two_counts(replace(planted, grid=grid)).rows
    printed = references()["mccrs20"].values
    first, last = found.iloc[0], found.iloc[-1]
    assert first["y_published"] == printed[first["system"]]["condensed P@10"]
    assert first["x_published"] == printed[first["system"]]["condensed antiP@10"]
    assert last["y_published"] == printed[last["system"]]["recall@10"]
    assert last["x_published"] == printed[last["system"]]["fallout@10"]
    elsewhere = replace(planted, grid=replace(grid, split="k-fold 5"))
    assert "y_published" not in figures.two_counts(elsewhere).rows


def test_a_page_without_true_values_shows_those_of_cm100k(
    planted: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = without_truth(planted)
    monkeypatch.setattr(true_values, "load_chapter", lambda chapter, name: {})
    assert true_values.with_truth(own) is own is true_values.first_shown(own)
    for figure in (figures.lead(own), figures.each_count(own)):
        assert figure.title == "More hits, more misses in the test"
        assert figure.rows["panel"].unique().tolist() == ["MovieLens 1M, observed"]
    recorded = {"cm100k": {"systems": planted}}
    monkeypatch.setattr(true_values, "load_chapter", lambda chapter, name: recorded[name])
    assert true_values.with_truth(own) is planted is true_values.first_shown(own)
    assert figures.each_count(own).rows["panel"].nunique() == 2
    other = replace(planted, dataset={**planted.dataset, "name": "coat"})
    assert true_values.with_truth(other) is other
    assert true_values.first_shown(other) is planted


def test_a_trusted_metric_is_told_with_how_often_it_is_wrong() -> None:
    rows = [
        ("antiP", "antiP", 0.02, 0.97),
        ("P", "antiP", 0.96, 0.03),
        ("cannot tell", "P", 0.5, 0.5),
    ]
    frame = pd.DataFrame(rows, columns=["answer", "right", "P", "antiP"]).assign(either=0.0)
    table = Table(key="", dataset={}, maker_name="", given={}, index=("answer",), frame=frame)
    title = figures.trusted_shares(table).title
    assert title.startswith("Of 3 worlds the command answers in 2, 1 times antiP;")
    assert "50.0% of these answers are wrong" in title


def test_answers_are_shares_of_the_worlds_of_a_relation() -> None:
    relation = -1 + 0.02 * (np.arange(100) + 0.5)  # ten in every bar
    answer = np.array(["antiP", "cannot tell", "P", "either"])[np.arange(100) * 4 // 100]
    right = np.where(np.arange(100) % 10 == 0, "P", answer)
    rows = pd.DataFrame({"relation": relation, "answer": answer, "right": right, "choice": 0.0})
    table = Table(key="", dataset={}, maker_name="", given={}, index=("relation",), frame=rows)
    (axis,) = figures.answers(table).picture().axes
    widths = {bar.get_label(): sum(each.get_width() for each in bar) for bar in axis.containers}
    told = rows[rows["answer"] != "cannot tell"]
    assert widths["a wrong answer"] == pytest.approx((told["answer"] != told["right"]).sum() / 10)
    assert sum(widths.values()) == pytest.approx(10)
