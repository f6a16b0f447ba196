"""What the figures of chapter 3 are drawn from, against plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recbias.book.chapters.popularity_bias.chain import N_GROUPS, chain_of_groups
from recbias.book.chapters.popularity_bias.tables import law_curves, over_exponents, rankings_title
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
        for system in ("Popularity", "Random")
    ]
    frame = pd.DataFrame(rows, columns=["alpha", "number", "system", "P@10"])
    table = Table(
        key="", dataset={}, maker_name="", given={}, index=tuple(frame.columns[:3]), frame=frame
    )
    found = over_exponents(table, "P@10", ["Random"])
    assert found["value"].tolist() == [2.0, 4.0]
    half = 4.302652729911275 / np.sqrt(3)  # Student's t with two degrees, by a table
    assert found["low"].tolist() == pytest.approx([2 - half, 4])
    assert found["high"].tolist() == pytest.approx([2 + half, 4])


def test_curves_grow_steeper_with_the_exponent() -> None:
    found = law_curves([0.0, 0.8, 2.0])
    inside = found.iloc[1:-1]
    assert (inside.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert found.iloc[[0, -1]].to_numpy() == pytest.approx(np.array([[0.0] * 3, [1.0] * 3]))


def test_the_title_names_the_best_ranking() -> None:
    values = pd.DataFrame({"value": {"Random": 0.01, "Popularity": 0.08, "Positive count": 0.1}})
    assert rankings_title(values, "P@10") == (
        "Positive count has the highest P@10,\nPopularity 80% of it"
    )
    values.loc["Popularity", "value"] = 0.2
    assert rankings_title(values, "P@10").startswith("Popularity has the highest P@10")
