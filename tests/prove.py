"""What takes too long for each change, in parts: ``python tests/prove.py [PART ...]``.

A part is a list of steps, each a command, and the paths that it stands on. What a step came to is
kept with its date, revision and last line in ``data/proof/PART.json``, which is committed and shown
on the page *Proof*; all that it said is below ``_build/prove``. A step that passed is run again
only where something that it stands on has changed since, so that a part that was stopped goes on.
Parts share what is computed in a clone: run them one at a time. ``--again`` runs a step anyway;
``--stale`` only lists what is stale, and fails where anything is. A part that takes more than its
time ends, and fails, before its next step.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent / "site"))

from odd_pages import PAGES
from planted_grids import PLANTED
from recbias.book.site import default_editions
from recbias.claims import claims
from recbias.claims.records import criteria_of
from recbias.data.datasets import dataset_info, state
from recbias.experiment.results import SIMULATIONS
from recbias.experiment.store import write_atomically
from recbias.experiment.verification import listed_datasets

ROOT = Path(__file__).resolve().parents[1]
RESULTS, KEPT = ROOT / "data/proof", ROOT / "_build/prove"
MINUTES = 150
SITE = "tests/site"
KEPT_IN = RESULTS.relative_to(ROOT).as_posix()

ROOMS_OF_CODE = ("metrics", "resampling", "verdicts")
ROOMS = sorted(path.name for path in (ROOT / "tests").iterdir() if list(path.glob("test_*.py")))


def _python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def _in_turn(*commands: list[str]) -> list[str]:
    """Give the command that runs several by Python, until one fails."""
    return ["sh", "-c", " && ".join(shlex.join(_python(*command)) for command in commands)]


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


class Part(NamedTuple):
    """What is run, and what would change its outcome; `{step}` stands for the name of a step."""

    steps: dict[str, list[str]]
    stands_on: tuple[str, ...]

    def paths_of(self, step: str) -> tuple[str, ...]:
        """Name the paths that a step stands on."""
        return tuple(path.format(step=step) for path in self.stands_on)


COMPUTES = tuple(
    f"src/recbias/{room}"
    for room in ("data", "protocol", "recommenders", "ranking", "metrics", "stats", "experiment")
)
"""The rooms that values come from."""


def parts() -> dict[str, Part]:
    """Name the parts."""
    examples = ["-m", "pytest", "-q", "--hypothesis-profile=prove"]
    return {
        "criteria": Part(
            {topic.replace(" ", "_"): _python("tests/prove_mutants.py", *_claims_of(topic))
             for topic in PLANTED},
            ("src/recbias/claims", "data/published", "tests/planted_verdicts", "tests/mutants.py"),
        ),
        "checks": Part(
            {"chapter_1": _python("-m", "pytest", "-q", "-s", "tests/prove_checks.py")},
            ("src/recbias/book/chapters/design_alternatives", "tests/prove_checks.py"),
        ),
        "code": Part(
            {room: _python("tests/prove_code.py", room) for room in ROOMS_OF_CODE},
            tuple(f"src/recbias/{room}" for room in ("metrics", "stats", "claims")),
        ),
        "stops": Part(
            {"rounds": _python("tests/prove_stops.py")},
            ("src/recbias/_system", "src/recbias/experiment", "tests/prove_stops.py"),
        ),
        "tables": Part(
            {page: _python("tests/prove_tables.py", "--page", page) for page in PAGES},
            ("src/recbias/data", "src/recbias/book", "notebooks", "tests/prove_tables.py"),
        ),
        "sizes": Part(
            {"tests_and_intervals": _python("tests/prove_sizes.py")},
            ("src/recbias/stats", "src/recbias/metrics", "tests/prove_sizes.py"),
        ),
        "audits": Part(
            {
                "worlds": _python("tests/prove_audits.py"),
                "warnings": _python("tests/prove_warnings.py"),
                "lenskit": _python("tests/prove_lenskit.py"),
            },
            ("src/recbias/audit", "src/recbias/multiverse"),
        ),
        "course": Part(
            {
                "class_of_a_hundred": _python("tests/prove_course.py"),
                # From what is recorded, as the site: with the data all of it would be trained anew.
                **{name: ["env", "RECBIAS_DATA=", *_python("tests/prove_course.py", name)]
                   for name in default_editions(ROOT)},
            },
            ("src/recbias/book", "notebooks", "tests/prove_course.py"),
        ),
        "examples": Part(
            {room: _python(*examples, f"tests/{room}") for room in ROOMS}, ("src", "tests")
        ),
        # All that is recorded of what is here, which takes hours: a full run belongs here. A change
        # has the sample that its commit draws (.ci/run).
        "recorded": Part(
            {name: _python("-m", "recbias_command", "verify", "--workers", "2", "--dataset", name)
             for name in _verifiable()},
            (*COMPUTES, "data/recorded/{step}"),
        ),
        # All pages and editions, of which a change has those that its commit draws.
        "site": Part(
            {
                "editions": _in_turn(["-m", "recbias_command", "book"], [f"{SITE}/check_same.py"]),
                "pages": _in_turn(*(
                    [f"{SITE}/{name}.py", "_build/site"]
                    for name in ("check_explorer", "check_guide", "check_rounds", "offline_check")
                )),
            },
            ("src", "book", "notebooks", "data/published", "data/findings", "data/recorded", SITE),
        ),
        # Strict: it fails where the index knows nothing of a package, which else is passed over.
        "advisories": Part(
            {"lock": ["sh", "-c", f"{sys.executable} -m venv _build/advisories && "
                      "_build/advisories/bin/pip install --quiet pip-audit && "
                      "_build/advisories/bin/pip-audit --strict --disable-pip --no-deps "
                      "--requirement requirements.lock --progress-spinner off"]},
            ("requirements.lock",),
        ),
        "slow": Part({"tests": _python("-m", "pytest", "-q", "-m", "slow")}, ("src", "tests")),
    }  # fmt: skip


def revision() -> str:
    """Name the state of the tree; empty where it has changes that are not committed."""
    return "" if _git("status", "--porcelain") else _git("rev-parse", "HEAD") or ""


def _git(*arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return None if done.returncode else done.stdout.strip()


@cache
def _changed(revision: str, paths: tuple[str, ...]) -> str:
    """Say what has changed below paths since a revision, also what is not committed."""
    if not revision:
        return "run on changes that are not committed"
    names = _git("diff", "--name-only", revision, "--", *paths)
    if names is None:
        return f"revision {revision[:8]} is not in this history"
    changed = names.splitlines()
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    return f"{changed[0]}{more} changed since" if changed else ""


def kept(part: str) -> dict[str, dict[str, object]]:
    """Read what the steps of a part came to."""
    path = RESULTS / f"{part}.json"
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def why_stale(part: str, step: str, stands_on: tuple[str, ...]) -> str:
    """Say why a step has to be run; empty if it passed and stands."""
    found = kept(part).get(step)
    if found is None:
        return "never run"
    if not found["passed"]:
        return f"failed on {found['date']}"
    return _changed(str(found["revision"]), stands_on)


def prove(name: str, part: Part, *, again: bool = False) -> list[str]:
    """Run the steps of a part, and name those that failed or had no time left."""
    start, failed = time.monotonic(), []
    folders = ("tests", "tests/site", "tests/book/course")
    paths = os.pathsep.join(str(ROOT / folder) for folder in folders)
    environment = {**os.environ, "PYTHONPATH": paths}
    for step, command in part.steps.items():
        if not again and not why_stale(name, step, part.paths_of(step)):
            print(f"{name}/{step}: passed on {kept(name)[step]['date']}, and stands")
            continue
        if time.monotonic() - start > 60 * MINUTES:
            failed.append(f"{name}/{step}: no time left")
            continue
        print(f"{name}/{step}", flush=True)
        begun = time.monotonic()
        log = KEPT / name / f"{step}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as file:
            ended = subprocess.run(
                command, cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT
            )
        passed = ended.returncode == 0
        said = [line.strip() for line in log.read_text().splitlines() if line.strip()]
        # What was run has a revision only where nothing of it was changed and not committed.
        clean = not _git("status", "--porcelain", "--", *part.paths_of(step))
        found = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "revision": (_git("rev-parse", "HEAD") or "") if clean else "",
            "passed": passed,
            "seconds": round(time.monotonic() - begun),
            "said": said[-1] if said else "",
        }
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps({**kept(name), step: found}, indent=1, sort_keys=True) + "\n"
        write_atomically(RESULTS / f"{name}.json", text.encode())
        print(f"{name}/{step}: {'passed' if passed else 'FAILED'} in {found['seconds']} s")
        if not passed:
            failed.append(f"{name}/{step}: see {log}")
    return failed


def main() -> int:
    """Run parts, all if none is named."""
    known = parts()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="*", choices=[*known, []], help=f"of {', '.join(known)}")
    parser.add_argument("--again", action="store_true", help="also what passed and stands")
    parser.add_argument("--stale", action="store_true", help="only list what has to be run")
    asked = parser.parse_args()
    chosen = asked.part or list(known)
    if asked.stale:
        stale = {
            f"{name}/{step}": reason
            for name in chosen
            for step in known[name].steps
            if (reason := why_stale(name, step, known[name].paths_of(step)))
        }
        print("\n".join(map(": ".join, stale.items())) or "nothing is stale")
        if stale:
            names = dict.fromkeys(step.partition("/")[0] for step in stale)
            print(
                f'a release waits for: make prove PART="{" ".join(names)}", then commit {KEPT_IN}'
            )
        return int(bool(stale))
    failed = [each for name in chosen for each in prove(name, known[name], again=asked.again)]
    print("\n".join(failed) or "all passed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
