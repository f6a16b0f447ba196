"""Tables of many ratings: what the systems of chapter 1 cost on them, in time and memory.

``python benchmarks/large.py RATINGS [WORK ...]`` makes a table of that many ratings, in pieces and
in Parquet, which stays in the folder that ``--folder`` names. Each WORK is measured in a process of
its own with no cell stored before: ``info`` (the table is read and described), the name of a system
of chapter 1 (under the chapter's three designs, on one split), or ``ten``, all of them with two
workers. A row for each goes into ``large.csv`` beside this file: seconds by the clock and of
processors, peak memory of the largest process. ``--fit`` fits cost = a * ratings^b to these rows.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from recbias import Grid, line_up, load_dataset, run
from recbias.data.datasets.describe import describe

ROWS = Path(__file__).with_suffix(".csv")
FIELDS = ("date", "ratings", "users", "items", "work", "wall_s", "cpu_s", "peak_gb")
PIECE, TASTES = 2_000, 8
SPLIT, MIN_RATING = "ratio 0.2", 4.0
DESIGNS = {
    name: f"{code} rel>=4"
    for name, code in {"AI": "AI-AN-AR", "TI": "TI-AN-AR", "1R": "TI-NN-1R t=100"}.items()
}


def n_items_of(n_ratings: int) -> int:
    """Say how many items a table has: as MovieLens 20M, and as its sisters by their size."""
    return round(26_744 * math.sqrt(n_ratings / 20e6))


def make_table(path: Path, n_ratings: int) -> None:
    """Draw ratings of a long tail of items by users of a few tastes, in pieces of users.

    Few items have most ratings, as in films; better ones have more. A piece is 2,000 users, so
    that memory does not grow with the table.
    """
    n_items, rng = n_items_of(n_ratings), np.random.default_rng(1)
    weight = (np.arange(n_items) + 30.0) ** -1.1
    quality = 3.4 - 1.2 * np.arange(n_items) / n_items
    taste = rng.normal(0, 0.6, (TASTES, n_items))
    chances = np.cumsum(weight * np.exp(taste), axis=1)
    schema = pa.schema([("user", pa.int32()), ("item", pa.int32()),
                        ("stars", pa.float32()), ("time", pa.int64())])  # fmt: skip
    written = user = 0
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, schema) as writer:
        while written < n_ratings:
            lengths = np.maximum(20, rng.lognormal(math.log(80), 1.09, PIECE)).astype(int)
            lengths = np.minimum(lengths, n_items // 3)
            kind = rng.integers(TASTES, size=PIECE)
            users = np.repeat(np.arange(PIECE), lengths)
            draws = rng.random(len(users))
            items = np.empty(len(users), np.int64)
            for each in range(TASTES):
                here = kind[users] == each
                items[here] = np.searchsorted(chances[each], draws[here] * chances[each, -1])
            pairs = np.unique(users * n_items + items)[: n_ratings - written]
            users, items = np.divmod(pairs, n_items)
            liked = quality[items] + taste[kind[users], items] + rng.normal(0, 0.8, len(items))
            writer.write_table(pa.table(
                {
                    "user": (users + user).astype(np.int32),
                    "item": items.astype(np.int32),
                    "stars": np.clip(np.rint(2 * liked) / 2, 0.5, 5).astype(np.float32),
                    "time": 1_100_000_000 + rng.integers(300_000_000, size=len(items)),
                },
                schema=schema,
            ))  # fmt: skip
            written += len(items)
            user += PIECE
    part.replace(path)


def measure(path: Path, work: str) -> dict[str, float | int]:
    """Do one work in a process of its own; give what it took."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"RECBIAS_CELLS": f"{folder}/cells", "RECBIAS_LARGEST_TABLE": "8",
               "TQDM_DISABLE": "1"}  # fmt: skip
        command = [sys.executable, __file__, str(path), work, "--here"]
        done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{work}: {done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def do(path: Path, work: str) -> None:
    """Do it here, and print what it took as JSON."""
    started = time.perf_counter()
    if work == "info":
        ratings = load_dataset(path).ratings
        print(describe(ratings, MIN_RATING))
    else:
        systems = [each for each in line_up("bcc17") if work in ("ten", each.name)]
        asked = Grid(path, systems, DESIGNS, dict.fromkeys(DESIGNS, ("P@10", "nDCG@10")),
                     split=SPLIT)  # fmt: skip
        results = run(asked, workers=2 if work == "ten" else 1)
        print(results.table("AI", "P@10"))
        ratings = load_dataset(path).ratings
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({
        "ratings": len(ratings),
        "users": ratings.n_users,
        "items": ratings.n_items,
        "wall_s": round(time.perf_counter() - started, 1),
        "cpu_s": round(sum(each.ru_utime + each.ru_stime for each in used), 1),
        "peak_gb": round(max(each.ru_maxrss for each in used) / 2**20, 2),
    }))  # fmt: skip


def fit() -> None:
    """Print the exponents, and what each work takes at 100 million."""
    for work, rows in pd.read_csv(ROWS).groupby("work", sort=False):
        if rows["ratings"].nunique() > 1:
            for what in ("cpu_s", "peak_gb"):
                power, level = np.polyfit(np.log(rows["ratings"]), np.log(rows[what]), 1)
                at = math.exp(level + power * math.log(1e8))
                print(f"{work}: {what} ~ ratings^{power:.2f}, at 100 million {at:,.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", nargs="?", help="number of ratings, such as 20_000_000")
    parser.add_argument("work", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit()
        return
    if given.here:
        do(Path(given.table), *given.work)
        return
    n_ratings = int(given.table)
    path = given.folder / f"large_{n_ratings}.parquet"
    if not path.exists():
        make_table(path, n_ratings)
    for work in given.work or ("info", *(each.name for each in line_up("bcc17"))):
        row = {"date": datetime.date.today().isoformat(), "work": work, **measure(path, work)}
        print(row, flush=True)
        with ROWS.open("a", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            if not file.tell():
                writer.writeheader()
            writer.writerow(row)


if __name__ == "__main__":
    main()
