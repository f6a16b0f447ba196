"""What runs where answers run: a server that forks, and locks each fork in before it reads code.

It is started as a file, not as a part of the package: nothing of `recbias` is imported here, so
that nothing of it is in the memory that a fork inherits. What an answer's process says is data, of
JSON; who hears it decides what it is worth.
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import os
import resource
import select
import signal
import socket
import struct
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import scipy.stats  # noqa: F401 - loaded once, so that no answer waits for it

_NEW_NS, _NEW_UTS, _NEW_IPC = 0x00020000, 0x04000000, 0x08000000
_NEW_USER, _NEW_PID, _NEW_NET = 0x10000000, 0x20000000, 0x40000000
_BIND, _REC, _PRIVATE, _DETACH = 4096, 16384, 1 << 18, 2
_NOSUID_NODEV = 2 | 4
_NO_NEW_PRIVILEGES, _DIES_WITH_PARENT = 38, 1
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_MOUNT_SETATTR = 442  # of all machines
_NOBODY = 65534
_LONGEST = 1 << 20
"""Bytes of a message: more is no answer."""
_DIGITS = 10**18
LATE = b"t"
"""What is said of a process that used up its time."""


# -- values ----------------------------------------------------------------------------------------
def encode(value: object, functions: list[Callable[..., Any]], depth: int = 0) -> Any:
    """Write a value as JSON with its kinds; what is no value becomes the name of its type."""
    if depth > 20:
        return {"object": "something nested more than 20 deep"}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < _DIGITS else {"object": "a number of more than 18 digits"}
    if value is ...:
        return {"dots": True}
    if isinstance(value, Fraction):
        parts = [encode(part, functions) for part in (value.numerator, value.denominator)]
        return {"fraction": parts} if all(isinstance(part, int) for part in parts) else parts[0]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "kind": value.dtype.kind, "shape": value.shape}
    if isinstance(value, pandas.Series | pandas.Index):
        value = value.tolist()
    for kind, name in ((list, "list"), (tuple, "tuple"), (set, "set"), (frozenset, "set")):
        if isinstance(value, kind):
            return {name: [encode(part, functions, depth + 1) for part in value]}
    if isinstance(value, dict):
        pairs = [[encode(part, functions, depth + 1) for part in pair] for pair in value.items()]
        return {"dict": pairs}
    if callable(value):
        functions.append(value)
        return {"function": len(functions) - 1, "name": str(getattr(value, "__name__", ""))}
    return {"object": f"of type {type(value).__name__}"}


def decode(told: Any, function: Callable[[int, str], object]) -> Any:
    """Read what `encode` wrote; ``function(number, name)`` stands in for functions.

    Raises
    ------
    ValueError
        If it was not written by `encode`.
    """
    if told is None or isinstance(told, bool | int | float | str):
        return told
    if not isinstance(told, dict):
        raise ValueError
    if "dots" in told:
        return ...
    if "object" in told:
        return Unreadable(str(told["object"]))
    if "fraction" in told:
        above, below = map(int, told["fraction"])
        return Fraction(above, below)
    if "array" in told:
        kind = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}[told["kind"]]
        return np.array(told["array"], dtype=kind).reshape([int(n) for n in told["shape"]])
    if "function" in told:
        return function(int(told["function"]), str(told["name"]))
    if "dict" in told:
        return {decode(key, function): decode(value, function) for key, value in told["dict"]}
    for kind, name in ((list, "list"), (tuple, "tuple"), (set, "set")):
        if name in told:
            return kind(decode(part, function) for part in told[name])
    raise ValueError


class Unreadable:
    """A value of an answer that is none that a check knows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"a value {self.text}"


class Line:
    """Messages over a socket, a line of JSON each."""

    def __init__(self, wire: socket.socket) -> None:
        self._wire, self._rest = wire, b""

    def say(self, message: Mapping[str, object]) -> None:
        """Send a message."""
        self._wire.sendall(json.dumps(message).encode() + b"\n")

    def hear(self, seconds: float | None = None) -> Any:
        """Wait for a message; None where the other side has left.

        Raises
        ------
        TimeoutError
            If none comes within `seconds`.
        ValueError
            If what comes is no message.
        """
        self._wire.settimeout(seconds)
        parts = [self._rest]
        n_read = len(self._rest)
        while b"\n" not in parts[-1]:
            part = self._wire.recv(1 << 16)
            if not part:
                return None
            n_read += len(part)
            if n_read > _LONGEST:
                raise ValueError(f"more than {_LONGEST} bytes")
            parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return json.loads(line)


# -- locking in ------------------------------------------------------------------------------------
def _libc(call: str, *arguments: Any) -> None:
    """Call the C library, and raise what it reports."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, call)(*arguments) != 0:
        number = ctypes.get_errno()
        of = next((each.decode() for each in arguments[:2] if isinstance(each, bytes)), "")
        raise OSError(number, f"{call} {of}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    texts = [text.encode() for text in (source, target, kind)]
    _libc("mount", *texts, ctypes.c_ulong(flags), options.encode() or None)


def _lock_in(plan: Mapping[str, Any]) -> None:
    """Leave the names of this machine: files, network, processes; what follows sees `plan` only."""
    machine = os.uname().machine
    if machine not in _PIVOT_ROOT:
        raise OSError(f"not known how on {machine}")
    kinds = _NEW_NS | _NEW_UTS | _NEW_IPC | _NEW_PID | _NEW_NET
    user, group = os.getuid(), os.getgid()
    if user == 0:  # root needs no map: it puts its rights down below
        _libc("unshare", kinds)
    else:
        _libc("unshare", kinds | _NEW_USER)
        for name, text in (
            ("setgroups", "deny"), ("uid_map", f"{_NOBODY} {user} 1"),
            ("gid_map", f"{_NOBODY} {group} 1"),
        ):  # fmt: skip
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    _mount("none", "/", "none", _REC | _PRIVATE)
    _mount("tmpfs", plan["root"], "tmpfs", _NOSUID_NODEV, "size=4m,mode=755")
    root = f"{plan['root']}/in"  # a root within the root: whoever is in one can make no new names
    os.mkdir(root)
    places = [(path, True) for path in plan["shown"]] + [(path, False) for path in plan["hidden"]]
    # Parents first: what is hidden within what is shown, and shown within what is hidden.
    for path, shown in sorted(places, key=lambda place: (place[0].count("/"), not place[1])):
        target = root + path
        if shown and os.path.islink(path):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(os.readlink(path), target)
        elif shown and os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
            _mount(path, target, "none", _BIND | _REC)
        elif shown and os.path.exists(path):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w"):
                pass
            _mount(path, target, "none", _BIND)
        elif not shown and os.path.isdir(target):
            _mount("tmpfs", target, "tmpfs", _NOSUID_NODEV, "size=64k,mode=755")
        elif not shown and os.path.exists(target):
            _mount("/dev/null", target, "none", _BIND)
    work = f"{root}{plan['work']}"
    os.makedirs(work)
    read_only = struct.pack("QQQQ", 1 | 2, 0, 0, 0)  # neither written to nor with rights of others
    whole = plan["root"].encode()
    _libc("syscall", _MOUNT_SETATTR, -100, whole, 0x8000, read_only, len(read_only))
    _mount("tmpfs", work, "tmpfs", _NOSUID_NODEV, "size=16m,nr_inodes=1000,mode=1777")
    os.chdir(plan["root"])
    _libc("syscall", _PIVOT_ROOT[machine], b".", b".")
    _libc("umount2", b".", _DETACH)
    os.chroot("/in")
    os.chdir(plan["work"])


def _put_down(plan: Mapping[str, Any], locked: bool) -> None:
    """Put down all rights for good, and take limits."""
    limits = {
        resource.RLIMIT_AS: plan["bytes"],
        resource.RLIMIT_CPU: math.ceil(plan["seconds"]),
        resource.RLIMIT_FSIZE: 16 << 20,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
    }
    if locked:
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        head = struct.pack("Ii", 0x20080522, 0)
        _libc("syscall", _CAPSET[os.uname().machine], head, bytes(24))
        limits[resource.RLIMIT_NPROC] = 1  # itself: whoever forks, or starts a thread, is refused
    _prctl(_NO_NEW_PRIVILEGES, 1)
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # there are systems without some of them
            resource.setrlimit(kind, (most, most))


def _prctl(what: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        _libc("prctl", what, value, 0, 0, 0)


# -- an answer -------------------------------------------------------------------------------------
def _fault(error: BaseException) -> dict[str, object]:
    """Tell of an error in an answer's code: what, and in which of its lines."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == "answer"]  # fmt: skip
    line = error.lineno if isinstance(error, SyntaxError) else next(reversed(lines), None)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return {"type": type(error).__name__, "text": text[:300], "line": line}


def _answer(line: Line) -> None:
    """Run an answer's code, tell how it called its check, and answer calls of its functions."""
    asked = line.hear()
    calls: list[dict[str, object]] = []
    functions: list[Callable[..., Any]] = []

    def check(*arguments: object, **named: object) -> str:
        told = [encode(argument, functions) for argument in arguments]
        by_name = {name: encode(value, functions) for name, value in named.items()}
        calls.append({"arguments": told, "named": by_name})
        return "handed in"

    parts = asked["module"].split(".")
    for end in range(1, len(parts) + 1):
        stand_in = types.ModuleType(".".join(parts[:end]))
        stand_in.__path__ = []  # a package without parts
        sys.modules[stand_in.__name__] = stand_in
    setattr(stand_in, asked["check"], check)
    try:
        code = compile(asked["code"], "answer", "exec")
        names = {"__name__": "__main__", asked["check"]: check, "display": print}  # as Jupyter has
        exec(code, names)  # noqa: S102 - locked in for it
    except BaseException as error:
        if not (calls and isinstance(error, SystemExit)):  # to end after the call harms nobody
            line.say({"fault": _fault(error)})
            return
    line.say({"called": calls[-1] if calls else None})
    while (request := line.hear()) is not None:
        try:
            arguments = [decode(each, lambda number, _: functions[number])
                         for each in request["arguments"]]  # fmt: skip
            value = encode(functions[request["function"]](*arguments), [])
        except BaseException as error:
            line.say({"fault": _fault(error)})
            continue
        line.say({"value": value})


def _run(plan: Mapping[str, Any], wire: int, alive: int) -> None:
    """Lock in, fork what runs the answer, and end it as soon as nobody is there to hear."""
    locked = bool(plan["locked"])
    line = Line(socket.socket(fileno=wire))
    try:
        if locked:
            _lock_in(plan)
        else:
            os.chdir(plan["root"])
    except OSError as error:
        line.say({"refused": str(error)})
        return
    inner = os.fork()  # the first of the new names of processes
    if inner == 0:
        try:
            _prctl(_DIES_WITH_PARENT, signal.SIGKILL)
            nothing = os.open("/dev/null", os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
            os.closerange(3, wire)
            os.closerange(wire + 1, 4096)
            os.environ.clear()
            os.environ["HOME"] = plan["work"] if locked else plan["root"]
            _put_down(plan, locked)
            line.say({"ready": True})
            _answer(line)
        finally:
            os._exit(0)
    line._wire.close()
    while not select.select([alive], [], [], 0.02)[0]:
        ended, status = os.waitpid(inner, os.WNOHANG)
        if ended:
            late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (
                signal.SIGXCPU,
                signal.SIGKILL,
            )
            os.write(alive, LATE if late else b"-")
            return
    os.kill(inner, signal.SIGKILL)
    os.waitpid(inner, 0)


def serve(number: int) -> None:
    """Fork for each plan that comes with two sockets: an answer's line, and a sign of life."""
    orders = socket.socket(fileno=number)
    gc.freeze()  # what is loaded is shared with each fork, and not copied by its collections
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that end
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, (*wires,), _, _ = socket.recv_fds(orders, 1 << 16, 2)
        if not message:
            return
        if os.fork() == 0:
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                orders.close()
                _run(json.loads(message), *wires)
            finally:
                os._exit(0)
        for wire in wires:
            os.close(wire)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
