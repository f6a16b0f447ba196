"""Mutate the checks of chapter 1, and tell what dies: ``pytest -s tests/prove_checks.py``.

A mutant dies if a check rejects sound input, or accepts a broken twin, of those in
``test_theorem_checks.py``. `make prove` runs this; it is no part of the suite.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from types import CodeType, SimpleNamespace

import numpy as np
import pytest

from code_mutants import CodeMutant, code_mutants, functions_of
from recbias.claims.design_alternatives import (
    definitions,
    frame,
    proof,
    ranking_by_sorting,
    theorems,
    toy,
)
from recbias.recommenders import Recommender, System
from test_theorem_checks import (
    CHECKS,
    CUTOFF,
    MIN_RATING,
    N_SAMPLED,
    SIZE,
    _worst,
    grid,
    sound,
)

__all__ = ["grid", "sound"]

MODULES = (definitions, frame, proof, ranking_by_sorting, theorems, toy)

LEAST, MOST_MUTANTS, PATIENCE = 0.95, 400, 30
"""Share that has to die; how many are tried, evenly spaced; seconds until one counts as hung."""

NOT_TRIED = {
    "theorem_checks": "hands over what the checks are given; trains systems anew",
    "train_as_experiment": "trains",
    "_keys_of_grids": "is about keys of stored results",
    "_chosen_users": "is about large data only",
    "equal_sizes": "makes the data of a check",
    "random_instances": "makes the data of a check",
    "_toy": "makes the data of a check",
}


@dataclasses.dataclass(frozen=True)
class Trial:
    """A check with its sound input (no twin) or a broken one, and what it has to come to."""

    claim: str
    name: str
    twin: str = ""

    def passes(self, inputs: SimpleNamespace) -> bool:
        check, allowed, twins = CHECKS[self.claim, self.name]
        found = (twins[self.twin] if self.twin else check)(inputs)
        return bool(allowed(_worst(found, self.claim, self.name))) is not bool(self.twin)


TRIALS = [Trial(*key) for key in CHECKS] + [
    Trial(*key, twin) for key, (_, _, twins) in CHECKS.items() for twin in twins
]


def _reached(action: Callable[[], object]) -> set[CodeType]:
    """The code that is run on the way."""
    found: set[CodeType] = set()
    sys.setprofile(lambda frame, event, _: found.add(frame.f_code) if event == "call" else None)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


def _dies(mutant: CodeMutant, trials: list[Trial], prepare: Callable[[], SimpleNamespace]) -> bool:
    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        with mutant(), np.errstate(all="ignore"):
            inputs = prepare()
            return not all(trial.passes(inputs) for trial in trials)
    except Exception:  # what a mutant raises is its death
        return True
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.filterwarnings("ignore")
def test_mutants_of_checks_die(grid, sound) -> None:
    start = time.perf_counter()
    names = theorems.RANKED_SYSTEMS
    trained = {
        system.name: ranking_by_sorting.train_as_experiment(system, sound.first, seed=grid.seed)
        for system in grid.systems
        if system.name in names
    }

    def as_trained(system: System, *_: object, **__: object) -> Recommender:
        return trained[system.name]

    def ranked_again() -> SimpleNamespace:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(theorems, "train_as_experiment", as_trained)
            ranked = theorems.rank_twice(
                grid, sound.first, users=sound.users, min_rating=MIN_RATING, size=SIZE,
                n_sampled=N_SAMPLED, cutoff=CUTOFF,
            )  # fmt: skip
        return SimpleNamespace(**{**vars(sound), "ranked": ranked})

    made = _reached(ranked_again)
    by_code: dict[CodeType, list[tuple[float, Trial]]] = defaultdict(list)
    for trial in TRIALS:
        began = time.perf_counter()
        for code in _reached(lambda trial=trial: trial.passes(sound)):
            by_code[code].append((time.perf_counter() - began, trial))
    quick = [trial for _, trial in sorted(((0.0, t) for t in TRIALS if not t.twin), key=str)]

    functions = {
        f"{module.__name__.rpartition('.')[2]}.{name}": function
        for module in MODULES
        for name, function in functions_of(module).items()
        if name not in NOT_TRIED
    }
    every = [mutant for name, each in functions.items() for mutant in code_mutants(name, each)]
    chosen = every[:: -(-len(every) // MOST_MUTANTS)]
    print(
        f"\n{len(chosen)} of {len(every)} mutants, ready after {time.perf_counter() - start:.0f} s"
    )
    alive = []
    for mutant in chosen:
        code = mutant.function.__code__
        own = [trial for _, trial in sorted(by_code[code], key=lambda timed: timed[0])]
        prepare = ranked_again if code in made else lambda: sound
        trials = [*own, *(quick if code in made else [])]
        if not _dies(mutant, trials, prepare):
            alive.append(mutant)
            print(f"  survives: {mutant.what}", flush=True)
    share = 1 - len(alive) / len(chosen)
    print(
        f"{len(chosen) - len(alive)} of {len(chosen)} mutants of checks die: {share:.1%}; "
        f"{time.perf_counter() - start:.0f} s"
    )
    assert share >= LEAST
