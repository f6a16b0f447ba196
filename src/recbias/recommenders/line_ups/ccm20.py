"""The systems of Cañamares, Castells & Moffat 2020, with the settings of its experiments."""

from __future__ import annotations

from recbias.recommenders.least_squares import WeightedMF
from recbias.recommenders.line_ups.entries import Entry, encoding_from, make_system
from recbias.recommenders.neighbourhood import UserKNN
from recbias.recommenders.non_personalised import AverageRating, Popularity, Random

FEW_NEIGHBOURS = (1, 3, 10, 30)
"""Neighbours in the paper's experiment on pairs without a score, besides the 100 of the others."""

OVERLAPS = (1, 5, 10, 20, 40)
"""Common items asked of neighbours; the paper plots a range without naming its values."""


def ccm20(min_rating: float) -> tuple[Entry, ...]:
    """Return the line-up of Cañamares, Castells & Moffat 2020, with its sources.

    Parameters
    ----------
    min_rating : float
        The smallest rating of a liked item, for the average rating.
    """
    entries: list[Entry] = [
        (
            make_system("Random", Random, n_seeds=10),
            "Fills up lists in the paper's experiment on pairs without a score. Ten seeds, "
            "because one random ranking hits too rarely to show its expectation.",
        ),
        (
            make_system("Popularity", Popularity),
            "Fills up lists in the same experiment: the number of training ratings, as in RankSys.",
        ),
        (
            make_system(
                "Average rating",
                AverageRating,
                smoothing=1,
                encoding=encoding_from("binary-zero", min_rating),
            ),
            "Fills up lists in the same experiment. The paper does not say how it averages; this "
            "is the share of likes, smoothed with one rating, of the same group's code for "
            "another paper of 2020 (RecSys).",
        ),
        (
            make_system("Average rating (stars)", AverageRating, smoothing=1),
            "The other reading: the mean of the stars as given, smoothed alike, so that a single "
            "rating of five stars does not come first.",
        ),
        (
            make_system("User kNN", UserKNN, n_neighbours=100),
            "Printed in Sect. 4: cosine and 100 neighbours for MovieLens. RankSys sums similarity "
            "times rating and does not normalise.",
        ),
        (
            make_system(
                "MF", WeightedMF, n_factors=50, regularisation=1, alpha=0.1, n_iterations=20
            ),
            "Printed in Sect. 4: 50 factors, lambda 1, alpha 0.1, 20 iterations, of the RankSys "
            "class that takes the rating itself as target.",
        ),
        (
            make_system(
                "MF (as in RankSys)",
                WeightedMF,
                n_factors=50,
                regularisation=0.1,
                alpha=1,
                n_iterations=20,
            ),
            "As printed, with lambda and alpha swapped. These are the values of RankSys' example, "
            "and only with them are MF and kNN as close as the text says.",
        ),
    ]
    entries += [
        (
            make_system(f"User kNN k={k}", UserKNN, n_neighbours=k),
            "A setting of the paper's experiment on pairs without a score (Sect. 4.6).",
        )
        for k in FEW_NEIGHBOURS
    ]
    entries.append(
        (
            make_system("User kNN k=1000", UserKNN, n_neighbours=1000),
            "The paper's setting for Netflix, compared with 100 neighbours there (Fig. 6).",
        )
    )
    entries += [
        (
            make_system(
                f"User kNN k=10 overlap={overlap}",
                UserKNN,
                n_neighbours=10,
                min_overlap=overlap,
                encoding="binary-all",
            ),
            "A setting of the paper's experiment on users without neighbours: 10 neighbours, "
            "binary ratings, and a smallest number of common items (Fig. 8), here over a range "
            "that reaches beyond the crossing in the text.",
        )
        for overlap in OVERLAPS
    ]
    return tuple(entries)
