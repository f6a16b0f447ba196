"""What the figures of chapter 3 are drawn from, against plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import shown
from recbias.book.chapters.popularity_bias import figures, setup
from recbias.book.chapters.popularity_bias.chain import N_GROUPS, chain_of_groups
from recbias.data.datasets import load_dataset
from recbias.experiment.makers import Table
from recbias.protocol.testset import dataset_splits


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


def test_curves_grow_steeper_with_the_exponent() -> None:
    rows = shown.figures("03")["laws"].rows
    found = rows.pivot_table(index="share of items", columns="exponent", values="value")
    inside = found.iloc[1:-1]
    assert (inside.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert found.iloc[[0, -1]].to_numpy() == pytest.approx(
        np.array([[0.0] * found.shape[1], [1.0] * found.shape[1]])
    )


def test_the_title_names_the_best_ranking() -> None:
    before = shown.figures("03")["rankings"]
    names, values = ["Random", "Popularity", "Positive count"], [0.01, 0.08, 0.1]
    after = replace(before, rows=pd.DataFrame({"ranking": names, "value": values}))
    assert after.title == "Positive count has the highest P@10,\nPopularity 80% of it"
    after.rows.loc[1, "value"] = 0.2
    assert after.title.startswith("Popularity has the highest P@10")
    assert replace(before, rows=after.rows.assign(value=0)).title.startswith("No ranking")


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
