"""A class of a hundred is marked in five minutes on two processors, and each as it should be."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from planted_answers import CHAPTER, twenty
from recbias.book.course.grading import grade, totals
from recbias.book.course.tasks import chapter_tasks
from recbias.book.notebooks import find_chapter

MOST = 300.0
"""Seconds for the whole class, timeouts apart."""


def main() -> None:
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
    print(f"{len(found)} students, {len(marks)} answers: {seconds:.0f} s on two processors")
    print(f"of these {sum(late):.0f} s for the {len(late)} that ran out of time")
    assert seconds - sum(late) < MOST


if __name__ == "__main__":
    main()
