from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from recbias._system import places


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone around the working directory; the package seems to be installed elsewhere."""
    (tmp_path / "clone/notebooks").mkdir(parents=True)
    (tmp_path / "clone/_toc.yml").write_text("format: jb-book\n")
    (tmp_path / "clone/pyproject.toml").write_text('[project]\nname = "recbias"\n')
    monkeypatch.setattr(places, "_PACKAGE", tmp_path / "site-packages/recbias")
    monkeypatch.chdir(tmp_path / "clone/notebooks")
    for name in ("RECBIAS_DATA", "RECBIAS_CELLS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "clone"


def test_clone_is_found_from_a_folder_inside(clone: Path) -> None:
    assert places.clone_root() == clone


def test_another_projects_folder_is_no_clone(clone: Path) -> None:
    (clone / "pyproject.toml").write_text('[project]\nname = "other"\n')
    assert places.clone_root() is None


def test_what_changes_between_two_calls_is_seen(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = clone / "pyproject.toml"
    assert places.clone_root() == clone
    for name, found in (("other", None), ("recbias", clone), ("recbxxx", None)):
        time.sleep(0.02)  # longer than the clock of a file system may stand still
        project.write_text(f'[project]\nname = "{name}"\n')
        assert places.clone_root() == found, name
    project.write_text("[project")
    for _ in range(2):
        with pytest.raises(tomllib.TOMLDecodeError):
            places.clone_root()
    project.unlink()
    assert places.clone_root() is None
    project.write_text('[project]\nname = "recbias"\n')
    assert places.clone_root() == clone
    monkeypatch.chdir(tmp_path)
    assert places.clone_root() is None
    monkeypatch.setattr(places, "_PACKAGE", clone / "src/recbias")
    assert places.clone_root() == clone


def test_a_nearer_clone_is_found_once_it_is_there(clone: Path) -> None:
    assert places.clone_root() == clone
    (clone / "notebooks/_toc.yml").write_text("format: jb-book\n")
    assert places.clone_root() == clone, "no project file yet"
    (clone / "notebooks/pyproject.toml").write_text('[project]\nname = "recbias"\n')
    assert places.clone_root() == clone / "notebooks"


def test_a_project_file_is_parsed_once_while_it_stays(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    loads = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: parsed.append(text) or loads(text))
    for _ in range(5):
        places.clone_root()
    assert len(parsed) == 1
    time.sleep(0.02)
    (clone / "pyproject.toml").write_text('[project]\nname = "recbias"\n')
    places.clone_root()
    assert len(parsed) == 2, "the same words, but written again"


def test_a_package_folder_without_a_book_is_no_clone(clone: Path) -> None:
    (clone / "_toc.yml").unlink()
    assert places.clone_root() is None


def test_packaged_prefers_what_travels_with_the_code(clone: Path) -> None:
    assert places.packaged("registry.yaml") == clone / "data/registry.yaml"
    beside = clone.parent / "site-packages/recbias/_data"
    beside.mkdir(parents=True)
    assert places.packaged("registry.yaml") == beside / "registry.yaml"


def test_data_dirs_in_order(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    downloads = clone / "data/downloads"
    assert places.data_dirs() == [downloads]
    monkeypatch.setenv("RECBIAS_DATA", "/there")
    assert places.data_dirs(Path("/given")) == [Path("/given"), Path("/there"), downloads]


def test_cells_dir_from_variable_or_cache_never_in_the_clone(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", "/cells")
    assert places.cells_dir() == Path("/cells")
    monkeypatch.delenv("RECBIAS_CELLS")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert places.cells_dir() == Path("/cache/recbias/cells")
    (clone / "_toc.yml").unlink()
    assert places.data_dirs() == []


@pytest.mark.parametrize("before", ["/cells", None])
def test_cells_are_kept_elsewhere_for_a_while(
    before: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECBIAS_CELLS", raising=False)
    if before is not None:
        monkeypatch.setenv("RECBIAS_CELLS", before)
    with places.cells_kept_in(tmp_path / "other"):
        assert places.cells_dir() == tmp_path / "other"
    assert os.environ.get("RECBIAS_CELLS") == before
    assert not (tmp_path / "other").exists()


def test_nothing_is_created(clone: Path) -> None:
    places.data_dirs()
    places.cells_dir()
    assert not (clone / "data").exists()


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        (None, "the project has no public address yet"),
        (["Documentation, https://docs.example"], "the project has no public address yet"),
        (["Repository, https://code.example/x"], "get one from https://code.example/x"),
    ],
)
def test_what_needs_a_clone_says_where_to_get_one(
    urls: list[str] | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = Message()
    for url in urls or []:
        written["Project-URL"] = url
    monkeypatch.setattr(places, "metadata", lambda name: written)
    assert said in str(places.need_clone("a chapter needs"))


def test_a_wheel_evaluates_and_finds_what_travels_with_it(tmp_path: Path) -> None:
    """Of a wheel alone, away from any clone and without what pages need."""
    root = Path(__file__).resolve().parents[2]
    hatch = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*hatch, "--directory", tmp_path], cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    code = """
import sys
sys.modules.update(dict.fromkeys(("jupyter_book", "jupytext", "matplotlib", "papermill")))
import pandas as pd, recbias
from recbias.claims import claims
run = pd.DataFrame({"user_id": ["u", "u"], "item_id": ["a", "b"], "rank": [1, 2]})
judged = pd.DataFrame({"user_id": ["u"], "item_id": ["b"], "rating": [1]})
value = recbias.measure(run, judged, "RR").values["value"].item()
print(recbias.__file__, len(recbias.load_dataset("synthetic").ratings) > 0, len(claims()), value)
from click.testing import CliRunner
from recbias.cli.commands import main
for arguments in (["--help"], ["data", "info", "ml-100k"]):
    print(CliRunner().invoke(main, arguments, catch_exceptions=False).output)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        # to compile its functions for two items would take ten seconds
        env={**os.environ, "PYTHONPATH": str(tmp_path / "installed"), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found, _, told = done.stdout.partition("\n")
    assert found.startswith(str(tmp_path)), found
    assert found.split()[1:] == ["True", "205", "0.5"]
    assert "reconcile" in told
    assert "MovieLens 100K" in told
