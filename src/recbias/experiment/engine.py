"""An executor for cells: this process, local worker processes, or a cluster.

The seam is :class:`concurrent.futures.Executor`; whoever has another one can hand it in.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import current_process, resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from tqdm import tqdm

from recbias._system.memory import give_back
from recbias._system.places import SCHEDULER
from recbias._system.processes import end_with, ending_source
from recbias.errors import ConfigError
from recbias.experiment.cluster import Workers, open_cluster, shares_cells

__all__ = [
    "Workers",
    "are_waiting",
    "at_most",
    "check_workers",
    "end_waiting",
    "open_executor",
    "peak_mb",
    "run_all",
    "run_each",
    "shares_cells",
]

Task = TypeVar("Task")
Result = TypeVar("Result")


_GUARD = """{name} starts worker processes, each of which runs it again from the top
put what runs the grid under a line if __name__ == "__main__":, or use workers=1"""
_GUARDED_BY = ("__main__", "parent_process", "MainProcess")


def _is_unguarded(main: ModuleType) -> bool:
    """Tell whether a program is a script that nothing keeps from running again in each worker."""
    path = getattr(main, "__file__", None)
    if path is None or getattr(main, "__spec__", None) is not None:
        return False  # typed in, or started by its module name: spawn runs nothing again
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return Path(path).suffix == ".py" and not any(word in text for word in _GUARDED_BY)


_STARTER = ThreadPoolExecutor(1, thread_name_prefix="starter")
"""Starts all workers: Linux ends them with the thread that started them, so that has to last."""


class _EarlyName(str):
    """The name of a worker, which is the first thing that it reads.

    What comes next, the program that started it and all that this imports, takes seconds, and
    whoever is still importing has to end with its parent too.
    """

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return eval, (f"{ending_source(os.getpid())} or {str(self)!r}",)


class _Worker(SpawnProcess):
    """A process that ends with the one that started it, and that no interrupt reaches.

    Ctrl-C at a terminal is sent to all of its processes; the one that started this one decides.
    """

    def start(self) -> None:
        """Start it, from the thread that lasts as long as this process."""
        self._parent = os.getpid()
        if os.name != "nt":
            self.name = _EarlyName(self.name)
        _STARTER.submit(self._start).result()

    def _start(self) -> None:
        if os.name != "nt":  # it inherits that interrupts are held back, from its first moment on
            resource_tracker.ensure_running()  # it lets them through again when it starts
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        super().start()

    def run(self) -> None:
        """Do what it was started for."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_with(self._parent)  # again: where the name is not what is read first
        super().run()


class _Workers(SpawnContext):
    """What an executor makes its processes with; it knows them."""

    def __init__(self) -> None:
        super().__init__()
        self._begun: list[_Worker] = []

    def Process(self, *args: Any, **kwargs: Any) -> _Worker:  # type: ignore[override]  # noqa: N802
        self._begun.append(_Worker(*args, **kwargs))
        return self._begun[-1]

    def are_alive(self) -> bool:
        """Tell whether none of them has ended."""
        return all(worker.is_alive() for worker in self._begun)

    def kill(self) -> None:
        """End all of them in the middle of what they do, also one that is just being started."""
        _STARTER.submit(self._kill).result()

    def _kill(self) -> None:
        for worker in self._begun:
            if worker.is_alive():
                worker.kill()


_IDLE_SECONDS = 30.0
"""How long workers wait for what their program does next."""


class _Pool:
    """Worker processes, with what they inherited when they were started."""

    def __init__(self, workers: int) -> None:
        self._started = time.time_ns()
        self._inherited = _inherited(workers)
        self.context = _Workers()
        self.executor = ProcessPoolExecutor(workers, mp_context=self.context)

    def is_as_new(self, workers: int) -> bool:
        """Tell whether processes that are started now would be like these."""
        same = self._inherited == _inherited(workers) and self.context.are_alive()
        return same and not _is_edited(self._started)


def _inherited(workers: int) -> tuple[object, ...]:
    """List what workers have from the process that starts them, and keep to their end."""
    return workers, dict(os.environ), tuple(sys.path)


def _is_edited(since: int) -> bool:
    """Tell whether code of the package or of the program was written after a time in ns."""
    for name, module in list(sys.modules.items()):
        if name == "__main__" or name.partition(".")[0] == "recbias":
            try:
                if os.stat(str(module.__file__)).st_mtime_ns >= since:
                    return True
            except (AttributeError, OSError):  # typed in, or not from a file that is still there
                continue
    return False


class _Idle:
    """Where workers wait for what their program does next: no more than those of one call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: tuple[_Pool, threading.Timer] | None = None

    def take(self, workers: int) -> _Pool | None:
        """Take those that wait, if they are as new ones would be; otherwise they end."""
        pool = self._swap(None)
        if pool is None or pool.is_as_new(workers):
            return pool
        pool.executor.shutdown()
        return None

    def has(self, workers: int) -> bool:
        """Tell whether some wait that are as new ones would be."""
        with self._lock:
            return self._waiting is not None and self._waiting[0].is_as_new(workers)

    def leave(self, pool: _Pool) -> None:
        """Let workers wait in place of others."""
        timer = threading.Timer(_IDLE_SECONDS, lambda: self._end(timer))
        timer.daemon = True  # it holds up no end of this process, which ends all workers
        if before := self._swap((pool, timer)):
            before.executor.shutdown()
        timer.start()

    def end(self) -> None:
        """End those that wait."""
        if pool := self._swap(None):
            pool.context.kill()
            pool.executor.shutdown()

    def _swap(self, waiting: tuple[_Pool, threading.Timer] | None) -> _Pool | None:
        with self._lock:
            before, self._waiting = self._waiting, waiting
        if before is None:
            return None
        pool, timer = before
        timer.cancel()
        return pool

    def _end(self, timer: threading.Timer) -> None:
        """End workers that have waited for long, unless they were taken at this very moment."""
        with self._lock:
            if self._waiting is None or self._waiting[1] is not timer:
                return
            pool, self._waiting = self._waiting[0], None
        pool.executor.shutdown()


_IDLE = _Idle()


def are_waiting(workers: int) -> bool:
    """Tell whether that many worker processes wait for what this program does next."""
    return _IDLE.has(workers)


def end_waiting() -> None:
    """End worker processes that wait for what this program does next, at once."""
    _IDLE.end()


def check_workers(workers: Workers) -> None:
    """Refuse what cannot do any work.

    Raises
    ------
    ConfigError
        If it is a number below 1, or neither a whole number nor anything that names a cluster.
    """
    if isinstance(workers, int):
        fits = workers >= 1 and not isinstance(workers, bool)
    elif isinstance(workers, str):
        fits = workers != "" and not workers.isdigit()
    else:  # a client has a scheduler, and so has a cluster
        fits = isinstance(workers, os.PathLike | Executor) or hasattr(workers, "scheduler")
    if not fits:
        raise ConfigError(
            f"workers={workers!r}: expected at least 1 process, a scheduler or an executor"
        )


def at_most(workers: Workers, n_tasks: int) -> Workers:
    """Ask for no more local processes than there is work for; clusters decide themselves.

    Examples
    --------
    >>> at_most(8, 3), at_most(8, 0), at_most("tcp://127.0.0.1:8786", 3)
    (3, 1, 'tcp://127.0.0.1:8786')
    """
    return max(1, min(workers, n_tasks)) if isinstance(workers, int) else workers


@contextmanager
def open_executor(workers: Workers = 1, *, kept: bool = False) -> Iterator[Executor | None]:
    """Open local worker processes, or a cluster; with one worker, none: this process does the work.

    Parameters
    ----------
    workers
        Number of processes; or a Dask cluster, itself or by the address or file of its scheduler
        or a client; or any executor. Results do not depend on it. Where ``RECBIAS_SCHEDULER`` names
        a scheduler, its workers stand in for several local processes.
    kept
        Whether workers that an earlier call left may do the work, and stay for the next one for
        half a minute: starting them takes seconds. They are used again only by a call with the
        same number and environment, and only if no code of the package or the program was
        edited since. To be left out where tasks bring code of their own, and where the block is
        left before all tasks are done.

    Yields
    ------
    concurrent.futures.Executor or None

    Raises
    ------
    ConfigError
        If ``workers`` is below 1; with more than one, if the program is a script without
        ``if __name__ == "__main__":``, which each process would run from the top; if a process
        ended by itself; as :func:`recbias.experiment.cluster.open_cluster`.

    Notes
    -----
    Workers never outlive this process, however that ends. When the block is left by an exception,
    an interrupt among them, they are killed in the middle of what they do.
    """
    if getattr(current_process(), "_inheriting", False):
        # Here a new worker runs the script that started it: whoever waits for it says why it ended.
        raise SystemExit(1)
    check_workers(workers)
    if isinstance(workers, int) and workers > 1:
        workers = os.environ.get(SCHEDULER) or workers
    if not isinstance(workers, int):
        with open_cluster(workers) as executor:
            yield executor
        return
    if workers == 1:
        yield None
        give_back()
        return
    if _is_unguarded(sys.modules["__main__"]):
        raise ConfigError(_GUARD.format(name=Path(str(sys.modules["__main__"].__file__)).name))
    pool = (_IDLE.take(workers) if kept else None) or _Pool(workers)
    try:
        yield pool.executor
    except BrokenProcessPool:
        pool.executor.shutdown()
        raise ConfigError(
            "a worker process ended by itself: what starts workers stands in the script outside"
            ' if __name__ == "__main__":, or memory ran out\n'
            "put it under that line, or use fewer workers"
        ) from None
    except BaseException:
        pool.context.kill()
        pool.executor.shutdown()
        raise
    if kept:
        _IDLE.leave(pool)
    else:
        pool.executor.shutdown()
    give_back()


def run_all(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    executor: Executor | None,
    *,
    label: str,
    after: int = 0,
) -> list[Result]:
    """Do all tasks, showing progress; raise the first failure.

    Parameters
    ----------
    work
        A function at module level (it travels to other processes, as do its results).
    tasks
        Its arguments.
    executor
        Where to do them; None stands for this process. It stays open, so that further calls find
        its processes with everything imported and in memory.
    label
        What the progress bar says.
    after
        How many tasks of another kind will follow, which the bar counts as well.

    Returns
    -------
    list
        What ``work`` returned, in the order of the tasks whatever the order of their completion;
        empty without tasks.

    Raises
    ------
    Exception
        What the task that failed first raised. Tasks that other processes have begun, and those
        that wait, are done too unless :func:`open_executor` is left.

    Examples
    --------
    >>> from math import sqrt
    >>> run_all(sqrt, [4, 1, 9], None, label="roots")
    [2.0, 1.0, 3.0]
    """
    tasks = list(tasks)
    if not tasks:
        return []
    total = len(tasks) + after
    with tqdm(total=total, desc=label, unit="cell", leave=not after) as progress:
        if executor is None:
            results = []
            for task in tasks:
                results.append(work(task))
                progress.update()
            return results
        futures = [executor.submit(_done, work, task) for task in tasks]
        for future in as_completed(futures):
            future.result()
            progress.update()
        return [future.result() for future in futures]


def run_each(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    executor: Executor | None,
    *,
    label: str,
    before: int = 0,
    ahead: int = 8,
) -> Iterator[Result]:
    """Do all tasks and hand out what they return one by one, so that not all of it is held at once.

    Parameters
    ----------
    work, tasks, executor, label
        As in :func:`run_all`.
    before
        How many tasks of another kind were done, which the bar counts as well.
    ahead
        How many tasks may be begun before the result that is next in order was taken.

    Yields
    ------
    object
        What ``work`` returned, in the order of the tasks.

    Raises
    ------
    Exception
        What the first task in order that failed raised.

    Examples
    --------
    >>> from math import sqrt
    >>> list(run_each(sqrt, [4, 1, 9], None, label="roots"))
    [2.0, 1.0, 3.0]
    """
    total = before + len(tasks)
    with tqdm(total=total, initial=before, desc=label, unit="cell") as progress:
        if executor is None:
            for task in tasks:
                yield work(task)
                progress.update()
            return
        begun: deque[Future[Result]] = deque()
        waiting = iter(tasks)
        for task in islice(waiting, ahead):
            begun.append(executor.submit(_done, work, task))
        while begun:
            result = begun.popleft().result()
            begun.extend(executor.submit(_done, work, task) for task in islice(waiting, 1))
            progress.update()
            yield result


def _done(work: Callable[[Task], Result], task: Task) -> Result:
    """Do a task in a worker, which holds no more than it needs while it waits for the next one."""
    try:
        return work(task)
    finally:
        give_back()


def peak_mb() -> int | None:
    """Peak memory of this process; None on Windows, which has no such counter."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))
