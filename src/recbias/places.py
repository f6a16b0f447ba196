"""Where things are: the clone, packaged data, downloaded data sets, stored cells.

Nothing here creates a folder; whoever writes does.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def clone_root() -> Path | None:
    """Find the clone of the project: the book, notebooks and recorded results live there.

    Looked for among the parents of the installed package (an editable install), then among the
    working directory and its parents (a wheel used inside a clone).

    Returns
    -------
    Path or None
        The folder that holds ``_toc.yml`` and a ``pyproject.toml`` whose project is ``recbias``;
        None for a wheel used elsewhere.
    """
    here = Path.cwd()
    return _first_clone(_PACKAGE.parents) or _first_clone([here, *here.parents])


def _first_clone(folders: Iterable[Path]) -> Path | None:
    for folder in folders:
        project = folder / "pyproject.toml"
        if (folder / "_toc.yml").is_file() and project.is_file():
            declared = tomllib.loads(project.read_text(encoding="utf-8"))
            if declared.get("project", {}).get("name") == "recbias":
                return folder
    return None


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
    named = os.environ.get("RECBIAS_DATA", "").split(os.pathsep)
    candidates = [
        extra,
        *[Path(folder) for folder in named if folder],
        root / "data" / "downloads" if root else None,
    ]
    return [Path(folder).expanduser() for folder in candidates if folder is not None]


def cells_dir() -> Path:
    """Name the folder of stored cells.

    Returns
    -------
    Path
        ``RECBIAS_CELLS`` if set, else the clone's ``data/cells``, else a folder in the user's
        cache. Not created here.
    """
    named = os.environ.get("RECBIAS_CELLS")
    if named:
        return Path(named).expanduser()
    root = clone_root()
    if root:
        return root / "data" / "cells"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "recbias" / "cells"
