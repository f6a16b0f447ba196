"""Run every page on tables of every kind by the real command: ``python tests/prove_tables.py``.

Each scale of ratings crossed with each shape of `tests/odd_tables.py`, on the eight chapters and
the page of the systems. A run has to leave a complete page, or to be refused before a kernel
starts: with exit code 2, for a reason of the closed list in `book/rerun.md`, and without a file.
The options ``--page``, ``--scale`` and ``--shape`` choose among them; all of them take some 20 s of
a processor each, more than an hour on two.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import nbformat

from odd_pages import PAGES, REFUSALS, check_faults, faults
from odd_tables import SCALES, SHAPES, odd_table


def outcome(page: str, table: Path) -> str:
    """Run a page on a table and say what came of it; a word in capitals if it must not be."""
    out = table.parent / "out" / f"{page}.html"
    command = [sys.executable, "-m", "recbias_command", "run", page, "--dataset", table.name]
    command += ["--out", str(out), "-p", "workers", "1"]
    done = subprocess.run(command, cwd=table.parent, capture_output=True, text=True, check=False)
    if done.returncode == 2:
        left = [each for each in table.parent.rglob("*") if each.is_file() and each != table]
        reason = next((each for each in REFUSALS if re.search(REFUSALS[each], done.stderr)), None)
        if left or reason is None:
            return f"WRONGLY REFUSED, {len(left)} files left: {done.stderr.strip()}"
        return f"refused: {reason}"
    if done.returncode:
        return f"STOPPED with exit code {done.returncode}: {done.stderr.strip()[-2000:]}"
    shown, notebook = out.read_text(encoding="utf-8"), out.with_suffix(".ipynb")
    if found := faults(nbformat.read(notebook, as_version=4), shown):
        return f"INCOMPLETE: {'; '.join(found)}"
    return f"complete; {done.stdout.splitlines()[-1]}"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--page", action="append", choices=PAGES)
    asked.add_argument("--scale", action="append", choices=SCALES)
    asked.add_argument("--shape", action="append", choices=SHAPES)
    asked.add_argument("--seed", type=int, default=1, help="of the tables")
    asked.add_argument("--decimal-ids", action="store_true", help="whole numbers written as 1.0")
    given = asked.parse_args()
    check_faults()
    started = time.perf_counter()
    os.environ.pop("RECBIAS_DATA", None)

    def prove(run: tuple[str, str, str]) -> bool:
        shape, scale, page = run
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / f"{scale}-{shape}.csv"
            frame = odd_table(scale, shape, seed=given.seed, decimal_ids=given.decimal_ids)
            frame.to_csv(table, index=False)
            came = outcome(page, table)
        print(f"{shape}: {scale}: {page}: {came}", flush=True)
        return not came.split(maxsplit=1)[0].isupper()

    runs = list(product(given.shape or SHAPES, given.scale or SCALES, given.page or PAGES))
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        kept = list(executor.map(prove, runs))
    bad = kept.count(False)
    print(f"{len(runs)} runs, {bad} not as promised; {time.perf_counter() - started:.0f} s")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
