"""What stood in for ListRankMF in the figures of MCCRS20."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import DataError
from recbias.recommenders.base import parameter, register
from recbias.recommenders.listwise import ListRankMF


@register
@dataclass(eq=False)
class ListRankMFSkippingZeros(ListRankMF):
    r"""ListRankMF that passes over ratings of 0, except in the totals of its distributions.

    LibRec 2.0.0 iterates over non-zero entries, while the totals that turn ratings and predictions
    into distributions run over all of them. With ratings of 0 kept, as in the figures of
    Mena-Maldonado et al. (SIGIR 2020), only ratings above 0 therefore move factors, along terms
    of the gradient of `ListRankMF`, and only they count in the loss that the line search asks:
    :math:`-\sum_u \sum_{i: r_{ui} > 0} y_{ui} \ln \pi_{ui}`, with y and :math:`\pi` from all of
    a user's ratings. What remains is not the gradient of this loss, so that after some 20
    iterations no step lowers it any more and training ends.

    The disliked are not pushed down: anti-precision is higher than that of `ListRankMF`. Without
    ratings of 0 the model is `ListRankMF` with another start.

    LibRec's line search also drops entries by accident, about as many as there are zeros, because
    of a defect in an iterator of its matrices. Which ones depends on the order of rows in the
    file; this is left out.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of the step before it is doubled for the first iteration.
    regularisation : float
        :math:`\lambda`.
    n_iterations : int
        Largest number of steps.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; zeros where there are no ratings. They start from uniform numbers between 0 and 1:
        the factor of 0.1 that LibRec's code means to apply is lost.

    Raises
    ------
    DataError
        If a rating is negative, or none is above 0.

    Notes
    -----
    **Defaults.** As for `ListRankMF`. The largest step of 100 in the paper's configuration has no
    effect in LibRec 2.0.0.

    **Complexity.** As for `ListRankMF`.

    **Non-computable.** Pairs of a user or an item without ratings. A user all of whose ratings are
    0 has a score for every item, as in LibRec, but it comes from the random start.

    References
    ----------
    Shi, Larson & Hanjalic, "List-wise learning to rank with matrix factorization for collaborative
    filtering", RecSys 2010.

    Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement between true
    and false-positive metrics in recommender systems evaluation", SIGIR 2020.
    """

    encoding: str = parameter("graded-zero>=4")

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        if not self._counts(train).any():
            raise DataError(
                f"{type(self).__name__}: every training rating in '{train.name}' counts 0, so that "
                "there is nothing to learn\nchoose an encoding in which some count more"
            )
        super()._fit(train, rng)

    def _counts(self, train: Ratings) -> npt.NDArray[np.bool_]:
        return train.value > 0

    def _start(self, rng: np.random.Generator, n: int) -> npt.NDArray[np.float64]:
        return rng.random((n, self.n_factors))
