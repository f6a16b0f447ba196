"""The figures of chapter 1: values and orders, settings, bounds, and worlds with known truth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from recbias.book.chapters.design_alternatives.panels import Design, moved_pairs
from recbias.book.chapters.design_alternatives.setup import (
    FIGURE_2,
    lemma_panels,
    setting_families,
)
from recbias.book.chapters.design_alternatives.truth import DESIGNS, truth_by_kind
from recbias.book.figures import NARROW, Figure, bars, dots, lines, ranks
from recbias.book.findings import said
from recbias.book.html import number_word
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
from recbias.experiment.training_seeds import few_seeds

_LINE = 50
"""Characters of a line of a title in a narrow figure."""


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
            bars, row="design", coloured=True, numbers=".3f", width=NARROW,
            across=f"{metric} of Popularity",
        ),
    )  # fmt: skip


def _ceiling(results: Results, design: Design) -> float:
    """Give the largest value there can be where one relevant item is ranked at a time."""
    metric = results.metric(design.label, "P")
    return 1 / (metric.cutoff or np.nan) if design.label == "1R" else np.nan


def values(results: Results, designs: Sequence[Design]) -> Figure:
    """Show the values of the paper's systems under each design, on one scale: BCC17 Fig. 2."""
    metric = str(results.metric(designs[0].label, "P"))
    rows = [
        (system, design.name, score.value, *score.interval)
        for system in results.among(FIGURE_2)
        for design in designs
        for score in [results[system, design.label, str(results.metric(design.label, "P"))]]
    ]
    return Figure(
        "values",
        pd.DataFrame(rows, columns=["row", "line", "value", "low", "high"]),
        said(
            "BCC17-C-RTEST/2",
            {"systems": results},
            width=_LINE,
            holds="Among own test ratings all systems look good: {value} their value among all "
            "tested items, or more",
            refuted="Among own test ratings not all systems look good: {which} has {value} its "
            "value among all tested items",
            open="Among own test ratings {which} gains least: {value} its value among all tested "
            "items",
        ),
        "Dots of precision for the paper's five systems under four designs on one scale, with 95 "
        "percent intervals.",
        partial(
            dots, keyed=[design.name for design in designs], across=metric, from_zero=True,
            width=NARROW,
        ),
        f"figure-2-{results.dataset['name']}",
    )  # fmt: skip


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
            rows.append((design.head, design.name, system, score, place, moved))
    return Figure(
        "ranks",
        pd.DataFrame(rows, columns=["design", "name", "system", "value", "rank", "moved"]),
        message,
        "Lines that join the ranks of each system from design to design.",
        partial(ranks, x="design", width=NARROW),
        f"ranks-{results.dataset['name']}",
    )


def settings(grid: Results, *, label: str = "AR") -> Figure:
    """Show every parameter setting of two algorithms as a point, beside other systems."""
    metric = str(grid.metric(label, "P"))

    def message(rows: pd.DataFrame) -> str:
        ends = rows.groupby("family", sort=False)["value"].agg(["min", "max"])
        widest = (ends["max"] - ends["min"]).idxmax()
        least, most = (float(end) for end in ends.loc[str(widest)].to_numpy())
        low = "less than 0.001" if least < 0.001 else f"{least:.3f}"
        span = f"{low} to {defined(most, '.3f')}"
        return (
            f"By its parameters alone {str(widest).rpartition(' (')[0]}\nhas a {metric} of {span}"
        )

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
            dots, row="family", across=metric, a_row=0.6, from_zero=True, width=NARROW,
            levels={name: grid[name, label, metric].value for name in beside},
        ),
        f"grid-{grid.dataset['name']}",
    )  # fmt: skip


# -- the lemma -------------------------------------------------------------------------------------


def gaps(lemma: Results) -> Figure:
    """Show how far the bounds of the lemma are apart, relative to 1RP: what BCC17 Fig. 3 tells."""
    rows = []
    for axis, (labels, places) in lemma_panels(lemma).items():
        for system in lemma.systems:
            for label, place in zip(labels, places, strict=True):
                metrics = [str(lemma.metric(label, name)) for name in ("lower", "P", "upper")]
                lower, value, upper = (lemma[system, label, metric] for metric in metrics)
                width = (upper - lower) / value
                ends = [lower.value, value.value, upper.value]
                rows.append((axis, system, place, width.value, *width.interval, *ends))
    columns = ["panel", "line", "at", "value", "low", "high", "lower bound", "1RP", "upper bound"]
    return Figure(
        "gaps",
        pd.DataFrame(rows, columns=columns),
        said(
            "BCC17-F3R/4",
            {"lemma": lemma},
            width=_LINE,
            holds="Larger target sets bring the bounds closer, relative to 1RP",
            refuted="Larger target sets do not bring the bounds closer, relative to 1RP",
            open="Larger target sets may or may not bring the bounds closer, relative to 1RP",
        ),
        "The width of the interval between the bounds relative to the precision within, against "
        "removed test ratings and against the size of the target sets, a line for each system.",
        partial(
            lines, whiskers=True, n_columns=2, share_y=True, height=3.6,
            limits={"ylim": (0, None)}, up="(upper - lower bound) / 1RP", width=NARROW,
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
            f"{best.capitalize()}: mean tau {least:.2f} or more;\n"
            f"every other design: {max(worst.values()):.2f} or less in some worlds"
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
            width=NARROW,
        ),
        "designs-and-truth",
    )  # fmt: skip
