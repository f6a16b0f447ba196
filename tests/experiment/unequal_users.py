"""A small table of ratings, for tests of who is served and averaged."""

import numpy as np
import pandas as pd


def ratings_of_unequal_users(n_items: int) -> pd.DataFrame:
    """Users of unequal activity, of whom kNN refuses those who share few items with anybody."""
    rng = np.random.default_rng(8)
    activity = np.repeat([0.1, 0.3, 0.7], [20, 20, 20])
    rated = np.argwhere(rng.random((60, n_items)) < activity[:, None])
    liking = (rated[:, 0] + rated[:, 1]) % 4
    stars = np.clip(liking + rng.integers(1, 4, len(rated)), 1, 5)
    return pd.DataFrame({"user_id": rated[:, 0], "item_id": rated[:, 1], "rating": stars})
