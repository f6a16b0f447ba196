"""What the figures of chapter 2 show, as frames, and the messages in their titles."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from recbias.claims.quantities import distinct_pairs
from recbias.experiment import Results

__all__ = [
    "DESIGNS",
    "FIGURE_4",
    "MARKED",
    "figure_4",
    "figure_4_title",
    "first_panels",
    "first_title",
    "joined",
    "kept_labels",
    "thinned_shares",
    "thinned_title",
]

MARKED = ("pLSA", "Popularity", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 4, MF and kNN read as rating predictors (E25)."""

DESIGNS = {"AR": "all relevant items ranked (AR)", "all-1R": "one relevant item (1R)"}
"""The two designs that are thinned, by label: what a legend calls them."""

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
        A row per ``system`` and ``place``, percent kept: ``value``, ``low``, ``high``, ``predicted``.
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


def thinned_shares(results: Results) -> pd.DataFrame:
    """Follow what each design keeps of its values, and of the pairs of systems it tells apart.

    Parameters
    ----------
    results
        The main grid of the chapter, with replicates.

    Returns
    -------
    DataFrame
        A row per ``design`` (`DESIGNS`), ``what`` and percent ``kept``: with `what` a system the
        ``share`` of its value with all test ratings; with ``"pairs"`` the share of all pairs of
        systems whose difference is beyond chance, all pairs at once.
    """
    rows = []
    for label, design in DESIGNS.items():
        metric = results.metric(label, "P")
        found = {
            kept: results.of_systems(name, metric)
            for kept, name in kept_labels(results, label).items()
        }
        n_pairs = len(results.systems) * (len(results.systems) - 1) / 2
        for kept, values in found.items():
            apart = distinct_pairs(list(values.values())).value / n_pairs
            rows.append((design, "pairs", kept, apart))
            for system, each in values.items():
                whole = found[100][system].value
                rows.append((design, system, kept, each.value / whole if whole else np.nan))
    return pd.DataFrame(rows, columns=["design", "what", "kept", "share"])


def thinned_title(shares: pd.DataFrame) -> str:
    """Say what is left of values and of pairs told apart where fewest test ratings are."""
    kept = int(shares["kept"].min())
    least = shares[shares["kept"] == kept].groupby(["design", "what"])["share"].first()
    first = next(iter(DESIGNS.values()))
    pairs = shares[(shares["what"] == "pairs") & (shares["design"] == first)].set_index("kept")
    value = least[first].drop("pairs").median()
    return (
        f"With {kept} % of the judgements {value:.0%} of the value is left;\n"
        f"pairs of systems told apart fall from {pairs['share'][100]:.0%} to {pairs['share'][kept]:.0%}"
    )
