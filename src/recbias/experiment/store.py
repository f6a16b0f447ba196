"""Artefacts on disk: named by what they are, written whole or not at all, with their provenance.

An artefact is a Parquet file of named arrays with its key and provenance in the metadata. Its key
is a digest of everything that decides its content; an artefact with the right key is reused. What
checksums tell, and what not, is said in `recbias.experiment.documents`, whose names are here too.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from threadpoolctl import ThreadpoolController

from recbias._system.memory import row_blocks
from recbias._system.places import clone_root
from recbias.errors import ConfigError, DamagedError, StoreError
from recbias.experiment.documents import (
    REMEDY,
    canonical_json,
    digest,
    read_document,
    write_atomically,
    write_document,
)

__all__ = [
    "canonical_json",
    "digest",
    "frame_from_json",
    "frame_to_json",
    "platform_record",
    "read_arrays",
    "read_document",
    "thread_libraries",
    "write_arrays",
    "write_atomically",
    "write_document",
]


def write_arrays(
    path: Path,
    arrays: Mapping[str, npt.NDArray[Any]],
    *,
    key: str,
    provenance: Mapping[str, object],
    level: int = 1,
) -> str:
    """Write named arrays of any lengths as one Parquet file with a checksum over all of it.

    Parameters
    ----------
    path
        Target.
    arrays
        Arrays of bool, int or float with one or two axes; dtypes and shapes are kept (numbers of
        another byte order come back in the machine's own).
    key
        What :func:`read_arrays` will be asked for.
    provenance
        JSON-able record of how the content arose; not part of the key.
    level
        How hard zstd tries, from 1 to 22: fast for artefacts, small for what is committed.

    Returns
    -------
    str
        The sha256 of the file, for the document beside it: see :func:`write_document`.

    Raises
    ------
    ConfigError
        If an array has another kind of values or another number of axes.
    OSError
        As :func:`write_atomically`.

    Notes
    -----
    Other programs can read the file: every array is a column, those that are shorter than others
    end with nulls. Rows of arrays with two axes are bytes, because a reader of Parquet goes through
    lists number by number, which takes long for millions of them. Bytes of equal weight are written
    together (``BYTE_STREAM_SPLIT``): what changes slowly from row to row becomes small. The
    checksum is the sha256 of the file with zeros in its place.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ranks.parquet"
    ...     sha256 = write_arrays(path, {"rank": np.arange(3)}, key="k", provenance={"seed": 1})
    ...     print(sha256 == digest(path.read_bytes()), read_arrays(path, key="k"))
    True ({'rank': array([0, 1, 2])}, {'seed': 1})
    """
    shapes = {name: [values.dtype.name, *values.shape] for name, values in arrays.items()}
    columns = [_column(name, values) for name, values in arrays.items()]
    n_rows = max(map(len, columns), default=0)
    schema = pa.schema(
        [
            pa.field(name, column.type, nullable=len(column) < n_rows or column.null_count > 0)
            for name, column in zip(arrays, columns, strict=True)
        ]
    )
    metadata = {
        "recbias.key": key,
        "recbias.provenance": canonical_json(provenance),
        "recbias.arrays": canonical_json(shapes),
        # The last one: the file is searched for it from its end, whatever words come before it.
        "recbias.checksum": (_CHECKSUM + _NO_CHECKSUM).decode(),
    }
    encodings = {
        name: "PLAIN" if values.dtype.kind == "b" else "BYTE_STREAM_SPLIT"
        for name, values in arrays.items()
    }
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        schema,
        compression="zstd",
        compression_level=level,
        use_dictionary=False,
        column_encoding=encodings,
        write_statistics=False,
        store_schema=False,  # Arrow's copy of schema and metadata, which nobody here needs
    ) as writer:
        # Nulls behind short arrays of wide rows would take the most, for all rows at once.
        row_bytes = sum(math.prod(values.shape[1:]) * values.itemsize for values in arrays.values())
        for rows in row_blocks(max(n_rows, 1), row_bytes, _GROUP_BYTES):
            n_here = min(rows.stop, n_rows) - rows.start
            group = [_padded(column.slice(rows.start, n_here), n_here) for column in columns]
            writer.write_table(pa.Table.from_arrays(group, schema=schema))
        writer.add_key_value_metadata(metadata)
    content = bytearray(sink.getvalue())
    place = _checksum_place(content)
    content[place : place + 64] = _checksum(content, place)
    write_atomically(path, bytes(content))
    return digest(bytes(content))


def read_arrays(
    path: Path, *, key: str, names: Sequence[str] | None = None
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """Read what :func:`write_arrays` wrote.

    Parameters
    ----------
    path
        An artefact.
    key
        The key that it must have.
    names
        The arrays that are wanted, which saves unpacking the others; None = all.

    Returns
    -------
    arrays : dict of ndarray
        In the order of writing; C-contiguous, free to be changed.
    provenance : dict

    Raises
    ------
    DamagedError
        If the file is not there, differs in any bit from what was written (which is found out
        before any of it is interpreted), is no artefact, or has another key.
    """
    try:
        content = path.read_bytes()
        place = _checksum_place(content)
        if place < 0 or content[place : place + 64] != _checksum(content, place):
            raise ValueError("its checksum is absent or another")
        file = pq.ParquetFile(pa.BufferReader(content))
        metadata = file.schema_arrow.metadata
        stored_key = metadata[b"recbias.key"].decode()
        provenance = json.loads(metadata[b"recbias.provenance"])
        shapes = json.loads(metadata[b"recbias.arrays"])
        wanted = [name for name in file.schema_arrow.names if names is None or name in names]
        arrays = {
            name: _array(_read_column(file, name, shapes[name][1]), *shapes[name])
            for name in wanted
        }
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path}: damaged artefact ({error!r}); delete it and rerun") from error
    if stored_key != key:
        raise DamagedError(
            f"{path}: key {stored_key[:12]}, expected {key[:12]}; delete it and rerun"
        )
    return arrays, provenance


_GROUP_BYTES = 2**26
"""What rows that are written together take before they are packed."""

_CHECKSUM = b"recbias-sha256:"
_NO_CHECKSUM = b"0" * 64


def _checksum_place(content: bytes | bytearray) -> int:
    """Find where the checksum of an artefact is written; -1 if nowhere."""
    place = content.rfind(_CHECKSUM)
    return place if place < 0 else place + len(_CHECKSUM)


def _checksum(content: bytes | bytearray, place: int) -> bytes:
    """Compute the checksum of an artefact that is to be written at `place`."""
    view = memoryview(content)
    hasher = hashlib.sha256(view[:place])
    hasher.update(_NO_CHECKSUM)
    hasher.update(view[place + 64 :])
    return hasher.hexdigest().encode()


def _column(name: str, values: npt.NDArray[Any]) -> pa.Array:
    """Make a column of an array; rows of an array with two axes are bytes."""
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > 8 or values.ndim not in (1, 2):
        raise ConfigError(
            f"array '{name}' of {values.dtype} with {values.ndim} axes cannot be stored; give "
            "numbers of up to 64 bits or bools with one or two axes"
        )
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if values.ndim == 1:
        return pa.array(values)
    if values.size == 0:
        return pa.array(values.ravel())
    row = pa.binary(values.shape[1] * values.itemsize)
    return pa.Array.from_buffers(row, len(values), [None, pa.py_buffer(values)])


def _padded(column: pa.Array, n_rows: int) -> pa.Array:
    """Lengthen a column with nulls."""
    missing = n_rows - len(column)
    return pa.concat_arrays([column, pa.nulls(missing, column.type)]) if missing else column


def _read_column(file: pq.ParquetFile, name: str, length: int) -> pa.ChunkedArray:
    """Read a column as far as its array goes: not the groups of nulls behind it."""
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    groups = [group for group in range(len(sizes)) if sum(sizes[:group]) < max(length, 1)]
    # In one thread: workers share the processors already.
    return file.read_row_groups(groups, columns=[name], use_threads=False).column(0)


def _array(column: pa.ChunkedArray, dtype: str, *shape: int) -> npt.NDArray[Any]:
    """Make the array of a column again."""
    size = math.prod(shape)
    column = column.slice(0, shape[0] if size else 0)
    # One chunk as it is: combining would copy it, and it is copied below.
    content = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if len(shape) == 2 and size:
        width = content.type.byte_width
        place = content.offset * width
        flat = np.frombuffer(content.buffers()[1], dtype, size, place)
    else:
        flat = content.to_numpy(zero_copy_only=False)
    if flat.dtype != dtype:
        raise ValueError(f"{flat.dtype} where {dtype} was written")
    return np.array(flat.reshape(shape))


def frame_to_json(frame: pd.DataFrame) -> dict[str, Any]:
    """Write a table column by column, so that a document holds it in a line per column.

    Parameters
    ----------
    frame
        Columns of bools, ints, floats or texts with text names, under the default index.

    Returns
    -------
    dict
        ``dtypes`` and ``columns``, each by name. Numbers keep all their digits; NaN and missing
        texts are None, infinities the texts ``"inf"`` and ``"-inf"``.

    Raises
    ------
    ConfigError
        If a column has another kind of values, a name is no text or stands twice, or rows have
        names.

    Examples
    --------
    >>> frame_to_json(pd.DataFrame({"system": ["Random", "Popularity"], "value": [0.1, np.nan]}))
    {'dtypes': {'system': 'str', 'value': 'float64'},
     'columns': {'system': ['Random', 'Popularity'], 'value': [0.1, None]}}
    """
    if not frame.index.equals(pd.RangeIndex(len(frame))) or (len(frame) and frame.columns.empty):
        raise ConfigError("a table is stored without names of rows: use frame.reset_index()")
    if not (frame.columns.is_unique and all(isinstance(name, str) for name in frame.columns)):
        raise ConfigError(f"columns {list(frame.columns)}: expected texts, each of them once")
    dtypes = {name: _dtype_name(name, frame[name]) for name in frame.columns}
    columns = {name: [_plain(value) for value in frame[name].tolist()] for name in frame.columns}
    return {"dtypes": dtypes, "columns": columns}


def _dtype_name(name: str, column: pd.Series) -> str:
    dtype = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf" and dtype.itemsize <= 8:
        return dtype.name
    if isinstance(dtype, pd.StringDtype):
        return "str"
    if isinstance(dtype, np.dtype) and all(isinstance(entry, str | None) for entry in column):
        return "str"
    raise ConfigError(
        f"column '{name}' of {dtype} cannot be stored; give bools, ints, floats or texts"
    )


def _plain(value: Any) -> Any:
    """Replace what JSON lacks."""
    if value is None or value is pd.NA or value != value:
        return None
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def frame_from_json(record: Mapping[str, Any]) -> pd.DataFrame:
    """Read what :func:`frame_to_json` wrote.

    Parameters
    ----------
    record
        ``dtypes`` and ``columns``.

    Returns
    -------
    DataFrame
        Values, dtypes and order of columns as they were, also without rows; texts as the columns
        of text that pandas makes of a list.

    Raises
    ------
    StoreError
        If the record is no such table.

    Examples
    --------
    >>> record = {"dtypes": {"value": "float64"}, "columns": {"value": [0.1, None, "-inf"]}}
    >>> frame_from_json(record)["value"].tolist()
    [0.1, nan, -inf]
    """
    texts = pd.Series([""]).dtype
    try:
        dtypes, columns = record["dtypes"], record["columns"]
        if list(dtypes) != list(columns) or len({len(values) for values in columns.values()}) > 1:
            raise ValueError("columns and dtypes differ in names, or columns in length")
        return pd.DataFrame(
            {
                name: pd.Series(values, dtype=texts if dtypes[name] == "str" else dtypes[name])
                for name, values in columns.items()
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"not a table ({error!r}); {REMEDY}") from error


# Packages stay what they are while a process runs, and every cell asks for five of them.
_version = lru_cache(version)


def thread_libraries() -> ThreadpoolController:
    """Find the libraries with threads of their own; looking for them takes as long as some models.

    They are looked for again when more modules are loaded, which may have brought others.
    """
    return _libraries(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()


def platform_record() -> dict[str, object]:
    """Describe what the bits of a result can depend on: versions, lock, processor, BLAS."""
    names = ("internal_api", "version", "architecture")
    pools = (pool for pool in thread_libraries().info() if pool.get("user_api") == "blas")
    blas = sorted({" ".join(str(pool.get(name, "")) for name in names).strip() for pool in pools})
    root = clone_root()
    lock = root / "requirements.lock" if root else None
    return {
        "recbias": _version("recbias"),
        "lock": digest(lock.read_bytes()) if lock and lock.is_file() else None,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "numpy": _version("numpy"),
        "scipy": _version("scipy"),
        "numba": _version("numba"),
        "implicit": _version("implicit"),
        "blas": blas,
    }
