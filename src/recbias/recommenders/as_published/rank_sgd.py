"""RankSGD in a fixed order: what LibRec does, to show what depends on the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.recommenders.base import parameter, register
from recbias.recommenders.pairwise import RankSGD


@register
@dataclass(eq=False)
class RankSGDInOrder(RankSGD):
    r"""RankSGD as in LibRec: each epoch goes through the ratings user by user, item by item.

    The model and its steps are those of `RankSGD`; only the order of the ratings within an epoch
    differs, and is the same in each epoch. LibRec numbers items as they first appear in the file,
    and goes through a user's items by their numbers. Popular items appear early; they then come
    before the others, which have the last word.

    No line-up has it: it shows what a published value depends on, see `ablations`.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of a step.
    regularisation : float
        :math:`\lambda`.
    n_epochs : int
        How often each rating is used.
    order : {"first appearance", "popularity", "reverse popularity", "number"}
        Order of a user's items. ``"first appearance"``: as they first appear when one looks at one
        user after the other in random order, which is what LibRec's numbers amount to in a file
        that is sorted by user. Otherwise those with most ratings first, or last, or by their number
        here, which is the order of their labels. Equal numbers of ratings: by number.
    encoding : str
        What a rating counts, see `Encoding`.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1, and are zero
        where there are no ratings.
    item_bias : float64 array (n_items,)
        Zeros; the model has no biases.

    Raises
    ------
    DataError
        If every user rated every item.
    ConfigError
        If training runs away.

    Notes
    -----
    **Defaults.** Those of LibRec's ``ranksgd-test``, where the regularisation that one configures
    is never applied; hence 0.

    **Complexity.** :math:`O(nnz K)` per epoch, besides a bisection in the user's ratings for each
    draw; memory :math:`O((U + I) K)`. Objective: the mean over at most 32768 ratings, and items j,
    that are always the same.

    **Non-computable.** Pairs whose user or item has no rating.

    References
    ----------
    Jahrer & Töscher, "Collaborative filtering ensemble for ranking", JMLR W&CP 18, 2012. Guo,
    Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015.
    """

    order: Literal["first appearance", "popularity", "reverse popularity", "number"] = parameter(
        "first appearance",
        choices=("first appearance", "popularity", "reverse popularity", "number"),
    )

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        number = np.arange(train.n_items)
        if self.order == "first appearance":
            turn, among = rng.permutation(train.n_users), rng.random(len(train))
            seen, first = np.unique(
                train.item[np.lexsort((among, turn[train.user]))], return_index=True
            )
            number[seen] = first
        elif self.order != "number":
            counts = train.item_counts()
            number = -counts if self.order == "popularity" else counts
        self._order = np.lexsort((number[train.item], train.user))
        try:
            super()._fit(train, rng)
        finally:
            del self._order

    def _pass_order(
        self, train: Ratings, rows: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> npt.NDArray[np.int64]:
        """Return the rows in the same order in each epoch."""
        return self._order[np.isin(self._order, rows)]
