import json
import shutil

import numpy as np
import pytest

import golden
from recbias import Grid, System, line_up, run
from recbias.aggregation import aggregate
from recbias.datasets import load_dataset
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.experiment import (
    Quantity,
    dataset_splits,
    grid_tables,
    load_results,
    stored_results,
    verify,
)
from recbias.metrics import measure, parse_metric
from recbias.store import digest, write_document

FEW = ("Random", "Popularity", "kNN (ranking)")


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))
    monkeypatch.delenv("RECBIAS_DATA", raising=False)


@pytest.fixture
def grid(tmp_path):
    return Grid(
        str(golden.small_table(tmp_path)),
        [system for system in line_up("bcc17") if system.name in FEW],
        {"AR": "TI-AN-AR rel>=5", "1R": "TI-NN-1R t=20 rel>=5"},
        {"AR": ("P@10", "nDCG@10"), "1R": ("P@10", "rho")},
        split="k-fold 3",
        seed=5,
        compare=(("AR", "P@10"), ("1R", "P@10")),
    )


def _bits(results):
    numbers = results.values.select_dtypes("number").to_numpy().tobytes()
    return numbers + results.replicates.tobytes() + results.tests.to_csv().encode()


def test_values_are_the_mean_of_what_the_tables_measure(grid):
    results = run(grid)
    for label, text in (("AR", "P@10"), ("AR", "nDCG@10"), ("1R", "P@10")):
        protocol = grid.parsed[label]
        sums = {}
        for system, _, _, table in grid_tables(grid, label):
            values = measure(table, [parse_metric(text)], min_rating=5)
            one = aggregate(table, values, min_rating=5, population=protocol.population)[0]
            weight = len(table.rank) if label == "1R" else table.n_users
            sums.setdefault(system, []).append((one * weight, weight))
        for system, parts in sums.items():
            by_hand = sum(value for value, _ in parts) / sum(weight for _, weight in parts)
            assert results[system, label, text].value == pytest.approx(by_hand, abs=1e-12)


def test_random_is_averaged_over_its_seeds_which_differ(grid):
    tables = [table for system, fold, _, table in grid_tables_of(grid, "Random") if fold == 0]
    assert len(tables) == 10
    assert len({table.rank.tobytes() for table in tables}) == 10


def grid_tables_of(grid, system):
    run(grid)
    return [row for row in grid_tables(grid, "AR") if row[0] == system]


def test_a_cell_is_computed_once_and_reused_by_other_grids(grid):
    assert run(grid).provenance["computed"] == 3 * (10 + 1 + 1)
    assert run(grid).provenance["computed"] == 0
    wider = Grid.from_dict(
        {**grid.to_dict(), "metrics": {"AR": ["AP"], "1R": ["RR"]}, "compare": []}
    )
    assert run(wider).provenance["computed"] == 0
    assert run(Grid.from_dict({**grid.to_dict(), "seed": 6})).provenance["computed"] == 36


def test_a_damaged_cell_is_refused(grid, tmp_path):
    run(grid)
    cell = next((tmp_path / "cells").rglob("*.parquet"))
    cell.write_bytes(cell.read_bytes()[:100])
    with pytest.raises(StoreError, match="delete it and rerun"):
        run(grid)


def test_intervals_come_from_users_and_cover_the_value(grid):
    values = run(grid).values
    assert ((values["low"] <= values["value"]) & (values["value"] <= values["high"])).all()
    personal = values[values["metric"] != "rho"]
    assert (personal["se"] > 0).all()


def test_tests_compare_all_pairs_per_user_and_per_run(grid):
    tests = run(grid).tests
    assert tests.groupby(["label", "unit"]).size().to_dict() == {
        ("AR", "user"): 3, ("1R", "user"): 3, ("1R", "run"): 3,
    }  # fmt: skip


def test_grid_prints_and_parses_back(grid):
    assert Grid.from_dict(json.loads(json.dumps(grid.to_dict()))).to_dict() == grid.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocols": ["TI-AN"]}, "cannot read protocol"),
        ({"metrics": ["Q@10"]}, "unknown metric"),
        ({"split": "kfold 5"}, "unknown split rule"),
        ({"systems": ()}, "different names"),
        ({"systems": (System("A", "Random"), System("A", "Popularity"))}, "different names"),
        ({"compare": (("AR", "P@10"),)}, "not measured"),
        ({"metrics": {"AR": ["P@10"]}}, "metrics are given for"),
    ],
)
def test_wrong_grids_are_refused_before_any_work(change, message):
    arguments = {
        "dataset": "synthetic",
        "systems": (System("A", "Random"),),
        "protocols": ["TI-AN-AR rel>=5"],
        "metrics": ["P@10"],
    }
    with pytest.raises(ConfigError, match=message):
        Grid(**{**arguments, **change})


def test_a_threshold_above_the_scale_is_refused(grid):
    too_high = {**grid.to_dict(), "protocols": ["TI-AN-AR rel>=6"], "metrics": ["P@10"]}
    with pytest.raises(ConfigError, match="no rating of small is that high; its scale is 1 to 5"):
        run(Grid.from_dict({**too_high, "compare": []}))


def test_a_cutoff_above_the_catalogue_is_refused(grid):
    n_items = load_dataset(grid.dataset).ratings.n_items
    too_long = {"AR": [f"P@{n_items + 1}"], "1R": ["P@10"]}
    with pytest.raises(ConfigError, match=f"the cutoff is above the catalogue .* {n_items} items"):
        run(Grid.from_dict({**grid.to_dict(), "metrics": too_long, "compare": []}))


def test_unusual_target_sets_are_counted(grid):
    asked = {
        "all": "TI-AN-AR rel>=5",
        "1R": "TI-NN-1R t=90 rel>=5",
        "own": "TI-AN-AR rel>=5 condensed",
    }
    wide = Grid.from_dict(
        {**grid.to_dict(), "protocols": asked, "metrics": ["P@10"], "compare": []}
    )
    counted = run(wide).target_sets.set_index("label")
    splits = dataset_splits(load_dataset(grid.dataset), grid.split, seed=grid.seed)
    no_relevant = short = below = runs = 0
    for split in splits:
        for user in range(split.test.n_users):
            rows = split.test.user == user
            relevant = set(split.test.item[rows & (split.test.value == 5)])
            trained = set(split.train.item[split.train.user == user])
            pool = set(split.test_items) - trained - relevant
            no_relevant += not relevant
            below += rows.sum() < 10
            runs += len(relevant)
            short += len(relevant) * (len(pool) < 89)
    assert counted.loc["all", ["sets", "no_relevant", "short_sample"]].tolist() == [
        360,
        no_relevant,
        0,
    ]
    assert counted.loc["1R", ["sets", "short_sample"]].tolist() == [runs, short]
    assert counted.loc["own", "below_cutoff"] == below
    assert short > 0


def test_an_unknown_quantity_is_named(grid):
    with pytest.raises(ConfigError, match="not measured: AP of Popularity under AR"):
        run(grid)["Popularity", "AR", "AP"]


def test_quantities_pair_their_replicates():
    a, b = Quantity(2.0, np.array([1.0, 3.0])), Quantity(1.0, np.array([1.0, 2.0]))
    assert (a - b).replicates.tolist() == [0.0, 1.0]
    assert (a / b).replicates.tolist() == [1.0, 1.5]
    assert np.isnan((a / Quantity(0.0, np.zeros(2))).value)


# -- recorded results -------------------------------------------------------------------------


@pytest.fixture
def recorded(grid, tmp_path, monkeypatch):
    """Pretend that the small table is a named dataset with recorded results, absent today."""
    from recbias import experiment

    results = run(grid)
    folder = tmp_path / "recorded"
    results.save(folder / "small" / "chapter" / "table")
    content_hash = results.dataset["content_hash"]

    def results_dir(dataset, *, recorded):
        return folder / dataset

    def absent(name, data_dir=None):
        raise MissingData(f"{name} is not here")

    monkeypatch.setattr(experiment, "results_dir", results_dir)
    monkeypatch.setattr(experiment, "load_dataset", absent)
    info = type("Info", (), {"content_hash": content_hash})
    monkeypatch.setattr(experiment, "dataset_info", lambda name: info)
    named = Grid.from_dict({**grid.to_dict(), "dataset": "small"})
    return named, folder / "small" / "chapter" / "table", results


def test_recorded_results_stand_in_for_absent_data_bit_for_bit(recorded):
    grid, _, results = recorded
    again = run(grid, record="chapter/table")
    assert again.origin == "recorded"
    assert _bits(again) == _bits(results)


def test_a_deleted_record_is_noticed(recorded):
    grid, path, _ = recorded
    path.with_suffix(".json").unlink()
    with pytest.raises(StoreError, match=r"table\.json: missing result.*record it again"):
        run(grid, record="chapter/table")


def test_a_deleted_sidecar_is_noticed(recorded):
    grid, path, _ = recorded
    path.with_suffix(".parquet").unlink()
    with pytest.raises(StoreError, match=r"table\.parquet"):
        run(grid, record="chapter/table")


def test_an_edited_value_is_noticed(recorded):
    grid, path, _ = recorded
    document = path.with_suffix(".json")
    record = json.loads(document.read_text())
    record["body"]["values"]["columns"]["value"][0] += 1e-6
    document.write_text(json.dumps(record))
    with pytest.raises(StoreError, match="changed after it was computed"):
        run(grid, record="chapter/table")


def test_other_parameters_than_recorded_are_refused(recorded):
    grid, _, _ = recorded
    other = Grid.from_dict({**grid.to_dict(), "seed": 6})
    with pytest.raises(StoreError, match="recorded with other parameters"):
        run(other, record="chapter/table")


def test_a_record_of_another_revision_is_refused(recorded, monkeypatch):
    from recbias import experiment

    grid, path, _ = recorded
    monkeypatch.setattr(experiment, "REVISION", experiment.REVISION + 1)
    with pytest.raises(StoreError, match="this code is revision"):
        run(grid, record="chapter/table")
    with pytest.raises(StoreError, match="this code is revision"):
        load_results(path)


def test_without_record_absent_data_is_missing(recorded):
    grid, _, _ = recorded
    with pytest.raises(MissingData):
        run(grid)


def test_verify_agrees_with_what_was_recorded_and_notices_what_was_not(grid, tmp_path, monkeypatch):
    from recbias import experiment

    results = run(grid)
    folder = tmp_path / "recorded"
    name = load_dataset(grid.dataset).name
    results.save(folder / name / "table")
    monkeypatch.setattr(experiment, "results_dir", lambda dataset, *, recorded: folder / name)
    assert stored_results(folder / name).keys() == {"table"}
    report = verify(grid.dataset, systems=2).iloc[0]
    assert report["agrees"]
    assert report["systems"] == 2
    assert report["difference"] == 0

    document = folder / name / "table.json"
    record = json.loads(document.read_text())
    record["body"]["values"]["columns"]["value"][0] += 1e-3
    del record["digest"]
    write_document(document, **record)
    report = verify(grid.dataset).iloc[0]
    assert not report["agrees"]
    assert report["differing"] in {system.name for system in grid.systems}


def test_splits_of_a_grid_are_those_of_its_seed(grid):
    dataset = load_dataset(grid.dataset)
    first, again, other = (dataset_splits(dataset, grid.split, seed=seed) for seed in (5, 5, 6))
    assert digest(first[0].test.item.tobytes()) == digest(again[0].test.item.tobytes())
    assert digest(first[0].test.item.tobytes()) != digest(other[0].test.item.tobytes())


def test_nothing_is_left_behind_when_a_cell_fails(grid, tmp_path, monkeypatch):
    from recbias import experiment

    def fail(*args, **kwargs):
        raise RuntimeError("no")

    monkeypatch.setattr(experiment, "rank", fail)
    with pytest.raises(RuntimeError):
        run(grid)
    shutil.rmtree(tmp_path / "cells", ignore_errors=True)
    monkeypatch.undo()
