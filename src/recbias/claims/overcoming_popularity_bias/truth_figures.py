"""What the page shows of protocols beside unbiased truth: a figure, its title, and a table.

Tables are those of :mod:`recbias.claims.overcoming_popularity_bias.true_orders`, by the name of
their data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from recbias.claims.judging import load_chapter
from recbias.claims.overcoming_popularity_bias.setup import CHAPTER
from recbias.claims.overcoming_popularity_bias.true_orders import TRUTHS
from recbias.claims.pages import markdown_table
from recbias.claims.popularity_bias.concentration import short_title
from recbias.makers import Table

__all__ = ["true_order_tables", "true_orders_shown", "true_orders_table", "true_orders_title"]

_KNOWN = ("cm100k", "coat")

_NAMES = {
    "AR": "AR",
    "bpref": "bpref",
    "infAP": "infAP",
    "SR": "stratified recall",
    "1R": "1R",
    "head": "1R without the head",
    "P1R": "percentiles (P1R)",
    "UAR": "uniform (UAR)",
    "U1R": "uniform (U1R)",
}


def true_order_tables(own: Mapping[str, Table], name: str = "true_orders") -> dict[str, Table]:
    """Choose what is shown: CM100k, Coat, and the page's own data where they have a truth.

    Parameters
    ----------
    own
        Of the page's data, by name of the table; empty where nothing is known of their truth.
    name
        Which of the tables of `true_orders_asked`.

    Returns
    -------
    dict
        By title of the data; what is neither made nor recorded is left out.
    """
    found: dict[str, Table] = {}
    for dataset in _KNOWN:
        recorded = load_chapter(CHAPTER, dataset).get(name)
        if isinstance(recorded, Table):
            found[dataset] = recorded
    if name in own:
        found[own[name].dataset_name] = own[name]
    return {short_title(str(each.dataset["title"])): each for each in found.values()}


def _with_share(table: Table) -> pd.DataFrame:
    """Add which share of the pairs that the truth resolves an order has right, and its range."""
    frame = table.frame[table.frame["protocol"].isin(list(_NAMES))]
    resolved = frame["resolved"].replace(0, np.nan)
    return frame.assign(
        share=frame["right"] / resolved,
        least=frame["kept"] / resolved,
        most=1 - frame["turned"] / resolved,
    )


def _by_agreement(tables: Mapping[str, Table]) -> list[str]:
    """Order the protocols by their mean tau over data and truths, the best first."""
    every = pd.concat([_with_share(table) for table in tables.values()])
    means = every.groupby("protocol", sort=False)["value"].mean()
    return [str(name) for name in means.sort_values(ascending=False, kind="stable").index]


def true_orders_shown(tables: Mapping[str, Table], *, cutoff: int) -> pd.DataFrame:
    """Lay out how many of the pairs of systems that a truth resolves each protocol has right.

    Parameters
    ----------
    tables
        By title of the data.
    cutoff
        Length of the lists.

    Returns
    -------
    DataFrame
        Rows of ``panel``, ``protocol``, ``line``, ``value``, ``low``, ``high`` and ``count``, as
        :func:`recbias.plotting.plot_protocols` takes them: shares in percent, from those that are
        surely right to all but those that are surely wrong, and the number of pairs that they are
        shares of. Protocols come in the order of their mean tau over data and truths.
    """
    columns = ["panel", "protocol", "line", "value", "low", "high", "count"]
    rows = []
    for protocol in _by_agreement(tables) if tables else []:
        for title, table in tables.items():
            found = _with_share(table).set_index(["truth", "protocol"])
            for truth in TRUTHS:
                shares = 100 * found.loc[(truth, protocol), ["share", "least", "most"]]
                count = int(found["resolved"][truth, protocol])
                rows.append((title, _NAMES[protocol], _truth(truth, cutoff), *shares, count))
    return pd.DataFrame(rows, columns=columns)


def _truth(name: str, cutoff: int) -> str:
    return f"true {name}@{cutoff}" if name == "P" else f"true {name}"


def true_orders_title(tables: Mapping[str, Table], *, cutoff: int) -> str:
    """Say in two lines which protocols have most pairs right by each truth, or how many do."""
    if not tables:
        return "No data with judgments of random items are at hand"
    lines = []
    for truth in TRUTHS:
        best = []
        for title, table in tables.items():
            own = _with_share(table)
            own = own[own["truth"] == truth]
            leading = list(own["protocol"][own["share"] == own["share"].max()])
            named = " and ".join(leading) if 0 < len(leading) < 3 else f"{len(leading)} tests"
            best.append(f"{named} on {title}")
        lines.append(f"{_truth(truth, cutoff)}: {', '.join(best)}")
    return "Nearest to " + ",\nto ".join(lines)


def true_orders_table(tables: Mapping[str, Table], *, cutoff: int) -> str:
    """Rank the protocols by agreement: tau with its interval, and pairs that they have right.

    Parameters
    ----------
    tables, cutoff
        As of `true_orders_shown`.

    Returns
    -------
    str
        Markdown; empty without tables. Cells hold tau, its interval, and how many of the pairs that
        the truth resolves are right; the last columns the place of Popularity. Below the protocols
        stand the two truths, each beside the other.
    """
    if not tables:
        return ""
    asked = [(title, truth) for title in tables for truth in TRUTHS]
    head = ["order by", *(f"{title}, {_truth(truth, cutoff)}" for title, truth in asked)]
    head += [f"place, {title}" for title in tables]
    rows = []
    for protocol in (*_by_agreement(tables), *TRUTHS):
        cells = [_truth(protocol, cutoff) if protocol in TRUTHS else _NAMES[protocol]]
        for title, truth in asked:
            own = tables[title].select(truth=truth, protocol=protocol)
            cells.append(_agreement(own.iloc[0]) if len(own) else "")
        places = [table.select(protocol=protocol)["popularity"] for table in tables.values()]
        rows.append([*cells, *(str(place.iloc[0]) for place in places)])
    return markdown_table(head, rows)


def _agreement(row: pd.Series[Any]) -> str:
    value, low, high = (
        f"{row[name]:.2f}".replace("-", "\N{MINUS SIGN}") for name in ("value", "low", "high")
    )
    interval = f"({low} to {high})".replace(" ", "\N{NO-BREAK SPACE}")
    pairs = f"{row['right']} of {row['resolved']}".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{value} {interval}<br>{pairs}"
