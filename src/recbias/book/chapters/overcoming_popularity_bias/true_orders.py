"""Which protocol orders systems as judgments of items drawn at random do, on real data.

Of CM100k and Coat a part was rated for random items. Each protocol orders the same systems by
observed ratings, those with a test of their own (UAR, U1R) by a split of their own; the truth is
about the very models that made the order, on unbiased judgments of pairs outside their training. It
is read in two ways: how much of the first ten items is liked (P), and how often a liked item stands
above a disliked one, anywhere (AUC).

All pairs outside training have to be equally likely to be judged. They are on Coat, whose users
rated once what they chose, and once what was drawn. On CM100k observed are those of the random
judgments whose item was known, and training would take away most judgments of popular items. There
a fifth of all judgments is held out first, each in turn; the ratings that remain are split by each
protocol as it does, and the truth is asked of what was held out.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.setup import (
    CHAPTER,
    one_draw,
    protocols,
    uniform_protocols,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import truth_of
from recbias.book.systems.line_up import relevance_threshold
from recbias.data.datasets import Dataset, dataset_info, is_path
from recbias.data.ratings import exact
from recbias.experiment.cells import grid_cells, run_missing
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.experiment.reduction import (
    FoldPart,
    combine_folds,
    fold_tasks,
    reduce_fold,
    resampled_draws,
    resampled_users,
)
from recbias.experiment.results import Quantity
from recbias.experiment.training_seeds import training_seeds
from recbias.protocol.testset import TestSet
from recbias.recommenders import System, line_up, with_seeds
from recbias.stats.agreement import kendall_tau, resolved_signs

INDEX = ("truth", "protocol")

TRUTHS = ("P", "AUC")
"""What unbiased judgments of pairs outside training are read as."""

_TRUE = "true"
_HELD = {"cm100k": 5}
"""Folds of the random judgments, each held out in turn, where observed ratings are among them."""

FloatArray = npt.NDArray[np.float64]


class Values(NamedTuple):
    """What some systems score: a number each, and the same on resampled users, a column a draw."""

    value: FloatArray
    replicates: FloatArray


def true_orders_asked(
    dataset: str, *, cutoff: int, size: int, seed: int, uniform: str
) -> dict[str, dict[str, Any]]:
    """Name the tables of true orders that a page makes, with the parameters of each.

    Examples
    --------
    >>> from functools import partial
    >>> tables_of = partial(true_orders_asked, cutoff=10, size=100, seed=1, uniform="uniform 0.2")
    >>> list(tables_of("cm100k")), tables_of("ml-1m")
    (['true_orders', 'true_orders_top', 'true_orders_more'], {})

    Of a world one is made, of one split: the others are read of people alone.

    >>> list(tables_of("synthetic"))
    ['true_orders']
    """
    truth = "" if is_path(dataset) else truth_of(dataset)
    if not truth:
        return {}
    liked, top = relevance_threshold(dataset), dataset_info(dataset).scale.maximum
    n_seeds = training_seeds(dataset)
    tables = {
        "true_orders": (with_seeds(line_up("bcc17"), n_seeds), liked),
        "true_orders_top": (with_seeds(line_up("bcc17"), n_seeds), top),
        "true_orders_more": (line_up("mccrs20", min_rating=liked), liked),
    }
    given: dict[str, Any] = {"cutoff": cutoff, "size": size, "seed": seed, "uniform": uniform}
    if truth != "unbiased":  # a world, made and measured with each page
        del tables["true_orders_top"], tables["true_orders_more"]
        given |= {"uniform": one_draw(uniform), "split": "ratio 0.2", "truth": truth}
    return {
        name: true_orders_parameters(dataset, systems, min_rating, **given)
        for name, (systems, min_rating) in tables.items()
    }


def true_orders_parameters(
    dataset: str,
    systems: Sequence[System],
    min_rating: float,
    *,
    cutoff: int,
    size: int,
    seed: int,
    uniform: str = "uniform 0.2 draws=5",
    split: str = "k-fold 5",
    truth: str = "truth",
) -> dict[str, Any]:
    """Give the parameters of :func:`true_orders`.

    Where folds are held out, each is split once and has a uniform test of its own, and there are no
    other draws. What counts as truth is said of worlds alone.

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> params = true_orders_parameters("coat", line_up("bcc17"), 4, cutoff=10, size=100, seed=1)
    >>> params["random"].protocols["P1R"], params["uniform"].tests
    ('TI-AN-P1R m=3 rel>=4', {'true': 'unbiased train=observed'})
    >>> params = true_orders_parameters("cm100k", line_up("bcc17"), 3, cutoff=10, size=100, seed=1)
    >>> params["uniform"].tests["true"], params["uniform"].split
    ('unbiased train=observed held=5', 'uniform 0.2')
    """
    info = dataset_info(dataset)
    n_groups = max(1, min(10, (info.n_items or 0) // size))
    held = _HELD.get(dataset)
    judged_by = TestSet.parse(truth)
    if "real people" not in info.cannot_test:
        judged_by = TestSet("unbiased", train="observed", held=held)
    beside = {_TRUE: f"AI-AN-AR rel>={exact(min_rating)} users=relevant"}
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
        observed = {label: TestSet.parse(tests.get(label, "")) for label in labels}
        sides = {
            label: str(dataclasses.replace(test_set, held=held))
            for label, test_set in observed.items()
        }
        return Grid(
            dataset, tuple(systems), chosen, {label: metrics[label] for label in chosen},
            split=split, seed=seed, tests={**sides, _TRUE: str(judged_by)},
            groups=f"popularity {math.lcm(10, n_groups)}", replicates=(),
        )  # fmt: skip

    random = asked("ratio 0.2" if held else split, of_random, ("AR", "1R", "head", "P1R"), **head)
    drawn = asked(one_draw(uniform) if held else uniform, of_uniform, ("UAR", "U1R"))
    return {"random": random, "uniform": drawn}


def _read(random: Grid, uniform: Grid) -> list[Grid]:
    return [random, uniform]


@maker(CHAPTER, Table, uses=_read)
def true_orders(
    dataset: Dataset,
    *,
    random: Grid,
    uniform: Grid,
    workers: int = 1,
) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare the orders by all protocols with the true one.

    Parameters
    ----------
    dataset
        That of the grids.
    random, uniform
        Grids of the labels of `true_orders_parameters`. What is missing is trained.
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
    names = [system.name for system in random.systems]
    compared: dict[tuple[str, str], tuple[Values, Values]] = {}
    for grid in (random, uniform):
        values = _measured(grid, dataset, workers)
        true = {_name(metric): values.pop((_TRUE, metric)) for metric in grid.by_label[_TRUE]}
        orders = {
            label if _name(metric) == "P" else _name(metric): of_systems
            for (label, metric), of_systems in values.items()
        }
        if grid is random:
            orders |= true
        for truth, protocol in product(true, orders):
            if truth != protocol:
                compared[truth, protocol] = orders[protocol], true[truth]
    return INDEX, pd.DataFrame(agreement_rows(compared, names.index("Popularity")))


def _name(metric: str) -> str:
    return metric.partition("(")[0].partition("@")[0]


def _measured(grid: Grid, dataset: Dataset, workers: int) -> dict[tuple[str, str], Values]:
    """Measure the systems of a grid; what is missing is trained."""
    parts: dict[str, list[Mapping[str, FoldPart]]] = {system.name: [] for system in grid.systems}
    cells = grid_cells(grid, dataset, None)
    run_missing([cell for _, cell in cells], workers=workers, label=f"{dataset.name}: true orders")
    for task in fold_tasks(grid, cells):
        parts[task.grid.systems[0].name].append(reduce_fold(task)[0])
    weights = resampled_users(dataset.ratings.n_users, grid.seed)
    n_folds = len(parts[grid.systems[0].name])
    draws = resampled_draws(grid.split, n_folds, grid.seed)
    measured = {}
    for label, metrics in grid.by_label.items():
        design, parsed = grid.parsed[label], grid.parsed_metrics[label]
        combined = [
            combine_folds(design, parsed, [part[label] for part in fold_parts], weights, draws)
            for fold_parts in parts.values()
        ]
        for place, metric in enumerate(metrics):
            measured[label, metric] = Values(
                np.array([float(numbers["value"].iloc[place]) for numbers, _ in combined]),
                np.array([replicates[place] for _, replicates in combined]),
            )
    return measured


def agreement_rows(
    compared: Mapping[tuple[str, str], tuple[Values, Values]], popularity: int
) -> list[dict[str, Any]]:
    """Compare orders of systems with true ones.

    Examples
    --------
    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(2, 3, 1000))
    >>> seen, known = np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.1, 3.0])
    >>> both = (Values(seen, seen[:, None] + noise[0]), Values(known, known[:, None] + noise[1]))
    >>> (row,) = agreement_rows({("P", "AR"): both}, 0)
    >>> row["value"], row["resolved"], row["right"], row["turned"], row["popularity"]
    (1.0, 2, 2, 0, 3)
    """
    sides = list({id(side): side for both in compared.values() for side in both}.values())
    first, second = np.triu_indices(len(sides[0].value), k=1)
    gaps = np.array([side.value[first] - side.value[second] for side in sides])
    drawn = [side.replicates[first] - side.replicates[second] for side in sides]
    signs = resolved_signs(gaps.ravel(), np.concatenate(drawn)).reshape(gaps.shape).astype(int)
    place = {id(side): number for number, side in enumerate(sides)}
    rows = []
    for (truth, protocol), (order, true) in compared.items():
        by, known = place[id(order)], place[id(true)]
        kept, turned = (int((side * signs[by] * signs[known] > 0).sum()) for side in (1, -1))
        n_open = len(first) - kept - turned
        rows.append(
            {
                "truth": truth,
                "protocol": protocol,
                "value": float(kendall_tau(order.value, true.value)),
                "low": (kept - turned - n_open) / len(first),
                "high": (kept - turned + n_open) / len(first),
                "pairs": len(first),
                "resolved": int((signs[known] != 0).sum()),
                "right": int((np.sign(gaps[by]) * signs[known] > 0).sum()),
                "kept": kept,
                "turned": turned,
                "popularity": _place(order.value, popularity),
                "popularity_true": _place(true.value, popularity),
            }
        )
    return rows


def _place(values: FloatArray, which: int) -> int:
    """Tell at which place a system is, the best being the first; at the first of those it ties."""
    return int((values > values[which]).sum()) + 1


# -- what findings read ---------------------------------------------------------------------------


def pairs_right(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Give the share of the pairs that a truth resolves which an order has right, and puts surely.

    A truth that resolves no pair has none.
    """
    rows = table.frame[table.frame["resolved"] > 0]
    right, kept, turned = (rows[name] / rows["resolved"] for name in ("right", "kept", "turned"))
    high = 1 - turned
    sure = 1 - (high - kept)
    return INDEX, rows[[*INDEX]].assign(
        right=right, right_low=kept, right_high=high, sure=sure, sure_low=sure, sure_high=sure,
        cases=rows["resolved"],
    )  # fmt: skip


def best_of(*values: Quantity) -> Quantity:
    """Take the largest of several, whose intervals hold all together: no chance is added."""
    return _extreme(max, values)


def worst_of(*values: Quantity) -> Quantity:
    """Take the smallest in the same way."""
    return _extreme(min, values)


def _extreme(choose: Callable[..., float], values: Sequence[Quantity]) -> Quantity:
    value = choose(each.value for each in values)
    low, high = (choose(each.interval[end] for each in values) for end in (0, 1))
    cases = {each.cases for each in values}
    of_all = cases.pop() if len(cases) == 1 else None
    return Quantity(value, None, limits=(low, high), cases=of_all)
