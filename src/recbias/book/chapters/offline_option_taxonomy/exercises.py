"""Checks of the exercises of chapter 7, "The taxonomy of offline options"."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from recbias.book.exercises import (
    Checked,
    called,
    instead_of,
    is_number,
    not_yet,
    on_own_data,
    right,
)
from recbias.errors import ConfigError
from recbias.experiment.options import Options


# -- full and reduced averages ---------------------------------------------------------------------
def check_averages(*, full: float, needed: float) -> Checked:
    """Check two averages of a system that serves 600 of 1,000 users with a mean precision of .30.

    Examples
    --------
    >>> check_averages(full=0.5, needed=800)
    Not yet: full: that is the reduced average divided by the coverage, as the paper prints it. Who
    is not served adds a zero, and zeros do not raise a mean.
    """
    for name, answer in (("full", full), ("needed", needed)):
        if not is_number(answer):
            return not_yet(f"{name}: give a number{instead_of(answer)}.")
    if abs(full - 0.5) < 1e-9:
        return not_yet(
            "full: that is the reduced average divided by the coverage, as the paper prints it. "
            "Who is not served adds a zero, and zeros do not raise a mean."
        )
    if abs(full - 0.3) < 1e-9:
        return not_yet("full: that is the reduced average, of those who are served.")
    if abs(full - 0.18) > 1e-9:
        return not_yet("full: add up the precision of all 1,000 users, 400 zeros among them.")
    if abs(needed - 0.8) < 1e-9:
        return not_yet("needed: that is the share. How many of the 1,000 users?")
    if abs(needed - 800) > 1e-9:
        return not_yet(
            "needed: its full average is the coverage times .30. At which coverage is that .24?"
        )
    return right(
        "the reduced average puts it ahead of the rival, .30 against .24, and the full one behind, "
        ".18 against .24. Neither says who the 400 are."
    )


# -- a geometric mean ------------------------------------------------------------------------------
_CASES: tuple[tuple[tuple[float, ...], float], ...] = (
    ((0.0, 0.1, 0.4), 0.01),
    ((0.2, 0.2), 1e-5),
    ((0.0, 0.1, 0.4), 1e-5),
    ((0.0, 0.0, 1.0, 1.0), 1e-5),
)


def _geometric(values: Sequence[float], epsilon: float) -> float:
    logs = [math.log(value + epsilon) for value in values]
    return math.exp(sum(logs) / len(logs)) - epsilon


def check_geometric(geometric: Callable[[Sequence[float], float], float]) -> Checked:
    """Check a function ``geometric(values, epsilon)`` on four small sets of users.

    Examples
    --------
    >>> check_geometric(lambda values, epsilon: sum(values) / len(values))
    Not yet: geometric((0.0, 0.1, 0.4), 0.01) gives 0.16667, expected 0.06669. That is the
    arithmetic mean: take the mean of the logarithms.
    """
    for values, epsilon in _CASES:
        answer = called(geometric, values, epsilon)
        if isinstance(answer, Checked):
            return answer
        wanted = _geometric(values, epsilon)
        if abs(answer - wanted) < 1e-8:
            continue
        call = f"geometric({values}, {epsilon:g}) gives {answer:.5g}, expected {wanted:.4g}. "
        slips = {
            "That is the arithmetic mean: take the mean of the logarithms.": sum(values)
            / len(values),
            "Take epsilon off again at the end.": wanted + epsilon,
            "That is still a logarithm: it wants exp.": math.log(wanted + epsilon),
        }
        for hint, value in slips.items():
            if abs(answer - value) < 1e-8:
                return not_yet(f"{call}{hint}")
        return not_yet(
            f"{call}Add epsilon to each value, take the mean of the logarithms, go back with exp, "
            "and take epsilon off."
        )
    return right(
        "it agrees in all cases. Half of the users at 0 and half at 1 have a geometric mean of "
        f"{_geometric((0, 0, 1, 1), 1e-5):.4f}: with many zeros it tells how many there are."
    )


# -- weights that turn the winner ------------------------------------------------------------------
def _pair(name: str, values: object) -> str:
    """Say what is wrong with the numbers of two users; empty if nothing is."""
    if isinstance(values, str) or not isinstance(values, Sequence) or ... in values:
        return f"{name}: give two numbers in place of the dots."
    if len(values) != 2 or not all(is_number(value) for value in values):
        return f"{name}: two numbers, one for each user."
    return ""


def check_weights(*, a: Sequence[float], b: Sequence[float], ratings: Sequence[int]) -> Checked:
    """Check two users for whom weights by ratings turn the winner.

    Examples
    --------
    >>> check_weights(a=(0.4, 0.2), b=(0.3, 0.2), ratings=(10, 10))
    Not yet: the mean is 0.300 for a and 0.250 for b; weighted it is 0.300 and 0.250. By the plain
    mean b has to be ahead.
    """
    for name, values in (("a", a), ("b", b), ("ratings", ratings)):
        if wrong := _pair(name, values):
            return not_yet(wrong)
    if not all(0 <= precision <= 1 for precision in (*a, *b)):
        return not_yet("a and b: a precision lies between 0 and 1.")
    if not all(count == int(count) and count >= 1 for count in ratings):
        return not_yet("ratings: whole numbers from 1 on.")
    means = [sum(precisions) / 2 for precisions in (a, b)]
    weighted = [
        sum(weight * value for weight, value in zip(ratings, precisions, strict=True))
        / sum(ratings)
        for precisions in (a, b)
    ]
    summary = f"the mean is {means[0]:.3f} for a and {means[1]:.3f} for b; "
    summary += f"weighted it is {weighted[0]:.3f} and {weighted[1]:.3f}"
    if not means[1] > means[0] + 1e-9:
        return not_yet(f"{summary}. By the plain mean b has to be ahead.")
    if not weighted[0] > weighted[1] + 1e-9:
        return not_yet(
            f"{summary}. With weights a has to be ahead: let it win for the user with more "
            "ratings, and give that user more of them."
        )
    return right(f"{summary}. Nothing was measured anew: the same four numbers have two winners.")


# -- options in words ------------------------------------------------------------------------------
_WANTED = (
    "data: users>=20; split: ratio 0.2; seed: 7; "
    "lists: AI-AN-AR rel>=4 users=trained weights=ratings; metric: nDCG@5; gain: exp; "
    "pairs: wilcoxon"
)
_HINTS: tuple[tuple[str, Callable[[Options], object], str], ...] = (
    ("A1", lambda it: it.select, "who has fewer than 20 ratings is left out, by users>=20"),
    ("A2", lambda it: it.split, "a random fifth of the ratings is for testing, as ratio says"),
    ("A2", lambda it: it.seed, "the split was drawn with seed 7"),
    ("C1", lambda it: it.protocol.condensed, "all items of the catalogue are ranked, so that "
     "lists are full"),
    ("C1", lambda it: it.protocol.rule, "all items, all that is not relevant, all that is: "
     "AI-AN-AR"),
    ("C2", lambda it: it.protocol.min_rating, "relevant are ratings of 4 or more"),
    ("B1", lambda it: it.protocol.averaging.population, "who has no training rating does not "
     "count: users=trained"),
    ("B2", lambda it: it.protocol.unscored, "what has no score is left out, which needs no word"),
    ("C3", lambda it: it.protocol.averaging.weights, "users weigh as many as they have test "
     "ratings: weights=ratings"),
    ("C3", lambda it: it.protocol.averaging.statistic, "the statistic is a mean, which needs no "
     "word"),
    ("C4", lambda it: it.protocol.averaging.coverage, "users without a list count as 0, which "
     "needs no word"),
    ("C2", lambda it: it.metric, "the metric is nDCG at depth 5"),
    ("C2", lambda it: it.gain, "the gain is exponential, exp"),
    ("C2", lambda it: it.test, "all observed test ratings count"),
    ("D", lambda it: it.pairs, "the test is Wilcoxon's: pairs: wilcoxon"),
)  # fmt: skip
"""What each decision of the exercise is, with a hint where it is another one."""


def check_options(text: str) -> Checked:
    """Check the options of an experiment that was described in words.

    Examples
    --------
    >>> check_options("split: ratio 0.8; lists: AI-AN-AR rel>=4; metric: nDCG@5")
    Not yet: A1: who has fewer than 20 ratings is left out, by users>=20. 6 more of the decisions
    are others.
    """
    if not isinstance(text, str) or "..." in text:
        return not_yet("write the options as text, in place of the dots.")
    try:
        options = Options.parse(text)
    except ConfigError as error:
        return not_yet(f"that cannot be read: {error}")
    wanted = Options.parse(_WANTED)
    wrong = [
        f"{decision}: {hint}" for decision, read, hint in _HINTS if read(options) != read(wanted)
    ]
    if not wrong:
        return right(
            "whoever has the ratings can repeat the experiment from this line, and no other one."
        )
    more = f" {len(wrong) - 1} more of the decisions are others." if len(wrong) > 2 else ""
    more = more or (" One more of the decisions is another." if len(wrong) == 2 else "")
    return not_yet(f"{wrong[0]}.{more}")


# -- one decision turned, on one's own data --------------------------------------------------------
@on_own_data
def check_own_turn(
    *,
    first: str,
    second: str,
    values_first: Sequence[float],
    values_second: Sequence[float],
    turned: bool,
) -> Checked:
    """Check two lines of options that differ in one decision, and whether it turns the winner.

    Examples
    --------
    >>> check_own_turn(
    ...     first="split: ratio 0.2; lists: AI-AN-AR rel>=4; metric: P@10",
    ...     second="split: ratio 0.2; lists: TI-AN-AR rel>=4; metric: RR",
    ...     values_first=(0.2, 0.1), values_second=(0.3, 0.4), turned=True,
    ... )
    Not yet: the lines differ in lists and metric. Change one thing, so that one knows what did it.
    """
    read = []
    for name, line in (("first", first), ("second", second)):
        if not isinstance(line, str) or "..." in line:
            return not_yet(f"{name}: write the options as text, in place of the dots.")
        try:
            read.append(Options.parse(line))
        except ConfigError as error:
            return not_yet(f"{name}: that cannot be read: {error}")
    parts = {
        "data": lambda it: it.select,
        "split": lambda it: it.split,
        "seed": lambda it: it.seed,
        "lists": lambda it: it.protocol,
        "metric": lambda it: it.metric,
        "gain": lambda it: it.gain,
        "test": lambda it: it.test,
        "pairs": lambda it: it.pairs,
    }  # fmt: skip
    other = [part for part, of in parts.items() if of(read[0]) != of(read[1])]
    if not other:
        return not_yet("the two lines say the same: change one decision in the second.")
    if len(other) > 1:
        return not_yet(
            f"the lines differ in {' and '.join(other)}. Change one thing, so that one knows what "
            "did it."
        )
    for name, values in (("values_first", values_first), ("values_second", values_second)):
        if wrong := _pair(name, values):
            return not_yet(wrong)
    gaps = [values[0] - values[1] for values in (values_first, values_second)]
    if not all(gaps):
        return not_yet("where both have the same value nobody wins: give more digits.")
    if not isinstance(turned, bool):
        return not_yet("turned: True or False, in place of the dots.")
    if turned != (gaps[0] * gaps[1] < 0):
        who = ["the one" if gap > 0 else "the other" for gap in gaps]
        return not_yet(f"turned: {who[0]} wins by the first line, {who[1]} by the second.")
    return right(
        f"{other[0]} {'turns' if turned else 'does not turn'} the winner. Whether it would with "
        "other users, an interval of the difference tells."
    )
