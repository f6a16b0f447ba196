"""Wrong answers to the exercises on hits and misses are refused, and the usual ones told apart."""

from __future__ import annotations

import re
from typing import Any

import pytest

from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import (
    check_agreeing,
    check_miss_chance,
    check_possible,
    check_roles,
)
from recbias.errors import ConfigError


def low(hits: int, misses: int, n: int) -> float:
    return hits / n


def high(hits: int, misses: int, n: int) -> float:
    return (n - misses) / n


@pytest.mark.parametrize(
    ("lowest", "highest", "told"),
    [
        (low, low, r"highest\(1, 0, 2\) gives 0\.5"),  # unrated counts as disliked
        (high, high, r"lowest\(1, 0, 2\) gives 1"),
        (
            lambda hits, misses, n: hits / (hits + misses + 1),
            high,
            r"lowest\(2, 0, 2\) gives 0\.66",
        ),
        (
            low,
            lambda hits, misses, n: 1 - misses / (hits + misses or 1),
            r"highest\(0, 1, 2\) gives 0",
        ),
        (low, lambda hits, misses, n: ..., "return a number in place of the dots"),
        (low, lambda hits: 1, "stops with TypeError"),
    ],
)
def test_wrong_ends_of_what_a_list_may_be(lowest: Any, highest: Any, told: str) -> None:
    found = check_possible(lowest, highest)
    assert not found
    said = re.sub(r"<lambda>", lambda _: "highest", repr(found))
    assert re.search(told, said)


def test_hits_and_misses_are_the_ends() -> None:
    assert check_possible(low, high)


@pytest.mark.parametrize(
    "answer",
    [
        lambda users, rated, liked: (rated - liked) / rated,  # among ratings
        lambda users, rated, liked: (rated - liked) / users,  # all users can be shown it
        lambda users, rated, liked: liked / (users - rated),  # Eq. 2
        lambda users, rated, liked: -(rated - liked) / (users - rated),  # Eq. 4 itself
        lambda users, rated, liked: rated / (users - rated),
    ],
)
def test_a_wrong_chance_of_a_miss(answer: Any) -> None:
    found = check_miss_chance(answer)
    assert not found
    assert "how many dislike it in the test?" in repr(found)


def test_dislikes_over_those_who_can_be_shown_the_item_is_right() -> None:
    assert check_miss_chance(lambda users, rated, liked: (rated - liked) / (users - rated))


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ((8, 6), (2, 1), r"by hits a comes first \(6/12 against 1/18\), by misses b does"),
        ((8, 0), (2, 0), "one of the rankings has both items tied"),
        ((7, 7), (2, 0), "a needs 4 times the ratings of b at least, not 7 against 2"),
        ((8, 9), (2, 1), "a: at least one rating, fewer than 20, no more liked than rated"),
        ((20, 20), (2, 1), "a: at least one rating, fewer than 20"),
        ((8, 7.5), (2, 1), "a: whole numbers"),
        (..., (2, 1), "a: give two numbers"),
        ("88", ..., "a: give two numbers.*; b: give two numbers"),
    ],
)
def test_wrong_pairs(a: Any, b: Any, told: str) -> None:
    found = check_agreeing(a=a, b=b)
    assert not found
    assert re.search(told, repr(found))


@pytest.mark.parametrize(("a", "b"), [((8, 8), (2, 1)), ((8, 0), (2, 2)), ([12, 12], [3, 0])])
def test_pairs_on_which_both_agree(a: Any, b: Any) -> None:
    found = check_agreeing(a=a, b=b)
    assert found
    assert "of all pairs as uneven in popularity" in repr(found)


ROLES = {
    "popular items are liked more": "hits",
    "popular items are liked less": "misses",
    "all items are rated equally often": "both",
}


def test_which_count_is_right_in_which_world() -> None:
    assert check_roles(ROLES)
    for name, answer in ROLES.items():
        for other in {"hits", "misses", "both"} - {answer}:
            assert repr(check_roles(ROLES | {name: other})) == f"Not yet: {name}: not so."
        assert repr(check_roles(ROLES | {name: ...})) == f"Not yet: No answer yet for {name}."
    with pytest.raises(ConfigError, match="not asked for: hits"):
        check_roles({"hits": "both"})
