"""What the figures of chapter 2 show, as frames, and the messages in their titles."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd

from recbias.book.chapters.sparsity_bias.densities import DESIGNS
from recbias.book.html import markdown_table, plain
from recbias.book.non_personalised import BASELINES
from recbias.claims.quantities import slope
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
from recbias.theory import FORMS

MARKED = ("pLSA", "Popularity", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 4, MF and kNN read as rating predictors (E25)."""

FIGURE_4 = ("% kept", "% kept", "size t")
"""What is on the axes of its panels."""


def kept_labels(results: Results, label: str) -> dict[int, str]:
    """Name the labels of one protocol by the percent of the test ratings that are kept."""
    grid = results.grid
    same = [name for name, protocol in grid.parsed.items() if protocol == grid.parsed[label]]
    labels: dict[int, str] = {}
    for name in (label, *same):
        labels.setdefault(100 - grid.test(name).removed, name)
    return dict(sorted(labels.items()))


def thinned_frame(results: Results, label: str, metric: str, *, power: float) -> pd.DataFrame:
    """Follow a metric as test ratings are kept, beside a power of the share that is."""
    labels = kept_labels(results, label)
    return _course(
        results, {percent: (name, metric) for percent, name in labels.items()}, 100, power
    )


def sizes_frame(results: Results, label: str, name: str, *, power: float) -> pd.DataFrame:
    """Follow an expectation over samples as target sets grow; as `thinned_frame`."""
    metrics = [metric for metric in results.grid.parsed_metrics[label] if metric.name == name]
    places = {
        size: (label, str(metric)) for metric in metrics if (size := dict(metric.given).get("t"))
    }
    return _course(results, dict(sorted(places.items())), min(places), power)


def _course(
    results: Results, places: Mapping[int, tuple[str, str]], through: int, power: float
) -> pd.DataFrame:
    rows = []
    for system in results.systems:
        start = results[system, *places[through]].value
        for place, label_and_metric in places.items():
            quantity = results[system, *label_and_metric]
            predicted = start * (place / through) ** power
            rows.append((system, place, quantity.value, *quantity.interval, predicted))
    columns = ["system", "place", "value", "low", "high", "predicted"]
    return pd.DataFrame(rows, columns=columns)


def figure_4(results: Results, cutoff: int, size: int) -> dict[str, pd.DataFrame]:
    """Collect what BCC17 Fig. 4 shows, a frame per panel."""
    metric = f"P@{cutoff}"
    return {
        "AR": thinned_frame(results, "AR", metric, power=1),
        "1R": thinned_frame(results, "all-1R", f"{metric}|t={size}", power=0),
        "1R, larger sets": sizes_frame(results, "sizes", "P", power=-1),
    }


def figure_4_title(panels: Mapping[str, pd.DataFrame]) -> str:
    """Say what becomes of the values of all systems where fewest test ratings are kept."""
    thinned = [_changes(panels[name], least=True) for name in ("AR", "1R")]
    percent = int(panels["AR"]["place"].min())
    ranges = [
        f"{defined(changes.min(), '.0%')} to {defined(changes.max(), '.0%')}" for changes in thinned
    ]
    return (
        f"With {percent} % of the test ratings AR precision is {ranges[0]}\n"
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
    """Tell what is known of the items in a list: liked, rated lower, or nothing."""
    labels = kept_labels(results, "AR")
    liked, lower = (results.metric("AR", name) for name in ("P", "antiP"))
    best = results.table("AR", liked)["value"].sort_values(ascending=False, kind="stable").index
    rows = []
    for percent in (100, min(labels)):
        for system in best:
            known = [
                results[system, labels[percent], str(metric)].value for metric in (liked, lower)
            ]
            rows.append((percent, system, *known, 1 - sum(known)))
    return pd.DataFrame(rows, columns=["kept", "system", "relevant", "rated lower", "not rated"])


def list_shares_title(shares: pd.DataFrame, cutoff: int) -> str:
    """Say of how many items in a list nothing is known, for the system that comes first."""
    name = shares["system"].iloc[0]
    unrated = cutoff * shares[shares["system"] == name].set_index("kept")["not rated"]
    return (
        f"Of {cutoff} items that {name} recommends,\n"
        f"{defined(unrated.iloc[0], '.1f')} are unrated; "
        f"with {unrated.index[1]} % of the test ratings {defined(unrated.iloc[1], '.1f')}"
    )


def metric_slopes(results: Results) -> pd.DataFrame:
    """Fit how metrics go with the share of the test ratings that is kept, both in logarithms."""
    rows = []
    for label, (words, chosen) in _FOLLOWED.items():
        labels = kept_labels(results, label)
        for metric in results.grid.parsed_metrics[label]:
            if chosen and metric.name not in chosen:
                continue
            name = words.format(str(metric).partition("|")[0])
            for system in results.systems:
                course = {
                    k: results[system, kept_label, str(metric)] for k, kept_label in labels.items()
                }
                fitted = slope(course)
                rows.append((name, system, fitted.value, *fitted.interval))
    return pd.DataFrame(rows, columns=["metric", "system", "slope", "low", "high"])


_FOLLOWED = {"AR": ("{}", ("P",)), "liked": ("{}, users with one", ()), "all-1R": ("1R{}", ("P",))}
"""What metrics under a label are called, and which are shown; all if none is named."""


def metric_slopes_title(slopes: pd.DataFrame) -> str:
    """Say what is left of the metric that falls most and of the one that falls least, by half."""
    medians = slopes.groupby("metric", sort=False)["slope"].median()
    left = (100 * 0.5**medians).sort_values(kind="stable")
    return (
        f"Half of the test ratings leave {defined(left.iloc[0], '.0f')} % of {left.index[0]},\n"
        f"and {defined(left.iloc[-1], '.0f')} % of {left.index[-1]} (medians)"
    )


def predictions(results: Results, table: Table) -> pd.DataFrame:
    """Divide what rankings score under AR, which are the same for all users.

    By what is predicted.
    """
    metric = str(results.metric("AR", "P"))
    rows = []
    for form, system in product(FORMS, BASELINES):
        number = table[{"quantity": form, "label": "AR", "system": system}]
        ratio = results[system, "AR", metric] / number
        rows.append((form, system, number.value, ratio.value, *ratio.interval))
    return pd.DataFrame(rows, columns=["form", "system", "predicted", "value", "low", "high"])


def predictions_title(found: pd.DataFrame) -> str:
    """Say how far the forms of the prediction are off, each where it is farthest."""
    off = {form: ratios["value"].dropna() for form, ratios in found.groupby("form")}
    with np.errstate(divide="ignore"):
        printed, odds = (
            ratios.iloc[np.abs(np.log(ratios)).argmax()] if len(ratios := off[form]) else np.nan
            for form in FORMS
        )
    return (
        f"Measured precision is up to {defined(printed, '.2f')} times what Eq. 3 predicts,\n"
        f"and {defined(odds, '.2f')} times what the odds of each item do"
    )


# -- how many judgements are enough ------------------------------------------------------------


def told_apart(table: Table) -> pd.DataFrame:
    """Count the pairs of systems that are told apart, by the share of the test ratings."""
    shares = np.geomspace(table.frame["value"].min(), 1.0, 60)
    rows = []
    for design, words in DESIGNS.items():
        pair_shares = table.select(design=design)[["value", "high", "low"]].to_numpy()
        for share in shares:
            rows.append((words, 100 * share, *(pair_shares < share).sum(axis=0)))
    return pd.DataFrame(rows, columns=["design", "kept", "pairs", "low", "high"])


def told_apart_title(table: Table) -> str:
    """Say how many pairs are told apart under AR by all test ratings, and by how few the most."""
    values = table.select(design="AR")["value"]
    tenth, hundredth = (int((values < share).sum()) for share in (0.1, 0.01))
    return (
        f"All test ratings tell {int((values < 1).sum())} of {len(values)} pairs apart under AR,\n"
        f"one in ten {tenth}, and one in a hundred {hundredth}"
    )


def densities_table(table: Table, n_rows: int = 12) -> str:
    """Write which pairs need most judgements under AR, and what they need by others.

    In Markdown.
    """
    under_ar = table.select(design="AR").sort_values("value", ascending=False, kind="stable")
    columns = ["first", "second", "value", "low", "high"]
    others = {
        design: {
            frozenset(row[:2]): row
            for row in table.select(design=design)[columns].to_numpy(dtype=object)
        }
        for design in DESIGNS
        if (table.frame["design"] == design).any()
    }
    rows = []
    for first, second, *_ in under_ar.head(n_rows)[columns].to_numpy(dtype=object):
        cells = []
        for by_pair in others.values():
            ahead, _, value, low, high = by_pair[frozenset((first, second))]
            turned = "" if ahead == first else ", reversed"
            needed = f"{_percent(value)} % ({_percent(low)} to {_percent(high)}){turned}"
            cells.append("not by all" if value >= 1 else needed)
        rows.append((plain(first), plain(second), *cells))
    return markdown_table(("ahead", "behind", *(DESIGNS[design] for design in others)), rows)


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def density_pairs(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Name each pair alike under all designs, whoever is ahead."""
    pairs = [
        " and ".join(sorted(pair))
        for pair in zip(table.frame["first"], table.frame["second"], strict=True)
    ]
    return ("design", "pair"), table.frame.assign(pair=pairs)


# -- where nearly everything is judged ---------------------------------------------------------


def saturation_panels(table: Table) -> dict[str, pd.DataFrame]:
    """Collect what normalised metrics do as ever more pairs of a world are judged."""
    panels = {}
    for name, words in _NORMALISED.items():
        rows = table.select(metric=name).rename(columns={"judged": "place"})
        odds = rows["positive"] / (1 - rows["positive"])
        columns = ["system", "place", "value", "low", "high", "predicted"]
        panels[words] = rows.assign(predicted=odds)[columns]
    return panels


_NORMALISED = {"AP": "MAP", "nDCG": "nDCG", "R": "recall"}


def saturation_title(panels: Mapping[str, pd.DataFrame]) -> str:
    """Say how far each metric of Random is from the ratio where everything is judged."""
    times = {}
    for words, frame in panels.items():
        last = frame[(frame["place"] == frame["place"].max()) & (frame["system"] == "Random")]
        times[words] = float((last["value"] / last["predicted"]).iloc[0])
    said = ", ".join(f"{words} {ratio:.2f}" for words, ratio in times.items())
    return f"Random with everything judged, relative to the ratio\nthat the paper names: {said}"
