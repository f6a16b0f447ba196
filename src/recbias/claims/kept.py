"""Texts about verdicts, kept and used again while all that they were read from is the same.

Judging takes seconds, and follows from files alone: an entry of the cache is used only if the
digest of every file that could decide it is the one that it was written under, to the bit. These
are the code of the whole package, the ledger, recorded results and all else below ``data`` but
downloads, and live results; with them the versions of Python and of everything installed. No dates
are trusted, and nothing is tracked: what was not read is digested too. An entry that is damaged, or
cannot be written, costs time only.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recbias._system.places import cache_dir, clone_root, live_results
from recbias.errors import NoSpaceError, StoreError
from recbias.experiment.documents import canonical_json, digest, read_document, write_document

if TYPE_CHECKING:
    from recbias.claims.judging import Verdict

_PACKAGE = Path(__file__).resolve().parents[1]


def document(*datasets: str, judged: Mapping[str, Sequence[Verdict]] | None = None) -> str:
    """Give the document about all claims, as JSON.

    Parameters
    ----------
    *datasets
        Names of data sets or paths of tables; all that have recorded results if none is given.
    judged
        Verdicts on them, where they are at hand.

    Returns
    -------
    str
        See `recbias.claims.writing.write`, which also says what can be wrong.
    """

    def make() -> str:
        from recbias.claims.writing import write  # pulls in every metric and recommender

        return write(datasets, judged)

    if any(map(may_be_path, datasets)):  # what a table is called does not decide what is in it
        return make()
    return kept(("document", *datasets), make)


def explanation(claim: str, dataset: str) -> str:
    """Give all that leads to a verdict: see `recbias.claims.explaining.explain_claim`."""

    def make() -> str:
        from recbias.claims.explaining import explain_claim  # pulls in every metric and recommender

        return explain_claim(claim, dataset)

    if may_be_path(dataset):
        return make()
    return kept(("explanation", claim, dataset), make)


def may_be_path(name: str) -> bool:
    """Tell what may be a path, without the imports that it takes to tell what is one."""
    return bool(Path(name).suffix) or "/" in name or "\\" in name


def kept(what: Sequence[str], make: Callable[[], str]) -> str:
    """Give a text that was kept, else make it and keep it.

    Parameters
    ----------
    what
        What it is: its name in the cache, where a newer one replaces it.
    make
        Its text follows from nothing but `what` and what the module says; its errors pass.
    """
    key = _key(what)
    path = None
    with suppress(OSError, StoreError):
        path = _folder() / f"{digest([str(clone_root()), *what])[:32]}.json"
        entry = read_document(path)
        if key is not None and entry["key"] == key:
            return str(entry["body"]["text"])
    text = make()
    if key is not None and path is not None and _key(what) == key:  # else something changed
        with suppress(OSError, NoSpaceError):
            write_document(
                path,
                kind="verdicts",
                key=key,
                dataset={},
                parameters={"what": list(what)},
                provenance={},
                times={},
                body={"text": text},
            )
    return text


def _folder() -> Path:
    return cache_dir() / "verdicts"


def _key(what: Sequence[str]) -> str | None:
    """Digest all that could decide a text; None where something cannot be read, or has no place."""
    root = clone_root()
    if root is None:
        return None
    live = live_results(root)
    record = {
        "what": list(what),
        "places": [str(root), str(live.absolute())],
        "python": [sys.version, platform.machine()],
        "installed": sorted(set(_installed())),
    }
    hasher = hashlib.sha256(canonical_json(record).encode())
    try:
        for top in (_PACKAGE, root / "data", live):
            for path in _files(str(top)):
                with open(path, "rb") as file:
                    content = file.read()
                hasher.update(f"{path}\0{len(content)}\0".encode(errors="surrogateescape"))
                hasher.update(content)
    except OSError:
        return None
    return hasher.hexdigest()


def _files(top: str) -> Iterator[str]:
    """List the files below a folder in one order, without compiled code and downloads."""
    for folder, folders, files in os.walk(top, followlinks=True):
        unread = "downloads" if folder == top else "__pycache__"
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", unread))
        yield from (os.path.join(folder, name) for name in sorted(files))


def _installed() -> Iterator[str]:
    """Name everything installed, with its version, as the folders of its metadata are called."""
    for folder in sys.path:
        with suppress(OSError):
            yield from (
                name
                for name in os.listdir(folder or ".")
                if name.endswith((".dist-info", ".egg-info"))
            )
