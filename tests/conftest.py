"""Who sees the papers' data, where results are kept, which files run, Hypothesis's profile."""

import hashlib
import os
import shutil
import socket
import tempfile
from typing import Any

import hypothesis
import pytest

hypothesis.settings.register_profile("recbias", derandomize=True, deadline=None)
hypothesis.settings.register_profile("prove", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("recbias")

_DATA = os.environ.get("RECBIAS_DATA", "")
os.environ.pop("VIRTUAL_ENV", None)  # IPython warns if another one is active than runs the tests
_KEPT = ("RECBIAS_CELLS", "RECBIAS_RESULTS")
_folders = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a text, such as a commit, draw a sixth of the files of slow tests."""
    parser.addoption("--draw", metavar="TEXT", help="slow tests of the sixth of files TEXT draws")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests of files that are not drawn: whole ones, as they share their work."""
    text = config.getoption("--draw")
    if text is None:
        return
    kept, left_out = [], []
    for item in items:
        asked = not item.get_closest_marker("slow") or is_drawn(item.path.name, text)
        (kept if asked else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def is_drawn(name: str, text: str) -> bool:
    """Say whether the text draws the file of that name: a sixth of all texts do."""
    return hashlib.sha256(f"{text} {name}".encode()).digest()[0] % 6 == 0


def pytest_configure(config: pytest.Config) -> None:
    """Keep the suite's cells and results apart from its user's, which older code may have made.

    Processes that share the work inherit the folders.
    """
    config.stash[_folders] = {
        name: tempfile.mkdtemp(prefix="recbias-tests-") for name in _KEPT if name not in os.environ
    }
    os.environ.update(config.stash[_folders])


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folders that were made here."""
    for name, folder in config.stash.get(_folders, {}).items():
        del os.environ[name]
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def no_other_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse this process other machines: a test that needs one fails, on all machines alike.

    What a test starts is not kept from them.
    """
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if host not in ("", "localhost", "::1") and not host.startswith("127."):
            raise AssertionError(f"a test asks another machine: {host}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(autouse=True)
def no_verdicts_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any) -> None:
    """Keep no verdicts: a test may have changed what finds them, which no digest of files tells."""
    folder = tmp_path_factory.getbasetemp() / "no-folder"
    folder.touch()
    monkeypatch.setattr("recbias.claims.kept._folder", lambda: folder)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Show the papers' data to tests marked ``data`` alone, before any fixture is made for them.

    Without data these are skipped, and a test that needs them and forgets the marker fails.
    """
    os.environ.pop("RECBIAS_DATA", None)
    if item.get_closest_marker("data") is not None:
        if not _DATA:
            pytest.skip("RECBIAS_DATA names no folder with the papers' data")
        os.environ["RECBIAS_DATA"] = _DATA
