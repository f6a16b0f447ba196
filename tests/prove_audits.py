"""How often an audit errs: ``python tests/prove_audits.py [--audits N] [--cpu-minutes M]``.

Worlds are drawn in which every preference is known, of three kinds: popular items are liked more
than others, as much, or less; with 150 users and with 600. In each, pairs are drawn of systems that
learn from what was observed, of ones that know tastes, one of them with more noise, both in an
order that is drawn, and pairs that are exchangeable: one recipe with two streams of noise. The
short form of an audit says of each whether "A beats B" holds: the
rule of `recbias.audit.rule`, asked with the reader's own interval and with those of the designs of
`recbias.audit.design.around` that need no further training, samples, gains and weights aside. The
truth is the sign of the difference of P@10 by all preferences; of exchangeable ones it is equality.

The criterion, fixed before its first result: among comparisons in which A is not better, and among
those of exchangeable systems, over worlds of all kinds, "holds" may be said in at most 5 % and
three standard errors. Pairs of one world are not independent, so that standard errors are those of
means over worlds. The rates are printed by size and by kind too, and without the worlds in which
popular items are liked less: there what is observed may order systems otherwise than the truth
does, and no rule that sees the observed alone can know it. Where A is better and it is not said,
what is lacking is counted: who is ahead in what was observed, how surely, and in how many designs.

Worlds that were judged at this revision are kept under ``_build/prove`` and not judged again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self, TextIO

import numpy as np
import numpy.typing as npt

import prove
from recbias import System, load_dataset, run
from recbias._system.streams import stream
from recbias.audit.comparison import Case, asked, lead
from recbias.audit.design import around, own_design
from recbias.audit.rule import SHARE, answer
from recbias.data.ratings import Ratings
from recbias.multiverse import universes
from recbias.recommenders import as_system

BOUND, ERRORS = 0.05, 3
KINDS = {"liked more": 0.7, "liked as much": 0.0, "liked less": -0.5}
"""Of the popular items, and the relation that makes worlds so."""
OPPOSED = "liked less"
SIZES = (150, 600)
"""Users of a world."""
SPLIT = "ratio 0.3"
CROSSED = ("B1", "C1", "C2", "C2 threshold")
SYSTEMS = ("Popularity", "RelevantPopularity", "AverageRating", "Random", "UserKNN",
           "ImplicitItemCosine")  # fmt: skip
NOISES = (0.5, 1.0, 2.0, 4.0)
"""Of systems that know tastes, in stars."""
N_EACH = 2
"""Compared in a world: of systems that learn, of ones that know tastes, of exchangeable ones."""


@dataclass
class Noisy:
    """Numbers of ratings, weighed, and noise of a stream that has a name."""

    salt: int = 0
    weight: float = 1.0
    deterministic = True
    version = "2"

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Count ratings, and give each pair noise of its own."""
        noise = stream(self.salt, "noise").normal(size=(train.n_users, train.n_items))
        self._scores = (self.weight * np.log1p(train.item_counts()) + noise).astype(np.float32)
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Give their rows."""
        return self._scores[users]


@dataclass
class Taste:
    """What users would give each item of a world, and noise."""

    world: str = ""
    salt: int = 0
    noise: float = 1.0
    deterministic = True
    version = "1"

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Look at the truth."""
        truth = load_dataset(self.world).truth
        assert truth is not None
        true = truth.true_rating(np.arange(train.n_users))
        noise = stream(self.salt, "noise").normal(size=true.shape)
        self._scores = (true + self.noise * noise).astype(np.float32)
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Give their rows."""
        return self._scores[users]


def world(kind: str, size: int, number: int) -> str:
    """Name a world."""
    return f"world(relation={KINDS[kind]},users={size},items=120,density=0.1,seed={number + 1})"


def audited(kind: str, size: int, number: int) -> list[dict[str, Any]]:
    """Draw a world, and judge comparisons of two systems, and of exchangeable ones."""
    name = world(kind, size, number)
    dataset = load_dataset(name)
    rng = stream(number, "audits", kind, size)
    systems = [System(each, each) for each in SYSTEMS]
    orders = [(a, b) for a in systems for b in systems if a is not b]
    learned: list[tuple[System, System]] = []
    for place in rng.permutation(len(orders)):
        if len(learned) < N_EACH and orders[place][::-1] not in learned:
            learned.append(orders[place])
    salts = rng.integers(1, 2**31, size=(2 * N_EACH, 2)).tolist()
    knowing = [
        tuple(as_system(Taste(name, salt, noise)).replace(f"taste {noise} {salt}")
              for salt, noise in zip(two, rng.permutation(NOISES).tolist()[:2], strict=True))
        for two in salts[:N_EACH]
    ]  # fmt: skip
    twins = [
        tuple(as_system(Noisy(salt, weight)).replace(f"twin {weight} {salt}") for salt in two)
        for weight, two in zip((0.0, 1.0), salts[N_EACH:], strict=True)
    ]
    design = own_design(dataset, split=SPLIT, seed=number + 1)
    options = around(design, dataset, trainable=False, whole_lists=True)
    short = {
        decision: tuple(text for text in texts if "1R" not in text)
        for decision, texts in options.items()
        if decision in CROSSED
    }
    everybody = [*systems, *(each for two in (*knowing, *twins) for each in two)]
    observed, truth = (
        run(asked(name, everybody, design, Case("", str(design.protocol), "P@10", test), ("P@10",)))
        for test in ("observed", "truth")
    )
    found = []
    groups = {"learned": learned, "tastes": knowing, "twins": twins}
    for group, pair in ((group, pair) for group, pairs in groups.items() for pair in pairs):
        own, true = (lead(results, pair, "P@10") for results in (observed, truth))
        crossed = universes(
            name, *pair, short, start=str(design), seeds=(design.seed,), n_flips=1
        ).shares()
        won, lost = (float(crossed.loc["decisions", which]) for which in ("wins", "loses"))
        found.append(
            {
                "kind": kind,
                "size": size,
                "number": number,
                "pair": [system.name for system in pair],
                "group": group,
                "truth": "equal" if group == "twins" else "better" if true.lead > 0 else "not",
                "true lead": true.lead,
                "lead": [own.lead, own.low, own.high],
                "designs": [won, lost],
                "said": answer(own.low, own.high, won, lost),
            }
        )
    return found


def rate(rows: Iterable[dict[str, Any]], said: str = "holds") -> tuple[int, int]:
    """Count of how many audits one said it."""
    answers = [row["said"] for row in rows]
    return answers.count(said), len(answers)


def error(rows: list[dict[str, Any]], said: str = "holds") -> float:
    """Give the standard error of a share over worlds, whose comparisons go together."""
    share = rate(rows, said)[0] / len(rows)
    beyond: dict[tuple[Any, ...], float] = {}
    for row in rows:
        of = row["kind"], row["size"], row["number"]
        beyond[of] = beyond.get(of, 0.0) + (row["said"] == said) - share
    return math.sqrt(sum(each**2 for each in beyond.values())) / len(rows)


def lacking(row: dict[str, Any]) -> str:
    """Say why "holds" is not said: the first thing that is lacking."""
    _, low, high = row["lead"]
    won, _ = row["designs"]
    if high < 0:
        return "surely behind in what was observed"
    if low > 0:
        return f"surely ahead, and fewer than {SHARE:.0%} of designs won"
    return "no sure lead, designs won" if round(won, 9) >= SHARE else "no sure lead, nor designs"


def judged(rows: list[dict[str, Any]]) -> bool:
    """Print all rates; false if "holds" is wrong too often over worlds of all kinds."""
    passed = True
    for truth in ("better", "not", "equal"):
        of_truth = [row for row in rows if row["truth"] == truth]
        kept = [row for row in of_truth if row["kind"] != OPPOSED]
        parts = {"all kinds": of_truth, f"without {OPPOSED}": kept}
        for group in ("learned", "tastes"):
            parts[group] = [row for row in of_truth if row["group"] == group]
        parts |= {f"{n} users": [row for row in of_truth if row["size"] == n] for n in SIZES}
        parts |= {kind: [row for row in of_truth if row["kind"] == kind] for kind in KINDS}
        for words, part in parts.items():
            n_holds, n_audits = rate(part)
            if not n_audits:
                continue
            share = n_holds / n_audits
            others = [f"{said} {rate(part, said)[0]}" for said in ("does not hold", "open")]
            print(f"A {truth}, {words}: holds {n_holds} of {n_audits} "
                  f"({share:.3f} ± {error(part):.3f}), {', '.join(others)}")  # fmt: skip
            if truth != "better" and words == "all kinds":
                most = BOUND + ERRORS * math.sqrt(BOUND * (1 - BOUND) / n_audits)
                passed &= share <= most
                print(f"  wrong in at most {most:.3f}: {'yes' if share <= most else 'NO'}")
            if truth == "better":
                reasons = [lacking(row) for row in part if row["said"] != "holds"]
                counts = {why: reasons.count(why) for why in sorted(set(reasons))}
                print("  " + "; ".join(f"{why} {count}" for why, count in counts.items()))
    print("passed" if passed else "FAILED")
    return passed


def main() -> int:
    """Judge worlds until there are enough, or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--audits", type=int, default=1000, help="of each truth, at least")
    parser.add_argument("--cpu-minutes", type=float, default=math.inf)
    given = parser.parse_args()
    rows, file = kept_rows("found")
    n_worlds = math.ceil(given.audits / N_EACH / len(KINDS) / len(SIZES))
    every = [(kind, size, n) for n in range(n_worlds) for size in SIZES for kind in KINDS]
    judge_worlds(every, audited, rows, file, given.cpu_minutes)
    return int(not judged(rows))


def judge_worlds(
    every: Iterable[tuple[str, int, int]],
    judge: Callable[[str, int, int], list[dict[str, Any]]],
    rows: list[dict[str, Any]],
    file: TextIO,
    minutes: float,
) -> None:
    """Judge the worlds that were not judged before, each in cells of its own, while time is left.

    What is found is added to the rows and written to the file, all of a world in one write, so
    that a world that is stopped is judged again.
    """
    done = {(row["kind"], row["size"], row["number"]) for row in rows}
    with file:
        for of in every:
            if of in done:
                continue
            if time.process_time() > 60 * minutes:
                print(f"stopped after {minutes} minutes")
                break
            with tempfile.TemporaryDirectory() as folder:
                os.environ["RECBIAS_CELLS"] = folder
                found = judge(*of)
            rows += found
            file.write("".join(json.dumps(row) + "\n" for row in found))
            file.flush()
    print(f"{time.process_time() / 60:.1f} minutes of a processor")


def kept_rows(name: str) -> tuple[list[dict[str, Any]], TextIO]:
    """Read what was found at this revision, and open the file that it goes on in."""
    revision = prove.revision()
    kept = prove.KEPT / "audits" / f"{name}-{revision or 'changed'}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text().splitlines() if kept.is_file() and revision else []
    rows = [json.loads(line) for line in lines]
    return rows, kept.open("a" if rows else "w")


if __name__ == "__main__":
    sys.exit(main())
