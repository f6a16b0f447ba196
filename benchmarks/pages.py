"""Pages from recorded results: processor time of each chapter, of an import, of a first measure.

Run ``python benchmarks/pages.py [CHAPTER]...`` (two minutes on an idle core); no data are needed.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from recbias.book.notebooks import list_chapters

_MEASURE = """
import pandas as pd
from recbias import measure
from recbias.metrics import AP, P, RR, nDCG

run = pd.DataFrame({"user_id": [1, 1, 2], "item_id": list("aba"), "score": [0.9, 0.1, 0.5]})
judgments = pd.DataFrame({"user_id": [1, 2, 3], "item_id": list("aab"), "rating": [4, 5, 3]})
print(measure(run, judgments, [P @ 10, RR, nDCG("linear") @ 10, AP]))
"""
STARTS = {"import recbias": ("import recbias", 0.5), "first `measure`": (_MEASURE, 2.0)}
GOAL, REPEATS = 5.0, 3


def processor_time(*command: str, **changed: str) -> float:
    """Run Python anew, and add up what it and its processes took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # A reader's Python keeps what it compiled.
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"RECBIAS_DATA": "", "OPENBLAS_NUM_THREADS": "1", **changed}
    subprocess.run([sys.executable, *command], env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def chapter_time(name: str) -> float:
    """Make a page of MovieLens 1M in a fresh cache, where none is kept."""
    with tempfile.TemporaryDirectory() as folder:
        page = str(Path(folder, "page.html"))
        command = ("-m", "recbias_command", "run", name, "--dataset", "ml-1m", "--out", page)
        return processor_time(*command, XDG_CACHE_HOME=folder)


def main() -> None:
    for what, (code, goal) in STARTS.items():
        best = min(processor_time("-c", code) for _ in range(1 + REPEATS))
        print(f"{what:34} {best:5.2f} s (goal: {goal} s)", flush=True)
    for name in sys.argv[1:] or [each.name for each in list_chapters() if each.name[0].isdigit()]:
        best = min(chapter_time(name) for _ in range(REPEATS))
        print(f"{name:34} {best:5.1f} s (goal: {GOAL} s)", flush=True)


if __name__ == "__main__":
    main()
