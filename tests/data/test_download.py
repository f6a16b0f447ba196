"""Downloads from a server of our own: whatever it does, only the right file gets into place."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from archives.build import TABLE, WANTED, good_tar, good_zip, many_members
from recbias.cli import commands as cli
from recbias.data.datasets import DatasetInfo, download, find_files, registry
from recbias.data.datasets.download import downloads, fetch
from recbias.data.ratings import RatingScale
from recbias.errors import DataError, MissingData


class Server(ThreadingHTTPServer):
    """What is at which path, how it misbehaves, and what was asked of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.status = 200
        self.kind = "application/zip"
        self.headers: dict[str, str] = {}
        self.ranges = True
        self.cut: int | None = None
        self.asked: list[str] = []

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range", "")
        server.asked.append(wanted)
        content, start, status = server.files[self.path[1:]], 0, server.status
        if wanted and server.ranges and status == 200:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            status = 206 if start < len(content) else 416
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        for name, value in server.headers.items():
            self.send_header(name, value)
        body = b"" if status == 416 else content[start:]
        self.send_header("Content-Type", server.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: server.cut])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("RECBIAS_DATA", raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def entry(server: Server, content: bytes, **changes: object) -> DatasetInfo:
    """Describe a data set whose archive is `content`."""
    server.files.setdefault("toy.zip", content)
    details = {
        "name": "toy",
        "title": "Toy",
        "licence": "Look, do not sell.",
        "use": "Look.",
        "citation": "A. Toy. 2026.",
        "n_users": 1,
        "n_items": 1,
        "n_ratings": 1,
        "scale": RatingScale(1, 5, 1),
        "cannot_test": {},
        "files": (("toy/ratings.txt",),),
        "address": server.address("toy.zip"),
        "checksum": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "size": len(content),
        "members": {"toy/ratings.txt": WANTED},
        "unpacked_size": len(TABLE),
        **changes,
    }
    return DatasetInfo(**details)  # type: ignore[arg-type]


def below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def archive(tmp_path: Path) -> bytes:
    return good_zip(tmp_path).read_bytes()


@pytest.mark.parametrize("build", [good_zip, good_tar])
@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_what_is_fetched_is_the_members_and_nothing_else(
    build, kind: str, server: Server, tmp_path: Path
) -> None:
    content = build(tmp_path).read_bytes()
    info = entry(server, content, checksum=f"{kind}:{hashlib.new(kind, content).hexdigest()}")
    folder = tmp_path / "data"
    assert fetch(info, folder) == (folder / "toy/ratings.txt",)
    assert (folder / "toy/ratings.txt").read_bytes() == TABLE
    assert below(folder) == {"toy/ratings.txt"}
    assert find_files(info, folder) == (folder / "toy/ratings.txt",)


def test_a_file_that_is_no_archive_and_several_of_them(server: Server, tmp_path: Path) -> None:
    plain = entry(server, TABLE, members={})
    assert fetch(plain, tmp_path / "a")[0].read_bytes() == TABLE
    parts = {}
    for number, content in enumerate((b"one", b"two")):
        server.files[str(number)] = content
        parts[f"toy/{number}"] = {
            "address": server.address(str(number)),
            "checksum": f"sha256:{hashlib.sha256(content).hexdigest()}",
        }
    several = entry(server, b"", files=(tuple(parts),), parts=parts, address=None, checksum=None)
    assert [path.read_bytes() for path in fetch(several, tmp_path / "b")] == [b"one", b"two"]


def test_a_server_that_says_it_encodes_is_taken_by_its_bytes(
    server: Server, tmp_path: Path
) -> None:
    content = good_tar(tmp_path).read_bytes()
    server.headers = {"Content-Encoding": "gzip"}  # as some say of any .tar.gz
    assert fetch(entry(server, content), tmp_path / "data")[0].read_bytes() == TABLE


# ------------------------------------------------------------------------------ corrupt downloads


def _flipped(content: bytes) -> bytes:
    return content[:50] + bytes([content[50] ^ 1]) + content[51:]


CORRUPT = {
    "flipped bit": lambda good, _: _flipped(good),
    "truncated": lambda good, _: good[:-40],
    "web page": lambda good, _: b"<html><title>We moved</title></html>",
    "wrong size": lambda good, _: good + b"\0" * 3,
    "stale mirror": lambda _, folder: good_tar(folder).read_bytes(),
}


@pytest.mark.parametrize("name", CORRUPT)
def test_another_file_is_refused(name: str, server: Server, archive: bytes, tmp_path: Path) -> None:
    bad = CORRUPT[name](archive, tmp_path)
    server.files["toy.zip"] = bad
    server.kind = "text/html; charset=utf-8" if name == "web page" else "application/zip"
    info = entry(server, archive)
    with pytest.raises(DataError) as caught:
        fetch(info, tmp_path / "data")
    message = str(caught.value)
    assert server.address("toy.zip") in message
    assert f"expected {info.checksum}, {len(archive):,} bytes" in message
    kind = server.kind.split(";")[0]
    got = f"got sha256:{hashlib.sha256(bad).hexdigest()}, {len(bad):,} bytes, {kind}"
    assert got in message
    assert len(message.splitlines()) == 3
    assert below(tmp_path / "data") == set()

    server.files["toy.zip"] = archive  # the next try starts anew
    assert fetch(info, tmp_path / "data")[0].read_bytes() == TABLE


@pytest.mark.parametrize("status", [404, 502, 503])
def test_errors_of_proxies_and_servers_are_refused(
    status: int, server: Server, archive: bytes, tmp_path: Path
) -> None:
    server.status = status
    info = entry(server, archive)
    with pytest.raises(DataError) as caught:
        fetch(info, tmp_path / "data")
    message = str(caught.value)
    for part in (server.address("toy.zip"), f"HTTP status {status}", f"expected {info.checksum}"):
        assert part in message
    assert "got nothing" in message
    assert len(message.splitlines()) == 3
    assert below(tmp_path / "data") == set()


def test_an_endless_file_is_not_read_to_its_end(server: Server, tmp_path: Path) -> None:
    good = good_zip(tmp_path).read_bytes()
    server.files["toy.zip"] = bytes(10**7)
    with pytest.raises(DataError, match=r"got sha256:\w+, 65,536 bytes"):
        fetch(entry(server, good), tmp_path / "data")
    assert below(tmp_path / "data") == set()


def test_a_hostile_archive_with_the_right_hash_is_refused(server: Server, tmp_path: Path) -> None:
    content = many_members(tmp_path).read_bytes()
    with pytest.raises(DataError, match=r"toy\.zip: refused because of its member"):
        fetch(entry(server, content), tmp_path / "data")
    assert below(tmp_path / "data") == {"toy/toy.zip"}


def test_no_server_is_a_message(server: Server, archive: bytes, tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/toy.zip"
        with pytest.raises(DataError, match=r"^toy: no connection to 127.0.0.1, .* network$"):
            fetch(entry(server, archive, address=address), tmp_path / "new" / "data")
    assert not (tmp_path / "new").exists()


# --------------------------------------------------------------------------- interrupted, offline


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_download_is_continued_or_repeated(
    ranges: bool, server: Server, archive: bytes, tmp_path: Path
) -> None:
    info = entry(server, archive)
    folder = tmp_path / "data"
    server.ranges, server.cut = ranges, 100
    with pytest.raises(DataError, match="no complete file") as caught:
        fetch(info, folder)
    part = hashlib.sha256(archive[:100]).hexdigest()
    assert f"got sha256:{part}, 100 bytes" in str(caught.value)
    assert below(folder) == {"toy/.toy.zip.part"}
    with pytest.raises(MissingData):
        find_files(info, folder)

    server.cut = None
    assert fetch(info, folder)[0].read_bytes() == TABLE
    assert server.asked == ["", "bytes=100-"] + ([] if ranges else [""])
    assert below(folder) == {"toy/ratings.txt"}


def test_a_part_that_is_complete_or_of_another_file_does_no_harm(
    server: Server, archive: bytes, tmp_path: Path
) -> None:
    info = entry(server, archive)
    part = tmp_path / "data/toy/.toy.zip.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(archive)
    assert fetch(info, tmp_path / "data")[0].read_bytes() == TABLE
    part.write_bytes(b"of another file")
    with pytest.raises(DataError, match="another file than expected"):
        fetch(info, tmp_path / "data")
    assert not part.exists()
    fetch(info, tmp_path / "data")


def test_a_keyboard_interrupt_leaves_nothing_under_the_name(
    server: Server, archive: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    info = entry(server, archive)
    monkeypatch.setattr(download.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(info, tmp_path / "data")
    assert below(tmp_path / "data") == {"toy/.toy.zip.part"}


def test_an_archive_that_is_there_is_not_asked_for_again(
    server: Server, archive: bytes, tmp_path: Path
) -> None:
    info = entry(server, archive)
    place = tmp_path / "data/toy/toy.zip"
    place.parent.mkdir(parents=True)
    place.write_bytes(archive)
    fetch(info, tmp_path / "data")
    assert server.asked == []


# ------------------------------------------------------------------------------ the command


def call(*arguments: str, answer: str = "") -> Result:
    return CliRunner().invoke(cli.main, ["data", "fetch", *arguments], input=answer)


@pytest.fixture
def toy(
    server: Server, archive: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> DatasetInfo:
    info = entry(server, archive)
    monkeypatch.setattr(cli, "dataset_info", lambda name: info)
    return info


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_terms_are_shown_before_anything_is_downloaded(
    toy: DatasetInfo, server: Server, tmp_path: Path
) -> None:
    result = call("toy", "--data-dir", str(tmp_path / "data"))
    assert result.exit_code == 2
    for part in (toy.licence, toy.citation, toy.address, toy.checksum, f"{toy.size:,} bytes"):
        assert str(part) in result.output
    assert "nothing was downloaded: add --yes" in result.stderr
    assert server.asked == []
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_person_is_asked(
    answer: str, code: int, toy: DatasetInfo, server: Server, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(cli, "_at_terminal", lambda: True)
    result = call("toy", "--data-dir", str(tmp_path / "data"), answer=answer)
    assert result.exit_code == code
    assert "Agree and download? [y/N]" in result.output
    assert len(server.asked) == (code == 0)


def test_with_everything_here_no_connection_is_made(
    toy: DatasetInfo, server: Server, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "data"
    assert call("toy", "--yes", "--data-dir", str(folder)).exit_code == 0
    request.getfixturevalue("blocked")
    result = call("toy", "--yes", "--data-dir", str(folder))
    assert result.exit_code == 0
    assert f"toy is here already: {folder / 'toy/ratings.txt'}" in result.output
    assert find_files(toy, folder)[0].read_bytes() == TABLE
    assert len(server.asked) == 1


def test_nothing_is_downloaded_unasked(
    blocked: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECBIAS_DATA", raising=False)
    for info in registry().values():
        if info.files:
            with pytest.raises(MissingData):
                find_files(info, tmp_path)


def test_a_folder_that_cannot_be_written_is_named(toy: DatasetInfo, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = call("toy", "--yes", "--data-dir", str(tmp_path / "file" / "below"))
    assert result.exit_code == 2
    assert str(tmp_path / "file") in result.stderr
    assert "Traceback" not in result.output


def test_without_a_clone_a_folder_has_to_be_named(
    toy: DatasetInfo, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "find_files", _absent)
    monkeypatch.setattr(cli, "clone_root", lambda: None)
    result = call("toy", "--yes")
    assert (result.exit_code, server.asked) == (2, [])
    assert "name a folder by --data-dir" in result.stderr


def _absent(*_: object) -> None:
    raise MissingData("not here")


def test_the_clone_s_folder_is_the_default(
    toy: DatasetInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "find_files", _absent)
    monkeypatch.setattr(cli, "clone_root", lambda: tmp_path)
    assert call("toy", "--yes").exit_code == 0
    assert below(tmp_path / "data" / "downloads") == {"toy/ratings.txt"}


def test_data_sets_placed_by_hand_come_with_instructions(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = entry(server, b"", by_hand="ask the publisher for a copy")
    monkeypatch.setattr(cli, "dataset_info", lambda name: info)
    result = call("toy", "--yes", "--data-dir", str(tmp_path))
    assert result.exit_code == 2
    assert "toy cannot be fetched: ask the publisher for a copy" in result.stderr
    assert "FOLDER/toy/ratings.txt" in result.stderr
    assert server.asked == []


def test_what_is_made_here_is_not_fetched(blocked: None) -> None:
    result = call("synthetic")
    assert result.exit_code == 0
    assert "nothing to fetch" in result.output


# ------------------------------------------------------------------------------ the registry


def test_every_entry_can_be_fetched_or_says_why_not() -> None:
    for info in registry().values():
        if info.by_hand:
            with pytest.raises(MissingData, match="cannot be fetched"):
                downloads(info)
            continue
        for wanted in downloads(info):
            kind, _, digest = wanted.checksum.partition(":")
            assert len(digest) == {"sha256": 64, "md5": 32}[kind], info.name
            packed = wanted.address.endswith((".zip", ".tar.gz"))
            assert packed == bool(wanted.members), info.name


def test_messages_about_absent_data_name_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECBIAS_DATA", raising=False)
    for info in registry().values():
        if info.files and not info.by_hand:
            with pytest.raises(MissingData, match=f"recbias data fetch {info.name}"):
                find_files(info, tmp_path)
