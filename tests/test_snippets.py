"""What README and pages tell a reader to type runs as it stands there, as files in a folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from recbias.cli.commands import main
from recbias.data.datasets.frames import frame_of
from recbias.data.simulation import make_world

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    """List the blocks of a page in a language, in their order."""
    found = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("reader")
    world = make_world(seed=7, n_users=120, n_items=240, n_ratings=2600)
    frame_of(world.ratings).to_csv(where / "my.csv", index=False)
    return where


def test_the_page_shows_the_programs_of_the_readme() -> None:
    shown = [text.replace("my_ratings.csv", "my.csv") for text in blocks("book/rerun.md", "python")]
    assert shown == blocks("README.md", "python")
    assert len(shown) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "printed"),
    [
        (0, ["Popularity", "pLSA", "TI-NN-1R t=100 rel>=4  nDCG@10"]),
        (1, ["WellRated ", "WellRated(damping=50.0)", "Popularity"]),
    ],
)
def test_a_program_of_the_readme_runs_as_a_file(
    number: int, printed: list[str], folder: Path
) -> None:
    (folder / f"program_{number}.py").write_text(blocks("README.md", "python")[number])
    done = subprocess.run(
        [sys.executable, "-W", "error", f"program_{number}.py"],
        cwd=folder,
        env={**os.environ, "RECBIAS_CELLS": str(folder / "cells"), "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all(text in done.stdout for text in printed)
    table = done.stdout[done.stdout.index("my.csv; k-fold 5") :]
    assert all(len(line) <= 80 for line in table.splitlines())


def test_scores_of_another_program_are_measured_as_the_readme_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RECBIAS_CELLS", str(folder / "cells"))
    commands = [
        line.partition("#")[0].split()[1:]
        for text in blocks("README.md", "console")
        for line in text.splitlines()
    ]
    split, measure = (
        next(words for words in commands if " ".join(words).startswith(start))
        for start in ("data split my.csv", "measure my.csv --scores mine=")
    )
    page = blocks("book/rerun.md", "console")
    told = [line.split()[1:] for text in page for line in text.splitlines()]
    for words in (split, measure):
        assert [word.replace("my.csv", "my_ratings.csv") for word in words] in told
    assert CliRunner().invoke(main, split).exit_code == 0
    exec(blocks("README.md", "python")[2], {})  # noqa: S102 - it is a program of the page
    ended = CliRunner().invoke(main, [*measure, "--out", "values.csv"])
    assert ended.exit_code == 0, ended.output
    values = pd.read_csv("values.csv").pivot(index="metric", columns="system", values="value")
    assert values["mine"].tolist() == values["Popularity"].tolist()
    assert values["mine"].min() > 0
