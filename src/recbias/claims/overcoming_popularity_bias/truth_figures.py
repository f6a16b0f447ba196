"""What the page shows of protocols beside unbiased truth: a figure, its title, and a table.

Tables are those of :mod:`recbias.claims.overcoming_popularity_bias.true_orders`, by the name of
their data.
"""

from __future__ import annotations

from collections.abc import Mapping

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
    return list(means.sort_values(ascending=False, kind="stable").index)


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
        Rows of ``panel``, ``protocol``, ``line``, ``value``, ``low`` and ``high``, as
        :func:`recbias.plotting.plot_protocols` takes them: shares in percent, from those that are
        surely right to all but those that are surely wrong. Protocols come in the order of their
        mean tau over data and truths.
    """
    columns = ["panel", "protocol", "line", "value", "low", "high"]
    rows = []
    for protocol in _by_agreement(tables) if tables else []:
        for title, table in tables.items():
            found = _with_share(table).set_index(["truth", "protocol"])
            for truth in TRUTHS:
                row = 100 * found.loc[(truth, protocol), ["share", "least", "most"]]
                rows.append((title, _NAMES[protocol], _truth(truth, cutoff), *row))
    return pd.DataFrame(rows, columns=columns)


def _truth(name: str, cutoff: int) -> str:
    return f"true {name}@{cutoff}" if name == "P" else f"true {name}"


def true_orders_title(tables: Mapping[str, Table], *, cutoff: int) -> str:
    """Say in two lines which protocol has the largest tau with each truth."""
    if not tables:
        return "No data with judgments of random items are at hand"
    lines = []
    for truth in TRUTHS:
        best = []
        for title, table in tables.items():
            own = _with_share(table)
            own = own[own["truth"] == truth]
            protocol = own.loc[own["value"].idxmax(), "protocol"]
            best.append(f"{protocol} on {title}")
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
        Markdown; empty without tables. Of each truth tau and its interval, how many of the pairs
        that the truth resolves are right, and the place of Popularity by the protocol and in truth.
    """
    if not tables:
        return ""
    head = ["protocol"]
    for title in tables:
        for truth in TRUTHS:
            head += [f"{title}, {_truth(truth, cutoff)}: $\\tau$", "right", "Popularity"]
    frames = [_with_share(table).set_index(["truth", "protocol"]) for table in tables.values()]
    rows = []
    for protocol in _by_agreement(tables):
        cells = [_NAMES[protocol]]
        for frame in frames:
            for truth in TRUTHS:
                row = frame.loc[(truth, protocol)]
                value, low, high = (_signed(row[name]) for name in ("value", "low", "high"))
                cells += [
                    f"{value} ({low} to {high})",
                    f"{row['right']} of {row['resolved']}",
                    f"{row['popularity']} ({row['popularity_true']})",
                ]
        rows.append(cells)
    return markdown_table(head, rows)


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "\N{MINUS SIGN}")
