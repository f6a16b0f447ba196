"""Wrong answers to the exercises on one's own data are refused, and the usual ones told apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recbias.book.chapters.concentration_metrics.exercises import check_own_spread
from recbias.book.chapters.design_alternatives.exercises import check_own_designs
from recbias.book.chapters.multiverse.exercises import check_own_universes
from recbias.book.chapters.offline_option_taxonomy.exercises import check_own_turn
from recbias.book.chapters.overcoming_popularity_bias.exercises import (
    check_own_uniform,
    check_two_items,
)
from recbias.book.chapters.popularity_bias.exercises import check_own_counts, check_printed
from recbias.book.chapters.sparsity_bias.exercises import check_own_thinned
from recbias.book.chapters.true_vs_false_positive_disagreement.exercises import check_own_bounds
from recbias.book.exercises import Checked

COUNTS = [60, 40, 12, 10, 9, 8, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 2, 1, 1, 1]
SIGNS = [[1, 1, 1], [1, -1, 0]]
LINE = "split: ratio 0.2; lists: AI-AN-AR rel>=4; metric: nDCG@10"
RIGHT: dict[Callable[..., Checked], dict[str, Any]] = {
    check_own_designs: {
        "p_ar": 0.12, "rho_ar": 0.01, "p_1r": 0.05, "rho_1r": 0.01, "t": 100, "times_ar": 12,
        "times_1r": 5, "better": "AR",
    },
    check_own_thinned: {
        "kept": 0.4, "p": 0.18, "p_thinned": 0.07, "rho": 0.009, "rho_thinned": 0.0036, "ratio": 20,
        "ratio_thinned": 19.4,
    },
    check_own_counts: {"counts": COUNTS, "tenth": 0.586},
    check_two_items: {"tested": (20, 5), "left": (80, 95), "factor": 4.75},
    check_own_uniform: {
        "plain": (0.12, 0.01), "uniform": (0.034, 0.012), "lead_plain": 0.11, "lead_uniform": 0.022,
        "kept": 0.2,
    },
    check_own_bounds: {
        "n": 10, "a": (1.2, 0.3), "b": (0.9, 0.4), "ends": (0.12, 0.97, 0.09, 0.96),
        "surely": "open",
    },
    check_own_spread: {
        "rated": (6, 3, 1, 0), "listed": (4, 3, 2, 1), "gini_rated": 0.5, "gini_listed": 0.25,
        "more_even": "lists",
    },
    check_own_turn: {
        "first": LINE, "second": LINE.replace("AI-AN", "TI-AN"), "values_first": (0.21, 0.19),
        "values_second": (0.22, 0.24), "turned": True,
    },
    check_own_universes: {"signs": SIGNS, "wins": 0.667, "fewest": 2},
}  # fmt: skip
"""A right answer to each."""

WRONG: list[tuple[Callable[..., Checked], dict[str, Any], str]] = [
    (check_own_designs, {"p_1r": 0.4}, "at most 0.1, and 0.4 is more. Is it the recall"),
    (check_own_designs, {"rho_1r": 0.02}, "a share of 1/100, and not 0.02"),
    (check_own_designs, {"rho_ar": 0}, "with a rho of 0 no test item is relevant"),
    (check_own_designs, {"times_ar": 1 / 12}, "P@10 over rho, and not rho over P@10"),
    (check_own_designs, {"times_1r": 12}, "times_1r: it is P@10 over rho, 5."),
    (check_own_designs, {"better": "1R"}, "scores 12 times rho under AR, and 5 times"),
    (check_own_designs, {"better": "both"}, '"AR" or "1R"'),
    (check_own_thinned, {"kept": 0.6}, "that is the share taken out"),
    (check_own_thinned, {"p_thinned": 0.2}, "the same lists no more hits"),
    (check_own_thinned, {"rho_thinned": 0.009}, "rho falls to about 0.0036"),
    (check_own_thinned, {"ratio_thinned": 8}, "19.4: both from the same test"),
    (check_own_thinned, {"kept": 1}, "some stay, some go"),
    (check_own_counts, {"tenth": 100 / 191 * 100}, "a share, from 0 to 1"),
    (check_own_counts, {"tenth": 3 / 191}, "that is the least popular tenth"),
    (check_own_counts, {"tenth": 3 / 21}, "the ratings on them are asked for"),
    (check_own_counts, {"tenth": 0.3}, "add up the counts of the first 3 of 21 items"),
    (check_own_counts, {"counts": COUNTS[::-1], "tenth": 3 / 191}, "least popular tenth"),
    (check_own_counts, {"counts": [3, 2]}, "a table has 20 items at least"),
    (check_own_counts, {"counts": [1] * 20, "tenth": 0.1}, "they go from 1 to 1 in equal steps"),
    (check_own_counts, {"counts": [*range(1, 40)]}, "they go from 1 to 39 in equal steps, and in"),
    (check_own_counts, {"counts": [0, *COUNTS]}, "an item without ratings is not counted"),
    (check_two_items, {"tested": (40, 10)}, "half of the ratings go to training"),
    (check_two_items, {"left": (60, 90)}, "likes in the test are outside training, too"),
    (check_two_items, {"left": (20, 5)}, "likes that nobody rated"),
    (check_two_items, {"factor": 4}, "how much oftener the likes of a are rated"),
    (check_two_items, {"factor": 0.2105}, "by how much a hit on a counts"),
    (check_two_items, {"tested": (1, 2)}, "which are rated, and which of those"),
    (check_own_uniform, {"lead_plain": -0.11}, "Popularity's value less Random's, not the reverse"),
    (check_own_uniform, {"kept": 0.8}, "that is the share that is lost"),
    (check_own_uniform, {"kept": 0.5}, "lead_uniform over lead_plain, 0.2"),
    (check_own_uniform, {"plain": (0.01, 0.02), "lead_plain": -0.01}, "does not lead Random"),
    (check_own_bounds, {"surely": "a"}, "a has at least 0.12 and b at most 0.96"),
    (check_own_bounds, {"ends": (0.12, 0.03, 0.09, 0.04)}, "highest of a: all that are no misses"),
    (check_own_bounds, {"a": (9, 3)}, "no more hits and misses than items"),
    (check_own_bounds, {"n": 0}, "a list has 1 item at least"),
    (check_own_bounds, {"a": (9, 0), "b": (1, 8), "ends": (0.9, 1, 0.1, 0.2)}, "lowest end of a"),
    (check_own_spread, {"gini_rated": 1 / 3}, "items that have none are items, too"),
    (check_own_spread, {"gini_listed": 0.75}, "that is one less Gini"),
    (check_own_spread, {"gini_listed": 1 / 3}, "divide by n, and not by n - 1"),
    (check_own_spread, {"more_even": "ratings"}, "0.250 is nearer to it than 0.500"),
    (check_own_spread, {"listed": (4, 3, 2)}, "never listed counts as 0"),
    (check_own_turn, {"second": LINE}, "the two lines say the same"),
    (check_own_turn, {"second": LINE.replace("AI", "TI").replace("@10", "@5")},
     "differ in lists and metric. Change one thing"),
    (check_own_turn, {"second": "metric: RR"}, "second: that cannot be read"),
    (check_own_turn, {"turned": False}, "the one wins by the first line, the other by the second"),
    (check_own_turn, {"values_first": (0.2, 0.2)}, "nobody wins: give more digits"),
    (check_own_universes, {"wins": 0.8}, "a universe with a tie is one, too: 4 of 6"),
    (check_own_universes, {"wins": 0.5}, "count the universes with 1, of 6"),
    (check_own_universes, {"fewest": 1}, "begin at the first"),
    (check_own_universes, {"signs": [[1, 1], [1]]}, "every decision has the same options"),
    (check_own_universes, {"signs": [[0, 1], [1, -1]], "wins": 0.5}, "the first universe is a tie"),
    (check_own_universes, {"signs": [[1, 1], [1, 1]], "wins": 1}, "nothing turns the winner"),
]  # fmt: skip


@pytest.mark.parametrize("check", RIGHT, ids=lambda check: check.__name__)
def test_a_right_answer_is_right_and_dots_are_asked_for(check: Callable[..., Checked]) -> None:
    found = check(**RIGHT[check])
    assert found, repr(found)
    for name in RIGHT[check]:
        missing = check(**{**RIGHT[check], name: ...})
        assert not missing, name
        for other in ("x", None, [], (..., ...), [None], float("nan"), {}):
            assert not check(**{**RIGHT[check], name: other}), (name, other)


@pytest.mark.parametrize(("check", "changed", "told"), WRONG)
def test_a_usual_wrong_answer_is_told_what_is_wrong(
    check: Callable[..., Checked], changed: dict[str, Any], told: str
) -> None:
    found = check(**{**RIGHT[check], **changed})
    assert not found
    assert told in repr(found)


@pytest.mark.parametrize("kind", [np.array, lambda values: pd.Series(values).rename("n")])
def test_arrays_and_series_are_lists(kind: Callable[[Any], Any]) -> None:
    printed = {"flattest": [4, 3, 3, 3, 2] + [1] * 7, "steepest": [4, 4, 3, 2, 2] + [1] * 7}
    asked = {check: RIGHT[check] for check in RIGHT if check is not check_two_items}
    n_lists = 0
    for check, right in {**asked, check_printed: printed}.items():
        given = {
            name: kind(value) if isinstance(value, list | tuple) and name != "signs" else value
            for name, value in right.items()
        }
        n_lists += sum(given[name] is not right[name] for name in right)
        found = check(**given)
        assert found, found
        if check is not check_printed:  # its call, as it can be pasted into a sheet, says the same
            assert not re.search("array|float64", found.call)
            assert eval(found.call, {check.__name__: check}) == found  # noqa: S307 - our own
    assert n_lists == 12
    assert check_own_universes(**RIGHT[check_own_universes] | {"signs": np.array(SIGNS)})
