"""What the figures of chapter 5 show, and their titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.claims.judging import load_chapter
from recbias.claims.quantities import order_tau
from recbias.claims.reference import find_reference
from recbias.claims.regions import defined
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results

_FOR_EVERYBODY = ("Popularity", "Average rating", "Random")
_OPTIMAL = ("Optimal precision", "Optimal anti-precision")
_KNOWN = "cm100k"

NAMED = ("Popularity", "Average rating", "Random", "Item kNN", "WRMF", "SLIM")
"""Systems that a picture names which has no room for all."""

_COLUMNS = {"P": "P", "antiP": "antiP", "R": "recall", "fallout": "fallout"}


class Panel(NamedTuple):
    """Two metrics under one label, as a figure sets them against each other.

    Attributes
    ----------
    title
        In words, without tau.
    x, y
        Label of the protocol and metric of either axis.
    x_label, y_label
        What the axes say.
    """

    title: str
    x: tuple[str, str]
    y: tuple[str, str]
    x_label: str
    y_label: str


def panels_of(which: str, cutoff: int, *, data: str = "") -> tuple[Panel, ...]:
    """Name the panels of a figure.

    Examples
    --------
    >>> [panel.x for panel in panels_of("truth", 10)]
    [('full', 'antiP@10'), ('true', 'antiP@10')]
    """
    n = f"@{cutoff}"
    hits, misses = f"hits: P{n}", f"misses: antiP{n}"

    def two(title: str, label: str, x: str, y: str, words: tuple[str, str]) -> Panel:
        return Panel(title, (label, f"{x}{n}"), (label, f"{y}{n}"), *words)

    if which == "first":
        relative = (f"fallout{n}", f"recall: R{n}")
        return (
            Panel("rated items only", *_as_authors(n), misses, hits),
            two("rated items only ", "condensed", "fallout", "R", relative),
            two("all items", "full", "antiP", "P", (misses, hits)),
            two("all items ", "full", "fallout", "R", relative),
        )
    if which == "truth":
        start = f"{data}, " if data else ""
        return (
            two(f"{start}observed", "full", "antiP", "P", (misses, hits)),
            two(f"{start}true", "true", "antiP", "P", (misses, hits)),
        )
    return tuple(
        Panel(name, ("full", f"{metric}{n}"), ("true", f"{metric}{n}"), "observed", "true")
        for metric, name in (("P", f"P{n}"), ("antiP", f"antiP{n}"))
    )


def _as_authors(n: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Name condensed antiP and P as the authors divide them, by what is judged in the list."""
    return ("condensed", f"antiP{n}|judged"), ("condensed", f"P{n}|judged")


def tau_of(results: Results, x: tuple[str, str], y: tuple[str, str]) -> Quantity:
    """Compute Kendall's tau between the orders of all systems by two metrics.

    Each with its label.
    """
    orders = [[results[system, *at] for system in results.systems] for at in (x, y)]
    return order_tau(*orders)


def _titled(results: Results, panel: Panel) -> str:
    tau = tau_of(results, panel.x, panel.y)
    low, high = tau.interval
    ends = f" ({low:.2f} to {high:.2f})" if np.isfinite([low, high]).all() and low < high else ""
    return f"{panel.title}\n$\\tau$ = {defined(tau.value, '.2f')}{ends}"


def scatter(results: Results, panels: Sequence[Panel]) -> dict[str, Any]:
    """Set systems by two metrics side by side, for `plot_two_metrics`."""
    return {"found": _systems_by_two(results, panels), "axes": _axes(results, panels)}


def _axes(results: Results, panels: Sequence[Panel]) -> dict[str, tuple[str, str]]:
    return {_titled(results, panel): (panel.x_label, panel.y_label) for panel in panels}


def _systems_by_two(results: Results, panels: Sequence[Panel]) -> pd.DataFrame:
    published = _published(results)
    last = [panel.y for panel in panels if not panel.y[1].startswith("anti")][-1]
    systems = sorted(results.systems, key=lambda name: -results[name, *last].value)
    rows = []
    for panel in panels:
        title = _titled(results, panel)
        for system in systems:
            row: dict[str, object] = {"panel": title, "system": system, "kind": _kind(system)}
            for axis, at in (("x", panel.x), ("y", panel.y)):
                quantity = results[system, *at]
                row |= {axis: quantity.value, **_ends(axis, quantity)}
                if published:
                    row[f"{axis}_published"] = published.get((system, *at), np.nan)
            rows.append(row)
    return pd.DataFrame(rows)


def _kind(system: str) -> str:
    if system in _OPTIMAL:
        return "optimal"
    return "for everybody" if system in _FOR_EVERYBODY else "trained"


def _ends(axis: str, quantity: Quantity) -> dict[str, float]:
    low, high = quantity.interval
    return {f"{axis}_low": low, f"{axis}_high": high}


def _published(results: Results) -> Mapping[tuple[str, str, str], float]:
    """Find published values by system, label and metric; none for other data or protocols."""
    grid = results.grid
    label, tests = "full", set(grid.parsed)
    if label not in tests:
        return {}
    reference = find_reference("mccrs20", grid.dataset, grid.split, str(grid.parsed[label]))
    if reference is None:
        return {}
    published = {}
    for system, values in reference.values.items():
        for side, start in (("full", ""), ("condensed", "condensed ")):
            for metric, column in _COLUMNS.items():
                name = f"{metric}@10" + "|judged" * (bool(start) and metric in ("P", "antiP"))
                published[system, side, name] = values[f"{start}{column}@10"]
    return published


def with_truth(own: Results) -> Results:
    """Choose results that have true values: those of a page, else the recorded ones of CM100k."""
    return own if "true" in own.grid.parsed else _of_cm100k(own)


def first_shown(own: Results) -> Results:
    """Choose what the first screen shows, which speaks of CM100k: that, else what there is."""
    return own if own.dataset["name"] == _KNOWN else _of_cm100k(own)


def _of_cm100k(results: Results) -> Results:
    recorded = load_chapter(CHAPTER, _KNOWN).get("systems")
    return recorded if isinstance(recorded, Results) else results


def known_panels(results: Results, which: str) -> tuple[Panel, ...]:
    """Name those panels of a figure that results have; of none the observed counts."""
    (cutoff,) = {
        metric.cutoff for every in results.grid.parsed_metrics.values() for metric in every
    }
    panels = panels_of(which, int(cutoff or 0), data=short_name(results))
    labels = results.grid.parsed
    available = [panel for panel in panels if {panel.x[0], panel.y[0]} <= set(labels)]
    return tuple(available) or known_panels(results, "truth")


def short_name(results: Results) -> str:
    """Name the data of some results without what stands in brackets."""
    return str(results.dataset["title"]).partition(" (")[0]


def lead_title(results: Results, panels: Sequence[Panel]) -> str:
    """Say in two lines how hits and misses go together, as a test counts them and by the truth."""
    taus = [tau_of(results, panel.x, panel.y).value for panel in panels]
    said = [f"{_together(taus[0])} in the test"]
    said += [f"{_together(tau).lower()} by the truth" for tau in taus[1:]]
    return ",\n".join(said)


def _together(tau: float) -> str:
    if np.isnan(tau):
        return "Hits or misses the same for all"
    if abs(tau) < 0.1:
        return "Hits and misses unrelated"
    return "More hits, more misses" if tau > 0 else "More hits, fewer misses"


def first_title(results: Results, panels: Sequence[Panel]) -> str:
    """Say in two lines the taus of P and antiP, of rated items and of all."""
    among_rated, among_all = (
        defined(tau_of(results, panel.x, panel.y).value, ".2f") for panel in (panels[0], panels[2])
    )
    return (
        "Orders of systems by hits and by misses:\n"
        f"$\\tau$ = {among_rated} of rated items, {among_all} of all items"
    )


def each_title(results: Results, panels: Sequence[Panel]) -> str:
    """Say in two lines how far either count orders systems as its truth does."""
    if len(panels) < len(panels_of("each", 1)):
        return lead_title(results, panels)
    hits, misses = (defined(tau_of(results, panel.x, panel.y).value, ".2f") for panel in panels)
    return (
        f"{short_name(results)}: test and truth order systems with\n"
        f"$\\tau$ = {hits} by hits, {misses} by misses"
    )
