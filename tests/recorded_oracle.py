"""Recorded numbers that follow from other recorded numbers, computed again with no code of ours.

`recbias verify` calls the functions that computed what is recorded, so that an error of theirs,
such as a correction left out, agrees with itself. Here files are read as JSON and Parquet, and what
follows from what stands beside it is computed by numpy, scipy and plain loops: corrected p values
from p values, p values from differences and their intervals, intervals and standard errors from
replicates, differences from values, and how a tau lies among its pairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import scipy.special

FloatArray = npt.NDArray[np.float64]

NORMAL = ("Gini", "Hoover", "Entropy", "CI|JS", "LTI", "LTI|percentile")
"""Metrics whose interval is the value and 1.96 standard deviations on either side."""
WITHOUT = ("Coverage", "Diversity", "CI", "M")
"""Metrics without an interval."""

KEPT = 2.0**-16
"""Replicates are kept with 16 binary digits: each is wrong by at most this share of itself."""


def columns_of(table: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Read the columns of a stored table; what is missing is NaN."""
    read = {}
    for name, values in table["columns"].items():
        if table["dtypes"][name] == "str":
            read[name] = np.array(values, dtype=object)
        else:
            read[name] = np.array([np.nan if v is None else v for v in values], dtype=np.float64)
    return read


def replicates_of(path: Path) -> dict[int, FloatArray]:
    """Read the replicates beside a document, by row of its values."""
    table = pq.read_table(path)
    drawn = np.asarray(table["replicates"].drop_null(), dtype=np.float64)
    if "rows" not in table.column_names:
        return dict(enumerate(drawn.reshape(-1, 1000)))
    rows = np.asarray(table["rows"].drop_null(), dtype=np.int64)
    return dict(zip(rows.tolist(), drawn.reshape(len(rows), -1), strict=True))


def names_of(parameters: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Name the rows of a grid's values: system, label, metric."""
    return [
        (system["name"], label, metric)
        for system in parameters["systems"]
        for label, metrics in parameters["metrics"].items()
        for metric in metrics
    ]


def percentile(ordered: FloatArray, share: float) -> float:
    """Read a percentile off sorted numbers, on the line between the two nearest."""
    place = share * (len(ordered) - 1)
    below = min(int(place), len(ordered) - 2)
    return float(ordered[below] + (place - below) * (ordered[below + 1] - ordered[below]))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct by Holm: the smallest p times n, the next times n - 1; none below one before it."""
    corrected, largest = [0.0] * len(p_values), 0.0
    by_size = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank, place in enumerate(by_size):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected


def is_far(found: float, expected: float, allowed: float) -> bool:
    """Tell whether two numbers differ by more than allowed, or only one of them is there."""
    if np.isnan(found) or np.isnan(expected):
        return bool(np.isnan(found) != np.isnan(expected))
    return not abs(found - expected) <= allowed


def wrong_intervals(document: dict[str, Any], drawn: dict[int, FloatArray]) -> Iterator[str]:
    """Tell which intervals and errors of a grid do not follow from the replicates beside them."""
    values = columns_of(document["body"]["values"])
    names = names_of(document["parameters"])
    for row, metric in ((row, name[2]) for row, name in enumerate(names)):
        low, high, value = (float(values[name][row]) for name in ("low", "high", "value"))
        base = re.sub(r"\([^)]*\)|@\d+", "", metric)
        if base in WITHOUT:
            if not (np.isnan(low) and np.isnan(high)):
                yield f"{names[row]}: an interval of a metric that has none"
            continue
        if row not in drawn:
            continue
        replicates = drawn[row]
        if np.isnan(replicates).any():
            expected = (np.nan, np.nan)
        elif base in NORMAL:
            half = scipy.special.ndtri(0.975) * replicates.std(ddof=1)
            expected = (value - half, value + half)
        else:
            ordered = np.sort(replicates)
            expected = (percentile(ordered, 0.025), percentile(ordered, 0.975))
        rounding = KEPT * float(np.abs(replicates).max())
        for end, found, follows in zip(("low", "high"), (low, high), expected, strict=True):
            if is_far(found, follows, 2 * rounding):
                yield f"{names[row]}: {end} is {found}, from replicates {follows}"
        error, spread = float(values["se"][row]), float(replicates.std(ddof=1))
        if is_far(error, spread, rounding):
            yield f"{names[row]}: se is {error}, from replicates {spread}"


def wrong_tests(document: dict[str, Any]) -> Iterator[str]:
    """Tell which tests of pairs do not follow from each other or from the values."""
    table = document["body"]["tests"]
    if not table["columns"]:
        return
    tests = columns_of(table)
    values = columns_of(document["body"]["values"])["value"]
    value_of = dict(zip(names_of(document["parameters"]), values.tolist(), strict=True))
    family = list(zip(tests["label"], tests["metric"], tests["unit"], strict=True))
    for name in dict.fromkeys(family):
        rows = [row for row, of in enumerate(family) if of == name]
        for test in ("t_p", "wilcoxon_p"):
            corrected = holm([float(tests[test][row]) for row in rows])
            for row, expected in zip(rows, corrected, strict=True):
                found = float(tests[f"{test}_holm"][row])
                if is_far(found, expected, 1e-12 * expected):
                    yield f"{name}, row {row}: {test}_holm is {found}, by Holm {expected}"
        yield from wrong_signs(name, tests, rows, value_of)
    for row, name in enumerate(family):
        of = (float(tests[part][row]) for part in ("difference", "low", "high", "n", "t_p"))
        yield from wrong_t(f"{name}, row {row}", *of)


def wrong_signs(
    name: tuple[str, str, str],
    tests: dict[str, npt.NDArray[Any]],
    rows: list[int],
    value_of: dict[tuple[str, str, str], float],
) -> Iterator[str]:
    """Tell whether differences of pairs are those of one number for each system, and which way.

    Users' values are averaged over folds or runs in tests, and weighed in values: these numbers
    need not be the values, but systems whose values are higher have higher ones on the whole.
    """
    label, metric, _ = name
    pairs = [(tests["a"][row], tests["b"][row], float(tests["difference"][row])) for row in rows]
    first = pairs[0][0]
    number = {first: 0.0, **{b: -difference for a, b, difference in pairs if a == first}}
    largest = max(abs(difference) for _, _, difference in pairs)
    for row, (a, b, difference) in zip(rows, pairs, strict=True):
        if is_far(difference, number[a] - number[b], 1e-12 + 1e-9 * largest):
            yield f"{name}, row {row}: difference of {a} and {b} is {difference}, by others not"
    gaps = [value_of[a, label, metric] - value_of[b, label, metric] for a, b, _ in pairs]
    if float(np.dot(gaps, [difference for _, _, difference in pairs])) < 0:
        yield f"{name}: differences go the other way than the values"


def wrong_t(
    where: str, difference: float, low: float, high: float, n: float, p: float
) -> Iterator[str]:
    """Tell whether a t interval lies around its difference, and p is that of the same test."""
    half = (high - low) / 2
    if half == 0:  # all users alike
        return
    if is_far(difference, (low + high) / 2, 1e-9 * half):
        yield f"{where}: {difference} is not in the middle of {low} to {high}"
    t = abs(difference) / half * scipy.special.stdtrit(n - 1, 0.975)
    expected = 2 * scipy.special.stdtr(n - 1, -t)
    # Far out p loses as many digits as its logarithm has more than t.
    if is_far(p, expected, max(1e-300, 1e-6 * expected)):
        yield f"{where}: t_p is {p}, from the interval {expected}"


def wrong_table(document: dict[str, Any]) -> Iterator[str]:
    """Tell which rows of a table do not follow from each other."""
    table = columns_of(document["body"]["frame"])
    if "p_holm" in table:
        family = list(zip(table["fill"], table["metric"], strict=True))
        for name in dict.fromkeys(family):
            rows = [row for row, of in enumerate(family) if of == name]
            corrected = holm([float(table["p"][row]) for row in rows])
            for row, expected in zip(rows, corrected, strict=True):
                if is_far(float(table["p_holm"][row]), expected, 1e-12 * expected):
                    yield f"row {row}: p_holm is {table['p_holm'][row]}, by Holm {expected}"
        for row in range(len(family)):
            of = (float(table[name][row]) for name in ("value", "low", "high", "n", "p"))
            yield from wrong_t(f"row {row}", *of)
    if {"knn", "mf"} <= table.keys():
        for row, gap in enumerate(table["knn"] - table["mf"]):
            if is_far(float(table["value"][row]), float(gap), 1e-9):
                yield f"row {row}: value is {table['value'][row]}, kNN minus MF {gap}"
    if {"pairs", "kept", "turned", "right", "resolved"} <= table.keys():
        yield from wrong_orders(table)


def wrong_orders(table: dict[str, npt.NDArray[Any]]) -> Iterator[str]:
    """Tell which taus cannot be those of their pairs, of which some are kept and some turned."""
    for row, tau in enumerate(table["value"].tolist()):
        pairs, kept, turned = (float(table[name][row]) for name in ("pairs", "kept", "turned"))
        resolved, right = float(table["resolved"][row]), float(table["right"][row])
        # Of two orders without ties, tau is (agreeing - others) / pairs; those pairs that are
        # decided count for it or against it, and of the right ones among the resolved as well.
        least = (2 * max(kept, right) - pairs) / pairs
        most = (pairs - 2 * max(turned, resolved - right)) / pairs
        low, high = float(table["low"][row]), float(table["high"][row])
        if not (least - 1e-9 <= tau <= most + 1e-9 and low <= tau <= high):
            yield f"row {row}: tau is {tau}, its pairs allow {least} to {most}, {low} to {high}"


def wrong_numbers(document: dict[str, Any], drawn: dict[int, FloatArray]) -> list[str]:
    """Tell what does not follow in a document of any kind."""
    if document["kind"] == "grid":
        return [*wrong_intervals(document, drawn), *wrong_tests(document)]
    return list(wrong_table(document)) if document["kind"] == "table" else []


def read(path: Path) -> tuple[dict[str, Any], dict[int, FloatArray]]:
    """Read a document, and the replicates of a grid beside it."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    beside = path.with_suffix(".parquet")
    has_drawn = document["kind"] == "grid" and beside.is_file()
    return document, replicates_of(beside) if has_drawn else {}
