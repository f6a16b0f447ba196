"""Count the rooms that ratings visit on their way to P@10 with an interval, and the climbs.

    python tests/trace_rating.py [REVISION ...]

One system is trained on a small table and measured, in this process. Followed are the functions of
the package in the order in which they are entered first, as a reader of the code meets them. A
*stay* is a stretch of them within one module; a *room* is what stands in the order of modules in
`pyproject.toml`; a *climb* is a step back to a room that stands before the one that the walk is in:
data should go from the ratings to the results, and what goes back fetches something that could have
been brought along. With revisions, each is checked out into a temporary folder, and counted in its
own order.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from itertools import groupby, pairwise
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def order(root: Path) -> dict[str, int]:
    """Number the rooms of a checkout, from the errors to the command line."""
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(c["layers"] for c in settings["contracts"] if c["id"] == "concept-map")
    names = [[n.strip(" ()") for n in layer.replace("|", ":").split(":")] for layer in layers]
    return {name: place for place, layer in enumerate(reversed(names)) for name in layer}


def room(module: str, rooms: dict[str, int]) -> str | None:
    """Find the room of a module of the package."""
    parts = module.split(".")[1:]
    names = (".".join(parts[:depth]) for depth in range(len(parts), 0, -1))
    return next((name for name in names if name in rooms), None)


def trace(root: Path) -> None:
    """Measure P@10 with a profile of all calls, and print the counts."""
    import pandas as pd

    from recbias import Grid, System, run

    rooms = order(root)
    met: dict[Any, str] = {}

    def called(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "") if event == "call" else ""
        if module.startswith("recbias."):
            met.setdefault(frame.f_code, module)

    rows = [
        (user, item, 1 + (user * item) % 5) for user in range(40) for item in range(user % 7, 30)
    ]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    grid = Grid(frame, System("Popularity", "Popularity"), "AI-AN-AR rel>=4", "P@10")
    with tempfile.TemporaryDirectory() as cells:
        os.environ["RECBIAS_CELLS"] = cells
        sys.setprofile(called)
        try:
            run(grid)
        finally:
            sys.setprofile(None)
    stays = [module for module, _ in groupby(met.values())]
    visits = [name for name, _ in groupby(room(module, rooms) for module in stays) if name]
    climbs = [(a, b) for a, b in pairwise(visits) if rooms[b] < rooms[a]]
    print(
        f"{len(stays)} stays in {len(set(stays))} modules, {len(visits)} in {len(set(visits))} of "
        f"{len(rooms)} rooms, {len(climbs)} climbs:"
    )
    print("  " + ", ".join(f"{a} to {b}" for a, b in climbs))


def main() -> None:
    """Trace this checkout, or revisions of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("revision", nargs="*")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not asked.revision:
        trace(asked.root)
    for revision in asked.revision:
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder) / "clone"
            clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(other)]
            subprocess.run(clone, check=True)
            subprocess.run(["git", "checkout", "--quiet", revision], cwd=other, check=True)
            environment = {**os.environ, "PYTHONPATH": str(other / "src")}
            print(revision)
            command = [sys.executable, __file__, "--root", str(other)]
            subprocess.run(command, env=environment, check=True)


if __name__ == "__main__":
    main()
