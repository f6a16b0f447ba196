"""One digest for a small experiment: ``python tests/digest.py TABLE WORKERS [GO]`` prints it.

WORKERS is a number of processes, or the address or file of a scheduler.

With GO, a path, the run starts once a file of that name exists, so that two can start at once.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

from recbias import Grid, Results, System, run

SYSTEMS = (
    System("Random", "Random", n_seeds=3),
    System("Popularity", "Popularity"),
    System("kNN", "UserKNN", {"n_neighbours": 20}),
    System("MF", "WeightedMF", {"n_factors": 8}),
)


def small_grid(table: Path) -> Grid:
    """Ask for 18 cells with 36 artefacts: full and sampled targets, thinned tests, both units."""
    return Grid(
        str(table),
        SYSTEMS,
        {
            "AR": "TI-AN-AR rel>=5",
            "1R": "TI-NN-1R t=20 rel>=5",
            "thin": "TI-AN-AR rel>=5 users=relevant",
        },
        {
            "AR": ("P@10", "nDCG@10", "rho", "Gini@10", "ARP@10"),
            "1R": ("P@10", "RR"),
            "thin": ("R@10",),
        },
        split="k-fold 3",
        seed=5,
        compare=(("AR", "P@10"), ("1R", "P@10"), ("thin", "R@10")),
        tests={"thin": "removed=40%"},
    )


def digest_of(results: Results) -> str:
    """Digest all numbers of some results, to the last bit; not their dataset's path, nor time."""
    content = hashlib.sha256()
    for frame in (results.values, results.tests):
        for column in frame:
            numbers = frame[column].to_numpy()
            numeric = numbers.dtype.kind in "biuf"
            content.update(str(column).encode())
            content.update(numbers.tobytes() if numeric else "|".join(numbers).encode())
    for row in sorted(results.replicates):
        content.update(results.replicates[row].tobytes())
    return content.hexdigest()


def main() -> None:
    table, workers, *go = sys.argv[1:]
    while go and not Path(go[0]).exists():
        time.sleep(0.001)
    results = run(small_grid(Path(table)), workers=int(workers) if workers.isdigit() else workers)
    print(digest_of(results), results.times["computed"])


if __name__ == "__main__":
    main()
