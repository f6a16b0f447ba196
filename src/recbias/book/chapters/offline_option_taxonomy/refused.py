"""Users whom nobody serves, and users with much to go by: who decides an average (Figure 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.book.chapters.offline_option_taxonomy.setup import CHAPTER, KNN, OVERLAPS, READINGS
from recbias.book.chapters.offline_option_taxonomy.users import each_seed, measure_users
from recbias.claims.quantities import over_worlds
from recbias.data.datasets import Dataset
from recbias.experiment.grid import Grid
from recbias.experiment.makers import Table, maker
from recbias.protocol.testset import dataset_splits

FloatArray = npt.NDArray[np.float64]

N_GROUPS = 4
"""Groups of users by their number of training ratings."""


# -- who is refused --------------------------------------------------------------------------------


def _served(grid: Grid) -> Iterator[Grid]:
    full_grid = replace(
        grid,
        protocols={"full": str(grid.parsed["full"])},
        metrics=("P@10", "Served@1"),
        compare=(),
        replicates=(),
    )
    return each_seed(full_grid, [grid.seed])


@maker(CHAPTER, Table, grids=_served)
def refused(dataset: Dataset, *, grid: Grid) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Compare the users whom the nearest neighbours serve with those whom they refuse.

    Parameters
    ----------
    dataset
        Loaded data set.
    grid
        The grid of users without neighbours; of each system the first training.

    Returns
    -------
    index : tuple of str
        ``overlap``, the least number of common items, and ``system``, the reading of MF.
    frame : DataFrame
        ``n_served`` and ``n_refused`` users; ``tests_served`` and ``tests_refused``, how many test
        ratings they have, and ``tests_gap``, the difference of the two, with ``tests_low`` and
        ``tests_high``; ``mf_served`` and ``mf_refused``, the P@10 of MF, their difference ``value``
        with ``low`` and ``high``, and the ``correlation`` over users of being served and the P@10
        of MF, ``correlation_low`` to ``correlation_high`` (Fisher's z); ``gain``, what the overlap
        adds to the P@10 of the nearest neighbours on the users it serves, against an overlap of 1,
        with ``gain_low`` and ``gain_high``. NaN where nobody is refused.
    """
    (full_grid,) = _served(grid)
    users = dict(measure_users(full_grid, dataset))
    (split,) = dataset_splits(dataset, full_grid.split, seed=full_grid.seed)
    tests = np.bincount(split.test.user, minlength=dataset.ratings.n_users).astype(np.float64)
    precision = {name: measured["full", "P@10"].values for name, measured in users.items()}
    knn = {overlap: f"{KNN} k=10 overlap={overlap}" for overlap in OVERLAPS}
    rows = []
    for overlap, name in knn.items():
        served = users[name]["full", "Served@1"].values
        counted = ~np.isnan(served)
        yes, no = counted & (served == 1), counted & (served == 0)
        gain = _mean(precision[name][yes] - precision[knn[1]][yes])
        for reading in READINGS:
            mf = precision[reading]
            rows.append(
                {
                    "overlap": overlap,
                    "system": reading,
                    "n_served": int(yes.sum()),
                    "n_refused": int(no.sum()),
                    "tests_served": _only(tests[yes]),
                    "tests_refused": _only(tests[no]),
                    **_named("tests_gap", "tests", _gap(tests[yes], tests[no])),
                    "mf_served": _only(mf[yes]),
                    "mf_refused": _only(mf[no]),
                    **_named("value", "", _gap(mf[yes], mf[no])),
                    **_named("correlation", "correlation", _correlation(served, mf, counted)),
                    **_named("gain", "gain", gain),
                }
            )
    return ("overlap", "system"), pd.DataFrame(rows)


def _named(name: str, prefix: str, estimate: tuple[float, float, float]) -> dict[str, float]:
    prefix = f"{prefix}_" if prefix else ""
    return {name: estimate[0], f"{prefix}low": estimate[1], f"{prefix}high": estimate[2]}


def _only(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _mean(values: FloatArray) -> tuple[float, float, float]:
    """Average values of users, with the 95 % interval of Student's t."""
    if len(values) < 2:
        return (np.nan, np.nan, np.nan)
    mean = over_worlds(values)
    return (mean.value, *mean.interval)


def _gap(a: FloatArray, b: FloatArray) -> tuple[float, float, float]:
    """Subtract the means of two groups of users, with a 95 % interval."""
    if len(a) < 2 or len(b) < 2:
        return (np.nan, np.nan, np.nan)
    gap = float(a.mean() - b.mean())
    half = 1.959964 * float(np.hypot(*(x.std(ddof=1) / np.sqrt(len(x)) for x in (a, b))))
    return (gap, gap - half, gap + half)


def _correlation(
    served: FloatArray, values: FloatArray, counted: npt.NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Correlate being served with a value, over users, with Fisher's interval."""
    x, y = served[counted], values[counted]
    if len(x) < 4 or not x.std() or not y.std():
        return (np.nan, np.nan, np.nan)
    r = float(np.corrcoef(x, y)[0, 1])
    half = 1.959964 / np.sqrt(len(x) - 3)
    low, high = (float(np.tanh(np.arctanh(r) + side * half)) for side in (-1, 1))
    return (r, low, high)


def refused_tests(refused: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Give the difference in test ratings of the users who are served and those who are not."""
    names = {"tests_gap": "value", "tests_low": "low", "tests_high": "high"}
    return refused.index, refused.frame[[*refused.index, *names]].rename(columns=names)


# -- who has much to go by -------------------------------------------------------------------------


def _profiled(grid: Grid) -> Iterator[Grid]:
    profile_grid = replace(
        grid,
        protocols={label: str(grid.parsed[label]) for label in ("full", "condensed")},
        metrics={"full": ("P@10", "judged@10"), "condensed": ("nDCG@10",)},
        compare=(),
        replicates=(),
    )
    return each_seed(profile_grid, [grid.seed])


@maker(CHAPTER, Table, grids=_profiled)
def profiles(dataset: Dataset, *, grid: Grid) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Measure quarters of the users, by their number of training ratings.

    Parameters
    ----------
    dataset
        Loaded data set.
    grid
        The grid of the start; of each system the first training.

    Returns
    -------
    index : tuple of str
        ``group``, 1 for the quarter with fewest to 4 for that with most training ratings (ties in
        the order of the users), ``system`` and ``metric``: ``P@10``, ``judged@10``, ``nDCG@10
        condensed``, and ``tests``, the number of test ratings.
    frame : DataFrame
        ``value``, a mean over ``n`` users with training ratings, and its 95 % interval, ``low`` to
        ``high``.
    """
    (profile_grid,) = _profiled(grid)
    (split,) = dataset_splits(dataset, profile_grid.split, seed=profile_grid.seed)
    n_users = dataset.ratings.n_users
    trained = np.bincount(split.train.user, minlength=n_users)
    tests = np.bincount(split.test.user, minlength=n_users).astype(np.float64)
    known = np.flatnonzero(trained)
    ordered = known[np.argsort(trained[known], kind="stable")]
    groups = np.array_split(ordered, N_GROUPS)
    rows = []
    for name, users in measure_users(profile_grid, dataset):
        measured = {
            "P@10": users["full", "P@10"].values,
            "judged@10": users["full", "judged@10"].values,
            "nDCG@10 condensed": users["condensed", "nDCG@10"].values,
            "tests": tests,
        }
        rows += [
            (place, name, metric, *_mean(values[members]), len(members))
            for place, members in enumerate(groups, start=1)
            for metric, values in measured.items()
        ]
    columns = ["group", "system", "metric", "value", "low", "high", "n"]
    return tuple(columns[:3]), pd.DataFrame(rows, columns=columns)
