"""Marks are right whatever an answer does, and feedback says what to do."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recbias
from planted_answers import CHAPTER, GOOD, HOSTILE, MODULE, WRONG, notebook, sheet
from recbias._system.places import clone_root
from recbias.book.course import sandbox as walls
from recbias.book.course.grading import (
    Mark,
    _sheet_marks,
    find_sheets,
    mark_answer,
    read_sheet,
    write_marks,
)
from recbias.book.course.inside import decode, encode
from recbias.book.course.sandbox import Sandbox
from recbias.book.course.tasks import Task, chapter_tasks
from recbias.book.notebooks import find_chapter
from recbias.errors import ConfigError, DataError

IMPORT = f"from {MODULE} import check_ceiling\n"
OTHER = "an answer of somebody else"


@pytest.fixture(scope="module")
def task() -> Task:
    return next(t for t in chapter_tasks(find_chapter(CHAPTER)) if t.label == "ex-ceiling")


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    (folder / "secret.py").write_text(OTHER)
    return folder


@pytest.fixture(scope="module")
def sandbox(others: Path) -> Iterator[Sandbox]:
    if not sys.platform.startswith("linux"):
        pytest.skip("no walls on this system")
    with Sandbox(seconds=0.75, hidden=[others]) as made:
        yield made


def test_a_right_answer_has_its_mark_and_a_wrong_one_has_the_checks_feedback(
    sandbox: Sandbox, task: Task
) -> None:
    assert mark_answer(sandbox, "s", task, GOOD).points == 1
    mark = mark_answer(sandbox, "s", task, WRONG)
    assert (mark.points, mark.outcome) == (0, "not yet")
    assert mark.feedback.startswith("Not yet: ceiling(5, 8) gives 1.6. How many hits fit into 5")
    assert mark_answer(sandbox, "s", task, task.starter).outcome == "empty"
    assert mark_answer(sandbox, "s", task, f"# task: {task.label}\n").outcome == "empty"
    assert mark_answer(sandbox, "s", task, None).outcome == "missing"
    # Numbers of one's own come back as a call that needs no file; those of the solution do not.
    own = next(t for t in chapter_tasks(find_chapter(CHAPTER)) if t.level == "research")
    copied = mark_answer(sandbox, "s", own, own.solution)
    assert (copied.points, copied.feedback[:28]) == (0, "These are the made-up number")
    head = own.solution.partition("check_own_designs(")[0]
    mine = mark_answer(sandbox, "s", own, own.solution.replace("0.12", "0.13"))
    assert mine.points == 1
    assert mark_answer(sandbox, "s", own, head + mine.call).call == mine.call
    gone = mark_answer(sandbox, "s", own, f"open('ratings.csv')\n{own.solution}")
    assert gone.feedback.endswith("the check then writes the call to hand in.")
    # What Jupyter has, and an end after the check was called, cost nobody a mark.
    assert mark_answer(sandbox, "s", task, f"display(1)\n{GOOD}\nexit()").points == 1


def test_of_what_a_student_hands_in_the_sheet_is_found_and_the_rest_is_named(
    sandbox: Sandbox, task: Task, tmp_path: Path
) -> None:
    def marked(*files: tuple[str, str]) -> Mark:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        for name, text in files:
            (folder / "s" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "s" / name).write_text(text)
        found = find_sheets(folder, [CHAPTER]) if CHAPTER in str(files) else {"s": {}}
        sheets = found["s"].get(CHAPTER, [])
        (mark,) = _sheet_marks(sandbox, "s", folder / "s", [task], sheets, found["s"])
        return mark

    good, wrong = (sheet({task.label: code}) for code in (GOOD, WRONG))
    read = (f"notebooks/{CHAPTER}.ipynb", notebook(["1 + 1"]))  # a chapter to read, no sheet
    name = f"answers/{CHAPTER}.ipynb"
    same = (f"copy/{CHAPTER}.py", f"# task: {task.label}\n{GOOD}")
    assert marked(read, (name, good), same).points == 1
    two = marked((name, good), (f"{CHAPTER} (1).ipynb", wrong))
    assert two.outcome == "unreadable"
    assert two.feedback == (
        f"There are 2 sheets, {CHAPTER} (1).ipynb and {CHAPTER}.ipynb, and they "
        "differ: hand in one."
    )
    other = marked(("mine.ipynb", good), ("a.zip", ""))
    assert other.outcome == "missing"
    assert other.feedback.endswith(
        f"There is a.zip, mine.ipynb; the sheet is called {CHAPTER}.ipynb. a.zip has to be "
        "unpacked first."
    )
    # A line above the one that names the task, or no such line, and it is still the cell.
    assert marked(
        (name, sheet({task.label: GOOD}).replace("# task", "# my ceiling\\n# task"))
    ).points
    unnamed = json.loads(notebook([GOOD]))
    assert marked((name, json.dumps(unnamed))).outcome == "missing"
    unnamed["cells"][0]["id"] = task.label
    assert marked((name, json.dumps(unnamed))).points == 1
    # A cell that was left does not stand in for one that was filled in.
    cells = [f"# task: {task.label}\n{code}" for code in (GOOD, task.starter)]
    assert marked((name, notebook(cells))).points == 1
    twice = marked((name, notebook([cells[0], cells[0].replace("min(", "max(")])))
    assert twice.feedback.endswith("(This is the last of 2 cells for this task.)")


TOLD = {
    "endless in a call": ("timeout", "No answer within 0.75 s: does a loop never end?"),
    "crashes": ("error", "Line 2 stops with ZeroDivisionError: division by zero."),
    "dies": ("crash", "ended before it answered"),
    "ends early": ("crash", "ended before it answered"),
    "exits": ("error", "The cell ends itself before its check is called."),
    "writes outside": ("error", "Read-only file system"),
    "writes among packages": ("error", "Read-only file system"),
    "fills its folder": ("error", "No space left"),
    "takes memory": ("error", "wants more memory than there is for one"),
    "forks": ("error", "no network and no other processes"),
    "starts threads": ("error", "can't start new thread"),
    "starts a program": ("error", "no network and no other processes"),
    "kills": ("error", "ProcessLookupError"),
    "calls home": ("error", "Network is unreachable"),
    "imports the check": ("error", "Of recbias only the check is there"),
    "imports the package": ("error", "Of recbias only the check is there"),
    "syntax": ("error", "Nothing of the cell ran. If 0,25 is one number: write a decimal point."),
    "asks": ("error", "Nobody is there to type: write into the cell what it asks for."),
    "never hands in": ("not yet", "The cell never calls check_ceiling"),
}


LATE = ("endless", "sleeps")
"""Run out of time as another does; the twenty planted students have them, too."""


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in LATE])
def test_a_hostile_answer_has_no_mark_and_is_told_why(
    sandbox: Sandbox, task: Task, name: str
) -> None:
    mark = mark_answer(sandbox, "s", task, IMPORT + HOSTILE[name] + "\n")
    outcome, told = TOLD[name]
    assert (mark.outcome, mark.points) == (outcome, 0), mark.feedback
    assert told in mark.feedback
    assert mark_answer(sandbox, "s", task, GOOD).points == 1  # and the next one is marked as ever


def seen(sandbox: Sandbox, code: str) -> object:
    """Run code that hands what it found to a check that believes it."""
    outcome, value = sandbox.run(f"from m import check\n{code}", "m", "check", lambda found: found)
    return value if outcome == "called" else str(value)


READS = """
import os
found = {}
for path in PATHS:
    try:
        found[path] = open(path).read()
    except OSError:
        pass
check(found)
"""


def test_no_solution_and_no_other_answer_can_be_read(
    sandbox: Sandbox, others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = clone_root()
    assert root
    package = Path(recbias.__file__).parent
    secrets = [
        root / "notebooks" / f"{CHAPTER}.py",
        package / "book/chapters/design_alternatives/exercises.py",
        others / "secret.py",
        Path(__file__),
        Path("/etc/passwd"),
        Path("/proc/1/environ"),
    ]
    assert all(secret.exists() for secret in secrets[:4])
    code = f"PATHS = {list(map(str, secrets))!r}\n{READS}"
    assert seen(sandbox, code) == {}
    # Its twin: without walls all of it is there to be read.
    monkeypatch.setattr(sandbox, "trusted", True)
    found = seen(sandbox, code)
    assert isinstance(found, dict)
    assert found[str(others / "secret.py")] == OTHER
    assert "def check_ceiling" in found[str(secrets[1])]


def test_counts_of_pandas_are_read_as_they_are(sandbox: Sandbox) -> None:
    tasks = chapter_tasks(find_chapter("03_popularity_bias"))
    task = next(each for each in tasks if each.label == "ex-own-counts")
    code = f"""from {task.module} import check_own_counts
import pandas as pd
table = pd.DataFrame({{"item_id": [n for n in range(30) for _ in range(30 - n // 2)]}})
counts = table.item_id.value_counts()
check_own_counts(counts=counts, tenth=counts.nlargest(3).sum() / counts.sum())
"""
    assert mark_answer(sandbox, "s", task, code).points == 1
    code = code.replace("counts=counts", "counts=counts.to_numpy()")
    assert mark_answer(sandbox, "s", task, code).points == 1


def test_an_answer_has_no_rights_and_no_way_to_new_ones(sandbox: Sandbox) -> None:
    code = """
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
check([
    libc.mount(b"none", b"/answer", b"tmpfs", 0, None),
    libc.unshare(0x10000000),
    libc.unshare(0x00020000),
    libc.chroot(b"/answer"),
    libc.setuid(0),
    os.getpid(),
    len(os.environ),
    sorted(os.listdir("/answer")),
])
"""
    assert seen(sandbox, code) == [-1, -1, -1, -1, -1, 1, 1, []]


def test_walls_that_do_not_stand_are_seen_before_anybodys_answer(
    sandbox: Sandbox, others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox._try_walls()
    others.chmod(0o755)
    monkeypatch.setattr(sandbox, "_shown", [*sandbox._shown, f"{others}/"])  # by another name
    with pytest.raises(ConfigError, match=rf"(?s)cannot be locked in .*\['{others}'\].*--trust"):
        sandbox._try_walls()
    monkeypatch.undo()
    monkeypatch.setattr(sandbox, "trusted", True)  # no walls at all
    with pytest.raises(ConfigError, match="cannot be locked in"):
        sandbox._try_walls()


def test_elsewhere_it_refuses_unless_answers_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls.sys, "platform", "darwin")
    with pytest.raises(
        ConfigError, match="what only Linux has\ngrade there, or give --trust-answers"
    ):
        Sandbox().__enter__()
    monkeypatch.setattr(walls.os, "fork", None, raising=False)
    monkeypatch.delattr(walls.os, "fork")
    with pytest.raises(ConfigError, match="where processes fork"):
        Sandbox(trusted=True).__enter__()


SAYS = """
import os
def say(text):
    for number in range(3, 64):
        try:
            os.write(number, text)
        except OSError:
            pass
"""
"""What writes to whoever listens."""

PATCHED = {
    "the check": "def check_ceiling(f): return True\ncheck_ceiling(lambda n, r: 0)",
    "numbers": "import numpy as np\nnp.array = np.isclose = abs = lambda *_: 0\n"
    "check_ceiling(lambda n, r: float('nan'))",
    "a number that equals all": """
class Any(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    def __abs__(self): return 0.0
check_ceiling(lambda n, r: Any(7))
""",
    "a message": SAYS
    + """
say(b'{"called": {"arguments": [{"function": 0, "name": "x"}], "named": {}}, "right": true}\\n')
say(b'{"right": true}\\n' * 9)
""",
    "noise": SAYS + "say(b'[' * 100000 + b'\\n')",
    "a flood": SAYS + "while True: say(b'x' * 100000)",
    "a huge number": "check_ceiling(lambda n, r: 10 ** 5000)",
    "an object": "class A: pass\ncheck_ceiling(A())",
    "too many arguments": "check_ceiling(1, 2, 3)",
    "itself": "import inspect\ncheck_ceiling(check_ceiling)",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n == "a flood" else n for n in PATCHED],
)
def test_what_an_answer_changes_over_there_marks_nothing(
    sandbox: Sandbox, task: Task, name: str
) -> None:
    mark = mark_answer(sandbox, "s", task, IMPORT + PATCHED[name])
    assert mark.points == 0, mark
    assert mark.outcome in ("not yet", "crash"), mark


def test_values_come_back_as_they_were_sent() -> None:
    values = [
        None, True, 3, -0.5, "text", ..., (1, [2, {3}]), {"a": {"x", "y"}}, {(1, 2): 3},
        np.float64(0.25), np.int64(7),
    ]  # fmt: skip
    for value in values:
        sent = json.loads(json.dumps(encode(value, [])))
        assert decode(sent, lambda *_: None) == value
    array = np.arange(6).reshape(1, 2, 3) - 2
    back = decode(json.loads(json.dumps(encode(array, []))), lambda *_: None)
    assert back.dtype == np.int64
    np.testing.assert_array_equal(back, array)
    series = pd.Series([3, 1], index=["a", "b"]).value_counts()
    assert decode(json.loads(json.dumps(encode(series, []))), lambda *_: None) == [1, 1]
    for other in (object(), 10**18, [[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]):
        assert "a value" in repr(decode(encode(other, []), lambda *_: None))
    for wrong in ([], {"what": 1}):
        with pytest.raises(ValueError, match=r"^$"):
            decode(wrong, lambda *_: None)


# -- what is read and written ----------------------------------------------------------------------
def test_sheets_are_found_by_student_and_links_are_not_followed(tmp_path: Path) -> None:
    text = sheet({"ex-ceiling": GOOD})
    for student in ("ann", "bob"):
        (tmp_path / student / "deep").mkdir(parents=True)
        (tmp_path / student / "deep" / f"{CHAPTER}.ipynb").write_text(text)
    (tmp_path / "cy").mkdir()
    (tmp_path / "cy" / f"{CHAPTER}.ipynb").symlink_to(tmp_path / "ann/deep" / f"{CHAPTER}.ipynb")
    found = find_sheets(tmp_path, [CHAPTER])
    assert list(found) == ["ann", "bob", "cy"]
    assert found["cy"] == {}
    assert list(find_sheets(tmp_path / "ann" / "deep", [CHAPTER])) == ["deep"]
    (tmp_path / "bob" / f"{CHAPTER.upper()} (1).PY").write_text("")  # as systems rename it
    assert len(find_sheets(tmp_path, [CHAPTER])["bob"][CHAPTER]) == 2
    (tmp_path / f"{CHAPTER}.py").write_text("")
    with pytest.raises(DataError, match="not in the folder of a student"):
        find_sheets(tmp_path, [CHAPTER])
    with pytest.raises(DataError, match="no answer sheet here"):
        find_sheets(tmp_path / "cy", [CHAPTER])
    with pytest.raises(DataError, match="no such folder"):
        find_sheets(tmp_path / "nobody", [CHAPTER])


def test_pipes_and_endless_folders_are_passed_over(tmp_path: Path) -> None:
    sheet = tmp_path / "ann" / f"{CHAPTER}.py"
    deep = tmp_path / "ann" / "/".join("d" * 200)
    deep.mkdir(parents=True)
    for path in (sheet, deep / sheet.name):
        path.write_text("# task: ex-x\n1\n")
    os.mkfifo(tmp_path / "ann" / f"{CHAPTER} (1).py")
    assert find_sheets(tmp_path, [CHAPTER]) == {"ann": {CHAPTER: [sheet]}}


def test_a_python_file_is_read_like_a_notebook(tmp_path: Path) -> None:
    path = tmp_path / f"{CHAPTER}.py"
    text = f"x = 1\n# task: ex-a · first\n{GOOD}\n# task: ex-b\n2\n"
    cells = {"ex-a": [f"# task: ex-a · first\n{GOOD}".strip()], "ex-b": ["# task: ex-b\n2"]}
    other = path.with_suffix(".ipynb")
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(text.replace("\n", "\r\n").encode(encoding))
        assert read_sheet(path) == cells
        other.write_text(notebook(["x = 1", *(cell for each in cells.values() for cell in each)]),
                         encoding=encoding)  # fmt: skip
        assert read_sheet(other) == cells
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=r"cannot be read: save it as UTF-8"):
        read_sheet(path)
    other.write_text(notebook(["%%time\n# task: ex-a\nx = (7\n % 2)\n!ls\n%pylab", "%ls"]))
    assert read_sheet(other) == {"ex-a": ["# task: ex-a\nx = (7\n % 2)"]}
    for wrong in ("{", "[]", '{"cells": [1]}', '{"cells": 3}', "[" * 100_000):
        other.write_text(wrong)
        with pytest.raises(DataError, match="is no whole notebook: save it in Jupyter"):
            read_sheet(other)
    other.write_text("x" * (3 << 20))
    with pytest.raises(DataError, match="larger than 2 MiB"):
        read_sheet(other)


def test_what_a_student_writes_is_text_in_page_and_table(tmp_path: Path, task: Task) -> None:
    evil = "=cmd()<script>alert(1)</script>"
    marks = [Mark("=ann/..", task, "not yet", evil), Mark("bob", task, "right", "Right: so.")]
    assert "The same numbers" not in write_marks(marks, tmp_path / "before").read_text()
    marks += [replace(marks[1], student=name, call="check(p=0.1)") for name in ("cy", "dan<b>")]
    page = write_marks(marks, tmp_path / "out")
    assert "<td>cy, dan&lt;b&gt;</td>" in page.read_text()
    rows = list(csv.DictReader((tmp_path / "out" / "marks.csv").read_text().splitlines()))
    assert [row["student"] for row in rows] == ["'=ann/..", "bob", "cy", "dan<b>"]
    assert rows[0]["feedback"] == f"'{evil}"
    pages = sorted((tmp_path / "out" / "feedback").iterdir())
    assert [each.name for each in pages][:2] == ["001-_ann_...html", "002-bob.html"]
    for each in (page, *pages):
        assert "<script" not in each.read_text()
    totals = list(csv.DictReader((tmp_path / "out" / "totals.csv").read_text().splitlines()))
    assert [(row["marks"], row["out_of"], row["core"], row["timeouts"]) for row in totals] == [
        ("0", "1", "0", "0"), *[("1", "1", "1", "0")] * 3,
    ]  # fmt: skip
