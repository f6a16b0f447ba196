"""Checks of the exercises of chapter 4, "Overcoming popularity bias"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby

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


# -- a mean over percentiles -----------------------------------------------------------------------
def check_p1r(p1r: Callable[[Sequence[int], Sequence[int], int], float]) -> Checked:
    """Check ``p1r(hits, runs, n)``, precision over popularity percentiles, run by run.

    Examples
    --------
    >>> check_p1r(lambda hits, runs, n: sum(hits) / sum(runs) / n)
    Not yet: p1r([8, 1], [10, 2], 10) gives 0.075. In the first percentile a run scores 0.08 on
    average; every percentile with runs counts as much as any other.
    """
    cases = (
        ([8, 1], [10, 2], 10),
        ([3, 3, 0], [4, 6, 5], 5),
        ([2, 0, 1], [4, 0, 2], 1),
        ([5, 4, 0, 0], [9, 8, 1, 0], 10),
    )
    for hits, runs, n in cases:
        score = called(p1r, hits, runs, n)
        if isinstance(score, Checked):
            return score
        of_groups = []
        for hit, number in zip(hits, runs, strict=True):
            scores = [Fraction(int(run < hit), n) for run in range(number)]
            if scores:
                of_groups.append(sum(scores) / len(scores))
        wanted = sum(of_groups) / len(of_groups)
        if not is_exact(score, wanted):
            empty = " One has none, and no score." if 0 in runs else ""
            return inexact(
                score,
                wanted,
                f"p1r({hits}, {runs}, {n}) gives {score:.4g}. In the first percentile a run scores "
                f"{float(of_groups[0]):.4g} on average; every percentile with runs counts as much "
                f"as any other.{empty}",
            )
    return right(
        "a run among the least popular items counts more than one among the most popular, because "
        "there are fewer. That takes popularity's advantage away, and makes the value noisy."
    )


# -- a uniform test --------------------------------------------------------------------------------
_UNIFORM = (
    ((10, 8, 5, 4, 2, 1), 0.42, 0.2),
    ((16, 8, 4, 2, 2), 0.25, 0.5),
    ((12, 12, 12, 12), 0.5, 0.25),
    ((40, 9, 8, 8, 7, 3), 0.3, 0.25),
    ((9, 7, 7, 1), 0.3, 0.5),
)
"""Ratings of items, sigma and eps; only powers of two make a product equal to sigma."""


def check_uniform(
    n_items: Callable[[Sequence[int], float, float], float],
    quota: Callable[[Sequence[int], float, float], float],
) -> Checked:
    """Check two functions of ``(counts, sigma, eps)`` that set up a uniform test.

    Examples
    --------
    >>> check_uniform(lambda counts, sigma, eps: 2, lambda counts, sigma, eps: 6)
    Not yet: n_items((10, 8, 5, 4, 2, 1), 0.42, 0.2) gives 2. Of all 30 ratings a test of the first
    4 items could have 12.8, which is a share of 0.427, and 0.42 is asked for.
    """
    for counts, sigma, eps in _UNIFORM:
        spared, total = 1 - Fraction(str(eps)), sum(counts)
        largest = {k: spared * counts[k - 1] * k for k in range(1, len(counts) + 1)}
        last = max(k for k, size in largest.items() if size >= Fraction(str(sigma)) * total)
        answer = called(n_items, counts, sigma, eps)
        if isinstance(answer, Checked):
            return answer
        if answer != last:
            return not_yet(
                f"n_items({counts}, {sigma:g}, {eps:g}) gives {answer:g}. Of all {total} ratings a "
                f"test of the first {last} items could have {float(largest[last]):g}, which is a "
                f"share of {float(largest[last] / total):.3f}, and {sigma:g} is asked for."
            )
        answer = called(quota, counts, sigma, eps)
        if isinstance(answer, Checked):
            return answer
        limit = spared * counts[last - 1]
        if answer != max(number for number in range(counts[0] + 1) if number <= limit):
            return not_yet(
                f"quota({counts}, {sigma:g}, {eps:g}) gives {answer:g}. The last of the {last} "
                f"items may give {float(limit):g} of its {counts[last - 1]} ratings, and a rating "
                "cannot be divided."
            )
    return right(
        "the share falls and rises again along the items, so that the last that is large enough "
        "counts, not the first that is too small."
    )


# -- bpref -----------------------------------------------------------------------------------------
def check_bpref(bpref: Callable[[str, int, int], float]) -> Checked:
    """Check ``bpref(listed, n_liked, n_disliked)`` on lists of judged and unjudged items.

    Examples
    --------
    >>> check_bpref(lambda listed, n_liked, n_disliked: listed.count("+") / n_liked)
    Not yet: bpref('-+?-+', 3, 2) gives 0.6667. Of the 3 liked items, in order: 1 disliked item
    above it, of at most 2 that count, is worth 1/2; 2 disliked items above it, of at most 2 that
    count, is worth 0; not listed, is worth 0.
    """
    cases = (
        ("-+?-+", 3, 2),
        ("---+", 1, 3),
        ("-++++", 6, 4),
        ("+?+", 2, 0),
        ("?-?", 2, 3),
        ("+-", 1, 1),
        ("--+-+", 2, 5),
    )
    for listed, n_liked, n_disliked in cases:
        answer = called(bpref, listed, n_liked, n_disliked)
        if isinstance(answer, Checked):
            return answer
        worth, reasons = _worth(listed, n_liked, n_disliked)
        wanted = sum(worth) / n_liked
        if not is_exact(answer, wanted):
            them = "1 liked item" if n_liked == 1 else f"{n_liked} liked items, in order"
            return inexact(
                answer,
                wanted,
                f"bpref({listed!r}, {n_liked}, {n_disliked}) gives {answer:.4g}. Of the {them}: "
                f"{'; '.join(reasons)}.",
            )
    return right(
        "unjudged items count for nothing, wherever they stand. Where nothing is disliked, the "
        "value is the share of the liked items that are listed at all."
    )


def _worth(listed: str, n_liked: int, n_disliked: int) -> tuple[list[Fraction], list[str]]:
    """Say of each liked item what it adds, and why; those of one kind are told once."""
    cap = min(n_liked, n_disliked)
    worth, reasons = [], []
    for place, judged in enumerate(listed):
        if judged != "+":
            continue
        above = listed[:place].count("-")
        worth.append(1 - Fraction(min(above, cap), cap) if above else Fraction(1))
        items = "item" if above == 1 else "items"
        of_most = f", of at most {cap} that count" if above else ""
        reasons.append(f"{above} disliked {items} above it{of_most}, is worth {worth[-1]}")
    n_missing = n_liked - len(worth)
    reasons += ["not listed, is worth 0"] * n_missing
    worth += [Fraction(0)] * n_missing
    return worth, [text for text, _ in groupby(reasons)]


# -- the weight of a hit ---------------------------------------------------------------------------
def check_weight(weight: Callable[[float, float], float]) -> Checked:
    """Check ``weight(p, sigma)``, by which hits on observed ratings stand for true ones.

    Examples
    --------
    >>> check_weight(lambda p, sigma: 1)
    Not yet: of 1000 users who like an item, with p = 0.1 and sigma = 0.5, 950 lack it in training,
    and the test knows 50 of them; with p = 0.5 they are 750 and 250. A hit should weigh 6.333
    times as much in the first case, and weighs 1.
    """
    for sigma in (0.5, 0.2, 0.8):
        for low, high in ((0.1, 0.5), (0.25, 1.0), (0.02, 0.9)):
            weights = []
            for p in (low, high):
                answer = called(weight, p, sigma)
                if isinstance(answer, Checked):
                    return answer
                weights.append(answer)
            outcomes = [_likers(p, sigma) for p in (low, high)]
            (few, known_few), (many, known_many) = outcomes
            wanted = (few / known_few) / (many / known_many)
            if weights[1] <= 0 or abs(weights[0] / weights[1] - wanted) > 1e-6 * wanted:
                is_given = f"{weights[0] / weights[1]:.4g}" if weights[1] else "cannot be divided"
                return not_yet(
                    f"of 1000 users who like an item, with p = {low:g} and sigma = {sigma:g}, "
                    f"{few:.4g} lack it in training, and the test knows {known_few:.4g} of them; "
                    f"with p = {high:g} they are {many:.4g} and {known_many:.4g}. A hit should "
                    f"weigh {wanted:.4g} times as much in the first case, and weighs {is_given}."
                )
    return right(
        "these are the weights that make stratified recall an estimate of true recall. They ask "
        "for the probability that a like is rated, which ratings alone do not tell."
    )


def _likers(p: float, sigma: float) -> tuple[float, float]:
    """Count, of 1000 who like an item, those who lack it in training and those in the test."""
    states = {"training": p * (1 - sigma), "test": p * sigma, "not rated": 1 - p}
    outside = sum(share for name, share in states.items() if name != "training")
    return 1000 * outside, 1000 * states["test"]


# -- two items, by hand ----------------------------------------------------------------------------
def check_two_items(*, tested: Sequence[float], left: Sequence[float], factor: float) -> Checked:
    """Check by what factor a hit on a rarely rated item must count more, by hand.

    Examples
    --------
    >>> check_two_items(tested=(20, 5), left=(80, 95), factor=4)
    Not yet: factor: that is how much oftener the likes of a are rated. A hit on a stands for 80 /
    20 likes outside training; for how many does one on b?
    """
    pairs = {"tested": (tested, (20, 5)), "left": (left, (80, 95))}
    slips: dict[tuple[str, tuple[float, ...]], str] = {
        ("tested", (40, 10)): "half of the ratings go to training",
        ("left", (60, 90)): "likes in the test are outside training, too",
        ("left", (20, 5)): "likes that nobody rated are outside training, too",
    }
    for name, (answer, wanted) in pairs.items():
        if isinstance(answer, str) or not isinstance(answer, Sequence) or len(answer) != 2:
            return not_yet(f"{name}: two numbers, of a and of b, in place of the dots.")
        if not all(map(is_number, answer)):
            return not_yet(f"{name}: give numbers in place of the dots.")
        if tuple(answer) != wanted:
            counts = "100 like each; which are rated, and which of those are tested?"
            return not_yet(f"{name}: {slips.get((name, tuple(answer)), counts)}")
    if not is_number(factor):
        return not_yet(f"factor: give a number{instead_of(factor)}.")
    if not is_near(factor, 4.75, 0.002):
        hint = "A hit on a stands for 80 / 20 likes outside training; for how many does one on b?"
        if is_near(factor, 4):
            hint = f"that is how much oftener the likes of a are rated. {hint}"
        elif is_near(factor, 4 / 19):
            hint = "that is by how much a hit on a counts, of one on b."
        return not_yet(f"factor: {hint}")
    return right("19 likes for a hit on b, 4 for one on a: what is rarely rated has to count more.")


# -- a uniform test on one's own data --------------------------------------------------------------
@on_own_data
def check_own_uniform(
    *,
    plain: Sequence[float],
    uniform: Sequence[float],
    lead_plain: float,
    lead_uniform: float,
    kept: float,
) -> Checked:
    """Check how much of Popularity's lead over Random a uniform test leaves, on one's own table.

    Examples
    --------
    >>> check_own_uniform(
    ...     plain=(0.12, 0.01), uniform=(0.02, 0.01), lead_plain=0.11, lead_uniform=0.01, kept=0.17
    ... )
    Not yet: kept: it is lead_uniform over lead_plain, 0.0909.
    """
    for name, pair in (("plain", plain), ("uniform", uniform)):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            return not_yet(f"{name}: two numbers, of Popularity and Random, in place of the dots.")
        if told := unfit({f"{name}, Popularity": pair[0], f"{name}, Random": pair[1]}, 1):
            return not_yet(told)
    leads = {"lead_plain": (lead_plain, plain), "lead_uniform": (lead_uniform, uniform)}
    for name, (answer, pair) in leads.items():
        if not is_number(answer):
            return not_yet(f"{name}: give a number{instead_of(answer)}.")
        if abs(answer - (pair[0] - pair[1])) > 0.0006:
            turned = abs(answer - (pair[1] - pair[0])) <= 0.0006
            hint = "Popularity's value less Random's"
            return not_yet(f"{name}: {hint}{', not the reverse' if turned else ''}.")
    if not plain[0] - plain[1] > 0:
        return not_yet("plain: Popularity does not lead Random there, so that nothing can be lost.")
    wanted = (uniform[0] - uniform[1]) / (plain[0] - plain[1])
    if not is_number(kept):
        return not_yet(f"kept: give a number{instead_of(kept)}.")
    if abs(kept - wanted) > 0.02:
        if abs(kept - (1 - wanted)) <= 0.02:
            return not_yet("kept: that is the share that is lost.")
        return not_yet(f"kept: it is lead_uniform over lead_plain, {wanted:.3g}.")
    return right(
        f"a uniform test leaves {100 * wanted:.0f} % of the lead. How much of the rest was "
        "popularity, and how much is that popular items are liked, this test cannot tell."
    )
