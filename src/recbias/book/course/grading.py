"""Marks of a class, with feedback for each task, from the answer sheets that students hand in.

An answer runs in a `Sandbox` and hands values to its check; the check runs here. So an answer
cannot mark itself, whatever it does over there.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from recbias.book.course.sandbox import Fault, Sandbox
from recbias.book.course.tasks import LEVELS, Task, chapter_tasks, chapters_with_tasks
from recbias.book.exercises import Checked, not_yet
from recbias.book.html import table_html
from recbias.errors import DataError
from recbias.experiment.store import write_atomically

_MARK = re.compile(r"^# task: *(\S+)[^\n]*$", re.MULTILINE)
_OF_JUPYTER = re.compile(r"^(?:%%?|!|\?)\w.*$", re.MULTILINE)
"""Lines that Jupyter reads before Python does."""

_PACKED = {".zip", ".7z", ".rar", ".gz", ".tar", ".tgz"}

_LARGEST = 2 << 20
"""Bytes of an answer sheet: larger ones are not read."""

_OUTCOMES = {
    "right": "right",
    "not yet": "not right yet",
    "empty": "left as it was",
    "missing": "not handed in",
    "error": "stops with an error",
    "timeout": "took too long",
    "crash": "its process ended",
    "unreadable": "the sheet cannot be read",
}
"""What may become of an answer; only the first has a mark."""


@dataclass(frozen=True)
class Mark:
    """What an answer is worth.

    Attributes
    ----------
    student
        Name of the folder.
    task
        The exercise.
    outcome
        ``"right"``, ``"not yet"``, ``"empty"``, ``"missing"``, ``"error"``, ``"timeout"``,
        ``"crash"`` or ``"unreadable"``.
    feedback
        What the student reads.
    seconds
        How long it took.
    call
        The call of the check with its numbers, of a right answer on one's own data.
    unread
        Whether there is no sheet, but another file was handed in.
    """

    student: str
    task: Task
    outcome: str
    feedback: str
    seconds: float = 0.0
    call: str = ""
    unread: bool = False

    @property
    def points(self) -> int:
        """1 if the answer is right, else 0."""
        return int(self.outcome == "right")


def find_sheets(folder: Path, names: Sequence[str]) -> dict[str, dict[str, list[Path]]]:
    """Find the answer sheets of each student: by name, the files of each chapter.

    Parameters
    ----------
    folder
        A folder with one for each student, or that of one student. Sheets may lie in folders
        within; links are not followed.
    names
        Of the chapters. Files end with ``.ipynb`` or ``.py`` and have such a name in theirs, to
        which browsers and learning platforms add: ``01_design_alternatives (1).ipynb``.

    Raises
    ------
    DataError
        If there is no sheet, or some lie beside the folders of students.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; name the one that holds the students' folders")
    sheets = [(name, path) for path in _files(folder) if (name := _chapter_of(path, names))]
    if not sheets:
        raise DataError(
            f"{folder}: no answer sheet here, nor in the folders within; they are called "
            f"{names[0]}.ipynb or {names[0]}.py, and so on"
        )
    own = [(name, path) for name, path in sheets if path.parent in (folder, folder / "answers")]
    others = {path for _, path in sheets if path.parent != folder / "notebooks"}
    others -= {path for _, path in own}
    if own and (others or len(dict(own)) < len(own)):
        raise DataError(
            f"{own[0][1]}: not in the folder of a student, and there are sheets of others beside it"
            "\nput what each student handed in into a folder of its own"
        )
    found: dict[str, dict[str, list[Path]]] = {}
    if not own:
        students = [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
        found = {path.name: {} for path in sorted(students) if not path.name.startswith(".")}
    for name, path in sheets:
        student = folder.resolve().name if own else path.relative_to(folder).parts[0]
        found.setdefault(student, {}).setdefault(name, []).append(path)
    return found


def _files(folder: Path, levels: int = 20) -> Iterator[Path]:
    """Walk the files below a folder, but for links, pipes, what is hidden, and what is too deep."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_dir() and levels:
            yield from _files(path, levels - 1)
        elif path.is_file():
            yield path


def _chapter_of(path: Path, names: Sequence[str]) -> str | None:
    """Tell which chapter a file is the sheet of, by its name."""
    called = path.name.lower()
    if not called.endswith((".ipynb", ".py")):
        return None
    return next((name for name in names if name in called), None)


def read_sheet(path: Path) -> dict[str, list[str]]:
    """Read an answer sheet: the code of each task by its label, of each cell that has it.

    In a notebook a task is the code cell with a line ``# task: LABEL``, or, where that is gone, the
    one that was handed out for it; in a Python file it is what follows such a line, up to the next
    one. The line is part of the code, and counted. Lines that are Jupyter's and no Python are left
    blank.

    Raises
    ------
    DataError
        If it is no such file.
    """
    if path.stat().st_size > _LARGEST:
        raise DataError(f"{path.name} is larger than {_LARGEST >> 20} MiB; clear its outputs")
    content = path.read_bytes()
    try:
        text = content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} cannot be read: save it as UTF-8") from error
    try:
        if path.suffix.lower() == ".py":
            text = text.replace("\r\n", "\n")
            cells = [("", cell) for cell in re.split(r"^(?=# task:)", text, flags=re.MULTILINE)]
        else:
            cells = [
                (str(cell.get("id", "")), _OF_JUPYTER.sub("", "".join(cell["source"])))
                for cell in json.loads(text)["cells"]
                if cell["cell_type"] == "code"
            ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path.name} is no whole notebook: save it in Jupyter, and hand in that file"
        ) from error
    found: dict[str, list[str]] = {}
    for handed_out_as, cell in cells:
        mark = _MARK.search(cell)
        label = mark[1] if mark else handed_out_as
        if mark or label.startswith("ex-"):
            found.setdefault(label, []).append(cell.strip())
    return found


def grade(
    folder: Path,
    *,
    chapters: Sequence[str] = (),
    seconds: float = 10.0,
    megabytes: int = 1024,
    workers: int = 1,
    trusted: bool = False,
) -> list[Mark]:
    """Mark all answers in a folder.

    Parameters
    ----------
    folder
        One with a folder for each student, or that of one student.
    chapters
        Names of the chapters that count; else all of which somebody handed in a sheet.
    seconds, megabytes
        What one answer may take.
    workers
        How many answers run at once; marks do not depend on it.
    trusted
        Run answers without walls.

    Returns
    -------
    list of Mark
        Of each student all tasks of each chapter, in order.

    Raises
    ------
    DataError
        If there is no answer sheet.
    ConfigError
        If answers cannot be locked in, and are not `trusted`.
    """
    tasks = {chapter.name: chapter_tasks(chapter) for chapter in chapters_with_tasks()}
    found = find_sheets(folder, chapters or list(tasks))
    counted = [
        name for name in tasks if name in chapters or any(name in of for of in found.values())
    ]
    with (
        Sandbox(seconds=seconds, megabytes=megabytes, hidden=[folder], trusted=trusted) as sandbox,
        ThreadPoolExecutor(workers) as pool,
    ):
        asked = [
            (student, folder / student, tasks[name], sheets.get(name, []), sheets)
            for student, sheets in found.items()
            for name in counted
        ]
        parts = pool.map(lambda one: _sheet_marks(sandbox, *one), asked)
        return [mark for part in parts for mark in part]


def _sheet_marks(
    sandbox: Sandbox,
    student: str,
    place: Path,
    tasks: Sequence[Task],
    sheets: Sequence[Path],
    all_sheets: Mapping[str, Sequence[Path]],
) -> list[Mark]:
    """Mark one answer sheet, of a student who may have handed in others, and other files."""
    if not sheets:
        known = {path for each in all_sheets.values() for path in each}
        handed_in = _files(place) if place.is_dir() else []  # none where it is that of one student
        others = [path for path in handed_in if path not in known]
        told = "No sheet for this chapter."
        if others:
            names = ", ".join(path.name for path in others[:3]) + " and more" * (len(others) > 3)
            told += f" There is {names}; the sheet is called {tasks[0].chapter}.ipynb."
            packed = [path.name for path in others if path.suffix.lower() in _PACKED]
            told += f" {packed[0]} has to be unpacked first." if packed else ""
        unread = bool(others)
        return [Mark(student, task, "missing", told, unread=unread) for task in tasks]
    try:
        cells = _read_one(sheets)
    except DataError as error:
        return [Mark(student, task, "unreadable", str(error)) for task in tasks]
    return [_mark_last(sandbox, student, task, cells.get(task.label, [])) for task in tasks]


def _read_one(sheets: Sequence[Path]) -> dict[str, list[str]]:
    """Read the sheet among some files; a chapter to read is called like its sheet, but has none."""
    read: dict[Path, dict[str, list[str]]] = {}
    for path in sheets:
        found = read_sheet(path)
        if found not in read.values():
            read[path] = found
    filled = {path: cells for path, cells in read.items() if cells} or read
    if len(filled) > 1:
        names = " and ".join(path.name for path in filled)
        raise DataError(f"There are {len(filled)} sheets, {names}, and they differ: hand in one.")
    return next(iter(filled.values()))


def _mark_last(sandbox: Sandbox, student: str, task: Task, cells: Sequence[str]) -> Mark:
    """Mark the last cell of a task in which something was filled in."""
    filled = [cell for cell in cells if not _is_left(cell, task)]
    mark = mark_answer(sandbox, student, task, next(reversed(filled or cells), None))
    if len(filled) > 1 and not mark.points:
        several = f" (This is the last of {len(filled)} cells for this task.)"
        return replace(mark, feedback=mark.feedback + several)
    return mark


def mark_answer(sandbox: Sandbox, student: str, task: Task, code: str | None) -> Mark:
    """Mark one answer."""
    if code is None:
        told = f"No cell of the sheet has the line '# task: {task.label}'."
        return Mark(student, task, "missing", told)
    if _is_left(code, task):
        return Mark(student, task, "empty", "Nothing was filled in.")

    def judge(*arguments: object, **named: object) -> Checked:
        try:
            return task.judge(*arguments, **named)
        except Exception as error:  # of values that no check expects
            return not_yet(f"the check cannot read this answer ({type(error).__name__}: {error}).")

    started = time.perf_counter()
    outcome, value = sandbox.run(code, task.module, task.check, judge)
    seconds = time.perf_counter() - started
    if outcome == "called" and value is None:
        told = f"The cell never calls {task.check}; its last line is there for that."
        return Mark(student, task, "not yet", told, seconds)
    if outcome == "called" and value.call and value.call == _call_of_solution(sandbox, task):
        told = "These are the made-up numbers of the solution. Measure a table of your own."
        return Mark(student, task, "not yet", told, seconds)
    if outcome == "called":
        mark = "right" if value else "not yet"
        return Mark(student, task, mark, str(value.text), seconds, value.call)
    if outcome == "fault":
        told = _told(value, code)
        if task.level == "research" and value.kind in _NOT_THERE:
            told += " Run the cell where it works: the check then writes the call to hand in."
        return Mark(student, task, "error", told, seconds)
    if outcome == "timeout":
        told = f"{value[0].upper()}{value[1:]}: does a loop never end?"
        return Mark(student, task, "timeout", told, seconds)
    told = (
        "The process of this answer ended before it answered. Hand values to the check, and end "
        "nothing."
    )
    return Mark(student, task, "crash", told, seconds)


def _call_of_solution(sandbox: Sandbox, task: Task) -> str:
    """Write the call of the solution as that of an answer is written."""
    _, solved = sandbox.run(task.solution, task.module, task.check, task.judge)
    return solved.call if isinstance(solved, Checked) else ""


def _is_left(code: str, task: Task) -> bool:
    """Tell whether nothing was filled in."""
    if not _MARK.sub("", code).strip():
        return True
    try:
        return ast.dump(ast.parse(code)) == ast.dump(ast.parse(task.starter))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError")
_OUTSIDE_ERRORS = (
    "FileNotFoundError", "PermissionError", "OSError", "BlockingIOError", "gaierror", "URLError",
    "ConnectionRefusedError", "ConnectionError",
)  # fmt: skip
_NOT_THERE = (*_IMPORT_ERRORS, *_OUTSIDE_ERRORS)
_REMEDIES = {
    "SyntaxError": "Nothing of the cell ran.",
    "IndentationError": "Nothing of the cell ran.",
    "NameError": "Each task runs alone: what a cell uses has to stand in it.",
    "MemoryError": "The answer wants more memory than there is for one.",
    "EOFError": "Nobody is there to type: write into the cell what it asks for.",
    "SystemExit": "The cell ends itself before its check is called.",
    "RecursionError": "A function calls itself without end.",
    **dict.fromkeys(
        _OUTSIDE_ERRORS,
        "Where answers are graded there are no other files, no network and no other processes.",
    ),
}


def _told(fault: Fault, code: str) -> str:
    """Tell a student of an error in the code, and what to do."""
    where = f"Line {fault.line} stops" if fault.line else "The cell stops"
    remedy = _REMEDIES.get(fault.kind, "")
    if fault.kind in _IMPORT_ERRORS:
        remedy = (
            "Of recbias only the check is there where answers are graded: compute with it in "
            "another notebook, and write down the numbers."
            if "recbias" in fault.text
            else "Answers need nothing but Python, numpy, scipy and pandas."
        )
    line = "".join(code.splitlines()[fault.line - 1 : fault.line]) if fault.line else ""
    if fault.kind == "SyntaxError" and (comma := re.search(r"\b\d+,\d+\b", line)):
        remedy += f" If {comma[0]} is one number: write a decimal point."
    text = f": {fault.text}" if fault.text else ""
    return f"{where} with {fault.kind}{text}{'' if text.endswith('.') else '.'} {remedy}".strip()


# -- what is written -------------------------------------------------------------------------------
def write_marks(marks: Sequence[Mark], out: Path) -> Path:
    """Write the marks of a class.

    Parameters
    ----------
    marks
        What `grade` gave.
    out
        A folder. It gets ``marks.csv``, a line for each task of each student; ``totals.csv``, a
        line for each student; ``marks.html``, the class on a page; and ``feedback``, a page for
        each student.

    Returns
    -------
    Path
        The page of the class.
    """
    by_student: dict[str, list[Mark]] = {}
    for mark in marks:
        by_student.setdefault(mark.student, []).append(mark)
    rows = [
        {
            "student": mark.student,
            "chapter": mark.task.chapter,
            "task": mark.task.label,
            "level": mark.task.level,
            "outcome": mark.outcome,
            "mark": mark.points,
            "feedback": mark.feedback,
        }
        for mark in marks
    ]
    pages = {student: f"{number:03}-{_file_name(student)}.html"
             for number, student in enumerate(by_student, start=1)}  # fmt: skip
    write_atomically(out / "marks.csv", _csv(rows))
    write_atomically(out / "totals.csv", _csv([totals(each) for each in by_student.values()]))
    for student, each in by_student.items():
        write_atomically(out / "feedback" / pages[student], _student_page(student, each))
    page = out / "marks.html"
    write_atomically(page, _class_page(by_student, pages))
    return page


def totals(marks: Sequence[Mark]) -> dict[str, object]:
    """Add up the marks of one student, over all and by level, timeouts apart."""
    of_levels = {
        level: sum(mark.points for mark in marks if mark.task.level == level) for level in LEVELS
    }
    return {
        "student": marks[0].student,
        "marks": sum(mark.points for mark in marks),
        "out_of": len(marks),
        **of_levels,
        "timeouts": sum(mark.outcome == "timeout" for mark in marks),
    }


def _csv(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Write a table; a text that a spreadsheet would compute is written as a text."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                name: f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value
                for name, value in row.items()
            }
        )
    return file.getvalue().encode()


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text)[:60]


def _class_page(by_student: Mapping[str, Sequence[Mark]], pages: Mapping[str, str]) -> bytes:
    """Write a line for each student and a column for each task."""
    first = next(iter(by_student.values()))
    tasks = [mark.task for mark in first]
    named = [f"{task.number} {escape(task.label.removeprefix('ex-'))}" for task in tasks]
    head = ["student", "marks", *named, "timeouts"]
    rows = []
    for student, marks in by_student.items():
        added = totals(marks)
        link = f'<a href="feedback/{escape(pages[student])}">{escape(student)}</a>'
        cells = [
            f'<span class="{mark.outcome.replace(" ", "-")}">{_OUTCOMES[mark.outcome]}</span>'
            for mark in marks
        ]
        rows.append([link, f"{added['marks']} of {added['out_of']}", *cells,
                     str(added["timeouts"])])  # fmt: skip
    share = []
    for place, mark in enumerate(first):
        n_right = sum(marks[place].points for marks in by_student.values())
        share.append(
            [escape(mark.task.chapter), escape(mark.task.heading), mark.task.level,
             f"{n_right} of {len(by_student)}"]
        )  # fmt: skip
    body = f"<h1>Marks</h1>{table_html(head, rows, style='marks')}"
    body += "<h2>How many have each task right</h2>"
    body += table_html(["chapter", "task", "level", "right"], share, style="marks")
    if alike := _alike(by_student):
        body += "<h2>The same numbers of their own data</h2>"
        body += table_html(["task", "students"], alike, style="marks")
    return _page("Marks", body)


def _alike(by_student: Mapping[str, Sequence[Mark]]) -> list[list[str]]:
    """List who handed in the same numbers of their own data, one of whom will have copied."""
    students: dict[tuple[str, str], list[str]] = {}
    for mark in (mark for marks in by_student.values() for mark in marks if mark.call):
        students.setdefault((mark.task.heading, mark.call), []).append(mark.student)
    return [
        [escape(heading), escape(", ".join(names))]
        for (heading, _), names in students.items()
        if len(names) > 1
    ]


def _student_page(student: str, marks: Sequence[Mark]) -> bytes:
    """Write what one student reads."""
    added = totals(marks)
    by_level = ", ".join(f"{level} {added[level]}" for level in LEVELS)
    body = f"<h1>{escape(student)}</h1><p>{added['marks']} of {added['out_of']}: {by_level}.</p>"
    for mark in marks:
        kind = mark.outcome.replace(" ", "-")
        body += (
            f'<section class="{kind}"><h2>{escape(mark.task.heading)}</h2>'
            f"<p><b>{_OUTCOMES[mark.outcome]}</b> · {mark.task.level}, {LEVELS[mark.task.level]} · "
            f"{escape(mark.task.chapter)}</p><p>{escape(mark.feedback)}</p></section>"
        )
    return _page(student, body)


_STYLE = """
:root { color-scheme: light dark; --right: #0b6e4f; --other: #8a5a00; --line: #bbb; }
@media (prefers-color-scheme: dark) { :root { --right: #5fd3a6; --other: #e0b060; --line: #555; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
.scrolls { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.875rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.75rem 0.25rem 0; }
th, td { text-align: left; }
td:nth-child(2) { white-space: nowrap; }
td:first-child { position: sticky; left: 0; background: Canvas; }
td a { display: inline-block; width: max-content; max-width: min(14rem, 30vw); }
h1, td a { overflow-wrap: anywhere; }
section { border-left: 4px solid var(--other); margin: 1.5rem 0; padding-left: 1rem; }
section.right { border-color: var(--right); } h2 { font-size: 1.1rem; margin: 0; }
p { margin: 0.25rem 0; overflow-wrap: anywhere; }
span.right { color: var(--right); font-weight: 600; }
"""


def _page(title: str, body: str) -> bytes:
    """Write a page that fetches nothing and runs nothing, whatever an answer put into it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    ).encode()
