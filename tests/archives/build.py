"""Build archives for the tests: two good ones, and one for each way to do harm.

``python tests/archives/build.py FOLDER`` writes them, to be looked at. They are built and not
stored, because hardly any other program would let them pass.
"""

from __future__ import annotations

import gzip
import io
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

TABLE = b"1\t2\t5\t881250949\n" * 400
WANTED = "data/u.data"


def zip_of(path: Path, *members: tuple[str, bytes], modes: dict[str, int] | None = None) -> Path:
    """Write a zip with the table that is wanted and other members, some with a Unix mode."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ((WANTED, TABLE), *members):
            info = zipfile.ZipInfo(name)
            info.filename = info.orig_filename = name
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = ((modes or {}).get(name, stat.S_IFREG) | 0o644) << 16
            archive.writestr(info, content)
    return path


def tar_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """Write a tar.gz with the table that is wanted and other members."""
    table = tarfile.TarInfo(WANTED)
    with tarfile.open(path, "w:gz") as archive:
        for info, content in ((table, TABLE), *members):
            if info.isreg():
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def _tar_entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = link
    return info


def good_zip(folder: Path) -> Path:
    return zip_of(folder / "good.zip", ("data/README", b"read me"), ("data/other/Ä.txt", b"a"))


def good_tar(folder: Path) -> Path:
    plain = _tar_entry("data/README"), b"read me"
    return tar_of(folder / "good.tar.gz", (_tar_entry("./data", tarfile.DIRTYPE), b""), plain)


def many_members(folder: Path) -> Path:
    """Write more empty members than may be there."""
    path = folder / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(WANTED, TABLE)
        for number in range(10_000):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    return path


def long_header(folder: Path) -> Path:
    """Write a tar whose header, not its content, is the bomb: 64 MB that take 64 kB."""
    path = folder / "header.tar.gz"
    info = _tar_entry("x", tarfile.XHDTYPE)
    info.size = 2**26
    with gzip.open(path, "wb") as file:
        file.write(info.tobuf(tarfile.USTAR_FORMAT))
        for _ in range(64):
            file.write(bytes(2**20))
    return path


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "dots in a zip": (
        lambda folder: zip_of(folder / "a.zip", ("data/../../x", b"x")),
        "'data/../../x': leads out of the folder",
    ),
    "dots in a tar": (
        lambda folder: tar_of(folder / "a.tar.gz", (_tar_entry("../../x"), b"x")),
        "'../../x': leads out of the folder",
    ),
    "backward dots": (
        lambda folder: zip_of(folder / "a.zip", ("data\\..\\..\\x", b"x")),
        r"leads out of the folder",
    ),
    "absolute path": (
        lambda folder: tar_of(folder / "a.tar.gz", (_tar_entry("/etc/x"), b"x")),
        "'/etc/x': has an absolute path",
    ),
    "drive letter": (
        lambda folder: zip_of(folder / "a.zip", ("C:x", b"x")),
        "'C:x': has a drive letter",
    ),
    "symbolic link in a tar": (
        lambda folder: tar_of(
            folder / "a.tar.gz", (_tar_entry("data/link", tarfile.SYMTYPE, "../.."), b"")
        ),
        "'data/link': is a link",
    ),
    "symbolic link in a zip": (
        lambda folder: zip_of(
            folder / "a.zip", ("data/link", b"../.."), modes={"data/link": stat.S_IFLNK}
        ),
        "'data/link': is a link",
    ),
    "hard link": (
        lambda folder: tar_of(
            folder / "a.tar.gz", (_tar_entry("data/link", tarfile.LNKTYPE, "/etc/passwd"), b"")
        ),
        "'data/link': is a link",
    ),
    "device": (
        lambda folder: tar_of(folder / "a.tar.gz", (_tar_entry("data/null", tarfile.CHRTYPE), b"")),
        "'data/null': is a device",
    ),
    "pipe in a zip": (
        lambda folder: zip_of(
            folder / "a.zip", ("data/pipe", b""), modes={"data/pipe": stat.S_IFIFO}
        ),
        "'data/pipe': is a device",
    ),
    "duplicate": (
        lambda folder: tar_of(folder / "a.tar.gz", (_tar_entry(f"./{WANTED}"), b"other")),
        f"'./{WANTED}': is there twice",
    ),
    "case collision": (
        lambda folder: zip_of(folder / "a.zip", ("data/U.DATA", b"other")),
        f"'data/U.DATA': collides with '{WANTED}'",
    ),
    "hidden by a zero": (
        lambda folder: zip_of(folder / "a.zip", ("data/x\0.txt", b"x")),
        "has a control character in its name",
    ),
    "10,001 members": (many_members, "there are more than 10,000 members"),
    "bomb in a zip": (
        lambda folder: zip_of(folder / "a.zip", ("data/zeros", bytes(10**7))),
        "'data/zeros': 10,000,000 bytes are packed into",
    ),
    "bomb in a tar": (
        lambda folder: tar_of(folder / "a.tar.gz", (_tar_entry("data/zeros"), bytes(10**7))),
        "'data/zeros': 10,0",
    ),
    "bomb in a header": (long_header, "unpacks to more than 200 times its size"),
    "larger than the registry says": (
        lambda folder: zip_of(folder / "a.zip"),
        f"'{WANTED}': {len(TABLE):,} bytes are needed, expected at most 6,399",
    ),
    "without what is needed": (
        lambda folder: _renamed(zip_of(folder / "a.zip")),
        f"'{WANTED}': one is needed, and 0 are there",
    ),
}


def _renamed(path: Path) -> Path:
    path.write_bytes(path.read_bytes().replace(WANTED.encode(), b"data/x.data"))
    return path


def main() -> None:
    folder = Path(sys.argv[1])
    for name, (build, _) in HOSTILE.items():
        place = folder / name
        place.mkdir(parents=True)
        build(place)
    good_zip(folder)
    good_tar(folder)


if __name__ == "__main__":
    main()
