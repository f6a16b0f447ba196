"""Work done elsewhere gives the same bits, lands here, and says what it lacks."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import golden
from digest import digest_of, small_grid
from recbias import Grid, System, run
from recbias._system.places import cells_dir
from recbias.errors import ConfigError
from recbias.experiment import cluster
from recbias.experiment.cluster import LackError, LacksModuleError
from recbias.experiment.engine import at_most, open_executor, run_all, shares_cells
from recbias.recommenders.neighbourhood import UserKNN
from stopping import dask, wait_for

N_CELLS = 18


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.delenv("RECBIAS_SCHEDULER", raising=False)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.small_table(tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def expected(table: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECBIAS_CELLS", str(tmp_path_factory.mktemp("plain")))
        return digest_of(run(small_grid(table)))


class Apart(Executor):
    """Processes that see no file of the caller: its mark is gone before they look for it."""

    def __init__(self, hidden: Path | None = None, *, workers: int = 2) -> None:
        self._inner = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        self._hidden = hidden

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        caller = replace(args[0], mark="none", path=())
        if self._hidden is not None and self._hidden.exists():
            self._hidden.rename(self._hidden.with_suffix(".away"))
        return self._inner.submit(fn, caller, *args[1:], **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown(wait=wait, cancel_futures=cancel_futures)


def _write(name: str) -> str:
    (cells_dir() / name).parent.mkdir(parents=True, exist_ok=True)
    (cells_dir() / name).write_text(name)
    return str(cells_dir())


def _fail(_name: str) -> None:
    raise ValueError("on purpose")


class _LacksNumberError(LackError):
    known: list[int] = []  # noqa: RUF012

    def fetch(self) -> int:
        return 7

    def keep(self, lent: int) -> None:
        self.known.append(lent)


def _need_number(_task: int) -> int:
    if not _LacksNumberError.known:
        raise _LacksNumberError("number")
    return _LacksNumberError.known[0]


class _LacksForeverError(_LacksNumberError):
    pass


def _need_more(_task: int) -> None:
    raise _LacksForeverError("more")


_BUSY: list[int] = []


def _count_busy(task: int) -> int:
    """Say how many do this at once."""
    _BUSY.append(task)
    time.sleep(0.02)
    n_busy = len(_BUSY)
    _BUSY.remove(task)
    return n_busy


def test_any_executor_does_the_work_where_the_caller_keeps_cells() -> None:
    with ThreadPoolExecutor(2) as threads, open_executor(threads) as executor:
        assert shares_cells(executor)
        folders = run_all(_write, ["a", "b"], executor, label="work")
    assert set(folders) == {str(cells_dir())}
    assert sorted(path.name for path in cells_dir().iterdir()) == ["a", "b"]  # and no mark


def test_what_is_written_apart_comes_back() -> None:
    apart = Apart(workers=1)
    with open_executor(apart) as executor:
        assert not shares_cells(executor)
        folders = run_all(_write, ["a/b", "c"], executor, label="work")
    apart.shutdown()
    assert str(cells_dir()) not in folders
    assert (cells_dir() / "a/b").read_text() == "a/b"
    assert (cells_dir() / "c").read_text() == "c"
    assert not any(Path(folder).exists() for folder in folders)


def test_a_failure_is_the_callers() -> None:
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(ValueError, match="on purpose"),
        open_executor(threads) as executor,
    ):
        run_all(_fail, ["a"], executor, label="work")


def test_what_is_lacked_is_lent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_LacksNumberError, "known", [])
    fetched: list[int] = []
    monkeypatch.setattr(_LacksNumberError, "fetch", lambda lack: fetched.append(1) or 7)
    with ThreadPoolExecutor(1) as threads, open_executor(threads) as executor:
        assert run_all(_need_number, [1, 2, 3], executor, label="work") == [7, 7, 7]
        assert len(fetched) == 1
        with pytest.raises(ConfigError, match="lent to a worker, yet not there"):
            run_all(_need_more, [1], executor, label="work")


@pytest.mark.parametrize(
    "name", ["recbias", "python", "numpy", "scipy", "numba", "implicit", "source of recbias"]
)
@pytest.mark.parametrize("is_late", [False, True])
def test_other_versions_are_refused(name: str, is_late: bool) -> None:
    class Older(ThreadPoolExecutor):
        n_asked = 0

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            self.n_asked += 1
            if self.n_asked > is_late:  # the first is asked before any work
                args = replace(args[0], versions={**args[0].versions, name: "1.0"}), *args[1:]
            return super().submit(fn, *args, **kwargs)

    def work() -> None:
        with Older(1) as threads, open_executor(threads) as executor:
            assert is_late
            run_all(_write, ["a"], executor, label="work")

    with pytest.raises(ConfigError, match=rf"{name} \S+ \(caller 1\.0\)\n.*: install there"):
        work()
    assert not (cells_dir() / "a").exists()


def test_an_edited_package_is_another_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def source_of(text: str) -> str:
        (tmp_path / "room").mkdir(exist_ok=True)
        (tmp_path / "room/code.py").write_text(text)
        return cluster._source.__wrapped__()

    monkeypatch.setattr(cluster.recbias, "__file__", str(tmp_path / "__init__.py"))
    assert source_of("one") == source_of("one") != source_of("two")


def test_a_worker_looks_for_data_where_its_caller_does(monkeypatch: pytest.MonkeyPatch) -> None:
    caller = cluster._Caller(
        cells="", mark="", shared=False, environment={"RECBIAS_DATA": "/theirs"}, path=(),
        versions=cluster._versions(),
    )  # fmt: skip
    monkeypatch.setenv("RECBIAS_DATA", "/here")
    assert cluster._there(caller, lambda: os.environ["RECBIAS_DATA"]) == ("/theirs", {})


def test_a_worker_with_several_threads_does_one_cell_at_a_time() -> None:
    _BUSY.clear()
    with ThreadPoolExecutor(4) as threads, open_executor(threads) as executor:
        assert run_all(_count_busy, range(8), executor, label="work") == [1] * 8


def test_who_waits_for_the_first_worker_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_SECONDS", 0.05)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(time.sleep, 0.5)
        with (
            pytest.warns(UserWarning, match=r"nobody has begun to work for 0\.05 s"),
            open_executor(threads) as executor,
        ):
            assert run_all(_write, ["a"], executor, label="work")


def test_an_executor_that_was_closed_is_refused() -> None:
    with ThreadPoolExecutor(1) as threads:
        pass
    with (
        pytest.raises(ConfigError, match="takes no work: cannot schedule"),
        open_executor(threads),
    ):
        pytest.fail("opened")


def test_a_late_worker_that_shares_nothing_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadPoolExecutor(1) as threads, open_executor(threads) as executor:
        monkeypatch.setattr(cluster, "_sees", lambda caller: False)
        with pytest.raises(ConfigError, match="not the folder of cells that other workers share"):
            run_all(_write, ["a"], executor, label="work")
    assert not (cells_dir() / "a").exists()


def test_a_module_is_lent_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lent_one.py").write_text("ANSWER = 42\n")
    (tmp_path / "lent_package").mkdir()
    (tmp_path / "lent_package/__init__.py").touch()
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        text = LacksModuleError("lent_one").fetch()
        for name in ("lent_package", "lent_nowhere"):
            with pytest.raises(ConfigError, match=f"{name}: workers cannot import it"):
                LacksModuleError(name).fetch()
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("lent_one")
    LacksModuleError("lent_one").keep(text)
    assert importlib.import_module("lent_one").ANSWER == 42


def test_where_no_scheduler_is_stands_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_SECONDS", 1)
    with (
        pytest.raises(ConfigError, match=r"scheduler\.json: no file of a scheduler"),
        open_executor(tmp_path / "scheduler.json"),
    ):
        pass
    for text in ("hello", "[]", "{}"):
        (tmp_path / "other.json").write_text(text)
        with (
            pytest.raises(ConfigError, match=r"other\.json: no file of a scheduler"),
            open_executor(tmp_path / "other.json"),
        ):
            pass
    with (
        pytest.raises(ConfigError, match=r"tcp://127\.0\.0\.1:9: no scheduler answers"),
        open_executor("tcp://127.0.0.1:9"),
    ):
        pass


def test_several_local_processes_give_way_to_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECBIAS_SCHEDULER", "nowhere.json")
    with open_executor(1) as executor:
        assert executor is None
    with pytest.raises(ConfigError, match=r"nowhere\.json: no file"), open_executor(2):
        pass
    assert at_most("tcp://a:1", 1) == "tcp://a:1"


def test_without_dask_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(ConfigError, match=r"pip install 'recbias\[cluster\]'"),
        open_executor("tcp://127.0.0.1:9"),
    ):
        pass


@pytest.mark.slow
def test_workers_apart_are_lent_the_data(table: Path, expected: str, tmp_path: Path) -> None:
    hidden = tmp_path / "mine.csv"
    hidden.write_bytes(table.read_bytes())
    apart = Apart(hidden)
    results = run(small_grid(hidden), workers=apart)
    apart.shutdown()
    assert not hidden.exists()
    assert digest_of(results) == expected
    assert results.times["computed"] == N_CELLS


# -- Dask ------------------------------------------------------------------------------------------


@contextmanager
def started(file: Path, *kinds: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a scheduler and workers, and end what of them is left."""
    processes = [dask(kind, file) for kind in kinds]
    try:
        assert wait_for(file.is_file, 60)
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def not_here(*_: object, **__: object) -> None:
    raise AssertionError("trained by who asks")


@pytest.mark.slow
def test_a_cluster_gives_the_same_bits(
    table: Path, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    with (
        started(file := tmp_path / "scheduler.json", "scheduler", "worker", "worker"),
        Client(scheduler_file=str(file), set_as_default=False) as client,
        monkeypatch.context() as patch,
    ):
        patch.setattr(UserKNN, "fit", not_here)
        for name, workers in (("file", file), ("text", str(file)), ("client", client)):
            monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / name))
            results = run(small_grid(table), workers=workers)
            assert digest_of(results) == expected, name
            assert results.times["computed"] == N_CELLS
        assert client.status == "running"  # the caller's to close
        whole = SimpleNamespace(
            scheduler=client.scheduler, scheduler_address=client.scheduler.address
        )
        monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "whole"))
        assert digest_of(run(small_grid(table), workers=whole)) == expected
        client.close()
        monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "closed"))
        with pytest.raises(ConfigError, match="the client is closed"):
            run(small_grid(table), workers=client)
        monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "here"))
        with pytest.raises(AssertionError, match="trained by who asks"):
            run(small_grid(table))


@pytest.mark.slow
def test_a_worker_that_dies_and_one_that_comes_late(
    table: Path, expected: str, tmp_path: Path
) -> None:
    script, file = Path(__file__).parents[1] / "digest.py", tmp_path / "scheduler.json"
    cells = Path(os.environ["RECBIAS_CELLS"])
    with started(file, "scheduler", "worker") as processes:
        running = subprocess.Popen(
            [sys.executable, script, table, str(file)], stdout=subprocess.PIPE, text=True
        )
        assert wait_for(lambda: len([*cells.rglob("*.parquet")]) >= 5, 120)
        with started(file, "worker"):
            processes[-1].send_signal(signal.SIGKILL)
            printed, _ = running.communicate(timeout=120)
    assert printed.split()[0] == expected


@pytest.mark.slow
def test_what_was_finished_before_the_scheduler_died_is_kept(
    table: Path, expected: str, tmp_path: Path
) -> None:
    script, file = Path(__file__).parents[1] / "digest.py", tmp_path / "scheduler.json"
    cells = Path(os.environ["RECBIAS_CELLS"])
    with started(file, "scheduler", "worker", "worker") as processes:
        running = subprocess.Popen(
            [sys.executable, script, table, str(file)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert wait_for(lambda: len([*cells.rglob("*.parquet")]) >= 5, 120)
        processes[0].send_signal(signal.SIGKILL)
        begun = time.monotonic()
        _, said = running.communicate(timeout=120)
        assert time.monotonic() - begun < 90
    assert running.returncode != 0
    assert "the scheduler is gone; what was finished is kept" in said
    n_kept = len([*cells.rglob("*.parquet")])
    results = run(small_grid(table), workers=2)
    assert digest_of(results) == expected
    assert 0 < results.times["computed"] <= N_CELLS - n_kept // 2


def test_a_grid_says_which_module_it_lacks() -> None:
    grid = Grid("synthetic", (System("Random", "Random"),), ("TI-AN-AR rel>=4",), ("P@10",))
    with pytest.raises(LacksModuleError, match="nowhere_to_be_found"):
        grid.outside._replace(modules=("nowhere_to_be_found",)).load()
