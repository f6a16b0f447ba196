"""The command line: messages without traceback, exit codes, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recbias.chapters import BuildError
from recbias.cli import main
from recbias.errors import ConfigError


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Look for data sets in an empty folder, whatever this machine has."""
    monkeypatch.setenv("RECBIAS_DATA", str(tmp_path))
    for module in ("places", "chapters"):
        monkeypatch.setattr(f"recbias.{module}.clone_root", lambda: None)
    monkeypatch.setattr(
        "recbias.places.packaged", lambda name: Path(__file__).parents[1] / "data" / name
    )


def test_data_list_says_what_is_here(tmp_path: Path) -> None:
    (tmp_path / "ml-100k").mkdir()
    (tmp_path / "ml-100k/u.data").touch()
    lines = call("data", "list").output.splitlines()
    states = {line.split()[0]: line[17:27].strip() for line in lines}
    assert states["ml-100k"] == "here"
    assert states["ml-1m"] == "not here"
    assert states["synthetic"] == "made here"


def test_data_dir_comes_before_the_environment(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "ml-100k").mkdir(parents=True)
    (other / "ml-100k/u.data").touch()
    output = call("data", "info", "ml-100k", "--data-dir", str(other)).output
    assert "state      here" in output
    assert f"searched   {other}, {tmp_path}" in output


def test_data_info_of_a_data_set_without_files() -> None:
    output = call("data", "info", "synthetic").output
    assert "made here" in output
    assert "searched" not in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data", "info", "ml1m"], "recbias: unknown dataset 'ml1m': did you mean 'ml-1m'?"),
        (["run", "01_x", "--dataset", "synthetic"], "recbias: chapters and the book need a clone"),
        (["book"], "recbias: chapters and the book need a clone"),
    ],
)
def test_errors_are_messages(arguments: list[str], message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert "Traceback" not in result.output
    assert len(result.stderr.splitlines()) <= 3


def test_the_exit_code_is_the_error_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BuildError("a chapter stopped")

    monkeypatch.setattr("recbias.editions.build_site", fail)
    result = call("book")
    assert (result.exit_code, result.stderr) == (1, "recbias: a chapter stopped\n")


def test_debug_shows_where() -> None:
    result = call("--debug", "data", "info", "ml1m")
    assert isinstance(result.exception, ConfigError)
