"""What the figures of chapter 6 show, and their titles."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from recbias.claims.concentration_metrics.orders import rank_rows
from recbias.claims.concentration_metrics.setup import LAMBDA, SEVEN
from recbias.experiment import Results

__all__ = ["LOOP_TITLE", "SHOWN_ROUNDS", "alike_title", "map_title", "rank_map"]

LOOP_TITLE = "Eight rounds of recommendations that become ratings"

SHOWN_ROUNDS: Mapping[str, str] = {
    "Gini": "Gini of the lists",
    "CI": "CI",
    "LTI": "LTI",
    "P": "truly liked",
}
"""Titles of panels by what they show of a feedback loop."""


def rank_map(found: Results, cutoff: int) -> pd.DataFrame:
    """Rank the systems of the poster as its figure does, on the data set of a page.

    Parameters
    ----------
    found
        With the protocol of the chapter.
    cutoff
        Length of the lists.

    Returns
    -------
    DataFrame
        As of :func:`rank_rows`, by accuracy, dispersion, CI and LTI.
    """
    metrics = {
        name.partition("(")[0]: f"{name}@{cutoff}"
        for name in ("P", "nDCG", "Gini", "Diversity", "CI", f"LTI({LAMBDA:g})")
    }
    metrics["LTI, percentile"] = f"LTI({LAMBDA:g})@{cutoff}|percentile"
    systems = found.among(SEVEN)
    return rank_rows(found, metrics, panel=str(found.dataset["title"]), systems=systems)


def map_title(ranked: pd.DataFrame) -> str:
    """Say of how many systems the ranks by Gini and by CI lie at opposite ends."""
    wide = ranked.pivot_table(index="system", columns="metric", values="rank")
    last = len(wide) - 1
    found = [str(name) for name, row in wide.iterrows() if row["Gini"] <= 2 and row["CI"] >= last]
    if not found:
        return "No system is among the two most even\nand among the two that deviate least"
    return f"Among the most even, and deviating least:\n{', '.join(found)}"


def alike_title(alike: pd.DataFrame) -> str:
    """Say how many pairs of metrics are surely one."""
    one = int((alike["low"] > 0.9).sum())
    return f"{one} of {len(alike)} pairs of metrics are surely one"
