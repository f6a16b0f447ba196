"""Checks of the exercises of the chapter on hits and misses, "True and false positives"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from recbias.book.exercises import (
    Checked,
    called,
    inexact,
    is_exact,
    is_number,
    not_yet,
    on_own_data,
    right,
    unfit,
)
from recbias.errors import ConfigError


# -- what the unrated items may be -----------------------------------------------------------------
def check_possible(
    lowest: Callable[[int, int, int], float], highest: Callable[[int, int, int], float]
) -> Checked:
    """Check two functions of ``(hits, misses, n)`` against every way to judge the unrated items.

    Examples
    --------
    >>> check_possible(lambda hits, misses, n: hits / n, lambda hits, misses, n: hits / n)
    Not yet: highest(1, 0, 2) gives 0.5. Of 2 items 1 is unrated: write down the 2 ways in which the
    user may judge it, and count the liked items of each.
    """
    cases = [
        (hits, misses, n)
        for n in (2, 3, 5, 10)
        for hits in range(n + 1)
        for misses in range(n + 1 - hits)
    ]
    for hits, misses, n in sorted(cases, key=lambda case: (case[2], -case[0])):
        n_open = n - hits - misses
        liked = [hits + sum(way) for way in product((0, 1), repeat=n_open)]
        for function, expected, name in (
            (lowest, min(liked), "lowest"),
            (highest, max(liked), "highest"),
        ):
            value = called(function, hits, misses, n)
            if isinstance(value, Checked):
                return value
            if not is_exact(value, expected / n):
                are = "1 is" if n_open == 1 else f"{n_open} are"
                it = "it" if n_open == 1 else "them"
                return inexact(
                    value,
                    expected / n,
                    f"{name}({hits}, {misses}, {n}) gives {value:.4g}. Of {n} items {are} unrated: "
                    f"write down the {len(liked)} ways in which the user may judge {it}, and count "
                    "the liked items of each.",
                )
    return right(
        f"it agrees with all ways to judge the rest in {len(cases)} cases. Hits give the lower end "
        "and misses the upper one; where nine of ten items are unrated, both together say little."
    )


# -- what is best by misses ------------------------------------------------------------------------
def check_miss_chance(miss_chance: Callable[[int, int, int], float]) -> Checked:
    """Check ``miss_chance(n_users, rated, liked)`` by showing an item to all who lack it.

    Examples
    --------
    >>> check_miss_chance(lambda n_users, rated, liked: (rated - liked) / rated)
    Not yet: miss_chance(6, 2, 1) gives 0.5. Name the 6 users: 2 have the item in training and are
    not shown it. Of the 4 others, how many dislike it in the test?
    """
    for n_users, rated, liked in (
        (6, 2, 1),
        (10, 5, 3),
        (10, 2, 1),
        (10, 5, 1),
        (12, 3, 3),
        (9, 4, 0),
    ):
        value = called(miss_chance, n_users, rated, liked)
        if isinstance(value, Checked):
            return value
        viewers = list(range(rated, n_users))
        dislike = [user for user in viewers[:rated] if user - rated >= liked]
        wanted = len(dislike) / len(viewers)
        if not is_exact(value, wanted):
            return inexact(
                value,
                wanted,
                f"miss_chance({n_users}, {rated}, {liked}) gives {value:.4g}. Name the {n_users} "
                f"users: {rated} have the item in training and are not shown it. Of the "
                f"{len(viewers)} others, how many dislike it in the test?",
            )
    return right(
        "with a minus sign this is Equation 4. An item that nobody disliked has 0, however few "
        "people rated it; an item that everybody knows has nearly always been disliked by somebody."
    )


# -- two items on which the metrics agree ----------------------------------------------------------
_USERS = 20
_TIMES = 4


def check_agreeing(*, a: Sequence[int], b: Sequence[int]) -> Checked:
    """Check two items of very different popularity on which both best rankings agree.

    Examples
    --------
    >>> check_agreeing(a=(8, 6), b=(2, 1))
    Not yet: by hits a comes first (6/12 against 1/18), by misses b does (2/12 against 1/18).
    """
    wrong = []
    for name, item in {"a": a, "b": b}.items():
        if not isinstance(item, Sequence) or isinstance(item, str) or len(item) != 2:
            wrong.append(f"{name}: give two numbers, ratings and liked ones, in place of the dots")
        elif not all(is_number(number) and number == int(number) for number in item):
            wrong.append(f"{name}: whole numbers")
        elif not 0 <= item[1] <= item[0] < _USERS or item[0] < 1:
            wrong.append(
                f"{name}: at least one rating, fewer than {_USERS}, no more liked than rated"
            )
    if wrong:
        return not_yet(f"{'; '.join(wrong)}.")
    if a[0] < _TIMES * b[0]:
        return not_yet(
            f"a needs {_TIMES} times the ratings of b at least, not {a[0]} against {b[0]}."
        )
    hits, misses = ([_per_shown(item, of) for item in (a, b)] for of in (0, 1))
    template = "{} comes first ({}/{} against {}/{})"
    if hits[0] == hits[1] or misses[0] == misses[1]:
        return not_yet("one of the rankings has both items tied; let each prefer one of them.")
    first = ["a" if hits[0] > hits[1] else "b", "a" if misses[0] < misses[1] else "b"]
    if first[0] != first[1]:
        n_viewers = [_USERS - item[0] for item in (a, b)]
        by_hits = template.format(first[0], a[1], n_viewers[0], b[1], n_viewers[1])
        counts = (a[0] - a[1], n_viewers[0], b[0] - b[1], n_viewers[1])
        by_misses = "{} does ({}/{} against {}/{})".format(first[1], *counts)
        return not_yet(f"by hits {by_hits}, by misses {by_misses}.")
    return right(
        f"both put {first[0]} first. It took a liking of {a[1]}/{a[0]} against {b[1]}/{b[0]}: "
        f"{_share_of_pairs():.0%} of all pairs as uneven in popularity are put in opposite orders."
    )


def _per_shown(item: Sequence[int], of: int) -> Fraction:
    """Divide liked (0) or disliked (1) ratings by the users who can still be shown the item."""
    rated, liked = (int(count) for count in item)
    return Fraction((liked, rated - liked)[of], _USERS - rated)


def _share_of_pairs() -> float:
    """Count, among all pairs of items that are that uneven, those that the metrics turn round."""
    items = [(rated, liked) for rated in range(1, _USERS) for liked in range(rated + 1)]
    n_opposed = n_all = 0
    for one, other in combinations(items, 2):
        low, high = sorted((one, other))
        if high[0] >= _TIMES * low[0]:
            signs = [_per_shown(high, of) - _per_shown(low, of) for of in (0, 1)]
            n_all += 1
            n_opposed += signs[0] * signs[1] > 0
    return n_opposed / n_all


# -- which metric is right -------------------------------------------------------------------------
_WORLDS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "popular items are liked more": ((0.9, 0.8), (0.5, 0.6), (0.2, 0.5), (0.05, 0.3)),
    "popular items are liked less": ((0.9, 0.2), (0.4, 0.4), (0.15, 0.6), (0.05, 0.7)),
    "all items are rated equally often": ((0.3, 0.8), (0.3, 0.6), (0.3, 0.5), (0.3, 0.3)),
}
"""Four items of each world: the share of users who rate the item, and of users who like it."""

_ANSWERS = ("hits", "misses", "both")


def _rights() -> dict[str, str]:
    """Order the items of each world by what is observed and by what is true."""
    rights = {}
    for name, items in _WORLDS.items():
        true = sorted(items, key=lambda item: -item[1])
        right_ones = [
            metric
            for metric, better in (
                ("hits", lambda item: -item[0] * item[1]),
                ("misses", lambda item: item[0] * (1 - item[1])),
            )
            if sorted(items, key=better) == true
        ]
        rights[name] = "both" if len(right_ones) == 2 else right_ones[0]
    return rights


def check_roles(answers: Mapping[str, Any]) -> Checked:
    """Check which count orders four lists as the truth does, in three worlds.

    Examples
    --------
    >>> check_roles({"popular items are liked less": "hits"})
    Not yet: popular items are liked less: not so. No answer yet for popular items are liked more,
    all items are rated equally often.
    """
    if unknown := set(answers) - set(_WORLDS):
        raise ConfigError(f"not asked for: {', '.join(sorted(unknown))}")
    open_yet = [name for name in _WORLDS if answers.get(name) not in _ANSWERS]
    expected = _rights()
    wrong = [name for name in _WORLDS if name not in open_yet and answers[name] != expected[name]]
    remarks = [f"{', '.join(wrong)}: not so."] if wrong else []
    if open_yet:
        remarks.append(f"No answer yet for {', '.join(open_yet)}.")
    if remarks:
        return not_yet(" ".join(remarks))
    return right(
        "whoever counts hits bets that what is popular is liked more, whoever counts misses bets "
        "on the opposite. Observed ratings alone do not tell who wins the bet."
    )


# -- what one's own lists may be -------------------------------------------------------------------
@on_own_data
def check_own_bounds(
    *, n: int, a: Sequence[float], b: Sequence[float], ends: Sequence[float], surely: str
) -> Checked:
    """Check which of two systems of one's own has surely more liked items in its lists.

    Examples
    --------
    >>> ends = (0.12, 0.97, 0.09, 0.96)
    >>> check_own_bounds(n=10, a=(1.2, 0.3), b=(0.9, 0.4), ends=ends, surely="a")
    Not yet: surely: a has at least 0.12 and b at most 0.96, so that b may have more.
    """
    if told := unfit({"n": n}):
        return not_yet(told)
    if n < 1:
        return not_yet("n: a list has 1 item at least.")
    for name, pair in (("a", a), ("b", b)):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            return not_yet(f"{name}: hits and misses of a list, on average, in place of the dots.")
        if told := unfit({f"{name}, hits": pair[0], f"{name}, misses": pair[1]}):
            return not_yet(told)
        if pair[0] + pair[1] > n + 1e-9:
            return not_yet(f"{name}: a list of {n:g} items has no more hits and misses than items.")
    wanted = [end for hits, misses in (a, b) for end in (hits / n, (n - misses) / n)]
    if isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 4:
        return not_yet("ends: four shares, lowest and highest of a, then of b.")
    places = ("lowest of a", "highest of a", "lowest of b", "highest of b")
    for place, answer, right_end in zip(places, ends, wanted, strict=True):
        if told := unfit({f"ends, {place}": answer}):
            return not_yet(told)
        if abs(answer - right_end) > 0.0051:
            hint = "hits over n" if place.startswith("lowest") else "all that are no misses, over n"
            return not_yet(f"ends, {place}: {hint}.")
    best = "a" if wanted[0] > wanted[3] else "b" if wanted[2] > wanted[1] else "open"
    if surely not in ("a", "b", "open"):
        return not_yet('surely: "a", "b" or "open", in place of the dots.')
    if surely != best:
        low, high = (wanted[0], wanted[3]) if surely == "a" else (wanted[2], wanted[1])
        one, other = ("a", "b") if surely == "a" else ("b", "a")
        if surely == "open":
            return not_yet(f"surely: the lowest end of {best} is above the highest of the other.")
        return not_yet(
            f"surely: {one} has at least {low:.3g} and {other} at most {high:.3g}, so that {other} "
            "may have more."
        )
    return right(
        "what nobody has rated decides." if best == "open" else f"{best}, whatever the unrated are."
    )
