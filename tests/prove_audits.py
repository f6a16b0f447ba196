"""How often an audit errs: ``python tests/prove_audits.py [--audits N] [--cpu-minutes M]``.

Worlds are drawn in which every preference is known, of three kinds: popular items are liked more
than others, as much, or less. In each two systems are compared that are learned from what was
observed, in an order that is drawn, and two that are exchangeable: one recipe with two streams of
noise. The short form of an audit says of each whether "A beats B" holds: the rule of
`recbias.audit.rule`, asked with the reader's own interval and with those of the designs of
`recbias.audit.design.around` that need no further training, samples, gains and weights aside. The
truth is the sign of the difference of P@10 by all preferences; of exchangeable ones it is equality.

The criterion, fixed before its first result: among comparisons in which A is not better, and among
those of exchangeable systems, over worlds of all kinds, "holds" may be said in at most 5 % and
three standard errors. The rates are printed by kind too, and without the worlds in which popular
items are liked less: there what is observed may order systems otherwise than the truth does, and
no rule that sees the observed alone can know it. One of the warnings, users who are left out, is
counted where its fault was planted and where it was not.

Audits that were made at this revision are kept under ``_build/prove`` and not made again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import prove
from recbias import System, load_dataset, run
from recbias._system.streams import stream
from recbias.audit import signals
from recbias.audit.comparison import Case, asked, lead
from recbias.audit.design import around, own_design
from recbias.audit.rule import answer
from recbias.data.ratings import Ratings
from recbias.multiverse import universes
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import as_system

BOUND, ERRORS = 0.05, 3
KINDS = {"liked more": 0.7, "liked as much": 0.0, "liked less": -0.5}
"""Of the popular items, and the relation that makes worlds so."""
OPPOSED = "liked less"
SPLIT = "ratio 0.3"
CROSSED = ("B1", "C1", "C2", "C2 threshold")
SYSTEMS = ("Popularity", "RelevantPopularity", "AverageRating", "Random")


@dataclass
class NoisyPopularity:
    """Numbers of ratings, times noise of a stream that has a name."""

    salt: int = 0
    deterministic = True
    version = "1"

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Self:
        """Count ratings."""
        self._counts = np.log1p(train.item_counts())
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Give each pair noise of its own."""
        noise = [stream(self.salt, "noise", str(user)).normal(size=len(self._counts))
                 for user in users]  # fmt: skip
        return (self._counts + np.array(noise)).astype(np.float32)


def audited(kind: str, number: int) -> list[dict[str, Any]]:
    """Draw a world, and judge a comparison of two systems, and one of exchangeable ones."""
    name = f"world(relation={KINDS[kind]},users=150,items=120,density=0.1,seed={number + 1})"
    dataset = load_dataset(name)
    rng = stream(number, "audits", kind)
    chosen = [System(each, each) for each in rng.permutation(SYSTEMS)[:2]]
    salts = rng.integers(1, 2**31, size=2)
    twins = [as_system(NoisyPopularity(int(salt))).replace(f"twin {place}")
             for place, salt in enumerate(salts)]  # fmt: skip
    design = own_design(dataset, split=SPLIT, seed=number + 1)
    options = around(design, dataset, trainable=False, whole_lists=True)
    short = {
        decision: tuple(text for text in texts if "1R" not in text)
        for decision, texts in options.items()
        if decision in CROSSED
    }
    found = []
    for pair in (tuple(chosen), tuple(twins)):
        own, truth = (
            lead(
                run(asked(name, pair, design, Case("", str(design.protocol), "P@10", test),
                          ("P@10",))),
                pair, "P@10",
            )
            for test in ("observed", "truth")
        )  # fmt: skip
        crossed = universes(
            name, *pair, short, start=str(design), seeds=(design.seed,), n_flips=1
        ).shares()
        won, lost = (float(crossed.loc["decisions", which]) for which in ("wins", "loses"))
        equal = pair == tuple(twins)
        found.append(
            {
                "kind": kind,
                "number": number,
                "pair": [system.name for system in pair],
                "truth": "equal" if equal else "better" if truth.lead > 0 else "not",
                "said": answer(own.low, own.high, won, lost),
            }
        )
    found[0]["warnings"] = _warned(name, tuple(chosen), design.seed)
    return found


def _warned(name: str, pair: tuple[System, System], seed: int) -> dict[str, bool]:
    """Tell whether the warning fires where its fault was planted, and where it was not."""
    dataset = load_dataset(name)
    fires = {}
    for words, planted in (("", "not planted"), (" users=trained>=12", "planted")):
        design = own_design(dataset, f"AI-AN-AR rel>=4{words}", split=SPLIT, seed=seed)
        case = Case("own", str(design.protocol), "P@10")
        results = run(asked(name, pair, design, case, ("P@10",)))
        splits = dataset_splits(dataset, SPLIT, seed=seed)
        fires[f"users are left out, {planted}"] = signals.dropped(results, design, splits).fires
    return fires


def rate(rows: Iterable[dict[str, Any]], said: str = "holds") -> tuple[int, int]:
    """Count of how many audits one said it."""
    answers = [row["said"] for row in rows]
    return answers.count(said), len(answers)


def judged(rows: list[dict[str, Any]]) -> bool:
    """Print all rates; false if "holds" is wrong too often over worlds of all kinds."""
    passed = True
    for truth in ("better", "not", "equal"):
        of_truth = [row for row in rows if row["truth"] == truth]
        kept = [row for row in of_truth if row["kind"] != OPPOSED]
        parts = {"all kinds": of_truth, f"without {OPPOSED}": kept}
        parts |= {kind: [row for row in of_truth if row["kind"] == kind] for kind in KINDS}
        for words, part in parts.items():
            n_holds, n_audits = rate(part)
            if not n_audits:
                continue
            share = n_holds / n_audits
            error = math.sqrt(share * (1 - share) / n_audits)
            others = [f"{said} {rate(part, said)[0]}" for said in ("does not hold", "open")]
            print(f"A {truth}, {words}: holds {n_holds} of {n_audits} ({share:.3f} ± {error:.3f}), "
                  f"{', '.join(others)}")  # fmt: skip
            if truth != "better" and words == "all kinds":
                most = BOUND + ERRORS * math.sqrt(BOUND * (1 - BOUND) / n_audits)
                passed &= share <= most
                print(f"  wrong in at most {most:.3f}: {'yes' if share <= most else 'NO'}")
    fired = [row["warnings"] for row in rows if "warnings" in row]
    for which in sorted({name for warnings in fired for name in warnings}):
        said = [warnings[which] for warnings in fired if which in warnings]
        print(f"{which}: fires in {sum(said)} of {len(said)}")
    print("passed" if passed else "FAILED")
    return passed


def main() -> int:
    """Make audits until there are enough, or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--audits", type=int, default=1000, help="of each kind of world")
    parser.add_argument("--cpu-minutes", type=float, default=math.inf)
    given = parser.parse_args()
    revision = prove.revision() or "changed"
    kept = prove.KEPT / "audits" / f"found-{revision}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text().splitlines() if kept.is_file() and revision != "changed" else []
    rows = [json.loads(line) for line in lines]
    done = {(row["kind"], row["number"]) for row in rows}
    with tempfile.TemporaryDirectory() as folder, kept.open("a" if rows else "w") as file:
        os.environ |= {"RECBIAS_CELLS": folder, "TQDM_DISABLE": "1"}
        for number in range(given.audits):
            for kind in KINDS:
                if (kind, number) in done:
                    continue
                if time.process_time() > 60 * given.cpu_minutes:
                    print(f"stopped after {given.cpu_minutes} minutes")
                    return int(not judged(rows))
                found = audited(kind, number)
                rows += found
                # Both comparisons in one write, so that one that is stopped is made again.
                file.write("".join(json.dumps(row) + "\n" for row in found))
                file.flush()
    return int(not judged(rows))


if __name__ == "__main__":
    sys.exit(main())
