"""Pairs of systems: values of the same users under both, their tests, and orders of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from recbias.errors import ConfigError
from recbias.experiment.grid import Grid
from recbias.experiment.reduction import (
    FoldPart,
    by_kind,
    combine_folds,
    resampled_draws,
    resampled_users,
)
from recbias.experiment.results import Quantity, value_text
from recbias.experiment.users import UserValues, user_values
from recbias.metrics.aggregation import weighted_units
from recbias.stats.agreement import kendall_tau, tau_interval, tau_p_value
from recbias.stats.comparison import (
    compare_all,
    paired_t,
    resampled_tests,
    sign_test,
    user_means,
    wilcoxon,
)
from recbias.stats.resampling import rounded_replicates

__all__ = [
    "TESTS",
    "Difference",
    "PairTest",
    "Pairs",
    "Tau",
    "agree",
    "compare_systems",
    "foreseen_tests",
    "over_resamples",
    "over_users",
    "paired_values",
    "quantities_of",
    "values_of_users",
]

TESTS = {"t": "paired t", "wilcoxon": "signed ranks", "sign": "sign test"}
"""Tests over users, by the words of :class:`~recbias.experiment.options.Options`, as they print."""

FloatArray = npt.NDArray[np.float64]


def p_text(p: float) -> str:
    """Write a p value.

    Examples
    --------
    >>> p_text(0.0123), p_text(1e-9), p_text(1.0), p_text(float("nan"))
    ('p = .0123', 'p < .0001', 'p = 1', 'no p')
    """
    if np.isnan(p):
        return "no p"
    text = f"{p:.4f}".lstrip("0")
    return "p < .0001" if p < 0.0001 else f"p = {'1' if text == '1.0000' else text}"


@dataclass(frozen=True)
class Difference:
    """How far two systems are apart, with the test of that; it prints in one line.

    Attributes
    ----------
    a, b, label, metric : str
        What is compared, and where.
    difference : float
        Mean over users of what `a` has more than `b`: each user counts as their mean over folds,
        or over runs (1R). Where users weigh, they do here. Of a statistic that is no mean over
        users (a median, a geometric mean, a mean over groups, a metric of the system as a whole)
        the difference of the two values.
    low, high : float
        95 % interval of the difference; NaN where there is none.
    p : float
        Two-sided, not corrected for other pairs; NaN where there is none.
    n_users : int
        Users that both systems have a value for.
    test : str
        ``"paired t"``, ``"signed ranks"`` (Wilcoxon) or ``"sign test"`` over users;
        ``"paired t of logarithms"`` for geometric means; ``"resampled users"``, where the standard
        deviation over resampled users stands for the standard error, and Student's t for the law.
    of_values : float
        Difference of the two values that the results print. It is another number than `difference`
        where these count runs, or a user once per fold.
    names_label : bool
        Whether the label is printed.

    Examples
    --------
    >>> Difference("BPR", "Popularity", "AR", "P@10", 0.0123, 0.0101, 0.0145, 3e-4, 943, "paired t",
    ...            0.0123, names_label=False)
    P@10: BPR - Popularity = +0.0123 [0.0101, 0.0145], p = .0003 (paired t, 943 users)
    """

    a: str
    b: str
    label: str
    metric: str
    difference: float
    low: float
    high: float
    p: float
    n_users: int
    test: str
    of_values: float
    names_label: bool = True

    def __repr__(self) -> str:
        where = f"{self.metric} under {self.label}" if self.names_label else self.metric
        number = value_text(self.difference, self.low, self.high, signed=True)
        other = value_text(self.of_values, signed=True)
        note = (
            ""
            if other == value_text(self.difference, signed=True)
            else f"; of the averages: {other}"
        )
        how = f"{self.test}, {self.n_users:,} users{note}"
        return f"{where}: {self.a} - {self.b} = {number}, {p_text(self.p)} ({how})"


class PairTest(NamedTuple):
    """What a test of two systems gives, as `Difference` describes it."""

    test: str
    n_users: int
    difference: float
    low: float
    high: float
    p: float

    def turned(self) -> PairTest:
        """Return the same of the second system and the first."""
        return self._replace(difference=-self.difference, low=-self.high, high=-self.low)


@dataclass(frozen=True)
class Tau:
    """How far two orders of the same systems agree; it prints in one line.

    Attributes
    ----------
    tau : float
        Kendall's tau-b: 1 for the same order, -1 for the reverse.
    low, high : float
        95 % interval over users: every tau that a test at the nearest values does not reject
        (:func:`recbias.stats.agreement.tau_interval`). NaN where there is none.
    p : float
        Two-sided p of orders that have nothing to do with each other: the chance of such a tau
        among so many systems, whatever the users.
    n_systems : int
    first, second : str
        What gives either order.

    Examples
    --------
    >>> Tau(2 / 3, 1 / 3, 1.0, 0.3333, 4, "P@10 under AR", "P@10 under 1R")
    P@10 under AR against P@10 under 1R: tau = +0.6667 [0.3333, 1.0000], p = .3333 (4 systems)
    """

    tau: float
    low: float
    high: float
    p: float
    n_systems: int
    first: str
    second: str

    def __repr__(self) -> str:
        number = value_text(self.tau, self.low, self.high, signed=True)
        how = f"{p_text(self.p)} ({self.n_systems} systems)"
        return f"{self.first} against {self.second}: tau = {number}, {how}"


class Pairs(NamedTuple):
    """A system's values that are compared with those of others, pair by pair.

    Runs and their users where runs are averaged over, else the users of the population: a user's
    value is the mean over the folds in which they are of it.
    """

    values: FloatArray
    user: npt.NDArray[np.int32] | None


def paired_values(grid: Grid, folds: Sequence[Mapping[str, FoldPart]]) -> list[Pairs]:
    """Collect a system's values for each comparison of a grid."""
    pairs = []
    for label, text in grid.compare:
        of_ranks = [str(metric) for metric in by_kind(grid.parsed_metrics[label])[0]]
        parts = [fold[label] for fold in folds]
        runs = [part.runs for part in parts if part.runs is not None]
        if runs:
            compared = [metric for metric in of_ranks if (label, metric) in grid.compare]
            place = compared.index(text)
            values = np.concatenate([values[place] for values, _ in runs])
            pairs.append(Pairs(values, np.concatenate([user for _, user in runs])))
        else:
            columns = np.sum([part.columns[0] for part in parts], axis=0)
            total, size = columns[of_ranks.index(text)], columns[-1]
            pairs.append(Pairs(total[size > 0] / size[size > 0], None))
    return pairs


def compare_systems(grid: Grid, by_system: Mapping[str, Sequence[Pairs]]) -> pd.DataFrame:
    """Test all pairs of systems: on users, and on runs too where those are averaged over."""
    frames = []
    for place, (label, text) in enumerate(grid.compare):
        values = {system: pairs[place].values for system, pairs in by_system.items()}
        user = next(iter(by_system.values()))[place].user
        columns = {"label": label, "metric": text}
        frames.append(_compared(values, user).assign(**columns, unit="user"))
        if user is not None:
            frames.append(_compared(values).assign(**columns, unit="run"))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _compared(
    values: Mapping[str, FloatArray], user: npt.NDArray[np.integer] | None = None
) -> pd.DataFrame:
    """Test all pairs; one user, or one run, tells nothing: then no interval, and p is 1."""
    units = next(iter(values.values())) if user is None else np.unique(user)
    if len(units) > 1:
        return compare_all(values, user=user)
    nothing = {"low": np.nan, "high": np.nan} | dict.fromkeys(
        ("t_p", "wilcoxon_p", "t_p_holm", "wilcoxon_p_holm"), 1.0
    )
    means = {
        name: float(np.mean(of_system)) if len(of_system) else np.nan
        for name, of_system in values.items()
    }
    rows = [
        {"a": a, "b": b, "n": len(units), "difference": means[a] - means[b], **nothing}
        for a, b in combinations(values, 2)
    ]
    return pd.DataFrame(rows)


def foreseen_tests(
    tests: pd.DataFrame, label: str, metric: str, test: str
) -> dict[tuple[str, str], PairTest]:
    """Find the tests over users that a grid was asked for beforehand, of pairs in either order."""
    if not len(tests) or f"{test}_p" not in tests:
        return {}
    known: dict[tuple[str, str], PairTest] = {}
    is_asked = (tests["label"] == label) & (tests["metric"] == metric) & (tests["unit"] == "user")
    for row in tests[is_asked].to_dict("records"):
        numbers = (float(row[name]) for name in ("difference", "low", "high", f"{test}_p"))
        answer = PairTest(TESTS[test], int(row["n"]), *numbers)
        known |= {(row["a"], row["b"]): answer, (row["b"], row["a"]): answer.turned()}
    return known


def values_of_users(
    grid: Grid, label: str, folds: Sequence[Mapping[str, FoldPart]]
) -> dict[str, Pairs | UserValues]:
    """Collect what a system's users have, by metric: as `compare_systems` takes it, or weighed."""
    weighed = user_values(grid, label, folds)
    if not grid.parsed[label].averaging.weights:  # then a user counts once, in however many folds
        weighed = {
            metric: of_users._replace(weights=(of_users.weights > 0).astype(np.float64))
            for metric, of_users in weighed.items()
        }
    compared = zip(grid.compare, paired_values(grid, folds), strict=True)
    return weighed | {metric: pairs for (of_label, metric), pairs in compared if of_label == label}


def over_users(
    a: Pairs | UserValues, b: Pairs | UserValues, test: str, *, of_logarithms: bool = False
) -> PairTest:
    """Test two systems over the users that both have a value for; one user alone tells nothing."""
    if isinstance(a, Pairs) and isinstance(b, Pairs):
        both = (a.values, b.values)
        if a.user is not None:
            both = user_means(a.values, a.user), user_means(b.values, a.user)
        units = None
    else:
        known = ~np.isnan(a.values) & ~np.isnan(b.values)
        both = a.values[known], b.values[known]
        weights = (a.weights[known] + b.weights[known]) / 2  # type: ignore[union-attr]
        units = weighted_units(both[0] - both[1], weights) if known.any() else None
    n = len(both[0])
    name = f"{TESTS[test]} of logarithms" if of_logarithms and test == "t" else TESTS[test]
    if n < 2:
        difference = float(np.mean(both[0]) - np.mean(both[1])) if n else np.nan
        return PairTest(name, n, difference, np.nan, np.nan, 1.0)
    by_t = paired_t(*both) if units is None else paired_t(units, np.zeros(n))
    p = by_t.p_value if test == "t" else _OF_USERS[test](*both)
    return PairTest(name, n, *map(float, (by_t.difference, by_t.low, by_t.high, p)))


_OF_USERS = {"wilcoxon": wilcoxon, "sign": sign_test}


def quantities_of(
    grid: Grid, label: str, folds: Sequence[Mapping[str, FoldPart]]
) -> dict[str, Quantity]:
    """Give a system's values with the replicates that a grid keeps, by metric."""
    parts = [fold[label] for fold in folds]
    weights = resampled_users(len(parts[0].member), grid.seed)
    draws = resampled_draws(grid.split, len(parts), grid.seed)
    numbers, drawn = combine_folds(
        grid.parsed[label], grid.parsed_metrics[label], parts, weights, draws
    )
    rounded = rounded_replicates(drawn).astype(np.float64)
    return {
        str(metric): Quantity(float(value), replicates, metric.declaration.interval)
        for metric, value, replicates in zip(
            grid.parsed_metrics[label], numbers["value"], rounded, strict=True
        )
    }


def over_resamples(a: Quantity, b: Quantity, n_users: int) -> PairTest:
    """Test the difference of two values by what resampled users make of it."""
    gap = a - b
    low, high = gap.interval
    p = np.nan
    if gap.method != "none":
        _, p, _ = resampled_tests(gap.value, gap.drawn, n_users)
    return PairTest("resampled users", n_users, gap.value, low, high, p)


def agree(a: Mapping[str, Quantity], b: Mapping[str, Quantity], first: str, second: str) -> Tau:
    """Compare two orders of the systems that both have.

    Raises
    ------
    ConfigError
        If these are fewer than two.
    """
    systems = [name for name in a if name in b]
    if len(systems) < 2:
        raise ConfigError(
            f"tau of {first} and {second}: {len(systems)} systems in common; an order takes two"
        )
    orders = [[side[name] for name in systems] for side in (a, b)]
    x, y = (np.array([quantity.value for quantity in order]) for order in orders)
    low = high = np.nan
    # What resampling shifts has an interval of its own, but no order on the resamples.
    if all(quantity.method == "percentile" for order in orders for quantity in order):
        drawn = (np.array([quantity.drawn for quantity in order]) for order in orders)
        low, high = tau_interval(x, y, *drawn)
    return Tau(float(kendall_tau(x, y)), low, high, tau_p_value(x, y), len(systems), first, second)
