"""The designs that chapter 1 compares, as a reader calls them, and the numbers that it quotes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recbias.book.chapters.design_alternatives.setup import tau_between
from recbias.claims.quantities import flipped_pairs
from recbias.claims.regions import defined
from recbias.experiment.run import Results
from recbias.stats.agreement import opposed_pairs


@dataclass(frozen=True)
class Design:
    """One way to rank items for a user.

    Attributes
    ----------
    label
        Of the protocol in the chapter's grid.
    name
        Which items are ranked.
    head
        The same, as the head of a narrow column.
    """

    label: str
    name: str
    head: str


def four_designs(size: int, n_sampled: int) -> tuple[Design, ...]:
    """List the designs of the chapter's figures, AI aside, which differs from TI little or not.

    Examples
    --------
    >>> [design.name for design in four_designs(100, 1000)]
    ['all tested items', '1,000 sampled', '1 relevant + 99 sampled', 'own test ratings']
    """
    return (
        Design("AR", "all tested items", "all\ntested"),
        Design("NN", f"{n_sampled:,} sampled", f"{n_sampled:,}\nsampled"),
        Design("1R", f"1 relevant + {size - 1:,} sampled", f"1 plus\n{size - 1:,}"),
        Design("R_test", "own test ratings", "own\nratings"),
    )


def moved_pairs(results: Results, first: str, second: str) -> int:
    """Count the pairs of systems that two designs order in opposite ways, beyond chance."""
    orders = [results.of_systems(label, results.metric(label, "P")) for label in (first, second)]
    values = [[quantity.value for quantity in order.values()] for order in orders]
    drawn = [np.array([quantity.drawn for quantity in order.values()]) for order in orders]
    return len(opposed_pairs(*values, *drawn))


_CHANGES = {
    "AI": "all items of the catalogue",
    "NN": "a sample",
    "1R": "one relevant item at a time",
    "R_test": "only the user's own test ratings",
}


def taus_quoted(results: Results) -> dict[str, str]:
    """Write Kendall's tau of the order under AR and that under each other design, by label."""
    order = ("AR", str(results.metric("AR", "P")))
    return {
        label: defined(
            tau_between(results, order, (label, str(results.metric(label, "P")))).value, ".2f"
        )
        for label in _CHANGES
    }


def mover_quoted(taus: Mapping[str, str]) -> str:
    """Say which change moves the order most, by taus as :func:`taus_quoted` writes them.

    Examples
    --------
    >>> mover_quoted({"AI": "1.00", "NN": "0.80", "1R": "0.87", "R_test": "undefined"})
    'a sample'
    """
    known = {label: float(text) for label, text in taus.items() if text != defined(math.nan, "")}
    return _CHANGES[min(known, key=known.__getitem__)] if known else "nothing, as no tau is defined"


def winners_quoted(results: Results) -> str:
    """Say which system is first among all tested items, and which among own test ratings."""
    orders = []
    for label in ("AR", "R_test"):
        found = results.of_systems(label, results.metric(label, "P"))
        values = {name: quantity.value for name, quantity in found.items()}
        orders.append(sorted(values, key=values.__getitem__, reverse=True))
    (first, *_), (other, *_) = orders
    if first == other:
        return f"{first} is first of {len(orders[0])} among all tested items and own test ratings"
    there = orders[0].index(other) + 1
    return (
        f"{first} is first of {len(orders[0])} among all tested items; {other}, "
        f"number {there} there, is first among the users' own test ratings"
    )


def flips_quoted(results: Results, label: str = "1R") -> dict[str, str]:
    """Name the pair of systems that the unit of a paired test turns round most clearly."""
    metric = str(results.metric(label, "P"))
    flipped, _ = flipped_pairs(results.tests, label, metric, systems=results.systems)
    if not flipped:
        return dict.fromkeys(("per_run", "per_user", "p"), "-")
    return {
        "per_run": flipped[0].per_run,
        "per_user": flipped[0].per_user,
        "p": _power_above(flipped[0].p),
    }


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _power_above(p: float) -> str:
    """Write the least power of ten that is no smaller."""
    exponent = math.ceil(math.log10(p)) if p > 0 else -300
    return f"10{str(exponent).translate(_RAISED)}" if exponent < -3 else f"{10.0**exponent:g}"
