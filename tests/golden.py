"""What a whole experiment computes on a small world, from the table to the values.

``python tests/golden.py`` renews ``golden.json``. Do so only together with a raised revision of
what changed (golden_components.py and golden_algorithms.py tell), renewed recorded
results and an entry in data/published/CHANGES.md.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd

from recbias import Grid, line_up, run
from recbias.data.simulation import make_world
from recbias.recommenders import bcc17_grid, merged_star_variants

FILE = Path(__file__).with_name("golden.json")


def small_table(folder: Path) -> Path:
    """Write a world of 120 users and 150 items as a CSV file."""
    ratings = make_world(seed=7, n_users=120, n_items=150, n_ratings=1700).ratings
    frame = pd.DataFrame(
        {
            "user_id": ratings.user_ids[ratings.user],
            "item_id": ratings.item_ids[ratings.item],
            "rating": ratings.value,
        }
    )
    path = folder / "small.csv"
    frame.to_csv(path, index=False)
    return path


def compute(folder: Path, names: Collection[str] = ()) -> dict[str, float]:
    """Measure every system, or those that are named, and protocol of the chapters on the world."""
    # implicit's ALS calls BLAS in float32, whose kernels differ between processors: on one of them
    # 25 of its values are other ones, and no number of digits hides that.
    line = tuple(system for system in line_up("bcc17") if system.algorithm != "ImplicitALS")
    extremes = [system for part in ("knn-rating", "mf-rating", "knn-ranking", "mf-ranking")
                for system in (bcc17_grid(part)[0], bcc17_grid(part)[-1])]  # fmt: skip
    systems = (*line, *extremes, *merged_star_variants(line, values=(1,)))
    systems = tuple(system for system in systems if not names or system.name in names)
    shared = "TI-NN-1R-shared t={} rel>=5"
    sizes = {"removed 0%": 20, "removed 60%": 20, "t=20": 20, "t=60": 60}
    thinned = {label: shared.format(size) for label, size in sizes.items()}
    asked = {
        "AR": "TI-AN-AR rel>=5",
        "AI": "AI-AN-AR rel>=5",
        "R_test": "TI-AN-AR rel>=5 condensed",
        "NN": "TI-NN-AR N=40 rel>=5",
        "1R": "TI-NN-1R t=20 rel>=5",
        "shared": shared.format(20),
        "all-1R": "TI-AN-1R rel>=5",
        **thinned,
    }
    bounds = ("P@10", "lower@10", "upper@10")
    metrics = {
        **dict.fromkeys(asked, ("P@10", "rho")),
        **dict.fromkeys(thinned, bounds),
        "AR": ("P@10", "R@10", "nDCG@10", "AP", "RR", "antiP@10", "rho"),
        "shared": bounds,
        "all-1R": ("P@10|t=20", "lower@10|t=20", "upper@10|t=20"),
    }
    grid = Grid(
        str(small_table(folder)),
        systems,
        asked,
        metrics,
        split="k-fold 2",
        seed=3,
        tests={"removed 60%": "removed=60%"},
    )
    values = run(grid).values
    names = values[["system", "label", "metric"]].agg(" | ".join, axis=1)
    return dict(zip(names, values["value"], strict=True))


def digits(value: float) -> float:
    """Keep nine significant digits: fewer than processors differ in, more than any change hides."""
    return float(np.format_float_scientific(value, precision=8))


def main() -> None:
    """Renew the file."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RECBIAS_CELLS"] = str(Path(folder) / "cells")
        values = {name: digits(value) for name, value in compute(Path(folder)).items()}
    FILE.write_text(json.dumps(values, indent=0) + "\n")


if __name__ == "__main__":
    main()
