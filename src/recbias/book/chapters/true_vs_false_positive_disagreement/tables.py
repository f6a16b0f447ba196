"""Tables of chapter 5 about systems and rankings, as its page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from recbias.book.chapters.true_vs_false_positive_disagreement.columns import columns_html
from recbias.book.chapters.true_vs_false_positive_disagreement.optima import (
    OBSERVED,
    optima_rows,
    optima_sentence,
    two_digits,
)
from recbias.book.html import plain, table_html
from recbias.claims.reference import Reference
from recbias.claims.regions import rounded
from recbias.experiment.makers import Table
from recbias.experiment.results import Quantity
from recbias.experiment.run import Results
from recbias.recommenders.line_ups import Change


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
    metrics = {metric: f"{metric}@{cutoff}" for metric in ("P", "antiP")}
    order = sorted(measured.systems, key=lambda name: -measured[name, "full", metrics["P"]].value)
    shown = [
        (plain(name), *(_with_interval(measured[name, "full", each]) for each in metrics.values()))
        for name in order
    ]
    rows = optima_rows(optima, dataset=str(measured.dataset["name"]), cutoff=cutoff)
    rows = rows[(rows["side"] == OBSERVED) & rows["ranking"].isin(measured.systems)]
    published = bool(rows["published"].notna().any())
    over_ties = [
        (
            plain(row["ranking"]),
            metrics[row["metric"]],
            f"{two_digits(row['least'])} to {two_digits(row['most'])}",
            *([two_digits(row["published"])] if published else ()),
        )
        for row in rows.to_dict("records")
    ]
    head = ("ranking", *metrics.values())
    columns = ("ranking", "metric", "by any order of ties", *(["published"] if published else ()))
    ends = table_html(columns, over_ties)
    return (
        f"{table_html(head, shown)}<details><summary>What the order of equal scores may give"
        f"</summary><p>{escape(optima_sentence(optima))}</p>{ends}</details>"
    )


_WHERE_DATA_LIE = (0.2, 0.6)
"""Relations of popularity and liking: the middle of most of what the ratings of data sets allow."""


def answers_where_data_lie(trust: Table, known: Table, points: Table, ranges: Table) -> str:
    """Say how answers fare in worlds with relations such as data have, and which truths are missed.

    Parameters
    ----------
    trust, known, points, ranges
        Answers in listed worlds and for data with a known truth, that truth, and what other data
        allow: tables of the chapter's simulations.
    """
    low, high = _WHERE_DATA_LIE
    own = trust.frame[trust.frame["relation"].between(low, high)]
    answered = own[own["answer"] != "cannot tell"]
    n_wrong = int((answered["answer"] != answered["right"]).sum())
    every = trust.frame[trust.frame["answer"] != "cannot tell"]
    wrong = every[every["answer"] != every["right"]]
    n_worse = int((wrong["right"] != "either").sum())
    middles = (trust.frame["low"] + trust.frame["high"]) / 2
    alike = trust.frame[middles.between(low, high)]
    told = alike[alike["answer"] != "cannot tell"]
    n_told_wrong = int((told["answer"] != told["right"]).sum())
    others = ranges.select(quantity="relation")
    bars = [*zip(known.frame["low"], known.frame["high"], strict=True)]
    bars += zip(others["low"], others["high"], strict=True)
    n_within = sum(low <= (start + end) / 2 <= high for start, end in bars)
    true = [
        points.select(dataset=name, quantity="relation")["value"].iloc[0]
        for name in known.frame["dataset"]
    ]
    n_outside = sum(
        not start <= value <= end for value, (start, end) in zip(true, bars, strict=False)
    )
    return (
        f"**Where data seem to lie it is less sure.** Of the {len(bars)} bars of the figure below "
        f"{n_within} have their middle between {low:g} and {high:g}. Of the {len(alike)} listed "
        f"worlds with such a bar {len(told)} get an answer, {n_told_wrong} of these a wrong one; "
        f"of the {len(own)} whose *true* relation lies there {len(answered)} get one, {n_wrong} of "
        f"these a wrong one. Over all worlds {len(wrong)} of {len(every)} answers are wrong: "
        f"{n_worse} name the worse count, the others a count where neither is ahead by .1. Of the "
        f"{len(true)} truths that are "
        f"known {n_outside} {'lies' if n_outside == 1 else 'lie'} outside the bar: there the "
        "assumption itself fails."
    )


def _with_interval(quantity: Quantity) -> str:
    low, high = quantity.interval
    texts = [rounded(each, "number", low, high) for each in (quantity.value, low, high)]
    value, *ends = (
        text if len(text.partition(".")[2]) <= _DECIMALS else f"{float(text):.{_DECIMALS}f}"
        for text in texts
    )
    return f"{value} ({' to '.join(ends)})"


_DECIMALS = 5
"""What is smaller is nearly nothing, whatever its interval."""
