from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recbias._system import caches, places

NAMES = ("NUMBA_CACHE_DIR", "MPLCONFIGDIR", "IPYTHONDIR")


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine that gives no place but the one for temporary files; a file stands in for home."""
    caches.can_write.cache_clear()
    caches.own_temporary.cache_clear()
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(caches, "_PACKAGE", tmp_path / "file")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    for name in (*NAMES, "XDG_CACHE_HOME", "RECBIAS_CELLS"):
        monkeypatch.setenv(name, "")  # so that what is named here goes afterwards
        monkeypatch.delenv(name)
    yield tmp_path / "temporary"
    caches.can_write.cache_clear()
    caches.own_temporary.cache_clear()


posix = pytest.mark.skipif(os.name == "nt", reason="homes and owners are other things there")


@posix
def test_caches_go_to_a_folder_of_the_user_alone(nowhere: Path) -> None:
    caches.name_caches()
    folder = nowhere / f"recbias-{os.getuid()}"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [Path(os.environ[name]).parent for name in NAMES] == [folder] * 3
    assert all(Path(os.environ[name]).is_dir() for name in NAMES)


@posix
def test_what_can_be_written_or_was_named_stays(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "named")
    monkeypatch.setenv("HOME", str(tmp_path))
    caches.name_caches()
    assert os.environ["NUMBA_CACHE_DIR"] == "named"
    assert not {"MPLCONFIGDIR", "IPYTHONDIR"} & set(os.environ)
    assert list(nowhere.iterdir()) == []


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, None])
def test_a_folder_that_others_may_have_filled_is_not_used(nowhere: Path, mode: int | None) -> None:
    """Who can put files into the cache of compiled code says what runs."""
    planted = nowhere / f"recbias-{os.getuid()}"
    if mode is None:
        planted.symlink_to(nowhere)
    else:
        planted.mkdir()
        planted.chmod(mode)
    used = caches.own_temporary()
    assert used.parent == nowhere
    assert used != planted
    assert stat.S_IMODE(used.stat().st_mode) == 0o700


@posix
def test_cells_go_where_they_can_be_written(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert places.cells_dir() == nowhere / f"recbias-{os.getuid()}" / "cells"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert places.cells_dir() == tmp_path / "recbias" / "cells"


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "shown"), [("ascii", "τ".encode()), ("cp1252", b"?")])
def test_a_sign_that_the_output_cannot_hold_stops_nothing(
    encoding: str, shown: bytes, tmp_path: Path
) -> None:
    """Where only ASCII is promised, click writes UTF-8."""
    table = tmp_path / "τ.csv"
    table.write_text("user,item,rating\na,x,1\na,y,5\nb,x,4\n", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from recbias.cli.commands import main; main()",
            "data",
            "info",
            table,
        ],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"name       " + shown in done.stdout
