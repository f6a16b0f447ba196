"""Every design at once: candidates, relevant and other items, and cutoffs, for the explorer.

The paper has three options of two ways each, and target sets of test ratings alone. What the
chapter measures elsewhere is asked for in the same words here, so that the numbers are the same;
samples from the whole catalogue, which it does not draw, are read in expectation from the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from recbias.book.explorer import Axis, State
from recbias.data.ratings import exact

_CUTOFFS = (1, 5, 10, 20)

_CANDIDATES = {
    "AI": "all items of the catalogue",
    "TI": "items that anybody rated in test",
    "R_test": "the user's own test ratings alone",
}
_RELEVANT = {"AR": "all relevant items of a user in one list", "1R": "one relevant item per run"}
_OTHERS = {"AN": "all of them", "NN": "a sample of them"}

_NOT_SAMPLED = (
    "Test ratings alone, with a sample of others (NN): the others in such a set are those that the "
    "user rated low, far fewer than a sample holds. All would be drawn, so that this is the design "
    "with all of them (AN)."
)
_NO_RUNS = (
    "Test ratings alone, with one relevant item per run (1R): neither the paper nor this chapter "
    "ranks one relevant item among the few that the same user rated low."
)


class Designs(NamedTuple):
    """What is measured of all designs, and how an explorer shows it.

    Attributes
    ----------
    protocols : dict of str to str
        By label: the code of the design, ``TI-NN-1R``, or ``R_test`` for test ratings alone.
    metrics : dict of str to list of str
        By label: precision at each cutoff, and what a random ranking is expected to have where one
        number says it. Samples from the whole catalogue are expected over all samples: their
        protocol is that of the whole pool, their metrics are given ``|N=`` or ``|t=``.
    axes
        Candidates, relevant items, other items, cutoff.
    states
        By option of each axis: what is shown, or why there is no such design.
    start
        Where readers start: all tested items, all relevant ones in one list.
    """

    protocols: dict[str, str]
    metrics: dict[str, list[str]]
    axes: tuple[Axis, ...]
    states: dict[tuple[str, ...], State | str]
    start: tuple[str, ...]


def every_design(
    min_rating: float, *, size: int, n_sampled: int, cutoff: int, n_items: int
) -> Designs:
    """Describe the eight designs of BCC17 Table 3, and test ratings alone, at several cutoffs.

    References
    ----------
    BCC17 Sec. 3.1, Table 3.

    Examples
    --------
    >>> designs = every_design(5, size=100, n_sampled=1000, cutoff=10, n_items=3706)
    >>> len(designs.protocols), len(designs.states)
    (9, 48)
    >>> designs.protocols["TI-NN-1R"], designs.metrics["TI-NN-1R"][-2:]
    ('TI-NN-1R t=100 rel>=5', ['P@20', 'rho'])
    >>> designs.protocols["AI-NN-1R"], designs.metrics["AI-NN-1R"][-2:]
    ('AI-AN-1R rel>=5', ['P@20|t=100', 'rho|t=100'])
    >>> print(designs.states["AI", "1R", "NN", "10"].words)
    all items of the catalogue; one relevant item per run; 99 sampled others, expected over all
    samples
    """
    relevance = f"rel>={exact(min_rating)}"
    sizes = {"AR": f"N={n_sampled}", "1R": f"t={size}"}
    sampled = {"AR": f"{n_sampled:,} sampled others", "1R": f"{size - 1:,} sampled others"}
    cutoffs = sorted({cutoff, *(number for number in _CUTOFFS if number <= n_items)})
    protocols, metrics = {}, {}
    states: dict[tuple[str, ...], State | str] = {}
    for candidates, relevant, others in product(_CANDIDATES, _RELEVANT, _OTHERS):
        places = [(candidates, relevant, others, str(number)) for number in cutoffs]
        rated_only = candidates == "R_test"
        if rated_only and (relevant, others) != ("AR", "AN"):
            reason = _NOT_SAMPLED if others == "NN" else _NO_RUNS
            states |= dict.fromkeys(places, reason)
            continue
        label = candidates if rated_only else f"{candidates}-{others}-{relevant}"
        code, suffix, rest = f"{label} {relevance}", "", "all other candidates"
        if rated_only:
            code, rest = f"TI-AN-AR {relevance} condensed", "the others that they rated low"
        elif others == "NN":
            code, rest = f"{label} {sizes[relevant]} {relevance}", sampled[relevant]
        protocols[label] = code
        if (candidates, others) == ("AI", "NN"):
            protocols[label] = f"AI-AN-{relevant} {relevance}"
            suffix, rest = f"|{sizes[relevant]}", f"{rest}, expected over all samples"
        metrics[label] = [f"P@{number}{suffix}" for number in cutoffs]
        chance = None if rated_only else f"rho{suffix}"
        if chance:
            metrics[label].append(chance)
        for place, number in zip(places, cutoffs, strict=True):
            # In a set with fewer items than places a random ranking has no more than all of them.
            short = (relevant, others) == ("1R", "NN") and number > size
            states[place] = State(
                label=label,
                metric=f"P@{number}{suffix}",
                title="test ratings" if rated_only else label,
                words="; ".join((_CANDIDATES[candidates], _RELEVANT[relevant], rest)),
                code=code,
                expected=None if short else chance,
                ceiling=1 / number if relevant == "1R" else None,
            )
    return Designs(protocols, metrics, _axes(cutoffs), states, ("TI", "AR", "AN", str(cutoff)))


def _axes(cutoffs: Sequence[int]) -> tuple[Axis, ...]:
    """List what readers choose; codes stand with their words."""

    def coded(options: dict[str, str]) -> dict[str, str]:
        return {
            code: words if code == "R_test" else f"{code}: {words}"
            for code, words in options.items()
        }

    return (
        Axis("candidates", coded(_CANDIDATES)),
        Axis("relevant items", coded(_RELEVANT)),
        Axis("other items", coded(_OTHERS)),
        Axis("cutoff", {str(cutoff): str(cutoff) for cutoff in cutoffs}),
    )
