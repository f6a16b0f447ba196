"""Worlds without preferences: stars are drawn, whoever rates whatever, popular or not.

In them no system can be better than another at more than finding what is rated, which is what a
metric should say.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.data.ratings import Ratings, RatingScale
from recbias.data.simulation.matching import match_at_random
from recbias.data.simulation.names import STARS, CountOptions, PowerLawOptions
from recbias.data.simulation.noise import hashed, on_grid, pairs, shuffled, uniform
from recbias.data.simulation.popularity import power_law, whole_power_law
from recbias.data.simulation.truth import World

_OFFSET_OF_ITEMS = 317 / 3706


@dataclass(frozen=True, eq=False, repr=False)
class ChanceWorld(World):
    """A world made by `power_law_world` or `count_world`: ratings missing completely at random.

    Which pairs are observed depends on how active users and how popular items are, and neither has
    to do with the true rating of a pair.
    """

    _levels: npt.NDArray[np.float64]
    _reached: npt.NDArray[np.float64]
    _key: np.uint64

    def _values(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        draws = uniform(pairs(users, self.ratings.n_items), self._key)
        return self._levels[np.searchsorted(self._reached, draws, side="right")]


def power_law_world(options: PowerLawOptions) -> ChanceWorld:
    r"""Make a world without preferences in which popularity follows a power law.

    The k-th item has :math:`c_1 + \beta (c_2 + k)^{-\alpha}` ratings (`power_law`), rounded and at
    least 1 and at most the number of users; where the number of all ratings is given, both are done
    so that the items have it together (`whole_power_law`). Items are in random order. The users who
    rate an item are drawn without replacement, all alike, and stars of all pairs from
    `recbias.data.simulation.STARS`.

    Parameters
    ----------
    options : PowerLawOptions
        What `recbias.data.simulation.parse_world` read from a name, or made by hand.

    Returns
    -------
    ChanceWorld
        The same for the same options on every machine.

    References
    ----------
    BCC17, simulated popularity distributions.

    Examples
    --------
    >>> power_law_world(PowerLawOptions(alpha=0, users=20, items=10, density=0.3)).ratings
    Ratings('world(alpha=0,users=20,items=10,density=0.3)': 60 explicit ratings, 20 users, 10 items)
    """
    n_users, n_items = options.users, options.items
    keys = stream(options.seed, "chance world").bit_generator.random_raw(3)
    counts = item_counts(options)[shuffled(n_items, keys[0])]
    everyone = np.arange(n_users, dtype=np.uint64) * np.uint64(n_items)
    rated_by = []
    for item, count in enumerate(counts):
        draws = hashed(everyone + np.uint64(item), keys[1])
        rated_by.append(np.argpartition(draws, count - 1)[:count])
    numbers = np.concatenate(rated_by) * n_items + np.repeat(np.arange(n_items), counts)
    numbers.sort()
    frame = Ratings(
        name=str(options),
        user=(numbers // n_items).astype(np.int32),
        item=(numbers % n_items).astype(np.int32),
        value=np.ones(len(numbers)),
        timestamp=None,
        user_ids=np.arange(1, n_users + 1),
        item_ids=np.arange(1, n_items + 1),
        scale=RatingScale(1, 5, 1),
    )
    levels = np.arange(1.0, 6.0)
    return _rated(frame, str(options), levels, np.cumsum(STARS[options.stars])[:-1], keys[2])


def item_counts(options: PowerLawOptions) -> npt.NDArray[np.int64]:
    """Tell how many ratings the items of a `power_law_world` have.

    Parameters
    ----------
    options : PowerLawOptions
        Of the world; its seed does not matter.

    Returns
    -------
    int64 array (n_items,)
        From the most popular item.

    Examples
    --------
    >>> item_counts(PowerLawOptions(alpha=1, offset=0, users=30, items=10, ratings=61)).tolist()
    [21, 10, 7, 5, 4, 4, 3, 3, 2, 2]
    """
    n_users, n_items = options.users, options.items
    offset = _OFFSET_OF_ITEMS * n_items if options.offset is None else options.offset
    shape = {"alpha": options.alpha, "offset": offset, "least": options.least}
    if options.ratings is not None:
        return whole_power_law(n_items, options.ratings, most=n_users, **shape)
    law = power_law(n_items, options.density * n_users * n_items, **shape)
    # Powers may differ in their last bits between machines; a grid forgets them before rounding.
    return np.clip(np.floor(on_grid(law, 2**16) + 0.5), 1, n_users).astype(np.int64)


def count_world(options: CountOptions, source: Ratings) -> ChanceWorld:
    """Make a world without preferences that has the counts of a data set.

    Each user and each item has as many ratings as in the data; who rates what is drawn
    (`recbias.data.simulation.matching.match_at_random`), and the ratings of all pairs from the
    shares that the values have in the data.

    Parameters
    ----------
    options : CountOptions
        What `recbias.data.simulation.parse_world` read from a name, or made by hand.
    source : Ratings
        The data set that `options` names.

    Returns
    -------
    ChanceWorld
        Over the users, items and the scale of `source`, without times.

    Examples
    --------
    >>> from recbias.data.simulation import make_world
    >>> source = make_world(n_users=40, n_items=60, n_ratings=200, seed=3).ratings
    >>> world = count_world(CountOptions(counts="synthetic", seed=2), source)
    >>> bool((world.ratings.item_counts() == source.item_counts()).all())
    True
    """
    keys = stream(options.seed, "count world").bit_generator.random_raw(2)
    user, item = match_at_random(source.user_counts(), source.item_counts(), keys[0])
    frame = dataclasses.replace(
        source,
        name=str(options),
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=np.ones(len(user)),
        timestamp=None,
    )
    levels, n_each = np.unique(source.value, return_counts=True)
    identity = f"{options} of {source.content_hash}"
    return _rated(frame, identity, levels, np.cumsum(n_each)[:-1] / len(source), keys[1])


def _rated(
    frame: Ratings,
    identity: str,
    levels: npt.NDArray[np.float64],
    reached: npt.NDArray[np.float64],
    key: np.uint64,
) -> ChanceWorld:
    """Give observed pairs their true ratings."""
    numbers = frame.user.astype(np.uint64) * np.uint64(frame.n_items) + frame.item.astype(np.uint64)
    value = levels[np.searchsorted(reached, uniform(numbers, key), side="right")]
    ratings = dataclasses.replace(frame, value=value)
    return ChanceWorld(ratings, identity, levels, reached, key)
