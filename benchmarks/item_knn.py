"""Size what sets two item kNNs apart: which neighbours count, and what a metric means.

``python benchmarks/item_knn.py DATASET ...`` writes ``item_knn.csv``, from which
``book/toolkits.md`` has its section on arXiv 2407.13531. Both kNNs are written out here, on cosines
of the users who like items, and add up the cosines of at most 20 neighbours:

kept     the neighbours are chosen when training: of each item the 20 most similar of all items
profile  they are chosen for each user: of what the user likes the 20 most similar to the item

Of each user a fifth of the likes, rounded, is the test, and who has none of it is left out. What
was liked in training is not listed, lists have ten items, and equal scores are listed as items are
numbered.
"""

import csv
import datetime
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from recbias import load_dataset, reconcile
from recbias.metrics.conventions import departures

FILE = Path(__file__).with_suffix(".csv")
FIELDS = ("dataset", "date", "likes from", "users", "neighbours", "metric", "convention", "value")
LIKES = {"ml-1m": 4}
"""Stars from which a rating is a like, where not 3: here 1 to 3 stars of ml-1m are one value."""
K, NEIGHBOURS, SEED = 10, 20, 42
WAYS = {
    "nDCG@10": (
        (),
        (("discount", "base 2"),),
        (("ideal", "uncut"),),
        (("discount", "base 2"), ("ideal", "uncut")),
    ),
    "R@10": ((), (("divisor", "capped"),)),
    "P@10": ((),),
}
"""By metric the conventions, as departures from those of this package, that are recorded."""


def halves(name):
    """Read the likes of a data set, four fifths of each user's and one: matrices of 0 and 1."""
    ratings = load_dataset(name).ratings
    likes = np.zeros((ratings.n_users, ratings.n_items), dtype=bool)
    good = ratings.value >= LIKES.get(name, 3)
    likes[ratings.user[good], ratings.item[good]] = True
    rng, test = np.random.default_rng(SEED), np.zeros_like(likes)
    for user, row in enumerate(likes):
        liked = np.flatnonzero(row)
        test[user, rng.choice(liked, round(len(liked) / 5), replace=False)] = True
    tested = test.any(axis=1)
    return (likes & ~test)[tested], test[tested]


def cosines(train):
    """Give the cosine of each two items, and 0 of an item with itself."""
    counts = train.astype(np.float32)
    norm = np.sqrt(counts.sum(axis=0))
    found = (counts.T @ counts) / np.maximum(np.outer(norm, norm), 1)
    np.fill_diagonal(found, 0)
    return found


def of_nearest(rows):
    """Keep the largest numbers of each row, and 0 for the others."""
    if rows.shape[1] <= NEIGHBOURS:
        return rows
    bound = -np.partition(-rows, NEIGHBOURS - 1, axis=1)[:, NEIGHBOURS - 1 : NEIGHBOURS]
    return np.where(rows >= bound, rows, 0)


def lists(train, neighbours):
    """List the ten items with the highest scores that a user did not like in training."""
    near = cosines(train)
    kept = of_nearest(near) if neighbours == "kept" else near
    for row in train:
        liked = np.flatnonzero(row)
        of_liked = kept[:, liked]
        score = (of_liked if neighbours == "kept" else of_nearest(of_liked)).sum(axis=1)
        score[liked] = -1
        yield np.argsort(-score, kind="stable")[:K]


def rows_of(name):
    """Yield what is recorded of a data set."""
    train, test = halves(name)
    user, item = np.nonzero(test)
    judged = pd.DataFrame({"user_id": user, "item_id": item, "rating": 1})
    for neighbours in ("kept", "profile"):
        top = np.array(list(lists(train, neighbours)))
        run = pd.DataFrame(
            {
                "user_id": np.repeat(np.arange(len(top)), K),
                "item_id": top.ravel(),
                "rank": np.tile(np.arange(1, K + 1), len(top)),
            }
        )
        for found in reconcile(run, judged, metrics=tuple(WAYS)):
            values = {departures(way, found.ours): value for way, value in found.values.items()}
            for way in WAYS[found.metric]:
                convention = " ".join(map(":".join, way))
                yield [
                    name, datetime.date.today().isoformat(), LIKES.get(name, 3), len(top),
                    neighbours, found.metric, convention, f"{values[way]:.6f}",
                ]  # fmt: skip


if __name__ == "__main__":
    made = [row for name in sys.argv[1:] for row in rows_of(name)]
    with FILE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *made])
