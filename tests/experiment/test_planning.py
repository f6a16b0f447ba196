"""Dry runs: what they foresee is what a run then does, and they leave nothing behind."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from recbias import Grid, System, load_dataset, plan, run
from recbias.errors import ConfigError, MissingData, StoreError
from recbias.experiment import planning
from recbias.experiment.cells import path_of
from recbias.experiment.makers import Table, makers_of
from recbias.experiment.makers import maker as declare
from recbias.experiment.planning import (
    Cost,
    NotComputedError,
    Plan,
    Size,
    Step,
    cost_at,
    current_plan,
    measured_pages,
    page_cost,
)
from recbias.experiment.store import digest, write_arrays

SYSTEMS = (System("kNN", "UserKNN", {"n_neighbours": 20}), System("Random", "Random"))


@pytest.fixture
def cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep cells in an empty folder."""
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    return tmp_path / "cells"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(golden.small_table(tmp_path_factory.mktemp("table")))


def asked(table: str, **changes: Any) -> Grid:
    arguments: dict[str, Any] = {
        "dataset": table,
        "systems": SYSTEMS,
        "protocols": {"AR": "TI-AN-AR rel>=4", "1R": "TI-NN-1R t=5 rel>=4"},
        "metrics": ("P@5",),
        "split": "k-fold 2",
    }
    return Grid(**{**arguments, **changes})


def kept(folder: Path) -> dict[str, str]:
    """Digest all that is in a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


def foreseen(planned: Plan, folder: Path) -> bool:
    """Tell whether the files that were foreseen are those that are there now, and no others."""
    return planned.files == {path for path in folder.rglob("*") if path.is_file()}


# -- what is foreseen ------------------------------------------------------------------------------


def test_what_is_to_be_computed_is_what_a_run_leaves(table: str, cells: Path) -> None:
    planned = plan(asked(table))
    assert (planned.n_compute, planned.n_read) == (4, 0)
    assert kept(cells.parent) == {}
    run(asked(table))
    assert foreseen(planned, cells)
    assert len(planned.files) == 8  # of each cell the counts and a sample
    # The broken twin: who forgets the sampled design foresees too little.
    for path in cells.rglob("*.parquet"):
        path.unlink()
    forgetful = plan(asked(table, protocols={"AR": "TI-AN-AR rel>=4"}))
    run(asked(table))
    assert not foreseen(forgetful, cells)


def test_what_is_there_is_read_and_nothing_is_touched(table: str, cells: Path) -> None:
    part = asked(table, systems=SYSTEMS[1:])
    run(part)
    before = kept(cells.parent)
    again, more = plan(part), plan(asked(table))
    assert (again.n_compute, again.n_read, again.files) == (0, 2, set())
    assert (more.n_compute, more.n_read) == (2, 2)
    larger = plan(asked(table, protocols={"1R": "TI-NN-1R t=6 rel>=4"}))
    assert larger.n_compute == 4  # another sample is trained for again
    assert kept(cells.parent) == before


def test_a_later_result_reads_what_an_earlier_one_computes(table: str, cells: Path) -> None:
    with planning.planning() as planned:
        run(asked(table), name="01_x/first")
        waiting = run(asked(table), name="01_x/second")
    steps = [(step.result, step.n_compute, step.n_read) for step in planned.steps]
    assert steps == [("01_x/first", 4, 0), ("01_x/second", 0, 4)]
    assert waiting.systems == ["kNN", "Random"]
    assert waiting.dataset["n_users"] > 0
    with pytest.raises(NotComputedError, match="values: not computed"):
        waiting.values  # noqa: B018
    with pytest.raises(NotComputedError, match="not computed"):
        waiting["kNN", "AR", "P@5"]
    assert current_plan() is None


def test_makers_read_the_grids_that_they_stand_on(table: str, cells: Path) -> None:
    made = []

    @declare("x", Table, name="of_grid")
    def of_grid(dataset, *, grid: Grid):  # type: ignore[no-untyped-def]
        raise AssertionError("called in a dry run")

    @declare("x", Table, name="of_data")
    def of_data(dataset):  # type: ignore[no-untyped-def]
        import pandas as pd

        made.append(dataset.name)
        return ("a",), pd.DataFrame({"a": [1], "value": [len(dataset.ratings)]})

    with planning.planning() as planned:
        makers_of("x").of_grid(table, grid=asked(table))
        counted = makers_of("x").of_data(table)
        assert made == []
        assert counted.frame["value"].item() == len(load_dataset(table).ratings)
        assert len(counted.frame) == 1
        assert len(made) == 1  # where a page asks by it what to run
    assert [step.n_compute for step in planned.steps] == [4, 0]
    assert kept(cells.parent) == {}


def test_what_a_run_refuses_a_dry_run_refuses(table: str, cells: Path) -> None:
    with pytest.raises(ConfigError, match="expected a Grid"):
        plan("systems")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"no rating of .* is that high"):
        plan(asked(table, protocols="TI-AN-AR rel>=9"))
    with pytest.raises(MissingData):
        plan(asked(str(cells / "absent.csv")))


# -- what it takes ---------------------------------------------------------------------------------


def test_a_cost_follows_from_costs_of_other_sizes() -> None:
    def true(size: Size) -> float:
        return 2 + 1e-4 * size.ratings + 1e-8 * size.users * size.items

    rng = np.random.default_rng(1)
    sizes = [Size(*map(int, rng.integers(1_000, 50_000, 3))) for _ in range(12)]
    known = [(size, true(size)) for size in sizes]
    for size in (Size(20_000, 5_000, 9_000), Size(90_000, 60_000, 20_000)):
        assert cost_at(size, known) == pytest.approx(true(size), rel=0.1)
    # Of one size: there what it was, and more where all is more.
    (one,) = known[:1]
    assert cost_at(one[0], [one]) == pytest.approx(one[1], rel=0.02)
    assert cost_at(Size(*(2 * each for each in one[0])), [one]) > 1.5 * one[1]
    # The broken twin: costs that do not go with these sizes are not met.
    shuffled = [(size, cost) for (size, _), (_, cost) in zip(known, known[::-1], strict=True)]
    assert cost_at(sizes[0], shuffled) != pytest.approx(true(sizes[0]), rel=0.1)


def plant(algorithm: System, size: Size, seconds: float, peak: int, instead: Any = None) -> None:
    """Keep a cell that took so much, on data of such a size."""
    key = digest([algorithm.name, size, seconds])
    provenance = {
        "cell": {"system": algorithm.to_dict()},
        "size": size._asdict(),
        "processor_seconds": seconds,
        "peak_mb": peak,
        **(instead or {}),
    }
    write_arrays(path_of(key), {"a": np.arange(3)}, key=key, provenance=provenance)


def test_cells_of_the_same_size_say_what_others_take(table: str, cells: Path) -> None:
    size = Size.of(load_dataset(table).ratings)
    for seconds in (1.0, 3.0, 8.0):
        plant(SYSTEMS[0], size, seconds, 500)
    other = System("kNN", "UserKNN", {"n_neighbours": 50})
    plant(other, size, 100.0, 4_000)  # not the same parameters
    planned = plan(asked(table))
    (step,) = planned.steps
    assert step.cost == (2 * 3.0, 500)  # two folds, the median of each
    assert step.n_unknown == 2  # of Random nothing is known
    assert "6 s of processor time for cells, 0.5 GB" in str(planned)
    assert "what 2 cells take: none of their kind is kept" in str(planned)
    (changed,) = plan(asked(table, systems=(System("k", "UserKNN", {"n_neighbours": 9}),))).steps
    assert changed.cost.seconds == 2 * np.median([1.0, 3.0, 8.0, 100.0])


def test_cells_of_other_sizes_are_scaled(table: str, cells: Path) -> None:
    size = Size.of(load_dataset(table).ratings)
    known = []
    for factor in (2, 4, 8):
        known.append((Size(*(factor * each for each in size)), 5.0 * factor))
        plant(SYSTEMS[0], *known[-1], 300)
    (step,) = plan(asked(table)).steps
    assert step.cost.seconds == pytest.approx(2 * cost_at(size, known))
    assert step.cost.seconds < 2 * 5.0 * 2


def test_the_newest_cells_tell_what_a_cell_takes(
    table: str, cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "_LOOKED_AT", 2)
    size = Size.of(load_dataset(table).ratings)
    for at, seconds in enumerate((1.0, 3.0, 8.0)):
        before = set(cells.rglob("*.parquet"))
        plant(SYSTEMS[0], size, seconds, 500)
        (path,) = set(cells.rglob("*.parquet")) - before
        os.utime(path, ns=(at, at))
    (step,) = plan(asked(table)).steps
    assert step.cost.seconds == 2 * np.median([3.0, 8.0])


def test_what_cannot_be_trained_is_not_foreseen(
    table: str, cells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        planning, "known_reason", lambda cell: "too few" if "UserKNN" in cell.system else None
    )
    assert plan(asked(table)).n_compute == 2


def test_of_several_results_seconds_add_up_and_the_largest_peak_counts() -> None:
    steps = [Step("a", "compute", 1, 0, Cost(5, 900)), Step("b", "compute", 1, 0, Cost(3, 200))]
    assert Plan(steps).cost == Cost(8, 900)


def test_cells_that_say_nothing_are_passed_over(table: str, cells: Path) -> None:
    size = Size.of(load_dataset(table).ratings)
    plant(SYSTEMS[0], size, 1.0, 500, instead={"size": {"ratings": 3}})
    plant(SYSTEMS[1], size, 1.0, 500, instead={"cell": {"world": "w"}})
    (cells / "aa").mkdir(exist_ok=True)
    (cells / "aa" / "bb.parquet").write_bytes(b"no artefact")
    (step,) = plan(asked(table)).steps
    assert (step.n_compute, step.n_unknown) == (4, 4)


def test_a_run_keeps_what_the_next_estimate_needs(table: str, cells: Path) -> None:
    run(asked(table))
    (step,) = plan(asked(table, seed=2)).steps
    assert (step.n_compute, step.n_unknown) == (4, 0)
    assert step.cost.seconds > 0
    assert step.cost.peak_mb > 50


# -- what pages take -------------------------------------------------------------------------------


@pytest.fixture
def costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a list of costs of our own stand for the clone's."""
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(planning, "clone_root", lambda: tmp_path)
    return tmp_path / "data" / "page_costs.csv"


HEAD = "page,table,ratings,users,items,seconds,peak_mb,date\n"


def test_a_page_is_estimated_and_says_by_how_much_it_was_off(costs: Path) -> None:
    rows = [
        f"01_x,t{n},{n},10,10,{5 + n / 100},300,2026-11-2{i}" for i, n in enumerate([100, 1000])
    ]
    costs.write_text(HEAD + "\n".join(rows))
    known = page_cost("01_x", Size(500, 10, 10))
    assert known is not None
    assert known.cost.seconds == pytest.approx(10, rel=0.1)
    assert known.cost.peak_mb == pytest.approx(300, rel=0.05)
    assert (known.n_tables, known.measured) == (2, "2026-11-21")
    assert np.isnan(known.off_by)
    costs.write_text(HEAD + "\n".join([*rows, "01_x,odd,1000,10,10,90,300,2026-11-22"]))
    known = page_cost("01_x", Size(500, 10, 10))
    assert known is not None
    assert known.off_by > 4  # the same size at 15 s and at 90 s
    assert page_cost("02_y", Size(500, 10, 10)) is None
    assert measured_pages() == ["01_x"]


def test_a_page_grows_as_others_do_where_its_own_rows_do_not_tell(costs: Path) -> None:
    """Pairs and ratings grow alike on small tables; a large one of another page tells which."""
    sizes = [Size(100, 10, 10), Size(1_000, 32, 32), Size(2_000, 3_000, 3_000)]
    took = [20 + size.ratings / 50 for size in sizes]
    peaks = [300 + size.ratings / 100 for size in sizes]
    rows = [
        f"{page},t{at},{','.join(map(str, sizes[at]))},{level * took[at]},{peaks[at]},2026-11-27"
        for page, level, measured in (("01_x", 1, 2), ("02_y", 4, 3))
        for at in range(measured)
    ]
    costs.write_text(HEAD + "\n".join(rows))
    known = page_cost("01_x", sizes[2])
    assert known is not None
    assert known.cost.seconds == pytest.approx(took[2], rel=0.2)
    assert known.cost.peak_mb == pytest.approx(peaks[2], rel=0.05)
    # The twin: its own rows alone.
    alone = cost_at(sizes[2], list(zip(sizes[:2], took[:2], strict=True)))
    assert alone != pytest.approx(took[2], rel=0.3)


def test_memory_of_a_page_grows_with_users(costs: Path) -> None:
    rows = [
        f"01_x,t{users},1000,{users},50,5,{200 + users / 10},2026-11-27" for users in (100, 4_000)
    ]
    costs.write_text(HEAD + "\n".join(rows))
    known = page_cost("01_x", Size(1_000, 8_000, 50))
    assert known is not None
    assert known.cost.peak_mb == pytest.approx(1_000, rel=0.1)


def test_memory_of_a_page_has_its_pairs_of_items(
    costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs.write_text(f"{HEAD}01_x,t,1000,100,50,5,200,2026-11-27")
    monkeypatch.setattr(planning, "page_memory", lambda n_items, page: 1 + n_items / 1e5)
    with_pairs = page_cost("01_x", Size(1_000, 100, 50_000))
    monkeypatch.setattr(planning, "page_memory", lambda n_items, page: 1)
    without = page_cost("01_x", Size(1_000, 100, 50_000))
    assert with_pairs is not None
    assert without is not None
    assert with_pairs.cost.peak_mb - without.cost.peak_mb == pytest.approx(500)


def test_a_table_is_left_out_of_what_other_pages_took_as_well(costs: Path) -> None:
    """What pairs cost shows on one table alone: without it no page knows."""
    sizes = [Size(100, 10, 10), Size(1_000, 32, 32), Size(2_000, 3_000, 3_000)]
    rows = [
        f"{page},t{at},{','.join(map(str, size))},{level * (20 + size.users * size.items / 1e4)},"
        "300,2026-11-27"
        for page, level in (("01_x", 1), ("02_y", 4))
        for at, size in enumerate(sizes)
    ]
    costs.write_text(HEAD + "\n".join(rows))
    known = page_cost("01_x", sizes[2])
    assert known is not None
    assert known.cost.seconds == pytest.approx(920, rel=0.1)
    assert known.off_by > 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "page,seconds\n01_x,3\n",
        f"{HEAD}01_x,t,1,1,1,-5,3,2026-11-27\n",
        f"{HEAD}01_x,t,a,1,1,5,3,d",
    ],
)
def test_a_damaged_list_of_costs_is_refused(text: str, costs: Path) -> None:
    costs.write_text(text)
    with pytest.raises(StoreError, match="not a list of what pages take"):
        page_cost("01_x", Size(1, 1, 1))


def test_outside_a_clone_no_page_has_a_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "clone_root", lambda: None)
    assert measured_pages() == []
    assert page_cost("01_design_alternatives", Size(1, 1, 1)) is None
