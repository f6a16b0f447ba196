"""Published values against ours: which systems are inside the tolerance, and what chance allows.

Two systems of MCCRS20 are chance. Random is compared by its exact expectation, since one random
ranking, such as the published one, scatters around it. BPoissMF was never trained by the toolkit
that gave the published value: that value belongs to one arbitrary ranking, nearly the same for all
users, and has to lie where such rankings lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.claims.parts import Part
from recbias.claims.reference import Reference
from recbias.datasets import Dataset
from recbias.experiment import Results
from recbias.grid import component_revisions
from recbias.makers import Table, maker
from recbias.ranking import top_items
from recbias.ratings import Ratings
from recbias.recommenders import System
from recbias.relevance import relevant
from recbias.results import Quantity
from recbias.splits import Split
from recbias.streams import stream
from recbias.testset import dataset_splits

__all__ = [
    "FIXED",
    "MAY_BE_OUTSIDE",
    "MEASURES",
    "N_RANKINGS",
    "RANDOM",
    "Comparison",
    "chance",
    "compare",
    "fixed_rankings",
    "is_near",
    "outside",
    "tolerance",
    "verdict",
]

MEASURES = ("P@10", "antiP@10")
"""What is compared."""

RANDOM, FIXED = "Random", "BPoissMF"
"""The two systems whose published value is chance."""

MAY_BE_OUTSIDE = ("SLIM", "ListRankMF", "RankSGD")
"""Systems that may miss the tolerance if an ablation shows why."""

N_RANKINGS = 200
"""Fixed rankings that are drawn to see where one lies."""

EXPECTATION, DEVIATION, FIXED_RANKING = "expectation", "s.d.", "fixed ranking"
"""Statistics of :func:`chance`: of a random ranking, which has the number 0, and of a fixed one."""

_CENTRAL = 0.99
_NORMAL = 2.5758293035489004  # half-width of the central 99 % of a normal distribution, in s.d.

FloatArray = npt.NDArray[np.float64]


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
    part
        What has to lie where; its verdict is ``"yes"`` inside and ``"no"`` outside.
    rule
        By which rule.
    """

    system: str
    metric: str
    published: float
    measured: Quantity
    part: Part
    rule: str

    @property
    def difference(self) -> float:
        """Ours minus the published value."""
        return self.measured.value - self.published

    @property
    def inside(self) -> bool:
        """Whether the rule is kept."""
        return self.part.verdict == "yes"


def tolerance(published: float) -> float:
    """Give the largest difference that counts as the same value: 4 %, at least 0.001.

    Examples
    --------
    >>> tolerance(0.01), round(tolerance(0.2), 6)
    (0.001, 0.008)
    """
    return max(0.04 * published, 0.001)


def is_near(value: float, published: float) -> bool:
    """Tell whether a value counts as the same as a published one."""
    return abs(value - published) <= tolerance(published)


def compare(measured: Results, chances: Table, reference: Reference) -> list[Comparison]:
    """Compare every system of a line-up with its published values.

    Parameters
    ----------
    measured
        The line-up, under one protocol.
    chances
        Table of :func:`chance`, with fixed rankings.
    reference
        Published values.

    Returns
    -------
    list of Comparison
        In the order of the line-up, a system's measures together.
    """
    (label,) = measured.grid.by_label
    found = []
    for system in measured.systems:
        for metric in MEASURES:
            published = reference.values[system][metric]
            quantity = measured[system, label, metric]
            if system == RANDOM:
                part, rule = _expected(metric, published, chances), "sampling range"
            elif system == FIXED:
                part, rule = _arbitrary(metric, published, chances), "fixed rankings"
            else:
                width = tolerance(published)
                part = Part(
                    f"{system}, {metric}", quantity.value, published - width, published + width
                )
                rule = "tolerance"
            found.append(Comparison(system, metric, published, quantity, part, rule))
    return found


def _expected(metric: str, published: float, chances: Table) -> Part:
    """Ask whether the exact expectation lies in the published value's sampling range."""
    value, deviation = (
        chances[{"statistic": statistic, "metric": metric, "ranking": 0}].value
        for statistic in (EXPECTATION, DEVIATION)
    )
    width = _NORMAL * deviation
    return Part(
        f"expected {metric} of a random ranking", value, published - width, published + width
    )


def _arbitrary(metric: str, published: float, chances: Table) -> Part:
    """Ask whether the published value lies where fixed random rankings lie."""
    values = fixed_rankings(chances, metric)
    tail = (1 - _CENTRAL) / 2
    least, most = np.quantile(values, [tail, 1 - tail])
    return Part(f"published {metric} of one fixed ranking", published, float(least), float(most))


def fixed_rankings(chances: Table, metric: str) -> FloatArray:
    """Return a measure of each fixed random ranking, in the order of their seeds."""
    rows = chances.select(statistic=FIXED_RANKING, metric=metric).sort_values("ranking")
    return rows["value"].to_numpy(np.float64)


def outside(comparisons: Iterable[Comparison]) -> list[str]:
    """Name the systems with a measure outside, in the order of the line-up."""
    return list(dict.fromkeys(each.system for each in comparisons if not each.inside))


def verdict(comparisons: Sequence[Comparison]) -> str:
    """Judge the line-up.

    Parameters
    ----------
    comparisons
        Of all systems.

    Returns
    -------
    str
        ``"yes"`` if every system is inside in all measures, ``"partly"`` if all but some of
        :data:`MAY_BE_OUTSIDE` are, else ``"no"``.
    """
    missed = outside(comparisons)
    if not missed:
        return "yes"
    return "partly" if set(missed) <= set(MAY_BE_OUTSIDE) else "no"


# -- chance ------------------------------------------------------------------------------------


def _revisions(given: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """Name the revisions of what the fixed rankings are made by."""
    untrained = System("untrained", "UntrainedPoissonFactorisation").identity()
    return {**component_revisions(sampled=False, reduced=False), "system": untrained}


@maker("systems/chance", Table, uses=_revisions)
def chance(
    dataset: Dataset, *, split: str, seed: int, min_rating: float, n_rankings: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compute what chance alone scores, for :func:`recbias.makers.run_maker`.

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
    hit = _judged(lists, fold.test)
    liked = relevant(fold.test.value[hit], min_rating)
    scale = 10 * np.count_nonzero(fold.test.user_counts())
    return float(liked.sum()) / scale, float((~liked).sum()) / scale


def _judged(lists: npt.NDArray[np.int32], test: Ratings) -> npt.NDArray[np.bool_]:
    """Mark the test ratings whose item is in its user's list."""
    listed = np.zeros((test.n_users, test.n_items + 1), dtype=bool)  # -1 fills lists that end early
    np.put_along_axis(listed, lists.astype(np.int64), True, axis=1)
    return listed[test.user, test.item]
