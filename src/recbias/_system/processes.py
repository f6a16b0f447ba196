"""Processes that end with the one that started them, and what a killed process left behind.

A process that is killed can clean up nothing. What it started has to notice by itself, and what it
had begun to write has to be recognised later: by the process that its name tells of.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import ctypes
import hashlib
import multiprocessing
import os
import platform
import re
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_BETWEEN_LOOKS = 0.5


def end_with(parent: int, *, lasting: bool = True) -> None:
    """End this process, whatever it does, once the one that started it is gone.

    On Linux the system itself ends it, also in the middle of compiled code. Elsewhere a thread
    looks twice a second, and has to wait for compiled code that keeps other threads out.

    Parameters
    ----------
    parent
        Number of the process that started this one.
    lasting
        Whether the thread that started this process lasts as long as its process does, as the main
        thread does. Linux tells of the end of that thread; without this a thread looks there too.
    """
    if sys.platform == "linux" and lasting:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before
            os._exit(1)
        return
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def ending_source(parent: int, *, lasting: bool = True) -> str:
    """Write :func:`end_with` as Python code that needs nothing of this package but this file.

    Who imports the package has imported it for seconds before it can call anything. This code is
    for the beginning of what a new process is told to run.

    Parameters
    ----------
    parent, lasting
        As in :func:`end_with`.

    Returns
    -------
    str
        An expression; its value is None.

    Examples
    --------
    >>> import subprocess
    >>> code = f"{ending_source(os.getpid())}; print('here')"
    >>> print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    here
    <BLANKLINE>
    """
    this_file = str(Path(__file__).resolve())
    call = f"__import__('runpy').run_path({this_file!r})['end_with']"
    return f"{call}({parent}, lasting={lasting})"


def _watch(parent: int) -> None:
    if os.name == "nt":  # where the number of the parent stays what it was
        process = multiprocessing.parent_process()
        if process is None:
            return
        process.join()
    while os.name != "nt" and os.getppid() == parent:
        time.sleep(_BETWEEN_LOOKS)
    os._exit(1)


def _end_interrupted() -> None:
    """End a script as Python does that nobody answers Ctrl-C in, but without its tidying up.

    That takes a second or two on a busy machine, for what libraries have compiled, while whoever
    pressed the keys waits. All that was registered to be done at the end has been done.
    """
    is_script = not hasattr(sys, "ps1") and not hasattr(builtins, "__IPYTHON__")
    if is_script and getattr(sys, "last_type", None) is KeyboardInterrupt:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


if os.name != "nt":
    atexit.register(_end_interrupted)  # what is registered later is done before


def begun_prefix(name: str) -> str:
    """Name what this process begins, so that others can tell whether it still works on it.

    Parameters
    ----------
    name
        What it will be called when it is complete.

    Returns
    -------
    str
        The beginning of a hidden name; a random end belongs behind it.
    """
    return f".{name}.{_machine()}-{os.getpid()}-"


def remove_begun(folder: Path, name: str) -> None:
    """Remove what processes of this machine had begun under a name when they were killed.

    Parameters
    ----------
    folder
        Where it would lie; need not exist.
    name
        As :func:`begun_prefix` was given it. What other machines, living processes and this one
        have begun stays, and on Windows, where none of it is removed, everything.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as text:
    ...     folder = Path(text)
    ...     (folder / f"{begun_prefix('cell')}x").touch()
    ...     (folder / f".cell.{_machine()}-{2**22 + 1}-x").touch()  # no number of a process
    ...     remove_begun(folder, "cell")
    ...     [path.name == f"{begun_prefix('cell')}x" for path in folder.iterdir()]
    [True]
    """
    if os.name == "nt":
        return
    begun = re.compile(rf"\.{re.escape(name)}\.{_machine()}-(\d+)-")
    with contextlib.suppress(OSError):  # no such folder, or not ours to look into
        for entry in os.listdir(folder):
            match = begun.match(entry)
            if match and not _is_alive(int(match[1])):
                _remove(folder / entry)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):  # another process removed it at the same time
        path.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    with contextlib.suppress(OSError):  # one that ended has a number until somebody asks how
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        return not status.rpartition(")")[2].lstrip().startswith("Z")
    return True


def _machine() -> str:
    """Tell machines apart that share a folder: each has processes of the same numbers."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
