"""Fetching data sets from their publishers: when asked, hashed before anything is in place.

Nothing in the package calls this but ``recbias data fetch``. An interrupted download leaves a
hidden ``.part`` that the next call continues where the server can (an HTTP range), and repeats
where it cannot.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pooch
import requests
import urllib3
from tqdm import tqdm

from recbias.data.datasets.archives import unpack
from recbias.data.datasets.registry import DatasetInfo
from recbias.errors import DataError, MissingData

__all__ = ["Download", "downloads", "fetch"]

_TIMEOUT = (20, 60)
"""Seconds to wait for a connection, and for the next block."""

_BLOCK = 2**16


@dataclass(frozen=True)
class Download:
    """A file at a publisher's, and what becomes of it here.

    Parameters
    ----------
    address, checksum, size
        As in `DatasetInfo`.
    file : str
        Where it goes, below a data folder; an archive only until it is unpacked.
    members : mapping of str to str
        Files to unpack from it, as in `DatasetInfo`; empty if it is no archive.
    max_size : int, optional
        Bytes that these may have together.
    """

    address: str
    checksum: str
    size: int | None
    file: str
    members: dict[str, str] = field(default_factory=dict)
    max_size: int | None = None


def downloads(info: DatasetInfo) -> tuple[Download, ...]:
    """List what has to be downloaded for a data set.

    Parameters
    ----------
    info : DatasetInfo
        The data set.

    Returns
    -------
    tuple of Download
        Empty if the data set needs no files.

    Raises
    ------
    MissingData
        If a person has to place the files; the message says how.
    """
    if not info.files:
        return ()
    if info.parts:
        return tuple(
            Download(part["address"], part["checksum"], part.get("size"), file)
            for file, part in info.parts.items()
        )
    if info.by_hand or not info.address or not info.checksum:
        how = info.by_hand or f"see {info.address or info.citation}"
        raise MissingData(
            f"{info.name} cannot be fetched: {how}\n"
            f"place the files as {', '.join(f'FOLDER/{name}' for name in info.files[-1])}\n"
            "and name FOLDER by RECBIAS_DATA or --data-dir"
        )
    file = info.files[-1][0]
    if info.members:
        packed = PurePosixPath(urlsplit(info.address).path).name
        file = str(PurePosixPath(next(iter(info.members))).parent / packed)
    return (
        Download(
            info.address, info.checksum, info.size, file, dict(info.members), info.unpacked_size
        ),
    )


def fetch(info: DatasetInfo, folder: Path) -> tuple[Path, ...]:
    """Download a data set and put its files in place, complete and hashed.

    Parameters
    ----------
    info : DatasetInfo
        The data set.
    folder : Path
        A data folder; made if need be.

    Returns
    -------
    tuple of Path
        The files. No connection is made for an archive that is there with the right hash.

    Raises
    ------
    MissingData
        If a person has to place the files.
    DataError
        If the address cannot be read, gives another file than the registry says, or an archive that
        is refused; nothing is in place then.
    OSError
        If the folder cannot be written.
    """
    paths: list[Path] = []
    for download in downloads(info):
        path = folder / download.file
        with _made(path.parent):
            _retrieve(info.name, download, path)
        if download.members:
            paths.extend(unpack(path, download.members, folder, max_size=download.max_size))
            path.unlink()
        else:
            paths.append(path)
    return tuple(paths)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder for what is to come; what was made and stays empty goes again."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # one that holds something stays, and those around it
            for path in new:
                path.rmdir()
        raise


def _retrieve(name: str, download: Download, path: Path) -> None:
    pooch.get_logger().setLevel("WARNING")
    transfer = _Transfer(name, download, path.with_name(f".{path.name}.part"))
    try:
        pooch.retrieve(
            download.address,
            known_hash=download.checksum,
            fname=path.name,
            path=path.parent,
            downloader=transfer,
        )
    except requests.ConnectionError as error:
        if transfer.part.exists():
            raise _incomplete(name, download, transfer, error) from error
        host = urlsplit(download.address).hostname
        raise DataError(
            f"{name}: no connection to {host}, nothing was written; try again with a network"
        ) from error
    except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
        raise _incomplete(name, download, transfer, error) from error
    except ValueError as error:  # what pooch says of a wrong hash
        raise DataError(
            f"{name}: another file than expected from {download.address}, nothing was kept\n"
            f"expected {transfer.expected}\ngot {transfer.got}"
        ) from error


def _incomplete(name: str, download: Download, transfer: _Transfer, error: Exception) -> DataError:
    return DataError(
        f"{name}: no complete file from {download.address}: {_short(error)}\n"
        f"expected {transfer.expected}; got {transfer.describe()}\n"
        "nothing is in place; try again later, what came is continued"
    )


def _short(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP status {response.status_code} {response.reason}"
    return " ".join(str(error).split())[:200]


class _Transfer:
    """What pooch calls to get a file: resumes, counts, shows progress, and remembers what came."""

    def __init__(self, name: str, download: Download, part: Path) -> None:
        self.name = name
        self.download = download
        self.part = part
        self.got = "nothing"
        size = "" if download.size is None else f", {download.size:,} bytes"
        self.expected = download.checksum + size

    def __call__(self, url: str, output_file: str, _: object) -> None:
        response, start = self._open(url)
        with response:
            response.raise_for_status()
            self._save(response, start)
            kind = response.headers.get("Content-Type", "of no stated type").split(";")[0]
        self.got = f"{self.describe()}, {kind}"
        os.replace(self.part, output_file)

    def describe(self) -> str:
        """Describe what has come so far."""
        if not self.part.exists():
            return "nothing"
        kind = self.download.checksum.partition(":")[0]
        with self.part.open("rb") as file:
            digest = hashlib.file_digest(file, kind).hexdigest()
        return f"{kind}:{digest}, {self.part.stat().st_size:,} bytes"

    def _open(self, url: str) -> tuple[requests.Response, int]:
        """Ask for what is missing; return the answer and the byte that it starts at."""
        headers = {"Accept-Encoding": "identity"}
        start = self.part.stat().st_size if self.part.exists() else 0
        if start:
            ranged = requests.get(
                url, headers={**headers, "Range": f"bytes={start}-"}, stream=True, timeout=_TIMEOUT
            )
            if ranged.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                return ranged, start
            ranged.close()
        return requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT), 0

    def _save(self, response: requests.Response, have: int) -> None:
        coming = response.headers.get("Content-Length")
        total = have + int(coming) if coming else self.download.size
        with (
            self.part.open("ab" if have else "wb") as file,
            tqdm(
                desc=self.name,
                total=total,
                initial=have,
                unit="B",
                unit_scale=True,
                disable=None,  # no bar where standard error is no terminal
            ) as progress,
        ):
            # Raw: the checksum is that of the file, not of what a server may say it encodes.
            for block in response.raw.stream(_BLOCK, decode_content=False):
                file.write(block)
                have += len(block)
                progress.update(len(block))
                if self.download.size is not None and have > self.download.size:
                    break  # its hash will be another one; no need to fill the disk first
