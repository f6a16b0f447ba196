"""Differences between a stored result and a fresh one, number by number.

A difference is told in units of a *bound*: what rounding on another processor may make of the
number. Bounds follow from the fresh result alone; a stored one could claim any uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from recbias.results import Agreement

__all__ = [
    "Bound",
    "agreement",
    "compare_arrays",
    "compare_frames",
    "deviations",
    "relative_bound",
]

Bound = Callable[[str, pd.DataFrame], npt.ArrayLike]
"""Called with the name of a column and fresh rows; gives the bound of each number, or of all."""

_TURN, _SIDE = "which of the rows of one name", "which frame has the row"
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
    return np.where(np.isnan(p), np.nan, -ndtri(np.clip(p, 1e-300, 1.0) / 2))


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
    0  (Popularity,)  value    0.000001       2.0
    1      (Random,)  value         inf       inf
    """
    lead = (name,) if name else ()
    found_kinds, kinds = (
        {each: _is_number(frame[each]) for each in frame.columns} for frame in (stored, fresh)
    )
    if index is None:
        index = [each for each, is_number in kinds.items() if not is_number]
    changed = {each for each in {*found_kinds, *kinds} if found_kinds.get(each) != kinds.get(each)}
    if changed:
        named = ", ".join(sorted(changed))
        return pd.DataFrame([((*lead, "columns"), named, np.inf, np.inf)], columns=_COLUMNS)
    pairs = _numbered(stored, index).merge(
        _numbered(fresh, index),
        on=[*index, _TURN],
        how="outer",
        suffixes=("", "'"),
        indicator=_SIDE,
    )
    both = (pairs[_SIDE] == "both").to_numpy()
    names = [(*lead, *map(str, row)) for row in pairs[list(index)].itertuples(False, None)]
    others = [each for each in fresh.columns if each not in index]
    rows = pairs[[f"{each}'" for each in others]].set_axis(others, axis=1)
    found = []
    for column in others:
        old, new = pairs[column], rows[column]
        same = both & ((old == new) | (old.isna() & new.isna())).to_numpy(dtype=bool)
        difference = np.full(len(pairs), np.inf)
        limits = np.zeros(len(pairs))
        if fresh[column].dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                distance = (old.astype(float) - new).abs().to_numpy()
            difference = np.where(both & ~np.isnan(distance), distance, np.inf)
            limits = np.broadcast_to(np.asarray(bound(column, rows), dtype=float), len(pairs))
        found.append(_lines(names, column, np.where(same, 0.0, difference), limits))
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_COLUMNS)


def compare_arrays(
    row: tuple[str, ...],
    column: str,
    stored: npt.NDArray[np.floating] | None,
    fresh: npt.NDArray[np.floating] | None,
    bound: npt.ArrayLike,
) -> pd.DataFrame:
    """Compare all numbers of one name as one: the largest difference counts.

    Parameters
    ----------
    row, column
        What it is called.
    stored, fresh : ndarray of float or None
        What is there, and what should be; None stands for nothing.
    bound
        Of each number, or of all.

    Returns
    -------
    DataFrame
        One line, as of :func:`compare_frames`; without bound if shapes differ.
    """
    if stored is None or fresh is None or stored.shape != fresh.shape:
        missing = stored is fresh  # nothing on both sides
        return _lines([row], column, np.array([0.0 if missing else np.inf]), np.zeros(1))
    with np.errstate(invalid="ignore"):
        difference = np.abs(stored - fresh)
    same = (stored == fresh) | (np.isnan(stored) & np.isnan(fresh))
    difference = np.where(same, 0.0, np.where(np.isnan(difference), np.inf, difference))
    lines = _lines([row] * difference.size, column, difference.ravel(), np.ravel(bound))
    largest = lines[["difference", "of_bound"]].max().fillna(0.0)
    return pd.DataFrame([(row, column, *largest)], columns=_COLUMNS)


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
    columns: dict[tuple[str, ...], list[str]] = {}
    for row, column in zip(beyond["row"], beyond["column"], strict=True):
        columns.setdefault(row, []).append(column)
    return Agreement(
        len(found),
        float(found["difference"].max()) if len(found) else 0.0,
        float(found["of_bound"].max()) if len(found) else 0.0,
        tuple(": ".join(filter(None, (" ".join(row), ", ".join(columns[row])))) for row in columns),
        about,
        apart,
    )


def _is_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


def _numbered(frame: pd.DataFrame, index: Sequence[str]) -> pd.DataFrame:
    """Add to each row its number among those of its name."""
    turns = frame.groupby(list(index), dropna=False).cumcount() if len(index) else range(len(frame))
    return frame.assign(**{_TURN: turns})


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
