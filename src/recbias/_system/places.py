"""Where things are: the clone, packaged data, downloaded data sets, stored cells.

Nothing here creates a folder; whoever writes does.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import metadata
from pathlib import Path

from recbias._system.caches import can_write, own_temporary
from recbias.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parents[1]

RECORDING = "RECBIAS_RECORDING"
"""Set for the kernel of a chapter whose results are recorded; see `is_recording`."""

SCHEDULER = "RECBIAS_SCHEDULER"
"""Names the scheduler, by address or file, whose workers stand in for local processes."""


def clone_root() -> Path | None:
    """Find the clone of the project: the book, notebooks and recorded results live there.

    Looked for among the parents of the installed package (an editable install), then among the
    working directory and its parents (a wheel used inside a clone).

    Returns
    -------
    Path or None
        The folder that holds ``_toc.yml`` and a ``pyproject.toml`` whose project is ``recbias``;
        None for a wheel used elsewhere. Files are looked at anew in every call, so that a change
        of the working directory or of a file is seen; only a project file that is still the same
        is not parsed again, since every path of a cell asks.
    """
    return _first_clone(_chain(str(_PACKAGE))[1:]) or _first_clone(_chain(os.getcwd()))


def need_clone(what: str) -> ConfigError:
    """Build the error for what an installed package alone cannot do.

    Parameters
    ----------
    what
        What needs more than the package: the beginning of a sentence.

    Returns
    -------
    ConfigError
        Says where to get the clone, or that no address is known; not raised here.

    Examples
    --------
    >>> print(need_clone("a chapter needs"))
    a chapter needs a clone of the repository, and none was found here
    ...
    """
    urls = metadata("recbias").get_all("Project-URL") or []
    labelled = (url.partition(",") for url in urls)
    address = next((url.strip() for label, _, url in labelled if label == "Repository"), None)
    where = (
        f"get one from {address} and change into it"
        if address
        else "change into one; the project has no public address yet: ask who gave you the package"
    )
    return ConfigError(f"{what} a clone of the repository, and none was found here\n{where}")


# Texts and os.path here, because pathlib would take most of the time of a call.
@lru_cache(maxsize=64)
def _chain(folder: str) -> tuple[str, ...]:
    """List a folder and its parents, nearest first."""
    return tuple(str(path) for path in (Path(folder), *Path(folder).parents))


def _first_clone(folders: Iterable[str]) -> Path | None:
    for folder in folders:
        if not os.path.isfile(f"{folder}/_toc.yml"):
            continue
        project = f"{folder}/pyproject.toml"
        try:
            status = os.stat(project)
        except OSError:
            continue
        if _project_name(project, status.st_ino, status.st_size, status.st_mtime_ns) == "recbias":
            return _path(folder)
    return None


@lru_cache(maxsize=64)
def _path(text: str) -> Path:
    return Path(text)


@lru_cache(maxsize=64)
def _project_name(project: str, inode: int, size: int, mtime_ns: int) -> str | None:
    """Read the name that a project file declares; the numbers tell when it may have changed."""
    declared = tomllib.loads(Path(project).read_text(encoding="utf-8"))
    name = declared.get("project", {}).get("name")
    return name if isinstance(name, str) else None


def packaged(name: str) -> Path:
    """Find a file that travels with the package.

    Parameters
    ----------
    name : str
        Relative path below ``data/``, e.g. ``"registry.yaml"`` or ``"published/claims.yaml"``.

    Returns
    -------
    Path
        In a wheel the copy beside the code, which is the one that fits it; otherwise the clone's.
        Not checked for existence.
    """
    beside_code = _PACKAGE / "_data"
    root = clone_root()
    if root is None or beside_code.is_dir():
        return beside_code / name
    return root / "data" / name


def recorded_results(root: Path) -> Path:
    """Name the folder of the results that a clone comes with."""
    return root / "data" / "recorded"


def live_results(root: Path) -> Path:
    """Name the folder of the results of runs: ``RECBIAS_RESULTS`` if set, else in the build."""
    return Path(os.environ.get("RECBIAS_RESULTS", root / "_build" / "results"))


def is_recording() -> bool:
    """Tell whether this process renews recorded results: then the old ones may be stale."""
    return os.environ.get(RECORDING) == "1"


def data_dirs(extra: Path | None = None) -> list[Path]:
    """List the folders searched for data sets, first one first. They are only ever read.

    Parameters
    ----------
    extra : Path, optional
        The folder given as ``--data-dir``; it comes before all others.

    Returns
    -------
    list of Path
        `extra`, the folders that ``RECBIAS_DATA`` names (several are separated as in ``PATH``),
        and the clone's ``data/downloads``; those that are not set are left out.
    """
    root = clone_root()
    folders = os.environ.get("RECBIAS_DATA", "").split(os.pathsep)
    candidates = [
        extra,
        *[Path(folder) for folder in folders if folder],
        root / "data" / "downloads" if root else None,
    ]
    return [Path(folder).expanduser() for folder in candidates if folder is not None]


def cache_dir() -> Path:
    """Name the folder of what is kept to be used again, and can be deleted at any time.

    Returns
    -------
    Path
        ``recbias`` in the user's cache, else a folder for temporary files if that cannot be
        written. Not created here.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = _path(f"{cache}/recbias")
    return folder if can_write(str(folder)) else own_temporary()


def cells_dir() -> Path:
    """Name the folder of stored cells.

    Returns
    -------
    Path
        ``RECBIAS_CELLS`` if set, else ``cells`` in `cache_dir`. Not created here.
    """
    folder = os.environ.get("RECBIAS_CELLS")
    return Path(folder).expanduser() if folder else cache_dir() / "cells"


@contextmanager
def cells_kept_in(folder: Path) -> Iterator[None]:
    """Keep cells in another folder for a while, in worker processes begun meanwhile too.

    Parameters
    ----------
    folder : Path
        Where :func:`cells_dir` points until the block is left. Not created here.
    """
    before = os.environ.get("RECBIAS_CELLS")
    os.environ["RECBIAS_CELLS"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["RECBIAS_CELLS"]
        else:
            os.environ["RECBIAS_CELLS"] = before
