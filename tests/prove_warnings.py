"""How often warnings of an audit err: ``python tests/prove_warnings.py [--worlds N] [--first M]``.

In each world every fault that `recbias.audit.signals` looks for is planted, and beside it what
looks alike and is none; the warning is asked of both. Kinds and sizes of worlds are those of
``prove_audits``; times are drawn, as worlds have none. Whether a warning that fires is right is
known by how the case was made, and by nothing that the warning sees.

The criterion, fixed before its first result: where nothing was planted a warning fires in at most
5 % of the worlds and three standard errors; where a fault was planted it fires in at least 95 %
less three standard errors. Cases in brackets lie between, or plant a fault that shows less: they
are counted, and nothing is demanded of them. Rates have 95 % intervals of Wilson; worlds are
independent, and a case is one per world.

Worlds that were judged at this revision are kept under ``_build/prove`` and not judged again.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binomtest

from prove_audits import KINDS, SIZES, SPLIT, Noisy, Taste, judge_worlds, kept_rows, world
from recbias import System, load_dataset, run
from recbias._system.streams import stream
from recbias.audit import signals
from recbias.audit.comparison import (
    HEADLESS,
    Case,
    Comparison,
    Difference,
    asked,
    beside,
    cases,
    lead,
)
from recbias.audit.design import own_design
from recbias.data.datasets import Dataset
from recbias.data.datasets.frames import frame_of
from recbias.data.ratings import Ratings
from recbias.errors import DataWarning
from recbias.experiment.options import Options
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import FromScores, as_system

LEVEL, ERRORS = 0.05, 3
PLANTED, NONE, BETWEEN = "planted", "none", "(between)"
LIKED = 4
FULL = f"AI-AN-AR rel>={LIKED}"
DEPTH = 10


@dataclass
class Lifted:
    """Noise, and popular items above all others where they are lifted."""

    salt: int = 0
    lift: float = 0.0
    deterministic = True
    version = "1"

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Find the most popular tenth."""
        counts = train.item_counts()
        head = np.argsort(-counts, kind="stable")[: len(counts) // 10]
        noise = stream(self.salt, "noise").normal(size=(train.n_users, train.n_items))
        noise[:, head] += self.lift
        self._scores = noise.astype(np.float32)
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Give their rows."""
        return self._scores[users]


@dataclass
class Coarse:
    """Two levels, drawn for each item, or for each user and item."""

    salt: int = 0
    personal: bool = False
    deterministic = True
    version = "1"

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Draw the levels."""
        shape = (train.n_users if self.personal else 1, train.n_items)
        levels = stream(self.salt, "levels").integers(0, 2, shape).astype(np.float32)
        self._levels = np.broadcast_to(levels, (train.n_users, train.n_items))
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Give their rows."""
        return self._levels[users]


@dataclass
class Place:
    """A world, the reader's design in it, and what is known of its test."""

    name: str
    dataset: Dataset
    design: Options
    rng: np.random.Generator

    def own(self, pair: Sequence[System], design: Options | None = None) -> Any:
        """Measure a pair under a design."""
        design = design or self.design
        case = Case("own", str(design.protocol), str(design.measured))
        return run(asked(self.name, pair, design, case, (case.metric,)))

    def asks(self, pair: tuple[System, System]) -> Comparison:
        """Put a comparison together."""
        return Comparison(self.name, pair, self.design)

    def ahead(self, pair: tuple[System, System], design: Options | None = None) -> Difference:
        """Give the lead under a design."""
        return lead(self.own(pair, design), pair, str((design or self.design).measured))

    def salt(self) -> int:
        """Draw a salt."""
        return int(self.rng.integers(1, 2**31))


Judged = tuple[str, str, str, Any]
"""Warning, case, what was planted, the signal; or nothing where the case does not arise."""


def in_time(at: Place) -> Iterator[Judged]:
    """Split ratings with times at random, and by one moment; and ratings of one moment."""
    frame = frame_of(at.dataset.ratings)
    for words, times, rule, planted in (
        ("split at random, times over years", 10**8, SPLIT, PLANTED),
        ("split by one moment", 10**8, "temporal 0.3", NONE),
        ("split at random, all of one moment", 1, SPLIT, NONE),
    ):
        timed = load_dataset(frame.assign(timestamp=at.rng.integers(0, times, len(frame))))
        splits = dataset_splits(timed, rule, seed=at.design.seed)
        yield "future", words, planted, signals.timed(timed, splits)


def known_test(at: Place) -> Iterator[Judged]:
    """Put what is tested on top, all of it or half; train on it; and real systems, which do not."""
    (split,) = dataset_splits(at.dataset, SPLIT, seed=at.design.seed)
    base = Noisy(at.salt()).fit(split.train).score(np.arange(split.train.n_users))
    test = np.zeros(base.shape, dtype=bool)
    test[split.test.user, split.test.item] = True
    liked, other = np.zeros_like(test), np.zeros_like(test)
    good = split.test.value >= LIKED
    liked[split.test.user[good], split.test.item[good]] = True
    other[split.test.user[~good], split.test.item[~good]] = True
    half = test & (at.rng.random(test.shape) < 0.5)
    everything = System("UserKNN", "UserKNN").build().fit(at.dataset.ratings)
    on_all = everything.score(np.arange(split.train.n_users))
    given = [
        ("all test ratings on top", base + 99 * test, PLANTED),
        ("what is liked of them on top, the rest last", base + 99 * liked - 99 * other, PLANTED),
        ("half of them on top", base + 99 * half, BETWEEN),
        ("kNN trained on the test too", on_all, BETWEEN),
        ("popularity and noise", base, NONE),
    ]
    systems = [(words, scored(at, scores, words), planted) for words, scores, planted in given]
    systems += [(name, System(name, name), NONE)
                for name in ("UserKNN", "ImplicitItemCosine", "RelevantPopularity")]  # fmt: skip
    rival = System("AverageRating", "AverageRating")
    for words, system, planted in systems:
        pair = system, rival
        found = signals.seen(lists(at, pair)[0], DEPTH, [split], pair, LIKED)
        yield "test known", words, planted, found


def lists(at: Place, pair: tuple[System, System]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Measure what lists hold, and keep what is said meanwhile."""
    names = (f"judged@{DEPTH}", f"antiP@{DEPTH}", f"Served@{DEPTH}")
    everybody = [*pair, *beside(pair, at.design)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        values = run(asked(at.name, everybody, at.design, Case("", FULL, "P@10"), names)).values
    said = [str(each.message).partition("\n")[0] for each in caught
            if issubclass(each.category, DataWarning)]  # fmt: skip
    of = {name: values[values["metric"] == name] for name in names}
    return {
        n: dict(zip(rows["system"], rows["value"], strict=True)) for n, rows in of.items()
    }, said


def scored(at: Place, scores: npt.NDArray[Any], name: str, length: int = 0) -> System:
    """Hand scores in as another program does; with a length only the first of each list."""
    ids, items = at.dataset.ratings.user_ids, at.dataset.ratings.item_ids
    if not length:
        pairs = {"user_id": np.repeat(ids, len(items)), "item_id": np.tile(items, len(ids))}
        frame = pd.DataFrame({**pairs, "score": scores.ravel()}).dropna()
    else:
        (split,) = dataset_splits(at.dataset, SPLIT, seed=at.design.seed)
        free = scores.astype(np.float64)
        free[split.train.user, split.train.item] = -np.inf
        first = np.argsort(-free, axis=1, kind="stable")[:, :length]
        frame = pd.DataFrame({"user_id": np.repeat(ids, length),
                              "item_id": np.asarray(items)[first.ravel()],
                              "rank": np.tile(np.arange(1, length + 1), len(ids))})  # fmt: skip
    return as_system(FromScores(frame)).replace(name)


def short_lists(at: Place) -> Iterator[Judged]:
    """End lists before the depth that is looked at, at it, and beyond."""
    (split,) = dataset_splits(at.dataset, SPLIT, seed=at.design.seed)
    scores = Noisy(at.salt()).fit(split.train).score(np.arange(split.train.n_users))
    for length, planted in ((5, PLANTED), (9, PLANTED), (10, NONE), (50, NONE)):
        pair = scored(at, scores, "mine", length), System("Popularity", "Popularity")
        values, said = lists(at, pair)
        found = signals.short(values, DEPTH, said, pair)
        yield "short", f"lists of {length} at {DEPTH}", planted, found
    pair = System("UserKNN", "UserKNN"), System("Popularity", "Popularity")
    values, said = lists(at, pair)
    yield "short", "lists of the package", NONE, signals.short(values, DEPTH, said, pair)


def left_out(at: Place) -> Iterator[Judged]:
    """Average over all users, over those with likes in the test, and over a part."""
    splits = dataset_splits(at.dataset, SPLIT, seed=at.design.seed)
    pair = System("Popularity", "Popularity"), System("Random", "Random")
    active = int(np.median(splits[0].train.user_counts()))
    for words, planted in (("", NONE), (" users=relevant", BETWEEN),
                           (f" users=trained>={active}", PLANTED)):  # fmt: skip
        design = own_design(at.dataset, f"{FULL}{words}", split=SPLIT, seed=at.design.seed)
        found = signals.dropped(at.own(pair, design), design, splits)
        case = "users above the median" if planted == PLANTED else words.strip() or "all users"
        yield "left out", case, planted, found


def headless(at: Place) -> Iterator[Judged]:
    """Lift the most popular tenth and nothing else; know tastes; and Popularity itself.

    Asked where there is a sure lead, as without one there is none to explain.
    """
    noise = as_system(Lifted(at.salt())).replace("noise")
    case = next(each for each in cases(at.design, whole_lists=True) if each.words == HEADLESS)
    for words, system, planted in (
        ("the head lifted", as_system(Lifted(at.salt(), 9.0)), PLANTED),
        ("knows tastes", as_system(Taste(at.name, at.salt(), 1.0)), NONE),
        ("Popularity", System("Popularity", "Popularity"), BETWEEN),
    ):
        pair = system.replace("mine"), noise
        own = at.ahead(pair)
        if not own.low > 0:
            continue
        rest = lead(run(asked(at.name, pair, at.design, case, (case.metric,))), pair, case.metric)
        found = signals.popular(own, {"lead": rest._asdict()})
        yield "popular", words, planted, found


def ties(at: Place) -> Iterator[Judged]:
    """Two systems of two levels each, whose lists are drawn; and scores without ties.

    Levels of users tell almost nothing, so that the draw decides. Levels of items tell which half
    is better: there a lead may be theirs.
    """
    for words, pair, planted in (
        ("levels of users", (Coarse(at.salt(), True), Coarse(at.salt(), True)), PLANTED),
        ("levels of items", (Coarse(at.salt()), Coarse(at.salt())), BETWEEN),
        ("popularity and noise", (Noisy(at.salt(), 1.0), Noisy(at.salt(), 0.0)), NONE),
        ("Popularity, Random", ("Popularity", "Random"), NONE),
    ):
        first, second = (
            System(each, each) if isinstance(each, str) else as_system(each) for each in pair
        )
        both = first.replace("a"), second.replace("b")
        found = signals.tied(at.asks(both), at.ahead(both))
        yield "ties", words, planted, found


def settings(at: Place) -> Iterator[Judged]:
    """A baseline of one neighbour; and the best of a grid, chosen on another split.

    The grid goes beyond what worlds have of users, as one that ends below is not tuned.
    """
    first = System("mine", "ImplicitItemCosine")
    grid = [System(f"{n}", "UserKNN", {"n_neighbours": n, "encoding": "binary-pos>=4"})
            for n in (5, 20, 80, 320, 1280)]  # fmt: skip
    other = own_design(at.dataset, FULL, split=SPLIT, seed=at.design.seed + 10**6)
    results = at.own(grid, other)
    best = max(grid, key=lambda each: results[each.name, "case", "P@10"].value)
    bad = System("bad", "UserKNN", {"n_neighbours": 1, "encoding": "binary-pos>=4"})
    tuned = "the best of a grid, by another split"
    for words, rival, planted in (("one neighbour", bad, PLANTED), (tuned, best, NONE)):
        pair = first, rival.replace("rival")
        found = signals.untuned(at.asks(pair), at.ahead(pair))
        yield "untuned", words, planted, found


def often(at: Place) -> Iterator[Judged]:
    """Ask for 3 settings of one algorithm on the same folds, and for 12."""
    with tempfile.TemporaryDirectory() as folder:
        before, os.environ["RECBIAS_CELLS"] = os.environ["RECBIAS_CELLS"], folder
        try:
            grid = [System(f"{n}", "UserKNN", {"n_neighbours": n}) for n in range(3, 15)]
            pair = grid[0], System("Random", "Random")
            for n, planted in ((3, NONE), (12, PLANTED)):
                at.own(grid[:n])
                found = signals.asked_often(at.asks(pair))
                yield "tuned", f"{n} settings", planted, found
        finally:
            os.environ["RECBIAS_CELLS"] = before


LOOKED = (in_time, known_test, short_lists, left_out, headless, ties, settings, often)


def warned(kind: str, size: int, number: int) -> list[dict[str, Any]]:
    """Plant all faults in a world, and ask the warnings."""
    name = world(kind, size, number)
    dataset = load_dataset(name)
    design = own_design(dataset, FULL, split=SPLIT, seed=number + 1)
    at = Place(name, dataset, design, stream(number, "warnings", kind, size))
    return [
        {"kind": kind, "size": size, "number": number, "warning": warning, "case": case,
         "planted": planted, "fires": found.fires, "evidence": found.evidence}
        for look in LOOKED for warning, case, planted, found in look(at)
    ]  # fmt: skip


def judged(rows: list[dict[str, Any]]) -> bool:
    """Print a line per case; false if one is beyond the criterion."""
    passed = True
    by_case: dict[tuple[str, str, str], list[bool]] = {}
    for row in rows:
        by_case.setdefault((row["warning"], row["case"], row["planted"]), []).append(row["fires"])
    for (warning, case, planted), fires in by_case.items():
        n, k = len(fires), sum(fires)
        interval = binomtest(k, n).proportion_ci(method="wilson")
        allowed = LEVEL + ERRORS * math.sqrt(LEVEL * (1 - LEVEL) / n)
        fine = {PLANTED: n - k, NONE: k}.get(planted, 0) / n <= allowed
        passed &= fine
        print(f"{warning}: {case}, {planted}: fires in {k} of {n} "
              f"({k / n:.3f}, {interval.low:.3f} to {interval.high:.3f})"
              f"{'' if fine else '  BEYOND'}")  # fmt: skip
    print("passed" if passed else "FAILED")
    return passed


def main() -> int:
    """Judge worlds until there are enough, or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--worlds", type=int, default=102)
    parser.add_argument("--first", type=int, default=0, help="number of the first: other seeds")
    parser.add_argument("--cpu-minutes", type=float, default=math.inf)
    given = parser.parse_args()
    rows, file = kept_rows(f"warned-{given.first}")
    n_each = math.ceil(given.worlds / len(KINDS) / len(SIZES))
    every = [(kind, size, given.first + n)
             for n in range(n_each) for size in SIZES for kind in KINDS]  # fmt: skip
    judge_worlds(every, warned, rows, file, given.cpu_minutes)
    return int(not judged(rows))


if __name__ == "__main__":
    sys.exit(main())
