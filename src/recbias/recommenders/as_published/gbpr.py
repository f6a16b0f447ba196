"""GBPR that learns in whole epochs: what LibRec does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recbias.recommenders.base import parameter, register
from recbias.recommenders.pairwise import GBPR, Sampler, chunks


@register
@dataclass(eq=False)
class GBPRBatchStep(GBPR):
    r"""GBPR as in LibRec: vectors change once per epoch, and a user's own preference counts less.

    The model, the draws and the terms of the objective are those of `GBPR`. Four things differ.
    The vectors stay as they are during an epoch; the steps for all its triples are added up and
    taken at the end, including what the regularisation takes off for each triple. The biases
    change with every triple. They start from a uniform distribution between 0 and 1. The weight
    :math:`\rho` of the group is 1.5, so that a user's own preference has the weight -0.5, besides
    their share as a member.

    Parameters
    ----------
    n_factors : int
        Length of the vectors.
    learning_rate : float
        Length of a step.
    regularisation : float
        :math:`\lambda`, the same for all parameters.
    n_epochs : int
        Number of epochs.
    group_weight : float
        :math:`\rho`.
    group_size : int
        :math:`|G|`; all raters form the group of an item that has no more.
    samples_per_user : int
        Triples in an epoch, per user with a rating; 0 for as many as there are ratings.
    encoding : str
        Which ratings are kept, see `Encoding`; a kept zero counts as rated.

    Attributes
    ----------
    user_factors, item_factors : float64 array (n_users, n_factors), (n_items, n_factors)
        p and q; they start from a normal distribution with standard deviation 0.1, and are zero
        where there are no ratings.
    item_bias : float64 array (n_items,)
        b.

    Raises
    ------
    DataError
        If every user rated every item.
    ConfigError
        If training runs away.

    Notes
    -----
    **Defaults.** Those of LibRec's ``gbpr-test``, which is the same in all versions from 2.0 on,
    with the triples per epoch and the spread of the vectors of LibRec 2.0.

    **Complexity.** :math:`O(n |G| K)` per epoch of n triples; memory :math:`O((U + I) K)` and one
    more copy of the ratings, by item. Objective: the mean over 32768 triples and groups that are
    always the same.

    **Non-computable.** Pairs whose user or item has no rating.

    References
    ----------
    Pan & Chen, "GBPR: Group preference based Bayesian personalized ranking for one-class
    collaborative filtering", IJCAI 2013. Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library
    for recommender systems", UMAP 2015.
    """

    group_weight: float = parameter(1.5, minimum=0)
    group_size: int = parameter(2, minimum=1)

    def _initial_biases(self, n_items: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return uniform numbers between 0 and 1."""
        return rng.random(n_items)

    def _epoch(self, n_samples: int, sampler: Sampler, rng: np.random.Generator) -> None:
        """Draw triples, and take the steps for all of them at once, but for the biases."""
        new_user_factors, new_item_factors = self.user_factors.copy(), self.item_factors.copy()
        for n in chunks(n_samples):
            self._add_steps(sampler.draw(n, rng=rng), rng, new_user_factors, new_item_factors)
        self.user_factors, self.item_factors = new_user_factors, new_item_factors
