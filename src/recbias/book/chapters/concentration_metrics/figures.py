"""The figures of chapter 6: a loop, what foretells it, curves, two orders, metrics that are one."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.concentration_metrics.alike import ALIKE, tau_matrix
from recbias.book.chapters.concentration_metrics.loop import foretold, ratings_by_round
from recbias.book.chapters.concentration_metrics.orders import listing, rank_rows
from recbias.book.chapters.concentration_metrics.references import gini_of_curve
from recbias.book.chapters.concentration_metrics.setup import SEVEN
from recbias.book.figures import NARROW, Figure, dots, lines, matrix, ranks
from recbias.book.findings import said
from recbias.experiment.makers import Table
from recbias.experiment.run import Results

_LINE = 50
"""Characters of a line of a title in a narrow figure."""

_TAU = "$\\tau$\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
"""What stands before a tau, in one line with it."""

_FALLS, _RISES = 0, 1
"""Looks of systems with which ratings become more even, and more uneven."""

_STARTS = {
    "ARP": ("ARP, popularity", "what was popular"),
    "Gini": ("Gini, unevenness", "lists alone"),
    "P": ("truly liked", "what is liked"),
    "CI": ("CI", "what was popular"),
    "M": ("M", "what was popular"),
    "Diversity": ("items listed", "lists alone"),
    "LTI_percentile": ("LTI, percentiles", "what was popular"),
    "LTI": ("LTI as printed", "what was popular"),
}
"""Metrics of the first lists that a figure shows: the name of its row, and what it knows."""

_LISTS, _RATINGS = "lists", "ratings"
"""What a Gini coefficient is of."""

_COMPARED = ("Gini", "Diversity", "PL", "M", "CI", "LTI", "LTI|percentile")
"""Metrics that a figure compares: no two of them count the same."""


def rounds(loop: Table) -> Figure:
    """Show how unevenly ratings are spread, round by round."""
    return Figure(
        "loop",
        ratings_by_round(loop, "even"),
        f"{said('own/LOOP-UNEVEN', {'loop': loop}, width=40)} (simulated)",
        "Lines of the Gini coefficient of the ratings over the rounds of a loop, one for each "
        "recommender.",
        _draw_rounds,
        "loop",
    )


def _draw_rounds(rows: pd.DataFrame, *, title: str) -> Picture:
    """Name each line, and tell by its look whether it ends above its start."""
    wide = rows.pivot_table(index="system", columns="round", values="value")
    rises = wide.iloc[:, -1] > wide.iloc[:, 0]
    last = int(rows["round"].max())
    return lines(
        rows, title=title, x="round", line="system", points=False, named=True, width=NARROW,
        looks={str(name): _RISES if up else _FALLS for name, up in rises.items()},
        level=float(wide.iloc[:, 0].mean()), limits={"xlim": (0, 1.32 * last)},
        ticks=range(0, last + 1, 2), across="round", up="Gini coefficient of the ratings",
        height=3.4,
    )  # fmt: skip


def foretelling(loop: Table) -> Figure:
    """Show which metric of the first lists foretells how uneven ratings will be."""

    def message(rows: pd.DataFrame) -> str:
        value = rows.set_index("metric")["value"]
        return (
            "Rank correlation with how uneven the ratings end:\n"
            f"{value['Gini']:.2f} for Gini of the first lists, {value['CI']:.2f} for CI"
        )

    names = pd.DataFrame.from_dict(_STARTS, orient="index", columns=["row", "line"])
    return Figure(
        "foretold",
        foretold(loop, "even").merge(names, left_on="metric", right_index=True),
        message,
        "Dots of the rank correlation, over the recommenders, of metrics of the first lists with "
        "the Gini coefficient of the ratings after the last round.",
        _draw_foretold,
        "foretold",
    )


def _draw_foretold(rows: pd.DataFrame, *, title: str) -> Picture:
    return dots(
        rows.sort_values("value", ascending=False), title=title, levels=(0,), width=NARROW,
        apart=False, across="rank correlation",
    )  # fmt: skip


def evenness(measured: Results, curves: Table, cutoff: int) -> Figure:
    """Show whose lists are more uneven than the ratings from which they were learned."""
    quantities = {
        name: measured[name, "full", f"Gini@{cutoff}"] for name in listing(measured, SEVEN)
    }
    rows = pd.DataFrame(
        [
            *((name, _LISTS, each.value, *each.interval) for name, each in quantities.items()),
            (_RATINGS, _RATINGS, gini_of_curve(curves, "prior"), np.nan, np.nan),
        ],
        columns=["row", "line", "value", "low", "high"],
    ).sort_values("value", ascending=False, kind="stable")

    def message(rows: pd.DataFrame) -> str:
        value = rows.set_index("row")["value"]
        systems = value.drop(_RATINGS)
        above = int((systems > value[_RATINGS]).sum())
        return f"{above} of {len(systems)} systems list items more unevenly\nthan they were rated"

    return Figure(
        "evenness",
        rows,
        message,
        "Dots of the Gini coefficient of the lists of each of the poster's systems, and of the "
        "ratings from which they were learned.",
        _draw_evenness,
        "evenness",
    )


def _draw_evenness(rows: pd.DataFrame, *, title: str) -> Picture:
    return dots(
        rows, title=title, keyed=(_LISTS, _RATINGS), hollow=_RATINGS, apart=False, width=NARROW,
        levels=tuple(rows.loc[rows["row"] == _RATINGS, "value"]), across="Gini coefficient",
    )  # fmt: skip


def two_orders(measured: Results, cutoff: int) -> Figure:
    """Show the poster's systems in the order of evenness, and in that of nearness."""
    metrics = {"most even first\n(Gini)": f"Gini@{cutoff}"}
    metrics["nearest to what was\npopular first (CI)"] = f"CI@{cutoff}"
    return Figure(
        "ranks",
        rank_rows(measured, metrics, systems=listing(measured, SEVEN)),
        said("ATM15-C-GINI/2/1", {"systems": measured}, width=_LINE),
        "The poster's systems in two orders, by Gini and by CI, the least first, joined by lines.",
        partial(ranks, x="metric", width=NARROW),
        "ranks",
    )


def alike(measured: Results, cutoff: int) -> Figure:
    """Show how far metrics of concentration order systems alike."""
    taus = tau_matrix(measured, cutoff)
    return Figure(
        "alike",
        taus[taus["a"].isin(_COMPARED) & taus["b"].isin(_COMPARED)],
        said(
            "own/LTI-IS-GINI",
            {"systems": measured},
            width=_LINE,
            holds=f"LTI as printed orders systems as Gini does ({_TAU}{{value:.2f}})",
            refuted=f"LTI as printed and Gini order systems in two ways ({_TAU}{{value:.2f}})",
            open=f"LTI as printed and Gini order systems with {_TAU}{{value:.2f}} "
            "({low:.2f} to {high:.2f})",
        ),
        "A map of Kendall's tau of each pair of seven metrics of concentration.",
        _draw_taus,
        "metrics",
    )


def _draw_taus(rows: pd.DataFrame, *, title: str) -> Picture:
    """Write the taus of all pairs into half a matrix."""
    metrics = list(dict.fromkeys([*rows["a"], *rows["b"]]))
    pairs = [sorted(pair, key=metrics.index) for pair in zip(rows["a"], rows["b"], strict=True)]
    cells = rows.assign(
        first=[first for first, _ in pairs],
        second=[second for _, second in pairs],
        value=rows["tau"],
        text=[_short(tau) for tau in rows["tau"]],
        framed=rows["low"] > ALIKE,
    )
    return matrix(
        cells, title=title, row="second", column="first", names=(metrics[1:], metrics[:-1]),
        scale=(-1, 1), key="Kendall's $\\tau$; framed: above .9 for certain",
        key_ticks=(-1, 0, 1), upright=True, width=NARROW,
    )  # fmt: skip


def _short(tau: float) -> str:
    """Write a number from -1 to 1 in at most three characters; a question mark for no number."""
    if np.isnan(tau):
        return "?"
    words = f"{tau:.1f}"
    return "0" if float(words) == 0 else words.removesuffix(".0").replace("0.", ".")
