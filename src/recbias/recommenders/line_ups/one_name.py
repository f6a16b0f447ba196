"""One name, many algorithms: what may be meant by "user kNN with cosine similarity"."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from recbias.recommenders.base import System
from recbias.recommenders.line_ups.entries import Entry, encoding_from, make_system
from recbias.recommenders.neighbourhood import CoRatedUserKNN, UserKNN


def _one_name(min_rating: float) -> tuple[Entry, ...]:
    graded = encoding_from("graded-zero", min_rating)
    return (
        (
            make_system("Mean over neighbours, k=100", UserKNN, n_neighbours=100, normalised=True),
            "The weighted mean of what neighbours gave: a rating predictor, which recommends what "
            "a single neighbour liked.",
        ),
        (
            make_system(
                "Mean over 3 neighbours or more, k=100",
                UserKNN,
                n_neighbours=100,
                normalised=True,
                min_neighbours=3,
            ),
            "The same with at least 3 of the neighbours, as in the code of Cañamares & Castells, "
            "RecSys 2020.",
        ),
        (
            make_system(
                "LibRec 2, k=20, no shrinkage",
                CoRatedUserKNN,
                n_neighbours=20,
                shrinkage=0,
                encoding=graded,
            ),
            "The cosine over common items as it stands, which is 1 for two users with one common "
            "item: the nearest users tend to be those with little in common.",
        ),
        (
            make_system("LibRec 2, k=20", CoRatedUserKNN, n_neighbours=20, encoding=graded),
            "The cosine over common items, shrunk; the neighbours are the nearest of "
            "those who rated the item; values do not count. As run by Mena-Maldonado et al. 2020.",
        ),
        (
            make_system(
                "LibRec 3, k=20",
                CoRatedUserKNN,
                n_neighbours=20,
                choose_among="all users",
                encoding=graded,
            ),
            "As before, but the nearest users are fixed, whatever they rated; 20 is the default of "
            "LibRec 3.0.",
        ),
        (
            make_system(
                "LibRec 3, k=200",
                CoRatedUserKNN,
                n_neighbours=200,
                choose_among="all users",
                encoding=graded,
            ),
            "The same with as many neighbours as in LibRec's configuration for ranking.",
        ),
        (
            make_system(
                "RankSys, k=100, graded with zeros", UserKNN, n_neighbours=100, encoding=graded
            ),
            "The cosine of whole profiles and the sum of similarity times value, on the values "
            "that LibRec was given.",
        ),
        (
            make_system("RankSys, k=100, stars", UserKNN, n_neighbours=100),
            "The same on stars, as in Cañamares, Castells & Moffat 2020.",
        ),
        (
            make_system(
                "RankSys, k=10, binary, overlap 10",
                UserKNN,
                n_neighbours=10,
                min_overlap=10,
                encoding="binary-all",
            ),
            "The same paper's variant with few neighbours that must share 10 items.",
        ),
    )


def one_name_systems(*, min_rating: float = 4.0) -> tuple[System, ...]:
    """Return what may be meant by "user kNN with cosine similarity", in all its readings.

    Parameters
    ----------
    min_rating : float
        The smallest rating of a liked item, for those that recode ratings.

    Returns
    -------
    tuple of System
        With distinct names.

    See Also
    --------
    one_name_sources : Who reads it so.

    Examples
    --------
    >>> len(one_name_systems())
    9
    """
    return tuple(system for system, _ in _one_name(min_rating))


def one_name_sources() -> Mapping[str, str]:
    """Return, for each system of `one_name_systems`, whose reading it is.

    Returns
    -------
    mapping of str to str
        Prose by the name of the system.
    """
    return MappingProxyType({system.name: source for system, source in _one_name(4.0)})
