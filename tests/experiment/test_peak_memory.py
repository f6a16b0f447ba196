"""How much memory cells take where there are many items; the dense form takes what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from recbias._system.memory import LARGEST_TABLE
from recbias.data.ratings import Duplicates, Ratings
from recbias.experiment.store import read_arrays, write_arrays
from recbias.recommenders import SLIM
from recbias.theory import draw_lists
from recommender_tables import table

N_ITEMS = 5_000
"""A tenth of those of a large table: a matrix of all pairs takes a hundredth, the rest a tenth."""

BUDGET_MB = 150
"""What the work may add to the process; one matrix of all pairs takes 200."""

PROGRAM = """
import json, sys
from pathlib import Path

from recbias import Grid, line_up, run
from recbias.errors import TrainingError

def kb(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

def grid(table):
    names = ("Popularity", "EASE", "Item kNN", "Item cosine (implicit)")
    known = (*line_up("modern", min_rating=4), *line_up("mccrs20", min_rating=4))
    systems = {each.name: each for each in known if each.name in names}
    metrics = ("P@10", "Gini@10", "Coverage@10")
    return Grid(table, tuple(systems.values()), {"full": "AI-AN-AR rel>=4"}, metrics,
                split="ratio 0.2")

small, large = sys.argv[1:]
run(grid(small))  # what is compiled and imported is no matter here
Path("/proc/self/clear_refs").write_text("5")
before = kb("VmRSS")
found = run(grid(large))
print(json.dumps({"mb": (kb("VmHWM") - before) / 1024, "left_out": found.left_out}))
"""


def write_table(path: Path, n_users: int, n_items: int, n_ratings: int) -> None:
    rng = np.random.default_rng(1)
    items = (rng.beta(0.6, 3, n_ratings) * n_items).astype(np.int64)
    pairs = np.unique(rng.integers(n_users, size=n_ratings) * n_items + items)
    pairs = np.union1d(pairs, np.arange(n_items))  # each item once
    rows = zip(pairs // n_items, pairs % n_items, rng.integers(1, 6, len(pairs)), strict=True)
    lines = "\n".join(f"{user},{item},{stars}" for user, item, stars in rows)
    path.write_text(f"user_id,item_id,rating\n{lines}\n")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks cannot be reset here")
def test_many_items_take_no_more_than_the_budget(tmp_path: Path) -> None:
    write_table(tmp_path / "small.csv", 50, 60, 900)
    write_table(tmp_path / "large.csv", 500, N_ITEMS, 20_000)

    def measured(gib: float) -> tuple[float, dict[str, str]]:
        found = subprocess.run(
            [sys.executable, "-c", PROGRAM, tmp_path / "small.csv", tmp_path / "large.csv"],
            env={
                **os.environ,
                LARGEST_TABLE: str(gib),
                "RECBIAS_CELLS": str(tmp_path / f"cells-{gib}"),
                "OPENBLAS_NUM_THREADS": "1",
            },
            capture_output=True,
            text=True,
            check=True,
        )
        last = json.loads(found.stdout.splitlines()[-1])
        return last["mb"], last["left_out"]

    peak, left_out = measured(0.01)
    assert sorted(left_out) == ["EASE", "Item kNN"]
    assert all(f"{N_ITEMS:,} items need a table" in reason for reason in left_out.values())
    assert peak < BUDGET_MB
    # The twin: the same systems with as large a table as they ask for.
    dense, nobody = measured(1)
    assert nobody == {}
    assert dense > BUDGET_MB


@pytest.mark.parametrize(("block_bytes", "is_lean"), [(2**18, True), (2**30, False)])
def test_slim_learns_in_little_more_than_the_memory_of_one_matrix(
    block_bytes: int, is_lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block of all columns is the dense form: weights, and a byte for each pair."""
    rng = np.random.default_rng(1)
    ratings = table(np.where(rng.random((40, 600)) < 0.05, 5.0, np.nan))
    model = SLIM(n_iterations=2)
    model.fit(ratings)  # what is compiled is no matter here
    monkeypatch.setattr("recbias._system.memory.BLOCK_BYTES", block_bytes)
    tracemalloc.start()
    model.fit(ratings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak < 1.5 * 8 * 600**2) == is_lean


@pytest.mark.parametrize(("group_bytes", "is_lean"), [(2**20, True), (2**40, False)])
def test_a_long_array_makes_no_wide_ones_as_long(
    group_bytes: int, is_lean: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows at once are the dense form: nulls behind short arrays, 80 bytes a row."""
    monkeypatch.setattr("recbias.experiment.store._GROUP_BYTES", group_bytes)
    rng = np.random.default_rng(1)
    arrays = {
        "listed": rng.random(3_000) < 0.5,
        "above": rng.integers(0, 900, (2_000, 20)).astype(np.int32),
        "list_items": rng.integers(0, 5_000, 400_000).astype(np.int32),
    }
    usual, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.system_memory_pool())
    pa.set_memory_pool(pool)
    try:
        write_arrays(tmp_path / "a.parquet", arrays, key="k", provenance={})
        found, _ = read_arrays(tmp_path / "a.parquet", key="k")
    finally:
        pa.set_memory_pool(usual)
    assert (pool.max_memory() < 10 * 2**20) == is_lean
    assert list(found) == list(arrays)
    for name, values in arrays.items():
        assert found[name].dtype == values.dtype
        np.testing.assert_array_equal(found[name], values)
    some, _ = read_arrays(tmp_path / "a.parquet", key="k", names=["above"])
    np.testing.assert_array_equal(some["above"], arrays["above"])


@pytest.mark.parametrize(("duplicates", "is_lean"), [("error", True), ("mean", False)])
def test_rows_are_brought_into_order_column_by_column(
    duplicates: Duplicates, is_lean: bool
) -> None:
    """Means of pairs take what all did that were ordered at once: 85 bytes and more a row."""
    rng, n_rows = np.random.default_rng(1), 100_000
    pairs = rng.permutation(2 * n_rows)[:n_rows]
    pairs[0] = pairs[1] if duplicates == "mean" else pairs[0]
    columns = {
        "user_id": pairs // 400,
        "item_id": pairs % 400,
        "rating": rng.integers(1, 6, n_rows),
    }
    frame = pd.DataFrame(columns | {"time": rng.integers(10**9, 2 * 10**9, n_rows)})
    tracemalloc.start()
    Ratings.from_frame(frame, timestamp="time", duplicates=duplicates)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak < 60 * n_rows) == is_lean


@pytest.mark.parametrize(("block_bytes", "is_lean"), [(2**18, True), (2**30, False)])
def test_random_lists_are_the_same_in_any_block(
    block_bytes: int, is_lean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block of all users is the dense form: several numbers for each of 300,000 pairs."""
    train = table(np.where(np.random.default_rng(1).random((100, 3_000)) < 0.01, 5.0, np.nan))
    weights = np.arange(3_000)
    usual = draw_lists(train, weights, 10, rng=np.random.default_rng(2))
    monkeypatch.setattr("recbias._system.memory.BLOCK_BYTES", block_bytes)
    tracemalloc.start()
    found = draw_lists(train, weights, 10, rng=np.random.default_rng(2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak < 2 * 2**20) == is_lean
    np.testing.assert_array_equal(found, usual)
