"""SLIM as LibRec ran it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.recommenders.base import Algorithm, Coverage, Trend, by_item, parameter, register
from recbias.recommenders.linear import (
    item_products,
    most_similar,
    regression_error,
    sparse_regressions,
    sparse_scores,
)
from recbias.recommenders.neighbourhood import co_rated_similarities


@register
@dataclass(eq=False)
class SLIMPenaltyByPopularity(Algorithm):
    r"""SLIM with penalties that grow with the popularity of the predicting item.

    LibRec averages gradient and curvature of a weight over the :math:`n_i` users whose rating of
    the predicting item i is not 0. It thereby minimises :math:`\tfrac12 \|X - XW\|_F^2 + \sum_i n_i
    \sum_j (\lambda |w_{ij}| + \tfrac\beta2 w_{ij}^2)`, not the objective of the publication, which
    is in `SLIM`. Three more things differ: weights may be negative; only the most similar items
    have a weight for an item, by the cosine over users who rated both, shrunk; and pairs without
    any weight score 0 instead of nothing.

    A weight survives only where the mean product of the ratings of i and the residuals is above
    :math:`\lambda`. With :math:`\lambda = 1` hardly any does on ratings of 0, 1 and 2, and none
    to speak of on 0 and 1. Many users have fewer than ten items with a score other than 0, so that
    the order of ties fills their lists.

    LibRec starts from random weights and stops when its loss, which is another function, stops
    falling; here the minimum, which is unique, is found.

    Parameters
    ----------
    l1, l2 : float
        :math:`\lambda` and :math:`\beta`, l2 above 0.
    n_neighbours : int
        How many items may have a weight for an item, and those that tie with the last.
    shrinkage : float
        :math:`\gamma`: with n users in common a cosine counts :math:`n / (n + \gamma)` times.
    n_iterations : int
        The largest number of rounds; training ends when all columns are finished.
    profile_share : float
        Share of the ratings other than 0, drawn at random when fitted, that count in a profile
        when scoring. Below 1 only to show what a defect does: in the patched release behind the
        figures of Mena-Maldonado et al. 2020, the iterator over a profile looks for zeros to skip
        at the wrong place, and leaves out 42 % of these ratings of MovieLens 1M. It does so when
        learning, too, which is not imitated.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    weights : scipy.sparse.csr_array (n_items, n_items)
        W, with the predicting item as row.

    Notes
    -----
    **Defaults.** The configuration of Mena-Maldonado et al. 2020 (their repository's
    ``slim.properties``), which is that of LibRec's file for SLIM.

    **Complexity.** As `SLIM`, but with few candidates for each item: similarities take most of the
    time. Learning holds 9 bytes for each pair of items.

    **Non-computable.** Pairs of a user or an item without ratings. Any other pair has a score,
    which is 0 for most of them.

    References
    ----------
    Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement between true
    and false-positive metrics in recommender systems evaluation", SIGIR 2020, and its repository.
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: A Java library for recommender systems", UMAP 2015.
    """

    l1: float = parameter(1.0, minimum=0)
    l2: float = parameter(5.0, above=0)
    n_neighbours: int = parameter(50, minimum=1)
    shrinkage: float = parameter(10.0, minimum=0)
    n_iterations: int = parameter(40, minimum=1)
    profile_share: float = parameter(1.0, minimum=0)
    encoding: str = parameter("graded-zero>=4")
    coverage: ClassVar[Coverage] = "known pairs"
    objective_trend: ClassVar[Trend] = "falls"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.profile_share > 1:
            raise ConfigError(
                f"SLIMPenaltyByPopularity: profile_share is {self.profile_share:g}, "
                "expected a number from 0 to 1"
            )

    @property
    def deterministic(self) -> bool:  # type: ignore[override]  # here a parameter decides it
        """Whether profiles are whole, so that nothing is drawn."""
        return self.profile_share == 1

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self.refuse_pairs(train, 9)
        penalties = self._penalties(train)
        pointers, rows = by_item(train)
        columns = (pointers, train.user[rows], train.value[rows], train.n_users)
        similar = co_rated_similarities(*columns, "cosine", self.shrinkage)
        rounds = sparse_regressions(
            item_products(train),
            *penalties,
            candidates=most_similar(similar, train.n_items, self.n_neighbours),
            signed=True,
            tolerance=1e-9,
        )
        self.weights = scipy.sparse.csr_array((train.n_items, train.n_items))
        for _ in self._iterations(self.n_iterations, train):
            weights = next(rounds, None)
            if weights is None:
                break
            self.weights = weights
        in_profile = rng.random(len(train)) < self.profile_share
        self._profiles = (train.indptr, train.item, np.where(in_profile, train.value, 0.0))

    def _penalties(self, train: Ratings) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        counts = np.bincount(train.item[train.value != 0], minlength=train.n_items).astype(float)
        return self.l1 * counts, self.l2 * counts

    def _objective(self, train: Ratings) -> float:
        l1, l2 = self._penalties(train)
        penalty = np.sum(l1 @ abs(self.weights)) + np.sum(l2 @ self.weights.power(2)) / 2
        return float(regression_error(train, self.weights) / 2 + penalty)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return sparse_scores(users, self._profiles, self.weights, evidence=False)
