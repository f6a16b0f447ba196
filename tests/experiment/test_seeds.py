"""How often systems with random training are trained where an order of systems is read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recbias import Grid, Results, line_up
from recbias.book.chapters.design_alternatives import setup
from recbias.data.datasets import registry
from recbias.errors import ConfigError
from recbias.experiment.results import load_result, recorded_datasets, results_dir
from recbias.experiment.training_seeds import ORDER_SEEDS, few_seeds, training_seeds
from recbias.recommenders import System, register, with_seeds
from recbias.recommenders.base import _ALGORITHMS, _SOURCES

RANDOM_TRAINING = {
    "pLSA",
    "MF (rating prediction)",
    "MF (ranking)",
    "ALS (implicit)",
    "BPR (implicit)",
}


def results_of(systems):
    """Make results without a single value: which seeds were used stands in the grid."""
    return Results(
        key="0",
        dataset={"name": "x"},
        grid=Grid("synthetic", systems, {"AR": "TI-AN-AR rel>=4"}, ("P@10",)),
        values=pd.DataFrame(),
        replicates={},
        tests=pd.DataFrame(),
        target_sets=pd.DataFrame(),
    )


@pytest.mark.parametrize("name", registry())
def test_published_data_get_five_seeds_and_worlds_one(name):
    made = name.startswith("synthetic")
    assert training_seeds(name) == (1 if made else 5)


@pytest.mark.parametrize(
    "name", ["world(skew=0.7)", "world(counts=ml-1m)", "mine.csv", "folder/ml-1m"]
)
def test_what_is_made_or_brought_along_gets_one_seed(name):
    assert training_seeds(name) == 1


def test_an_unknown_dataset_is_refused():
    with pytest.raises(ConfigError, match="unknown dataset 'ml-2m': did you mean"):
        training_seeds("ml-2m")


def test_systems_with_too_few_seeds_are_named():
    systems = line_up("bcc17")
    assert few_seeds(results_of(systems)) == RANDOM_TRAINING
    assert few_seeds(results_of(with_seeds(systems, ORDER_SEEDS - 1))) == RANDOM_TRAINING
    assert few_seeds(results_of(with_seeds(systems, ORDER_SEEDS))) == frozenset()
    mixed = [*with_seeds(systems[:3], ORDER_SEEDS), *systems[3:]]
    assert few_seeds(results_of(mixed)) == RANDOM_TRAINING - {"pLSA"}
    one_random_ranking = [System("Random", "Random"), *systems[1:2]]
    assert few_seeds(results_of(one_random_ranking)) == {"Random"}


def test_a_class_from_outside_counts_as_random_unless_it_says_otherwise(monkeypatch):
    monkeypatch.setattr("recbias.recommenders.base._ALGORITHMS", dict(_ALGORITHMS))
    monkeypatch.setattr("recbias.recommenders.base._SOURCES", dict(_SOURCES))

    @register
    class SaysNothing:
        def fit(self, train, *, rng=None):
            self.n_items = train.n_items
            return self

        def score(self, users):
            return np.zeros((len(users), self.n_items), dtype=np.float32)

    @register
    class SaysSo(SaysNothing):
        deterministic = True

    systems = [System("a", "SaysNothing"), System("b", "SaysSo")]
    assert few_seeds(results_of(systems)) == {"a"}
    assert [system.n_seeds for system in with_seeds(systems, 5)] == [5, 1]


@pytest.mark.parametrize("dataset", recorded_datasets(setup.CHAPTER))
@pytest.mark.parametrize("name", ["systems", "grid", "stars"])
def test_recorded_orders_are_read_from_enough_seeds(dataset, name):
    path = results_dir(dataset, recorded=True) / setup.CHAPTER / name
    found = load_result(path, dataset=dataset)
    assert isinstance(found, Results)
    assert few_seeds(found) == frozenset()
