"""Where answers run: behind walls that they cannot leave, apart from whoever marks them.

On Linux each answer is a process of its own with namespaces of its own: it sees Python and its
packages, read only and without `recbias`, a folder of 16 MiB that goes with it, no network and no
other process, and cannot start one. Time and memory are limited. It returns values as JSON; the
check runs here, on those values, and calls an answer's function as often as it likes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import recbias
from recbias._system.places import clone_root
from recbias.book.course.inside import LATE, Line, decode, encode
from recbias.errors import ConfigError

_WORK = "/answer"
_BY_THE_CLOCK = 3
"""What an answer may take by the clock, its check included, in terms of its processor time."""
_SYSTEM = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/zero",
           "/dev/urandom")  # fmt: skip
_OR = "or give --trust-answers: answers can then read and write what you can"
_PROBE = """
import os
from probe import check
seen = [path for path, shown in {hidden!r}.items()
        if os.path.isdir(path) and set(os.listdir(path)) - set(shown)]
def reach():
    import socket
    return socket.create_connection(("192.0.2.1", 9), timeout=1)
def write(path):
    return lambda: open(path, "w")
for attempt in (os.fork, reach, write("/outside"), write("/usr/lib/outside")):
    try:
        attempt()
    except OSError:
        continue
    seen.append("more than it should")
check(seen)
"""
"""What the walls are tried with before anybody's answer runs."""

Outcome = Literal["called", "fault", "timeout", "crash"]


class _OutOfTimeError(BaseException):
    """No `Exception`: a check that tells of errors in functions must not tell of this one."""


class _LostError(BaseException):
    """The answer's process is gone, or says what nobody can read."""


@dataclass(frozen=True)
class Fault:
    """An error in an answer's code.

    Attributes
    ----------
    kind
        Name of the exception's type.
    text
        Its message.
    line
        Line of the answer, from 1; None where it is not known.
    """

    kind: str
    text: str
    line: int | None


class Sandbox:
    """A server that starts answers behind walls; a context.

    Parameters
    ----------
    seconds
        Processor time that one answer may take, rounded up; it has three times that by the clock,
        so that a busy machine costs nobody a mark.
    megabytes
        Memory that it may take.
    hidden
        Folders that an answer must not see, such as that of all answers.
    trusted
        Go without walls: an answer can then read and write what you can.

    Raises
    ------
    ConfigError
        On entering, if this machine has no such walls and answers are not `trusted`.
    """

    def __init__(
        self,
        *,
        seconds: float = 10.0,
        megabytes: int = 1024,
        hidden: Sequence[Path] = (),
        trusted: bool = False,
    ) -> None:
        self.seconds, self.megabytes, self.trusted = seconds, megabytes, trusted
        root = clone_root()
        package = Path(recbias.__file__).resolve().parent
        secrets = [package, *([root.resolve()] if root else []), *(p.resolve() for p in hidden)]
        self._hidden = [str(path) for path in dict.fromkeys(secrets)]
        # The paths as Python knows them and as they are: either may be in its list of modules.
        prefixes = [sys.base_prefix, sys.prefix]
        self._shown = list(dict.fromkeys([*_SYSTEM, *prefixes, *map(os.path.realpath, prefixes)]))
        self._lock = threading.Lock()

    def __enter__(self) -> Sandbox:
        if not hasattr(os, "fork"):
            raise ConfigError("answers are graded where processes fork: on Linux, or macOS")
        if not self.trusted and not sys.platform.startswith("linux"):
            raise ConfigError(f"answers are locked in by what only Linux has\ngrade there, {_OR}")
        self._folder = tempfile.mkdtemp(prefix="recbias-answers-")
        self._orders, theirs = socket.socketpair()
        environment = {"PATH": os.defpath, "PYTHONHASHSEED": "0"}
        environment |= {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
        script = Path(__file__).with_name("inside.py")
        self._server = subprocess.Popen(
            [sys.executable, "-I", "-B", str(script), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
        theirs.close()
        try:
            if not self.trusted:
                self._try_walls()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._orders.close()
        self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _try_walls(self) -> None:
        """Refuse to go on where an answer would see, or do, more than it should."""
        # A clone is hidden, and the environment within it is shown.
        within = {
            folder: [
                part
                for path in self._shown
                if path.startswith(f"{folder}/")
                for part in Path(path).relative_to(folder).parts[:1]
            ]
            for folder in self._hidden
        }
        code = _PROBE.format(hidden=within)
        try:
            outcome, found = self.run(code, "probe", "check", lambda seen: seen)
        except OSError as error:
            found, outcome = str(error), "crash"
        if outcome != "called" or found:
            raise ConfigError(
                f"answers cannot be locked in on this machine: {found}\n"
                "allow unprivileged user namespaces (of Ubuntu: sysctl "
                f"kernel.apparmor_restrict_unprivileged_userns=0), grade on another machine, {_OR}"
            )

    def run(
        self, code: str, module: str, check: str, judge: Callable[..., Any]
    ) -> tuple[Outcome, Any]:
        """Run an answer, and judge here what it gives to its check.

        Parameters
        ----------
        code
            The answer.
        module, check
            Where it imports its check from, and the name of that.
        judge
            Called as the answer calls its check, with values; functions are called over there.

        Returns
        -------
        outcome : str
            ``"called"``, ``"fault"`` (an error in its code), ``"timeout"``, or ``"crash"``: its
            process was gone.
        value
            What `judge` gave, None if the answer never calls its check; a `Fault`; or the text of
            what went wrong.

        Raises
        ------
        OSError
            If the walls do not stand.
        """
        with self._line() as (line, ended):
            until = time.monotonic() + _BY_THE_CLOCK * self.seconds

            def ask(message: dict[str, object]) -> Any:
                try:
                    line.say(message)
                    told = line.hear(max(until - time.monotonic(), 0.001))
                except TimeoutError:
                    raise _OutOfTimeError from None
                except (OSError, ValueError, RecursionError):
                    raise _LostError from None
                if not isinstance(told, dict):
                    raise _LostError
                return told

            def function(number: int, name: str) -> Callable[..., Any]:
                def proxy(*arguments: object) -> Any:
                    given = [encode(argument, []) for argument in arguments]
                    told = ask({"function": number, "arguments": given})
                    if "fault" in told:
                        fault = _fault(told["fault"])
                        raise type(fault.kind, (Exception,), {})(fault.text)
                    return _decoded(told.get("value"), function)

                proxy.__name__ = _name(name, "your function")
                return proxy

            try:
                told = ask({"code": code, "module": module, "check": check})
                if "fault" in told:
                    return "fault", _fault(told["fault"])
                called = told.get("called")
                if called is None:
                    return "called", None
                arguments = [_decoded(each, function) for each in _of(called, "arguments", list)]
                named = {
                    str(name): _decoded(each, function)
                    for name, each in _of(called, "named", dict).items()
                }
                return "called", judge(*arguments, **named)
            except _OutOfTimeError:
                return "timeout", f"no answer within {self.seconds:g} s"
            except _LostError:
                if ended() == LATE:
                    return "timeout", f"no answer within {self.seconds:g} s"
                return "crash", "its process ended before it answered"

    @contextmanager
    def _line(self) -> Iterator[tuple[Line, Callable[[], bytes]]]:
        """Start a process for an answer; it ends with the context, whatever it does.

        Gives the line to it, and what tells how it ended.
        """
        ours, theirs = socket.socketpair()
        alive, sign = socket.socketpair()
        plan = {
            "locked": not self.trusted,
            "root": self._folder,
            "work": _WORK,
            "shown": self._shown,
            "hidden": self._hidden,
            "seconds": self.seconds,
            "bytes": self.megabytes << 20,
        }
        with ours, alive:
            with theirs, sign, self._lock:
                wires = [theirs.fileno(), sign.fileno()]
                socket.send_fds(self._orders, [json.dumps(plan).encode()], wires)
            line = Line(ours)
            try:
                told = line.hear(60)
            except TimeoutError:
                told = {"refused": "nothing was heard of it for a minute"}
            if told is None or "refused" in told:
                raise OSError(told["refused"] if told else "its process ended at once")

            def ended() -> bytes:
                alive.settimeout(1)
                try:
                    return alive.recv(1)
                except OSError:
                    return b""

            yield line, ended


def _name(text: str, otherwise: str) -> str:
    """Take a name as an answer's process tells it, if it is one."""
    return text if re.fullmatch(r"\w{1,40}", text) else otherwise


def _fault(told: object) -> Fault:
    kind, text, line = (told.get(key) if isinstance(told, dict) else None
                        for key in ("type", "text", "line"))  # fmt: skip
    number = line if isinstance(line, int) else None
    return Fault(_name(str(kind), "Error"), str(text)[:300], number)


def _of(told: object, key: str, kind: type) -> Any:
    part = told.get(key) if isinstance(told, dict) else None
    if not isinstance(part, kind):
        raise _LostError
    return part


def _decoded(told: object, function: Callable[[int, str], object]) -> Any:
    try:
        return decode(told, function)
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError):
        raise _LostError from None
