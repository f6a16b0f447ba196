import dataclasses
import json
import os
import re
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tqdm import tqdm

import golden
from recbias import Grid, System, line_up, run
from recbias._system.streams import stream
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError, MissingData, StoreError, StoreWarning
from recbias.experiment import engine
from recbias.experiment import run as experiment
from recbias.experiment.results import Quantity, load_result, results_dir
from recbias.experiment.run import grid_tables
from recbias.experiment.store import digest
from recbias.metrics import ListView, aggregation, influence, measure, parse_metric
from recbias.metrics.aggregation import aggregate, contributions, finish, units
from recbias.protocol.targets import Targets, popularity_groups
from recbias.protocol.testset import TestSet, dataset_splits, reduced_split
from recbias.ranking import rank_once, top_items
from recbias.recommenders import Algorithm, algorithm
from recbias.stats.comparison import user_means
from recbias.stats.resampling import weighted_medians

FEW = ("Random", "Popularity", "kNN (ranking)")
N_SEEDS = 3
N_CELLS = 3 * (N_SEEDS + 1 + 1)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))
    monkeypatch.delenv("RECBIAS_DATA", raising=False)


def _grid(folder):
    few = [system for system in line_up("bcc17") if system.name in FEW]
    return Grid(
        str(golden.small_table(folder)),
        [
            dataclasses.replace(system, n_seeds=N_SEEDS) if system.n_seeds > 1 else system
            for system in few
        ],
        {"AR": "TI-AN-AR rel>=5", "1R": "TI-NN-1R t=20 rel>=5"},
        {"AR": ("P@10", "nDCG@10"), "1R": ("P@10", "rho")},
        split="k-fold 3",
        seed=5,
        compare=(("AR", "P@10"), ("1R", "P@10")),
    )


@pytest.fixture
def grid(tmp_path):
    return _grid(tmp_path)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Run the grid once; return its results and the folder of its cells."""
    folder = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(folder / "cells"))
        patch.setenv("RECBIAS_RESULTS", str(folder / "results"))
        patch.delenv("RECBIAS_DATA", raising=False)
        return run(_grid(folder)), folder / "cells"


@pytest.fixture
def with_cells(measured, tmp_path):
    """Start with a copy of the cells that the grid asks for."""
    shutil.copytree(measured[1], tmp_path / "cells")


@pytest.fixture
def results(measured, with_cells):
    """Give what the grid measures, and its cells."""
    return measured[0]


def _bits(results):
    numbers = results.values.select_dtypes("number").to_numpy().tobytes()
    drawn = b"".join(results.replicates[row].tobytes() for row in sorted(results.replicates))
    return numbers + drawn + results.tests.to_csv().encode()


def test_values_are_the_mean_of_what_the_tables_measure(grid, results):
    for label, text in (("AR", "P@10"), ("AR", "nDCG@10"), ("1R", "P@10")):
        protocol = grid.parsed[label]
        sums = {}
        for system, _, _, table in grid_tables(grid, label):
            values = measure(table, [parse_metric(text)], min_rating=5)
            one = aggregate(table, values, min_rating=5, population=protocol.averaging.population)[
                0
            ]
            weight = len(table.rank) if label == "1R" else table.n_users
            sums.setdefault(system, []).append((one * weight, weight))
        for system, parts in sums.items():
            by_hand = sum(value for value, _ in parts) / sum(weight for _, weight in parts)
            assert results[system, label, text].value == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.usefixtures("with_cells")
def test_random_is_averaged_over_its_seeds_which_differ(grid):
    rows = grid_tables(grid, "AR")
    tables = [table for name, fold, _, table in rows if (name, fold) == ("Random", 0)]
    assert len(tables) == N_SEEDS
    assert len({table.rank.tobytes() for table in tables}) == N_SEEDS


def test_a_cell_is_computed_once_and_reused_by_other_grids(grid):
    assert run(grid).times["computed"] == N_CELLS
    assert run(grid).times["computed"] == 0
    wider = Grid.from_dict(
        {**grid.to_dict(), "metrics": {"AR": ["AP"], "1R": ["RR"]}, "compare": []}
    )
    assert run(wider).times["computed"] == 0
    assert run(Grid.from_dict({**grid.to_dict(), "seed": 6})).times["computed"] == N_CELLS


@pytest.mark.parametrize("damage", ["truncated", "flipped", "swapped"])
def test_a_damaged_cell_is_computed_again_with_a_warning(grid, results, tmp_path, damage):
    expected = _bits(results)
    cells = sorted((tmp_path / "cells").rglob("*.parquet"))
    content = cells[0].read_bytes()
    if damage == "truncated":
        cells[0].write_bytes(content[:100])
    elif damage == "flipped":
        middle = len(content) // 2
        cells[0].write_bytes(
            content[:middle] + bytes([content[middle] ^ 8]) + content[middle + 1 :]
        )
    else:
        cells[0].write_bytes(cells[1].read_bytes())
    with pytest.warns(StoreWarning, match=f"{cells[0].name}: was damaged, computed again"):
        assert _bits(run(grid)) == expected
    # The provenance in the file has times; what counts is the same.
    assert _bits(run(grid)) == expected


def test_intervals_come_from_users_and_cover_the_value(results):
    values = results.values
    assert ((values["low"] <= values["value"]) & (values["value"] <= values["high"])).all()
    personal = values[values["metric"] != "rho"]
    assert (personal["se"] > 0).all()


def test_tests_compare_all_pairs_per_user_and_per_run(results):
    tests = results.tests
    assert tests.groupby(["label", "unit"]).size().to_dict() == {
        ("AR", "user"): 3, ("1R", "user"): 3, ("1R", "run"): 3,
    }  # fmt: skip


@pytest.mark.parametrize("population", ["all", "relevant", "tested"])
def test_paired_tests_are_over_the_population_of_the_protocol(grid, population):
    # On a single fold the test's difference is that of the values, over as many users.
    asked = {"AR": f"TI-AN-AR rel>=5 users={population}"}
    single = Grid.from_dict(
        {
            **grid.to_dict(),
            "protocols": asked,
            "metrics": ["R@10"],
            "split": "ratio 0.3",
            "compare": [["AR", "R@10"]],
        }
    )
    results = run(single)
    for row in results.tests.itertuples():
        a, b = (results[name, "AR", "R@10"] for name in (row.a, row.b))
        assert row.difference == pytest.approx(a.value - b.value, abs=1e-12)
        assert row.n == results.values["n_users"].iloc[0]
    split = dataset_splits(load_dataset(grid.dataset), "ratio 0.3", seed=5)[0]
    liked = np.unique(split.test.user[split.test.value >= 5])
    n_users = {
        "all": split.test.n_users,
        "tested": len(np.unique(split.test.user)),
        "relevant": len(liked),
    }
    assert set(results.tests["n"]) == {n_users[population]}


@pytest.mark.usefixtures("with_cells")
def test_a_user_of_a_test_is_a_mean_over_their_folds(grid):
    asked = {"AR": "TI-AN-AR rel>=5 users=relevant"}
    several = Grid.from_dict(
        {**grid.to_dict(), "protocols": asked, "metrics": ["R@10"], "compare": [["AR", "R@10"]]}
    )
    results = run(several)
    by_hand = {}
    for system, _, _, table in grid_tables(several, "AR"):
        if system == "Random":
            continue
        values = measure(table, [parse_metric("R@10")], min_rating=5)[0]
        for user in np.flatnonzero(~np.isnan(values)):
            by_hand.setdefault(system, {}).setdefault(int(user), []).append(values[user])
    means = {
        system: np.array([np.mean(by_user[user]) for user in sorted(by_user)])
        for system, by_user in by_hand.items()
    }
    row = results.tests.set_index(["a", "b"]).loc[("Popularity", "kNN (ranking)")]
    difference = means["Popularity"] - means["kNN (ranking)"]
    assert row["difference"] == pytest.approx(difference.mean(), abs=1e-12)
    assert row["n"] == len(difference)


def test_grid_prints_and_parses_back(grid):
    assert Grid.from_dict(json.loads(json.dumps(grid.to_dict()))).to_dict() == grid.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"protocols": ["TI-AN"]}, "cannot read protocol"),
        ({"metrics": ["Q@10"]}, "unknown metric"),
        ({"split": "kfold 5"}, "unknown split rule"),
        ({"systems": ()}, "systems: got none, expected one or more"),
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


@pytest.mark.usefixtures("with_cells")
def test_no_workers_are_refused_even_where_nothing_is_left_to_do(grid):
    with pytest.raises(ConfigError, match="workers=0: expected at least 1"):
        run(grid, workers=0)
    with pytest.raises(ConfigError, match="workers='2': expected at least 1"):
        run(grid, workers="2")


def test_a_threshold_above_the_scale_is_refused(grid):
    too_high = {**grid.to_dict(), "protocols": ["TI-AN-AR rel>=6"], "metrics": ["P@10"]}
    with pytest.raises(
        ConfigError, match=r"no rating of small.csv is that high; its scale is 1 to 5"
    ):
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


def test_an_unknown_quantity_is_named(results):
    with pytest.raises(ConfigError, match="not measured: AP of Popularity under AR"):
        results["Popularity", "AR", "AP"]


def test_quantities_pair_their_replicates():
    a, b = Quantity(2.0, np.array([1.0, 3.0])), Quantity(1.0, np.array([1.0, 2.0]))
    assert (a - b).replicates.tolist() == [0.0, 1.0]
    assert (a / b).replicates.tolist() == [1.0, 1.5]
    assert np.isnan((a / Quantity(0.0, np.zeros(2))).value)


# -- recorded results -------------------------------------------------------------------------


@pytest.fixture
def recorded(grid, results, tmp_path, monkeypatch):
    """Pretend that the small table is a named dataset with recorded results, absent today."""
    from recbias.experiment import results as stored

    results = dataclasses.replace(results, dataset={**results.dataset, "name": "small"})
    folder = tmp_path / "recorded"
    results.save(folder / "small" / "chapter" / "table")
    content_hash = results.dataset["content_hash"]

    def results_dir(dataset, *, recorded):
        return folder / dataset

    def absent(name, data_dir=None):
        raise MissingData(f"{name} is not here")

    monkeypatch.setattr(experiment, "results_dir", results_dir)
    monkeypatch.setattr(stored, "results_dir", results_dir)
    monkeypatch.setattr(experiment, "load_dataset", absent)
    info = type("Info", (), {"content_hash": content_hash})
    monkeypatch.setattr(experiment, "dataset_info", lambda name: info)
    named = Grid.from_dict({**grid.to_dict(), "dataset": "small"})
    return named, folder / "small" / "chapter" / "table", results


def test_recorded_results_stand_in_for_absent_data_bit_for_bit(recorded):
    grid, _, results = recorded
    again = run(grid, name="chapter/table")
    assert again.origin == "recorded"
    assert _bits(again) == _bits(results)


def test_a_deleted_record_is_noticed(recorded):
    grid, path, _ = recorded
    path.with_suffix(".json").unlink()
    with pytest.raises(StoreError, match=r"table\.json: missing result.*record it again"):
        run(grid, name="chapter/table")


def test_a_deleted_sidecar_is_noticed(recorded):
    grid, path, _ = recorded
    path.with_suffix(".parquet").unlink()
    with pytest.raises(StoreError, match=r"table\.parquet"):
        run(grid, name="chapter/table")


def test_an_edited_value_is_noticed(recorded):
    grid, path, _ = recorded
    document = path.with_suffix(".json")
    record = json.loads(document.read_text())
    record["body"]["values"]["columns"]["value"][0] += 1e-6
    document.write_text(json.dumps(record))
    with pytest.raises(StoreError, match="changed after it was computed"):
        run(grid, name="chapter/table")


def test_other_parameters_than_recorded_are_refused(recorded):
    grid, _, _ = recorded
    other = Grid.from_dict({**grid.to_dict(), "seed": 6})
    with pytest.raises(StoreError, match="recorded with other parameters"):
        run(other, name="chapter/table")


def never(*args, **kwargs):
    raise AssertionError("computed again")


@pytest.mark.usefixtures("with_cells")
def test_a_live_result_of_the_same_key_is_read_bit_for_bit(grid, tmp_path, monkeypatch):
    first = run(grid, name="chapter/table")
    moved = tmp_path / "elsewhere" / Path(grid.dataset).name
    moved.parent.mkdir()
    shutil.copy(grid.dataset, moved)
    monkeypatch.setattr(experiment, "_measure_grid", never)
    again = run(grid, name="chapter/table")
    assert (again.origin, again.grid) == ("live", grid)
    assert _bits(again) == _bits(first)
    there = dataclasses.replace(grid, dataset=str(moved))
    assert run(there, name="chapter/table").grid == there
    for other in ("chapter/other", ""):
        with pytest.raises(AssertionError, match="computed again"):
            run(grid, name=other)


@pytest.mark.usefixtures("with_cells")
@pytest.mark.parametrize("changed", ["seed", "revision", "rating", "damage", "left out", "code"])
def test_a_live_result_that_anything_changed_is_computed_again(grid, changed, monkeypatch):
    first = run(grid, name="chapter/table")
    path = results_dir(first.dataset["name"], recorded=False) / "chapter" / "table"
    if changed == "seed":
        grid = dataclasses.replace(grid, seed=6)
    elif changed == "revision":
        monkeypatch.setattr(aggregation, "REVISION", aggregation.REVISION + 1)
    elif changed == "rating":
        table = Path(grid.dataset)
        lines = table.read_text().splitlines()
        lines[1] = re.sub(r"\d(\D*)$", r"1\1", lines[1])
        table.write_text("\n".join(lines) + "\n")
    elif changed == "damage":
        path.with_suffix(".parquet").write_bytes(b"nothing")
    elif changed == "code":
        before = Path(experiment.__file__).stat().st_mtime - 1
        os.utime(path.with_suffix(".json"), (before, before))
    else:
        few = grid.without({grid.systems[0].name: "cannot be trained"})
        part = dataclasses.replace(run(few), left_out={grid.systems[0].name: "cannot be trained"})
        part.save(path)
    monkeypatch.setattr(experiment, "_measure_grid", never)
    with pytest.raises(AssertionError, match="computed again"):
        run(grid, name="chapter/table")


def test_a_record_of_another_revision_is_refused(recorded, monkeypatch):
    grid, path, _ = recorded
    monkeypatch.setattr(aggregation, "REVISION", aggregation.REVISION + 1)
    with pytest.raises(StoreError, match="computed by another revision"):
        run(grid, name="chapter/table")
    with pytest.raises(StoreError, match="computed by another revision"):
        load_result(path)


def test_without_record_absent_data_is_missing(recorded):
    grid, _, _ = recorded
    with pytest.raises(MissingData):
        run(grid)


def test_splits_of_a_grid_are_those_of_its_seed(grid):
    dataset = load_dataset(grid.dataset)
    first, again, other = (dataset_splits(dataset, grid.split, seed=seed) for seed in (5, 5, 6))
    assert digest(first[0].test.item.tobytes()) == digest(again[0].test.item.tobytes())
    assert digest(first[0].test.item.tobytes()) != digest(other[0].test.item.tobytes())


def test_nothing_is_left_behind_when_a_cell_fails(grid, tmp_path, monkeypatch):
    from recbias.experiment import cells

    def fail(*args, **kwargs):
        raise RuntimeError("no")

    monkeypatch.setattr(cells, "rank_once", fail)
    with pytest.raises(RuntimeError):
        run(grid)
    assert not list((tmp_path / "cells").rglob("*.*"))


# -- what follows without training -----------------------------------------------------------------


@pytest.fixture
def fits(monkeypatch):
    """Count how often anything is trained."""
    counted = []
    original = Algorithm.fit

    def fit(self, train, **options):
        counted.append(type(self).__name__)
        return original(self, train, **options)

    monkeypatch.setattr(Algorithm, "fit", fit)
    return counted


DERIVED = {
    "thinned": ("TI-AN-AR rel>=5", "removed=40%", ("P@10", "R@10", "nDCG@10", "rho")),
    "thinned runs": ("TI-AN-1R rel>=5", "removed=40%", ("P@10", "P@10|t=30")),
    "headless": ("TI-AN-AR rel>=5", "head=10%", ("P@10", "R@10", "rho")),
    "all at once": ("AI-AN-1R rel>=5", "removed=30% head=20% items=4-9/10", ("P@10", "P@5|t=9")),
    "tail only": ("TI-AN-AR rel>=5", "items=6-10/10", ("R@10", "P@10")),
    "any size": ("TI-AN-1R rel>=5", "", ("P@10|t=5", "lower@10|t=50", "upper@10|t=50")),
    "percentiles": ("TI-AN-P1R m=5 rel>=5", "", ("P@3|t=10",)),
    "runs of percentiles": ("TI-AN-P1R m=5 rel>=5 users=runs", "", ("P@3|t=10", "rho|t=10")),
    "control": ("TI-AN-1R +train rel>=5", "", ("P@10|t=30",)),
    "condensed": ("AI-AN-AR rel>=4 condensed", "", ("P@10", "antiP@10")),
    "lists": ("AI-AN-AR rel>=4", "", ("Gini@20", "Coverage@5", "ARP@10")),
    "medians": ("AI-AN-AR rel>=4 users=relevant statistic=median", "", ("AP", "R@10")),
    "geometric": ("AI-AN-AR rel>=4 weights=ratings statistic=geometric", "", ("AP",)),
}


def test_derived_quantities_need_no_training(grid, fits):
    plain = {**grid.to_dict(), "protocols": {"AR": "TI-AN-AR rel>=5"}, "metrics": ["P@10"]}
    run(Grid.from_dict({**plain, "compare": []}))
    assert len(fits) == N_CELLS
    wide = {
        **plain,
        "protocols": {label: asked[0] for label, asked in DERIVED.items()},
        "metrics": {label: list(asked[2]) for label, asked in DERIVED.items()},
        "tests": {label: asked[1] for label, asked in DERIVED.items() if asked[1]},
        "compare": [],
    }
    results = run(Grid.from_dict(wide))
    assert len(fits) == N_CELLS
    assert results.values["value"].notna().all()
    assert (results.values["value"] > 0).any()


def test_derived_values_equal_those_of_fresh_rankings(grid):
    """Fit again, take the test ratings out of the split itself, and rank that."""
    system = next(each for each in grid.systems if each.name == "kNN (ranking)")
    of_ranks = {label: asked for label, asked in DERIVED.items() if label != "lists"}
    asked = Grid(
        grid.dataset,
        (system,),
        {label: text for label, (text, _, _) in of_ranks.items()},
        {label: texts for label, (_, _, texts) in of_ranks.items()},
        split=grid.split,
        seed=grid.seed,
        tests={label: side for label, (_, side, _) in of_ranks.items() if side},
    )
    results = run(asked)
    dataset = load_dataset(grid.dataset)
    folds = dataset_splits(dataset, grid.split, seed=grid.seed)
    models = [
        system.build().fit(
            fold.train, rng=stream(grid.seed, "train", system.stream_label(), fold.fold, 0)
        )
        for fold in folds
    ]
    for label, (_, side, texts) in of_ranks.items():
        protocol, test = asked.parsed[label], TestSet.parse(side)
        columns, units_of = [], []
        for fold, model in zip(folds, models, strict=True):
            groups = popularity_groups(fold.train, 10)
            split = reduced_split(fold, test, groups, seed=grid.seed)
            targets = Targets(protocol.rule, protocol.min_rating)
            if test.head and protocol.rule.candidates == "AI":
                # What is not a candidate has no score to rank by.
                model = Headless(model, groups.labels < 2)
            seed = int(stream(grid.seed, "rank", fold.fold).integers(2**63))
            positions, _ = rank_once(model, split, groups=groups, depth=1, seed=seed)
            table = positions.table(targets.rule, min_rating=targets.min_rating)
            if test.head and protocol.rule.candidates == "AI":
                lost = np.bincount(fold.train.user[(groups.labels < 2)[fold.train.item]],
                                   minlength=table.n_users)  # fmt: skip
                sizes = table.n_targets - int((groups.labels < 2).sum()) + lost[table.user]
                table = dataclasses.replace(table, n_targets=sizes.astype(np.int32))
            metrics = [parse_metric(text) for text in texts]
            values = measure(
                table,
                metrics,
                min_rating=protocol.min_rating,
                condensed=protocol.condensed,
                rating_max=5,
            )
            options = {"min_rating": protocol.min_rating}
            if protocol.averaging.statistic == "median":
                units_of.append(units(table, values, protocol.averaging, **options))
            else:
                by_group = protocol.averaging.population == "groups"
                n_groups = protocol.rule.n_groups if by_group else 1
                columns.append(
                    contributions(
                        table, values, protocol.averaging, **options,
                        group=table.group, n_groups=n_groups,
                    )
                )  # fmt: skip
        if units_of:
            joined = [np.concatenate(each, axis=-1) for each in zip(*units_of, strict=True)]
            everybody = np.ones((1, dataset.ratings.n_users), dtype=np.uint8)
            expected = weighted_medians(*joined, everybody)[:, 0]
        else:
            total = np.sum(columns, axis=0).sum(axis=1)
            expected = finish(total, protocol.averaging, len(metrics), n_groups)
        got = [results[system.name, label, str(metric)].value for metric in metrics]
        np.testing.assert_allclose(got, expected, rtol=1e-12, err_msg=label)


class Headless:
    """A model that has no score for some items."""

    def __init__(self, model, hidden):
        self.model, self.hidden = model, hidden

    def fit(self, train, *, rng=None):
        return self

    def score(self, users):
        scores = self.model.score(users)
        scores[:, self.hidden] = np.nan
        return scores


def test_metrics_of_lists_are_means_over_folds_and_seeds_of_the_population(grid):
    asked = Grid(
        grid.dataset,
        (System("Random", "Random", n_seeds=2), System("Popularity", "Popularity")),
        {"AR": "AI-AN-AR rel>=5 users=relevant"},
        ("Gini@10", "Coverage@10", "ARP@10", "CI@10", "PL@10"),
        split="k-fold 2",
        seed=3,
    )
    results = run(asked)
    dataset = load_dataset(grid.dataset)
    folds = dataset_splits(dataset, "k-fold 2", seed=3)
    n_items = dataset.ratings.n_items
    for system in asked.systems:
        ginis, coverages, moved, arp, cis, lifts = [], [], [], [], [], []
        for fold in folds:
            member = np.unique(fold.test.user[fold.test.value >= 5])
            counts = fold.train.item_counts()
            liked = np.bincount(fold.train.item[fold.train.value >= 5], minlength=n_items)
            own = counts[fold.train.item]
            profiles = [own[fold.train.user == user] for user in range(fold.train.n_users)]
            usual = np.mean([each.mean() for each in profiles if len(each)])
            for repeat in range(system.n_seeds):
                label = system.stream_label()
                rng = stream(3, "train", label, fold.fold, repeat)
                model = system.build().fit(fold.train, rng=rng)
                seed = int(stream(3, "rank", fold.fold).integers(2**63))
                lists = top_items(model, fold, cutoff=10, candidates="AI", seed=seed)[member]
                held = np.bincount(lists.ravel(), minlength=n_items)
                gap = liked / liked.sum() - held / held.sum()
                cis.append((gap * np.log((liked + 1) / (held + 1))).sum() / 2)
                shown = np.sort(held)
                places = np.arange(1, n_items + 1)
                ginis.append(((2 * places - n_items - 1) * shown).sum() / (n_items * shown.sum()))
                coverages.append((shown > 0).mean())
                view = ListView(lists, n_items, counts)
                own = influence(view, [parse_metric("Gini@10")])[0]
                everyone = np.zeros(dataset.ratings.n_users)
                everyone[member] = own / len(member)
                moved.append(everyone)
                arp.append(counts[lists].mean(axis=1))
                lifts.append(arp[-1] / usual - 1)
        found = {m: results[system.name, "AR", m].value for m in ("Gini@10", "Coverage@10")}
        assert found["Gini@10"] == pytest.approx(np.mean(ginis), abs=1e-12)
        assert found["Coverage@10"] == pytest.approx(np.mean(coverages), abs=1e-12)
        ci = results[system.name, "AR", "CI@10"].value
        assert ci == pytest.approx(np.mean(cis), abs=1e-12)
        # Of replicates only the spread is known by hand: that of sums of (w - 1) I / n.
        spread = np.sqrt((np.mean(moved, axis=0) ** 2).sum())
        row = results.table("AR", "Gini@10").loc[system.name]
        assert row["se"] == pytest.approx(spread, rel=0.15)  # 500 replicates: 3 % and 5 of those
        assert (row["low"] + row["high"]) / 2 == pytest.approx(row["value"], abs=1e-12)
        assert np.isnan(results.table("AR", "Coverage@10").loc[system.name, "low"])
        if system.n_seeds == 1:
            for metric, by_user in (("ARP@10", arp), ("PL@10", lifts)):
                assert results[system.name, "AR", metric].value == pytest.approx(
                    np.concatenate(by_user).mean(), rel=1e-12
                )


@pytest.mark.usefixtures("with_cells")
def test_a_question_that_the_artefact_cannot_answer_says_that_it_trains_again(
    grid, capsys, monkeypatch
):
    monkeypatch.setattr(engine, "tqdm", partial(tqdm, disable=False))
    other = Grid.from_dict(
        {**grid.to_dict(), "protocols": {"AR": "TI-AN-AR rel>=5", "1R": "TI-NN-1R t=9 rel>=5"}}
    )
    assert run(other).times["computed"] == N_CELLS
    assert "trained again for TI-NN-1R t=9 rel>=5, observed" in capsys.readouterr().err
    wider = Grid.from_dict({**grid.to_dict(), "groups": "popularity 4"})
    run(wider)
    assert "trained again for counts by 4 groups, observed" in capsys.readouterr().err


def test_other_judgments_have_cells_and_keys_of_their_own():
    def world_grid(**tests):
        return Grid(
            "world(users=60,items=80,density=.1,seed=4)",
            (System("Popularity", "Popularity"), System("Random", "Random")),
            {"seen": "TI-AN-AR rel>=4", "true": "TI-AN-AR rel>=4"},
            ("P@5", "R@5"),
            split="k-fold 2",
            tests=tests,
        )

    results = run(world_grid(true="truth"))
    again = run(world_grid(true="truth sample=20"))
    assert results.key != again.key != run(world_grid()).key
    assert set(results.dataset["hashes"]) == {"observed", "truth"}
    seen, true = (results["Popularity", label, "P@5"].value for label in ("seen", "true"))
    assert true > seen  # most of what users would like is not observed
    # An exact value by hand: the share of liked items among the five most popular untrained ones.
    dataset = load_dataset(results.grid.dataset)
    stars = dataset.truth.true_rating(np.arange(60))
    by_hand = []
    for fold in dataset_splits(dataset, "k-fold 2", seed=1):
        counts = fold.train.item_counts()
        for user in range(60):
            train = fold.train.item[fold.train.user == user]
            open_ = np.setdiff1d(np.arange(80), train)
            top = np.sort(counts[open_])[::-1][:5]
            sure = open_[counts[open_] > top[-1]]
            tied = open_[counts[open_] == top[-1]]
            liked = (stars[user, sure] >= 4).sum()
            liked = liked + (5 - len(sure)) * (stars[user, tied] >= 4).mean()
            by_hand.append(liked / 5)
    # Ties at the border are broken at random: 5 standard errors of at most .2 a user.
    assert abs(np.mean(by_hand) - true) < 5 * 0.2 / np.sqrt(len(by_hand))


# -- data that changes under one name -------------------------------------------------------------


@pytest.mark.usefixtures("with_cells")
def test_an_edited_table_is_not_taken_for_the_old_one(grid, tmp_path):
    before = run(grid)
    table = tmp_path / "small.csv"
    lines = table.read_text().splitlines()
    # Stars of the first half are turned around: other ranks under another key, in one process.
    half = len(lines) // 2
    turned = [",".join([*line.split(",")[:2], str(6 - float(line.split(",")[2]))])
              for line in lines[1:half]]  # fmt: skip
    table.write_text("\n".join([lines[0], *turned, *lines[half:]]) + "\n")
    after = run(grid)
    assert after.key != before.key
    assert after.times["computed"] == N_CELLS
    fresh = tmp_path / "again" / "small.csv"
    fresh.parent.mkdir()
    shutil.copy(table, fresh)
    alone = run(Grid.from_dict({**grid.to_dict(), "dataset": str(fresh)}))
    assert _bits(alone) == _bits(after) != _bits(before)


def test_a_cell_whose_data_changed_writes_nothing(grid, tmp_path):
    from recbias.experiment.cells import grid_cells, run_cell

    cells = grid_cells(grid, load_dataset(grid.dataset), None)
    table = tmp_path / "small.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join(lines[:-5]) + "\n")
    import recbias.experiment.folds as module

    module._DATASETS.clear()
    for cached in (module.source_splits, module.source_groups):
        cached.cache_clear()
    with pytest.raises(StoreError, match="it changed while an experiment ran; nothing was written"):
        run_cell(cells[0][1])
    assert not list((tmp_path / "cells").rglob("*.parquet"))


def test_a_cell_whose_class_changed_writes_nothing(grid, tmp_path, monkeypatch):
    from recbias.experiment.cells import grid_cells, run_cell

    (_, cell), *_ = grid_cells(grid, load_dataset(grid.dataset), None)
    name = json.loads(cell.identity)["algorithm"]
    monkeypatch.setattr(algorithm(name), "revision", 7)
    with pytest.raises(StoreError, match="its class changed while an experiment ran; nothing"):
        run_cell(cell)
    assert not list((tmp_path / "cells").rglob("*.parquet"))


@pytest.mark.usefixtures("with_cells")
def test_measures_of_a_metric_that_changed_are_refused(grid, monkeypatch):
    from recbias.experiment.grid import Outside
    from recbias.experiment.reduction import Task, metric_identities, reduce_fold
    from recbias.metrics import base

    changed = dataclasses.replace(base._DECLARATIONS["P", ()], revision=2)
    stale = metric_identities(grid)
    monkeypatch.setitem(base._DECLARATIONS, ("P", ()), changed)
    with pytest.raises(StoreError, match="the code of a metric changed"):
        reduce_fold(Task(Outside((), ()), stale, grid, ()))


@pytest.mark.filterwarnings("ignore:split 'temporal-user 0.3'")  # shares of small profiles
@pytest.mark.parametrize("split", ["temporal 0.3", "temporal-user 0.3"])
def test_other_times_are_another_split(tmp_path, split):
    frame = pd.read_csv(golden.small_table(tmp_path))
    keys, values = [], []
    for seed in (1, 2):
        frame["timestamp"] = np.random.default_rng(seed).integers(0, 10**6, len(frame))
        frame.to_csv(tmp_path / "timed.csv", index=False)
        timed = Grid(
            str(tmp_path / "timed.csv"),
            (System("Popularity", "Popularity"),),
            ("TI-AN-1R rel>=4",),
            ("P@5",),
            split=split,
        )
        results = run(timed)
        keys.append(results.key)
        values.append(results["Popularity", "TI-AN-1R rel>=4", "P@5"].value)
        assert results.times["computed"] == 1
    assert keys[0] != keys[1]
    assert values[0] != values[1]


@pytest.mark.usefixtures("with_cells")
def test_a_healthy_cell_is_no_damage(grid, tmp_path):
    import recbias.experiment.folds as module

    before = sorted((tmp_path / "cells").rglob("*.parquet"))
    table = tmp_path / "small.csv"
    tables = grid_tables(grid, "AR")
    next(tables)
    table.write_text("\n".join(table.read_text().splitlines()[:-5]) + "\n")
    module._DATASETS.clear()
    for cached in (module.source_splits, module.source_groups, module.source_sizes):
        cached.cache_clear()
    with pytest.raises(StoreError, match="it changed while an experiment ran"):
        list(tables)
    assert sorted((tmp_path / "cells").rglob("*.parquet")) == before


def test_runs_of_a_user_are_one_unit(grid, results):
    tables = [t for name, _, _, t in grid_tables(grid, "1R") if name == "Popularity"]
    values = np.concatenate(
        [measure(table, [parse_metric("P@10")], min_rating=5)[0] for table in tables]
    )
    owner = np.concatenate([table.user for table in tables])
    row = results.tests.query("label == '1R' and unit == 'user' and a == 'Popularity'").iloc[0]
    assert row["n"] == len(user_means(values, owner))
