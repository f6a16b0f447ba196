"""Two exams with keys, whose numbers come from a simulated world: another seed for each class.

The first is on chapters 1 to 4, the second on chapters 5 to 7, so that a course can set it in the
week of chapter 8. Everything can be done by hand with a pocket calculator; formulas are stated. A
seed gives the same exam on every machine. Numbers are drawn again until those of a task differ: an
answer that is right for another reason would be worth as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
import numpy.typing as npt
from markdown_it import MarkdownIt

from recbias._system.streams import stream
from recbias.book.html import number_word
from recbias.data.datasets import load_dataset
from recbias.errors import ConfigError
from recbias.experiment.store import write_atomically

_WORLD = "world(users=400,items=60,density=0.1,seed={seed})"
_TEST = 0.4
"""Share of the ratings that is the test."""
_LISTED = 8
_MINUTES = 45
_DRAWS = 100
"""Of a task at most; seeds take a few."""
_GRADES = (
    ("very good", 0.85), ("good", 0.70), ("satisfactory", 0.60), ("passed", 0.50),
)  # fmt: skip
"""Proposed: names of grades, and from which share of the points."""
_STYLE = (
    "body{max-width:48rem;margin:2rem auto;padding:0 1rem;font:16px/1.5 sans-serif;color:#111;"
    "background:#fff}table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #767676;"
    "padding:.2rem .6rem;text-align:left}h2{break-after:avoid}@media print{body{margin:0}}"
)


@dataclass(frozen=True)
class Question:
    """One question of a task.

    Attributes
    ----------
    text
        What is asked, as Markdown.
    answer
        The value, or the word, that is right.
    how
        How it comes about, with the numbers.
    points
        That it is worth.
    """

    text: str
    answer: float | str
    how: str
    points: int = 2

    @property
    def said(self) -> str:
        """The answer as the key prints it: three digits behind the point are enough."""
        if isinstance(self.answer, str):
            return self.answer
        return f"{self.answer:.3f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Task:
    """One task: its title, what is given, in words and as a table, and its questions."""

    title: str
    text: str
    table: tuple[tuple[str, ...], ...]
    questions: tuple[Question, ...]

    @property
    def differ(self) -> bool:
        """Whether no two of its numbers are alike as the key prints them."""
        numbers = [q.said for q in self.questions if not isinstance(q.answer, str)]
        return len(set(numbers)) == len(numbers)

    @property
    def points(self) -> int:
        """What all of it is worth."""
        return sum(question.points for question in self.questions)


@dataclass(frozen=True)
class Exam:
    """An exam: its number and its tasks. It does not know its seed: who does makes the key."""

    number: int
    tasks: tuple[Task, ...]

    @property
    def title(self) -> str:
        """What stands at the top."""
        first, last = (1, 4) if self.number == 1 else (5, 7)
        return f"Exam {self.number}: chapters {first} to {last}"

    def markdown(self, *, key: bool = False) -> str:
        """Write the exam, or its key, as Markdown."""
        points = sum(task.points for task in self.tasks)
        head = (
            f"{points} points. The key: for the teacher alone."
            if key
            else f"Name: {'_' * 32} Date: {'_' * 12}\n\n{points} points, {_MINUTES} minutes; a "
            "pocket calculator is enough. Give three digits behind the point."
        )
        lines = [f"# {self.title}", "", head, ""]
        for number, task in enumerate(self.tasks, start=1):
            lines += [f"## {number}. {task.title} ({task.points} points)", "", task.text, ""]
            if task.table:
                first, *rest = task.table
                lines += [_row(first), _row(["---"] * len(first)), *map(_row, rest), ""]
            for letter, question in zip("abcdef", task.questions, strict=False):
                lines += [f"**{letter})** {question.text} *({question.points})*", ""]
                if key:
                    lines += [f"> **{question.said}**: {question.how}", ""]
        if key:
            scale = [(name, f"{math.ceil(share * points)}") for name, share in _GRADES]
            lines += ["## Grades, as a proposal", "", _row(("grade", "from, in points"))]
            lines += [_row(["---"] * 2), *map(_row, scale), ""]
        return "\n".join(lines)

    def html(self, *, key: bool = False) -> str:
        """Write the exam, or its key, as one page that needs nothing else."""
        title = escape(self.title + (", key" if key else ""))
        body = MarkdownIt("commonmark").enable(["table"]).render(self.markdown(key=key))
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<style>{_STYLE}</style></head>\n<body><main>\n{body}</main></body></html>\n"
        )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def make_exams(seed: int) -> tuple[Exam, Exam]:
    """Draw both exams of a class.

    Parameters
    ----------
    seed : int
        Of the class, from 0 to 4294967295: another one gives other numbers.

    Returns
    -------
    tuple of Exam
        On chapters 1 to 4, and on chapters 5 to 7.

    Raises
    ------
    ConfigError
        If the seed is none.

    Examples
    --------
    >>> first, second = make_exams(2027)
    >>> first.title, len(first.tasks), sum(task.points for task in second.tasks)
    ('Exam 1: chapters 1 to 4', 6, 22)
    """
    if not 0 <= seed < 2**32:
        raise ConfigError(f"the seed of a class is from 0 to {2**32 - 1}, got {seed}")
    class_of = _Class(seed)
    first = (_one_list, _one_item, _thinned, _complement, _preference, _floor)
    second = (_hits_and_misses, _pairs, _uneven, _in_the_mean, _two_gains, _one_change)
    return Exam(1, tuple(map(class_of.draw, first))), Exam(2, tuple(map(class_of.draw, second)))


def write_exams(seed: int, folder: Path) -> list[Path]:
    """Write both exams and their keys, each as Markdown and as a page.

    Returns
    -------
    list of Path
        Of the files, in the order exam, key.
    """
    written = []
    for exam in make_exams(seed):
        for key in (False, True):
            name = f"exam-{exam.number}{'-key' if key else ''}"
            for suffix, text in ((".html", exam.html(key=key)), (".md", exam.markdown(key=key))):
                written.append(folder / f"{name}{suffix}")
                write_atomically(written[-1], text.encode())
    return written


class _Class:
    """The world of a class, split, and what is drawn for each task."""

    def __init__(self, seed: int) -> None:
        self.seed, self.number = seed, 0
        ratings = load_dataset(_WORLD.format(seed=seed)).ratings
        tested = stream(seed, "exam", "split").random(len(ratings)) < _TEST
        shape = (ratings.n_users, ratings.n_items)
        self.train, self.test = np.zeros(shape, int), np.zeros(shape, int)
        for part, rows in ((self.train, ~tested), (self.test, tested)):
            part[ratings.user[rows], ratings.item[rows]] = ratings.value[rows]
        self.popular = np.argsort(-(self.train > 0).sum(axis=0), kind="stable")

    def draw(self, make: Callable[[_Class], Task]) -> Task:
        """Draw a task, and again until its numbers differ."""
        for self.number in range(_DRAWS):
            if (task := make(self)).differ:
                return task
        raise ConfigError(f"class {self.seed} has no task '{task.title}': take another seed")

    def rng(self, task: str) -> np.random.Generator:
        """Give what a draw of a task draws from."""
        return stream(self.seed, "exam", task, self.number)

    def lists(self, task: str) -> Iterator[npt.NDArray[np.int64]]:
        """Give users' stars in the test for the most popular items they lack, in another order."""
        rng = self.rng(task)
        for user in rng.permutation(len(self.test)):
            lacking = self.popular[self.train[user, self.popular] == 0][:_LISTED]
            yield self.test[user, rng.permutation(lacking)]

    def find(
        self, task: str, suits: Callable[[npt.NDArray[np.int64]], bool]
    ) -> npt.NDArray[np.int64]:
        """Give the first list that suits a task."""
        found = next((stars for stars in self.lists(task) if suits(stars)), None)
        if found is None:
            raise ConfigError(
                f"no user of class {self.seed} suits a task ({task}): take another seed"
            )
        return found


def _liked(stars: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    return np.asarray(stars >= 4)


def _is_mixed(stars: npt.NDArray[np.int64]) -> bool:
    """Tell whether a list has likes and dislikes, and other values full than condensed."""
    kept = stars[stars > 0]
    return (
        2 <= _liked(stars).sum() <= 4
        and (kept < 4).sum() >= 1
        and len(kept) >= 4
        and _liked(stars[:5]).sum() not in (0, _liked(kept[:4]).sum())
    )


def _is_out_of_order(stars: npt.NDArray[np.int64]) -> bool:
    """Tell whether a dislike stands above a like."""
    liked = _liked(stars[stars > 0])
    return bool((np.diff(liked.astype(int)) > 0).any())


def _list_table(stars: Sequence[int] | npt.NDArray[np.int64]) -> tuple[tuple[str, ...], ...]:
    places = ("place", *(str(n + 1) for n in range(len(stars))))
    return places, ("stars in the test", *(str(each) if each else "–" for each in stars))


def _one_list(of: _Class) -> Task:
    stars = of.find("one list", _is_mixed)
    hits, all_liked = int(_liked(stars[:5]).sum()), int(_liked(stars).sum())
    kept = stars[stars > 0]
    condensed = int(_liked(kept[:4]).sum())
    return Task(
        "One list, three values",
        "A user has rated these items of a list in the test, and no others. Four stars or more are "
        "relevant; – is an item without a rating.",
        _list_table(stars),
        (
            Question("P@5 among all items", hits / 5, f"{hits} of the first 5 are relevant"),
            Question("recall@5", hits / all_liked, f"{hits} of {all_liked} relevant items"),
            Question(
                "P@4 of the condensed list",
                condensed / 4,
                f"without unrated items it is {', '.join(map(str, kept))}: {condensed} of 4",
            ),
        ),
    )


def _one_item(of: _Class) -> Task:
    rng = of.rng("one item")
    cutoff, size = int(rng.integers(3, 7)), 10 * int(rng.integers(5, 21))
    ranks = [int(rank) for rank in rng.integers(1, 2 * cutoff + 1, 6)]
    hits = sum(rank <= cutoff for rank in ranks)
    return Task(
        "One relevant item at a time",
        f"Six runs, each with one relevant item in a set of {size}; lists have n = {cutoff}. "
        "1RP@n is the mean over runs of the share of the first n places that are relevant.",
        (("run", *map(str, range(1, 7))), ("place of the item", *map(str, ranks))),
        (
            Question(
                "1RP@n, the mean over runs",
                hits / 6 / cutoff,
                f"{hits} of 6 runs have a hit, each worth 1/{cutoff}",
            ),
            Question("What does a random ranking score?", 1 / size, "1/t, whatever n is"),
            Question("The largest value of 1RP@n", 1 / cutoff, "one hit in n places"),
        ),
    )


def _thinned(of: _Class) -> Task:
    rng = of.rng("thinned")
    share = int(rng.integers(2, 9)) / 10
    stars = of.find("thinned", _is_mixed)
    precision = float(_liked(stars[:5]).sum()) / 5
    stays = Question(
        "Is a system that is ahead by expected P@5 still ahead? (yes or no)",
        "yes",
        "all values are multiplied by the same factor",
        points=1,
    )
    recall = Question(
        "As long as a relevant rating is left: is expected recall@5 multiplied by the same factor? "
        "(yes or no)",
        "no",
        "hits and relevant items are thinned alike: their ratio stays, in expectation",
        points=1,
    )
    return Task(
        "Fewer judgments",
        f"Each rating of the test below is kept with a chance of {share:.1f}; lists do not change.",
        _list_table(stars),
        (
            Question(
                "Expected P@5",
                share * precision,
                f"P@5 is {precision:.1f} with all ratings, and each hit is kept with {share:.1f}",
            ),
            (stays, recall)[int(rng.integers(2))],
        ),
    )


def _complement(of: _Class) -> Task:
    counts = (of.train > 0).sum(axis=0) + (of.test > 0).sum(axis=0)
    by_count = np.argsort(-counts, kind="stable")
    rng = of.rng("complement")
    item, is_more = int(by_count[int(rng.integers(0, 10))]), bool(rng.integers(2))
    rated, trained = int(counts[item]), int((of.train[:, item] > 0).sum())
    liked = int((_liked(of.train[:, item]) | _liked(of.test[:, item])).sum())
    return Task(
        "What is left for the test",
        "Of an item it is known how many ratings it has, how many of them are relevant, and how "
        "many a random split put into training.",
        (("ratings", "relevant", "in training"), (str(rated), str(liked), str(trained))),
        (
            Question(
                "Expected number of relevant test ratings",
                liked * (rated - trained) / rated,
                f"{liked} times {rated - trained}/{rated}",
            ),
            Question(
                f"Another item has as many ratings, and one {'more' if is_more else 'fewer'} in "
                "training. Which of the two does Popularity put first: this or the other?",
                "the other" if is_more else "this",
                "it counts training ratings, though the one it puts first has fewer left to find",
                points=1,
            ),
        ),
    )


def _preference(of: _Class) -> Task:
    stars = of.find("bpref", lambda stars: _is_mixed(stars) and _is_out_of_order(stars))
    kept = stars[stars > 0]
    likes, dislikes = int(_liked(kept).sum()), int((kept < 4).sum())
    above, terms = 0, list[float]()
    for liked in _liked(kept):
        if liked:
            terms.append(1 - min(above, likes) / min(likes, dislikes))
        above += not liked
    return Task(
        "bpref",
        "All that the user has rated in the test is in this list; four stars or more are relevant. "
        "bpref is the mean, over the R relevant items, of 1 − min(n, R) / min(N, R): N is the "
        "number of rated items that are not relevant, and n that of those among them above the "
        "item.",
        _list_table(stars),
        (
            Question(
                "bpref",
                sum(terms) / likes,
                f"the terms of the {number_word(likes)} liked items are "
                f"{', '.join(f'{term:.3f}' for term in terms)}",
                points=3,
            ),
        ),
    )


def _floor(of: _Class) -> Task:
    depth = 5 + of.number % 3  # the world stays where a task is drawn again, as answers are alike
    hits, rated = 0, 0
    for user in range(len(of.test)):
        first = of.popular[of.train[user, of.popular] == 0][:depth]
        hits += int(_liked(of.test[user, first]).sum())
        rated += int((of.test[user, first] > 0).sum())
    places = depth * len(of.test)
    tested, relevant = int((of.test > 0).sum()), int(_liked(of.test).sum())
    is_taste = Question(
        "Does it follow that the difference between the two is taste? (yes or no)",
        "no",
        "taste and skew work together in who rated what, and chance moves both",
        points=1,
    )
    half = Question(
        "Half as many ratings of the test are relevant, the lists and who rated what being the "
        f"same. Is the expected P@{depth} without taste half as large? (yes or no)",
        "yes",
        "as many places have a rating, and each is relevant with half the chance",
        points=1,
    )
    return Task(
        "What part is skew?",
        f"In the class's world Popularity lists {depth} items for each of {len(of.test)} users. "
        f"The test has {tested} ratings, {relevant} of them relevant. Without taste every rating "
        "is relevant with the same chance, whatever the item.",
        (
            ("places in lists", "with a test rating", "with a relevant one"),
            (str(places), str(rated), str(hits)),
        ),
        (
            Question(f"P@{depth} of Popularity", hits / places, f"{hits} of {places} places"),
            Question(
                f"Its expected P@{depth} without taste, who rated what being the same",
                rated * relevant / tested / places,
                f"{rated} rated places, each relevant with {relevant}/{tested}",
            ),
            (is_taste, half)[int(of.rng("floor").integers(2))],
        ),
    )


def _hits_and_misses(of: _Class) -> Task:
    stars = of.find("misses", _is_mixed)
    hits, misses = int(_liked(stars[:5]).sum()), int(((stars[:5] > 0) & (stars[:5] < 4)).sum())
    return Task(
        "Hits, misses, and neither",
        "A list of a user; four stars or more are a hit, fewer a miss.",
        _list_table(stars),
        (
            Question("P@5", hits / 5, f"{hits} of 5 are hits", points=1),
            Question("antiP@5", misses / 5, f"{misses} of 5 are misses", points=1),
            Question(
                "The share of the first five that nobody knows",
                (5 - hits - misses) / 5,
                "neither hit nor miss: these decide how far the two can disagree",
                points=1,
            ),
        ),
    )


def _pairs(of: _Class) -> Task:
    counts = (of.test > 0).sum(axis=0)
    liked = _liked(of.test).sum(axis=0)
    rng = of.rng("pairs")
    chosen: list[int] = []
    for item in rng.permutation(np.flatnonzero(counts > 2)):
        likes, dislikes = int(liked[item]), int(counts[item] - liked[item])
        known = [(int(liked[each]), int(counts[each] - liked[each])) for each in chosen]
        if all(likes != a and dislikes != b for a, b in known):
            chosen.append(int(item))
        if len(chosen) == 4:
            break
    of_hits = [int(liked[item]) for item in chosen]
    of_misses = [int(counts[item] - liked[item]) for item in chosen]
    both = [
        (of_hits[a] > of_hits[b]) != (of_misses[a] < of_misses[b])
        for a in range(len(chosen))
        for b in range(a)
    ]
    return Task(
        "Two best rankings",
        "Items with their likes and dislikes in the test. One ranking for everybody is to have as "
        "many hits as can be, another as few misses as can be.",
        (
            ("item", *"ABCD"[: len(chosen)]),
            ("likes", *map(str, of_hits)),
            ("dislikes", *map(str, of_misses)),
        ),
        (
            Question(
                "The share of the pairs of items that the two put in opposite orders",
                sum(both) / len(both),
                f"{sum(both)} of {len(both)} pairs, in which the more liked is more disliked, too",
                points=3,
            ),
        ),
    )


def _uneven(of: _Class) -> Task:
    counts = (of.train > 0).sum(axis=0)
    rng = of.rng("gini")
    chosen = rng.permutation(np.flatnonzero(counts > 0))[:5]
    values = [int(each) for each in counts[chosen]]
    ordered, n = sorted(values), len(values)
    weighted = sum((2 * place - n - 1) * each for place, each in enumerate(ordered, start=1))
    exchanged = Question(
        "C's and D's numbers are exchanged. Does it change? (yes or no)",
        "no",
        "it does not see which item has which number",
        points=1,
    )
    raised = Question(
        "10 is added to each of the five numbers. Does it change? (yes or no)",
        "yes",
        "the gaps stay and the sum grows: it is smaller",
        points=1,
    )
    return Task(
        "How uneven?",
        "Five items were listed this often. With the numbers sorted, the smallest first, the Gini "
        "coefficient is the sum of (2k − 6) times the k-th, over 5 times their sum.",
        (("item", *"ABCDE"), ("times listed", *map(str, values))),
        (
            Question(
                "The Gini coefficient",
                weighted / (n * sum(values)),
                f"sorted {ordered}, weights -4, -2, 0, 2, 4: {weighted} over 5 times {sum(values)}",
                points=3,
            ),
            raised if weighted and rng.integers(2) else exchanged,
        ),
    )


def _in_the_mean(of: _Class) -> Task:
    rng = of.rng("mean")
    values = []
    for user in rng.permutation(len(of.test))[:40]:
        first = of.popular[of.train[user, of.popular] == 0][:5]
        values.append(float(_liked(of.test[user, first]).sum()) / 5)
    some = sorted(values, reverse=True)[:4]
    refused = int(rng.integers(1, 4))
    served = [value for n, value in enumerate(some) if n != refused]
    shown = ["no list" if n == refused else f"{value:.1f}" for n, value in enumerate(some)]
    return Task(
        "Who is in the mean",
        "P@5 of four users; for one of them the system has no list.",
        (("user", "Ann", "Bob", "Cem", "Dee"), ("P@5", *shown)),
        (
            Question(
                "The reduced average: users with a list",
                sum(served) / 3,
                f"the mean of {', '.join(f'{value:.1f}' for value in served)}",
            ),
            Question("The full average: no list scores 0", sum(served) / 4, "the same sum over 4"),
        ),
    )


def _two_gains(of: _Class) -> Task:
    stars = of.find("gains", lambda stars: _is_mixed(stars) and (stars[:3] > 0).sum() > 1)[:4]
    best = sorted(stars.tolist(), reverse=True)

    def ratio(gain: Callable[[int], int]) -> tuple[float, float]:
        dcg = [
            sum(gain(int(each)) / math.log2(place + 1) for place, each in enumerate(order[:3], 1))
            for order in (stars, best)
        ]
        return dcg[0], dcg[1]

    linear, exponential = ratio(lambda each: each), ratio(lambda each: 2**each - 1)
    return Task(
        "One list, two gains",
        "The first four items of a list; the user has rated no others in the test. DCG@3 is the "
        "sum over the first three places of gain / log2(place + 1), where an item without stars "
        "has gain 0; nDCG@3 is DCG@3 divided by that of the best order.",
        _list_table(stars),
        (
            Question(
                "nDCG@3 with the stars as gains",
                linear[0] / linear[1],
                f"{linear[0]:.3f} over {linear[1]:.3f}, that of the order {best}",
            ),
            Question(
                "nDCG@3 with 2 to the power of the stars, less 1, as gains",
                exponential[0] / exponential[1],
                f"{exponential[0]:.3f} over {exponential[1]:.3f}",
            ),
        ),
    )


def _one_change(of: _Class) -> Task:
    rng = of.rng("one change")
    orders = [list(rng.permutation(list("ABCDE"))) for _ in range(2)]
    pairs = [(a, b) for a in "ABCDE" for b in "ABCDE" if a < b]
    same = sum(
        (orders[0].index(a) < orders[0].index(b)) == (orders[1].index(a) < orders[1].index(b))
        for a, b in pairs
    )
    return Task(
        "One option changed",
        "Five systems, the best first, in the order of a study and after one option was changed. "
        "Kendall's tau is the number of pairs in one order less those that turn, over all pairs.",
        (
            ("place", *(str(n) for n in range(1, 6))),
            ("at the start", *map(str, orders[0])),
            ("option changed", *map(str, orders[1])),
        ),
        (
            Question(
                "How many of the ten pairs turn?",
                float(10 - same),
                "pairs that stand in opposite orders",
            ),
            Question(
                "Kendall's tau", (2 * same - 10) / 10, f"({same} - {10 - same}) over 10", points=2
            ),
        ),
    )
