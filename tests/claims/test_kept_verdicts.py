"""What was judged before is used again only where nothing differs that it was read from."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from recbias.claims import kept
from recbias.cli.entry import main

ROOT = Path(__file__).parents[2]
Change = Callable[[Path], object]


class Maker:
    """Makes another text each time, and counts."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        return f"text {self.made}: \N{GREEK SMALL LETTER TAU}, \ud800 and\nmore"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a package, data, recorded and live results, and a folder for what is kept."""
    for name in (
        "src/recbias/claims/functions.py",
        "src/recbias/book/chapters/one/__init__.py",
        "data/published/claims.yaml",
        "data/published/criteria/lock.json",
        "data/registry.yaml",
        "data/recorded/ml-1m/one/grid.json",
        "data/recorded/ml-1m/one/grid.parquet",
        "data/recorded/manifest.json",
        "data/downloads/ratings.dat",
        "_build/results/mine/one/grid.json",
        "installed/numpy-2.0.dist-info/METADATA",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"of {name}")
    monkeypatch.setattr(kept, "_PACKAGE", tmp_path / "src/recbias")
    monkeypatch.setattr(kept, "clone_root", lambda: tmp_path)
    monkeypatch.setattr(kept, "_folder", lambda: tmp_path / "kept")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "installed")])
    monkeypatch.delenv("RECBIAS_RESULTS", raising=False)
    return tmp_path


def test_a_text_is_made_once_and_the_same_again(clone: Path) -> None:
    make = Maker()
    first = kept.kept(("document",), make)
    assert kept.kept(("document",), make) == first
    assert make.made == 1
    assert kept.kept(("document", "ml-1m"), make) != first
    assert kept.kept(("document",), make) == first
    assert make.made == 2


def edit(name: str) -> Change:
    """Exchange a letter, and let size and date be the same."""

    def change(clone: Path) -> None:
        path = clone / name
        was, times = path.read_text(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        path.write_text(was.replace("of", "if"))
        os.utime(path, ns=times)

    return change


@pytest.mark.parametrize(
    "change",
    [
        edit("src/recbias/claims/functions.py"),
        edit("src/recbias/book/chapters/one/__init__.py"),
        edit("data/published/claims.yaml"),
        edit("data/published/criteria/lock.json"),
        edit("data/registry.yaml"),
        edit("data/recorded/ml-1m/one/grid.json"),
        edit("data/recorded/ml-1m/one/grid.parquet"),
        edit("data/recorded/manifest.json"),
        edit("_build/results/mine/one/grid.json"),
        lambda clone: (clone / "data/recorded/ml-1m/one/grid.parquet").unlink(),
        lambda clone: (clone / "data/recorded/ml-1m/one/more.json").touch(),
        lambda clone: (clone / "src/recbias/more.py").touch(),
        lambda clone: (clone / "data/recorded/ml-1m").rename(clone / "data/recorded/coat"),
        lambda clone: (clone / "installed/numpy-2.0.dist-info").rename(
            clone / "installed/numpy-2.1.dist-info"
        ),
        lambda clone: (clone / "data/recorded/linked").symlink_to(clone / "data/published"),
    ],
)
def test_whatever_could_decide_a_verdict_has_it_judged_anew(clone: Path, change: Change) -> None:
    make = Maker()
    kept.kept(("document",), make)
    change(clone)
    assert kept.kept(("document",), make).startswith("text 2")
    assert kept.kept(("document",), make).startswith("text 2")


def test_other_places_and_another_python_have_it_judged_anew(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Maker()
    kept.kept(("document",), make)
    shutil.copytree(clone / "_build/results", clone / "elsewhere")
    monkeypatch.setenv("RECBIAS_RESULTS", str(clone / "elsewhere"))
    assert kept.kept(("document",), make).startswith("text 2")
    monkeypatch.setattr(sys, "version", "4.0")
    assert kept.kept(("document",), make).startswith("text 3")


def test_downloads_and_compiled_code_decide_nothing(clone: Path) -> None:
    make = Maker()
    kept.kept(("document",), make)
    edit("data/downloads/ratings.dat")(clone)
    (clone / "src/recbias/__pycache__").mkdir()
    (clone / "src/recbias/__pycache__/functions.pyc").touch()
    assert kept.kept(("document",), make).startswith("text 1")


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-40]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\x00\xff" * 40),
        lambda path: path.write_text(path.read_text().replace("text 1", "text 9")),
        lambda path: path.write_text("[" * 100_000),
        lambda path: path.write_text("{}"),
        lambda path: (path.unlink(), path.mkdir()),
    ],
)
def test_a_damaged_entry_is_made_anew(clone: Path, damage: Change) -> None:
    make = Maker()
    kept.kept(("document",), make)
    (entry,) = (clone / "kept").iterdir()
    damage(entry)
    assert kept.kept(("document",), make).startswith("text 2")


def test_what_cannot_be_written_is_no_error(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker()
    (clone / "kept").write_text("a file where the folder would be")
    for number in (1, 2):
        assert kept.kept(("document",), make).startswith(f"text {number}")

    def refuse() -> Path:
        raise FileNotFoundError("no temporary folder")

    monkeypatch.setattr(kept, "_folder", refuse)
    assert kept.kept(("document",), make).startswith("text 3")


def test_what_changes_while_it_is_judged_is_not_kept(clone: Path) -> None:
    def make() -> str:
        edit("data/registry.yaml")(clone)
        return "half of this, half of that"

    assert kept.kept(("document",), make) == "half of this, half of that"
    assert not (clone / "kept").exists()


def test_an_error_is_not_kept(clone: Path) -> None:
    def fail() -> str:
        raise ValueError("no such claim")

    for _ in range(2):
        with pytest.raises(ValueError, match="no such claim"):
            kept.kept(("explanation", "x"), fail)
    assert not (clone / "kept").exists()


def test_of_tables_and_outside_a_clone_nothing_is_kept(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Maker()
    monkeypatch.setattr("recbias.claims.writing.write", lambda datasets, judged: make())
    for _ in range(2):
        kept.document("my.csv")
    monkeypatch.setattr(kept, "clone_root", lambda: None)
    for _ in range(2):
        kept.document("ml-1m")
    assert make.made == 4
    assert not (clone / "kept").exists()


FORMS = (
    pytest.param(("--dataset", "synthetic"), marks=pytest.mark.slow),
    pytest.param(("--dataset", "synthetic", "--json"), marks=pytest.mark.slow),
    pytest.param(("--dataset", "synthetic", "--csv"), marks=pytest.mark.slow),
    ("--dataset", "ml-1m", "--explain", "BCC17-L1"),
)


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_the_command_prints_the_same_whether_or_not_it_was_judged_before(
    form: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> bytes:
        return CliRunner().invoke(main, ["claims", *form], catch_exceptions=False).stdout_bytes

    fresh = told()
    monkeypatch.setattr(kept, "_folder", lambda: tmp_path / "kept")
    assert told() == fresh
    assert len(list((tmp_path / "kept").iterdir())) == 1
    monkeypatch.setattr("recbias.claims.writing.write", lambda datasets, judged: "{}")
    monkeypatch.setattr("recbias.claims.explaining.explain_claim", lambda claim, dataset: "")
    assert told() == fresh


HEAVY = ("numpy", "pandas", "scipy", "numba", "pyarrow", "yaml", "matplotlib")


def imported(program: str) -> list[str]:
    """Run a program, and name the heavy libraries that it imported."""
    listing = f"{program}; import sys; print(*(each for each in {HEAVY} if each in sys.modules))"
    command = [sys.executable, "-c", listing]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


def test_what_was_judged_before_is_printed_without_what_judges() -> None:
    """Their imports take longer than all else."""
    asked = "from recbias.cli.entry import main; main(['claims', '-h'], standalone_mode=False)"
    assert imported(asked) == []
    assert imported("import recbias") == []
    assert "pandas" in imported("import recbias; recbias.Grid")


def test_names_of_a_package_are_there_when_they_are_asked_for() -> None:
    program = "import recbias; assert recbias.metrics.parse_metric and recbias.claims.claims()"
    assert imported(f"{program}; assert set(recbias.__all__) <= set(dir(recbias))")
    with pytest.raises(AttributeError, match="'recbias' has no attribute 'gird'"):
        __import__("recbias").gird  # noqa: B018


def test_a_stored_result_can_be_read_by_who_imports_nothing_else() -> None:
    manifest = json.loads((ROOT / "data/recorded/manifest.json").read_text())["ml-1m"]
    name = next(name for name, each in manifest.items() if each["kind"] == "grid")
    path = str(ROOT / "data/recorded/ml-1m" / name)
    program = "from pathlib import Path; from recbias.experiment.results import load_result"
    assert "pandas" in imported(f"{program}; assert load_result(Path({path!r})).systems")
