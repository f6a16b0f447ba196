"""The figures of chapter 5 about systems, items and worlds: hits and misses, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.true_values import (
    first_shown,
    with_truth,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.worlds import WORLDS, agreement_map
from recbias.book.figures import NARROW, Figure, lines, scatter
from recbias.book.findings import said
from recbias.claims.quantities import order_tau
from recbias.claims.reference import find_reference
from recbias.claims.regions import defined
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results

_FOR_EVERYBODY = ("Popularity", "Average rating", "Random")
_OPTIMAL = ("Optimal precision", "Optimal anti-precision")

_NAMED = ("Popularity", "Average rating", "Random", "WRMF")
"""Systems that a picture names which has no room for all."""

_COLUMNS = {"P": "P", "antiP": "antiP"}


# -- systems by two metrics ------------------------------------------------------------------------


def lead(measured: Results) -> Figure:
    """Show how hits and misses go together, as a test counts them and by the truth."""
    shown = first_shown(measured)
    told = [
        said(
            name,
            {"systems": measured},
            holds=f"More hits, {held} misses {where}",
            refuted=f"More hits, {other} misses {where}",
            open=f"More hits, perhaps {held} misses {where}",
        )
        for name, held, other, where in (
            ("own/CM-OBSERVED-TAU", "more", "fewer", "in the test"),
            ("own/CM-TRUE-TAU", "fewer", "more", "by the truth"),
        )
    ]
    by_record = all(told) and shown.dataset["name"] == "cm100k"
    return Figure(
        "lead",
        _systems_by_two(shown, _known_panels(shown, "truth")),
        _in_two_lines(told) if by_record else _together,
        "Two panels of sixteen systems by misses and hits. In the left one, of observed ratings, "
        "points rise together; in the right one, of ratings of random items, they fall.",
        partial(scatter, named=_NAMED),
    )


def two_counts(measured: Results) -> Figure:
    """Show systems by hits and by misses, among rated items and among all: MCCRS20 Fig. 1."""
    told = [
        said(
            name,
            {"systems": measured},
            holds=f"More hits, {held} misses among {where}",
            refuted=f"Not always {held} misses among {where}",
            open=f"$\\tau$ = {{value:.2f}} among {where}",
        )
        for name, held, where in (
            ("MCCRS20-F1-TL/2", "fewer", "rated items"),
            ("MCCRS20-F1-BL/1", "more", "all items"),
        )
    ]
    return Figure(
        "two_counts",
        _systems_by_two(measured, _known_panels(measured, "first")),
        _in_two_lines(told) if all(told) else "Hits and misses among rated and among all items",
        "Two panels of systems, hits against misses: of rated items only, and of all items.",
        partial(scatter, named=_FOR_EVERYBODY),  # more names cross in the left panel
        "figure-1",
    )


def each_count(measured: Results) -> Figure:
    """Show how far either count orders systems as its truth does: MCCRS20 Fig. 6."""
    shown = with_truth(measured)

    def message(rows: pd.DataFrame) -> str:
        taus = rows.groupby("panel", sort=False)["tau"].first().tolist()
        if len(taus) < len(_panels_of("each", 1)):
            return _together(rows)
        hits, misses = (defined(tau, ".2f") for tau in taus)
        return (
            f"{_short_name(shown)}: test and truth order systems with\n"
            f"$\\tau$ = {hits} by hits, {misses} by misses".replace("-", "\N{MINUS SIGN}")
        )

    return Figure(
        "each",
        _systems_by_two(shown, _known_panels(shown, "each")),
        message,
        "Two panels of systems, observed against true precision and observed against true anti- "
        "precision.",
        partial(scatter, named=_NAMED),
        "figure-6",
    )


class _Panel(NamedTuple):
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


def _panels_of(which: str, cutoff: int, *, data: str = "") -> tuple[_Panel, ...]:
    """Name the panels of a figure."""
    n = f"@{cutoff}"
    hits, misses = f"hits: P{n}", f"misses: antiP{n}"

    def two(title: str, label: str, x: str, y: str, words: tuple[str, str]) -> _Panel:
        return _Panel(title, (label, f"{x}{n}"), (label, f"{y}{n}"), *words)

    if which == "first":
        return (
            _Panel("rated items only", *_as_authors(n), misses, hits),
            two("all items", "full", "antiP", "P", (misses, hits)),
        )
    if which == "truth":
        start = f"{data}, " if data else ""
        return (
            two(f"{start}observed", "full", "antiP", "P", (misses, hits)),
            two(f"{start}true", "true", "antiP", "P", (misses, hits)),
        )
    return tuple(
        _Panel(name, ("full", f"{metric}{n}"), ("true", f"{metric}{n}"), "observed", "true")
        for metric, name in (("P", hits), ("antiP", misses))
    )


def _as_authors(n: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Name condensed antiP and P as the authors divide them, by what is judged in the list."""
    return ("condensed", f"antiP{n}|judged"), ("condensed", f"P{n}|judged")


def _tau_of(results: Results, x: tuple[str, str], y: tuple[str, str]) -> Quantity:
    """Compute Kendall's tau between the orders of all systems by two metrics with their labels."""
    orders = [[results[system, *at] for system in results.systems] for at in (x, y)]
    return order_tau(*orders)


def _systems_by_two(results: Results, panels: Sequence[_Panel]) -> pd.DataFrame:
    """Set systems by two metrics side by side, the best by hits first."""
    published = _published(results)
    last = [panel.y for panel in panels if not panel.y[1].startswith("anti")][-1]
    systems = sorted(results.systems, key=lambda name: -results[name, *last].value)
    rows = []
    for panel in panels:
        tau = _tau_of(results, panel.x, panel.y)
        low, high = tau.interval
        for system in systems:
            row: dict[str, object] = {"panel": panel.title, "system": system}
            row |= {"kind": _kind(system), "x_label": panel.x_label, "y_label": panel.y_label}
            row |= {"tau": tau.value, "tau_low": low, "tau_high": high}
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


def _known_panels(results: Results, which: str) -> tuple[_Panel, ...]:
    """Name those panels of a figure that results have; of none the observed counts."""
    (cutoff,) = {
        metric.cutoff for every in results.grid.parsed_metrics.values() for metric in every
    }
    panels = _panels_of(which, int(cutoff or 0), data=_short_name(results))
    labels = results.grid.parsed
    available = [panel for panel in panels if {panel.x[0], panel.y[0]} <= set(labels)]
    return tuple(available) or _known_panels(results, "truth")


def _short_name(results: Results) -> str:
    """Name the data of some results without what stands in brackets."""
    return str(results.dataset["title"]).partition(" (")[0]


def _in_two_lines(told: Sequence[str]) -> str:
    first, last = told
    return f"{first},\n{last[:1].lower()}{last[1:]}"


def _together(rows: pd.DataFrame) -> str:
    """Say in two lines how hits and misses go together in each panel."""
    taus = rows.groupby("panel", sort=False)["tau"].first()
    told = [f"{_relation(taus.iloc[0])} in the test"]
    told += [f"{_relation(tau).lower()} by the truth" for tau in taus.iloc[1:]]
    return ",\n".join(told)


def _relation(tau: float) -> str:
    if np.isnan(tau):
        return "Hits or misses the same for all"
    if abs(tau) < 0.1:
        return "Hits and misses unrelated"
    return "More hits, more misses" if tau > 0 else "More hits, fewer misses"


# -- items and worlds ------------------------------------------------------------------------------

_CURVES = {
    "sorted p(train)": "popularity: have it in training",
    "sorted p(rel|train)": "liking: of these like it",
}


def item_curves(items: Table, groups: Table) -> Figure:
    """Show how popularity and liking fall off over items: MCCRS20 Fig. 3."""
    rows = groups.frame[groups.frame["panel"].isin(list(_CURVES))]
    of_largest = rows["middle"] / rows.groupby("panel")["middle"].transform("max")
    abruptly = "{value:.1f} times as abruptly as liking"
    return Figure(
        "curves",
        rows[["panel", "x"]].assign(line=rows["panel"].map(_CURVES), value=of_largest),
        said(
            "MCCRS20-F3/4",
            {"items": items},
            holds=f"Popularity falls off {abruptly}\n(ratio of Gini coefficients)",
            refuted=f"Popularity falls off only {abruptly}\n(ratio of Gini coefficients)",
            open=f"Popularity falls off {abruptly}\n(ratio of Gini coefficients)",
        )
        or "How popularity and liking fall off over items",
        "Two curves over the items of a catalogue, largest first: the share of the users who have "
        "an item in training, and of these who like it.",
        partial(
            lines, x="x", panel="", points=False, ticks=(0, 0.5, 1), keys_abreast=1, width=NARROW,
            across="items, largest first", up="share of users / largest",
            limits={"xlim": (0, 1), "ylim": (0, 1.03)}, height=3.0,
        ),
        "figure-3",
    )  # fmt: skip


_COUNTS = {"P": "hits (P)", "antiP": "misses (antiP)"}


def which_count(worlds: Table) -> Figure:
    """Show how far either count orders systems as the truth does, over kinds of worlds."""
    results = {"worlds": worlds}
    opposed = said(
        "own/OPPOSED-ANTIP",
        results,
        holds="Misses are right where popular items are liked less,",
        refuted="Misses are not right where popular items are liked less,",
        open="Misses may be right where popular items are liked less,",
    )
    agreeing = said(
        "own/AGREEING-P",
        results,
        holds="hits where they are liked more",
        refuted="nor are hits where they are liked more",
        open="hits perhaps where they are liked more",
    )
    maps = [agreement_map(worlds, of).assign(line=words) for of, words in _COUNTS.items()]
    rows = pd.concat(maps, ignore_index=True)
    return Figure(
        "which",
        rows[rows["skew"] == WORLDS["at_skew"]],
        f"{opposed}\n{agreeing}",
        "Kendall's tau with the truth of systems by observed hits and by observed misses, over the "
        "relation of popularity and liking.",
        partial(
            lines, x="relation", whiskers=True, level=0, ticks=(-0.9, -0.3, 0, 0.3, 0.9),
            up="$\\tau$ with the truth", width=NARROW, height=3.2,
            across="popular items are liked less (\N{MINUS SIGN}), more (+)",
        ),
        "counts-over-relations",
    )  # fmt: skip
