"""Stored results of any kind: one contract, one registry; tables with free index columns."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import json
import shutil
import sys
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from recbias._system.streams import stream
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.experiment.grid import Grid
from recbias.experiment.makers import _MAKERS, Table, find_maker, maker, makers_of
from recbias.experiment.results import (
    _KINDS,
    SIMULATIONS,
    Quantity,
    begin_page,
    load_result,
    recorded_datasets,
    results_dir,
)
from recbias.experiment.run import run
from recbias.experiment.store import write_document
from recbias.metrics import aggregation, parse_metric
from recbias.protocol import splits
from recbias.recommenders import line_up

WORLD = "world(users=40,items=60,seed=2)"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RECBIAS_RESULTS", str(tmp_path / "results"))


@pytest.fixture
def sweep():
    """A maker of a small sweep: ratings of the most popular items, resampled."""

    @maker("test", Table)
    def sweep(dataset, *, sizes, seed=1, scale=1.0):
        counts = np.sort(dataset.ratings.item_counts())[::-1]
        frame = pd.DataFrame(
            [(size, "head", scale * counts[:size].sum()) for size in sizes],
            columns=["size", "part", "value"],
        )
        drawn = frame["value"].to_numpy()[:, None] + stream(seed, "sweep").normal(
            size=(len(frame), 50)
        )
        return ("size", "part"), frame, drawn

    yield sweep
    del _MAKERS["test/sweep"]


def test_a_table_is_made_stored_and_read_back(sweep):
    made = find_maker("test/sweep")(WORLD, sizes=[1, 5], name="chapter/sweep")
    path = results_dir(made.dataset["name"], recorded=False) / "chapter" / "sweep"
    again = load_result(path)
    assert again.frame.equals(made.frame)
    assert (again.replicates == made.replicates).all()
    assert (again.index, again.key, again.origin) == (made.index, made.key, "recorded")
    quantity = again[{"size": 5, "part": "head"}]
    counts = np.sort(load_dataset(WORLD).ratings.item_counts())[::-1]
    assert quantity.value == counts[:5].sum()
    assert quantity.interval[0] < quantity.value < quantity.interval[1]
    dataclasses.replace(again, replicates=None).save(path)
    assert not path.with_suffix(".parquet").exists()
    assert load_result(path).replicates is None
    assert again.select(part="head")["size"].tolist() == [1, 5]
    assert made.verify(made.recompute()).differing == ()


def test_a_live_table_of_the_same_key_is_read_and_any_other_made(sweep, monkeypatch):
    asked = {"sizes": [1, 5]}
    made = find_maker("test/sweep")(WORLD, **asked, name="chapter/sweep")
    path = results_dir(made.dataset["name"], recorded=False) / "chapter" / "sweep"
    calls = []

    @functools.wraps(sweep.function)
    def counted(dataset, **given):
        calls.append(given)
        return sweep.function(dataset, **given)

    known = dataclasses.replace(_MAKERS["test/sweep"], function=counted)
    monkeypatch.setitem(_MAKERS, "test/sweep", known)
    again = find_maker("test/sweep")(WORLD, **asked, name="chapter/sweep")
    assert not calls
    assert again.origin == "live"
    assert again.frame.equals(made.frame)
    assert (again.replicates == made.replicates).all()
    path.with_suffix(".parquet").write_bytes(b"nothing")
    assert find_maker("test/sweep")(WORLD, **asked, name="chapter/sweep").key == made.key
    find_maker("test/sweep")(WORLD, **asked)
    find_maker("test/sweep")(WORLD, sizes=[1, 6], name="chapter/sweep")
    monkeypatch.setitem(_MAKERS, "test/sweep", dataclasses.replace(known, revision=2))
    find_maker("test/sweep")(WORLD, sizes=[1, 6], name="chapter/sweep")
    assert [each["sizes"] for each in calls] == [[1, 5], [1, 5], [1, 6], [1, 6]]


def test_a_table_that_changed_is_noticed_by_row(sweep):
    made = find_maker("test/sweep")(WORLD, sizes=[1, 5])
    frame = made.frame.assign(value=made.frame["value"] + [0, 1e-3])
    edited = dataclasses.replace(made, frame=frame)
    found = edited.verify(made.recompute())
    assert found.differing == ("5 head: value",)
    assert found.difference == pytest.approx(1e-3)
    shorter = dataclasses.replace(made, frame=made.frame[:1])
    assert shorter.verify(made.recompute()).differing


def test_keys_of_makers_leave_defaults_out_and_know_the_revision(sweep):
    def key(**parameters):
        return find_maker("test/sweep")(WORLD, sizes=[1], **parameters).key

    assert key() == key(seed=1) == key(scale=1) == key(scale=1.0)
    assert key() != key(seed=2)
    other = find_maker("test/sweep")(WORLD.replace("seed=2", "seed=3"), sizes=[1])
    assert key() != other.key
    before = key()
    _MAKERS["test/sweep"] = dataclasses.replace(_MAKERS["test/sweep"], revision=2)
    assert key() != before


def test_defaults_are_compared_as_they_are_written():
    @maker("test", Table, name="defaults")
    def compute(dataset, *, pair=(1, 2), flag=1):
        return ("a",), pd.DataFrame({"a": [1], "value": [0.5]})

    try:
        made = find_maker("test/defaults")(WORLD, pair=(1, 2), name="x/y")
        load_result(results_dir(made.dataset["name"], recorded=False) / "x" / "y")
        assert made.key == find_maker("test/defaults")(WORLD, pair=[1, 2]).key
        assert made.key != find_maker("test/defaults")(WORLD, flag=True).key
    finally:
        del _MAKERS["test/defaults"]


def test_what_a_maker_uses_is_in_its_key():
    state = {"revision": 1}

    @maker("test", Table, uses=lambda n: {"twice": 2 * n, **state})
    def made(dataset, *, n=1, workers=1):
        return ("a",), pd.DataFrame({"a": [1], "value": [0.5]})

    try:
        first = made(WORLD).key
        assert made(WORLD, n=1, workers=2).key == first, "of a default, too"
        assert made(WORLD, n=2).key != first
        state["revision"] = 2
        assert made(WORLD).key != first
    finally:
        del _MAKERS["test/made"]


def test_parts_metrics_and_systems_are_in_the_key_by_their_revisions(monkeypatch):
    random, popularity = line_up("bcc17")[:2]

    @maker(
        "test",
        Table,
        parts=("splits", "aggregation"),
        metrics=lambda cutoff: [f"P@{cutoff}"],
        systems=lambda names: [each for each in (random, popularity) if each.name in names],
        uses={"first": random},
    )
    def made(*, cutoff, names):
        return ("a",), pd.DataFrame({"a": [1], "value": [0.5]})

    def written(**changed):
        return made._stands_on({"cutoff": 10, "names": [random.name], **changed}, {})

    try:
        found = written()
        assert found == {
            "splits": splits.REVISION,
            "aggregation": aggregation.REVISION,
            "metrics": [parse_metric("P@10").identity()],
            "systems": [{"name": random.name, **random.identity()}],
            "first": random.identity(),
        }
        assert written(cutoff=5)["metrics"] == [parse_metric("P@5").identity()]
        assert len(written(names=[random.name, popularity.name])["systems"]) == 2
        monkeypatch.setattr(aggregation, "REVISION", aggregation.REVISION + 1)
        assert written()["aggregation"] == found["aggregation"] + 1
    finally:
        del _MAKERS["test/made"]
    with pytest.raises(ConfigError, match="unknown part with a revision 'split': did you mean"):
        maker("test", Table, parts=("split",))
    with pytest.raises(ConfigError, match="stands beside parts, metrics, systems by name only"):
        maker("test", Table, parts=("splits",), uses=[random])


def test_grids_that_are_given_are_in_the_key_and_printed_if_a_maker_says_so():
    def asked(grid, seeds):
        for seed in seeds:
            yield dataclasses.replace(grid, seed=seed)

    def compute(dataset, *, grid: Grid, seeds=()):
        return ("seed",), pd.DataFrame({"seed": [grid.seed], "value": [0.5]})

    def both(dataset, *, grids: Sequence[Grid]):
        return ("seed",), pd.DataFrame({"seed": [each.seed for each in grids], "value": 0.5})

    plain = maker("test", Table, name="plain")(compute)
    seeded = maker("test", Table, name="seeded", grids=asked)(compute)
    reduced = maker("test", Table, name="reduced", uses=[lambda grid: grid.sample(1)])(compute)
    named = maker("test", Table, name="named", parts=("splits",))(compute)
    several = maker("test", Table)(both)
    lists = {"AR": "TI-AN-AR rel>=4"}
    grid = Grid(WORLD, line_up("bcc17")[:2], lists, ("P@5",))
    other = dataclasses.replace(grid, metrics=("P@6",))
    try:
        found = seeded(WORLD, grid=grid, seeds=[1, 2])
        assert [each.seed for each in found.grids] == [1, 2]
        assert found.key != seeded(WORLD, grid=other, seeds=[1, 2]).key
        hashes = found.dataset["hashes"]
        key = grid.key_of(hashes)
        assert plain(WORLD, grid=grid).grids == ()
        assert plain(WORLD, grid=grid).key != plain(WORLD, grid=other).key
        # What is stored is the record of the grid; what is read back has the same key.
        record = plain(WORLD, grid=grid).given
        assert record == {"grid": grid.to_dict()}
        assert plain(WORLD, grid=grid.to_dict()).key == plain.key(record, hashes)
        assert plain(WORLD, grid=grid).recompute().frame["seed"].tolist() == [grid.seed]
        assert plain._stands_on(record, hashes) == [key]
        assert named._stands_on(record, hashes) == {"splits": splits.REVISION, "grid": key}
        assert several._stands_on({"grids": [grid, other]}, hashes)[::-1] == several._stands_on(
            {"grids": [other.to_dict(), grid.to_dict()]}, hashes
        )
        (key_of_one,) = reduced._stands_on(record, hashes)
        assert key_of_one == grid.sample(1).key_of(hashes) != key
    finally:
        for name in ("plain", "seeded", "reduced", "named", "both"):
            del _MAKERS[f"test/{name}"]


def test_a_maker_is_called_like_its_function(sweep):
    assert sweep.name == "test/sweep"
    assert inspect.signature(sweep).parameters["seed"].default == 1
    with pytest.raises(ConfigError, match="test/sweep: give the name of a dataset, or the path"):
        sweep(sizes=[1])
    with pytest.raises(ConfigError, match="parameter of test/sweep 'size': did you mean 'sizes'"):
        sweep(WORLD, size=[1])
    with pytest.raises(ConfigError, match="test/sweep: give sizes= as well"):
        sweep(WORLD, seed=2)
    assert makers_of("test").sweep is sweep
    assert not vars(makers_of("tests"))


def test_what_a_page_measures_is_kept_under_its_name(sweep, monkeypatch):
    monkeypatch.setattr("recbias.experiment.results._page", "")  # whatever page came before
    grid = Grid(WORLD, line_up("bcc17")[:1], ("TI-AN-AR rel>=4",), ("P@5",))
    folder = results_dir(WORLD, recorded=False)
    sweep(WORLD, sizes=[1])
    run(grid, name="systems")
    assert not folder.exists(), "outside of a page"
    begin_page("one")
    sweep(WORLD, sizes=[1])
    sweep(WORLD, sizes=[5], name="five")
    run(grid, name="systems")
    run(grid)
    begin_page("two")
    sweep(WORLD, sizes=[1])
    sweep(WORLD, sizes=[5], name="one/others")
    kept = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.json"))
    assert kept == [
        "one/five.json", "one/others.json", "one/sweep.json", "one/systems.json", "two/sweep.json",
    ]  # fmt: skip


def test_tables_differ_in_texts_flags_infinities_and_columns_too(sweep):
    made = find_maker("test/sweep")(WORLD, sizes=[1, 5])
    wide = dataclasses.replace(
        made, frame=made.frame.assign(word="a", flag=True, top=np.inf), replicates=made.replicates
    )
    assert wide.verify(wide).differing == ()
    for name, value in (("word", "b"), ("flag", False), ("top", 1.0)):
        changed = wide.frame.copy()
        changed.loc[1, name] = value
        edited = dataclasses.replace(wide, frame=changed)
        assert wide.verify(edited).differing == (f"5 head: {name}",)
    moved = dataclasses.replace(made, replicates=made.replicates + 0.1)
    assert made.verify(moved).differing == ("replicates",)
    assert made.verify(wide).differing == ("columns: flag, top, word",)


def test_results_of_another_data_set_are_refused(sweep):
    made = find_maker("test/sweep")(WORLD, sizes=[1], name="chapter/sweep")
    path = results_dir(made.dataset["name"], recorded=False) / "chapter" / "sweep"
    assert load_result(path, dataset=made.dataset["name"]).key == made.key
    with pytest.raises(StoreError, match=r"about world.* expected synthetic"):
        load_result(path, dataset="synthetic")


def test_rows_have_names_of_their_own(sweep):
    with pytest.raises(ConfigError, match=r"two rows of the name \{'size': 1, 'part': 'head'\}"):
        find_maker("test/sweep")(WORLD, sizes=[1, 1])
    made = find_maker("test/sweep")(WORLD, sizes=[1])
    with pytest.raises(ConfigError, match="0 rows of the table, expected one"):
        made[{"size": 9, "part": "head"}]
    with pytest.raises(ConfigError, match="unknown index column 'sizes': did you mean 'size'"):
        made.select(sizes=1)


def test_absent_data_and_unknown_makers_are_errors(sweep):
    with pytest.raises(MissingData):
        find_maker("test/sweep")("netflix", sizes=[1])
    with pytest.raises(ConfigError, match="unknown maker of results 'test/swep'"):
        find_maker("test/swep")(WORLD)


def test_everything_but_times_lies_under_the_digest(sweep):
    made = find_maker("test/sweep")(WORLD, sizes=[1, 5], name="chapter/sweep")
    path = results_dir(made.dataset["name"], recorded=False) / "chapter" / "sweep.json"
    text = path.read_text()
    for change in (
        ("dataset", "feedback", "implicit"),
        ("dataset", "title", "Another"),
        ("provenance", "numpy", "0.0"),
        ("parameters", "maker", "test/other"),
        ("body", "index", ["part", "size"]),
    ):
        record = json.loads(text)
        record[change[0]][change[1]] = change[2]
        path.write_text(json.dumps(record))
        with pytest.raises(StoreError, match="changed after it was computed"):
            load_result(path.with_suffix(""))
    record = json.loads(text)
    record["times"]["seconds"] = 7
    path.write_text(json.dumps(record))
    load_result(path.with_suffix(""))
    path.write_text(text)
    sidecar = path.with_suffix(".parquet")
    content = bytearray(sidecar.read_bytes())
    content[len(content) // 2] ^= 1
    sidecar.write_bytes(bytes(content))
    with pytest.raises(StoreError):
        load_result(path.with_suffix(""))


KIND = """
from dataclasses import dataclass
from typing import ClassVar
from recbias.experiment.makers import Made, maker
from recbias.experiment.results import Agreement, register_kind

@register_kind
@dataclass(frozen=True, eq=False, kw_only=True)
class Note(Made):
    kind: ClassVar[str] = "note"
    words: str

    @classmethod
    def of(cls, content, **context):
        return cls(words=content, **context)

    def body(self):
        return {"words": self.words}

    @classmethod
    def restore(cls, parameters, body, arrays, **context):
        return cls(words=body["words"], maker_name=parameters["maker"],
                   given=parameters["given"], **context)

    def verify(self, fresh):
        return Agreement(1, 0.0, 0.0, () if fresh.words == self.words else ("words",))

@maker("outside", Note)
def note(dataset, *, greeting="hello"):
    return f"{greeting}, {dataset.ratings.n_users} users"
"""


def test_a_kind_from_outside_is_stored_verified_and_refused_without_its_module(
    tmp_path, monkeypatch
):
    (tmp_path / "outside_kind.py").write_text(KIND)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    importlib.import_module("outside_kind")
    made = find_maker("outside/note")(WORLD, name="chapter/note")
    path = results_dir(made.dataset["name"], recorded=False) / "chapter" / "note"
    again = load_result(path)
    assert again.words == "hello, 40 users"
    assert again.verify(again.recompute()).differing == ()
    other = find_maker("outside/note")(WORLD, greeting="bye")
    assert again.verify(other).differing == ("words",)
    for registered in (_KINDS, _MAKERS):
        registered.pop("note", None)
        registered.pop("outside/note", None)
    sys.modules.pop("outside_kind")
    with pytest.raises(StoreError, match="results of kind 'note', known are"):
        load_result(path)


def test_a_document_of_another_kind_is_no_grid(tmp_path):
    write_document(
        tmp_path / "x.json",
        kind="riddle",
        key="k",
        dataset={"hashes": {}},
        parameters={},
        provenance={},
        times={},
        body={},
    )
    with pytest.raises(StoreError, match="results of kind 'riddle'"):
        load_result(tmp_path / "x")


# ---- quantities


def test_quantities_without_replicates_have_an_interval_and_no_arithmetic():
    kept = Quantity(0.5, np.array([0.4, 0.6]))
    lost = Quantity(0.5, None, limits=(0.45, 0.55))
    assert lost.interval == (0.45, 0.55)
    with pytest.raises(ConfigError, match="were not kept"):
        kept - lost


def test_the_weaker_method_of_two_intervals_counts():
    drawn = np.array([0.1, 0.2, 0.3])
    percentile, normal = Quantity(0.5, drawn), Quantity(0.5, drawn, "normal")
    none = Quantity(0.5, drawn, "none")
    assert (percentile - normal).method == "normal"
    assert np.isnan((normal / none).interval).all()
    low, high = normal.interval
    assert (low + high) / 2 == pytest.approx(0.5)
    assert high - low == pytest.approx(2 * 1.959964 * 0.1, rel=1e-6)
    assert percentile.interval[1] < 0.31


# -- simulations ---------------------------------------------------------------------------------


@pytest.fixture
def simulated(tmp_path, monkeypatch):
    """A maker that counts its calls, in a clone of its own."""
    calls: list[int] = []

    @maker("test", Table, name="simulated")
    def compute(*, n=1, other=0):
        calls.append(n)
        return ("row",), pd.DataFrame({"row": range(n), "value": 1.0})

    for module in ("results", "makers"):
        monkeypatch.setattr(f"recbias.experiment.{module}.clone_root", lambda: tmp_path)
    yield calls
    del _MAKERS["test/simulated"]


def test_a_simulation_that_was_recorded_is_read(simulated):
    def ask(**parameters):
        return find_maker("test/simulated")(**parameters, name="chapter/simulated")

    with pytest.raises(ConfigError, match="test/simulated is a simulation, of no dataset"):
        find_maker("test/simulated")(WORLD, n=2)

    made = ask(n=2)
    path = results_dir(SIMULATIONS, recorded=True) / "chapter" / "simulated"
    made.save(path)
    shutil.rmtree(results_dir(SIMULATIONS, recorded=False))
    again = ask(n=2, other=0)
    assert (again.origin, len(again.frame), simulated) == ("recorded", 2, [2])
    stored = results_dir(SIMULATIONS, recorded=False) / "chapter" / "simulated.json"
    assert stored.read_bytes() == path.with_suffix(".json").read_bytes(), "or recording drops it"
    assert (ask(n=3).origin, simulated) == ("live", [2, 3])
    find_maker("test/simulated")(n=2)
    assert simulated == [2, 3, 2], "what has no name under which it is kept is made"
    assert (recorded_datasets(), recorded_datasets(simulations=True)) == ([], [SIMULATIONS])


def test_a_recorded_simulation_of_other_code_is_made_again(simulated, monkeypatch):
    def ask():
        return find_maker("test/simulated")(name="chapter/simulated")

    path = results_dir(SIMULATIONS, recorded=True) / "chapter" / "simulated"
    ask().save(path)
    known = _MAKERS["test/simulated"]
    monkeypatch.setitem(_MAKERS, "test/simulated", dataclasses.replace(known, revision=2))
    assert (ask().origin, simulated) == ("live", [1, 1])
    with pytest.raises(StoreError, match="computed by another revision"):
        load_result(path, dataset=SIMULATIONS)


def test_a_recorded_simulation_that_was_edited_is_refused(simulated):
    path = results_dir(SIMULATIONS, recorded=True) / "chapter" / "simulated"
    find_maker("test/simulated")().save(path)
    document = path.with_suffix(".json")
    edited = document.read_text().replace("1.0", "1.5")
    assert edited != document.read_text()
    document.write_text(edited)
    with pytest.raises(StoreError, match="digest"):
        find_maker("test/simulated")(name="chapter/simulated")
