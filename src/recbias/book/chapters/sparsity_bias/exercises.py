"""Checks of the exercises of chapter 2, "Sparsity bias"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

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

# -- what is left ----------------------------------------------------------------------------------
_LEFT = {
    "precision": Fraction(72, 1000),
    "rho": Fraction(18, 10_000),
    "ratio": Fraction(40),
    "runs": Fraction(62, 1000),
}

_SHARE = 0.002
"""By what share a number may be off: three digits are enough."""

_SLIPS = {
    "precision": {
        Fraction(108, 1000): "that is what goes, not what stays",
        Fraction(18, 100): "the lists stay, but a hit is a test rating, and those go",
        Fraction(45, 100): "fewer test ratings make fewer hits",
    },
    "rho": {
        Fraction(45, 10_000): "relevant items go, target sets stay as large as they are",
        Fraction(27, 10_000): "that is what goes, not what stays",
        Fraction(1125, 100_000): "fewer test ratings make fewer relevant items",
    },
    "ratio": {
        Fraction(16): "both parts of the ratio fall",
        Fraction(100): "both parts of the ratio fall",
    },
    "runs": {
        Fraction(248, 10_000): "hits go, and so do runs",
        Fraction(155, 1000): "hits go, and so do runs",
        Fraction(372, 10_000): "hits go, and so do runs",
    },
}


def check_thinned(*, precision: float, rho: float, ratio: float, runs: float) -> Checked:
    """Check what is expected of four numbers when six of ten test ratings are taken out.

    Examples
    --------
    >>> check_thinned(precision=0.072, rho=0.0018, ratio=16, runs=0.062)
    Not yet: ratio: both parts of the ratio fall.
    """
    answers = {"precision": precision, "rho": rho, "ratio": ratio, "runs": runs}
    wrong = []
    for name, answer in answers.items():
        if not is_number(answer):
            wrong.append(f"{name}: give a number{instead_of(answer)}")
        elif abs(answer / float(_LEFT[name]) - 1) > _SHARE:
            hints = [
                hint
                for slip, hint in _SLIPS[name].items()
                if abs(answer / float(slip) - 1) <= _SHARE
            ]
            wrong.append(f"{name}: {hints[0] if hints else 'what becomes of hits, and of runs?'}")
    if wrong:
        return not_yet(f"{'; '.join(wrong)}.")
    return right("the recommender is what it was, and so are the two numbers that say so.")


# -- two systems that turn -------------------------------------------------------------------------
_OTHERS = 20
"""Items that may be sampled for each run of the exercise."""


def _first(above: int, draws: int) -> Fraction:
    """Count the samples of which no item stands above the relevant one."""
    samples = list(combinations(range(_OTHERS), draws))
    return Fraction(sum(drawn[0] >= above for drawn in samples), len(samples))


def check_turn(above_a: Sequence[int], above_b: Sequence[int]) -> Checked:
    """Check two systems of which the first leads among two items, and the second among all.

    Examples
    --------
    >>> check_turn((0, 5), (1, 15))
    Not yet: among all items A hits in 1 and B in 0 of the two runs, so that A leads there too. B
    has to be first more often, and far down where it is not.
    """
    for name, above in (("above_a", above_a), ("above_b", above_b)):
        if isinstance(above, str) or not isinstance(above, Sequence) or ... in above:
            return not_yet(f"{name}: give two numbers in place of the dots.")
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in above)
        if len(above) != 2 or not whole or not all(0 <= n <= _OTHERS for n in above):
            return not_yet(f"{name}: two runs, with 0 to {_OTHERS} items above in each.")
    pair = [[_first(n, 1) for n in above] for above in (above_a, above_b)]
    sampled = [sum(chances) / 2 for chances in pair]
    every = [sum(n == 0 for n in above) for above in (above_a, above_b)]
    if every[1] <= every[0]:
        lead = "A leads there too" if every[0] > every[1] else "nobody leads there"
        return not_yet(
            f"among all items A hits in {every[0]} and B in {every[1]} of the two runs, so that "
            f"{lead}. B has to be first more often, and far down where it is not."
        )
    words = f"A is expected to hit in {float(sampled[0]):.3f} of the runs, B in "
    words += f"{float(sampled[1]):.3f}"
    if sampled[0] <= sampled[1]:
        return not_yet(
            f"among all items B leads, as it should. Against one sampled item {words}. Move the "
            "items of A up, but not to the very top, or the other item of B down."
        )
    return right(
        f"against one sampled item {words}; among all items B is first more often. No number of "
        "repeated draws at t = 2 would tell."
    )


# -- one drawn evaluation --------------------------------------------------------------------------
_CASES = (
    (0.5, 0.4, 1),
    (0.75, 0.2, 2),
    (0.5, 0.5, 3),
    (0.9, 0.6, 4),
    (1.0, 0.3, 2),
    (0.2, 0.1, 5),
    (0.3, 0.6, 2),
)


def _wrong(a: float, b: float, n_runs: int) -> tuple[float, float]:
    """Go through all outcomes of all runs: the chance that b has more hits, and that of a tie."""
    behind = tied = 0.0
    for outcome in product((0, 1), repeat=2 * n_runs):
        hits_a, hits_b = sum(outcome[:n_runs]), sum(outcome[n_runs:])
        chance = a**hits_a * (1 - a) ** (n_runs - hits_a) * b**hits_b * (1 - b) ** (n_runs - hits_b)
        behind += chance * (hits_b > hits_a)
        tied += chance * (hits_b == hits_a)
    return behind, tied


def check_drawn(wrong: Callable[[float, float, int], float]) -> Checked:
    """Check a function ``wrong(a, b, n_runs)`` against all outcomes of all runs.

    Examples
    --------
    >>> check_drawn(lambda a, b, n_runs: b * (1 - a))
    Not yet: wrong(0.5, 0.4, 1) gives 0.2. B alone is ahead with chance 0.2, and with chance 0.5
    both have as many hits: count half of that.
    """
    for a, b, n_runs in _CASES:
        answer = called(wrong, a, b, n_runs)
        if isinstance(answer, Checked):
            return answer
        behind, tied = _wrong(a, b, n_runs)
        if is_exact(answer, behind + tied / 2):
            continue
        call = f"wrong({a:g}, {b:g}, {n_runs}) gives {answer:.4g}. "
        if abs(answer - behind) < 1e-9:
            return not_yet(
                f"{call}B alone is ahead with chance {behind:.4g}, and with chance {tied:.4g} both "
                "have as many hits: count half of that."
            )
        if abs(answer - behind - tied) < 1e-9:
            return not_yet(f"{call}That counts ties in full, where a coin would be tossed.")
        return inexact(
            answer,
            behind + tied / 2,
            f"{call}Write down with what chance A has 0 to {n_runs} hits, the same for B, and go "
            "through all pairs of them.",
        )
    return right(
        f"it agrees with the sum over all outcomes in {len(_CASES)} cases. With many runs of "
        "different chances the package does the same, from one ranking."
    )


# -- samples that are shared -----------------------------------------------------------------------
def check_shared(*, most: float, least: float) -> Checked:
    """Check between what the chance lies that only B hits, if A hits with .7 and B with .5.

    Examples
    --------
    >>> check_shared(most=0.15, least=0.0)
    Not yet: most: 0.15 is the chance if samples are drawn apart; shared ones may do worse.
    """
    hints = {
        "most": {
            0.15: "0.15 is the chance if samples are drawn apart; shared ones may do worse",
            0.5: "if B hits in half of all samples and A in .7 of them, some samples have both",
            0.7: "that is the chance of A to hit",
            0.35: "that is the chance that only A hits, if samples are drawn apart",
        },
        "least": {
            0.15: "0.15 is the chance if samples are drawn apart; shared ones may do better",
            0.2: "that is the least chance that only A hits",
            -0.2: "no chance is below 0",
            0.3: "that is the largest chance",
        },
    }
    answers, wanted = {"most": most, "least": least}, {"most": 0.3, "least": 0.0}
    wrong = []
    for name, answer in answers.items():
        if not is_number(answer):
            wrong.append(f"{name}: give a number{instead_of(answer)}")
        elif abs(answer - wanted[name]) > 0.0005:
            matching = [hint for slip, hint in hints[name].items() if abs(answer - slip) < 0.0005]
            wrong.append(
                f"{name}: {matching[0] if matching else 'draw the two hits as parts of one bar'}"
            )
    if wrong:
        return not_yet(f"{'; '.join(wrong)}.")
    return right(
        "drawn apart it is 0.15, in the middle. Where both systems put the same items above the "
        "relevant one, the same samples make both miss, and their order is surer than drawn apart."
    )


# -- one's own data, thinned out -------------------------------------------------------------------
@on_own_data
def check_own_thinned(
    *,
    kept: float,
    p: float,
    p_thinned: float,
    rho: float,
    rho_thinned: float,
    ratio: float,
    ratio_thinned: float,
) -> Checked:
    """Check precision and rho on a table of one's own, before and after thinning its test.

    Examples
    --------
    >>> measured = {"kept": 0.4, "p": 0.2, "p_thinned": 0.08, "rho": 0.01, "rho_thinned": 0.004}
    >>> check_own_thinned(**measured, ratio=20, ratio_thinned=8)
    Not yet: ratio_thinned: it is p_thinned over rho_thinned, 20: both from the same test.
    """
    measured = {"kept": kept, "p": p, "p_thinned": p_thinned, "rho": rho}
    measured["rho_thinned"] = rho_thinned
    if told := unfit(measured, 1) or unfit({"ratio": ratio, "ratio_thinned": ratio_thinned}):
        return not_yet(told)
    if not 0 < kept < 1 or not rho or not rho_thinned:
        return not_yet("kept, rho and rho_thinned: above 0, and kept below 1: some stay, some go.")
    if p_thinned > p + 1e-9:
        return not_yet(
            "p_thinned: fewer test ratings give the same lists no more hits. Keep training, users "
            "and candidates, and thin out the test only."
        )
    if is_near(rho_thinned, (1 - kept) * rho, 0.1) and not is_near(kept, 0.5, 0.1):
        return not_yet("kept: that is the share taken out, by what rho says.")
    if not is_near(rho_thinned, kept * rho, 0.2):
        return not_yet(
            f"rho_thinned: {kept:g} of the test ratings are kept, so rho falls to about "
            f"{kept * rho:.3g} if users and candidates stay, and not to {rho_thinned:.3g}."
        )
    for name, answer, wanted in (
        ("", ratio, p / rho),
        ("_thinned", ratio_thinned, p_thinned / rho_thinned),
    ):
        if not is_near(answer, wanted, 0.02):
            return not_yet(
                f"ratio{name}: it is p{name} over rho{name}, {wanted:.3g}: both from the same test."
            )
    return right(
        f"precision fell to {p_thinned / p if p else 0:.2g} of what it was, and what the "
        f"recommender is worth beside a random ranking went from {ratio:.3g} to "
        f"{ratio_thinned:.3g}. What is not luck of the draw is that the first says nothing of it."
    )
