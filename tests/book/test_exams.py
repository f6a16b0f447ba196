"""Exams: their keys, recomputed in plain loops from what the exam prints."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from recbias._system.places import clone_root
from recbias.book import exams
from recbias.book.exams import Exam, Task, make_exams, write_exams
from recbias.cli.exam import exam as command
from recbias.errors import ConfigError

SEEDS = (1, 2, 3, 101010101)  # in the last one the first list had all its likes on top
SECRET = 739104582


@lru_cache
def drawn(seed: int) -> tuple[Exam, Exam]:
    return make_exams(seed)


def row(task: Task, number: int = 1) -> list[str]:
    """Give the cells of a row of the printed table, without its head."""
    return list(task.table[number][1:])


def stars(task: Task) -> list[int]:
    return [0 if cell == "–" else int(cell) for cell in row(task)]


def number_in(text: str, pattern: str) -> float:
    found = re.search(pattern, text)
    assert found, (text, pattern)
    return float(found[1])


def yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


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
    asks_order = "still ahead" in task.questions[1].text
    return [share * sum(1 for each in stars(task)[:5] if each >= 4) / 5, yes(asks_order)]


def complement(task: Task) -> list[object]:
    rated, liked, trained = map(int, task.table[1])
    other = trained + (1 if "one more" in task.questions[1].text else -1)
    return [Fraction(liked * (rated - trained), rated), "the other" if other > trained else "this"]


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
    expected = Fraction(rated, places) * Fraction(relevant, tested)
    is_half = "half as large" in task.questions[2].text
    return [Fraction(hits, places), expected, yes(is_half)]


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

    def value(of: list[int]) -> Fraction:
        return Fraction(sum(abs(a - b) for a in of for b in of), 2 * len(of) * sum(of))

    a, b, c, d, e = counts
    is_raised = "10 is added" in task.questions[1].text
    changed = [each + 10 for each in counts] if is_raised else [a, b, d, c, e]
    return [value(counts), yes(value(changed) != value(counts))]


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


def one_change(task: Task) -> list[object]:
    first, second = row(task, 1), row(task, 2)
    turned = sum(second.index(a) > second.index(b) for a, b in combinations(first, 2))
    return [turned, Fraction(10 - 2 * turned, 10)]


ORACLES = (
    (one_list, one_item, thinned, complement, bpref, floor),
    (misses, pairs, gini, in_the_mean, gains, one_change),
)


def faults(exam: Exam) -> list[str]:
    """Name the answers of the key that the printed numbers do not give."""
    found = []
    for task, oracle in zip(exam.tasks, ORACLES[exam.number - 1], strict=True):
        for question, wanted in zip(task.questions, oracle(task), strict=True):
            got = question.answer
            if task.title == "bpref" and wanted == 1:
                found.append("bpref: no dislike stands above a like, so that all terms are 1")
            same = got == wanted if isinstance(wanted, str) else abs(got - float(wanted)) < 1e-12
            if not same:
                found.append(f"{task.title}: {question.text}: {got}, not {wanted}")
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_follows_from_what_is_printed(seed: int) -> None:
    assert [fault for exam in drawn(seed) for fault in faults(exam)] == []


def test_a_wrong_key_is_noticed() -> None:
    first, _ = make_exams(1)
    broken = first.tasks[1].questions[0]
    object.__setattr__(broken, "answer", broken.answer + 0.01)
    assert len(faults(first)) == 1


def test_a_seed_gives_the_same_exam_and_another_seed_another() -> None:
    made = make_exams(1), drawn(1), drawn(2)
    texts = [[exam.markdown(key=True) for exam in each] for each in made]
    assert texts[0] == texts[1]
    for one, other in zip(texts[0], texts[2], strict=True):
        tables = [[line for line in text.splitlines() if line[:1] == "|"] for text in (one, other)]
        assert tables[0] != tables[1]


def alike(exams: Iterable[Exam]) -> list[str]:
    """Name the tasks of which two numbers are alike in three digits."""
    found = []
    for task in (task for exam in exams for task in exam.tasks):
        numbers = [f"{q.answer:.3f}" for q in task.questions if not isinstance(q.answer, str)]
        if len(set(numbers)) < len(numbers):
            found.append(task.title)
    return found


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 300), marks=pytest.mark.slow)])
def test_numbers_of_a_task_differ_whatever_the_seed(seeds: range) -> None:
    assert {seed: found for seed in seeds if (found := alike(drawn(seed)))} == {}


def test_without_drawing_again_numbers_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exams, "_DRAWS", 1)
    monkeypatch.setattr(Task, "differ", True)
    assert [found for seed in range(6) if (found := alike(make_exams(seed)))]


def test_words_that_are_right_are_not_the_same_for_every_seed() -> None:
    said: dict[str, set[str]] = {}
    for exam in (exam for seed in (*SEEDS, *range(6)) for exam in drawn(seed)):
        for task in exam.tasks:
            for question in task.questions:
                if isinstance(question.answer, str):
                    said.setdefault(task.title, set()).add(question.answer)
    assert {title: len(words) for title, words in said.items()} == dict.fromkeys(said, 2)
    assert len(said) == 4


def printed(seed: int, folder: Path) -> str:
    """Join names and texts of what a class is handed out: all but the keys."""
    handed = [path for path in write_exams(seed, folder) if "-key" not in path.name]
    assert len(handed) == 4
    return "".join(path.name + path.read_text(encoding="utf-8") for path in handed)


def test_a_printed_exam_hides_its_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exams, "make_exams", lambda seed: drawn(seed))
    text = printed(SECRET, tmp_path / "out")
    assert str(SECRET) not in text
    assert "seed" not in text
    # Its twin: an exam as they were once, with the seed in its title.
    monkeypatch.setattr(Exam, "title", f"Exam of class {SECRET}")
    assert str(SECRET) in printed(SECRET, tmp_path / "told")


def test_the_key_has_a_scale_of_grades_and_the_exam_its_formulas() -> None:
    for exam in drawn(3):
        points = sum(task.points for task in exam.tasks)
        key = exam.markdown(key=True)
        scale = [int(n) for n in re.findall(r"^\| [a-z ]+ \| (\d+) \|$", key, re.M)]
        assert scale == sorted(scale, reverse=True)
        assert points > scale[0]
        assert scale[-1] == math.ceil(points / 2)
    first, second = (exam.markdown() for exam in drawn(3))
    assert "1 − min(n, R) / min(N, R)" in first
    assert re.search(r"Name: _+ Date: _+\n\n\d+ points, 45 minutes; a pocket calculator", first)
    assert "Name: _" not in drawn(3)[0].markdown(key=True)
    assert "gain / log2(place + 1)" in second


def late_chapters(guide: str, made: Sequence[Exam]) -> list[int]:
    """Name chapters that an exam asks in the week that reads them, or before."""
    weeks = re.findall(r"^\| (\d) \| (chapters? [^|]*)\|([^|]*)\|", guide, re.M)
    read = {int(n): int(week) for week, chapters, _ in weeks for n in re.findall(r"\d", chapters)}
    assert sorted(read) == list(range(1, 9))
    late = []
    for exam, name in zip(made, ("first exam", "second exam"), strict=True):
        (week,) = (int(week) for week, _, in_class in weeks if name in in_class)
        first, last = map(int, re.findall(r"\d", exam.title)[1:])
        late += [n for n in range(first, last + 1) if read[n] >= week]
    return late


def test_no_exam_asks_what_is_taught_in_its_week() -> None:
    """By the plan of six weeks: a chapter that is asked was taught in a week before."""
    guide = (clone_root() / "book/teaching.md").read_text(encoding="utf-8")
    assert late_chapters(guide, drawn(3)) == []
    early = guide.replace("second exam", "an exam").replace("first exam", "first exam, second exam")

    assert late_chapters(early, drawn(3)) == [5, 6, 7]


def test_the_exam_does_not_tell_its_key(tmp_path: Path) -> None:
    for exam in drawn(3):
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
