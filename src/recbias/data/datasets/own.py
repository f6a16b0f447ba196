"""A table of the reader's own: which file, how it is read, and by which names.

Pages and results of a table are kept under a name that no other table, and no data set, has: the
stem of the file and a digest of its content and of how it is read. Readers see the name of the
file. Processes that work for a page know the table by that name too, and by the environment where
it is, so that no page holds the path of a folder.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from recbias.data.datasets.frames import NAME
from recbias.data.datasets.tables import TableOptions, kept_options, no_table, table_stem
from recbias.data.ratings import RatingScale
from recbias.data.simulation import is_world

__all__ = ["OwnTable", "is_handed_on", "is_path", "own_table"]

_HANDED = "RECBIAS_TABLE"
_LONGEST = 60
_FRAMES = re.compile(rf"{NAME}-[0-9a-f]{{12}}\.parquet")


def is_path(name_or_path: str | Path) -> bool:
    """Tell the path of a table from the name of a data set.

    Parameters
    ----------
    name_or_path : str or Path
        What stands where a data set is asked for.

    Returns
    -------
    bool
        True of a Path, and of text with a slash or a suffix that is not the name of a world.

    Examples
    --------
    >>> is_path("ml-1m"), is_path("mine.csv"), is_path("world(skew=0.7)")
    (False, True, False)
    """
    if isinstance(name_or_path, Path):
        return True
    if is_world(name_or_path):
        return False
    return bool(Path(name_or_path).suffix) or "/" in name_or_path or "\\" in name_or_path


def is_handed_on(called: str) -> bool:
    """Tell whether a command handed this table to this process: the command says what is odd."""
    return bool(json.loads(os.environ.get(_HANDED, "{}")).get("called") == called)


@dataclass(frozen=True)
class OwnTable:
    """A file with ratings, and how it is read.

    Parameters
    ----------
    path : Path
        As it was typed.
    options : TableOptions
        All that its owner says about it.
    """

    path: Path
    options: TableOptions

    @property
    def title(self) -> str:
        """What readers see: the name of the file; of a DataFrame's, which they never saw, that."""
        return NAME if _FRAMES.fullmatch(self.path.name) else self.path.name

    @property
    def called(self) -> str:
        """How pages name the table where a data set is asked for: by its file, without folders."""
        file = self.path.name
        return file if is_path(file) else f"./{file}"

    @cached_property
    def name(self) -> str:
        """Under which pages and results are kept, as a file name; MissingData without the file.

        Tables have one name if they have one stem, the same bytes, and are read alike.
        """
        try:
            status = self.path.stat()
            options = json.dumps(self.options.given(), sort_keys=True)
            content = _digest(os.path.abspath(self.path), status.st_size, status.st_mtime_ns)
        except OSError:
            raise no_table(self.path) from None
        both = hashlib.sha256(f"{content} {options}".encode()).hexdigest()
        stem = re.sub(r"[^\w+=-]+", "_", table_stem(self.path))
        return f"{stem[:_LONGEST]}-{both[:8]}"

    def environment(self) -> dict[str, str]:
        """Return what another process needs to find the table by the name that pages call it."""
        handed = {
            "called": self.called,
            "path": os.path.abspath(self.path),
            "options": self.options.given(),
        }
        return {_HANDED: json.dumps(handed)}

    @contextmanager
    def handed_on(self) -> Iterator[str]:
        """Make the table known by `called`, which this gives, in processes begun meanwhile too."""
        before = os.environ.get(_HANDED)
        os.environ.update(self.environment())
        try:
            yield self.called
        finally:
            if before is None:
                del os.environ[_HANDED]
            else:
                os.environ[_HANDED] = before


# Every result that is stored or read asks for the name of its table.
@lru_cache(maxsize=64)
def _digest(path: str, size: int, mtime_ns: int) -> str:
    """Digest a file; the numbers tell when it may have changed."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def own_table(path: str | Path, options: TableOptions | None = None) -> OwnTable:
    """Find a table by its path, or by the name that a page calls it.

    Parameters
    ----------
    path : str or Path
        What `is_path` says is one.
    options : TableOptions, optional
        What its owner says. What is left open here is as it was handed on, else as it is kept
        beside the table.

    Returns
    -------
    OwnTable
        Whether there is such a file is not looked at.

    Raises
    ------
    ConfigError
        If the file with its kept options cannot be read.
    """
    overrides = (options or TableOptions()).given()
    handed = json.loads(os.environ.get(_HANDED, "{}"))
    if handed.get("called") == str(path):
        return OwnTable(Path(handed["path"]), _options({**handed["options"], **overrides}))
    table_path = Path(path).expanduser()
    return OwnTable(table_path, _options({**kept_options(table_path).given(), **overrides}))


def _options(options: Mapping[str, object]) -> TableOptions:
    values = dict(options)
    if isinstance(scale := values.get("scale"), list):
        values["scale"] = RatingScale(*scale)
    return dataclasses.replace(TableOptions(), **values)  # type: ignore[arg-type]
