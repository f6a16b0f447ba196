from __future__ import annotations

from pathlib import Path

import pytest

from recbias import places


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


def test_cells_dir_from_variable_clone_or_cache(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECBIAS_CELLS", "/cells")
    assert places.cells_dir() == Path("/cells")
    monkeypatch.delenv("RECBIAS_CELLS")
    assert places.cells_dir() == clone / "data/cells"
    (clone / "_toc.yml").unlink()
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert places.cells_dir() == Path("/cache/recbias/cells")
    assert places.data_dirs() == []


def test_nothing_is_created(clone: Path) -> None:
    places.data_dirs()
    places.cells_dir()
    assert not (clone / "data").exists()
