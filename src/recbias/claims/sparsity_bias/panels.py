"""What the figures of chapter 2 show, as frames, and the messages in their titles."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from recbias.claims.quantities import slope
from recbias.experiment import Results
from recbias.makers import Table
from recbias.theory import FORMS

__all__ = [
    "FIGURE_4",
    "MARKED",
    "figure_4",
    "figure_4_title",
    "joined",
    "kept_labels",
    "list_shares",
    "list_shares_title",
    "metric_slopes",
    "metric_slopes_title",
    "predictions",
    "predictions_title",
]

MARKED = ("pLSA", "Popularity", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 4, MF and kNN read as rating predictors (E25)."""

FIGURE_4 = ("% kept", "% kept", "size t")
"""What is on the axes of its panels."""


def kept_labels(results: Results, label: str) -> dict[int, str]:
    """Name the labels of one protocol by the percent of the test ratings that are kept.

    Parameters
    ----------
    results
        Of a grid with thinned test sets.
    label
        Of the protocol with all test ratings.

    Returns
    -------
    dict of int to str
        Ascending; the last is 100.
    """
    grid = results.grid
    same = [name for name, protocol in grid.parsed.items() if protocol == grid.parsed[label]]
    found: dict[int, str] = {}
    for name in (label, *same):
        found.setdefault(100 - grid.test(name).removed, name)
    return dict(sorted(found.items()))


def thinned_frame(results: Results, label: str, metric: str, *, power: float) -> pd.DataFrame:
    """Follow a metric as test ratings are kept, beside a power of the share that is.

    Parameters
    ----------
    results
        Of a grid with thinned test sets.
    label, metric
        What is followed.
    power
        Of the prediction through the value with all test ratings: 1 in proportion, 0 the same.

    Returns
    -------
    DataFrame
        A row per ``system`` and ``place``, percent kept: ``value``, its 95 % interval ``low`` to
        ``high``, and ``predicted``.
    """
    labels = kept_labels(results, label)
    return _course(results, {kept: (name, metric) for kept, name in labels.items()}, 100, power)


def sizes_frame(results: Results, label: str, name: str, *, power: float) -> pd.DataFrame:
    """Follow an expectation over samples as target sets grow; as `thinned_frame`."""
    metrics = [each for each in results.grid.parsed_metrics[label] if each.name == name]
    asked = {size: (label, str(each)) for each in metrics if (size := dict(each.given).get("t"))}
    return _course(results, dict(sorted(asked.items())), min(asked), power)


def _course(
    results: Results, places: Mapping[int, tuple[str, str]], through: int, power: float
) -> pd.DataFrame:
    rows = []
    for system in results.systems:
        start = results[system, *places[through]].value
        for place, asked in places.items():
            found = results[system, *asked]
            predicted = start * (place / through) ** power
            rows.append((system, place, found.value, *found.interval, predicted))
    columns = ["system", "place", "value", "low", "high", "predicted"]
    return pd.DataFrame(rows, columns=columns)


def figure_4(results: Results, cutoff: int, size: int) -> dict[str, pd.DataFrame]:
    """Collect what BCC17 Fig. 4 shows, a frame per panel.

    Parameters
    ----------
    results
        The main grid of the chapter.
    cutoff
        Length of the lists.
    size
        Of the 1R target sets whose test ratings are thinned.

    Returns
    -------
    dict of str to DataFrame
        By title of the panel.
    """
    metric = f"P@{cutoff}"
    return {
        "AR": thinned_frame(results, "AR", metric, power=1),
        "1R": thinned_frame(results, "all-1R", f"{metric}|t={size}", power=0),
        "1R, larger sets": sizes_frame(results, "sizes", "P", power=-1),
    }


def figure_4_title(panels: Mapping[str, pd.DataFrame]) -> str:
    """Say what becomes of the values of all systems where fewest test ratings are kept."""
    thinned = [_changes(panels[name], least=True) for name in ("AR", "1R")]
    kept = int(panels["AR"]["place"].min())
    ranges = [f"{each.min():.0%} to {each.max():.0%}" for each in thinned]
    return (
        f"With {kept} % of the test ratings AR precision is {ranges[0]}\n"
        f"of its value, 1R precision {ranges[1]}"
    )


def _changes(frame: pd.DataFrame, *, least: bool) -> pd.Series:
    """Divide each system's value at one end of the axis by that at the other."""
    wide = frame.pivot_table(index="system", columns="place", values="value", sort=False)
    ends = wide[wide.columns.min()], wide[wide.columns.max()]
    return ends[0] / ends[1] if least else ends[1] / ends[0]


def joined(panels: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put the frames of several panels below each other, for a download."""
    return pd.concat(panels, names=["panel"]).droplevel(1).set_index("system", append=True)


def list_shares(results: Results) -> pd.DataFrame:
    """Tell what is known of the items in a list: liked, rated lower, or nothing.

    Parameters
    ----------
    results
        The main grid of the chapter.

    Returns
    -------
    DataFrame
        A row per share of the test ratings, ``kept`` in percent (all and the least), and
        ``system``, the best first: shares of the places of a list that hold a ``relevant`` item, an
        item ``rated lower``, and an item that is ``not rated`` (or none).
    """
    labels = kept_labels(results, "AR")
    liked, lower = (results.metric("AR", name) for name in ("P", "antiP"))
    best = results.table("AR", liked)["value"].sort_values(ascending=False, kind="stable").index
    rows = []
    for kept in (100, min(labels)):
        for system in best:
            known = [results[system, labels[kept], str(each)].value for each in (liked, lower)]
            rows.append((kept, system, *known, 1 - sum(known)))
    return pd.DataFrame(rows, columns=["kept", "system", "relevant", "rated lower", "not rated"])


def list_shares_title(shares: pd.DataFrame, cutoff: int) -> str:
    """Say of how many items in a list nothing is known, for the system that comes first."""
    name = shares["system"].iloc[0]
    unrated = cutoff * shares[shares["system"] == name].set_index("kept")["not rated"]
    return (
        f"Of {cutoff} items that {name} recommends,\n{unrated.iloc[0]:.1f} are unrated; "
        f"with {unrated.index[1]} % of the test ratings {unrated.iloc[1]:.1f}"
    )


def metric_slopes(results: Results) -> pd.DataFrame:
    """Fit how metrics go with the share of the test ratings that is kept, both in logarithms.

    Parameters
    ----------
    results
        The main grid of the chapter.

    Returns
    -------
    DataFrame
        A row per ``metric``, in the words of `_FOLLOWED`, and ``system``: the ``slope``, 1 where
        the value goes in proportion to the share and 0 where it stays; NaN where a value is 0.
    """
    rows = []
    for label, (words, chosen) in _FOLLOWED.items():
        labels = kept_labels(results, label)
        for metric in results.grid.parsed_metrics[label]:
            if chosen and metric.name not in chosen:
                continue
            name = words.format(str(metric).partition("|")[0])
            for system in results.systems:
                course = {k: results[system, each, str(metric)] for k, each in labels.items()}
                found = slope(course)
                rows.append((name, system, found.value, *found.interval))
    return pd.DataFrame(rows, columns=["metric", "system", "slope", "low", "high"])


_FOLLOWED = {"AR": ("{}", ("P",)), "liked": ("{}, users with one", ()), "all-1R": ("1R{}", ("P",))}
"""What metrics under a label are called, and which are shown; all if none is named."""


def metric_slopes_title(slopes: pd.DataFrame) -> str:
    """Say what is left of the metric that falls most and of the one that falls least, by half."""
    left = 100 * 0.5 ** slopes.groupby("metric", sort=False)["slope"].median()
    most, least = left.idxmin(), left.idxmax()
    return (
        f"Half of the test ratings leave {left[most]:.0f} % of {most},\n"
        f"and {left[least]:.0f} % of {least} (medians)"
    )


def predictions(results: Results, table: Table) -> pd.DataFrame:
    """Divide what rankings score under AR, which are the same for all users, by what is predicted.

    Parameters
    ----------
    results
        Of the grid `baselines`.
    table
        Of :func:`recbias.claims.non_personalised.predicted`.

    Returns
    -------
    DataFrame
        A row per ``form`` of the prediction and ``system``: ``predicted``, and ``value``, the
        measured one over it, with its 95 % interval over users, ``low`` to ``high``.
    """
    metric = str(results.metric("AR", "P"))
    rows = []
    for form, system in product(FORMS, results.systems):
        number = float(table[{"quantity": form, "label": "AR", "system": system}].value)
        found = results[system, "AR", metric]
        ratios = np.array([found.value, *found.interval]) / (number or np.nan)
        rows.append((form, system, number, *ratios))
    return pd.DataFrame(rows, columns=["form", "system", "predicted", "value", "low", "high"])


def predictions_title(found: pd.DataFrame) -> str:
    """Say how far the forms of the prediction are off, each where it is farthest."""
    off = {form: own.set_index("system")["value"] for form, own in found.groupby("form")}
    printed, odds = (off[form].iloc[(off[form].map(np.log).abs()).argmax()] for form in FORMS)
    return (
        f"Measured precision is up to {printed:.2f} times what Eq. 3 predicts,\n"
        f"and {odds:.2f} times what the odds of each item do"
    )
