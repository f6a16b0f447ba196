"""Small tables of ratings for the tests of recommenders."""

import numpy as np

from recbias.data.ratings import Ratings, RatingScale


def table(stars, name="small"):
    """Make ratings from a dense array (n_users, n_items); NaN = no rating."""
    stars = np.asarray(stars, dtype=float)
    user, item = np.nonzero(~np.isnan(stars))
    return Ratings(
        name=name,
        user=user.astype(np.int32),
        item=item.astype(np.int32),
        value=stars[user, item],
        timestamp=None,
        user_ids=np.arange(stars.shape[0]),
        item_ids=np.arange(stars.shape[1]),
        scale=RatingScale(0, 5, 0),
    )


def random_stars(seed=0, n_users=12, n_items=9, observed=0.5, levels=None):
    """Draw a dense array of ratings from 1 to 5 with gaps; the last user and item have none."""
    rng = np.random.default_rng(seed)
    stars = rng.uniform(1, 5, (n_users, n_items))
    if levels:
        stars = np.round(stars * levels / 5) * 5 / levels
    stars[rng.random(stars.shape) > observed] = np.nan
    stars[-1] = stars[:, -1] = np.nan
    return stars


def small_table(seed=0, **shape):
    return table(random_stars(seed, **shape))


def dense(train):
    """Return the values with 0 for no rating, and where there is one."""
    values = np.zeros((train.n_users, train.n_items))
    rated = np.zeros_like(values, dtype=bool)
    values[train.user, train.item] = train.value
    rated[train.user, train.item] = True
    return values, rated
