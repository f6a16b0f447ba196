"""Splits, scores and target sets written out in full, and ranks by walking down sorted lists.

Shares no code with `recbias.protocol.targets` and `recbias.ranking`, which it checks.
"""

import numpy as np

from recbias.protocol.splits import Split
from recbias.testing import naive_list
from recommender_tables import table


class FixedScores:
    """A recommender with the scores that it is given."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, dtype=np.float32)

    def fit(self, train, *, rng=None):
        return self

    def score(self, users):
        return self.scores[users]


def make_split(train, test, also_candidates=()):
    """Make a split from two dense arrays of ratings; NaN = no rating.

    `also_candidates` are items whose test ratings a thinning has removed.
    """
    train, test = table(train), table(test)
    test_items = np.union1d(test.item, np.array(sorted(also_candidates), dtype=np.int32))
    return Split(train, test, test_items.astype(np.int32), fold=0, rule="explicit")


def random_split(rng, n_users, n_items, *, train=0.3, test=0.3):
    """Make a split of random pairs with stars from 1 to 5."""
    stars = rng.integers(1, 6, (n_users, n_items)).astype(float)
    fate = rng.random((n_users, n_items))
    nothing = np.full_like(stars, np.nan)
    return make_split(
        np.where(fate < train, stars, nothing), np.where(fate > 1 - test, stars, nothing)
    )


def naive_sets(split, candidates, user, min_rating):
    """Return a user's training items, test ratings by item, and pool N_u."""
    train = {int(item) for item in split.train.item[split.train.user == user]}
    rows = split.test.user == user
    test = dict(zip(split.test.item[rows].tolist(), split.test.value[rows].tolist(), strict=True))
    items = range(split.test.n_items) if candidates == "AI" else split.test_items.tolist()
    liked = {item for item, value in test.items() if value >= min_rating}
    return train, test, set(items) - train - liked


def naive_ranks(scores, ties, split, candidates, *, per_run, min_rating, drawn=None):
    """Rank test ratings by sorting every target set.

    `ties[user]` lists the items, winners of a tie first. `drawn` gives the sampled items, a set per
    user or, for runs, per relevant test rating; None = all of the pool.

    Returns rows (user, item, rank, condensed rank) and sets (size, items with a score).
    """
    rows, sets = [], []
    for user in range(split.test.n_users):
        _, test, pool = naive_sets(split, candidates, user, min_rating)
        liked = [item for item in test if test[item] >= min_rating]
        for chosen in [[item] for item in liked] if per_run else [liked]:
            members = set(chosen) | (pool if drawn is None else drawn[len(sets)])
            shown = naive_list({item: float(scores[user][item]) for item in members}, ties[user])
            condensed = [item for item in shown if item in test]
            sets.append((len(members), len(shown)))
            for item in chosen if per_run else sorted(test):
                places = [order.index(item) + 1 for order in (shown, condensed) if item in order]
                rows.append((user, item, *(places or (0, 0))))
    return rows, sets


def found_ranks(table):
    """Return a rank table in the form of `naive_ranks`."""
    columns = (table.user, table.item, table.rank, table.condensed_rank)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    sets = zip(table.n_targets.tolist(), table.n_scored.tolist(), strict=True)
    return list(rows), list(sets)
