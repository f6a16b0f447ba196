"""Random numbers that are a function of what they belong to, computed in integers.

The bell-shaped number of a pair is a hash of the pair: no order of drawing, no block and no thread
can change it, and nothing of the size users x items is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias._system.memory import row_blocks

GRID = 1024
"""Steps per unit: sums and products of few multiples of 1/1024 carry no rounding."""
BLOCK_PAIRS = 2**15
"""Pairs that are looked at together: few enough for the cache of a processor."""


def hashed(counters: npt.NDArray[np.uint64], key: np.uint64) -> npt.NDArray[np.uint64]:
    """Turn counters into 64 random bits each: the output function of SplitMix64.

    Parameters
    ----------
    counters : uint64 array
        What the bits belong to.
    key : uint64
        Other keys give other bits.

    Returns
    -------
    uint64 array of the same shape
        Bits that pass for random.
    """
    bits = counters * np.uint64(0x9E3779B97F4A7C15) + key
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def uniform(counters: npt.NDArray[np.uint64], key: np.uint64) -> npt.NDArray[np.float64]:
    """Draw multiples of 2**-53 from 0 to below 1, one per counter; see `hashed`."""
    return (hashed(counters, key) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def bell(
    counters: npt.NDArray[np.uint64], deviation: float, key: np.uint64
) -> npt.NDArray[np.float64]:
    """Draw the sum of four uniform 16-bit integers, centred and scaled, on the grid."""
    bits = hashed(counters, key)
    total = np.zeros(bits.shape)
    for shift in (0, 16, 32, 48):
        total += (bits >> np.uint64(shift)) & np.uint64(0xFFFF)
    unit = np.sqrt((65_536**2 - 1) / 3)
    return on_grid((total - 2 * 65_535) * (deviation / unit))


def bell_table(n_rows: int, n_columns: int, deviation: float, key: np.uint64) -> Any:
    """Draw a table of `bell` numbers, float64 (n_rows, n_columns)."""
    counters = np.arange(n_rows * n_columns, dtype=np.uint64).reshape(n_rows, n_columns)
    return bell(counters, deviation, key)


def on_grid(values: npt.NDArray[np.float64], steps: int = GRID) -> npt.NDArray[np.float64]:
    """Round to the nearest multiple of 1 / `steps`."""
    return np.round(values * steps) / steps


def pairs(users: npt.NDArray[np.integer[Any]], n_items: int) -> npt.NDArray[np.uint64]:
    """Return a number for each pair of some users with all items, uint64 (n, n_items)."""
    first = users.astype(np.uint64) * np.uint64(n_items)
    return np.add.outer(first, np.arange(n_items, dtype=np.uint64))


def shuffled(n: int, key: np.uint64) -> npt.NDArray[np.int64]:
    """Return the numbers below `n` in random order."""
    return np.argsort(hashed(np.arange(n, dtype=np.uint64), key), kind="stable")


def blocks(n_users: int, n_items: int) -> Iterator[npt.NDArray[np.int64]]:
    """Go through all users in blocks of about `BLOCK_PAIRS` pairs."""
    everyone = np.arange(n_users)
    return (everyone[users] for users in row_blocks(n_users, n_items, BLOCK_PAIRS))
