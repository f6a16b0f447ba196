"""The marker ``data`` alone shows the papers' data: held on a suite of four tests."""

import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import os, pytest

@pytest.fixture(scope="module")
def early():
    return os.environ.get("RECBIAS_DATA")

@pytest.mark.data
def test_marked(early):
    assert early == os.environ["RECBIAS_DATA"] == "/the/data"

def test_unmarked():
    assert "RECBIAS_DATA" not in os.environ

@pytest.mark.data
def test_marked_again():
    assert os.environ["RECBIAS_DATA"] == "/the/data"

def test_that_forgot_its_marker():
    assert os.environ["RECBIAS_DATA"] == "/the/data"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "outcome"),
    [("/the/data", "1 failed, 3 passed"), ("", "1 failed, 1 passed, 2 skipped")],
)
def test_who_forgets_the_marker_fails_with_and_without_data(
    data: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(rules, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = data\n", encoding="utf-8")
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setenv("RECBIAS_DATA", data)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"{outcome} in" in done.stdout, done.stdout + done.stderr
    assert "FAILED test_suite.py::test_that_forgot_its_marker" in done.stdout
