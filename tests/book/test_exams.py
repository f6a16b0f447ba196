"""Exams: their keys, recomputed in plain loops from what the exam prints."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from recbias.book.exams import Exam, Task, make_exams, write_exams
from recbias.cli.exam import exam as command
from recbias.errors import ConfigError

SEEDS = (1, 2, 3, 2027)


def row(task: Task, number: int = 1) -> list[str]:
    """Give the cells of a row of the printed table, without its head."""
    return list(task.table[number][1:])


def stars(task: Task) -> list[int]:
    return [0 if cell == "–" else int(cell) for cell in row(task)]


def number_in(text: str, pattern: str) -> float:
    found = re.search(pattern, text)
    assert found, (text, pattern)
    return float(found[1])


def one_list(task: Task) -> list[object]:
    listed = stars(task)
    hits = sum(1 for each in listed[:5] if each >= 4)
    kept = [each for each in listed if each]
    return [
        Fraction(hits, 5),
        Fraction(hits, sum(1 for each in listed if each >= 4)),
        Fraction(sum(1 for each in kept[:4] if each >= 4), 4),
    ]


def one_item(task: Task) -> list[object]:
    n, t = (int(number_in(task.text, pattern)) for pattern in (r"n = (\d+)", r"set of (\d+)"))
    values = [Fraction(int(int(rank) <= n), n) for rank in row(task)]
    return [sum(values) / 6, Fraction(1, t), Fraction(1, n)]


def thinned(task: Task) -> list[object]:
    share = number_in(task.text, r"chance of ([\d.]+);")
    return [share * sum(1 for each in stars(task)[:5] if each >= 4) / 5, "yes"]


def complement(task: Task) -> list[object]:
    rated, liked, trained = map(int, task.table[1])
    return [Fraction(liked * (rated - trained), rated), "the other"]


def bpref(task: Task) -> list[object]:
    listed = [each for each in stars(task) if each]
    likes, dislikes = (sum(1 for e in listed if (e >= 4) == kind) for kind in (True, False))
    total = Fraction(0)
    for place, each in enumerate(listed):
        if each >= 4:
            above = sum(1 for other in listed[:place] if other < 4)
            total += 1 - Fraction(min(above, likes), min(likes, dislikes))
    return [total / likes]


def floor(task: Task) -> list[object]:
    places, rated, hits = map(int, task.table[1])
    tested = int(number_in(task.text, r"test has (\d+) ratings"))
    relevant = int(number_in(task.text, r"ratings, (\d+) of them"))
    return [Fraction(hits, places), Fraction(rated, places) * Fraction(relevant, tested), "no"]


def misses(task: Task) -> list[object]:
    first = stars(task)[:5]
    kinds = [sum(1 for e in first if test(e)) for test in (lambda e: e >= 4, lambda e: 0 < e < 4)]
    return [Fraction(kinds[0], 5), Fraction(kinds[1], 5), Fraction(first.count(0), 5)]


def pairs(task: Task) -> list[object]:
    likes, dislikes = ([int(cell) for cell in row(task, n)] for n in (1, 2))
    found = [
        (likes[a] > likes[b]) == (dislikes[a] > dislikes[b])
        for a, b in combinations(range(len(likes)), 2)
    ]
    return [Fraction(sum(found), len(found))]


def gini(task: Task) -> list[object]:
    counts = [int(cell) for cell in row(task)]
    gaps = sum(abs(a - b) for a in counts for b in counts)
    return [Fraction(gaps, 2 * len(counts) * sum(counts)), "no"]


def in_the_mean(task: Task) -> list[object]:
    values = [Fraction(cell) for cell in row(task) if cell != "no list"]
    return [sum(values) / len(values), sum(values) / 4]


def gains(task: Task) -> list[object]:
    listed = stars(task)
    found = []
    for gain in (lambda e: e, lambda e: 2**e - 1):
        dcg = [
            sum(gain(order[k]) / math.log2(k + 2) for k in range(3))
            for order in (listed, sorted(listed)[::-1])
        ]
        found.append(dcg[0] / dcg[1])
    return found


def universes(task: Task) -> list[object]:
    first, second = row(task, 1), row(task, 2)
    turned = sum(second.index(a) > second.index(b) for a, b in combinations(first, 2))
    return [turned, Fraction(10 - 2 * turned, 10)]


ORACLES = (
    (one_list, one_item, thinned, complement, bpref, floor),
    (misses, pairs, gini, in_the_mean, gains, universes),
)


def faults(exam: Exam) -> list[str]:
    """Name the answers of the key that the printed numbers do not give."""
    found = []
    for task, oracle in zip(exam.tasks, ORACLES[exam.number - 1], strict=True):
        for question, wanted in zip(task.questions, oracle(task), strict=True):
            got = question.answer
            same = got == wanted if isinstance(wanted, str) else abs(got - float(wanted)) < 1e-12
            if not same:
                found.append(f"{task.title}: {question.text}: {got}, not {wanted}")
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_follows_from_what_is_printed(seed: int) -> None:
    assert [fault for exam in make_exams(seed) for fault in faults(exam)] == []


def test_a_wrong_key_is_noticed() -> None:
    first, _ = make_exams(1)
    broken = first.tasks[1].questions[0]
    object.__setattr__(broken, "answer", broken.answer + 0.01)
    assert len(faults(first)) == 1


def test_a_seed_gives_the_same_exam_and_another_seed_another() -> None:
    texts = [[exam.markdown(key=True) for exam in make_exams(seed)] for seed in (5, 5, 6)]
    assert texts[0] == texts[1]
    for one, other in zip(texts[0], texts[2], strict=True):
        tables = [[line for line in text.splitlines() if line[:1] == "|"] for text in (one, other)]
        assert tables[0] != tables[1]


def test_the_exam_does_not_tell_its_key(tmp_path: Path) -> None:
    for exam in make_exams(7):
        asked, told = exam.markdown(), exam.markdown(key=True)
        for task in exam.tasks:
            for question in task.questions:
                assert question.how in told
                assert question.how not in asked
        assert "> **" not in asked


def test_the_command_writes_pages_and_markdown(tmp_path: Path) -> None:
    out = tmp_path / "new" / "exams"
    done = CliRunner().invoke(command, ["--seed", "3", "--out", str(out)])
    assert done.exit_code == 0, done.output
    names = [
        f"exam-{n}{key}.{end}" for n in (1, 2) for key in ("", "-key") for end in ("html", "md")
    ]
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    page = (out / "exam-2-key.html").read_text(encoding="utf-8")
    assert "<table>" in page
    assert "http" not in page


def test_a_seed_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="from 0 to"):
        write_exams(-1, tmp_path)
    assert list(tmp_path.iterdir()) == []
