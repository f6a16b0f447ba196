"""Loading: MovieLens 1M's raw format against pandas' C parser, and the memory of a large CSV.

Run ``python benchmarks/loading.py`` (half a minute, 100 MB of temporary files), or with
``--rows 20000000`` for the large CSV at full size (a few minutes, 700 MB).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from recbias.data.datasets import load_dataset, movielens

N_RATINGS, N_USERS, N_ITEMS = 1_000_209, 6_040, 3_952


def write_raw(path: Path, rng: np.random.Generator) -> None:
    """Write as many lines as ``ratings.dat`` has, of the same form."""
    pairs = np.sort(rng.choice(N_USERS * N_ITEMS, N_RATINGS, replace=False))
    stars = rng.integers(1, 6, N_RATINGS)
    times = rng.integers(956_703_932, 1_046_454_590, N_RATINGS)
    rows = zip(pairs // N_ITEMS + 1, pairs % N_ITEMS + 1, stars, times, strict=True)
    with path.open("w") as file:
        file.writelines(f"{user}::{item}::{star}::{second}\n" for user, item, star, second in rows)


def write_large(path: Path, n_rows: int, rng: np.random.Generator) -> None:
    """Write a CSV in the form of MovieLens 20M, in pieces."""
    n_users = n_rows // 145
    with path.open("w") as file:
        file.write("userId,movieId,rating,timestamp\n")
        for first in range(0, n_users, 5_000):
            users = np.repeat(np.arange(first, min(first + 5_000, n_users)), 145) + 1
            # A step prime to the number of items gives each user different ones.
            items = (users * 7_919 + np.arange(len(users)) % 145 * 101) % 26_744 + 1
            pd.DataFrame(
                {
                    "user": users,
                    "item": items,
                    "rating": rng.integers(1, 11, len(users)) / 2,
                    "time": rng.integers(789_652_009, 1_427_784_002, len(users)),
                }
            ).to_csv(file, index=False, header=False)


def best(*loads: Callable[[], object], repeats: int = 7) -> list[float]:
    """Time calls in turn; of each the fewest seconds of its repeats.

    Both sides use one thread, so processor time is compared: others on the machine do not count.
    """
    seconds: list[list[float]] = [[] for _ in loads]
    for _ in range(repeats):
        for load, times in zip(loads, seconds, strict=True):
            start = time.process_time()
            load()
            times.append(time.process_time() - start)
    return [min(times) for times in seconds]


def load_and_report(path: Path) -> None:
    start = time.perf_counter()
    ratings = load_dataset(path).ratings
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{len(ratings):,} rows of CSV: {seconds:.1f} s, peak memory {peak:.2f} GB (bound: 3 GB)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of the large CSV")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        load_and_report(arguments.load)
        return
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "ratings.dat"
        write_raw(raw, rng)
        theirs, ours = best(
            lambda: pd.read_csv(raw, sep=":", header=None, usecols=[0, 2, 4, 6]),
            lambda: movielens.read_1m_stars(raw),
        )
        print(
            f"MovieLens 1M raw format: ours {ours:.2f} s, pandas' C parser {theirs:.2f} s, "
            f"ratio {ours / theirs:.2f} (bound: 2)"
        )
        large = Path(folder) / "large.csv"
        write_large(large, arguments.rows, rng)
        # In a process of its own, whose memory is that of loading alone.
        subprocess.run([sys.executable, __file__, "--load", str(large)], check=True)


if __name__ == "__main__":
    main()
