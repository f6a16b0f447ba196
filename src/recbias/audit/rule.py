"""The rule by which an audit says whether a sentence holds: fixed before its first result."""

from __future__ import annotations

from typing import Literal

__all__ = ["EXIT_CODES", "SHARE", "Answer", "answer", "because", "rule_said"]

Answer = Literal["holds", "does not hold", "open"]

SHARE = 0.9
"""Of the defensible designs, each decision's options weighing alike, that one side has to win."""

EXIT_CODES: dict[Answer, int] = {"holds": 0, "does not hold": 3, "open": 4}
"""With which a command ends; 2 stays the one of what cannot run."""


def answer(low: float, high: float, won: float, lost: float) -> Answer:
    """Say whether "A beats B" holds.

    Parameters
    ----------
    low, high
        95 % interval of the difference under the reader's own design, positive where A is better;
        NaN where there is none.
    won, lost
        Shares of the designs in which A is better, and worse.

    Returns
    -------
    str
        ``"does not hold"`` is said first: an own interval above 0 does not help where nine in ten
        designs say otherwise.

    Examples
    --------
    >>> answer(0.01, 0.03, 0.95, 0.05), answer(0.01, 0.03, 0.6, 0.4), answer(-0.02, 0.01, 1.0, 0.0)
    ('holds', 'open', 'open')
    >>> answer(-0.02, -0.01, 0.6, 0.4), answer(0.01, 0.03, 0.05, 0.95)
    ('does not hold', 'does not hold')
    """
    if high < 0 or _reaches(lost):
        return "does not hold"
    return "holds" if low > 0 and _reaches(won) else "open"


def because(a: str, low: float, high: float, won: float, lost: float) -> str:
    """Say which parts of the rule an answer rests on, of the same numbers.

    Examples
    --------
    >>> because("X", 0.01, 0.03, 0.6, 0.4)
    'X wins in fewer than 90 % of the designs'
    >>> because("X", -0.02, 0.01, 1.0, 0.0)
    'the interval does not lie above 0'
    """
    own, share = high < 0, f"{100 * SHARE:.0f} %"
    if answer(low, high, won, lost) == "does not hold":
        parts = {"the interval lies below 0": own,
                 f"{a} loses in at least {share} of the designs": _reaches(lost)}  # fmt: skip
    else:
        parts = {"the interval lies above 0": low > 0,
                 f"{a} wins in at least {share} of the designs": _reaches(won)}  # fmt: skip
        if answer(low, high, won, lost) == "open":
            few = f"{a} wins in fewer than {share} of the designs"
            parts = {"the interval does not lie above 0": not low > 0, few: not _reaches(won)}
    return " and ".join(words for words, true in parts.items() if true)


def _reaches(share: float) -> bool:
    """Compare as numbers that are sums of weights, whose last digits are chance."""
    return round(share, 9) >= SHARE


def rule_said(a: str, b: str) -> str:
    """Say the rule in words, of two systems."""
    return (
        f'"{a} beats {b}" holds if the 95 % interval of their difference lies above 0 under your '
        f"own design, and {a} wins in at least {SHARE:.0%} of the defensible designs, the options "
        f"of each decision weighing alike. It does not hold if that interval lies below 0, or {a} "
        f"loses in at least {SHARE:.0%}. Else it is open."
    )
