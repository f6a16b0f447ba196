"""Worlds in which every user's true rating of every item is known, and why some were observed.

Everything that decides an outcome is exact: traits are multiples of a power of two, so that their
products and sums carry no rounding and cannot depend on the order of additions, on threads or on
the linear algebra library; noise is a hash of the pair, computed in integers. A seed therefore
means the same world on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError, unknown_name
from recbias.ratings import Ratings, RatingScale
from recbias.streams import stream

Popularity = Literal["agrees", "independent", "opposes"]

STAR_SHARES = (0.061, 0.114, 0.271, 0.342, 0.212)
"""Expected shares of one to five stars among the observed ratings: those of MovieLens 100K."""

# The numbers below bring the defaults near MovieLens 100K in counts, star means, the relation of
# popularity to star means, and the gap between popularity and matrix factorisation.
_N_FACTORS = 8
_FACTOR_SD = 0.2
_APPEAL_SD = 0.6
_GENEROSITY_SD = 0.4
_TASTE_SD = 0.65
_APPEAL_IN_POPULARITY = 0.85
_LUCK_IN_POPULARITY = 0.53
_AFFINITY_IN_CHOICE = 1.5
_TASTE_IN_CHOICE = 0.5
_MOST_LIKELY = 0.95
_MOST_DENSE = 0.1

_GRID = 1024
_FINE_GRID = 65_536
_N_ROUNDS = 20
_BLOCK_PAIRS = 2**15


def power_law(
    n_ranks: int, total: float, *, alpha: float, offset: float, least: float = 0.0
) -> npt.NDArray[np.float64]:
    r"""Share a total over ranks by a shifted power law.

    :math:`c_k = c_1 + \beta (c_2 + k)^{-\alpha}` for :math:`k = 1, 2, \dots`, where :math:`\beta`
    makes the sum right.

    Parameters
    ----------
    n_ranks : int
        Number of ranks.
    total : float
        Sum of all values, e.g. the number of ratings.
    alpha : float
        Exponent; 0 gives equal values.
    offset : float
        :math:`c_2`, in ranks: the larger, the flatter the head.
    least : float
        :math:`c_1`, what every rank has.

    Returns
    -------
    float64 array (n_ranks,)
        Values in descending order, not rounded.

    References
    ----------
    BCC17, simulated popularity distributions.

    Examples
    --------
    >>> power_law(3, 22, alpha=1, offset=0)
    array([12.,  6.,  4.])
    >>> power_law(3, 25, alpha=1, offset=0, least=1)
    array([13.,  7.,  5.])
    """
    shape = (offset + np.arange(1.0, n_ranks + 1)) ** -alpha
    return least + (total - least * n_ranks) * shape / shape.sum()


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """A world made by `make_world`: its observed ratings, and the truth about all pairs.

    Truth comes in blocks of users and is computed when asked for; nothing of the size users x
    items is stored.

    Parameters
    ----------
    ratings : Ratings
        The observed ratings. The vocabularies hold all users and items, so that the number of a
        user or item is the same in the truth.
    popularity : {"agrees", "independent", "opposes"}
        How popularity relates to relevance.
    seed : int
        The seed that it was made from.
    """

    ratings: Ratings
    popularity: Popularity
    seed: int
    _traits: _Traits
    _activity: npt.NDArray[np.float64]
    _exposure: npt.NDArray[np.float64]
    _thresholds: npt.NDArray[np.float64]

    def __repr__(self) -> str:
        return f"World(popularity {self.popularity}, seed {self.seed}: {self.ratings!r})"

    def true_rating(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Tell how many stars users give to each item, observed or not.

        Parameters
        ----------
        users : int array (n,)
            User numbers.

        Returns
        -------
        float32 array (n, n_items)
            Stars from 1 to 5; equal to the observed rating where there is one.

        Examples
        --------
        >>> world = make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
        >>> stars = world.true_rating(np.arange(40))
        >>> bool((stars[world.ratings.user, world.ratings.item] == world.ratings.value).all())
        True
        """
        return _stars(self._traits.appreciation(users), self._thresholds).astype(np.float32)

    def propensity(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Tell how likely each pair of some users was to be observed, each on its own.

        Parameters
        ----------
        users : int array (n,)
            User numbers.

        Returns
        -------
        float32 array (n, n_items)
            Probabilities, above 0 and at most 0.95.
        """
        chances = _chances(self._traits, users, self._activity, self._exposure)
        return chances.astype(np.float32)


def make_world(
    *,
    seed: int = 1,
    popularity: Popularity = "agrees",
    n_users: int = 943,
    n_items: int = 1682,
    n_ratings: int = 100_000,
) -> World:
    r"""Make a world with known true ratings and a known reason why some of them are missing.

    1. *Traits.* A user u has factors :math:`p_u` and a generosity :math:`g_u`, an item i has
       factors :math:`q_i` (8 of them) and an appeal :math:`a_i`, a pair has a taste
       :math:`e_{ui}` that nothing else predicts. All are independent and bell-shaped around 0, with
       standard deviations 1 (:math:`p`), 0.2 (:math:`q`), 0.4 (:math:`g`), 0.6 (:math:`a`) and
       0.65 (:math:`e`).
    2. *Truth.* Stars are 1 + the number of thresholds at or below
       :math:`a_i + g_u + p_u^T q_i + e_{ui}`, for all pairs, without further noise.
    3. *Popularity.* Items in the order of :math:`0.85\,d\,a_i/0.6 + 0.53\,z_i`, with :math:`z_i`
       standard bell-shaped and d = 1 (agrees), 0 (independent) or -1 (opposes), get expected
       numbers of ratings by a power law with exponent 5 and offset 0.55 `n_items`.
    4. *Activity.* Users in random order get expected numbers of ratings by a power law with
       exponent 4, offset 0.64 `n_users` and 19 % of the mean as the least.
    5. *Choice.* A pair is observed, independently of all others, with probability
       :math:`\min(0.95, \exp(\alpha_u + \beta_i + 1.5\,p_u^T q_i + 0.5\,e_{ui}))`, where
       :math:`\alpha` and :math:`\beta` are fitted so that expected numbers are those of 3 and 4.
       Ratings are missing not at random: among items equally popular, users rate what they like,
       and foresee what follows from traits better than the rest.
    6. *Thresholds* are such that the expected shares of stars among the observed are `STAR_SHARES`.

    Parameters
    ----------
    seed : int
        Any non-negative integer; other seeds give other worlds.
    popularity : {"agrees", "independent", "opposes"}
        Whether popular items have more appeal than others, as much, or less.
    n_users, n_items : int
        Size; the defaults are those of MovieLens 100K.
    n_ratings : int
        Expected number of observed ratings, at most a tenth of all pairs.

    Returns
    -------
    World
        The same for the same arguments on every machine.

    Raises
    ------
    ConfigError
        If `popularity` is none of the three, a size is below 1, or the world would be too dense.

    Examples
    --------
    >>> make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
    World(popularity agrees, seed 3: Ratings('synthetic': 191 explicit ratings, 40 users, 60 items))
    """
    if popularity not in get_args(Popularity):
        raise unknown_name("popularity", popularity, get_args(Popularity))
    if min(n_users, n_items, n_ratings) < 1 or n_ratings > _MOST_DENSE * n_users * n_items:
        raise ConfigError(
            f"a world of {n_users} users, {n_items} items and {n_ratings} ratings: expected "
            f"positive sizes and at most {_MOST_DENSE:.0%} of the pairs"
        )
    keys = stream(seed, "world").bit_generator.random_raw(8)
    traits = _Traits(
        user_factors=_bell_table(n_users, _N_FACTORS, 1.0, keys[0]),
        item_factors=_bell_table(n_items, _N_FACTORS, _FACTOR_SD, keys[1]),
        generosity=_bell_table(n_users, 1, _GENEROSITY_SD, keys[2])[:, 0],
        appeal=_bell_table(n_items, 1, _APPEAL_SD, keys[3])[:, 0],
        taste_key=keys[4],
    )
    direction = {"agrees": 1, "independent": 0, "opposes": -1}[popularity]
    luck = _bell_table(n_items, 1, _LUCK_IN_POPULARITY, keys[5])[:, 0]
    standing = direction * _on_grid(_APPEAL_IN_POPULARITY / _APPEAL_SD * traits.appeal) + luck
    expected_of_item = np.empty(n_items)
    expected_of_item[np.argsort(-standing, kind="stable")] = power_law(
        n_items, n_ratings, alpha=5, offset=0.55 * n_items
    )
    expected_of_user = np.empty(n_users)
    expected_of_user[np.argsort(_bell_table(n_users, 1, 1.0, keys[6])[:, 0], kind="stable")] = (
        power_law(
            n_users, n_ratings, alpha=4, offset=0.64 * n_users, least=0.19 * n_ratings / n_users
        )
    )
    activity, exposure = _fit_choice(traits, expected_of_user, expected_of_item)
    thresholds = _fit_thresholds(traits, activity, exposure)
    name = "synthetic" if popularity == "agrees" else f"synthetic-{popularity}"
    ratings = _observe(traits, activity, exposure, thresholds, keys[7], name)
    return World(ratings, popularity, seed, traits, activity, exposure, thresholds)


@dataclass(frozen=True, eq=False)
class _Traits:
    """What the pairs of a world are made of; all values lie on the grid."""

    user_factors: npt.NDArray[np.float64]
    item_factors: npt.NDArray[np.float64]
    generosity: npt.NDArray[np.float64]
    appeal: npt.NDArray[np.float64]
    taste_key: np.uint64

    def appreciation(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """How much users would like each item; the thresholds turn it into stars."""
        affinity, taste = self._affinity_and_taste(users)
        return affinity + taste + self.appeal + self.generosity[users][:, None]

    def attraction(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """How much an item attracts users beyond its exposure, as a log of chances."""
        affinity, taste = self._affinity_and_taste(users)
        return _AFFINITY_IN_CHOICE * affinity + _TASTE_IN_CHOICE * taste

    def _affinity_and_taste(
        self, users: npt.NDArray[np.integer[Any]]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        # The product is exact: sums of multiples of 2**-20 that stay far below 2**33.
        affinity = self.user_factors[users] @ self.item_factors.T
        return affinity, _bell(_pairs(users, len(self.appeal)), _TASTE_SD, self.taste_key)

    def blocks(self) -> Iterator[npt.NDArray[np.int64]]:
        """Go through all users in blocks small enough for the cache of a processor."""
        everyone = np.arange(len(self.generosity))
        size = max(1, _BLOCK_PAIRS // len(self.appeal))
        return (everyone[start : start + size] for start in range(0, len(everyone), size))


def _stars(
    appreciation: npt.NDArray[np.float64], thresholds: npt.NDArray[np.float64]
) -> npt.NDArray[np.int8]:
    """Count one star, and one more for every threshold that is reached."""
    stars = np.ones(appreciation.shape, dtype=np.int8)
    for threshold in thresholds:
        stars += appreciation >= threshold
    return stars


def _chances(
    traits: _Traits,
    users: npt.NDArray[np.integer[Any]],
    activity: npt.NDArray[np.float64],
    exposure: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Probability that each pair of some users is observed."""
    logs = traits.attraction(users) + activity[users][:, None] + exposure
    return np.minimum(np.exp(logs), _MOST_LIKELY)


def _fit_choice(
    traits: _Traits,
    expected_of_user: npt.NDArray[np.float64],
    expected_of_item: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Fit activity and exposure by proportional steps, so that expected counts come out right."""
    activity = np.log(expected_of_user)
    exposure = np.log(expected_of_item / expected_of_item.sum())
    for _ in range(_N_ROUNDS):
        of_item = np.zeros_like(exposure)
        for users in traits.blocks():
            chances = _chances(traits, users, activity, exposure)
            step = expected_of_user[users] / chances.sum(axis=1)
            activity[users] += np.log(step)
            of_item += np.minimum(chances * step[:, None], _MOST_LIKELY).sum(axis=0)
        exposure += np.log(expected_of_item / of_item)
    # Sums and logarithms may differ in their last bits between machines; a grid forgets them.
    return _on_grid(activity, _FINE_GRID), _on_grid(exposure, _FINE_GRID)


def _fit_thresholds(
    traits: _Traits, activity: npt.NDArray[np.float64], exposure: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Place four thresholds at quantiles of the appreciation of observed pairs."""
    lowest, n_bins = -16, 32 * _GRID
    weights = np.zeros(n_bins)
    for users in traits.blocks():
        bins = ((traits.appreciation(users) - lowest) * _GRID).astype(np.int64)
        chances = _chances(traits, users, activity, exposure)
        weights += np.bincount(bins.ravel(), weights=chances.ravel(), minlength=n_bins)
    reached = np.cumsum(weights) / weights.sum()
    below = np.searchsorted(reached, np.cumsum(STAR_SHARES)[:-1])
    return lowest + (below + 1) / _GRID


def _observe(
    traits: _Traits,
    activity: npt.NDArray[np.float64],
    exposure: npt.NDArray[np.float64],
    thresholds: npt.NDArray[np.float64],
    key: np.uint64,
    name: str,
) -> Ratings:
    """Draw the observed pairs and give them their stars."""
    n_users, n_items = len(activity), len(exposure)
    parts = []
    for users in traits.blocks():
        draws = (_hash(_pairs(users, n_items), key) >> np.uint64(11)) * 2.0**-53
        user, item = np.nonzero(draws < _chances(traits, users, activity, exposure))
        stars = _stars(traits.appreciation(users), thresholds)
        parts.append((users[user], item, stars[user, item]))
    user, item, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Ratings(
        name=name,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=value.astype(np.float64),
        timestamp=None,
        user_ids=np.arange(1, n_users + 1),
        item_ids=np.arange(1, n_items + 1),
        scale=RatingScale(1, 5, 1),
    )


def _pairs(users: npt.NDArray[np.integer[Any]], n_items: int) -> npt.NDArray[np.uint64]:
    """Return a number for each pair of some users with all items."""
    first = users.astype(np.uint64) * np.uint64(n_items)
    return np.add.outer(first, np.arange(n_items, dtype=np.uint64))


def _hash(counters: npt.NDArray[np.uint64], key: np.uint64) -> npt.NDArray[np.uint64]:
    """Turn counters into 64 random bits each: the output function of SplitMix64."""
    bits = counters * np.uint64(0x9E3779B97F4A7C15) + key
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _bell(
    counters: npt.NDArray[np.uint64], deviation: float, key: np.uint64
) -> npt.NDArray[np.float64]:
    """Draw the sum of four uniform 16-bit integers, centred and scaled, on the grid."""
    bits = _hash(counters, key)
    total = np.zeros(bits.shape)
    for shift in (0, 16, 32, 48):
        total += (bits >> np.uint64(shift)) & np.uint64(0xFFFF)
    unit = np.sqrt((65_536**2 - 1) / 3)
    return _on_grid((total - 2 * 65_535) * (deviation / unit))


def _bell_table(n_rows: int, n_columns: int, deviation: float, key: np.uint64) -> Any:
    counters = np.arange(n_rows * n_columns, dtype=np.uint64).reshape(n_rows, n_columns)
    return _bell(counters, deviation, key)


def _on_grid(values: npt.NDArray[np.float64], steps: int = _GRID) -> npt.NDArray[np.float64]:
    return np.round(values * steps) / steps
