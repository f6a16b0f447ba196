"""Ranks of the chapter's systems on one fold, and what the package measures of them.

What stands above each relevant item is counted here apart from `recbias.metrics`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.reduction import read_cells
from recbias.metrics import Metric, measure, parse_metric
from recbias.ranking.tables import RankTable
from recbias.recommenders import System, non_personalised

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Values = Mapping[str, FloatArray]
"""What the package measures of a system: of users by the text of a metric, and what is told apart
by a word before it. ``condensed``: of lists of judged items; ``positive``: where no user judged
anything non-relevant; ``missed``: of relevant items without a score, one by one; ``runs``: of 1R
runs."""

LIMIT = "SR(gamma=1000000000000000)@n"
"""Nearly infinite."""

_OF_USERS = (
    "bpref",
    "infAP(pool=all)",
    "infAP(pool=100)",
    "R@n",
    "SR(gamma=0)@n",
    "SR(gamma=1)@n",
    "SR(gamma=inf)@n",
    LIMIT,
)
_OF_RUNS = ("bpref", "P@n|t=T")
CONDENSED = ("infAP(pool=all)", "AP")


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranks of one system on a fold.

    Attributes
    ----------
    system
        What ranked.
    joint
        Ranks with all relevant items of a user in one set.
    runs
        Ranks with one relevant item per run.
    min_rating
        Smallest rating that is relevant.
    """

    system: System
    joint: RankTable
    runs: RankTable
    min_rating: float

    @property
    def personalised(self) -> bool:
        """Whether it may treat users differently: collaborative filtering, here."""
        return not hasattr(non_personalised, self.system.algorithm)

    @cached_property
    def liked(self) -> npt.NDArray[np.bool_]:
        """Which rows of `joint` are relevant."""
        return self.joint.value >= self.min_rating

    @cached_property
    def above(self) -> Above:
        """What stands above each relevant item of `joint`."""
        return count_above(self.joint, self.min_rating)


class Above(NamedTuple):
    """What stands above each relevant item of the lists, by rank within the user.

    Attributes
    ----------
    user, item, rank : ndarray of int64, shape (n_listed,)
    relevant, others : ndarray of int64, shape (n_listed,)
        Judged items above, relevant ones and others.
    n_relevant, n_others : ndarray of int64, shape (n_users,)
        Test items of the user, in the list or not.
    """

    user: IntArray
    item: IntArray
    rank: IntArray
    relevant: IntArray
    others: IntArray
    n_relevant: IntArray
    n_others: IntArray

    def mean(self, terms: FloatArray) -> FloatArray:
        """Average terms of the listed items over all relevant ones; NaN for users without any."""
        total = np.bincount(self.user, terms, minlength=len(self.n_relevant))
        value = np.full(len(total), np.nan)
        return np.divide(total, self.n_relevant, out=value, where=self.n_relevant > 0)


def count_above(table: RankTable, min_rating: float) -> Above:
    """Count the judged items above each relevant one, in the order of ranks.

    Examples
    --------
    Non-relevant, relevant, unjudged, relevant.

    >>> user, item, rank = np.array([[0, 0, 0], [7, 8, 9], [1, 2, 4]], dtype=np.int32)
    >>> place, four = np.array([1, 2, 3], np.int32), np.array([4], np.int32)
    >>> stars = np.array([1.0, 5.0, 5.0])
    >>> above = count_above(RankTable("user", 1, user, item, stars, rank, place, four, four), 4)
    >>> above.relevant.tolist(), above.others.tolist(), above.rank.tolist()
    ([0, 1], [1, 1], [2, 4])
    """
    liked = table.value >= min_rating
    rows = np.flatnonzero(table.rank > 0)
    rows = rows[np.lexsort((table.rank[rows], table.user[rows]))]
    user = table.user[rows].astype(np.int64)
    counts = []
    for kind in (liked, ~liked):
        before = np.concatenate([[0], np.cumsum(kind[rows])])
        counts.append(before[:-1] - before[np.searchsorted(user, user)])
    is_liked = liked[rows]
    return Above(
        user[is_liked],
        table.item[rows][is_liked].astype(np.int64),
        table.rank[rows][is_liked].astype(np.int64),
        counts[0][is_liked],
        counts[1][is_liked],
        np.bincount(table.user[liked], minlength=table.n_users),
        np.bincount(table.user[~liked], minlength=table.n_users),
    )


def _metric(text: str, cutoff: int, size: int) -> Metric:
    return parse_metric(text.replace("@n", f"@{cutoff}").replace("t=T", f"t={size}"))


def used_metrics(cutoff: int, size: int) -> list[dict[str, Any]]:
    """Identify all metrics that the checks measure, for the key of their results."""
    texts = dict.fromkeys((*_OF_USERS, *CONDENSED, *_OF_RUNS))
    return [_metric(text, cutoff, size).identity() for text in texts]


def measured_values(
    each: Ranked, likes: IntArray, *, cutoff: int, size: int
) -> dict[str, FloatArray]:
    """Measure of one system all that the checks compare."""
    joint, liked = each.joint, each.liked
    missed = liked & (joint.rank == 0)
    alone = dataclasses.replace(
        _rows(joint, missed),
        n_users=int(missed.sum()),
        user=np.arange(missed.sum(), dtype=np.int32),
        n_targets=joint.n_targets[joint.user[missed]],
        n_scored=joint.n_scored[joint.user[missed]],
    )
    by_name = {}
    for prefix, table, texts in (
        ("", joint, _OF_USERS),
        ("condensed ", joint, CONDENSED),
        ("positive ", _rows(joint, liked), ("bpref",)),
        ("missed ", alone, ("bpref",)),
        ("runs ", each.runs, _OF_RUNS),
    ):
        values = measure(
            table,
            [_metric(text, cutoff, size) for text in texts],
            min_rating=each.min_rating,
            condensed=prefix == "condensed ",
            relevant_counts=likes,
        )
        by_name.update({prefix + text: row for text, row in zip(texts, values, strict=True)})
    return by_name


def _rows(table: RankTable, rows: npt.NDArray[np.generic]) -> RankTable:
    """Keep some judged items of a table; those that stay move up in the condensed list."""
    user, rank = table.user[rows], table.rank[rows]
    order = np.lexsort((np.where(rank > 0, rank, np.iinfo(np.int32).max), user))
    place = np.empty(len(user), dtype=np.int32)
    place[order] = np.arange(len(user)) - np.searchsorted(user, user) + 1
    return dataclasses.replace(
        table,
        user=user,
        item=table.item[rows],
        value=table.value[rows],
        rank=rank,
        condensed_rank=np.where(rank > 0, place, 0).astype(np.int32),
    )


def ranked_grid(grid: Grid) -> Grid:
    """Ask for the ranks that the checks read: all systems, with one training seed."""
    return dataclasses.replace(
        grid,
        systems=tuple(dataclasses.replace(system, n_seeds=1) for system in grid.systems),
        protocols={label: str(grid.parsed[label]) for label in ("AR", "1R")},
        metrics={"AR": ("AP",), "1R": ("RR",)},
        compare=(),
        tests={},
        replicates=(),
        crossed=(),
    )


def ranked_systems(grid: Grid, dataset: Dataset, min_rating: float) -> Iterator[Ranked]:
    """Read the ranks of all systems on the first fold."""
    reduced_grid = ranked_grid(grid)
    systems = {system.name: system for system in reduced_grid.systems}
    for name, reader in read_cells(reduced_grid, dataset, fold=0):
        joint, runs = (reader.table(reduced_grid, label) for label in ("AR", "1R"))
        yield Ranked(systems[name], joint, runs, min_rating)
