"""How much memory work may take: in blocks of rows, and for one table of all pairs of items.

And giving back what it took.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from recbias.errors import ConfigError

LARGEST_TABLE = "RECBIAS_LARGEST_TABLE"
"""Names the GiB that a model may take for all pairs of items, in place of 1."""

BLOCK_BYTES = 2**24


def row_blocks(n_rows: int, row_bytes: int, block_bytes: int | None = None) -> Iterator[slice]:
    """Go through all rows in blocks, at least one row at a time.

    Parameters
    ----------
    n_rows : int
        How many there are.
    row_bytes : int
        What work on a row takes.
    block_bytes : int, optional
        What a block may take, 16 MiB if not given.

    Examples
    --------
    >>> list(row_blocks(5, 8, 16))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, (block_bytes or BLOCK_BYTES) // max(1, row_bytes))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def largest_table() -> int:
    """Return the most bytes that a model may take for a table of all pairs of items.

    With 1 GiB a process that trains one stays below 2 GB.

    Raises
    ------
    ConfigError
        If the environment asks for no positive number.
    """
    text = os.environ.get(LARGEST_TABLE, "1")
    try:
        gib = float(text)
    except ValueError:
        gib = 0.0
    if not 0 < gib < 2**20:
        raise ConfigError(f"{LARGEST_TABLE} is {text!r}, expected a number of GiB above 0")
    return int(gib * 2**30)


def give_back() -> None:
    """Give memory that was freed back to the system, for other processes to use.

    Allocators keep what lies between arrays that are in use: a process that has read a million
    ratings as text holds 100 MB that it does not use. Takes a millisecond or none where there is
    little to give. Where the allocator of C is another than that of GNU, that of pyarrow gives
    alone.

    Examples
    --------
    >>> give_back()
    """
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
