"""The figures of chapter 6: ranks by many metrics, Lorenz curves, which metrics are one, a loop."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.concentration_metrics.alike import ALIKE, tau_matrix
from recbias.book.chapters.concentration_metrics.loop import rounds_shown
from recbias.book.chapters.concentration_metrics.orders import listing, rank_rows
from recbias.book.chapters.concentration_metrics.setup import LAMBDA, LAMBDAS, SEVEN
from recbias.book.figures import Figure, lines, matrix
from recbias.book.findings import said
from recbias.experiment.makers import Table
from recbias.experiment.run import Results

_ROUNDS = {"Gini": "Gini of the lists", "CI": "CI", "LTI": "LTI", "P": "truly liked"}
"""Titles of panels by what they show of a feedback loop."""


def ranked(measured: Results, cutoff: int) -> Figure:
    """Show the ranks of the poster's systems as its figure does, on the data set of a page."""

    def message(rows: pd.DataFrame) -> str:
        wide = rows.pivot_table(index="system", columns="metric", values="rank")
        last = len(wide) - 1
        systems = [str(n) for n, row in wide.iterrows() if row["Gini"] <= 2 and row["CI"] >= last]
        if not systems:
            return "No system is among the two most even\nand among the two that deviate least"
        return f"Among the most even, and deviating least:\n{', '.join(systems)}"

    metrics = {
        name.partition("(")[0]: f"{name}@{cutoff}"
        for name in ("P", "nDCG", "Gini", "Diversity", "CI", f"LTI({LAMBDA:g})")
    }
    metrics["LTI, percentile"] = f"LTI({LAMBDA:g})@{cutoff}|percentile"
    panel, systems = str(measured.dataset["title"]), listing(measured, SEVEN)
    return Figure(
        "lead",
        rank_rows(measured, metrics, panel=panel, systems=systems),
        message,
        "A map of the ranks of the poster's systems by metrics of accuracy, dispersion and "
        "concentration.",
        _draw_ranks,
        "ranks",
    )


def _draw_ranks(rows: pd.DataFrame, *, title: str) -> Picture:
    """Colour ranks from 1 (green) to the last (red), with what they may be."""
    ranges = zip(rows["rank"], rows["low"], rows["high"], strict=True)
    words = [
        f"{rank:.3g}" + (f"\n{low:.3g}–{high:.3g}" if low < high else "")
        for rank, low, high in ranges
    ]
    return matrix(
        rows.assign(value=rows["rank"].astype(float), text=words), title=title, row="system",
        column="metric", scale=(1, max(rows["system"].nunique(), 2)), alpha=0.8, upright=True,
    )  # fmt: skip


def lorenz(curves: Table) -> Figure:
    """Show what share of all recommendations the items with the fewest of them have."""

    def message(rows: pd.DataFrame) -> str:
        wide = rows.pivot_table(index="share", columns="line", values="value")
        systems = [name for name in wide.columns if name != "prior"]
        below = [name for name in systems if (wide[name] <= wide["prior"] + 1e-12).all()]
        return (
            f"{len(below)} of {len(systems)} systems spread their recommendations\n"
            "more unevenly than ratings were, wherever one looks"
        )

    return Figure(
        "lorenz",
        curves.frame.melt("share", var_name="line"),
        message,
        "Lorenz curves of the recommendations of each of the poster's systems, and of what was "
        "popular before.",
        partial(
            lines, x="share", points=False, diagonal=True, reference="prior", height=3.8,
            limits={"xlim": (0, 1), "ylim": (0, 1)}, up="share of recommendations",
            across="share of the items, fewest recommendations first",
        ),
        "lorenz",
    )  # fmt: skip


def by_lambda(lambdas: Results, cutoff: int) -> Figure:
    """Show the ranks by LTI with nine lambdas, as printed and with percentiles."""

    def message(rows: pd.DataFrame) -> str:
        words = []
        for panel, own in rows.groupby("panel", sort=False):
            columns = own.pivot_table(index="metric", columns="system", values="rank")
            words.append(f"{len(columns.drop_duplicates())} {panel!s}")
        return f"Different columns among those of nine lambdas:\n{', '.join(words)}"

    systems = listing(lambdas, SEVEN)
    panels = [
        rank_rows(
            lambdas,
            {f"λ = {lam:g}": f"LTI({lam:g})@{cutoff}{form}" for lam in LAMBDAS},
            panel=panel,
            systems=systems,
        )
        for panel, form in (("as printed", ""), ("with percentiles", "|percentile"))
    ]
    return Figure(
        "lambdas",
        pd.concat(panels, ignore_index=True).assign(low=np.nan, high=np.nan),
        message,
        "Two maps of ranks of the poster's systems by LTI with nine lambdas, as printed and with "
        "percentiles.",
        _draw_ranks,
        "lambdas",
    )


def alike(measured: Results, cutoff: int) -> Figure:
    """Show how far each pair of metrics orders systems alike."""
    return Figure(
        "alike",
        tau_matrix(measured, cutoff),
        said("own/METRICS-ALIKE", {"systems": measured}),
        "A map of Kendall's tau of each pair of eleven metrics of concentration.",
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
        colours="RdBu", scale=(-1, 1), key="Kendall's $\\tau$; framed: above .9 for certain",
        key_ticks=(-1, 0, 1), upright=True,
    )  # fmt: skip


def _short(tau: float) -> str:
    """Write a number from -1 to 1 in at most three characters; a question mark for no number."""
    if np.isnan(tau):
        return "?"
    words = f"{tau:.1f}"
    return "0" if float(words) == 0 else words.removesuffix(".0").replace("0.", ".")


def courses(loop: Table, choice: str) -> Figure:
    """Show quantities of each system over the rounds of a feedback loop."""

    def message(rows: pd.DataFrame) -> str:
        own = rows[rows["panel"] == _ROUNDS["Gini"]]
        wide = own.pivot_table(index="system", columns="round", values="value")
        rising = int((wide.iloc[:, -1] > wide.iloc[:, 0]).sum())
        return (
            f"Lists of {rising} of {len(wide)} systems are more uneven\n"
            f"after {wide.columns.max()} rounds than at first"
        )

    return Figure(
        f"loop_{choice}",
        rounds_shown(loop, choice, _ROUNDS),
        message,
        "Four panels, the Gini coefficient, CI, LTI and true precision of the poster's systems "
        f"over eight rounds with {choice} choice.",
        partial(
            lines, x="round", line="system", points=False, n_columns=2, share_x=True, height=2.6,
            across="round",
        ),
        f"loop-{choice}",
    )  # fmt: skip
