"""The marker ``data`` alone shows the papers' data: held on a suite of four tests."""

import subprocess
import sys
from collections.abc import Callable
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


@pytest.fixture
def is_drawn(pytestconfig: pytest.Config) -> Callable[[str, str], bool]:
    """The suite's own rule; several folders have a module of its name."""
    plugins = pytestconfig.pluginmanager.get_plugins()
    (rule,) = (each.is_drawn for each in plugins if hasattr(each, "is_drawn"))
    return rule


def test_every_file_is_drawn_by_about_a_sixth_of_all_texts(
    is_drawn: Callable[[str, str], bool],
) -> None:
    names = {path.name for path in Path(__file__).parent.rglob("test_*.py")}
    drawn = {name: sum(is_drawn(name, f"commit {n}") for n in range(400)) for name in names}
    # Of 67, seven standard deviations, 7.5, on either side: once in 10^11 files.
    assert all(15 < times < 120 for times in drawn.values()), drawn


@pytest.mark.slow
def test_of_slow_tests_those_run_that_a_text_draws(
    tmp_path: Path, is_drawn: Callable[[str, str], bool]
) -> None:
    rules = (Path(__file__).parent / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(rules, encoding="utf-8")
    ini = "[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n"
    (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
    names = [f"test_{letter}.py" for letter in "abcdefghijkl"]
    tests = "import pytest\ndef test_a(): pass\n@pytest.mark.slow\ndef test_b(): pass\n"
    for name in names:
        (tmp_path / name).write_text(tests, encoding="utf-8")
    kept = {name for name in names if is_drawn(name, "a commit")}
    assert 0 < len(kept) < len(names)
    fast = {f"{name}::test_a" for name in names}
    drawn = fast | {f"{name}::test_b" for name in kept}
    every = fast | {f"{name}::test_b" for name in names}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", str(tmp_path)]
    for arguments, expected in (
        ([], fast),
        (["-m", ""], every),
        (["-m", "", "--draw", "a commit"], drawn),
    ):
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True)
        run = [line.split()[0] for line in done.stdout.splitlines() if "PASSED" in line]
        assert sorted(run) == sorted(expected)
