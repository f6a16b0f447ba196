"""One digest, however a grid is run: workers, hash seeds, order, reruns, company, sudden death."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import golden
from digest import SYSTEMS, digest_of, small_grid
from recbias import Grid, run
from recbias.experiment import run as experiment

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[1] / "digest.py"
N_CELLS, N_ARTEFACTS = 18, 36


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.delenv("RECBIAS_DATA", raising=False)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.small_table(tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def expected(table: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run once in this process, the plainest way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("plain")))
        results = run(small_grid(table))
    assert results.times["computed"] == N_CELLS
    return digest_of(results)


def start(
    table: Path, *, workers: int = 1, hash_seed: int = 0, go: Path | None = None
) -> subprocess.Popen[str]:
    """Run the grid in a process group of its own, into the cells of this test."""
    return subprocess.Popen(
        [sys.executable, SCRIPT, table, str(workers), *([go] if go else [])],
        env={
            **os.environ,
            "PYTHONHASHSEED": str(hash_seed),
            "OPENBLAS_NUM_THREADS": str(1 + hash_seed),
        },
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, int]:
    """Wait for a run; return its digest and how many cells it computed."""
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    digest, computed = output.split()
    return digest, int(computed)


def artefacts() -> dict[str, tuple[int, int]]:
    """List what counts as finished, with what changes if it is written again."""
    paths = Path(os.environ["RECBIAS_CELLS"]).rglob("[!.]*.parquet")
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def assert_all_valid() -> None:
    paths = list(Path(os.environ["RECBIAS_CELLS"]).rglob("[!.]*.parquet"))
    for path in paths:
        table = pq.read_table(path)
        key = table.schema.metadata[b"recbias.key"].decode()
        assert path.parent.name + path.stem == key[:34]


@pytest.mark.parametrize(("workers", "hash_seed"), [(1, 1), (2, 0), (4, 1)])
def test_workers_hash_seeds_and_threads_of_blas(
    workers: int, hash_seed: int, table: Path, expected: str
) -> None:
    process = start(table, workers=workers, hash_seed=hash_seed)
    assert finish(process) == (expected, N_CELLS)


def test_order_of_rows_in_the_file(table: Path, expected: str, tmp_path: Path) -> None:
    shuffled = tmp_path / table.name
    pd.read_csv(table).sample(frac=1, random_state=1).to_csv(shuffled, index=False)
    assert shuffled.read_bytes() != table.read_bytes()
    assert digest_of(run(small_grid(shuffled))) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_order_of_cells(
    seed: int, table: Path, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_all = experiment.run_all

    def shuffled(work, tasks, executor, **labels):  # type: ignore[no-untyped-def]
        order = random.Random(seed).sample(range(len(tasks)), len(tasks))
        found = run_all(work, [tasks[place] for place in order], executor, **labels)
        by_place = dict(zip(order, found, strict=True))
        return [by_place[place] for place in range(len(tasks))]

    monkeypatch.setattr(experiment, "run_all", shuffled)
    assert digest_of(run(small_grid(table))) == expected


def test_order_of_systems(table: Path, expected: str) -> None:
    grid = small_grid(table)
    first = run(grid)
    again = run(Grid.from_dict({**grid.to_dict(), "systems": grid.to_dict()["systems"][::-1]}))
    assert again.systems == [system.name for system in SYSTEMS][::-1]
    assert digest_of(first) == expected
    for names in first._rows:
        assert again[names].value == first[names].value
        assert (again[names].replicates == first[names].replicates).all()


def test_reruns_from_nothing_and_from_cells(
    table: Path, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(small_grid(table))
    before = artefacts()
    reused = run(small_grid(table))
    assert reused.times["computed"] == 0
    assert artefacts() == before
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "others"))
    assert digest_of(first) == digest_of(reused) == digest_of(run(small_grid(table))) == expected


def test_any_change_gives_another_digest(table: Path, expected: str) -> None:
    results = run(small_grid(table))
    other = Grid.from_dict({**small_grid(table).to_dict(), "seed": 6})
    assert digest_of(run(other)) != expected
    results.replicates[3][7] += 1e-6
    assert digest_of(results) != expected


# ------------------------------------------------------------------------------ twice at once


def test_two_processes_at_once_leave_valid_artefacts(
    table: Path, expected: str, tmp_path: Path
) -> None:
    """Both start with the first cell, so they meet in most of the 36 artefacts."""
    go = tmp_path / "go"
    processes = [start(table, hash_seed=seed, go=go) for seed in (0, 1)]
    time.sleep(1)  # both have been started, and wait
    go.touch()
    results = [finish(process) for process in processes]
    assert [digest for digest, _ in results] == [expected] * 2
    assert len(artefacts()) == N_ARTEFACTS
    assert_all_valid()
    cells = Path(os.environ["RECBIAS_CELLS"])
    assert [path for path in cells.rglob("*") if path.is_file() and path.name[0] == "."] == []


# ------------------------------------------------------------------------------ killed


def test_killed_runs_resume_where_they_stopped(
    table: Path,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """Kill the process group at random moments of one grid, over and over."""
    prove = request.config.getoption("hypothesis_profile", None) == "prove"
    moments = random.Random(4)
    kills = resumed = 0
    for number in range(60):
        if kills == (20 if prove else 5):
            break
        before = artefacts()
        wanted = len(before) + moments.randint(1, 4)
        process = start(table, workers=1 + number % 2)
        while len(artefacts()) < wanted and process.poll() is None:
            time.sleep(0.001)
        time.sleep(moments.random() * 0.01)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        assert before.items() <= artefacts().items(), "a finished cell was computed again"
        assert_all_valid()
        resumed += bool(before)
        if process.returncode == -signal.SIGKILL:
            kills += 1
        else:  # it was faster than this test: once more from nothing
            assert output.split()[0] == expected
            monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / f"cells{number}"))
    assert kills == (20 if prove else 5)
    assert resumed
    kept = artefacts()
    assert finish(start(table))[0] == expected
    assert kept.items() <= artefacts().items()
    assert len(artefacts()) == N_ARTEFACTS
