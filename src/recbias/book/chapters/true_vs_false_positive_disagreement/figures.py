"""The figures of chapter 5: hits and misses, items and worlds, judgments, which metric to trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Picture

from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.chapters.true_vs_false_positive_disagreement.judgment_tables import (
    METRICS,
    needed,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.judgments import TARGETS
from recbias.book.chapters.true_vs_false_positive_disagreement.pair_tables import over_skew
from recbias.book.chapters.true_vs_false_positive_disagreement.true_values import (
    first_shown,
    with_truth,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.trusted import (
    calibration,
    kinds_of_worlds,
)
from recbias.book.chapters.true_vs_false_positive_disagreement.worlds import agreement_map
from recbias.book.figures import Figure, field, lines, parts, scatter
from recbias.claims.quantities import order_tau
from recbias.claims.reference import find_reference
from recbias.claims.regions import defined
from recbias.data.datasets import dataset_info
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.trust import LEVEL

_FOR_EVERYBODY = ("Popularity", "Average rating", "Random")
_OPTIMAL = ("Optimal precision", "Optimal anti-precision")

_NAMED = ("Popularity", "Average rating", "Random", "Item kNN", "WRMF", "SLIM")
"""Systems that a picture names which has no room for all."""

_COLUMNS = {"P": "P", "antiP": "antiP", "R": "recall", "fallout": "fallout"}


# -- systems by two metrics ------------------------------------------------------------------------


def lead(measured: Results) -> Figure:
    """Show how hits and misses go together, as a test counts them and by the truth."""
    shown = first_shown(measured)
    return Figure(
        "lead",
        _systems_by_two(shown, _known_panels(shown, "truth")),
        _together,
        "Two panels of sixteen systems by misses and hits. In the left one, of observed ratings, "
        "points rise together; in the right one, of ratings of random items, they fall.",
        partial(scatter, named=_NAMED),
    )


def two_counts(measured: Results) -> Figure:
    """Show systems by hits and by misses, among rated items and among all: MCCRS20 Fig. 1."""

    def message(rows: pd.DataFrame) -> str:
        taus = rows.groupby("panel", sort=False)["tau"].first().tolist()
        rated, every = (defined(taus[place], ".2f") for place in (0, 2))
        return (
            "Orders of systems by hits and by misses:\n"
            f"$\\tau$ = {rated} of rated items, {every} of all items"
        )

    return Figure(
        "two_counts",
        _systems_by_two(measured, _known_panels(measured, "first")),
        message,
        "Four panels of systems: precision against anti-precision and recall against fallout, of "
        "rated items only and of all items.",
        scatter,
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
            f"$\\tau$ = {hits} by hits, {misses} by misses"
        )

    return Figure(
        "each",
        _systems_by_two(shown, _known_panels(shown, "each")),
        message,
        "Two panels of systems, observed against true precision and observed against true anti- "
        "precision.",
        scatter,
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
        relative = (f"fallout{n}", f"recall: R{n}")
        return (
            _Panel("rated items only", *_as_authors(n), misses, hits),
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
        _Panel(name, ("full", f"{metric}{n}"), ("true", f"{metric}{n}"), "observed", "true")
        for metric, name in (("P", f"P{n}"), ("antiP", f"antiP{n}"))
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


# -- items -----------------------------------------------------------------------------------------

_CURVES = {
    "sorted p(train)": "have it in training",
    "sorted p(rel|train)": "of these like it",
    "sorted p(not rel|train)": "of these do not",
}
_ORDERS = "place by f_antiP over place by f_P"
_FUNCTIONS = {"f_P": ("hits", "Eq. 2, by hits"), "f_antiP": ("misses", "Eq. 4, by misses")}
_SHARES = {
    "p(train)": ("popularity", "have it in training"),
    "p(rel|train)": ("liking", "of these like it"),
}


def _of(items: Table, measure: str, of: str) -> float:
    return float(items[{"measure": measure, "of": of}].value)


def item_curves(items: Table, groups: Table) -> Figure:
    """Show how popularity and liking fall off over items, and the two optimal orders: Fig. 3."""

    def message(rows: pd.DataFrame) -> str:
        told = rows.groupby("panel")["told"].first()
        popular, liked, orders = (
            defined(told[panel], ".2f")
            for panel in ("sorted p(train)", "sorted p(rel|train)", _ORDERS)
        )
        return (
            f"Gini coefficients: popularity {popular}, liking {liked};\n"
            f"the two optimal orders have a rank correlation of {orders}"
        )

    told = {f"sorted {of}": _of(items, "Gini", of) for of in _SHARES}
    told[_ORDERS] = _of(items, "Spearman", "f_P and f_antiP")
    frame = groups.frame[groups.frame["panel"].isin([*_CURVES, _ORDERS])]
    return Figure(
        "curves",
        frame.assign(told=frame["panel"].map(told)).reset_index(drop=True),
        message,
        "Left, three falling curves over items: the share of users who have an item in training, "
        "and the shares of these who like it and who do not. Right, the place of items in one "
        "optimal ranking against that in the other.",
        _draw_curves,
        "figure-3",
    )


def _draw_curves(rows: pd.DataFrame, *, title: str) -> Picture:
    """Draw the curves by their shapes, and one order over the other beside them."""
    left, right, drawn = "popularity and liking", "the two orders", []
    for panel, words in _CURVES.items():
        own = rows[rows["panel"] == panel]
        values = own["middle"] / own["middle"].max()
        drawn.append(pd.DataFrame({"panel": left, "line": words, "at": own["x"], "value": values}))
    orders = rows[rows["panel"] == _ORDERS].rename(columns={"x": "at", "middle": "value"})
    words = "place by misses: middle and range"
    drawn.append(orders.assign(panel=right, line=words)[[*drawn[0].columns, "low", "high"]])
    return lines(
        pd.concat(drawn, ignore_index=True), title=title, points=False, diagonal=(right,),
        across={left: "items, largest first", right: "place, best by hits first"},
        up={left: "share of users / largest", right: "place by misses"}, ticks=(0, 0.5, 1),
        limits={"xlim": (0, 1), "ylim": (0, 1.03)}, height=3.4,
    )  # fmt: skip


def item_functions(items: Table, groups: Table) -> Figure:
    """Show what ranks items best by hits and by misses, over popularity and liking: Fig. 4."""

    def message(rows: pd.DataFrame) -> str:
        over = rows[rows["x_label"] == _SHARES["p(train)"][1]]
        hits, misses = (defined(r, ".2f") for r in over.groupby("y_label", sort=False)["r"].first())
        return (
            "What ranks items best correlates with popularity:\n"
            f"by r = {hits} for hits and {misses} for misses"
        )

    panels = []
    for (function, words), (share, names) in product(_FUNCTIONS.items(), _SHARES.items()):
        own = groups.frame[groups.frame["panel"] == f"{function} over {share}"]
        r = _of(items, "Pearson", f"{function} and {share}")
        panel = f"{words[0]} over {names[0]}"
        panels.append(
            own.assign(panel=panel, line=words[1], r=r, x_label=names[1], y_label=words[1])
        )
    return Figure(
        "functions",
        pd.concat(panels, ignore_index=True).rename(columns={"middle": "value"}),
        message,
        "Four panels: what ranks items best by hits, and by misses, against the share of users "
        "who have them in training and the share of these who like them.",
        _draw_functions,
        "figure-4",
    )


def _draw_functions(rows: pd.DataFrame, *, title: str) -> Picture:
    """Draw each function over each share, with the correlation of both in the head."""
    told = [
        f"{panel}: " + (f"r = {r:.2f}" if np.isfinite(r) else "r undefined")
        for panel, r in zip(rows["panel"], rows["r"], strict=True)
    ]
    rows = rows.assign(panel=told)
    across, up = (
        dict(rows[["panel", label]].astype(str).to_numpy().tolist())
        for label in ("x_label", "y_label")
    )
    return lines(
        rows, title=title, x="x", n_columns=2, share_x="col", share_y="row", height=2.4,
        across=across, up=up,
    )  # fmt: skip


# -- worlds ----------------------------------------------------------------------------------------

_FLAT = {
    "agreeing": "popular items are liked more",
    "independent": "popularity and liking are unrelated",
    "opposing": "popular items are liked less",
}


def flat(tables: Mapping[str, Table]) -> Figure:
    """Show on how many pairs of items the optima disagree, over the skew of popularity."""

    def message(rows: pd.DataFrame) -> str:
        own = rows[rows["kind"] == "independent"].sort_values("skew")
        first, last = own.iloc[0], own.iloc[-1]
        return (
            f"The optima disagree on {first['value']:.0%} of the pairs where popularity is\n"
            f"even, and on {last['value']:.0%} at a Gini coefficient of {last['skew']:g}"
        )

    rows = over_skew({name: tables[name] for name in _FLAT})
    return Figure(
        "flat",
        rows.assign(line=rows["kind"].map(_FLAT)),
        message,
        "Share of the pairs of items that the two optimal rankings put in opposite orders, over "
        "the skew of popularity, a line for each of three relations of popularity and liking.",
        partial(
            lines,
            x="skew",
            whiskers=True,
            level=0.5,
            keys_abreast=1,
            height=3.2,
            across="skew: Gini of the items' ratings",
            up="pairs in opposite orders",
        ),
        "conclusion-3",
    )


_MAPS = {
    "observed": "P and antiP, observed",
    "true": "P and antiP, true",
    "P": "P, observed and true",
    "antiP": "antiP, observed and true",
}


def tau_maps(worlds: Table, points: Table, ranges: Table) -> Figure:
    """Show four taus over the kinds of worlds, with data sets on them."""

    def message(rows: pd.DataFrame) -> str:
        steep = rows[rows["skew"] == rows["skew"].max()].set_index(["panel", "relation"])["value"]
        ends = [float(end) for end in (rows["relation"].min(), rows["relation"].max())]
        p, anti = ([steep[_MAPS[name], end] for end in ends] for name in ("P", "antiP"))
        return (
            "From opposed to agreeing popularity, $\\tau$ with the truth goes\n"
            f"from {p[0]:.2f} to {p[1]:.2f} for P, from {anti[0]:.2f} to {anti[1]:.2f} for antiP"
        )

    panels = [agreement_map(worlds, of).assign(panel=panel) for of, panel in _MAPS.items()]
    return Figure(
        "maps",
        pd.concat(panels, ignore_index=True),
        message,
        "Four maps of Kendall's tau over the skew of popularity and its relation to liking: of "
        "precision and anti-precision as observed and by the truth, and of each with its own "
        "truth; data sets are numbered on them.",
        partial(
            field,
            x="skew",
            y="relation",
            places=_on_map(points, ranges),
            numbered=True,
            most=1,
            labels=("skew of popularity", "relation to liking"),
            key="Kendall's $\\tau$",
            key_ticks=(-1, -0.5, 0, 0.5, 1),
            n_columns=2,
            height=2.6,
        ),
        "taus-of-worlds",
    )


def _on_map(points: Table, ranges: Table) -> pd.DataFrame:
    """Place data sets: where the relation is known at a point, else between two."""
    rows, frame = [], pd.concat([points.frame, ranges.frame])
    for name, quantities in frame.groupby("dataset", sort=False):
        by = quantities.set_index("quantity")
        skew, relation = by.loc["skew", "value"], by.loc["relation"]
        known = bool(pd.notna(relation["value"]))
        ends = (relation["value"],) * 2 if known else (relation["low"], relation["high"])
        rows.append((short_title(dataset_info(str(name)).title), skew, *ends))
    return pd.DataFrame(rows, columns=["name", "skew", "low", "high"])


# -- judgments -------------------------------------------------------------------------------------

_COURSE = ["panel", "line", "at", "value", "low", "high", "least", "most"]
_OVER_JUDGMENTS = partial(
    lines, points=False, log=True, across="random judgments per user", share_y=True, height=3.5
)


def _joined(rows: Sequence[pd.DataFrame], *more: str) -> pd.DataFrame:
    """Put rows together; where nothing is at hand there are only columns."""
    columns = [*_COURSE, *more]
    return pd.concat(rows, ignore_index=True)[columns] if rows else pd.DataFrame(columns=columns)


def judged_orders(tables: Mapping[str, Table], cutoff: int) -> Figure:
    """Follow the expected tau with the true order over the number of judgments."""
    target = TARGETS[-1]

    def message(rows: pd.DataFrame) -> str:
        if rows.empty:
            return "No data with random judgments are at hand"
        own = rows[rows["line"] == rows["line"].iloc[0]]
        hits, misses = own.groupby("panel", sort=False)["needed"].first()
        return (
            f"{own['line'].iloc[0]}: an order that is true ($\\tau$ = {target:g}) takes about\n"
            f"{hits:.0f} random judgments per user by P, {misses:.0f} by antiP"
        )

    rows = [
        table.select(metric=metric, quantity="truth").assign(
            panel=f"{metric}@{cutoff}", line=name, needed=needed(table, metric, target)[0]
        )
        for name, table in tables.items()
        for metric in METRICS
    ]
    return Figure(
        "judgments",
        _joined(rows, "needed"),
        message,
        "Expected Kendall tau with the true order over the number of random judgments per user, "
        "a panel for precision and one for anti-precision, with bands and bounds.",
        partial(
            _OVER_JUDGMENTS,
            level=target,
            bounds="bounds without a model",
            up={f"P@{cutoff}": "expected $\\tau$ with the true order"},
        ),
        "judgments",
    )


_MIXED = {"alone": "random judgments alone", "mixed": "with the observed ratings"}


def mixed_orders(tables: Mapping[str, Table], cutoff: int) -> Figure:
    """Follow tau with the order of other judgments, with and without observed ratings."""

    def message(rows: pd.DataFrame) -> str:
        words = []
        for panel, own in rows.dropna(subset="ahead").groupby("panel", sort=False):
            metric = str(panel).partition("@")[0]
            helped = own.loc[own["ahead"] < 0, "at"]
            if helped.empty:
                words.append(f"observed ratings harm {metric}")
            elif len(helped) == len(own):
                words.append(f"observed ratings help {metric}")
            else:
                most = f"{helped.max():.0f} random judgments"
                words.append(f"observed ratings help {metric} up to {most}")
        text = ",\n".join(words)
        return text[:1].upper() + text[1:]

    rows = []
    for table, metric in product(list(tables.values())[:1], METRICS):
        ahead = table.select(metric=metric, quantity="ahead").set_index("at")["value"]
        for quantity, words in _MIXED.items():
            course = table.select(metric=metric, quantity=quantity)
            course = course[course["at"] > 0].sort_values("at")
            alone = course["at"].map(ahead) if quantity == "alone" else np.nan
            rows.append(course.assign(panel=f"{metric}@{cutoff}", line=words, ahead=alone))
    return Figure(
        "mixed",
        _joined(rows, "ahead"),
        message,
        "Kendall tau with the order by other random judgments, of random judgments alone and of "
        "random judgments together with observed ratings, a panel for each metric.",
        partial(_OVER_JUDGMENTS, up={f"P@{cutoff}": "$\\tau$ with other judgments"}),
        "judgments-mixed",
    )


# -- which metric to trust -------------------------------------------------------------------------


def trusted_shares(trust: Table) -> Figure:
    """Show how often something came true against how often it was said to."""

    def message(rows: pd.DataFrame) -> str:
        told = rows.iloc[0]
        wrong = told["wrong"] / told["answered"] if told["answered"] else np.nan
        return (
            f"Of {told['worlds']:.0f} worlds the command answers in {told['answered']:.0f}, "
            f"{told['antiP']:.0f} times antiP;\n{wrong:.1%} of these answers are wrong"
        )

    frame = trust.frame
    answered = frame[frame["answer"] != "cannot tell"]
    rows = calibration(trust).rename(columns={"n": "count"})
    counts = {
        "worlds": len(frame),
        "answered": len(answered),
        "antiP": int((answered["answer"] == "antiP").sum()),
        "wrong": int((answered["answer"] != answered["right"]).sum()),
    }
    return Figure(
        "calibration",
        rows.assign(**counts),
        message,
        "How often a statement about metrics came true over the share of matched worlds in which "
        "it is so, points with intervals beside the line of equality.",
        partial(
            lines,
            x="share",
            y="came",
            whiskers=True,
            diagonal=True,
            shade=(LEVEL, "named"),
            across="share of the matched worlds in which it is so",
            up="share of the cases in which it was so",
            height=4.2,
            limits={"xlim": (-0.03, 1.03), "ylim": (-0.03, 1.03)},
        ),
        "which-to-trust",
    )


_ANSWERS = {
    "antiP, rightly": "C1",
    "either, rightly": "C2",
    "P, rightly": "C0",
    "a wrong answer": "black",
    "cannot tell": "0.85",
}
"""What may be told of a world, and its colour."""


def answers(trust: Table) -> Figure:
    """Show which answers are given in worlds of each relation."""

    def message(rows: pd.DataFrame) -> str:
        kinds = kinds_of_worlds(rows)
        anti, hits = (
            float((kinds[kind]["answer"] == name).mean())
            for kind, name in (("opposed", "antiP"), ("agreeing", "P"))
        )
        return (
            f"Where popularity opposes liking it names antiP in {anti:.0%} of\n"
            f"the worlds; where they agree it names P in {hits:.0%}"
        )

    return Figure(
        "answers",
        trust.frame,
        message,
        "Stacked bars over the relation of popularity and liking: in what share of the worlds "
        "antiP or P is named, rightly or wrongly, and in what share the command cannot tell.",
        _draw_answers,
        "answers",
    )


def _draw_answers(rows: pd.DataFrame, *, title: str) -> Picture:
    """Draw the shares of the answers in ten equal parts of the relation."""
    edges = np.linspace(-1, 1, 11)
    place = np.clip(np.digitize(rows["relation"], edges) - 1, 0, len(edges) - 2)
    right = rows["answer"] == rows["right"]
    told = (rows["answer"] + ", rightly").where(right, "a wrong answer")
    told = told.where(rows["answer"] != "cannot tell", "cannot tell")
    names = [
        f"{low:.1f} to {high:.1f}".replace("-", "\N{MINUS SIGN}") for low, high in pairwise(edges)
    ]
    shares = pd.crosstab(place, told, normalize="index").reindex(range(len(names)))
    colours = {name: colour for name, colour in _ANSWERS.items() if name in shares}
    return parts(
        shares.assign(row=names), title=title, colours=colours, most=1,
        across="share of the worlds", down="relation of popularity and liking",
    )  # fmt: skip
