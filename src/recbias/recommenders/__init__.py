"""Recommenders: one small contract, the algorithms of the papers, and named line-ups of systems.

`base` says what a recommender is, names, parametrises and builds one; `contract` checks what it
promises. The models are in modules by family, what papers really ran in `as_published`. `elsewhere`
reads scores and lists of other programs, `outside` takes classes of a reader's own, `definitions`
digests their source; `descriptions` lays out docstrings. It imports `recbias.protocol` and
`recbias.data`. Begin with `base.Recommender`, then `non_personalised`, the smallest models.
"""

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
from recbias.recommenders.elementwise import ElementwiseALS
from recbias.recommenders.elsewhere import FromScores
from recbias.recommenders.least_squares import WRMF, WeightedMF
from recbias.recommenders.line_ups import (
    MCCRS20_ROWS,
    Variation,
    bcc17_grid,
    line_up,
    line_up_names,
    line_up_sources,
    merged_star_variants,
    one_name_sources,
    one_name_systems,
    sensitivity_systems,
    sensitivity_variations,
    with_seeds,
)
from recbias.recommenders.linear import EASE, SLIM, AssociationRules
from recbias.recommenders.listwise import ListRankMF
from recbias.recommenders.modern import (
    ImplicitALS,
    ImplicitBPR,
    ImplicitItemBM25,
    ImplicitItemCosine,
    ImplicitItemTFIDF,
    ImplicitLMF,
)
from recbias.recommenders.neighbourhood import CoRatedItemKNN, CoRatedUserKNN, UserKNN
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
from recbias.recommenders.outside import Carried, as_system, carried
from recbias.recommenders.pairwise import BPR, GBPR, WBPR, RankSGD
from recbias.recommenders.rating_prediction import BiasedMF, SVDpp
from recbias.recommenders.topic import PLSA, GaussianPLSA

__all__ = [
    "BPR",
    "EASE",
    "GBPR",
    "MCCRS20_ROWS",
    "PLSA",
    "PNMF",
    "SLIM",
    "WBPR",
    "WRMF",
    "Algorithm",
    "AssociationRules",
    "AverageRating",
    "BiasedMF",
    "Carried",
    "CoRatedItemKNN",
    "CoRatedUserKNN",
    "ElementwiseALS",
    "Encoding",
    "FromScores",
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
    "RankSGD",
    "Recommender",
    "RelevantPopularity",
    "SVDpp",
    "System",
    "UserKNN",
    "Variation",
    "WeightedMF",
    "algorithm",
    "algorithms",
    "as_system",
    "bcc17_grid",
    "carried",
    "line_up",
    "line_up_names",
    "line_up_sources",
    "merged_star_variants",
    "one_name_sources",
    "one_name_systems",
    "parameter",
    "register",
    "sensitivity_systems",
    "sensitivity_variations",
    "with_seeds",
]
