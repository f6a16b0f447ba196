"""What the page shows of protocols beside unbiased truth: rows of a figure, and a table.

Tables are those of :mod:`recbias.book.chapters.overcoming_popularity_bias.true_orders`, by the name
of their data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.chapters.overcoming_popularity_bias.setup import CHAPTER
from recbias.book.chapters.overcoming_popularity_bias.true_orders import TRUTHS
from recbias.book.chapters.popularity_bias.concentration import short_title
from recbias.book.html import table_html
from recbias.claims.judging import load_chapter
from recbias.experiment.makers import Table

_KNOWN = ("cm100k", "coat")

_GROUPS = {"AR": "plain test", "1R": "plain test"} | dict.fromkeys(
    ("bpref", "infAP", "SR"), "other metric"
)

_NAMES = {  # in the order of rows: plain tests, remedies, other ways to count
    "AR": "AR",
    "1R": "1R",
    "head": "1R without the head",
    "P1R": "percentiles (P1R)",
    "UAR": "uniform (UAR)",
    "U1R": "uniform (U1R)",
    "bpref": "bpref",
    "infAP": "infAP",
    "SR": "stratified recall",
}


def true_order_tables(own: Mapping[str, Table], name: str = "true_orders") -> dict[str, Table]:
    """Choose what is shown: CM100k, Coat, and the page's own data where they have a truth."""
    tables: dict[str, Table] = {}
    for dataset in _KNOWN:
        recorded = load_chapter(CHAPTER, dataset, name).get(name)
        if isinstance(recorded, Table):
            tables[dataset] = recorded
    if name in own:
        tables[own[name].dataset_name] = own[name]
    return {short_title(str(table.dataset["title"])): table for table in tables.values()}


def _with_share(table: Table) -> pd.DataFrame:
    """Add which share of the pairs that the truth resolves an order has right, and its range."""
    frame = table.frame[table.frame["protocol"].isin(list(_NAMES))]
    resolved = frame["resolved"].replace(0, np.nan)
    return frame.assign(
        share=frame["right"] / resolved,
        least=frame["kept"] / resolved,
        most=1 - frame["turned"] / resolved,
    )


def true_order_shares(tables: Mapping[str, Table], truth: str = "AUC") -> pd.DataFrame:
    """Lay out how many of the pairs of systems that a truth resolves each protocol has right."""
    rows = []
    for protocol, words in _NAMES.items():
        for title, table in tables.items():
            frame = _with_share(table).set_index(["truth", "protocol"])
            shares = 100 * frame.loc[(truth, protocol), ["share", "least", "most"]]
            rows.append(
                (
                    title, protocol, words, _GROUPS.get(protocol, "remedy"), *shares,
                    int(frame["resolved"][truth, protocol]),
                )
            )  # fmt: skip
    columns = ["panel", "label", "protocol", "line", "value", "low", "high", "count"]
    return pd.DataFrame(rows, columns=columns)


def _truth(name: str, cutoff: int) -> str:
    return f"true {name}@{cutoff}" if name == "P" else f"true {name}"


def true_orders_table(tables: Mapping[str, Table], *, cutoff: int) -> str:
    """Set all protocols beside each other, behind a click: tau, and pairs that they have right."""
    if not tables:
        return ""
    columns = [(title, truth) for title in tables for truth in TRUTHS]
    head = ["order by", *(f"{title}, {_truth(truth, cutoff)}" for title, truth in columns)]
    head += [f"place of Popularity, {title}" for title in tables]
    rows = []
    for protocol in (*_NAMES, *TRUTHS):
        cells = [_truth(protocol, cutoff) if protocol in TRUTHS else _NAMES[protocol]]
        for title, truth in columns:
            matching = tables[title].select(truth=truth, protocol=protocol)
            cells.append(_agreement(matching.iloc[0]) if len(matching) else "")
        places = [table.select(protocol=protocol)["popularity"] for table in tables.values()]
        rows.append([*cells, *(str(place.iloc[0]) for place in places)])
    return (
        "<details><summary>Both truths: tau with its 95 % interval over users, and how many pairs "
        f"are right</summary>{table_html(head, rows)}</details>"
    )


def _agreement(row: pd.Series[Any]) -> str:
    value, low, high = (
        f"{row[name]:.2f}".replace("-", "\N{MINUS SIGN}") for name in ("value", "low", "high")
    )
    interval = f"({low} to {high})".replace(" ", "\N{NO-BREAK SPACE}")
    pairs = f"{row['right']} of {row['resolved']}".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{value} {interval}<br>{pairs}"
