"""A recommender of a reader's own in a grid: class or object, script or notebook, any worker."""

from __future__ import annotations

import importlib
import linecache
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import golden
from recbias import Grid, System, run
from recbias.errors import ConfigError, ContractError
from recbias.recommenders import Carried, Popularity, UserKNN, as_system, base, carried
from recbias.recommenders.base import source_digest

CELL = """
import numpy as np
SIGN = 1.0

def counts(train):
    return SIGN * train.item_counts()

class Mine:
    def __init__(self, power=1.0, flipped=False):
        self.power = power
        self.flipped = flipped

    def fit(self, train, *, rng=None):
        self.scores = np.float32(counts(train)) ** np.float32(self.power)
        return self

    def score(self, users):
        return np.tile(-self.scores if self.flipped else self.scores, (len(users), 1))
"""
USE = """
from recbias import Grid, run
from recbias.recommenders import Popularity

grid = Grid({table!r}, (Mine, Mine(power=2.0), Mine(flipped=True), Popularity),
            "AI-AN-AR rel>=4", ("P@10", "nDCG@10"), split="k-fold 2")
"""
ASK = """
results = run(grid, workers=2)
assert run(grid).times["computed"] == 0
table = results.table("AI-AN-AR rel>=4", "P@10")["value"]
print(*table.index, sep=";")
print(*table, sep=";")
"""
NAMES = "Mine;Mine(power=2.0);Mine(flipped=True);Popularity"


@pytest.fixture(autouse=True)
def forget_new_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_ALGORITHMS", dict(base._ALGORITHMS))
    monkeypatch.setattr(base, "_SOURCES", dict(base._SOURCES))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return golden.small_table(tmp_path_factory.mktemp("own"))


def session(monkeypatch: pytest.MonkeyPatch, text: str, name: str = "a_session") -> Any:
    """Run text as a cell of a session that has no file, and return its module."""
    kept = None if name == "__main__" else sys.modules.get(name)
    module = kept or ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    place = f"<cell {len(linecache.cache)}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    exec(compile(text, place, "exec"), vars(module))  # noqa: S102 - as a notebook does
    return module


def check_values(printed: str) -> None:
    names, values = printed.splitlines()[-2:]
    assert names == NAMES
    first, squared, flipped, popular = map(float, values.split(";"))
    # A power of counts orders like the counts; popularity breaks no tie otherwise.
    assert first == squared == popular > 2 * flipped


@pytest.mark.slow
def test_a_script_with_an_undecorated_class_runs_in_two_workers(
    table: Path, tmp_path: Path
) -> None:
    guarded = (USE.format(table=str(table)) + ASK).replace("\n", "\n    ")
    (tmp_path / "script.py").write_text(f"{CELL}\nif __name__ == '__main__':{guarded}\n")
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "RECBIAS_CELLS": str(tmp_path / "cells"), "TQDM_DISABLE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    check_values(done.stdout)


@pytest.mark.slow
def test_a_notebook_with_class_and_helper_in_cells_runs_in_two_workers(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    cells = [CELL.partition("class Mine")[0], "class Mine" + CELL.partition("class Mine")[2]]
    cells += [USE.format(table=str(table)), ASK]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = [each for each in book.cells[-1].outputs if each.get("name") == "stdout"]
    check_values("".join(each.text for each in said))


def test_objects_and_classes_become_systems_with_names_that_differ() -> None:
    assert as_system(UserKNN(n_neighbours=7)) == System(
        "UserKNN(n_neighbours=7)", "UserKNN", {"n_neighbours": 7}
    )
    assert as_system(Popularity) == System("Popularity", "Popularity")
    system = System("a", "Popularity")
    assert as_system(system) is system
    grid = Grid("synthetic", Popularity, "TI-AN-AR rel>=4", "P@10")
    assert grid.systems == (as_system(Popularity),)
    assert Grid.from_dict(grid.to_dict()) == grid


BROKEN = {
    "class Mine:\n    def score(self, users): ...": "Mine: has no method fit",
    "class Mine:\n    def fit(self, train, *, rng=None): ...": "Mine: has no method score",
    "class Mine(Two):\n    def __init__(self, n): self.n = n": "argument 'n' has no default",
    "class Mine(Two):\n    def __init__(self, n=1): self.m = n": "keeps no attribute 'n'",
    "class Mine(Two):\n    def __init__(self, n=[1]): self.n = n": "n is list, but arguments are",
    "class Mine(Two):\n    def __init__(self, n=1e999): self.n = n": "n is inf, expected a finite",
}
TWO = "class Two:\n    def fit(self, train, *, rng=None): ...\n    def score(self, users): ...\n"


@pytest.mark.parametrize("text", BROKEN)
def test_a_class_that_cannot_be_a_system_is_told_why(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = session(monkeypatch, TWO + text)
    with pytest.raises(ContractError, match=BROKEN[text]):
        Grid("synthetic", (module.Mine,), "TI-AN-AR rel>=4", "P@10")


def test_what_has_neither_method_or_another_class_s_name_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ConfigError, match="expected systems such as those of line_up"):
        as_system(object())
    module = session(monkeypatch, TWO.replace("Two", "Popularity"))
    with pytest.raises(ConfigError, match=r"'Popularity' exists already, .*: rename yours"):
        as_system(module.Popularity)


def test_an_object_with_an_argument_that_has_no_default_is_a_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = TWO + "class Mine(Two):\n    def __init__(self, n, *rest, **more): self.n = n"
    system = as_system(session(monkeypatch, text).Mine(np.int64(3)))
    assert (system.name, system.parameters) == ("Mine(n=3)", {"n": 3})
    assert system.identity()["parameters"] == {"n": 3}


@pytest.mark.parametrize(
    ("cell", "moves"),
    [
        (CELL, False),
        (CELL.replace("SIGN = 1.0", "SIGN = -1.0"), True),
        (CELL.replace("return SIGN *", "return 2 * SIGN *"), True),
        (CELL.replace("(len(users), 1)", "(len(users), True)"), True),
        (CELL + "\ndef unused(): ...\nOTHER = 3\n", False),
    ],
)
def test_a_class_of_a_session_is_known_by_its_text_and_all_that_it_names(
    cell: str, moves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = as_system(session(monkeypatch, CELL).Mine).identity()
    assert (as_system(session(monkeypatch, cell).Mine).identity() != identity) is moves


def test_a_class_that_only_sets_values_is_known_by_them_and_its_bases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def source(of: str, sign: str = "1.0") -> str:
        cell = CELL.replace("SIGN = 1.0", f"SIGN = {sign}") + f"class Quiet(Mine):\n    {of}\n"
        found = as_system(session(monkeypatch, cell).Quiet).identity()["source"]
        assert isinstance(found, str)
        return found

    plain = source("pass")
    assert source("pass") == plain
    assert len({plain, source("steps = 3"), source("steps = 4"), source("pass", "-1.0")}) == 4


def test_a_helper_that_changes_alone_changes_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    module = session(monkeypatch, CELL)
    system = as_system(module.Mine)
    before = system.identity()
    session(monkeypatch, "def counts(train):\n    return -train.item_counts()\n")
    assert system.identity() != before


def test_an_edited_file_is_refused_until_it_is_imported_again(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "model_of_mine.py"
    values = []
    for sign in ("1.0", "-1.0"):
        file.write_text(CELL.replace("* train", f"* {sign} * train"))
        module: Any = sys.modules.get("model_of_mine")
        if module is not None:
            base._ALGORITHMS.pop("Mine")
            with pytest.raises(ContractError, match="has changed since it was imported"):
                as_system(module.Mine)
            importlib.reload(module)
        importlib.invalidate_caches()
        module = importlib.import_module("model_of_mine")
        grid = Grid(str(table), module.Mine, "AI-AN-AR rel>=4", "P@10", split="k-fold 2")
        values.append(run(grid)["Mine", "AI-AN-AR rel>=4", "P@10"].value)
    sys.modules.pop("model_of_mine")
    assert values[0] > 2 * values[1]


def test_what_travels_comes_out_as_the_same_class(monkeypatch: pytest.MonkeyPatch) -> None:
    module = session(monkeypatch, CELL, "__main__")
    system = as_system(module.Mine)
    sent = carried("Mine")
    assert sent == carried("Mine")
    assert hash(sent) == hash(carried("Mine"))
    assert carried("Popularity") is None
    identity, packed = system.identity(), cloudpickle.dumps(sent)
    del base._ALGORITHMS["Mine"]
    arrived = cloudpickle.loads(packed)
    assert isinstance(arrived, Carried)
    arrived.load()
    assert base.algorithm("Mine").__module__ == "__main__"
    assert System("Mine", "Mine").identity() == identity
    assert source_digest("Mine") == identity["source"]


def test_a_class_that_cannot_travel_says_so_and_still_runs_here(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", str(tmp_path / "cells"))
    odd = "import threading\nLOCK = threading.Lock()\n"
    text = odd + CELL.replace("        self.scores", "        LOCK.locked()\n        self.scores")
    module = session(monkeypatch, text, "__main__")
    run(Grid(str(table), module.Mine, "AI-AN-AR rel>=4", "P@10", split="k-fold 2"))
    with pytest.raises(ContractError, match=r"cannot reach another process .*lock.*\nput the"):
        cloudpickle.dumps(carried("Mine"))
