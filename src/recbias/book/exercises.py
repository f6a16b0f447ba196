"""What the check of an exercise says of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True, repr=False)
class Checked:
    """What a check says of an answer; true if it is right.

    Attributes
    ----------
    is_right
        Whether the answer is right.
    text
        What the reader sees.
    call
        The call of the check with its numbers written out, if they are of the reader's own data.

    Examples
    --------
    >>> right("so it is.")
    Right: so it is.
    >>> bool(not_yet("count again."))
    False
    """

    is_right: bool
    text: str
    call: str = ""

    def __bool__(self) -> bool:
        return self.is_right

    def __repr__(self) -> str:
        if not self.call:
            return self.text
        return (
            f"{self.text}\nGrading reads no file and trains no system. Hand in your numbers: below "
            f"the import, leave this call alone.\n{self.call}"
        )


def right(text: str) -> Checked:
    """Say that an answer is right, and what follows from it."""
    return Checked(True, f"Right: {text}")


def not_yet(text: str) -> Checked:
    """Say that an answer is not right, and where to look."""
    return Checked(False, f"Not yet: {text}")


def is_number(answer: object) -> bool:
    """Tell a finite number from anything else, the dots of a starter among them."""
    if isinstance(answer, bool):
        return False
    try:
        return math.isfinite(answer)  # type: ignore[arg-type]
    except TypeError:
        return False


def instead_of(answer: object) -> str:
    """Say what to change in an answer that is no number: ends the words "give a number".

    Examples
    --------
    >>> f"p: give a number{instead_of(...)}", f"p: give a number{instead_of('0.25')}"
    ('p: give a number in place of the dots', 'p: give a number: a text in quotation marks is none')
    >>> instead_of((0, 25))  # 0,25 as much of Europe writes it
    ': a comma makes a pair; a decimal number has a point, as in 0.25'
    """
    if isinstance(answer, tuple):
        return ": a comma makes a pair; a decimal number has a point, as in 0.25"
    if isinstance(answer, str):
        return ": a text in quotation marks is none"
    return " in place of the dots"


def as_list(answer: Any) -> Any:
    """Give a numpy array or a pandas Series as the list that it holds; all else as it is.

    Examples
    --------
    >>> import numpy as np
    >>> as_list(np.array([3, 1])), as_list((3, 1)), as_list(...)
    ([3, 1], (3, 1), Ellipsis)
    """
    to_list = None if isinstance(answer, type) else getattr(answer, "tolist", None)
    return to_list() if callable(to_list) else answer


def _plain(answer: Any) -> Any:
    """Give an answer as what Python writes it with: numbers, lists, tuples."""
    answer = as_list(answer)
    if isinstance(answer, list | tuple):
        parts = map(_plain, answer)
        return list(parts) if isinstance(answer, list) else tuple(parts)
    return (
        float(answer) if isinstance(answer, Real) and not isinstance(answer, Integral) else answer
    )


def on_own_data(check: Callable[..., Checked]) -> Callable[..., Checked]:
    """Make a check say of a right answer how it is handed in, whatever computed its numbers.

    Examples
    --------
    >>> @on_own_data
    ... def check_share(*, share):
    ...     return right("so it is.") if share else not_yet("count again.")
    >>> import numpy as np
    >>> check_share(share=np.float64(0.5))
    Right: so it is.
    Grading reads no file and trains no system. Hand in your numbers: below the import, leave this
    call alone.
    check_share(share=0.5)
    >>> check_share(share=0)
    Not yet: count again.
    """

    @wraps(check)
    def checked(**answers: Any) -> Checked:
        plain = {name: _plain(answer) for name, answer in answers.items()}
        found = check(**plain)
        written = ", ".join(f"{name}={answer!r}" for name, answer in plain.items())
        return replace(found, call=f"{check.__name__}({written})") if found else found

    return checked


def called(function: Callable[..., Any], *arguments: object) -> float | Checked:
    """Call a reader's function."""
    name = getattr(function, "__name__", "your function")
    call = f"{name}({', '.join(map(str, arguments))})"
    try:
        value = function(*arguments)
    except Exception as error:  # of the reader's code, whatever it is
        return not_yet(f"{call} stops with {type(error).__name__}: {error}")
    if not is_number(value):
        return not_yet(f"{call} gives {value!r}; return a number{instead_of(value)}.")
    return float(value)


def unfit(answers: Mapping[str, object], largest: float = math.inf) -> str:
    """Say which of some answers is no number from 0 to `largest`; empty if all are.

    Examples
    --------
    >>> unfit({"p": 0.1, "rho": ...})
    'rho: give a number in place of the dots.'
    >>> unfit({"p": 12}, largest=1)
    'p: 12 is not from 0 to 1.'
    """
    for name, answer in answers.items():
        if not is_number(answer):
            return f"{name}: give a number{instead_of(answer)}."
        if not 0 <= answer <= largest:  # type: ignore[operator]
            most = f"from 0 to {largest:g}" if math.isfinite(largest) else "0 or more"
            return f"{name}: {answer:g} is not {most}."
    return ""


def is_exact(answer: float, wanted: float | Fraction) -> bool:
    """Tell whether a computed number is another one, be it in single precision.

    Examples
    --------
    >>> is_exact(0.33333334, 1 / 3), is_exact(0.333, 1 / 3)
    (True, False)
    """
    return abs(answer - wanted) <= 1e-6


def inexact(answer: float, wanted: float | Fraction, told: str) -> Checked:
    """Say of a function's value what is told of it, or that it is right but for its rounding.

    Examples
    --------
    >>> inexact(0.667, 2 / 3, "expected(3, 1, 1) gives 0.667. Count again.")
    Not yet: expected(3, 1, 1) gives 0.667: right but rounded. Return it unrounded.
    >>> inexact(0.5, 2 / 3, "expected(3, 1, 1) gives 0.5. Count again.")
    Not yet: expected(3, 1, 1) gives 0.5. Count again.
    """
    roundings = [round(float(wanted), digits) for digits in range(2, 6)]
    if answer not in (0, 1) and any(abs(answer - each) < 1e-7 for each in roundings):
        call = told.partition(" gives ")[0]
        return not_yet(f"{call} gives {answer:g}: right but rounded. Return it unrounded.")
    return not_yet(told)


def is_near(answer: float, wanted: float, share: float = 0.01) -> bool:
    """Tell whether a number is another one, but for a share of it that rounding takes.

    Examples
    --------
    >>> is_near(0.333, 1 / 3), is_near(0.3, 1 / 3)
    (True, False)
    """
    return abs(answer - wanted) <= share * abs(wanted) + 1e-12
