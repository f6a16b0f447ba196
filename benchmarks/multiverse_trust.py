"""How often options of an evaluation agree with the truth, and what *robust* means then.

``RECBIAS_DATA=FOLDER python benchmarks/multiverse_trust.py [STEP ...]`` writes to
``data/evaluation`` in three steps, ``learn``, ``apart`` and ``data``. A fourth prints:

``multiverse_trust.csv``  of worlds to learn from, by kind and option or pair of options: sums over
                          worlds of the share of right comparisons and of effects, with squares
``multiverse_apart.csv``  of worlds kept apart, a row a comparison: the truth, and in which share of
                          the universes who wins, by weights
``multiverse_data.csv``   of CM100k and Coat, whose judgments of random items are held out of all
                          training and testing: the same rows
``systems``               what is called robust, and is true, of pairs of ten systems in the worlds
                          kept apart, by how many of the two were learned from

Kinds, systems, options, seeds and rules are in `recbias.multiverse.kinds`, and were committed
before the first result. In the data, truth and universes have splits in common, as what is held out
goes with the split.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recbias import load_dataset
from recbias.data.datasets.liked import step_below_top
from recbias.multiverse import default_options
from recbias.multiverse.agreement import effects, right, tried_signs, true_signs
from recbias.multiverse.kinds import KINDS, compared, drawn, place_of
from recbias.multiverse.weights import called_robust, learned, summed, weigh
from recbias.recommenders import System
from recbias.trust import compared_systems

FOLDER = Path(__file__).parents[1] / "data" / "evaluation"
LIKED = 4
N_DRAWS = 6
HELD = "held=5"


def others(seed: int) -> tuple[int, int]:
    return seed + 1_000_000, seed + 2_000_000


def learned_in(world: str, seed: int) -> pd.DataFrame:
    options = default_options(load_dataset(world))
    systems = compared(LIKED)
    truths = true_signs(world, systems, "truth", f"AI-AN-AR rel>={LIKED}", others(seed))
    tried = tried_signs(world, systems, drawn(options, seed), seed)
    shares = right(tried, [truth.p for truth in truths])
    return effects(tried, shares, options, LIKED)


def compared_in(
    data: str, seeds: tuple[int, ...], draw: int, liked: float, tests: tuple[str, str],
    kinds: dict[str, tuple[Any, Any]], systems: tuple[System, ...] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    options = default_options(load_dataset(data))
    if tests[0] != "observed":  # nothing can be selected from what is held out
        options["A1"] = ("",)
    options = drawn(options, draw)
    systems = compared(liked) if systems is None else systems
    seed, *of_truth = seeds
    observed, true = tests
    lists = f"AI-AN-AR rel>={liked:g}"
    truths = true_signs(data, systems, true, lists, of_truth or seeds)
    start = f"split: ratio 0.2; test: {observed}; lists: {lists}; metric: P@10"
    tried = tried_signs(data, systems, options, seed, start=start)
    known = ~np.isnan(tried.signs[0])
    rows = []
    for truth, signs in zip(truths, tried.signs, strict=True):
        row: dict[str, Any] = truth._asdict() | {"P": truth.p, "nDCG": truth.ndcg}
        for name, (of_kinds, sums) in kinds.items():
            weights = None if of_kinds is None else weigh(options, liked, of_kinds, sums)
            weights = np.ones(known.shape) if weights is None else weights
            for word, sign in (("wins", 1), ("loses", -1)):
                share = np.average(signs[known] == sign, weights=weights[known])
                row[f"{word}, {name}"] = round(float(share), 4)
        rows.append({name: row[name] for name in row if name not in ("p", "ndcg")})
    return rows


def learn() -> None:
    of_worlds = []
    for kind in KINDS:
        for world, seed in kind.worlds().items():
            of_worlds.append((kind, learned_in(world, seed)))
            print(world, file=sys.stderr, flush=True)
    summed(of_worlds).round(6).to_csv(FOLDER / "multiverse_trust.csv", lineterminator="\n")


def in_worlds_apart(systems: tuple[System, ...]) -> pd.DataFrame:
    sums, rows = learned(), []
    for kind in KINDS:
        elsewhere = sums[[key[:2] != kind for key in sums.index]]
        kinds = {"trust": ([kind], sums), "other kinds": ([], elsewhere), "alike": (None, None)}
        for world, seed in kind.worlds(apart=True).items():
            seeds = seed, *others(seed)
            found = compared_in(world, seeds, seed, LIKED, ("observed", "truth"), kinds, systems)
            rows += [{**kind._asdict(), "world": seed, **row} for row in found]
            print(world, file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def keep_apart() -> None:
    apart = in_worlds_apart(compared(LIKED))
    apart.to_csv(FOLDER / "multiverse_apart.csv", index=False, lineterminator="\n")


def judge_systems() -> None:
    apart = in_worlds_apart(compared_systems(LIKED))
    known = {system.name for system in compared(LIKED)}
    n_known = apart["a"].isin(known).astype(int) + apart["b"].isin(known)
    for weights in ("trust", "other kinds", "alike"):
        for n, pairs in apart.groupby(n_known):
            called = called_robust(pairs, KINDS, weights)
            print(f"{weights:12}{n} known: {called.right} of {called.n} called, {len(pairs)} pairs")


def judge_data() -> None:
    sums, rows = learned(), []
    for data in ("cm100k", "coat"):
        ratings = load_dataset(data).ratings
        liked = step_below_top(ratings.scale, ratings.value)
        kinds = {"trust": (list(place_of(ratings, liked).kinds), sums), "alike": (None, None)}
        tests = f"observed {HELD}", f"unbiased train=observed {HELD}"
        for draw in range(1, 1 + N_DRAWS):
            found = compared_in(data, (1,), draw, liked, tests, kinds)
            rows += [{"data": data, "draw": draw, **row} for row in found]
            print(data, draw, file=sys.stderr, flush=True)
    pd.DataFrame(rows).to_csv(FOLDER / "multiverse_data.csv", index=False, lineterminator="\n")


STEPS = {"learn": learn, "apart": keep_apart, "data": judge_data, "systems": judge_systems}


if __name__ == "__main__":
    for step in sys.argv[1:] or STEPS:
        STEPS[step]()
