"""Lists as LibRec makes them: nothing is left out, and ties go to what the file names first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import ConfigError
from recbias.recommenders.as_published.slim import SLIMPenaltyByPopularity
from recbias.recommenders.base import Algorithm, Coverage, OnIteration, ratings_read, register
from recbias.recommenders.neighbourhood import CoRatedItemKNN, CoRatedUserKNN
from recbias.recommenders.non_personalised import AverageRating, Popularity
from recbias.recommenders.topic import PLSA

MOST_ITEMS = 2**24
"""Items whose places float32 can tell apart."""


def file_order(train: Ratings) -> npt.NDArray[np.int64]:
    """Order items as the training file first names them.

    Parameters
    ----------
    train : Ratings
        What is in the file: in the order of its `place`, else sorted by user, then by item.

    Returns
    -------
    int64 array (n_known,)
        The items with a rating.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [2, 1, 2, 1], "item_id": list("abcc"), "rating": 4})
    >>> train = Ratings.from_frame(frame)
    >>> train.item_ids[file_order(train)].tolist()
    ['b', 'c', 'a']
    """
    item = train.item if train.place is None else train.item[np.argsort(train.place)]
    items, first = np.unique(item, return_index=True)
    return items[np.argsort(first)].astype(np.int64)


def places_from_the_end(
    scores: npt.NDArray[np.float32], order: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Replace scores by distinct whole numbers of the same order, in which no two items tie.

    Parameters
    ----------
    scores : float32 array (m, n_items)
        NaN counts 0.
    order : int64 array (n,)
        The items to be listed, those first that win a tie.

    Returns
    -------
    float32 array (m, n_items)
        n for the item that is listed first, 1 for the last; NaN for items that are not in `order`.

    Examples
    --------
    >>> scores = np.array([[np.nan, -1, 2, 0]], dtype=np.float32)
    >>> places_from_the_end(scores, np.array([3, 1, 0]))
    array([[ 2.,  1., nan,  3.]], dtype=float32)
    """
    best = np.argsort(-np.nan_to_num(scores[:, order]), axis=1, kind="stable")
    places = np.full(scores.shape, np.nan, dtype=np.float32)
    numbers = np.arange(len(order), 0, -1, dtype=np.float32)
    np.put_along_axis(places, order[best], numbers[None, :], axis=1)
    return places


class InFileOrder(Algorithm):
    """Mixed into an algorithm, lists what it has scored as LibRec 2.0 does.

    LibRec's `predict` returns 0 where a model has nothing to say, and its lists leave out nothing
    but NaN. For each user it goes through the items by their inner numbers, and an item enters the
    ten only if it scores *more* than the least of them: the first of equal items stay. Inner
    numbers follow the first appearance of an item in the training file. Where the split is
    ``ready order=file``, that is the file's order of rows. Other ratings have none; sorted by user,
    then by item, they name popular items early as well.

    Scores become the place of an item in the user's list, counted from the end: whole numbers, no
    two of which are equal. The tie rule of the evaluation has nothing left to do. As all scores of
    this package, those behind the places are float32, where LibRec compares in double precision.

    When an item with a higher score comes late, one of several equal ones has to leave. Which one
    depends on the inner layout of LibRec's heap; here it is the one that was named last.
    """

    breaks_ties_by_number: ClassVar[bool] = True

    def fit(
        self,
        train: Ratings,
        *,
        rng: np.random.Generator | None = None,
        on_iteration: OnIteration | None = None,
    ) -> Self:
        """Learn, and keep the order in which the ratings name the items; see `Algorithm.fit`.

        Raises
        ------
        ConfigError
            If more than 2**24 items have a rating, so that float32 cannot tell places apart.
        """
        super().fit(train, rng=rng, on_iteration=on_iteration)
        read = ratings_read(self, train)
        self._named = file_order(read)
        if len(self._named) > MOST_ITEMS:
            raise ConfigError(
                f"{type(self).__name__}: '{train.name}' has {len(self._named):,} rated items, and "
                f"scores can tell {MOST_ITEMS:,} places apart\nleave out rare items"
            )
        # The model may know fewer: pLSA none whose ratings all count 0.
        self._known_user, self._known_item = read.user_counts() > 0, read.item_counts() > 0
        return self

    def score(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Score all items for `users` with their places; see `Algorithm.score`."""
        scores = super().score(users)
        places = places_from_the_end(scores, self._named)
        if self.coverage == "known pairs":
            places[~self._known_user[users]] = np.nan
        return places


@register
@dataclass(eq=False)
class PopularityInFileOrder(InFileOrder, Popularity):
    """Popularity that lists the first of equally popular items in the order of the file.

    The scores are those of `Popularity`, turned into places of a list.

    Notes
    -----
    **Defaults.** There are no parameters.

    **Complexity.** As `Popularity`, and a sort of the items for each user.

    **Non-computable.** Pairs of an item without training ratings.

    References
    ----------
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015.
    """


@register
@dataclass(eq=False)
class AverageRatingInFileOrder(InFileOrder, AverageRating):
    """Average rating that lists items of the same average in the order of the file.

    The scores are those of `AverageRating`, turned into places of a list. Where few ratings make an
    average, many items share the highest one, and the order of the file decides which are listed.

    Parameters
    ----------
    smoothing : float
        As of `AverageRating`.
    smoothing_in : {"ratings", "mean item counts"}
        As of `AverageRating`.
    encoding : str
        What a rating counts, see `Encoding`.

    Notes
    -----
    **Defaults.** Those of `AverageRating`.

    **Complexity.** As `AverageRating`, and a sort of the items for each user.

    **Non-computable.** Pairs of an item without training ratings.

    References
    ----------
    Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement between true
    and false-positive metrics in recommender systems evaluation", SIGIR 2020, and its repository,
    which adds this class to LibRec.
    """


@register
@dataclass(eq=False)
class CoRatedUserKNNInFileOrder(InFileOrder, CoRatedUserKNN):
    """User kNN as LibRec lists it: 0 where no neighbour rated the item, ties as in the file.

    The sums are those of `CoRatedUserKNN`, turned into places of a list. A user who liked nothing
    has no neighbour where ratings that are no likes count 0: all sums are 0, and the list is the
    beginning of the file.

    Parameters
    ----------
    n_neighbours : int
        As of `CoRatedUserKNN`.
    similarity : {"cosine", "pearson"}
        As of `CoRatedUserKNN`.
    shrinkage : float
        As of `CoRatedUserKNN`.
    choose_among : {"raters", "all users"}
        As of `CoRatedUserKNN`.
    encoding : str
        What a rating counts, see `Encoding`.

    Notes
    -----
    **Defaults.** Those of `CoRatedUserKNN`.

    **Complexity.** As `CoRatedUserKNN`, and a sort of the items for each user.

    **Non-computable.** Pairs of a user or an item without ratings.

    References
    ----------
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015.
    """

    coverage: ClassVar[Coverage] = "known pairs"


@register
@dataclass(eq=False)
class CoRatedItemKNNInFileOrder(InFileOrder, CoRatedItemKNN):
    """Item kNN as LibRec lists it: 0 where the profile has no neighbour, ties as in the file.

    The sums are those of `CoRatedItemKNN`, turned into places of a list.

    Parameters
    ----------
    n_neighbours : int
        As of `CoRatedItemKNN`.
    similarity : {"cosine", "pearson"}
        As of `CoRatedItemKNN`.
    shrinkage : float
        As of `CoRatedItemKNN`.
    choose_among : {"profile", "all items"}
        As of `CoRatedItemKNN`.
    encoding : str
        What a rating counts, see `Encoding`.

    Notes
    -----
    **Defaults.** Those of `CoRatedItemKNN`.

    **Complexity.** As `CoRatedItemKNN`, and a sort of the items for each user.

    **Non-computable.** Pairs of a user or an item without ratings.

    References
    ----------
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015.
    """

    coverage: ClassVar[Coverage] = "known pairs"


@register
@dataclass(eq=False)
class SLIMInFileOrder(InFileOrder, SLIMPenaltyByPopularity):
    """SLIM with penalties that grow with popularity, ties listed as in the file.

    The scores are those of `SLIMPenaltyByPopularity`, turned into places of a list. Most of them
    are 0, and where the penalties leave no weight at all, the list is the beginning of the file for
    everybody.

    Parameters
    ----------
    l1, l2 : float
        As of `SLIMPenaltyByPopularity`.
    n_neighbours : int
        As of `SLIMPenaltyByPopularity`.
    shrinkage : float
        As of `SLIMPenaltyByPopularity`.
    n_iterations : int
        As of `SLIMPenaltyByPopularity`.
    profile_share : float
        As of `SLIMPenaltyByPopularity`.
    encoding : str
        What a rating counts, see `Encoding`.

    Notes
    -----
    **Defaults.** Those of `SLIMPenaltyByPopularity`.

    **Complexity.** As `SLIMPenaltyByPopularity`, and a sort of the items for each user.

    **Non-computable.** Pairs of a user or an item without ratings.

    References
    ----------
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015.
    """


@register
@dataclass(eq=False)
class PLSAInFileOrder(InFileOrder, PLSA):
    """Topics as in pLSA, and a list for users who liked nothing: the beginning of the file.

    The probabilities are those of `PLSA`, turned into places of a list. A user all of whose ratings
    count 0 has no topics, and an item all of whose ratings do is in none: both score 0 in LibRec,
    where `PLSA` has no score.

    Parameters
    ----------
    n_topics : int
        As of `PLSA`.
    n_iterations : int
        As of `PLSA`.
    encoding : str
        What a rating weighs, see `Encoding`.

    Raises
    ------
    DataError
        If no rating weighs more than 0.

    Notes
    -----
    **Defaults.** Those of `PLSA`.

    **Complexity.** As `PLSA`, and a sort of the items for each user.

    **Non-computable.** Pairs of a user or an item without ratings.

    References
    ----------
    Guo, Zhang, Sun & Yorke-Smith, "LibRec: a Java library for recommender systems", UMAP 2015.
    """

    coverage: ClassVar[Coverage] = "known pairs"
