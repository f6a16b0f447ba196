"""Processes that are to be stopped: started in a session of their own, found by a mark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_MARK = "RECBIAS_TEST_MARK"


def start(command: Sequence[object], mark: Path, **options: object) -> subprocess.Popen[str]:
    """Start a command, like a shell in a terminal: in a process group of its own, marked."""
    environment = {**os.environ, **options.pop("env", {}), _MARK: str(mark)}  # type: ignore[dict-item]
    # A shell has it ignored by what it runs in the background, and by all that this starts.
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [str(part) for part in command],
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            **options,  # type: ignore[call-overload]
        )
    finally:
        signal.signal(signal.SIGINT, ours)


def marked(mark: Path) -> dict[int, str]:
    """Find what a command started, whoever its parent is now: environments are inherited."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            inherited = (process / "environ").read_bytes().split(b"\0")
            command = (process / "cmdline").read_text()
        except OSError:  # it ended meanwhile
            continue
        if f"{_MARK}={mark}".encode() in inherited and command:
            found[int(process.name)] = command.replace("\0", " ")
    return found


def workers(mark: Path) -> list[int]:
    """Find the worker processes of a command."""
    return [process for process, command in marked(mark).items() if "spawn_main" in command]


def wait_for(fact: Callable[[], object], seconds: float) -> bool:
    """Wait until something holds; tell whether it did in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if fact():
            return True
        time.sleep(0.01)
    return bool(fact())


def dask(kind: str, file: Path) -> subprocess.Popen[bytes]:
    """Start a scheduler, or a worker of it, as a batch system does: a process that ends alone."""
    arguments = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(file)]
    if kind == "worker":
        arguments += ["--no-nanny", "--nthreads", "1", "--death-timeout", "20",
                      "--local-directory", str(file.parent)]  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
