"""Features of items in a grid: they decide keys of metrics that look at them, and no other."""

import numpy as np
import pandas as pd
import pytest

import golden
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError, DataError, MissingData
from recbias.experiment.grid import Grid
from recbias.experiment.results import load_result
from recbias.experiment.run import run
from recbias.recommenders import System

TEXTS = ("ILD@3", "P@3", "Miscalibration(alpha=0.1)@3")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return str(golden.small_table(tmp_path_factory.mktemp("table")))


@pytest.fixture(scope="module")
def items(table):
    item_ids = load_dataset(table).ratings.item_ids
    rng = np.random.default_rng(2)
    genres = ["|".join(rng.choice(list("abcd"), size=2, replace=False)) for _ in item_ids]
    return pd.DataFrame({"item_id": item_ids, "genres": genres})


def asked(table, metrics=TEXTS, **changes):
    systems = System("Pop", "Popularity"), System("R", "Random")
    return Grid(table, systems, "TI-AN-AR rel>=4", metrics, split="ratio 0.3", **changes)


def test_keys_follow_the_content_and_only_where_it_is_looked_at(table, items, tmp_path):
    dataset = load_dataset(table)
    path = tmp_path / "items.csv"
    items.to_csv(path, index=False)
    plain, given = (asked(table, ("P@3", "Gini@3"), **at) for at in ({}, {"features": str(path)}))
    assert plain.key(dataset) == given.key(dataset)
    assert "features" not in given.hashes(dataset)
    by_path, by_frame = asked(table, features=path), asked(table, features=items)
    assert by_path.key(dataset) == by_frame.key(dataset)
    assert Grid.from_dict(by_path.to_dict()) == by_path
    # The twin: another genre of one item is another key.
    other = items.assign(genres=["z", *items["genres"][1:]])
    assert asked(table, features=other).key(dataset) != by_path.key(dataset)


def test_values_do_not_depend_on_workers_or_on_where_the_table_is(table, items, tmp_path):
    one = run(asked(table, features=items), workers=1)
    items.to_parquet(tmp_path / "items.parquet")
    two = run(asked(table, features=tmp_path / "items.parquet"), workers=2)
    pd.testing.assert_frame_equal(one.values, two.values)
    assert one.key == two.key
    assert one.values["value"].notna().all()
    one.save(tmp_path / "kept")
    assert load_result(tmp_path / "kept").key == one.key
    # The twin: without them P is the same, and with others ILD is another.
    alone = run(asked(table, ("P@3",)))
    assert alone.values["value"].tolist() == one.values.query("metric == 'P@3'")["value"].tolist()
    other = run(asked(table, features=items.assign(genres=items["genres"].iloc[::-1].tolist())))
    assert not other.values["value"].equals(one.values["value"])


def test_what_is_missing_is_named_before_anything_is_trained(table, items, tmp_path):
    with pytest.raises(ConfigError, match=r"ILD@3 under .*: it looks at features of items; give"):
        asked(table)
    with pytest.raises(MissingData, match=r"no file .*gone.csv"):
        run(asked(table, features=tmp_path / "gone.csv"))
    with pytest.raises(ConfigError, match=r"features is list .*: expected the path of a table"):
        asked(table, features=[1])
    mixed = pd.DataFrame({"item_id": [1, "a"], "genres": ["x", "y"]})
    with pytest.raises(DataError, match="DataFrame: it cannot be kept as Parquet"):
        asked(table, features=mixed)
    strangers = items.assign(item_id=[f"no {item}" for item in items["item_id"]])
    with pytest.raises(DataError, match="no item of the ratings has a feature"):
        run(asked(table, features=strangers))
