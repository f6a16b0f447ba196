"""What takes too long for each change, in parts: ``python tests/prove.py [PART ...]``.

A part is a list of steps, each a command. What a step said is kept with its date and revision under
``_build/prove/PART``; a step that passed at this revision is not run again, so that a part that was
stopped goes on where it was. ``--again`` runs it anew. A part that takes more than its time ends,
and fails, before its next step.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from odd_pages import PAGES
from planted_grids import PLANTED
from recbias.claims import claims
from recbias.claims.records import criteria_of
from recbias.data.datasets import dataset_info, state
from recbias.experiment.results import SIMULATIONS
from recbias.experiment.verification import listed_datasets

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "_build/prove"
MINUTES = 150

ROOMS = sorted(path.name for path in (ROOT / "tests").iterdir() if list(path.glob("test_*.py")))


def _python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def _claims_of(topic: str) -> list[str]:
    criteria = criteria_of(topic)
    return [claim.id for claim in claims() if claim.topic == topic and claim.id in criteria]


def _verifiable() -> list[str]:
    """Name what recorded results can be computed anew of: data sets that are here, simulations."""
    return [
        name
        for name in listed_datasets()
        if name == SIMULATIONS or state(dataset_info(name)) in ("present", "made here")
    ]


def parts() -> dict[str, dict[str, list[str]]]:
    """Name the steps of each part, and their commands."""
    examples = ["-m", "pytest", "-q", "--hypothesis-profile=prove"]
    return {
        "criteria": {
            topic.replace(" ", "_"): _python("tests/prove_mutants.py", *_claims_of(topic))
            for topic in PLANTED
        },
        "checks": {"chapter_1": _python("-m", "pytest", "-q", "-s", "tests/prove_checks.py")},
        "stops": {"rounds": _python("tests/prove_stops.py")},
        "tables": {page: _python("tests/prove_tables.py", "--page", page) for page in PAGES},
        "sizes": {"tests_and_intervals": _python("tests/prove_sizes.py")},
        "audits": {
            "worlds": _python("tests/prove_audits.py"),
            "warnings": _python("tests/prove_warnings.py"),
            "lenskit": _python("tests/prove_lenskit.py"),
        },
        "course": {"class_of_a_hundred": _python("tests/prove_course.py")},
        "examples": {room: _python(*examples, f"tests/{room}") for room in ROOMS},
        # All that is recorded of what is here, which takes hours: a full run belongs here, and what
        # is kept of it has its date. A change has the sample that its commit draws (.ci/run).
        "recorded": {
            name: _python("-m", "recbias_command", "verify", "--workers", "2", "--dataset", name)
            for name in _verifiable()
        },
        "slow": {"tests": _python("-m", "pytest", "-q", "-m", "slow")},
    }


def revision() -> str:
    """Name the state of the tree; empty where it has changes that are not committed."""
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    named = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return "" if changed.stdout.strip() else named.stdout.strip()


def to_do(
    part: str, steps: Mapping[str, Sequence[str]], at: str, *, again: bool
) -> Iterator[tuple[str, Sequence[str]]]:
    """List the steps that have not passed at a revision."""
    for step, command in steps.items():
        kept = KEPT / part / f"{step}.json"
        if not again and at and kept.is_file():
            found = json.loads(kept.read_text())
            if (found["revision"], found["passed"]) == (at, True):
                print(f"{part}/{step}: passed on {found['date']}")
                continue
        yield step, command


def prove(part: str, steps: Mapping[str, Sequence[str]], *, again: bool = False) -> list[str]:
    """Run the steps of a part, and name those that failed or had no time left."""
    at, start, failed = revision(), time.monotonic(), []
    paths = os.pathsep.join(
        str(ROOT / folder) for folder in ("tests", "tests/site", "tests/book/course")
    )
    environment = {**os.environ, "PYTHONPATH": paths}
    for step, command in to_do(part, steps, at, again=again):
        if time.monotonic() - start > 60 * MINUTES:
            failed.append(f"{part}/{step}: no time left")
            continue
        print(f"{part}/{step}", flush=True)
        begun = time.monotonic()
        (KEPT / part).mkdir(parents=True, exist_ok=True)
        with (KEPT / part / f"{step}.log").open("w") as log:
            ended = subprocess.run(
                command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        passed = ended.returncode == 0
        found = {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
            "revision": at,
            "passed": passed,
            "seconds": round(time.monotonic() - begun),
        }
        (KEPT / part / f"{step}.json").write_text(json.dumps(found, indent=1) + "\n")
        print(f"{part}/{step}: {'passed' if passed else 'FAILED'} in {found['seconds']} s")
        if not passed:
            failed.append(f"{part}/{step}: see {KEPT / part / step}.log")
    return failed


def main() -> int:
    """Run parts, all if none is named."""
    known = parts()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="*", choices=[*known, []], help=f"of {', '.join(known)}")
    parser.add_argument("--again", action="store_true", help="also what passed already")
    asked = parser.parse_args()
    failed = [
        each for part in asked.part or known for each in prove(part, known[part], again=asked.again)
    ]
    print("\n".join(failed) or "all passed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
