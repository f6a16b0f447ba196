"""What a published value depends on: cited models beside what was run, and one change at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recbias.recommenders.as_published.file_order import SLIMInFileOrder
from recbias.recommenders.as_published.rank_sgd import RankSGDInOrder
from recbias.recommenders.as_published.slim import SLIMPenaltyByPopularity
from recbias.recommenders.base import Algorithm, Parameter, System
from recbias.recommenders.line_ups.mccrs20 import mccrs20
from recbias.recommenders.linear import SLIM
from recbias.recommenders.listwise import ListRankMF
from recbias.recommenders.neighbourhood import CoRatedItemKNN, CoRatedUserKNN
from recbias.recommenders.non_negative import PoissonFactorisation
from recbias.recommenders.non_personalised import AverageRating, Popularity
from recbias.recommenders.pairwise import GBPR, WBPR
from recbias.recommenders.topic import PLSA

_CITED: Mapping[str, type[Algorithm]] = {
    "SLIM": SLIM,
    "BPoissMF": PoissonFactorisation,
    "ListRankMF": ListRankMF,
    "WBPR": WBPR,
    "GBPR": GBPR,
}
_OUT_OF_FILE_ORDER: Mapping[str, type[Algorithm]] = {
    "Popularity": Popularity,
    "Average rating": AverageRating,
    "User kNN": CoRatedUserKNN,
    "Item kNN": CoRatedItemKNN,
    "SLIM": SLIMPenaltyByPopularity,
    "pLSA": PLSA,
}
_NOT_TAKEN_OVER = ("group_weight",)  # what was run lies outside the range of the publication


class Change(NamedTuple):
    """A system of a line-up with one thing changed.

    Parameters
    ----------
    base : str
        Name of the system of the line-up.
    what : str
        What is changed.
    system : System
        The result.
    """

    base: str
    what: str
    system: System


_CHANGES: Mapping[str, Sequence[tuple[str, type[Algorithm], Mapping[str, Parameter]]]] = {
    "SLIM": (
        (
            "42 % of each profile left out at random, as much as a defect of LibRec's drops",
            SLIMInFileOrder,
            {"profile_share": 0.58},
        ),
    ),
    "RankSGD": (
        (
            "items in the order in which a file with its users shuffled first names them",
            RankSGDInOrder,
            {"order": "first appearance"},
        ),
        ("popular items of a user first, every epoch", RankSGDInOrder, {"order": "popularity"}),
        ("popular items of a user last", RankSGDInOrder, {"order": "reverse popularity"}),
        ("items of a user by their number", RankSGDInOrder, {"order": "number"}),
    ),
    "ListRankMF": (("disliked ratings move factors too: the cited model", ListRankMF, {}),),
}


def ablations(*, min_rating: float = 4.0) -> tuple[Change, ...]:
    """Take apart those systems of MCCRS20 whose published values depend on more than a model.

    Parameters
    ----------
    min_rating : float
        As for `line_up`.

    Returns
    -------
    tuple of Change
        In the order of the line-up.

    Examples
    --------
    >>> [change.system.name for change in ablations() if change.base in ("pLSA", "SLIM")]
    ['SLIM (other ties)', 'SLIM, 1', 'pLSA (other ties)']
    """
    other_ties = {change.base: change for change in tie_rules(min_rating=min_rating)}
    all_changes = []
    for system, _ in mccrs20(min_rating):
        name = system.name
        all_changes += [other_ties[name]] if name in other_ties else []
        all_changes += [
            Change(name, what, _as_class(system, kind, f"{name}, {number}", **changes))
            for number, (what, kind, changes) in enumerate(_CHANGES.get(name, ()), start=1)
        ]
    return tuple(all_changes)


def tie_rules(*, min_rating: float = 4.0) -> tuple[Change, ...]:
    """Take those systems of MCCRS20 that list ties as LibRec does out of the order of the file.

    Parameters
    ----------
    min_rating : float
        As for `line_up`.

    Returns
    -------
    tuple of Change
        With the class that has the same scores, to which the tie rule of the evaluation applies:
        equal scores in random order, and no score where a model has nothing to say.

    Examples
    --------
    >>> [change.system.algorithm for change in tie_rules()][-2:]
    ['SLIMPenaltyByPopularity', 'PLSA']
    """
    what = "ties in random order, and no score in place of 0, as elsewhere in this book"
    return tuple(
        Change(
            system.name,
            what,
            _as_class(system, _OUT_OF_FILE_ORDER[system.name], f"{system.name} (other ties)"),
        )
        for system, _ in mccrs20(min_rating)
        if system.name in _OUT_OF_FILE_ORDER
    )


def cited_models(*, min_rating: float = 4.0) -> tuple[Change, ...]:
    """Set the cited publication's model beside each system of MCCRS20 that was something else.

    Parameters
    ----------
    min_rating : float
        As for `line_up`.

    Returns
    -------
    tuple of Change
        The model has the parameters of the system where it has the same ones, and its own defaults
        otherwise.

    Examples
    --------
    >>> [change.system.algorithm for change in cited_models()]
    ['SLIM', 'PoissonFactorisation', 'ListRankMF', 'WBPR', 'GBPR']
    """
    what = "the cited model"
    return tuple(
        Change(system.name, what, _as_class(system, _CITED[system.name], f"{system.name} (model)"))
        for system, _ in mccrs20(min_rating)
        if system.name in _CITED
    )


def _as_class(system: System, kind: type[Algorithm], label: str, **changes: Parameter) -> System:
    """Build another class with the parameters of a system, as far as it has them."""
    default = System(label, kind.__name__)
    shared = {
        name: value
        for name, value in system.parameters.items()
        if name in default.parameters and name not in _NOT_TAKEN_OVER
    }
    return default.replace(label, **{**shared, **changes})
