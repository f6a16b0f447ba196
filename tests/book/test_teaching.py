"""The plans of the guide for teachers: minutes add up, exercises are of what is read."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from recbias._system.places import clone_root
from recbias.book.course.tasks import chapter_tasks, chapters_with_tasks

ROOT = clone_root()
assert ROOT
GUIDE = (ROOT / "book/teaching.md").read_text(encoding="utf-8")
OF_EXERCISE = 8
"""Minutes that the guide counts for one."""


def minutes(text: str) -> int:
    """Add up the numbers in brackets."""
    return sum(map(int, re.findall(r"\((\d+)\)", text)))


def plan(guide: str, name: str) -> str:
    """Give the part of the guide on a plan."""
    return guide.partition(f"**{name}.**")[2].partition("\n**")[0].partition("\n## ")[0]


def weeks(guide: str) -> Iterator[list[str]]:
    """Give the cells of each week."""
    for row in re.findall(r"^\| \d \|.*$", plan(guide, "Six weeks"), re.MULTILINE):
        yield [cell.strip() for cell in row.strip("|").split("|")]


def faults(guide: str) -> list[str]:
    """Name the sums of the plans that are not what the guide says that they are."""
    found, ended = [], 0
    for start, end in re.findall(r"^\| (\d+) to (\d+) \|", plan(guide, "One hour"), re.MULTILINE):
        if int(start) != ended or int(end) <= ended:
            found.append(f"one hour: {start} after {ended}")
        ended = int(end)
    if ended != 60:
        found.append(f"one hour: {ended}")
    day = plan(guide, "One day")
    if minutes(day) != 90:
        found.append(f"one day: {minutes(day)}")
    in_class = int(re.search(r"exercises \((\d+)\)", day)[1])  # type: ignore[index]
    for row in re.findall(r"^\| (\d \|.*)$", day, re.MULTILINE):
        if OF_EXERCISE * row.count("{ref}") > in_class:
            found.append(f"one day: block {row[0]} has too many exercises")
    if minutes(plan(guide, "One session of 90 minutes")) != 90:
        found.append("one session")
    for week, _, lecture, exercises, _ in weeks(guide):
        for which, told, whole in (("in class", lecture, 90), ("exercises", exercises, 60)):
            if minutes(told) != whole:
                found.append(f"week {week}, {which}: {minutes(told)}")
    return found


def unread(guide: str) -> list[str]:
    """Name the exercises of a week whose chapter is not among those read in it."""
    chapter_of = {
        task.label: int(chapter.name[:2])
        for chapter in chapters_with_tasks()
        for task in chapter_tasks(chapter)
    }
    found = []
    for week, read, *rest in weeks(guide):
        labels = re.findall(r"\{ref\}`(ex-[^`]+)`", " ".join(rest))
        chapters = set(map(int, re.findall(r"\d", read)))
        found += [f"week {week}: {each}" for each in labels if chapter_of[each] not in chapters]
    return found


def test_minutes_of_all_plans_add_up() -> None:
    assert len(list(weeks(GUIDE))) == 6
    assert faults(GUIDE) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("| 5 to 15 |", "| 5 to 10 |", "one hour: 15 after 10"),
        ("slides (40), exercises (40)", "slides (40), exercises (20)", "one day: 70"),
        ("with hands and no projector (5)", "with hands and no projector (6)", "one session"),
        ("slides 6 (35)", "slides 6 (40)", "week 5, in class: 95"),
        ("the exam, by its key (25)", "the exam, by its key", "week 4, exercises: 35"),
    ],
)
def test_minutes_that_do_not_add_up_are_noticed(old: str, new: str, told: str) -> None:
    assert old in GUIDE
    assert told in faults(GUIDE.replace(old, new))


def test_exercises_of_a_week_are_of_what_is_read() -> None:
    assert unread(GUIDE) == []
    assert unread(GUIDE.replace("ex-blind", "ex-together")) == ["week 5: ex-together"]


def test_the_guide_says_how_to_install_on_windows_and_why_the_data_are_simulated() -> None:
    told = re.sub(r"\s+", " ", GUIDE)
    assert r".venv\Scripts\recbias" in told
    assert "Without it the chapters are about the synthetic world: whoever" in told
