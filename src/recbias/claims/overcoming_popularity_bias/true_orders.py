"""Which protocol orders systems as judgments of items drawn at random do, on real data.

Of CM100k and Coat a part was rated for random items. Each protocol orders the same systems by
observed ratings, those with a test of their own (UAR, U1R) by a split of their own; the truth is
about the very models that made the order, on the unbiased judgments of all pairs outside their
training. It is read in two ways: how much of the first ten items is liked (P), and how often a
liked item stands above a disliked one, anywhere (AUC).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.agreement import kendall_tau, resolved_signs
from recbias.cells import grid_cells, run_cell
from recbias.claims.overcoming_popularity_bias.setup import (
    CHAPTER,
    protocols,
    uniform_protocols,
)
from recbias.datasets import Dataset, dataset_info
from recbias.engine import open_executor, run_all
from recbias.experiment import N_REPLICATES, fold_tasks
from recbias.grid import Grid
from recbias.makers import Table, maker
from recbias.recommenders import System
from recbias.reduction import FoldPart, combine_folds, reduce_fold
from recbias.resampling import bootstrap_weights
from recbias.streams import stream

__all__ = ["INDEX", "TRUTHS", "agreement_rows", "true_orders", "true_orders_parameters"]

INDEX = ("truth", "protocol")

TRUTHS = ("P", "AUC")
"""What unbiased judgments of pairs outside training are read as."""

_TRUE = "true"
_DRAWS = 5
"""Uniform tests that are drawn: five of a fifth of the ratings each, as five folds are."""

FloatArray = npt.NDArray[np.float64]


class Values(NamedTuple):
    """What some systems score: a number each, and the same on resampled users, a column a draw."""

    value: FloatArray
    replicates: FloatArray


def true_orders_parameters(
    dataset: str,
    systems: Sequence[System],
    min_rating: float,
    *,
    cutoff: int,
    size: int,
    seed: int,
    uniform: str = "uniform 0.2",
    draws: int = _DRAWS,
    workers: int = 1,
) -> dict[str, Any]:
    """Give the parameters of :func:`true_orders`.

    Parameters
    ----------
    dataset
        Name of a dataset with judgments of random items, which need not be at hand, or of a world.
    systems
        Whose order is asked for.
    min_rating
        Smallest rating that is relevant.
    cutoff
        Length of the lists.
    size
        Size of a 1R target set. Percentiles of P1R are as many as hold that many items, at most 10.
    seed
        Names all draws.
    uniform
        Text of the rule of the uniform split.
    draws
        How many uniform tests are drawn.
    workers
        Processes; the results do not depend on them.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> asked = true_orders_parameters("coat", line_up("bcc17"), 4, cutoff=10, size=100, seed=1)
    >>> asked["random"]["protocols"]["P1R"], asked["uniform"]["tests"]
    ('TI-AN-P1R m=3 rel>=4', {'true': 'unbiased train=observed'})
    """
    info = dataset_info(dataset)
    n_groups = max(1, min(10, (info.n_items or 0) // size))
    truth = "truth" if "real people" in info.cannot_test else "unbiased train=observed"
    beside = {_TRUE: f"AI-AN-AR rel>={min_rating:g} users=relevant"}
    of_random, head = protocols(min_rating, n_groups=n_groups)
    of_uniform = uniform_protocols(min_rating)
    runs = (f"P@{cutoff}|t={size}",)
    whole = f"P@{cutoff}"
    judged = ("bpref", "infAP(pool=100)", f"SR(gamma=1)@{cutoff}")
    metrics = {
        "AR": (whole, *judged), "1R": runs, "head": runs, "P1R": runs, "UAR": (whole,), "U1R": runs,
        _TRUE: (whole, "AUC"),
    }  # fmt: skip

    def asked(split: str, of: Mapping[str, str], labels: Sequence[str], **tests: str) -> Grid:
        chosen = {label: of[label] for label in labels} | beside
        return Grid(
            dataset, tuple(systems), chosen, {label: metrics[label] for label in chosen},
            split=split, seed=seed, tests={_TRUE: truth, **tests},
            groups=f"popularity {math.lcm(10, n_groups)}", replicates=(),
        )  # fmt: skip

    random = asked("k-fold 5", of_random, ("AR", "1R", "head", "P1R"), **head)
    drawn = asked(uniform, of_uniform, ("UAR", "U1R"))
    return {
        "random": random.to_dict(), "uniform": drawn.to_dict(), "draws": draws, "workers": workers
    }  # fmt: skip


def _grids(
    random: Mapping[str, Any], uniform: Mapping[str, Any], draws: int
) -> tuple[list[Grid], list[Grid]]:
    """Give the grid of the folds, and one for each uniform test that is drawn."""
    drawn = Grid.from_dict(uniform)
    seeds = [drawn.seed + number for number in range(draws)]
    return [Grid.from_dict(random)], [dataclasses.replace(drawn, seed=seed) for seed in seeds]


def _uses(given: Mapping[str, Any], hashes: Mapping[str, str]) -> list[str]:
    grids = _grids(given["random"], given["uniform"], given.get("draws", _DRAWS))
    return [grid.key_of(hashes) for grid in chain(*grids)]


@maker(f"{CHAPTER}/true_orders", Table, uses=_uses, covers=("random", "uniform", "workers"))
def true_orders(
    dataset: Dataset,
    *,
    random: Mapping[str, Any],
    uniform: Mapping[str, Any],
    draws: int = _DRAWS,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare the orders by all protocols with the true one, for :func:`recbias.makers.run_maker`.

    Parameters
    ----------
    dataset
        That of the grids.
    random, uniform
        Grids as dicts, of the labels of `true_orders_parameters`. What is missing is trained.
    draws
        How many uniform tests are drawn, with the seeds from that of the grid on. What they give is
        averaged as over folds.
    workers
        Processes.

    Returns
    -------
    index : tuple of str
        ``truth``, one of :data:`TRUTHS`, and ``protocol``: a label; ``bpref``, ``infAP`` or ``SR``
        measured under AR; ``P`` for the order by true precision, or ``AUC``, beside the other.
    frame : DataFrame
        As of `agreement_rows`.

    Raises
    ------
    ConfigError
        If the data have neither unbiased judgments nor truth.
    """
    of_random, of_uniform = _grids(random, uniform, draws)
    names = [system.name for system in of_random[0].systems]
    compared: dict[tuple[str, str], tuple[Values, Values]] = {}
    for grids in (of_random, of_uniform):
        values = _measured(grids, dataset, workers)
        true = {_name(metric): values.pop((_TRUE, metric)) for metric in grids[0].by_label[_TRUE]}
        orders = {
            label if _name(metric) == "P" else _name(metric): found
            for (label, metric), found in values.items()
        }
        if grids is of_random:
            orders |= true
        for truth, protocol in product(true, orders):
            if truth != protocol:
                compared[truth, protocol] = orders[protocol], true[truth]
    return INDEX, pd.DataFrame(agreement_rows(compared, names.index("Popularity")))


def _name(metric: str) -> str:
    return metric.partition("(")[0].partition("@")[0]


def _measured(
    grids: Sequence[Grid], dataset: Dataset, workers: int
) -> dict[tuple[str, str], Values]:
    """Measure the systems of grids that differ in their seed alone, as if they were one's folds."""
    first = grids[0]
    parts: dict[str, list[Mapping[str, FoldPart]]] = {each.name: [] for each in first.systems}
    with open_executor(workers) as executor:
        for grid in grids:
            cells = grid_cells(grid, dataset, None)
            missing = [cell for _, cell in cells if cell.missing()]
            run_all(run_cell, missing, executor, label=f"{dataset.name}: true orders")
            tasks = fold_tasks(grid, cells)
            found = run_all(reduce_fold, tasks, None, label=f"{dataset.name}: measures")
            for task, (part, _) in zip(tasks, found, strict=True):
                parts[task.grid.systems[0].name].append(part)
    rng = stream(first.seed, "bootstrap")
    weights = bootstrap_weights(dataset.ratings.n_users, N_REPLICATES, rng=rng)
    measured = {}
    for label, metrics in first.by_label.items():
        each = [
            combine_folds(first, label, [part[label] for part in own], weights)
            for own in parts.values()
        ]
        for place, metric in enumerate(metrics):
            measured[label, metric] = Values(
                np.array([float(numbers["value"].iloc[place]) for numbers, _ in each]),
                np.array([replicates[place] for _, replicates in each]),
            )
    return measured


def agreement_rows(
    compared: Mapping[tuple[str, str], tuple[Values, Values]], popularity: int
) -> list[dict[str, Any]]:
    """Compare orders of systems with true ones.

    Parameters
    ----------
    compared
        By name of the truth and of what made the order: what the systems score by the order, and in
        truth. All replicates are paired.
    popularity
        Place of the system Popularity among them.

    Returns
    -------
    list of dict
        ``truth`` and ``protocol``; ``value``, Kendall's tau; the number of ``pairs`` of systems,
        how many of them the truth ``resolved``, and how many of these the order has ``right``, by
        its values; of the pairs that *both* resolve, those ``kept`` and ``turned``; ``low`` to
        ``high``, every tau that the other pairs allow; the place of Popularity, from 1, by the
        order (``popularity``) and in truth (``popularity_true``). All pairs under all orders are
        one family of :func:`recbias.agreement.resolved_signs`: that any is resolved wrongly has a
        chance of 5 % at most, so that rows can be compared.

    Examples
    --------
    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(2, 3, 1000))
    >>> seen, known = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.1, 3.0])
    >>> both = (Values(seen, seen[:, None] + noise[0]), Values(known, known[:, None] + noise[1]))
    >>> (row,) = agreement_rows({("P", "AR"): both}, 0)
    >>> row["value"], row["resolved"], row["right"], row["turned"], row["popularity"]
    (1.0, 2, 2, 0, 3)
    """
    sides = list({id(each): each for both in compared.values() for each in both}.values())
    first, second = np.triu_indices(len(sides[0].value), k=1)
    gaps = np.array([side.value[first] - side.value[second] for side in sides])
    drawn = [side.replicates[first] - side.replicates[second] for side in sides]
    signs = resolved_signs(gaps.ravel(), np.concatenate(drawn)).reshape(gaps.shape).astype(int)
    place = {id(side): number for number, side in enumerate(sides)}
    rows = []
    for (truth, protocol), (found, true) in compared.items():
        by, known = place[id(found)], place[id(true)]
        kept, turned = (int((side * signs[by] * signs[known] > 0).sum()) for side in (1, -1))
        n_open = len(first) - kept - turned
        rows.append(
            {
                "truth": truth,
                "protocol": protocol,
                "value": float(kendall_tau(found.value, true.value)),
                "low": (kept - turned - n_open) / len(first),
                "high": (kept - turned + n_open) / len(first),
                "pairs": len(first),
                "resolved": int((signs[known] != 0).sum()),
                "right": int((np.sign(gaps[by]) * signs[known] > 0).sum()),
                "kept": kept,
                "turned": turned,
                "popularity": _place(found.value, popularity),
                "popularity_true": _place(true.value, popularity),
            }
        )
    return rows


def _place(values: FloatArray, which: int) -> int:
    """Tell at which place a system is, the best being the first; at the first of those it ties."""
    return int((values > values[which]).sum()) + 1
