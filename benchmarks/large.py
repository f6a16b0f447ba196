"""Tables of many ratings: what the systems of chapter 1 cost on them, in time and memory.

``python benchmarks/large.py RATINGS [WORK ...]`` makes a table of that many ratings, in pieces and
in Parquet, which stays in the folder that ``--folder`` names. Each WORK is measured in a process of
its own with no cell stored before: ``info`` (the table is read and described), the name of a system
of chapter 1 (under the chapter's three designs, on one split), or ``ten``, all of them with two
workers. A row for each goes into ``large.csv`` beside this file: seconds by the clock and of
processors, peak memory of the largest process. ``--fit`` prints them as tables, and what a fit says
of other sizes.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import math
import os
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
SIZES = (100_000, 1_000_000, 10_000_000, 20_000_000, 100_000_000)
FITTED_FROM = 10_000_000
"""From smaller tables no cost of a large one is told."""
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
        with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as wrong:
            started = time.perf_counter()
            child = subprocess.Popen(
                command, env={**os.environ, **own}, stdout=said, stderr=wrong, text=True
            )
            # With all that it started and waited for: workers end with it, and are no part of what
            # it could say of itself.
            _, status, used = os.wait4(child.pid, 0)
            wall = time.perf_counter() - started
            said.seek(0)
            wrong.seek(0)
            if status:
                sys.exit(f"{work}: {wrong.read()}")
            sizes = json.loads(said.read().splitlines()[-1])
    return {
        **sizes,
        "wall_s": round(wall, 1),
        "cpu_s": round(used.ru_utime + used.ru_stime, 1),
        "peak_gb": round(used.ru_maxrss / 2**20, 2),
    }


def do(path: Path, work: str) -> None:
    """Do it here, and print the size of the table as JSON."""
    if work == "info":
        ratings = load_dataset(path).ratings
        print(describe(ratings, MIN_RATING))
        sizes = {"ratings": len(ratings), "users": ratings.n_users, "items": ratings.n_items}
    else:
        systems = [each for each in line_up("bcc17") if work in ("ten", each.name)]
        asked = Grid(path, systems, DESIGNS, dict.fromkeys(DESIGNS, ("P@10", "nDCG@10")),
                     split=SPLIT)  # fmt: skip
        results = run(asked, workers=2 if work == "ten" else 1)
        print(results.table("AI", "P@10"))
        sizes = {name: results.dataset[f"n_{name}"] for name in ("ratings", "users", "items")}
    print(json.dumps(sizes))


def fit() -> None:
    """Print tables for a page: what was measured and, after a "~", what fits say of other sizes.

    Seconds are those of a start, which `info` of the smallest table stands for, and a * ratings^b;
    memory is a straight line. Nothing is said of what was not measured on a large table.
    """
    rows = pd.read_csv(ROWS).drop_duplicates(["work", "ratings"], keep="last")
    start = rows[rows["work"] == "info"].nsmallest(1, "ratings")["cpu_s"].item()
    for what, unit in (("cpu_s", "s"), ("peak_gb", "GB")):
        print(f"\n| {unit} | {' | '.join(f'{size / 1e6:g}m' for size in SIZES)} |")
        print("|---" * (len(SIZES) + 1) + "|")
        for work, of_work in rows.dropna(subset=what).groupby("work", sort=False):
            known = dict(zip(of_work["ratings"], of_work[what], strict=True))
            cells = [f"{known[size]:g}" if size in known else "" for size in SIZES]
            if len(known) > 1 and max(known) >= FITTED_FROM:
                sizes, costs = np.array(list(known)), np.array(list(known.values()))
                if what == "cpu_s":
                    above = costs > 1.2 * start
                    logs = np.log(sizes[above]), np.log(costs[above] - start)
                    power = np.polyfit(*logs, 1)[0] if above.sum() > 1 else 1.0
                    level = np.mean(logs[1] - power * logs[0])
                    fitted = [start + math.exp(level) * size**power for size in SIZES]
                    work = f"{work}, ratings^{power:.2f}"
                else:
                    slope, level = np.polyfit(sizes, costs, 1)
                    fitted = [level + slope * size for size in SIZES]
                cells = [have or f"~{cost:.2g}" for have, cost in zip(cells, fitted, strict=True)]
            print(f"| {work} | {' | '.join(cells)} |")


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
