"""Artefacts on disk: named by what they are, written whole or not at all, with their provenance.

An artefact is a Parquet file of named arrays with its key and provenance in the metadata. Its key
is a digest of everything that decides its content; an artefact with the right key is reused.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import threadpool_info

from recbias.errors import StoreError
from recbias.places import clone_root

__all__ = [
    "canonical_json",
    "digest",
    "platform_record",
    "read_arrays",
    "read_document",
    "write_arrays",
    "write_atomically",
    "write_document",
]


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
    OSError
        If the folder cannot be written or the disk is full. Nothing half-written is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_arrays(
    path: Path,
    arrays: Mapping[str, npt.NDArray[Any]],
    *,
    key: str,
    provenance: Mapping[str, object],
) -> None:
    """Write named one-dimensional arrays of any lengths as one Parquet file.

    Parameters
    ----------
    path
        Target.
    arrays
        One-dimensional arrays; their dtypes are kept.
    key
        What :func:`read_arrays` will be asked for.
    provenance
        JSON-able record of how the content arose; not part of the key.
    """
    columns = {
        name: pa.ListArray.from_arrays(np.array([0, len(values)], np.int32), pa.array(values))
        for name, values in arrays.items()
    }
    table = pa.table(columns).replace_schema_metadata(
        {"recbias.key": key, "recbias.provenance": canonical_json(provenance)}
    )
    sink = pa.BufferOutputStream()
    # Neither the format nor the compression notices a flipped bit without these checksums.
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    write_atomically(path, sink.getvalue().to_pybytes())


def read_arrays(path: Path, *, key: str) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Read what :func:`write_arrays` wrote.

    Parameters
    ----------
    path
        An artefact.
    key
        The key that it must have.

    Returns
    -------
    arrays : dict of ndarray
    provenance : dict

    Raises
    ------
    StoreError
        If the file is truncated, is no artefact, or has another key.
    """
    try:
        # Read at once: opened twice, the file could be another writer's the second time.
        content = pa.BufferReader(path.read_bytes())
        table = pq.read_table(content, page_checksum_verification=True)
        metadata = table.schema.metadata
        found = metadata[b"recbias.key"].decode()
        provenance = json.loads(metadata[b"recbias.provenance"])
        arrays = {
            name: table.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
            for name in table.column_names
        }
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{path}: damaged artefact ({error!r}); delete it and rerun") from error
    if found != key:
        raise StoreError(f"{path}: key {found[:12]}, expected {key[:12]}; delete it and rerun")
    return arrays, provenance


def write_document(
    path: Path, body: Mapping[str, Any], *, key: str, context: Mapping[str, Any]
) -> None:
    """Write results as readable JSON with a digest that notices any later edit.

    Parameters
    ----------
    path
        Target.
    body
        JSON-able results; with the key, they are what the digest covers.
    key
        Digest of what decides the results.
    context
        Parameters, dataset and provenance, for people and for recomputing.
    """
    record = {**context, "key": key, "body": body, "digest": digest({"key": key, "body": body})}
    # Not sorted: the order of systems and protocols is that of the experiment.
    text = json.dumps(record, indent=1, allow_nan=False) + "\n"
    write_atomically(path, text.encode())


def read_document(path: Path) -> dict[str, Any]:
    """Read what :func:`write_document` wrote.

    Returns
    -------
    dict
        The context with ``key`` and ``body``.

    Raises
    ------
    StoreError
        If the file is missing, is no such document, or was edited.
    """
    remedy = "restore it, or record it again where the data is: see CONTRIBUTING.md"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        expected = digest({"key": record["key"], "body": record["body"]})
        found = record["digest"]
    except FileNotFoundError as error:
        raise StoreError(f"{path}: missing result; {remedy}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path}: not a result ({error!r}); {remedy}") from error
    if found != expected:
        raise StoreError(
            f"{path}: changed after it was computed (digest {expected[:12]}, "
            f"written {str(found)[:12]}); {remedy}"
        )
    return record


def platform_record() -> dict[str, object]:
    """Describe what the bits of a result can depend on: versions, lock, processor, BLAS."""
    names = ("internal_api", "version", "architecture")
    pools = (pool for pool in threadpool_info() if pool.get("user_api") == "blas")
    blas = sorted({" ".join(str(pool.get(name, "")) for name in names).strip() for pool in pools})
    root = clone_root()
    lock = root / "requirements.lock" if root else None
    return {
        "recbias": version("recbias"),
        "lock": digest(lock.read_bytes()) if lock and lock.is_file() else None,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "numba": version("numba"),
        "implicit": version("implicit"),
        "blas": blas,
    }
