import platform
from pathlib import Path

import numpy as np
import pytest

from recbias._system.memory import LARGEST_TABLE, give_back, largest_table, row_blocks
from recbias.errors import ConfigError


@pytest.mark.parametrize(("n_rows", "row_bytes", "block_bytes"), [(0, 8, 80), (7, 3, 7), (5, 0, 1)])
def test_blocks_hold_every_row_once(n_rows: int, row_bytes: int, block_bytes: int) -> None:
    blocks = list(row_blocks(n_rows, row_bytes, block_bytes))
    assert [row for rows in blocks for row in range(rows.start, rows.stop)] == list(range(n_rows))
    for rows in blocks:
        n_here = rows.stop - rows.start
        assert n_here == 1 or n_here * row_bytes <= block_bytes


def test_what_a_table_may_take_is_asked_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LARGEST_TABLE, raising=False)
    assert largest_table() == 2**30
    monkeypatch.setenv(LARGEST_TABLE, "2.5")
    assert largest_table() == 5 * 2**29
    for wrong in ("", "much", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(LARGEST_TABLE, wrong)
        with pytest.raises(ConfigError, match="expected a number of GiB above 0"):
            largest_table()


def held_mb() -> float:
    """Read what this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
@pytest.mark.parametrize("gives", [True, False])
def test_what_lies_between_arrays_in_use_is_given_back(gives: bool) -> None:
    """Without being asked, the allocator keeps it: then this would need no function."""
    arrays = [np.ones(2**13) for _ in range(1_000)]  # 64 KiB each
    before = held_mb()
    del arrays[::2]
    if gives:
        give_back()
    assert (before - held_mb() > 20) == gives
    assert len(arrays) == 500
