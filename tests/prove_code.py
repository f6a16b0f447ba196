"""Mutate code that makes numbers, and tell what tests notice: ``python tests/prove_code.py ROOM``.

A room is one of `ROOMS`: modules, and the tests that should notice. These run once, to see which
functions each of them calls; then mutants that are evenly spaced over all that there are
(`code_mutants`) are tried one by one, each in a process of its own, by the tests that call its
function, the shortest first. A kernel is compiled anew, and tried by all tests that call anything
of its module, or are of a file that imports it. Fails if less than nine in ten die. `make prove`
runs it.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import NamedTuple

import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from code_mutants import CodeMutant, code_mutants, functions_of, why_same

ROOT = Path(__file__).resolve().parents[1]
LEAST, MOST_MUTANTS = 0.9, 400
"""Share that has to die; how many are tried."""

START, SLOWER, WAITING = 60, 5, 1_800
"""A mutant is hung, and so noticed, by the seconds of the processor that its tests take times
`SLOWER`, with `START` to compile; or where it waits, by the clock, for `WAITING`."""


class Room(NamedTuple):
    """Modules, and where the tests are that should notice what is wrong with them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "metrics": Room(
        ("recbias.metrics",),
        (
            "src/recbias/metrics",
            "tests/metrics",
            "tests/theory/test_chance_lists.py",
            "tests/experiment/test_outcomes.py",
        ),
    ),
    "resampling": Room(
        ("recbias.stats",),
        ("src/recbias/stats", "tests/stats", "tests/metrics/test_aggregation.py"),
    ),
    "verdicts": Room(
        tuple(
            f"recbias.claims.{name}"
            for name in ("regions", "judging", "evaluation", "values", "parts", "home", "deciding")
        ),
        ("src/recbias/claims", "tests/claims"),
    ),
}

SAME: dict[tuple[str, str, str], str] = {
    ("Metric._fill", "form.key[1]", "1: -1"): "a key is a pair, whose second is the last",
    ("terms_without_each", ")[0]", "0: -1"): "terms of one row, the first and the last",
    ("terms_without_each", "np.maximum(counts - 1", "0: -1"): "of items that no list holds",
    ("coverage_without_each", "metric.cutoff)[0]", "0: -1"): "one row, the first and the last",
    ("RunAndJudgments.table", "np.where(listed, above", "0:"): "of rows that stand in no list",
    ("RunAndJudgments.table", "np.where(listed, size", "0:"): "of rows that stand in no list",
    ("closeness", "exponent > -9", "9: +1"): "half a unit of the ninth decimal, beside 2e-7",
    ("closeness", "exponent > -9", "exponent > -9: -> GtE"): "the same half a unit",
    ("_padded", "gain.max(initial=0.0)", "0.0: -1"): "gains are 0 or more",
    ("_padded", "lists.rank, ends", "0: +1"): "nDCG looks up the ranks of listed items alone",
    ("_padded", "lists.positive, ends", "True: negated"): "nDCG asks for gains alone",
    (
        "concentration_index_long",
        "smooth_s =",
        "(prior + 1) / (prior.sum() + len(prior)): -> Mult",
    ): "a factor of all logarithms, whose weights sum to 0",
    ("_measure_users", "ascending = 0, 0.0, True", "True: negated"): "gains are sorted anyway",
    ("measure_positive", "-1 if gain is None", "1: -1"): "what asks for no gain looks up none",
    ("gini_without_each", "ascending.max(initial=0)", "0: +1"): "of no items at all",
    ("popularity_percentiles", "max(len(prior), 1)", "1: -1"): "of no items at all",
    ("_staying", "place, added = size, 0", "0: -1"): "one candidate more, behind all others",
    ("_shared", "costs[1:]", "1: -1"): "what is common with itself is itself",
    ("_kept", "lists.rank > 0", "lists.rank > 0: -> GtE"): "of rows that stand in a list",
    ("_resolved_pairs", "np.triu_indices", "1: -1"): "a system does not differ from itself",
    ("tau_intervals", "max(n_pairs, 1)", "1: -1"): "of one system, where NaN is divided",
    ("_least_opposed", "_evidence(z, none", "1.0: -1"): "of sums of squares, less than all",
    ("_evidence", "others =", "1.0: +1"): "a bound from above, which spares work",
    ("_evidence", "others =", "0: -1"): "a bound from above, which spares work",
    ("_evidence", "found = 0.0", "0.0: +1"): "a bound from above, which spares work",
    ("_evidence", "* against", "1.0 - 1e-12: -> Add"): "of sums that agree in twelve digits",
    ("_evidence", "clear[pair] > 0.0", "0.0: -1"): "pairs that are not opposed add 0",
    ("_ties", "blocks = np.empty", "2: +1"): "room for more states than there are",
    ("_ties", "while n_left > 0", "n_left > 0: -> GtE"): "none is undone, and the loop ends",
    ("_ties", "while n_left > 0", "0: -1"): "none is undone, and the loop ends",
    ("_ties", "least, side", "0: +1"): "set before it is read",
    ("_ties", "least, side", "0: -1"): "set before it is read",
    ("_ties", "whole = 2 * total", "2: -1"): "costs are compared with costs only",
    ("opposed_pairs", "> 0, pairs", "under_a[opposed, None] > 0: -> GtE"): "of 1 and -1",
    ("opposed_pairs", "> 0, pairs", "0: -1"): "of 1 and -1",
    (
        "share_interval",
        "steps[:, 0] < steps[:, 1]",
        "steps[:, 0] < steps[:, 1]: -> LtE",
    ): "no step is to itself",
    ("_closed", "costs = np.zeros", "2: +1"): "a row that is not read",
    ("_closed", "least, side", "0: +1"): "set before it is read",
    ("_closed", "least, side", "0.0: -1"): "set before it is read",
    (
        "bootstrap_test",
        "far +=",
        "np.abs(drawn) >= np.abs(observed)[:, None] * (1 - 1e-12): -> Gt",
    ): "of what is less than the sample by its twelfth digit",
    ("bootstrap_test", "observed == 0", "0: -1"): "all draws are as far out as 0",
    ("_studentised", "spread / (n - 1)", "n - 1: -> Add"): "draws are compared with the sample",
    ("_studentised", "spread / (n - 1)", "1: -1"): "draws are compared with the sample",
    ("crossed_sums", "always =", "1: +1"): "a row that is not read",
    ("_lacks", "else _registered(name)", "is_path(name) or"): "no registry has such a name",
    ("check_call", "parameters +=", "len(node.arguments)"): "room for more than there are",
    ("standardised", "np.ptp(known, axis=0) == 0", "0.0: -1"): "no more of a spread than 0",
}
"""Mutants that change nothing that is promised, by function, line and change, and why."""


class Failed:
    """What failed: a plugin of pytest."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails."""
        if report.failed:
            self.failed.append(report.nodeid)


class Calls(Failed):
    """Which functions each test calls, and how long it takes: a plugin of pytest.

    What a fixture of a whole module calls is called once, and counts for each test that has it. No
    call of a kernel is seen: it may be by any test whose module knows the kernel's.
    """

    def __init__(self, codes: dict[CodeType, str]) -> None:
        super().__init__()
        self._codes = codes
        self._of_fixture: dict[object, set[str]] = defaultdict(set)
        self._fixtures: dict[str, list[object]] = {}
        self._called: dict[str, set[str]] = {}
        self._known: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}

    def known_by(self, test: str) -> set[str]:
        """Name the modules that the module of a test knows, themselves or by what it imports."""
        return self._known[test]

    def of_test(self, test: str) -> set[str]:
        """Name what a test calls, itself or by its fixtures."""
        of_fixtures = (self._of_fixture[each] for each in self._fixtures[test])
        return self._called[test].union(*of_fixtures)

    @contextmanager
    def _noted(self, found: set[str]) -> Iterator[None]:
        """Add what is called here, and leave the tracing of what is around as it was."""

        def note(frame: FrameType, _event: str, _argument: object) -> None:
            if name := self._codes.get(frame.f_code):
                found.add(name)

        before = sys.gettrace()
        sys.settrace(note)
        try:
            yield
        finally:
            sys.settrace(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        """Note what a fixture calls, for all tests that have it."""
        with self._noted(self._of_fixture[fixturedef]):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note what is called from the fixtures of a test to its end."""
        assert isinstance(item, pytest.Function | pytest.DoctestItem)
        known = item._fixtureinfo.name2fixturedefs.values()
        self._fixtures[item.nodeid] = [each for several in known for each in several]
        names = vars(item.module).values() if isinstance(item, pytest.Function) else ()
        self._known[item.nodeid] = {
            each.__name__ if isinstance(each, ModuleType) else getattr(each, "__module__", "")
            for each in names
        }
        started = time.process_time()
        try:
            with self._noted(self._called.setdefault(item.nodeid, set())):
                return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - started


_WITHOUT = ("-p", "no:cacheprovider", "-p", "no:faulthandler")
NOT_RUN = 77
"""How a child ends that could not run tests: pytest has no such code."""

NOT_TRIED = (
    NOT_RUN,
    -signal.SIGKILL,
    pytest.ExitCode.USAGE_ERROR,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)


def run_tests(named: Sequence[str], *plugins: object, stop: bool = False) -> int:
    """Run tests in this process, without a word, all or to the first that fails."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return int(
            pytest.main(["-q", *(["-x"] if stop else []), *_WITHOUT, *named], plugins=list(plugins))
        )


def functions_in(names: Sequence[str]) -> dict[str, FunctionType]:
    """Name the functions of modules, and of all modules of a package."""
    found = {}
    for name in names:
        module = importlib.import_module(name)
        inner = [
            f"{name}.{each.name}" for each in pkgutil.iter_modules(getattr(module, "__path__", []))
        ]
        for each in [module, *map(importlib.import_module, inner)]:
            for called, function in functions_of(each).items():
                found[f"{each.__name__}.{called}"] = function
    return found


def kernels_of(module: str) -> dict[FunctionType, Dispatcher]:
    """Give the compiled functions of a module by what they are compiled from."""
    members = vars(sys.modules[module]).values()
    return {each.py_func: each for each in members if isinstance(each, Dispatcher)}


def ended(
    tests: Sequence[str], seconds: float, mutant: CodeMutant | None = None
) -> tuple[int, str]:
    """Run tests in a child, with a mutant in its place or as all is; give its end, and what failed.

    Its end is pytest's code, or, below 0, a signal; what failed first is empty where nothing did.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, START + SLOWER * seconds)
        signal.alarm(WAITING)
        status, failed = NOT_RUN, Failed()
        try:
            with ExitStack() as changed:
                if mutant is not None:
                    kernels = kernels_of(mutant.function.__module__)
                    for kernel in kernels.values() if mutant.function in kernels else ():
                        kernel._cache = NullCache()  # what is on the disk stays what it is
                        kernel._reset_overloads()
                    changed.enter_context(mutant())
                status = run_tests(tests, failed, stop=True)
            os.write(write, "".join(failed.failed[:1]).encode())
        finally:
            os._exit(status)
    os.close(write)
    _, status = os.waitpid(child, 0)
    os.set_blocking(read, False)  # what the child left running may hold the other end
    with os.fdopen(read, "rb", buffering=0) as file:
        first = file.read() or b""
    return os.waitstatus_to_exitcode(status), first.decode()


@cache
def passes(test: str) -> bool:
    """Say whether a test passes in a child, as all is: one that does not notices no mutant."""
    return ended([test], WAITING)[0] == 0


def dies(mutant: CodeMutant, tests: Sequence[str], seconds: float) -> bool:
    """Say whether a test fails, or hangs, with the mutant in its place, and not without it.

    Raises
    ------
    RuntimeError
        If tests could not be run: none was found, or memory was lacking.
    """
    code, failed = ended(tests, seconds, mutant)
    if code < 0:
        print(f"{signal.Signals(-code).name}: {mutant.what}: {mutant.line}", flush=True)
    if code in NOT_TRIED:
        raise RuntimeError(f"{mutant.what}: {mutant.line}: its tests ended with {code}")
    return code != 0 and (not failed or passes(failed))


def main() -> int:
    """Try the mutants of a room, and print which live."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--most", type=int, default=MOST_MUTANTS)
    asked = parser.parse_args()
    room = ROOMS[asked.room]
    functions = functions_in(room.modules)
    kernel_names: dict[str, list[str]] = defaultdict(list)
    for name, function in functions.items():
        if function in kernels_of(function.__module__):
            kernel_names[function.__module__].append(name)
    calls = Calls({function.__code__: name for name, function in functions.items()})
    run_tests([str(ROOT / each) for each in room.tests], calls)
    callers = defaultdict(list)
    for test in sorted(calls.seconds, key=calls.seconds.__getitem__):
        if test not in calls.failed:
            called = calls.of_test(test)
            within = {functions[name].__module__ for name in called} | calls.known_by(test)
            for name in called | {name for module in within for name in kernel_names[module]}:
                callers[name].append(test)
    print(f"{len(calls.seconds)} tests, {len(calls.failed)} fail without a mutant and are left out")
    every = [
        mutant for name, function in functions.items() for mutant in code_mutants(name, function)
    ]
    step = max(1, len(every) // asked.most)
    chosen = [mutant for mutant in every[::step] if not why_same(mutant, SAME)]
    n_same = len(every[::step]) - len(chosen)
    print(
        f"{len(every)} mutants of {len(functions)} functions, every {step}th is tried, but for "
        f"{n_same} that change nothing"
    )
    alive, unseen, n_tried = [], [], 0
    for mutant in chosen:
        name = mutant.what.partition(", ")[0]
        n_tried += 1
        if not callers[name]:
            unseen.append(mutant)
        elif not dies(mutant, callers[name], sum(calls.seconds[test] for test in callers[name])):
            alive.append(mutant)
            print(f"lives: {mutant.what}: {mutant.line}", flush=True)
    for mutant in unseen:
        print(f"no test calls: {mutant.what}: {mutant.line}")
    share = 1 - (len(alive) + len(unseen)) / n_tried
    print(f"{share:.1%} of {n_tried} mutants die; {len(alive)} live, {len(unseen)} no test calls")
    return int(share < LEAST)


if __name__ == "__main__":
    sys.exit(main())
