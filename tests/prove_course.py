"""What a course promises, at length: marks of a class in time, and no solution in any edition.

Without a name: a class of a hundred is marked in five minutes on two processors, and each as it
should be. With the name of a data set: its student edition, of all chapters, holds no line of a
solution and no answer of a prediction, in what is written and in what its answer sheets say when
they are run as they are handed out.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from planted_answers import CHAPTER, twenty
from recbias._system.places import cache_dir
from recbias.book.course.edition import find_leaks, secrets, told_by, write_course
from recbias.book.course.grading import grade, totals
from recbias.book.course.tasks import chapter_tasks, chapters_with_tasks
from recbias.book.notebooks import find_chapter, run_chapter

MOST = 300.0
"""Seconds for the whole class, timeouts apart."""


def prove_class() -> None:
    tasks = chapter_tasks(find_chapter(CHAPTER))
    with tempfile.TemporaryDirectory() as folder:
        expected: dict[str, tuple[int, int]] = {}
        place = Path(folder) / "class"
        place.mkdir()
        for group in "abcde":  # five times the twenty
            for student, marks_and_late in twenty(Path(folder) / group, tasks).items():
                expected[f"{group}-{student}"] = marks_and_late
                (Path(folder) / group / student).rename(place / f"{group}-{student}")
        started = time.perf_counter()
        marks = grade(place, seconds=5, workers=2)
        seconds = time.perf_counter() - started
    late = [mark.seconds / 2 for mark in marks if mark.outcome == "timeout"]
    students = {
        mark.student: [each for each in marks if each.student == mark.student] for mark in marks
    }
    found = {name: (totals(of)["marks"], totals(of)["timeouts"]) for name, of in students.items()}
    assert found == expected, {name: (found[name], expected[name]) for name in found
                               if found[name] != expected[name]}  # fmt: skip
    print(
        f"{len(found)} students, {len(marks)} answers, each with the mark that it should have: "
        f"{seconds:.0f} s on two processors, {sum(late):.0f} of them for the {len(late)} that ran "
        "out of time"
    )
    assert seconds - sum(late) < MOST


def prove_edition(dataset: str) -> None:
    chapters = chapters_with_tasks()
    with tempfile.TemporaryDirectory() as folder:
        out, wheel = Path(folder) / "students", Path(folder) / "recbias-0-py3-none-any.whl"
        wheel.touch()
        write_course(out, chapters, dataset=dataset, wheel=wheel, say=print)
        for chapter in chapters:
            run = run_chapter(chapter, dataset, build=cache_dir())
            executed = nbformat.read(run, as_version=4)
            hidden = secrets(chapter, executed)
            sheet = nbformat.read(out / "answers" / f"{chapter.name}.ipynb", as_version=4)
            NotebookClient(sheet, timeout=300).execute()  # stops where a cell does
            n_said = sum(len(cell.get("outputs", [])) for cell in sheet.cells)
            assert n_said >= len(chapter_tasks(chapter)), (chapter.name, n_said)
            chapter_read = nbformat.read(out / "notebooks" / f"{chapter.name}.ipynb", as_version=4)
            for kind, notebook in (("sheet, as run", sheet), ("chapter", chapter_read)):
                assert find_leaks(told_by(notebook), hidden) == [], (chapter.name, kind)
            # What it is made of has all of them: the search finds what is there.
            assert find_leaks(told_by(executed), hidden) == list(hidden), chapter.name
            print(f"{chapter.name} on {dataset}: {len(hidden)} solutions and answers, none told")


if __name__ == "__main__":
    if sys.argv[1:]:
        prove_edition(sys.argv[1])
    else:
        prove_class()
