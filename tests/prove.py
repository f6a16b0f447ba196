"""What takes too long for each change, in parts: ``python tests/prove.py [PART[/STEP] ...]``.

A part is a list of steps, each a command, and the paths that it stands on. What a step came to is
kept with its date, revision, last line and a digest of each of these paths in
``data/proof/PART.json``, which is committed and shown on the page *Proof*; all that it said is
below ``_build/prove``. A step that passed is run again only where something that it stands on has
changed since, so that a part that was stopped goes on. Parts share what is computed in a clone: run
them one at a time. ``--again`` runs a step anyway; ``--stale`` only lists what is stale, and fails
where anything is. A part that takes more than its time is ended, and fails. The name of a step may
end at a ``/`` of it, for all steps below: ``recorded/ml-1m``.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent / "site"))

from odd_pages import PAGES
from planted_grids import PLANTED
from prove_code import ROOMS as ROOMS_OF_CODE
from recbias.book.proof import digest_of, why_stale
from recbias.book.site import default_editions
from recbias.claims import claims
from recbias.claims.records import criteria_of
from recbias.data.datasets import dataset_info, state
from recbias.experiment.results import SIMULATIONS, results_dir
from recbias.experiment.store import write_atomically
from recbias.experiment.verification import listed_datasets

ROOT = Path(__file__).resolve().parents[1]
RESULTS, KEPT = ROOT / "data/proof", ROOT / "_build/prove"
MINUTES = 150
SITE = "tests/site"
CHECKS_OF_SITE = ("check_links", "check_findings", "leaks", "check_scorecard", "check_explorer",
                  "check_guide", "check_rounds", "offline_check")  # fmt: skip
KEPT_IN = RESULTS.relative_to(ROOT).as_posix()

FOLDERS = ("tests", SITE, "tests/book/course")
"""Where modules of tests are imported from."""

PROJECT = "project"
"""The tests of no room, which lie beside the rooms."""

ROOMS = (
    PROJECT,
    *sorted(path.name for path in (ROOT / "tests").iterdir() if list(path.rglob("test_*.py"))),
)

BY_CHAPTERS = ("ml-1m",)
"""Data sets whose recorded results take about `MINUTES` on two cores, or more, if in one step."""

LOCK = "requirements.lock"
COMPUTES = tuple(
    f"src/recbias/{name}"
    for name in ("_system", "data", "protocol", "recommenders", "ranking", "theory", "metrics",
                 "stats", "experiment", "trust", "multiverse", "audit", "claims", "errors.py")
)  # fmt: skip
"""All rooms below that of the book."""

BOOK = (
    "src", "book", "notebooks", "_config.yml", "_toc.yml", "data/published", "data/findings",
    "data/recorded", "data/evaluation", "data/registry.yaml", "benchmarks/peers.csv", LOCK,
)  # fmt: skip


def _python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def _in_turn(*commands: list[str]) -> list[str]:
    """Give the command that runs several by Python, until one fails."""
    return ["sh", "-c", " && ".join(shlex.join(_python(*command)) for command in commands)]


def _recorded() -> Iterator[str]:
    """Name what is recorded, by data sets, and by chapters where one takes too long as a whole."""
    for dataset in listed_datasets():
        if dataset in BY_CHAPTERS:
            chapters = results_dir(dataset, recorded=True).iterdir()
            yield from sorted(f"{dataset}/{folder.name}" for folder in chapters if folder.is_dir())
        else:
            yield dataset


def _recompute(recorded: str) -> list[str]:
    """Compute what is recorded anew; what had no time left goes on with its cells of this code."""
    dataset, _, chapter = recorded.partition("/")
    cells = shlex.quote(str(KEPT / "cells" / _digest("src")))
    verify = _python("-m", "recbias_command", "verify", "--workers", "2", "--dataset", dataset)
    if chapter:  # the others use the same cells, so that they are left (`_clear`)
        return ["sh", "-c", f"exec {shlex.join([*verify, '--chapter', chapter])} --cells {cells}"]
    folder = f"{cells}/{shlex.quote(dataset)}"
    return ["sh", "-c", f"{shlex.join(verify)} --cells {cells}; end=$?; rm -rf {folder}; exit $end"]


def _without_data(command: list[str]) -> list[str]:
    """Have a command take what is recorded, as the site does, and train nothing anew."""
    return ["env", "RECBIAS_DATA=", *command]


def _claims_of(topic: str) -> list[str]:
    criteria = criteria_of(topic)
    return [claim.id for claim in claims() if claim.topic == topic and claim.id in criteria]


def _tests_of(room: str) -> list[str]:
    """Name the tests of a room: its folder, or the files beside the rooms."""
    if room != PROJECT:
        return [f"tests/{room}"]
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/test_*.py"))


@cache
def _named_by(path: str) -> frozenset[str]:
    """Name the files of tests that a file imports, or names to run."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module or "")
        elif isinstance(node, ast.Constant) and str(node.value).endswith(".py"):
            names.add(str(node.value).removesuffix(".py"))
    files = {f"{folder}/{name.partition('.')[0]}.py" for folder in FOLDERS for name in names}
    return frozenset(file for file in files if (ROOT / file).is_file())


def with_modules(*paths: str) -> tuple[str, ...]:
    """Name tests or scripts, or folders of them, and all files of tests that they import or run."""
    asked = [
        file.relative_to(ROOT).as_posix()
        for path in paths
        for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
    ]
    own, found = {*asked}, {"tests/conftest.py"}
    while asked:
        new = _named_by(asked.pop()) - found
        found |= new
        asked += new
    return (*paths, *sorted(found - own))


class Part(NamedTuple):
    """What is run, and what would change its outcome.

    Attributes
    ----------
    steps
        Commands by name.
    stands_on
        Paths; `{step}` stands for the name of a step.
    own
        Further paths of single steps.
    days
        After how many a step is run again whatever it stands on; never where 0.
    """

    steps: dict[str, list[str]]
    stands_on: tuple[str, ...]
    own: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 - nobody writes to it
    days: int = 0

    def paths_of(self, step: str) -> tuple[str, ...]:
        """Name the paths that a step stands on."""
        return tuple(
            dict.fromkeys(
                [*(path.format(step=step) for path in self.stands_on), *self.own.get(step, ())]
            )
        )


def parts() -> dict[str, Part]:
    """Name the parts."""
    pytest = ["-m", "pytest", "-q", "--hypothesis-profile=prove"]
    chapters = "src/recbias/book/chapters"
    of_rooms = {room: with_modules(*_tests_of(room)) for room in ROOMS}
    slow = [room for room in ROOMS if any(map(_is_slow, _tests_of(room)))]
    return {
        "criteria": Part(
            {topic.replace(" ", "_"): _python("tests/prove_mutants.py", *_claims_of(topic))
             for topic in PLANTED},
            (*COMPUTES, chapters, "data/published", "tests/planted_verdicts", LOCK,
             *with_modules("tests/prove_mutants.py")),
        ),
        "checks": Part(
            {"chapter_1": _python("-m", "pytest", "-qq", "-s", "tests/prove_checks.py")},
            (*COMPUTES, f"{chapters}/design_alternatives", LOCK,
             *with_modules("tests/prove_checks.py", "tests/book/chapters")),
        ),
        "code": Part(
            {room: _python("tests/prove_code.py", room) for room in ROOMS_OF_CODE},
            (*COMPUTES, LOCK, *with_modules("tests/prove_code.py")),
            own={
                name: with_modules(*(path for path in room.tests if path.startswith("tests/")))
                for name, room in ROOMS_OF_CODE.items()
            },
        ),
        "stops": Part(
            {"rounds": _python("tests/prove_stops.py")},
            ("src", LOCK, *with_modules("tests/prove_stops.py")),
        ),
        "tables": Part(
            {page: _python("tests/prove_tables.py", "--page", page) for page in PAGES},
            ("src", "notebooks", "book/rerun.md", LOCK, *with_modules("tests/prove_tables.py")),
        ),
        "sizes": Part(
            {"tests_and_intervals": _python("tests/prove_sizes.py")},
            (*COMPUTES, f"{chapters}/offline_option_taxonomy", "data/recorded/ml-100k", LOCK,
             *with_modules("tests/prove_sizes.py")),
        ),
        "audits": Part(
            {
                "worlds": _python("tests/prove_audits.py"),
                "warnings": _python("tests/prove_warnings.py"),
                "lenskit": _python("tests/prove_lenskit.py"),
            },
            (*COMPUTES, "src/recbias/cli", "book/coming_from.md", LOCK),
            own={
                "worlds": with_modules("tests/prove_audits.py"),
                "warnings": with_modules("tests/prove_warnings.py"),
                "lenskit": with_modules("tests/prove_lenskit.py"),
            },
        ),
        "course": Part(
            {
                "class_of_a_hundred": _python("tests/prove_course.py"),
                **{name: _without_data(_python("tests/prove_course.py", name))
                   for name in default_editions(ROOT)},
            },
            ("src", "notebooks", "data/published", "data/recorded", LOCK,
             *with_modules("tests/prove_course.py")),
        ),
        "examples": Part(
            {room: _python(*pytest, *_tests_of(room)) for room in ROOMS}, BOOK, own=of_rooms
        ),
        # All that is recorded, which takes hours: a full run belongs here. A change has the sample
        # that its commit draws (.ci/run).
        "recorded": Part(
            {name: _recompute(name) for name in _recorded()},
            (*COMPUTES, chapters, "data/registry.yaml", "data/recorded/{step}", LOCK),
        ),
        # All pages and editions, of which a change has those that its commit draws.
        "site": Part(
            {"all": _without_data(_in_turn(
                ["-m", "recbias_command", "book"],
                *([f"{SITE}/{name}.py", "_build/site"] for name in CHECKS_OF_SITE),
                [f"{SITE}/check_same.py"],
            ))},
            (*BOOK, SITE),
        ),
        # Strict: it fails where the index knows nothing of a package, which else is passed over.
        "advisories": Part(
            {"lock": ["sh", "-c", f"{sys.executable} -m venv _build/advisories && "
                      "_build/advisories/bin/pip install --quiet pip-audit && "
                      "_build/advisories/bin/pip-audit --strict --disable-pip --no-deps "
                      "--requirement requirements.lock --progress-spinner off"]},
            (LOCK,),
            days=30,
        ),
        "slow": Part(
            {room: _python(*pytest, "-m", "slow", *_tests_of(room)) for room in slow},
            BOOK, own=of_rooms,
        ),
    }  # fmt: skip


def _is_slow(path: str) -> bool:
    """Say whether a file of tests, or one of a folder, has such that take long."""
    files = [ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("test_*.py")
    return any("pytest.mark.slow" in file.read_text(encoding="utf-8") for file in files)


def revision(*paths: str) -> str:
    """Name the revision that paths, or all, are at; nothing where a change is not committed."""
    changed = _git("status", "--porcelain", "--", *paths)
    return "" if changed or changed is None else _git("rev-parse", "HEAD") or ""


def _git(*arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return None if done.returncode else done.stdout.strip()


def kept(part: str) -> dict[str, dict[str, Any]]:
    """Read what the steps of a part came to, those that were run."""
    path = RESULTS / f"{part}.json"
    read = json.loads(path.read_text()) if path.is_file() else {}
    return {step: found for step, found in read.items() if found is not None}


def _digest(path: str) -> str:
    return digest_of(ROOT, path)


def _why_not_here(part: str, step: str) -> str:
    """Say why a step cannot be run here: the data of what is recorded may be elsewhere."""
    if part != "recorded" or step == SIMULATIONS:
        return ""
    dataset = step.partition("/")[0]
    here = state(dataset_info(dataset)) in ("present", "made here")
    return "" if here else f"the data of {dataset} are not here"


def _run(command: list[str], log: Path, seconds: float) -> str:
    """Run a step; say why it failed, or nothing. One that is ended takes its group with it."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in FOLDERS)
    environment = {**os.environ, "PYTHONPATH": paths}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            return "" if process.wait(max(1.0, seconds)) == 0 else "failed"
        except subprocess.TimeoutExpired:
            return "no time left"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def why(name: str, part: Part, step: str, digest: Callable[[str], str] = _digest) -> str:
    """Say why a step has to be run; nothing if it passed and stands."""
    found = kept(name).get(step)
    if found is None:
        return "never run"
    if not found["passed"]:
        return f"failed on {found['date']}"
    if not found["revision"]:
        return "run on changes that are not committed"
    if set(found["stands_on"]) != {*part.paths_of(step)}:
        return "what it stands on is another list now"
    age = datetime.datetime.now(datetime.UTC).date() - datetime.date.fromisoformat(found["date"])
    if part.days and age.days > part.days:
        return f"{age.days} days old"
    return why_stale(found, digest)


def prove(name: str, part: Part, steps: Iterable[str], *, again: bool = False) -> list[str]:
    """Run steps of a part, and name those that failed or had no time left."""
    start, failed = time.monotonic(), []
    for step in steps:
        if not again and not why(name, part, step):
            print(f"{name}/{step}: passed on {kept(name)[step]['date']}, and stands")
            continue
        if reason := _why_not_here(name, step):
            failed.append(f"{name}/{step}: not run, {reason}")
            continue
        left = 60 * MINUTES - (time.monotonic() - start)
        if left < 0:
            failed.append(f"{name}/{step}: no time left")
            continue
        print(f"{name}/{step}", flush=True)
        begun, paths = time.monotonic(), part.paths_of(step)
        before = revision(*paths)
        log = KEPT / name / f"{step}.log"
        reason = _run(part.steps[step], log, left)
        lines = map(str.strip, log.read_text().splitlines())
        said = [line for line in lines if any(map(str.isalnum, line))]
        found = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            # What was run has a revision only where it was committed, and stayed so to its end.
            "revision": before if before == revision(*paths) else "",
            "passed": not reason,
            "seconds": round(time.monotonic() - begun),
            "said": (said[-1] if said else "") if reason != "no time left" else reason,
            "stands_on": {path: _digest(path) for path in paths},
        }
        RESULTS.mkdir(exist_ok=True)
        # All steps, so that the page shows those that were not run.
        every = {each: kept(name).get(each) for each in part.steps} | {step: found}
        text = json.dumps(every, indent=1, sort_keys=True) + "\n"
        write_atomically(RESULTS / f"{name}.json", text.encode())
        print(f"{name}/{step}: {'FAILED' if reason else 'passed'} in {found['seconds']} s")
        if reason:
            failed.append(f"{name}/{step}: {reason}, see {log}")
    if name == "recorded":
        _clear(part)
    return failed


def _clear(recorded: Part) -> None:
    """Remove the cells that chapters share where no chapter of the data set is left to be run."""
    for dataset in BY_CHAPTERS:
        steps = [step for step in recorded.steps if step.startswith(f"{dataset}/")]
        if not any(why("recorded", recorded, step) for step in steps):
            shutil.rmtree(KEPT / "cells" / _digest("src") / dataset, ignore_errors=True)


def main() -> int:
    """Run parts, all if none is named."""
    known = parts()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    every = {
        "/".join(words[:n]): None
        for name, part in known.items()
        for step in part.steps
        for words in [[name, *step.split("/")]]
        for n in range(2, len(words) + 1)
    }
    parser.add_argument(
        "part", nargs="*", choices=[*known, *every, []], metavar="PART[/STEP]",
        help=f"of {', '.join(known)}",
    )  # fmt: skip
    parser.add_argument("--again", action="store_true", help="also what passed and stands")
    parser.add_argument("--stale", action="store_true", help="only list what has to be run")
    asked = parser.parse_args()
    chosen = {
        (name, step): known[name]
        for each in asked.part or list(known)
        for name, _, only in [each.partition("/")]
        for step in known[name].steps
        if not only or f"{step}/".startswith(f"{only}/")
    }
    if asked.stale:
        digest = cache(_digest)
        reasons = {
            f"{name}/{step}": reason
            for (name, step), part in chosen.items()
            if (reason := why(name, part, step, digest))
        }
        print("\n".join(map(": ".join, reasons.items())) or "nothing is stale")
        if reasons:
            names = dict.fromkeys(step.partition("/")[0] for step in reasons)
            print(
                f'a release waits for: make prove PART="{" ".join(names)}", then commit {KEPT_IN}'
            )
        return int(bool(reasons))
    failed = [
        each
        for name in dict.fromkeys(name for name, _ in chosen)
        for each in prove(
            name, known[name], [step for part, step in chosen if part == name], again=asked.again
        )
    ]
    print("\n".join(failed) or "all passed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
