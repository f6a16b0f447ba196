"""Decisions and their options in words, for who does not know the codes of CCM20."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from recbias.experiment.decisions import CHOICES, DECISIONS, START

__all__ = [
    "change_said",
    "decision_said",
    "number_said",
    "option_said",
    "turning_said",
    "users_said",
]

_DECISIONS = {
    "C2": "Which metric",
    "C2 threshold": "From which rating an item is liked",
    "C2 gain": "How much more a higher rating counts",
}
"""What the multiverse divides of a decision of CCM20."""


def number_said(number: float, sign: str = "") -> str:
    """Write a number with four places, more where fewer than two digits would be left of it.

    Examples
    --------
    >>> number_said(0.01194), number_said(-0.000044, "+"), number_said(-1e-17, "+")
    ('0.0119', '-0.000044', '+0.0000')
    """
    places = 4
    if _LEAST <= abs(number) < 0.001:
        places = 1 - math.floor(math.log10(abs(number)))
    return f"{number:{sign}z.{places}f}"


_LEAST = 1e-9
"""Below which a number is written as 0."""


def users_said(n: int) -> str:
    """Count users.

    Examples
    --------
    >>> users_said(1), users_said(1000)
    ('1 user', '1,000 users')
    """
    return f"{n:,} user{'s' * (n != 1)}"


def decision_said(decision: str) -> str:
    """Say what a decision is about.

    Examples
    --------
    >>> decision_said("C1"), decision_said("C2 threshold"), decision_said("of my own")
    ('Which items are ranked', 'From which rating an item is liked', 'of my own')
    """
    return _DECISIONS.get(decision) or DECISIONS.get(decision, decision)


def option_said(decision: str, option: str) -> str:
    """Say what an option means: what it asks for, and its text where that is not the same.

    Examples
    --------
    >>> option_said("C2", "metric: antiP@10")
    'rated below the threshold among ten items (antiP@10)'
    >>> option_said("B1", "")
    'all users; who has nothing to find counts as 0'
    """
    shown = option.partition(": ")[2] or option
    said = _of_numbers(option) or _CHOICES.get((decision.partition(" ")[0], _words(option)), "")
    if not said:
        return shown or "none"
    return f"{said} ({shown})" if shown not in said else said


def change_said(changed: str, options: Mapping[str, Sequence[str]]) -> str:
    """Say what is changed, of options by decision.

    Parameters
    ----------
    changed
        As :meth:`recbias.multiverse.Universes.flips` has it.
    options
        Texts by decision, that it is of.

    Examples
    --------
    >>> change_said("C2: metric: antiP@10", {"C2": ("metric: P@10", "metric: antiP@10")})
    'which metric: rated below the threshold among ten items (antiP@10)'
    """
    said = []
    for decision, texts in options.items():
        for text in sorted(texts, key=len, reverse=True):
            piece = f"{decision}: {text or 'none'}"
            if f"; {piece}; " in f"; {changed}; ":
                words = decision_said(decision)
                said.append(f"{words[:1].lower()}{words[1:]}: {option_said(decision, text)}")
                break
    return "; ".join(said) or changed


def turning_said(names: Sequence[str], found: Mapping[str, Any]) -> list[str]:
    r"""Say how near the designs are in which the other one is ahead, and in which it surely is.

    Parameters
    ----------
    names
        Of A and B.
    found
        ``multiverse`` of the record of an audit.

    Examples
    --------
    >>> found = {"no start": "", "ahead": 1, "changes": 2, "flips said": ["x", "y"],
    ...          "sure changes": 3, "sure said": ["z"]}
    >>> print(*turning_said("AB", found), sep="\n")
    No single decision, changed alone, puts B ahead; 2 changes together do – x – or one other.
    The nearest sure reversal takes 3 changes – z.
    """
    if found["no start"]:
        return ["Nobody wins in the first of them, so that no change turns the winner."]
    changes, sure = found["changes"], found["sure changes"]
    if changes is None:
        return ["No change within these designs turns the winner."]
    other = names[1] if found["ahead"] > 0 else names[0]
    at_once = sure == changes
    surely, said = ("surely ", found["sure said"]) if at_once else ("", found["flips said"])
    text = f"One change alone puts {other} {surely}ahead"
    if changes > 1:
        text = (
            f"No single decision, changed alone, puts {other} ahead; {changes} changes together "
            f"{surely}do"
        )
    text += f" – {_with_others(said)}."
    if at_once:
        return [text]
    if sure is None:
        return [text, f"In no design is {other} surely ahead, by its test and by its interval."]
    nearest = _with_others(found["sure said"])
    return [text, f"The nearest sure reversal takes {sure} changes – {nearest}."]


def _with_others(said: Sequence[str]) -> str:
    others = {1: "", 2: " – or one other"}.get(len(said), f" – or any of {len(said) - 1:,} others")
    return f"{said[0]}{others}"


def _of_numbers(option: str) -> str:
    """Say the options that the table of decisions has with another number, or not at all."""
    name, _, value = option.partition(": ")
    word, _, number = value.partition(" ")
    if (name, word) == ("split", "ratio"):
        return f"each rating is tested with probability {number}"
    if option.startswith("rel>="):
        return f"ratings of {option.removeprefix('rel>=')} or more"
    return ""


def _words(text: str) -> str:
    """Write a text so that those of the table and those that are crossed are the same."""
    name, colon, value = text.partition(": ")
    if not colon or name == "lists":
        usual = START.partition("lists: ")[2].partition(";")[0].split()
        return " ".join(word for word in (value if colon else text).split() if word not in usual)
    return "" if text in START.split("; ") or text in _USUAL else text


_USUAL = ("pairs: t",)
_CHOICES = {(choice.decision, _words(choice.text)): choice.means for choice in CHOICES[::-1]} | {
    ("C2", "gain: binary"): "all liked items alike",
    # Here the threshold is a decision of its own, and ratings need not be stars.
    ("C2", ""): "nDCG of ten items",
    ("C2", "metric: antiP@10"): "rated below the threshold among ten items",
    ("C2", "metric: nDCG@5"): "nDCG of five items",
    ("C2", "gain: linear"): "gains grow with the rating",
    ("C2", "gain: exp"): "gains double with each point of the rating",
    ("C2", "gain: steps"): "gains count points from the threshold",
    ("C2", "metric: AUC"): "how often the liked stands above the other",
}
