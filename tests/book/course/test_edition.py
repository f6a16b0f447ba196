"""What students get holds no solution and no answer to a prediction; levels are complete."""

from __future__ import annotations

import subprocess
import sys
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from pandas import read_csv

from planted_answers import CHAPTER, twenty
from recbias.book.chapters.popularity_bias.exercises import check_own_counts
from recbias.book.course import edition
from recbias.book.course.edition import (
    LeakError,
    answer_key,
    answer_sheet,
    find_leaks,
    requirements,
    secrets,
    student_notebook,
    told_by,
    without_solutions,
    write_course,
)
from recbias.book.course.grading import mark_answer, read_sheet
from recbias.book.course.sandbox import Sandbox
from recbias.book.course.tasks import LEVELS, Task, chapter_tasks, chapters_with_tasks
from recbias.book.exercises import Checked
from recbias.book.notebooks import Chapter, find_chapter
from recbias.errors import ConfigError

CHAPTERS = {chapter.name: chapter for chapter in chapters_with_tasks()}
NAMES = list(CHAPTERS)


@lru_cache
def tasks_of(name: str) -> list[Task]:
    return chapter_tasks(CHAPTERS[name])


@lru_cache
def student(name: str) -> NotebookNode:
    """Give the notebook of a student, which is not to be changed."""
    return student_notebook(CHAPTERS[name].notebook())


@pytest.mark.parametrize("name", NAMES)
def test_every_chapter_has_all_levels_and_research_comes_last(name: str) -> None:
    levels = [task.level for task in tasks_of(name)]
    assert set(levels) == set(LEVELS)
    assert levels[-1] == "research"
    assert [number[:2] for number in NAMES] == [f"0{n}" for n in range(1, 9)]


def altered(tmp_path: Path, old: str, new: str) -> Chapter:
    """Give chapter 8 with a change."""
    chapter = find_chapter("08_multiverse")
    text = chapter.source.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "notebooks").mkdir(parents=True)
    (tmp_path / "notebooks" / "08_multiverse.py").write_text(text.replace(old, new), "utf-8")
    return Chapter(chapter.name, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("# :class: core\n", "", "'The fewest changes' has :class: '', expected one of warm-up"),
        ("# :class: core\n", "# :class: hard\n", "has :class: 'hard'"),
        ("{solution} ex-fewest", "{solution} ex-few", "has no solution; begin one with"),
    ],
)
def test_an_exercise_without_level_or_solution_is_refused(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        chapter_tasks(altered(tmp_path, old, new))


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_a_solution_or_prediction_is_in_what_students_get(name: str) -> None:
    hidden = secrets(CHAPTERS[name])
    tasks = tasks_of(name)
    assert all(hidden.values())
    assert set(hidden) > {task.label for task in tasks}
    for made in (student(name), answer_sheet("A", tasks)):
        nbformat.validate(made)
        assert find_leaks(told_by(made), hidden) == []
        assert "{solution}" not in told_by(made)
        assert "Look at the answer" not in told_by(made)
    # Its twins: in the source every one is found; and a line of one, printed by a cell, as well.
    assert find_leaks(told_by(CHAPTERS[name].notebook()), hidden) == list(hidden)
    made = deepcopy(student(name))
    code = next(cell for cell in made.cells if cell.cell_type == "code")
    for label, lines in hidden.items():
        code.outputs = [nbformat.v4.new_output("stream", text=f"so: {lines[-1]}\n")]
        assert label in find_leaks(told_by(made), hidden)


def test_what_a_run_answers_is_searched_for_too() -> None:
    """The source has the words of all verdicts, the run has those of one, with its numbers."""
    chapter = CHAPTERS["08_multiverse"]
    answer = "It is 3.14159 times as much here."
    hidden = secrets(chapter, executed(answer))
    assert "How many?" in find_leaks(f"so: {answer}", hidden)
    assert find_leaks(f"so: {answer}", secrets(chapter)) == []


def test_options_of_a_prediction_stay_and_what_is_told_of_them_goes() -> None:
    text = "A\n::::{predict} Q?\n:right: 2\n- one\n- two\n  lines\n\nTwo, since it is.\n::::\nB"
    assert without_solutions(text) == "A\n::::{predict} Q?\n- one\n- two\n  lines\n::::\nB"


def executed(answer: str = "Two, {numref}`fig-a`.") -> NotebookNode:
    """Make what an executed chapter is like: a lead, a figure out of sight, a prediction."""
    figure = nbformat.v4.new_output(
        "display_data",
        data={"application/papermill.record/image/svg+xml": "<svg/>"},
        metadata={"scrapbook": {"name": "fig_a"}},
    )
    html = {"text/html": '<b><a href="#bcc17-t2">BCC17-T2</a></b>'}
    cards = nbformat.v4.new_output("display_data", data=html)
    lead = '# Q?\n\nA is B.\n<span class="finding">It is 3.9.</span>\n\n**Do** it.\n\n'
    lead += "```{glue:figure} fig_a\n:name: fig-a\n\nSeen.\n```"
    asked = "::::{predict} How many?\n- one\n- two,\n  or so\n\n%s\n\n:::{right} 1 2\n:::\n::::"
    cells = [
        nbformat.v4.new_markdown_cell(lead),
        nbformat.v4.new_markdown_cell("**After this chapter you can** count."),
        nbformat.v4.new_code_cell("show()", outputs=[figure], metadata={"tags": ["remove-output"]}),
        nbformat.v4.new_markdown_cell(f"First.\n\n{asked % answer}\n\n{asked % 'No.'}\n\nThen."),
        nbformat.v4.new_code_cell("cards()", outputs=[cards]),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def test_below_each_prediction_one_commits_oneself_and_the_lead_waits() -> None:
    made = student_notebook(executed())
    nbformat.validate(made)
    lead, _, code, first, commit, second, again, then, cards = made.cells
    assert cards.outputs[0].data["text/html"] == "<b>BCC17-T2</b>"  # its card is on another page
    assert lead.source == (
        "# Q?\n\n<details><summary>What comes out, for after your predictions</summary>\n\n"
        "A is B.\nIt is 3.9.\n\n**Do** it.\n\n![Figure](attachment:fig_a)\n\n*Figure 1: Seen.*\n\n"
        "</details>"
    )
    assert lead.attachments == {"fig_a": {"image/svg+xml": "<svg/>"}}
    assert code.outputs == []
    assert first.source.startswith("First.\n\n**Predict, then look: How many?**")
    assert commit.source.startswith("> **My prediction**")
    assert (again.source, then.source.strip()) == (commit.source, "Then.")
    assert "two,\n  or so" in second.source
    assert "Two" not in told_by(made)
    # Its twin: a lead that tells nothing is not folded.
    told_nothing = executed()
    told_nothing.cells[0].source = "# Q?\n\nA is B."
    assert student_notebook(told_nothing).cells[0].source == "# Q?\n\nA is B."


def test_the_key_says_which_options_are_right_why_and_what_solves_the_exercises() -> None:
    tasks = chapter_tasks(find_chapter(CHAPTER))
    key = answer_key("A", executed(), tasks)
    assert key.startswith(
        "# A\n\n## Prediction: How many?\n\n1. one\n2. two,\n  or so\n\n"
        "**Right: 1 and 2.** Two, Figure 1.\n\n"
    )
    assert all(line in key for task in tasks for line in task.solution.splitlines())
    assert "Prediction" not in answer_key("A", None, tasks)


@pytest.mark.parametrize("name", NAMES)
def test_each_prediction_has_its_cell_and_tasks_come_as_on_the_page(name: str) -> None:
    made = student(name)
    n_asked = sum(cell.source.count("**Predict, then look") for cell in made.cells)
    n_commits = sum(cell.source.startswith("> **My prediction**") for cell in made.cells)
    assert n_commits == n_asked > 0
    numbers = [float(task.number) for task in tasks_of(name)]
    assert numbers == sorted(numbers)
    told = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    for phrase in (
        "easy to hard",
        "fold out",
        "(fig-",
        "(how)",
        "(why)",
        "(more)",
        "Seealso",
        "On your data",
    ):
        assert phrase not in told, phrase


def test_a_solution_left_in_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chapter = find_chapter(CHAPTER)
    given = edition.answer_sheet

    def forgetful(title: str, tasks: list[Task]) -> NotebookNode:
        made = given(title, tasks)
        made.cells[-1].source = tasks[-1].solution
        return made

    monkeypatch.setattr(edition, "answer_sheet", forgetful)
    with pytest.raises(LeakError, match="would hold a solution of ex-own-designs; nothing is"):
        write_course(tmp_path / "out", [chapter], sheets_only=True)
    assert not (tmp_path / "out").exists()


def test_pinned_requirements_name_what_the_package_needs() -> None:
    lines = requirements("recbias-1.whl").splitlines()
    assert lines[0] == "./recbias-1.whl[book]"
    assert f"numpy=={__import__('numpy').__version__}" in lines
    assert not any(line.startswith(("pytest", "hypothesis")) for line in lines)


def test_data_that_may_not_be_handed_on_are_refused(tmp_path: Path) -> None:
    chapters = [find_chapter(CHAPTER)]
    with pytest.raises(ConfigError, match="ml-1m may not be handed on: Research use"):
        write_course(tmp_path / "out", chapters, data=("ml-1m",), sheets_only=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(ConfigError, match="full is there already"):
        write_course(tmp_path / "full", chapters, sheets_only=True)
    (tmp_path / "out-key.md").touch()
    with pytest.raises(ConfigError, match=r"out-key\.md is there already"):
        write_course(tmp_path / "out", chapters, sheets_only=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_all_solutions_are_marked_right_behind_walls_and_no_starter_is(tmp_path: Path) -> None:
    """By executed output: what a student's sheet says as it is handed out is never right."""
    with Sandbox(seconds=20) as sandbox:
        for name in NAMES:
            tasks = chapter_tasks(find_chapter(name))
            path = tmp_path / f"{name}.ipynb"
            nbformat.write(answer_sheet("A", tasks), path)
            cells = read_sheet(path)
            for task in tasks:
                solved = mark_answer(sandbox, "s", task, task.solution)
                assert solved.points == (task.level != "research"), (
                    solved
                )  # its numbers are made up
                (left,) = cells[task.label]
                assert mark_answer(sandbox, "s", task, left).outcome == "empty"
                outcome, value = sandbox.run(left, task.module, task.check, task.judge)
                assert outcome == "called"
                assert isinstance(value, Checked)
                assert not value


@pytest.mark.slow
def test_two_commands_give_the_folder_and_mark_twenty_planted_answers(tmp_path: Path) -> None:
    wheel = tmp_path / "recbias-0-py3-none-any.whl"  # building it is pip's affair
    wheel.touch()
    run = [sys.executable, "-m", "recbias_command"]
    made = [*run, "course", "--out", "students", "--sheets", "--wheel", wheel.name]
    subprocess.run([*made, "--chapter", "1"], cwd=tmp_path, check=True)
    assert sorted(path.name for path in (tmp_path / "students").iterdir()) == [
        "README.md", "answers", "data", wheel.name, "requirements.txt",
    ]  # fmt: skip
    counts = read_csv(tmp_path / "students" / "data" / "synthetic.csv").item_id.value_counts()
    copied = check_own_counts(counts=counts, tenth=counts[:167].sum() / counts.sum())
    assert repr(copied).endswith("of the table that came with the course. Take your own.")
    assert check_own_counts(counts=counts[1:], tenth=counts[1:168].sum() / counts[1:].sum())
    tasks = chapter_tasks(find_chapter(CHAPTER))
    key = (tmp_path / "students-key.md").read_text(encoding="utf-8")  # beside it, never inside
    assert tasks[0].solution in key
    expected = twenty(tmp_path / "class", tasks)
    # One hands in the sheet as it was handed out.
    given = tmp_path / "students" / "answers" / f"{CHAPTER}.ipynb"
    (tmp_path / "class" / "empty" / "answers" / given.name).write_bytes(given.read_bytes())
    command = [*run, "grade", "class", "--seconds", "2", "--workers", "2"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert f"{20 * len(tasks)} answers of 20 students; 3 ran out of time" in done.stdout
    rows = [line.split(",") for line in (tmp_path / "marks" / "totals.csv").read_text().split()[1:]]
    assert {row[0]: (int(row[1]), int(row[-1])) for row in rows} == expected
    assert len(list((tmp_path / "marks" / "feedback").iterdir())) == 20
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 2
    assert "marks is there already" in again.stderr
