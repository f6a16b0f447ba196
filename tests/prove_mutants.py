"""Mutate the criteria, and tell what dies: ``python tests/prove_mutants.py [CLAIM ...]``.

Every change is judged by ``planted_verdicts`` alone: the lock is renewed for it. Fails if less
than 95 % die, or one of the audit survives. `make prove` runs it.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from mutants import (
    AUDIT,
    Mutant,
    audited,
    criteria,
    equivalent,
    killer,
    mutants_of,
)

LEAST = 0.95
"""Share of the mutants that has to die."""


def _of_claim(claim: str) -> tuple[int, Counter[str], list[Mutant]]:
    """Count the mutants of a claim that die, those that change nothing by reason, and survivors."""
    killed, excluded, alive = 0, Counter[str](), []
    warnings.simplefilter("ignore")  # of what a mutant divides by
    for mutant in mutants_of(criteria()[claim]):
        if reason := equivalent(mutant):
            excluded[reason] += 1
        elif killer(mutant):
            killed += 1
        else:
            alive.append(mutant)
    return killed, excluded, alive


def main() -> None:
    start, names = time.perf_counter(), sys.argv[1:] or list(criteria())
    killed, excluded, alive = 0, Counter[str](), []
    with ProcessPoolExecutor() as pool:
        for claim, (dead, reasons, survivors) in zip(
            names, pool.map(_of_claim, names), strict=True
        ):
            print(f"{claim}: {dead} of {dead + len(survivors)} die", flush=True)
            killed, excluded, alive = killed + dead, excluded + reasons, alive + survivors
    for mutant in alive:
        print(f"  survives: {mutant}")
    for reason, number in excluded.most_common():
        print(f"  not counted, {reason}: {number}")
    share, spared = killed / (killed + len(alive)), []
    for name in AUDIT:
        dead = [bool(killer(mutant)) for mutant in audited(name)]
        spared += [name] * (not all(dead))
        told = f"{sum(dead)} of {len(dead)} die" if dead else "no successor: the part was dropped"
        print(f"  audit, {name}: {told}")
    print(f"{time.perf_counter() - start:.0f} s")
    print(
        f"{killed} of {killed + len(alive)} mutants of criteria die: {share:.1%}; "
        f"all of the audit do but for {len(spared)}"
    )
    if share < LEAST or spared:
        sys.exit(f"expected at least {LEAST:.0%}, and all of the audit")


if __name__ == "__main__":
    main()
