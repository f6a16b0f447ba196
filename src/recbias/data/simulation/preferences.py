"""Worlds in which users rate what they like, and popularity relates to that as it is told to.

Everything that decides an outcome is exact: traits are multiples of a power of two, so that their
products and sums carry no rounding and cannot depend on the order of additions, on threads or on
the linear algebra library; noise is a hash of the pair, computed in integers. A seed therefore
means the same world on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.data.ratings import Ratings, RatingScale
from recbias.data.simulation.names import STAR_SHARES, PreferenceOptions
from recbias.data.simulation.noise import GRID, bell, bell_table, blocks, on_grid, pairs, uniform
from recbias.data.simulation.popularity import counts_of_skew, power_law, rank_correlation
from recbias.data.simulation.truth import World
from recbias.errors import ConfigError, unknown_name

Popularity = Literal["agrees", "independent", "opposes"]

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

_FINE_GRID = 65_536
_N_ROUNDS = 20
_KEPT_PAIRS = 2**22
_N_PASSES = 6
_CLOSE = 0.01
_RELATION_REACHED = 0.05

_Attraction = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceWorld(World):
    """A world made by `make_world` or `preference_world`: ratings missing not at random."""

    _traits: _Traits
    _activity: npt.NDArray[np.float64]
    _exposure: npt.NDArray[np.float64]
    _thresholds: npt.NDArray[np.float64]

    def _values(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        return _stars(self._traits.appreciation(users), self._thresholds).astype(np.float64)

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
        attraction = self._traits.attraction(users)
        chances = _chances(attraction, self._activity[users], self._exposure)
        return chances.astype(np.float32)


def make_world(
    *,
    seed: int = 1,
    popularity: Popularity = "agrees",
    n_users: int = 943,
    n_items: int = 1682,
    n_ratings: int = 100_000,
) -> PreferenceWorld:
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
    PreferenceWorld
        The same for the same arguments on every machine.

    Raises
    ------
    ConfigError
        If `popularity` is none of the three, a size is below 1, or the world would be too dense.

    Examples
    --------
    >>> make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
    PreferenceWorld(make_world(popularity=agrees,seed=3,users=40,items=60,ratings=200):
    Ratings('synthetic': 191 explicit ratings, 40 users, 60 items))
    """
    if popularity not in get_args(Popularity):
        raise unknown_name("popularity", popularity, get_args(Popularity))
    if min(n_users, n_items, n_ratings) < 1 or n_ratings > _MOST_DENSE * n_users * n_items:
        raise ConfigError(
            f"a world of {n_users} users, {n_items} items and {n_ratings} ratings: expected "
            f"positive sizes and at most {_MOST_DENSE:.0%} of the pairs"
        )
    keys = stream(seed, "world").bit_generator.random_raw(8)
    traits = _draw_traits(n_users, n_items, keys)
    direction = {"agrees": 1, "independent": 0, "opposes": -1}[popularity]
    luck = bell_table(n_items, 1, _LUCK_IN_POPULARITY, keys[5])[:, 0]
    standing = direction * on_grid(_APPEAL_IN_POPULARITY / _APPEAL_SD * traits.appeal) + luck
    expected_of_item = np.empty(n_items)
    expected_of_item[np.argsort(-standing, kind="stable")] = power_law(
        n_items, n_ratings, alpha=5, offset=0.55 * n_items
    )
    expected_of_user = _draw_activity(n_users, n_ratings, keys)
    activity, exposure = _fit_choice(traits, expected_of_user, expected_of_item)
    thresholds = _fit_thresholds(traits, activity, exposure)
    name = "synthetic" if popularity == "agrees" else f"synthetic-{popularity}"
    ratings = _observe(traits, activity, exposure, thresholds, keys[7], name)
    identity = (
        f"make_world(popularity={popularity},seed={seed},users={n_users},items={n_items},"
        f"ratings={n_ratings})"
    )
    return PreferenceWorld(ratings, identity, traits, activity, exposure, thresholds)


def preference_world(options: PreferenceOptions) -> PreferenceWorld:
    r"""Make a world in which popularity relates to liking as closely as asked, and is as skewed.

    Traits, truth, activity, choice and thresholds are those of `make_world`; popularity differs,
    and in the exponent of the choice what follows from traits and taste is multiplied by
    `options.choice`.
    Expected numbers of ratings are those of
    `recbias.data.simulation.popularity.counts_of_skew`. Items get them in the order of
    :math:`m\,x_i + (1 - |m|)\,z_i`, where :math:`z_i` is standard bell-shaped and :math:`x_i` the
    same numbers in the order of how many users like item i. The mixture m, a multiple of 1/1024
    from -1 to 1, is searched for by bisection. As the thresholds follow from who rates what, the
    order from the thresholds and the thresholds from the order, this is repeated.

    Parameters
    ----------
    options : PreferenceOptions
        What `recbias.data.simulation.parse_world` read from a name, or made by hand.

    Returns
    -------
    PreferenceWorld
        Its relation is the one asked for, to 0.05; its skew to 0.001.

    Raises
    ------
    ConfigError
        If relation or skew cannot be reached; the message says what can be.

    Examples
    --------
    >>> preference_world(PreferenceOptions(relation=-0.5, users=40, items=60)).ratings
    Ratings('world(relation=-0.5,users=40,items=60)': 153 explicit ratings, 40 users, 60 items)
    """
    n_users, n_items = options.users, options.items
    if options.skew == 0 and options.relation != 0:
        raise ConfigError(
            f"{options}: with skew=0 no item is more popular than another; set relation=0, or "
            "another skew"
        )
    keys = stream(options.seed, "world").bit_generator.random_raw(8)
    traits = _draw_traits(n_users, n_items, keys, options.choice)
    total = options.density * n_users * n_items
    expected_of_user = _draw_activity(n_users, total, keys)
    popular = counts_of_skew(options.skew, total, n_items, expected_of_user)
    luck = bell_table(n_items, 1, 1.0, keys[5])[:, 0]
    attractions = traits.kept_attractions()
    liking: npt.NDArray[Any] = traits.appeal
    reached = 0.0
    for _ in range(_N_PASSES):
        order = _popularity_order(liking, luck, options.relation)
        expected_of_item = np.empty(n_items)
        expected_of_item[order] = popular
        activity, exposure = _fit_choice(traits, expected_of_user, expected_of_item, attractions)
        thresholds = _fit_thresholds(traits, activity, exposure)
        liking = traits.n_reaching(thresholds[options.liked - 2])
        reached = rank_correlation(expected_of_item, liking)
        if abs(reached - options.relation) <= _CLOSE:
            break
    if abs(reached - options.relation) > _RELATION_REACHED:
        raise ConfigError(
            f"{options}: relation is {options.relation:g}, but {reached:.2f} is what was reached; "
            "with few users, many items are liked by as many as others\n"
            "ask for a relation nearer to that, or for more users and items"
        )
    ratings = _observe(traits, activity, exposure, thresholds, keys[7], str(options))
    return PreferenceWorld(ratings, str(options), traits, activity, exposure, thresholds)


def _draw_traits(
    n_users: int, n_items: int, keys: npt.NDArray[np.uint64], choice: float = 1.0
) -> _Traits:
    return _Traits(
        user_factors=bell_table(n_users, _N_FACTORS, 1.0, keys[0]),
        item_factors=bell_table(n_items, _N_FACTORS, _FACTOR_SD, keys[1]),
        generosity=bell_table(n_users, 1, _GENEROSITY_SD, keys[2])[:, 0],
        appeal=bell_table(n_items, 1, _APPEAL_SD, keys[3])[:, 0],
        taste_key=keys[4],
        choice=choice,
    )


def _draw_activity(
    n_users: int, total: float, keys: npt.NDArray[np.uint64]
) -> npt.NDArray[np.float64]:
    """Give users in random order the expected numbers of ratings of a power law."""
    expected = np.empty(n_users)
    expected[np.argsort(bell_table(n_users, 1, 1.0, keys[6])[:, 0], kind="stable")] = power_law(
        n_users, total, alpha=4, offset=0.64 * n_users, least=0.19 * total / n_users
    )
    return expected


def _popularity_order(
    liking: npt.NDArray[Any], luck: npt.NDArray[np.float64], relation: float
) -> npt.NDArray[np.int64]:
    """Order items from the most popular, so that the order correlates with `liking` as asked."""
    quality = np.empty_like(luck)
    quality[np.argsort(liking, kind="stable")] = np.sort(luck)
    ranks = np.arange(len(luck), 0.0, -1.0)

    # Multiples of 1/1024 times whole numbers: sums and their order are exact.
    def order(mixture: int) -> npt.NDArray[np.int64]:
        standing = mixture * quality + (GRID - abs(mixture)) * luck
        return np.argsort(-standing, kind="stable")

    def off(mixture: int) -> float:
        return rank_correlation(ranks, liking[order(mixture)]) - relation

    low, high = -GRID, GRID
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if off(middle) <= 0 else (low, middle)
    return order(min(low, high, key=lambda mixture: abs(off(mixture))))


@dataclass(frozen=True, eq=False)
class _Traits:
    """What the pairs of a world are made of; all values lie on the grid."""

    user_factors: npt.NDArray[np.float64]
    item_factors: npt.NDArray[np.float64]
    generosity: npt.NDArray[np.float64]
    appeal: npt.NDArray[np.float64]
    taste_key: np.uint64
    choice: float

    def appreciation(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """How much users would like each item; the thresholds turn it into stars."""
        affinity, taste = self._affinity_and_taste(users)
        return affinity + taste + self.appeal + self.generosity[users][:, None]

    def attraction(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """How much an item attracts users beyond its exposure, as a log of chances."""
        affinity, taste = self._affinity_and_taste(users)
        return self.choice * (_AFFINITY_IN_CHOICE * affinity + _TASTE_IN_CHOICE * taste)

    def _affinity_and_taste(
        self, users: npt.NDArray[np.integer[Any]]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        # The product is exact: sums of multiples of 2**-20 that stay far below 2**33.
        affinity = self.user_factors[users] @ self.item_factors.T
        return affinity, bell(pairs(users, len(self.appeal)), _TASTE_SD, self.taste_key)

    def n_reaching(self, threshold: float) -> npt.NDArray[np.int64]:
        """Count the users whose appreciation of each item reaches a threshold."""
        counts = np.zeros(len(self.appeal), dtype=np.int64)
        for users in self.blocks():
            counts += np.count_nonzero(self.appreciation(users) >= threshold, axis=0)
        return counts

    def blocks(self) -> Iterator[npt.NDArray[np.int64]]:
        """Go through all users in blocks small enough for the cache of a processor."""
        return blocks(len(self.generosity), len(self.appeal))

    def attractions(self) -> Iterator[_Attraction]:
        """Go through all users in blocks, with the attraction of their pairs."""
        return ((users, self.attraction(users)) for users in self.blocks())

    def kept_attractions(self) -> Sequence[_Attraction] | None:
        """Return all `attractions` of a small world; of a large one they do not fit into memory."""
        is_small = len(self.generosity) * len(self.appeal) <= _KEPT_PAIRS
        return list(self.attractions()) if is_small else None


def _stars(
    appreciation: npt.NDArray[np.float64], thresholds: npt.NDArray[np.float64]
) -> npt.NDArray[np.int8]:
    """Count one star, and one more for every threshold that is reached."""
    stars = np.ones(appreciation.shape, dtype=np.int8)
    for threshold in thresholds:
        stars += appreciation >= threshold
    return stars


def _chances(
    attraction: npt.NDArray[np.float64],
    activity: npt.NDArray[np.float64],
    exposure: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Probability that each pair of some users, whose activity it is, is observed."""
    return np.minimum(np.exp(attraction + activity[:, None] + exposure), _MOST_LIKELY)


def _fit_choice(
    traits: _Traits,
    expected_of_user: npt.NDArray[np.float64],
    expected_of_item: npt.NDArray[np.float64],
    attractions: Sequence[_Attraction] | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Fit activity and exposure by proportional steps, so that expected counts come out right."""
    attractions = attractions or traits.kept_attractions()
    activity = np.log(expected_of_user)
    exposure = np.log(expected_of_item / expected_of_item.sum())
    for _ in range(_N_ROUNDS):
        of_item = np.zeros_like(exposure)
        for users, attraction in attractions or traits.attractions():
            chances = _chances(attraction, activity[users], exposure)
            step = expected_of_user[users] / chances.sum(axis=1)
            activity[users] += np.log(step)
            of_item += np.minimum(chances * step[:, None], _MOST_LIKELY).sum(axis=0)
        exposure += np.log(expected_of_item / of_item)
    # Sums and logarithms may differ in their last bits between machines; a grid forgets them.
    return on_grid(activity, _FINE_GRID), on_grid(exposure, _FINE_GRID)


def _fit_thresholds(
    traits: _Traits, activity: npt.NDArray[np.float64], exposure: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Place four thresholds at quantiles of the appreciation of observed pairs."""
    lowest, n_bins = -16, 32 * GRID
    weights = np.zeros(n_bins)
    for users in traits.blocks():
        bins = ((traits.appreciation(users) - lowest) * GRID).astype(np.int64)
        chances = _chances(traits.attraction(users), activity[users], exposure)
        weights += np.bincount(bins.ravel(), weights=chances.ravel(), minlength=n_bins)
    reached = np.cumsum(weights) / weights.sum()
    below = np.searchsorted(reached, np.cumsum(STAR_SHARES)[:-1])
    return lowest + (below + 1) / GRID


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
        draws = uniform(pairs(users, n_items), key)
        user, item = np.nonzero(
            draws < _chances(traits.attraction(users), activity[users], exposure)
        )
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
