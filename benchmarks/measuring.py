"""How long a grid takes whose cells are all there, beside reading what it reads.

``python benchmarks/measuring.py [DATASET]`` runs the main grid of chapter 1 (ten systems, five
folds, seven protocols, 20 metrics, paired tests) on ``synthetic``, or on a data set from the folder
that RECBIAS_DATA names. Cells that are missing are computed first. Both are timed in turn, so that
a busy machine slows them alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

from recbias import Grid, line_up, load_dataset, run
from recbias.book.chapters.design_alternatives import setup
from recbias.data.datasets import top_rating
from recbias.experiment.cells import grid_cells
from recbias.experiment.store import read_arrays

REPEATS = 5
SIZE, CUTOFF = 100, 10


def main_grid(dataset: str) -> Grid:
    """Build the grid as the chapter does."""
    precision = f"P@{CUTOFF}"
    liked = top_rating(dataset)
    n_sampled = setup.largest_sample(dataset, SIZE, min_rating=liked, split="k-fold 5", seed=1)
    asked = setup.protocols(liked, size=SIZE, n_sampled=n_sampled)
    return Grid(
        dataset,
        line_up("bcc17"),
        asked,
        {
            "AR": (precision, f"R@{CUTOFF}", f"nDCG@{CUTOFF}", "AP", "RR", "rho"),
            "AI": (precision, "rho"),
            "R_test": (precision,),
            "NN": (precision, "rho"),
            "1R": (precision, "RR", "rho"),
            "shared": (precision, f"lower@{CUTOFF}", f"upper@{CUTOFF}"),
            "all-1R": [f"{name}@{CUTOFF}|t={SIZE}" for name in ("P", "lower", "upper")],
        },
        compare=(("AR", precision), ("1R", precision)),
    )


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    dataset = sys.argv[1] if len(sys.argv) > 1 else "synthetic"
    grid = main_grid(dataset)
    run(grid, workers=2)
    cells = grid_cells(grid, load_dataset(dataset), None)

    def read() -> None:
        for _, cell in cells:
            for artefact in cell.artefacts:
                read_arrays(cell.path(artefact), key=cell.key(artefact))

    seconds = [(timed(read), timed(lambda: run(grid, workers=2))) for _ in range(REPEATS)]
    reading, measuring = (median(times) for times in zip(*seconds, strict=True))
    print(f"{dataset}: {len(cells)} cells, {len(grid.by_label)} protocols, median of {REPEATS}")
    print(f"  read every array, one process {reading:7.2f} s")
    print(
        f"  the grid, two workers         {measuring:7.2f} s, {measuring / reading:.1f} x reading"
    )


if __name__ == "__main__":
    main()
