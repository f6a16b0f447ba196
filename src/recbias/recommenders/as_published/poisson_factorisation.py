"""What stood in for Poisson factorisation in the figures of MCCRS20."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.recommenders.base import Algorithm, Coverage, factor_scores, parameter, register
from recbias.recommenders.non_negative import starting_gammas


@register
@dataclass(eq=False)
class UntrainedPoissonFactorisation(Algorithm):
    r"""Poisson factorisation whose parameters stay at their random initial values.

    LibRec 2.0.0's BPoissMF computes responsibilities but never writes a parameter, so that its
    scores :math:`E\theta_u \cdot E\beta_i` say nothing about the ratings. The noise around the
    prior is small: users hardly differ, and the ranking is an arbitrary one, almost the same for
    everybody. Figures made with it say nothing about Poisson factorisation.

    The ranking depends on the numbers of users and items and on `seed` alone: it is the same in
    all folds of a data set, and `fit` draws nothing. Which one LibRec drew is not known; a
    published figure can only be compared with the range over seeds.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    seed : int
        Names the ranking.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        The initial means.

    Notes
    -----
    **Defaults.** 10 factors are those of MCCRS20's configuration. Its other keys were not read.
    The initial distributions are those of `PoissonFactorisation`, the prior's shape 0.3 and rate 1
    with up to 0.01 and 0.1 more: which ones LibRec 2.0.0 has is a reading, not a certainty.

    **Complexity.** No iterations; memory for the vectors.

    **Non-computable.** Pairs of a user or an item without ratings.

    References
    ----------
    Gopalan, Hofman & Blei, "Scalable recommendation with hierarchical Poisson factorization",
    UAI 2015.
    """

    n_factors: int = parameter(10, minimum=1)
    seed: int = parameter(1, minimum=0)
    coverage: ClassVar[Coverage] = "known pairs"
    breaks_ties_by_number: ClassVar[bool] = True
    # Random values they are, but drawn from the parameter `seed` alone.
    deterministic: ClassVar[bool] = True

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self.user_factors, self.item_factors = initial_means(
            train.n_users, train.n_items, self.n_factors, self.seed
        )

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)


def initial_means(
    n_users: int, n_items: int, n_factors: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Draw the vectors of `UntrainedPoissonFactorisation`.

    Parameters
    ----------
    n_users, n_items, n_factors : int
        How many.
    seed : int
        Names the draw.

    Returns
    -------
    users, items : float64 array (n_users, n_factors), (n_items, n_factors)
    """
    rng = np.random.default_rng(seed)
    shapes, rates = starting_gammas(n_users, n_factors, 0.3, 1.0, rng=rng)
    users = shapes / rates
    shapes, rates = starting_gammas(n_items, n_factors, 0.3, 1.0, rng=rng)
    return users, shapes / rates
