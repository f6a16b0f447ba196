"""How long the systems of the papers take to train and to score, beside what libraries offer.

``python benchmarks/training.py`` takes an 80 % fold of MovieLens 1M from the folder that
RECBIAS_DATA names, or of a simulated world of its size. Ratios are of two routes to the same model,
timed in turn in one run and one thread, so that a busy machine slows both alike. Everything is
fitted to a small world first, so that no compilation is timed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from implicit.cpu.als import AlternatingLeastSquares
from scipy import sparse
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet
from threadpoolctl import threadpool_limits

from ranking import peak_gb
from recbias import line_up, load_dataset
from recbias.data.ratings import Ratings
from recbias.data.simulation import make_world
from recbias.errors import MissingData
from recbias.protocol.splits import k_fold
from recbias.ranking import block_size
from recbias.recommenders import PLSA, SLIM, Recommender, WeightedMF

REPEATS = 3
N_COLUMNS = 150
"""Columns that the library's SLIM is timed on; its time for all of them is extrapolated."""

L1, L2 = 1.0, 100.0
GOALS = {"HKV / ALS": 1.5, "pLSA / NMF": 0.5, "SLIM / ElasticNet": 0.2}
SECONDS = {"train": 240, "score": 60}
MEMORY = 2.0

Task = Callable[[], object]


def ratings() -> Ratings:
    try:
        return load_dataset("ml-1m").ratings
    except MissingData:
        return make_world(n_users=6040, n_items=3706, n_ratings=1_000_209).ratings


def seconds(task: Task) -> float:
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def score_all(model: Recommender, train: Ratings) -> None:
    step = block_size(train.n_items)
    for first in range(0, train.n_users, step):
        model.score(np.arange(first, min(first + step, train.n_users)))


def fit_and_score(train: Ratings) -> dict[str, tuple[float, float]]:
    """Time every system of the line-up once: training, and scores of all users."""
    found = {}
    for system in line_up("mccrs20"):
        model = system.build()
        training = seconds(lambda model=model: model.fit(train, rng=np.random.default_rng(1)))
        found[system.name] = training, seconds(lambda model=model: score_all(model, train))
    return found


def matrix(train: Ratings) -> sparse.csr_matrix:
    shape = (train.n_users, train.n_items)
    return sparse.csr_matrix((train.value, (train.user, train.item)), shape)


def hkv(train: Ratings) -> tuple[Task, Task]:
    """50 factors, 20 iterations, 1 + r as confidence of a rated pair, 0/1 as target."""
    ours = WeightedMF(n_factors=50, n_iterations=20, regularisation=1.0, target="binary")
    confidence = matrix(train).astype(np.float32)
    confidence.data += 1
    library = AlternatingLeastSquares(
        factors=50, iterations=20, regularization=1.0, use_cg=False, num_threads=1, random_state=1
    )
    return (
        lambda: ours.fit(train, rng=np.random.default_rng(1)),
        lambda: library.fit(confidence, show_progress=False),
    )


def plsa(train: Ratings) -> tuple[Task, Task]:
    """50 topics, 100 iterations; NMF under the Kullback-Leibler divergence has the same optimum."""
    ours, values = PLSA(n_topics=50, n_iterations=100), matrix(train)
    library = NMF(
        50, init="random", solver="mu", beta_loss="kullback-leibler", max_iter=100, tol=0,
        random_state=1,
    )  # fmt: skip
    return lambda: ours.fit(train, rng=np.random.default_rng(1)), lambda: library.fit(values)


def slim(train: Ratings) -> tuple[Task, Task]:
    """All items here; in the library some columns, evenly spaced by popularity. 0/1 data."""
    ours = SLIM(l1=L1, l2=L2, n_neighbours=0, encoding="binary-all")
    values = matrix(train).tocsc()
    values.data[:] = 1
    by_popularity = np.argsort(np.diff(values.indptr), kind="stable")
    chosen = by_popularity[np.linspace(0, train.n_items - 1, N_COLUMNS).round().astype(int)]

    def columns() -> None:
        library = ElasticNet(
            alpha=(L1 + L2) / train.n_users, l1_ratio=L1 / (L1 + L2), positive=True,
            fit_intercept=False, copy_X=False,
        )  # fmt: skip
        for item in chosen:
            rows = slice(values.indptr[item], values.indptr[item + 1])
            own = values.data[rows].copy()
            target = np.zeros(train.n_users)
            target[values.indices[rows]] = own
            values.data[rows] = 0
            library.fit(values, target)
            values.data[rows] = own

    return lambda: ours.fit(train, rng=np.random.default_rng(1)), columns


def compare(pair: tuple[Task, Task]) -> tuple[float, float]:
    """Time both in turn; give the median of each."""
    rounds = [[seconds(task) for task in pair] for _ in range(REPEATS)]
    ours, library = (median(times) for times in zip(*rounds, strict=True))
    return ours, library


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # NMF is to do all its iterations
    source = ratings()
    train = k_fold(source, 5, rng=np.random.default_rng(1))[0].train
    small = make_world(n_users=120, n_items=150, n_ratings=1700).ratings
    pairs = {"HKV / ALS": hkv, "pLSA / NMF": plsa, "SLIM / ElasticNet": slim}
    with threadpool_limits(1):
        compiling = seconds(lambda: fit_and_score(small))
        for pair in pairs.values():
            pair(small)[0]()
        print(f"{source}, an 80 % fold; one thread; first calls {compiling:.0f} s")
        print(f"{'mccrs20':24}{'train s':>9}{'score s':>9}")
        found = fit_and_score(train)
        for name, times in found.items():
            print(f"  {name:22}{times[0]:9.1f}{times[1]:9.1f}")
        sums = [sum(times) for times in zip(*found.values(), strict=True)]
        print(f"  {'all':22}{sums[0]:9.1f}{sums[1]:9.1f}")
        print(f"  {'goal':22}{SECONDS['train']:9}{SECONDS['score']:9}")
        print(f"peak memory {peak_gb():.2f} GB (goal {MEMORY:g})")
        print(
            f"{'median of ' + str(REPEATS):24}{'ours s':>9}{'library s':>11}{'ratio':>7}{'goal':>6}"
        )
        for name, pair in pairs.items():
            ours, library = compare(pair(train))
            if name.startswith("SLIM"):
                library *= train.n_items / N_COLUMNS
            print(f"  {name:22}{ours:9.1f}{library:11.1f}{ours / library:7.2f}{GOALS[name]:6}")
    print(f"ElasticNet: {N_COLUMNS} columns of {train.n_items}, scaled up")


if __name__ == "__main__":
    main()
