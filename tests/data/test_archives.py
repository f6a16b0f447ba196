"""Archives that would do harm are refused before a byte is written; good ones give their bytes."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from pathlib import Path

import pytest

from archives.build import HOSTILE, TABLE, WANTED, good_tar, good_zip, tar_of, zip_of
from recbias.data.datasets import archives, registry
from recbias.data.datasets.archives import unpack
from recbias.errors import DataError

FILES = {"mine/ratings.txt": WANTED}


def below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused_before_a_byte_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, message = HOSTILE[name]
    archive = build(tmp_path)
    before = below(tmp_path)

    def no_writing(*_: object) -> None:
        raise AssertionError("something would be written")

    monkeypatch.setattr(archives, "_write", no_writing)
    with pytest.raises(DataError) as caught:
        unpack(archive, FILES, tmp_path / "out" / "folder", max_size=len(TABLE) - 1)
    assert str(archive) in str(caught.value)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3
    assert below(tmp_path) == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("build", [good_zip, good_tar])
def test_good_archives_give_the_needed_bytes_and_nothing_else(build, tmp_path: Path) -> None:
    archive = build(tmp_path)
    out = tmp_path / "out"
    paths = unpack(archive, FILES, out, max_size=len(TABLE))
    assert paths == (out / "mine/ratings.txt",)
    assert below(out) == {"mine/ratings.txt": TABLE}
    assert paths[0].stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("make", [zip_of, tar_of])
def test_members_come_in_any_order_and_replace_older_files(make, tmp_path: Path) -> None:
    extra = tarfile.TarInfo("data/b") if make is tar_of else "data/b"
    archive = make(tmp_path / "archive", (extra, b"second"))
    out = tmp_path / "out"
    out.mkdir()
    (out / "one").write_bytes(b"older")
    assert unpack(archive, {"one": "data/b", "two": WANTED}, out) == (out / "one", out / "two")
    assert below(out) == {"one": b"second", "two": TABLE}


def test_the_end_of_a_name_is_enough_if_only_one_ends_so(tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "a.zip", ("b/x.txt", b"1"), ("c/x.txt", b"2"), ("c/._u.data", b"3"))
    out = tmp_path / "out"
    assert unpack(archive, {"one": "u.data"}, out) == (out / "one",)
    assert below(out) == {"one": TABLE}
    with pytest.raises(DataError, match=r"'x\.txt': one is needed, and 2 are there"):
        unpack(archive, {"one": "x.txt"}, out)


def test_archives_packed_on_windows_have_no_modes(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        info = zipfile.ZipInfo(WANTED)
        info.create_system, info.external_attr = 0, 0x20
        opened.writestr(info, TABLE)
    assert unpack(archive, FILES, tmp_path / "out")[0].read_bytes() == TABLE


def _flip_zip(content: bytes) -> bytes:
    place = content.index(WANTED.encode()) + len(WANTED) + 5
    return content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :]


DAMAGED = {
    "a web page": lambda folder: b"<html>not here</html>",
    "an empty file": lambda folder: b"",
    "half a zip": lambda folder: good_zip(folder).read_bytes()[:150],
    "half a tar": lambda folder: good_tar(folder).read_bytes()[:100],
    "a gzip of no tar": lambda folder: gzip.compress(b"x" * 700),
    "a flipped bit": lambda folder: _flip_zip(good_zip(folder).read_bytes()),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    archive = tmp_path / "damaged"
    archive.write_bytes(DAMAGED[name](tmp_path))
    with pytest.raises(DataError, match="damaged"):
        unpack(archive, FILES, tmp_path / "out")
    assert below(tmp_path / "out") == {}


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source, target, _):
        target.write(source.read(100))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives.shutil, "copyfileobj", full)
    with pytest.raises(OSError, match="No space left"):
        unpack(good_zip(tmp_path), FILES, tmp_path / "out")
    assert below(tmp_path / "out") == {}


def test_the_registry_names_each_member_once_and_only_files_of_the_data_set() -> None:
    for info in registry().values():
        members = list(info.members.values())
        assert len(set(members)) == len(members), info.name
        assert not members or set(info.members) in [set(files) for files in info.files], info.name
