"""What the share of relevant targets, rho, depends on, and how far from the truth it leaves values.

BCC17 Sec. 4.2. Nothing here needs a recommender but what is measured where the truth is known.
Target sets are counted from the split.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recbias._system.streams import stream
from recbias.book.chapters.sparsity_bias.total_precision import set_sizes
from recbias.claims.checks import Check
from recbias.data.ratings import Ratings
from recbias.experiment.grid import Grid
from recbias.protocol.splits import Split

_CLAIM = "BCC17-C-ABS"
_N_GOALS = 9


def check_beside(grids: Sequence[Grid]) -> list[Check]:
    """Count designs in which precision is measured with neither rho nor Random beside it."""
    alone = n_designs = 0
    for grid in grids:
        has_random = any(system.algorithm == "Random" for system in grid.systems)
        for metrics in grid.parsed_metrics.values():
            names = {metric.name for metric in metrics}
            n_designs += "P" in names
            alone += "P" in names and not has_random and "rho" not in names
    return [Check(_CLAIM, "beside", "designs without rho or Random", n_designs, alone)]


def catalogue_rho(
    train: Ratings, test: Ratings, min_rating: float, n_users: int | None = None
) -> float:
    """Average the share of relevant targets over users; targets are all items but training's."""
    sizes = train.n_items - np.bincount(train.user, minlength=train.n_users)
    return _rho(test.user[test.value >= min_rating], sizes, n_users)


def _rho(
    owner: npt.NDArray[np.integer], sizes: npt.NDArray[Any], n_users: int | None = None
) -> float:
    n_relevant = np.bincount(owner, minlength=len(sizes))
    shares = n_relevant / np.maximum(sizes, 1)
    return float(shares.sum() / (n_users or len(sizes)))


def _half(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    return ratings.take(rng.random(len(ratings)) < 0.5)


def designed_rho(split: Split, *, min_rating: float) -> dict[str, tuple[float, float]]:
    """Compute rho with all relevant items of a user in one target set, and with each in its own."""
    sizes, owner, pool = _pools(split, min_rating)
    alone = float(np.mean(1 / (pool + 1)[owner])) if len(owner) else np.nan
    return {"by-design": (_rho(owner, sizes), alone)}


def _pools(split: Split, min_rating: float) -> tuple[npt.NDArray[Any], ...]:
    """Give sizes of target sets, the user of each relevant item, and non-relevant targets."""
    sizes, owner = set_sizes(split), split.test.user[split.test.value >= min_rating]
    return sizes, owner, sizes - np.bincount(owner, minlength=len(sizes))


def moved_rho(split: Split, *, min_rating: float, seed: int) -> dict[str, tuple[float, float]]:
    """Compute rho before and after each of four changes of set-up or collection."""
    rng = stream(seed, "rho", split.fold)
    test, train = split.test, split.train
    sizes, owner, pool = _pools(split, min_rating)
    rho = _rho(owner, sizes)
    half_test = _half(test, rng)
    fewer = half_test.user[half_test.value >= min_rating]
    whole = catalogue_rho(train, test, min_rating)
    half_train = _half(train, rng)
    second_train, second_test = rng.random(len(train)) < 0.5, rng.random(len(test)) < 0.5
    parts = [
        catalogue_rho(train.take(mine), test.take(judged), min_rating, 2 * test.n_users)
        for mine, judged in ((second_train, second_test), (~second_train, ~second_test))
    ]
    return {
        "by-ratio": (rho, _rho(fewer, sizes)),
        "by-pool": (rho, _rho(owner, np.floor(pool / 2) + sizes - pool)),
        "by-ratings": (whole, catalogue_rho(half_train, _half(test, rng), min_rating)),
        "by-users": (whole, sum(parts)),
    }


def check_rho_moves(moved: Mapping[str, tuple[float, float]]) -> list[Check]:
    """Tell how much rho changes with each choice, relative to what it was."""
    return [
        Check(_CLAIM, name, "|rho after - before|/before", 1, abs(after / before - 1))
        for name, (before, after) in moved.items()
    ]


def reached_rho(split: Split, *, min_rating: float, seed: int) -> dict[float, float]:
    """Set rho to given values by sampling non-relevant targets and taking out test ratings."""
    sizes, owner, pool = _pools(split, min_rating)
    owner, test = stream(seed, "rho", "goals").permutation(owner), split.test

    def rho(n_sampled: int, n_kept: int) -> float:
        n_relevant = np.bincount(owner[:n_kept], minlength=test.n_users)
        whole = n_sampled >= pool.max()
        return _rho(owner[:n_kept], sizes if whole else np.minimum(n_sampled, pool) + n_relevant)

    largest_pool, n_all = int(pool.max()), len(owner)

    def reach(goal: float) -> float:
        # The fewer are sampled, the larger is rho; then relevant ratings are taken out down to it.
        n_sampled = _last(lambda n: rho(n, n_all) >= goal, 1, largest_pool)
        n_kept = _last(lambda n: rho(n_sampled, n) <= goal, 1, n_all)
        near = [rho(n_sampled, n) for n in (n_kept, min(n_kept + 1, n_all))]
        return min(near, key=lambda value: abs(value - goal))

    highest = len(np.unique(owner)) / test.n_users / 2
    goals = np.geomspace(rho(largest_pool, n_all) / 10, highest, _N_GOALS)
    return {goal: reach(goal) for goal in goals.tolist()}


def _last(holds: Callable[[int], bool], first: int, last: int) -> int:
    """Find the last number for which something holds that fails from some number on."""
    while first < last:
        middle = (first + last + 1) // 2
        if holds(middle):
            first = middle
        else:
            last = middle - 1
    return first


def check_reached(reached: Mapping[float, float]) -> list[Check]:
    """Tell how far from its goals rho was left, of `reached_rho`."""
    missed = max(abs(value / goal - 1) for goal, value in reached.items())
    return [Check(_CLAIM, "set-to", "|rho reached - wanted|/wanted", len(reached), missed)]


def check_true_values(values: Mapping[str, tuple[float, float]]) -> list[Check]:
    """Tell what share of their true precision systems show."""
    share = max(observed / true for observed, true in values.values())
    return [Check(_CLAIM, "observed-of-true", "observed/true precision", len(values), share)]


def halved_rho(splits: Sequence[Split], *, min_rating: float, seed: int) -> tuple[float, float]:
    """Compute rho with half of all ratings, and with half of the test ratings, drawn apart."""
    of_all, of_test = [], []
    for split in splits:
        rng = stream(seed, "halves", split.fold)
        halves = _half(split.train, rng), _half(split.test, rng)
        of_all.append(catalogue_rho(*halves, min_rating))
        of_test.append(catalogue_rho(split.train, _half(split.test, rng), min_rating))
    return float(np.mean(of_all)), float(np.mean(of_test))


def check_halves(halved: tuple[float, float]) -> list[Check]:
    """Compare rho with half of all ratings and with half of the test ratings, of `halved_rho`.

    References
    ----------
    BCC17 Sec. 4.2: the bias stems from sparse test data, whatever made them sparse.
    """
    of_all, of_test = halved
    what = "|rho with half of all ratings/rho with half of the test ratings - 1|"
    return [Check("BCC17-C-NOTTRAIN", "halves", what, 2, abs(of_all / of_test - 1))]
