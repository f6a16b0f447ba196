"""What a table of one's own costs: a chapter, a page, the README's snippet, a large table.

``python benchmarks/own_table.py [TABLE]`` (a quarter of an hour on a busy machine; ``--only``
names one of the four). Without a table, a world of 100,000 ratings stands in. Each work starts
with no cell stored. Seconds on the clock, which other programs lengthen, stand beside those of the
processor, summed over all processes, which they hardly do: half of these is what two idle cores
need at least.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow.csv import write_csv
from rerun import WORLDS, command, forget, measure

from recbias import load_dataset

README = Path(__file__).resolve().parents[1] / "README.md"
USERS, ITEMS, RATINGS = 60_000, 20_000, 5_000_000
GOALS = {"chapter": "120 s", "systems": "150 s", "snippet": "30 s", "info": "10 s and 1,000 MB"}


def write_world(path: Path) -> None:
    """Write the world that stands in for a table of 100,000 ratings."""
    world = load_dataset(WORLDS[100_000]).ratings
    columns = {"user_id": world.user, "item_id": world.item, "rating": world.value}
    pd.DataFrame(columns).to_csv(path, index=False)


def write_large(path: Path) -> None:
    """Write five million ratings with times, in the order of a log: by none of its columns."""
    rng = np.random.default_rng(1)
    items = (rng.beta(0.6, 3, 2 * RATINGS) * ITEMS).astype(np.int64)
    pairs = rng.permutation(np.unique(rng.integers(USERS, size=2 * RATINGS) * ITEMS + items))
    columns = {
        "user_id": pairs[:RATINGS] // ITEMS,
        "item_id": pairs[:RATINGS] % ITEMS,
        "rating": rng.integers(1, 6, RATINGS),
        "timestamp": rng.integers(900_000_000, 1_200_000_000, RATINGS),
    }
    write_csv(pa.table(columns), path)


def write_snippet(path: Path) -> None:
    """Write the README's first program in Python."""
    found = re.search(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    assert found is not None
    path.write_text(found[1], encoding="utf-8")


def main() -> None:
    """Measure and print a line for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table", type=Path, nargs="?")
    parser.add_argument("--only", choices=GOALS)
    asked = parser.parse_args()
    for name in [asked.only] if asked.only else list(GOALS):
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            if name == "info":
                write_large(folder / "my.csv")
            elif asked.table:
                (folder / "my.csv").write_bytes(asked.table.read_bytes())
            else:
                write_world(folder / "my.csv")
            write_snippet(folder / "snippet.py")
            program = {
                "chapter": command("run", "01_design_alternatives", "--dataset", "my.csv"),
                "systems": command("run", "systems", "--dataset", "my.csv"),
                "snippet": ["snippet.py"],
                "info": command("data", "info", "my.csv"),
            }[name]
            if name in ("chapter", "systems"):
                program += ["--out", "out.html"]
                forget(str(folder / "my.csv"))
            passed, used, peak = measure(program, folder)
        print(
            f"{name:<8}{passed:6.0f} s, {used:.0f} s of processor time, {peak:,.0f} MB"
            f" (goal {GOALS[name]})",
            flush=True,
        )


if __name__ == "__main__":
    main()
