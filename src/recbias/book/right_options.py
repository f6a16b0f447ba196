"""Which option of a prediction is right on the data of a page: it follows what was found there.

The answer to a ``predict`` block ends with a block that says when each option is right. The first
line whose condition is met decides; where none is, the data leave the question open::

    :::{right}
    3: own/UNRATED-HALF below 0.4
    2: own/UNRATED-HALF below 0.6
    1: own/UNRATED-HALF holds or refuted
    :::

A condition names a finding (as `recbias.book.findings` does) and what became of it: its verdict
(``holds``, ``refuted``, ``open``, or several joined by ``or``; any if none is named), a bound on
its value (``above 1``, ``below 2.5``), the system that was chosen (``of Random``), in this order.
Conditions are joined by ``and``. ``2 3`` says that both options are right, ``none`` that no one is.
What theory decides is one number: ``:::{right} 2``.

When the page is written, `resolve_right` leaves only the options that are right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from recbias.book.findings import Finding, Findings, read_from
from recbias.errors import ConfigError

_OPENING = re.compile(r"(?P<indent>\s*)(?P<fence>:{3,}|`{3,})\{right\} *(?P<fixed>.*?)\s*")
_OPTIONS = r"none|\d+(?: \d+)*"
_LINE = re.compile(rf"(?P<options>{_OPTIONS}): +(?P<conditions>\S.*)")
_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_CONDITION = re.compile(
    r"(?P<name>\S+)"
    r"(?P<verdicts>(?: (?:or )?(?:holds|refuted|open))*)"
    rf"(?: (?P<side>above|below) (?P<bound>{_NUMBER}))?"
    r"(?: of (?P<which>\S.*))?"
)
OPEN = "open"
"""What stands for the options where the data leave it open which is right."""


def resolve_right(
    text: str,
    stated: Iterable[Findings],
    where: Callable[[int], str],
) -> str:
    r"""Put into a text which options of its predictions are right.

    Parameters
    ----------
    text
        Markdown of a cell.
    stated
        What was found on the data of the page.
    where
        Names the place of a line of the text, counted from 0, for errors.

    Returns
    -------
    str
        The text; each block is one that names the options, or `OPEN`.

    Raises
    ------
    ConfigError
        For a line that is no condition, a finding that is none, a bound that is no number.

    Examples
    --------
    >>> found = [Findings("design alternatives", {"BCC17-C-RANGE/1": Finding("holds", 3.5)})]
    >>> text = ":::{right}\n1: BCC17-C-RANGE/1 below 2\n2: BCC17-C-RANGE/1 holds\n:::"
    >>> print(resolve_right(text, found, str))
    :::{right} 2
    :::
    """
    known = {name: found for findings in stated for name, found in findings.found.items()}
    lines, kept = text.splitlines(), list[str]()
    start: int | None = None
    opening: re.Match[str] | None = None
    right = ""
    for number, line in enumerate(lines):
        if opening is None:
            opening = _OPENING.fullmatch(line)
            if opening is None:
                kept.append(line)
                continue
            start, right = number, opening["fixed"]
            if right and not re.fullmatch(rf"{_OPTIONS}|{OPEN}", right):
                raise ConfigError(f"{where(number)}: right {right!r}: write numbers of options")
        elif line.strip() == opening["fence"]:
            opened = f"{opening['indent']}{opening['fence']}"
            kept += [f"{opened}{{right}} {right or OPEN}", opened]
            opening = None
        else:
            try:
                options = _options_if(line.strip(), known)
            except ConfigError as error:
                raise ConfigError(f"{where(number)}: {error}") from error
            right = right or options
    if opening is not None:
        raise ConfigError(f"{where(start or 0)}: right: not closed with {opening['fence']}")
    return "\n".join(kept)


def _options_if(line: str, known: Mapping[str, Finding]) -> str:
    """Give the options of a line whose conditions are met; else nothing."""
    found = _LINE.fullmatch(line)
    if not found:
        raise ConfigError(f"right: {line!r}; write 'OPTIONS: FINDING and what became of it'")
    met = [_is_met(each, known) for each in found["conditions"].split(" and ")]
    return found["options"] if all(met) else ""


def _is_met(text: str, known: Mapping[str, Finding]) -> bool:
    condition = _CONDITION.fullmatch(text)
    if not condition or text == condition["name"]:
        raise ConfigError(f"right: {text!r} is no condition; write 'NAME holds' or 'NAME above 1'")
    read_from(condition["name"])  # a name that is none is an error
    finding = known.get(condition["name"], Finding(""))
    asked = re.sub(r"\bor\b", "", condition["verdicts"]).split() or ["holds", "refuted", "open"]
    if finding.verdict not in asked or condition["which"] not in (None, finding.which):
        return False
    if not condition["side"]:
        return True
    if finding.value is None:
        return False
    bound = float(condition["bound"])
    return finding.value > bound if condition["side"] == "above" else finding.value < bound
