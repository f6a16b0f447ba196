"""Dry runs of pages: the code of a page asks as it always does, and nothing is done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import golden
from recbias.book.notebooks import Chapter, find_chapter, plan_chapter, run_chapter
from recbias.cli.commands import main
from recbias.experiment import run as running
from recbias.experiment.results import kept_as

PAGE = """# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% tags=["parameters"]
dataset: str = "ml-1m"
split: str = "k-fold 2"
wanted: int = 1  # 1 to 9

# %%
from recbias import Grid, System, run
from recbias.experiment.results import begin_page

begin_page("01_small")
grid = Grid(dataset, [System("Random", "Random")], "TI-AN-AR rel>=4", "P@5", split=split)
measured = run(grid, name="systems")
best = measured.values["value"].max()

# %%
print(best)
measured.plot().show()
for number in range(wanted):
    again = run(Grid(dataset, [System("Popularity", "Popularity")], "TI-AN-AR rel>=4", "P@5",
                     split=split, seed=number), name=f"seed_{number}")

# %%
more = run(Grid(dataset, measured.grid.systems, "TI-AN-AR rel>=4", f"P@{best:.0f}"), name="more")
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chapter:
    """Make a clone with one page, and empty folders for what is kept."""
    (tmp_path / "clone/notebooks").mkdir(parents=True)
    (tmp_path / "clone/notebooks/01_small.py").write_text(PAGE)
    for name, folder in (("RECBIAS_CELLS", "cells"), ("XDG_CACHE_HOME", "cache")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    return Chapter("01_small", tmp_path / "clone")


def below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_a_page_is_planned_as_its_code_asks(page: Chapter, tmp_path: Path) -> None:
    table = str(golden.small_table(tmp_path))
    before = below(tmp_path)
    plan = plan_chapter(page, table, {"wanted": 2}, build=tmp_path / "build")
    assert plan is not None
    asked = [(step.result, step.status, step.n_compute) for step in plan.steps]
    assert asked == [
        ("01_small/systems", "compute", 2),
        ("01_small/seed_0", "compute", 2),
        ("01_small/seed_1", "compute", 2),
    ]
    (unforeseen,) = plan.unforeseen  # what is asked for by a value is named, not guessed
    assert unforeseen.startswith("cell 4: more = run(")
    assert below(tmp_path) == before
    assert kept_as("systems") is None  # no page is open
    # The cells of a run are those foreseen, and no others.
    variables: dict[str, Any] = {"dataset": table, "split": "k-fold 2"}
    for cell in page.notebook().cells[1:2]:
        exec(cell.source.replace("begin_page(", "str("), variables)  # noqa: S102 - the page's
    written = {path for path in below(tmp_path / "cells") if path.suffix == ".parquet"}
    assert written < plan.files
    assert len(written) == 2
    again = plan_chapter(page, table, build=tmp_path / "build")
    assert again is not None
    assert [(step.n_compute, step.n_read) for step in again.steps] == [(0, 2), (2, 0)]


def test_a_mistake_in_a_page_is_told(page: Chapter, tmp_path: Path) -> None:
    table = str(golden.small_table(tmp_path))
    page.source.write_text(PAGE.replace("rel>=4", "rel>=4 users=nobody", 1))
    with pytest.raises(Exception, match="nobody"):
        plan_chapter(page, table, build=tmp_path / "build")
    assert kept_as("systems") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--record"], "--dry-run: what --record does is to compute everything anew"),
        (["-p", "cutof", "3"], "unknown parameter"),
    ],
)
def test_what_a_dry_run_cannot_be_asked_for(
    options: list[str], message: str, tmp_path: Path
) -> None:
    words = ["run", "02_sparsity_bias", "--dataset", "synthetic", "--dry-run"]
    words += ["--out", str(tmp_path / "page.html"), *options]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert message in done.output
    assert below(tmp_path) == set()


def test_the_help_says_what_a_dry_run_is() -> None:
    done = CliRunner().invoke(main, ["run", "--help"])
    assert "--dry-run" in done.output
    assert "write nothing" in " ".join(done.output.split())


@pytest.mark.slow
def test_what_a_page_was_to_compute_is_what_its_run_leaves(page: Chapter, tmp_path: Path) -> None:
    table = str(golden.small_table(tmp_path))
    page.source.write_text(PAGE.partition("# %%\nmore =")[0].replace("measured.plot().show()", ""))
    plan = plan_chapter(page, table, {"wanted": 2}, build=tmp_path / "build")
    assert plan is not None
    run_chapter(page, table, {"wanted": 2}, build=tmp_path / "build")
    written = {path for path in below(tmp_path / "cells") if path.suffix == ".parquet"}
    assert plan.files == written
    assert len(written) == plan.n_compute == 6
    # And the page that is there now is not computed again; with other parameters it would be.
    assert plan_chapter(page, table, {"wanted": 2}, build=tmp_path / "build") is None
    other = plan_chapter(page, table, {"wanted": 3}, build=tmp_path / "build")
    assert other is not None
    assert (other.n_compute, other.n_read) == (2, 6)


@pytest.mark.slow
def test_a_chapter_asks_for_all_that_is_recorded_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_DATA", str(tmp_path))
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a grid is measured")

    monkeypatch.setattr(running, "_measure_grid", forbidden)
    table = str(golden.small_table(tmp_path))
    before = below(tmp_path)
    plan = plan_chapter(find_chapter("02_sparsity_bias"), table, build=tmp_path / "build")
    assert plan is not None
    names = {step.result.rpartition("/")[2] for step in plan.steps}
    folder = find_chapter("02_sparsity_bias").root / "data/recorded/ml-100k/02_sparsity_bias"
    assert {path.stem for path in folder.glob("*.json")} <= names
    assert plan.unforeseen == []
    assert below(tmp_path) == before
