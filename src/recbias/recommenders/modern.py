"""What people run today: three models of the library `implicit`, behind this package's contract.

Each is trained in one thread (its BPR gives other results with two at the same seed, and BLAS
rounds differently), without a progress bar and without the library's advice about BLAS on stderr.
The library is imported when the first of them is fitted, because that takes a second.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from recbias.errors import ConfigError
from recbias.ratings import Ratings
from recbias.recommenders.base import (
    Algorithm,
    Coverage,
    encoded_values,
    factor_scores,
    parameter,
    register,
)
from recbias.recommenders.neighbourhood import weighted_sums


@contextmanager
def _one_quiet_thread() -> Iterator[None]:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield


def _table(model: str, encoding: str, train: Ratings) -> scipy.sparse.csr_matrix:
    table = train.matrix().astype(np.float32)
    table.data[:] = encoded_values(model, encoding, train, minimum=0)
    return table


class _ImplicitFactors(Algorithm):
    """A factor model of `implicit`; not a dataclass, so that subclasses order the parameters."""

    coverage: ClassVar[Coverage] = "known pairs"
    encoding: str

    @abstractmethod
    def _model(self, seed: int) -> Any:
        """Return the library's model, not yet fitted."""

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        name = type(self).__name__
        table = _table(name, self.encoding, train)
        with _one_quiet_thread():
            from implicit.recommender_base import ModelFitError

            model = self._model(int(rng.integers(2**31)))
            try:
                model.fit(table, show_progress=False)
            except ModelFitError as error:
                raise ConfigError(
                    f"{name}: training on '{train.name}' gave factors that are no numbers\n"
                    f"choose other parameters than {self}"
                ) from error
        self.user_factors: npt.NDArray[np.float32] = model.user_factors
        self.item_factors: npt.NDArray[np.float32] = model.item_factors

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return factor_scores(self.user_factors[users], self.item_factors)


@register
@dataclass(eq=False)
class ImplicitALS(_ImplicitFactors):
    """`implicit`'s alternating least squares: Hu et al. with a 0/1 target.

    Unlike `WeightedMF`, a rated pair has the confidence alpha * r, *without* the 1 + of the
    publication: with alpha 1 on binary data it weighs no more than a pair without a rating.

    Parameters
    ----------
    n_factors : int
        The library's ``factors``.
    regularisation : float
        The library's ``regularization``.
    alpha : float
        Factor on the values.
    n_iterations : int
        The library's ``iterations``.
    encoding : str
        What a rating counts, see `Encoding`.

    References
    ----------
    Takács, Pilászy & Tikk, "Applications of the conjugate gradient method for implicit feedback
    collaborative filtering", RecSys 2011.
    """

    n_factors: int = parameter(100, minimum=1)
    regularisation: float = parameter(0.01, above=0)
    alpha: float = parameter(1.0, above=0)
    n_iterations: int = parameter(15, minimum=1)
    encoding: str = parameter("binary-all")

    def _model(self, seed: int) -> Any:
        from implicit.cpu.als import AlternatingLeastSquares

        return AlternatingLeastSquares(
            factors=self.n_factors,
            regularization=self.regularisation,
            alpha=self.alpha,
            iterations=self.n_iterations,
            num_threads=1,
            random_state=seed,
        )


@register
@dataclass(eq=False)
class ImplicitBPR(_ImplicitFactors):
    """`implicit`'s Bayesian personalised ranking: rated items above others, pair by pair.

    The library draws the other item as the item of a random rating, thus by popularity.

    Parameters
    ----------
    n_factors : int
        The library's ``factors``.
    learning_rate : float
        Length of a step.
    regularisation : float
        The library's ``regularization``.
    n_iterations : int
        The library's ``iterations``: passes over as many pairs as there are ratings.
    encoding : str
        Read, but the library uses which pairs are rated and not their values.

    References
    ----------
    Rendle, Freudenthaler, Gantner & Schmidt-Thieme, "BPR: Bayesian personalized ranking from
    implicit feedback", UAI 2009.
    """

    n_factors: int = parameter(100, minimum=1)
    learning_rate: float = parameter(0.01, above=0)
    regularisation: float = parameter(0.01, minimum=0)
    n_iterations: int = parameter(100, minimum=1)
    encoding: str = parameter("binary-all")

    def _model(self, seed: int) -> Any:
        from implicit.cpu.bpr import BayesianPersonalizedRanking

        return BayesianPersonalizedRanking(
            factors=self.n_factors,
            learning_rate=self.learning_rate,
            regularization=self.regularisation,
            iterations=self.n_iterations,
            num_threads=1,
            random_state=seed,
        )


@register
@dataclass(eq=False)
class ImplicitItemCosine(Algorithm):
    """`implicit`'s item-item cosine: the summed similarity of an item to those the user rated.

    Parameters
    ----------
    n_neighbours : int
        The library's ``K``: how many items each rated item speaks for, itself included.
    encoding : str
        What a rating counts, see `Encoding`.

    References
    ----------
    Deshpande & Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 22(1), 2004.
    """

    n_neighbours: int = parameter(20, minimum=1)
    encoding: str = parameter("binary-all")
    coverage: ClassVar[Coverage] = "evidence"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        table = _table("ImplicitItemCosine", self.encoding, train)
        with _one_quiet_thread():
            from implicit.nearest_neighbours import CosineRecommender

            model = CosineRecommender(K=self.n_neighbours, num_threads=1)
            model.fit(table, show_progress=False)
        similar = model.similarity
        self._similar = (similar.indptr, similar.indices, similar.data)
        self._ratings = (train.indptr, train.item, table.data.astype(np.float64))

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        scores = np.empty((len(users), len(self._known_item)), dtype=np.float32)
        weighted_sums(users, *self._ratings, *self._similar, False, 1, 0.0, scores)
        return scores
