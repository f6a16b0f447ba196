from __future__ import annotations

import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from types import ModuleType

import pytest
from tqdm import tqdm

from recbias.errors import ConfigError
from recbias.experiment import engine
from recbias.experiment.engine import open_executor, run_all, run_each
from stopping import wait_for


def _note(path: str) -> None:
    """Leave a file with the number of this process, like a cell that leaves its ranks."""
    Path(path).write_text(str(os.getpid()))


def _wait_and_number(task: tuple[float, int]) -> tuple[int, int]:
    seconds, number = task
    time.sleep(seconds)
    return number, os.getpid()


def _note_or_fail(path: str) -> None:
    if Path(path).name.startswith("bad"):
        raise ConfigError(f"{Path(path).name} cannot be done")
    time.sleep(0.2)
    _note(path)


@pytest.fixture(autouse=True)
def shown_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show progress also where TQDM_DISABLE is set."""
    monkeypatch.setattr(engine, "tqdm", partial(tqdm, disable=False))


def processes(folder: Path) -> set[int]:
    return {int(path.read_text()) for path in folder.iterdir()}


def test_a_worker_gives_memory_back_behind_each_task(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    monkeypatch.setattr(engine, "give_back", lambda: given.append(1))
    with ThreadPoolExecutor(1) as threads:
        assert run_all(abs, [-1, 2], threads, label="work") == [1, 2]
        assert list(run_each(abs, [-1, 2, -3], threads, label="work")) == [1, 2, 3]
        with pytest.raises(TypeError):
            run_all(abs, [""], threads, label="work")
    assert len(given) == 6


def test_one_worker_is_this_process(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tasks = [str(tmp_path / f"{number}") for number in range(5)]
    with open_executor(1) as executor:
        assert executor is None
        run_all(_note, iter(tasks), executor, label="notes")
    assert len(list(tmp_path.iterdir())) == 5
    assert processes(tmp_path) == {os.getpid()}
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "notes" in captured.err
    assert "5/5" in captured.err


def test_two_workers_are_other_processes_that_do_all_tasks(tmp_path: Path) -> None:
    tasks = [str(tmp_path / f"{number}") for number in range(20)]
    with open_executor(2) as executor:
        run_all(_note, tasks, executor, label="notes")
    assert len(list(tmp_path.iterdir())) == 20
    assert os.getpid() not in processes(tmp_path)
    assert not are_there(processes(tmp_path))  # none stays where nobody asked for it


def test_the_first_failure_ends_the_work_of_this_process(tmp_path: Path) -> None:
    tasks = [str(tmp_path / name) for name in ("1", "bad 2", "3")]
    with pytest.raises(ConfigError, match="bad 2"), open_executor(1) as executor:
        run_all(_note_or_fail, tasks, executor, label="notes")
    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_a_failure_in_a_worker_is_raised_and_cancels_what_waits(tmp_path: Path) -> None:
    tasks = [str(tmp_path / name) for name in ("bad", *map(str, range(30)))]
    with pytest.raises(ConfigError, match="bad cannot be done"), open_executor(2) as executor:
        run_all(_note_or_fail, tasks, executor, label="notes")
    assert len(list(tmp_path.iterdir())) < 30


@pytest.mark.parametrize("workers", [0, -1, True, False, 2.0, "2", "", None, [2]])
def test_no_worker_is_refused(workers: object) -> None:
    with (
        pytest.raises(ConfigError, match=rf"workers={re.escape(repr(workers))}: expected at least"),
        open_executor(workers),
    ):
        pytest.fail("opened")


ORDER = [(0.5, 0), *((0.0, number) for number in range(1, 6))]
"""With two workers the first task is done last."""


def test_results_of_one_worker_come_in_the_order_of_the_tasks() -> None:
    with open_executor(1) as executor:
        results = run_all(_wait_and_number, ORDER, executor, label="numbers")
    assert [number for number, _ in results] == list(range(6))


def test_an_executor_serves_several_calls_in_order_and_after_a_failure_that_was_handled(
    tmp_path: Path,
) -> None:
    with open_executor(2) as executor:
        first, second = (
            run_all(_wait_and_number, ORDER, executor, label="numbers") for _ in range(2)
        )
        with pytest.raises(ConfigError, match="bad cannot be done"):
            run_all(_note_or_fail, [str(tmp_path / "bad")], executor, label="notes")
        assert run_all(_wait_and_number, [(0.0, 7)], executor, label="numbers")[0][0] == 7
    assert [number for number, _ in first + second] == [*range(6), *range(6)]
    assert len({process for _, process in first + second}) <= 2


def test_one_bar_counts_what_went_before_and_what_follows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    run_all(abs, [1, 2], None, label="cells", after=3)
    list(run_each(abs, [1, 2, 3], None, label="measures", before=2))
    said = capsys.readouterr().err
    assert "| 0/5 [" in said.partition("measures")[0]
    assert re.search(r"measures:  40%\|[^|]*\| 2/5 .*measures: 100%\|[^|]*\| 5/5 ", said)


def test_nothing_to_do_shows_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_all(_note, [], None, label="notes") == []
    assert capfd.readouterr().err == ""


def test_results_are_handed_out_in_order_and_few_are_held() -> None:
    begun: list[int] = []

    def work(task: int) -> int:
        begun.append(task)
        return -task

    with ThreadPoolExecutor(3) as executor:
        for place, result in enumerate(
            run_each(work, list(range(50)), executor, label="each", ahead=4)
        ):
            assert result == -place
            assert max(begun) <= place + 4
    assert sorted(begun) == list(range(50))
    assert list(run_each(work, [3, 1], None, label="each")) == [-3, -1]
    assert list(run_each(work, [], None, label="each")) == []


def test_the_first_failure_in_order_is_raised() -> None:
    def work(task: int) -> int:
        if task == 2:
            raise ValueError("two")
        return task

    with ThreadPoolExecutor(2) as executor:
        handed = run_each(work, [1, 2, 3], executor, label="each")
        assert next(handed) == 1
        with pytest.raises(ValueError, match="two"):
            next(handed)


# ------------------------------------------------------------------------------ workers that wait


def _number(_: int) -> int:
    time.sleep(0.05)  # so that both find something to do
    return os.getpid()


def served() -> set[int]:
    """Number the processes that do some tasks and may stay: one, where the other is too late."""
    with open_executor(2, kept=True) as executor:
        return set(run_all(_number, range(10), executor, label="numbers"))


def waiting() -> set[int]:
    """Number the processes that wait for what comes next, whichever of them did something."""
    assert engine._IDLE._waiting is not None
    pool, _ = engine._IDLE._waiting
    return {worker.pid for worker in pool.context._begun if worker.pid is not None}


def are_there(processes: set[int]) -> bool:
    return bool(processes & {worker.pid for worker in active_children()})


def test_workers_that_are_left_do_what_comes_next_and_wait_for_half_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert served() <= (first := waiting())
    assert len(first) == 2
    assert served() <= first
    assert waiting() == first
    assert are_there(first)
    assert engine._IDLE_SECONDS == 30
    monkeypatch.setattr(engine, "_IDLE_SECONDS", 0.2)
    assert served() <= first
    assert wait_for(lambda: not are_there(first), 60)


def test_a_failure_leaves_no_workers(tmp_path: Path) -> None:
    found: set[int] = set()

    def failing() -> None:
        with open_executor(2, kept=True) as executor:
            found.update(run_all(_number, range(10), executor, label="numbers"))
            run_all(_note_or_fail, [str(tmp_path / "bad")], executor, label="notes")

    with pytest.raises(ConfigError, match="bad cannot be done"):
        failing()
    assert found
    assert not are_there(found)
    assert engine._IDLE.take(2) is None


def test_workers_that_would_be_others_today_are_not_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They keep the environment, where to look for modules, and the code as it was."""
    edited = ModuleType("recbias.edited")
    edited.__file__ = str(tmp_path / "edited.py")
    monkeypatch.setitem(sys.modules, edited.__name__, edited)
    (tmp_path / "edited.py").touch()
    os.utime(tmp_path / "edited.py", (1, 1))
    pool = engine._Pool(2)
    assert pool.is_as_new(2)
    assert not pool.is_as_new(3)
    with monkeypatch.context() as changed:
        changed.setenv("RECBIAS_CELLS", str(tmp_path))
        assert not pool.is_as_new(2)
    with monkeypatch.context() as changed:
        changed.setattr(sys, "path", [*sys.path, str(tmp_path)])
        assert not pool.is_as_new(2)
    with monkeypatch.context() as changed:
        changed.setattr(engine._Worker, "is_alive", lambda _: False)
        assert pool.is_as_new(2)  # none was started
        pool.context.Process()
        assert not pool.is_as_new(2)
        pool.context._begun.clear()
    assert pool.is_as_new(2)
    now = time.time_ns()  # that of a file system may be some milliseconds behind
    os.utime(tmp_path / "edited.py", ns=(now, now))
    assert not pool.is_as_new(2)
    engine._IDLE.leave(pool)
    assert engine._IDLE.take(2) is None
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.executor.submit(_number, 1)


def test_an_edit_of_the_program_itself_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.touch()
    os.utime(program, (1, 1))
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(program), raising=False)
    now = time.time_ns()
    assert not engine._is_edited(now)
    os.utime(program, ns=(now, now))
    assert engine._is_edited(now)


def test_workers_that_wait_end_where_others_come_to_wait() -> None:
    one, other = engine._Pool(2), engine._Pool(3)
    engine._IDLE.leave(one)
    assert engine._IDLE._waiting is not None
    _, alarm = engine._IDLE._waiting
    engine._IDLE.leave(other)
    engine._IDLE._end(alarm)  # it went off at this very moment, for those that are gone
    with pytest.raises(RuntimeError, match="after shutdown"):
        one.executor.submit(_number, 1)
    assert engine._IDLE.take(3) is other
    other.executor.shutdown()
