"""Published values against ours: which systems are inside the tolerance, and what chance allows.

Two systems of MCCRS20 are chance, so that no tolerance around a published value says anything about
them, and they stand apart. A random ranking, such as the published one, scatters around an exact
expectation; so does our mean over several, less. BPoissMF was never trained by the toolkit that
gave the published value: it belongs to one arbitrary ranking, nearly the same for all users, as
ours does, and both have to lie where such rankings lie.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.claims.reference import Reference
from recbias.data.datasets import Dataset
from recbias.data.ratings import Ratings
from recbias.experiment.makers import Table, maker
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.protocol.relevance import relevant
from recbias.protocol.splits import Split
from recbias.protocol.testset import dataset_splits
from recbias.ranking import top_items
from recbias.recommenders import System
from recbias.recommenders.line_ups import Change

MEASURES = ("P@10", "antiP@10")
"""What is compared."""

RANDOM, FIXED = "Random", "BPoissMF"
"""The two systems whose published value is chance."""

SHARE = 0.04
"""The difference that is allowed, as a share of the published value."""

FLOOR = 0.001
"""The least difference that is allowed, however small the published value."""

N_RANKINGS = 200
"""Fixed rankings that are drawn to see where one lies."""

EXPECTATION, DEVIATION, FIXED_RANKING = "expectation", "s.d.", "fixed ranking"
"""Statistics of :func:`chance`: of a random ranking, which has the number 0, and of a fixed one."""

_CENTRAL = 0.99
_NORMAL = 2.5758293035489004  # half-width of the central 99 % of a normal distribution, in s.d.

FloatArray = npt.NDArray[np.float64]


class Placed(NamedTuple):
    """A number, and the ends between which it has to lie."""

    name: str
    value: float
    least: float
    most: float

    @property
    def inside(self) -> bool:
        """Whether it lies there, ends included."""
        return self.least <= self.value <= self.most


@dataclass(frozen=True)
class Comparison:
    """One published value with ours.

    Attributes
    ----------
    system, metric
        What was measured.
    published
        The published value.
    measured
        Ours, with replicates.
    parts
        What has to lie where. Within a tolerance that is our value alone; for a system that is
        chance the published value and ours, in this order.
    rule
        By which rule: ``"tolerance"``, ``"margin"`` of condensed lists, and for a system that is
        chance ``"sampling range"`` or ``"fixed rankings"``.
    """

    system: str
    metric: str
    published: float
    measured: Quantity
    parts: tuple[Placed, ...]
    rule: str

    @property
    def difference(self) -> float:
        """Ours minus the published value."""
        return self.measured.value - self.published

    @property
    def inside(self) -> bool:
        """Whether the rule is kept, in all its parts."""
        return all(part.inside for part in self.parts)

    @property
    def is_chance(self) -> bool:
        """Whether the published value says nothing about a model."""
        return self.rule in ("sampling range", "fixed rankings")

    @property
    def relative_width(self) -> float:
        """The tolerance as a share of the published value: 4 %, more where the floor decides."""
        return tolerance(self.published) / self.published


def tolerance(published: float) -> float:
    """Give the largest difference that counts as the same value: 4 %, at least :data:`FLOOR`.

    Examples
    --------
    >>> tolerance(0.01), round(tolerance(0.2), 6)
    (0.001, 0.008)
    """
    return max(SHARE * published, FLOOR)


def is_near(value: float, published: float) -> bool:
    """Tell whether a value counts as the same as a published one."""
    return abs(value - published) <= tolerance(published)


def compare(measured: Results, chances: Table, reference: Reference) -> list[Comparison]:
    """Compare every system of a line-up with its published values."""
    (label,) = measured.grid.by_label
    comparisons = []
    for system in measured.grid.systems:
        for metric in MEASURES:
            published = reference.values[system.name][metric]
            quantity = measured[system.name, label, metric]
            ours = quantity.value
            if system.name == RANDOM:
                parts = _scattered(metric, published, ours, system.n_seeds, chances)
                rule = "sampling range"
            elif system.name == FIXED:
                parts, rule = _arbitrary(metric, published, ours, chances), "fixed rankings"
            else:
                width = tolerance(published)
                name = f"{system.name}, {metric}"
                parts = (Placed(name, ours, published - width, published + width),)
                rule = "tolerance"
            comparisons.append(Comparison(system.name, metric, published, quantity, parts, rule))
    return comparisons


def _scattered(
    metric: str, published: float, ours: float, n_seeds: int, chances: Table
) -> tuple[Placed, ...]:
    """Ask whether both values scatter around the exact expectation.

    One draw, and a mean of some.
    """
    expectation, deviation = (
        chances[{"statistic": statistic, "metric": metric, "ranking": 0}].value
        for statistic in (EXPECTATION, DEVIATION)
    )
    width = _NORMAL * deviation
    mean_width = width / math.sqrt(n_seeds)
    return (
        Placed(f"published {metric}", published, expectation - width, expectation + width),
        Placed(f"our {metric}", ours, expectation - mean_width, expectation + mean_width),
    )


def _arbitrary(metric: str, published: float, ours: float, chances: Table) -> tuple[Placed, ...]:
    """Ask whether both values lie where fixed random rankings lie."""
    values = fixed_rankings(chances, metric)
    tail = (1 - _CENTRAL) / 2
    least, most = (float(end) for end in np.quantile(values, [tail, 1 - tail]))
    return (
        Placed(f"published {metric}", published, least, most),
        Placed(f"our {metric}", ours, least, most),
    )


def fixed_rankings(chances: Table, metric: str) -> FloatArray:
    """Return a measure of each fixed random ranking, in the order of their seeds."""
    rows = chances.select(statistic=FIXED_RANKING, metric=metric).sort_values("ranking")
    return rows["value"].to_numpy(np.float64)


def outside(comparisons: Iterable[Comparison]) -> list[str]:
    """Name the systems with a measure outside, in the order of the line-up."""
    return list(
        dict.fromkeys(comparison.system for comparison in comparisons if not comparison.inside)
    )


def explained(
    comparisons: Iterable[Comparison],
    changes: Iterable[Change],
    changed: Results,
    reference: Reference,
) -> dict[str, str]:
    """Find what brings systems that are outside to their published values."""
    (label,) = changed.grid.by_label
    modelled = [comparison for comparison in comparisons if not comparison.is_chance]
    missed = outside(modelled)
    explanations: dict[str, str] = {}
    for change in changes:
        published = reference.values[change.base]
        if change.base in missed and all(
            is_near(changed[change.system.name, label, metric].value, published[metric])
            for metric in MEASURES
        ):
            explanations.setdefault(change.base, change.what)
    return explanations


def verdict(comparisons: Iterable[Comparison], explanations: Container[str]) -> str:
    """Judge the line-up."""
    missed = outside(comparisons)
    if not missed:
        return "yes"
    return "partly" if all(system in explanations for system in missed) else "no"


# -- chance ------------------------------------------------------------------------------------


@maker(
    "systems",
    Table,
    parts=("splits", "ranking"),
    uses={"system": System("untrained", "UntrainedPoissonFactorisation")},
)
def chance(
    dataset: Dataset, *, split: str, seed: int, min_rating: float, n_rankings: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compute what chance alone scores.

    A random ranking of a user's T candidates, k of them relevant, has a hypergeometric number of
    hits among its first 10: mean 10 k/T, variance 10 k/T (1 - k/T) (T - 10)/(T - 1). Users and
    folds draw on their own, so that variances add.

    Parameters
    ----------
    dataset
        Ratings.
    split, seed, min_rating
        Those of the line-up's grid.
    n_rankings
        How many fixed rankings to measure: untrained factors of seeds 1, 2, ...

    Returns
    -------
    index : tuple of str
        ``statistic``, ``metric`` and ``ranking``.
    frame : DataFrame
        The ``value`` of each: expectation and standard deviation of each measure for a random
        ranking (number 0), and each measure of each fixed ranking (numbered by its seed). Means
        over users with a test rating, and over folds. Candidates have a training rating.
    """
    splits = dataset_splits(dataset, split, seed=seed)
    rows: list[tuple[str, str, int, float]] = []
    for metric, positive in zip(MEASURES, (True, False), strict=True):
        folds = [_random_hits(fold, min_rating, positive) for fold in splits]
        means, variances = np.array(folds).T
        rows.append((EXPECTATION, metric, 0, float(means.mean())))
        rows.append((DEVIATION, metric, 0, float(np.sqrt(variances.sum()) / len(folds))))
    for ranking in range(1, n_rankings + 1):
        values = np.mean(
            [
                _fixed_hits(fold, ranking, number, seed, min_rating)
                for number, fold in enumerate(splits)
            ],
            axis=0,
        )
        rows += [
            (FIXED_RANKING, metric, ranking, float(value))
            for metric, value in zip(MEASURES, values, strict=True)
        ]
    index = ("statistic", "metric", "ranking")
    return index, pd.DataFrame(rows, columns=[*index, "value"])


def _random_hits(fold: Split, min_rating: float, positive: bool) -> tuple[float, float]:
    """Mean and variance of the precision of one random ranking, over users with a test rating."""
    known = fold.train.item_counts() > 0
    size = int(known.sum()) - fold.train.user_counts()
    test = fold.test
    wanted = known[test.item] & (relevant(test.value, min_rating) == positive)
    # A list of fewer than 10 candidates shows all of them; precision still divides by 10.
    share = np.bincount(test.user[wanted], minlength=test.n_users) / np.maximum(size, 10)
    spread = share * (1 - share) / 10 * np.maximum(size - 10, 0) / np.maximum(size - 1, 1)
    n_tested = np.count_nonzero(test.user_counts())
    return float(share.sum()) / n_tested, float(spread.sum()) / n_tested**2


def _fixed_hits(
    fold: Split, ranking: int, number: int, seed: int, min_rating: float
) -> tuple[float, float]:
    """Precision and anti-precision of untrained factors on one fold."""
    model = System("untrained", "UntrainedPoissonFactorisation", {"seed": ranking}).build()
    model.fit(fold.train, rng=stream(seed, "untrained", ranking, number))
    lists = top_items(
        model,
        fold,
        cutoff=10,
        candidates="AI",
        seed=int(stream(seed, "ties", number).integers(2**63)),
    )
    hit = listed_ratings(lists, fold.test)
    liked = relevant(fold.test.value[hit], min_rating)
    scale = 10 * np.count_nonzero(fold.test.user_counts())
    return float(liked.sum()) / scale, float((~liked).sum()) / scale


def listed_ratings(lists: npt.NDArray[np.int32], test: Ratings) -> npt.NDArray[np.bool_]:
    """Mark the test ratings whose item is in its user's list."""
    listed = np.zeros((test.n_users, test.n_items + 1), dtype=bool)
    np.put_along_axis(listed, lists.astype(np.int64), True, axis=1)
    return listed[test.user, test.item]
