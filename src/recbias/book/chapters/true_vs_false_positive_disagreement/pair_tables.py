"""What the page shows of pairs of items: MCCRS20 Fig. 2 and Table 1, and worlds beside them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from recbias.book.chapters.true_vs_false_positive_disagreement.pairs import (
    ALL,
    FOLDS,
    kinds,
)
from recbias.book.html import markdown_table
from recbias.claims.ledger import claims
from recbias.claims.quantities import over_worlds
from recbias.experiment.makers import Table

_DASH = "\N{EN DASH}"
_SHOWN = {
    "odds": "odds of being rated",
    "liked": "share of liked ratings",
    "disliked": "share of disliked ratings",
    "f_P": "$f_P$",
    "f_antiP": "$f_{antiP}$",
    "P@1": "P@1",
    "antiP@1": "antiP@1",
}


# -- Fig. 2 ------------------------------------------------------------------------------------


def examples_table(table: Table) -> str:
    """Write the three examples as a table: a row per quantity, a column per example."""
    values = table.frame.set_index(["example", "quantity"])["value"]
    names = ("1", "2", "3")
    rows = []
    for function, words in _SHOWN.items():
        ends = ("ab", "ba") if "@" in function else ("a", "b")
        cells = [
            " / ".join(f"{values[name, f'{function} of {end}']:.3g}" for end in ends)
            for name in names
        ]
        rows.append([words, *cells])
        if function in ("odds", "liked", "disliked"):
            steep = [f"{values[name, f'steepness of {function}']:.3g}" for name in names]
            rows.append([f"steepness of the {words}", *steep])
    clause = {0.0: _DASH, 1.0: "a", 2.0: "b"}
    rows.append(["clause of the lemma", *(clause[values[name, "clause"]] for name in names)])
    said = ["disagree" if values[name, "disagree"] else "agree" for name in names]
    return markdown_table(("", *(f"example {name}" for name in names)), [*rows, ["optima", *said]])


# -- Table 1 -----------------------------------------------------------------------------------


def pairs_table(table: Table) -> str:
    """Write Table 1 by both readings, the folds first, and the paper's two numbers beside them."""
    (claim,) = (entry for entry in claims() if entry.id == "MCCRS20-T1")
    printed = {"disagree": "disagree", "both": "odds steeper than both"}
    head = ("pairs of items", "by the training folds", "of the folds", "by all ratings", "MCCRS20")
    rows = []
    counted = kinds(table)[1]
    counted = counted[counted["reading"] != FOLDS]
    for what, words in _CELLS.items():
        of_kind = counted[counted["kind"].isin(what.split(" | "))]
        shares = of_kind.groupby("reading")["value"].sum()
        folds = [value for reading, value in shares.items() if reading != ALL]
        known = printed.get(what)
        rows.append(
            [
                words,
                f"{np.mean(folds):.1%}" if folds else _NO_PAIRS,
                f"{min(folds):.1%} to {max(folds):.1%}" if folds else _NO_PAIRS,
                f"{shares[ALL]:.1%}" if ALL in shares else _NO_PAIRS,
                f"{float(claim.values[known]):.1%}" if known else _DASH,
            ]
        )
    return markdown_table(head, rows)


_NO_PAIRS = "no pairs"
"""What stands where every user has every item, so that no odds are finite."""


_CELLS: Mapping[str, str] = {
    "disagree": "**the optima disagree**",
    "agree": "the optima agree",
    "tied": "one optimum does not tell them apart",
    "both": "**odds steeper than both shares**",
    "same and both": "- liking sides with the odds (clause b)",
    "opposed and both": "- liking opposes them (clause a)",
    "equal and both | equal at an end and both": "- equal shares ([E20](#err-e20))",
    "same and disliked": "odds steeper than disliking alone, liking sides with them (clause b)",
    "opposed and liked": "odds steeper than liking alone, which opposes them (clause a)",
    "same and liked": "odds steeper than liking alone, which sides with them: agree",
    "opposed and disliked": "odds steeper than disliking alone, liking opposes them: agree",
    "same and neither | opposed and neither": "odds steeper than neither: agree",
    "as popular": "equal odds",
    "no estimate": "an item without a training rating",
}
"""What the table shows, by kinds of pairs."""


# -- worlds ------------------------------------------------------------------------------------


def over_skew(tables: Mapping[str, Table], column: str = "disagree") -> pd.DataFrame:
    """Average over the worlds of each skew."""
    rows = []
    for kind, table in tables.items():
        for skew, values in table.frame.groupby("skew")[column]:
            mean = over_worlds(values)
            rows.append((kind, skew, mean.value, *mean.interval))
    return pd.DataFrame(rows, columns=["kind", "skew", "value", "low", "high"])
