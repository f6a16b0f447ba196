"""Keys outlive growth: new options move none, and a change of code makes stale what it changed."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from dataclasses import dataclass

import pytest

import golden
from recbias import ranking
from recbias.claims.topics import chapters
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError, DataWarning
from recbias.experiment import grid
from recbias.experiment.cells import Artefact, grid_cells
from recbias.experiment.grid import Grid, non_defaults
from recbias.experiment.results import load_result, recorded_datasets, results_dir, stored_results
from recbias.experiment.run import run
from recbias.metrics import aggregation
from recbias.metrics import base as metrics_base
from recbias.metrics.aggregation import Averaging
from recbias.protocol import splits, testset
from recbias.protocol.protocol import Protocol
from recbias.protocol.targets import TargetRule
from recbias.protocol.testset import TestSet
from recbias.recommenders import System, bcc17_grid, line_up
from recbias.recommenders import base as recommenders_base
from recbias.recommenders.base import parameter
from recbias.recommenders.neighbourhood import UserKNN

HASHES = {"observed": "0" * 64}


def small(dataset="synthetic", **changes):
    arguments = {
        "dataset": dataset,
        "systems": (System("kNN", "UserKNN", {"n_neighbours": 20}), System("R", "Random")),
        "protocols": {
            "AR": "TI-AN-AR rel>=5",
            "1R": "TI-NN-1R t=20 rel>=5",
            "thin": "TI-AN-AR rel>=5",
        },
        "metrics": {"AR": ("P@10", "Gini@10"), "1R": ("P@10",), "thin": ("P@10",)},
        "tests": {"thin": "removed=40%"},
    }
    return Grid(**{**arguments, **changes})


def test_more_cells_than_can_be_listed_are_refused() -> None:
    asked = small(systems=(System("R", "Random", n_seeds=200_001),))
    with pytest.raises(ConfigError, match="a grid of 1,000,005 cells: expected at most 1,000,000"):
        grid_cells(asked, load_dataset("synthetic"), None)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return str(golden.small_table(tmp_path_factory.mktemp("table")))


def artefact_keys(table, **changes):
    asked = small(table, **changes)
    cells = grid_cells(asked, load_dataset(table), None)
    return {
        (name, cell.fold, artefact.rule, artefact.test): cell.key(artefact)
        for name, cell in cells
        for artefact in cell.artefacts
    }


# ---- growth moves nothing


@dataclass(frozen=True)
class WiderGrid(Grid):
    policy: str = "none"
    extra: tuple[str, ...] = ()


@dataclass(frozen=True)
class WiderAveraging(Averaging):
    floor: float = 0.0


@dataclass(frozen=True)
class WiderTestSet(TestSet):
    after: int = 0


@dataclass(frozen=True)
class WiderRule(TargetRule):
    depth: int | None = None


@dataclass(eq=False)
class WiderKNN(UserKNN):
    spare: int = parameter(0, minimum=0, added=True)


WiderKNN.__name__ = WiderKNN.__qualname__ = "UserKNN"
WiderKNN.__module__ = UserKNN.__module__


@pytest.fixture
def wider(monkeypatch):
    """Grid, protocol, test side and one class with a field more, each with a default."""
    from recbias.experiment import cells
    from recbias.protocol import protocol

    monkeypatch.setattr(protocol, "Averaging", WiderAveraging)
    monkeypatch.setattr(protocol, "TargetRule", WiderRule)
    for module in (grid, cells, testset):
        monkeypatch.setattr(module, "TestSet", WiderTestSet)
    monkeypatch.setitem(recommenders_base._ALGORITHMS, "UserKNN", WiderKNN)
    return WiderGrid


def test_an_optional_field_moves_no_key(table, wider, request):
    as_dict = small().to_dict()
    assert wider.from_dict(as_dict).to_dict() == as_dict
    widened = wider.from_dict(as_dict)
    assert "spare" in widened.systems[0].parameters
    assert "policy" in {field.name for field in dataclasses.fields(widened)}
    with_fields = widened.key_of(HASHES), artefact_keys(table)
    request.getfixturevalue("monkeypatch").undo()
    assert (small().key_of(HASHES), artefact_keys(table)) == with_fields


def test_a_used_field_moves_the_key(wider):
    as_dict = small().to_dict()
    assert wider(**{**vars_of(as_dict), "policy": "random"}).key_of(HASHES) != small().key_of(
        HASHES
    )
    spared = System("kNN", "UserKNN", {"n_neighbours": 20, "spare": 1})
    assert small(systems=(spared, System("R", "Random"))).key_of(HASHES) != small().key_of(HASHES)


def vars_of(record):
    return {**record, "systems": tuple(System.from_dict(each) for each in record["systems"])}


def test_an_added_parameter_gives_nobody_other_random_numbers(wider):
    plain = System("kNN", "UserKNN", {"n_neighbours": 20})
    assert "spare" not in plain.stream_label()
    assert "spare" in System("kNN", "UserKNN", {"spare": 2}).stream_label()


@pytest.mark.slow
def test_no_recorded_key_moves(wider):
    """Every file under data/recorded is read by code with a field more in each record."""
    chapters()
    found = with_grids = 0
    for dataset in recorded_datasets():
        for path in stored_results(results_dir(dataset, recorded=True)).values():
            result = load_result(path, dataset=dataset)
            found += 1
            grids = dict(result.parameters.get("given", {})).get("grids")
            if grids:  # as a chapter asks for them today, every parameter written out
                asked = [Grid.from_dict(each).to_dict() for each in grids]
                assert any("spare" in str(each) for each in asked) == ("UserKNN" in str(asked))
                given = {**result.parameters["given"], "grids": asked}
                parameters = {**result.parameters, "given": given}
                assert type(result).key_of(parameters, result.dataset["hashes"]) == result.key
                with_grids += 1
    assert found >= 5
    assert with_grids


def test_defaults_written_out_are_the_same_grid():
    plain = Grid("synthetic", (System("kNN", "UserKNN"),), ("TI-AN-AR rel>=5",), ("P@10",))
    spelled = Grid(
        "synthetic",
        (System("kNN", "UserKNN", dict(System("kNN", "UserKNN").parameters)),),
        ("TI-AN-AR rel>=5.0 users=all",),
        ("P@10",),
        split="k-fold 5",
        tests={"TI-AN-AR rel>=5.0 users=all": "observed"},
        groups="popularity 10",
    )
    spelled = Grid.from_dict({**spelled.to_dict(), "protocols": dict(plain.protocols),
                              "metrics": dict(plain.metrics)})  # fmt: skip
    assert spelled.key_of(HASHES) == plain.key_of(HASHES)
    assert spelled.to_dict() == plain.to_dict()


# ---- a change of code makes stale what it changed


def test_a_changed_algorithm_makes_its_cells_stale_and_no_other(table, monkeypatch):
    before, key = artefact_keys(table), small().key_of(HASHES)
    monkeypatch.setattr(UserKNN, "revision", 2)
    after = artefact_keys(table)
    assert {names for names in before if before[names] != after[names]} == {
        names for names in before if names[0] == "kNN"
    }
    assert small().key_of(HASHES) != key
    alone = {"systems": (System("R", "Random"),)}
    with_change = small(**alone).key_of(HASHES)
    monkeypatch.undo()
    assert small(**alone).key_of(HASHES) == with_change


@pytest.mark.parametrize(
    ("module", "name", "stale"),
    [
        (splits, "REVISION", lambda rule, test: True),
        (ranking, "REVISION", lambda rule, test: True),
        (ranking, "SAMPLING_REVISION", lambda rule, test: bool(rule)),
        (testset, "REVISION", lambda rule, test: "removed" in test),
        (aggregation, "REVISION", lambda rule, test: False),
    ],
)
def test_a_changed_component_makes_stale_what_it_takes_part_in(
    table, monkeypatch, module, name, stale
):
    sample = "TI-NN-1R t=20 rel>=5"
    thinned_sample = {"protocols": {"AR": "TI-AN-AR rel>=5", "1R": sample, "thin": sample}}
    before, key = artefact_keys(table, **thinned_sample), small().key_of(HASHES)
    monkeypatch.setattr(module, name, 99)
    after = artefact_keys(table, **thinned_sample)
    changed = {names for names in before if before[names] != after[names]}
    assert changed == {names for names in before if stale(names[2], names[3])}
    assert small().key_of(HASHES) != key


def test_each_share_of_a_thinned_sample_has_a_cell_of_its_own(table):
    sample = {"protocols": dict.fromkeys(("AR", "1R", "thin"), "TI-NN-1R t=20 rel>=5")}
    asked = [
        {**sample, "tests": {"AR": "removed=40%", "thin": "removed=60%"}, "metrics": ("P@10",)},
        {**sample, "tests": {"AR": "items=1-5/10", "thin": "head=10%"}, "metrics": ("P@10",)},
    ]
    keys = [set(artefact_keys(table, **each).values()) for each in asked]
    # Five folds, two systems, three artefacts each; the plain one is in both.
    assert [len(each) for each in keys] == [30, 30]
    assert len(keys[0] & keys[1]) == 10


def test_a_changed_metric_makes_stale_the_grids_that_measure_it(monkeypatch):
    declaration = metrics_base._DECLARATIONS["Gini", ()]
    key = small().key_of(HASHES)
    without = {"metrics": ("P@10",)}
    other = small(**without).key_of(HASHES)
    monkeypatch.setitem(
        metrics_base._DECLARATIONS, ("Gini", ()), dataclasses.replace(declaration, revision=2)
    )
    assert small().key_of(HASHES) != key
    assert small(**without).key_of(HASHES) == other


OUTSIDE = """
import numpy as np
from recbias.recommenders import register

@register
class Mine:
    def fit(self, train, *, rng=None):
        self.counts = {sign} * train.item_counts().astype(np.float32)
        return self

    def score(self, users):
        return np.tile(self.counts, (len(users), 1))
"""


def test_an_edited_class_from_outside_does_not_read_old_ranks(table, tmp_path, monkeypatch):
    from recbias import run

    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "outside_model.py"
    values = []
    for sign in ("1", "-1"):
        file.write_text(OUTSIDE.format(sign=sign))
        importlib.invalidate_caches()
        sys.modules.pop("outside_model", None)
        importlib.import_module("outside_model")
        mine = Grid(table, (System("Mine", "Mine"),), ("TI-AN-AR rel>=5",), ("P@10",))
        values.append(run(mine)["Mine", "TI-AN-AR rel>=5", "P@10"].value)
        assert run(mine).times["computed"] == 0
    recommenders_base._ALGORITHMS.pop("Mine")
    sys.modules.pop("outside_model", None)
    assert values[0] > 2 * values[1]


# ---- what a grid refuses


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tests": {"other": "removed=5%"}}, "test sides are given for unknown labels"),
        ({"tests": {"AR": "remove=5%"}}, "cannot read test side"),
        ({"tests": {"AR": "head=15%"}}, "no whole number of 10 groups"),
        ({"groups": "ratings 10"}, "expected a number of groups up to 1000"),
        ({"replicates": (("AR", "R@10"),)}, "cannot keep R@10 under 'AR': it is not measured"),
        ({"metrics": {"AR": ("P@10",), "1R": ("Gini@5",), "thin": ("P@10",)}}, "property of lists"),
        ({"compare": (("AR", "Gini@10"),)}, "paired tests compare plain means"),
    ],
)
def test_a_grid_that_cannot_be_measured_is_refused(changes, message):
    with pytest.raises(ConfigError, match=message):
        small(**changes)


@pytest.mark.parametrize(
    ("text", "side", "message"),
    [
        ("TI-AN-AR rel>=5", "items=1-2/3", "cannot be told from 10 groups"),
        ("TI-AN-P1R m=3 rel>=5", "", "3 percentiles cannot be told from 10 groups"),
        ("AI-NN-1R t=9 rel>=5", "head=10%", "cannot leave out a head"),
        ("TI-AN-1R +train rel>=5", "head=10%", "cannot leave out a head"),
    ],
)
def test_a_label_that_the_counts_cannot_answer_is_refused(text, side, message):
    tests = {"x": side} if side else {}
    with pytest.raises(ConfigError, match=message):
        Grid("synthetic", (System("R", "Random"),), {"x": text}, ("P@10",), tests=tests)


def test_artefacts_leave_defaults_out_of_their_names():
    assert non_defaults(Artefact("observed")) == {"test": "observed"}
    assert str(Artefact("observed")) == "counts by 10 groups, observed"


def test_systems_of_line_ups_have_identities_of_their_own():
    for systems in (line_up("bcc17"), bcc17_grid("knn-rating"), line_up("mccrs20")):
        assert len({str(system.identity()) for system in systems}) == len(systems)


def test_texts_of_protocols_are_what_keys_hold():
    protocol = Protocol.parse("TI-AN-AR rel>=5 users=all")
    assert small(protocols={"AR": str(protocol)}, metrics=("P@10",), tests={}).protocols == {
        "AR": "TI-AN-AR rel>=5"
    }


# ---- samples by popularity


def test_a_sample_by_popularity_is_an_artefact_of_its_own(table):
    uniform = artefact_keys(table)
    protocols = {
        "AR": "TI-AN-AR rel>=5",
        "1R": "TI-NN-1R t=20 drawn=popularity rel>=5",
        "thin": "TI-AN-AR rel>=5",
    }
    popular = artefact_keys(table, protocols=protocols)
    same = uniform.keys() & popular.keys()
    assert {rule for _, _, rule, _ in uniform.keys() - same} == {"TI-NN-1R t=20"}
    assert {rule for _, _, rule, _ in popular.keys() - same} == {"TI-NN-1R t=20 drawn=popularity"}
    assert all(uniform[name] == popular[name] for name in same)
    assert not set(uniform.values()) & {popular[name] for name in popular.keys() - same}


@pytest.mark.slow
def test_who_samples_by_popularity_is_warned_and_has_the_same_values_with_any_workers(
    table, tmp_path, monkeypatch
):
    drawn = "TI-NN-1R t=10 drawn=popularity rel>=4"
    asked = small(table, protocols=(drawn,), metrics=("P@3", "RR"), tests={})
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "one"))
    with pytest.warns(DataWarning, match=r"drawn=popularity rel>=4: values among sampled items"):
        one = run(asked, workers=1)
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "two"))
    with pytest.warns(DataWarning, match="AN ranks all items"):
        two = run(asked, workers=2)
    assert one.values.equals(two.values)
    # The twin: drawn with equal chance it is another sample, of which nobody is warned.
    plain = run(small(table, protocols=(drawn.replace(" drawn=popularity", ""),),
                      metrics=("P@3", "RR"), tests={}))  # fmt: skip
    assert not plain.values["value"].equals(one.values["value"])


# ---- ties


@pytest.mark.slow
def test_expectations_over_ties_are_kept_apart_and_change_no_other_value(table):
    asked = {
        "protocols": {"AR": "TI-AN-AR rel>=4", "1R": "AI-AN-1R rel>=4 condensed"},
        "tests": {"AR": "removed=40%"},
        "systems": (System("Pop", "Popularity"), System("R", "Random")),
    }
    plain, tied = ("P@3", "RR"), ("P@3", "RR", "P@3|ties", "RR|ties", "nDCG@3|ties")
    grids = [
        small(table, metrics={"AR": metrics, "1R": metrics}, **asked) for metrics in (plain, tied)
    ]
    keys = [
        {str(a): cell.key(a) for _, cell in grid_cells(g, load_dataset(table), None)
         for a in cell.artefacts}
        for g in grids
    ]  # fmt: skip
    assert keys[0].items() < keys[1].items()
    assert [name for name in keys[1] if name not in keys[0]] == ["ties, observed"]
    one, two = run(grids[0], workers=1), run(grids[1], workers=2)
    values = two.values.set_index(["system", "label", "metric"])["value"]
    for row in one.values.itertuples():
        assert values[row.system, row.label, row.metric] == row.value
    assert values.notna().all()
    # The twin: counts tie often, so that one order is not the mean of all.
    apart = values.xs("P@3", level="metric") - values.xs("P@3|ties", level="metric")
    assert (apart["Pop"] != 0).any()
    assert (apart["R"].abs() < 1e-12).all()
    assert (apart.abs() < 0.05).all()


@pytest.mark.parametrize(
    "protocol",
    [
        "TI-NN-1R t=10 rel>=4",
        "TI-AN-AR +train rel>=4",
        "TI-AN-P1R m=10 rel>=4",
        "TI-AN-AR rel>=4 unscored=random",
    ],
)
def test_ties_are_asked_of_whole_target_sets(table, protocol):
    with pytest.raises(ConfigError, match=r"P@3\|ties under .*: orders of equal scores are counte"):
        small(table, protocols=(protocol,), metrics=("P@3|ties",), tests={})
