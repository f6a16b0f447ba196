"""Checks of the exercises of chapter 3, "Popularity bias"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from recbias.book.exercises import (
    Checked,
    as_list,
    called,
    inexact,
    instead_of,
    is_exact,
    is_number,
    not_yet,
    on_own_data,
    right,
)
from recbias.data.simulation import CountOptions, count_world, make_world
from recbias.errors import ConfigError


# -- training and test are complements -------------------------------------------------------------
def check_complement(expected: Callable[[int, int, int], float]) -> Checked:
    """Check a function ``expected(n_ratings, n_liked, in_training)`` against every way to split.

    Examples
    --------
    >>> check_complement(lambda n_ratings, n_liked, in_training: n_liked * in_training / n_ratings)
    Not yet: expected(3, 1, 1) gives 0.3333. Of 3 ratings 1 went into training: write down the 3
    ways to choose them, and count the relevant ones that are left for the test.
    """
    cases = [
        (n_ratings, n_liked, in_training)
        for n_ratings in (3, 4, 6)
        for in_training in range(1, n_ratings)
        for n_liked in range(1, n_ratings + 1)
    ]
    cases += [(13, 5, 4), (16, 16, 11)]  # past what one may have written down
    for n_ratings, n_liked, in_training in cases:
        value = called(expected, n_ratings, n_liked, in_training)
        if isinstance(value, Checked):
            return value
        ways = list(combinations(range(n_ratings), in_training))
        left = sum(n_liked - sum(rating < n_liked for rating in chosen) for chosen in ways)
        wanted = left / len(ways)
        if not is_exact(value, wanted):
            return inexact(
                value,
                wanted,
                f"expected({n_ratings}, {n_liked}, {in_training}) gives {value:.4g}. Of "
                f"{n_ratings} ratings {in_training} went into training: write down the {len(ways)} "
                "ways to choose them, and count the relevant ones that are left for the test.",
            )
    return right(
        f"it agrees with the count over all splits in {len(cases)} cases. Of two items with as "
        "many ratings, the one with more of them in training has fewer for the test, and "
        "Popularity puts it first."
    )


# -- the best ranking for everybody ----------------------------------------------------------------
def check_hit_chance(hit_chance: Callable[[int, int, int], float]) -> Checked:
    """Check a function ``hit_chance(n_users, in_training, in_test)`` by offering an item to all.

    Examples
    --------
    >>> check_hit_chance(lambda n_users, in_training, in_test: in_test / n_users)
    Not yet: hit_chance(4, 1, 1) gives 0.25. Name the 4 users; 1 of them has the item in training
    and is not offered it. How many offers are left, and how many of them are hits?
    """
    for n_users, in_training, in_test in (
        (4, 0, 2), (4, 1, 1), (10, 5, 5), (10, 7, 1), (9, 6, 0), (57, 20, 3), (6040, 300, 1234),
    ):  # fmt: skip
        value = called(hit_chance, n_users, in_training, in_test)
        if isinstance(value, Checked):
            return value
        owners = set(range(in_training))
        offers = [user for user in range(n_users) if user not in owners]
        likers = {in_training + place for place in range(in_test)}
        wanted = sum(user in likers for user in offers) / len(offers)
        if not is_exact(value, wanted):
            has = "1 of them has" if in_training == 1 else f"{in_training} of them have"
            is_not = "is" if in_training == 1 else "are"
            return inexact(
                value,
                wanted,
                f"hit_chance({n_users}, {in_training}, {in_test}) gives {value:.4g}. Name the "
                f"{n_users} users; {has} the item in training and {is_not} not offered it. How "
                "many offers are left, and how many of them are hits?",
            )
    return right(
        "no ranking for everybody puts a better item first than the one by this number. Popularity "
        "looks at the second of the three alone, the paper's argument at the third."
    )


# -- what printed numbers force --------------------------------------------------------------------
_PRINTED = {"n_items": 12, "total": 22, "n_once": 7, "most": 4}
"""Documents that answer a query, their answers, how many answer one, what the best answers."""


def _fitting() -> Iterator[tuple[int, ...]]:
    """List all counts that fit the printed numbers."""
    for counts in combinations_with_replacement(
        range(1, _PRINTED["most"] + 1), _PRINTED["n_items"]
    ):
        if _misfit(counts) is None:
            yield counts


def _misfit(counts: Sequence[int]) -> str | None:
    """Say in which number counts differ from the printed ones; None if in none."""
    numbers = {
        "n_items": (len(counts), "documents"),
        "total": (sum(counts), "queries answered in all"),
        "n_once": (list(counts).count(1), "documents that answer one query"),
        "most": (max(counts, default=0), "queries answered by the most useful document"),
    }
    for name, (number, words) in numbers.items():
        if number != _PRINTED[name]:
            return f"{words}: {number}, printed is {_PRINTED[name]}"
    return None


def _gini(counts: Sequence[int]) -> Fraction:
    """Compute the Gini coefficient as the mean difference of pairs over twice the mean."""
    differences = sum(abs(a - b) for a in counts for b in counts)
    return Fraction(differences, 2 * len(counts) * sum(counts))


def check_printed(*, flattest: Sequence[int], steepest: Sequence[int]) -> Checked:
    """Check the flattest and the steepest counts that fit the printed numbers of the exercise.

    Examples
    --------
    >>> check_printed(flattest=[2] * 11, steepest=...)
    Not yet: flattest: documents: 11, printed is 12; steepest: give a list in place of the dots.
    """
    wrong = []
    ginis = [_gini(counts) for counts in _fitting()]
    best = {"flattest": min(ginis), "steepest": max(ginis)}
    for name, given in {"flattest": flattest, "steepest": steepest}.items():
        counts = as_list(given)
        if not isinstance(counts, Sequence) or isinstance(counts, str):
            wrong.append(f"{name}: give a list in place of the dots")
        elif not all(is_number(count) and count == int(count) and count > 0 for count in counts):
            wrong.append(f"{name}: whole numbers, each at least 1")
        elif misfit := _misfit(counts):
            wrong.append(f"{name}: {misfit}")
        elif _gini(counts) != best[name]:
            way = "more even" if name == "flattest" else "less even"
            wrong.append(f"{name}: other counts fit and are {way}")
    if wrong:
        return not_yet(f"{'; '.join(wrong)}.")
    low, high = (float(best[name]) for name in ("flattest", "steepest"))
    return right(
        f"whatever the collection was, its Gini coefficient lies between {low:.3f} and {high:.3f}. "
        "The chapter does the same with the numbers that the paper prints of TREC."
    )


# -- a world without taste -------------------------------------------------------------------------
_OF_ALL = "share of five stars among all ratings"
_ASKED = (
    "ratings of each item",
    "ratings of each user",
    "who rated what",
    _OF_ALL,
    "share of five stars of each item",
)


@cache
def _kept() -> dict[str, bool]:
    """Make a world without taste from data with taste, and look at what both have in common."""
    source = make_world(n_users=300, n_items=200, n_ratings=6000, seed=1).ratings
    world = count_world(CountOptions(counts="synthetic", seed=2), source).ratings
    fives = [(ratings.value == 5).mean() for ratings in (source, world)]
    of_items = [
        np.bincount(ratings.item[ratings.value == 5], minlength=ratings.n_items)
        for ratings in (source, world)
    ]
    pairs = [
        np.sort(ratings.user.astype(np.int64) * ratings.n_items + ratings.item)
        for ratings in (source, world)
    ]
    error = np.sqrt(fives[0] * (1 - fives[0]) / len(world))
    return {
        "ratings of each item": bool((source.item_counts() == world.item_counts()).all()),
        "ratings of each user": bool((source.user_counts() == world.user_counts()).all()),
        "who rated what": bool(np.array_equal(pairs[0], pairs[1])),
        _OF_ALL: bool(abs(fives[1] - fives[0]) < 3 * error),
        "share of five stars of each item": bool((of_items[0] == of_items[1]).all()),
    }


def _is_truth(answer: object) -> bool:
    return isinstance(answer, int) and answer in (0, 1)


def check_kept(kept: Mapping[str, Any]) -> Checked:
    """Check what a world without taste keeps of the data whose counts it has.

    Examples
    --------
    >>> check_kept({"who rated what": True})
    Not yet: who rated what: not so. No answer yet for ratings of each item, ratings of each user,
    share of five stars among all ratings, share of five stars of each item.
    """
    if unknown := set(kept) - set(_ASKED):
        raise ConfigError(f"not asked for: {', '.join(sorted(unknown))}")
    remarks = []
    answers = {name: as_list(answer) for name, answer in kept.items()}  # numpy has its own True
    open_yet = [name for name in _ASKED if not _is_truth(answers.get(name))]
    if wrong := [
        name for name in _ASKED if name not in open_yet and answers[name] != _kept()[name]
    ]:
        remarks.append(f"{', '.join(wrong)}: not so.")
    if _OF_ALL in wrong:  # the worlds of the chapter's figures take theirs from one data set
        remarks.append("This world draws stars from the mix of the dataset whose counts it has.")
    if open_yet:
        others = [name for name in open_yet if answers.get(name) not in (None, ...)]
        remarks.append(
            f"No answer yet for {', '.join(open_yet)}{': write True or False' if others else ''}."
        )
    if remarks:
        return not_yet(" ".join(remarks))
    return right(
        "what it keeps is who is active and what is popular; what it drops is everything that a "
        "recommender could learn about taste."
    )


# -- how steep one's own data are ------------------------------------------------------------------
_SHIPPED = (1669, 99958, 447)
"""Rated items and ratings of the data set ``synthetic``, and those of its first item."""


@on_own_data
def check_own_counts(*, counts: Sequence[int], tenth: float) -> Checked:
    """Check which share of the ratings of a table lies on the most popular tenth of its items.

    Examples
    --------
    >>> check_own_counts(counts=[30, 5, *[1] * 18], tenth=35)
    Not yet: tenth: a share, from 0 to 1; of 53 ratings the first 2 items have how many?
    """
    if isinstance(counts, str) or not isinstance(counts, Sequence) or ... in counts:
        return not_yet("counts: give the number of ratings of each item in place of the dots.")
    if not all(is_number(count) and count == int(count) and count > 0 for count in counts):
        return not_yet("counts: whole numbers from 1 on; an item without ratings is not counted.")
    if len(counts) < 20:
        return not_yet("counts: a table has 20 items at least; give those of all of them.")
    falling, first = sorted(counts, reverse=True), -(-len(counts) // 10)
    if len({more - less for more, less in pairwise(falling)}) == 1:
        return not_yet(
            f"counts: they go from {falling[-1]:g} to {falling[0]:g} in equal steps, and in no "
            "data set do they. Count the ratings of each item in your own table."
        )
    if (len(counts), sum(counts), falling[0]) == _SHIPPED:
        return not_yet("counts: they are of the table that came with the course. Take your own.")
    wanted = sum(falling[:first]) / sum(counts)
    if not is_number(tenth):
        return not_yet(f"tenth: give a number{instead_of(tenth)}.")
    if tenth > 1:
        return not_yet(
            f"tenth: a share, from 0 to 1; of {sum(counts):,} ratings the first {first:,} items "
            "have how many?"
        )
    if not abs(tenth - wanted) <= 0.0051:
        slips = {
            "that is the least popular tenth": sum(falling[-first:]) / sum(counts),
            "sort the items by their counts, largest first": sum(counts[:first]) / sum(counts),
            "that is the share of items; the ratings on them are asked for": first / len(counts),
        }
        hints = [hint for hint, slip in slips.items() if abs(tenth - slip) <= 0.0051]
        asked = f"add up the counts of the first {first:,} of {len(counts):,} items, over all"
        return not_yet(f"tenth: {hints[0] if hints else asked}.")
    return right(
        f"{100 * wanted:.0f} % of the ratings, where equal counts would have "
        f"{100 * first / len(counts):.0f} %. Repeat chapter 1 in a world without taste with these "
        "counts: what Popularity scores there needs no opinion of anybody."
    )
