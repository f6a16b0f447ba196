"""Documents on disk: JSON that is written whole or not at all, and that notices a later edit.

Checksums and digests of content tell that a file is what was written: they notice accidents, such
as damage, an edit by hand, files that were mixed up. They do not tell who wrote it, and what they
cover can be forged together with them.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recbias._system.processes import begun_prefix, remove_begun
from recbias.errors import NO_SPACE, NoSpaceError, StoreError

REMEDY = (
    "restore it, or record it again where the data is: recbias run CHAPTER --dataset NAME --record"
)
"""What to do about a result that is no longer what was written."""


def canonical_json(record: object) -> str:
    """Write a record so that equal records give equal text: sorted keys, no spaces, no NaN.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": (0.2, None)})
    '{"a":[0.2,null],"b":1}'
    """
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(record: object) -> str:
    """Digest a JSON-able record, or bytes, by sha256 in hex."""
    content = record if isinstance(record, bytes) else canonical_json(record).encode()
    return hashlib.sha256(content).hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under its name only once it is complete.

    Parameters
    ----------
    path
        Target; its folder is made if need be, a file of that name is replaced.
    content
        All of it.

    Raises
    ------
    NoSpaceError
        If the disk is full, or what one may use of it.
    OSError
        If the folder cannot be written.

    Notes
    -----
    Nothing half-written stays: what a killed process leaves goes when that file is written again.
    """
    try:
        _write_atomically(path, content)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise NoSpaceError(
            f"{path}: {len(content):,} bytes did not fit: {error.strerror}\n"
            "make room, or name a folder elsewhere (RECBIAS_CELLS for cells, --out for pages), and "
            "run it again\nnothing half-written is left; what was finished is kept and used"
        ) from error


def _write_atomically(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_begun(path.parent, path.name)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=begun_prefix(path.name))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


_FIELDS = (
    "kind",
    "key",
    "dataset",
    "parameters",
    "provenance",
    "times",
    "body",
    "sidecar",
    "digest",
)


def write_document(
    path: Path,
    *,
    kind: str,
    key: str,
    dataset: Mapping[str, Any],
    parameters: Mapping[str, Any],
    provenance: Mapping[str, Any],
    times: Mapping[str, Any],
    body: Mapping[str, Any],
    sidecar: str | None = None,
) -> None:
    """Write results as readable JSON with a digest that notices any later edit.

    Parameters
    ----------
    path
        Target, with the suffix ``.json``.
    kind
        What kind of result it is.
    key
        Digest of what decides the results.
    dataset
        Record of the dataset.
    parameters
        What was asked for: enough to compute it again.
    provenance
        Versions and the like.
    times
        What differs from run to run and says nothing about the results: seconds, memory, date.
        The digest covers all the rest, including the order of names and of rows.
    body
        The results; tables as `recbias.experiment.store.frame_to_json` gives them.
    sidecar
        The sha256 of the Parquet file of the same name that belongs to the document, as
        `recbias.experiment.store.write_arrays` returns it. Write that file first.

    Raises
    ------
    ValueError
        If a number is infinite or NaN, which JSON lacks, or two names are one as text.
    OSError
        As :func:`write_atomically`.

    Examples
    --------
    >>> import pandas as pd
    >>> from recbias.experiment.store import frame_from_json, frame_to_json
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "means.json"
    ...     means = frame_to_json(pd.DataFrame({"system": ["Random"], "value": [0.25]}))
    ...     write_document(
    ...         path,
    ...         kind="table",
    ...         key="k",
    ...         dataset={"name": "ml-1m"},
    ...         parameters={"seed": 1},
    ...         provenance={},
    ...         times={"seconds": 2.5},
    ...         body={"means": means},
    ...     )
    ...     frame_from_json(read_document(path)["body"]["means"])
       system  value
    0  Random   0.25
    """
    fields = {
        "kind": kind,
        "key": key,
        "dataset": dataset,
        "parameters": parameters,
        "provenance": provenance,
        "times": times,
        "body": body,
        "sidecar": sidecar,
    }
    # As it will be read: names are text, tuples are lists.
    record = json.loads(json.dumps(fields, allow_nan=False), object_pairs_hook=_named_once)
    record["digest"] = _document_digest(record)
    write_atomically(path, (_laid_out(record) + "\n").encode())


def read_document(path: Path) -> dict[str, Any]:
    """Read what :func:`write_document` wrote.

    Parameters
    ----------
    path
        A document, with its suffix ``.json``.

    Returns
    -------
    dict
        ``kind``, ``key``, ``dataset``, ``parameters``, ``provenance``, ``times``, ``body``,
        ``sidecar`` and ``digest``.

    Raises
    ------
    StoreError
        If the file is missing, is no such document, or was edited in anything but its times; if
        the Parquet file that belongs to it is missing or is another.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_named_once)
        if absent := [name for name in _FIELDS if name not in record]:
            raise ValueError(f"without {', '.join(absent)}")
        if not isinstance(record["times"], dict):  # the one entry that the digest leaves out
            raise ValueError("times are no record")
        expected, written = _document_digest(record), record["digest"]
    except FileNotFoundError as error:
        raise StoreError(f"{path}: missing result; {REMEDY}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path}: not a result ({error!r}); {REMEDY}") from error
    if written != expected:
        raise StoreError(
            f"{path}: changed after it was computed (digest {expected[:12]}, "
            f"written {str(written)[:12]}); {REMEDY}"
        )
    if record["sidecar"] is not None:
        _check_sidecar(path.with_suffix(".parquet"), record["sidecar"], path)
    return record


def _check_sidecar(sidecar: Path, expected: str, document: Path) -> None:
    try:
        sha256 = digest(sidecar.read_bytes())
    except OSError as error:
        raise StoreError(f"{sidecar}: missing, {document} needs it; {REMEDY}") from error
    if sha256 != expected:
        raise StoreError(
            f"{sidecar}: not the file that belongs to {document} (sha256 {sha256[:12]}, expected "
            f"{expected[:12]}); {REMEDY}"
        )


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: people would read the first value, programs the last."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name stands twice")
    return record


def _document_digest(record: Mapping[str, Any]) -> str:
    """Digest all of a document but its times, in the order of the file."""
    covered = {name: value for name, value in record.items() if name not in ("times", "digest")}
    return digest(json.dumps(covered, separators=(",", ":"), allow_nan=False).encode())


def _laid_out(value: Any, indent: str = "") -> str:
    """Write JSON with a line per name; a list of plain values stands on one line."""
    deeper = indent + " "
    if isinstance(value, dict) and value:
        lines = [
            f"{deeper}{json.dumps(name)}: {_laid_out(entry, deeper)}"
            for name, entry in value.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(entry, dict | list) for entry in value):
        lines = [deeper + _laid_out(entry, deeper) for entry in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return json.dumps(value)
