"""Work done elsewhere: a Dask cluster, or any executor, behind the interface of local processes.

Reliability is not the cluster's but the cell's: its name is a digest of what decides it, it has
random numbers of its own and is written whole or not at all, so that it may be done twice, or by
whoever is left. What a cell writes lands where its caller keeps cells, over a folder that both see
or by way back to the caller; what a worker lacks, data or a module, is lent to it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import socket
import sys
import tempfile
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import recbias
from recbias._system.places import cells_dir, cells_kept_in
from recbias.errors import ConfigError
from recbias.experiment.documents import write_atomically
from recbias.experiment.store import platform_record

__all__ = [
    "LackError",
    "LacksModuleError",
    "Workers",
    "address_of",
    "open_cluster",
    "shares_cells",
]

Workers: TypeAlias = int | str | os.PathLike[str] | Executor
"""Local processes by their number, or the address or file of a Dask scheduler, a client of one, a
Dask cluster or an executor."""

_SAME = ("recbias", "python", "numpy", "scipy", "numba", "implicit")
_SECONDS = 20
"""How long a scheduler and its first worker are waited for."""
_RETRIES = 5
"""How often a cell is given to another worker when one was lost; it may have taken the memory."""


class LackError(Exception, ABC):
    """What a worker has not and its caller has."""

    @abstractmethod
    def fetch(self) -> Any:
        """Get it, at the caller."""

    @abstractmethod
    def keep(self, lent: Any) -> None:
        """Keep it, at the worker."""


class LacksModuleError(LackError, ModuleNotFoundError):
    """A module of the caller's own that a worker cannot import."""

    def fetch(self) -> str:
        """Read the text of the module."""
        name = str(self.args[0])
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.origin or spec.submodule_search_locations or "." in name:
            raise ConfigError(
                f"{name}: workers cannot import it, and it is no file that could be sent\n"
                "install it where they run, or put what is needed into one module"
            )
        return Path(spec.origin).read_text(encoding="utf-8")

    def keep(self, lent: str) -> None:
        """Write it where this process looks for modules."""
        folder = tempfile.mkdtemp(prefix="recbias-lent-")
        (Path(folder) / f"{self.args[0]}.py").write_text(lent, encoding="utf-8")
        sys.path.append(folder)
        importlib.invalidate_caches()


@dataclass(frozen=True)
class _Caller:
    """What a worker knows of who calls it."""

    cells: str
    mark: str
    shared: bool
    environment: Mapping[str, str]
    path: tuple[str, ...]
    versions: Mapping[str, object]


_ONE_AT_A_TIME = threading.Lock()
"""Where a worker has several threads: cells are measured for one, and so is their memory."""


def _there(
    caller: _Caller, call: Callable[[], Any], lent: tuple[LackError, Any] | None = None
) -> tuple[Any, dict[str, bytes]]:
    """Do what is asked, at the worker; return it, and what was written where nobody shares it."""
    with _ONE_AT_A_TIME:
        _settle(caller)
        if lent is not None:
            lent[0].keep(lent[1])
        if caller.shared:
            if not _sees(caller):
                raise ConfigError(
                    f"{socket.gethostname()}: {caller.cells} is not the folder of cells that other "
                    "workers share with their caller\nmount it there, or share it with none"
                )
            with cells_kept_in(Path(caller.cells)):
                return call(), {}
        with tempfile.TemporaryDirectory(prefix="recbias-cells-") as folder:
            with cells_kept_in(Path(folder)):
                result = call()
            written = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
            return result, {
                path.relative_to(folder).as_posix(): path.read_bytes() for path in written
            }


def _settle(caller: _Caller) -> None:
    """Refuse other versions; look for data and modules where the caller does."""
    here = _versions()
    if here != caller.versions:
        differing = ", ".join(
            f"{name} {here[name]} (caller {caller.versions[name]})"
            for name in here
            if here[name] != caller.versions[name]
        )
        raise ConfigError(
            f"worker on {socket.gethostname()}: {differing}\n"
            "results hang on these: install there what is installed here"
        )
    os.environ.update(caller.environment)
    sys.path += [folder for folder in caller.path if folder not in sys.path]


def _versions() -> dict[str, object]:
    record = platform_record()
    return {**{name: record[name] for name in _SAME}, "source of recbias": _source()}


@cache
def _source() -> str:
    """Digest the code of the package: two clones of one version may differ."""
    package, found = Path(recbias.__file__).parent, hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        found.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]


def _sees(caller: _Caller) -> bool:
    return (Path(caller.cells) / caller.mark).is_file()


def _probe(caller: _Caller) -> bool:
    _settle(caller)
    return _sees(caller)


class _Away(Executor):
    """An executor whose work is done elsewhere, and what it writes kept here."""

    def __init__(
        self, inner: Executor, caller: _Caller, lend: Callable[[Any], Any] = lambda lent: lent
    ) -> None:
        self.shares_cells = caller.shared
        self._inner, self._caller, self._lend = inner, caller, lend
        self._lock = threading.Lock()
        self._lent: dict[str, Any] = {}
        self._out: set[Future[Any]] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        asked: Future[Any] = Future()
        asked.set_running_or_notify_cancel()
        self._send(asked, partial(fn, *args, **kwargs))
        return asked

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            out = [*self._out]
        for sent in out if cancel_futures else ():
            sent.cancel()
        self._inner.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _send(
        self, asked: Future[Any], call: Callable[[], Any], lack: LackError | None = None
    ) -> None:
        if lack is None:
            sent = self._inner.submit(_there, self._caller, call)
        else:
            with self._lock:
                if repr(lack) not in self._lent:
                    self._lent[repr(lack)] = self._lend(lack.fetch())
            lent = self._lent[repr(lack)]
            sent = self._inner.submit(_there_with, self._caller, call, lack, lent)
        with self._lock:
            self._out.add(sent)
        sent.add_done_callback(partial(self._back, asked, call, lack))

    def _back(
        self,
        asked: Future[Any],
        call: Callable[[], Any],
        lack: LackError | None,
        sent: Future[tuple[Any, dict[str, bytes]]],
    ) -> None:
        with self._lock:
            self._out.discard(sent)
        try:
            result, written = sent.result()
            for name, content in written.items():
                write_atomically(Path(self._caller.cells) / name, content)
        except LackError as lacks:
            if lack is not None and repr(lacks) == repr(lack):
                asked.set_exception(ConfigError(f"{lacks!r}: lent to a worker, yet not there"))
                return
            try:
                self._send(asked, call, lacks)
            except Exception as error:
                asked.set_exception(error)
        except (Exception, CancelledError) as error:
            asked.set_exception(error)
        else:
            asked.set_result(result)


def _there_with(
    caller: _Caller, call: Callable[[], Any], lack: LackError, lent: Any
) -> tuple[Any, dict[str, bytes]]:
    """Do what is asked with what was lent: an argument of its own, which Dask sends once."""
    return _there(caller, call, (lack, lent))


def shares_cells(executor: Executor | None) -> bool:
    """Tell whether who works for an executor reads the cells that are kept here."""
    return executor is None or getattr(executor, "shares_cells", True)


@contextmanager
def open_cluster(where: Any) -> Iterator[Executor]:
    """Let a Dask cluster, or another executor, do the work.

    Parameters
    ----------
    where
        Address of a scheduler, path of its file, a client, a cluster, or an executor. The last
        three are the caller's to close.

    Yields
    ------
    concurrent.futures.Executor
        What is written by its workers is kept where this process keeps cells.

    Raises
    ------
    ConfigError
        If there is no such scheduler, or nobody works for it; if a client or executor is closed, or
        a client asynchronous; if Dask is not installed; if a worker has other versions or code; if
        the scheduler is lost, or a cell takes its workers down.

    Warns
    -----
    UserWarning
        If the first worker of a client or an executor is waited for.

    Notes
    -----
    A bare client is not what :mod:`concurrent.futures` expects, and does equal calls once: its
    executor is used, with calls that are not taken for pure.
    """
    cells = cells_dir()
    cells.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cells, prefix=".shared-") as mark:
        if isinstance(where, Executor):
            with _opened(where, Path(mark.name), None) as away:
                yield away
            return
        try:
            from distributed import Client
            from distributed.client import FutureCancelledError
            from distributed.scheduler import KilledWorker
        except ImportError:
            raise ConfigError(
                f"{where}: a cluster needs Dask\ninstall it: pip install 'recbias[cluster]'"
            ) from None
        where = getattr(where, "scheduler_address", where)  # of a cluster, as is natural to give
        client = where if isinstance(where, Client) else _connect(Client, where)
        if client.status != "running" or client.asynchronous:
            state = "asynchronous" if client.asynchronous else client.status
            raise ConfigError(
                f"{where}: the client is {state}\nopen one that is not, or give the address"
            )
        at = client.scheduler.address if client.scheduler else where
        try:
            inner = client.get_executor(pure=False, retries=_RETRIES)
            lend = partial(client.scatter, hash=False)
            with _opened(inner, Path(mark.name), lend) as away:
                yield away
        except KilledWorker as error:
            raise ConfigError(
                f"{at}: a cell took down {_RETRIES} workers, most often by its memory\n"
                "give them more of it, or fewer to a machine"
            ) from error
        except (FutureCancelledError, CancelledError, OSError) as error:
            if client.status == "running" and isinstance(error, OSError):
                raise
            raise ConfigError(
                f"{at}: the scheduler is gone; what was finished is kept\n"
                "start it, and run the same again"
            ) from error
        finally:
            if client is not where:
                with suppress(Exception):
                    client.close(timeout=2)


def address_of(scheduler: str | os.PathLike[str]) -> str:
    """Read the address of a scheduler from its file, if it is none itself.

    Raises
    ------
    ConfigError
        If it is neither an address nor such a file.

    Examples
    --------
    >>> address_of("tcp://host:8786")
    'tcp://host:8786'
    """
    if "://" in (where := os.fspath(scheduler)):
        return where
    try:
        return str(json.loads(Path(where).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(
            f"{where}: no file of a scheduler, and no address such as tcp://host:8786"
        ) from None


def _connect(client: Any, where: str | os.PathLike[str]) -> Any:
    """Connect to a scheduler by its address or file."""
    address = address_of(where)
    try:
        connected = client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{where}: no scheduler answers: {error}") from error
    try:
        connected.wait_for_workers(1, timeout=_SECONDS)
    except TimeoutError:
        connected.close()
        raise ConfigError(f"{where}: nobody works for this scheduler: start workers") from None
    return connected


@contextmanager
def _opened(inner: Executor, mark: Path, lend: Callable[[Any], Any] | None) -> Iterator[_Away]:
    """Learn what a worker shares with this process, and stop all work when the block is left."""
    named = ("RECBIAS_DATA",)
    caller = _Caller(
        cells=str(mark.parent.resolve()),
        mark=mark.name,
        shared=True,
        environment={name: os.environ[name] for name in named if name in os.environ},
        path=tuple(folder for folder in map(os.path.abspath, sys.path) if os.path.isdir(folder)),
        versions=_versions(),
    )
    try:
        probed = inner.submit(_probe, caller)
    except RuntimeError as error:
        raise ConfigError(f"workers={inner!r}: it takes no work: {error}") from error
    try:
        shared = probed.result(timeout=_SECONDS)
    except TimeoutError:
        warnings.warn(
            f"nobody has begun to work for {_SECONDS} s: waiting for the first worker", stacklevel=2
        )
        shared = probed.result()
    if not shared:
        caller = _Caller(**{**vars(caller), "shared": False})
    away = _Away(inner, caller, *([lend] if lend else []))
    try:
        yield away
    except BaseException:
        with suppress(Exception):
            for sent in [*away._out]:
                sent.cancel()
        raise
