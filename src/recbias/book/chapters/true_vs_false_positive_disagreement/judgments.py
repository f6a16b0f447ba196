r"""How many judgments of items drawn at random it takes to order systems as the truth does.

Judgments of random items give unbiased values, with noise. How far an order by k of them per user
is from the true order, nobody can see who has only a sample of the truth: the order by the other
judgments has noise of its own, which caps tau. Two things can be said nevertheless.

*Without a model.* Let :math:`m` be the expected sign of a pair's difference by k judgments, where
its true sign is 1. Disjoint judgments are independent, given the truth, so that the tau of two
orders by k judgments each expects the mean of :math:`m^2` over pairs, and that with the true order
the mean of :math:`m`. Hence

.. math:: \tau_{k,k'} \le \tau_{k,\text{true}} \le \sqrt{\tau_{k,k}} .

*With one.* If the differences of pairs are normal, with any mixture of scales s in units of the
noise of one judgment, and so is the noise, both follow from one formula: by
:math:`\frac2\pi\arcsin\rho`, with :math:`\rho` the correlation of the two differences. The
mixture is fitted to the measured :math:`\tau_{k,k}`; the truth is what k = all items would give.
Pairs that are closer than half of the judgments can tell are not seen: a line-up with many of them
takes more judgments than is estimated, though not fewer than the model-free bound. Simulated
line-ups of 16 systems whose values are normal, uniform or exponential had 84 to 88 % of the numbers
that are needed inside the 95 % interval; those of four clusters of near ties had four times the
estimate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy  # its parts are loaded when they are first used: `stats` takes long

from recbias._system.streams import stream
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.systems.line_up import is_made_here
from recbias.data.datasets import Dataset
from recbias.errors import ConfigError
from recbias.experiment.cells import artefact_of, grid_cells, run_missing
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import Reader
from recbias.protocol.relevance import relevant
from recbias.ranking.tables import RankTable

_LIKED = {"P": True, "antiP": False}
"""Whether a metric counts what is liked or what is not."""

TARGETS = (0.8, 0.9)
"""Expected tau with the true order that is asked for."""

_MOST = 100
"""Judgments of each user that are used, where there are more: as many as CM100k has."""

_N_DRAWS = 200
_FEW_DRAWS = 50  # where the data are made while the book is built
_N_GROUPS = 20
_N_POINTS = 24
_INDEX = ("metric", "quantity", "at")

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Judged:
    """Which judged items systems have in their lists.

    Attributes
    ----------
    user : int array (n_rows,)
        Whose judgment it is, of an item drawn at random.
    liked : bool array (n_rows,)
        Whether the item is relevant.
    listed : ndarray of float64, shape (n_rows, n_systems)
        Whether it is in the list: the share of a system's trainings that have it there.
    n_items
        Items that are drawn from.
    seen_user, seen_liked, seen_listed
        The same of observed ratings; empty where there are none.
    seen_in : int array
        Which row is a judgment of the same pair; -1 where none is.
    n_folds
        Lists of each user that observed ratings are spread over.
    """

    user: IntArray
    liked: npt.NDArray[np.bool_]
    listed: FloatArray
    n_items: int
    seen_user: IntArray
    seen_liked: npt.NDArray[np.bool_]
    seen_listed: FloatArray
    seen_in: IntArray
    n_folds: int = 1

    @property
    def per_list(self) -> int:
        """Observed ratings that a list is tested with, on average; 1 at least."""
        n_users = len(np.unique(self.user))
        return max(1, round(len(self.seen_user) / (self.n_folds * n_users)))


class _Plan(NamedTuple):
    """What is the same in every draw: where judgments stand, and who is left out together.

    ``column`` numbers the judgments of each user, ``absent`` are columns that a user has not, and
    ``middle`` is the first column of the second half. ``rows`` are listed judgments, by metric.
    """

    group: IntArray
    column: IntArray
    absent: npt.NDArray[np.bool_]
    middle: IntArray
    rows: Mapping[str, IntArray]

    @classmethod
    def of(cls, judged: Judged, n_groups: int, rng: np.random.Generator) -> _Plan:
        """Give judgments a number, and put users into groups of one size."""
        counts = np.bincount(judged.user)
        order = np.argsort(judged.user, kind="stable")
        column = np.empty(len(order), dtype=np.intp)
        column[order] = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        listed = judged.listed.any(axis=1)
        return cls(
            group=rng.permutation(np.arange(len(counts)) % n_groups),
            column=column,
            absent=np.arange(counts.max())[None, :] >= counts[:, None],
            middle=counts // 2,
            rows={
                metric: np.flatnonzero(listed & (judged.liked == liked))
                for metric, liked in _LIKED.items()
            },
        )

    def deal(
        self, user: IntArray, rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Deal the judgments of each user into two halves, with a place in each."""
        keys = rng.random(self.absent.shape)
        keys[self.absent] = 2.0  # behind all others
        places = np.empty(keys.shape, dtype=np.intp)
        columns = np.broadcast_to(np.arange(keys.shape[1]), keys.shape)
        np.put_along_axis(places, keys.argsort(axis=1), columns, axis=1)
        place, middle = places[user, self.column], self.middle[user]
        half = (place >= middle).astype(np.intp)
        return half, place - half * middle


class _Sums(NamedTuple):
    """Hits of one draw, by half of the judgments, group of users, place in the half and system.

    ``seen`` are those of the observed ratings that are not judged in the *other* half.
    """

    judged: FloatArray
    seen: FloatArray


class _Taus(NamedTuple):
    """Mean tau over draws, first with all users, then without each group, by number of judgments.

    Of two disjoint samples (``same``), of one with the other half (``alone``), of one and the
    observed ratings with the other half (``mixed``, from none on).
    """

    same: FloatArray
    alone: FloatArray
    mixed: FloatArray


def agreement_by_judgments(
    judged: Judged, *, seed: int, n_draws: int = _N_DRAWS, n_groups: int = _N_GROUPS
) -> pd.DataFrame:
    """Find how an order by k judgments per user agrees with the true one."""
    counts = np.bincount(judged.user)
    most = int(np.percentile(counts[counts > 0], 5)) // 2
    if most < 1 or (counts > 0).sum() < n_groups:
        raise ConfigError(
            f"{most * 2} judgments of most users, {(counts > 0).sum()} users: expected two at "
            f"least, and {n_groups} users"
        )
    numbers = np.unique(np.rint(np.geomspace(1, most, _N_POINTS)).astype(int))
    numbers = np.union1d(numbers, [min(judged.per_list, most)])
    listed = judged.listed.any(axis=1)
    rows = []
    for metric, taus in _mean_taus(judged, numbers, seed, n_draws, n_groups).items():
        of_metric = _rows(taus, numbers, judged, most, float(np.median(counts[counts > 0])))
        share = float(listed.mean())
        of_metric.append(("in a list", 0.0, share, share, share, np.nan, np.nan))
        rows += [(metric, *row) for row in of_metric]
    columns = [*_INDEX, "value", "low", "high", "least", "most"]
    return pd.DataFrame(rows, columns=columns)


def _mean_taus(
    judged: Judged, numbers: IntArray, seed: int, n_draws: int, n_groups: int
) -> dict[str, _Taus]:
    """Draw halves, and average over the draws."""
    rng = stream(seed, "judgments")
    plan = _Plan.of(judged, n_groups, rng)
    totals: dict[str, list[_Taus]] = {metric: [] for metric in _LIKED}
    for _ in range(n_draws):
        half, place = plan.deal(judged.user, rng)
        for metric, draws in totals.items():
            sums = _hits(judged, metric, plan, half, np.minimum(place, numbers[-1]))
            draws.append(_taus(sums, numbers))
    return {
        metric: _Taus(*(np.mean(over_draws, axis=0) for over_draws in zip(*draws, strict=True)))
        for metric, draws in totals.items()
    }


def _hits(judged: Judged, metric: str, plan: _Plan, half: IntArray, place: IntArray) -> _Sums:
    """Add up what hits lists, by half, group, place (the last for all behind it) and system."""
    n_groups, n_systems = int(plan.group.max()) + 1, judged.listed.shape[1]
    rows, n_places = plan.rows[metric], int(place.max()) + 1
    where = half[rows] * n_groups + plan.group[judged.user[rows]]
    where = where * n_places + place[rows]
    size = 2 * n_groups * n_places
    sums = [np.bincount(where, listed, minlength=size) for listed in judged.listed[rows].T]
    hits = np.array(sums, dtype=np.float64).T.reshape(2, n_groups, n_places, n_systems)
    judged_in = np.where(judged.seen_in >= 0, half[judged.seen_in], -1)
    counted, groups = judged.seen_liked == _LIKED[metric], plan.group[judged.seen_user]
    seen = np.zeros((2, n_groups, n_systems))
    for side in (0, 1):
        mask = judged_in != 1 - side
        # Up to the number that there are, so that observed ratings weigh as much as in all of them.
        weight = mask.size / max(1, int(mask.sum())) / judged.n_folds
        chosen = mask & counted
        for system, listed in enumerate(judged.seen_listed[chosen].T):
            seen[side, :, system] = np.bincount(groups[chosen], listed * weight, n_groups)
    return _Sums(hits, seen)


def _taus(sums: _Sums, numbers: IntArray) -> _Taus:
    """Compare the orders of one draw, with all users and without each group."""
    judged, seen = (_without_each(hits) for hits in sums)
    added = judged.cumsum(axis=2)
    samples, halves = added[:, :, numbers - 1], added[:, :, -1:]
    mixed = np.concatenate([np.zeros_like(halves), samples], axis=2) + seen[:, :, None]
    signs, of_halves, of_mixed = (_signs(totals) for totals in (samples, halves, mixed))
    other = of_halves[::-1]
    return _Taus(
        (signs[0] * signs[1]).mean(axis=-1),
        (signs * other).mean(axis=(0, -1)),
        (of_mixed * other).mean(axis=(0, -1)),
    )


def _without_each(sums: FloatArray) -> FloatArray:
    """Add up the second axis, with all of it first and then without each."""
    total = sums.sum(axis=1, keepdims=True)
    return np.concatenate([total, total - sums], axis=1)


def _signs(values: FloatArray) -> FloatArray:
    """Tell which of each two systems has more; what is equal up to rounding is a tie."""
    first, second = np.triu_indices(values.shape[-1], k=1)
    difference = values[..., second] - values[..., first]
    return np.sign(np.where(np.abs(difference) < 1e-9, 0.0, difference))


# -- what the truth would say ---------------------------------------------------------------------


def _noise(numbers: npt.ArrayLike, n_items: int) -> FloatArray:
    """Tell the variance of a mean of k of so many items, in units of that of one."""
    return 1 / np.asarray(numbers, dtype=np.float64) - 1 / n_items


def _scales(most: int) -> FloatArray:
    """Space scales of true differences, from a tenth of the noise of `most` judgments on."""
    return np.geomspace(0.1 / np.sqrt(most), 30 / np.sqrt(most), 40)


def _mixture(same: FloatArray, numbers: IntArray, n_items: int) -> FloatArray:
    """Fit how many pairs have which scale to the tau of two disjoint samples."""
    variance = _scales(int(numbers[-1]))[None, :] ** 2
    noise = _noise(numbers, n_items)[:, None]
    # What one sample has, the other has not: samples without replacement are opposed a little.
    expected = 2 / np.pi * np.arcsin((variance - 1 / n_items) / (variance + noise))
    heavy = 1e3  # so that the shares add up to 1
    rows = np.concatenate([expected, np.full((1, variance.size), heavy)])
    weights, _ = scipy.optimize.nnls(rows, np.append(same, heavy))
    return np.asarray(weights / weights.sum())


def _with_truth(weights: FloatArray, numbers: IntArray, most: int, n_items: int) -> FloatArray:
    """Compute the expected tau with the true order by k judgments, by the mixture of scales."""
    variance = _scales(most)[None, :] ** 2
    noise = np.maximum(0.0, _noise(numbers, n_items))[:, None]
    return np.asarray(2 / np.pi * np.arcsin(np.sqrt(variance / (variance + noise))) @ weights)


def _rows(
    taus: _Taus, numbers: IntArray, judged: Judged, most: int, available: float
) -> list[tuple[str, float, float, float, float, float, float]]:
    """Lay out what was found of a metric; intervals are those of a jackknife over groups."""
    n_items = judged.n_items
    every = np.arange(1, n_items + 1)
    mixtures = [_mixture(agreement, numbers, n_items) for agreement in taus.same]
    truth = np.array([_with_truth(mixture, every, most, n_items) for mixture in mixtures])
    ends = _jackknife(truth)
    ceiling = np.sqrt(np.maximum(0.0, taus.same[0]))
    pairs = zip(taus.alone[0].tolist(), ceiling.tolist(), strict=True)
    bounds = dict(zip(numbers.tolist(), pairs, strict=True))
    beyond = np.rint(np.geomspace(most, n_items, _N_POINTS)).astype(int)
    sizes = sorted({*map(int, numbers), *map(int, beyond), round(available)})
    nothing = (np.nan, np.nan)
    rows = [("truth", float(k), *ends[k - 1], *bounds.get(k, nothing)) for k in sizes]
    of_alone, of_mixed = _jackknife(taus.alone), _jackknife(taus.mixed)
    of_both = _jackknife(taus.alone - taus.mixed[:, 1:])
    for place, k in enumerate(map(float, numbers)):
        rows.append(("alone", k, *of_alone[place], *nothing))
        rows.append(("mixed", k, *of_mixed[place + 1], *nothing))
        rows.append(("ahead", k, *of_both[place], *nothing))
        if k == min(judged.per_list, most):
            rows.append(("as many as observed", k, *of_alone[place], *nothing))
    rows.append(("mixed", 0.0, *of_mixed[0], *nothing))
    for target in TARGETS:
        few = [k for k, (_, high) in bounds.items() if high >= target]
        needed = [float(every[np.argmax(ends[:, column] >= target)]) for column in (0, 2, 1)]
        rows.append(("needed", target, *needed, *nothing))
        fewest = float(min(few, default=most + 1))
        rows.append(("at least", target, fewest, fewest, fewest, *nothing))
    return rows


def _jackknife(estimates: FloatArray) -> FloatArray:
    """Give value and 95 % interval as columns, of rows with all groups and without each of them."""
    whole, without = estimates[0], estimates[1:]
    n_groups = len(without)
    spread = np.square(without - without.mean(axis=0)).sum(axis=0)
    half = scipy.stats.t.ppf(0.975, n_groups - 1) * np.sqrt((n_groups - 1) / n_groups * spread)
    return np.column_stack([whole, np.maximum(-1, whole - half), np.minimum(1, whole + half)])


# -- from a grid ----------------------------------------------------------------------------------


def judgments_asked(grid: Grid, *, cutoff: int) -> dict[str, Any]:
    """Say what `judgments` is asked for where the chapter's grid is given."""
    labels = ("full", "true")
    reduced = Grid(
        grid.dataset,
        grid.systems,
        {label: str(grid.parsed[label]) for label in labels},
        (f"P@{cutoff}",),
        split=grid.split,
        seed=grid.seed,
        tests={"true": grid.tests["true"]},
    )
    few = {"n_draws": _FEW_DRAWS} if is_made_here(grid.dataset) else {}
    return {"grid": reduced, "cutoff": cutoff, **few}


@maker(CHAPTER, Table, uses=lambda grid: grid)
def judgments(
    dataset: Dataset, *, grid: Grid, cutoff: int, n_draws: int = _N_DRAWS
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Find how many random judgments order systems.

    Of each user 100 judgments are used at most, drawn at random.

    Parameters
    ----------
    dataset
        That of the grid.
    grid
        See `judgments_asked`. What is missing of it is trained.
    cutoff
        Length of the lists.
    n_draws
        How often judgments are dealt.

    Returns
    -------
    index : tuple of str
        ``metric``, ``quantity`` and ``at``.
    frame : DataFrame
        As of `agreement_by_judgments`.

    Raises
    ------
    ConfigError
        As of `agreement_by_judgments`.
    """
    judged = _read(grid, dataset, cutoff)
    return _INDEX, agreement_by_judgments(judged, seed=grid.seed, n_draws=n_draws)


def _read(grid: Grid, dataset: Dataset, cutoff: int) -> Judged:
    """Read lists of a grid's systems from its cells; train those that are not there."""
    cells = grid_cells(grid, dataset, None)
    run_missing([cell for _, cell in cells], label=f"{dataset.name}: cells")
    tables: dict[str, dict[str, dict[int, list[RankTable]]]] = {"full": {}, "true": {}}
    for name, cell in cells:
        reader = Reader(cell)
        for label, by_system in tables.items():
            if artefact_of(grid, label) in cell.artefacts:
                folds = by_system.setdefault(name, {})
                folds.setdefault(cell.fold, []).append(reader.table(grid, label))
    names = [system.name for system in grid.systems]
    seen, drawn = (_listed([tables[label][name] for name in names], cutoff) for label in tables)
    least, n_items = grid.parsed["true"].min_rating, dataset.ratings.n_items
    drawn = drawn.at_most(_MOST, stream(grid.seed, "judgments", "used"))
    pairs = [listed.user * np.int64(n_items) + listed.item for listed in (drawn, seen)]
    order = np.argsort(pairs[0])
    place = np.minimum(np.searchsorted(pairs[0], pairs[1], sorter=order), len(order) - 1)
    same = pairs[0][order[place]] == pairs[1]
    return Judged(
        user=drawn.user,
        liked=relevant(drawn.value, least),
        listed=drawn.listed,
        n_items=n_items,
        seen_user=seen.user,
        seen_liked=relevant(seen.value, least),
        seen_listed=seen.listed,
        seen_in=np.where(same, order[place], -1),
        n_folds=seen.n_folds,
    )


class _Listed(NamedTuple):
    """Test ratings of all folds, and by system the share of trainings that list their items."""

    user: IntArray
    item: IntArray
    value: npt.NDArray[Any]
    listed: FloatArray
    n_folds: int

    def at_most(self, number: int, rng: np.random.Generator) -> _Listed:
        """Keep so many of each user's, drawn at random."""
        order = np.lexsort((rng.random(len(self.user)), self.user))
        counts = np.bincount(self.user)
        place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = np.sort(order[place < number])
        columns = (self.user[rows], self.item[rows], self.value[rows], self.listed[rows])
        return _Listed(*columns, self.n_folds)


def _listed(systems: list[dict[int, list[RankTable]]], cutoff: int) -> _Listed:
    first = [tables[0] for tables in systems[0].values()]
    columns = [
        np.concatenate(
            [
                np.mean([(table.rank > 0) & (table.rank <= cutoff) for table in tables], axis=0)
                for tables in folds.values()
            ]
        )
        for folds in systems
    ]
    return _Listed(
        user=np.concatenate([table.user for table in first]),
        item=np.concatenate([table.item for table in first]),
        value=np.concatenate([table.value for table in first]),
        listed=np.array(columns).T,
        n_folds=len(first),
    )
