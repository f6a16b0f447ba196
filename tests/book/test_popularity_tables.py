"""What the figures of chapter 3 are drawn from, against plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import shown
from recbias.book import findings
from recbias.book.chapters.popularity_bias import figures, setup, tables
from recbias.book.chapters.popularity_bias.chain import N_GROUPS, chain_of_groups
from recbias.claims.records import Record
from recbias.data.datasets import load_dataset
from recbias.experiment.makers import Table
from recbias.protocol.testset import dataset_splits

TOPIC = "popularity bias"


def test_groups_of_items_by_counting() -> None:
    folds = dataset_splits(load_dataset("synthetic"), "k-fold 5", seed=2)[:2]
    expected = []
    for fold in folds:
        training = [0] * fold.train.n_items
        liked = [0] * fold.train.n_items
        for item in fold.train.item.tolist():
            training[item] += 1
        for item, value in zip(fold.test.item.tolist(), fold.test.value.tolist(), strict=True):
            liked[item] += value >= 4
        order = sorted(range(len(training)), key=lambda item: -training[item])
        groups = np.array_split(order, N_GROUPS)
        expected.append(
            [
                (
                    sum(training[i] for i in group) / len(group),
                    sum(liked[i] for i in group) / len(group),
                    sum(liked[i] for i in group) / sum(liked),
                )
                for group in groups
            ]
        )
    found = chain_of_groups(folds, min_rating=4)
    np.testing.assert_allclose(
        found[["training", "positives", "share"]], np.mean(expected, axis=0), rtol=1e-12
    )
    assert (np.diff(found["training"]) <= 0).all()
    other = chain_of_groups(folds, min_rating=5)
    assert (other["positives"] <= found["positives"]).all()


def test_means_over_worlds_have_their_interval() -> None:
    rows = [
        (alpha, number, system, value)
        for alpha, values in ((0.0, (1.0, 2.0, 3.0)), (2.0, (4.0, 4.0, 4.0)))
        for number, value in enumerate(values, 1)
        for system in setup.FIGURE_5
    ]
    frame = pd.DataFrame(rows, columns=["alpha", "number", "system", "P@10"])
    table = Table(
        key="", dataset={}, maker_name="", given={}, index=tuple(frame.columns[:3]), frame=frame
    )
    found = figures.exponents(table, "P@10", name="1RP@10").rows
    found = found[found["system"] == "Random"]
    assert found["value"].tolist() == [2.0, 4.0]
    half = 4.302652729911275 / np.sqrt(3)  # Student's t with two degrees, by a table
    assert found["low"].tolist() == pytest.approx([2 - half, 4])
    assert found["high"].tolist() == pytest.approx([2 + half, 4])


TITLES = {
    "skew": ("SKEW-SHARE-AR", "Popularity still has", "has no more than"),
    "overrated": ("MAP-AGREEING", "overrates Popularity even where", "does not overrate"),
}


@pytest.mark.parametrize("name", TITLES)
def test_titles_and_sentences_turn_with_their_record(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = shown.recorded(setup.CHAPTER)
    drawn = {
        "skew": lambda: figures.skew(results["pure_skew"]),
        "overrated": lambda: figures.overrated(results["relation_map"]),
    }[name]
    record, holds, refuted = TITLES[name]
    assert holds in " ".join(drawn().title.split())
    known = dict(findings.own_findings(TOPIC))
    other = Record.from_dict({"finds": "{value}", "value": "share[AR] in pure_skew", "below": 0.1})
    known[record] = replace(known[record], region=other.region)
    monkeypatch.setattr(findings, "own_findings", lambda topic: known if topic == TOPIC else {})
    assert refuted in " ".join(drawn().title.split())
    stated = findings.state(TOPIC, results, [])
    assert stated.found[f"own/{record}"].verdict == "refuted"


@pytest.mark.parametrize(
    ("dataset", "likes"),
    [("ml-1m", "Counting likes beats"), ("cm100k", "Counting likes is not told from")],
)
def test_the_title_of_rankings_compares_those_of_the_same_users(dataset: str, likes: str) -> None:
    results = shown.recorded(setup.CHAPTER, dataset)
    baselines = results["baselines"]
    title = " ".join(figures.rankings(baselines, results["predicted"]).title.split())
    metric = str(baselines.metric("AR", "P"))
    names = ("Popularity", "Positive count", "Odds of a hit")
    by_ratings, by_likes, by_odds = (baselines[name, "AR", metric] for name in names)
    assert ((by_likes - by_ratings).interval[0] > 0) == (dataset == "ml-1m")
    assert title.startswith(f"{likes} Popularity;")
    low, high = (by_odds - by_likes).interval
    assert low < 0 < high
    assert title.endswith("adds nothing that is sure")


def test_factors_are_those_of_each_world() -> None:
    table = shown.recorded(setup.CHAPTER)["relation_map"]
    rows = figures.overrated(table).rows.set_index(["line", "relation"])["value"]
    worlds = [
        world
        for world in table.frame.to_dict("records")
        if world["system"] == "Popularity" and (world["skew"], world["relation"]) == (0.65, -1)
    ]
    seen = [world["P@10|t=100"] / world["rho|t=100"] for world in worlds]
    liked = [world["true"] / world["chance"] for world in worlds]
    assert rows["in the test", -1] == pytest.approx(np.mean(seen))
    assert rows["by what people like", -1] == pytest.approx(np.mean(liked))


def test_data_that_know_liking_stand_with_their_intervals() -> None:
    text = tables.points_table(shown.recorded(setup.CHAPTER)["points"])
    rows = [row.split("<td") for row in text.split("<tr>")[2:]]
    assert [cells[1].partition(">")[2].partition("<")[0] for cells in rows] == [
        "CM100k", "Coat", "Synthetic world",
    ]  # fmt: skip
    assert "1.6 (1.3 to 2.2)" in rows[1][-1]


def test_published_values_stand_beside_those_of_their_system() -> None:
    rows = shown.figures("03")["exponents"].rows.dropna(subset="published")
    assert {*rows["system"]} == {"Popularity", "Random"}
    assert {*rows["alpha"]} == {0.0}


def test_the_line_of_proportion_passes_through_the_totals() -> None:
    groups = pd.DataFrame({"training": [100.0, 10.0, 0.0], "positives": [30.0, 1.0, 0.0]})
    groups = groups.assign(group=[1, 2, 3], share=[0.9, 0.1, 0.0])
    table = Table(key="", dataset={}, maker_name="", given={}, index=("group",), frame=groups)
    rows = figures.chain(table).rows
    assert (rows["predicted"] / rows["training"]).tolist() == pytest.approx([31 / 110] * 2)
