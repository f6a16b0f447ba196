"""Quantities made of several: the largest, deviations, orders of systems, shares of a grid.

What is smooth in the values is taken on every resample, so that its interval is that of its
replicates. An order is not: resampling breaks near ties more often than they are broken among the
users at hand, and percentiles of tau or of a share do not cover. The interval of a tau holds each
that a test at the nearest values does not reject, that of a share or a count everything that
differences allow which are not resolved, all together.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from itertools import product as every_combination
from statistics import NormalDist
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import stdtrit  # quantiles of Student's t; `scipy.stats` takes long to load

from recbias.errors import ConfigError
from recbias.experiment.results import Quantity
from recbias.stats import agreement
from recbias.stats.agreement import (
    kendall_tau,
    resolved_signs,
    share_interval,
    tau_interval,
    tau_intervals,
)

FAR = 3.0
"""Standard errors within which an identity in expectation holds: by chance it is off that far in
.27 % of all samples, if the estimate is normal."""

_ROUNDING = 1e-12

FloatArray = npt.NDArray[np.float64]
Ends = tuple[float, float]
_Name = TypeVar("_Name", bound=Hashable)


def _drawn(quantity: Quantity) -> FloatArray:
    if quantity.method != "percentile":
        raise ConfigError(
            "resampling shifts this quantity, so that an order of several on the resamples says "
            "nothing; compare values without interval"
        )
    return quantity.drawn


def _arrays(quantities: Sequence[Quantity]) -> tuple[FloatArray, FloatArray]:
    """Return values (n,) and replicates (n, n_replicates)."""
    values = np.array([quantity.value for quantity in quantities])
    return values, np.array([_drawn(quantity) for quantity in quantities])


def as_quantity(value: Quantity | float) -> Quantity:
    """Make a quantity of an exact number; on every resample it is the same."""
    return value if isinstance(value, Quantity) else Quantity(float(value), np.array([value]))


def is_same(a: Quantity, b: Quantity) -> bool:
    """Tell whether two quantities agree on all users and on all resamples."""
    if a.replicates is None or b.replicates is None:
        return False
    return a.value == b.value and np.array_equal(a.replicates, b.replicates)


def _joined(
    combine: Callable[[Any, Any], Any], a: Any, b: Any, ends: Callable[[Ends, Ends], Ends]
) -> Any:
    """Combine two values: exact numbers and draws as they are, quantities draw by draw.

    Of two quantities that have an interval and no draws, the interval holds all that is possible.
    What two shares of as many cases make is of as many.
    """
    if not (isinstance(a, Quantity) or isinstance(b, Quantity)):
        with np.errstate(divide="ignore", invalid="ignore"):
            return combine(a, b)
    kept = [isinstance(one, Quantity) and one.replicates is None for one in (a, b)]
    one, other = as_quantity(a), as_quantity(b)
    if any(kept) and all(
        lacks or isinstance(value, float) or len(quantity.drawn) == 1
        for lacks, value, quantity in zip(kept, (a, b), (one, other), strict=True)
    ):
        value = float(combine(np.float64(one.value), np.float64(other.value)))
        df = one.df if kept == [True, False] else other.df if kept == [False, True] else None
        cases = one.cases if one.cases == other.cases else None
        return Quantity(value, None, limits=ends(one.interval, other.interval), df=df, cases=cases)
    return combine(one, other)


def total(a: Any, b: Any) -> Any:
    """Add two values."""
    return _joined(_add, a, b, lambda one, other: (one[0] + other[0], one[1] + other[1]))


def difference(a: Any, b: Any) -> Any:
    """Subtract the second value from the first.

    Examples
    --------
    >>> draws = Quantity(0.5, np.array([0.4, 0.6]))
    >>> difference(1.0, draws).replicates.tolist()
    [0.6, 0.4]
    >>> wide = Quantity(0.5, None, limits=(0.4, 0.6))
    >>> difference(wide, wide).interval
    (-0.19999999999999996, 0.19999999999999996)
    """
    return _joined(operator.sub, a, b, lambda one, other: (one[0] - other[1], one[1] - other[0]))


def product(a: Any, b: Any) -> Any:
    """Multiply two values."""
    return _joined(_multiply, a, b, _extremes_of(operator.mul))


def log10(value: Any) -> Any:
    """Take the logarithm of a number, or of a quantity draw by draw."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if not isinstance(value, Quantity):
            return np.log10(value)
        if value.replicates is None:
            low, high = np.log10(value.interval).tolist()
            return Quantity(float(np.log10(value.value)), None, limits=(low, high))
        return Quantity(float(np.log10(value.value)), np.log10(_drawn(value)))


def quotient(a: Any, b: Any) -> Any:
    """Divide the first value by the second; by 0 it is undefined.

    Examples
    --------
    >>> wide = Quantity(0.5, None, limits=(-0.1, 1.1))
    >>> quotient(1.0, wide).value, quotient(1.0, wide).interval
    (2.0, (nan, nan))
    """
    return _joined(_divided, a, b, _between_quotients)


def _divided(a: Any, b: Any) -> Any:
    return np.nan if isinstance(a, float) and isinstance(b, float) and not b else a / b


def _between_quotients(one: Ends, other: Ends) -> Ends:
    """Divide two intervals; by one that holds 0 anything may come out."""
    if other[0] <= 0 <= other[1]:
        return np.nan, np.nan
    return _extremes_of(operator.truediv)(one, other)


def _extremes_of(combine: Callable[[float, float], float]) -> Callable[[Ends, Ends], Ends]:
    def ends(one: Ends, other: Ends) -> Ends:
        values = [combine(a, b) for a in one for b in other]
        if np.isnan(values).any():
            return np.nan, np.nan
        return min(values), max(values)

    return ends


def _add(a: Any, b: Any) -> Any:
    return _by_draw(np.add, a, b) if isinstance(a, Quantity) else a + b


def _multiply(a: Any, b: Any) -> Any:
    return _by_draw(np.multiply, a, b) if isinstance(a, Quantity) else a * b


def _by_draw(combine: Callable[..., Any], a: Quantity, b: Quantity) -> Quantity:
    return Quantity(float(combine(a.value, b.value)), combine(_drawn(a), _drawn(b)))


def independent(sign: str, a: Quantity | float, b: Quantity | float) -> Quantity:
    """Join two quantities whose errors are independent, by ``+``, ``-``, ``*`` or ``/``.

    Errors of sums add up as squares; those of products as squares in logarithms.

    Examples
    --------
    >>> a, b = (Quantity(v, None, limits=(v - 0.3, v + 0.3)) for v in (2.0, 1.0))
    >>> gap = independent("-", a, b)
    >>> gap.value, [round(end, 3) for end in gap.interval]
    (1.0, [0.576, 1.424])
    """
    joined = {"+": total, "-": difference, "*": product, "/": quotient}
    if sign not in joined:
        raise ConfigError(f"independent(...) joins numbers by {' '.join(joined)}")
    one, other = as_quantity(a), as_quantity(b)
    value = float(joined[sign](one.value, other.value))
    ends = np.array([one.interval, other.interval])
    if sign in "+-":
        half = float(np.hypot(*(np.diff(ends).ravel() / 2)))
        return Quantity(value, None, limits=(value - half, value + half))
    error = np.exp(np.hypot(*(np.diff(np.log(ends)).ravel() / 2)))
    return Quantity(value, None, limits=(value / error, value * error))


def part(part: Quantity, whole: Quantity) -> Quantity:
    """Divide a part by its whole; what is not surely above 0 has no parts.

    Examples
    --------
    >>> draws = np.array([0.9, 1.1])
    >>> round(part(Quantity(0.1, 0.1 * draws), Quantity(0.2, 0.2 * draws)).value, 6)
    0.5
    >>> part(Quantity(0.1, 0.1 * draws), Quantity(0.0, draws - 1)).value
    nan
    """
    if whole.interval[0] > 0:
        return part / whole
    return Quantity(np.nan, np.array([np.nan]))


def mean(quantities: Iterable[Quantity]) -> Quantity:
    """Average several quantities, draw by draw; without draws, the ends of their intervals.

    Examples
    --------
    >>> turned, open_ = (Quantity(-1.0, None, limits=(-1.0, end)) for end in (-1.0, 1.0))
    >>> mean([turned, open_]).interval
    (-1.0, 0.0)
    """
    members = list(quantities)
    value = float(np.mean([quantity.value for quantity in members]))
    if all(quantity.replicates is None for quantity in members):
        low, high = np.mean([quantity.interval for quantity in members], axis=0).tolist()
        return Quantity(value, None, limits=(low, high))
    return Quantity(value, np.array([_drawn(quantity) for quantity in members]).mean(axis=0))


def extreme(quantities: Mapping[_Name, Quantity], *, largest: bool) -> tuple[_Name, Quantity]:
    """Take the largest or smallest of several quantities.

    Examples
    --------
    >>> a, b = (Quantity(v, None, limits=l) for v, l in ((0.3, (0.1, 0.5)), (0.2, (0.15, 0.6))))
    >>> name, largest = extreme({"a": a, "b": b}, largest=True)
    >>> name, largest.value, [round(end, 3) for end in largest.interval]
    ('a', 0.3, [0.143, 0.6])
    >>> few = over_worlds([0.2, 0.3, 0.4])
    >>> extreme({"a": few, "b": few}, largest=True)[1].interval[0] < few.interval[0] - 0.1
    True
    """
    choose = max if largest else min
    name = choose(quantities, key=lambda key: quantities[key].value)
    one, every = [], []
    for quantity in quantities.values():
        low, high = quantity.interval
        inner, other = (low, high) if largest else (high, low)
        one.append(quantity.value + _wider(len(quantities), quantity.df) * (inner - quantity.value))
        every.append(other)
    ends = [choose(end) if not np.isnan(end).any() else np.nan for end in (one, every)]
    limits = (ends[0], ends[1]) if largest else (ends[1], ends[0])
    return name, Quantity(quantities[name].value, None, limits=limits)


@cache
def _wider(n_quantities: int, df: int | None) -> float:
    """Tell how much wider than on its own an interval is that is right together with others."""
    alone, together = 0.975, 1 - 0.025 / n_quantities
    if df is None:
        return NormalDist().inv_cdf(together) / NormalDist().inv_cdf(alone)
    return float(stdtrit(df, together) / stdtrit(df, alone))


def one_of(quantity: Quantity, n_quantities: int) -> Quantity:
    """Widen the interval of one of several, so that all are right together with a chance of 95 %.

    Examples
    --------
    >>> one, of_two = over_worlds([0.0, 0.2, 0.4]), one_of(over_worlds([0.0, 0.2, 0.4]), 2)
    >>> [round(float(each.interval[1]), 3) for each in (one, of_two)]
    [0.697, 0.917]
    """
    wider = _wider(n_quantities, quantity.df)
    low, high = (quantity.value + wider * (end - quantity.value) for end in quantity.interval)
    return Quantity(quantity.value, None, limits=(low, high), df=quantity.df)


def median(quantities: Iterable[Quantity]) -> Quantity:
    """Take the median of several quantities; its interval has the medians of their ends.

    Examples
    --------
    >>> several = [Quantity(v, None, limits=(v - 0.1, v + 0.2)) for v in (0.3, 0.5, 0.9)]
    >>> middle = median(several)
    >>> middle.value, middle.interval
    (0.5, (0.4, 0.7))
    """
    members = list(quantities)
    low, high = (float(np.median(end)) for end in zip(*(e.interval for e in members), strict=True))
    return Quantity(
        float(np.median([quantity.value for quantity in members])), None, limits=(low, high)
    )


def spread(quantities: Iterable[Quantity]) -> Quantity:
    """Divide the largest of several quantities by the smallest, as their values have it.

    Examples
    --------
    >>> spread([Quantity(v, np.array([v, 2 * v])) for v in (0.25, 1.0, 0.5)]).value
    4.0
    """
    ascending = sorted(quantities, key=lambda quantity: quantity.value)
    return quotient(ascending[-1], ascending[0])


def deviation(a: Quantity, b: Quantity) -> Quantity:
    """Tell how far `a` is from `b`, relative to `b`.

    Examples
    --------
    >>> a, b = Quantity(0.9, np.array([0.8, 1.1])), Quantity(1.0, np.array([1.0, 1.0]))
    >>> gap = deviation(a, b)
    >>> round(gap.value, 6), [round(end, 6) for end in gap.interval]
    (0.1, [0.0, 0.1925])
    """
    ratio = a / b
    low, high = (end - 1 for end in ratio.interval)
    return folded(Quantity(ratio.value - 1, None, limits=(low, high)))


def in_standard_errors(value: Quantity | pd.Series[float]) -> float:
    """Give the size of a quantity, or of a mean over independent draws, in standard errors.

    Examples
    --------
    >>> round(in_standard_errors(pd.Series([-0.1, -0.2, -0.3])), 3)
    3.464
    >>> round(in_standard_errors(Quantity(-0.5, np.array([-0.6, -0.4, -0.5]))), 3)
    5.0
    >>> in_standard_errors(as_quantity(0.0)), in_standard_errors(as_quantity(0.1))
    (0.0, inf)
    """
    if isinstance(value, Quantity):
        size, error = abs(value.value), standard_error(value)
    else:
        size, error = abs(float(value.mean())), float(value.std(ddof=1)) / len(value) ** 0.5
    if size <= _ROUNDING:
        return 0.0
    return size / error if error else float("inf")


def standard_error(value: Quantity) -> float:
    """Return the standard deviation of the replicates: 0 of an exact number, inf without bounds.

    Examples
    --------
    >>> standard_error(as_quantity(1.0)), standard_error(Quantity(1.0, np.array([1.0, np.inf])))
    (0.0, inf)
    """
    if len(value.drawn) < 2:
        return 0.0
    return float(np.std(value.drawn, ddof=1)) if np.isfinite(value.drawn).all() else float("inf")


def misses(a: Quantity, b: Quantity, noticed: float) -> Quantity:
    """Tell by how many standard errors `a` misses `b`, if these could show a part of `b`.

    An identity in expectation holds within :data:`FAR` standard errors of its sample. That says
    little where so many are more than the part `noticed` of `b`: then the interval goes on to as
    many as that part would be if the sample were large enough, so that the identity stays open.

    Examples
    --------
    >>> b = as_quantity(1.0)
    >>> for a in (1.02, 1.2):
    ...     missed = misses(Quantity(a, a + np.array([-0.01, 0, 0.01])), b, 0.05)
    ...     print(round(missed.value, 6), [round(end, 6) for end in missed.interval])
    2.0 [2.0, 2.0]
    20.0 [20.0, 20.0]
    >>> round(misses(Quantity(1.02, 1.02 + np.array([-0.1, 0, 0.1])), b, 0.05).interval[1], 6)
    18.0
    """
    if not noticed > 0:
        raise ConfigError(f"misses(..., {noticed:g}): the part that is noticed is above 0")
    gap = difference(a, b)
    number, error = in_standard_errors(gap), standard_error(gap)
    needed = FAR * error / (noticed * abs(b.value)) if b.value else float("inf")
    most = max(number, FAR * needed) if needed > 1 else number
    return Quantity(number, None, limits=(number, most))


def folded(signed: Quantity) -> Quantity:
    """Take a quantity without its sign; its interval is folded, from 0 where it has 0 inside.

    Examples
    --------
    >>> size = folded(Quantity(-0.2, None, limits=(-0.5, 0.1)))
    >>> size.value, size.interval
    (0.2, (0.0, 0.5))
    """
    low, high = signed.interval
    inner = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    limits = (inner, max(abs(low), abs(high)))
    return Quantity(abs(signed.value), None, limits=limits, df=signed.df)


def lead(values: Mapping[str, Quantity], group: Sequence[str]) -> tuple[str, Quantity]:
    """Tell by how much the worst of some systems is ahead of the best of all others.

    Examples
    --------
    >>> values = {name: Quantity(v, np.array([v, v])) for name, v in (("a", 3), ("b", 2), ("c", 1))}
    >>> pair, gap = lead(values, ["a", "b"])
    >>> pair, gap.value
    ('b over c', 1)
    """
    others = [name for name in values if name not in group]
    if not group or not others:
        raise ConfigError("a lead is of some systems over others: name some, and not all")
    steps = {f"{a} over {b}": values[a] - values[b] for a in group for b in others}
    return extreme(steps, largest=False)


def slope(course: Mapping[int, Quantity] | Mapping[float, Quantity]) -> Quantity:
    """Fit the slope of a quantity along an axis by least squares, both in logarithms.

    Examples
    --------
    >>> exponent = slope({x: Quantity(2 / x, np.array([2 / x, 4 / x])) for x in (1, 2, 4)})
    >>> round(exponent.value, 6), exponent.replicates.round(6).tolist()
    (-1.0, [-1.0, -1.0])
    """
    values, drawn = _arrays(list(course.values()))
    x = np.log(list(course))
    x = (x - x.mean()) / np.square(x - x.mean()).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return Quantity(float(x @ np.log(values)), x @ np.log(drawn))


def over_worlds(values: npt.ArrayLike) -> Quantity:
    """Average what was found in independent worlds.

    Examples
    --------
    >>> mean = over_worlds([0.0, 0.2, 0.4])
    >>> round(mean.value, 3), [round(end, 3) for end in mean.interval]
    (0.2, [-0.297, 0.697])
    """
    of_worlds = np.asarray(values, dtype=np.float64)
    if len(of_worlds) < 2:
        raise ConfigError(f"{len(of_worlds)} world: an interval over worlds needs two at least")
    half = float(
        stdtrit(len(of_worlds) - 1, 0.975) * of_worlds.std(ddof=1) / np.sqrt(len(of_worlds))
    )
    mean = float(of_worlds.mean())
    return Quantity(mean, None, limits=(mean - half, mean + half), df=len(of_worlds) - 1)


def _line(course: Mapping[int, Quantity]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return places less their mean, and values and replicates by place, shape (n_places, ...)."""
    values, drawn = _arrays(list(course.values()))
    x = np.array(list(course), dtype=np.float64)
    return x - x.mean(), values[:, None], drawn


def rise(course: Mapping[int, Quantity]) -> Quantity:
    """Fit a straight line through a quantity along an axis, and tell how much it rises from 0.

    Examples
    --------
    >>> risen = rise({x: Quantity(1 + 2 * x, np.array([1 + 2 * x, x])) for x in (10, 50, 100)})
    >>> round(risen.value, 3), risen.replicates.round(3).tolist()
    (0.995, [0.995, 1.0])
    """
    x, values, drawn = _line(course)
    last = list(course)[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        of_values, of_drawn = (last * (x @ y) / np.square(x).sum() / y[-1] for y in (values, drawn))
    return Quantity(float(of_values[0]), of_drawn)


def straightness(course: Mapping[int, Quantity]) -> Quantity:
    """Tell which share of a quantity's variance along an axis a straight line explains.

    Examples
    --------
    >>> noise = np.array([-0.1, 0.1])
    >>> share = straightness({x: Quantity(x**2, x**2 + noise) for x in (1, 2, 3)})
    >>> round(share.value, 3), [round(end, 3) for end in share.interval]
    (0.98, [0.98, 0.98])
    >>> noisy = {x: Quantity(x**2, x**2 + (-1) ** x * 9 * noise) for x in (1, 2, 3)}
    >>> straightness(noisy).interval[1]
    1.0
    """
    x, values, drawn = _line(course)
    explained, distances = [], []
    with np.errstate(divide="ignore", invalid="ignore"):
        for measured in (values, drawn):
            y = measured - measured.mean(axis=0)
            distances.append(y - np.outer(x, x @ y) / np.square(x).sum())
            explained.append(np.square(x @ y) / np.square(x).sum() / np.square(y).sum(axis=0))
    low, high = Quantity(float(explained[0][0]), explained[1]).interval
    if not resolved_signs(distances[0][:, 0], distances[1]).any():
        high = 1.0
    return Quantity(float(explained[0][0]), None, limits=(low, high))


def order_tau(a: Sequence[Quantity], b: Sequence[Quantity]) -> Quantity:
    """Compute Kendall's tau between two orders of the same systems."""
    (x, x_drawn), (y, y_drawn) = _arrays(a), _arrays(b)
    low, high = tau_interval(x, y, x_drawn, y_drawn)
    return Quantity(float(kendall_tau(x, y)), None, limits=(low, high))


def order_taus(
    a: Sequence[Quantity], b: Sequence[Quantity], choices: Sequence[Sequence[int]]
) -> list[Quantity]:
    """Compute `order_tau` among each of several choices of the systems."""
    (x, x_drawn), (y, y_drawn) = _arrays(a), _arrays(b)
    intervals = tau_intervals(x, y, x_drawn, y_drawn, choices)
    return [
        Quantity(float(kendall_tau(x[[*chosen]], y[[*chosen]])), None, limits=(low, high))
        for chosen, (low, high) in zip(choices, intervals.tolist(), strict=True)
    ]


def opposed_pairs(a: Sequence[Quantity], b: Sequence[Quantity]) -> Quantity:
    """Count the pairs of systems that two quantities order in opposite ways."""
    (x, x_drawn), (y, y_drawn) = _arrays(a), _arrays(b)
    surely = float(len(agreement.opposed_pairs(x, y, x_drawn, y_drawn)))
    # Turned round, the opposed pairs are those that surely agree; all others may be opposed.
    agreeing = len(agreement.opposed_pairs(x, -y, x_drawn, -y_drawn))
    possibly = float(len(a) * (len(a) - 1) // 2 - agreeing)
    return Quantity(surely, None, limits=(surely, possibly))


def reversed_pairs(a: Sequence[Quantity], b: Sequence[Quantity]) -> Quantity:
    """Count the pairs of systems that one quantity resolves and another orders the other way.

    Examples
    --------
    The first is clearly ahead of the second by `a`; by `b` it may be behind.

    >>> a = [Quantity(v, v + np.array([-0.1, 0.1, 0.0])) for v in (3.0, 1.0)]
    >>> b = [Quantity(2.0, np.array([3.0, 1.0, 2.0])), Quantity(1.9, np.array([1.9, 1.9, 1.9]))]
    >>> reversals = reversed_pairs(a, b)
    >>> reversals.value, reversals.interval
    (0.0, (0.0, 1.0))
    """
    signs = []
    for quantities in (a, b):
        values, drawn = _arrays(quantities)
        first, second = np.triu_indices(len(values), k=1)
        signs.append(resolved_signs(values[first] - values[second], drawn[first] - drawn[second]))
    before, after = signs
    surely = float(np.count_nonzero(before * after < 0))
    possibly = float(np.count_nonzero((before != 0) & (before != after)))
    return Quantity(surely, None, limits=(surely, possibly))


def surely_above(differences: Sequence[Quantity]) -> Quantity:
    """Count the differences above 0; the interval is what their signs, found together, allow.

    Examples
    --------
    >>> surely_above([Quantity(v, np.array([v - 1, v, v + 1])) for v in (9, 0.1, -9)]).interval
    (1.0, 2.0)
    """
    values = np.array([difference.value for difference in differences])
    signs = resolved_signs(values, np.array([difference.drawn for difference in differences]))
    limits = (float(np.count_nonzero(signs > 0)), float(np.count_nonzero(signs >= 0)))
    return Quantity(float(np.count_nonzero(values > 0)), None, limits=limits)


def distinct_pairs(a: Sequence[Quantity]) -> Quantity:
    """Count the pairs of systems between which a quantity differs."""
    values, drawn = _arrays(a)
    first, second = np.triu_indices(len(values), k=1)
    difference, replicates = values[first] - values[second], drawn[first] - drawn[second]
    surely = int(np.count_nonzero(resolved_signs(difference, replicates)))
    possibly = int(np.count_nonzero((difference != 0) | (replicates != 0).any(axis=1)))
    return Quantity(float(surely), None, limits=(float(surely), float(possibly)))


def share_of_orders(quantities: Mapping[str, Quantity], chain: Sequence[Sequence[str]]) -> Quantity:
    """Compute in what share of combinations of settings an order holds."""
    names = {name: number for number, name in enumerate(quantities)}
    values, drawn = _arrays(list(quantities.values()))
    orders = np.array([[names[name] for name in order] for order in every_combination(*chain)])
    share = float((np.diff(values[orders], axis=1) < 0).all(axis=1).mean())
    return Quantity(share, None, limits=share_interval(values, drawn, orders))


def largest_p(
    tests: pd.DataFrame, label: str, metric: str, unit: str, *, systems: Sequence[str]
) -> float:
    """Find the largest Wilcoxon p among all pairs of some systems."""
    rows = tests[(tests["label"] == label) & (tests["metric"] == metric) & (tests["unit"] == unit)]
    rows = rows[rows["a"].isin(systems) & rows["b"].isin(systems)]
    n_pairs = len(systems) * (len(systems) - 1) // 2
    if len(rows) != n_pairs:
        raise ConfigError(
            f"{len(rows)} of {n_pairs} pairs were tested in {metric} under {label!r} per {unit}"
        )
    return float(rows["wilcoxon_p"].max(skipna=False))


class Flip(NamedTuple):
    """A pair of systems of which one wins per run and the other per user.

    Attributes
    ----------
    per_run, per_user
        The winner by either unit.
    p
        The larger of the two Wilcoxon p.
    """

    per_run: str
    per_user: str
    p: float


def flipped_pairs(
    tests: pd.DataFrame, label: str, metric: str, *, systems: Sequence[str]
) -> tuple[list[Flip], int]:
    """Find the pairs of systems whose paired tests have another winner per run than per user."""
    rows = tests[(tests["label"] == label) & (tests["metric"] == metric)]
    rows = rows[rows["a"].isin(systems) & rows["b"].isin(systems)].set_index(["a", "b"])
    user, run = (rows[rows["unit"] == unit].sort_index() for unit in ("user", "run"))
    n_pairs = len(systems) * (len(systems) - 1) // 2
    if not len(user) == len(run) == n_pairs:
        raise ConfigError(
            f"{len(user)} and {len(run)} of {n_pairs} pairs were tested in {metric} under "
            f"{label!r} per user and per run"
        )
    columns = ["difference", "wilcoxon_p", "wilcoxon_p_holm"]
    by_user, by_run = (rows[columns].to_numpy(dtype=np.float64) for rows in (user, run))
    flips, agreed = [], 0
    for (a, b), (d_user, p_user, holm_user), (d_run, p_run, holm_run) in zip(
        user.index.tolist(), by_user.tolist(), by_run.tolist(), strict=True
    ):
        if not (holm_user < 0.05 and holm_run < 0.05):
            continue
        if d_user * d_run > 0:
            agreed += 1
        elif d_user * d_run < 0:
            winners = (a, b) if d_run > 0 else (b, a)
            flips.append(Flip(*winners, max(p_user, p_run)))
    return sorted(flips, key=lambda flip: flip.p), n_pairs - agreed
