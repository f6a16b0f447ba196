"""Where libraries keep what they compiled and looked up, on machines that give them no place."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def name_caches() -> None:
    """Name folders for the caches of libraries where their own cannot be written.

    To be called before they are imported; processes that are started inherit it. What the owner of
    the machine has named stays. numba refuses to compile without a place for its cache, matplotlib
    and IPython take new temporary folders in every process and warn of it.
    """
    home = os.path.expanduser("~")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    if not can_write(str(_PACKAGE / "__pycache__")) and not can_write(cache):
        _name("NUMBA_CACHE_DIR", "numba")
        if numba := sys.modules.get("numba"):  # it looked when it was imported
            numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
    if not can_write(home):
        _name("MPLCONFIGDIR", "matplotlib")
        _name("IPYTHONDIR", "ipython")


def _name(variable: str, folder: str) -> None:
    if not os.environ.get(variable):
        path = own_temporary() / folder
        path.mkdir(exist_ok=True)
        os.environ[variable] = str(path)


@lru_cache(maxsize=16)
def can_write(folder: str) -> bool:
    """Tell whether a folder can be written, or made where it is to be; asked once of each.

    Parameters
    ----------
    folder
        An absolute path.

    Examples
    --------
    >>> can_write(tempfile.gettempdir()), can_write("/proc/none/none")
    (True, False)
    """
    path = Path(folder)
    while not path.exists() and path != path.parent:
        path = path.parent
    try:  # permissions tell too little: not of a superuser, nor of a folder that takes no files
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


@lru_cache(maxsize=1)
def own_temporary() -> Path:
    """Give a temporary folder that is this user's alone, the same one in every process if possible.

    Others may write into the folder for temporary files too: one of that name that is not the
    user's own, or that others can write, is not used.

    Returns
    -------
    Path
        It exists.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    path = Path(tempfile.gettempdir()) / f"recbias-{user}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.lstat()
        safe = not hasattr(os, "getuid") or (
            status.st_uid == user and stat.S_IMODE(status.st_mode) & 0o077 == 0
        )
        if stat.S_ISDIR(status.st_mode) and safe and can_write(str(path)):
            return path
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="recbias-"))
