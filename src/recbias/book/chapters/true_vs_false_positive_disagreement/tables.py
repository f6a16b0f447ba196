"""Tables of chapter 5 about systems and rankings, as its page shows them."""

from __future__ import annotations

from collections.abc import Sequence

from recbias.book.chapters.true_vs_false_positive_disagreement.columns import columns_html
from recbias.book.chapters.true_vs_false_positive_disagreement.optima import OBSERVED, optima_rows
from recbias.book.html import interval_text, markdown_table, plain
from recbias.claims.reference import Reference
from recbias.experiment.makers import Table
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
