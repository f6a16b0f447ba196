"""An executor for cells: this process, or local worker processes.

The seam is :class:`concurrent.futures.Executor`; whoever has another one can hand it in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from tqdm import tqdm

from recbias.errors import ConfigError

__all__ = ["open_executor", "run_all"]

Task = TypeVar("Task")


@contextmanager
def open_executor(workers: int = 1) -> Iterator[Executor | None]:
    """Open local worker processes; with one worker, none: the work is done in this process.

    Parameters
    ----------
    workers
        Number of processes. Results do not depend on it.

    Yields
    ------
    concurrent.futures.Executor or None

    Raises
    ------
    ConfigError
        If ``workers`` is below 1.
    """
    if workers < 1:
        raise ConfigError(f"workers={workers}: expected at least 1")
    if workers == 1:
        yield None
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def run_all(
    work: Callable[[Task], object],
    tasks: Iterable[Task],
    executor: Executor | None,
    *,
    label: str,
) -> None:
    """Do all tasks, showing progress; raise the first failure.

    Parameters
    ----------
    work
        A function at module level (it travels to other processes); what it returns is dropped, so
        that it must leave its result on disk.
    tasks
        Its arguments.
    executor
        Where to do them; None stands for this process.
    label
        What the progress bar says.
    """
    tasks = list(tasks)
    if not tasks:
        return
    with tqdm(total=len(tasks), desc=label, unit="cell") as progress:
        if executor is None:
            for task in tasks:
                work(task)
                progress.update()
            return
        for future in as_completed([executor.submit(work, task) for task in tasks]):
            future.result()
            progress.update()
