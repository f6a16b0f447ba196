"""Unpacking what publishers pack, zip or tar.gz, without trusting it.

Every member is checked before a byte is written, because neither the standard library nor pooch
refuses all that :func:`unpack` does; and names of members never become paths: a file gets the name
that the registry gives it.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, NamedTuple, cast

from recbias.errors import DataError

__all__ = ["MAX_MEMBERS", "MAX_RATIO", "Bounded", "unpack"]

MAX_MEMBERS = 10_000
"""Far more than any publisher's archive has."""

MAX_RATIO = 200
"""Bytes unpacked per byte packed; text shrinks to a third or a tenth, a sparse matrix to a
fiftieth."""

_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
)


class _Member(NamedTuple):
    name: str
    fault: str | None
    """Why it is neither a plain file nor a folder."""
    size: int
    packed: int | None
    """Bytes in the archive; None in a tar, which is compressed as a whole."""


def unpack(
    archive: Path, members: Mapping[str, str], folder: Path, *, max_size: int | None = None
) -> tuple[Path, ...]:
    """Unpack the members that are needed, all or none.

    Parameters
    ----------
    archive : Path
        A zip or a tar.gz, told apart by content.
    members : mapping of str to str
        Relative path of a file below `folder`, and the member that it comes from: its name, or the
        end of its name, after a slash, if only one ends so.
    folder : Path
        Where to write; folders are made if need be, files of these names replaced.
    max_size : int, optional
        Bytes that the needed members may have together.

    Returns
    -------
    tuple of Path
        The files, in the order of `members`.

    Raises
    ------
    DataError
        If any member, needed or not, has a path that leads out of the folder (``..``, absolute,
        drive letter), is a link or a device, has the name of another one in the same or another
        case, or unpacks to more than `MAX_RATIO` times its packed size; if there are more than
        `MAX_MEMBERS`; if the needed ones are absent or larger than `max_size`; if the archive is
        damaged. Nothing is left behind, and nothing was written unless it is the damage of a needed
        member that shows only while it is unpacked.
    OSError
        If the folder cannot be written.
    """
    with _damage_explained(archive):
        with archive.open("rb") as file:
            magic = file.read(4)
        if magic[:2] == b"PK":
            names = _check(archive, _zip_members(archive), members, max_size)
            return _write(_zip_contents(archive, names), members, folder)
        if magic[:2] == b"\x1f\x8b":
            names = _check(archive, _tar_members(archive), members, max_size)
            return _write(_tar_contents(archive, names), members, folder)
        raise zipfile.BadZipFile(f"it starts with {magic!r}")


@contextmanager
def _damage_explained(archive: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise DataError(
            f"{archive}: damaged, or neither zip nor tar.gz: {error}\n"
            "nothing was unpacked; delete it and get it anew"
        ) from error


def _check(
    archive: Path, content: Iterable[_Member], members: Mapping[str, str], max_size: int | None
) -> dict[str, str]:
    """Refuse what must not be unpacked; return the full name of the member behind each file."""
    archive_size = archive.stat().st_size
    total = 0
    sizes: dict[str, int] = {}
    paths: dict[str, str] = {}
    for member in content:
        name = member.name
        if len(sizes) == MAX_MEMBERS:
            raise _refusal(archive, name, f"there are more than {MAX_MEMBERS:,} members")
        if fault := _path_fault(name) or member.fault:
            raise _refusal(archive, name, fault)
        path = str(PurePosixPath(name.replace("\\", "/")))
        # What is one file where case or the composition of accents does not count.
        same = unicodedata.normalize("NFC", path).casefold()
        if same in paths:
            fault = "is there twice" if paths[same] == path else f"collides with {paths[same]!r}"
            raise _refusal(archive, name, fault)
        paths[same] = path
        sizes[name] = member.size
        total += member.size
        unpacked, packed = member.size, member.packed
        if packed is None:
            unpacked, packed = total, archive_size
        if unpacked > MAX_RATIO * packed:
            raise _refusal(archive, name, f"{unpacked:,} bytes are packed into {packed:,}")
    names = {}
    for file, wanted in members.items():
        fitting = [name for name in sizes if f"/{name}".endswith(f"/{wanted}")]
        if wanted not in fitting and len(fitting) != 1:
            raise _refusal(archive, wanted, f"one is needed, and {len(fitting)} are there")
        names[file] = wanted if wanted in fitting else fitting[0]
    needed = sum(sizes[name] for name in names.values())
    if max_size is not None and needed > max_size:
        name = max(names.values(), key=sizes.__getitem__)
        raise _refusal(archive, name, f"{needed:,} bytes are needed, expected at most {max_size:,}")
    return names


def _path_fault(name: str) -> str | None:
    """Say why a name is no relative path below a folder, on one system or another."""
    path = PureWindowsPath(name)  # knows both slashes
    if path.drive:
        return "has a drive letter"
    if path.root:
        return "has an absolute path"
    if ".." in path.parts:
        return "leads out of the folder"
    if any(ord(letter) < 32 for letter in name):
        return "has a control character in its name"
    return None


def _refusal(archive: Path, member: str, fault: str) -> DataError:
    return DataError(
        f"{archive}: refused because of its member {member[:200]!r}: {fault}\n"
        "nothing was unpacked; look at it, and tell the publisher or us"
    )


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where it was packed on Windows
            fault = None
            if kind == stat.S_IFLNK:
                fault = "is a link"
            elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                fault = "is a device"
            elif info.flag_bits & 1:
                fault = "is encrypted"
            # The full name: `filename` ends where a NUL hides the rest.
            yield _Member(info.orig_filename, fault, info.file_size, info.compress_size)


def _zip_contents(archive: Path, names: Mapping[str, str]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as opened:
        for file, name in names.items():
            with opened.open(name) as content:
                yield file, content


class Bounded(io.BufferedIOBase):
    """A stream that ends in an error before it fills memory or disk: headers can be bombs, too.

    Parameters
    ----------
    stream : binary stream
        What is unpacked of a file.
    packed : int
        Bytes of the file.
    """

    def __init__(self, stream: IO[bytes], packed: int) -> None:
        self._stream = stream
        # A tar of one short file is padded to 10 kB, hence the constant.
        self._left = MAX_RATIO * packed + 2**20

    def read(self, size: int | None = -1) -> bytes:
        """Read on.

        Raises
        ------
        EOFError
            If more has come than `MAX_RATIO` times what is packed.
        """
        block = self._stream.read(-1 if size is None else size)
        self._left -= len(block)
        if self._left < 0:
            raise EOFError(
                f"it unpacks to more than {MAX_RATIO} times its size; if that is right, unpack it"
            )
        return block

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
        super().close()


@contextmanager
def _open_tar(archive: Path) -> Iterator[tarfile.TarFile]:
    with gzip.open(archive) as stream:
        bounded = Bounded(cast(IO[bytes], stream), archive.stat().st_size)
        with tarfile.open(fileobj=bounded, mode="r|") as opened:
            yield opened


def _tar_members(archive: Path) -> Iterator[_Member]:
    with _open_tar(archive) as opened:
        for info in opened:
            fault = None
            if info.issym() or info.islnk():
                fault = "is a link"
            elif not (info.isdir() or info.isreg()) or info.issparse() or info.size < 0:
                fault = "is a device"
            yield _Member(info.name, fault, info.size, None)


def _tar_contents(archive: Path, names: Mapping[str, str]) -> Iterator[tuple[str, IO[bytes]]]:
    files = {name: file for file, name in names.items()}
    with _open_tar(archive) as opened:
        for info in opened:
            if info.name in files:
                yield files[info.name], cast(IO[bytes], opened.extractfile(info))


def _write(
    contents: Iterable[tuple[str, IO[bytes]]], members: Mapping[str, str], folder: Path
) -> tuple[Path, ...]:
    """Write beside the names, and rename when all are complete."""
    written: dict[Path, str] = {}
    try:
        for file, content in contents:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, written[path] = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            with os.fdopen(handle, "wb") as target:
                shutil.copyfileobj(content, target, 2**20)
        for path, temporary in written.items():
            Path(temporary).chmod(0o644)
            os.replace(temporary, path)
    finally:
        for temporary in written.values():
            Path(temporary).unlink(missing_ok=True)
    return tuple(folder / file for file in members)
