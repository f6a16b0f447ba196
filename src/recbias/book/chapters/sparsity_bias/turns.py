"""How many sampled negatives are enough: what follows from the table of `negatives`.

Where pairs of systems turn, from which size on one evaluation finds their order, what a page says
of both, and what findings read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from recbias.book.html import markdown_table, plain
from recbias.experiment.makers import Table

MOST_WRONG = 0.05
"""An evaluation that errs with a larger chance may well get a pair wrong."""


@lru_cache(maxsize=2)
def crossings(table: Table) -> pd.DataFrame:
    """List the sizes at which pairs of systems turn."""
    rows = []
    for (a, b), by_size in _pairs(table):
        by_size = by_size[by_size["size"] > table.given["cutoff"]]
        sizes, low, high = (by_size[name].to_numpy() for name in ("size", "low", "high"))
        sign = np.sign(by_size["value"].to_numpy())
        for place in range(1, len(by_size)):
            if sign[place] * sign[place - 1] < 0:
                beyond = low > 0 if sign[place] > 0 else high < 0
                before = high < 0 if sign[place] > 0 else low > 0
                left, right = sizes[:place][before[:place]], sizes[place:][beyond[place:]]
                ahead = a if sign[place] > 0 else b
                ends = (left[-1] if len(left) else np.nan, right[0] if len(right) else np.nan)
                rows.append((a, b, int(sizes[place]), ahead, *ends))
    return pd.DataFrame(rows, columns=["a", "b", "size", "ahead", "low", "high"])


@lru_cache(maxsize=8)
def enough(table: Table, most: float = MOST_WRONG) -> pd.DataFrame:
    """Tell for each pair of systems from which size on one evaluation finds its order."""
    turns = crossings(table).groupby(["a", "b"])["size"].max()
    rows, pairs = [], list(_pairs(table))
    for (a, b), by_size in pairs:
        last = by_size.iloc[-1]
        by_size = by_size[by_size["size"] > table.given["cutoff"]]
        resolved = _sure_sign(last, len(pairs)) > 0
        sizes = (_from_on(by_size, "wrong", most), _from_on(by_size, "wrong_most", most))
        turn = float(turns.get((a, b), np.nan))
        rows.append((a, b, last["value"], last["low"], last["high"], resolved, *sizes, turn))
    names = ["a", "b", "value", "low", "high", "resolved", "size", "shared", "turns"]
    return pd.DataFrame(rows, columns=names)


@lru_cache(maxsize=2)
def at_size(table: Table, size: int | None = None) -> pd.DataFrame:
    """Take the rows at a size, that of the page by default, beside those of nothing sampled."""
    frame = table.frame
    size = min(size or table.given["size"], int(frame["size"].max()))
    at = {(row["a"], row["b"]): row for row in frame[frame["size"] == size].to_dict("records")}
    largest = frame.loc[frame.groupby(["a", "b"], sort=False)["size"].idxmax()]
    rows = []
    for last in largest.to_dict("records"):
        sampled = at[last["a"], last["b"]]
        order = _sure_sign(sampled, len(largest))
        sure = _sure_sign(last, len(largest)) > 0
        names = str(last["a"]), str(last["b"])
        rows.append((*names, order, sure, float(sampled["value"]), float(sampled["wrong"])))
    return pd.DataFrame(rows, columns=["a", "b", "order", "sure", "value", "wrong"])


def _sure_sign(row: pd.Series[Any] | Mapping[Hashable, Any], n_pairs: int) -> int:
    """Give the sign of a difference that is beyond chance for all pairs at once, or else 0."""
    # Bonferroni, over both ends of every interval, as if these were normal.
    wider = NormalDist().inv_cdf(1 - 0.025 / n_pairs) / NormalDist().inv_cdf(0.975)
    low, high = (row["value"] + wider * (row[end] - row["value"]) for end in ("low", "high"))
    return int(low > 0) - int(high < 0)


def _pairs(table: Table) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Give the rows of each pair by size, in the order of the table."""
    for names, rows in table.frame.groupby(["a", "b"], sort=False):
        yield (str(names[0]), str(names[1])), rows.sort_values("size")


def _from_on(by_size: pd.DataFrame, column: str, most: float) -> float:
    """Find the smallest size from which on a chance is small enough."""
    small = (by_size[column] <= most).to_numpy()
    if not small.any() or not small[-1]:
        return np.nan
    wrong = np.flatnonzero(~small)
    return float(by_size["size"].iloc[wrong[-1] + 1 if len(wrong) else 0])


def ranked_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Rank the systems at every size at which all pairs are compared."""
    names = pd.unique(pairs[["a", "b"]].to_numpy().ravel())
    n_pairs = len(names) * (len(names) - 1) // 2
    rows = []
    for size, own in pairs.groupby("size"):
        if len(own) < n_pairs:
            continue  # a size at which single pairs turn
        behind = dict.fromkeys(names, 1.0)
        for a, b, value in zip(own["a"], own["b"], own["value"], strict=True):
            behind[b] += 0.5 + 0.5 * np.sign(value)
            behind[a] += 0.5 - 0.5 * np.sign(value)
        rows += [(name, float(str(size)) - 1, rank) for name, rank in behind.items()]
    return pd.DataFrame(rows, columns=["system", "sampled", "rank"])


# -- on the page -------------------------------------------------------------------------------


def negatives_quoted(table: Table) -> dict[str, str]:
    """Write what sentences quote: numbers of pairs, of items, and who needs most of them."""
    pairs = enough(table)
    resolved = pairs[pairs["resolved"]].sort_values("size")
    most = resolved.iloc[-1] if len(resolved) else None
    asked = at_size(table)
    wrong = asked[asked["sure"] & (asked["wrong"] > MOST_WRONG)]
    return {
        "n_wrong": f"{len(wrong):,}",
        "n_unlucky": f"{int((wrong['value'] > 0).sum()):,}"
        if (wrong["value"] > 0).any()
        else "none",
        "n_resolved": f"{len(resolved):,}",
        "most_own": "none" if most is None else f"{int(most['size']) - 1:,}",
        "most_a": "nobody" if most is None else str(most["a"]),
        "most_b": "nobody" if most is None else str(most["b"]),
    }


def negatives_table(table: Table, n_rows: int = 12) -> str:
    """Write which pairs need most sampled items, in Markdown."""
    pairs = enough(table)
    chosen = pairs[pairs["resolved"]].sort_values("size", ascending=False, kind="stable")
    turned = {
        (row.a, row.b): row for row in crossings(table).sort_values("size").itertuples(index=False)
    }
    rows = []
    row: Any
    for row in chosen.head(n_rows).itertuples():
        turn = turned.get((row.a, row.b))
        rows.append(
            (
                plain(row.a),
                plain(row.b),
                f"{row.value:.4f} ({row.low:.4f} to {row.high:.4f})",
                _turn_text(turn) if turn is not None else "no",
                f"{int(row.size) - 1:,}",
                f"{int(row.shared) - 1:,}",
            )
        )
    head = ("ahead", "behind", "difference among all", "turn at", "own samples", "shared samples")
    return markdown_table(head, rows)


def _turn_text(turn: Any) -> str:
    """Write the number of sampled items at a turn, with what the data leave open."""
    low, high = (
        word if np.isnan(end) else f"{int(end) - 1:,}"
        for end, word in ((turn.low, "any fewer"), (turn.high, "any more"))
    )
    return f"{turn.size - 1:,} ({low} to {high})"


# -- findings ----------------------------------------------------------------------------------


def negative_pairs(table: Table) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Lay out what becomes of each pair of systems at the size that was asked about.

    Returns
    -------
    index : tuple of str
        ``a`` and ``b``.
    frame : DataFrame
        ``sure``, whether all items order them beyond chance; by the sampled ones ``order``, their
        difference (``sampled``) and the chance that one evaluation is ``wrong``; ``needed``, the
        share of the pool that has to be sampled.
    """
    pairs = at_size(table).rename(columns={"value": "sampled"})
    unresolved = pairs["order"] == 0
    pool = table.frame["size"].max() - 1
    return ("a", "b"), pairs.assign(
        order_low=pairs["order"].mask(unresolved, -1),
        order_high=pairs["order"].mask(unresolved, 1),
        needed=(enough(table)["size"] - 1) / pool,
    )
