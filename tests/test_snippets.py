"""What README and pages tell a reader to type runs as it stands there, as files in a folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from recbias import Grid, Measurement, Results, load_dataset, run
from recbias.cli.commands import main
from recbias.data.datasets.frames import frame_of
from recbias.data.simulation import make_world
from recbias.protocol.testset import dataset_splits
from recbias.recommenders import base as recommenders_base

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    """List the blocks of a page in a language, in their order."""
    found = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def programs() -> list[str]:
    """List the programs of the README that a page shows as well: all but the first start."""
    return blocks("README.md", "python")[1:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make what a reader has: ratings, and in each tool's form test ratings and two runs."""
    where = tmp_path_factory.mktemp("reader")
    world = make_world(seed=7, n_users=120, n_items=240, n_ratings=2600)
    frame_of(world.ratings).to_csv(where / "my.csv", index=False)
    (split,) = dataset_splits(load_dataset(where / "my.csv"), "ratio 0.2", seed=1)
    test = frame_of(split.test)
    test["rating"] = test["rating"].astype(int)
    test.to_parquet(where / "test.parquet")
    test.to_csv(where / "test.tsv", sep="\t", header=False, index=False)
    test.assign(q0=0)[["user_id", "q0", "item_id", "rating"]].to_csv(
        where / "test.qrels", sep=" ", header=False, index=False
    )
    rng = np.random.default_rng(3)
    users = test["user_id"].unique()[3:]  # three users have no list
    for name in ("als", "popular"):
        rows = [
            (user, "Q0", item, rank, 100.0 - rank, name)
            for user in users
            for rank, item in enumerate(rng.permutation(split.train.item_ids)[:40], start=1)
        ]
        run = pd.DataFrame(rows, columns=["user_id", "q0", "item_id", "rank", "score", "tag"])
        run.to_csv(where / f"{name}.trec", sep=" ", header=False, index=False)
    run[["user_id", "item_id", "score", "rank"]].to_parquet(where / "recs.parquet")
    run[["user_id", "item_id", "score"]].to_csv(
        where / "recs.tsv", sep="\t", header=False, index=False
    )
    own_class = programs()[2].partition("\n\ngrid = Grid(")[0]
    (where / "mine.py").write_text(own_class, encoding="utf-8")
    return where


@pytest.fixture
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in the reader's folder; what is registered there does not stay."""
    for registry in ("_ALGORITHMS", "_SOURCES"):
        monkeypatch.setattr(recommenders_base, registry, dict(getattr(recommenders_base, registry)))
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("RECBIAS_CELLS", str(folder / "cells"))
    mpl.use("agg")
    return folder


def ran(text: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a block of a page, after those that made `names`."""
    exec(compile(text, "block of a page", "exec"), names)  # noqa: S102 - it is the page's
    return names


def test_the_page_shows_the_programs_of_the_readme() -> None:
    shown = [text.replace("my_ratings.csv", "my.csv") for text in blocks("book/rerun.md", "python")]
    assert shown == programs()
    assert len(shown) == 5


@pytest.mark.usefixtures("there")
def test_the_first_start_prints_what_the_readme_says(capsys: pytest.CaptureFixture[str]) -> None:
    ran(blocks("README.md", "python")[0], {})
    assert capsys.readouterr().out == blocks("README.md", "text")[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "printed"),
    [
        (0, ["Popularity", "pLSA", "TI-NN-1R t=100 rel>=4  nDCG@10"]),
        (2, ["WellRated ", "WellRated(damping=50.0)", "Popularity"]),
    ],
)
def test_a_program_of_the_readme_runs_as_a_file(
    number: int, printed: list[str], folder: Path
) -> None:
    (folder / f"program_{number}.py").write_text(programs()[number])
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


def test_runs_models_and_results_answer_as_the_readme_says(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ran(programs()[1], {})
    printed = capsys.readouterr().out
    assert "users with judgments, of whom 3 are not in the run and count with 0" in printed
    assert "P@10 under all: pLSA - Popularity = " in printed
    assert "tau = " in printed
    assert r"\begin{table}" in printed
    assert isinstance(names["results"], Results)
    assert (there / "systems.png").stat().st_size > 1000


@pytest.mark.usefixtures("there")
def test_combinations_of_options_answer_as_the_readme_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = ran(programs()[4], {})["found"]
    printed = capsys.readouterr().out
    assert "Popularity against Average rating: 36 universes\nwins " in printed
    assert all(text in printed for text in ("effect", "changes", "mean t"))
    assert len(found.table) == 36
    assert not len(found.refused)


@pytest.mark.usefixtures("there")
def test_scores_of_another_program_are_measured_as_the_readme_says() -> None:
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
    ran(programs()[3], {})
    ended = CliRunner().invoke(main, [*measure, "--out", "values.csv"])
    assert ended.exit_code == 0, ended.output
    values = pd.read_csv("values.csv").pivot(index="metric", columns="system", values="value")
    # The scores are those of the class before, and not another name for popularity.
    well_rated = ran("from mine import WellRated", {})["WellRated"]
    own = run(Grid("my.csv", well_rated, "AI-AN-AR rel>=4", tuple(values.index)))
    of_class = [own["WellRated", "AI-AN-AR rel>=4", metric].value for metric in values.index]
    assert values["mine"].tolist() == pytest.approx(of_class, abs=1e-12)
    assert (values["mine"] != values["Popularity"]).all()


# ---- coming from another tool

PAGE = "book/coming_from.md"
NOT_HERE = ("# LensKit ", "# RecBole ")
"""First lines of blocks for tools that are not installed: they are read by Python alone."""


@pytest.fixture(scope="module")
def tools() -> dict[str, list[str]]:
    """Sort the blocks of the page: of tools that are not here, of ranx, and all that is run."""
    sorted_blocks: dict[str, list[str]] = {"not here": [], "ranx": [], "run": []}
    for text in blocks(PAGE, "python"):
        kind = "ranx" if text.startswith("# ranx ") else "run"
        sorted_blocks["not here" if text.startswith(NOT_HERE) else kind].append(text)
    return sorted_blocks


def test_what_is_not_run_is_at_least_python(tools: dict[str, list[str]]) -> None:
    assert len(tools["not here"]) == 4
    for text in tools["not here"]:
        compile(text, PAGE, "exec")
        assert "recbias" not in text
    with pytest.raises(SyntaxError):
        compile(tools["not here"][0].replace("(", "", 1), PAGE, "exec")


@pytest.mark.slow
def test_every_block_of_the_page_runs(
    there: Path, tools: dict[str, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    splits = ["data", "split", "my.csv", "--out", "splits"]
    if not (there / "splits").exists():
        assert CliRunner().invoke(main, splits).exit_code == 0
    ran(programs()[3], {})
    assert "recbias " + " ".join(splits) in (ROOT / PAGE).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for text in tools["run"]:
        ran(text, names)
    assert capsys.readouterr().out.count("95 %") >= 1
    # What the page says is equal: ir_measures,
    measured = [names["als"], names["popular"]]
    for ours, theirs in zip(measured, names["theirs"].values(), strict=True):
        assert isinstance(ours, Measurement)
        assert ours.values["value"].tolist() == pytest.approx(
            [theirs[metric] for metric in names["wanted"]], abs=1e-12
        )
        assert ours.values["value"].min() > 0
    assert measured[0].values["value"].tolist() != pytest.approx(
        list(names["theirs"]["popular"].values()), abs=1e-6
    )
    # and ranx, in a process of its own without compilation, which takes it a minute.
    (text,) = tools["ranx"]
    answer = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            f"{text}\nimport json\nprint(json.dumps(report.results))",
        ],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=there,
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(answer.stdout.splitlines()[-1])
    for ours, name in zip(measured, ("als", "popular"), strict=True):
        assert ours.values["value"].tolist() == pytest.approx(
            list(theirs[name].values()), abs=1e-12
        )


def tasks(page: str) -> list[str]:
    """List the programs of the last section of the page."""
    section = page[page.index("(coming-ten)=") :]
    return [text for name, text in _BLOCK.findall(section) if name == "python"]


def too_long(programs: list[str]) -> list[str]:
    """List those of more than five lines, empty ones aside."""
    return [text for text in programs if len([line for line in text.split("\n") if line]) > 5]


def test_each_of_ten_tasks_takes_five_lines_at_most() -> None:
    programs = tasks((ROOT / PAGE).read_text(encoding="utf-8"))
    assert len(programs) == 10
    assert too_long(programs) == []
    assert too_long([*programs, "a\n" * 6]) == ["a\n" * 6]
