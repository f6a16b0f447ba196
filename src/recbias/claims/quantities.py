"""Quantities made of several: the largest, the smallest, orders of systems.

Each is taken on every resample, so that its interval holds what choosing adds.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
import numpy.typing as npt

from recbias.agreement import kendall_tau
from recbias.claims.parts import Part
from recbias.errors import ConfigError
from recbias.experiment import Results
from recbias.metrics import Metric
from recbias.results import Quantity

__all__ = ["absolute", "largest", "order", "order_tau", "smallest"]

FloatArray = npt.NDArray[np.float64]


def _drawn(quantity: Quantity) -> FloatArray:
    if quantity.method != "percentile":
        raise ConfigError(
            "resampling shifts this quantity, so that the largest, smallest or order of several on "
            "the resamples says nothing; compare values without interval"
        )
    return quantity.drawn


def largest(quantities: Iterable[Quantity]) -> Quantity:
    """Take the largest of several quantities.

    Raises
    ------
    ConfigError
        If replicates were not kept, or resampling shifts a quantity, as it does concentration.

    Examples
    --------
    >>> a, b = Quantity(0.3, np.array([0.2, 0.4])), Quantity(0.1, np.array([0.3, 0.0]))
    >>> largest([a, b]).value, largest([a, b]).replicates.tolist()
    (0.3, [0.3, 0.4])
    """
    return reduce(
        lambda a, b: Quantity(max(a.value, b.value), np.maximum(_drawn(a), _drawn(b))), quantities
    )


def smallest(quantities: Iterable[Quantity]) -> Quantity:
    """Take the smallest of several quantities; errors as of `largest`."""
    return reduce(
        lambda a, b: Quantity(min(a.value, b.value), np.minimum(_drawn(a), _drawn(b))), quantities
    )


def absolute(quantity: Quantity) -> Quantity:
    """Take the absolute value; errors as of `largest`."""
    return Quantity(abs(quantity.value), np.abs(_drawn(quantity)))


def order(
    results: Results, label: str, metric: Metric | str, pairs: Iterable[tuple[str, str]]
) -> list[Part]:
    """Claim that of each pair the first system scores more.

    Parameters
    ----------
    results
        Measured values.
    label, metric
        What is compared.
    pairs
        Names of systems.

    Returns
    -------
    list of Part
        A difference that has to be above 0 for each pair.
    """
    return [
        Part(
            f"{a} - {b}",
            results[a, label, str(metric)] - results[b, label, str(metric)],
            least=0.0,
            strict=True,
        )
        for a, b in pairs
    ]


def order_tau(
    results: Results, first: tuple[str, Metric | str], second: tuple[str, Metric | str]
) -> Quantity:
    """Compute Kendall's tau between two orders of all systems.

    Parameters
    ----------
    results
        Measured values.
    first, second
        Protocol label and metric that give each order.

    Returns
    -------
    Quantity
        tau-b: 1 for the same order, -1 for the reverse.

    Raises
    ------
    ConfigError
        As of `largest`.
    """
    rows = [
        np.array([np.append(_drawn(q), q.value) for q in results.of_systems(*names).values()]).T
        for names in (first, second)
    ]
    tau = kendall_tau(*rows)
    return Quantity(float(tau[-1]), tau[:-1])
