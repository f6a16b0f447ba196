"""The systems of Adamopoulos, Tuzhilin & Mountanos 2015, with LibRec's defaults of the time."""

from __future__ import annotations

from recbias.recommenders.line_ups.entries import Entry, make_system
from recbias.recommenders.linear import AssociationRules
from recbias.recommenders.listwise import ListRankMF
from recbias.recommenders.neighbourhood import CoRatedItemKNN, CoRatedUserKNN
from recbias.recommenders.non_personalised import Popularity, Random
from recbias.recommenders.pairwise import BPR, WBPR, RankSGD

_NO_PARAMETERS = (
    "The paper names LibRec and prints no parameters. LibRec 1.3's librec.conf, its general "
    "default, has 10 factors, 100 iterations, penalty 0.001 and a step of 0.001 that grows by 5 % "
    "in every iteration that lowers the loss, and halves otherwise; here it is a constant 0.01, "
    "near the mean of such a course. "
)


def atm15(min_rating: float) -> tuple[Entry, ...]:
    """Return the line-up of Adamopoulos, Tuzhilin & Mountanos 2015, with its sources.

    Parameters
    ----------
    min_rating : float
        Plays no part: no system of this line-up recodes ratings by a threshold.
    """
    return (
        (
            make_system("Random", Random, n_seeds=10),
            "Not in the paper; one end of what its measures tell apart. Ten seeds, because one "
            "random ranking hits too rarely to show its expectation.",
        ),
        (
            make_system("Popularity", Popularity),
            "Not in the paper; the other end of what its measures tell apart.",
        ),
        (
            make_system("AR", AssociationRules, measure="confidence", encoding="binary-all"),
            "The paper names LibRec and prints no parameters; this model has none. LibRec 1.3's "
            "demo configuration AR.conf makes every rating 1. Alternative: weights by stars, "
            "which the code takes if nothing is configured.",
        ),
        (
            make_system(
                "Item kNN",
                CoRatedItemKNN,
                n_neighbours=50,
                similarity="pearson",
                shrinkage=0,
                choose_among="profile",
            ),
            "The paper names LibRec and prints no parameters. LibRec 1.3's librec.conf has "
            "Pearson correlation, 50 neighbours and no shrinkage, so that pairs with two or three "
            "common ratings come first. Alternative: the shrinkage 30 that its demo configuration "
            "UserKNN.conf has for users.",
        ),
        (
            make_system(
                "User kNN",
                CoRatedUserKNN,
                n_neighbours=50,
                similarity="pearson",
                shrinkage=0,
                choose_among="raters",
            ),
            "The paper names LibRec and prints no parameters. LibRec 1.3's librec.conf has "
            "Pearson correlation, 50 neighbours and no shrinkage. Alternative: shrinkage 30 of "
            "its demo configuration UserKNN.conf, with which P@10 on MovieLens 100K more than "
            "doubles.",
        ),
        (
            make_system(
                "RankSGD",
                RankSGD,
                n_factors=10,
                learning_rate=0.01,
                regularisation=0,
                n_epochs=100,
                encoding="binary-all",
            ),
            _NO_PARAMETERS + "LibRec 1.3 refuses ratings that are not 0 or 1, and never applies "
            "the penalty. Alternative: 30 iterations, the file of later versions.",
        ),
        (
            make_system("LRMF", ListRankMF, n_factors=10, regularisation=0.001, n_iterations=100),
            _NO_PARAMETERS + "The model is the publication's, with a line search. LibRec 1.3's "
            "code follows another gradient and hits no more often than chance, so that the "
            "paper's LRMF is probably an arbitrary ranking.",
        ),
        (
            make_system(
                "BPR",
                BPR,
                n_factors=10,
                learning_rate=0.01,
                regularisation=0.001,
                n_epochs=100,
                draw="users",
                encoding="binary-all",
            ),
            _NO_PARAMETERS + "Users and their items are drawn as in LibRec, every rating counts "
            "1. Alternative: the demo configuration BPR.conf with 30 iterations and penalty 0.1.",
        ),
        (
            make_system(
                "WBPR",
                WBPR,
                n_factors=10,
                learning_rate=0.01,
                regularisation=0.001,
                n_epochs=100,
                encoding="binary-all",
            ),
            _NO_PARAMETERS + "Every rating counts 1. LibRec 1.3 still draws items by popularity; "
            "the sampler that draws the least popular ones came with 2.0.",
        ),
    )
