"""Exercises as chapters hold them: text, starter, solution, level and check of each."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from recbias.book.exercises import Checked
from recbias.book.notebooks import Chapter, list_chapters
from recbias.errors import ConfigError

LEVELS = {
    "warm-up": "by hand",
    "core": "in code",
    "research": "on your own data",
}
"""The levels that an exercise names with ``:class:``, and what each takes."""

_OPENING = re.compile(r"(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:+-]+)\} ?(?P<argument>.*)$")
_CODE = re.compile(r"^```python\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"^:(\w+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """An exercise of a chapter.

    Attributes
    ----------
    chapter
        Name of the chapter's file.
    label
        Its name, such as ``ex-ceiling``.
    number
        That its page gives it, such as ``1.2``.
    title, text
        What it asks, in MyST; without its code.
    level
        One of `LEVELS`.
    starter, solution
        Code that ends with a call of the check.
    solution_text
        The whole solution, in MyST.
    module, check
        Where the check is, and its name.
    """

    chapter: str
    label: str
    number: str
    title: str
    text: str
    level: str
    starter: str
    solution: str
    solution_text: str
    module: str
    check: str

    @property
    def heading(self) -> str:
        """What sheets, keys and marks call it, as its page does."""
        return f"Exercise {self.number}: {self.title}"

    @property
    def judge(self) -> Callable[..., Checked]:
        """The check itself."""
        found: Callable[..., Checked] = getattr(importlib.import_module(self.module), self.check)
        return found


@dataclass(frozen=True)
class Block:
    """A directive in a text, from the line `start` up to but without the line `end`."""

    name: str
    argument: str
    body: list[str]
    start: int
    end: int


def blocks(text: str) -> Iterator[Block]:
    r"""Walk the directives of a text, not those within others.

    Examples
    --------
    >>> [(found.name, found.body) for found in blocks("Hm.\n:::{note}\nSo.\n:::")]
    [('note', ['So.'])]
    """
    lines, place = text.splitlines(), 0
    while place < len(lines):
        start, opening = place, _OPENING.match(lines[place])
        place += 1
        if opening:
            while place < len(lines) and lines[place].rstrip() != opening["fence"]:
                place += 1
            place += 1
            body = lines[start + 1 : place - 1]
            yield Block(opening["name"], opening["argument"], body, start, place)


def chapters_with_tasks() -> list[Chapter]:
    """List the chapters that have exercises, in the order of the book."""
    return [
        chapter
        for chapter in list_chapters()
        if "{exercise}" in chapter.source.read_text(encoding="utf-8")
    ]


def chapter_tasks(chapter: Chapter) -> list[Task]:
    """Read the exercises of a chapter, in its order: so have sheets, marks and feedback.

    Raises
    ------
    ConfigError
        If one has no level, no solution, or no check that its starter calls.
    """
    cells = [cell.source for cell in chapter.notebook().cells if cell.cell_type == "markdown"]
    found = [block for source in cells for block in blocks(source)]
    solutions = {
        block.argument.strip(): "\n".join(block.body) + "\n"
        for block in found
        if block.name == "solution"
    }
    exercises = [block for block in found if block.name == "exercise"]
    return [_task(chapter, n, block, solutions) for n, block in enumerate(exercises, start=1)]


def _task(chapter: Chapter, n: int, block: Block, solutions: dict[str, str]) -> Task:
    body = "\n".join(block.body) + "\n"
    options = dict(_OPTION.findall(body))
    label, level = options.get("label", ""), options.get("class", "")
    where = f"{chapter.source}: exercise '{block.argument}'"
    if level not in LEVELS:
        raise ConfigError(f"{where} has :class: '{level}', expected one of {', '.join(LEVELS)}")
    if label not in solutions:
        raise ConfigError(f"{where} has no solution; begin one with {{solution}} {label}")
    starter = "".join(_CODE.findall(body))
    module, check = _check(starter, where)
    return Task(
        chapter=chapter.name,
        label=label,
        number=f"{chapter.name.partition('_')[0].lstrip('0')}.{n}",
        title=block.argument,
        text=_CODE.sub("", _OPTION.sub("", body)).strip() + "\n",
        level=level,
        starter=starter,
        solution="".join(_CODE.findall(solutions[label])),
        solution_text=solutions[label],
        module=module,
        check=check,
    )


def _check(starter: str, where: str) -> tuple[str, str]:
    """Find which check a starter imports and calls."""
    body: list[Any] = ast.parse(starter).body
    for node in body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(".exercises"):
            return str(node.module), node.names[0].name
    raise ConfigError(f"{where}: its code imports no check of an `exercises` module")
