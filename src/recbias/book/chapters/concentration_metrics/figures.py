"""What the figures of chapter 6 show, and their titles."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from recbias.book.chapters.concentration_metrics.orders import listing, rank_rows
from recbias.book.chapters.concentration_metrics.setup import LAMBDA, LAMBDAS, SEVEN
from recbias.experiment.run import Results

SHOWN_ROUNDS: Mapping[str, str] = {
    "Gini": "Gini of the lists",
    "CI": "CI",
    "LTI": "LTI",
    "P": "truly liked",
}
"""Titles of panels by what they show of a feedback loop."""


def rank_map(found: Results, cutoff: int) -> pd.DataFrame:
    """Rank the systems of the poster as its figure does, on the data set of a page."""
    metrics = {
        name.partition("(")[0]: f"{name}@{cutoff}"
        for name in ("P", "nDCG", "Gini", "Diversity", "CI", f"LTI({LAMBDA:g})")
    }
    metrics["LTI, percentile"] = f"LTI({LAMBDA:g})@{cutoff}|percentile"
    systems = listing(found, SEVEN)
    return rank_rows(found, metrics, panel=str(found.dataset["title"]), systems=systems)


def map_title(ranked: pd.DataFrame) -> str:
    """Say which systems are green by Gini and red by CI: among the two at either end."""
    wide = ranked.pivot_table(index="system", columns="metric", values="rank")
    last = len(wide) - 1
    systems = [str(name) for name, row in wide.iterrows() if row["Gini"] <= 2 and row["CI"] >= last]
    if not systems:
        return "No system is among the two most even\nand among the two that deviate least"
    return f"Among the most even, and deviating least:\n{', '.join(systems)}"


def lambda_map(found: Results, cutoff: int) -> pd.DataFrame:
    """Rank the systems of the poster by LTI with nine lambdas, as printed and with percentiles."""
    systems = listing(found, SEVEN)
    panels = [
        rank_rows(
            found,
            {f"λ = {lam:g}": f"LTI({lam:g})@{cutoff}{form}" for lam in LAMBDAS},
            panel=panel,
            systems=systems,
        )
        for panel, form in (("as printed", ""), ("with percentiles", "|percentile"))
    ]
    return pd.concat(panels, ignore_index=True).assign(low=np.nan, high=np.nan)


def lambda_title(ranked: pd.DataFrame) -> str:
    """Count the different orders that the lambdas of each form give."""
    words = []
    for panel, rows in ranked.groupby("panel", sort=False):
        columns = rows.pivot_table(index="metric", columns="system", values="rank")
        words.append(f"{len(columns.drop_duplicates())} {panel!s}")
    return f"Different columns among those of nine lambdas:\n{', '.join(words)}"


def lorenz_title(curves: pd.DataFrame) -> str:
    """Say how many systems have a curve that is nowhere above that of what was popular before."""
    systems = [name for name in curves.columns if name != "prior"]
    below = [name for name in systems if (curves[name] <= curves["prior"] + 1e-12).all()]
    return (
        f"{len(below)} of {len(systems)} systems spread their recommendations\n"
        "more unevenly than ratings were, wherever one looks"
    )


def loop_title(courses: pd.DataFrame) -> str:
    """Say for how many systems the lists are more uneven after the last round than at first."""
    rows = courses[courses["panel"] == SHOWN_ROUNDS["Gini"]]
    wide = rows.pivot_table(index="system", columns="round", values="value")
    rising = int((wide.iloc[:, -1] > wide.iloc[:, 0]).sum())
    return (
        f"Lists of {rising} of {len(wide)} systems are more uneven\n"
        f"after {wide.columns.max()} rounds than at first"
    )
