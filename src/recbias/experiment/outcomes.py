"""What options give: values of systems, and a paired test of every two of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias._system.streams import stream
from recbias.data.datasets import load_dataset
from recbias.experiment.engine import Workers
from recbias.experiment.grid import Grid
from recbias.experiment.options import Options
from recbias.experiment.reduction import FoldPart
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results, run
from recbias.experiment.users import UserValues, reduced_systems, user_values
from recbias.metrics.aggregation import weighted_units
from recbias.stats.comparison import (
    bootstrap_test,
    holm,
    paired_t,
    resampled_tests,
    sign_test,
    wilcoxon,
)
from recbias.stats.resampling import bootstrap_weights

__all__ = ["N_DRAWS", "OF_USERS", "Outcome", "evaluate", "median_test", "paired_tests"]

N_DRAWS = 10_000
"""Samples of users of a bootstrap test: the smallest p that they can give, times the 91 pairs of 14
systems, is still below .05."""

_BLOCK = 64 * 2**20  # bytes of draws at a time

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What options give for some systems on one dataset.

    Attributes
    ----------
    options : Options
    results : Results
        Values with intervals.
    pairs : DataFrame
        A row per pair of systems: ``a``, ``b``, ``n`` users, ``difference`` of the values (a - b),
        ``effect``, how many standard deviations of users' differences that is, ``p`` of the paired
        test and ``p_holm``, corrected over all pairs. NaN without two users.
    """

    options: Options
    results: Results
    pairs: pd.DataFrame

    @property
    def values(self) -> dict[str, float]:
        """Value of each system."""
        rows = self.results.values
        return dict(zip(rows["system"], rows["value"].tolist(), strict=True))


def evaluate(
    options: Options,
    dataset: Any,
    systems: Any,
    *,
    workers: Workers = 1,
    data_dir: Path | None = None,
) -> Outcome:
    r"""Evaluate systems under options.

    Parameters
    ----------
    options
        As given, not in canonical form.
    dataset, systems
        As of :class:`~recbias.experiment.grid.Grid`.
    workers
        Local processes. The results do not depend on it.
    data_dir
        Folder that holds datasets.

    Returns
    -------
    Outcome
        With the values, and a test of each difference.

    Raises
    ------
    ConfigError
        If the options cannot be measured together, or not on these data.

    Notes
    -----
    Units of the paired tests are users: the mean of a user's values in the folds, or of their runs.
    Under reduced averages users count whom both systems serve.

    ``t`` and ``bootstrap`` (:data:`N_DRAWS` samples) test the statistic that is reported. A mean in
    which users weigh differently is tested by :func:`~recbias.metrics.aggregation.weighted_units`.
    A geometric mean is tested in logarithms, :math:`\ln(v+\epsilon)`. A median has no standard
    error of its own: that of resampled users takes its place, and their share beyond zero that of a
    bootstrap test. ``wilcoxon`` and ``sign`` count each user alike, whatever is reported: neither
    knows weights, nor statistics.

    References
    ----------
    CCM20 Sec. 3.10, Sec. 4.5 (t test of logarithms).

    Examples
    --------
    >>> from recbias.recommenders import line_up
    >>> options = Options.parse("split: ratio 0.5; lists: AI-AN-AR rel>=4; metric: P@10")
    >>> options.grid("synthetic", line_up("bcc17")[:2]).protocols
    {'options': 'AI-AN-AR rel>=4'}
    """
    request = options.grid(dataset, systems)
    if options.protocol.averaging.statistic == "median":
        request = replace(request, replicates=None)  # kept: the only standard error of a median
    results = run(request, workers=workers, data_dir=data_dir)
    grid = results.grid
    parts = reduced_systems(grid, load_dataset(dataset, data_dir=data_dir), data_dir=data_dir)
    users = {name: _users(grid, folds) for name, folds in parts}
    tests = _tests(options, results, users)
    values = Outcome(options, results, pd.DataFrame()).values
    pairs = pd.DataFrame(
        [
            {"a": a, "b": b, "difference": values[a] - values[b], **tests[a, b]._asdict()}
            for a, b in combinations(users, 2)
        ],
        columns=["a", "b", "n", "difference", "effect", "p"],
    )
    known = pairs["p"].notna().to_numpy()
    pairs["p_holm"] = np.nan
    pairs.loc[known, "p_holm"] = holm(pairs.loc[known, "p"].to_numpy())
    return Outcome(options, results, pairs)


def _users(grid: Grid, folds: Sequence[Mapping[str, FoldPart]]) -> UserValues:
    """Return the values of users; of a metric of the system as a whole nobody has one."""
    n_users = len(folds[0]["options"].member)
    nobody = UserValues(np.full(n_users, np.nan), np.zeros(n_users))
    return next(iter(user_values(grid, "options", folds).values()), nobody)


class _Test(NamedTuple):
    n: int
    effect: float
    p: float


def _tests(
    options: Options, results: Results, users: dict[str, UserValues]
) -> dict[tuple[str, str], _Test]:
    """Test pairs together of which the same users have values under both systems."""
    alike: dict[bytes, list[tuple[str, str]]] = {}
    for a, b in combinations(users, 2):
        both = ~np.isnan(users[a].values) & ~np.isnan(users[b].values)
        alike.setdefault(both.tobytes(), []).append((a, b))
    by_pair: dict[tuple[str, str], _Test] = {}
    for key, pairs in alike.items():
        both = np.frombuffer(key, dtype=bool)
        n = int(both.sum())
        if n < 2:
            by_pair |= dict.fromkeys(pairs, _Test(n, np.nan, np.nan))
            continue
        values, others = (
            np.array([users[pair[side]].values[both] for pair in pairs]) for side in (0, 1)
        )
        if options.protocol.averaging.statistic == "median":
            metric, test = str(options.measured), options.pairs
            of_medians = [
                median_test(results[a, "options", metric], results[b, "options", metric], n, test)
                for a, b in pairs
            ]
            statistic, p = np.array(of_medians).T
            if test in OF_USERS:
                p = OF_USERS[test](values, others)
        else:
            weights = [(users[a].weights[both] + users[b].weights[both]) / 2 for a, b in pairs]
            statistic, (p,) = paired_tests(
                values, others, np.array(weights), (options.pairs,), seed=options.seed
            )
        effects = (statistic / np.sqrt(n)).tolist()
        tests = (_Test(n, *numbers) for numbers in zip(effects, p.tolist(), strict=True))
        by_pair |= dict(zip(pairs, tests, strict=True))
    return by_pair


OF_USERS = {"wilcoxon": wilcoxon, "sign": sign_test}
"""Tests that count each user alike."""


def paired_tests(
    values: FloatArray, others: FloatArray, weights: FloatArray, tests: Sequence[str], *, seed: int
) -> tuple[FloatArray, list[FloatArray]]:
    """Test weighted means of two systems' users, a row per pair: t, and p by each of the tests."""
    units = weighted_units(values - others, weights)
    nothing = np.zeros_like(units)
    by_t = paired_t(units, nothing)
    n = units.shape[-1]
    p_values = []
    for test in tests:
        if test in OF_USERS:
            p_values.append(OF_USERS[test](values, others))
        elif test == "bootstrap":
            p_values.append(bootstrap_test(units, nothing, _draws(n, seed)))
        else:
            p_values.append(by_t.p_value)
    return by_t.statistic, p_values


def median_test(a: Quantity, b: Quantity, n: int, test: str) -> tuple[float, float]:
    """Give the difference of medians in units of its resampled standard error, and its p."""
    gap = a - b
    statistic, by_error, by_share = resampled_tests(gap.value, gap.drawn, n)
    return statistic, by_share if test == "bootstrap" else by_error


def _draws(n_users: int, seed: int) -> Iterator[npt.NDArray[np.uint8]]:
    """Draw samples of users, in blocks that fit in memory."""
    rng = stream(seed, "pairs", n_users)
    size = max(1, _BLOCK // n_users)
    for start in range(0, N_DRAWS, size):
        yield bootstrap_weights(n_users, min(size, N_DRAWS - start), rng=rng)
