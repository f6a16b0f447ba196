"""Compare all claims with those of another revision: ``python tests/compare_claims.py REVISION``.

Claim by claim and part by part, on each data set that has recorded results; with ``--dataset``, on
some. What differs is printed as the path to it and both values, and the exit code is 1. Left out is
provenance, which says how and when a result was computed; ``--ignore FIELD`` leaves out another
field. Files of data are found by RECBIAS_DATA, as for any command.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROVENANCE = "provenance"


def differences(before: Any, after: Any, ignored: set[str], path: str = "") -> Iterator[str]:
    """Say where two JSON values differ; claims are paired by their ids, all else by its place."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(set(after) - set(before))]:
            if name in ignored:
                continue
            if name not in before or name not in after:
                yield f"{path}/{name}: only {'after' if name in after else 'before'}"
            else:
                yield from differences(before[name], after[name], ignored, f"{path}/{name}")
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}: {len(before)} before, {len(after)} after"
        for place, pair in enumerate(zip(before, after, strict=False)):
            yield from differences(*pair, ignored, f"{path}[{place}]")
    elif repr(before) != repr(after):  # no number is one no number
        yield f"{path}: {before!r} before, {after!r} after"


def claims(root: Path, dataset: str) -> dict[str, Any]:
    """Ask the command of a checkout for the claims on a data set, by their ids."""
    command = [sys.executable, "-m", "recbias_command", "claims", "--dataset", dataset, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    printed = subprocess.run(command, cwd=root, env=environment, stdout=subprocess.PIPE, check=True)
    document = json.loads(printed.stdout, parse_constant=lambda _: None)
    if isinstance(document, dict):
        document = [rows(claim) for claim in document["claims"]]
    return {claim["id"]: claim for claim in document}


def rows(claim: dict[str, Any]) -> dict[str, Any]:
    """Write a claim of a document as it was printed before there was a schema, in one row.

    Without what was not printed then: assertions, the digest of its criterion, numbers of parts.
    """
    (found,) = claim["verdicts"].values()
    row = {name: each for name, each in claim.items() if name not in ("verdicts", *_NEW)}
    if not found["parts"]:  # no criterion was read
        row["earlier"] = []
    parts = [{k: v for k, v in part.items() if k not in _NEW} for part in found["parts"]]
    return {**row, **found, "parts": parts}


_NEW = ("page", "criterion", "assertions", "answers", "number", "measured")
"""Fields since there is a schema."""


def check_differences() -> None:
    """See that each kind of difference is told, and none where there is none."""
    claim = {"A": {"verdict": "yes", "parts": [{"value": 0.5}], PROVENANCE: {"seconds": 1}}}
    same = {"A": {**claim["A"], PROVENANCE: {"seconds": 2}}}
    assert not list(
        differences({"A": {"value": float("nan")}}, {"A": {"value": float("nan")}}, set())
    )
    assert not list(differences(claim, same, {PROVENANCE}))
    for field, value in (("verdict", "no"), ("parts", [{"value": 0.6}]), ("parts", [])):
        assert len(list(differences(claim, {"A": {**same["A"], field: value}}, {PROVENANCE}))) == 1
    assert len(list(differences(claim, {}, set()))) == len(list(differences({}, claim, set()))) == 1


def main() -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("revision", help="what git calls it")
    parser.add_argument("--dataset", action="append")
    parser.add_argument("--ignore", action="append", default=[PROVENANCE])
    asked = parser.parse_args()
    check_differences()
    recorded = sorted(path.name for path in (ROOT / "data/recorded").iterdir() if path.is_dir())
    n_found = 0
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "before"
        clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(other)]
        subprocess.run(clone, check=True)
        subprocess.run(["git", "checkout", "--quiet", asked.revision], cwd=other, check=True)
        for dataset in asked.dataset or recorded:
            both = claims(other, dataset), claims(ROOT, dataset)
            found = list(differences(*both, set(asked.ignore)))
            n_parts = sum(len(claim["parts"]) for claim in both[1].values())
            print(f"{dataset}: {len(both[1])} claims, {n_parts} parts, {len(found)} differences")
            for each in found:
                print(f"  {each}")
            n_found += len(found)
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main())
