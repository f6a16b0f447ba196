"""What the check of an exercise says of an answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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

    Examples
    --------
    >>> right("so it is.")
    Right: so it is.
    >>> bool(not_yet("count again."))
    False
    """

    is_right: bool
    text: str

    def __bool__(self) -> bool:
        return self.is_right

    def __repr__(self) -> str:
        return self.text


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


def called(function: Callable[..., Any], *arguments: object) -> float | Checked:
    """Call a reader's function."""
    name = getattr(function, "__name__", "your function")
    call = f"{name}({', '.join(map(str, arguments))})"
    try:
        value = function(*arguments)
    except Exception as error:  # of the reader's code, whatever it is
        return not_yet(f"{call} stops with {type(error).__name__}: {error}")
    if not is_number(value):
        return not_yet(f"{call} gives {value!r}; return a number, in place of the dots.")
    return float(value)
