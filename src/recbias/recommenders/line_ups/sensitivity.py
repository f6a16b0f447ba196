"""How much depends on a parameter: the systems of a line-up, one parameter changed at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from recbias.errors import unknown_name
from recbias.recommenders.base import Parameter, System
from recbias.recommenders.line_ups.mccrs20 import mccrs20

_MCCRS20: Mapping[str, Mapping[str, tuple[Parameter, ...]]] = {
    "Average rating": {"smoothing": (10.0, 100.0)},
    "User kNN": {"n_neighbours": (10, 40), "shrinkage": (0.0, 5.0, 20.0)},
    "Item kNN": {"n_neighbours": (25, 100), "shrinkage": (0.0, 5.0, 20.0)},
    "SLIM": {"l1": (0.5, 2.0), "n_neighbours": (25, 100)},
    "pLSA": {"n_topics": (5, 20, 50), "n_iterations": (50, 200)},
    "PNMF": {"n_factors": (5, 20), "n_iterations": (52, 200)},
    "BPoissMF": {"seed": (2, 3)},
    "WRMF": {"n_factors": (10, 40), "alpha": (2.0, 8.0)},
    "eALS": {"n_factors": (50, 100), "regularisation": (0.1, 1.0)},
    "SVD++": {"n_factors": (10, 40), "learning_rate": (0.001, 0.004)},
    "RankSGD": {"n_factors": (5, 20), "n_epochs": (15, 60)},
    "ListRankMF": {"n_factors": (10, 20), "regularisation": (0.03, 0.12)},
    "WBPR": {"n_factors": (32, 64), "n_epochs": (10, 40)},
    "GBPR": {"n_factors": (5, 20), "group_weight": (0.5, 1.0)},
}
"""Other values of one or two main parameters of each system that has any: half and double what
the paper used, and beyond where another reading lies. That is for the average rating up to 100,
towards the mean number of ratings of an item (the definition of SIGIR 2018); for kNN no shrinkage,
the default of LibRec 1.3; for pLSA 50 topics, the example of RankSys; for PNMF 200 iterations, near
convergence; for eALS fewer factors, LibRec 2.0 having 32, and penalties large enough to matter; for
ListRankMF and WBPR other numbers of factors towards those of the other systems; for GBPR group
weights within the publication's range. BPoissMF is not trained: what varies is its seed."""

_RANGES = {"mccrs20": (_MCCRS20, mccrs20)}


class Variation(NamedTuple):
    """What a system of `sensitivity_systems` changes.

    Parameters
    ----------
    base : str
        Name of the system of the line-up.
    parameter : str
        The parameter that differs.
    value : str, int, float or bool
        Its other value.
    """

    base: str
    parameter: str
    value: Parameter


def sensitivity_variations(name: str = "mccrs20") -> Mapping[str, Variation]:
    """Return what each system of `sensitivity_systems` changes.

    Parameters
    ----------
    name : str
        Name of a line-up; only ``"mccrs20"`` has ranges.

    Returns
    -------
    mapping of str to Variation
        By the name of the system.

    Raises
    ------
    ConfigError
        If the line-up has no ranges.

    Examples
    --------
    >>> sensitivity_variations()["WRMF n_factors=40"]
    Variation(base='WRMF', parameter='n_factors', value=40)
    """
    return MappingProxyType(
        {f"{way.base} {way.parameter}={way.value:g}": way for way in _variations(name)}
    )


def sensitivity_systems(name: str = "mccrs20", *, min_rating: float = 4.0) -> tuple[System, ...]:
    """Return the parametrised systems of a line-up, each with one parameter changed.

    Parameters
    ----------
    name : str
        Name of a line-up; only ``"mccrs20"`` has ranges.
    min_rating : float
        As for `line_up`.

    Returns
    -------
    tuple of System
        With distinct names, in the order of the line-up; the systems of the line-up itself are not
        among them.

    Raises
    ------
    ConfigError
        If the line-up has no ranges.

    See Also
    --------
    sensitivity_variations : Which system each is, and what differs.

    Examples
    --------
    >>> [system.name for system in sensitivity_systems()][:3]
    ['Average rating smoothing=10', 'Average rating smoothing=100', 'User kNN n_neighbours=10']
    """
    ways = sensitivity_variations(name)
    bases = {system.name: system for system, _ in _RANGES[name][1](min_rating)}
    return tuple(
        bases[way.base].replace(label, **{way.parameter: way.value}) for label, way in ways.items()
    )


def _variations(name: str) -> Iterator[Variation]:
    if name not in _RANGES:
        raise unknown_name("line-up with ranges of parameters", str(name), _RANGES)
    for base, parameters in _RANGES[name][0].items():
        for parameter, values in parameters.items():
            for value in values:
                yield Variation(base, parameter, value)
