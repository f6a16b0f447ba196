"""One name, many algorithms: how far its readings are apart, and which choice moves how much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import combinations
from typing import NamedTuple

from recbias.book.html import table_html
from recbias.book.systems.validation import MEASURES
from recbias.experiment.run import Results
from recbias.recommenders import System
from recbias.recommenders.base import Parameter

_SPACE = "\N{NO-BREAK SPACE}"

QUESTIONS: Mapping[str, str] = {
    "normalised": "The weighted mean of what neighbours gave, or the weighted sum?",
    "min_neighbours": "How many neighbours must have rated an item?",
    "shrinkage": "Is a similarity that stands on few common items shrunk?",
    "choose_among": "The nearest of those who rated the item, or of all users?",
    "n_neighbours": "How many neighbours?",
    "encoding": "What do low ratings count?",
}
"""What a parameter of a neighbourhood model decides, as a question."""


class Choice(NamedTuple):
    """Two systems that differ in one parameter.

    Attributes
    ----------
    parameter
        Its name.
    first, second
        The systems.
    """

    parameter: str
    first: System
    second: System

    @property
    def values(self) -> tuple[Parameter, Parameter]:
        """What the parameter is in either."""
        return self.first.parameters[self.parameter], self.second.parameters[self.parameter]


def choices(systems: Iterable[System]) -> list[Choice]:
    """Find all pairs of systems of one class that differ in one parameter and nothing else.

    Examples
    --------
    >>> from recbias.recommenders.line_ups import one_name_systems
    >>> sorted(choice.parameter for choice in choices(one_name_systems()))
    ['choose_among', 'encoding', 'min_neighbours', 'n_neighbours', 'normalised', 'shrinkage']
    """
    single_choices = []
    for first, second in combinations(systems, 2):
        if first.algorithm != second.algorithm:
            continue
        differing = [
            name for name, value in first.parameters.items() if second.parameters[name] != value
        ]
        if len(differing) == 1:
            single_choices.append(Choice(differing[0], first, second))
    return single_choices


def factor_text(larger: float, smaller: float) -> str:
    """Write how many times one value is another; a dash where that is 0.

    Examples
    --------
    >>> factor_text(0.267, 0.00067), factor_text(0.2, 0.16)
    ('399', '1.25')
    """
    if not smaller:
        return "\N{EM DASH}"
    factor = larger / smaller
    return f"{factor:.0f}" if factor >= 10 else f"{factor:.3g}"


def _ends(results: Results, metric: str) -> tuple[str, float, str, float]:
    """Name the worst and the best system, with what they score."""
    (label,) = results.grid.by_label
    values = results.table(label, metric)["value"]
    worst, best = str(values.idxmin()), str(values.idxmax())
    return worst, float(values[worst]), best, float(values[best])


def span_sentence(results: Results, metric: str) -> str:
    """Say which readings of a name are the best and the worst, and how far apart."""
    worst, least, best, most = _ends(results, metric)
    apart = (
        f"**{factor_text(most, least)} times** as much"
        if least
        else "and no factor says how much more that is"
    )
    return (
        f"On {results.dataset['title']} the worst of the {len(results.systems)} algorithms, "
        f"*{worst}*, has a {metric} of {least:.4f}; the best, *{best}*, has {most:.4f}, {apart}. "
        'Every one of them may be called "user kNN, cosine".'
    )


def choices_html(systems: Sequence[System], results: Results) -> str:
    """Write what each single choice moves, the one that moves precision most first."""
    (label,) = results.grid.by_label
    values = {metric: results.table(label, metric)["value"] for metric in MEASURES}
    rows = []
    for choice in choices(systems):
        names = choice.first.name, choice.second.name
        if not all(name in values[MEASURES[0]] for name in names):  # one could not be trained
            continue
        pairs = [tuple(float(values[m][name]) for name in names) for m in MEASURES]
        low, high = sorted(pairs[0])
        settings = " → ".join(f"<code>{escape(str(value))}</code>" for value in choice.values)
        question = QUESTIONS.get(choice.parameter, choice.parameter)
        cells = [escape(question), f"<code>{escape(choice.parameter)}</code> {settings}"]
        cells += [f"{one:.4f} → {other:.4f}".replace(" ", _SPACE) for one, other in pairs]
        moved = high / low if low else math.inf
        rows.append((moved, [*cells, factor_text(high, low)]))
    rows.sort(key=lambda row: -row[0])
    head = ("choice", "parameter", *MEASURES, f"factor, {MEASURES[0]}")
    return table_html(head, [cells for _, cells in rows], style="labelled")
