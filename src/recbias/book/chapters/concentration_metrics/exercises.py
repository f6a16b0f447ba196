"""Checks of the exercises of chapter 6, "Concentration reinforcement"."""

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
    unfit,
)
from recbias.book.html import number_word

_CASES = (
    ((6, 3, 1, 0), (4, 3, 2, 1)),
    ((1, 3), (1, 3)),
    ((1, 3), (27, 73)),
    ((5, 5, 0), (0, 0, 10)),
    ((2, 1, 1, 1), (10, 0, 0, 0)),
)


def _index(
    prior: Sequence[int], shown: Sequence[int], *, added: float = 1, halves: tuple[float, float]
) -> float:
    """Add up both halves of CI, weighted, with so much added to each count in the logarithms."""
    n, before, after = len(prior), sum(prior), sum(shown)
    total = 0.0
    for s, r in zip(prior, shown, strict=True):
        ratio = math.log((s + added) / (before + added * n))
        ratio -= math.log((r + added) / (after + added * n))
        total += (halves[0] * s / before - halves[1] * r / after) * ratio
    return total


# -- the index -------------------------------------------------------------------------------------
def check_index(index: Callable[[Sequence[int], Sequence[int]], float]) -> Checked:
    """Check a function ``index(prior, shown)`` against CI of five small catalogues.

    Examples
    --------
    >>> check_index(lambda prior, shown: 0.0)
    Not yet: index((6, 3, 1, 0), (4, 3, 2, 1)) gives 0, expected 0.08858. Write the four items one
    under the other: both shares, both smoothed shares, and the logarithm of their ratio.
    """
    for prior, shown in _CASES:
        answer = called(index, prior, shown)
        if isinstance(answer, Checked):
            return answer
        wanted = _index(prior, shown, halves=(0.5, 0.5))
        if abs(answer - wanted) < 1e-6:
            continue
        call = f"index({prior}, {shown}) gives {answer:.4g}, expected {wanted:.4g}. "
        slips = {
            "Both sums are halved.": _index(prior, shown, halves=(1, 1)),
            "That is the first sum alone: the mirrored one is missing.": _index(
                prior, shown, halves=(0.5, 0)
            ),
            "That is the second sum alone: the one over s is missing.": _index(
                prior, shown, halves=(0, 0.5)
            ),
        }
        if min(*prior, *shown) > 0:
            slips["Add one to each count within the logarithms."] = _index(
                prior, shown, added=0, halves=(0.5, 0.5)
            )
        for hint, value in slips.items():
            if abs(answer - value) < 1e-6:
                return not_yet(f"{call}{hint}")
        return not_yet(
            f"{call}Write the {number_word(len(prior))} items one under the other: both shares, "
            "both smoothed shares, and the logarithm of their ratio."
        )
    return right(
        f"it agrees in {len(_CASES)} catalogues. In one of them it is below 0, which a divergence "
        "never is: the logarithms are smoothed, and what they are weighted by is not."
    )


# -- what an even spread does not notice -----------------------------------------------------------
_PRIOR = (6, 3, 1, 0)
_SHOWN = (4, 3, 2, 1)


def _counts(name: str, counts: object, places: int) -> str:
    """Say what is wrong with counts of four items; empty if nothing is."""
    if isinstance(counts, str) or not isinstance(counts, Sequence) or ... in counts:
        return f"{name}: give four numbers in place of the dots."
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts)
    if len(counts) != len(_PRIOR) or not whole or sum(counts) != places:
        return f"{name}: four whole numbers, none below 0, that add up to {places}."
    return ""


def check_blind(shown: Sequence[int]) -> Checked:
    """Check counts that have the Gini coefficient of (4, 3, 2, 1), and a CI above 0.3.

    Examples
    --------
    >>> check_blind((3, 4, 2, 1))
    Not yet: Gini is the same, as it should be, and CI is 0.150. Change what is far apart.
    """
    if wrong := _counts("shown", shown, sum(_SHOWN)):
        return not_yet(wrong)
    value = _index(_PRIOR, shown, halves=(0.5, 0.5))
    if sorted(shown) != sorted(_SHOWN):
        return not_yet(
            "Gini is another one. It knows how many items have how many lists, and not which: keep "
            "the four counts, and give them to other items."
        )
    if not value > 0.3:
        return not_yet(
            f"Gini is the same, as it should be, and CI is {value:.3f}. Change what is far apart."
        )
    return right(
        f"CI is {value:.3f}, and nothing that looks at the counts alone has moved: Gini, Hoover, "
        "entropy, diversity and coverage are what they were."
    )


# -- who is long tail ------------------------------------------------------------------------------
def check_head(*, printed: float, percentile: float) -> Checked:
    """Check how many of 1,000 items LTI counts as head for a lambda of 0.8.

    Examples
    --------
    >>> check_head(printed=200, percentile=200)
    Not yet: printed: lambda is compared with a share of all ratings, and the largest is 0.009.
    """
    hints = {
        "printed": "lambda is compared with a share of all ratings, and the largest is 0.009",
        "percentile": "head is who has more than 80 % of the items below it",
    }
    answers, wanted = {"printed": printed, "percentile": percentile}, {"printed": 0}
    wanted["percentile"] = 200
    wrong = []
    for name, answer in answers.items():
        if not is_number(answer):
            wrong.append(f"{name}: give a number{instead_of(answer)}")
        elif answer != wanted[name]:
            wrong.append(f"{name}: {hints[name]}")
    if wrong:
        return not_yet(f"{'; '.join(wrong)}.")
    return right(
        "as printed, every item is long tail, and listing the most popular one more often raises "
        "LTI as well. With percentiles it lowers it."
    )


# -- more even, and yet nearer ---------------------------------------------------------------------
def _gini(counts: Sequence[int]) -> float:
    """Average the differences of all pairs of items, relative to twice their mean."""
    n = len(counts)
    gaps = sum(abs(a - b) for a in counts for b in counts)
    return gaps / (2 * n * sum(counts))


def check_opposed(a: Sequence[int], b: Sequence[int]) -> Checked:
    """Check two systems of which *a* is more even than *b*, and yet deviates less from the prior.

    Examples
    --------
    >>> check_opposed((3, 3, 2, 2), (6, 3, 1, 0))
    Not yet: Gini is 0.100 for a and 0.500 for b, CI is 0.214 for a and 0.000 for b. b has to
    deviate more: let it list often what was not popular.
    """
    for name, counts in (("a", a), ("b", b)):
        if wrong := _counts(name, counts, sum(_SHOWN)):
            return not_yet(wrong)
    even = [_gini(counts) for counts in (a, b)]
    off = [_index(_PRIOR, counts, halves=(0.5, 0.5)) for counts in (a, b)]
    words = f"Gini is {even[0]:.3f} for a and {even[1]:.3f} for b, CI is {off[0]:.3f} for a and "
    words += f"{off[1]:.3f} for b"
    if not even[0] < even[1] - 1e-9:
        return not_yet(f"{words}. a has to be more even: move a list from its first item.")
    if not off[0] < off[1] - 1e-9:
        return not_yet(f"{words}. b has to deviate more: let it list often what was not popular.")
    return right(
        f"{words}. An even spread, and what was popular stays popular: that is what the poster "
        "wants to be told apart."
    )


# -- one's own ratings and lists -------------------------------------------------------------------
@on_own_data
def check_own_spread(
    *,
    rated: Sequence[int],
    listed: Sequence[int],
    gini_rated: float,
    gini_listed: float,
    more_even: str,
) -> Checked:
    """Check whether the lists of a system are more even than the ratings that it learnt from.

    Examples
    --------
    >>> check_own_spread(
    ...     rated=(6, 3, 1, 0), listed=(4, 3, 2, 1), gini_rated=0.5, gini_listed=0.25,
    ...     more_even="ratings",
    ... )
    Not yet: more_even: Gini is 0 if all have the same, and 0.250 is nearer to it than 0.500.
    """
    for name, counts in (("rated", rated), ("listed", listed)):
        if isinstance(counts, str) or not isinstance(counts, Sequence) or ... in counts:
            return not_yet(f"{name}: give a count for each item in place of the dots.")
        if not all(is_number(n) and n == int(n) and n >= 0 for n in counts) or not sum(counts):
            return not_yet(f"{name}: whole numbers, none below 0, and not all 0.")
    if len(rated) != len(listed):
        return not_yet(
            f"rated has {len(rated):,} items and listed {len(listed):,}: an item that is never "
            "listed counts as 0, in the same place."
        )
    told = {"gini_rated": (gini_rated, rated), "gini_listed": (gini_listed, listed)}
    ginis = []
    for name, (answer, counts) in told.items():
        if wrong := unfit({name: answer}, 1):
            return not_yet(wrong)
        places, n, total = sorted(counts), len(counts), sum(counts)
        gini = sum((2 * k - n - 1) * count for k, count in enumerate(places, 1)) / (n * total)
        shown = [count for count in places if count]
        m = len(shown)
        without = sum((2 * k - m - 1) * count for k, count in enumerate(shown, 1)) / (m * total)
        if abs(answer - gini) > 0.0051:
            slips = {
                "items that have none are items, too": without,
                "that is one less Gini": 1 - gini,
                "divide by n, and not by n - 1": gini * n / (n - 1) if n > 1 else gini,
            }
            hints = [hint for hint, slip in slips.items() if abs(answer - slip) <= 0.0051]
            hint = hints[0] if hints else "the mean difference of all pairs, over twice the mean"
            return not_yet(f"{name}: {hint}.")
        ginis.append(gini)
    even = "lists" if ginis[1] < ginis[0] else "ratings"
    if more_even not in ("lists", "ratings"):
        return not_yet('more_even: "lists" or "ratings", in place of the dots.')
    if more_even != even:
        return not_yet(
            f"more_even: Gini is 0 if all have the same, and {min(ginis):.3f} is nearer to it than "
            f"{max(ginis):.3f}."
        )
    return right(
        f"Gini of ratings {ginis[0]:.3f}, of lists {ginis[1]:.3f}. Whether the next ratings are "
        "more uneven depends as well on which items the lists hold: rank your items by both."
    )
