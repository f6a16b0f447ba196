"""What it takes to verify a result: ``python tests/measure_costs.py DATASET[/RESULT] ...``.

Each is computed anew in a process and folder of its own, two systems of a grid, with one worker;
its seconds of processor time go into ``data/recorded/costs.json``, by which samples of recorded
results are drawn. They need not be exact, nor those of one machine; what is not listed is
estimated. What has taken ten minutes is stopped and listed with these.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = ROOT / "data/recorded"
FILE = RECORDED / "costs.json"
MOST = 600

VERIFY = """
import sys
from recbias.claims import chapters
from recbias.experiment.results import load_result, results_dir
from recbias.experiment.verification import verify

chapters()
dataset, name = sys.argv[1:]
stored = load_result(results_dir(dataset, recorded=True) / name, dataset=dataset)
grid = getattr(stored, "grid", None)
systems = [system.name for system in grid.sample(2).systems] if grid else None
verify(dataset, chosen={name: systems})
"""


def measure(dataset: str, name: str) -> float:
    """Verify a result, and give the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run([sys.executable, "-c", VERIFY, dataset, name], check=True, timeout=MOST)
    except subprocess.TimeoutExpired:
        return float(MOST)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)


def main() -> None:
    """Measure what is named, and renew the file after each."""
    listed = json.loads(FILE.read_text())
    for named in sys.argv[1:]:
        dataset, _, name = named.partition("/")
        folder = RECORDED / dataset
        names = [name] if name else sorted(
            path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.json")
        )  # fmt: skip
        for each in names:
            listed.setdefault(dataset, {})[each] = measure(dataset, each)
            ordered = {one: dict(sorted(listed[one].items())) for one in sorted(listed)}
            FILE.write_text(json.dumps(ordered, indent=1) + "\n")
            print(f"{dataset}/{each}: {listed[dataset][each]} s", flush=True)


if __name__ == "__main__":
    main()
