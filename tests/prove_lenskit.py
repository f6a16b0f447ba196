"""The recipe for LensKit, with LensKit: ``python tests/prove_lenskit.py``.

LensKit brings PyTorch, and other versions of what is locked here, so that it has an environment of
its own: that of the interpreter that ``RECBIAS_LENSKIT`` names, or one that is made under
``_build/prove/lenskit`` with the version that the page names.

A table with names of its own is split by ``recbias data split``; the block of the page, as it is
printed there, trains in each fold and leaves its lists; ``recbias audit`` takes them. P@10 has to
be what the files say, by a loop over them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
import pandas as pd

import prove

PAGE = prove.ROOT / "book/coming_from.md"
VERSION = "2025.8.1"
N_USERS, N_ITEMS, N_FOLDS = 60, 150, 2


def interpreter() -> Path:
    """Give the Python that has LensKit."""
    if named := os.environ.get("RECBIAS_LENSKIT"):
        return Path(named)
    folder = prove.KEPT / "lenskit"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "ready").is_file():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"lenskit=={VERSION}"], check=True)
        (folder / "ready").touch()
    return python


def recipe() -> str:
    """Read the block of the page that trains in folds."""
    found = re.findall(r"```python\n(# LensKit .*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    (text,) = (block for block in found if 'glob("fold-*")' in block)
    return str(text)


def table(path: Path) -> None:
    """Write ratings of two tastes; users and items have names that are no numbers."""
    rng = np.random.default_rng(11)
    rows = [
        (f"reader {u}", f"book={i}",
         int(np.clip(round(rng.normal(4.2 if u % 2 == i % 2 else 2.5, 1)), 1, 5)))
        for u in range(N_USERS) for i in rng.choice(N_ITEMS, 40, replace=False)
    ]  # fmt: skip
    pd.DataFrame(rows, columns=["user_id", "item_id", "rating"]).to_csv(path, index=False)


def by_hand(folder: Path) -> float:
    """P@10 over all users of all folds, from the files alone."""
    hits = 0
    for fold in folder.glob("splits/fold-*"):
        test = pd.read_csv(fold / "test.csv")
        liked = set(zip(*test.loc[test["rating"] >= 4, ["user_id", "item_id"]].T.to_numpy(),
                        strict=True))  # fmt: skip
        lists = pd.read_parquet(fold / "als.parquet")
        hits += sum((row.user_id, row.item_id) in liked for row in lists.itertuples()
                    if row.rank <= 10)  # fmt: skip
    return hits / (10 * N_USERS * N_FOLDS)


def main() -> int:
    """Walk from the table to the report."""
    python = interpreter()
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        table(folder / "my.csv")
        (folder / "recipe.py").write_text(recipe(), encoding="utf-8")
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        ours = {**os.environ, "RECBIAS_CELLS": str(folder / "cells")}
        recbias = [sys.executable, "-m", "recbias_command"]
        split = ["data", "split", "my.csv", "--split", f"k-fold {N_FOLDS}", "--out", "splits"]
        audit = ["audit", "my.csv", "--a", "als=splits/fold-{fold}/als.parquet", "--b", "Random"]
        subprocess.run([*recbias, *split], cwd=folder, env=ours, check=True)
        subprocess.run([python, "recipe.py"], cwd=folder, env=bare, check=True)
        ended = subprocess.run([*recbias, *audit], cwd=folder, env=ours)
        if ended.returncode not in (0, 3, 4):
            print(f"FAILED the audit ended with {ended.returncode}")
            return 1
        record = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
        told, expected = record["designs"][0]["values"]["als"][0], by_hand(folder)
        print(record["sentence"]["paragraph"])
        print(f"P@10 of LensKit: {told}, by hand {expected}")
        return int(not (abs(told - expected) < 1e-12 and expected > 0))


if __name__ == "__main__":
    sys.exit(main())
