"""Installed without the extra of the book, the package evaluates, judges and verifies."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from click.testing import CliRunner
from recbias.cli.commands import main
ends = [CliRunner().invoke(main, arguments) for arguments in {asked!r}]
print(json.dumps([(end.exit_code, end.output) for end in ends]))
"""


def packages() -> set[str]:
    """Name the modules of the extra."""
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {each.partition(">")[0] for each in extra["optional-dependencies"]["book"]}
    return {name.replace("-", "_") for name in names} | {"IPython", "myst_nb", "sphinx"}


def ended(*asked: Sequence[str], missing: set[str]) -> list[tuple[int, str]]:
    """Give several commands to one process: the code that each ends with, and what it prints."""
    program = PROGRAM.format(missing=missing, asked=[list(arguments) for arguments in asked])
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert found.returncode == 0, found.stderr
    return [(code, output) for code, output in json.loads(found.stdout.splitlines()[-1])]


def test_without_pages_commands_work_and_those_that_make_pages_say_what_to_install(
    tmp_path: Path,
) -> None:
    rows = [f"{user},{item},{1 + (user + item) % 5}" for user in range(9) for item in range(9)]
    (table := tmp_path / "t.csv").write_text("\n".join(["user,item,rating", *rows]))
    (scores := tmp_path / "s.csv").write_text("\n".join(["user,item,score", *rows]))
    measure = ["measure", str(table), "--scores", str(scores)]
    work = (["data", "info", "synthetic"], [*measure, "--split", "ratio 0.5", "--metric", "P@1"])
    need = (["run", "line_ups", "--dataset", "synthetic"], ["book"])
    found = ended(*work, *need, missing=packages())
    assert [code for code, _ in found] == [0, 0, 2, 2], found
    assert all("pip install 'recbias[book]'" in output for _, output in found[len(work) :])


@pytest.mark.slow
def test_without_pages_claims_are_judged() -> None:
    (found,) = ended(["claims", "--dataset", "synthetic", "--json"], missing=packages())
    assert found[0] == 0, found[1]
