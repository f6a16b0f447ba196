"""Installed without the extra of the book, the package evaluates, judges and verifies."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from recbias.cli.commands import main
main({arguments!r})
"""


def packages() -> set[str]:
    """Name the modules of the extra."""
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {each.partition(">")[0] for each in extra["optional-dependencies"]["book"]}
    return {name.replace("-", "_") for name in names} | {"IPython", "myst_nb", "sphinx"}


def ended(*arguments: str, missing: set[str]) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(missing=missing, arguments=list(arguments))
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.parametrize(
    "arguments",
    [
        ("data", "info", "synthetic"),
        ("measure", "{table}", "--scores", "{scores}", "--split", "ratio 0.5", "--metric", "P@1"),
        pytest.param(("claims", "--dataset", "synthetic", "--json"), marks=pytest.mark.slow),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_no_pages_works(arguments: tuple[str, ...], tmp_path: Path) -> None:
    rows = [f"{user},{item},{1 + (user + item) % 5}" for user in range(9) for item in range(9)]
    (table := tmp_path / "t.csv").write_text("\n".join(["user,item,rating", *rows]))
    (scores := tmp_path / "s.csv").write_text("\n".join(["user,item,score", *rows]))
    asked = [each.format(table=table, scores=scores) for each in arguments]
    found = ended(*asked, missing=packages())
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("arguments", [("run", "line_ups", "--dataset", "synthetic"), ("book",)])
def test_what_makes_pages_says_what_to_install(arguments: tuple[str, ...]) -> None:
    found = ended(*arguments, missing=packages())
    assert found.returncode == 2
    assert "pip install 'recbias[book]'" in found.stderr
