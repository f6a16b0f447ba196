"""The systems of Bellogín, Castells & Cantador 2017, and grids over what the paper leaves open."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from recbias.errors import unknown_name
from recbias.recommenders.base import Encoding, System
from recbias.recommenders.least_squares import WeightedMF
from recbias.recommenders.line_ups.entries import Entry, make_system
from recbias.recommenders.modern import ImplicitALS, ImplicitBPR, ImplicitItemCosine
from recbias.recommenders.neighbourhood import UserKNN
from recbias.recommenders.non_personalised import Popularity, Random
from recbias.recommenders.rating_prediction import BiasedMF
from recbias.recommenders.topic import PLSA

MERGED_BELOW = 4
"""Below this many stars some sources merge ratings: ML-1M's ready folds keep only 4 and 5 apart."""


_BCC17: tuple[Entry, ...] = (
    (
        make_system("Random", Random, n_seeds=10),
        "The floor. Ten seeds, because one random ranking hits too rarely to show its expectation.",
    ),
    (
        make_system("Popularity", Popularity),
        "All training ratings count, liked or not: with it P@10 on ML-1M is the 0.08 that the "
        "paper's text states.",
    ),
    (
        make_system("pLSA", PLSA, n_topics=50, n_iterations=100),
        "The paper names the method only. 50 topics and 100 iterations are the example of RankSys, "
        "the library of the same group.",
    ),
    (
        make_system(
            "MF (rating prediction)",
            BiasedMF,
            n_factors=50,
            learning_rate=0.005,
            regularisation=0.05,
            n_epochs=30,
        ),
        "The reading by the paper's reference, Koren, Bell & Volinsky 2009, which predicts "
        "ratings. As many factors as topics; step, penalty and epochs at values that are common "
        "for stars from 1 to 5. The grid shows how much depends on factors and penalty.",
    ),
    (
        make_system(
            "MF (ranking)", WeightedMF, n_factors=50, regularisation=0.1, alpha=1, n_iterations=20
        ),
        "The reading by the library: RankSys has Hu et al. 2008, with the rating itself as target. "
        "Parameters of its example; the same group's later paper (Cañamares, Castells & Moffat "
        "2020) prints penalty 1 and alpha 0.1, probably the same two numbers swapped.",
    ),
    (
        make_system(
            "kNN (rating prediction)", UserKNN, n_neighbours=100, normalised=True, min_neighbours=3
        ),
        "The weighted mean of what neighbours gave, asked of at least 3 of them, as in the same "
        "group's code for a paper of 2020 (RecSys). With 1 it recommends whatever a single "
        "neighbour gave five stars.",
    ),
    (
        make_system("kNN (ranking)", UserKNN, n_neighbours=100),
        "The weighted sum, as in RankSys; 100 neighbours as in the same group's later paper "
        "(Cañamares, Castells & Moffat 2020). In the paper's reference, Cremonesi, Koren & Turrin "
        "2010, neighbourhoods rank better without the normalisation.",
    ),
    (
        make_system("ALS (implicit)", ImplicitALS),
        "Defaults of implicit 0.7.3, on which pairs were rated: what people run today.",
    ),
    (
        make_system("BPR (implicit)", ImplicitBPR),
        "Defaults of implicit 0.7.3, on which pairs were rated; one thread, since two give other "
        "results at the same seed.",
    ),
    (
        make_system("Item cosine (implicit)", ImplicitItemCosine),
        "Defaults of implicit 0.7.3, on which pairs were rated.",
    ),
)


def bcc17(min_rating: float) -> tuple[Entry, ...]:
    """Return the line-up of Bellogín, Castells & Cantador 2017, with its sources.

    Parameters
    ----------
    min_rating : float
        Plays no part: no system of this line-up recodes ratings.
    """
    return _BCC17


def bcc17_grid(part: str) -> tuple[System, ...]:
    """Return one system of the chapter over a grid of the parameters that the paper leaves open.

    Parameters
    ----------
    part : str
        ``"knn-rating"`` (72 systems), ``"mf-rating"`` (6), ``"knn-ranking"`` (12) or
        ``"mf-ranking"`` (12).

    Returns
    -------
    tuple of System
        With distinct names.

    Raises
    ------
    ConfigError
        If there is no such part.

    References
    ----------
    BCC17 Sec. 3.3, Fig. 2, whose caption and text give no parameters.

    Examples
    --------
    >>> print(bcc17_grid("knn-rating")[-1].name)
    kNN norm k=300 overlap=20 min=3 reg=10
    >>> [len(bcc17_grid(part)) for part in ("knn-rating", "mf-rating", "knn-ranking", "mf-ranking")]
    [72, 6, 12, 12]
    """
    parts: dict[str, Callable[[], Iterable[System]]] = {
        "knn-rating": _knn_rating,
        "mf-rating": _mf_rating,
        "knn-ranking": _knn_ranking,
        "mf-ranking": _mf_ranking,
    }
    if part not in parts:
        raise unknown_name("part of the grid", str(part), parts)
    return tuple(parts[part]())


def _knn_rating() -> Iterable[System]:
    for k, overlap, least, beta in itertools.product(
        (10, 30, 100, 300), (1, 5, 20), (1, 3), (0, 1, 10)
    ):
        yield make_system(
            f"kNN norm k={k} overlap={overlap} min={least} reg={beta}",
            UserKNN,
            n_neighbours=k,
            normalised=True,
            min_overlap=overlap,
            min_neighbours=least,
            regularisation=beta,
        )


def _mf_rating() -> Iterable[System]:
    for n_factors, penalty in itertools.product((10, 50), (0.02, 0.05, 0.1)):
        name = f"MF rating factors={n_factors} reg={penalty:g}"
        yield make_system(name, BiasedMF, n_factors=n_factors, regularisation=penalty)


def _knn_ranking() -> Iterable[System]:
    for k, overlap in itertools.product((10, 30, 100, 300), (1, 5, 20)):
        name = f"kNN sum k={k} overlap={overlap}"
        yield make_system(name, UserKNN, n_neighbours=k, min_overlap=overlap)


def _mf_ranking() -> Iterable[System]:
    for n_factors, penalty, alpha in itertools.product((10, 50), (0.1, 1, 10), (1, 10)):
        yield make_system(
            f"MF ranking factors={n_factors} reg={penalty:g} alpha={alpha}",
            WeightedMF,
            n_factors=n_factors,
            regularisation=penalty,
            alpha=alpha,
        )


def merged_star_variants(
    systems: Iterable[System], values: Iterable[float] = (1, 2, 3)
) -> tuple[System, ...]:
    """Return copies of the systems that read stars, with 1 to 3 stars counted as one other value.

    Where a source does not tell 1, 2 and 3 stars apart, they show how much a result depends on the
    value that the merged stars are given.

    Parameters
    ----------
    systems : iterable of System
        Those whose encoding is not ``"stars"`` are left out.
    values : iterable of float
        What the merged stars are to count, each above 0 and below 4.

    Returns
    -------
    tuple of System
        For each system its copies in the order of `values`.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> [system.name for system in merged_star_variants(line_up("bcc17"))][:3]
    ['pLSA [1-3 as 1]', 'pLSA [1-3 as 2]', 'pLSA [1-3 as 3]']
    """
    values = tuple(values)
    return tuple(
        system.replace(
            f"{system.name} [1-3 as {value:g}]",
            encoding=str(Encoding("stars", MERGED_BELOW, value)),
        )
        for system in systems
        if system.parameters.get("encoding") == "stars"
        for value in values
    )
