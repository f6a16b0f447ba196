"""Wrong answers to the exercises of chapter 3 are refused, and the usual ones told apart."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from recbias.book.chapters.popularity_bias.exercises import (
    check_complement,
    check_hit_chance,
    check_kept,
    check_printed,
)
from recbias.errors import ConfigError


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda n, liked, own: liked * own / n, r"expected\(3, 1, 1\) gives 0\.33"),  # in training
        (lambda n, liked, own: liked / n, r"expected\(3, 1, 1\) gives 0\.3333"),
        (lambda n, liked, own: liked, r"expected\(3, 1, 1\) gives 1"),
        (lambda n, liked, own: max(liked - own, 0), r"expected\(3, 1, 1\) gives 0\."),
        (lambda n, liked, own: (n - own) / n, r"expected\(3, 2, 1\) gives 0\.6667"),
        (lambda n, liked, own: ..., "return a number in place of the dots"),
        (lambda n, liked: 1, "stops with TypeError"),
        (lambda n, liked, own: round(liked * (n - own) / n, 3), "0.667: right but rounded. Return"),
        (lambda n, liked, own: liked * (n - own) / n if n <= 8 else -1, r"\(13, 5, 4\) gives -1"),
    ],
)
def test_a_wrong_expectation_of_the_rest(answer: Any, told: str) -> None:
    found = check_complement(answer)
    assert not found
    assert re.search(told, repr(found).replace("<lambda>", "expected"))


def test_the_rest_of_what_went_into_training_is_right() -> None:
    assert check_complement(lambda n, liked, own: liked * (n - own) / n)
    assert check_complement(lambda n, liked, own: liked - liked * own / n)
    assert check_complement(lambda n, liked, own: np.float32(liked * (n - own) / n))


@pytest.mark.parametrize(
    "answer",
    [
        lambda users, own, test: test / users,  # as in the paper's argument
        lambda users, own, test: own / users,  # as Popularity has it
        lambda users, own, test: test / own if own else 0.5,
        lambda users, own, test: (own + test) / users,
        lambda users, own, test: test / (users - own - test) if users - own - test else 1.0,
        lambda users, own, test: test / (users - own) if users <= 10 else -1,
    ],
)
def test_a_wrong_chance_of_a_hit(answer: Any) -> None:
    found = check_hit_chance(answer)
    assert not found
    assert "How many offers are left" in repr(found)


def test_a_chance_among_those_who_are_offered_the_item_is_right() -> None:
    assert check_hit_chance(lambda users, own, test: test / (users - own))


FLAT, STEEP = [1] * 7 + [3, 3, 3, 2, 4], [4, 4, 3, 2, 2, *[1] * 7]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"flattest": STEEP}, "flattest: other counts fit and are more even"),
        ({"steepest": FLAT}, "steepest: other counts fit and are less even"),
        ({"flattest": FLAT[1:]}, "flattest: documents: 11, printed is 12"),
        ({"flattest": [*FLAT[:-1], 5]}, "flattest: queries answered in all: 23, printed is 22"),
        ({"steepest": [4, 4, 4, 2, *[1] * 8]}, "documents that answer one query: 8, printed is 7"),
        ({"steepest": [5, 4, 2, 2, 2, *[1] * 7]}, "by the most useful document: 5, printed is 4"),
        ({"flattest": [3] * 5 + [1] * 7}, "by the most useful document: 3, printed is 4"),
        ({"flattest": [1.5] * 12}, "flattest: whole numbers, each at least 1"),
        (
            {"flattest": ..., "steepest": ...},
            "flattest: give a list in place of the dots; steepest",
        ),
        ({"flattest": "111"}, "flattest: give a list"),
    ],
)
def test_wrong_counts(changed: dict[str, Any], told: str) -> None:
    found = check_printed(**{"flattest": FLAT, "steepest": STEEP} | changed)
    assert not found
    assert told in repr(found)


def test_counts_in_any_order_are_right() -> None:
    assert check_printed(flattest=sorted(FLAT), steepest=tuple(STEEP))


KEPT = {
    "ratings of each item": True,
    "ratings of each user": True,
    "who rated what": False,
    "share of five stars among all ratings": True,
    "share of five stars of each item": False,
}


def test_what_a_world_without_taste_keeps() -> None:
    assert check_kept(KEPT)
    assert check_kept({name: int(answer) for name, answer in KEPT.items()})
    assert check_kept({name: np.bool_(answer) for name, answer in KEPT.items()})
    assert "who rated what: write True or False." in repr(check_kept(KEPT | {"who rated what": 2}))
    for name, answer in KEPT.items():
        found = check_kept(KEPT | {name: not answer})
        assert not found
        more = " This world draws stars from the mix of the dataset whose counts it has."
        assert repr(found) == f"Not yet: {name}: not so.{more * ('among all' in name)}"
        assert repr(check_kept(KEPT | {name: ...})) == f"Not yet: No answer yet for {name}."
    with pytest.raises(ConfigError, match="not asked for: stars"):
        check_kept({"stars": True})
