"""Checks of the exercises of chapter 1, "Design alternatives"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from recbias.book.exercises import (
    Checked,
    called,
    inexact,
    instead_of,
    is_exact,
    is_near,
    is_number,
    not_yet,
    on_own_data,
    right,
    unfit,
)
from recbias.testing import naive_list, naive_measure

TOY = """
|       | a   | b   | c   | d   | e   | f   | g   | h |
|-------|-----|-----|-----|-----|-----|-----|-----|---|
| **A** |     | 4   |     | 5   | 5   | [3] | [2] | 2 |
| **B** | 5   |     | [5] | 3   | 3   | [5] | [4] |   |
| **C** | 4   | [2] | [4] |     | 2   |     | [3] | 5 |
| **D** | [5] |     | 5   |     | [5] | 3   | 5   |   |
| **E** |     |     |     |     | 3   | [3] | [4] | 3 |
| **F** | 5   |     |     | [2] | [2] | [4] | 5   | 5 |
"""
"""Ratings of six users on eight items; those in brackets are in test."""

_LIKED, _CUTOFF = 4, 2
"""Relevance and list length on the toy data."""

_NEAR = 0.0006
"""How far a number on the toy data may be off: three decimals are enough."""


# -- the ceiling -----------------------------------------------------------------------------------
def check_ceiling(ceiling: Callable[[int, int], float]) -> Checked:
    """Check a function ``ceiling(cutoff, n_relevant)``: the largest P@n of one target set.

    Examples
    --------
    >>> check_ceiling(lambda cutoff, n_relevant: n_relevant / cutoff)
    Not yet: ceiling(5, 8) gives 1.6. How many hits fit into 5 places, if 8 items are relevant?
    """
    for cutoff, n_relevant in ((10, 1), (1, 1), (20, 3), (5, 8), (10, 7), (10, 0)):
        answer = called(ceiling, cutoff, n_relevant)
        if isinstance(answer, Checked):
            return answer
        wanted = min(cutoff, n_relevant) / cutoff
        if not is_exact(answer, wanted):
            places = "1 place" if cutoff == 1 else f"{cutoff} places"
            items = "1 item is" if n_relevant == 1 else f"{n_relevant} items are"
            return inexact(
                answer,
                wanted,
                f"ceiling({cutoff}, {n_relevant}) gives {answer:.4g}. How many hits fit into "
                f"{places}, if {items} relevant?",
            )
    return right("and 0.14 is above ceiling(10, 1), so that no run held one relevant item only.")


# -- what Random must score ------------------------------------------------------------------------
_RANDOM = {"ti_an_ar": Fraction(3, 760), "ai_an_ar": Fraction(3, 960), "ti_nn_1r": Fraction(1, 100)}

_SHARE = 0.0005
"""By what share a number of Random may be off: one item more or less is 0.001 of a target set."""

_SLIPS = {
    "ti_an_ar": {
        Fraction(3, 800): "the user's training items are no targets",
        Fraction(5, 760): "an item that was rated low is not relevant",
        Fraction(3, 758): "an item that was rated low is a target, like an unrated one",
        Fraction(3, 755): "all test items of the user are targets",
        Fraction(30, 760): "P@10 divides the hits by 10",
    },
    "ai_an_ar": {
        Fraction(3, 1000): "the user's training items are no targets",
        Fraction(5, 960): "an item that was rated low is not relevant",
        Fraction(3, 760): "under AI untested items are candidates too",
    },
    "ti_nn_1r": {
        Fraction(3, 100): "a run holds one relevant item",
        Fraction(1, 101): "t counts the relevant item too",
        Fraction(1, 10): "that is the ceiling; a random ranking hits it rarely",
    },
}


def check_random(*, ti_an_ar: float, ai_an_ar: float, ti_nn_1r: float) -> Checked:
    """Check what a random ranking is expected to score for the user of the exercise.

    Examples
    --------
    >>> check_random(ti_an_ar=3 / 800, ai_an_ar=3 / 960, ti_nn_1r=0.01)
    Not yet: ti_an_ar: the user's training items are no targets.
    """
    answers = {"ti_an_ar": ti_an_ar, "ai_an_ar": ai_an_ar, "ti_nn_1r": ti_nn_1r}
    wrong = []
    for name, answer in answers.items():
        if not is_number(answer):
            wrong.append(f"{name}: give a number{instead_of(answer)}")
        elif abs(answer / float(_RANDOM[name]) - 1) > _SHARE:
            hints = [
                hint
                for slip, hint in _SLIPS[name].items()
                if abs(answer / float(slip) - 1) < _SHARE
            ]
            count = "count relevant items and targets, and give four digits"
            wrong.append(f"{name}: {hints[0] if hints else count}")
    if wrong:
        return not_yet(f"{'; '.join(wrong)}.")
    return right("one and the same ranking, and the last number is more than twice the first.")


# -- six users, eight items ------------------------------------------------------------------------
def _toy() -> tuple[dict[str, set[str]], dict[str, dict[str, int]]]:
    """Read training items, and test ratings by item, of each user."""
    head, _, *rows = TOY.strip().splitlines()
    items = [cell.strip() for cell in head.split("|")[2:-1]]
    train: dict[str, set[str]] = {}
    test: dict[str, dict[str, int]] = {}
    for row in rows:
        user, *cells = (cell.strip(" *") for cell in row.split("|")[1:-1])
        rated = dict(zip(items, cells, strict=True))
        train[user] = {item for item, cell in rated.items() if cell and cell[0] != "["}
        test[user] = {item: int(cell.strip("[]")) for item, cell in rated.items() if "[" in cell}
    return train, test


def _toy_answers() -> dict[str, Fraction]:
    """Measure Popularity on the toy data by walking down its lists."""
    train, test = _toy()
    names = sorted({item for rated in train.values() for item in rated})
    number = {item: place for place, item in enumerate(names)}
    counts = {number[item]: sum(item in rated for rated in train.values()) for item in names}
    tested = {number[item] for rated in test.values() for item in rated}
    of_users, of_runs, of_tested = [], [], []
    for user, rated in test.items():
        judged = {number[item]: float(value) for item, value in rated.items()}
        liked = {item for item, value in judged.items() if value >= _LIKED}
        targets = tested - {number[item] for item in train[user]}

        def precision(members: set[int], judged: Mapping[int, float] = judged) -> Fraction:
            listed = naive_list({item: counts[item] for item in members}, range(len(names)))
            share = naive_measure(listed, judged, "P", cutoff=_CUTOFF, min_rating=_LIKED)
            return Fraction(share)

        of_users.append(precision(targets))
        of_runs += [precision(targets - liked | {item}) for item in sorted(liked)]
        of_tested.append(precision(set(judged)))
    lists = {"ti_an_ar": of_users, "ti_an_1r": of_runs, "test_only": of_tested}
    return {name: sum(values, Fraction(0)) / len(values) for name, values in lists.items()}


def check_toy(*, ti_an_ar: float, ti_an_1r: float, test_only: float) -> Checked:
    """Check P@2 of Popularity on the toy data, under three designs.

    Examples
    --------
    >>> check_toy(ti_an_ar=0.6, ti_an_1r=..., test_only=...)
    Not yet: ti_an_ar is too large; ti_an_1r: give a number in place of the dots; test_only: give a
    number in place of the dots.
    """
    expected = _toy_answers()
    answers = {"ti_an_ar": ti_an_ar, "ti_an_1r": ti_an_1r, "test_only": test_only}
    wrong = []
    for name, answer in answers.items():
        if not is_number(answer):
            wrong.append(f"{name}: give a number{instead_of(answer)}")
        elif abs(answer - float(expected[name])) > _NEAR:
            size = "large" if answer > float(expected[name]) else "small"
            wrong.append(f"{name} is too {size}")
    if not wrong:
        return right("one system, one data set, one cutoff, and three values of P@2.")
    hints = []
    if is_number(ti_an_ar) and abs(ti_an_ar - float(expected["ti_an_ar"] * 6 / 5)) < _NEAR:
        hints.append(" Users without a relevant test item count, as 0.")
    if is_number(ti_an_1r) and abs(ti_an_1r - float(expected["ti_an_ar"])) < _NEAR:
        hints.append(
            " Under 1R the mean is over runs, and the other relevant items are no targets."
        )
    return not_yet(f"{'; '.join(wrong)}.{''.join(hints)}")


# -- one pass is enough ----------------------------------------------------------------------------
def check_one_pass(expected_hit: Callable[[int, int, int, int], float]) -> Checked:
    """Check a function ``expected_hit(rank, pool, size, cutoff)`` against all samples.

    Examples
    --------
    >>> check_one_pass(lambda rank, pool, size, cutoff: float(rank <= cutoff))
    Not yet: expected_hit(2, 3, 2, 1) gives 1 or 0 only. Of 3 others, 1 stands above the item; write
    down the 3 samples of 1, and count those in which at most 0 of the drawn stand above it.
    """
    seen: list[float] = []
    for pool in (3, 4, 5, 6, 7, 10):
        for rank in range(1, pool + 2):
            for size in range(2, pool + 2):
                for cutoff in range(1, size + 2):  # from size on, no item can miss
                    answer = called(expected_hit, rank, pool, size, cutoff)
                    if isinstance(answer, Checked):
                        return answer
                    seen.append(answer)
                    samples = list(combinations(range(1, pool + 1), size - 1))
                    hits = sum(sum(o < rank for o in drawn) < cutoff for drawn in samples)
                    wanted = hits / len(samples)
                    if not is_exact(answer, wanted):
                        text = "1 or 0 only" if answer in (0, 1) else f"{answer:.4g}"
                        stand = {1: "none stands", 2: "1 stands"}.get(rank, f"{rank - 1} stand")
                        return inexact(
                            answer,
                            wanted,
                            f"expected_hit({rank}, {pool}, {size}, {cutoff}) gives {text}. Of "
                            f"{pool} others, {stand} above the item; write down the {len(samples)} "
                            f"samples of {size - 1}, and count those in which at most {cutoff - 1} "
                            "of the drawn stand above it.",
                        )
    return right(
        f"it agrees with the count over all samples in {len(seen)} cases. So one ranking of the "
        "whole pool tells what runs of any size give."
    )


# -- break the lemma -------------------------------------------------------------------------------
def check_lemma_broken(
    order: Sequence[str], shared: Collection[str], own: Mapping[str, Collection[str]]
) -> Checked:
    """Check a user for whom the lower bound fails at n = 1, with a sample of its own for each run.

    Examples
    --------
    >>> check_lemma_broken(["r1", "x", "r2"], {"x"}, {"r1": {"x"}, "r2": {"x"}})
    Not yet: the lower bound is 1/2 and 1RP@1 is 1/2, so that it holds. Where would a sample have to
    stand to make a run miss?
    """
    if ... in (order, shared, own) or not isinstance(own, Mapping):
        return not_yet("give order, shared and own in place of the dots.")
    places = {item: place for place, item in enumerate(order)}
    if len(places) < len(order) or not {"r1", "r2"} <= set(places):
        return not_yet("order holds each item once, r1 and r2 among them.")
    if set(own) != {"r1", "r2"}:
        return not_yet("own needs a sample for r1 and one for r2, and no other.")
    for sample in (shared, *own.values()):
        if ... in (sample, *sample) or not set(sample) <= set(places) - {"r1", "r2"}:
            return not_yet("a sample holds items of order that are not relevant.")
        if isinstance(sample, str) or len(set(sample)) != len(set(shared)):
            return not_yet("all samples are sets of one size.")
    joint = sorted({"r1", "r2", *shared}, key=places.__getitem__)
    lower = Fraction(joint[0] in ("r1", "r2"), 2)
    hits = [min({item, *sample}, key=places.__getitem__) == item for item, sample in own.items()]
    value = Fraction(sum(hits), 2)
    if lower > value:
        alike = set(own["r1"]) == set(own["r2"])
        return right(
            f"the lower bound is {lower}, and 1RP@1 is {value}."
            + " The runs drew alike here; what breaks the bound is that it saw another sample."
            * alike
        )
    return not_yet(
        f"the lower bound is {lower} and 1RP@1 is {value}, so that it holds. Where would a sample "
        "have to stand to make a run miss?"
    )


# -- two designs on one's own data -----------------------------------------------------------------
@on_own_data
def check_own_designs(
    *,
    p_ar: float,
    rho_ar: float,
    p_1r: float,
    rho_1r: float,
    t: int,
    times_ar: float,
    times_1r: float,
    better: str,
) -> Checked:
    """Check P@10 of Popularity on a table of one's own, under two designs and beside Random.

    Examples
    --------
    >>> measured = {"p_ar": 0.12, "rho_ar": 0.01, "p_1r": 0.05, "rho_1r": 0.01, "t": 100}
    >>> check_own_designs(**measured, times_ar=12, times_1r=5, better="1R")
    Not yet: better: Popularity scores 12 times rho under AR, and 5 times rho under 1R.
    """
    measured = {"p_ar": p_ar, "rho_ar": rho_ar, "p_1r": p_1r, "rho_1r": rho_1r}
    if told := unfit(measured, 1) or unfit({"t": t, "times_ar": times_ar, "times_1r": times_1r}):
        return not_yet(told)
    if p_1r > 0.1 + 1e-9:
        return not_yet(
            f"p_1r: a run holds one relevant item, so that P@10 is at most 0.1, and {p_1r:.4g} is "
            "more. Is it the recall, or of another cutoff?"
        )
    if not t or not is_near(rho_1r, 1 / t, 0.05):
        return not_yet(
            f"rho_1r: one of t items is relevant, a share of 1/{t:g}, and not {rho_1r:.4g}."
        )
    if not rho_ar:
        return not_yet("rho_ar: with a rho of 0 no test item is relevant; lower the threshold.")
    times = {"AR": p_ar / rho_ar, "1R": p_1r / rho_1r}
    for design, answer in (("AR", times_ar), ("1R", times_1r)):
        if not is_near(answer, times[design], 0.02):
            hint = f"it is P@10 over rho, {times[design]:.3g}"
            if is_near(answer * times[design], 1, 0.02):
                hint = "it is P@10 over rho, and not rho over P@10"
            return not_yet(f"times_{design.lower()}: {hint}.")
    if better != max(times, key=times.__getitem__):
        if better not in list(times):  # whatever it is
            return not_yet('better: "AR" or "1R", in place of the dots.')
        return not_yet(
            f"better: Popularity scores {times['AR']:.3g} times rho under AR, and "
            f"{times['1R']:.3g} times rho under 1R."
        )
    return right(
        f"one list, {times['AR']:.3g} and {times['1R']:.3g} times what a random ranking scores. "
        "Print rho beside every precision of your table."
    )
