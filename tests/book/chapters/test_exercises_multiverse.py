"""Wrong answers to the exercises of chapter 8 are refused, and the usual ones told apart."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recbias.book.chapters.multiverse.exercises import check_fewest, check_four, check_shared

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "08_multiverse.py"


def test_solutions_on_the_page_are_right_and_starters_are_not() -> None:
    text = re.sub(r"^# ?", "", NOTEBOOK.read_text(encoding="utf-8"), flags=re.MULTILINE)
    blocks = re.findall(r"````\{(exercise|solution)\}.*?\n```python\n(.*?)```", text, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["exercise", "solution"] * 4
    for kind, code in blocks:
        *statements, last = ast.parse(code).body
        assert isinstance(last, ast.Expr)
        scope: dict[str, Any] = {}
        exec(compile(ast.Module(statements, []), "<task>", "exec"), scope)  # noqa: S102
        found = eval(compile(ast.Expression(last.value), "<task>", "eval"), scope)  # noqa: S307
        assert bool(found) == (kind == "solution"), code


@pytest.mark.parametrize(
    ("wins", "fewest", "ways", "said"),
    [
        (0.25, 1, 1, "in which A loses"),
        (0.5, 1, 1, "count the universes"),
        (0.75, 2, 1, "Change one"),
        (0.75, 3, 1, "how many options"),
        (0.75, 1, 2, "one change away"),
        (..., 1, 1, "in place of the dots"),
    ],
)
def test_slips_about_four_universes(wins: Any, fewest: Any, ways: Any, said: str) -> None:
    found = check_four(wins=wins, fewest=fewest, ways=ways)
    assert not found
    assert said in repr(found)


def by_distance(signs: Any, start: Any) -> int:
    turned = np.argwhere(signs == -signs[start])
    return int(np.abs(turned - np.array(start)).sum(axis=1).min()) if len(turned) else 0


def from_the_corner(signs: Any, start: Any) -> int:
    turned = np.argwhere(signs == -signs[start])
    return int((turned != 0).sum(axis=1).min()) if len(turned) else 0


def with_ties(signs: Any, start: Any) -> int:
    turned = np.argwhere(signs != signs[start])
    return int((turned != np.array(start)).sum(axis=1).min()) if len(turned) else 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (by_distance, "one change, however far"),
        (from_the_corner, "expected"),
        (with_ties, "expected"),
        (lambda signs, start: 1, "gives 1, expected 2"),
        (lambda signs, start: ..., "in place of the dots"),
        (lambda signs: 1, "stops with"),
    ],
)
def test_slips_about_the_fewest_changes(answer: Any, said: str) -> None:
    found = check_fewest(answer)
    assert not found
    assert said in repr(found)


@pytest.mark.parametrize(
    ("signs", "said"),
    [
        ([[1, 1], [-1, -1]], "the first decides 100 %"),
        ([[1, 1], [1, 1]], "all signs are alike"),
        ([[1, 1], [1, -1]], "decides 50 %"),
        ([[1, 0], [0, 1]], "each is 1 or"),
        ([[1, -1]], "two rows"),
        ("+-", "two rows"),
        ([[..., ...], [..., ...]], "each is 1 or"),
    ],
)
def test_slips_about_what_two_decide(signs: Any, said: str) -> None:
    found = check_shared(signs=signs)
    assert not found
    assert said in repr(found)
    assert check_shared(signs=[[-1, 1], [1, -1]])
