"""Recommenders: one small contract, the algorithms of the papers, and named line-ups of systems."""

from recbias.recommenders.base import (
    Algorithm,
    Encoding,
    Recommender,
    System,
    algorithm,
    algorithms,
    parameter,
    register,
)
from recbias.recommenders.least_squares import WeightedMF
from recbias.recommenders.line_ups import (
    bcc17_grid,
    line_up,
    line_up_sources,
    merged_star_variants,
)
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
from recbias.recommenders.non_personalised import (
    AverageRating,
    OptimalAntiPrecision,
    OptimalPrecision,
    OracleRanking,
    Popularity,
    Random,
    RelevantPopularity,
)
from recbias.recommenders.rating_prediction import BiasedMF, SVDpp
from recbias.recommenders.topic import PLSA, GaussianPLSA

__all__ = [
    "PLSA",
    "PNMF",
    "Algorithm",
    "AverageRating",
    "BiasedMF",
    "Encoding",
    "GaussianPLSA",
    "ImplicitALS",
    "ImplicitBPR",
    "ImplicitItemBM25",
    "ImplicitItemCosine",
    "ImplicitItemTFIDF",
    "ImplicitLMF",
    "ListRankMF",
    "OptimalAntiPrecision",
    "OptimalPrecision",
    "OracleRanking",
    "PoissonFactorisation",
    "Popularity",
    "Random",
    "Recommender",
    "RelevantPopularity",
    "SVDpp",
    "System",
    "UserKNN",
    "WeightedMF",
    "algorithm",
    "algorithms",
    "bcc17_grid",
    "line_up",
    "line_up_sources",
    "merged_star_variants",
    "parameter",
    "register",
]
