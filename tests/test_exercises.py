"""Exercises as they stand in the chapters: the solution passes its check, the starter does not."""

from __future__ import annotations

import ast
import re
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import jupytext
import pytest

from recbias.claims import chapters, claims
from recbias.errors import ConfigError
from recbias.exercises import Checked
from recbias.exercises.design_alternatives import (
    TOY,
    check_ceiling,
    check_lemma_broken,
    check_one_pass,
    check_random,
    check_threshold,
    check_toy,
)

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
BLOCK = re.compile(
    r"^````\{(?P<kind>exercise|solution)\} (?P<name>[^\n]*)\n(?P<body>.*?)^````$",
    re.MULTILINE | re.DOTALL,
)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prose() -> str:
    cells = jupytext.read(NOTEBOOKS / f"{chapters()['design alternatives']}.py").cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def code_of() -> dict[str, dict[str, str]]:
    """Collect starter and solution of each exercise by its label."""
    found: dict[str, dict[str, str]] = {}
    for block in BLOCK.finditer(prose()):
        label = block["name"]
        if block["kind"] == "exercise":
            (label,) = re.findall(r"^:label: (\S+)$", block["body"], re.MULTILINE)
        found.setdefault(label, {})[block["kind"]] = "".join(CODE.findall(block["body"]))
    return found


def last_value(code: str) -> Any:
    """Run code and give the value of its last line, as a notebook shows it."""
    *body, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    scope: dict[str, Any] = {}
    exec(compile(ast.Module(body, []), "exercise", "exec"), scope)  # noqa: S102 - our own pages
    return eval(compile(ast.Expression(last.value), "exercise", "eval"), scope)  # noqa: S307


LABELS = tuple(code_of())


def test_every_exercise_has_a_starter_and_a_solution() -> None:
    assert len(LABELS) == prose().count("{exercise}") >= 5
    assert all(set(code) == {"exercise", "solution"} for code in code_of().values())
    assert "help(" not in "".join(code for each in code_of().values() for code in each.values())


@pytest.mark.parametrize("label", LABELS)
def test_the_solution_passes_in_seconds_and_the_starter_says_what_is_missing(label: str) -> None:
    code, started = code_of()[label], time.perf_counter()
    solved, begun = last_value(code["solution"]), last_value(code["exercise"])
    assert time.perf_counter() - started < 10
    assert isinstance(solved, Checked)
    assert solved, repr(solved)
    assert repr(solved).startswith("Right: ")
    assert isinstance(begun, Checked)
    assert not begun
    assert re.match(r"Not yet: .*(dots|No answer yet)", repr(begun))


def test_the_table_of_the_page_is_the_one_that_is_checked() -> None:
    assert TOY.strip() in prose()
    assert TOY.replace("[4]", "[3]").strip() not in prose()


# -- wrong answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            lambda n, r: 1.0,
            r"ceiling\(10, 1\) gives 1\. How many hits fit into 10 places, if 1 item",
        ),
        (lambda n, r: r / n, r"ceiling\(5, 8\) gives 1\.6"),
        (lambda n, r: 1 / n, r"ceiling\(20, 3\) gives 0\.05"),
        (lambda n, r: min(n, max(r, 1)) / n, r"ceiling\(10, 0\) gives 0\.1"),
        (lambda n, r: 1 / 0, "stops with ZeroDivisionError"),
        (lambda n: 1, "stops with TypeError"),
        (lambda n, r: "1", "gives '1'; return a number"),
    ],
)
def test_a_wrong_ceiling(answer, told: str) -> None:
    found = check_ceiling(answer)
    assert not found
    assert re.search(told, repr(found).replace("<lambda>", "ceiling"))


def test_usual_slips_about_random_are_named() -> None:
    right = {"ti_an_ar": 3 / 760, "ai_an_ar": 3 / 960, "ti_nn_1r": 0.01}
    assert check_random(**right)
    assert check_random(**right | {"ti_an_ar": 0.00395}), "three digits are enough"
    for name, answer, told in (
        ("ti_an_ar", 3 / 800, "training items are no targets"),
        ("ti_an_ar", 5 / 760, "rated low is not relevant"),
        ("ti_an_ar", 3 / 758, "rated low is a target"),
        ("ai_an_ar", 3 / 760, "untested items are candidates"),
        ("ti_nn_1r", 0.1, "that is the ceiling"),
        ("ti_nn_1r", 0.2, "count relevant items and targets"),
    ):
        found = check_random(**right | {name: answer})
        assert not found
        assert told in repr(found)
        assert str(right[name])[:6] not in repr(found), "the answer is not told"


def test_toy_answers_by_hand() -> None:
    # As the solution counts them: 5 hits of 12 places, 6 runs of 7 ... and 7 of 12.
    right = {"ti_an_ar": Fraction(5, 12), "ti_an_1r": Fraction(3, 7), "test_only": Fraction(7, 12)}
    assert check_toy(**{name: float(value) for name, value in right.items()})
    found = check_toy(**{name: float(value) for name, value in right.items()} | {"ti_an_ar": 0.5})
    assert "ti_an_ar is too large" in repr(found)
    assert "count, as 0" in repr(found)
    found = check_toy(ti_an_ar=5 / 12, ti_an_1r=5 / 12, test_only=0.1)
    assert "ti_an_1r is too small; test_only is too small. Under 1R the mean" in repr(found)


def test_a_wrong_chance_is_shown_the_samples_to_count() -> None:
    found = check_one_pass(lambda rank, pool, size, cutoff: 0.5)
    assert "write down the 3 samples of 1" in repr(found)
    with_replacement = check_one_pass(
        lambda rank, pool, size, cutoff: (1 - (rank - 1) / pool) ** (size - 1)
    )
    assert not with_replacement


@pytest.mark.parametrize(
    ("order", "shared", "own", "told"),
    [
        (["r1", "r2", "x"], {"x"}, {"r1": {"x"}, "r2": {"x"}}, "so that it holds"),
        (["r1", "x"], {"x"}, {"r1": {"x"}, "r2": {"x"}}, "r1 and r2 among them"),
        (["r1", "r2", "x", "x"], {"x"}, {"r1": {"x"}, "r2": {"x"}}, "each item once"),
        (["x", "r1", "r2"], {"r1"}, {"r1": {"x"}, "r2": {"x"}}, "that are not relevant"),
        (["x", "r1", "r2", "y"], {"y"}, {"r1": {"x", "y"}, "r2": {"x"}}, "sets of one size"),
        (["x", "r1", "r2"], {"x"}, {"r1": {"x"}}, "own needs a sample"),
        (["x", "r1", "r2"], {"z"}, {"r1": {"x"}, "r2": {"x"}}, "items of order"),
    ],
)
def test_a_lemma_that_is_not_broken(order, shared, own, told: str) -> None:
    found = check_lemma_broken(order, shared, own)
    assert not found
    assert told in repr(found)


def test_the_class_of_a_claim_does_not_tell_whether_its_verdict_may_change() -> None:
    kinds = {claim.id: claim.kind for claim in claims()}
    by_class = {
        name: kinds[name] == "empirical"
        for name in ("BCC17-EQ1", "BCC17-C-MAX1R", "BCC17-C-THETA", "BCC17-SETUP", "BCC17-C-RANGE")
    }
    found = check_threshold(by_class)
    assert not found
    assert "BCC17-C-THETA, BCC17-SETUP are not so" in repr(found)
    with pytest.raises(ConfigError, match="not asked for: BCC17-F9"):
        check_threshold({"BCC17-F9": True})
