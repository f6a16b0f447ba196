"""Tables of chapter 5 about items and worlds, as its page shows them, and the titles of figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.chapters.true_vs_false_positive_disagreement.columns import columns_html
from recbias.book.chapters.true_vs_false_positive_disagreement.optima import OBSERVED, optima_rows
from recbias.book.chapters.true_vs_false_positive_disagreement.pair_tables import over_skew
from recbias.book.chapters.true_vs_false_positive_disagreement.worlds import agreement_map
from recbias.book.html import interval_text, markdown_table, plain
from recbias.claims.reference import Reference
from recbias.claims.regions import defined
from recbias.data.datasets import dataset_info
from recbias.experiment.makers import Table
from recbias.experiment.run import Results
from recbias.recommenders.line_ups import Change
from recbias.trust import LEVEL


def _of(items: Table, measure: str, of: str) -> float:
    return float(items[{"measure": measure, "of": of}].value)


def curves_title(items: Table) -> str:
    """Say in two lines how unevenly items are popular and liked, and how the optima relate."""
    popular, liked = (_of(items, "Gini", of) for of in ("p(train)", "p(rel|train)"))
    orders = _of(items, "Spearman", "f_P and f_antiP")
    return (
        f"Gini coefficients: popularity {defined(popular, '.2f')}, "
        f"liking {defined(liked, '.2f')};\n"
        f"the two optimal orders have a rank correlation of {defined(orders, '.2f')}"
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
    correlation_of = correlations(items)
    hits, misses = (
        defined(correlation_of[f"{function} over p(train)"], ".2f")
        for function in ("f_P", "f_antiP")
    )
    return (
        "What ranks items best correlates with popularity:\n"
        f"by r = {hits} for hits and {misses} for misses"
    )


def columns_folded(
    measured: Results,
    reference: Reference | None,
    changes: Sequence[Change],
    changed: Results | None,
) -> str:
    """Fold the comparison with all published values away; nothing where there are none."""
    if reference is None:
        return (
            "<p>The authors published what their systems score on their folds of MovieLens 1M; the "
            "edition of that data sets ours beside it, value by value.</p>"
        )
    comparison = columns_html(measured, reference, changes, changed)
    return (
        "<details><summary>Every system beside its published values, in all eight columns"
        f"</summary>{comparison}</details>"
    )


def optima_table(optima: Table, measured: Results, *, cutoff: int) -> str:
    """List the rankings for everybody by hits and misses, the best by hits first."""
    rows = optima_rows(optima, dataset=str(measured.dataset["name"]), cutoff=cutoff)
    rows = rows[rows["side"] == OBSERVED]
    published = bool(rows["published"].notna().any())
    by_name = {(row["ranking"], row["metric"]): row for row in rows.to_dict("records")}
    metrics = ("P", "antiP")
    order = sorted(measured.systems, key=lambda name: -measured[name, "full", f"P@{cutoff}"].value)
    body = []
    for name in order:
        cells = [plain(name)]
        for metric in metrics:
            quantity = measured[name, "full", f"{metric}@{cutoff}"]
            cells.append(f"{quantity.value:.5f} ({interval_text(quantity, '.5f')})")
            row = by_name.get((name, metric), {})
            cells.append(f"{row['least']:.2g} to {row['most']:.2g}" if row else "")
            if published:
                cells.append(f"{row['published']:.5g}" if row else "")
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


def flat_lines(tables: Mapping[str, Table]) -> pd.DataFrame:
    """Follow on how many pairs of items the optima disagree, for `plot_over_skew`."""
    lines = over_skew({name: tables[name] for name in _FLAT})
    return lines.assign(line=lines["kind"].map(_FLAT))


_MAPS = {
    "observed": "P and antiP, observed",
    "true": "P and antiP, true",
    "P": "P, observed and true",
    "antiP": "antiP, observed and true",
}


def maps_of(worlds: Table) -> pd.DataFrame:
    """Lay out four taus over the kinds of worlds, for `plot_tau_maps`."""
    maps = [
        agreement_map(worlds, quantity).assign(panel=title) for quantity, title in _MAPS.items()
    ]
    return pd.concat(maps, ignore_index=True)


def maps_title(found: pd.DataFrame) -> str:
    """Say in two lines how either count fares at both ends of the relation, at the largest skew."""
    rows = found[found["skew"] == found["skew"].max()].set_index(["panel", "relation"])["value"]
    low, high = (float(end) for end in (found["relation"].min(), found["relation"].max()))
    p, anti = (_MAPS[name] for name in ("P", "antiP"))
    return (
        "From opposed to agreeing popularity, $\\tau$ with the truth goes\n"
        f"from {rows[p, low]:.2f} to {rows[p, high]:.2f} for P, "
        f"from {rows[anti, low]:.2f} to {rows[anti, high]:.2f} for antiP"
    )


def places_on_map(points: Table, bars: Table) -> pd.DataFrame:
    """Place data sets on the maps, for `plot_tau_maps`."""
    rows, frame = [], pd.concat([points.frame, bars.frame])
    for name, quantities in frame.groupby("dataset", sort=False):
        by = quantities.set_index("quantity")
        skew, relation = by.loc["skew", "value"], by.loc["relation"]
        known = bool(pd.notna(relation["value"]))
        ends = (relation["value"],) * 2 if known else (relation["low"], relation["high"])
        title = short_title(dataset_info(str(name)).title)
        rows.append((title, skew, *ends))
    return pd.DataFrame(rows, columns=["name", "skew", "low", "high"])


def trust_words(trust: Table) -> dict[str, Any]:
    """Say from which share on a metric is named, and in two lines how often.

    And how often wrongly.
    """
    frame = trust.frame
    answered = frame[frame["answer"] != "cannot tell"]
    n_anti = int((answered["answer"] == "antiP").sum())
    wrong = float((answered["answer"] != answered["right"]).mean())
    title = (
        f"Of {len(frame)} worlds the command answers in {len(answered)}, {n_anti} times antiP;\n"
        f"{wrong:.1%} of these answers are wrong"
    )
    return {"level": LEVEL, "title": title}
