"""Named line-ups: which systems a chapter compares, and why with these parameters."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np

from recbias.errors import ConfigError, unknown_name
from recbias.recommenders.as_published.file_order import file_order
from recbias.recommenders.base import System
from recbias.recommenders.line_ups.ablations import Change, ablations, cited_models, tie_rules
from recbias.recommenders.line_ups.atm15 import atm15
from recbias.recommenders.line_ups.bcc17 import bcc17, bcc17_grid, merged_star_variants
from recbias.recommenders.line_ups.ccm20 import ccm20
from recbias.recommenders.line_ups.entries import Entry
from recbias.recommenders.line_ups.mccrs20 import MCCRS20_ROWS, mccrs20
from recbias.recommenders.line_ups.modern import modern
from recbias.recommenders.line_ups.one_name import one_name_sources, one_name_systems
from recbias.recommenders.line_ups.optimal import optimal
from recbias.recommenders.line_ups.sensitivity import (
    Variation,
    sensitivity_systems,
    sensitivity_variations,
)

__all__ = [
    "MCCRS20_ROWS",
    "Change",
    "Variation",
    "ablations",
    "bcc17_grid",
    "cited_models",
    "file_order",
    "line_up",
    "line_up_meanings",
    "line_up_names",
    "line_up_sources",
    "merged_star_variants",
    "one_name_sources",
    "one_name_systems",
    "sensitivity_systems",
    "sensitivity_variations",
    "systems_called",
    "tie_rules",
    "with_seeds",
]

_LINE_UPS: Mapping[str, Callable[[float], tuple[Entry, ...]]] = {
    "bcc17": bcc17,
    "mccrs20": mccrs20,
    "ccm20": ccm20,
    "atm15": atm15,
    "modern": modern,
    "optimal": optimal,
}


def line_up_names() -> list[str]:
    """Return the names of all line-ups.

    Examples
    --------
    >>> line_up_names()
    ['bcc17', 'mccrs20', 'ccm20', 'atm15', 'modern', 'optimal']
    """
    return list(_LINE_UPS)


def line_up_meanings() -> dict[str, str]:
    """Return what each line-up is in one line, by its name: the first line of its module.

    Examples
    --------
    >>> line_up_meanings()["modern"]
    "What people run today, and the cited models that the papers' runs were not."
    """
    modules = {name: sys.modules[make.__module__] for name, make in _LINE_UPS.items()}
    return {name: (module.__doc__ or name).splitlines()[0] for name, module in modules.items()}


def line_up(name: str, *, min_rating: float = 4.0) -> tuple[System, ...]:
    """Return the systems of a line-up, in the order of its tables.

    =========  ===================================================================================
    name       systems
    =========  ===================================================================================
    bcc17      Bellogín, Castells & Cantador 2017, MF and kNN in both readings, and three models of
               `implicit`
    mccrs20    Mena-Maldonado et al. 2020, as they were run: what LibRec did where that was not the
               cited model
    ccm20      Cañamares, Castells & Moffat 2020, with the kNN settings of its experiments
    atm15      Adamopoulos, Tuzhilin & Mountanos 2015, with LibRec's defaults of the time
    modern     What people run today, and the cited models that the papers' runs were not
    optimal    The best rankings for everybody by precision and by anti-precision, beside the other
               rankings for everybody of Mena-Maldonado et al. 2020
    =========  ===================================================================================

    Parameters
    ----------
    name : str
        As in the table.
    min_rating : float
        The smallest rating of a liked item, which some systems need to read ratings as the paper
        did; 4 is right for stars from 1 to 5.

    Returns
    -------
    tuple of System
        With distinct names, the same for every `min_rating`.

    Raises
    ------
    ConfigError
        If there is no such line-up, or `min_rating` is no finite number.

    See Also
    --------
    line_up_sources : Why these parameters.

    Examples
    --------
    >>> [system.name for system in line_up("bcc17")][:3]
    ['Random', 'Popularity', 'pLSA']
    >>> line_up("mccrs20", min_rating=3)[2].parameters["encoding"]
    'graded-zero>=3'
    """
    return tuple(system for system, _ in _entries(name, min_rating))


def line_up_sources(name: str) -> Mapping[str, str]:
    """Return, for each system of a line-up, where its parameters come from.

    Parameters
    ----------
    name : str
        As for `line_up`.

    Returns
    -------
    mapping of str to str
        Prose by the name of the system.

    Raises
    ------
    ConfigError
        If there is no such line-up.
    """
    return MappingProxyType({system.name: source for system, source in _entries(name, 4.0)})


def systems_called(name: str, *, min_rating: float = 4.0) -> dict[str, System]:
    """Return the systems that line-ups call so, by line-up; what people run today comes first.

    Examples
    --------
    >>> [(line, system.algorithm) for line, system in systems_called("Item kNN").items()]
    [('mccrs20', 'CoRatedItemKNNInFileOrder'), ('atm15', 'CoRatedItemKNN')]
    """
    return {
        line: system
        for line in dict.fromkeys(("modern", *_LINE_UPS))
        for system in line_up(line, min_rating=min_rating)
        if system.name == name
    }


def _entries(name: str, min_rating: float) -> tuple[Entry, ...]:
    if not isinstance(name, str) or name not in _LINE_UPS:
        raise unknown_name("line-up", str(name), _LINE_UPS)
    number = isinstance(min_rating, int | float | np.integer | np.floating)
    if not number or isinstance(min_rating, bool) or not math.isfinite(min_rating):
        raise ConfigError(
            f"min_rating is {min_rating!r}: expected a finite number, such as "
            f"line_up({name!r}, min_rating=3)"
        )
    return _LINE_UPS[name](min_rating)


def with_seeds(systems: Iterable[System], n_seeds: int) -> tuple[System, ...]:
    """Train systems with random training under several seeds, and leave all others as they are.

    Parameters
    ----------
    systems : iterable of System
        Such as a line-up.
    n_seeds : int
        The least number of training seeds in each fold. A system that has more keeps them.

    Returns
    -------
    tuple of System
        In the order of `systems`, with their names and parameters.

    Raises
    ------
    ConfigError
        If `n_seeds` is no integer from 1.

    See Also
    --------
    System.random_training : Which systems these are.

    Examples
    --------
    >>> {system.name: system.n_seeds for system in with_seeds(line_up("bcc17")[:3], 5)}
    {'Random': 10, 'Popularity': 1, 'pLSA': 5}
    """
    if isinstance(n_seeds, bool) or not isinstance(n_seeds, int) or n_seeds < 1:
        raise ConfigError(f"n_seeds is {n_seeds!r}, expected an integer >= 1")
    return tuple(
        dataclasses.replace(system, n_seeds=max(n_seeds, system.n_seeds))
        if system.random_training
        else system
        for system in systems
    )
