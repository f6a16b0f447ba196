"""Tables of chapter 2 about how many judgments tell systems apart."""

from __future__ import annotations

import pandas as pd

from recbias.book.chapters.sparsity_bias.densities import DESIGNS
from recbias.book.html import markdown_table, plain
from recbias.experiment.makers import Table


def densities_table(table: Table, n_rows: int = 12) -> str:
    """Write which pairs need most judgments under AR, and what they need by others.

    In Markdown.
    """
    under_ar = table.select(design="AR").sort_values("value", ascending=False, kind="stable")
    columns = ["first", "second", "value", "low", "high"]
    others = {
        design: {
            frozenset(row[:2]): row
            for row in table.select(design=design)[columns].to_numpy(dtype=object)
        }
        for design in DESIGNS
        if (table.frame["design"] == design).any()
    }
    rows = []
    for first, second, *_ in under_ar.head(n_rows)[columns].to_numpy(dtype=object):
        cells = []
        for by_pair in others.values():
            ahead, _, value, low, high = by_pair[frozenset((first, second))]
            turned = "" if ahead == first else ", reversed"
            needed = f"{_percent(value)} % ({_percent(low)} to {_percent(high)}){turned}"
            cells.append("not by all" if value >= 1 else needed)
        rows.append((plain(first), plain(second), *cells))
    return markdown_table(("ahead", "behind", *(DESIGNS[design] for design in others)), rows)


def closest_pair(table: Table) -> str:
    """Say for a methods section which share of the test ratings tells the closest pair apart."""
    under_ar = table.select(design="AR").sort_values("value", kind="stable")
    told = under_ar[under_ar["value"] < 1]
    if told.empty:
        return "These test ratings are expected to tell no two systems apart."
    last, missed = told.iloc[-1], len(under_ar) - len(told)
    pair = f"{last['first']} and {last['second']}"
    share = f"{_percent(last['value'])} %"
    if not missed:
        return (
            f"To tell the closest pair of systems apart, {pair}, is expected to take {share} of "
            "these test ratings."
        )
    pairs = "one pair" if missed == 1 else f"{missed} pairs"
    return (
        f"These test ratings are not expected to tell {pairs} of systems apart; the closest of all "
        f"others, {pair}, takes {share} of them."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"


def density_pairs(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Name each pair alike under all designs, whoever is ahead."""
    pairs = [
        " and ".join(sorted(pair))
        for pair in zip(table.frame["first"], table.frame["second"], strict=True)
    ]
    return ("design", "pair"), table.frame.assign(pair=pairs)
