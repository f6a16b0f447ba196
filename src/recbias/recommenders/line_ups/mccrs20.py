"""The systems of Mena-Maldonado et al. 2020 with the parameters of their public configuration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from recbias.recommenders.as_published.file_order import (
    AverageRatingInFileOrder,
    CoRatedItemKNNInFileOrder,
    CoRatedUserKNNInFileOrder,
    PLSAInFileOrder,
    PopularityInFileOrder,
    SLIMInFileOrder,
)
from recbias.recommenders.as_published.gbpr import GBPRBatchStep
from recbias.recommenders.as_published.list_rank_mf import ListRankMFSkippingZeros
from recbias.recommenders.as_published.poisson_factorisation import UntrainedPoissonFactorisation
from recbias.recommenders.as_published.wbpr import WBPRUnpopularNegatives
from recbias.recommenders.elementwise import ElementwiseALS
from recbias.recommenders.least_squares import WRMF
from recbias.recommenders.line_ups.entries import Entry, encoding_from, make_system
from recbias.recommenders.non_negative import PNMF
from recbias.recommenders.non_personalised import Random
from recbias.recommenders.pairwise import RankSGD
from recbias.recommenders.rating_prediction import SVDpp

MCCRS20_ROWS: Mapping[str, str] = MappingProxyType(
    {
        "Random": "randomguess",
        "Popularity": "mostpopular",
        "Average rating": "smootheditemaverage",
        "User kNN": "userknn",
        "Item kNN": "itemknn",
        "SLIM": "slim",
        "pLSA": "plsa",
        "PNMF": "pnmf",
        "BPoissMF": "bpoissmf",
        "WRMF": "wrmf",
        "eALS": "eals",
        "SVD++": "svdpp",
        "RankSGD": "ranksgd",
        "ListRankMF": "listrankmf",
        "WBPR": "wbpr",
        "GBPR": "gbpr",
    }
)
"""The authors' name of each system of the line-up: its row among their published results."""


def mccrs20(min_rating: float) -> tuple[Entry, ...]:
    """Return the line-up of Mena-Maldonado et al. 2020, with its sources.

    The authors ran LibRec's branch 2.0.0 with the configuration files of LibRec 3.0. Ratings from
    the threshold on count 1, 2, ..., others 0, and the zeros stay in training as observed. Where
    equal scores, or 0 in place of a missing one, reach into a list of ten, the class lists them in
    the order of the training file, as LibRec does: `recbias.recommenders.as_published.file_order`.

    Parameters
    ----------
    min_rating : float
        That threshold.
    """
    encoding = encoding_from("graded-zero", min_rating)
    return (
        (
            make_system("Random", Random, n_seeds=10),
            "The floor. Ten seeds, because one random ranking hits too rarely to show its "
            "expectation.",
        ),
        (
            make_system("Popularity", PopularityInFileOrder),
            "All training ratings count, liked or not, as in LibRec's MostPopular.",
        ),
        (
            make_system("Average rating", AverageRatingInFileOrder, smoothing=1, encoding=encoding),
            "A class of the authors: smoothing with one rating, on recoded values, so that five "
            "stars count double.",
        ),
        (
            make_system(
                "User kNN",
                CoRatedUserKNNInFileOrder,
                n_neighbours=20,
                similarity="cosine",
                shrinkage=10,
                choose_among="raters",
                encoding=encoding,
            ),
            "The authors' file userknn: cosine, 20 neighbours, shrinkage 10. The code of LibRec "
            "2.0 looks for them among the raters of each item.",
        ),
        (
            make_system(
                "Item kNN",
                CoRatedItemKNNInFileOrder,
                n_neighbours=50,
                similarity="cosine",
                shrinkage=10,
                choose_among="profile",
                encoding=encoding,
            ),
            "The authors' file itemknn: cosine, 50 neighbours, shrinkage 10. The code of LibRec "
            "2.0 looks for them in each user's profile.",
        ),
        (
            make_system(
                "SLIM",
                SLIMInFileOrder,
                l1=1,
                l2=5,
                n_neighbours=50,
                n_iterations=40,
                encoding=encoding,
            ),
            "The authors' file slim: both penalties, 50 neighbours by cosine with shrinkage 10, "
            "40 iterations. The class does what LibRec does, whose penalties grow with the "
            "popularity of the predicting item.",
        ),
        (
            make_system("pLSA", PLSAInFileOrder, n_topics=10, n_iterations=100, encoding=encoding),
            "The authors' file plsa: 10 topics, 100 iterations. The paper calls it GPLSA and "
            "cites Hofmann 2003, but configuration and results are those of plain pLSA.",
        ),
        (
            make_system("PNMF", PNMF, n_factors=10, n_iterations=26, encoding="binary-all"),
            "The authors' file pnmf: 10 factors, 25 iterations, after which LibRec's loop does "
            "one more. LibRec reads which pairs are rated and no values, hence every rating "
            "counts 1; 26 iterations end far from convergence, close to popularity.",
        ),
        (
            make_system("BPoissMF", UntrainedPoissonFactorisation, n_factors=10, seed=1),
            "The authors' file bpoissmf: 10 factors. The class does what LibRec 2.0.0 does, which "
            "never updates a parameter: one arbitrary ranking, nearly the same for all. The seed "
            "is the one in the file, for another generator.",
        ),
        (
            make_system(
                "WRMF",
                WRMF,
                n_factors=20,
                regularisation=0.01,
                alpha=4,
                n_iterations=20,
                encoding=encoding,
            ),
            "The authors' file wrmf: 20 factors, penalty 0.01, alpha 4, 20 iterations.",
        ),
        (
            make_system(
                "eALS",
                ElementwiseALS,
                n_factors=200,
                regularisation=0.01,
                overall_weight=128,
                popularity_exponent=0.4,
                weighting="uniform",
                n_iterations=20,
                encoding=encoding,
            ),
            "The authors' file eals: 200 factors, penalty 0.01, 20 iterations, and judge 1, which "
            "switches off the popularity weights that are the point of the publication.",
        ),
        (
            make_system(
                "SVD++",
                SVDpp,
                n_factors=20,
                learning_rate=0.002,
                regularisation=0.01,
                n_epochs=100,
                encoding=encoding,
            ),
            "The authors' file svdpp: 20 factors, step 0.002, all penalties 0.01, 100 iterations. "
            "Rankings are by predicted rating.",
        ),
        (
            make_system(
                "RankSGD",
                RankSGD,
                n_factors=10,
                learning_rate=0.01,
                regularisation=0,
                n_epochs=30,
                encoding=encoding,
            ),
            "The authors' file ranksgd: 10 factors, step 0.01, 30 iterations. LibRec configures a "
            "penalty and never applies it. LibRec reads ratings in the order of its file, here "
            "they are shuffled.",
        ),
        (
            make_system(
                "ListRankMF",
                ListRankMFSkippingZeros,
                n_factors=5,
                learning_rate=1,
                regularisation=0.06,
                n_iterations=30,
                encoding=encoding,
            ),
            "The authors' file listrankmf: 5 factors, step 1, penalty 0.06, 30 iterations. The "
            "class does what LibRec 2.0.0 does, whose gradient passes over ratings that count 0.",
        ),
        (
            make_system(
                "WBPR",
                WBPRUnpopularNegatives,
                n_factors=128,
                learning_rate=0.01,
                regularisation=0.01,
                n_epochs=20,
                encoding=encoding,
            ),
            "The authors' file wbpr: 128 factors, step and penalty 0.01, 20 iterations. The class "
            "does what LibRec does from 2.0 on, whose sampler ends up with the least popular "
            "items.",
        ),
        (
            make_system(
                "GBPR",
                GBPRBatchStep,
                n_factors=10,
                learning_rate=0.01,
                regularisation=0.01,
                n_epochs=100,
                group_weight=1.5,
                group_size=2,
                encoding=encoding,
            ),
            "The authors' file gbpr: 10 factors, step and penalty 0.01, 100 iterations, groups of "
            "2 with weight 1.5, outside the range that the publication allows. The class does "
            "what LibRec does, which applies the gradients of an epoch at once.",
        ),
    )
