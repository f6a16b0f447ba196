"""What the page shows of how many random judgments it takes, as a table.

Tables are those of :mod:`recbias.book.chapters.true_vs_false_positive_disagreement.judgments`, by
the name of their data.
"""

from __future__ import annotations

from collections.abc import Mapping

from recbias.book.chapters.true_vs_false_positive_disagreement.judgments import TARGETS
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.html import table_html
from recbias.claims.judging import load_chapter
from recbias.experiment.makers import Table

_KNOWN = ("cm100k", "coat")
METRICS = ("P", "antiP")
"""By which systems are ordered."""


def judgment_tables(own: Table | None) -> dict[str, Table]:
    """Choose what is shown: the page's own data, then CM100k and Coat, as far as they are there."""
    tables = {} if own is None else {own.dataset_name: own}
    for name in _KNOWN:
        if name not in tables:
            recorded = load_chapter(CHAPTER, name, "judgments").get("judgments")
            if isinstance(recorded, Table):
                tables[name] = recorded
    return {str(table.dataset["title"]).partition(" (")[0]: table for table in tables.values()}


def needed(table: Table, metric: str, target: float) -> tuple[float, float, float]:
    """Read how many judgments an order takes that agrees so far with the truth."""
    (row,) = table.select(metric=metric, quantity="needed", at=target).to_dict("records")
    return row["value"], row["low"], row["high"]


def listed_needed(tables: Mapping[str, Table], target: float = 0.9) -> str:
    """Say how many judgments of listed items are enough, by the metric that takes more."""
    told = []
    for name, table in tables.items():
        needs = [
            [
                number * table.select(metric=metric, quantity="in a list")["value"].iloc[0]
                for number in needed(table, metric, target)
            ]
            for metric in METRICS
        ]
        value, low, high = max(needs)
        told.append(f"{value:.0f} ({low:.0f} to {high:.0f}) on {name}")
    return ", ".join(told)


def judgments_table(tables: Mapping[str, Table], cutoff: int) -> str:
    """Lay out behind a click how many judgments are needed: by a bound, and by estimate."""
    rows = []
    for name, table in tables.items():
        for metric in METRICS:
            share = table.select(metric=metric, quantity="in a list")["value"].iloc[0]
            cells = []
            for target in TARGETS:
                value, low, high = needed(table, metric, target)
                fewest = table.select(metric=metric, quantity="at least", at=target)["value"].iloc[
                    0
                ]
                cells += [
                    f"{fewest:.0f}",
                    f"{value:.0f} ({low:.0f} to {high:.0f})",
                    f"{value * share:.0f}",
                ]
            rows.append((name, f"{metric}@{cutoff}", f"{share:.0%}".replace("%", " %"), *cells))
    if not rows:
        return ""
    head = ["data", "metric", "judged items that a system lists"]
    for target in TARGETS:
        head += [f"tau {target:g}: bound", "estimate (95 %)", "of listed items only"]
    return (
        "<details><summary>How many for a tau of .8, of .9, and of listed items alone</summary>"
        f"{table_html(head, rows)}</details>"
    )
