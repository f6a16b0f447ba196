"""How much ranking and measuring cost beside the product that gives the scores.

``python benchmarks/ranking.py`` takes MovieLens 1M from the folder that RECBIAS_DATA names, or a
random table of its size, and prints each time as a multiple of the plain float32 product of 50
factors, in the same blocks of users and with one BLAS thread as well. All are timed in turn, so
that a busy machine slows them alike.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from recbias import load_dataset
from recbias.data.ratings import Ratings, RatingScale
from recbias.errors import MissingData
from recbias.metrics import measure, parse_metric
from recbias.metrics.aggregation import aggregate
from recbias.protocol.splits import Split, k_fold
from recbias.protocol.targets import TargetRule, Targets, popularity_groups
from recbias.ranking import RankTable, block_size, rank, rank_once
from recbias.recommenders import System
from recbias.recommenders.base import factor_scores

REPEATS = 9
GOALS = {"ranks": 12, "all that is kept": 12, "metrics": 8, "memory": 0.5}
N_FACTORS = 50
RULES = (
    Targets(TargetRule.parse("AI-AN-AR")),
    Targets(TargetRule.parse("TI-AN-AR")),
    Targets(TargetRule.parse("TI-NN-1R t=100"), 5.0),
)
METRICS = [
    parse_metric(f"{name}@{cutoff}")
    for name in ("P", "R", "nDCG", "AP", "RR")
    for cutoff in (1, 5, 10, 20, 50, 100)
]

Factors = npt.NDArray[np.float32]


class Product:
    """A recommender whose scores are the plain product of float32 factors."""

    def __init__(self, users: Factors, items: Factors) -> None:
        self.users, self.items = users, items

    def fit(self, train: Ratings, *, rng: np.random.Generator | None = None) -> Product:
        """Nothing is learnt."""
        return self

    def score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Multiply in one precision throughout."""
        return self.users[users] @ self.items.T


class RoundedProduct(Product):
    """The same as the package's own factor models compute it: in float64, rounded once."""

    def score(self, users: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Multiply in float64."""
        return factor_scores(self.users[users], self.items)


def ratings() -> Ratings:
    try:
        return load_dataset("ml-1m").ratings
    except MissingData:
        return random_ratings(np.random.default_rng(1))


def random_ratings(
    rng: np.random.Generator, n_users: int = 6040, n_items: int = 3706, n_ratings: int = 1_000_209
) -> Ratings:
    """Draw pairs with power laws of activity and popularity, and stars, on their own."""
    shares = [
        (rank_law := (np.arange(size) + 0.1 * size) ** -1.5) / rank_law.sum()
        for size in (n_users, n_items)
    ]
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < n_ratings:
        user, item = (rng.choice(len(share), n_ratings // 2, p=share) for share in shares)
        pairs = np.union1d(pairs, user * n_items + item)
    pairs = np.sort(rng.choice(pairs, n_ratings, replace=False))
    return Ratings(
        name="random table of the size of ML-1M",
        user=(pairs // n_items).astype(np.int32),
        item=(pairs % n_items).astype(np.int32),
        value=rng.choice(np.arange(1.0, 6.0), n_ratings, p=[0.06, 0.11, 0.26, 0.35, 0.22]),
        timestamp=None,
        user_ids=np.arange(n_users),
        item_ids=np.arange(n_items),
        scale=RatingScale(1, 5, 1),
    )


def products(split: Split) -> dict[str, tuple[Factors, Factors]]:
    """Factors of an ALS model of implicit, and of Popularity: one factor and 49 zeros."""
    train = split.train
    als = System("ALS", "ImplicitALS", {"n_factors": N_FACTORS, "n_iterations": 5}).build()
    als.fit(train, rng=np.random.default_rng(1))
    users, items = (
        np.zeros((size, N_FACTORS), np.float32) for size in (train.n_users, train.n_items)
    )
    users[:, 0], items[:, 0] = 1, train.item_counts()
    return {"ALS": (als.user_factors, als.item_factors), "Popularity": (users, items)}


def multiply(product: Product) -> None:
    n_users, step = len(product.users), block_size(len(product.items))
    for first in range(0, n_users, step):
        product.score(np.arange(first, min(first + step, n_users)))


def measure_all(tables: list[RankTable]) -> int:
    """Measure everything that the ranks give; return the number of configurations."""
    count = 0
    for table in tables:
        for min_rating in (4, 5) if table.per == "user" else (5,):
            for condensed in (False, True):
                values = measure(table, METRICS, min_rating=min_rating, condensed=condensed)
                for population in ("all", "relevant"):
                    aggregate(table, values, min_rating=min_rating, population=population)
                    count += len(METRICS)
    return count


def interleaved(tasks: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of each task, run in turn; the first round, which compiles, is not timed."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for repeat in range(REPEATS + 1):
        for name, task in tasks.items():
            started = time.perf_counter()
            task()
            if repeat:
                seconds[name].append(time.perf_counter() - started)
    return {name: median(times) for name, times in seconds.items()}


def peak_gb() -> float:
    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    source = ratings()
    split = k_fold(source, 5, rng=np.random.default_rng(1))[0]
    with threadpool_limits(1):
        factors = products(split)
        before = peak_gb()
        print(f"{source}; one thread, median of {REPEATS}")
        print(f"{'':24}{'seconds':>9}{'x product':>11}{'goal':>6}")
        for name, (users, items) in factors.items():
            product, rounded = Product(users, items), RoundedProduct(users, items)
            tables = rank(product, split, RULES, seed=1)

            def keep(product: Product = product, depth: int = 100, n: int = 10) -> object:
                groups = popularity_groups(split.train, n)
                return rank_once(
                    product, split, groups=groups, sampled=RULES[2:], depth=depth, seed=1
                )

            count = measure_all(tables)
            found = interleaved(
                {
                    "product": lambda product=product: multiply(product),
                    "ranks": lambda product=product: rank(product, split, RULES, seed=1),
                    "ranks, float64 product": lambda rounded=rounded: rank(
                        rounded, split, RULES, seed=1
                    ),
                    "counts and sample": lambda: keep(depth=1, n=1),
                    "counts by 10 groups": lambda: keep(depth=1),
                    "all that is kept": lambda: keep(),
                    "metrics": lambda tables=tables: measure_all(tables),
                }
            )
            print(name)
            for task, seconds in found.items():
                goal = f"{GOALS[task]:5}x" if task in GOALS else ""
                print(f"  {task:22}{seconds:9.3f}{seconds / found['product']:11.1f}{goal:>6}")
    print(f"metrics: {count} values of metric x cutoff x threshold x list x rule x population")
    print(
        f"peak memory {peak_gb():.2f} GB (goal {GOALS['memory']}); "
        f"{before:.2f} GB of it by loading and training"
    )


if __name__ == "__main__":
    main()
