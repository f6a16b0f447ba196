"""Systems that treat every user alike: the floor, the baselines, and the best among them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar, Literal

import numba as nb
import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.errors import DataError
from recbias.recommenders.base import Algorithm, Coverage, parameter, register

_STEP = np.uint64(0x9E3779B97F4A7C15)


@nb.njit(cache=True, nogil=True)
def _mix(word: Any) -> Any:
    """Scramble 64 bits so that each input bit flips each output bit half of the time."""
    word ^= word >> np.uint64(30)
    word *= np.uint64(0xBF58476D1CE4E5B9)
    word ^= word >> np.uint64(27)
    word *= np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@nb.njit(cache=True, nogil=True)
def _uniform(key: Any, users: Any, out: Any) -> None:
    for row in range(len(users)):
        word = _mix(key ^ _mix(np.uint64(users[row]) + _STEP))
        for item in range(out.shape[1]):
            word += _STEP
            # The highest 24 bits: as many as float32 tells apart over the whole of [0, 1).
            out[row, item] = np.float32(_mix(word) >> np.uint64(40)) * np.float32(2.0**-24)


@register
@dataclass(eq=False)
class Random(Algorithm):
    """Score each user-item pair with an independent number, uniform on [0, 1).

    The number is a function of a key drawn when fitted, the user and the item (the user's stream
    of SplitMix64 seeded with key and user), so neither blocks nor the order of users change it.
    Some pairs of a user tie, since float32 has 2**24 such values; the evaluation breaks ties by
    its own seeded key.

    See Also
    --------
    recbias.theory : What a random ranking must score.

    Notes
    -----
    **Defaults.** There are no parameters.

    **Complexity.** Nothing to train; one hash per pair when scoring. Memory: the block alone.

    **Non-computable.** None: every pair has a score, also those without any training rating.

    References
    ----------
    Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """

    coverage: ClassVar[Coverage] = "all"

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._n_items = train.n_items
        self._key = rng.integers(2**64, dtype=np.uint64)

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        scores = np.empty((len(users), self._n_items), dtype=np.float32)
        _uniform(self._key, users, scores)
        return scores


class _ItemScores(Algorithm):
    """One number per item, the same for every user."""

    coverage: ClassVar[Coverage] = "known items"
    deterministic: ClassVar[bool] = True

    def _fit(self, train: Ratings, rng: np.random.Generator) -> None:
        self._scores = self._item_scores(train).astype(np.float32)

    @abstractmethod
    def _item_scores(self, train: Ratings) -> npt.NDArray[Any]:
        """Return one number per item; those of items without training ratings are masked."""

    def _score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        return np.tile(self._scores, (len(users), 1))


@register
@dataclass(eq=False)
class Popularity(_ItemScores):
    """Score each item with its number of training ratings, whatever their value.

    Items without training ratings have no score. Users without any are served like others.

    See Also
    --------
    RelevantPopularity : Counts likes only.

    Notes
    -----
    **Defaults.** There are no parameters. RankSys and LibRec count in the same way, and so did the
    papers that used them.

    **Complexity.** One pass over the ratings. Memory: one number per item.

    **Non-computable.** Pairs of an item without training ratings.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": list("aba"), "rating": [4, 1, 5]})
    >>> Popularity().fit(Ratings.from_frame(frame)).score(np.array([0]))
    array([[2., 1.]], dtype=float32)
    """

    def _item_scores(self, train: Ratings) -> npt.NDArray[np.int64]:
        return train.item_counts()


@register
@dataclass(eq=False)
class RelevantPopularity(_ItemScores):
    r"""Score each item with its number of training ratings that say that it was liked.

    :math:`s_i = |\{u : r_{ui} \ge \tau\}|`.

    Parameters
    ----------
    min_rating : float
        The smallest rating :math:`\tau` of a liked item.

    Notes
    -----
    **Defaults.** 4 stars, the threshold of Mena-Maldonado et al. 2020 and Cañamares et al. 2020.

    **Complexity.** One pass over the ratings. Memory: one number per item.

    **Non-computable.** Pairs of an item without training ratings. An item that was rated but never
    liked scores 0.

    References
    ----------
    Cañamares & Castells, "Should I follow the crowd? A probabilistic analysis of the effectiveness
    of popularity in recommender systems", SIGIR 2018.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": list("aba"), "rating": [4, 1, 5]})
    >>> RelevantPopularity().fit(Ratings.from_frame(frame)).score(np.array([0]))
    array([[2., 0.]], dtype=float32)
    """

    min_rating: float = parameter(4.0)

    def _item_scores(self, train: Ratings) -> npt.NDArray[np.int64]:
        return _counts(train, train.value >= self.min_rating)


def _counts(ratings: Ratings, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Count the chosen rows of each item."""
    return np.bincount(ratings.item[chosen], minlength=ratings.n_items).astype(np.int64)


@register
@dataclass(eq=False)
class AverageRating(_ItemScores):
    r"""Score each item with its mean training rating, drawn towards the mean of all (Dirichlet).

    :math:`s_i = \dfrac{\sum_u r_{ui} + \mu \bar r}{n_i + \mu}` with :math:`\bar r` the mean over
    all ratings: as if each item had :math:`\mu` more ratings of average value. Three definitions
    are in use, and the choice is not cosmetic: where ratings below 4 stars count 0, the second
    recommends items that a handful of users liked, the third mostly popular ones.

    ==================================  ==================  ======================================
    Mena-Maldonado et al., SIGIR 2020   ``graded-zero>=4``  1 rating
    Cañamares & Castells, RecSys 2020   ``binary-zero>=4``  1 rating
    Cañamares & Castells, SIGIR 2018    ``binary-zero>=4``  the mean number of ratings of an item
    ==================================  ==================  ======================================

    Parameters
    ----------
    smoothing : float
        :math:`\mu`, in the unit of `smoothing_in`; 0 gives plain means.
    smoothing_in : {"ratings", "mean item counts"}
        What `smoothing` counts: ratings, or mean numbers of ratings per item that has any.
    encoding : str
        What a rating counts, see `Encoding`; with ``"binary-zero>=4"`` the mean is the share of
        the users of an item who liked it.

    Notes
    -----
    **Defaults.** One rating, as in the SIGIR and the RecSys paper of 2020, on stars as given.

    **Complexity.** One pass over the ratings. Memory: one number per item.

    **Non-computable.** Pairs of an item without training ratings, although smoothing would give
    them the overall mean: in the papers such items are no candidates.

    References
    ----------
    Cañamares & Castells, "Should I follow the crowd? A probabilistic analysis of the effectiveness
    of popularity in recommender systems", SIGIR 2018. Cañamares & Castells, "On target item
    sampling in offline recommender system evaluation", RecSys 2020. Mena-Maldonado, Cañamares,
    Castells, Ren & Sanderson, "Agreement and disagreement between true and false-positive metrics
    in recommender systems evaluation", SIGIR 2020.

    Examples
    --------
    The mean of all ratings is 4: item a has (5 + 4) / 2, item b (4 + 3 + 4) / 3.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": list("abb"), "rating": [5, 4, 3]})
    >>> AverageRating().fit(Ratings.from_frame(frame)).score(np.array([0])).round(3)
    array([[4.5  , 3.667]], dtype=float32)
    """

    smoothing: float = parameter(1.0, minimum=0)
    smoothing_in: Literal["ratings", "mean item counts"] = parameter(
        "ratings", choices=("ratings", "mean item counts")
    )
    encoding: str = parameter("stars")

    def _item_scores(self, train: Ratings) -> npt.NDArray[np.float64]:
        counts = train.item_counts()
        extra = self.smoothing
        if self.smoothing_in == "mean item counts":
            extra *= float(counts[counts > 0].mean())
        sums = np.bincount(train.item, train.value, train.n_items) + extra * train.value.mean()
        return np.divide(sums, counts + extra, out=np.zeros_like(sums), where=counts > 0)


class _Optimal(_ItemScores):
    """Judged successes or failures of an item per user who has no training rating of it."""

    min_rating: float

    def _per_open_user(
        self, train: Ratings, judged: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        # An item that all users have rated can be recommended to nobody: any number will do.
        return judged / np.maximum(train.n_users - train.item_counts(), 1)


@register
@dataclass(eq=False)
class OptimalPrecision(_Optimal):
    r"""The best non-personalised ranking for precision, as far as training ratings can tell.

    :math:`s_i = \dfrac{p(train|i)}{1 - p(train|i)} \, p(rel|train, i) =
    \dfrac{|\{u : r_{ui} \ge \tau\}|}{m - n_i}` with :math:`m` users (Eq. 2 of Mena-Maldonado et
    al. 2020): the expected share of hits among the users to whom the item can still be
    recommended, if test and training ratings come about alike.

    Parameters
    ----------
    min_rating : float
        The smallest rating :math:`\tau` of a liked item.

    See Also
    --------
    OracleRanking : The same from test ratings, which no system may see.

    Notes
    -----
    **Defaults.** 4 stars, the threshold of the paper. Users without training ratings count in
    :math:`m`, the size of the vocabulary.

    **Complexity.** One pass over the ratings. Memory: one number per item.

    **Non-computable.** Pairs of an item without training ratings. Items that were never liked tie
    at 0, in an order that the evaluation's seeded key decides. An item that all users have in
    training has infinite odds; it is recommended to nobody, and its score is finite.

    References
    ----------
    Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement between true
    and false-positive metrics in recommender systems evaluation", SIGIR 2020.

    Examples
    --------
    Of four users one has item a and likes it; two have item b and one of them likes it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"user_id": [1, 1, 2, 3, 4], "item_id": list("abbcc"), "rating": [5, 5, 1, 1, 1]}
    ... )
    >>> OptimalPrecision().fit(Ratings.from_frame(frame)).score(np.array([0])).round(3)
    array([[0.333, 0.5  , 0.   ]], dtype=float32)
    """

    min_rating: float = parameter(4.0)

    def _item_scores(self, train: Ratings) -> npt.NDArray[np.float64]:
        return self._per_open_user(train, _counts(train, train.value >= self.min_rating))


@register
@dataclass(eq=False)
class OptimalAntiPrecision(_Optimal):
    r"""The non-personalised ranking with fewest disliked items, as far as training can tell.

    :math:`s_i = \dfrac{p(train|i)}{1 - p(train|i)} \, (p(rel|train, i) - 1) =
    -\dfrac{|\{u : r_{ui} < \tau\}|}{m - n_i}` with :math:`m` users (Eq. 4 of Mena-Maldonado et
    al. 2020).

    Parameters
    ----------
    min_rating : float
        The smallest rating :math:`\tau` of a liked item.

    Notes
    -----
    **Defaults.** 4 stars, the threshold of the paper. Users without training ratings count in
    :math:`m`, the size of the vocabulary.

    **Complexity.** One pass over the ratings. Memory: one number per item.

    **Non-computable.** Pairs of an item without training ratings. All items that nobody disliked,
    most of them with very few ratings, tie at 0, the best score: on a large catalogue they fill
    the list, and which of them come first is the evaluation's seeded choice
    (`recbias.theory.hits_over_ties` says what that decides). An item that all users have in
    training has infinite odds; it is recommended to nobody, and its score is finite.

    References
    ----------
    Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement between true
    and false-positive metrics in recommender systems evaluation", SIGIR 2020.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"user_id": [1, 1, 2, 3, 4], "item_id": list("abbcc"), "rating": [5, 5, 1, 1, 1]}
    ... )
    >>> OptimalAntiPrecision().fit(Ratings.from_frame(frame)).score(np.array([0]))
    array([[ 0. , -0.5, -1. ]], dtype=float32)
    """

    min_rating: float = parameter(4.0)

    def _item_scores(self, train: Ratings) -> npt.NDArray[np.float64]:
        # Not the negated quotient: 0 must not become -0, whose bits are others.
        return 0.0 - self._per_open_user(train, _counts(train, train.value < self.min_rating))


@dataclass(eq=False)
class OracleRanking(_Optimal):
    r"""The best non-personalised ranking, from the test ratings themselves.

    An oracle, not a system: it says what a ranking of items that is the same for everybody can
    reach at most. With :math:`n_i` training ratings, :math:`m` users, and :math:`n_i^+` and
    :math:`n_i^-` test ratings from :math:`\tau` and below it, the score is

    - for precision :math:`s_i = n_i^+ / (m - n_i)`;
    - for anti-precision :math:`s_i = -n_i^- / (m - n_i)`;
    - restricted, :math:`s_i = n_i^+ / (n_i^+ + n_i^-)` and :math:`s_i = -n_i^- / (n_i^+ + n_i^-)`;
      0 for items without test ratings.

    The restricted forms estimate Eqs. 1 and 3 of Mena-Maldonado et al. 2020,
    :math:`p(rel|\neg train, i)` and that minus 1, from judgements of pairs that were chosen at
    random. The two equations order items alike; the estimates differ where an item has no test
    rating, which is last for precision and ties with the best for anti-precision.

    The unrestricted forms are the exact optimum of the expected P@n, or antiP@n, at every n among
    all rankings, if which items a user has in training is independent from item to item, and from
    what they think of others.

    Parameters
    ----------
    judged : Ratings
        The test ratings, over the same vocabularies as the training ratings. Those of a test set
        that was drawn at random from all pairs give the true optimum.
    metric : {"P", "antiP"}
        What the ranking is best for.
    restricted : bool
        Divide by the test ratings of the item instead of by the users without a training rating
        of it.
    min_rating : float
        The smallest rating :math:`\tau` of a liked item.

    Raises
    ------
    DataError
        When fitted, if the vocabularies of test and training ratings differ.

    See Also
    --------
    OptimalPrecision, OptimalAntiPrecision : What training ratings can tell about it.

    Notes
    -----
    **Defaults.** 4 stars, the threshold of the paper. The class is not registered: a `System`
    holds no ratings.

    **Complexity.** One pass over the ratings. Memory: one number per item, and the test ratings.

    **Non-computable.** Pairs of an item without training ratings, so that all systems share their
    candidates. Ties are many and decide much: all items that nobody disliked in the test tie at 0,
    the best score for anti-precision, and restricted, all items that every judge liked tie at 1
    for precision, mostly items with a single judge. The evaluation breaks ties by its own seeded
    key.

    References
    ----------
    Mena-Maldonado, Cañamares, Castells, Ren & Sanderson, "Agreement and disagreement between true
    and false-positive metrics in recommender systems evaluation", SIGIR 2020.

    Examples
    --------
    Users 3 and 4 have no training rating of item a; the one of them who was asked likes it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {"user_id": [1, 2, 3, 3, 4], "item_id": list("aaabb"), "rating": [5, 1, 4, 5, 5]}
    ... )
    >>> ratings = Ratings.from_frame(frame)
    >>> train, test = ratings.take(np.array([0, 1, 3])), ratings.take(np.array([2, 4]))
    >>> OracleRanking(test).fit(train).score(np.array([0])).round(3)
    array([[0.5  , 0.333]], dtype=float32)
    >>> OracleRanking(test, restricted=True).fit(train).score(np.array([0]))
    array([[1., 1.]], dtype=float32)
    """

    judged: InitVar[Ratings]
    metric: Literal["P", "antiP"] = parameter("P", choices=("P", "antiP"))
    restricted: bool = parameter(False)
    min_rating: float = parameter(4.0)

    def __post_init__(self, judged: Ratings) -> None:
        super().__post_init__()
        self._judged = judged

    def _item_scores(self, train: Ratings) -> npt.NDArray[np.float64]:
        test = self._judged
        for labels, others in ((train.user_ids, test.user_ids), (train.item_ids, test.item_ids)):
            if not np.array_equal(labels, others):
                raise DataError(
                    f"OracleRanking: '{train.name}' and '{test.name}' number their users or items "
                    "differently\ntake training and test ratings from one split"
                )
        likes = test.value >= self.min_rating
        judged = _counts(test, likes if self.metric == "P" else ~likes)
        if self.restricted:
            scores = judged / np.maximum(test.item_counts(), 1)
        else:
            scores = self._per_open_user(train, judged)
        return scores if self.metric == "P" else 0.0 - scores
