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
from scipy.stats import hypergeom

from recbias.book.chapters.design_alternatives.exercises import (
    TOY,
    check_ceiling,
    check_lemma_broken,
    check_one_pass,
    check_random,
    check_toy,
)
from recbias.book.exercises import Checked
from recbias.claims import chapters

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
BLOCK = re.compile(
    r"^````\{(?P<kind>exercise|solution)\} (?P<name>[^\n]*)\n(?P<body>.*?)^````$",
    re.MULTILINE | re.DOTALL,
)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prose(topic: str) -> str:
    cells = jupytext.read(NOTEBOOKS / f"{chapters()[topic]}.py").cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


WRITTEN = [
    topic for topic, name in chapters().items() if name and (NOTEBOOKS / f"{name}.py").is_file()
]


def code_of(topic: str) -> dict[str, dict[str, str]]:
    """Collect starter and solution of each exercise of a chapter by its label."""
    found: dict[str, dict[str, str]] = {}
    for block in BLOCK.finditer(prose(topic)):
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


LABELS = {label: code for topic in WRITTEN for label, code in code_of(topic).items()}


@pytest.mark.parametrize("topic", WRITTEN)
def test_every_exercise_has_a_starter_and_a_solution(topic: str) -> None:
    codes = code_of(topic)
    assert len(codes) == prose(topic).count("{exercise}") >= 3
    assert all(set(code) == {"exercise", "solution"} for code in codes.values())
    assert "help(" not in "".join(code for each in codes.values() for code in each.values())


@pytest.mark.parametrize("label", LABELS)
def test_the_solution_passes_in_seconds_and_the_starter_says_what_is_missing(label: str) -> None:
    code, started = LABELS[label], time.perf_counter()
    solved, begun = last_value(code["solution"]), last_value(code["exercise"])
    assert time.perf_counter() - started < 10
    assert isinstance(solved, Checked)
    assert solved, repr(solved)
    assert repr(solved).startswith("Right: ")
    assert isinstance(begun, Checked)
    assert not begun
    assert re.match(r"Not yet: .*(dots|No answer yet)", repr(begun))


def test_the_table_of_the_page_is_the_one_that_is_checked() -> None:
    assert TOY.strip() in prose("design alternatives")
    assert TOY.replace("[4]", "[3]").strip() not in prose("design alternatives")


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
        (lambda n, r: min(n, r) / n if n < 6 or r < 4 else 1.0, r"ceiling\(10, 7\) gives 1\."),
        (lambda n, r: min(n, max(r, 1)) / n, r"ceiling\(10, 0\) gives 0\.1"),
        (lambda n, r: 1 / 0, "stops with ZeroDivisionError"),
        (lambda n: 1, "stops with TypeError"),
        (lambda n, r: "1", "gives '1'; return a number: a text in quotation marks is none"),
        (lambda n, r: (0, 1), "return a number: a comma makes a pair; a decimal number has a"),
    ],
)
def test_a_wrong_ceiling(answer, told: str) -> None:
    found = check_ceiling(answer)
    assert not found
    assert re.search(told, repr(found).replace("<lambda>", "ceiling"))


def test_usual_slips_about_random_are_named() -> None:
    right = {"ti_an_ar": 3 / 760, "ai_an_ar": 3 / 960, "ti_nn_1r": 0.01}
    assert check_random(**right)
    assert check_random(**right | {"ti_an_ar": 0.003947}), "four digits are enough"
    for name, answer, told in (
        ("ti_an_ar", 3 / 800, "training items are no targets"),
        ("ti_an_ar", 5 / 760, "rated low is not relevant"),
        ("ti_an_ar", 3 / 758, "rated low is a target"),
        ("ai_an_ar", 3 / 760, "untested items are candidates"),
        ("ti_nn_1r", 0.1, "that is the ceiling"),
        ("ti_nn_1r", 0.2, "count relevant items and targets"),
        ("ti_an_ar", 3 / 761, "count relevant items and targets"),
        ("ti_an_ar", 3 / 759, "count relevant items and targets"),
        ("ai_an_ar", 3 / 961, "count relevant items and targets"),
        ("ai_an_ar", 3 / 959, "count relevant items and targets"),
    ):
        found = check_random(**right | {name: answer})
        assert not found
        assert told in repr(found)
        assert str(right[name])[:6] not in repr(found), "the answer is not told"


def test_toy_answers_by_hand() -> None:
    # As the solution counts them: 3 hits of 12 places, 5 of 8 runs with 2 places, 5 of 12.
    right = {"ti_an_ar": Fraction(1, 4), "ti_an_1r": Fraction(5, 16), "test_only": Fraction(5, 12)}
    assert toy_values() == tuple(right.values())
    assert check_toy(**{name: float(value) for name, value in right.items()})
    found = check_toy(**{name: float(value) for name, value in right.items()} | {"ti_an_ar": 0.3})
    assert "ti_an_ar is too large" in repr(found)
    assert "count, as 0" in repr(found)
    found = check_toy(ti_an_ar=1 / 4, ti_an_1r=1 / 4, test_only=0.1)
    assert "ti_an_1r is too small; test_only is too small. Under 1R the mean" in repr(found)


def toy_values(
    counted: str = "train",
    cutoff: int = 2,
    liked: int = 4,
    *,
    all_items: bool = False,
    seen: bool = False,
    low_left_out: bool = False,
    others_stay: bool = False,
    over_users: bool = False,
    ties_from_z: bool = False,
    rare_first: bool = False,
) -> tuple[Fraction, ...]:
    """Measure Popularity on the toy data, with the mistakes that readers make."""
    head, _, *lines = TOY.strip().splitlines()
    items = [cell.strip() for cell in head.split("|")[2:-1]]
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in lines]
    cells = [{item: cell for item, cell in zip(items, row, strict=True) if cell} for row in rows]
    tests = [{i: int(c.strip("[]")) for i, c in row.items() if "[" in c} for row in cells]
    trains = [{i: int(c) for i, c in row.items() if "[" not in c} for row in cells]
    weights = {
        "train": [dict.fromkeys(row, 1) for row in trains],
        "test": [dict.fromkeys(row, 1) for row in tests],
        "both": [dict.fromkeys(row, 1) for row in cells],
        "sums": trains,
    }[counted]
    popularity = {item: sum(row.get(item, 0) for row in weights) for item in items}
    sign = 1 if rare_first else -1
    by_name = sorted(items, reverse=ties_from_z)
    order = sorted(by_name, key=lambda item: sign * popularity[item])
    candidates = set(items) if all_items else {item for row in tests for item in row}

    def precision(members: set[str], relevant: set[str]) -> Fraction:
        shown = [item for item in order if item in members][:cutoff]
        return Fraction(sum(item in relevant for item in shown), cutoff)

    of_users, of_runs, of_tested = [], [], []
    for train, test in zip(trains, tests, strict=True):
        relevant = {item for item, value in test.items() if value >= liked}
        targets = candidates - (set() if seen else set(train))
        if low_left_out:
            targets -= set(test) - relevant
        of_users.append(precision(targets, relevant))
        kept = targets if others_stay else targets - relevant
        runs = [precision(kept | {item}, {item}) for item in sorted(relevant)]
        of_runs += [sum(runs, Fraction(0)) / max(len(runs), 1)] if over_users else runs
        of_tested.append(precision(set(test), relevant))
    return tuple(sum(of, Fraction(0)) / len(of) for of in (of_users, of_runs, of_tested))


def test_the_words_of_the_toy_solution_follow_from_its_table() -> None:
    head, _, *lines = TOY.strip().splitlines()
    items = [cell.strip() for cell in head.split("|")[2:-1]]
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in lines]
    trained = {
        item: sum(row[place] != "" and "[" not in row[place] for row in rows)
        for place, item in enumerate(items)
    }
    order = sorted(items, key=lambda item: (-trained[item], item))
    tested = {item for place, item in enumerate(items) if any("[" in row[place] for row in rows)}
    first = [
        " ".join([item for item in order if item in tested and of[item][:1] in ("", "[")][:2])
        for of in (dict(zip(items, row, strict=True)) for row in rows)
    ]
    text = (NOTEBOOKS / "01_design_alternatives.py").read_text(encoding="utf-8")
    assert f"the items come as {', '.join(order)};" in text
    assert f"users A to F are {', '.join(first[:-1])} and {first[-1]}." in text


TOY_MISTAKES = [
    ({"counted": "both"}, 3),  # leakage
    ({"counted": "test"}, 3),
    ({"counted": "sums"}, 3),
    ({"cutoff": 1}, 3),
    ({"cutoff": 3}, 3),
    ({"liked": 2}, 3),
    ({"liked": 3}, 3),
    ({"liked": 5}, 3),
    ({"ties_from_z": True}, 3),
    ({"rare_first": True}, 3),
    ({"all_items": True}, 2),
    ({"seen": True}, 2),
    ({"low_left_out": True}, 2),
    ({"others_stay": True}, 1),
    ({"over_users": True}, 1),
]
"""A mistake, and how many of the three numbers it is about: TI-AN-AR and 1R, or 1R alone."""


@pytest.mark.parametrize(("mistake", "n_numbers"), TOY_MISTAKES, ids=str)
def test_each_mistake_on_the_toy_data_shows_in_every_number_it_is_about(
    mistake: dict[str, Any], n_numbers: int
) -> None:
    names = ("ti_an_ar", "ti_an_1r", "test_only")
    right = dict(zip(names, map(float, toy_values()), strict=True))
    wrong = dict(zip(names, map(float, toy_values(**mistake)), strict=True))
    about = {1: names[1:2], 2: names[:2], 3: names}[n_numbers]
    for name in about:
        found = check_toy(**right | {name: wrong[name]})
        assert not found
        assert f"{name} is too" in repr(found)


def test_a_wrong_chance_is_shown_the_samples_to_count() -> None:
    found = check_one_pass(lambda rank, pool, size, cutoff: 0.5)
    assert "write down the 3 samples of 1" in repr(found)
    with_replacement = check_one_pass(
        lambda rank, pool, size, cutoff: (1 - (rank - 1) / pool) ** (size - 1)
    )
    assert not with_replacement


def chance(rank: int, pool: int, size: int, cutoff: int) -> float:
    return hypergeom.cdf(cutoff - 1, pool, rank - 1, size - 1)


@pytest.mark.parametrize(
    ("wrong_at", "told"),
    [
        (lambda rank, pool, size, cutoff: rank == 1, "none stands above"),
        (lambda rank, pool, size, cutoff: cutoff == size, "at most 1 of the drawn"),
        (lambda rank, pool, size, cutoff: cutoff > size, "at most 2 of the drawn"),
        (lambda rank, pool, size, cutoff: pool > 7, "Of 10 others"),
    ],
)
def test_a_chance_that_is_wrong_at_the_edges_is_noticed(wrong_at, told: str) -> None:
    assert check_one_pass(chance)
    found = check_one_pass(lambda *asked: 0.123 if wrong_at(*asked) else chance(*asked))
    assert not found
    assert told in repr(found)


def test_runs_that_draw_alike_are_said_to() -> None:
    order, shared = ["x", "y", "r1", "r2", "z"], {"z"}
    alike = check_lemma_broken(order, shared, {"r1": {"x"}, "r2": {"x"}})
    apart = check_lemma_broken(order, shared, {"r1": {"x"}, "r2": {"y"}})
    assert alike
    assert apart
    assert "The runs drew alike here" in repr(alike)
    assert "alike" not in repr(apart)
    assert not check_lemma_broken(order, {"x"}, {"r1": {"x"}, "r2": {"x"}}), "one for all holds"


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
