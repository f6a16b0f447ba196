"""The commands ``recbias course`` and ``recbias grade``: what students get, and their marks."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recbias.cli.table_options import data_dir_option
from recbias.errors import ConfigError, needs_the_extra

if TYPE_CHECKING:  # the help does not wait for what runs notebooks
    from recbias.book.notebooks import Chapter

_chapter_option = click.option(
    "--chapter",
    "names",
    multiple=True,
    metavar="NAME",
    help="A chapter, by its file's name or number; repeatable.  [default: all]",
)


@click.command(short_help="Write a folder for students: chapters, answer sheets, data.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="A new folder.")
@_chapter_option
@click.option("--dataset", default="synthetic", show_default=True, help="What results are of.")
@click.option(
    "--data", multiple=True, default=("synthetic",), show_default=True, metavar="NAME",
    help="Put this data set in, as a table; one that may be handed on. Repeatable.",
)  # fmt: skip
@click.option(
    "--wheel",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The package to install; else it is built from this clone.",
)
@click.option("--sheets", is_flag=True, help="Answer sheets without the chapters, in seconds.")
@data_dir_option
def course(
    out: Path,
    names: tuple[str, ...],
    dataset: str,
    data: tuple[str, ...],
    wheel: Path | None,
    sheets: bool,
) -> None:
    """Write a student edition of the book into a folder.

    Students get the chapters as notebooks, without solutions and with predictions unanswered; an
    answer sheet for each chapter, with a cell for each exercise that says whether the answer is
    right; data; the package; and a README with the line that installs it, after which nothing needs
    a network. The key, OUT-key.md, is written beside the folder, for you: which predictions are
    right on this data set, and the solutions. Exercises have three levels: warm-up by hand, core in
    code, research on own data.

    Chapters are run on the data set once and kept in the user's cache, minutes for each where
    nothing is recorded. What students hand in is marked by `recbias grade`. The checks come with
    the package, so a student who looks for what a check compares with finds it: mark what must not
    be looked up in an exam.
    """
    with needs_the_extra("book"):
        from recbias.book.course.edition import write_course

    chapters = _chapters(names)
    write_course(
        out,
        chapters,
        dataset=dataset,
        data=data,
        wheel=wheel,
        sheets_only=sheets,
        say=click.echo,
    )
    click.echo(f"{'students':10} {out}: hand it out, and begin with its README.md")
    click.echo(f"{'key':10} {out}-key.md: right predictions and solutions; keep it to yourself")
    click.echo(f"{'then':10} recbias grade FOLDER, with a folder of answers for each student")


@click.command(short_help="Mark what students hand in, with feedback.")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("marks"), show_default=True,
    help="A new folder.",
)  # fmt: skip
@_chapter_option
@click.option(
    "--seconds", type=click.FloatRange(0.5, 600), default=10, show_default=True,
    help="Processor time that one answer may take; three times that by the clock.",
)  # fmt: skip
@click.option(
    "--megabytes", type=click.IntRange(768, 65536), default=2048, show_default=True,
    help="Memory that one answer may take.",
)  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(1, 64), default=lambda: os.cpu_count() or 1,
    show_default="one for each processor", help="Answers that run at once.",
)  # fmt: skip
@click.option(
    "--trust-answers", "trusted", is_flag=True,
    help="Run answers without walls: they can then read and write what you can.",
)  # fmt: skip
def grade(
    folder: Path,
    out: Path,
    names: tuple[str, ...],
    seconds: float,
    megabytes: int,
    workers: int,
    trusted: bool,
) -> None:
    """Mark the answer sheets in FOLDER: one folder for each student, or that of one student.

    Sheets have the names that `recbias course` gave them, as .ipynb or .py; a platform may have
    added to them. Each right task has one mark. Written are marks.html, the class; feedback/*.html,
    a page for each student; marks.csv, a line for each task; totals.csv, a line for each student,
    with the marks of each level.

    Each answer is a process that cannot leave: it sees no file but Python and its packages, no
    network, no other process, and has limits of time and memory. It returns values; they are
    checked outside. This takes Linux; elsewhere answers run only with --trust-answers.
    """
    with needs_the_extra("book"):
        from recbias.book.course.grading import grade as mark_all
        from recbias.book.course.grading import write_marks

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} is there already\nname a new folder with --out, or remove it")
    chapters = [chapter.name for chapter in _chapters(names)] if names else []
    started = time.perf_counter()
    marks = mark_all(
        folder,
        chapters=chapters,
        seconds=seconds,
        megabytes=megabytes,
        workers=workers,
        trusted=trusted,
    )
    page = write_marks(marks, out)
    late = [mark.seconds for mark in marks if mark.outcome == "timeout"]
    n_students = len({mark.student for mark in marks})
    lost = {
        f"{'not read':10} {mark.student}, {mark.task.chapter}: {mark.feedback}"
        for mark in marks
        if mark.unread
    }
    for line in sorted(lost):
        click.echo(line)
    click.echo(f"{'marks':10} {page}\n{'tables':10} {out / 'marks.csv'}, {out / 'totals.csv'}")
    click.echo(
        f"{'took':10} {time.perf_counter() - started:.0f} s for {len(marks)} answers of "
        f"{n_students} students; {len(late)} ran out of time, {sum(late):.0f} s in all"
    )


def _chapters(names: tuple[str, ...]) -> list[Chapter]:
    """Find the chapters that are named, or all that have exercises."""
    from recbias.book.course.tasks import chapters_with_tasks
    from recbias.book.notebooks import find_chapter

    known = chapters_with_tasks()
    if not names:
        return known
    numbered = {str(number): chapter.name for number, chapter in enumerate(known, start=1)}
    wanted = {find_chapter(numbered.get(name.lstrip("0"), name)).name for name in names}
    if without := sorted(wanted - {chapter.name for chapter in known}):
        raise ConfigError(f"{without[0]} has no exercises; chapters 1 to {len(known)} have")
    return [chapter for chapter in known if chapter.name in wanted]
