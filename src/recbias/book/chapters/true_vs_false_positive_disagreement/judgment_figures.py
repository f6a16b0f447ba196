"""What the page shows of how many random judgments it takes: curves, titles and a table.

Tables are those of :mod:`recbias.book.chapters.true_vs_false_positive_disagreement.judgments`, by
the name of their data.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.judgments import TARGETS
from recbias.book.chapters.true_vs_false_positive_disagreement.setup import CHAPTER
from recbias.book.html import markdown_table
from recbias.claims.judging import load_chapter
from recbias.experiment.makers import Table

_KNOWN = ("cm100k", "coat")
_PANELS = {"P": "P", "antiP": "antiP"}
_MIXED = {"alone": "random judgments alone", "mixed": "with the observed ratings"}


def judgment_tables(own: Table | None) -> dict[str, Table]:
    """Choose what is shown: the page's own data, then CM100k and Coat, as far as they are there."""
    tables = {} if own is None else {own.dataset_name: own}
    for name in _KNOWN:
        if name not in tables:
            recorded = load_chapter(CHAPTER, name).get("judgments")
            if isinstance(recorded, Table):
                tables[name] = recorded
    return {str(table.dataset["title"]).partition(" (")[0]: table for table in tables.values()}


def truth_courses(tables: Mapping[str, Table], cutoff: int) -> pd.DataFrame:
    """Follow the expected tau with the true order over the number of judgments."""
    rows = []
    for name, table in tables.items():
        for metric in _PANELS:
            course = table.select(metric=metric, quantity="truth")
            rows.append(course.assign(panel=f"{metric}@{cutoff}", line=name))
    return _joined(rows)


def _joined(rows: list[pd.DataFrame]) -> pd.DataFrame:
    """Put rows together; where nothing is at hand there are only columns."""
    columns = ["panel", "line", "at", "value", "low", "high", "least", "most"]
    return pd.concat(rows, ignore_index=True)[columns] if rows else pd.DataFrame(columns=columns)


def _needed(table: Table, metric: str, target: float) -> tuple[float, float, float]:
    (row,) = table.select(metric=metric, quantity="needed", at=target).to_dict("records")
    return row["value"], row["low"], row["high"]


def judgments_title(tables: Mapping[str, Table]) -> str:
    """Say in two lines how many judgments the first data take, by either metric."""
    if not tables:
        return "No data with random judgments are at hand"
    name, table = next(iter(tables.items()))
    target = TARGETS[-1]
    by = {metric: _needed(table, metric, target)[0] for metric in _PANELS}
    return (
        f"{name}: an order that is true ($\\tau$ = {target:g}) takes about\n"
        f"{by['P']:.0f} random judgments per user by P, {by['antiP']:.0f} by antiP"
    )


def mixed_courses(tables: Mapping[str, Table], cutoff: int) -> pd.DataFrame:
    """Follow tau with the order of other judgments.

    Of random ones alone and with observed ratings.
    """
    rows = []
    for table, metric in product(list(tables.values())[:1], _PANELS):
        for quantity, words in _MIXED.items():
            course = table.select(metric=metric, quantity=quantity)
            course = course[course["at"] > 0].sort_values("at")
            rows.append(course.assign(panel=f"{metric}@{cutoff}", line=words))
    return _joined(rows)


def mixed_title(tables: Mapping[str, Table]) -> str:
    """Say in two lines up to how many random judgments the observed ratings help, in first data."""
    words = []
    for table, metric in product(list(tables.values())[:1], _PANELS):
        ahead = table.select(metric=metric, quantity="ahead").sort_values("at")
        helped = ahead.loc[ahead["value"] < 0, "at"]
        if helped.empty:
            words.append(f"observed ratings harm {metric}")
        elif len(helped) == len(ahead):
            words.append(f"observed ratings help {metric}")
        else:
            words.append(
                f"observed ratings help {metric} up to {helped.max():.0f} random judgments"
            )
    text = ",\n".join(words)
    return text[:1].upper() + text[1:]


def judgments_table(tables: Mapping[str, Table], cutoff: int) -> str:
    """Lay out how many judgments are needed: for sure, by estimate, and of listed items alone."""
    rows = []
    for name, table in tables.items():
        for metric in _PANELS:
            share = table.select(metric=metric, quantity="in a list")["value"].iloc[0]
            cells = []
            for target in TARGETS:
                value, low, high = _needed(table, metric, target)
                fewest = table.select(metric=metric, quantity="at least", at=target)["value"].iloc[
                    0
                ]
                cells += [
                    f"{fewest:.0f}",
                    f"{value:.0f} ({low:.0f} to {high:.0f})",
                    f"{value * share:.0f}",
                ]
            rows.append((name, f"{metric}@{cutoff}", f"{share:.0%}".replace("%", " %"), *cells))
    head = ["data", "metric", "judged items that a system lists"]
    for target in TARGETS:
        head += [f"$\\tau$ {target:g}: bound", "estimate (95 %)", "of listed items only"]
    return markdown_table(tuple(head), rows)
