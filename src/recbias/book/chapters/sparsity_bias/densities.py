r"""How many judgments are enough: when the difference of two systems stops being significant.

A test of two systems on the same users divides their difference by its standard error. Let every
test rating be kept with chance q, each on its own. What a pair of systems then shows is expected
exactly, without removing anything: with :math:`x_i` the difference that rating i makes, a user's
difference :math:`X_u=\sum_i k_ix_i` has mean :math:`qX_u` and, given the user, variance
:math:`q(1-q)\sum_ix_i^2`, so that over users the squared statistic of the test is

.. math:: t^2(q)=\frac{q^2(\sum_uX_u)^2}{q^2\sum_u(X_u-\bar X)^2+q(1-q)\sum_ix_i^2}.

That is solved for the share q at which it falls to the critical value. Under 1R the mean is over
ratings, so that a user's residual takes the place of their difference. Recall divides by the number
of ratings that a user has left: its expectations are sums over that number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.sparsity_bias.setup import CHAPTER
from recbias.data.datasets import Dataset
from recbias.experiment.cells import grid_cells, run_missing
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import Reader
from recbias.protocol.relevance import relevant
from recbias.ranking.tables import RankTable
from recbias.stats.resampling import bootstrap_weights, weighted_sums
from recbias.theory import expected_hit

DESIGNS = {"AR": "precision, AR", "1R": "precision, 1R", "R": "recall"}
"""What pairs are compared by, by the name that the table has for it."""

CRITICAL = 1.96
"""Statistic above which a difference is significant (5 %, two-sided, many users)."""

FEWEST = 30
"""Relevant ratings that have to be left: of fewer, a statistic has no distribution to speak of."""

_N_SHARES = 25
_N_REPLICATES = 200
_INDEX = ("design", "first", "second")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Judged:
    """What every relevant test rating adds to a system's hits, all folds together.

    Attributes
    ----------
    n_users, n_folds
        Of the dataset and its split.
    user : ndarray of int64, shape (n_rows,)
        Whose rating it is.
    profile : ndarray of int64, shape (n_rows,)
        The user's ratings of one fold have one number, from 0.
    listed : ndarray of float64, shape (n_systems, n_rows)
        1 where the item is within the cutoff of the user's list.
    drawn : ndarray of float64, shape (n_systems, n_rows)
        The chance that it is within the cutoff among sampled items.
    """

    n_users: int
    n_folds: int
    user: npt.NDArray[np.int64]
    profile: npt.NDArray[np.int64]
    listed: FloatArray
    drawn: FloatArray

    @classmethod
    def of(
        cls,
        folds: Sequence[Sequence[tuple[RankTable, RankTable]]],
        *,
        min_rating: float,
        cutoff: int,
        size: int,
    ) -> Judged:
        """Take hits from tables of AN-AR and AN-1R, by system and in the same order of folds."""
        listed, drawn = [], []
        for tables in folds:
            rows = [relevant(users.value, min_rating) for users, _ in tables]
            ranks = np.concatenate(
                [users.rank[liked] for (users, _), liked in zip(tables, rows, strict=True)]
            )
            listed.append((ranks > 0) & (ranks <= cutoff))
            hits = [cutoff * expected_hit(runs, "P", cutoff, size) for _, runs in tables]
            drawn.append(np.concatenate(hits))
        by_fold = [runs for _, runs in folds[0]]
        n_users = by_fold[0].n_users
        user = np.concatenate([runs.user for runs in by_fold]).astype(np.int64)
        fold = np.repeat(np.arange(len(by_fold)), [len(runs.user) for runs in by_fold])
        _, profile = np.unique(fold * np.int64(n_users) + user, return_inverse=True)
        return cls(
            n_users,
            len(by_fold),
            user,
            profile,
            np.array(listed, dtype=np.float64),
            np.array(drawn),
        )


def statistic(
    judged: Judged,
    design: str,
    pair: tuple[int, int],
    shares: npt.ArrayLike,
    weights: IntArray | None = None,
) -> FloatArray:
    """Compute the expected test statistic of a pair of systems as judgments are taken out.

    Examples
    --------
    Four users with a rating each; the first system hits all, the second one. Of half of the ratings
    the difference is expected to be half as large, 3/2, and its squared error 3/2 - 3/4 * 3/4.

    >>> one = np.arange(4)
    >>> hits = np.array([[1.0, 1, 1, 1], [1, 0, 0, 0]])
    >>> judged = Judged(4, 1, one, one, hits, hits)
    >>> statistic(judged, "AR", (0, 1), [1, 0.5]).round(3)
    array([[3.464, 1.549]])
    """
    if weights is None:
        weights = np.ones((1, judged.n_users), dtype=np.uint8)
    kept_shares = np.asarray(shares, dtype=np.float64)
    hits = judged.drawn if design == "1R" else judged.listed
    difference = hits[pair[0]] - hits[pair[1]]
    if design == "R":
        return _statistic_of_recall(judged, difference, kept_shares, weights)
    total, users, ratings = _moments(judged, design, difference, weights)
    spread = kept_shares**2 * users[:, None] + kept_shares * (1 - kept_shares) * ratings[:, None]
    return _over(kept_shares * total[:, None], spread)


def _over(total: FloatArray, squared: FloatArray) -> FloatArray:
    """Divide by a root; what never differs is 0, and what differs by the same always infinite."""
    alike = np.where(np.abs(total) > 1e-9, np.copysign(np.inf, total), 0.0)
    ratio: FloatArray = np.divide(total, np.sqrt(np.abs(squared)), out=alike, where=squared > 1e-12)
    return ratio


def _moments(
    judged: Judged, design: str, difference: FloatArray, weights: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sum over users: the difference, its squares between users, and those of single ratings."""

    def per_user(values: FloatArray | None) -> FloatArray:
        return np.bincount(judged.user, values, minlength=judged.n_users).astype(np.float64)

    summed, squares, count = per_user(difference), per_user(difference**2), per_user(None)
    if design == "AR":
        count = np.ones(judged.n_users)
    columns = np.array([summed, summed**2, summed * count, count**2, count, squares])
    total, of_summed, crossed, of_count, size, single = weighted_sums(columns, weights).T
    with np.errstate(invalid="ignore"):  # a resample may have nobody who likes anything
        mean = total / size
    users = of_summed - 2 * mean * crossed + mean**2 * of_count
    return total, users, single - (total * mean if design == "1R" else 0.0)


def _statistic_of_recall(
    judged: Judged, difference: FloatArray, kept_shares: FloatArray, weights: IntArray
) -> FloatArray:
    """As `statistic`: over users with something left in a fold, the share of it that is hit."""
    size = np.bincount(judged.profile)
    owner = np.zeros(len(size), dtype=np.int64)
    owner[judged.profile] = judged.user
    mean = np.bincount(judged.profile, difference) / size
    squares = np.bincount(judged.profile, difference**2) - size * mean**2
    variance = np.divide(squares, size - 1, out=np.zeros_like(mean), where=size > 1)
    sizes, place = np.unique(size, return_inverse=True)
    numbers = np.arange(1, sizes[-1] + 1)
    statistics = []
    for share in kept_shares:
        chances = scipy.stats.binom.pmf(numbers, sizes[:, None], share)
        left = chances.sum(axis=1)[place]
        error = ((chances / numbers).sum(axis=1) - chances.sum(axis=1) / sizes)[place]

        def per_user(values: FloatArray) -> FloatArray:
            sums = np.bincount(owner, values, minlength=judged.n_users)
            return sums.astype(np.float64)

        summed, count, chance = per_user(left * mean), per_user(left), left * (1 - left)
        columns = np.array(
            [summed, count, summed**2, summed * count, count**2, per_user(chance * mean**2),
             per_user(chance * mean), per_user(chance), per_user(error * variance)]
        )  # fmt: skip
        total, n, of_summed, crossed, of_count, *single = weighted_sums(columns, weights).T
        with np.errstate(invalid="ignore"):
            center = total / n
        between = of_summed - 2 * center * crossed + center**2 * of_count
        by_chance = single[0] - 2 * center * single[1] + center**2 * single[2]
        statistics.append(_over(total, between + by_chance + single[3]))
    return np.array(statistics).T


def _critical_share(
    judged: Judged, design: str, pair: tuple[int, int], weights: IntArray
) -> FloatArray:
    """Find the share of judgments at which a pair's statistic falls to the critical value."""
    least = min(FEWEST / len(judged.user), 1.0)
    if design != "R":
        difference = judged.drawn if design == "1R" else judged.listed
        hit_gap = difference[pair[0]] - difference[pair[1]]
        total, users, ratings = _moments(judged, design, hit_gap, weights)
        squared, limit = total**2, CRITICAL**2
        critical_shares = np.ones(len(total))
        resolved = squared > limit * users
        needed = squared[resolved] - limit * (users - ratings)[resolved]
        critical_shares[resolved] = limit * ratings[resolved] / needed
        return np.clip(critical_shares, least, 1.0)
    # Between shares the logarithm of the statistic is interpolated: first over all of them for all
    # users as they are, then within a factor of ten of what was found.
    shares, critical_shares = np.geomspace(least, 1.0, _N_SHARES), np.empty(0)
    for weight_rows in (weights[:1], weights[1:]):
        values = np.abs(statistic(judged, design, pair, shares, weight_rows))
        logarithms = np.log(np.maximum(values, 1e-300))
        crossings = [_crossing(shares, row, np.log(CRITICAL)) for row in logarithms]
        critical_shares = np.concatenate([critical_shares, crossings])
        first, last = max(least, critical_shares[0] / 10), min(1.0, critical_shares[0] * 10)
        shares = np.geomspace(first, last, _N_SHARES // 2)
    return critical_shares


def _crossing(shares: FloatArray, values: FloatArray, level: float) -> float:
    """Interpolate where values stay above a level from some share on; the last if they never do."""
    below = np.flatnonzero(values <= level)
    if not len(below):
        return float(shares[0])
    last = int(below[-1])
    if last == len(shares) - 1:
        return float(shares[-1])
    part = (level - values[last]) / (values[last + 1] - values[last])
    return float(shares[last] * (shares[last + 1] / shares[last]) ** part)


def densities_grid(grid: Grid, *, cutoff: int) -> Grid:
    """Ask for what is made sparser, each system of a grid being trained once per fold."""
    return Grid(
        grid.dataset,
        tuple(dataclasses.replace(system, n_seeds=1) for system in grid.systems),
        {label: str(grid.parsed[label]) for label in ("AR", "all-1R")},
        (f"P@{cutoff}",),
        split=grid.split,
        seed=grid.seed,
    )


@maker(CHAPTER, Table, parts=("aggregation",))
def densities(
    dataset: Dataset, *, grid: Grid, cutoff: int, size: int
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Find how few judgments tell two systems apart.

    Parameters
    ----------
    dataset
        That of the grid.
    grid
        A grid of one training of each system: see `densities_grid`. What is
        missing of it is trained.
    cutoff
        Length of the lists.
    size
        Size of a 1R target set. Its pool is that of the whole test: an item whose rating was
        removed may be drawn too, which moves a chance by as little as their share of the pool.

    Returns
    -------
    index : tuple of str
        ``design``, a key of :data:`DESIGNS`; ``first`` and ``second``, of which the first is ahead.
    frame : DataFrame
        A row per design and pair. ``value`` is the share of the test ratings at which the
        expected statistic falls to :data:`CRITICAL`, with its 95 % interval over users, ``low`` to
        ``high``; 1 where all of them do not tell the pair apart, and the share that leaves
        :data:`FEWEST` relevant ratings where less would be enough. ``statistic`` is that of the
        whole test.
    """
    judged = _read(grid, dataset, cutoff, size)
    names = [system.name for system in grid.systems]
    rng = stream(grid.seed, "bootstrap")
    drawn = bootstrap_weights(judged.n_users, _N_REPLICATES, rng=rng)
    everybody = np.ones((1, judged.n_users), dtype=drawn.dtype)
    weights, rows = np.concatenate([everybody, drawn]), []
    for design in DESIGNS:
        for pair in combinations(range(len(names)), 2):
            whole = float(statistic(judged, design, pair, [1.0])[0, 0])
            first, second = pair if whole >= 0 else pair[::-1]
            value, *resampled = _critical_share(judged, design, pair, weights)
            low, high = np.quantile(resampled, (0.025, 0.975))
            rows.append(
                (design, names[first], names[second], value, float(low), float(high), abs(whole))
            )
    return _INDEX, pd.DataFrame(rows, columns=[*_INDEX, "value", "low", "high", "statistic"])


def _read(grid: Grid, dataset: Dataset, cutoff: int, size: int) -> Judged:
    """Read the hits of a grid's systems from its cells; train those that are not there."""
    cells = grid_cells(grid, dataset, None)
    run_missing((cell for _, cell in cells), label=f"{dataset.name}: cells")
    tables: dict[str, list[tuple[RankTable, RankTable]]] = {
        system.name: [] for system in grid.systems
    }
    for name, cell in cells:
        reader = Reader(cell)
        tables[name].append((reader.table(grid, "AR"), reader.table(grid, "all-1R")))
    least = grid.parsed["AR"].min_rating
    return Judged.of(list(tables.values()), min_rating=least, cutoff=cutoff, size=size)


def pairs_by_share(needed: pd.DataFrame) -> pd.DataFrame:
    """Count the pairs that some share of the test ratings tells apart, by design."""
    rows = []
    for design, words in DESIGNS.items():
        shares = needed.loc[needed["design"] == design, ["value", "high", "low"]].to_numpy()
        for share in np.geomspace(needed["value"].min(), 1.0, 60):
            rows.append((words, 100 * share, *(shares < share).sum(axis=0)))
    return pd.DataFrame(rows, columns=["line", "kept", "pairs", "low", "high"])
