"""What the page of a chapter costs, by the shape of a table: ``data/page_costs.csv``.

``python benchmarks/page_costs.py TABLE [CHAPTER ...]`` runs chapters, all of them by default, with
no cell stored, and writes a row for each: date, size of the table, seconds of processor time of all
processes and the peak memory of the largest. ``recbias data info`` and ``recbias run --dry-run``
estimate from these rows. TABLE is one that is made here, or a name of a data set at hand, which is
read as if it were a reader's own table, with one training seed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from recbias import load_dataset
from recbias.book.notebooks import list_chapters
from recbias.data.datasets import registry
from recbias.data.datasets.frames import frame_of

TARGET = Path(__file__).resolve().parents[1] / "data" / "page_costs.csv"
SHAPES = {  # ratings, users, items
    "small": (10_000, 300, 600),
    "sparse": (35_000, 1_500, 2_000),
    "wide": (200_000, 8_000, 30_000),
    "catalogue": (300_000, 18_000, 80_000),
    "million": (1_000_000, 36_000, 63_000),
    "flat": (60_000, 1_200, 63_000),
}


def make_table(name: str) -> pd.DataFrame:
    """Draw ratings whose users and items are unequal; better items have more of them."""
    n_ratings, n_users, n_items = SHAPES[name]
    rng = np.random.default_rng(1)
    users = (rng.beta(0.7, 3, 4 * n_ratings) * n_users).astype(np.int64)
    items = (rng.beta(0.5, 3, 4 * n_ratings) * n_items).astype(np.int64)
    pairs = rng.permutation(np.unique(users * n_items + items))[:n_ratings]
    items = pairs % n_items
    liked = 3.5 - items / n_items + rng.normal(0, 1, len(pairs))
    return pd.DataFrame(
        {
            "user_id": pairs // n_items,
            "item_id": items,
            "rating": np.clip(np.rint(liked), 1, 5).astype(int),
        }
    )


def measure(chapter: str, table: Path, keep: Path | None) -> tuple[float, float]:
    """Run a chapter in a folder of its own; give seconds of processor time and the peak in MB."""
    with tempfile.TemporaryDirectory() as folder:
        own = {
            "RECBIAS_CELLS": str(keep or Path(folder) / "cells"),
            "XDG_CACHE_HOME": f"{folder}/cache",
            "TQDM_DISABLE": "1",
        }
        program = "from recbias.cli.commands import main; main()"
        words = ["run", chapter, "--dataset", str(table), "--out", f"{folder}/out.html"]
        run = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            env=os.environ | own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(run.pid, 0)
    if status:
        sys.exit(f"{chapter} on {table} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Measure, and renew the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--cells", type=Path, help="A new folder that keeps the cells.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{asked.table}.csv"
        if asked.table in registry():
            frame_of(load_dataset(asked.table).ratings).to_csv(path, index=False)
        else:
            make_table(asked.table).to_csv(path, index=False)
        ratings = load_dataset(path).ratings
        listed = [chapter.name for chapter in list_chapters() if not chapter.is_summary]
        for chapter in asked.chapters or listed:
            cells = asked.cells and asked.cells / asked.table / chapter
            seconds, peak = measure(chapter, path, cells)
            row = {
                "page": chapter,
                "table": asked.table,
                "ratings": len(ratings),
                "users": ratings.n_users,
                "items": ratings.n_items,
                "seconds": round(seconds, 1),
                "peak_mb": round(peak),
                "date": datetime.date.today().isoformat(),
            }
            rows = pd.DataFrame([row])
            if TARGET.exists():
                before = pd.read_csv(TARGET)
                again = (before["page"] == chapter) & (before["table"] == asked.table)
                rows = pd.concat([before[~again], rows])
            rows.sort_values(["page", "ratings", "table"]).to_csv(TARGET, index=False)
            print(row, flush=True)


if __name__ == "__main__":
    main()
