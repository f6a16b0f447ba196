"""What arguments of several metrics are: conditions without a value, shares."""

from __future__ import annotations

from recbias.metrics.base import Argument

__all__ = ["named_alone", "open_share"]


def named_alone(name: str, meaning: str) -> Argument:
    """Declare a condition that is written by its name, such as ``judged`` in ``P@10|judged``.

    Examples
    --------
    >>> named_alone("judged", "of the judged items").flag
    True
    """

    def parse(text: str) -> str:
        if text != name:
            raise ValueError(text)
        return text

    return Argument(name, parse, meaning, (name,), flag=True)


def open_share(text: str) -> float:
    """Read a number above 0 and below 1: the parser of arguments that are shares.

    Raises
    ------
    ValueError
        If the text is no such number.

    Examples
    --------
    >>> open_share("0.2")
    0.2
    """
    value = float(text)
    if not 0 < value < 1:
        raise ValueError(f"{text!r} is not above 0 and below 1")
    return value
