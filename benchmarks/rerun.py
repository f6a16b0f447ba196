"""Rerunning: what the first chapter costs on a table of one's own, by the number of ratings.

Run ``python benchmarks/rerun.py`` (about an hour of one core; ``--sizes 10000`` for the first row
alone). Worlds stand in for tables; each run starts without any stored cell, and without the page
that an earlier one left. Seconds are those of
the processor, summed over all processes, since they survive a busy machine; memory is the peak of
what all processes hold together, shared pages counted once. The rows are written to
``benchmarks/rerun.csv``, which the page *Rerun a chapter* quotes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd

from recbias.book.notebooks import edition_name

TARGET = Path(__file__).with_suffix(".csv")
BUILD = Path(__file__).resolve().parents[1] / "_build"
WORLDS = {
    10_000: "world(users=100,items=1000,density=0.1,seed=1)",
    100_000: "world(users=943,items=1682,density=0.063,seed=1)",
    1_000_000: "world(users=6040,items=3706,density=0.0447,seed=1)",
}


def descendants(process: int) -> list[int]:
    """List a process and all that it started."""
    found = [process]
    for tasks in Path(f"/proc/{process}/task").glob("*/children"):
        for child in tasks.read_text().split():
            found += descendants(int(child))
    return found


def memory(process: int) -> int:
    """Read the proportional memory of a process in kB; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def forget(dataset: str) -> None:
    """Remove what was made of a data set before: it would be served again."""
    for kept in ("runs", "results"):
        shutil.rmtree(BUILD / kept / edition_name(dataset), ignore_errors=True)


def measure(
    program: list[str], folder: Path, ends: tuple[int, ...] = (0,)
) -> tuple[float, float, float]:
    """Run a program of Python with no cell stored, in a folder of its own.

    It has to end with one of these codes. Give the seconds on the clock, those of the processor,
    and the peak memory in MB.
    """
    before, started, peak = os.times(), time.perf_counter(), 0.0
    own = {"RECBIAS_CELLS": str(folder / "cells"), "TQDM_DISABLE": "1"}
    run = subprocess.Popen(
        [sys.executable, *program], env=os.environ | own, cwd=folder, stdout=subprocess.DEVNULL
    )
    while run.poll() is None:
        with suppress(OSError):  # a process may end between two looks
            peak = max(peak, sum(memory(each) for each in descendants(run.pid)))
        time.sleep(0.5)
    passed = time.perf_counter() - started
    if run.returncode not in ends:
        sys.exit(f"this failed: {' '.join(program)}")
    after = os.times()
    used = after.children_user + after.children_system
    return passed, used - before.children_user - before.children_system, peak / 1024


def command(*words: str) -> list[str]:
    """Write a command of the package as a program of Python."""
    return ["-c", "from recbias.cli.commands import main; main()", *words]


def main() -> None:
    """Measure and write a row for each size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="*", default=list(WORLDS))
    rows = pd.read_csv(TARGET, index_col="ratings") if TARGET.exists() else pd.DataFrame()
    for size in parser.parse_args().sizes:
        forget(WORLDS[size])
        with tempfile.TemporaryDirectory() as folder:
            chapter = ["run", "01_design_alternatives", "--dataset", WORLDS[size]]
            program = command(*chapter, "--out", str(Path(folder) / "out.html"))
            _, seconds, peak = measure(program, Path(folder))
        row = pd.DataFrame({"cpu_seconds": round(seconds), "peak_mb": round(peak)}, index=[size])
        rows = row.combine_first(rows).sort_index().rename_axis("ratings").astype(int)
        rows.to_csv(TARGET)
        print(row)


if __name__ == "__main__":
    main()
