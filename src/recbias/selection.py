"""Selection: which users and items take part at all.

Every selection returns ratings whose vocabularies hold only users and items that still have a
rating.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from recbias.errors import ConfigError, DataError
from recbias.ratings import Ratings


def min_counts(ratings: Ratings, *, per_user: int = 0, per_item: int = 0) -> Ratings:
    """Keep users and items with enough ratings, counted once.

    Both counts are taken before anything is removed, so that some may be lower afterwards; see
    `k_core` for counts that hold in the result.

    Parameters
    ----------
    ratings : Ratings
        What to select from.
    per_user, per_item : int
        The fewest ratings of a user and of an item that stays.

    Returns
    -------
    Ratings
        Ratings of the users that stay for the items that stay.

    Raises
    ------
    DataError
        If nothing is left.

    See Also
    --------
    k_core
    """
    enough_of_user = ratings.user_counts() >= per_user
    enough_of_item = ratings.item_counts() >= per_item
    kept = enough_of_user[ratings.user] & enough_of_item[ratings.item]
    return _keep(ratings, kept, f"minimum of {per_user} per user and {per_item} per item")


def k_core(ratings: Ratings, min_count: int) -> Ratings:
    """Keep the largest part in which every user and every item has enough ratings.

    Parameters
    ----------
    ratings : Ratings
        What to select from.
    min_count : int
        The fewest ratings of any user and any item in the result.

    Returns
    -------
    Ratings
        The core; it does not depend on the order of removal.

    Raises
    ------
    DataError
        If nothing is left.

    See Also
    --------
    min_counts
    """
    kept = np.ones(len(ratings), dtype=np.bool_)
    while True:
        of_user = np.bincount(ratings.user[kept], minlength=ratings.n_users)
        of_item = np.bincount(ratings.item[kept], minlength=ratings.n_items)
        poor = kept & ((of_user[ratings.user] < min_count) | (of_item[ratings.item] < min_count))
        if not poor.any():
            return _keep(ratings, kept, f"{min_count}-core")
        kept &= ~poor


def sample_users(ratings: Ratings, n_users: int, *, rng: np.random.Generator) -> Ratings:
    """Keep a random sample of the users, all of whose ratings stay.

    Parameters
    ----------
    ratings : Ratings
        What to select from.
    n_users : int
        How many users to draw, without replacement.
    rng : numpy.random.Generator
        Source of the draw.

    Returns
    -------
    Ratings
        The ratings of the drawn users.

    Raises
    ------
    ConfigError
        If `n_users` is below 1 or above the number of users.
    DataError
        If none of the drawn users has a rating.
    """
    drawn = _draw(ratings.n_users, n_users, "users", rng)
    return _keep(ratings, drawn[ratings.user], f"sample of {n_users} users")


def sample_items(ratings: Ratings, n_items: int, *, rng: np.random.Generator) -> Ratings:
    """Keep a random sample of the items, all of whose ratings stay.

    Parameters
    ----------
    ratings : Ratings
        What to select from.
    n_items : int
        How many items to draw, without replacement.
    rng : numpy.random.Generator
        Source of the draw.

    Returns
    -------
    Ratings
        The ratings of the drawn items.

    Raises
    ------
    ConfigError
        If `n_items` is below 1 or above the number of items.
    DataError
        If none of the drawn items has a rating.
    """
    drawn = _draw(ratings.n_items, n_items, "items", rng)
    return _keep(ratings, drawn[ratings.item], f"sample of {n_items} items")


def _draw(size: int, wanted: int, what: str, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    if not 1 <= wanted <= size:
        raise ConfigError(f"sample of {wanted} {what}: expected 1 to {size}, all there are")
    drawn = np.zeros(size, dtype=np.bool_)
    drawn[rng.choice(size, size=wanted, replace=False)] = True
    return drawn


def _keep(ratings: Ratings, rows: npt.NDArray[np.bool_], selection: str) -> Ratings:
    """Keep rows, and of the vocabularies what they use."""
    part = ratings.take(rows)
    users, user = np.unique(part.user, return_inverse=True)
    items, item = np.unique(part.item, return_inverse=True)
    if not len(part):
        raise DataError(
            f"{ratings.name}: '{selection}' leaves nothing of {len(ratings)} ratings, "
            f"{ratings.n_users} users and {ratings.n_items} items\nselect less strictly"
        )
    return dataclasses.replace(
        part,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        user_ids=ratings.user_ids[users],
        item_ids=ratings.item_ids[items],
    )
