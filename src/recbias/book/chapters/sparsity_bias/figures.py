"""The figures of chapter 2: values and orders as judgements go or target sets grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.sparsity_bias.densities import pairs_by_share
from recbias.book.chapters.sparsity_bias.turns import at_size, enough, ranked_pairs
from recbias.book.figures import Figure, dots, lines, matrix, parts, ranks
from recbias.book.non_personalised import BASELINES
from recbias.claims.quantities import slope
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
from recbias.theory import FORMS

_MARKED = ("pLSA", "Popularity", "MF (rating prediction)", "kNN (rating prediction)", "Random")
"""The systems of BCC17 Fig. 4, MF and kNN read as rating predictors (E25)."""

_WITH_NUMBERS = 10
"""So many systems leave room for numbers in the cells of a matrix."""


def _kept_labels(results: Results, label: str) -> dict[int, str]:
    """Name the labels of one protocol by the percent of the test ratings that are kept."""
    grid = results.grid
    same = [name for name, protocol in grid.parsed.items() if protocol == grid.parsed[label]]
    labels: dict[int, str] = {}
    for name in (label, *same):
        labels.setdefault(100 - grid.test(name).removed, name)
    return dict(sorted(labels.items()))


def lists(results: Results, cutoff: int) -> Figure:
    """Show what is known of the items in a list: liked, rated lower, or nothing."""

    def message(rows: pd.DataFrame) -> str:
        first = rows[rows["system"] == rows["system"].iloc[0]]
        unrated = cutoff * first["not rated"] / 100
        return (
            f"Of {cutoff} items that {first['system'].iloc[0]} recommends,\n"
            f"{defined(unrated.iloc[0], '.1f')} are unrated; "
            f"with {least} % of the test ratings {defined(unrated.iloc[1], '.1f')}"
        )

    labels = _kept_labels(results, "AR")
    least = min(labels)
    metrics = [results.metric("AR", name) for name in ("P", "antiP")]
    best = results.table("AR", metrics[0])["value"].sort_values(ascending=False, kind="stable")
    rows = []
    for percent, system in product((100, least), best.index):
        liked, lower = (
            100 * results[system, labels[percent], str(metric)].value for metric in metrics
        )
        panel = "all test ratings" if percent == 100 else f"{percent} % of them"
        rows.append((panel, system, liked, lower, 100 - liked - lower))
    return Figure(
        "lists",
        pd.DataFrame(rows, columns=["panel", "system", "relevant", "rated lower", "not rated"]),
        message,
        "Stacked bars for each system in two panels: shares of the recommended items that are "
        "known to be relevant, that the user rated as not relevant, and that the user did not "
        "rate.",
        partial(
            parts, row="system", across="% of the list", most=100,
            colours={"relevant": "C0", "rated lower": "C1", "not rated": "0.85"},
        ),
    )  # fmt: skip


def predictions(results: Results, predicted: Table) -> Figure:
    """Show what rankings for everybody score under AR over what is predicted."""

    def message(rows: pd.DataFrame) -> str:
        off = {form: ratios["value"].dropna() for form, ratios in rows.groupby("form")}
        with np.errstate(divide="ignore"):
            printed, odds = (
                ratios.iloc[np.abs(np.log(ratios)).argmax()] if len(ratios := off[form]) else np.nan
                for form in FORMS
            )
        return (
            f"Measured precision is up to {defined(printed, '.2f')} times what Eq. 3 predicts,\n"
            f"and {defined(odds, '.2f')} times what the odds of each item do"
        )

    metric = str(results.metric("AR", "P"))
    rows = []
    for form, system in product(FORMS, BASELINES):
        number = predicted[{"quantity": form, "label": "AR", "system": system}]
        ratio = results[system, "AR", metric] / number
        words = f"predicted by {form}"
        rows.append((system, form, words, number.value, ratio.value, *ratio.interval))
    return Figure(
        "predicted",
        pd.DataFrame(rows, columns=["system", "form", "line", "predicted", "value", "low", "high"]),
        message,
        "Measured over predicted precision for rankings that are the same for all users, by Eq. 3 "
        "and by the odds of each item.",
        partial(dots, row="system", levels=(1,), across="measured precision / predicted precision"),
        f"predicted-{results.dataset['name']}",
    )


def courses(results: Results, cutoff: int, size: int) -> Figure:
    """Show precision as test ratings go and target sets grow, beside theory: BCC17 Fig. 4."""

    def message(rows: pd.DataFrame) -> str:
        ranges = []
        for panel in ("AR", "1R"):
            own = rows[rows["panel"] == panel]
            wide = own.pivot_table(index="system", columns="place", values="value")
            left = wide[wide.columns.min()] / wide[wide.columns.max()]
            ranges.append(f"{defined(left.min(), '.0%')} to {defined(left.max(), '.0%')}")
        percent = int(rows.loc[rows["panel"] == "AR", "place"].min())
        return (
            f"With {percent} % of the test ratings AR precision is {ranges[0]}\n"
            f"of its value, 1R precision {ranges[1]}"
        )

    metric, larger = f"P@{cutoff}", "1R, larger sets"
    sizes = {
        sampled: ("sizes", str(each))
        for each in results.grid.parsed_metrics["sizes"]
        if each.name == "P" and (sampled := dict(each.given).get("t"))
    }
    panels = [
        _course("AR", results, _kept(results, "AR", metric), 100, power=1),
        _course("1R", results, _kept(results, "all-1R", f"{metric}|t={size}"), 100, power=0),
        _course(larger, results, dict(sorted(sizes.items())), min(sizes), power=-1),
    ]
    return Figure(
        "courses",
        pd.concat(panels, ignore_index=True),
        message,
        "Precision of each system under AR and under 1R against the share of test ratings that is "
        "kept, and under 1R against the size of the target sets, each beside what theory predicts.",
        partial(
            lines, x="place", line="system", joined=False, whiskers=True, marked=_MARKED,
            across={"AR": "% kept", "1R": "% kept", larger: "size t"}, up={"AR": metric},
            log=(larger,), log_up=(larger,), from_zero=("AR", "1R"),
        ),
        f"figure-4-{results.dataset['name']}",
    )  # fmt: skip


def _kept(results: Results, label: str, metric: str) -> dict[int, tuple[str, str]]:
    """Find a metric of a protocol by the percent of the test ratings that are kept."""
    return {percent: (name, metric) for percent, name in _kept_labels(results, label).items()}


def _course(
    panel: str, results: Results, places: Mapping[int, tuple[str, str]], through: int, power: float
) -> pd.DataFrame:
    """Follow all systems, beside a power of the place that passes through one of the values."""
    rows = []
    for system in results.systems:
        start = results[system, *places[through]].value
        for place, label_and_metric in places.items():
            quantity = results[system, *label_and_metric]
            predicted = start * (place / through) ** power
            rows.append((panel, system, place, quantity.value, *quantity.interval, predicted))
    columns = ["panel", "system", "place", "value", "low", "high", "predicted"]
    return pd.DataFrame(rows, columns=columns)


def slopes(results: Results) -> Figure:
    """Show how metrics go with the share of the test ratings that is kept, both in logarithms."""

    def message(rows: pd.DataFrame) -> str:
        medians = rows.groupby("metric", sort=False)["slope"].median()
        left = (100 * 0.5**medians).sort_values(kind="stable")
        return (
            f"Half of the test ratings leave {defined(left.iloc[0], '.0f')} % of {left.index[0]},\n"
            f"and {defined(left.iloc[-1], '.0f')} % of {left.index[-1]} (medians)"
        )

    rows = []
    for label, (words, chosen) in _FOLLOWED.items():
        for metric in results.grid.parsed_metrics[label]:
            if chosen and metric.name not in chosen:
                continue
            name = words.format(str(metric).partition("|")[0])
            for system in results.systems:
                course = {
                    percent: results[system, *key]
                    for percent, key in _kept(results, label, str(metric)).items()
                }
                fitted = slope(course)
                rows.append((name, system, fitted.value, *fitted.interval))
    return Figure(
        "slopes",
        pd.DataFrame(rows, columns=["metric", "system", "slope", "low", "high"]),
        message,
        "Slope of each metric against the share of the test ratings that is kept, a mark for "
        "each system.",
        partial(
            dots, row="metric", value="slope", levels=(0, 1), a_row=0.5,
            across="slope (0: stays as it is, 1: in proportion)",
        ),
        f"slopes-{results.dataset['name']}",
    )  # fmt: skip


_FOLLOWED = {"AR": ("{}", ("P",)), "liked": ("{}, users with one", ()), "all-1R": ("1R{}", ("P",))}
"""What metrics under a label are called, and which are shown; all if none is named."""


def saturation(worlds: Table) -> Figure:
    """Show what normalised metrics do as ever more pairs of a world are judged."""

    def message(rows: pd.DataFrame) -> str:
        last = rows[(rows["judged"] == rows["judged"].max()) & (rows["system"] == "Random")]
        times = (last["value"] / last["predicted"]).to_list()
        said = ", ".join(
            f"{metric} {x:.2f}" for metric, x in zip(last["panel"], times, strict=True)
        )
        return f"Random with everything judged, relative to the ratio\nthat the paper names: {said}"

    panels = []
    for name, words in {"AP": "MAP", "nDCG": "nDCG", "R": "recall"}.items():
        own = worlds.select(metric=name)
        own = own.assign(panel=words, predicted=own["positive"] / (1 - own["positive"]))
        panels.append(own[["panel", "system", "judged", "value", "low", "high", "predicted"]])
    return Figure(
        "saturation",
        pd.concat(panels, ignore_index=True),
        message,
        "MAP, nDCG and recall of four systems against the share of all pairs outside training that "
        "is judged, beside the ratio of positive to negative ratings.",
        partial(
            lines, x="judged", line="system", joined=False, whiskers=True, from_zero=True,
            across="% judged", up={"MAP": "value"},
        ),
        "saturation",
    )  # fmt: skip


# -- how many sampled items are enough -------------------------------------------------------------


def orders(drawn: Table, cutoff: int) -> Figure:
    """Show the rank of every system over the number of sampled items."""
    size, largest = drawn.given["size"], int(drawn.frame["size"].max())

    def message(rows: pd.DataFrame) -> str:
        pairs = at_size(replace(drawn, frame=rows))
        turned = int(((pairs["order"] < 0) & pairs["sure"]).sum())
        are = "pair is" if turned == 1 else "pairs are"
        return (
            f"Among {size - 1:,} sampled items {turned} {are} turned round,\n"
            f"of {int(pairs['sure'].sum())} that all items order beyond chance"
        )

    def draw(rows: pd.DataFrame, *, title: str) -> Picture:
        followed = ranked_pairs(rows[rows["size"] > min(cutoff, largest - 1)])
        # Where the largest target set is one above the cutoff, there is one size.
        limits = (cutoff, max(largest - 1, cutoff + 1))
        return ranks(
            followed,
            title=title,
            x="sampled",
            across="sampled items",
            level=size - 1,
            limits=limits,
        )

    return Figure(
        "orders",
        drawn.frame,
        message,
        "Lines of the ranks of all systems against the number of sampled items, on a logarithmic "
        "axis.",
        draw,
        f"orders-{drawn.dataset_name}",
    )


def enough_sampled(drawn: Table) -> Figure:
    """Show how many sampled items are enough for each pair of systems."""
    size, pool = drawn.given["size"], int(drawn.frame["size"].max()) - 1

    def message(rows: pd.DataFrame) -> str:
        needed = rows.loc[rows["resolved"], "size"]
        if needed.empty:
            return "All items order no pair of systems beyond chance"
        return (
            f"{size - 1:,} sampled items are enough for {int((needed <= size).sum()):,} of "
            f"{len(needed):,} pairs,\n{int(needed.max()) - 1:,} of {pool:,} for all of them"
        )

    return Figure(
        "enough",
        enough(drawn),
        message,
        "A matrix of systems by systems; each cell has the number of sampled items that are enough "
        "for the pair.",
        partial(_draw_enough, pool=pool),
        f"enough-{drawn.dataset_name}",
    )


def _draw_enough(rows: pd.DataFrame, *, title: str, pool: int) -> Picture:
    wins = rows["a"].value_counts()
    names = sorted(set(rows["a"]) | set(rows["b"]), key=lambda name: -wins.get(name, 0))
    numbers = [str(number + 1) for number in range(len(names))]
    place = {name: f"{number}  {name}" for number, name in zip(numbers, names, strict=True)}
    cells = []
    row: Any
    for row in rows[rows["resolved"]].itertuples():
        i, j = sorted((names.index(row.a), names.index(row.b)))
        for down, across, needed in ((i, j, row.size - 1), (j, i, row.shared - 1)):
            text = _short(needed) if len(names) <= _WITH_NUMBERS else ""
            cells.append((place[names[down]], numbers[across], needed, text))
    return matrix(
        pd.DataFrame(cells, columns=["system", "other", "value", "text"]),
        title=title, row="system", column="other", names=(list(place.values()), numbers), log=True,
        scale=(10, max(pool, 100)), colours="viridis_r", key="sampled items that are enough",
    )  # fmt: skip


def _short(number: float) -> str:
    """Write a number in at most four characters."""
    if number < 1000:
        return f"{number:.0f}"
    return f"{number / 1000:.1f}k" if number < 9950 else f"{number / 1000:.0f}k"


# -- how many judgements are enough ----------------------------------------------------------------


def told_apart(densities: Table) -> Figure:
    """Show how many pairs of systems are told apart, by the share of the test ratings."""

    def message(rows: pd.DataFrame) -> str:
        values = rows.loc[rows["design"] == "AR", "value"]
        tenth, hundredth = (int((values < share).sum()) for share in (0.1, 0.01))
        return (
            f"All test ratings tell {int((values < 1).sum())} of {len(values)} pairs apart under "
            f"AR,\none in ten {tenth}, and one in a hundred {hundredth}"
        )

    def draw(rows: pd.DataFrame, *, title: str) -> Picture:
        return lines(
            pairs_by_share(rows), title=title, x="kept", y="pairs", log=True, height=3.2,
            across="test ratings kept, %", up="pairs told apart", points=False,
            limits={"ylim": (0, None)},
        )  # fmt: skip

    return Figure(
        "told_apart",
        densities.frame,
        message,
        "Number of pairs of systems that are told apart against the share of test ratings that is "
        "kept, a line for AR, 1R and recall each.",
        draw,
        f"densities-{densities.dataset_name}",
    )
