"""What the page about hits and misses shows: the right quantities, titled with their numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import shown
from planted import base_world
from recbias import Results
from recbias.book import findings
from recbias.book.chapters.true_vs_false_positive_disagreement import (
    figures,
    figures_of_judgments,
    judgment_tables,
    true_values,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.items import items
from recbias.claims.quantities import order_tau
from recbias.claims.records import Record
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
    metrics = {"hits": "P", "misses": "antiP"}
    for (panel, system), row in rows.iterrows():
        label, rated = labels[panel], panel == "rated items only"
        for axis in ("x", "y"):
            name = metrics[row[f"{axis}_label"].partition(":")[0]]
            found = planted[system, label, f"{name}@10" + ("|judged" if rated else "")]
            ends = row[[f"{axis}_low", f"{axis}_high"]]
            assert (row[axis], *ends) == (found.value, *found.interval)


def test_what_is_to_be_bought_is_the_need_within_the_lists() -> None:
    rows = [
        ("P", "in a list", 0.0, 0.5, np.nan, np.nan), ("P", "needed", 0.9, 40, 10, 90),
        ("antiP", "in a list", 0.0, 0.25, np.nan, np.nan), ("antiP", "needed", 0.9, 60, 40, 80),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["metric", "quantity", "at", "value", "low", "high"])
    table = Table(index=("metric", "quantity", "at"), frame=frame, key="", dataset={"name": "x"},
                  maker_name="", given={})  # fmt: skip
    assert judgment_tables.listed_needed({"X": table}) == "20 (5 to 45) on X"


def test_an_undefined_tau_is_told_as_no_relation_of_hits_and_misses(planted: Results) -> None:
    each = figures.each_count(planted)
    each = replace(each, rows=each.rows.assign(tau=np.nan))
    assert "undefined by hits" in each.title
    heads = [axis.get_title() for axis in each.picture().axes]
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
        hits = rows[rows["y_label"].str.startswith("hits") | (rows["panel"] == "hits: P@10")]
        last = hits[hits["panel"] == hits["panel"].iloc[-1]]
        if figure.name == "each":
            assert last["y"].is_monotonic_decreasing
    rows = figures.lead(planted).rows
    assert rows[rows["panel"] == rows["panel"].iloc[-1]]["y"].is_monotonic_decreasing


def test_heads_say_tau_of_what_is_shown(planted: Results) -> None:
    of_songs = replace(planted, dataset={**planted.dataset, "name": "cm100k"})
    figure = figures.lead(of_songs)
    taus = figure.rows.groupby("panel", sort=False)["tau"].first()
    for (panel, own), label in zip(
        figure.rows.groupby("panel", sort=False), ("full", "true"), strict=True
    ):
        metrics = (f"antiP@{10}", f"P@{10}")
        orders = [
            [of_songs[name, label, metric] for name in of_songs.systems] for metric in metrics
        ]
        assert taus[panel] == order_tau(*orders).value == own["tau"].iloc[-1]
    assert taus.iloc[0] > 0.1 > -0.1 > taus.iloc[1]
    heads = [axis.get_title() for axis in figure.picture().axes]
    assert f"$\\tau$ = {abs(taus.iloc[1]):.2f}" in heads[1].replace("\N{MINUS SIGN}", "")


TITLES = {
    "lead": ("CM-TRUE-TAU", "more hits, fewer misses by the truth", "more misses by the truth"),
    "which": ("AGREEING-P", "hits where they are liked more", "nor are hits"),
}


@pytest.mark.parametrize("name", TITLES)
def test_titles_and_sentences_turn_with_their_record(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = shown.recorded("05_true_false_positives")
    drawn = {
        "lead": lambda: figures.lead(results["systems"]),
        "which": lambda: figures.which_count(results["worlds"]),
    }[name]
    record, holds, refuted = TITLES[name]
    assert holds in drawn().title
    bar = "above" if record == "CM-TRUE-TAU" else "below"
    known = dict(findings.own_findings(TOPIC))
    known[record] = replace(known[record], region=Record.from_dict(RAW | {bar: 0}).region)
    monkeypatch.setattr(findings, "own_findings", lambda topic: known if topic == TOPIC else {})
    assert refuted in drawn().title
    stated = findings.state(TOPIC, results, [])
    assert stated.found[f"own/{record}"].verdict == "refuted"


RAW = {"finds": "{value}", "value": "mean(P[full])"}


def test_published_values_are_those_of_the_same_metric(planted: Results) -> None:
    grid = replace(planted.grid, split="ready")
    found = figures.two_counts(replace(planted, grid=grid)).rows
    printed = references()["mccrs20"].values
    first, last = found.iloc[0], found.iloc[-1]
    assert first["y_published"] == printed[first["system"]]["condensed P@10"]
    assert first["x_published"] == printed[first["system"]]["condensed antiP@10"]
    assert last["y_published"] == printed[last["system"]]["P@10"]
    assert last["x_published"] == printed[last["system"]]["antiP@10"]
    elsewhere = replace(planted, grid=replace(grid, split="k-fold 5"))
    assert "y_published" not in figures.two_counts(elsewhere).rows


def test_a_page_without_true_values_shows_those_of_cm100k(
    planted: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = without_truth(planted)
    monkeypatch.setattr(true_values, "load_chapter", lambda chapter, name, only: {})
    assert true_values.with_truth(own) is own is true_values.first_shown(own)
    for figure in (figures.lead(own), figures.each_count(own)):
        assert figure.title == "More hits, more misses in the test"
        assert figure.rows["panel"].unique().tolist() == ["MovieLens 1M, observed"]
    recorded = {"cm100k": {"systems": planted}}
    monkeypatch.setattr(true_values, "load_chapter", lambda chapter, name, only: recorded[name])
    assert true_values.with_truth(own) is planted is true_values.first_shown(own)
    assert figures.each_count(own).rows["panel"].nunique() == 2
    other = replace(planted, dataset={**planted.dataset, "name": "coat"})
    assert true_values.with_truth(other) is other
    assert true_values.first_shown(other) is planted


def test_a_relation_that_the_ratings_do_not_allow_is_counted() -> None:
    results = shown.recorded("05_true_false_positives")
    tables = [results[name] for name in ("trust_answers", "points", "bars")]
    figure = figures_of_judgments.compatible(*tables)
    rows = figure.rows.set_index(["row", "line"])
    allowed = rows.loc["CM100k: cannot tell", "what the ratings allow"]
    true = rows.loc["CM100k: cannot tell", "the truth"]
    assert not allowed["low"] <= true["value"] <= allowed["high"]
    assert figure.title == "1 of 3 true relations lies outside what\nthe ratings allow"
    wide = figure.rows.assign(low=-1.0, high=1.0)
    assert replace(figure, rows=wide).title.startswith("0 of 3 true relations lie outside")


def test_answers_are_shares_of_the_worlds_of_a_relation() -> None:
    relation = -1 + 0.02 * (np.arange(100) + 0.5)  # ten in every bar
    answer = np.array(["antiP", "cannot tell", "P", "either"])[np.arange(100) * 4 // 100]
    right = np.where(np.arange(100) % 10 == 0, "P", answer)
    rows = pd.DataFrame({"relation": relation, "answer": answer, "right": right, "choice": 0.0})
    table = Table(key="", dataset={}, maker_name="", given={}, index=("relation",), frame=rows)
    (axis,) = figures_of_judgments.answers(table).picture().axes
    widths = {bar.get_label(): sum(each.get_width() for each in bar) for bar in axis.containers}
    told = rows[rows["answer"] != "cannot tell"]
    assert widths["a wrong answer"] == pytest.approx((told["answer"] != told["right"]).sum() / 10)
    assert sum(widths.values()) == pytest.approx(10)
