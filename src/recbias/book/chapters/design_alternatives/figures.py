"""The figures of chapter 1: target sets, values and orders, bounds, and worlds with known truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.design_alternatives.panels import Design, moved_pairs
from recbias.book.chapters.design_alternatives.setup import (
    MOVIELENS_1M,
    lemma_panels,
    setting_families,
)
from recbias.book.chapters.design_alternatives.truth import DESIGNS, truth_by_kind
from recbias.book.figures import NARROW, WIDTH, Figure, bars, dots, lines, ranks
from recbias.book.figures.panels import finished
from recbias.book.html import number_word
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
from recbias.experiment.training_seeds import few_seeds

_ITEMS = "abcdef"
_RATED = {
    "u": {"d": "test", "e": "test", "f": "train"},
    "v": {"a": "train", "b": "test", "c": "low"},
    "w": {"a": "train", "d": "train", "f": "test"},
}
"""A small test matrix: training ratings, and test ratings that are relevant or low."""

_SETS = {
    "AI-AN-AR": [("", "abcde", "de")],
    "TI-AN-AR": [("", "bcde", "de")],
    "TI-NN-AR": [("", "cde", "de")],
    "TI-NN-1R": [("run 1", "cd", "d"), ("run 2", "be", "e")],
}
"""What is ranked for user u by design: runs with their items, and those that are relevant."""


def target_sets() -> Figure:
    """Show the target sets of one user in a small test matrix: the options of BCC17 Fig. 1."""

    def message(rows: pd.DataFrame) -> str:
        sizes = rows.groupby(["design", "run"], sort=False).size().groupby("design", sort=False)
        told = [f"{design} {n}" for design, n in sizes.max().items()]
        return f"Of six items, so many are ranked at a time for user u:\n{', '.join(told)}"

    rows = [
        (design, run, item, item in relevant)
        for design, runs in _SETS.items()
        for run, items, relevant in runs
        for item in items
    ]
    return Figure(
        "target_sets",
        pd.DataFrame(rows, columns=["design", "run", "item", "relevant"]),
        message,
        "A test matrix of three users and six items, and beside it the target sets of user u under "
        "four designs.",
        _draw_target_sets,
    )


def _draw_target_sets(rows: pd.DataFrame, *, title: str) -> Picture:
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.7), width_ratios=(1, 1.4))
    blue, orange = sns.color_palette("colorblind")[:2]
    marks = {"test": (blue, "5"), "low": ("white", "3"), "train": ("0.8", ""), "": ("white", "")}
    for row, (name, cells) in enumerate(_RATED.items()):
        for column, item in enumerate(_ITEMS):
            colour, text = marks[cells.get(item, "")]
            edge = "0.3" if item in cells else "0.85"
            left.add_patch(plt.Rectangle((column, row), 0.9, 0.8, facecolor=colour, edgecolor=edge))
            ink = "white" if colour == blue else "black"
            left.text(column + 0.45, row + 0.4, text, ha="center", va="center", color=ink)
        left.text(-0.3, row + 0.4, name, ha="right", va="center")
    for column, item in enumerate(_ITEMS):
        left.text(column + 0.45, -0.3, item, ha="center", va="bottom")
    left.text(-0.6, 3.2, "blue: relevant in test\n3: rated low in test\ngrey: training", va="top")
    left.set(xlim=(-0.8, 6), ylim=(5.2, -1), title="ratings")
    height = 0.0
    for design, sets in rows.groupby("design", sort=False):
        right.text(-0.4, height + 0.4, str(design), ha="right", va="center")
        for run, members in sets.groupby("run", sort=False):
            listed = zip(members["item"], members["relevant"], strict=True)
            for column, (item, relevant) in enumerate(listed):
                colour, ink = (blue, "white") if relevant else (orange, "black")
                right.add_patch(plt.Rectangle((column, height), 0.9, 0.8, facecolor=colour))
                right.text(column + 0.45, height + 0.4, item, ha="center", va="center", color=ink)
            right.text(len(members) + 0.2, height + 0.4, str(run), va="center")
            height += 1
        height += 0.25
    right.set(xlim=(-4.0, 5.0), ylim=(height + 0.1, -1), title="target sets of user u")
    for axis in (left, right):
        axis.set_axis_off()
    return finished(figure, title)


# -- the same under several designs ----------------------------------------------------------------


def one_ranking(
    results: Results, designs: Sequence[Design], *, name: str = "one_ranking"
) -> Figure:
    """Show the values of Popularity under several designs, with their numbers."""
    metric = results.metric(designs[0].label, "P")

    def message(rows: pd.DataFrame) -> str:
        low, high = (defined(end, ".3f") for end in (rows["value"].min(), rows["value"].max()))
        return f"Same list, {number_word(len(rows))} scores: {low} to {high}"

    rows = []
    for design in designs:
        score = results["Popularity", design.label, str(results.metric(design.label, "P"))]
        rows.append((design.name, score.value, *score.interval, _ceiling(results, design)))
    return Figure(
        name,
        pd.DataFrame(rows, columns=["design", "value", "low", "high", "ceiling"]),
        message,
        f"Bars of {metric} of Popularity, the same list measured in {len(designs)} ways, with its "
        "values.",
        partial(
            bars, row="design", coloured_by="row", numbers=".3f", width=NARROW,
            across=f"{metric} of Popularity",
        ),
    )  # fmt: skip


def _ceiling(results: Results, design: Design) -> float:
    """Give the largest value there can be where one relevant item is ranked at a time."""
    metric = results.metric(design.label, "P")
    return 1 / (metric.cutoff or np.nan) if design.label == "1R" else np.nan


def values(results: Results, designs: Sequence[Design]) -> Figure:
    """Show the values of all systems under each design, on one scale: BCC17 Fig. 2."""
    metric = str(results.metric(designs[0].label, "P"))

    def message(rows: pd.DataFrame) -> str:
        numbers = rows.loc[rows["system"] == "Popularity", "value"]
        *some, last = (defined(number, ".3f") for number in numbers)
        return (
            f"One metric, {len(numbers)} designs: {metric} of Popularity is\n"
            f"{', '.join(some)} or {last}"
        )

    order = results.table(designs[0].label, metric)["value"]
    rows = []
    for design in designs:
        own = results.table(design.label, str(results.metric(design.label, "P")))
        own = own.loc[order.sort_values(ascending=False, kind="stable").index]
        own = own.reset_index(names="system")[["system", "value", "low", "high"]]
        own.insert(0, "panel", design.title)
        rows.append(own.assign(ceiling=_ceiling(results, design)))
    frame = pd.concat(rows, ignore_index=True).assign(beside=np.nan, published=np.nan, error=np.nan)
    tested = frame["panel"] == designs[0].title
    catalogue = results.table("AI", metric)["value"]
    frame.loc[tested, "beside"] = frame.loc[tested, "system"].map(catalogue)
    if results.dataset["name"] in MOVIELENS_1M:  # what Sec. 3.3 says, half of its last digit
        one = tested & (frame["system"] == "Popularity")
        frame.loc[one, ["published", "error"]] = 0.08, 0.005
    return Figure(
        "values",
        frame,
        message,
        "Bars of precision for all systems under four designs on one scale, with 95 percent "
        "intervals.",
        partial(bars, row="system", coloured_by="panel", across=metric),
        f"figure-2-{results.dataset['name']}",
    )


def orders(results: Results, designs: Sequence[Design]) -> Figure:
    """Show the rank of each system under each design."""
    first, seeds = designs[0], " (few seeds)" if few_seeds(results) else ""

    def message(rows: pd.DataFrame) -> str:
        moved = rows.groupby("name", sort=False)["moved"].first().drop(first.name)
        n_systems = rows["system"].nunique()
        of = n_systems * (n_systems - 1) // 2
        if not moved.max():
            return f"None of {of} pairs of systems surely changes order"
        return (
            f"{moved.max()} of {of} pairs of systems change order{seeds} between\n"
            f"{first.name} and {moved.idxmax()}"
        )

    rows = []
    for design in designs:
        scores = results.table(design.label, str(results.metric(design.label, "P")))["value"]
        places = scores.rank(ascending=False, method="first").astype(int)
        moved = moved_pairs(results, first.label, design.label)
        for system, score, place in zip(scores.index, scores, places, strict=True):
            rows.append((design.title, design.name, system, score, place, moved))
    return Figure(
        "ranks",
        pd.DataFrame(rows, columns=["design", "name", "system", "value", "rank", "moved"]),
        message,
        "Lines that join the ranks of each system from design to design.",
        partial(ranks, x="design"),
        f"ranks-{results.dataset['name']}",
    )


def settings(grid: Results, *, label: str = "AR") -> Figure:
    """Show every parameter setting of two algorithms as a point, beside other systems."""
    metric = str(grid.metric(label, "P"))

    def message(rows: pd.DataFrame) -> str:
        ends = rows.groupby("family", sort=False)["value"].agg(["min", "max"])
        widest = (ends["max"] - ends["min"]).idxmax()
        low, high = (defined(float(end), ".3f") for end in ends.loc[str(widest)].to_numpy())
        return f"By its parameters alone {widest}\nhas a {metric} of {low} to {high}"

    rows = [
        (f"{family} ({len(grid.among(names))})", name, grid[name, label, metric].value)
        for family, names in setting_families().items()
        for name in grid.among(names)
    ]
    beside = grid.among(("pLSA", "Popularity", "Random"))
    return Figure(
        "settings",
        pd.DataFrame(rows, columns=["family", "system", "value"]),
        message,
        "Precision of every parameter setting of MF and kNN in two readings, with pLSA, Popularity "
        "and Random as lines.",
        partial(
            dots, row="family", across=metric, a_row=0.6, from_zero=True,
            levels={name: grid[name, label, metric].value for name in beside},
        ),
        f"grid-{grid.dataset['name']}",
    )  # fmt: skip


# -- the lemma -------------------------------------------------------------------------------------


def _of_lemma(lemma: Results) -> Iterator[tuple[str, str, float, list[str]]]:
    """Give the systems and places of Fig. 3: what changes, system, place, label and metrics."""
    for system in lemma.systems:
        for axis, (labels, places) in lemma_panels(lemma).items():
            for label, place in zip(labels, places, strict=True):
                yield axis, system, place, [label, *map(str, _bounded(lemma, label))]


def _bounded(lemma: Results, label: str) -> list[object]:
    return [lemma.metric(label, name) for name in ("lower", "P", "upper")]


_CHANGES = {"test ratings removed (%)": "ratings", "size of the target set": "sizes"}
"""What changes along an axis of Fig. 3, in few words."""


def bounds(lemma: Results) -> Figure:
    """Show 1RP between the bounds of the lemma: BCC17 Fig. 3."""

    def message(rows: pd.DataFrame) -> str:
        inside = (rows["low"] <= rows["value"]) & (rows["value"] <= rows["high"])
        width = ((rows["high"] - rows["low"]) / rows["value"]).replace(np.inf, np.nan)
        return (
            f"1RP is between its bounds at {inside.sum()} of {len(rows)} places;\nthey are "
            f"{defined(width.min(), '.0%')} to {defined(width.max(), '.0%')} of it apart"
        )

    rows, up, across = [], {}, {}
    for axis, system, place, (label, *metrics) in _of_lemma(lemma):
        low, value, high = (lemma[system, label, metric].value for metric in metrics)
        panel = f"{system}, {_CHANGES[axis]}"
        up[panel], across[panel] = f"1R{metrics[1]}", axis
        rows.append((panel, system, axis, place, value, low, high))
    return Figure(
        "bounds",
        pd.DataFrame(rows, columns=["panel", "system", "axis", "at", "value", "low", "high"]),
        message,
        "Precision with one relevant item per run between its lower and upper bound, against "
        "removed test ratings and against the size of the target set.",
        partial(
            lines, line="", across=across, up=up, n_columns=2, share_x="col", share_y="row",
            height=1.75, limits={"ylim": (0, None)},
        ),
        f"figure-3-{lemma.dataset['name']}",
    )  # fmt: skip


def gaps(lemma: Results) -> Figure:
    """Show the width of the lemma's interval, by itself and relative to 1RP."""

    def message(rows: pd.DataFrame) -> str:
        own = rows[(rows["relative"]) & (rows["axis"] == "test ratings removed (%)")]
        least, most = (
            own.loc[own["at"] == end, "value"] for end in (own["at"].min(), own["at"].max())
        )
        words = [
            f"{defined(ends.min(), '.0%')} to {defined(ends.max(), '.0%')}"
            for ends in (least, most)
        ]
        return (
            f"The bounds are {words[0]} of 1RP apart,\n"
            f"and {words[1]} where {own['at'].max():g} % of the test ratings are removed"
        )

    rows = []
    for axis, system, place, (label, *metrics) in _of_lemma(lemma):
        lower, value, upper = (lemma[system, label, metric] for metric in metrics)
        for relative, width in ((False, upper - lower), (True, (upper - lower) / value)):
            panel = f"{'relative' if relative else 'width'}, {_CHANGES[axis]}"
            rows.append((panel, axis, relative, system, place, width.value, *width.interval))
    columns = ["panel", "axis", "relative", "system", "at", "value", "low", "high"]
    frame = pd.DataFrame(rows, columns=columns).sort_values("relative", kind="stable")
    return Figure(
        "gaps",
        frame.reset_index(drop=True),
        message,
        "The width of the band between the bounds, by itself and relative to the precision, for "
        "each system.",
        partial(
            lines, line="system", whiskers=True, n_columns=2, share_x="col", share_y="row",
            height=2.2, limits={"ylim": (0, None)},
            across=dict(frame[["panel", "axis"]].to_numpy()),
            up={panel: "upper - lower bound" if panel.startswith("width") else "the same / 1RP"
                for panel in frame["panel"]},
        ),
        f"figure-3-gaps-{lemma.dataset['name']}",
    )  # fmt: skip


# -- worlds with a known truth ---------------------------------------------------------------------


def true_orders(truth: Table) -> Figure:
    """Show how well each design orders systems, against how popularity relates to liking."""

    def message(rows: pd.DataFrame) -> str:
        worst = {str(name): tau for name, tau in rows.groupby("ranked")["value"].min().items()}
        best = max(worst, key=worst.__getitem__)
        least = worst.pop(best)
        return (
            f"{best.capitalize()}: tau at least {least:.2f} in every kind of world;\n"
            f"every other design falls to {max(worst.values()):.2f} or below in some"
        ).replace("-", "\N{MINUS SIGN}")

    rows = truth_by_kind(truth).rename(columns={"tau": "value"})
    rows = rows[rows["design"].isin(list(DESIGNS))].assign(ranked=rows["design"].map(DESIGNS))
    return Figure(
        "truth",
        rows.reset_index(drop=True),
        message,
        "Kendall's tau with the truth, a line for each of five designs, against the rank "
        "correlation of popularity and liking, in three panels for three ways in which users "
        "choose what they rate.",
        partial(
            lines, x="relation", line="ranked", panel="choice", whiskers=True, apart=0.045, level=0,
            share_y=True, limits={"ylim": (-1, 1)}, ticks=sorted(rows["relation"].unique()),
            up={rows["choice"].iloc[0]: "Kendall's tau with the true order"}, height=3.9,
            across={list(rows["choice"].unique())[1]: "rank correlation of popularity and liking"},
        ),
        "designs-and-truth",
    )  # fmt: skip
