"""Mutate the checks of chapter 1, and tell what dies: ``pytest -s tests/prove_checks.py``.

A mutant dies if a check rejects sound input, or accepts a broken twin, of those in
``test_theorem_checks.py``. `make prove` runs this; it is no part of the suite.
"""

from __future__ import annotations

import dataclasses
import inspect
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import CodeType, ModuleType, SimpleNamespace

import numpy as np
import pytest

import test_ranking_by_sorting
import test_theorem_checks
from code_mutants import CodeMutant, code_mutants, functions_of, why_same
from recbias.book.chapters.design_alternatives import (
    definitions,
    frame,
    proof,
    ranking_by_sorting,
    theorems,
    toy,
)
from recbias.data.datasets import load_dataset
from test_theorem_checks import grid, inputs_of, sound

__all__ = ["grid", "sound"]

MODULES = (definitions, frame, proof, ranking_by_sorting, theorems, toy)

LEAST, MOST_MUTANTS, PATIENCE = 0.95, 400, 30
"""Share that has to die; how many are tried, evenly spaced; seconds until one counts as hung."""

NOT_TRIED = {
    "checks": "hands over what the checks are given; trains systems anew",
    "train_as_experiment": "trains",
    "identities": "hands over what the checks are given; trains systems anew",
    "_in_world": "asks for what is ranked",
    "_chosen_users": "is about large data only",
    "random_instances": "makes the data of a check",
    "equal_sizes": "makes the data of a check",
    "_toy": "makes the data of a check",
}


SAME: Mapping[tuple[str, str, str], str] = {
    ("check_sampling", "n_classes = max(", ""): "any number of classes makes a valid test",
    ("check_sampling", "p = min(", "1.0:"): "regions of p start far below 1",
    ("check_sampling", "classes = np.minimum", ""): "a place at the very end has no probability",
    ("_chi_square", "if n else", "0.0:"): "there are always runs",
    ("_coins", "return float(min(1.0,", "1.0:"): "twice the smaller tail is at most 1",
    ("drawn_places", "n_draws", ""): "is how many are drawn ahead, of which the first count",
    ("_below", "n_spare", ""): "is how many are drawn ahead, of which the first count",
    ("_below", "least =", ""): "a word is passed over once in millions",
    ("_below", "refused", ""): "a word is passed over once in millions",
    ("", "initial=0", "0:"): "of values that are 0 or more",
    ("", "n_sets", "n_sets"): "how many were looked at decides nothing",
    ("", "2 * n_sets", "2 "): "how many were looked at decides nothing",
    ("", "2 * n_sets", "2:"): "how many were looked at decides nothing",
    ("check_proof", "n_sets, n_items =", ""): "how many were looked at decides nothing",
    ("check_setup", '"threshold"', "1:"): "how many were looked at decides nothing",
    ("_measured", "return float", "0:"): "one metric is asked: the first is the last",
    ("_average_precision", "/ n_relevant", "sum("): "a run has one relevant item",
    ("rank_by_sorting", "threadpool_limits", ""): "threads change no score",
    ("rank_by_sorting", "first, n_block =", "0:"): "all systems are scored in the same blocks",
    ("_Columns.fill", "self.joint[user_rows]", "0:"): "of ratings not relevant nobody asks it",
    ("_Columns.fill", "n_above[in_all - 1]", "0:"): "of an item that is not listed nobody asks it",
    ("check_sampling", "n_checked = []", "0:"): "how many were looked at decides nothing",
    ("_coins", "rest < -1e-9", "rest < -1e-09: -> LtE"): "shares are a fifth each",
    ("instances_of", "len(pair[0])", "0:"): "both of a pair have one length",
    ("tie_keys", "secret & half", "secret & half:"): "the sum is cut to 32 bits anyway",
    ("drawn_places", "len(firsts) >= wanted", "len(firsts)"): "more draws begin with the same",
    ("ranking_by_sorting._mix", "return int(_mixed", "0:"): "of one word the first is the last",
    ("check_one_relevant", "1 / min(ranks)", "min:"): "a run has one relevant item",
    ("toy_sets", "seed: int", "0:"): "without a sample a seed changes nothing",
    ("toy_sets", "5.0)", "5.0:"): "nobody rated 4 in the test of the figure",
    ("toy_sets", "min_rating=5", "5:"): "nobody rated 4 in the test of the figure",
}
"""Mutants that change no verdict, by function, line and what is changed in it, and why."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """A test of the suite, with its parameters."""

    function: Callable[..., None]
    given: tuple[tuple[str, object], ...]

    def run(self, inputs: SimpleNamespace) -> None:
        known = {"sound": inputs, "grid": inputs.grid, **dict(self.given)}
        names = inspect.signature(self.function).parameters
        self.function(**{name: known[name] for name in names})


def trials_of(module: ModuleType) -> Iterator[Trial]:
    """List the tests of a module that need no other fixture than the two, case by case."""
    for name, function in vars(module).items():
        if not name.startswith("test_"):
            continue
        cases = [()]
        for mark in getattr(function, "pytestmark", []):
            if mark.name != "parametrize":
                continue
            names = mark.args[0]
            names = names.split(",") if isinstance(names, str) else names
            values = [case if len(names) > 1 else (case,) for case in mark.args[1]]
            cases = [(*case, *zip(names, own, strict=True)) for case in cases for own in values]
        wanted = set(inspect.signature(function).parameters)
        if wanted <= {"sound", "grid", *(name for name, _ in cases[0])}:
            yield from (Trial(function, case) for case in cases)


TRIALS = [*trials_of(test_theorem_checks), *trials_of(test_ranking_by_sorting)]


def _reached(action: Callable[[], object]) -> set[CodeType]:
    """The code that is run on the way."""
    found: set[CodeType] = set()
    sys.setprofile(lambda frame, event, _: found.add(frame.f_code) if event == "call" else None)
    try:
        action()
    finally:
        sys.setprofile(None)
    return found


def _dies(
    mutant: CodeMutant, trials: Sequence[Trial], prepare: Callable[[], SimpleNamespace]
) -> bool:
    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        with mutant(), np.errstate(all="ignore"):
            inputs = prepare()
            for trial in trials:
                trial.run(inputs)
    except (Exception, pytest.fail.Exception):  # whatever a mutant raises is its death
        return True
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return False


@pytest.mark.filterwarnings("ignore")
def test_mutants_of_checks_die(grid, sound, monkeypatch) -> None:
    start = time.perf_counter()
    trained = {
        system.name: ranking_by_sorting.train_as_experiment(system, sound.first, seed=grid.seed)
        for system in grid.systems
    }
    monkeypatch.setattr(
        theorems, "train_as_experiment", lambda system, *_, **__: trained[system.name]
    )
    monkeypatch.setattr(test_theorem_checks, "load_dataset", cache(load_dataset))
    monkeypatch.setattr(test_theorem_checks, "dataset_splits", lambda *_, **__: sound.splits)

    making = _reached(lambda: inputs_of(grid))
    seconds, reaching = {}, defaultdict(list)
    for trial in TRIALS:
        began = time.perf_counter()
        for code in _reached(lambda trial=trial: trial.run(sound)):
            reaching[code].append(trial)
        seconds[trial] = time.perf_counter() - began

    functions = {
        f"{module.__name__.rpartition('.')[2]}.{name}": function
        for module in MODULES
        for name, function in functions_of(module).items()
        if name not in NOT_TRIED
    }
    every = [mutant for name, each in functions.items() for mutant in code_mutants(name, each)]
    counted = [mutant for mutant in every if not why_same(mutant, SAME)]
    chosen = counted[:: -(-len(counted) // MOST_MUTANTS)]
    print(
        f"\n{len(every)} mutants, {len(every) - len(counted)} of which change no verdict; "
        f"{len(chosen)} are tried, after {time.perf_counter() - start:.0f} s"
    )
    n_alive = 0
    for mutant in chosen:
        code = mutant.function.__code__
        own, prepare = set(reaching[code]), lambda: sound
        if code in making:
            own, prepare = set(TRIALS), lambda: inputs_of(grid)
        if not _dies(mutant, sorted(own, key=seconds.__getitem__), prepare):
            n_alive += 1
            print(f"  survives: {mutant.what}", flush=True)
    share = 1 - n_alive / len(chosen)
    print(
        f"{len(chosen) - n_alive} of {len(chosen)} mutants of checks die: {share:.1%}; "
        f"{time.perf_counter() - start:.0f} s"
    )
    assert share >= LEAST
