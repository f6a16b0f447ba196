"""What is known in a world and nowhere else: every user's true rating of every item."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from recbias.data.ratings import Ratings
from recbias.data.simulation.noise import blocks
from recbias.errors import ConfigError


class Truth(Protocol):
    """What a metric may ask of the true ratings of a data set.

    `World` has it, and any class that says the same may stand in for it.
    """

    @property
    def identity(self) -> str:
        """All that decides the true ratings, in one line; for keys."""
        ...

    def true_rating(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Tell the true ratings of users, float32 (n, n_items)."""
        ...

    def share_liking(self, min_rating: float) -> npt.NDArray[np.float64]:
        """Tell the share of all users who like each item, float64 (n_items,)."""
        ...

    def sample(self, n_per_user: int, *, rng: np.random.Generator) -> Ratings:
        """Draw true ratings of items drawn uniformly for each user."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class World(ABC):
    """Observed ratings, and the truth about all pairs.

    Truth comes in blocks of users and is computed when asked for; nothing of the size users x
    items is stored.

    Parameters
    ----------
    ratings : Ratings
        The observed ratings. The vocabularies hold all users and items, so that the number of a
        user or item is the same in the truth.
    identity : str
        All that decides it, in one line; equal identities are equal worlds, as long as
        `recbias.data.simulation.REVISION` is the same.
    """

    ratings: Ratings
    identity: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.identity}: {self.ratings!r})"

    @abstractmethod
    def _values(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """Return the true ratings of users, float64 (n, n_items)."""

    def true_rating(self, users: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
        """Tell how users would rate each item, observed or not.

        Parameters
        ----------
        users : int array (n,)
            User numbers.

        Returns
        -------
        float32 array (n, n_items)
            True ratings; equal to the observed one (as float32) where there is one.

        Examples
        --------
        >>> from recbias.data.simulation import make_world
        >>> world = make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
        >>> stars = world.true_rating(np.arange(40))
        >>> bool((stars[world.ratings.user, world.ratings.item] == world.ratings.value).all())
        True
        """
        return self._values(users).astype(np.float32)

    def share_liking(self, min_rating: float) -> npt.NDArray[np.float64]:
        """Tell which share of all users likes each item, observed or not.

        Parameters
        ----------
        min_rating : float
            The smallest rating that says liking.

        Returns
        -------
        float64 array (n_items,)
            From 0 to 1.

        Examples
        --------
        >>> from recbias.data.simulation import make_world
        >>> world = make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
        >>> shares = world.share_liking(4)
        >>> bool((shares == (world.true_rating(np.arange(40)) >= 4).mean(axis=0)).all())
        True
        """
        liking = np.zeros(self.ratings.n_items, dtype=np.int64)
        for users in blocks(self.ratings.n_users, self.ratings.n_items):
            liking += np.count_nonzero(self._values(users) >= min_rating, axis=0)
        return liking / self.ratings.n_users

    def sample(self, n_per_user: int, *, rng: np.random.Generator) -> Ratings:
        """Draw items for each user, uniformly and whatever was observed, with their true ratings.

        What Coat and Yahoo! R3 did with people: such ratings are missing completely at random.

        Parameters
        ----------
        n_per_user : int
            Items of each user, drawn without replacement.
        rng : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        Ratings
            ``n_per_user * n_users`` rows, over the same users and items as `ratings`.

        Raises
        ------
        ConfigError
            If `n_per_user` is below 1 or above the number of items.

        Examples
        --------
        >>> from recbias.data.simulation import make_world
        >>> world = make_world(n_users=40, n_items=60, n_ratings=200, seed=3)
        >>> world.sample(5, rng=np.random.default_rng(1)).user_counts().max()
        np.int64(5)
        """
        n_users, n_items = self.ratings.n_users, self.ratings.n_items
        if not 1 <= n_per_user <= n_items:
            raise ConfigError(
                f"a sample of {n_per_user} items per user: expected 1 to {n_items}, all items"
            )
        chosen, values = [], []
        for users in blocks(n_users, n_items):
            # As the draws come row by row, the size of blocks does not change them.
            draws = rng.random((len(users), n_items))
            drawn = np.sort(np.argpartition(draws, n_per_user - 1, axis=1)[:, :n_per_user], axis=1)
            chosen.append(drawn.ravel())
            values.append(np.take_along_axis(self._values(users), drawn, axis=1).ravel())
        return dataclasses.replace(
            self.ratings,
            user=np.repeat(np.arange(n_users, dtype=np.int32), n_per_user),
            item=np.concatenate(chosen).astype(np.int32),
            value=np.concatenate(values),
            timestamp=None,
        )
