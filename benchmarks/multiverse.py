"""How long a multiverse takes whose cells are all there, beside ranx on the same lists.

``python benchmarks/multiverse.py [DATASET]`` compares the nearest neighbours and the matrix
factorisation of CCM20 on five ratio splits of ``ml-1m``, or of another data set, under the default
options of all decisions that train nothing, with one paired test. Cells that are missing are
computed first. In each round one split is measured, then ranx is asked for universes of the same
split, containers included: one metric of both systems in a call, and 30 metrics in a call. Both
sides have one thread in a round, so that a busy machine slows them alike. At last all splits are
measured together by two workers.

A value of ranx is a mean over users with a relevant test item, without standard error or test. What
else is crossed here (who is averaged over, weights, geometric means) it does not have; the fourth
line says how long it would take if those averages of its values came for nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["NUMBA_NUM_THREADS"] = "1"

import numpy as np
import ranx

from recbias import Grid, line_up, load_dataset
from recbias.experiment.cells import grid_cells
from recbias.experiment.reduction import Reader
from recbias.multiverse import default_options, universes

RATIOS = (0.2, 0.35, 0.5, 0.65, 0.8)
CUTOFFS = (1, 3, 5, 10, 20, 50)
METRICS = [f"{name}@{n}" for name in ("precision", "recall", "ndcg", "map", "mrr") for n in CUTOFFS]
ONE_BY_ONE = 3
LISTED = 100


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def lists_of(dataset: str, systems: tuple[Any, ...], split: str) -> list[Any]:
    """Read both systems' lists from the cells, as dictionaries for ranx."""
    label = "AI-AN-AR rel>=4"
    grid = Grid(dataset, systems, label, "ARP@10", split=split)
    return [
        {
            f"u{user}": {f"i{item}": float(LISTED - n) for n, item in enumerate(items) if item >= 0}
            for user, items in enumerate(Reader(cell).positions(grid, label).lists("AI", LISTED))
        }
        for _, cell in grid_cells(grid, load_dataset(dataset), None)
    ]


def judgments_of(dataset: str, systems: tuple[Any, ...], split: str) -> dict[float, Any]:
    """Give qrels for ranx by threshold."""
    grid = Grid(dataset, systems, "AI-AN-AR rel>=4", "P@10", split=split)
    (_, cell), *_ = grid_cells(grid, load_dataset(dataset), None)
    table = Reader(cell).table(grid, "AI-AN-AR rel>=4")
    judged: dict[float, Any] = {threshold: {} for threshold in (3.0, 4.0, 5.0)}
    for user, item, value in zip(table.user, table.item, table.value, strict=True):
        for threshold, of_threshold in judged.items():
            if value >= threshold:
                of_threshold.setdefault(f"u{user}", {})[f"i{item}"] = 1
    return judged


def asked_of_ranx(qrels: Any, runs: list[Any], metrics: list[str]) -> None:
    """Build containers and measure both systems."""
    for run in runs:
        known = {user: run.get(user) or {"none": 1.0} for user in qrels}
        judgments, ranked = ranx.Qrels(qrels), ranx.Run(known)
        ranx.evaluate(judgments, ranked, metrics if len(metrics) > 1 else metrics[0])


def main() -> None:
    dataset = sys.argv[1] if len(sys.argv) > 1 else "ml-1m"
    by_name = {system.name: system for system in line_up("ccm20")}
    systems = by_name["User kNN"], by_name["MF"]
    options = {**default_options(load_dataset(dataset)), "A1": ("",), "D": ("pairs: t",)}
    splits = tuple(f"split: ratio {ratio}" for ratio in RATIOS)
    everything = {**options, "A2": splits}
    one_of_each = {name: everything[name][:1] for name in ("B1", "C2", "C2 gain", "C3", "C4")}
    universes(dataset, *systems, {**everything, **one_of_each}, workers=2)
    rng = np.random.default_rng(1)
    ours, alone, together, tables = [], [], [], []
    for split in splits:
        rule = split.removeprefix("split: ")
        runs, judged = lists_of(dataset, systems, rule), judgments_of(dataset, systems, rule)
        asked_of_ranx(judged[4.0], runs, METRICS)  # compiles
        of_split = {**options, "A2": (split,)}
        seconds, found = timed(lambda asked=of_split: universes(dataset, *systems, asked))
        ours.append(seconds)
        tables.append(found.table["options"])
        for _ in range(ONE_BY_ONE):
            qrels, metric = judged[float(rng.choice([3, 4, 5]))], str(rng.choice(METRICS))
            alone.append(timed(lambda q=qrels, r=runs, m=metric: asked_of_ranx(q, r, [m]))[0])
        together.append(timed(lambda q=judged[4.0], r=runs: asked_of_ranx(q, r, METRICS))[0])
    n_universes, n_means = (sum(map(len, each)) for each in (tables, map(means_of, tables)))
    each = 1e3 * sum(ours) / n_universes
    one, thirty = 1e3 * np.mean(alone), 1e3 * np.mean(together) / len(METRICS)
    print(
        f"{dataset}: {n_universes:,} universes of {len(splits)} splits, two systems; ms a universe"
    )
    for what, milliseconds in (
        ("with standard error, interval and p", each),
        ("ranx, one metric in a call", one),
        (f"ranx, {len(METRICS)} metrics in a call", thirty),
        ("the same, all averages for nothing", thirty * n_means / n_universes),
    ):
        print(f"  {what:36} {milliseconds:8.2f}  x {milliseconds / each:.1f}", flush=True)
    seconds, found = timed(lambda: universes(dataset, *systems, everything, workers=2))
    print(f"  all {len(found.table):,} by two workers: {seconds:.1f} s")


def means_of(options: Any) -> set[str]:
    """Leave out what averages differ by."""
    return set(
        options.str.replace(r" (users|weights|statistic|coverage)=\S+(?=[ ;])", "", regex=True)
    )


if __name__ == "__main__":
    main()
