"""What people run today, and the cited models that the papers' runs were not."""

from __future__ import annotations

from recbias.recommenders.elementwise import ElementwiseALS
from recbias.recommenders.least_squares import WeightedMF
from recbias.recommenders.line_ups.entries import Entry, encoding_from, make_system
from recbias.recommenders.linear import EASE, SLIM
from recbias.recommenders.listwise import ListRankMF
from recbias.recommenders.modern import (
    ImplicitALS,
    ImplicitBPR,
    ImplicitItemBM25,
    ImplicitItemCosine,
    ImplicitItemTFIDF,
    ImplicitLMF,
)
from recbias.recommenders.neighbourhood import UserKNN
from recbias.recommenders.non_negative import PNMF, PoissonFactorisation
from recbias.recommenders.non_personalised import Popularity, Random, RelevantPopularity
from recbias.recommenders.pairwise import BPR, GBPR, WBPR
from recbias.recommenders.topic import PLSA


def modern(min_rating: float) -> tuple[Entry, ...]:
    """Return present-day references, with their sources.

    Likes alone are training data, as is usual today for data of implicit feedback: ratings from
    the threshold on count 1, others are dropped.

    Parameters
    ----------
    min_rating : float
        That threshold.
    """
    likes = encoding_from("binary-pos", min_rating)
    library = "Defaults of implicit 0.7.3, on likes."
    return (
        (
            make_system("Random", Random, n_seeds=10),
            "The floor. Ten seeds, because one random ranking hits too rarely to show its "
            "expectation.",
        ),
        (make_system("Popularity", Popularity), "The baseline: all training ratings count."),
        (
            make_system("Relevant popularity", RelevantPopularity, min_rating=min_rating),
            "The baseline that sees what the others see: likes.",
        ),
        (make_system("ALS (implicit)", ImplicitALS, encoding=likes), library),
        (
            make_system("BPR (implicit)", ImplicitBPR, encoding=likes),
            library + " One thread, since two give other results at the same seed.",
        ),
        (make_system("LMF (implicit)", ImplicitLMF, encoding=likes), library),
        (make_system("Item cosine (implicit)", ImplicitItemCosine, encoding=likes), library),
        (make_system("Item TF-IDF (implicit)", ImplicitItemTFIDF, encoding=likes), library),
        (make_system("Item BM25 (implicit)", ImplicitItemBM25, encoding=likes), library),
        (
            make_system("User kNN", UserKNN, n_neighbours=100, encoding=likes),
            "Cosine of whole profiles, summed: the neighbourhood that ranks best in Cañamares, "
            "Castells & Moffat 2020, with its 100 neighbours.",
        ),
        (
            make_system("EASE", EASE, regularisation=500, encoding=likes),
            "The publication's penalty for MovieLens 20M (Steck 2019).",
        ),
        (
            make_system("SLIM", SLIM, l1=1, l2=100, encoding=likes),
            "The publication's model over all items, beside SLIM of mccrs20, whose penalties grow "
            "with popularity. Penalties of a grid on MovieLens 1M in which P@10 hardly moved.",
        ),
        (
            make_system(
                "MF",
                WeightedMF,
                n_factors=50,
                regularisation=0.1,
                alpha=1,
                n_iterations=20,
                target="binary",
                encoding=likes,
            ),
            "Hu et al. 2008 with the example parameters of RankSys; on likes the binary target of "
            "the publication and the raw one of RankSys are the same.",
        ),
        (
            make_system(
                "eALS",
                ElementwiseALS,
                n_factors=32,
                regularisation=0.01,
                overall_weight=128,
                popularity_exponent=0.4,
                weighting="popularity",
                n_iterations=20,
                encoding=likes,
            ),
            "The publication's popularity weights, which mccrs20 switched off. 32 factors, overall "
            "weight 128 and exponent 0.4 are LibRec 2.0's. The publication tunes the overall "
            "weight for each data set.",
        ),
        (
            make_system("BPR", BPR, n_factors=10, n_epochs=100, encoding=likes),
            "The publication's model; factors, step, penalty and epochs of LibRec 2.0.",
        ),
        (
            make_system("WBPR", WBPR, n_factors=128, n_epochs=20, encoding=likes),
            "The publication's model, popular items as negatives, with the parameters of WBPR in "
            "mccrs20.",
        ),
        (
            make_system(
                "GBPR",
                GBPR,
                n_factors=10,
                n_epochs=100,
                group_weight=0.8,
                group_size=5,
                encoding=likes,
            ),
            "The publication's model with a step per triple; group weight and size of LibRec 1.3, "
            "within the publication's range.",
        ),
        (
            make_system("HPF", PoissonFactorisation, n_factors=50, encoding=likes),
            "The publication's model and priors, trained, beside BPoissMF of mccrs20, which was "
            "not. As many factors as MF.",
        ),
        (
            make_system("PNMF", PNMF, n_factors=10, n_iterations=200, encoding=likes),
            "As in mccrs20, but until it has nearly converged.",
        ),
        (
            make_system("pLSA", PLSA, n_topics=50, n_iterations=100, encoding=likes),
            "The example of RankSys: 50 topics, 100 iterations.",
        ),
        (
            make_system("ListRankMF", ListRankMF),
            "The publication's model, which needs graded ratings, with the parameters of "
            "ListRankMF in mccrs20.",
        ),
    )
