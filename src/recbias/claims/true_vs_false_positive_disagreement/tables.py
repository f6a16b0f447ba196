"""Tables of chapter 5 about items and worlds, as its page shows them, and the titles of figures."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from recbias.claims.ledger import claims
from recbias.claims.pages import interval_text, markdown_table, plain
from recbias.claims.quantities import over_worlds
from recbias.claims.true_vs_false_positive_disagreement.optima import OBSERVED, optima_rows
from recbias.claims.true_vs_false_positive_disagreement.pairs import (
    ALL,
    FOLDS,
    chosen_pairs,
    reading_rows,
)
from recbias.claims.true_vs_false_positive_disagreement.worlds import agreement_map
from recbias.experiment import Results
from recbias.makers import Table

__all__ = [
    "correlations",
    "curves_title",
    "examples_table",
    "flat_courses",
    "flat_title",
    "functions_title",
    "maps_of",
    "maps_title",
    "optima_table",
    "pairs_table",
    "places_on_map",
]

_ROWS = {
    "as popularity does": "same",
    "the other way round": "opposed",
    "not at all (equal, or no estimate)": "not same, not opposed",
}
_COLUMNS = {
    "both": "both",
    "only the share that is liked": "liked",
    "only the share that is not": "disliked",
    "neither": "neither",
}


def pairs_table(table: Table) -> str:
    """Lay out which pairs of items the two optimal rankings put in opposite orders (Table 1).

    Parameters
    ----------
    table
        As :func:`recbias.claims.true_vs_false_positive_disagreement.pairs.pairs` makes it.

    Returns
    -------
    str
        Markdown: shares of all pairs, means over the training folds, by how liking orders a pair
        and by what the odds of being rated are steeper than. Cells are bold in which the optimal
        rankings disagree on most pairs. Below, both shares that the paper prints.
    """
    rows = reading_rows(table.frame, FOLDS)
    n_folds = rows["reading"].nunique()
    body = []
    for words, direction in _ROWS.items():
        cells = [words]
        for steeper in _COLUMNS.values():
            own = rows[chosen_pairs(rows, f"{steeper}, {direction}")]
            share = own["value"].sum() / n_folds
            against = own.loc[own["optima"] == "disagree", "value"].sum() / n_folds
            cells.append(f"**{share:.1%}**" if against > share / 2 else f"{share:.1%}")
        body.append(cells)
    head = ("liking orders the pair", *(f"odds steeper than {words}" for words in _COLUMNS))
    return f"{markdown_table(head, body)}\n\n{_printed_shares(table)}"


def _printed_shares(table: Table) -> str:
    """Set the two shares that the paper prints beside ours, by folds and by all ratings."""
    (claim,) = (each for each in claims() if each.id == "MCCRS20-T1")
    rows = []
    for words, kind, printed in (
        ("the optimal rankings disagree", "disagree", "disagree"),
        ("the odds are steeper than both shares", "both", "odds steeper than both"),
    ):
        cells = [words]
        for reading in (FOLDS, ALL):
            own = reading_rows(table.frame, reading)
            share = own["value"][chosen_pairs(own, kind)].sum() / own["reading"].nunique()
            cells.append(f"{share:.1%}")
        rows.append([*cells, f"{float(claim.values[printed]):.1%}"])
    return markdown_table(
        ("share of all pairs", "training folds", "all ratings", "printed, for ML-1M"), rows
    )


def examples_table(table: Table) -> str:
    """Lay out the three examples of two items (Fig. 2).

    Parameters
    ----------
    table
        As :func:`recbias.claims.true_vs_false_positive_disagreement.examples.examples` makes it.
    """
    frame = table.frame[table.frame["example"] != "lemma"]
    rows = []
    for name, own in frame.groupby("example"):
        values = own.set_index("quantity")["value"].to_dict()
        two = [
            f"{values[f'{what} of a']:.3g}, {values[f'{what} of b']:.3g}"
            for what in ("odds", "liked")
        ]
        steep = [f"{values[f'steepness of {what}']:.3f}" for what in ("odds", "liked", "disliked")]
        better = [
            f"{_LISTS[values[f'better list of {metric}']]} "
            f"({values[f'{metric} of ab']:.1f}, {values[f'{metric} of ba']:.1f})"
            for metric in ("P@1", "antiP@1")
        ]
        rows.append([str(name), *two, *steep, *better])
    head = (
        "example", "odds of a, b", "liked share of a, b", "steepness: odds", "liked", "not liked",
        "better by P@1", "better by antiP@1",
    )  # fmt: skip
    return markdown_table(head, rows)


_LISTS = {1.0: "a, b", -1.0: "b, a", 0.0: "neither"}


def _of(items: Table, measure: str, of: str) -> float:
    return float(items[{"measure": measure, "of": of}].value)


def curves_title(items: Table) -> str:
    """Say in two lines how unevenly items are popular and liked, and how the optima relate."""
    popular, liked = (_of(items, "Gini", of) for of in ("p(train)", "p(rel|train)"))
    orders = _of(items, "Spearman", "f_P and f_antiP")
    return (
        f"Popularity (Gini {popular:.2f}) is steeper than liking ({liked:.2f});\n"
        f"the two optimal orders have a rank correlation of {orders:.2f}"
    )


def correlations(items: Table) -> dict[str, float]:
    """Give Pearson's correlation of either function with popularity and liking, by panel."""
    return {
        f"{function} over {share}": _of(items, "Pearson", f"{function} and {share}")
        for function in ("f_P", "f_antiP")
        for share in ("p(train)", "p(rel|train)")
    }


def functions_title(items: Table) -> str:
    """Say in two lines how both functions correlate with popularity."""
    found = correlations(items)
    hits, misses = (found[f"{function} over p(train)"] for function in ("f_P", "f_antiP"))
    return (
        "What ranks items best goes with popularity:\n"
        f"r = {hits:.2f} by hits and {misses:.2f} by misses"
    )


def optima_table(optima: Table, measured: Results, *, cutoff: int) -> str:
    """List the rankings for everybody by hits and misses, the best by hits first.

    Parameters
    ----------
    optima
        As :func:`recbias.claims.true_vs_false_positive_disagreement.optima.optima` makes it.
    measured
        Of the line-up ``optimal``.
    cutoff
        Length of the lists.

    Returns
    -------
    str
        Markdown: values with their 95 % intervals over users; of rankings by training ratings what
        other orders of ties would give, at least and at most; and what was published.
    """
    rows = optima_rows(optima, dataset=str(measured.dataset["name"]), cutoff=cutoff)
    rows = rows[rows["side"] == OBSERVED].set_index(["ranking", "metric"])
    published = bool(rows["published"].notna().any())
    metrics = ("P", "antiP")
    order = sorted(measured.systems, key=lambda name: -measured[name, "full", f"P@{cutoff}"].value)
    body = []
    for name in order:
        cells = [plain(name)]
        for metric in metrics:
            found = measured[name, "full", f"{metric}@{cutoff}"]
            cells.append(f"{found.value:.5f} ({interval_text(found, '.5f')})")
            known = (name, metric) in rows.index
            row = rows.loc[(name, metric)] if known else None
            cells.append("" if row is None else f"{row['least']:.2g} to {row['most']:.2g}")
            if published:
                cells.append("" if row is None else f"{row['published']:.5g}")
        body.append(cells)
    columns = ("{}@" + str(cutoff), "{}, any order of ties", *(["{}, published"] * published))
    head = ("ranking", *(column.format(metric) for metric in metrics for column in columns))
    return markdown_table(head, body)


# -- worlds ----------------------------------------------------------------------------------------

_FLAT = {
    "agreeing": "popular items are liked more",
    "independent": "popularity and liking are unrelated",
    "opposing": "popular items are liked less",
}


def flat_courses(tables: Mapping[str, Table]) -> pd.DataFrame:
    """Follow the share of pairs that the optima put in opposite orders, over skew.

    Parameters
    ----------
    tables
        As :func:`recbias.claims.true_vs_false_positive_disagreement.flatness.flatness` makes them,
        by ``"agreeing"``, ``"independent"`` and ``"opposing"``.

    Returns
    -------
    DataFrame
        Rows of ``line``, ``skew``, ``value``, and its 95 % interval over worlds.
    """
    rows = [
        (line, skew, (mean := over_worlds(values)).value, *mean.interval)
        for name, line in _FLAT.items()
        for skew, values in tables[name].frame.groupby("skew")["disagree"]
    ]
    return pd.DataFrame(rows, columns=["line", "skew", "value", "low", "high"])


def flat_title(found: pd.DataFrame) -> str:
    """Say in two lines at which ends of skew the optima disagree how often."""
    means = found.groupby("skew")["value"].mean()
    return (
        f"The optima disagree on {means.iloc[0]:.0%} of the pairs of items\n"
        f"where all are as popular, and on {means.iloc[-1]:.0%} at a skew of {means.index[-1]:g}"
    )


_MAPS = {
    "observed": "P and antiP, observed",
    "true": "P and antiP, true",
    "P": "P, observed and true",
    "antiP": "antiP, observed and true",
}


def maps_of(worlds: Table) -> pd.DataFrame:
    """Lay out four taus over the kinds of worlds, for :func:`recbias.plotting.plot_tau_maps`."""
    found = [
        agreement_map(worlds, quantity).assign(panel=title) for quantity, title in _MAPS.items()
    ]
    return pd.concat(found, ignore_index=True)


def maps_title(found: pd.DataFrame) -> str:
    """Say in two lines where observed values turn round, at the largest skew of the maps."""
    rows = found[found["skew"] == found["skew"].max()].set_index(["panel", "relation"])["value"]
    low, high = (float(end) for end in (found["relation"].min(), found["relation"].max()))
    p, anti = (_MAPS[name] for name in ("P", "antiP"))
    return (
        "Which count follows the truth is decided by what is liked:\n"
        f"P from {rows[p, low]:.2f} to {rows[p, high]:.2f}, "
        f"antiP from {rows[anti, low]:.2f} to {rows[anti, high]:.2f}"
    )


def places_on_map(points: Table) -> pd.DataFrame:
    """Place data sets on the maps, for :func:`recbias.plotting.plot_tau_maps`."""
    rows = []
    for name, own in points.frame.groupby("dataset", sort=False):
        by = own.set_index("quantity")
        skew, relation = by.loc["skew", "value"], by.loc["relation"]
        known = bool(pd.notna(relation["value"]))
        ends = (relation["value"],) * 2 if known else (relation["low"], relation["high"])
        rows.append((name, skew, *ends))
    return pd.DataFrame(rows, columns=["name", "skew", "low", "high"])
