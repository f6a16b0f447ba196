"""Audits: what `recbias audit` costs on a table of one's own, beside lists of other programs.

``python benchmarks/auditing.py [--sizes 100000 1000000]``: a world stands in for the table, with
names and a scale of its own. In each of five folds `implicit` leaves lists of 100 items by ALS, and
plain pandas those that most people in training liked. Then ``recbias audit`` compares the two, and
`implicit` with all baselines of the package; no cell is stored before. A line says what it took:
seconds by the clock and of the processor, and the peak memory of all its processes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from implicit.als import AlternatingLeastSquares
from rerun import WORLDS, command, measure
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from recbias import load_dataset

LENGTH, LIKED = 100, 75
ENDS = (0, 3, 4)


def write_table(path: Path, world: str) -> None:
    """Write a world as marks of readers out of 100, in steps of 25."""
    found = load_dataset(world).ratings
    pd.DataFrame({
        "reader": [f"r-{user}" for user in found.user],
        "title": [f"No. {item}" for item in found.item],
        "mark": ((found.value - 1) * 25).astype(int),
    }).to_csv(path, index=False)  # fmt: skip


def write_lists(fold: Path) -> None:
    """Write what `implicit` and pandas recommend to each reader."""
    train = pd.read_csv(fold / "train.csv")
    liked = train[train["rating"] >= LIKED]
    user, users = pd.factorize(train["user_id"])
    item, items = pd.factorize(train["item_id"])
    known = csr_matrix((np.ones(len(train), np.float32), (user, item)))
    likes = csr_matrix(((train["rating"] >= LIKED).astype(np.float32), (user, item)), known.shape)
    with threadpool_limits(1, "blas"):
        model = AlternatingLeastSquares(factors=32, random_state=1, num_threads=1)
        model.fit(likes, show_progress=False)
    best, _ = model.recommend(np.arange(len(users)), known, LENGTH)
    ranks = np.arange(1, LENGTH + 1)
    pd.DataFrame({
        "user_id": np.repeat(users, LENGTH),
        "item_id": items[best.ravel()],
        "rank": np.tile(ranks, len(users)),
    }).to_csv(fold / "implicit.csv", index=False)  # fmt: skip

    most = int(train.groupby("user_id").size().max())
    top = liked["item_id"].value_counts().head(LENGTH + most).index
    pairs = pd.MultiIndex.from_product([users, top], names=["user_id", "item_id"])
    seen = pd.MultiIndex.from_frame(train[["user_id", "item_id"]])
    lists = pairs[~pairs.isin(seen)].to_frame(index=False).groupby("user_id").head(LENGTH)
    lists["rank"] = lists.groupby("user_id").cumcount() + 1
    lists.to_csv(fold / "pandas.csv", index=False)


def main() -> None:
    """Measure and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--workers", default="2")
    given = parser.parse_args()
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            write_table(folder / "marks.csv", WORLDS[size])
            columns = ["--user", "reader", "--item", "title", "--rating", "mark"]
            split = command("data", "split", "marks.csv", *columns, "--out", "splits")
            subprocess.run([sys.executable, *split], cwd=folder, check=True, capture_output=True)
            for fold in sorted(folder.glob("splits/fold-*")):
                write_lists(fold)
            ours, theirs = (f"{n}=splits/fold-{{fold}}/{n}.csv" for n in ("implicit", "pandas"))
            for words, rival in (("two lists", ["--b", theirs]), ("baselines", ["--baselines"])):
                program = command("audit", "marks.csv", *columns, "--a", ours, *rival,
                                  "--workers", given.workers)  # fmt: skip
                passed, used, peak = measure(program, folder, ENDS)
                record = json.loads((folder / "audit.json").read_text())
                print(f"{size:>9,} {words:<9} {passed:6.0f} s, {used:.0f} s of processors, "
                      f"{peak:,.0f} MB; {record['sentence']['answer']}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
