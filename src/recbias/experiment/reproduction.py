"""Differences between a stored result and a fresh one, number by number.

A difference is told in units of a *bound*: what rounding on another processor may make of the
number. Bounds follow from the fresh result alone; a stored one could claim any uncertainty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from recbias.experiment.results import Agreement
from recbias.stats.comparison import holm

__all__ = [
    "WIDER",
    "Bound",
    "agreement",
    "comparable_rows",
    "compare_arrays",
    "compare_corrections",
    "compare_frames",
    "deviations",
    "farthest",
    "hundredth_bound",
    "relative_bound",
]

Bound = Callable[[str, pd.DataFrame], npt.ArrayLike]
"""Called with the name of a column and fresh rows; gives the bound of each number, or of all."""

_COLUMNS = ["row", "column", "difference", "of_bound"]


def relative_bound(part: float, least: float) -> Bound:
    """Allow a part of each fresh number, and no less than something absolute.

    Examples
    --------
    >>> relative_bound(1e-6, 1e-12)("value", pd.DataFrame({"value": [0.0, -2.0]})).tolist()
    [1e-12, 2e-06]
    """
    return lambda column, rows: np.maximum(least, part * rows[column].abs().fillna(0))


def deviations(p_values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Tell how many standard errors from zero two-sided p values stand for.

    Parameters
    ----------
    p_values : array_like of float
        NaN stays.

    Returns
    -------
    ndarray of float64, same shape
        At most 37: all p values below 1e-300 are one, so that what comes close to the smallest
        number of the machine does not count.

    Examples
    --------
    >>> print(deviations([1.0, 0.05, 0.0]).round(2))
    [ 0.    1.96 37.07]
    """
    p = np.asarray(p_values, dtype=np.float64)
    return np.abs(ndtri(np.clip(p, 1e-300, 1.0) / 2))


def farthest(errors: float) -> float:
    """Tell how far a number moves that is some standard errors from the mean.

    Two trainings whose resampled values differ by d on average and by a standard deviation of s
    around it have a root mean square of 1 if d**2 + s**2 = 1. Where values are drawn normally, one
    that lies z standard errors from their mean then moves by abs(d) + z s at most, which is
    largest, sqrt(1 + z**2), for s = z d.

    Examples
    --------
    >>> round(farthest(1.96), 3)  # an end of an interval of 95 %
    2.2
    """
    return float(np.hypot(1.0, errors))


def compare_frames(
    stored: pd.DataFrame,
    fresh: pd.DataFrame,
    bound: Bound,
    *,
    index: Sequence[str] | None = None,
    name: str = "",
) -> pd.DataFrame:
    """Compare two tables row by row, whatever the order of their rows.

    Parameters
    ----------
    stored, fresh
        What is there, and what should be.
    bound
        Of the columns of floats. All others have to be equal.
    index
        Columns that name a row; those of texts if not given. Rows of one name are paired in their
        order.
    name
        Of the table, to stand before the names of its rows.

    Returns
    -------
    DataFrame
        A line per number: ``row`` (a tuple of texts), ``column``, ``difference`` and the same in
        units of the bound, ``of_bound``. Both are infinite for what only one table has, for NaN
        beside a number, and for texts, flags and integers that differ.

    Examples
    --------
    >>> fresh = pd.DataFrame({"system": ["Random", "Popularity"], "value": [0.25, 0.5]})
    >>> stored = pd.DataFrame({"system": ["Popularity"], "value": [0.5 + 1e-6]})
    >>> compare_frames(stored, fresh, relative_bound(1e-6, 1e-12)).round(9)
                 row column  difference  of_bound
    0      (Random,)  value         inf       inf
    1  (Popularity,)  value    0.000001       2.0
    """
    if not len(stored) and not len(fresh):
        return pd.DataFrame(columns=_COLUMNS)
    lead = (name,) if name else ()
    found_kinds, kinds = (
        {column: _is_number(frame[column]) for column in frame.columns} for frame in (stored, fresh)
    )
    if index is None:
        index = [column for column, is_number in kinds.items() if not is_number]
    changed = {
        column for column in {*found_kinds, *kinds} if found_kinds.get(column) != kinds.get(column)
    }
    if changed:
        changed_names = ", ".join(sorted(changed))
        return pd.DataFrame([((*lead, "columns"), changed_names, np.inf, np.inf)], columns=_COLUMNS)
    old, new = _places(stored, index), _places(fresh, index)
    names = list(dict.fromkeys([*new, *old]))
    both = np.array([name in old and name in new for name in names])
    paired = [name for name, is_paired in zip(names, both, strict=True) if is_paired]
    left = stored.iloc[[old[name] for name in paired]]
    right = fresh.iloc[[new[name] for name in paired]]
    rows = [(*lead, *map(str, row)) for row, _ in names]
    lines = []
    for column in (label for label in fresh.columns if label not in index):
        difference, limits = np.full(len(names), np.inf), np.zeros(len(names))
        difference[both] = _distance(left[column].to_numpy(), right[column].to_numpy())
        if fresh[column].dtype.kind == "f":
            limits[both] = bound(column, right)
        lines.append(_lines(rows, column, difference, limits))
    return pd.concat(lines, ignore_index=True) if lines else pd.DataFrame(columns=_COLUMNS)


def compare_arrays(
    row: tuple[str, ...],
    column: str,
    stored: npt.NDArray[np.floating] | None,
    fresh: npt.NDArray[np.floating] | None,
    bound: npt.ArrayLike,
    *,
    together: bool = False,
) -> pd.DataFrame:
    """Compare all numbers of one name as one, by the largest difference or the root mean square.

    Results of two trainings that differ by d on average, and from draw to draw by a standard
    deviation of s around it, differ by more in the worst of a thousand draws: d + 3 s. How far
    apart the trainings are is told by the root mean square, which grows with no number of draws.

    Parameters
    ----------
    row, column
        What it is called.
    stored, fresh : ndarray of float or None
        What is there, and what should be; None stands for nothing.
    bound
        Of each number, or of all.
    together
        Hold the bound against the root mean square of the differences, and one difference only
        against what a normal one of that root mean square exceeds with a probability of 1e-9,
        :func:`farthest`: an edit of a single number is noticed all the same.

    Returns
    -------
    DataFrame
        One line, as of :func:`compare_frames`; without bound if shapes differ.

    Examples
    --------
    >>> fresh = np.zeros(1000)
    >>> drawn = np.random.default_rng(1).normal(0.5, 0.5, 1000)
    >>> round(compare_arrays((), "x", drawn, fresh, 1.0)["of_bound"].item(), 2)
    2.38
    >>> round(compare_arrays((), "x", drawn, fresh, 1.0, together=True)["of_bound"].item(), 2)
    0.68
    """
    if stored is None or fresh is None or stored.shape != fresh.shape:
        missing = stored is fresh  # nothing on both sides
        return _lines([row], column, np.array([0.0 if missing else np.inf]), np.zeros(1))
    difference = _distance(stored, fresh)
    lines = _lines([row] * difference.size, column, difference.ravel(), np.ravel(bound))
    largest, of_bound = lines[["difference", "of_bound"]].max().fillna(0.0)
    if together and len(lines):
        n_numbers = max(1, np.count_nonzero(~np.isnan(fresh)))  # NaN on both sides says nothing
        apart = np.sqrt(np.square(lines["of_bound"]).sum() / n_numbers)
        of_bound = max(apart, of_bound / farthest(deviations(1e-9).item()))
    return pd.DataFrame([(row, column, largest, of_bound)], columns=_COLUMNS)


def agreement(
    found: pd.DataFrame, *, about: str = "", apart: tuple[Agreement, ...] = ()
) -> Agreement:
    """Summarise lines of :func:`compare_frames`.

    Parameters
    ----------
    found
        The lines.
    about, apart
        As of the summary.

    Examples
    --------
    >>> fresh = pd.DataFrame({"system": ["Random"], "value": [0.25], "se": [0.01]})
    >>> agreement(compare_frames(fresh.assign(value=0.3), fresh, relative_bound(1e-6, 1e-12)))[3]
    ('Random: value',)
    """
    beyond = found[~(found["of_bound"] <= 1)]
    return Agreement(
        len(found),
        float(found["difference"].max()) if len(found) else 0.0,
        float(found["of_bound"].max()) if len(found) else 0.0,
        _named(beyond),
        about,
        apart,
        _named(beyond[~np.isfinite(beyond["difference"].astype(float))]),
    )


def _named(lines: pd.DataFrame) -> tuple[str, ...]:
    """Name the rows of lines, each with its columns."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for row, column in zip(lines["row"], lines["column"], strict=True):
        columns.setdefault(row, []).append(column)
    return tuple(
        ": ".join(filter(None, (" ".join(row), ", ".join(columns[row])))) for row in columns
    )


def _is_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


def _places(frame: pd.DataFrame, index: Sequence[str]) -> dict[tuple[tuple[Any, ...], int], int]:
    """Tell where a row is by its name, and its number among those of that name."""
    rows = zip(*(frame[column] for column in index), strict=True) if index else [()] * len(frame)
    places: dict[tuple[tuple[Any, ...], int], int] = {}
    turns: Counter[tuple[Any, ...]] = Counter()
    for place, row in enumerate(rows):
        places[row, turns[row]] = place
        turns[row] += 1
    return places


def _distance(stored: npt.NDArray[Any], fresh: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Subtract numbers; what is not equal is far apart if it is text, a flag, an integer or NaN."""
    same = (stored == fresh) | (pd.isna(stored) & pd.isna(fresh))
    difference = np.full(fresh.shape, np.inf)
    if fresh.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            difference = np.abs(stored.astype(np.float64) - fresh)
    return np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))


def _lines(
    names: Sequence[tuple[str, ...]],
    column: str,
    difference: npt.NDArray[np.float64],
    limits: npt.NDArray[np.float64],
) -> pd.DataFrame:
    """Lay differences out, each in units of its bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_bound = np.where(difference == 0, 0.0, difference / limits)
    lines = {"row": list(names), "column": column, "difference": difference, "of_bound": of_bound}
    return pd.DataFrame(lines)


WIDER = 30
"""Times the usual bound for systems that are known to depend on the processor. With the kernels of
OpenBLAS for AVX2 and for SSE instead of those for AVX-512, ALS of implicit moved by at most 9 times
the usual bound on MovieLens 100K and Coat, and by 25 on FilmTrust, latest-small and CM100k."""

_NAMES_OF_SYSTEMS = ["system", "a", "b"]


def comparable_rows(frame: pd.DataFrame, chosen: set[str]) -> pd.DataFrame:
    """Take the rows about chosen systems alone; put p values on the scale of standard errors.

    Parameters
    ----------
    frame
        A table of results; columns ``system``, ``a`` and ``b`` name systems.
    chosen
        The systems whose rows stay.

    Returns
    -------
    DataFrame
        Without corrected p values, which depend on the systems that were left out.
    """
    rows = np.ones(len(frame), dtype=bool)
    for column in frame.columns.intersection(_NAMES_OF_SYSTEMS):
        rows &= frame[column].isin(chosen).to_numpy()
    p_values = {name: deviations(frame[name]) for name in frame.columns if name.endswith("_p")}
    corrections = [name for name in frame.columns if name.endswith("_p_holm")]
    return frame.assign(**p_values).drop(columns=corrections)[rows].reset_index(drop=True)


def hundredth_bound(column: str, rows: pd.DataFrame, *, wide: set[str]) -> npt.NDArray[np.float64]:
    """Give a hundredth of the standard error of each number, or more, and at least 1e-9.

    Parameters
    ----------
    column, rows
        As of every :data:`Bound`.
    wide
        Systems that get :data:`WIDER` times as much: another training, of which ends of intervals
        move :func:`farther <farthest>` than values.
    """
    error = np.zeros(len(rows))
    if column.endswith("_p"):
        error = np.ones(len(rows))  # on the scale of `deviations`
    elif "se" in rows:
        error = rows["se"].fillna(0).to_numpy()
    elif {"low", "high"} <= set(rows.columns):
        error = ((rows["high"] - rows["low"]) / (2 * 1.96)).fillna(0).to_numpy()
    system_names = rows[rows.columns.intersection(_NAMES_OF_SYSTEMS)]
    wider = WIDER * (farthest(1.96) if column in ("low", "high") else 1.0)
    return np.where(system_names.isin(wide).any(axis=1), wider, 1) * np.maximum(1e-9, 0.01 * error)


def compare_corrections(tests: pd.DataFrame) -> pd.DataFrame:
    """Compare corrections for the number of pairs with those of the p values beside them.

    Parameters
    ----------
    tests
        The tests of results, as :class:`recbias.experiment.run.Results` has them.

    Returns
    -------
    DataFrame
        A line per number, as of :func:`compare_frames`.
    """
    corrected = tests.copy()
    names = [name for name in tests.columns if f"{name}_holm" in tests.columns]
    family = tests.columns.intersection(["label", "metric", "unit"]).tolist()
    for name in names:
        p_values = tests.groupby(family, sort=False)[name]
        corrected[f"{name}_holm"] = p_values.transform(lambda family_p: holm(family_p.to_numpy()))
    corrections = [f"{name}_holm" for name in names]
    columns = [*family, *tests.columns.intersection(_NAMES_OF_SYSTEMS), *corrections]
    bound = relative_bound(1e-9, 1e-300)
    return compare_frames(tests[columns], corrected[columns], bound, name="tests")
